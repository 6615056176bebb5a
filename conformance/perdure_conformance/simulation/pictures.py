"""The graph as a run ended: nodes with their statuses, and how often each edge fired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from perdure.kernel.state import State
from perdure_conformance.lint.drawing import Arrow, Box, Panel, panels


def ended(state: State, fired: Mapping[int, int]) -> list[Panel]:
    """Return the panels of a run's workflow and its catalog; the catalog shows no run."""
    own, *children = panels(state.plan.specification)
    boxes = tuple(_box(state, position, box) for position, box in enumerate(own.boxes))
    arrows = tuple(_arrow(arrow, fired) for arrow in own.arrows)
    return [replace(own, boxes=boxes, arrows=arrows), *children]


def _box(state: State, position: int, box: Box) -> Box:
    node = state.nodes[position]
    told = node.status.replace("_", " ")
    if node.activations > 1:
        told += f", {node.activations} activations"
    return replace(box, lines=(*box.lines, told), status=node.status)


def _arrow(arrow: Arrow, fired: Mapping[int, int]) -> Arrow:
    counts = [fired.get(edge, 0) for edge in arrow.edges]
    labels = tuple(
        f"{label} ✓{f'×{count}' if count > 1 else ''}" if count else label
        for label, count in zip(arrow.labels, counts, strict=False)
    )
    return replace(arrow, labels=labels, has_fired=any(counts))
