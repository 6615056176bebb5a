"""The client of a journal: it holds every record against every rule, before it is sent and after it came back.

A journal keeps bytes. What they say is the business of its client, which sends nothing unsound, believes no
acknowledgement but that of exactly its records, and serves nothing at or after the first thing that is wrong.

Source: ADR-0032, "Journal and snapshot guarantees"; `docs/spec/client.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

import msgspec

from perdure.journal.contract import (
    BUILT_IN_LIMITS,
    Acknowledged,
    AppendAnswer,
    Corrupt,
    DefiniteRefusal,
    Envelope,
    Journal,
    LoadAnswer,
    NoSnapshot,
    Page,
    SaveSnapshotAnswer,
    SequenceConflict,
    Snapshot,
    SnapshotStore,
    TooLarge,
    Unavailable,
    acknowledge,
)
from perdure.kernel.caches import SnapshotError, discard, read_snapshot, resumed, snapshot_of
from perdure.kernel.errors import Corruption, HistoryError
from perdure.kernel.histories import Standing, followed_from
from perdure.kernel.identity import RunId
from perdure.kernel.records import Record, decoded, verified
from perdure.kernel.rules import RULES, Rules

PAGE_RECORDS: Final = 1_000
"""How many records are asked for at once."""
HISTORY_RECORDS: Final = 64 * BUILT_IN_LIMITS.max_batch_records
"""How long a history may be, 4,194,304 records: as much as 64 of the largest batches that the journals of this package
take, and forty times as long as any that they are measured by. A client reads no further, since a journal that always
has one more page would never be done."""
ATTEMPTS: Final = 3
"""How often a journal is asked that answers `unavailable`."""

JournalFaultCode = Literal[
    "corrupt",
    "unavailable",
    "repeated",
    "too_many",
    "no_end",
    "too_long",
    "wrong_envelope",
    "wrong_acknowledgement",
    "partly_stored",
]


class JournalFault(Exception):
    """A journal that cannot be believed, or cannot be asked. `str(error)` says why.

    `unavailable`: it gave no answer, however often it was asked. `corrupt`: it said so itself. `too_long`: the history
    is longer than this client reads. All other codes are of answers that no journal may give.
    """

    def __init__(self, code: JournalFaultCode, sentence: str, sequence: int) -> None:
        super().__init__(sentence)
        self.code = code
        self.sequence = sequence
        """Where: nothing at or after it was served."""


class Recovered(msgspec.Struct, frozen=True):
    """How a run stands after it was loaded."""

    standing: Standing | None
    """Nothing, if the run has no record."""
    snapshot: Literal["used", "discarded", "none"]
    diagnostic: str = ""
    """Why a snapshot was discarded, or not had."""


class Appended(msgspec.Struct, frozen=True):
    """The batch is stored: how the run stands now."""

    standing: Standing


class Skipped(msgspec.Struct, frozen=True):
    """No snapshot was saved, for a reason that harms nothing."""

    detail: str


class Client:
    """The client of one journal."""

    def __init__(
        self,
        journal: Journal,
        snapshots: SnapshotStore | None = None,
        rules: Rules = RULES,
        *,
        page_records: int = PAGE_RECORDS,
        history_records: int = HISTORY_RECORDS,
    ) -> None:
        self._journal = journal
        self._snapshots = snapshots
        self._rules = rules
        self._page_records = page_records
        self._history_records = history_records

    def append(
        self, standing: Standing | None, lines: Sequence[bytes], epoch: int | None = None
    ) -> Appended | DefiniteRefusal | Unavailable:
        """Store a batch after the last record of a run, or as its first; return what the journal said otherwise.

        Raises `HistoryError`, before anything is sent, if the lines are not one batch that may follow; `JournalFault`,
        likewise, if the history would become too long, and if what the journal says cannot be believed: what became
        of the batch is then not known.
        """
        first = 1 if standing is None else standing.last.sequence + 1
        batch = [_read(line, first + index, is_new=True) for index, line in enumerate(lines)]
        if not batch or batch[0].batch_size != len(batch):
            raise Corruption("wrong_batch", f"{len(batch)} records are no whole batch", first)
        *_, after = followed_from(standing, batch, self._rules)
        self._require_within_length(batch[-1].sequence)
        envelopes = [
            Envelope(record.sequence, record.event_id, line.decode()) for record, line in zip(batch, lines, strict=True)
        ]
        answer = self._sent(batch[0].run_id, first, envelopes, epoch)
        if not isinstance(answer, Acknowledged):
            return answer
        if answer != acknowledge(envelopes):
            raise JournalFault("wrong_acknowledgement", "the journal acknowledged other records than were sent", first)
        return Appended(after)

    def _sent(self, run_id: RunId, first: int, envelopes: Sequence[Envelope], epoch: int | None) -> AppendAnswer:
        """Send records, and after an answer that says nothing learn what became of them.

        From then on a refusal speaks of the last call alone: what is stored is stored, whatever refused it again.
        """
        answer = self._journal.append(run_id, first, envelopes, epoch)
        if not isinstance(answer, Unavailable):
            return answer
        for _ in range(ATTEMPTS - 1):
            if not self._journal.description.capabilities.exact_replay:
                found = self._stored(run_id, first, envelopes)
                if found is not None:
                    return found
            answer = self._journal.append(run_id, first, envelopes, epoch)
            if isinstance(answer, Acknowledged):
                return answer
            if not isinstance(answer, Unavailable):
                found = self._stored(run_id, first, envelopes)
                if found is None and self._journal.description.capabilities.read != "linearizable":
                    told = "what was stored without an acknowledgement need not be shown, and is not"
                    return Unavailable(detail=told)
                return found if isinstance(found, Acknowledged | Unavailable) else answer
        return answer

    def _stored(
        self, run_id: RunId, first: int, envelopes: Sequence[Envelope]
    ) -> Acknowledged | SequenceConflict | Unavailable | None:
        """Return what became of records by reading; nothing, if none is stored and they may be sent again."""
        sequence, is_same = first - 1, True
        try:
            for sequence, envelope in enumerate(self._envelopes(run_id, first), first):
                is_same = is_same and envelope == envelopes[sequence - first]
                if is_same and sequence - first + 1 == len(envelopes):
                    return acknowledge(envelopes)
        except JournalFault as fault:
            if fault.code != "unavailable":
                raise
            return Unavailable(detail="the journal neither said what it stored nor showed it")
        if sequence < first:
            return None
        if is_same:
            told = f"of the batch at {first} the journal stored the first {sequence - first + 1} records alone"
            raise JournalFault("partly_stored", told, sequence + 1)
        return SequenceConflict(actual_next=sequence + 1, detail="other records are stored there")

    def recover(self, run_id: RunId) -> Recovered:
        """Return how a run stands: by its latest snapshot and what follows, or else by its whole history.

        A snapshot saves reducing what it includes, not reading it. Raises `HistoryError` or `JournalFault`, with the
        sequence, at the first thing that is wrong in the journal.
        """
        snapshot = self._snapshot(run_id)
        if isinstance(snapshot, str):
            return Recovered(self._replayed(run_id), "none", snapshot)
        try:
            return Recovered(self._resumed(run_id, snapshot), "used")
        except (SnapshotError, HistoryError, JournalFault) as error:
            return Recovered(self._replayed(run_id), "discarded", f"{error.code}: {error}")

    def _snapshot(self, run_id: RunId) -> Snapshot | str:
        """Return the snapshot of a run, or why there is none."""
        if self._snapshots is None:
            return "no snapshots are kept"
        answer = self._snapshots.load_snapshot(run_id)
        if isinstance(answer, NoSnapshot):
            return "there is no snapshot"
        return answer if isinstance(answer, Snapshot) else "the snapshot is unavailable"

    def _resumed(self, run_id: RunId, snapshot: Snapshot) -> Standing | None:
        """Return how a run stands by its snapshot and what follows. Raises if anything about either is wrong."""
        found = read_snapshot(snapshot.body.encode("utf-8", "surrogatepass"))
        if found.sequence != snapshot.sequence:
            discard("wrong_position", f"a snapshot of {found.sequence} is kept as one of {snapshot.sequence}")
        return _last(resumed(found, self._records(run_id), self._rules))

    def _replayed(self, run_id: RunId) -> Standing | None:
        """Return how a run stands by its whole history; nothing if it has none."""
        return _last(followed_from(None, self._records(run_id), self._rules))

    def _records(self, run_id: RunId) -> Iterator[Record]:
        """Yield the sound records of a run. Raises `HistoryError`, `JournalFault`."""
        for sequence, envelope in enumerate(self._envelopes(run_id, 1), 1):
            yield _opened(run_id, envelope, sequence)

    def _envelopes(self, run_id: RunId, first: int) -> Iterator[Envelope]:
        """Yield what a journal shows from a position on, page by page, as it is. Raises `JournalFault`."""
        following, is_last = first, False
        while not is_last:
            page = self._page(run_id, following, self._page_records)
            for envelope in page.records:
                self._require_within_length(following)
                yield envelope
                following += 1
            is_last = page.end
            if not page.records and not is_last:
                raise JournalFault("no_end", "the journal says that more follows, and shows nothing", following)

    def _require_within_length(self, sequence: int) -> None:
        most = self._history_records
        if sequence > most:
            told = f"the history is longer than {most} records: read it with more `history_records`"
            raise JournalFault("too_long", told, most + 1)

    def _page(self, run_id: RunId, first: int, limit: int) -> Page:
        answer: LoadAnswer = Unavailable()
        for _ in range(ATTEMPTS):
            answer = self._journal.load(run_id, first, limit)
            if not isinstance(answer, Unavailable):
                break
        if isinstance(answer, Unavailable):
            raise JournalFault("unavailable", answer.detail or "the journal does not answer", first)
        if isinstance(answer, Corrupt):
            told = answer.detail or "the journal says that it is damaged"
            raise JournalFault("corrupt", told, answer.sequence)
        if len(answer.records) > limit:
            raise JournalFault("too_many", f"{len(answer.records)} records came, and {limit} were asked for", first)
        return answer

    def snapshot(self, standing: Standing) -> SaveSnapshotAnswer | Skipped:
        """Save how a run stands. Whatever comes of it, nothing is lost: a snapshot is a cache.

        Raises `Corruption` inside a batch.
        """
        body = snapshot_of(standing)
        if self._snapshots is None:
            return Skipped("no snapshots are kept")
        most = self._journal.description.limits.max_snapshot_bytes
        if len(body) > most:
            return TooLarge(detail=f"the snapshot has {len(body)} bytes; at most {most} fit")
        return self._snapshots.save_snapshot(standing.last.run_id, standing.last.sequence, body.decode())


def _last(standings: Iterable[Standing]) -> Standing | None:
    """Return the last of them, and keep no other."""
    found = None
    for found in standings:  # noqa: B007 - the last one
        pass
    return found


def _opened(run_id: RunId, envelope: Envelope, expected: int) -> Record:
    """Return the record of an envelope that was asked for at a position. Raises `HistoryError`, `JournalFault`."""
    if envelope.sequence < expected:
        raise JournalFault("repeated", f"the journal shows {envelope.sequence} again", expected)
    record = _read(envelope.body.encode("utf-8", "surrogatepass"), expected)
    if (record.sequence, record.event_id) != (envelope.sequence, envelope.event_id):
        raise JournalFault("wrong_envelope", "the record says another position or event than its envelope", expected)
    if record.sequence != expected:
        raise Corruption("gap", f"sequence {expected} is missing: {record.sequence} is in its place", expected)
    if record.run_id != run_id:
        raise Corruption("wrong_run", f"the record belongs to another run, {record.run_id}", expected)
    return record


def _read(line: bytes, sequence: int, *, is_new: bool = False) -> Record:
    """Read a record at a position, a new one by every rule one after the other. Raises `HistoryError`."""
    try:
        return verified(line) if is_new else decoded(line)
    except HistoryError as error:
        error.sequence = sequence
        raise
