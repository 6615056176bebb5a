"""Predicates: which outcomes an edge follows, and whether two of them can follow the same one.

Source: ADR-0032, "Typed outcomes and dependency policies"; EDG-001 to EDG-007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, assert_never

import msgspec

from perdure.kernel.identity import NAME_GRAMMAR, Name
from perdure.kernel.outcomes import (
    KINDS,
    KINDS_WITH_OUTPUT,
    ChangesRequested,
    Outcome,
    OutcomeKind,
    Succeeded,
    Unsuccessful,
    output_fields,
)
from perdure.kernel.structure import Scalar, about, whole

FieldName = Annotated[Name, whole(NAME_GRAMMAR)]


class OutcomeIs(msgspec.Struct, frozen=True, gc=False):
    """It matches the outcomes of one kind."""

    outcome: Annotated[OutcomeKind, about("Matches the outcomes of this kind, and no others.", words=KINDS)]


class FieldEquals(msgspec.Struct, frozen=True, gc=False):
    """It matches the outcomes whose inline output is an object that has a field with this value."""

    field: Annotated[FieldName, about("Looks at this field, at the top level of the outcome's inline output.")]
    equals: Annotated[Scalar, about("Matches if the field is there and has this value, of the same type and equal.")]


Predicate = Literal["any"] | OutcomeIs | FieldEquals

ScalarKey = tuple[str, Scalar]


def scalar_key(value: Scalar) -> ScalarKey:
    """Return what two scalars have in common if they are the same: one type and equal (EDG-004)."""
    match value:
        case None:
            return ("null", None)
        case bool():
            return ("boolean", value)
        case int() | float():
            return ("number", value)
        case str():
            return ("string", value)
        case _:
            assert_never(value)


def predicate_key(predicate: Predicate) -> tuple[str, object]:
    """Return what two predicates have in common if they are the same."""
    match predicate:
        case "any":
            return ("any", None)
        case OutcomeIs(outcome=kind):
            return ("outcome", kind)
        case FieldEquals(field=field, equals=value):
            return ("field", (field, scalar_key(value)))
        case _:
            assert_never(predicate)


def matches(predicate: Predicate, outcome: Outcome) -> bool:
    """Tell whether an edge with this predicate follows the outcome."""
    match predicate:
        case "any":
            return True
        case OutcomeIs(outcome=kind):
            return outcome.kind == kind
        case FieldEquals(field=field, equals=value):
            fields = output_fields(outcome)
            if field not in fields:
                return False
            found = fields[field]
            return isinstance(found, Scalar) and scalar_key(found) == scalar_key(value)
        case _:
            assert_never(predicate)


def can_match(predicate: Predicate) -> bool:
    """Tell whether an edge with this predicate can ever fire: a skipped node fires none (EDG-001)."""
    return predicate != OutcomeIs("skipped")


def witness(one: Predicate, other: Predicate) -> Outcome | None:
    """Return an outcome that both match, or None if they are disjoint (EDG-002, EDG-003)."""
    if one == "any":
        return _match_for(other)
    if other == "any":
        return _match_for(one)
    if isinstance(one, OutcomeIs):
        return _of_kind(one.outcome, other)
    if isinstance(other, OutcomeIs):
        return _of_kind(other.outcome, one)
    if one.field == other.field and scalar_key(one.equals) != scalar_key(other.equals):
        return None
    return _outcome("succeeded", {one.field: one.equals, other.field: other.equals})


def _match_for(predicate: Predicate) -> Outcome:
    """Return an outcome that a predicate matches."""
    match predicate:
        case "any":
            return _outcome("succeeded")
        case OutcomeIs(outcome=kind):
            return _outcome(kind)
        case FieldEquals(field=field, equals=value):
            return _outcome("succeeded", {field: value})
        case _:
            assert_never(predicate)


def _of_kind(kind: OutcomeKind, other: OutcomeIs | FieldEquals) -> Outcome | None:
    """Return an outcome of a kind that the other predicate matches too."""
    if isinstance(other, OutcomeIs):
        return _outcome(kind) if kind == other.outcome else None
    return _outcome(kind, {other.field: other.equals}) if kind in KINDS_WITH_OUTPUT else None


def _outcome(kind: OutcomeKind, output: dict[str, Scalar] | None = None) -> Outcome:
    shown = output if output is not None else msgspec.UNSET
    if kind == "succeeded":
        return Succeeded(kind=kind, output=shown)
    if kind == "changes_requested":
        return ChangesRequested(kind=kind, reason="", output=shown)
    return Unsuccessful(kind=kind, reason="")


@dataclass(slots=True)
class Seen:
    """Predicates that were seen: of those that anything could overlap with, where the first one stands."""

    first: int | None = None
    with_any_outcome: int | None = None
    with_output: int | None = None
    """It names a kind of outcome that carries output."""
    of_kind: dict[OutcomeKind, int] = field(default_factory=dict)
    fields: list[tuple[str, int]] = field(default_factory=list)
    """Of two different fields at most: more are not needed."""
    of_value: dict[tuple[str, ScalarKey], int] = field(default_factory=dict)

    def overlapping(self, predicate: Predicate) -> int | None:
        """Return where the first one stands that overlaps with a predicate; None if there is none."""
        match predicate:
            case "any":
                return self.first
            case OutcomeIs(outcome=kind):
                with_field = self.fields[0][1] if self.fields and kind in KINDS_WITH_OUTPUT else None
                return _first(self.with_any_outcome, self.of_kind.get(kind), with_field)
            case FieldEquals(field=name, equals=value):
                other_field = next((position for other, position in self.fields if other != name), None)
                same_value = self.of_value.get((name, scalar_key(value)))
                return _first(self.with_any_outcome, self.with_output, other_field, same_value)
            case _:
                assert_never(predicate)

    def add(self, predicate: Predicate, position: int) -> None:
        """See one more, which stands after all others."""
        self.first = _first(self.first, position)
        match predicate:
            case "any":
                self.with_any_outcome = _first(self.with_any_outcome, position)
            case OutcomeIs(outcome=kind):
                self.of_kind.setdefault(kind, position)
                if kind in KINDS_WITH_OUTPUT:
                    self.with_output = _first(self.with_output, position)
            case FieldEquals(field=name, equals=value):
                self.of_value.setdefault((name, scalar_key(value)), position)
                if len(self.fields) < 2 and all(other != name for other, _ in self.fields):
                    self.fields.append((name, position))
            case _:
                assert_never(predicate)


def overlaps(predicates: Sequence[Predicate]) -> list[tuple[int, int]]:
    """Return, for each predicate that overlaps with an earlier one, the position of the first such, and its own.

    Equal to comparing each two with `witness`, in linear time.
    """
    found, seen = [], Seen()
    for position, predicate in enumerate(predicates):
        earlier = seen.overlapping(predicate)
        if earlier is not None:
            found.append((earlier, position))
        seen.add(predicate, position)
    return found


def _first(*positions: int | None) -> int | None:
    return min((position for position in positions if position is not None), default=None)
