"""Attempts, their inputs and the lifecycle of nodes: RUN-012 to RUN-021."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from perdure_conformance.reducer.histories import (
    Fact,
    History,
    accepts,
    attempt,
    child,
    child_started,
    closed,
    complete,
    complete_child,
    edge,
    ended,
    fact,
    node,
    ready,
    released,
    run_is,
    start,
    started,
    terminated,
    waits,
)
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.runs import SUB, child_node
from perdure_conformance.reducer.scenarios.scenario import (
    Scenario,
    accepted,
    gives,
    refused,
    rejects,
    scenario,
)

_ONE_ATTEMPT: Final = {"max_attempts": 1}
_EVIDENCE: Final = {"artifact_id": attempt(9), "byte_length": 1, "sha256": "0" * 64}


# What starts


def only_what_is_ready_starts() -> Iterator[Scenario]:
    """RUN-012."""
    run = Run(["A", node("B", "A")])
    yield scenario(
        "RUN-012",
        "a pending node is started",
        refused(run.past + started("B", 1)),
        accepted(run.past + started("A", 1)),
    )
    run = Run("AB")
    run.run("A")
    yield scenario(
        "RUN-012",
        "a node that has ended is started again",
        refused(run.past + started("A", 2)),
        accepted(run.past + started("B", 2)),
    )
    run.start("B")
    yield scenario(
        "RUN-012",
        "a running node is started again",
        refused(run.past + started("B", 3)),
        refused(run.past + started("B", 3, 2)),
        accepted(run.past),
    )
    run = Run([node("A", retry={"backoff": {"kind": "fixed", "delay_ms": 5}})])
    run.run("A", "retryable_failure")
    yield scenario(
        "RUN-012",
        "a node is started before its retry is released",
        refused(run.past + started("A", 2, 2)),
        accepted(run.played(fact("VirtualTimeAdvanced", now_ms=5)) + started("A", 2, 2)),
    )
    run = Run(["A", child_node("C")], children=SUB)
    yield scenario(
        "RUN-012",
        "a handler's node is started as a child run",
        refused(run.past + child_started("A", 1, 1)),
        accepted(run.past + child_started("C", 1, 1)),
    )
    yield scenario(
        "RUN-012",
        "a child's node is started without a child run",
        refused(run.past + started("C", 1)),
        accepted(run.past + started("A", 1)),
    )
    yield scenario(
        "RUN-012",
        "commands that start a node as what it is not",
        rejects(run.past, start("C", 1), "child_run_id_needed"),
        rejects(run.past, start("A", 1, child_run_id=child(1)), "not_a_child"),
        gives(run.past, start("C", 1, child_run_id=child(1)), "ChildStarted C"),
    )
    yield scenario(
        "RUN-012",
        "a node that there is not is started",
        refused(run.past + started("X", 1)),
        accepted(run.past + started("A", 1)),
    )


def attempt_ids_are_new() -> Iterator[Scenario]:
    """RUN-013."""
    run = Run(["A", "B", child_node("C")], children=SUB)
    run.start("A")
    yield scenario(
        "RUN-013",
        "two nodes with one attempt id",
        refused(run.past + started("B", 1)),
        accepted(run.past + started("B", 2)),
    )
    yield scenario(
        "RUN-013",
        "a child run with the attempt id of another node",
        refused(run.past + child_started("C", 1, 1)),
        accepted(run.past + child_started("C", 2, 1)),
    )
    run.end("A")
    yield scenario(
        "RUN-013",
        "the attempt id of a node that has ended",
        refused(run.past + started("B", 1)),
        accepted(run.past + started("B", 2)),
        rejects(run.past, start("B", 1), "attempt_id_used"),
    )
    run = Run("A")
    run.run("A", "retryable_failure")
    yield scenario(
        "RUN-013",
        "a retry with the attempt id of the attempt before",
        refused(run.past + started("A", 1, 2)),
        accepted(run.past + started("A", 2, 2)),
    )


# What ends


def outcomes_belong_to_the_active_attempt() -> Iterator[Scenario]:
    """RUN-014."""
    run = Run("ABC")
    run.start("A")
    run.start("B")
    yield scenario(
        "RUN-014",
        "the attempt of another node",
        refused(run.past + ended("B", 1)),
        accepted(run.past + ended("B", 2)),
    )
    yield scenario(
        "RUN-014",
        "an attempt that never started",
        refused(run.past + ended("A", 9)),
        accepted(run.past + ended("A", 1)),
        rejects(run.past, complete("A", 9), "not_active"),
    )
    yield scenario(
        "RUN-014",
        "an outcome of a ready node",
        refused(run.past + ended("C", 3)),
        accepted(run.past + ended("A", 1)),
    )
    run.end("A")
    for name, kind in (("the same", "succeeded"), ("another one", "blocked")):
        yield scenario(
            "RUN-014",
            f"an attempt has an outcome twice: {name}",
            refused(run.past + ended("A", 1, kind)),
            accepted(run.past + ended("B", 2, kind)),
        )
    run = Run("A")
    run.run("A", "retryable_failure")
    run.start("A")
    yield scenario(
        "RUN-014",
        "an outcome of the attempt before",
        refused(run.past + ended("A", 1) + run_is("completed"), -2),
        accepted(run.played(ended("A", 2))),
    )
    run = Run([node("A", signals=["go"]), "B"])
    run.start("A")
    yield scenario(
        "RUN-014",
        "an outcome of an attempt that waits",
        refused((run.past + waits("A", 1, "go")) + ended("A", 1)),
        accepted(run.past.plus(waits("A", 1, "go"), accepts("A", 1, 1, "go"), ended("A", 1))),
    )


def an_outcome_is_committed_once() -> Iterator[Scenario]:
    """RUN-015."""
    run = Run("AB")
    run.run("A", output={"go": 1})
    run.start("B")
    for name, command in (
        ("with another kind", complete("A", 1, "blocked")),
        ("with another output", complete("A", 1, output={"go": 2})),
        ("with an output that only looks alike", complete("A", 1, output={"go": True})),
        ("without its output", complete("A", 1)),
        ("under another node", complete("B", 1, output={"go": 1})),
    ):
        yield scenario(
            "RUN-015",
            f"an outcome again, {name}",
            rejects(run.past, command, "conflicting_outcome"),
            rejects(run.past, complete("A", 1, output={"go": 1}), "already_committed"),
        )
    run = Run("A")
    run.run("A", "cancelled")
    yield scenario(
        "RUN-015",
        "an outcome again, after the run has ended",
        rejects(run.past, complete("A", 1, "cancelled"), "already_committed"),
        rejects(run.past, complete("A", 1, "cancelled", reason="x"), "conflicting_outcome"),
    )
    run = Run([node("A", retry={"attempt_deadline_ms": 5})])
    run.start("A")
    run.advance(5)
    yield scenario(
        "RUN-015",
        "an outcome of an attempt that has expired",
        rejects(run.past, complete("A", 1), "conflicting_outcome"),
        gives(run.past, start("A", 2), "NodeStarted A"),
    )
    run = Run([child_node("C")], children=SUB)
    run.start("C")
    run.child_ends("C", r=1)
    for name, command in (
        ("of another child run", complete_child("C", 1, 2, output={"r": 1})),
        ("with another result", complete_child("C", 1, 1, "failed", {"r": 1})),
        ("with another output", complete_child("C", 1, 1, output={"r": 1, "s": 2})),
    ):
        yield scenario(
            "RUN-015",
            f"the end of a child run again, {name}",
            rejects(run.past, command, "conflicting_outcome"),
            rejects(run.past, complete_child("C", 1, 1, output={"r": 1}), "already_committed"),
        )


def no_attempt_is_skipped() -> Iterator[Scenario]:
    """RUN-016."""
    run = Run("AB")
    run.start("A")
    yield scenario(
        "RUN-016",
        "an attempt is skipped",
        refused(run.past + ended("A", 1, "skipped")),
        accepted(run.past + ended("A", 1, "cancelled")),
        rejects(run.past, complete("A", 1, "skipped"), "invalid_outcome"),
    )


# What is given


def inputs_are_looked_up() -> Iterator[Scenario]:
    """RUN-017."""
    nodes = [
        node("G", outputs=["why"]),
        node("W", outputs=["draft"], input_mapping={"why": {"node": "G", "output": "why"}}),
    ]
    edges = [edge("G>W", "changes_requested"), edge("W>G", "succeeded")]
    run = Run(nodes, edges, initial_nodes=["G"])
    for reason in ("first", "second"):
        run.run("G", "changes_requested", {"why": reason})
        run.start("W")
        if reason == "first":
            run.end("W")
    other = Run(nodes, edges, initial_nodes=["G"])
    other.run("G", "changes_requested", {"why": "first"})
    other.run("W")
    other.run("G", "changes_requested", {})
    yield scenario(
        "RUN-017",
        "what a loop brings the second time",
        accepted(run.past, {"/nodes/W/active/input": {"why": "second"}}),
        refused(other.past.plus(started("W", 4), ended("W", 4))),
        accepted(other.played(started("W", 4))),
    )
    mapped = {"y": {"node": "P", "output": "y"}}
    run = Run(
        [node("P", outputs=["y"]), node("D", "P", input={"x": 1}, artifacts={"z": _EVIDENCE}, input_mapping=mapped)]
    )
    run.run("P", "succeeded", {"y": 2})
    run.start("D")
    yield scenario(
        "RUN-017",
        "what a node is given itself, beside what is mapped",
        accepted(run.past, {"/nodes/D/active/input": {"x": 1, "y": 2}}),
    )
    yield from _of_a_prerequisite()
    yield from _of_any_node()


def _of_a_prerequisite() -> Iterator[Scenario]:
    mapped = {"x": {"node": "P", "output": "x"}}
    nodes = [
        node("P", outputs=["x"], max_activations=2),
        node("S", outputs=["x"]),
        node("D", "P", dependency_policy="all_completed", input_mapping=mapped),
    ]
    run = Run(nodes, [edge("P>P", "succeeded"), edge("S>D")], initial_nodes=["P", "S"])
    run.run("P", output={"x": 1})
    run.run("P", output={"x": 2})
    run.run("S", output={"x": 3})
    run.start("D")
    yield scenario(
        "RUN-017",
        "of a prerequisite the pinned outcome, of the activating node the activating one",
        accepted(run.past, {"/nodes/D/active/input": {"x": 1}}),
        accepted(run.past, {"/nodes/D/active/attempt_id": attempt(4)}),
    )
    nodes[2] = node("D", "P", dependency_policy="all_completed", input_mapping=mapped)
    run = Run(nodes, [edge("P>D", "succeeded"), edge("P>P", "succeeded"), edge("S>D")], initial_nodes=["P", "S"])
    run.run("P", output={"x": 1})
    run.run("D")
    run.run("P", output={"x": 2})
    run.start("D")
    yield scenario(
        "RUN-017",
        "of a prerequisite that activated the node the activating outcome",
        accepted(run.past, {"/nodes/D/active/input": {"x": 2}}),
        accepted(run.past, {"/nodes/D/active/attempt_id": attempt(4)}),
    )


def _of_any_node() -> Iterator[Scenario]:
    nodes: list[Any] = [
        node("X", outputs=["x"]),
        "Y",
        node("M", input_mapping={"x": {"node": "X", "output": "x"}}),
    ]
    edges = [edge("X>X", "succeeded"), edge("X>M", "changes_requested"), edge("Y>M")]
    run = Run(nodes, edges, initial_nodes=["X", "Y"])
    run.run("X", output={"x": 1})
    run.run("X", output={"x": 2})
    run.run("Y")
    run.start("M")
    before = run.past
    run.run("X", output={"x": 3})
    again = run.fork()
    again.end("M", "retryable_failure")
    again.start("M")
    yield scenario(
        "RUN-017",
        "of another node the last outcome, as it was when the attempt started",
        accepted(before, {"/nodes/M/active/input": {"x": 2}}),
        accepted(run.past, {"/nodes/M/active/input": {"x": 2}}),
        accepted(again.past, {"/nodes/M/active/input": {"x": 3}}),
    )


def a_missing_input_fails() -> Iterator[Scenario]:
    """RUN-018."""
    mapped = {"x": {"node": "A", "output": "x"}}
    nodes = [node("A", outputs=["x"]), node("B", "A", input_mapping=mapped), node("D", "B")]
    run = Run(nodes)
    run.run("A", output={"y": 1})
    given = Run(nodes)
    given.run("A", output={"x": None})
    failed = run.played(started("B", 2))
    yield scenario(
        "RUN-018",
        "a start without an input is followed by a failure, and what that brings",
        refused(run.past.plus(started("B", 2), ended("B", 2))),
        accepted(failed),
        refused(failed.without(-2)),
        accepted(given.past + started("B", 2)),
    )
    yield scenario(
        "RUN-018",
        "a missing input fails for good",
        refused(failed.but(-3, outcome={"kind": "retryable_failure", "reason": ""}), -3),
        accepted(failed),
    )
    work = {"workflow": "sub@1", "policy": "propagate"}
    nodes[1] = node("B", "A", child=work, input_mapping=mapped)
    run = Run(nodes, children={"sub@1": {"nodes": [node("x")], "inputs": ["x"]}})
    run.run("A", output={"y": 1})
    child_failed = run.played(child_started("B", 2, 1))
    yield scenario(
        "RUN-018",
        "the start of a child run without an input",
        refused(run.past.plus(child_started("B", 2, 1), *_child_ends())),
        accepted(child_failed),
    )


def _child_ends() -> list[Fact]:
    common: Any = {"node": "B", "attempt_id": attempt(2), "child_run_id": child(1)}
    return [fact("ChildCompleted", **common, result="failed")]


def reasons_are_free() -> Iterator[Scenario]:
    """RUN-019."""
    run = Run(["A", node("B", "A")])
    run.start("A")
    past = run.played(ended("A", 1, "blocked"))
    yield _reason("of a closure", past, -2)
    run = Run(["A", node("B", "A")])
    yield _reason("of a cancellation", run.played(*_cancellation()), -2)
    run = Run([node("A", retry={"attempt_deadline_ms": 5})])
    run.start("A")
    yield _reason("of an expiry", run.played(fact("VirtualTimeAdvanced", now_ms=5)), 6)
    run = Run([child_node("C")], children=SUB)
    run.start("C")
    ends: Any = {"node": "C", "attempt_id": attempt(1), "child_run_id": child(1)}
    yield _reason("of a child's failure", run.played(fact("ChildCompleted", **ends, result="failed")), -2)
    done = run.played(fact("ChildCompleted", **ends, result="completed", output={"r": 1}))
    yield scenario(
        "RUN-019",
        "the output that a child gives is not free",
        refused(done.but(-2, outcome={"kind": "succeeded", "output": {"go": 2}}), -2),
        refused(done.but(-2, outcome={"kind": "succeeded"}), -2),
        accepted(done),
    )
    mapped = {"x": {"node": "A", "output": "x"}}
    run = Run([node("A", outputs=["x"]), node("B", "A", input_mapping=mapped)])
    run.run("A")
    yield _reason("of a missing value", run.played(started("B", 2)), -2)


def _cancellation() -> list[Fact]:
    return [fact("CancellationRequested", requester="somebody", reason="x", now_ms=0, policy="cascade")]


def _reason(name: str, past: History, sequence: int) -> Scenario:
    """Return a scenario of an outcome that the kernel writes: any reason is right, another kind is not."""
    at = sequence if sequence > 0 else len(past) + 1 + sequence
    outcome: Any = past.entries[at - 1].event["outcome"]
    other = "blocked" if outcome["kind"] != "blocked" else "cancelled"
    return scenario(
        "RUN-019",
        f"a reason {name}",
        refused(past.but(at, outcome={"kind": other, "reason": ""}), at),
        refused(past.but(at, outcome={**outcome, "reason": "x" * 4_097}), at),
        refused(past.but(at, outcome={**outcome, "evidence": [_EVIDENCE]}), at),
        accepted(past.but(at, outcome={**outcome, "reason": "in other words"})),
        accepted(past.but(at, outcome={**outcome, "reason": ""})),
    )


# The lifecycle


def statuses_change_by_the_table() -> Iterator[Scenario]:
    """RUN-020."""
    run = Run([node("A", signals=["go"]), node("B", "A")])
    yield scenario(
        "RUN-020",
        "pending to ready, by NodeReady",
        refused(run.past + ready("B", "dependencies")),
        accepted(run.past, {"/nodes/A/status": "ready", "/nodes/B/status": "pending"}),
    )
    yield scenario(
        "RUN-020",
        "ready to waiting is no row, and to running is",
        refused(run.past + waits("A", 1, "go")),
        accepted(run.past + started("A", 1), {"/nodes/A/status": "running"}),
    )
    run.start("A")
    waiting = run.past + waits("A", 1, "go")
    yield scenario(
        "RUN-020",
        "running to waiting, and back",
        refused(waiting + waits("A", 1, "go")),
        accepted(waiting, {"/nodes/A/status": "waiting"}),
        accepted(waiting + accepts("A", 1, 1, "go"), {"/nodes/A/status": "running"}),
    )
    run = Run(["A", "B"])
    run.run("A", "blocked")
    yield scenario(
        "RUN-020",
        "a node that has ended is ready again by nothing but an edge",
        refused(run.past + ready("A", "queued")),
        refused(run.past + released("A", 2)),
        accepted(run.past, {"/nodes/A/status": "blocked", "/nodes/B/status": "ready"}),
    )
    for kind, status in (
        ("succeeded", "succeeded"),
        ("blocked", "blocked"),
        ("cancelled", "cancelled"),
        ("permanent_failure", "failed"),
    ):
        run = Run(["A", "B"], [edge("B>A")], initial_nodes=["A", "B"])
        run.run("A", kind)
        before = run.past
        run.run("B")
        yield scenario(
            "RUN-020",
            f"{status} to ready, by TransitionActivated",
            accepted(before, {"/nodes/A/status": status}),
            accepted(run.past, {"/nodes/A/status": "ready"}),
            refused(before + terminated("A")),
        )
    for kind, reached in (("blocked", "blocked"), ("cancelled", "cancelled"), ("permanent_failure", "skipped")):
        run = Run(["A", "C", node("B", "A")])
        run.start("A")
        past = run.played(ended("A", 1, kind))
        yield scenario(
            "RUN-020",
            f"pending to {reached}, by closing",
            refused(run.past + closed("B", reached)),
            accepted(past, {"/nodes/B/status": reached}),
        )


def ending_outcomes_give_statuses() -> Iterator[Scenario]:
    """RUN-021."""
    for kind, status in (
        ("succeeded", "succeeded"),
        ("retryable_failure", "failed"),
        ("permanent_failure", "failed"),
        ("blocked", "blocked"),
        ("cancelled", "cancelled"),
    ):
        run = Run([node("A", retry=_ONE_ATTEMPT), "B"])
        run.start("A")
        before = run.past
        run.end("A", kind)
        yield scenario(
            "RUN-021",
            f"a node ends with {kind}",
            accepted(before, {"/nodes/A/status": "running"}),
            accepted(run.past, {"/nodes/A/status": status}),
        )
    run = Run(["A", "B"], [edge("B>A")], initial_nodes=["A", "B"])
    run.run("A", "changes_requested")
    yield scenario(
        "RUN-021",
        "a node ends with changes_requested",
        accepted(run.past, {"/nodes/A/status": "changes_requested"}),
        refused(run.past + started("A", 2)),
    )
    for kind, status, result in (
        ("NodeSucceeded", "succeeded", "completed"),
        ("NodeFailed", "failed", "failed"),
        ("NodeBlocked", "blocked", "blocked"),
    ):
        run = Run("A", version=1)
        run.start("A")
        members = {} if kind == "NodeSucceeded" else {"reason": ""}
        past = run.past + fact(kind, node="A", attempt_id=attempt(1), **members)
        yield scenario(
            "RUN-021",
            f"a node ends with {kind}",
            refused(past + run_is("cancelled")),
            accepted(past + run_is(result), {"/nodes/A/status": status}),
        )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    only_what_is_ready_starts,
    attempt_ids_are_new,
    outcomes_belong_to_the_active_attempt,
    an_outcome_is_committed_once,
    no_attempt_is_skipped,
    inputs_are_looked_up,
    a_missing_input_fails,
    reasons_are_free,
    statuses_change_by_the_table,
    ending_outcomes_give_statuses,
)
