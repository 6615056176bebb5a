"""Every moment between two calls that change files, and every way in which one of them can go wrong, tried.

First the program is recorded, undisturbed. Then, for each window, it starts on a fresh state directory, is asked the
same again, and is disturbed at one call: killed behind it, or the call fails, or writes less than it was told. What
that leaves is opened again and judged (`judge`). A recovery is disturbed in the same way: it is killed in its own
windows, and what it reads fails.

A program that is killed must keep what it acknowledged. One whose call failed may refuse with a type, or end; it must
not acknowledge what is not there, and must be sound once it has been started again.
"""

from __future__ import annotations

import hashlib
import itertools
import shutil
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

from perdure.journal.contract import Acknowledged, Capabilities, Done, Envelope, Granted, NotStored, Page, Unavailable
from perdure.kernel.identity import RunId
from perdure.kernel.values import JsonObject
from perdure_conformance.crash.disk import Image
from perdure_conformance.crash.judge import (
    TRIES,
    Broken,
    Exchange,
    Expectation,
    Recovered,
    RunShown,
    broken,
    expected,
)
from perdure_conformance.crash.recorder import READ
from perdure_conformance.crash.recording import (
    REBUILDABLE,
    Failed,
    Recording,
    divergence,
    read,
    traced,
    watcher,
    why_not_disturbed,
)
from perdure_conformance.crash.recording import Done as CallDone
from perdure_conformance.crash.recovery import Recoverer, lay_out
from perdure_conformance.crash.replay import Failure, Fault, Kill, Power, Replay, Short, Tear, Undisturbed, Workload
from perdure_conformance.crash.system import LONGEST_FILE_BYTES
from perdure_conformance.crash.trace import Answer, Blind, Operation, Write
from perdure_conformance.crash.workload import requests
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import CommandTarget, Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.journal.client import JournalClient, NotSupported

_PAGE: Final = 1_000
_PAGE_BYTES: Final = 4_096
_AHEAD: Final = 2
_TRIES_OF_A_LOAD: Final = 2
"""An answer that was refused once may come from what is left of the first try."""

_MAY_BE_FULL: Final = frozenset(
    {"write", "pwrite64", "writev", "pwritev", "pwritev2", "open", "openat", "openat2", "creat", "mkdir", "mkdirat"}
    | {"rename", "renameat", "renameat2", "link", "linkat", "ftruncate", "fallocate", "copy_file_range", "sendfile"}
)
"""Calls for which a disk may be full."""
_MAY_BE_INTERRUPTED: Final = frozenset(
    {"write", "pwrite64", "writev", "pwritev", "pwritev2", "open", "openat", "openat2", "creat", "ftruncate", "fsync"}
    | {"fdatasync"}
)
"""Calls that a signal may interrupt, on some file system or other."""
CANNOT_FAIL: Final = frozenset({"sync"})
"""Calls that tell of no error, and so are not made to fail."""


Part = tuple[int, int]
"""Which windows are tried: `(i, n)` is each n-th, from the one at i."""
Anything = TypeVar("Anything")


class CannotBeTried(Exception):
    """No window of this target can be tried, and why, in one sentence; it says nothing about the target's worth."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the program, traced."""

    asked: tuple[Exchange, ...]
    shown: Mapping[RunId, RunShown]
    """The runs that it showed whole."""
    recording: Recording
    ended: str | None
    """How it ended before it was asked to; None if it was not."""
    stderr: str = field(default="", repr=False)
    """The end of what it wrote to standard error."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """What a first start has left."""

    fault: Fault
    start: Start
    expectation: Expectation
    image: Image


@dataclass(frozen=True, slots=True)
class Judged:
    """One window, tried."""

    replay: Replay
    call: str
    """At which call it happened, in words."""
    asked: tuple[Exchange, ...]
    image: Image
    """What the last opening found; if an opening that was disturbed showed something wrong, what that one found."""
    recovered: Recovered | None
    """What came back; None if the very same had come of another window, and was right."""
    broken: Broken | None
    """How it is wrong, if it is."""
    diverged: str | None = None
    """Why this was not the window that was meant, in one sentence: it is neither passed nor failed."""
    starts: tuple[Start, ...] = field(default=(), repr=False)
    then: tuple[Fault, ...] = ()
    """What must happen to later starts on that image, for what is wrong to be seen."""
    stderr: str = field(default="", repr=False)
    """The end of what was written to standard error, if something is wrong."""

    @property
    def is_of_a_kill(self) -> bool:
        """Whether the program was killed and nothing else was done to it; otherwise a call failed or wrote less."""
        return all(isinstance(fault, Kill | Tear | Power | Undisturbed) for fault in self.replay.faults)

    @property
    def sentence(self) -> str:
        """Say what was done, and what is wrong with what came of it."""
        if self.broken is None:
            return self.diverged or f"{self.replay}: nothing is wrong."
        return f"{_happened(self.replay.faults, self.call)}: {self.broken.sentence.rstrip('.')}."


def _happened(faults: Sequence[Fault], call: str) -> str:
    where = "in the recovery, " if len(faults) > 1 else ""
    match faults[-1]:
        case Kill(moment=moment):
            return f"{where}killed just {'before' if moment == 'before' else 'behind'} {call}"
        case Failure(error=error):
            return f"{where}{call} failed with {error}"
        case Short(size_bytes=size):
            return f"{where}{call} wrote {size} {'byte' if size == 1 else 'bytes'} and no more"
        case Tear(size_bytes=size):
            return f"{where}killed within {call}, {size} bytes of it written"
        case _:
            return "undisturbed"


class Windows:
    """A target, and what is asked of it, in as many windows as there are."""

    def __init__(
        self,
        target: Target,
        workload: Workload,
        recoverer: Recoverer,
        folder: Path,
        timeout_s: float,
        *,
        rebuildable: Sequence[str] = REBUILDABLE,
    ) -> None:
        program = target.as_process()
        assert isinstance(program, CommandTarget)
        self._program = program
        self._rebuildable = rebuildable
        self._workload = workload
        self._requests = requests(workload)
        self._recoverer = recoverer
        self._folder = folder
        self._timeout_s = timeout_s
        self._numbers = itertools.count()
        self._right: set[bytes] = set()
        """What was judged and is right, by digest."""
        self._recorded: Crashed | None = None
        self._is_over = threading.Event()

    @property
    def claims(self) -> Capabilities:
        """What the target claims."""
        return self._recoverer.claims

    def recorded(self) -> Crashed:
        """Return the undisturbed run. Raises `CannotBeTried`, and `AdapterFault` or `Silence` of its own."""
        if self._recorded is None:
            reason = why_not_disturbed()
            if reason is None and self.claims.durable is None:
                reason = "It does not claim to survive that its process is killed."
            if reason is not None:
                raise CannotBeTried(reason)
            self._recorded = self._undisturbed()
        return self._recorded

    def _undisturbed(self) -> Crashed:
        found = self.begin(Undisturbed(), with_reads=True)
        if found.start.ended is not None:
            raise CannotBeTried(f"Undisturbed, it does not come to its end: {found.start.ended}")
        for number, asked in enumerate(found.start.asked, 1):
            if not isinstance(asked.answer, Acknowledged | Done | Granted | NotSupported):
                raise CannotBeTried(f"Undisturbed, request {number}, {asked.method}, is answered {asked.answer}.")
        return found

    def all(self, *, recoveries: int = 4, part: Part = (0, 1)) -> Generator[Judged]:
        """Try every window, or a part of them, of at most so many different recoveries too; yield what comes of each.

        Raises `CannotBeTried`, and `AdapterFault` or `Silence` if the target fails where nobody disturbs it.
        """
        recorded = self.recorded()
        yield self.go_on(recorded, ())
        ways: set[str] = set()
        yield from self._each_recovery(recorded, ways, part)
        for crashed in self.begun(_part(faults(recorded.start.recording), part)):
            judged = self.go_on(crashed, ())
            yield judged
            is_new = judged.recovered is not None and judged.broken is None
            if isinstance(crashed.fault, Kill | Tear) and is_new and len(ways) < recoveries:
                yield from self._each_recovery(crashed, ways, part)

    def begun(self, tried: Iterator[Fault]) -> Iterator[Crashed]:
        """Begin with each fault, in order, a few ahead of the judge: most of the time goes into starting programs."""
        pool = ThreadPoolExecutor(_AHEAD, "perdure-window")
        try:
            begun: deque[Future[Crashed]] = deque()
            for fault in tried:
                begun.append(pool.submit(self.begin, fault))
                if len(begun) > _AHEAD:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            self._is_over.set()
            pool.shutdown(cancel_futures=True)
            self._is_over.clear()

    def recoveries(self, crashed: Crashed, ways: set[str] | None = None, part: Part = (0, 1)) -> Generator[Judged]:
        """Disturb the next start at each of its calls, and at each of its reads, if it goes none of the known ways."""
        yield from self._each_recovery(crashed, set() if ways is None else ways, part)

    def play(self, replay: Replay) -> Judged:
        """Try one window, as a line says; it need not have been recorded."""
        assert replay.workload == self._workload
        first, *later = replay.faults
        return self.go_on(self.begin(first), later)

    def begin(self, fault: Fault, *, with_reads: bool = False) -> Crashed:
        """Start the program on an empty state directory, ask it everything, and disturb it once."""
        state = self._new_state()
        state.mkdir()
        start = self._start(state, fault, self._ask_all, with_reads=with_reads)
        image = image_of(state)
        shutil.rmtree(state, ignore_errors=True)
        return Crashed(fault, start, expected(start.asked, self.claims), image)

    def go_on(self, crashed: Crashed, later: Sequence[Fault]) -> Judged:
        """Start the program again on what it left, disturbed so often; then recover and judge."""
        state = self._new_state()
        lay_out(crashed.image, state)
        starts = [crashed.start]
        wrong: Broken | None = None
        then: tuple[Fault, ...] = ()
        for fault in later:
            starts.append(self._start(state, fault, lambda client, start: self._look(client, start, crashed)))
            wrong = wrong or broken(crashed.expectation, Recovered(first=starts[-1].shown))
        image = image_of(state) if later else crashed.image
        replay = Replay(self._workload, (crashed.fault, *later))
        key = _digest(image, crashed.expectation, starts[1:])
        recovered = None
        if wrong is not None:
            then = tuple(later)
            shutil.rmtree(state, ignore_errors=True)
        elif key not in self._right:
            recovered = self._recoverer.recovered(state, crashed.expectation)
            wrong = broken(crashed.expectation, recovered)
            if wrong is None and (wrong := _disagreement(starts[1:], recovered)) is not None:
                then = tuple(later)
            if wrong is None:
                self._right.add(key)
        else:
            shutil.rmtree(state, ignore_errors=True)
        diverged = self._divergence(starts, replay.faults)
        call = _call(starts[-1], replay.faults[-1])
        asked = crashed.start.asked
        image = crashed.image if then else image
        said = "" if wrong is None else "".join(start.stderr for start in starts)
        if wrong is not None and recovered is not None:
            said += self._recoverer.last_words().stderr
        return Judged(replay, call, asked, image, recovered, wrong, diverged, tuple(starts), then, said)

    def judge_again(self, image: Image, expectation: Expectation, then: Sequence[Fault]) -> Judged:
        """Start the program on a state, disturbed like this; return what comes of that, then and later.

        Raises `CannotBeTried` if the fault does not happen.
        """
        nothing = Start((), {}, Recording([]), None)
        judged = self.go_on(Crashed(Undisturbed(), nothing, expectation, image), then)
        if judged.diverged is not None:
            raise CannotBeTried(judged.diverged)
        return judged

    def _each_recovery(self, crashed: Crashed, ways: set[str], part: Part = (0, 1)) -> Iterator[Judged]:
        """Disturb the next start at each of its calls, if it goes a way that none has gone before."""
        looked = self.go_on(crashed, (Undisturbed(),))
        yield looked
        recording = looked.starts[-1].recording
        way = _way(recording)
        if way in ways:
            return
        ways.add(way)
        for number in _part(_numbers(recording), part):
            yield self.go_on(crashed, (Kill("after", number),))
        for done in _part(_that_may_fail(recording), part):
            yield self.go_on(crashed, (Failure(done.name, done.ordinal, "EIO"),))
        for ordinal in _part(range(1, self._reads(crashed) + 1), part):
            yield self.go_on(crashed, (Failure(READ, ordinal, "EIO"),))

    def _reads(self, crashed: Crashed) -> int:
        """Return how often the next start reads files of the state."""
        state = self._new_state()
        lay_out(crashed.image, state)
        start = self._start(
            state, Undisturbed(), lambda client, start: self._look(client, start, crashed), with_reads=True
        )
        shutil.rmtree(state, ignore_errors=True)
        return 0 if start.recording.end is None else start.recording.end.reads

    # One start

    def _new_state(self) -> Path:
        return self._folder / f"window-{next(self._numbers)}"

    def _start(
        self, state: Path, fault: Fault, ask: Callable[[JournalClient, _Seen], None], *, with_reads: bool = False
    ) -> Start:
        require_that_it_can_happen(fault)
        log = state.with_suffix(".log")
        command = traced(self._program.command, state, log, fault, with_reads=with_reads, rebuildable=self._rebuildable)
        connection = replace(self._program, command=command).open(self._timeout_s, Transcript())
        seen = _Seen()
        ended: AdapterFault | Silence | None = None
        try:
            client = JournalClient(connection)
            client.initialize(state)
            ask(client, seen)
            connection.close()
        except AdapterFault as error:  # It was killed with it.
            ended = error
        except Silence as error:
            connection.kill()
            ended = error
        except BaseException:
            connection.kill()
            raise
        recording = read(log)
        log.unlink(missing_ok=True)
        if ended is not None and recording.injected is None:
            raise ended
        return Start(
            tuple(seen.asked), seen.shown, recording, None if ended is None else f"{ended}", connection.stderr()
        )

    def _ask_all(self, client: JournalClient, seen: _Seen) -> None:
        for request in self._requests:
            if self._is_over.is_set():
                return  # Nobody waits for what comes of it.
            for _ in range(TRIES):
                seen.asked.append(Exchange(request.method, request.params, None))
                answer = client.ask(request.method, request.params)
                seen.asked[-1] = Exchange(request.method, request.params, answer)
                if not isinstance(answer, NotStored | Unavailable):
                    break

    def _look(self, client: JournalClient, seen: _Seen, crashed: Crashed) -> None:
        """Read every run."""
        for run_id in crashed.expectation.runs:
            for _ in range(_TRIES_OF_A_LOAD):
                records = _loaded(client, run_id)
                if records is not None:
                    seen.shown[run_id] = RunShown(records, None)
                    break

    def _divergence(self, starts: Sequence[Start], happened: Sequence[Fault]) -> str | None:
        """Return why what was tried is not what was meant."""
        for start, fault in zip(starts, happened, strict=True):
            if not isinstance(fault, Undisturbed | Power) and start.recording.injected is None:
                return f"The trace diverged: {fault} did not happen in this run."
        if self._recorded is None:
            return None
        return divergence(self._recorded.start.recording.trace, starts[0].recording.until_injected)


def require_that_it_can_happen(fault: Fault) -> None:
    """Raise `CannotBeTried` if nothing can be done to a program on this machine."""
    is_counted = isinstance(fault, Failure) and bool(fault.thread_ordinal)
    reason = None if isinstance(fault, Undisturbed) or (is_counted and watcher() == "strace") else why_not_disturbed()
    if reason is not None:
        raise CannotBeTried(reason)


@dataclass(slots=True)
class _Seen:
    """What is learnt in one start."""

    asked: list[Exchange] = field(default_factory=list)
    shown: dict[RunId, RunShown] = field(default_factory=dict)


def _loaded(client: JournalClient, run_id: RunId) -> tuple[Envelope, ...] | None:
    """Return a run, whole; None if it is refused."""
    records: list[Envelope] = []
    while True:
        params: JsonObject = {"run_id": run_id, "from_sequence": len(records) + 1, "limit": _PAGE}
        answer = client.ask("load", params)
        if not isinstance(answer, Page) or not (answer.end or answer.records):
            return None
        records += answer.records
        if answer.end:
            return tuple(records)


def _disagreement(looks: Sequence[Start], recovered: Recovered) -> Broken | None:
    """Return where a recovery shows something else than an earlier one of the same state did, which was whole."""
    for look in looks:
        for run_id, shown in look.shown.items():
            found = recovered.first.get(run_id)
            if found is not None and found.records != shown.records:
                sentence = f"one recovery showed {len(shown.records)} records of a run, the next {len(found.records)}"
                return Broken("unsteady", sentence, run_id)
    return None


def _call(start: Start, fault: Fault) -> str:
    """Return the call at which a fault happened, in words."""
    injected = start.recording.injected
    if isinstance(fault, Undisturbed) or injected is None:
        return "no call"
    done = next((each for each in start.recording.done if each.number == injected.number), None)
    text = done.call.text if done is not None and isinstance(fault, Kill) else injected.text
    return f"call {injected.number} ({text})" if injected.name != READ else f"read {injected.ordinal} ({text})"


def faults(recording: Recording) -> Iterator[Fault]:
    """Yield every way to disturb a recorded run: kills in order, then writes cut short, reads and calls that fail.

    To be killed just before a call is to be killed behind the one before, unless something was answered in between.
    Within a call, a kill takes effect where a page of the file begins.
    """
    has_answered = True
    for line in recording.lines:
        if isinstance(line, CallDone) and isinstance(line.call.operation, Answer):
            has_answered = True
        elif isinstance(line, CallDone | Failed) and line.number:
            if has_answered:
                yield Kill("before", line.number)
            has_answered = False
    yield from (Kill("after", number) for number in _numbers(recording))
    writes = [done for done in recording.done if isinstance(done.call.operation, Write) and done.number]
    for done in writes:
        yield from (Tear(done.name, done.ordinal, size) for size in _torn_at(done.call.operation))
    for done in writes:
        if isinstance(done.call.operation, Write):
            size = len(done.call.operation.data)
            yield from (Short(done.name, done.ordinal, least) for least in sorted({1, size // 2, size - 1} - {0, size}))
    reads = 0 if recording.end is None else recording.end.reads
    yield from (Failure(READ, ordinal, "EIO") for ordinal in range(1, reads + 1))
    for done in _that_may_fail(recording):
        yield from _failures(done)


def _part(many: Iterable[Anything], part: Part) -> Iterator[Anything]:
    first, every = part
    return itertools.islice(many, first % every, None, every)


def _torn_at(operation: Operation) -> Sequence[int]:
    """Return behind how many bytes a kill may take effect: the first such place, one in the middle, and the last."""
    assert isinstance(operation, Write)
    places = range(_PAGE_BYTES - operation.offset % _PAGE_BYTES, len(operation.data), _PAGE_BYTES)
    return sorted({places[0], places[len(places) // 2], places[-1]}) if places else []


def _failures(done: CallDone) -> Iterator[Fault]:
    yield Failure(done.name, done.ordinal, "EIO")
    if done.name in _MAY_BE_FULL:
        yield Failure(done.name, done.ordinal, "ENOSPC")
    if done.name in _MAY_BE_INTERRUPTED:
        yield Failure(done.name, done.ordinal, "EINTR")


def _numbers(recording: Recording) -> Sequence[int]:
    """Return the calls that changed something, by number."""
    return [done.number for done in _counted(recording)]


def _counted(recording: Recording) -> Sequence[CallDone]:
    """Return what was done by calls that are counted, one for each: a synchronous write is one call."""
    first = {done.number: done for done in reversed(recording.done) if done.number}
    return [first[number] for number in sorted(first)]


def _that_may_fail(recording: Recording) -> Sequence[CallDone]:
    return [done for done in _counted(recording) if done.name not in CANNOT_FAIL]


def _way(recording: Recording) -> str:
    """Return what a recovery did to files, whatever their number and size: others of this way have the same windows."""
    kinds = (
        type(done.call.operation).__name__ for done in recording.done if not isinstance(done.call.operation, Blind)
    )
    return " ".join(kind for kind, _ in itertools.groupby(kinds))


def image_of(state: Path) -> Image:
    """Return what a state directory holds. Raises `CannotBeTried` if that cannot be put into another one."""
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    folders: set[str] = set()
    first: dict[int, str] = {}
    for path in sorted(state.rglob("*")):
        name = f"{path.relative_to(state)}"
        if path.is_symlink():
            raise CannotBeTried(f"{name} is a symbolic link, which is not modelled")
        if not (path.is_dir() or path.is_file()):
            continue
        if path.stat().st_size > LONGEST_FILE_BYTES:
            raise CannotBeTried(f"{name} is longer than {LONGEST_FILE_BYTES} bytes, which is not modelled")
        if path.is_dir():
            folders.add(name)
        elif (same := first.setdefault(path.stat().st_ino, name)) != name:
            links[name] = same
        else:
            files[name] = path.read_bytes()
    return Image(files, frozenset(folders), links)


def _digest(image: Image, expectation: Expectation, looks: Sequence[Start]) -> bytes:
    """Return what is equal where a judgement must be: what is there, what may be, and what was shown of it."""
    shown = [look.shown for look in looks]
    words = (sorted(image.files.items()), sorted(image.folders), sorted(image.links.items()), expectation.runs, shown)
    return hashlib.sha256(repr(words).encode("utf-8", "backslashreplace")).digest()
