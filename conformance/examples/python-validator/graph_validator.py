"""A validator in Python to copy: it reads the text strictly and looks at names and graphs, and at nothing else yet.

perdure check spec graph_validator:GraphValidator
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from perdure.kernel.specification import HandlerDeclaration
from perdure_conformance.spec.contract import FLOOR, Answer, Capabilities, Description, Told


class GraphValidator:
    """Accepts or refuses, and claims to tell nothing more. What it says beside that is for people, and not judged."""

    description = Description(name="graphs", version="1", capabilities=Capabilities(), limits=FLOOR)

    def __init__(self, state_dir: Path, namespace: str) -> None:
        """It keeps no state."""

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        """Read the text; ask each rule of the document and of each definition in it."""
        del handlers  # They are given only to a validator that claims them.
        try:
            value = read(document)
        except (ValueError, RecursionError) as error:
            return Answer(valid=False, problems=(Told(code="not_json", pointer="", sentence=str(error)),))
        scopes = [value, *objects(value.get("children"))] if isinstance(value, dict) else []
        problems = tuple(told for scope in scopes for rule in RULES for told in rule(scope))
        return Answer(valid=bool(scopes) and not problems, problems=problems)

    def close(self) -> None:
        """Nothing is open."""


def read(text: str) -> Any:
    """SPC-001: return the value of an I-JSON text. Raises `ValueError`, or `RecursionError` if it nests without end."""
    value = json.loads(
        text, object_pairs_hook=without_repeated_keys, parse_float=number, parse_int=number, parse_constant=number
    )
    json.dumps(value, ensure_ascii=False).encode()  # Half a surrogate pair has no bytes.
    level = [value]
    for _ in range(100):
        level = [inside for around in level for inside in items(around) if isinstance(inside, dict | list)]
    if level:
        raise ValueError("The text nests deeper than 100 levels.")
    return value


def without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("A key stands twice in one object.")
    return dict(pairs)


def number(text: str) -> float:
    """Return a number; one that is an integer in its canonical form must be exact."""
    value = float(text)
    if not math.isfinite(value) or 2**53 <= abs(value) < 1e21:
        raise ValueError(f"The number {text[:40]} is out of range.")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def nodes_once(scope: dict[str, Any]) -> Iterator[Told]:
    """SPC-013."""
    ids = strings(node.get("id") for node in objects(scope.get("nodes")))
    if len(set(ids)) < len(ids):
        yield Told(code="duplicate_node", sentence="A node id stands twice.")


def names_lead_somewhere(scope: dict[str, Any]) -> Iterator[Told]:
    """SPC-015."""
    nodes, edges = objects(scope.get("nodes")), objects(scope.get("edges"))
    references = [each for holder in (*nodes, scope) for key in REFERENCES for each in objects(holder.get(key))]
    named = [name for node in nodes for name in items(node.get("dependencies"))] + items(scope.get("initial_nodes"))
    named += [edge.get(end) for edge in edges for end in ("from", "to")] + [each.get("node") for each in references]
    for name in sorted(set(strings(named)) - {node.get("id") for node in nodes if isinstance(node.get("id"), str)}):
        yield Told(code="unknown_node", sentence=f"There is no node {name[:128]!r}.")


def no_cycle(scope: dict[str, Any]) -> Iterator[Told]:
    """SPC-017."""
    nodes = [node for node in objects(scope.get("nodes")) if isinstance(node.get("id"), str)]
    try:
        TopologicalSorter({node["id"]: strings(items(node.get("dependencies"))) for node in nodes}).prepare()
    except CycleError:
        yield Told(code="dependency_cycle", sentence="Nodes wait for each other.")


RULES = (nodes_once, names_lead_somewhere, no_cycle)
"""To add one, write a function like these."""

REFERENCES = ("input_mapping", "outputs")
"""The members whose values name a node."""


def items(value: Any) -> list[Any]:
    """Return what is in an array or an object; nothing, if it is something else: that is another rule's business."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in an array or an object."""
    return [item for item in items(value) if isinstance(item, dict)]


def strings(values: Iterable[Any]) -> list[str]:
    """Return those that are strings."""
    return [value for value in values if isinstance(value, str)]
