"""Decide: the batch of events that a command gives, or why it gives none.

Source: ADR-0032, "Commands, events, state, and effects"; "Commands and their batches" of `docs/spec/kernel.md`.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

from perdure.kernel.changes import applied
from perdure.kernel.commands import (
    AcquireRecovery,
    AdvanceTime,
    AnyCommand,
    CompleteAttempt,
    CompleteChild,
    CreateRun,
    DeliverSignal,
    OpeningCommand,
    OpenSignalWait,
    OpenTimerWait,
    Rejection,
    ReleaseRecovery,
    RequestCancellation,
    Settle,
    StartNode,
    rejected,
)
from perdure.kernel.consequences import owed, settling, within_budget
from perdure.kernel.creation import created
from perdure.kernel.events import (
    RUNTIME_VERSION,
    CancellationRequested,
    ChildCompleted,
    ChildStarted,
    EventV5,
    NodeOutcomeCommitted,
    NodeStarted,
    RecoveryAcquired,
    RecoveryReleased,
    RunCreated,
    SignalAccepted,
    SignalRejected,
    SignalWaitOpened,
    TimerWaitOpened,
    VirtualTimeAdvanced,
)
from perdure.kernel.legality import (
    Opening,
    attempt_deadline,
    cancel_targets,
    no_open_wait,
    open_wait,
    refusal,
    run_terminal,
    unknown_node,
)
from perdure.kernel.limits import excess
from perdure.kernel.records import document_of
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.specification import covered_by_hash
from perdure.kernel.state import State
from perdure.kernel.values import JsonError, digest

Events = tuple[EventV5, ...]


class Decision(NamedTuple):
    """What a command gives: its events, and the state that `reduce` makes of them."""

    events: Events
    state: State


def decide(state: State | None, command: AnyCommand, rules: Rules = RULES) -> Events | Rejection:
    """Return the events of a command, one atomic batch; or why there are none.

    What was asked before is answered first, then that the run has ended, then everything else. The texts of a command
    are as its schema says; its values, sizes and numbers may be any, and no event is given that no record can hold.
    """
    found = decided(state, command, rules)
    return found if isinstance(found, Rejection) else found.events


def decided(state: State | None, command: AnyCommand, rules: Rules = RULES) -> Decision | Rejection:
    """Return the same with the state after the batch, for whoever would reduce what was decided just now."""
    if isinstance(command, CreateRun):
        return _creation(state, command, rules)
    if state is None:
        return rejected("no_run", "there is no run")
    repeated = _repeat(state, command, rules)
    if repeated is not None:
        return repeated
    if state.status != "running":
        return run_terminal(state)
    if isinstance(command, Settle):
        return _settled(state, rules)
    too_much = excess(command)
    if too_much is not None:
        return rejected("over_limit", too_much)
    opening = _opening(state, command, rules)
    if isinstance(opening, Rejection):
        return opening
    refused = refusal(state, opening, rules)
    if refused is not None:
        return refused
    return _batch(state, within_budget(state, opening, RUNTIME_VERSION, rules), rules)


def _batch(state: State, opening: EventV5 | None, rules: Rules) -> Decision:
    events = []
    while opening is not None:
        events.append(opening)
        state = applied(state, opening, RUNTIME_VERSION, rules)
        opening = owed(state, rules)
    return Decision(tuple(events), state)


def _creation(state: State | None, command: CreateRun, rules: Rules) -> Decision | Rejection:
    try:
        content_hash = digest(covered_by_hash(command.specification))
    except JsonError as error:
        return Rejection(code="run_conflict" if state is not None else "invalid_specification", sentence=str(error))
    document = {"content_hash": content_hash, **command.specification}
    event = RunCreated(
        run_id=command.run_id,
        specification=document,
        content_hash=content_hash,
        input=command.input,
        ancestors=command.ancestors,
    )
    if state is not None:
        same = (state.run_id, state.content_hash, state.ancestors) == (event.run_id, content_hash, event.ancestors)
        if same and excess(event) is None and digest(state.input) == digest(event.input):
            return rejected("already_created", f"the run {state.run_id} was created before")
        return rejected("run_conflict", f"the run {state.run_id} was created otherwise")
    too_much = excess(event)
    if too_much is not None:
        return rejected("over_limit", too_much)
    first = created(event, RUNTIME_VERSION, rules)
    if isinstance(first, Rejection):
        return first
    done = _batch(first, owed(first, rules), rules)
    return Decision((event, *done.events), done.state)


def _settled(state: State, rules: Rules) -> Decision | Rejection:
    newest = settling(state, RUNTIME_VERSION, rules)
    opening = owed(newest, rules)
    if opening is None:
        return rejected("no_effect", "nothing is owed")
    return _batch(newest, opening, rules)


def _repeat(state: State, command: AnyCommand, rules: Rules) -> Rejection | None:
    """Return the answer to a command that was given before (RUN-015, SIG-007)."""
    match command:
        case CompleteAttempt():
            return _committed(state, command, rules)
        case CompleteChild():
            return _child_committed(state, command)
        case DeliverSignal(signal_id=signal_id) if signal_id in state.signals:
            disposition = state.signals[signal_id]
            sentence = f"the delivery {signal_id} was used up before: {disposition}"
            return Rejection(code="already_consumed", sentence=sentence, disposition=disposition)
        case _:
            return None


def _committed(state: State, command: CompleteAttempt, rules: Rules) -> Rejection | None:
    attempt = state.attempts.get(command.attempt_id)
    if attempt is None or attempt.outcome is None:
        return None
    is_its_own = attempt.node == state.position(command.node) and excess(command) is None
    if is_its_own and rules.same_outcome(state.outcomes[attempt.outcome], command.outcome):
        return rejected("already_committed", f"the attempt {command.attempt_id} ended so before")
    return rejected("conflicting_outcome", f"the attempt {command.attempt_id} ended otherwise before")


def _child_committed(state: State, command: CompleteChild) -> Rejection | None:
    attempt = state.attempts.get(command.attempt_id)
    if attempt is None or attempt.outcome is None:
        return None
    completed = attempt.completed if excess(command) is None else None
    if completed is not None and digest(document_of(completed)) == digest(document_of(_completion(command))):
        return rejected("already_committed", f"the child run {command.child_run_id} ended so before")
    return rejected("conflicting_outcome", f"the attempt {command.attempt_id} ended otherwise before")


def _completion(command: CompleteChild) -> ChildCompleted:
    return ChildCompleted(
        node=command.node,
        attempt_id=command.attempt_id,
        child_run_id=command.child_run_id,
        result=command.result,
        output=command.output,
    )


def _opening(state: State, command: OpeningCommand, rules: Rules) -> Opening | Rejection:  # noqa: C901 - one case a command
    """Return the first event of a command, whether or not it is legal."""
    match command:
        case StartNode():
            return _start(state, command, rules)
        case CompleteAttempt(node=node, attempt_id=attempt_id, outcome=outcome):
            return NodeOutcomeCommitted(node=node, attempt_id=attempt_id, outcome=outcome)
        case CompleteChild():
            return _completion(command)
        case OpenSignalWait():
            return SignalWaitOpened(
                node=command.node,
                attempt_id=command.attempt_id,
                name=command.name,
                token_sha256=command.token_sha256,
                deadline_ms=command.deadline_ms,
            )
        case OpenTimerWait():
            return TimerWaitOpened(node=command.node, attempt_id=command.attempt_id, deadline_ms=command.deadline_ms)
        case DeliverSignal():
            return _delivery(state, command, rules)
        case AdvanceTime(now_ms=now_ms):
            return VirtualTimeAdvanced(now_ms=now_ms)
        case RequestCancellation():
            return CancellationRequested(
                requester=command.requester,
                reason=command.reason,
                now_ms=state.now_ms,
                policy=state.plan.specification.cancellation,
                targets=cancel_targets(state, rules),
            )
        case AcquireRecovery(owner=owner, epoch=epoch):
            return RecoveryAcquired(owner=owner, epoch=epoch)
        case ReleaseRecovery(owner=owner, epoch=epoch):
            return RecoveryReleased(owner=owner, epoch=epoch)
        case _:
            assert_never(command)


def _start(state: State, command: StartNode, rules: Rules) -> Opening | Rejection:
    position = state.position(command.node)
    if position is None:
        return unknown_node(command.node)
    attempt = state.nodes[position].attempts + 1
    deadline_ms = attempt_deadline(state, position, RUNTIME_VERSION, rules)
    if command.child_run_id is None:
        return NodeStarted(node=command.node, attempt_id=command.attempt_id, attempt=attempt, deadline_ms=deadline_ms)
    return ChildStarted(
        node=command.node,
        attempt_id=command.attempt_id,
        attempt=attempt,
        child_run_id=command.child_run_id,
        deadline_ms=deadline_ms,
    )


def _delivery(state: State, command: DeliverSignal, rules: Rules) -> Opening | Rejection:
    position = state.position(command.node)
    if position is None:
        return unknown_node(command.node)
    wait, attempt_id = open_wait(state, position, rules), state.nodes[position].attempt_id
    if wait is None or attempt_id is None:
        return no_open_wait(command.node)
    mismatch = rules.mismatch(wait, command.name, command.token_sha256)
    if mismatch is not None:
        return SignalRejected(node=command.node, attempt_id=attempt_id, signal_id=command.signal_id, reason=mismatch)
    return SignalAccepted(
        node=command.node,
        attempt_id=attempt_id,
        signal_id=command.signal_id,
        name=command.name,
        payload=command.payload,
    )
