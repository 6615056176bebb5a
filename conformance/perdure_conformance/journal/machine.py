"""The stateful machine: Hypothesis draws sequences of operations that nobody thought of, and shrinks what fails.

Every rule draws its numbers relative to the world ("one past the next sequence", "the second batch again"), so that a
sequence stays meaningful while it shrinks; what is done and kept are concrete operations.

The seed decides all that is done, but not who comes first where several handles do something at the same time. A play
with a race that failed is therefore kept, whether or not it fails when it is drawn again, and played several times.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec
from hypothesis import seed
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from perdure_conformance.drawing import drawing, nothing_left_behind
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.journal.effort import Abilities, Effort, Stop
from perdure_conformance.journal.operations import (
    Acquire,
    Append,
    Crash,
    Damage,
    Damaging,
    Follow,
    Interrupt,
    Load,
    LoadSnapshot,
    Operation,
    Race,
    ReadFile,
    RecordSpec,
    Release,
    Renew,
    Reopen,
    SaveSnapshot,
)
from perdure_conformance.journal.play import Play, PlayEnded
from perdure_conformance.journal.scripts import MALFORMED_EVENT_IDS, ODD_TEXTS
from perdure_conformance.suite import Inconclusive, Violation

RUNS = st.integers(0, 2)
LEASED = st.sampled_from((0, 0, 0, 1))
"""Most leases are of one run, so that it has several of them."""
HANDLES = st.integers(0, 1)
WHICH = st.integers(0, 11)
BACK = st.sampled_from((0, 0, 1))
TEXTS = st.one_of(
    st.just(""),
    st.sampled_from(ODD_TEXTS),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)
ZEROS = st.sampled_from((0, 0, 1, 12, 600))
DAMAGES = st.sampled_from(("flip", "flip", "cut", "zeros", "erase"))
AT_ONCE = st.lists(st.integers(0, 3), min_size=1, max_size=2)
"""What one of several handles does: a look, or an append of so many events."""
MALFORMATIONS = st.sampled_from(("empty batch", "gap", "event id", "twice", "empty body"))


class _Enough(BaseException):
    """Enough was tried. Not an `Exception`, so that Hypothesis does not take it for a failure."""


class JournalMachine(RuleBasedStateMachine):
    """One play, driven by Hypothesis."""

    new_play: ClassVar[Callable[[], Play | None]]
    """How a play begins; None ends the example at once."""
    on_stop: ClassVar[Callable[[Play, Stop], None]]
    """What is done with a play that failed or could not go on."""
    restarts: ClassVar[int]
    """How often the handles of one play may be closed or killed: for a process that is slow."""
    abilities: ClassVar[Abilities]
    """What is claimed. Nothing else of the implementation may decide what is drawn, or shrinking is led astray."""

    def __init__(self) -> None:
        super().__init__()
        self.next_event = 0
        self.batches: dict[int, list[Append]] = {}
        self.now_ms = [0, 0]
        self.restarts_left = type(self).restarts
        self.play: Play | None = type(self).new_play()

    def _do(self, operation: Operation) -> bool:
        """Do one operation, unless the play is over."""
        play = self.play
        if play is None:
            return False
        try:
            return play.do(operation)
        except Violation as violation:
            self.play = None
            type(self).on_stop(play, violation)
            raise
        except (AdapterFault, Inconclusive) as stop:
            type(self).on_stop(play, stop)
            self.play = None
        except PlayEnded:
            self.play = None
        return False

    def _next(self, run: int) -> int:
        return len(self.play.world.records(self.play.run_id(run))) + 1 if self.play is not None else 1

    def _fresh(self, texts: list[str]) -> tuple[RecordSpec, ...]:
        first, self.next_event = self.next_event, self.next_event + len(texts)
        return tuple(RecordSpec(event=first + index, text=text) for index, text in enumerate(texts))

    def _append(self, operation: Append) -> None:
        before = self._next(operation.run)
        if self._do(operation) and self._next(operation.run) > before:
            self.batches.setdefault(operation.run, []).append(operation)

    @rule(run=RUNS, handle=HANDLES, texts=st.lists(TEXTS, min_size=1, max_size=3))
    def append_in_place(self, run: int, handle: int, texts: list[str]) -> None:
        """Append new events at the end."""
        self._append(Append(run=run, expected_next=self._next(run), records=self._fresh(texts), handle=handle))

    @rule(run=RUNS, handle=HANDLES)
    def append_and_load(self, run: int, handle: int) -> None:
        """Append one event, and read the run."""
        self._append(Append(run=run, expected_next=self._next(run), records=self._fresh([""]), handle=handle))
        self._do(Load(run=run, handle=handle))

    @rule(
        run=RUNS,
        handle=HANDLES,
        texts=st.lists(TEXTS, min_size=1, max_size=4),
        offset=st.sampled_from((-1, 1, -2)),
    )
    def append_beside(self, run: int, handle: int, texts: list[str], offset: int) -> None:
        """Append new events where they do not belong."""
        at = max(1, self._next(run) + offset)
        self._append(Append(run=run, expected_next=at, records=self._fresh(texts), handle=handle))

    @rule(run=RUNS, handle=HANDLES)
    def append_at_1(self, run: int, handle: int) -> None:
        """Append a new event as if the run did not exist."""
        self._append(Append(run=run, expected_next=1, records=self._fresh([""]), handle=handle))

    @rule(which=WHICH, handle=HANDLES)
    def replay(self, which: int, handle: int) -> None:
        """Send a stored batch again."""
        batch = self._stored_batch(which)
        if batch is None:
            return
        self._append(Append(run=batch.run, expected_next=batch.expected_next, records=batch.records, handle=handle))

    @rule(which=WHICH, handle=HANDLES, text=TEXTS, in_place=st.booleans())
    def known_id_other_bytes(self, which: int, handle: int, text: str, *, in_place: bool) -> None:
        """Send a known event id with other bytes, where it stood or at the end."""
        batch = self._stored_batch(which)
        if batch is None:
            return
        spec = RecordSpec(event=batch.records[0].event, text=text + "!")
        at = batch.expected_next if in_place else self._next(batch.run)
        self._append(Append(run=batch.run, expected_next=at, records=(spec,), handle=handle))

    @rule(which=WHICH, handle=HANDLES, known_first=st.booleans())
    def partly_stored(self, which: int, handle: int, *, known_first: bool) -> None:
        """Send a batch that holds a known event beside a new one."""
        batch = self._stored_batch(which)
        if batch is None:
            return
        known, new = RecordSpec(event=batch.records[-1].event), self._fresh([""])[0]
        records = (known, new) if known_first else (new, known)
        self._append(Append(run=batch.run, expected_next=self._next(batch.run), records=records, handle=handle))

    @rule(which=WHICH, run=RUNS, handle=HANDLES)
    def event_of_another_run(self, which: int, run: int, handle: int) -> None:
        """Append an event id that another run holds."""
        batch = self._stored_batch(which)
        if batch is None:
            return
        known_here = {record.event for stored in self.batches.get(run, ()) for record in stored.records}
        if batch.records[0].event not in known_here:
            spec = RecordSpec(event=batch.records[0].event)
            self._append(Append(run=run, expected_next=self._next(run), records=(spec,), handle=handle))

    @rule(run=RUNS, malformation=MALFORMATIONS, event_id=st.sampled_from(MALFORMED_EVENT_IDS), out=st.booleans())
    def malformed(self, run: int, malformation: str, event_id: str, *, out: bool) -> None:
        """Append something malformed, in place or out of it."""
        at = self._next(run) + (2 if out else 0)
        first, second = self._fresh(["", ""])
        records: tuple[RecordSpec, ...] = {
            "empty batch": (),
            "gap": (first, RecordSpec(event=second.event, sequence=at + 2)),
            "event id": (first, RecordSpec(event=second.event, event_id=event_id)),
            "twice": (first, first),
            "empty body": (first, RecordSpec(event=second.event, empty_body=True)),
        }[malformation]
        self._append(Append(run=run, expected_next=at, records=records))

    @rule(run=RUNS, handle=HANDLES, from_sequence=st.integers(1, 6), limit=st.integers(1, 6))
    def load(self, run: int, handle: int, from_sequence: int, limit: int) -> None:
        """Read a run from somewhere on, in pages of some size."""
        self._do(Load(run=run, from_sequence=from_sequence, limit=limit, handle=handle))

    @rule(run=RUNS, handle=HANDLES)
    def load_whole(self, run: int, handle: int) -> None:
        """Read a run from its start."""
        self._do(Load(run=run, handle=handle))

    @rule(handle=st.sampled_from((None, 0, 1)))
    def reopen(self, handle: int | None) -> None:
        """Close every handle, or one, and open it again."""
        self._restart(Reopen(handle=handle))

    @precondition(lambda self: self.abilities.can_crash)
    @rule()
    def crash(self) -> None:
        """Kill −9 and restart."""
        self._restart(Crash())

    @rule(run=RUNS, handle=HANDLES, size=st.integers(20, 60), limit=st.integers(5, 25), known_last=st.booleans())
    def big_batch(self, run: int, handle: int, size: int, limit: int, *, known_last: bool) -> None:
        """Append a long batch, whole or refused for its last record, and read the run in long pages."""
        known = [record for batch in self.batches.get(run, ()) for record in batch.records]
        records = self._fresh([""] * size)
        if known_last and known:
            records = (*records[:-1], RecordSpec(event=known[0].event))
        self._append(Append(run=run, expected_next=self._next(run), records=records, handle=handle))
        self._do(Load(run=run, limit=limit, handle=handle))

    @precondition(lambda self: self.abilities.shares)
    @rule(run=RUNS, first=AT_ONCE, second=AT_ONCE)
    def at_the_same_time(self, run: int, first: list[int], second: list[int]) -> None:
        """Let two handles append new events and look, each by turns, both at the same time."""
        race = Race((*self._of_one_handle(run, 0, first), *self._of_one_handle(run, 1, second)))
        if not self._do(race) or self.play is None:
            return
        for operation in race.operations:
            if isinstance(operation, Append) and (at := self.play.sequence_of(run, operation.records[0])) is not None:
                self.batches.setdefault(run, []).append(msgspec.structs.replace(operation, expected_next=at))

    @precondition(lambda self: self.abilities.shares and self.abilities.judges_leases)
    @rule(run=LEASED, ttl_ms=st.integers(0, 3), skew_ms=st.integers(0, 6))
    def acquire_at_the_same_time(self, run: int, ttl_ms: int, skew_ms: int) -> None:
        """Let two workers ask for a lease at the same time."""
        now_ms = self._tick(0, skew_ms)
        self._do(Race(tuple(Acquire(run=run, ttl_ms=ttl_ms, now_ms=now_ms, owner=by, handle=by) for by in (0, 1))))

    @precondition(lambda self: self.abilities.has_snapshots)
    @rule(run=RUNS, handle=HANDLES, back=st.integers(0, 4), text=TEXTS, save=st.booleans())
    def snapshot(self, run: int, handle: int, back: int, text: str, *, save: bool) -> None:
        """Save a snapshot at any position of the run, or load it."""
        if save:
            sequence = max(1, self._next(run) - 1 - back)
            self._do(SaveSnapshot(run=run, sequence=sequence, text=text, handle=handle))
        else:
            self._do(LoadSnapshot(run=run, handle=handle))

    @precondition(lambda self: self.abilities.keeps_files)
    @rule(run=RUNS, texts=st.lists(TEXTS, min_size=1, max_size=3), kept=st.integers(0, 1_500), zeros=ZEROS)
    def cut_short(self, run: int, texts: list[str], kept: int, zeros: int) -> None:
        """Leave in the files what an append leaves that was cut short."""
        if self.batches.get(run):
            self._restart(Interrupt(run=run, records=self._fresh(texts), kept_bytes=kept, zeros=zeros))

    @precondition(lambda self: self.abilities.keeps_files)
    @rule(run=RUNS)
    def file(self, run: int) -> None:
        """Look at a file."""
        self._do(ReadFile(run=run))

    @precondition(lambda self: self.abilities.keeps_files)
    @rule(run=st.just(2), how=DAMAGES, record=st.integers(0, 2), offset=st.integers(0, 600), size=st.integers(1, 255))
    def damage(self, run: int, how: Damaging, record: int, offset: int, size: int) -> None:
        """Damage a file; nothing more can be learnt of its run than that it is damaged."""
        if self.batches.get(run):
            self._restart(Damage(run=run, how=how, record=record, offset=offset, size=size))
            self._do(Load(run=run))

    @precondition(lambda self: self.abilities.judges_leases)
    @rule(run=LEASED, handle=HANDLES, owner=HANDLES, ttl_ms=st.integers(0, 3), skew_ms=st.integers(0, 6))
    def acquire(self, run: int, handle: int, owner: int, ttl_ms: int, skew_ms: int) -> None:
        """Ask for a lease, by the clock of one of two workers."""
        self._do(Acquire(run=run, ttl_ms=ttl_ms, now_ms=self._tick(owner, skew_ms), owner=owner, handle=handle))

    @precondition(lambda self: self.abilities.judges_leases)
    @rule(
        run=LEASED,
        handle=HANDLES,
        worker=HANDLES,
        back=BACK,
        ahead=st.sampled_from((0, 0, 0, 1)),
        ttl_ms=st.integers(0, 3),
        skew_ms=st.integers(0, 4),
    )
    def renew(self, run: int, handle: int, worker: int, back: int, ahead: int, ttl_ms: int, skew_ms: int) -> None:
        """Prolong a lease, by the clock of one of two workers, under a current, a former or an unknown epoch."""
        grant, now_ms = self._grant(run, back), self._tick(worker, skew_ms)
        self._do(Renew(run=run, grant=grant, ahead=ahead, ttl_ms=ttl_ms, now_ms=now_ms, handle=handle))

    @precondition(lambda self: self.abilities.judges_leases)
    @rule(run=LEASED, handle=HANDLES, back=BACK)
    def release(self, run: int, handle: int, back: int) -> None:
        """End a lease."""
        self._do(Release(run=run, grant=self._grant(run, back), handle=handle))

    @precondition(lambda self: self.abilities.judges_leases and self.abilities.fences)
    @rule(run=LEASED, handle=HANDLES, back=BACK)
    def append_under_epoch(self, run: int, handle: int, back: int) -> None:
        """Append under the epoch of one of the run's grants, current or former."""
        records = self._fresh([""])
        self._append(
            Append(run=run, expected_next=self._next(run), records=records, grant=self._grant(run, back), handle=handle)
        )

    @precondition(lambda self: self.abilities.judges_leases and self.abilities.fences)
    @rule(
        which=WHICH,
        handle=HANDLES,
        back=st.integers(0, 2),
        offset=st.sampled_from((0, 0, 1, -1)),
        known=st.booleans(),
        malformed=st.booleans(),
    )
    def refused_for_several_reasons(
        self, which: int, handle: int, back: int, offset: int, *, known: bool, malformed: bool
    ) -> None:
        """Append under some epoch what may be malformed, known and out of place, all at once."""
        batch = self._stored_batch(which)
        if batch is None:
            return
        first, second = self._fresh(["", ""])
        records: tuple[RecordSpec, ...] = (RecordSpec(event=batch.records[0].event) if known else first,)
        records += (RecordSpec(event=second.event, empty_body=True),) if malformed else ()
        at = max(1, self._next(batch.run) + offset)
        grant = self._grant(batch.run, back)
        self._append(Append(run=batch.run, expected_next=at, records=records, grant=grant, handle=handle))

    def teardown(self) -> None:
        """Read all that was stored; leave the implementation open for the next play."""
        for run in sorted(self.batches):
            self._do(Load(run=run))

    def _of_one_handle(self, run: int, handle: int, sizes: list[int]) -> tuple[Append | Follow, ...]:
        return tuple(
            Append(run=run, expected_next=self._next(run), records=self._fresh([""] * size), handle=handle)
            if size
            else Follow(run=run, handle=handle)
            for size in sizes
        )

    def _grant(self, run: int, back: int) -> int:
        """Return the number of the run's latest grant, or of one before it; the first one is asked for now."""
        if self._grants(run) == 0:
            self._do(Acquire(run=run, ttl_ms=2, now_ms=self._tick(0, 1)))
        return max(0, self._grants(run) - 1 - back)

    def _grants(self, run: int) -> int:
        return self.play.world.grants(self.play.run_id(run)) if self.play is not None else 0

    def _tick(self, worker: int, skew_ms: int) -> int:
        self.now_ms[worker] += skew_ms
        return self.now_ms[worker]

    def _stored_batch(self, which: int) -> Append | None:
        stored = [batch for run in sorted(self.batches) for batch in self.batches[run]]
        return stored[which % len(stored)] if stored else None

    def _restart(self, operation: Reopen | Crash | Interrupt | Damage) -> None:
        if self.restarts_left and self.batches:
            self.restarts_left -= 1
            self._do(operation)


def run_machine(
    new_play: Callable[[], Play | None],
    on_stop: Callable[[Play, Stop], None],
    effort: Effort,
    abilities: Abilities,
    random_seed: int,
) -> None:
    """Play drawn sequences until one fails, then smaller ones. Each stop is told to `on_stop`, the smallest too."""
    plays_left = effort.plays_to_shrink  # After the first failure.
    failed: list[Violation] = []

    def begin() -> Play | None:
        nonlocal plays_left
        if failed:
            plays_left -= 1
        if plays_left < 0:
            raise _Enough
        return new_play()

    def stopped(play: Play, stop: Stop) -> None:
        if isinstance(stop, Violation):
            failed.append(stop)
        on_stop(play, stop)
        if isinstance(stop, AdapterFault):
            raise _Enough

    hooks = {
        "new_play": staticmethod(begin),
        "on_stop": staticmethod(stopped),
        "restarts": effort.restarts,
        "abilities": abilities,
    }
    machine: Any = seed(random_seed)(type("JournalMachine", (JournalMachine,), hooks))
    shrinks = effort.plays_to_shrink > 0
    with nothing_left_behind(), contextlib.suppress(Violation, Flaky, _Enough):
        run_state_machine_as_test(machine, settings=drawing(effort.examples, steps=effort.steps, shrinks=shrinks))
