"""What was expected and what came, with the places marked in which they differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from perdure_conformance.reports.inert import inert

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.+-]+|\s+|.', re.DOTALL)
_TOKENS_COMPARED: Final = 1_500
"""Of longer texts, all is marked from the first difference to the last."""
_LONG_WORD: Final = 24
"""In a longer one, only the part that differs is marked."""
_SHOWN: Final = 4_000
_BEFORE: Final = 300
"""How much is shown before the first difference where not all is shown."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, and whether the other text has something else there."""

    text: str
    differs: bool


Marked = tuple[Piece, ...]


def marked(expected: object, actual: object) -> tuple[Marked, Marked]:
    """Return two JSON values as text, an item a line, marked where they differ; long ones are cut, and say so."""
    one, other = _TOKEN.findall(_text(expected)), _TOKEN.findall(_text(actual))
    ones: list[Piece] = []
    others: list[Piece] = []
    for differs, mine, theirs in _runs(one, other):
        if differs and len(mine) == len(theirs) == 1 and min(len(mine[0]), len(theirs[0])) > _LONG_WORD:
            before, after = _common(mine[0], theirs[0])
            ones += _around(mine[0], before, after)
            others += _around(theirs[0], before, after)
        else:
            ones += [Piece(token, differs and not token.isspace()) for token in mine]
            others += [Piece(token, differs and not token.isspace()) for token in theirs]
    return _shown(ones), _shown(others)


def plain(value: object) -> Marked:
    """Return one value as text, without a mark."""
    return _shown([Piece(_text(value), differs=False)])


def _text(value: object) -> str:
    return inert(value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=True))


def _runs(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[bool, Sequence[str], Sequence[str]]]:
    """Yield what two texts have in common and what they have not, in turns."""
    if max(len(one), len(other)) > _TOKENS_COMPARED:
        before, after = _common(one, other)
        yield False, one[:before], other[:before]
        yield True, one[before : len(one) - after], other[before : len(other) - after]
        yield False, one[len(one) - after :], other[len(other) - after :]
        return
    for kind, start, end, other_start, other_end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        yield kind != "equal", one[start:end], other[other_start:other_end]


def _common(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return how much two sequences have in common at their beginning, and then at their end."""
    most = min(len(one), len(other))
    before = next((place for place in range(most) if one[place] != other[place]), most)
    most -= before
    after = next((place for place in range(most) if one[-1 - place] != other[-1 - place]), most)
    return before, after


def _around(text: str, before: int, after: int) -> list[Piece]:
    """Return a text whose middle differs."""
    end = len(text) - after
    return [
        Piece(text[:before], differs=False),
        Piece(text[before:end], differs=True),
        Piece(text[end:], differs=False),
    ]


def _shown(pieces: Sequence[Piece]) -> Marked:
    """Return the pieces that have something in them, from shortly before the first difference if there are many."""
    whole = sum(len(piece.text) for piece in pieces)
    start = 0
    if whole > _SHOWN:
        first = next((index for index, piece in enumerate(pieces) if piece.differs), 0)
        start = max(0, sum(len(piece.text) for piece in pieces[:first]) - _BEFORE)
    end = min(whole, start + _SHOWN)
    found = [Piece(f"… ({start:,} characters before this are left out)\n", differs=False)] if start else []
    place = 0
    for piece in pieces:
        text = piece.text[max(0, start - place) : max(0, end - place)]
        place += len(piece.text)
        if text:
            found.append(Piece(text, piece.differs))
    if end < whole:
        found.append(Piece(f"… ({whole - end:,} more characters are left out)", differs=False))
    return tuple(found)
