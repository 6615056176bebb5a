"""Two small journals that bear any power cut, on which the engine is tried: one appends to a file, one replaces it.

What they call of the operating system is a value, so that a test can see what they do without a tracer. Mutants of them
stand in `mutants`.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Final, Protocol

import msgspec

from perdure.journal.contract import (
    FLOOR,
    Acknowledged,
    AppendAnswer,
    Capabilities,
    Description,
    Envelope,
    Page,
)
from perdure.journal.reference import ReferenceJournal
from perdure.kernel.identity import RunId

_HEADER: Final = struct.Struct(">4sII")
_MAGIC: Final = b"CRJ1"


class System(Protocol):
    """What is called of the operating system to change files. The module `os` is one."""

    def open(self, path: str, flags: int, mode: int = ..., /) -> int:
        """Open a file or directory."""
        ...

    def pwrite(self, descriptor: int, data: bytes, offset: int, /) -> int:
        """Write bytes at an offset."""
        ...

    def ftruncate(self, descriptor: int, size: int, /) -> None:
        """Make a file as long as this."""
        ...

    def fsync(self, descriptor: int, /) -> None:
        """Have a file or directory on the disk."""
        ...

    def close(self, descriptor: int, /) -> None:
        """Let go of a descriptor."""
        ...

    def rename(self, path: str, new_path: str, /) -> None:
        """Give a file another name."""
        ...


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """What one frame holds."""

    run_id: RunId
    records: tuple[Envelope, ...]


class Broken(ValueError):
    """No frame begins here, or none that is whole. `str(error)` says what is wrong."""


class JournalOfFrames:
    """A journal that keeps its batches in frames, one after the other, in one file, and in memory."""

    system: ClassVar[System] = os

    def __init__(self, state_dir: Path, namespace: str) -> None:
        self._folder = state_dir
        self._path = state_dir / f"{namespace}.log"
        self._memory = ReferenceJournal(FLOOR)
        self._start()

    @property
    def description(self) -> Description:
        """What is claimed: all about records, up to any power cut."""
        claims = Capabilities(exact_replay=True, event_id_dedup=True, atomic_batch=True, durable="posix-weak")
        return Description(name=type(self).__name__, version="1", capabilities=claims, limits=FLOOR)

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Answer as `Journal.append` says."""
        before = self._memory.view(run_id).next_sequence
        answer = self._memory.append(run_id, expected_next, records, epoch)
        if isinstance(answer, Acknowledged) and self._memory.view(run_id).next_sequence > before:
            self._store(Batch(run_id, tuple(records)))
        return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> Page:
        """Answer as `Journal.load` says."""
        return self._memory.load(run_id, from_sequence, limit)

    def close(self) -> None:
        """Let go of the file."""

    def _start(self) -> None:
        """Take in what the file holds."""
        raise NotImplementedError

    def _store(self, batch: Batch) -> None:
        """Have a batch on the disk."""
        raise NotImplementedError

    def _take(self, content: bytes) -> int:
        """Take in the whole frames at the start of a file; return where they end."""
        end = 0
        for batch, end in self._frames(content):  # noqa: B007 - the last one is returned
            self._memory.store(batch.run_id, batch.records)
        return end

    def _frames(self, content: bytes) -> Iterator[tuple[Batch, int]]:
        end = 0
        while end < len(content):
            try:
                batch, end = unframed(content, end)
            except Broken:
                return
            yield batch, end

    def _write_all(self, descriptor: int, content: bytes, place: int) -> None:
        """Write again what a call has not written."""
        while content:
            written = self.system.pwrite(descriptor, content, place)
            content, place = content[written:], place + written

    def _sync(self, path: Path) -> None:
        descriptor = self.system.open(str(path), os.O_RDONLY | os.O_CLOEXEC)
        self.system.fsync(descriptor)
        self.system.close(descriptor)


class Appends(JournalOfFrames):
    """Appends each batch to the file and syncs; what is behind the last whole frame is cut off when it is opened."""

    def _start(self) -> None:
        self._descriptor = self.system.open(str(self._path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        content = self._path.read_bytes()
        self._end = self._take(content)
        if self._end < len(content):
            self.system.ftruncate(self._descriptor, self._end)
        self.system.fsync(self._descriptor)
        self._sync_folder()

    def _sync_folder(self) -> None:
        self._sync(self._folder)

    def _store(self, batch: Batch) -> None:
        content = framed(batch)
        self._write(content)
        self._sync_content()
        self._end += len(content)

    def _sync_content(self) -> None:
        self.system.fsync(self._descriptor)

    def _write(self, content: bytes) -> None:
        self._write_all(self._descriptor, content, self._end)

    def close(self) -> None:
        """Let go of the file."""
        self.system.close(self._descriptor)


class Replaces(JournalOfFrames):
    """Writes the whole file anew under another name, syncs it, renames it and syncs the directory."""

    def _start(self) -> None:
        self._content = self._path.read_bytes() if self._path.exists() else b""
        if self._content:
            self._sync(self._path)
        self._sync(self._folder)
        self._content = self._content[: self._take(self._content)]

    def _store(self, batch: Batch) -> None:
        self._content += framed(batch)
        self._replace(self._content)

    def _replace(self, content: bytes) -> None:
        temporary = self._path.with_suffix(".tmp")
        self._put(temporary, content)
        self.system.rename(str(temporary), str(self._path))
        self._sync_folder()

    def _put(self, path: Path, content: bytes) -> None:
        descriptor = self.system.open(str(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        self._write_all(descriptor, content, 0)
        self._sync_content(descriptor)
        self.system.close(descriptor)

    def _sync_content(self, descriptor: int) -> None:
        self.system.fsync(descriptor)

    def _sync_folder(self) -> None:
        self._sync(self._folder)


def framed(batch: Batch) -> bytes:
    """Return the frame of a batch."""
    payload = msgspec.json.encode(batch)
    return _HEADER.pack(_MAGIC, len(payload), zlib.crc32(payload)) + payload


def unframed(content: bytes, start: int) -> tuple[Batch, int]:
    """Return the batch whose frame begins there, and where that ends. Raises `Broken`."""
    begins = start + _HEADER.size
    if len(content) < begins:
        raise Broken("the file ends within a header")
    magic, size, checksum = _HEADER.unpack_from(content, start)
    payload = content[begins : begins + size]
    if magic != _MAGIC or len(payload) < size or zlib.crc32(payload) != checksum:
        raise Broken("no whole frame is there")
    return msgspec.json.decode(payload, type=Batch), begins + size
