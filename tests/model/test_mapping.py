"""What is copied into a node, from a child, out of a run; and the document that a child run is pinned to."""

from __future__ import annotations

from typing import Any

import pytest
from tests.model.playing import Player, document, edge, node

from perdure.kernel.events import ChildCompleted, RunCreated
from perdure.kernel.identity import AttemptId, NodeId, RunId
from perdure.kernel.mapping import child_document, child_outcome, input_of, run_output
from perdure.kernel.outcomes import Succeeded
from perdure.kernel.rules import RULES
from perdure.kernel.validation.validator import validate

SUB = {
    "nodes": [node("x", outputs=["r"]), node("y", child={"workflow": "deep@2", "policy": "propagate"})],
    "inputs": ["n"],
    "outputs": {"r": {"node": "x", "output": "r"}},
}
CHILDREN = {"sub@1": SUB, "deep@2": {"nodes": [node("z")]}}


def calling(**members: Any) -> dict[str, Any]:
    call = {"workflow": "sub@1", "policy": "propagate", **members}
    given = {"n": 1}
    return document([node("C", child=call, input=given)], children=CHILDREN)


def completed(**output: Any) -> ChildCompleted:
    return ChildCompleted(
        node=NodeId("C"), attempt_id=AttemptId(""), child_run_id=RunId(""), result="completed", output=output
    )


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"r": 1, "s": 2}, {"mine": 1}),
        ({"r": None}, {"mine": None}),
        ({"s": 2}, "permanent_failure"),
        ({"r": "x" * (65_536 - 11)}, {"mine": "x" * (65_536 - 11)}),
        ({"r": "x" * (65_536 - 10)}, "permanent_failure"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_child_gives_what_is_taken_of_its_output(output: Any, expected: Any) -> None:
    called = Player(calling(outputs={"mine": "r"})).now.node(0)
    found = child_outcome(called, completed(**output), RULES)
    assert (found.output if isinstance(found, Succeeded) else found.kind) == expected


def test_a_child_that_fails_gives_nothing() -> None:
    run = Player(calling(outputs={"mine": "r"}))
    run.start("C", child=True)
    assert run.child_ends("C", "blocked", r=1)[1] == "NodeOutcomeCommitted C blocked"
    assert "output" not in type(run.now.outcomes[run.now.last_outcome or 0]).__struct_fields__


def test_the_document_of_a_child_is_valid_and_its_run_plays() -> None:
    """It is the definition, with the whole catalog, sealed; and so is that of the child's own child."""
    created = Player(calling(outputs={"mine": "r"})).history[0]
    assert isinstance(created, RunCreated)
    pinned = child_document(created.specification, Player(calling()).now.node(0))
    validation = validate(pinned)
    assert validation.specification is not None
    assert pinned["content_hash"] == validation.content_hash
    assert (pinned["workflow_id"], pinned["workflow_version"]) == ("sub", 1)
    child = Player(dict(pinned), input={"n": 1})
    assert child.run("x", output={"r": 5}) == ["NodeOutcomeCommitted x succeeded"]
    inner = Player(dict(child_document(pinned, child.now.node(1))))
    assert inner.run("z")[-1] == "RunCompleted"
    child.start("y", child=True)
    assert child.child_ends("y", "completed")[-1] == "RunCompleted"
    assert run_output(child.now) == {"r": 5}


def test_the_output_of_a_run_is_what_its_nodes_last_gave() -> None:
    outputs = {"a": {"node": "A", "output": "x"}, "b": {"node": "B", "output": "y"}}
    nodes = [node("A", outputs=["x"], max_activations=2), node("B", outputs=["y"])]
    run = Player(document(nodes, [edge("A>A"), edge("A>B", "blocked")], initial_nodes=["A"], outputs=outputs))
    assert run_output(run.now) == {}
    run.run("A", output={"x": 1, "y": 2})
    assert run_output(run.now) == {"a": 1}
    run.run("A", output={"z": 1})
    assert run_output(run.now) == {}
    assert run.now.status == "completed"


def test_an_input_sees_the_activating_outcome_then_the_pinned_one_then_the_last() -> None:
    def of(name: str) -> dict[str, Any]:
        return {"node": name, "output": "x"}

    nodes = [
        node("P", outputs=["x"], max_activations=3),
        node("D", dependencies=["P"], dependency_policy="all_completed", input_mapping={"p": of("P")}),
        node("E", input={"fixed": 0}, input_mapping={"p": of("P"), "t": {"run_input": "t"}}),
    ]
    edges = [edge("P>P"), edge("P>E", "succeeded")]
    run = Player(document(nodes, edges, initial_nodes=["P"], inputs=["t"]), input={"t": 7})
    run.run("P", output={"x": 1})
    run.run("P", output={"x": 2})
    assert input_of(run.now, 1, RULES) == {"p": 1}
    assert input_of(run.now, 2, RULES) == {"fixed": 0, "p": 1, "t": 7}
    run.run("E")
    assert run.status("E") == "ready"
    assert input_of(run.now, 2, RULES) == {"fixed": 0, "p": 2, "t": 7}


def test_an_edge_from_another_node_leaves_the_last_outcome_of_a_source() -> None:
    nodes = [node("P", outputs=["x"]), "Q", node("E", input_mapping={"p": {"node": "P", "output": "x"}})]
    run = Player(document(nodes, [edge("P>E", "blocked"), edge("Q>E")], initial_nodes=["P", "Q"]))
    run.start("Q")
    run.end("Q")
    assert run.start("E") == ["NodeStarted E", "NodeOutcomeCommitted E permanent_failure"]
    assert input_of(run.now, 2, RULES) == "p"


def test_a_missing_input_is_a_permanent_failure() -> None:
    given = {"p": {"node": "P", "output": "x"}}
    run = Player(document([node("P", outputs=["x"]), node("D", dependencies=["P"], input_mapping=given)]))
    run.run("P", output={"y": 1})
    assert input_of(run.now, 1, RULES) == "p"
    assert run.start("D") == ["NodeStarted D", "NodeOutcomeCommitted D permanent_failure", "RunFailed"]
