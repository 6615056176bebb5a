from __future__ import annotations

from typing import Any

import pytest
from tests.model.documents import ARTIFACT, GONE, Document, changed, is_for_people

from perdure.kernel.outcomes import (
    OUTCOME_KINDS,
    ArtifactReference,
    ChangesRequested,
    Outcome,
    OutcomeKind,
    Succeeded,
    Unsuccessful,
    output_fields,
    read_outcome,
)
from perdure.kernel.problems import Problems
from perdure.kernel.values import JsonValue

WITHOUT_OUTPUT: list[OutcomeKind] = [kind for kind in OUTCOME_KINDS if kind not in {"succeeded", "changes_requested"}]


def reading(value: JsonValue) -> tuple[Outcome | None, list[tuple[str, str]]]:
    """Return an outcome that was read, and what is wrong with it."""
    problems = Problems()
    outcome = read_outcome(value, problems)
    assert all(is_for_people(problem) for problem in problems.kept)
    return outcome, [(problem.code, problem.pointer) for problem in problems.kept]


def is_refused(value: JsonValue) -> bool:
    return bool(reading(value)[1])


def test_the_kinds_are_seven() -> None:
    assert WITHOUT_OUTPUT == ["retryable_failure", "permanent_failure", "blocked", "cancelled", "skipped"]
    assert len(OUTCOME_KINDS) == 7


@pytest.mark.parametrize("output", [None, True, 0, 1.5, "", "x", [], {}, [1, {"a": None}], {"a": {"b": []}}], ids=repr)
def test_output_is_any_json(output: JsonValue) -> None:
    assert reading({"kind": "succeeded", "output": output}) == (Succeeded(kind="succeeded", output=output), [])
    changes = ChangesRequested(kind="changes_requested", reason="why", output=output)
    assert reading({"kind": "changes_requested", "reason": "why", "output": output}) == (changes, [])


def test_no_output_and_null_are_different() -> None:
    without, null = reading({"kind": "succeeded"})[0], reading({"kind": "succeeded", "output": None})[0]
    assert without == Succeeded(kind="succeeded")
    assert without != null


def test_output_may_be_kept_elsewhere() -> None:
    artifact = ArtifactReference(**ARTIFACT)
    for members in ({"kind": "succeeded"}, {"kind": "changes_requested", "reason": "why"}):
        outcome, found = reading({**members, "artifact": ARTIFACT})
        assert found == []
        assert isinstance(outcome, Succeeded | ChangesRequested)
        assert outcome.artifact == artifact


@pytest.mark.parametrize("kind", WITHOUT_OUTPUT)
def test_other_kinds_carry_a_reason_alone(kind: OutcomeKind) -> None:
    base: Document = {"kind": kind, "reason": "why"}
    outcome, found = reading(base)
    assert found == []
    assert isinstance(outcome, Unsuccessful)
    assert (outcome.kind, outcome.reason) == (kind, "why")
    assert reading({"kind": kind})[1] == [("missing_member", "")]
    assert reading(base | {"output": 1})[1] == [("unknown_member", "/output")]
    assert reading(base | {"artifact": ARTIFACT})[1] == [("unknown_member", "/artifact")]


@pytest.mark.parametrize("kind", OUTCOME_KINDS)
def test_any_kind_has_evidence_of_at_most_32_artifacts(kind: OutcomeKind) -> None:
    base: Document = {"kind": kind} | ({} if kind == "succeeded" else {"reason": ""})
    outcome, found = reading(base | {"evidence": [ARTIFACT] * 32})
    assert found == []
    assert outcome is not None
    assert outcome.evidence == (ArtifactReference(**ARTIFACT),) * 32
    assert reading(base | {"evidence": [ARTIFACT] * 33})[1] == [("out_of_range", "/evidence")]
    assert reading(base | {"evidence": []})[1] == []


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, ("wrong_type", "")),
        ("succeeded", ("wrong_type", "")),
        ([], ("wrong_type", "")),
        ({}, ("missing_member", "")),
        ({"reason": "why"}, ("missing_member", "")),
        ({"kind": "success"}, ("unknown_word", "/kind")),
        ({"kind": "Succeeded"}, ("unknown_word", "/kind")),
        ({"kind": None}, ("wrong_type", "/kind")),
        ({"kind": ["succeeded"]}, ("wrong_type", "/kind")),
        ({"kind": "changes_requested"}, ("missing_member", "")),
        ({"kind": "changes_requested", "reason": 1}, ("wrong_type", "/reason")),
        ({"kind": "blocked", "reason": None}, ("wrong_type", "/reason")),
        ({"kind": "succeeded", "reason": "why"}, ("unknown_member", "/reason")),
        ({"kind": "succeeded", "artifact": None}, ("wrong_type", "/artifact")),
        ({"kind": "succeeded", "evidence": {}}, ("wrong_type", "/evidence")),
        ({"kind": "succeeded", "evidence": [1]}, ("wrong_type", "/evidence/0")),
        ({"kind": "succeeded", "evidence": [ARTIFACT, {**ARTIFACT, "x": 1}]}, ("unknown_member", "/evidence/1/x")),
    ],
)
def test_what_is_no_outcome_is_refused(value: JsonValue, problem: tuple[str, str]) -> None:
    assert reading(value)[1] == [problem]


@pytest.mark.parametrize(
    ("member", "wrong", "right", "code"),
    [
        ("artifact_id", "018F3A5C-0000-7000-8000-0000000000F1", "018f3a5c-0000-7000-8000-0000000000f2", "wrong_form"),
        ("artifact_id", "{018f3a5c-0000-7000-8000-0000000000f1}", "00000000-0000-0000-0000-000000000000", "wrong_form"),
        ("byte_length", -1, 0, "out_of_range"),
        ("byte_length", True, 1.0, "wrong_type"),
        ("sha256", "F" * 64, "f" * 64, "wrong_form"),
        ("sha256", "f" * 64 + "\n", "0" * 64, "wrong_form"),
        ("media_type", "", "x", "wrong_form"),
        ("media_type", "x" * 256, "x" * 255, "wrong_form"),
        ("media_type", 1, GONE, "wrong_type"),
    ],
)
@pytest.mark.parametrize("at", ["/artifact", "/evidence/0"])
def test_an_artifact_is_refused_for_each_of_its_members(
    at: str, member: str, wrong: Any, right: Any, code: str
) -> None:
    base: Document = {"kind": "succeeded", "artifact": dict(ARTIFACT), "evidence": [dict(ARTIFACT)]}
    assert reading(changed(base, f"{at}/{member}", wrong))[1] == [(code, f"{at}/{member}")]
    assert reading(changed(base, f"{at}/{member}", right))[1] == []


def test_output_and_artifact_are_not_given_both() -> None:
    for members in ({"kind": "succeeded"}, {"kind": "changes_requested", "reason": ""}):
        assert is_refused({**members, "output": None, "artifact": ARTIFACT})
        assert not is_refused({**members, "artifact": ARTIFACT})


@pytest.mark.parametrize(("letter", "most"), [("a", 65_534), ("é", 32_767), ('"', 32_767), ("\n", 32_767)])
def test_inline_output_has_65536_bytes_in_canonical_form_at_most(letter: str, most: int) -> None:
    for members in ({"kind": "succeeded"}, {"kind": "changes_requested", "reason": ""}):
        assert not is_refused({**members, "output": letter * most})
        assert is_refused({**members, "output": letter * most + "a"})


def test_white_space_and_spelling_of_output_are_not_counted() -> None:
    assert not is_refused({"kind": "succeeded", "output": [1.0] * 32_767})
    assert is_refused({"kind": "succeeded", "output": [1.0] * 32_768})


@pytest.mark.parametrize(("letter", "most"), [("a", 4_096), ("é", 2_048), ("\U0001f600", 1_024), ("\n", 4_096)])
@pytest.mark.parametrize("kind", [kind for kind in OUTCOME_KINDS if kind != "succeeded"])
def test_a_reason_has_4096_bytes_of_utf_8_at_most(kind: OutcomeKind, letter: str, most: int) -> None:
    assert not is_refused({"kind": kind, "reason": letter * most})
    assert is_refused({"kind": kind, "reason": letter * most + "a"})
    assert not is_refused({"kind": kind, "reason": ""})


def test_several_problems_are_told_at_once() -> None:
    _, found = reading({"kind": "changes_requested", "reason": "a" * 5_000, "output": "a" * 70_000, "extra": 1})
    assert ("unknown_member", "/extra") in found
    assert {place for _, place in found} == {"/extra", "/reason", "/output"}


@pytest.mark.parametrize(
    ("outcome", "fields"),
    [
        (Succeeded(kind="succeeded"), {}),
        (Succeeded(kind="succeeded", output=None), {}),
        (Succeeded(kind="succeeded", output=[{"a": 1}]), {}),
        (Succeeded(kind="succeeded", output="a"), {}),
        (Succeeded(kind="succeeded", output={"a": 1, "b": {"c": 2}}), {"a": 1, "b": {"c": 2}}),
        (Succeeded(kind="succeeded", artifact=ArtifactReference(**ARTIFACT)), {}),
        (ChangesRequested(kind="changes_requested", reason="why", output={"a": 1}), {"a": 1}),
        (Unsuccessful(kind="blocked", reason="why"), {}),
    ],
)
def test_fields_are_those_of_inline_output_that_is_an_object(outcome: Outcome, fields: JsonValue) -> None:
    assert output_fields(outcome) == fields


def test_output_nests_at_most_90_deep() -> None:
    deep: JsonValue = 1
    for _ in range(90):
        deep = [deep]
    for members in ({"kind": "succeeded"}, {"kind": "changes_requested", "reason": "why"}):
        assert reading({**members, "output": deep})[1] == []
        assert reading({**members, "output": [deep]})[1] == [("output_too_deep", "/output")]
