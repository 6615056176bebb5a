"""Runs for tests: commands in few words, and every event that they gave, reduced twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perdure.kernel.commands import (
    AdvanceTime,
    AnyCommand,
    CompleteAttempt,
    CompleteChild,
    CreateRun,
    DeliverSignal,
    OpenSignalWait,
    OpenTimerWait,
    Rejection,
    RequestCancellation,
    StartNode,
    token_digest,
)
from perdure.kernel.decide import decide
from perdure.kernel.events import (
    AnyEvent,
    BudgetExhausted,
    NodeOutcomeCommitted,
    NodeReady,
    NodeTerminated,
    TransitionActivated,
)
from perdure.kernel.identity import AttemptId, Name, NodeId, RunId, SignalId
from perdure.kernel.outcomes import ChangesRequested, Outcome, OutcomeKind, Succeeded, Unsuccessful
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.state import State, Status

RUN = RunId("00000000-0000-7000-8000-000000000001")


def uuid(number: int) -> str:
    """Return one identity a number."""
    return f"00000000-0000-7000-8000-{number:012x}"


def node(name: str, **members: Any) -> dict[str, Any]:
    """Return a node of a document, with a handler unless it is a child."""
    work = {} if "child" in members else {"handler": {"name": "work", "version": 1}}
    return {"id": name, **work, **members}


def edge(arrow: str, when: Any = "any") -> dict[str, Any]:
    """Return an edge, `A>B`, that follows a kind of outcome, or `any`."""
    source, _, target = arrow.partition(">")
    predicate = when if when == "any" or isinstance(when, dict) else {"outcome": when}
    return {"from": source, "to": target, "when": predicate}


def document(nodes: Iterable[Any], edges: Iterable[Any] = (), **members: Any) -> dict[str, Any]:
    """Return a document of nodes, each a name or an object, and edges."""
    listed = [node(item) if isinstance(item, str) else item for item in nodes]
    whole = {"schema_version": 5, "workflow_id": "example", "workflow_version": 1, "nodes": listed, **members}
    return whole | ({"edges": list(edges)} if edges else {})


def outcome(kind: OutcomeKind, output: Any = None) -> Outcome:
    """Return an outcome of a kind."""
    if kind == "succeeded":
        return Succeeded(kind=kind) if output is None else Succeeded(kind=kind, output=output)
    if kind == "changes_requested":
        return ChangesRequested(kind=kind, reason="", **({} if output is None else {"output": output}))
    return Unsuccessful(kind=kind, reason="")


class Player:
    """One run, played by commands."""

    def __init__(self, specification: dict[str, Any], rules: Rules = RULES, **creation: Any) -> None:
        self.rules = rules
        self.state: State | None = None
        self.history: list[AnyEvent] = []
        self.batches: list[tuple[AnyEvent, ...]] = []
        self.answer: Rejection | None = None
        self._numbers = 100
        self.do(CreateRun(run_id=RUN, specification=specification, **creation))

    @property
    def now(self) -> State:
        """The state."""
        assert self.state is not None
        return self.state

    def do(self, command: AnyCommand) -> list[str]:
        """Give a command, and return the events in short."""
        found = decide(self.state, command, self.rules)
        if isinstance(found, Rejection):
            self.answer = found
            return [f"! {found.code}"]
        for event in found:
            self.state = reduce(self.state, event, self.rules)
        self.history += found
        self.batches.append(found)
        return [short(event) for event in found]

    def fresh(self) -> str:
        """Return an identity that was not used before."""
        self._numbers += 1
        return uuid(self._numbers)

    def status(self, name: str) -> Status:
        """Return the status of a node."""
        return self.now.nodes[self.now.plan.positions[NodeId(name)]].status

    def attempt(self, name: str) -> AttemptId:
        """Return the active attempt of a node."""
        found = self.now.nodes[self.now.plan.positions[NodeId(name)]].attempt_id
        assert found is not None
        return found

    def start(self, name: str, *, child: bool = False) -> list[str]:
        """Start a node."""
        child_run = RunId(self.fresh()) if child else None
        return self.do(StartNode(node=NodeId(name), attempt_id=AttemptId(self.fresh()), child_run_id=child_run))

    def end(self, name: str, kind: OutcomeKind = "succeeded", output: Any = None) -> list[str]:
        """End the active attempt of a node."""
        return self.do(CompleteAttempt(node=NodeId(name), attempt_id=self.attempt(name), outcome=outcome(kind, output)))

    def run(self, name: str, kind: OutcomeKind = "succeeded", output: Any = None) -> list[str]:
        """Start a node, and end it."""
        return self.start(name)[1:] + self.end(name, kind, output)

    def advance(self, now_ms: int) -> list[str]:
        """Let time go on."""
        return self.do(AdvanceTime(now_ms=now_ms))

    def child_ends(self, name: str, result: Any, **output: Any) -> list[str]:
        """End the child run of a node."""
        child_run = self.now.nodes[self.now.plan.positions[NodeId(name)]].child_run_id
        assert child_run is not None
        return self.do(
            CompleteChild(
                node=NodeId(name),
                attempt_id=self.attempt(name),
                child_run_id=child_run,
                result=result,
                output=output,
            )
        )

    def wait(self, name: str, signal: str, token: str = "secret", deadline_ms: int | None = None) -> list[str]:
        """Let a node wait for a signal."""
        return self.do(
            OpenSignalWait(
                node=NodeId(name),
                attempt_id=self.attempt(name),
                name=Name(signal),
                token_sha256=token_digest(token),
                deadline_ms=deadline_ms,
            )
        )

    def wait_until(self, name: str, deadline_ms: int) -> list[str]:
        """Let a node wait for a time."""
        return self.do(OpenTimerWait(node=NodeId(name), attempt_id=self.attempt(name), deadline_ms=deadline_ms))

    def deliver(
        self, name: str, signal: str, token: str = "secret", signal_id: str | None = None, payload: Any = None
    ) -> list[str]:
        """Deliver a signal."""
        return self.do(
            DeliverSignal(
                node=NodeId(name),
                signal_id=SignalId(signal_id or self.fresh()),
                name=Name(signal),
                token_sha256=token_digest(token),
                payload=payload,
            )
        )

    def cancel(self) -> list[str]:
        """Cancel the run."""
        return self.do(RequestCancellation(requester="somebody", reason="enough"))


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
