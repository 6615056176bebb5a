"""The kill matrix of the tool: the real one keeps every promise, each mutant breaks the one it is named for."""

from __future__ import annotations

from dataclasses import dataclass

from perdure_conformance.requirements import requirements_of
from perdure_conformance.tool.checks import CHECKS, PAGES
from perdure_conformance.tool.mutants import TOOL_MUTANTS
from perdure_conformance.tool.trial import Tool, ToolMutant


@dataclass(frozen=True, slots=True)
class ToolKill:
    """What became of one tool: the real one, or a mutant."""

    name: str
    breaks: str
    fault: str
    problems: tuple[str, ...]


def judge_the_tool() -> ToolKill:
    """Try the real tool: it must give no reason to complain."""
    complaints = [
        f"breaks {requirement}: {complaint}"
        for requirement, checks in CHECKS.items()
        for check in checks
        if (complaint := check(Tool())) is not None
    ]
    return ToolKill("perdure", "-", "none: the tool as it is", tuple(complaints))


def kill(mutant: ToolMutant) -> ToolKill:
    """Try one mutant on the checks of the requirement that it breaks, up to the first that complains."""
    found = any(check(mutant.tool) for check in CHECKS[mutant.breaks])
    problems = () if found else (f"survives: {mutant.breaks} finds nothing wrong with it",)
    return ToolKill(mutant.name, mutant.breaks, mutant.fault, problems)


def kill_all() -> list[ToolKill]:
    """Try the real tool and every mutant of it."""
    return [judge_the_tool(), *(kill(mutant) for mutant in TOOL_MUTANTS)]


def unproven() -> list[str]:
    """Return the requirements on the tool that no mutant of it breaks."""
    proven = {mutant.breaks for mutant in TOOL_MUTANTS}
    return [requirement.id for requirement in requirements_of(PAGES) if requirement.id not in proven]
