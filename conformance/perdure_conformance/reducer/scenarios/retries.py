"""Retries: RTY-001 to RTY-009."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure_conformance.reducer.histories import (
    Document,
    History,
    Value,
    accepts,
    acquired,
    advance,
    advanced,
    attempt,
    child_started,
    complete,
    ended,
    fact,
    fired,
    given_up,
    node,
    ready,
    released,
    retry,
    run_is,
    start,
    started,
    terminated,
    waits,
)
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.scenario import (
    Scenario,
    Side,
    accepted,
    gives,
    refused,
    rejects,
    scenario,
    unfinished,
)

_SUB: Final = {"nodes": [node("x")]}
_HUGE: Final = 2**53 - 1


def _tried(attempts: int, name: str = "A", **policy: Value) -> Document:
    """Return a node that has so many attempts."""
    return node(name, retry={"max_attempts": attempts, **policy})


def _named(attempts: int) -> Document:
    """Return a node whose permanent failures are retried too."""
    return _tried(attempts, classes=["retryable_failure", "permanent_failure"])


def _fixed(delay_ms: int) -> Document:
    return {"kind": "fixed", "delay_ms": delay_ms}


def _exponential(initial_ms: int, multiplier: int, maximum_ms: int) -> Document:
    return {"kind": "exponential", "initial_ms": initial_ms, "multiplier": multiplier, "maximum_ms": maximum_ms}


def _exhausted(name: str, limit: int, usage: int) -> Document:
    """Return that the attempts of an activation are used up."""
    return terminated(name, "attempts_exhausted", limit=limit, usage=usage)


def _looping(item: Document, when: str = "succeeded", activations: int = 3) -> Run:
    """Return a run of one node with an edge to itself."""
    loop = {"from": item["id"], "to": item["id"], "when": {"outcome": when}}
    return Run([{**item, "max_activations": activations}], [loop], initial_nodes=[item["id"]])


# Which outcomes are retried


def a_retryable_failure_is_retried_while_attempts_are_left() -> Iterator[Scenario]:
    """RTY-001."""
    for attempts in (1, 2, 3):
        run = Run([_tried(attempts)])
        for nth in range(1, attempts):
            run.start("A")
            failed = run.past + ended("A", nth, "retryable_failure")
            yield scenario(
                "RTY-001",
                f"attempt {nth} of {attempts} fails",
                refused(failed + _exhausted("A", attempts, nth)),
                accepted(failed.plus(retry("A", nth + 1, 0), released("A", nth + 1))),
                gives(
                    run.past,
                    complete("A", nth, "retryable_failure"),
                    "NodeOutcomeCommitted A retryable_failure",
                    "RetryScheduled A",
                    "RetryReleased A",
                ),
            )
            run.end("A", "retryable_failure")
        run.start("A")
        failed = run.past + ended("A", attempts, "retryable_failure")
        yield scenario(
            "RTY-001",
            f"attempt {attempts} of {attempts} fails",
            refused(failed + retry("A", attempts + 1, 0)),
            unfinished(failed),
        )


def a_node_has_three_attempts_unless_it_says_otherwise() -> Iterator[Scenario]:
    """RTY-001."""
    for name, item in (("no retry policy", node("A")), ("an empty retry policy", node("A", retry={}))):
        run = Run([item])
        run.run("A", "retryable_failure")
        run.start("A")
        second = run.past + ended("A", 2, "retryable_failure")
        run.end("A", "retryable_failure")
        run.start("A")
        third = run.past + ended("A", 3, "retryable_failure")
        yield scenario(
            "RTY-001",
            f"{name}: three attempts",
            refused(third + retry("A", 4, 0)),
            unfinished(third),
            refused(second + _exhausted("A", 3, 2)),
            unfinished(second + retry("A", 3, 0)),
        )


def a_permanent_failure_is_retried_if_it_is_named() -> Iterator[Scenario]:
    """RTY-001."""
    unnamed, named = Run([_tried(2)]), Run([_named(2)])
    only = Run([_tried(2, classes=["permanent_failure"])])
    for run in (unnamed, named, only):
        run.start("A")
    failed = ended("A", 1, "permanent_failure")
    yield scenario(
        "RTY-001",
        "a permanent failure that is not named, and one that is",
        refused(unnamed.past.plus(failed, retry("A", 2, 0))),
        accepted(unnamed.past.plus(failed, run_is("failed"))),
        refused(named.past.plus(failed, run_is("failed"))),
        accepted(named.past.plus(failed, retry("A", 2, 0), released("A", 2))),
        gives(
            unnamed.past,
            complete("A", 1, "permanent_failure"),
            "NodeOutcomeCommitted A permanent_failure",
            "RunFailed",
        ),
        gives(
            named.past,
            complete("A", 1, "permanent_failure"),
            "NodeOutcomeCommitted A permanent_failure",
            "RetryScheduled A",
            "RetryReleased A",
        ),
    )
    again = ended("A", 1, "retryable_failure")
    yield scenario(
        "RTY-001",
        "a retryable failure is retried although another class alone is named",
        refused(only.past.plus(again, _exhausted("A", 2, 1))),
        accepted(only.past.plus(again, retry("A", 2, 0), released("A", 2))),
    )


def no_other_outcome_is_retried() -> Iterator[Scenario]:
    """RTY-001."""
    run = Run([_named(3)])
    run.start("A")
    for kind, result in (("succeeded", "completed"), ("blocked", "blocked"), ("cancelled", "cancelled")):
        over = run.past + ended("A", 1, kind)
        yield scenario(
            "RTY-001",
            f"{kind} is not retried",
            refused(over + retry("A", 2, 0)),
            accepted(over + run_is(result)),
        )
    asked = run.past + ended("A", 1, "changes_requested")
    yield scenario(
        "RTY-001",
        "a request for changes is not retried",
        refused(asked + retry("A", 2, 0)),
        accepted(asked.plus(terminated("A"), run_is("failed"))),
    )


def attempts_are_those_of_an_activation() -> Iterator[Scenario]:
    """RTY-001."""
    run = _looping(_tried(2))
    run.run("A", "retryable_failure")
    run.run("A")
    run.start("A")
    failed = run.past + ended("A", 3, "retryable_failure")
    yield scenario(
        "RTY-001",
        "an activation that had two attempts, and then another one",
        refused(failed + _exhausted("A", 2, 3)),
        refused(failed + _exhausted("A", 2, 1)),
        accepted(failed.plus(retry("A", 2, 0), released("A", 2))),
    )
    run.end("A", "retryable_failure")
    run.start("A")
    failed = run.past + ended("A", 4, "retryable_failure")
    yield scenario(
        "RTY-001",
        "the later activation has no more attempts than the first",
        refused(failed + retry("A", 3, 0)),
        unfinished(failed),
    )
    run = Run([_named(2)])
    run.run("A", "permanent_failure")
    run.start("A")
    failed = run.past + ended("A", 2, "retryable_failure")
    yield scenario(
        "RTY-001",
        "a permanent failure, then a retryable one: both are attempts",
        refused(failed + retry("A", 3, 0)),
        unfinished(failed),
    )


# How a retry begins


def a_retry_is_scheduled_at_once() -> Iterator[Scenario]:
    """RTY-002."""
    run = Run([_tried(3, backoff=_fixed(7)), "B"])
    run.start("A")
    failed = run.past + ended("A", 1, "retryable_failure")
    yield scenario(
        "RTY-002",
        "something else comes after an outcome that will be retried",
        refused(failed + started("B", 2)),
        refused(failed + advanced(1)),
        refused(failed + acquired(1, 1)),
        refused(failed + started("A", 2, 2)),
        refused(failed + released("A", 2)),
        unfinished(failed),
        accepted(failed + retry("A", 2, 7)),
    )
    yield scenario(
        "RTY-002",
        "a retry is scheduled for another node, for another attempt, or twice",
        refused(failed + retry("B", 2, 7)),
        refused(failed + retry("A", 1, 7)),
        refused(failed + retry("A", 3, 7)),
        refused(failed.plus(retry("A", 2, 7), retry("A", 2, 7))),
        refused(run.past + retry("A", 2, 7)),
        accepted(failed + retry("A", 2, 7)),
    )
    yield scenario(
        "RTY-002",
        "a node between an attempt and the next",
        accepted(
            failed + retry("A", 2, 7),
            {
                "/nodes/A/status": "retry_pending",
                "/nodes/A/retry_ms": 7,
                "/nodes/A/attempts": 1,
                "/nodes/A/active": None,
            },
        ),
        rejects(failed + retry("A", 2, 7), start("A", 2), "not_ready"),
        gives(failed + retry("A", 2, 7), start("B", 2), "NodeStarted B"),
    )
    yield scenario(
        "RTY-002",
        "what a failure with a delayed retry gives",
        gives(
            run.past,
            complete("A", 1, "retryable_failure"),
            "NodeOutcomeCommitted A retryable_failure",
            "RetryScheduled A",
        ),
        gives(run.past, complete("A", 1, "blocked"), "NodeOutcomeCommitted A blocked"),
    )
    run.end("A", "retryable_failure")
    run.advance(7)
    run.start("A")
    failed = run.past + ended("A", 2, "retryable_failure")
    yield scenario(
        "RTY-002",
        "the second retry is of attempt 3",
        refused(failed + retry("A", 2, 14)),
        accepted(failed + retry("A", 3, 14)),
    )


def attempts_are_numbered_without_a_gap() -> Iterator[Scenario]:
    """RTY-003."""
    run = Run([_tried(4), "B"])
    first = run.past
    run.run("A", "retryable_failure")
    yield scenario(
        "RTY-003",
        "the first attempt, and the second",
        refused(first + started("A", 1, 2)),
        accepted(first + started("A", 1, 1)),
        refused(run.past + started("A", 2, 1)),
        refused(run.past + started("A", 2, 3)),
        accepted(run.past + started("A", 2, 2), {"/nodes/A/attempts": 2}),
        gives(run.past, start("A", 2), "NodeStarted A"),
    )
    yield scenario(
        "RTY-003",
        "attempts of another node are its own",
        refused(run.past + started("B", 2, 2)),
        accepted(run.past + started("B", 2, 1)),
    )
    run.run("B", "retryable_failure")
    yield scenario(
        "RTY-003",
        "the second attempts of two nodes, each the second of its own",
        refused(run.past + started("A", 3, 3)),
        accepted(run.past.plus(started("A", 3, 2), started("B", 4, 2))),
        gives(run.past, start("A", 3), "NodeStarted A"),
    )
    chain = first
    for nth in (1, 2, 3):
        chain = chain.plus(
            started("A", nth, nth), ended("A", nth, "retryable_failure"), retry("A", nth + 1, 0), released("A", nth + 1)
        )
        yield scenario(
            "RTY-003",
            f"a chain of retries: attempt {nth + 1} is not recorded as the first again",
            refused(chain + started("A", nth + 1, 1)),
            refused(chain + started("A", nth + 1, nth)),
            refused(chain + started("A", nth + 1, nth + 2)),
            accepted(chain + started("A", nth + 1, nth + 1)),
        )


def numbers_go_on_across_waits_and_resumes() -> Iterator[Scenario]:
    """RTY-003."""
    run = Run([node("A", signals=["go"], retry={"max_attempts": 3})])
    run.start("A")
    waited = run.past.plus(waits("A", 1, "go"), accepts("A", 1, 1, "go"), ended("A", 1, "retryable_failure"))
    yield scenario(
        "RTY-003",
        "an attempt that waited fails",
        refused(waited.plus(retry("A", 2, 0), released("A", 2), started("A", 2, 1))),
        accepted(waited.plus(retry("A", 2, 0), released("A", 2), started("A", 2, 2))),
    )
    resumed = run.past.plus(
        ended("A", 1, "retryable_failure"),
        retry("A", 2, 0),
        released("A", 2),
        acquired(1, 1),
        given_up(1, 1),
        acquired(2, 2),
    )
    yield scenario(
        "RTY-003",
        "a run that was taken over twice",
        refused(resumed + started("A", 2, 1)),
        accepted(resumed + started("A", 2, 2)),
    )
    run = Run([_tried(3, attempt_deadline_ms=5)])
    run.start("A")
    run.advance(5)
    yield scenario(
        "RTY-003",
        "an attempt that expired",
        refused(run.past + started("A", 2, 1, deadline_ms=10)),
        accepted(run.past + started("A", 2, 2, deadline_ms=10)),
    )
    yield from _an_expired_attempt_counts()
    child = {"workflow": "sub@1", "policy": "propagate"}
    run = Run(
        [node("C", child=child, retry={"classes": ["retryable_failure", "permanent_failure"]})],
        children={"sub@1": _SUB},
    )
    run.start("C")
    run.child_ends("C", "failed")
    yield scenario(
        "RTY-003",
        "an attempt that a child run failed",
        refused(run.past + child_started("C", 2, 2, 1)),
        accepted(run.past + child_started("C", 2, 2, 2)),
    )


def _an_expired_attempt_counts() -> Iterator[Scenario]:
    run = Run([node("A", signals=["go"], retry={"max_attempts": 3, "attempt_deadline_ms": 5})])
    run.start("A")
    late = fact("AttemptDeadlineExpired", node="A", attempt_id=attempt(1), deadline_ms=5)
    over = fact("SignalExpired", node="A", attempt_id=attempt(1), deadline_ms=3)
    for name, opening, expiry, now_ms in (
        ("an attempt", [], late, 5),
        ("an attempt that waits", [waits("A", 1, "go")], late, 5),
        ("a wait", [waits("A", 1, "go", deadline_ms=3)], over, 3),
    ):
        past = run.past.plus(*opening, advanced(now_ms), expiry, ended("A", 1, "retryable_failure"))
        yield scenario(
            "RTY-003",
            f"the attempt after {name} has expired is the second",
            refused(past + retry("A", 1, now_ms)),
            refused(past + retry("A", 3, now_ms)),
            unfinished(past + retry("A", 2, now_ms)),
        )


def a_new_activation_begins_at_attempt_1() -> Iterator[Scenario]:
    """RTY-003."""
    run = _looping(_tried(3))
    run.run("A", "retryable_failure")
    run.run("A")
    yield scenario(
        "RTY-003",
        "an edge activates a node that had two attempts",
        refused(run.past + started("A", 3, 3)),
        refused(run.past + started("A", 3, 2)),
        accepted(run.past + started("A", 3, 1), {"/nodes/A/attempts": 1}),
    )
    run = Run([_tried(3), "B"], ["B>A"], initial_nodes=["A", "B"])
    run.run("A", "retryable_failure")
    run.run("B")
    run.run("A")
    yield scenario(
        "RTY-003",
        "a queued activation begins",
        refused(run.past + started("A", 4, 3)),
        accepted(run.past + started("A", 4, 1)),
    )
    run = Run([_tried(3), "B"], ["A>B", "B>A"], initial_nodes=["A"])
    for _ in range(5):
        run.run("A", "retryable_failure")
        run.run("A")
        run.run("B")
    yield scenario(
        "RTY-003",
        "a loop went round five times, each time with a retry: both counts are apart",
        refused(run.past + started("A", 16, 11)),
        accepted(run.past + started("A", 16, 1), {"/nodes/A/activations": 6, "/nodes/A/attempts": 1}),
    )


# When attempts are used up


def exhaustion_is_recorded() -> Iterator[Scenario]:
    """RTY-004."""
    run = Run([_tried(2)])
    run.run("A", "retryable_failure")
    run.start("A")
    failed = run.past + ended("A", 2, "retryable_failure")
    yield scenario(
        "RTY-004",
        "attempts are used up, and it is not said so",
        refused(failed + run_is("failed")),
        accepted(failed.plus(_exhausted("A", 2, 2), run_is("failed"))),
    )
    yield scenario(
        "RTY-004",
        "it is said with another limit, usage or reason",
        refused(failed + _exhausted("A", 3, 2)),
        refused(failed + _exhausted("A", 2, 1)),
        refused(failed + _exhausted("A", 2, 3)),
        refused(failed + terminated("A")),
        unfinished(failed + _exhausted("A", 2, 2)),
    )
    yield scenario(
        "RTY-004",
        "it changes no status and no outcome",
        accepted(
            failed.plus(_exhausted("A", 2, 2), run_is("failed")),
            {"/nodes/A/status": "failed", "/nodes/A/outcome": 8, "/nodes/A/closed": None, "/nodes/A/attempts": 2},
        ),
        refused(failed.plus(_exhausted("A", 2, 2), ended("A", None, "permanent_failure"))),
    )
    run = Run(["A"])
    run.run("A", "retryable_failure")
    run.run("A", "retryable_failure")
    run.start("A")
    failed = run.past + ended("A", 3, "retryable_failure")
    yield scenario(
        "RTY-004",
        "the limit is the default one",
        refused(failed + terminated("A", "attempts_exhausted", limit=1, usage=3)),
        unfinished(failed + _exhausted("A", 3, 3)),
    )


def exhaustion_is_recorded_at_once() -> Iterator[Scenario]:
    """RTY-004."""
    run = Run([_tried(1), "B"], ["A>B"])
    run.start("A")
    failed = run.past + ended("A", 1, "retryable_failure")
    yield scenario(
        "RTY-004",
        "an edge fires first",
        refused(failed + fired(0, "A", 4)),
        accepted(failed.plus(_exhausted("A", 1, 1), fired(0, "A", 4))),
        gives(
            run.past,
            complete("A", 1, "retryable_failure"),
            "NodeOutcomeCommitted A retryable_failure",
            "NodeTerminated A attempts_exhausted",
            "TransitionActivated 0",
        ),
    )
    run = Run([_tried(1), node("B", "A", dependency_policy="all_completed")])
    run.start("A")
    failed = run.past + ended("A", 1, "retryable_failure")
    yield scenario(
        "RTY-004",
        "a dependent is released first",
        refused(failed + ready("B", "dependencies")),
        accepted(failed.plus(_exhausted("A", 1, 1), ready("B", "dependencies"))),
    )
    run = Run([node("A", signals=["go"], retry={"max_attempts": 1})])
    run.start("A")
    run.wait("A", "go")
    run.accept("A", "go")
    yield scenario(
        "RTY-004",
        "the only attempt fails after a wait: the run ends",
        unfinished(run.past + ended("A", 1, "retryable_failure")),
        accepted(
            run.past.plus(ended("A", 1, "retryable_failure"), _exhausted("A", 1, 1), run_is("failed")),
            {"/status": "failed"},
        ),
    )
    run = Run([_tried(1, attempt_deadline_ms=5)])
    run.start("A")
    yield scenario(
        "RTY-004",
        "the only attempt expires",
        gives(
            run.past,
            advance(5),
            "VirtualTimeAdvanced",
            "AttemptDeadlineExpired A",
            "NodeOutcomeCommitted A retryable_failure",
            "NodeTerminated A attempts_exhausted",
            "RunFailed",
        ),
        gives(run.past, advance(4), "VirtualTimeAdvanced"),
    )


def exhaustion_follows_no_other_outcome() -> Iterator[Scenario]:
    """RTY-004."""
    unnamed, named = Run([_tried(1)]), Run([_named(1)])
    unnamed.start("A")
    named.start("A")
    failed = ended("A", 1, "permanent_failure")
    yield scenario(
        "RTY-004",
        "a permanent failure that is not named, and one that is, in the last attempt",
        refused(unnamed.past.plus(failed, _exhausted("A", 1, 1))),
        accepted(unnamed.past.plus(failed, run_is("failed")), {"/nodes/A/status": "failed"}),
        refused(named.past.plus(failed, run_is("failed"))),
        accepted(named.past.plus(failed, _exhausted("A", 1, 1), run_is("failed"))),
    )
    for kind, result in (("succeeded", "completed"), ("blocked", "blocked"), ("cancelled", "cancelled")):
        over = named.past + ended("A", 1, kind)
        yield scenario(
            "RTY-004",
            f"{kind} in the last attempt",
            refused(over + _exhausted("A", 1, 1)),
            accepted(over + run_is(result)),
        )
    asked = named.past + ended("A", 1, "changes_requested")
    yield scenario(
        "RTY-004",
        "a request for changes in the last attempt",
        refused(asked + _exhausted("A", 1, 1)),
        accepted(asked.plus(terminated("A"), run_is("failed"))),
    )
    run = Run([_tried(2), "B"])
    run.start("A")
    failed_once = run.past + ended("A", 1, "permanent_failure")
    yield scenario(
        "RTY-004",
        "a permanent failure that is not named, with attempts left, and nothing follows",
        refused(failed_once + _exhausted("A", 2, 1)),
        accepted(failed_once),
    )


def usage_is_that_of_the_activation() -> Iterator[Scenario]:
    """RTY-004."""
    run = _looping(_tried(2))
    run.run("A", "retryable_failure")
    run.run("A")
    run.run("A", "retryable_failure")
    run.start("A")
    failed = run.past + ended("A", 4, "retryable_failure")
    yield scenario(
        "RTY-004",
        "the second activation is used up",
        refused(failed + _exhausted("A", 2, 4)),
        unfinished(failed + _exhausted("A", 2, 2)),
    )


# Delays


def _chain(backoff: Document, delays: list[int], **policy: Value) -> tuple[History, int]:
    """Return a history in which a node fails again and again with these delays, and the last deadline."""
    run = Run([_tried(len(delays) + 1, backoff=backoff, **policy)])
    past, now_ms = run.past, 0
    for nth, delay_ms in enumerate(delays, 2):
        past = past.plus(
            started("A", nth - 1, nth - 1),
            ended("A", nth - 1, "retryable_failure"),
            retry("A", nth, now_ms + delay_ms),
        )
        if nth < len(delays) + 1:
            now_ms += delay_ms
            past = past.plus(*([advanced(now_ms)] if delay_ms else []), released("A", nth))
    return past, now_ms + delays[-1]


_DELAYS: Final[tuple[tuple[str, Document, list[int]], ...]] = (
    ("a fixed delay", _fixed(7), [7, 7, 7]),
    ("a delay that triples", _exponential(2, 3, 1_000), [2, 6, 18, 54]),
    ("a delay that reaches its maximum exactly", _exponential(5, 2, 20), [5, 10, 20, 20]),
    ("a delay that is cut to its maximum", _exponential(5, 2, 19), [5, 10, 19, 19]),
    ("a first delay that is cut to its maximum", _exponential(5, 2, 3), [3, 3, 3]),
    ("a delay that does not grow", _exponential(4, 1, 1_000), [4, 4, 4]),
    ("a delay beyond 32 bits", _exponential(2**16, 2**16, 2**52), [2**16, 2**32, 2**48, 2**52]),
    ("a delay with more than 53 bits before it is cut", _exponential(2**26 + 1, 2**27 + 1, 7), [7, 7, 7]),
    ("a delay that would be 2^64, and 0 in 64 bits", _exponential(2**32, 2**32, 9), [9, 9, 9, 9]),
    ("a delay of 53 odd bits", _exponential(94_906_265, 94_906_265, _HUGE), [94_906_265, 9_007_199_136_250_225]),
)


def delays_are_as_the_policy_says() -> Iterator[Scenario]:
    """RTY-005."""
    for name, backoff, delays in _DELAYS:
        for attempts in range(2, len(delays) + 2):
            past, deadline_ms = _chain(backoff, delays[: attempts - 1])
            yield scenario(
                "RTY-005",
                f"{name}, before attempt {attempts}",
                refused(past.but(-1, deadline_ms=deadline_ms - 1)),
                refused(past.but(-1, deadline_ms=deadline_ms + 1)),
                accepted(past),
            )
    for name, backoff in (
        ("an immediate retry", {"kind": "immediate"}),
        ("a fixed delay of 0", _fixed(0)),
        ("a delay that grows from 0", _exponential(0, 2, 9)),
        ("a delay that is cut to 0", _exponential(3, 2, 0)),
    ):
        past, deadline_ms = _chain(backoff, [0, 0, 0])
        yield scenario(
            "RTY-005",
            name,
            refused(past.but(-1, deadline_ms=deadline_ms + 1)),
            accepted(past + released("A", 4)),
        )
    past = Run([_tried(3)]).past.plus(advanced(9), started("A", 1), ended("A", 1, "retryable_failure"))
    yield scenario(
        "RTY-005",
        "a policy without a backoff",
        refused(past + retry("A", 2, 10)),
        accepted(past.plus(retry("A", 2, 9), released("A", 2))),
    )


def delays_are_exact_for_every_attempt() -> Iterator[Scenario]:
    """RTY-005."""
    for attempts in (63, 64, 67):
        past, deadline_ms = _chain(_exponential(1, 2, 1_000), [min(2**power, 1_000) for power in range(attempts - 1)])
        yield scenario(
            "RTY-005",
            f"a delay that doubles, before attempt {attempts}",
            refused(past.but(-1, deadline_ms=deadline_ms - 1_000)),
            accepted(past),
        )
    for attempts, size in (
        (4, "within the floats of 32 bits"),
        (5, "beyond every float of 32 bits"),
        (21, "within the doubles"),
        (22, "beyond every double"),
        (25, "far beyond every double"),
    ):
        past, deadline_ms = _chain(_exponential(1, _HUGE, 9), [1, *([9] * (attempts - 2))])
        yield scenario(
            "RTY-005",
            f"a delay that would be {size}",
            refused(past.but(-1, deadline_ms=deadline_ms - 9)),
            accepted(past),
        )
    past, deadline_ms = _chain(_exponential(0, _HUGE, 9), [0] * 24)
    yield scenario(
        "RTY-005",
        "0 times what is beyond every double",
        refused(past.but(-1, deadline_ms=deadline_ms + 9)),
        unfinished(past),
    )
    past, _ = _chain(_exponential(1, 2, 0), [0] * 1_074)
    yield scenario("RTY-005", "a delay that doubles, before attempt 1,075", unfinished(past))


# Deadlines


def a_deadline_is_within_the_jitter() -> Iterator[Scenario]:
    """RTY-006."""
    run = Run([_tried(3, backoff=_fixed(10), jitter={"seed": "s", "maximum_ms": 3})])
    failed = run.past.plus(advanced(5), started("A", 1), ended("A", 1, "retryable_failure"))
    yield scenario(
        "RTY-006",
        "a deadline with jitter, from now on",
        refused(failed + retry("A", 2, 14)),
        refused(failed + retry("A", 2, 19)),
        *(
            accepted(failed + retry("A", 2, deadline_ms), {"/nodes/A/retry_ms": deadline_ms})
            for deadline_ms in (15, 18)
        ),
        *(accepted(failed + retry("A", 2, deadline_ms)) for deadline_ms in (16, 17)),
    )
    for name, item in (
        ("without jitter", _tried(3, backoff=_fixed(10))),
        ("with a jitter of 0", _tried(3, backoff=_fixed(10), jitter={"seed": "s", "maximum_ms": 0})),
    ):
        run = Run([item])
        failed = run.past.plus(advanced(5), started("A", 1), ended("A", 1, "retryable_failure"))
        yield scenario(
            "RTY-006",
            f"a deadline {name}",
            refused(failed + retry("A", 2, 14)),
            refused(failed + retry("A", 2, 16)),
            refused(failed + retry("A", 2, 10)),
            accepted(failed + retry("A", 2, 15)),
        )
    run = Run([_tried(3, backoff=_exponential(10, 2, 12), jitter={"seed": "s", "maximum_ms": 3})])
    run.start("A")
    failed = run.past.plus(
        ended("A", 1, "retryable_failure"),
        retry("A", 2, 10),
        advanced(10),
        released("A", 2),
        started("A", 2, 2),
        ended("A", 2, "retryable_failure"),
    )
    yield scenario(
        "RTY-006",
        "jitter is added to the delay as it was cut",
        refused(failed + retry("A", 3, 26)),
        accepted(failed + retry("A", 3, 25)),
    )


def a_recorded_deadline_is_kept() -> Iterator[Scenario]:
    """RTY-006."""
    run = Run([_tried(3, backoff=_fixed(10), jitter={"seed": "s", "maximum_ms": 3})])
    run.start("A")
    failed = run.past + ended("A", 1, "retryable_failure")
    for deadline_ms in (10, 11, 12, 13):
        past = failed + retry("A", 2, deadline_ms)
        yield scenario(
            "RTY-006",
            f"a retry that is recorded for {deadline_ms}",
            refused(past.plus(advanced(deadline_ms - 1), released("A", 2))),
            accepted(past.plus(advanced(deadline_ms), released("A", 2))),
        )


def a_delay_is_counted_from_the_batch() -> Iterator[Scenario]:
    """RTY-006."""
    run = Run([_tried(2, backoff=_fixed(3), attempt_deadline_ms=5)])
    run.start("A")
    late = run.past.plus(
        advanced(20),
        fact("AttemptDeadlineExpired", node="A", attempt_id=run.of("A").attempt_id, deadline_ms=5),
        ended("A", 1, "retryable_failure"),
    )
    yield scenario(
        "RTY-006",
        "an attempt expires late: its delay is counted from the time that it is",
        refused(late + retry("A", 2, 8)),
        accepted(late + retry("A", 2, 23)),
    )
    run = Run([node("A", signals=["go"], retry={"backoff": _fixed(3)})])
    run.start("A")
    run.wait("A", "go", deadline_ms=5)
    late = run.past.plus(
        advanced(20),
        fact("SignalExpired", node="A", attempt_id=run.of("A").attempt_id, deadline_ms=5),
        ended("A", 1, "retryable_failure"),
    )
    yield scenario(
        "RTY-006",
        "a wait expires late: its delay is counted from the time that it is",
        refused(late + retry("A", 2, 8)),
        accepted(late + retry("A", 2, 23)),
    )
    run = Run([_tried(3, backoff=_fixed(3))])
    run.start("A")
    run.advance(4)
    run.end("A", "retryable_failure")
    run.advance(50)
    run.start("A")
    failed = run.past + ended("A", 2, "retryable_failure")
    yield scenario(
        "RTY-006",
        "a retry was released late: the next delay is counted from the time that it is",
        refused(failed + retry("A", 3, 10)),
        accepted(failed + retry("A", 3, 53)),
    )


_JITTERS: Final = (
    ("a seed in ASCII", "seed 248", "A"),
    ("a seed with a letter of two bytes", "é2784", "A"),
    ("a seed with a letter of four bytes", "\N{GAME DIE}33", "A"),
    ("a long name of a node", "node 4069", "a.long-name"),
)
"""Seeds that give a jitter of 0 for attempt 2, of 0 to 999."""


def _jittered(name: str, seed: str, maximum_ms: int, attempts: int = 2, **policy: Value) -> Document:
    return _tried(attempts, name, jitter={"seed": seed, "maximum_ms": maximum_ms}, **policy)


def _fails(past: History, name: str, number: int, *then: str) -> Side:
    """Say what the failure of an attempt gives, after its outcome."""
    return gives(
        past, complete(name, number, "retryable_failure"), f"NodeOutcomeCommitted {name} retryable_failure", *then
    )


def jitter_is_a_function_of_seed_run_node_and_attempt() -> Iterator[Scenario]:
    """RTY-007: where the jitter is 0, an immediate retry is released at once."""
    for name, seed, item in _JITTERS:
        run = Run([_jittered(item, seed, 999)])
        run.start(item)
        other = Run([_jittered(item, f"{seed}.", 999)])
        other.start(item)
        yield scenario(
            "RTY-007",
            f"jitter of {name}",
            _fails(run.past, item, 1, f"RetryScheduled {item}", f"RetryReleased {item}"),
            _fails(other.past, item, 1, f"RetryScheduled {item}"),
        )
    past, _ = _chain({"kind": "immediate"}, [0] * 9, jitter={"seed": "ten 1516", "maximum_ms": 999})
    past = past.until(-2)
    yield scenario(
        "RTY-007",
        "jitter before attempt 10, and before attempt 9",
        _fails(past, "A", 9, "RetryScheduled A", "RetryReleased A"),
        _fails(past.until(-4), "A", 8, "RetryScheduled A"),
    )
    a, b = Run([_jittered("A", "", 1)]), Run([_jittered("B", "", 1)])
    a.start("A")
    b.start("B")
    yield scenario(
        "RTY-007",
        "jitter of an empty seed, 0 or 1",
        _fails(a.past, "A", 1, "RetryScheduled A"),
        _fails(b.past, "B", 1, "RetryScheduled B", "RetryReleased B"),
    )
    none, wide = Run([_jittered("A", "seed", 0)]), Run([_jittered("A", "seed", _HUGE)])
    none.start("A")
    wide.start("A")
    yield scenario(
        "RTY-007",
        "the least and the greatest jitter",
        _fails(none.past, "A", 1, "RetryScheduled A", "RetryReleased A"),
        _fails(wide.past, "A", 1, "RetryScheduled A"),
    )
    fixed = Run([_jittered("A", "seed", 999, backoff=_fixed(50))])
    fixed.start("A")
    fixed.advance(7)
    yield scenario(
        "RTY-007",
        "jitter is added to the delay",
        _fails(fixed.past, "A", 1, "RetryScheduled A"),
        gives(fixed.past, complete("A", 1), "NodeOutcomeCommitted A succeeded", "RunCompleted"),
    )


# Releases


def an_immediate_retry_is_released_at_once() -> Iterator[Scenario]:
    """RTY-008."""
    run = Run([_tried(2), "B"])
    run.start("A")
    failed = run.past + ended("A", 1, "retryable_failure")
    scheduled = failed + retry("A", 2, 0)
    yield scenario(
        "RTY-008",
        "something else comes after an immediate retry was scheduled",
        refused(scheduled + started("A", 2, 2)),
        refused(scheduled + started("B", 2)),
        refused(scheduled + advanced(1)),
        unfinished(scheduled),
        accepted(scheduled + released("A", 2), {"/nodes/A/status": "ready", "/nodes/A/retry_ms": None}),
    )
    yield scenario(
        "RTY-008",
        "an immediate retry is released without being scheduled",
        refused(failed + released("A", 2)),
        accepted(failed.plus(retry("A", 2, 0), released("A", 2))),
    )
    for name, backoff in (
        ("of 0", _fixed(0)),
        ("that grows from 0", _exponential(0, 2, 9)),
        ("that is cut to 0", _exponential(3, 2, 0)),
    ):
        run = Run([_tried(2, backoff=backoff), "B"])
        run.advance(7)
        run.start("A")
        scheduled = run.past.plus(ended("A", 1, "retryable_failure"), retry("A", 2, 7))
        yield scenario(
            "RTY-008",
            f"a retry with a delay {name} is released at once",
            refused(scheduled + started("B", 2)),
            refused(scheduled + acquired(1, 1)),
            accepted(scheduled + released("A", 2)),
            gives(
                run.past,
                complete("A", 1, "retryable_failure"),
                "NodeOutcomeCommitted A retryable_failure",
                "RetryScheduled A",
                "RetryReleased A",
            ),
        )
    run = Run([_tried(2, backoff=_fixed(1))])
    run.start("A")
    scheduled = run.past.plus(ended("A", 1, "retryable_failure"), retry("A", 2, 1))
    yield scenario(
        "RTY-008",
        "a retry with a delay of 1 is not released at once",
        refused(scheduled + released("A", 2)),
        accepted(scheduled),
    )
    run = Run([_tried(2, jitter={"seed": "s", "maximum_ms": 1})])
    run.start("A")
    failed = run.past + ended("A", 1, "retryable_failure")
    yield scenario(
        "RTY-008",
        "whether it is immediate is said by the recorded deadline",
        refused(failed.plus(retry("A", 2, 1), released("A", 2))),
        accepted(failed + retry("A", 2, 1)),
        unfinished(failed + retry("A", 2, 0)),
        accepted(failed.plus(retry("A", 2, 0), released("A", 2))),
    )
    run = Run([_tried(2, attempt_deadline_ms=5), _tried(2, "B", attempt_deadline_ms=5)])
    run.start("A")
    run.start("B")
    yield scenario(
        "RTY-008",
        "of two attempts that expire, the retry of the first is released before the second expires",
        gives(
            run.past,
            advance(5),
            "VirtualTimeAdvanced",
            "AttemptDeadlineExpired A",
            "NodeOutcomeCommitted A retryable_failure",
            "RetryScheduled A",
            "RetryReleased A",
            "AttemptDeadlineExpired B",
            "NodeOutcomeCommitted B retryable_failure",
            "RetryScheduled B",
            "RetryReleased B",
        ),
        gives(run.past, advance(4), "VirtualTimeAdvanced"),
    )


def a_delayed_retry_is_released_when_it_is_due() -> Iterator[Scenario]:
    """RTY-009."""
    run = Run([_tried(3, backoff=_fixed(10)), "B"])
    run.start("A")
    run.end("A", "retryable_failure")
    yield scenario(
        "RTY-009",
        "a retry is released before its deadline",
        refused(run.past + released("A", 2)),
        refused(run.past.plus(advanced(9), released("A", 2))),
        accepted(
            run.past.plus(advanced(10), released("A", 2)), {"/nodes/A/status": "ready", "/nodes/A/retry_ms": None}
        ),
        gives(run.past, advance(9), "VirtualTimeAdvanced"),
        gives(run.past, advance(10), "VirtualTimeAdvanced", "RetryReleased A"),
        gives(run.past, advance(11), "VirtualTimeAdvanced", "RetryReleased A"),
    )
    due = run.past + advanced(10)
    yield scenario(
        "RTY-009",
        "a retry is due, and it is not released, or another one",
        refused(due + started("B", 2)),
        refused(due + released("A", 3)),
        refused(due + released("A", 1)),
        refused(due + released("B", 2)),
        unfinished(due),
        accepted(due + released("A", 2)),
    )
    yield scenario(
        "RTY-009",
        "a node is started before its delayed retry is released",
        refused(run.past + started("A", 2, 2)),
        refused(run.past.plus(advanced(9), started("A", 2, 2))),
        accepted(run.past.plus(advanced(10), released("A", 2), started("A", 2, 2))),
        rejects(run.past, start("A", 2), "not_ready"),
    )
    yield scenario(
        "RTY-009",
        "a retry is released twice",
        refused(due.plus(released("A", 2), released("A", 2))),
        accepted(due.plus(released("A", 2), advanced(20))),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    a_retryable_failure_is_retried_while_attempts_are_left,
    a_node_has_three_attempts_unless_it_says_otherwise,
    a_permanent_failure_is_retried_if_it_is_named,
    no_other_outcome_is_retried,
    attempts_are_those_of_an_activation,
    a_retry_is_scheduled_at_once,
    attempts_are_numbered_without_a_gap,
    numbers_go_on_across_waits_and_resumes,
    a_new_activation_begins_at_attempt_1,
    exhaustion_is_recorded,
    exhaustion_is_recorded_at_once,
    exhaustion_follows_no_other_outcome,
    usage_is_that_of_the_activation,
    delays_are_as_the_policy_says,
    delays_are_exact_for_every_attempt,
    a_deadline_is_within_the_jitter,
    a_recorded_deadline_is_kept,
    a_delay_is_counted_from_the_batch,
    jitter_is_a_function_of_seed_run_node_and_attempt,
    an_immediate_retry_is_released_at_once,
    a_delayed_retry_is_released_when_it_is_due,
)
