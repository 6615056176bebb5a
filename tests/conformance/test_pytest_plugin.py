"""The plugin and the class to subclass, each in a pytest of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from perdure_conformance.profiles import PROFILES

CLASS = """
from perdure_conformance.testing import Conformance

class TestIt(Conformance):
    target = {target!r}
    {more}
"""
PLUGIN = "perdure_conformance.pytest_plugin"
IS_FOUND = any(each.value == PLUGIN for each in entry_points(group="pytest11"))
BY_NAME = () if IS_FOUND else ("-p", PLUGIN)
"""How it is named where it is imported from a checkout, and not installed."""
MUTANT = "perdure_conformance.journal.mutants:DropsNul"
JOURNAL = [requirement.id for requirement in PROFILES["journal"].requirements()]


def outcome_of(folder: Path, target: str | list[str], *words: str, more: str = "pass") -> tuple[int, str]:
    folder.joinpath("test_it.py").write_text(CLASS.format(target=target, more=more))
    command = (sys.executable, "-m", "pytest", "-rsfx", "-p", "no:cacheprovider", *BY_NAME, "-W", "error", *words)
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(
        command, check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def report_in(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(folder.joinpath("kept", "TestIt", "report.json").read_text())
    return report


def test_a_good_journal_passes_and_what_is_not_covered_is_told(tmp_path: Path) -> None:
    code, told = outcome_of(tmp_path, "memory", "--perdure-report", "kept", "--perdure-seed", "7")
    assert code == 0, told
    verdicts = [each["verdict"] for each in report_in(tmp_path)["requirements"]]
    assert f"{verdicts.count('pass') + 1} passed, {len(JOURNAL) - verdicts.count('pass')} skipped" in told
    assert "perdure: TestIt" in told
    assert f"memory 1: level {report_in(tmp_path)['level']}" in told
    assert "not covered: durable: not claimed" in told
    assert (report_in(tmp_path)["seed"], report_in(tmp_path)["depth"]) == (7, "quick")


def test_a_broken_requirement_is_a_test_that_fails_with_its_case(tmp_path: Path) -> None:
    code, told = outcome_of(tmp_path, MUTANT, "--perdure-report", "kept")
    assert code == 1
    assert "2 failed" in told
    assert "FAILED test_it.py::TestIt::test_requirement[JRN-002]" in told
    assert "broken: JRN-002" in told
    assert "again     perdure rerun kept/TestIt/failures/JRN-002" in told


def test_what_is_expected_to_fail_does_and_what_passes_all_the_same_fails(tmp_path: Path) -> None:
    known = tmp_path / "known.yaml"
    known.write_text("- {requirement: JRN-002, reason: it is known}\n")
    code, told = outcome_of(tmp_path, MUTANT, more="expected_failures = 'known.yaml'")
    assert code == 0, told
    assert "XFAIL test_it.py::TestIt::test_requirement[JRN-002] - it is known" in told
    known.write_text("- {requirement: JRN-001, reason: it is known}\n")
    code, told = outcome_of(tmp_path, "memory", more="expected_failures = 'known.yaml'")
    assert code == 1
    assert "known.yaml:1: JRN-001 is expected to fail, and passes: remove the entry." in told


def test_a_program_is_judged_by_its_command(tmp_path: Path) -> None:
    served = ["perdure_conformance.journal.dispatch:Dispatcher", "perdure.journal.lines:LinesJournal"]
    code, told = outcome_of(tmp_path, [sys.executable, "-m", "perdure_conformance.harness.serve", *served])
    assert code == 0, told
    assert "level" in told


def test_two_classes_of_one_name_keep_a_report_each(tmp_path: Path) -> None:
    (tmp_path / "test_another.py").write_text(CLASS.format(target=["./not-there"], more="pass"))
    code, _ = outcome_of(tmp_path, ["./not-there"], "-k", "verdict", "--perdure-report", "kept")
    assert code == 1
    kept = sorted(path.parent.name for path in tmp_path.glob("kept/*/report.json"))
    assert kept == ["TestIt", "test_it.TestIt"]


def test_a_name_makes_no_line_of_its_own(tmp_path: Path) -> None:
    adapter = tmp_path / "adapter.py"
    opened = {"protocol": 1, "name": "x\nnot covered: nothing", "version": "1", "capabilities": {}}
    limits = {"max_batch_records": 1, "max_batch_bytes": 1, "max_snapshot_bytes": 1}
    reply = json.dumps({"jsonrpc": "2.0", "id": "h-1", "result": {**opened, "limits": limits}})
    adapter.write_text(f"input()\nprint({reply!r}, flush=True)\n")
    _, told = outcome_of(tmp_path, [sys.executable, "-S", str(adapter)], "-k", "verdict")
    assert "\nx not covered: nothing 1: level none\n" in told


def test_a_fault_is_no_verdict_and_fails(tmp_path: Path) -> None:
    code, told = outcome_of(tmp_path, [sys.executable, "-c", "print('hello')"])
    assert code == 1
    assert "passed" not in told
    assert "FAILED test_it.py::TestIt::test_it_opens_and_comes_to_a_verdict" in told


def test_wrong_settings_are_one_sentence(tmp_path: Path) -> None:
    code, told = outcome_of(tmp_path, "oracle")
    assert code == 1
    assert "perdure: There is no journal called 'oracle'" in told
    code, told = outcome_of(tmp_path, "memory", more="profile = 'runtime'")
    assert code != 0
    assert "There is no profile 'runtime'. What there is: journal, spec, reducer." in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("target", "more", "words", "said"),
    [
        ([], "pass", (), "TestIt.target names nobody"),
        ("", "pass", (), "TestIt.target names nobody"),
        ("memory", "del target", (), "TestIt.target names nobody"),
        ("memory", "depth = 'bottomless'", (), "The depth is 'bottomless': give one of quick, normal, deep."),
        ("memory", "timeout_s = 0", (), "TestIt.timeout_s is 0: give 0.05 to 3,600 seconds."),
        ("memory", "pass", ("--perdure-seed=-1",), "The seed is -1: give an integer"),
        ("memory", "pass", ("--perdure-report=/dev/null/x",), "/dev/null/x/TestIt cannot be written: Not a directory."),
    ],
)
def test_a_setting_that_says_nothing_is_told_and_nothing_is_judged(
    tmp_path: Path, target: str | list[str], more: str, words: tuple[str, ...], said: str
) -> None:
    code, told = outcome_of(tmp_path, target, "-k", "verdict", *words, more=more)
    assert code == 1
    assert f"perdure: {said}" in told
    assert "report:" not in told
    assert "another exception" not in told
