"""Logs of lines, a file for each run, which appends lock: some read without a lock, and some of those are wrong."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from perdure.journal.contract import (
    FLOOR,
    AppendAnswer,
    Capabilities,
    Corrupt,
    Description,
    Envelope,
    LoadAnswer,
    acknowledge,
    invalid_or_too_large,
)
from perdure.journal.reference import RunView, decide_append, page
from perdure.kernel.identity import EventId, RunId


class _Line(msgspec.Struct, frozen=True):
    event_id: str
    body: str
    missing: int
    """How many records of its batch follow."""


class Torn(Exception):
    """The last line has no end."""


class _Log:
    """A log whose loads lock as its appends do."""

    reads_under = fcntl.LOCK_SH

    def __init__(self, state_dir: Path, namespace: str) -> None:
        self._folder = state_dir / namespace
        self._folder.mkdir(exist_ok=True)

    @property
    def description(self) -> Description:
        """What is claimed."""
        claims = Capabilities(
            exact_replay=True,
            event_id_dedup=True,
            atomic_batch=True,
            multi_handle=True,
            multi_process=True,
            read="linearizable",
        )
        return Description(name="log", version="1", capabilities=claims, limits=FLOOR)

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Answer as `Journal.append` says."""
        refusal = invalid_or_too_large(expected_next, records, FLOOR)
        if refusal is not None:
            return refusal
        with self._locked(run_id, fcntl.LOCK_EX) as descriptor:
            stored = self._records(descriptor)
            view = RunView(len(stored) + 1, 0, {record.event_id: record for record in stored})
            answer = decide_append(view, expected_next, records, epoch)
            if answer is not None:
                return answer
            self._write(run_id, descriptor, [_line(records, index) for index in range(len(records))])
        return acknowledge(records)

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Answer as `Journal.load` says."""
        with self._locked(run_id, self.reads_under) as descriptor:
            return page(self._records(descriptor), from_sequence, limit)

    def close(self) -> None:
        """Nothing is open."""

    @contextmanager
    def _locked(self, run_id: RunId, how: int) -> Iterator[int]:
        descriptor = os.open(self._path(run_id), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, how)
            yield descriptor
        finally:
            os.close(descriptor)

    def _path(self, run_id: RunId) -> Path:
        return self._folder / f"{run_id}.log"

    def _write(self, run_id: RunId, descriptor: int, lines: Sequence[bytes]) -> None:
        """Write each line by a call of its own."""
        del run_id
        for line in lines:
            os.write(descriptor, line)

    def _records(self, descriptor: int) -> Sequence[Envelope]:
        return _whole(os.pread(descriptor, 2**30, 0))[0]


def _line(records: Sequence[Envelope], index: int) -> bytes:
    record = records[index]
    return msgspec.json.encode(_Line(record.event_id, record.body, len(records) - index - 1)) + b"\n"


def _lines(content: bytes) -> Sequence[_Line]:
    """Return the whole lines. Raises `Torn`."""
    *lines, rest = content.split(b"\n")
    if rest:
        raise Torn
    return [msgspec.json.decode(line, type=_Line) for line in lines]


def _envelopes(lines: Sequence[_Line]) -> Sequence[Envelope]:
    return [Envelope(at, EventId(line.event_id), line.body) for at, line in enumerate(lines, 1)]


def _whole(content: bytes) -> tuple[Sequence[Envelope], int]:
    """Return the records of whole batches, and how many bytes these have."""
    found, size, end = 0, 0, 0
    lines: list[_Line] = []
    for line in content.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        lines.append(msgspec.json.decode(line, type=_Line))
        size += len(line)
        if not lines[-1].missing:
            found, end = len(lines), size
    return _envelopes(lines[:found]), end


class _Unlocked(_Log):
    """A log whose loads take no lock."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Answer as `Journal.load` says."""
        try:
            return page(self._seen(run_id), from_sequence, limit)
        except FileNotFoundError:
            return page((), from_sequence, limit)

    def _seen(self, run_id: RunId) -> Sequence[Envelope]:
        return _whole(self._path(run_id).read_bytes())[0]


class _InTwoWrites(_Unlocked):
    def _write(self, run_id: RunId, descriptor: int, lines: Sequence[bytes]) -> None:
        """Write a batch by two calls, the first of which ends within a line."""
        del run_id
        content = b"".join(lines)
        os.write(descriptor, content[: len(content) // 2 + 1])
        os.write(descriptor, content[len(content) // 2 + 1 :])


class ShowsHalfABatch(_Unlocked):
    """Shows each line that it finds, without a lock: a part of a batch that is being written."""

    def _seen(self, run_id: RunId) -> Sequence[Envelope]:
        content = self._path(run_id).read_bytes()
        return _envelopes(_lines(content[: content.rfind(b"\n") + 1]))


class FailsOnHalfALine(_InTwoWrites):
    """Takes half a line for damage, without a lock: it is that of a writer that lives."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Answer as `Journal.load` says, but while another one writes."""
        try:
            return super().load(run_id, from_sequence, limit)
        except Torn:
            return Corrupt(sequence=1, detail="the last line has no end")

    def _seen(self, run_id: RunId) -> Sequence[Envelope]:
        return _envelopes(_lines(self._path(run_id).read_bytes()))


class LooksUnderALock(_Log):
    """Good: loads share a lock that appends have alone."""


class LeavesOutHalfABatch(_Unlocked):
    """Good: shows whole batches alone, without a lock."""


class LooksAgain(_InTwoWrites):
    """Good: reads again, without a lock, until what it reads is whole."""

    def _seen(self, run_id: RunId) -> Sequence[Envelope]:
        while True:
            with suppress(Torn):
                lines = _lines(self._path(run_id).read_bytes())
                if not lines or not lines[-1].missing:
                    return _envelopes(lines)


class RenamesEachBatch(_Unlocked):
    """Good: writes all of it anew beside the file, and renames that."""

    @contextmanager
    def _locked(self, run_id: RunId, how: int) -> Iterator[int]:
        lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(lock, how)
            with super()._locked(run_id, how) as descriptor:
                yield descriptor
        finally:
            os.close(lock)

    def _write(self, run_id: RunId, descriptor: int, lines: Sequence[bytes]) -> None:
        path = self._path(run_id)
        path.with_suffix(".new").write_bytes(os.pread(descriptor, 2**30, 0) + b"".join(lines))
        path.with_suffix(".new").replace(path)
