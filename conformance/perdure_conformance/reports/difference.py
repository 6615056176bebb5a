"""What was expected and what came, with the places marked in which they differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from perdure_conformance.reports.inert import inert

_CHARACTERS_COMPARED: Final = 200_000
"""Of longer values, all is marked from the first difference to the last."""
_LONG_WORD: Final = 24
"""In a longer one, only the part that differs is marked."""
_SHOWN: Final = 4_000
_BEFORE: Final = 300
"""How much is shown before the first difference where not all is shown."""

_INDENT: Final = re.compile(r"(\n *)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, and whether the other text has something else there."""

    text: str
    differs: bool


Marked = tuple[Piece, ...]


def marked(expected: object, actual: object) -> tuple[Marked, Marked]:
    """Return two JSON values as text, an item a line, marked where they differ; long ones are cut, and say so.

    Members are compared by their names; items by their places, between those that are the same at both ends. No search
    is made for what has most in common, which could take for ever.
    """
    one, other = _text(expected), _text(actual)
    if max(len(one), len(other)) > _CHARACTERS_COMPARED:
        before, after = _common(one, other)
        return _shown(_around(one, before, after)), _shown(_around(other, before, after))
    if isinstance(expected, str) or isinstance(actual, str):  # Words, and no JSON.
        return _shown(_word(one, other)), _shown(_word(other, one))
    return _shown(_value(expected, actual, "\n")), _shown(_value(actual, expected, "\n"))


def text(marked: Marked) -> str:
    """Return a text without its marks."""
    return "".join(piece.text for piece in marked)


def plain(value: object) -> Marked:
    """Return one value as text, without a mark."""
    return _shown([Piece(_text(value), differs=False)])


def _text(value: object) -> str:
    return inert(value if isinstance(value, str) else _json(value))


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=True)


def _value(mine: object, theirs: object, line: str) -> Iterator[Piece]:
    """Yield a value as text, marked where another one has something else; `line` begins a line where it stands."""
    if isinstance(mine, dict) and isinstance(theirs, dict) and mine:
        yield from _members(mine, theirs, line)
    elif isinstance(mine, list) and isinstance(theirs, list) and mine:
        yield from _items(mine, theirs, line)
    elif isinstance(mine, str) and isinstance(theirs, str):
        yield from _word(inert(_json(mine)), inert(_json(theirs)))
    else:
        yield from _whole(mine, line, differs=_json(mine) != _json(theirs))


def _members(mine: dict[str, object], theirs: dict[str, object], line: str) -> Iterator[Piece]:
    deeper = f"{line}  "
    for number, (name, item) in enumerate(mine.items()):
        yield Piece(f"{',' if number else '{'}{deeper}", differs=False)
        yield Piece(inert(_json(name)), differs=name not in theirs)
        yield Piece(": ", differs=False)
        yield from _value(item, theirs[name], deeper) if name in theirs else _whole(item, deeper, differs=True)
    yield Piece(f"{line}}}", differs=False)


def _items(mine: list[object], theirs: list[object], line: str) -> Iterator[Piece]:
    deeper = f"{line}  "
    before, after = _common([_json(item) for item in mine], [_json(item) for item in theirs])
    end, their_end = len(mine) - after, len(theirs) - after
    for number, item in enumerate(mine):
        yield Piece(f"{',' if number else '['}{deeper}", differs=False)
        if number < before or number >= end:
            yield from _whole(item, deeper, differs=False)
        elif number < their_end:
            yield from _value(item, theirs[number], deeper)
        else:
            yield from _whole(item, deeper, differs=True)
    yield Piece(f"{line}]", differs=False)


def _whole(value: object, line: str, *, differs: bool) -> Iterator[Piece]:
    """Yield a value as text, marked or not, but for what only begins its lines."""
    for part in _INDENT.split(inert(_json(value)).replace("\n", line)):
        yield Piece(part, differs=differs and not part.isspace())


def _word(mine: str, theirs: str) -> Iterator[Piece]:
    """Yield a word: if it is long, only its middle differs, where both begin and end alike."""
    if min(len(mine), len(theirs)) <= _LONG_WORD:
        yield Piece(mine, differs=mine != theirs)
    else:
        yield from _around(mine, *_common(mine, theirs))


def _common(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return how much two sequences have in common at their beginning, and then at their end."""
    most = min(len(one), len(other))
    before = next((place for place in range(most) if one[place] != other[place]), most)
    most -= before
    after = next((place for place in range(most) if one[-1 - place] != other[-1 - place]), most)
    return before, after


def _around(text: str, before: int, after: int) -> Iterator[Piece]:
    """Yield a text whose middle differs."""
    end = len(text) - after
    yield Piece(text[:before], differs=False)
    yield Piece(text[before:end], differs=True)
    yield Piece(text[end:], differs=False)


def _shown(all_pieces: Iterator[Piece] | Sequence[Piece]) -> Marked:
    """Return the pieces that have something in them, from shortly before the first difference if there are many."""
    pieces = tuple(all_pieces)
    whole = sum(len(piece.text) for piece in pieces)
    start = 0
    if whole > _SHOWN:
        first = next((index for index, piece in enumerate(pieces) if piece.differs and piece.text), 0)
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
