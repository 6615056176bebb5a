"""The journal on SQLite: how load and verification grow with a run, in time and memory, and what an append costs.

`python -m perdure_conformance.bench.journals load|verify FILE` does one of the two alone, and prints the most
memory that it took.
"""

from __future__ import annotations

import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from perdure.journal.contract import Acknowledged, Envelope, Page
from perdure.journal.sqlite import SCHEMA, SqliteJournal
from perdure.kernel.events import EventV5
from perdure.kernel.identity import EventId, RunId
from perdure.kernel.records import Place, sealed
from perdure_conformance.bench.growth import Growth, seconds_of
from perdure_conformance.bench.runs import RUN_ID, clock, turns
from perdure_conformance.histories.files import opened
from perdure_conformance.histories.verification import verify

SIZES: Final = (1_000, 10_000, 100_000)
ROUNDS: Final = 3
BATCHES: Final = (1, 10, 100)
"""So many records an append."""
APPENDS: Final = 200
"""So many appends a round, each in a transaction of its own."""
APPEND_ROUNDS: Final = 9

_AT_ONCE: Final = 500
_PAGE: Final = 1_000
_NAME: Final = "run"
_CLOCK: Final = "clock"
_BODY_BYTES: Final = 400
"""Of a record whose append is measured; a record of a run has about as many."""


@contextmanager
def stored(sizes: Sequence[int]) -> Iterator[Mapping[int, Path]]:
    """Append runs of about so many records to journals, each in a database of its own.

    The state of such a run grows with its attempts. Beside it is one of as many records, whose state does not grow.
    """
    with TemporaryDirectory(prefix="perdure-bench-") as folder:
        paths = {size: Path(folder, str(size), f"{_NAME}.sqlite3") for size in sizes}
        for size, path in paths.items():
            path.parent.mkdir()
            _store(path, turns(size).batches())
            _store(_beside(path), clock(size))
        yield paths


def _beside(path: Path) -> Path:
    """Return where the run is whose state does not grow."""
    return path.with_stem(_CLOCK)


def _store(path: Path, batches: Iterable[tuple[EventV5, ...]]) -> None:
    with closing(SqliteJournal(path.parent, path.stem)) as journal:
        waiting: list[Envelope] = []
        sequence = 1
        for batch in batches:
            ids = [EventId(f"00000000-0000-7000-9000-{sequence + number:012x}") for number in range(len(batch))]
            lines = sealed(Place(RUN_ID, sequence), batch, ids)
            waiting += map(Envelope, count(sequence), ids, (line.decode() for line in lines))
            sequence += len(batch)
            if len(waiting) >= _AT_ONCE:
                _append(journal, waiting)
                waiting = []
        if waiting:
            _append(journal, waiting)


def _append(journal: SqliteJournal, records: Sequence[Envelope]) -> None:
    answer = journal.append(RUN_ID, records[0].sequence, records)
    assert isinstance(answer, Acknowledged), answer


def load(path: Path) -> int:
    """Load a run page by page, and return how many records it has."""
    with closing(SqliteJournal(path.parent, path.stem)) as journal:
        loaded = 0
        while True:
            page = journal.load(RUN_ID, loaded + 1, _PAGE)
            assert isinstance(page, Page), page
            loaded += len(page.records)
            if page.end:
                return loaded


def verified(path: Path) -> int:
    """Verify a run, and return how many records it has."""
    with opened(str(path)) as history:
        found = verify(history, None)
    assert found.verdict == "sound", found.fault
    return found.records


STEPS: Final[Mapping[str, Callable[[Path], int]]] = {"load": load, "verify": verified}
SAME_STATE: Final = "verify, same state"
"""Verification of a run whose state does not grow."""


def growth(paths: Mapping[int, Path]) -> list[Growth]:
    """Measure each step at each size, all sizes in turn."""
    fastest = {name: dict.fromkeys(paths, float("inf")) for name in STEPS}
    for _ in range(ROUNDS):
        for size, path in paths.items():
            for name, step in STEPS.items():
                fastest[name][size] = min(fastest[name][size], seconds_of(step, path, 1))
    return [Growth(name, seconds) for name, seconds in fastest.items()]


def peaks(paths: Mapping[int, Path]) -> dict[str, dict[int, int]]:
    """Return the most memory that each step took at each size, in bytes, in a process of its own."""
    measured = {name: {size: _peak(name, path) for size, path in paths.items()} for name in STEPS}
    return measured | {SAME_STATE: {size: _peak("verify", _beside(path)) for size, path in paths.items()}}


def _peak(step: str, path: Path) -> int:
    words = (sys.executable, "-m", "perdure_conformance.bench.journals", step, str(path))
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - this very module
    return int(done.stdout)


def _peak_of_this_process() -> int:
    """Return the most memory that this process had, in bytes. What its parent had counts where Linux does not tell."""
    with suppress(OSError):
        found = re.search(r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text("ascii"), re.MULTILINE)
        if found is not None:
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class Appender(Protocol):
    """What appends are measured on."""

    def append(self, run_id: RunId, expected_next: int, records: Sequence[Envelope]) -> object:
        """Store records if the run's next sequence is the expected one."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...


class ByHand:
    """A compare-and-append as one would write it by hand: the same tables and pragmas, one transaction, no checks."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        self._base = sqlite3.connect(state_dir / f"{namespace}.sqlite3", isolation_level=None)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = EXTRA")
        self._base.executescript(SCHEMA)

    def append(self, run_id: RunId, expected_next: int, records: Sequence[Envelope]) -> object:
        """Store records if the run's next sequence is the expected one."""
        self._base.execute("BEGIN IMMEDIATE")
        (last,) = self._base.execute("SELECT max(sequence) FROM records WHERE run_id = ?", (run_id,)).fetchone()
        assert (last or 0) + 1 == expected_next
        self._base.executemany(
            "INSERT INTO records (run_id, sequence, event_id, body) VALUES (?, ?, ?, ?)",
            [(run_id, record.sequence, record.event_id, record.body) for record in records],
        )
        return self._base.execute("COMMIT")

    def close(self) -> None:
        """Let go of the database."""
        self._base.close()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What appends of so many records cost on the journal, and by hand: the median of the rounds."""

    batch: int
    journal_s: float
    """One append, in seconds."""
    by_hand_s: float
    ratio: float
    """The throughput of the journal, where that by hand is 1: the median of the ratios of the rounds."""


def comparisons() -> list[Comparison]:
    """Append to the journal and by hand, in turns, at each size of batch."""
    return [_compared(batch) for batch in BATCHES]


def _compared(batch: int) -> Comparison:
    seconds: dict[str, list[float]] = {"journal": [], "by hand": []}
    with TemporaryDirectory(prefix="perdure-bench-") as folder:
        appenders: dict[str, Appender] = {
            "journal": SqliteJournal(Path(folder), "journal"),
            "by hand": ByHand(Path(folder), "by-hand"),
        }
        for number in range(APPEND_ROUNDS + 1):
            for name in sorted(appenders, reverse=bool(number % 2)):
                taken = _appended(appenders[name], batch, first=1 + number * APPENDS * batch)
                seconds[name] += [taken] if number else []  # The first round is there to warm up.
        for appender in appenders.values():
            appender.close()
    ratios = [mine / journal for journal, mine in zip(seconds["journal"], seconds["by hand"], strict=True)]
    return Comparison(
        batch, statistics.median(seconds["journal"]), statistics.median(seconds["by hand"]), statistics.median(ratios)
    )


def _appended(appender: Appender, batch: int, first: int) -> float:
    """Append, and return the seconds of one append; what is appended is made before."""
    batches = [
        [_record(sequence) for sequence in range(start, start + batch)]
        for start in range(first, first + APPENDS * batch, batch)
    ]
    began = time.perf_counter()
    for records in batches:
        appender.append(RUN_ID, records[0].sequence, records)
    return (time.perf_counter() - began) / len(batches)


def _record(sequence: int) -> Envelope:
    return Envelope(sequence, EventId(f"00000000-0000-7000-9000-{sequence:012x}"), "x" * _BODY_BYTES)


if __name__ == "__main__":
    STEPS[sys.argv[1]](Path(sys.argv[2]))
    sys.stdout.write(f"{_peak_of_this_process()}\n")
