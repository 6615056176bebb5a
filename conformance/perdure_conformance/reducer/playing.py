"""Runs to make histories of: what is asked is written in few words, and what it brings is the model's.

Each call writes the event that opens a batch, in the version of the run, and then whatever the model owes. It returns
the events of that batch in short. Attempts are numbered from 1 in the order in which they start, and so are child runs
and deliveries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

from perdure.kernel.commands import token_digest
from perdure.kernel.consequences import owed, settling, within_budget
from perdure.kernel.events import (
    AnyEvent,
    BudgetExhausted,
    NodeOutcomeCommitted,
    NodeReady,
    NodeTerminated,
    TransitionActivated,
)
from perdure.kernel.identity import NodeId
from perdure.kernel.legality import attempt_deadline, cancel_targets
from perdure.kernel.records import document_of
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.state import NodeState, State
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.histories import (
    NEWEST,
    Document,
    Fact,
    History,
    attempt,
    child,
    created,
    document,
    fact,
    outcome,
    signal,
)
from perdure_conformance.reducer.reference import read_entry

Value = Any


class Run:
    """One run, played by the model."""

    def __init__(
        self,
        nodes: Iterable[str | Document],
        edges: Iterable[str | Document] = (),
        version: int = NEWEST,
        *,
        creation: Document | None = None,
        **members: Value,
    ) -> None:
        self.past = History(version=version)
        self._state: State | None = None
        self._attempts = self._children = self._signals = 0
        self.document = document(nodes, edges, version, **members)
        self.write(created(self.document, **(creation or {})))

    def fork(self) -> Run:
        """Return the run, to be continued in another way."""
        return copy(self)

    def played(self, *events: Fact) -> History:
        """Return the history with events and whatever is owed then; the run itself stays as it is."""
        other = self.fork()
        other.write(*events)
        return other.past

    @property
    def state(self) -> State:
        """The state."""
        assert self._state is not None
        return self._state

    def of(self, name: str) -> NodeState:
        """Return how a node stands."""
        return self.state.nodes[self.state.plan.positions[NodeId(name)]]

    def write(self, *events: Fact) -> list[str]:
        """Write events, and then whatever is owed."""
        before = len(self.past)
        for event in events:
            self._append(event)
        while (due := owed(self.state, RULES)) is not None:
            self._append(document_of(due))
        return [short(read_entry(entry)) for entry in self.past.entries[before:]]

    def _append(self, event: Any) -> None:
        version = self.past.version
        self._state = reduce(self._state, read_entry(Entry(version, event)), version=version)
        self.past += event

    def goes_on(self, version: int) -> None:
        """Write what comes in another version."""
        self.past = self.past.on(version)

    def start(self, name: str) -> list[str]:
        """Start a node, as a child run if it is one."""
        self._attempts += 1
        position = self.state.plan.positions[NodeId(name)]
        deadline_ms = attempt_deadline(self.state, position, self.past.version, RULES)
        members: Fact = {"node": name, "attempt_id": attempt(self._attempts), "attempt": self.of(name).attempts + 1}
        members |= {} if deadline_ms is None else {"deadline_ms": deadline_ms}
        if self.state.node(position).child is None:
            return self._open(fact("NodeStarted", **members))
        self._children += 1
        return self._open(fact("ChildStarted", child_run_id=child(self._children), **members))

    def _open(self, event: Fact) -> list[str]:
        """Write the first event of a batch, or that a budget is exhausted."""
        version = self.past.version
        opening: Any = read_entry(Entry(version, event))
        return self.write(dict(document_of(within_budget(self.state, opening, version, RULES))))

    def end(self, name: str, kind: str = "succeeded", output: Value = None, reason: str = "") -> list[str]:
        """End the active attempt of a node."""
        common = {"node": name, "attempt_id": self.of(name).attempt_id}
        if self.past.version > 1:
            return self.write(fact("NodeOutcomeCommitted", **common, outcome=outcome(kind, output, reason)))
        if kind == "succeeded":
            return self.write(fact("NodeSucceeded", **common, **({} if output is None else {"output": output})))
        return self.write(fact("NodeBlocked" if kind == "blocked" else "NodeFailed", **common, reason=reason))

    def run(self, name: str, kind: str = "succeeded", output: Value = None) -> list[str]:
        """Start a node, and end it."""
        return self.start(name) + self.end(name, kind, output)

    def child_ends(self, name: str, result: str = "completed", **output: Value) -> list[str]:
        """End the child run of a node."""
        of = self.of(name)
        common = {"node": name, "attempt_id": of.attempt_id, "child_run_id": of.child_run_id}
        return self.write(fact("ChildCompleted", **common, result=result, output=output))

    def advance(self, now_ms: int) -> list[str]:
        """Let time go on."""
        return self.write(fact("VirtualTimeAdvanced", now_ms=now_ms))

    def wait(self, name: str, signal_name: str, token: str = "secret", **members: Value) -> list[str]:  # noqa: S107
        """Let a node wait for a signal."""
        common = {"node": name, "attempt_id": self.of(name).attempt_id}
        named = {"name": signal_name, "token_sha256": token_digest(token)}
        return self.write(fact("SignalWaitOpened", **common, **named, **members))

    def wait_until(self, name: str, deadline_ms: int) -> list[str]:
        """Let a node wait for a time."""
        common = {"node": name, "attempt_id": self.of(name).attempt_id}
        return self.write(fact("TimerWaitOpened", **common, deadline_ms=deadline_ms))

    def accept(self, name: str, signal_name: str, **members: Value) -> list[str]:
        """Deliver a signal that is accepted."""
        self._signals += 1
        common = {"node": name, "attempt_id": self.of(name).attempt_id, "signal_id": signal(self._signals)}
        return self.write(fact("SignalAccepted", **common, name=signal_name, **members))

    def reject(self, name: str, reason: str = "wrong_token") -> list[str]:
        """Deliver a signal that is rejected."""
        self._signals += 1
        common = {"node": name, "attempt_id": self.of(name).attempt_id, "signal_id": signal(self._signals)}
        return self.write(fact("SignalRejected", **common, reason=reason))

    def cancel(self) -> list[str]:
        """Cancel the run."""
        targets = [
            {"node": target.node, "attempt_id": target.attempt_id}
            | ({} if target.child_run_id is None else {"child_run_id": target.child_run_id})
            for target in cancel_targets(self.state, RULES)
        ]
        now_ms = self.state.now_ms
        common = {"requester": "somebody", "reason": "enough", "now_ms": now_ms, "policy": "cascade"}
        return self.write(fact("CancellationRequested", **common, targets=targets))

    def settle(self) -> list[str]:
        """Settle what older rules left."""
        self._state = settling(self.state, self.past.version, RULES)
        return self.write()


def short(event: AnyEvent) -> str:
    """Return an event in short: its type, and what matters most about it."""
    match event:
        case NodeReady():
            return f"NodeReady {event.node} {event.cause}"
        case NodeOutcomeCommitted():
            return f"NodeOutcomeCommitted {event.node} {event.outcome.kind}"
        case TransitionActivated():
            return f"TransitionActivated {event.edge}"
        case BudgetExhausted():
            return f"BudgetExhausted {event.budget}"
        case NodeTerminated():
            return f"NodeTerminated {event.node} {event.reason}"
        case _:
            name = getattr(event, "node", None)
            return type(event).__name__ + (f" {name}" if name else "")


def all_short(events: Sequence[AnyEvent]) -> tuple[str, ...]:
    """Return events in short."""
    return tuple(short(event) for event in events)
