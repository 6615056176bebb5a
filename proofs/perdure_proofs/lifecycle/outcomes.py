"""An attempt has one outcome: it is committed once, for the attempt that is active, and no event takes it back.

A handler may be heard twice, late, or under the name of another attempt, and still only what the active attempt did is
committed. Three things make it so. An outcome is legal for the attempt that its node names, and for no other, as long
as the node is running and the attempt is not due. With the outcome the node names no attempt any more, so a second one
is refused. And no later attempt is given an identity that an attempt of the run ever had, so none can be named again.

What is legal is shown of one place at which a handler told its outcome: the identities are any, equal or not, and the
deadline and the time are any. Of one place at which an attempt starts it is shown that the run may name an identity
that is new, and not one that it had. Every type of event comes in its places, to a run that also has an attempt that
ended before: it stays as it ended.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import msgspec
from immutables import Map

from perdure.kernel.changes import applied
from perdure.kernel.commands import Rejection
from perdure.kernel.events import EventV5, NodeOutcomeCommitted, NodeStarted
from perdure.kernel.identity import AttemptId
from perdure.kernel.legality import Opening, refusal
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.state import ACTIVE, STATUSES, AttemptState, State
from perdure_conformance.reducer.histories import attempt
from perdure_proofs.places import Place, places
from perdure_proofs.runs import MOST
from perdure_proofs.steps import Apply, Refuse, forgiving
from perdure_proofs.theorems import UNNOTED, Any, Theorem, assume

_OLD, _NEW = AttemptId(attempt(997)), AttemptId(attempt(998))


@dataclass(frozen=True, slots=True)
class Ending:
    """What takes outcomes."""

    rules: Rules = RULES
    refusal: Refuse = field(default=refusal, metadata=UNNOTED)
    applied: Apply = field(default=applied, metadata=UNNOTED)


def _whatever_the_attempt(state: State, event: Opening, rules: Rules) -> Rejection | None:
    if isinstance(event, NodeOutcomeCommitted):
        active = state.nodes[state.plan.positions[event.node]].attempt_id
        event = msgspec.structs.replace(event, attempt_id=active)
    return refusal(state, event, rules)


def _still_active(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    if not isinstance(event, NodeOutcomeCommitted):
        return after
    position = state.plan.positions[event.node]
    node = msgspec.structs.replace(after.nodes[position], attempt_id=event.attempt_id)
    return msgspec.structs.replace(after, nodes=after.nodes.set(position, node))


THEOREM: Final = Theorem(
    ("RUN-013", "RUN-014", "TIM-007"),
    Ending(),
    {
        "TakesOutcomesTwice": Ending(refusal=forgiving("not_active")),
        "EndsTheNodeWhateverTheAttempt": Ending(refusal=_whatever_the_attempt),
        "UsesAttemptIdsAgain": Ending(refusal=forgiving("attempt_id_used")),
        "TakesALateOutcome": Ending(refusal=forgiving("attempt_due")),
        "IsOnTimeToTheLast": Ending(replace(RULES, is_due=lambda now_ms, deadline_ms: now_ms > deadline_ms)),
        "StaysActiveAfterItsOutcome": Ending(applied=_still_active),
    },
    invariant=5,
)


def ending() -> Place:
    """Return a place at which a handler told the outcome of its attempt."""
    return next(place for place in places() if _is_told(place) and place.version >= 5)


def _is_told(place: Place) -> bool:
    is_outcome = isinstance(place.event, NodeOutcomeCommitted) and place.event.attempt_id is not None
    return is_outcome and not place.is_owed


@THEOREM.claim
def an_outcome_is_that_of_the_active_attempt(kernel: Ending, values: Any) -> bool:
    """An outcome is legal if its node is running, its attempt is the one that the node names, and is not due."""
    place = ending()
    event = place.event
    assert isinstance(event, NodeOutcomeCommitted)
    position = place.before.plan.positions[event.node]
    status = values.among("status", STATUSES)
    active = AttemptId(values.name("active")) if status in ACTIVE else None
    deadline_ms = values.whole("deadline_ms", 0, MOST) if values.among("has deadline", (True, False)) else None
    told = AttemptId(values.name("told"))
    node = msgspec.structs.replace(
        place.before.nodes[position], status=status, attempt_id=active, deadline_ms=deadline_ms
    )
    now_ms = values.whole("now_ms", 0, MOST)
    before = msgspec.structs.replace(place.before, now_ms=now_ms, nodes=place.before.nodes.set(position, node))
    refused = kernel.refusal(before, msgspec.structs.replace(event, attempt_id=told), kernel.rules)
    is_on_time = deadline_ms is None or now_ms < deadline_ms
    return (refused is None) == bool(status == "running" and told == active and is_on_time)


@THEOREM.claim
def with_its_outcome_the_attempt_is_gone(kernel: Ending, values: Any) -> bool:
    """After its outcome no node names the attempt, what it ended with is kept, and another outcome is refused."""
    place = ending()
    event = place.event
    assert isinstance(event, NodeOutcomeCommitted)
    position = place.before.plan.positions[event.node]
    active, other = AttemptId(values.name("active")), AttemptId(values.name("other"))
    assume(active != other)
    ended = AttemptState(position, outcome=values.whole("sequence of the other", 1, MOST))
    node = msgspec.structs.replace(place.before.nodes[position], attempt_id=active)
    before = msgspec.structs.replace(
        place.before,
        nodes=place.before.nodes.set(position, node),
        attempts=Map({active: AttemptState(position), other: ended}),
    )
    event = msgspec.structs.replace(event, attempt_id=active)
    after = kernel.applied(before, event, place.version, kernel.rules)
    is_kept = after.attempts[active].outcome == after.sequence and after.attempts[other] == ended
    is_gone = after.nodes[position].attempt_id is None
    return is_kept and is_gone and kernel.refusal(after, event, kernel.rules) is not None


@THEOREM.claim
def an_attempt_begins_once(kernel: Ending, values: Any) -> bool:
    """A start is legal only with an identity that no attempt of the run had, whether that has ended or not."""
    place = next(place for place in places() if isinstance(place.event, NodeStarted) and place.version >= 5)
    event = place.event
    assert isinstance(event, NodeStarted)
    has_ended = values.among("the other has ended", (True, False))
    used = AttemptState(0, outcome=1 if has_ended else None)
    before = msgspec.structs.replace(place.before, attempts=place.before.attempts.set(_OLD, used))
    told = values.among("attempt", (_OLD, _NEW))
    refused = kernel.refusal(before, msgspec.structs.replace(event, attempt_id=told), kernel.rules)
    return (refused is None) == (told == _NEW)


@THEOREM.claim
def no_event_takes_an_outcome_back(kernel: Ending, values: Any) -> bool:
    """Whatever event comes, what ended stays as it ended, and an attempt is active exactly as long as it has not."""
    place = values.among("place", places())
    sequence = values.whole("sequence of the old outcome", 1, MOST)
    old = AttemptState(0, outcome=sequence)
    before = msgspec.structs.replace(place.before, attempts=place.before.attempts.set(_OLD, old))
    after = kernel.applied(before, place.event, place.version, kernel.rules)
    told = place.event.attempt_id if isinstance(place.event, NodeOutcomeCommitted) else None
    is_kept = all(after.attempts[each] == of for each, of in before.attempts.items() if of.outcome is not None)
    ended = {each for each, of in after.attempts.items() if of.outcome is not None and each != _OLD}
    new = ended - {each for each, of in place.before.attempts.items() if of.outcome is not None}
    active = {of.attempt_id: AttemptState(at) for at, of in after.nodes.items() if of.attempt_id is not None}
    is_exact = set(active) == set(after.attempts) - ended - {_OLD}
    is_its_own = all(after.attempts[each].node == of.node for each, of in active.items())
    return is_kept and new == ({told} - {None}) and is_exact and is_its_own
