"""Large workflow specifications, of several shapes; all are valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final

from perdure_conformance.spec.documents import edge, node, workflow

Document = dict[str, Any]


def chain(size: int) -> Document:
    """Nodes that depend on one another in a row."""
    return workflow(*[node(f"n{number}", dependencies=[f"n{number - 1}"] if number else []) for number in range(size)])


def choice(size: int) -> Document:
    """One node with an exclusive edge to each other node."""
    others = [f"n{number}" for number in range(1, size)]
    edges = [
        edge("n0", other, when={"field": "x", "equals": number}, mode="exclusive")
        for number, other in enumerate(others)
    ]
    return workflow(node("n0", outputs=["x"]), *map(node, others), edges=edges)


def loops(size: int) -> Document:
    """Reviews in a row, each with a correction loop, joined by edges."""
    names = [f"n{number}" for number in range(size)]
    back = [edge(name, name, when={"outcome": "changes_requested"}, mode="exclusive") for name in names]
    on = [edge(name, after, when={"outcome": "succeeded"}, mode="exclusive") for name, after in pairwise(names)]
    return workflow(*map(node, names), edges=back + on, initial_nodes=names[:1])


def merges(size: int) -> Document:
    """Forks of two branches that come together, one after the other."""
    nodes, edges = [node("n0")], []
    for number in range(0, size - 3, 3):
        left, right, end = (f"n{number + step}" for step in (1, 2, 3))
        nodes += [node(left), node(right), node(end)]
        edges += [
            edge(f"n{number}", left, when={"outcome": "succeeded"}),
            edge(f"n{number}", right, when={"outcome": "blocked"}),
        ]
        edges += [edge(left, end), edge(right, end)]
    return workflow(*nodes, edges=edges)


def joins(size: int) -> Document:
    """Layers of ten nodes, each depending on four of the layer before, with input from one of them."""
    nodes = []
    for number in range(size):
        layer, column = divmod(number, 10)
        before = [f"n{10 * (layer - 1) + (column + step) % 10}" for step in range(4)] if layer else []
        mapping = {"in": {"node": before[0], "output": "x"}} if before else {}
        nodes.append(node(f"n{number}", dependencies=before, outputs=["x"], input_mapping=mapping))
    return workflow(*nodes)


def children(size: int) -> Document:
    """Half nodes that call children, half definitions, in chains of seven levels."""
    half = size // 2
    definitions = {}
    for number in range(half):
        called = f"c{number + 1}@1" if number % 7 != 6 and number + 1 < half else None
        work = {"child": {"workflow": called, "policy": "propagate"}} if called else {}
        definitions[f"c{number}@1"] = {"nodes": [node("x", **work)]}
    calls = [node(f"n{number}", child={"workflow": f"c{number}@1", "policy": "propagate"}) for number in range(half)]
    return workflow(*calls, children=definitions)


SHAPES: Final[Mapping[str, Callable[[int], Document]]] = {
    shape.__name__: shape for shape in (chain, choice, loops, merges, joins, children)
}
