"""What a change of one node's status means to the others: to its dependents, and to its component.

Everything is counted, nothing is looked for again: a change costs the out-degree of the node that changes.

Source: "Lifecycle" and its last paragraph, "Cost", of the graph design; DEP requirements of `docs/spec/kernel.md`.
"""

from __future__ import annotations

from collections import Counter

from immutables import Map
from msgspec.structs import replace

from perdure.kernel.errors import corrupt
from perdure.kernel.queues import added
from perdure.kernel.rules import Rules, is_released, is_satisfiable, share
from perdure.kernel.state import LIVE, ComponentState, Hopeless, NodeState, State, Status, Tally


def changed(state: State, position: int, node: NodeState, rules: Rules) -> State:
    """Return the state with a node as it is now. Its status may change as the node table allows."""
    before, after = state.nodes[position].status, node.status
    nodes = state.nodes.set(position, node)
    if before == after:
        return replace(state, nodes=nodes)
    if (before, after) not in rules.moves:
        corrupt("illegal_transition", f"node {state.name(position)} cannot go from {before} to {after}")
    statuses = state.statuses.set(before, state.statuses[before] - 1)
    statuses = statuses.set(after, statuses.get(after, 0) + 1)
    state = _component_told(replace(state, nodes=nodes, statuses=statuses), position, before, after)
    if not state.plan.dependents[position]:
        return state
    is_revivable = state.entrances[position] > 0
    return _dependents_told(
        state, position, share(before, is_revivable=is_revivable), share(after, is_revivable=is_revivable), rules
    )


def judged(state: State, position: int, rules: Rules) -> State:
    """Return the state after the dependents of a node that ended were judged (DEP-004): what is satisfied stays so.

    The outcomes of the prerequisites are pinned (DEP-005, DEP-008).
    """
    for dependent in state.plan.dependents[position]:
        node = state.nodes[dependent]
        if node.status == "pending" and not is_released(node) and is_satisfied(state, dependent, rules):
            state = _released(state, dependent, node)
    return state


def is_satisfied(state: State, position: int, rules: Rules) -> bool:
    """Tell whether the policy of a node is satisfied by the current statuses of its prerequisites."""
    tally = state.nodes[position].tally
    assert tally is not None
    return rules.satisfied(state.node(position).dependency_policy, len(state.plan.prerequisites[position]), tally)


def may_be_satisfied(state: State, position: int, rules: Rules, *, is_cold: bool) -> bool:
    """Tell whether the policy of a node is satisfied, or may yet be."""
    tally, policy = state.nodes[position].tally, state.node(position).dependency_policy
    assert tally is not None
    return is_satisfiable(policy, len(state.plan.prerequisites[position]), tally, rules, is_cold=is_cold)


def _released(state: State, position: int, node: NodeState) -> State:
    pinned = tuple(state.nodes[prerequisite].outcome or 0 for prerequisite in state.plan.prerequisites[position])
    state = replace(state, nodes=state.nodes.set(position, replace(node, released=pinned)))
    agenda = state.agenda
    if not state.plan.entering[position]:
        return replace(state, agenda=replace(agenda, releases=added(agenda.releases, position)))
    if node.queue is not None:
        return replace(state, agenda=replace(agenda, queued=added(agenda.queued, position)))
    return to_be_closed(state, position)


def _component_told(state: State, position: int, before: Status, after: Status) -> State:
    number = state.plan.component[position]
    part = state.components[number]
    live = part.live + (after in LIVE) - (before in LIVE)
    if live != part.live:
        state = replace(state, components=state.components.set(number, replace(part, live=live)))
    if after == "changes_requested":
        state = to_be_closed(state, position)
    return cooled(state, number) if not live and part.live else state


def cooled(state: State, number: int) -> State:
    """Return the state in which a component is looked at, if nothing live is in it or leads to it."""
    return replace(state, cold=added(state.cold, number)) if state.components[number].is_cold else state


def to_be_closed(state: State, position: int) -> State:
    """Return the state in which a node is closed once nothing live reaches it."""
    number = state.plan.component[position]
    part = state.components[number]
    part = replace(part, closable=part.closable.set(position, None))
    return replace(state, components=state.components.set(number, part))


def _dependents_told(state: State, position: int, before: Tally, after: Tally, rules: Rules) -> State:
    if before == after:
        return state
    for dependent in state.plan.dependents[position]:
        node = state.nodes[dependent]
        tally = node.tally
        assert tally is not None
        state = replace(state, nodes=state.nodes.set(dependent, replace(node, tally=tally.minus(before).plus(after))))
        if node.status == "pending" and not is_released(node):
            state = _perhaps_hopeless(state, dependent, rules)
    return state


def _perhaps_hopeless(state: State, position: int, rules: Rules) -> State:
    """Note a node whose prerequisites all ended without satisfying it."""
    if may_be_satisfied(state, position, rules, is_cold=True):
        return state
    state = to_be_closed(state, position)
    if may_be_satisfied(state, position, rules, is_cold=False):
        return state
    return replace(state, hopeless=added(state.hopeless, Hopeless(state.plan.component[position], position)))


def entrance_lost(state: State, position: int, rules: Rules) -> State:
    """Return the state after one of the edges into a node turned out never to fire again."""
    left = state.entrances[position] - 1
    state = replace(state, entrances=state.entrances.set(position, left))
    if left:
        return state
    status = state.nodes[position].status
    return _dependents_told(state, position, share(status, is_revivable=True), share(status, is_revivable=False), rules)


def recounted(state: State, rules: Rules) -> State:
    """Return the state with everything counted anew from the statuses of its nodes, and no component done with."""
    plan = state.plan
    statuses = Counter(node.status for node in state.nodes.values())
    state = replace(
        state,
        nodes=Map(
            (position, replace(state.nodes[position], tally=_tally(state, position))) for position in state.nodes
        ),
        components=Map((number, _component(state, number)) for number in range(len(plan.members))),
        entrances=Map(enumerate(plan.entering)),
        statuses=Map(statuses.items()),
        cold=None,
        hopeless=None,
    )
    for position, node in state.nodes.items():
        if node.status == "changes_requested" or (node.status == "pending" and _may_be_skipped(state, position, node)):
            state = to_be_closed(state, position)
        elif node.status == "pending" and not is_released(node):
            state = _perhaps_hopeless(state, position, rules)
    for number in state.components:
        state = cooled(state, number)
    return state


def _may_be_skipped(state: State, position: int, node: NodeState) -> bool:
    return is_released(node) and state.plan.entering[position] > 0 and node.queue is None


def _tally(state: State, position: int) -> Tally | None:
    prerequisites = state.plan.prerequisites[position]
    if not prerequisites:
        return None
    total = Tally(unfinished=0)
    for prerequisite in prerequisites:
        is_revivable = state.plan.entering[prerequisite] > 0
        total = total.plus(share(state.nodes[prerequisite].status, is_revivable=is_revivable))
    return total


def _component(state: State, number: int) -> ComponentState:
    statuses = [state.nodes[member].status for member in state.plan.members[number]]
    return ComponentState(
        live=sum(status in LIVE for status in statuses),
        predecessors=state.plan.predecessors[number],
    )
