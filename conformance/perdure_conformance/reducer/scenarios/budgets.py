"""Budgets: BUD-001 to BUD-008."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure_conformance.reducer.histories import (
    Document,
    Fact,
    accepts,
    acquired,
    advance,
    advanced,
    attempt,
    child_started,
    closed,
    complete,
    create,
    created,
    document,
    ended,
    fact,
    fired,
    given_up,
    history,
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
    NOTHING_YET,
    Scenario,
    accepted,
    gives,
    refused,
    scenario,
    unfinished,
)

_SUB: Final = {"nodes": [node("x")]}
_CHILD: Final = {"workflow": "sub@1", "policy": "propagate"}


def _exhausted(budget: str, limit: int, usage: int, last_outcome: int | None = None) -> Fact:
    """Return that a budget is exhausted."""
    last = {} if last_outcome is None else {"last_outcome": last_outcome}
    return fact("BudgetExhausted", budget=budget, limit=limit, usage=usage, **last)


def _attempts(limit: int) -> Document:
    return {"max_attempts": limit}


def _transitions(limit: int) -> Document:
    return {"max_transitions": limit}


# What is consumed


def each_start_consumes_an_attempt() -> Iterator[Scenario]:
    """BUD-001."""
    run = Run("AB", budgets=_attempts(1))
    run.start("A")
    yield scenario(
        "BUD-001",
        "a second node is started, and one attempt is allowed",
        refused(run.past + started("B", 2)),
        unfinished(run.past + _exhausted("attempts", 1, 1)),
    )
    run = Run(["A", node("C", child=_CHILD), "B"], children={"sub@1": _SUB}, budgets=_attempts(2))
    run.start("C")
    yield scenario(
        "BUD-001",
        "a child run is an attempt",
        refused(run.past.plus(started("A", 2), started("B", 3))),
        accepted(run.past + started("A", 2)),
        unfinished(run.past.plus(started("A", 2), _exhausted("attempts", 2, 2))),
    )
    run = Run([node("A"), node("C", child=_CHILD)], children={"sub@1": _SUB}, budgets=_attempts(1))
    run.start("A")
    yield scenario(
        "BUD-001",
        "a child run is started, and one attempt is allowed",
        refused(run.past + child_started("C", 2, 1)),
        unfinished(run.past + _exhausted("attempts", 1, 1)),
    )
    run = Run([node("A", retry={"max_attempts": 3})], budgets=_attempts(2))
    run.run("A", "retryable_failure")
    run.run("A", "retryable_failure")
    yield scenario(
        "BUD-001",
        "an attempt that is tried again is one more",
        refused(run.past + started("A", 3, 3)),
        accepted(run.past.until(-3)),
        unfinished(run.past + _exhausted("attempts", 2, 2, 8)),
    )


def nothing_else_consumes_an_attempt() -> Iterator[Scenario]:
    """BUD-001."""
    run = Run(
        ["A", node("X", "A"), node("M"), "C", "D"],
        [{"from": "A", "to": "M", "when": {"outcome": "blocked"}}],
        budgets=_attempts(2),
    )
    run.start("A")
    failed = run.past + ended("A", 1, "permanent_failure")
    over = failed.plus(closed("X"), closed("M"))
    yield scenario(
        "BUD-001",
        "closures consume none",
        refused(over + _exhausted("attempts", 2, 2, 8)),
        accepted(over + started("C", 2)),
        unfinished(over.plus(started("C", 2), _exhausted("attempts", 2, 2, 8))),
        gives(over, start("C", 2), "NodeStarted C"),
    )
    one = Run(["A", node("X", "A"), "C"], budgets=_attempts(1))
    one.start("A")
    failed = one.past + ended("A", 1, "permanent_failure")
    yield scenario(
        "BUD-001",
        "a node is closed when attempts are used up",
        refused(failed + _exhausted("attempts", 1, 1, 5)),
        accepted(failed + closed("X")),
    )
    run = Run([node("A", signals=["go"]), node("B", "A"), "C"], budgets=_attempts(2))
    run.write(acquired(1, 1))
    run.advance(3)
    run.start("A")
    run.wait("A", "go")
    run.reject("A")
    run.accept("A", "go")
    run.wait_until("A", 9)
    run.advance(9)
    run.end("A")
    yield scenario(
        "BUD-001",
        "waits, signals, timers, outcomes and releases consume none",
        refused(run.past + _exhausted("attempts", 2, 2, 13)),
        accepted(run.past + started("B", 2)),
        gives(run.past, start("B", 2), "NodeStarted B"),
    )
    run = Run(["A", "B"], budgets=_attempts(2))
    run.run("A", "retryable_failure")
    yield scenario(
        "BUD-001",
        "a retry that has not started consumes none",
        refused(run.past + _exhausted("attempts", 2, 2, 5)),
        accepted(run.past + started("B", 2)),
        accepted(run.past + started("A", 2, 2)),
    )


def what_moves_a_run_consumes_a_transition() -> Iterator[Scenario]:
    """BUD-002."""
    two = document("AB", budgets=_transitions(1))
    begun = history(created(two), ready("A"))
    enough = document("AB", budgets=_transitions(2))
    yield scenario(
        "BUD-002",
        "each initial node is a transition",
        refused(begun + ready("B")),
        accepted(begun.plus(_exhausted("transitions", 1, 1), run_is("failed"))),
        accepted(history(created(enough), ready("A"), ready("B")), {"/transitions_used": 2}),
        gives(
            NOTHING_YET, create(two), "RunCreated", "NodeReady A initial", "BudgetExhausted transitions", "RunFailed"
        ),
        gives(NOTHING_YET, create(enough), "RunCreated", "NodeReady A initial", "NodeReady B initial"),
    )
    for name, second, arrows, moved in (
        ("a release by dependencies", node("B", "A"), [], ready("B", "dependencies")),
        ("an edge that fires", node("B"), ["A>B"], fired(0, "A", 4)),
    ):
        bounded, free = (Run([node("A"), second], arrows, budgets=_transitions(limit)) for limit in (1, 2))
        bounded.start("A")
        free.start("A")
        yield scenario(
            "BUD-002",
            f"{name} is a transition",
            refused(bounded.past.plus(ended("A", 1), moved)),
            accepted(bounded.past.plus(ended("A", 1), _exhausted("transitions", 1, 1, 4), run_is("failed"))),
            accepted(free.past.plus(ended("A", 1), moved), {"/transitions_used": 2}),
        )
    past = {limit: Run("A", budgets=_transitions(limit)).past + started("A", 1) for limit in (1, 2, 3)}
    failed = ended("A", 1, "retryable_failure")
    yield scenario(
        "BUD-002",
        "a retry that is scheduled is a transition, and one that is released is another",
        refused(past[1].plus(failed, retry("A", 2, 0))),
        unfinished(past[1].plus(failed, _exhausted("transitions", 1, 1, 4))),
        refused(past[2].plus(failed, retry("A", 2, 0), released("A", 2))),
        unfinished(past[2].plus(failed, retry("A", 2, 0), _exhausted("transitions", 2, 2, 4))),
        accepted(past[3].plus(failed, retry("A", 2, 0), released("A", 2)), {"/transitions_used": 3}),
    )


def a_queued_activation_was_charged_when_its_edge_fired() -> Iterator[Scenario]:
    """BUD-002."""
    run = Run("AB", ["B>A"], initial_nodes=["A", "B"], budgets=_transitions(3))
    run.start("A")
    run.run("B")
    queued = run.past
    over = queued + ended("A", 1)
    yield scenario(
        "BUD-002",
        "a queued activation begins at the limit",
        refused(over + _exhausted("transitions", 3, 3, 8)),
        accepted(over + ready("A", "queued"), {"/transitions_used": 3}),
        accepted(queued, {"/transitions_used": 3}),
        gives(queued, complete("A", 1), "NodeOutcomeCommitted A succeeded", "NodeReady A queued"),
    )
    run = Run("AB", ["B>A"], initial_nodes=["A", "B"], budgets=_transitions(2))
    run.start("A")
    run.start("B")
    yield scenario(
        "BUD-002",
        "an activation that would be queued is charged",
        refused(run.past.plus(ended("B", 2), fired(0, "B", 6))),
        accepted(run.past.plus(ended("B", 2), _exhausted("transitions", 2, 2, 6), run_is("failed"))),
    )


def nothing_else_consumes_a_transition() -> Iterator[Scenario]:
    """BUD-002."""
    run = Run([node("A", signals=["go"])], budgets=_transitions(1))
    run.write(acquired(1, 1))
    run.advance(3)
    run.start("A")
    run.wait("A", "go")
    run.reject("A")
    run.accept("A", "go")
    run.wait_until("A", 9)
    run.advance(9)
    yield scenario(
        "BUD-002",
        "starts, waits, signals, timers and outcomes consume none",
        refused(run.past.plus(ended("A", 1), _exhausted("transitions", 1, 1, 12))),
        accepted(run.past.plus(ended("A", 1), run_is("completed")), {"/transitions_used": 1}),
    )
    run = Run([node("A", retry={"max_attempts": 1}), node("B", "A")], budgets=_transitions(1))
    run.start("A")
    failed = run.past + ended("A", 1, "retryable_failure")
    spent = failed + terminated("A", "attempts_exhausted", limit=1, usage=1)
    yield scenario(
        "BUD-002",
        "terminations and closures consume none",
        refused(failed + _exhausted("transitions", 1, 1, 4)),
        refused(spent + _exhausted("transitions", 1, 1, 4)),
        accepted(spent.plus(closed("B"), run_is("failed")), {"/transitions_used": 1}),
    )
    run = Run("AB", ["A>B"], initial_nodes=["A"], budgets=_transitions(1))
    run.start("A")
    run.cancel()
    yield scenario(
        "BUD-002",
        "a cancellation consumes none",
        refused(run.past.until(-1) + _exhausted("transitions", 1, 1, 6)),
        accepted(run.past, {"/transitions_used": 1}),
    )


# What comes when a budget is exhausted


def usage_up_to_the_limit_is_right() -> Iterator[Scenario]:
    """BUD-003."""
    run = Run(["A", node("B", "A")], budgets=_attempts(1))
    one = Run("A", budgets=_attempts(1))
    yield scenario(
        "BUD-003",
        "one node and one attempt",
        refused(one.past + _exhausted("attempts", 1, 0)),
        accepted(one.past.plus(started("A", 1), ended("A", 1), run_is("completed")), {"/status": "completed"}),
        gives(one.past, start("A", 1), "NodeStarted A"),
    )
    run.run("A")
    over = run.past + _exhausted("attempts", 1, 1, 4)
    yield scenario(
        "BUD-003",
        "two nodes in a row and one attempt",
        refused(run.past + started("B", 2)),
        refused(run.past + run_is("failed")),
        unfinished(over),
        accepted(over + run_is("failed"), {"/status": "failed"}),
        gives(run.past, start("B", 2), "BudgetExhausted attempts", "RunFailed"),
    )
    yield scenario(
        "BUD-003",
        "what comes after a budget is exhausted",
        refused(over + started("B", 2)),
        refused(over + run_is("completed")),
        refused(over + run_is("blocked")),
        refused(over + run_is("cancelled")),
        refused(over + advanced(1)),
        refused(over + _exhausted("attempts", 1, 1, 4)),
        refused(over.plus(run_is("failed"), started("B", 2))),
        accepted(over + run_is("failed")),
    )
    two = Run(["A", node("B", "A")], budgets=_attempts(2))
    two.run("A")
    yield scenario(
        "BUD-003",
        "two nodes in a row and two attempts",
        refused(two.past + _exhausted("attempts", 2, 1, 4)),
        accepted(two.past + started("B", 2)),
        gives(two.past, start("B", 2), "NodeStarted B"),
    )


def a_budget_ends_a_batch() -> Iterator[Scenario]:
    """BUD-003."""
    run = Run(["A", node("B", "A"), node("C", "A")], budgets=_transitions(2))
    run.start("A")
    first = run.past.plus(ended("A", 1), ready("B", "dependencies"))
    yield scenario(
        "BUD-003",
        "the second of two releases would exceed the limit",
        refused(first + ready("C", "dependencies")),
        refused(first + run_is("failed")),
        refused(run.past.plus(ended("A", 1), _exhausted("transitions", 2, 1, 4))),
        unfinished(first),
        accepted(first.plus(_exhausted("transitions", 2, 2, 4), run_is("failed"))),
        gives(
            run.past,
            complete("A", 1),
            "NodeOutcomeCommitted A succeeded",
            "NodeReady B dependencies",
            "BudgetExhausted transitions",
            "RunFailed",
        ),
    )
    yield from _nothing_comes_between()
    run = Run([node("A", retry={"backoff": {"kind": "fixed", "delay_ms": 5}})], budgets=_transitions(2))
    run.start("A")
    run.end("A", "retryable_failure")
    yield scenario(
        "BUD-003",
        "the release of a retry would exceed the limit",
        refused(run.past.plus(advanced(5), released("A", 2))),
        refused(run.past + _exhausted("transitions", 2, 2, 4)),
        accepted(run.past.plus(advanced(5), _exhausted("transitions", 2, 2, 4), run_is("failed"))),
        gives(run.past, advance(5), "VirtualTimeAdvanced", "BudgetExhausted transitions", "RunFailed"),
        gives(run.past, advance(4), "VirtualTimeAdvanced"),
    )
    run = Run(["A", node("B", "A")], budgets=_attempts(1))
    run.start("A")
    yield scenario(
        "BUD-003",
        "attempts are used up, and nothing could start",
        refused(run.past + _exhausted("attempts", 1, 1)),
        accepted(run.past.plus(ended("A", 1), ready("B", "dependencies"))),
        unfinished(run.past.plus(ended("A", 1), ready("B", "dependencies"), _exhausted("attempts", 1, 1, 4))),
    )
    run = Run("A", budgets=_transitions(1))
    yield scenario(
        "BUD-003",
        "transitions are used up, and nothing is owed",
        refused(run.past + _exhausted("transitions", 1, 1)),
        accepted(run.past + started("A", 1)),
    )


def _nothing_comes_between() -> Iterator[Scenario]:
    run = Run(
        ["A", "M", "N", node("D", "A"), node("X")],
        ["A>M", "A>N", {"from": "A", "to": "X", "when": {"outcome": "blocked"}}],
        budgets=_transitions(1),
    )
    run.start("A")
    over = run.past.plus(ended("A", 1), _exhausted("transitions", 1, 1, 4))
    yield scenario(
        "BUD-003",
        "an edge would exceed the limit: no other edge, no release and no closure comes before the run fails",
        refused(over + ready("D", "dependencies")),
        refused(over + fired(0, "A", 4)),
        refused(over + fired(1, "A", 4)),
        refused(over + closed("X")),
        accepted(over + run_is("failed")),
        gives(
            run.past,
            complete("A", 1),
            "NodeOutcomeCommitted A succeeded",
            "BudgetExhausted transitions",
            "RunFailed",
        ),
    )
    run = Run(["A", node("D", "A"), node("E", "A"), "Q"], ["Q>A"], initial_nodes=["A", "Q"], budgets=_transitions(3))
    run.start("A")
    run.run("Q")
    over = run.past.plus(ended("A", 1), _exhausted("transitions", 3, 3, 8))
    yield scenario(
        "BUD-003",
        "a release would exceed the limit: no other release and no queued activation comes before the run fails",
        refused(over + ready("D", "dependencies")),
        refused(over + ready("E", "dependencies")),
        refused(over + ready("A", "queued")),
        accepted(over + run_is("failed")),
    )
    limited = {"attempt_deadline_ms": 5}
    run = Run([node("A", retry=limited), node("B", retry=limited), node("X", "A")], budgets=_transitions(2))
    run.start("A")
    run.start("B")
    expiry = (
        advanced(5),
        fact("AttemptDeadlineExpired", node="A", attempt_id=attempt(1), deadline_ms=5),
        ended("A", 1, "retryable_failure"),
    )
    over = run.past.plus(*expiry, _exhausted("transitions", 2, 2, 8))
    yield scenario(
        "BUD-003",
        "a retry would exceed the limit: nothing else that is due comes before the run fails",
        refused(over + fact("AttemptDeadlineExpired", node="B", attempt_id=attempt(2), deadline_ms=5)),
        refused(over + retry("A", 2, 5)),
        refused(over + terminated("A", "attempts_exhausted", limit=3, usage=1)),
        accepted(over + run_is("failed")),
    )


def a_run_has_so_much_time() -> Iterator[Scenario]:
    """BUD-004."""
    run = Run("A", budgets={"max_elapsed_ms": 10})
    yield scenario(
        "BUD-004",
        "just before the limit of time, at it and after it",
        refused(run.past.plus(advanced(10), started("A", 1))),
        accepted(run.past.plus(advanced(9), started("A", 1))),
        refused(run.past.plus(advanced(9), _exhausted("elapsed", 10, 9))),
        unfinished(run.past + advanced(10)),
        accepted(run.past.plus(advanced(10), _exhausted("elapsed", 10, 10), run_is("failed")), {"/status": "failed"}),
        accepted(run.past.plus(advanced(25), _exhausted("elapsed", 10, 25), run_is("failed"))),
    )
    yield scenario(
        "BUD-004",
        "what time gives just before the limit, at it and after it",
        gives(run.past, advance(9), "VirtualTimeAdvanced"),
        gives(run.past, advance(10), "VirtualTimeAdvanced", "BudgetExhausted elapsed", "RunFailed"),
        gives(run.past, advance(11), "VirtualTimeAdvanced", "BudgetExhausted elapsed", "RunFailed"),
    )
    over = run.past + advanced(25)
    yield scenario(
        "BUD-004",
        "usage is now, and the limit is the document's",
        refused(over + _exhausted("elapsed", 10, 10)),
        refused(over + _exhausted("elapsed", 25, 25)),
        refused(over + _exhausted("elapsed", 10, 24)),
        refused(over + _exhausted("attempts", 10, 25)),
        refused(over + run_is("failed")),
        unfinished(over + _exhausted("elapsed", 10, 25)),
    )
    free = Run("A")
    yield scenario(
        "BUD-004",
        "a run without a limit of time, and time that has not come",
        refused(free.past.plus(advanced(25), _exhausted("elapsed", 10, 25))),
        accepted(free.past.plus(advanced(2**53 - 1), started("A", 1))),
        refused(run.past + _exhausted("elapsed", 10, 0)),
        accepted(run.past + started("A", 1)),
    )
    run.start("A")
    waiting = Run("A", budgets={"max_elapsed_ms": 10})
    waiting.start("A")
    waiting.wait_until("A", 12)
    yield scenario(
        "BUD-004",
        "a node that works or waits does not hold it up",
        refused(run.past.plus(advanced(10), ended("A", 1))),
        unfinished(run.past.plus(advanced(10), _exhausted("elapsed", 10, 10))),
        refused(waiting.past.plus(advanced(10), acquired(1, 1))),
        unfinished(waiting.past.plus(advanced(10), _exhausted("elapsed", 10, 10))),
        refused(waiting.past.plus(advanced(9), _exhausted("elapsed", 10, 9))),
    )


def what_is_said_of_an_exhausted_budget() -> Iterator[Scenario]:
    """BUD-005."""
    run = Run(["A", node("B", "A")], budgets=_attempts(1))
    run.run("A")
    yield scenario(
        "BUD-005",
        "another budget, limit, usage or outcome is said",
        refused(run.past + _exhausted("transitions", 1, 1, 4)),
        refused(run.past + _exhausted("attempts", 2, 1, 4)),
        refused(run.past + _exhausted("attempts", 1, 2, 4)),
        refused(run.past + _exhausted("attempts", 1, 0, 4)),
        refused(run.past + _exhausted("attempts", 1, 1, 3)),
        refused(run.past + _exhausted("attempts", 1, 1, 5)),
        refused(run.past + _exhausted("attempts", 1, 1)),
        unfinished(run.past + _exhausted("attempts", 1, 1, 4)),
    )
    run = Run("AB", budgets=_attempts(1))
    run.start("A")
    yield scenario(
        "BUD-005",
        "there is no outcome yet",
        refused(run.past + _exhausted("attempts", 1, 1, 4)),
        refused(run.past + _exhausted("attempts", 1, 1, 1)),
        unfinished(run.past + _exhausted("attempts", 1, 1)),
    )
    run = Run("ABC", ["A>C"], initial_nodes=["A", "B"], budgets=_transitions(2))
    run.run("B")
    run.start("A")
    over = run.past + ended("A", 2)
    yield scenario(
        "BUD-005",
        "the last outcome is that of this batch",
        refused(over + _exhausted("transitions", 2, 2, 5)),
        refused(over + _exhausted("transitions", 2, 2)),
        unfinished(over + _exhausted("transitions", 2, 2, 7)),
    )
    run = Run(
        ["I", "Y", node("D", "Y", dependency_policy="all_completed"), "X"],
        [{"from": "I", "to": "Y", "when": {"outcome": "blocked"}}],
        budgets=_transitions(2),
    )
    run.start("I")
    over = run.past.plus(ended("I", 1), closed("Y"))
    yield scenario(
        "BUD-005",
        "the last outcome is a closure",
        refused(over + _exhausted("transitions", 2, 2, 5)),
        refused(over + ready("D", "dependencies")),
        unfinished(over + _exhausted("transitions", 2, 2, 6)),
    )
    run = Run([node("A", retry={"max_attempts": 1}), node("B", "A"), "C"], budgets=_attempts(1))
    run.run("A", "retryable_failure")
    yield scenario(
        "BUD-005",
        "the last outcome is a closure in an earlier batch",
        refused(run.past + _exhausted("attempts", 1, 1, 5)),
        refused(run.past + _exhausted("attempts", 1, 1, 6)),
        unfinished(run.past + _exhausted("attempts", 1, 1, 7)),
    )
    run = Run([node("A", retry={"attempt_deadline_ms": 5})], budgets=_transitions(1))
    run.start("A")
    over = run.past.plus(
        advanced(5),
        fact("AttemptDeadlineExpired", node="A", attempt_id=attempt(1), deadline_ms=5),
        ended("A", 1, "retryable_failure"),
    )
    yield scenario(
        "BUD-005",
        "the last outcome is an expiry",
        refused(over + _exhausted("transitions", 1, 1, 5)),
        refused(over + _exhausted("transitions", 1, 1)),
        unfinished(over + _exhausted("transitions", 1, 1, 6)),
    )
    run = Run("AB", budgets={"max_elapsed_ms": 10})
    run.run("A")
    yield scenario(
        "BUD-005",
        "time is used up after an outcome",
        refused(run.past.plus(advanced(10), _exhausted("elapsed", 10, 10))),
        refused(run.past.plus(advanced(10), _exhausted("elapsed", 10, 10, 6))),
        unfinished(run.past.plus(advanced(10), _exhausted("elapsed", 10, 10, 5))),
    )


def nodes_stay_as_they_are() -> Iterator[Scenario]:
    """BUD-006."""
    run = Run(
        ["P", "R", node("W", signals=["go"]), node("B", retry={"backoff": {"kind": "fixed", "delay_ms": 90}}), "Y"],
        ["P>Y"],
        budgets={"max_elapsed_ms": 10},
    )
    run.start("P")
    run.start("W")
    run.wait("W", "go")
    run.run("B", "retryable_failure")
    over = run.past.plus(advanced(10), _exhausted("elapsed", 10, 10, 10))
    yield scenario(
        "BUD-006",
        "nodes of each kind when the time of a run is used up",
        refused(over + ended("P", 1, "cancelled")),
        refused(over + ended("R", None, "cancelled")),
        refused(over + closed("Y")),
        accepted(
            over + run_is("failed"),
            {
                "/status": "failed",
                "/nodes/P/status": "running",
                "/nodes/P/active/attempt_id": attempt(1),
                "/nodes/R/status": "ready",
                "/nodes/W/status": "waiting",
                "/nodes/W/active/wait/name": "go",
                "/nodes/B/status": "retry_pending",
                "/nodes/B/retry_ms": 90,
                "/nodes/Y/status": "pending",
            },
        ),
    )
    run = Run("AB", budgets=_attempts(1))
    run.start("A")
    over = run.past + _exhausted("attempts", 1, 1)
    yield scenario(
        "BUD-006",
        "nodes when the attempts of a run are used up",
        refused(over + ended("A", 1, "cancelled")),
        refused(over + ended("B", None, "permanent_failure")),
        accepted(over + run_is("failed"), {"/nodes/A/status": "running", "/nodes/B/status": "ready"}),
    )
    run = Run("AB", ["A>B"], budgets=_transitions(1))
    run.start("A")
    over = run.past.plus(ended("A", 1), _exhausted("transitions", 1, 1, 4))
    yield scenario(
        "BUD-006",
        "nodes when the transitions of a run are used up",
        refused(over + closed("B")),
        accepted(over + run_is("failed"), {"/nodes/A/status": "succeeded", "/nodes/B/status": "pending"}),
    )


def usage_is_a_fold() -> Iterator[Scenario]:
    """BUD-007."""
    run = Run([node("A", max_activations=4)], ["A>A"], initial_nodes=["A"], budgets=_attempts(2))
    run.run("A")
    run.run("A")
    yield scenario(
        "BUD-007",
        "a loop does not set attempts back",
        refused(run.past + started("A", 3)),
        accepted(run.past.until(-3)),
        unfinished(run.past + _exhausted("attempts", 2, 2, 7)),
    )
    run = Run([node("A", max_activations=4)], ["A>A"], initial_nodes=["A"], budgets=_transitions(2))
    run.run("A")
    run.start("A")
    over = run.past + ended("A", 2)
    yield scenario(
        "BUD-007",
        "a loop does not set transitions back",
        refused(over + fired(0, "A", 7)),
        unfinished(over + _exhausted("transitions", 2, 2, 7)),
    )
    run = Run([node("A", retry={"max_attempts": 9})], budgets=_attempts(1))
    run.run("A", "retryable_failure")
    yield scenario(
        "BUD-007",
        "attempts that a node has left raise no limit",
        refused(run.past + started("A", 2, 2)),
        unfinished(run.past + _exhausted("attempts", 1, 1, 4)),
    )
    for kind in ("succeeded", "blocked", "cancelled", "permanent_failure", "changes_requested"):
        run = Run("AB", ["A>B"], initial_nodes=["A"], budgets=_attempts(2))
        run.run("A", "retryable_failure")
        run.run("A", kind)
        last = max(n for n, entry in enumerate(run.past.entries, 1) if entry.event["type"] == "NodeOutcomeCommitted")
        yield scenario(
            "BUD-007",
            f"a node that ended as {kind} gives back no attempt that it needed before",
            refused(run.past + started("B", 3)),
            unfinished(run.past + _exhausted("attempts", 2, 2, last)),
            gives(run.past, start("B", 3), "BudgetExhausted attempts", "RunFailed"),
        )
    run = Run([node("A", retry={"max_attempts": 2}), "B"], ["A>B"], initial_nodes=["A"], budgets=_attempts(2))
    run.run("A", "retryable_failure")
    run.run("A", "retryable_failure")
    yield scenario(
        "BUD-007",
        "a node that used its attempts up gives none back",
        refused(run.past + started("B", 3)),
        unfinished(run.past + _exhausted("attempts", 2, 2, 8)),
        gives(run.past, start("B", 3), "BudgetExhausted attempts", "RunFailed"),
    )
    run = Run(["A", node("B", "A")], budgets={**_attempts(1), "max_elapsed_ms": 100})
    run.run("A")
    resumed = run.past.plus(advanced(9), acquired(1, 1), given_up(1, 1), acquired(2, 2), advanced(99))
    yield scenario(
        "BUD-007",
        "a resume, an outcome and time that goes on set nothing back",
        refused(resumed + started("B", 2)),
        refused(run.past + started("B", 2)),
        unfinished(resumed + _exhausted("attempts", 1, 1, 4)),
        gives(resumed, start("B", 2), "BudgetExhausted attempts", "RunFailed"),
        gives(run.past, start("B", 2), "BudgetExhausted attempts", "RunFailed"),
    )
    run = Run([node("A", signals=["go"]), "B", "C"], budgets=_attempts(2))
    run.start("A")
    waited = run.past.plus(waits("A", 1, "go"), accepts("A", 1, 1, "go"))
    yield scenario(
        "BUD-007",
        "a wait sets nothing back and consumes nothing",
        refused(waited.plus(started("B", 2), started("C", 3))),
        accepted(waited + started("B", 2)),
        unfinished(waited.plus(started("B", 2), _exhausted("attempts", 2, 2))),
    )


def usage_before_there_were_budgets_counts() -> Iterator[Scenario]:
    """BUD-007."""
    for version in (1, 2, 3):
        run = Run(["A", node("B", "A")], version=version)
        run.run("A")
        old = run.past
        run.goes_on(5)
        run.run("B")
        yield scenario(
            "BUD-007",
            f"what version {version} consumed is consumed",
            accepted(old, {"/transitions_used": 2}),
            accepted(run.past, {"/transitions_used": 2}),
        )
    run = Run("AB", ["A>B"], version=3)
    run.run("A")
    yield scenario(
        "BUD-007",
        "an edge that fired in version 3 was a transition",
        accepted(run.past.until(3), {"/transitions_used": 1}),
        accepted(run.past, {"/transitions_used": 2}),
    )


def a_run_has_defaults() -> Iterator[Scenario]:
    """BUD-008."""
    one = document("A", budgets={"max_attempts": 1})
    other = document([node("A", max_activations=1_001)], ["A>A"], initial_nodes=["A"], budgets={"max_transitions": 9})
    plain = document([node("A", max_activations=1_001)], ["A>A"], initial_nodes=["A"])
    for name, given, rounds in (("of budgets", plain, 12), ("of budgets", plain, 1_000), ("of attempts", other, 8)):
        past = history(created(given), ready("A"))
        for number in range(1, rounds + 1):
            past = past.plus(started("A", number), ended("A", number), fired(0, "A", len(past) + 2))
        yield scenario(
            "BUD-008",
            f"a document that says nothing {name}: {rounds:,} attempts are not too many",
            refused(past.until(5) + _exhausted("attempts", 1, 1, 4)),
            accepted(past + started("A", rounds + 1)),
        )
    yield _ten_thousand_attempts()
    past = history(created(one), ready("A"))
    yield scenario(
        "BUD-008",
        "a document that says nothing of time",
        refused(past.plus(advanced(2**53 - 1), _exhausted("elapsed", 2**53 - 1, 2**53 - 1))),
        accepted(past + advanced(2**53 - 1)),
        gives(past, advance(2**53 - 1), "VirtualTimeAdvanced"),
    )
    past = history(created(document("AB", budgets={"max_elapsed_ms": 7})), ready("A"), ready("B"))
    yield scenario(
        "BUD-008",
        "what a document says holds in place of the default",
        refused(past.plus(advanced(7), started("A", 1))),
        unfinished(past.plus(advanced(7), _exhausted("elapsed", 7, 7))),
        accepted(past.plus(advanced(6), started("A", 1), started("B", 2))),
    )


def _ten_thousand_attempts() -> Scenario:
    """Return the questions where the attempts end that a document has which says nothing of them."""
    endless = document([node("A", max_activations=10_002)], ["A>A"], initial_nodes=["A"])
    facts = [created(endless), ready("A")]
    for number in range(1, 10_000):
        facts += [started("A", number), ended("A", number)]
        facts.append(fired(0, "A", len(facts)))
    past, last = history(*facts), len(facts) - 1
    most = past.plus(started("A", 10_000), ended("A", 10_000), fired(0, "A", last + 3))
    return scenario(
        "BUD-008",
        "a document that says nothing of budgets: 10,000 attempts are not too many, and one more is",
        refused(past + _exhausted("attempts", 9_999, 9_999, last)),
        unfinished(most + _exhausted("attempts", 10_000, 10_000, last + 3)),
        heavy=True,
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    each_start_consumes_an_attempt,
    nothing_else_consumes_an_attempt,
    what_moves_a_run_consumes_a_transition,
    a_queued_activation_was_charged_when_its_edge_fired,
    nothing_else_consumes_a_transition,
    usage_up_to_the_limit_is_right,
    a_budget_ends_a_batch,
    a_run_has_so_much_time,
    what_is_said_of_an_exhausted_budget,
    nodes_stay_as_they_are,
    usage_is_a_fold,
    usage_before_there_were_budgets_counts,
    a_run_has_defaults,
)
