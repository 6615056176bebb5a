"""What is only a consequence of another problem is not told: each row fails if the guard is gone that it is about."""

from __future__ import annotations

from typing import Any

import pytest
from tests.model.documents import Document, child_node, definition, document, edge, field, kind, node

from perdure.kernel.validation.handlers import Handlers
from perdure.kernel.validation.validator import validate

HANDLERS: Handlers = {("work", 1): ["goal"]}
TO_B = {"x": {"node": "a", "output": "x"}}
A, B, C = node("a"), node("b"), node("c")
EXCLUSIVE = edge("a", "b", mode="exclusive")


def of(*nodes: Any, **members: Any) -> Document:
    return document(*nodes, **members)


def calling(child: Any, call: Document | None = None, **members: Any) -> Document:
    """Return a document with a node that calls a child, both as given."""
    caller = child_node("a", **members)
    caller["child"] |= call or {}
    return document(caller, children={"child@1": child})


INNER = definition(node("n", outputs=["y"]), outputs={"y": {"node": "n", "output": "y"}})

ROWS: dict[str, tuple[Document, list[str]]] = {
    # Names of nodes.
    "ids that are no strings are no duplicates": (
        of({**A, "id": 1}, {**A, "id": 2}),
        ["wrong_type /nodes/0/id", "wrong_type /nodes/1/id"],
    ),
    "empty ids are no duplicates": (
        of({**A, "id": ""}, {**A, "id": ""}),
        ["wrong_form /nodes/0/id", "wrong_form /nodes/1/id"],
    ),
    "no name leads to a node without one": (
        of({**A, "id": 1}, outputs={"r": {"output": "y"}}),
        ["missing_member /outputs/r", "wrong_type /nodes/0/id"],
    ),
    "a name that is no string is not looked up": (
        of(A, node("b", dependencies=[1, 2])),
        ["wrong_type /nodes/1/dependencies/0", "wrong_type /nodes/1/dependencies/1"],
    ),
    "an ill-formed name is not looked up": (
        of(A, node("b", dependencies=["a b"])),
        ["wrong_form /nodes/1/dependencies/0"],
    ),
    "empty names are not looked up, and no duplicates": (
        of(A, node("b", dependencies=["", ""])),
        ["wrong_form /nodes/1/dependencies/0", "wrong_form /nodes/1/dependencies/1"],
    ),
    "a name may be that of a node that could not be read": (
        of(node("a", dependencies=["b"]), "b"),
        ["wrong_type /nodes/1"],
    ),
    "a name may be that of a node whose id could not be read": (
        of(node("a", dependencies=["b"]), {**B, "id": 1}),
        ["wrong_type /nodes/1/id"],
    ),
    "words that mean nothing are no duplicates": (
        of(node("a", retry={"classes": ["x", "y"]})),
        ["unknown_word /nodes/0/retry/classes/0", "unknown_word /nodes/0/retry/classes/1"],
    ),
    # What a node does.
    "a handler that cannot be read is one": (of({"id": "a", "handler": 1}), ["wrong_type /nodes/0/handler"]),
    "a child that cannot be read is one": (of({"id": "a", "child": 1}), ["wrong_type /nodes/0/child"]),
    # Where a run begins.
    "a cycle of dependencies needs no initial nodes": (
        of(node("a", "b"), node("b", "a")),
        ["dependency_cycle /nodes/0/dependencies/0"],
    ),
    "initial nodes may be what is misspelt": (
        of(A, edges=[edge("a", "a")], initial_node=["a"]),
        ["unknown_member /initial_node"],
    ),
    "initial nodes that cannot be read are not none": (of(A, initial_nodes=5), ["wrong_type /initial_nodes"]),
    "a name that leads nowhere hides what is reached": (
        of(A, node("b", "c")),
        ["unknown_node /nodes/1/dependencies/0"],
    ),
    "without initial nodes in a cycle nothing is asked further": (
        of(A, B, edges=[edge("a", "b"), edge("b", "a")]),
        ["initial_nodes_needed "],
    ),
    "where initial nodes are needed, it is not asked what is reached": (
        of(A, B, C, edges=[edge("a", "b"), edge("b", "a")]),
        ["initial_nodes_needed "],
    ),
    "no initial nodes hide what is reached": (of(A, initial_nodes=[]), ["no_initial_nodes /initial_nodes"]),
    "the second of two nodes of one name is not asked whether it is reached": (
        of(A, A, initial_nodes=["a"]),
        ["duplicate_node /nodes/1/id"],
    ),
    # The graph.
    "a member of the document may be the edges": (
        of(A, B, initial_nodes=["a"], edge=[edge("a", "b")]),
        ["unknown_member /edge"],
    ),
    "a node that cannot be read may lead on": (of(A, "x", C, initial_nodes=["a"]), ["wrong_type /nodes/1"]),
    "an edge that cannot be read may lead on": (of(A, B, initial_nodes=["a"], edges=["x"]), ["wrong_type /edges/0"]),
    "a member of a node may be its dependencies": (
        of(A, node("b", dependency=["a"]), initial_nodes=["a"]),
        ["unknown_member /nodes/1/dependency"],
    ),
    "a member of an edge may be its target": (
        of(A, B, C, initial_nodes=["a"], edges=[{**edge("a", "b"), "tto": "c"}]),
        ["unknown_member /edges/0/tto"],
    ),
    "a name among initial nodes may be any": (
        of(A, B, initial_nodes=["a", 1]),
        ["wrong_type /initial_nodes/1"],
    ),
    "an id that cannot be read may be that of a node that leads on": (
        of(A, {**B, "id": 1}, C, initial_nodes=["a"]),
        ["wrong_type /nodes/1/id"],
    ),
    "dependencies that cannot be read may be any": (
        of(A, node("b", dependencies=5), initial_nodes=["a"]),
        ["wrong_type /nodes/1/dependencies"],
    ),
    "a source that cannot be read may be any": (
        of(A, B, initial_nodes=["a"], edges=[{"from": 1, "to": "b"}]),
        ["wrong_type /edges/0/from"],
    ),
    "a target that cannot be read may be any": (
        of(A, B, initial_nodes=["a"], edges=[{"from": "a", "to": 1}]),
        ["wrong_type /edges/0/to"],
    ),
    # Data.
    "an input of the run that cannot be read is not looked up": (
        of(node("a", input_mapping={"x": {"run_input": 1}})),
        ["wrong_type /nodes/0/input_mapping/x/run_input"],
    ),
    "an ill-formed input of the run is not looked up": (
        of(node("a", input_mapping={"x": {"run_input": "a b"}})),
        ["wrong_form /nodes/0/input_mapping/x/run_input"],
    ),
    "inputs that cannot be read may be any": (
        of(node("a", input_mapping={"x": {"run_input": "x"}}), inputs=5),
        ["wrong_type /inputs"],
    ),
    "a node that is not there is not out of reach": (
        of(node("a", input_mapping={"x": {"node": "b", "output": "y"}})),
        ["unknown_node /nodes/0/input_mapping/x/node"],
    ),
    "a name of two nodes is not out of reach": (
        of(node("a", outputs=["x"]), node("a", outputs=["x"]), node("b", input_mapping=TO_B)),
        ["duplicate_node /nodes/1/id"],
    ),
    "what is known before may be dependencies that cannot be read": (
        of(node("a", outputs=["x"]), node("b", dependencies=5, input_mapping=TO_B)),
        ["wrong_type /nodes/1/dependencies"],
    ),
    "what is known before may be an edge that cannot be read": (
        of(node("a", outputs=["x"]), node("b", input_mapping=TO_B), edges=["x"]),
        ["wrong_type /edges/0"],
    ),
    "what is known before may be an edge whose end cannot be read": (
        of(node("a", outputs=["x"]), node("b", input_mapping=TO_B), edges=[edge("a", "b") | {"to": 1}]),
        ["wrong_type /edges/0/to"],
    ),
    "an output that is missing is not looked up": (of(A, outputs={"r": {"node": "a"}}), ["missing_member /outputs/r"]),
    "an ill-formed output is not looked up": (
        of(A, outputs={"r": {"node": "a", "output": "a b"}}),
        ["wrong_form /outputs/r/output"],
    ),
    "an output of two nodes of one name may be that of either": (
        of(node("a", outputs=["x"]), node("a", outputs=["y"]), outputs={"r": {"node": "a", "output": "y"}}),
        ["duplicate_node /nodes/1/id"],
    ),
    "outputs that cannot be read may be any": (
        of(node("a", outputs=5), outputs={"r": {"node": "a", "output": "y"}}),
        ["wrong_type /nodes/0/outputs"],
    ),
    "a word that means nothing may be a retry class": (
        of(node("a", retry={"classes": ["retryable"]})),
        ["unknown_word /nodes/0/retry/classes/0"],
    ),
    # Edges.
    "edges without a source do not overlap": (
        of(A, B, edges=[{**EXCLUSIVE, "from": ""}] * 2, initial_nodes=["a", "b"]),
        ["wrong_form /edges/0/from", "wrong_form /edges/1/from"],
    ),
    "edges whose source cannot be read do not overlap": (
        of(A, B, edges=[{**EXCLUSIVE, "from": 1}] * 2),
        ["wrong_type /edges/0/from", "wrong_type /edges/1/from"],
    ),
    "predicates that cannot be read do not overlap, and are not the same": (
        of(A, B, edges=[{**EXCLUSIVE, "when": 5}, {**EXCLUSIVE, "when": 5}, edge("a", "b", 5), edge("a", "b", 5)]),
        [f"wrong_type /edges/{number}/when" for number in range(4)],
    ),
    "predicates that never match do not overlap": (
        of(A, B, edges=[{**EXCLUSIVE, "when": kind("skipped")}] * 2),
        ["never_matches /edges/0/when", "never_matches /edges/1/when"],
    ),
    "modes that mean nothing make no edge one of two": (
        of(A, B, edges=[edge("a", "b", mode="exclusiv"), edge("a", "b", mode="exclusiv")]),
        ["unknown_word /edges/0/mode", "unknown_word /edges/1/mode"],
    ),
    "an empty field is not looked up": (
        of(A, B, edges=[edge("a", "b", field("", 1))]),
        ["wrong_form /edges/0/when/field"],
    ),
    "an ill-formed field is not looked up": (
        of(A, B, edges=[edge("a", "b", field("a b", 1))]),
        ["wrong_form /edges/0/when/field"],
    ),
    "a field may be among outputs that cannot be read": (
        of(node("a", outputs=5), B, edges=[edge("a", "b", field("x", 1))]),
        ["wrong_type /nodes/0/outputs"],
    ),
    # Children.
    "a call without a workflow calls nothing": (
        calling(INNER, {"workflow": 1}),
        ["wrong_type /nodes/0/child/workflow"],
    ),
    "an ill-formed workflow is not looked up": (
        calling(INNER, {"workflow": "x y"}),
        ["wrong_form /nodes/0/child/workflow"],
    ),
    "a catalog that cannot be read may have any key": (
        of(child_node("a"), children="x"),
        ["wrong_type /children"],
    ),
    "a definition that cannot be read is there": (
        of(child_node("a"), children={"child@1": 5, "other@1": definition(child_node("n", workflow="third@1"))}),
        ["unknown_child /children/other@1/nodes/0/child/workflow", "wrong_type /children/child@1"],
    ),
    "inputs of a child that cannot be read may be any": (
        calling({**INNER, "inputs": 5}, input={"z": 1}),
        ["wrong_type /children/child@1/inputs"],
    ),
    "an empty input of a child is not missing": (
        calling({**INNER, "inputs": [""]}),
        ["wrong_form /children/child@1/inputs/0"],
    ),
    "what a child needs may be in an input that cannot be read": (
        calling({**INNER, "inputs": ["z"]}, input=5),
        ["wrong_type /nodes/0/input"],
    ),
    "an ill-formed field is not looked up among inputs of a child": (
        {
            **calling({**INNER, "inputs": ["z"]}, input={"z": 1}, input_mapping={"2x": {"run_input": "r"}}),
            "inputs": ["r"],
        },
        ["wrong_form /nodes/0/input_mapping/2x"],
    ),
    "outputs of a child that cannot be read may be any": (
        calling({**INNER, "outputs": 5}, {"outputs": {"x": "y"}}),
        ["wrong_type /children/child@1/outputs"],
    ),
    "an output of a child that is no string is not looked up": (
        calling(INNER, {"outputs": {"x": 1}}),
        ["wrong_type /nodes/0/child/outputs/x"],
    ),
    "an ill-formed output of a child is not looked up": (
        calling(INNER, {"outputs": {"x": "a b"}}),
        ["wrong_form /nodes/0/child/outputs/x"],
    ),
    "outputs of a call that cannot be read may be any": (
        {**calling(INNER, {"outputs": 5}), "outputs": {"r": {"node": "a", "output": "y"}}},
        ["wrong_type /nodes/0/child/outputs"],
    ),
    # The document, and warnings.
    "a hash that is no string is not compared": (of(A, content_hash=5), ["wrong_type /content_hash"]),
    "a hash without its form is not compared": (of(A, content_hash="0"), ["wrong_form /content_hash"]),
    "a policy may have dependencies that cannot be read": (
        of(node("a", dependencies=5, dependency_policy="any_succeeded")),
        ["wrong_type /nodes/0/dependencies"],
    ),
    "a budget that cannot be read is not too small": (
        of(A, B, budgets={"max_transitions": "x"}),
        ["wrong_type /budgets/max_transitions"],
    ),
    "a budget of 0 is told once": (of(A, B, budgets={"max_transitions": 0}), ["out_of_range /budgets/max_transitions"]),
    "a delay that cannot be read is not too small": (
        of(node("a", retry={"backoff": {"kind": "exponential", "initial_ms": 5, "multiplier": 1, "maximum_ms": "x"}})),
        ["wrong_type /nodes/0/retry/backoff/maximum_ms"],
    ),
}


def told(whole: Document, handlers: Handlers | None = None) -> list[str]:
    """Return code and place of each problem and warning, sorted."""
    return sorted(f"{problem.code} {problem.pointer}" for problem in validate(whole, handlers).problems)


@pytest.mark.parametrize(("whole", "expected"), ROWS.values(), ids=ROWS)
def test_a_consequence_of_a_problem_is_no_problem_of_its_own(whole: Document, expected: list[str]) -> None:
    assert told(whole) == expected


@pytest.mark.parametrize(
    ("handler", "more", "expected"),
    [
        ({"name": 1, "version": 1}, {}, ["wrong_type /nodes/0/handler/name"]),
        ({"name": "a b", "version": 1}, {}, ["wrong_form /nodes/0/handler/name"]),
        ({"name": "work", "version": "2"}, {"input": {"goal": 1}}, ["wrong_type /nodes/0/handler/version"]),
        ({"name": "work", "version": 1}, {"input": 5}, ["wrong_type /nodes/0/input"]),
        ({"name": "work", "version": 1}, {"artifacts": 5}, ["wrong_type /nodes/0/artifacts"]),
        ({"name": "work", "version": 1}, {"input_mapping": 5}, ["wrong_type /nodes/0/input_mapping"]),
    ],
)
def test_what_cannot_be_read_of_a_handler_is_not_looked_up(
    handler: Document, more: Document, expected: list[str]
) -> None:
    assert told(of({"id": "a", "handler": handler, **more}), HANDLERS) == expected


def test_recursion_of_a_child_has_no_levels() -> None:
    children = {f"c{level}@1": definition(child_node("n", workflow=f"c{min(level + 1, 7)}@1")) for level in range(1, 8)}
    found = told(of(child_node("a", workflow="c1@1"), children=children))
    assert found == ["child_recursion /children/c7@1/nodes/0/child/workflow"]
