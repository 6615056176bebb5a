"""Children: the catalog, calls, levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from perdure_conformance.spec.documents import Value, edge, node, workflow
from perdure_conformance.spec.pairs.pair import Pair, pair

_CHILD: Final = {"c@1": {"nodes": [node("x")]}}

_CALL: Final = {"workflow": "c@1", "policy": "propagate"}

_GIVES: Final = {"c@1": {"nodes": [node("x", outputs=["r"])], "outputs": {"r": {"node": "x", "output": "r"}}}}

_ARTIFACT: Final = {"artifact_id": "018f3a5c-0000-7000-8000-000000000001", "byte_length": 1, "sha256": "0" * 64}


def _calls(name: str, *others: str, policy: str = "propagate") -> dict[str, Value]:
    return {
        "nodes": [node(f"{name}{i}", child={"workflow": other, "policy": policy}) for i, other in enumerate(others)]
        or [node(name)]
    }


def _nested(levels: int) -> Mapping[str, Value]:
    below = {
        f"c{level}@1": _calls("x", *([f"c{level + 1}@1"] if level < levels else [])) for level in range(1, levels + 1)
    }
    return workflow(node("a", child={"workflow": "c1@1", "policy": "propagate"}), children=below)


_NEEDS: Final = {"c@1": {"nodes": [node("x")], "inputs": ["p", "q"]}}


def children_are_there() -> Iterator[Pair]:
    """CHD-001."""
    yield pair(
        "CHD-001",
        "no children at all",
        workflow(node("a", child=_CALL)),
        workflow(node("a", child=_CALL), children=_CHILD),
    )
    yield pair(
        "CHD-001",
        "the document itself",
        workflow(node("a", child={**_CALL, "workflow": "order@1"}), children=_CHILD),
        workflow(node("a", child=_CALL), children=_CHILD),
    )
    yield pair(
        "CHD-001",
        "an unknown child",
        workflow(node("a", child={**_CALL, "workflow": "d@1"}), children=_CHILD),
        workflow(node("a", child=_CALL), children=_CHILD),
    )
    yield pair(
        "CHD-001",
        "another version of a child",
        workflow(node("a", child={**_CALL, "workflow": "c@2"}), children=_CHILD),
        workflow(node("a", child={**_CALL, "workflow": "c@1"}), children=_CHILD),
    )
    yield pair(
        "CHD-001",
        "an unknown child of a child",
        workflow(node("a", child=_CALL), children={"c@1": _calls("x", "e@1"), "d@1": _calls("y")}),
        workflow(node("a", child=_CALL), children={"c@1": _calls("x", "d@1"), "d@1": _calls("y")}),
    )


def no_recursion() -> Iterator[Pair]:
    """CHD-002."""
    yield pair(
        "CHD-002",
        "a child runs itself",
        workflow(node("a", child=_CALL), children={"c@1": _calls("x", "c@1")}),
        workflow(node("a", child=_CALL), children={"c@1": _calls("x")}),
    )
    yield pair(
        "CHD-002",
        "two children run each other",
        workflow(node("a", child=_CALL), children={"c@1": _calls("x", "d@1"), "d@1": _calls("y", "c@1")}),
        workflow(node("a", child=_CALL), children={"c@1": _calls("x", "d@1"), "d@1": _calls("y")}),
    )
    yield pair(
        "CHD-002",
        "children in a circle that nobody runs",
        workflow(children={"c@1": _calls("x", "d@1"), "d@1": _calls("y", "e@1"), "e@1": _calls("z", "c@1")}),
        workflow(children={"c@1": _calls("x", "d@1"), "d@1": _calls("y", "e@1"), "e@1": _calls("z")}),
    )
    yield pair(
        "CHD-002",
        "another version of itself is another child",
        workflow(node("a", child=_CALL), children={"c@1": _calls("x", "c@1"), "c@2": _calls("y")}),
        workflow(node("a", child=_CALL), children={"c@1": _calls("x", "c@2"), "c@2": _calls("y")}),
    )
    yield pair(
        "CHD-002",
        "a child that is used many times",
        None,
        workflow(
            node("a", child=_CALL),
            node("b", child=_CALL),
            children={"c@1": _calls("x", "d@1", "d@1"), "d@1": _calls("y")},
        ),
    )


def recursion_through_any_node() -> Iterator[Pair]:
    """CHD-002."""
    yield pair(
        "CHD-002",
        "a child runs itself by its third node",
        workflow(children={"c@1": {"nodes": [node("x"), node("y"), node("z", child=_CALL)]}}),
        workflow(children={"c@1": {"nodes": [node("x"), node("y"), node("z")]}}),
    )


def eight_levels() -> Iterator[Pair]:
    """CHD-003."""
    yield pair("CHD-003", "nine levels", _nested(9), _nested(8))
    yield pair(
        "CHD-003",
        "nine levels by one way, two by another",
        workflow(
            *[dict(each) for each in _nested(9)["nodes"]],
            node("b", child={"workflow": "c8@1", "policy": "propagate"}),
            children=_nested(9)["children"],
        ),
        workflow(
            *[dict(each) for each in _nested(8)["nodes"]],
            node("b", child={"workflow": "c8@1", "policy": "propagate"}),
            children=_nested(8)["children"],
        ),
    )
    yield pair(
        "CHD-003",
        "ten definitions in a row that nobody runs",
        workflow(children=_nested(10)["children"]),
        workflow(children=_nested(9)["children"]),
    )


def keys_of_the_catalog() -> Iterator[Pair]:
    """CHD-004."""
    for name, key in (
        ("without a version", "c"),
        ("of version 0", "c@0"),
        ("with a leading zero", "c@01"),
        ("with two signs", "c@@1"),
        ("without a name", "@1"),
        ("with a sign", "c@+1"),
        ("with a line feed", "c@1\n"),
        ("with digits that are not ASCII", "c@١"),
        ("of 17 digits", "c@10000000000000000"),
        ("of the latest version", "c@latest"),
        ("with a space", "c @1"),
        ("of version 1.0", "c@1.0"),
    ):
        yield pair(
            "CHD-004", f"a key {name}", workflow(children={key: _calls("x")}), workflow(children={"c@1": _calls("x")})
        )


def references_of_many_digits() -> Iterator[Pair]:
    """CHD-004."""
    for version in ("9007199254740991", "9999999999999999"):
        yield pair("CHD-004", f"a key of version {version}", None, workflow(children={f"c@{version}": _calls("x")}))


def policy_is_chosen() -> Iterator[Pair]:
    """CHD-005."""
    yield pair(
        "CHD-005",
        "a call without a policy",
        workflow(node("a", child={"workflow": "c@1"}), children=_CHILD),
        workflow(node("a", child={"workflow": "c@1", "policy": "require_success"}), children=_CHILD),
    )


def policy_is_chosen_in_children() -> Iterator[Pair]:
    """CHD-005."""
    yield pair(
        "CHD-005",
        "a call without a policy, in a child",
        workflow(children={**_CHILD, "d@1": {"nodes": [node("y", child={"workflow": "c@1"})]}}),
        workflow(children={**_CHILD, "d@1": {"nodes": [node("y", child=_CALL)]}}),
    )


def definitions_obey_too() -> Iterator[Pair]:
    """CHD-006."""
    for name, bad_child, good_child in (
        ("an unknown node", {"nodes": [node("x", dependencies=["q"])]}, {"nodes": [node("x")]}),
        (
            "a retry class",
            {"nodes": [node("x", retry={"classes": ["succeeded"]})]},
            {"nodes": [node("x", retry={"classes": []})]},
        ),
        (
            "an input given twice",
            {"nodes": [node("x", input={"k": 1}, artifacts={"k": _ARTIFACT})]},
            {"nodes": [node("x", input={"k": 1})]},
        ),
        (
            "a predicate that never matches",
            {"nodes": [node("x"), node("y")], "edges": [edge("x", "y", when={"outcome": "skipped"})]},
            {"nodes": [node("x"), node("y")], "edges": [edge("x", "y")]},
        ),
        ("a name that stands twice", {"nodes": [node("x", outputs=["o", "o"])]}, {"nodes": [node("x", outputs=["o"])]}),
        ("no nodes", {"nodes": []}, {"nodes": [node("x")]}),
        ("an unknown member", {"nodes": [node("x")], "workflow_id": "c"}, {"nodes": [node("x")]}),
        ("a catalog of its own", {"nodes": [node("x")], "children": {}}, {"nodes": [node("x")]}),
        (
            "an output that is not declared",
            {"nodes": [node("x")], "outputs": {"o": {"node": "x", "output": "o"}}},
            {"nodes": [node("x", outputs=["o"])], "outputs": {"o": {"node": "x", "output": "o"}}},
        ),
    ):
        yield pair(
            "CHD-006",
            f"a child that nobody runs, with {name}",
            workflow(children={"b@1": _calls("x"), "c@1": bad_child}),
            workflow(children={"b@1": _calls("x"), "c@1": good_child}),
        )


def inputs_of_a_child() -> Iterator[Pair]:
    """CHD-007."""
    yield pair(
        "CHD-007",
        "an input of the child that is missing",
        workflow(node("a", child=_CALL, input={"p": 1}), children=_NEEDS),
        workflow(node("a", child=_CALL, input={"p": 1, "q": 2}), children=_NEEDS),
    )
    yield pair(
        "CHD-007",
        "an input that the child does not know",
        workflow(node("a", child=_CALL, input={"p": 1, "q": 2, "r": 3}), children=_NEEDS),
        workflow(
            node("a", child=_CALL, input={"p": 1}, input_mapping={"q": {"run_input": "q"}}),
            inputs=["q"],
            children=_NEEDS,
        ),
    )
    yield pair(
        "CHD-007",
        "an input that is missing in a call of a child",
        workflow(children={"c@1": {"nodes": [node("x")], "inputs": ["p"]}, "d@1": {"nodes": [node("y", child=_CALL)]}}),
        workflow(
            children={
                "c@1": {"nodes": [node("x")], "inputs": ["p"]},
                "d@1": {"nodes": [node("y", child=_CALL, input={"p": None})]},
            }
        ),
    )


def inputs_of_a_child_by_mapping() -> Iterator[Pair]:
    """CHD-007."""
    yield pair(
        "CHD-007",
        "input for a child that needs none",
        workflow(node("a", child=_CALL, input={"p": 1}), children=_CHILD),
        workflow(node("a", child=_CALL, input={}), children=_CHILD),
    )
    yield pair(
        "CHD-007",
        "an input that the child does not know, in a child",
        workflow(children={**_CHILD, "d@1": {"nodes": [node("y", child=_CALL, input={"p": 1})]}}),
        workflow(children={**_CHILD, "d@1": {"nodes": [node("y", child=_CALL)]}}),
    )
    yield pair(
        "CHD-007",
        "a mapped input that the child does not know",
        workflow(
            node("a", child=_CALL, input={"p": 1, "q": 2}, input_mapping={"r": {"run_input": "q"}}),
            inputs=["q"],
            children=_NEEDS,
        ),
        workflow(
            node("a", child=_CALL, input={"p": 1}, input_mapping={"q": {"run_input": "q"}}),
            inputs=["q"],
            children=_NEEDS,
        ),
    )


def outputs_of_a_child() -> Iterator[Pair]:
    """CHD-008."""
    yield pair(
        "CHD-008",
        "an output that a child's child does not give",
        workflow(children={**_GIVES, "d@1": {"nodes": [node("y", child={**_CALL, "outputs": {"r": "x"}})]}}),
        workflow(children={**_GIVES, "d@1": {"nodes": [node("y", child={**_CALL, "outputs": {"x": "r"}})]}}),
    )
    yield pair(
        "CHD-008",
        "an output that the child does not give",
        workflow(node("a", child={**_CALL, "outputs": {"r": "x"}}), children=_GIVES),
        workflow(node("a", child={**_CALL, "outputs": {"x": "r"}}), children=_GIVES),
    )
    yield pair(
        "CHD-008",
        "an output of a node of the child",
        workflow(
            node("a", child={**_CALL, "outputs": {"r": "r"}}), children={"c@1": {"nodes": [node("x", outputs=["r"])]}}
        ),
        workflow(node("a", child={**_CALL, "outputs": {"r": "r"}}), children=_GIVES),
    )


PAIRS = (
    children_are_there,
    no_recursion,
    recursion_through_any_node,
    eight_levels,
    keys_of_the_catalog,
    references_of_many_digits,
    policy_is_chosen,
    policy_is_chosen_in_children,
    definitions_obey_too,
    inputs_of_a_child,
    inputs_of_a_child_by_mapping,
    outputs_of_a_child,
)
