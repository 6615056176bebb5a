"""The plan of a run against its definitions, worked out plainly, on random graphs."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest
from tests.model.playing import document, edge, node

from perdure.kernel.plan import Plan, plan_of
from perdure.kernel.validation.validator import validate


def random_graph(random: Random) -> dict[str, Any]:
    """Return a document of some nodes, with dependencies on earlier names and edges between any."""
    names = [f"N{number}" for number in range(random.randint(1, 9))]
    order = random.sample(names, len(names))
    nodes = []
    for position, name in enumerate(order):
        prerequisites = random.sample(order[:position], min(position, random.choice((0, 0, 1, 2))))
        nodes.append(node(name, **({"dependencies": prerequisites} if prerequisites else {})))
    pairs = random.sample(list(product(names, names)), min(len(names) ** 2, random.randrange(len(names) * 2)))
    free = [item["id"] for item in nodes if "dependencies" not in item]
    listed = sorted(nodes, key=lambda item: str(item["id"]))
    return document(listed, [edge(f"{source}>{target}") for source, target in pairs], initial_nodes=free)


def plans() -> list[Plan]:
    found: list[Plan] = []
    random = Random(3)  # noqa: S311 - it draws examples
    while len(found) < 150:
        validation = validate(random_graph(random))
        if validation.specification is not None:
            found.append(plan_of(validation.specification, validation.initial_nodes))
    return found


PLANS = plans()


def arrows_of(plan: Plan) -> set[tuple[int, int]]:
    """Return the arrows of the union graph."""
    dependencies = {
        (plan.positions[name], plan.positions[item.id]) for item in plan.nodes for name in item.dependencies
    }
    return dependencies | {(plan.positions[item.source], plan.positions[item.target]) for item in plan.edges}


def reached_from(start: int, arrows: set[tuple[int, int]]) -> set[int]:
    found, size = {start}, 0
    while size < len(found):
        size = len(found)
        found |= {target for source, target in arrows if source in found}
    return found


@pytest.mark.parametrize("plan", PLANS)
def test_components_are_nodes_that_lead_to_each_other_in_the_order_of_closing(plan: Plan) -> None:
    arrows, count = arrows_of(plan), len(plan.nodes)
    reach = [reached_from(position, arrows) for position in range(count)]
    parts = {frozenset(other for other in reach[one] if one in reach[other]) for one in range(count)}
    order: list[frozenset[int]] = []
    while parts:
        taken = set().union(*order)
        free = [part for part in parts if all(source in taken | part for source, target in arrows if target in part)]
        order.append(min(free, key=min))
        parts.remove(order[-1])
    assert plan.members == tuple(tuple(sorted(part)) for part in order)
    assert plan.component == tuple(
        next(number for number, part in enumerate(order) if position in part) for position in range(count)
    )
    between = {(plan.component[source], plan.component[target]) for source, target in arrows}
    between = {(source, target) for source, target in between if source != target}
    assert {(source, target) for source, targets in enumerate(plan.successors) for target in targets} == between
    assert sum(map(len, plan.successors)) == len(between)
    assert plan.predecessors == tuple(
        sum(target == number for _, target in between) for number in range(len(plan.members))
    )


@pytest.mark.parametrize("plan", PLANS[:40])
def test_everything_of_a_node_is_in_the_order_in_which_it_is_written(plan: Plan) -> None:
    for position, item in enumerate(plan.nodes):
        assert [plan.nodes[prerequisite].id for prerequisite in plan.prerequisites[position]] == list(item.dependencies)
        assert plan.dependents[position] == tuple(
            other for other, dependent in enumerate(plan.nodes) if item.id in dependent.dependencies
        )
        assert plan.leaving[position] == tuple(number for number, one in enumerate(plan.edges) if one.source == item.id)
        assert plan.entering[position] == sum(one.target == item.id for one in plan.edges)
    assert plan.targets == tuple(plan.positions[one.target] for one in plan.edges)
    assert plan.initial == tuple(position for position, item in enumerate(plan.nodes) if not item.dependencies)
