"""A state as it is told: what anybody can work out from the history by the words of the specification.

Source: `docs/spec/kernel.md`, "The state as it is told".
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from perdure.kernel.mapping import run_output
from perdure.kernel.queues import in_order
from perdure.kernel.state import NodeState, Received, State, Value
from perdure.kernel.values import JsonObject, JsonValue


def view_of(state: State) -> JsonObject:
    """Return a state as it is told."""
    return {
        "status": state.status,
        "now_ms": state.now_ms,
        "attempts_used": state.attempts_used,
        "transitions_used": state.transitions_used,
        "output": run_output(state),
        "nodes": {state.name(position): _node(state.nodes[position]) for position in range(len(state.plan.nodes))},
        "signals": dict(sorted(state.signals.items())),
        "recovery": _plain(state.recovery) if state.recovery is not None and state.recovery.is_held else None,
    }


def _node(node: NodeState) -> JsonObject:
    return {
        "status": node.status,
        "closed": node.closed,
        "activations": node.activations,
        "queued": 0 if node.queue is None else len(list(in_order(node.queue))),
        "attempts": node.attempts,
        "attempt_id": node.attempt_id,
        "child_run_id": node.child_run_id,
        "deadline_ms": node.deadline_ms,
        "retry_ms": node.retry_ms,
        "wait": None if node.wait is None else _plain(node.wait),
        "input": node.input,
        "received": list(_received(node)),
        "outcome": node.outcome,
    }


def _received(node: NodeState) -> Iterator[JsonValue]:
    """Yield the signals that the active attempt accepted, in order."""
    for _, gain in sorted(node.resolved.items()):
        if isinstance(gain, Received):
            yield _plain(gain)


def _plain(value: Value) -> JsonObject:
    members: JsonObject = {name: member for name, member in msgspec.structs.asdict(value).items() if name != "is_held"}
    return members
