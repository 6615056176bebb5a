"""Edges: predicates, and which of them exclude each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from perdure_conformance.spec.documents import Value, edge, node, workflow
from perdure_conformance.spec.pairs.pair import Pair, pair

_LARGEST: Final = 2**53 - 1


def _fork(one: Value, other: Value, *, modes: tuple[str, str] = ("exclusive", "exclusive")) -> Mapping[str, Value]:
    return workflow(
        node("a", outputs=["x", "y"]),
        node("b"),
        node("c"),
        edges=[edge("a", "b", when=one, mode=modes[0]), edge("a", "c", when=other, mode=modes[1])],
    )


def _x(value: Value, field: str = "x") -> Mapping[str, Value]:
    return {"field": field, "equals": value}


_SUCCEEDED: Final = {"outcome": "succeeded"}

_CHANGES: Final = {"outcome": "changes_requested"}

_FAILED: Final = {"outcome": "permanent_failure"}


def predicates_can_match() -> Iterator[Pair]:
    """EDG-001."""
    yield pair(
        "EDG-001",
        "an edge from a skipped node",
        workflow(node("a"), node("b"), edges=[edge("a", "b", when={"outcome": "skipped"})]),
        workflow(node("a"), node("b"), edges=[edge("a", "b", when={"outcome": "cancelled"})]),
    )


def exclusive_edges_that_overlap() -> Iterator[Pair]:
    """EDG-002."""
    for name, one, other, twin in (
        ("any and any", "any", "any", None),
        ("any and a kind", "any", _FAILED, None),
        ("a field and any", _x(1), "any", None),
        ("a kind twice", _FAILED, _FAILED, {"outcome": "blocked"}),
        ("two fields", _x(1), _x(2, "y"), _x(2)),
        ("a field twice with one value", _x("go"), _x("go"), _x("stop")),
        ("a field and success", _x(1), _SUCCEEDED, _FAILED),
        ("changes and a field", _CHANGES, _x(1), _FAILED),
    ):
        yield pair("EDG-002", f"{name} overlap", _fork(one, other), _fork(one, twin) if twin is not None else None)
    yield pair(
        "EDG-002",
        "the first and the last of many",
        workflow(
            node("a", outputs=["x"]),
            node("b"),
            edges=[edge("a", "b", when=_x(value), mode="exclusive") for value in (1, 2, 3, 4, 1)],
        ),
        workflow(
            node("a", outputs=["x"]),
            node("b"),
            edges=[edge("a", "b", when=_x(value), mode="exclusive") for value in (1, 2, 3, 4, 5)],
        ),
    )
    for values in ((1, 2, 2), (1, 2, 3, 2), (2, 1, 3, 4, 5, 1, 6), (0, *range(30), 31)):
        yield pair(
            "EDG-002",
            f"one value twice among {len(values)}",
            workflow(
                node("a", outputs=["x"]),
                node("b"),
                edges=[edge("a", "b", when=_x(value), mode="exclusive") for value in values],
            ),
            workflow(
                node("a", outputs=["x"]),
                node("b"),
                edges=[edge("a", "b", when=_x(value), mode="exclusive") for value in range(len(values))],
            ),
        )
    yield pair(
        "EDG-002",
        "edges of one source that stand apart",
        workflow(
            node("a"),
            node("b"),
            edges=[
                edge("a", "b", mode="exclusive"),
                edge("b", "b", mode="exclusive"),
                edge("a", "b", mode="exclusive"),
            ],
            initial_nodes=["a"],
        ),
        workflow(
            node("a"),
            node("b"),
            edges=[edge("a", "b", mode="exclusive"), edge("b", "b", mode="exclusive"), edge("a", "b", mode="parallel")],
            initial_nodes=["a"],
        ),
    )
    yield pair(
        "EDG-002",
        "an overlap in a child",
        workflow(children={"c@1": {**{k: v for k, v in _fork(_SUCCEEDED, "any").items() if k in {"nodes", "edges"}}}}),
        workflow(
            children={"c@1": {**{k: v for k, v in _fork(_SUCCEEDED, _FAILED).items() if k in {"nodes", "edges"}}}}
        ),
    )


def exclusive_edges_that_are_disjoint() -> Iterator[Pair]:
    """EDG-003."""
    many: list[Value] = [_SUCCEEDED, _CHANGES, _FAILED, {"outcome": "blocked"}, {"outcome": "cancelled"}]
    yield pair(
        "EDG-003",
        "five kinds are disjoint",
        workflow(
            node("a"),
            edges=[edge("a", "a", when=when, mode="exclusive") for when in [*many, _FAILED]],
            initial_nodes=["a"],
        ),
        workflow(node("a"), edges=[edge("a", "a", when=when, mode="exclusive") for when in many], initial_nodes=["a"]),
    )
    for name, one, other in (
        ("success and changes", _SUCCEEDED, _CHANGES),
        ("two kinds of failure", {"outcome": "retryable_failure"}, _FAILED),
        ("a field and a failure", _x(1), _FAILED),
        ("a failure and a field", {"outcome": "retryable_failure"}, _x(None)),
        ("blocked and a field", {"outcome": "blocked"}, _x("")),
        ("a field and cancelled", _x(0), {"outcome": "cancelled"}),
        ("a field with two values", _x("a"), _x("b")),
        ("a field with two numbers", _x(0), _x(1)),
        ("true and false", {"field": "x", "equals": True}, {"field": "x", "equals": False}),
    ):
        yield pair("EDG-003", f"{name} are disjoint", _fork(one, one), _fork(one, other))


def scalars() -> Iterator[Pair]:
    """EDG-004."""
    for name, one, same, other in (
        ("true is not 1", True, True, 1),
        ("false is not 0", 0, 0, False),
        ("null is not false", None, None, False),
        ("null is not the empty string", "", "", None),
        ('"1" is not 1', "1", "1", 1),
        ('"true" is not true', True, True, "true"),
        ("1.0 is 1", 1, 1.0, 1.5),
        ("−0 is 0", 0, -0.0, -1),
        ("1e3 is 1000", 1000, 1e3, 1e4),
        ("the largest integers", _LARGEST, _LARGEST, _LARGEST - 1),
        ("letters in capitals", "go", "go", "Go"),
        ("a composed letter", "\u00e9", "\u00e9", "e\u0301"),
        ("white space at the end", "go", "go", "go "),
        ("−1 is not 1", 1, 1, -1),
        ("null is not its name", None, None, "null"),
        ("a difference after 64 characters", 64 * "x", 64 * "x", 64 * "x" + "y"),
        ("a difference after 300 characters", 300 * "x", 300 * "x", 300 * "x" + "y"),
        ("an emoji", "\U0001f600", "\U0001f600", "\U0001f601"),
        ("NUL at the end", "go", "go", "go\x00"),
        ("0.1 + 0.2", 0.3, 0.3, 0.30000000000000004),
    ):
        yield pair("EDG-004", name, _fork(_x(one), _x(same)), _fork(_x(one), _x(other)))


def edges_that_do_not_exclude() -> Iterator[Pair]:
    """EDG-005."""
    yield pair(
        "EDG-005",
        "parallel edges may overlap",
        _fork("any", "any"),
        _fork("any", "any", modes=("parallel", "parallel")),
    )
    yield pair(
        "EDG-005",
        "one exclusive edge may overlap with a parallel one",
        _fork("any", _FAILED),
        _fork("any", _FAILED, modes=("exclusive", "parallel")),
    )
    yield pair(
        "EDG-005",
        "edges are parallel by default",
        _fork(_SUCCEEDED, "any"),
        workflow(node("a"), node("b"), edges=[edge("a", "b"), edge("a", "b", when=_SUCCEEDED)]),
    )
    yield pair(
        "EDG-005",
        "edges of two sources may overlap",
        workflow(
            node("a"), node("b"), node("c"), edges=[edge("a", "c", mode="exclusive"), edge("a", "c", mode="exclusive")]
        ),
        workflow(
            node("a"), node("b"), node("c"), edges=[edge("a", "c", mode="exclusive"), edge("b", "c", mode="exclusive")]
        ),
    )


def edges_of_two_workflows() -> Iterator[Pair]:
    """EDG-005."""
    inside = {"nodes": [node("a"), node("b")], "edges": [edge("a", "b", mode="exclusive")]}
    yield pair(
        "EDG-005",
        "edges of nodes with one id in two workflows may overlap",
        workflow(node("a"), node("b"), edges=2 * [edge("a", "b", mode="exclusive")], children={"c@1": inside}),
        workflow(
            node("a"), node("b"), edges=[edge("a", "b", mode="exclusive")], children={"c@1": inside, "d@1": inside}
        ),
    )


def loops_of_edges() -> Iterator[Pair]:
    """EDG-006."""
    yield pair(
        "EDG-006",
        "an edge may lead back to its source",
        workflow(node("a", dependencies=["a"])),
        workflow(node("a"), edges=[edge("a", "a", when=_CHANGES)], initial_nodes=["a"]),
    )
    yield pair(
        "EDG-006",
        "a correction loop",
        workflow(node("a", dependencies=["b"]), node("b", dependencies=["a"])),
        workflow(node("a"), node("b"), edges=[edge("a", "b"), edge("b", "a", when=_CHANGES)], initial_nodes=["a"]),
    )
    yield pair(
        "EDG-006",
        "a loop through a dependency",
        None,
        workflow(node("a"), node("b", dependencies=["a"]), edges=[edge("b", "a", when=_CHANGES)], initial_nodes=["a"]),
    )


PAIRS = (
    predicates_can_match,
    exclusive_edges_that_overlap,
    exclusive_edges_that_are_disjoint,
    scalars,
    edges_that_do_not_exclude,
    edges_of_two_workflows,
    loops_of_edges,
)
