"""Layer 4: several clients append to one Python journal, switched at each call, and the power goes while they do.

A schedule is run to its end once. A crash after so many calls is what the trace of those leaves, so one schedule is
crashed at many places. Schedules are drawn; what finds a fault is made smaller: fewer appends, fewer switches, less
lost, an earlier crash.

Source: `docs/spec/crash.md`, "Several clients"; "Layers, by value" of the crash design.
"""

from __future__ import annotations

import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Final

import msgspec

from perdure.journal.contract import (
    FLOOR,
    Acknowledged,
    Capabilities,
    Description,
    DurabilityLevel,
    Envelope,
    SequenceConflict,
    Unavailable,
)
from perdure.kernel.identity import RunId
from perdure.kernel.values import JsonObject
from perdure_conformance.crash import power
from perdure_conformance.crash.baton import Baton, Choose, Client, Ended, Switch
from perdure_conformance.crash.blame import blame
from perdure_conformance.crash.deviations import cut_of, deviations
from perdure_conformance.crash.disk import Cut, Disk, Fate, Torn
from perdure_conformance.crash.findings import Found
from perdure_conformance.crash.judge import LEVELS, Exchange, Expectation, Rule, RunExpectation
from perdure_conformance.crash.recovery import Direct, Recoverer, recoverer, scratch
from perdure_conformance.crash.replay import Power, Replay, ReplayError, Schedule, Workload
from perdure_conformance.crash.shim import Watch, installed, watching
from perdure_conformance.crash.states import smaller
from perdure_conformance.crash.trace import Answer, Trace
from perdure_conformance.crash.workload import operations
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import PythonTarget
from perdure_conformance.journal.client import Answer as Reply
from perdure_conformance.journal.client import JournalClient
from perdure_conformance.journal.operations import Append, Identities
from perdure_conformance.shrinking import chunks, smallest
from perdure_conformance.suite import Progress, say_nothing

REQUIREMENTS: Final[Mapping[Rule, str]] = {
    "lost": "CRS-061",
    "mixed": "CRS-062",
    "refused": "CRS-063",
    "unsteady": "CRS-063",
}
"""The requirements on several clients, by rule."""

SCHEDULES: Final = 400
"""How many schedules are drawn."""

_SCHEDULES_OF_FEWER: Final = 60
"""How many schedules of fewer appends are drawn for what was found with more."""
_CRASHES: Final = 6
"""At how many places each schedule is crashed."""
_FEW: Final = 5
_MOST_CLIENTS: Final = 3
_CHANCES: Final = (0.1, 0.3, 0.6)
_RETRIES: Final = 8
_CRASH: Final = re.compile(r"crash(?P<calls>0|[1-9][0-9]{0,8})(?:/(?P<level>[a-z-]+):(?P<deviations>\S*))?", re.ASCII)


@dataclass(slots=True)
class _Request:
    """One append, by one client."""

    records: tuple[Envelope, ...]
    params: JsonObject
    client: int
    began: int
    """How many calls had been made."""
    answer: Reply | None = None
    answered: int | None = None
    """The number of its answer; None if none came."""


@dataclass(frozen=True, slots=True)
class Scheduled(power.Recorded):
    """What several clients did to one state directory."""

    requests: Sequence[_Request] = ()
    run_ids: Sequence[RunId] = ()
    choices: tuple[int, ...] = ()
    switches: Sequence[Switch] = ()
    unopened: str | None = None
    """Why a handle could not be opened while others were at work, if so."""

    def before(self, answered: int) -> Sequence[Exchange]:
        """Return what was asked, in the order in which it was answered; what was not, at the end."""
        known = [_as_exchange(each, answered) for each in self._begun(answered)]
        return sorted(known, key=lambda each: each.answer is None)

    def after(self, answered: int) -> Expectation:
        """Return what may be there once so many answers were given (CRS-061, CRS-062)."""
        return expected(self.before(answered), self.claims, self.run_ids)

    def _begun(self, answered: int) -> Sequence[_Request]:
        """Return what may have been asked before the next answer was given."""
        following = (
            index
            for index, call in enumerate(self.trace.calls)
            if isinstance(call.operation, Answer) and call.operation.number == answered + 1
        )
        until = next(following, len(self.trace.calls))
        return [each for each in self.requests if each.began <= until]


def run_ids(workload: Workload) -> Sequence[RunId]:
    """Return the runs to which a workload appends."""
    identities = Identities(workload.seed, 0)
    return [identities.run_id(number) for number in dict.fromkeys(each.run for each in operations(workload))]


def expected(exchanges: Sequence[Exchange], claims: Capabilities, runs: Sequence[RunId]) -> Expectation:
    """Return what may be there of runs to which several clients have appended; what has no answer is under way."""
    by_run: dict[RunId, list[Exchange]] = {run_id: [] for run_id in runs}
    for each in exchanges:
        by_run[RunId(str(each.params["run_id"]))].append(each)
    found = {run_id: _of_run(of_it, is_atomic=claims.atomic_batch) for run_id, of_it in by_run.items()}
    return Expectation(found, claims)


def _of_run(exchanges: Sequence[Exchange], *, is_atomic: bool) -> RunExpectation:
    due: dict[tuple[Envelope, ...], None] = {}
    possible: list[tuple[Envelope, ...]] = []
    for each in exchanges:
        records = msgspec.convert(each.params["records"], tuple[Envelope, ...])
        if isinstance(each.answer, Acknowledged):
            due[records] = None
        elif each.answer is None or isinstance(each.answer, Unavailable):
            possible.append(records)
    allowed = tuple(dict.fromkeys(_histories(list(due), possible, is_atomic=is_atomic)))
    acknowledged = tuple(sorted((each for records in due for each in records), key=lambda record: record.sequence))
    # Where what was acknowledged contradicts itself, nothing can be right.
    return RunExpectation(allowed or (acknowledged,), acknowledged)


def _as_exchange(request: _Request, answered: int) -> Exchange:
    """Return a request as it stood when so many answers had been given."""
    is_answered = request.answered is not None and request.answered <= answered
    return Exchange("append", request.params, request.answer if is_answered else None)


def _histories(
    due: Sequence[tuple[Envelope, ...]], possible: Sequence[tuple[Envelope, ...]], *, is_atomic: bool
) -> Iterator[tuple[Envelope, ...]]:
    """Yield each way in which all that is due, and any of what is possible, follow one another without a gap."""
    parts = [
        records[:length] for records in possible for length in range(len(records) if is_atomic else 1, len(records) + 1)
    ]

    def led_on(history: tuple[Envelope, ...], missing: int) -> Iterator[tuple[Envelope, ...]]:
        if not missing:
            yield history
        following = len(history) + 1
        for records in due:
            if records[0].sequence == following:
                yield from led_on(history + records, missing - 1)
        for records in parts:
            if records[0].sequence == following:
                yield from led_on(history + records, missing)

    return led_on((), len(due))


class CannotBeScheduled(Exception):
    """Why a journal's clients cannot be scheduled, in one sentence."""


@dataclass(slots=True)
class _Trial:
    """One run of all clients."""

    target: PythonTarget
    workload: Workload
    folder: Path
    watch: Watch
    requests: list[_Request] = field(default_factory=list)
    description: Description | None = None
    answers: int = 0
    fault: BaseException | None = None
    unopened: str | None = None
    """Why a handle could not be opened while others were at work, if so."""

    def live(self, client: Client) -> None:
        """Open the journal, append, read and close it, as one client."""
        try:
            self._live(client)
        except Ended:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it raises is told
            if isinstance(error.__cause__, Ended):  # It was ended in the midst of a call.
                raise error.__cause__ from None
            self.fault = self.fault or error
            self.description = self.description or _NOBODY

    def _live(self, client: Client) -> None:
        if client.number:
            client.wait("the first client", lambda: self.description is not None)
        direct = Direct(self.target.dispatcher(self.target.factory))
        journal = JournalClient(direct)
        try:
            description = journal.initialize(self.folder)
        except AdapterFault as fault:
            if not client.number or fault.kind != "cannot_start":
                raise
            self.unopened = f"{fault}"
            return
        if not client.number:
            self.description = description
            self._answered(client)
        following: dict[int, int] = {}
        identities = Identities(self.workload.seed, 0)
        for append in self._share(client.number):
            self._append(client, journal, append, following, identities)
            journal.ask("load", {"run_id": identities.run_id(append.run), "from_sequence": 1, "limit": 1_000})
        direct.call("shutdown", {})

    def _share(self, number: int) -> Sequence[Append]:
        appends = [each for each in operations(self.workload) if isinstance(each, Append)]
        return appends[number :: clients_of(self.workload)]

    def _append(
        self, client: Client, journal: JournalClient, append: Append, following: dict[int, int], identities: Identities
    ) -> None:
        for _ in range(_RETRIES):
            first = following.get(append.run, 1)
            records = identities.envelopes(Append(append.run, first, append.records))
            params: JsonObject = {
                "run_id": identities.run_id(append.run),
                "expected_next": first,
                "epoch": None,
                "records": [
                    {"sequence": each.sequence, "event_id": each.event_id, "body": each.body} for each in records
                ],
            }
            request = _Request(records, params, client.number, len(self.watch.calls))
            self.requests.append(request)
            request.answer = journal.ask("append", params)
            request.answered = self._answered(client)
            if isinstance(request.answer, Acknowledged):
                following[append.run] = first + len(records)
                return
            if not isinstance(request.answer, SequenceConflict) or request.answer.actual_next == first:
                return
            following[append.run] = request.answer.actual_next

    def _answered(self, client: Client) -> int:
        self.answers += 1
        self.watch.note(f"answer {self.answers}", Answer(self.answers), client)
        return self.answers


_NOBODY: Final = Description(name="", version="", capabilities=Capabilities(), limits=FLOOR)


def clients_of(workload: Workload) -> int:
    """Return how many clients share the appends of a workload."""
    return min(workload.appends, _MOST_CLIENTS)


def run(target: PythonTarget, workload: Workload, folder: Path, choose: Choose, timeout_s: float) -> Scheduled:
    """Run all clients once. Raises `CannotBeScheduled`, `AdapterFault`."""
    folder.mkdir()
    baton = Baton(clients_of(workload), choose)
    try:
        with watching(baton, folder) as watch:
            trial = _Trial(target, workload, folder, watch)
            baton.run(trial.live, timeout_s)
            trace = Trace([], list(watch.calls))
            found = _held(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if isinstance(trial.fault, AdapterFault):
        raise trial.fault
    if trial.fault is not None:
        raise AdapterFault("error", f"A client failed: {trial.fault!r}.")
    if baton.stuck is not None:
        raise CannotBeScheduled(f"The clients could not be led to their ends: {baton.stuck}.")
    disk = Disk(trace)
    if disk.blind:
        raise CannotBeScheduled(f"Not all is seen of what it does to its files: {disk.blind[0]}.")
    if found != disk.image(Cut(len(trace.calls))).files:
        raise CannotBeScheduled("Its files are changed by other ways than os and open, such as an extension in C.")
    assert trial.description is not None
    return Scheduled(
        trace,
        (),
        trial.description.capabilities,
        requests=trial.requests,
        run_ids=run_ids(workload),
        choices=_without_end(baton.choices),
        switches=baton.switches,
        unopened=trial.unopened,
    )


def _held(folder: Path) -> Mapping[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _without_end(choices: Sequence[int]) -> tuple[int, ...]:
    """Leave out what is chosen anyway when nothing says what."""
    kept = list(choices)
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def played(choices: Sequence[int]) -> Choose:
    """Choose what was chosen before; behind that, go on with whoever runs."""
    left = iter(choices)
    return lambda could: next(left, 0) % could


def drawn(random: Random) -> Choose:
    """Choose anything, and mostly whoever runs."""
    chance = random.choice(_CHANCES)
    return lambda could: random.randrange(1, could) if random.random() < chance else 0


@dataclass(slots=True)
class Judged:
    """All that was learnt about one journal."""

    description: Description
    level: DurabilityLevel | None = None
    found: dict[str, Found] = field(default_factory=dict)
    """The first finding of each requirement."""
    counts: Counter[str] = field(default_factory=Counter)
    open: str | None = None
    """Why nothing can be said, in a sentence."""
    seconds: float = 0.0


def is_claimed(claims: Capabilities, level: DurabilityLevel | None) -> bool:
    """Tell whether several clients are judged under these claims, and at this level instead of the claimed one."""
    return claims.multi_handle and (level or claims.durable) is not None


@dataclass(slots=True)
class Stage:
    """A journal whose clients are run again and again."""

    target: PythonTarget
    opened: Recoverer
    folder: Path
    timeout_s: float
    _runs: int = 0

    def run(self, workload: Workload, choose: Choose) -> Scheduled:
        """Run all clients once. Raises `CannotBeScheduled`, `AdapterFault`."""
        self._runs += 1
        return run(self.target, workload, self.folder / f"run-{self._runs}", choose, self.timeout_s)

    def bench(self, scheduled: Scheduled) -> power.Bench:
        """Return where crashes of one schedule are judged."""
        return power.Bench(scheduled, self.opened, self.folder)


def judge(
    target: PythonTarget,
    workload: Workload,
    *,
    level: DurabilityLevel | None = None,
    schedules: int = SCHEDULES,
    timeout_s: float = 10.0,
    progress: Progress = say_nothing,
) -> Judged:
    """Draw schedules, crash each, and judge what comes back. Raises `AdapterFault`, `Silence`."""
    with scratch() as folder, recoverer(target, timeout_s) as opened:
        judged = Judged(opened.description, level or opened.claims.durable)
        if not is_claimed(opened.claims, level):
            return judged
        began = time.monotonic()
        with installed():
            try:
                _search(Stage(target, opened, folder, timeout_s), workload, judged, schedules, progress)
            except CannotBeScheduled as reason:
                judged.open = f"{reason}"
        judged.seconds = time.monotonic() - began
        return judged


def _search(stage: Stage, workload: Workload, judged: Judged, schedules: int, progress: Progress) -> None:
    assert judged.level is not None
    wrong = 0
    for number in range(schedules):
        random = Random(f"{workload}/{number}")  # noqa: S311 - a draw must be the same again
        asked = replace(workload, appends=random.randint(min(2, workload.appends), workload.appends))
        scheduled = stage.run(asked, drawn(random))
        judged.counts["schedules"] += 1
        judged.counts["switches"] += len(scheduled.switches)
        progress("schedule", judged.counts["schedules"], schedules)
        if scheduled.unopened is not None:
            judged.open = f"A handle did not open while others were at work: {scheduled.unopened}"
        bench = stage.bench(scheduled)
        for cut in _cuts(bench.disk, judged.level, random):
            known = bench.judge_new(cut)
            if known is None:
                continue
            judged.counts["crashes"] += 1
            problem = known[1]
            if problem is None:
                continue
            wrong += 1
            requirement = REQUIREMENTS[problem.rule]
            if requirement not in judged.found:
                progress(f"schedule, {requirement} is made smaller", 0, 1)
                case = _Case(asked, scheduled.choices, cut, scheduled, stage.bench(scheduled))
                fewer = _with_fewer_appends(stage, case, problem.rule, judged.level)
                judged.found[requirement] = _smallest(stage, fewer or case, problem.rule, judged.level)
        if wrong >= _FEW:
            return


def _cuts(disk: Disk, level: DurabilityLevel, random: Random) -> Iterator[Cut]:
    """Yield the end, the crash behind each answer that loses all that it may, and some others that a level allows."""
    yield Cut(len(disk.operations))
    answers = [index + 1 for index, each in enumerate(disk.operations) if isinstance(each, Answer)]
    if level != "process-crash":
        yield from (cut for cut in (_worst(disk, calls, level) for calls in answers) if cut.fates)
    levels = LEVELS[: LEVELS.index(level) + 1]
    for _ in range(_CRASHES):
        calls = random.choice(answers) if random.random() < 0.5 else random.randint(0, len(disk.operations))
        yield _cut(disk, calls, random.choice(levels), random)


def _cut(disk: Disk, calls: int, level: DurabilityLevel, random: Random) -> Cut:
    """Return one crash that a level allows."""
    pending = disk.pending(calls)
    if level == "process-crash":
        pages = disk.pages(calls - 1) if calls else ()
        return Cut(calls, (Fate(calls - 1, random.choice(pages)),)) if pages and random.random() < 0.5 else Cut(calls)
    if level == "posix-weak":
        chance = random.choice((0.3, 0.7, 1.0))
        return Cut(calls, tuple(_fate(disk, index, random) for index in pending if random.random() < chance))
    tail = [index for index in pending if index >= disk.after_last_sync(calls)]
    lost = tail[random.randrange(len(tail)) :] if tail else []
    if lost and level == "sector":
        return Cut(calls, (_fate(disk, lost[0], random), *map(Fate, lost[1:])))
    return Cut(calls, tuple(map(Fate, lost)))


def _fate(disk: Disk, index: int, random: Random) -> Fate:
    """Return a call that is lost, or a write that is torn."""
    sectors = disk.sectors(index)
    if sectors == 0 or random.random() < 0.6:
        return Fate(index)
    kept = tuple(sector for sector in range(sectors) if random.random() < 0.5)
    return Fate(index, Torn(kept if len(kept) < sectors else kept[:-1], is_long=random.random() < 0.5))


@dataclass(frozen=True, slots=True)
class _Case:
    """What fails: how it was asked and scheduled, and how it was crashed."""

    workload: Workload
    choices: tuple[int, ...]
    cut: Cut = field(compare=False)
    scheduled: Scheduled = field(compare=False)
    bench: power.Bench = field(compare=False)

    @property
    def size(self) -> int:
        """Return how much there is in it."""
        return len(self.choices)


def _with_fewer_appends(stage: Stage, case: _Case, rule: Rule, level: DurabilityLevel) -> _Case | None:
    """Return what breaks the same rule with the fewest appends of at least two clients; None if no schedule does."""
    for appends in range(2, case.workload.appends):
        workload = replace(case.workload, appends=appends)
        for number in range(_SCHEDULES_OF_FEWER):
            random = Random(f"{workload}/{number}")  # noqa: S311 - a draw must be the same again
            with suppress(CannotBeScheduled, AdapterFault):
                scheduled = stage.run(workload, drawn(random))
                bench = stage.bench(scheduled)
                for cut in _cuts(bench.disk, level, random):
                    if _breaks(bench, cut, rule):
                        return _Case(workload, scheduled.choices, cut, scheduled, bench)
    return None


def _smallest(stage: Stage, case: _Case, rule: Rule, level: DurabilityLevel) -> Found:
    """Make a finding smaller: fewer switches, each time with whichever crash still shows it, then less of a crash."""
    tried: set[tuple[int, ...]] = {case.choices}

    def candidates(case: _Case) -> Iterator[_Case]:
        for choices in _fewer_choices(case.choices):
            if choices in tried:
                continue
            tried.add(choices)
            found = _still(stage, case.workload, choices, case.cut, rule, level)
            if found is not None:
                yield found

    case = smallest(case, lambda _: True, candidates)
    at = _level_of(case.bench.disk, case.cut)
    cut = smaller(case.cut, case.bench.disk, at, lambda each: _breaks(case.bench, each, rule))
    return finding(case.workload, case.scheduled, case.bench, cut)


def _fewer_choices(choices: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield choices that switch less often: none in a half, a quarter, one place; then fewer at all."""
    for part in chunks(len(choices)):
        if any(choices[part]):
            yield _without_end((*choices[: part.start], *(0 for _ in choices[part]), *choices[part.stop :]))
    for place, choice in enumerate(choices):
        if choice > 1:
            yield (*choices[:place], 1, *choices[place + 1 :])
    for place, choice in enumerate(choices):
        if not choice:
            yield _without_end((*choices[:place], *choices[place + 1 :]))


def _still(
    stage: Stage, workload: Workload, choices: tuple[int, ...], cut: Cut, rule: Rule, level: DurabilityLevel
) -> _Case | None:
    """Return the same with other choices, if some crash breaks the rule then."""
    with suppress(CannotBeScheduled, AdapterFault):
        scheduled = stage.run(workload, played(choices))
        bench = stage.bench(scheduled)
        random = Random(f"{workload}/{choices}")  # noqa: S311 - a draw must be the same again
        for each in _similar(bench.disk, cut, level, random):
            if _breaks(bench, each, rule):
                return _Case(workload, scheduled.choices, each, scheduled, bench)
    return None


def _similar(disk: Disk, cut: Cut, level: DurabilityLevel, random: Random) -> Iterator[Cut]:
    """Yield crashes that may show the same: after the same calls with all lost that can be; then drawn ones."""
    yield Cut(len(disk.operations))
    for calls in range(len(disk.operations) + 1):
        if not cut.fates:
            yield Cut(calls)
        elif not calls or isinstance(disk.operations[calls - 1], Answer):
            yield _worst(disk, calls, level)
    for _ in range(4):
        yield from _cuts(disk, level, random)


def _worst(disk: Disk, calls: int, level: DurabilityLevel) -> Cut:
    """Return the crash that loses all that a power cut may: what is pending, or what came behind the last sync."""
    surely = 0 if level == "posix-weak" else disk.after_last_sync(calls)
    return Cut(calls, tuple(Fate(index) for index in disk.pending(calls) if index >= surely))


def _breaks(bench: power.Bench, cut: Cut, rule: Rule) -> bool:
    _, problem = bench.judge(cut)
    return problem is not None and problem.rule == rule


def _level_of(disk: Disk, cut: Cut) -> DurabilityLevel:
    """Return the lowest level that allows a crash."""
    return next(level for level in LEVELS if disk.allows(cut, level))


def finding(workload: Workload, scheduled: Scheduled, bench: power.Bench, cut: Cut) -> Found:
    """Return what is wrong after a crash of a schedule. Raises `ValueError` if nothing is."""
    recovered, problem = bench.judge(cut)
    if problem is None:
        raise ValueError("What comes back after this crash is right.")
    level = _level_of(bench.disk, cut)
    happening = f"crash{cut.calls}/{level}:{deviations(cut, scheduled.trace)}"
    answered = bench.disk.answered(cut.calls)
    return Found(
        requirement=REQUIREMENTS[problem.rule],
        layer="schedule",
        level=level,
        rule=problem.rule,
        blame=_blame(scheduled, bench.disk, cut, problem.rule),
        sentence=problem.sentence,
        replay=f"{Replay(workload, (Schedule(scheduled.choices, happening),))}",
        image=bench.disk.image(cut),
        exchanges=tuple(scheduled.before(answered)),
        recovered=recovered,
    )


def _blame(scheduled: Scheduled, disk: Disk, cut: Cut, rule: Rule) -> str:
    """Return which call is to blame, and where clients were switched on purpose."""
    chosen = [f"client {each.stopped + 1} stops before {each.before}" for each in scheduled.switches if each.is_chosen]
    how = f"; {', then '.join(chosen)}" if chosen else ""
    if cut.fates:
        return f"{blame(disk, cut, rule)}{how}"
    last = scheduled.trace.calls[cut.calls - 1].text if cut.calls else "the start"
    return f"all that was written is on the disk, up to {last}{how}"


def play(target: PythonTarget, replay: Replay, timeout_s: float) -> Found | None:
    """Play one line again; return what is wrong, None if nothing is.

    Raises `ReplayError` if the journal does otherwise than it did, `CannotBeScheduled`, `AdapterFault`, `Silence`.
    """
    schedule = replay.faults[0]
    if not isinstance(schedule, Schedule) or replay.faults[1:]:
        raise ReplayError("A schedule stands alone: nothing else may happen before it.")
    words = _CRASH.fullmatch(schedule.happening)
    if words is None:
        raise ReplayError(f"{schedule.happening!a} is no crash of a schedule: write crash10, or crash10/ordered:-6.")
    level = next((each for each in LEVELS if each == (words["level"] or "process-crash")), None)
    if level is None:
        raise ReplayError(f"{words['level']!a} is no level: write one of {', '.join(LEVELS)}.")
    with scratch() as folder, recoverer(target, timeout_s) as opened, installed():
        stage = Stage(target, opened, folder, timeout_s)
        scheduled = stage.run(replay.workload, played(schedule.choices))
        bench = stage.bench(scheduled)
        cut = cut_of(Power(level, int(words["calls"]), words["deviations"] or ""), bench.disk)
        if bench.judge(cut)[1] is None:
            return None
        return replace(finding(replay.workload, scheduled, bench, cut), stderr=opened.last_words().stderr)
