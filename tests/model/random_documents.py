"""Random specifications, most of them valid, small enough that everything in them meets everything else."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from tests.model.playing import document, node

from perdure.kernel.specification import Specification
from perdure.kernel.validation.validator import validate

NAMES = "ABCDEF"
KINDS = ("succeeded", "changes_requested", "retryable_failure", "permanent_failure", "blocked", "cancelled")
VALUES = (0, 1, True, None, "x")
CHILD = {
    "nodes": [node("x", outputs=["r"])],
    "outputs": {"r": {"node": "x", "output": "r"}},
}
Document = dict[str, Any]
Arrow = tuple[str, str]


def random_document(random: Random, version: int = 5) -> Document:
    """Return a random document that a validator accepts, with members of a version and of earlier ones."""
    while True:
        found = _document(random, version)
        if validate(found).valid:
            return found


def specification_of(found: Document) -> Specification:
    """Return a document, read."""
    specification = validate(found).specification
    assert specification is not None
    return specification


def _some(random: Random, values: Sequence[Any], most: int) -> list[Any]:
    return random.sample(list(values), min(len(values), random.randint(0, most)))


def _document(random: Random, version: int) -> Document:
    names = list(NAMES[: random.choice((1, 2, 3, 3, 4, 4, 5, 6))])
    order = random.sample(names, len(names))
    before = {name: order[:at] for at, name in enumerate(order)}
    depends = {name: _some(random, before[name], 3) if random.random() < 0.6 else [] for name in names}
    edges = _edges(random, names) if version >= 3 else []
    nodes = [_node(random, name, depends[name], edges, version) for name in names]
    members: Document = {"schema_version": version}
    if version >= 3:
        dependencies = [(source, target) for target in names for source in depends[target]]
        members["initial_nodes"] = _initial(random, names, depends, [(e["from"], e["to"]) for e in edges], dependencies)
        members |= {"inputs": ["ticket"], "children": {"sub@1": CHILD}}
    if version >= 4 and random.random() < 0.5:
        members["budgets"] = _budgets(random)
    return document(nodes, edges, **members)


def _budgets(random: Random) -> Document:
    found: Document = {}
    if random.random() < 0.5:
        found["max_attempts"] = random.choice((1, 2, 4, 7, 10))
    if random.random() < 0.5:
        found["max_transitions"] = random.choice((1, 2, 3, 5, 8, 12, 20))
    if random.random() < 0.5:
        found["max_elapsed_ms"] = random.choice((1, 5, 20, 60))
    return found


def _edges(random: Random, names: list[str]) -> list[Document]:
    found = []
    for _ in range(random.choice((0, 1, 2, 3, 4, 5, 7))):
        arrow = {"from": random.choice(names), "to": random.choice(names)}
        found.append(arrow | {"when": _predicate(random)})
    for name in names:
        leaving = [edge for edge in found if edge["from"] == name]
        if leaving and random.random() < 0.4:
            _make_exclusive(random, leaving)
    return found


def _predicate(random: Random) -> Any:
    match random.randint(0, 5):
        case 0 | 1:
            return "any"
        case 2:
            return {"field": "go", "equals": random.choice(VALUES)}
        case _:
            return {"outcome": random.choice(KINDS)}


def _make_exclusive(random: Random, edges: list[Document]) -> None:
    """Give edges of one node predicates of which no two match one outcome."""
    if random.random() < 0.5:
        values = random.sample(VALUES, min(len(edges), len(VALUES)))
        kinds = random.sample(KINDS[2:], 2)
        whens: list[Any] = [{"field": "go", "equals": value} for value in values] + [{"outcome": k} for k in kinds]
    else:
        whens = [{"outcome": kind} for kind in random.sample(KINDS, len(KINDS))]
    for edge, when in zip(edges, whens, strict=False):
        edge |= {"mode": "exclusive", "when": when}


def _initial(
    random: Random, names: list[str], depends: dict[str, list[str]], edges: list[Arrow], dependencies: list[Arrow]
) -> list[str]:
    """Return initial nodes from which all others are reached, if there are such."""
    free = [name for name in names if not depends[name]]
    entered = {target for _, target in edges}
    chosen = [name for name in free if name not in entered or random.random() < 0.3] or [random.choice(free)]
    arrows = edges + dependencies
    while True:
        reached, size = set(chosen), -1
        while len(reached) > size:
            size = len(reached)
            reached |= {target for source, target in arrows if source in reached}
        left = [name for name in free if name not in reached]
        if not left:
            return [name for name in names if name in chosen]
        chosen.append(random.choice(left))


def _node(random: Random, name: str, depends: list[str], edges: list[Document], version: int) -> Document:
    is_child = version >= 3 and random.random() < 0.15
    members: Document = {}
    if depends:
        members["dependencies"] = depends
        if version >= 2:
            members["dependency_policy"] = random.choice(("all_succeeded", "all_completed", "any_succeeded"))
    if is_child:
        policy = random.choice(("propagate", "require_success"))
        members["child"] = {"workflow": "sub@1", "policy": policy}
        if random.random() < 0.7:
            members["child"]["outputs"] = {"go": "r"}
    elif random.random() < 0.9:
        members["outputs"] = ["go"]
    if version >= 3:
        members |= _mapping(random, depends + [edge["from"] for edge in edges if edge["to"] == name])
        if random.random() < 0.25:
            members["max_activations"] = random.choice((1, 2, 3))
    if version >= 4 and random.random() < 0.5:
        members["retry"] = _retry(random)
    if version >= 5 and not is_child and random.random() < 0.5:
        members["signals"] = ["s", "t"]
    return node(name, **members)


def _mapping(random: Random, sources: list[str]) -> Document:
    found: Document = {}
    if sources and random.random() < 0.15:
        found["one"] = {"node": random.choice(sources), "output": "go"}
    if random.random() < 0.1:
        found["two"] = {"run_input": "ticket"}
    return {"input_mapping": found} if found else {}


def _retry(random: Random) -> Document:
    found: Document = {"max_attempts": random.choice((1, 2, 2, 3, 60))}
    if random.random() < 0.4:
        found["classes"] = ["retryable_failure", "permanent_failure"]
    if random.random() < 0.8:
        found["backoff"] = _backoff(random)
    if random.random() < 0.3:
        found["jitter"] = {"seed": random.choice(("", "salt")), "maximum_ms": random.choice((0, 3, 20))}
    if random.random() < 0.4:
        found["attempt_deadline_ms"] = random.choice((1, 2, 5, 10, 2**53 - 1))
    return found


def _backoff(random: Random) -> Document:
    most = 2**53 - 1
    exponential = {
        "kind": "exponential",
        "initial_ms": random.choice((0, 1, 3, most)),
        "multiplier": random.choice((1, 2, most)),
        "maximum_ms": random.choice((0, 5, 20, most)),
    }
    fixed = {"kind": "fixed", "delay_ms": random.choice((0, 1, 3, 10, most))}
    return random.choice([{"kind": "immediate"}, fixed, fixed, exponential])
