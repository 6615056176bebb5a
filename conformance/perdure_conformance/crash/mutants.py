"""Journals that lose or mix up something in a crash, on purpose.

Each is named after its fault and kept so small that the fault is all one sees. They prove that the engine can find it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from perdure.journal.contract import AppendAnswer, Envelope, JournalOpenError, Page
from perdure.kernel.identity import EventId, RunId
from perdure_conformance.crash.journals import Appends, Batch, Broken, Replaces, framed, unframed
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.registry import Registry

_REGISTRY: Final = Registry(JOURNALS)
MUTANTS: Final = _REGISTRY.mutants
mutant = _REGISTRY.mutant

_COMMIT: Final = Batch(RunId("00000000-0000-0000-0000-000000000000"), ())
_SECTOR_BYTES: Final = 512

# What is found by kills, too


@mutant("CRS-001")
class CutsOffWhatWasAcknowledged(Appends):
    """Drops the last batch when it is opened and was not closed in good order, as if nobody had been told of it."""

    def _take(self, content: bytes) -> int:
        mark = self._path.with_suffix(".closed")
        if not content or mark.exists():
            return super()._take(content)
        ends = [0, 0, *(end for _, end in self._frames(content))]
        return super()._take(content[: ends[-2]])


@mutant("CRS-001")
class KeepsItsTemporaryFileElsewhere(Replaces):
    """Writes its temporary file where it cannot be renamed from, and so copies it over the old one."""

    def _replace(self, content: bytes) -> None:
        self._put(self._path, content)
        self._sync_folder()


@mutant("CRS-002")
class WritesRecordByRecord(Appends):
    """Writes each record of a batch by a call of its own, in a frame of its own."""

    def _store(self, batch: Batch) -> None:
        for record in batch.records:
            content = framed(Batch(batch.run_id, (record,)))
            self._write(content)
            self._end += len(content)
        self.system.fsync(self._descriptor)


@mutant("CRS-003")
class DoesNotOpenWithHalfAFrame(Appends):
    """Writes a header and then what it announces, and does not open if it finds the one without the other."""

    def _write(self, content: bytes) -> None:
        self.system.pwrite(self._descriptor, content[:12], self._end)
        self.system.pwrite(self._descriptor, content[12:], self._end + 12)

    def _take(self, content: bytes) -> int:
        end = super()._take(content)
        if end < len(content):
            raise JournalOpenError(f"no frame is at {end}")
        return end


@mutant("CRS-004")
class AppendsBehindATornTail(Appends):
    """Leaves half a frame where it is, and writes behind it what nobody will find."""

    def _write(self, content: bytes) -> None:
        self.system.pwrite(self._descriptor, content[:12], self._end)
        self.system.pwrite(self._descriptor, content[12:], self._end + 12)

    def _take(self, content: bytes) -> int:
        super()._take(content)
        return len(content)


# What only a power cut shows


@mutant("CRS-011")
class NeverSyncs(Appends):
    """Writes, and leaves it to the system when that comes to the disk."""

    def _store(self, batch: Batch) -> None:
        content = framed(batch)
        self._write(content)
        self._end += len(content)


@mutant("CRS-011")
class AcknowledgesBeforeTheSync(Appends):
    """Syncs what it acknowledged when it is asked for the next thing."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Sync what was appended last, and append."""
        self.system.fsync(self._descriptor)
        return super().append(run_id, expected_next, records, epoch)

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> Page:
        """Sync what was appended last, and load."""
        self.system.fsync(self._descriptor)
        return super().load(run_id, from_sequence, limit)

    def _store(self, batch: Batch) -> None:
        content = framed(batch)
        self._write(content)
        self._end += len(content)


@mutant("CRS-011")
class SyncsBeforeTheWrite(Appends):
    """Syncs, and then writes."""

    def _store(self, batch: Batch) -> None:
        content = framed(batch)
        self.system.fsync(self._descriptor)
        self._write(content)
        self._end += len(content)


@mutant("CRS-042")
class AcknowledgesAlthoughTheSyncFailed(Appends):
    """Takes no notice of a sync that fails."""

    def _sync_content(self) -> None:
        with suppress(OSError):
            super()._sync_content()


@mutant("CRS-011")
class DoesNotSyncTheDirectoryItRenamesIn(Replaces):
    """Syncs the new file, renames it, and acknowledges."""

    def _sync_folder(self) -> None:
        pass


@mutant("CRS-021")
class WritesOverWhatWasAcknowledged(Appends):
    """Writes all it has anew in its old place, with a checksum over all of a run, in one call."""

    def _start(self) -> None:
        super()._start()
        self._batches: list[Batch] = [batch for batch, _ in self._frames(self._path.read_bytes())]

    def _frames(self, content: bytes) -> Iterator[tuple[Batch, int]]:
        for whole, end in super()._frames(content):
            for record in whole.records:
                yield Batch(whole.run_id, (record,)), end

    def _store(self, batch: Batch) -> None:
        self._batches += [Batch(batch.run_id, (record,)) for record in batch.records]
        records: dict[RunId, tuple[Envelope, ...]] = {}
        for each in self._batches:
            records[each.run_id] = (*records.get(each.run_id, ()), *each.records)
        content = b"".join(framed(Batch(run_id, of_run)) for run_id, of_run in records.items())
        self.system.pwrite(self._descriptor, content, 0)
        self.system.fsync(self._descriptor)


@mutant("CRS-022")
class ResurrectsHalfABatch(Appends):
    """Puts each record into a frame of its own, and shows those of a torn batch that are whole."""

    def _store(self, batch: Batch) -> None:
        content = b"".join(framed(Batch(batch.run_id, (record,))) for record in batch.records)
        self._write(content)
        self.system.fsync(self._descriptor)
        self._end += len(content)


@mutant("CRS-022")
class TakesZerosForARecord(Appends):
    """Takes a tail of zeros for a record that says nothing."""

    def _frames(self, content: bytes) -> Iterator[tuple[Batch, int]]:
        end = 0
        run_id = None
        for batch, end in super()._frames(content):
            run_id = batch.run_id
            yield batch, end
        if run_id is not None and len(content) > end and not any(content[end:]):
            following = self._memory.view(run_id).next_sequence
            nothing = Envelope(following, EventId("00000000-0000-0000-0000-000000000000"), "{}")
            yield Batch(run_id, (nothing,)), len(content)


@mutant("CRS-023")
class DoesNotOpenWithATornTail(Appends):
    """Does not open if there is anything behind the last whole frame."""

    def _take(self, content: bytes) -> int:
        end = super()._take(content)
        if end < len(content):
            raise JournalOpenError(f"no frame is at {end}")
        return end


@mutant("CRS-024")
class AppendsBehindAHole(Appends):
    """Leaves what is torn where it is, and writes behind it what nobody will find."""

    def _take(self, content: bytes) -> int:
        super()._take(content)
        return len(content)


@mutant("CRS-031")
class NeverSyncsTheDirectory(Appends):
    """Syncs the new file, and never the directory in which it got its name."""

    def _sync_folder(self) -> None:
        pass


@mutant("CRS-031")
class SyncsTheDirectoryForItsFirstRunAlone(Appends):
    """Makes a file for each run, and syncs the directory when it has made the first since it was opened."""

    def _start(self) -> None:
        self._has_synced = False
        super()._start()

    def _store(self, batch: Batch) -> None:
        file = self._file_of(batch.run_id)
        if not file.exists():
            self.system.close(self.system.open(str(file), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666))
            if not self._has_synced:
                self._sync_folder()
            self._has_synced = True
        super()._store(batch)

    def _frames(self, content: bytes) -> Iterator[tuple[Batch, int]]:
        return (found for found in super()._frames(content) if self._file_of(found[0].run_id).exists())

    def _file_of(self, run_id: RunId) -> Path:
        return self._folder / f"{run_id}.run"


@mutant("CRS-031")
class DoesNotSyncTheFileItRenames(Replaces):
    """Writes the new file, renames it, and syncs the directory alone."""

    def _sync_content(self, descriptor: int) -> None:
        pass


@mutant("CRS-032")
class TakesWhatIsThereOfACommittedBatch(Appends):
    """Writes each record and then a mark by calls of their own, and shows what it finds before a mark."""

    def _store(self, batch: Batch) -> None:
        for each in (*(Batch(batch.run_id, (record,)) for record in batch.records), _COMMIT):
            content = framed(each).ljust(2 * _SECTOR_BYTES, b"\0")
            self._write(content)
            self._end += len(content)
        self.system.fsync(self._descriptor)

    def _frames(self, content: bytes) -> Iterator[tuple[Batch, int]]:
        found: list[Batch] = []
        for start in range(0, len(content), 2 * _SECTOR_BYTES):
            try:
                batch, _ = unframed(content, start)
            except Broken:
                continue
            if batch.records:
                found.append(batch)
                continue
            for each in found:
                yield each, start + 2 * _SECTOR_BYTES
            found = []


@mutant("CRS-033")
class DoesNotOpenWithAnEmptyFile(DoesNotSyncTheFileItRenames):
    """Renames a file that was not synced, and does not open if it finds it torn."""

    def _take(self, content: bytes) -> int:
        if self._path.exists() and not content:
            raise JournalOpenError("the file is empty")
        return super()._take(content)


@mutant("CRS-034")
class AppendsBehindAHoleInABatch(Appends):
    """Writes each record and then a mark by calls of their own, and writes behind a mark whose batch has a hole."""

    def _store(self, batch: Batch) -> None:
        for each in (*(Batch(batch.run_id, (record,)) for record in batch.records), _COMMIT):
            content = framed(each).ljust(2 * _SECTOR_BYTES, b"\0")
            self._write(content)
            self._end += len(content)
        self.system.fsync(self._descriptor)

    def _frames(self, content: bytes) -> Iterator[tuple[Batch, int]]:
        found: list[Batch] = []
        for start in range(0, len(content), 2 * _SECTOR_BYTES):
            try:
                batch, _ = unframed(content, start)
            except Broken:
                return
            if batch.records:
                found.append(batch)
                continue
            for each in found:
                yield each, start + 2 * _SECTOR_BYTES
            found = []

    def _take(self, content: bytes) -> int:
        end = super()._take(content)
        try:
            last, _ = unframed(content, max(0, len(content) - 2 * _SECTOR_BYTES))
        except Broken:
            return end
        return end if last.records else len(content)
