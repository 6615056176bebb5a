"""How a race is run: a thread for each handle, all of them let go at once, and a clock that only counts."""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import msgspec

from perdure.journal.contract import Acknowledged, NotStored, Page, SequenceConflict, Unavailable
from perdure.kernel.values import JsonObject
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.journal.calls import AcquireCall, AppendCall, LoadCall
from perdure_conformance.journal.client import Answer, JournalClient
from perdure_conformance.journal.operations import Acquire, Append, Follow, Identities, Load, Race

_CONFLICTS_OF_AN_APPEND: Final = 24
_SENDS_OF_AN_APPEND: Final = 8
_PAGES_OF_A_LOAD: Final = 100

_SWITCH_EVERY_S: Final = 1e-5
"""How often Python changes threads in a race: what two of them do apart shows only if they do it in turns."""


class Clock:
    """A logical clock: each tick is later than every tick before, on whatever thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ticks = itertools.count(1)

    def tick(self) -> int:
        """Return the next instant."""
        with self._lock:
            return next(self._ticks)


@dataclass(slots=True)
class Outcome:
    """What came of a race: all calls by run, and what stopped a handle before it was done."""

    appends_and_loads: dict[int, list[AppendCall | LoadCall]] = field(default_factory=dict)
    acquires: dict[int, list[AcquireCall]] = field(default_factory=dict)
    silent: dict[int, Silence] = field(default_factory=dict)
    faults: list[AdapterFault] = field(default_factory=list)


class _Contestant:
    """One handle in a race, driven by a thread of its own."""

    def __init__(
        self, handle: int, client: JournalClient, identities: Identities, clock: Clock, *, replays: bool
    ) -> None:
        self._handle = handle
        self._client = client
        self._ids = identities
        self._clock = clock
        self._replays = replays
        self._next: dict[int, int] = {}
        self._shown: dict[int, int] = {}
        self.outcome = Outcome()

    def run(self, race: Race, start: threading.Barrier) -> None:
        """Do this handle's operations once all are ready; what stops it is in the outcome."""
        start.wait()
        try:
            for operation in race.operations:
                if operation.handle == self._handle:
                    self._do(operation)
        except Silence as silence:
            self.outcome.silent[self._handle] = silence
        except AdapterFault as fault:
            self.outcome.faults.append(fault)

    def _do(self, operation: Append | Load | Follow | Acquire) -> None:
        match operation:
            case Append():
                self._append_at_the_end(operation)
            case Load(run=run, from_sequence=from_sequence, limit=limit):
                self._load(run, from_sequence, limit)
            case Follow(run=run, times=times, limit=limit):
                for _ in range(times):
                    self._load(run, self._shown.get(run, 0) + 1, limit)
            case Acquire():
                self._acquire(operation)

    def _append_at_the_end(self, operation: Append) -> None:
        """Append where the run is believed to end; go on from where a refusal says that it does."""
        run = operation.run
        for _ in range(_CONFLICTS_OF_AN_APPEND):
            aimed = msgspec.structs.replace(operation, expected_next=self._next.get(run, operation.expected_next))
            answer = self._append(aimed)
            if isinstance(answer, Acknowledged):
                self._next[run] = aimed.expected_next + len(aimed.records)
            elif isinstance(answer, SequenceConflict):
                self._next[run] = answer.actual_next
            if not isinstance(answer, SequenceConflict):
                return

    def _append(self, operation: Append) -> Answer | None:
        """Send the same records until there is a definite answer; None if where they are is unknown."""
        unknown = False
        for _ in range(_SENDS_OF_AN_APPEND):
            answer = self._send_append(operation)
            if isinstance(answer, Unavailable):
                unknown = True
                if not self._replays:
                    return None
            elif isinstance(answer, SequenceConflict):
                may_still_come = unknown and answer.actual_next <= operation.expected_next
                return None if may_still_come else answer
            elif not isinstance(answer, NotStored):
                return answer
        return None

    def _send_append(self, operation: Append) -> Answer:
        records = self._ids.envelopes(operation)
        params: JsonObject = {
            "run_id": self._ids.run_id(operation.run),
            "expected_next": operation.expected_next,
            "epoch": None,
            "records": msgspec.to_builtins(list(records)),
        }

        def note(began: int, ended: int, answer: Answer | None) -> None:
            call = AppendCall(
                handle=self._handle,
                began=began,
                ended=ended,
                answer=answer,
                expected_next=operation.expected_next,
                records=records,
            )
            self.outcome.appends_and_loads.setdefault(operation.run, []).append(call)

        return self._timed("append", params, note)

    def _load(self, run: int, position: int, limit: int) -> None:
        """Read to the end, page by page."""
        for _ in range(_PAGES_OF_A_LOAD):
            answer = self._send_load(run, position, limit)
            if not isinstance(answer, Page):
                return
            position += len(answer.records)
            self._shown[run] = max(self._shown.get(run, 0), position - 1)
            if answer.end or not answer.records:
                return

    def _send_load(self, run: int, position: int, limit: int) -> Answer:
        def note(began: int, ended: int, answer: Answer | None) -> None:
            call = LoadCall(handle=self._handle, began=began, ended=ended, answer=answer, position=position)
            self.outcome.appends_and_loads.setdefault(run, []).append(call)

        params: JsonObject = {"run_id": self._ids.run_id(run), "from_sequence": position, "limit": limit}
        return self._timed("load", params, note)

    def _acquire(self, operation: Acquire) -> None:
        def note(began: int, ended: int, answer: Answer | None) -> None:
            call = AcquireCall(handle=self._handle, began=began, ended=ended, answer=answer)
            self.outcome.acquires.setdefault(operation.run, []).append(call)

        params: JsonObject = {
            "run_id": self._ids.run_id(operation.run),
            "owner": self._ids.owner_id(operation.owner),
            "ttl_ms": operation.ttl_ms,
            "now_ms": operation.now_ms,
        }
        self._timed("acquire", params, note)

    def _timed(self, method: str, params: JsonObject, note: Callable[[int, int, Answer | None], None]) -> Answer:
        """Make one call, and note when it began and ended, with its answer or none."""
        answer: Answer | None = None
        began = self._clock.tick()
        try:
            answer = self._client.ask(method, params)
        finally:
            note(began, self._clock.tick(), answer)
        return answer


def run_race(
    race: Race, clients: Mapping[int, JournalClient], identities: Identities, clock: Clock, *, replays: bool
) -> Outcome:
    """Let each handle do its part on a thread of its own. `replays`: whether the same records may be sent again."""
    contestants = [_Contestant(handle, clients[handle], identities, clock, replays=replays) for handle in race.handles]
    start = threading.Barrier(len(contestants))
    with _taking_turns_often(), ThreadPoolExecutor(len(contestants), "perdure-race") as threads:
        running = [threads.submit(contestant.run, race, start) for contestant in contestants]
    for done in running:
        done.result()
    together = Outcome()
    for outcome in (contestant.outcome for contestant in contestants):
        for run, calls in outcome.appends_and_loads.items():
            together.appends_and_loads.setdefault(run, []).extend(calls)
        for run, acquires in outcome.acquires.items():
            together.acquires.setdefault(run, []).extend(acquires)
        together.silent.update(outcome.silent)
        together.faults.extend(outcome.faults)
    return together


@contextlib.contextmanager
def _taking_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_EVERY_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
