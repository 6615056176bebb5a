"""The engine of power cuts is itself judged: what is good passes at its level, and what is broken is found by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.conformance.crash_recording import recorded

from perdure.kernel.values import JsonObject
from perdure_conformance.crash import mutants
from perdure_conformance.crash.cases import case_of, finding_of, replay
from perdure_conformance.crash.deviations import cut_of, deviations
from perdure_conformance.crash.disk import Disk
from perdure_conformance.crash.findings import Found
from perdure_conformance.crash.journals import Appends, Batch, JournalOfFrames, Replaces
from perdure_conformance.crash.judge import AFTER_A_FAILED_SYNC, REQUIREMENTS
from perdure_conformance.crash.mutants import MUTANTS
from perdure_conformance.crash.power import Bench, Judged, judge
from perdure_conformance.crash.recovery import Direct, recoverer, scratch
from perdure_conformance.crash.replay import Power, Replay, Workload, parse
from perdure_conformance.crash.selftest import GUILTY, unproven
from perdure_conformance.harness.connection import AdapterFault, Connection, Unsupported
from perdure_conformance.harness.targets import Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.journal.dispatch import JOURNALS, Dispatcher
from perdure_conformance.reports import failure
from perdure_conformance.suite import Options


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


PANIC = "panic: a torn tail in /somewhere/perdure.log"


class Panicking(Direct):
    """A program that says why before it ends where it does not open, and its journal tells no more."""

    def __init__(self, journal: type[JournalOfFrames], *, offers_recover: bool) -> None:
        super().__init__(Dispatcher(journal))
        self._offers_recover = offers_recover
        self._stderr = ""

    def call(self, method: str, params: JsonObject) -> JsonObject:
        if method == "recover" and not self._offers_recover:
            raise Unsupported(method)
        with suppress(AdapterFault):
            answer = super().call(method, params)
            if method != "recover" or "refused" not in answer:
                return answer
        self._stderr += PANIC
        raise AdapterFault("exited", f"It exited with code 2 while {method} was pending.", PANIC)

    def stderr(self) -> str:
        return self._stderr


@dataclass(frozen=True)
class PanickingTarget:
    """It, as a program."""

    journal: type[JournalOfFrames]
    offers_recover: bool
    name = "panicking"
    is_process = True

    def open(self, timeout_s: float, transcript: Transcript) -> Connection:
        del timeout_s
        transcript.event("open")
        return Panicking(self.journal, offers_recover=self.offers_recover)

    def as_process(self) -> Target:
        return self

    def words(self) -> dict[str, str | list[str]]:
        return {"name": self.name}


@pytest.mark.parametrize("offers_recover", [True, False])
def test_standard_error_of_a_recovery_is_kept_with_its_finding(place: Path, *, offers_recover: bool) -> None:
    torn, workload = mutants.DoesNotOpenWithATornTail, Workload("append", 1, 7)
    target = PanickingTarget(torn, offers_recover)
    records = recorded(torn, place / "recorded", workload)
    with recoverer(target, timeout_s=10) as opened:
        bench = Bench(records, opened, place)
        wrong = judge(bench, levels=["sector"], rules=["refused"]).findings["CRS-023"]
        assert opened.last_words().stderr == PANIC
        found = Found(
            requirement=wrong.requirement,
            layer="power",
            level=wrong.level,
            rule=wrong.rule,
            blame=wrong.blame,
            sentence=wrong.sentence,
            replay=f"{Replay(workload, (Power('sector', 1, ''),))}",
            image=bench.left(wrong.cut),
            exchanges=tuple(records.before(wrong.answered)),
            recovered=wrong.recovered,
        )
    case = case_of(found, target, Options("normal", 7), records.claims)
    finding = finding_of(case, target, found)
    assert (finding.reproduced, finding.stderr) == (True, PANIC)
    assert "* open" in finding.transcript
    assert PANIC not in f"{case}"
    assert replay(case, target).stderr == PANIC
    folder = failure.write(place, finding)
    assert (folder / "stderr.txt").read_text("utf-8") == PANIC


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
