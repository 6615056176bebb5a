"""Where boxes and arrows of a picture stand: rows by the longest way from the start, ordered by their neighbours.

An arrow that spans rows passes through a narrow place of its own in each of them. An arrow that leads up, or stays in
its row, closes a cycle, and goes around on the right. The same picture always comes out the same.

Source: Sugiyama, Tagawa, Toda: "Methods for Visual Understanding of Hierarchical System Structures" (1981).
"""

from __future__ import annotations

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
    goes_around: bool


@dataclass(slots=True)
class Layout:
    """A picture: the centres of its boxes, the ways of its arrows, and its size."""

    centres: list[Point]
    routes: list[Route]
    width: float
    height: float


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
    sizes: Sequence[Size], arrows: Sequence[tuple[int, int]], union: Sequence[Sequence[int]], initial: Sequence[int]
) -> Layout:
    """Place boxes and arrows. Raises `TooMany`."""
    rows_of = _rows_of(union, initial)
    places = _Places([], [], [], [], [])
    for size, row in zip(sizes, rows_of, strict=True):
        places.add(size, row)
    chains = {arrow: _chain(places, *arrow) for arrow in dict.fromkeys(arrows) if rows_of[arrow[0]] < rows_of[arrow[1]]}
    rows: list[list[int]] = [[] for _ in range(max(rows_of) + 1)]
    for place, row in enumerate(places.row_of):
        rows[row].append(place)
    _order(rows, places)
    _spread(rows, places)
    heights = [max(places.sizes[place].height for place in row) for row in rows]
    middles = [sum(heights[:row]) + row * _GAP_Y + heights[row] / 2 for row in range(len(rows))]
    left = min(x - size.width / 2 for x, size in zip(places.x, places.sizes, strict=True))
    right = max(x + size.width / 2 for x, size in zip(places.x, places.sizes, strict=True)) - left
    points = [Point(x - left, middles[row]) for x, row in zip(places.x, places.row_of, strict=True)]
    routes = []
    for arrow in arrows:
        if arrow in chains:
            way = [(points[place], heights[places.row_of[place]]) for place in chains[arrow]]
            routes.append(_down(way, sizes[arrow[0]], sizes[arrow[1]]))
        else:
            right += _AROUND
            routes.append(_around(points[arrow[0]], points[arrow[1]], sizes[arrow[0]], sizes[arrow[1]], right))
    return Layout(points[: len(sizes)], routes, right, middles[-1] + heights[-1] / 2)


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


def _down(way: list[tuple[Point, float]], size: Size, size_of_target: Size) -> Route:
    """Return a way down through places, each with the height of its row, which is crossed upright."""
    (first, _), *between, (last, _) = way
    points = [Point(first.x, first.y + size.height / 2)]
    for place, height in between:
        points += [Point(place.x, place.y - height / 2), Point(place.x, place.y + height / 2)]
    return Route((*points, Point(last.x, last.y - size_of_target.height / 2)), goes_around=False)


def _around(source: Point, target: Point, size: Size, size_of_target: Size, right: float) -> Route:
    out = Point(source.x + size.width / 2, source.y + size.height / 4)
    back = Point(target.x + size_of_target.width / 2, target.y - size_of_target.height / 4)
    return Route((out, Point(right, out.y), Point(right, back.y), back), goes_around=True)
