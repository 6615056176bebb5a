"""The journal in memory: the reference behind a lock, shared by all handles of one process.

It survives its handles, not its process: it claims no durability.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from perdure.journal.contract import (
    AcquireAnswer,
    AppendAnswer,
    Description,
    Envelope,
    LoadAnswer,
    LoadSnapshotAnswer,
    ReleaseAnswer,
    RenewAnswer,
    SaveSnapshotAnswer,
)
from perdure.journal.reference import ReferenceJournal
from perdure.kernel.identity import OwnerId, RunId

_REGISTRY_LOCK = threading.Lock()
_SHARED: dict[tuple[Path, str], tuple[threading.Lock, ReferenceJournal]] = {}


class MemoryJournal:
    """One handle on the state that this process keeps under `(state_dir, namespace)`."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        with _REGISTRY_LOCK:
            self._lock, self._state = _SHARED.setdefault((state_dir, namespace), (threading.Lock(), ReferenceJournal()))

    @property
    def description(self) -> Description:
        """What is claimed: all that the reference claims, and several handles."""
        reference = self._state.description
        return msgspec.structs.replace(
            reference,
            name="memory",
            capabilities=msgspec.structs.replace(reference.capabilities, multi_handle=True),
        )

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Answer as `Journal.append` says."""
        with self._lock:
            return self._state.append(run_id, expected_next, records, epoch)

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Answer as `Journal.load` says."""
        with self._lock:
            return self._state.load(run_id, from_sequence, limit)

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Answer as `SnapshotStore.save_snapshot` says."""
        with self._lock:
            return self._state.save_snapshot(run_id, sequence, body)

    def load_snapshot(self, run_id: RunId) -> LoadSnapshotAnswer:
        """Answer as `SnapshotStore.load_snapshot` says."""
        with self._lock:
            return self._state.load_snapshot(run_id)

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Answer as `LeaseStore.acquire` says."""
        with self._lock:
            return self._state.acquire(run_id, owner, ttl_ms, now_ms)

    def renew(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int) -> RenewAnswer:
        """Answer as `LeaseStore.renew` says."""
        with self._lock:
            return self._state.renew(run_id, epoch, ttl_ms, now_ms)

    def release(self, run_id: RunId, epoch: int) -> ReleaseAnswer:
        """Answer as `LeaseStore.release` says."""
        with self._lock:
            return self._state.release(run_id, epoch)

    def close(self) -> None:
        """Keep the state for the next handle of this process."""
