"""The requirements, each as one clause: when it speaks of a step, and whether the step keeps it.

A clause returns None where it has nothing to say, else whether the step keeps it. The clauses of a step are asked from
the most particular to the most general, and the first that is broken names the fault. So every wrong answer breaks
exactly one requirement, the one that says best what is wrong. Clauses of what is not claimed are not asked at all.

The sentences are in `docs/spec/journal.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from perdure.journal.contract import (
    FLOOR,
    Acknowledged,
    Corrupt,
    Done,
    EventIdConflict,
    Granted,
    Held,
    InvalidRecord,
    NoSnapshot,
    Page,
    Renewed,
    SequenceConflict,
    Snapshot,
    StaleEpoch,
    TooLarge,
    Unavailable,
)
from perdure_conformance.journal.client import NotSupported
from perdure_conformance.journal.races import COMPLAINTS, COMPLAINTS_OF_LEASES, LeaseRaceStep, RaceStep, complaint
from perdure_conformance.journal.world import (
    AcquireStep,
    AppendStep,
    DescriptionStep,
    FileStep,
    HurtAppendStep,
    HurtLoadStep,
    HurtSnapshotStep,
    LoadSnapshotStep,
    LoadStep,
    ReleaseStep,
    RenewStep,
    SaveSnapshotStep,
    Step,
    UnansweredStep,
    UnclaimedStep,
)

AnyStep = TypeVar("AnyStep", bound=Step)


@dataclass(frozen=True, slots=True)
class Clause:
    """One requirement's hold on one kind of step."""

    requirement: str
    step: type
    keeps: Callable[[Any], bool | None]


CLAUSES: list[Clause] = []
"""In the order in which they are asked."""


def clause(
    requirement: str, step: type[AnyStep]
) -> Callable[[Callable[[AnyStep], bool | None]], Callable[[AnyStep], bool | None]]:
    """Register a clause for a requirement, after those above it."""

    def register(keeps: Callable[[AnyStep], bool | None]) -> Callable[[AnyStep], bool | None]:
        CLAUSES.append(Clause(requirement, step, keeps))
        return keeps

    return register


# Files


@clause("JRN-037", FileStep)
def unreadable_file_is_left_alone(step: FileStep) -> bool | None:
    """What could not be read for a time is as it was."""
    return step.found == step.due if "obstructed" in step.doubts else None


@clause("JRN-035", FileStep)
def torn_tail_is_cut_off(step: FileStep) -> bool | None:
    """After an append nothing is left of a torn tail."""
    return step.found == step.due if "cut_tail" in step.doubts else None


@clause("JRN-033", FileStep)
@clause("JRN-030", FileStep)
def file_holds_its_records(step: FileStep) -> bool | None:
    """One frame, or one line, a record, and nothing else."""
    return step.found == step.due


@clause("JRN-037", HurtAppendStep)
def unreadable_run_takes_nothing(step: HurtAppendStep) -> bool | None:
    """What cannot be read is not appended to."""
    return not isinstance(step.answer, Acknowledged) if step.hurt.damaged_at is None else None


@clause("JRN-036", HurtAppendStep)
@clause("JRN-031", HurtAppendStep)
def damaged_file_takes_nothing(step: HurtAppendStep) -> bool | None:
    """What is damaged is not appended to."""
    return None if step.hurt.damaged_at is None else not isinstance(step.answer, Acknowledged)


@clause("JRN-037", HurtLoadStep)
def unreadable_run_is_unavailable(step: HurtLoadStep) -> bool | None:
    """An error of reading is neither the end of the run nor damage."""
    return isinstance(step.answer, Unavailable) if step.hurt.damaged_at is None else None


@clause("JRN-036", HurtLoadStep)
@clause("JRN-031", HurtLoadStep)
def damaged_file_is_corrupt(step: HurtLoadStep) -> bool | None:
    """The records before the damage at most, then the place of the damage."""
    if step.hurt.damaged_at is None:
        return None
    match step.answer:
        case Corrupt(sequence=sequence):
            return sequence == step.hurt.damaged_at
        case Page(records=records, end=end):
            return bool(records) and not end and records == step.sound[: len(records)]
        case _:
            return False


@clause("SNP-003", HurtSnapshotStep)
def damaged_snapshot_is_not_served(step: HurtSnapshotStep) -> bool | None:
    """A damaged snapshot is none."""
    return isinstance(step.answer, NoSnapshot)


# Appends


@clause("JRN-037", AppendStep)
def readable_run_goes_on(step: AppendStep) -> bool | None:
    """What can be read again is as it was."""
    return _answers_as_due(step) if "obstructed" in step.doubts else None


@clause("JRN-034", AppendStep)
def torn_tail_does_not_count(step: AppendStep) -> bool | None:
    """The next sequence is the one after the last record before a torn tail."""
    return _answers_as_due(step) if "torn_tail" in step.doubts else None


@clause("JRN-032", AppendStep)
def leftover_does_not_count(step: AppendStep) -> bool | None:
    """What a killed writer left is nothing."""
    return _answers_as_due(step) if "leftover" in step.doubts else None


@clause("JRN-026", AppendStep)
def too_large_is_refused(step: AppendStep) -> bool | None:
    """More than the declared limits is `too_large`."""
    return isinstance(step.answer, TooLarge) if isinstance(step.expected, TooLarge) else None


@clause("JRN-023", AppendStep)
def ids_survive_a_reopen(step: AppendStep) -> bool | None:
    """After a reopen or a crash, replays and conflicts are recognised as before."""
    recognises = step.is_replay or isinstance(step.expected, EventIdConflict)
    if not recognises or not step.doubts & {"crash", "reopen"}:
        return None
    return type(step.answer) in step.applicable and not _stored_wrongly(step) and not _missed_replay(step)


@clause("JRN-008", AppendStep)
def exact_replay_is_acknowledged(step: AppendStep) -> bool | None:
    """The same records again, the same acknowledgement again."""
    return step.answer == step.expected if step.is_replay else None


@clause("JRN-025", AppendStep)
def highest_epoch_is_never_stale(step: AppendStep) -> bool | None:
    """Only a higher epoch makes an append stale."""
    return not isinstance(step.answer, StaleEpoch) if step.epoch_is_highest else None


@clause("JRN-013", AppendStep)
def first_applicable_refusal(step: AppendStep) -> bool | None:
    """Of several refusals that apply, the first in the order is given."""
    if len(step.applicable) < 2:
        return None
    return type(step.answer) not in step.applicable - {type(step.expected)}


@clause("JRN-012", AppendStep)
def malformed_envelope_is_refused(step: AppendStep) -> bool | None:
    """An envelope that is wrong is `invalid_record`."""
    return isinstance(step.answer, InvalidRecord) if isinstance(step.expected, InvalidRecord) else None


@clause("JRN-024", AppendStep)
def lower_epoch_is_stale(step: AppendStep) -> bool | None:
    """An epoch below the highest granted one is `stale_epoch`."""
    return isinstance(step.answer, StaleEpoch) if isinstance(step.expected, StaleEpoch) else None


@clause("JRN-009", AppendStep)
def known_event_id_is_refused(step: AppendStep) -> bool | None:
    """A known event id that is no exact replay is `event_id_conflict`."""
    return isinstance(step.answer, EventIdConflict) if isinstance(step.expected, EventIdConflict) else None


@clause("JRN-010", AppendStep)
def event_id_of_another_run_is_new(step: AppendStep) -> bool | None:
    """What another run holds is no conflict here."""
    if not step.id_in_other_run or not _is_new(step):
        return None
    return not isinstance(step.answer, EventIdConflict)


@clause("JRN-014", AppendStep)
def full_batch_is_acknowledged(step: AppendStep) -> bool | None:
    """A batch at the floor of the limits is stored."""
    return isinstance(step.answer, Acknowledged) if step.fills_limits and _is_new(step) else None


@clause("JRN-008", AppendStep)
def replay_left_nothing(step: AppendStep) -> bool | None:
    """After a replay, and nothing refused, the run is as long as before."""
    is_alone = "replay" in step.doubts and not step.doubts & {"refused_record", "refused_batch"}
    return not _finds_more(step) if is_alone and _is_new(step) else None


@clause("JRN-015", AppendStep)
def refused_batch_left_nothing(step: AppendStep) -> bool | None:
    """After a refused batch, and no refused record, the next sequence is as it was, and the event ids are free."""
    return not _finds_more(step) if step.doubts & {"refused_record", "refused_batch"} == {"refused_batch"} else None


@clause("JRN-007", AppendStep)
def refused_append_left_nothing(step: AppendStep) -> bool | None:
    """After a refused append the run's next sequence is as it was, and its event ids are free."""
    return not _finds_more(step) if step.doubts & {"refused_record", "refused_batch"} else None


@clause("JRN-006", AppendStep)
def expected_1_means_no_run(step: AppendStep) -> bool | None:
    """1 is a position like any other."""
    if not isinstance(step.expected, SequenceConflict) or step.operation.expected_next != 1:
        return None
    return not isinstance(step.answer, Acknowledged)


@clause("JRN-017", AppendStep)
def crash_loses_nothing(step: AppendStep) -> bool | None:
    """After kill −9 the run is as long as before."""
    return not _misjudges_length(step) if "crash" in step.doubts and step.next_sequence > 1 else None


@clause("JRN-016", AppendStep)
def reopen_loses_nothing(step: AppendStep) -> bool | None:
    """After a clean close the run is as long as before."""
    return not _misjudges_length(step) if "reopen" in step.doubts and step.next_sequence > 1 else None


@clause("JRN-019", AppendStep)
def compared_with_all_processes(step: AppendStep) -> bool | None:
    """What another process appended counts."""
    return not _misjudges_length(step) if "other_handle" in step.doubts else None


@clause("JRN-018", AppendStep)
def compared_with_all_handles(step: AppendStep) -> bool | None:
    """What another handle appended counts."""
    return not _misjudges_length(step) if "other_handle" in step.doubts else None


@clause("JRN-004", AppendStep)
def wrong_expectation_is_refused(step: AppendStep) -> bool | None:
    """A position that is not the next one is `sequence_conflict`."""
    return isinstance(step.answer, SequenceConflict) if isinstance(step.expected, SequenceConflict) else None


@clause("JRN-005", AppendStep)
def conflict_tells_the_next_sequence(step: AppendStep) -> bool | None:
    """`actual_next` is the truth."""
    if not isinstance(step.expected, SequenceConflict) or not isinstance(step.answer, SequenceConflict):
        return None
    return step.answer.actual_next == step.expected.actual_next


@clause("JRN-001", AppendStep)
def append_at_the_next_sequence_is_acknowledged(step: AppendStep) -> bool | None:
    """A valid append in its place is stored, and each record is named in order."""
    return step.answer == step.expected if _is_new(step) else None


@clause("JRN-001", UnansweredStep)
def something_is_acknowledged(step: UnansweredStep) -> bool | None:
    """A journal that never gets further than `unavailable` acknowledges nothing."""
    return None if step.anything_acknowledged else False


@clause("JRN-014", DescriptionStep)
def limits_are_at_least_the_floor(step: DescriptionStep) -> bool | None:
    """Nobody declares less than the floor."""
    limits = step.limits
    return (
        limits.max_batch_records >= FLOOR.max_batch_records
        and limits.max_batch_bytes >= FLOOR.max_batch_bytes
        and limits.max_snapshot_bytes >= FLOOR.max_snapshot_bytes
    )


def _answers_as_due(step: AppendStep) -> bool | None:
    """Tell whether a right append is acknowledged, and one that is out of place is told the next sequence."""
    match step.expected:
        case Acknowledged():
            return step.answer == step.expected
        case SequenceConflict(actual_next=actual_next):
            return isinstance(step.answer, SequenceConflict) and step.answer.actual_next == actual_next
        case _:
            return None


def _is_new(step: AppendStep) -> bool:
    return isinstance(step.expected, Acknowledged) and not step.is_replay


def _stored_wrongly(step: AppendStep) -> bool:
    return isinstance(step.answer, Acknowledged) and not isinstance(step.expected, Acknowledged)


def _missed_replay(step: AppendStep) -> bool:
    return step.is_replay and not isinstance(step.answer, Acknowledged)


def _finds_more(step: AppendStep) -> bool:
    """Tell whether the answer shows that a refused append left something."""
    match step.answer:
        case SequenceConflict(actual_next=actual_next):
            return actual_next > step.next_sequence
        case EventIdConflict():
            known = isinstance(step.expected, EventIdConflict)
            return step.refused_before and not step.id_in_other_run and not known
        case _:
            return False


def _misjudges_length(step: AppendStep) -> bool:
    """Tell whether the answer shows that the run is taken for shorter or longer than it is."""
    match step.answer:
        case SequenceConflict(actual_next=actual_next):
            return _is_new(step) and actual_next != step.next_sequence
        case Acknowledged():
            is_past = step.operation.expected_next < step.next_sequence
            return isinstance(step.expected, SequenceConflict) and is_past
        case _:
            return False


# Loads


@clause("JRN-037", LoadStep)
def readable_run_is_as_before(step: LoadStep) -> bool | None:
    """What can be read again is as it was."""
    return _is_right(step) if "obstructed" in step.doubts else None


@clause("JRN-035", LoadStep)
def nothing_of_the_torn_tail_is_served(step: LoadStep) -> bool | None:
    """After an append to a run with a torn tail, its records are those before the tail and the new ones."""
    return _is_right(step) if "cut_tail" in step.doubts else None


@clause("JRN-034", LoadStep)
def torn_tail_is_not_fatal(step: LoadStep) -> bool | None:
    """The records before a torn tail are served."""
    return _is_right(step) if "torn_tail" in step.doubts else None


@clause("JRN-032", LoadStep)
def leftover_is_not_served(step: LoadStep) -> bool | None:
    """What a killed writer left is nothing."""
    return _is_right(step) if "leftover" in step.doubts else None


@clause("JRN-008", LoadStep)
def replay_is_stored_once(step: LoadStep) -> bool | None:
    """No record is served a second time because it was sent a second time."""
    if "replay" not in step.doubts or not isinstance(step.answer, Page):
        return None
    sequences = {record.event_id: record.sequence for record in step.rest}
    return all(sequences.get(record.event_id, record.sequence) == record.sequence for record in step.answer.records)


@clause("JRN-015", LoadStep)
def refused_batch_is_not_there(step: LoadStep) -> bool | None:
    """No record of a refused batch is served."""
    if "refused_batch" not in step.doubts or not isinstance(step.answer, Page):
        return None
    return step.refused_in_batch.isdisjoint(step.answer.records)


@clause("JRN-007", LoadStep)
def refused_record_is_not_there(step: LoadStep) -> bool | None:
    """No refused record is served."""
    if not step.doubts & {"refused_record", "refused_batch"} or not isinstance(step.answer, Page):
        return None
    return (step.refused_alone | step.refused_in_batch).isdisjoint(step.answer.records)


@clause("JRN-011", LoadStep)
def runs_are_independent(step: LoadStep) -> bool | None:
    """A run shows its own records; one without any is empty."""
    if not (step.others_exist or step.run_is_empty) or not isinstance(step.answer, Page):
        return None
    strangers = step.of_other_runs.difference(step.rest)
    is_empty = not step.answer.records and step.answer.end
    return strangers.isdisjoint(step.answer.records) and (is_empty or not step.run_is_empty)


@clause("JRN-002", LoadStep)
def bodies_come_back_byte_for_byte(step: LoadStep) -> bool | None:
    """The same record has the same body."""
    if not step.rest or not isinstance(step.answer, Page):
        return None
    return all(
        kept.body == served.body
        for kept, served in zip(step.rest, step.answer.records, strict=False)
        if (kept.sequence, kept.event_id) == (served.sequence, served.event_id)
    )


@clause("JRN-021", LoadStep)
def pages_lead_to_the_end(step: LoadStep) -> bool | None:
    """A page is no longer than asked, moves on, and does not claim an end that is none."""
    if not isinstance(step.answer, Page):
        return None
    length = len(step.answer.records)
    ends_early = step.answer.end and length == step.limit < step.due
    return length <= step.limit and (step.answer.end or length > 0) and not ends_early


@clause("JRN-017", LoadStep)
def all_is_there_after_a_crash(step: LoadStep) -> bool | None:
    """After kill −9 the records are those from before."""
    return _is_right(step) if "crash" in step.doubts and not step.run_is_empty else None


@clause("JRN-016", LoadStep)
def all_is_there_after_a_reopen(step: LoadStep) -> bool | None:
    """After a clean close the records are those from before."""
    return _is_right(step) if "reopen" in step.doubts and not step.run_is_empty else None


@clause("JRN-020", LoadStep)
def shows_what_other_handles_appended(step: LoadStep) -> bool | None:
    """What anybody was told is stored, everybody sees."""
    return _is_right(step) if "other_handle" in step.doubts else None


@clause("JRN-003", LoadStep)
def dense_ordered_and_complete(step: LoadStep) -> bool | None:
    """The records from the asked position on, in order, each once."""
    return _is_right(step)


def _is_right(step: LoadStep) -> bool:
    """Tell whether a page shows the right records, and all that are due if it says that it is the end."""
    if not isinstance(step.answer, Page):
        return False
    records = step.answer.records
    return records == step.rest[: len(records)] and (not step.answer.end or len(records) >= step.due)


# Snapshots


@clause("SNP-002", LoadSnapshotStep)
def unsaved_run_has_no_snapshot(step: LoadSnapshotStep) -> bool | None:
    """Nothing saved, nothing served."""
    return isinstance(step.answer, NoSnapshot) if not step.saved else None


@clause("SNP-004", LoadSnapshotStep)
def too_large_snapshot_changed_nothing(step: LoadSnapshotStep) -> bool | None:
    """After a snapshot that was too large, the one before it is there."""
    return snapshot_comes_back_as_saved(step) if step.after_too_large and step.saved else None


@clause("SNP-001", LoadSnapshotStep)
def snapshot_comes_back_as_saved(step: LoadSnapshotStep) -> bool | None:
    """Position and body belong together."""
    if not step.undisturbed:
        return isinstance(step.answer, NoSnapshot) or step.answer in step.saved
    furthest = max(step.saved, key=lambda snapshot: snapshot.sequence)
    return isinstance(step.answer, Snapshot) and step.answer in {
        step.saved[-1],
        *(snapshot for snapshot in step.saved if snapshot.sequence == furthest.sequence),
    }


@clause("SNP-004", SaveSnapshotStep)
def too_large_snapshot_is_refused(step: SaveSnapshotStep) -> bool | None:
    """More than the declared limit is `too_large`."""
    return isinstance(step.answer, TooLarge) if step.is_too_large else None


@clause("SNP-001", SaveSnapshotStep)
def snapshot_is_saved(step: SaveSnapshotStep) -> bool | None:
    """A snapshot within the limits is taken."""
    return None if step.is_too_large else isinstance(step.answer, Done)


# Leases


@clause("LSE-001", AcquireStep)
def epochs_only_grow(step: AcquireStep) -> bool | None:
    """A grant has a higher epoch than every grant before it."""
    if not step.lease.epoch or not isinstance(step.answer, Granted) or isinstance(step.expected, Held):
        return None
    return step.answer.epoch > step.lease.epoch


@clause("LSE-006", AcquireStep)
def granted_lease_lasts_its_time(step: AcquireStep) -> bool | None:
    """It lasts until now + ttl."""
    if step.until_ms is None or not isinstance(step.answer, Granted) or not isinstance(step.expected, Granted):
        return None
    return step.answer.until_ms == step.until_ms


@clause("LSE-005", AcquireStep)
def refused_renewal_changed_nothing(step: AcquireStep) -> bool | None:
    """After a refused renewal the lease lasts as long as before."""
    if not step.after_refused_renewal or step.expected is None:
        return None
    return type(step.answer) is type(step.expected)


@clause("LSE-002", AcquireStep)
def held_lease_is_not_granted(step: AcquireStep) -> bool | None:
    """A lease that is out is refused to all."""
    return isinstance(step.answer, Held) if isinstance(step.expected, Held) else None


@clause("LSE-003", AcquireStep)
def free_lease_is_granted(step: AcquireStep) -> bool | None:
    """A lease that is not out is granted."""
    return isinstance(step.answer, Granted) if isinstance(step.expected, Granted) else None


@clause("LSE-006", RenewStep)
def renewed_lease_lasts_its_time(step: RenewStep) -> bool | None:
    """It lasts until now + ttl."""
    if step.until_ms is None or not isinstance(step.answer, Renewed) or not isinstance(step.expected, Renewed):
        return None
    return step.answer.until_ms == step.until_ms


@clause("LSE-004", RenewStep)
def highest_epoch_renews(step: RenewStep) -> bool | None:
    """The highest epoch is prolonged, expired or not."""
    return isinstance(step.answer, Renewed) if isinstance(step.expected, Renewed) else None


@clause("LSE-005", RenewStep)
def lower_epoch_does_not_renew(step: RenewStep) -> bool | None:
    """A lower epoch is `stale_epoch`."""
    return isinstance(step.answer, StaleEpoch) if isinstance(step.expected, StaleEpoch) else None


@clause("LSE-003", ReleaseStep)
def highest_epoch_is_released(step: ReleaseStep) -> bool | None:
    """The owner of the lease can give it back."""
    return isinstance(step.answer, Done) if isinstance(step.expected, Done) else None


# What is not claimed


@clause("JRN-022", UnclaimedStep)
def unclaimed_operation_is_unsupported(step: UnclaimedStep) -> bool | None:
    """Whoever does not claim an operation says so when asked for it."""
    return isinstance(step.answer, NotSupported)


# At the same time


def _without_complaint(requirement: str, step: RaceStep | LeaseRaceStep) -> bool | None:
    found = complaint(requirement, step)
    return None if found is None else not found


CLAUSES.extend(Clause(key, RaceStep, partial(_without_complaint, key)) for key in COMPLAINTS)
CLAUSES.extend(Clause(key, LeaseRaceStep, partial(_without_complaint, key)) for key in COMPLAINTS_OF_LEASES)
