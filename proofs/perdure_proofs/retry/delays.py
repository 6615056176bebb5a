"""The delay before attempt n is min(initial × multiplier^(n−2), maximum), for every n to 2^53, and nothing overflows.

The kernel does not raise the multiplier to a power of fifteen digits: from the 53rd on, the exponent grows no further.
That this changes nothing is an induction over n: the delay before the second attempt is the initial one, and each later
delay is the one before times the multiplier, each cut off at the maximum. Since min(m × min(x, M), M) is min(m × x, M)
for every m of at least 1, these are the delays of the formula. So they never shrink, and never exceed the maximum.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.kernel.rules import RULES, Rules, delay_ms
from perdure.kernel.specification import Backoff, Exponential, Fixed, Immediate
from perdure_proofs.runs import MOST
from perdure_proofs.theorems import Any, about_rules

_FAR: Final = 55
"""From this attempt on, a delay that grows has reached every maximum."""


def _clamps_too_early(backoff: Backoff, next_attempt: int) -> int:
    if not isinstance(backoff, Exponential):
        return delay_ms(backoff, next_attempt)
    grown: int = backoff.initial_ms * backoff.multiplier ** min(next_attempt - 2, 52)
    return min(grown, backoff.maximum_ms)


def _grows_from_the_first_retry_on(backoff: Backoff, next_attempt: int) -> int:
    return delay_ms(backoff, next_attempt + 1)


def _starts_above_the_maximum(backoff: Backoff, next_attempt: int) -> int:
    if isinstance(backoff, Exponential) and next_attempt == 2:
        return backoff.initial_ms
    return delay_ms(backoff, next_attempt)


def _fixed_delays_add_up(backoff: Backoff, next_attempt: int) -> int:
    if isinstance(backoff, Fixed):
        return backoff.delay_ms * (next_attempt - 1)
    return delay_ms(backoff, next_attempt)


def _overflows_before_the_maximum(backoff: Backoff, next_attempt: int) -> int:
    if not isinstance(backoff, Exponential) or next_attempt < _FAR:
        return delay_ms(backoff, next_attempt)
    grown = backoff.initial_ms * pow(backoff.multiplier, next_attempt - 2, 2**64) % 2**64
    return min(grown, backoff.maximum_ms)


def _fails_in_floating_point(backoff: Backoff, next_attempt: int) -> int:
    if not isinstance(backoff, Exponential) or next_attempt < _FAR:
        return delay_ms(backoff, next_attempt)
    power: int = backoff.multiplier ** (next_attempt - 2)
    return min(backoff.initial_ms * power, backoff.maximum_ms) if power < 2**128 else 0


THEOREM: Final = about_rules(
    "RTY-005",
    mutants={
        "ClampsTooEarly": replace(RULES, delay_ms=_clamps_too_early),
        "GrowsFromTheFirstRetryOn": replace(RULES, delay_ms=_grows_from_the_first_retry_on),
        "StartsAboveTheMaximum": replace(RULES, delay_ms=_starts_above_the_maximum),
        "FixedDelaysAddUp": replace(RULES, delay_ms=_fixed_delays_add_up),
        "OverflowsBeforeTheMaximum": replace(RULES, delay_ms=_overflows_before_the_maximum),
        "FailsInFloatingPoint": replace(RULES, delay_ms=_fails_in_floating_point),
    },
)


def _any_growing(values: Any) -> Exponential:
    return Exponential(
        kind="exponential",
        initial_ms=values.whole("initial", 0, MOST),
        multiplier=values.whole("multiplier", 1, MOST),
        maximum_ms=values.whole("maximum", 0, MOST),
    )


@THEOREM.claim
def the_first_delay_is_the_initial_one(rules: Rules, values: Any) -> bool:
    """The delay before the second attempt is the initial one, or the maximum if that is less."""
    growing = _any_growing(values)
    return rules.delay_ms(growing, 2) == min(growing.initial_ms, growing.maximum_ms)


@THEOREM.claim
def each_delay_is_the_one_before_times_the_multiplier(rules: Rules, values: Any) -> bool:
    """Each later delay is the one before times the multiplier, or the maximum if that is less."""
    growing, attempt = _any_growing(values), values.whole("attempt", 2, MOST)
    before = rules.delay_ms(growing, attempt)
    return rules.delay_ms(growing, attempt + 1) == min(growing.multiplier * before, growing.maximum_ms)


@THEOREM.claim
def no_delay_is_shorter_than_the_one_before(rules: Rules, values: Any) -> bool:
    """Delays never shrink, and lie between 0 and the maximum."""
    growing, attempt = _any_growing(values), values.whole("attempt", 2, MOST)
    one, other = rules.delay_ms(growing, attempt), rules.delay_ms(growing, attempt + 1)
    return (one >= 0) & (one <= other) & (other <= growing.maximum_ms)


@THEOREM.claim
def other_delays_are_the_same_each_time(rules: Rules, values: Any) -> bool:
    """A fixed delay is that of the policy before each attempt, and an immediate retry has none."""
    fixed, attempt = Fixed(kind="fixed", delay_ms=values.whole("delay", 0, MOST)), values.whole("attempt", 2, MOST)
    is_fixed = rules.delay_ms(fixed, attempt) == fixed.delay_ms
    return rules.delay_ms(Immediate(kind="immediate"), attempt) == 0 and is_fixed


@THEOREM.claim
def what_grows_reaches_the_maximum(rules: Rules, values: Any) -> bool:
    """From the 55th attempt on, a delay that grows at all is the maximum: no power of it is too large."""
    multiplier, attempt = values.among("multiplier", (2, 3, 10**15)), values.among("attempt", (_FAR, 66, 67, 130, 1000))
    growing = Exponential(
        kind="exponential",
        initial_ms=values.whole("initial", 1, MOST),
        multiplier=multiplier,
        maximum_ms=values.whole("maximum", 0, MOST),
    )
    return rules.delay_ms(growing, attempt) == growing.maximum_ms
