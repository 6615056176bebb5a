"""Journals for several handles of one process, on which the scheduler is tried: two good ones, and what is wrong.

`SharesAFile` keeps nothing in memory, and has a lock on the file from its first look to its last sync. `SharesAnIndex`
keeps one index, one file and one lock for all handles of a state directory, and syncs outside the lock. Each mutant is
one of them with one fault, and named after it.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Final

from msgspec.structs import replace

from perdure.journal.contract import (
    FLOOR,
    Acknowledged,
    AppendAnswer,
    Capabilities,
    Description,
    Envelope,
    JournalOpenError,
    Page,
    SequenceConflict,
)
from perdure.journal.reference import ReferenceJournal
from perdure.kernel.identity import RunId
from perdure_conformance.crash.journals import Batch, Broken, framed, unframed
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.registry import Registry

_REGISTRY: Final = Registry(JOURNALS)
MUTANTS: Final = _REGISTRY.mutants
TWINS: Final = _REGISTRY.twins
mutant, twin = _REGISTRY.mutant, _REGISTRY.twin

_MOST_BYTES: Final = 2**20


class _Journal:
    """What both share: what is claimed, and frames in one file."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        self._folder = state_dir
        self._path = state_dir / f"{namespace}.log"

    @property
    def description(self) -> Description:
        """What is claimed: all about records, for several handles, up to any power cut."""
        claims = Capabilities(
            exact_replay=True, event_id_dedup=True, atomic_batch=True, multi_handle=True, durable="posix-weak"
        )
        return Description(name=type(self).__name__, version="1", capabilities=claims, limits=FLOOR)

    def _sync_folder(self) -> None:
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC)
        os.fsync(descriptor)
        os.close(descriptor)


def _taken(content: bytes) -> tuple[ReferenceJournal, int]:
    """Return what the whole frames at the start of a file hold, and where they end."""
    memory, end = ReferenceJournal(FLOOR), 0
    while end < len(content):
        try:
            batch, following = unframed(content, end)
        except Broken:
            break
        memory.append(batch.run_id, batch.records[0].sequence, batch.records)
        end = following
    return memory, end


@twin
class SharesAFile(_Journal):
    """Reads the whole file at each request, with a lock on it."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        with self._locked():
            self._recover()
            os.fsync(self._descriptor)
            self._sync_folder()

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Answer as `Journal.append` says."""
        with self._locked():
            memory, end = _taken(self._content())
            before = memory.view(run_id).next_sequence
            answer = memory.append(run_id, expected_next, records, epoch)
            if isinstance(answer, Acknowledged) and memory.view(run_id).next_sequence > before:
                self._store(Batch(run_id, tuple(records)), end)
            return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> Page:
        """Answer as `Journal.load` says."""
        with self._locked():
            memory, _ = _taken(self._content())
        return memory.load(run_id, from_sequence, limit)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)

    def _recover(self) -> None:
        content = self._content()
        _, end = _taken(content)
        if end < len(content):
            os.ftruncate(self._descriptor, end)

    def _content(self) -> bytes:
        return os.pread(self._descriptor, _MOST_BYTES, 0)

    def _store(self, batch: Batch, end: int) -> None:
        os.pwrite(self._descriptor, framed(batch), end)
        os.fsync(self._descriptor)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)


@mutant("CRS-061", overlaps=("CRS-062",))
class ChecksBeforeItLocks(SharesAFile):
    """Compares first, and locks only to write: two clients may both find that the place is free."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Answer as `Journal.append` says, but for others."""
        memory, end = _taken(self._content())
        before = memory.view(run_id).next_sequence
        answer = memory.append(run_id, expected_next, records, epoch)
        if isinstance(answer, Acknowledged) and memory.view(run_id).next_sequence > before:
            with self._locked():
                self._store(Batch(run_id, tuple(records)), end)
        return answer


@mutant("CRS-062", overlaps=("CRS-061",))
class StoresWhatItRefuses(SharesAFile):
    """Compares once before it locks and once behind; who was not first is refused, and stored at the next place."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Answer as `Journal.append` says, but for others."""
        memory, _ = _taken(self._content())
        answer = memory.append(run_id, expected_next, records, epoch)
        if not isinstance(answer, Acknowledged):
            return answer
        with self._locked():
            memory, end = _taken(self._content())
            following = memory.view(run_id).next_sequence
            moved = tuple(replace(record, sequence=following + place) for place, record in enumerate(records))
            self._store(Batch(run_id, moved), end)
        return answer if following == expected_next else SequenceConflict(actual_next=following)


@mutant("CRS-063")
class LeavesWhatItRefused(SharesAFile):
    """Writes first and looks then who was first; who was not is refused, and what he wrote prevents the next start."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Answer as `Journal.append` says, but for others."""
        memory, _ = _taken(self._content())
        answer = memory.append(run_id, expected_next, records, epoch)
        if not isinstance(answer, Acknowledged):
            return answer
        with self._locked():
            memory, end = _taken(self._content())
            before = memory.view(run_id).next_sequence
            self._store(Batch(run_id, tuple(records)), end)
        return answer if before == expected_next else SequenceConflict(actual_next=before)

    def _recover(self) -> None:
        super()._recover()
        content, end, heads = self._content(), 0, dict[RunId, int]()
        while end < len(content):
            batch, end = unframed(content, end)
            if batch.records[0].sequence != heads.get(batch.run_id, 1):
                raise JournalOpenError("a frame does not follow the one before it")
            heads[batch.run_id] = batch.records[-1].sequence + 1


class _Shared:
    """What all handles of one state directory have together."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.lock = threading.Lock()
        self.memory, self.end = _taken(os.pread(descriptor, _MOST_BYTES, 0))
        self.handles = 0
        self.is_syncing = False


@twin
class SharesAnIndex(_Journal):
    """Keeps one index and one descriptor for all handles; each syncs what it wrote outside the lock."""

    _shared: ClassVar[dict[Path, _Shared]] = {}

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._own = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        with self._alone():
            if self._path not in self._shared:
                self._shared[self._path] = self._recovered(os.dup(self._own))
            self._of_all = self._shared[self._path]
            self._of_all.handles += 1

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep out whoever opens or closes a handle of the same file."""
        fcntl.flock(self._own, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._own, fcntl.LOCK_UN)

    def _recovered(self, descriptor: int) -> _Shared:
        shared = _Shared(descriptor)
        os.ftruncate(descriptor, shared.end)
        os.fsync(descriptor)
        self._sync_folder()
        return shared

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Answer as `Journal.append` says."""
        with self._of_all.lock:
            before = self._of_all.memory.view(run_id).next_sequence
            answer = self._of_all.memory.append(run_id, expected_next, records, epoch)
            is_new = isinstance(answer, Acknowledged) and self._of_all.memory.view(run_id).next_sequence > before
            place, content = self._of_all.end, framed(Batch(run_id, tuple(records)))
            if is_new:
                self._of_all.end += len(content)
                self._write_locked(content, place)
        if is_new:
            self._write_unlocked(content, place)
        if isinstance(answer, Acknowledged):
            self._sync()
        return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> Page:
        """Answer as `Journal.load` says."""
        with self._of_all.lock:
            return self._of_all.memory.load(run_id, from_sequence, limit)

    def close(self) -> None:
        """Let go of the file, if nobody else has it."""
        with self._alone():
            self._of_all.handles -= 1
            if not self._of_all.handles:
                del self._shared[self._path]
                os.close(self._of_all.descriptor)
        os.close(self._own)

    def _write_locked(self, content: bytes, place: int) -> None:
        os.pwrite(self._of_all.descriptor, content, place)

    def _write_unlocked(self, content: bytes, place: int) -> None:
        """Do nothing more."""

    def _sync(self) -> None:
        os.fsync(self._of_all.descriptor)


@mutant("CRS-061")
class IndexesBeforeItWrites(SharesAnIndex):
    """Has a batch in its index before it is in the file, so that another is acknowledged behind what is not there."""

    def _write_locked(self, content: bytes, place: int) -> None:
        """Leave it to later."""

    def _write_unlocked(self, content: bytes, place: int) -> None:
        os.pwrite(self._of_all.descriptor, content, place)


@mutant("CRS-061")
class SharesAPosition(SharesAnIndex):
    """Reads from the file at the position at which another handle is about to write."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> Page:
        """Answer as `Journal.load` says, and move the position."""
        os.lseek(self._of_all.descriptor, 0, os.SEEK_SET)
        memory, _ = _taken(os.read(self._of_all.descriptor, _MOST_BYTES))
        return memory.load(run_id, from_sequence, limit)

    def _write_locked(self, content: bytes, place: int) -> None:
        os.lseek(self._of_all.descriptor, place, os.SEEK_SET)
        os.write(self._of_all.descriptor, content)


@mutant("CRS-061")
class CountsOnTheSyncOfAnother(SharesAnIndex):
    """Acknowledges without a sync of its own while another handle syncs, which began before this one wrote."""

    def _sync(self) -> None:
        if not self._of_all.is_syncing:
            self._of_all.is_syncing = True
            try:
                super()._sync()
            finally:
                self._of_all.is_syncing = False


@mutant("CRS-061")
class OpensAsIfAlone(SharesAnIndex):
    """Cuts off what is behind its own last look when it is opened, though another handle may have written meanwhile."""

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep out nobody."""
        yield

    def close(self) -> None:
        """Let go of the file, if nobody else has this look at it; the next handle looks for itself."""
        self._shared.pop(self._path, None)
        self._of_all.handles -= 1
        if not self._of_all.handles:
            os.close(self._of_all.descriptor)
        os.close(self._own)
