"""Faults of what is told: SPC-028 to SPC-031; and those that answer without looking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import msgspec

from perdure.kernel.problems import Problem
from perdure.kernel.specification import HandlerDeclaration
from perdure.kernel.validation.handlers import Handlers
from perdure.kernel.validation.validator import Validation
from perdure_conformance.requirements import requirements, requirements_of
from perdure_conformance.spec.claims import PAGES
from perdure_conformance.spec.contract import Answer, Capabilities
from perdure_conformance.spec.mutants.faults import IN_DEFINITIONS, Knows
from perdure_conformance.spec.reference import ReferenceValidator
from perdure_conformance.spec.registry import mutant

_OF_STRUCTURE: Final = frozenset(code for number in range(3, 9) for code in requirements()[f"SPC-{number:03}"].codes)


class _TellsOtherwise(Knows):
    """It tells its problems in another way."""

    def told(self, problem: Problem) -> Problem:
        """Return a problem as it is told."""
        raise NotImplementedError

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        return msgspec.structs.replace(found, problems=tuple(self.told(problem) for problem in found.problems))


# Codes


@mutant("SPC-028")
class SaysInvalid(_TellsOtherwise):
    """Has one code for all that is wrong."""

    def told(self, problem: Problem) -> Problem:
        return msgspec.structs.replace(problem, code="invalid")


@mutant("SPC-028", overlaps=("SPC-030",))
class BlamesTheSchema(_TellsOtherwise):
    """Tells each fault of structure as a wrong type, as its schema library does."""

    def told(self, problem: Problem) -> Problem:
        return msgspec.structs.replace(problem, code="wrong_type") if problem.code in _OF_STRUCTURE else problem


class _RenamesOne(_TellsOtherwise):
    """It has another code for one kind of problem."""

    was: ClassVar[str]
    becomes: ClassVar[str]

    def told(self, problem: Problem) -> Problem:
        return msgspec.structs.replace(problem, code=self.becomes) if problem.code == self.was else problem


@mutant("SPC-028")
class SaysOrphan(_RenamesOne):
    """Has its own word for a node that cannot be reached."""

    was, becomes = "unreachable_node", "orphan_node"


@mutant("SPC-028", overlaps=("SPC-030",))
class TakesChildrenForNodes(_RenamesOne):
    """Tells an unknown child as an unknown node."""

    was, becomes = "unknown_child", "unknown_node"


@mutant("SPC-028", overlaps=("SPC-030",))
class TakesCyclesForOrphans(_RenamesOne):
    """Tells a cycle as nodes that cannot be reached, which they are for this reason."""

    was, becomes = "dependency_cycle", "unreachable_node"


@mutant("SPC-028")
class TellsTheOppositeOfTooLate(_RenamesOne):
    """Tells a member that came later as an unknown one."""

    was, becomes = "member_of_later_version", "unknown_member"


# Places


class _PointsElsewhere(_TellsOtherwise):
    """It writes pointers in its own way."""

    def pointer(self, pointer: str) -> str:
        """Return a pointer as it is written."""
        raise NotImplementedError

    def told(self, problem: Problem) -> Problem:
        return msgspec.structs.replace(problem, pointer=self.pointer(problem.pointer))


@mutant("SPC-029")
class PointsToTheDocument(_PointsElsewhere):
    """Points to the whole document, in which everything is somewhere."""

    def pointer(self, pointer: str) -> str:
        del pointer
        return ""


@mutant("SPC-029")
class CountsFromOne(_PointsElsewhere):
    """Counts the items of arrays from 1."""

    def pointer(self, pointer: str) -> str:
        return "/".join(str(int(step) + 1) if step.isdigit() else step for step in pointer.split("/"))


@mutant("SPC-029")
class WritesDots(_PointsElsewhere):
    """Writes paths with dots, as its language does."""

    def pointer(self, pointer: str) -> str:
        return pointer.lstrip("/").replace("/", ".") or "$"


@mutant("SPC-029")
class WritesAFragment(_PointsElsewhere):
    """Writes a pointer as the fragment of a URI."""

    def pointer(self, pointer: str) -> str:
        return f"#{pointer}"


@mutant("SPC-029")
class ForgetsToEscape(_PointsElsewhere):
    """Leaves `/` and `~` in keys as they are."""

    def pointer(self, pointer: str) -> str:
        return pointer.replace("~1", "/").replace("~0", "~")


@mutant("SPC-029")
class PointsIntoTheDefinition(_PointsElsewhere):
    """Points from the definition that a problem is in, as if it were a document."""

    def pointer(self, pointer: str) -> str:
        steps = pointer.split("/")
        return "/" + "/".join(steps[3:]) if steps[1:2] == ["children"] and len(steps) > 3 else pointer


@mutant("SPC-029")
class PointsToTheFirstNode(_PointsElsewhere):
    """Loses the position of a node, and points to the first one."""

    def pointer(self, pointer: str) -> str:
        steps = pointer.split("/")
        return "/".join("0" if before == "nodes" else step for before, step in zip(["", *steps], steps, strict=False))


# All at once


@mutant("SPC-030")
class StopsAtTheFirstProblem(Knows):
    """Claims to tell all problems, and stops at the first."""

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        errors = tuple(problem for problem in found.problems if problem.severity == "error")
        return msgspec.structs.replace(found, problems=errors[:1])


@mutant("SPC-030")
class StopsAfterTheStructure(Knows):
    """Claims to tell all problems, and looks at structure first: if that is wrong, it tells nothing else."""

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        of_structure = tuple(problem for problem in found.problems if problem.code in _OF_STRUCTURE)
        return msgspec.structs.replace(found, problems=of_structure) if of_structure else found


@mutant("SPC-030")
class StopsAfterTheFirstWorkflow(Knows):
    """Claims to tell all problems, and looks at definitions only if the document itself is right."""

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        errors = [problem for problem in found.problems if problem.severity == "error"]
        own = tuple(problem for problem in errors if not problem.pointer.startswith("/children"))
        return msgspec.structs.replace(found, problems=own) if own else found


@mutant("SPC-030")
class TellsOneProblemANode(Knows):
    """Claims to tell all problems, and tells one of each node."""

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        errors = [problem for problem in found.problems if problem.severity == "error"]
        first = {_node_of(problem.pointer): problem for problem in reversed(errors)}
        return msgspec.structs.replace(
            found, problems=tuple(problem for problem in errors if problem in first.values())
        )


def _node_of(pointer: str) -> str:
    steps = pointer.split("/")
    return "/".join(steps[: steps.index("nodes") + 2]) if "nodes" in steps else pointer


# Warnings


class _TakesSeriously(_TellsOtherwise):
    """It refuses what is only odd."""

    def told(self, problem: Problem) -> Problem:
        return msgspec.structs.replace(problem, severity="error") if self.is_serious(problem) else problem

    def is_serious(self, problem: Problem) -> bool:
        """Tell whether a warning refuses."""
        raise NotImplementedError


@mutant(
    "SPC-031",
    overlaps=(*IN_DEFINITIONS, "SPC-002", "SPC-008", "EDG-005", "EDG-006", "CHD-004", "CHD-005", "CHD-006"),
)
class RefusesForWarnings(_TakesSeriously):
    """Refuses a document for every warning."""

    def is_serious(self, problem: Problem) -> bool:
        return problem.severity == "warning"


@mutant("SPC-031", overlaps=("SPC-018", "EDG-005"))
class RefusesFanIn(_TakesSeriously):
    """Refuses edges that come together in one node."""

    def is_serious(self, problem: Problem) -> bool:
        return problem.code == "edge_fan_in"


@mutant(
    "SPC-031",
    overlaps=(*IN_DEFINITIONS, "SPC-002", "SPC-008", "EDG-005", "CHD-004", "CHD-005", "CHD-006"),
)
class RefusesUnusedChildren(_TakesSeriously):
    """Refuses a definition that nothing uses."""

    def is_serious(self, problem: Problem) -> bool:
        return problem.code == "unused_child"


@mutant("SPC-031")
class RefusesEqualEdges(_TakesSeriously):
    """Refuses two equal edges, as if edges were a set."""

    def is_serious(self, problem: Problem) -> bool:
        return problem.code == "duplicate_edge"


@mutant("SPC-031", overlaps=("SPC-002",))
class RefusesUndeclaredFields(_TakesSeriously):
    """Refuses a predicate on a field that its source does not declare."""

    def is_serious(self, problem: Problem) -> bool:
        return problem.code == "undeclared_field"


@mutant("SPC-031")
class RefusesPoliciesWithoutDependencies(_TakesSeriously):
    """Refuses a dependency policy on a node that waits for nothing."""

    def is_serious(self, problem: Problem) -> bool:
        return problem.code == "policy_without_dependencies"


@mutant("SPC-031", overlaps=("SPC-022",))
class RefusesInputsFromLaterNodes(_TakesSeriously):
    """Refuses an input from a node that runs only after the one that takes it."""

    def is_serious(self, problem: Problem) -> bool:
        return problem.code == "source_runs_later"


@mutant("SPC-031")
class RefusesJoinsOfExclusiveBranches(_TakesSeriously):
    """Refuses a node that depends on the success of two branches which exclude each other."""

    def is_serious(self, problem: Problem) -> bool:
        return problem.code == "join_never_satisfied"


# Those that answer without looking

_CORE: Final = tuple(requirement.id for requirement in requirements_of(PAGES) if requirement.claim == "core")


@mutant("SPC-015", overlaps=(*_CORE, "SPC-030"), report="mas-bandwidth/serialize#55")
class AcceptsEverything(ReferenceValidator):
    """Accepts whatever it is sent."""

    claims = Capabilities()

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        del document, handlers
        return Answer(valid=True)


@mutant("SPC-002", overlaps=(*_CORE, "SPC-012", "SPC-021"), report="mas-bandwidth/serialize#55")
class RefusesEverything(ReferenceValidator):
    """Refuses whatever it is sent, so that nothing bad gets through."""

    claims = Capabilities()

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        del document, handlers
        return Answer(valid=False)
