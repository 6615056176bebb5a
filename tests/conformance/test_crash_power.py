"""The engine of power cuts is itself judged: what is good passes at its level, and what is broken is found by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.crash_recording import recorded

from perdure_conformance.crash import mutants
from perdure_conformance.crash.deviations import cut_of, deviations
from perdure_conformance.crash.disk import Disk
from perdure_conformance.crash.journals import Appends, Batch, JournalOfFrames, Replaces
from perdure_conformance.crash.judge import AFTER_A_FAILED_SYNC, REQUIREMENTS
from perdure_conformance.crash.mutants import MUTANTS
from perdure_conformance.crash.power import Bench, Judged, judge
from perdure_conformance.crash.recovery import recoverer, scratch
from perdure_conformance.crash.replay import Power, Replay, Workload, parse
from perdure_conformance.crash.selftest import GUILTY, unproven
from perdure_conformance.journal.dispatch import JOURNALS


@pytest.fixture
def place() -> Iterator[Path]:
    with scratch() as folder:
        yield folder


def judged(journal: type[JournalOfFrames], place: Path, seed: int = 7) -> Judged:
    found = recorded(journal, place / "recorded", Workload("append", 4, seed))
    with recoverer(JOURNALS.of(journal), timeout_s=10) as opened:
        return judge(Bench(found, opened, place), seed=seed)


@pytest.mark.parametrize("journal", [Appends, Replaces])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_good_journal_holds_at_every_level(journal: type[JournalOfFrames], place: Path, seed: int) -> None:
    found = judged(journal, place, seed)
    assert found.findings == {}
    assert found.highest_level == "posix-weak"


class LooksAtItsFileWhenItCloses(Appends):
    """A good journal whose file is still there when it is closed, for all it knows."""

    def close(self) -> None:
        self._path.stat()
        super().close()


def test_a_state_stays_while_it_is_open(place: Path) -> None:
    assert judged(LooksAtItsFileWhenItCloses, place).findings == {}
    assert [each.name for each in place.iterdir()] == ["recorded"]


BLAMED = {name: guilty["power"] for name, guilty in GUILTY.items() if MUTANTS[name].breaks != AFTER_A_FAILED_SYNC}
"""How the smallest case of each mutant names the guilty call."""


@pytest.mark.parametrize("name", BLAMED)
def test_each_mutant_is_found_by_name_and_the_guilty_call_is_named(name: str, place: Path) -> None:
    found = judged(getattr(mutants, name), place)
    mutant = MUTANTS[name]
    finding = found.findings[mutant.breaks]
    assert finding.level == found.broken_level
    assert finding.blame.startswith(BLAMED[name])
    assert finding.cut.size <= 2
    workload = Workload("append", 4, 7)
    again = recorded(getattr(mutants, name), place / "again", workload)
    fault = Power(finding.level, finding.cut.calls, deviations(finding.cut, again.trace))
    (read,) = parse(f"{Replay(workload, (fault,))}").faults
    assert isinstance(read, Power)
    assert cut_of(read, Disk(again.trace)) == finding.cut


def test_every_requirement_on_crashes_has_a_mutant() -> None:
    assert {mutant.breaks for mutant in MUTANTS.values()} == {*REQUIREMENTS.values(), AFTER_A_FAILED_SYNC}
    assert GUILTY.keys() == MUTANTS.keys()
    assert unproven() == []


class TrustsAFileThatItMayRebuild(Appends):
    """Keeps in a file beside how far its log goes, and believes it."""

    def _take(self, content: bytes) -> int:
        beside = self._path.with_name("perdure-shm")
        known = int(beside.read_bytes().rstrip(b"\0") or b"0") if beside.exists() else len(content)
        return super()._take(content[:known])

    def _store(self, batch: Batch) -> None:
        super()._store(batch)
        self._path.with_name("perdure-shm").write_bytes(b"%d" % self._end)


def test_a_file_that_may_be_made_anew_is_tried_absent_zeroed_and_stale(place: Path) -> None:
    found = recorded(TrustsAFileThatItMayRebuild, place / "recorded", Workload("append", 2, 7))
    later = replace(found, rebuildable=("*-shm",), rebuilt={"perdure-shm": b"1"})
    with recoverer(JOURNALS.of(TrustsAFileThatItMayRebuild), timeout_s=10) as opened:
        assert judge(Bench(found, opened, place), seed=7).findings == {}
        bench = Bench(later, opened, place)
        wrong = judge(bench, seed=7).findings["CRS-001"]
        assert bench.left(wrong.cut).files["perdure-shm"] == b"1"
        assert bench.judge(wrong.cut)[1] is not None
    good = recorded(Appends, place / "good", Workload("append", 2, 7))
    with recoverer(JOURNALS.of(Appends), timeout_s=10) as opened:
        judged_good = judge(Bench(replace(good, rebuildable=("*-shm",), rebuilt={"a-shm": b"1"}), opened, place))
    assert judged_good.findings == {}
