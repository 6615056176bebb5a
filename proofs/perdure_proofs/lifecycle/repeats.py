"""An outcome that is told again is known by what it says: however its JSON is spelt, and not by its kind alone.

A worker that hears no answer tells its outcome again, through another library perhaps, which orders fields and writes
numbers in its own way. It must hear that it was committed. Whoever tells something else must hear of the conflict:
true is not 1, and an output that is null is not one that is absent. What is taken for the same, no edge tells apart.

The outcomes are a few, chosen for what languages take for equal; every pair of them is compared.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Final

from perdure.kernel.identity import Name
from perdure.kernel.outcomes import OUTCOME_KINDS, ChangesRequested, Outcome, Succeeded, Unsuccessful
from perdure.kernel.predicates import FieldEquals, OutcomeIs, Predicate
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.values import JsonValue
from perdure_proofs.theorems import Any, about_rules


def _gives(output: JsonValue) -> Outcome:
    return Succeeded(kind="succeeded", output=output)


GROUPS: Final[tuple[tuple[Outcome, ...], ...]] = (
    (_gives({"a": 1, "b": 2}), _gives({"b": 2, "a": 1}), _gives({"a": 1.0, "b": 2.0})),
    (_gives({"a": 0, "b": 2}), _gives({"a": -0.0, "b": 2})),
    (_gives({"a": True, "b": 2}),),
    (_gives({"a": False, "b": 2}),),
    (_gives({"a": "1", "b": 2}),),
    (_gives(None),),
    (Succeeded(kind="succeeded"),),
    (ChangesRequested(kind="changes_requested", reason="", output={"a": 1, "b": 2}),),
    (Unsuccessful(kind="blocked", reason="one"),),
    (Unsuccessful(kind="blocked", reason="another"),),
    (Unsuccessful(kind="cancelled", reason="one"),),
)
"""Each says one thing, in all its spellings."""

_TOLD: Final = tuple((number, outcome) for number, group in enumerate(GROUPS) for outcome in group)
_SCALARS: Final = (0, 1, 2, True, False, "1", None)
_PREDICATES: Final[tuple[Predicate, ...]] = (
    *map(OutcomeIs, OUTCOME_KINDS),
    *(FieldEquals(Name(field), value) for field, value in product("ab", _SCALARS)),
)

THEOREM: Final = about_rules(
    "RUN-015",
    mutants={
        "ComparesKindsAlone": replace(RULES, same_outcome=lambda one, other: one.kind == other.kind),
        "ComparesAsItsLanguageDoes": replace(RULES, same_outcome=lambda one, other: one == other),
        "ComparesTexts": replace(RULES, same_outcome=lambda one, other: repr(one) == repr(other)),
    },
)


@THEOREM.claim
def an_outcome_is_known_by_what_it_says(rules: Rules, values: Any) -> bool:
    """Two outcomes are one if they say the same, however each is spelt, and not if they say anything else."""
    one, other = values.among("one", _TOLD), values.among("other", _TOLD)
    return rules.same_outcome(one[1], other[1]) == (one[0] == other[0])


@THEOREM.claim
def no_edge_tells_apart_what_is_the_same(rules: Rules, values: Any) -> bool:
    """Where two outcomes are taken for one, every predicate matches both or neither."""
    one, other = values.among("one", _TOLD)[1], values.among("other", _TOLD)[1]
    if not rules.same_outcome(one, other):
        return True
    return all(RULES.matches(predicate, one) == RULES.matches(predicate, other) for predicate in _PREDICATES)
