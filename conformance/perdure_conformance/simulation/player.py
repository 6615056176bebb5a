"""A run that is played: each command is decided, each event reduced, and what comes by itself comes in one order.

The order: every ready node is started, in specification order; then the attempt that was started first ends; then a
signal that is waited for is delivered; and when nothing else can happen, time goes on to what is due next.

Source: "Runtime" of the graph design; EXE-007 and EXE-009 of `docs/spec/kernel.md`.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from perdure.kernel.commands import (
    AdvanceTime,
    AnyCommand,
    CompleteAttempt,
    CompleteChild,
    CreateRun,
    DeliverSignal,
    Rejection,
    StartNode,
    token_digest,
)
from perdure.kernel.consequences import without_outdated
from perdure.kernel.decide import Events, decide
from perdure.kernel.events import (
    BudgetExhausted,
    CancellationRequested,
    EventV5,
    NodeOutcomeCommitted,
    RetryScheduled,
    TransitionActivated,
)
from perdure.kernel.identity import AttemptId, EventId, NodeId, RunId, SignalId
from perdure.kernel.records import Place, sealed
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.state import SignalWait, State
from perdure.kernel.values import JsonObject
from perdure_conformance.histories.words import Remark, Row
from perdure_conformance.simulation.identities import SeededIds
from perdure_conformance.simulation.outcomes import RESULTS, Answer, Answers, child_output, outcome_of

End = Literal["ended", "stands_still", "max_events", "until", "script", "refused"]
"""Why a simulation is over."""

DEFAULT_TOKEN = "token"  # noqa: S105 - the token of nobody
"""What a wait asks for, and a delivery presents, if nothing else is said."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a run is played."""

    max_events: int
    until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """What one command gave, and the identities of its records."""

    command: AnyCommand
    sequence: int
    events: Events
    event_ids: tuple[EventId, ...]


class Player:
    """One run."""

    def __init__(self, document: JsonObject, given: JsonObject, answers: Answers, bounds: Bounds, seed: int) -> None:
        self._ids = SeededIds(seed)
        self._event_ids = SeededIds(seed, "events")
        self._answers = answers
        self._ready: list[int] = []
        self._running: deque[tuple[int, AttemptId]] = deque()
        self._waiting: deque[int] = deque()
        self._hanging: set[AttemptId] = set()
        self._last: dict[int, tuple[AttemptId, RunId | None]] = {}
        self.bounds = bounds
        self.tokens: dict[int, str] = {}
        """What the last wait of each node asks for."""
        self.batches: list[Batch] = []
        self.rows: list[Row | Remark] = []
        self.fired: Counter[int] = Counter()
        """How often each edge fired."""
        self.stopped: Counter[int] = Counter()
        """How often each edge matched and did not fire, since its target had all its activations."""
        self.answer: Rejection | None = None
        """Why the last command gave nothing, if it gave nothing."""
        self._state: State | None = None
        self.run_id = RunId(self.fresh())
        self.do(CreateRun(run_id=self.run_id, specification=document, input=given))

    @property
    def state(self) -> State:
        """How the run stands."""
        assert self._state is not None
        return self._state

    @property
    def is_created(self) -> bool:
        """Tell whether there is a run."""
        return self._state is not None

    def fresh(self) -> str:
        """Return an identity that was not used before."""
        return self._ids.next_text()

    def do(self, command: AnyCommand) -> bool:
        """Give a command; tell whether it gave events. If not, `answer` says why."""
        found = decide(self._state, command)
        if isinstance(found, Rejection):
            self.answer = found
            return False
        self.answer = None
        sequence = 1 if self._state is None else self.state.sequence + 1
        event_ids = tuple(EventId(self._event_ids.next_text()) for _ in found)
        for index, event in enumerate(found):
            self._state = reduce(self._state, event)
            self.rows.append(Row(sequence + index, self._state.now_ms, index, len(found), event))
        for event in found:
            self._note(event)
        self._note_stopped(found, sequence)
        self.batches.append(Batch(command, sequence, found, event_ids))
        return True

    def _note(self, event: EventV5) -> None:
        """Note what may come next of the node that an event is about."""
        if isinstance(event, TransitionActivated):
            self.fired[event.edge] += 1
            position: int | None = self.state.plan.targets[event.edge]
        else:
            position = self.state.position(getattr(event, "node", NodeId("")))
        if position is None:
            return
        node = self.state.nodes[position]
        if node.status == "ready":
            heapq.heappush(self._ready, position)
        elif node.status == "running" and node.attempt_id is not None:
            self._last[position] = (node.attempt_id, node.child_run_id)
            self._running.append((position, node.attempt_id))
        elif isinstance(node.wait, SignalWait):
            self._waiting.append(position)

    def _note_stopped(self, events: Events, first: int) -> None:
        """Note the edges that an ending outcome of a batch matched and that did not fire for `max_activations`."""
        if any(isinstance(event, CancellationRequested | BudgetExhausted) for event in events):
            return
        plan, nodes = self.state.plan, self.state.nodes
        fired = {(event.edge, event.source_sequence) for event in events if isinstance(event, TransitionActivated)}
        retried = {event.node for event in events if isinstance(event, RetryScheduled)}
        for sequence, event in enumerate(events, first):
            if not isinstance(event, NodeOutcomeCommitted) or event.attempt_id is None or event.node in retried:
                continue
            for edge in plan.leaving[plan.positions[event.node]]:
                target = plan.targets[edge]
                is_stopped = not (
                    nodes[target].closed or RULES.fires(nodes[target], plan.nodes[target].max_activations)
                )
                if is_stopped and (edge, sequence) not in fired and RULES.matches(plan.edges[edge].when, event.outcome):
                    self.stopped[edge] += 1

    def records(self) -> Iterator[bytes]:
        """Yield the sealed records of the history, without line feeds."""
        for batch in self.batches:
            yield from sealed(Place(self.run_id, batch.sequence), batch.events, batch.event_ids)

    def attempt_of(self, position: int | None) -> tuple[AttemptId, RunId]:
        """Return the last attempt of a node, and its child run; identities that nothing has, if there was none."""
        attempt_id, child_run_id = self._last.get(-1 if position is None else position, (None, None))
        return attempt_id or AttemptId(self.fresh()), child_run_id or RunId(self.fresh())

    def start(self, name: NodeId) -> StartNode:
        """Return the command that starts a node."""
        position = self.state.position(name)
        is_child = position is not None and self.state.node(position).child is not None
        attempt_id = AttemptId(self.fresh())
        return StartNode(node=name, attempt_id=attempt_id, child_run_id=RunId(self.fresh()) if is_child else None)

    def end(self, position: int, answer: Answer, reason: str = "") -> CompleteAttempt | CompleteChild:
        """Return the command that ends the last attempt of a node."""
        name, (attempt_id, child_run_id) = self.state.name(position), self.attempt_of(position)
        if self.state.node(position).child is None:
            outcome = outcome_of(self.state.plan, position, answer, reason)
            return CompleteAttempt(node=name, attempt_id=attempt_id, outcome=outcome)
        return CompleteChild(
            node=name,
            attempt_id=attempt_id,
            child_run_id=child_run_id,
            result=RESULTS[answer.word],
            output=child_output(self.state.plan, position, answer),
        )

    def play(self, target: int | None = None) -> End | None:
        """Play on by itself: to an end, or until a node has an active attempt, which gives None."""
        while True:
            if self.state.status != "running":
                return "ended"
            if target is not None and self.state.nodes[target].status == "running":
                return None
            if self.state.sequence >= self.bounds.max_events:
                return "max_events"
            command = self._next()
            if command is None:
                return "stands_still"
            if isinstance(command, AdvanceTime) and self._is_too_late(command):
                return "until"
            if not self.do(command):
                return "refused"

    def _is_too_late(self, command: AdvanceTime) -> bool:
        """Tell whether time would go too far; then it goes as far as it may."""
        until_ms = self.bounds.until_ms
        if until_ms is None or command.now_ms <= until_ms:
            return False
        if self.state.now_ms < until_ms:
            self.do(AdvanceTime(now_ms=until_ms))
        return True

    def _next(self) -> AnyCommand | None:
        """Return what comes by itself; None if nothing does."""
        nodes = self.state.nodes
        while self._ready:
            position = heapq.heappop(self._ready)
            if nodes[position].status == "ready":
                return self.start(self.state.name(position))
        while self._running:
            position, attempt_id = self._running.popleft()
            is_active = nodes[position].status == "running" and nodes[position].attempt_id == attempt_id
            if not is_active or attempt_id in self._hanging:
                continue
            answer = self._answers.next(position, is_child=self.state.node(position).child is not None)
            if answer.word != "hangs":
                return self.end(position, answer)
            self._hanging.add(attempt_id)
        while self._waiting:
            position = self._waiting.popleft()
            wait = nodes[position].wait
            if isinstance(wait, SignalWait):
                return DeliverSignal(
                    node=self.state.name(position),
                    signal_id=SignalId(self.fresh()),
                    name=wait.name,
                    token_sha256=token_digest(self.tokens.get(position, DEFAULT_TOKEN)),
                )
        due = without_outdated(self.state, RULES)
        return None if due is None else AdvanceTime(now_ms=max(due.first.deadline_ms, self.state.now_ms))
