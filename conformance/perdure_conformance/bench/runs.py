"""Whole runs of large specifications, decided and reduced event by event; every shape wakes another rule."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from perdure.kernel.commands import AdvanceTime, AnyCommand, CompleteAttempt, CreateRun, RequestCancellation, StartNode
from perdure.kernel.decide import decide
from perdure.kernel.events import EventV5, NodeReady, RetryReleased, TransitionActivated, VirtualTimeAdvanced
from perdure.kernel.identity import AttemptId, NodeId, RunId
from perdure.kernel.outcomes import ChangesRequested, Outcome, Succeeded, Unsuccessful
from perdure.kernel.reduce import reduce
from perdure.kernel.state import State
from perdure_conformance.bench import specifications
from perdure_conformance.spec.documents import edge, node, workflow

Document = dict[str, Any]
Ends = Callable[[NodeId, int], Outcome]
"""How the attempts of a node end, by their number over the whole run."""

RUN_ID: Final = RunId("00000000-0000-7000-8000-000000000000")
_SUCCEEDED: Final = Succeeded(kind="succeeded", output={"x": 0, "go": True})


def succeeds(name: NodeId, attempt: int) -> Outcome:
    """End every attempt well."""
    del name, attempt
    return _SUCCEEDED


@dataclass(frozen=True, slots=True)
class Play:
    """A run to be played: its specification, and how attempts end."""

    document: Document
    ends: Ends = succeeds
    last: Callable[[State], AnyCommand] | None = None
    """What is asked when everything that is ready has been started; None if attempts are ended one by one."""

    def batches(self) -> Iterator[tuple[EventV5, ...]]:
        """Play the run to its end, and yield each batch; every event is decided, and then reduced."""
        ready: deque[NodeId] = deque()
        state: State | None = None
        attempts = 0
        asked: list[AnyCommand] = [CreateRun(run_id=RUN_ID, specification=self.document)]
        while asked or ready:
            if not asked:
                attempts += 1
                name, attempt_id = ready.popleft(), AttemptId(f"00000000-0000-7000-8000-{attempts:012x}")
                asked.append(StartNode(node=name, attempt_id=attempt_id))
                if self.last is None:
                    outcome = self.ends(name, attempts)
                    asked.append(CompleteAttempt(node=name, attempt_id=attempt_id, outcome=outcome))
                elif not ready:
                    assert state is not None
                    asked.append(self.last(state))
            batch = decide(state, asked.pop(0))
            assert isinstance(batch, tuple), batch
            for event in batch:
                state = reduce(state, event)
                ready.extend(_made_ready(state, event))
            yield batch

    def events(self) -> int:
        """Play the run to its end, and count its events."""
        return sum(map(len, self.batches()))


def _made_ready(state: State, event: EventV5) -> list[NodeId]:
    match event:
        case NodeReady(node=name) | RetryReleased(node=name):
            return [name]
        case TransitionActivated(edge=number, source_sequence=sequence):
            target = state.nodes[state.plan.targets[number]]
            begins = target.status == "ready" and target.activation == (sequence, number)
            return [state.plan.edges[number].target] if begins else []
        case _:
            return []


def untaken(size: int) -> Document:
    """Branches that are not taken, one behind the other, each with a dependent that runs all the same."""
    nodes, edges = [node("n0")], []
    for number in range(1, size - 1, 2):
        before = f"n{number - 1}"
        nodes += [
            node(f"n{number}"),
            node(f"n{number + 1}", dependencies=[f"n{number}"], dependency_policy="all_completed"),
        ]
        edges.append(edge(before, f"n{number}", when={"outcome": "blocked"}))
    return workflow(*nodes, edges=edges)


def crowd(size: int) -> Document:
    """One node that all others depend on, and one that depends on all."""
    others = [f"n{number}" for number in range(1, size - 1)]
    waiting = [node(name, dependencies=["n0"]) for name in others]
    return workflow(node("n0"), *waiting, node("last", dependencies=others))


def deadlines(size: int) -> Document:
    """Nodes that are all started, and all expire at once, again and again."""
    retry = {"max_attempts": 2, "attempt_deadline_ms": 5, "backoff": {"kind": "immediate"}}
    nodes = [node(f"n{number}", retry=retry) for number in range(size)]
    return workflow(*nodes, budgets={"max_attempts": 2 * size})


def _turns(size: int) -> Document:
    """Two nodes that correct each other, for a number of events."""
    edges = [edge("a", "b", when={"outcome": "changes_requested"}), edge("b", "a")]
    budgets = {"max_attempts": size + 10, "max_transitions": size + 10}
    return workflow(node("a"), node("b"), edges=edges, initial_nodes=["a"], budgets=budgets)


def turns(size: int) -> Play:
    """A loop of two nodes that goes round until there are so many events."""
    correction = ChangesRequested(kind="changes_requested", reason="once more")

    def ends(name: NodeId, attempt: int) -> Outcome:
        return correction if name == "a" and 3 * attempt < size else _SUCCEEDED

    return Play(_turns(size), ends)


def clock(size: int) -> Iterator[tuple[EventV5, ...]]:
    """Yield the batches of a run in which nothing but time goes on: its state is as large after any of them."""
    created = decide(None, CreateRun(run_id=RUN_ID, specification=workflow(node("a"))))
    assert isinstance(created, tuple), created
    yield created
    for now_ms in range(1, size - len(created) + 1):
        yield (VirtualTimeAdvanced(now_ms=now_ms),)


def _retried(size: int) -> Play:
    def ends(name: NodeId, attempt: int) -> Outcome:
        del name
        return Unsuccessful(kind="retryable_failure", reason="try again") if attempt % 2 else _SUCCEEDED

    budgets = {"max_attempts": 2 * size, "max_transitions": 10 * size}
    return Play(specifications.chain(size) | {"budgets": budgets}, ends)


def _advance(state: State) -> AnyCommand:
    return AdvanceTime(now_ms=state.now_ms + 9)


def _cancel(state: State) -> AnyCommand:
    del state
    return RequestCancellation(requester="bench", reason="enough")


SHAPES: Final[Mapping[str, Callable[[int], Play]]] = {
    "chain": lambda size: Play(specifications.chain(size)),
    "choice": lambda size: Play(specifications.choice(size)),
    "loops": lambda size: Play(specifications.loops(size)),
    "merges": lambda size: Play(specifications.merges(size)),
    "joins": lambda size: Play(specifications.joins(size)),
    "untaken": lambda size: Play(untaken(size)),
    "crowd": lambda size: Play(crowd(size)),
    "retried": _retried,
    "deadlines": lambda size: Play(deadlines(size), last=_advance),
    "cancelled": lambda size: Play(deadlines(size), last=_cancel),
}
"""By name, each by its number of nodes."""
