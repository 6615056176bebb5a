"""Theorems: each is proved, refutes its mutants, and names what there is; deliberate changes are noticed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from perdure.kernel.invariants import INVARIANTS
from perdure.kernel.rules import RULES
from perdure_conformance import data
from perdure_conformance.cli import command_line
from perdure_conformance.requirements import requirements
from perdure_proofs import document, theorems
from perdure_proofs.changes import changed_in, changes, noticed, tried_by
from perdure_proofs.contracts import contracts
from perdure_proofs.document import Found
from perdure_proofs.proving import verdict
from perdure_proofs.theorems import Any, Theorem

THEOREMS = theorems.theorems()
POINTS = 2_000
ROOT = Path(__file__).resolve().parents[2]
SCHEMA = Draft202012Validator(json.loads((data.schemas() / "prove-1.json").read_text("utf-8")))


def still() -> float:
    return 0.0


@pytest.mark.parametrize("name", THEOREMS)
def test_a_theorem_is_proved_is_what_python_does_and_refutes_its_mutants(name: str) -> None:
    theorem = THEOREMS[name]
    found = verdict(theorem, points=POINTS, now=still)
    assert found.outcome == "proved", [*found.faults, *found.doubts]
    assert found.points >= POINTS or found.exhaustive
    assert set(found.refuted) == set(theorem.mutants)
    assert theorem.mutants
    assert set(theorem.requirements) <= set(requirements())
    assert theorem.invariant is None or theorem.invariant in INVARIANTS
    assert all(claim.sentence for claim in theorem.claims)
    SCHEMA.validate({**document.as_json(Found([found]), POINTS, 1), "exit_code": 0})


def test_the_page_is_that_of_the_theorems_and_contracts() -> None:
    """Write it anew with `perdure prove --page > docs/proofs.md`."""
    assert (ROOT / "docs/proofs.md").read_text("utf-8") == document.page(THEOREMS.values(), contracts())


def test_deliberate_changes_of_rules_are_noticed() -> None:
    """Faults that were thought of for the suite, not for proofs; `perdure prove --changes` holds all of them."""
    found: dict[str, frozenset[str]] = {}
    for name, rules in changes().items():
        near = [theorem for theorem in THEOREMS.values() if changed_in(rules) & tried_by(theorem)]
        if noticed(rules, near) is not None:
            found[name] = changed_in(rules)
    assert len(found) >= 40
    assert len(set().union(*found.values())) >= 12


def run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(command_line(words), words)
    return done.exit_code, done.stdout, done.stderr


def test_the_command_tells_a_theorem_that_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Theorem(("TIM-011",), RULES, {}, name="time.wrong", text="Time stands still.\n\nIt does not.")

    @wrong.claim
    def stands_still(rules: object, values: Any) -> bool:  # noqa: ARG001
        """Every time is 0."""
        return values.whole("now_ms", 0, 9) == 0

    monkeypatch.setattr(theorems, "theorems", lambda: {"time.wrong": wrong})
    code, told, _ = run("prove", "--theorem", "time.wrong", "--points", "10")
    assert code == 1
    assert told.startswith("REFUTED    time.wrong  ")
    assert "stands_still does not hold: now_ms = " in told
    code, told, _ = run("prove", "--theorem", "time.wrong", "--points", "10", "--json")
    document_told = json.loads(told)
    SCHEMA.validate(document_told)
    assert (code, document_told["exit_code"]) == (1, 1)
    assert document_told["theorems"][0]["verdict"] == "refuted"


def test_the_command_tells_what_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = Theorem(("TIM-011",), RULES, {}, name="time.odd", text="Time is even.\n\nNobody knows.")

    @odd.claim
    def is_even(rules: object, values: Any) -> bool:  # noqa: ARG001
        """It has no encoding."""
        return values.whole("now_ms", 0, 9) & 1 == 0

    monkeypatch.setattr(theorems, "theorems", lambda: {"time.odd": odd})
    code, told, _ = run("prove", "--theorem", "time.odd", "--points", "10")
    assert code == 3
    assert told.startswith("UNKNOWN    time.odd  ")


def test_a_theorem_that_there_is_not_is_wrong_usage() -> None:
    code, told, wrong = run("prove", "--theorem", "retry.delay")
    assert (code, told) == (2, "")
    assert wrong.startswith("perdure: There is no theorem 'retry.delay'. There are: ")


@pytest.mark.parametrize(
    ("missing", "needed"),
    [("perdure_proofs", "the folder proofs/"), ("z3", "z3-solver"), ("crosshair", "crosshair-tool")],
)
def test_an_installed_wheel_says_what_proofs_need(missing: str, needed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == "perdure_proofs"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    code, told, wrong = run("prove")
    assert (code, told) == (2, "")
    assert needed in wrong
