from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.documents import ARTIFACT

from perdure.kernel.identity import Name
from perdure.kernel.outcomes import (
    OUTCOME_KINDS,
    ArtifactReference,
    ChangesRequested,
    Outcome,
    OutcomeKind,
    Succeeded,
    Unsuccessful,
)
from perdure.kernel.predicates import (
    FieldEquals,
    OutcomeIs,
    Predicate,
    can_match,
    matches,
    overlaps,
    scalar_key,
    witness,
)
from perdure.kernel.structure import Scalar
from perdure.kernel.values import JsonValue

A, B = Name("a"), Name("b")
SCALARS: list[Scalar] = [None, True, False, 0, 0.0, -0.0, 1, 1.0, 1.5, -1, "", "0", "1", "true", "null"]
SAME: list[set[int]] = [{0}, {1}, {2}, {3, 4, 5}, {6, 7}, {8}, {9}, {10}, {11}, {12}, {13}, {14}]
"""The positions of the scalars that are the same."""

PREDICATES: list[Predicate] = [
    "any",
    *(OutcomeIs(kind) for kind in OUTCOME_KINDS),
    *(FieldEquals(name, value) for name, value in product([A, B], SCALARS)),
]

OUTPUTS: list[JsonValue] = [
    None,
    1,
    "a",
    [],
    [{"a": 1}],
    {},
    {"c": 1},
    {"a": [1]},
    {"a": {"a": 1}},
    *({name: value} for name, value in product(["a", "b"], SCALARS)),
    *({"a": one, "b": other} for one, other in product(SCALARS, SCALARS)),
]


def every_outcome() -> list[Outcome]:
    """Return outcomes of all kinds: without output, with an artifact, and with each of the outputs."""
    artifact = ArtifactReference(**ARTIFACT)
    found: list[Outcome] = [
        Succeeded(kind="succeeded"),
        Succeeded(kind="succeeded", artifact=artifact),
        ChangesRequested(kind="changes_requested", reason="why"),
        ChangesRequested(kind="changes_requested", reason="why", artifact=artifact),
        Unsuccessful(kind="retryable_failure", reason="why"),
        Unsuccessful(kind="permanent_failure", reason="why"),
        Unsuccessful(kind="blocked", reason="why"),
        Unsuccessful(kind="cancelled", reason="why"),
        Unsuccessful(kind="skipped", reason="why"),
    ]
    found += [Succeeded(kind="succeeded", output=output) for output in OUTPUTS]
    found += [ChangesRequested(kind="changes_requested", reason="", output=output) for output in OUTPUTS]
    return found


OUTCOMES = every_outcome()


def same(one: JsonValue, other: JsonValue) -> bool:
    """Tell whether two scalars are the same, spelled out."""
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other)]
    if any(numbers):
        return all(numbers) and one == other
    return type(one) is type(other) and one == other


def follows(predicate: Predicate, outcome: Outcome) -> bool:
    """Tell whether a predicate matches an outcome, spelled out."""
    if isinstance(predicate, OutcomeIs):
        return predicate.outcome == outcome.kind
    if isinstance(predicate, FieldEquals):
        output = None if isinstance(outcome, Unsuccessful) else outcome.output
        return (
            isinstance(output, dict) and predicate.field in output and same(output[predicate.field], predicate.equals)
        )
    return True


# Scalars


@pytest.mark.parametrize("one", range(len(SCALARS)))
def test_scalars_are_the_same_only_if_they_are_of_one_type_and_equal(one: int) -> None:
    found = {other for other in range(len(SCALARS)) if scalar_key(SCALARS[other]) == scalar_key(SCALARS[one])}
    assert found == next(group for group in SAME if one in group)


@pytest.mark.parametrize(
    ("one", "other"),
    [("é", "e\u0301"), ("a", "A"), ("a", "a "), ("\U0001f600", "\U0001f601"), (2**53 - 1, 2**53 - 2), (1e300, 1e301)],
)
def test_strings_are_compared_by_code_point_and_numbers_by_value(one: Scalar, other: Scalar) -> None:
    assert scalar_key(one) != scalar_key(other)
    assert scalar_key(one) == scalar_key(one)


# One predicate


@pytest.mark.parametrize("predicate", PREDICATES, ids=str)
def test_a_predicate_matches_what_the_page_says(predicate: Predicate) -> None:
    assert [matches(predicate, outcome) for outcome in OUTCOMES] == [
        follows(predicate, outcome) for outcome in OUTCOMES
    ]


@pytest.mark.parametrize(
    ("output", "value", "is_followed"),
    [
        ({"a": 1}, 1.0, True),
        ({"a": 1}, True, False),
        ({"a": True}, 1, False),
        ({"a": "1"}, 1, False),
        ({"a": None}, None, True),
        ({"a": None}, False, False),
        ({}, None, False),
        ({"a": -0.0}, 0, True),
        ({"a": [1]}, 1, False),
        ({"b": 1}, 1, False),
        ([1], 1, False),
        ("a", "a", False),
        (None, None, False),
    ],
)
def test_a_field_is_equal_to_a_scalar_of_its_type(output: JsonValue, value: Scalar, is_followed: bool) -> None:
    assert matches(FieldEquals(A, value), Succeeded(kind="succeeded", output=output)) is is_followed


@pytest.mark.parametrize("predicate", PREDICATES, ids=str)
def test_only_the_outcome_of_a_skipped_node_is_never_matched(predicate: Predicate) -> None:
    assert can_match(predicate) == (predicate != OutcomeIs("skipped"))


# Two predicates


@pytest.mark.parametrize("one", PREDICATES, ids=str)
def test_two_predicates_have_a_witness_if_some_outcome_matches_both(one: Predicate) -> None:
    for other in PREDICATES:
        both = [outcome for outcome in OUTCOMES if follows(one, outcome) and follows(other, outcome)]
        shown = witness(one, other)
        assert (shown is not None) == bool(both), other
        if shown is not None:
            assert follows(one, shown), (other, shown)
            assert follows(other, shown), (other, shown)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (OutcomeIs("succeeded"), OutcomeIs("changes_requested")),
        (FieldEquals(A, 1), FieldEquals(A, 2)),
        (FieldEquals(A, 1), FieldEquals(A, True)),
        (FieldEquals(A, 1), FieldEquals(A, "1")),
        (FieldEquals(A, None), FieldEquals(A, False)),
        (FieldEquals(A, 1), OutcomeIs("permanent_failure")),
        (OutcomeIs("blocked"), FieldEquals(A, 1)),
    ],
    ids=str,
)
def test_what_the_page_calls_disjoint_has_no_witness(one: Predicate, other: Predicate) -> None:
    assert witness(one, other) is None
    assert overlaps([one, other]) == []


KINDS: list[OutcomeKind] = list(OUTCOME_KINDS)
NAMES = [A, B, Name("c")]
FEW_SCALARS: list[Scalar] = [None, True, 0, 1, 1.0, "1"]
predicates: st.SearchStrategy[Predicate] = st.one_of(
    st.just("any"),
    st.sampled_from(KINDS).map(OutcomeIs),
    st.builds(FieldEquals, st.sampled_from(NAMES), st.sampled_from(FEW_SCALARS)),
)


@settings(deadline=None, max_examples=500)
@given(st.lists(predicates, max_size=8))
def test_overlaps_are_those_of_each_two_compared(several: list[Predicate]) -> None:
    """The quadratic twin: which positions overlap with an earlier one, and that the earlier one named is such."""
    pairs = [(a, b) for b in range(len(several)) for a in range(b) if witness(several[a], several[b]) is not None]
    found = overlaps(several)
    assert [second for _, second in found] == sorted({second for _, second in pairs})
    assert set(found) <= set(pairs)
