"""A history written in another format: verified on the way, byte for byte, and all of it or nothing."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perdure.journal.folder import sync
from perdure.journal.frames import frame
from perdure.journal.sqlite import SCHEMA
from perdure.kernel.records import Record
from perdure_conformance.histories.files import opened
from perdure_conformance.histories.stored import FORMAT_NAMES, Format
from perdure_conformance.histories.walk import Walk
from perdure_conformance.lint.document import name_of

SUFFIXES: Final[Mapping[str, Format]] = {".jsonl": "jsonl", ".mwj1": "mwj1", ".sqlite3": "sqlite"}
"""The formats that can be written, by how the name of the file ends."""

_BESIDE: Final = ("-wal", "-shm", "-journal")
"""How the names of the files end that SQLite keeps beside an open database."""

Written = Iterable[tuple[Record, bytes]]
"""Records, and each as it is stored."""


class NotWritten(Exception):
    """A file that is not written. `str(error)` is one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be written, and how."""

    file: str
    form: Format
    is_forced: bool
    """Whether a file that is there is replaced."""


def target_of(output: str, form: str | None, *, force: bool) -> Target:
    """Return the target in the format that is asked for, or that its name says. Raises `NotWritten`."""
    wanted = SUFFIXES.get(Path(output).suffix.lower()) if form is None else form
    found = next((each for each in SUFFIXES.values() if each == wanted), None)
    if found is None:
        endings, formats = ", ".join(SUFFIXES), " or ".join(SUFFIXES.values())
        raise NotWritten(f"{output} does not say its format: let it end with {endings}, or give --format {formats}.")
    return Target(output, found, force)


def encoded(lines: Iterable[bytes], form: Format) -> Iterator[bytes]:
    """Yield records as a file of frames or lines has them."""
    return (frame("MWJ1", line) if form == "mwj1" else line + b"\n" for line in lines)


def convert(walk: Walk, target: Target, *, until: int | None) -> Copy | None:
    """Write the records of a history, up to one of them, where it is sound that far and a batch ends there.

    The file takes its name when it is whole and synced; one that is there is replaced only if that is forced. Returns
    None where the history has a fault, is empty or ends before: then nothing is written. Raises `NotWritten`.
    """
    with _replaced(target.file, force=target.is_forced) as (written, keep):
        _WRITERS[target.form](written, _taken(walk, until))
        if walk.fault is not None or walk.record is None or (until is not None and walk.sequence < until):
            return None
        if walk.whole is not walk.record:
            raise NotWritten(f"Nothing is written: no batch ends with record {walk.sequence:,}.")
        keep()
        return Copy(target.file, target.form, walk.record)


def copied(source: str, output: str) -> None:
    """Write a history in the format that the name of the output says. Raises `NotWritten`, `HistoryRefused`."""
    with opened(source) as history:
        if convert(Walk(history), target_of(output, None, force=False), until=None) is None:
            raise NotWritten(f"{source} is not sound, or empty: nothing is written.")


def _taken(walk: Walk, until: int | None) -> Iterator[tuple[Record, bytes]]:
    for record in walk.steps():
        assert walk.stored is not None
        yield record, walk.stored.content
        if record.sequence == until:
            return


def _write_lines(path: Path, records: Written) -> None:
    _write_bytes(path, encoded((line for _, line in records), "jsonl"))


def _write_frames(path: Path, records: Written) -> None:
    _write_bytes(path, encoded((line for _, line in records), "mwj1"))


def _write_bytes(path: Path, pieces: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())


def _write_rows(path: Path, records: Written) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.executescript(SCHEMA)
        base.execute("BEGIN")
        base.executemany(
            "INSERT INTO records (run_id, sequence, event_id, body) VALUES (?, ?, ?, ?)",
            ((record.run_id, record.sequence, record.event_id, line.decode()) for record, line in records),
        )
        base.execute("COMMIT")


_WRITERS: Final[Mapping[Format, Callable[[Path, Written], None]]] = {
    "jsonl": _write_lines,
    "mwj1": _write_frames,
    "sqlite": _write_rows,
}


@contextmanager
def _replaced(output: str, *, force: bool) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Give a path to write to, and what gives the file its name; whatever goes wrong, nothing else is left."""
    target = Path(output)

    def keep() -> None:
        if force:
            written.replace(target)
        else:
            _named(written, target)
        with suppress(OSError):  # Some systems cannot sync folders; the file itself is synced.
            sync(target.parent)

    try:
        if target.is_dir() or (os.path.lexists(target) and not force):
            raise NotWritten(_is_there(target))
        for beside in _BESIDE:
            if os.path.lexists(f"{target}{beside}"):
                raise NotWritten(
                    f"{target}{beside} is there: a database is open, or was not closed; name another file."
                )
        with tempfile.TemporaryDirectory(prefix=".perdure-", suffix=".tmp", dir=target.parent) as folder:
            written = Path(folder, "written")
            yield written, keep
    except (OSError, ValueError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise NotWritten(f"{output} cannot be written: {reason}. Name another file.") from error


def _named(written: Path, target: Path) -> None:
    """Give a file its name, unless that is taken. Raises `NotWritten`."""
    try:
        target.hardlink_to(written)
    except FileExistsError as error:
        raise NotWritten(_is_there(target)) from error
    except OSError:  # No hard links here: between this look and the renaming, another program could take the name.
        if os.path.lexists(target):
            raise NotWritten(_is_there(target)) from None
        written.replace(target)


def _is_there(target: Path) -> str:
    told = "is a folder: name a file" if target.is_dir() else "is there already: name another file, or give --force"
    return f"{target} {told}."


@dataclass(frozen=True, slots=True)
class Copy:
    """A file that was written."""

    file: str
    form: Format
    head: Record
    """The last record in it."""


def in_words(copy: Copy) -> list[str]:
    """Return what was written, as lines."""
    return [
        f"WRITTEN  {copy.head.sequence:,} records to {copy.file} ({FORMAT_NAMES[copy.form]})",
        f"head     {copy.head.sequence}:{copy.head.checksum}",
    ]


def document(copy: Copy) -> dict[str, object]:
    """Return what was written as JSON."""
    return {
        "file": name_of(copy.file),
        "format": copy.form,
        "records": copy.head.sequence,
        "head": {"sequence": copy.head.sequence, "checksum": copy.head.checksum},
    }
