"""Nodes: identities, names, dependencies, where a run begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from perdure_conformance.spec.documents import Value, edge, node, workflow
from perdure_conformance.spec.pairs.pair import Pair, pair

_CHILD: Final = {"c@1": {"nodes": [node("x")]}}

_CALL: Final = {"workflow": "c@1", "policy": "propagate"}


def _chain(*names: str, closed: bool, **members: Value) -> Iterator[dict[str, Value]]:
    for position, name in enumerate(names):
        before = [names[position - 1]] if position or closed else []
        yield node(name, dependencies=before, **members)


def ids_are_unique() -> Iterator[Pair]:
    """SPC-013."""
    yield pair(
        "SPC-013",
        "an id stands twice, with two handlers",
        workflow(node("a"), node("a", handler={"name": "other", "version": 2})),
        workflow(node("a"), node("b", handler={"name": "other", "version": 2})),
    )
    yield pair("SPC-013", "an id stands twice", workflow(node("a"), node("a")), workflow(node("a"), node("A")))
    yield pair(
        "SPC-013",
        "an id stands twice, far apart",
        workflow(node("a"), node("b"), node("c"), node("a")),
        workflow(node("a"), node("b"), node("c"), node("d")),
    )
    yield pair(
        "SPC-013",
        "an id stands twice in a child",
        workflow(children={"c@1": {"nodes": [node("a"), node("a")]}}),
        workflow(children={"c@1": {"nodes": [node("a")]}, "d@1": {"nodes": [node("a")]}}),
    )


def handler_or_child() -> Iterator[Pair]:
    """SPC-014."""
    yield pair(
        "SPC-014",
        "neither handler nor child, in a child",
        workflow(children={"c@1": {"nodes": [{"id": "x"}]}}),
        workflow(children={"c@1": {"nodes": [node("x")]}}),
    )
    artifact = {"artifact_id": "018f3a5c-0000-7000-8000-000000000001", "byte_length": 1, "sha256": "0" * 64}
    yield pair(
        "SPC-014",
        "artifacts of a child's node",
        workflow(
            node("a", child=_CALL, artifacts={"p": artifact}), children={"c@1": {**_CHILD["c@1"], "inputs": ["p"]}}
        ),
        workflow(node("a", child=_CALL, input={"p": "0"}), children={"c@1": {**_CHILD["c@1"], "inputs": ["p"]}}),
    )
    yield pair(
        "SPC-014",
        "a handler and a child",
        workflow(node("a", handler={"name": "work", "version": 1}, child=_CALL), children=_CHILD),
        workflow(node("a", child=_CALL), children=_CHILD),
    )
    yield pair("SPC-014", "neither handler nor child", workflow({"id": "a"}), workflow(node("a")))
    for member, value in (("outputs", ["x"]), ("signals", ["x"])):
        yield pair(
            "SPC-014",
            f"{member} of a child's node",
            workflow(node("a", child=_CALL, **{member: value}), children=_CHILD),
            workflow(node("a", **{member: value}), children=_CHILD),
        )


def names_are_there() -> Iterator[Pair]:
    """SPC-015."""
    yield pair(
        "SPC-015",
        "an unknown prerequisite",
        workflow(node("a"), node("b", dependencies=["c"]), node("d")),
        workflow(node("a"), node("b", dependencies=["d"]), node("d")),
    )
    yield pair(
        "SPC-015",
        "an unknown target",
        workflow(node("a"), node("b"), edges=[edge("a", "B")]),
        workflow(node("a"), node("b"), edges=[edge("a", "b")]),
    )
    yield pair(
        "SPC-015",
        "an unknown source",
        workflow(node("a"), node("b"), edges=[edge("A", "b")]),
        workflow(node("a"), node("b"), edges=[edge("a", "b")]),
    )
    yield pair(
        "SPC-015",
        "an unknown initial node",
        workflow(node("a"), initial_nodes=["a", "b"]),
        workflow(node("a"), node("b"), initial_nodes=["a", "b"]),
    )
    yield pair(
        "SPC-015",
        "an unknown node in the run's output",
        workflow(node("a", outputs=["x"]), outputs={"y": {"node": "b", "output": "x"}}),
        workflow(node("a", outputs=["x"]), outputs={"y": {"node": "a", "output": "x"}}),
    )
    yield pair(
        "SPC-015",
        "an unknown node in a mapping",
        workflow(
            node("a", outputs=["x"]), node("b", dependencies=["a"], input_mapping={"y": {"node": "z", "output": "x"}})
        ),
        workflow(
            node("a", outputs=["x"]), node("b", dependencies=["a"], input_mapping={"y": {"node": "a", "output": "x"}})
        ),
    )
    yield pair(
        "SPC-015",
        "a node of the document, named in a child",
        workflow(node("a"), children={"c@1": {"nodes": [node("x", dependencies=["a"])]}}),
        workflow(node("a"), children={"c@1": {"nodes": [node("x", dependencies=["a"]), node("a")]}}),
    )


def names_of_javascript() -> Iterator[Pair]:
    """SPC-015."""
    for name in ("constructor", "toString", "hasOwnProperty", "__proto__"):
        yield pair(
            "SPC-015",
            f"an unknown prerequisite called {name}",
            workflow(node("a"), node("b", dependencies=[name])),
            workflow(node(name), node("b", dependencies=[name])),
        )
        yield pair(
            "SPC-015",
            f"an unknown target called {name}",
            workflow(node("a"), edges=[edge("a", name)]),
            workflow(node("a"), node(name), edges=[edge("a", name)]),
        )


def names_stand_once() -> Iterator[Pair]:
    """SPC-016."""
    twice_inside = [node("x"), node("y", dependencies=["x", "x"])]
    yield pair(
        "SPC-016",
        "a prerequisite stands twice, in a child",
        workflow(children={"c@1": {"nodes": twice_inside}}),
        workflow(children={"c@1": {"nodes": [node("x"), node("y", dependencies=["x"])]}}),
    )
    for name, twice, once in (
        (
            "a prerequisite",
            workflow(node("a"), node("b", dependencies=["a", "a"])),
            workflow(node("a"), node("b", dependencies=["a"])),
        ),
        ("an initial node", workflow(initial_nodes=["a", "a"]), workflow(initial_nodes=["a"])),
        ("an input of the run", workflow(inputs=["x", "x"]), workflow(inputs=["x", "X"])),
        ("an output", workflow(node("a", outputs=["x", "y", "x"])), workflow(node("a", outputs=["x", "y", "z"]))),
        ("a signal", workflow(node("a", signals=["x", "x"])), workflow(node("a", signals=["x"]))),
        (
            "a retry class",
            workflow(node("a", retry={"classes": ["retryable_failure", "retryable_failure"]})),
            workflow(node("a", retry={"classes": ["retryable_failure", "permanent_failure"]})),
        ),
    ):
        yield pair("SPC-016", f"{name} stands twice", twice, once)


def no_dependency_cycle() -> Iterator[Pair]:
    """SPC-017."""
    for policy in ("any_succeeded", "all_completed"):
        yield pair(
            "SPC-017",
            f"a cycle of nodes that wait for {policy}",
            workflow(
                node("s"),
                node("a", dependencies=["s", "b"], dependency_policy=policy),
                node("b", dependencies=["a"], dependency_policy=policy),
            ),
            workflow(
                node("s"),
                node("a", dependencies=["s"], dependency_policy=policy),
                node("b", dependencies=["a"], dependency_policy=policy),
            ),
        )
    yield pair("SPC-017", "a node depends on itself", workflow(node("a", dependencies=["a"])), workflow(node("a")))
    yield pair(
        "SPC-017",
        "a node depends on itself and on another",
        workflow(node("a"), node("b", dependencies=["a", "b"])),
        workflow(node("a"), node("b", dependencies=["a"])),
    )
    for length in (2, 3, 12):
        names = [f"n{number}" for number in range(length)]
        yield pair(
            "SPC-017",
            f"a cycle of {length}",
            workflow(node("start"), *_chain(*names, closed=True)),
            workflow(node("start"), *_chain(*names, closed=False)),
        )
    yield pair(
        "SPC-017",
        "a cycle that nothing leads to",
        workflow(node("a"), node("b", dependencies=["a"]), *_chain("x", "y", "z", closed=True)),
        workflow(node("a"), node("b", dependencies=["a"]), *_chain("x", "y", "z", closed=False)),
    )
    yield pair(
        "SPC-017",
        "a cycle behind a long way in",
        workflow(
            *_chain("a", "b", "c", closed=False), node("d", dependencies=["c", "e"]), node("e", dependencies=["d"])
        ),
        workflow(
            *_chain("a", "b", "c", closed=False), node("d", dependencies=["c"]), node("e", dependencies=["d", "c"])
        ),
    )
    yield pair(
        "SPC-017",
        "a diamond is no cycle",
        workflow(
            node("a"),
            node("b", dependencies=["a", "d"]),
            node("c", dependencies=["a"]),
            node("d", dependencies=["b", "c"]),
        ),
        workflow(
            node("a"), node("b", dependencies=["a"]), node("c", dependencies=["a"]), node("d", dependencies=["b", "c"])
        ),
    )
    yield pair(
        "SPC-017",
        "a cycle in a child",
        workflow(children={"c@1": {"nodes": [*_chain("x", "y", closed=True)]}}),
        workflow(children={"c@1": {"nodes": [*_chain("x", "y", closed=False)]}}),
    )


def initial_nodes_where_needed() -> Iterator[Pair]:
    """SPC-018."""
    yield pair(
        "SPC-018",
        "edges that come together are no loop",
        workflow(node("a"), node("b"), node("c"), edges=[edge("a", "c"), edge("b", "c"), edge("c", "b")]),
        workflow(node("a"), node("b"), node("c"), edges=[edge("a", "c"), edge("b", "c"), edge("a", "b")]),
    )
    yield pair(
        "SPC-018",
        "a loop of edges without initial nodes",
        workflow(node("s"), node("a"), node("b"), edges=[edge("s", "a"), edge("a", "b"), edge("b", "a")]),
        workflow(
            node("s"), node("a"), node("b"), edges=[edge("s", "a"), edge("a", "b"), edge("b", "a")], initial_nodes=["s"]
        ),
    )
    yield pair(
        "SPC-018",
        "a loop of an edge and a dependency",
        workflow(node("s"), node("a"), node("b", dependencies=["a"]), edges=[edge("s", "a"), edge("b", "a")]),
        workflow(node("s"), node("a"), node("b", dependencies=["a"]), edges=[edge("s", "a")]),
    )
    yield pair(
        "SPC-018",
        "an edge back to its source",
        workflow(edges=[edge("a", "a")]),
        workflow(edges=[edge("a", "a")], initial_nodes=["a"]),
    )
    yield pair(
        "SPC-018",
        "a loop in a child",
        workflow(children={"c@1": {"nodes": [node("x"), node("y")], "edges": [edge("x", "y"), edge("y", "x")]}}),
        workflow(children={"c@1": {"nodes": [node("x"), node("y")], "edges": [edge("x", "y")]}}),
    )


def initial_nodes_are_some() -> Iterator[Pair]:
    """SPC-019."""
    yield pair(
        "SPC-019",
        "no initial node of a child",
        workflow(children={"c@1": {"nodes": [node("x")], "initial_nodes": []}}),
        workflow(children={"c@1": {"nodes": [node("x")], "initial_nodes": ["x"]}}),
    )
    waits = [node("x"), node("y", dependencies=["x"])]
    yield pair(
        "SPC-019",
        "an initial node of a child with a dependency",
        workflow(children={"c@1": {"nodes": waits, "initial_nodes": ["x", "y"]}}),
        workflow(children={"c@1": {"nodes": waits, "initial_nodes": ["x"]}}),
    )
    yield pair("SPC-019", "no initial node", workflow(initial_nodes=[]), workflow(initial_nodes=["a"]))
    yield pair(
        "SPC-019",
        "an initial node with a dependency",
        workflow(node("a"), node("b", dependencies=["a"]), initial_nodes=["a", "b"]),
        workflow(node("a"), node("b", dependencies=["a"]), initial_nodes=["a"]),
    )
    yield pair(
        "SPC-019",
        "an initial node may have incoming edges",
        workflow(node("a"), node("b"), edges=[edge("b", "a")], initial_nodes=[]),
        workflow(node("a"), node("b"), edges=[edge("b", "a")], initial_nodes=["a", "b"]),
    )


def every_node_is_reached() -> Iterator[Pair]:
    """SPC-020."""
    yield pair(
        "SPC-020",
        "an orphan",
        workflow(node("a"), node("b"), initial_nodes=["a"]),
        workflow(node("a"), node("b"), initial_nodes=["a", "b"]),
    )
    yield pair(
        "SPC-020",
        "an edge in the wrong direction",
        workflow(node("a"), node("b"), edges=[edge("b", "a")], initial_nodes=["a"]),
        workflow(node("a"), node("b"), edges=[edge("a", "b")], initial_nodes=["a"]),
    )
    yield pair(
        "SPC-020",
        "two that lead only to each other",
        workflow(node("a"), node("b"), node("c"), edges=[edge("b", "c"), edge("c", "b")], initial_nodes=["a"]),
        workflow(node("a"), node("b"), node("c"), edges=[edge("b", "c"), edge("a", "b")], initial_nodes=["a"]),
    )
    yield pair(
        "SPC-020",
        "reached by edges and dependencies in turn",
        workflow(
            node("a"), node("b"), node("c", dependencies=["b"]), node("d"), edges=[edge("c", "d")], initial_nodes=["a"]
        ),
        workflow(
            node("a"),
            node("b"),
            node("c", dependencies=["b"]),
            node("d"),
            edges=[edge("a", "b"), edge("c", "d")],
            initial_nodes=["a"],
        ),
    )
    yield pair(
        "SPC-020",
        "reached from the second initial node",
        workflow(node("a"), node("b"), node("c"), edges=[edge("b", "c")], initial_nodes=["a"]),
        workflow(node("a"), node("b"), node("c"), edges=[edge("b", "c")], initial_nodes=["a", "b"]),
    )
    yield pair(
        "SPC-020",
        "an orphan in a child",
        workflow(children={"c@1": {"nodes": [node("x"), node("y")], "initial_nodes": ["x"]}}),
        workflow(children={"c@1": {"nodes": [node("x"), node("y")]}}),
    )


def initial_nodes_are_told() -> Iterator[Pair]:
    """SPC-021."""
    for name, told in {
        "of one node": workflow(),
        "not by name": workflow(node("b"), node("B"), node("a"), node("_")),
        "without dependencies": workflow(node("a"), node("b", dependencies=["a"]), node("c")),
        "without incoming edges": workflow(node("a"), node("b"), node("c"), edges=[edge("a", "c")]),
        "as they are named": workflow(
            node("a"), node("b"), node("c"), edges=[edge("c", "b")], initial_nodes=["a", "c"]
        ),
        "in specification order": workflow(node("a"), node("b"), node("c"), initial_nodes=["c", "a", "b"]),
        "where a named one has incoming edges": workflow(
            node("a"), node("b"), edges=[edge("b", "a")], initial_nodes=["b", "a"]
        ),
    }.items():
        yield pair("SPC-021", f"the initial nodes {name}", None, told)


PAIRS = (
    ids_are_unique,
    handler_or_child,
    names_are_there,
    names_of_javascript,
    names_stand_once,
    no_dependency_cycle,
    initial_nodes_where_needed,
    initial_nodes_are_some,
    every_node_is_reached,
    initial_nodes_are_told,
)
