"""`perdure crash`, and what it leaves: the verdicts, the line and the folder that play a finding again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from perdure_conformance import data
from perdure_conformance.cli import app
from perdure_conformance.crash.recording import why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"{why_not()}")

TARGET = "perdure_conformance.crash.mutants:NeverSyncs"
FEW = ["--layer", "power", "--appends", "2", "--seed", "7"]


def schema(name: str) -> dict[str, object]:
    kept: dict[str, object] = json.loads((data.schemas() / f"{name}.json").read_text("utf-8"))
    return kept


def crash(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["crash", *words])
    return done.exit_code, done.output


def test_what_is_found_plays_again_from_its_line_and_its_folder(tmp_path: Path) -> None:
    code, told = crash(TARGET, *FEW, "--report", str(tmp_path))
    assert code == 1
    assert "acknowledgement 1 is not covered: write perdure.log@0+" in told
    assert "NOT CONFORMANT  at posix-weak" in told
    assert "holds at  process-crash" in told
    document = json.loads((tmp_path / "crash-report.json").read_text("utf-8"))
    Draft202012Validator(schema("crash-report-1")).validate(document)
    assert document["verdicts"]["CRS-001"] == "pass"
    assert document["verdicts"]["CRS-011"] == document["verdicts"]["CRS-031"] == "fail"
    finding = next(each for each in document["findings"] if each["requirement"] == "CRS-011")

    code, told = crash(TARGET, "--replay", finding["replay"], "--json")
    assert (code, json.loads(told)["blame"]) == (1, finding["blame"])
    code, told = crash("perdure_conformance.crash.journals:Appends", "--replay", finding["replay"])
    assert (code, told) == (
        3,
        "perdure: The trace diverged: the journal did not make the calls that it made then.\n",
    )

    folder = tmp_path / "failures/CRS-011"
    done = CliRunner().invoke(app, ["rerun", str(folder)])
    assert done.exit_code == 1
    assert "It fails again, in the same way: records 1 to " in done.output
    words = json.loads((folder / "crash.json").read_text("utf-8"))
    Draft202012Validator(schema("crash-1")).validate(words)
    (folder / "crash.json").write_text(json.dumps({**words, "rule": "what"}), "utf-8")
    assert CliRunner().invoke(app, ["rerun", str(folder)]).exit_code == 2


def test_what_does_not_claim_a_level_is_told_of_it_and_not_accused(tmp_path: Path) -> None:
    code, told = crash("files-write", *FEW, "--report", str(tmp_path), "--json")
    document = json.loads(told)
    assert code == document["exit_code"] == 0
    assert (document["claimed"], document["highest_level"]) == ("process-crash", "process-crash")
    assert document["verdicts"]["CRS-011"] == "not_claimed"
    assert any("calls: killed behind each call" in each for each in document["not_claimed"])
    code, told = crash("files-write", *FEW, "--report", str(tmp_path), "--level", "ordered")
    assert code == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["sqlite", "--layer", "luck"], "There is no layer 'luck'. What there is: calls, power."),
        (["sqlite", "--workload", "all"], "There is no workload 'all'."),
        (["none"], "There is no journal called 'none'."),
        (["sqlite", "--replay", "v1:what"], "'what' in 'v1:what' does not say what is asked"),
    ],
)
def test_wrong_words_are_told(words: list[str], sentence: str) -> None:
    code, told = crash(*words)
    assert code == 2
    assert sentence in told


def test_a_sync_that_failed_covers_nothing_and_a_journal_that_says_so_is_not_accused(tmp_path: Path) -> None:
    mutant = "perdure_conformance.crash.mutants:AcknowledgesAlthoughTheSyncFailed"
    code, told = crash(mutant, *FEW, "--report", str(tmp_path), "--json")
    document = json.loads(told)
    assert code == 1
    assert {key for key, verdict in document["verdicts"].items() if verdict != "pass"} == {"CRS-042"}
    (finding,) = document["findings"]
    assert finding["blame"].startswith("fsync 3 failed, and acknowledgement 1 is not covered: write perdure.log@0+")
    assert ":err/fsync#3=EIO+power/ordered:" in finding["replay"]
    code, told = crash(mutant, "--replay", finding["replay"], "--json")
    assert (code, json.loads(told)["blame"]) == (1, finding["blame"])
    words = ["--layer", "power", "--appends", "1", "--workload", "append", "--level", "ordered"]
    code, told = crash("lines", *words, "--report", str(tmp_path), "--json")
    assert (code, json.loads(told)["verdicts"]["CRS-042"]) == (0, "pass")
