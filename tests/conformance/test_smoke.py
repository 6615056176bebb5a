"""`perdure adapter smoke`: what is wrong is told first and with what helps, and what is wrong steers nothing."""

from __future__ import annotations

import itertools
import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.conformance.helpers import perdure_here
from tests.conformance.test_hostile import FAULTS

from perdure_conformance import data
from perdure_conformance.adapters.new import skeleton
from perdure_conformance.adapters.smoke import STEPS, smoke
from perdure_conformance.harness.schemas import decode_reply
from perdure_conformance.harness.targets import CommandTarget
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.journal.mutants import MUTANTS
from perdure_conformance.requirements import requirements

ADAPTER = Path(__file__).with_name("hostile_adapter.py")
SCHEMA = Draft202012Validator(json.loads((data.schemas() / "smoke-1.json").read_text("utf-8")))
PATIENT_S = 60.0
"""Longer than any of this takes: what is told must not depend on how busy the machine is."""
IMPATIENT_S = 2.5

MODES = (
    "append-error",
    "batch-reply",
    "detail-with-escapes",
    "exit-1-with-escapes",
    "exit-at-append",
    "flood-of-garbage",
    "initialize-error",
    "line-just-too-long",
    "log-line",
    "log-line-at-start",
    "number-id",
    "own-request",
    "reply-twice",
    "segmentation-fault",
    "two-replies-on-a-line",
    "wrong-id",
)
SILENT_MODES = ("half-line-then-silence", "never-reads", "silence-at-append", "silence-at-start")


def printed(*words: str, cwd: Path) -> dict[str, Any]:
    """Return what `perdure adapter smoke --json` prints, which is what its schema says."""
    told: dict[str, Any] = json.loads(perdure_here("adapter", "smoke", *words, "--json", cwd=cwd).stdout)
    SCHEMA.validate(told)
    return told


def hostile(mode: str) -> CommandTarget:
    return CommandTarget((sys.executable, "-S", str(ADAPTER), mode))


def kind_of(mode: str) -> str:
    return next((f"fault:{kind}" for kind, modes in FAULTS.items() if mode in modes), "")


@pytest.mark.parametrize("mode", MODES + SILENT_MODES)
def test_a_fault_is_told_with_what_helps(mode: str) -> None:
    found = smoke(hostile(mode), IMPATIENT_S if mode in SILENT_MODES else PATIENT_S)
    assert found.fix is not None
    assert found.fix.failure == kind_of(mode)
    assert found.steps[-1].outcome == "wrong"
    assert found.fix.sent is not None
    request = json.loads(found.fix.sent)
    assert found.fix.right is not None
    if request["method"] != "acquire":
        decode_reply(found.fix.right.encode(), request["id"], request["method"], request["params"])


def test_who_is_right_is_ready_in_process_or_not() -> None:
    for name in JOURNALS.built_in:
        assert smoke(JOURNALS.find(name), PATIENT_S).fix is None, name
    found = smoke(JOURNALS.find("sqlite").as_process(), PATIENT_S)
    assert found.fix is None
    assert {step.outcome for step in found.steps} == {"ok"}
    assert [step.name for step in found.steps] == ["initialize", *(script.name for script in STEPS)]


@pytest.mark.parametrize(
    "name",
    [
        "AcceptsEverything",
        "RefusesEverything",
        "KeepsTheLoser",
        "HasOneSnapshot",
        "ExpiresAnInstantEarly",
        "NeverExpires",
        "RenewsInTimeOnly",
        "RenewsForAnybody",
        "RenewsInMemoryAlone",
        "IgnoresEpochs",
        "ComparesIdsAlone",
    ],
)
def test_a_broken_requirement_is_named(name: str) -> None:
    found = smoke(MUTANTS[name].target, PATIENT_S)
    assert found.fix is not None
    assert found.fix.failure in requirements()
    assert found.fix.sentence == requirements()[found.fix.failure].sentence
    assert found.fix.right
    assert found.fix.received


def test_it_ends_when_the_time_is_over() -> None:
    seconds = itertools.count()
    found = smoke(JOURNALS.find("memory"), 40.0, clock=lambda: float(next(seconds)))
    assert found.fix is not None
    assert found.fix.failure == "slow"
    assert found.steps[-1].outcome == "unknown"
    assert found.steps[0].outcome == "ok"


def skeleton_in(folder: Path, old: str, new: str) -> str:
    """Write the skeleton in Python with one mistake; return how to run it."""
    for name in ("adapter.py", "journal.py"):
        text = (skeleton("python") / name).read_text("utf-8")
        (folder / name).write_text(text.replace(old, new), "utf-8")
    return f"{sys.executable} -E adapter.py"  # Without PYTHONUNBUFFERED.


def test_who_forgets_to_flush_is_asked_whether_he_does(tmp_path: Path) -> None:
    command = skeleton_in(tmp_path, "sys.stdout.buffer.flush()", "pass")
    done = perdure_here("adapter", "smoke", "--command", command, "--within", "2.5", cwd=tmp_path)
    assert done.returncode == 3
    assert "Does the program flush standard output after each line?" in done.stdout
    assert "\nreceived  nothing\n" in done.stdout


def test_who_does_not_shut_down_is_told(tmp_path: Path) -> None:
    command = skeleton_in(tmp_path, "        return {}\n", "        sys.stdin.buffer.read()\n        return {}\n")
    done = perdure_here("adapter", "smoke", "--command", command, "--within", "10", cwd=tmp_path)
    assert done.returncode == 3
    assert "WRONG reopen and go on" in done.stdout
    assert "It did not shut down within 4 s." in done.stdout


def test_who_logs_to_standard_output_is_told_where_logs_belong(tmp_path: Path) -> None:
    command = skeleton_in(
        tmp_path, "    adapter = Adapter()\n", "    adapter = Adapter()\n    print('up', flush=True)\n"
    )
    done = perdure_here("adapter", "smoke", "--command", command, "--within", "60", cwd=tmp_path)
    assert done.returncode == 3
    assert "write logs to standard error" in done.stdout
    assert "\nreceived  up\n" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "told", "right"),
    [
        ('"end": len', '"done": len', "load.json says: at /, 'end' is a required property.", '"end":true'),
        ('"protocol": 1', '"protocol": "1"', "initialize.json says: at /protocol, 1 was expected", '"protocol":1'),
        ('"acknowledged": [', '"refused": "no", "a": [', "append.json says: at /", '"acknowledged":[{'),
        ("{key}", "{key} | {'at': 1}", "append.json says: at /acknowledged/0, Additional", '"acknowledged":[{'),
        ('"refused": "seq', '"why": "seq', "append.json says: at /, 'refused' is a required", '"refused":"sequence'),
    ],
)
def test_a_wrong_form_is_told_with_its_place_in_the_schema(
    old: str, new: str, told: str, right: str, tmp_path: Path
) -> None:
    record = '{"sequence": record["sequence"], "event_id": record["event_id"]}'
    command = skeleton_in(tmp_path, old.replace("{key}", record), new.replace("{key}", record))
    done = perdure_here("adapter", "smoke", "--command", command, "--within", "60", cwd=tmp_path)
    assert done.returncode == 3
    assert f"schemas/protocol-1/{told}" in done.stdout
    assert right in next(line for line in done.stdout.splitlines() if line.startswith("right"))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"jsonrpc": "2.0"', '"jsonrpc": "2.0", "meta": 1', "is no reply: its member 'meta' is none of a reply."),
        (
            "        if request[",
            "        answer['error'] = None\n        if request[",
            "leave one of them out, even if",
        ),
        ("buffer.write(", "buffer.write(b'\\xef\\xbb\\xbf' + ", "byte order mark: write UTF-8 without one."),
    ],
)
def test_a_reply_of_another_form_is_told_with_what_helps(old: str, new: str, told: str, tmp_path: Path) -> None:
    command = skeleton_in(tmp_path, old, new)
    done = perdure_here("adapter", "smoke", "--command", command, "--within", "60", cwd=tmp_path)
    assert done.returncode == 3
    assert told in done.stdout


def test_what_is_unsupported_and_in_another_form_is_told_by_its_form(tmp_path: Path) -> None:
    command = skeleton_in(tmp_path, 'answer["error"] =', 'answer["result"], answer["error"] = None,')
    words = ("--command", command)
    done = perdure_here("adapter", "smoke", *words, "--within", "60", cwd=tmp_path)
    assert done.returncode == 1
    assert "FIX NEXT  JRN-022  " in done.stdout
    assert "leave one of them out, even if it is null" in done.stdout
    assert "goes with what is claimed" not in done.stdout
    done = perdure_here("check", "journal", *words, "--depth", "quick", "--only", "JRN-022", cwd=tmp_path)
    assert "leave one of them out, even if it is null" in done.stdout


def test_a_requirement_comes_with_what_had_to_come(tmp_path: Path) -> None:
    command = skeleton_in(tmp_path, '"actual_next": len(stored) + 1', '"actual_next": len(stored) + 2')
    done = perdure_here("adapter", "smoke", "--command", command, "--within", "60", cwd=tmp_path)
    assert done.returncode == 1
    assert "FIX NEXT  JRN-005  " in done.stdout
    assert '"refused":"sequence_conflict"' in next(
        line for line in done.stdout.splitlines() if line.startswith("right")
    )
    told = printed("--command", command, "--within", "60", cwd=tmp_path)
    assert told["exit_code"] == 1
    assert told["command"] == command.split()
    assert told["fix"]["failure"] == "JRN-005"
    assert told["steps"][-1] == {"name": "a position that is past", "outcome": "wrong"}
    assert told["description"]["name"] == "my-journal"


def test_its_name_makes_no_line_of_its_own(tmp_path: Path) -> None:
    command = skeleton_in(tmp_path, '"name": "my-journal"', '"name": "my\\nREADY  Nothing is wrong"')
    done = perdure_here("adapter", "smoke", "--command", command, "--within", "60", cwd=tmp_path)
    assert done.stdout.startswith(r"my\nREADY  Nothing is wrong 0.1.0 claims")


@pytest.mark.parametrize("mode", ["exit-1-with-escapes", "name-with-escapes", "detail-with-escapes"])
def test_what_it_says_steers_nothing(mode: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -S {ADAPTER} {mode}"
    done = perdure_here("adapter", "smoke", "--command", command, "--within", "60", cwd=tmp_path)
    steering = {letter for letter in done.stdout if letter != "\n" and unicodedata.category(letter).startswith("C")}
    assert steering == set()
    printed("--command", command, "--within", "60", cwd=tmp_path)


def test_wrong_usage_is_told(tmp_path: Path) -> None:
    for words in ((), ("memory", "--command", "x"), ("--command", ""), ("no_such_journal",)):
        done = perdure_here("adapter", "smoke", *words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr.startswith("perdure: ")


def test_ready_is_not_a_verdict_and_says_where_one_comes_from(tmp_path: Path) -> None:
    done = perdure_here("adapter", "smoke", "memory", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].endswith("perdure check journal memory")


def test_what_is_claimed_and_not_tried_is_said(tmp_path: Path) -> None:
    done = perdure_here("adapter", "smoke", "files", "--within", "60", cwd=tmp_path)
    assert "–     kill -9 and go on: not tried in this process\n" in done.stdout
    assert done.stdout.splitlines()[-2] == (
        "Claimed, and not tried here: durable=posix-weak, multi_handle, multi_process, read=linearizable, "
        "format=mwj1 (perdure check tries them)."
    )


def test_what_is_claimed_and_never_judged_is_said_too(tmp_path: Path) -> None:
    command = skeleton_in(tmp_path, "CAPABILITIES = {", 'CAPABILITIES = {"multi_handle": True, "read": "linearizable",')
    told = printed("--command", command, "--within", "60", cwd=tmp_path)
    assert told["untried"] == []
    assert told["unjudged"] == ["multi_handle", "read=linearizable"]
    done = perdure_here("adapter", "smoke", "--command", command, "--within", "60", cwd=tmp_path)
    assert done.stdout.splitlines()[-2] == (
        "Claimed, and not judged as things are: multi_handle, read=linearizable (perdure check says why)."
    )


def test_what_is_printed_is_what_its_schema_says(tmp_path: Path) -> None:
    told = printed("memory", "--within", "60", cwd=tmp_path)
    assert (told["fix"], told["exit_code"]) == (None, 0)
    for wrong in (
        {**told, "command": ["x"]},
        {**told, "smoke_version": 2},
        {**told, "exit_code": 2},
        {**told, "untried": ["durable\n"]},
        {**told, "fix": {"failure": "bad luck"}},
        {name: member for name, member in told.items() if name != "name"},
    ):
        assert not SCHEMA.is_valid(wrong)
    told = printed("--command", f"{sys.executable} -S {ADAPTER} exit-1-with-escapes", cwd=tmp_path)
    assert (told["description"], told["exit_code"]) == (None, 3)
