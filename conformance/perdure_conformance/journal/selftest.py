"""The suite judges itself: every mutant must be found by name, every good journal must pass.

A mutant counts as killed if a check blames the requirement that it breaks. It must also pass once that requirement,
and the overlaps that it names, are switched off: else something unnamed found it, and the kill may be an accident.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from perdure.kernel.values import JsonValue
from perdure_conformance.harness.targets import Target, find_target
from perdure_conformance.journal.cases import Case, replay, shrink, target_of
from perdure_conformance.journal.mutants import MUTANTS
from perdure_conformance.journal.profile import PREFIXES, Judgement, Options, Part, claimed_requirements, judge
from perdure_conformance.journal.registry import Mutant
from perdure_conformance.journal.twins import TWINS
from perdure_conformance.requirements import requirements
from perdure_conformance.verdict import Depth

MAX_OPERATIONS, MAX_MEDIAN_OPERATIONS = 6, 3
"""A shrunk case has at most so many operations, and the median of all mutants at most so many."""

_ATTEMPTS_TO_SHRINK = 400


__all__ = ["MUTANTS", "Kill", "Pass", "as_document", "check_good", "good_journals", "kill", "unproven"]


@dataclass(frozen=True, slots=True)
class Kill:
    """What became of one mutant."""

    mutant: Mutant
    seconds: float
    """Until the requirement that it breaks was blamed."""
    found_by: str
    by_machine: bool | None
    """Whether the machine alone finds it too; None if that was not tried."""
    operations: int
    """The size of the shrunk case; 0 if it survived."""
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pass:
    """What became of one good journal."""

    name: str
    oddity: str
    seconds: float
    problems: tuple[str, ...]


def kill(mutant: Mutant, seed: int, *, full: bool = False) -> Kill:
    """Judge one mutant, with its requirement and without; `full` also shows what the machine finds alone."""
    aim = frozenset({mutant.breaks})
    found = _judge(mutant, seed, "quick", "scripts") if not full else _judge(mutant, seed, "quick")
    by_machine = mutant.breaks not in found.findings or full
    machine = _judge(mutant, seed, "normal", "machine", only=aim) if by_machine else found
    finding = found.findings.get(mutant.breaks) or machine.findings.get(mutant.breaks)
    problems = []
    case = None
    if finding is None:
        problems.append(f"survives: {mutant.breaks} was not blamed, {', '.join(found.findings) or 'nothing'} was")
    else:
        case = shrink(finding.case, target_of(finding.case), attempts=_ATTEMPTS_TO_SHRINK)
        problems += _problems_of_case(case)
    without = _judge(mutant, seed, "quick", off=aim | frozenset(mutant.overlaps))
    if without.findings:
        problems.append(f"also breaks {', '.join(without.findings)}, which it does not name")
    return Kill(
        mutant=mutant,
        seconds=finding.seconds if finding else 0.0,
        found_by=finding.found_by if finding else "",
        by_machine=(mutant.breaks in machine.findings) if by_machine else None,
        operations=case.size if case else 0,
        problems=tuple(problems),
    )


def _judge(
    mutant: Mutant,
    seed: int,
    depth: Depth,
    *parts: Part,
    only: frozenset[str] = frozenset(),
    off: frozenset[str] = frozenset(),
) -> Judgement:
    options = Options(depth, seed, only=only, off=off, smaller=False)
    return judge(mutant.target, replace(options, parts=frozenset(parts)) if parts else options)


def _problems_of_case(case: Case) -> Iterator[str]:
    if case.size > MAX_OPERATIONS:
        yield f"its smallest case has {case.size} operations, more than {MAX_OPERATIONS}"
    first, second = (replay(case, target_of(case)) for _ in range(2))
    if first.failure != case.failure:
        yield f"its case does not fail again, but gives {first.failure or 'no failure'}"
    if (first.failure, first.expected, first.actual) != (second.failure, second.expected, second.actual):
        yield "its case fails in two ways"


def check_good(name: str, oddity: str, target: Target, seeds: tuple[int, ...], depth: Depth) -> Pass:
    """Judge one good journal."""
    began = time.monotonic()
    problems = []
    for seed in seeds:
        judgement = judge(target, Options(depth, seed))
        problems += [f"seed {seed}: is accused of {failure}" for failure in judgement.findings]
        claims = judgement.description.capabilities if judgement.description else None
        if claims is not None:
            problems += [
                f"seed {seed}: {requirement.id} is claimed and was not reached"
                for requirement in claimed_requirements(claims, in_process=not target.is_process)
                if not judgement.tally.reached[requirement.id]
            ]
    return Pass(name, oddity, time.monotonic() - began, tuple(problems))


def good_journals() -> Iterator[tuple[str, str, Target]]:
    """Yield what must pass: the built-in journals, and the odd ones."""
    yield "memory", "the reference behind a lock", find_target("memory")
    yield "sqlite", "the embedded default", find_target("sqlite")
    for odd in TWINS.values():
        yield odd.name, odd.oddity, odd.target


def unproven() -> list[str]:
    """Return the requirements that no mutant breaks."""
    proven = {mutant.breaks for mutant in MUTANTS.values()}
    return [key for key in requirements() if key.startswith(PREFIXES) and key not in proven]


def as_document(kill: Kill) -> JsonValue:
    """Return what became of a mutant, for machines."""
    return {
        "name": kill.mutant.name,
        "breaks": kill.mutant.breaks,
        "overlaps": list(kill.mutant.overlaps),
        "fault": kill.mutant.fault,
        "report": kill.mutant.report,
        "seconds": round(kill.seconds, 4),
        "found_by": kill.found_by,
        "by_machine": kill.by_machine,
        "operations": kill.operations,
        "problems": list(kill.problems),
    }


def median_operations(kills: list[Kill]) -> float:
    """Return the median size of the shrunk cases."""
    return statistics.median(kill.operations for kill in kills if kill.operations)
