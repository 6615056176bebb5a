"""Whatever any writers send, the sequences of a run stay dense and unique, and so do its event ids.

By induction over the appends: of a run with no record it holds, and if it holds before an append, it holds after it.
An append is one step on the state of its run, under the lock of whoever keeps it. So any interleaving of any number of
writers is a sequence of such steps, and a step may be of any writer: what it sends is any batch, at any expected
sequence, under any epoch, of event ids that are stored already or not. The step is that of the journal that every
other one is compared with, which runs here as it is, in the midst of any history.

Of what is stored a step sees how much it is, and the records whose event ids stand in the batch; the others are any.
The batches have up to three records: whatever is asked of a batch is asked of each of its records, or of two of them
at once, and the third is one beside the two. Bodies are any texts of one length, held against any limits of a batch;
what is malformed is one of six texts.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from perdure.journal.contract import (
    BUILT_IN_LIMITS,
    Acknowledged,
    Acknowledgement,
    AppendAnswer,
    Envelope,
    EventIdConflict,
    InvalidRecord,
    Limits,
    SequenceConflict,
    StaleEpoch,
    TooLarge,
    acknowledge,
)
from perdure.journal.reference import ReferenceJournal, RunView
from perdure.kernel.identity import EventId, RunId
from perdure.kernel.values import MAX_SAFE_INTEGER
from perdure_proofs.symbols import identity_text
from perdure_proofs.theorems import Any, Theorem, assume

Records = Sequence[Envelope]

RUN: Final = RunId(identity_text(1))
UNKNOWN: Final = (InvalidRecord, TooLarge)
"""The refusals of an envelope, whatever is stored."""


@dataclass(frozen=True, slots=True)
class Call:
    """An append: what somebody sends."""

    expected_next: int
    records: Records
    epoch: int | None
    limits: Limits = BUILT_IN_LIMITS


class Midst(ReferenceJournal):
    """The journal itself, in the midst of a history: what was stored before is asked for when it is needed."""

    def __init__(self, before: Callable[[], RunView], limits: Limits) -> None:
        super().__init__(limits)
        self._told = before

    @cached_property
    def before(self) -> RunView:
        """What was stored."""
        return self._told()

    def view(self, run_id: RunId) -> RunView:
        """Add what was stored since."""
        since = super().view(run_id)
        next_sequence = self.before.next_sequence + since.next_sequence - 1
        return RunView(next_sequence, self.before.highest_epoch, ChainMap({}, since.stored, self.before.stored))  # type: ignore[arg-type]


class After(NamedTuple):
    """What came of an append."""

    answer: AppendAnswer
    added: Records
    """What was stored, in order."""


def append(before: Callable[[], RunView], call: Call, journal: type[Midst] = Midst) -> After:
    """Append to a run."""
    kept = journal(before, call.limits)
    answer = kept.append(RUN, call.expected_next, call.records, call.epoch)
    return After(answer, tuple(kept.records(RUN)))


@dataclass(frozen=True, slots=True)
class Appends:
    """The step."""

    append: Callable[[Callable[[], RunView], Call], After] = append


def by(journal: type[Midst]) -> Appends:
    """Return the step of a journal with a fault."""
    return Appends(lambda before, call: append(before, call, journal))


class LeavesGaps(Midst):
    """Takes a position that is still to come."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Compare with < where it should be ==."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, SequenceConflict) and expected_next > answer.actual_next:
            self.store(run_id, records)
            return acknowledge(records)
        return answer


class TakesOneAsAnywhere(Midst):
    """Takes an expected sequence of 1 as "append, wherever the end is"."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Append at the end if 1 is expected."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, SequenceConflict) and expected_next == 1:
            self.store(run_id, records)
            return acknowledge(records)
        return answer


class KeepsTheLoser(Midst):
    """Stores the records first and compares afterwards: the loser is refused, and stays."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Refuse too late."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, SequenceConflict):
            self.store(run_id, records)
        return answer


class LooksAtTheFirstSequenceOnly(Midst):
    """Compares the first record's sequence and takes the others as they come."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Number the records anew for the comparison."""
        first = records[0].sequence if records else expected_next
        numbered = [Envelope(first + index, record.event_id, record.body) for index, record in enumerate(records)]
        answer = super().append(run_id, expected_next, numbered, epoch)
        return acknowledge(records) if isinstance(answer, Acknowledged) else answer


class KeepsOneOfTwins(Midst):
    """Drops the second of two records with one event id in a batch, as INSERT OR IGNORE does."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Ignore the twin."""
        first_of = {record.event_id: record for record in reversed(records)}
        unique = [record for record in records if first_of[record.event_id] is record]
        answer = super().append(run_id, expected_next, unique, epoch)
        return acknowledge(records) if isinstance(answer, Acknowledged) else answer


class TakesAKnownIdInPlace(Midst):
    """Looks for known event ids only if the position is wrong; in the right place it stores the id again."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Trust the position."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, EventIdConflict) and expected_next == self.view(run_id).next_sequence:
            self.store(run_id, records)
            return acknowledge(records)
        return answer


class ComparesIdsAlone(Midst):
    """Takes every batch of known event ids for a replay, whatever bytes came with them."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Acknowledge other bytes."""
        answer = super().append(run_id, expected_next, records, epoch)
        known = self.view(run_id).stored
        if isinstance(answer, EventIdConflict) and all(record.event_id in known for record in records):
            return acknowledge(records)
        return answer


class RefusesReplays(Midst):
    """Treats records that are sent again like any other that are out of place."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Refuse what is stored."""
        answer = super().append(run_id, expected_next, records, epoch)
        is_repeated = isinstance(answer, Acknowledged) and not self.records(run_id)
        return SequenceConflict(actual_next=self.view(run_id).next_sequence) if is_repeated else answer


class MatchesUpToALineEnd(Midst):
    """Checks event ids with a pattern that ends in $, which also matches before a final line feed."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Let a line feed through."""
        trimmed = [Envelope(each.sequence, EventId(each.event_id.rstrip("\n")), each.body) for each in records]
        answer = super().append(run_id, expected_next, trimmed, epoch)
        return acknowledge(records) if isinstance(answer, Acknowledged) else answer


THEOREM: Final = Theorem(
    (
        *("JRN-001", "JRN-003", "JRN-004", "JRN-005", "JRN-006", "JRN-007", "JRN-008", "JRN-009", "JRN-012", "JRN-015"),
        *("JRN-024", "JRN-027"),
    ),
    Appends(),
    mutants={
        each.__name__: by(each)
        for each in (
            LeavesGaps,
            TakesOneAsAnywhere,
            KeepsTheLoser,
            LooksAtTheFirstSequenceOnly,
            KeepsOneOfTwins,
            TakesAKnownIdInPlace,
            ComparesIdsAlone,
            RefusesReplays,
            MatchesUpToALineEnd,
        )
    },
    assumptions=(
        "A store judges, compares and stores as one step for every handle: JRN-027 to JRN-029 are judged by races.",
        "A batch of more than three records is decided as each three of them are: tests/proofs draws longer ones.",
    ),
)

SIZES: Final = (1, 2, 3)
MALFORMED: Final[Sequence[Mapping[str, str]]] = (
    {"event_id": ""},
    {"event_id": "ABCDEFAB-0000-4000-8000-000000000000"},
    {"event_id": f"{identity_text(9)}\n"},
    {"event_id": identity_text(9).replace("-", "")},
    {"body": ""},
    {"body": "\ud800"},
)


def any_call(values: Any) -> Call:
    """Return any append. A body is any text of one length: what length does is to be refused."""
    size = values.among("records", SIZES)
    return Call(
        values.whole("expected next", -MAX_SAFE_INTEGER, MAX_SAFE_INTEGER),
        [
            Envelope(
                values.whole(f"sequence {place}", -MAX_SAFE_INTEGER, MAX_SAFE_INTEGER),
                EventId(values.identity(f"event id {place}")),
                values.identity(f"body {place}"),
            )
            for place in range(size)
        ],
        values.whole("epoch", 0, MAX_SAFE_INTEGER),
        Limits(
            max_batch_records=values.whole("most records", 0, MAX_SAFE_INTEGER),
            max_batch_bytes=values.whole("most bytes", 0, MAX_SAFE_INTEGER),
            max_snapshot_bytes=0,
        ),
    )


class Before:
    """Any run of which the theorem holds, with what it has stored under the event ids of these records."""

    def __init__(self, values: Any, records: Records) -> None:
        self._values = values
        self._records = records

    @cached_property
    def run(self) -> RunView:
        """The run, once somebody asks for it."""
        values = self._values
        last = values.whole("stored", 0, MAX_SAFE_INTEGER)
        held: dict[EventId, Envelope] = {}
        for place, record in enumerate(self._records):
            if values.among(f"event id {place} is stored", (False, True)) and record.event_id not in held:
                sequence = values.whole(f"stored at {place}", 1, last)
                assume(all(sequence != other.sequence for other in held.values()))
                held[record.event_id] = Envelope(sequence, record.event_id, values.identity(f"stored body {place}"))
        return RunView(last + 1, values.whole("highest epoch", 0, MAX_SAFE_INTEGER), held)

    def __call__(self) -> RunView:
        """Return the run."""
        return self.run


@THEOREM.claim
def what_is_malformed_is_invalid(appends: Appends, values: Any) -> bool:
    """A batch is refused that is empty, or of which one record has a malformed event id or body, wherever it stands."""
    size = values.among("records", (0, *SIZES))
    records = [Envelope(1 + place, EventId(identity_text(place)), "{}") for place in range(size)]
    if records:
        place = values.among("place", range(size))
        records[place] = msgspec.structs.replace(records[place], **values.among("fault", MALFORMED))
    answer, added = appends.append(lambda: RunView(1, 0, {}), Call(1, records, None))
    return isinstance(answer, InvalidRecord) and not added


@THEOREM.claim
def what_is_acknowledged_is_there(appends: Appends, values: Any) -> bool:
    """Each record that is acknowledged is stored whole, at its sequence, and of what is refused nothing is."""
    call = any_call(values)
    before = Before(values, call.records)
    answer, added = appends.append(before, call)
    if not isinstance(answer, Acknowledged):
        return not added
    told = Acknowledged(tuple(Acknowledgement(record.sequence, record.event_id) for record in call.records))
    held = ChainMap({record.event_id: record for record in added}, {**before.run.stored})
    return answer == told and all(held.get(record.event_id) == record for record in call.records)


@THEOREM.claim
def sequences_stay_dense_and_unique(appends: Appends, values: Any) -> bool:
    """If the stored sequences are 1 to n, each once, they are 1 to m after any append, each once."""
    call = any_call(values)
    before = Before(values, call.records)
    added = appends.append(before, call).added
    assume(bool(added))
    position = values.whole("position", 1, before.run.next_sequence + len(added) - 1)
    there = [record for record in added if record.sequence == position]
    return len(there) == (1 if position >= before.run.next_sequence else 0)


@THEOREM.claim
def an_event_id_is_stored_once(appends: Appends, values: Any) -> bool:
    """If no event id is stored twice, none is after any append."""
    call = any_call(values)
    before = Before(values, call.records)
    added = [record.event_id for record in appends.append(before, call).added]
    return all(event_id not in before.run.stored and added.count(event_id) == 1 for event_id in added)


@THEOREM.claim
def sent_again_it_is_acknowledged_alike(appends: Appends, values: Any) -> bool:
    """A stored batch that is sent again is acknowledged as it was, and not stored, or its epoch is stale by then."""
    call = any_call(values)
    before = Before(values, call.records)
    answer, added = appends.append(before, call)
    assume(bool(added))
    grown = values.whole("next sequence by then", before.run.next_sequence + len(added), 2 * MAX_SAFE_INTEGER)
    highest = values.whole("highest epoch by then", before.run.highest_epoch, MAX_SAFE_INTEGER)
    held = ChainMap({record.event_id: record for record in added}, {**before.run.stored})
    again = appends.append(lambda: RunView(grown, highest, held), call)
    is_stale = (call.epoch or 0) < highest
    return not again.added and (isinstance(again.answer, StaleEpoch) if is_stale else again.answer == answer)


@THEOREM.claim
def a_refusal_has_its_reason(appends: Appends, values: Any) -> bool:
    """A sound batch is stale, else in conflict by a known event id, else by its sequence, or else stored."""
    call = any_call(values)
    before = Before(values, call.records)
    answer, added = appends.append(before, call)
    assume(not isinstance(answer, UNKNOWN))
    is_stale = (call.epoch or 0) < before.run.highest_epoch
    is_known = any(record.event_id in before.run.stored for record in call.records)
    is_elsewhere = call.expected_next != before.run.next_sequence
    match answer:
        case StaleEpoch():
            return is_stale
        case EventIdConflict():
            return is_known and not is_stale
        case SequenceConflict():
            return is_elsewhere and answer.actual_next == before.run.next_sequence and not (is_known or is_stale)
        case _:
            return not is_stale and (not added if is_known else not is_elsewhere and len(added) == len(call.records))
