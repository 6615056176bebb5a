"""The sequential reference: what a journal answers when its calls come one after the other.

The rules are pure functions over what a journal knows of one run (`RunView`, `Lease`); `ReferenceJournal` keeps that
knowledge in dictionaries and is all a judge needs. Stores that keep it elsewhere ask the same functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from perdure.journal.contract import (
    BUILT_IN_LIMITS,
    Acknowledged,
    AcquireAnswer,
    AppendAnswer,
    Capabilities,
    Description,
    Done,
    Envelope,
    EventIdConflict,
    Granted,
    Held,
    Limits,
    NoSnapshot,
    Page,
    ReleaseAnswer,
    RenewAnswer,
    Renewed,
    SequenceConflict,
    Snapshot,
    StaleEpoch,
    TooLarge,
    acknowledge,
    invalid_or_too_large,
    utf8_bytes,
)
from perdure.kernel.identity import EventId, OwnerId, RunId
from perdure.kernel.values import MAX_SAFE_INTEGER


@dataclass(frozen=True, slots=True)
class RunView:
    """What decides an append: the run's next sequence, its highest epoch, its records by event id."""

    next_sequence: int
    highest_epoch: int
    stored: Mapping[EventId, Envelope]
    """At least those records whose event ids stand in the batch."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The latest lease of a run. Epoch 0 means that none was ever granted."""

    epoch: int = 0
    until_ms: int = -1
    """The last instant at which it is held; −1 once released."""


def applicable(
    run: RunView, expected_next: int, records: Sequence[Envelope], epoch: int | None
) -> Iterator[Acknowledged | StaleEpoch | EventIdConflict | SequenceConflict]:
    """Yield every answer that has a reason, in the normative order (JRN-013); none: the records are to be stored.

    The envelope has passed `invalid_or_too_large`, whose refusals come before these.
    """
    if (epoch or 0) < run.highest_epoch:
        yield StaleEpoch(detail=f"epoch {run.highest_epoch} was granted")
    if records and all(run.stored.get(record.event_id) == record for record in records):
        yield acknowledge(records)
    elif any(record.event_id in run.stored for record in records):
        yield EventIdConflict()
    if expected_next != run.next_sequence:
        yield SequenceConflict(actual_next=run.next_sequence)


def decide_append(
    run: RunView, expected_next: int, records: Sequence[Envelope], epoch: int | None
) -> Acknowledged | StaleEpoch | EventIdConflict | SequenceConflict | None:
    """Return the refusal or the repeated acknowledgement that is due, or None: store the records."""
    return next(applicable(run, expected_next, records, epoch), None)


def decide_acquire(lease: Lease, ttl_ms: int, now_ms: int) -> Granted | Held:
    """Grant the next epoch unless the lease is held, also by its owner."""
    if is_held(lease, now_ms):
        return Held(detail=f"until {lease.until_ms} ms")
    return Granted(lease.epoch + 1, expiry(now_ms, ttl_ms))


def decide_renew(lease: Lease, epoch: int, ttl_ms: int, now_ms: int) -> Renewed | StaleEpoch:
    """Prolong the highest epoch, expired or not; refuse any other."""
    if not is_latest(lease, epoch):
        return StaleEpoch(detail=f"the highest epoch is {lease.epoch}")
    return Renewed(expiry(now_ms, ttl_ms))


def decide_release(lease: Lease, epoch: int) -> Done | StaleEpoch:
    """End the lease of the highest epoch; refuse any other."""
    if not is_latest(lease, epoch):
        return StaleEpoch(detail=f"the highest epoch is {lease.epoch}")
    return Done()


def is_held(lease: Lease, now_ms: int) -> bool:
    """Tell whether a lease is held: it is until now > `until_ms`."""
    return now_ms <= lease.until_ms


def is_latest(lease: Lease, epoch: int) -> bool:
    """Tell whether an epoch was granted, and none after it."""
    return epoch == lease.epoch != 0


def expiry(now_ms: int, ttl_ms: int) -> int:
    """Return the last instant of a lease of `ttl_ms` that begins now; virtual time saturates."""
    return min(now_ms + ttl_ms, MAX_SAFE_INTEGER)


def page(records: Sequence[Envelope], from_sequence: int, limit: int) -> Page:
    """Return a page of all of a run's records."""
    start = from_sequence - 1
    return Page(tuple(records[start : start + limit]), end=start + limit >= len(records))


@dataclass(slots=True)
class _Run:
    records: list[Envelope] = field(default_factory=list)
    by_event_id: dict[EventId, Envelope] = field(default_factory=dict)
    lease: Lease = Lease()
    snapshot: Snapshot | NoSnapshot = field(default_factory=NoSnapshot)

    def view(self) -> RunView:
        return RunView(len(self.records) + 1, self.lease.epoch, self.by_event_id)


class ReferenceJournal:
    """A journal in memory, for one caller at a time: the truth that every other one is compared with."""

    def __init__(self, limits: Limits = BUILT_IN_LIMITS) -> None:
        self._limits = limits
        self._runs: dict[RunId, _Run] = {}

    @property
    def description(self) -> Description:
        """What the reference claims: every capability that is about answers, none about crashes."""
        return Description(
            name="reference",
            version="1",
            capabilities=Capabilities(
                exact_replay=True,
                event_id_dedup=True,
                atomic_batch=True,
                snapshots=True,
                leases=True,
                fencing=True,
                read="linearizable",
            ),
            limits=self._limits,
        )

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Answer as `Journal.append` says."""
        answer = invalid_or_too_large(expected_next, records, self._limits) or decide_append(
            self.view(run_id), expected_next, records, epoch
        )
        if answer is not None:
            return answer
        self.store(run_id, records)
        return acknowledge(records)

    def store(self, run_id: RunId, records: Sequence[Envelope]) -> None:
        """Add records that were judged already, at the end of the run."""
        run = self._runs.setdefault(run_id, _Run())
        run.records.extend(records)
        run.by_event_id.update((record.event_id, record) for record in records)

    def records(self, run_id: RunId) -> Sequence[Envelope]:
        """Return all of a run's records, in order."""
        return self._run(run_id).records

    def view(self, run_id: RunId) -> RunView:
        """Return what decides the run's next append."""
        return self._run(run_id).view()

    def lease(self, run_id: RunId) -> Lease:
        """Return the run's latest lease."""
        return self._run(run_id).lease

    def put_lease(self, run_id: RunId, lease: Lease) -> None:
        """Set the run's latest lease. Epochs grow; by how much is the store's own affair."""
        self._runs.setdefault(run_id, _Run()).lease = lease

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> Page:
        """Answer as `Journal.load` says."""
        return page(self._run(run_id).records, from_sequence, limit)

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> Done | TooLarge:
        """Answer as `SnapshotStore.save_snapshot` says."""
        if utf8_bytes(body) > self._limits.max_snapshot_bytes:
            return TooLarge(detail=f"at most {self._limits.max_snapshot_bytes} bytes fit")
        self._runs.setdefault(run_id, _Run()).snapshot = Snapshot(sequence, body)
        return Done()

    def load_snapshot(self, run_id: RunId) -> Snapshot | NoSnapshot:
        """Answer as `SnapshotStore.load_snapshot` says."""
        return self._run(run_id).snapshot

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:  # noqa: ARG002
        """Answer as `LeaseStore.acquire` says. The owner decides nothing: the epoch is the identity."""
        answer = decide_acquire(self.lease(run_id), ttl_ms, now_ms)
        if isinstance(answer, Granted):
            self.put_lease(run_id, Lease(answer.epoch, answer.until_ms))
        return answer

    def renew(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int) -> RenewAnswer:
        """Answer as `LeaseStore.renew` says."""
        answer = decide_renew(self.lease(run_id), epoch, ttl_ms, now_ms)
        if isinstance(answer, Renewed):
            self.put_lease(run_id, Lease(epoch, answer.until_ms))
        return answer

    def release(self, run_id: RunId, epoch: int) -> ReleaseAnswer:
        """Answer as `LeaseStore.release` says."""
        answer = decide_release(self.lease(run_id), epoch)
        if isinstance(answer, Done):
            self.put_lease(run_id, Lease(epoch))
        return answer

    def close(self) -> None:
        """Keep everything: a reference outlives its handles."""

    def _run(self, run_id: RunId) -> _Run:
        return self._runs.get(run_id) or _Run()
