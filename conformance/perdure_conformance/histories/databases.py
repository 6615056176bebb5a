"""The database of a journal, read strictly: opened for reading alone, in one transaction, row by row.

Nothing is created or changed beside the database. Where its writer left a log, SQLite has to read that too. If the
index of the log is there, somebody may be writing: SQLite then registers a reader in that index, as it does for every
reader. If it is not, nobody has the database open, and a copy is read. Without a log, the file alone is read.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import quote_from_bytes

from perdure.journal.sqlite import FORMAT_VERSION, SCHEMA
from perdure.kernel.limits import MAX_LARGE_RECORD_BYTES
from perdure_conformance.histories.stored import Damage, HistoryRefused, Place, Row, Stored
from perdure_conformance.histories.words import one_line

MAGIC: Final = b"SQLite format 3\0"

_SHOWN_RUNS: Final = 10
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_LOG_HEADER_BYTES: Final = 32
_ROOM_BYTES: Final = 2**16
"""What a row has beside its record, at most."""


@contextmanager
def rows(name: str, run_id: str | None) -> Iterator[Iterator[Stored]]:
    """Open a database, and give the records of one run: the one that is named, or else the only one.

    Raises `HistoryRefused`, and the rows raise it too, and `Damage`.
    """
    with _readable(name) as uri, _refusals(name), closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as base:
        base.text_factory = bytes
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LARGE_RECORD_BYTES + _ROOM_BYTES)
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("BEGIN")
        yield _rows(name, base, run_id)


def runs_in(name: str) -> list[str]:
    """Return the runs that a database has. Raises `HistoryRefused`, `Damage`."""
    with _readable(name) as uri, _refusals(name), closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as base:
        base.text_factory = bytes
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("BEGIN")
        if not _is_of_a_journal(name, base):
            return []
        _require_sound_pages(base)
        found = base.execute("SELECT DISTINCT run_id FROM records ORDER BY run_id")
        return [run.decode("utf-8", "surrogateescape") for (run,) in found]


def _rows(name: str, base: sqlite3.Connection, run_id: str | None) -> Iterator[Stored]:
    with _refusals(name):
        if not _is_of_a_journal(name, base):
            return
        _require_sound_pages(base)
        chosen = _chosen(name, base, run_id)
        for number, (types, sequence, event_id, body) in enumerate(base.execute(_RECORDS, (chosen,)), start=1):
            if types != b"integer text text":
                raise Damage("damaged_database", f"row {number:,} has the types {types.decode()}, and not its table's")
            row = Row(chosen.decode("utf-8", "replace"), sequence, event_id.decode("utf-8", "replace"))
            yield Stored(Place("row", number), body, row=row)


_RECORDS: Final = (
    "SELECT typeof(sequence) || ' ' || typeof(event_id) || ' ' || typeof(body), sequence, event_id, body"
    " FROM records WHERE run_id = CAST(? AS TEXT) ORDER BY sequence"
)


@contextmanager
def _refusals(name: str) -> Iterator[None]:
    """Tell a damaged database from one that cannot be read."""
    try:
        yield
    except sqlite3.DataError as error:
        told = f"a row has more than {MAX_LARGE_RECORD_BYTES:,} bytes, and no record has"
        raise Damage("over_limit", told) from error
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
            raise Damage("damaged_database", f"SQLite cannot read the file: {error}") from error
        raise HistoryRefused(f"{name} cannot be read as a database: {error}. Try again, or read a copy.") from error


def _is_of_a_journal(name: str, base: sqlite3.Connection) -> bool:
    """Tell whether a database has the tables of a journal; False if it has none at all. Raises `HistoryRefused`."""
    (version,) = base.execute("PRAGMA user_version").fetchone()
    tables = list(islice(base.execute(_TABLES), len(_tables_of_a_journal()) + 1))
    if not tables and version == 0:
        return False
    if version > FORMAT_VERSION and {b"records"} & {table for _, table, _ in tables}:
        told = f"{name} has format {version}, and this release reads {FORMAT_VERSION}: use a newer release."
        raise HistoryRefused(told)
    if tables != _tables_of_a_journal() or version != FORMAT_VERSION:
        raise HistoryRefused(f"{name} is another program's database: it does not have the tables of a journal.")
    return True


_TABLES: Final = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"


@cache
def _tables_of_a_journal() -> list[tuple[bytes, bytes, bytes | None]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as base:
        base.text_factory = bytes
        base.executescript(SCHEMA)
        return base.execute(_TABLES).fetchall()


def _require_sound_pages(base: sqlite3.Connection) -> None:
    """Raise `Damage` unless every page is sound and every index has what its table has: no row may hide."""
    (told,) = base.execute("PRAGMA integrity_check(1)").fetchone()
    if told != b"ok":
        raise Damage("damaged_database", f"SQLite finds damage: {one_line(told.decode('utf-8', 'replace'), 200)}")
    if base.execute("SELECT 1 FROM records WHERE typeof(run_id) <> 'text' LIMIT 1").fetchone():
        raise Damage("damaged_database", "a row has a run_id that is no text")


def _chosen(name: str, base: sqlite3.Connection, run_id: str | None) -> bytes:
    """Return the run that is asked for. Raises `HistoryRefused` if there is none, or more than one to choose from."""
    found = [run for (run,) in islice(base.execute("SELECT DISTINCT run_id FROM records"), _SHOWN_RUNS + 1)]
    if run_id is not None:
        chosen = run_id.encode("utf-8", "surrogateescape")
        if base.execute("SELECT 1 FROM records WHERE run_id = CAST(? AS TEXT)", (chosen,)).fetchone():
            return chosen
        raise HistoryRefused(f"{name} has no run {one_line(run_id, 60)}{_listed(found)}.")
    if len(found) > 1:
        raise HistoryRefused(f"{name} has several runs: name one with --run{_listed(found)}.")
    return found[0] if found else b""


def _listed(found: list[bytes]) -> str:
    shown = [one_line(run.decode("utf-8", "replace"), 60) for run in found[:_SHOWN_RUNS]]
    more = ", and others" if len(found) > _SHOWN_RUNS else ""
    return f"; it has {', '.join(shown)}{more}" if shown else "; it has none"


@contextmanager
def _readable(name: str) -> Iterator[str]:
    """Give the address under which a database can be read without a change to anything. Raises `HistoryRefused`."""
    path = os.path.abspath(os.fsencode(name))  # noqa: PTH100 - names may be no UTF-8
    if _size(path + b"-journal"):
        told = "a rollback journal lies beside it, so that it is another program's, or was not closed"
        raise HistoryRefused(f"{name} cannot be read: {told}.")
    before = _stamp(path)
    if _size(path + b"-wal") <= _LOG_HEADER_BYTES and not _exists(path + b"-shm"):
        yield _address(path, "immutable=1")
    elif _exists(path + b"-wal") and _exists(path + b"-shm"):
        yield _address(path, "mode=ro")
        return
    else:
        with tempfile.TemporaryDirectory(prefix="perdure-") as folder:
            copy = Path(folder, "copy.sqlite3")
            shutil.copyfile(path, copy)
            if _exists(path + b"-wal"):
                shutil.copyfile(path + b"-wal", f"{copy}-wal")
            yield _address(os.fsencode(copy), "mode=ro")
    if _stamp(path) != before:
        raise HistoryRefused(f"{name} was changed while it was read: try again.")


def _address(path: bytes, how: str) -> str:
    return f"file:{quote_from_bytes(path)}?{how}"


def _stamp(path: bytes) -> tuple[tuple[int, int], ...]:
    """Return what changes with the database or its log: times and sizes."""
    found = (os.stat(each) if _exists(each) else None for each in (path, path + b"-wal"))  # noqa: PTH116
    return tuple((0, 0) if each is None else (each.st_mtime_ns, each.st_size) for each in found)


def _exists(path: bytes) -> bool:
    return os.path.exists(path)  # noqa: PTH110


def _size(path: bytes) -> int:
    return os.path.getsize(path) if _exists(path) else 0  # noqa: PTH202
