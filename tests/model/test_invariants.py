"""Each invariant is kept by a state that was played, and broken by one that differs from it in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.model.playing import Player, document, edge, node, outcome, uuid

from perdure.kernel.identity import AttemptId, Name, NodeId, RunId, SignalId
from perdure.kernel.invariants import INVARIANTS, pinned, violations
from perdure.kernel.queues import added
from perdure.kernel.state import (
    Agenda,
    AttemptState,
    ComponentState,
    Received,
    SignalWait,
    State,
    Tally,
    TimerWait,
)
from perdure.kernel.values import Digest


def played() -> Player:
    """Return a run in which something of everything is: what each node does is in its name."""
    child = {"nodes": [node("x")]}
    call = {"workflow": "sub@1", "policy": "propagate"}
    nodes = [
        node("done", outputs=["go"]),
        node("running", retry={"attempt_deadline_ms": 50}),
        node("waiting", signals=["s"]),
        node("retry", retry={"max_attempts": 2, "backoff": {"kind": "fixed", "delay_ms": 9}}),
        node("child", child=call),
        node("returned", child=call),
        node("busy", max_activations=2),
        node("skipped"),
        node("released", dependencies=["done", "returned"], dependency_policy="any_succeeded"),
        node("held", dependencies=["running"]),
        node("free"),
    ]
    edges = [edge("done>busy"), edge("done>skipped", "blocked")]
    first = ["done", "running", "waiting", "retry", "child", "returned", "busy", "free"]
    run = Player(
        document(nodes, edges, initial_nodes=first, children={"sub@1": child}, budgets={"max_transitions": 40})
    )
    for name in ("done", "running", "waiting", "retry", "busy"):
        run.start(name)
    for name in ("child", "returned"):
        run.start(name, child=True)
    run.wait("waiting", "s")
    run.deliver("waiting", "s", signal_id=uuid(70))
    run.wait("waiting", "s", deadline_ms=40)
    run.end("done", output={"go": 1})
    run.end("retry", "retryable_failure")
    run.child_ends("returned", "completed")
    return run


RUN = played()
STATE = RUN.now
AT = {str(name): position for name, position in STATE.plan.positions.items()}
DONE, SKIPPED = (STATE.nodes[AT[name]].outcome for name in ("done", "skipped"))
assert DONE is not None
RUNNING, RETURNED = (next(name for name, attempt in STATE.attempts.items() if attempt.node == AT[of])
                     for of in ("running", "returned"))  # fmt: skip
FIRST = next(iter(STATE.child_runs))

Edit = Callable[[State], State]


def of_node(name: str, **members: Any) -> Edit:
    """Return how a state is changed in one node."""
    position = AT[name]
    return lambda state: replace(state, nodes=state.nodes.set(position, replace(state.nodes[position], **members)))


def of_attempt(name: AttemptId, **members: Any) -> Edit:
    return lambda state: replace(state, attempts=state.attempts.set(name, replace(state.attempts[name], **members)))


def of_run(**members: Any) -> Edit:
    return lambda state: replace(state, **members)


def of_part(**members: int) -> Edit:
    def changed(state: State) -> State:
        number = state.plan.component[AT["busy"]]
        part: ComponentState = replace(state.components[number], **members)
        return replace(state, components=state.components.set(number, part))

    return changed


GAIN = Received(SignalId(uuid(71)), Name("s"), None)
ENDED = STATE.attempts[RETURNED].completed
assert ENDED is not None

BROKEN: list[tuple[int, Edit]] = [
    (1, of_run(outcomes=STATE.outcomes.set(STATE.sequence + 1, outcome("blocked")))),
    (1, of_run(outcomes=STATE.outcomes.set(1, outcome("blocked")))),
    (1, of_attempt(RETURNED, outcome=DONE)),
    (1, of_attempt(RETURNED, outcome=2)),
    (1, of_run(attempts_used=STATE.attempts_used + 1)),
    (2, of_run(transitions_used=41)),
    (2, of_run(attempts_used=10_001)),
    (3, of_node("running", attempts=0)),
    (3, of_node("retry", attempts=2)),
    (3, of_node("free", attempts=3)),
    (3, of_node("done", attempts=4)),
    (4, of_node("running", status="ready")),
    (4, of_node("free", status="running")),
    (4, of_node("waiting", wait=None)),
    (4, of_node("running", wait=TimerWait(60))),
    (4, of_node("free", deadline_ms=50)),
    (4, of_node("running", retry_ms=9)),
    (5, of_node("running", attempt_id=AttemptId(uuid(1)))),
    (5, of_node("running", attempt_id=RETURNED)),
    (5, of_node("running", attempt_id=STATE.nodes[AT["busy"]].attempt_id)),
    (5, of_run(attempts=STATE.attempts.set(AttemptId(uuid(1)), AttemptState(0)))),
    (6, of_run(child_runs=STATE.child_runs.set(STATE.run_id, AT["child"]))),
    (6, of_run(child_runs=STATE.child_runs.set(RunId(uuid(1)), AT["done"]))),
    (6, of_attempt(RETURNED, completed=replace(ENDED, child_run_id=RunId(uuid(1))))),
    (6, of_attempt(RETURNED, outcome=None)),
    (6, of_node("child", child_run_id=None)),
    (6, of_node("child", child_run_id=ENDED.child_run_id)),
    (6, of_node("running", child_run_id=FIRST)),
    (7, of_node("child", wait=TimerWait(9))),
    (7, of_node("child", resolved=STATE.nodes[AT["waiting"]].resolved)),
    (7, of_node("waiting", wait=SignalWait(Name("t"), Digest(""), 40))),
    (7, of_node("waiting", resolved=STATE.nodes[AT["waiting"]].resolved.set(1, GAIN))),
    (8, of_node("busy", queue=added(None, (DONE, 1)))),
    (8, of_node("busy", queue=added(None, (DONE, 2)))),
    (8, of_node("busy", activation=(2, 0))),
    (8, of_node("busy", activations=1)),
    (8, of_node("busy", activations=3)),
    (8, of_node("free", activations=0)),
    (9, of_node("done", queue=added(None, (DONE, 0)))),
    (10, of_node("done", outcome=None)),
    (10, of_node("skipped", closed=True, outcome=None)),
    (10, of_node("done", outcome=2)),
    (10, of_node("done", outcome=STATE.nodes[AT["retry"]].outcome)),
    (10, of_node("skipped", closed=False)),
    (10, of_node("done", closed=True)),
    (10, of_node("done", status="failed")),
    (10, of_node("done", status="pending")),
    (10, of_run(outcomes=STATE.outcomes.set(DONE, outcome("skipped")))),
    (10, of_run(outcomes=STATE.outcomes.set(STATE.nodes[AT["retry"]].outcome or 0, outcome("blocked")))),
    (11, of_node("released", released=None)),
    (11, of_node("held", attempts=1)),
    (11, of_node("released", released=(2, 0))),
    (11, of_node("released", released=(STATE.nodes[AT["retry"]].outcome, 0))),
    (12, of_node("free", status="pending")),
    (12, of_node("released", status="pending", released=None)),
    (13, of_node("running", closed=True)),
    (13, of_node("skipped", queue=added(None, (DONE, 1)))),
    (14, of_node("held", tally=Tally(unfinished=0, succeeded=1))),
    (14, of_node("held", tally=None)),
    (14, of_node("free", tally=Tally(unfinished=0))),
    (15, of_part(live=0)),
    (15, of_part(live=2)),
    (16, of_run(statuses=STATE.statuses.set("ready", 9))),
    (17, of_node("running", deadline_ms=51)),
    (17, of_node("waiting", wait=SignalWait(Name("s"), Digest(""), 41))),
    (17, of_node("retry", retry_ms=8)),
    (17, of_run(due=None)),
    (18, of_run(agenda=Agenda(judging=True))),
    (18, of_run(status="completed")),
    (18, of_run(status="blocked")),
    (18, of_run(status="cancelled")),
]


@pytest.mark.parametrize(("number", "edit"), BROKEN, ids=[f"{at}-{number}" for at, (number, _) in enumerate(BROKEN)])
def test_an_invariant_is_broken_by_one_edit(number: int, edit: Edit) -> None:
    assert violations(STATE) == []
    found = violations(edit(STATE))
    assert str(number) in {said.partition(":")[0] for said in found}, found


def test_each_invariant_is_broken_here_and_told_in_the_order_of_the_numbers() -> None:
    assert {number for number, _ in BROKEN} == set(INVARIANTS) - {19}
    assert list(INVARIANTS) == list(range(1, 20))
    worst = STATE
    for _, edit in BROKEN[4::13]:
        worst = edit(worst)
    told = [int(said.partition(":")[0]) for said in violations(worst)]
    assert told == sorted(told)
    assert len(set(told)) > 3


@pytest.mark.parametrize(("oldest", "is_broken"), [(5, True), (4, True), (3, False)])
def test_budgets_hold_for_runs_that_began_with_them(oldest: int, is_broken: bool) -> None:
    over = replace(STATE, transitions_used=41, oldest=oldest)
    assert violations(replace(over, transitions_used=40)) == []
    assert bool(violations(over)) == is_broken


def test_a_run_that_ended_otherwise_may_leave_its_nodes() -> None:
    assert violations(replace(STATE, status="failed")) == []
    assert violations(replace(STATE, status="blocked", version=1)) == []
    assert RUN.cancel()[-1] == "RunCancelled"
    assert violations(RUN.now) == []


def test_a_run_whose_nodes_have_ended_has_ended() -> None:
    run = Player(document(["A"]))
    run.run("A")
    assert violations(run.now) == []
    goes_on = violations(replace(run.now, status="running"))
    assert [said.partition(":")[0] for said in goes_on] == ["18", "19"]


def test_nothing_is_stuck() -> None:
    """A waits for changes that cannot come: an older history may leave that to Settle, a newer one may not."""
    run = Player(document(["A"]))
    run.start("A")
    run.end("A", "changes_requested")
    position = run.now.plan.positions[NodeId("A")]
    asking = replace(run.now.nodes[position], status="changes_requested")
    stuck = replace(run.now, nodes=run.now.nodes.set(position, asking), status="running", version=3, oldest=3)
    stuck = replace(stuck, statuses=stuck.statuses.set("failed", 0).set("changes_requested", 1))
    assert violations(stuck) == []
    assert violations(replace(stuck, oldest=4)) == ["19: nothing is live, and the run has not ended"]


def test_what_is_pinned_are_the_outcomes_that_there_were() -> None:
    assert pinned(STATE, AT["released"]) == {AT["done"]: DONE}
    assert pinned(STATE, AT["held"]) == {}
