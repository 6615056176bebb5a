"""What a check says to people: no text twice, and no spaces at the ends of lines that are piped."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.helpers import perdure

from perdure_conformance.journal.cases import JournalCase, PlayOf
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.journal.judge import judge
from perdure_conformance.journal.mutants import HasOneSnapshot
from perdure_conformance.reports.terminal import _told_once
from perdure_conformance.suite import Finding, Options


def finding(failure: str, *, actual: str, stderr: str = "") -> Finding:
    case = JournalCase(
        case_version=1,
        target={"name": "memory"},
        in_own_process=False,
        timeout_s=1.0,
        seed=1,
        plays=(PlayOf(0, ()),),
        failure=failure,
        expected="a",
        actual=actual,
    )
    return Finding(case=case, reproduced=True, found_by="x", answers=(), transcript="", stderr=stderr, seconds=0.0)


def test_what_was_told_of_one_failure_is_not_told_again_of_another() -> None:
    told: dict[str, str] = {}
    first, second, third = (
        _told_once(finding(failure, actual=actual, stderr="no disk"), Path(f"r/{failure}"), told)
        for failure, actual in (("JRN-001", "b"), ("JRN-002", "b"), ("JRN-003", "c"))
    )
    assert "actual    b" in first
    assert "stderr    no disk" in first
    assert second.startswith("JRN-002  ")
    assert second.endswith("are those of JRN-001.\nagain     perdure rerun r/JRN-002")
    assert "actual" not in second
    assert "actual    c" in third
    assert third.endswith("stderr    as of JRN-001, above")


def test_of_a_snapshot_that_is_not_the_runs_it_is_told_whose_it_is() -> None:
    options = Options("quick", only=frozenset({"SNP-002"}), parts=frozenset({"written"}))
    found = judge(JOURNALS.of(HasOneSnapshot), options).findings["SNP-002"]
    told = "\n".join(found.case.in_words(found.answers, whole=True))
    assert "load the snapshot of run 1  → the snapshot of run 0 at 1" in told


@pytest.mark.parametrize("words", [["doctor"], ["explain"], ["check", "--depth", "quick", "--only", "JRN-001"]])
def test_no_line_that_is_piped_ends_with_a_space(words: list[str], tmp_path: Path) -> None:
    lines = perdure(*words, cwd=tmp_path).stdout.splitlines()
    assert lines
    assert [line for line in lines if line != line.rstrip()] == []


def test_what_was_judged_in_part_is_not_told_as_the_whole(tmp_path: Path) -> None:
    told = perdure("check", "--depth", "quick", "--only", "JRN-001", cwd=tmp_path).stdout
    assert "CONFORMANT IN WHAT WAS SELECTED  " in told
    assert "\nNot judged: only a part was selected.\nNot covered:\n" in told
    assert "\n  all that was not selected\n" in told
