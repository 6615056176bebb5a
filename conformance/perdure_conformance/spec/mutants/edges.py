"""Faults about edges: EDG-001 to EDG-007."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import msgspec

from perdure.kernel.graphs import cycles
from perdure.kernel.predicates import FieldEquals, OutcomeIs
from perdure.kernel.specification import Edge
from perdure.kernel.validation.handlers import Handlers
from perdure.kernel.validation.validator import Validation, validate
from perdure.kernel.values import JsonError, JsonValue, read_json
from perdure_conformance.spec.documents import Value
from perdure_conformance.spec.mutants.faults import (
    ComparesEdges,
    Complains,
    Complaint,
    Knows,
    Look,
    Overlooks,
    Seen,
    values,
)
from perdure_conformance.spec.registry import mutant


def _are(one: Edge, other: Edge, *kinds: type) -> bool:
    """Tell whether the predicates of two edges are of these two kinds, either way round."""
    here = (type(one.when), type(other.when))
    return here in (kinds, kinds[::-1])


# Predicates


@mutant("EDG-001", overlaps=("SPC-030", "CHD-006"))
class TakesEdgesOfTheSkipped(Overlooks):
    """Takes an edge for the outcome `skipped`, which never fires."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "never_matches"


@mutant("EDG-001", overlaps=("SPC-002", "SPC-031", "EDG-003"))
class RefusesEdgesOfTheCancelled(Complains):
    """Refuses an edge for the outcome `cancelled` as one that never fires."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for edge in scope.definition.edges:
                if edge.when == OutcomeIs("cancelled"):
                    yield "never_matches", scope.at(edge)


# Overlaps that are missed


@mutant("EDG-002", overlaps=("SPC-030", "EDG-003", "EDG-004", "EDG-005"))
class NeverComparesEdges(Overlooks):
    """Takes the first exclusive edge that matches, and never asks whether there are two."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "overlapping_edges"


@mutant("EDG-002", overlaps=("EDG-003",))
class ComparesNeighbouringEdges(ComparesEdges):
    """Compares each exclusive edge of a node with the one before."""

    def pairs(self, edges: Sequence[Edge]) -> Iterator[tuple[Edge, Edge]]:
        exclusive = [edge for edge in edges if edge.mode == "exclusive"]
        for source in dict.fromkeys(edge.source for edge in exclusive):
            yield from pairwise(edge for edge in exclusive if edge.source == source)


@mutant("EDG-002", overlaps=("SPC-030", "EDG-005"))
class ForgetsAny(ComparesEdges):
    """Compares kinds and fields, and takes "any" for what is left over."""

    def overlap(self, one: Edge, other: Edge) -> bool:
        return "any" not in (one.when, other.when) and super().overlap(one, other)


@mutant("EDG-002", overlaps=("EDG-005",))
class ComparesEqualPredicates(ComparesEdges):
    """Takes two predicates that differ for disjoint."""

    def overlap(self, one: Edge, other: Edge) -> bool:
        return one.when == other.when and super().overlap(one, other)


@mutant("EDG-002")
class TakesTwoFieldsForDisjoint(ComparesEdges):
    """Takes two different fields for disjoint, although one output can have both."""

    def overlap(self, one: Edge, other: Edge) -> bool:
        match one.when, other.when:
            case FieldEquals(field=field), FieldEquals(field=field_of_other):
                return field == field_of_other and super().overlap(one, other)
            case _:
                return super().overlap(one, other)


@mutant("EDG-002")
class TakesFieldsForSuccess(ComparesEdges):
    """Takes a field and `changes_requested` for disjoint, although it carries output too."""

    def overlap(self, one: Edge, other: Edge) -> bool:
        field_and_kind = _are(one, other, FieldEquals, OutcomeIs)
        if field_and_kind and OutcomeIs("changes_requested") in (one.when, other.when):
            return False
        return super().overlap(one, other)


@mutant("EDG-002")
class TakesFieldsAndKindsForDisjoint(ComparesEdges):
    """Takes a field and an outcome kind for disjoint, since they are two kinds of predicate."""

    def overlap(self, one: Edge, other: Edge) -> bool:
        return not _are(one, other, FieldEquals, OutcomeIs) and super().overlap(one, other)


# Overlaps that are none


@mutant("EDG-003", overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-031", "EDG-002", "EDG-004"))
class AllowsOneExclusiveEdge(ComparesEdges):
    """Allows one exclusive edge of a node, and no second."""

    def overlap(self, one: Edge, other: Edge) -> bool:
        del one, other
        return True


@mutant("EDG-003", overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-031", "EDG-002", "EDG-004"))
class ComparesFieldsWithoutScalars(ComparesEdges):
    """Takes two predicates on one field for overlapping, whatever the scalars."""

    def overlap(self, one: Edge, other: Edge) -> bool:
        return _are(one, other, FieldEquals, FieldEquals) or super().overlap(one, other)


@mutant("EDG-003", overlaps=("SPC-002", "SPC-031", "EDG-002"))
class TakesKindsForOverlapping(ComparesEdges):
    """Takes two outcome kinds for overlapping."""

    def overlap(self, one: Edge, other: Edge) -> bool:
        return _are(one, other, OutcomeIs, OutcomeIs) or super().overlap(one, other)


@mutant("EDG-003", overlaps=("SPC-002", "SPC-031", "EDG-002"))
class LooksForFieldsInFailures(ComparesEdges):
    """Takes a field and a failure for overlapping, although a failure carries no output."""

    def overlap(self, one: Edge, other: Edge) -> bool:
        return _are(one, other, FieldEquals, OutcomeIs) or super().overlap(one, other)


# Scalars


class _MistakesScalars(Knows):
    """It takes the scalars of predicates for others, and so some of them for the same."""

    def scalar(self, value: JsonValue) -> JsonValue:
        """Return what it takes a scalar for."""
        raise NotImplementedError

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        try:
            document = self._mistaken(read_json(text))
        except JsonError:
            return found
        if isinstance(document, Mapping):
            document = {key: item for key, item in document.items() if key != "content_hash"}
        mistaken = validate(document, handlers)
        known = {problem.pointer for problem in found.problems}
        more = [each for each in mistaken.problems if each.code == "overlapping_edges" and each.pointer not in known]
        return msgspec.structs.replace(found, problems=(*found.problems, *more))

    def _mistaken(self, value: Value) -> Value:
        if isinstance(value, Mapping):
            return {
                key: self.scalar(item) if key == "equals" else item if key == "input" else self._mistaken(item)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._mistaken(item) for item in value]
        return value


@mutant("EDG-004")
class TakesTrueAsOne(_MistakesScalars):
    """Compares scalars with ==, for which `true` is 1 and `false` is 0."""

    def scalar(self, value: JsonValue) -> JsonValue:
        return int(value) if isinstance(value, bool) else value


@mutant("EDG-004")
class TakesDigitsAsNumbers(_MistakesScalars):
    """Compares scalars by what they look like, so that "1" is 1."""

    def scalar(self, value: JsonValue) -> JsonValue:
        return int(value) if isinstance(value, str) and value.isdecimal() else value


@mutant("EDG-004", overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-031"))
class TakesNullAsFalse(_MistakesScalars):
    """Takes null for false."""

    def scalar(self, value: JsonValue) -> JsonValue:
        return False if value is None else value


@mutant("EDG-004")
class ComparesStringsWithoutCase(_MistakesScalars):
    """Takes "Yes" for "yes"."""

    def scalar(self, value: JsonValue) -> JsonValue:
        return value.casefold() if isinstance(value, str) else value


@mutant("EDG-004")
class NormalisesStrings(_MistakesScalars):
    """Compares strings after normalising them to NFC, and not by code point."""

    def scalar(self, value: JsonValue) -> JsonValue:
        return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


@mutant("EDG-004")
class ComparesWholeNumbers(_MistakesScalars):
    """Cuts fractions off before it compares, so that 1.5 is 1."""

    def scalar(self, value: JsonValue) -> JsonValue:
        return int(value) if isinstance(value, float) else value


@mutant("EDG-004")
class ComparesSpellings(Overlooks):
    """Compares numbers as they are written, so that 1.0 is not 1."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "overlapping_edges" and self.differ(seen)

    def differ(self, seen: Seen) -> bool:
        """Tell whether two equal numbers of the workflow's predicates are written in two ways."""
        document = json.loads(seen.look.text, parse_int=_Spelled, parse_float=_Spelled)
        spelled = [value.text for key, value in values(document) if key == "equals" and isinstance(value, _Spelled)]
        numbers = [value for key, value in values(seen.look.document) if key == "equals" and _is_number(value)]
        return len(set(spelled)) > len(set(numbers))


class _Spelled:
    def __init__(self, text: str) -> None:
        self.text = text


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@mutant("EDG-004")
class TakesMinusZeroForAnother(ComparesSpellings):
    """Takes −0 for another number than 0, as their bits are."""

    def differ(self, seen: Seen) -> bool:
        document = json.loads(seen.look.text, parse_int=float)
        zeros = {str(value) for key, value in values(document) if key == "equals" and _is_number(value) and not value}
        return len(zeros) > 1


# Which edges are compared


@mutant("EDG-005", overlaps=("SPC-002", "SPC-018", "SPC-031", "EDG-002"))
class ComparesParallelEdges(ComparesEdges):
    """Compares all edges of a node, exclusive or not."""

    def pairs(self, edges: Sequence[Edge]) -> Iterator[tuple[Edge, Edge]]:
        return ((one, other) for one, other in combinations(edges, 2) if one.source == other.source)


@mutant("EDG-005", overlaps=("SPC-002", "SPC-031", "EDG-002"))
class ComparesExclusiveWithParallel(ComparesEdges):
    """Lets an exclusive edge exclude the parallel ones of its node too."""

    def pairs(self, edges: Sequence[Edge]) -> Iterator[tuple[Edge, Edge]]:
        for one, other in combinations(edges, 2):
            if one.source == other.source and "exclusive" in (one.mode, other.mode):
                yield one, other


@mutant("EDG-005", overlaps=("SPC-002", "SPC-031", "EDG-002"))
class ComparesEdgesOfAllNodes(ComparesEdges):
    """Compares all exclusive edges, whichever node they leave."""

    def pairs(self, edges: Sequence[Edge]) -> Iterator[tuple[Edge, Edge]]:
        return combinations([edge for edge in edges if edge.mode == "exclusive"], 2)


@mutant("EDG-005", overlaps=("SPC-002", "SPC-031", "EDG-002"))
class ComparesEdgesIntoANode(ComparesEdges):
    """Compares the exclusive edges that lead into a node too."""

    def pairs(self, edges: Sequence[Edge]) -> Iterator[tuple[Edge, Edge]]:
        exclusive = [edge for edge in edges if edge.mode == "exclusive"]
        for one, other in combinations(exclusive, 2):
            if one.source == other.source or one.target == other.target:
                yield one, other


# Loops


@mutant(
    "EDG-006",
    overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-018", "SPC-022", "SPC-031", "EDG-002", "EDG-003"),
)
class RefusesLoops(Complains):
    """Refuses every cycle, as if there were only dependencies."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            if scope.union_cycles:
                yield "dependency_cycle", f"{scope.place}/edges"


@mutant(
    "EDG-006",
    overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-018", "SPC-022", "SPC-031", "EDG-002", "EDG-003"),
    report="galaxyproject/galaxy#3236",
)
class RefusesEdgesToTheirSource(Complains):
    """Refuses an edge that leads back to its own source."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for edge in scope.definition.edges:
                if edge.source == edge.target:
                    yield "dependency_cycle", scope.at(edge)


@mutant(
    "EDG-006",
    overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-018", "SPC-022", "SPC-031", "EDG-002", "EDG-003"),
)
class WantsALimitOnLoops(Complains):
    """Refuses a loop whose nodes have no `max_activations`, although budgets end it."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for members in cycles(scope.union):
                if all(scope.definition.nodes[member].max_activations is None for member in members):
                    yield "missing_member", f"{scope.place}/nodes"


# Witnesses


class _ShowsAnother(Knows):
    """It shows something else than an outcome that both edges match."""

    def shown(self, witness: Any) -> JsonValue:
        """Return what it shows."""
        raise NotImplementedError

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        problems = tuple(
            msgspec.structs.replace(problem, witness=self.shown(problem.witness)) if problem.witness else problem
            for problem in found.problems
        )
        return msgspec.structs.replace(found, problems=problems)


@mutant("EDG-007")
class ShowsNothing(_ShowsAnother):
    """Claims witnesses, and shows none."""

    def shown(self, witness: Any) -> JsonValue:
        del witness
        return None


@mutant("EDG-007")
class ShowsWhatOneEdgeMatches(_ShowsAnother):
    """Shows an outcome with the field that one of the edges asks for, and without the other's."""

    def shown(self, witness: Any) -> JsonValue:
        output = witness.get("output", {})
        return {**witness, "output": dict(list(output.items())[:1])} if len(output) > 1 else witness


@mutant("EDG-007")
class ShowsSuccessOnly(_ShowsAnother):
    """Shows an outcome that succeeded, whichever kind the edges ask for."""

    def shown(self, witness: Any) -> JsonValue:
        return {"kind": "succeeded", **({"output": witness["output"]} if "output" in witness else {})}


@mutant("EDG-007")
class ShowsNoReason(_ShowsAnother):
    """Shows an outcome without its reason, which is none."""

    def shown(self, witness: Any) -> JsonValue:
        return {key: item for key, item in witness.items() if key != "reason"}


@mutant("EDG-007")
class ShowsNoOutput(_ShowsAnother):
    """Shows the kind of the outcome, and not the field that matters."""

    def shown(self, witness: Any) -> JsonValue:
        return {key: item for key, item in witness.items() if key in {"kind", "reason"}}
