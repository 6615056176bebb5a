"""The journal on SQLite: a row a record, in one file that several handles and processes may share.

WAL with `synchronous=EXTRA`: a commit returns once the log is on disk, so what is acknowledged is durable. A
compare-and-append is one `INSERT … SELECT … WHERE`: comparing and storing cannot come apart. Only a batch too long
for one statement takes several, inside one transaction.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from perdure.journal.contract import (
    BUILT_IN_LIMITS,
    AcquireAnswer,
    AppendAnswer,
    Capabilities,
    Corrupt,
    Description,
    Done,
    Envelope,
    Granted,
    JournalOpenError,
    LoadAnswer,
    LoadSnapshotAnswer,
    NoSnapshot,
    NotStored,
    Page,
    ReleaseAnswer,
    RenewAnswer,
    Renewed,
    SaveSnapshotAnswer,
    Snapshot,
    TooLarge,
    Unavailable,
    acknowledge,
    invalid_or_too_large,
    utf8_bytes,
)
from perdure.journal.reference import Lease, RunView, decide_acquire, decide_append, decide_release, decide_renew
from perdure.kernel.identity import EventId, OwnerId, RunId

FORMAT_VERSION: Final = 1
"""Kept as `user_version` of the database."""

SCHEMA: Final = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS records (
    run_id TEXT NOT NULL, sequence INTEGER NOT NULL, event_id TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (run_id, sequence), UNIQUE (run_id, event_id)
);
CREATE TABLE IF NOT EXISTS snapshots (run_id TEXT PRIMARY KEY, sequence INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS leases (run_id TEXT PRIMARY KEY, epoch INTEGER NOT NULL, until_ms INTEGER NOT NULL);
PRAGMA user_version = {FORMAT_VERSION};
COMMIT;
"""
"""What makes an empty database a journal's: its tables and its version, at once."""

_ROWS_PER_STATEMENT = 1_000  # Three parameters a row: well below SQLite's limit of 32,766 parameters.

_NOTHING_STORED = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_TOOBIG}
)

Answer = TypeVar("Answer")


class SqliteJournal:
    """One handle on the database `NAMESPACE.sqlite3` in `state_dir`."""

    def __init__(self, state_dir: Path, namespace: str, *, busy_timeout_ms: int = 5_000) -> None:
        self._path = state_dir / f"{namespace}.sqlite3"
        self._lock = threading.Lock()
        try:
            self._database = sqlite3.connect(
                self._path, timeout=busy_timeout_ms / 1_000, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._database.close()
                raise
        except sqlite3.Error as error:
            raise JournalOpenError(f"{self._path} cannot be opened as a journal: {error}") from error

    @property
    def description(self) -> Description:
        """What is claimed: everything, up to power loss on a disk that keeps what it has synced."""
        return Description(
            name="sqlite",
            version=f"{FORMAT_VERSION} (SQLite {sqlite3.sqlite_version})",
            capabilities=Capabilities(
                exact_replay=True,
                event_id_dedup=True,
                atomic_batch=True,
                multi_handle=True,
                multi_process=True,
                durable="posix-weak",
                snapshots=True,
                leases=True,
                fencing=True,
                read="linearizable",
            ),
            limits=BUILT_IN_LIMITS,
        )

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Answer as `Journal.append` says."""
        refusal = invalid_or_too_large(expected_next, records, BUILT_IN_LIMITS)
        if refusal is not None:
            return refusal
        return self._guarded(lambda: self._append(run_id, expected_next, records, epoch))

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Answer as `Journal.load` says."""
        rows = self._guarded(
            lambda: self._database.execute(
                "SELECT sequence, event_id, body FROM records"
                " WHERE run_id = ? AND sequence >= ? ORDER BY sequence LIMIT ?",
                (run_id, from_sequence, limit + 1),
            ).fetchall()
        )
        if isinstance(rows, Unavailable | NotStored):
            return Unavailable(detail=rows.detail)
        records = tuple(Envelope(sequence, EventId(event_id), body) for sequence, event_id, body in rows)
        for expected, record in enumerate(records, from_sequence):
            if record.sequence != expected:
                return Corrupt(sequence=expected, detail="the record is missing, and later ones exist")
        return Page(records[:limit], end=len(records) <= limit)

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Answer as `SnapshotStore.save_snapshot` says."""
        if utf8_bytes(body) > BUILT_IN_LIMITS.max_snapshot_bytes:
            return TooLarge(detail=f"at most {BUILT_IN_LIMITS.max_snapshot_bytes} bytes fit")

        def save() -> Done:
            self._database.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (run_id, sequence, body))
            return Done()

        return self._guarded(save)

    def load_snapshot(self, run_id: RunId) -> LoadSnapshotAnswer:
        """Answer as `SnapshotStore.load_snapshot` says."""
        row = self._guarded(
            lambda: self._database.execute(
                "SELECT sequence, body FROM snapshots WHERE run_id = ?", (run_id,)
            ).fetchone()
        )
        if isinstance(row, Unavailable | NotStored):
            return Unavailable(detail=row.detail)
        return NoSnapshot() if row is None else Snapshot(*row)

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:  # noqa: ARG002
        """Answer as `LeaseStore.acquire` says. The owner decides nothing: the epoch is the identity."""

        def acquire() -> AcquireAnswer:
            answer = decide_acquire(self._lease(run_id), ttl_ms, now_ms)
            if isinstance(answer, Granted):
                self._put_lease(run_id, Lease(answer.epoch, answer.until_ms))
            return answer

        return self._guarded(acquire, in_transaction=True)

    def renew(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int) -> RenewAnswer:
        """Answer as `LeaseStore.renew` says."""

        def renew() -> RenewAnswer:
            answer = decide_renew(self._lease(run_id), epoch, ttl_ms, now_ms)
            if isinstance(answer, Renewed):
                self._put_lease(run_id, Lease(epoch, answer.until_ms))
            return answer

        return self._guarded(renew, in_transaction=True)

    def release(self, run_id: RunId, epoch: int) -> ReleaseAnswer:
        """Answer as `LeaseStore.release` says."""

        def release() -> ReleaseAnswer:
            answer = decide_release(self._lease(run_id), epoch)
            if isinstance(answer, Done):
                self._put_lease(run_id, Lease(epoch))
            return answer

        return self._guarded(release, in_transaction=True)

    def close(self) -> None:
        """Close the handle; the database stays."""
        with self._lock:
            self._database.close()

    def _prepare(self) -> None:
        # Tables and version are committed at once: in this order, a racing creation never looks like another program's.
        (tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if tables and version == 0:
            raise JournalOpenError(f"{self._path} is another program's database; use another place or namespace")
        if version not in {0, FORMAT_VERSION}:
            raise JournalOpenError(
                f"{self._path} has format {version}, this release reads {FORMAT_VERSION}; use a newer release"
            )
        self._switch_to_wal()
        # In WAL this is FULL; and if the switch failed, a commit is there only once its journal is surely deleted.
        self._database.execute("PRAGMA synchronous = EXTRA")
        if version == 0:
            self._database.executescript(SCHEMA)

    def _switch_to_wal(self) -> None:
        try:
            self._database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:  # Another handle switches just now, and SQLite does not wait for that:
            with self._transaction():  # wait for its lock; whoever has it then finds the switch made.
                pass
            self._database.execute("PRAGMA journal_mode = WAL")

    def _append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None
    ) -> AppendAnswer:
        try:
            stored = self._insert(run_id, expected_next, records, epoch or 0)
        except sqlite3.IntegrityError:  # An event id stands in the run already, or a racing writer took the sequence.
            stored = False
        if stored:
            return acknowledge(records)
        with self._transaction():
            answer = decide_append(self._view(run_id, records), expected_next, records, epoch)
        # None: `expected_next` was ahead of the run, and a racing writer has brought the run there since. The second
        # try gets an answer, for the run only grows.
        return answer or self._append(run_id, expected_next, records, epoch)

    def _insert(self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int) -> bool:
        if len(records) <= _ROWS_PER_STATEMENT:
            return self._insert_in_one_statement(run_id, expected_next, records, epoch)
        with self._transaction():
            return all(
                self._insert_in_one_statement(run_id, chunk[0].sequence, chunk, epoch) for chunk in _chunks(records)
            )

    def _insert_in_one_statement(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int
    ) -> bool:
        """Store the records iff the run's next sequence is the expected one and no higher epoch was granted."""
        values = ", ".join(["(?, ?, ?)"] * len(records))
        cursor = self._database.execute(
            "INSERT INTO records (run_id, sequence, event_id, body)"  # noqa: S608 - only question marks are put in
            f" SELECT ?, column1, column2, column3 FROM (VALUES {values})"
            " WHERE ? = (SELECT coalesce(max(sequence), 0) + 1 FROM records WHERE run_id = ?)"
            " AND ? >= coalesce((SELECT epoch FROM leases WHERE run_id = ?), 0)",
            [
                run_id,
                *(field for record in records for field in (record.sequence, record.event_id, record.body)),
                *(expected_next, run_id),
                *(epoch, run_id),
            ],
        )
        return cursor.rowcount == len(records)

    def _view(self, run_id: RunId, records: Sequence[Envelope]) -> RunView:
        (next_sequence,) = self._database.execute(
            "SELECT coalesce(max(sequence), 0) + 1 FROM records WHERE run_id = ?", (run_id,)
        ).fetchone()
        stored = {}
        for record in records:
            row = self._database.execute(
                "SELECT sequence, event_id, body FROM records WHERE run_id = ? AND event_id = ?",
                (run_id, record.event_id),
            ).fetchone()
            if row is not None:
                stored[record.event_id] = Envelope(*row)
        return RunView(next_sequence, self._lease(run_id).epoch, stored)

    def _lease(self, run_id: RunId) -> Lease:
        row = self._database.execute("SELECT epoch, until_ms FROM leases WHERE run_id = ?", (run_id,)).fetchone()
        return Lease() if row is None else Lease(*row)

    def _put_lease(self, run_id: RunId, lease: Lease) -> None:
        self._database.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", (run_id, lease.epoch, lease.until_ms))

    def _guarded(
        self, operation: Callable[[], Answer], *, in_transaction: bool = False
    ) -> Answer | NotStored | Unavailable:
        """Run one operation alone on this handle; a failure of SQLite becomes an answer."""
        try:
            with self._lock:
                if not in_transaction:
                    return operation()
                with self._transaction():
                    return operation()
        except UnicodeEncodeError as error:  # A lone surrogate, refused before SQLite sees the statement.
            return NotStored(detail=str(error))
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) in _NOTHING_STORED:
                return NotStored(detail=str(error))
            return Unavailable(detail=str(error))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise


def _chunks(records: Sequence[Envelope]) -> Iterator[list[Envelope]]:
    remaining = iter(records)
    while chunk := list(islice(remaining, _ROWS_PER_STATEMENT)):
        yield chunk
