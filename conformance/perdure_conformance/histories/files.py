"""Histories as files: opened, known by how they begin and never by their names, and read record by record."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from perdure_conformance.histories import databases
from perdure_conformance.histories.framed import FORMATS, framed_records
from perdure_conformance.histories.lines import lines
from perdure_conformance.histories.stored import Damage, Format, History, HistoryRefused, Stored

STDIN: Final = "-"

_IN_BINARY: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_KNOWN_BY_BYTES: Final = 16


@contextmanager
def opened(name: str, run_id: str | None = None) -> Iterator[History]:
    """Open a history as `opened_file` does, and no snapshot."""
    with opened_file(name, run_id) as history:
        if history.format == "mws1":
            raise HistoryRefused(f"{name} is a snapshot, and has no records: name the history of the run.")
        yield history


@contextmanager
def opened_file(name: str, run_id: str | None = None) -> Iterator[History]:
    """Open a history or a snapshot, or standard input for `-`. A database has the run `run_id`, or one alone.

    Raises `HistoryRefused`, and the records raise it too, and `Damage` where the file is wrong around them.
    """
    with _opened(name) as file:
        beginning = _beginning(name, file)
        if beginning.startswith(databases.MAGIC):
            if name == STDIN or not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise HistoryRefused(f"{name} is a database, which cannot be read from a pipe: name its file.")
            with databases.rows(name, run_id) as records:
                yield History(name, "sqlite", records)
            return
        if run_id is not None:
            raise HistoryRefused(f"{name} is no database of a journal: --run chooses among the runs of one.")
        form: Format = FORMATS.get(beginning[:4], "jsonl")
        yield History(name, form, _guarded(name, form, file, beginning))


def _guarded(name: str, form: Format, file: BinaryIO, beginning: bytes) -> Iterator[Stored]:
    """Yield the records of a file; a failure to read is no damage."""
    try:
        if form != "jsonl":
            yield from framed_records(file, form)
        elif beginning[:1] in {b"", b"{", b"\n", b"\0"}:
            yield from lines(file)
        else:
            told = " ".join(f"{byte:02x}" for byte in beginning[:4])
            sentence = f"the file begins with {told}, as no format does: {_BEGINNINGS}"
            raise Damage("unknown_format", sentence, 0)
    except OSError as error:
        raise HistoryRefused(f"{name} cannot be read: {error.strerror}.") from error


_BEGINNINGS: Final = (
    "JSON lines begin with {, whole files with the letters MWJ1 or MWS1, a database with SQLite format 3"
)


def _beginning(name: str, file: io.BufferedReader) -> bytes:
    """Return how a file begins, and leave it unread. Raises `HistoryRefused`."""
    try:
        return file.peek(_KNOWN_BY_BYTES)[:_KNOWN_BY_BYTES]
    except OSError as error:
        raise HistoryRefused(f"{name} cannot be read: {error.strerror}.") from error


def _opened(name: str) -> io.BufferedReader:
    try:
        if name == STDIN:
            return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
        _refuse_what_is_no_history(name, os.stat(name).st_mode)  # noqa: PTH116 - names may be no UTF-8
        descriptor = os.open(name, os.O_RDONLY | _IN_BINARY)
        return os.fdopen(descriptor, "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise HistoryRefused(f"{name} cannot be read: {reason}. Check its name and its permissions.") from error


def _refuse_what_is_no_history(name: str, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise HistoryRefused(f"{name} is a folder: name one history, as in {name.rstrip('/')}/run.jsonl.")
    if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
        raise HistoryRefused(f"{name} is a device: name a file, or - for standard input.")
