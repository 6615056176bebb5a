"""No deadline lies before the time at which it is given, and none beyond the end of time.

What is given a deadline, an attempt, a wait or a retry, would be late before it began if the deadline were in the past;
and a deadline that no number can hold would never come. Those of attempts and retries are computed, and saturate at
2^53−1; those of waits are told, and must lie after now. A retry may have been recorded with any jitter that its policy
allows, by whatever kernel: the reducer accepts none that lies before now.

Time, limits and delays are any, at one place each. The jitter is none, up to 4 ms or up to 2^53−1 ms. How an
exponential delay grows is not the business of this theorem: here it grows threefold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from perdure.kernel.consequences import owed
from perdure.kernel.events import NodeStarted, RetryScheduled, SignalWaitOpened, TimerWaitOpened
from perdure.kernel.legality import attempt_deadline, refusal
from perdure.kernel.reduce import fits
from perdure.kernel.rules import BUDGETS_FROM, RULES, Rules
from perdure.kernel.specification import Backoff, Exponential, Fixed, Immediate, Jitter, RetryPolicy
from perdure.kernel.state import State
from perdure_proofs.places import Place, of_versions, places, with_policy
from perdure_proofs.runs import MOST
from perdure_proofs.steps import Refuse, forgiving
from perdure_proofs.theorems import UNNOTED, Any, Theorem, assume

Deadline = Callable[[State, int, int, Rules], int | None]

_JITTERS: Final = (None, Jitter(seed="salt", maximum_ms=4), Jitter(seed="salt", maximum_ms=MOST))


@dataclass(frozen=True, slots=True)
class Deadlines:
    """What gives deadlines."""

    rules: Rules = RULES
    attempt_deadline: Deadline = field(default=attempt_deadline, metadata=UNNOTED)
    refusal: Refuse = field(default=refusal, metadata=UNNOTED)


THEOREM: Final = Theorem(
    ("RTY-006", "TIM-004", "TIM-008", "TIM-011"),
    Deadlines(),
    {
        "CountsFromTheBeginning": Deadlines(replace(RULES, later=lambda _, delay: min(delay, MOST))),
        "DoesNotSaturate": Deadlines(replace(RULES, later=lambda now_ms, delay: now_ms + delay)),
        "WrapsAround": Deadlines(replace(RULES, later=lambda now_ms, delay: (now_ms + delay) % (MOST + 1))),
        "EndsInTheYear2038": Deadlines(replace(RULES, later=lambda now_ms, delay: min(now_ms + delay, 2**31 - 1))),
        "TakesPastDeadlines": Deadlines(refusal=forgiving("deadline_passed")),
        "RetriesWithNegativeJitter": Deadlines(replace(RULES, jitter_ms=lambda *_: -1)),
    },
)


@THEOREM.claim
def an_attempt_has_its_time(kernel: Deadlines, values: Any) -> bool:
    """The deadline of an attempt is its limit after now, or the end of time if that comes first."""
    place = next(place for place in places() if isinstance(place.event, NodeStarted))
    now_ms, limit_ms = values.whole("now_ms", 0, MOST), values.whole("limit_ms", 1, MOST)
    version = values.among("version", range(BUDGETS_FROM, 6))
    state = with_policy(place.before, 0, RetryPolicy(attempt_deadline_ms=limit_ms))
    state = msgspec.structs.replace(state, now_ms=now_ms)
    deadline_ms = kernel.attempt_deadline(state, 0, version, kernel.rules)
    if deadline_ms is None:
        return False
    is_right = deadline_ms == now_ms + limit_ms or (deadline_ms == MOST and now_ms + limit_ms > MOST)
    return is_right and now_ms <= deadline_ms <= MOST


def scheduling() -> Place:
    """Return a place at which a retry is scheduled."""
    return next(place for place in of_versions(BUDGETS_FROM) if isinstance(place.event, RetryScheduled))


def any_backoff(values: Any) -> Backoff:
    """Return any way to wait: at once, for the same time, or for three times as long each time."""
    kind = values.among("backoff", ("immediate", "fixed", "exponential"))
    if kind == "immediate":
        return Immediate(kind="immediate")
    delay_ms = values.whole("delay_ms", 0, MOST)
    if kind == "fixed":
        return Fixed(kind="fixed", delay_ms=delay_ms)
    return Exponential(
        kind="exponential", initial_ms=delay_ms, multiplier=3, maximum_ms=values.whole("maximum_ms", 0, MOST)
    )


def to_be_retried(values: Any) -> State:
    """Return the state of a run that owes a retry, at any time, with any delay."""
    place = scheduling()
    assert isinstance(place.event, RetryScheduled)
    position = place.before.plan.positions[place.event.node]
    policy = RetryPolicy(max_attempts=99, backoff=any_backoff(values), jitter=values.among("jitter", _JITTERS))
    state = msgspec.structs.replace(place.before, now_ms=values.whole("now_ms", 0, MOST))
    return with_policy(state, position, policy)


@THEOREM.claim
def a_retry_is_scheduled_for_later(kernel: Deadlines, values: Any) -> bool:
    """The retry that is owed has a deadline from now to the end of time."""
    state = to_be_retried(values)
    event = owed(state, kernel.rules)
    return isinstance(event, RetryScheduled) and state.now_ms <= event.deadline_ms <= MOST


@THEOREM.claim
def no_retry_of_the_past_is_accepted(kernel: Deadlines, values: Any) -> bool:
    """Of any deadline that a retry was recorded with, the reducer accepts none before now and none that is no time."""
    state = to_be_retried(values)
    expected = owed(state, kernel.rules)
    assume(isinstance(expected, RetryScheduled))
    assert isinstance(expected, RetryScheduled)
    told_ms = values.whole("told_ms", 0, 2 * MOST)
    if not fits(state, expected, msgspec.structs.replace(expected, deadline_ms=told_ms), kernel.rules):
        return True
    return state.now_ms <= told_ms <= MOST


def _opening() -> tuple[Place, ...]:
    return tuple(place for place in places() if isinstance(place.event, SignalWaitOpened | TimerWaitOpened))


@THEOREM.claim
def a_wait_ends_after_now(kernel: Deadlines, values: Any) -> bool:
    """A wait may be opened until a time after now, and until no other."""
    place = values.among("place", _opening())
    now_ms, deadline_ms = values.whole("now_ms", 0, MOST), values.whole("deadline_ms", 0, MOST)
    event = place.event
    assert isinstance(event, SignalWaitOpened | TimerWaitOpened)
    position = place.before.plan.positions[event.node]
    node = msgspec.structs.replace(place.before.nodes[position], deadline_ms=None)
    state = msgspec.structs.replace(place.before, now_ms=now_ms, nodes=place.before.nodes.set(position, node))
    refused = kernel.refusal(state, msgspec.structs.replace(event, deadline_ms=deadline_ms), kernel.rules)
    return (refused is None) == (deadline_ms > now_ms)
