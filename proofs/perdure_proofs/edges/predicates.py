"""Any predicate and any outcome, for theorems about edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import UNSET, UnsetType

from perdure.kernel.identity import Name
from perdure.kernel.outcomes import (
    OUTCOME_KINDS,
    ChangesRequested,
    Outcome,
    OutcomeKind,
    Succeeded,
    Unsuccessful,
)
from perdure.kernel.predicates import FieldEquals, OutcomeIs, Predicate
from perdure.kernel.structure import Scalar
from perdure.kernel.values import JsonValue
from perdure_proofs.theorems import Any

SCALARS: Final = ("null", "false", "true", "number", "string")


def any_scalar(values: Any, name: str, kinds: Sequence[str] = SCALARS) -> Scalar:
    """Return any scalar: null, a truth, a number or a string."""
    return _scalar(values, name, values.among(f"{name} is", kinds))


def _scalar(values: Any, name: str, kind: str) -> Scalar:
    match kind:
        case "null":
            return None
        case "number":
            return values.number(name)
        case "string":
            return values.name(name)
        case truth:
            return truth == "true"


def any_predicate(
    values: Any, name: str, outcomes: Sequence[OutcomeKind] = OUTCOME_KINDS, scalars: Sequence[str] = SCALARS
) -> Predicate:
    """Return any predicate: about any outcome, about a kind, about any field and any scalar."""
    choices: tuple[Literal["any", "field"] | OutcomeIs, ...] = ("any", *map(OutcomeIs, outcomes), "field")
    chosen = values.among(name, choices)
    if chosen != "field":
        return chosen
    return FieldEquals(Name(values.name(f"{name}'s field")), any_scalar(values, f"{name}'s scalar", scalars))


class AnyFields(Mapping[str, JsonValue]):
    """An object that has any fields: what is in one is told when somebody asks for it."""

    def __init__(self, values: Any) -> None:
        self._values = values
        self._asked: dict[str, tuple[bool, JsonValue]] = {}

    def __getitem__(self, name: str) -> JsonValue:
        if name not in self._asked:
            told = f"output field {len(self._asked) + 1}"
            kind = self._values.among(told, ("absent", "array", *SCALARS))
            value: JsonValue = [] if kind in {"absent", "array"} else _scalar(self._values, f"{told}'s scalar", kind)
            self._asked[name] = kind != "absent", value
        is_there, value = self._asked[name]
        if not is_there:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


def any_outcome(values: Any) -> Outcome:
    """Return any outcome, as far as a predicate can see it."""
    kind = values.among("kind", OUTCOME_KINDS)
    if kind == "succeeded":
        return Succeeded(kind=kind, output=_any_output(values))
    if kind == "changes_requested":
        return ChangesRequested(kind=kind, reason="", output=_any_output(values))
    return Unsuccessful(kind=kind, reason="")


def _any_output(values: Any) -> JsonValue | UnsetType:
    shape = values.among("output", ("none", "no object", "object"))
    return UNSET if shape == "none" else [] if shape == "no object" else AnyFields(values)
