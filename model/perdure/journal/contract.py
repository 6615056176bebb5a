"""What a journal is: its operations, and every answer that an operation may give.

An answer is a value, never an exception. A refusal is *definite*: nothing was stored by this call. `Unavailable` is
*indefinite*: the caller cannot know, and sends the same records again or reads.

Source: ADR-0032, "Journal and snapshot guarantees"; "Journal" of the graph design; `docs/spec/journal.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from perdure.kernel.identity import EventId, OwnerId, RunId, is_canonical_uuid


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one call may carry. Bytes are UTF-8 bytes of bodies; each limit is inclusive."""

    max_batch_records: int
    max_batch_bytes: int
    max_snapshot_bytes: int


FLOOR = Limits(max_batch_records=1_000, max_batch_bytes=2**20, max_snapshot_bytes=2**20)
"""Every journal takes at least this much."""

BUILT_IN_LIMITS = Limits(max_batch_records=65_536, max_batch_bytes=64 * 2**20, max_snapshot_bytes=64 * 2**20)
"""What the journals of this package take."""

DurabilityLevel = Literal["process-crash", "ordered", "sector", "posix-weak"]
"""What an acknowledged record survives, weakest claim first; each level includes the ones before it."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a journal claims above the core that every journal has. What is not claimed is not judged."""

    exact_replay: bool = False
    """Records sent again are acknowledged again and stored once."""
    event_id_dedup: bool = False
    """An event id stands once in a run."""
    atomic_batch: bool = False
    """A batch is stored whole or not at all."""
    multi_handle: bool = False
    """Several open journals of one process share the state."""
    multi_process: bool = False
    """Several processes share the state."""
    durable: DurabilityLevel | None = None
    """What an acknowledged record survives beyond a clean close."""
    snapshots: bool = False
    leases: bool = False
    fencing: bool = False
    """An append with an epoch below the highest granted one is refused."""
    read: Literal["linearizable", "own_writes"] | None = None
    """Which acknowledged appends a load is sure to show: everybody's, or those of its own handle."""
    lease_clock: Literal["caller", "store"] = "caller"
    """Whose time judges a lease."""
    format: Literal["mwj1", "jsonl"] | None = None
    """The file format in which runs are kept, as `docs/spec/formats.md` says."""


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """Who a journal is and what it claims."""

    name: str
    version: str
    capabilities: Capabilities
    limits: Limits


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """One record as a journal sees it. `body` is the complete canonical record, kept byte for byte."""

    sequence: int
    event_id: EventId
    body: str


class Acknowledgement(msgspec.Struct, frozen=True, gc=False):
    """One stored record, by position and identity."""

    sequence: int
    event_id: EventId


class Acknowledged(msgspec.Struct, frozen=True):
    """The records are stored: each one's position and identity, in the order in which they were sent."""

    acknowledged: tuple[Acknowledgement, ...]


class _Refusal(msgspec.Struct, frozen=True, tag_field="refused", kw_only=True, omit_defaults=True):
    detail: str = ""


class InvalidRecord(_Refusal, frozen=True, tag="invalid_record"):
    """The batch is empty, its sequences are not dense from the expected one, or an event id or body is malformed."""


class TooLarge(_Refusal, frozen=True, tag="too_large"):
    """The call carries more than the declared limits."""


class StaleEpoch(_Refusal, frozen=True, tag="stale_epoch"):
    """A higher epoch was granted for the run."""


class EventIdConflict(_Refusal, frozen=True, tag="event_id_conflict"):
    """The run holds one of the event ids already, and the batch is no exact replay."""


class SequenceConflict(_Refusal, frozen=True, tag="sequence_conflict"):
    """The expected sequence is not the run's next, which is `actual_next`."""

    actual_next: int


class NotStored(_Refusal, frozen=True, tag="not_stored"):
    """The journal failed, and is sure that it stored nothing."""


class Unavailable(_Refusal, frozen=True, tag="unavailable"):
    """The journal failed, and cannot tell what it stored."""


class Corrupt(_Refusal, frozen=True, tag="corrupt"):
    """What is stored is damaged at `sequence`; nothing at or after it is served."""

    sequence: int


class Held(_Refusal, frozen=True, tag="held"):
    """A lease that has not expired is out, to whomever."""


DefiniteRefusal = InvalidRecord | TooLarge | StaleEpoch | EventIdConflict | SequenceConflict | NotStored
AppendAnswer = Acknowledged | DefiniteRefusal | Unavailable


class Page(msgspec.Struct, frozen=True):
    """A run's records in order, from the position that was asked for. `end` tells that none follows."""

    records: tuple[Envelope, ...]
    end: bool


LoadAnswer = Page | Corrupt | Unavailable


class Done(msgspec.Struct, frozen=True):
    """The operation happened and has nothing to tell."""


class Snapshot(msgspec.Struct, frozen=True):
    """A derived cache, tied to the last position that it includes."""

    sequence: int
    body: str


class NoSnapshot(msgspec.Struct, frozen=True):
    """The run has no snapshot."""

    none: Literal[True] = True


SaveSnapshotAnswer = Done | TooLarge | NotStored | Unavailable
LoadSnapshotAnswer = Snapshot | NoSnapshot | Unavailable


class Granted(msgspec.Struct, frozen=True):
    """A lease under a new, highest epoch. It expires when now > `until_ms`."""

    epoch: int
    until_ms: int


class Renewed(msgspec.Struct, frozen=True):
    """The lease lasts until `until_ms`."""

    until_ms: int


AcquireAnswer = Granted | Held | NotStored | Unavailable
RenewAnswer = Renewed | StaleEpoch | NotStored | Unavailable
ReleaseAnswer = Done | StaleEpoch | NotStored | Unavailable


class JournalOpenError(Exception):
    """A journal cannot be opened: its place is unusable or holds something else. `str(error)` says what to do."""


class Journal(Protocol):
    """The core that nothing waives: compare-and-append, dense ordered load, typed refusals."""

    @property
    def description(self) -> Description:
        """Who this is and what it claims."""
        ...

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Store `records` from `expected_next` on, if that is the run's next sequence; a new run's is 1.

        No epoch counts as 0. A refusal is the first that applies, in the order `invalid_record`, `too_large`,
        `stale_epoch`, (exact replay: acknowledged again), `event_id_conflict`, `sequence_conflict`.
        """
        ...

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Return at most `limit` records from `from_sequence` on; an unknown run has none."""
        ...

    def close(self) -> None:
        """Let go of the state; what was acknowledged stays."""
        ...


class SnapshotStore(Protocol):
    """The claim `snapshots`: one derived cache a run."""

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Keep `body` as the run's state after `sequence`, in place of an older snapshot."""
        ...

    def load_snapshot(self, run_id: RunId) -> LoadSnapshotAnswer:
        """Return the run's snapshot, with the very position that it was saved under."""
        ...


class LeaseStore(Protocol):
    """The claim `leases`: ownership of a run for a time, under an epoch that only grows."""

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Grant the run to `owner` under a new epoch, unless a lease is out that has not expired."""
        ...

    def renew(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int) -> RenewAnswer:
        """Prolong the lease of the highest epoch, even one that has expired."""
        ...

    def release(self, run_id: RunId, epoch: int) -> ReleaseAnswer:
        """End the lease of the highest epoch; the epoch itself is never granted again."""
        ...


def invalid_or_too_large(
    expected_next: int, records: Sequence[Envelope], limits: Limits
) -> InvalidRecord | TooLarge | None:
    """Judge the envelope alone: the two refusals that need no stored state."""
    return invalid(expected_next, records) or too_large(records, limits)


def invalid(expected_next: int, records: Sequence[Envelope]) -> InvalidRecord | None:
    """Return why an envelope is malformed, if it is."""
    if not records:
        return InvalidRecord(detail="the batch is empty")
    for index, record in enumerate(records):
        if record.sequence != expected_next + index:
            return InvalidRecord(detail=f"record {index} has sequence {record.sequence}, not {expected_next + index}")
        if not is_canonical_uuid(record.event_id):
            return InvalidRecord(detail=f"record {index} has an event id that is no canonical lowercase UUID")
        if not record.body or not _is_unicode(record.body):
            return InvalidRecord(detail=f"record {index} has a body that is empty or no Unicode text")
    if len({record.event_id for record in records}) != len(records):
        return InvalidRecord(detail="an event id stands twice in the batch")
    return None


def too_large(records: Sequence[Envelope], limits: Limits) -> TooLarge | None:
    """Return by what a batch exceeds the limits, if it does."""
    size_bytes = sum(utf8_bytes(record.body) for record in records)
    if len(records) > limits.max_batch_records or size_bytes > limits.max_batch_bytes:
        return TooLarge(
            detail=f"{len(records)} records of {size_bytes} bytes; at most {limits.max_batch_records} "
            f"of {limits.max_batch_bytes} bytes fit"
        )
    return None


def utf8_bytes(text: str) -> int:
    """Return how many bytes `text` has in UTF-8; a lone surrogate counts three."""
    return len(text.encode("utf-8", "surrogatepass"))


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def acknowledge(records: Sequence[Envelope]) -> Acknowledged:
    """Return the one acknowledgement that these records have, however often they are sent."""
    return Acknowledged(tuple(Acknowledgement(record.sequence, record.event_id) for record in records))
