from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from perdure.kernel.graphs import Tree, a_cycle, components, cycles, dominators, forward, reached

Graph = list[list[int]]


@st.composite
def graphs(draw: st.DrawFn, acyclic: bool = False) -> Graph:
    """Draw a graph of up to seven nodes, with loops and arrows that stand twice."""
    size = draw(st.integers(1, 7))
    ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    arrows: Graph = [[] for _ in range(size)]
    for one, other in draw(st.lists(ends, max_size=14)):
        if not acyclic:
            arrows[one].append(other)
        elif one != other:
            arrows[min(one, other)].append(max(one, other))
    return arrows


def closure(arrows: Graph) -> list[list[bool]]:
    """Tell for each two nodes whether a path of at least one arrow leads from one to the other (Floyd, Warshall)."""
    size = range(len(arrows))
    leads = [[target in arrows[source] for target in size] for source in size]
    for middle, source, target in product(size, size, size):
        leads[source][target] |= leads[source][middle] and leads[middle][target]
    return leads


def without(arrows: Graph, node: int) -> Graph:
    return [
        [target for target in targets if target != node] if here != node else [] for here, targets in enumerate(arrows)
    ]


def is_cycle(arrows: Graph, path: list[int]) -> bool:
    return path[0] == path[-1] and all(target in arrows[source] for source, target in pairwise(path))


def shortest_cycle(arrows: Graph, start: int) -> int:
    """Return how many arrows the shortest way from a node back to it has."""
    length, here = 1, set(arrows[start])
    while start not in here:
        here = {target for node in here for target in arrows[node]}
        length += 1
    return length


def dominates(arrows: Graph, root: int, above: int, node: int) -> bool:
    """Tell whether every path from the root to a node goes through another: without that one, none is left."""
    if above in {root, node}:
        return True
    return not reached_by_closure(without(arrows, above), [root])[node]


def reached_by_closure(arrows: Graph, starts: list[int]) -> list[bool]:
    leads = closure(arrows)
    return [any(node == start or leads[start][node] for start in starts) for node in range(len(arrows))]


@settings(deadline=None)
@given(graphs())
def test_two_nodes_are_in_one_component_if_each_leads_to_the_other(arrows: Graph) -> None:
    leads = closure(arrows)
    nodes = range(len(arrows))
    twin = {frozenset({one, *(other for other in nodes if leads[one][other] and leads[other][one])}) for one in nodes}
    found = components(arrows)
    assert {frozenset(part) for part in found} == twin
    assert sorted(node for part in found for node in part) == list(nodes)


@settings(deadline=None)
@given(graphs())
def test_a_component_stands_before_those_that_lead_to_it(arrows: Graph) -> None:
    place = {node: number for number, part in enumerate(components(arrows)) for node in part}
    assert all(place[target] <= place[source] for source, targets in enumerate(arrows) for target in targets)


@settings(deadline=None)
@given(graphs())
def test_cycles_are_the_components_of_nodes_that_lead_to_themselves(arrows: Graph) -> None:
    leads = closure(arrows)
    nodes = [node for node in range(len(arrows)) if leads[node][node]]
    twin = {tuple(other for other in nodes if leads[node][other] and leads[other][node]) for node in nodes}
    assert cycles(arrows) == sorted(list(part) for part in twin)


@settings(deadline=None)
@given(graphs())
def test_a_cycle_is_a_shortest_one_through_the_first_member(arrows: Graph) -> None:
    found = cycles(arrows)
    assume(found)
    for members in found:
        path = a_cycle(arrows, members)
        assert path[0] == min(members)
        assert is_cycle(arrows, path)
        assert set(path) <= set(members)
        assert len(path) - 1 == shortest_cycle(arrows, path[0])


@pytest.mark.parametrize(
    ("arrows", "path"),
    [
        ([[0]], [0, 0]),
        ([[1], [0]], [0, 1, 0]),
        ([[1], [2], [3], [0]], [0, 1, 2, 3, 0]),
        ([[1], [2, 0], [0]], [0, 1, 0]),
        ([[0, 1], [0]], [0, 0]),
        ([[3, 1], [0], [], []], [0, 1, 0]),
    ],
)
def test_a_cycle_ends_where_it_begins(arrows: Graph, path: list[int]) -> None:
    assert a_cycle(arrows, cycles(arrows)[0]) == path


@settings(deadline=None)
@given(graphs(), st.data())
def test_reached_is_what_a_path_leads_to(arrows: Graph, data: st.DataObject) -> None:
    starts = data.draw(st.lists(st.integers(0, len(arrows) - 1), max_size=3))
    assert reached(arrows, starts) == reached_by_closure(arrows, starts)


@settings(deadline=None)
@given(graphs(), st.data())
def test_forward_holds_what_is_reached_and_every_source_before_its_targets(arrows: Graph, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(arrows) - 1))
    order, sources = forward(arrows, start)
    place = {node: number for number, node in enumerate(order)}
    there = reached_by_closure(arrows, [start])
    assert order[0] == start
    assert sorted(order) == [node for node, is_there in enumerate(there) if is_there]
    for target, of_target in enumerate(sources):
        assert all(place[source] < place[target] for source in of_target)
        assert all(target in arrows[source] for source in of_target)


@settings(deadline=None)
@given(graphs(), st.data())
def test_what_forward_leaves_out_closes_a_cycle(arrows: Graph, data: st.DataObject) -> None:
    order, sources = forward(arrows, data.draw(st.integers(0, len(arrows) - 1)))
    leads = closure(arrows)
    for source in order:
        for target in set(arrows[source]):
            kept = sources[target].count(source)
            assert kept == arrows[source].count(target) or leads[target][source] or source == target


@settings(deadline=None)
@given(graphs(acyclic=True))
def test_of_an_acyclic_graph_forward_keeps_every_arrow(arrows: Graph) -> None:
    order, sources = forward(arrows, 0)
    kept = sorted((source, target) for target, of_target in enumerate(sources) for source in of_target)
    assert kept == sorted((source, target) for source in order for target in arrows[source])


@settings(deadline=None)
@given(graphs(acyclic=True))
def test_the_tree_of_dominators_has_above_a_node_what_cuts_every_path_to_it(arrows: Graph) -> None:
    order, sources = forward(arrows, 0)
    tree = dominators(order, sources)
    for node in order:
        above = {node}
        here = node
        while here != 0:
            here = tree.parent[here]
            above.add(here)
        assert above == {other for other in order if dominates(arrows, 0, other, node)}
        assert tree.depth[node] == len(above) - 1


@settings(deadline=None)
@given(st.lists(st.integers(0, 1_000_000), min_size=1, max_size=40), st.data())
def test_ancestors_are_those_on_the_way_to_the_root(choices: list[int], data: st.DataObject) -> None:
    """Long paths and wide trees: the parent of each node is one of the four before it, or any."""
    size = len(choices) + 1
    tree = Tree.rooted_at(0, size)
    way: list[list[int]] = [[0]]
    for node, choice in enumerate(choices, start=1):
        parent = max(0, node - 1 - choice % 4) if choice % 5 else choice % node
        tree.add(node, parent)
        way.append([*way[parent], node])
    one, other = data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, size - 1))
    assert [tree.ancestor(one, depth) for depth in range(len(way[one]))] == way[one]
    assert tree.common(one, other) == [node for node in way[one] if node in way[other]][-1]


@pytest.mark.parametrize(
    "parent_of",
    [
        lambda node: node * 0,
        lambda node: node - 1,
        lambda node: max(0, node - 2),
        lambda node: max(0, node - 3),
        lambda node: node // 2,
    ],
    ids=["star", "path", "two paths", "three paths", "binary"],
)
def test_two_nodes_have_one_lowest_ancestor_in_common(parent_of: Callable[[int], int]) -> None:
    size = 40
    tree = Tree.rooted_at(0, size)
    way: list[list[int]] = [[0]]
    for node in range(1, size):
        tree.add(node, parent_of(node))
        way.append([*way[parent_of(node)], node])
    for one, other in product(range(size), range(size)):
        assert tree.common(one, other) == [node for node in way[one] if node in way[other]][-1]


def test_long_graphs_do_not_exhaust_the_stack() -> None:
    size = 50_000
    path: Graph = [[node + 1] for node in range(size - 1)] + [[]]
    ring: Graph = [[(node + 1) % size] for node in range(size)]
    assert len(components(path)) == size
    assert cycles(path) == []
    assert cycles(ring) == [list(range(size))]
    assert len(a_cycle(ring, range(size))) == size + 1
    assert all(reached(path, [0]))
    order, sources = forward(path, 0)
    tree = dominators(order, sources)
    assert tree.depth[size - 1] == size - 1
    assert tree.ancestor(size - 1, 1) == 1
