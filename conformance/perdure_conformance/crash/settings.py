"""SQLite's settings as journals, whose verdicts are known: the engine is tried on them.

Source: "Calibration, in CI" of the crash design; https://www.sqlite.org/pragma.html#pragma_synchronous.
"""

from __future__ import annotations

from typing import ClassVar

from perdure.journal.sqlite import SqliteJournal


class _WithSettings(SqliteJournal):
    mode: ClassVar[str]
    synchronous: ClassVar[str]

    def _prepare(self) -> None:
        super()._prepare()
        self._database.execute(f"PRAGMA synchronous = {self.synchronous}")

    def _switch_to_wal(self) -> None:
        self._database.execute(f"PRAGMA journal_mode = {self.mode}")


class WalFull(_WithSettings):
    """Syncs the log at each commit."""

    mode, synchronous = "WAL", "FULL"


class WalNormal(_WithSettings):
    """Syncs the log before a checkpoint alone."""

    mode, synchronous = "WAL", "NORMAL"


class DeleteExtra(_WithSettings):
    """Syncs the directory once the journal of a commit is deleted."""

    mode, synchronous = "DELETE", "EXTRA"


class DeleteFull(_WithSettings):
    """Deletes the journal of a commit, and leaves the directory to the system."""

    mode, synchronous = "DELETE", "FULL"


class DeleteOff(_WithSettings):
    """Syncs nothing."""

    mode, synchronous = "DELETE", "OFF"
