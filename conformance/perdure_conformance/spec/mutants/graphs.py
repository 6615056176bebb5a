"""Faults about which nodes there are and how a run gets from one to another: SPC-015, SPC-017 to SPC-021."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from perdure.kernel.graphs import cycles, reached
from perdure.kernel.identity import NodeId
from perdure.kernel.validation.handlers import Handlers
from perdure.kernel.validation.scopes import Scope
from perdure.kernel.validation.validator import Validation
from perdure_conformance.spec.mutants.faults import Complains, Complaint, Knows, Look, Overlooks, Seen
from perdure_conformance.spec.registry import mutant


def _edges_of(scope: Scope) -> list[list[int]]:
    """Return the graph of edges without dependencies."""
    arrows: list[list[int]] = [[] for _ in scope.definition.nodes]
    for edge in scope.definition.edges:
        if edge.source in scope.positions and edge.target in scope.positions:
            arrows[scope.positions[edge.source]].append(scope.positions[edge.target])
    return arrows


# Names of nodes


@mutant("SPC-015", overlaps=("SPC-030", "CHD-006"), report="tinyhumansai/opencompany#540")
class LooksAtTheEndsOfEdgesOnly(Overlooks):
    """Checks that the ends of edges exist, and nothing else that names a node."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_node" and seen.key not in {"from", "to"}


@mutant("SPC-015", report="tinyhumansai/opencompany#540")
class TakesUnknownTargets(Overlooks):
    """Checks where an edge comes from, and not where it leads."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_node" and seen.key == "to"


@mutant("SPC-015")
class TakesUnknownInitialNodes(Overlooks):
    """Begins with those initial nodes that there are."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_node" and seen.array == "initial_nodes"


@mutant("SPC-015")
class TakesOutputsOfUnknownNodes(Overlooks):
    """Checks input mappings, and not where the outputs of the run come from."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_node" and seen.key == "node" and "input_mapping" not in seen.path


@mutant("SPC-015")
class LooksForNodesEverywhere(Overlooks):
    """Looks a node up in the whole document, so that a definition can name a node of another."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_node" and any(seen.value in scope.positions for scope in seen.look.scopes)


# Cycles of dependencies


@mutant("SPC-017", overlaps=("SPC-030", "EDG-006"), report="galaxyproject/galaxy#3236")
class MissesSelfLoops(Overlooks):
    """Looks for cycles of two nodes and more."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "dependency_cycle" and _waits_for_itself(seen)


@mutant("SPC-017", report="tinyhumansai/opencompany#540")
class MissesLongCycles(Overlooks):
    """Looks whether two nodes wait for each other, and not for cycles of more."""

    def overlooks(self, seen: Seen) -> bool:
        if seen.code != "dependency_cycle" or _waits_for_itself(seen):
            return False
        awaited = next(node for node in seen.workflow["nodes"] if node["id"] == seen.value)
        return seen.above(2)["id"] not in awaited["dependencies"]


@mutant("SPC-017", overlaps=("SPC-030", "EDG-006"), report="tinyhumansai/opencompany#540")
class FindsSelfLoopsOnly(Overlooks):
    """Looks whether a node waits for itself, and not for cycles of more."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "dependency_cycle" and not _waits_for_itself(seen)


def _waits_for_itself(seen: Seen) -> bool:
    """Tell whether the cycle is a node and its own dependency."""
    return bool(seen.value == seen.above(2)["id"])


@mutant("SPC-017", overlaps=("SPC-030",))
class SearchesFromTheFirstNode(Overlooks):
    """Follows dependencies from the first node alone, and misses a cycle that it does not lead to."""

    def overlooks(self, seen: Seen) -> bool:
        if seen.code != "dependency_cycle":
            return False
        scope = seen.scope
        prerequisites = [
            [scope.positions[name] for name in node.dependencies if name in scope.positions]
            for node in scope.definition.nodes
        ]
        return not reached(prerequisites, [0])[int(seen.path[-3])]


@mutant("SPC-017")
class LooksForNoCyclesInDefinitions(Overlooks):
    """Looks for cycles in the document itself, and not in its definitions."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "dependency_cycle" and seen.is_in_definition


@mutant("SPC-017", overlaps=("SPC-002", "SPC-022", "SPC-031"))
class TakesADiamondForACycle(Complains):
    """Calls it a cycle if it meets a node again, by whatever way: two nodes share a prerequisite, a third has both."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            if not cycles(scope.dependents) and any(_meets_again(scope.dependents, start) for start in scope.initial):
                yield "dependency_cycle", f"{scope.place}/nodes"


def _meets_again(arrows: Sequence[Sequence[int]], start: int) -> bool:
    found = {start}
    waiting = [start]
    while waiting:
        for target in arrows[waiting.pop()]:
            if target in found:
                return True
            found.add(target)
            waiting.append(target)
    return False


@mutant("SPC-017", overlaps=("SPC-030", "EDG-006"))
class RemembersVisitsForEver(Overlooks):
    """Keeps the nodes that it has visited from document to document, and visits none of that name again."""

    _visited: frozenset[NodeId] = frozenset()

    def overlooks(self, seen: Seen) -> bool:
        if seen.code != "dependency_cycle":
            return False
        return seen.scope.definition.nodes[int(seen.path[-3])].id in self._visited

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        self._visited = self._visited.union(*(scope.positions for scope in Look(text, handlers).scopes))
        return found


# Initial nodes


@mutant("SPC-018", report="tinyhumansai/opencompany#540")
class NeverAsksForInitialNodes(Overlooks):
    """Takes a loop that nothing leads into, and waits for ever."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "initial_nodes_needed"


@mutant("SPC-018")
class MissesMixedCycles(Overlooks):
    """Looks for cycles of edges, and misses those that an edge and a dependency make together."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "initial_nodes_needed" and not cycles(_edges_of(seen.scope))


@mutant("SPC-018")
class BeginsWhereNothingLeads(Overlooks):
    """Asks for initial nodes only if it finds no node to begin with."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "initial_nodes_needed" and bool(seen.scope.initial)


@mutant(
    "SPC-018",
    overlaps=(
        "SPC-002",
        "SPC-004",
        "SPC-015",
        "SPC-021",
        "SPC-022",
        "SPC-031",
        "EDG-001",
        "EDG-002",
        "EDG-003",
        "EDG-004",
        "EDG-005",
        "CHD-006",
    ),
)
class AsksWheneverThereAreEdges(Complains):
    """Asks for initial nodes as soon as there is an edge."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            if scope.definition.edges and scope.definition.initial_nodes is None:
                yield "initial_nodes_needed", scope.place


@mutant("SPC-019")
class TakesNoInitialNodesForAbsent(Overlooks):
    """Takes an empty array of initial nodes for none, since it is false."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "no_initial_nodes"


@mutant("SPC-019")
class BeginsWithNodesThatWait(Overlooks):
    """Takes a node with dependencies for an initial node."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "initial_node_with_dependencies"


@mutant("SPC-019", overlaps=("SPC-002", "SPC-003", "SPC-018", "SPC-021", "SPC-022", "SPC-031", "EDG-003", "EDG-006"))
class RefusesInitialTargets(Complains):
    """Refuses an initial node that an edge leads to, although loops come back to where they begin."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            targets = {edge.target for edge in scope.definition.edges}
            if targets.intersection(scope.definition.initial_nodes or ()):
                yield "initial_node_with_dependencies", f"{scope.place}/initial_nodes"


# Reach


class _Reaches(Complains, Overlooks):
    """It follows other arrows, or from elsewhere."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unreachable_node"

    def reached(self, scope: Scope) -> Iterable[bool]:
        """Tell for each node whether a run gets there."""
        raise NotImplementedError

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            if scope.initial and (scope.definition.initial_nodes is not None or not scope.union_cycles):
                for node, found in zip(scope.definition.nodes, self.reached(scope), strict=True):
                    if not found:
                        yield "unreachable_node", scope.at(node)


@mutant("SPC-020", report="tinyhumansai/opencompany#540")
class NeverLooksForOrphans(Overlooks):
    """Takes nodes that nothing leads to."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unreachable_node"


@mutant("SPC-020", report="tinyhumansai/opencompany#540")
class FindsSingleOrphansOnly(_Reaches):
    """Looks whether any arrow leads to a node, so that two that lead to each other pass for reached."""

    def reached(self, scope: Scope) -> Iterable[bool]:
        targets = {target for arrows in scope.union for target in arrows}
        return (node in targets or node in scope.initial for node in range(len(scope.union)))


@mutant("SPC-020")
class FollowsArrowsBothWays(_Reaches):
    """Looks whether the graph is in one piece, whichever way its arrows point."""

    def reached(self, scope: Scope) -> Iterable[bool]:
        arrows = [list(targets) for targets in scope.union]
        for source, targets in enumerate(scope.union):
            for target in targets:
                arrows[target].append(source)
        return reached(arrows, scope.initial)


@mutant("SPC-020")
class BeginsWithAllThatNeverWait(_Reaches):
    """Begins with every node without dependencies, whatever `initial_nodes` says."""

    def reached(self, scope: Scope) -> Iterable[bool]:
        free = [position for position, node in enumerate(scope.definition.nodes) if not node.dependencies]
        return reached(scope.union, free)


@mutant(
    "SPC-020",
    overlaps=(
        "SPC-002",
        "SPC-003",
        "SPC-004",
        "SPC-006",
        "SPC-015",
        "SPC-016",
        "SPC-017",
        "SPC-018",
        "SPC-019",
        "SPC-021",
        "SPC-022",
        "SPC-023",
        "SPC-031",
        "EDG-006",
    ),
)
class FollowsEdgesOnly(_Reaches):
    """Follows edges alone, so that a node that waits for others is never reached."""

    def reached(self, scope: Scope) -> Iterable[bool]:
        return reached(_edges_of(scope), scope.initial)


@mutant(
    "SPC-020",
    overlaps=(
        "SPC-002",
        "SPC-003",
        "SPC-004",
        "SPC-006",
        "SPC-015",
        "SPC-018",
        "SPC-021",
        "SPC-022",
        "SPC-031",
        "EDG-001",
        "EDG-002",
        "EDG-003",
        "EDG-004",
        "EDG-005",
        "EDG-006",
        "CHD-006",
    ),
)
class FollowsDependenciesOnly(_Reaches):
    """Follows dependencies alone, so that what only an edge leads to is never reached."""

    def reached(self, scope: Scope) -> Iterable[bool]:
        return reached(scope.dependents, scope.initial)


@mutant(
    "SPC-020",
    overlaps=(
        "SPC-002",
        "SPC-003",
        "SPC-004",
        "SPC-006",
        "SPC-010",
        "SPC-013",
        "SPC-015",
        "SPC-017",
        "SPC-019",
        "SPC-021",
        "SPC-022",
        "SPC-031",
        "EDG-005",
        "CHD-002",
        "CHD-003",
    ),
)
class BeginsWithTheFirstInitialNode(_Reaches):
    """Begins with the first initial node alone."""

    def reached(self, scope: Scope) -> Iterable[bool]:
        return reached(scope.union, scope.initial[:1])


class _TellsInitialNodes(Knows):
    """It tells other initial nodes."""

    def initial(self, scope: Scope, told: tuple[NodeId, ...]) -> Iterable[NodeId]:
        """Return what it tells in their place."""
        raise NotImplementedError

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        if not found.valid:
            return found
        told = tuple(self.initial(Look(text, handlers).scopes[0], found.initial_nodes))
        return msgspec.structs.replace(found, initial_nodes=told)


@mutant("SPC-021")
class TellsInitialNodesAsNamed(_TellsInitialNodes):
    """Tells initial nodes in the order in which they are named, and not in specification order."""

    def initial(self, scope: Scope, told: tuple[NodeId, ...]) -> Iterable[NodeId]:
        return scope.definition.initial_nodes or told


@mutant("SPC-021")
class TellsInitialNodesSorted(_TellsInitialNodes):
    """Tells initial nodes by their names, from A to Z."""

    def initial(self, scope: Scope, told: tuple[NodeId, ...]) -> Iterable[NodeId]:
        del scope
        return sorted(told)


@mutant("SPC-021")
class TellsAllThatNeverWait(_TellsInitialNodes):
    """Tells all nodes without dependencies, and forgets that edges may lead to them."""

    def initial(self, scope: Scope, told: tuple[NodeId, ...]) -> Iterable[NodeId]:
        if scope.definition.initial_nodes is not None:
            return told
        return [node.id for node in scope.definition.nodes if not node.dependencies]


@mutant("SPC-021")
class TellsNamedInitialNodesOnly(_TellsInitialNodes):
    """Tells the initial nodes that are named, and none where the document leaves them to be found."""

    def initial(self, scope: Scope, told: tuple[NodeId, ...]) -> Iterable[NodeId]:
        return told if scope.definition.initial_nodes is not None else ()


@mutant("SPC-021")
class AlwaysFindsInitialNodesItself(_TellsInitialNodes):
    """Tells the nodes that nothing leads to, even where the document names others."""

    def initial(self, scope: Scope, told: tuple[NodeId, ...]) -> Iterable[NodeId]:
        targets = {target for arrows in scope.union for target in arrows}
        free = [node.id for position, node in enumerate(scope.definition.nodes) if position not in targets]
        return free or told
