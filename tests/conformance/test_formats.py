"""Histories in every stored format: each kind of damage by its verdict, and one format written as another."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.conformance.helpers import PERDURE
from tests.conformance.histories import PRINTED, REVIEW_LOOP, history_of, resealed, run, schema_of
from tests.model.playing import RUN, uuid
from tests.model.random_runs import Checked, play, play_older

from perdure.journal.contract import Acknowledged, Corrupt, Envelope, Page
from perdure.journal.files import FilesJournal
from perdure.journal.frames import frame
from perdure.journal.lines import LinesJournal, part_of_an_object
from perdure.journal.sqlite import SqliteJournal
from perdure.kernel.events import EVENTS
from perdure.kernel.identity import EventId
from perdure.kernel.records import Place, sealed, verified
from perdure_conformance.histories import databases
from perdure_conformance.histories.checks import CHECKS
from perdure_conformance.histories.files import opened
from perdure_conformance.histories.sealing import snapshot_after, tied_to, with_state
from perdure_conformance.histories.verification import Verification, head_of, verify
from perdure_conformance.tool import samples
from perdure_conformance.tool.samples import OTHER_RUN

Lines = list[bytes]

FORMATS = {"jsonl": "jsonl", "mwj1": "mwj1", "sqlite": "sqlite3"}
"""The formats, and how the names of their files end."""


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    return history_of(tmp_path_factory.mktemp("history"), "run.jsonl", "--outcome", "review=changes_requested")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    return history_of(tmp_path_factory.mktemp("other"), "run.jsonl", "--seed", "1")


def in_lines(path: Path, lines: Lines) -> None:
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def in_frames(path: Path, lines: Lines) -> None:
    path.write_bytes(b"".join(frame("MWJ1", line) for line in lines))


def in_rows(path: Path, lines: Lines) -> None:
    """Write rows as a journal has them, whatever the records say; what is no record has a row of its own."""
    SqliteJournal(path.parent, path.stem).close()
    run_id = json.loads(lines[0])["run_id"] if lines else ""
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        for number, line in enumerate(lines, start=1):
            try:
                event_id, sequence = json.loads(line)["event_id"], json.loads(line)["sequence"]
            except ValueError:
                event_id, sequence = uuid(9_000 + number), number
            row = (run_id, sequence if sequence == number else number, event_id, line.decode())
            base.execute("INSERT INTO records VALUES (?, ?, ?, ?)", row)


WRITERS: dict[str, Callable[[Path, Lines], None]] = {"jsonl": in_lines, "mwj1": in_frames, "sqlite": in_rows}


def written(folder: Path, form: str, lines: Lines) -> str:
    path = folder / f"run.{FORMATS[form]}"
    path.unlink(missing_ok=True)
    WRITERS[form](path, lines)
    return str(path)


def found_in(path: str, head: str | None = None) -> Verification:
    with opened(path) as stored:
        return verify(stored, None if head is None else head_of(head))


def told(path: str, *words: str) -> dict[str, Any]:
    """Verify in both forms, and return what the one for machines says."""
    done = run("verify", path, *words, "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["exit_code"] == done.exit_code == run("verify", path, *words).exit_code
    return found


DAMAGES: dict[str, Callable[[Lines, Lines], Lines]] = {
    "junk": lambda mine, _: [*mine[:5], b"junk", *mine[5:]],
    "changed": lambda mine, _: [*mine[:5], mine[5].replace(b'"type":"', b'"type":"X', 1), *mine[6:]],
    "left out": lambda mine, _: mine[:5] + mine[6:],
    "of another run": lambda mine, others: [*mine[:5], others[5], *mine[6:]],
    "cut within a batch": lambda mine, _: mine[:8],
    "no history at all": lambda _mine, _others: [],
    "sealed anew, against a rule": lambda mine, _: [
        *mine[:2],
        resealed(mine[2], event={**json.loads(mine[2])["event"], "attempt": 2}),
        *mine[3:],
    ],
    "of a later version": lambda mine, _: [*mine[:2], resealed(mine[2], schema_version=6), *mine[3:]],
    "white space": lambda mine, _: [*mine[:5], mine[5].replace(b":", b": ", 1), *mine[6:]],
}

TABLE: dict[str, dict[str, tuple[str, int, str, str] | str]] = {
    "junk": dict.fromkeys(FORMATS, ("bad", 6, "form", "not_json")),
    "changed": dict.fromkeys(FORMATS, ("bad", 6, "checksum", "wrong_checksum")),
    "left out": {
        **dict.fromkeys(FORMATS, ("bad", 6, "linkage", "gap")),
        "sqlite": ("bad", 6, "linkage", "wrong_row"),
    },
    "of another run": {
        **dict.fromkeys(FORMATS, ("bad", 6, "linkage", "wrong_run")),
        "sqlite": ("bad", 6, "linkage", "wrong_row"),
    },
    "cut within a batch": {
        **dict.fromkeys(FORMATS, ("bad", 9, "batches", "incomplete_batch")),
        "jsonl": ("torn_tail", 7, "framing", "torn_tail"),
    },
    "no history at all": dict.fromkeys(FORMATS, "nothing_checked"),
    "sealed anew, against a rule": dict.fromkeys(FORMATS, ("bad", 3, "rules", "wrong_content")),
    "of a later version": dict.fromkeys(FORMATS, ("bad", 3, "version", "unknown_version")),
    "white space": dict.fromkeys(FORMATS, ("bad", 6, "form", "not_canonical")),
}
"""Verdict, sequence, kind of check and code of each damage; the verdict alone where there is no fault."""


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("damage", TABLE)
def test_each_damage_has_its_verdict_in_each_format(
    tmp_path: Path, history: Lines, other: Lines, damage: str, form: str
) -> None:
    path = written(tmp_path, form, DAMAGES[damage](history, other))
    found, wanted = told(path), TABLE[damage][form]
    if isinstance(wanted, str):
        assert (found["verdict"], found["exit_code"], found["fault"]) == (wanted, 3, None)
        assert not any(each["checked"] for each in found["checks"].values())
        return
    fault = found["fault"]
    assert (found["verdict"], fault["sequence"], fault["check"], fault["code"]) == wanted
    assert found["exit_code"] == 1
    assert [name for name, each in found["checks"].items() if each["found"]] == [wanted[2]]
    assert found["records"] <= fault["sequence"] - 1
    assert (fault["place"]["unit"], fault["place"]["offset"] is None) == {
        "jsonl": ("line", False),
        "mwj1": ("frame", False),
        "sqlite": ("row", True),
    }[form]
    shown = run("verify", path).stdout
    assert f"record {fault['sequence']} ({fault['place']['unit']} {fault['place']['number']}" in shown
    assert f"{wanted[2]} " in shown


@pytest.mark.parametrize("form", FORMATS)
def test_a_clean_cut_says_that_the_end_is_not_anchored_unless_it_is(tmp_path: Path, history: Lines, form: str) -> None:
    whole = told(written(tmp_path, form, history))
    head = f"{whole['head']['sequence']}:{whole['head']['checksum']}"
    assert (whole["verdict"], whole["anchored"], whole["checks"]["end"]["checked"]) == ("sound", "none", False)
    assert {name for name, each in whole["checks"].items() if each["checked"]} == set(CHECKS) - {"end"}
    pinned = told(written(tmp_path, form, history), "--head", head)
    assert (pinned["anchored"], pinned["checks"]["end"]) == ("end", {"checked": True, "count": 1, "found": None})
    path = written(tmp_path, form, history[:20])
    cut = told(path)
    assert (cut["verdict"], cut["exit_code"], cut["records"]) == ("sound", 0, 20)
    assert "End not anchored" in run("verify", path).stdout
    lost = told(path, "--head", head)
    assert (lost["verdict"], lost["fault"]["code"], lost["fault"]["check"]) == ("bad", "not_the_head", "end")
    assert run("verify", path, "--head", head).stdout.startswith("BAD  record 26 ")


def whole_before(lines: Lines, records: int) -> int:
    """Return how many of so many records are in whole batches."""
    read = [verified(line) for line in lines[:records]]
    return max((each.sequence for each in read if each.batch_index + 1 == each.batch_size), default=0)


SHORT = 9
"""So many records are four whole batches; the last has three."""


@pytest.mark.parametrize("form", ["jsonl", "mwj1"])
def test_a_cut_at_any_byte_of_the_last_batch_is_told_where_it_is(tmp_path: Path, history: Lines, form: str) -> None:
    history = history[:SHORT]
    path = Path(written(tmp_path, form, history))
    content = path.read_bytes()
    ends = list(accumulate(len(line) + (1 if form == "jsonl" else 12) for line in history))
    for cut in range(ends[-4], ends[-1]):
        path.write_bytes(content[:cut])
        found = found_in(str(path))
        whole = sum(end <= cut for end in ends)
        good = whole_before(history, whole)
        begun = ends[whole - 1] < cut
        is_at_a_border = good == whole and not begun
        assert found.records <= whole, cut
        if is_at_a_border:
            assert (found.verdict, found.records) == ("sound", good), cut
        elif form == "jsonl":
            assert (found.verdict, found.records) == ("torn_tail", good), cut
            assert found.fault is not None
            assert (found.fault.sequence, found.fault.place.offset) == (good + 1, ends[good - 1]), cut
        else:
            assert found.verdict == "bad"
            assert found.fault is not None
            assert found.fault.code == ("cut_frame" if begun else "incomplete_batch"), cut
            assert found.fault.place.offset == ends[whole - 1], cut


@pytest.mark.parametrize("form", ["jsonl", "mwj1"])
def test_a_changed_byte_of_the_last_batch_is_told_where_it_is(tmp_path: Path, history: Lines, form: str) -> None:
    history = history[:SHORT]
    path = Path(written(tmp_path, form, history))
    content = path.read_bytes()
    ends = list(accumulate(len(line) + (1 if form == "jsonl" else 12) for line in history))
    for place in range(ends[-4], ends[-1]):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        found = found_in(str(path))
        at = sum(end <= place for end in ends)
        assert found.verdict == "bad", place
        assert found.fault is not None
        assert (found.fault.sequence, found.records) == (at + 1, at), place
        assert found.fault.place.offset == ends[at - 1], place


@pytest.mark.parametrize(("form", "journal"), [("jsonl", LinesJournal), ("mwj1", FilesJournal)])
def test_the_journal_of_a_format_serves_what_is_verified(
    tmp_path: Path, history: Lines, form: str, journal: type[LinesJournal | FilesJournal]
) -> None:
    history = history[:SHORT]
    run_id = verified(history[0]).run_id
    folder = tmp_path / "runs"
    folder.mkdir()
    path = Path(written(tmp_path, form, history)).rename(folder / f"{run_id}.{FORMATS[form]}")
    content, random = path.read_bytes(), Random(1)  # noqa: S311 - it draws places
    verdicts: Counter[str] = Counter()
    for _ in range(120):
        at = random.randrange(1, len(content))
        changed = content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1 :]
        path.write_bytes(random.choice([changed, content[:at], content[:at] + bytes(at), content + content[at:]]))
        found = found_in(str(path))
        handle = journal(tmp_path, "runs")
        answer = handle.load(run_id, 1, 100)
        handle.close()
        verdicts[found.verdict] += 1
        if isinstance(answer, Page):
            assert (found.verdict == "bad", found.records) == (False, len(answer.records)), at
        else:
            assert isinstance(answer, Corrupt)
            assert (found.verdict, found.fault is not None) == ("bad", True), at
            assert found.fault is None or found.fault.sequence == answer.sequence, at
    assert {"bad", "torn_tail" if form == "jsonl" else "bad"} <= set(verdicts)


def test_a_line_feed_that_became_zero_is_a_torn_tail(tmp_path: Path, history: Lines) -> None:
    path = Path(written(tmp_path, "jsonl", history))
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    assert found_in(str(path)).verdict == "torn_tail"


@pytest.mark.parametrize("zeros", [1, 2, 11, 12, 13, 64, 511, 512, 1023, 4095, 4096, 2**24 + 2**16])
@pytest.mark.parametrize("form", ["jsonl", "mwj1"])
def test_zeros_at_the_end_are_never_sound(tmp_path: Path, history: Lines, form: str, zeros: int) -> None:
    path = Path(written(tmp_path, form, history))
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(bytes(zeros))
    found = found_in(str(path))
    assert found.fault is not None
    assert (found.fault.sequence, found.fault.place.offset, found.records) == (27, size, 26)
    wanted = ("torn_tail", "torn_tail") if form == "jsonl" else ("bad", "not_a_frame")
    assert (found.verdict, found.fault.code) == wanted


def test_a_torn_tail_is_told_from_what_was_lost(tmp_path: Path, history: Lines) -> None:
    path = Path(written(tmp_path, "jsonl", history[:20]))
    path.write_bytes(path.read_bytes() + history[20][:100])
    records = [json.loads(line) for line in history]
    acknowledged = f"20:{records[19]['checksum']}"
    torn = told(str(path), "--head", acknowledged)
    assert (torn["verdict"], torn["anchored"], torn["records"]) == ("torn_tail", "end", 20)
    assert torn["head"] == {"sequence": 20, "checksum": records[19]["checksum"]}
    assert "what --head pins is there" in run("verify", str(path), "--head", acknowledged).stdout
    assert "--head SEQUENCE:CHECKSUM tells" in run("verify", str(path)).stdout
    lost = told(str(path), "--head", f"26:{records[25]['checksum']}")
    assert (lost["verdict"], lost["fault"]["code"]) == ("bad", "not_the_head")
    kept = str(tmp_path / "kept.jsonl")
    assert run("inspect", str(path), "--at", "20", "--output", kept).exit_code == 0
    assert Path(kept).read_bytes() == b"".join(line + b"\n" for line in history[:20])


@pytest.mark.parametrize(
    ("text", "part", "verdict"),
    [
        (b'{"bat', "beginning", "torn_tail"),
        (b'{"batch_index":0,"a":["\\"]', "beginning", "torn_tail"),
        (b'{"batch_index":0,"a":"\\', "beginning", "torn_tail"),
        (b'{"batch_index":0,"a":"\xe2\x82', "beginning", "torn_tail"),
        (b'{"batch_index":0}', "whole", "bad"),
        (b'{"batch_index":0}{', None, "bad"),
        (b'{"batch_index":0} ', None, "bad"),
        (b'{"batch_index":0,"a":"\x0b', None, "bad"),
        (b'{"batch_index":0,"a":"\xff"', None, "bad"),
        (b"[", None, "bad"),
        (b"junk", None, "bad"),
    ],
)
@pytest.mark.parametrize("zeros", [0, 5])
def test_the_beginning_of_a_record_is_told_from_junk(
    tmp_path: Path, history: Lines, text: bytes, part: str | None, verdict: str, zeros: int
) -> None:
    assert part_of_an_object(text) == part
    path = Path(written(tmp_path, "jsonl", history))
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + text + bytes(zeros))
    found = found_in(str(path))
    assert (found.verdict, found.records) == (verdict, 26)
    assert found.fault is not None
    assert (found.fault.place.number, found.fault.place.offset) == (27, size)


@pytest.mark.parametrize(
    ("last", "verdict", "code"),
    [
        (lambda line: line, "torn_tail", "torn_tail"),
        (lambda line: line + bytes(9), "torn_tail", "torn_tail"),
        (lambda line: line.replace(b'"attempt":1', b'"attempt":2'), "bad", "wrong_checksum"),
        (lambda line: resealed(line, sequence=9), "bad", "gap"),
        (lambda line: resealed(line, run_id=uuid(5)), "bad", "wrong_run"),
    ],
)
def test_a_whole_record_without_its_line_feed_has_to_be_sound(
    tmp_path: Path, history: Lines, last: Callable[[bytes], bytes], verdict: str, code: str
) -> None:
    path = Path(written(tmp_path, "jsonl", history[:2]))
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + last(history[2]))
    found = found_in(str(path))
    assert found.fault is not None
    assert (found.verdict, found.fault.code, found.records) == (verdict, code, 2)
    assert (found.fault.sequence, found.fault.place) == (3, ("line", 3, size))


def test_a_database_is_read_while_it_is_written_and_nothing_is_changed(tmp_path: Path, history: Lines) -> None:
    journal = SqliteJournal(tmp_path, "run")
    try:
        for batch in batches_of(history)[:-1]:
            assert isinstance(
                journal.append(batch[0][0], batch[0][1].sequence, [each for _, each in batch]), Acknowledged
            )
        path = tmp_path / "run.sqlite3"
        before = {each.name: each.read_bytes() for each in tmp_path.iterdir() if not each.name.endswith("-shm")}
        assert len(before["run.sqlite3-wal"]) > 0
        found = told(str(path))
        assert found["verdict"] == "sound"
        assert found["records"] == sum(map(len, batches_of(history)[:-1]))
        after = {each.name: each.read_bytes() for each in tmp_path.iterdir() if not each.name.endswith("-shm")}
        assert after == before
        appended(journal, batches_of(history)[-1])
        assert told(str(path))["records"] == 26
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for name in ("run.sqlite3", "run.sqlite3-wal"):
            shutil.copy(tmp_path / name, crashed)
    finally:
        journal.close()
    before = {each.name: each.read_bytes() for each in crashed.iterdir()}
    assert told(str(crashed / "run.sqlite3"))["records"] == 26
    assert {each.name: each.read_bytes() for each in crashed.iterdir()} == before
    assert told(str(path))["records"] == 26
    assert not (tmp_path / "run.sqlite3-wal").exists()


def batches_of(lines: Lines) -> list[list[tuple[Any, Envelope]]]:
    found: list[list[tuple[Any, Envelope]]] = []
    for line in lines:
        record = verified(line)
        found += [] if record.batch_index else [[]]
        found[-1].append((record.run_id, Envelope(record.sequence, record.event_id, line.decode())))
    return found


def appended(journal: SqliteJournal, batch: list[tuple[Any, Envelope]]) -> None:
    run_id, first = batch[0]
    assert isinstance(journal.append(run_id, first.sequence, [each for _, each in batch]), Acknowledged)


def changed_rows(path: str, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        for statement in statements:
            base.execute(statement)


@pytest.mark.parametrize(
    ("statements", "code"),
    [
        (["UPDATE records SET body = CAST(body AS BLOB) WHERE sequence = 7"], "damaged_database"),
        (["UPDATE records SET run_id = CAST(run_id AS BLOB) WHERE sequence = 26"], "damaged_database"),
        (["UPDATE records SET sequence = 99 WHERE sequence = 26"], "wrong_row"),
        (["UPDATE records SET event_id = '00000000-0000-7000-8000-000000000001' WHERE sequence = 7"], "wrong_row"),
        (["UPDATE records SET body = zeroblob(20000000) WHERE sequence = 7"], "over_limit"),
        (["UPDATE records SET body = CAST(zeroblob(16777217) AS TEXT) WHERE sequence = 7"], "not_json"),
        (
            [
                "PRAGMA writable_schema = 1",
                "UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'snapshots'",
            ],
            "damaged_database",
        ),
    ],
)
def test_a_row_that_is_not_its_record_is_found(
    tmp_path: Path, history: Lines, statements: list[str], code: str
) -> None:
    path = written(tmp_path, "sqlite", history)
    changed_rows(path, *statements)
    found = told(path)
    assert found["fault"]["code"] == code
    assert found["records"] < 26


def test_a_row_that_an_index_hides_is_found(tmp_path: Path, history: Lines) -> None:
    path = written(tmp_path, "sqlite", history)
    content = bytearray(Path(path).read_bytes())
    with closing(sqlite3.connect(path)) as base:
        (size,) = base.execute("PRAGMA page_size").fetchone()
        (root,) = base.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_records_1'"
        ).fetchone()
    header = (root - 1) * size
    assert content[header] == 10  # A leaf of an index: one cell fewer hides the last record.
    content[header + 3 : header + 5] = (25).to_bytes(2, "big")
    Path(path).write_bytes(content)
    assert told(path)["fault"]["code"] == "damaged_database"


def test_any_damage_of_a_database_has_a_verdict(tmp_path: Path, history: Lines) -> None:
    path = Path(written(tmp_path, "sqlite", history))
    content = path.read_bytes()
    verdicts: Counter[str] = Counter()
    random = Random(1)  # noqa: S311 - it draws places
    places = [*range(16, 100), *(random.randrange(100, len(content)) for _ in range(250))]
    for place in places:
        changed = bytearray(content)
        changed[place] ^= random.randrange(1, 256)
        path.write_bytes(changed)
        done = run("verify", str(path), "--json")
        if done.exit_code == 2:
            assert len(done.stderr.splitlines()) == 1, place
            verdicts["refused"] += 1
            continue
        found = json.loads(done.stdout)
        verdicts[found["verdict"]] += 1
        assert found["records"] == 26 or found["verdict"] != "sound", place
    for cut in range(0, len(content), 1024):
        path.write_bytes(content[:cut])
        assert run("verify", str(path)).exit_code in ({3} if cut == 0 else {1, 2}), cut
    assert set(verdicts) == {"refused", "sound", "bad"}


def test_a_database_with_several_runs_lists_them_and_takes_one(tmp_path: Path, history: Lines, other: Lines) -> None:
    journal = SqliteJournal(tmp_path, "run")
    for lines in (history, other):
        for batch in batches_of(lines):
            appended(journal, batch)
    journal.close()
    path = str(tmp_path / "run.sqlite3")
    mine, others = (verified(lines[0]).run_id for lines in (history, other))
    refused = run("verify", path)
    assert refused.exit_code == 2
    assert "name one with --run" in refused.stderr
    assert mine in refused.stderr
    assert others in refused.stderr
    assert told(path, "--run", mine)["records"] == 26
    assert told(path, "--run", others)["run_id"] == others
    nobody = run("verify", path, "--run", RUN)
    assert (nobody.exit_code, "has no run" in nobody.stderr) == (2, True)
    assert run("diff", path, path, "--run-a", mine, "--run-b", mine).exit_code == 0
    with closing(sqlite3.connect(path)) as base:
        base.executemany("INSERT INTO records VALUES (?, 1, 'x', 'x')", [(f"\x1b[31m{n:03}",) for n in range(500)])
        base.commit()
    many = run("verify", path)
    assert (many.exit_code, len(many.stderr) < 1_500, "\x1b" in many.stderr) == (2, True, False)
    assert run("inspect", written(tmp_path, "jsonl", history), "--run", mine).exit_code == 2


def with_tables(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        for statement in statements:
            base.execute(statement)


ENDLESS = "CREATE VIEW records AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT x FROM n"


@pytest.mark.parametrize(
    ("made", "code", "said"),
    [
        (lambda path: with_tables(path, "CREATE TABLE notes (x)"), 2, "another program's database"),
        (lambda path: with_tables(path, ENDLESS, "PRAGMA user_version = 1"), 2, "another program's database"),
        (lambda path: with_tables(path, "CREATE TABLE records (x)", "PRAGMA user_version = 2"), 2, "has format 2"),
        (lambda path: with_tables(path, "PRAGMA journal_mode = WAL"), 3, "NOTHING CHECKED"),
        (lambda path: path.write_bytes(databases.MAGIC + b"\xff" * 5_000), 1, "damaged_database"),
        (lambda path: path.write_bytes(databases.MAGIC), 1, "damaged_database"),
        (lambda path: path.write_bytes(bytes(2**20)), 1, "1,048,576 zeros stand at the end"),
        (lambda path: path.write_bytes(b"MWJ1" + b"\xff" * 8), 1, "wrong_length"),
        (lambda path: path.write_bytes(b"MWJ1" + b"\xff\xff\xff\xff" + bytes(100)), 1, "wrong_length"),
        (lambda path: path.write_bytes(b"MWJ1" + bytes(8)), 1, "wrong_length"),
        (lambda path: path.write_bytes(b"MWJ"), 1, "unknown_format"),
        (lambda path: path.write_bytes(b"PK\x03\x04 and so on"), 1, "unknown_format"),
        (lambda path: path.write_bytes(b"\xef\xbb\xbf{}"), 1, "unknown_format"),
        (lambda path: path.write_bytes(b"{" + b"x" * 50_000_000), 1, "over_limit"),
        (lambda path: path.write_bytes(b'{"a":' * 200_000 + b"\n"), 1, "not_json"),
        (lambda path: path.write_bytes(frame("MWJ1", b"[" * 200_000)), 1, "not_json"),
        (lambda path: path.write_bytes(b'{"\x1b[31m":1}\n'), 1, "not_json"),
        (lambda path: path.write_bytes(b'{"\\u001b[31m":1}\n'), 1, "unknown_member"),
        (lambda path: path.write_bytes(frame("MWJ1", b'{"a":1,"a":2}')), 1, "stands twice"),
        (lambda path: path.write_bytes(frame("MWJ1", b"{}") + frame("MWS1", b"{}")), 1, "wrong_structure"),
    ],
)
def test_what_is_hostile_gets_one_clear_answer(
    tmp_path: Path, made: Callable[[Path], object], code: int, said: str
) -> None:
    path = tmp_path / "run"
    made(path)
    done = run("verify", str(path))
    assert done.exit_code == code
    told = done.stderr if code == 2 else done.stdout
    assert said in told
    assert "\x1b" not in told
    assert max(map(len, told.splitlines())) < 700
    assert len(told.splitlines()) == 1 or code != 2
    for command in ("inspect", "diff"):
        again = run(command, str(path), *([str(path)] if command == "diff" else []))
        assert "\x1b" not in again.stdout + again.stderr


SNAPSHOT = b'{"run_id":"%s","sequence":7,"state":{}}' % RUN.encode()


@pytest.mark.parametrize(
    ("content", "check", "code", "offset"),
    [
        (frame("MWS1", SNAPSHOT), None, None, 0),
        (frame("MWS1", SNAPSHOT)[:-1], "framing", "cut_frame", 0),
        (frame("MWS1", SNAPSHOT)[:-1] + b"]", "checksum", "wrong_crc", 0),
        (frame("MWS1", SNAPSHOT) + bytes(3), "framing", "not_a_frame", 12 + len(SNAPSHOT)),
        (frame("MWS1", SNAPSHOT) * 2, "framing", "trailing_bytes", 12 + len(SNAPSHOT)),
        (b"MWS1\xff\xff\xff\xff" + bytes(9), "framing", "wrong_length", 0),
        (frame("MWS1", SNAPSHOT[:-1]), "form", "not_json", 0),
        (frame("MWS1", SNAPSHOT.replace(b":7", b": 7")), "form", "not_canonical", 0),
        (frame("MWS1", SNAPSHOT.replace(b":7", b":0")), "form", "wrong_structure", 0),
        (frame("MWS1", SNAPSHOT.replace(b":7", b":true")), "form", "wrong_structure", 0),
        (frame("MWS1", SNAPSHOT.replace(b"run_id", b"rub_id")), "form", "wrong_structure", 0),
        (frame("MWS1", b"[]"), "form", "wrong_structure", 0),
    ],
)
def test_a_snapshot_is_verified_as_far_as_it_goes_alone(
    tmp_path: Path, content: bytes, check: str | None, code: str | None, offset: int
) -> None:
    path = tmp_path / "run.mws1"
    path.write_bytes(content)
    found = told(str(path))
    assert [name for name, each in found["checks"].items() if each["found"]] == ([check] if check else [])
    if check is None:
        made = {name for name, each in found["checks"].items() if each["checked"]}
        assert (found["verdict"], found["run_id"], made) == ("sound", RUN, {"framing", "form", "checksum"})
        assert run("verify", str(path)).stdout.startswith("SOUND  a snapshot after record 7, alone\n")
    else:
        assert (found["verdict"], found["fault"]["code"], found["fault"]["place"]["offset"]) == ("bad", code, offset)
    assert run("verify", str(path), "--head", "1:" + "0" * 64).exit_code == 2
    for words in (("inspect", str(path)), ("diff", str(path), str(path))):
        refused = run(*words)
        assert (refused.exit_code, "is a snapshot" in refused.stderr) == (2, True)


SNAPSHOT_AFTER = snapshot_after(samples.with_precise_numbers(), 5)


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        (None, "there is no MWJ1 file of this name beside it"),
        (samples.with_precise_numbers(), ""),
        (samples.with_precise_numbers()[:5], ""),
        ([*samples.with_precise_numbers()[:6], b"{}"], ""),
        ([*samples.with_precise_numbers()[:3], b"{}"], "the history beside it is bad at record 4: verify that"),
        ([b"{}"], "the history beside it is bad at record 1: verify that"),
    ],
)
def test_a_snapshot_is_verified_beside_its_history(tmp_path: Path, beside: samples.Lines | None, said: str) -> None:
    path = samples.write_snapshot(tmp_path / "run.mws1", SNAPSHOT_AFTER)
    if beside is not None:
        samples.write(tmp_path / "run.mwj1", beside)
    found = told(path)
    assert (found["verdict"], found["run_id"]) == ("sound", SNAPSHOT_AFTER["run_id"])
    assert [each.partition(": ")[2].partition(": ")[2] for each in found["not_checked"]] == [said] * (2 if said else 0)
    made = {name for name, each in found["checks"].items() if each["checked"]}
    assert made == {"framing", "form", "checksum"} | (set() if said else {"linkage", "rules"})
    where = "alone" if said else "beside its history"
    assert run("verify", path).stdout.startswith(f"SOUND  a snapshot after record 5, {where}\n")


@pytest.mark.parametrize(
    ("snapshot", "check", "code"),
    [
        ({**SNAPSHOT_AFTER, "run_id": OTHER_RUN}, "linkage", "wrong_run"),
        ({**SNAPSHOT_AFTER, "sequence": 99}, "linkage", "wrong_position"),
        ({**SNAPSHOT_AFTER, "event_id": OTHER_RUN}, "linkage", "wrong_event_id"),
        ({**SNAPSHOT_AFTER, "record_checksum": "0" * 64}, "linkage", "wrong_record"),
        ({**SNAPSHOT_AFTER, "content_hash": "0" * 64}, "linkage", "wrong_specification"),
        (tied_to(SNAPSHOT_AFTER, samples.with_precise_numbers()[3]), "linkage", "inside_batch"),
        (with_state(SNAPSHOT_AFTER, {}), "rules", "wrong_state"),
        (with_state(SNAPSHOT_AFTER, {**SNAPSHOT_AFTER["state"], "now_ms": 9}), "rules", "wrong_state"),
        ({**SNAPSHOT_AFTER, "state": {}}, "checksum", "wrong_checksum"),
    ],
)
def test_a_snapshot_of_something_else_is_told(tmp_path: Path, snapshot: Any, check: str, code: str) -> None:
    path = samples.write_snapshot(tmp_path / "run.mws1", snapshot)
    samples.write(tmp_path / "run.mwj1", samples.with_precise_numbers())
    found = told(path)
    assert (found["verdict"], found["fault"]["check"], found["fault"]["code"]) == ("bad", check, code)
    assert run("verify", path).exit_code == 1


def test_a_snapshot_is_no_history_beside_another(tmp_path: Path) -> None:
    path = samples.write_snapshot(tmp_path / "run.mws1", SNAPSHOT_AFTER)
    samples.write_snapshot(tmp_path / "run.mwj1", SNAPSHOT_AFTER)
    assert "bad at record 1" in told(path)["not_checked"][0]
    assert "there is no MWJ1 file" in told(str(tmp_path / "run.mwj1"))["not_checked"][0]


def test_a_database_comes_from_no_pipe_and_frames_may(tmp_path: Path, history: Lines) -> None:
    for form, code in (("mwj1", 0), ("sqlite", 2)):
        with Path(written(tmp_path, form, history)).open("rb") as file:
            done = subprocess.run([*PERDURE, "verify", "-"], stdin=file, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr


def test_a_rollback_journal_beside_a_database_is_refused(tmp_path: Path, history: Lines) -> None:
    path = written(tmp_path, "sqlite", history)
    Path(f"{path}-journal").write_bytes(b"x")
    assert "rollback journal" in run("verify", path).stderr


@pytest.mark.parametrize("command", PRINTED)
def test_a_schema_is_closed_and_says_what_is_printed(tmp_path: Path, history: Lines, command: str) -> None:
    Draft202012Validator.check_schema(schema_of(command).schema)
    path = REVIEW_LOOP if command == "explore" else written(tmp_path, "jsonl", history)
    found = json.loads(run(command, path, "--json", *(["--output", f"{path}.mwj1"] * (command == "inspect"))).stdout)
    assert schema_of(command).is_valid(found)
    assert not schema_of(command).is_valid({**found, "more": 1})
    for name in found:
        assert not schema_of(command).is_valid({key: value for key, value in found.items() if key != name}), name


def test_nothing_is_overwritten_and_nothing_is_left_behind(tmp_path: Path, history: Lines) -> None:
    path, target = written(tmp_path, "jsonl", history), tmp_path / "target.mwj1"
    target.write_bytes(b"precious")
    refused = run("inspect", path, "--output", str(target))
    assert (refused.exit_code, "--force" in refused.stderr, target.read_bytes()) == (2, True, b"precious")
    bad = written(tmp_path, "mwj1", [*history, b"junk"])
    assert run("inspect", bad, "--output", str(target), "--force").exit_code == 1
    empty = written(tmp_path, "sqlite", [])
    assert run("inspect", empty, "--output", str(target), "--force").exit_code == 3
    assert run("inspect", path, "--output", str(target), "--force", "--at", "99").exit_code == 2
    assert run("inspect", path, "--output", str(target), "--force", "--at", "8").exit_code == 2
    assert target.read_bytes() == b"precious"
    assert run("inspect", path, "--output", str(tmp_path / "no/where.jsonl")).exit_code == 2
    assert run("inspect", path, "--output", str(tmp_path / "run.txt")).exit_code == 2
    assert run("inspect", path, "--output", str(tmp_path / "run.txt"), "--format", "yaml").exit_code == 2
    assert run("inspect", path, "--output", str(tmp_path)).exit_code == 2
    assert {each.name for each in tmp_path.iterdir()} == {"run.jsonl", "run.mwj1", "run.sqlite3", "target.mwj1"}
    done = run("inspect", path, "--output", str(target), "--force", "--at", "9")
    assert done.stdout.startswith(f"WRITTEN  9 records to {target} (MWJ1)\nhead     9:")
    assert target.read_bytes() == b"".join(frame("MWJ1", line) for line in history[:9])
    assert run("inspect", path, "--output", str(tmp_path / "named"), "--format", "sqlite").exit_code == 0
    assert told(str(tmp_path / "named"))["format"] == "sqlite"


def test_a_database_that_is_open_is_not_replaced(tmp_path: Path, history: Lines) -> None:
    path = written(tmp_path, "jsonl", history)
    journal = SqliteJournal(tmp_path, "open")
    refused = run("inspect", path, "--output", str(tmp_path / "open.sqlite3"), "--force")
    journal.close()
    assert (refused.exit_code, "a database is open" in refused.stderr) == (2, True)


def test_a_journal_goes_on_with_what_was_converted(tmp_path: Path, history: Lines) -> None:
    path = written(tmp_path, "jsonl", history[:9])
    assert run("inspect", path, "--output", str(tmp_path / "kept.sqlite3")).exit_code == 0
    journal = SqliteJournal(tmp_path, "kept")
    for batch in batches_of(history[9:]):
        appended(journal, batch)
    journal.close()
    assert told(str(tmp_path / "kept.sqlite3"))["records"] == 26


def test_a_simulation_writes_frames_too(tmp_path: Path) -> None:
    for suffix in ("jsonl", "mwj1"):
        assert run("simulate", REVIEW_LOOP, "--output", str(tmp_path / f"run.{suffix}")).exit_code == 0
    assert run("diff", str(tmp_path / "run.jsonl"), str(tmp_path / "run.mwj1")).stdout.startswith("SAME  ")


def test_the_format_is_known_by_its_content_alone(tmp_path: Path, history: Lines) -> None:
    for form in FORMATS:
        path = Path(written(tmp_path, form, history)).rename(tmp_path / "history.txt")
        assert told(str(path))["format"] == form


def all_of(batches: list[tuple[list[Any], int]]) -> Lines:
    lines: Lines = []
    for events, version in batches:
        ids = [EventId(uuid(1_000_000 + len(lines) + number)) for number in range(len(events))]
        lines += sealed(Place(RUN, len(lines) + 1, version), events, ids)
    return lines


def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Lines, set[tuple[int, str]]]]:
    """Yield histories of all versions, and the types of events in each."""
    batches: list[tuple[list[Any], int]] = []
    commit = Checked.commit

    def noted(self: Checked, events: list[Any], after: Any, version: int) -> None:
        batches.append((events, version))
        commit(self, events, after, version)

    monkeypatch.setattr(Checked, "commit", noted)
    for number in range(DRAWN):
        batches.clear()
        player = play if number % 3 == 0 else play_older
        player(Random(f"formats/{number}"), Counter(), tampering=0)  # noqa: S311 - it draws examples
        yield all_of(batches), {(version, type(event).__name__) for events, version in batches for event in events}


DRAWN = 450
"""So many histories have every event of every version."""


def converted(folder: Path, source: str, *steps: str) -> bytes:
    """Write a history as one format after the other, and return the last file."""
    for number, step in enumerate(steps):
        target = str(folder / f"{number}.{FORMATS[step]}")
        done = run("inspect", source, "--output", target, "--force")
        assert done.exit_code == 0, done.stderr
        source = target
    return Path(source).read_bytes()


def test_each_event_of_each_version_comes_back_byte_for_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {(version, kind.__name__) for version, kinds in EVENTS.items() for kind in kinds}
    for lines, kinds in drawn(monkeypatch):
        if not missing & kinds:
            continue
        missing -= kinds
        source = written(tmp_path, "jsonl", lines)
        assert converted(tmp_path, source, "mwj1", "sqlite", "jsonl") == Path(source).read_bytes()
        assert converted(tmp_path, source, "sqlite", "mwj1") == b"".join(frame("MWJ1", line) for line in lines)
    assert missing == set()
