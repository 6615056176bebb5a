"""Several problems at once, and documents that are only odd."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from perdure_conformance.spec.documents import Value, edge, node, workflow
from perdure_conformance.spec.pairs.pair import Pair, pair

_CHILD: Final = {"c@1": {"nodes": [node("x")]}}

_CALL: Final = {"workflow": "c@1", "policy": "propagate"}

_ARTIFACT: Final = {"artifact_id": "018f3a5c-0000-7000-8000-000000000001", "byte_length": 1, "sha256": "0" * 64}


def _x(value: Value, field: str = "x") -> Mapping[str, Value]:
    return {"field": field, "equals": value}


_CHANGES: Final = {"outcome": "changes_requested"}


def several_problems() -> Iterator[Pair]:
    """SPC-030."""
    for name, several in {
        "an unknown node and a retry class": workflow(
            node("a", retry={"classes": ["blocked"]}), node("b", dependencies=["z"]), node("c")
        ),
        "a cycle and a name that stands twice": workflow(
            node("s"), node("a", dependencies=["b"]), node("b", dependencies=["a"]), node("c", outputs=["x", "x"])
        ),
        "two overlaps of different nodes and an unknown child": workflow(
            node("a"),
            node("b"),
            node("c", child=_CALL),
            edges=[
                edge("a", "c", mode="exclusive"),
                edge("a", "c", mode="exclusive"),
                edge("b", "c", mode="exclusive"),
                edge("b", "c", mode="exclusive"),
            ],
        ),
        "a wrong type and a cycle": workflow(node("a", max_activations="3"), node("b", dependencies=["b"])),
        "two problems of one node": workflow(node("a", outputs=["x", "x"], retry={"classes": ["skipped"]})),
        "three problems of one edge's node": workflow(
            node("a", outputs=["x", "x"], retry={"classes": ["skipped"], "max_attempts": 0}),
        ),
        "six problems in six places": workflow(
            node("a", outputs=["x", "x"]),
            node("b", dependencies=["z"]),
            node("c", retry={"classes": ["blocked"]}),
            node("d", child={**_CALL, "workflow": "z@1"}),
            edges=[edge("a", "c", when={"outcome": "skipped"})],
            children={"c@1": {"nodes": [node("x", input={"k": 1}, artifacts={"k": _ARTIFACT})]}},
            cancellation="never",
        ),
        "an unknown word and an input given twice": workflow(
            node("a", input={"k": 1}, artifacts={"k": _ARTIFACT}), cancellation="never"
        ),
    }.items():
        yield pair("SPC-030", name, several, None)


def warnings_do_not_refuse() -> Iterator[Pair]:
    """SPC-031."""
    for name, odd in {
        "edges that come together": workflow(
            node("a"),
            node("b"),
            node("c"),
            node("m"),
            edges=[edge("a", "b"), edge("a", "c"), edge("b", "m"), edge("c", "m")],
        ),
        "a dependency on a loop": workflow(
            node("a"), node("b", dependencies=["a"]), edges=[edge("a", "a", when=_CHANGES)], initial_nodes=["a"]
        ),
        "a policy without dependencies": workflow(node("a", dependency_policy="any_succeeded")),
        "no retry class named": workflow(node("a", retry={"classes": []})),
        "an initial delay above the maximum": workflow(
            node("a", retry={"backoff": {"kind": "exponential", "initial_ms": 9, "multiplier": 1, "maximum_ms": 1}})
        ),
        "an edge that stands twice": workflow(node("a"), node("b"), edges=[edge("a", "b"), edge("a", "b")]),
        "a child that nobody runs": workflow(children=_CHILD),
        "a field that is not declared": workflow(node("a"), node("b"), edges=[edge("a", "b", when=_x(1))]),
        "an edge from a child that asks for changes": workflow(
            node("a", child=_CALL), node("b"), edges=[edge("a", "b", when=_CHANGES)], children=_CHILD
        ),
        "a budget below the initial nodes": workflow(node("a"), node("b"), budgets={"max_transitions": 1}),
        "an input from a node that runs later": workflow(
            node("a", input_mapping={"k": {"node": "b", "output": "x"}}),
            node("b", outputs=["x"]),
            edges=[edge("a", "b"), edge("b", "a")],
            initial_nodes=["a"],
        ),
        "a join of branches that exclude each other": workflow(
            node("a"),
            node("b"),
            node("c"),
            node("j", dependencies=["b", "c"]),
            edges=[edge("a", "b", when=_CHANGES), edge("a", "c", when={"outcome": "succeeded"})],
        ),
    }.items():
        yield pair("SPC-031", name, None, odd)


PAIRS = (several_problems, warnings_do_not_refuse)
