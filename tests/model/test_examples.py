"""The examples of `docs/spec/kernel.md`, played as they stand there."""

from __future__ import annotations

import pytest
from tests.model.playing import RUN, Player, document, edge, node, uuid

from perdure.kernel.errors import Corruption
from perdure.kernel.events import AnyEvent, NodeFailed, NodeOutcomeCommitted, NodeReady, NodeStarted, RunFailed
from perdure.kernel.identity import AttemptId, NodeId
from perdure.kernel.outcomes import Unsuccessful
from perdure.kernel.reduce import reduce
from perdure.kernel.state import State
from perdure.kernel.upcast import upcast


def test_1_changes_requested_without_a_way_back() -> None:
    run = Player(document("AB", [edge("A>B", "changes_requested")]))
    assert run.run("A", "changes_requested") == [
        "NodeOutcomeCommitted A changes_requested",
        "TransitionActivated 0",
        "NodeTerminated A no_correction",
    ]
    assert run.status("A") == "failed"
    assert run.run("B") == ["NodeOutcomeCommitted B succeeded", "RunFailed"]


def test_1_changes_requested_with_a_way_back() -> None:
    edges = [edge("A>B", "changes_requested"), edge("B>A", "succeeded")]
    run = Player(document("AB", edges, initial_nodes=["A"]))
    assert run.run("A", "changes_requested") == ["NodeOutcomeCommitted A changes_requested", "TransitionActivated 0"]
    assert run.status("A") == "changes_requested"
    assert run.run("B") == ["NodeOutcomeCommitted B succeeded", "TransitionActivated 1"]
    assert run.run("A") == ["NodeOutcomeCommitted A succeeded", "RunCompleted"]


def test_2_a_merge_by_edges_is_activated_twice() -> None:
    run = Player(document("ABM", [edge("A>B"), edge("A>M"), edge("B>M")]))
    run.run("A")
    run.start("M")
    assert run.run("B") == ["NodeOutcomeCommitted B succeeded", "TransitionActivated 2"]
    assert run.end("M") == ["NodeOutcomeCommitted M succeeded", "NodeReady M queued"]
    assert run.run("M") == ["NodeOutcomeCommitted M succeeded", "RunCompleted"]


def test_3_nothing_fires_into_a_closed_node() -> None:
    run = Player(document(["X", "Y", node("M", dependencies=["X"])], [edge("Y>M")]))
    used = run.now.transitions_used
    assert run.run("X", "permanent_failure") == [
        "NodeOutcomeCommitted X permanent_failure",
        "NodeOutcomeCommitted M skipped",
    ]
    assert run.run("Y") == ["NodeOutcomeCommitted Y succeeded", "RunFailed"]
    assert run.now.transitions_used == used


def test_4_a_dependent_of_a_skipped_node_runs() -> None:
    nodes = ["I", "X", "Y", node("D", dependencies=["Y"], dependency_policy="all_completed"), "Z"]
    run = Player(document(nodes, [edge("I>X", "succeeded"), edge("I>Y", "permanent_failure"), edge("D>Z")]))
    assert run.run("I") == [
        "NodeOutcomeCommitted I succeeded",
        "TransitionActivated 0",
        "NodeOutcomeCommitted Y skipped",
        "NodeReady D dependencies",
    ]
    assert run.run("D") == ["NodeOutcomeCommitted D succeeded", "TransitionActivated 2"]
    run.run("Z")
    assert run.run("X") == ["NodeOutcomeCommitted X succeeded", "RunCompleted"]


def test_5_a_loop_behind_an_edge_that_is_not_taken_is_skipped() -> None:
    edges = [edge("I>L1", "permanent_failure"), edge("L1>L2"), edge("L2>L1")]
    run = Player(document(["I", "L1", "L2"], edges, initial_nodes=["I"]))
    assert run.run("I") == [
        "NodeOutcomeCommitted I succeeded",
        "NodeOutcomeCommitted L1 skipped",
        "NodeOutcomeCommitted L2 skipped",
        "RunCompleted",
    ]


def test_6_a_prerequisite_that_is_repaired_releases() -> None:
    nodes = ["P", "F", node("D", dependencies=["P"])]
    run = Player(document(nodes, [edge("P>F", "permanent_failure"), edge("F>P")], initial_nodes=["P"]))
    assert run.run("P", "permanent_failure") == ["NodeOutcomeCommitted P permanent_failure", "TransitionActivated 0"]
    assert run.run("F") == ["NodeOutcomeCommitted F succeeded", "TransitionActivated 1"]
    assert run.run("P") == ["NodeOutcomeCommitted P succeeded", "NodeReady D dependencies"]
    assert run.run("D")[-1] == "RunCompleted"


def test_7_the_attempts_of_a_run() -> None:
    budgets = {"max_attempts": 1}
    assert Player(document("A", budgets=budgets)).run("A")[-1] == "RunCompleted"
    run = Player(document(["A", node("B", dependencies=["A"])], budgets=budgets))
    run.run("A")
    assert run.start("B") == ["BudgetExhausted attempts", "RunFailed"]


RETRY = {"max_attempts": 2, "backoff": {"kind": "fixed", "delay_ms": 3}, "attempt_deadline_ms": 5}


def test_8_delays_count_from_now() -> None:
    run = Player(document([node("A", retry=RETRY)]))
    run.start("A")
    assert run.advance(20) == [
        "VirtualTimeAdvanced",
        "AttemptDeadlineExpired A",
        "NodeOutcomeCommitted A retryable_failure",
        "RetryScheduled A",
    ]
    assert run.now.nodes[0].retry_ms == 23
    assert run.advance(22) == ["VirtualTimeAdvanced"]
    assert run.advance(23) == ["VirtualTimeAdvanced", "RetryReleased A"]


def test_8_the_elapsed_limit_comes_after() -> None:
    run = Player(document([node("A", retry=RETRY)], budgets={"max_elapsed_ms": 10}))
    run.start("A")
    assert run.advance(20)[-3:] == ["RetryScheduled A", "BudgetExhausted elapsed", "RunFailed"]
    assert run.status("A") == "retry_pending"


def test_9_a_correction_loop_is_not_bounded_by_attempts() -> None:
    edges = [edge("A>B", "changes_requested"), edge("B>A")]
    run = Player(document([node("A", retry={"max_attempts": 3}), "B"], edges, initial_nodes=["A"]))
    for _ in range(5):
        run.run("A", "changes_requested")
        run.run("B")
    assert run.run("A")[-1] == "RunCompleted"
    assert (run.now.attempts_used, run.now.transitions_used) == (11, 11)


def history_1(kind: str) -> list[AnyEvent]:
    created = Player({**document("AB"), "schema_version": 1}).history[0]
    a, b = NodeId("A"), NodeId("B")
    ended: AnyEvent = (
        NodeFailed(node=a, attempt_id=AttemptId(uuid(1)), reason="")
        if kind == "NodeFailed"
        else NodeOutcomeCommitted(
            node=a, attempt_id=AttemptId(uuid(1)), outcome=Unsuccessful(kind="permanent_failure", reason="")
        )
    )
    started = [NodeStarted(node=name, attempt_id=AttemptId(uuid(at)), attempt=1) for at, name in ((1, a), (2, b))]
    return [
        created,
        NodeReady(node=a, cause="initial"),
        NodeReady(node=b, cause="initial"),
        *started,
        ended,
        RunFailed(),
    ]


def folded(history: list[AnyEvent], version: int) -> State:
    state: State | None = None
    for event in history:
        state = reduce(state, event, version=version)
    assert state is not None
    return state


def test_10_the_immediate_rule_of_version_1() -> None:
    assert folded(history_1("NodeFailed"), 1).status == "failed"
    with pytest.raises(Corruption) as caught:
        folded(history_1("NodeOutcomeCommitted"), 2)
    assert caught.value.code == "nothing_owed"
    assert upcast(history_1("NodeFailed")[-2]) == history_1("NodeOutcomeCommitted")[-2]


def test_11_a_queue_that_nothing_will_ever_take() -> None:
    nodes = ["I", "X", node("M", dependencies=["X"])]
    run = Player(document(nodes, [edge("I>M"), edge("M>X")], initial_nodes=["I"]))
    assert run.run("I") == [
        "NodeOutcomeCommitted I succeeded",
        "TransitionActivated 0",
        "NodeOutcomeCommitted X skipped",
        "NodeOutcomeCommitted M skipped",
        "RunCompleted",
    ]


def test_12_the_first_ending_outcome_releases() -> None:
    nodes = [node("P", max_activations=2), node("D", dependencies=["P"], dependency_policy="all_completed")]
    run = Player(document(nodes, [edge("P>P", "succeeded")], initial_nodes=["P"]))
    assert run.run("P") == ["NodeOutcomeCommitted P succeeded", "TransitionActivated 0", "NodeReady D dependencies"]
    run.run("D")
    assert run.run("P") == ["NodeOutcomeCommitted P succeeded", "RunCompleted"]


def test_13_cancellation_propagates_before_a_skip() -> None:
    nodes = ["A", "B", node("C", dependencies=["B", "A"])]
    edges = [edge("C>A", "blocked"), edge("A>B", {"field": "go", "equals": 0})]
    edges[1]["when"] = {"field": "go", "equals": 0}
    run = Player(document(nodes, edges, initial_nodes=["A"]))
    assert run.run("A", "cancelled") == [
        "NodeOutcomeCommitted A cancelled",
        "NodeOutcomeCommitted B skipped",
        "NodeOutcomeCommitted C cancelled",
        "RunCancelled",
    ]


def test_14_an_activation_that_waits_goes_first() -> None:
    edges = [edge("B>A"), edge("A>A", "succeeded")]
    run = Player(document("AB", edges, initial_nodes=["A", "B"]))
    run.start("A")
    run.run("B")
    source = run.now.nodes[1].outcome
    assert run.end("A") == ["NodeOutcomeCommitted A succeeded", "TransitionActivated 1", "NodeReady A queued"]
    assert run.now.nodes[0].activation == (source, 0)


def test_15_a_node_is_blocked_though_something_lives() -> None:
    nodes = [
        "K",
        "L",
        node("P", dependencies=["K", "L"], dependency_policy="any_succeeded"),
        node("D", dependencies=["P"]),
    ]
    run = Player(document(nodes))
    run.start("L")
    run.run("K")
    assert run.run("P", "blocked") == ["NodeOutcomeCommitted P blocked", "NodeOutcomeCommitted D blocked"]
    assert run.status("L") == "running"


def test_16_an_attempt_has_its_full_time() -> None:
    run = Player(document([node("A", retry={"attempt_deadline_ms": 5})]))
    run.advance(3_600_000)
    run.start("A")
    assert run.now.nodes[0].deadline_ms == 3_600_005
    assert run.now.run_id == RUN
