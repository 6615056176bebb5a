"""`perdure crash`, and what it leaves: the verdicts, the line and the folder that play a finding again."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from perdure.journal.contract import Capabilities
from perdure_conformance import data
from perdure_conformance.cli import command_line
from perdure_conformance.crash import campaign
from perdure_conformance.crash.findings import Layer
from perdure_conformance.crash.judge import AFTER_A_FAILED_SYNC
from perdure_conformance.crash.mutants import MUTANTS
from perdure_conformance.crash.recording import why_not_disturbed
from perdure_conformance.crash.recovery import recoverer, scratch
from perdure_conformance.crash.replay import parse
from perdure_conformance.crash.windows import Windows
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.journal.profile import JOURNAL
from perdure_conformance.profiles import WITH_CRASHES
from perdure_conformance.suite import say_nothing
from perdure_conformance.verdict import Verdict

pytestmark = pytest.mark.skipif(why_not_disturbed() is not None, reason=f"{why_not_disturbed()}")

TARGET = "perdure_conformance.crash.mutants:NeverSyncs"
FEW = ["--layer", "power", "--appends", "2", "--seed", "7"]


def schema(name: str) -> dict[str, object]:
    kept: dict[str, object] = json.loads((data.schemas() / f"{name}.json").read_text("utf-8"))
    return kept


def crash(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(command_line(), ["crash", *words])
    return done.exit_code, done.stdout if "--json" in words else done.output


def verdicts(document: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in document["requirements"]}


def test_what_is_found_plays_again_from_its_line_and_its_folder(tmp_path: Path) -> None:
    code, told = crash(TARGET, *FEW, "--report", str(tmp_path))
    assert code == 1
    assert "acknowledgement 1 is not covered: write perdure.log@0+" in told
    assert "NOT CONFORMANT  NeverSyncs" in told
    assert "level     ordered; nothing was found at process-crash" in told
    document = json.loads((tmp_path / "report.json").read_text("utf-8"))
    Draft202012Validator(schema("report-1")).validate(document)
    assert verdicts(document)["CRS-001"] == "pass"
    assert verdicts(document)["CRS-011"] == verdicts(document)["CRS-031"] == "fail"
    assert {path.name for path in tmp_path.iterdir()} >= {"report.html", "junit.xml", "summary.md"}
    assert "acknowledgement 1 is not covered" in (tmp_path / "junit.xml").read_text("utf-8")

    folder = tmp_path / "failures/CRS-011"
    case = json.loads((folder / "case.json").read_text("utf-8"))
    Draft202012Validator(schema("case-1")).validate(case)
    code, told = crash(TARGET, "--replay", case["line"], "--json")
    assert (code, json.loads(told)["blame"]) == (1, case["blame"])
    code, told = crash("perdure_conformance.crash.journals:Appends", "--replay", case["line"])
    assert (code, told) == (
        3,
        (
            "perdure: The trace diverged: the journal did not make the calls that it made then. "
            "If it was changed, crash it anew, without --replay.\n"
        ),
    )

    with tarfile.open(folder / "state.tar.gz") as tar:
        assert tar.getnames() == ["perdure.log"]
    done = CliRunner().invoke(command_line(), ["rerun", str(folder)])
    assert done.exit_code == 1
    assert "It fails again, the same way." in done.output
    assert "actual    records 1 to " in done.output
    for member, value in (("rule", "what"), ("state", "AAAA"), ("asked", [{**case["asked"][1], "params": {}}])):
        (folder / "case.json").write_text(json.dumps({**case, member: value}), "utf-8")
        assert CliRunner().invoke(command_line(), ["rerun", str(folder)]).exit_code == 2, member
    crash("files-write", *FEW, "--report", str(tmp_path))
    assert not folder.exists()


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs/crash.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    _, told = crash(TARGET, "--layer", "power", "--appends", "2")
    shown = page.partition("\n✗ CRS-011")[2].partition("\n```")[0]
    assert "again     perdure rerun" in shown
    assert f"\n✗ CRS-011{shown}\n" in told


def test_what_does_not_claim_a_level_is_told_of_it_and_not_accused(tmp_path: Path) -> None:
    code, told = crash("files-write", *FEW, "--report", str(tmp_path), "--json")
    document = json.loads(told)
    assert code == document["exit_code"] == 0
    assert verdicts(document)["CRS-011"] == "not_claimed"
    assert any(each.startswith("calls: killed behind each call") for each in document["not_covered"])
    assert any(
        each.startswith("durable=ordered: not claimed, and it does not hold: acknowledgement 1 is not covered: rename")
        for each in document["not_covered"]
    )
    code, told = crash("files-write", *FEW, "--report", str(tmp_path), "--level", "ordered", "--json")
    assert (code, verdicts(json.loads(told))["CRS-011"]) == (1, "fail")


ONLY = ["--only", "CRS-011", "--depth", "quick"]


def check(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(command_line(), ["check", "journal", *words])
    return done.exit_code, done.stdout if "--json" in words else done.output


def test_a_check_judges_crashes_at_the_level_that_is_claimed_if_it_is_asked_to(tmp_path: Path) -> None:
    code, told = check(TARGET, "--crash", *ONLY, "--report", str(tmp_path), "--json")
    document = json.loads(told)
    assert (code, verdicts(document)) == (1, {"CRS-011": "fail"})
    assert CliRunner().invoke(command_line(), ["rerun", document["requirements"][0]["case"]]).exit_code == 1
    code, told = check("files-write", "--crash", *ONLY, "--report", str(tmp_path), "--json")
    assert (code, verdicts(json.loads(told))) == (3, {"CRS-011": "not_claimed"})
    code, told = check("lines", "--crash", *ONLY, "--report", str(tmp_path), "--json")
    assert (code, verdicts(json.loads(told))) == (0, {"CRS-011": "pass"})
    code, told = check(TARGET, *ONLY, "--report", str(tmp_path))
    assert (code, told.splitlines()[0]) == (2, "perdure: There is no requirement CRS-011 of a journal. Add --crash.")
    assert CliRunner().invoke(command_line(), ["check", "spec", "--crash"]).exit_code == 2
    code, told = check("lines", "--crash", "--only", "CRS-051")
    assert (code, "`perdure explain CRS-051` tells how" in told) == (2, True)


def test_the_level_is_told_in_words_and_what_crashes_show_is_not_said_to_be_left_out() -> None:
    judged_as = WITH_CRASHES["journal"]
    claims = Capabilities(durable="sector")
    passed: dict[str, Verdict] = {
        each.id: "pass" if judged_as.rules.is_claimed(each, claims, in_process=True) else "not_claimed"
        for each in judged_as.requirements()
    }
    assert {key for key, verdict in passed.items() if key.startswith("CRS-") and verdict == "not_claimed"} == {
        "CRS-031",
        "CRS-032",
        "CRS-033",
        "CRS-034",
    }
    assert judged_as.level(claims, passed).endswith(", durable at sector")
    assert "power loss" in " ".join(JOURNAL.not_covered(claims, passed))
    asked_for = "durable=sector: claimed, and judged here at process-crash: add --crash to be judged at it"
    assert asked_for in JOURNAL.not_covered(claims, passed)
    assert "--crash" not in " ".join(judged_as.not_covered(claims, passed))
    assert "power loss" not in " ".join(judged_as.not_covered(claims, passed))


def test_a_machine_that_does_not_allow_it_gives_no_verdict_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "System calls cannot be watched on this machine: it is asleep."
    monkeypatch.setattr("perdure_conformance.crash.campaign.why_not", lambda: reason)
    monkeypatch.setattr("perdure_conformance.crash.windows.why_not_disturbed", lambda: reason)
    code, told = check("lines", "--crash", "--only", "CRS-001,CRS-011", "--report", str(tmp_path), "--json")
    document = json.loads(told)
    assert (code, verdicts(document)) == (3, {"CRS-001": "inconclusive", "CRS-011": "inconclusive"})
    assert {row["why"] for row in document["requirements"]} == {reason}


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
    assert {key for key, verdict in verdicts(document).items() if verdict != "pass"} == {"CRS-042"}
    case = json.loads((tmp_path / "failures/CRS-042/case.json").read_text("utf-8"))
    assert case["blame"].startswith("fsync 3 failed, and acknowledgement 1 is not covered: write perdure.log@0+")
    assert ":err/fsync#3=EIO+power/ordered:" in case["line"]
    code, told = crash(mutant, "--replay", case["line"], "--json")
    assert (code, json.loads(told)["blame"]) == (1, case["blame"])
    words = ["--layer", "power", "--appends", "1", "--workload", "append", "--level", "ordered"]
    code, told = crash("lines", *words, "--report", str(tmp_path), "--json")
    assert (code, verdicts(json.loads(told))["CRS-042"]) == (0, "pass")


@pytest.mark.parametrize(
    ("name", "layer", "appends", "fewest"),
    [
        ("NeverSyncs", "power", 4, 1),
        ("AcknowledgesBeforeTheSync", "power", 2, 1),
        ("DoesNotSyncTheDirectoryItRenamesIn", "power", 2, 1),
        ("AcknowledgesAlthoughTheSyncFailed", "power", 2, 1),
        ("SyncsTheDirectoryForItsFirstRunAlone", "power", 4, 3),
        ("CutsOffWhatWasAcknowledged", "calls", 2, 1),
    ],
)
def test_a_case_has_as_few_appends_as_show_it(name: str, layer: Layer, appends: int, fewest: int) -> None:
    mutant = MUTANTS[name]
    level = None if mutant.breaks == AFTER_A_FAILED_SYNC else campaign.level_of(mutant.breaks)
    plan = campaign.Plan(layers=[layer], level=level, workload="append", appends=appends, until=mutant.breaks)
    found = campaign.crash(mutant.target, plan, say_nothing).found[mutant.breaks]
    replay = parse(found.replay)
    assert replay.workload.appends == fewest
    again = campaign.play(mutant.target, replay, 10)
    assert again is not None
    assert (again.requirement, again.blame) == (found.requirement, found.blame)


def test_a_recovery_from_a_power_cut_is_killed_at_each_of_its_calls() -> None:
    target = JOURNALS.find("tests.conformance.rewriting_journal:WritesItsLogAnew")
    outcome = campaign.crash(target, campaign.Plan(layers=["power"], appends=2, workload="append"), say_nothing)
    assert (outcome.highest_level, outcome.found) == ("posix-weak", {})
    assert outcome.workload is not None
    with scratch() as folder, recoverer(target, 10) as opened:
        windows = Windows(target, outcome.workload, opened, folder, 10)
        assert not campaign.disturb_recoveries(windows, outcome, say_nothing)
    found = outcome.found["CRS-021"]
    assert outcome.highest_level == "ordered"
    assert found.blame.startswith("after a power cut at sector, in the recovery, killed just behind call ")
    assert "(truncate perdure.log to 0)" in found.blame
    assert found.sentence == "records 1 to 3, acknowledged, cannot be found any more"
    again = campaign.play(target, parse(found.replay), 10)
    assert again is not None
    assert (again.requirement, again.blame) == (found.requirement, found.blame)
