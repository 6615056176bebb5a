"""Runs in files: what the two journals on files share. One file a run, one folder a namespace, one lock for all of it.

The lock of the operating system makes what is read, compared and written one step, for every handle of every process.

Who changes a file and syncs it notes its name in the lock file until that is done. Who finds a name there comes after a
writer that was killed or failed, and syncs that file before anybody reads it: nothing is served, and no replay is
acknowledged, that a power cut could still take away.

Source: `docs/spec/formats.md`.
"""

from __future__ import annotations

import errno
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Literal, Protocol

import msgspec

from perdure.journal.contract import (
    BUILT_IN_LIMITS,
    AppendAnswer,
    Corrupt,
    Envelope,
    InvalidRecord,
    JournalOpenError,
    LoadAnswer,
    NotStored,
    Unavailable,
    invalid_or_too_large,
)
from perdure.journal.frames import MAX_PAYLOAD_BYTES
from perdure.journal.records import Record
from perdure.journal.reference import RunView, decide_append, page
from perdure.kernel.identity import EventId, RunId

try:
    import fcntl
except ImportError:  # pragma: no cover - there is no such module on Windows
    fcntl = None  # type: ignore[assignment]

TEMPORARY: Final = ".tmp"

_LOCK: Final = "lock"
_LONGEST_NAME: Final = 255
_CLOSED: Final = -1

Durability = Literal["write", "flush", "sync"]
"""What is done before a file takes its name: written and closed; flushed too; or synced, and the folder after it."""


class Damaged(Exception):
    """A file that holds what no append has written. `str(error)` is one sentence."""

    def __init__(self, sequence: int, reason: str) -> None:
        super().__init__(f"record {sequence}: {reason}")
        self.sequence = sequence
        """The first record that cannot be served."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What the file of a run holds."""

    records: Sequence[Envelope]
    content: bytes
    """The bytes of these records."""
    torn_bytes: int = 0
    """How many bytes of a torn tail stand behind them."""


_NOTHING: Final = Stored((), b"")


class Head(msgspec.Struct, frozen=True, gc=False):
    """What a body says of itself: what its envelope says too, and which record of its batch it is."""

    run_id: RunId
    sequence: int
    event_id: EventId
    batch_index: int
    batch_size: int


class InABatch(Protocol):
    """What says which record of its batch it is."""

    @property
    def batch_index(self) -> int:
        """0 for the first record of the batch."""
        ...

    @property
    def batch_size(self) -> int:
        """How many records the batch has."""
        ...


def missing(last: InABatch) -> int:
    """Return how many records of a batch must follow this one."""
    return last.batch_size - last.batch_index - 1


def place_after(last: InABatch | None, found: InABatch) -> tuple[int, int]:
    """Return where in which batch the record stands that follows another, or none: a batch begins or goes on."""
    return (last.batch_index + 1, last.batch_size) if last is not None and missing(last) else (0, found.batch_size)


def in_whole_batches(read: int, last: InABatch | None) -> int:
    """Return how many of the records that were read, up to this one, are in batches of which none is missing."""
    return read - last.batch_index - 1 if last is not None and missing(last) else read


LIMITS: Final = msgspec.structs.replace(BUILT_IN_LIMITS, max_batch_bytes=MAX_PAYLOAD_BYTES["MWJ1"])
"""What the journals on files take: a batch may be one record, and no file holds a longer one."""

_HEADS: Final = msgspec.json.Decoder(Head)


def head_of(body: bytes) -> Head:
    """Return what the body of a record says of itself. Raises `ValueError`."""
    try:
        return _HEADS.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"the body is no record: {error}") from error


def sync(path: Path) -> None:
    """See to it that what a file holds, or the names in a folder, are on disk. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Folder:
    """The folder of a namespace, and its lock."""

    def __init__(self, state_dir: Path, namespace: str, *, is_synced: bool) -> None:
        self.path = state_dir / namespace
        self._is_synced = is_synced
        self._between_threads = threading.Lock()
        if fcntl is None:  # pragma: no cover - there is no such module on Windows
            raise JournalOpenError("Journals on files need the locks of a POSIX system; use the journal sqlite.")
        try:
            self.path.mkdir(exist_ok=True)
            if is_synced:
                sync(state_dir)
            self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise JournalOpenError(f"{self.path} cannot be opened as a journal: {error.strerror}") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep everybody else out. Raises `OSError`."""
        with self._between_threads:
            if self._lock == _CLOSED:
                raise OSError(errno.EBADF, "the handle is closed")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            try:
                self._settle()
                yield
            finally:
                fcntl.flock(self._lock, fcntl.LOCK_UN)

    def tidy(self) -> None:
        """Remove what killed writers left under temporary names: whoever has the lock is the only writer."""
        with suppress(OSError), self.locked():
            for path in self.path.glob(f"*{TEMPORARY}"):
                with suppress(OSError):
                    path.unlink()

    def read(self, name: str) -> bytes | None:
        """Return what a file holds; None if there is none. Raises `OSError`."""
        try:
            return self.path.joinpath(name).read_bytes()
        except FileNotFoundError:
            return None

    def begin(self, name: str) -> None:
        """Note that a file is changed from now on. Raises `OSError`."""
        if self._is_synced:
            os.pwrite(self._lock, name.encode() + b"\n", 0)

    def finish(self) -> None:
        """Note that the file is synced, or as it was. Who cannot be told so syncs it again."""
        if self._is_synced:
            with suppress(OSError):
                os.ftruncate(self._lock, 0)

    def _settle(self) -> None:
        """Sync what a change has left that was not finished. Raises `OSError`."""
        noted = os.pread(self._lock, _LONGEST_NAME, 0) if self._is_synced else b""
        if noted:
            name = noted.partition(b"\n")[0].decode(errors="replace")
            if self.path.joinpath(name).is_file():
                sync(self.path / name)
            sync(self.path)
            self.finish()

    def close(self) -> None:
        """Let go of the lock; a second time, do nothing."""
        with self._between_threads:
            if self._lock != _CLOSED:
                os.close(self._lock)
            self._lock = _CLOSED


class RunsInFiles(ABC):
    """A journal that keeps each run in a file of its own."""

    suffix: ClassVar[str]
    """What follows the run's id in the name of its file."""
    folder: ClassVar[type[Folder]] = Folder
    _durability: ClassVar[Durability] = "sync"

    def __init__(self, state_dir: Path, namespace: str) -> None:
        self._folder = self.folder(state_dir, namespace, is_synced=self._durability == "sync")
        self._folder.tidy()

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Answer as `Journal.append` says."""
        refusal = invalid_or_too_large(expected_next, records, LIMITS) or self._misfit(run_id, records)
        if refusal is not None:
            return refusal
        try:
            with self._folder.locked():
                return self._append(run_id, expected_next, records, epoch)
        except OSError as error:
            return NotStored(detail=f"{error.strerror}")

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Answer as `Journal.load` says; nothing of a damaged run is served."""
        try:
            with self._folder.locked():
                content = self._folder.read(self._name(run_id))
            stored = _NOTHING if content is None else self._parsed(run_id, content)
            return page(stored.records, from_sequence, limit)
        except Damaged as damage:
            return Corrupt(sequence=damage.sequence, detail=f"{damage}")
        except OSError as error:
            return Unavailable(detail=f"{error.strerror}")

    def close(self) -> None:
        """Let go of the folder."""
        self._folder.close()

    def _append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None
    ) -> AppendAnswer:
        try:
            content = self._folder.read(self._name(run_id))
            stored = _NOTHING if content is None else self._parsed(run_id, content)
            fence = self._highest_epoch(run_id)
        except Damaged as damage:
            return NotStored(detail=f"the run is damaged: {damage}")
        by_event_id = {record.event_id: record for record in stored.records}
        view = RunView(self._next(stored), fence, by_event_id)
        refusal = decide_append(view, expected_next, records, epoch) or _not_one_batch(records)
        return refusal or self._store(run_id, stored, records)

    def _next(self, stored: Stored) -> int:
        """Return the next sequence of a run."""
        return len(stored.records) + 1

    def _name(self, run_id: RunId) -> str:
        return f"{run_id}{self.suffix}"

    def _misfit(self, run_id: RunId, records: Sequence[Envelope]) -> InvalidRecord | None:
        """Return why bodies alone would not do to keep these records, if they would not."""
        for index, record in enumerate(records):
            try:
                said = self._said(record.body)
            except ValueError as error:
                return InvalidRecord(detail=f"record {index}: {error}")
            if (said.run_id, said.sequence, said.event_id) != (run_id, record.sequence, record.event_id):
                return InvalidRecord(detail=f"record {index}: the body names another run, position or event")
        return None

    def _said(self, body: str) -> Head | Record:
        """Return what a body says of itself. Raises `ValueError`."""
        return head_of(body.encode())

    @abstractmethod
    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        """Return what a file holds. Raises `Damaged`."""

    @abstractmethod
    def _store(self, run_id: RunId, stored: Stored, records: Sequence[Envelope]) -> AppendAnswer:
        """Write records behind those that are stored. Raises `OSError` if nothing of them is there."""

    @abstractmethod
    def _highest_epoch(self, run_id: RunId) -> int:
        """Return the highest epoch that was granted for a run. Raises `OSError`, `Damaged`."""


def _not_one_batch(records: Sequence[Envelope]) -> InvalidRecord | None:
    """Return why the bodies would not be read again as this batch, if they would not. They were held to be records."""
    heads = [head_of(record.body.encode()) for record in records]
    places = [(head.batch_index, head.batch_size) for head in heads]
    if places != [(index, len(records)) for index in range(len(records))]:
        return InvalidRecord(detail="the records do not name their places in this batch")
    return None
