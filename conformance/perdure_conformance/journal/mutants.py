"""Journals that are wrong on purpose, each with one fault that somebody really had or easily has.

Each is named after its fault and kept so small that the fault is all one sees. They prove that the checks can fail.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from perdure.journal.contract import (
    FLOOR,
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
    InvalidRecord,
    LoadAnswer,
    LoadSnapshotAnswer,
    NoSnapshot,
    NotStored,
    Page,
    ReleaseAnswer,
    RenewAnswer,
    Renewed,
    SaveSnapshotAnswer,
    SequenceConflict,
    StaleEpoch,
    TooLarge,
    acknowledge,
    invalid_or_too_large,
    utf8_bytes,
)
from perdure.journal.memory import MemoryJournal
from perdure.journal.reference import Lease
from perdure.journal.sqlite import SqliteJournal
from perdure.kernel.identity import EventId, OwnerId, RunId
from perdure_conformance.journal import mutants_of_files, mutants_of_races
from perdure_conformance.journal.registry import MUTANTS, mutant

__all__ = ["MUTANTS", "mutants_of_files", "mutants_of_races"]

Records = Sequence[Envelope]


def _claiming(description: Description, **claims: bool) -> Description:
    capabilities: Capabilities = msgspec.structs.replace(description.capabilities, **claims)
    return msgspec.structs.replace(description, capabilities=capabilities)


class _Memory(MemoryJournal):
    """What most mutants change: the journal in memory, with a look at what it holds."""

    def drop(self, run_id: RunId) -> None:
        self._state._runs.pop(run_id, None)  # noqa: SLF001

    def next(self, run_id: RunId) -> int:
        return len(self._state.records(run_id)) + 1

    def held(self, run_id: RunId, event_id: EventId) -> Envelope | None:
        return self._state.view(run_id).stored.get(event_id)


# Appending


@mutant("JRN-001")
class AcknowledgesInReverse(_Memory):
    """Acknowledges the records of a batch in the order of its stack, the last one first."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Reverse the acknowledgement."""
        answer = super().append(run_id, expected_next, records, epoch)
        return Acknowledged(answer.acknowledged[::-1]) if isinstance(answer, Acknowledged) else answer


@mutant(
    "JRN-003",
    overlaps=(
        "JRN-001",
        "JRN-004",
        "JRN-005",
        "JRN-008",
        "JRN-009",
        "JRN-012",
        "JRN-013",
        "JRN-014",
        "JRN-016",
        "JRN-018",
        "JRN-020",
        "JRN-021",
        "JRN-023",
        "JRN-027",
    ),
    report="Eventuous/eventuous#582",
)
class DropsTheLastOfABatch(_Memory):
    """Stores a batch without its last record, and acknowledges them all."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Store less than was sent."""
        answer = super().append(run_id, expected_next, records[:-1] if len(records) > 1 else records, epoch)
        return acknowledge(records) if isinstance(answer, Acknowledged) else answer


@mutant("JRN-004")
class LeavesGaps(_Memory):
    """Refuses a position that is taken, and takes one that is still to come."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Compare with < where it should be ==."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, SequenceConflict) and expected_next > answer.actual_next:
            self._state.store(run_id, records)
            return acknowledge(records)
        return answer


@mutant("JRN-005", overlaps=("JRN-018",))
class TellsTheLastSequence(_Memory):
    """Tells the last sequence where the next one is asked for."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Be one off."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, SequenceConflict):
            return SequenceConflict(actual_next=max(1, answer.actual_next - 1))
        return answer


@mutant("JRN-006", overlaps=("JRN-002", "JRN-003", "JRN-027"))
class TakesOneAsAnywhere(_Memory):
    """Takes an expected sequence of 1 as "append, wherever the end is"."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Append at the end if 1 is expected."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, SequenceConflict) and expected_next == 1:
            self._state.store(run_id, records)
            return acknowledge(records)
        return answer


@mutant("JRN-007", overlaps=("JRN-027",), report="Eventuous/eventuous#582")
class KeepsTheLoser(_Memory):
    """Stores the record first and compares afterwards: the loser is refused, and stays."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Refuse too late."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, SequenceConflict) and len(records) == 1:
            self._state.store(run_id, records)
        return answer


@mutant("JRN-007", overlaps=("JRN-015", "JRN-027", "JRN-029"))
class SaysNotStoredAndStores(_Memory):
    """Answers every fourth append `not_stored`, after it has stored it."""

    _calls = 0

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Fail after the fact."""
        answer = super().append(run_id, expected_next, records, epoch)
        self._calls += 1
        return NotStored() if isinstance(answer, Acknowledged) and self._calls % 4 == 0 else answer


@mutant("JRN-012")
class TakesEmptyBatches(_Memory):
    """Acknowledges an empty batch: there is nothing to store, so nothing can go wrong."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Acknowledge nothing."""
        if not records and expected_next == self.next(run_id):
            return acknowledge(records)
        return super().append(run_id, expected_next, records, epoch)


@mutant("JRN-012", overlaps=("JRN-013",))
class LooksAtTheFirstSequenceOnly(_Memory):
    """Compares the first record's sequence and takes the others as they come."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Number the records anew, without a look."""
        first = records[0].sequence if records else expected_next
        renumbered = [Envelope(first + index, record.event_id, record.body) for index, record in enumerate(records)]
        return super().append(run_id, expected_next, renumbered, epoch)


@mutant("JRN-012")
class MatchesUpToALineEnd(_Memory):
    """Checks event ids with a pattern that ends in $, which also matches before a final line feed."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Let a line feed through."""
        pattern = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        trimmed = [
            Envelope(record.sequence, EventId(record.event_id.rstrip("\n")), record.body)
            if pattern.match(record.event_id)
            else record
            for record in records
        ]
        answer = super().append(run_id, expected_next, trimmed, epoch)
        return acknowledge(records) if isinstance(answer, Acknowledged) else answer


@mutant("JRN-012", overlaps=("JRN-013",))
class KeepsOneOfTwins(_Memory):
    """Drops the second of two records with one event id in a batch, as INSERT OR IGNORE does."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Ignore the twin."""
        first_of = {record.event_id: record for record in reversed(records)}
        unique = [record for record in records if first_of[record.event_id] is record]
        answer = super().append(run_id, expected_next, unique, epoch)
        return acknowledge(records) if isinstance(answer, Acknowledged) else answer


@mutant("JRN-013")
class ComparesTheSequenceFirst(_Memory):
    """Compares the sequence before the event ids, so a known id that is out of place is a mere sequence conflict."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Answer in another order."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, EventIdConflict) and expected_next != self.next(run_id):
            return SequenceConflict(actual_next=self.next(run_id))
        return answer


@mutant("JRN-014")
class IsFullTooEarly(_Memory):
    """Refuses a batch of exactly as many records as it declares: >= where it should be >."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Be one off."""
        if len(records) >= 1_000:
            return TooLarge(detail="at most 1000 records")
        return super().append(run_id, expected_next, records, epoch)


@mutant("JRN-014")
class MeasuresEscapes(_Memory):
    """Measures a batch as it would be with its letters beyond ASCII escaped: what fits is `too_large`."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Keep to the limit of bytes, so measured."""
        escaped_bytes = sum(len(record.body.encode("ascii", "backslashreplace")) for record in records)
        if escaped_bytes > FLOOR.max_batch_bytes:
            return TooLarge(detail="no room")
        return super().append(run_id, expected_next, records, epoch)


class _Tight(_Memory):
    """Takes no more than everybody must, and says so."""

    @property
    def description(self) -> Description:
        """Declare the least limits."""
        return msgspec.structs.replace(super().description, limits=FLOOR)

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Keep to the limit of snapshots."""
        if utf8_bytes(body) > FLOOR.max_snapshot_bytes:
            return TooLarge(detail="no room")
        return super().save_snapshot(run_id, sequence, body)


class _KeepsToItsLimits(_Tight):
    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Keep to the limits of batches."""
        refusal = invalid_or_too_large(expected_next, records, FLOOR)
        return refusal or super().append(run_id, expected_next, records, epoch)


@mutant("JRN-026", overlaps=("JRN-013",))
class TakesMoreThanItDeclares(_Tight):
    """Declares limits and never looks at them again."""


@mutant("JRN-026")
class CountsCharacters(_Tight):
    """Measures a batch in characters, of which one may be four bytes."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Keep to the limits, so measured."""
        not_counted = sum(utf8_bytes(record.body) - len(record.body) for record in records)
        limits = msgspec.structs.replace(FLOOR, max_batch_bytes=FLOOR.max_batch_bytes + not_counted)
        refusal = invalid_or_too_large(expected_next, records, limits)
        return refusal or super().append(run_id, expected_next, records, epoch)


@mutant("JRN-026", overlaps=("JRN-001", "JRN-003", "JRN-005", "JRN-013", "JRN-015"))
class FillsUpAndRefusesTheRest(_Tight):
    """Stores as many records of a batch as fit, and answers `too_large` for the others."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Store what fits first."""
        refusal = invalid_or_too_large(expected_next, records, FLOOR)
        if not isinstance(refusal, TooLarge):
            return super().append(run_id, expected_next, records, epoch)
        answer = super().append(run_id, expected_next, records[: FLOOR.max_batch_records], epoch)
        return refusal if isinstance(answer, Acknowledged) else answer


@mutant("JRN-013")
class LooksAtTheSizeFirst(_KeepsToItsLimits):
    """Compares sizes before it looks at the records: an envelope that is wrong and too large is `too_large`."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Count before anything else."""
        if len(records) > FLOOR.max_batch_records:
            return TooLarge(detail="too many records")
        return super().append(run_id, expected_next, records, epoch)


@mutant(
    "JRN-015",
    overlaps=(
        "JRN-001",
        "JRN-003",
        "JRN-005",
        "JRN-007",
        "JRN-008",
        "JRN-009",
        "JRN-011",
        "JRN-012",
        "JRN-013",
        "JRN-018",
        "JRN-023",
    ),
)
class StoresUntilTheFirstBadOne(_Memory):
    """Stores the records of a batch one by one and stops at the first that is refused."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Leave the ones before it."""
        if len(records) < 2 or all(self.held(run_id, record.event_id) == record for record in records):
            return super().append(run_id, expected_next, records, epoch)
        for index, record in enumerate(records):
            answer = super().append(run_id, expected_next + index, [record], epoch)
            if not isinstance(answer, Acknowledged):
                return answer
        return acknowledge(records)


# Bytes


class _ChangesBodies(_Memory):
    """Serves another body than it got."""

    def change(self, body: str) -> str:
        raise NotImplementedError

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Change the bodies of a page."""
        page = super().load(run_id, from_sequence, limit)
        if not isinstance(page, Page):
            return page
        changed = (Envelope(record.sequence, record.event_id, self.change(record.body)) for record in page.records)
        return Page(tuple(changed), page.end)


@mutant("JRN-002", report="everruns/everruns#1031")
class DropsNul(_ChangesBodies):
    """Drops NUL characters, which its text column cannot hold."""

    def change(self, body: str) -> str:
        """Drop the escape too."""
        return body.replace("\\u0000", "").replace("\x00", "")


@mutant("JRN-002")
class NormalisesText(_ChangesBodies):
    """Normalises text to NFC, as some file systems and collations do."""

    def change(self, body: str) -> str:
        """Compose what was decomposed."""
        return unicodedata.normalize("NFC", body)


@mutant("JRN-002")
class WritesJsonAnew(_ChangesBodies):
    """Parses the body and writes it anew, as a JSON column does."""

    def change(self, body: str) -> str:
        """Keep the value, lose the bytes."""
        return json.dumps(json.loads(body))


@mutant("JRN-002", report="LadybugDB/ladybug#959")
class LosesTheHeadOfLongBodies(_ChangesBodies):
    """Loses what a 4 KiB buffer held when it had to grow."""

    def change(self, body: str) -> str:
        """Keep what came after the buffer grew."""
        return body[4096:] if len(body) > 4096 else body


@mutant("JRN-002")
class DecodesBlockByBlock(_ChangesBodies):
    """Decodes each block of 4 KiB by itself, so that a character across a border is lost."""

    def change(self, body: str) -> str:
        """Decode what a block holds."""
        encoded = body.encode()
        blocks = (encoded[start : start + 4096] for start in range(0, len(encoded), 4096))
        return "".join(block.decode(errors="replace") for block in blocks)


# Replays and identities


@mutant(
    "JRN-008",
    overlaps=(
        "JRN-013",
        "JRN-023",
    ),
)
class RefusesReplays(_Memory):
    """Treats records that are sent again like any other that are out of place."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Refuse what is stored."""
        if records and all(self.held(run_id, record.event_id) == record for record in records):
            return SequenceConflict(actual_next=self.next(run_id))
        return super().append(run_id, expected_next, records, epoch)


@mutant("JRN-008", overlaps=("JRN-009",), report="theinterfold/interfold#1654")
class ForgetsOldIds(_Memory):
    """Keeps the last 16 event ids of a run to recognise replays, and forgets the older ones."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Look into a window."""
        answer = super().append(run_id, expected_next, records, epoch)
        known = {record.event_id for record in self._state.records(run_id)[-16:]}
        if isinstance(answer, Acknowledged) and not known & {record.event_id for record in records}:
            return SequenceConflict(actual_next=self.next(run_id))
        return answer


@mutant("JRN-009", overlaps=("JRN-023",), report="kurrent-io/KurrentDB#1898")
class TakesAKnownIdInPlace(_Memory):
    """Looks for known event ids only if the position is wrong; in the right place it stores the id again."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Trust the position."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, EventIdConflict) and expected_next == self.next(run_id):
            self._state.store(run_id, records)
            return acknowledge(records)
        return answer


@mutant("JRN-009", overlaps=("JRN-013", "JRN-015", "JRN-023"), report="theinterfold/interfold#1654")
class ComparesIdsAlone(_Memory):
    """Takes every batch of known event ids for a replay, whatever bytes came with them."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Acknowledge other bytes."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, EventIdConflict) and all(self.held(run_id, record.event_id) for record in records):
            return acknowledge(records)
        return answer


@mutant("JRN-010", report="theinterfold/interfold#1654")
class KnowsIdsOfAllRuns(_Memory):
    """Has one index of event ids for all runs."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._owner: dict[EventId, RunId] = {}

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Find another run's id."""
        if any(self._owner.get(record.event_id, run_id) != run_id for record in records):
            return EventIdConflict()
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, Acknowledged):
            self._owner.update((record.event_id, run_id) for record in records)
        return answer


@mutant(
    "JRN-023",
    overlaps=("JRN-008", "JRN-009", "JRN-013"),
    report="yvgude/lean-ctx#863",
)
class ForgetsIdsOnReopen(_Memory):
    """Knows event ids in memory alone: after a reopen, replays and conflicts look new."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._known: set[EventId] = set()

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Recognise what this handle saw."""
        known = self._known.issuperset(record.event_id for record in records if self.held(run_id, record.event_id))
        invalid = invalid_or_too_large(expected_next, records, self.description.limits)
        if invalid is None and not known:
            if expected_next != self.next(run_id):
                return SequenceConflict(actual_next=self.next(run_id))
            self._state.store(run_id, records)
            return acknowledge(records)
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, Acknowledged):
            self._known.update(record.event_id for record in records)
        return answer


# Loading


@mutant("JRN-011", overlaps=("JRN-028",))
class ServesTheLastRunInstead(_Memory):
    """Serves the run that it looked at last when it does not know the one that was asked for."""

    _last: RunId | None = None

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Fall back on a variable that was left over."""
        if self.next(run_id) > 1:
            self._last = run_id
        return super().load(self._last or run_id, from_sequence, limit)


@mutant("JRN-021", overlaps=("JRN-020",))
class EndsAtAFullPage(_Memory):
    """Says that the end is reached when the page is full."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Take a full page for the last one."""
        page = super().load(run_id, from_sequence, limit)
        return Page(page.records, end=True) if isinstance(page, Page) else page


@mutant("JRN-021")
class IgnoresTheLimit(_Memory):
    """Returns the whole run, whatever the limit."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:  # noqa: ARG002
        """Ignore it."""
        return super().load(run_id, from_sequence, 10_000)


@mutant("JRN-003")
class EndsWhereALineIsFull(_Memory):
    """Cuts a page where a line would be full, and takes a page below the limit for the last one."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Compare with the limit instead of with the run."""
        page = super().load(run_id, from_sequence, limit)
        if not isinstance(page, Page):
            return page
        size_bytes = 0
        for index, record in enumerate(page.records):
            size_bytes += len(record.body)
            if size_bytes > 2**20:
                return Page(page.records[:index], end=index < limit)
        return page


@mutant("JRN-001")
class KnowsCommonVersionsOnly(_Memory):
    """Takes UUIDs of the versions 1 to 8 alone."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Look at the version."""
        if any(record.event_id[14:15] in {"0", "f"} for record in records):
            return InvalidRecord(detail="no UUID of a known version")
        return super().append(run_id, expected_next, records, epoch)


@mutant("JRN-003", overlaps=("JRN-020", "JRN-028"))
class SkipsBetweenPages(_Memory):
    """Begins each page after the first one record too late."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Take "from" as "after", except at 1."""
        return super().load(run_id, from_sequence + 1 if from_sequence > 1 else 1, limit)


@mutant("JRN-003", overlaps=("JRN-020", "JRN-027"))
class SortsAsText(_Memory):
    """Sorts sequences as text, so that 10 comes before 2."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Sort what is sorted."""
        page = super().load(run_id, from_sequence, limit)
        if not isinstance(page, Page):
            return page
        return Page(tuple(sorted(page.records, key=lambda record: str(record.sequence))), page.end)


# Reopening, crashing, sharing


@mutant(
    "JRN-016",
    overlaps=("JRN-006", "JRN-008", "JRN-018", "JRN-020", "JRN-023", "JRN-027"),
)
class LosesTheTailOnClose(_Memory):
    """Closes without writing the last record of each run that was used."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._used: set[RunId] = set()

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Note the run."""
        self._used.add(run_id)
        return super().append(run_id, expected_next, records, epoch)

    def close(self) -> None:
        """Cut each run."""
        for run_id in self._used:
            kept, lease = self._state.records(run_id)[:-1], self._state.lease(run_id)
            self.drop(run_id)
            self._state.store(run_id, kept)
            self._state.put_lease(run_id, lease)


@mutant(
    "JRN-017",
    overlaps=("JRN-006", "JRN-023", "LSE-001", "LSE-002"),
)
class CommitsOnClose(SqliteJournal):
    """Acknowledges inside a transaction that it commits when it is closed: kill −9 takes all of it."""

    @property
    def description(self) -> Description:
        """Claim no sharing, which an open transaction would not allow."""
        return _claiming(super().description, multi_handle=False, multi_process=False)

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._database.execute("BEGIN IMMEDIATE")

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Store one statement's worth, uncommitted."""
        invalid = invalid_or_too_large(expected_next, records, self.description.limits)
        return invalid or self._append(run_id, expected_next, records, epoch)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Join the open transaction."""
        yield

    def close(self) -> None:
        """Commit at last."""
        self._database.execute("COMMIT")
        super().close()


@mutant("JRN-018", overlaps=("JRN-027",))
class TrustsItsOwnCounter(_Memory):
    """Counts each run's records itself after the first look, and misses what other handles append."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._counter: dict[RunId, int] = {}

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Compare with the counter."""
        counter = self._counter.setdefault(run_id, self.next(run_id))
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, SequenceConflict) and expected_next == counter:
            self._state.store(run_id, records)
            answer = acknowledge(records)
        if isinstance(answer, Acknowledged) and expected_next == counter:
            self._counter[run_id] = counter + len(records)
        return answer


@mutant("JRN-019", overlaps=("JRN-005", "JRN-009", "JRN-012", "JRN-013", "JRN-018", "JRN-024", "JRN-029"))
class TrustsItsProcess(SqliteJournal):
    """Counts each run's records in its own process after the first look, and misses what other processes append."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._counter: dict[RunId, int] = {}

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Refuse by the counter what the store would take."""
        counter = self._counter.setdefault(run_id, self._view(run_id, []).next_sequence)
        answer = super().append(run_id, expected_next, records, epoch) if expected_next <= counter else None
        if isinstance(answer, Acknowledged):
            self._counter[run_id] = max(counter, expected_next + len(records))
        return answer or SequenceConflict(actual_next=counter)


@mutant("JRN-020", overlaps=("JRN-028",), report="akka/akka-persistence-jdbc#96")
class ReadsFromACache(_Memory):
    """Serves a run from the cache that its last load filled, until it appends itself."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._cache: dict[tuple[RunId, int, int], LoadAnswer] = {}

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Empty the cache."""
        self._cache.clear()
        return super().append(run_id, expected_next, records, epoch)

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Serve what was served before."""
        key = (run_id, from_sequence, limit)
        if key not in self._cache:
            self._cache[key] = super().load(run_id, from_sequence, limit)
        return self._cache[key]


# What is not claimed


@mutant("JRN-022")
class AnswersWhatItDoesNotClaim(_Memory):
    """Offers snapshots that it does not claim, and keeps none."""

    @property
    def description(self) -> Description:
        """Claim no snapshots."""
        return _claiming(super().description, snapshots=False)

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:  # noqa: ARG002
        """Do nothing, kindly."""
        return Done()


# Fencing


@mutant("JRN-024", overlaps=("JRN-013",), report="Azure/azure-functions-durable-extension#382")
class IgnoresEpochs(_Memory):
    """Takes an append under any epoch."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Append under the highest epoch, always."""
        return super().append(run_id, expected_next, records, max(epoch or 0, self._state.lease(run_id).epoch))


@mutant("JRN-024", overlaps=("JRN-013",), report="Azure/azure-functions-durable-extension#382")
class TakesNoEpochAsAny(_Memory):
    """Compares an epoch only if there is one: without, everything is let through."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Skip the comparison."""
        return super().append(
            run_id, expected_next, records, self._state.lease(run_id).epoch if epoch is None else epoch
        )


@mutant("JRN-024", overlaps=("JRN-013",))
class RemembersTheFenceItSaw(_Memory):
    """Reads the highest epoch of a run once a handle, and sees no grant that comes through another one."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._fences: dict[RunId, int] = {}

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Compare with what was the highest epoch."""
        lease = self._state.lease(run_id)
        fence = self._fences.setdefault(run_id, lease.epoch)
        if fence <= (epoch or 0) < lease.epoch:
            self._state.put_lease(run_id, Lease())
            answer = super().append(run_id, expected_next, records, epoch)
            self._state.put_lease(run_id, lease)
            return answer
        return super().append(run_id, expected_next, records, epoch)

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Raise the own fence alone."""
        answer = super().acquire(run_id, owner, ttl_ms, now_ms)
        if isinstance(answer, Granted):
            self._fences[run_id] = answer.epoch
        return answer


@mutant("JRN-025")
class RefusesTheCurrentEpoch(_Memory):
    """Refuses an epoch that is not higher than the highest: <= where it should be <."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Be one off."""
        highest = self._state.lease(run_id).epoch
        invalid = invalid_or_too_large(expected_next, records, self.description.limits)
        if invalid is None and highest and (epoch or 0) <= highest:
            return StaleEpoch()
        return super().append(run_id, expected_next, records, epoch)


@mutant(
    "JRN-025",
    overlaps=(
        "JRN-001",
        "JRN-008",
        "JRN-009",
        "JRN-013",
        "JRN-014",
    ),
)
class FencesAllRuns(_Memory):
    """Keeps one highest epoch for all runs."""

    _highest = 0

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Note the epoch."""
        answer = super().acquire(run_id, owner, ttl_ms, now_ms)
        if isinstance(answer, Granted):
            self._highest = max(self._highest, answer.epoch)
        return answer

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Compare with it."""
        invalid = invalid_or_too_large(expected_next, records, self.description.limits)
        if invalid is None and (epoch or 0) < self._highest:
            return StaleEpoch()
        return super().append(run_id, expected_next, records, epoch)


@mutant("JRN-025")
class RefusesUnknownEpochs(_Memory):
    """Takes an epoch for stale that it has not granted, although it is higher."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Compare with != where it should be <."""
        if epoch is not None and epoch > self._state.lease(run_id).epoch:
            return StaleEpoch()
        return super().append(run_id, expected_next, records, epoch)


# Snapshots


@mutant("SNP-001", report="RayforceDB/rayforce#420")
class TiesASnapshotToTheEnd(_Memory):
    """Ties a snapshot to the run's last record at the time of saving, not to the one that it includes."""

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Use another position."""
        return super().save_snapshot(run_id, max(sequence, self.next(run_id) - 1), body)


@mutant("SNP-002")
class HasOneSnapshot(_Memory):
    """Keeps one snapshot for all runs."""

    _one = RunId("00000000-0000-0000-0000-000000000000")

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Keep it for this run and for everybody."""
        super().save_snapshot(self._one, sequence, body)
        return super().save_snapshot(run_id, sequence, body)

    def load_snapshot(self, run_id: RunId) -> LoadSnapshotAnswer:
        """Fall back on it."""
        own = super().load_snapshot(run_id)
        return own if hasattr(own, "body") else super().load_snapshot(self._one)


@mutant("SNP-002")
class MixesSnapshotsUpAtReopen(_Memory):
    """Finds its snapshots again by their order, after a reopen, and not by their runs."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        runs = self._state._runs.values()  # noqa: SLF001
        self._found = next((run.snapshot for run in runs if not isinstance(run.snapshot, NoSnapshot)), None)

    def load_snapshot(self, run_id: RunId) -> LoadSnapshotAnswer:
        """Serve the first one to whoever has none."""
        own = super().load_snapshot(run_id)
        return self._found if isinstance(own, NoSnapshot) and self._found is not None else own


@mutant("SNP-004")
class TakesSnapshotsOfAnySize(_KeepsToItsLimits):
    """Keeps to the limits of batches, and takes whatever snapshot comes."""

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Take it."""
        return MemoryJournal.save_snapshot(self, run_id, sequence, body)


@mutant("SNP-004")
class CountsUnitsOfUtf16(_KeepsToItsLimits):
    """Measures a snapshot by the length of its text where text is kept in UTF-16: in units, of one to three bytes."""

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Keep to the limit, so measured."""
        if len(body.encode("utf-16-le")) // 2 > FLOOR.max_snapshot_bytes:
            return TooLarge(detail="no room")
        return MemoryJournal.save_snapshot(self, run_id, sequence, body)


@mutant("SNP-004")
class DropsTheOldSnapshotFirst(_KeepsToItsLimits):
    """Makes room for a snapshot, and finds only then that it is too large."""

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Forget the old one first."""
        answer = super().save_snapshot(run_id, sequence, body)
        if isinstance(answer, TooLarge):
            self._state._runs[run_id].snapshot = NoSnapshot()  # noqa: SLF001
        return answer


# Leases


@mutant("LSE-001", overlaps=("JRN-013", "JRN-024"))
class CountsAnewAfterARelease(_Memory):
    """Deletes the lease on release, and its epoch with it."""

    def release(self, run_id: RunId, epoch: int) -> ReleaseAnswer:
        """Forget the epoch."""
        answer = super().release(run_id, epoch)
        if isinstance(answer, Done):
            self._state.put_lease(run_id, Lease())
        return answer


@mutant("LSE-002")
class AppendsEndTheLease(_Memory):
    """Keeps a run's lease and its end in one row, and writes the row anew at each append."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Write the epoch, and forget the rest."""
        answer = super().append(run_id, expected_next, records, epoch)
        if isinstance(answer, Acknowledged):
            self._state.put_lease(run_id, Lease(self._state.lease(run_id).epoch))
        return answer


@mutant("LSE-002", overlaps=("LSE-003",))
class RenewsInMemoryAlone(_Memory):
    """Writes a lease down when it is acquired, and keeps in memory until when it was renewed."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._renewed: dict[RunId, Lease] = {}

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Look into memory first."""
        renewed = self._renewed.get(run_id)
        if renewed is not None and renewed.epoch == self._state.lease(run_id).epoch and now_ms <= renewed.until_ms:
            return Held()
        return super().acquire(run_id, owner, ttl_ms, now_ms)

    def renew(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int) -> RenewAnswer:
        """Renew what is in memory."""
        stored = self._state.lease(run_id)
        renewed = self._renewed.get(run_id)
        if renewed is not None and renewed.epoch == stored.epoch:
            self._state.put_lease(run_id, renewed)
        answer = super().renew(run_id, epoch, ttl_ms, now_ms)
        if isinstance(answer, Renewed):
            self._renewed[run_id] = Lease(epoch, answer.until_ms)
        self._state.put_lease(run_id, stored)
        return answer

    def release(self, run_id: RunId, epoch: int) -> ReleaseAnswer:
        """Forget what was renewed."""
        answer = super().release(run_id, epoch)
        if isinstance(answer, Done):
            self._renewed.pop(run_id, None)
        return answer


@mutant("LSE-002", overlaps=("LSE-007",))
class ExpiresAnInstantEarly(_Memory):
    """Takes a lease as expired at `until_ms` itself: >= where it should be >."""

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Be one off."""
        lease = self._state.lease(run_id)
        if lease.until_ms == now_ms:
            self._state.put_lease(run_id, Lease(lease.epoch))
        return super().acquire(run_id, owner, ttl_ms, now_ms)


@mutant("LSE-002", overlaps=("LSE-007",), report="dbos-inc/dbos-transact-py#742")
class GrantsItsOwnerAgain(_Memory):
    """Grants a lease again to the owner that holds it."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._owner: dict[RunId, OwnerId] = {}

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Let the owner in."""
        if self._owner.get(run_id) == owner:
            self._state.put_lease(run_id, Lease(self._state.lease(run_id).epoch))
        answer = super().acquire(run_id, owner, ttl_ms, now_ms)
        if isinstance(answer, Granted):
            self._owner[run_id] = owner
        return answer


@mutant("LSE-003", overlaps=("LSE-005",))
class NeverExpires(_Memory):
    """Frees a lease on release alone, however long ago it ran out."""

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Ignore the time."""
        if self._state.lease(run_id).until_ms >= 0:
            return Held()
        return super().acquire(run_id, owner, ttl_ms, now_ms)


@mutant("LSE-004")
class RenewsInTimeOnly(_Memory):
    """Refuses to renew a lease that has expired, although nobody else has it."""

    def renew(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int) -> RenewAnswer:
        """Look at the time."""
        if now_ms > self._state.lease(run_id).until_ms:
            return StaleEpoch()
        return super().renew(run_id, epoch, ttl_ms, now_ms)


@mutant("LSE-005", report="Azure/azure-functions-durable-extension#382")
class RenewsForAnybody(_Memory):
    """Renews whatever lease there is, whoever asks."""

    def renew(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int) -> RenewAnswer:  # noqa: ARG002
        """Ignore the epoch."""
        return super().renew(run_id, self._state.lease(run_id).epoch, ttl_ms, now_ms)


@mutant("LSE-006", overlaps=("LSE-002", "LSE-003"))
class LastsForSeconds(_Memory):
    """Takes milliseconds for seconds."""

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Multiply by a thousand."""
        return super().acquire(run_id, owner, ttl_ms * 1_000, now_ms)


# Those that answer without thinking


@mutant(
    "JRN-004",
    overlaps=(
        "JRN-003",
        "JRN-006",
        "JRN-009",
        "JRN-012",
        "JRN-013",
        "JRN-016",
        "JRN-018",
        "JRN-023",
        "JRN-024",
        "JRN-027",
    ),
)
class AcceptsEverything(_Memory):
    """Acknowledges whatever it is sent, and stores what it can."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Say yes."""
        super().append(run_id, expected_next, records, epoch)
        return acknowledge(records)


@mutant(
    "JRN-001",
    overlaps=(
        "JRN-004",
        "JRN-014",
        "JRN-024",
    ),
)
class RefusesEverything(_Memory):
    """Refuses whatever it is sent: it loses nothing, for it has nothing."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:  # noqa: ARG002
        """Say no."""
        return InvalidRecord(detail="no")
