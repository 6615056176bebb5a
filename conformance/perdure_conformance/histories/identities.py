"""The identities of the events of a history, in memory of one size however long it is."""

from __future__ import annotations

import sqlite3
from types import TracebackType
from typing import Final, Self

from perdure.kernel.identity import EventId
from perdure_conformance.histories.stored import HistoryRefused

MAX_IN_MEMORY: Final = 10_000
"""So many are kept in memory; once there are more, all go to a temporary database, which is gone when it is closed."""


class Identities:
    """A set of event ids to be used in a `with` statement. Adding and asking raise `HistoryRefused` on a full disk."""

    def __init__(self, max_in_memory: int = MAX_IN_MEMORY) -> None:
        self._in_memory = set[EventId]()
        self._max_in_memory = max_in_memory
        self._on_disk: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        """Return the set."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the temporary database, if there is one."""
        if self._on_disk is not None:
            self._on_disk.close()

    def __contains__(self, event_id: EventId) -> bool:
        """Tell whether an event id was added."""
        if event_id in self._in_memory:
            return True
        if self._on_disk is None:
            return False
        found = self._on_disk.execute("SELECT 1 FROM identities WHERE event_id = ?", (event_id,))
        return found.fetchone() is not None

    def add(self, event_id: EventId) -> None:
        """Add an event id."""
        self._in_memory.add(event_id)
        if len(self._in_memory) > self._max_in_memory:
            self._spill()

    def _spill(self) -> None:
        """Move what is in memory to the disk."""
        try:
            if self._on_disk is None:
                self._on_disk = sqlite3.connect("", isolation_level=None)
                self._on_disk.execute("CREATE TABLE identities (event_id TEXT PRIMARY KEY) WITHOUT ROWID")
                self._on_disk.execute("BEGIN")
            rows = ((event_id,) for event_id in sorted(self._in_memory))
            self._on_disk.executemany("INSERT OR IGNORE INTO identities VALUES (?)", rows)
        except sqlite3.Error as error:
            told = f"The identities of so many events cannot be kept in a temporary file: {error}. Free disk space, "
            raise HistoryRefused(told + "or set TMPDIR to a folder with more.") from error
        self._in_memory.clear()
