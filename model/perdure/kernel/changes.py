"""Changes: the state after an event that is legal where it stands, one function for each type of event.

`_changed_by` says which. What is owed next follows from the state, and stands in `consequences`.

Source: ADR-0032, "Commands, events, state, and effects"; `docs/spec/kernel.md`.
"""

from __future__ import annotations

from typing import assert_never

from immutables import Map
from msgspec.structs import replace

from perdure.kernel.consequences import (
    NOTHING,
    RUN_STATUS,
    scheduled,
    tidied,
)
from perdure.kernel.events import (
    AttemptDeadlineExpired,
    BudgetExhausted,
    CancellationRequested,
    ChildCompleted,
    ChildStarted,
    EventV5,
    NodeOutcomeCommitted,
    NodeReady,
    NodeStarted,
    NodeTerminated,
    RecoveryAcquired,
    RecoveryReleased,
    RetryReleased,
    RetryScheduled,
    RunBlocked,
    RunCancelled,
    RunCompleted,
    RunCreated,
    RunFailed,
    SignalAccepted,
    SignalExpired,
    SignalRejected,
    SignalWaitOpened,
    TimerFired,
    TimerWaitOpened,
    TransitionActivated,
    VirtualTimeAdvanced,
)
from perdure.kernel.liveness import changed, judged
from perdure.kernel.mapping import child_outcome, input_of, unsuccessful
from perdure.kernel.outcomes import Outcome
from perdure.kernel.queues import added, rest
from perdure.kernel.rules import GOES_ON_FROM, DueKind, Rules, fate, policy_of
from perdure.kernel.state import (
    Agenda,
    AttemptState,
    NodeState,
    Queued,
    Received,
    Recovery,
    SignalWait,
    State,
    TimerPassed,
    TimerWait,
)


def applied(state: State, event: EventV5, version: int, rules: Rules) -> State:
    """Return the state after an event that is legal here."""
    charged = rules.charge(event)
    state = replace(
        state,
        sequence=state.sequence + 1,
        version=version,
        attempts_used=state.attempts_used + (charged == "attempts"),
        transitions_used=state.transitions_used + (charged == "transitions"),
    )
    return tidied(_changed_by(state, event, rules), rules)


def _changed_by(state: State, event: EventV5, rules: Rules) -> State:  # noqa: C901, PLR0912 - one case an event
    match event:
        case NodeOutcomeCommitted():
            return _outcome_committed(state, event, rules)
        case NodeReady():
            return _node_ready(state, event, rules)
        case NodeStarted() | ChildStarted():
            return _started(state, event, rules)
        case TransitionActivated():
            return _transition_activated(state, event, rules)
        case VirtualTimeAdvanced(now_ms=now_ms):
            return replace(state, now_ms=now_ms, agenda=Agenda(advancing=True))
        case RetryScheduled():
            return _retry_scheduled(state, event, rules)
        case RetryReleased():
            return _retry_released(state, event, rules)
        case AttemptDeadlineExpired() | SignalExpired():
            return _expired(state, event)
        case NodeTerminated():
            return _terminated(state, event, rules)
        case ChildCompleted():
            return _child_completed(state, event, rules)
        case SignalWaitOpened() | TimerWaitOpened():
            return _wait_opened(state, event, rules)
        case SignalAccepted():
            return _signal_accepted(state, event, rules)
        case SignalRejected():
            return replace(state, signals=state.signals.set(event.signal_id, event.reason))
        case TimerFired():
            return _resumed(state, state.plan.positions[event.node], TimerPassed(event.deadline_ms), rules)
        case CancellationRequested():
            return replace(state, agenda=Agenda(cancelling=0))
        case BudgetExhausted():
            return replace(state, agenda=Agenda(failing=True))
        case RunCompleted() | RunFailed() | RunBlocked() | RunCancelled():
            return replace(state, status=RUN_STATUS[type(event)], agenda=NOTHING)
        case RecoveryAcquired(owner=owner, epoch=epoch):
            return replace(state, recovery=Recovery(owner, epoch, is_held=True))
        case RecoveryReleased(owner=owner, epoch=epoch):
            return replace(state, recovery=Recovery(owner, epoch, is_held=False))
        case RunCreated():
            raise AssertionError("a run is created once")
        case _:
            assert_never(event)


def _without_attempt(node: NodeState) -> NodeState:
    """Return a node that has no active attempt any more."""
    return replace(
        node, attempt_id=None, child_run_id=None, deadline_ms=None, input=None, wait=None, resolved=Map(), retry_ms=None
    )


def _begins(node: NodeState, activation: Queued | None) -> NodeState:
    """Return a node at the beginning of an activation: its attempts begin at 1 again (RTY-003)."""
    return replace(_without_attempt(node), status="ready", activation=activation, attempts=0)


def _node_ready(state: State, event: NodeReady, rules: Rules) -> State:
    position = state.plan.positions[event.node]
    node, agenda = state.nodes[position], state.agenda
    match event.cause:
        case "initial":
            assert agenda.initial is not None
            done = agenda.initial + 1
            agenda = replace(agenda, initial=None if done == len(state.plan.initial) else done)
            node = replace(_begins(node, None), activations=node.activations + 1)
        case "dependencies":
            assert agenda.releases is not None
            agenda = replace(agenda, releases=rest(agenda.releases))
            node = replace(_begins(node, None), activations=node.activations + 1)
        case "queued":
            assert agenda.queued is not None
            assert node.queue is not None
            agenda = replace(agenda, queued=rest(agenda.queued))
            node = replace(_begins(node, node.queue.first), queue=rest(node.queue))
        case _:
            assert_never(event.cause)
    return changed(replace(state, agenda=agenda), position, node, rules)


def _started(state: State, event: NodeStarted | ChildStarted, rules: Rules) -> State:
    position = state.plan.positions[event.node]
    child_run_id = event.child_run_id if isinstance(event, ChildStarted) else None
    given = input_of(state, position, rules)
    node = replace(
        state.nodes[position],
        status="running",
        attempts=event.attempt,
        attempt_id=event.attempt_id,
        child_run_id=child_run_id,
        deadline_ms=event.deadline_ms,
        input=None if isinstance(given, str) else given,
    )
    state = changed(state, position, node, rules)
    state = replace(state, attempts=state.attempts.set(event.attempt_id, AttemptState(position)))
    if child_run_id is not None:
        state = replace(state, child_runs=state.child_runs.set(child_run_id, position))
    if event.deadline_ms is not None:
        state = scheduled(state, "attempt", event.deadline_ms, position, rules)
    if isinstance(given, str):
        outcome = unsuccessful("permanent_failure", f"the input {given} is missing")
        return replace(state, agenda=replace(state.agenda, outcome=(position, outcome)))
    return state


def _outcome_committed(state: State, event: NodeOutcomeCommitted, rules: Rules) -> State:
    position = state.plan.positions[event.node]
    attempts = state.attempts
    if event.attempt_id is not None:
        attempt = replace(attempts[event.attempt_id], outcome=state.sequence)
        attempts = attempts.set(event.attempt_id, attempt)
    outcomes = state.outcomes.set(state.sequence, event.outcome)
    state = replace(state, last_outcome=state.sequence, outcomes=outcomes, attempts=attempts)
    if state.agenda.cancelling is not None:
        return _cancelled(state, position, rules)
    if event.attempt_id is None:
        return _closed(state, position, event.outcome, rules)
    state = replace(state, agenda=replace(state.agenda, outcome=None))
    return _attempt_ended(state, position, event.outcome, rules)


def _cancelled(state: State, position: int, rules: Rules) -> State:
    node = replace(_without_attempt(state.nodes[position]), status="cancelled", outcome=state.sequence)
    state = changed(state, position, node, rules)
    return replace(state, agenda=Agenda(cancelling=position + 1))


def _closed(state: State, position: int, outcome: Outcome, rules: Rules) -> State:
    status = rules.status_after[outcome.kind]
    node = replace(state.nodes[position], status=status, outcome=state.sequence, closed=True, queue=None)
    return _closing_done(judged(changed(state, position, node, rules), position, rules))


def _closing_done(state: State) -> State:
    """Return the state with one node less to close in this round."""
    agenda = state.agenda
    closed = agenda.closed + 1
    if closed == len(agenda.closing):
        return replace(state, agenda=replace(agenda, closing=(), closed=0, judging=True))
    return replace(state, agenda=replace(agenda, closed=closed))


def _attempt_ended(state: State, position: int, outcome: Outcome, rules: Rules) -> State:
    node = replace(_without_attempt(state.nodes[position]), outcome=state.sequence)
    found = fate(policy_of(state.node(position)), outcome.kind, node.attempts, state.version, rules)
    status = "retry_pending" if found in {"retried", "left"} else rules.status_after[outcome.kind]
    state = changed(state, position, replace(node, status=status), rules)
    match found:
        case "retried":
            return replace(state, agenda=replace(state.agenda, retry=position))
        case "left":
            return replace(state, unsettled=added(state.unsettled, position))
        case "ended" if state.version < GOES_ON_FROM and status != "succeeded":
            return replace(state, agenda=Agenda(verdict="blocked" if status == "blocked" else "failed"))
        case "ended" | "exhausted":
            return _ended(state, position, outcome, rules, is_terminated=found == "exhausted")
        case _:
            assert_never(found)


def _ended(state: State, position: int, outcome: Outcome, rules: Rules, *, is_terminated: bool) -> State:
    """Return the state after an ending outcome: dependents are judged, then edges act (DEP-004, EDG-008, EDG-009)."""
    state = judged(state, position, rules)
    edges = state.plan.edges
    firing = tuple(edge for edge in state.plan.leaving[position] if rules.matches(edges[edge].when, outcome))
    agenda = replace(
        state.agenda,
        termination=position if is_terminated else None,
        firing=firing,
        judging=True,
        queued=added(state.agenda.queued, position) if state.nodes[position].queue else state.agenda.queued,
    )
    return replace(state, agenda=agenda)


def _transition_activated(state: State, event: TransitionActivated, rules: Rules) -> State:
    state = replace(state, agenda=replace(state.agenda, fired=state.agenda.fired + 1))
    position = state.plan.targets[event.edge]
    node = state.nodes[position]
    activation = Queued(event.source_sequence, event.edge)
    counted = replace(node, activations=node.activations + 1)
    if rules.begins_at_once(node):
        return changed(state, position, _begins(counted, activation), rules)
    return changed(state, position, replace(counted, queue=added(node.queue, activation)), rules)


def _retry_scheduled(state: State, event: RetryScheduled, rules: Rules) -> State:
    position = state.plan.positions[event.node]
    node = replace(state.nodes[position], retry_ms=event.deadline_ms)
    state = changed(state, position, node, rules)
    if state.unsettled is not None and state.unsettled.first == position:
        state = replace(state, unsettled=rest(state.unsettled))
    if rules.is_due(state.now_ms, event.deadline_ms):
        return replace(state, agenda=replace(state.agenda, retry=position))
    state = replace(state, agenda=replace(state.agenda, retry=None))
    return scheduled(state, "retry", event.deadline_ms, position, rules)


def _retry_released(state: State, event: RetryReleased, rules: Rules) -> State:
    position = state.plan.positions[event.node]
    node = replace(state.nodes[position], status="ready", retry_ms=None)
    return changed(replace(state, agenda=replace(state.agenda, retry=None)), position, node, rules)


def _expired(state: State, event: AttemptDeadlineExpired | SignalExpired) -> State:
    outcome = unsuccessful("retryable_failure", f"the deadline {event.deadline_ms} has passed")
    return replace(state, agenda=replace(state.agenda, outcome=(state.plan.positions[event.node], outcome)))


def _terminated(state: State, event: NodeTerminated, rules: Rules) -> State:
    if event.reason == "attempts_exhausted":
        return replace(state, agenda=replace(state.agenda, termination=None))
    position = state.plan.positions[event.node]
    state = changed(state, position, replace(state.nodes[position], status="failed"), rules)
    return _closing_done(judged(state, position, rules))


def _child_completed(state: State, event: ChildCompleted, rules: Rules) -> State:
    position = state.plan.positions[event.node]
    outcome = child_outcome(state.node(position), event, rules)
    attempts = state.attempts.set(event.attempt_id, AttemptState(position, completed=event))
    return replace(state, attempts=attempts, agenda=replace(state.agenda, outcome=(position, outcome)))


def _wait_opened(state: State, event: SignalWaitOpened | TimerWaitOpened, rules: Rules) -> State:
    position = state.plan.positions[event.node]
    if isinstance(event, SignalWaitOpened):
        wait: SignalWait | TimerWait = SignalWait(event.name, event.token_sha256, event.deadline_ms)
    else:
        wait = TimerWait(event.deadline_ms)
    state = changed(state, position, replace(state.nodes[position], status="waiting", wait=wait), rules)
    if event.deadline_ms is None:
        return state
    kind: DueKind = "signal_wait" if isinstance(event, SignalWaitOpened) else "timer"
    return scheduled(state, kind, event.deadline_ms, position, rules)


def _signal_accepted(state: State, event: SignalAccepted, rules: Rules) -> State:
    state = replace(state, signals=state.signals.set(event.signal_id, "accepted"))
    received = Received(event.signal_id, event.name, event.payload)
    return _resumed(state, state.plan.positions[event.node], received, rules)


def _resumed(state: State, position: int, gain: Received | TimerPassed, rules: Rules) -> State:
    """Return the state after what an attempt waited for came."""
    node = state.nodes[position]
    resolved = node.resolved.set(len(node.resolved), gain)
    return changed(state, position, replace(node, status="running", wait=None, resolved=resolved), rules)
