"""What is due happens at the advance that reaches it, not before, and once.

An expiry that came twice would end the next attempt for the last one's deadline; one that never came would leave a run
waiting. What happens at a time stays in a queue until it is out of date, so that it happens once rests on this: what
happens puts the item itself out of date.

For each kind of what can be due, an advance to any time makes it happen exactly if its deadline has come, whatever the
deadline. The batch has one event for it, even if the queue has it twice; when the batch ends nothing is due any more,
so a further advance to the same time is refused. The nodes are those of the place where the kind came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from perdure.kernel.changes import applied
from perdure.kernel.consequences import NOTHING, owed, scheduled, tidied, without_outdated
from perdure.kernel.events import (
    AttemptDeadlineExpired,
    BudgetExhausted,
    Event,
    EventV5,
    RetryReleased,
    SignalExpired,
    TimerFired,
    VirtualTimeAdvanced,
)
from perdure.kernel.legality import refusal
from perdure.kernel.rules import DUE_ORDER, RULES, DueKind, Rules
from perdure.kernel.state import NodeState, SignalWait, State, TimerWait
from perdure_proofs.places import Place, of_versions
from perdure_proofs.runs import MOST
from perdure_proofs.steps import Apply
from perdure_proofs.theorems import UNNOTED, Any, Theorem

_KINDS: Final[Mapping[DueKind, type[Event]]] = {
    "elapsed": BudgetExhausted,
    "attempt": AttemptDeadlineExpired,
    "signal_wait": SignalExpired,
    "timer": TimerFired,
    "retry": RetryReleased,
}
"""The event of each kind."""
_MANY: Final = 20
"""No batch of the places has so many events."""


@dataclass(frozen=True, slots=True)
class Advancing:
    """What makes happen what is due."""

    rules: Rules = RULES
    applied: Apply = field(default=applied, metadata=UNNOTED)


def _one_at_a_time(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    return msgspec.structs.replace(after, agenda=NOTHING) if isinstance(event, VirtualTimeAdvanced) else after


def _keeping_its_timer(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    if not isinstance(event, TimerFired):
        return after
    return tidied(msgspec.structs.replace(state, sequence=after.sequence), rules)


THEOREM: Final = Theorem(
    ("BUD-004", "RTY-009", "SIG-010", "TIM-002", "TIM-006", "TIM-009"),
    Advancing(),
    {
        "IsOnTimeToTheLast": Advancing(replace(RULES, is_due=lambda now_ms, deadline_ms: now_ms > deadline_ms)),
        "WakesAtAnyTime": Advancing(replace(RULES, is_due=lambda *_: True)),
        "LetsNothingHappen": Advancing(applied=_one_at_a_time),
        "FiresAgainAndAgain": Advancing(applied=_keeping_its_timer),
    },
)


def place_of(kind: DueKind) -> Place:
    """Return a place at which something of this kind came."""
    return next(place for place in of_versions(5) if place.owed_by == f"due {kind}")


def waiting(place: Place, kind: DueKind, deadline_ms: int, copies: int, rules: Rules) -> State:
    """Return the state before the place's batch in which this alone is to happen, at a deadline."""
    state = msgspec.structs.replace(place.before, agenda=NOTHING, due=None)
    assert place.before.due is not None
    position = place.before.due.first.position
    if kind != "elapsed":
        node = _with_deadline(state.nodes[position], kind, deadline_ms)
        state = msgspec.structs.replace(state, nodes=state.nodes.set(position, node))
    for _ in range(copies):
        state = scheduled(state, kind, deadline_ms, position, rules)
    return state


def _with_deadline(node: NodeState, kind: DueKind, deadline_ms: int) -> NodeState:
    match kind:
        case "attempt":
            return msgspec.structs.replace(node, deadline_ms=deadline_ms)
        case "retry":
            return msgspec.structs.replace(node, retry_ms=deadline_ms)
        case "timer":
            return msgspec.structs.replace(node, deadline_ms=None, wait=TimerWait(deadline_ms))
        case _:
            assert isinstance(node.wait, SignalWait)
            wait = msgspec.structs.replace(node.wait, deadline_ms=deadline_ms)
            return msgspec.structs.replace(node, deadline_ms=None, wait=wait)


def batch(kernel: Advancing, state: State, told_ms: int, version: int) -> Iterator[tuple[EventV5, State]]:
    """Yield the events of an advance, and the state after each; too many, if it goes on and on."""
    event: EventV5 | None = VirtualTimeAdvanced(now_ms=told_ms)
    for _ in range(_MANY):
        if event is not None:
            state = kernel.applied(state, event, version, kernel.rules)
            yield event, state
            event = owed(state, kernel.rules)


@THEOREM.claim
def it_happens_when_its_time_has_come(kernel: Advancing, values: Any) -> bool:
    """The event that an advance owes first is that of what is due, if the deadline has come; else it owes none."""
    kind = values.among("kind", DUE_ORDER)
    deadline_ms, told_ms = values.whole("deadline_ms", 1, MOST), values.whole("told_ms", 0, MOST)
    place = place_of(kind)
    state = msgspec.structs.replace(waiting(place, kind, deadline_ms, 1, kernel.rules), now_ms=0)
    event = VirtualTimeAdvanced(now_ms=told_ms)
    found = owed(kernel.applied(state, event, place.version, kernel.rules), kernel.rules)
    return isinstance(found, _KINDS[kind]) if deadline_ms <= told_ms else found is None


@THEOREM.claim
def it_happens_once(kernel: Advancing, values: Any) -> bool:
    """A batch has one event for one item, though the queue has it twice, and when it ends nothing is due any more."""
    kind, copies = values.among("kind", DUE_ORDER), values.among("copies", (1, 2))
    deadline_ms, told_ms = values.whole("deadline_ms", 1, MOST), values.whole("told_ms", 1, MOST)
    place = place_of(kind)
    state = msgspec.structs.replace(waiting(place, kind, deadline_ms, copies, kernel.rules), now_ms=0)
    found = list(batch(kernel, state, told_ms, place.version))
    _, after = found[-1]
    if owed(after, kernel.rules) is not None:
        return False
    happened = [event for event, _ in found if isinstance(event, _KINDS[kind])]
    due = without_outdated(after, kernel.rules)
    is_left = after.status == "running" and due is not None and due.first.deadline_ms <= told_ms
    return len(happened) == (1 if deadline_ms <= told_ms else 0) and not is_left


@THEOREM.claim
def time_does_not_stand_still(kernel: Advancing, values: Any) -> bool:
    """After an advance, another to the same time is refused: there is nothing left to do."""
    kind = values.among("kind", DUE_ORDER)
    deadline_ms, told_ms = values.whole("deadline_ms", 1, MOST), values.whole("told_ms", 1, MOST)
    place = place_of(kind)
    state = msgspec.structs.replace(waiting(place, kind, deadline_ms, 1, kernel.rules), now_ms=0)
    *_, (_, after) = batch(kernel, state, told_ms, place.version)
    again = refusal(after, VirtualTimeAdvanced(now_ms=told_ms), kernel.rules)
    return after.status != "running" or (again is not None and again.code == "no_effect")
