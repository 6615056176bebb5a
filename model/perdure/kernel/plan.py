"""The plan of a run: what a pinned specification means to it, worked out once, when the run is created.

Nodes are known by their positions in specification order, edges by theirs. A **component** is a strongly connected
part of the union graph: nodes that lead to each other. Components are numbered in the order in which they are closed:
each after all that lead to it, and otherwise by their first members.

Source: "Lifecycle" of the graph design; `docs/spec/kernel.md`, "Closing".
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perdure.kernel.graphs import components
from perdure.kernel.identity import NodeId
from perdure.kernel.specification import Edge, Node, Specification


@dataclass(frozen=True, slots=True)
class Plan:
    """A specification, with everything about its graph that a run asks for again and again."""

    specification: Specification
    positions: Mapping[NodeId, int]
    """The position of each node."""
    prerequisites: tuple[tuple[int, ...], ...]
    """The prerequisites of each node, in the order in which it names them."""
    dependents: tuple[tuple[int, ...], ...]
    """The nodes that name each node as a prerequisite, in specification order."""
    leaving: tuple[tuple[int, ...], ...]
    """The edges from each node, in edge order."""
    entering: tuple[int, ...]
    """How many edges lead to each node."""
    targets: tuple[int, ...]
    """The target of each edge."""
    initial: tuple[int, ...]
    """The nodes that a run begins with, in specification order."""
    component: tuple[int, ...]
    """The component of each node."""
    members: tuple[tuple[int, ...], ...]
    """The nodes of each component, in specification order."""
    successors: tuple[tuple[int, ...], ...]
    """The other components that each component leads to directly."""
    predecessors: tuple[int, ...]
    """How many other components lead to each component directly."""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the specification."""
        return self.specification.nodes

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges of the specification."""
        return self.specification.edges


def plan_of(specification: Specification, initial_nodes: Sequence[NodeId]) -> Plan:
    """Work out the plan of an accepted specification, in time linear in its nodes, dependencies and edges."""
    nodes, edges = specification.nodes, specification.edges
    positions = {node.id: position for position, node in enumerate(nodes)}
    prerequisites = tuple(tuple(dict.fromkeys(positions[name] for name in node.dependencies)) for node in nodes)
    dependents: list[list[int]] = [[] for _ in nodes]
    for position, names in enumerate(prerequisites):
        for prerequisite in names:
            dependents[prerequisite].append(position)
    leaving: list[list[int]] = [[] for _ in nodes]
    entering = [0] * len(nodes)
    targets = tuple(positions[edge.target] for edge in edges)
    for number, edge in enumerate(edges):
        leaving[positions[edge.source]].append(number)
        entering[targets[number]] += 1
    union = [[*dependents[position], *(targets[edge] for edge in leaving[position])] for position in range(len(nodes))]
    members, component, successors = _condensed(union)
    return Plan(
        specification=specification,
        positions=positions,
        prerequisites=prerequisites,
        dependents=tuple(map(tuple, dependents)),
        leaving=tuple(map(tuple, leaving)),
        entering=tuple(entering),
        targets=targets,
        initial=tuple(positions[name] for name in initial_nodes),
        component=component,
        members=members,
        successors=successors,
        predecessors=_counted(successors),
    )


def _condensed(
    union: list[list[int]],
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Return the members of each component, the component of each node, and the successors of each component."""
    found = components(union)
    owner = [0] * len(union)
    for number, part in enumerate(found):
        for position in part:
            owner[position] = number
    arrows = [
        list(dict.fromkeys(owner[target] for position in part for target in union[position] if owner[target] != number))
        for number, part in enumerate(found)
    ]
    order = _closing_order(found, arrows)
    place = [0] * len(order)
    for rank, number in enumerate(order):
        place[number] = rank
    members = tuple(tuple(found[number]) for number in order)
    successors = tuple(tuple(sorted(place[target] for target in arrows[number])) for number in order)
    return members, tuple(place[number] for number in owner), successors


def _closing_order(parts: list[list[int]], arrows: list[list[int]]) -> list[int]:
    """Return the components in order: among those whose predecessors are all taken, the one with the first member."""
    waiting = list(_counted(tuple(map(tuple, arrows))))
    free = [(min(part), number) for number, part in enumerate(parts) if not waiting[number]]
    heapq.heapify(free)
    order = []
    while free:
        _, number = heapq.heappop(free)
        order.append(number)
        for target in arrows[number]:
            waiting[target] -= 1
            if not waiting[target]:
                heapq.heappush(free, (min(parts[target]), target))
    return order


def _counted(arrows: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return how many arrows lead to each."""
    counts = [0] * len(arrows)
    for targets in arrows:
        for target in targets:
            counts[target] += 1
    return tuple(counts)
