"""Two predicates are told to be disjoint exactly if no outcome matches both, and an overlap is shown by one that does.

A validator refuses exclusive edges that could fire together. Were it to overlook one pair, a run could follow two edges
that exclude each other; were it to see an overlap where there is none, it would refuse a right specification.

An outcome is any of the seven kinds, with any output: a predicate looks at one field of it, which may be absent, a
scalar or something else. Names, strings and numbers may be any, for all that is asked of them is whether two are the
same: what stands for them answers nothing else. How scalars are the same is looked at on those that languages confuse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from perdure.kernel.identity import Name
from perdure.kernel.outcomes import Outcome, Succeeded
from perdure.kernel.predicates import FieldEquals, OutcomeIs, Predicate, matches, witness
from perdure.kernel.structure import Scalar
from perdure.kernel.values import canonical_json
from perdure_proofs.edges.predicates import any_outcome, any_predicate
from perdure_proofs.theorems import Any, Theorem, assume

AWKWARD: Final[tuple[Scalar, ...]] = (
    None,
    False,
    True,
    0,
    0.0,
    -0.0,
    1,
    1.0,
    -1,
    2**53 - 1,
    float(2**53 - 1),
    0.1,
    0.1 + 0.2,
    0.3,
    1e300,
    "",
    "0",
    "1",
    "1.0",
    "true",
    "null",
    "A",
    "a",
    "\u00e9",
    "e\u0301",
    "\0",
    " ",
)


@dataclass(frozen=True, slots=True)
class Edges:
    """What predicates match, and what two of them both match."""

    matches: Callable[[Predicate, Outcome], bool] = matches
    witness: Callable[[Predicate, Predicate], Outcome | None] = witness


def _takes_true_for_one(one: Predicate, other: Predicate) -> Outcome | None:
    if isinstance(one, FieldEquals) and isinstance(other, FieldEquals) and one.field == other.field:
        return witness(one, one) if one.equals == other.equals else None
    return witness(one, other)


def _separates_fields(one: Predicate, other: Predicate) -> Outcome | None:
    if isinstance(one, FieldEquals) and isinstance(other, FieldEquals) and one.field != other.field:
        return None
    return witness(one, other)


def _separates_kinds_from_fields(one: Predicate, other: Predicate) -> Outcome | None:
    return None if isinstance(one, OutcomeIs) and isinstance(other, FieldEquals) else witness(one, other)


def _sees_fields_everywhere(one: Predicate, other: Predicate) -> Outcome | None:
    if isinstance(one, OutcomeIs) and isinstance(other, FieldEquals):
        return witness("any", other)
    return witness(one, other)


def _looks_at_names_alone(predicate: Predicate, outcome: Outcome) -> bool:
    if isinstance(predicate, FieldEquals) and isinstance(outcome, Succeeded):
        return matches(predicate, outcome) or matches(FieldEquals(predicate.field, None), outcome)
    return matches(predicate, outcome)


THEOREM: Final = Theorem(
    ("EDG-002", "EDG-003", "EDG-004", "EDG-007"),
    Edges(),
    {
        "TakesTrueForOne": Edges(witness=_takes_true_for_one),
        "SeparatesFields": Edges(witness=_separates_fields),
        "SeparatesKindsFromFields": Edges(witness=_separates_kinds_from_fields),
        "SeesFieldsEverywhere": Edges(witness=_sees_fields_everywhere),
        "TakesNullForAnything": Edges(matches=_looks_at_names_alone),
    },
)


@THEOREM.claim
def a_witness_matches_both(edges: Edges, values: Any) -> bool:
    """What is shown for an overlap is an outcome that both predicates match."""
    one, other = any_predicate(values, "one"), any_predicate(values, "other")
    found = edges.witness(one, other)
    return found is None or (edges.matches(one, found) and edges.matches(other, found))


@THEOREM.claim
def what_both_match_is_told(edges: Edges, values: Any) -> bool:
    """If there is any outcome that both predicates match, they have a witness: disjoint ones never fire together."""
    one, other, outcome = any_predicate(values, "one"), any_predicate(values, "other"), any_outcome(values)
    assume(edges.matches(one, outcome))
    assume(edges.matches(other, outcome))
    return edges.witness(one, other) is not None


@THEOREM.claim
def the_order_of_two_does_not_matter(edges: Edges, values: Any) -> bool:
    """One is disjoint from the other exactly if the other is from the one."""
    one, other = any_predicate(values, "one"), any_predicate(values, "other")
    return (edges.witness(one, other) is None) == (edges.witness(other, one) is None)


@THEOREM.claim
def scalars_are_the_same_as_in_canonical_json(edges: Edges, values: Any) -> bool:
    """A field matches a scalar exactly if both have one canonical form: 1.0 is 1, −0 is 0, and true is not 1."""
    field, asked, found = Name("field"), values.among("asked", AWKWARD), values.among("found", AWKWARD)
    is_same = edges.matches(FieldEquals(field, asked), Succeeded(kind="succeeded", output={field: found}))
    return is_same == (canonical_json(asked) == canonical_json(found))
