"""Time: TIM-001 to TIM-011."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure.kernel.commands import token_digest
from perdure_conformance.reducer.histories import (
    Document,
    Fact,
    Value,
    accepts,
    acquired,
    advance,
    advanced,
    attempt,
    child,
    child_started,
    complete,
    complete_child,
    deliver,
    ended,
    fact,
    given_up,
    node,
    released,
    retry,
    run_is,
    start,
    started,
    waits,
    waits_until,
)
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.scenario import (
    Scenario,
    accepted,
    gives,
    refused,
    rejects,
    scenario,
    unfinished,
)

_END: Final = 2**53 - 1
"""The end of virtual time."""


def _limited(name: str, deadline_ms: int, delay_ms: int = 90, **members: Value) -> Document:
    """Return a node whose attempts have a deadline, and are tried again much later."""
    return node(name, retry={"attempt_deadline_ms": deadline_ms, "backoff": _fixed(delay_ms)}, **members)


def _waiting(name: str, **members: Value) -> Document:
    """Return a node that may wait for a signal, and is tried again much later."""
    return node(name, signals=["go"], retry={"backoff": _fixed(90)}, **members)


def _fixed(delay_ms: int) -> Document:
    return {"kind": "fixed", "delay_ms": delay_ms}


def _expired(name: str, number: int, deadline_ms: int) -> Fact:
    """Return that an attempt expired."""
    return fact("AttemptDeadlineExpired", node=name, attempt_id=attempt(number), deadline_ms=deadline_ms)


def _signal_expired(name: str, number: int, deadline_ms: int) -> Fact:
    """Return that a wait for a signal expired."""
    return fact("SignalExpired", node=name, attempt_id=attempt(number), deadline_ms=deadline_ms)


def _timer_fired(name: str, number: int, deadline_ms: int) -> Fact:
    """Return that a timer fired."""
    return fact("TimerFired", node=name, attempt_id=attempt(number), deadline_ms=deadline_ms)


def _elapsed(limit: int, usage: int, **members: Value) -> Fact:
    """Return that the time of the run is used up."""
    return fact("BudgetExhausted", budget="elapsed", limit=limit, usage=usage, **members)


def _wait(name: str, number: int, signal_name: str, **members: Value) -> Fact:
    """Ask for a wait for a signal."""
    common = {"node": name, "attempt_id": attempt(number)}
    return fact("OpenSignalWait", **common, name=signal_name, token_sha256=token_digest("secret"), **members)


def _wait_until(name: str, number: int, deadline_ms: int) -> Fact:
    """Ask for a wait for a time."""
    return fact("OpenTimerWait", node=name, attempt_id=attempt(number), deadline_ms=deadline_ms)


def _failed(name: str, number: int) -> Fact:
    return ended(name, number, "retryable_failure")


# Time goes on


def time_goes_on_alone() -> Iterator[Scenario]:
    """TIM-001."""
    run = Run("A")
    yield scenario(
        "TIM-001",
        "time goes back, stands still and goes on",
        refused(run.past.plus(advanced(5), advanced(4))),
        refused(run.past.plus(advanced(5), advanced(5))),
        refused(run.past + advanced(0)),
        accepted(run.past.plus(advanced(5), advanced(6)), {"/now_ms": 6}),
        accepted(run.past + advanced(_END), {"/now_ms": _END}),
    )
    later = run.past + advanced(5)
    yield scenario(
        "TIM-001",
        "commands that time goes back, stands still and goes on",
        rejects(later, advance(4), "time_went_back"),
        rejects(later, advance(0), "time_went_back"),
        rejects(later, advance(5), "no_effect"),
        rejects(run.past, advance(0), "no_effect"),
        gives(later, advance(6), "VirtualTimeAdvanced"),
        gives(later, advance(_END), "VirtualTimeAdvanced"),
    )
    run.run("A")
    yield scenario(
        "TIM-001",
        "time goes on when the run has ended",
        refused(run.past + advanced(5)),
        accepted(run.past, {"/now_ms": None}),
        rejects(run.past, advance(5), "run_terminal"),
    )


def nothing_else_moves_time() -> Iterator[Scenario]:
    """TIM-001."""
    run = Run([node("A", signals=["go"], retry={"backoff": _fixed(7), "attempt_deadline_ms": 50})])
    run.advance(3)
    run.start("A")
    run.wait("A", "go", deadline_ms=40)
    waiting = run.past
    run.accept("A", "go")
    run.end("A", "retryable_failure")
    yield scenario(
        "TIM-001",
        "deadlines are recorded, and it is no later for that",
        accepted(waiting, {"/now_ms": 3}),
        accepted(run.past, {"/now_ms": 3}),
        refused(run.past + advanced(3)),
    )
    run.advance(20)
    yield scenario(
        "TIM-001",
        "a retry is released late: it is as late as it was said",
        accepted(run.past, {"/now_ms": 20}),
        refused(run.past + advanced(11)),
        refused(run.past + advanced(20)),
        accepted(run.past + advanced(21)),
    )


def what_comes_late_does_not_set_the_clock() -> Iterator[Scenario]:
    """TIM-001."""
    for name, item, opening in (
        ("a timer", node("A"), waits_until("A", 1, 9)),
        ("the deadline of a wait", _waiting("A"), waits("A", 1, "go", deadline_ms=9)),
        ("the deadline of an attempt", _limited("A", 9), None),
        ("a retry", node("A", retry={"backoff": _fixed(9)}), _failed("A", 1)),
    ):
        run = Run([item, "B"])
        run.start("A")
        run.write(*([] if opening is None else [opening]))
        run.advance(12)
        yield scenario(
            "TIM-001",
            f"{name} comes late: it is no earlier for that",
            refused(run.past + advanced(11)),
            refused(run.past + advanced(12)),
            accepted(run.past + advanced(13)),
            rejects(run.past, advance(11), "time_went_back"),
            rejects(run.past, advance(12), "no_effect"),
        )
    run = Run([_limited("B", 5), "A"])
    run.start("A")
    run.wait_until("A", 9)
    run.advance(12)
    yield scenario(
        "TIM-001",
        "deadlines after a late timer are counted from now",
        refused(run.past + started("B", 2, deadline_ms=14)),
        accepted(run.past + started("B", 2, deadline_ms=17)),
        gives(run.past, start("B", 2), "NodeStarted B"),
    )


def time_may_stand_still_if_something_is_due() -> Iterator[Scenario]:
    """TIM-001: at the end of time, what begins is due at once."""
    run = Run([_limited("A", 5, delay_ms=0)])
    run.advance(_END)
    before = run.past
    run.start("A")
    yield scenario(
        "TIM-001",
        "at the end of time an attempt is due as it starts",
        refused(before + advanced(_END)),
        unfinished(run.past + advanced(_END)),
        rejects(before, advance(_END), "no_effect"),
        gives(
            run.past,
            advance(_END),
            "VirtualTimeAdvanced",
            "AttemptDeadlineExpired A",
            "NodeOutcomeCommitted A retryable_failure",
            "RetryScheduled A",
            "RetryReleased A",
        ),
    )


# What is due


def whatever_is_due_comes() -> Iterator[Scenario]:
    """TIM-002."""
    run = Run("AB")
    for name, deadline_ms in (("A", 5), ("B", 7)):
        run.start(name)
        run.wait_until(name, deadline_ms)
    first = run.past.plus(advanced(9), _timer_fired("A", 1, 5))
    yield scenario(
        "TIM-002",
        "one of two timers that are due fires",
        refused(first + advanced(10)),
        refused(first + ended("A", 1)),
        refused(first + acquired(1, 1)),
        unfinished(run.past + advanced(9)),
        unfinished(first),
        accepted(first + _timer_fired("B", 2, 7)),
    )
    yield scenario(
        "TIM-002",
        "nothing, one of two timers and both are due",
        gives(run.past, advance(4), "VirtualTimeAdvanced"),
        gives(run.past, advance(6), "VirtualTimeAdvanced", "TimerFired A"),
        gives(run.past, advance(7), "VirtualTimeAdvanced", "TimerFired A", "TimerFired B"),
    )
    yield scenario(
        "TIM-002",
        "nothing that is not due comes",
        refused(run.past.plus(advanced(4), _timer_fired("A", 1, 5))),
        accepted(run.past + advanced(4)),
        refused(run.past.plus(advanced(6), _timer_fired("A", 1, 5), _timer_fired("B", 2, 7))),
        accepted(run.past.plus(advanced(6), _timer_fired("A", 1, 5))),
    )
    run = Run([_limited("A", 5), _limited("B", 5)])
    run.start("A")
    run.start("B")
    gone = run.past.plus(advanced(5), _expired("A", 1, 5))
    brought = gone.plus(_failed("A", 1), retry("A", 2, 95))
    yield scenario(
        "TIM-002",
        "an item comes before the consequences of the one before",
        refused(gone + _expired("B", 2, 5)),
        refused(gone.plus(_failed("A", 1), _expired("B", 2, 5))),
        unfinished(brought),
        refused(brought + acquired(1, 1)),
        unfinished(brought + _expired("B", 2, 5)),
        accepted(brought.plus(_expired("B", 2, 5), _failed("B", 2), retry("B", 2, 95))),
    )


def what_is_due_is_worked_out_anew() -> Iterator[Scenario]:
    """TIM-002."""
    run = Run([_limited("A", 5, signals=["go"])])
    run.start("A")
    running = run.past
    run.wait("A", "go", deadline_ms=5)
    after = run.past.plus(advanced(5), _expired("A", 1, 5), _failed("A", 1), retry("A", 2, 95))
    yield scenario(
        "TIM-002",
        "an attempt expired, and a wait of it was due too",
        refused(after + _signal_expired("A", 1, 5)),
        accepted(after),
    )
    run = Run([_limited("A", 7, signals=["go"], delay_ms=0)])
    run.start("A")
    run.wait("A", "go", deadline_ms=5)
    after = run.past.plus(advanced(9), _signal_expired("A", 1, 5), _failed("A", 1), retry("A", 2, 9), released("A", 2))
    yield scenario(
        "TIM-002",
        "a wait expired, and its attempt was due later",
        refused(after + _expired("A", 1, 7)),
        accepted(after),
    )
    past = running + waits_until("A", 1, 3)
    yield scenario(
        "TIM-002",
        "a timer fired, and its attempt is due too",
        refused(past.plus(advanced(5), _timer_fired("A", 1, 3), ended("A", 1))),
        unfinished(past.plus(advanced(5), _timer_fired("A", 1, 3))),
        unfinished(past.plus(advanced(5), _timer_fired("A", 1, 3), _expired("A", 1, 5))),
        accepted(past.plus(advanced(4), _timer_fired("A", 1, 3), ended("A", 1), run_is("completed"))),
    )


def a_batch_of_time_ends_with_a_run_fact() -> Iterator[Scenario]:
    """TIM-002."""
    once = {"attempt_deadline_ms": 5, "max_attempts": 1}
    run = Run([node("A", retry=once)], budgets={"max_elapsed_ms": 10})
    run.start("A")
    expiry = ("AttemptDeadlineExpired A", "NodeOutcomeCommitted A retryable_failure")
    yield scenario(
        "TIM-002",
        "the run ended before its time was used up",
        gives(
            run.past, advance(20), "VirtualTimeAdvanced", *expiry, "NodeTerminated A attempts_exhausted", "RunFailed"
        ),
        gives(run.past, advance(4), "VirtualTimeAdvanced"),
    )
    run = Run([_limited("A", 15)], budgets={"max_elapsed_ms": 10})
    run.start("A")
    over = run.past.plus(advanced(20), _elapsed(10, 20))
    yield scenario(
        "TIM-002",
        "the time of the run was used up before an attempt was due",
        refused(over + _expired("A", 1, 15)),
        refused(over.plus(run_is("failed"), _expired("A", 1, 15))),
        accepted(over + run_is("failed")),
    )
    limited = [node(name, retry={"attempt_deadline_ms": 5}) for name in "AB"]
    run = Run(limited, budgets={"max_transitions": 2})
    run.start("A")
    run.start("B")
    yield scenario(
        "TIM-002",
        "a budget is exhausted by what the first of two items brings",
        gives(run.past, advance(5), "VirtualTimeAdvanced", *expiry, "BudgetExhausted transitions", "RunFailed"),
        gives(run.past, advance(4), "VirtualTimeAdvanced"),
    )


# In which order


def deadlines_come_in_their_order() -> Iterator[Scenario]:
    """TIM-003."""
    run = Run([_limited("A", 7), _limited("B", 5)])
    run.start("A")
    run.start("B")
    yield scenario(
        "TIM-003",
        "the earlier deadline comes first, although its node comes last",
        refused(run.past.plus(advanced(9), _expired("A", 1, 7))),
        unfinished(run.past.plus(advanced(9), _expired("B", 2, 5))),
    )
    run = Run([_limited("A", 7), node("B", retry={"backoff": _fixed(5)})])
    run.start("A")
    run.run("B", "retryable_failure")
    yield scenario(
        "TIM-003",
        "a retry with an earlier deadline than an attempt comes first",
        refused(run.past.plus(advanced(9), _expired("A", 1, 7))),
        unfinished(run.past.plus(advanced(9), released("B", 2))),
    )
    run = Run(["A"], budgets={"max_elapsed_ms": 7})
    run.start("A")
    run.wait_until("A", 6)
    yield scenario(
        "TIM-003",
        "a timer with an earlier deadline than the run comes first",
        refused(run.past.plus(advanced(9), _elapsed(7, 9))),
        unfinished(run.past.plus(advanced(9), _timer_fired("A", 1, 6))),
        accepted(run.past.plus(advanced(9), _timer_fired("A", 1, 6), _elapsed(7, 9), run_is("failed"))),
    )
    run = Run([_limited("A", 5)], budgets={"max_elapsed_ms": 10})
    run.start("A")
    yield scenario(
        "TIM-003",
        "an attempt was due before the time of the run was used up, and it is late",
        refused(run.past.plus(advanced(20), _elapsed(10, 20))),
        unfinished(run.past.plus(advanced(20), _expired("A", 1, 5))),
    )


def kinds_of_one_deadline_come_in_their_order() -> Iterator[Scenario]:
    """TIM-003. The node of the kind that comes last comes first."""
    run = Run([_limited("A", 10)], budgets={"max_elapsed_ms": 10})
    run.start("A")
    now = advanced(10)
    yield scenario(
        "TIM-003",
        "the time of the run comes before an attempt",
        refused(run.past.plus(now, _expired("A", 1, 10))),
        accepted(run.past.plus(now, _elapsed(10, 10), run_is("failed"))),
    )
    run = Run(["A"], budgets={"max_elapsed_ms": 10})
    run.start("A")
    run.wait_until("A", 10)
    yield scenario(
        "TIM-003",
        "the time of the run comes before a timer",
        refused(run.past.plus(now, _timer_fired("A", 1, 10))),
        accepted(run.past.plus(now, _elapsed(10, 10), run_is("failed"))),
    )
    run = Run([_waiting("A"), _limited("B", 10)])
    run.start("A")
    run.wait("A", "go", deadline_ms=10)
    run.start("B")
    yield scenario(
        "TIM-003",
        "an attempt comes before a signal wait",
        refused(run.past.plus(now, _signal_expired("A", 1, 10))),
        unfinished(run.past.plus(now, _expired("B", 2, 10))),
    )
    run = Run([_limited("A", 10, signals=["go"])])
    run.start("A")
    run.wait("A", "go", deadline_ms=10)
    yield scenario(
        "TIM-003",
        "an attempt comes before its own wait, and closes it",
        refused(run.past.plus(now, _signal_expired("A", 1, 10))),
        accepted(run.past.plus(now, _expired("A", 1, 10), _failed("A", 1), retry("A", 2, 100))),
    )
    run = Run([_limited("A", 10)])
    run.start("A")
    run.wait_until("A", 10)
    yield scenario(
        "TIM-003",
        "an attempt comes before its own timer, and closes it",
        refused(run.past.plus(now, _timer_fired("A", 1, 10))),
        accepted(run.past.plus(now, _expired("A", 1, 10), _failed("A", 1), retry("A", 2, 100))),
    )
    run = Run(["A", _waiting("B")])
    run.start("A")
    run.wait_until("A", 10)
    run.start("B")
    run.wait("B", "go", deadline_ms=10)
    yield scenario(
        "TIM-003",
        "a signal wait comes before a timer",
        refused(run.past.plus(now, _timer_fired("A", 1, 10))),
        unfinished(run.past.plus(now, _signal_expired("B", 2, 10))),
    )
    run = Run([node("A", retry={"backoff": _fixed(10)}), "B"])
    run.run("A", "retryable_failure")
    run.start("B")
    run.wait_until("B", 10)
    yield scenario(
        "TIM-003",
        "a timer comes before a retry",
        refused(run.past.plus(now, released("A", 2))),
        unfinished(run.past.plus(now, _timer_fired("B", 2, 10))),
    )


def nodes_of_one_deadline_come_in_their_order() -> Iterator[Scenario]:
    """TIM-003. What comes last was begun first."""
    now = advanced(10)
    run = Run([_limited("B", 10), _limited("A", 10)])
    run.start("A")
    run.start("B")
    yield scenario(
        "TIM-003",
        "two attempts of one deadline",
        refused(run.past.plus(now, _expired("A", 1, 10))),
        unfinished(run.past.plus(now, _expired("B", 2, 10))),
    )
    run = Run([_waiting("B"), _waiting("A")])
    for name in "AB":
        run.start(name)
        run.wait(name, "go", deadline_ms=10)
    yield scenario(
        "TIM-003",
        "two signal waits of one deadline",
        refused(run.past.plus(now, _signal_expired("A", 1, 10))),
        unfinished(run.past.plus(now, _signal_expired("B", 2, 10))),
    )
    run = Run("BA")
    for name in "AB":
        run.start(name)
        run.wait_until(name, 10)
    yield scenario(
        "TIM-003",
        "two timers of one deadline",
        refused(run.past.plus(now, _timer_fired("A", 1, 10))),
        unfinished(run.past.plus(now, _timer_fired("B", 2, 10))),
        gives(run.past, advance(10), "VirtualTimeAdvanced", "TimerFired B", "TimerFired A"),
    )
    run = Run([node(name, retry={"backoff": _fixed(10)}) for name in "BA"])
    for name in "AB":
        run.run(name, "retryable_failure")
    yield scenario(
        "TIM-003",
        "two retries of one deadline",
        refused(run.past.plus(now, released("A", 2))),
        unfinished(run.past.plus(now, released("B", 2))),
    )


# Deadlines of attempts


def an_attempt_has_its_deadline_from_its_start() -> Iterator[Scenario]:
    """TIM-004."""
    run = Run([_limited("A", 5), "B"])
    late = run.past + advanced(3_600_000)
    for name, past, deadline_ms in (("at once", run.past, 5), ("after an idle hour", late, 3_600_005)):
        yield scenario(
            "TIM-004",
            f"an attempt is started {name}",
            refused(past + started("A", 1)),
            refused(past + started("A", 1, deadline_ms=deadline_ms - 1)),
            refused(past + started("A", 1, deadline_ms=deadline_ms + 1)),
            accepted(past + started("A", 1, deadline_ms=deadline_ms), {"/nodes/A/active/deadline_ms": deadline_ms}),
            gives(past, start("A", 1), "NodeStarted A"),
        )
    yield scenario(
        "TIM-004",
        "a node without a deadline",
        refused(run.past + started("B", 1, deadline_ms=5)),
        accepted(run.past + started("B", 1), {"/nodes/B/active/deadline_ms": None}),
        gives(run.past, start("B", 1), "NodeStarted B"),
    )
    run = Run(
        [_limited("C", 5, child={"workflow": "sub@1", "policy": "propagate"})],
        children={"sub@1": {"nodes": [node("x")]}},
    )
    yield scenario(
        "TIM-004",
        "an attempt of a child's node",
        refused(run.past + child_started("C", 1, 1)),
        refused(run.past + child_started("C", 1, 1, deadline_ms=6)),
        accepted(run.past + child_started("C", 1, 1, deadline_ms=5)),
        gives(run.past, start("C", 1, child_run_id=child(1)), "ChildStarted C"),
    )
    run = Run([_limited("A", 5, delay_ms=3)])
    run.start("A")
    run.advance(4)
    run.end("A", "retryable_failure")
    run.advance(8)
    yield scenario(
        "TIM-004",
        "the second attempt has a deadline of its own",
        refused(run.past + started("A", 2, 2, deadline_ms=5)),
        refused(run.past + started("A", 2, 2, deadline_ms=12)),
        accepted(run.past + started("A", 2, 2, deadline_ms=13)),
    )
    run = Run("A", version=3)
    run.start("A")
    run.goes_on(5)
    yield scenario(
        "TIM-004",
        "an attempt that started before there were deadlines has none",
        refused(run.past.plus(advanced(9), _expired("A", 1, 9))),
        accepted(run.past.plus(advanced(9), ended("A", 1), run_is("completed"))),
    )


def a_deadline_is_not_moved() -> Iterator[Scenario]:
    """TIM-005."""
    run = Run([_limited("A", 10), "B"])
    run.start("A")
    resumed = run.past.plus(acquired(1, 1), advanced(4), given_up(1, 1), acquired(2, 2), advanced(8), acquired(1, 3))
    yield scenario(
        "TIM-005",
        "a run that is resumed again and again",
        refused(resumed.plus(advanced(12), acquired(2, 4))),
        refused(resumed.plus(advanced(12), _expired("A", 1, 14))),
        refused(resumed.plus(advanced(9), _expired("A", 1, 10))),
        unfinished(resumed.plus(advanced(12), _expired("A", 1, 10))),
        accepted(resumed + advanced(9)),
    )
    run.start("B")
    run.advance(6)
    run.end("B")
    yield scenario(
        "TIM-005",
        "an outcome of another node does not move it",
        refused(run.past.plus(advanced(10), acquired(1, 1))),
        unfinished(run.past.plus(advanced(10), _expired("A", 1, 10))),
    )
    run = Run([_limited("A", 10, signals=["go"])])
    run.start("A")
    run.advance(4)
    run.wait("A", "go")
    waited = run.past
    run.accept("A", "go")
    yield scenario(
        "TIM-005",
        "a wait and its signal do not move the deadline of the attempt",
        refused(waited.plus(advanced(9), _expired("A", 1, 10))),
        unfinished(waited.plus(advanced(10), _expired("A", 1, 10))),
        refused(run.past.plus(advanced(10), ended("A", 1))),
        unfinished(run.past.plus(advanced(10), _expired("A", 1, 10))),
    )
    run = Run(["A"], budgets={"max_elapsed_ms": 10})
    resumed = run.past.plus(acquired(1, 1), advanced(4), given_up(1, 1), acquired(2, 2), advanced(8), acquired(1, 3))
    yield scenario(
        "TIM-005",
        "the limit of a run that is resumed again and again",
        refused(resumed.plus(advanced(12), started("A", 1))),
        accepted(resumed.plus(advanced(12), _elapsed(10, 12), run_is("failed"))),
        accepted(resumed.plus(advanced(9), started("A", 1))),
    )
    run = Run(["A", node("B", signals=["go"], retry={"backoff": _fixed(20)})])
    run.start("B")
    run.wait("B", "go", deadline_ms=10)
    run.advance(6)
    run.reject("B")
    run.run("A")
    yield scenario(
        "TIM-005",
        "a rejected delivery does not move the deadline of a wait",
        refused(run.past.plus(advanced(9), _signal_expired("B", 1, 10))),
        unfinished(run.past.plus(advanced(10), _signal_expired("B", 1, 10))),
        refused(run.past.plus(advanced(10), acquired(1, 1))),
    )
    run = Run([node("A", retry={"backoff": _fixed(10)}), "B"])
    run.run("A", "retryable_failure")
    run.advance(6)
    run.run("B")
    resumed = run.past + acquired(1, 1)
    yield scenario(
        "TIM-005",
        "nothing moves the deadline of a retry",
        refused(resumed.plus(advanced(9), released("A", 2))),
        accepted(resumed.plus(advanced(10), released("A", 2))),
        refused(resumed.plus(advanced(10), acquired(2, 2))),
    )


def an_attempt_expires() -> Iterator[Scenario]:
    """TIM-006."""
    run = Run([_limited("A", 5), "B"])
    run.start("A")
    run.start("B")
    due = run.past + advanced(8)
    yield scenario(
        "TIM-006",
        "an attempt is due, and it does not expire",
        refused(due + ended("A", 1)),
        refused(due + _failed("A", 1)),
        refused(due + ended("B", 2)),
        unfinished(due),
        unfinished(due + _expired("A", 1, 5)),
    )
    yield scenario(
        "TIM-006",
        "an expiry with another deadline, of another attempt or node",
        refused(due + _expired("A", 1, 8)),
        refused(due + _expired("A", 2, 5)),
        refused(due + _expired("B", 2, 5)),
        refused(run.past + _expired("A", 1, 5)),
        unfinished(due + _expired("A", 1, 5)),
    )
    gone = due + _expired("A", 1, 5)
    yield scenario(
        "TIM-006",
        "what an expiry brings",
        refused(gone + ended("A", 1, "permanent_failure")),
        refused(gone + ended("A", 1, "cancelled")),
        refused(gone + ended("A", 1)),
        refused(gone + ended("A", None, "retryable_failure")),
        refused(gone + retry("A", 2, 98)),
        refused(gone + ended("B", 2)),
        unfinished(gone + _failed("A", 1)),
    )
    yield scenario(
        "TIM-006",
        "just before its deadline, and at it",
        refused(run.past.plus(advanced(4), _expired("A", 1, 5))),
        accepted(run.past.plus(advanced(4), ended("A", 1))),
        refused(run.past.plus(advanced(5), ended("A", 1))),
        unfinished(run.past.plus(advanced(5), _expired("A", 1, 5))),
    )
    expiry = ("AttemptDeadlineExpired A", "NodeOutcomeCommitted A retryable_failure", "RetryScheduled A")
    yield scenario(
        "TIM-006",
        "what time gives just before a deadline, and at it",
        gives(run.past, advance(4), "VirtualTimeAdvanced"),
        gives(run.past, advance(5), "VirtualTimeAdvanced", *expiry),
    )


def a_waiting_attempt_expires_too() -> Iterator[Scenario]:
    """TIM-006."""
    run = Run([_limited("A", 5, signals=["go"])])
    run.start("A")
    running = run.past
    for name, opening in (("signal", waits("A", 1, "go")), ("timer", waits_until("A", 1, 7))):
        past = running + opening
        gone = past.plus(advanced(5), _expired("A", 1, 5), _failed("A", 1), retry("A", 2, 95))
        yield scenario(
            "TIM-006",
            f"an attempt expires while it waits for a {name}",
            refused(past.plus(advanced(5), acquired(1, 1))),
            refused(past.plus(advanced(4), _expired("A", 1, 5))),
            accepted(gone, {"/nodes/A/status": "retry_pending", "/nodes/A/active": None}),
            rejects(gone, deliver("A", 1, "go"), "no_open_wait"),
        )
    child_of = {"workflow": "sub@1", "policy": "propagate"}
    run = Run([_limited("C", 5, child=child_of)], children={"sub@1": {"nodes": [node("x")]}})
    run.start("C")
    yield scenario(
        "TIM-006",
        "an attempt of a child's node expires",
        gives(
            run.past,
            advance(5),
            "VirtualTimeAdvanced",
            "AttemptDeadlineExpired C",
            "NodeOutcomeCommitted C retryable_failure",
            "RetryScheduled C",
        ),
        gives(run.past, advance(4), "VirtualTimeAdvanced"),
    )


def what_is_due_has_no_outcome_of_its_own() -> Iterator[Scenario]:
    """TIM-007: at the end of time, an attempt is due as it starts."""
    run = Run([_limited("A", 5, signals=["go"]), node("B", signals=["go"])])
    run.advance(_END - 5)
    before = run.past + started("A", 1, deadline_ms=_END)
    past = run.past.plus(advanced(_END), started("A", 1, deadline_ms=_END), started("B", 2))
    for name, event, other in (
        ("an outcome", ended("A", 1), ended("B", 2)),
        ("a wait", waits("A", 1, "go"), waits("B", 2, "go")),
    ):
        yield scenario(
            "TIM-007",
            f"{name} of an attempt that is due, of one that is not yet, and of one that has no deadline",
            refused(past + event),
            accepted(before + event),
            accepted(past + other),
        )
    yield scenario(
        "TIM-007",
        "commands for an attempt that is due",
        rejects(past, complete("A", 1), "attempt_due"),
        rejects(past, complete("A", 1, "blocked"), "attempt_due"),
        rejects(past, _wait("A", 1, "go"), "attempt_due"),
        rejects(past, _wait_until("A", 1, _END), "attempt_due", "deadline_passed"),
        gives(before, complete("A", 1), "NodeOutcomeCommitted A succeeded"),
        gives(before, _wait("A", 1, "go"), "SignalWaitOpened A"),
        gives(past, complete("B", 2), "NodeOutcomeCommitted B succeeded"),
    )
    child_of = {"workflow": "sub@1", "policy": "propagate"}
    run = Run([_limited("C", 5, child=child_of), "B"], children={"sub@1": {"nodes": [node("x")]}})
    run.advance(_END - 5)
    before = run.past + child_started("C", 1, 1, deadline_ms=_END)
    past = run.past.plus(advanced(_END), child_started("C", 1, 1, deadline_ms=_END))
    over = fact("ChildCompleted", node="C", attempt_id=attempt(1), child_run_id=child(1), result="completed")
    yield scenario(
        "TIM-007",
        "a child run ends when its attempt is due, and before",
        refused(past + over),
        rejects(past, complete_child("C", 1, 1), "attempt_due"),
        unfinished(before + over),
        gives(before, complete_child("C", 1, 1), "ChildCompleted C", "NodeOutcomeCommitted C succeeded"),
    )


def a_deadline_lies_after_now() -> Iterator[Scenario]:
    """TIM-008."""
    run = Run([node("A", signals=["go"])])
    run.advance(5)
    run.start("A")
    yield scenario(
        "TIM-008",
        "a signal wait until now, before it and after it",
        refused(run.past + waits("A", 1, "go", deadline_ms=5)),
        refused(run.past + waits("A", 1, "go", deadline_ms=4)),
        refused(run.past + waits("A", 1, "go", deadline_ms=0)),
        accepted(run.past + waits("A", 1, "go", deadline_ms=6)),
        accepted(run.past + waits("A", 1, "go")),
    )
    yield scenario(
        "TIM-008",
        "a timer wait until now, before it and after it",
        refused(run.past + waits_until("A", 1, 5)),
        refused(run.past + waits_until("A", 1, 4)),
        refused(run.past + waits_until("A", 1, 0)),
        accepted(run.past + waits_until("A", 1, 6)),
    )
    yield scenario(
        "TIM-008",
        "commands with a deadline of now, before it and after it",
        rejects(run.past, _wait("A", 1, "go", deadline_ms=5), "deadline_passed"),
        rejects(run.past, _wait("A", 1, "go", deadline_ms=4), "deadline_passed"),
        rejects(run.past, _wait_until("A", 1, 5), "deadline_passed"),
        rejects(run.past, _wait_until("A", 1, 4), "deadline_passed"),
        gives(run.past, _wait("A", 1, "go", deadline_ms=6), "SignalWaitOpened A"),
        gives(run.past, _wait("A", 1, "go"), "SignalWaitOpened A"),
        gives(run.past, _wait_until("A", 1, 6), "TimerWaitOpened A"),
        gives(run.past, _wait_until("A", 1, _END), "TimerWaitOpened A"),
    )
    run = Run([node("A", signals=["go"])])
    run.start("A")
    yield scenario(
        "TIM-008",
        "a wait until the beginning of time",
        refused(run.past + waits("A", 1, "go", deadline_ms=0)),
        refused(run.past + waits_until("A", 1, 0)),
        accepted(run.past + waits_until("A", 1, 1)),
    )


# Timers


def a_timer_makes_a_node_wait() -> Iterator[Scenario]:
    """TIM-009."""
    run = Run("AB")
    ready = run.past
    run.start("A")
    running = run.past
    run.wait_until("A", 10)
    yield scenario(
        "TIM-009",
        "a timer wait of a running node, of a ready one, and of another attempt",
        refused(ready + waits_until("A", 1, 10)),
        refused(running + waits_until("B", 1, 10)),
        refused(running + waits_until("A", 2, 10)),
        accepted(run.past, {"/nodes/A/status": "waiting", "/nodes/A/active/wait/deadline_ms": 10}),
        gives(running, _wait_until("A", 1, 10), "TimerWaitOpened A"),
        rejects(running, _wait_until("A", 2, 10), "not_active"),
    )
    due = run.past + advanced(12)
    yield scenario(
        "TIM-009",
        "a timer fires: too early, with another deadline or attempt, and rightly",
        refused(run.past + _timer_fired("A", 1, 10)),
        refused(run.past.plus(advanced(9), _timer_fired("A", 1, 10))),
        refused(due + _timer_fired("A", 1, 12)),
        refused(due + _timer_fired("A", 2, 10)),
        refused(due + _timer_fired("B", 1, 10)),
        refused(due + acquired(1, 1)),
        unfinished(due),
        accepted(
            due + _timer_fired("A", 1, 10),
            {"/nodes/A/status": "running", "/nodes/A/attempts": 1, "/nodes/A/active/attempt_id": attempt(1)},
        ),
    )
    fired = due + _timer_fired("A", 1, 10)
    yield scenario(
        "TIM-009",
        "what comes after a timer fired",
        refused(fired + started("A", 2, 2)),
        refused(fired + ended("A", 2)),
        accepted(fired + ended("A", 1)),
        accepted(fired + waits_until("A", 1, 13)),
        refused(fired + waits_until("A", 1, 12)),
    )
    yield scenario(
        "TIM-009",
        "what time gives just before a timer, at it and after it",
        gives(run.past, advance(9), "VirtualTimeAdvanced"),
        gives(run.past, advance(10), "VirtualTimeAdvanced", "TimerFired A"),
        gives(run.past, advance(11), "VirtualTimeAdvanced", "TimerFired A"),
    )
    child_of = {"workflow": "sub@1", "policy": "propagate"}
    run = Run([node("C", child=child_of), "A"], children={"sub@1": {"nodes": [node("x")]}})
    run.start("C")
    run.start("A")
    yield scenario(
        "TIM-009",
        "a timer wait of a child's node",
        refused(run.past + waits_until("C", 1, 10)),
        accepted(run.past + waits_until("A", 2, 10)),
    )


def what_has_ended_is_not_due() -> Iterator[Scenario]:
    """TIM-010."""
    run = Run([_limited("A", 5), "B"])
    run.run("A")
    yield _over("an attempt that has its outcome", run, _expired("A", 1, 5))
    run = Run([_limited("A", 5)])
    run.run("A", "retryable_failure")
    yield _over("an attempt that will be tried again", run, _expired("A", 1, 5))
    run = Run([_waiting("A")])
    run.start("A")
    run.wait("A", "go", deadline_ms=5)
    run.accept("A", "go")
    yield _over("a wait that had its signal", run, _signal_expired("A", 1, 5))
    run = Run([_waiting("A"), "B"])
    run.start("A")
    run.wait("A", "go", deadline_ms=5)
    run.accept("A", "go")
    run.end("A")
    yield _over("a wait that had its signal, in an attempt with an outcome", run, _signal_expired("A", 1, 5))
    run = Run([_waiting("A")])
    run.start("A")
    run.wait("A", "go", deadline_ms=4)
    run.accept("A", "go")
    run.wait("A", "go", deadline_ms=40)
    yield _over("a wait before the one that is open", run, _signal_expired("A", 1, 4))
    run = Run("A")
    run.start("A")
    run.wait_until("A", 3)
    run.advance(3)
    yield _over("a timer that has fired", run, _timer_fired("A", 1, 3))
    run = Run([node("A", retry={"backoff": _fixed(3)})])
    run.run("A", "retryable_failure")
    run.advance(3)
    yield _over("a retry that was released", run, released("A", 2))
    run.start("A")
    yield _over("a retry that was released and has started", run, released("A", 2))
    run = Run([_limited("A", 3)])
    run.start("A")
    run.advance(3)
    yield _over("an attempt that has expired", run, _expired("A", 1, 3))


def what_has_ended_is_not_due_for_the_next_attempt() -> Iterator[Scenario]:
    """TIM-010."""
    soon = {"max_attempts": 9, "attempt_deadline_ms": 5}
    run = Run([node("A", retry=soon, signals=["go"])])
    run.start("A")
    timer, waiting, running = run.fork(), run.fork(), run.fork()
    timer.wait_until("A", 8)
    waiting.wait("A", "go", deadline_ms=8)
    for name, of, item in (
        ("a timer of an attempt that has expired", timer, _timer_fired("A", 2, 8)),
        ("a wait of an attempt that has expired", waiting, _signal_expired("A", 2, 8)),
    ):
        of.advance(5)
        of.start("A")
        yield _over(name, of, item, 8)
        of.wait_until("A", 9)
        yield _over(f"{name} and waits again", of, item, 8)
    running.advance(2)
    running.end("A", "retryable_failure")
    running.start("A")
    yield _over("an attempt before this one", running, _expired("A", 2, 5))
    running.wait_until("A", 6)
    yield _over("an attempt before this one, which waits", running, _expired("A", 2, 5))
    run = Run([node("A", max_activations=2, retry=soon)], ["A>A"], initial_nodes=["A"])
    run.start("A")
    run.advance(2)
    run.end("A")
    run.start("A")
    yield _over("an attempt of the activation before", run, _expired("A", 2, 5))


def _over(name: str, run: Run, item: Fact, now_ms: int = 5) -> Scenario:
    """Return that nothing comes of a deadline later on."""
    late = run.past + advanced(now_ms)
    return scenario(
        "TIM-010",
        f"{name} is not due",
        refused(late + item),
        accepted(late + acquired(1, 1)),
        accepted(late),
        gives(run.past, advance(now_ms), "VirtualTimeAdvanced"),
    )


def a_wait_that_expired_takes_no_signal() -> Iterator[Scenario]:
    """TIM-010."""
    run = Run([node("A", signals=["go"], retry={"max_attempts": 9, "backoff": _fixed(1)})])
    for deadline_ms in (10, 20, 30):
        run.start("A")
        run.wait("A", "go", deadline_ms=deadline_ms)
        run.advance(deadline_ms)
        run.advance(deadline_ms + 1)
    run.start("A")
    before = run.past
    run.wait("A", "go", deadline_ms=40)
    yield scenario(
        "TIM-010",
        "three waits expired, and a fourth takes the signal",
        refused(before + accepts("A", 4, 1, "go")),
        refused(run.past + accepts("A", 3, 1, "go")),
        accepted(run.past + accepts("A", 4, 1, "go")),
        rejects(before, deliver("A", 1, "go"), "no_open_wait"),
        gives(run.past, deliver("A", 1, "go"), "SignalAccepted A"),
        gives(run.past, advance(39), "VirtualTimeAdvanced"),
    )
    run = Run([_limited("A", 30)])
    run.start("A")
    run.wait_until("A", 20)
    past = run.past
    run.cancel()
    yield scenario(
        "TIM-010",
        "a timer whose run was cancelled",
        refused(run.past + advanced(20)),
        refused(run.past + _timer_fired("A", 1, 20)),
        accepted(past.plus(advanced(20), _timer_fired("A", 1, 20))),
        rejects(run.past, advance(20), "run_terminal"),
    )


# The end of time


def deadlines_do_not_go_beyond_the_end_of_time() -> Iterator[Scenario]:
    """TIM-011."""
    run = Run([node("A", retry={"backoff": _fixed(5)})])
    for name, now_ms, deadline_ms in (
        ("at", _END - 5, _END),
        ("beyond", _END - 2, _END),
        ("just before", _END - 6, _END - 1),
    ):
        past = run.past.plus(advanced(now_ms), started("A", 1), _failed("A", 1))
        yield scenario(
            "TIM-011",
            f"a retry {name} the end of time",
            refused(past + retry("A", 2, deadline_ms - 1)),
            accepted(past + retry("A", 2, deadline_ms)),
        )
    past = run.past.plus(advanced(_END), started("A", 1), _failed("A", 1))
    yield scenario(
        "TIM-011",
        "a retry at the end of time is immediate",
        refused(past.plus(retry("A", 2, _END), started("A", 2, 2))),
        accepted(past.plus(retry("A", 2, _END), released("A", 2))),
    )
    run = Run([_limited("A", 5)])
    for name, now_ms in (("at", _END - 5), ("beyond", _END - 2)):
        past = run.past + advanced(now_ms)
        yield scenario(
            "TIM-011",
            f"the deadline of an attempt {name} the end of time",
            refused(past + started("A", 1, deadline_ms=_END - 1)),
            refused(past + started("A", 1)),
            accepted(past + started("A", 1, deadline_ms=_END)),
            gives(past, start("A", 1), "NodeStarted A"),
        )
    run = Run([node("A", retry={"attempt_deadline_ms": _END, "backoff": _fixed(_END)})])
    past = run.past.plus(advanced(1), started("A", 1, deadline_ms=_END))
    yield scenario(
        "TIM-011",
        "the greatest deadline and the greatest delay",
        refused(run.past.plus(advanced(1), started("A", 1, deadline_ms=0))),
        refused(past.plus(_failed("A", 1), retry("A", 2, 0))),
        accepted(past.plus(_failed("A", 1), retry("A", 2, _END))),
    )
    greatest = {"kind": "exponential", "initial_ms": _END, "multiplier": _END, "maximum_ms": _END}
    run = Run([node("A", retry={"backoff": greatest})])
    past = run.past.plus(advanced(1), started("A", 1), _failed("A", 1))
    yield scenario(
        "TIM-011",
        "the greatest exponential delay",
        refused(past + retry("A", 2, 0)),
        accepted(past + retry("A", 2, _END)),
    )
    run = Run([node("A", retry={"backoff": _fixed(5), "jitter": {"seed": "s", "maximum_ms": 10}})])
    past = run.past.plus(advanced(_END - 8), started("A", 1), _failed("A", 1))
    yield scenario(
        "TIM-011",
        "jitter that leads beyond the end of time",
        refused(past + retry("A", 2, _END - 4)),
        accepted(past + retry("A", 2, _END - 3)),
        accepted(past + retry("A", 2, _END)),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    time_goes_on_alone,
    nothing_else_moves_time,
    what_comes_late_does_not_set_the_clock,
    time_may_stand_still_if_something_is_due,
    whatever_is_due_comes,
    what_is_due_is_worked_out_anew,
    a_batch_of_time_ends_with_a_run_fact,
    deadlines_come_in_their_order,
    kinds_of_one_deadline_come_in_their_order,
    nodes_of_one_deadline_come_in_their_order,
    an_attempt_has_its_deadline_from_its_start,
    a_deadline_is_not_moved,
    an_attempt_expires,
    a_waiting_attempt_expires_too,
    what_is_due_has_no_outcome_of_its_own,
    a_deadline_lies_after_now,
    a_timer_makes_a_node_wait,
    what_has_ended_is_not_due,
    what_has_ended_is_not_due_for_the_next_attempt,
    a_wait_that_expired_takes_no_signal,
    deadlines_do_not_go_beyond_the_end_of_time,
)
