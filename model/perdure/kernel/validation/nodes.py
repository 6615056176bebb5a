"""Rules about nodes: what they are, what they are called, what they wait for, and where a run begins.

SPC-013 to SPC-021.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from perdure.kernel.graphs import a_cycle, reached
from perdure.kernel.identity import NodeId
from perdure.kernel.problems import listed, quoted
from perdure.kernel.specification import Node, OutputReference
from perdure.kernel.structure import repeated_name
from perdure.kernel.validation.scopes import Scope


def _ids_are_unique(scope: Scope) -> None:
    """SPC-013."""
    seen: set[NodeId] = set()
    for node in scope.definition.nodes:
        if node.id and node.id in seen:
            told = f"There is a node {quoted(node.id)} already; give this one another id."
            scope.error("duplicate_node", f"{scope.at(node)}/id", told)
        seen.add(node.id)


def _handler_or_child(scope: Scope) -> None:
    """SPC-014."""
    for node in scope.definition.nodes:
        place = scope.at(node)
        if not scope.is_own(f"{place}/handler") or not scope.is_own(f"{place}/child"):
            continue
        if (node.handler is None) == (node.child is None):
            there = "both" if node.child is not None else "neither"
            told = f"Give the node {quoted(node.id)} either `handler` or `child`; it has {there}."
            scope.error("handler_or_child", place, told)
        elif node.child is not None:
            _nothing_for_a_handler(scope, node)


def _nothing_for_a_handler(scope: Scope, node: Node) -> None:
    for name, value in (("outputs", node.outputs), ("signals", node.signals), ("artifacts", node.artifacts)):
        if value:
            instead = "; name them in `child.outputs`" if name == "outputs" else ""
            told = f"Take {quoted(name)} away: it belongs to handlers, and a child does the work here{instead}."
            scope.error("handler_or_child", f"{scope.at(node)}/{name}", told)


def _names_are_there(scope: Scope) -> None:
    """SPC-015."""
    for name, place in (*scope.named_in_the_graph(), *_named_by_data(scope)):
        if name and name not in scope.positions and scope.is_well_formed(place) and scope.knows_its_nodes:
            otherwise = f"name one of the nodes: {listed(scope.positions) or 'there are none'}."
            fix = scope.problems.meant(name, scope.positions, otherwise=otherwise)
            scope.error("unknown_node", place, f"There is no node {quoted(name)}; {fix}")


def _named_by_data(scope: Scope) -> Iterator[tuple[NodeId, str]]:
    """Yield each name of a node whose output is used, and where it stands."""
    mapped = [reference for node in scope.definition.nodes for reference in node.input_mapping.values()]
    for reference in (*mapped, *scope.definition.outputs.values()):
        if isinstance(reference, OutputReference):
            yield reference.node, f"{scope.at(reference)}/node"


def _names_stand_once(scope: Scope) -> None:
    """SPC-016."""
    definition = scope.definition
    arrays: list[tuple[Sequence[str], str]] = [
        (definition.initial_nodes or (), f"{scope.place}/initial_nodes"),
        (definition.inputs, f"{scope.place}/inputs"),
    ]
    for node in definition.nodes:
        arrays += [(node.dependencies, f"{scope.at(node)}/dependencies"), (node.outputs, f"{scope.at(node)}/outputs")]
        arrays.append((node.signals, f"{scope.at(node)}/signals"))
        if node.retry is not None:
            arrays.append((node.retry.classes, f"{scope.at(node)}/retry/classes"))
    for names, place in arrays:
        _once(scope, names, place)


def _once(scope: Scope, names: Sequence[str], place: str) -> None:
    seen: set[str] = set()
    for position, name in enumerate(names):
        here = f"{place}/{position}"
        if not name or not scope.is_own(here):
            continue
        if name in seen:
            repeated_name(name, here, scope.problems)
        seen.add(name)


def _dependencies_have_no_cycle(scope: Scope) -> None:
    """SPC-017."""
    for members in scope.dependency_cycles:
        circle = a_cycle(scope.dependents, members)
        closing, first = scope.definition.nodes[circle[-1]], scope.definition.nodes[circle[-2]]
        place = f"{scope.at(closing)}/dependencies/{closing.dependencies.index(first.id)}"
        told = f"These nodes wait for each other: {scope.path(circle[::-1])}. Take one of these dependencies away."
        if len(members) == 1:
            told = f"The node {quoted(closing.id)} waits for itself: take this dependency away."
        scope.error("dependency_cycle", place, told)


def _initial_nodes(scope: Scope) -> None:
    """SPC-018, SPC-019."""
    names = scope.definition.initial_nodes
    if names is None:
        if scope.union_cycles and not scope.dependency_cycles and scope.has_whole_graph:
            told = f"Add `initial_nodes`: {scope.path(a_cycle(scope.union, scope.union_cycles[0]))} is a cycle."
            scope.error("initial_nodes_needed", scope.place, told)
        return
    place = f"{scope.place}/initial_nodes"
    if not names and scope.is_own(place):
        told = "Name at least one node; or take `initial_nodes` away, if there is no cycle."
        scope.error("no_initial_nodes", place, told)
    for position, name in enumerate(names):
        node = scope.node(name)
        if node is not None and node.dependencies:
            told = f"{quoted(name)} waits for other nodes, so no run can begin with it: take it away here."
            scope.error("initial_node_with_dependencies", f"{place}/{position}", told)


def _every_node_is_reached(scope: Scope) -> None:
    """SPC-020. Asked only where nothing else hides the answer."""
    if scope.misses_names or not scope.has_whole_graph:
        return
    if scope.definition.initial_nodes is None and scope.union_cycles:
        return
    if not scope.initial:
        return
    found = reached(scope.union, scope.initial)
    for position, node in enumerate(scope.definition.nodes):
        if not found[position] and scope.positions.get(node.id) == position:
            told = f"Nothing leads to {quoted(node.id)}: add an edge or a dependency, or make it an initial node."
            scope.error("unreachable_node", scope.at(node), told)


RULES: Final[tuple[Callable[[Scope], None], ...]] = (
    _ids_are_unique,
    _handler_or_child,
    _names_are_there,
    _names_stand_once,
    _dependencies_have_no_cycle,
    _initial_nodes,
    _every_node_is_reached,
)
