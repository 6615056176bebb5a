"""`perdure adapter transcript`: what it records is what both sides may say, all of it, and the same each time."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.conformance.helpers import perdure_here

from perdure_conformance.adapters.exchange import STATE_DIR, exchange, in_lines
from perdure_conformance.adapters.model import LEVELS, LevelName, ModelTarget
from perdure_conformance.adapters.new import skeleton
from perdure_conformance.harness import schemas
from perdure_conformance.harness.connection import Unsupported

ALL_METHODS = {
    *("initialize", "append", "load", "save_snapshot", "load_snapshot", "acquire", "renew", "release", "shutdown")
}
OF_APPEND = {"invalid_record", "too_large", "event_id_conflict", "sequence_conflict"}
REFUSALS: dict[LevelName, set[str]] = {
    "workflow": OF_APPEND,
    "snapshots": OF_APPEND,
    "leases": OF_APPEND | {"held", "stale_epoch"},
    "processes": OF_APPEND,
}


def pairs(content: bytes) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    lines = [json.loads(line) for line in content.splitlines()]
    assert [list(line) for line in lines] == [["process", "to"], ["process", "from"]] * (len(lines) // 2)
    assert all(to["process"] == back["process"] for to, back in zip(lines[::2], lines[1::2], strict=True))
    return [(to["to"], back["from"]) for to, back in zip(lines[::2], lines[1::2], strict=True)]


def recorded(level: LevelName) -> bytes:
    return in_lines(exchange(ModelTarget(level), 1.0))


@pytest.mark.parametrize("level", get_args(LevelName))
def test_each_message_is_what_its_schema_says(level: LevelName) -> None:
    unsupported = set()
    for request, reply in pairs(recorded(level)):
        schemas.check_params(request["method"], request["params"])
        line = json.dumps(reply, ensure_ascii=False).encode()
        try:
            schemas.decode_reply(line, request["id"], request["method"], request["params"])
        except Unsupported:
            unsupported.add(request["method"])
    claims = LEVELS[level]
    assert ("load_snapshot" in unsupported) is not claims.snapshots
    assert ("acquire" in unsupported) is not claims.leases


@pytest.mark.parametrize("level", get_args(LevelName))
def test_each_method_and_each_refusal_of_the_claims_is_in_it(level: LevelName) -> None:
    said = pairs(recorded(level))
    assert {request["method"] for request, _ in said} == ALL_METHODS
    assert {reply["result"]["refused"] for _, reply in said if "refused" in reply.get("result", {})} == REFUSALS[level]
    answered = {
        request["method"] for request, reply in said if not {"error", "refused"} & {*reply, *reply.get("result", ())}
    }
    assert answered == {
        method
        for method in ALL_METHODS
        if (LEVELS[level].snapshots or not method.endswith("snapshot"))
        and (LEVELS[level].leases or method not in {"acquire", "renew", "release"})
    }


def test_processes_take_turns_where_several_are_claimed() -> None:
    lines = [json.loads(line) for line in recorded("processes").splitlines()]
    at_second = next(number for number, line in enumerate(lines) if line["process"] == 2)
    assert lines[at_second]["to"]["method"] == "initialize"
    assert [line["process"] for line in lines[at_second::2]][2:8] == [2, 1, 1, 1, 1, 2]
    assert {line["process"] for line in lines} == {1, 2, 3, 4}
    assert {json.loads(line)["process"] for line in recorded("leases").splitlines()} == {1, 2}


def test_it_is_the_same_each_time_and_names_no_folder() -> None:
    assert recorded("leases") == recorded("leases")
    assert {
        request["params"]["state_dir"] for request, _ in pairs(recorded("leases")) if request["method"] == "initialize"
    } == {STATE_DIR}


def test_a_skeleton_says_what_the_model_says(tmp_path: Path) -> None:
    done = perdure_here("adapter", "transcript", "--output", "model.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    command = f"{sys.executable} {skeleton('python') / 'adapter.py'}"
    done = perdure_here("adapter", "transcript", "--command", command, cwd=tmp_path)
    assert done.returncode == 0
    assert pairs(done.stdout.encode()) == pairs((tmp_path / "model.jsonl").read_bytes())


def test_what_it_says_steers_nothing(tmp_path: Path) -> None:
    for name in ("adapter.py", "journal.py"):
        text = (skeleton("python") / name).read_text("utf-8")
        (tmp_path / name).write_text(text.replace('"my-journal"', '"\\x9b31mmine\\u202e"'), "utf-8")
    done = perdure_here("adapter", "transcript", "--command", f"{sys.executable} adapter.py", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.replace("\n", "").isprintable()
    assert done.stdout.isascii()
    assert "mine" in done.stdout


def test_only_what_is_right_is_recorded(tmp_path: Path) -> None:
    for name in ("adapter.py", "journal.py"):
        text = (skeleton("python") / name).read_text("utf-8")
        (tmp_path / name).write_text(text.replace("len(stored) + 1}", "len(stored) + 2}"), "utf-8")
    words = ("adapter", "transcript", "--output", "x.jsonl", "--command")
    done = perdure_here(*words, f"{sys.executable} adapter.py", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "perdure: After 16 messages, JRN-005 is broken. perdure adapter smoke says more.\n"
    done = perdure_here(*words, "cat", cwd=tmp_path)
    assert done.returncode == 3
    assert "After 2 messages: A request of its own came" in done.stderr
    assert not (tmp_path / "x.jsonl").exists()


def test_wrong_usage_is_told(tmp_path: Path) -> None:
    for words in (("--command", "cat", "--level", "leases"), ("--output", "no/such/folder.jsonl")):
        done = perdure_here("adapter", "transcript", *words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("perdure: ")
