"""Where boxes and arrows of a picture stand: rows by the longest way from the start, ordered by their neighbours.

No arrow passes behind a box. One that spans rows passes through a narrow place of its own in each of them. One that
leads up, or stays in its row, goes down into the gap beneath its source, up on a lane at the right of all boxes, and
through the gap above its target. One that leads to its own source stays beside it. The same picture always comes out
the same.

Source: Sugiyama, Tagawa, Toda: "Methods for Visual Understanding of Hierarchical System Structures" (1981).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from perdure.kernel.graphs import forward

MAX_PLACES: Final = 20_000

_GAP_X: Final = 36.0
_GAP_Y: Final = 78.0
_NARROW: Final = 16.0
_SWEEPS: Final = 4
_AROUND: Final = 22.0
_LOOP: Final = 18.0
_PARTS: Final = (0.5, 0.62, 0.75, 0.38)
"""How far along its way a label may stand."""
_ROOM: Final = 40.0
"""Above the first row and beneath the last, if arrows go there."""


class Size(NamedTuple):
    """The size of a box."""

    width: float
    height: float


class Point(NamedTuple):
    """A place in a picture: right of its left edge, and below its top."""

    x: float
    y: float


class TooMany(Exception):
    """A graph that no reader would follow."""


@dataclass(frozen=True, slots=True)
class Route:
    """The way of an arrow."""

    points: tuple[Point, ...]
    is_curved: bool
    """Whether it bends from point to point; else it goes straight, and around corners."""
    labels: tuple[Point, ...]
    """Where the middle of its label may be, the best place first."""


@dataclass(slots=True)
class Layout:
    """A picture: the centres of its boxes, the ways of its arrows, and its size."""

    centres: list[Point]
    routes: list[Route]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Rows:
    """Where each row begins and ends, from above."""

    tops: list[float]
    bottoms: list[float]


@dataclass(slots=True)
class _Places:
    """Boxes, and then the narrow places that long arrows pass through."""

    sizes: list[Size]
    row_of: list[int]
    above: list[list[int]]
    below: list[list[int]]
    x: list[float]

    def add(self, size: Size, row: int) -> int:
        self.sizes.append(size)
        self.row_of.append(row)
        self.above.append([])
        self.below.append([])
        self.x.append(0.0)
        return len(self.sizes) - 1

    def join(self, upper: int, lower: int) -> None:
        self.below[upper].append(lower)
        self.above[lower].append(upper)


def layout(
    sizes: Sequence[Size],
    arrows: Sequence[tuple[int, int]],
    union: Sequence[Sequence[int]],
    initial: Sequence[int],
    labels: Sequence[float],
) -> Layout:
    """Place boxes and arrows, each with the width of its label. Raises `TooMany`."""
    row_of = _rows_of(union, initial)
    beside = _beside(arrows, labels)
    places = _Places([], [], [], [], [])
    for box, (size, row) in enumerate(zip(sizes, row_of, strict=True)):
        places.add(Size(size.width + beside.get(box, 0.0), size.height), row)
    chains = {arrow: _chain(places, *arrow) for arrow in dict.fromkeys(arrows) if row_of[arrow[0]] < row_of[arrow[1]]}
    in_rows: list[list[int]] = [[] for _ in range(max(row_of) + 1)]
    for place, row in enumerate(places.row_of):
        in_rows[row].append(place)
    _order(in_rows, places)
    _spread(in_rows, places)
    around = [number for number, arrow in enumerate(arrows) if arrow not in chains and arrow[0] != arrow[1]]
    rows = _rows(in_rows, places, _ROOM if any(row_of[arrows[number][1]] == 0 for number in around) else 0.0)
    left = min(x - size.width / 2 for x, size in zip(places.x, places.sizes, strict=True))
    right = max(x + size.width / 2 for x, size in zip(places.x, places.sizes, strict=True)) - left
    points = [
        Point(x - left - beside.get(place, 0.0) / 2, (rows.tops[row] + rows.bottoms[row]) / 2)
        for place, (x, row) in enumerate(zip(places.x, places.row_of, strict=True))
    ]
    lanes = _Lanes(points, sizes, row_of, rows, right)
    ways = lanes.ways([(arrows[number], labels[number]) for number in around])
    found = dict(zip(around, ways, strict=True))
    for number, arrow in enumerate(arrows):
        if arrow in chains:
            way = [(points[place], places.row_of[place]) for place in chains[arrow]]
            found[number] = _down(way, sizes, arrow, rows)
        elif number not in found:
            found[number] = _loop(points[arrow[0]], sizes[arrow[0]], labels[number])
    last = len(in_rows) - 1
    below = _ROOM if any(row_of[arrows[number][0]] == last for number in around) else 0.0
    routes = [found[number] for number in range(len(arrows))]
    return Layout(points[: len(sizes)], routes, lanes.right, rows.bottoms[-1] + below)


def _beside(arrows: Sequence[tuple[int, int]], labels: Sequence[float]) -> dict[int, float]:
    """Return the room that each box needs at its right, for an arrow to itself and its label."""
    found: dict[int, float] = {}
    for (source, target), width in zip(arrows, labels, strict=True):
        if source == target:
            found[source] = max(found.get(source, 0.0), _LOOP + width + _LOOP / 2)
    return found


def _rows(in_rows: list[list[int]], places: _Places, top: float) -> _Rows:
    rows = _Rows([], [])
    for row in in_rows:
        rows.tops.append(top)
        rows.bottoms.append(top + max(places.sizes[place].height for place in row))
        top = rows.bottoms[-1] + _GAP_Y
    return rows


def _rows_of(union: Sequence[Sequence[int]], initial: Sequence[int]) -> list[int]:
    """Return the row of each node: the longest way to it, without the arrows that close a cycle."""
    start = len(union)
    order, sources = forward([*union, initial], start)
    rows = [0] * start
    for node in order[1:]:
        rows[node] = max((rows[source] + 1 for source in sources[node] if source != start), default=0)
    return rows


def _chain(places: _Places, source: int, target: int) -> list[int]:
    """Return what an arrow passes through, from its source to its target."""
    chain = [source]
    for row in range(places.row_of[source] + 1, places.row_of[target]):
        if len(places.sizes) >= MAX_PLACES:
            raise TooMany
        chain.append(places.add(Size(_NARROW, 0.0), row))
    chain.append(target)
    for upper, lower in pairwise(chain):
        places.join(upper, lower)
    return chain


def _order(rows: list[list[int]], places: _Places) -> None:
    """Order each row by the middle of its neighbours, downwards and upwards in turn."""
    at = [0.0] * len(places.sizes)

    def settle(row: list[int], neighbours: list[list[int]]) -> None:
        wanted = {
            place: sum(at[other] for other in neighbours[place]) / len(neighbours[place])
            if neighbours[place]
            else at[place]
            for place in row
        }
        row.sort(key=lambda place: wanted[place])
        number(row)

    def number(row: list[int]) -> None:
        for position, place in enumerate(row):
            at[place] = position - (len(row) - 1) / 2

    for row in rows:
        number(row)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows if downwards else rows[::-1]:
            settle(row, places.above if downwards else places.below)


def _spread(rows: list[list[int]], places: _Places) -> None:
    """Give each place of a row its x: as near to its neighbours as those beside it allow."""
    for row in rows:
        _pack(row, places, [0.0] * len(row))
    for _ in range(_SWEEPS):
        for row in rows:
            wanted = []
            for place in row:
                around = [places.x[other] for other in (*places.above[place], *places.below[place])]
                wanted.append(sum(around) / len(around) if around else places.x[place])
            _pack(row, places, wanted)


def _pack(row: list[int], places: _Places, wanted: list[float]) -> None:
    right = float("-inf")
    for place, x in zip(row, wanted, strict=True):
        half = places.sizes[place].width / 2
        places.x[place] = max(x, right + _GAP_X + half)
        right = places.x[place] + half
    moved = sum(places.x[place] - x for place, x in zip(row, wanted, strict=True)) / len(row)
    for place in row:
        places.x[place] -= moved


def _down(way: list[tuple[Point, int]], sizes: Sequence[Size], arrow: tuple[int, int], rows: _Rows) -> Route:
    """Return a way down through places, each in a row, which is crossed upright."""
    (first, row), *between, (last, row_of_last) = way
    points = [Point(first.x, first.y + sizes[arrow[0]].height / 2), Point(first.x, rows.bottoms[row])]
    for place, crossed in between:
        points += [Point(place.x, rows.tops[crossed]), Point(place.x, rows.bottoms[crossed])]
    points += [Point(last.x, rows.tops[row_of_last]), Point(last.x, last.y - sizes[arrow[1]].height / 2)]
    labels = tuple(_along(points[1], points[2], part) for part in _PARTS)
    return Route(tuple(dict.fromkeys(points)), is_curved=True, labels=labels)


def _along(one: Point, other: Point, part: float) -> Point:
    """Return a place on the curve that leaves one point upright and meets the other so."""
    x = part * part * (3 - 2 * part)
    y = 1.5 * part * (1 - part) + part**3
    return Point(one.x + (other.x - one.x) * x, one.y + (other.y - one.y) * y)


def _loop(centre: Point, size: Size, width: float) -> Route:
    """Return the way from a box to itself, at its right."""
    side, up = centre.x + size.width / 2, size.height / 4
    out, back = Point(side, centre.y + up), Point(side, centre.y - up)
    turn = (Point(side + _LOOP, out.y), Point(side + _LOOP, back.y))
    return Route((out, *turn, back), is_curved=False, labels=(Point(side + _LOOP + 4 + width / 2, centre.y),))


class _Lanes:
    """The ways around: each arrow has a lane at the right for itself, or shares one with arrows of other rows."""

    def __init__(
        self, points: Sequence[Point], sizes: Sequence[Size], row_of: Sequence[int], rows: _Rows, right: float
    ) -> None:
        self._points, self._sizes, self._row_of, self._rows = points, sizes, row_of, rows
        self._used: Counter[tuple[str, int]] = Counter()
        self.right = right

    def ways(self, arrows: Sequence[tuple[tuple[int, int], float]]) -> list[Route]:
        """Return the way of each arrow, with the width of its label; short ways lie further in."""
        gaps = [self._gaps(*arrow) for arrow, _ in arrows]
        taken: list[list[tuple[float, float]]] = []
        widths: list[float] = []
        lane_of = [0] * len(arrows)
        for number in sorted(range(len(arrows)), key=lambda number: gaps[number][0] - gaps[number][1]):
            below, above = gaps[number]
            lane = next((lane for lane, held in enumerate(taken) if _is_free(held, above, below)), len(taken))
            if lane == len(taken):
                taken.append([])
                widths.append(_AROUND)
            taken[lane].append((above, below))
            widths[lane] = max(widths[lane], arrows[number][1] + 8)
            lane_of[number] = lane
        starts = [self.right + _NARROW / 2 + sum(widths[:lane]) for lane in range(len(widths) + 1)]
        self.right = starts[-1] if widths else self.right
        middles = [start + width / 2 for start, width in zip(starts, widths, strict=False)]
        return [
            self._way(arrow, gap, middles[lane]) for (arrow, _), gap, lane in zip(arrows, gaps, lane_of, strict=True)
        ]

    def _gaps(self, source: int, target: int) -> tuple[float, float]:
        """Return where an arrow crosses the gap beneath its source, and that above its target."""
        row, row_of_target = self._row_of[source], self._row_of[target]
        below = self._rows.bottoms[row] + 12 + 6 * (self._next("below", row) % 4)
        return below, self._rows.tops[row_of_target] - 14 - 6 * (self._next("above", row_of_target) % 4)

    def _way(self, arrow: tuple[int, int], gaps: tuple[float, float], lane: float) -> Route:
        source, target = arrow
        below, above = gaps
        out, back = self._port("out", source), self._port("back", target)
        points = (
            Point(out, self._points[source].y + self._sizes[source].height / 2),
            Point(out, below),
            Point(lane, below),
            Point(lane, above),
            Point(back, above),
            Point(back, self._points[target].y - self._sizes[target].height / 2),
        )
        labels = tuple(Point(lane, below + (above - below) * part) for part in _PARTS)
        return Route(points, is_curved=False, labels=labels)

    def _port(self, side: str, box: int) -> float:
        """Return where an arrow leaves or meets a box: right of the middle, where those that lead down are."""
        half = self._sizes[box].width / 2
        return self._points[box].x + max(16.0, half - 12 - 8 * self._next(side, box))

    def _next(self, kind: str, number: int) -> int:
        self._used[kind, number] += 1
        return self._used[kind, number] - 1


def _is_free(held: Sequence[tuple[float, float]], above: float, below: float) -> bool:
    return all(below < top or bottom < above for top, bottom in held)
