"""Inspection: what a state amounts to. It shows how outcomes ended, and never what inputs and outputs are.

Source: "Inspection and operational telemetry" of ADR-0032; `docs/spec/kernel.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Final
from uuid import UUID

from perdure.kernel.commands import token_digest
from perdure.kernel.consequences import owed, settling, without_outdated
from perdure.kernel.events import (
    RUNTIME_VERSION,
    ChildCompleted,
    ChildStarted,
    NodeOutcomeCommitted,
    NodeStarted,
    SignalAccepted,
    SignalWaitOpened,
    TimerWaitOpened,
    VirtualTimeAdvanced,
)
from perdure.kernel.identity import AttemptId, RunId, SignalId
from perdure.kernel.legality import Opening, refusal
from perdure.kernel.outcomes import Succeeded
from perdure.kernel.records import document_of
from perdure.kernel.rules import RULES
from perdure.kernel.state import NodeState, Queued, SignalWait, State
from perdure_conformance.histories.words import named, one_line

INSPECT_VERSION: Final = 1

_SHOWN_NAMES: Final = 12
_SHOWN_NAME: Final = 40


def document(state: State, written: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return a state as JSON, and what was written, if anything was."""
    expected = owed(state, RULES)
    specification = state.plan.specification
    return {
        "inspect_version": INSPECT_VERSION,
        "run_id": state.run_id,
        "workflow": workflow_of(state),
        "content_hash": state.content_hash,
        "status": state.status,
        "sequence": state.sequence,
        "version": state.version,
        "now_ms": state.now_ms,
        "nodes": nodes(state),
        "usage": {
            "attempts": {"used": state.attempts_used, "limit": specification.budgets.max_attempts},
            "transitions": {"used": state.transitions_used, "limit": specification.budgets.max_transitions},
            "elapsed_ms": {"used": state.now_ms, "limit": specification.budgets.max_elapsed_ms},
        },
        "waits": waits(state),
        "due": next_due(state),
        "owed": None if expected is None else document_of(expected),
        "may_be_done": may_be_done(state),
        "written": written,
    }


def workflow_of(state: State) -> str:
    """Return the workflow that a run is made from, with its version."""
    return f"{state.plan.specification.workflow_id}@{state.plan.specification.workflow_version}"


def nodes(state: State) -> list[dict[str, object]]:
    """Return how each node stands, in specification order."""
    return [_node(state, position) for position in range(len(state.plan.nodes))]


def _node(state: State, position: int) -> dict[str, object]:
    node = state.nodes[position]
    queued = 0 if node.queue is None else sum(1 for _ in _items(node))
    return {
        "node": state.name(position),
        "status": node.status,
        "activations": node.activations,
        "queued": queued,
        "attempts": node.attempts,
        "attempt_id": node.attempt_id,
        "child_run_id": node.child_run_id,
        "deadline_ms": node.deadline_ms,
        "retry_ms": node.retry_ms,
        "last_outcome": None if node.outcome is None else state.outcomes[node.outcome].kind,
        "closed": node.closed,
    }


def _items(node: NodeState) -> Iterator[Queued]:
    """Yield the activations that wait at a node, in no order."""
    left = [node.queue]
    while left:
        queue = left.pop()
        if queue is not None:
            yield queue.first
            left += [queue.left, queue.right]


def waits(state: State) -> list[dict[str, object]]:
    """Return the waits that are open, in specification order."""
    found: list[dict[str, object]] = []
    for position in range(len(state.plan.nodes)):
        wait = state.nodes[position].wait
        if wait is None:
            continue
        is_signal = isinstance(wait, SignalWait)
        found.append(
            {
                "node": state.name(position),
                "for": "signal" if is_signal else "timer",
                "signal": wait.name if isinstance(wait, SignalWait) else None,
                "deadline_ms": wait.deadline_ms,
            }
        )
    return found


def next_due(state: State) -> dict[str, object] | None:
    """Return what happens at a time and comes first; None if nothing does, or the run has ended."""
    due = without_outdated(state, RULES) if state.status == "running" else None
    if due is None:
        return None
    deadline_ms, rank, position = due.first
    kind = RULES.due_order[rank]
    return {"kind": kind, "node": None if kind == "elapsed" else state.name(position), "deadline_ms": deadline_ms}


def may_be_done(state: State) -> dict[str, list[str]]:
    """Return which commands are allowed next, each with its nodes; none in the middle of a batch or after the end."""
    if state.status != "running" or owed(state, RULES) is not None:
        return {}
    fresh = _fresh(state)
    allowed: dict[str, list[str]] = {command: [] for command in _OF_NODES}
    for position in range(len(state.plan.nodes)):
        for command, opening in _openings(state, position, fresh):
            if refusal(state, opening, RULES) is None:
                allowed[command].append(state.name(position))
    allowed = {command: names for command, names in allowed.items() if names}
    if owed(settling(state, RUNTIME_VERSION, RULES), RULES) is not None:
        allowed["Settle"] = []
    if refusal(state, VirtualTimeAdvanced(now_ms=RULES.later(state.now_ms, 1)), RULES) is None:
        allowed["AdvanceTime"] = []
    return {**allowed, "RequestCancellation": []}


_OF_NODES: Final = (
    "StartNode",
    "CompleteAttempt",
    "CompleteChild",
    "OpenTimerWait",
    "OpenSignalWait",
    "DeliverSignal",
)


def _openings(state: State, position: int, fresh: str) -> Iterator[tuple[str, Opening]]:
    """Yield the commands that there are of a node, each with an event that it would begin with.

    `fresh` is an identity that nothing of the run has.
    """
    name, specified, node = state.name(position), state.node(position), state.nodes[position]
    if specified.child is None:
        yield "StartNode", NodeStarted(node=name, attempt_id=AttemptId(fresh), attempt=1)
    else:
        start = ChildStarted(node=name, attempt_id=AttemptId(fresh), attempt=1, child_run_id=RunId(fresh))
        yield "StartNode", start
    attempt_id = node.attempt_id
    if attempt_id is None:
        return
    done = Succeeded(kind="succeeded")
    yield "CompleteAttempt", NodeOutcomeCommitted(node=name, attempt_id=attempt_id, outcome=done)
    if node.child_run_id is not None:
        child_run_id = node.child_run_id
        ended = ChildCompleted(node=name, attempt_id=attempt_id, child_run_id=child_run_id, result="completed")
        yield "CompleteChild", ended
    later = RULES.later(state.now_ms, 1)
    yield "OpenTimerWait", TimerWaitOpened(node=name, attempt_id=attempt_id, deadline_ms=later)
    for signal in specified.signals[:1]:
        token = token_digest("")
        yield "OpenSignalWait", SignalWaitOpened(node=name, attempt_id=attempt_id, name=signal, token_sha256=token)
        accepted = SignalAccepted(node=name, attempt_id=attempt_id, signal_id=SignalId(fresh), name=signal)
        yield "DeliverSignal", accepted


def _fresh(state: State) -> str:
    """Return an identity that nothing of a run has."""
    known = {state.run_id, *state.ancestors, *state.child_runs, *state.attempts, *state.signals}
    return next(text for text in (str(UUID(int=number)) for number in count()) if text not in known)


def in_words(state: State) -> list[str]:
    """Return a state as lines."""
    expected = owed(state, RULES)
    due = next_due(state)
    lines = [
        f"run        {state.run_id}",
        f"workflow   {workflow_of(state)}",
        f"status     {state.status}, after record {state.sequence:,} (version {state.version}), at {state.now_ms:,} ms",
        *([] if expected is None else [f"owed       {named(expected)}: this is the middle of a batch"]),
        "",
        *node_table(state),
        "",
        f"used       {_usage(state)}",
        *(f"waits      {_wait(wait)}" for wait in waits(state)),
    ]
    if due is not None:
        what = "the run's time" if due["kind"] == "elapsed" else f"{_KINDS[str(due['kind'])]} of {due['node']}"
        lines.append(f"due next   {what}, at {due['deadline_ms']:,} ms")
    for number, (command, names) in enumerate(may_be_done(state).items()):
        heading = "may be done" if number == 0 else ""
        lines.append(f"{heading:<11}  {command}{_listed(names)}")
    return lines


_KINDS: Final = {
    "attempt": "the deadline",
    "signal_wait": "the end of the wait",
    "timer": "the timer",
    "retry": "the retry",
}


def _usage(state: State) -> str:
    budgets = state.plan.specification.budgets
    told = [
        f"{state.attempts_used:,} of {budgets.max_attempts:,} attempts",
        f"{state.transitions_used:,} of {budgets.max_transitions:,} transitions",
    ]
    if budgets.max_elapsed_ms is not None:
        told.append(f"{state.now_ms:,} of {budgets.max_elapsed_ms:,} ms")
    return ", ".join(told)


def _wait(wait: dict[str, object]) -> str:
    until = "" if wait["deadline_ms"] is None else f", until {wait['deadline_ms']:,} ms"
    what = f"the signal {wait['signal']}" if wait["for"] == "signal" else "a time"
    return f"{wait['node']}, for {what}{until}"


def _listed(names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(one_line(name, _SHOWN_NAME) for name in names[:_SHOWN_NAMES])
    more = len(names) - _SHOWN_NAMES
    return f" {shown}" + (f", … and {more:,} more" if more > 0 else "")


_COLUMNS: Final = ("node", "status", "activations", "attempts", "last outcome", "")


def node_table(state: State) -> Iterator[str]:
    """Yield how each node stands, a line each."""
    rows = [_COLUMNS, *(_row(node) for node in nodes(state))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _row(node: dict[str, object]) -> tuple[str, ...]:
    notes = [f"{node['queued']} queued"] if node["queued"] else []
    if node["deadline_ms"] is not None:
        notes.append(f"until {node['deadline_ms']:,} ms")
    if node["retry_ms"] is not None:
        notes.append(f"again at {node['retry_ms']:,} ms")
    if node["closed"]:
        notes.append("closed")
    return (
        one_line(str(node["node"]), _SHOWN_NAME),
        str(node["status"]).replace("_", " "),
        str(node["activations"]),
        str(node["attempts"]),
        str(node["last_outcome"] or ""),
        ", ".join(notes),
    )
