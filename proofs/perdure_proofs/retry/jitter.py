"""A jitter is from 0 to the most that its policy allows, and a retry is accepted exactly within that of its delay.

To the delay of a retry a jitter is added that differs from run to run: the remainder of a number of 64 bits, whatever
the hash. `decide` adds this one; a reducer accepts any that the policy allows, since it never computes a deadline
again, and no other. Were its bounds one off, a history that one implementation wrote would be corrupt to another.

Delays stand for all that `delays` is about. Sums are cut off at 2^53−1. The hash itself is no part of this: vectors
hold it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from perdure.kernel.events import RetryScheduled
from perdure.kernel.identity import NodeId
from perdure.kernel.reduce import fits
from perdure.kernel.rules import RULES, Rules, within
from perdure.kernel.specification import Fixed, Jitter, Node, RetryPolicy
from perdure.kernel.state import State
from perdure_proofs.runs import MOST, run_of
from perdure_proofs.theorems import Any, Theorem

NODE: Final = NodeId("node")


@dataclass(frozen=True, slots=True)
class Jitters:
    """How a jitter is worked out, and held against its policy."""

    within: Callable[[int, int], int] = within
    fits: Callable[[State, RetryScheduled, RetryScheduled, Rules], bool] = fits
    rules: Rules = RULES


def _reads_jitter_both_ways(state: State, expected: RetryScheduled, event: RetryScheduled, rules: Rules) -> bool:
    policy = state.node(0).retry
    assert policy is not None
    base = rules.later(state.now_ms, rules.delay_ms(policy.backoff, expected.next_attempt))
    mirrored = msgspec.structs.replace(event, deadline_ms=2 * base - event.deadline_ms)
    return fits(state, expected, event, rules) or fits(state, expected, mirrored, rules)


THEOREM: Final = Theorem(
    ("RTY-006", "RTY-007", "TIM-011"),
    Jitters(),
    {
        "AddsOneTooMuch": Jitters(within=lambda value, most: value % (most + 2)),
        "NeverAddsTheMost": Jitters(within=lambda value, most: value % most if most > 0 else 0),
        "TakesAnyRetryDeadline": Jitters(fits=lambda *_: True),
        "ReadsJitterBothWays": Jitters(fits=_reads_jitter_both_ways),
        "DoesNotSaturate": Jitters(rules=replace(RULES, later=lambda now_ms, delay: now_ms + delay)),
    },
)


def _any_run(values: Any) -> State:
    """Return a run at any time, whose node is tried again after any delay, with any most jitter."""
    backoff = Fixed(kind="fixed", delay_ms=values.whole("delay", 0, MOST))
    jitter = Jitter(seed="", maximum_ms=values.whole("most jitter", 0, MOST))
    state = run_of([Node(id=NODE, retry=RetryPolicy(max_attempts=MOST, backoff=backoff, jitter=jitter))])
    return msgspec.structs.replace(state, now_ms=values.whole("now", 0, MOST))


def _bounds(jitters: Jitters, state: State) -> tuple[int, int, int]:
    """Return the delay of a run's node, the most of its jitter, and when it is due without any."""
    policy = state.node(0).retry
    assert policy is not None
    assert policy.jitter is not None
    delay = jitters.rules.delay_ms(policy.backoff, 2)
    return delay, policy.jitter.maximum_ms, jitters.rules.later(state.now_ms, delay)


@THEOREM.claim
def a_jitter_is_within_its_bounds(jitters: Jitters, values: Any) -> bool:
    """Every number of 64 bits becomes a jitter from 0 to the most, and each of these comes of some number."""
    most, value = values.whole("most", 0, MOST), values.whole("value", 0, 2**64 - 1)
    found = jitters.within(value, most)
    return (found >= 0) & (found <= most) and (value > most or found == value)


@THEOREM.claim
def what_is_added_is_accepted(jitters: Jitters, values: Any) -> bool:
    """A retry with its delay and the jitter of any number of 64 bits is accepted, is not before now, and is a time."""
    state, value = _any_run(values), values.whole("value", 0, 2**64 - 1)
    delay, most, _ = _bounds(jitters, state)
    deadline_ms = jitters.rules.later(state.now_ms, delay + jitters.within(value, most))
    event = RetryScheduled(node=NODE, next_attempt=2, deadline_ms=deadline_ms)
    is_a_time = (state.now_ms <= deadline_ms) & (deadline_ms <= MOST)
    return is_a_time and jitters.fits(state, event, event, jitters.rules)


@THEOREM.claim
def no_other_deadline_is_accepted(jitters: Jitters, values: Any) -> bool:
    """A retry is accepted exactly from its delay on, and to the most of its jitter after that."""
    state, deadline_ms = _any_run(values), values.whole("deadline", 0, MOST)
    _, most, first = _bounds(jitters, state)
    expected = RetryScheduled(node=NODE, next_attempt=2, deadline_ms=first)
    recorded = msgspec.structs.replace(expected, deadline_ms=deadline_ms)
    is_right = (first <= deadline_ms) & (deadline_ms <= first + most)
    return bool(jitters.fits(state, expected, recorded, jitters.rules)) == bool(is_right)
