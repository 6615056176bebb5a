"""What a picture of a workflow shows: nodes as boxes, what leads from one to another as arrows, children as panels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from perdure.kernel.identity import NodeId
from perdure.kernel.predicates import FieldEquals, OutcomeIs, Predicate
from perdure.kernel.specification import Definition, Node, Specification
from perdure_conformance.reports.inert import inert

ArrowKind = Literal["dependency", "parallel", "exclusive"]

LEGEND: Final = ("▶ begins a run", "dashed: dependency", "solid: edge", "◇: exclusive edge", "double frame: child run")

_SHOWN_CHARACTERS: Final = 40


@dataclass(frozen=True, slots=True)
class Box:
    """A node."""

    lines: tuple[str, ...]
    is_initial: bool
    is_child: bool


@dataclass(frozen=True, slots=True)
class Arrow:
    """All dependencies, parallel or exclusive edges from one node to another, by their positions."""

    source: int
    target: int
    kind: ArrowKind
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One workflow: the document's own, or a child."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    union: Sequence[Sequence[int]]
    initial: Sequence[int]


def panels(specification: Specification) -> list[Panel]:
    """Return the document's own workflow, and then each of its catalog."""
    own = f"{specification.workflow_id}@{specification.workflow_version}"
    named: list[tuple[str, Definition]] = [(own, specification), *specification.children.items()]
    return [_panel(title, definition) for title, definition in named]


def _panel(title: str, definition: Definition) -> Panel:
    positions = {node.id: position for position, node in enumerate(definition.nodes)}
    arrows = _arrows(definition, positions)
    union: list[list[int]] = [[] for _ in definition.nodes]
    for arrow in arrows:
        union[arrow.source].append(arrow.target)
    if definition.initial_nodes is not None:
        initial = sorted(positions[name] for name in definition.initial_nodes)
    else:
        initial = sorted({*positions.values()} - {arrow.target for arrow in arrows})
    first = frozenset(initial)
    boxes = tuple(_box(node, is_initial=position in first) for position, node in enumerate(definition.nodes))
    return Panel(title, boxes, arrows, union, initial)


def _box(node: Node, *, is_initial: bool) -> Box:
    lines: list[str] = [f"▶ {node.id}" if is_initial else node.id]
    if node.child is not None:
        lines += [node.child.workflow, node.child.policy]
    elif node.handler is not None:
        lines.append(f"{node.handler.name} v{node.handler.version}")
    if node.dependencies and node.dependency_policy != "all_succeeded":
        lines.append(node.dependency_policy)
    return Box(tuple(shortened(line) for line in lines), is_initial, node.child is not None)


def _arrows(definition: Definition, positions: Mapping[NodeId, int]) -> tuple[Arrow, ...]:
    labels: dict[tuple[int, int, ArrowKind], list[str]] = {}
    for target, node in enumerate(definition.nodes):
        for name in node.dependencies:
            labels.setdefault((positions[name], target, "dependency"), [])
    for edge in definition.edges:
        key = (positions[edge.source], positions[edge.target], edge.mode)
        mark = "◇ " if edge.mode == "exclusive" else ""
        labels.setdefault(key, []).append(f"{mark}{shortened(_words(edge.when))}")
    return tuple(Arrow(*key, tuple(found)) for key, found in labels.items())


def _words(predicate: Predicate) -> str:
    match predicate:
        case OutcomeIs(outcome=kind):
            return kind
        case FieldEquals(field=field, equals=value):
            return f"{field} = {json.dumps(value, ensure_ascii=False)}"
        case _:
            return predicate


def shortened(text: str) -> str:
    """Return foreign text as one short harmless line."""
    harmless = inert(text).replace("\n", " ").replace("\t", " ")
    return harmless if len(harmless) <= _SHOWN_CHARACTERS else f"{harmless[: _SHOWN_CHARACTERS - 1]}…"
