"""One workflow under validation, the document's own or one of its catalog: its nodes by name, and its graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

import msgspec

from perdure.kernel.graphs import cycles
from perdure.kernel.identity import Name, NodeId, WorkflowReference
from perdure.kernel.problems import MAX_LISTED, listed, path, pointer_token
from perdure.kernel.specification import Definition, Node, Specification
from perdure.kernel.structure import Reading
from perdure.kernel.values import JsonValue


class Scope:
    """The document's own workflow, or one definition of its catalog."""

    def __init__(
        self,
        definition: Definition,
        place: str,
        catalog: Mapping[WorkflowReference, Definition],
        child_inputs: Mapping[WorkflowReference, Collection[str]],
        reading: Reading,
    ) -> None:
        self.definition = definition
        self.place = place
        """The JSON Pointer of the workflow."""
        self.catalog = catalog
        self.child_inputs = child_inputs
        """The declared inputs of each definition of the catalog, in their order, each found at once."""
        self.reading = reading
        self.problems = reading.problems
        self._outputs: dict[int, frozenset[Name]] = {}

    def at(self, struct: msgspec.Struct) -> str:
        """Return the JSON Pointer of a struct of this workflow."""
        return self.reading.places[id(struct)]

    def error(
        self, code: str, pointer: str, sentence: str, *, witness: JsonValue = None, other: str | None = None
    ) -> None:
        """Note a problem that refuses the document."""
        self.problems.error(code, pointer, sentence, witness=witness, other=other)

    def node(self, name: NodeId) -> Node | None:
        """Return the node of a name, if there is one."""
        position = self.positions.get(name)
        return None if position is None else self.definition.nodes[position]

    def given(self, node: Node) -> Iterator[tuple[str, str]]:
        """Yield each input field that a node is given, and where."""
        members: dict[str, Iterable[str]] = {
            "input": node.input,
            "artifacts": node.artifacts,
            "input_mapping": node.input_mapping,
        }
        for member, fields in members.items():
            for name in fields:
                yield name, f"{self.at(node)}/{member}/{pointer_token(name)}"

    def named_in_the_graph(self) -> Iterator[tuple[NodeId, str]]:
        """Yield each name of a node at an end of an arrow or where a run begins, and where it stands."""
        for node in self.definition.nodes:
            yield from numbered(node.dependencies, f"{self.at(node)}/dependencies")
        for edge in self.definition.edges:
            yield edge.source, f"{self.at(edge)}/from"
            yield edge.target, f"{self.at(edge)}/to"
        yield from numbered(self.definition.initial_nodes or (), f"{self.place}/initial_nodes")

    def path(self, positions: Sequence[int]) -> str:
        """Return nodes for a sentence, one leading to the next."""
        return path([self.definition.nodes[position].id for position in positions])

    def is_own(self, place: str) -> bool:
        """Tell whether the value at a place is the document's own, with nothing left out or made up."""
        return place not in self.reading.made_up

    def is_before(self, name: NodeId, of: NodeId) -> bool:
        """Tell whether a node is known when the other starts: as its prerequisite, or the source of an edge into it."""
        return name in self.before.get(of, ())

    def could_be_before(self, node: Node) -> bool:
        """Tell whether some name of what is known when a node starts could not be read."""
        return not self.is_own(f"{self.at(node)}/dependencies") or not self._has_own_edges

    def has_own_outputs(self, node: Node) -> bool:
        """Tell whether the output fields that a node declares could be read."""
        return self.is_own(f"{self.at(node)}/{'outputs' if node.child is None else 'child/outputs'}")

    def outputs_of(self, node: Node) -> Collection[Name]:
        """Return the output fields that a node declares."""
        key = id(node)
        if key not in self._outputs:
            self._outputs[key] = frozenset(node.child.outputs if node.child is not None else node.outputs)
        return self._outputs[key]

    @cached_property
    def initial(self) -> list[int]:
        """The positions of the nodes that a run begins with, in specification order (SPC-021)."""
        names = self.definition.initial_nodes
        if names is not None:
            return sorted({self.positions[name] for name in names if name in self.positions})
        targets = {edge.target for edge in self.definition.edges}
        nodes = enumerate(self.definition.nodes)
        return [position for position, node in nodes if not node.dependencies and node.id not in targets]

    @cached_property
    def positions(self) -> Mapping[NodeId, int]:
        """The position of each node by name; the first of those that share one."""
        found: dict[NodeId, int] = {}
        for position, node in enumerate(self.definition.nodes):
            if node.id:
                found.setdefault(node.id, position)
        return found

    def is_well_formed(self, place: str) -> bool:
        """Tell whether the string at a place has the form that it must have; if not, that has been told."""
        return place not in self.reading.ill_formed

    def place_of_child(self, workflow: WorkflowReference) -> str:
        """Return the JSON Pointer of a definition of the catalog."""
        return f"/children/{pointer_token(workflow)}"

    def has_own_inputs(self, node: Node) -> bool:
        """Tell whether all input of a node could be read."""
        return all(self.is_own(f"{self.at(node)}/{member}") for member in ("input", "artifacts", "input_mapping"))

    @cached_property
    def duplicates(self) -> frozenset[NodeId]:
        """The ids that stand twice."""
        counted = Counter(node.id for node in self.definition.nodes)
        return frozenset(name for name, count in counted.items() if count > 1)

    @cached_property
    def knows_its_nodes(self) -> bool:
        """Whether the id of every node could be read."""
        ids = [f"{self.at(node)}/id" for node in self.definition.nodes]
        return f"{self.place}/nodes" not in self.reading.incomplete and self.reading.made_up.isdisjoint(ids)

    @cached_property
    def has_whole_graph(self) -> bool:
        """Whether every node and every arrow between nodes could be read; a name that could not leads nowhere."""
        reading, place = self.reading, self.place
        nodes = [self.at(node) for node in self.definition.nodes]
        edges = [self.at(edge) for edge in self.definition.edges]
        objects = [place, f"{place}/nodes", f"{place}/edges", *nodes, *edges]
        values = [f"{node}/{member}" for node in nodes for member in ("id", "dependencies")]
        return reading.incomplete.isdisjoint(objects) and reading.made_up.isdisjoint(values)

    @cached_property
    def _has_own_edges(self) -> bool:
        """Whether both ends of every edge could be read."""
        ends = [f"{self.at(edge)}/{end}" for edge in self.definition.edges for end in ("from", "to")]
        return f"{self.place}/edges" not in self.reading.incomplete and self.reading.made_up.isdisjoint(ends)

    @cached_property
    def run_inputs(self) -> frozenset[str]:
        """The declared fields of the run's input."""
        return frozenset(self.definition.inputs)

    @cached_property
    def dependents(self) -> list[list[int]]:
        """The dependency graph: from each prerequisite to its dependents."""
        arrows: list[list[int]] = [[] for _ in self.definition.nodes]
        for position, node in enumerate(self.definition.nodes):
            for name in node.dependencies:
                if name in self.positions:
                    arrows[self.positions[name]].append(position)
        return arrows

    @cached_property
    def union(self) -> list[list[int]]:
        """The union graph: dependencies and edges."""
        arrows = [list(targets) for targets in self.dependents]
        for edge in self.definition.edges:
            if edge.source in self.positions and edge.target in self.positions:
                arrows[self.positions[edge.source]].append(self.positions[edge.target])
        return arrows

    @cached_property
    def misses_names(self) -> bool:
        """Whether a name at an end of an arrow, or where a run begins, leads nowhere."""
        return any(name not in self.positions for name, _ in self.named_in_the_graph())

    @cached_property
    def dependency_cycles(self) -> list[list[int]]:
        """The components of the dependency graph that hold a cycle."""
        return cycles(self.dependents)

    @cached_property
    def union_cycles(self) -> list[list[int]]:
        """The components of the union graph that hold a cycle."""
        return cycles(self.union)

    @cached_property
    def in_loops(self) -> frozenset[NodeId]:
        """The nodes of the cycles of the union graph."""
        return frozenset(self.definition.nodes[position].id for members in self.union_cycles for position in members)

    @cached_property
    def before(self) -> Mapping[NodeId, Mapping[NodeId, None]]:
        """For each node, in their order, the nodes that are known when it starts."""
        found = {node.id: dict.fromkeys(node.dependencies) for node in self.definition.nodes}
        for edge in self.definition.edges:
            if edge.target in found:
                found[edge.target].setdefault(edge.source)
        return found


def scopes_of(specification: Specification, reading: Reading) -> list[Scope]:
    """Return the document's own workflow, and each of its catalog."""
    children = specification.children
    inputs = {key: dict.fromkeys(filter(None, child.inputs)).keys() for key, child in children.items()}
    workflows: dict[str, Definition] = {"": specification}
    workflows.update({f"/children/{pointer_token(key)}": child for key, child in children.items()})
    return [Scope(workflow, place, children, inputs, reading) for place, workflow in workflows.items()]


def numbered(names: Sequence[NodeId], place: str) -> Iterator[tuple[NodeId, str]]:
    """Yield each name of an array, and where it stands."""
    for position, name in enumerate(names):
        yield name, f"{place}/{position}"


def missing(declared: Collection[str], given: Mapping[str, str]) -> str:
    """Return what is declared and not given, for a sentence; empty if nothing is missing."""
    if sum(name in declared for name in given) == len(declared):
        return ""
    return listed(list(islice((name for name in declared if name not in given), MAX_LISTED + 1)))
