"""Journals that are killed in every window, and whose calls fail: good ones hold, and broken ones are blamed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.conformance.helpers import ROOT

from perdure_conformance.crash.disk import Cut, Disk
from perdure_conformance.crash.programs import NoSuchProgram, program
from perdure_conformance.crash.recording import why_not_disturbed
from perdure_conformance.crash.recovery import recoverer, scratch
from perdure_conformance.crash.replay import Failure, Fault, Kill, Short, Tear, Undisturbed, Workload, parse
from perdure_conformance.crash.windows import CannotBeTried, Judged, Windows, faults
from perdure_conformance.harness.targets import CommandTarget, Target

pytestmark = pytest.mark.skipif(why_not_disturbed() is not None, reason=f"{why_not_disturbed()}")

TWO = Workload("append", 2, 7)
LARGE = Workload("large", 2, 7)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


def small(folder: Path, name: str) -> CommandTarget:
    return program("Python", name, folder)


@contextmanager
def windows(target: Target, workload: Workload = TWO) -> Iterator[Windows]:
    with scratch() as place:
        with recoverer(target, 60) as opened:
            yield Windows(target, workload, opened, place, 60)
        assert list(place.iterdir()) == []


@pytest.mark.parametrize("name", ["Good", "ViaATemporaryFile"])
def test_a_good_journal_holds_in_every_window(folder: Path, name: str) -> None:
    with windows(small(folder, name), Workload("append", 1, 7)) as tried:
        judged = list(tried.all())
    assert [f"{each.sentence}" for each in judged if each.broken or each.diverged] == []
    kinds = {tuple(type(fault) for fault in each.replay.faults) for each in judged}
    assert {(Kill,), (Short,), (Failure,), (Kill, Undisturbed), (Undisturbed, Failure)} <= kinds


LOST = "records 1 to 3, acknowledged, cannot be found any more"
DIFFERENT = "record 1, which was acknowledged, is not what was appended"
CLOSED = "the journal does not open: It exited with code 1 while recover was pending"


@pytest.mark.parametrize(
    ("name", "workload", "line", "sentence"),
    [
        ("WritesInPlace", TWO, "kill/after:3", f"killed just behind call 3 (truncate log to 0): {LOST}."),
        ("AcknowledgesBeforeItWrites", TWO, "kill/before:2", f"killed just before call 2 (write log): {LOST}."),
        (
            "LeavesHalfABatch",
            TWO,
            "kill/after:2",
            (
                "killed just behind call 2 (write log@0+450): it shows record 1, where nothing was acknowledged; "
                "records 1 to 3 of one batch, whole, may be there."
            ),
        ),
        ("IgnoresAShortWrite", TWO, "short/pwrite64#1=1", f"call 2 (write log) wrote 1 byte and no more: {CLOSED}."),
        ("IgnoresAnErrorOfAWrite", TWO, "err/pwrite64#1=EIO", f"call 2 (write log) failed with EIO: {CLOSED}."),
        (
            "LeavesWhatIsNotStored",
            TWO,
            "err/fsync#1=EIO",
            "call 3 (fsync log) failed with EIO: record 4, which was acknowledged, is not what was appended.",
        ),
        (
            "CutsTooMuch",
            LARGE,
            "tear/pwrite64#2=2323",
            (
                "killed within call 3 (write log), 2323 bytes of it written: "
                "records 1 to 2, acknowledged, cannot be found any more."
            ),
        ),
        (
            "DoesNotOpenATornFile",
            LARGE,
            "tear/pwrite64#1=4096",
            f"killed within call 2 (write log), 4096 bytes of it written: {CLOSED}.",
        ),
        (
            "RecoversInPlace",
            LARGE,
            "tear/pwrite64#2=2323+kill/after:1",
            (
                "in the recovery, killed just behind call 1 (truncate log to 0): "
                "records 1 to 2, acknowledged, cannot be found any more."
            ),
        ),
        (
            "TakesAnErrorForTheEnd",
            TWO,
            "none+err/read#1=EIO",
            (
                "in the recovery, read 1 (read log) failed with EIO: "
                "records 1 to 6, acknowledged, cannot be found any more."
            ),
        ),
    ],
)
def test_a_broken_journal_is_blamed_at_the_call(
    folder: Path, name: str, workload: Workload, line: str, sentence: str
) -> None:
    """The first finding of its kind, in the order in which windows are tried, plays again from its line."""
    expected = parse(f"v1:{workload}:{line}")
    kinds = [type(fault) for fault in expected.faults]
    with windows(small(folder, name), workload) as tried:
        found = next(each for each in of_kinds(tried, kinds) if each.broken is not None)
        assert (found.replay, found.sentence, found.diverged) == (expected, sentence, None)
        assert tried.play(found.replay).broken == found.broken


def of_kinds(tried: Windows, kinds: Sequence[type[Fault]]) -> Iterator[Judged]:
    """Try what begins like this, and is of these kinds."""
    recorded = tried.recorded()
    for fault in [Undisturbed(), *faults(recorded.start.recording)]:
        if isinstance(fault, kinds[0]):
            crashed = tried.begin(fault)
            if kinds[1:]:
                yield from (each for each in tried.recoveries(crashed) if isinstance(each.replay.faults[-1], kinds[1]))
            else:
                yield tried.go_on(crashed, ())


def test_what_does_not_happen_again_is_said_and_is_no_pass(folder: Path) -> None:
    with windows(small(folder, "Good")) as tried:
        judged = tried.play(parse(f"v1:{TWO}:kill/after:99"))
    assert judged.broken is None
    assert judged.diverged == "The trace diverged: kill/after:99 did not happen in this run."
    assert judged.sentence == judged.diverged


def test_a_program_that_goes_another_way_is_told(folder: Path, tmp_path: Path) -> None:
    seen, adapter = tmp_path / "seen", small(folder, "Good").command[3]
    script = f"import os, runpy, sys; sys.argv = ['', 'WritesInPlace' if os.path.exists('{seen}') else 'Good']; "
    script += f"open('{seen}', 'w').close(); runpy.run_path('{adapter}', run_name='__main__')"
    target = CommandTarget((sys.executable, "-I", "-S", "-c", script))
    with recoverer(small(folder, "Good"), 60) as opened, scratch() as place:
        tried = Windows(target, TWO, opened, place, 60)
        recorded = tried.recorded()
        judged = tried.go_on(tried.begin(Kill("after", 3)), ())
    assert len(recorded.image.files) == 1
    assert judged.diverged == (
        "The trace diverged at call 5: it was 'write log@1264+1264', and is 'truncate log to 0'."
    )


def test_what_cannot_be_tried_is_said(folder: Path) -> None:
    with windows(small(folder, "PromisesNothing")) as tried, pytest.raises(CannotBeTried) as error:
        list(tried.all())
    assert f"{error.value}" == "It does not claim to survive that its process is killed."
    with windows(small(folder, "RefusesAll")) as tried, pytest.raises(CannotBeTried) as error:
        list(tried.all())
    assert f"{error.value}".startswith("Undisturbed, request 1, append, is answered NotStored(detail='full').")


def test_what_is_recorded_is_what_is_there(folder: Path) -> None:
    """What the disk holds if nothing is lost, by the trace, is what the kernel shows, at each call."""
    with windows(small(folder, "ViaATemporaryFile")) as tried:
        recorded = tried.recorded()
        disk = Disk(recorded.start.recording.trace)
        for calls, done in enumerate(recorded.start.recording.done, 1):
            if done.number:
                there = tried.begin(Kill("after", done.number)).image
                assert there.key() == disk.image(Cut(calls)).key()


@pytest.mark.skipif(shutil.which("node") is None, reason="There is no Node.")
def test_the_journal_on_node_holds_when_it_is_killed() -> None:
    adapter = ROOT / "conformance/examples/node-journal/adapter.mjs"
    with windows(CommandTarget(("node", f"{adapter}"))) as tried:
        kills = list(of_kinds(tried, [Kill]))
    assert len(kills) > 8
    assert [each.sentence for each in kills if each.broken or each.diverged] == []


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compiled")
    try:
        program("C", "good", folder)
    except NoSuchProgram as reason:
        pytest.skip(f"{reason}")
    return folder


def test_a_good_journal_in_c_holds_in_every_window(in_c: Path) -> None:
    with windows(program("C", "good", in_c), Workload("large", 1, 7)) as tried:
        judged = list(tried.all())
    assert [each.sentence for each in judged if each.broken or each.diverged] == []
    assert any(isinstance(each.replay.faults[0], Tear) for each in judged)


@pytest.mark.parametrize(
    ("how", "workload", "line", "call"),
    [
        ("writes-in-place", TWO, "kill/after:5", "killed just behind call 5 (truncate log to 0)"),
        ("ignores-errors", TWO, "err/pwrite64#1=EIO", "call 4 (write log) failed with EIO"),
        ("ignores-short-writes", TWO, "short/pwrite64#1=1", "call 4 (write log) wrote 1 byte and no more"),
        ("cuts-too-much", LARGE, "tear/pwrite64#2=2326", "killed within call 6 (write log), 2326 bytes of it written"),
    ],
)
def test_a_broken_journal_in_c_is_blamed_too(in_c: Path, how: str, workload: Workload, line: str, call: str) -> None:
    expected = parse(f"v1:{workload}:{line}")
    with windows(program("C", how, in_c), workload) as tried:
        tries = of_kinds(tried, [type(fault) for fault in expected.faults])
        found = next(each for each in tries if each.broken is not None)
    assert found.replay == expected
    assert found.sentence.startswith(f"{call}: ")
