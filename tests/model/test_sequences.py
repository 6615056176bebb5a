"""The sequences of ADR-0032, played literally: what is appended, in which order, and what a recovery finds."""

from __future__ import annotations

from tests.model.playing import Player, document, node, outcome, short, uuid

from perdure.kernel.commands import AcquireRecovery, CompleteAttempt, Rejection, ReleaseRecovery, StartNode
from perdure.kernel.decide import decide
from perdure.kernel.events import AnyEvent, RetryScheduled, SignalAccepted, SignalWaitOpened
from perdure.kernel.identity import AttemptId, NodeId, OwnerId
from perdure.kernel.reduce import reduce
from perdure.kernel.state import SignalWait, State


def replayed(history: list[AnyEvent]) -> State:
    state: State | None = None
    for event in history:
        state = reduce(state, event)
    assert state is not None
    return state


def test_normal_execution() -> None:
    """Create with the pinned specification; dispatch; commit the success before dependents observe it."""
    run = Player(document(["A", node("B", dependencies=["A"])]))
    assert [short(event) for event in run.history] == ["RunCreated", "NodeReady A initial"]
    assert run.start("A") == ["NodeStarted A"]
    assert run.status("B") == "pending"
    assert run.end("A", output={"x": 1}) == ["NodeOutcomeCommitted A succeeded", "NodeReady B dependencies"]
    assert run.run("B") == ["NodeOutcomeCommitted B succeeded", "RunCompleted"]
    assert run.now.status == "completed"


def test_retry_and_correction() -> None:
    """A retryable failure schedules; the clock reaches the deadline; the second attempt succeeds."""
    policy = {"max_attempts": 2, "backoff": {"kind": "fixed", "delay_ms": 100}}
    run = Player(document([node("A", retry=policy)]))
    assert run.start("A") == ["NodeStarted A"]
    first = run.attempt("A")
    assert run.end("A", "retryable_failure") == ["NodeOutcomeCommitted A retryable_failure", "RetryScheduled A"]
    scheduled = run.history[-1]
    assert isinstance(scheduled, RetryScheduled)
    assert (scheduled.next_attempt, scheduled.deadline_ms) == (2, 100)
    assert run.advance(99) == ["VirtualTimeAdvanced"]
    assert run.start("A") == ["! not_ready"]
    assert run.advance(100) == ["VirtualTimeAdvanced", "RetryReleased A"]
    assert run.start("A") == ["NodeStarted A"]
    assert run.attempt("A") != first
    assert run.end("A") == ["NodeOutcomeCommitted A succeeded", "RunCompleted"]


def test_an_immediate_retry_is_scheduled_and_released() -> None:
    run = Player(document(["A"]))
    run.start("A")
    assert run.end("A", "retryable_failure") == [
        "NodeOutcomeCommitted A retryable_failure",
        "RetryScheduled A",
        "RetryReleased A",
    ]


def test_durable_external_wait() -> None:
    """The wait is recorded with the digest alone; a process may stop; the signal resumes the same attempt."""
    run = Player(document([node("A", signals=["approval"])]))
    run.start("A")
    attempt = run.attempt("A")
    assert run.wait("A", "approval", token="opaque", deadline_ms=50) == ["SignalWaitOpened A"]
    opened = run.history[-1]
    assert isinstance(opened, SignalWaitOpened)
    assert "opaque" not in repr(run.history) + repr(run.now)
    run.state = replayed(run.history)
    waiting = run.now.nodes[0]
    assert waiting.wait == SignalWait(opened.name, opened.token_sha256, 50)
    assert run.deliver("A", "approval", token="guess") == ["SignalRejected A"]
    assert run.status("A") == "waiting"
    delivery = run.fresh()
    assert run.deliver("A", "approval", token="opaque", signal_id=delivery, payload={"yes": True}) == [
        "SignalAccepted A"
    ]
    accepted = run.history[-1]
    assert isinstance(accepted, SignalAccepted)
    assert accepted.payload == {"yes": True}
    assert run.deliver("A", "approval", token="opaque", signal_id=delivery) == ["! already_consumed"]
    assert run.answer is not None
    assert run.answer.disposition == "accepted"
    assert run.attempt("A") == attempt
    assert run.end("A")[-1] == "RunCompleted"


def test_structured_cancellation() -> None:
    """One batch: the request with its active targets, an outcome for every descendant, the run fact."""
    nodes = ["A", node("W", signals=["go"]), "R", node("D", dependencies=["A"])]
    run = Player(document(nodes))
    run.start("A")
    run.start("W")
    run.wait("W", "go")
    active = [run.attempt("A"), run.attempt("W")]
    assert run.cancel() == [
        "CancellationRequested",
        "NodeOutcomeCommitted A cancelled",
        "NodeOutcomeCommitted W cancelled",
        "NodeOutcomeCommitted R cancelled",
        "NodeOutcomeCommitted D cancelled",
        "RunCancelled",
    ]
    requested = run.batches[-1][0]
    assert [target.attempt_id for target in getattr(requested, "targets", ())] == active
    assert [getattr(event, "attempt_id", None) for event in run.batches[-1][1:5]] == [*active, None, None]
    assert run.cancel() == ["! run_terminal"]


def test_restart_recovery() -> None:
    """Ownership is recorded; committed attempts are not dispatched again; one without an outcome keeps its identity."""
    run = Player(document(["A", "B", node("W", signals=["go"]), node("T", retry={"backoff": FIXED})]))
    owner = OwnerId(uuid(7))
    run.run("A")
    run.start("B")
    started = run.attempt("B")
    run.start("W")
    run.wait("W", "go", deadline_ms=40)
    run.run("T", "retryable_failure")
    recovered = replayed(run.history)
    assert recovered == run.now
    run.state = recovered
    assert run.do(AcquireRecovery(owner=owner, epoch=2)) == ["RecoveryAcquired"]
    assert run.do(AcquireRecovery(owner=OwnerId(uuid(8)), epoch=2)) == ["! stale_epoch"]
    assert run.start("A") == ["! not_ready"]
    assert run.attempt("B") == started
    assert run.now.nodes[2].wait is not None
    assert run.now.nodes[3].retry_ms == 30
    answer = decide(
        run.state, CompleteAttempt(node=NodeId("B"), attempt_id=AttemptId(uuid(9)), outcome=outcome("succeeded"))
    )
    assert isinstance(answer, Rejection)
    assert answer.code == "not_active"
    assert run.do(StartNode(node=NodeId("B"), attempt_id=AttemptId(uuid(9)))) == ["! not_ready"]
    assert run.end("B") == ["NodeOutcomeCommitted B succeeded"]
    assert run.do(ReleaseRecovery(owner=OwnerId(uuid(8)), epoch=2)) == ["! wrong_owner"]
    assert run.do(ReleaseRecovery(owner=owner, epoch=2)) == ["RecoveryReleased"]


FIXED = {"kind": "fixed", "delay_ms": 30}
