"""The compatibility gate: its policy and its page, the command line, and what is no release at all."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator
from tests.conformance.helpers import ROOT, perdure_here
from tests.conformance.histories import REVIEW_LOOP, run

from perdure_conformance import data
from perdure_conformance.gate.comparison import compare
from perdure_conformance.gate.policy import POLICY, Code
from perdure_conformance.gate.renames import likely_renames
from perdure_conformance.gate.replaying import replay
from perdure_conformance.gate.sources import GateRefused
from perdure_conformance.golden.export import exported
from perdure_conformance.reducer.dispatch import KERNELS
from perdure_conformance.tool.planted import PLANTED
from perdure_conformance.tool.released import BREW, EVENTS, GONE, MENU, ORDER, RELEASED, changed, write
from perdure_conformance.vectors.folder import changes, contents_of, files_in, loaded
from perdure_conformance.vectors.folder import write as write_vectors
from perdure_conformance.vectors.vector import Vector

SCHEMA = Draft202012Validator(json.loads((data.schemas() / "gate-1.json").read_text("utf-8")))
ELSEWHERE = {"node_left_out", "workflow_left_out"}
"""Told with stored histories alone: `tool/gating.py` plants them."""


def gate(*words: str, cwd: Path) -> Any:
    done = perdure_here("gate", *words, "--json", cwd=cwd)
    found = json.loads(done.stdout)
    SCHEMA.validate(found)
    assert found["exit_code"] == done.returncode
    return found


# The policy


def test_each_kind_of_change_has_a_rule_and_is_planted_with_a_twin_that_has_the_other_verdict() -> None:
    assert set(POLICY) == set(get_args(Code))
    told = {code for twins in PLANTED for one in (twins.breaking, twins.compatible) for code in one.codes}
    assert told | ELSEWHERE == set(POLICY)
    assert len(PLANTED) >= 60
    for twins in PLANTED:
        verdicts = [{POLICY[code].verdict for code in one.codes} for one in (twins.breaking, twins.compatible)]
        assert "breaking" in verdicts[0], twins
        assert "breaking" not in verdicts[1], twins
    names = [one.name for twins in PLANTED for one in (twins.breaking, twins.compatible)]
    assert len(set(names)) == len(names)


def test_the_page_has_the_policy_as_it_is() -> None:
    page = (ROOT / "docs/gate.md").read_text("utf-8")
    for code, rule in POLICY.items():
        verdict = "**breaking**" if rule.verdict == "breaking" else "compatible"
        source = rule.source.removeprefix("rule ")
        assert f"\n| `{code}` | {rule.what} | {verdict} | {rule.reason} | {source} |\n" in page
    assert len(re.findall(r"^\| `", page, re.MULTILINE)) == len(POLICY)


def test_the_schema_has_each_kind_of_change() -> None:
    document = json.loads((data.schemas() / "gate-1.json").read_text("utf-8"))
    assert document["$defs"]["Change"]["properties"]["code"]["enum"] == list(get_args(Code))


def test_what_this_release_has_is_compatible_with_itself() -> None:
    for folder in (data.schemas(), data.vectors(), ROOT / "docs/examples"):
        found = compare(str(folder), str(folder))
        assert (found.exit_code, found.changes) == (0, ())


# The command line


def test_it_tells_in_words_what_breaks_and_what_to_do(tmp_path: Path) -> None:
    write(tmp_path / "old", RELEASED)
    write(tmp_path / "new", changed(RELEASED, (ORDER, "/properties/note/default", GONE), (MENU, "/title", "A menu")))
    done = perdure_here("gate", "old", "new", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "BREAKING  1 change of 2; compared: 4 schemas, 8 vectors, 2 specifications",
        '  breaking    schemas/order-1.json /properties/note: the member note: "" became no default',
        f"              default_changed: {POLICY['default_changed'].reason} (ADR-0032, rule 4)",
        "  compatible  schemas/menu.json: title: said otherwise (text_changed)",
    ]
    found = gate("old", "new", cwd=tmp_path)
    assert [change["code"] for change in found["changes"]] == ["default_changed", "text_changed"]
    assert found["compared"] == {"schemas": 4, "vectors": 8, "specifications": 2, "histories": None}


def test_vectors_that_are_first_released_are_told_as_new(tmp_path: Path) -> None:
    without = {file: content for file, content in RELEASED.items() if file != "fixtures"}
    write(tmp_path / "old", without)
    write(tmp_path / "new", RELEASED)
    done = perdure_here("gate", "old", "new", cwd=tmp_path)
    assert done.returncode == 0
    assert (
        "  compatible  fixtures/index.json: the vectors of fixtures/index.json are new, all 8 (vector_added)"
        in done.stdout
    )


def test_it_annotates_what_breaks_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "old", RELEASED)
    write(tmp_path / "new", changed(RELEASED, (EVENTS, "", GONE), (MENU, "/title", "A menu")))
    done = perdure_here("gate", "old", "new/", "--github", cwd=tmp_path)
    assert done.returncode == 1
    assert re.fullmatch(
        r"::error file=new/schemas/event-1\.json,title=breaking%3A version_removed::version 1 of .*\n", done.stdout
    )


def test_two_files_are_compared_whatever_they_are_called(tmp_path: Path) -> None:
    document = {"type": "object", "properties": {"a": {"type": "string", "default": ""}}}
    (tmp_path / "one.json").write_text(json.dumps(document), "utf-8")
    (tmp_path / "two.json").write_text(json.dumps({**document, "properties": {}}), "utf-8")
    assert [each["code"] for each in gate("one.json", "two.json", cwd=tmp_path)["changes"]] == ["member_removed"]
    assert gate("one.json", "one.json", cwd=tmp_path)["verdict"] == "compatible"


def test_a_specification_in_yaml_is_the_same_in_json(tmp_path: Path) -> None:
    text = Path(REVIEW_LOOP).read_text("utf-8")
    (tmp_path / "old.yaml").write_text(text, "utf-8")
    done = run("lint", REVIEW_LOOP, "--canonical")
    (tmp_path / "new.json").write_text(done.stdout, "utf-8")
    assert gate("old.yaml", "new.json", cwd=tmp_path)["changes"] == []
    (tmp_path / "new.yaml").write_text(
        text.replace("id: review\n", "id: reviewing\n")
        .replace("from: review,", "from: reviewing,")
        .replace("to: review,", "to: reviewing,"),
        "utf-8",
    )
    changes = gate("old.yaml", "new.yaml", cwd=tmp_path)["changes"]
    assert "node_renamed" in {change["code"] for change in changes}
    assert any("reviewing came: likely renamed" in change["sentence"] for change in changes)


def test_it_says_which_record_refers_to_what_is_gone(tmp_path: Path) -> None:
    (tmp_path / "journals").mkdir()
    run("simulate", REVIEW_LOOP, "--output", str(tmp_path / "journals/run.jsonl"))
    lines = (tmp_path / "journals/run.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "journals/run.jsonl").write_bytes(b"".join(lines[:3]))
    (tmp_path / "empty").mkdir()
    found = gate(REVIEW_LOOP, "empty", "--journals", "journals", cwd=tmp_path)
    assert [each["histories"] for each in found["changes"]] == [["run.jsonl, record 1"]]
    assert found["compared"]["histories"] == 1


def test_exported_vectors_are_replayed(tmp_path: Path) -> None:
    every = {vector.kind: vector for vector in loaded(files_in(data.vectors()))}
    contents = exported(every.values(), b"# A page\n")
    write_vectors(tmp_path / "vectors", contents, changes({}, contents))
    found = gate("--journals", "vectors", "reference", cwd=tmp_path)
    assert found["verdict"] == "same"
    assert len(found["histories"]) == 1
    assert found["not_covered"]
    assert gate("vectors", "vectors", cwd=tmp_path)["compared"]["vectors"] == len(every)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"5", {"accepted": True}),
        (b"[]", {"accepted": True}),
        (b"[" * 9_999, {"accepted": True}),
        (b'{"command": 5}', {"accepted": True}),
        (b'{"version": 5}', {"accepted": True}),
        (b'{"version": 5, "event": {}}', {}),
        (b'{"version": 5, "event": {}}', {"accepted": "yes"}),
        (b"", {"accepted": True}),
    ],
)
def test_a_vector_that_is_no_history_or_has_no_answer_has_no_verdict(
    tmp_path: Path, line: bytes, expected: dict[str, Any]
) -> None:
    contents = contents_of([Vector("reduce", "a history", (), {".jsonl": line}, expected)])
    write_vectors(tmp_path, contents, changes({}, contents))
    found = replay(str(tmp_path), KERNELS.find("reference", ()), 10.0)
    assert [each.verdict for each in found.histories] == ["unreadable"]
    assert found.exit_code == 3


FORGETFUL = """
from perdure_conformance.reducer.reference import ReferenceKernel

class Forgetful(ReferenceKernel):
    def document(self, state):
        return {name: member for name, member in super().document(state).items() if name != "attempts"}
"""


def test_a_kernel_that_differs_is_told_with_the_record(tmp_path: Path) -> None:
    (tmp_path / "forgetful.py").write_text(FORGETFUL, "utf-8")
    (tmp_path / "journals").mkdir()
    run("simulate", REVIEW_LOOP, "--output", str(tmp_path / "journals/whole.jsonl"))
    lines = (tmp_path / "journals/whole.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "journals/begun.jsonl").write_bytes(b"".join(lines[:2]))
    done = perdure_here("gate", "--journals", "journals", "forgetful:Forgetful", cwd=tmp_path)
    assert done.returncode == 1
    first, whole, *more = done.stdout.splitlines()
    assert first == "DIFFERENT  1 of 2 histories are the same on perdure 1"
    assert whole.startswith("  differs  whole.jsonl, record 3: The answer is {")
    assert re.search(r" \([A-Z]{3}-[0-9]{3}\)$", whole)
    assert more == []


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("old",),
        ("--journals", "old"),
        ("--command", "cat"),
        ("old", "old", "--command", "cat"),
        ("old", "--journals", "old", "--command", "cat"),
        ("old", "old", "--json", "--github"),
        ("reference", "--journals", "old", "--github"),
        ("nobody", "--journals", "old"),
        ("reference", "--journals", "nowhere"),
        ("old", "old", "--journals", "nowhere"),
        ("old", "old", "--journals", "old/schemas/menu.json"),
        ("nowhere", "old"),
        ("old", "nowhere"),
    ],
)
def test_wrong_words_are_told_in_one_sentence(tmp_path: Path, words: tuple[str, ...]) -> None:
    write(tmp_path / "old", RELEASED)
    done = perdure_here("gate", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert not done.stdout
    assert done.stderr.startswith("perdure: ")
    assert done.stderr.count("\n") == 1


# What is no release


def _deep(levels: int) -> str:
    return '{"not": ' * levels + "{}" + "}" * levels


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no JSON": (lambda file: file.write_text('{"type": '), "line 1, column 10"),
    "nothing": (lambda file: file.write_bytes(b""), "empty"),
    "no UTF-8": (lambda file: file.write_bytes(b'{"a": "\xff"}'), "UTF-8"),
    "a key twice": (lambda file: file.write_text('{"type": "object", "type": "array"}'), "twice"),
    "too deep": (lambda file: file.write_text(_deep(50_000)), "deeper than 100"),
    "too large": (lambda file: file.write_bytes(b" " * (16 * 2**20 + 1)), "16,777,216"),
    "a pipe": (os.mkfifo, "is a pipe"),
    "a reference to itself": (lambda file: file.write_text('{"$id": "urn:a", "$ref": "#"}'), "in a circle"),
    "references in a circle": (
        lambda file: file.write_text(
            '{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}'
        ),
        "in a circle",
    ),
    "a reference to a network": (
        lambda file: file.write_text('{"$id": "urn:a", "items": {"$ref": "http://127.0.0.1:9/a.json"}}'),
        "nothing is fetched",
    ),
    "a reference that is no address": (
        lambda file: file.write_text('{"$id": "urn:a", "$ref": "http://["}'),
        "nothing is fetched",
    ),
    "a reference to no schema": (
        lambda file: file.write_text('{"$id": "urn:a", "title": "x", "$ref": "#/title"}'),
        "leads to what is no schema",
    ),
    "a reference to a file": (
        lambda file: file.write_text('{"$id": "urn:a", "items": {"$ref": "file:///etc/passwd"}}'),
        "nothing is fetched",
    ),
    "a pattern that is none": (
        lambda file: file.write_text('{"$id": "urn:a", "type": "string", "minLength": -1}'),
        "minLength",
    ),
    "a reference that is none": (lambda file: file.write_text('{"$id": "urn:a", "$ref": 1}'), "$ref"),
    "an index of vectors that is none": (
        lambda file: file.with_name("index.json").write_text('{"vectors_version": 2}'),
        "no index",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_release_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    old = write(tmp_path / "old", {MENU: RELEASED[MENU]})
    new = write(tmp_path / "new", {})
    new.mkdir()
    plant, told = HOSTILE[name]
    plant(new / "menu.json")
    for pair in ((old, new), (new, old)):
        with pytest.raises(GateRefused) as refused:
            compare(*map(str, pair))
        assert told in str(refused.value)
        assert str(refused.value).endswith(".")
        assert len(str(refused.value)) < 1_000


def test_an_index_leads_to_no_other_folder(tmp_path: Path) -> None:
    old = write(tmp_path / "old", RELEASED)
    index = old / "fixtures/index.json"
    for path in ("../secret", "/etc/passwd"):
        text = index.read_text("utf-8")
        index.write_text(re.sub(r'"path": "[^"]*"', f'"path": "{path}"', text, count=1), "utf-8")
        with pytest.raises(GateRefused, match="not in its folder"):
            compare(str(old), str(old))


def test_recursive_schemas_are_compared(tmp_path: Path) -> None:
    tree: dict[str, Any] = {
        "$id": "urn:tree",
        "$ref": "#/$defs/Tree",
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {"left": {"$ref": "#/$defs/Tree"}, "name": {"type": "string", "maxLength": 9}},
                "required": ["name"],
            }
        },
    }
    old = write(tmp_path / "old", {"tree.json": tree})
    new = write(
        tmp_path / "new", changed({"tree.json": tree}, ("tree.json", "/$defs/Tree/properties/name/maxLength", 8))
    )
    assert compare(str(old), str(old)).changes == ()
    assert [change.code for change in compare(str(old), str(new)).changes] == ["limit_tightened"]


def test_what_said_what_a_member_means_is_not_simply_looser_when_it_is_gone(tmp_path: Path) -> None:
    members = [{"properties": {name: {"type": "string"}}} for name in ("a", "b")]
    both = write(tmp_path / "old", {"x.json": {"$id": "urn:x", "type": "object", "allOf": members}})
    one = write(tmp_path / "new", {"x.json": {"$id": "urn:x", "type": "object", "allOf": members[:1]}})
    assert [change.code for change in compare(str(both), str(one)).changes] == ["condition_changed"]
    assert [change.code for change in compare(str(one), str(both)).changes] == ["limit_tightened"]


def test_a_rename_is_told_of_what_is_most_alike_and_once() -> None:
    def renames(before: dict[str, int], after: dict[str, int]) -> dict[str, str]:
        return likely_renames(
            before, after, lambda went, came: went == came, lambda went, came: went // 10 == came // 10
        )

    assert renames({"kept": 1, "name": 2}, {"kept": 1, "label": 2}) == {"name": "label"}
    assert renames({"name": 2}, {"named": 3}) == {"name": "named"}
    assert renames({"name": 2}, {"named": 13, "label": 3}) == {}
    assert renames({"name": 2, "names": 3}, {"named": 3}) == {"names": "named"}
    assert renames({"names": 3, "name": 2}, {"named": 4}) == {"name": "named"}
    assert renames({"name": 2}, {"kind": 2, "named": 2}) == {"name": "named"}


def test_a_workflow_is_found_in_another_file(tmp_path: Path) -> None:
    old = write(tmp_path / "old", {BREW: RELEASED[BREW]})
    new = write(tmp_path / "new", {"elsewhere/any.json": RELEASED[BREW], "notes.json": {"a": 1}})
    found = compare(str(old), str(new))
    assert (found.exit_code, found.changes, found.left_out) == (0, (), ("notes.json",))
