"""Limits, which no schema can say: the second pass over what was decoded.

Limits are inclusive. Inline values are measured in canonical form, reasons in UTF-8. Values nest less deep than JSON
may, so that the record and the state around one are still JSON. Times and epochs are those that a record can say.

Source: ADR-0032, "Typed outcomes and dependency policies"; "Values" of the graph design.
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, UnsetType

from perdure.kernel.commands import (
    AcquireRecovery,
    AdvanceTime,
    Command,
    CompleteAttempt,
    CompleteChild,
    CreateRun,
    DeliverSignal,
    OpenSignalWait,
    OpenTimerWait,
    ReleaseRecovery,
    RequestCancellation,
)
from perdure.kernel.errors import corrupt
from perdure.kernel.events import (
    CancellationRequested,
    ChildCompleted,
    Event,
    NodeBlocked,
    NodeFailed,
    NodeOutcomeCommitted,
    NodeSucceeded,
    RecoveryAcquired,
    RecoveryReleased,
    RunCreated,
    SignalAccepted,
    SignalWaitOpened,
    TimerWaitOpened,
    VirtualTimeAdvanced,
)
from perdure.kernel.outcomes import MAX_INLINE_BYTES, MAX_INLINE_DEPTH, MAX_REASON_BYTES, Outcome, check_limits
from perdure.kernel.problems import Problems
from perdure.kernel.values import MAX_SAFE_INTEGER, JsonError, JsonObject, JsonValue, canonical_json, nesting

MAX_RECORD_BYTES: Final = 2**20
MAX_LARGE_RECORD_BYTES: Final = 2**24
"""Of a record that creates or cancels a run: those carry a specification, or a target for each node."""
MAX_FIELDS_BYTES: Final = 15 * 2**16
"""Of a run's input and of a child's output, in canonical form: their records have room for no more."""


def excess(subject: Event | Command) -> str | None:
    """Return what exceeds its limit, or contradicts itself; None if nothing does."""
    match subject:
        case NodeOutcomeCommitted(outcome=outcome) | CompleteAttempt(outcome=outcome):
            return _of_outcome(outcome)
        case NodeSucceeded(output=output):
            return _of_inline(output, "output")
        case SignalAccepted(payload=payload) | DeliverSignal(payload=payload):
            return _of_inline(payload, "payload")
        case RunCreated(input=fields) | CreateRun(input=fields):
            return _of_fields(fields, "input")
        case ChildCompleted(output=fields) | CompleteChild(output=fields):
            return _of_fields(fields, "output")
        case NodeFailed() | NodeBlocked() | CancellationRequested() | RequestCancellation():
            return _of_reason(subject.reason)
        case VirtualTimeAdvanced() | AdvanceTime():
            return _of_number(subject.now_ms, least=0)
        case TimerWaitOpened() | OpenTimerWait() | SignalWaitOpened() | OpenSignalWait():
            return _of_number(subject.deadline_ms, least=0)
        case RecoveryAcquired() | AcquireRecovery() | RecoveryReleased() | ReleaseRecovery():
            return _of_number(subject.epoch, least=1)
        case _:
            return None


def require_within_limits(event: Event) -> None:
    """Raise `Corruption` if something in an event exceeds its limit."""
    too_much = excess(event)
    if too_much is not None:
        corrupt("over_limit", too_much)


def record_limit(event: Event) -> int:
    """Return how many bytes the record of an event may have."""
    return MAX_LARGE_RECORD_BYTES if isinstance(event, RunCreated | CancellationRequested) else MAX_RECORD_BYTES


def _of_outcome(outcome: Outcome) -> str | None:
    problems = Problems()
    try:
        check_limits(outcome, problems)
    except JsonError as error:
        return str(error)
    return problems.kept[0].sentence if problems.kept else None


def _of_inline(value: JsonValue | UnsetType, name: str) -> str | None:
    return None if value is UNSET else _of_json(value, name, MAX_INLINE_BYTES)


def _of_fields(value: JsonObject, name: str) -> str | None:
    return _of_json(value, name, MAX_FIELDS_BYTES)


def _of_json(value: JsonValue, name: str, limit: int) -> str | None:
    depth = nesting(value)
    if depth > MAX_INLINE_DEPTH:
        return f"the {name} nests {depth} deep, and may nest {MAX_INLINE_DEPTH}"
    try:
        size = len(canonical_json(value))
    except JsonError as error:
        return str(error)
    return f"the {name} has {size} bytes, and may have {limit}" if size > limit else None


def _of_reason(reason: str) -> str | None:
    size = len(reason.encode("utf-8", "surrogatepass"))
    return f"the reason has {size} bytes, and may have {MAX_REASON_BYTES}" if size > MAX_REASON_BYTES else None


def _of_number(number: int | None, *, least: int) -> str | None:
    if number is None or least <= number <= MAX_SAFE_INTEGER:
        return None
    return f"the number {number} is not one from {least} to 2^53−1"
