"""The golden vectors: what is frozen is what the model writes, nothing can go unnoticed, and everything has one."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from tests.conformance.helpers import ROOT
from typer.testing import CliRunner, Result

from perdure.kernel.errors import Corruption, corrupt
from perdure.kernel.events import AnyEvent, RunFailed
from perdure.kernel.state import State
from perdure_conformance import data
from perdure_conformance.cli import command_line
from perdure_conformance.golden import chosen, coverage
from perdure_conformance.golden.collection import all_vectors
from perdure_conformance.golden.export import exported
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.dispatch import KERNELS
from perdure_conformance.reducer.golden import golden, golden_questions
from perdure_conformance.reducer.histories import RUN
from perdure_conformance.reducer.judge import judge
from perdure_conformance.reducer.profile import REDUCER
from perdure_conformance.reducer.questions import Query, truth_about
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.scenarios import all_scenarios
from perdure_conformance.requirements import requirements_of
from perdure_conformance.spec.pairs import all_pairs
from perdure_conformance.suite import Options
from perdure_conformance.vectors.folder import VectorsRefused, Wanted, differences, files_in, loaded, wanted_of
from perdure_conformance.vectors.index import INDEX, listed
from perdure_conformance.vectors.vector import KINDS

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def wanted() -> Wanted:
    return wanted_of(all_vectors())


@pytest.fixture(scope="module")
def frozen() -> Files:
    return files_in(data.vectors())


def index_of(files: Files) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files[INDEX])
    return found


def test_what_is_frozen_is_what_the_model_writes(frozen: Files, wanted: Wanted) -> None:
    assert differences(frozen, wanted) == []
    assert [vector.contents for vector in loaded(frozen)] == [vector.contents for vector in all_vectors()]
    assert coverage.reached(loaded(frozen)) == coverage.reached(all_vectors())


def test_the_index_keeps_its_schema(frozen: Files) -> None:
    schema = json.loads((data.schemas() / "vectors-1.json").read_text("utf-8"))
    validator = Draft202012Validator(schema)
    index = index_of(frozen)
    validator.validate(index)
    assert {each["kind"] for each in index["vectors"]} == set(KINDS)
    for vector in index["vectors"][::40]:
        near_miss = {**vector, "expected": {**vector["expected"], "more": 1}}
        assert not validator.is_valid({**index, "vectors": [near_miss]}), vector["id"]


# Nothing goes unnoticed


def test_each_file_that_is_missing_is_told_by_its_vector(frozen: Files, wanted: Wanted) -> None:
    for path in frozen:
        found = differences({name: content for name, content in frozen.items() if name != path}, wanted)
        assert [(each.file, each.what) for each in found] == [(path, "missing")]
        assert path == INDEX or path.startswith(f"{found[0].vector}.")


def test_each_file_that_was_changed_is_told_by_its_vector(frozen: Files, wanted: Wanted) -> None:
    for path, content in frozen.items():
        if path != INDEX:
            found = differences({**frozen, path: content + b" "}, wanted)
            assert [(each.file, each.what) for each in found] == [(path, "changed")]
            assert path.startswith(f"{found[0].vector}.")
            assert "and the model writes nothing" in found[0].sentence
            assert differences({**frozen, path: _flipped(content, len(content) // 2)}, wanted) or not content


def test_a_file_beside_each_vector_that_none_has_is_told(frozen: Files, wanted: Wanted) -> None:
    copies = {path + ".orig": content for path, content in frozen.items()}
    found = differences({**frozen, **copies}, wanted)
    assert [(each.file, each.what) for each in found] == [(copy, "extra") for copy in sorted(copies)]


def test_a_byte_of_the_index_that_was_changed_is_told(frozen: Files, wanted: Wanted) -> None:
    content = frozen[INDEX]
    for at in range(0, len(content), len(content) // 8):
        assert differences({**frozen, INDEX: _flipped(content, at)}, wanted), at


def _flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes(byte ^ 1 for byte in content[at : at + 1]) + content[at + 1 :]


def test_each_vector_that_went_with_its_files_is_told(frozen: Files, wanted: Wanted) -> None:
    index = index_of(frozen)
    for position, vector in enumerate(index["vectors"]):
        gone = {file["path"] for file in vector["files"]}
        files = {path: content for path, content in frozen.items() if path not in gone}
        assert {each.file for each in differences(files, wanted)} == gone
        if position % 100 == 0:
            fewer = [*index["vectors"][:position], *index["vectors"][position + 1 :]]
            found = differences({**files, INDEX: json.dumps({**index, "vectors": fewer}).encode()}, wanted)
            assert {(each.vector, each.what) for each in found} == {(vector["id"], "missing")}


def test_an_answer_that_was_changed_is_told_with_its_place(frozen: Files, wanted: Wanted) -> None:
    index = index_of(frozen)
    vector = next(each for each in index["vectors"] if "state_digest" in each["expected"])
    vector["expected"]["state_digest"] = "0" * 64
    found = differences({**frozen, INDEX: json.dumps(index).encode()}, wanted)
    assert [(each.vector, each.what) for each in found] == [(vector["id"], "answer")]
    assert "/expected/state_digest: there is '\"0000" in found[0].sentence


def test_a_file_and_its_digest_changed_together_are_told(frozen: Files, wanted: Wanted) -> None:
    index = index_of(frozen)
    file = index["vectors"][0]["files"][0]
    content = frozen[file["path"]] + b"\n"
    file["sha256"] = hashlib.sha256(content).hexdigest()
    files = {**frozen, file["path"]: content, INDEX: json.dumps(index).encode()}
    assert {each.what for each in differences(files, wanted)} == {"changed", "answer"}


@pytest.mark.parametrize(
    ("path", "content", "what"),
    [
        ("reduce/by-hand.jsonl", b"{}\n", "extra"),
        (".hidden", b"", "extra"),
        (INDEX, b"[]", "index"),
        (INDEX, b'{"vectors_version": 2, "vectors": []}', "index"),
    ],
)
def test_what_is_no_vector_is_told(frozen: Files, wanted: Wanted, path: str, content: bytes, what: str) -> None:
    assert [(each.file, each.what) for each in differences({**frozen, path: content}, wanted)] == [(path, what)]


def test_an_index_that_is_only_spelt_otherwise_is_told(frozen: Files, wanted: Wanted) -> None:
    found = differences({**frozen, INDEX: frozen[INDEX].replace(b'": ', b'":', 1)}, wanted)
    assert [(each.what, each.file) for each in found] == [("index", INDEX)]
    assert "line 1, byte 20" in found[0].sentence


def test_what_is_not_as_it_was_written_is_not_loaded(frozen: Files) -> None:
    path = next(iter(frozen))
    for files in ({**frozen, path: b"x"}, {name: each for name, each in frozen.items() if name != path}):
        with pytest.raises(VectorsRefused, match=path):
            loaded(files)
    with pytest.raises(VectorsRefused, match="no folder of vectors"):
        loaded({})


# Everything has one


def test_everything_has_a_vector() -> None:
    assert coverage.gaps(all_vectors()) == []


def test_what_is_out_of_reach_is_not_reached_and_is_something() -> None:
    assert not coverage.reached(all_vectors()) & set(coverage.OUT_OF_REACH)
    assert set(coverage.OUT_OF_REACH) <= set(coverage._goals())


def test_what_no_vector_reaches_any_more_is_told() -> None:
    reached = {vector.id: coverage.reached([vector]) for vector in all_vectors()}
    for goal in sorted(coverage.goals())[::100]:
        without = [vector for vector in all_vectors() if goal not in reached[vector.id]]
        assert " ".join(goal) in coverage.gaps(without)


def test_each_scenario_and_pair_that_is_named_is_there() -> None:
    scenarios = {(scenario.requirement, scenario.name) for scenario in all_scenarios()}
    pairs = {(pair.requirement, pair.name) for pair in all_pairs()}
    assert {(key, name) for key, names in chosen.SCENARIOS.items() for name in names} <= scenarios
    assert {(key, name) for key, names in chosen.PAIRS.items() for name in names} <= pairs


def test_each_problem_and_warning_has_a_twin_without_it() -> None:
    names: dict[str, list[dict[str, Any]]] = {}
    for vector in all_vectors():
        if vector.kind == "validate":
            names.setdefault(vector.name.rpartition(": ")[0], []).append(dict(vector.expected))
    for name, answers in names.items():
        accepted = [answer for answer in answers if answer["valid"]]
        if name.startswith("SPC-031 "):
            assert sorted(bool(answer["warnings"]) for answer in accepted) == [False, True], name
        elif not name.startswith("SPC-030 "):  # Several problems at once are several edits away.
            assert accepted, name


# What readers of JSON disagree about


def _is_parsed_by(parse: Callable[[bytes], object]) -> Callable[[bytes], bool]:
    def is_taken(content: bytes) -> bool:
        try:
            parse(content)
        except ValueError:
            return False
        return True

    return is_taken


def _events_are(is_right: Callable[[Any], bool]) -> Callable[[bytes], bool]:
    return lambda content: all(is_right(json.loads(line)["event"]) for line in content.splitlines())


def _document_is(is_right: Callable[[Any], bool]) -> Callable[[bytes], bool]:
    return lambda content: is_right(json.loads(content))


_IDENTITY = re.compile("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_ANY_CASE = re.compile(_IDENTITY.pattern, re.IGNORECASE)
_DIGEST = re.compile("^[0-9a-f]{64}$")
_BY_PATTERN = Draft202012Validator({"properties": {"attempt_id": {"pattern": _IDENTITY.pattern}}})

READERS: list[tuple[str, Callable[[bytes], bool], tuple[str, ...]]] = [
    (
        "json: keys twice, NaN, lone surrogates, any integer",
        _is_parsed_by(json.loads),
        (
            "read/a-key-stands-twice",
            "read/a-key-stands-twice-once-escaped",
            "read/nan",
            "read/minus-infinity",
            "read/a-lone-surrogate",
            "read/a-lone-surrogate-in-a-key",
            "read/2-to-the-53",
            "read/2-to-the-64",
            "validate/spc-001-a-key-stands-twice-at-the-top-refused",
            "validate/spc-001-nan-refused",
            "validate/spc-001-a-lone-surrogate-refused",
        ),
    ),
    (
        "msgspec: keys twice, large integers",
        _is_parsed_by(msgspec.json.decode),
        ("read/a-key-stands-twice", "read/a-key-stands-twice-deep-inside", "read/2-to-the-64"),
    ),
    (
        "a pattern that ends in $: a line feed behind an identity",
        _events_are(lambda event: _IDENTITY.match(event.get("attempt_id", RUN)) is not None),
        ("reduce/an-identity-in-an-event-with-a-line-feed",),
    ),
    (
        "jsonschema: a line feed behind an identity",
        _events_are(_BY_PATTERN.is_valid),
        ("reduce/an-identity-in-an-event-with-a-line-feed",),
    ),
    (
        "a pattern that ends in $: a line feed behind a digest",
        _document_is(lambda document: _DIGEST.match(str(_artifact_digest(document))) is not None),
        ("validate/spc-006-a-digest-with-a-line-feed-refused",),
    ),
    (
        "a pattern of either case: an identity in capitals",
        _events_are(lambda event: _ANY_CASE.match(event.get("attempt_id", RUN)) is not None),
        ("reduce/an-identity-in-an-event-in-capitals",),
    ),
    (
        "integers by their Python type: 1.0 is none",
        _events_are(lambda event: type(event.get("attempt", 1)) is int),
        ("reduce/an-integer-of-an-event-spelt-1-0",),
    ),
    (
        "instances of integers: true is one",
        _events_are(lambda event: isinstance(event.get("attempt", 1), int)),
        ("reduce/an-integer-of-an-event-true",),
    ),
    (
        "conversion: true and digits are integers",
        _events_are(lambda event: int(event.get("attempt", 1)) > 0),
        ("reduce/an-integer-of-an-event-true", "reduce/an-integer-of-an-event-a-string-of-digits"),
    ),
]
"""Readers of JSON, each with vectors about which it errs."""


def _artifact_digest(document: Any) -> object:
    return document["nodes"][0]["artifacts"]["x"]["sha256"]


@pytest.mark.parametrize(("is_taken", "wrong"), [each[1:] for each in READERS], ids=[each[0] for each in READERS])
def test_what_readers_of_json_err_about_has_a_vector(is_taken: Callable[[bytes], bool], wrong: tuple[str, ...]) -> None:
    by_id = {vector.id: vector for vector in all_vectors()}
    for name in wrong:
        told = by_id[name].expected
        is_right = next(bool(told[word]) for word in ("read", "valid", "accepted") if word in told)
        assert is_taken(by_id[name].question) != is_right, name


# A kernel is asked about them


class RefusesFractions(ReferenceKernel):
    """Takes 1.0 for no integer."""

    def read(self, entry: Entry) -> AnyEvent:
        if any(isinstance(value, float) for value in entry.event.values()):
            raise Corruption("wrong_structure", "this is no integer")
        return super().read(entry)


class RefusesFailuresOfVersion3(ReferenceKernel):
    """Knows no RunFailed of version 3."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if version == 3 and isinstance(event, RunFailed):
            corrupt("nothing_owed", "no run of version 3 fails")
        return super().step(state, event, version)


@pytest.mark.parametrize(
    ("kernel", "requirement"), [(RefusesFractions, "VER-002"), (RefusesFailuresOfVersion3, "RUN-024")]
)
def test_what_a_vector_alone_finds_has_the_name_of_its_requirement(
    kernel: type[ReferenceKernel], requirement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perdure_conformance.reducer.judge.all_scenarios", tuple)
    judgement = judge(KERNELS.of(kernel), Options("quick", parts=frozenset({"written"})))
    assert list(judgement.findings) == [requirement]
    finding = judgement.findings[requirement]
    assert finding.found_by in {vector.id for vector in golden()}
    assert finding.reproduced


def test_the_vectors_alone_find_each_mutant_of_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perdure_conformance.reducer.judge.all_scenarios", tuple)
    of_the_client = {requirement.id for requirement in requirements_of(("client.md",))}
    mutants = [mutant for mutant in REDUCER.mutants.values() if mutant.breaks in of_the_client]
    assert len(mutants) > 40
    for mutant in mutants:
        only = frozenset({mutant.breaks})
        options = Options("quick", only=only, parts=frozenset({"written"}), smaller=False)
        assert set(judge(mutant.target, options).findings) == only, mutant.name


def test_the_answers_of_the_vectors_are_what_a_kernel_is_judged_by() -> None:
    """The questions that are made of the files have the answers that the files say."""
    expected = {vector.id: listed(vector).expected for vector in golden()}
    for name, side in golden_questions():
        told, truth = expected[name], side.truth
        if side.question.shown is not None:
            assert told["restored"] == (truth.state is not None), name
            assert told.get("sequence", 0) == truth.sequence, name
            assert truth_about(Query(side.question.history)).error is None, name
        elif side.question.command is None:
            assert told["accepted"] == (truth.error is None), name
            assert told.get("sequence", 0) == truth.sequence, name
        else:
            assert told["allowed"] == isinstance(truth.decided, tuple), name


# The command line: in this process, where the vectors are worked out once


def vectors(*words: str) -> Result:
    return CliRunner().invoke(command_line(), ["vectors", *words])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(data.vectors(), tmp_path / "vectors")
    return tmp_path / "vectors"


def test_check_tells_the_vector_and_the_first_difference(folder: Path) -> None:
    assert vectors("check").exit_code == 0
    (folder / "token/a-token-in-ascii.txt").write_text("Secret")
    (folder / "token/an-empty-token.txt").unlink()
    done = vectors("check", "--folder", str(folder))
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "DIFFERENT  token/a-token-in-ascii.txt: line 1, byte 1: there is 'Secret', and the model writes 'secret'",
        "DIFFERENT  token/an-empty-token.txt is missing",
    ]
    document = json.loads(vectors("check", "--folder", str(folder), "--json").stdout)
    assert [each["vector"] for each in document["differences"]] == ["token/a-token-in-ascii", "token/an-empty-token"]
    assert document["not_reached"] == []


def test_what_is_frozen_is_replaced_only_if_that_is_accepted(folder: Path) -> None:
    changed, gone, more = (folder / f"token/{name}.txt" for name in ("a-token-in-ascii", "an-empty-token", "mine"))
    changed.write_text("Secret")
    gone.unlink()
    more.write_text("")
    words = ("write", "--folder", str(folder))
    done = vectors(*words)
    assert (done.exit_code, changed.read_text(), gone.exists(), more.exists()) == (1, "Secret", False, True)
    assert "DIFFERENT  token/mine.txt is there, and no vector has it" in done.stdout
    assert "Nothing was written: what is there is frozen." in done.stdout
    done = vectors(*words, "--accept", "--json")
    assert (done.exit_code, changed.read_text(), gone.exists(), more.exists()) == (0, "secret", True, False)
    assert [each["how"] for each in json.loads(done.stdout)["changes"]] == ["changed", "added", "removed"]
    gone.unlink()
    assert vectors(*words).exit_code == 0, "what is only added needs no acceptance"
    assert vectors("check", "--folder", str(folder)).exit_code == 0


def test_an_answer_that_differs_is_not_replaced_unless_that_is_accepted(folder: Path) -> None:
    index = folder / INDEX
    kept = index.read_text("utf-8")
    index.write_text(kept.replace('"allowed": true', '"allowed": false', 1), "utf-8")
    changed = index.read_text("utf-8")
    done = vectors("write", "--folder", str(folder))
    assert (done.exit_code, index.read_text("utf-8")) == (1, changed)
    assert "/expected/allowed: there is 'false', and the model says 'true'" in done.stdout
    assert vectors("write", "--folder", str(folder), "--accept").exit_code == 0
    assert index.read_text("utf-8") == kept


@pytest.mark.parametrize(
    "put",
    [
        os.mkfifo,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to("index.json"),
        lambda path: path.symlink_to("."),
    ],
)
def test_what_is_no_file_is_neither_read_nor_passed_over(tmp_path: Path, put: Callable[[Path], object]) -> None:
    (tmp_path / "index.json").write_bytes(b"{}")
    put(tmp_path / "other")
    with pytest.raises(VectorsRefused, match=r"other is a link, a pipe or a device: .*\.$"):
        files_in(tmp_path)


def test_what_is_exported_has_each_state_in_full(tmp_path: Path, frozen: Files) -> None:
    done = vectors("export", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert done.stdout == f"WRITTEN  {len(files_in(tmp_path / 'out')) + 1:,} files to {tmp_path / 'out'}\n"
    states = [vector.id for vector in all_vectors() if "state_digest" in vector.expected]
    written = files_in(tmp_path / "out")
    assert set(written) == {*frozen, *(f"states/{name}.json" for name in states)}
    assert vectors("export", "--tar", str(tmp_path / "out.tar")).exit_code == 0
    with tarfile.open(fileobj=io.BytesIO((tmp_path / "out.tar").read_bytes())) as archive:
        names = {name.removeprefix("perdure-vectors/") for name in archive.getnames()}
    assert names == {*written, "README.md"}


@pytest.mark.parametrize(
    ("kind", "content"),
    [("reduce", b"[]\n"), ("reduce", b"{"), ("reduce", b""), ("restore", b"{}"), ("restore", b"\xff")],
)
def test_a_state_that_nobody_can_tell_is_refused_in_a_sentence(kind: str, content: bytes) -> None:
    one = next(each for each in golden() if each.kind == kind and "state_digest" in each.expected)
    with pytest.raises(VectorsRefused, match=f"^The vector {one.id} .*perdure vectors check"):
        exported([replace(one, files=dict.fromkeys(one.files, content))], b"")


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed: the example is not covered")
def test_the_example_of_the_page_finds_the_one_history_that_a_reducer_gets_wrong(tmp_path: Path) -> None:
    """The reducer is a table of the right answers, but for one; what may be of either kind it says is of the other."""
    page = (ROOT / "docs/vectors.md").read_text("utf-8")
    example = page.partition("```js\n")[2].partition("```")[0]
    assert example.count("\n") <= 14
    assert vectors("export", str(tmp_path / "vectors")).exit_code == 0
    of_reducers = [vector for vector in golden() if vector.kind == "reduce"]
    answers = {vector.question.decode(): dict(vector.expected) for vector in of_reducers}
    wrong = next(vector for vector in of_reducers if vector.expected.get("code") == "invalid_specification")
    answers[wrong.question.decode()] = {"accepted": True, "whole": True}
    for vector in of_reducers:
        if vector.expected.get("code") == "unknown_member":
            answers[vector.question.decode()]["kind"] = "of the other kind"
    (tmp_path / "answers.json").write_text(json.dumps(list(answers.items())), "utf-8")
    (tmp_path / "reducer.mjs").write_text(_TABLE, "utf-8")
    (tmp_path / "example.mjs").write_text(example, "utf-8")
    done = subprocess.run(["node", "example.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    *told, asked = done.stdout.splitlines()
    assert [line.partition(": {")[0] for line in told] == [wrong.id]
    assert asked == f"{len(of_reducers)} asked"


_TABLE = """
import { readFileSync } from "node:fs";
const key = (history) => JSON.stringify(history);
const lines = (text) => text.trimEnd().split("\\n").map((line) => JSON.parse(line));
const told = JSON.parse(readFileSync("answers.json", "utf8"));
const answers = new Map(told.map(([text, answer]) => [key(lines(text)), answer]));
export const reduce = (history) => answers.get(key(history));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed: its answers are not compared")
def test_a_reducer_in_another_language_answers_every_vector_alike() -> None:
    program = ROOT / "conformance/examples/node-reducer/vectors.mjs"
    words = ["node", str(program), str(data.vectors())]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    *wrong, counts = done.stdout.splitlines()
    assert wrong == []
    kinds = Counter(vector.kind for vector in all_vectors())
    told = json.loads(counts)
    told["read_yaml"]["asked"] = kinds["read_yaml"]  # Without the package that reads YAML none of them is asked.
    assert told == {kind: {"asked": number, "of": number} for kind, number in kinds.items()}


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed: its answers are not compared")
def test_an_answer_that_differs_is_printed_by_the_reducer_in_another_language(folder: Path) -> None:
    index = folder / INDEX
    index.write_text(index.read_text("utf-8").replace('"whole": true', '"whole": false', 1), "utf-8")
    (folder / "token/a-token-in-ascii.txt").write_text("Secret")
    program = ROOT / "conformance/examples/node-reducer/vectors.mjs"
    done = subprocess.run(["node", str(program), str(folder)], capture_output=True, text=True, check=True, timeout=60)
    assert [line.partition(":")[0].partition("/")[0] for line in done.stdout.splitlines()[:-1]] == [
        "reduce",
        "token",
        "token",
    ]


def test_what_cannot_be_done_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("")
    for words in (
        ("check", "--folder", "nowhere"),
        ("export",),
        ("export", "full"),
        ("export", "out", "--tar", "out.tar"),
        ("export", "out", "--folder", "full"),
        ("export", "--tar", "no/such/folder.tar"),
    ):
        done = vectors(*words)
        assert (done.exit_code, done.stdout) == (2, ""), words
        assert done.stderr.startswith("perdure: ")
        assert done.stderr.count("\n") == 1
