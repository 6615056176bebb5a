"""Plays operations against a target: sends each, judges its answer, and stops at the first one that is wrong."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from perdure.journal.contract import (
    Acknowledged,
    Description,
    Done,
    Envelope,
    Granted,
    Held,
    NotStored,
    Page,
    Renewed,
    Snapshot,
    StaleEpoch,
    Unavailable,
    acknowledge,
    invalid_or_too_large,
    utf8_bytes,
)
from perdure.kernel.identity import RunId
from perdure.kernel.values import JsonObject
from perdure_conformance.harness.connection import AdapterFault, Connection, Silence, Silences
from perdure_conformance.harness.targets import Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.journal.calls import LoadCall, Names, Noun
from perdure_conformance.journal.client import (
    NAMESPACE,
    Answer,
    Invalid,
    JournalClient,
    NotSupported,
    may_be_sent,
)
from perdure_conformance.journal.describe import sentence
from perdure_conformance.journal.differences import actual, expected
from perdure_conformance.journal.operations import (
    Acquire,
    Append,
    Clear,
    Crash,
    Damage,
    Identities,
    Interrupt,
    Load,
    LoadSnapshot,
    Obstruct,
    OnFiles,
    Operation,
    Race,
    ReadFile,
    RecordSpec,
    Release,
    Renew,
    Reopen,
    SaveSnapshot,
    handles_of,
    one_by_one,
)
from perdure_conformance.journal.races import LeaseRaceStep, RaceStep, complaint, in_words
from perdure_conformance.journal.racing import Clock, Outcome, run_race
from perdure_conformance.journal.rules import Rules
from perdure_conformance.journal.stored import Store
from perdure_conformance.journal.world import (
    DescriptionStep,
    FileStep,
    Hurt,
    HurtAppendStep,
    HurtLoadStep,
    HurtSnapshotStep,
    LoadSnapshotStep,
    LoadStep,
    SaveSnapshotStep,
    Step,
    UnansweredStep,
    UnclaimedStep,
    World,
)
from perdure_conformance.requirements import requirements
from perdure_conformance.suite import Inconclusive, Violation

SENDS_OF_AN_UNANSWERED_OPERATION = 8
"""How often an operation is sent that keeps being answered `not_stored` or `unavailable`."""

STDERR_KEPT_CHARACTERS = 64 * 1024

_PAGE_AFTER_A_RACE = 1_000


Claimable = TypeVar("Claimable", SaveSnapshot | LoadSnapshot, Acquire | Renew | Release)


class PlayEnded(Exception):
    """The play can say nothing more: an answer left the truth open, or broke a requirement that is switched off."""


@dataclass(slots=True)
class Tally:
    """What a judgement has seen so far."""

    reached: Counter[str] = field(default_factory=Counter)
    """How often the guard of each requirement was reached."""
    durable_operations: int = 0
    acknowledged_once: bool = False
    silences: Silences = field(default_factory=Silences)


class Site:
    """One state directory, and the handles that are open on it."""

    def __init__(self, target: Target, timeout_s: float, transcript: Transcript | None = None) -> None:
        self.target = target
        self.transcript = Transcript() if transcript is None else transcript
        self._timeout_s = timeout_s
        self._state_dir = Path(tempfile.mkdtemp(prefix="perdure-"))
        self._clients: dict[int, JournalClient] = {}
        self._description: Description | None = None
        self._stderr = ""
        self.snapshots: dict[str, tuple[Identities, SaveSnapshot]] = {}
        """What was saved here, by its body: in which play, and how."""

    def describe(self) -> Description:
        """Return what the implementation says of itself."""
        self.client(0)
        assert self._description is not None
        return self._description

    def client(self, handle: int) -> JournalClient:
        """Return an open handle, opened now if it was not."""
        if handle not in self._clients:
            self._clients[handle] = self._open(handle)
        return self._clients[handle]

    def handles(self) -> list[int]:
        """Return the handles that are open, or the first one if none is."""
        return sorted(self._clients) or [0]

    def reopen(self, handle: int) -> None:
        """Close a handle in good order; it is opened again when it is used."""
        client = self._clients.pop(handle, None)
        if client is not None:
            self.transcript.event(f"close {self._called(handle)}")
            try:
                client.connection.close()
            finally:
                self._keep_stderr(client.connection)

    def kill(self, handle: int) -> None:
        """Kill one handle; it is opened again when it is used."""
        client = self._clients.pop(handle, None)
        if client is not None:
            self.transcript.event(f"kill -9 {self._called(handle)}")
            client.connection.kill()
            self._keep_stderr(client.connection)

    def close_all(self) -> None:
        """Close every handle in good order."""
        for handle in list(self._clients):
            self.reopen(handle)

    @property
    def folder(self) -> Path:
        """Where a journal keeps its files that claims their format."""
        return self._state_dir / NAMESPACE

    def crash(self) -> None:
        """Kill every handle."""
        for handle in list(self._clients):
            self.kill(handle)

    def remove(self) -> None:
        """End what is open and remove the state: a program is killed, a Python object is closed."""
        if not self.target.is_process:
            for handle in self.handles():
                with contextlib.suppress(AdapterFault):
                    self.reopen(handle)
        self.crash()
        shutil.rmtree(self._state_dir, ignore_errors=True)

    def stderr(self) -> str:
        """Return the end of what the implementation wrote to standard error, over all its processes."""
        for client in self._clients.values():
            self._keep_stderr(client.connection)
        return self._stderr

    @property
    def noun(self) -> Noun:
        """What a handle is to whoever reads."""
        return "process" if self.target.is_process else "handle"

    def _called(self, handle: int) -> str:
        return f"{self.noun} {handle}"

    def _open(self, handle: int) -> JournalClient:
        called = self._called(handle)
        self.transcript.event(f"open {called}")
        client = JournalClient(self.target.open(self._timeout_s, self.transcript.of(called)))
        try:
            self._describes_itself_as(client.initialize(self._state_dir))
        except Silence as error:
            client.connection.kill()
            self._keep_stderr(client.connection)
            raise AdapterFault("silence", f"{error}.", self._stderr) from error
        except BaseException:
            client.connection.kill()
            raise
        return client

    def _describes_itself_as(self, description: Description) -> None:
        if self._description is not None and description != self._description:
            raise AdapterFault("wrong_reply", "A second initialize gave another description than the first.")
        self._description = description

    def _keep_stderr(self, connection: Connection) -> None:
        text = connection.stderr()
        if not self._stderr.endswith(text):
            self._stderr = (self._stderr + text)[-STDERR_KEPT_CHARACTERS:]


class Play:
    """One sequence of operations, on runs of its own."""

    def __init__(
        self, site: Site, identities: Identities, tally: Tally, rules: Rules, off: frozenset[str] = frozenset()
    ) -> None:
        self._site = site
        self._ids = identities
        self._tally = tally
        self._rules = rules
        self._off = off
        self.claims = site.describe().capabilities
        self.limits = site.describe().limits
        self._clauses = [
            clause
            for clause in rules.clauses
            if rules.is_claimed(requirements()[clause.requirement], self.claims, in_process=not site.target.is_process)
        ]
        self.world = World(self.claims, self.limits)
        self.operations: list[Operation] = []
        """What was done so far, the last one included if it failed."""
        self.answers: list[str] = []
        """The last answer to each operation, in a word."""
        self._judge(DescriptionStep(self.limits))

    @property
    def can_crash(self) -> bool:
        """Whether a kill −9 can be judged: there is a process, and it claims to survive."""
        return self._site.target.is_process and self.claims.durable is not None

    @property
    def can_share(self) -> bool:
        """Whether a second handle can be judged."""
        return self.claims.multi_process if self._site.target.is_process else self.claims.multi_handle

    def run_id(self, run: int) -> RunId:
        """Return the id of a run of this play."""
        return self._ids.run_id(run)

    def sequence_of(self, run: int, event: RecordSpec) -> int | None:
        """Return where an event stands in a run; None if it is not there."""
        event_id = self._ids.event_id(event.event)
        found = (record.sequence for record in self.world.records(self.run_id(run)) if record.event_id == event_id)
        return next(found, None)

    def do(self, operation: Operation) -> bool:
        """Do one operation and judge it; return False, having done nothing, if its answer is left open.

        Raises `Violation`, `PlayEnded`, `Inconclusive`, `AdapterFault`.
        """
        if any(handles_of(operation)) and not self.can_share:
            return False
        match operation:
            case Append():
                return self._append(operation)
            case Load():
                return self._load(operation)
            case Race():
                return self._race(operation)
            case Reopen():
                return self._reopen(operation)
            case Crash():
                return self._crash(operation)
            case ReadFile() | Interrupt() | Damage() | Obstruct() | Clear():
                return self._on_files(operation)
            case SaveSnapshot() | LoadSnapshot():
                return self._claimed_or_not(operation, self._snapshot, claimed=self.claims.snapshots)
            case Acquire() | Renew() | Release():
                return self._claimed_or_not(operation, self._lease, claimed=self.claims.leases)

    # The operations

    def _append(self, operation: Append) -> bool:
        if (hurt := self.world.hurt(self.run_id(operation.run))) is not None:
            return self._append_to_hurt(operation, hurt)
        run_id, records = self.run_id(operation.run), self._ids.envelopes(operation)
        if operation.grant is not None and not (self.claims.fencing and self._was_granted(operation)):
            return False
        answered = self.world.pending_append(operation, run_id, records)
        if answered is None:
            return False
        self._begin(operation)
        params: JsonObject = {
            "run_id": run_id,
            "expected_next": operation.expected_next,
            "epoch": self.world.epoch_of(run_id, operation.grant, operation.ahead),
            "records": msgspec.to_builtins(list(records)),
        }
        answer = self._ask(
            operation.handle,
            "append",
            params,
            stored=lambda: self._is_stored(operation, records),
            not_stored=lambda: self._see_that_nothing_is_stored(operation, records),
        )
        step = answered(answer)
        self._judge(step)
        self.world.appended(run_id, step)
        if isinstance(answer, Acknowledged):
            self._tally.acknowledged_once = True
            self._tally.durable_operations += 1
        return True

    def _load(self, operation: Load) -> bool:
        if (hurt := self.world.hurt(self.run_id(operation.run))) is not None:
            return self._load_hurt(operation, hurt)
        self._begin(operation)
        run_id, position = self.run_id(operation.run), operation.from_sequence
        while True:
            params: JsonObject = {"run_id": run_id, "from_sequence": position, "limit": operation.limit}
            answer = self._ask(operation.handle, "load", params)
            self._judge(self.world.load_step(run_id, operation.handle, position, operation.limit, answer))
            assert isinstance(answer, Page)
            position += len(answer.records)
            if answer.end:
                break
        if operation.from_sequence == 1:
            self.world.read_whole(operation.handle, run_id, position - 1)
        return True

    def _append_to_hurt(self, operation: Append, hurt: Hurt) -> bool:
        """Append to a run whose file is hurt: once, for no answer but an acknowledgement is wrong."""
        run_id, records = self.run_id(operation.run), self._ids.envelopes(operation)
        if operation.grant is not None:
            return False
        self._begin(operation)
        params: JsonObject = {
            "run_id": run_id,
            "expected_next": operation.expected_next,
            "epoch": None,
            "records": msgspec.to_builtins(list(records)),
        }
        self._judge(HurtAppendStep(hurt, self._ask_once(operation.handle, "append", params)))
        return True

    def _load_hurt(self, operation: Load, hurt: Hurt) -> bool:
        self._begin(operation)
        run_id, position = self.run_id(operation.run), operation.from_sequence
        while True:
            params: JsonObject = {"run_id": run_id, "from_sequence": position, "limit": operation.limit}
            ask = self._ask_once if hurt.damaged_at is None else self._ask  # What is damaged may be busy for a time.
            answer = ask(operation.handle, "load", params)
            self._judge(self.world.hurt_load_step(run_id, hurt, position, answer))
            if not isinstance(answer, Page):
                return True
            position += len(answer.records)

    def _on_files(self, operation: OnFiles) -> bool:
        """Look at files or change them, if their format is claimed and the run's file is there and sound."""
        run_id = self.run_id(operation.run)
        if self.claims.format is None or not self.world.may_be_changed(
            run_id, is_to_clear=isinstance(operation, Clear)
        ):
            return False
        self._begin(operation)
        store = Store(self._site.folder, self.claims.format)
        if isinstance(operation, ReadFile):
            due = store.contents(self.world.records(run_id))
            self._judge(self.world.file_step(run_id, due, store.read(run_id)))
            return True
        self._site.close_all()
        for handle in self.world.handles:
            self.world.reopened(handle, "reopen")
        self._change_files(operation, store, run_id)
        return True

    def _change_files(self, operation: Interrupt | Damage | Obstruct | Clear, store: Store, run_id: RunId) -> None:
        records = self.world.records(run_id)
        match operation:
            case Interrupt():
                append = Append(run=operation.run, expected_next=len(records) + 1, records=operation.records)
                new = self._ids.envelopes(append)
                store.interrupt(run_id, records, new, operation.kept_bytes, operation.zeros)
                self.world.interrupted(run_id, "torn_tail" if store.format == "jsonl" else "leftover")
            case Damage(snapshot=True):
                if store.damage_snapshot(run_id, operation):
                    self.world.snapshot_damaged(run_id)
            case Damage():
                sequence = store.damage(run_id, records, operation)
                if sequence is not None:
                    self.world.damaged(run_id, sequence)
            case Obstruct():
                store.obstruct(run_id)
                self.world.obstructed(run_id)
            case Clear():
                store.clear(run_id)
                self.world.cleared(run_id)

    def _race(self, operation: Race) -> bool:
        if not self._can_race(operation):
            return False
        self._begin(operation)
        clients = {handle: self._site.client(handle) for handle in operation.handles}
        clock = Clock()
        outcome = run_race(operation, clients, self._ids, clock, replays=self.claims.exact_replay)
        if outcome.faults:
            raise outcome.faults[0]
        for handle, silence in outcome.silent.items():
            self._restart(handle, silence)
        self._judge_appends_and_loads(operation, outcome, clock)
        self._judge_acquires(operation, outcome)
        if outcome.silent:
            raise PlayEnded  # In a process that was killed as in one that was left, what it did last is unknown.
        return True

    def _judge_appends_and_loads(self, operation: Race, outcome: Outcome, clock: Clock) -> None:
        """Judge each run that was appended to or loaded, by what each handle shows now."""
        for run, calls in sorted(outcome.appends_and_loads.items()):
            run_id = self.run_id(run)
            pages = [page for handle in operation.handles for page in self._read_after_race(run_id, handle, clock)]
            finals = {
                handle: tuple(record for page in pages if page.handle == handle for record in page.shown)
                for handle in operation.handles
            }
            before = tuple(self.world.records(run_id))
            step = RaceStep(
                before, (*calls, *pages), finals, batches_are_whole=self.claims.atomic_batch, names=self._names(run)
            )
            self._judge(step)
            self.world.raced(run_id, step)
            self._tally.durable_operations += len(step.acknowledged)
            self._tally.acknowledged_once |= bool(step.acknowledged)
            if any(call.records[0] not in step.after for call in step.unknown):
                raise PlayEnded  # It may still come.

    def _read_after_race(self, run_id: RunId, handle: int, clock: Clock) -> list[LoadCall]:
        """Return the pages of a run from its start to its end, as calls after the race."""
        pages: list[LoadCall] = []
        position = 1
        while True:
            began = clock.tick()
            params: JsonObject = {"run_id": run_id, "from_sequence": position, "limit": _PAGE_AFTER_A_RACE}
            answer = self._ask(handle, "load", params)
            page = LoadCall(handle=handle, began=began, ended=clock.tick(), answer=answer, position=position)
            pages.append(page)
            position += len(page.shown)
            if page.ends or not page.shown:
                return pages

    def _judge_acquires(self, operation: Race, outcome: Outcome) -> None:
        """Judge each run whose lease was asked for."""
        for run, calls in sorted(outcome.acquires.items()):
            run_id = self.run_id(run)
            requests = [each for each in operation.operations if isinstance(each, Acquire) and each.run == run]
            self._judge(self.world.lease_race_step(run_id, requests, tuple(calls), self._names(run)))
            if any(call.is_unknown for call in calls):
                raise PlayEnded  # It may have been granted to nobody who knows.
            granted = [call.answer for call in calls if isinstance(call.answer, Granted)]
            for grant in sorted(granted, key=lambda each: each.epoch):
                self.world.granted(run_id, grant)
            self._tally.durable_operations += len(granted)

    def _names(self, run: int) -> Names:
        """Return what is called how in what is told of a race."""
        appends = (each for each in one_by_one(self.operations) if isinstance(each, Append))
        sent = (pair for each in appends for pair in zip(each.records, self._ids.envelopes(each), strict=True))
        return Names(self._site.noun, run, {record.event_id: spec.event for spec, record in sent})

    def _can_race(self, race: Race) -> bool:
        """Tell whether there is one right answer to each operation of a race, but for who comes first."""
        appends = [each for each in race.operations if isinstance(each, Append)]
        acquires = [each for each in race.operations if isinstance(each, Acquire)]
        leased = {each.run for each in acquires}
        if acquires and not self.claims.leases:
            return False
        if leased & {each.run for each in appends}:
            return False  # Fencing would decide.
        if len({(each.run, each.now_ms) for each in acquires}) > len(leased):
            return False  # Leases might expire.
        sent: dict[int, list[Envelope]] = {each.run: [] for each in race.operations}
        for each in appends:
            sent[each.run] += self._ids.envelopes(each)
        return all(self._is_acceptable(each) for each in appends) and all(
            self.world.can_race(self.run_id(run), records) for run, records in sent.items()
        )

    def _is_acceptable(self, append: Append) -> bool:
        """Tell whether an append is acknowledged at the right position."""
        records = self._ids.envelopes(append)
        return append.grant is None and invalid_or_too_large(append.expected_next, records, self.world.limits) is None

    def _reopen(self, operation: Reopen) -> bool:
        self._begin(operation)
        handles = self._site.handles() if operation.handle is None else [operation.handle]
        for handle in handles:
            self._site.reopen(handle)
            self.world.reopened(handle, "reopen")
        for handle in handles:
            self._site.client(handle)
        return True

    def _crash(self, operation: Crash) -> bool:
        if not self.can_crash:
            return False
        self._begin(operation)
        self._site.crash()
        for handle in self.world.handles:
            self.world.reopened(handle, "crash")
        self._site.client(0)
        return True

    def _snapshot(self, operation: SaveSnapshot | LoadSnapshot) -> None:
        run_id = self.run_id(operation.run)
        if isinstance(operation, LoadSnapshot):
            answer = self._ask(operation.handle, "load_snapshot", {"run_id": run_id})
            is_hurt = self.world.snapshot_is_damaged(run_id)
            self._judge(
                HurtSnapshotStep(answer) if is_hurt else self.world.load_snapshot_step(run_id, operation.handle, answer)
            )
            return
        snapshot = Snapshot(operation.sequence, self._ids.snapshot_body(operation))
        self._site.snapshots[snapshot.body] = (self._ids, operation)
        params: JsonObject = {"run_id": run_id, "sequence": snapshot.sequence, "body": snapshot.body}
        is_too_large = utf8_bytes(snapshot.body) > self.limits.max_snapshot_bytes
        answer = self._ask(operation.handle, "save_snapshot", params)
        self._judge(SaveSnapshotStep(is_too_large, answer))
        if is_too_large:
            self.world.was_too_large(run_id)
        else:
            self.world.saved(run_id, operation.handle, snapshot)
        self._tally.durable_operations += 1

    def _lease(self, operation: Acquire | Renew | Release) -> None:
        run_id = self.run_id(operation.run)
        match operation:
            case Acquire(ttl_ms=ttl_ms, now_ms=now_ms):
                answer = self._ask(operation.handle, "acquire", self._params(operation))
                self._judge(self.world.acquire_step(run_id, ttl_ms, now_ms, answer))
                if isinstance(answer, Granted):
                    self.world.granted(run_id, answer)
            case Renew(ttl_ms=ttl_ms, now_ms=now_ms):
                answer = self._ask(operation.handle, "renew", self._params(operation))
                self._judge(self.world.renew_step(run_id, self._epoch(operation), ttl_ms, now_ms, answer))
                if isinstance(answer, Renewed):
                    self.world.renewed(run_id, answer)
                else:
                    self.world.renewal_refused(run_id)
            case Release(grant=grant):
                answer = self._ask(operation.handle, "release", self._params(operation))
                step = self.world.release_step(run_id, grant, answer)
                self._judge(step)
                if isinstance(step.expected, Done):
                    self.world.released(run_id)
        self._tally.durable_operations += 1

    # How an operation is sent

    def _begin(self, operation: Operation) -> None:
        self.operations.append(operation)
        self.answers.append("")
        for handle in handles_of(operation):
            self.world.use(handle)

    def _claimed_or_not(self, operation: Claimable, do: Callable[[Claimable], None], *, claimed: bool) -> bool:
        """Do an operation that is claimed; one that is not must be unsupported."""
        if claimed and isinstance(operation, Renew | Release) and self._is_open(operation):
            return False
        if isinstance(operation, SaveSnapshot) and not self._may_be_sent(operation):
            return False
        self._begin(operation)
        if claimed:
            do(operation)
        else:
            method = _METHODS[type(operation)]
            self._judge(UnclaimedStep(method, self._ask_unclaimed(operation.handle, method, self._params(operation))))
        return True

    def _ask_once(self, handle: int, method: str, params: JsonObject) -> Answer:
        """Send once, where sending again would bring nothing else."""
        try:
            return self._site.client(handle).ask(method, params)
        except Silence as silence:
            self._restart(handle, silence)
            raise PlayEnded from silence

    def _ask_unclaimed(self, handle: int, method: str, params: JsonObject) -> Answer:
        """Send once: to what is not claimed there is one right answer, whatever else comes."""
        try:
            return self._site.client(handle).ask(method, params)
        except AdapterFault as fault:
            if fault.kind not in {"wrong_reply", "error"}:
                raise
            self._site.kill(handle)
            return Invalid(fault.sentence)
        except Silence as silence:
            self._restart(handle, silence)
            return Invalid(f"{silence}")

    def _may_be_sent(self, operation: SaveSnapshot) -> bool:
        """Tell whether a snapshot may be sent, whatever its size."""
        size_bytes = utf8_bytes(self._ids.snapshot_body(operation))
        return may_be_sent(self.limits, lambda limits: size_bytes > limits.max_snapshot_bytes)

    def _is_open(self, operation: Renew | Release) -> bool:
        """Tell whether there is nothing to renew or release, or no telling what comes of it."""
        return self.world.is_released(self.run_id(operation.run)) or not self._was_granted(operation)

    def _was_granted(self, operation: Append | Renew | Release) -> bool:
        grant = operation.grant
        return grant is not None and grant < self.world.grants(self.run_id(operation.run))

    def _ask(
        self,
        handle: int,
        method: str,
        params: JsonObject,
        stored: Callable[[], bool] | None = None,
        not_stored: Callable[[], None] | None = None,
    ) -> Answer:
        """Send until there is a definite answer: an unknown operation is sent again, the same.

        `stored` finds out by reading whether it happened, `not_stored` sees that it did not.
        """
        last: Answer | None = None
        unknown = False
        for _ in range(SENDS_OF_AN_UNANSWERED_OPERATION):
            if unknown and stored is not None and stored():
                return _acknowledged(params)
            try:
                last = self._site.client(handle).ask(method, params)
            except Silence as silence:
                self._restart(handle, silence)
                unknown = True
                continue
            if not isinstance(last, NotStored | Unavailable):
                if unknown and method != "append" and isinstance(last, Held | StaleEpoch):
                    raise PlayEnded  # It may be refused because the call whose answer was lost had happened.
                return last
            unknown = unknown or isinstance(last, Unavailable)
            if isinstance(last, NotStored) and not_stored is not None and not unknown:
                not_stored()
        if method == "append" and isinstance(last, NotStored) and not unknown:
            return last
        if method == "append" and last is not None:
            self._judge(UnansweredStep(self._tally.acknowledged_once, last))
        raise Inconclusive(f"{method} was answered {msgspec.to_builtins(last)} again and again")

    def _is_stored(self, operation: Append, records: tuple[Envelope, ...]) -> bool:
        """Find out by reading whether an append happened, where sending it again would not tell."""
        if self.claims.exact_replay:
            return False
        params: JsonObject = {
            "run_id": self.run_id(operation.run),
            "from_sequence": operation.expected_next,
            "limit": max(1, len(records)),
        }
        answer = self._ask(operation.handle, "load", params)
        if isinstance(answer, Page) and answer.records and answer.records != records:
            raise PlayEnded  # A part of the batch: without `atomic_batch` or a replay there is no telling.
        return isinstance(answer, Page) and bool(records) and answer.records == records

    def _see_that_nothing_is_stored(self, operation: Append, records: tuple[Envelope, ...]) -> None:
        """Hold `not_stored` to its word, before the same records are sent again."""
        run_id = self.run_id(operation.run)
        self.world.refused(run_id, records)
        position, limit = operation.expected_next, max(1, len(records))
        params: JsonObject = {"run_id": run_id, "from_sequence": position, "limit": limit}
        answer = self._ask(operation.handle, "load", params)
        self._judge(self.world.load_step(run_id, operation.handle, position, limit, answer))

    def _restart(self, handle: int, silence: Silence) -> None:
        """Kill and restart what did not answer; once in a judgement that may happen."""
        self._site.kill(handle)
        last = self.operations[-1]
        told = "a race" if isinstance(last, Race) else sentence(last, self._site.noun)
        self._tally.silences.bear(silence, told, self._site.stderr)
        if self.claims.durable is None:
            raise Inconclusive(f"{silence}, and without a claim of durability nothing can be said of what is left")
        self.world.reopened(handle, "crash")

    def _params(self, operation: SaveSnapshot | LoadSnapshot | Acquire | Renew | Release) -> JsonObject:
        run_id = self.run_id(operation.run)
        match operation:
            case SaveSnapshot(sequence=sequence):
                return {"run_id": run_id, "sequence": sequence, "body": self._ids.snapshot_body(operation)}
            case LoadSnapshot():
                return {"run_id": run_id}
            case Acquire(owner=owner, ttl_ms=ttl_ms, now_ms=now_ms):
                return {"run_id": run_id, "owner": self._ids.owner_id(owner), "ttl_ms": ttl_ms, "now_ms": now_ms}
            case Renew(ttl_ms=ttl_ms, now_ms=now_ms):
                return {"run_id": run_id, "epoch": self._epoch(operation), "ttl_ms": ttl_ms, "now_ms": now_ms}
            case Release():
                return {"run_id": run_id, "epoch": self._epoch(operation)}

    def _epoch(self, operation: Renew | Release) -> int:
        epoch = self.world.epoch_of(self.run_id(operation.run), operation.grant) if self.claims.leases else None
        ahead = operation.ahead if isinstance(operation, Renew) else 0
        return (epoch or 1) + ahead

    def _judge(self, step: Step) -> None:
        """Ask the clauses; the first that is broken names the fault."""
        self._note_answer(step)
        broken = []
        for clause in self._clauses:
            keeps = clause.keeps(step) if isinstance(step, clause.step) else None
            if keeps is not None:
                self._tally.reached[clause.requirement] += 1
            if keeps is False:
                broken.append(clause.requirement)
        if not broken:
            return
        blamed = self._rules.blame(broken)
        if blamed in self._off:
            raise PlayEnded
        if isinstance(step, RaceStep | LeaseRaceStep):
            found = complaint(blamed, step)
            assert found is not None
            self.answers[-1] = self.answers[-1].removesuffix(in_words(step)) + in_words(step, found)
            raise Violation(blamed, requirements()[blamed].sentence, found.words)
        raise Violation(blamed, expected(step), actual(step))

    def _note_answer(self, step: Step) -> None:
        if isinstance(step, RaceStep | LeaseRaceStep):
            self.answers[-1] = "\n".join(filter(None, (self.answers[-1], in_words(step))))
        elif isinstance(step, LoadStep | HurtLoadStep) and self.answers[-1]:
            self.answers[-1] += f"; {_word(step.answer)}"
        elif isinstance(step, FileStep):
            self.answers[-1] = "as it must be" if step.found == step.due else "not as it must be"
        elif isinstance(step, LoadSnapshotStep) and isinstance(step.answer, Snapshot):
            self.answers[-1] = self._whose(step.answer)
        elif not isinstance(step, DescriptionStep):
            self.answers[-1] = _word(step.answer)

    def _whose(self, snapshot: Snapshot) -> str:
        """Return which of the snapshots that were saved has come, known by its body."""
        if snapshot.body not in self._site.snapshots:
            return f"a snapshot at {snapshot.sequence} that nobody saved"
        identities, saved = self._site.snapshots[snapshot.body]
        at = f"{saved.sequence}" + ("" if snapshot.sequence == saved.sequence else f", as if at {snapshot.sequence}")
        earlier = "" if identities is self._ids else " before, on other runs"
        return f"the snapshot of run {saved.run} at {at}{earlier}"


_METHODS: dict[type, str] = {
    SaveSnapshot: "save_snapshot",
    LoadSnapshot: "load_snapshot",
    Acquire: "acquire",
    Renew: "renew",
    Release: "release",
}


def _word(answer: Answer) -> str:
    match answer:
        case Page(records=records, end=end):
            return f"{len(records)} record{'' if len(records) == 1 else 's'}{', the end' if end else ''}"
        case NotSupported():
            return "not supported"
        case Granted(epoch=epoch):
            return f"epoch {epoch}"
        case _:
            return str(answer.__struct_config__.tag or type(answer).__name__.lower())


def _acknowledged(params: JsonObject) -> Acknowledged:
    return acknowledge(msgspec.convert(params["records"], tuple[Envelope, ...]))
