"""Limits: times that saturate, what is due, what is left of a budget and of attempts."""

from __future__ import annotations

from collections.abc import Callable

from perdure.kernel.rules import delay_ms, exceeds, has_attempts, is_due, later
from perdure.kernel.specification import Backoff, Fixed, RetryPolicy
from perdure.kernel.values import MAX_SAFE_INTEGER
from perdure_proofs.contracts import contract
from perdure_proofs.theorems import assume


@contract("TIM-011", leaf=later, mutants={"WrapsAround": lambda now, delay: (now + delay) % (MAX_SAFE_INTEGER + 1)})
def a_time_never_goes_back(later: Callable[[int, int], int], now_ms: int, delay: int) -> bool:
    """What is later than an instant is no earlier than it, and an instant itself."""
    assume(0 <= now_ms <= MAX_SAFE_INTEGER and 0 <= delay <= MAX_SAFE_INTEGER)
    return now_ms <= later(now_ms, delay) <= MAX_SAFE_INTEGER


@contract("TIM-011", leaf=later, mutants={"ResetsAtTheEnd": lambda now, wait: later(now, wait) % MAX_SAFE_INTEGER})
def a_longer_delay_ends_no_earlier(later: Callable[[int, int], int], now_ms: int, delay: int, more: int) -> bool:
    """Of two delays that begin at once the longer one ends no earlier."""
    assume(0 <= now_ms <= MAX_SAFE_INTEGER and delay >= 0 and more >= 0)
    return later(now_ms, delay) <= later(now_ms, delay + more)


@contract("TIM-002", leaf=is_due, mutants={"ComesLate": lambda now, deadline: now > deadline})
def what_is_due_stays_due(is_due: Callable[[int, int], bool], deadline_ms: int, passed: int) -> bool:
    """A time has come at its instant, and from then on; it has not an instant before."""
    assume(passed >= 0)
    return is_due(deadline_ms + passed, deadline_ms) and not is_due(deadline_ms - 1 - passed, deadline_ms)


@contract("BUD-003", leaf=exceeds, mutants={"OneTooMany": lambda usage, limit: usage > limit})
def usage_stays_within_its_limit(exceeds: Callable[[int, int], bool], usage: int, limit: int) -> bool:
    """One more is within a limit if the rule says so, and exceeds it if it says that."""
    return exceeds(usage, limit) == (usage + 1 > limit)


@contract(
    "RTY-001", leaf=has_attempts, mutants={"OneTooMany": lambda policy, attempts: attempts <= policy.max_attempts}
)
def attempts_stay_within_their_maximum(
    has_attempts: Callable[[RetryPolicy, int], bool], max_attempts: int, attempts: int
) -> bool:
    """One more attempt is within the maximum if the rule allows it, and above it if it does not."""
    return has_attempts(RetryPolicy(max_attempts=max_attempts), attempts) == (attempts + 1 <= max_attempts)


@contract(
    "RTY-005", leaf=delay_ms, mutants={"GrowsAnyway": lambda backoff, attempt: delay_ms(backoff, attempt) + attempt - 2}
)
def a_fixed_delay_is_fixed(delay_ms: Callable[[Backoff, int], int], delay: int, next_attempt: int) -> bool:
    """A fixed delay is that of each attempt."""
    assume(next_attempt > 1)
    return delay_ms(Fixed(kind="fixed", delay_ms=delay), next_attempt) == delay
