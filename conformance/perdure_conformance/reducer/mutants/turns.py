"""What several mutants do: to go on from another state than they should, to owe something else, to look away.

What `Forgives` in `faults.py` is for one event, `Wayward` is for a whole run: it decides by the same wrong steps by
which it reduces, so that its histories are right in its own eyes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec.structs import asdict, replace

from perdure.kernel.changes import applied
from perdure.kernel.closing import closure, is_cold
from perdure.kernel.commands import AnyCommand, Rejection
from perdure.kernel.consequences import owed, tidied
from perdure.kernel.decide import Events
from perdure.kernel.errors import Corruption
from perdure.kernel.events import RUNTIME_VERSION, AnyEvent, EventV5, NodeOutcomeCommitted
from perdure.kernel.identity import NodeId
from perdure.kernel.outcomes import Outcome, OutcomeKind, Unsuccessful
from perdure.kernel.queues import added, in_order
from perdure.kernel.reduce import followed
from perdure.kernel.rules import Rules
from perdure.kernel.state import NodeState, State
from perdure.kernel.upcast import upcast
from perdure_conformance.reducer.mutants.faults import Forgives
from perdure_conformance.reducer.reference import ReferenceKernel


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that ended: its node, its outcome."""

    position: int
    outcome: Outcome
    is_retried: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """An event, the state before it, and the state that should come after it."""

    before: State
    event: EventV5
    after: State

    @property
    def ended(self) -> Ended | None:
        """The attempt that the event ended, unless a cancellation did."""
        event, after = self.event, self.after
        if not isinstance(event, NodeOutcomeCommitted) or event.attempt_id is None:
            return None
        if self.before.agenda.cancelling is not None:
            return None
        position = at(after, event.node)
        return Ended(position, event.outcome, after.nodes[position].status == "retry_pending")

    @property
    def closed(self) -> int | None:
        """The node that the event closed."""
        event, before = self.event, self.before
        if isinstance(event, NodeOutcomeCommitted) and event.attempt_id is None and before.agenda.cancelling is None:
            return at(before, event.node)
        return None


class Wayward(ReferenceKernel):
    """It takes a wrong turn after some events, and decides as it reduces."""

    def born(self, state: State) -> State:
        """Return the state after RunCreated."""
        return state

    def seen(self, state: State, event: EventV5) -> State:
        """Return the state as it is seen when an event comes."""
        del event
        return state

    def turned(self, turn: Turn) -> State:
        """Return the state after an event, which should be `turn.after`."""
        return turn.after

    def opens(self, state: State | None, opening: EventV5) -> EventV5:
        """Return the first event of a batch."""
        del state
        return opening

    def owed(self, state: State) -> EventV5 | None:
        return owed(state, self.rules)

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is None:
            return self.born(super().step(None, event, version))
        current = upcast(event)
        after = followed(self.seen(state, current), event, self.owed(state), version, self.rules)
        return self.turned(Turn(state, current, after))

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if isinstance(found, Rejection):
            return found
        events: list[EventV5] = []
        event: EventV5 | None = self.opens(state, found[0])
        while event is not None:
            events.append(event)
            state = self.step(state, event, RUNTIME_VERSION)
            event = self.owed(state)
        return tuple(events)


class ClosesToo(Wayward):
    """It closes nodes that it should not, at the end of a batch."""

    def lost(self, state: State) -> Iterator[tuple[int, OutcomeKind]]:
        """Yield nodes that are given up, and how."""
        raise NotImplementedError

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        if event is not None or state.status != "running" or state.version == 1:
            return event
        for position, kind in self.lost(state):
            return NodeOutcomeCommitted(node=state.name(position), outcome=without_output(kind))
        return None

    def turned(self, turn: Turn) -> State:
        if turn.closed is None or turn.before.agenda.closing:
            return turn.after
        return again(replace(turn.after, agenda=replace(turn.after.agenda, closed=0)), self.rules)


class Overlooks(Forgives):
    """It does not compare some members of what is owed, and goes on as if they were right."""

    forgiven: ClassVar = frozenset({"something_else_owed"})
    of: ClassVar[type]
    overlooked: ClassVar[frozenset[str]]

    def expected(self, state: State) -> EventV5 | None:
        """Return what should come."""
        return owed(state, self.rules)

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        expected = self.expected(state)
        if not super().pardons(state, event, error) or not isinstance(event, self.of) or type(expected) is not self.of:
            return False
        return self._compared(event) == self._compared(expected)

    def anyway(self, state: State, event: AnyEvent, version: int, error: Corruption) -> State:
        del event, error
        expected = self.expected(state)
        assert expected is not None
        return applied(state, expected, version, self.rules)

    def _compared(self, event: Any) -> dict[str, Any]:
        return {name: value for name, value in asdict(event).items() if name not in self.overlooked}


def at(state: State, name: NodeId) -> int:
    """Return the position of a node."""
    return state.plan.positions[name]


def with_node(state: State, position: int, **members: Any) -> State:
    """Return the state with other members in a node, but for its status."""
    return replace(state, nodes=state.nodes.set(position, replace(state.nodes[position], **members)))


def with_agenda(state: State, **members: Any) -> State:
    """Return the state with other members on its agenda."""
    return replace(state, agenda=replace(state.agenda, **members))


def without_output(kind: OutcomeKind, reason: str = "") -> Unsuccessful:
    """Return an outcome."""
    assert kind != "succeeded"
    assert kind != "changes_requested"
    return Unsuccessful(kind=kind, reason=reason)


def again(state: State, rules: Rules, keeps: Callable[[int], bool] = lambda _: False) -> State:
    """Return the state in which it is judged again what is to be closed, and whether the run is over.

    What is to be closed already stays so, if it still can be and is not to be kept.
    """
    agenda = state.agenda
    closing = tuple(
        position
        for position in agenda.closing[agenda.closed :]
        if closure(state, position, rules, is_cold=is_cold(state, position)) is not None and not keeps(position)
    )
    state = tidied(with_agenda(state, closing=closing, closed=0, judging=True, verdict=None), rules)
    return again(state, rules, keeps) if any(map(keeps, state.agenda.closing)) else state


def firing(state: State, edges: tuple[int, ...], rules: Rules) -> State:
    """Return the state in which these edges fire, as far as they can, and no others."""
    return again(replace(state, agenda=replace(state.agenda, firing=edges, fired=0)), rules)


def matching(state: State, position: int, outcome: Outcome, rules: Rules) -> tuple[int, ...]:
    """Return the edges of a node that match an outcome."""
    return tuple(edge for edge in state.plan.leaving[position] if rules.matches(state.plan.edges[edge].when, outcome))


def latched(state: State, position: int) -> State:
    """Return the state in which the latch of a node is set, and what follows from it is owed."""
    pinned = tuple(state.nodes[prerequisite].outcome or 0 for prerequisite in state.plan.prerequisites[position])
    state, agenda = with_node(state, position, released=pinned), state.agenda
    if not state.plan.entering[position]:
        return replace(state, agenda=replace(agenda, releases=added(agenda.releases, position)))
    if state.nodes[position].queue is not None:
        return replace(state, agenda=replace(agenda, queued=added(agenda.queued, position)))
    return state


def unlatched(state: State, position: int) -> State:
    """Return the state in which the latch of a node is not set, and it is not to be released."""
    releases = None
    for other in in_order(state.agenda.releases):
        releases = releases if other == position else added(releases, other)
    return replace(with_node(state, position, released=None), agenda=replace(state.agenda, releases=releases))


def newly_latched(before: State, after: State) -> Iterator[int]:
    """Yield the nodes whose latches an event set."""
    for position, node in sorted(after.nodes.items()):
        if node.released is not None and before.nodes[position].released is None:
            yield position


def waiting_for_dependencies(state: State) -> Iterator[tuple[int, NodeState]]:
    """Yield the pending nodes whose latches are not set."""
    for position, node in sorted(state.nodes.items()):
        if node.status == "pending" and node.tally is not None and node.released is None:
            yield position, node
