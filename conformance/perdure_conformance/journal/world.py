"""What must be true of the journal after the operations so far, and so what it must answer next.

The truth is the reference; around it stands what a judge has to remember to say *why* an answer is wrong: what was
refused, what happened to a handle since it last proved that it is in step, which grants were given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from perdure.journal.contract import (
    Acknowledged,
    AppendAnswer,
    Capabilities,
    Done,
    Envelope,
    EventIdConflict,
    Granted,
    Held,
    Limits,
    Renewed,
    Snapshot,
    StaleEpoch,
    acknowledge,
    invalid,
    too_large,
    utf8_bytes,
)
from perdure.journal.reference import (
    Lease,
    ReferenceJournal,
    RunView,
    applicable,
    decide_acquire,
    decide_release,
    decide_renew,
    expiry,
)
from perdure.kernel.identity import RunId
from perdure_conformance.journal.calls import AcquireCall, Names
from perdure_conformance.journal.client import Answer, limits_in_force, may_be_sent
from perdure_conformance.journal.operations import Acquire, Append
from perdure_conformance.journal.races import LeaseRaceStep, RaceStep

_LASTS_MS: Final = 60_000
"""A lease of this length outlasts a race by the store's own clock."""

Doubt = Literal[
    "crash",
    "reopen",
    "other_handle",
    "refused_record",
    "refused_batch",
    "replay",
    "torn_tail",
    "cut_tail",
    "leftover",
    "obstructed",
]
"""What happened to a run since this handle last read it whole: reasons why the handle might be out of step."""


@dataclass(frozen=True, slots=True)
class AppendStep:
    """One append and its answer."""

    operation: Append
    records: tuple[Envelope, ...]
    expected: AppendAnswer
    applicable: frozenset[type]
    """Every kind of answer for which there is a reason, the expected one among them."""
    next_sequence: int
    doubts: frozenset[Doubt]
    id_in_other_run: bool
    refused_before: bool
    """One of the event ids was refused in this run before."""
    fills_limits: bool
    is_replay: bool
    epoch_is_highest: bool
    """It is sent under the highest epoch of its run, or without one while another run has a lease."""
    answer: Answer


@dataclass(frozen=True, slots=True)
class LoadStep:
    """One page."""

    limit: int
    rest: tuple[Envelope, ...]
    """The run's records from the page's first position on."""
    due: int
    """How many of these this handle must show; the others it may."""
    run_is_empty: bool
    others_exist: bool
    doubts: frozenset[Doubt]
    refused_alone: frozenset[Envelope]
    refused_in_batch: frozenset[Envelope]
    of_other_runs: frozenset[Envelope]
    answer: Answer


@dataclass(frozen=True, slots=True)
class FileStep:
    """A look at the file of a run."""

    due: bytes
    found: bytes | None
    doubts: frozenset[Doubt]


@dataclass(frozen=True, slots=True)
class Hurt:
    """What is wrong with the file of a run: it cannot be read, or it is damaged at a record."""

    damaged_at: int | None


@dataclass(frozen=True, slots=True)
class HurtAppendStep:
    """One append to a run whose file is hurt."""

    hurt: Hurt
    answer: Answer


@dataclass(frozen=True, slots=True)
class HurtLoadStep:
    """One page of a run whose file is hurt."""

    hurt: Hurt
    sound: tuple[Envelope, ...]
    """The records from the page's first position on, up to the damage."""
    answer: Answer


@dataclass(frozen=True, slots=True)
class HurtSnapshotStep:
    """One load of a snapshot whose file is damaged."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class LoadSnapshotStep:
    """One load of a snapshot."""

    saved: tuple[Snapshot, ...]
    """All that were saved for the run, the latest last."""
    undisturbed: bool
    """The latest was saved on this handle, and the handle was open ever since."""
    after_too_large: bool
    """One that was too large came after the latest."""
    answer: Answer


@dataclass(frozen=True, slots=True)
class SaveSnapshotStep:
    """One save of a snapshot."""

    is_too_large: bool
    answer: Answer


@dataclass(frozen=True, slots=True)
class AcquireStep:
    """One request for a lease."""

    lease: Lease
    until_ms: int | None
    """When the lease ends if it is granted; None if the store's own clock judges."""
    expected: Granted | Held | None
    """None if only the store's own clock knows."""
    after_refused_renewal: bool
    answer: Answer


@dataclass(frozen=True, slots=True)
class RenewStep:
    """One prolongation."""

    until_ms: int | None
    """When the lease ends if it is prolonged; None if the store's own clock judges."""
    expected: Renewed | StaleEpoch
    answer: Answer


@dataclass(frozen=True, slots=True)
class ReleaseStep:
    """One release."""

    expected: Done | StaleEpoch
    answer: Answer


@dataclass(frozen=True, slots=True)
class UnansweredStep:
    """An append that was `unavailable` however often it was sent."""

    anything_acknowledged: bool
    """Whether any append was ever acknowledged."""
    answer: Answer


@dataclass(frozen=True, slots=True)
class UnclaimedStep:
    """An operation that is not claimed."""

    method: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class DescriptionStep:
    """The answer to `initialize`."""

    limits: Limits


SingleStep = (
    AppendStep
    | LoadStep
    | FileStep
    | HurtAppendStep
    | HurtLoadStep
    | HurtSnapshotStep
    | LoadSnapshotStep
    | SaveSnapshotStep
    | AcquireStep
    | RenewStep
    | ReleaseStep
    | UnansweredStep
    | UnclaimedStep
    | DescriptionStep
)
"""One operation that nothing else happened beside."""
Step = SingleStep | RaceStep | LeaseRaceStep


class World:
    """The truth about one play's runs."""

    def __init__(self, claims: Capabilities, limits: Limits) -> None:
        self.claims = claims
        self.limits = limits_in_force(limits)
        self._declared = limits
        self._truth = ReferenceJournal()
        self._runs: set[RunId] = set()
        self._batches: set[tuple[Envelope, ...]] = set()
        self._grants: defaultdict[RunId, list[int]] = defaultdict(list)
        self._refused_alone: defaultdict[RunId, set[Envelope]] = defaultdict(set)
        self._refused_in_batch: defaultdict[RunId, set[Envelope]] = defaultdict(set)
        self._doubts: defaultdict[tuple[int, RunId], set[Doubt]] = defaultdict(set)
        self._seen: defaultdict[tuple[int, RunId], int] = defaultdict(int)
        self.handles: set[int] = set()
        """The handles that were used so far."""
        self._saved: defaultdict[RunId, list[Snapshot]] = defaultdict(list)
        self._refused_renewal: set[RunId] = set()
        self._last_saver: dict[RunId, int | None] = {}
        self._hurt: dict[RunId, Hurt] = {}
        self._torn: set[RunId] = set()
        """Runs with a torn tail."""
        self._hurt_snapshots: set[RunId] = set()
        self._too_large: set[RunId] = set()
        """Runs of which a snapshot was too large since the last one that was saved."""

    # What happens to handles

    def use(self, handle: int) -> None:
        """Note that a handle is used; one that is new has seen nothing of what the others did."""
        if handle not in self.handles:
            self.handles.add(handle)
            for run_id in self._runs:
                self._doubt(handle, run_id, "other_handle")

    def reopened(self, handle: int, doubt: Doubt) -> None:
        """Note that a handle was closed or killed and opened again: it must show all that was acknowledged."""
        for run_id in self._runs:
            self._doubt(handle, run_id, doubt)
            self._seen[handle, run_id] = len(self.records(run_id))
        for run_id in self._last_saver:
            self._last_saver[run_id] = None

    # Appends

    def records(self, run_id: RunId) -> Sequence[Envelope]:
        """Return what the run holds."""
        return self._truth.records(run_id)

    def epoch_of(self, run_id: RunId, grant: int | None, ahead: int = 0) -> int | None:
        """Return the epoch of a grant, or one so much higher."""
        return None if grant is None else self._grants[run_id][grant] + ahead

    def grants(self, run_id: RunId) -> int:
        """Return how many grants the run has had."""
        return len(self._grants[run_id])

    def pending_append(
        self, operation: Append, run_id: RunId, records: tuple[Envelope, ...]
    ) -> Callable[[Answer], AppendStep] | None:
        """Return how the append becomes a step once it is answered, or None if its answer is left open."""
        epoch = self.epoch_of(run_id, operation.grant, operation.ahead)
        view = self._view(run_id)
        of_envelope = [invalid(operation.expected_next, records), too_large(records, self._declared)]
        first = of_envelope[0] or of_envelope[1]
        reasons = list(applicable(view, operation.expected_next, records, epoch))
        expected = first or (reasons[0] if reasons else acknowledge(records))
        is_replay = first is None and bool(reasons) and isinstance(expected, Acknowledged)
        if self._left_open(run_id, expected, records, is_replay=is_replay):
            return None
        return partial(
            AppendStep,
            operation,
            records,
            expected,
            frozenset({type(expected), *(type(reason) for reason in (*of_envelope, *reasons) if reason is not None)}),
            view.next_sequence,
            frozenset(self._doubts[operation.handle, run_id] | ({"torn_tail"} if run_id in self._torn else set())),
            self._known_elsewhere(run_id, records),
            self._refused_before(run_id, records),
            self._fills_limits(records),
            is_replay,
            self._epoch_is_highest(run_id, epoch),
        )

    def appended(self, run_id: RunId, step: AppendStep) -> None:
        """Take in a step whose answer was right."""
        if not isinstance(step.expected, Acknowledged):
            self.refused(run_id, step.records)
        elif step.is_replay:
            for handle in self.handles:
                self._doubt(handle, run_id, "replay")
        else:
            self._store(run_id, step)

    # Loads

    def load_step(self, run_id: RunId, handle: int, position: int, limit: int, answer: Answer) -> LoadStep:
        """Return one page as a step."""
        records = self.records(run_id)
        seen = len(records) if self.claims.read == "linearizable" else self._seen[handle, run_id]
        others = self._runs - {run_id}
        return LoadStep(
            limit=limit,
            rest=tuple(records[position - 1 :]),
            due=max(0, seen - (position - 1)),
            run_is_empty=not records,
            others_exist=bool(others),
            doubts=frozenset(self._doubts[handle, run_id]),
            refused_alone=frozenset(self._refused_alone[run_id]),
            refused_in_batch=frozenset(self._refused_in_batch[run_id]),
            of_other_runs=frozenset(record for other in others for record in self.records(other)),
            answer=answer,
        )

    def read_whole(self, handle: int, run_id: RunId, count: int) -> None:
        """Note that a handle showed the first `count` records of a run, its end with them."""
        if count == len(self.records(run_id)):
            self._doubts[handle, run_id].clear()

    # Files

    def hurt(self, run_id: RunId) -> Hurt | None:
        """Return what is wrong with the file of a run."""
        return self._hurt.get(run_id)

    def file_step(self, run_id: RunId, due: bytes, found: bytes | None) -> FileStep:
        """Return a look at a file as a step: no handle is asked, so whatever made any of them doubtful may show."""
        doubts = {doubt for (_, run), found_here in self._doubts.items() if run == run_id for doubt in found_here}
        return FileStep(due, found, frozenset(doubts))

    def hurt_load_step(self, run_id: RunId, hurt: Hurt, position: int, answer: Answer) -> HurtLoadStep:
        """Return one page of a run whose file is hurt as a step."""
        end = 0 if hurt.damaged_at is None else hurt.damaged_at - 1
        return HurtLoadStep(hurt, tuple(self.records(run_id)[position - 1 : end]), answer)

    def may_be_changed(self, run_id: RunId, *, is_to_clear: bool) -> bool:
        """Tell whether the file of a run is there, and is sound; or, to be cleared, cannot be read."""
        hurt = self._hurt.get(run_id)
        if is_to_clear:
            return hurt is not None and hurt.damaged_at is None
        return hurt is None and run_id not in self._torn and bool(self.records(run_id))

    def interrupted(self, run_id: RunId, doubt: Doubt) -> None:
        """Note that files show an append that was cut short."""
        self._doubt_everywhere(run_id, doubt)
        if doubt == "torn_tail":
            self._torn.add(run_id)

    def damaged(self, run_id: RunId, sequence: int) -> None:
        """Note that a run's file is damaged at a record."""
        self._hurt[run_id] = Hurt(sequence)

    def snapshot_damaged(self, run_id: RunId) -> None:
        """Note that the file of a run's snapshot is damaged."""
        self._hurt_snapshots.add(run_id)

    def snapshot_is_damaged(self, run_id: RunId) -> bool:
        """Tell whether the file of a run's snapshot is damaged."""
        return run_id in self._hurt_snapshots

    def obstructed(self, run_id: RunId) -> None:
        """Note that a run's file cannot be read."""
        self._hurt[run_id] = Hurt(None)

    def cleared(self, run_id: RunId) -> None:
        """Note that a run's file can be read again."""
        del self._hurt[run_id]
        self._doubt_everywhere(run_id, "obstructed")

    # Snapshots and leases

    def saved(self, run_id: RunId, handle: int, snapshot: Snapshot) -> None:
        """Note a saved snapshot."""
        self._hurt_snapshots.discard(run_id)
        self._too_large.discard(run_id)
        self._saved[run_id].append(snapshot)
        self._last_saver[run_id] = handle

    def was_too_large(self, run_id: RunId) -> None:
        """Note a snapshot that was refused for its size."""
        self._too_large.add(run_id)

    def load_snapshot_step(self, run_id: RunId, handle: int, answer: Answer) -> LoadSnapshotStep:
        """Return a load of a snapshot as a step."""
        undisturbed = self._last_saver.get(run_id) == handle
        return LoadSnapshotStep(tuple(self._saved[run_id]), undisturbed, run_id in self._too_large, answer)

    def acquire_step(self, run_id: RunId, ttl_ms: int, now_ms: int, answer: Answer) -> AcquireStep:
        """Return a request for a lease as a step."""
        lease = self._truth.lease(run_id)
        expected = decide_acquire(lease, ttl_ms, now_ms)
        if self._store_judges_time and lease.until_ms >= 0:
            return AcquireStep(lease, None, None, after_refused_renewal=False, answer=answer)
        after_refused = run_id in self._refused_renewal
        return AcquireStep(lease, self._until_ms(ttl_ms, now_ms), expected, after_refused, answer)

    def granted(self, run_id: RunId, grant: Granted) -> None:
        """Note a grant under the epoch that the store chose."""
        self._runs.add(run_id)
        self._refused_renewal.discard(run_id)
        self._grants[run_id].append(grant.epoch)
        self._truth.put_lease(run_id, Lease(grant.epoch, grant.until_ms))

    def is_released(self, run_id: RunId) -> bool:
        """Tell whether the latest lease was given back: whether it can be renewed is left open."""
        lease = self._truth.lease(run_id)
        return lease.epoch > 0 and lease.until_ms < 0

    def renew_step(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int, answer: Answer) -> RenewStep:
        """Return a prolongation as a step."""
        expected = decide_renew(self._truth.lease(run_id), epoch, ttl_ms, now_ms)
        return RenewStep(self._until_ms(ttl_ms, now_ms), expected, answer)

    def renewal_refused(self, run_id: RunId) -> None:
        """Note a prolongation that was refused."""
        self._refused_renewal.add(run_id)

    def renewed(self, run_id: RunId, renewal: Renewed) -> None:
        """Note a prolongation."""
        self._truth.put_lease(run_id, Lease(self._truth.lease(run_id).epoch, renewal.until_ms))

    def release_step(self, run_id: RunId, grant: int, answer: Answer) -> ReleaseStep:
        """Return a release as a step."""
        return ReleaseStep(decide_release(self._truth.lease(run_id), self._grants[run_id][grant]), answer)

    def released(self, run_id: RunId) -> None:
        """Note a release."""
        self._truth.put_lease(run_id, Lease(self._truth.lease(run_id).epoch))

    # Races

    def can_race(self, run_id: RunId, records: Sequence[Envelope]) -> bool:
        """Tell whether appends of these records at the same time are refused for their positions alone."""
        if run_id in self._hurt or run_id in self._torn:
            return False
        ids = [record.event_id for record in records]
        known = self._truth.view(run_id).stored.keys()
        is_free = not ids or self._truth.lease(run_id).epoch == 0
        return len(set(ids)) == len(ids) and known.isdisjoint(ids) and is_free

    def raced(self, run_id: RunId, step: RaceStep) -> None:
        """Take in a race whose answers were right: what a load showed at the end is the truth."""
        new = step.after[len(step.before) :]
        if new:
            self._truth.store(run_id, new)
            self._runs.add(run_id)
        self._batches.update(call.records for call in step.appends if set(call.records) <= set(new))
        for handle in {call.handle for call in step.calls}:
            own = [call.records[-1].sequence for call in step.acknowledged if call.handle == handle]
            self._seen[handle, run_id] = max([self._seen[handle, run_id], *own])
        for handle in self.handles:
            self._doubt(handle, run_id, "other_handle")

    def lease_race_step(
        self, run_id: RunId, requests: Sequence[Acquire], calls: tuple[AcquireCall, ...], names: Names
    ) -> LeaseRaceStep:
        """Return requests for a lease at the same time, all at one instant of the caller's clock, as a step."""
        lease = self._truth.lease(run_id)
        answers = {type(decide_acquire(lease, request.ttl_ms, request.now_ms)) for request in requests}
        is_free = answers == {Granted} if lease.epoch == 0 or not self._store_judges_time else None
        lasts = not self._store_judges_time or min(request.ttl_ms for request in requests) >= _LASTS_MS
        return LeaseRaceStep(lease.epoch, is_free, lasts, calls, names)

    @property
    def _store_judges_time(self) -> bool:
        return self.claims.lease_clock == "store"

    def _until_ms(self, ttl_ms: int, now_ms: int) -> int | None:
        return None if self._store_judges_time else expiry(now_ms, ttl_ms)

    def _view(self, run_id: RunId) -> RunView:
        view = self._truth.view(run_id)
        return view if self.claims.fencing else RunView(view.next_sequence, 0, view.stored)

    def _left_open(
        self, run_id: RunId, expected: AppendAnswer, records: tuple[Envelope, ...], *, is_replay: bool
    ) -> bool:
        """Tell whether a good journal might answer otherwise, or must not be sent so much."""
        if not may_be_sent(self._declared, lambda limits: too_large(records, limits) is not None):
            return True
        if not self.claims.fencing and self._truth.lease(run_id).epoch > 0:
            return True  # It may fence all the same.
        match expected:
            case Acknowledged():
                return is_replay and (not self.claims.exact_replay or records not in self._batches)
            case EventIdConflict():
                return not self.claims.event_id_dedup
            case _:
                return False

    def _fills_limits(self, records: tuple[Envelope, ...]) -> bool:
        size_bytes = sum(utf8_bytes(record.body) for record in records)
        return len(records) == self.limits.max_batch_records or size_bytes == self.limits.max_batch_bytes

    def _known_elsewhere(self, run_id: RunId, records: tuple[Envelope, ...]) -> bool:
        ids = {record.event_id for record in records}
        return any(ids & self._truth.view(other).stored.keys() for other in self._runs - {run_id})

    def _refused_before(self, run_id: RunId, records: tuple[Envelope, ...]) -> bool:
        refused = {record.event_id for record in self._refused_alone[run_id] | self._refused_in_batch[run_id]}
        return any(record.event_id in refused for record in records)

    def _epoch_is_highest(self, run_id: RunId, epoch: int | None) -> bool:
        highest = self._truth.lease(run_id).epoch
        if epoch is not None:
            return epoch >= highest > 0
        return highest == 0 and any(self._truth.lease(other).epoch for other in self._runs - {run_id})

    def refused(self, run_id: RunId, records: tuple[Envelope, ...]) -> None:
        """Note records that were refused: they must not be there."""
        stored = set(self.records(run_id))
        alone = len(records) == 1
        refused = self._refused_alone if alone else self._refused_in_batch
        refused[run_id].update(record for record in records if record not in stored)
        for handle in self.handles:
            self._doubt(handle, run_id, "refused_record" if alone else "refused_batch")

    def _store(self, run_id: RunId, step: AppendStep) -> None:
        self._truth.store(run_id, step.records)
        self._runs.add(run_id)
        self._batches.add(step.records)
        self._refused_alone[run_id].difference_update(step.records)
        self._refused_in_batch[run_id].difference_update(step.records)
        self._seen[step.operation.handle, run_id] = len(self.records(run_id))
        if run_id in self._torn:
            self._torn.remove(run_id)
            self._doubt_everywhere(run_id, "cut_tail")
        for handle in self.handles - {step.operation.handle}:
            self._doubt(handle, run_id, "other_handle")

    def _doubt_everywhere(self, run_id: RunId, doubt: Doubt) -> None:
        for handle in self.handles | {0}:
            self._doubt(handle, run_id, doubt)

    def _doubt(self, handle: int, run_id: RunId, doubt: Doubt) -> None:
        self._doubts[handle, run_id].add(doubt)
