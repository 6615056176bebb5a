"""`perdure lint`: places, formats, fixes, pictures, and whatever people may name as a file."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from tests.conformance.helpers import PERDURE, ROOT, perdure

from perdure.authoring.source import Syntax
from perdure.kernel.specification import Specification
from perdure.kernel.validation.validator import validate
from perdure.kernel.values import canonical_json, digest, read_json
from perdure_conformance import data
from perdure_conformance.lint import document, drawing, fixes, github, mermaid, sarif, svg, text
from perdure_conformance.lint.files import FileRefused, Text, read, replace
from perdure_conformance.lint.findings import Linted, lint, lint_handlers, lint_source
from perdure_conformance.requirements import codes, requirements, warnings

EXAMPLES = ROOT / "docs/examples"
SPECIFICATIONS = [EXAMPLES / "review-loop.yaml", EXAMPLES / "nightly-report.json"]
HANDLER = {"name": "h", "version": 1}

Json = dict[str, Any]


def workflow(*nodes: Json, **members: Any) -> Json:
    full = [{"handler": HANDLER, **node} if "child" not in node else node for node in nodes]
    return {"schema_version": 5, "workflow_id": "w", "workflow_version": 1, "nodes": full, **members}


def linted(content: str | bytes | Json, syntax: Syntax = "json", name: str = "flow") -> Linted:
    if isinstance(content, dict):
        content = json.dumps(content, indent=1)
    return lint(Text(name, syntax, content.encode() if isinstance(content, str) else content, ()), None)


def places(found: Linted) -> list[tuple[str, int, int]]:
    return [(finding.problem.code, *finding.position) for finding in found.findings]


def fixed(content: str, syntax: Syntax) -> fixes.Fixed:
    return fixes.fix(linted(content, syntax), lambda source: lint_source("flow", source))


def text_of(found: Linted) -> str:
    assert found.source is not None
    return found.source.text


def lint_schema() -> Draft202012Validator:
    return Draft202012Validator(json.loads((data.schemas() / "lint-1.json").read_text("utf-8")))


# Codes and requirements


def test_each_code_has_one_requirement_and_each_warning_a_meaning() -> None:
    assert len(set(codes())) == len(codes()) > 60
    assert set(warnings()) == set(requirements()["SPC-031"].codes)
    assert {"yaml_alias", "not_yaml"} <= set(requirements()["SPC-001"].codes)


def test_each_code_in_the_model_has_a_requirement() -> None:
    kernel = ROOT / "model/perdure/kernel"
    of_documents = [kernel / f"{name}.py" for name in ("outcomes", "specification", "structure", "values")]
    sources = [*(ROOT / "model/perdure/authoring").glob("*.py"), *(kernel / "validation").glob("*.py"), *of_documents]
    whole = "".join(path.read_text("utf-8") for path in sources)
    said = set(re.findall(r'(?:\.error\(\s*|_warn\(scope, |code": ?|code=)"([a-z0-9_]+)"', whole))
    of_outcomes = {"reason_too_long", "output_given_twice", "output_too_large", "output_too_deep"}
    assert said - of_outcomes <= set(codes())
    assert set(codes()) <= set(re.findall(r'"([a-z0-9_]+)"', whole))


# Places


BROKEN: list[tuple[Json, list[str]]] = [
    (workflow({"id": "a"}, {"id": "a"}), ["duplicate_node"]),
    (workflow({"id": "a", "dependencies": ["b"]}, {"id": "b", "dependencies": ["a"]}), ["dependency_cycle"]),
    (workflow({"id": "a", "surplus": 1}, surplus=2), ["unknown_member", "unknown_member"]),
    (workflow({"id": "a", "retry": {}}, schema_version=1), ["member_of_later_version"]),
    (workflow({"id": "a", "outputs": ["x", "x"], "signals": ["s", "s"]}), ["duplicate_name", "duplicate_name"]),
    (workflow({"id": "a"}, children={"w": {"nodes": [{"id": "b", "handler": HANDLER}]}}), ["wrong_reference"]),
    (workflow({"id": "a"}, outputs={"no name": {"node": "a", "output": "x"}}), ["wrong_form"]),
    (workflow({"id": "a", "dependency_policy": "any_succeeded"}), ["policy_without_dependencies"]),
    (workflow(), ["out_of_range"]),
    (workflow({"id": "a"}, content_hash="0" * 64), ["wrong_content_hash"]),
]


@pytest.mark.parametrize(("broken", "expected"), BROKEN, ids=lambda value: value[0] if isinstance(value, list) else "")
def test_both_syntaxes_give_the_same_problems(broken: Json, expected: list[str]) -> None:
    in_json = linted(broken)
    in_yaml = linted(yaml.safe_dump(json.loads(json.dumps(broken)), sort_keys=False), "yaml")
    assert [finding.problem for finding in in_json.findings] == [finding.problem for finding in in_yaml.findings]
    assert set(expected) <= {finding.problem.code for finding in in_json.findings}
    assert in_json.content_hash == in_yaml.content_hash


PLACED = """\
schema_version: 1
workflow_id: w
workflow_version: 1
surplus:
  1
nodes:
  - id: a
    handler: {name: h, version: 1}
    retry:
      max_attempts: 0
outputs:
  "no name": {node: a, output: x}
"""


def test_a_problem_of_a_key_stands_at_the_key_and_all_are_sorted() -> None:
    assert places(linted(PLACED, "yaml")) == [
        ("unknown_member", 4, 1),
        ("member_of_later_version", 9, 5),
        ("out_of_range", 10, 21),
        ("member_of_later_version", 11, 1),
        ("wrong_form", 12, 3),
        ("undeclared_output", 12, 32),
    ]


@pytest.mark.parametrize(
    ("content", "syntax", "expected"),
    [
        ('{"a": 1,\r\n "a": 2}', "json", ("duplicate_key", 2, 2)),
        ("a: 1\nb: *c\n", "yaml", ("yaml_alias", 2, 4)),
        ("", "yaml", ("empty", 1, 1)),
        (b"\x00\xff", "json", ("not_utf8", 1, 2)),
        ("[" * 5_000, "json", ("too_deep", 1, 101)),
        ("[" * 150, "yaml", ("too_deep", 1, 101)),
        ("x" * (16 * 2**20 + 1), "yaml", ("too_large", 1, 1)),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None if len(value) < 30 else "long",
)
def test_what_is_no_text_of_a_document_is_one_problem(
    content: str | bytes, syntax: Syntax, expected: tuple[str, int, int]
) -> None:
    found = linted(content, syntax)
    assert places(found) == [expected]
    assert found.findings[0].requirement == "SPC-001"
    assert found.findings[0].problem.sentence.endswith(".")
    assert not found.valid


def test_only_so_many_problems_are_kept_and_the_others_counted() -> None:
    found = linted(workflow({"id": "a", "outputs": ["x"] * 1_500}))
    assert len(found.findings) == 1_000
    assert found.omitted == 499
    assert "flow: … and 499 more\n" in text.report([found])
    assert sarif.build([found], 1)["runs"][0]["invocations"][0]["toolExecutionNotifications"]  # type: ignore[index]
    assert github.report([found]).endswith("… and 499 more\n")


# Formats


def test_text_shows_the_line_with_a_caret_within_bounds_and_harmless() -> None:
    wide = json.dumps(workflow({"id": "a" * 200 + "\x9b\u202e表", "x": "é" * 300}), ensure_ascii=False)
    shown = text.report([linted(wide, name="od\nd\x1b[31m.json")])
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert "\u202e" not in shown
    lines = shown.splitlines()
    assert lines[0].startswith(r"od\nd\x1b[31m.json:1:")
    assert all(len(line) < 700 for line in lines)
    carets = [(above, line) for above, line in pairwise(lines) if line.strip() == "^"]
    assert carets
    assert lines[-1].endswith("2 errors")


def test_the_caret_stands_under_its_place_whatever_the_width_of_letters() -> None:
    shown = text.report([linted('{"表\t": 1}')]).splitlines()
    caret = next(number for number, line in enumerate(shown) if line.strip() == "^" and '"表' in shown[number - 1])
    assert shown[caret - 1] == '    {"表 ": 1}'
    assert shown[caret] == "    " + " " * len('{"xx') + "^"
    after_wide = text.report([linted('{"nodes": ["表", 5]}')]).splitlines()
    number = next(number for number, line in enumerate(after_wide) if "the number 5" in line)
    assert after_wide[number + 2] == "    " + " " * len('{"nodes": ["xx", ') + "^"


def test_colours_are_there_only_if_they_are_asked_for() -> None:
    found = [linted("{}")]
    plain, coloured = text.report(found), text.report(found, colours=True)
    assert "\x1b" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_a_valid_file_tells_its_hash_and_where_a_run_begins() -> None:
    found = linted(workflow({"id": "b"}, {"id": "a"}))
    assert text.report([found]) == (f"flow: valid\n  content hash   {found.content_hash}\n  initial nodes  b, a\n")
    many = linted(workflow(*({"id": f"n{number}"} for number in range(25))))
    assert "n19, … and 5 more\n" in text.report([many])


@pytest.mark.parametrize("broken", [broken for broken, _ in BROKEN], ids=lambda _: "")
def test_json_keeps_its_schema(broken: Json) -> None:
    built = document.build([linted(broken), linted(workflow({"id": "a"})), linted("\x00")])
    lint_schema().validate(json.loads(json.dumps(built)))


def test_every_field_of_the_schema_is_described() -> None:
    def check(schema: Json) -> None:
        for name, member in schema.get("properties", {}).items():
            assert member.get("description"), name
        for below in [*schema.get("$defs", {}).values(), *schema.get("oneOf", [])]:
            assert below.get("description")
            check(below)

    check(json.loads((data.schemas() / "lint-1.json").read_text("utf-8")))


def test_json_tells_witnesses_and_corrections() -> None:
    edges = [{"from": "a", "to": "b", "mode": "exclusive"}] * 2
    found = document.build([linted(workflow({"id": "a", "outputs": ["x", "x"]}, {"id": "b"}, edges=edges))])
    problems: list[Json] = found["files"][0]["problems"]  # type: ignore[index]
    by_code = {problem["code"]: problem for problem in problems}
    assert by_code["overlapping_edges"]["witness"] == {"kind": "succeeded"}
    assert by_code["duplicate_name"]["correction"] == {"pointer": "/nodes/0/outputs/1", "remove": True}


SARIF: Json = {
    "type": "object",
    "required": ["version", "runs", "$schema"],
    "properties": {"version": {"const": "2.1.0"}, "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}}},
    "additionalProperties": {"type": "string"},
    "$defs": {
        "message": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "artifact": {
            "type": "object",
            "required": ["uri"],
            "properties": {"uri": {"type": "string", "pattern": "^[A-Za-z0-9._~/%:-]+$"}},
            "additionalProperties": False,
        },
        "run": {
            "type": "object",
            "required": ["tool", "results", "columnKind", "artifacts", "invocations"],
            "properties": {
                "columnKind": {"const": "unicodeCodePoints"},
                "artifacts": {
                    "type": "array",
                    "uniqueItems": True,
                    "items": {"required": ["location"], "properties": {"location": {"$ref": "#/$defs/artifact"}}},
                },
                "invocations": {
                    "items": {
                        "required": ["executionSuccessful", "exitCode"],
                        "properties": {
                            "toolExecutionNotifications": {
                                "items": {
                                    "required": ["message"],
                                    "properties": {
                                        "message": {"$ref": "#/$defs/message"},
                                        "level": {"$ref": "#/$defs/level"},
                                    },
                                }
                            }
                        },
                    }
                },
                "tool": {
                    "required": ["driver"],
                    "properties": {
                        "driver": {
                            "required": ["name", "version", "rules"],
                            "properties": {"rules": {"uniqueItems": True, "items": {"$ref": "#/$defs/rule"}}},
                        }
                    },
                },
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
            "additionalProperties": False,
        },
        "rule": {
            "type": "object",
            "required": ["id", "shortDescription", "defaultConfiguration"],
            "properties": {
                "id": {"type": "string"},
                "shortDescription": {"$ref": "#/$defs/message"},
                "defaultConfiguration": {"properties": {"level": {"$ref": "#/$defs/level"}}},
                "properties": {"type": "object"},
            },
            "additionalProperties": False,
        },
        "result": {
            "type": "object",
            "required": ["ruleId", "ruleIndex", "level", "message", "locations"],
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"$ref": "#/$defs/level"},
                "message": {"$ref": "#/$defs/message"},
                "locations": {
                    "minItems": 1,
                    "items": {
                        "required": ["physicalLocation", "logicalLocations"],
                        "properties": {
                            "physicalLocation": {
                                "required": ["artifactLocation", "region"],
                                "properties": {
                                    "artifactLocation": {"$ref": "#/$defs/artifact"},
                                    "region": {
                                        "required": ["startLine", "startColumn"],
                                        "properties": {
                                            "startLine": {"type": "integer", "minimum": 1},
                                            "startColumn": {"type": "integer", "minimum": 1},
                                        },
                                        "additionalProperties": False,
                                    },
                                },
                                "additionalProperties": False,
                            },
                            "logicalLocations": {
                                "minItems": 1,
                                "items": {
                                    "required": ["fullyQualifiedName", "kind"],
                                    "properties": {
                                        "fullyQualifiedName": {"type": "string"},
                                        "kind": {"enum": ["property", "value"]},
                                    },
                                    "additionalProperties": False,
                                },
                            },
                        },
                        "additionalProperties": False,
                    },
                },
            },
            "additionalProperties": False,
        },
    },
}
"""What the schema of SARIF 2.1.0 asks of the parts that are written; those and no others."""


def test_sarif_is_sarif() -> None:
    all_broken = [linted(broken, name=f"dir ä/{number}: [x].json") for number, (broken, _) in enumerate(BROKEN)]
    log = json.loads(json.dumps(sarif.build([*all_broken, linted(workflow({"id": "a"}), name="/abs")], 1)))
    Draft202012Validator(SARIF).validate(log)
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert rules[result["ruleIndex"]]["defaultConfiguration"]["level"] == result["level"]
    assert run["artifacts"][0]["location"]["uri"] == "dir%20%C3%A4/0%3A%20%5Bx%5D.json"
    assert run["artifacts"][-1]["location"]["uri"] == "file:///abs"


def test_sarif_makes_no_links_of_what_it_quotes() -> None:
    log: Any = sarif.build([linted({"[a](http://b)": 1})], 1)
    texts = [result["message"]["text"] for result in log["runs"][0]["results"]]
    assert any("[a]\\(http://b)" in told for told in texts)


def test_github_commands_are_escaped_as_its_toolkit_does() -> None:
    found = linted({"a%\r\n:,": 1}, name="a,b:c%d\n.json")
    first = next(line for line in github.report([found]).splitlines() if "unknown_member" in line)
    assert first.startswith(
        "::error file=a%2Cb%3Ac%25d%0A.json,line=2,col=2,title=unknown_member::There is no member `a%25"
    )
    assert "%0A" not in first.partition("::There")[2]
    warned = github.report([linted(workflow({"id": "a", "dependency_policy": "any_succeeded"}))])
    assert warned.startswith("::warning file=flow,")


# Fixes


def document_of(nodes: str, *, version: int = 5, more: str = "") -> str:
    return f"schema_version: {version} # low\nworkflow_id: w\nworkflow_version: 1\n{more}nodes:{nodes}"


NO_HASH = "0" * 64

TO_MEND: list[tuple[str, str]] = [
    (
        document_of(
            """
- id: a
  handler: {name: h, version: 1}
  signals:
  # one
  - s # two
  # three
  - s # four
  - t
  # five""",
            version=1,
        ),
        document_of(
            """
- id: a
  handler: {name: h, version: 1}
  signals:
  # one
  - s # two
  # three
  # four
  - t
  # five"""
        ),
    ),
    (
        document_of("\n  - dependency_policy: any_succeeded\n    id: a\n    handler: {name: h, version: 1}\n"),
        document_of("\n  - id: a\n    handler: {name: h, version: 1}\n"),
    ),
    (
        document_of("\n  - dependency_policy: any_succeeded # one\n    id: a\n    handler: {name: h, version: 1}\n"),
        document_of("\n  -  # one\n    id: a\n    handler: {name: h, version: 1}\n"),
    ),
    (
        document_of("\n  - id: a\n    dependency_policy:\n      any_succeeded\n    handler: {name: h, version: 1}\n"),
        document_of("\n  - id: a\n    handler: {name: h, version: 1}\n"),
    ),
    (
        document_of("\n- id: a\n  handler: {name: h, version: 1}\n  outputs:\n  -\n    x\n  -\n    x\n"),
        document_of("\n- id: a\n  handler: {name: h, version: 1}\n  outputs:\n  -\n    x\n"),
    ),
    (
        document_of(
            """
- # zero
  # one
  dependency_policy: # two

    # three
    any_succeeded # four
  id: a
  handler: {name: h, version: 1}
  outputs:
  - x # five
  # six - one
  - # seven
    x
  - # eight
    z"""
        ),
        document_of(
            """
- # zero
  # one
  # two

    # three
     # four
  id: a
  handler: {name: h, version: 1}
  outputs:
  - x # five
  # six - one
  # seven
  - # eight
    z"""
        ),
    ),
    (
        document_of("\n- 'dependency_policy' : # one\n    any_succeeded\n  id: a\n  handler: {name: h, version: 1}\n"),
        document_of("\n- # one\n  id: a\n  handler: {name: h, version: 1}\n"),
    ),
    (
        document_of(
            """ [{dependency_policy: any_succeeded, # one
 id: a, handler: {name: h, version: 1}, outputs: [x # two
 , # three
 x # four
 ,z]}] # five
"""
        ),
        document_of(
            """ [{ # one
 id: a, handler: {name: h, version: 1}, outputs: [x # two
  # three
  # four
 ,z]}] # five
"""
        ),
    ),
    (
        document_of(" [{id: a, handler: {name: h, version: 1}, outputs: [x, x, z, x]}]"),
        document_of(" [{id: a, handler: {name: h, version: 1}, outputs: [x, z]}]"),
    ),
    (
        document_of(" [{id: a, handler: {name: h, version: 1}, outputs: [\n  x,\n  x, # one\n ]}]\n"),
        document_of(" [{id: a, handler: {name: h, version: 1}, outputs: [\n  x, # one\n ]}]\n"),
    ),
    (
        document_of(" [{id: a, handler: {name: h, version: 1}}]", more=f"content_hash: >-\n  {NO_HASH}\n\n# two\n"),
        document_of(" [{id: a, handler: {name: h, version: 1}}]", more='content_hash: "HASH"\n\n# two\n'),
    ),
    (
        document_of(" [{id: a, handler: {name: h, version: 1}}]", more=f"content_hash: '{NO_HASH}' # mine\n"),
        document_of(" [{id: a, handler: {name: h, version: 1}}]", more='content_hash: "HASH" # mine\n'),
    ),
    (
        """{ "schema_version": 1,
"workflow_id": "w", "workflow_version": 1.0,
 "nodes": [{"retry": {}, "id": "a",
"handler": {"name": "h", "version": 1}, "outputs": ["x", "\\u0078" , "z",
"x"]}], "content_hash":"HASH"}""".replace("HASH", NO_HASH),
        """{ "schema_version": 4,
"workflow_id": "w", "workflow_version": 1.0,
 "nodes": [{"retry": {}, "id": "a",
"handler": {"name": "h", "version": 1}, "outputs": ["x" , "z"]}], "content_hash":"HASH"}""",
    ),
]
"""Documents, and what they become; `HASH` stands for the right one."""


@pytest.mark.parametrize(("content", "wanted"), TO_MEND, ids=range(len(TO_MEND)))
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_fix_changes_what_is_wrong_and_nothing_else(content: str, wanted: str, line_end: str) -> None:
    syntaxes: list[Syntax] = ["json", "yaml"] if content.startswith("{") else ["yaml"]
    for syntax in syntaxes:
        mended = fixed(content.replace("\n", line_end), syntax)
        assert mended.linted.valid, text.report([mended.linted])
        assert mended.linted.findings == ()
        right = wanted.replace("\n", line_end).replace("HASH", str(mended.linted.content_hash))
        assert text_of(mended.linted) == right
        again = fixed(right, syntax)
        assert (again.done, text_of(again.linted)) == ([], right)


def test_what_cannot_be_mended_stays_and_the_rest_is_mended() -> None:
    mended = fixed(json.dumps(workflow({"id": "a", "outputs": ["x", "x"]}, {"id": "a"}, content_hash="0" * 64)), "json")
    assert [finding.problem.code for finding in mended.done] == ["duplicate_name", "wrong_content_hash"]
    assert [finding.problem.code for finding in mended.linted.findings] == ["duplicate_node"]


def test_where_one_change_fails_the_others_are_made() -> None:
    odd = """\
schema_version: 5
workflow_id: w
workflow_version: 1
nodes:
  - id: a
    handler: {name: h, version: 1}
    ? dependency_policy
    : any_succeeded
    outputs:
      - x
      - z
      - z
"""
    before_fix = linted(odd, "yaml")
    mended = fixes.fix(before_fix, lambda source: lint_source("flow", source))
    assert [finding.problem.pointer for finding in mended.done] == ["/nodes/0/outputs/2"]
    assert text_of(mended.linted) == odd.removesuffix("      - z\n")
    again = [(finding.problem.code, finding.fate) for finding in fixes.marked_as_left(mended.linted).findings]
    assert again == [("policy_without_dependencies", "left")]
    before = [(finding.problem.code, finding.fate) for finding in fixes.marked(before_fix, mended).findings]
    assert before == [("policy_without_dependencies", "left"), ("duplicate_name", "mended")]


def test_a_text_that_cannot_be_read_is_not_touched() -> None:
    assert fixed("a: *b", "yaml").done == []


@pytest.mark.parametrize("path", SPECIFICATIONS, ids=lambda path: path.name)
def test_a_document_without_problems_is_left_byte_for_byte(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    before = copy.stat()
    done = perdure("lint", str(copy), "--fix", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (copy.read_bytes(), copy.stat().st_ino) == (path.read_bytes(), before.st_ino)
    shown = perdure("lint", str(copy), "--fix", "--diff", cwd=tmp_path)
    assert (shown.returncode, shown.stdout) == (0, "")


def test_fix_writes_the_file_a_link_leads_to_and_diff_is_a_patch_that_gives_the_same(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real/flow.yaml", tmp_path / "flow.yaml"
    real.write_text(TO_MEND[0][0], "utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    shown = perdure("lint", "flow.yaml", "--diff", cwd=tmp_path)
    assert shown.returncode == 1
    assert real.read_text("utf-8") == TO_MEND[0][0]
    done = perdure("lint", "flow.yaml", "--fix", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "flow.yaml:11:5: fixed duplicate_name (SPC-016): took /nodes/0/signals/1 away" in done.stderr
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert list(real.parent.iterdir()) == [real]
    (tmp_path / "patched").write_text(TO_MEND[0][0], "utf-8")
    subprocess.run(["patch", "-s", "patched"], input=shown.stdout, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "patched").read_bytes() == real.read_bytes()


def test_a_diff_tells_the_problems_of_the_file_and_which_of_them_it_mends(tmp_path: Path) -> None:
    broken = document_of(
        """
  - id: a
    handler: {name: h, version: 1}
    retry: {max_attempts: 0}
    outputs: [x, x,
      x]
    signals: [s]
""",
        version=1,
        more=f"content_hash: '{NO_HASH}'\n",
    )
    (tmp_path / "flow.yaml").write_text(broken, "utf-8")
    shown = perdure("lint", "flow.yaml", "--diff", cwd=tmp_path)
    assert shown.returncode == 1
    heads = [line for line in shown.stderr.splitlines() if not line.startswith(" ")]
    told = [(*line.split(":")[1:3], line.split()[2], line.endswith("[the patch mends this]")) for line in heads[:-1]]
    assert told == [
        ("4", "15", "wrong_content_hash", True),
        ("8", "5", "member_of_later_version", True),
        ("8", "27", "out_of_range", False),
        ("9", "18", "duplicate_name", True),
        ("10", "7", "duplicate_name", True),
        ("11", "5", "member_of_later_version", True),
    ]
    assert heads[-1] == "flow.yaml: 6 errors; the patch mends 5 of 6 problems"
    (tmp_path / "none.yaml").write_text("{}", "utf-8")
    none = perdure("lint", "none.yaml", "--diff", cwd=tmp_path)
    assert none.stderr.endswith("none.yaml: 4 errors; the patch mends none of 4 problems\n")


@pytest.mark.parametrize("name", ["flow.json", "with space.json", 'quo"ted\\.json', "./x/../flow.json"])
@pytest.mark.parametrize("is_absolute", [False, True])
def test_a_diff_names_its_file_as_patch_takes_it(name: str, is_absolute: bool, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    path = tmp_path / name
    path.write_text(json.dumps(workflow({"id": "a", "outputs": ["x", "x"]})), "utf-8")
    shown = perdure("lint", str(path) if is_absolute else name, "--diff", cwd=tmp_path)
    subprocess.run(["patch", "-s", "-p1"], input=shown.stdout, text=True, cwd=tmp_path, check=True)
    assert perdure("lint", name, cwd=tmp_path).returncode == 0
    elsewhere = perdure("lint", str(path), "--diff", cwd=tmp_path / "x")
    assert elsewhere.stdout == ""
    path.write_text(json.dumps(workflow({"id": "a", "outputs": ["x", "x"]})), "utf-8")
    elsewhere = perdure("lint", str(path), "--diff", cwd=tmp_path / "x")
    assert elsewhere.stdout.partition(str(tmp_path)[1:])[0] in {"--- a/", '--- "a/'}


def test_what_looks_like_a_catalogue_of_handlers_is_told_so() -> None:
    told = text.report([linted({"handlers": []}, name="handlers.json")])
    assert told.endswith(
        "handlers.json: 5 errors; this looks like a catalogue of handlers, which is given with --handlers\n"
    )
    assert "looks like" not in text.report([linted({"handlers": [], "nodes": []}), linted("[]"), linted("{}")])


def test_a_place_that_a_sentence_names_is_told_with_its_line() -> None:
    edges = [{"from": "a", "to": "a", "mode": "exclusive"}] * 2
    told = text.report([linted(workflow({"id": "a"}, edges=edges, initial_nodes=["a"]))])
    assert "This edge and `/edges/0` (line 15) are exclusive" in told


def test_a_file_that_changes_or_vanishes_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}", "utf-8")
    content = read(str(path))
    path.write_text("[1]", "utf-8")
    with pytest.raises(FileRefused, match="in the meantime"):
        replace(content, b"x")
    assert path.read_text("utf-8") == "[1]"
    path.unlink()
    with pytest.raises(FileRefused, match="cannot be replaced"):
        replace(content, b"x")
    assert list(tmp_path.iterdir()) == []


# Pictures

HOSTILE = [']]>', '"', "<script>alert(1)</script>", "|", "--", "a-->b", "#quot;", "`**x**`", "\U0001f600", "%%{init}", "]\n[x", "\x1b[31m", "end"]  # fmt: skip  # noqa: E501, Q000


def specification_of(written: Json) -> Specification:
    found = validate(written).specification
    assert found is not None
    return found


def hostile_workflow() -> Json:
    ends = [{"id": f"e{number}"} for number in range(len(HOSTILE))]
    edges = [
        {"from": "a", "to": f"e{number}", "when": {"field": "x", "equals": word}, "mode": "exclusive"}
        for number, word in enumerate(HOSTILE)
    ]
    call = {"id": "c", "child": {"workflow": "k@1", "policy": "propagate"}, "dependencies": ["a", "e0"]}
    child = {"nodes": [{"id": "x", "handler": HANDLER}, {"id": "y", "handler": HANDLER, "dependencies": ["x"]}]}
    loop = [*edges, {"from": "e1", "to": "a"}, {"from": "e1", "to": "e1", "when": {"outcome": "blocked"}}]
    call["dependency_policy"] = "any_succeeded"
    return workflow(
        {"id": "a", "outputs": ["x"]}, *ends, call, edges=loop, initial_nodes=["a"], children={"k@1": child}
    )


def test_svg_is_well_formed_and_harmless_whatever_it_shows() -> None:
    panels = drawing.panels(specification_of(hostile_workflow()))
    drawn = svg.picture(panels, "id")
    assert svg.picture(panels, "id") == drawn
    root = ET.fromstring(drawn)  # noqa: S314 - our own
    space = "{http://www.w3.org/2000/svg}"
    kinds = {element.tag.removeprefix(space) for element in root.iter()}
    assert kinds == {"svg", "title", "desc", "style", "defs", "marker", "path", "rect", "g", "text"}
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert "href" not in name
            assert "url(" not in value or value in {"url(#head-id)", "url(#tail-id)"}
    assert "prefers-color-scheme:dark" in drawn
    assert "nan" not in drawn
    assert "\x1b" not in drawn
    said = [element.text or "" for element in root.iter(f"{space}text")]
    assert '◇ x = "<script>alert(1)</script>"' in said
    assert '◇ x = "]]>"' in said
    assert {"▶ a", "k@1", "propagate", "any_succeeded", "▶ x"} <= set(said)
    assert len([path for path in root.iter(f"{space}path") if "exclusive" in path.get("class", "")]) == len(HOSTILE)
    assert len([path for path in root.iter(f"{space}path") if "dependency" in path.get("class", "")]) == 3
    assert len([box for box in root.iter(f"{space}rect") if box.get("class") == "inner"]) == 1


@pytest.mark.parametrize("path", SPECIFICATIONS, ids=lambda path: path.name)
def test_a_picture_begins_where_a_run_does(path: Path) -> None:
    found = lint(read(str(path)), None)
    assert found.specification is not None
    own = drawing.panels(found.specification)[0]
    marked = tuple(box.lines[0] for box in own.boxes if box.is_initial)
    assert marked == tuple(f"▶ {name}" for name in found.initial_nodes)


def test_boxes_of_a_picture_never_overlap() -> None:
    root = ET.fromstring(svg.picture(drawing.panels(specification_of(hostile_workflow()))[:1], "id"))  # noqa: S314
    boxes = [
        tuple(float(box.get(name, "0")) for name in ("x", "y", "width", "height"))
        for box in root.iter("{http://www.w3.org/2000/svg}rect")
        if box.get("class", "").startswith("box")
    ]
    for number, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[:number]:
            apart = (
                x + width < other_x or other_x + other_width < x or y + height < other_y or other_y + other_height < y
            )
            assert apart


LOOP = """\
schema_version: 5
workflow_id: correction
workflow_version: 1
initial_nodes: [plan]
nodes:
  - {id: plan, handler: {name: plan, version: 1}}
  - {id: draft, handler: {name: draft, version: 1}}
  - {id: illustrate-with-a-long-name, handler: {name: illustrate, version: 1}}
  - {id: review, handler: {name: review, version: 1}, dependencies: [draft], dependency_policy: all_completed}
  - {id: correct, handler: {name: correct, version: 1}}
  - {id: alarm, handler: {name: alarm, version: 1}}
  - {id: publish, handler: {name: publish, version: 1}, dependencies: [plan]}
  - {id: tell, handler: {name: tell, version: 1}, dependencies: [publish]}
edges:
  - {from: plan, to: draft}
  - {from: plan, to: illustrate-with-a-long-name}
  - {from: draft, to: draft, when: {outcome: retryable_failure}, mode: exclusive}
  - {from: draft, to: alarm, when: {outcome: permanent_failure}, mode: exclusive}
  - {from: review, to: correct, when: {outcome: blocked}}
  - {from: review, to: publish}
  - {from: correct, to: draft}
  - {from: correct, to: plan, when: {outcome: blocked}}
  - {from: alarm, to: review}
  - {from: tell, to: plan}
"""


def ways(path: str) -> list[tuple[float, float]]:
    """Return points along a path, close to each other."""
    found: list[tuple[float, float]] = []
    for kind, numbers in re.findall(r"([MLQC])([^MLQC]*)", path):
        given = [float(number) for number in numbers.split()]
        ends = [*found[-1:], *zip(given[::2], given[1::2], strict=True)]
        if kind == "M":
            found += ends
            continue
        for step in range(1, 51):
            points = ends
            while len(points) > 1:  # de Casteljau
                points = [
                    tuple(a + (b - a) * step / 50 for a, b in zip(one, other, strict=True))  # type: ignore[misc]
                    for one, other in pairwise(points)
                ]
            found += points
    return found


def test_no_arrow_of_a_picture_is_hidden_by_a_box() -> None:
    looping = lint(Text("flow", "yaml", LOOP.encode(), ()), None).specification
    assert looping is not None
    for specification in (looping, specification_of(hostile_workflow())):
        root = ET.fromstring(svg.picture(drawing.panels(specification)[:1], "id"))  # noqa: S314
        space = "{http://www.w3.org/2000/svg}"
        boxes = [
            tuple(float(box.get(name, "0")) for name in ("x", "y", "width", "height"))
            for box in root.iter(f"{space}rect")
            if box.get("class", "").startswith("box")
        ]
        arrows = [path.get("d", "") for path in root.iter(f"{space}path") if "arrow" in path.get("class", "")]
        assert len(arrows) > 10
        for x, y in (point for arrow in arrows for point in ways(arrow)):
            assert not any(
                left + 1 < x < left + width - 1 and top + 1 < y < top + height - 1 for left, top, width, height in boxes
            )


def test_each_label_of_a_picture_stands_on_paper_of_its_own() -> None:
    drawn = svg.picture(drawing.panels(specification_of(hostile_workflow())), "id")
    root = ET.fromstring(drawn)  # noqa: S314
    space = "{http://www.w3.org/2000/svg}"
    sheets = [sheet for sheet in root.iter(f"{space}rect") if sheet.get("class") == "paper"]
    labels = [label for label in root.iter(f"{space}text") if label.get("class") == "label"]
    assert len(sheets) == len(labels) + 1
    assert "paint-order" not in drawn


def test_mermaid_has_no_mark_in_its_labels() -> None:
    drawn = mermaid.flowchart(drawing.panels(specification_of(hostile_workflow())))
    assert drawn.startswith("flowchart TD\n")
    for line in drawn.splitlines()[2:]:
        for label in re.findall(r'"([^"]*)"', line):
            assert re.fullmatch(r"(?:[A-Za-z0-9 .=@_▶◇…-]|#[0-9]+;|<br/>)*", label), line
            assert "--" not in label
        assert line.count('"') in {0, 2}
    assert "#60;script#62;" in drawn
    assert "#128512;" in drawn
    assert 'n14[["c<br/>k@1<br/>propagate<br/>any_succeeded"]]' in drawn
    assert "n0 -.-> n14" in drawn
    assert 'subgraph d0["k@1"]' in drawn
    assert 'n0["▶ a<br/>h v1"]:::initial' in drawn


def test_a_crowd_is_refused_in_one_sentence_that_names_a_way() -> None:
    crowd = drawing.panels(specification_of(workflow(*({"id": f"n{number}"} for number in range(401)))))
    with pytest.raises(svg.Crowded, match=r"^401 nodes .* --picture mermaid"):
        svg.picture(crowd, "id")
    assert mermaid.flowchart(crowd).count("h v1") == 401
    names = [f"n{number}" for number in range(400)]
    long = [
        {"id": name, "dependencies": sorted({names[number - 1], *names[: min(number, 4)]})} if number else {"id": name}
        for number, name in enumerate(names)
    ]
    with pytest.raises(svg.Crowded, match="too many rows"):
        svg.picture(drawing.panels(specification_of(workflow(*long))), "id")


def test_a_large_picture_is_drawn_soon() -> None:
    ring = [{"from": f"n{number}", "to": f"n{(number * 7 + 1) % 300}"} for number in range(300)]
    nodes = [{"id": f"n{number}", "dependencies": [f"n{number - 1}"] if number % 3 else []} for number in range(300)]
    found = validate(workflow(*nodes, edges=ring, initial_nodes=[f"n{number}" for number in range(0, 300, 3)]))
    assert found.specification is not None
    ET.fromstring(svg.picture(drawing.panels(found.specification), "id"))  # noqa: S314


# The command


def test_the_examples_are_valid_and_keep_the_published_schemas(tmp_path: Path) -> None:
    words = [*map(str, SPECIFICATIONS), "--handlers", str(EXAMPLES / "handlers.json"), "--strict", "--json"]
    done = perdure("lint", *words, cwd=tmp_path)
    found = json.loads(done.stdout)
    lint_schema().validate(found)
    assert done.returncode == 0
    assert [one["problems"] for one in found["files"]] == [[], [], []]
    schema = Draft202012Validator(json.loads(perdure("lint", "--schema", "specification", cwd=tmp_path).stdout))
    for path in SPECIFICATIONS:
        schema.validate(yaml.safe_load(path.read_text("utf-8")))


@pytest.mark.parametrize("name", ["specification", "outcome", "handlers"])
def test_schemas_are_printed_as_they_are_published(name: str, tmp_path: Path) -> None:
    done = perdure("lint", "--schema", name, cwd=tmp_path)
    assert done.stdout == (ROOT / f"schemas/{name}-1.json").read_text("utf-8")


def test_canonical_form_comes_alone_with_its_hash(tmp_path: Path) -> None:
    done = perdure("lint", str(SPECIFICATIONS[0]), "--canonical", cwd=tmp_path)
    whole = read_json(done.stdout)
    assert isinstance(whole, dict)
    assert canonical_json(whole).decode() == done.stdout
    assert whole.pop("content_hash") == digest(whole)
    assert whole == yaml.safe_load(SPECIFICATIONS[0].read_text("utf-8"))
    (tmp_path / "bad.json").write_text("{}", "utf-8")
    refused = perdure("lint", "bad.json", "--canonical", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "missing_member (SPC-003)" in refused.stderr


def test_a_picture_goes_to_a_file_and_a_wrong_document_has_none(tmp_path: Path) -> None:
    path = str(SPECIFICATIONS[0])
    assert perdure("lint", path, "--picture", "svg", "x.svg", cwd=tmp_path).returncode == 0
    ET.parse(tmp_path / "x.svg")  # noqa: S314
    assert perdure("lint", path, "--picture", "mermaid", "-", cwd=tmp_path).stdout.startswith("flowchart TD")
    assert perdure("lint", path, "--picture", "svg", "no/x.svg", cwd=tmp_path).returncode == 2
    (tmp_path / "bad.yaml").write_text("{}", "utf-8")
    refused = perdure("lint", "bad.yaml", "--picture", "svg", "-", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "bad.yaml: " in refused.stderr


def test_a_catalogue_of_handlers_is_linted_too_and_looked_up_in(tmp_path: Path) -> None:
    (tmp_path / "flow.json").write_text(json.dumps(workflow({"id": "a"})), "utf-8")
    (tmp_path / "good.yaml").write_text("handlers: [{name: h, version: 1, inputs: [x]}]\n", "utf-8")
    (tmp_path / "bad.yaml").write_text("handlers: [{name: h, version: 0}]\n", "utf-8")
    good = perdure("lint", "flow.json", "--handlers", "good.yaml", "--json", cwd=tmp_path)
    assert good.returncode == 1
    files = json.loads(good.stdout)["files"]
    assert [(one["role"], [problem["code"] for problem in one["problems"]]) for one in files] == [
        ("handlers", []),
        ("specification", ["missing_input"]),
    ]
    bad = perdure("lint", "flow.json", "--handlers", "bad.yaml", cwd=tmp_path)
    assert bad.returncode == 1
    assert bad.stdout.startswith("bad.yaml:1:31: error out_of_range (SPC-005) ")
    assert "flow.json: not checked against the handlers, since bad.yaml is wrong\n" in bad.stdout
    assert "valid" not in bad.stdout
    unchecked = json.loads(perdure("lint", "flow.json", "--handlers", "bad.yaml", "--json", cwd=tmp_path).stdout)
    assert [(one["valid"], one["initial_nodes"]) for one in unchecked["files"]] == [(False, []), (False, [])]
    drawn = perdure("lint", "flow.json", "--handlers", "bad.yaml", "--picture", "mermaid", "-", cwd=tmp_path)
    assert (drawn.returncode, drawn.stdout) == (1, "")
    assert lint_handlers(Text("x", "yaml", b"*", ()))[1] is None


def test_warnings_count_if_that_is_asked_for(tmp_path: Path) -> None:
    odd = json.dumps(workflow({"id": "a", "dependency_policy": "any_succeeded"}))
    (tmp_path / "odd.json").write_text(odd, "utf-8")
    lenient = perdure("lint", "odd.json", cwd=tmp_path)
    assert lenient.returncode == 0
    assert "odd.json: valid, 1 warning\n" in lenient.stdout
    strict = perdure("lint", "odd.json", "--strict", cwd=tmp_path)
    assert strict.returncode == 1
    assert "odd.json: valid, 1 warning, which counts because of --strict\n" in strict.stdout
    (tmp_path / "odd.json").write_text(odd.replace('"id"', '"x": 1, "id"'), "utf-8")
    assert "--strict" not in perdure("lint", "odd.json", "--strict", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "at least one FILE"),
        (["nowhere.json"], "cannot be read: No such file"),
        (["."], "is a folder: name the files in it, as in ./*.yaml"),
        (["pipe.json"], "is a pipe or a device"),
        (["/dev/zero", "--syntax", "json"], "is a pipe or a device"),
        (["notes.txt"], "or say --syntax json"),
        (["-"], "add --syntax json or --syntax yaml"),
        (["-", "-", "--syntax", "json"], "give - once"),
        (["a.json", "--picture", "png", "x"], "is no kind of picture"),
        (["a.json", "b.json", "--picture", "svg", "x"], "one FILE"),
        (["a.json", "b.json", "--canonical"], "one FILE"),
        (["a.json", "--canonical", "--fix"], "at a time"),
        (["a.json", "--handlers", "nowhere.json"], "cannot be read"),
        (["a.json", "--handlers", "-"], "takes a file"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(words: Sequence[str], said: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "notes.txt").write_text("{}", "utf-8")
    done = perdure("lint", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_can_be_read_is_reported_even_if_another_file_cannot(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}", "utf-8")
    done = perdure("lint", "nowhere.json", "a.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "a.json: " in done.stdout
    assert "nowhere.json cannot be read" in done.stderr


def test_huge_files_and_odd_names_are_told_as_any_other(tmp_path: Path) -> None:
    with (tmp_path / "huge.yaml").open("wb") as file:
        file.truncate(50 * 2**30)
    name = os.fsencode(tmp_path) + b"/\xff\n.json"
    with open(name, "wb") as odd:  # noqa: PTH123
        odd.write(b"\x7fELF\x00\xff\xfe" * 9)
    done = perdure("lint", "huge.yaml", os.fsdecode(name), cwd=tmp_path)
    assert done.returncode == 1
    assert "huge.yaml:1:1: error too_large (SPC-001)" in done.stdout
    assert r"/\udcff\n.json:1:6: error not_utf8" in done.stdout
    for kind in ("json", "sarif", "github"):
        printed = perdure("lint", os.fsdecode(name), "--format", kind, cwd=tmp_path)
        assert printed.returncode == 1
        assert printed.stdout.isascii()


def test_standard_input_is_linted_and_cannot_be_changed(tmp_path: Path) -> None:
    broken = json.dumps(workflow({"id": "a", "outputs": ["x", "x"]}))

    def piped(*words: str) -> subprocess.CompletedProcess[str]:
        whole = [*PERDURE, "lint", "-", "--syntax", "json", *words]
        return subprocess.run(whole, input=broken, capture_output=True, text=True, cwd=tmp_path, check=False)

    assert piped().returncode == 1
    assert "+++ b/-" in piped("--fix", "--diff").stdout
    refused = piped("--fix")
    assert refused.returncode == 2
    assert "cannot be changed" in refused.stderr


def test_nobody_reads_and_the_verdict_stands(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(workflow({"id": "a", "outputs": ["x"] * 1_100})), "utf-8")
    for kind in ("text", "json", "github"):
        with subprocess.Popen(
            [*PERDURE, "lint", "bad.json", "--format", kind],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(60) == 1


def test_an_interruption_ends_it_with_one_sentence(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*PERDURE, "lint", "-", "--syntax", "yaml"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b" " * 2**20)  # More than a pipe holds: afterwards it is reading.
        process.stdin.flush()
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)
        assert process.returncode == 130
        assert process.stderr.read().startswith(b"Interrupted.")
