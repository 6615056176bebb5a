from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from tests.model.documents import (
    ARTIFACT,
    GONE,
    Document,
    as_definition,
    changed,
    child_node,
    definition,
    document,
    edge,
    errors,
    field,
    full,
    is_for_people,
    kind,
    node,
    warnings,
)
from tests.model.helpers import MAX, MIB

from perdure.kernel.problems import MAX_PROBLEMS, Correction, Problems
from perdure.kernel.validation.handlers import Handlers, read_handlers
from perdure.kernel.validation.validator import validate, validate_text
from perdure.kernel.values import JsonValue, digest

SAME: Final = object()
"""In place of the right value: the one that the full document has."""


@dataclass(frozen=True)
class Fault:
    """One change that makes the full document wrong in one way, and the change that does not."""

    at: str
    """Where it is changed, as a JSON Pointer."""
    wrong: Any
    code: str
    place: str | None = None
    """Where the problem is; None is where the change was."""
    right: Any = SAME

    @property
    def problem(self) -> tuple[str, str]:
        return self.code, self.at if self.place is None else self.place

    def __str__(self) -> str:
        shown = "gone" if self.wrong is GONE else repr(self.wrong)
        return f"{self.code} {self.at} {shown}"[:90]


def retried(**members: Any) -> Document:
    return {"max_attempts": 2, **members}


FIXED = {"kind": "fixed", "delay_ms": 5}
EXPONENTIAL = {"kind": "exponential", "initial_ms": 1, "multiplier": 2, "maximum_ms": 100}
START, REVIEW, FIX, PUBLISH, ALARM, SPARE = (f"/nodes/{position}" for position in range(6))

FAULTS_OF_A_DOCUMENT = [
    Fault("/schema_version", GONE, "missing_member", ""),
    Fault("/schema_version", "5", "wrong_type"),
    Fault("/schema_version", True, "wrong_type", right=5.0),
    Fault("/schema_version", None, "wrong_type"),
    Fault("/schema_version", 6, "unsupported_version"),
    Fault("/schema_version", 0, "unsupported_version"),
    Fault("/schema_version", -1, "unsupported_version"),
    Fault("/schema_version", MAX, "unsupported_version"),
    Fault("/workflow_id", GONE, "missing_member", ""),
    Fault("/workflow_id", 7, "wrong_type"),
    Fault("/workflow_id", "", "wrong_form", right="_"),
    Fault("/workflow_id", "a" * 129, "wrong_form", right="a" * 128),
    Fault("/workflow_id", "é", "wrong_form", right="e"),
    Fault("/workflow_id", "flow\n", "wrong_form", right="flow"),
    Fault("/workflow_id", "\nflow", "wrong_form"),
    Fault("/workflow_id", "1a", "wrong_form", right="a1"),
    Fault("/workflow_id", "-a", "wrong_form", right="a-"),
    Fault("/workflow_id", ".a", "wrong_form", right="a._-Z9"),
    Fault("/workflow_id", "a b", "wrong_form", right="a_b"),
    Fault("/workflow_id", "a\u0661", "wrong_form"),
    Fault("/workflow_version", GONE, "missing_member", ""),
    Fault("/workflow_version", 0, "out_of_range", right=1),
    Fault("/workflow_version", -1, "out_of_range", right=MAX),
    Fault("/workflow_version", "1", "wrong_type", right=1.0),
    Fault("/workflow_version", True, "wrong_type"),
    Fault("/workflow_version", 1.5, "wrong_type"),
    Fault("/workflow_version", [], "wrong_type"),
    Fault("/content_hash", "0" * 63, "wrong_form"),
    Fault("/content_hash", "A" * 64, "wrong_form"),
    Fault("/content_hash", "0" * 64 + "\n", "wrong_form"),
    Fault("/content_hash", "", "wrong_form"),
    Fault("/content_hash", None, "wrong_type"),
    Fault("/content_hash", "0" * 64, "wrong_content_hash"),
    Fault("/$schema", 1, "wrong_type", right=""),
    Fault("/extra", 1, "unknown_member"),
    Fault("/a~1b~0c", 1, "unknown_member"),
    Fault("/", 1, "unknown_member"),
    Fault("/Nodes", [], "unknown_member"),
    Fault("/children", [], "wrong_type"),
]
"""Each is right in some way, or the full document is."""

FAULTS = [
    # The workflow.
    Fault("/nodes", {}, "wrong_type"),
    Fault(f"{SPARE}", "spare", "wrong_type"),
    Fault("/edges", {}, "wrong_type"),
    Fault("/edges/4", [], "wrong_type"),
    Fault("/initial_nodes", "start", "wrong_type"),
    Fault("/inputs/1", 1, "wrong_type", right="other"),
    Fault("/inputs/1", "", "wrong_form"),
    Fault("/inputs/1", "ticket", "duplicate_name", right="Ticket"),
    Fault("/outputs", [], "wrong_type"),
    Fault("/outputs/x", "url", "wrong_type", right={"node": "publish", "output": "url"}),
    Fault("/outputs/1", {"node": "publish", "output": "url"}, "wrong_form"),
    Fault("/outputs/x", {"node": "publish"}, "missing_member"),
    Fault("/outputs/x", {"output": "url"}, "missing_member"),
    Fault("/outputs/result/node", "nobody", "unknown_node"),
    Fault("/outputs/result/output", "uri", "undeclared_output", right="url"),
    Fault("/outputs/score/output", "scores", "undeclared_output", right="text"),
    Fault("/outputs/x", {"node": "review", "output": "text"}, "undeclared_output", "/outputs/x/output"),
    Fault("/budgets", 1, "wrong_type"),
    Fault("/budgets/max_attempts", 0, "out_of_range", right=1),
    Fault("/budgets/max_transitions", 0, "out_of_range", right=1),
    Fault("/budgets/max_elapsed_ms", 0, "out_of_range", right=1),
    Fault("/budgets/max_attempts", True, "wrong_type", right=MAX),
    Fault("/budgets/max_elapsed_ms", None, "wrong_type", right=GONE),
    Fault("/budgets/max_cost", 1, "unknown_member"),
    Fault("/cancellation", "abandon", "unknown_word", right=GONE),
    Fault("/cancellation", ["cascade"], "wrong_type"),
    # Nodes.
    Fault(f"{SPARE}/extra", 1, "unknown_member"),
    Fault("/nodes/6", node("spare"), "duplicate_node", "/nodes/6/id", right=node("more", "start")),
    Fault(f"{SPARE}/handler", GONE, "handler_or_child", SPARE),
    Fault(f"{REVIEW}/handler", {"name": "work", "version": 1}, "handler_or_child", REVIEW, GONE),
    Fault(f"{SPARE}/handler", "work", "wrong_type"),
    Fault(f"{SPARE}/handler/name", GONE, "missing_member", f"{SPARE}/handler"),
    Fault(f"{SPARE}/handler/name", "work:it", "wrong_form", right="work.it"),
    Fault(f"{SPARE}/handler/name", 1, "wrong_type"),
    Fault(f"{SPARE}/handler/version", GONE, "missing_member", f"{SPARE}/handler"),
    Fault(f"{SPARE}/handler/version", 0, "out_of_range", right=MAX),
    Fault(f"{SPARE}/handler/version", "1", "wrong_type", right=1.0),
    Fault(f"{SPARE}/handler/path", "a.b:c", "unknown_member"),
    Fault(f"{REVIEW}/outputs", ["verdict"], "handler_or_child"),
    Fault(f"{REVIEW}/signals", ["go"], "handler_or_child"),
    Fault(f"{REVIEW}/child", 1, "wrong_type"),
    Fault(f"{REVIEW}/child/extra", 1, "unknown_member"),
    Fault(f"{REVIEW}/child/policy", GONE, "missing_member", f"{REVIEW}/child"),
    Fault(f"{REVIEW}/child/policy", "ignore", "unknown_word", right="require_success"),
    Fault(f"{REVIEW}/child/policy", "Propagate", "unknown_word"),
    Fault(f"{REVIEW}/child/policy", True, "wrong_type"),
    Fault(f"{REVIEW}/child/workflow", GONE, "missing_member", f"{REVIEW}/child"),
    Fault(f"{REVIEW}/child/workflow", "review", "wrong_form"),
    Fault(f"{REVIEW}/child/workflow", "review@0", "wrong_form"),
    Fault(f"{REVIEW}/child/workflow", "review@01", "wrong_form"),
    Fault(f"{REVIEW}/child/workflow", "review@1 ", "wrong_form"),
    Fault(f"{REVIEW}/child/workflow", "review@1\n", "wrong_form"),
    Fault(f"{REVIEW}/child/workflow", "review@2", "unknown_child"),
    Fault(f"{REVIEW}/child/outputs/2x", "verdict", "wrong_form"),
    Fault(f"{REVIEW}/child/outputs/x", "", "wrong_form", right="verdict"),
    Fault(f"{REVIEW}/child/outputs/x", 1, "wrong_type"),
    Fault(f"{REVIEW}/child/outputs/x", "verdicts", "undeclared_child_output"),
    Fault(f"{REVIEW}/input_mapping", GONE, "missing_child_input", REVIEW),
    Fault(f"{REVIEW}/input", {"tone": "dry"}, "undeclared_child_input", f"{REVIEW}/input/tone", {}),
    Fault(f"{SPARE}/input", [], "wrong_type", right={"a/b~ é": [None, {"": 1.5}]}),
    Fault(f"{SPARE}/input", "x", "wrong_type"),
    Fault(f"{SPARE}/input", {"x": "a" * 65_529}, "input_too_large", right={"x": "a" * 65_528}),
    Fault(f"{SPARE}/input", {"x": "é" * 32_765}, "input_too_large", right={"x": "é" * 32_764}),
    Fault(f"{SPARE}/input", {"x": "\n" * 32_765}, "input_too_large", right={"x": "\n" * 32_764}),
    Fault(f"{START}/input/source", 1, "input_given_twice", f"{START}/artifacts/source"),
    Fault(f"{START}/input/ticket", 1, "input_given_twice", f"{START}/input_mapping/ticket"),
    Fault(f"{START}/artifacts/ticket", ARTIFACT, "input_given_twice", f"{START}/input_mapping/ticket"),
    Fault(f"{START}/artifacts", [], "wrong_type"),
    Fault(f"{START}/artifacts/1", ARTIFACT, "wrong_form"),
    Fault(f"{START}/artifacts/x", "file", "wrong_type"),
    Fault(f"{START}/artifacts/source/artifact_id", GONE, "missing_member", f"{START}/artifacts/source"),
    Fault(f"{START}/artifacts/source/artifact_id", "018F3A5C-0000-7000-8000-0000000000F1", "wrong_form"),
    Fault(f"{START}/artifacts/source/artifact_id", "018f3a5c0000700080000000000000f1", "wrong_form"),
    Fault(f"{START}/artifacts/source/byte_length", GONE, "missing_member", f"{START}/artifacts/source"),
    Fault(f"{START}/artifacts/source/byte_length", -1, "out_of_range", right=0),
    Fault(f"{START}/artifacts/source/byte_length", "10", "wrong_type", right=MAX),
    Fault(f"{START}/artifacts/source/sha256", GONE, "missing_member", f"{START}/artifacts/source"),
    Fault(f"{START}/artifacts/source/sha256", "0" * 65, "wrong_form", right="0" * 64),
    Fault(f"{START}/artifacts/source/sha256", "g" * 64, "wrong_form", right="f" * 64),
    Fault(f"{START}/artifacts/source/media_type", "", "wrong_form", right="x"),
    Fault(f"{START}/artifacts/source/media_type", "x" * 256, "wrong_form", right="x" * 255),
    Fault(f"{START}/artifacts/source/media_type", None, "wrong_type", right=GONE),
    Fault(f"{START}/artifacts/source/url", "x", "unknown_member"),
    Fault(f"{START}/input_mapping", [], "wrong_type"),
    Fault(f"{START}/input_mapping/x", "ticket", "wrong_type", right={"run_input": "ticket"}),
    Fault(f"{START}/input_mapping/2", {"run_input": "ticket"}, "wrong_form"),
    Fault(f"{START}/input_mapping/x", {}, "missing_member"),
    Fault(f"{START}/input_mapping/x", {"node": "fix"}, "missing_member"),
    Fault(f"{START}/input_mapping/x", {"run_input": 1}, "wrong_type", f"{START}/input_mapping/x/run_input"),
    Fault(f"{START}/input_mapping/ticket/default", 1, "unknown_member"),
    Fault(f"{START}/input_mapping/ticket/run_input", "tickets", "undeclared_run_input", right="ticket"),
    Fault(f"{REVIEW}/input_mapping/text/node", "nobody", "unknown_node"),
    Fault(f"{REVIEW}/input_mapping/text/output", "texts", "undeclared_output", right="score"),
    Fault(f"{START}/outputs/2", "text", "duplicate_name", right="Text"),
    Fault(f"{START}/outputs/2", 1, "wrong_type"),
    Fault(f"{START}/outputs/2", "te xt", "wrong_form"),
    Fault(f"{START}/outputs", "text", "wrong_type", right=["score", "text"]),
    Fault(f"{START}/signals/2", "go", "duplicate_name", right="GO"),
    Fault(f"{START}/signals/2", "", "wrong_form", right="_"),
    Fault(f"{START}/max_activations", 0, "out_of_range", right=1),
    Fault(f"{START}/max_activations", True, "wrong_type", right=MAX),
    Fault(f"{START}/max_activations", None, "wrong_type", right=GONE),
    Fault(f"{PUBLISH}/dependencies/2", "nobody", "unknown_node", right="fix"),
    Fault(f"{PUBLISH}/dependencies/2", "start", "duplicate_name", right="alarm"),
    Fault(f"{PUBLISH}/dependencies/2", 1, "wrong_type"),
    Fault(f"{PUBLISH}/dependencies/2", "", "wrong_form"),
    Fault(f"{PUBLISH}/dependencies/2", "publish", "dependency_cycle", right="spare"),
    Fault(f"{REVIEW}/dependency_policy", "all", "unknown_word", right="any_succeeded"),
    Fault(f"{REVIEW}/dependency_policy", None, "wrong_type", right="all_succeeded"),
    # Retry.
    Fault(f"{START}/retry", 3, "wrong_type", right={}),
    Fault(f"{START}/retry/retries", 3, "unknown_member"),
    Fault(f"{START}/retry/max_attempts", 0, "out_of_range", right=1),
    Fault(f"{START}/retry/max_attempts", "3", "wrong_type", right=MAX),
    Fault(f"{START}/retry/attempt_deadline_ms", 0, "out_of_range", right=1),
    Fault(f"{START}/retry/classes", "retryable_failure", "wrong_type", right=[]),
    Fault(f"{START}/retry/classes/1", "permanent", "unknown_word", right="permanent_failure"),
    Fault(f"{START}/retry/classes/1", None, "wrong_type"),
    Fault(f"{START}/retry/classes/1", "retryable_failure", "duplicate_name"),
    *(
        Fault(f"{START}/retry/classes/1", word, "no_retry_class", right="permanent_failure")
        for word in ("succeeded", "changes_requested", "blocked", "cancelled", "skipped")
    ),
    Fault(f"{START}/retry/backoff", "immediate", "wrong_type", right={"kind": "immediate"}),
    Fault(f"{START}/retry/backoff", {}, "missing_member"),
    Fault(f"{START}/retry/backoff", {"delay_ms": 5}, "missing_member"),
    Fault(f"{START}/retry/backoff/kind", "linear", "unknown_word", right="exponential"),
    Fault(f"{START}/retry/backoff/kind", 1, "wrong_type"),
    Fault(f"{START}/retry/backoff", {"kind": "fixed"}, "missing_member", right=FIXED),
    Fault(f"{START}/retry/backoff/initial_ms", GONE, "missing_member", f"{START}/retry/backoff"),
    Fault(f"{START}/retry/backoff/multiplier", GONE, "missing_member", f"{START}/retry/backoff"),
    Fault(f"{START}/retry/backoff/maximum_ms", GONE, "missing_member", f"{START}/retry/backoff"),
    Fault(f"{START}/retry/backoff/initial_ms", -1, "out_of_range", right=0),
    Fault(f"{START}/retry/backoff/maximum_ms", -1, "out_of_range", right=0),
    Fault(f"{START}/retry/backoff/multiplier", 0, "out_of_range", right=1),
    Fault(f"{START}/retry/backoff/multiplier", 1.5, "wrong_type", right=2.0),
    Fault(f"{START}/retry/backoff/delay_ms", 5, "unknown_member"),
    Fault(f"{FIX}/retry/backoff/delay_ms", -1, "out_of_range", right=0),
    Fault(f"{FIX}/retry/backoff/delay_ms", "5", "wrong_type", right=MAX),
    Fault(f"{PUBLISH}/retry/backoff/delay_ms", 5, "unknown_member"),
    Fault(f"{START}/retry/jitter", 10, "wrong_type", right=GONE),
    Fault(f"{START}/retry/jitter/seed", GONE, "missing_member", f"{START}/retry/jitter"),
    Fault(f"{START}/retry/jitter/seed", "a" * 129, "wrong_form", right="a" * 128),
    Fault(f"{START}/retry/jitter/seed", 1, "wrong_type", right=""),
    Fault(f"{START}/retry/jitter/seed", "\U0001f600" * 129, "wrong_form", right="\U0001f600" * 128),
    Fault(f"{START}/retry/jitter/maximum_ms", GONE, "missing_member", f"{START}/retry/jitter"),
    Fault(f"{START}/retry/jitter/maximum_ms", -1, "out_of_range", right=0),
    # Edges.
    Fault("/edges/3/from", GONE, "missing_member", "/edges/3"),
    Fault("/edges/4", {"from": "start"}, "missing_member", right=edge("start", "alarm")),
    Fault("/edges/3/extra", 1, "unknown_member"),
    Fault("/edges/4", edge("nobody", "start"), "unknown_node", "/edges/4/from", right=edge("spare", "start")),
    Fault("/edges/4", edge("spare", "nobody"), "unknown_node", "/edges/4/to", right=edge("spare", "spare")),
    Fault("/edges/4", edge("", "start"), "wrong_form", "/edges/4/from"),
    Fault("/edges/4", edge("spare", "1"), "wrong_form", "/edges/4/to"),
    Fault("/edges/3/mode", "both", "unknown_word", right="parallel"),
    Fault("/edges/3/mode", 1, "wrong_type"),
    Fault("/edges/3/when", "all", "unknown_word", right="any"),
    Fault("/edges/3/when", "Any", "unknown_word"),
    Fault("/edges/3/when", True, "wrong_type", right=GONE),
    Fault("/edges/3/when", None, "wrong_type"),
    Fault("/edges/3/when", [], "wrong_type"),
    Fault("/edges/3/when", {}, "missing_member"),
    Fault("/edges/3/when", {"equals": 1}, "missing_member"),
    Fault("/edges/3/when", {"field": "score"}, "missing_member", right=field("score", None)),
    Fault("/edges/3/when/field", "", "wrong_form"),
    Fault("/edges/3/when/field", 1, "wrong_type"),
    Fault("/edges/3/when/equals", [], "wrong_type", right=""),
    Fault("/edges/3/when/equals", {}, "wrong_type", right=1.5),
    Fault("/edges/3/when/unless", 1, "unknown_member"),
    Fault("/edges/0/when/outcome", "change_requested", "unknown_word", right="changes_requested"),
    Fault("/edges/0/when/outcome", "", "unknown_word", right="succeeded"),
    Fault("/edges/0/when/outcome", 1, "wrong_type"),
    Fault("/edges/0/when", kind("skipped"), "never_matches", right=kind("blocked")),
    Fault("/edges/0/when", kind("permanent_failure"), "overlapping_edges", "/edges/1", right=kind("cancelled")),
    Fault("/edges/1/when", "any", "overlapping_edges", "/edges/1"),
    Fault("/edges/1/mode", "sideways", "unknown_word", right="parallel"),
    # Where a run begins.
    Fault("/initial_nodes", GONE, "initial_nodes_needed", ""),
    Fault("/initial_nodes", [], "no_initial_nodes"),
    Fault("/initial_nodes/1", "nobody", "unknown_node", right="spare"),
    Fault("/initial_nodes/1", "", "wrong_form"),
    Fault("/initial_nodes/1", 1, "wrong_type"),
    Fault("/initial_nodes/1", "start", "duplicate_name", right="fix"),
    Fault("/initial_nodes/1", "review", "initial_node_with_dependencies", right="alarm"),
    Fault("/nodes/6", node("island"), "unreachable_node", right=node("island", "spare")),
]


def whole(fault: Fault) -> bool:
    """Tell whether a fault takes away what much else names, so that its absence shows in other places too."""
    gone = {"/nodes", "/edges", SPARE, f"{START}/outputs", "/initial_nodes", f"{REVIEW}/child", "/children"}
    return fault.code == "wrong_type" and fault.at in gone


def right(fault: Fault) -> Document:
    return full() if fault.right is SAME else changed(full(), fault.at, fault.right)


ALL_FAULTS = [*FAULTS_OF_A_DOCUMENT, *FAULTS]


@pytest.mark.parametrize("fault", ALL_FAULTS, ids=str)
def test_one_fault_is_one_problem(fault: Fault) -> None:
    validation = validate(changed(full(), fault.at, fault.wrong))
    found = errors(validation)
    assert not validation.valid
    assert validation.specification is None
    assert validation.initial_nodes == ()
    assert (found[:1] if whole(fault) else found) == [fault.problem]


@pytest.mark.parametrize("fault", [fault for fault in ALL_FAULTS if fault.right is not SAME], ids=str)
def test_its_twin_is_accepted(fault: Fault) -> None:
    validation = validate(right(fault))
    assert errors(validation) == []
    assert validation.valid


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_in_a_definition_is_the_same_problem(fault: Fault) -> None:
    found = errors(validate(as_definition(changed(full(), fault.at, fault.wrong))))
    code, place = fault.problem
    expected = (code, f"/children/inner@1{place}")
    if whole(fault) or fault.at == "/inputs/1":
        assert expected in found
    else:
        assert found == [expected]


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if fault.right is not SAME and fault.at != "/inputs/1"], ids=str
)
def test_its_twin_in_a_definition_is_accepted(fault: Fault) -> None:
    assert errors(validate(as_definition(right(fault)))) == []


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_in_a_definition_that_nothing_uses_is_a_problem_all_the_same(fault: Fault) -> None:
    found = as_definition(changed(full(), fault.at, fault.wrong))
    found["nodes"] = [node("alone")]
    code, place = fault.problem
    assert (code, f"/children/inner@1{place}") in errors(validate(found))


def test_the_full_document_is_accepted_also_as_a_definition() -> None:
    assert errors(validate(full())) == []
    assert errors(validate(as_definition(full()))) == []


# Several faults at once

CLOSE = (
    *(f"{REVIEW}/{member}" for member in ("child", "input")),
    *("/outputs/result", f"{REVIEW}/input_mapping", f"{START}/retry/backoff", "/edges/"),
)
"""Places within which one fault may take away what another is about: the call of a child, a reference, a predicate."""

OF_GRAPHS = {"initial_nodes_needed", "unreachable_node", "dependency_cycle"}


def inside(place: str, other: str) -> bool:
    return f"{place}/".startswith(f"{other}/")


def is_close(one: Fault, other: Fault) -> bool:
    """Tell whether two faults are so near each other that one may hide the other."""
    places = [(a, b) for a in (one.at, one.problem[1]) for b in (other.at, other.problem[1]) if a and b]
    if any(inside(a, b) or inside(b, a) for a, b in places):
        return True
    homes = [{home for home in CLOSE if fault.at.startswith(home)} for fault in (one, other)]
    return bool(homes[0] & homes[1]) or all(fault.at.startswith(f"{REVIEW}/") for fault in (one, other))


def may_hide_the_graph(fault: Fault) -> bool:
    """Tell whether a fault leaves open what the nodes and arrows are."""
    is_a_name = fault.at.startswith(("/initial_nodes", "/edges/4", f"{PUBLISH}/dependencies"))
    is_an_arrow = fault.problem[1] == "/edges/3" and fault.code == "missing_member"
    return fault.code == "unknown_member" or fault.code in OF_GRAPHS or is_a_name or is_an_arrow or whole(fault)


def are_independent(one: Fault, other: Fault) -> bool:
    if is_close(one, other) or whole(one) or whole(other):
        return False
    return not any(a.code in OF_GRAPHS and may_hide_the_graph(b) for a, b in ((one, other), (other, one)))


def missed_together(one: Fault, others: Iterable[Fault]) -> list[str]:
    """Return what is not told when one fault meets each of others that it is independent of."""
    broken = changed(full(), one.at, one.wrong)
    missed = []
    for other in others:
        if are_independent(one, other):
            found = errors(validate(changed(broken, other.at, other.wrong)))
            missed += [f"{told} with {other}" for told in (one.problem, other.problem) if told not in found]
    return missed


REPRESENTATIVES = list({fault.code: fault for fault in reversed(ALL_FAULTS)}.values())
"""One fault for each code."""


@pytest.mark.parametrize("number", range(len(REPRESENTATIVES)), ids=lambda number: REPRESENTATIVES[number].code)
def test_two_faults_that_cannot_hide_each_other_are_both_told(number: int) -> None:
    one = REPRESENTATIVES[number]
    known = [fault for fault in REPRESENTATIVES[:number] if fault.code not in OF_GRAPHS]
    assert one.code in OF_GRAPHS or missed_together(one, known) == []


@pytest.mark.parametrize("one", [fault for fault in FAULTS if fault.code in OF_GRAPHS], ids=str)
def test_a_graph_is_looked_at_whatever_is_wrong_elsewhere(one: Fault) -> None:
    assert missed_together(one, ALL_FAULTS) == []


def test_what_is_wrong_in_several_workflows_is_told_of_each() -> None:
    cyclic = definition(node("a", "b"), node("b", "a"), node("c"), initial_nodes=["c"])
    looping = definition(node("a"), edges=[edge("a", "a")])
    found = errors(validate(document(node("a"), node("a"), children={"x@1": cyclic, "y@1": looping})))
    assert ("duplicate_node", "/nodes/1/id") in found
    assert ("initial_nodes_needed", "/children/y@1") in found
    assert next(place for code, place in found if code == "dependency_cycle").startswith("/children/x@1/nodes/")


def test_two_ill_named_fields_are_two_problems_and_no_third() -> None:
    found = changed(full(), f"{START}/artifacts/1", ARTIFACT)
    found = changed(found, f"{START}/input_mapping/2", {"run_input": "ticket"})
    assert sorted(errors(validate(found))) == [
        ("wrong_form", f"{START}/artifacts/1"),
        ("wrong_form", f"{START}/input_mapping/2"),
    ]


def test_two_ill_named_definitions_are_both_looked_into() -> None:
    twice = definition(node("a"), node("a"))
    found = errors(validate(document(node("a"), children={"x": twice, "y": twice})))
    assert set(found) == {
        ("wrong_reference", "/children/x"),
        ("duplicate_node", "/children/x/nodes/1/id"),
        ("wrong_reference", "/children/y"),
        ("duplicate_node", "/children/y/nodes/1/id"),
    }


def test_an_ill_named_definition_has_its_own_place() -> None:
    found = errors(validate(document(node("a"), children={"x": definition(node("a"), initial_nodes=[])})))
    assert ("no_initial_nodes", "/children/x/initial_nodes") in found


def test_two_words_that_mean_nothing_are_two_problems() -> None:
    found = changed(full(), f"{START}/retry/classes", ["x", "y"])
    assert errors(validate(found)) == [
        ("unknown_word", f"{START}/retry/classes/0"),
        ("unknown_word", f"{START}/retry/classes/1"),
    ]


def test_a_child_takes_no_artifacts() -> None:
    found = changed(full(), f"{REVIEW}/artifacts", {"x": ARTIFACT})
    assert ("handler_or_child", f"{REVIEW}/artifacts") in errors(validate(found))


# Small documents


def test_the_smallest_document_is_accepted() -> None:
    validation = validate(document(node("a"), version=1))
    assert validation.valid
    assert validation.problems == ()


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], [1]], ids=repr)
def test_a_document_is_an_object(value: JsonValue) -> None:
    assert errors(validate(value)) == [("wrong_type", "")]


def test_each_missing_member_of_an_empty_document_is_told() -> None:
    assert errors(validate({})) == [("missing_member", "")] * 4


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        ([], ("out_of_range", "/nodes")),
        ([3], ("wrong_type", "/nodes/0")),
        ([None], ("wrong_type", "/nodes/0")),
        ([{"handler": {"name": "work", "version": 1}}], ("missing_member", "/nodes/0")),
        ([node("1")], ("wrong_form", "/nodes/0/id")),
        ([node("a\n")], ("wrong_form", "/nodes/0/id")),
        ([node("a" * 129)], ("wrong_form", "/nodes/0/id")),
        ([node("a") | {"id": 1}], ("wrong_type", "/nodes/0/id")),
        ([{"id": "a"}], ("handler_or_child", "/nodes/0")),
        ([node("a", child=None)], ("wrong_type", "/nodes/0/child")),
    ],
)
def test_a_document_of_one_bad_node_has_one_problem(nodes: JsonValue, problem: tuple[str, str]) -> None:
    assert errors(validate(document() | {"nodes": nodes})) == [problem]
    assert errors(validate(document(node("a"), children={"x@1": {"nodes": nodes}}))) == [
        (problem[0], f"/children/x@1{problem[1]}")
    ]


def test_a_document_without_nodes_misses_them() -> None:
    assert errors(validate({key: value for key, value in document().items() if key != "nodes"})) == [
        ("missing_member", "")
    ]


@pytest.mark.parametrize("name", ["a", "_", "A.b-c_9", "a" * 128])
def test_a_name_is_any_that_its_grammar_allows(name: str) -> None:
    found = document(node(name), node("z", name), edges=[edge(name, "z")], initial_nodes=[name], outputs={})
    assert errors(validate(found)) == []


@pytest.mark.parametrize("outside", ["schema_version", "workflow_id", "workflow_version", "content_hash", "$schema"])
def test_a_definition_has_no_member_of_a_whole_document(outside: str) -> None:
    whole_document = {**full(), "content_hash": "0" * 64}
    found = document(node("a"), children={"x@1": definition(node("a"), **{outside: whole_document[outside]})})
    assert errors(validate(found)) == [("unknown_member", f"/children/x@1/{outside}")]


def test_a_definition_has_no_catalog_of_its_own() -> None:
    found = document(node("a"), children={"x@1": definition(node("a"), children={})})
    assert errors(validate(found)) == [("unknown_member", "/children/x@1/children")]


@pytest.mark.parametrize(
    ("wrong", "twin"),
    [
        ("review", "review@1"),
        ("@1", "a@1"),
        ("a@", "a@9"),
        ("a@0", "a@10"),
        ("a@01", "a@101"),
        ("a@1.0", "a.0@1"),
        ("a@-1", "a-@1"),
        ("a@1@1", "a@11"),
        ("1@1", "_1@1"),
        ("a@1\n", "a@1"),
        ("a@\u0661", "a@1"),
        ("a@12345678901234567", "a@1234567890123456"),
        ("a@10000000000000000", "a@9999999999999999"),
        ("a" * 129 + "@1", "a" * 128 + "@1"),
        ("", "_@1"),
    ],
)
def test_a_key_of_the_catalog_is_a_workflow_reference(wrong: str, twin: str) -> None:
    child = definition(node("a"))
    assert errors(validate(document(node("a"), children={wrong: child}))) == [("wrong_reference", f"/children/{wrong}")]
    assert errors(validate(document(node("a"), children={twin: child}))) == []
    assert errors(validate(document(child_node("a", workflow=twin), children={twin: child}))) == []


@pytest.mark.parametrize("policy", ["all_succeeded", "all_completed", "any_succeeded"])
@pytest.mark.parametrize("child_policy", ["propagate", "require_success"])
@pytest.mark.parametrize("mode", ["parallel", "exclusive"])
def test_every_listed_word_is_accepted(policy: str, child_policy: str, mode: str) -> None:
    caller = child_node("b", "a", dependency_policy=policy)
    caller["child"]["policy"] = child_policy
    words = ["succeeded", "changes_requested", "retryable_failure", "permanent_failure", "blocked", "cancelled"]
    edges = [edge("a", f"t{number}", kind(word), mode) for number, word in enumerate(words)]
    targets = [node(f"t{number}") for number in range(len(words))]
    found = document(node("a"), caller, *targets, edges=edges, children={"child@1": definition(node("a"))})
    assert errors(validate(found)) == []


# Versions

LATER_MEMBERS: list[tuple[int, str, Any]] = [
    (2, "/nodes/1/artifacts", {}),
    (2, "/nodes/1/artifacts", {"x": ARTIFACT}),
    (2, "/nodes/1/dependency_policy", "all_succeeded"),
    (2, "/nodes/1/dependency_policy", "all_completed"),
    (3, "/edges", []),
    (3, "/edges", [edge("a", "b")]),
    (3, "/initial_nodes", ["a"]),
    (3, "/inputs", []),
    (3, "/inputs", ["x"]),
    (3, "/outputs", {}),
    (3, "/outputs", {"x": {"node": "a", "output": "text"}}),
    (3, "/nodes/1/input_mapping", {}),
    (3, "/nodes/1/input_mapping", {"x": {"node": "a", "output": "text"}}),
    (3, "/nodes/1/max_activations", 1),
    (4, "/budgets", {}),
    (4, "/budgets", {"max_attempts": 10_000, "max_transitions": 100_000}),
    (4, "/nodes/1/retry", {}),
    (4, "/nodes/1/retry", {"max_attempts": 3}),
    (5, "/cancellation", "cascade"),
    (5, "/nodes/1/signals", []),
    (5, "/nodes/1/signals", ["go"]),
]
OF_THE_DOCUMENT: list[tuple[int, str, Any]] = [
    (3, "/children", {}),
    (3, "/children", {"x@1": definition(node("a"))}),
]


def plain(version: int) -> Document:
    return document(node("a", outputs=["text"]), node("b", "a"), version=version)


@pytest.mark.parametrize(("since", "at", "value"), [*LATER_MEMBERS, *OF_THE_DOCUMENT])
@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_a_member_is_refused_in_a_document_of_an_older_version(version: int, since: int, at: str, value: Any) -> None:
    found = errors(validate(changed(plain(version), at, value)))
    assert found == ([] if version >= since else [("member_of_later_version", at)])


@pytest.mark.parametrize(("since", "at", "value"), [row for row in LATER_MEMBERS if row[0] > 3])
@pytest.mark.parametrize("version", [3, 4, 5])
def test_the_version_of_the_document_holds_in_definitions(version: int, since: int, at: str, value: Any) -> None:
    found = document(node("a"), version=version, children={"x@1": changed(definition(*plain(5)["nodes"]), at, value)})
    place = f"/children/x@1{at}"
    assert errors(validate(found)) == ([] if version >= since else [("member_of_later_version", place)])


@pytest.mark.parametrize(("since", "at", "value"), LATER_MEMBERS)
def test_all_members_of_later_versions_are_told_with_the_catalog_of_an_old_document(
    since: int, at: str, value: Any
) -> None:
    found = document(node("a"), version=1, children={"x@1": changed(definition(*plain(5)["nodes"]), at, value)})
    expected = [("member_of_later_version", "/children"), ("member_of_later_version", f"/children/x@1{at}")]
    assert sorted(errors(validate(found))) == expected
    assert since > 1


def test_a_child_came_with_version_3() -> None:
    children = {"child@1": definition(node("a"))}
    assert errors(validate(document(child_node("a"), version=3, children=children))) == []
    assert sorted(errors(validate(document(child_node("a"), version=2, children=children)))) == [
        ("member_of_later_version", "/children"),
        ("member_of_later_version", "/nodes/0/child"),
    ]


@pytest.mark.parametrize("version", [0, 6, 7, MAX])
def test_a_version_that_there_is_not_has_all_members(version: int) -> None:
    assert errors(validate(full() | {"schema_version": version})) == [("unsupported_version", "/schema_version")]


# Text

TEXT = json.dumps(full())


@pytest.mark.parametrize(
    ("wrong", "code", "twin"),
    [
        (TEXT[:-1], "not_json", TEXT),
        (" \r\n", "empty", TEXT),
        ("\u00a0", "not_json", TEXT),
        (TEXT + "{}", "not_json", TEXT + " \n"),
        ("\ufeff" + TEXT, "not_json", "\n" + TEXT),
        (TEXT.encode().replace(b"salt", b"s\xe9lt"), "not_utf8", TEXT.encode().replace(b"salt", "sélt".encode())),
        (TEXT.replace('"seed"', '"seed": "salt", "seed"'), "duplicate_key", TEXT),
        (TEXT.replace('"seed"', '"seed": "salt", "\\u0073eed"'), "duplicate_key", TEXT),
        (TEXT.replace("salt", "\\ud800"), "lone_surrogate", TEXT.replace("salt", "\\ud83d\\ude00")),
        (TEXT.replace('"fast"', str(MAX + 1)), "number_out_of_range", TEXT.replace('"fast"', str(MAX))),
        (TEXT.replace('"fast"', str(-MAX - 1)), "number_out_of_range", TEXT.replace('"fast"', str(-MAX))),
        (TEXT.replace('"fast"', "1e400"), "number_out_of_range", TEXT.replace('"fast"', "1e300")),
        (TEXT.replace('"fast"', "NaN"), "not_json", TEXT.replace('"fast"', "null")),
        ("[" * 101 + "]" * 101, "too_deep", TEXT),
        ("[" * 100_000, "too_deep", TEXT),
    ],
    ids=range(15),
)
def test_a_text_that_is_no_i_json_is_refused(wrong: str | bytes, code: str, twin: str | bytes) -> None:
    refused = validate_text(wrong)
    assert errors(refused) == [(code, "")]
    assert not refused.valid
    assert all(is_for_people(problem) for problem in refused.problems)
    assert validate_text(twin).valid


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"a": "\ud800"}, "lone_surrogate"),
        ({"content_hash": "\ud800"}, "lone_surrogate"),
        ({"a": float("inf")}, "number_out_of_range"),
        ({"a": MAX + 1}, "number_out_of_range"),
    ],
)
def test_a_value_that_no_text_stands_for_is_refused(value: JsonValue, code: str) -> None:
    assert errors(validate(value)) == [(code, "")]


def respelled(text: str) -> Iterator[str | bytes]:
    """Yield other texts of the same value."""
    value = json.loads(text)
    yield json.dumps(value, indent=3)
    yield json.dumps(value, sort_keys=True, separators=(",", ":"))
    yield json.dumps(dict(reversed(value.items()))).encode()
    yield text.replace('"start"', '"\\u0073tart"')
    yield text.replace('"schema_version": 5', '"schema_version": 5.0').replace('"version": 1', '"version": 10e-1')
    yield " \t\r\n" + text + " " * 10_000


@pytest.mark.parametrize("number", range(6))
def test_the_spelling_of_a_document_does_not_count(number: int) -> None:
    validation = validate_text(list(respelled(TEXT))[number])
    assert validation == validate(full())
    assert validation.valid


# Limits


def nested(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize(("depth", "is_accepted"), [(90, True), (91, False), (100, False)])
def test_a_document_nests_90_deep_at_most(depth: int, is_accepted: bool) -> None:
    """The document, its nodes, the node and its input are the first four levels."""
    found = document(node("a", input={"x": nested(depth - 4)}))
    for validation in (validate(found), validate_text(json.dumps(found))):
        assert errors(validation) == ([] if is_accepted else [("document_too_deep", "")])
        assert validation.valid is is_accepted


def test_more_than_100_levels_are_no_json_at_all() -> None:
    assert errors(validate(document(node("a", input={"x": nested(97)})))) == [("too_deep", "")]


def sized(size: int, with_hash: bool) -> Document:
    """Return a document of so many bytes in canonical form."""
    found = document(node("a")) | {"$schema": ""}
    if with_hash:
        found["content_hash"] = "0" * 64
    found["$schema"] = "a" * (size - len(json.dumps(found, separators=(",", ":"))))
    if with_hash:
        found["content_hash"] = digest({key: value for key, value in found.items() if key != "content_hash"})
    return found


@pytest.mark.parametrize("with_hash", [False, True])
@pytest.mark.parametrize("beyond", [0, 1])
def test_a_document_has_15_mib_at_most(beyond: int, with_hash: bool) -> None:
    validation = validate(sized(15 * MIB + beyond, with_hash))
    assert errors(validation) == [("document_too_large", "")] * beyond
    assert validation.valid is not bool(beyond)


def test_white_space_is_not_counted() -> None:
    assert validate_text(json.dumps(document(node("a"))) + " " * (15 * MIB)).valid


# The content hash


def sha256_of(whole_document: Document) -> str:
    """Return the digest of a document of ASCII strings and integers: of those, this is the canonical form."""
    covered = {key: value for key, value in whole_document.items() if key != "content_hash"}
    return hashlib.sha256(json.dumps(covered, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def test_the_right_content_hash_is_accepted_and_told() -> None:
    right_hash = sha256_of(full())
    assert validate(full()).content_hash == right_hash
    validation = validate(full() | {"content_hash": right_hash})
    assert validation.valid
    assert validation.content_hash == right_hash


@pytest.mark.parametrize(
    "at", ["/workflow_version", "/nodes/0/input/more", "/$schema", "/children/review@1/nodes/0/id"]
)
def test_any_other_value_has_another_hash(at: str) -> None:
    before = {**full(), "content_hash": sha256_of(full())}
    after = changed(before, at, "read2" if at.endswith("id") else "9" if at == "/$schema" else 9)
    found = validate(after)
    assert ("wrong_content_hash", "/content_hash") in errors(found)
    assert validate(after | {"content_hash": sha256_of(after)}).content_hash == sha256_of(after) != sha256_of(before)


def test_a_wrong_hash_is_told_with_the_right_one() -> None:
    (problem,) = validate(full() | {"content_hash": "0" * 64}).problems[:1]
    assert problem.correction == Correction(pointer="/content_hash", value=sha256_of(full()))


@pytest.mark.parametrize("number", range(6))
def test_the_hash_is_the_same_for_every_spelling(number: int) -> None:
    text = json.dumps(full() | {"content_hash": sha256_of(full())})
    assert validate_text(list(respelled(text))[number]).content_hash == sha256_of(full())


def test_members_with_default_values_count() -> None:
    assert validate(plain(5)).content_hash != validate(plain(5) | {"edges": []}).content_hash


# Cycles


def waiting(**prerequisites: str) -> list[Document]:
    """Return nodes by name, each with its prerequisites in one string."""
    return [node(name, *names.split()) for name, names in prerequisites.items()]


def closes(place: str, nodes: list[Document], members: set[str]) -> bool:
    """Tell whether a place is a dependency of one member of a cycle on another."""
    _, array, position, name, number = place.split("/")
    here = nodes[int(position)]
    return (array, name) == ("nodes", "dependencies") and {here["id"], here["dependencies"][int(number)]} <= members


@pytest.mark.parametrize(
    ("nodes", "cycles"),
    [
        (waiting(start="", a="a start"), [{"a"}]),
        (waiting(start="", a="b", b="a start"), [{"a", "b"}]),
        (waiting(start="", a="start d", b="a", c="b", d="c"), [set("abcd")]),
        (waiting(start="", a="start", b="a a2", a2="b"), [{"b", "a2"}]),
        (waiting(start="", a="b start", b="a", c="d start", d="c"), [set("ab"), set("cd")]),
        (waiting(start="", a="a start", b="b start"), [{"a"}, {"b"}]),
        (waiting(start="", a="b start", b="a", c="b"), [set("ab")]),
    ],
)
def test_a_cycle_of_dependencies_is_refused_where_it_closes(nodes: list[Document], cycles: list[set[str]]) -> None:
    found = errors(validate(document(*nodes, initial_nodes=["start"])))
    assert [code for code, _ in found] == ["dependency_cycle"] * len(cycles)
    assert all(sum(closes(place, nodes, members) for _, place in found) == 1 for members in cycles)


@pytest.mark.parametrize(
    "nodes",
    [
        waiting(a="", b="a", c="a", d="b c"),
        waiting(a="", b="a", c="a b", d="a b c"),
        waiting(a="", b="", c="a b", d="a b"),
        waiting(d="b c", c="a", b="a", a=""),
    ],
)
def test_prerequisites_that_share_one_are_no_cycle(nodes: list[Document]) -> None:
    assert errors(validate(document(*nodes))) == []


def test_a_cycle_of_dependencies_alone_is_told_as_such() -> None:
    assert "dependency_cycle" in [code for code, _ in errors(validate(document(node("a", "b"), node("b", "a"))))]


@pytest.mark.parametrize(
    "edges",
    [
        [edge("a", "a")],
        [edge("a", "b"), edge("b", "a")],
        [edge("a", "b"), edge("b", "c"), edge("c", "a")],
        [edge("a", "b"), edge("b", "c"), edge("c", "b")],
    ],
)
def test_a_cycle_of_edges_needs_initial_nodes(edges: list[Document]) -> None:
    nodes = [node("a"), node("b"), node("c", "a")]
    assert errors(validate(document(*nodes, edges=edges))) == [("initial_nodes_needed", "")]
    assert errors(validate(document(*nodes, edges=edges, initial_nodes=["a", "b"]))) == []


def test_a_cycle_of_edges_and_dependencies_is_one_of_the_union_graph() -> None:
    nodes = [node("a"), node("b", "a")]
    assert errors(validate(document(*nodes, edges=[edge("b", "a")]))) == [("initial_nodes_needed", "")]
    assert errors(validate(document(*nodes, edges=[edge("b", "a")], initial_nodes=["a"]))) == []


def test_without_a_cycle_initial_nodes_may_be_absent_or_named() -> None:
    found = document(node("a"), node("b", "a"), node("c"), edges=[edge("b", "c")])
    assert errors(validate(found)) == []
    assert errors(validate(found | {"initial_nodes": ["a"]})) == []


# Initial nodes


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, ["d", "b"]),
        ({"initial_nodes": ["b", "d"]}, ["d", "b"]),
        ({"initial_nodes": ["a", "b", "d"]}, ["d", "b", "a"]),
        ({"edges": [edge("d", "a")]}, ["d", "b"]),
        ({"edges": [edge("c", "a")], "initial_nodes": ["a", "b", "d"]}, ["d", "b", "a"]),
        ({"edges": []}, ["d", "b", "a"]),
    ],
)
def test_initial_nodes_are_told_in_specification_order(members: Document, expected: list[str]) -> None:
    base = document(node("d"), node("b"), node("c", "b"), node("a"), edges=[edge("b", "a")])
    assert list(validate(base | members).initial_nodes) == expected


def test_an_initial_node_may_have_incoming_edges_but_no_dependencies() -> None:
    nodes = [node("a"), node("b"), node("c", "a")]
    edges = [edge("a", "b")]
    assert errors(validate(document(*nodes, edges=edges, initial_nodes=["a", "b"]))) == []
    assert errors(validate(document(*nodes, edges=edges, initial_nodes=["a", "c"]))) == [
        ("initial_node_with_dependencies", "/initial_nodes/1")
    ]


@pytest.mark.parametrize(
    ("last", "edges"),
    [
        (node("z", "b"), []),
        (node("z"), [edge("b", "z")]),
        (node("z", "b"), [edge("z", "a")]),
        (node("z", "b"), [edge("b", "z")]),
    ],
)
def test_a_node_is_reached_by_edges_and_dependencies(last: Document, edges: list[Document]) -> None:
    base = [node("a"), node("b", "a")]
    assert errors(validate(document(*base, last, edges=edges, initial_nodes=["a"]))) == []
    cut = document(*base, node("z"), edges=[], initial_nodes=["a"])
    assert errors(validate(cut)) == [("unreachable_node", "/nodes/2")]


def test_a_loop_that_nothing_leads_to_is_not_reached() -> None:
    base = document(node("a"), node("b"), node("c"), edges=[edge("b", "c"), edge("c", "b")], initial_nodes=["a"])
    assert errors(validate(base)) == [("unreachable_node", "/nodes/1"), ("unreachable_node", "/nodes/2")]
    assert errors(validate(changed(base, "/initial_nodes/1", "c"))) == []


def test_whoever_leads_to_an_initial_node_is_not_reached_by_that() -> None:
    base = document(node("a"), node("b"), edges=[edge("b", "a")], initial_nodes=["a"])
    assert errors(validate(base)) == [("unreachable_node", "/nodes/1")]


# Names of nodes


def test_the_same_id_may_stand_in_two_definitions() -> None:
    twin = definition(node("a"), node("b", "a"))
    assert errors(validate(document(node("a"), node("b", "a"), children={"x@1": twin, "y@1": twin}))) == []


def test_each_further_node_of_an_id_is_told() -> None:
    assert errors(validate(document(node("a"), node("b"), node("a"), node("a"), node("A")))) == [
        ("duplicate_node", "/nodes/2/id"),
        ("duplicate_node", "/nodes/3/id"),
    ]


@pytest.mark.parametrize(
    ("at", "value", "place"),
    [
        ("/nodes/0/dependencies", ["outer"], "/nodes/0/dependencies/0"),
        ("/edges", [edge("outer", "inner")], "/edges/0/from"),
        ("/edges", [edge("inner", "outer")], "/edges/0/to"),
        ("/initial_nodes", ["inner", "outer"], "/initial_nodes/1"),
        ("/outputs", {"x": {"node": "outer", "output": "text"}}, "/outputs/x/node"),
        ("/nodes/0/input_mapping", {"x": {"node": "outer", "output": "text"}}, "/nodes/0/input_mapping/x/node"),
    ],
)
def test_no_name_leads_from_one_workflow_into_another(at: str, value: Any, place: str) -> None:
    inner, outer = definition(node("inner")), definition(node("outer", outputs=["text"]))
    inside_out = document(*inner["nodes"], children={"x@1": outer})
    outside_in = document(*outer["nodes"], children={"x@1": changed(inner, at, value)})
    assert errors(validate(changed(inside_out, at, value))) == [("unknown_node", place)]
    assert errors(validate(outside_in)) == [("unknown_node", f"/children/x@1{place}")]


# Data


def mapped(source: str, output: str = "text") -> Document:
    return {"x": {"node": source, "output": output}}


@pytest.mark.parametrize(
    ("target", "edges"),
    [
        (node("t", "a", input_mapping=mapped("a")), []),
        (node("t", input_mapping=mapped("a")), [edge("a", "t")]),
        (node("t", "b", input_mapping=mapped("a")), [edge("a", "t", kind("succeeded"), "exclusive")]),
        (node("t", "b", "a", input_mapping=mapped("a")), [edge("b", "t")]),
        (node("t", "b", outputs=["text"], input_mapping=mapped("t")), [edge("t", "t")]),
    ],
)
def test_a_mapping_reaches_prerequisites_and_sources(target: Document, edges: list[Document]) -> None:
    base = [node("a", outputs=["text"]), node("b", "a", outputs=["text"])]
    validation = validate(document(*base, target, edges=edges, initial_nodes=["a"]))
    assert [code for code, _ in errors(validation) if code == "output_out_of_reach"] == []
    assert validation.valid


@pytest.mark.parametrize(
    ("target", "edges"),
    [
        (node("t", "b", input_mapping=mapped("a")), []),
        (node("t", input_mapping=mapped("a")), [edge("b", "t")]),
        (node("t", "b", input_mapping=mapped("a")), [edge("t", "a")]),
        (node("t", "b", outputs=["text"], input_mapping=mapped("t")), []),
        (node("t", "b", input_mapping=mapped("u")), []),
    ],
)
def test_a_mapping_reaches_no_further(target: Document, edges: list[Document]) -> None:
    base = [node("a", outputs=["text"]), node("b", "a", outputs=["text"])]
    after = node("u", "t", outputs=["text"])
    found = errors(validate(document(*base, target, after, edges=edges, initial_nodes=["a"])))
    assert found == [("output_out_of_reach", "/nodes/2/input_mapping/x/node")]


def test_the_output_of_a_run_may_come_from_any_node() -> None:
    base = document(node("a", outputs=["text"]), node("b"), outputs={"x": {"node": "a", "output": "text"}})
    assert errors(validate(base)) == []


def test_a_field_given_three_times_is_told_twice() -> None:
    fields = {"input": {"x": 1}, "artifacts": {"x": ARTIFACT}, "input_mapping": {"x": {"run_input": "r"}}}
    assert errors(validate(document(node("a", **fields), inputs=["r"]))) == [
        ("input_given_twice", "/nodes/0/artifacts/x"),
        ("input_given_twice", "/nodes/0/input_mapping/x"),
    ]


# Exclusive edges


@pytest.mark.parametrize(
    ("one", "other", "disjoint_from_one"),
    [
        (None, "any", None),
        ("any", kind("blocked"), None),
        ("any", field("a", 1), None),
        (kind("blocked"), kind("blocked"), kind("cancelled")),
        (kind("succeeded"), kind("succeeded"), kind("changes_requested")),
        (field("a", 1), field("b", 1), field("a", 2)),
        (field("a", 1), field("b", 2), field("a", "1")),
        (field("a", 1), field("a", 1), field("a", True)),
        (field("a", 1), field("a", 1.0), field("a", 1.5)),
        (field("a", 0), field("a", -0.0), field("a", False)),
        (field("a", None), field("a", None), field("a", False)),
        (field("a", ""), field("a", ""), field("a", None)),
        (field("a", "é"), field("a", "\u00e9"), field("a", "e\u0301")),
        (field("a", True), field("a", True), field("a", "true")),
        (field("a", 1), kind("succeeded"), kind("permanent_failure")),
        (field("a", 1), kind("changes_requested"), kind("blocked")),
        (kind("succeeded"), field("a", 1), kind("retryable_failure")),
        (kind("cancelled"), "any", field("a", 1)),
    ],
)
def test_exclusive_edges_are_disjoint(one: Any, other: Any, disjoint_from_one: Any) -> None:
    nodes = [node("s", outputs=["a", "b"]), node("t"), node("u")]

    def edges(second: Any, modes: tuple[str, str] = ("exclusive", "exclusive"), source: str = "s") -> Document:
        pair = [edge("s", "t", one, modes[0]), edge(source, "u", second, modes[1])]
        return document(*nodes, edges=pair, initial_nodes=["s", "t"])

    assert errors(validate(edges(other))) == [("overlapping_edges", "/edges/1")]
    assert errors(validate(edges(other, ("exclusive", "parallel")))) == []
    assert errors(validate(edges(other, ("parallel", "exclusive")))) == []
    assert errors(validate(edges(other, source="t"))) == []
    if disjoint_from_one is not None:
        assert errors(validate(edges(disjoint_from_one))) == []


def test_each_edge_that_overlaps_with_an_earlier_one_is_told() -> None:
    predicates = [kind("blocked"), field("a", 1), kind("blocked"), kind("cancelled"), field("a", 1), field("b", 1)]
    edges = [edge("s", "t", predicate, "exclusive") for predicate in predicates]
    found = errors(validate(document(node("s", outputs=["a", "b"]), node("t"), edges=edges)))
    assert found == [("overlapping_edges", f"/edges/{position}") for position in (2, 4, 5)]


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (kind("blocked"), "any", "blocked"),
        (kind("succeeded"), field("a", 1), "succeeded"),
        (kind("changes_requested"), field("a", None), "changes_requested"),
        (field("a", "x"), field("b", 2), None),
        ("any", "any", None),
    ],
)
def test_an_overlap_is_told_with_a_witness(one: Any, other: Any, shown: str | None) -> None:
    edges = [edge("s", "t", one, "exclusive"), edge("s", "t", other, "exclusive")]
    problem = validate(document(node("s", outputs=["a", "b"]), node("t"), edges=edges)).problems[0]
    outcome: Any = problem.witness
    assert problem.code == "overlapping_edges"
    assert shown is None or outcome["kind"] == shown
    for predicate in (one, other):
        if isinstance(predicate, dict) and "field" in predicate:
            assert outcome["output"][predicate["field"]] == predicate["equals"]
            assert outcome["kind"] in {"succeeded", "changes_requested"}


# Children


def chain(levels: int) -> Document:
    """Return definitions of which each but the last runs the next."""
    callers = {f"c{level}@1": definition(child_node("n", workflow=f"c{level + 1}@1")) for level in range(1, levels)}
    return {**callers, f"c{levels}@1": definition(node("n"))}


def test_eight_levels_of_children_are_accepted_and_nine_refused() -> None:
    assert errors(validate(document(child_node("n", workflow="c1@1"), children=chain(8)))) == []
    assert errors(validate(document(child_node("n", workflow="c1@1"), children=chain(9)))) == [
        ("children_too_deep", "/children/c8@1/nodes/0/child/workflow")
    ]


def test_levels_are_counted_along_the_longest_way_down_from_the_document() -> None:
    calls = [child_node("short", workflow="c9@1"), child_node("long", workflow="c1@1")]
    assert "children_too_deep" in [code for code, _ in errors(validate(document(*calls, children=chain(9))))]
    calls = [child_node("short", workflow="c9@1"), child_node("long", workflow="c2@1")]
    assert errors(validate(document(*calls, children=chain(9)))) == []


def test_levels_are_counted_also_below_a_definition_that_nothing_runs() -> None:
    assert errors(validate(document(node("alone"), children=chain(9)))) == []
    assert errors(validate(document(node("alone"), children=chain(10)))) == [
        ("children_too_deep", "/children/c9@1/nodes/0/child/workflow")
    ]


@pytest.mark.parametrize(
    ("calls", "cycles"),
    [
        ({"a": "a"}, [{"a"}]),
        ({"a": "b", "b": "a"}, [{"a", "b"}]),
        ({"a": "b", "b": "c", "c": "d", "d": "b"}, [{"b", "c", "d"}]),
        ({"a": "a", "b": "b"}, [{"a"}, {"b"}]),
        ({"a": "", "b": "a b"}, [{"b"}]),
    ],
)
@pytest.mark.parametrize("is_used", [True, False])
def test_a_definition_that_reaches_itself_is_refused(
    calls: dict[str, str], cycles: list[set[str]], is_used: bool
) -> None:
    children = {
        f"{name}@1": definition(
            node("n"), *(child_node(f"to_{called}", workflow=f"{called}@1") for called in of.split())
        )
        for name, of in calls.items()
    }
    root = child_node("n", workflow="a@1") if is_used else node("n")
    found = errors(validate(document(root, children=children)))
    assert [code for code, _ in found] == ["child_recursion"] * len(cycles)
    for members in cycles:
        places = {f"/children/{name}@1/nodes/" for name in members}
        assert sum(place.startswith(tuple(places)) and place.endswith("/child/workflow") for _, place in found) == 1


def test_a_definition_may_be_used_many_times() -> None:
    both = definition(child_node("x", workflow="leaf@1"), child_node("y", workflow="leaf@1"))
    children = {"leaf@1": definition(node("n")), "left@1": both, "right@1": both}
    calls = [
        child_node("l", workflow="left@1"),
        child_node("r", workflow="right@1"),
        child_node("m", workflow="leaf@1"),
    ]
    assert errors(validate(document(*calls, children=children))) == []


def test_recursion_of_one_definition_does_not_hide_the_depth_of_others() -> None:
    children = chain(9) | {"loop@1": definition(child_node("n", workflow="loop@1"))}
    found = errors(validate(document(child_node("n", workflow="c1@1"), children=children)))
    assert found == [
        ("child_recursion", "/children/loop@1/nodes/0/child/workflow"),
        ("children_too_deep", "/children/c8@1/nodes/0/child/workflow"),
    ]


def test_a_child_that_is_not_there_is_refused_also_in_a_definition() -> None:
    assert errors(validate(document(child_node("n", workflow="x@1")))) == [("unknown_child", "/nodes/0/child/workflow")]
    inner = definition(child_node("n", workflow="x@1"))
    assert errors(validate(document(node("a"), children={"y@1": inner}))) == [
        ("unknown_child", "/children/y@1/nodes/0/child/workflow")
    ]
    assert errors(validate(document(node("a"), children={"y@1": inner, "x@1": definition(node("n"))}))) == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"input": {"a": 1, "b": 2}}, []),
        ({"input": {"a": None}, "input_mapping": {"b": {"run_input": "r"}}}, []),
        ({"input": {"a": 1}}, [("missing_child_input", "/nodes/0")]),
        ({}, [("missing_child_input", "/nodes/0")]),
        ({"input": {"a": 1, "b": 2, "c": 3}}, [("undeclared_child_input", "/nodes/0/input/c")]),
        ({"input": {"a": 1, "b": 2, "/~": 3}}, [("undeclared_child_input", "/nodes/0/input/~1~0")]),
        ({"input": {"a": 1, "b": 2, "": 3}}, [("undeclared_child_input", "/nodes/0/input/")]),
        (
            {"input": {"a": 1}, "input_mapping": {"c": {"run_input": "r"}}},
            [("missing_child_input", "/nodes/0"), ("undeclared_child_input", "/nodes/0/input_mapping/c")],
        ),
    ],
)
def test_a_child_is_given_its_inputs_and_no_other(given: Document, expected: list[tuple[str, str]]) -> None:
    children = {"child@1": definition(node("n"), inputs=["a", "b"])}
    assert errors(validate(document(child_node("c", **given), inputs=["r"], children=children))) == expected


def test_a_child_without_declared_inputs_is_given_none() -> None:
    children = {"child@1": definition(node("n"))}
    assert errors(validate(document(child_node("c"), children=children))) == []
    assert errors(validate(document(child_node("c", input={"a": 1}), children=children))) == [
        ("undeclared_child_input", "/nodes/0/input/a")
    ]


# Handlers

CATALOGUE: Handlers = {("work", 1): ["a", "b"], ("work", 3): [], ("rest", 1): []}


def calling(name: str, version: Any, **members: Any) -> Document:
    return node("n", **members) | {"handler": {"name": name, "version": version}}


@pytest.mark.parametrize(
    ("called", "expected"),
    [
        (calling("work", 3), []),
        (calling("rest", 1), []),
        (calling("work", 2), [("unknown_handler", "/nodes/0/handler")]),
        (calling("wrok", 1), [("unknown_handler", "/nodes/0/handler")]),
        (calling("Work", 3), [("unknown_handler", "/nodes/0/handler")]),
        (calling("work", 1), [("missing_input", "/nodes/0")]),
        (calling("work", 1, input={"a": 1}), [("missing_input", "/nodes/0")]),
        (calling("work", 1, input={"a": None, "b": None}), []),
        (calling("work", 1, input={"a": 1, "b": 1, "c": 1}), []),
        (calling("work", 1, artifacts={"a": ARTIFACT}, input_mapping={"b": {"run_input": "r"}}), []),
        (calling("work", "3"), [("wrong_type", "/nodes/0/handler/version")]),
        (calling("rest", None), [("wrong_type", "/nodes/0/handler/version")]),
        (calling("3", 1), [("wrong_form", "/nodes/0/handler/name")]),
    ],
)
def test_handlers_are_looked_up_in_a_catalogue(called: Document, expected: list[tuple[str, str]]) -> None:
    assert errors(validate(document(called, inputs=["r"]), CATALOGUE)) == expected
    assert errors(validate_text(json.dumps(document(called, inputs=["r"])), CATALOGUE)) == expected
    inner = document(
        node("m") | {"handler": {"name": "rest", "version": 1}}, children={"x@1": definition(called, inputs=["r"])}
    )
    assert errors(validate(inner, CATALOGUE)) == [(code, f"/children/x@1{place}") for code, place in expected]


def test_a_handler_version_that_is_missing_is_one_problem() -> None:
    found = document(node("n") | {"handler": {"name": "work"}})
    assert errors(validate(found, {("work", 2): []})) == [("missing_member", "/nodes/0/handler")]


def test_without_a_catalogue_handlers_are_not_looked_up_and_in_an_empty_one_nothing_is() -> None:
    assert errors(validate(document(calling("nobody", 9)))) == []
    assert errors(validate(document(calling("work", 1)), {})) == [("unknown_handler", "/nodes/0/handler")]


def test_a_handler_that_is_declared_twice_is_told() -> None:
    problems = Problems()
    twice: JsonValue = [{"name": "work", "version": 1, "inputs": ["a"]}, {"name": "work", "version": 1}]
    read_handlers({"handlers": twice}, problems)
    assert [(problem.code, problem.pointer) for problem in problems.kept] == [("duplicate_name", "/handlers/1")]
    problems = Problems()
    read_handlers({"handlers": [{"name": "work", "version": 1}, {"name": "work", "version": 2}]}, problems)
    assert problems.kept == []


def test_a_catalogue_is_read() -> None:
    problems = Problems()
    declared: JsonValue = [{"name": "work", "version": 1, "inputs": ["a"]}, {"name": "work", "version": 2}]
    handlers = read_handlers({"$schema": "x", "handlers": declared}, problems)
    assert problems.kept == []
    assert {key: list(inputs) for key, inputs in handlers.items()} == {("work", 1): ["a"], ("work", 2): []}


@pytest.mark.parametrize(
    ("catalogue", "problem"),
    [
        ([], ("wrong_type", "")),
        ({}, ("missing_member", "")),
        ({"handlers": {}}, ("wrong_type", "/handlers")),
        ({"handlers": [{"name": "work"}]}, ("missing_member", "/handlers/0")),
        ({"handlers": [{"name": "wo rk", "version": 1}]}, ("wrong_form", "/handlers/0/name")),
        ({"handlers": [{"name": "work", "version": 0}]}, ("out_of_range", "/handlers/0/version")),
        ({"handlers": [{"name": "work", "version": 1, "inputs": [1]}]}, ("wrong_type", "/handlers/0/inputs/0")),
        ({"handlers": [], "extra": 1}, ("unknown_member", "/extra")),
    ],
)
def test_what_is_wrong_with_a_catalogue_is_told(catalogue: JsonValue, problem: tuple[str, str]) -> None:
    problems = Problems()
    read_handlers(catalogue, problems)
    assert [(found.code, found.pointer) for found in problems.kept] == [problem]


# Many problems


def test_so_many_problems_are_kept_and_the_others_counted() -> None:
    unknown = {f"x{number}": 1 for number in range(MAX_PROBLEMS + 500)}
    validation = validate(document(node("a")) | unknown)
    assert (len(validation.problems), validation.omitted, validation.valid) == (MAX_PROBLEMS, 500, False)
    exactly = validate(document(node("a")) | {f"x{number}": 1 for number in range(MAX_PROBLEMS)})
    assert (len(exactly.problems), exactly.omitted) == (MAX_PROBLEMS, 0)


def test_warnings_beyond_what_is_kept_do_not_refuse() -> None:
    edges = [edge("a", "b")] * (MAX_PROBLEMS + 501)
    validation = validate(document(node("a"), node("b"), edges=edges))
    assert (len(validation.problems), validation.omitted, validation.valid) == (MAX_PROBLEMS, 500, True)


def test_errors_beyond_what_is_kept_refuse_still() -> None:
    """A problem that is told after a thousand warnings is one all the same."""
    unused = {f"x{number}@1": definition(node("a")) for number in range(MAX_PROBLEMS + 1)}
    retry = retried(classes=[])
    odd = [node(f"n{number}", retry=retry) for number in range(MAX_PROBLEMS)]
    validation = validate(document(*odd, node("n0"), children=unused))
    assert not validation.valid
    assert ("duplicate_node", f"/nodes/{MAX_PROBLEMS}/id") in errors(validation)


# Sentences

NASTY = ["\n", "a\n", "\x1b[31m", "\u202egpj", "\x7f", "\x85", "\u2028", "`", "~/", "é\U0001f600", "", "a" * 1_000_000]
NASTY_IDS = ["lf", "name and lf", "escape", "rtl", "del", "nel", "ls", "quote", "steps", "emoji", "empty", "million"]


def places(value: JsonValue, at: str = "") -> Iterator[tuple[str, bool]]:
    """Yield the place of each string and of each key within a document, and whether it is a key."""
    if isinstance(value, dict):
        for key, member in value.items():
            inner = f"{at}/{key}"
            yield inner, True
            yield from places(member, inner)
    elif isinstance(value, list):
        for position, member in enumerate(value):
            yield from places(member, f"{at}/{position}")
    elif isinstance(value, str):
        yield at, False


def renamed(whole_document: Document, at: str, key: str) -> Document:
    """Return a copy in which one member has another key."""
    found = copy.deepcopy(whole_document)
    *path, last = at.split("/")[1:]
    here: Any = found
    for step in path:
        here = here[int(step)] if isinstance(here, list) else here[step]
    here[key] = here.pop(last)
    return found


@pytest.mark.parametrize("name", NASTY, ids=NASTY_IDS)
def test_sentences_are_harmless_whatever_a_document_says(name: str) -> None:
    """Each string and each key of the full document in turn."""
    for at, is_key in places(full()):
        found = renamed(full(), at, name) if is_key else changed(full(), at, name)
        validation = validate(found, {("rest", 1): ["x"]})
        assert [problem for problem in validation.problems if not is_for_people(problem)] == [], (at, is_key)


@pytest.mark.parametrize("fault", ALL_FAULTS, ids=str)
def test_the_sentence_of_each_fault_is_for_people(fault: Fault) -> None:
    validation = validate(changed(full(), fault.at, fault.wrong), {("rest", 1): ["x"]})
    assert [problem for problem in validation.problems if not is_for_people(problem)] == []


@pytest.mark.parametrize("name", NASTY, ids=NASTY_IDS)
def test_sentences_about_two_places_are_harmless(name: str) -> None:
    """They name one of the places, in which a key of the document stands; and a witness holds its values."""
    twice = [edge("a", "b", field("x", name), "exclusive")] * 2 + [edge("a", "b")] * 2
    inner = definition(node("a", outputs=["x"]), node("b"), edges=twice)
    for key in (name, f"{name}@1", "x@1"):
        validation = validate(document(node("a"), children={key: inner}))
        is_looked_into = len(key) <= 1_000
        assert ("overlapping_edges" in [problem.code for problem in validation.problems]) == is_looked_into
        assert [problem for problem in validation.problems if not is_for_people(problem)] == []


@pytest.mark.parametrize("name", NASTY, ids=NASTY_IDS)
def test_sentences_about_texts_are_harmless(name: str) -> None:
    quoted = json.dumps(name, ensure_ascii=False)
    for text in (f"{{{quoted}: 1, {quoted}: 2}}", quoted, f"[{name}]", f'"\\{name}"', f"1{name}1"):
        assert [problem for problem in validate_text(text).problems if not is_for_people(problem)] == []


def test_sentences_about_long_cycles_are_short() -> None:
    size = 2_000
    nodes = [node(f"n{number}", f"n{(number + 1) % size}") for number in range(size)]
    children = {
        f"c{number}@1": definition(child_node("n", workflow=f"c{(number + 1) % size}@1")) for number in range(size)
    }
    validation = validate(document(*nodes, children=children))
    assert {"dependency_cycle", "child_recursion"} <= {problem.code for problem in validation.problems}
    assert [problem for problem in validation.problems if not is_for_people(problem)] == []


# Hostile documents: each ends, and none exhausts the stack


@pytest.mark.many
def test_300_000_edges_of_one_node() -> None:
    edges = [{"from": "a", "to": "b"}] * 300_000
    validation = validate(document(node("a"), node("b"), edges=edges))
    assert validation.valid
    assert validation.omitted == 299_999 - MAX_PROBLEMS


@pytest.mark.many
def test_20_000_exclusive_edges_of_one_node() -> None:
    edges = [edge("a", "b", field("f", number), "exclusive") for number in range(20_000)]
    validation = validate(document(node("a", outputs=["f"]), node("b"), edges=edges))
    assert validation.valid
    overlap = validate(document(node("a", outputs=["f"]), node("b"), edges=[*edges[:5_000], *edges[:5_000]]))
    assert len(overlap.problems) + overlap.omitted == 5_000


@pytest.mark.many
def test_a_chain_of_50_000_dependencies() -> None:
    chained = [node("n0"), *(node(f"n{number}", f"n{number - 1}") for number in range(1, 50_000))]
    assert validate(document(*chained)).valid
    closed = [node("n0", "n9999"), *chained[1:10_000]]
    assert "dependency_cycle" in [code for code, _ in errors(validate(document(*closed)))]


@pytest.mark.many
def test_100_000_unknown_names() -> None:
    names = [f"x{number}" for number in range(100_000)]
    validation = validate(document(node("a"), node("b", *names)))
    assert len(validation.problems) + validation.omitted == 100_000


def test_2_000_unknown_names_among_2_000_nodes() -> None:
    nodes = [node(f"n{number}") for number in range(2_000)]
    validation = validate(document(*nodes, node("b", *(f"x{number}" for number in range(2_000)))))
    assert len(validation.problems) + validation.omitted == 2_000


@pytest.mark.many
def test_a_node_that_everything_depends_on_and_that_leads_to_everything() -> None:
    nodes = [node(f"n{number}", "hub") for number in range(10_000)]
    edges = [edge("hub", f"n{number}") for number in range(10_000)]
    last = node("last", *(f"n{number}" for number in range(10_000)))
    assert validate(document(node("hub"), *nodes, last, edges=edges)).valid


@pytest.mark.many
def test_a_clique_of_definitions() -> None:
    size = 100
    children = {
        f"c{number}@1": definition(
            node("n"), *(child_node(f"to{called}", workflow=f"c{called}@1") for called in range(number + 1, size))
        )
        for number in range(size)
    }
    validation = validate(document(child_node("n", workflow="c0@1"), children=children))
    assert {code for code, _ in errors(validation)} == {"children_too_deep"}
    for number in range(size):
        children[f"c{number}@1"] = definition(
            *(child_node(f"to{called}", workflow=f"c{called}@1") for called in range(size))
        )
    validation = validate(document(child_node("n", workflow="c0@1"), children=children))
    assert {code for code, _ in errors(validation)} == {"child_recursion"}


@pytest.mark.many
def test_a_chain_of_10_000_definitions() -> None:
    validation = validate(document(child_node("n", workflow="c1@1"), children=chain(10_000)))
    assert [code for code, _ in errors(validation)] == ["children_too_deep"]


def test_a_warning_is_no_reason_to_refuse() -> None:
    validation = validate(document(node("a", retry=retried(classes=[]))))
    assert validation.valid
    assert warnings(validation) == [("implied_retry_class", "/nodes/0/retry/classes")]
