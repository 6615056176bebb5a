"""`perdure verify`, `inspect` and `diff`: each kind of damage, by where it is found, and what is no damage."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.helpers import PERDURE
from tests.conformance.histories import REVIEW_LOOP, history_of, resealed, run
from tests.model.playing import RUN, Player, document, node, uuid

from perdure.kernel.commands import CreateRun
from perdure.kernel.decide import decide
from perdure.kernel.events import AnyEvent, NodeFailed, NodeOutcomeCommitted, NodeStarted, RunCreated, RunFailed
from perdure.kernel.identity import AttemptId, EventId, NodeId
from perdure.kernel.limits import MAX_LARGE_RECORD_BYTES
from perdure.kernel.outcomes import Unsuccessful
from perdure.kernel.records import Place, sealed
from perdure.kernel.values import MAX_SAFE_INTEGER, canonical_json
from perdure_conformance.histories import inspection
from perdure_conformance.histories.files import opened
from perdure_conformance.histories.verification import verify

Lines = list[bytes]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    return history_of(tmp_path_factory.mktemp("history"), "run.jsonl", "--outcome", "review=changes_requested")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    words = ("--outcome", "review=changes_requested", "--seed", "1")
    return history_of(tmp_path_factory.mktemp("other"), "run.jsonl", *words)


def written(folder: Path, content: Lines | bytes, name: str = "run.jsonl") -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else b"".join(line + b"\n" for line in content))
    return str(path)


def verified(path: str, *words: str) -> dict[str, Any]:
    done = run("verify", path, *words, "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["exit_code"] == done.exit_code
    assert (found["verdict"] in {"bad", "torn_tail"}) == (found["fault"] is not None)
    return found


def told(found: dict[str, Any]) -> tuple[int, str]:
    return found["fault"]["sequence"], found["fault"]["code"]


def test_a_sound_history_says_what_was_checked_and_that_its_end_is_open(tmp_path: Path, history: Lines) -> None:
    done = run("verify", written(tmp_path, history))
    assert done.exit_code == 0
    assert done.stdout.startswith("SOUND  26 records in 15 batches\n")
    assert "End not anchored" in done.stdout
    for word in ("canonical form", "checksum", "batch"):
        assert word in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines())


def test_every_changed_byte_is_found_where_it_is(tmp_path: Path, history: Lines) -> None:
    content = b"".join(line + b"\n" for line in history)
    ends = [index for index, byte in enumerate(content) if byte == 0x0A]
    places = [*range(0, len(content), 211), *ends[:-1:5], *(end + 1 for end in ends[:-1:5])]
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 1
        path = written(tmp_path, bytes(changed))
        with opened(path) as stored:
            fault = verify(stored, None).fault
        assert fault is not None, place
        assert fault.place.number == content.count(b"\n", 0, place) + 1, place


def unsealed(line: bytes) -> bytes:
    return canonical_json({**json.loads(line), "checksum": "0" * 64})


def without(position: int) -> Callable[[Lines, Lines], Lines]:
    return lambda mine, _: mine[:position] + mine[position + 1 :]


def swapped(position: int) -> Callable[[Lines, Lines], Lines]:
    return lambda mine, _: [*mine[:position], mine[position + 1], mine[position], *mine[position + 2 :]]


def doubled(position: int) -> Callable[[Lines, Lines], Lines]:
    return lambda mine, _: [*mine[: position + 1], *mine[position:]]


def cut(position: int) -> Callable[[Lines, Lines], Lines]:
    return lambda mine, _: mine[:position]


def of_the_other_run(position: int) -> Callable[[Lines, Lines], Lines]:
    return lambda mine, others: [*mine[:position], others[position], *mine[position + 1 :]]


def sealed_anew(position: int, **changes: Any) -> Callable[[Lines, Lines], Lines]:
    return lambda mine, _: [*mine[:position], resealed(mine[position], **changes), *mine[position + 1 :]]


def event_sealed_anew(position: int, **changes: Any) -> Callable[[Lines, Lines], Lines]:
    def tampered(mine: Lines, _: Lines) -> Lines:
        event = {**json.loads(mine[position])["event"], **changes}
        return [*mine[:position], resealed(mine[position], event=event), *mine[position + 1 :]]

    return tampered


@pytest.mark.parametrize(
    ("damage", "sequence", "code"),
    [
        (without(0), 1, "gap"),
        (without(4), 5, "gap"),
        (without(12), 13, "gap"),
        (swapped(0), 1, "gap"),
        (swapped(7), 8, "gap"),
        (doubled(0), 2, "gap"),
        (doubled(25), 27, "gap"),
        (of_the_other_run(0), 2, "wrong_run"),
        (of_the_other_run(9), 10, "wrong_run"),
        (lambda mine, others: [*mine, *others], 27, "gap"),
        (sealed_anew(0, run_id=uuid(7)), 1, "wrong_run"),
        (sealed_anew(2, sequence=4), 3, "gap"),
        (sealed_anew(2, batch_index=1, batch_size=2), 3, "wrong_batch"),
        (sealed_anew(2, batch_size=2), 4, "wrong_batch"),
        (sealed_anew(2, batch_index=1), 3, "wrong_batch"),
        (sealed_anew(3, batch_size=1), 4, "incomplete_batch"),
        (sealed_anew(2, schema_version=6), 3, "unknown_version"),
        (sealed_anew(2, event={"type": "NodeVanished"}), 3, "unknown_type"),
        (sealed_anew(2, note=1), 3, "unknown_member"),
        (event_sealed_anew(2, note=1), 3, "unknown_member"),
        (event_sealed_anew(2, attempt="1"), 3, "wrong_structure"),
        (event_sealed_anew(2, node="publish"), 3, "not_ready"),
        (event_sealed_anew(2, node="nobody"), 3, "unknown_node"),
        (event_sealed_anew(2, attempt=2), 3, "wrong_content"),
        (event_sealed_anew(4, edge=5), 5, "something_else_owed"),
        (event_sealed_anew(22, outcome={"kind": "blocked", "reason": ""}), 23, "something_else_owed"),
        (event_sealed_anew(25, type="RunFailed"), 26, "something_else_owed"),
        (lambda mine, _: [mine[0].replace(b":", b": ", 1), *mine[1:]], 1, "not_canonical"),
        (lambda mine, _: [*mine[:3], mine[3].replace(b"write.text", b"write.next"), *mine[4:]], 4, "wrong_checksum"),
        (lambda mine, _: [*mine[:5], b"", *mine[5:]], 6, "not_json"),
        (lambda mine, _: [*mine[:5], mine[5] + b"\r", *mine[6:]], 6, "not_canonical"),
        (lambda mine, _: [*mine[:5], b"\xff", *mine[5:]], 6, "not_json"),
        (lambda mine, _: [*mine[:5], b"[" * 100_000, *mine[5:]], 6, "not_json"),
        (lambda mine, _: [*mine[:5], b"x" * (MAX_LARGE_RECORD_BYTES + 1), *mine[5:]], 6, "over_limit"),
    ],
)
def test_damage_is_found_at_its_record_and_by_name(
    tmp_path: Path,
    history: Lines,
    other: Lines,
    damage: Callable[[Lines, Lines], Lines],
    sequence: int,
    code: str,
) -> None:
    path = written(tmp_path, damage(history, other))
    found = verified(path)
    assert told(found) == (sequence, code)
    assert found["fault"]["owed"]
    shown = run("verify", path)
    assert shown.stdout.startswith(f"BAD  record {sequence} (line {sequence}, byte ")
    assert f"): {code} (" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) < 700


@pytest.mark.parametrize("damage", [without(0), cut(8), event_sealed_anew(4, edge=5)])
def test_inspect_shows_a_state_before_the_damage_alone(
    tmp_path: Path, history: Lines, damage: Callable[[Lines, Lines], Lines]
) -> None:
    path = written(tmp_path, damage(history, []))
    sequence, _ = told(verified(path))
    refused = run("inspect", path)
    assert refused.exit_code == 1
    assert f" record {sequence} " in refused.stderr
    assert (f"`--at {sequence - 1}` shows" in refused.stderr) == (sequence > 1)
    if sequence > 1:
        before = run("inspect", path, "--at", str(sequence - 1), "--json")
        assert json.loads(before.stdout)["sequence"] == sequence - 1


def test_what_was_owed_is_told(tmp_path: Path, history: Lines) -> None:
    found = verified(written(tmp_path, without(4)(history, [])))
    assert found["fault"]["owed"] == "TransitionActivated of edge 0, from write, in the batch that was begun"
    assert found["fault"]["owed_event"]["type"] == "TransitionActivated"
    ended = verified(written(tmp_path, [*history, resealed(history[2], sequence=27, event_id=uuid(1))]))
    assert told(ended) == (27, "run_terminal")
    assert ended["fault"]["owed"] == "nothing: the run is completed, and nothing comes after that"


def test_a_cut_where_a_batch_ends_is_found_with_the_head_alone(tmp_path: Path, history: Lines) -> None:
    whole = verified(written(tmp_path, history))
    head = f"{whole['head']['sequence']}:{whole['head']['checksum']}"
    assert (whole["anchored"], verified(written(tmp_path, history), "--head", head)["anchored"]) == ("none", "end")
    short = written(tmp_path, history[:20])
    assert verified(short)["verdict"] == "sound"
    assert told(verified(short, "--head", head)) == (26, "not_the_head")
    earlier = verified(short)["head"]
    longer = verified(written(tmp_path, history), "--head", f"20:{earlier['checksum']}")
    assert (longer["verdict"], longer["anchored"]) == ("sound", "earlier")
    assert told(verified(written(tmp_path, history), "--head", f"20:{'0' * 64}")) == (20, "not_the_head")


def test_what_keeps_the_rules_is_no_damage(tmp_path: Path, history: Lines) -> None:
    reason = {"kind": "skipped", "reason": "nobody came"}
    lawful = verified(written(tmp_path, event_sealed_anew(22, outcome=reason)(history, [])))
    assert lawful["verdict"] == "sound"
    assert any("origin" in each for each in lawful["not_checked"])


FAILED = Unsuccessful(kind="permanent_failure", reason="")


@pytest.mark.parametrize(
    ("version", "ends", "code"),
    [
        (1, NodeFailed(node=NodeId("A"), attempt_id=AttemptId(uuid(2)), reason=""), None),
        (2, NodeOutcomeCommitted(node=NodeId("A"), attempt_id=AttemptId(uuid(2)), outcome=FAILED), "incomplete_batch"),
    ],
)
def test_example_10_a_failure_ends_a_run_of_version_1_alone(
    tmp_path: Path, version: int, ends: AnyEvent, code: str | None
) -> None:
    graph = {**document("AB"), "schema_version": 1}
    created = decide(None, CreateRun(run_id=RUN, specification=graph))
    assert isinstance(created, tuple)
    assert isinstance(created[0], RunCreated)
    starts = [
        NodeStarted(node=NodeId(name), attempt_id=AttemptId(uuid(number)), attempt=1)
        for number, name in enumerate("AB", start=2)
    ]
    ids = (EventId(uuid(number)) for number in count(100))
    stored: Lines = []
    for batch in (created, (starts[0],), (starts[1],), (ends, RunFailed())):
        place = Place(RUN, len(stored) + 1, version)
        stored += sealed(place, batch, [next(ids) for _ in batch])
    found = verified(written(tmp_path, stored))
    if code is None:
        assert (found["verdict"], found["status"]) == ("sound", "failed")
    else:
        assert found["fault"]["sequence"] == 7


def test_an_empty_history_is_no_pass(tmp_path: Path) -> None:
    path = written(tmp_path, b"")
    assert verified(path)["verdict"] == "nothing_checked"
    assert [run(*words).exit_code for words in (["verify", path], ["inspect", path], ["diff", path, path])] == [3, 3, 3]
    assert verified(written(tmp_path, b"\n"))["verdict"] == "bad"


@pytest.mark.parametrize("command", ["verify", "inspect", "diff"])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere.jsonl", "cannot be read: No such file"),
        ("", "is a folder"),
        ("/dev/null", "is a device"),
        ("\x1b[31m", "cannot be read"),
        ("a" * 5_000, "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_in_one_sentence(
    tmp_path: Path, command: str, name: str, reason: str
) -> None:
    path = str(tmp_path / name)
    done = run(command, path, *([path] if command == "diff" else []))
    assert done.exit_code == 2
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "\x1b" not in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("head", ["", "1", "0:" + "0" * 64, "x:" + "0" * 64, "1:" + "A" * 64, "1:0", "²:" + "0" * 64])
def test_what_is_no_head_is_refused(tmp_path: Path, history: Lines, head: str) -> None:
    done = run("verify", written(tmp_path, history), "--head", head)
    assert done.exit_code == 2
    assert "--head is SEQUENCE:CHECKSUM" in done.stderr


def test_inspect_shows_what_a_history_amounts_to(tmp_path: Path, history: Lines) -> None:
    path = written(tmp_path, history)
    done = run("inspect", path, "--at", "12")
    assert done.exit_code == 0
    shown = done.stdout.splitlines()
    assert "status     running, after record 12 (version 5), at 0 ms" in shown
    assert any(line.split() == ["review", "changes", "requested", "1", "1", "changes_requested"] for line in shown)
    assert "used       3 of 10,000 attempts, 4 of 200 transitions, 0 of 604,800,000 ms" in shown
    assert "due next   the run's time, at 604,800,000 ms" in shown
    assert "may be done  StartNode write" in shown
    assert all(line == line.rstrip() for line in shown)
    assert "write.text" not in done.stdout
    middle = json.loads(run("inspect", path, "--at", "11", "--json").stdout)
    assert middle["owed"]["type"] == "TransitionActivated"
    assert middle["may_be_done"] == {}
    ended = json.loads(run("inspect", path, "--json").stdout)
    assert (ended["status"], ended["due"], ended["may_be_done"]) == ("completed", None, {})
    assert run("inspect", path, "--at", "27").exit_code == 2


def test_inspect_shows_waits_retries_and_children(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(
        "- {reach: write}\n- {complete: write, outcome: retryable_failure}\n- {reach: check}\n- {child: check}\n"
        "- {reach: review}\n- {wait: review, signal: reviewed, token: secret, until_ms: 90000}\n",
        "utf-8",
    )
    path = str(tmp_path / "run.jsonl")
    assert run("simulate", REVIEW_LOOP, "--script", str(script), "--stop", "--output", path).exit_code == 0
    shown = run("inspect", path).stdout
    assert "waits      review, for the signal reviewed, until 90,000 ms" in shown
    assert "due next   the end of the wait of review, at 90,000 ms" in shown
    assert "may be done  DeliverSignal review" in shown
    assert "secret" not in shown
    retried = run("inspect", path, "--at", "5").stdout
    assert "again at 1,000 ms" in retried
    assert "due next   the retry of write, at 1,000 ms" in retried


def compared(one: str, two: str, *words: str) -> dict[str, Any]:
    done = run("diff", one, two, *words, "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["exit_code"] == done.exit_code
    return found


def test_the_same_history_is_the_same(tmp_path: Path, history: Lines) -> None:
    one, two = written(tmp_path, history, "a"), written(tmp_path, history, "b")
    assert compared(one, two)["same"] is True
    assert run("diff", one, two).stdout == "SAME  all 26 records, byte for byte.\n"


def test_runs_that_differ_in_identities_alone_are_told_from_others(
    tmp_path: Path, history: Lines, other: Lines
) -> None:
    one, two = written(tmp_path, history, "a"), written(tmp_path, other, "b")
    found = compared(one, two)
    assert (found["only_identities"], found["exit_code"]) == (True, 1)
    assert found["ends"] == dict.fromkeys("ab", "review-loop@1 is completed after 26 records")
    assert compared(one, two, "--ignore-identities")["exit_code"] == 0


@pytest.mark.parametrize(
    ("damage", "sequence", "pointer"),
    [
        (event_sealed_anew(10, outcome={"kind": "blocked", "reason": "no"}), 11, "/event/outcome/kind"),
        (event_sealed_anew(3, outcome={"kind": "succeeded", "output": {"text": "x"}}), 4, "/event/outcome/output/text"),
        (event_sealed_anew(25, type="RunFailed"), 26, "/event/type"),
        (cut(20), 21, ""),
        (without(0), 1, "/sequence"),
        (event_sealed_anew(2, attempt_id=uuid(5)), 4, "/event/attempt_id"),
        (lambda mine, _: [*mine[:5], b"\xff\x1b[31m", *mine[6:]], 6, ""),
        (lambda mine, _: [*mine[:5], mine[5].replace(b":", b" :", 1), *mine[6:]], 6, ""),
        (lambda mine, _: [*mine[:5], unsealed(mine[5]), *mine[6:]], 6, "/checksum"),
    ],
)
def test_the_first_difference_is_named(
    tmp_path: Path, history: Lines, damage: Callable[[Lines, Lines], Lines], sequence: int, pointer: str
) -> None:
    one, two = written(tmp_path, history, "a"), written(tmp_path, damage(history, []), "b")
    for a, b in ((one, two), (two, one)):
        found = compared(a, b)
        assert found["exit_code"] == 1
        assert (found["first"]["sequence"], found["first"]["pointer"]) == (sequence, pointer)
        shown = run("diff", a, b, "--ignore-identities")
        assert shown.stdout.startswith("DIFFERENT  ")
        assert "\x1b" not in shown.stdout


def test_histories_come_from_pipes_too(tmp_path: Path, history: Lines) -> None:
    path = written(tmp_path, history)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([*PERDURE, "diff", path, str(pipe)], stdout=subprocess.PIPE, text=True) as running:
        pipe.write_bytes(Path(path).read_bytes())
        told, _ = running.communicate(timeout=60)
    assert told.startswith("SAME  ")
    assert run("diff", "-", "-").exit_code == 2


def test_help_has_examples_and_exit_codes() -> None:
    for command in ("simulate", "verify", "inspect", "diff", "gate"):
        shown = run(command, "--help").stdout
        assert "Examples:" in shown
        assert "Exit codes:" in shown


def test_what_may_be_done_is_what_the_kernel_allows() -> None:
    called = node("C", child={"workflow": "child@1", "policy": "propagate"})
    due = node("D", signals=["go"], retry={"attempt_deadline_ms": 5})
    children = {"child@1": {"nodes": [node("K")]}}
    run = Player(document([node("W", signals=["go"]), "T", called, due, "R", "P"], children=children))
    ready = {"StartNode": ["W", "T", "C", "D", "R", "P"], "AdvanceTime": [], "RequestCancellation": []}
    assert inspection.may_be_done(run.now) == ready
    for name in "WTPD":
        run.start(name)
    run.start("C", child=True)
    run.wait("W", "go")
    run.wait_until("T", 9)
    assert inspection.may_be_done(run.now) == {
        "StartNode": ["R"],
        "CompleteAttempt": ["D", "P"],
        "CompleteChild": ["C"],
        "OpenTimerWait": ["D", "P"],
        "OpenSignalWait": ["D"],
        "DeliverSignal": ["W"],
        "AdvanceTime": [],
        "RequestCancellation": [],
    }
    run.advance(MAX_SAFE_INTEGER)
    run.start("D")
    at_the_end = inspection.may_be_done(run.now)
    assert "D" not in {name for names in at_the_end.values() for name in names}
    assert "OpenTimerWait" not in at_the_end
    assert run.end("D") == ["! attempt_due"]
    run.advance(MAX_SAFE_INTEGER)
    assert "AdvanceTime" not in inspection.may_be_done(run.now)
    assert run.advance(MAX_SAFE_INTEGER) == ["! no_effect"]
