"""The compatibility gate: its policy and its page, the command line, and what is no release at all."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
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
from perdure_conformance.tool import folders
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


def test_no_name_of_a_member_makes_a_line_of_its_own(tmp_path: Path) -> None:
    name = "old\nCOMPATIBLE  0 changes\r::error::x"
    for side, members in (("old", [name]), ("new", [])):
        schema = {"$id": "urn:x", "type": "object", "properties": {key: {} for key in members}}
        (tmp_path / side).write_text(json.dumps(schema))
    done = run("gate", str(tmp_path / "old"), str(tmp_path / "new"))
    assert done.exit_code == 1
    assert [line[:10] for line in done.stdout.splitlines()] == ["BREAKING  ", "  breaking", " " * 10]
    assert r"old\nCOMPATIBLE" in done.stdout


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


def test_each_file_that_is_no_sound_history_is_told_and_the_others_are_replayed(tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    folder.mkdir()
    run("simulate", REVIEW_LOOP, "--output", str(folder / "sound.jsonl"))
    run("inspect", str(folder / "sound.jsonl"), "--output", str(folder / "sound.sqlite3"))
    whole = (folder / "sound.sqlite3").read_bytes()
    for name, content in (("cut", whole[:5_000]), ("junk", b"junk"), ("nothing", b"")):
        (folder / f"{name}.sqlite3").write_bytes(content)
    with closing(sqlite3.connect(folder / "other.sqlite3")) as base:
        base.execute("CREATE TABLE a (b)")
    found = gate("--journals", "journals", "reference", cwd=tmp_path)
    verdicts = {each["file"].partition(",")[0]: each["verdict"] for each in found["histories"]}
    unreadable = dict.fromkeys(("cut.sqlite3", "junk.sqlite3", "nothing.sqlite3", "other.sqlite3"), "unreadable")
    assert verdicts == {**unreadable, "sound.jsonl": "same", "sound.sqlite3": "same"}
    assert found["exit_code"] == 3
    assert all(each["sentence"] for each in found["histories"] if each["verdict"] == "unreadable")


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


def test_no_vector_is_read_through_a_link(tmp_path: Path) -> None:
    old = write(tmp_path / "old", RELEASED)
    folder = next(each for each in (old / "fixtures").iterdir() if each.is_dir())
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GateRefused, match="a link leads to"):
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


def test_a_work_tree_with_a_report_and_the_release_in_it_is_compared_without_them(tmp_path: Path) -> None:
    write(tmp_path, RELEASED)
    write(tmp_path / "build/released", RELEASED)
    folders.write(tmp_path / "perdure-report", folders.document(folders.ALL_BUT_GREEN["not conformant"]))
    write(tmp_path / "others", {"report.json": {"title": "no report of perdure"}})
    found = gate("build/released", ".", cwd=tmp_path)
    assert (found["verdict"], found["changes"]) == ("compatible", [])
    skipped = ["build/released (the earlier one)", "perdure-report (a report of perdure)"]
    assert found["left_out"] == [*skipped, "others/report.json"]
    assert f"Not looked at: {', '.join(skipped)}\n" in perdure_here("gate", "build/released", ".", cwd=tmp_path).stdout
    refused = perdure_here("gate", ".", "build/released", cwd=tmp_path)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert "build/released lies within ., which would be compared with a part of itself" in refused.stderr
    files = write(tmp_path / "files", {"old.json": RELEASED[BREW], "new.json": RELEASED[BREW]})
    found = gate("old.json", ".", cwd=files)
    assert (found["verdict"], found["left_out"]) == ("compatible", ["old.json (the earlier one)"])


# Schemas of other styles


def _object(members: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(required), **more}


STRING: dict[str, Any] = {"type": "string"}
NULL: dict[str, Any] = {"type": "null"}
BASE: dict[str, Any] = {"$defs": {"Base": _object({"a": STRING})}}
OF_BASE: dict[str, Any] = {"$ref": "#/$defs/Base"}


def _operations(*names: str) -> dict[str, Any]:
    """Return expressions, each with expressions in it."""
    members = {"type": "array", "items": {"$ref": "#"}}
    each = {name: _object({"op": {"const": name}, "of": members}, "op", "of") for name in names}
    return {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in names], "$defs": each}


def _enveloped(*names: str, most: int = 9) -> dict[str, Any]:
    own = {"count": {"type": "integer", "maximum": most}}
    kinds = [{"allOf": [OF_BASE, _object({"type": {"const": name}, **own}, "type")]} for name in names]
    return {"oneOf": [{**kind, "unevaluatedProperties": False} for kind in kinds], **BASE}


def _between(least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most}


def _conditional(**more: Any) -> dict[str, Any]:
    return _object({"a": STRING}, **more)


MISSED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "what stands beside a reference closes what it refers to": (
        _object({"a": STRING}, additionalProperties=False),
        {**OF_BASE, **BASE, "additionalProperties": False},
    ),
    "what closes an object stands deeper": (
        {"allOf": [OF_BASE], "properties": {"b": STRING}, "unevaluatedProperties": False, **BASE},
        {"allOf": [{**OF_BASE, "unevaluatedProperties": False}], "properties": {"b": STRING}, **BASE},
    ),
    "an alternative takes what another one takes": (
        {"oneOf": [_between(0, 9), _between(20, 30)]},
        {"oneOf": [_between(0, 9), _between(5, 30)]},
    ),
    "what was valid by two alternatives": (
        {"anyOf": [{"type": "number"}, _between(0, 9)]},
        {"oneOf": [{"type": "number"}, _between(0, 9)]},
    ),
    "what was forbidden is optional, without a default": (_object({"a": False}), _object({"a": STRING})),
    "a member of an open object is forbidden": (_object({}), _object({"a": False})),
    "a text is decoded otherwise": (
        {"type": "string", "contentEncoding": "base64"},
        {"type": "string", "contentEncoding": "base32"},
    ),
    "a text is not decoded any more": ({"type": "string", "contentEncoding": "base64"}, STRING),
    "a demand of an older draft": (_object({"a": STRING}), _object({"a": STRING}, dependencies={"a": ["b"]})),
    "a condition that gave a default": (
        _conditional(**{"if": {"required": ["a"]}, "then": {"properties": {"b": {"default": 5}}}}),
        _conditional(),
    ),
    "what depends on a member gave a default": (
        _conditional(dependentSchemas={"a": {"properties": {"b": {"default": 5}}}}),
        _conditional(),
    ),
    "an operation is gone": (_operations("all", "any", "not"), _operations("all", "not")),
    "a multiple of very much": ({"multipleOf": 1e300}, {"multipleOf": 7}),
}
FALSE_ALARMS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "what was forbidden is optional, with a default": (
        _object({"a": False}),
        _object({"a": {**STRING, "default": ""}}),
    ),
    "a member of a closed object is forbidden": (
        _object({}, additionalProperties=False),
        _object({"a": False}, additionalProperties=False),
    ),
    "one of several that do not meet": ({"oneOf": [STRING, NULL]}, {"anyOf": [STRING, NULL]}),
    "any of several that do not meet": ({"anyOf": [STRING, NULL]}, {"oneOf": [STRING, NULL]}),
    "types are alternatives": (
        {"type": ["object", "null"], "properties": {"a": {"enum": ["x"]}}},
        {"anyOf": [_object({"a": {"enum": ["x", "y"]}}), NULL]},
    ),
    "alternatives are values": ({"oneOf": [{"const": "a"}, {"const": "b"}]}, {"enum": ["a", "b", "c"]}),
    "a type with two values has them": ({"type": "boolean"}, {"enum": [True, False]}),
    "a pattern's members take more": (
        _object({}, patternProperties={"^x-": {"type": "string", "maxLength": 3}}),
        _object({}, patternProperties={"^x-": STRING}),
    ),
    "an alternative that is told apart by a member that it must have takes more": (
        {"oneOf": [_object({name: STRING}, name, additionalProperties=False) for name in "ab"]},
        {
            "oneOf": [
                _object({"a": STRING, "c": {"default": 1}}, "a", additionalProperties=False),
                _object({"b": STRING}, "b", additionalProperties=False),
            ]
        },
    ),
    "an alternative in an envelope is new": (_enveloped("a", "b"), _enveloped("c", "b", "a")),
    "alternatives in envelopes take more, in another order": (_enveloped("a", "b"), _enveloped("b", "a", most=10)),
    "an operation is new": (_operations("all", "not"), _operations("any", "all", "not")),
    "a reference with a blank": (
        {"$ref": "#/$defs/a%20b", "$defs": {"a b": {"enum": ["x"]}}},
        {"$ref": "#/$defs/a%20b", "$defs": {"a b": {"enum": ["x", "y"]}}},
    ),
    "a reference to an anchor": (
        {"$ref": "#here", "$defs": {"a": _object({"e": {"enum": ["x"]}}, "e", **{"$anchor": "here"})}},
        {"$ref": "#here", "$defs": {"a": _object({"e": {"enum": ["x", "y"]}}, "e", **{"$anchor": "here"})}},
    ),
    "one type and one value in a condition are spelt otherwise": (
        {"not": {"type": "string", "const": "a"}},
        {"not": {"type": ["string"], "enum": ["a"]}},
    ),
    "a multiple of very little": ({"multipleOf": 1}, {"multipleOf": 1e-300}),
}


def _changes(tmp_path: Path, old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str]]:
    sides = [
        write(tmp_path / name, {"x.json": {"$id": "urn:x", **each}}) for name, each in (("old", old), ("new", new))
    ]
    return [(POLICY[change.code].verdict, change.sentence) for change in compare(*map(str, sides)).changes]


@pytest.mark.parametrize("name", MISSED)
def test_what_is_not_valid_any_more_or_means_something_else_is_breaking(tmp_path: Path, name: str) -> None:
    assert "breaking" in {verdict for verdict, _ in _changes(tmp_path, *MISSED[name])}


@pytest.mark.parametrize("name", FALSE_ALARMS)
def test_what_is_still_valid_is_compatible(tmp_path: Path, name: str) -> None:
    assert "breaking" not in {verdict for verdict, _ in _changes(tmp_path, *FALSE_ALARMS[name])}


def _chain(links: int, last: dict[str, Any]) -> dict[str, Any]:
    each = {f"d{number}": _object({"next": {"$ref": f"#/$defs/d{number + 1}"}}) for number in range(links)}
    return {"$ref": "#/$defs/d0", "$defs": {**each, f"d{links}": last}}


def test_references_may_lead_on_as_far_as_they_like(tmp_path: Path) -> None:
    shorter = {"type": "string", "maxLength": 3}
    assert _changes(tmp_path / "same", _chain(300, STRING), _chain(300, STRING)) == []
    assert _changes(tmp_path / "other", _chain(300, STRING), _chain(300, shorter)) == [
        ("breaking", "maxLength: no maxLength became 3")
    ]


def test_references_that_lead_to_references_are_no_circle(tmp_path: Path) -> None:
    each = {f"d{number}": {"$ref": f"#/$defs/d{number + 1}"} for number in range(150)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**each, "d150": STRING}}
    assert _changes(tmp_path, schema, schema) == []


def test_every_definition_may_refer_to_every_other_one(tmp_path: Path) -> None:
    def web(least: int) -> dict[str, Any]:
        names = [f"d{number}" for number in range(20)]
        every = {name: {"$ref": f"#/$defs/{name}"} for name in names}
        each = {name: {**_object(every), "minProperties": least if name == "d17" else 0} for name in names}
        return {"$ref": "#/$defs/d0", "$defs": each}

    assert _changes(tmp_path / "same", web(1), web(1)) == []
    assert len(_changes(tmp_path / "other", web(1), web(2))) == 1


def test_alternatives_may_nest(tmp_path: Path) -> None:
    def nested(most: int) -> dict[str, Any]:
        each = {
            f"d{number}": {"oneOf": [_object({"a": {"$ref": f"#/$defs/d{number + 1}"}}, "a"), {"enum": [number]}]}
            for number in range(30)
        }
        return {"$ref": "#/$defs/d0", "$defs": {**each, "d30": _between(0, most)}}

    assert {verdict for verdict, _ in _changes(tmp_path / "more", nested(5), nested(6))} == {"compatible"}
    assert "breaking" in {verdict for verdict, _ in _changes(tmp_path / "less", nested(5), nested(4))}


def test_what_was_renamed_is_the_same_in_every_process(tmp_path: Path) -> None:
    before, after = (_object(dict.fromkeys(names, STRING)) for names in (("p", "q", "r"), ("x", "y")))
    assert [sentence for _, sentence in _changes(tmp_path, before, after)] == [
        "the member p is gone",
        "the member q is gone, and x came: likely renamed",
        "the member r is gone, and y came: likely renamed",
    ]


def test_two_schemas_may_have_names_that_are_alike(tmp_path: Path) -> None:
    names = ("line1.json", "line-1.json")
    old = write(tmp_path / "old", {names[0]: {"$defs": {}, **STRING}})
    new = write(tmp_path / "new", {name: {"$defs": {}, **STRING} for name in names})
    assert [change.code for change in compare(str(old), str(new)).changes] == ["schema_added"]
    assert [change.code for change in compare(str(new), str(old)).changes] == ["schema_removed"]


# What a run pins


def _specification(version: int, children: dict[str, str], **more: Any) -> dict[str, Any]:
    nodes = {name: [{"id": each, "handler": {"name": "h", "version": 1}}] for name, each in children.items()}
    own = [{"id": "a", "handler": {"name": "h", "version": 1}}]
    whole = {"schema_version": 5, "workflow_id": "w", "workflow_version": version, "nodes": own, **more}
    return {**whole, "children": {name: {"nodes": each} for name, each in nodes.items()}} if children else whole


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([_specification(1, {})], [_specification(1, {"c@1": "b"})]),
        ([_specification(1, {"c@1": "b"})], [_specification(1, {"c@2": "b"})]),
        ([_specification(1, {})], [_specification(1, {}, **{"$schema": "a"})]),
        (
            [_specification(1, {"c@1": "b"})],
            [_specification(2, {"c@1": "b"}), _specification(1, {"c@1": "d"})],
        ),
    ],
)
def test_all_that_a_hash_covers_stays_under_one_version(
    tmp_path: Path, old: list[dict[str, Any]], new: list[dict[str, Any]]
) -> None:
    sides = [
        write(tmp_path / name, {f"{number}.json": each for number, each in enumerate(documents)})
        for name, documents in (("old", old), ("new", new))
    ]
    assert compare(*map(str, sides)).exit_code == 1
    assert compare(str(sides[0]), str(sides[0])).changes == ()
