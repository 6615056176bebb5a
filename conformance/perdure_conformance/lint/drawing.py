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
RUN_LEGEND: Final = ("✓: the edge fired, how often", "colour and last line: the status of the node as the run ended")

COLOURS: Final[Mapping[str, tuple[str, str]]] = {
    "ready": ("#ddf4ff", "#0969da"),
    "running": ("#ddf4ff", "#0969da"),
    "waiting": ("#fff8c5", "#9a6700"),
    "retry_pending": ("#fff8c5", "#9a6700"),
    "changes_requested": ("#fff1e5", "#bc4c00"),
    "succeeded": ("#dafbe1", "#1a7f37"),
    "failed": ("#ffebe9", "#cf222e"),
    "blocked": ("#fbefff", "#8250df"),
    "cancelled": ("#eaeef2", "#59636e"),
    "skipped": ("#f6f8fa", "#818b98"),
    "reached": ("#dafbe1", "#1a7f37"),
    "unreachable": ("#ffebe9", "#cf222e"),
    "not_found": ("#fff8c5", "#9a6700"),
}
"""What nodes are filled with and framed by, by their status; one that is pending looks like any.

The last three are what an exploration says of nodes."""

_SHOWN_CHARACTERS: Final = 40


@dataclass(frozen=True, slots=True)
class Box:
    """A node."""

    lines: tuple[str, ...]
    is_initial: bool
    is_child: bool
    status: str | None = None
    """How the node stands, if a run or an exploration is shown."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """All dependencies, parallel or exclusive edges from one node to another, by their positions."""

    source: int
    target: int
    kind: ArrowKind
    labels: tuple[str, ...]
    edges: tuple[int, ...] = ()
    """The positions of the edges, a label each; none for dependencies."""
    has_fired: bool = False
    """Whether one of the edges fired, if a run is shown."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One workflow: the document's own, or a child."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    union: Sequence[Sequence[int]]
    initial: Sequence[int]
    signs: tuple[str, ...] = RUN_LEGEND
    """What the signs of what became of nodes and edges mean, if that is shown."""
    heading: str = "As the run ended"
    """What that is, in words."""


def legend(panels: Sequence[Panel]) -> tuple[str, ...]:
    """Return what the signs of a picture mean."""
    signs = (panel.signs for panel in panels if any(box.status is not None for box in panel.boxes))
    return (*LEGEND, *next(signs, ()))


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
    edges: dict[tuple[int, int, ArrowKind], list[int]] = {}
    for target, node in enumerate(definition.nodes):
        for name in node.dependencies:
            labels.setdefault((positions[name], target, "dependency"), [])
    for number, edge in enumerate(definition.edges):
        key = (positions[edge.source], positions[edge.target], edge.mode)
        mark = "◇ " if edge.mode == "exclusive" else ""
        labels.setdefault(key, []).append(f"{mark}{shortened(predicate_in_words(edge.when))}")
        edges.setdefault(key, []).append(number)
    return tuple(Arrow(*key, tuple(found), tuple(edges.get(key, ()))) for key, found in labels.items())


def predicate_in_words(predicate: Predicate) -> str:
    """Return at which outcomes an edge fires, in short."""
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
