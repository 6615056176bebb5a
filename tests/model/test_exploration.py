"""The node table is the diagram and the named amendments, and what small specifications do is exactly it."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from tests.model.exploration import (
    ONCE,
    SUBSET,
    Explorer,
    Key,
    Shape,
    explored,
    main,
    table,
    variants,
)

from perdure.kernel.rules import DIAGRAM, NODE_TABLE, RULES

ARROWS = """
    [*] --> Pending
    Pending --> Ready
    Pending --> Skipped
    Pending --> Cancelled
    Ready --> Running
    Ready --> Cancelled
    Running --> Waiting
    Running --> Succeeded
    Running --> RetryPending
    Running --> ChangesRequested
    Running --> Failed
    Running --> Blocked
    Running --> Cancelled
    Waiting --> Running
    Waiting --> RetryPending
    Waiting --> Failed
    Waiting --> Cancelled
    RetryPending --> Ready
    ChangesRequested --> Ready
    Succeeded --> [*]
    Failed --> [*]
    Blocked --> [*]
    Cancelled --> [*]
    Skipped --> [*]
"""
"""The diagram of ADR-0032, "State model", without what is written at its arrows."""

AMENDMENTS = {
    ("Pending", "Blocked"): "amendment: propagation",
    ("Waiting", "Running"): "amendment: timer wait",
    ("RetryPending", "Cancelled"): "amendment: cascade",
    ("ChangesRequested", "Cancelled"): "amendment: cascade",
    ("ChangesRequested", "Failed"): "amendment: no correction left",
    ("Succeeded", "Ready"): "amendment: a new activation",
    ("Failed", "Ready"): "amendment: a new activation",
    ("Blocked", "Ready"): "amendment: a new activation",
    ("Cancelled", "Ready"): "amendment: a new activation",
}
"""Rows that the diagram does not have; one of them gives an arrow of it one more event."""


def named(status: str) -> str:
    return "".join(word.capitalize() for word in status.split("_"))


def test_the_node_table_is_the_diagram_and_the_amendments() -> None:
    lines = [line.split(" --> ") for line in ARROWS.split("\n") if line]
    arrows = {(source.strip(), target) for source, target in lines if "[*]" not in (source.strip(), target)}
    origins = {(arrow, DIAGRAM) for arrow in arrows} | set(AMENDMENTS.items())
    assert len(NODE_TABLE) == len(origins)
    assert {((named(move.source), named(move.target)), move.origin) for move in NODE_TABLE} == origins


@pytest.mark.many
def test_small_specifications_reach_each_row_of_the_node_table_and_no_other() -> None:
    found = explored(SUBSET)
    assert not found.faults
    assert set(found.changes) == table()
    assert all(found.changes[change] and found.examples[change] for change in table())
    assert found.specifications > 300
    assert found.states > 10_000


def test_a_change_that_the_table_does_not_have_is_seen() -> None:
    rules = replace(Explorer().rules, status_after={**RULES.status_after, "skipped": "failed"})
    explorer = Explorer(rules)
    explorer.explore(shape(edges=((0, 1, "succeeded"),)), every_outcome=True)
    assert set(explorer.found.changes) - table() == {("pending", "failed", "NodeOutcomeCommitted")}


def test_a_run_that_is_stuck_is_seen() -> None:
    rules = replace(Explorer().rules, satisfied=lambda *_: False, propagated=lambda _: "skipped")
    explorer = Explorer(replace(rules, begins_at_once=lambda _: False))
    explorer.explore(shape(edges=((0, 1, "any"),)), every_outcome=True)
    assert any("stuck" in fault for fault in explorer.found.faults)


ORDERED = [
    ((), ("", "", ""), ((0, 1, "any"), (0, 2, "any"))),
    ((), ("", "", ""), ((0, 1, "changes_requested"), (1, 0, "succeeded"))),
    ((), ("", "", ""), ((0, 1, "any"), (0, 1, "succeeded"))),
    (((0, 1), (0, 2)), ("", "all_succeeded", "all_completed"), ((1, 2, "any"),)),
    (((0, 2), (1, 2)), ("", "", "any_succeeded"), ((2, 0, "any"), (0, 1, "permanent_failure"))),
    (((0, 1), (1, 2)), ("", "all_succeeded", "all_completed"), ((1, 1, "any"), (2, 0, "changes_requested"))),
]


@pytest.mark.many
@pytest.mark.parametrize(("dependencies", "policies", "edges"), ORDERED)
def test_the_order_of_nodes_and_of_edges_decides_nothing(
    dependencies: tuple[tuple[int, int], ...], policies: tuple[str, ...], edges: tuple[tuple[int, int, str], ...]
) -> None:
    initial = tuple(number for number, policy in enumerate(policies) if not policy)
    one = Shape((ONCE,) * 3, dependencies, policies, edges, initial, 2)
    expected = reached(one)
    assert len(expected) > 10
    for order in permutations(range(3)):
        renamed = one.renamed(order)
        other = replace(renamed, edges=renamed.edges[::-1])
        assert {tuple(nodes[place] for place in order) for nodes in reached(other)} == expected


def reached(shape: Shape) -> set[tuple[object, ...]]:
    """Return what a run can come to: the run's status would be the same, so only how the nodes stand."""
    return {nodes_of(key) for key in Explorer().explore(shape, every_outcome=False)}


def nodes_of(key: Key) -> Key:
    """Return the nodes of a key without the numbers of the edges that wait for them."""
    return tuple((*part[:4], len(part[4]), *part[5:]) for part in key[1:4] if isinstance(part, tuple))


def shape(edges: tuple[tuple[int, int, str], ...]) -> Shape:
    """Return two nodes, the first one initial, and edges."""
    return Shape((ONCE, ONCE), (), ("", ""), edges, (0,), 2)


def test_a_shape_stands_for_all_that_differ_only_in_names() -> None:
    one = Shape((ONCE, "waits", ONCE), ((0, 2),), ("", "", "all_completed"), ((1, 0, "any"),), (1,), 2)
    assert {one.renamed(order).first_of_its_kind() for order in permutations(range(3))} == {one.first_of_its_kind()}
    assert one.is_joined()
    assert one.size == 5
    assert len(list(variants(one, SUBSET))) == 1


def test_it_prints_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--smallest"]) == 1
    printed = capsys.readouterr().out
    assert "! pending → skipped by NodeOutcomeCommitted: 0" in printed
    assert "Faults: 0" in printed
