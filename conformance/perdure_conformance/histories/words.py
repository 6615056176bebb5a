"""Events in words: for each a node, and what matters about it, in one harmless line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from perdure.kernel.events import (
    AnyEvent,
    AttemptDeadlineExpired,
    BudgetExhausted,
    CancellationRequested,
    ChildCompleted,
    ChildStarted,
    NodeBlocked,
    NodeFailed,
    NodeOutcomeCommitted,
    NodeReady,
    NodeStarted,
    NodeTerminated,
    RecoveryAcquired,
    RecoveryReleased,
    RetryReleased,
    RetryScheduled,
    RunCreated,
    SignalAccepted,
    SignalExpired,
    SignalRejected,
    SignalWaitOpened,
    TimerFired,
    TimerWaitOpened,
    TransitionActivated,
    VirtualTimeAdvanced,
)
from perdure.kernel.outcomes import Outcome, Succeeded, Unsuccessful
from perdure.kernel.plan import Plan
from perdure.kernel.values import JsonValue
from perdure_conformance.lint.drawing import predicate_in_words
from perdure_conformance.reports.inert import inert

_SHOWN: Final = 100
_SHOWN_NAME: Final = 40
_SHOWN_OF_ID: Final = 8


@dataclass(frozen=True, slots=True)
class Row:
    """One event, where it stands in its batch, and what it says."""

    sequence: int
    now_ms: int
    batch_index: int
    batch_size: int
    event: AnyEvent


@dataclass(frozen=True, slots=True)
class Remark:
    """What stands between events, and is none."""

    text: str


def one_line(text: str, most: int = 500) -> str:
    """Return foreign text as one harmless line, of at most so many characters."""
    harmless = inert(text[: most + 1]).replace("\n", "\\n").replace("\t", " ")
    return harmless if len(harmless) <= most else f"{harmless[: most - 1]}…"


def value_in_words(value: JsonValue, most: int = _SHOWN) -> str:
    """Return a JSON value as one harmless line."""
    return one_line(json.dumps(value, ensure_ascii=False, separators=(",", ":")), most)


def named(event: AnyEvent) -> str:
    """Return the type of an event, and the node that it is about."""
    name = type(event).__name__
    node = node_of(event)
    match event:
        case NodeReady():
            return f"{name} of {node} ({event.cause})"
        case NodeOutcomeCommitted():
            return f"{name} of {node} ({event.outcome.kind})"
        case TransitionActivated():
            return f"{name} of edge {event.edge}, from {node}"
        case BudgetExhausted():
            return f"{name} ({event.budget})"
        case _:
            return f"{name} of {node}" if node else name


def node_of(event: AnyEvent) -> str:
    """Return the node that an event is about; nothing if it is about the run."""
    node = event.source if isinstance(event, TransitionActivated) else getattr(event, "node", "")
    return one_line(str(node), _SHOWN_NAME)


def told(event: AnyEvent, plan: Plan) -> str:
    """Return what matters about an event beside its type and its node."""
    return one_line(_told(event, plan), _SHOWN)


def _told(event: AnyEvent, plan: Plan) -> str:  # noqa: C901, PLR0912 - one case an event
    match event:
        case RunCreated():
            return f"{plan.specification.workflow_id}@{plan.specification.workflow_version}"
        case NodeReady(cause=cause):
            return cause
        case NodeStarted(attempt=attempt):
            return f"attempt {attempt}{_until(event.deadline_ms)}"
        case ChildStarted(attempt=attempt):
            return f"attempt {attempt}, as run {event.child_run_id[:_SHOWN_OF_ID]}…{_until(event.deadline_ms)}"
        case NodeOutcomeCommitted(outcome=outcome):
            return _outcome(outcome) + ("" if event.attempt_id is not None else ", without an attempt")
        case NodeFailed(reason=reason) | NodeBlocked(reason=reason):
            return reason
        case TransitionActivated(edge=edge):
            found = plan.edges[edge]
            return f"→ {found.target} by edge {edge}, {predicate_in_words(found.when)}"
        case ChildCompleted(result=result, output=output):
            return f"{result} {value_in_words(output)}" if output else result
        case VirtualTimeAdvanced(now_ms=now_ms):
            return f"to {now_ms}"
        case RetryScheduled(next_attempt=attempt, deadline_ms=deadline_ms):
            return f"attempt {attempt} at {deadline_ms}"
        case RetryReleased(next_attempt=attempt):
            return f"attempt {attempt}"
        case AttemptDeadlineExpired(deadline_ms=deadline_ms) | SignalExpired(deadline_ms=deadline_ms):
            return f"due at {deadline_ms}"
        case NodeTerminated(reason=reason, limit=limit, usage=usage):
            return reason if limit is None else f"{reason}: {usage} of {limit}"
        case BudgetExhausted():
            return f"{event.budget}: {event.usage} of {event.limit}"
        case SignalWaitOpened(name=name):
            return f"for {name}{_until(event.deadline_ms)}"
        case SignalAccepted(name=name, payload=payload):
            return f"{name} {value_in_words(payload)}" if payload is not None else name
        case SignalRejected(reason=reason):
            return reason
        case TimerWaitOpened(deadline_ms=deadline_ms) | TimerFired(deadline_ms=deadline_ms):
            return f"at {deadline_ms}"
        case CancellationRequested():
            return f"by {event.requester}: {event.reason}"
        case RecoveryAcquired(epoch=epoch) | RecoveryReleased(epoch=epoch):
            return f"epoch {epoch}, by {event.owner[:_SHOWN_OF_ID]}…"
        case _:
            return ""


def _until(deadline_ms: int | None) -> str:
    return "" if deadline_ms is None else f", until {deadline_ms}"


def _outcome(outcome: Outcome) -> str:
    if not isinstance(outcome, Unsuccessful) and outcome.output is not UNSET:
        return f"{outcome.kind} {value_in_words(outcome.output)}"
    if not isinstance(outcome, Succeeded) and outcome.reason:
        return f"{outcome.kind}: {outcome.reason}"
    return outcome.kind


def table(rows: Sequence[Row | Remark], plan: Plan) -> Iterator[str]:
    """Yield one line an event: sequence, time, the border of its batch, type, node, and what it says."""
    events = [row for row in rows if isinstance(row, Row)]
    of_sequence = max(3, len(str(max((row.sequence for row in events), default=0))))
    of_time = max(4, len(str(max((row.now_ms for row in events), default=0))))
    of_type = max((len(type(row.event).__name__) for row in events), default=0)
    of_node = max((len(node_of(row.event)) for row in events), default=0)
    yield f"{'seq':>{of_sequence}}  {'ms':>{of_time}}    {'event':<{of_type}}  {'node':<{of_node}}".rstrip()
    for row in rows:
        if isinstance(row, Remark):
            yield f"{'':>{of_sequence}}  {'':>{of_time}}  ! {one_line(row.text)}".rstrip()
            continue
        yield (
            f"{row.sequence:>{of_sequence}}  {row.now_ms:>{of_time}}  {_border(row)} "
            f"{type(row.event).__name__:<{of_type}}  {node_of(row.event):<{of_node}}  {told(row.event, plan)}"
        ).rstrip()


def _border(row: Row) -> str:
    if row.batch_size == 1:
        return "─"
    if row.batch_index == 0:
        return "┌"
    return "└" if row.batch_index + 1 == row.batch_size else "│"
