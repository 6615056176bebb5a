"""Time never goes back: an advance leads to no earlier time, and no other event changes the time.

The time of a run is what its history says, from 0 at its creation. Only VirtualTimeAdvanced changes it: an advance to a
later time is always legal, one to now only if something is due, one to an earlier time never. So the times of a history
are in order, and what was due stays so.

The time before and the time told are any, and what is due is a timer; every other type of event comes in its places, at
any time, and only one case of one function of the kernel writes the time at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import msgspec

from perdure.kernel.changes import applied
from perdure.kernel.consequences import NOTHING, scheduled
from perdure.kernel.creation import created
from perdure.kernel.events import EventV5, TimerFired, VirtualTimeAdvanced
from perdure.kernel.legality import refusal
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.state import State, TimerWait
from perdure_proofs.places import Place, beginnings, missing, places
from perdure_proofs.runs import MOST
from perdure_proofs.steps import Apply, Refuse, Source, forgiving, text_of, written_by
from perdure_proofs.theorems import UNNOTED, Any, Theorem


@dataclass(frozen=True, slots=True)
class Clock:
    """What lets time go on."""

    rules: Rules = RULES
    refusal: Refuse = field(default=refusal, metadata=UNNOTED)
    applied: Apply = field(default=applied, metadata=UNNOTED)
    source: Source = field(default=text_of, metadata=UNNOTED)


def _by_timers(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    return msgspec.structs.replace(after, now_ms=event.deadline_ms) if isinstance(event, TimerFired) else after


def _by_timers_in_the_text(module: str) -> str:
    return text_of(module).replace('replace(node, status="running", wait=None', "replace(node, now_ms=0, wait=None")


THEOREM: Final = Theorem(
    ("TIM-001",),
    Clock(),
    {
        "TimeGoesBack": Clock(refusal=forgiving("time_went_back")),
        "TakesNowForLater": Clock(refusal=forgiving("no_effect")),
        "SetsItsClockByTimers": Clock(applied=_by_timers),
        "SetsItsClockSomewhere": Clock(source=_by_timers_in_the_text),
    },
)


@lru_cache(maxsize=1)
def _advances() -> Sequence[Place]:
    return tuple(place for place in places() if isinstance(place.event, VirtualTimeAdvanced))


@lru_cache(maxsize=1)
def _others() -> Sequence[Place]:
    return tuple(place for place in places() if not isinstance(place.event, VirtualTimeAdvanced))


@THEOREM.claim
def a_run_begins_at_zero(clock: Clock, values: Any) -> bool:
    """When a run was created, it is 0."""
    event, version = values.among("creation", beginnings())
    state = created(event, version, clock.rules)
    return isinstance(state, State) and state.now_ms == 0


@THEOREM.claim
def an_advance_leads_forward(clock: Clock, values: Any) -> bool:
    """An advance to a later time is legal, one to now if something is due, and one to an earlier time never."""
    place = next(place for place in places() if place.owed_by == "due timer")
    assert isinstance(place.event, TimerFired)
    position = place.before.plan.positions[place.event.node]
    now_ms, deadline_ms = values.whole("now_ms", 0, MOST), values.whole("deadline_ms", 0, MOST)
    told_ms = values.whole("told_ms", 0, MOST)
    node = msgspec.structs.replace(place.before.nodes[position], wait=TimerWait(deadline_ms))
    nodes = place.before.nodes.set(position, node)
    state = msgspec.structs.replace(place.before, now_ms=now_ms, nodes=nodes, agenda=NOTHING, due=None)
    state = scheduled(state, "timer", deadline_ms, position, clock.rules)
    refused = clock.refusal(state, VirtualTimeAdvanced(now_ms=told_ms), clock.rules)
    return (refused is None) == bool(told_ms > now_ms or (told_ms == now_ms and deadline_ms <= now_ms))


@THEOREM.claim
def an_advance_sets_the_time(clock: Clock, values: Any) -> bool:
    """After VirtualTimeAdvanced it is what the event says, whatever time it was."""
    place = values.among("place", _advances())
    state = msgspec.structs.replace(place.before, now_ms=values.whole("now_ms", 0, MOST))
    event = VirtualTimeAdvanced(now_ms=values.whole("told_ms", 0, MOST))
    return clock.applied(state, event, place.version, clock.rules).now_ms == event.now_ms


@THEOREM.claim
def only_one_event_is_written_to_change_the_time(clock: Clock, values: Any) -> bool:
    """The kernel writes the time where VirtualTimeAdvanced is applied, and nowhere else."""
    del values
    return written_by("now_ms", clock.source) == {"changes._changed_by: VirtualTimeAdvanced(now_ms=now_ms)"}


@THEOREM.claim
def no_other_event_changes_the_time(clock: Clock, values: Any) -> bool:
    """Whatever else comes, it is as late as before; and there is a place for every event."""
    place = values.among("place", _others())
    state = msgspec.structs.replace(place.before, now_ms=values.whole("now_ms", 0, MOST))
    after = clock.applied(state, place.event, place.version, clock.rules)
    return not missing(places()) and after.now_ms == state.now_ms
