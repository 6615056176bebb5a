"""How a graph kernel is judged: who is to blame, what is beside the point, and that a program is judged so too."""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.helpers import perdure

from perdure.journal.client import Recovered
from perdure.kernel.errors import corrupt
from perdure.kernel.events import AnyEvent, NodeReady, RecoveryAcquired
from perdure.kernel.rules import RULES, exceeds
from perdure.kernel.state import State
from perdure_conformance.reducer.contract import Capabilities, Shown
from perdure_conformance.reducer.dispatch import KERNELS
from perdure_conformance.reducer.drawn import draw_questions
from perdure_conformance.reducer.histories import acquired, complete, ended, node, ready, start, started
from perdure_conformance.reducer.kept import kept
from perdure_conformance.reducer.mutants.attempts import UsesAttemptIdsAgain
from perdure_conformance.reducer.mutants.endings import BlockedBeatsFailed
from perdure_conformance.reducer.mutants.records import TellsTheRecordBefore
from perdure_conformance.reducer.mutants.runs import (
    CallsEveryHistoryWhole,
    CallsEverythingCorrupt,
    CountsFromZero,
    LeavesConsequencesToOthers,
    RefusesWhatIsNotWhole,
)
from perdure_conformance.reducer.mutants.snapshots import LeavesTheTailOut, LosesARunOverItsSnapshot
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.profile import REDUCER
from perdure_conformance.reducer.questions import (
    Answer,
    BesideThePoint,
    Query,
    Setting,
    can_be_asked,
    hold,
    truth_about,
)
from perdure_conformance.reducer.reference import EVERYTHING, ReferenceKernel
from perdure_conformance.reducer.scenarios import all_scenarios
from perdure_conformance.reducer.scenarios.scenario import (
    Side,
    accepted,
    gives,
    refused,
    refuses,
    restores,
    scenario,
    unfinished,
)
from perdure_conformance.reducer.shorter import batches_of, shorter
from perdure_conformance.suite import Options, Violation


class RefusesReleases(ReferenceKernel):
    """Refuses what dependencies release."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if isinstance(event, NodeReady) and event.cause == "dependencies":
            corrupt("nothing_owed", "nobody releases anything")
        return super().step(state, event, version)


def broken(kernel: type[ReferenceKernel], question: Query) -> str:
    """Return the requirement that the answer to a question breaks, if it breaks any."""
    subject = kernel(Path(), "")
    command = question.command
    answer: Answer = subject.reduce(question.history)
    if question.shown is not None:
        answer = subject.restore(question.shown)
    elif command is not None:
        answer = subject.decide(question.history, command)
    try:
        hold(question, truth_about(question), answer, Setting(EVERYTHING, subject.reduce), frozenset(), Counter())
    except Violation as violation:
        return violation.requirement
    except BesideThePoint:
        return "beside the point"
    return ""


def asked(requirement: str, *sides: Side) -> list[Query]:
    return [side.question for side in scenario(requirement, "", *sides).sides]


def test_a_scenario_speaks_of_its_requirement_from_where_its_questions_differ() -> None:
    run = Run(["A", node("B", "A")])
    run.run("A")
    wrong, right = asked("RUN-013", refused(run.past + started("B", 1)), accepted(run.past + started("B", 2)))
    assert wrong.shared == right.shared == len(run.past)
    assert [broken(UsesAttemptIdsAgain, question) for question in (wrong, right)] == ["RUN-013", ""]
    assert [broken(RefusesReleases, question) for question in (wrong, right)] == ["beside the point"] * 2


def test_a_run_fact_after_the_point_is_beside_it() -> None:
    run = Run("AB")
    run.run("A", "blocked")
    run.start("B")
    past = run.played(ended("B", 2, "permanent_failure"))
    _, right = asked("RUN-014", refused(run.past + ended("B", 1)), accepted(past))
    assert broken(BlockedBeatsFailed, right) == "beside the point"


def test_how_an_answer_is_told_is_another_matter() -> None:
    run = Run("AB")
    wrong, right, cut = asked(
        "RUN-012",
        refused(run.past + started("X", 1)),
        accepted(run.past + started("A", 1)),
        unfinished(run.past.until(2)),
    )
    assert broken(CountsFromZero, wrong) == "RUN-030"
    assert broken(CallsEverythingCorrupt, wrong) == ""
    assert broken(CallsEveryHistoryWhole, right) == ""
    assert broken(CallsEveryHistoryWhole, cut) == "RUN-008"
    assert broken(RefusesWhatIsNotWhole, cut) == "RUN-008"


def test_a_batch_that_a_kernel_would_not_accept_itself_breaks_what_is_said_of_commands() -> None:
    run = Run("AB", ["A>B"])
    run.start("A")
    (question,) = asked(
        "EDG-008",
        gives(run.past, complete("A", 1), "NodeOutcomeCommitted A succeeded", "TransitionActivated 0"),
    )
    assert broken(LeavesConsequencesToOthers, question) == "RUN-006"


class RefusesAcquisitions(ReferenceKernel):
    """Reduces and restores no history in which somebody takes a run over."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if isinstance(event, RecoveryAcquired):
            corrupt("stale_epoch", "nobody takes anything over")
        return super().step(state, event, version)

    def recovered(self, shown: Shown) -> Recovered:
        if any("RecoveryAcquired" in envelope.body for envelope in shown.records):
            corrupt("stale_epoch", "nobody takes anything over")
        return super().recovered(shown)


def test_a_sound_snapshot_an_unsound_one_and_no_snapshot_are_three_matters() -> None:
    run = Run(["A", node("B", "A")])
    run.run("A")
    right = kept(run.past)
    sound, unsound, cut = asked(
        "SNP-011",
        restores(right.taken(3)),
        restores(right.taken(3, snapshot_schema_version=2)),
        refuses(right.taken(3).until(4), 5),
    )
    assert [broken(LeavesTheTailOut, question) for question in (sound, unsound, cut)] == ["SNP-010", "", ""]
    assert [broken(LosesARunOverItsSnapshot, question) for question in (sound, unsound, cut)] == ["", "SNP-021", ""]
    assert broken(TellsTheRecordBefore, cut) == "JRN-051"


def test_what_a_kernel_does_not_reduce_it_need_not_restore() -> None:
    run = Run("A")
    run.write(acquired(1, 1))
    right = kept(run.past)
    written, drawn = asked("JRN-047", restores(right))[0], Query(run.past.entries, shown=right.shown)
    assert broken(RefusesAcquisitions, written) == "beside the point"
    assert broken(RefusesAcquisitions, drawn) == "RUN-028"


def test_snapshots_are_shown_to_whoever_reads_records_and_claims_them() -> None:
    run = Run("A")
    right = kept(run.past)
    (alone,) = asked("JRN-047", restores(right))
    (with_one,) = asked("SNP-011", restores(right.taken(2)))
    claims = [Capabilities(records=True), Capabilities(snapshots=True), Capabilities(records=True, snapshots=True)]
    assert [can_be_asked(alone, each) for each in claims] == [True, False, True]
    assert [can_be_asked(with_one, each) for each in claims] == [False, False, True]


def test_what_is_not_claimed_is_not_asked() -> None:
    run = Run("A")
    (question,) = asked("RUN-029", gives(run.past, start("A", 1), "NodeStarted A"))
    assert can_be_asked(question, EVERYTHING)
    assert not can_be_asked(question, Capabilities(decide=True))
    assert not can_be_asked(question, Capabilities(codes=True))


def test_what_is_beside_every_point_is_told_in_the_end() -> None:
    judgement = REDUCER.judge(KERNELS.of(RefusesReleases), Options("quick", only=frozenset({"VER-007", "RUN-007"})))
    assert set(judgement.findings) <= {"RUN-007"}
    whole = REDUCER.judge(KERNELS.of(RefusesReleases), Options("quick", smaller=False))
    assert whole.findings


def test_what_is_drawn_is_the_same_for_one_seed_and_has_something_of_everything() -> None:
    drawn = draw_questions(40, 1)
    draw_questions.cache_clear()
    assert [question for question, _ in drawn] == [question for question, _ in draw_questions(40, 1)]
    assert {truth.error is None for _, truth in drawn} == {True, False}
    assert {type(truth.decided).__name__ for _, truth in drawn} == {"tuple", "Rejection", "NoneType"}


def test_batches_are_left_out_of_a_drawn_history() -> None:
    run = Run("ABC")
    for name in "AB":
        run.run(name)
    whole, rest = batches_of((run.past + ready("C")).entries)
    assert ([len(batch) for batch in whole], len(rest)) == ([4, 1, 1, 1, 1], 1)
    found = list(shorter((run.past + ready("C")).entries, is_decided=False))
    assert found
    assert all(len(history) < len(run.past) + 1 and history[-1] == rest[0] for history in found)
    assert all(truth_about(Query(history)).sequence == len(history) for history in found)


def test_a_program_restores_as_an_object_does(tmp_path: Path) -> None:
    path = "perdure_conformance.reducer.mutants.snapshots:ReadsFromTheSnapshotOn"
    serve = [sys.executable, "-m", "perdure_conformance.harness.serve"]
    command = shlex.join([*serve, "perdure_conformance.reducer.dispatch:Dispatcher", path])
    only = ("--depth", "quick", "--only", "SNP-022", "--only", "SNP-010", "--only", "JRN-040")
    done = perdure("check", "reducer", "--command", command, *only, cwd=tmp_path)
    assert done.returncode == 1
    assert "SNP-022" in done.stdout
    again = perdure("rerun", "perdure-report/failures/SNP-022", cwd=tmp_path)
    assert "It fails again, the same way." in again.stdout


@pytest.mark.parametrize("kernel", ["reducer.reference:ReferenceKernel", "reducer.mutants.endings:ReleasesTwice"])
def test_a_program_is_judged_as_an_object(tmp_path: Path, kernel: str) -> None:
    path = f"perdure_conformance.{kernel}"
    serve = [
        sys.executable,
        "-m",
        "perdure_conformance.harness.serve",
        "perdure_conformance.reducer.dispatch:Dispatcher",
    ]
    only = ("--depth", "quick", "--only", "RUN-028", "--only", "RUN-013")
    done = perdure("check", "reducer", "--command", shlex.join([*serve, path]), *only, cwd=tmp_path)
    as_object = perdure("check", "reducer", path, *only, cwd=tmp_path)
    assert done.returncode == as_object.returncode == (0 if kernel.endswith("ReferenceKernel") else 1)
    not_covered = json.loads((tmp_path / "perdure-report/report.json").read_text("utf-8"))["not_covered"]
    assert ("drawn runs: not played, since something failed before" in not_covered) == bool(done.returncode)
    if done.returncode:
        again = perdure("rerun", "perdure-report/failures/RUN-028", cwd=tmp_path)
        assert "It fails again, the same way." in again.stdout


class HasOneAttemptLess(ReferenceKernel):
    """Has 9,999 attempts where the document does not say how many."""

    rules = replace(RULES, exceeds=lambda usage, limit: exceeds(usage, 9_999 if limit == 10_000 else limit))


class HasOneAttemptMore(ReferenceKernel):
    """Has 10,001 attempts where the document does not say how many."""

    rules = replace(RULES, exceeds=lambda usage, limit: exceeds(usage, 10_001 if limit == 10_000 else limit))


def test_kernels_whose_default_attempts_end_one_too_early_or_too_late_are_found() -> None:
    (known,) = (known for known in all_scenarios() if known.requirement == "BUD-008" and known.is_heavy)
    right = known.sides[-1].question.history
    assert HasOneAttemptLess(Path(), "").reduce(right).sequence == len(right) - 3
    assert HasOneAttemptMore(Path(), "").reduce(right).sequence == len(right)
