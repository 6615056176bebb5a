"""Small specifications, drawn: with every feature that decides what a run can do."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.model.playing import document, edge, node

from perdure.kernel.specification import Specification
from perdure.kernel.validation.validator import validate

_KINDS = ["any", "succeeded", "changes_requested", "retryable_failure", "permanent_failure", "blocked", "cancelled"]


def drawn(seed: int, *, is_limited: bool = True) -> tuple[dict[str, Any], Specification]:
    """Return a valid document that is drawn; loops are limited by activations, or by nothing."""
    random = Random(seed)  # noqa: S311 - nothing is secret
    while True:
        value = _document(random, is_limited=is_limited)
        found = validate(value).specification
        if found is not None:
            return value, found


def _document(random: Random, *, is_limited: bool) -> dict[str, Any]:
    names = "ABCDE"[: random.choice([1, 2, 3, 3, 4, 4, 5])]
    edges = [_edge(random, names) for _ in range(random.choice([0, 0, 1, 2, 3, 4]))]
    targets = {each["to"] for each in edges}
    nodes = [
        _node(random, names, number, is_limited=is_limited and name in targets) for number, name in enumerate(names)
    ]
    members: dict[str, Any] = {}
    free = [each["id"] for each in nodes if "dependencies" not in each]
    if random.random() < 0.6:
        members["initial_nodes"] = random.sample(free, random.randint(1, len(free)))
    if is_limited and random.random() < 0.3:
        members["budgets"] = {
            name: random.randint(1, 9) for name in ("max_attempts", "max_transitions") if random.random() < 0.6
        }
    if any("child" in each for each in nodes):
        members["children"] = {"child@1": {"nodes": [node("K")]}}
    return document(nodes, edges, **members)


def _edge(random: Random, names: str) -> dict[str, Any]:
    source, target = random.choice(names), random.choice(names)
    when: Any = random.choice(_KINDS)
    if random.random() < 0.2:
        when = {"field": "go", "equals": random.choice([0, True, "A.go"])}
    return edge(f"{source}>{target}", when)


def _node(random: Random, names: str, number: int, *, is_limited: bool) -> dict[str, Any]:
    members: dict[str, Any] = {"outputs": ["go"]}
    if number and random.random() < 0.5:
        members["dependencies"] = random.sample(names[:number], random.randint(1, min(number, 3)))
        members["dependency_policy"] = random.choice(["all_succeeded", "all_completed", "any_succeeded"])
    if is_limited:
        members["max_activations"] = random.choice([1, 2, 2])
    retry: dict[str, Any] = {"max_attempts": random.choice([1, 1, 1, 2])}
    if random.random() < 0.2:
        retry["classes"] = ["retryable_failure", "permanent_failure"]
    members["retry"] = retry
    if number and random.random() < 0.25:
        members["input_mapping"] = {"x": {"node": random.choice(names[:number]), "output": "go"}}
    if random.random() < 0.1:
        members = {"child": {"workflow": "child@1", "policy": random.choice(["propagate", "require_success"])}} | {
            key: value for key, value in members.items() if key not in {"outputs", "signals"}
        }
    elif random.random() < 0.1:
        members["signals"] = ["go"]
    return node(names[number], **members)
