"""The profile of validators: what is said of a failure, and what an adapter may do."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console
from tests.conformance.helpers import perdure

from perdure.kernel.specification import HandlerDeclaration
from perdure_conformance import data
from perdure_conformance.harness.targets import CommandTarget
from perdure_conformance.profiles import PROFILES
from perdure_conformance.reports import terminal
from perdure_conformance.reports.report import Report, build
from perdure_conformance.spec.contract import Answer
from perdure_conformance.spec.documents import text_of
from perdure_conformance.spec.drawn import draw_documents
from perdure_conformance.spec.judge import judge
from perdure_conformance.spec.mutants import MUTANTS
from perdure_conformance.spec.pairs import all_pairs
from perdure_conformance.spec.questions import Question, about
from perdure_conformance.spec.reference import ReferenceValidator
from perdure_conformance.suite import Judgement, Options, Part
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

SPEC = PROFILES["spec"]

ADAPTER = """
import json, sys, time
for number, line in enumerate(sys.stdin):
    request = json.loads(line)
    if request["method"] == "initialize":
        limits = {"max_document_bytes": 2**24}
        result = {"protocol": 1, "name": "x", "version": "1", "capabilities": CLAIMS, "limits": limits}
    elif request["method"] == "shutdown":
        result = {}
    else:
        result = ANSWER
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def judged(answer: str, claims: str = "{}", only: str = "", timeout_s: float = 10.0) -> Judgement:
    program = ADAPTER.replace("CLAIMS", claims).replace("ANSWER", answer)
    options = Options(
        "quick",
        timeout_s=timeout_s,
        only=frozenset({only} if only else ()),
        parts=frozenset({"written"}),
        smaller=False,
    )
    return judge(CommandTarget((sys.executable, "-c", program)), options)


@pytest.mark.parametrize("valid", ["True", "False"])
def test_one_answer_for_all_breaks_every_rule_that_refuses(valid: str) -> None:
    broken = set(judged(f'{{"valid": {valid}}}').findings)
    asked = {
        pair.requirement
        for pair in all_pairs()
        if (pair.rejected if valid == "True" else pair.accepted) is not None and pair.handlers is None
    }
    told_alone = {"SPC-012", "SPC-021", "SPC-030"}
    by_others = {"EDG-003", "EDG-005", "EDG-006"}  # What they refuse breaks EDG-002 and SPC-017.
    assert broken == asked - told_alone | {"SPC-002"} if valid == "False" else broken == asked - told_alone - by_others


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("{}", "wrong_reply"),
        ('{"valid": 1}', "wrong_reply"),
        ('{"valid": True, "extra": 1}', "wrong_reply"),
        ('{"valid": False, "problems": [{"code": 1}]}', "wrong_reply"),
        ('{"valid": False, "problems": [{}] * 1001}', "wrong_reply"),
        ('{"valid": False, "problems": [{"code": "x" * 200}]}', "wrong_reply"),
        ('{"valid": False, "problems": [{"sentence": "x" * 5000}]}', "wrong_reply"),
        ("sys.exit(3)", "exited"),
        ("print('log') or {}", "no_message"),
        ("time.sleep(9)", "silence"),
    ],
)
def test_what_the_protocol_does_not_allow_is_a_fault(answer: str, kind: str) -> None:
    judgement = judged(answer, timeout_s=1.0, only="SPC-007")
    assert judgement.fault is not None
    assert judgement.fault.kind == kind
    assert set(judgement.findings) == {f"fault:{kind}"}


def judged_but_for_the_first_answer(instead: str) -> Judgement:
    """Judge what answers each question as the model would, but for the first one."""
    program = Path(__file__).parent / "independent_validators.py"
    wrapper = (
        "import subprocess, sys, time\n"
        f"program = [sys.executable, {str(program)!r}, 'right']\n"
        "child = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "for line in sys.stdin.buffer:\n"
        "    if b'validate' in line and not __import__('os').path.exists(sys.argv[1]):\n"
        "        open(sys.argv[1], 'w').close(); INSTEAD\n"
        "    child.stdin.write(line); child.stdin.flush()\n"
        "    sys.stdout.buffer.write(child.stdout.readline()); sys.stdout.buffer.flush()\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        program_of_all = wrapper.replace("INSTEAD", instead)
        target = CommandTarget((sys.executable, "-c", program_of_all, f"{folder}/asked"))
        options = Options("quick", timeout_s=5.0, only=frozenset({"SPC-007"}), parts=frozenset({"written"}))
        return judge(target, options)


def test_one_silence_leaves_its_rule_open() -> None:
    judgement = judged_but_for_the_first_answer("time.sleep(60)")
    assert judgement.fault is None
    assert judgement.findings == {}
    assert set(judgement.inconclusive) == {"SPC-007"}


class RaisesAtSome(ReferenceValidator):
    """The model's validator, but for documents at which it raises."""

    texts: ClassVar[frozenset[str]] = frozenset()

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        if document in self.texts:
            raise ValueError("no \x1b luck")
        return super().validate(document, handlers)


class RaisesAtEveryDocument(ReferenceValidator):
    """Raises whatever it is asked."""

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        del document, handlers
        raise ZeroDivisionError


class RaisesOrAccepts(RaisesAtSome):
    """Accepts whatever it does not raise at."""

    def validate(self, document: str, handlers: Sequence[HandlerDeclaration] | None) -> Answer:
        super().validate(document, handlers)
        return Answer(valid=True)


def judged_raising(
    validator: type[ReferenceValidator], part: Part, texts: Sequence[str] = ()
) -> tuple[Judgement, Report]:
    target = SPEC.subjects.of(type(validator.__name__, (validator,), {"texts": frozenset(texts)}))
    judgement = judge(target, Options("quick", parts=frozenset({part}), smaller=False))
    report = build(SPEC, judgement, target, depth="quick", seed=1, cases={})
    schema = json.loads((data.schemas() / "report-1.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(report.document)
    return judgement, report


def rows(report: Report) -> dict[str, dict[str, Any]]:
    requirements: Any = report.document["requirements"]
    return {row["id"]: row for row in requirements}


def refused_for(requirement: str, count: int) -> list[str]:
    """Return so many documents that are asked about once each."""
    asked = Counter(document for pair in all_pairs() for document in (pair.rejected, pair.accepted))
    refused = [pair.rejected for pair in all_pairs() if pair.requirement == requirement]
    return [text_of(document) for document in refused if document is not None and asked[document] == 1][:count]


@pytest.mark.parametrize("times", [1, 4])
def test_an_exception_leaves_its_rule_open_and_the_judgement_goes_on(times: int) -> None:
    judgement, report = judged_raising(RaisesAtSome, "written", refused_for("SPC-017", times))
    assert judgement.fault is None
    assert set(judgement.findings) == {"fault:error"}
    assert judgement.findings["fault:error"].reproduced
    assert report.exit_code == NO_VERDICT
    assert {key for key, verdict in report.verdicts.items() if verdict == "inconclusive"} == {"SPC-017"}
    assert {verdict for key, verdict in report.verdicts.items() if key != "SPC-017"} == {"pass"}
    why = rows(report)["SPC-017"]["why"]
    asked = judgement.counts["documents"]
    assert asked > 1_000
    told = f"the validator raised on {times} of {asked} documents, first: validate raised ValueError: 'no \\x1b luck'."
    assert why == told
    assert "why" not in rows(report)["SPC-016"]
    assert isinstance(report.document["fault"], dict)
    assert report.document["fault"]["kind"] == "error"
    shown = StringIO()
    terminal.show(Console(file=shown, width=200), report, judgement, {"fault:error": Path("somewhere")})
    assert told in shown.getvalue()
    assert "NO VERDICT (the implementation, or its adapter, is at fault)" in shown.getvalue()


def test_exceptions_without_end_end_the_judgement() -> None:
    judgement, report = judged_raising(RaisesAtEveryDocument, "written")
    assert judgement.fault is not None
    assert judgement.fault.kind == "error"
    assert judgement.counts == {"documents": 5}
    assert report.exit_code == NO_VERDICT
    assert set(report.verdicts.values()) == {"inconclusive"}
    assert "ZeroDivisionError" in rows(report)["SPC-001"]["why"]
    assert {row["why"] for name, row in rows(report).items() if name != "SPC-001"} == {"after an operation had failed"}
    assert report.document["fault"] == {
        "kind": "error",
        "sentence": "validate raised ZeroDivisionError: ''.",
        "case": None,
    }


def test_an_exception_does_not_hide_what_is_broken() -> None:
    judgement, report = judged_raising(RaisesOrAccepts, "written", refused_for("SPC-017", 1))
    assert judgement.fault is None
    assert report.exit_code == NOT_CONFORMANT
    assert report.verdicts["SPC-016"] == "fail"


def test_an_exception_at_a_drawn_document_leaves_open_what_the_document_decides() -> None:
    drawn = draw_documents(60, 1)
    document = next(document for document in drawn[60:] if drawn.count(document) == 1)
    judgement, report = judged_raising(RaisesAtSome, "drawn", [text_of(document)])
    assert judgement.fault is None
    assert not judgement.cut_short
    assert set(judgement.inconclusive) == {about(Question(document))}
    assert report.exit_code == NO_VERDICT


def test_one_exit_leaves_its_rule_open() -> None:
    judgement = judged_but_for_the_first_answer("sys.exit(3)")
    assert judgement.fault is None
    assert [lapse.kind for lapse in judgement.lapses] == ["exited"]
    assert set(judgement.findings) == {"fault:exited"}
    assert set(judgement.inconclusive) == {"SPC-007"}
    assert "the validator raised or exited on 1 of" in judgement.inconclusive["SPC-007"]
    assert judgement.reached["SPC-007"]


@pytest.mark.parametrize("claim", ["codes", "pointers", "content_hash", "initial_nodes", "witnesses"])
def test_what_is_claimed_must_be_told(claim: str) -> None:
    blamed = {
        "codes": "SPC-028",
        "pointers": "SPC-029",
        "content_hash": "SPC-012",
        "initial_nodes": "SPC-021",
        "witnesses": "EDG-007",
    }[claim]
    valid = claim in {"content_hash", "initial_nodes"}
    findings = judged(f'{{"valid": {valid}}}', f'{{"{claim}": True}}').findings
    assert blamed in findings


def test_what_is_not_claimed_is_not_judged() -> None:
    target = SPEC.twins["SaysYesOrNo"].target
    judgement = judge(target, Options("quick", parts=frozenset({"written"})))
    report = build(SPEC, judgement, target, depth="quick", seed=1, cases={})
    assert report.exit_code == CONFORMANT
    unclaimed = {key for key, verdict in report.verdicts.items() if verdict == "not_claimed"}
    assert unclaimed == {"SPC-012", "SPC-021", "SPC-026", "SPC-027", "SPC-028", "SPC-029", "SPC-030", "EDG-007"}
    assert "handlers: not claimed" in str(report.document["not_covered"])


def test_a_failure_that_needs_another_document_before_it_is_played_again_with_it() -> None:
    mutant = MUTANTS["RemembersVisitsForEver"]
    options = Options("quick", only=frozenset({mutant.breaks}), parts=frozenset({"written"}), smaller=False)
    finding = judge(mutant.target, options).findings[mutant.breaks]
    assert finding.reproduced
    assert finding.case.needs_prior_state
    again = SPEC.replay(finding.case, SPEC.target_of(finding.case))
    assert again.failure == finding.failure


def test_a_failure_is_shown_with_its_document_and_played_again(tmp_path: Path) -> None:
    name = next(name for name, mutant in MUTANTS.items() if mutant.breaks == "SPC-017")
    target = f"{MUTANTS[name].target.words()['name']}"
    done = perdure("check", "spec", target, "--only", "SPC-017", "--depth", "quick", cwd=tmp_path)
    assert done.returncode == NOT_CONFORMANT
    folder = tmp_path / "perdure-report" / "failures" / "SPC-017"
    case = json.loads((folder / "case.json").read_text("utf-8"))
    assert case["profile"] == "spec"
    (question,) = case["questions"]
    assert text_of(tuple(question["document"])) in done.stdout
    again = perdure("rerun", str(folder), "--json", cwd=tmp_path)
    assert again.returncode == NOT_CONFORMANT
    assert json.loads(again.stdout)["same"] is True


def test_an_empty_selection_is_no_pass(tmp_path: Path) -> None:
    twin = SPEC.twins["SaysYesOrNo"].target.words()["name"]
    done = perdure("check", "spec", str(twin), "--only", "SPC-026", cwd=tmp_path)
    assert done.returncode == NO_VERDICT


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not there")
def test_the_validator_in_node_is_conformant(tmp_path: Path) -> None:
    adapter = Path(__file__).resolve().parents[2] / "conformance" / "examples" / "node-validator" / "adapter.mjs"
    done = perdure("check", "spec", "--command", f"node {adapter}", "--depth", "quick", cwd=tmp_path)
    assert done.returncode == CONFORMANT, done.stdout
