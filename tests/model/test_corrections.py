"""Which problems carry their correction, and which are about a key."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from perdure.kernel.problems import Correction, Problem
from perdure.kernel.validation.validator import validate
from perdure.kernel.values import JsonValue


def problems_of(node: Mapping[str, JsonValue], **document: JsonValue) -> list[Problem]:
    whole: dict[str, JsonValue] = {"schema_version": 5, "workflow_id": "w", "workflow_version": 1}
    full: dict[str, JsonValue] = {"id": "a", "handler": {"name": "h", "version": 1}, **node}
    return list(validate({**whole, "nodes": [full], **document}).problems)


def one(problems: list[Problem], code: str) -> Problem:
    return next(problem for problem in problems if problem.code == code)


def test_a_member_of_a_later_version_raises_the_version() -> None:
    found = one(problems_of({"retry": {}}, schema_version=1), "member_of_later_version")
    assert found.correction == Correction(pointer="/schema_version", value=4)
    assert (found.pointer, found.at_key) == ("/nodes/0/retry", True)


def test_a_policy_without_dependencies_goes() -> None:
    found = one(problems_of({"dependency_policy": "any_succeeded"}), "policy_without_dependencies")
    assert found.correction == Correction(pointer="/nodes/0/dependency_policy", remove=True)
    assert not found.at_key


@pytest.mark.parametrize("member", ["dependencies", "dependencie"])
def test_a_policy_whose_dependencies_cannot_be_read_stays(member: str) -> None:
    problems = problems_of({"dependency_policy": "any_succeeded", member: "a"})
    assert [problem.correction for problem in problems if problem.code == "policy_without_dependencies"] in ([], [None])


def test_a_name_that_stands_twice_goes() -> None:
    found = one(problems_of({"outputs": ["x", "y", "x"]}), "duplicate_name")
    assert found.correction == Correction(pointer="/nodes/0/outputs/2", remove=True)


@pytest.mark.parametrize("classes", [["retryable_failures", "permanent"], [1, 2], ["succeeded", 3]])
def test_what_stands_for_a_wrong_word_is_not_judged(classes: list[JsonValue]) -> None:
    problems = problems_of({"retry": {"classes": classes}})
    wrong = {f"/nodes/0/retry/classes/{position}" for position, kind in enumerate(classes) if kind != "succeeded"}
    assert {problem.pointer for problem in problems if problem.code in {"unknown_word", "wrong_type"}} == wrong
    assert not wrong & {problem.pointer for problem in problems if problem.code in {"duplicate_name", "no_retry_class"}}
    assert all(problem.correction is None for problem in problems)


def test_a_wrong_hash_becomes_the_right_one() -> None:
    found = one(problems_of({}, content_hash="0" * 64), "wrong_content_hash")
    assert found.correction is not None
    assert problems_of({}, content_hash=found.correction.value) == []


@pytest.mark.parametrize(
    ("document", "code", "at_key"),
    [
        ({"surplus": 1}, "unknown_member", True),
        ({"outputs": {"no name": {"node": "a", "output": "x"}}}, "wrong_form", True),
        ({"outputs": {"x": {"node": "no name", "output": "x"}}}, "wrong_form", False),
        (
            {"children": {"w": {"nodes": [{"id": "b", "handler": {"name": "h", "version": 1}}]}}},
            "wrong_reference",
            True,
        ),
    ],
)
def test_a_problem_tells_whether_it_is_about_a_key(document: Mapping[str, JsonValue], code: str, at_key: bool) -> None:
    assert one(problems_of({"outputs": ["x"]}, **document), code).at_key is at_key
