"""What a journal must show after a crash, whatever made it crash: one rule for kills, errors and power cuts.

What may be there follows from what was asked and what of it was answered. A recovery is opened, read, led on by one
append a run, and opened again; `broken` says which rule that breaks, if any.

Source: `docs/spec/crash.md`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, Literal, Protocol

import msgspec

from perdure.journal.contract import (
    Acknowledged,
    Capabilities,
    Done,
    DurabilityLevel,
    Envelope,
    EventIdConflict,
    Granted,
    Held,
    NoSnapshot,
    NotStored,
    Page,
    Renewed,
    SequenceConflict,
    Snapshot,
    StaleEpoch,
    Unavailable,
)
from perdure.journal.records import seal
from perdure.kernel.identity import EventId, RunId
from perdure.kernel.values import JsonObject
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.schemas import Repeated
from perdure_conformance.journal.client import Answer, NotSupported

PAGES: Final = ("crash.md",)
"""The pages of `docs/spec` whose requirements are judged here."""

LEVELS: Final[tuple[DurabilityLevel, ...]] = ("process-crash", "ordered", "sector", "posix-weak")
"""The weakest first."""

Rule = Literal["lost", "mixed", "refused", "unsteady"]
"""How a recovery can be wrong: what was acknowledged is not there; something else is; it refuses; it does not last."""

RULES: Final[tuple[Rule, ...]] = ("lost", "mixed", "refused", "unsteady")

REQUIREMENTS: Final[Mapping[tuple[DurabilityLevel, Rule], str]] = {
    (level, rule): f"CRS-0{tens}{ones}"
    for tens, level in enumerate(LEVELS)
    for ones, rule in enumerate(RULES, 1)
    if level != "ordered" or rule == "lost"
}
"""The requirements of `docs/spec/crash.md`, by level and rule."""


AFTER_AN_ERROR: Final = "CRS-041"
"""The requirement that is broken, whatever the rule, where a call failed or wrote less."""

AFTER_A_FAILED_SYNC: Final = "CRS-042"
"""The requirement that is broken where something is acknowledged that only a sync would cover which failed."""


def requirement_of(level: DurabilityLevel, rule: Rule) -> str:
    """Return the requirement that a wrong recovery breaks: in order, a disk holds what a kill leaves too."""
    return REQUIREMENTS.get((level, rule), REQUIREMENTS["process-crash", rule])


TRIES: Final = 8
"""How often an operation is sent that is `not_stored` or `unavailable`."""

_PAGE: Final = 1_000
_LATER_MS: Final = 2**52
"""An instant at which no lease of a workload is held any more."""
_OWNER: Final = "5f0c4a9e-0000-4000-8000-00000000c0de"
_EVENTS: Final = uuid.UUID("5f0c4a9e-0000-4000-8000-00000000e4e7")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of a workload, and its answer; None if none came before the crash."""

    method: str
    params: JsonObject
    answer: Answer | None


class Journal(Protocol):
    """One open journal. `JournalClient` is one."""

    def ask(self, method: str, params: JsonObject) -> Answer:
        """Send one request. Raises `AdapterFault`, `Silence`."""
        ...


Open = Callable[[], Journal]
"""Opens what a crash has left; called again, closes in good order what it opened and opens the same once more.

Raises `AdapterFault` or `Silence` if the journal does not open.
"""


@dataclass(frozen=True, slots=True)
class RunExpectation:
    """What may be there of one run."""

    allowed: tuple[tuple[Envelope, ...], ...] = ((),)
    """Every history that the run may show, whole."""
    acknowledged: tuple[Envelope, ...] = ()
    """What was acknowledged behind records that were not, as another client's may be; none where `due` says it all."""
    snapshots: tuple[Snapshot, ...] = ()
    """Every snapshot that may be served; none may be, too."""
    epoch: int = 0
    """The highest that is known to be granted."""
    requests_for_leases: int = 0
    held_until_ms: int | None = None
    """Until when its lease is surely held; None if that is not sure."""

    @property
    def due(self) -> tuple[Envelope, ...]:
        """What every history begins with: all that was acknowledged."""
        shortest = min(self.allowed, key=len)
        return next(
            shortest[:length]
            for length in range(len(shortest), -1, -1)
            if all(each[:length] == shortest[:length] for each in self.allowed)
        )


@dataclass(frozen=True, slots=True)
class Expectation:
    """What may be there of all that a workload asked for."""

    runs: Mapping[RunId, RunExpectation]
    claims: Capabilities

    def questions(self) -> object:
        """Return what is equal where a recovery is asked the same."""
        return tuple(
            (run_id, bool(run.snapshots), run.epoch, run.requests_for_leases, run.held_until_ms)
            for run_id, run in self.runs.items()
        )


def expected(asked: Sequence[Exchange], claims: Capabilities) -> Expectation:
    """Return what may be there after a crash behind the last answer."""
    runs: dict[RunId, RunExpectation] = {}
    for each in asked:
        if each.method in _CHANGES and _is_claimed(each.method, claims):
            run_id = RunId(str(each.params["run_id"]))
            runs[run_id] = _CHANGES[each.method](runs.get(run_id, RunExpectation()), each, claims)
    return Expectation(runs, claims)


def _after_append(run: RunExpectation, asked: Exchange, claims: Capabilities) -> RunExpectation:
    records = _records_of(asked.params["records"])
    if not records:
        return run
    before = [each for each in run.allowed if len(each) + 1 == records[0].sequence]
    there_already = [each for each in run.allowed if each[records[0].sequence - 1 :][: len(records)] == records]
    match asked.answer:
        case Acknowledged():
            possible = [*there_already, *(each + records for each in before)]
        case None | Unavailable():
            least = 1 if not claims.atomic_batch else len(records)
            possible = [
                *run.allowed,
                *(each + records[:length] for each in before for length in range(least, len(records) + 1)),
            ]
        case SequenceConflict(actual_next=following):
            possible = [each for each in run.allowed if len(each) + 1 == following]
        case _:
            possible = list(run.allowed)
    return replace(run, allowed=tuple(dict.fromkeys(possible)) or run.allowed)


def _after_save(run: RunExpectation, asked: Exchange, claims: Capabilities) -> RunExpectation:
    del claims
    snapshot = msgspec.convert({"sequence": asked.params["sequence"], "body": asked.params["body"]}, Snapshot)
    is_saved = asked.answer is None or isinstance(asked.answer, Done | Unavailable)
    return replace(run, snapshots=(*run.snapshots, snapshot)) if is_saved else run


def _after_lease(run: RunExpectation, asked: Exchange, claims: Capabilities) -> RunExpectation:
    until_ms = None
    if isinstance(asked.answer, Granted | Renewed) and claims.lease_clock == "caller":
        until_ms = asked.answer.until_ms
    elif isinstance(asked.answer, Held | StaleEpoch | NotStored):
        until_ms = run.held_until_ms
    epoch = max(run.epoch, asked.answer.epoch) if isinstance(asked.answer, Granted) else run.epoch
    requests = run.requests_for_leases + (asked.method == "acquire")
    return replace(run, epoch=epoch, held_until_ms=until_ms, requests_for_leases=requests)


_CHANGES: Final[Mapping[str, Callable[[RunExpectation, Exchange, Capabilities], RunExpectation]]] = {
    "append": _after_append,
    "save_snapshot": _after_save,
    "acquire": _after_lease,
    "renew": _after_lease,
    "release": _after_lease,
}


def _is_claimed(method: str, claims: Capabilities) -> bool:
    """Tell whether a request can have changed anything: what is not claimed is not offered."""
    return method == "append" or (claims.snapshots if method == "save_snapshot" else claims.leases)


def _records_of(records: object) -> tuple[Envelope, ...]:
    return msgspec.convert(records, tuple[Envelope, ...])


@dataclass(frozen=True, slots=True)
class Refused:
    """A request after a crash that was not answered as a sound journal answers it, in words."""

    sentence: str
    is_fault: bool = False
    """Whether it broke the protocol, ended or was silent, so that nothing more can be asked of it."""


@dataclass(frozen=True, slots=True)
class RunShown:
    """What one opening shows of a run."""

    records: tuple[Envelope, ...]
    snapshot: Snapshot | None


@dataclass(frozen=True, slots=True)
class Recovered:
    """What came back after a crash, as far as it was asked for: the first thing that is refused ends it."""

    first: Mapping[RunId, RunShown] = field(default_factory=dict)
    leases: Mapping[RunId, tuple[Answer | None, Answer]] = field(default_factory=dict)
    """The answers to a request while the lease is held, if it surely is, and to one later."""
    appended: Mapping[RunId, Envelope] = field(default_factory=dict)
    """The record that was appended to each run afterwards, and acknowledged."""
    second: Mapping[RunId, RunShown] = field(default_factory=dict)
    refused: Refused | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """One wrong recovery: which rule it breaks, and how, in one sentence."""

    rule: Rule
    sentence: str
    run_id: RunId | None = None


class _Stopped(Exception):
    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.sentence)
        self.refused = refused


@dataclass(slots=True)
class _Seen:
    """What is learnt on the way to a `Recovered`."""

    first: dict[RunId, RunShown] = field(default_factory=dict)
    leases: dict[RunId, tuple[Answer | None, Answer]] = field(default_factory=dict)
    appended: dict[RunId, Envelope] = field(default_factory=dict)
    second: dict[RunId, RunShown] = field(default_factory=dict)


def recover(opened: Open, expectation: Expectation) -> Recovered:
    """Open what a crash has left, read it, append to each run, open it again and read it again."""
    seen = _Seen()
    try:
        journal = _opened(opened)
        for run_id, run in expectation.runs.items():
            seen.first[run_id] = _read(journal, run_id, run)
        for run_id, run in expectation.runs.items():
            if run.requests_for_leases:
                seen.leases[run_id] = _leased(journal, run_id, run)
        for run_id, run in expectation.runs.items():
            seen.appended[run_id] = _led_on(journal, run_id, run, seen.first[run_id], expectation.claims)
        journal = _opened(opened)
        for run_id, run in expectation.runs.items():
            seen.second[run_id] = _read(journal, run_id, run)
    except _Stopped as stopped:
        return Recovered(seen.first, seen.leases, seen.appended, seen.second, stopped.refused)
    return Recovered(seen.first, seen.leases, seen.appended, seen.second)


def _opened(opened: Open) -> Journal:
    try:
        return opened()
    except (AdapterFault, Silence) as error:
        is_fault = not isinstance(error, AdapterFault) or error.kind != "cannot_start"
        raise _Stopped(Refused(f"the journal does not open: {error}", is_fault)) from error


def _ask(journal: Journal, method: str, params: JsonObject) -> Answer:
    """Send one request, up to eight times while it is `not_stored` or `unavailable`."""
    try:
        answer = journal.ask(method, params)
        for _ in range(TRIES - 1):
            if not isinstance(answer, NotStored | Unavailable):
                break
            answer = journal.ask(method, params)
    except (AdapterFault, Silence) as error:
        raise _Stopped(Refused(f"{method} is not answered: {error}", is_fault=True)) from error
    return answer


def _read(journal: Journal, run_id: RunId, run: RunExpectation) -> RunShown:
    records: list[Envelope] = []
    while True:
        answer = _ask(journal, "load", _load(run_id, len(records) + 1))
        if not isinstance(answer, Page) or not (answer.end or answer.records):
            raise _Stopped(
                Refused(f"run {run_id} is not shown: load from {len(records) + 1} is answered {_said(answer)}")
            )
        records += answer.records
        if answer.end or len(records) > _longest(run):
            return RunShown(tuple(records), _snapshot(journal, run_id) if run.snapshots else None)


@cache
def _load(run_id: RunId, from_sequence: int) -> JsonObject:
    return Repeated(run_id=run_id, from_sequence=from_sequence, limit=_PAGE)


@cache
def _load_snapshot(run_id: RunId) -> JsonObject:
    return Repeated(run_id=run_id)


def _longest(run: RunExpectation) -> int:
    return max(map(len, run.allowed)) + _PAGE


def _snapshot(journal: Journal, run_id: RunId) -> Snapshot | None:
    answer = _ask(journal, "load_snapshot", _load_snapshot(run_id))
    if not isinstance(answer, Snapshot | NoSnapshot):
        raise _Stopped(Refused(f"load_snapshot of run {run_id} is answered {_said(answer)}"))
    return answer if isinstance(answer, Snapshot) else None


def _leased(journal: Journal, run_id: RunId, run: RunExpectation) -> tuple[Answer | None, Answer]:
    params: JsonObject = {"run_id": run_id, "owner": _OWNER, "ttl_ms": 1}
    held = None
    if run.held_until_ms is not None:
        held = _ask(journal, "acquire", {**params, "now_ms": run.held_until_ms})
    return held, _ask(journal, "acquire", {**params, "now_ms": _LATER_MS})


def _led_on(journal: Journal, run_id: RunId, run: RunExpectation, shown: RunShown, claims: Capabilities) -> Envelope:
    following = len(shown.records) + 1
    record = _next_record(run_id, following)
    is_fenced = claims.fencing and run.requests_for_leases
    epoch = run.epoch + run.requests_for_leases + 3 if is_fenced else None  # Two may be granted while it is judged.
    answer = _ask(journal, "append", _append(run_id, record, epoch))
    if isinstance(answer, SequenceConflict | EventIdConflict):  # An earlier try may have stored it.
        shown_now = _read(journal, run_id, run).records
        if shown_now == (*shown.records, record):
            return record
    if not isinstance(answer, Acknowledged):
        raise _Stopped(Refused(f"an append to run {run_id} at {following}, its next, is answered {_said(answer)}"))
    return record


@cache
def _append(run_id: RunId, record: Envelope, epoch: int | None) -> JsonObject:
    return Repeated(run_id=run_id, expected_next=record.sequence, epoch=epoch, records=[msgspec.to_builtins(record)])


@cache
def _next_record(run_id: RunId, sequence: int) -> Envelope:
    event_id = EventId(str(uuid.uuid5(_EVENTS, f"{run_id}/{sequence}")))
    return seal(run_id, sequence, event_id, {"type": "NodeReady"}, batch_index=0, batch_size=1)


def _said(answer: Answer) -> str:
    """Return an answer in words."""
    if isinstance(answer, NotSupported):
        return "not_supported"
    name = answer.__struct_config__.tag or type(answer).__name__.lower()
    detail = getattr(answer, "detail", "")
    return f"{name}: {detail}" if detail else f"{name}"


def broken(expectation: Expectation, recovered: Recovered) -> Broken | None:
    """Return the first rule that a recovery breaks, the gravest first; None if it is right."""
    found = next(_all_broken(expectation, recovered), None)
    if found is None or found.run_id is None or len(expectation.runs) == 1:
        return found
    return replace(found, sentence=f"{found.sentence}, in run {found.run_id}")


def _all_broken(expectation: Expectation, recovered: Recovered) -> Iterator[Broken]:
    for run_id, shown in recovered.first.items():
        yield from _differs(run_id, expectation.runs[run_id], shown)
    for run_id, answers in recovered.leases.items():
        yield from _lease_differs(run_id, expectation, *answers)
    if recovered.refused is not None and not recovered.appended.keys() >= expectation.runs.keys():
        yield Broken("refused", recovered.refused.sentence)
    for run_id, shown in recovered.second.items():
        yield from _moved(run_id, recovered.first[run_id], recovered.appended[run_id], shown, expectation)
    if recovered.refused is not None:
        yield Broken("unsteady", f"opened once more, {recovered.refused.sentence}")


def _differs(run_id: RunId, run: RunExpectation, shown: RunShown) -> Iterator[Broken]:
    if shown.records not in run.allowed:
        due = run.due
        gone = next((each for each in run.acknowledged if each not in shown.records), None)
        missing = next((each for each, there in zip(due, shown.records, strict=False) if each != there), None)
        if gone is not None:
            yield Broken("lost", f"record {gone.sequence}, acknowledged, cannot be found any more", run_id)
        elif missing is not None:
            yield Broken("lost", f"record {missing.sequence}, which was acknowledged, is not what was appended", run_id)
        elif len(shown.records) < len(due):
            which = _numbers(len(shown.records) + 1, len(due))
            yield Broken("lost", f"{which}, acknowledged, cannot be found any more", run_id)
        else:
            yield Broken("mixed", _more_than_may_be(due, max(run.allowed, key=len), shown.records), run_id)
    if shown.snapshot is not None and shown.snapshot not in run.snapshots:
        yield Broken("mixed", f"it serves a snapshot at {shown.snapshot.sequence} that was never saved", run_id)


def _more_than_may_be(due: Sequence[Envelope], longest: Sequence[Envelope], shown: Sequence[Envelope]) -> str:
    """Say what is shown beside what was acknowledged, and may not be."""
    numbered = enumerate(zip(longest, shown, strict=False), 1)
    if (other := next((number for number, (each, there) in numbered if each != there), None)) is not None:
        return f"record {other} is not the one that was being appended: it differs from that"
    limit = "none" if len(longest) == len(due) else f"{_numbers(len(due) + 1, len(longest))} of one batch, whole,"
    return f"it shows {_numbers(len(due) + 1, len(shown))}, where nothing was acknowledged; {limit} may be there"


def _numbers(first: int, last: int) -> str:
    return f"record {first}" if first == last else f"records {first} to {last}"


def _lease_differs(run_id: RunId, expectation: Expectation, held: Answer | None, later: Answer) -> Iterator[Broken]:
    run = expectation.runs[run_id]
    if isinstance(held, Granted):
        yield Broken("lost", f"the lease under epoch {run.epoch}, acknowledged, is not held any more", run_id)
    for answer in (held, later):
        if isinstance(answer, Granted) and answer.epoch <= run.epoch:
            yield Broken("lost", f"epoch {run.epoch} was granted, and now {answer.epoch} is", run_id)
    is_due = expectation.claims.lease_clock == "caller"
    if not isinstance(later, Granted) and (is_due or not isinstance(later, Held)):
        yield Broken("refused", f"a lease that nobody holds is asked for, and the answer is {_said(later)}", run_id)


def _moved(
    run_id: RunId, first: RunShown, appended: Envelope, second: RunShown, expectation: Expectation
) -> Iterator[Broken]:
    due = (*first.records, appended)
    if second.records != due:
        same = sum(1 for each, there in zip(due, second.records, strict=False) if each == there)
        yield Broken(
            "unsteady",
            f"opened once more, it shows {len(second.records)} records, {same} of them as they were; it had shown "
            f"{len(first.records)}, and the one that was appended behind them was acknowledged",
            run_id,
        )
    if second.snapshot is not None and second.snapshot not in expectation.runs[run_id].snapshots:
        yield Broken("mixed", f"it serves a snapshot at {second.snapshot.sequence} that was never saved", run_id)
