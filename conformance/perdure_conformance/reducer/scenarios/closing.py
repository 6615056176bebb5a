"""Closing: DEP-010, DEP-011, EDG-016, EDG-017, RUN-022 and RUN-023.

A node Z that is ready, with edges to others, keeps a run and those others from ending.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from perdure_conformance.reducer.histories import (
    Document,
    Fact,
    Value,
    closed,
    edge,
    ended,
    field,
    fired,
    node,
    ready,
    released,
    retry,
    run_is,
    started,
    terminated,
)
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.batches import brings
from perdure_conformance.reducer.scenarios.scenario import (
    Scenario,
    accepted,
    refused,
    scenario,
    unfinished,
)

_LATER: Final[Fact] = {"max_attempts": 2, "backoff": {"kind": "fixed", "delay_ms": 10}}
_CLOSINGS: Final = (("permanent_failure", "skipped"), ("blocked", "blocked"), ("cancelled", "cancelled"))
"""How a node ends, and how one is closed that waited for its success."""
_RELEASED: Final = ready("D", "dependencies")
_RANKS: Final = ("cancelled", "blocked", "permanent_failure", "succeeded")


def _any_succeeded(name: str, *prerequisites: str, **members: Value) -> Document:
    return node(name, *prerequisites, dependency_policy="any_succeeded", **members)


# DEP-010


def an_impossible_policy_closes_a_node() -> Iterator[Scenario]:
    """DEP-010."""
    run = Run(["P", "Q", node("D", "P", "Q"), "Z"])
    run.start("P")
    run.start("Q")
    past = run.past
    failed = past + ended("P", 1, "permanent_failure")
    yield scenario(
        "DEP-010",
        "one prerequisite failed, and the other has not ended",
        refused(failed + closed("D")),
        *brings(past, ended("P", 1, "permanent_failure"), state={"/nodes/D/status": "pending"}),
        unfinished(failed + ended("Q", 2)),
        *brings(failed, ended("Q", 2), closed("D"), state={"/nodes/D/status": "skipped", "/nodes/D/closed": True}),
        *brings(past + ended("P", 1), ended("Q", 2), _RELEASED),
    )
    run = Run(["P", "Q", _any_succeeded("D", "P", "Q"), "Z"])
    run.start("P")
    run.start("Q")
    past = run.past
    failed = past + ended("P", 1, "permanent_failure")
    yield scenario(
        "DEP-010",
        "no prerequisite of two has succeeded, and one would do",
        refused(failed + closed("D")),
        *brings(past, ended("P", 1, "permanent_failure")),
        unfinished(failed + ended("Q", 2, "permanent_failure")),
        *brings(failed, ended("Q", 2, "permanent_failure"), closed("D")),
        *brings(failed, ended("Q", 2), _RELEASED),
    )
    run = Run([node("P", retry=_LATER), node("D", "P"), "Z"])
    run.start("P")
    past = run.past
    failure = (ended("P", 1, "retryable_failure"), retry("P", 2, 10))
    yield scenario(
        "DEP-010",
        "a prerequisite that will be tried again is not terminal",
        refused(past.plus(*failure, closed("D"))),
        *brings(past, *failure),
        *brings(past, ended("P", 1, "permanent_failure"), closed("D")),
    )
    run = Run(["P", node("D", "P"), node("E", "D"), node("F", "E"), "Z"])
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-010",
        "what waits for a closed node is closed too",
        unfinished(past.plus(ended("P", 1, "blocked"), closed("D", "blocked"))),
        unfinished(past.plus(ended("P", 1, "blocked"), closed("D", "blocked"), closed("E", "blocked"))),
        refused(past.plus(ended("P", 1, "blocked"), closed("E", "blocked"))),
        *brings(past, ended("P", 1, "blocked"), closed("D", "blocked"), closed("E", "blocked"), closed("F", "blocked")),
    )
    for version in (2, 3):
        run = Run(["P", node("D", "P"), "Z"], version=version)
        run.start("P")
        yield scenario(
            "DEP-010",
            f"a policy becomes impossible in version {version}",
            unfinished(run.past + ended("P", 1, "permanent_failure")),
            accepted(run.past.plus(ended("P", 1, "permanent_failure"), closed("D"))),
        )


def a_closed_node_may_be_reached() -> Iterator[Scenario]:
    """DEP-010."""
    run = Run(["X", "Y", node("M", "X"), "Z"], ["Y>M"])
    run.start("X")
    past = run.past
    failed = (ended("X", 1, "permanent_failure"), closed("M"))
    yield scenario(
        "DEP-010",
        "a policy is impossible, and a live node leads there",
        unfinished(past + failed[0]),
        *brings(past, *failed),
        refused(past.plus(*failed, started("Y", 2), ended("Y", 2), fired(0, "Y", len(past) + 4))),
        *brings(past.plus(*failed, started("Y", 2)), ended("Y", 2)),
    )
    run = Run(["X", "Y", "W", node("M", "X"), "Z"], ["Y>M", "W>M"])
    run.run("Y")
    run.run("W")
    run.start("X")
    past = run.past
    yield scenario(
        "DEP-010",
        "a policy is impossible, and activations are queued",
        unfinished(past + ended("X", 3, "permanent_failure")),
        refused(past.plus(ended("X", 3, "permanent_failure"), ready("M", "queued"))),
        refused(past.plus(ended("X", 3, "permanent_failure"), closed("M"), ready("M", "queued"))),
        *brings(
            past,
            ended("X", 3, "permanent_failure"),
            closed("M"),
            state={"/nodes/M/status": "skipped", "/nodes/M/queue": None},
        ),
        *brings(past, ended("X", 3), ready("M", "queued")),
    )
    run = Run(["I", "X", node("M", "X")], ["I>M", "M>X"], initial_nodes=["I"])
    run.start("I")
    past, at = run.past, len(run.past) + 1
    batch = (ended("I", 1), fired(0, "I", at), closed("X"))
    yield scenario(
        "DEP-010",
        "a node waits for one that it leads to itself",
        unfinished(past.plus(*batch)),
        refused(past.plus(*batch, ready("M", "queued"))),
        refused(past.plus(*batch[:2], closed("M"))),
        *brings(past, *batch, closed("M"), run_is("completed")),
    )


def a_failure_may_be_corrected() -> Iterator[Scenario]:
    """DEP-010."""
    run = Run(["P", "F", node("D", "P")], [edge("P>F", "permanent_failure"), edge("F>P", "succeeded")],
              initial_nodes=["P"])  # fmt: skip
    run.start("P")
    past, at = run.past, len(run.past) + 1
    failed = past.plus(ended("P", 1, "permanent_failure"), fired(0, "P", at))
    yield scenario(
        "DEP-010",
        "a prerequisite failed, and a correction leads back to it",
        refused(failed + closed("D")),
        *brings(past, ended("P", 1, "permanent_failure"), fired(0, "P", at)),
        unfinished(failed.plus(started("F", 2), ended("F", 2, "blocked"))),
        *brings(failed + started("F", 2), ended("F", 2, "blocked"), closed("D"), run_is("failed")),
        *brings(failed + started("F", 2), ended("F", 2), fired(1, "F", at + 3)),
    )
    run = Run(["P", "Q", "T", node("D", "P", "Q"), "Z"], ["T>Q"], initial_nodes=["P", "Q", "T", "Z"])
    run.start("P")
    run.run("Q")
    past = run.past
    yield scenario(
        "DEP-010",
        "a live node leads to a prerequisite that has succeeded, and another failed",
        unfinished(past + ended("P", 1, "permanent_failure")),
        *brings(past, ended("P", 1, "permanent_failure"), closed("D")),
    )
    run = Run(["P", "Q", "T", node("D", "P", "Q"), "Z"], ["T>P"], initial_nodes=["P", "Q", "T", "Z"])
    run.start("P")
    run.run("Q")
    past = run.past
    yield scenario(
        "DEP-010",
        "a live node leads to the prerequisite that failed, and another has succeeded",
        refused(past.plus(ended("P", 1, "permanent_failure"), closed("D"))),
        *brings(past, ended("P", 1, "permanent_failure")),
        *brings(
            past + ended("P", 1, "permanent_failure") + started("T", 3), ended("T", 3), fired(0, "T", len(past) + 3)
        ),
    )
    run = Run(["P", "Q", "T", node("D", "P", "Q"), "Z"], ["T>P"], initial_nodes=["P", "Q", "T", "Z"])
    run.run("Q", "blocked")
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-010",
        "one of two prerequisites that did not succeed may be corrected",
        refused(past.plus(ended("P", 2, "permanent_failure"), closed("D", "blocked"))),
        *brings(past, ended("P", 2, "permanent_failure")),
    )
    run = Run(["P", "T", "F", node("D", "P"), "Z"], [edge("F>P", "blocked"), "T>F"], initial_nodes=["P", "T", "Z"])
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-010",
        "a live node two edges away may correct a failure",
        refused(past.plus(ended("P", 1, "permanent_failure"), closed("D"))),
        *brings(past, ended("P", 1, "permanent_failure")),
    )


def only_edges_lead_back() -> Iterator[Scenario]:
    """DEP-010."""
    run = Run(["K", "L", _any_succeeded("P", "K", "L"), node("D", "P"), "Z"])
    run.run("K")
    run.start("L")
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-010",
        "a live node that a failed one waited for corrects nothing",
        unfinished(past + ended("P", 3, "blocked")),
        *brings(past, ended("P", 3, "blocked"), closed("D", "blocked")),
        *brings(past, ended("P", 3), _RELEASED),
    )
    run = Run(["P", "T", node("W", "T"), node("D", "P"), "Z"], [edge("W>P", "blocked")],
              initial_nodes=["P", "T", "Z"])  # fmt: skip
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-010",
        "a path by a dependency, and then by an edge, leads back",
        refused(past.plus(ended("P", 1, "blocked"), closed("D", "blocked"))),
        *brings(past, ended("P", 1, "blocked")),
        unfinished(
            past.plus(ended("P", 1, "blocked"), started("T", 2), ended("T", 2, "blocked"), closed("W", "blocked"))
        ),
        *brings(
            past.plus(ended("P", 1, "blocked"), started("T", 2)),
            ended("T", 2, "blocked"),
            closed("W", "blocked"),
            closed("D", "blocked"),
        ),
    )
    run = Run(["K", "L", "T", _any_succeeded("P", "K", "L"), node("D", "P"), "Z"], ["T>L"],
              initial_nodes=["K", "L", "T", "Z"])  # fmt: skip
    run.run("K")
    run.run("L")
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-010",
        "a path by an edge, and then by a dependency, does not lead back",
        unfinished(past + ended("P", 3, "blocked")),
        *brings(past, ended("P", 3, "blocked"), closed("D", "blocked")),
    )
    run = Run(["I", "T", "S", node("D", "S"), "Z"], [edge("I>S", "blocked"), "T>S"])
    run.start("I")
    past = run.past
    yield scenario(
        "DEP-010",
        "a prerequisite waits for an edge",
        refused(past.plus(ended("I", 1), closed("D"))),
        *brings(past, ended("I", 1)),
    )
    run = Run(["Q", "T", node("S", "Q"), node("D", "S"), "Z"], ["T>S"])
    run.start("Q")
    past = run.past
    failed = past.plus(ended("Q", 1, "blocked"), closed("S", "blocked"))
    yield scenario(
        "DEP-010",
        "a live node leads to a closed prerequisite: what waits for it is closed late",
        refused(failed + closed("D", "blocked")),
        *brings(past, ended("Q", 1, "blocked"), closed("S", "blocked")),
        unfinished(failed.plus(started("T", 2), ended("T", 2))),
        *brings(failed + started("T", 2), ended("T", 2), closed("D", "blocked")),
    )
    run = Run(
        ["Q", "P", "T", node("S", "Q"), node("D", "P"), "Z"],
        ["T>S", "S>P"],
        initial_nodes=["Q", "P", "T", "Z"],
    )
    run.run("Q", "cancelled")
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-010",
        "a path through a closed node leads back all the same",
        refused(past.plus(ended("P", 2, "blocked"), closed("D", "blocked"))),
        *brings(past, ended("P", 2, "blocked")),
        unfinished(past.plus(ended("P", 2, "blocked"), started("T", 3), ended("T", 3))),
        *brings(past.plus(ended("P", 2, "blocked"), started("T", 3)), ended("T", 3), closed("D", "blocked")),
    )
    run = Run([node("P", max_activations=1), "T", node("D", "P"), "Z"], ["T>P"], initial_nodes=["P", "T", "Z"])
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-010",
        "an edge that will not fire leads back all the same",
        refused(past.plus(ended("P", 1, "blocked"), closed("D", "blocked"))),
        *brings(past, ended("P", 1, "blocked")),
        *brings(past.plus(ended("P", 1, "blocked"), started("T", 2)), ended("T", 2), closed("D", "blocked")),
    )


def live_is_what_something_comes_from() -> Iterator[Scenario]:
    """DEP-010."""
    for status in ("ready", "running", "waiting", "retry pending"):
        run = Run(
            ["P", node("T", retry=_LATER, signals=["go"]), node("D", "P"), "Z"], ["T>P"], initial_nodes=["P", "T", "Z"]
        )
        run.start("P")
        if status != "ready":
            run.start("T")
        if status == "waiting":
            run.wait("T", "go")
        if status == "retry pending":
            run.end("T", "retryable_failure")
        past = run.past
        yield scenario(
            "DEP-010",
            f"a failure may be corrected by a node that is {status}",
            refused(past.plus(ended("P", 1, "permanent_failure"), closed("D"))),
            *brings(past, ended("P", 1, "permanent_failure")),
            *brings(past, ended("P", 1), _RELEASED),
        )
    run = Run(["P", "T", node("D", "P"), "Z"], ["T>P"], initial_nodes=["P", "T", "Z"])
    run.start("P")
    run.start("T")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "DEP-010",
        "a failure whose correction has gone already",
        *brings(past.plus(ended("T", 2), fired(0, "T", at)), ended("P", 1, "blocked"), ready("P", "queued")),
        refused(past.plus(ended("T", 2), fired(0, "T", at), ended("P", 1, "blocked"), closed("D", "blocked"))),
        *brings(
            past.plus(
                ended("T", 2), fired(0, "T", at), ended("P", 1, "blocked"), ready("P", "queued"), started("P", 3)
            ),
            ended("P", 3, "blocked"),
            closed("D", "blocked"),
        ),
    )


# DEP-011


def a_node_is_closed_as_its_prerequisites_are() -> Iterator[Scenario]:
    """DEP-011."""
    closings = {"cancelled": "cancelled", "blocked": "blocked", "permanent_failure": "skipped"}
    for first in _RANKS:
        for second in _RANKS:
            worst = _RANKS[min(_RANKS.index(first), _RANKS.index(second))]
            if worst == "succeeded":
                continue
            run = Run(["P", "Q", node("D", "P", "Q"), "Z"])
            run.run("P", first)
            run.start("Q")
            past, right = run.past, closings[worst]
            others = [kind for kind in ("cancelled", "blocked", "skipped") if kind != right]
            yield scenario(
                "DEP-011",
                f"prerequisites that ended with {first} and {second}: {right}",
                *(refused(past.plus(ended("Q", 2, second), closed("D", kind))) for kind in others),
                *brings(past, ended("Q", 2, second), closed("D", right), state={"/nodes/D/status": right}),
            )
    run = Run(["P", "Q", _any_succeeded("D", "P", "Q"), "Z"])
    run.run("P", "cancelled")
    run.start("Q")
    past = run.past
    yield scenario(
        "DEP-011",
        "no prerequisite has succeeded of which one would do: cancelled",
        refused(past.plus(ended("Q", 2, "permanent_failure"), closed("D"))),
        *brings(past, ended("Q", 2, "permanent_failure"), closed("D", "cancelled")),
        *brings(past, ended("Q", 2), _RELEASED),
    )
    run = Run(["P", node("D", "P"), "Z"])
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-011",
        "a closure is of no other kind",
        refused(past.plus(ended("P", 1, "permanent_failure"), closed("D", "permanent_failure"))),
        refused(past.plus(ended("P", 1, "permanent_failure"), closed("D", "retryable_failure"))),
        refused(past.plus(ended("P", 1, "permanent_failure"), closed("D", "succeeded"))),
        *brings(past, ended("P", 1, "permanent_failure"), closed("D")),
    )


def closures_are_propagated() -> Iterator[Scenario]:
    """DEP-011."""
    for kind, closing in _CLOSINGS:
        run = Run(["P", node("D", "P"), node("E", "D"), "Z"])
        run.start("P")
        past = run.past
        batch = (ended("P", 1, kind), closed("D", closing))
        yield scenario(
            "DEP-011",
            f"what was closed with {closing} closes with {closing}",
            *(refused(past.plus(*batch, closed("E", other))) for _, other in _CLOSINGS if other != closing),
            *brings(past, *batch, closed("E", closing)),
        )
    run = Run(["I", "S", "Q", node("D", "S", "Q"), "Z"], [edge("I>S", "blocked")])
    run.run("I")
    run.start("Q")
    past = run.past
    yield scenario(
        "DEP-011",
        "one prerequisite was skipped, and the other is blocked",
        refused(past.plus(ended("Q", 2, "blocked"), closed("D"))),
        *brings(past, ended("Q", 2, "blocked"), closed("D", "blocked")),
        refused(past.plus(ended("Q", 2), closed("D", "blocked"))),
        *brings(past, ended("Q", 2), closed("D")),
    )
    run = Run(
        ["A", "B", node("C", "B", "A")],
        [edge("C>A", "blocked"), edge("A>B", {"field": "go", "equals": 0})],
        initial_nodes=["A"],
    )
    run.start("A")
    past = run.past
    batch = (ended("A", 1, "cancelled"), closed("B"))
    yield scenario(
        "DEP-011",
        "one prerequisite is skipped, the other is cancelled, and they all lead to each other",
        refused(past.plus(*batch, closed("C"))),
        refused(past.plus(ended("A", 1, "cancelled"), closed("C", "cancelled"))),
        *brings(past, *batch, closed("C", "cancelled"), run_is("cancelled")),
    )
    run = Run(["P", "T", node("D", "P", "Q"), "Q", "Z"], ["T>P"], initial_nodes=["P", "T", "Q", "Z"])
    run.run("P", "cancelled")
    run.run("T")
    run.run("P", "permanent_failure")
    run.start("Q")
    past = run.past
    yield scenario(
        "DEP-011",
        "a prerequisite was cancelled first, and failed then",
        refused(past.plus(ended("Q", 4), closed("D", "cancelled"))),
        *brings(past, ended("Q", 4), closed("D")),
        *brings(past, ended("Q", 4, "cancelled"), closed("D", "cancelled")),
    )


# EDG-016


def a_node_without_a_way_is_skipped() -> Iterator[Scenario]:
    """EDG-016."""
    run = Run("IXZ", [edge("I>X", "blocked")])
    run.start("I")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-016",
        "the only way into a node is not taken",
        unfinished(past + ended("I", 1)),
        refused(past.plus(ended("I", 1), closed("X", "blocked"))),
        refused(past.plus(ended("I", 1), closed("X", "cancelled"))),
        refused(past.plus(ended("I", 1, "permanent_failure"), closed("X", "blocked"))),
        refused(past.plus(ended("I", 1, "blocked"), closed("X"))),
        *brings(past, ended("I", 1), closed("X"), state={"/nodes/X/status": "skipped", "/nodes/X/closed": True}),
        *brings(past, ended("I", 1, "cancelled"), closed("X")),
        *brings(past, ended("I", 1, "blocked"), fired(0, "I", at)),
    )
    yield scenario(
        "EDG-016",
        "a node is not skipped before its way is closed",
        refused(past + closed("X")),
        refused(past.until(-1) + closed("X")),
        accepted(past),
    )
    run = Run(["I", "X", "Y", node("D", "Y", dependency_policy="all_completed"), "W"],
              [edge("I>X", "succeeded"), edge("I>Y", "blocked"), "D>W"])  # fmt: skip
    run.start("I")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-016",
        "what waits for a node that is skipped is released, and what that leads to is not skipped",
        unfinished(past.plus(ended("I", 1), fired(0, "I", at))),
        refused(past.plus(ended("I", 1), fired(0, "I", at), closed("W"))),
        refused(past.plus(ended("I", 1), fired(0, "I", at), closed("Y"), closed("W"))),
        *brings(past, ended("I", 1), fired(0, "I", at), closed("Y"), ready("D", "dependencies")),
    )
    run = Run(["I", "L", "M", "Z"], [edge("I>L", "blocked"), "L>M", "M>L"], initial_nodes=["I", "Z"])
    run.start("I")
    past = run.past
    yield scenario(
        "EDG-016",
        "two nodes that lead to each other, and nothing else leads there",
        unfinished(past + ended("I", 1)),
        unfinished(past.plus(ended("I", 1), closed("L"))),
        *brings(past, ended("I", 1), closed("L"), closed("M")),
    )
    run = Run("ILZ", [edge("I>L", "blocked"), "L>L"], initial_nodes=["I", "Z"])
    run.start("I")
    past = run.past
    yield scenario(
        "EDG-016",
        "a node that leads to itself, and nothing else leads there",
        unfinished(past + ended("I", 1)),
        *brings(past, ended("I", 1), closed("L")),
    )
    run = Run("IXY", [edge("I>X", "blocked"), "X>Y"])
    run.start("I")
    past = run.past
    yield scenario(
        "EDG-016",
        "what is behind a node that is skipped is skipped too",
        unfinished(past.plus(ended("I", 1), closed("X"))),
        *brings(past, ended("I", 1), closed("X"), closed("Y"), run_is("completed")),
    )


def what_is_live_keeps_a_node() -> Iterator[Scenario]:
    """EDG-016."""
    for status in ("ready", "running", "waiting for a signal", "waiting for a time", "retry pending"):
        run = Run(
            ["I", node("T", retry={**_LATER, "max_attempts": 3}, signals=["go"]), "X", "Z"],
            [edge("I>X", "blocked"), edge("T>X", "blocked")],
        )
        run.start("I")
        number = 2
        if status != "ready":
            run.start("T")
        if status == "waiting for a signal":
            run.wait("T", "go")
        if status == "waiting for a time":
            run.wait_until("T", 7)
        if status == "retry pending":
            run.end("T", "retryable_failure")
        past = run.past
        run.end("I")
        if status == "waiting for a signal":
            run.accept("T", "go")
        if status == "waiting for a time":
            run.advance(7)
        if status == "retry pending":
            run.advance(10)
        if status in {"ready", "retry pending"}:
            run.start("T")
        number = 3 if status == "retry pending" else 2
        yield scenario(
            "EDG-016",
            f"a node is kept by one that is {status}, until it has ended",
            refused(past.plus(ended("I", 1), closed("X"))),
            *brings(past, ended("I", 1), state={"/nodes/X/status": "pending"}),
            unfinished(run.past + ended("T", number)),
            *brings(run.past, ended("T", number), closed("X")),
        )


def what_is_not_live_keeps_no_node() -> Iterator[Scenario]:
    """EDG-016."""
    run = Run("CXZ", [edge("C>X", "succeeded")])
    run.start("C")
    past = run.past
    asked = ended("C", 1, "changes_requested")
    yield scenario(
        "EDG-016",
        "a node is not kept by one that asked for changes",
        unfinished(past.plus(asked, terminated("C"))),
        *brings(past, asked, terminated("C"), closed("X")),
    )
    run = Run([*"IX", node("D", "P"), "P", "Z"], [edge("I>X", "blocked"), "I>D", "D>X", "Z>P"])
    run.start("I")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-016",
        "a node is kept by what leads to its prerequisites, and not by what is queued there",
        refused(past.plus(ended("I", 1), fired(1, "I", at), closed("X"))),
        *brings(past, ended("I", 1), fired(1, "I", at)),
    )


def live_nodes_reach_by_every_path() -> Iterator[Scenario]:
    """EDG-016."""
    run = Run("ITYX", [edge("I>X", "blocked"), "T>Y", edge("Y>X", "blocked")])
    run.start("I")
    past = run.past
    yield scenario(
        "EDG-016",
        "a live node two edges away keeps a node",
        refused(past.plus(ended("I", 1), closed("X"))),
        *brings(past, ended("I", 1)),
    )
    run = Run(["I", "T", node("D", "T"), "X"], [edge("I>X", "blocked"), "D>X"])
    run.start("I")
    past = run.past
    yield scenario(
        "EDG-016",
        "a live node that others wait for keeps what they lead to",
        refused(past.plus(ended("I", 1), closed("X"))),
        *brings(past, ended("I", 1)),
    )
    run = Run(["Q", "T", node("S", "Q"), "X", "Z"], ["T>S", "S>X"])
    run.start("Q")
    past = run.past
    yield scenario(
        "EDG-016",
        "a live node keeps what is behind a closed one",
        refused(past.plus(ended("Q", 1, "blocked"), closed("S", "blocked"), closed("X"))),
        *brings(past, ended("Q", 1, "blocked"), closed("S", "blocked")),
        unfinished(past.plus(ended("Q", 1, "blocked"), closed("S", "blocked"), started("T", 2), ended("T", 2))),
        *brings(
            past.plus(ended("Q", 1, "blocked"), closed("S", "blocked"), started("T", 2)), ended("T", 2), closed("X")
        ),
    )
    run = Run(
        [node("M", max_activations=1), "T", "X", "Z"],
        ["T>M", edge("M>X", "blocked")],
        initial_nodes=["M", "T", "Z"],
    )
    run.start("M")
    past = run.past
    yield scenario(
        "EDG-016",
        "a live node keeps what is behind an edge that will not fire",
        refused(past.plus(ended("M", 1), closed("X"))),
        *brings(past, ended("M", 1)),
        unfinished(past.plus(ended("M", 1), started("T", 2), ended("T", 2))),
        *brings(past.plus(ended("M", 1), started("T", 2)), ended("T", 2), closed("X")),
    )
    run = Run("ITXZ", [edge("I>X", "blocked"), "X>T"], initial_nodes=["I", "T", "Z"])
    run.start("I")
    past = run.past
    yield scenario(
        "EDG-016",
        "a live node that a node leads to does not keep it",
        unfinished(past + ended("I", 1)),
        *brings(past, ended("I", 1), closed("X")),
    )


def a_latch_is_set_before_a_node_is_skipped() -> Iterator[Scenario]:
    """EDG-016."""
    run = Run(["P", "I", node("D", "P"), "Z"], [edge("I>D", "blocked")])
    run.run("I")
    run.start("P")
    past = run.past
    yield scenario(
        "EDG-016",
        "a node whose latch is set and which no edge reaches any more",
        unfinished(past + ended("P", 2)),
        refused(past.plus(ended("P", 2), ready("D", "dependencies"))),
        *brings(past, ended("P", 2), closed("D")),
        refused(past.plus(ended("P", 2, "blocked"), closed("D"))),
        *brings(past, ended("P", 2, "blocked"), closed("D", "blocked")),
    )
    run = Run(
        ["I", node("D", "P", dependency_policy="all_completed"), "P", "Z"],
        [edge("I>P", "blocked"), edge("I>D", "blocked"), "D>P"],
        initial_nodes=["I", "Z"],
    )
    run.start("I")
    past = run.past
    yield scenario(
        "EDG-016",
        "a node whose latch is not set yet is not skipped with its prerequisite, but after it",
        refused(past.plus(ended("I", 1), closed("D"))),
        *brings(past, ended("I", 1), closed("P"), closed("D")),
    )
    run = Run(["X", "I", node("M", "X")], ["I>M", "M>X"], initial_nodes=["I"])
    run.start("I")
    past, at = run.past, len(run.past) + 1
    fires = past.plus(ended("I", 1), fired(0, "I", at))
    yield scenario(
        "EDG-016",
        "what is queued and cannot begin keeps no node",
        unfinished(fires),
        refused(fires + closed("M")),
        unfinished(fires + closed("X")),
        *brings(past, ended("I", 1), fired(0, "I", at), closed("X"), closed("M"), run_is("completed")),
    )
    run = Run(["P", node("D", "P"), node("E", "D"), "Z"])
    run.start("P")
    past = run.past
    yield scenario(
        "EDG-016",
        "a node without edges into it waits for its dependencies",
        refused(past + closed("E")),
        refused(past.plus(ended("P", 1), ready("D", "dependencies"), closed("E"))),
        *brings(past, ended("P", 1), ready("D", "dependencies")),
    )
    run = Run("IXZ", [edge("I>X", "blocked")], version=3)
    run.start("I")
    past = run.past
    yield scenario(
        "EDG-016",
        "the only way into a node is not taken, in version 3",
        unfinished(past + ended("I", 1)),
        accepted(past.plus(ended("I", 1), closed("X"))),
    )


# EDG-017


def a_node_that_is_reached_is_not_skipped() -> Iterator[Scenario]:
    """EDG-017."""
    run = Run("IAM", [edge("I>A", field("go", equals=True)), "A>M", edge("I>M", field("go", equals=False))])
    run.start("I")
    past, at = run.past, len(run.past) + 1
    first = past.plus(ended("I", 1, output={"go": True}), fired(0, "I", at))
    yield scenario(
        "EDG-017",
        "a shortcut is not taken, and the long way is",
        refused(first + closed("M")),
        *brings(past, ended("I", 1, output={"go": True}), fired(0, "I", at), state={"/nodes/M/status": "pending"}),
        *brings(first + started("A", 2), ended("A", 2), fired(1, "A", at + 3)),
        *brings(
            first.plus(started("A", 2), ended("A", 2), fired(1, "A", at + 3), started("M", 3)),
            ended("M", 3),
            run_is("completed"),
        ),
        *brings(past, ended("I", 1, output={"go": False}), fired(2, "I", at), closed("A")),
    )
    run = Run("IJMZ", [edge("I>M", "blocked"), edge("J>M", "succeeded")])
    run.start("I")
    past = run.past
    yield scenario(
        "EDG-017",
        "one of two edges into a node is not taken",
        refused(past.plus(ended("I", 1), closed("M"))),
        *brings(past, ended("I", 1)),
        *brings(past.plus(ended("I", 1), started("J", 2)), ended("J", 2), fired(1, "J", len(past) + 3)),
    )
    run = Run("IJMZ", [edge("I>M", "blocked"), edge("J>M", "succeeded")])
    run.run("I")
    run.start("J")
    past = run.past
    failure = ended("J", 2, "retryable_failure")
    yield scenario(
        "EDG-017",
        "one of two edges is not taken, and the source of the other is tried again",
        refused(past.plus(failure, retry("J", 2, 0), closed("M"))),
        refused(past.plus(failure, retry("J", 2, 0), released("J", 2), closed("M"))),
        *brings(past, failure, retry("J", 2, 0), released("J", 2)),
    )
    run = Run(
        "IGFMZ",
        [edge("G>M", "succeeded"), edge("G>F", "changes_requested"), "F>G", edge("I>M", "blocked")],
        initial_nodes=["I", "G", "Z"],
    )
    run.run("I")
    run.start("G")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-017",
        "a node behind a gate that is not passed yet",
        refused(past.plus(ended("G", 2, "changes_requested"), fired(1, "G", at), closed("M"))),
        *brings(past, ended("G", 2, "changes_requested"), fired(1, "G", at)),
    )
    run = Run(["I", "T", node("D", "T"), "M", "Z"], [edge("I>M", "blocked"), edge("D>M", "succeeded")])
    run.start("I")
    past = run.past
    yield scenario(
        "EDG-017",
        "a node is reached by what waits for a live one",
        refused(past.plus(ended("I", 1), closed("M"))),
        *brings(past, ended("I", 1)),
        *brings(past.plus(ended("I", 1), started("T", 2)), ended("T", 2), ready("D", "dependencies")),
    )


# RUN-022


def changes_without_a_correction_fail() -> Iterator[Scenario]:
    """RUN-022."""
    run = Run("AB", [edge("A>B", "changes_requested")])
    run.start("A")
    past = run.played(ended("A", 1, "changes_requested"))
    yield scenario(
        "RUN-022",
        "no way leads back",
        refused(past.without(-1) + started("B", 2)),
        accepted(past, {"/nodes/A/status": "failed", "/nodes/A/outcome": 4}),
    )
    yield scenario(
        "RUN-022",
        "a node without a correction has used up no attempts",
        refused(past.but(-1, limit=3, usage=1)),
        refused(past.but(-1, reason="attempts_exhausted", limit=3, usage=1)),
        accepted(past),
    )
    run = Run("AB", [edge("A>B", "changes_requested"), edge("B>A", "succeeded")], initial_nodes=["A"])
    run.run("A", "changes_requested")
    yield scenario(
        "RUN-022",
        "a way leads back",
        refused(run.past + terminated("A")),
        accepted(run.past + started("B", 2), {"/nodes/A/status": "changes_requested"}),
    )
    run.start("B")
    past = run.played(ended("B", 2, "permanent_failure"))
    yield scenario(
        "RUN-022",
        "the correction fails",
        refused(past.without(-2)),
        accepted(past),
    )
    run = Run("AB", [edge("A>B", "changes_requested")], version=3)
    run.run("A", "changes_requested")
    left = run.fork()
    left.goes_on(4)
    left.start("B")
    ends = left.played(ended("B", 2))
    yield scenario(
        "RUN-022",
        "what an older version left is a matter of Settle",
        refused(left.past.plus(ended("B", 2), run_is("failed"))),
        accepted(ends, {"/nodes/A/status": "changes_requested"}),
    )
    edges = [edge("C>B", "changes_requested"), edge("L>C", "blocked")]
    older = Run("CBLZ", edges, version=3, initial_nodes=["C", "L", "Z"])
    older.run("C", "changes_requested")
    older.run("B")
    older.goes_on(4)
    older.start("L")
    ends = older.played(ended("L", 3))
    yield scenario(
        "RUN-022",
        "what a live node reached when version 4 began is no matter of Settle",
        refused(older.past.plus(ended("L", 3), started("Z", 4))),
        accepted(ends, {"/nodes/C/status": "failed"}),
    )
    run.run("B")
    yield scenario(
        "RUN-022",
        "version 3 has no termination",
        refused(run.past + run_is("failed")),
        accepted(run.past, {"/nodes/A/status": "changes_requested"}),
    )


# RUN-023


def closing_goes_in_rounds() -> Iterator[Scenario]:
    """RUN-023."""
    run = Run(["I", "B", "A"], [edge("I>A", "blocked"), edge("I>B", "blocked")])
    run.start("I")
    past = run.played(ended("I", 1))
    yield scenario(
        "RUN-023",
        "two components, the one with the first member first",
        refused(past.swapped(-3), -3),
        accepted(past),
    )
    loop = [edge("I>B", "blocked"), edge("B>A"), edge("A>B")]
    run = Run(["I", "A", "B"], loop, initial_nodes=["I"])
    run.start("I")
    past = run.played(ended("I", 1))
    yield scenario(
        "RUN-023",
        "the nodes of one component, in specification order",
        refused(past.swapped(-3), -3),
        accepted(past),
    )
    nodes: list[Any] = ["I", "X", node("D", "X", dependency_policy="all_completed"), "Z"]
    run = Run(nodes, [edge("I>X", "blocked"), edge("I>Z", "blocked")])
    run.start("I")
    past = run.played(ended("I", 1))
    yield scenario(
        "RUN-023",
        "what a round releases comes before the next round",
        refused(past.swapped(-2), -2),
        accepted(past),
    )
    nodes = ["I", "L1", node("D", "L1", dependency_policy="all_completed"), "L2"]
    run = Run(nodes, [edge("I>L1", "blocked"), "L1>L2", "L2>L1"], initial_nodes=["I"])
    run.start("I")
    past = run.played(ended("I", 1))
    yield scenario(
        "RUN-023",
        "what a round releases comes after the whole round",
        refused(past.swapped(-2), -2),
        unfinished(past.without(-1)),
        accepted(past),
    )
    run = Run(["I", "M", node("X", "M")], [edge("I>M", "blocked"), edge("M>X")], initial_nodes=["I"])
    run.start("I")
    past = run.played(ended("I", 1))
    yield scenario(
        "RUN-023",
        "what leads to a component is closed before it",
        refused(past.swapped(-3), -3),
        accepted(past),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    an_impossible_policy_closes_a_node,
    a_closed_node_may_be_reached,
    a_failure_may_be_corrected,
    only_edges_lead_back,
    live_is_what_something_comes_from,
    a_node_is_closed_as_its_prerequisites_are,
    closures_are_propagated,
    a_node_without_a_way_is_skipped,
    what_is_live_keeps_a_node,
    what_is_not_live_keeps_no_node,
    live_nodes_reach_by_every_path,
    a_latch_is_set_before_a_node_is_skipped,
    a_node_that_is_reached_is_not_skipped,
    changes_without_a_correction_fail,
    closing_goes_in_rounds,
)
