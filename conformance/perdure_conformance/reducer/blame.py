"""Which requirement a difference breaks that nobody thought of: as near as it can be told from what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from perdure.kernel.events import (
    AnyEvent,
    BudgetExhausted,
    NodeOutcomeCommitted,
    NodeReady,
    NodeTerminated,
)
from perdure.kernel.values import JsonObject
from perdure_conformance.reducer.contract import Entry

NOTHING_OWED: Final = "RUN-007"

_BY_CODE: Final[Mapping[str, str]] = {
    "already_created": "RUN-011",
    "run_conflict": "RUN-001",
    "already_committed": "RUN-015",
    "conflicting_outcome": "RUN-015",
    "already_consumed": "SIG-007",
    "run_terminal": "RUN-026",
    "no_run": "RUN-001",
    "invalid_specification": "RUN-002",
    "invalid_input": "RUN-003",
    "invalid_ancestors": "CHD-010",
    "unknown_node": "RUN-012",
    "not_ready": "RUN-012",
    "attempt_id_used": "RUN-013",
    "child_run_id_needed": "RUN-012",
    "child_run_id_used": "CHD-009",
    "not_a_child": "RUN-012",
    "is_a_child": "CHD-011",
    "not_active": "RUN-014",
    "attempt_due": "TIM-007",
    "invalid_outcome": "RUN-016",
    "over_limit": "RUN-005",
    "undeclared_signal": "SIG-002",
    "deadline_passed": "TIM-008",
    "no_open_wait": "SIG-006",
    "time_went_back": "TIM-001",
    "no_effect": "TIM-001",
    "stale_epoch": "RUN-028",
    "wrong_owner": "RUN-028",
    "unknown_version": "VER-003",
    "unknown_type": "VER-001",
    "unknown_member": "VER-002",
    "wrong_structure": "VER-002",
    "version_went_down": "VER-004",
    "illegal_transition": "RUN-020",
}
"""What is broken where the model refuses with a code, and a kernel does not."""

_BY_EVENT: Final[Mapping[str, str]] = {
    "RunCreated": "RUN-001",
    "NodeStarted": "RUN-012",
    "ChildStarted": "RUN-012",
    "NodeSucceeded": "RUN-014",
    "NodeFailed": "VER-008",
    "NodeBlocked": "VER-008",
    "NodeOutcomeCommitted": "RUN-014",
    "TransitionActivated": "EDG-008",
    "ChildCompleted": "CHD-011",
    "VirtualTimeAdvanced": "TIM-001",
    "RetryScheduled": "RTY-002",
    "RetryReleased": "RTY-009",
    "AttemptDeadlineExpired": "TIM-006",
    "SignalWaitOpened": "SIG-002",
    "SignalAccepted": "SIG-004",
    "SignalRejected": "SIG-005",
    "SignalExpired": "SIG-010",
    "TimerWaitOpened": "TIM-009",
    "TimerFired": "TIM-009",
    "CancellationRequested": "CAN-001",
    "RecoveryAcquired": "RUN-028",
    "RecoveryReleased": "RUN-028",
    "RunCompleted": "RUN-024",
    "RunFailed": "RUN-024",
    "RunBlocked": "RUN-024",
    "RunCancelled": "RUN-024",
}
"""What is broken where an event of a type is due, or right, and a kernel does not see it."""

_BY_COMMAND: Final[Mapping[str, str]] = {
    "StartNode": "RUN-012",
    "CompleteAttempt": "RUN-014",
    "CompleteChild": "CHD-011",
    "OpenSignalWait": "SIG-002",
    "OpenTimerWait": "TIM-009",
    "DeliverSignal": "SIG-004",
    "AdvanceTime": "TIM-001",
    "RequestCancellation": "CAN-001",
    "AcquireRecovery": "RUN-028",
    "ReleaseRecovery": "RUN-028",
    "Settle": "VER-011",
}

_BY_MEMBER: Final[Mapping[str, str]] = {
    "now_ms": "TIM-001",
    "transitions_used": "BUD-002",
    "output": "RUN-027",
    "signals": "SIG-007",
    "recovery": "RUN-028",
    "unsettled": "VER-011",
    "activations": "EDG-015",
    "queue": "EDG-012",
    "attempts": "RTY-003",
    "deadline_ms": "TIM-005",
    "retry_ms": "RTY-006",
    "input": "RUN-017",
    "resolved": "SIG-009",
    "released": "DEP-008",
}
"""What is broken where a member of a state is told otherwise, the innermost that is here."""

_BY_RECORD: Final[Mapping[str, str]] = {
    "not_json": "JRN-040",
    "not_canonical": "JRN-041",
    "wrong_checksum": "JRN-042",
    "wrong_structure": "JRN-043",
    "unknown_version": "JRN-043",
    "unknown_member": "JRN-043",
    "wrong_envelope": "JRN-044",
    "repeated": "JRN-045",
    "gap": "JRN-045",
    "wrong_run": "JRN-046",
    "event_id_used": "JRN-047",
    "wrong_batch": "JRN-048",
    "nothing_owed": "JRN-048",
    "incomplete_batch": "JRN-049",
}
"""What is broken where the model refuses what a journal shows with a code, and a kernel does not."""


def of_a_code(code: str) -> str:
    """Return what is broken where a command is to be rejected with a code."""
    return _BY_CODE.get(code, "RUN-029")


def of_a_command(command: JsonObject) -> str:
    """Return what is broken where a command is to be allowed."""
    return _BY_COMMAND.get(str(command["type"]), "RUN-006")


def of_a_right_event(entry: Entry | None) -> str:
    """Return what is broken where an event is refused that is right."""
    return NOTHING_OWED if entry is None else _BY_EVENT.get(str(entry.event.get("type")), NOTHING_OWED)


def of_a_wrong_event(code: str, entry: Entry, owed: AnyEvent | None) -> str:
    """Return what is broken where an event is accepted that the model refuses."""
    if code == "something_else_owed" and owed is not None:
        return of_what_is_owed(owed)
    if code in {"something_else_owed", "nothing_owed"}:
        return NOTHING_OWED
    return _BY_CODE.get(code) or of_a_right_event(entry)


def of_what_is_owed(event: AnyEvent) -> str:
    """Return what says that an event is owed."""
    match event:
        case NodeReady(cause=cause):
            return {"initial": NOTHING_OWED, "dependencies": "DEP-006", "queued": "EDG-012"}[cause]
        case NodeOutcomeCommitted(attempt_id=None):
            return "EDG-016" if event.outcome.kind == "skipped" else "DEP-011"
        case NodeTerminated(reason=reason):
            return "RTY-004" if reason == "attempts_exhausted" else "RUN-022"
        case BudgetExhausted(budget=budget):
            return "BUD-004" if budget == "elapsed" else "BUD-003"
        case _:
            return _BY_EVENT.get(type(event).__name__, NOTHING_OWED)


def of_a_difference(batch: Sequence[AnyEvent], number: int) -> str:
    """Return what is broken where an event of a batch is not what it must be."""
    return of_what_is_owed(batch[number]) if number < len(batch) else NOTHING_OWED


def of_a_member(pointer: str) -> str:
    """Return what is broken where a state is told otherwise."""
    known = [_BY_MEMBER[step] for step in pointer.split("/") if step in _BY_MEMBER]
    return known[-1] if known else "RUN-010"


def of_a_record(code: str) -> str:
    """Return what is broken where what a journal shows is to be refused with a code."""
    return _BY_RECORD.get(code, "JRN-050")
