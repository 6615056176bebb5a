"""The graph with what runs reach: nodes that start or never do, and edges that never fire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from perdure.kernel.state import Status
from perdure_conformance.exploration.exploring import Exploration, Verdict
from perdure_conformance.exploration.search import Closed, Fired, Started
from perdure_conformance.lint.drawing import Arrow, Box, Panel, panels

SIGNS: Final = (
    "colour: green can start, red never does, yellow has not so far",
    "✗: the edge never fires, or has not so far",
)

_WORDS: Final[Mapping[Verdict, str]] = {
    "reached": "can start",
    "unreachable": "never starts",
    "not_found": "not started so far",
}
_ENDS: Final[tuple[Status, ...]] = ("blocked", "skipped")


def explored(exploration: Exploration) -> list[Panel]:
    """Return the panels of a workflow and its catalog; the catalog is not explored."""
    own, *children = panels(exploration.plan.specification)
    boxes = tuple(_box(exploration, position, box) for position, box in enumerate(own.boxes))
    arrows = tuple(_arrow(exploration, arrow) for arrow in own.arrows)
    shown = replace(own, boxes=boxes, arrows=arrows, signs=SIGNS, heading="Explored")
    return [shown, *children]


def _box(exploration: Exploration, position: int, box: Box) -> Box:
    verdict = exploration.verdict(Started(position))
    told = [_WORDS[verdict]]
    told += [f"can be {status}" for status in _ENDS if exploration.verdict(Closed(position, status)) == "reached"]
    return replace(box, lines=(*box.lines, ", ".join(told)), status=verdict)


def _arrow(exploration: Exploration, arrow: Arrow) -> Arrow:
    fires = [exploration.verdict(Fired(edge)) == "reached" for edge in arrow.edges]
    labels = tuple(label if has_fired else f"{label} ✗" for label, has_fired in zip(arrow.labels, fires, strict=False))
    return replace(arrow, labels=labels, has_fired=any(fires))
