"""Histories on which the tool's verifier and converter are tried: one for each kind of record, and one with numbers."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from perdure.journal.frames import frame
from perdure.journal.sqlite import SCHEMA
from perdure.kernel.errors import HistoryError
from perdure.kernel.events import EVENTS, RUNTIME_VERSION
from perdure.kernel.values import canonical_json
from perdure_conformance.histories.conversion import encoded
from perdure_conformance.histories.sealing import stored
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.histories import (
    RUN,
    created,
    document,
    ended,
    history,
    node,
    ready,
    run_id,
    run_is,
    started,
)
from perdure_conformance.reducer.scenarios import all_scenarios
from perdure_conformance.reducer.scenarios.scenario import Accepted

Lines = Sequence[bytes]
SUFFIXES: Final = (".jsonl", ".mwj1", ".sqlite3")
"""How the files of the formats are called that `write` writes."""

OTHER_RUN: Final = run_id(2)

_TIMES: Final = {"at_s": 1732944000.1234567, "took_s": 1e-7, "least": 5e-324, "most": 1.7976931348623157e308}
"""Numbers whose digits a store that keeps microseconds would lose."""


@lru_cache(maxsize=1)
def of_every_kind() -> tuple[Lines, ...]:
    """Return histories in which every type of event of version 1 and of the newest stands, and most of the others."""
    missing = {(version, kind.__name__) for version, kinds in EVENTS.items() for kind in kinds}
    found = []
    for entries in _accepted():
        for version in (None, *EVENTS):
            wanted = {(entry.version if version is None else version, str(entry.event["type"])) for entry in entries}
            if missing & wanted:
                try:
                    found.append(stored(entries, version))
                except HistoryError:  # What this version does not know, knew otherwise, or owes more after.
                    continue
                missing -= wanted
    assert all(version not in {1, RUNTIME_VERSION} for version, _ in missing), missing
    return tuple(found)


def _accepted() -> Iterator[Sequence[Entry]]:
    """Yield the whole histories of the scenarios, by hand each of them."""
    for scenario in all_scenarios():
        for side in scenario.sides:
            if isinstance(side.expected, Accepted) and side.expected.whole and not scenario.is_heavy:
                yield side.question.history


@lru_cache(maxsize=1)
def with_precise_numbers() -> Lines:
    """Return a history of eight records, with numbers in an output that have every digit of a double."""
    graph = document([node("A", outputs=list(_TIMES)), node("B", "A")])
    past = history(
        created(graph), ready("A"), started("A", 1), ended("A", 1, output=_TIMES), ready("B", "dependencies")
    )
    past = past.plus(started("B", 2), ended("B", 2), run_is("completed"))
    return stored(past.entries)


def write(path: Path, lines: Lines, cut: int = 0) -> str:
    """Write a history in the format that the path says, sound or not, without so many bytes of its last record.

    A row of a database says of its record what the record says; of what is none, that it is the next.
    """
    if path.suffix == ".sqlite3":
        _write_rows(path, [*lines[:-1], lines[-1][: len(lines[-1]) - cut]] if lines else [])
    else:
        content = b"".join(encoded(lines, "mwj1" if path.suffix == ".mwj1" else "jsonl"))
        path.write_bytes(content[: len(content) - cut])
    return str(path)


def _write_rows(path: Path, lines: Lines) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.executescript(SCHEMA)
        sequence = 0
        for line in lines:
            said = _SEQUENCE.search(line)
            sequence = sequence + 1 if said is None else int(said[1])
            event_id = _EVENT_ID.search(line)
            row = (RUN, sequence, f"row {sequence}" if event_id is None else event_id[1].decode(), line.decode())
            base.execute("INSERT INTO records VALUES (?, ?, ?, ?)", row)


_SEQUENCE: Final = re.compile(rb'"sequence":([0-9]+)}$')
_EVENT_ID: Final = re.compile(rb'"event_id":"([^"]+)"')


def write_snapshot(path: Path, snapshot: Mapping[str, Any]) -> str:
    """Write a snapshot, in MWS1."""
    path.write_bytes(frame("MWS1", canonical_json(snapshot)))
    return str(path)
