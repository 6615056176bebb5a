"""Which events may open a batch: each refusal and each contradiction, with a twin one edit away that is accepted."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.model.playing import RUN, Player, document, edge, node, outcome, uuid

from perdure.kernel import creation
from perdure.kernel.changes import applied
from perdure.kernel.commands import (
    AcquireRecovery,
    CompleteChild,
    CreateRun,
    DeliverSignal,
    Rejection,
    Settle,
    StartNode,
    token_digest,
)
from perdure.kernel.consequences import owed
from perdure.kernel.decide import decide
from perdure.kernel.errors import Corruption, Incompatible
from perdure.kernel.events import (
    BudgetExhausted,
    CancellationRequested,
    CancelTarget,
    ChildCompleted,
    ChildStarted,
    NodeOutcomeCommitted,
    NodeReady,
    NodeStarted,
    RecoveryAcquired,
    RecoveryReleased,
    RetryReleased,
    RunCancelled,
    RunCompleted,
    RunCreated,
    SignalAccepted,
    SignalRejected,
    SignalWaitOpened,
    TimerWaitOpened,
    VirtualTimeAdvanced,
)
from perdure.kernel.identity import AttemptId, Name, NodeId, OwnerId, RunId, SignalId
from perdure.kernel.liveness import changed
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.state import Agenda, State


def played() -> Player:
    """Return a run at time 10: R is ready, W waits, H and its attempt run, D is due at 10, K and L are children."""
    child = {"nodes": ["x"]}
    call = {"workflow": "c@1", "policy": "propagate"}
    nodes = ["R", node("W", signals=["s"]), node("H", signals=["s"]), node("D", retry={"attempt_deadline_ms": 10})]
    whole = document([*nodes, node("K", child=call), node("L", child=call)], children={"c@1": child_of(child)})
    run = Player(whole, ancestors=(RunId(uuid(2)),))
    for name in "WHD":
        run.start(name)
    run.start("K", child=True)
    run.wait("W", "s")
    run.deliver("W", "s", token="guess", signal_id=uuid(70))
    run.do(AcquireRecovery(owner=OwnerId(uuid(90)), epoch=3))
    assert run.now.now_ms == 0
    return run


def child_of(definition: dict[str, Any]) -> dict[str, Any]:
    return {**definition, "nodes": [node(name) for name in definition["nodes"]]}


RUNNING = played()
STATE = RUNNING.now
DUE: State = replace(STATE, now_ms=10)
W, H, D, K = (RUNNING.attempt(name) for name in "WHDK")
CHILD = STATE.nodes[4].child_run_id
assert CHILD is not None
FRESH, TOKEN, OWNER = AttemptId(uuid(5_000)), token_digest("secret"), OwnerId(uuid(90))
FRESH_RUN, USED = RunId(uuid(6_000)), SignalId(uuid(70))

START = NodeStarted(node=NodeId("R"), attempt_id=FRESH, attempt=1)
CALL = ChildStarted(node=NodeId("L"), attempt_id=FRESH, attempt=1, child_run_id=FRESH_RUN)
END = NodeOutcomeCommitted(node=NodeId("H"), attempt_id=H, outcome=outcome("succeeded"))
RETURN = ChildCompleted(node=NodeId("K"), attempt_id=K, child_run_id=CHILD, result="failed")
WAIT = SignalWaitOpened(node=NodeId("H"), attempt_id=H, name=Name("s"), token_sha256=TOKEN, deadline_ms=1)
TIMER = TimerWaitOpened(node=NodeId("H"), attempt_id=H, deadline_ms=1)
ACCEPT = SignalAccepted(node=NodeId("W"), attempt_id=W, signal_id=SignalId(uuid(71)), name=Name("s"))
REJECT = SignalRejected(node=NodeId("W"), attempt_id=W, signal_id=SignalId(uuid(71)), reason="wrong_token")
TARGETS = tuple(
    CancelTarget(node=NodeId(name), attempt_id=attempt, child_run_id=CHILD if name == "K" else None)
    for name, attempt in (("W", W), ("H", H), ("D", D), ("K", K))
)
CANCEL = CancellationRequested(requester="x", reason="", now_ms=0, policy="cascade", targets=TARGETS)
ACQUIRE = RecoveryAcquired(owner=OWNER, epoch=4)
RELEASE = RecoveryReleased(owner=OWNER, epoch=3)

ONE_EDIT_AWAY: list[tuple[Any, dict[str, Any], str]] = [
    (START, {"node": "Z"}, "unknown_node"),
    (START, {"node": "H"}, "not_ready"),
    (START, {"attempt_id": "x"}, "invalid_id"),
    (START, {"attempt_id": uuid(5_000).upper() + " "}, "invalid_id"),
    (START, {"attempt_id": H}, "attempt_id_used"),
    (START, {"node": "L"}, "child_run_id_needed"),
    (START, {"attempt": 2}, "wrong_content"),
    (START, {"deadline_ms": 5}, "wrong_content"),
    (CALL, {"node": "R"}, "not_a_child"),
    (CALL, {"child_run_id": ""}, "invalid_id"),
    (CALL, {"child_run_id": RUN}, "child_run_id_used"),
    (CALL, {"child_run_id": uuid(2)}, "child_run_id_used"),
    (CALL, {"child_run_id": CHILD}, "child_run_id_used"),
    (CALL, {"attempt": 2}, "wrong_content"),
    (END, {"node": "Z"}, "unknown_node"),
    (END, {"node": "R"}, "not_active"),
    (END, {"attempt_id": W}, "not_active"),
    (END, {"attempt_id": None}, "nothing_owed"),
    (END, {"node": "W", "attempt_id": W}, "not_active"),
    (END, {"node": "K", "attempt_id": K}, "is_a_child"),
    (END, {"outcome": outcome("skipped")}, "invalid_outcome"),
    (RETURN, {"node": "Z"}, "unknown_node"),
    (RETURN, {"attempt_id": H}, "not_active"),
    (RETURN, {"child_run_id": FRESH_RUN}, "not_active"),
    (RETURN, {"node": "H", "attempt_id": H}, "not_a_child"),
    (WAIT, {"node": "K", "attempt_id": K}, "is_a_child"),
    (WAIT, {"name": "t"}, "undeclared_signal"),
    (WAIT, {"deadline_ms": 0}, "deadline_passed"),
    (WAIT, {"attempt_id": W}, "not_active"),
    (TIMER, {"node": "K", "attempt_id": K}, "is_a_child"),
    (TIMER, {"deadline_ms": 0}, "deadline_passed"),
    (TIMER, {"node": "Z"}, "unknown_node"),
    (ACCEPT, {"node": "Z"}, "unknown_node"),
    (ACCEPT, {"node": "H"}, "no_open_wait"),
    (ACCEPT, {"signal_id": "x"}, "invalid_id"),
    (ACCEPT, {"signal_id": USED}, "already_consumed"),
    (ACCEPT, {"attempt_id": H}, "wrong_content"),
    (ACCEPT, {"name": "t"}, "wrong_content"),
    (REJECT, {"node": "Z"}, "unknown_node"),
    (REJECT, {"signal_id": USED}, "already_consumed"),
    (REJECT, {"attempt_id": H}, "wrong_content"),
    (CANCEL, {"now_ms": 1}, "wrong_content"),
    (CANCEL, {"targets": TARGETS[1:]}, "wrong_content"),
    (CANCEL, {"targets": TARGETS[::-1]}, "wrong_content"),
    (ACQUIRE, {"epoch": 3}, "stale_epoch"),
    (ACQUIRE, {"owner": "x"}, "invalid_id"),
    (RELEASE, {"epoch": 4}, "wrong_owner"),
    (RELEASE, {"owner": uuid(91)}, "wrong_owner"),
    (RELEASE, {"owner": "x"}, "invalid_id"),
    (VirtualTimeAdvanced(now_ms=1), {"now_ms": 0}, "no_effect"),
]


NAMES = [f"{type(event).__name__} {code}" for event, _, code in ONE_EDIT_AWAY]


@pytest.mark.parametrize(("event", "edit", "code"), ONE_EDIT_AWAY, ids=NAMES)
def test_an_event_one_edit_away_from_a_right_one_is_refused(event: Any, edit: dict[str, Any], code: str) -> None:
    assert reduce(STATE, event).sequence == STATE.sequence + 1
    assert refused(STATE, replace(event, **edit)) == code


def refused(state: State | None, event: Any, version: int = 5) -> str:
    with pytest.raises((Corruption, Incompatible)) as caught:
        reduce(state, event, version=version)
    return caught.value.code


@pytest.mark.parametrize("event", [END, WAIT, TIMER])
def test_an_attempt_that_is_due_does_nothing_more(event: Any) -> None:
    late = replace(event, node=NodeId("D"), attempt_id=D)
    late = replace(late, name=Name("s")) if event is WAIT else late
    assert refused(DUE, late) == "attempt_due"
    in_time = replace(STATE, now_ms=9)
    if event is END:
        assert reduce(in_time, late).sequence == STATE.sequence + 1
    else:
        assert refused(in_time, late) == ("undeclared_signal" if event is WAIT else "deadline_passed")


def test_time_goes_on_or_lets_something_happen() -> None:
    assert refused(DUE, VirtualTimeAdvanced(now_ms=9)) == "time_went_back"
    assert owed(reduce(DUE, VirtualTimeAdvanced(now_ms=10)), RULES) is not None
    assert refused(replace(STATE, now_ms=9), VirtualTimeAdvanced(now_ms=9)) == "no_effect"


def test_a_wait_that_is_due_takes_nothing() -> None:
    run = Player(document([node("A", signals=["s"], retry={"attempt_deadline_ms": 9})]))
    run.start("A")
    run.wait("A", "s", deadline_ms=5)
    right = replace(ACCEPT, node=NodeId("A"), attempt_id=run.attempt("A"))
    assert reduce(replace(run.now, now_ms=4), right).nodes[0].status == "running"
    assert refused(replace(run.now, now_ms=5), right) == "no_open_wait"


def test_a_run_is_acquired_before_it_is_released() -> None:
    run = Player(document(["A"]))
    assert refused(run.now, RELEASE) == "wrong_owner"
    taken = reduce(run.now, replace(ACQUIRE, epoch=3))
    given = reduce(taken, RELEASE)
    assert refused(given, RELEASE) == "wrong_owner"
    assert refused(given, replace(ACQUIRE, epoch=3)) == "stale_epoch"


# What is owed, and what nothing owes


def test_only_what_is_owed_follows() -> None:
    created = RUNNING.history[0]
    assert isinstance(created, RunCreated)
    begun = reduce(None, created)
    ready = NodeReady(node=NodeId("R"), cause="initial")
    assert reduce(begun, ready).sequence == 2
    assert refused(begun, replace(ready, node=NodeId("W"))) == "something_else_owed"
    assert refused(begun, ready, version=6) == "unknown_version"
    assert refused(begun, CANCEL, version=4) == "unknown_type"
    assert refused(STATE, END, version=4) == "version_went_down"
    assert refused(STATE, ready) == refused(STATE, RunCompleted()) == "nothing_owed"
    assert refused(STATE, created) == "run_conflict"
    with pytest.raises(AssertionError, match="created once"):
        applied(STATE, created, 5, RULES)
    assert refused(None, ready) == "no_run"
    assert refused(None, replace(created, run_id=RunId("x"))) == "invalid_id"
    assert refused(None, replace(created, ancestors=(RunId("x"),))) == "invalid_id"


def test_nothing_follows_the_end() -> None:
    run = Player(document(["A"]))
    run.run("A")
    assert refused(run.now, VirtualTimeAdvanced(now_ms=1)) == "run_terminal"


def test_a_node_cannot_go_where_the_table_does_not_lead() -> None:
    with pytest.raises(Corruption) as caught:
        changed(STATE, 0, replace(STATE.nodes[0], status="succeeded"), RULES)
    assert caught.value.code == "illegal_transition"
    assert changed(STATE, 0, replace(STATE.nodes[0], status="running"), RULES).nodes[0].status == "running"


def test_a_budget_that_is_used_up_is_told_in_place_of_the_event() -> None:
    run = Player(document(["A", "B"], budgets={"max_attempts": 1}))
    begin = [
        NodeStarted(node=NodeId(name), attempt_id=AttemptId(uuid(number)), attempt=1)
        for number, name in enumerate("AB")
    ]
    told = BudgetExhausted(budget="attempts", limit=1, usage=1)
    assert refused(run.now, told) == "nothing_owed"
    used = reduce(run.now, begin[0])
    assert refused(used, begin[1]) == "something_else_owed"
    assert refused(used, replace(told, usage=2)) == "nothing_owed"
    assert owed(reduce(used, told), RULES) is not None
    both = reduce(reduce(Player(document(["A", "B"])).now, begin[0]), begin[1])
    assert both.attempts_used == 2


def test_what_needs_no_event_is_owed_by_nobody() -> None:
    assert owed(replace(STATE, agenda=Agenda(advancing=True), due=None), RULES) is None
    assert owed(replace(STATE, agenda=Agenda(settling=True)), RULES) is None


def test_an_activation_that_waits_is_passed_over_when_its_node_is_busy_again() -> None:
    run = Player(document(["A", "B"], [edge("B>A"), edge("A>A", "succeeded")], initial_nodes=["A", "B"]))
    run.start("A")
    run.run("B")
    assert run.end("A")[-1] == "NodeReady A queued"
    assert run.run("A")[-1] == "NodeReady A queued"


def test_a_retry_keeps_to_its_deadline() -> None:
    policy = {"backoff": {"kind": "fixed", "delay_ms": 10}, "jitter": {"seed": "s", "maximum_ms": 5}}
    run = Player(document([node("A", retry=policy)]))
    run.start("A")
    before = reduce(run.now, NodeOutcomeCommitted(node=NodeId("A"), attempt_id=run.attempt("A"),
                                                  outcome=outcome("retryable_failure")))  # fmt: skip
    scheduled: Any = owed(before, RULES)
    for deadline_ms, is_right in ((9, False), (10, True), (15, True), (16, False)):
        moved = replace(scheduled, deadline_ms=deadline_ms)
        if is_right:
            assert reduce(before, moved).nodes[0].retry_ms == deadline_ms
        else:
            assert refused(before, moved) == "something_else_owed"
    assert refused(before, RetryReleased(node=NodeId("A"), next_attempt=2)) == "something_else_owed"


def test_a_run_is_created_once_from_what_is_valid() -> None:
    whole = document(["A"], inputs=["t"])
    create = CreateRun(run_id=RUN, specification=whole, input={"t": 1})
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"input": {"t": "x" * 983_040}}, "over_limit"),
        ({"input": {}}, "invalid_input"),
        ({"specification": {**whole, "nodes": []}}, "invalid_specification"),
        ({"specification": {**whole, "content_hash": "0" * 64}}, "invalid_specification"),
        ({"run_id": "x"}, "invalid_id"),
        ({"ancestors": (RUN,)}, "invalid_ancestors"),
    ]
    for edit, code in wrong:
        assert rejected(None, replace(create, **edit)) == code
    assert rejected(None, Settle()) == "no_run"
    run = Player(whole, input={"t": 1})
    assert rejected(run.now, replace(create, input={"t": 1.0})) == "already_created"
    for edit in ({"input": {"t": True}}, {"input": {"t": float("nan")}}, {"ancestors": (RunId(uuid(2)),)}):
        assert rejected(run.now, replace(create, **edit)) == "run_conflict"


def rejected(state: State | None, command: Any) -> str:
    answer = decide(state, command)
    assert isinstance(answer, Rejection)
    return answer.code


def test_a_child_ends_once() -> None:
    ended = reduce(STATE, RETURN)
    ended = reduce(ended, owed(ended, RULES) or RETURN)
    again = CompleteChild(node=RETURN.node, attempt_id=K, child_run_id=RETURN.child_run_id, result="failed")
    assert rejected(ended, again) == "already_committed"
    assert rejected(ended, replace(again, result="blocked")) == "conflicting_outcome"
    assert rejected(ended, replace(again, output={"r": float("nan")})) == "conflicting_outcome"
    assert rejected(STATE, replace(again, attempt_id=FRESH)) == "not_active"
    deliver = DeliverSignal(node=NodeId("W"), signal_id=SignalId(uuid(72)), name=Name("s"), token_sha256=TOKEN)
    assert rejected(STATE, replace(deliver, node=NodeId("Z"))) == "unknown_node"
    assert rejected(STATE, replace(deliver, node=NodeId("H"))) == "no_open_wait"
    assert rejected(STATE, StartNode(node=NodeId("Z"), attempt_id=FRESH)) == "unknown_node"


def test_a_cancellation_in_version_1_leaves_the_nodes() -> None:
    created = Player({**document(["A"]), "schema_version": 1}).history[0]
    begun = reduce(reduce(None, created, version=1), NodeReady(node=NodeId("A"), cause="initial"), version=1)
    cancelled = reduce(begun, RunCancelled(), version=1)
    assert (cancelled.status, cancelled.nodes[0].status) == ("cancelled", "ready")
    assert refused(reduce(RUNNING.now, CANCEL), RunCancelled()) == "something_else_owed"
    assert refused(STATE, RunCancelled()) == "nothing_owed"


def test_a_run_has_at_most_eight_ancestors() -> None:
    ancestors = [RunId(uuid(number)) for number in range(2, 11)]
    assert Player(document("A"), ancestors=tuple(ancestors[:8])).state is not None
    answer = decide(None, CreateRun(run_id=RUN, specification=document("A"), ancestors=tuple(ancestors)))
    assert isinstance(answer, Rejection)
    assert answer.code == "invalid_ancestors"


def test_a_run_can_always_be_cancelled_in_one_record(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = CreateRun(run_id=RUN, specification=document(["abc", "d"]))
    needed = 2**16 + 2 * 128 + 4
    monkeypatch.setattr(creation, "MAX_LARGE_RECORD_BYTES", needed)
    assert isinstance(decide(None, whole), tuple)
    monkeypatch.setattr(creation, "MAX_LARGE_RECORD_BYTES", needed - 1)
    answer = decide(None, whole)
    assert isinstance(answer, Rejection)
    assert answer.code == "invalid_specification"
