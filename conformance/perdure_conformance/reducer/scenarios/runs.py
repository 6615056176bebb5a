"""Runs, their histories and their answers: RUN-001 to RUN-003, RUN-006 to RUN-011, RUN-029 to RUN-031."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from perdure_conformance.reducer.histories import (
    NEWEST,
    Document,
    acquired,
    advance,
    advanced,
    attempt,
    child,
    closed,
    complete,
    complete_child,
    create,
    created,
    deliver,
    document,
    ended,
    fact,
    fired,
    given_up,
    hashed,
    history,
    node,
    owner,
    ready,
    released,
    run_id,
    run_is,
    start,
    started,
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

SUB: Final[dict[str, Any]] = {
    "sub@1": {"nodes": [node("x", outputs=["r"])], "outputs": {"r": {"node": "x", "output": "r"}}}
}
"""The definition of a child that gives `r`."""


def child_node(name: str, *dependencies: str, **members: Any) -> Document:
    """Return a node that a child run works for."""
    return node(
        name, *dependencies, child={"workflow": "sub@1", "policy": "propagate", "outputs": {"go": "r"}}, **members
    )


# Creation


def a_history_begins_with_its_creation() -> Iterator[Scenario]:
    """RUN-001."""
    run = Run("A")
    yield scenario("RUN-001", "a history without its first event", refused(run.past.without(1), 1), accepted(run.past))
    yield scenario(
        "RUN-001",
        "a run is created twice",
        refused(run.past + created(run.document)),
        accepted(run.past + started("A", 1)),
    )
    yield scenario(
        "RUN-001",
        "a run is created again as another one",
        refused(run.past + created(run.document, run_id=run_id(2))),
        accepted(run.past + acquired(1, 1)),
    )


def the_specification_is_valid_and_has_its_hash() -> Iterator[Scenario]:
    """RUN-002."""
    one, other = hashed(document("A")), hashed(document("AB"))
    begun = history(created(one), ready("A"))
    yield scenario(
        "RUN-002",
        "the content hash of another document",
        refused(history(created(one, content_hash=other["content_hash"]), ready("A")), 1),
        accepted(begun),
    )
    wrong = {**one, "content_hash": other["content_hash"]}
    yield scenario(
        "RUN-002",
        "a document with the content hash of another one",
        refused(history(created(one, specification=wrong), ready("A")), 1),
        refused(history(created(one, specification=wrong, content_hash=other["content_hash"]), ready("A")), 1),
        accepted(begun),
    )
    yield scenario(
        "RUN-002",
        "a document without its content hash",
        refused(history(created(one, specification=document("A")), ready("A")), 1),
        accepted(begun),
    )
    yield scenario(
        "RUN-002",
        "a document that no validator accepts",
        refused(history(created(document(["A", node("B", "C")])), ready("A")), 1),
        accepted(history(created(document(["A", node("B", "A")])), ready("A"))),
    )
    yield scenario(
        "RUN-002",
        "a command to create a run with a document that no validator accepts",
        rejects(NOTHING_YET, create(document(["A", node("B", "C")])), "invalid_specification"),
        gives(NOTHING_YET, create(document(["A", node("B", "A")])), "RunCreated", "NodeReady A initial"),
    )


def the_input_is_what_is_declared() -> Iterator[Scenario]:
    """RUN-003."""
    declared = document("A", inputs=["x", "y"])
    for name, given in (
        ("an input that is declared and not given", {"x": 1}),
        ("an input that is given and not declared", {"x": 1, "y": None, "z": 3}),
        ("inputs that are declared, and none given", {}),
    ):
        yield scenario(
            "RUN-003",
            name,
            refused(history(created(declared, input=given), ready("A")), 1),
            accepted(history(created(declared, input={"x": 1, "y": None}), ready("A"))),
        )
    yield scenario(
        "RUN-003",
        "an input of a run that declares none",
        refused(history(created(document("A"), input={"x": 1}), ready("A")), 1),
        accepted(history(created(document("A")), ready("A"))),
    )


def a_run_is_created_once() -> Iterator[Scenario]:
    """RUN-011."""
    declared = document("A", inputs=["x"])
    run = Run("A", inputs=["x"], creation={"input": {"x": 1}, "ancestors": [run_id(7)]})
    again: Any = {"input": {"x": 1}, "ancestors": [run_id(7)]}
    same = create(declared, **again)
    yield scenario(
        "RUN-011",
        "a run is created again with another input",
        rejects(run.past, create(declared, **{**again, "input": {"x": True}}), "run_conflict"),
        rejects(run.past, same, "already_created"),
    )
    yield scenario(
        "RUN-011",
        "a run is created again with other ancestors",
        rejects(run.past, create(declared, **{**again, "ancestors": []}), "run_conflict"),
        rejects(run.past, same, "already_created"),
    )
    yield scenario(
        "RUN-011",
        "a run is created again with another document",
        rejects(run.past, create(document("B", inputs=["x"]), **again), "run_conflict"),
        rejects(run.past, create(hashed(declared), **again), "already_created"),
    )
    yield scenario(
        "RUN-011",
        "a run is created again with an invalid document",
        rejects(run.past, create(document([node("A", "B")]), **again), "run_conflict"),
        rejects(run.past, same, "already_created"),
    )
    yield scenario(
        "RUN-011",
        "a run is created again under another id",
        rejects(run.past, create(declared, **again, run_id=run_id(2)), "run_conflict"),
        rejects(run.past, same, "already_created"),
    )
    run.run("A")
    yield scenario(
        "RUN-011",
        "a run that has ended is created again",
        rejects(run.past, same, "already_created"),
        rejects(run.past, create(declared, **{**again, "input": {"x": 2}}), "run_conflict"),
    )


# Batches


def a_command_is_answered_with_its_row() -> Iterator[Scenario]:
    """RUN-006."""
    yield scenario(
        "RUN-006",
        "CreateRun",
        gives(NOTHING_YET, create(document("BA")), "RunCreated", "NodeReady B initial", "NodeReady A initial"),
        gives(NOTHING_YET, create(hashed(document("A"))), "RunCreated", "NodeReady A initial"),
    )
    run = Run(["A", child_node("C"), node("B", "A")], ["A>B", "A>C", "C>B"], children=SUB, initial_nodes=["A"])
    yield scenario(
        "RUN-006",
        "StartNode and CompleteAttempt",
        gives(run.past, start("A", 1), "NodeStarted A"),
        gives(
            run.played(started("A", 1)),
            complete("A", 1),
            "NodeOutcomeCommitted A succeeded",
            "TransitionActivated 0",
            "TransitionActivated 1",
        ),
    )
    other = Run(["A", node("D", "A"), "B"], ["A>B"])
    other.start("A")
    yield scenario(
        "RUN-006",
        "the order of consequences",
        gives(
            other.past,
            complete("A", 1),
            "NodeOutcomeCommitted A succeeded",
            "TransitionActivated 0",
            "NodeReady D dependencies",
        ),
        gives(
            other.past,
            complete("A", 1, "permanent_failure"),
            "NodeOutcomeCommitted A permanent_failure",
            "TransitionActivated 0",
            "NodeOutcomeCommitted D skipped",
        ),
    )
    run.run("A")
    yield scenario(
        "RUN-006",
        "StartNode and CompleteChild",
        gives(run.past, start("C", 2, child_run_id=child(1)), "ChildStarted C"),
        gives(
            run.played(fact("ChildStarted", node="C", attempt_id=attempt(2), attempt=1, child_run_id=child(1))),
            complete_child("C", 2, 1, output={"r": 1}),
            "ChildCompleted C",
            "NodeOutcomeCommitted C succeeded",
            "TransitionActivated 2",
        ),
    )
    run = Run([node("A", signals=["go"])])
    run.start("A")
    waiting = run.fork()
    waiting.wait("A", "go")
    digest = waiting.past.entries[-1].event["token_sha256"]
    common: Any = {"node": "A", "attempt_id": attempt(1)}
    yield scenario(
        "RUN-006",
        "OpenSignalWait, OpenTimerWait and DeliverSignal",
        gives(run.past, fact("OpenSignalWait", **common, name="go", token_sha256=digest), "SignalWaitOpened A"),
        gives(run.past, fact("OpenTimerWait", **common, deadline_ms=5), "TimerWaitOpened A"),
        gives(waiting.past, deliver("A", 1, "go"), "SignalAccepted A"),
        gives(waiting.past, deliver("A", 1, "stop"), "SignalRejected A"),
    )
    run = Run(["A", node("B", retry={"backoff": {"kind": "fixed", "delay_ms": 3}})])
    run.run("B", "retryable_failure")
    run.start("A")
    run.wait_until("A", 2)
    yield scenario(
        "RUN-006",
        "AdvanceTime",
        gives(run.past, advance(1), "VirtualTimeAdvanced"),
        gives(run.past, advance(9), "VirtualTimeAdvanced", "TimerFired A", "RetryReleased B"),
    )
    run = Run(["A", node("B", "A")])
    cancellation = fact("RequestCancellation", requester="somebody", reason="enough")
    yield scenario(
        "RUN-006",
        "RequestCancellation",
        gives(
            run.past,
            cancellation,
            "CancellationRequested",
            "NodeOutcomeCommitted A cancelled",
            "NodeOutcomeCommitted B cancelled",
            "RunCancelled",
        ),
        gives(run.past, start("A", 1), "NodeStarted A"),
    )
    yield scenario(
        "RUN-006",
        "AcquireRecovery and ReleaseRecovery",
        gives(run.past, fact("AcquireRecovery", owner=owner(1), epoch=2), "RecoveryAcquired"),
        gives(run.past + acquired(1, 2), fact("ReleaseRecovery", owner=owner(1), epoch=2), "RecoveryReleased"),
    )
    run = Run("A", version=3)
    run.run("A", "retryable_failure")
    yield scenario(
        "RUN-006",
        "Settle",
        gives(run.past, fact("Settle"), "RetryScheduled A", "RetryReleased A"),
        gives(run.past.on(NEWEST), advance(1), "VirtualTimeAdvanced"),
    )


def one_event_is_owed_at_most() -> Iterator[Scenario]:
    """RUN-007."""
    run = Run("AB", ["A>B"])
    run.start("A")
    past = run.played(ended("A", 1))
    yield scenario(
        "RUN-007",
        "a consequence is left out",
        refused(past.without(-1) + started("B", 2)),
        accepted(past + started("B", 2)),
    )
    yield scenario(
        "RUN-007",
        "a consequence comes twice",
        refused(past + fired(0, "A", 4)),
        accepted(past + started("B", 2)),
    )
    yield scenario(
        "RUN-007",
        "another command comes before the consequences",
        refused(past.without(-1).plus(acquired(1, 1), fired(0, "A", 4)), -2),
        accepted(past.plus(acquired(1, 1))),
    )
    yield scenario(
        "RUN-007",
        "a consequence that nobody owes",
        refused(run.past + ready("B", "dependencies")),
        refused(run.past + released("A", 2)),
        refused(run.past + closed("B")),
        refused(run.past + run_is("completed")),
        accepted(past),
    )
    run = Run("AB")
    yield scenario(
        "RUN-007",
        "consequences in another order",
        refused(run.past.swapped(2), 2),
        accepted(run.past),
    )


def a_history_is_whole_where_a_batch_ends() -> Iterator[Scenario]:
    """RUN-008."""
    run = Run("AB", ["A>B"])
    run.run("A")
    yield scenario(
        "RUN-008",
        "a history is cut inside a batch, and where one ends",
        unfinished(run.past.until(-1)),
        accepted(run.past),
        unfinished(run.past.until(1)),
        accepted(run.past.until(2)),
    )
    run.run("B")
    yield scenario(
        "RUN-008",
        "a history lacks its run fact, and has it",
        unfinished(run.past.until(-1)),
        accepted(run.past),
    )


def a_rejection_consumes_nothing() -> Iterator[Scenario]:
    """RUN-009."""
    run = Run(["P", node("Q", "P"), "R"], budgets={"max_attempts": 1})
    yield scenario(
        "RUN-009",
        "the attempt id of a start that was rejected",
        rejects(run.past, start("Q", 5), "not_ready"),
        gives(run.past, start("P", 5), "NodeStarted P"),
    )
    yield scenario(
        "RUN-009",
        "the budget of a start that was rejected",
        rejects(run.past, start("Q", 6), "not_ready"),
        gives(run.past, start("R", 7), "NodeStarted R"),
    )
    run = Run([node("P", signals=["go"]), node("Q", signals=["go"])])
    run.start("P")
    run.start("Q")
    run.wait("Q", "go")
    yield scenario(
        "RUN-009",
        "the id of a signal that came too early",
        rejects(run.past, deliver("P", 8, "go"), "no_open_wait"),
        gives(run.past, deliver("Q", 8, "go"), "SignalAccepted Q"),
    )


def a_state_follows_from_the_history_alone() -> Iterator[Scenario]:
    """RUN-010."""
    run = Run("PQRS", budgets={"max_attempts": 3})
    run.start("P")
    run.start("Q")
    half = run.past
    run.start("R")
    yield scenario(
        "RUN-010",
        "a history is replayed, and goes on",
        accepted(half),
        accepted(half),
        accepted(run.past, {"/nodes/S/status": "ready"}),
        refused(run.past + started("S", 4)),
    )
    run = Run("PQ")
    run.run("P")
    other = Run("PQ")
    other.run("Q", "blocked")
    yield scenario(
        "RUN-010",
        "two histories that begin alike, one after the other",
        accepted(run.past, {"/nodes/P/status": "succeeded", "/nodes/Q/status": "ready"}),
        accepted(other.past, {"/nodes/P/status": "ready", "/nodes/Q/status": "blocked"}),
        accepted(run.past, {"/nodes/P/status": "succeeded", "/nodes/Q/status": "ready"}),
    )


# Answers


def a_rejection_has_the_code_that_applies() -> Iterator[Scenario]:
    """RUN-029."""
    run = Run(["A", node("B", "A")])
    yield scenario(
        "RUN-029",
        "a command that is not allowed",
        rejects(run.past, start("B", 1), "not_ready"),
        gives(run.past, start("A", 1), "NodeStarted A"),
    )
    yield scenario(
        "RUN-029",
        "there is no run",
        rejects(NOTHING_YET, start("A", 1), "no_run"),
        gives(run.past, start("A", 1), "NodeStarted A"),
    )
    yield scenario(
        "RUN-029",
        "there is no such node",
        rejects(run.past, start("C", 1), "unknown_node"),
        rejects(run.past, deliver("C", 1, "go"), "unknown_node"),
        rejects(run.past, start("B", 1), "not_ready"),
    )
    run.run("A")
    run.run("B")
    yield scenario(
        "RUN-029",
        "the run has ended, and there is no such node either",
        rejects(run.past, start("C", 3), "run_terminal"),
        rejects(run.past, fact("Settle"), "run_terminal"),
        rejects(run.past, complete("A", 1), "already_committed"),
    )
    run = Run("AB", budgets={"max_elapsed_ms": 5})
    run.run("A")
    run.advance(5)
    yield scenario(
        "RUN-029",
        "the run has failed by a budget while a node is ready",
        rejects(run.past, start("B", 3), "run_terminal"),
        rejects(run.past, complete("A", 1, "blocked"), "conflicting_outcome"),
    )


def a_history_is_refused_at_its_first_wrong_event() -> Iterator[Scenario]:
    """RUN-030."""
    run = Run("AB")
    right = run.played(started("A", 1)) + started("B", 2)
    yield scenario(
        "RUN-030",
        "a wrong event and then a right one",
        refused(run.past.plus(ended("A", 1), started("A", 1)), 4),
        accepted(right),
    )
    yield scenario(
        "RUN-030",
        "two wrong events",
        refused(right.plus(started("A", 3), started("B", 4)), 6),
        accepted(right),
    )
    yield scenario(
        "RUN-030",
        "an event that changes nothing is not ignored",
        refused(right + advanced(0)),
        refused(right + ready("A")),
        refused(right + given_up(1, 1)),
        accepted(right + advanced(1)),
    )


def a_refusal_has_a_kind() -> Iterator[Scenario]:
    """RUN-031."""
    run = Run("A")
    yield scenario(
        "RUN-031",
        "what cannot be read, and what cannot be",
        refused(run.past + fact("NodePaused", node="A"), kind="incompatible"),
        refused(run.past + started("B", 1)),
        refused(run.past.on(6) + started("A", 1), kind="incompatible"),
        refused(run.past + fired(0, "A", 2)),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    a_history_begins_with_its_creation,
    the_specification_is_valid_and_has_its_hash,
    the_input_is_what_is_declared,
    a_run_is_created_once,
    a_command_is_answered_with_its_row,
    one_event_is_owed_at_most,
    a_history_is_whole_where_a_batch_ends,
    a_rejection_consumes_nothing,
    a_state_follows_from_the_history_alone,
    a_rejection_has_the_code_that_applies,
    a_history_is_refused_at_its_first_wrong_event,
    a_refusal_has_a_kind,
)
