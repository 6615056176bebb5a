"""What the sentence of a problem tells people to do, where the plain complaint would lead the wrong way."""

from __future__ import annotations

from typing import Any

import pytest
from tests.model.documents import Document, changed, child_node, definition, document, edge, full, node

from perdure.kernel.problems import Problem, Problems
from perdure.kernel.validation.handlers import read_handlers
from perdure.kernel.validation.validator import validate


def only(whole: Document) -> Problem:
    (problem,) = validate(whole).problems
    return problem


CATALOG = {key: definition(node("a")) for key in ("review@1", "review@12", "reviews@1")}


def called(workflow: str, children: Document) -> str:
    whole = document(child_node("a", workflow=workflow), children=children)
    return next(problem.sentence for problem in validate(whole).problems if problem.code == "wrong_form")


def test_a_child_without_its_version_is_told_the_keys_that_have_one() -> None:
    told = called("review", CATALOG)
    assert told == "Write the whole key, with its version: `review@1`, `review@12`; `review` alone names no child."
    assert called("other", CATALOG).startswith("`other` has not the form")
    assert called("review", {}).startswith("`review` has not the form")


def test_keys_are_looked_for_a_few_times_only() -> None:
    whole = document(*(child_node(f"n{number}", workflow="review") for number in range(100)), children=CATALOG)
    told = [problem.sentence for problem in validate(whole).problems if problem.code == "wrong_form"]
    assert len(told) == 100
    assert 0 < sum(sentence.startswith("Write the whole key") for sentence in told) < 100


@pytest.mark.parametrize(
    ("at", "value", "told"),
    [
        ("/nodes/5/handler", "work", "`name` and `version` here, as in `{name: work, version: 1}`; this is the string"),
        ("/nodes/5/handler", "work it", "Write an object with `name` and `version` here; this is the string"),
        ("/nodes/5/handler", 1, "Write an object with `name` and `version` here; this is the number 1."),
        ("/nodes/5", "spare", "Write an object with `id` here, as in `{id: spare}`; this is the string `spare`."),
        ("/nodes/2/retry", "x", "Write an object here; this is the string `x`."),
        ("/outputs/result", "url", "Write an object with `node` and `output` here; this is the string `url`."),
        ("/nodes/0/artifacts/source", "x", "Write an object with `artifact_id`, `byte_length` and `sha256` here; "),
        ("/nodes/2/retry/backoff", {"delay_ms": 5}, "Add `kind`, one of `immediate`, `fixed`, `exponential`; with "),
        ("/nodes/2/retry/backoff", {"delay_ms": 5}, "; with `delay_ms` it is `fixed`."),
        ("/nodes/2/retry/backoff", {}, "Add `kind`, one of `immediate`, `fixed`, `exponential`."),
        ("/nodes/2/retry/backoff", {"x": 1}, "Add `kind`, one of `immediate`, `fixed`, `exponential`."),
        ("/edges/0/when", "succeeded", "Write an object here: `{outcome: succeeded}`."),
        ("/nodes/0/input_mapping/ticket", {}, "Write an object with `node` or an object with `run_input` here."),
    ],
)
def test_a_wrong_object_is_told_what_it_needs(at: str, value: Any, told: str) -> None:
    assert told in only(changed(full(), at, value)).sentence


def loop(mapping: Document) -> Document:
    """Return a document in which `draft` leads to `check`, and that to `mend` and back; `ship` ends it."""
    nodes = [
        node("draft", outputs=["text"]),
        node("check"),
        node("mend", input_mapping=mapping),
        node("ship", input_mapping={}),
    ]
    edges = [edge("draft", "check"), edge("check", "mend"), edge("mend", "check"), edge("check", "ship")]
    return document(*nodes, edges=edges, initial_nodes=["draft"])


OF_DRAFT = {"text": {"node": "draft", "output": "text"}}


def test_what_is_out_of_reach_in_a_loop_is_handed_on() -> None:
    told = only(loop(OF_DRAFT)).sentence
    assert told.endswith("let what leads here (`check`) have it as an output of its own, and take it from there.")
    behind = changed(loop({}), "/nodes/3/input_mapping", {"text": {"node": "mend", "output": "text"}})
    behind = changed(behind, "/nodes/2/outputs", ["text"])
    assert "what leads here (`check`)" in only(behind).sentence


def test_what_is_out_of_reach_elsewhere_becomes_a_dependency_or_the_source_of_an_edge() -> None:
    apart = document(node("draft", outputs=["text"]), node("ship", input_mapping=OF_DRAFT))
    assert only(apart).sentence.endswith("make it a dependency, or lead an edge from it here.")
    first = document(
        node("first", input_mapping=OF_DRAFT),
        node("draft", outputs=["text"]),
        edges=[edge("draft", "draft"), edge("first", "draft")],
        initial_nodes=["first"],
    )
    assert only(first).sentence.endswith("make it a dependency, or lead an edge from it here.")


def test_a_problem_that_names_another_place_tells_which() -> None:
    twice = [edge("a", "b", mode="exclusive"), edge("a", "b", mode="exclusive")]
    overlap = only(document(node("a"), node("b"), edges=twice))
    assert (overlap.code, overlap.pointer, overlap.other) == ("overlapping_edges", "/edges/1", "/edges/0")
    same = only(document(node("a"), node("b"), edges=[edge("a", "b"), edge("a", "b")]))
    assert (same.code, same.pointer, same.other) == ("duplicate_edge", "/edges/1", "/edges/0")


def test_an_input_that_a_handler_declares_twice_is_told_and_can_go() -> None:
    problems = Problems()
    read_handlers({"handlers": [{"name": "h", "version": 1, "inputs": ["a", "b", "a", 1, 1]}]}, problems)
    found = [(problem.code, problem.pointer) for problem in problems.kept]
    assert ("duplicate_name", "/handlers/0/inputs/2") in found
    assert [code for code, _ in found].count("duplicate_name") == 1
    (repeated,) = [problem for problem in problems.kept if problem.code == "duplicate_name"]
    assert repeated.correction is not None
    assert repeated.correction.remove
