"""Journals that are wrong only when two handles do something at the same time, each with one fault.

No race is left to luck: whoever stands in the window of the fault waits there a moment for the other one.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
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
from perdure.journal.memory import MemoryJournal
from perdure.journal.reference import Lease, _Run, decide_acquire, decide_append
from perdure.kernel.identity import OwnerId, RunId
from perdure_conformance.journal.registry import mutant

Records = Sequence[Envelope]

_A_MOMENT_S: Final = 0.02
_SOON_S: Final = 0.002


class _Shared:
    """What all handles of one state know of each other."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.users: defaultdict[RunId, set[int]] = defaultdict(set)
        self.waiting: defaultdict[RunId, int] = defaultdict(int)
        self.meetings: defaultdict[RunId, int] = defaultdict(int)
        self.hidden: defaultdict[RunId, set[Envelope]] = defaultdict(set)
        self.told: defaultdict[RunId, int] = defaultdict(int)
        self.shown: defaultdict[RunId, int] = defaultdict(int)
        self.first_reader: dict[RunId, int] = {}
        self.caches: list[dict[RunId, tuple[Envelope, ...]]] = []


_SHARED: Final[dict[tuple[Path, str], _Shared]] = {}
_SHARED_LOCK: Final = threading.Lock()


class _Meeting(MemoryJournal):
    """A journal whose handles can wait for each other: those that use one run."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        with _SHARED_LOCK:
            self._shared = _SHARED.setdefault((state_dir, namespace), _Shared())

    def _comes(self, run_id: RunId) -> None:
        """Note that this handle uses the run."""
        with self._shared.changed:
            self._shared.users[run_id].add(id(self))
            self._shared.changed.notify_all()

    def _is_shared(self, run_id: RunId) -> bool:
        """Tell whether another handle uses the run, or soon will."""
        with self._shared.changed:
            return self._shared.changed.wait_for(lambda: len(self._shared.users[run_id]) > 1, _SOON_S)

    def _meet(self, run_id: RunId) -> None:
        """Wait a moment for another one that comes here for the same run."""
        shared = self._shared
        with shared.changed:
            shared.waiting[run_id] += 1
            meetings = shared.meetings[run_id]
            if shared.waiting[run_id] > 1:
                shared.waiting[run_id] = 0
                shared.meetings[run_id] += 1
                shared.changed.notify_all()
            elif not shared.changed.wait_for(lambda: shared.meetings[run_id] > meetings, _A_MOMENT_S):
                shared.waiting[run_id] -= 1

    def _wait(self, until: Callable[[], bool]) -> None:
        """Wait a moment, with `changed` held."""
        self._shared.changed.wait_for(until, _A_MOMENT_S)


class _Compares(_Meeting):
    """Compares, and appends when nobody looks any more."""

    def _put(self, run_id: RunId, expected_next: int, records: Records) -> None:
        raise NotImplementedError

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Let go of the lock between the comparison and the append."""
        self._comes(run_id)
        with self._lock:
            refusal = invalid_or_too_large(expected_next, records, self.description.limits) or decide_append(
                self._state.view(run_id), expected_next, records, epoch
            )
        if refusal is not None:
            return refusal
        if self._is_shared(run_id):
            self._meet(run_id)
        with self._lock:
            self._put(run_id, expected_next, records)
        return acknowledge(records)

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Note who uses the run."""
        self._comes(run_id)
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
        self._comes(run_id)
        shared = self._shared
        with shared.changed:
            before = len(self._state.records(run_id))
            answer = super().append(run_id, expected_next, records, epoch)
            is_new = len(self._state.records(run_id)) > before
            if is_new and self._is_shared(run_id) and not shared.hidden[run_id]:
                shared.hidden[run_id] = set(records)
                end, shown = before + len(records), shared.shown[run_id]
                self._wait(lambda: len(self._state.records(run_id)) > end and shared.shown[run_id] > shown)
                shared.hidden[run_id] = set()
            shared.changed.notify_all()
            return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Show what is committed."""
        self._comes(run_id)
        with self._shared.changed:
            page = super().load(run_id, from_sequence, limit)
            hidden = self._shared.hidden[run_id]
            if isinstance(page, Page) and hidden:
                page = Page(tuple(record for record in page.records if record not in hidden), page.end)
                self._shared.shown[run_id] += len(page.records)
                self._shared.changed.notify_all()
            return page


@mutant("JRN-029")
class ReadsFromAFollower(_Meeting):
    """Refuses by what its leader has, and shows what its follower has, which has it by the time of the answer."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Store nothing more until the follower has what the leader has."""
        self._comes(run_id)
        shared = self._shared
        with shared.changed:
            before = len(self._state.records(run_id))
            if shared.hidden[run_id] and expected_next == before + 1:
                return NotStored(detail="the follower is behind")
            answer = super().append(run_id, expected_next, records, epoch)
            if isinstance(answer, SequenceConflict) and shared.hidden[run_id]:
                shared.told[run_id] += 1
            elif len(self._state.records(run_id)) > before and self._is_shared(run_id):
                self._follow(run_id, records)
            return answer

    def _follow(self, run_id: RunId, records: Records) -> None:
        """Let the follower wait for somebody who is refused, and then looks."""
        shared = self._shared
        shared.hidden[run_id] = set(records)
        shared.told[run_id] = shared.shown[run_id] = 0
        self._wait(lambda: shared.shown[run_id] > 0)
        shared.hidden[run_id] = set()

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Show what the follower has."""
        self._comes(run_id)
        shared = self._shared
        with shared.changed:
            page = super().load(run_id, from_sequence, limit)
            hidden = shared.hidden[run_id]
            if not isinstance(page, Page) or not hidden:
                return page
            shared.shown[run_id] += shared.told[run_id]
            shared.changed.notify_all()
            known = tuple(record for record in page.records if record not in hidden)
            return Page(known, end=page.end or len(known) < len(page.records))


class _ShowsLater(_Meeting):
    """Hides something of an append from loads, until the append is acknowledged."""

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Wait until a load was led astray."""
        self._comes(run_id)
        shared = self._shared
        with shared.changed:
            shared.changed.wait_for(lambda: not shared.hidden[run_id])
            before = len(self._state.records(run_id))
            answer = super().append(run_id, expected_next, records, epoch)
            if len(self._state.records(run_id)) > before and self._is_shared(run_id):
                shared.hidden[run_id], shared.told[run_id] = set(self._hides(records)), 0
                shown = shared.shown[run_id]
                self._wait(lambda: shared.shown[run_id] > shown)
                shared.hidden[run_id] = set()
                shared.first_reader.pop(run_id, None)
                shared.changed.notify_all()
            return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Show what is not hidden."""
        self._comes(run_id)
        shared = self._shared
        with shared.changed:
            page = super().load(run_id, from_sequence, limit)
            hidden = shared.hidden[run_id]
            if not isinstance(page, Page) or not hidden or self._sees_all(run_id, page):
                return page
            known = tuple(record for record in page.records if record not in hidden)
            shared.changed.notify_all()
            return Page(known, end=page.end or len(known) < len(page.records))

    def _hides(self, records: Records) -> Records:
        raise NotImplementedError

    def _sees_all(self, run_id: RunId, page: Page) -> bool:
        raise NotImplementedError


@mutant("JRN-029")
class ShowsHalfABatch(_ShowsLater):
    """Stores a batch record by record, and lets loads in between."""

    def _hides(self, records: Records) -> Records:
        return records[1:]

    def _sees_all(self, run_id: RunId, page: Page) -> bool:
        self._shared.shown[run_id] += not self._shared.hidden[run_id].isdisjoint(page.records)
        return False


@mutant("JRN-029")
class ShowsOneReaderMoreThanTheNext(_ShowsLater):
    """Reads from replicas: an append that is under way is shown to one reader, and not to another who reads later."""

    def _hides(self, records: Records) -> Records:
        return records

    def _sees_all(self, run_id: RunId, page: Page) -> bool:
        shared = self._shared
        if run_id not in shared.first_reader and shared.hidden[run_id].isdisjoint(page.records):
            return True
        is_first = shared.first_reader.setdefault(run_id, id(self)) == id(self)
        shared.told[run_id] += is_first
        shared.shown[run_id] += not is_first and shared.told[run_id] > 1
        return is_first


@mutant("JRN-020", overlaps=("JRN-003", "JRN-029"))
class FillsItsCacheTooLate(_Meeting):
    """Keeps what it has read, until somebody appends; what was read before that and is kept after it, stays."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._cache: dict[RunId, tuple[Envelope, ...]] = {}
        with self._lock:
            self._shared.caches.append(self._cache)

    def append(self, run_id: RunId, expected_next: int, records: Records, epoch: int | None = None) -> AppendAnswer:
        """Append, and let all forget what they have read."""
        self._comes(run_id)
        answer = super().append(run_id, expected_next, records, epoch)
        with self._lock:
            for cache in self._shared.caches:
                cache.pop(run_id, None)
        if isinstance(answer, Acknowledged) and self._is_shared(run_id):
            self._meet(run_id)
        return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Read, and keep it."""
        self._comes(run_id)
        with self._lock:
            kept = self._cache.get(run_id)
            read = tuple(self._state.records(run_id)) if kept is None else kept
        if kept is None and self._is_shared(run_id):
            self._meet(run_id)
        self._cache[run_id] = read
        rest = read[from_sequence - 1 :]
        return Page(rest[:limit], end=len(rest) <= limit)


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
        self._meet(run_id)
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
        self._meet(run_id)
        with self._lock:
            granted = Granted(self._state.lease(run_id).epoch + 1, answer.until_ms)
            self._state.put_lease(run_id, Lease(granted.epoch, granted.until_ms))
        return granted
