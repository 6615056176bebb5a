"""Closing: what becomes of nodes that nothing will ever activate or satisfy.

A component is **cold** when none of its nodes is live and every component that leads to it is done with. It is done
with when, besides, none of its nodes is to be closed: from then on it brings nothing. So coldness spreads by one
component at a time, in their order, and each node is looked at once for each reason that it may have to be closed.

Source: "Closing goes in rounds" of the graph design; DEP requirements of `docs/spec/kernel.md`.
"""

from __future__ import annotations

from typing import Literal

from immutables import Map
from msgspec.structs import replace

from perdure.kernel.liveness import cooled, entrance_lost, may_be_satisfied
from perdure.kernel.outcomes import OutcomeKind
from perdure.kernel.queues import rest
from perdure.kernel.rules import RETRIES_FROM, Prospects, Rules
from perdure.kernel.state import ComponentState, State


def with_next_round(state: State, rules: Rules) -> State:
    """Return the state with the nodes of the next round to close, if there are any, on its agenda (RUN-023)."""
    while True:
        number = state.cold.first if state.cold is not None else None
        hopeless = state.hopeless.first if state.hopeless is not None else None
        if hopeless is not None and (number is None or hopeless.component < number):
            state, members = _hopeless_members(state, hopeless.component, rules)
        elif number is not None:
            state, members = _cold_members(state, number, rules)
        else:
            return state
        if members:
            return replace(state, agenda=replace(state.agenda, closing=members, closed=0))


def closure(state: State, position: int, rules: Rules, *, is_cold: bool) -> OutcomeKind | Literal["terminated"] | None:
    """Return how a node is closed now, by its outcome; None if it is not to be."""
    node = state.nodes[position]
    may_be = node.tally is None or may_be_satisfied(state, position, rules, is_cold=is_cold)
    prospects = Prospects(is_cold, state.plan.entering[position] > 0, may_be)
    found = rules.closing(node, prospects, state.version)
    if found != "propagated":
        return found
    assert node.tally is not None
    return rules.propagated(node.tally)


def is_cold(state: State, position: int) -> bool:
    """Tell whether nothing live is in a node's component or leads to it."""
    return state.components[state.plan.component[position]].is_cold


def _hopeless_members(state: State, number: int, rules: Rules) -> tuple[State, tuple[int, ...]]:
    members: list[int] = []
    while state.hopeless is not None and state.hopeless.first.component == number:
        position = state.hopeless.first.position
        state = replace(state, hopeless=rest(state.hopeless))
        if position not in members[-1:] and closure(state, position, rules, is_cold=False) is not None:
            members.append(position)
    return state, tuple(members)


def _cold_members(state: State, number: int, rules: Rules) -> tuple[State, tuple[int, ...]]:
    assert state.cold is not None
    part = state.components[number]
    if not part.is_cold:
        return replace(state, cold=rest(state.cold)), ()
    members = tuple(
        position for position in sorted(part.closable) if closure(state, position, rules, is_cold=True) is not None
    )
    if members:
        return _looked_at(state, number, part), members
    return _done(replace(state, cold=rest(state.cold)), number, rules), ()


def _looked_at(state: State, number: int, part: ComponentState) -> State:
    """Return the state in which the members to be closed are forgotten, but those that this version cannot close."""
    kept = (position for position in part.closable if state.nodes[position].status == "changes_requested")
    left: Map[int, None] = Map() if state.version >= RETRIES_FROM else Map(dict.fromkeys(kept))
    return replace(state, components=state.components.set(number, replace(part, closable=left)))


def _done(state: State, number: int, rules: Rules) -> State:
    """Return the state in which nothing comes from a component any more."""
    if state.components[number].is_done:
        return state
    part = replace(state.components[number], is_done=True)
    state = replace(state, components=state.components.set(number, part))
    for successor in state.plan.successors[number]:
        after = state.components[successor]
        after = replace(after, predecessors=after.predecessors - 1)
        state = cooled(replace(state, components=state.components.set(successor, after)), successor)
    for member in state.plan.members[number]:
        for edge in state.plan.leaving[member]:
            state = entrance_lost(state, state.plan.targets[edge], rules)
    return state
