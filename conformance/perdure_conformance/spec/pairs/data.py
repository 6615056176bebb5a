"""Data between nodes, and the handlers that need it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from perdure.kernel.identity import Name
from perdure.kernel.specification import HandlerDeclaration
from perdure_conformance.spec.documents import Value, edge, node, workflow
from perdure_conformance.spec.pairs.pair import Pair, pair

_CALL: Final = {"workflow": "c@1", "policy": "propagate"}


def _mapped(reference: Mapping[str, str], *, depends: Sequence[str] = ("b",), **members: Value) -> Mapping[str, Value]:
    return workflow(
        node("a", outputs=["x"]),
        node("b", dependencies=["a"], outputs=["y"]),
        node("c", dependencies=list(depends), input_mapping={"in": reference}),
        **members,
    )


_GIVES: Final = {"c@1": {"nodes": [node("x", outputs=["r"])], "outputs": {"r": {"node": "x", "output": "r"}}}}

_ARTIFACT: Final = {"artifact_id": "018f3a5c-0000-7000-8000-000000000001", "byte_length": 1, "sha256": "0" * 64}

_KNOWN: Final = (
    HandlerDeclaration(name=Name("work"), version=1),
    HandlerDeclaration(name=Name("work"), version=3, inputs=(Name("goal"), Name("style"))),
    HandlerDeclaration(name=Name("other"), version=2),
)


def _handled(name: str, version: int, **members: Value) -> Mapping[str, Value]:
    return workflow(node("a", handler={"name": name, "version": version}, **members))


def outputs_within_reach() -> Iterator[Pair]:
    """SPC-022."""
    in_a_child = [
        node("x", outputs=["o"]),
        node("y", dependencies=["x"], outputs=["o"]),
        node("z", dependencies=["y"], input_mapping={"in": {"node": "x", "output": "o"}}),
    ]
    yield pair(
        "SPC-022",
        "a prerequisite of a prerequisite, in a child",
        workflow(children={"c@1": {"nodes": in_a_child}}),
        workflow(children={"c@1": {"nodes": [*in_a_child[:2], {**in_a_child[2], "dependencies": ["y", "x"]}]}}),
    )
    yield pair(
        "SPC-022",
        "the run's output may come from any node",
        None,
        workflow(node("a", outputs=["x"]), node("b", dependencies=["a"]), outputs={"o": {"node": "a", "output": "x"}}),
    )
    yield pair(
        "SPC-022",
        "a prerequisite of a prerequisite",
        _mapped({"node": "a", "output": "x"}),
        _mapped({"node": "b", "output": "y"}),
    )
    yield pair(
        "SPC-022",
        "a node that comes later",
        workflow(
            node("a", input_mapping={"in": {"node": "b", "output": "y"}}), node("b", dependencies=["a"], outputs=["y"])
        ),
        workflow(
            node("a"),
            node("b", dependencies=["a"], outputs=["y"], input_mapping={}),
            node("c", dependencies=["b"], input_mapping={"in": {"node": "b", "output": "y"}}),
        ),
    )
    yield pair(
        "SPC-022",
        "itself, without an edge back",
        workflow(node("a", outputs=["x"], input_mapping={"in": {"node": "a", "output": "x"}}), initial_nodes=["a"]),
        workflow(
            node("a", outputs=["x"], input_mapping={"in": {"node": "a", "output": "x"}}),
            edges=[edge("a", "a")],
            initial_nodes=["a"],
        ),
    )
    yield pair(
        "SPC-022",
        "the source of an edge",
        workflow(node("a", outputs=["x"]), node("b", input_mapping={"in": {"node": "a", "output": "x"}})),
        workflow(
            node("a", outputs=["x"]),
            node("b", input_mapping={"in": {"node": "a", "output": "x"}}),
            edges=[edge("a", "b")],
        ),
    )


def reach_is_by_arrows_into_the_node() -> Iterator[Pair]:
    """SPC-022."""
    takes = {"in": {"node": "a", "output": "x"}}
    yield pair(
        "SPC-022",
        "a node that leads elsewhere",
        workflow(node("a", outputs=["x"]), node("b"), node("c", input_mapping=takes), edges=[edge("a", "b")]),
        workflow(node("a", outputs=["x"]), node("b"), node("c", input_mapping=takes), edges=[edge("a", "c")]),
    )
    yield pair(
        "SPC-022",
        "the target of an edge of its own",
        workflow(node("a", outputs=["x"]), node("c", input_mapping=takes), edges=[edge("c", "a")]),
        workflow(
            node("a", outputs=["x"]),
            node("c", input_mapping=takes),
            edges=[edge("c", "a"), edge("a", "c")],
            initial_nodes=["a"],
        ),
    )
    child = {"c@1": {"nodes": [node("x")], "inputs": ["in"]}}
    call = {"workflow": "c@1", "policy": "propagate"}
    yield pair(
        "SPC-022",
        "a mapping of a child's node",
        workflow(node("a", outputs=["x"]), node("c", child=call, input_mapping=takes), children=child),
        workflow(
            node("a", outputs=["x"]), node("c", child=call, input_mapping=takes, dependencies=["a"]), children=child
        ),
    )


def run_input_is_within_reach() -> Iterator[Pair]:
    """SPC-022."""
    yield pair(
        "SPC-022",
        "the run's input, wherever the node is",
        workflow(
            node("a"), node("b", dependencies=["a"], input_mapping={"in": {"node": "b", "output": "x"}}, outputs=["x"])
        ),
        workflow(node("a"), node("b", dependencies=["a"], input_mapping={"in": {"run_input": "x"}}), inputs=["x"]),
    )


def outputs_are_declared() -> Iterator[Pair]:
    """SPC-023."""
    yield pair(
        "SPC-023",
        "an output that is not declared",
        _mapped({"node": "b", "output": "x"}),
        _mapped({"node": "b", "output": "y"}),
    )
    yield pair(
        "SPC-023",
        "an output of the run that is not declared",
        workflow(node("a", outputs=["x"]), outputs={"o": {"node": "a", "output": "o"}}),
        workflow(node("a", outputs=["x"]), outputs={"o": {"node": "a", "output": "x"}}),
    )
    yield pair(
        "SPC-023",
        "an input of the run that is not declared",
        _mapped({"run_input": "who"}, inputs=["whom"]),
        _mapped({"run_input": "who"}, inputs=["who"]),
    )
    yield pair(
        "SPC-023",
        "an output of the child that its node does not take",
        workflow(
            node("a", child={**_CALL, "outputs": {"taken": "r"}}),
            children=_GIVES,
            outputs={"o": {"node": "a", "output": "r"}},
        ),
        workflow(
            node("a", child={**_CALL, "outputs": {"taken": "r"}}),
            children=_GIVES,
            outputs={"o": {"node": "a", "output": "taken"}},
        ),
    )
    yield pair(
        "SPC-023",
        "the document's input, used in a child",
        workflow(inputs=["who"], children={"c@1": {"nodes": [node("x", input_mapping={"in": {"run_input": "who"}})]}}),
        workflow(
            inputs=["who"],
            children={"c@1": {"nodes": [node("x", input_mapping={"in": {"run_input": "who"}})], "inputs": ["who"]}},
        ),
    )


def inputs_are_given_once() -> Iterator[Pair]:
    """SPC-024."""
    yield pair(
        "SPC-024",
        "an input that is given twice",
        workflow(node("a", input={"k": 1}, input_mapping={"k": {"run_input": "who"}}), inputs=["who"]),
        workflow(node("a", input={"k": 1}, input_mapping={"l": {"run_input": "who"}}), inputs=["who"]),
    )
    yield pair(
        "SPC-024",
        "an artifact that is given inline too",
        workflow(node("a", input={"k": None}, artifacts={"k": _ARTIFACT})),
        workflow(node("a", input={"j": None}, artifacts={"k": _ARTIFACT})),
    )
    yield pair(
        "SPC-024",
        "an artifact that is mapped too",
        workflow(node("a", artifacts={"k": _ARTIFACT}, input_mapping={"k": {"run_input": "who"}}), inputs=["who"]),
        workflow(node("a", artifacts={"k": _ARTIFACT}, input_mapping={"j": {"run_input": "who"}}), inputs=["who"]),
    )


def retry_classes() -> Iterator[Pair]:
    """SPC-025."""
    for kind in ("changes_requested", "succeeded", "blocked", "cancelled", "skipped"):
        yield pair(
            "SPC-025",
            f"{kind} as a retry class",
            workflow(node("a", retry={"classes": ["retryable_failure", kind]})),
            workflow(node("a", retry={"classes": ["retryable_failure", "permanent_failure"]})),
        )


def handlers_are_known() -> Iterator[Pair]:
    """SPC-026."""
    yield pair("SPC-026", "an unknown handler", _handled("works", 1), _handled("work", 1), _KNOWN)
    yield pair("SPC-026", "a handler of another version", _handled("work", 2), _handled("work", 1), _KNOWN)
    yield pair("SPC-026", "a version of another handler", _handled("other", 1), _handled("other", 2), _KNOWN)
    yield pair("SPC-026", "an empty catalogue", _handled("work", 1), None, ())
    yield pair(
        "SPC-026",
        "an unknown handler in a child",
        workflow(children={"c@1": {"nodes": [node("x", handler={"name": "no", "version": 1})]}}),
        workflow(children={"c@1": {"nodes": [node("x", handler={"name": "work", "version": 1})]}}),
        _KNOWN,
    )


def handlers_have_their_inputs() -> Iterator[Pair]:
    """SPC-027."""
    needs = {"name": "work", "version": 3}
    yield pair(
        "SPC-027",
        "an input that is missing in a child",
        workflow(children={"c@1": {"nodes": [node("x", handler=needs, input={"goal": 1})]}}),
        workflow(children={"c@1": {"nodes": [node("x", handler=needs, input={"goal": 1, "style": 2})]}}),
        _KNOWN,
    )
    yield pair(
        "SPC-027",
        "an input that is missing",
        _handled("work", 3, input={"goal": 1}),
        _handled("work", 3, input={"goal": 1, "style": None}),
        _KNOWN,
    )
    yield pair(
        "SPC-027",
        "more inputs than needed",
        _handled("work", 3),
        _handled("work", 3, input={"goal": 1, "style": 2, "more": 3}),
        _KNOWN,
    )
    yield pair(
        "SPC-027",
        "inputs from everywhere",
        workflow(
            node("a", handler={"name": "work", "version": 3}, input={}, input_mapping={"goal": {"run_input": "g"}}),
            inputs=["g"],
        ),
        workflow(
            node(
                "a",
                handler={"name": "work", "version": 3},
                artifacts={"style": _ARTIFACT},
                input_mapping={"goal": {"run_input": "g"}},
            ),
            inputs=["g"],
        ),
        _KNOWN,
    )


PAIRS = (
    outputs_within_reach,
    run_input_is_within_reach,
    reach_is_by_arrows_into_the_node,
    outputs_are_declared,
    inputs_are_given_once,
    retry_classes,
    handlers_are_known,
    handlers_have_their_inputs,
)
