"""The journal on whole files: MWJ1 for runs, MWS1 for snapshots, each replaced at once.

An append writes the whole run anew under another name and renames it, so that a reader sees the old file or the new
one. That is quadratic over a run: use it for short runs, and to hand runs on.

Source: ADR-0032, "Journal and snapshot guarantees"; `docs/spec/formats.md`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import msgspec

from perdure.journal.contract import (
    AcquireAnswer,
    AppendAnswer,
    Capabilities,
    Description,
    Done,
    Envelope,
    Granted,
    LoadSnapshotAnswer,
    NoSnapshot,
    NotStored,
    ReleaseAnswer,
    RenewAnswer,
    Renewed,
    SaveSnapshotAnswer,
    Snapshot,
    TooLarge,
    Unavailable,
    acknowledge,
    utf8_bytes,
)
from perdure.journal.folder import LIMITS, TEMPORARY, Damaged, Head, RunsInFiles, Stored, head_of, missing, sync
from perdure.journal.frames import frame, frames
from perdure.journal.reference import Lease, decide_acquire, decide_release, decide_renew
from perdure.kernel.identity import OwnerId, RunId

FORMAT_VERSION: Final = 1

Answer = TypeVar("Answer")

_LOG: Final = logging.getLogger("perdure.journal")


class _SnapshotHead(msgspec.Struct, frozen=True):
    """What the body of a snapshot says of itself."""

    run_id: RunId
    sequence: int


class _LeaseDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    epoch: int
    until_ms: int


class FilesJournal(RunsInFiles):
    """One handle on the folder `NAMESPACE` in `state_dir`; what is acknowledged is synced."""

    suffix = ".mwj1"

    @property
    def description(self) -> Description:
        """What is claimed: everything; up to power loss only if files are synced."""
        return Description(
            name="files" if self._durability == "sync" else f"files-{self._durability}",
            version=f"{FORMAT_VERSION}",
            capabilities=Capabilities(
                exact_replay=True,
                event_id_dedup=True,
                atomic_batch=True,
                multi_handle=True,
                multi_process=True,
                durable="posix-weak" if self._durability == "sync" else "process-crash",
                snapshots=True,
                leases=True,
                fencing=True,
                read="linearizable",
                format="mwj1",
            ),
            limits=LIMITS,
        )

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Answer as `SnapshotStore.save_snapshot` says."""
        if utf8_bytes(body) > LIMITS.max_snapshot_bytes:
            return TooLarge(detail=f"at most {LIMITS.max_snapshot_bytes} bytes fit")
        payload = body.encode("utf-8", "surrogatepass")
        if _head_of_snapshot(payload) != _SnapshotHead(run_id, sequence):
            return NotStored(detail="the body does not name this run and sequence")
        return self._guarded(lambda: self._replace(f"{run_id}.mws1", frame("MWS1", payload), Done()))

    def load_snapshot(self, run_id: RunId) -> LoadSnapshotAnswer:
        """Answer as `SnapshotStore.load_snapshot` says: one that is damaged is none, for it is only a cache."""
        try:
            with self._folder.locked():
                content = self._folder.read(f"{run_id}.mws1")
        except OSError as error:
            return Unavailable(detail=f"{error.strerror}")
        if content is None:
            return NoSnapshot()
        try:
            payload = _only_payload(content)
        except ValueError as error:
            return _discarded(run_id, f"{error}")
        head = _head_of_snapshot(payload)
        if head is None or head.run_id != run_id:
            return _discarded(run_id, "it names another run, or none")
        return Snapshot(head.sequence, payload.decode())

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:  # noqa: ARG002
        """Answer as `LeaseStore.acquire` says. The owner decides nothing: the epoch is the identity."""

        def acquire() -> AcquireAnswer:
            answer = decide_acquire(self._lease(run_id), ttl_ms, now_ms)
            if isinstance(answer, Granted):
                return self._put_lease(run_id, answer.epoch, answer.until_ms, answer)
            return answer

        return self._guarded(acquire)

    def renew(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int) -> RenewAnswer:
        """Answer as `LeaseStore.renew` says."""

        def renew() -> RenewAnswer:
            answer = decide_renew(self._lease(run_id), epoch, ttl_ms, now_ms)
            return self._put_lease(run_id, epoch, answer.until_ms, answer) if isinstance(answer, Renewed) else answer

        return self._guarded(renew)

    def release(self, run_id: RunId, epoch: int) -> ReleaseAnswer:
        """Answer as `LeaseStore.release` says."""

        def release() -> ReleaseAnswer:
            answer = decide_release(self._lease(run_id), epoch)
            return self._put_lease(run_id, epoch, Lease().until_ms, answer) if isinstance(answer, Done) else answer

        return self._guarded(release)

    def _parsed(self, run_id: RunId, content: bytes) -> Stored:
        records: list[Envelope] = []
        last: Head | None = None
        try:
            for found in frames("MWJ1", content):
                last = head = head_of(found.payload)
                if (head.run_id, head.sequence) != (run_id, found.number):
                    raise Damaged(
                        found.number, f"frame {found.number} holds record {head.sequence} of run {head.run_id}"
                    )
                records.append(Envelope(head.sequence, head.event_id, found.payload.decode()))
        except ValueError as error:
            raise Damaged(len(records) + 1, f"{error}") from error
        more = 1 if last is None else missing(last)
        if more:
            raise Damaged(len(records) + 1, f"the file ends, and at least {more} more of a batch must follow")
        return Stored(records, content)

    def _store(self, run_id: RunId, stored: Stored, records: Sequence[Envelope]) -> AppendAnswer:
        added = b"".join(frame("MWJ1", record.body.encode()) for record in records)
        return self._replace(self._name(run_id), stored.content + added, acknowledge(records))

    def _highest_epoch(self, run_id: RunId) -> int:
        return self._lease(run_id).epoch

    def _lease(self, run_id: RunId) -> Lease:
        """Return the latest lease of a run: never a lower epoch because a file is damaged. Raises `Damaged`."""
        content = self._folder.read(f"{run_id}.lease")
        if content is None:
            return Lease()
        try:
            document = msgspec.json.decode(_only_payload(content), type=_LeaseDocument)
        except ValueError as error:
            raise Damaged(0, f"its lease cannot be read: {error}") from error
        return Lease(document.epoch, document.until_ms)

    def _put_lease(self, run_id: RunId, epoch: int, until_ms: int, answer: Answer) -> Answer | Unavailable:
        payload = msgspec.json.encode(_LeaseDocument(epoch, until_ms))
        return self._replace(f"{run_id}.lease", frame("MWS1", payload), answer)

    def _replace(self, name: str, content: bytes, answer: Answer) -> Answer | Unavailable:
        """Put a file in the place of another; return the answer once it is there.

        Raises `OSError` if the old file stands; where that cannot be known, the answer is `Unavailable`.
        """
        path = self._folder.path / name
        temporary = path.with_name(name + TEMPORARY)
        self._folder.begin(name)
        try:
            with temporary.open("wb") as file:
                file.write(content)
                if self._durability != "write":
                    file.flush()
                if self._durability == "sync":
                    os.fsync(file.fileno())
        except OSError:
            temporary.unlink(missing_ok=True)
            self._folder.finish()
            raise
        try:
            temporary.replace(path)
            if self._durability == "sync":
                sync(self._folder.path)
        except OSError as error:
            return Unavailable(detail=f"{error.strerror}")
        self._folder.finish()
        return answer

    def _guarded(self, operation: Callable[[], Answer]) -> Answer | NotStored:
        """Do one thing under the lock; what fails before anything is changed is `NotStored`."""
        try:
            with self._folder.locked():
                return operation()
        except Damaged as damage:
            return NotStored(detail=f"{damage}")
        except OSError as error:
            return NotStored(detail=f"{error.strerror}")


class FlushedFilesJournal(FilesJournal):
    """One handle on the same files; what is acknowledged is flushed, and with the system."""

    _durability = "flush"


class WrittenFilesJournal(FilesJournal):
    """One handle on the same files; what is acknowledged is written, and with the system once it is closed."""

    _durability = "write"


def _only_payload(content: bytes) -> bytes:
    """Return the payload of a file of one MWS1 frame. Raises `ValueError`."""
    payloads = [found.payload for found in frames("MWS1", content)]
    if len(payloads) != 1:
        raise ValueError(f"the file holds {len(payloads)} frames, and not one")
    return payloads[0]


def _head_of_snapshot(payload: bytes) -> _SnapshotHead | None:
    try:
        payload.decode()
        return msgspec.json.decode(payload, type=_SnapshotHead)
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
        return None


def _discarded(run_id: RunId, reason: str) -> NoSnapshot:
    _LOG.warning("snapshot_discarded: run %s: %s", run_id, reason)
    return NoSnapshot()
