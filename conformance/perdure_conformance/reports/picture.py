"""A timeline as a picture: lanes side by side, time from top to bottom. Here it is measured; a template draws it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len

from perdure_conformance.reports.inert import inert
from perdure_conformance.timeline import Mark, Moment, Timeline

_CHARACTER: Final = 7.3
"""The width of a character of 12 px in a typeface of fixed width, at the widest."""
_ROW: Final = 26
_TOP: Final = 34
_MARGIN: Final = 14
_MOMENTS: Final = 40
_LANES: Final = 10
_LABEL: Final = 14
_WORDS: Final = 72
_ANSWER: Final = 44


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane: where it is, and what stands above it."""

    x: int
    name: str


@dataclass(frozen=True, slots=True)
class Dot:
    """One moment."""

    x: int
    y: int
    mark: Mark
    number: int
    words: str
    answer: str
    fails: bool
    everywhere: bool
    """Whether it is about every lane, and so a line across them."""


@dataclass(frozen=True, slots=True)
class Picture:
    """All of it, in pixels."""

    width: int
    height: int
    left: int
    right: int
    """Where the first and the last lane are."""
    text: int
    """Where words begin."""
    top: int
    row: int
    lanes: tuple[Lane, ...]
    dots: tuple[Dot, ...]
    note: str
    """What is not shown; empty if all is."""

    @property
    def in_words(self) -> str:
        """The picture for whoever does not see it."""
        return " ".join(
            f"{dot.number}, {'everywhere' if dot.everywhere else self._lane(dot.x)}: {dot.words}"
            f"{f', {dot.answer}' if dot.answer else ''}{' (this fails)' if dot.fails else ''}."
            for dot in self.dots
        )

    def _lane(self, x: int) -> str:
        return next(lane.name for lane in self.lanes if lane.x == x)


def picture(timeline: Timeline, *, is_known_to_fail: bool) -> Picture | None:
    """Return the picture of a timeline, of its last moments if there are many; None if nothing was done."""
    if not timeline.moments:
        return None
    names = [_short(name, _LABEL) for name in timeline.lanes[:_LANES]]
    if len(timeline.lanes) > _LANES:
        names.append("others")
    apart = max(44, round(max(map(_width, names))) + 12)
    lanes = tuple(Lane(_MARGIN + apart // 2 + apart * number, name) for number, name in enumerate(names))
    first = max(0, len(timeline.moments) - _MOMENTS)
    dots = tuple(
        _dot(moment, first + number, _TOP + _ROW * number + _ROW // 2, lanes)
        for number, moment in enumerate(timeline.moments[first:])
    )
    if is_known_to_fail and not any(moment.fails for moment in timeline.moments):
        dots = (*dots[:-1], replace(dots[-1], fails=True))
    text = lanes[-1].x + apart // 2 + 6
    widest = max(_width(f"{dot.number}. {dot.words} → {dot.answer}") for dot in dots)
    return Picture(
        width=text + round(widest) + 2 * _MARGIN,
        height=_TOP + _ROW * len(dots) + 8,
        left=lanes[0].x,
        right=lanes[-1].x,
        text=text,
        top=_TOP,
        row=_ROW,
        lanes=lanes,
        dots=dots,
        note=f"The {first:,} earlier ones are left out." if first else "",
    )


def _dot(moment: Moment, number: int, y: int, lanes: tuple[Lane, ...]) -> Dot:
    lane = lanes[min(moment.lane or 0, len(lanes) - 1)]
    return Dot(
        x=lane.x,
        y=y,
        mark=moment.mark,
        number=number + 1,
        words=_short(moment.words, _WORDS),
        answer=_short(moment.answer, _ANSWER),
        fails=moment.fails,
        everywhere=moment.lane is None,
    )


def _width(text: str) -> float:
    return cell_len(text) * _CHARACTER


def _short(text: str, most: int) -> str:
    """Return foreign text as one short harmless line."""
    harmless = " ".join(inert(text[: 2 * most]).split())
    return harmless if len(harmless) <= most and len(text) <= 2 * most else f"{harmless[: most - 1]}…"
