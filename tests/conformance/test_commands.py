"""The command line: exit codes, what is printed where, and what is left behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from tests.conformance.helpers import PERDURE, ROOT, perdure, perdure_here
from tests.conformance.histories import run

from perdure.journal.contract import Capabilities
from perdure_conformance import data
from perdure_conformance.cli import meant_by
from perdure_conformance.cli.progress import tracked
from perdure_conformance.journal.claims import CLAIMS, PAGES, woken_by
from perdure_conformance.reducer.profile import REDUCER
from perdure_conformance.reducer.scenarios import all_scenarios
from perdure_conformance.requirements import requirements_of

MUTANTS = "perdure_conformance.journal.mutants"
EXAMPLES = ROOT / "conformance/examples"
NODE_JOURNAL = EXAMPLES / "node-journal/adapter.mjs"


def report_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(done.stdout)
    schema = json.loads((data.schemas() / "report-1.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    return document


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in report["requirements"]}


def test_check_alone_judges_the_embedded_default_and_reaches_all_that_it_claims(tmp_path: Path) -> None:
    done = perdure("check", "--depth", "quick", "--json", cwd=tmp_path)
    report = report_of(done)
    assert done.returncode == 0
    assert report["target"]["name"] == "sqlite"
    assert set(verdicts(report).values()) == {"pass", "not_claimed"}
    of_formats = {requirement.id for requirement in requirements_of({"formats.md"})}
    not_claimed = {key for key, verdict in verdicts(report).items() if verdict == "not_claimed"}
    assert not_claimed == {"JRN-022", "JRN-026", "SNP-004"} | of_formats
    assert report["level"] == "Workflow journal with snapshots and fenced leases"
    assert report["counts"]["durable_operations"] <= 4_000
    assert json.loads((tmp_path / "perdure-report/report.json").read_text("utf-8")) == report


def test_a_journal_without_durability_is_no_workflow_journal(tmp_path: Path) -> None:
    report = report_of(perdure("check", "journal", "memory", "--depth", "quick", "--json", cwd=tmp_path))
    assert report["exit_code"] == 0
    assert report["level"] == "Core"
    assert "durable: not claimed" in report["not_covered"]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed: its example is not covered")
def test_the_example_in_node_is_conformant(tmp_path: Path) -> None:
    done = perdure("check", "journal", "--command", f"node {NODE_JOURNAL}", "--depth", "quick", "--json", cwd=tmp_path)
    report = report_of(done)
    assert done.returncode == 0
    assert report["level"] == "Workflow journal"
    assert "not_reached" not in verdicts(report).values()


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed: its example is not covered")
def test_the_reducer_in_node_is_conformant(tmp_path: Path) -> None:
    adapter = EXAMPLES / "node-reducer/adapter.mjs"
    words = ("--command", f"node {adapter}", "--depth", "quick", "--generated", "200", "--json")
    done = perdure("check", "reducer", *words, cwd=tmp_path)
    report = report_of(done)
    assert done.returncode == 0
    assert (report["counts"]["generated histories"], report["counts"]["disagreements"]) == (200, 0)
    assert report["level"] == "Kernel with state, codes, jitter, records, snapshots"
    assert "not_reached" not in verdicts(report).values()


def test_the_example_in_python_is_conformant(tmp_path: Path) -> None:
    words = ("check", "journal", "lines_journal:LinesJournal", "--depth", "quick", "--report", str(tmp_path), "--json")
    report = report_of(perdure(*words, cwd=EXAMPLES / "python-journal"))
    assert report["exit_code"] == 0
    assert report["level"] == "Workflow journal"


SHOWN = [
    block.partition("```")[0].splitlines()
    for block in (ROOT / "README.md").read_text("utf-8").split("```\n$ perdure ")[1:]
]
"""What the README shows: a command, and lines of its output."""


@pytest.mark.parametrize("block", SHOWN, ids=[block[0].split()[0] for block in SHOWN])
def test_the_output_in_the_readme_is_real(tmp_path: Path, block: list[str]) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    command, *shown = block
    done = perdure(*command.split(), cwd=tmp_path)
    printed = iter([line.rstrip() for line in done.stdout.splitlines()])
    for line in shown:
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("…")))
        assert any(pattern.fullmatch(real) for real in printed), line


def test_the_readme_shows_a_check_a_lint_and_a_run() -> None:
    assert [block[0].split()[0] for block in SHOWN] == ["check", "lint", "simulate"]


@pytest.mark.parametrize(
    ("mutant", "blamed"), [("KeepsTheLoser", "JRN-007"), ("DropsNul", "JRN-002"), ("CommitsOnClose", "JRN-017")]
)
def test_a_broken_journal_is_told_by_name_and_fails_again_twice(tmp_path: Path, mutant: str, blamed: str) -> None:
    words = ("check", "journal", f"{MUTANTS}:{mutant}", "--depth", "quick", "--only", blamed, "--json")
    done = perdure(*words, cwd=tmp_path)
    report = report_of(done)
    assert done.returncode == 1
    assert verdicts(report) == {blamed: "fail"}
    folder = report["requirements"][0]["case"]
    assert {path.name for path in (tmp_path / folder).iterdir()} == {
        "case.json",
        "found.json",
        "failure.txt",
        "transcript.txt",
        "stderr.txt",
    }
    assert f"perdure rerun {folder}" in (tmp_path / folder / "failure.txt").read_text("utf-8")
    for name in ("case", "found"):
        schema = json.loads((data.schemas() / f"{name}-1.json").read_text("utf-8"))
        Draft202012Validator(schema).validate(json.loads((tmp_path / folder / f"{name}.json").read_text("utf-8")))
    first, second = (perdure("rerun", folder, "--json", cwd=tmp_path) for _ in range(2))
    assert first.returncode == second.returncode == 1
    assert first.stdout == second.stdout
    assert json.loads(first.stdout)["same"] is True


def test_a_case_that_was_mended_passes(tmp_path: Path) -> None:
    perdure("check", "journal", f"{MUTANTS}:KeepsTheLoser", "--depth", "quick", cwd=tmp_path)
    path = tmp_path / "perdure-report/failures/JRN-007/case.json"
    case = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**case, "target": {"name": "memory"}}), "utf-8")
    done = perdure("rerun", str(path.parent), cwd=tmp_path)
    assert done.returncode == 0
    assert "does not fail any more" in done.stdout


def test_a_check_says_that_it_removes_what_an_earlier_one_left(tmp_path: Path) -> None:
    words = ("check", "journal", f"{MUTANTS}:KeepsTheLoser", "--depth", "quick", "--only", "JRN-007")
    first = perdure(*words, cwd=tmp_path)
    second = perdure(*words, "--json", cwd=tmp_path)
    assert "removed" not in first.stderr
    removed, *progress = second.stderr.splitlines()
    assert removed == "perdure: removed 1 failure of an earlier check from perdure-report/failures."
    assert progress == [line for line in first.stderr.splitlines() if "removed" not in line]
    assert progress[0].startswith("perdure: scripts, 0 of ")
    assert len(progress) <= 4 * len({line.partition(",")[0] for line in progress})
    report_of(second)
    assert not perdure("--quiet", *words, "--report", "elsewhere", cwd=tmp_path).stderr


def test_what_is_done_piece_by_piece_tells_its_quarters_where_nobody_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(tracked("abcdefgh", "parts")) == list("abcdefgh")
    told = [f"perdure: parts, {done} of 8" for done in (0, 2, 4, 6)]
    assert capsys.readouterr().err.splitlines() == told
    monkeypatch.setenv("PERDURE_QUIET", "1")
    assert list(tracked("ab", "parts")) == list("ab")
    assert not capsys.readouterr().err


def test_an_empty_selection_is_no_pass(tmp_path: Path) -> None:
    words = ("check", "journal", "perdure_conformance.journal.twins:HasTheCoreOnly", "--only", "LSE-001")
    done = perdure(*words, cwd=tmp_path)
    assert done.returncode == 3
    assert "nothing that was selected is claimed" in done.stdout


def test_what_does_not_open_is_not_crashed_and_the_reason_is_told(tmp_path: Path) -> None:
    done = perdure_here("crash", "--command", "./nothere", cwd=tmp_path)
    assert done.returncode == 3
    assert "what went wrong: fault:cannot_start, './nothere' cannot be started: there is no such file" in done.stdout


def test_an_adapter_that_exits_is_at_fault_and_its_last_words_are_shown(tmp_path: Path) -> None:
    program = "import sys; sys.exit('no disk \\x1b[31m today')"
    command = f'{sys.executable} -c "{program}"'
    done = perdure("check", "journal", "--command", command, "--timeout", "5", cwd=tmp_path)
    assert done.returncode == 3
    assert "exited with code 1" in done.stdout
    assert "no disk \\x1b[31m today" in done.stdout
    assert "\x1b" not in done.stdout
    again = perdure("rerun", "perdure-report/failures/fault-exited", cwd=tmp_path)
    assert again.returncode == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "runtime"], "no profile"),
        (["check", "journal", "oracle"], "There is no journal called"),
        (["check", "journal", ""], "There is no journal called ''"),
        (["adapter", "smoke", ""], "There is no journal called ''"),
        (["check", "journal", "no.such:thing"], "cannot be imported"),
        (["check", "journal", "json:nothing"], "cannot be imported"),
        (["check", "journal", "json:__name__"], "not callable"),
        (["check", "journal", "sqlite", "--command", "x"], "not both"),
        (["check", "journal", "--command", ""], "empty"),
        (["check", "journal", "--command", "'"], "cannot be split"),
        (["check", "--only", "JRN-999"], "no requirement"),
        (["check", "--only", ""], "--only names nothing"),
        (["check", "--only", "TOL-001"], "no requirement"),
        (["check", "--only", "JRN-08"], "Did you mean JRN-008?"),
        (["check", "--only", "JNR-008"], "Did you mean JRN-008"),
        (["check", "--only", "SPC-012"], "Did you mean `perdure check spec --only SPC-012`?"),
        (["check", "--depth", "bottomless"], "depth"),
        (["check", "--timeout", "0"], "timeout"),
        (["check", "--report", "/dev/null/x"], "cannot be written"),
        (["check", "--report", "a\udcff"], "a\\udcff cannot be written: its name is no UTF-8"),
        (["check", "journal", "--command", "./a\udcff"], "'./a\\udcff' is no UTF-8"),
        (["rerun", "nowhere"], "cannot be read"),
        (["explain", "JRN-99"], "Did you mean"),
        (["explain", "\x1b[31m"], "Nothing is called"),
        (["explain", "lease"], "Did you mean leases, release?"),
        (["explain", "longest"], "It stands in the sentences of CHD-003."),
        (["explain", "acknowledged"], " and others."),
        (["explain", "zyzzyva"], "`perdure explain` lists the requirements."),
        (["selftest", "nothing"], "no profile"),
        (["selftest", "--full", "--quick"], "not both"),
        (["selftest", "--slice", "3"], "--slice belongs to --quick"),
        (["nonsense"], "nonsense"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])  # The current folder comes onto it.
    done = run(*words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "\x1b" not in done.stderr
    assert not done.stdout


def test_wrong_usage_is_the_same_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = perdure("check", "journal", "oracle", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("perdure: There is no journal called")
    assert len(done.stderr.splitlines()) == 1


UNKNOWN_OPERATION = (
    '{"case_version":1,"profile":"journal","target":{"name":"memory"},"in_own_process":false,"timeout_s":1,"seed":1,'
    '"plays":[{"number":1,"operations":[{"operation":"format the disk"}]}],"failure":"JRN-001"}'
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"case_version": 2}',
        "\x00",
        "[" * 100_000,
        '{"case_version":1,"case_version":1}',
        UNKNOWN_OPERATION,
    ],
)
def test_a_damaged_case_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "case.json").write_text(text, "utf-8")
    done = run("rerun", str(tmp_path))
    assert done.exit_code == 2
    assert "is no case" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("target", [{}, {"name": ""}, {"command": []}, {"command": "./adapter"}, {"name": ["memory"]}])
def test_a_case_that_names_nobody_is_played_with_nobody(tmp_path: Path, target: dict[str, Any]) -> None:
    case = {**json.loads(UNKNOWN_OPERATION), "target": target, "plays": [{"number": 1, "operations": []}]}
    (tmp_path / "case.json").write_text(json.dumps(case), "utf-8")
    done = run("rerun", str(tmp_path))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "names no target" in done.stderr or "There is no journal called ''" in done.stderr


def test_what_is_no_file_holds_no_case_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "case.json")
    (tmp_path / "endless").mkdir()
    (tmp_path / "endless" / "case.json").symlink_to("/dev/zero")
    for folder, why in (
        (tmp_path, "it is no file"),
        (tmp_path / "endless", "it is no file"),
        (tmp_path / ("a" * 5_000), "File name too long"),
    ):
        done = perdure("rerun", str(folder), cwd=tmp_path)
        assert done.returncode == 2
        assert f"cannot be read: {why}." in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", Capabilities.__struct_fields__)
def test_explain_tells_what_it_takes_to_claim_something(name: str, tmp_path: Path) -> None:
    told = json.loads(perdure_here("explain", name, "--json", cwd=tmp_path).stdout)["claim"]
    claim = CLAIMS[name]
    assert (told["name"], told["value"], told["duty"], told["step"]) == (name, claim.value, claim.duty, claim.step)
    assert told["requirements"]
    for value in re.findall(r'"([a-z0-9-]+)"|(true)', claim.value):
        document = {name: value[0] or True}
        assert msgspec.json.decode(json.dumps(document), type=Capabilities) != Capabilities()


def test_explain_tells_what_a_claim_wakes(tmp_path: Path) -> None:
    shown = perdure_here("explain", "multi_process", cwd=tmp_path).stdout
    assert 'A claim of a journal: "multi_process": true in the capabilities of its description.\n' in shown
    assert "  wakes     JRN-019, JRN-020, JRN-027, JRN-028, JRN-029, LSE-007\n" in shown
    assert "  silences  LSE-002, LSE-006\n" in perdure_here("explain", "lease_clock=store", cwd=tmp_path).stdout
    found = {each for name in CLAIMS for each in woken_by(name)}
    waived = {"core", "unclaimed", "tight_limits"}
    assert found == {each.id for each in requirements_of(PAGES) if each.claim not in waived}


def test_explain_knows_requirements_refusals_and_faults(tmp_path: Path) -> None:
    explained = json.loads(perdure_here("explain", "jrn-008", "--json", cwd=tmp_path).stdout)
    assert explained["id"] == "JRN-008"
    assert explained["claim"] == "exact_replay"
    assert "RefusesReplays" in [mutant["name"] for mutant in explained["mutants"]]
    assert explained["checks"]
    assert "actual_next" in perdure_here("explain", "sequence_conflict", cwd=tmp_path).stdout
    assert "time-out" in perdure_here("explain", "silence", cwd=tmp_path).stdout
    of_a_code = perdure_here("explain", "EDGE_FAN_IN", cwd=tmp_path).stdout
    assert "SPC-031" in of_a_code
    assert "activated once for each" in of_a_code
    of_both = json.loads(perdure_here("explain", "too_large", "--json", cwd=tmp_path).stdout)
    assert of_both["requirement"]["id"] == "SPC-001"
    assert "limits" in of_both["meaning"]
    assert "JRN-001" in perdure_here("explain", cwd=tmp_path).stdout


def test_explain_knows_the_methods_of_the_protocol(tmp_path: Path) -> None:
    told = perdure_here("explain", "append", cwd=tmp_path).stdout
    assert "It is given `run_id`, `expected_next`" in told
    assert "`sequence_conflict` (with `actual_next`)" in told
    assert perdure_here("explain", "initialize", cwd=tmp_path).stdout.count("A method of the protocol.") == 3


def test_explain_says_whose_a_meaning_is_where_several_have_one() -> None:
    lines = run("explain", "stale_epoch").stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["stale_epoch", "  of a journal", "  of a kernel"]
    of_a_code = run("explain", "too_large").stdout.splitlines()
    assert of_a_code[1].startswith("  of a journal: ")
    assert of_a_code[2].startswith("A problem of a specification")
    assert run("explain", "held").stdout.splitlines()[1].startswith("  A lease ")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("posix-weak", "a sync of the directory of each new or renamed file"),
        ("stateful machine", "sequences of operations that nobody wrote"),
        ("stateful machine with kill -9", "killed between operations"),
        ("drawn documents", "documents that nobody wrote"),
        ("drawn runs", "runs of specifications that nobody wrote"),
        ("golden vectors", "`fixtures/`"),
        ("generated histories", "`--generated N`"),
        ("layer power", "the power cut at each moment"),
        ("layer schedule", "several clients of a Python journal"),
    ],
)
def test_explain_knows_whatever_a_report_says_that_a_failure_was_found_by(word: str, said: str) -> None:
    shown = run("explain", word)
    assert shown.exit_code == 0
    assert said in shown.stdout


def test_explain_names_the_mutants_of_every_requirement_of_crashes() -> None:
    told = json.loads(run("explain", "--json").stdout)
    of_crashes = [each for each in told if each["page"] == "docs/spec/crash.md" and each["status"] == "in force"]
    assert len(of_crashes) > 20
    assert [each["id"] for each in of_crashes if not each["mutants"]] == []
    assert "breaks    CRS-052" in run("explain", "StoresAsItComes").stdout


def test_explain_names_the_theorems_that_a_requirement_leans_on() -> None:
    assert "journal.appends" in json.loads(run("explain", "JRN-004", "--json").stdout)["theorems"]
    shown = run("explain", "JRN-004").stdout
    assert "  theorem   journal.appends: " in shown


def test_explain_tells_what_a_check_does_and_what_a_mutant_breaks(tmp_path: Path) -> None:
    shown = perdure_here("explain", "kill -9 at once", cwd=tmp_path).stdout
    assert "JRN-017" in shown
    assert "\n  1. append " in shown
    assert ". kill -9 every process and start again\n" in shown
    told = json.loads(perdure_here("explain", "a thousand records over kill -9", "--json", cwd=tmp_path).stdout)
    assert "JRN-017" in told["requirements"]
    assert told["steps"]
    shown = perdure_here("explain", "CommitsOnClose", cwd=tmp_path).stdout
    assert "  breaks    JRN-017  What was acknowledged before the process is killed" in shown
    assert "Did you mean kill -9 at once" in perdure_here("explain", "kill -9 at onse", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("check", "noun", "requirement", "lines"),
    [
        (
            "a key stands twice, deep inside",
            "validator",
            "SPC-001",
            [
                r'  1. {.*"k":{"x":\[{"y":1,"y":1}\]}}}\]}',
                "     → refused: duplicate_key",
                r'  2. {.*"k":{"x":\[{"y":1,"z":1}\]}}}\]}',
                "     → valid",
            ],
        ),
        (
            "a delay that doubles, before attempt 64",
            "kernel",
            "RTY-005",
            [
                "  first, in each: RunCreated, NodeReady A, NodeStarted A, .*, and 302 more",
                r'  1. 315. {"type":"RetryScheduled","node":"A","next_attempt":64,"deadline_ms":53023}',
                "     → refused at 315, as corrupt",
                r'  2. 315. {"type":"RetryScheduled","node":"A","next_attempt":64,"deadline_ms":54023}',
                "     → accepted",
            ],
        ),
    ],
)
def test_explain_tells_what_a_check_asks_and_what_is_right(
    check: str, noun: str, requirement: str, lines: list[str]
) -> None:
    shown = run("explain", check).stdout.splitlines()
    assert shown[:2] == [check, f"A check of a {noun}, for {requirement}."]
    for line, pattern in zip(shown[2:], lines, strict=True):
        assert re.fullmatch(pattern, line), line
    told = json.loads(run("explain", check, "--json").stdout)
    assert (told["requirements"], told["steps"]) == ([requirement], [line.strip() for line in shown[2:]])


def test_explain_tells_each_kind_of_what_is_right() -> None:
    first = {type(each.sides[0].expected): each for each in reversed(all_scenarios())}
    told = "\n".join(line for each in first.values() for line in REDUCER.written()[each.name].steps())
    for right in ("accepted", "refused at ", "allowed: ", "rejected: ", "restored, as it is after event "):
        assert f"→ {right}" in told
    assert "a journal shows records 1, 2" in told


def test_doctor_says_what_is_not_claimed(tmp_path: Path) -> None:
    document = json.loads(perdure("doctor", "--json", cwd=tmp_path).stdout)
    assert document["sync_median_ms"] > 0
    assert document["not_claimed"]
    assert not list(tmp_path.iterdir())


def test_a_failure_is_played_again_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    for folder in (there, here):
        folder.mkdir()
    (there / "program.py").write_text("import sys\nsys.exit(5)\n", "utf-8")
    monkeypatch.chdir(there)
    words = ("--command", f"{sys.executable} program.py", "--depth", "quick", "--only", "JRN-001")
    assert run("check", "journal", *words).exit_code == 3
    monkeypatch.chdir(here)
    again = run("rerun", "../there/perdure-report/failures/fault-exited")
    assert again.exit_code == 3
    assert "It exited with code 5" in again.stdout
    assert again.stderr == f"perdure: program.py is not here, so it is played in {there}, where the check ran.\n"


def test_help_has_examples(tmp_path: Path) -> None:
    told = perdure("check", "--help", cwd=tmp_path).stdout
    assert "perdure check journal --command" in told
    assert "perdure check spec my_package.validator:open_validator" in told


def test_help_speaks_no_python_and_cuts_nothing() -> None:
    pages = [run("--help").stdout, run("adapter", "--help").stdout]
    names = re.findall(r"^  ([a-z]+)  ", "".join(pages), re.MULTILINE)
    assert {"check", "doctor", "smoke"} <= set(names)
    assert "..." not in "".join(pages).replace("[ARGS]...", "")
    commands = [meant_by(name).split()[1:] or [name] for name in names]
    pages += [run(*words, "--help").stdout for words in commands]
    for page in pages:
        assert not re.search(r"<(str|int|float|path|list)|TEXT|INTEGER|Annotated", page), page


def test_a_command_that_is_named_by_its_second_word_is_told_by_both() -> None:
    assert meant_by("smoke") == meant_by("smok") == "perdure adapter smoke"
    assert meant_by("export") == "perdure vectors export"
    assert meant_by("check") == meant_by("chekc") == meant_by("nothing") == meant_by("--help") == ""


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["chekc"], "Did you mean 'check'?"),
        (["adapter", "smok"], "Did you mean 'smoke'?"),
        (["check", "--dept", "quick"], "Possible options: --depth"),
    ],
)
def test_of_a_word_that_is_nearly_right_it_is_told_what_was_meant(words: list[str], meant: str) -> None:
    done = run(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert meant in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    tell = tmp_path / "tell"
    os.mkfifo(tell)
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        "import os, signal, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({str(tell)!r}, 'w').write(str(os.getpid()))\n"
        "sys.stdin.read()\n",
        "utf-8",
    )
    states = tmp_path / "states"
    states.mkdir()
    words = ["check", "journal", "--command", f"{sys.executable} {adapter}", "--timeout", "600"]
    with subprocess.Popen(
        [*PERDURE, *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(states)},
    ) as running:
        pid = int(tell.read_text("utf-8"))
        running.send_signal(number)
        _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Interrupted" in stderr
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not list(states.iterdir())


WHILE_AN_OBJECT_IS_FINALISED = """
import signal, sys
from perdure_conformance.__main__ import main
class Finaliser:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)  # Python drops what is raised here.
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "perdure_conformance.cli.doctor":
            Finaliser()
            while True:
                signal.pause()
sys.meta_path.insert(0, Finder())
sys.argv = ["perdure", "doctor"]
main()
"""


def test_an_interruption_that_python_drops_is_not_lost() -> None:
    program = [sys.executable, "-c", WHILE_AN_OBJECT_IS_FINALISED]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.endswith("Interrupted. Nothing was left running, and no verdict was given.\n")
