"""The key of a state: what decides what can happen after it, and nothing else.

Identities, sequences, the time since the run began, and what ended attempts left behind decide nothing: two states that
differ only in them have one key, and what can follow one can follow the other. So it is with which edge brought an
activation, unless the node takes input from where it came.

How much of a budget is used up decides nothing before it is used up. It is in the key only where that happens.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from collections.abc import Set as AbstractSet
from typing import Final, Literal, NamedTuple

from perdure.kernel.outcomes import KINDS_WITH_OUTPUT
from perdure.kernel.plan import Plan
from perdure.kernel.queues import in_order
from perdure.kernel.rules import is_released
from perdure.kernel.specification import OutputReference
from perdure.kernel.state import LIVE, ComponentState, NodeState, SignalWait, State, TimerWait

Budget = Literal["attempts", "transitions", "elapsed"]
BUDGETS: Final[tuple[Budget, ...]] = ("attempts", "transitions", "elapsed")

Key = bytes


class Parts(NamedTuple):
    """The parts of a key, and the state that they are of: what did not change has the same parts."""

    state: State
    nodes: tuple[int, ...]
    components: tuple[int, ...]
    rest: int


class Keys:
    """The keys of states of runs of one specification."""

    def __init__(self, plan: Plan, counted: AbstractSet[Budget]) -> None:
        self._plan = plan
        self._counted = counted
        self._positions = range(len(plan.nodes))
        self._components = range(len(plan.members))
        self._is_limited = [node.max_activations is not None for node in plan.nodes]
        self._sources = [
            frozenset(
                plan.positions[reference.node]
                for reference in node.input_mapping.values()
                if isinstance(reference, OutputReference)
            )
            for node in plan.nodes
        ]
        """For each node, those whose output it takes."""
        asked = frozenset[int]().union(*self._sources)
        self._is_asked = [position in asked for position in range(len(plan.nodes))]
        self._numbers: dict[Hashable, int] = {}
        """Parts are kept by numbers, in the order in which they were seen."""

    def parts(self, state: State, before: Parts | None = None) -> Parts:
        """Return the parts of a state, with those of one that it came from, if that is at hand."""
        new, positions = state.nodes, self._positions
        if before is None:
            nodes = tuple([self._node(state, position) for position in positions])
            components = tuple([self._component(state.components[number]) for number in self._components])
            return Parts(state, nodes, components, self._rest(state))
        old = before.state
        if old.now_ms == state.now_ms:
            was, numbers = old.nodes, before.nodes
            nodes = tuple(
                [numbers[at] if (node := new[at]) is was[at] else self._node(state, at, node) for at in positions]
            )
        else:
            nodes = tuple([self._node(state, position) for position in positions])
        components = before.components
        if state.components is not old.components:
            parts, were = state.components, old.components
            components = tuple(
                [
                    components[at] if (part := parts[at]) is were[at] else self._component(part)
                    for at in self._components
                ]
            )
        is_same = (
            state.entrances is old.entrances
            and state.cold is old.cold
            and state.hopeless is old.hopeless
            and state.status == old.status
        )
        return Parts(state, nodes, components, before.rest if is_same else self._rest(state))

    def key(self, parts: Parts) -> Key:
        """Return the key of a state."""
        state = parts.state
        found = [parts.rest, *parts.components, *parts.nodes]
        if "attempts" in self._counted:
            found.append(state.attempts_used)
        if "transitions" in self._counted:
            found.append(state.transitions_used)
        if "elapsed" in self._counted:
            found += divmod(state.now_ms, 2**31)
        return array("I", found).tobytes()

    def _number(self, part: Hashable) -> int:
        return self._numbers.setdefault(part, len(self._numbers))

    def _rest(self, state: State) -> int:
        """Return what belongs to no node and no component alone."""
        entrances = tuple([state.entrances[position] for position in self._positions])
        return self._number((state.status, entrances, tuple(in_order(state.cold)), tuple(in_order(state.hopeless))))

    def _component(self, part: ComponentState) -> int:
        return self._number((part.predecessors, part.is_done, *sorted(part.closable)))

    def _node(self, state: State, position: int, node: NodeState | None = None) -> int:
        node = state.nodes[position] if node is None else node
        now_ms, wait, queue = state.now_ms, node.wait, node.queue
        return self._number(
            (
                node.status,
                node.closed,
                is_released(node),
                node.activations if self._is_limited[position] and not node.closed else -1,
                0 if queue is None else self._queue(position, state, node),
                node.attempts if node.status in LIVE else -1,
                None if node.deadline_ms is None else node.deadline_ms - now_ms,
                None if node.retry_ms is None else node.retry_ms - now_ms,
                None if wait is None else _wait(wait, now_ms),
                _has_output(state, node.outcome) if self._is_asked[position] else None,
                self._seen(state, position, node) if self._sources[position] else None,
            )
        )

    def _queue(self, position: int, state: State, node: NodeState) -> object:
        """Return the activations that wait: how many, and what they bring if the node takes it."""
        sources, plan = self._sources[position], self._plan
        items = list(in_order(node.queue))
        if not sources:
            return len(items)
        origins = [(plan.positions[plan.edges[item.edge].source], item.source_sequence) for item in items]
        return tuple((origin, _has_output(state, sequence)) for origin, sequence in origins)

    def _seen(self, state: State, position: int, node: NodeState) -> object:
        """Return what a node that takes the output of others was given to take it from."""
        plan, begun = self._plan, node.activation
        pinned = [
            (prerequisite, _has_output(state, sequence))
            for prerequisite, sequence in zip(plan.prerequisites[position], node.released or (), strict=False)
            if prerequisite in self._sources[position]
        ]
        if begun is None or node.status not in LIVE:
            return tuple(pinned)
        origin = plan.positions[plan.edges[begun.edge].source]
        return (origin, _has_output(state, begun.source_sequence), *pinned)


def _wait(wait: SignalWait | TimerWait, now_ms: int) -> object:
    left = None if wait.deadline_ms is None else wait.deadline_ms - now_ms
    return (type(wait), left, wait.name if isinstance(wait, SignalWait) else None)


def _has_output(state: State, sequence: int | None) -> bool:
    return bool(sequence) and sequence is not None and state.outcomes[sequence].kind in KINDS_WITH_OUTPUT
