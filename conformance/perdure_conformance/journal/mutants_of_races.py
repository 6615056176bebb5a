"""Journals that are wrong only when two handles do something at the same time, each with one fault.

No race is left to luck: whoever stands in the window of the fault waits there a moment for the other one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from perdure.journal.contract import (
    Acknowledged,
    AcquireAnswer,
    AppendAnswer,
    Envelope,
    Granted,
    Held,
    LoadAnswer,
    NotStored,
    Page,
    SequenceConflict,
    acknowledge,
    invalid_or_too_large,
)
from perdure.journal.folder import Damaged, Stored
from perdure.journal.lines import LinesJournal
from perdure.journal.memory import MemoryJournal
from perdure.journal.reference import Lease, _Run, decide_acquire, decide_append
from perdure.kernel.identity import OwnerId, RunId
from perdure_conformance.journal.registry import mutant

Records = Sequence[Envelope]

_A_MOMENT_S: Final = 0.05
_SOON_S: Final = 0.002


class _Common:
    """What all handles on a run have in common: what they know of each other, and where they wait for each other."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.handles: set[int] = set()
        """Those that have used it."""
        self.hidden: frozenset[Envelope] = frozenset()
        """What was appended and is not shown to all."""
        self.told = 0
        """How often somebody learnt of what is hidden."""
        self.misled = 0
        """How often a load was answered as it must not be."""
        self.first_reader: int | None = None
        """Whoever was the first to see what is hidden."""
        self.cached: dict[int, tuple[Envelope, ...]] = {}
        """What each handle has kept of it."""
        self._waiting = self._meetings = 0

    def is_shared(self) -> bool:
        """Tell whether several handles use it, or soon will.

        `changed` is let go meanwhile: whoever is to hide what it appends asks before that, or it is seen before.
        """
        with self.changed:
            return self.changed.wait_for(lambda: len(self.handles) > 1, _SOON_S)

    def meet(self) -> None:
        """Wait a moment for another one that comes here too."""
        with self.changed:
            self._waiting += 1
            meetings = self._meetings
            if self._waiting > 1:
                self._waiting = 0
                self._meetings += 1
                self.changed.notify_all()
            elif not self.changed.wait_for(lambda: self._meetings > meetings, _A_MOMENT_S):
                self._waiting -= 1

    def hide(self, records: Records, until: Callable[[], bool]) -> None:
        """Hide records for a moment, or until something has happened. `changed` is held, and let go meanwhile."""
        self.hidden, self.told = frozenset(records), 0
        self.changed.wait_for(until, _A_MOMENT_S)
        self.hidden, self.first_reader = frozenset(), None
        self.changed.notify_all()

    def hide_until_misled(self, records: Records) -> None:
        """Hide records for a moment, or until a load was answered as it must not be."""
        misled = self.misled
        self.hide(records, lambda: self.misled > misled)


_IN_COMMON: Final[dict[tuple[Path, RunId], _Common]] = {}
_LOCK: Final = threading.Lock()


def _common(folder: Path, run_id: RunId, by: object) -> _Common:
    """Return what a handle has in common with the others on a run, and note that it uses it."""
    with _LOCK:
        common = _IN_COMMON.setdefault((folder, run_id), _Common())
    with common.changed:
        common.handles.add(id(by))
        common.changed.notify_all()
    return common


class _Meeting(MemoryJournal):
    """A journal whose handles can wait for each other."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._folder = state_dir / namespace

    def _common(self, run_id: RunId) -> _Common:
        """Return what this handle has in common with the others on a run, and note that it uses it."""
        return _common(self._folder, run_id, self)


class _Compares(_Meeting):
    """Compares, and appends when nobody looks any more."""

    def _put(self, run_id: RunId, expected_next: int, records: Records) -> None:
        raise NotImplementedError

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Let go of the lock between the comparison and the append."""
        common = self._common(run_id)
        with self._lock:
            refusal = invalid_or_too_large(expected_next, records, self.description.limits) or decide_append(
                self._state.view(run_id), expected_next, records, epoch
            )
        if refusal is not None:
            return refusal
        if common.is_shared():
            common.meet()
        with self._lock:
            self._put(run_id, expected_next, records)
        return acknowledge(records)

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Note who uses the common."""
        self._common(run_id)
        return super().load(run_id, from_sequence, limit)


@mutant("JRN-027")
class LocksTooLate(_Compares):
    """Compares without a lock and appends with one: of two at one sequence both are stored, and acknowledged."""

    def _put(self, run_id: RunId, expected_next: int, records: Records) -> None:
        del expected_next
        self._state.store(run_id, records)


@mutant("JRN-027", report="Eventuous/eventuous#582")
class DropsTheLoser(_Compares):
    """Inserts what is not there yet: of two appends at one sequence both are acknowledged, and one is stored."""

    def _put(self, run_id: RunId, expected_next: int, records: Records) -> None:
        if expected_next == len(self._state.records(run_id)) + 1:
            self._state.store(run_id, records)


@mutant("JRN-027", overlaps=("JRN-028", "JRN-029"))
class OverwritesTheWinner(_Compares):
    """Puts records at their sequences, whatever stands there: of two appends the later one replaces the other."""

    def _put(self, run_id: RunId, expected_next: int, records: Records) -> None:
        stands = self._state._runs.setdefault(run_id, _Run())  # noqa: SLF001
        stands.records[expected_next - 1 : expected_next - 1 + len(records)] = records
        stands.by_event_id.update((record.event_id, record) for record in records)


@mutant("JRN-027", report="Eventuous/eventuous#582")
class StoresTheLoserBehindTheWinner(LocksTooLate):
    """Appends to a list and compares afterwards: of two appends at one sequence one is refused, and stays."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Look where the records came to stand."""
        answer = super().append(run_id, expected_next, records, epoch)
        stored = self._state.records(run_id)
        if isinstance(answer, Acknowledged) and stored[expected_next - 1] != records[0]:
            return SequenceConflict(actual_next=len(stored) + 1)
        return answer


@mutant("JRN-028", overlaps=("JRN-029",), report="akka/akka-persistence-jdbc#96")
class ShowsWhatIsCommittedFirst(_Meeting):
    """Takes a number before it commits: a record that is committed earlier is shown without the one before it."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Take the number, and commit after another one."""
        common = self._common(run_id)
        with common.changed:
            is_shared = common.is_shared()
            before = len(self._state.records(run_id))
            answer = super().append(run_id, expected_next, records, epoch)
            is_new = len(self._state.records(run_id)) > before
            if is_new and is_shared and not common.hidden:
                end, misled = before + len(records), common.misled
                common.hide(records, lambda: len(self._state.records(run_id)) > end and common.misled > misled)
            common.changed.notify_all()
            return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Show what is committed."""
        common = self._common(run_id)
        with common.changed:
            page = super().load(run_id, from_sequence, limit)
            if isinstance(page, Page) and common.hidden:
                page = Page(tuple(record for record in page.records if record not in common.hidden), page.end)
                common.misled += len(page.records)
                common.changed.notify_all()
            return page


@mutant("JRN-029")
class ReadsFromAFollower(_Meeting):
    """Refuses by what its leader has, and shows what its follower has, which has it by the time of the answer."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Store nothing more until the follower has what the leader has."""
        common = self._common(run_id)
        with common.changed:
            is_shared = common.is_shared()
            before = len(self._state.records(run_id))
            if common.hidden and expected_next == before + 1:
                return NotStored(detail="the follower is behind")
            answer = super().append(run_id, expected_next, records, epoch)
            if isinstance(answer, SequenceConflict) and common.hidden:
                common.told += 1
            elif len(self._state.records(run_id)) > before and is_shared:
                common.hide_until_misled(records)
            return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Show what the follower has."""
        common = self._common(run_id)
        with common.changed:
            page = super().load(run_id, from_sequence, limit)
            if not isinstance(page, Page) or not common.hidden:
                return page
            common.misled += common.told
            return _without_the_hidden(common, page)


def _without_the_hidden(common: _Common, page: Page) -> Page:
    """Return the page as it was before what is hidden was appended."""
    common.changed.notify_all()
    known = tuple(record for record in page.records if record not in common.hidden)
    return Page(known, end=page.end or len(known) < len(page.records))


class _ShowsLater(_Meeting):
    """Hides something of an append from loads, until the append is acknowledged."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Wait until a load was led astray."""
        common = self._common(run_id)
        with common.changed:
            is_shared = common.is_shared()
            common.changed.wait_for(lambda: not common.hidden)
            before = len(self._state.records(run_id))
            answer = super().append(run_id, expected_next, records, epoch)
            if len(self._state.records(run_id)) > before and is_shared:
                common.hide_until_misled(self._hides(records))
            return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Show what is not hidden."""
        common = self._common(run_id)
        with common.changed:
            page = super().load(run_id, from_sequence, limit)
            if not isinstance(page, Page) or not common.hidden or self._sees_all(common, page):
                return page
            return _without_the_hidden(common, page)

    def _hides(self, records: Records) -> Records:
        raise NotImplementedError

    def _sees_all(self, common: _Common, page: Page) -> bool:
        raise NotImplementedError


@mutant("JRN-029")
class ShowsHalfABatch(_ShowsLater):
    """Stores a batch record by record, and lets loads in between."""

    def _hides(self, records: Records) -> Records:
        return records[1:]

    def _sees_all(self, common: _Common, page: Page) -> bool:
        common.misled += not common.hidden.isdisjoint(page.records)
        return False


@mutant("JRN-029")
class ShowsOneReaderMoreThanTheNext(_ShowsLater):
    """Reads from replicas: an append that is under way is shown to one reader, and not to another who reads later."""

    def _hides(self, records: Records) -> Records:
        return records

    def _sees_all(self, common: _Common, page: Page) -> bool:
        if common.first_reader is None:
            if common.hidden.isdisjoint(page.records):
                return True
            common.first_reader = id(self)
        is_first = common.first_reader == id(self)
        common.told += is_first
        common.misled += not is_first and common.told > 1
        return is_first


@mutant("JRN-020", overlaps=("JRN-003", "JRN-029"))
class FillsItsCacheTooLate(_Meeting):
    """Keeps what it has read, until somebody appends; what was read before that and is kept after it, stays."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Append, and let all forget what they have read."""
        common = self._common(run_id)
        answer = super().append(run_id, expected_next, records, epoch)
        with self._lock:
            common.cached.clear()
        if isinstance(answer, Acknowledged) and common.is_shared():
            common.meet()
        return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Read, and keep it."""
        common = self._common(run_id)
        with self._lock:
            kept = common.cached.get(id(self))
            read = tuple(self._state.records(run_id)) if kept is None else kept
        if kept is None and common.is_shared():
            common.meet()
        common.cached[id(self)] = read
        rest = read[from_sequence - 1 :]
        return Page(rest[:limit], end=len(rest) <= limit)


@mutant("JRN-027", overlaps=("JRN-028",))
class CutsTornTailsWithoutTheLock(LinesJournal):
    """Repairs a torn tail when it loads, without the lock: it cuts off what another handle has written of a batch."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Repair, then load."""
        common = _common(self._folder.path, run_id, self)
        name = self._name(run_id)
        with suppress(Damaged, OSError):
            stored = self._parsed(run_id, self._folder.read(name) or b"")
            if stored.torn_bytes:
                os.truncate(self._folder.path / name, len(stored.content))
                with common.changed:
                    common.misled += 1
                    common.changed.notify_all()
        return super().load(run_id, from_sequence, limit)

    def _store(self, run_id: RunId, stored: Stored, records: Records) -> AppendAnswer:
        """Write and sync the first line before the others, so that a load comes in between."""
        answer = super()._store(run_id, stored, records[:1])
        if len(records) == 1 or not isinstance(answer, Acknowledged):
            return answer
        common = _common(self._folder.path, run_id, self)
        if common.is_shared():
            with common.changed:
                common.hide_until_misled(records)
        rest = super()._store(run_id, Stored((), stored.content + self._line(records[0])), records[1:])
        return acknowledge(records) if isinstance(rest, Acknowledged) else rest


@mutant("LSE-007", report="dbos-inc/dbos-transact-py#742")
class GrantsOneEpochTwice(_Meeting):
    """Looks whether the lease is free, and takes it, without a lock in between: two have it under one epoch."""

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Let go of the lock between the look and the grant."""
        del owner
        with self._lock:
            answer = decide_acquire(self._state.lease(run_id), ttl_ms, now_ms)
        if isinstance(answer, Held):
            return answer
        self._common(run_id).meet()
        with self._lock:
            self._state.put_lease(run_id, Lease(answer.epoch, answer.until_ms))
        return answer


@mutant("LSE-007")
class GrantsEachAnEpochOfItsOwn(_Meeting):
    """Looks whether the lease is free without a lock, and counts epochs with one: two have it, one after the other."""

    def acquire(self, run_id: RunId, owner: OwnerId, ttl_ms: int, now_ms: int) -> AcquireAnswer:
        """Let go of the lock between the look and the grant."""
        del owner
        with self._lock:
            answer = decide_acquire(self._state.lease(run_id), ttl_ms, now_ms)
        if isinstance(answer, Held):
            return answer
        self._common(run_id).meet()
        with self._lock:
            granted = Granted(self._state.lease(run_id).epoch + 1, answer.until_ms)
            self._state.put_lease(run_id, Lease(granted.epoch, granted.until_ms))
        return granted
