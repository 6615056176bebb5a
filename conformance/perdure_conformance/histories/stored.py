"""Records as they are stored: the bytes of each, where they stand in their file, and what stands around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Format = Literal["jsonl", "mwj1", "mws1", "sqlite"]
Unit = Literal["line", "frame", "row"]

FORMAT_NAMES: Final[dict[Format, str]] = {
    "jsonl": "JSON lines",
    "mwj1": "MWJ1",
    "mws1": "MWS1",
    "sqlite": "SQLite, the database of a journal",
}
UNITS: Final[dict[Format, Unit]] = {"jsonl": "line", "mwj1": "frame", "mws1": "frame", "sqlite": "row"}

FramingFault = Literal[
    "torn_tail",
    "unended_line",
    "unknown_format",
    "cut_frame",
    "wrong_length",
    "trailing_bytes",
    "wrong_crc",
    "not_a_frame",
    "damaged_database",
    "wrong_row",
    "over_limit",
]
"""What is wrong with a file around its records."""


class HistoryRefused(Exception):
    """A file that cannot be read. `str(error)` is one sentence that says which, why and what helps."""


class Damage(Exception):
    """A file that is wrong around its records. `str(error)` says why; `offset` is the byte where, if that is known."""

    def __init__(self, code: FramingFault, sentence: str, offset: int | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.offset = offset


class Place(NamedTuple):
    """Where something stands in a file."""

    unit: Unit
    number: int
    """Counted from 1."""
    offset: int | None = None
    """Counted in bytes from 0; None in a database."""

    def __str__(self) -> str:
        """Return the place in words."""
        told = f"{self.unit} {self.number:,}"
        return told if self.offset is None else f"{told}, byte {self.offset:,}"


class Row(NamedTuple):
    """What a row of a database says of its record, beside the record itself."""

    run_id: str
    sequence: int
    event_id: str

    def __str__(self) -> str:
        """Return what the row says in words."""
        return f"event {self.event_id} at {self.sequence} of run {self.run_id}"


@dataclass(frozen=True, slots=True)
class Stored:
    """One record as it is stored."""

    place: Place
    content: bytes
    end: int | None = None
    """The byte behind it; None in a database."""
    row: Row | None = None
    is_ended: bool = True
    """Whether what has to end it is there; if not, it is not accepted, and damage comes next."""


@dataclass(frozen=True, slots=True)
class History:
    """The records of one run as a file has them, one after the other. They can be read once.

    They raise `HistoryRefused` where reading fails, and `Damage`, or `Corruption`, where the file is wrong.
    """

    name: str
    format: Format
    records: Iterator[Stored]

    def place(self, number: int, offset: int | None) -> Place:
        """Return a place in the file."""
        return Place(UNITS[self.format], number, None if self.format == "sqlite" else offset)
