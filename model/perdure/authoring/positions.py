"""Where things stand in a text: positions, the refusal that carries one, and the search for many pointers at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from perdure.kernel.values import MAX_DEPTH, JsonValue

TOO_DEEP = f"arrays and objects nest deeper than {MAX_DEPTH} levels here: make the document flatter"

_SHOWN_CHARACTERS = 40


class Position(NamedTuple):
    """A line and a column, both from 1; columns count code points. A line ends with LF, CR LF or CR."""

    line: int
    column: int


class SourceError(Exception):
    """A text that is refused. `str(error)` is one sentence that says what is wrong and how to put it right.

    `code` is for programs. `position` is None where the fault stands at no one place. `others` are the further faults
    of the text, as far as it could be read on.
    """

    def __init__(self, code: str, sentence: str, position: Position | None) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.position = position
        self.others: tuple[SourceError, ...] = ()


class Event(NamedTuple):
    """One step through a document; `offset` counts the code points before it.

    An object and an array start and end; in an object each value follows its key. A key has its text as `value`; a
    scalar has its value only where whoever reads the events needs it. `end` counts the code points before the end of
    a key, a scalar or a closing bracket; it is 0 where an object or array has no brackets.
    """

    kind: Literal["object", "array", "end", "key", "scalar"]
    offset: int
    value: JsonValue = None
    end: int = 0


class Span(NamedTuple):
    """The text of one value, by the code points before it, and what stands beside it in its object or array."""

    key: int
    """Where its key starts; an element of an array, and the whole document, is its own key."""
    start: int
    end: int
    before: int | None
    """Where the value before it ends."""
    after: int | None
    """Where the key of the value after it starts."""


class Place(NamedTuple):
    """Where the value stands that a pointer names, and where its key does; an element of an array is its own key."""

    key: Position
    value: Position


def refusal(text: str, offset: int, code: str, sentence: str) -> SourceError:
    """Return the refusal of what stands at `offset` in `text`."""
    return SourceError(code, sentence, positions(text, [offset])[offset])


def repeated_key(key: str) -> str:
    """Return the sentence about a key that its object has already."""
    return f"the key {shown(key)} stands twice in one object: keep one of the two"


def out_of_range(number: str) -> str:
    """Return the sentence about a number that durable JSON cannot hold."""
    digits = number if len(number) <= _SHOWN_CHARACTERS else f"{number[:_SHOWN_CHARACTERS]}…"
    return f"{digits} is out of range: write it as a string, or an integer within ±(2^53−1), or a finite double"


def shown(text: str) -> str:
    """Return `text` as a message shows it: quoted, escaped, and not longer than fits a line."""
    return repr(text) if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]!r}…"


def positions(text: str, offsets: Iterable[int]) -> dict[int, Position]:
    """Return the position of each offset, in one pass over `text`."""
    found: dict[int, Position] = {}
    line, line_start, done = 1, 0, 0
    for offset in sorted(set(offsets)):
        # CR LF ends one line. No offset stands between the two.
        line += text.count("\n", done, offset) + text.count("\r", done, offset) - text.count("\r\n", done, offset)
        line_start = max(line_start, text.rfind("\n", done, offset) + 1, text.rfind("\r", done, offset) + 1)
        done = offset
        found[offset] = Position(line, offset - line_start + 1)
    return found


def places(text: str, events: Iterable[Event], pointers: Iterable[str]) -> dict[str, Place]:
    """Return where each pointer's value stands, in one pass over `events`.

    A pointer to what is missing leads to the nearest value around it.
    Raises `ValueError` for what is no JSON Pointer.

    Source: RFC 6901.
    """
    root = _Wanted()
    ends = {pointer: root.under(_names(pointer)) for pointer in pointers}
    _walk(root, events)
    found = {pointer: end.nearest_found() for pointer, end in ends.items()}
    at = positions(text, (offset for pair in found.values() for offset in pair))
    return {pointer: Place(at[key], at[value]) for pointer, (key, value) in found.items()}


def spans(events: Iterable[Event], pointers: Iterable[str]) -> dict[str, Span]:
    """Return the text of each pointer's value, in one pass over `events`; of what is missing, nothing.

    Raises `ValueError` for what is no JSON Pointer.
    """
    root = _Wanted()
    ends = {pointer: root.under(_names(pointer)) for pointer in pointers}
    _walk(root, events)
    return {pointer: Span(*end.found, end.end, end.before, end.after) for pointer, end in ends.items() if end.found}


@dataclass(slots=True)
class _Wanted:
    """A value that is asked for, or lies on the way to one. Its `found` is the offset of its key, and its own."""

    parent: _Wanted | None = None
    members: dict[str, _Wanted] = field(default_factory=dict)
    found: tuple[int, int] | None = None
    end: int = 0
    before: int | None = None
    after: int | None = None

    def under(self, names: Iterable[str]) -> _Wanted:
        wanted = self
        for name in names:
            wanted = wanted.members.setdefault(name, _Wanted(wanted))
        return wanted

    def nearest_found(self) -> tuple[int, int]:
        if self.found is not None:
            return self.found
        wanted = self.parent
        while wanted is not None and wanted.found is None:
            wanted = wanted.parent
        assert wanted is not None, "a document has a root"
        assert wanted.found is not None
        return wanted.found[1], wanted.found[1]


@dataclass(slots=True)
class _Open:
    """An object or array that has not ended, with the key that was read last or the index of the next element."""

    wanted: _Wanted | None
    key: Event | None = None
    index: int = 0
    last: _Wanted | None = None
    """The value that was read last, if it is wanted."""
    last_end: int | None = None

    def next(self, event: Event) -> tuple[_Wanted | None, int]:
        """Return what is wanted of the value that `event` starts, and the offset of its key."""
        if self.key is not None:
            name, offset = str(self.key.value), self.key.offset
        else:
            name, offset = str(self.index), event.offset
            self.index += 1
        wanted = self.wanted.members.get(name) if self.wanted else None
        if self.last is not None:
            self.last.after = offset
        if wanted is not None:
            wanted.before = self.last_end
        self.last = wanted
        return wanted, offset


def _walk(root: _Wanted, events: Iterable[Event]) -> None:
    opened = [_Open(_Wanted(members={"0": root}))]  # As if the document were the element of an array.
    for event in events:
        if event.kind == "key":
            opened[-1].key = event
            continue
        if event.kind == "end":
            closed = opened.pop()
            end = event.end or closed.last_end
        else:
            wanted, key_offset = opened[-1].next(event)
            if wanted is not None:
                wanted.found = (key_offset, event.offset)
            if event.kind != "scalar":
                opened.append(_Open(wanted))
                continue
            end = event.end
        opened[-1].last_end = end
        if opened[-1].last is not None:
            assert end is not None, "without brackets nothing is empty"
            opened[-1].last.end = end


def _names(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{shown(pointer)} is no JSON Pointer: it starts with / or is empty")
    return [name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:]]
