"""How many crashes are judged a second: states of a disk after power cuts, and windows in which a program is killed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perdure_conformance.crash import journals
from perdure_conformance.crash.power import Bench, judge
from perdure_conformance.crash.programs import NoSuchProgram, program
from perdure_conformance.crash.record import record
from perdure_conformance.crash.recording import why_not_disturbed
from perdure_conformance.crash.recovery import recoverer, scratch
from perdure_conformance.crash.replay import Kill, Workload
from perdure_conformance.crash.windows import Windows, faults
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.dispatch import JOURNALS

APPENDS: Final = 20
_TIMEOUT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast one kind of crash is judged."""

    what: str
    crashes: int
    seconds: float
    processor_s: float
    """What this process took of it; programs that it starts come on top."""
    wanted: int
    """What is aimed at, a second."""


def paces() -> Iterator[Pace | str]:
    """Measure one after the other; what cannot be measured here is said in a sentence."""
    if (reason := why_not_disturbed()) is not None:
        yield reason
        return
    with scratch() as folder:
        for number, (what, (measure, find, wanted)) in enumerate(MEASURED.items()):
            try:
                target = find(folder)
            except NoSuchProgram as missing:
                yield f"{missing}"
                continue
            place = folder / f"{number}"
            place.mkdir()
            crashes, seconds, processor_s = measure(target, place)
            yield Pace(what, crashes, seconds, processor_s, wanted)


Measured = tuple[int, float, float]


def _states(target: Target, folder: Path) -> Measured:
    recorded = record(target, Workload("append", APPENDS, 7), folder / "recorded", _TIMEOUT_S)
    with recoverer(target, _TIMEOUT_S) as opened:
        bench = Bench(recorded, opened, folder)
        began, processor = time.perf_counter(), time.process_time()
        judged = judge(bench)
        return sum(judged.states.values()), time.perf_counter() - began, time.process_time() - processor


def _kills(target: Target, folder: Path) -> Measured:
    with recoverer(target, _TIMEOUT_S) as opened:
        windows = Windows(target, Workload("append", 4, 7), opened, folder, _TIMEOUT_S)
        kills = [fault for fault in faults(windows.recorded().start.recording) if isinstance(fault, Kill)]
        began, processor = time.perf_counter(), time.process_time()
        for crashed in windows.begun(iter(kills)):
            windows.go_on(crashed, ())
        return len(kills), time.perf_counter() - began, time.process_time() - processor


def _built_in(name: str) -> Callable[[Path], Target]:
    return lambda _: JOURNALS.find(name)


MEASURED: Final[Mapping[str, tuple[Callable[[Target, Path], Measured], Callable[[Path], Target], int]]] = {
    "states of a disk, a small journal of one file": (_states, lambda _: JOURNALS.of(journals.Appends), 3_000),
    "states of a disk, the journal `files`": (_states, _built_in("files"), 3_000),
    "states of a disk, a program in C": (_states, lambda folder: program("C", "good", folder), 3_000),
    "kills, a program in C": (_kills, lambda folder: program("C", "good", folder), 20),
    "kills, a program in Python": (_kills, lambda folder: program("Python", "Good", folder), 5),
    "kills, the journal `files`": (_kills, _built_in("files"), 5),
}
