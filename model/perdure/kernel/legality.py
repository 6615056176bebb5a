"""Legality: which events may open a batch, when nothing is owed.

A command is its first event, so the same rules refuse a command and find an event corrupt.

Source: "Commands and their batches" of the graph design and of `docs/spec/kernel.md`.
"""

from __future__ import annotations

from typing import assert_never

from perdure.kernel.commands import Rejection, rejected
from perdure.kernel.consequences import exhausted, without_outdated
from perdure.kernel.events import (
    BudgetExhausted,
    CancellationRequested,
    CancelTarget,
    ChildCompleted,
    ChildStarted,
    NodeOutcomeCommitted,
    NodeStarted,
    RecoveryAcquired,
    RecoveryReleased,
    SignalAccepted,
    SignalRejected,
    SignalWaitOpened,
    TimerWaitOpened,
    VirtualTimeAdvanced,
)
from perdure.kernel.identity import AttemptId, NodeId, is_canonical_uuid
from perdure.kernel.rules import BUDGETS_FROM, Rules, policy_of
from perdure.kernel.state import SignalWait, State

Opening = (
    NodeStarted
    | ChildStarted
    | NodeOutcomeCommitted
    | ChildCompleted
    | SignalWaitOpened
    | TimerWaitOpened
    | SignalAccepted
    | SignalRejected
    | VirtualTimeAdvanced
    | CancellationRequested
    | RecoveryAcquired
    | RecoveryReleased
)
"""The events that a command begins with, creation apart."""


def refusal(state: State, event: Opening, rules: Rules) -> Rejection | None:
    """Return why an event cannot open a batch, or None if it can."""
    match event:
        case NodeStarted() | ChildStarted():
            return _start(state, event)
        case NodeOutcomeCommitted():
            return _outcome(state, event, rules)
        case ChildCompleted():
            return _child_completed(state, event, rules)
        case SignalWaitOpened() | TimerWaitOpened():
            return _wait(state, event, rules)
        case SignalAccepted() | SignalRejected():
            return _delivery(state, event, rules)
        case VirtualTimeAdvanced(now_ms=now_ms):
            return _time(state, now_ms, rules)
        case CancellationRequested():
            return None
        case RecoveryAcquired() | RecoveryReleased():
            return _recovery(state, event)
        case _:
            assert_never(event)


def contradiction(state: State, event: Opening, version: int, rules: Rules) -> str | None:
    """Return what an event that opens a batch says that is not so; None if all of it is so."""
    match event:
        case NodeStarted() | ChildStarted():
            position = state.plan.positions[event.node]
            number, deadline = state.nodes[position].attempts + 1, attempt_deadline(state, position, version, rules)
            if (event.attempt, event.deadline_ms) != (number, deadline):
                told = "no deadline" if deadline is None else f"the deadline {deadline}"
                return f"this is attempt {number} of {event.node}, with {told}; the event says otherwise"
        case SignalAccepted() | SignalRejected():
            node = state.nodes[state.plan.positions[event.node]]
            wait = node.wait
            if node.attempt_id != event.attempt_id:
                return f"the attempt that waits is {node.attempt_id}"
            if isinstance(event, SignalAccepted) and isinstance(wait, SignalWait) and event.name != wait.name:
                return f"{event.node} waits for {wait.name}, not for {event.name}"
        case CancellationRequested():
            if event.now_ms != state.now_ms:
                return f"it is {state.now_ms}, not {event.now_ms}"
            if event.targets != cancel_targets(state, rules):
                return "the targets are not the attempts that are active"
        case _:
            pass
    return None


def exhausted_at_start(state: State, version: int, rules: Rules) -> BudgetExhausted | None:
    """Return what opens a batch when a ready node cannot be started, since the attempts of the run are used up."""
    return exhausted(state, "attempts", version, rules) if state.statuses.get("ready", 0) else None


def _start(state: State, event: NodeStarted | ChildStarted) -> Rejection | None:
    position = state.position(event.node)
    if position is None:
        return unknown_node(event.node)
    status = state.nodes[position].status
    if status != "ready":
        return rejected("not_ready", f"{event.node} is {status}, not ready")
    strange = _strange(event.attempt_id, event.child_run_id if isinstance(event, ChildStarted) else None)
    if strange is not None:
        return strange
    if event.attempt_id in state.attempts:
        return rejected("attempt_id_used", f"the attempt {event.attempt_id} was started before")
    child = state.node(position).child
    if isinstance(event, NodeStarted):
        told = f"{event.node} is a child run: it needs an identity"
        return None if child is None else rejected("child_run_id_needed", told)
    if child is None:
        return rejected("not_a_child", f"{event.node} has a handler, and no child run")
    if event.child_run_id in (state.run_id, *state.ancestors) or event.child_run_id in state.child_runs:
        return rejected(
            "child_run_id_used", f"the run {event.child_run_id} is this one, an ancestor, or was started before"
        )
    return None


def attempt_deadline(state: State, position: int, version: int, rules: Rules) -> int | None:
    """Return when an attempt that starts now expires, if it does (TIM-004)."""
    limit = policy_of(state.node(position)).attempt_deadline_ms
    return None if limit is None or version < BUDGETS_FROM else rules.later(state.now_ms, limit)


def _active(state: State, name: NodeId, attempt_id: AttemptId | None, rules: Rules) -> Rejection | None:
    """Return why an attempt is not one that may still do something."""
    position = state.position(name)
    if position is None:
        return unknown_node(name)
    node = state.nodes[position]
    if attempt_id is None or node.attempt_id != attempt_id:
        return rejected("not_active", f"the attempt {attempt_id} of {name} is not active")
    if node.status == "waiting":
        return rejected("not_active", f"{name} is waiting")
    if node.deadline_ms is not None and rules.is_due(state.now_ms, node.deadline_ms):
        return rejected("attempt_due", f"the deadline of the attempt, {node.deadline_ms}, has passed")
    return None


def _outcome(state: State, event: NodeOutcomeCommitted, rules: Rules) -> Rejection | None:
    refused = _active(state, event.node, event.attempt_id, rules)
    if refused is not None:
        return refused
    position = state.plan.positions[event.node]
    if state.node(position).child is not None:
        return rejected("is_a_child", f"{event.node} is a child run: its outcome comes from how that ended")
    if event.outcome.kind == "skipped":
        return rejected("invalid_outcome", "an attempt cannot be skipped")
    return None


def _child_completed(state: State, event: ChildCompleted, rules: Rules) -> Rejection | None:
    refused = _active(state, event.node, event.attempt_id, rules)
    if refused is not None:
        return refused
    position = state.plan.positions[event.node]
    if state.node(position).child is None:
        return rejected("not_a_child", f"{event.node} has a handler, and no child run")
    if state.nodes[position].child_run_id != event.child_run_id:
        return rejected("not_active", f"{event.child_run_id} is not the child run of {event.node}")
    return None


def _wait(state: State, event: SignalWaitOpened | TimerWaitOpened, rules: Rules) -> Rejection | None:
    refused = _active(state, event.node, event.attempt_id, rules)
    if refused is not None:
        return refused
    node = state.node(state.plan.positions[event.node])
    if node.child is not None:
        return rejected("is_a_child", f"{event.node} is a child run: only a handler waits")
    if isinstance(event, SignalWaitOpened) and event.name not in node.signals:
        return rejected("undeclared_signal", f"{event.node} declares no signal {event.name}")
    if event.deadline_ms is not None and rules.is_due(state.now_ms, event.deadline_ms):
        return rejected("deadline_passed", f"the deadline {event.deadline_ms} is not later than now, {state.now_ms}")
    return None


def open_wait(state: State, position: int, rules: Rules) -> SignalWait | None:
    """Return the wait for a signal that is open at a node: neither it nor its attempt is due (SIG-003, SIG-006)."""
    node = state.nodes[position]
    if not isinstance(node.wait, SignalWait):
        return None
    deadlines = (node.wait.deadline_ms, node.deadline_ms)
    is_late = any(deadline is not None and rules.is_due(state.now_ms, deadline) for deadline in deadlines)
    return None if is_late else node.wait


def _delivery(state: State, event: SignalAccepted | SignalRejected, rules: Rules) -> Rejection | None:
    position = state.position(event.node)
    if position is None:
        return unknown_node(event.node)
    if open_wait(state, position, rules) is None:
        return no_open_wait(event.node)
    strange = _strange(event.signal_id)
    if strange is not None:
        return strange
    if event.signal_id in state.signals:
        return rejected(
            "already_consumed", f"the delivery {event.signal_id} was {state.signals[event.signal_id]} before"
        )
    return None


def _time(state: State, now_ms: int, rules: Rules) -> Rejection | None:
    if now_ms < state.now_ms:
        return rejected("time_went_back", f"it is {state.now_ms} already")
    due = without_outdated(state, rules)
    if now_ms == state.now_ms and (due is None or not rules.is_due(now_ms, due.first.deadline_ms)):
        return rejected("no_effect", f"it is {state.now_ms} already, and nothing is due")
    return None


def cancel_targets(state: State, rules: Rules) -> tuple[CancelTarget, ...]:
    """Return what a cancellation has to reach, in specification order."""
    return tuple(
        CancelTarget(node=state.name(position), attempt_id=node.attempt_id, child_run_id=node.child_run_id)
        for position in range(len(state.plan.nodes))
        if (node := state.nodes[position]).attempt_id is not None and rules.is_target(node)
    )


def _recovery(state: State, event: RecoveryAcquired | RecoveryReleased) -> Rejection | None:
    last = state.recovery
    strange = _strange(event.owner)
    if strange is not None:
        return strange
    if isinstance(event, RecoveryAcquired):
        is_stale = last is not None and event.epoch <= last.epoch
        told = f"the epoch {event.epoch} was granted before"
        return rejected("stale_epoch", told) if is_stale else None
    if last is None or not last.is_held or (event.owner, event.epoch) != (last.owner, last.epoch):
        return rejected("wrong_owner", f"{event.owner} does not hold the run with epoch {event.epoch}")
    return None


def _strange(*identities: str | None) -> Rejection | None:
    """Return why identities are none."""
    found = next(
        (identity for identity in identities if identity is not None and not is_canonical_uuid(identity)), None
    )
    return None if found is None else rejected("invalid_id", f"{found!r} is no canonical UUID")


def no_open_wait(name: NodeId) -> Rejection:
    """Return the refusal of a delivery to a node that waits for none."""
    return rejected("no_open_wait", f"{name} waits for no signal now")


def run_terminal(state: State) -> Rejection:
    """Return the refusal of whatever comes after the end of a run."""
    return rejected("run_terminal", f"the run has ended: it is {state.status}")


def unknown_node(name: NodeId) -> Rejection:
    """Return the refusal of whatever names a node that there is not."""
    return rejected("unknown_node", f"there is no node {name}")
