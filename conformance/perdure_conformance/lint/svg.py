"""A picture as SVG: one file, without script and without anything from elsewhere, readable in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape

from rich.cells import cell_len

from perdure_conformance.lint.drawing import COLOURS, Arrow, Box, Panel, legend
from perdure_conformance.lint.layout import Layout, Point, Route, Size, TooMany, layout

MAX_BOXES: Final = 400
MAX_ARROWS: Final = 2_000

_CHARACTER: Final = 7.3
"""The width of a character of 12 px in a typeface of fixed width, at the widest."""
_LINE: Final = 16.0
_MARGIN: Final = 24.0
_BEND: Final = 8.0
_PORT: Final = {"dependency": -8.0, "parallel": 0.0, "exclusive": 8.0}

_STYLE: Final = """\
text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328;text-anchor:middle}
.paper{fill:#ffffff}.left{text-anchor:start}.bold{font-weight:bold}text.soft{fill:#59636e}
.box{fill:#f6f8fa;stroke:#59636e}.inner{fill:none;stroke:#59636e}.initial{stroke:#0969da;stroke-width:2.5px}
.arrow{fill:none;stroke:#1f2328;stroke-width:1.3px}.dependency{stroke:#59636e;stroke-dasharray:5 4}
.exclusive{stroke:#0969da}.head{fill:#1f2328}.tail{fill:#ffffff;stroke:#0969da}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.paper{fill:#0d1117}text.soft{fill:#9198a1}
.box{fill:#161b22;stroke:#9198a1}.inner{stroke:#9198a1}.initial{stroke:#58a6ff}
.arrow{stroke:#e6edf3}.dependency{stroke:#9198a1}.exclusive{stroke:#58a6ff}
.head{fill:#e6edf3}.tail{fill:#0d1117;stroke:#58a6ff}
}
"""
"""Without custom properties, which converters do not know."""


class Crowded(Exception):
    """A picture that would show nothing. `str(error)` is one sentence."""


def picture(panels: Sequence[Panel], identity: str) -> str:
    """Return the picture; `identity` keeps its names apart from those of others in one page. Raises `Crowded`."""
    boxes, arrows = sum(len(panel.boxes) for panel in panels), sum(len(panel.arrows) for panel in panels)
    if boxes > MAX_BOXES or arrows > MAX_ARROWS:
        raise Crowded(
            f"{boxes:,} nodes and {arrows:,} arrows are too many for a picture, which has at most {MAX_BOXES} and "
            f"{MAX_ARROWS:,}: use --picture mermaid, or draw the children as documents of their own."
        )
    try:
        placed = [_placed(panel) for panel in panels]
    except TooMany:
        raise Crowded("The arrows span too many rows for a picture: use --picture mermaid.") from None
    width = max(found.width for found in placed) + 2 * _MARGIN
    parts: list[str] = []
    top = _MARGIN
    for panel, found in zip(panels, placed, strict=True):
        parts += _panel(panel, found, top, identity)
        top += found.height + 5 * _LINE
    for line in legend(panels):
        parts.append(_text("soft left", _MARGIN, top, line))
        top += _LINE
    return "\n".join([*_head(panels, identity, width, top + _MARGIN), *parts, "</svg>", ""])


def _head(panels: Sequence[Panel], identity: str, width: float, height: float) -> Iterator[str]:
    size = f"{_number(width)} {_number(height)}"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_number(width)}" '
        f'height="{_number(height)}" role="img" aria-labelledby="title-{identity} desc-{identity}">'
    )
    yield f'<title id="title-{identity}">Workflow {escape(panels[0].title)}</title>'
    yield f'<desc id="desc-{identity}">{escape(_described(panels))}</desc>'
    yield f"<style>\n{_STYLE}{_run_style(panels)}</style>"
    yield (
        f'<defs><marker id="head-{identity}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0L8 4L0 8Z"/></marker>'
        f'<marker id="tail-{identity}" viewBox="0 0 12 8" refX="0" refY="4" markerWidth="12" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path class="tail" d="M0.5 4L6 0.5L11.5 4L6 7.5Z"/></marker></defs>'
    )
    yield '<rect class="paper" width="100%" height="100%"/>'


def _run_style(panels: Sequence[Panel]) -> str:
    """Return how nodes and arrows look for what became of them: alike in light and in dark, with dark text."""
    found = {box.status for panel in panels for box in panel.boxes if box.status is not None}
    if not found:
        return ""
    rules = [".fired{stroke-width:3px}"]
    for status in sorted(found & COLOURS.keys()):
        fill, stroke = COLOURS[status]
        rules.append(f".is-{status}{{fill:{fill};stroke:{stroke}}}")
        rules.append(f"text.on-{status}{{fill:#1f2328}}")
    return "".join(f"{rule}\n" for rule in rules)


def _described(panels: Sequence[Panel]) -> str:
    """Return the picture in words: each workflow with its nodes, and where they lead."""
    told = []
    for panel in panels:
        names = [box.lines[0].removeprefix("▶ ") for box in panel.boxes]
        first = ", ".join(names[position] for position in panel.initial)
        arrows = "; ".join(
            f"{names[arrow.target]} waits for {names[arrow.source]}"
            if arrow.kind == "dependency"
            else f"{names[arrow.source]} leads to {names[arrow.target]} ({', '.join(arrow.labels)})"
            for arrow in panel.arrows
        )
        told.append(f"{panel.title}: {len(names)} nodes; begins with {first}. {arrows}".rstrip(". ") + ".")
        ends = [f"{name} {box.lines[-1]}" for name, box in zip(names, panel.boxes, strict=True) if box.status]
        told += [f"{panel.heading}: {', '.join(ends)}."] if ends else []
    return " ".join(told)


def _size(box: Box) -> Size:
    return Size(max(map(_width, box.lines)) + 28, len(box.lines) * _LINE + 14)


def _width(text: str) -> float:
    return cell_len(text) * _CHARACTER


def _placed(panel: Panel) -> Layout:
    arrows = [(arrow.source, arrow.target) for arrow in panel.arrows]
    widths = [max(map(_width, arrow.labels), default=0.0) for arrow in panel.arrows]
    found = layout([_size(box) for box in panel.boxes], arrows, panel.union, panel.initial, widths)
    labels = (
        max(place.x for place in route.labels) + width / 2 + _PORT["exclusive"]
        for route, width in zip(found.routes, widths, strict=True)
    )
    words = max(map(_width, (panel.title, *legend([panel]))))
    found.width = max([found.width, words, *labels])
    return found


def _panel(panel: Panel, placed: Layout, top: float, identity: str) -> Iterator[str]:
    yield _text("left bold", _MARGIN, top, panel.title)
    yield f'<g transform="translate({_number(_MARGIN)} {_number(top + _LINE)})">'
    routes = list(zip(panel.arrows, placed.routes, strict=True))
    for arrow, route in routes:
        tail = f' marker-start="url(#tail-{identity})"' if arrow.kind == "exclusive" else ""
        way = _way(route, _PORT[arrow.kind])
        kind = f"{arrow.kind} fired" if arrow.has_fired else arrow.kind
        yield f'<path class="arrow {kind}" d="{way}" marker-end="url(#head-{identity})"{tail}/>'
    for box, centre in zip(panel.boxes, placed.centres, strict=True):
        yield from _box(box, centre)
    taken: set[tuple[int, int]] = set()
    for arrow, route in routes:
        yield from _labels(arrow, route, taken)
    yield "</g>"


def _box(box: Box, centre: Point) -> Iterator[str]:
    size = _size(box)
    x, y = centre.x - size.width / 2, centre.y - size.height / 2
    kind = "box initial" if box.is_initial else "box"
    kind, on = (f"{kind} is-{box.status}", f" on-{box.status}") if box.status in COLOURS else (kind, "")
    yield _frame(kind, x, y, size)
    if box.is_child:
        yield _frame("inner", x + 4, y + 4, Size(size.width - 8, size.height - 8))
    for number, line in enumerate(box.lines):
        place = y + 7 + _LINE * number + 12
        yield _text(("bold" if number == 0 else "soft") + on, centre.x, place, line)


def _frame(kind: str, x: float, y: float, size: Size) -> str:
    return (
        f'<rect class="{kind}" x="{_number(x)}" y="{_number(y)}" width="{_number(size.width)}" '
        f'height="{_number(size.height)}" rx="6"/>'
    )


def _way(route: Route, port: float) -> str:
    if not route.is_curved:
        return _around(route.points)
    first, *others = [Point(point.x + port, point.y) for point in route.points]
    way = f"M{_at(first)}"
    before = first
    for point in others:
        middle = (before.y + point.y) / 2
        way += f"C{_at(Point(before.x, middle))} {_at(Point(point.x, middle))} {_at(point)}"
        before = point
    return way


def _around(points: Sequence[Point]) -> str:
    """Return a way along straight lines, with round corners."""
    first, *corners, last = points
    way, before = f"M{_at(first)}", first
    for corner, after in zip(corners, [*corners[1:], last], strict=True):
        way += f"L{_at(_towards(corner, before))}Q{_at(corner)} {_at(_towards(corner, after))}"
        before = corner
    return f"{way}L{_at(last)}"


def _towards(corner: Point, other: Point) -> Point:
    """Return where the bend of a corner begins."""
    x, y = other.x - corner.x, other.y - corner.y
    part = min(0.5, _BEND / max(abs(x), abs(y), _BEND))
    return Point(corner.x + x * part, corner.y + y * part)


def _labels(arrow: Arrow, route: Route, taken: set[tuple[int, int]]) -> Iterator[str]:
    """Yield the labels of an arrow, each on paper of its own, where no others stand already if there is room."""
    port = _PORT[arrow.kind] if route.is_curved else 0.0
    for number, label in enumerate(arrow.labels):
        half = _width(label) / 2
        places = [(place.x + port, round(place.y / _LINE - 0.5) + number) for place in route.labels]
        places += [(x, row + away) for x, row in places[:2] for away in (1, -1)]
        middle, row = next((place for place in places if taken.isdisjoint(_cells(*place, half))), places[0])
        taken.update(_cells(middle, row, half))
        yield (
            f'<rect class="paper" x="{_number(middle - half - 2)}" y="{_number(row * _LINE)}" '
            f'width="{_number(2 * half + 4)}" height="{_number(_LINE)}"/>'
        )
        yield _text("label", middle, row * _LINE + 12, label)


def _cells(middle: float, row: int, half: float) -> list[tuple[int, int]]:
    return [(row, column) for column in range(int((middle - half) // 12), int((middle + half) // 12) + 1)]


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}">{escape(text)}</text>'


def _at(point: Point) -> str:
    return f"{_number(point.x)} {_number(point.y)}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
