"""Cancellation: CAN-001 to CAN-004."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure_conformance.reducer.histories import (
    Document,
    Fact,
    Value,
    acquired,
    advance,
    advanced,
    attempt,
    child,
    closed,
    complete,
    ended,
    fact,
    fired,
    node,
    ready,
    retry,
    run_is,
    start,
    started,
    terminated,
)
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.scenario import (
    NOTHING_YET,
    Scenario,
    accepted,
    gives,
    refused,
    rejects,
    scenario,
    unfinished,
)

_SUB: Final = {"nodes": [node("x")]}
_CHILD: Final = {"workflow": "sub@1", "policy": "propagate"}


def _target(name: str, number: int, child_number: int | None = None) -> Document:
    """Return an active attempt."""
    of_a_child = {} if child_number is None else {"child_run_id": child(child_number)}
    return {"node": name, "attempt_id": attempt(number), **of_a_child}


def _requested(*targets: Document, now_ms: int = 0, **members: Value) -> Fact:
    """Return that a cancellation is requested."""
    common = {"requester": "somebody", "reason": "enough", "policy": "cascade"}
    return fact("CancellationRequested", now_ms=now_ms, targets=list(targets), **{**common, **members})


def _cancelled(name: str, number: int | None = None) -> Fact:
    """Return that a node is cancelled."""
    return ended(name, number, "cancelled")


_CANCEL: Final = fact("RequestCancellation", requester="somebody", reason="enough")


def a_request_is_recorded() -> Iterator[Scenario]:
    """CAN-001."""
    run = Run("A")
    yield scenario(
        "CAN-001",
        "a request with another time or policy, or by nobody",
        refused(run.past + _requested(now_ms=1)),
        refused(run.past.plus(advanced(5), _requested(now_ms=0))),
        refused(run.past.plus(advanced(5), _requested(now_ms=6))),
        refused(run.past + _requested(policy="abandon")),
        refused(run.past + _requested(requester="")),
        refused(run.past + _requested(requester="x" * 129)),
        unfinished(run.past + _requested()),
        unfinished(run.past.plus(advanced(5), _requested(now_ms=5))),
        unfinished(run.past + _requested(requester="x" * 128, reason="")),
    )
    yield scenario(
        "CAN-001",
        "what a request gives",
        gives(run.past, _CANCEL, "CancellationRequested", "NodeOutcomeCommitted A cancelled", "RunCancelled"),
        gives(
            run.past + advanced(5), _CANCEL, "CancellationRequested", "NodeOutcomeCommitted A cancelled", "RunCancelled"
        ),
        rejects(NOTHING_YET, _CANCEL, "no_run"),
    )


def a_request_has_the_active_attempts_as_targets() -> Iterator[Scenario]:
    """CAN-001."""
    run = Run(["A", "B", node("C", child=_CHILD), "D"], children={"sub@1": _SUB})
    run.start("B")
    run.start("A")
    run.start("C")
    run.wait_until("B", 9)
    a, b, c = _target("A", 2), _target("B", 1), _target("C", 3, 1)
    yield scenario(
        "CAN-001",
        "targets: one is left out, one is too much, the order is another",
        refused(run.past + _requested()),
        refused(run.past + _requested(b, c)),
        refused(run.past + _requested(a, c)),
        refused(run.past + _requested(a, b)),
        refused(run.past + _requested(b, a, c)),
        refused(run.past + _requested(a, b, c, c)),
        refused(run.past + _requested(a, b, c, _target("D", 4))),
        unfinished(run.past + _requested(a, b, c)),
    )
    yield scenario(
        "CAN-001",
        "targets: another attempt, another child run or none, a child run of a handler",
        refused(run.past + _requested(_target("A", 1), b, c)),
        refused(run.past + _requested(a, b, _target("C", 3))),
        refused(run.past + _requested(a, b, _target("C", 3, 2))),
        refused(run.past + _requested(_target("A", 2, 1), b, c)),
        unfinished(run.past + _requested(a, b, c)),
        gives(
            run.past,
            _CANCEL,
            "CancellationRequested",
            *(f"NodeOutcomeCommitted {name} cancelled" for name in "ABCD"),
            "RunCancelled",
        ),
    )
    run = Run([node("A", retry={"backoff": {"kind": "fixed", "delay_ms": 5}}), "B", "C"])
    run.run("A", "retryable_failure")
    run.run("B")
    yield scenario(
        "CAN-001",
        "an attempt that has its outcome is no target",
        refused(run.past + _requested(_target("A", 1))),
        refused(run.past + _requested(_target("B", 2))),
        unfinished(run.past + _requested()),
    )


def every_node_that_is_not_terminal_is_cancelled() -> Iterator[Scenario]:
    """CAN-002."""
    run = Run(
        [
            node("P", "R"),
            "Y",
            "R",
            node("W", signals=["go"]),
            node("B", retry={"backoff": {"kind": "fixed", "delay_ms": 5}}),
            node("C", child=_CHILD),
            "Q",
            "S",
            "E",
        ],
        [{"from": "Q", "to": "S", "when": {"outcome": "changes_requested"}}, "S>Q"],
        initial_nodes=["Y", "R", "W", "B", "C", "Q", "E"],
        children={"sub@1": _SUB},
    )
    run.start("R")
    run.start("W")
    run.wait("W", "go")
    run.run("B", "retryable_failure")
    run.start("C")
    run.run("Q", "changes_requested")
    run.run("E")
    targets = (_target("R", 1), _target("W", 2), _target("C", 4, 1))
    statuses = {
        "P": "pending",
        "Y": "ready",
        "R": "running",
        "W": "waiting",
        "B": "retry_pending",
        "C": "running",
        "Q": "changes_requested",
        "S": "ready",
        "E": "succeeded",
    }
    numbers = {"R": 1, "W": 2, "C": 4}
    outcomes = [_cancelled(name, numbers.get(name)) for name in statuses if name != "E"]
    asked = run.past + _requested(*targets)
    done = asked.plus(*outcomes, run_is("cancelled"))
    yield scenario(
        "CAN-002",
        "a node of each status that is not terminal",
        *(refused(asked.plus(*outcomes[:number], run_is("cancelled"))) for number in range(len(outcomes))),
        accepted(run.past, {f"/nodes/{name}/status": status for name, status in statuses.items()}),
        accepted(
            done,
            {f"/nodes/{name}/status": "succeeded" if name == "E" else "cancelled" for name in statuses},
        ),
        gives(
            run.past,
            _CANCEL,
            "CancellationRequested",
            *(f"NodeOutcomeCommitted {name} cancelled" for name in statuses if name != "E"),
            "RunCancelled",
        ),
    )
    yield scenario(
        "CAN-002",
        "one node is left out, or comes twice",
        *(refused(asked.plus(*outcomes[:number], event)) for number, event in enumerate(outcomes[1:])),
        refused(asked.plus(outcomes[0], outcomes[0])),
        refused(asked.plus(*outcomes, _cancelled("E"))),
        refused(asked.plus(*outcomes, _cancelled("E", 6))),
        unfinished(asked.plus(*outcomes)),
        accepted(done),
    )


def an_attempt_that_is_active_is_named() -> Iterator[Scenario]:
    """CAN-002."""
    run = Run([node("W", signals=["go"]), "A", node("C", child=_CHILD), "R"], children={"sub@1": _SUB})
    run.start("A")
    run.start("W")
    run.wait("W", "go")
    run.start("C")
    asked = run.past + _requested(_target("W", 2), _target("A", 1), _target("C", 3, 1))
    past = asked
    for name, number in (("W", 2), ("A", 1), ("C", 3)):
        yield scenario(
            "CAN-002",
            f"{name} is cancelled: its attempt is named",
            refused(past + _cancelled(name)),
            refused(past + _cancelled(name, 4)),
            unfinished(past + _cancelled(name, number)),
        )
        past += _cancelled(name, number)
    yield scenario(
        "CAN-002",
        "R is cancelled, and has no attempt to be named",
        refused(past + _cancelled("R", 4)),
        refused(past + _cancelled("R", 1)),
        unfinished(past + _cancelled("R")),
    )
    for kind in ("skipped", "blocked", "permanent_failure", "succeeded"):
        yield scenario(
            "CAN-002",
            f"a node is {kind}, and not cancelled",
            refused(asked + ended("W", 2, kind)),
            refused(past + ended("R", None, kind)),
            unfinished(past + _cancelled("R")),
        )
    run = Run([node("A", retry={"backoff": {"kind": "fixed", "delay_ms": 5}}), "B"])
    run.run("A", "retryable_failure")
    asked = run.past + _requested()
    yield scenario(
        "CAN-002",
        "the last attempt of a node that would be tried again is not active",
        refused(asked + _cancelled("A", 1)),
        unfinished(asked + _cancelled("A")),
        accepted(asked.plus(_cancelled("A"), _cancelled("B"), run_is("cancelled"))),
    )


def after_a_request_nothing_is_judged() -> Iterator[Scenario]:
    """CAN-003."""
    run = Run(["A", "B", node("D", "A", dependency_policy="all_completed")], ["A>B"])
    run.start("A")
    asked = run.past + _requested(_target("A", 1))
    one = asked + _cancelled("A", 1)
    yield scenario(
        "CAN-003",
        "a cancelled node has an edge and a dependent",
        refused(one + fired(0, "A", 5)),
        refused(one + ready("D", "dependencies")),
        refused(one + closed("B")),
        refused(one.plus(_cancelled("B"), ready("D", "dependencies"))),
        unfinished(one + _cancelled("B")),
        accepted(
            one.plus(_cancelled("B"), _cancelled("D"), run_is("cancelled")),
            {"/transitions_used": 1, "/nodes/B/activations": None, "/nodes/D/released": None},
        ),
    )
    run = Run(["A", "X", node("D", "X")], ["A>X"])
    run.start("A")
    asked = run.past.plus(_requested(_target("A", 1)), _cancelled("A", 1))
    yield scenario(
        "CAN-003",
        "nodes that could never start any more are not skipped",
        refused(asked + closed("X")),
        accepted(asked.plus(_cancelled("X"), _cancelled("D"), run_is("cancelled")), {"/nodes/X/status": "cancelled"}),
    )
    run = Run([node("A", retry={"max_attempts": 1}), "B"])
    run.start("A")
    one = run.past.plus(_requested(_target("A", 1)), _cancelled("A", 1))
    yield scenario(
        "CAN-003",
        "nothing is tried again, terminated, started or due",
        refused(one + retry("A", 2, 0)),
        refused(one + terminated("A", "attempts_exhausted", limit=1, usage=1)),
        refused(one + started("B", 2)),
        refused(one + advanced(9)),
        refused(one + acquired(1, 1)),
        refused(one + _requested()),
        accepted(one.plus(_cancelled("B"), run_is("cancelled"))),
    )
    run = Run("AB", [{"from": "A", "to": "B", "when": {"outcome": "changes_requested"}}, "B>A"], initial_nodes=["A"])
    run.run("A", "changes_requested")
    asked = run.past + _requested()
    yield scenario(
        "CAN-003",
        "a node whose correction does not come is not terminated",
        refused(asked + terminated("A")),
        refused(asked.plus(_cancelled("A"), _cancelled("B"), terminated("A"))),
        accepted(asked.plus(_cancelled("A"), _cancelled("B"), run_is("cancelled")), {"/nodes/A/status": "cancelled"}),
    )
    run = Run("AB", ["B>A"], initial_nodes=["A", "B"])
    run.start("A")
    run.run("B")
    one = run.past.plus(_requested(_target("A", 1)), _cancelled("A", 1))
    yield scenario(
        "CAN-003",
        "a queued activation does not begin",
        refused(one + ready("A", "queued")),
        accepted(one + run_is("cancelled")),
    )


def cancellation_charges_nothing() -> Iterator[Scenario]:
    """CAN-003."""
    run = Run(["A", node("B", "A", dependency_policy="all_completed")], budgets={"max_transitions": 1})
    run.start("A")
    one = run.past.plus(_requested(_target("A", 1)), _cancelled("A", 1))
    yield scenario(
        "CAN-003",
        "budgets are used up, and the run is cancelled all the same",
        refused(one + fact("BudgetExhausted", budget="transitions", limit=1, usage=1, last_outcome=5)),
        accepted(one.plus(_cancelled("B"), run_is("cancelled")), {"/transitions_used": 1}),
        gives(
            run.past,
            _CANCEL,
            "CancellationRequested",
            "NodeOutcomeCommitted A cancelled",
            "NodeOutcomeCommitted B cancelled",
            "RunCancelled",
        ),
    )


def a_cancelled_run_is_cancelled() -> Iterator[Scenario]:
    """CAN-004."""
    for name, kind in (("succeeded", "succeeded"), ("failed", "permanent_failure"), ("blocked", "blocked")):
        run = Run("AB")
        run.run("A", kind)
        asked = run.past + _requested()
        over = asked + _cancelled("B")
        yield scenario(
            "CAN-004",
            f"a node {name} before the run is cancelled",
            refused(over + run_is("completed")),
            refused(over + run_is("failed")),
            refused(over + run_is("blocked")),
            refused(asked + run_is("cancelled")),
            unfinished(over),
            accepted(over + run_is("cancelled"), {"/status": "cancelled"}),
            gives(run.past, _CANCEL, "CancellationRequested", "NodeOutcomeCommitted B cancelled", "RunCancelled"),
        )
    run = Run("AB")
    run.run("A")
    running = run.past
    run.cancel()
    yield scenario(
        "CAN-004",
        "what comes after a cancellation",
        refused(run.past + run_is("completed")),
        refused(run.past + run_is("failed")),
        refused(run.past + run_is("cancelled")),
        refused(run.past + started("B", 2)),
        refused(run.past + _requested()),
        refused(running + run_is("cancelled")),
        accepted(run.past),
        rejects(run.past, _CANCEL, "run_terminal"),
        rejects(run.past, start("B", 2), "run_terminal"),
        rejects(run.past, advance(9), "run_terminal"),
        gives(running, start("B", 2), "NodeStarted B"),
    )
    run = Run("A")
    run.start("A")
    running = run.past
    run.cancel()
    yield scenario(
        "CAN-004",
        "an outcome comes too late",
        refused(run.past + ended("A", 1)),
        accepted(running.plus(ended("A", 1), run_is("completed"))),
        rejects(run.past, complete("A", 1), "conflicting_outcome"),
    )
    run = Run("A")
    run.run("A")
    yield scenario(
        "CAN-004",
        "a run that has ended is not cancelled",
        refused(run.past + _requested()),
        accepted(run.past, {"/status": "completed"}),
        rejects(run.past, _CANCEL, "run_terminal"),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    a_request_is_recorded,
    a_request_has_the_active_attempts_as_targets,
    every_node_that_is_not_terminal_is_cancelled,
    an_attempt_that_is_active_is_named,
    after_a_request_nothing_is_judged,
    cancellation_charges_nothing,
    a_cancelled_run_is_cancelled,
)
