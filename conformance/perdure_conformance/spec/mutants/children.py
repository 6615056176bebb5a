"""Faults about children: CHD-001 to CHD-008."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from perdure.kernel.identity import NAME_GRAMMAR, WorkflowReference
from perdure.kernel.specification import MAX_CHILD_LEVELS
from perdure.kernel.validation.scopes import Scope
from perdure_conformance.spec.mutants.faults import IN_DEFINITIONS, Complains, Complaint, Look, Overlooks, Seen
from perdure_conformance.spec.registry import mutant

_OF_STRUCTURE: Final = frozenset(
    {
        "unknown_member",
        "missing_member",
        "wrong_type",
        "unknown_word",
        "out_of_range",
        "wrong_form",
        "member_of_later_version",
        "wrong_reference",
    }
)


def _calls(scope: Scope) -> list[WorkflowReference]:
    """Return the definitions that a workflow calls, each as often as it does."""
    nodes = scope.definition.nodes
    return [node.child.workflow for node in nodes if node.child is not None and node.child.workflow in scope.catalog]


def _calls_of_all(look: Look) -> Mapping[WorkflowReference, list[WorkflowReference]]:
    root, *definitions = look.scopes
    return {key: _calls(scope) for key, scope in zip(root.catalog, definitions, strict=True)}


def _used(look: Look) -> set[WorkflowReference]:
    """Return the definitions that the document runs, directly or through others."""
    if not look.scopes:
        return set()
    calls = _calls_of_all(look)
    found: set[WorkflowReference] = set()
    waiting = _calls(look.scopes[0])
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += calls[key]
    return found


def _is_unused(seen: Seen) -> bool:
    return seen.is_in_definition and len(seen.path) > 1 and seen.path[1] not in _used(seen.look)


# The catalog


@mutant("CHD-001", overlaps=("SPC-030",))
class TakesUnknownChildren(Overlooks):
    """Takes a child that the catalog has not, and looks for it at run time."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_child"


@mutant("CHD-001")
class LooksChildrenUpByName(Overlooks):
    """Looks a child up by its name, whatever version is asked for."""

    def overlooks(self, seen: Seen) -> bool:
        if seen.code != "unknown_child":
            return False
        return any(key.partition("@")[0] == seen.value.partition("@")[0] for key in seen.scope.catalog)


@mutant("CHD-001")
class LooksUpChildrenOfTheDocumentOnly(Overlooks):
    """Looks up the children of the document itself, and not those of its definitions."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_child" and seen.is_in_definition


@mutant("CHD-001", overlaps=("SPC-002", "SPC-031", "CHD-002", "CHD-003", "CHD-005", "CHD-007", "CHD-008"))
class RefusesChildrenOfChildren(Complains):
    """Gives the catalog to the document alone, so that a definition finds no child in it."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes[1:]:
            for node in scope.definition.nodes:
                if node.child is not None:
                    yield "unknown_child", f"{scope.at(node.child)}/workflow"


@mutant("CHD-002", report="Azure/azure-functions-durable-extension#746")
class TakesAChildThatRunsItself(Overlooks):
    """Looks for definitions that run each other, and takes one that runs itself."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "child_recursion" and _runs_itself(seen)


@mutant("CHD-002")
class MissesIndirectRecursion(Overlooks):
    """Looks whether a definition runs itself, and not whether it does so through others."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "child_recursion" and not _runs_itself(seen)


def _runs_itself(seen: Seen) -> bool:
    """Tell whether a definition runs itself, and not through others."""
    return bool(seen.value == seen.path[1])


@mutant("CHD-002")
class LooksForUsedRecursionOnly(Overlooks):
    """Follows the document's own calls, and never comes to a definition that it does not use."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "child_recursion" and _is_unused(seen)


@mutant("CHD-002", overlaps=("SPC-002", "SPC-031", "CHD-003"))
class TakesTwoCallsForRecursion(Complains):
    """Calls it recursion if it comes to a definition a second time, by whatever way."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        calls = [called for scope in look.scopes for called in _calls(scope)]
        if len(set(calls)) < len(calls):
            yield "child_recursion", "/children"


def _longest(look: Look) -> int:
    """Return how many levels there are below the document; 0 if there is recursion."""
    calls = _calls_of_all(look)
    here = set(_calls(look.scopes[0]))
    level = 0
    while here:
        level += 1
        if level > len(calls):
            return 0
        here = {called for caller in here for called in calls[caller]}
    return level


@mutant("CHD-003")
class NeverCountsLevels(Overlooks):
    """Takes children of children without end."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "children_too_deep"


@mutant("CHD-003")
class AllowsNineLevels(Overlooks):
    """Counts levels from 0, and so allows nine."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "children_too_deep" and _longest(seen.look) == MAX_CHILD_LEVELS + 1


@mutant("CHD-003")
class AllowsSevenLevels(Complains):
    """Counts the document as a level, and so allows seven."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        if _longest(look) == MAX_CHILD_LEVELS:
            yield "children_too_deep", "/children"


@mutant("CHD-003")
class CountsUsedLevelsOnly(Overlooks):
    """Counts levels from the document, and not from definitions that nothing runs."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "children_too_deep" and _is_unused(seen)


@mutant("CHD-003")
class RemembersTheFirstLevel(Overlooks):
    """Visits each definition once, at the first level where it meets it, and forgets that it may come again deeper."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "children_too_deep" and _nearest(seen.look) <= MAX_CHILD_LEVELS


def _nearest(look: Look) -> int:
    """Return the highest level at which a definition is met for the first time."""
    calls = _calls_of_all(look)
    used = _used(look)
    here = set(_calls(look.scopes[0]))
    found = set(here)
    level = 1
    while here and len(found) < len(used):
        here = {called for caller in here for called in calls[caller]} - found
        found |= here
        level += 1
    return level


@mutant("CHD-004")
class LooksAtNoReferences(Overlooks):
    """Takes any string for the name of a child."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_reference"


@mutant("CHD-004")
class TakesLeadingZeros(Overlooks):
    """Takes `a@01` for a second name of `a@1`."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_reference" and _fits(r"@0+[1-9][0-9]*", seen)


@mutant("CHD-004")
class TakesNoVersion(Overlooks):
    """Takes a name without a version, and means the latest."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_reference" and _fits("@?", seen)


@mutant("CHD-004")
class TakesAnyDigits(Overlooks):
    """Takes any digits for a version, 0 and those of 20 places too."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_reference" and _fits(r"@[0-9]+", seen)


def _fits(end: str, seen: Seen) -> bool:
    return re.fullmatch(f"{NAME_GRAMMAR}{end}", seen.key) is not None


@mutant("CHD-005", overlaps=("SPC-003",))
class PropagatesByDefault(Overlooks):
    """Takes a child without a policy for one that propagates."""

    def overlooks(self, seen: Seen) -> bool:
        return _lacks_a_policy(seen)


@mutant("CHD-005")
class PropagatesInDefinitions(Overlooks):
    """Asks for the policies of the document's own children, and not in definitions."""

    def overlooks(self, seen: Seen) -> bool:
        return _lacks_a_policy(seen) and seen.is_in_definition


def _lacks_a_policy(seen: Seen) -> bool:
    """Tell whether a child is there with its workflow, and without a policy."""
    return (
        seen.code == "missing_member"
        and seen.key == "child"
        and "policy" not in seen.value
        and "workflow" in seen.value
    )


@mutant(
    "CHD-006",
    overlaps=(*IN_DEFINITIONS, "SPC-003", "SPC-004", "SPC-006", "SPC-008", "SPC-030", "CHD-001", "CHD-004", "CHD-005"),
)
class NeverLooksIntoDefinitions(Overlooks):
    """Validates the document, and a definition only when a child runs."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.is_in_definition and len(seen.path) > 1


@mutant(
    "CHD-006",
    overlaps=(*IN_DEFINITIONS, "SPC-003", "SPC-004", "SPC-008", "SPC-030", "CHD-004", "CHD-005"),
)
class LooksIntoUsedDefinitionsOnly(Overlooks):
    """Validates the definitions that the document uses, and not the others."""

    def overlooks(self, seen: Seen) -> bool:
        return _is_unused(seen)


@mutant(
    "CHD-006",
    overlaps=(*IN_DEFINITIONS, "SPC-030", "CHD-001"),
)
class HoldsDefinitionsAgainstTheSchemaOnly(Overlooks):
    """Holds definitions against the JSON Schema, and the document alone against the other rules."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.is_in_definition and seen.code not in _OF_STRUCTURE


@mutant("CHD-007")
class NeverComparesChildInput(Overlooks):
    """Starts a child with whatever input its node has."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code in {"missing_child_input", "undeclared_child_input"}


@mutant("CHD-007", report="tinyhumansai/opencompany#540")
class TakesMissingChildInput(Overlooks):
    """Takes a child's node that does not give what the child needs."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "missing_child_input"


@mutant("CHD-007")
class TakesUndeclaredChildInput(Overlooks):
    """Takes a field for which the child has no input."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "undeclared_child_input"


@mutant("CHD-007", overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-022", "SPC-031"))
class GivesConstantsToChildrenOnly(Complains):
    """Looks for a child's inputs among constants, and forgets mapped values."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for node in scope.definition.nodes:
                child = scope.catalog.get(node.child.workflow) if node.child is not None else None
                if child is not None and not set(child.inputs) <= node.input.keys():
                    yield "missing_child_input", scope.at(node)


@mutant("CHD-008")
class TakesUndeclaredChildOutput(Overlooks):
    """Takes a field that the child does not give."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "undeclared_child_output"


@mutant("CHD-008")
class LooksForFieldsInsideTheChild(Overlooks):
    """Looks for a child's output among those of its nodes, and not among those of its run."""

    def overlooks(self, seen: Seen) -> bool:
        if seen.code != "undeclared_child_output":
            return False
        child = seen.scope.catalog[seen.above(2)["workflow"]]
        return any(seen.value in seen.scope.outputs_of(node) for node in child.nodes)


@mutant("CHD-008", overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-023", "SPC-031"))
class ComparesTheNameOfTheNode(Complains, Overlooks):
    """Looks for the node's name of a field in the child, where the child's name is meant."""

    def overlooks(self, seen: Seen) -> bool:
        if seen.code != "undeclared_child_output":
            return False
        return seen.key in seen.scope.catalog[seen.above(2)["workflow"]].outputs

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for node in scope.definition.nodes:
                child = scope.catalog.get(node.child.workflow) if node.child is not None else None
                if (
                    node.child is not None
                    and child is not None
                    and not node.child.outputs.keys() <= child.outputs.keys()
                ):
                    yield "undeclared_child_output", scope.at(node.child)
