"""Limits in bytes, which no schema can say: the second pass over what was decoded.

Limits are inclusive. Inline values are measured in canonical form, reasons in UTF-8.

Source: ADR-0032, "Typed outcomes and dependency policies"; "Values" of the graph design.
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, UnsetType

from perdure.kernel.commands import (
    Command,
    CompleteAttempt,
    CompleteChild,
    CreateRun,
    DeliverSignal,
    RequestCancellation,
)
from perdure.kernel.events import (
    CancellationRequested,
    ChildCompleted,
    Event,
    NodeBlocked,
    NodeFailed,
    NodeOutcomeCommitted,
    NodeSucceeded,
    RunCreated,
    SignalAccepted,
)
from perdure.kernel.outcomes import MAX_INLINE_BYTES, MAX_REASON_BYTES, Outcome, check_limits
from perdure.kernel.problems import Problems
from perdure.kernel.values import JsonError, JsonObject, JsonValue, canonical_json

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
        case NodeFailed(reason=reason) | NodeBlocked(reason=reason):
            return _of_reason(reason)
        case RunCreated(input=fields) | CreateRun(input=fields):
            return _of_fields(fields, "input")
        case ChildCompleted(output=fields) | CompleteChild(output=fields):
            return _of_fields(fields, "output")
        case CancellationRequested(reason=reason) | RequestCancellation(reason=reason):
            return _of_reason(reason)
        case _:
            return None


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
    try:
        size = len(canonical_json(value))
    except JsonError as error:
        return str(error)
    return f"the {name} has {size} bytes, and may have {limit}" if size > limit else None


def _of_reason(reason: str) -> str | None:
    size = len(reason.encode("utf-8", "surrogatepass"))
    return f"the reason has {size} bytes, and may have {MAX_REASON_BYTES}" if size > MAX_REASON_BYTES else None
