"""Usage: whether a budget can be used up on some way through the states, and the cheapest such way.

States that differ only in what was used up are one state here. So a cycle that uses up something can be gone round
until nothing is left; without such a cycle, the longest way tells. Another budget, or the time that the run may take,
can end it before: then the way that was found has to keep within them.

Source: BUD-003 and BUD-005 of `docs/spec/kernel.md`.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from perdure.kernel.graphs import components
from perdure_conformance.exploration.search import Arc
from perdure_conformance.simulation.steps import Advance, Step

MAX_VISITS: Final = 200_000
"""How far the cheapest way is looked for."""
_MOST_ROUNDS: Final = 50
"""How often a state is looked at again before it is taken for a part of a cycle that gains."""

Counted = Literal["attempts", "transitions"]
Outlook = Literal["never", "far", "unknown"]
"""A budget is never used up; it is, on a way that is too long to be looked for; or that is not known."""


class Trip(NamedTuple):
    """A way on which a budget is used up, and its steps."""

    cost: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Allowance:
    """A budget: how much of it was used up at the beginning, and how much may be."""

    budget: Counted
    begun: int
    limit: int

    def used(self, arc: Arc) -> int:
        """Return how much of it a move uses up."""
        return arc.attempts if self.budget == "attempts" else arc.transitions

    def price(self, arc: Arc) -> int:
        """Return what a move costs on the way to its end: every start counts to a budget of attempts."""
        return 1 if self.budget == "attempts" else arc.cost


Arcs = Sequence[Sequence[Arc]]


def outlooks(arcs: Arcs, allowances: Sequence[Allowance], elapsed_ms: int | None) -> Mapping[Counted, Trip | Outlook]:
    """Return what is known of each budget."""
    exceeded = [allowance for allowance in allowances if can_exceed(arcs, allowance)]
    found: dict[Counted, Trip | Outlook] = {allowance.budget: "never" for allowance in allowances}
    for allowance in exceeded:
        others = [other for other in exceeded if other is not allowance]
        if not any(_comes_first(arcs, other, allowance) for other in others):
            found[allowance.budget] = _outlook(arcs, allowance, others, elapsed_ms)
    return found


def _outlook(arcs: Arcs, allowance: Allowance, others: Sequence[Allowance], elapsed_ms: int | None) -> Trip | Outlook:
    others = [other for other in others if not _comes_first(arcs, allowance, other)]
    way = cheapest(arcs, allowance)
    if way is None:
        return "far" if not others and elapsed_ms is None else "unknown"
    is_allowed = all(other.begun + sum(map(other.used, way)) <= other.limit for other in others)
    is_in_time = elapsed_ms is None or sum(arc.elapsed_ms for arc in way) < elapsed_ms
    return Trip(sum(map(allowance.price, way)), _steps(way)) if is_allowed and is_in_time else "unknown"


def can_exceed(arcs: Arcs, allowance: Allowance) -> bool:
    """Tell whether some way uses up more than a budget allows, if nothing else ends it."""
    most = [0] * len(arcs)
    for part in components([[arc.target for arc in leaving] for leaving in arcs]):
        members = frozenset(part)
        longest = 0
        for arc in (arc for number in part for arc in arcs[number]):
            more = allowance.used(arc)
            if more and arc.target in members:
                return True
            longest = max(longest, more + (0 if arc.target in members else most[arc.target]))
        for number in part:
            most[number] = longest
    return allowance.begun + most[0] > allowance.limit


def _comes_first(arcs: Arcs, one: Allowance, other: Allowance) -> bool:
    """Tell whether a budget is always used up before another one can be.

    With a rate of nine tenths of what the limits allow of the other for each of the one, no cycle may gain; then what
    the other is ahead of that rate is bounded, and if that does not fill the last tenth, it is never used up.
    """
    ahead: list[float] = [-math.inf] * len(arcs)
    rounds = [0] * len(arcs)
    ahead[0] = 0
    waiting = deque([0])
    while waiting:
        number = waiting.popleft()
        rounds[number] += 1
        if rounds[number] > _MOST_ROUNDS:
            return False
        for arc in arcs[number]:
            gain = 10 * other.used(arc) * one.limit - 9 * one.used(arc) * other.limit
            if ahead[number] + gain > ahead[arc.target]:
                ahead[arc.target] = ahead[number] + gain
                waiting.append(arc.target)
    return 10 * other.begun * one.limit + 9 * one.limit * other.limit + max(ahead) <= 10 * one.limit * other.limit


def cheapest(arcs: Arcs, allowance: Allowance) -> tuple[Arc, ...] | None:
    """Return the cheapest way that uses up more than is allowed; None if it is too long to be looked for."""
    visits: list[tuple[int, Arc | None]] = [(-1, None)]
    waiting = [(0, -allowance.begun, 0, 0)]
    most = [-1] * len(arcs)
    while waiting and len(visits) < MAX_VISITS:
        cost, negative, visit, number = heapq.heappop(waiting)
        if -negative > allowance.limit:
            return _way(visits, visit)
        if -negative <= most[number]:
            continue
        most[number] = -negative
        for arc in arcs[number]:
            after = -negative + allowance.used(arc)
            if after > most[arc.target] or after > allowance.limit:
                visits.append((visit, arc))
                heapq.heappush(waiting, (cost + allowance.price(arc), -after, len(visits) - 1, arc.target))
    return None


def _way(visits: Sequence[tuple[int, Arc | None]], visit: int) -> tuple[Arc, ...]:
    found: list[Arc] = []
    while visit > 0:
        visit, arc = visits[visit]
        assert arc is not None
        found.append(arc)
    return tuple(reversed(found))


def _steps(way: Sequence[Arc]) -> tuple[Step, ...]:
    """Return the steps of a way. A state stands for those at other times: time goes on by as much, from where it is."""
    found: list[Step] = []
    now_ms = 0
    for arc in way:
        now_ms += arc.elapsed_ms
        found.append(Advance(advance_to_ms=now_ms) if isinstance(arc.step, Advance) else arc.step)
    return tuple(found)
