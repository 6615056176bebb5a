"""Journals that are unusual and right: whoever accuses one of them is wrong."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from perdure.journal.contract import (
    FLOOR,
    Acknowledged,
    AcquireAnswer,
    AppendAnswer,
    Capabilities,
    Corrupt,
    Description,
    Envelope,
    Granted,
    Limits,
    LoadAnswer,
    LoadSnapshotAnswer,
    NoSnapshot,
    NotStored,
    Page,
    ReleaseAnswer,
    RenewAnswer,
    SaveSnapshotAnswer,
    SequenceConflict,
    StaleEpoch,
    TooLarge,
    Unavailable,
    acknowledge,
    invalid_or_too_large,
    utf8_bytes,
)
from perdure.journal.files import WrittenFilesJournal
from perdure.journal.folder import Damaged, Stored, head_of
from perdure.journal.frames import FrameError, frames
from perdure.journal.lines import LinesJournal
from perdure.journal.memory import MemoryJournal
from perdure.journal.reference import Lease
from perdure.kernel.identity import OwnerId, RunId
from perdure_conformance.journal.registry import TWINS, twin

__all__ = ["TWINS"]

_A_WHILE_S: Final = 0.0002


@twin
class PagesOddly(MemoryJournal):
    """Returns at most two records a page, and tells the end by an empty page."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Cut the page, and keep the end to itself."""
        page = super().load(run_id, from_sequence, min(limit, 2))
        return Page(page.records, end=not page.records) if isinstance(page, Page) else page


@twin
class JumpsAhead(MemoryJournal):
    """Takes epochs from a counter that it shares with everything else, so that they jump."""

    _counter = 0

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Grant a much higher epoch."""
        answer = super().acquire(run_id, owner, ttl_ms, now_ms)
        if not isinstance(answer, Granted):
            return answer
        type(self)._counter += 1_000  # noqa: SLF001
        epoch = answer.epoch + self._counter
        self._state.put_lease(run_id, Lease(epoch, answer.until_ms))
        return Granted(epoch, answer.until_ms)


@twin
class RefusesToRenewWhatWasReleased(MemoryJournal):
    """Treats a released lease as gone: its epoch neither renews nor releases."""

    def renew(self, run_id: RunId, epoch: int, ttl_ms: int, now_ms: int) -> RenewAnswer:
        """Look whether there is a lease."""
        if self._state.lease(run_id).until_ms < 0:
            return StaleEpoch(detail="released")
        return super().renew(run_id, epoch, ttl_ms, now_ms)

    def release(self, run_id: RunId, epoch: int) -> ReleaseAnswer:
        """Look whether there is a lease."""
        if self._state.lease(run_id).until_ms < 0:
            return StaleEpoch(detail="released")
        return super().release(run_id, epoch)


@twin
class FencesWithoutSayingSo(MemoryJournal):
    """Fences former owners off, and does not claim it."""

    @property
    def description(self) -> Description:
        """Claim less than is true."""
        reference = super().description
        capabilities = msgspec.structs.replace(reference.capabilities, fencing=False)
        return msgspec.structs.replace(reference, capabilities=capabilities)


@twin
class FailsNowAndThen(MemoryJournal):
    """Answers every fifth append `unavailable`, having stored it or not, and every seventh `not_stored`."""

    _calls = 0

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Fail by the count."""
        self._calls += 1
        if self._calls % 7 == 0:
            return NotStored(detail="try again")
        if self._calls % 10 == 0:
            super().append(run_id, expected_next, records, epoch)
        if self._calls % 5 == 0:
            return Unavailable(detail="who knows")
        return super().append(run_id, expected_next, records, epoch)


@twin
class ForgetsSnapshots(MemoryJournal):
    """Loses its snapshots at every reopen: they are only a cache."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._mine: set[RunId] = set()

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Remember whose it is."""
        self._mine.add(run_id)
        return super().save_snapshot(run_id, sequence, body)

    def load_snapshot(self, run_id: RunId) -> LoadSnapshotAnswer:
        """Serve what this handle saved."""
        return super().load_snapshot(run_id) if run_id in self._mine else NoSnapshot()


@twin
class HasTheCoreOnly(MemoryJournal):
    """Claims nothing: it compares, appends and loads, and knows no event id again."""

    @property
    def description(self) -> Description:
        """Claim nothing, and take no more than everybody must."""
        return Description(name="core", version="1", capabilities=Capabilities(), limits=FLOOR)

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Look at the envelope and at the position."""
        del epoch
        refusal = invalid_or_too_large(expected_next, records, self.description.limits)
        if refusal is not None:
            return refusal
        next_sequence = len(self._state.records(run_id)) + 1
        if expected_next != next_sequence:
            return SequenceConflict(actual_next=next_sequence)
        self._state.store(run_id, records)
        return acknowledge(records)

    save_snapshot = load_snapshot = acquire = renew = release = None  # type: ignore[assignment]


@twin
class TakesNoMoreThanItMust(MemoryJournal):
    """Declares the least limits and keeps to them, for batches and for snapshots."""

    @property
    def description(self) -> Description:
        """Declare the least limits."""
        return msgspec.structs.replace(super().description, limits=FLOOR)

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Look at the size."""
        refusal = invalid_or_too_large(expected_next, records, FLOOR)
        return refusal or super().append(run_id, expected_next, records, epoch)

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Look at the size."""
        if utf8_bytes(body) > FLOOR.max_snapshot_bytes:
            return TooLarge()
        return super().save_snapshot(run_id, sequence, body)


@twin
class TakesALittleMoreThanItMust(MemoryJournal):
    """Takes one record and one byte more than everybody must, and keeps to that."""

    _limits = Limits(
        max_batch_records=FLOOR.max_batch_records + 1,
        max_batch_bytes=FLOOR.max_batch_bytes + 1,
        max_snapshot_bytes=FLOOR.max_snapshot_bytes + 1,
    )

    @property
    def description(self) -> Description:
        """Declare these limits."""
        return msgspec.structs.replace(super().description, limits=self._limits)

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Look at the size."""
        refusal = invalid_or_too_large(expected_next, records, self._limits)
        return refusal or super().append(run_id, expected_next, records, epoch)

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Look at the size."""
        if utf8_bytes(body) > self._limits.max_snapshot_bytes:
            return TooLarge()
        return super().save_snapshot(run_id, sequence, body)


def _without_words(answer: AppendAnswer) -> AppendAnswer:
    return answer if isinstance(answer, Acknowledged) else msgspec.structs.replace(answer, detail="")


@twin
class SaysNoMoreThanItMust(LinesJournal):
    """Keeps lines, refuses without a word of its own, and tells the end by an empty page."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Leave the detail out."""
        return _without_words(super().append(run_id, expected_next, records, epoch))

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Leave the end and the detail out."""
        page = super().load(run_id, from_sequence, min(limit, 400))
        if isinstance(page, Page):
            return Page(page.records, end=not page.records)
        return msgspec.structs.replace(page, detail="")


@twin
class CutsTornTailsWhenItLoads(LinesJournal):
    """Cuts off a torn tail before it loads, alone with the file; syncs the first line of a batch before the others."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Repair, then load."""
        name = self._name(run_id)
        with suppress(Damaged, OSError), self._folder.locked():
            stored = self._parsed(run_id, self._folder.read(name) or b"")
            if stored.torn_bytes:
                os.truncate(self._folder.path / name, len(stored.content))
        return super().load(run_id, from_sequence, limit)

    def _store(self, run_id: RunId, stored: Stored, records: Sequence[Envelope]) -> AppendAnswer:
        answer = super()._store(run_id, stored, records[:1])
        if len(records) == 1 or not isinstance(answer, Acknowledged):
            return answer
        rest = super()._store(run_id, Stored((), stored.content + self._line(records[0])), records[1:])
        return acknowledge(records) if isinstance(rest, Acknowledged) else rest


@twin
class ServesWhatIsBeforeTheDamage(WrittenFilesJournal):
    """Keeps whole files; of a damaged one it serves the records before the damage, and no word with any refusal."""

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Leave the detail out."""
        return _without_words(super().append(run_id, expected_next, records, epoch))

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Serve whole frames as long as there are any."""
        answer = super().load(run_id, from_sequence, limit)
        if not isinstance(answer, Corrupt) or answer.sequence <= from_sequence:
            return answer
        payloads: list[bytes] = []
        with suppress(FrameError):
            payloads.extend(found.payload for found in frames("MWJ1", self._folder.read(self._name(run_id)) or b""))
        wanted = payloads[: answer.sequence - 1][from_sequence - 1 :][:limit]
        records = (Envelope(at, head_of(each).event_id, each.decode()) for at, each in enumerate(wanted, from_sequence))
        return Page(tuple(records), end=False)


@twin
class ReadsItsOwnWrites(MemoryJournal):
    """Shows a handle what it appended itself; what others appended, a replica that lags will show later."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._own: dict[RunId, int] = {}
        self._at_open = {run_id: len(run.records) for run_id, run in self._state._runs.items()}  # noqa: SLF001

    @property
    def description(self) -> Description:
        """Claim no more than that."""
        reference = super().description
        claims = Capabilities(
            exact_replay=True, event_id_dedup=True, atomic_batch=True, multi_handle=True, read="own_writes"
        )
        return Description(name="lagging", version="1", capabilities=claims, limits=reference.limits)

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Note how far this handle has seen."""
        answer = super().append(run_id, expected_next, records, epoch)
        if answer == acknowledge(records):
            seen = max(self._own.get(run_id, 0), expected_next + len(records) - 1)
            self._own[run_id] = seen
        return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Serve as much as the replica has."""
        visible = max(self._own.get(run_id, 0), self._at_open.get(run_id, 0))
        count = max(0, min(limit, visible - from_sequence + 1))
        page = super().load(run_id, from_sequence, max(1, count))
        if not isinstance(page, Page):
            return page
        return Page(page.records[:count], end=from_sequence + count > visible)

    save_snapshot = load_snapshot = acquire = renew = release = None  # type: ignore[assignment]


@twin
class TakesOneAppendAtATime(MemoryJournal):
    """Answers `not_stored` to whoever appends, or asks for a lease, while somebody else does."""

    _busy = threading.Lock()

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Append if nobody else does, and take a while."""
        if not self._busy.acquire(blocking=False):
            return NotStored(detail="somebody else appends")
        try:
            time.sleep(_A_WHILE_S)
            return super().append(run_id, expected_next, records, epoch)
        finally:
            self._busy.release()

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Grant a lease if nobody else is at work, and take a while."""
        if not self._busy.acquire(blocking=False):
            return NotStored(detail="somebody else is at work")
        try:
            time.sleep(_A_WHILE_S)
            return super().acquire(run_id, owner, ttl_ms, now_ms)
        finally:
            self._busy.release()


@twin
class LosesAnswersWhenBusy(MemoryJournal):
    """Answers `unavailable` while somebody else appends, to an append that it has stored all the same."""

    _busy = threading.Lock()

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Append, and lose the answer."""
        is_alone = self._busy.acquire(blocking=False)
        answer = super().append(run_id, expected_next, records, epoch)
        if is_alone:
            self._busy.release()
        return answer if is_alone else Unavailable(detail="somebody else appends")

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Give up while somebody appends."""
        is_busy = self._busy.locked()
        return Unavailable(detail="somebody appends") if is_busy else super().load(run_id, from_sequence, limit)


@twin
class TakesItsTime(MemoryJournal):
    """Takes a while before each append and load has happened, and another while after it; claims no exact replays."""

    @property
    def description(self) -> Description:
        """Claim less than is true."""
        reference = super().description
        capabilities = msgspec.structs.replace(reference.capabilities, exact_replay=False)
        return msgspec.structs.replace(reference, capabilities=capabilities)

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Append between two whiles."""
        time.sleep(_A_WHILE_S)
        answer = super().append(run_id, expected_next, records, epoch)
        time.sleep(_A_WHILE_S)
        return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Load between two whiles."""
        time.sleep(_A_WHILE_S)
        answer = super().load(run_id, from_sequence, limit)
        time.sleep(_A_WHILE_S)
        return answer
