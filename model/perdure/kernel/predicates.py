"""Predicates: which outcomes an edge follows, and whether two of them can follow the same one.

Source: ADR-0032, "Typed outcomes and dependency policies"; EDG-001 to EDG-007.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def overlaps(predicates: Sequence[Predicate]) -> list[tuple[int, int]]:
    """Return, for each predicate that overlaps with an earlier one, its position and that of one such.

    Equal to comparing each two with `witness`, in linear time: it remembers what was seen, by what could overlap.
    """
    found = []
    any_seen: int | None = None
    first_with_output: int | None = None
    first_of_kind: dict[OutcomeKind, int] = {}
    first_fields: list[tuple[str, int]] = []  # Of two different fields at most: more are not needed.
    first_of_value: dict[tuple[str, ScalarKey], int] = {}
    for position, predicate in enumerate(predicates):
        earlier = any_seen
        match predicate:
            case "any":
                earlier = 0 if position else None
                any_seen = position if any_seen is None else any_seen
            case OutcomeIs(outcome=kind):
                carries = kind in KINDS_WITH_OUTPUT
                earlier = _first(
                    earlier, first_of_kind.get(kind), first_fields[0][1] if carries and first_fields else None
                )
                first_of_kind.setdefault(kind, position)
                if carries and first_with_output is None:
                    first_with_output = position
            case FieldEquals(field=field, equals=value):
                key = (str(field), scalar_key(value))
                other_field = next((first for name, first in first_fields if name != field), None)
                earlier = _first(earlier, first_with_output, other_field, first_of_value.get(key))
                first_of_value.setdefault(key, position)
                if len(first_fields) < 2 and all(name != field for name, _ in first_fields):
                    first_fields.append((field, position))
            case _:
                assert_never(predicate)
        if earlier is not None:
            found.append((earlier, position))
    return found


def _first(*positions: int | None) -> int | None:
    return min((position for position in positions if position is not None), default=None)
