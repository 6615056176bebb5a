from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.helpers import perdure

from perdure_conformance.checking import terms_of
from perdure_conformance.expectations import expected_in
from perdure_conformance.lint.files import FileRefused, read
from perdure_conformance.profiles import PROFILES, WITH_CRASHES
from perdure_conformance.requirements import registered, requirements
from perdure_conformance.terms import Entry, Expected, in_grace, surprises

MUTANTS = "perdure_conformance.journal.mutants"
NOT_HERE = "known.yaml:1:16: {} is no requirement that is judged here: "
ONE = "- requirement: JRN-007\n  reason: The nightly repair removes it.\n"
PASSES = "- {requirement: JRN-021, link: https://tracker.example/1}\n"


def checked(folder: Path, mutant: str, known: str | None, *more: str) -> tuple[int, dict[str, Any], str]:
    folder.joinpath("known.yaml").write_text(known or "[]")
    words = ("check", "journal", f"{MUTANTS}:{mutant}", "--depth", "quick", "--only", "JRN-007,JRN-021")
    done = perdure(*words, "--expected-failures", "known.yaml", *more, cwd=folder)
    report: dict[str, Any] = json.loads(folder.joinpath("perdure-report", "report.json").read_text())
    return done.returncode, report, done.stdout


def test_a_failure_that_is_expected_does_not_count_and_nobody_is_called_conformant(tmp_path: Path) -> None:
    code, report, told = checked(tmp_path, "KeepsTheLoser", ONE)
    assert (code, report["outcome"], report["exit_code"], report["surprises"]) == (0, "as_expected", 0, [])
    (broken,) = [each for each in report["requirements"] if each["verdict"] == "fail"]
    assert broken["excuse"] == {"kind": "expected", "why": "The nightly repair removes it."}
    assert "fail, expected" in told
    assert "\nNOT CONFORMANT, AS EXPECTED  memory 1" in told
    assert "Level" not in told


def test_an_unexpected_pass_fails_and_names_the_line(tmp_path: Path) -> None:
    code, report, told = checked(tmp_path, "KeepsTheLoser", ONE + PASSES)
    assert (code, report["outcome"]) == (1, "not_conformant")
    assert report["surprises"] == [
        {
            "id": "JRN-021",
            "kind": "passes",
            "sentence": "known.yaml:3: JRN-021 is expected to fail, and passes: remove the entry.",
        }
    ]
    assert "known.yaml:3: JRN-021 is expected to fail, and passes" in told
    assert ": 1 pass, 1 fail; of 2 expected failures, 1 is not as expected." in told


def test_what_is_mended_and_still_expected_to_fail_is_told_once(tmp_path: Path) -> None:
    _, broken, _ = checked(tmp_path, "KeepsTheLoser", ONE)
    _, mended, _ = checked(tmp_path, "DropsNul", ONE)
    for name, report in (("before.json", broken), ("after.json", mended)):
        (tmp_path / name).write_text(json.dumps(report), "utf-8")
    told = perdure("diff", "before.json", "after.json", cwd=tmp_path).stdout.splitlines()
    (line,) = [line for line in told if line.startswith(("  worse ", "  better ")) and "JRN-007" in line]
    assert line.startswith("  worse    JRN-007  known.yaml:1: JRN-007 is expected to fail, and passes")


def test_what_was_not_selected_says_nothing(tmp_path: Path) -> None:
    code, report, _ = checked(tmp_path, "KeepsTheLoser", ONE + "- {requirement: JRN-001, reason: unseen}\n")
    assert (code, report["surprises"]) == (0, [])


def test_another_answer_than_the_one_that_is_known_is_told(tmp_path: Path) -> None:
    code, report, _ = checked(tmp_path, "KeepsTheLoser", ONE + "  actual: {refused: held}\n")
    assert (code, [each["kind"] for each in report["surprises"]]) == (1, ["otherwise"])
    assert "excuse" not in next(each for each in report["requirements"] if each["id"] == "JRN-007")
    (broken,) = [each for each in report["requirements"] if each["verdict"] == "fail"]
    actual = json.loads(Path(tmp_path, broken["case"], "case.json").read_text())["actual"]
    code, report, _ = checked(tmp_path, "KeepsTheLoser", ONE + f"  actual: {json.dumps(actual)}\n")
    assert (code, report["surprises"]) == (0, [])


def test_what_is_known_may_be_a_part_of_the_answer() -> None:
    entry = Entry(requirement="JRN-002", reason="known", actual={"records": [{"sequence": 1}], "end": True})
    known = {"JRN-002": Expected(entry, "known.yaml:1")}
    answer = {"records": [{"sequence": 1, "event_id": "some"}], "end": True}
    assert surprises(known, {"JRN-002": "fail"}, {"JRN-002": answer}) == ()
    for other in ({**answer, "end": 1}, {**answer, "records": []}, {"end": True}, None):
        (surprise,) = surprises(known, {"JRN-002": "fail"}, {"JRN-002": other})
        assert surprise.kind == "otherwise"


def test_without_terms_a_report_says_none(tmp_path: Path) -> None:
    code, report, _ = checked(tmp_path, "KeepsTheLoser", None, "--pinned", "0.1")
    assert (code, report["outcome"], report["pinned"]) == (1, "not_conformant", "0.1")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- requirement: JRN-*\n  reason: x\n", "known.yaml:1:16: `JRN-*` has not the form"),
        ("- requirement: JRN-007\n", "known.yaml:1:3: The entry says neither why"),
        ("- requirement: JRN-007\n  reason: '  '\n", "known.yaml:1:3: The entry says neither why"),
        ("- requirement: JRN-007\n  link: javascript:alert(1)\n", "known.yaml:2:9: `javascript:alert(1)` has not"),
        (
            "- requirement: SPC-017\n  reason: x\n",
            "known.yaml:1:16: SPC-017 is no requirement that is judged here: `perdure check spec` judges it; remove",
        ),
        ("- requirement: CRS-051\n  reason: x\n", f"{NOT_HERE.format('CRS-051')}`perdure crash` judges it, and"),
        ("- requirement: TOL-001\n  reason: x\n", f"{NOT_HERE.format('TOL-001')}`perdure selftest` judges perdure"),
        ("- requirement: JRN-999\n  reason: x\n", f"{NOT_HERE.format('JRN-999')}`perdure explain` lists"),
        (ONE + ONE, "known.yaml:3:16: JRN-007 stands in"),
        ("- requirement: JRN-007\n  because: x\n", "known.yaml:2:12: "),
        ("{}", "known.yaml:1:1: Write an array here"),
        ("- &a {requirement: JRN-007, reason: x}\n- *a\n", "known.yaml:1:3: "),
    ],
)
def test_a_file_that_says_something_else_is_refused_at_its_place(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    path.write_text(text)
    with pytest.raises(FileRefused) as raised:
        expected_in(read(str(path)), PROFILES["journal"])
    assert str(raised.value).removeprefix(f"{tmp_path}/").startswith(told)


def test_one_file_serves_checks_by_crashes_and_those_without(tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    path.write_text(ONE + "- {requirement: CRS-023, reason: A power cut loses the last record.}\n")
    for profile in (PROFILES["journal"], WITH_CRASHES["journal"]):
        expected = terms_of(profile, str(path), None).expected
        assert list(expected) == ["JRN-007", "CRS-023"]
    assert surprises(expected, {"JRN-007": "fail"}, {}) == ()
    (surprise,) = surprises(expected, {"JRN-007": "fail", "CRS-023": "pass"}, {})
    assert (surprise.requirement, surprise.kind) == ("CRS-023", "passes")


def test_no_other_profile_knows_what_crashes_show(tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    path.write_text("- {requirement: CRS-023, reason: x}\n")
    with pytest.raises(FileRefused, match="`perdure check journal --crash` judges it; remove the entry"):
        expected_in(read(str(path)), PROFILES["spec"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--expected-failures", "none.yaml"), "none.yaml cannot be read"),
        (("--expected-failures", "/dev/null"), "/dev/null is a pipe or a device: name a file.\n"),
        (("--pinned", "99.0"), "the releases are 0.1 to"),
        (("--pinned", "0.0"), "the releases are 0.1 to"),
        (("--pinned", "latest"), "MAJOR.MINOR"),
    ],
)
def test_wrong_terms_are_wrong_usage(words: tuple[str, str], told: str, tmp_path: Path) -> None:
    done = perdure("check", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_requirement_says_with_which_release_it_came() -> None:
    page = "**JRN-900** It holds.\n- Claim: `core`\n- Source: here\n- Since: 0.2\n"
    requirement = registered({"page.md": page})["JRN-900"]
    assert requirement.since == "0.2"
    assert in_grace(requirement, "0.1", "0.2")
    assert not in_grace(requirement, "0.1", "0.3")
    assert not in_grace(requirements()["JRN-007"], "0.1", "0.2")
