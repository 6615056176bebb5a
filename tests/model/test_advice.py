from __future__ import annotations

from typing import Any

import pytest
from tests.model.documents import (
    Document,
    as_definition,
    child_node,
    definition,
    document,
    edge,
    errors,
    field,
    is_for_people,
    kind,
    node,
    warnings,
)

from perdure.kernel.validation.validator import validate

Told = list[tuple[str, str]]


def told(found: Document) -> Told:
    """Return the warnings of an accepted document."""
    validation = validate(found)
    assert errors(validation) == []
    assert validation.valid
    assert all(is_for_people(problem) for problem in validation.problems)
    return warnings(validation)


def told_in_a_definition(found: Document) -> Told:
    return told(as_definition(found))


def with_edges(*edges: Document, **members: Any) -> Document:
    """Return a document of the nodes that edges name, in the order in which they stand there."""
    names = dict.fromkeys(name for one in edges for name in (one["from"], one["to"]))
    nodes = members.pop("nodes", [])
    more = [node(name) for name in names if name not in {one["id"] for one in nodes}]
    return document(*nodes, *more, edges=list(edges), **members)


# One warning each, with its twin

FIXED = {"kind": "fixed", "delay_ms": 5}


def exponential(initial_ms: int, maximum_ms: int) -> Document:
    return {"kind": "exponential", "initial_ms": initial_ms, "multiplier": 2, "maximum_ms": maximum_ms}


def calling(edges: list[Document], *outputs: str) -> Document:
    """Return a document whose node `c` runs a child with outputs."""
    caller = child_node("c")
    caller["child"]["outputs"] = {name: name for name in outputs}
    given = {name: {"node": "n", "output": name} for name in outputs}
    child = definition(node("n", outputs=list(outputs)), outputs=given)
    return document(caller, node("t"), edges=edges, children={"child@1": child})


@pytest.mark.parametrize(
    ("odd", "code", "place", "plain"),
    [
        (
            document(node("a", dependency_policy="any_succeeded")),
            "policy_without_dependencies",
            "/nodes/0/dependency_policy",
            document(node("a"), node("b", "a", dependency_policy="any_succeeded")),
        ),
        (
            document(node("a", dependency_policy="all_completed", dependencies=[])),
            "policy_without_dependencies",
            "/nodes/0/dependency_policy",
            document(node("a", dependencies=[])),
        ),
        (
            document(node("a", dependency_policy="all_completed")),
            "policy_without_dependencies",
            "/nodes/0/dependency_policy",
            document(node("a", dependency_policy="all_succeeded")),
        ),
        (
            document(node("a", retry={"classes": ["permanent_failure"]})),
            "implied_retry_class",
            "/nodes/0/retry/classes",
            document(node("a", retry={"classes": ["permanent_failure", "retryable_failure"]})),
        ),
        (
            document(node("a", retry={"classes": []})),
            "implied_retry_class",
            "/nodes/0/retry/classes",
            document(node("a", retry={})),
        ),
        (
            document(node("a", retry={"backoff": exponential(11, 10)})),
            "initial_exceeds_maximum",
            "/nodes/0/retry/backoff/initial_ms",
            document(node("a", retry={"backoff": exponential(10, 10)})),
        ),
        (
            document(node("a", retry={"backoff": exponential(1, 0)})),
            "initial_exceeds_maximum",
            "/nodes/0/retry/backoff/initial_ms",
            document(node("a", retry={"backoff": FIXED})),
        ),
        (
            with_edges(edge("a", "b"), edge("a", "b")),
            "duplicate_edge",
            "/edges/1",
            with_edges(edge("a", "b"), edge("a", "c")),
        ),
        (
            with_edges(edge("a", "b"), edge("a", "b", "any", "parallel")),
            "duplicate_edge",
            "/edges/1",
            with_edges(edge("a", "b", kind("blocked")), edge("a", "b", kind("cancelled"))),
        ),
        (
            with_edges(*[edge("a", "b", field("f", 1))] * 2, nodes=[node("a", outputs=["f"])]),
            "duplicate_edge",
            "/edges/1",
            with_edges(
                edge("a", "b", field("f", 1)), edge("a", "b", field("f", True)), nodes=[node("a", outputs=["f"])]
            ),
        ),
        (
            with_edges(
                edge("a", "b", field("f", 1)), edge("a", "b", field("f", 1.0)), nodes=[node("a", outputs=["f"])]
            ),
            "duplicate_edge",
            "/edges/1",
            with_edges(
                edge("a", "b", field("f", 1)), edge("a", "b", field("f", 1.5)), nodes=[node("a", outputs=["f"])]
            ),
        ),
        (
            document(node("a"), children={"x.y@1": definition(node("n"))}),
            "unused_child",
            "/children/x.y@1",
            document(child_node("a"), children={"child@1": definition(node("n"))}),
        ),
        (
            with_edges(edge("a", "b", field("g", 1)), nodes=[node("a", outputs=["f"])]),
            "undeclared_field",
            "/edges/0/when/field",
            with_edges(edge("a", "b", field("f", 1)), nodes=[node("a", outputs=["f"])]),
        ),
        (
            calling([edge("c", "t", field("g", 1))], "f"),
            "undeclared_field",
            "/edges/0/when/field",
            calling([edge("c", "t", field("f", 1))], "f"),
        ),
        (
            calling([edge("c", "t", kind("changes_requested"))]),
            "child_never_gives",
            "/edges/0/when/outcome",
            calling([edge("c", "t", kind("permanent_failure"))]),
        ),
        (
            document(node("a"), node("b"), budgets={"max_transitions": 1}),
            "budget_below_initial",
            "/budgets/max_transitions",
            document(node("a"), node("b"), budgets={"max_transitions": 2}),
        ),
    ],
)
def test_what_is_odd_is_told_and_its_twin_is_not(odd: Document, code: str, place: str, plain: Document) -> None:
    assert told(odd) == [(code, place)]
    assert told(plain) == []
    if code != "unused_child":
        assert told_in_a_definition(odd) == [(code, f"/children/inner@1{place}")]
        assert told_in_a_definition(plain) == []


def test_a_third_equal_edge_is_told_too_and_an_exclusive_one_is_no_duplicate() -> None:
    assert told(with_edges(*[edge("a", "b")] * 3)) == [("duplicate_edge", "/edges/1"), ("duplicate_edge", "/edges/2")]
    pair = [edge("a", "b", kind("blocked"), mode) for mode in ("exclusive", "parallel")]
    assert "duplicate_edge" not in [code for code, _ in told(with_edges(*pair))]


@pytest.mark.parametrize("word", ["succeeded", "permanent_failure", "blocked", "cancelled"])
def test_a_handler_and_a_child_may_give_the_other_kinds(word: str) -> None:
    assert told(calling([edge("c", "t", kind(word))])) == []
    assert told(with_edges(edge("a", "b", kind(word)))) == []
    assert told(with_edges(edge("a", "b", kind("changes_requested")))) == []


def test_a_definition_is_used_by_the_document_or_by_another() -> None:
    inner = {"child@1": definition(node("n"))}
    outer = {"outer@1": definition(child_node("c"))}
    assert told(document(child_node("a", workflow="outer@1"), children=outer | inner)) == []
    assert told(document(node("a"), children=outer | inner)) == [("unused_child", "/children/outer@1")]
    assert told(document(child_node("a"), children=outer | inner)) == [("unused_child", "/children/outer@1")]


def test_initial_nodes_that_are_named_count_for_the_budget() -> None:
    nodes = [node("a"), node("b"), node("c", "a")]
    base = document(*nodes, edges=[edge("a", "b")], budgets={"max_transitions": 1})
    assert told(base) == []
    assert told(base | {"initial_nodes": ["a", "b"]}) == [("budget_below_initial", "/budgets/max_transitions")]


# Dependencies on loops


@pytest.mark.parametrize(
    ("edges", "prerequisites", "places"),
    [
        ([edge("a", "b"), edge("b", "a")], ["b"], ["/nodes/3/dependencies/0"]),
        ([edge("a", "b"), edge("b", "a")], ["s", "a"], ["/nodes/3/dependencies/1"]),
        ([edge("a", "b"), edge("b", "a")], ["b", "a"], ["/nodes/3/dependencies/0", "/nodes/3/dependencies/1"]),
        ([edge("a", "b"), edge("b", "b")], ["b"], ["/nodes/3/dependencies/0"]),
        ([edge("a", "b"), edge("b", "b")], ["a"], []),
        ([edge("a", "b")], ["b"], []),
        ([edge("a", "b"), edge("b", "a")], ["s"], []),
    ],
)
def test_a_dependency_on_a_member_of_a_cycle_is_told(
    edges: list[Document], prerequisites: list[str], places: list[str]
) -> None:
    nodes = [node("s"), node("a"), node("b"), node("t", *prerequisites)]
    found = document(*nodes, edges=[edge("s", "a"), *edges], initial_nodes=["s"])
    assert told(found) == [("dependency_on_loop", place) for place in places]
    assert told_in_a_definition(found) == [("dependency_on_loop", f"/children/inner@1{place}") for place in places]


def test_a_cycle_may_be_one_of_edges_and_dependencies() -> None:
    found = document(node("a"), node("b", "a"), edges=[edge("b", "a")], initial_nodes=["a"])
    assert told(found) == [("dependency_on_loop", "/nodes/1/dependencies/0")]


# Edges that come together

SUCCEEDED, CHANGES, BLOCKED, FAILED = map(kind, ("succeeded", "changes_requested", "blocked", "permanent_failure"))
EXCLUSIVE = "exclusive"


def merges(found: Document, *targets: str) -> bool:
    """Tell whether the nodes at which branches that can run together come together are told to be these."""
    validation = validate(found)
    assert errors(validation) == []
    positions = [int(place.split("/")[-1]) for code, place in warnings(validation) if code == "edge_fan_in"]
    return sorted(found["edges"][position]["to"] for position in positions) == sorted(targets)


def both(found: Document, *targets: str) -> bool:
    """Tell the same of the document, and of it as a definition."""
    inner = as_definition(found)
    places = [place for code, place in warnings(validate(inner)) if code == "edge_fan_in"]
    outer = [f"/children/inner@1{place}" for code, place in warnings(validate(found)) if code == "edge_fan_in"]
    return merges(found, *targets) and places == outer


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        ("any", SUCCEEDED),
        (SUCCEEDED, SUCCEEDED),
        (SUCCEEDED, field("f", 1)),
        (field("f", 1), field("g", 1)),
        (field("f", 1), field("f", 1.0)),
        (BLOCKED, None),
    ],
)
def test_parallel_branches_that_merge_are_told(one: Any, other: Any) -> None:
    source = node("s", outputs=["f", "g"])
    found = with_edges(edge("s", "a", one), edge("s", "b", other), edge("a", "m"), edge("b", "m"), nodes=[source])
    assert both(found, "m")
    assert both(with_edges(edge("s", "a", one), edge("s", "b", other), nodes=[source, node("m", "a", "b")]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SUCCEEDED, CHANGES),
        (SUCCEEDED, BLOCKED),
        (field("f", 1), field("f", 2)),
        (field("f", True), field("f", 1)),
        (field("f", 1), FAILED),
    ],
)
@pytest.mark.parametrize("modes", [("exclusive", "exclusive"), ("parallel", "parallel"), ("exclusive", "parallel")])
def test_if_and_else_may_merge(one: Any, other: Any, modes: tuple[str, str]) -> None:
    source = node("s", outputs=["f", "g"])
    ways = [edge("s", "a", one, modes[0]), edge("s", "b", other, modes[1])]
    assert both(with_edges(*ways, edge("a", "m"), edge("b", "m"), nodes=[source]))
    assert both(with_edges(*ways, edge("a", "c"), edge("c", "m"), edge("b", "m"), nodes=[source]))
    assert both(with_edges(*ways, edge("b", "m", BLOCKED), edge("a", "m", SUCCEEDED), nodes=[source]))


@pytest.mark.parametrize(
    ("straight", "around", "targets"),
    [(SUCCEEDED, CHANGES, []), (CHANGES, SUCCEEDED, []), (None, SUCCEEDED, ["m"]), (SUCCEEDED, SUCCEEDED, ["m"])],
)
def test_a_step_may_be_skipped(straight: Any, around: Any, targets: list[str]) -> None:
    ways = [edge("a", "m", straight), edge("a", "b", around), edge("b", "m")]
    assert both(with_edges(*ways), *targets)
    assert both(with_edges(*reversed(ways)), *targets)
    assert both(with_edges(*ways[:2], edge("b", "c"), edge("c", "m")), *targets)


@pytest.mark.parametrize(
    "edges",
    [
        [edge("a", "a", CHANGES)],
        [edge("a", "b", SUCCEEDED), edge("b", "a", CHANGES)],
        [edge("a", "b"), edge("b", "c"), edge("c", "a", CHANGES), edge("b", "a", CHANGES)],
        [edge("a", "b"), edge("b", "b", CHANGES), edge("b", "c", SUCCEEDED)],
        [edge("a", "b"), edge("b", "c"), edge("c", "b", CHANGES), edge("c", "d", SUCCEEDED)],
    ],
)
def test_a_loop_back_is_no_merge(edges: list[Document]) -> None:
    for order in (edges, edges[::-1]):
        assert both(with_edges(edge("s", "a"), *order, initial_nodes=["s"]))
    assert both(with_edges(*edges, initial_nodes=["a"]))


def test_nested_choices_may_merge_at_once_or_one_by_one() -> None:
    ways = [
        edge("s", "a", SUCCEEDED, EXCLUSIVE),
        edge("s", "b", CHANGES, EXCLUSIVE),
        edge("a", "a1", SUCCEEDED, EXCLUSIVE),
        edge("a", "a2", CHANGES, EXCLUSIVE),
    ]
    at_once = [edge("a1", "m"), edge("a2", "m"), edge("b", "m")]
    one_by_one = [edge("a1", "j"), edge("a2", "j"), edge("j", "m"), edge("b", "m")]
    assert both(with_edges(*ways, *at_once))
    assert both(with_edges(*ways, *one_by_one))
    parallel = [*ways[:2], edge("a", "a1"), edge("a", "a2")]
    assert both(with_edges(*parallel, *at_once), "m")
    assert both(with_edges(*parallel, *one_by_one), "j")


def test_a_choice_within_a_parallel_branch_is_none_for_the_other_branch() -> None:
    ways = [edge("s", "a"), edge("s", "b"), edge("a", "a1", SUCCEEDED), edge("a", "a2", CHANGES)]
    assert both(with_edges(*ways, edge("a1", "m"), edge("a2", "m")))
    assert both(with_edges(*ways, edge("a1", "m"), edge("b", "m")), "m")


def test_a_choice_of_three_that_merges_by_two_and_then_by_three() -> None:
    words = [SUCCEEDED, CHANGES, BLOCKED]
    ways = [edge("s", name, word) for name, word in zip("abc", words, strict=True)]
    late = [edge("a", "j"), edge("b", "j"), edge("j", "m"), edge("c", "m")]
    assert both(with_edges(*ways, *late))
    assert both(with_edges(*[edge("s", name) for name in "abc"], *late), "j", "m")


def test_a_choice_of_four_that_merges_by_two_and_then_by_all() -> None:
    words = [SUCCEEDED, CHANGES, BLOCKED, FAILED]
    ways = [edge("s", name, word) for name, word in zip("abcd", words, strict=True)]
    late = [edge("a", "j"), edge("b", "j"), edge("j", "m"), edge("c", "m"), edge("d", "m")]
    assert both(with_edges(*ways, *late))
    assert both(with_edges(*ways, *late[:2], *late[:1:-1]))


def test_another_way_out_does_not_make_a_choice_parallel() -> None:
    """Of what chooses between three, a fourth way that is always taken leads elsewhere."""
    ways = [edge("s", "a", SUCCEEDED), edge("s", "b", CHANGES), edge("s", "c", BLOCKED), edge("s", "log")]
    assert both(with_edges(*ways, edge("a", "m"), edge("b", "m")))
    assert both(with_edges(*ways, edge("a", "j"), edge("b", "j"), edge("j", "m"), edge("c", "m")))


def test_two_initial_nodes_run_together() -> None:
    assert both(with_edges(edge("a", "m"), edge("b", "m")), "m")
    assert both(with_edges(edge("a", "m", SUCCEEDED), edge("b", "m", BLOCKED)), "m")
    assert both(with_edges(edge("a", "m"), edge("b", "m"), nodes=[node("s"), node("a", "s"), node("b", "s")]), "m")
    chosen = [edge("s", "a", SUCCEEDED), edge("s", "b", BLOCKED)]
    assert both(with_edges(*chosen, edge("a", "m"), edge("b", "m"), initial_nodes=["s", "a", "b"]), "m")


@pytest.mark.parametrize("one", ["all_succeeded", "all_completed", "any_succeeded"])
@pytest.mark.parametrize("other", ["all_succeeded", "all_completed", "any_succeeded"])
def test_dependents_of_one_node_are_branches(one: str, other: str) -> None:
    nodes = [node("s"), node("a", "s", dependency_policy=one), node("b", "s", dependency_policy=other)]
    assert both(with_edges(edge("a", "m"), edge("b", "m"), nodes=nodes), "m")


@pytest.mark.parametrize(
    ("policy", "when", "targets"),
    [
        ("all_succeeded", BLOCKED, []),
        ("any_succeeded", BLOCKED, []),
        ("all_succeeded", CHANGES, []),
        ("all_completed", BLOCKED, ["m"]),
        ("all_succeeded", SUCCEEDED, ["m"]),
        ("all_succeeded", None, ["m"]),
    ],
)
def test_a_dependent_and_the_target_of_an_edge_are_branches(policy: str, when: Any, targets: list[str]) -> None:
    nodes = [node("s"), node("a", "s", dependency_policy=policy)]
    assert both(with_edges(edge("s", "b", when), edge("a", "m"), edge("b", "m"), nodes=nodes), *targets)


def test_a_join_of_dependencies_ends_its_branches() -> None:
    nodes = [node("s"), node("join", "a", "b"), node("a"), node("b")]
    fork = [edge("s", "a"), edge("s", "b")]
    assert both(with_edges(*fork, edge("join", "m"), nodes=nodes))
    assert both(with_edges(*fork, edge("join", "x", SUCCEEDED), edge("join", "y", BLOCKED), nodes=nodes))
    merged = [edge("join", "x", SUCCEEDED), edge("join", "y", BLOCKED), edge("x", "m"), edge("y", "m")]
    assert both(with_edges(*fork, *merged, nodes=nodes))


def test_every_two_branches_count() -> None:
    """Only the second and the last of four can run together."""
    words = [SUCCEEDED, BLOCKED, CHANGES, BLOCKED]
    ways = [edge("s", name, word) for name, word in zip("abcd", words, strict=True)]
    assert both(with_edges(*ways, *(edge(name, "m") for name in "abcd")), "m")
    words[3] = FAILED
    ways = [edge("s", name, word) for name, word in zip("abcd", words, strict=True)]
    assert both(with_edges(*ways, *(edge(name, "m") for name in "abcd")))


def test_every_edge_of_one_source_counts() -> None:
    """Of two edges straight to the target, the second is taken together with the way around."""
    straight = [edge("a", "m", SUCCEEDED), edge("a", "m", BLOCKED)]
    assert both(with_edges(*straight, edge("a", "b", BLOCKED), edge("b", "m")), "m")
    assert both(with_edges(*straight, edge("a", "b", FAILED), edge("b", "m")))


def test_every_way_to_a_branch_counts() -> None:
    """To `a` leads one outcome straight, and around it the one that also leads to `c`."""
    ways = [edge("s", "a", SUCCEEDED), edge("s", "b", BLOCKED), edge("b", "a"), edge("s", "c", BLOCKED)]
    assert both(with_edges(*ways, edge("a", "m"), edge("c", "m")), "m")
    ways[3] = edge("s", "c", FAILED)
    assert both(with_edges(*ways, edge("a", "m"), edge("c", "m")))


def test_each_of_many_ways_counts() -> None:
    source = node("s", outputs=["f"])
    many = [edge("s", "a", field("f", number)) for number in range(12)]
    ends = [edge("a", "m"), edge("b", "m")]
    assert both(with_edges(*many, edge("s", "b", field("f", 11)), *ends, nodes=[source]), "m")
    assert both(with_edges(*many, edge("s", "b", field("f", 12)), *ends, nodes=[source]))


def test_one_edge_or_several_from_one_source_are_no_merge() -> None:
    assert both(with_edges(edge("s", "a"), edge("a", "m")))
    assert both(with_edges(edge("a", "m", SUCCEEDED), edge("a", "m", BLOCKED)))


def test_a_merge_is_told_once_for_its_node() -> None:
    ways = [edge("s", name) for name in "abcd"]
    found = with_edges(*ways, *(edge(name, "m") for name in "abcd"), edge("m", "n"))
    assert both(found, "m")


def test_a_merge_of_thousands_of_branches_is_told() -> None:
    names = [f"n{number}" for number in range(3_000)]
    fork = [edge("s", name) for name in names]
    assert merges(with_edges(*fork, *(edge(name, "m") for name in names)), "m")
    switch = [edge("s", name, field("f", name)) for name in names]
    found = with_edges(*switch, *(edge(name, "m") for name in names), nodes=[node("s", outputs=["f"])])
    assert merges(found)


def test_of_many_ways_to_one_branch_the_first_are_compared() -> None:
    nodes = [node("s", outputs=["x"]), node("a"), node("c"), node("m")]
    many = [edge("s", "a", {"field": "x", "equals": number}) for number in range(40)]
    ends = [edge("a", "m"), edge("c", "m")]
    together = document(*nodes, edges=[*many, edge("s", "c", {"field": "x", "equals": 3}), *ends])
    apart = document(*nodes, edges=[*many, edge("s", "c", {"field": "x", "equals": -1}), *ends])
    assert [code for code, _ in warnings(validate(together))] == ["edge_fan_in"]
    assert warnings(validate(apart)) == []
