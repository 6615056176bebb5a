"""Several clients of one journal, switched at each call and crashed: what is found, plays again, and accuses nobody."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from perdure.journal.contract import DurabilityLevel, Page
from perdure.kernel.identity import RunId
from perdure_conformance.cli import command_line
from perdure_conformance.crash import scheduling
from perdure_conformance.crash.disk import Disk
from perdure_conformance.crash.replay import Workload, parse
from perdure_conformance.crash.scheduling import REQUIREMENTS, Judged, is_claimed, judge, play
from perdure_conformance.crash.several import MUTANTS, TWINS, SharesAFile
from perdure_conformance.crash.trace import STATE_DIRECTORY, Answer, Call, Create, File, Operation, Sync, Trace, Write
from perdure_conformance.harness.targets import PythonTarget, Target
from perdure_conformance.journal.dispatch import JOURNALS

MODULE = "perdure_conformance.crash.several"
SEEDS = range(1, 21) if os.environ.get("PERDURE_FULL") else (1,)


def python(target: Target) -> PythonTarget:
    assert isinstance(target, PythonTarget)
    return target


def judged(target: Target, *, seed: int = 7, schedules: int = 120) -> Judged:
    return judge(python(target), Workload("append", 4, seed), schedules=schedules)


def crash(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(command_line(), ["crash", *words])
    return done.exit_code, done.output


@pytest.mark.parametrize("name", MUTANTS)
def test_each_mutant_is_found_by_the_name_of_its_requirement_and_plays_again(name: str) -> None:
    mutant = MUTANTS[name]
    found = judged(mutant.target).found
    assert mutant.breaks in found
    assert set(found) <= {mutant.breaks, *mutant.overlaps}
    again = play(python(mutant.target), parse(found[mutant.breaks].replay), timeout_s=10)
    assert again is not None
    assert (again.requirement, again.blame, again.sentence) == (
        mutant.breaks,
        found[mutant.breaks].blame,
        found[mutant.breaks].sentence,
    )
    assert " stops before " in again.blame
    assert parse(found[mutant.breaks].replay).workload.appends == (3 if name == "OpensAsIfAlone" else 2)


def test_every_requirement_has_a_mutant() -> None:
    assert {mutant.breaks for mutant in MUTANTS.values()} == set(REQUIREMENTS.values())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [*TWINS, "files", "files-write", "lines"])
def test_nobody_good_is_accused(name: str, seed: int) -> None:
    target = TWINS[name].target if name in TWINS else JOURNALS.find(name)
    told = judged(target, seed=seed, schedules=25)
    assert (told.found, told.open) == ({}, None)
    assert told.counts["switches"] > told.counts["schedules"]
    assert told.counts["crashes"] > told.counts["schedules"]


class DrawsTheStart(Random):
    """Draws no crash but that before the first call."""

    def random(self) -> float:
        return 1.0

    def choice(self, seq: Any) -> Any:
        return seq[0]

    def randint(self, a: int, b: int) -> int:
        del b
        return a


@pytest.mark.parametrize(
    ("level", "lost"), [("process-crash", []), ("ordered", [3]), ("sector", [3]), ("posix-weak", [0, 3])]
)
def test_behind_each_answer_all_is_lost_that_may_be(level: DurabilityLevel, lost: list[int]) -> None:
    file = File(1)
    calls: list[Operation] = [
        Create(STATE_DIRECTORY, "log", file),
        Write(file, 0, b"one"),
        Sync(file, "fsync"),
        Write(file, 3, b"two"),
        Answer(1),
        Sync(file, "fsync"),
    ]
    disk = Disk(Trace([], [Call("", each) for each in calls]))
    behind = [
        [fate.call for fate in cut.fates] for cut in scheduling._cuts(disk, level, DrawsTheStart()) if cut.calls == 5
    ]
    assert behind == ([lost] if lost else [])


def test_what_is_done_by_an_extension_in_c_is_never_a_pass() -> None:
    told = judged(JOURNALS.find("sqlite"), schedules=2)
    assert told.open == "Its files are changed by other ways than os and open, such as an extension in C."


@pytest.mark.parametrize("name", ["memory", "perdure_conformance.crash.journals:Appends"])
def test_who_claims_no_handles_or_no_level_is_not_judged(name: str) -> None:
    told = judged(JOURNALS.find(name))
    assert not told.counts
    assert not is_claimed(told.description.capabilities, None)


def test_the_command_tells_a_finding_and_plays_its_line(tmp_path: Path) -> None:
    few = ["--layer", "schedule", "--schedules", "40", "--seed", "7", "--report", str(tmp_path)]
    code, told = crash(f"{MODULE}:ChecksBeforeItLocks", *few)
    assert code == 1
    assert "\n✗ CRS-061" in told
    document = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert {each["id"] for each in document["requirements"]} == set(REQUIREMENTS.values())
    folder = tmp_path / "failures/CRS-061"
    case = json.loads((folder / "case.json").read_text("utf-8"))
    code, told = crash(f"{MODULE}:ChecksBeforeItLocks", "--replay", case["line"], "--json")
    assert (code, json.loads(told)["blame"]) == (1, case["blame"])
    done = CliRunner().invoke(command_line(), ["rerun", str(folder)])
    assert done.exit_code == 1
    assert "It fails again, the same way." in done.output
    code, told = crash(f"{MODULE}:SharesAnIndex", "--replay", case["line"])
    assert (code, told) == (
        3,
        (
            "perdure: The trace diverged: the journal did not make the calls that it made then. "
            "If it was changed, crash it anew, without --replay.\n"
        ),
    )


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--command", "true", "--layer", "schedule"], 2, "--layer schedule is for journals in Python"),
        (["files", "--layer", "schedule", "--layer", "power"], 2, "--layer schedule stands alone"),
        (["files", "--replay", "v1:w=append,n=2,seed=7:sched/1:what"], 3, "'what' is no crash of a schedule"),
        (["files", "--replay", "v1:w=append,n=2,seed=7:sched/1:crash0/none:"], 3, "'none' is no level"),
        (["files", "--replay", "v1:w=append,n=2,seed=7:sched/1:crash3"], 0, "Nothing is wrong."),
        (["files", "--replay", "v1:w=append,n=2,seed=7:sched/1:crash3+none"], 3, "A schedule stands alone"),
    ],
)
def test_words_are_understood_or_told(words: Sequence[str], code: int, sentence: str) -> None:
    came, told = crash(*words)
    assert (came, sentence in told) == (code, True), told


IMPORTED = threading.Lock()


class WaitsForALockOfItsModule(SharesAFile):
    """Has a lock that was made on import, which nobody who switches knows of."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> Page:
        """Answer as `Journal.load` says."""
        with IMPORTED:
            return super().load(run_id, from_sequence, limit)


def test_who_waits_for_what_no_client_gives_is_inconclusive_and_leaves_nothing() -> None:
    target = python(JOURNALS.of(WaitsForALockOfItsModule))
    opened = os.open
    told = judge(target, Workload("append", 4, 7), schedules=40, timeout_s=0.5)
    assert told.open is not None
    assert "a client waits for something that no other client gives it" in told.open
    assert os.open is opened
