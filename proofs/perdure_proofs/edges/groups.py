"""Of a group of exclusive edges that a validator accepts, at most one fires, however many there are.

The validator does not compare each two: it goes through the group once and remembers of the predicates before where the
first one stands of each that anything could overlap with. That this finds an overlap exactly if there is one is an
induction: nothing overlaps at first, and after one predicate more, something is found for a predicate exactly if it was
found before or this one overlaps. What is told besides, that it is the first that overlaps, is compared in all groups
of three.

Then two edges of an accepted group, whichever they are, have no witness, and no outcome matches both (`disjointness`).
Kinds of outcomes differ only in whether they carry output, and scalars in whether they are the same: so two kinds of
each sort, and two types of scalars, are looked at here, and all of them there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from perdure.kernel.outcomes import OutcomeKind
from perdure.kernel.predicates import FieldEquals, OutcomeIs, Predicate, Seen, matches, overlaps, scalar_key, witness
from perdure_proofs.edges.predicates import any_outcome, any_predicate
from perdure_proofs.runs import MOST
from perdure_proofs.theorems import Any, Theorem, assume

KINDS: Final[tuple[OutcomeKind, ...]] = ("succeeded", "changes_requested", "blocked", "cancelled")


@dataclass(frozen=True, slots=True)
class Group:
    """How a group of exclusive edges is judged."""

    add: Callable[[Seen, Predicate, int], None] = Seen.add
    overlapping: Callable[[Seen, Predicate], int | None] = Seen.overlapping
    overlaps: Callable[[Sequence[Predicate]], list[tuple[int, int]]] = overlaps


def _remembers_one_field(seen: Seen, predicate: Predicate, position: int) -> None:
    known = list(seen.fields)
    seen.add(predicate, position)
    seen.fields = known or seen.fields


def _forgets_what_carries_output(seen: Seen, predicate: Predicate, position: int) -> None:
    known = seen.with_output
    seen.add(predicate, position)
    seen.with_output = known


def _compares_neighbours(predicates: Sequence[Predicate]) -> list[tuple[int, int]]:
    pairs = enumerate(pairwise(predicates))
    return [(place, place + 1) for place, (one, other) in pairs if witness(one, other) is not None]


def _tells_the_last(predicates: Sequence[Predicate]) -> list[tuple[int, int]]:
    backwards = overlaps([*reversed(predicates[:-1]), *predicates[-1:]])
    return [(len(predicates) - 2 - one, other) for one, other in backwards if other == len(predicates) - 1]


THEOREM: Final = Theorem(
    ("EDG-002", "EDG-003", "EDG-007"),
    Group(),
    {
        "RemembersOneField": Group(add=_remembers_one_field),
        "ForgetsWhatCarriesOutput": Group(add=_forgets_what_carries_output),
        "ComparesNeighbours": Group(overlaps=_compares_neighbours),
        "TellsTheLast": Group(overlaps=_tells_the_last),
    },
)


def _any_seen(values: Any, asked: Predicate) -> Seen:
    """Return what may have been seen of any number of predicates, as far as it matters to one more."""
    place = values.whole("place", 0, MOST)

    def where(name: str) -> int | None:
        return place if values.among(f"{name} seen", (False, True)) else None

    seen = Seen(first=place)
    if asked == "any":
        seen.first = where("any predicate")
        return seen
    seen.with_any_outcome = where("any outcome")
    names = ("first field", "second field")[: values.among("fields seen", (0, 1, 2))]
    seen.fields = [(values.name(name), place) for name in names]
    assume(len(names) < 2 or seen.fields[0][0] != seen.fields[1][0])
    if isinstance(asked, FieldEquals):
        seen.with_output = where("kind with output")
    if where("same") is not None:
        if isinstance(asked, OutcomeIs):
            seen.of_kind[asked.outcome] = place
        else:
            seen.of_value[asked.field, scalar_key(asked.equals)] = place
    return seen


@THEOREM.claim
def nothing_overlaps_at_first(group: Group, values: Any) -> bool:
    """Before any predicate was seen, none overlaps."""
    return group.overlapping(Seen(), any_predicate(values, "asked")) is None


@THEOREM.claim
def the_first_that_overlaps_is_told(group: Group, values: Any) -> bool:
    """Of three predicates, each that overlaps with an earlier one is told, with the first such."""
    three = [any_predicate(values, name, KINDS[1:3], ["number"]) for name in ("first", "second", "third")]
    pairs = [
        (one, other) for other in range(3) for one in range(other) if witness(three[one], three[other]) is not None
    ]
    first = {other: one for one, other in reversed(pairs)}
    return group.overlaps(three) == sorted((one, other) for other, one in first.items())


@THEOREM.claim
def at_most_one_fires(group: Group, values: Any) -> bool:
    """If nothing overlaps in a group, no outcome matches any two of its predicates."""
    two = [any_predicate(values, name, KINDS, ("true", "number")) for name in ("one", "other")]
    outcome = any_outcome(values)
    assume(matches(two[0], outcome))
    assume(matches(two[1], outcome))
    return bool(group.overlaps(two))


@THEOREM.claim
def one_more_is_seen(group: Group, values: Any) -> bool:
    """After one more predicate, an overlap is found exactly if one was found before, or this one overlaps."""
    scalars = "true", "number"
    asked, added = any_predicate(values, "asked", KINDS[::2], scalars), any_predicate(values, "added", KINDS, scalars)
    seen = _any_seen(values, asked)
    was_found = group.overlapping(seen, asked) is not None
    group.add(seen, added, MOST + 1)
    is_found = group.overlapping(seen, asked) is not None
    are_different = len(seen.fields) < 2 or seen.fields[0][0] != seen.fields[1][0]
    return are_different and is_found == (was_found or witness(added, asked) is not None)
