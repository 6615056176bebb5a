"""Dependencies: DEP-001 to DEP-009.

A node Z that is ready keeps a run from ending.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure_conformance.reducer.histories import (
    Document,
    Fact,
    Value,
    acquired,
    advanced,
    closed,
    edge,
    ended,
    fact,
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
from perdure_conformance.reducer.scenarios.scenario import Scenario, Side, accepted, refused, scenario, unfinished

_ONCE: Final[Fact] = {"max_attempts": 1}
_LATER: Final[Fact] = {"max_attempts": 2, "backoff": {"kind": "fixed", "delay_ms": 10}}
_CLOSINGS: Final = (("permanent_failure", "skipped"), ("blocked", "blocked"), ("cancelled", "cancelled"))
"""How a node ends, and how one is closed that waited for its success."""
_RELEASED: Final = ready("D", "dependencies")
_NEEDS_X: Final[Fact] = {"input_mapping": {"x": {"node": "P", "output": "x"}}}


def _all_completed(name: str, *prerequisites: str, **members: Value) -> Document:
    return node(name, *prerequisites, dependency_policy="all_completed", **members)


def _any_succeeded(name: str, *prerequisites: str, **members: Value) -> Document:
    return node(name, *prerequisites, dependency_policy="any_succeeded", **members)


def _given(run: Run, number: int, x: int | None, nth: int = 1) -> tuple[Side, ...]:
    """Say that an attempt of D that starts is given x, or lacks it and so ends at once."""
    start = started("D", number, nth)
    if x is not None:
        return brings(run.past, start, state={"/nodes/D/active/input": {"x": x}})
    lacking = (start, ended("D", number, "permanent_failure"))
    return refused(run.past.plus(start, ended("D", number))), unfinished(run.past + start), *brings(run.past, *lacking)


# DEP-001


def all_have_succeeded() -> Iterator[Scenario]:
    """DEP-001."""
    for policy, named in (("by default", {}), ("by name", {"dependency_policy": "all_succeeded"})):
        run = Run(["P", "Q", node("D", "P", "Q", **named), "Z"])
        run.start("P")
        run.start("Q")
        before = run.past
        run.end("P")
        past = run.past
        yield scenario(
            "DEP-001",
            f"every prerequisite has succeeded, {policy}",
            refused(before.plus(ended("P", 1), _RELEASED)),
            *brings(before, ended("P", 1)),
            unfinished(past + ended("Q", 2)),
            *brings(past, ended("Q", 2), _RELEASED),
            *brings(before + ended("Q", 2), ended("P", 1), _RELEASED),
        )
    run = Run(["P", node("D", "P"), "Z"])
    run.start("P")
    past = run.past
    for kind, closing in _CLOSINGS:
        yield scenario(
            "DEP-001",
            f"a prerequisite has ended with {kind}",
            refused(past.plus(ended("P", 1, kind), _RELEASED)),
            refused(past.plus(ended("P", 1, kind), started("D", 2))),
            *brings(past, ended("P", 1, kind), closed("D", closing)),
            *brings(past, ended("P", 1), _RELEASED),
        )
    run = Run(["P", "Q", node("D", "P", "Q"), "Z"])
    run.start("P")
    run.start("Q")
    for kind, closing in _CLOSINGS:
        for first, last in (("succeeded", kind), (kind, "succeeded")):
            past = run.past + ended("P", 1, first)
            yield scenario(
                "DEP-001",
                f"of two prerequisites the first ended with {first} and the second with {last}",
                refused(past.plus(ended("Q", 2, last), _RELEASED)),
                refused(past + _RELEASED),
                *brings(past, ended("Q", 2, last), closed("D", closing)),
            )
    run = Run(["I", "P", node("D", "P"), "Z"], [edge("I>P", "blocked")])
    run.start("I")
    past = run.past
    yield scenario(
        "DEP-001",
        "a prerequisite was skipped",
        refused(past.plus(ended("I", 1), closed("P"), _RELEASED)),
        *brings(past, ended("I", 1), closed("P"), closed("D")),
    )
    run = Run(["P", "F", node("D", "P"), "Z"], [edge("P>F", "changes_requested"), "F>P"], initial_nodes=["P", "Z"])
    run.start("P")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "DEP-001",
        "a prerequisite asked for changes",
        refused(past.plus(ended("P", 1, "changes_requested"), fired(0, "P", at), _RELEASED)),
        *brings(past, ended("P", 1, "changes_requested"), fired(0, "P", at)),
        *brings(past, ended("P", 1), _RELEASED, closed("F")),
    )
    run = Run(["P", node("D", "P"), "Z"], version=1)
    run.start("P")
    past = run.past
    succeeded = fact("NodeSucceeded", node="P", attempt_id=ended("P", 1)["attempt_id"])
    yield scenario(
        "DEP-001",
        "a prerequisite has succeeded, in version 1",
        unfinished(past + succeeded),
        refused(past.plus(succeeded, started("Z", 2))),
        accepted(past.plus(succeeded, _RELEASED)),
    )
    run = Run(["P", "Q", node("D", "P"), "Z"])
    run.start("Q")
    past = run.past
    yield scenario(
        "DEP-001",
        "a node that is no prerequisite has succeeded",
        refused(past.plus(ended("Q", 1), _RELEASED)),
        *brings(past, ended("Q", 1)),
    )


# DEP-002


def all_have_ended() -> Iterator[Scenario]:
    """DEP-002."""
    for kind in ("succeeded", "permanent_failure", "blocked", "cancelled"):
        run = Run(["P", "Q", _all_completed("D", "P", "Q"), "Z"])
        run.start("P")
        run.start("Q")
        before = run.past
        run.end("P", kind)
        past = run.past
        yield scenario(
            "DEP-002",
            f"all prerequisites have ended, one with {kind}",
            refused(before.plus(ended("P", 1, kind), _RELEASED)),
            *brings(before, ended("P", 1, kind)),
            unfinished(past + ended("Q", 2)),
            *brings(past, ended("Q", 2), _RELEASED),
            *brings(past, ended("Q", 2, kind), _RELEASED),
        )
    run = Run([node("P", retry=_ONCE), _all_completed("D", "P"), "Z"])
    run.start("P")
    past = run.past
    used_up = terminated("P", "attempts_exhausted", limit=1, usage=1)
    yield scenario(
        "DEP-002",
        "the attempts of a prerequisite are used up",
        unfinished(past.plus(ended("P", 1, "retryable_failure"), used_up)),
        *brings(past, ended("P", 1, "retryable_failure"), used_up, _RELEASED),
    )
    run = Run(["I", "P", _all_completed("D", "P"), "Z"], [edge("I>P", "blocked")])
    run.start("I")
    past = run.past
    yield scenario(
        "DEP-002",
        "a prerequisite was skipped for want of an edge",
        unfinished(past.plus(ended("I", 1), closed("P"))),
        refused(past.plus(ended("I", 1), closed("P"), closed("D"))),
        *brings(past, ended("I", 1), closed("P"), _RELEASED),
    )
    for kind, closing in _CLOSINGS:
        run = Run(["I", node("P", "I"), _all_completed("D", "P"), "Z"])
        run.start("I")
        past = run.past
        yield scenario(
            "DEP-002",
            f"a prerequisite was closed with {closing}",
            refused(past.plus(ended("I", 1, kind), closed("P", closing), closed("D", closing))),
            *brings(past, ended("I", 1, kind), closed("P", closing), _RELEASED),
        )


def who_asks_for_changes_has_not_ended() -> Iterator[Scenario]:
    """DEP-002."""
    run = Run(
        ["P", "F", _all_completed("D", "P"), "Z"],
        [edge("P>F", "changes_requested"), edge("F>P", "succeeded")],
        initial_nodes=["P", "Z"],
    )
    run.start("P")
    past, at = run.past, len(run.past) + 1
    asked = ended("P", 1, "changes_requested")
    yield scenario(
        "DEP-002",
        "a prerequisite asks for changes, and may have them",
        refused(past.plus(asked, fired(0, "P", at), _RELEASED)),
        *brings(past, asked, fired(0, "P", at)),
        *brings(past, ended("P", 1), _RELEASED, closed("F")),
    )
    run.end("P", "changes_requested")
    run.start("F")
    past = run.past
    yield scenario(
        "DEP-002",
        "a prerequisite asked for changes, and there are none",
        refused(past.plus(ended("F", 2, "blocked"), _RELEASED)),
        unfinished(past.plus(ended("F", 2, "blocked"), terminated("P"))),
        *brings(past, ended("F", 2, "blocked"), terminated("P"), _RELEASED),
    )
    run = Run([node("P", retry=_LATER), _all_completed("D", "P"), "Z"])
    run.start("P")
    past = run.past
    failure = (ended("P", 1, "retryable_failure"), retry("P", 2, 10))
    yield scenario(
        "DEP-002",
        "a prerequisite will be tried again",
        refused(past.plus(*failure, _RELEASED)),
        *brings(past, *failure),
        refused(past.plus(*failure, advanced(10), released("P", 2), _RELEASED)),
        *brings(past.plus(*failure), advanced(10), released("P", 2)),
        *brings(past.plus(*failure, advanced(10), released("P", 2), started("P", 2, 2)), ended("P", 2), _RELEASED),
    )
    for version in (2, 3):
        run = Run(["P", _all_completed("D", "P"), "Z"], version=version)
        run.start("P")
        for kind in ("retryable_failure", "changes_requested"):
            yield scenario(
                "DEP-002",
                f"a prerequisite ended with {kind} in version {version}",
                refused(run.past.plus(ended("P", 1, kind), _RELEASED)),
                accepted(run.past + ended("P", 1, kind)),
                accepted(run.past.plus(ended("P", 1, "permanent_failure"), _RELEASED)),
            )


# DEP-003


def one_has_succeeded() -> Iterator[Scenario]:
    """DEP-003."""
    nodes: list[Value] = ["P", node("Q", retry=_LATER, signals=["go"]), _any_succeeded("D", "P", "Q"), "Z"]
    for status in ("ready", "running", "waiting", "retry pending"):
        run = Run(nodes)
        run.start("P")
        if status != "ready":
            run.start("Q")
        if status == "waiting":
            run.wait("Q", "go")
        if status == "retry pending":
            run.end("Q", "retryable_failure")
        past = run.past
        yield scenario(
            "DEP-003",
            f"one prerequisite has succeeded, the other is {status}",
            unfinished(past + ended("P", 1)),
            *brings(past, ended("P", 1), _RELEASED),
            refused(past.plus(ended("P", 1, "blocked"), _RELEASED)),
            *brings(past, ended("P", 1, "blocked")),
        )
    for kind in ("permanent_failure", "blocked", "cancelled"):
        run = Run(nodes)
        run.start("P")
        run.start("Q")
        past = run.past
        yield scenario(
            "DEP-003",
            f"one prerequisite has succeeded, the other ended with {kind}",
            refused(past.plus(ended("Q", 2, kind), _RELEASED)),
            *brings(past, ended("Q", 2, kind)),
            unfinished(past.plus(ended("Q", 2, kind), ended("P", 1))),
            *brings(past + ended("Q", 2, kind), ended("P", 1), _RELEASED),
            *brings(past + ended("P", 1, kind), ended("Q", 2), _RELEASED),
        )
    run = Run(["I", "P", node("Q", "I"), _any_succeeded("D", "P", "Q"), "Z"])
    run.start("I")
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-003",
        "one prerequisite has succeeded, the other is pending or closed",
        *brings(past, ended("P", 2), _RELEASED),
        *brings(past.plus(ended("I", 1, "blocked"), closed("Q", "blocked")), ended("P", 2), _RELEASED),
        refused(past.plus(ended("I", 1, "blocked"), closed("Q", "blocked"), _RELEASED)),
    )
    run = Run(["P", "Q", "F", _any_succeeded("D", "P", "Q"), "Z"], ["Q>F", "F>Q"], initial_nodes=["P", "Q", "Z"])
    run.run("Q", "changes_requested")
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-003",
        "one prerequisite has succeeded, the other asks for changes",
        unfinished(past + ended("P", 2)),
        refused(past.until(-1) + _RELEASED),
        *brings(past, ended("P", 2), _RELEASED),
    )


# DEP-004


def a_policy_is_judged_before_edges_fire() -> Iterator[Scenario]:
    """DEP-004."""
    for policy, named in (
        ("all_succeeded", node("D", "P")),
        ("all_completed", _all_completed("D", "P")),
        ("any_succeeded", _any_succeeded("D", "P")),
    ):
        run = Run([node("P", max_activations=2), named, "Z"], [edge("P>P", "succeeded")], initial_nodes=["P", "Z"])
        run.start("P")
        past, at = run.past, len(run.past) + 1
        yield scenario(
            "DEP-004",
            f"a prerequisite ends, and its own edge activates it again: {policy}",
            unfinished(past.plus(ended("P", 1), fired(0, "P", at))),
            *brings(past, ended("P", 1), fired(0, "P", at), _RELEASED),
        )
    run = Run(["P", node("D", "P"), "Z"], ["P>D"])
    run.start("P")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "DEP-004",
        "a prerequisite activates what waits for it",
        refused(past.plus(ended("P", 1), fired(0, "P", at), ready("D", "queued"))),
        *brings(past, ended("P", 1), fired(0, "P", at)),
        accepted(past.plus(ended("P", 1), fired(0, "P", at), started("D", 2))),
    )


def an_earlier_success_does_not_count() -> Iterator[Scenario]:
    """DEP-004."""
    for policy, named in (("all_succeeded", node("D", "P", "Q")), ("all_completed", _all_completed("D", "P", "Q"))):
        run = Run(["P", "Q", "T", named, "Z"], ["T>P"], initial_nodes=["P", "Q", "T", "Z"])
        run.run("P")
        run.start("Q")
        twin = run.past
        run.run("T")
        past = run.past
        yield scenario(
            "DEP-004",
            f"a prerequisite that had succeeded is activated again: {policy}",
            refused(past.plus(ended("Q", 2), _RELEASED)),
            *brings(past, ended("Q", 2)),
            *brings(twin, ended("Q", 2), _RELEASED),
        )
        run.start("P")
        run.end("Q")
        past = run.past
        yield scenario(
            "DEP-004",
            f"a prerequisite that was activated again has ended again: {policy}",
            refused(past + _RELEASED),
            unfinished(past + ended("P", 4)),
            *brings(past, ended("P", 4), _RELEASED),
        )
    run = Run(["P", "Q", "T", node("D", "P", "Q"), "Z"], ["T>P"], initial_nodes=["P", "Q", "T", "Z"])
    run.run("P")
    run.run("T")
    run.run("P", "blocked")
    run.start("Q")
    past = run.past
    yield scenario(
        "DEP-004",
        "a prerequisite has succeeded first, and was blocked then",
        refused(past.plus(ended("Q", 4), _RELEASED)),
        *brings(past, ended("Q", 4), closed("D", "blocked")),
    )
    run = Run(["P", "Q", "T", node("D", "P", "Q"), "Z"], ["T>P"], initial_nodes=["P", "Q", "T", "Z"])
    run.run("P", "blocked")
    run.run("T")
    run.run("P")
    run.start("Q")
    past = run.past
    yield scenario(
        "DEP-004",
        "a prerequisite was blocked first, and has succeeded then",
        unfinished(past + ended("Q", 4)),
        refused(past.plus(ended("Q", 4), closed("D", "blocked"))),
        *brings(past, ended("Q", 4), _RELEASED),
    )
    run = Run(["P", "F", node("D", "P")], [edge("P>F", "permanent_failure"), "F>P"], initial_nodes=["P"])
    run.run("P", "permanent_failure")
    run.run("F")
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-004",
        "a prerequisite failed, was corrected and has succeeded",
        unfinished(past + ended("P", 3)),
        *brings(past, ended("P", 3), _RELEASED),
        refused(past.until(2).plus(started("P", 1), ended("P", 1, "permanent_failure"), closed("D"))),
    )


def a_policy_is_judged_at_closures_and_terminations() -> Iterator[Scenario]:
    """DEP-004."""
    run = Run(["I", node("P", "I"), _all_completed("D", "P", "I"), "Z"])
    run.start("I")
    past = run.past
    yield scenario(
        "DEP-004",
        "a closure completes a policy",
        refused(past.plus(ended("I", 1, "blocked"), _RELEASED)),
        unfinished(past.plus(ended("I", 1, "blocked"), closed("P", "blocked"))),
        *brings(past, ended("I", 1, "blocked"), closed("P", "blocked"), _RELEASED),
    )
    run = Run(["P", _all_completed("D", "P"), "Z"])
    run.start("P")
    past = run.past
    asked = ended("P", 1, "changes_requested")
    yield scenario(
        "DEP-004",
        "a termination completes a policy",
        refused(past.plus(asked, _RELEASED)),
        unfinished(past.plus(asked, terminated("P"))),
        *brings(past, asked, terminated("P"), _RELEASED),
    )
    run = Run(["P", node("D", "P"), "Z"])
    run.start("P")
    yield scenario(
        "DEP-004",
        "a termination makes a policy impossible",
        unfinished(run.past.plus(asked, terminated("P"))),
        *brings(run.past, asked, terminated("P"), closed("D")),
    )


# DEP-005


def a_latch_stays_set() -> Iterator[Scenario]:
    """DEP-005."""
    again = edge("P>P", {"field": "again", "equals": 1})
    for policy, named in (
        ("all_succeeded", node("D", "P")),
        ("all_completed", _all_completed("D", "P")),
        ("any_succeeded", _any_succeeded("D", "P", "Q")),
    ):
        run = Run(["P", "Q", named, "Z"], [again], initial_nodes=["P", "Q", "Z"])
        run.start("P")
        past, at = run.past, len(run.past) + 1
        ending = ended("P", 1, output={"again": 1})
        yield scenario(
            "DEP-005",
            f"a node is released although its prerequisite is ready again: {policy}",
            refused(past.plus(ending, fired(0, "P", at), started("P", 2))),
            refused(past.plus(ending, _RELEASED)),
            *brings(past, ending, fired(0, "P", at), _RELEASED),
        )
        run.end("P", output={"again": 1})
        run.start("P")
        past = run.past
        for kind in ("succeeded", "permanent_failure", "blocked"):
            more = past + ended("P", 2, kind)
            yield scenario(
                "DEP-005",
                f"a later turn of a prerequisite ends with {kind}, the node is ready: {policy}",
                refused(more + _RELEASED),
                refused(more + closed("D", "blocked" if kind == "blocked" else "skipped")),
                *brings(past, ended("P", 2, kind), state={"/nodes/D/status": "ready", "/nodes/D/activations": 1}),
                accepted(more + started("D", 3)),
            )
            finished = past.plus(started("D", 3), ended("D", 3))
            yield scenario(
                "DEP-005",
                f"a later turn of a prerequisite ends with {kind}, the node has ended: {policy}",
                refused(finished.plus(ended("P", 2, kind), _RELEASED)),
                *brings(finished, ended("P", 2, kind), state={"/nodes/D/status": "succeeded"}),
            )
    run = Run(["P", "Q", _any_succeeded("D", "P", "Q"), "Z"])
    run.run("P")
    run.start("Q")
    past = run.past
    yield scenario(
        "DEP-005",
        "the second success of two",
        refused(past.plus(ended("Q", 2), _RELEASED)),
        *brings(past, ended("Q", 2)),
        refused(past.plus(started("D", 3), ended("D", 3), ended("Q", 2), _RELEASED)),
        *brings(past.plus(started("D", 3), ended("D", 3)), ended("Q", 2)),
    )


def a_latch_waits_for_an_edge() -> Iterator[Scenario]:
    """DEP-005."""
    for kind, closing in _CLOSINGS:
        run = Run(["P", "T", "Y", node("D", "P"), "Z"], ["T>P", "Y>D"], initial_nodes=["P", "T", "Y", "Z"])
        run.run("P")
        run.run("T")
        run.start("P")
        run.start("Y")
        past, at = run.past, len(run.past) + 1
        more = past + ended("P", 3, kind)
        yield scenario(
            "DEP-005",
            f"a prerequisite has succeeded, then ended with {kind}, and then an edge comes",
            refused(more + closed("D", closing)),
            refused(past.plus(ended("P", 3, kind), ended("Y", 4), fired(1, "Y", at + 1), ready("D", "queued"))),
            *brings(past, ended("P", 3, kind), state={"/nodes/D/status": "pending"}),
            *brings(more, ended("Y", 4), fired(1, "Y", at + 1), state={"/nodes/D/status": "ready"}),
            accepted(more.plus(ended("Y", 4), fired(1, "Y", at + 1), started("D", 5))),
        )
    run = Run(["P", "T", "Y", node("D", "P"), "Z"], ["T>P", "Y>D"], initial_nodes=["P", "T", "Y", "Z"])
    run.run("P")
    run.run("T")
    run.start("Y")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "DEP-005",
        "an edge comes while a prerequisite that has succeeded is ready again",
        *brings(past, ended("Y", 3), fired(1, "Y", at), state={"/nodes/D/status": "ready"}),
        accepted(past.plus(ended("Y", 3), fired(1, "Y", at), started("D", 4))),
        refused(past.plus(ended("Y", 3), fired(1, "Y", at), started("D", 3))),
    )


# DEP-006


def a_node_without_edges_is_released_once() -> Iterator[Scenario]:
    """DEP-006."""
    run = Run(["P", node("D", "P"), "Z"])
    run.start("P")
    past = run.past
    released_once = past.plus(ended("P", 1), _RELEASED)
    yield scenario(
        "DEP-006",
        "a node is released by its dependencies",
        refused(past.plus(ended("P", 1), ready("D"))),
        refused(past.plus(ended("P", 1), ready("D", "queued"))),
        refused(past.plus(ended("P", 1), started("D", 2))),
        refused(past.plus(ended("P", 1), fired(0, "P", len(past) + 1))),
        refused(past.plus(ended("P", 1), ready("P", "dependencies"))),
        refused(past.plus(ended("P", 1), ready("Z", "dependencies"))),
        unfinished(past + ended("P", 1)),
        *brings(past, ended("P", 1), _RELEASED, state={"/nodes/D/status": "ready", "/nodes/D/activations": 1}),
    )
    yield scenario(
        "DEP-006",
        "a node is released once",
        refused(released_once + _RELEASED),
        refused(released_once.plus(started("D", 2), _RELEASED)),
        refused(released_once.plus(started("D", 2), ended("D", 2), _RELEASED)),
        *brings(released_once + started("D", 2), ended("D", 2)),
    )
    yield scenario(
        "DEP-006",
        "a node is not released before",
        refused(past + _RELEASED),
        refused(past.until(-1) + _RELEASED),
        refused(past.until(2) + ready("D")),
        accepted(past),
    )
    for begun in (False, True):
        run = Run(["K", "L", node("D", "K", "L", dependency_policy="any_succeeded"), "Z"])
        run.start("K")
        run.start("L")
        run.end("K")
        if begun:
            run.run("D")
        past = run.past
        yield scenario(
            "DEP-006",
            f"another prerequisite succeeds when a node {'has ended' if begun else 'is ready'}: it is not begun again",
            refused(past.plus(ended("L", 2), _RELEASED)),
            refused(past.plus(ended("L", 2), ready("D", "queued"))),
            accepted(past.plus(ended("L", 2), acquired(1, 1))),
            *brings(past, ended("L", 2)),
        )
    run = Run(["P", node("D", "P"), node("C", "P"), node("E", "P", "D"), "Z"])
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-006",
        "one outcome releases several nodes, each by itself",
        refused(past.plus(ended("P", 1), _RELEASED, ready("C", "dependencies"), ready("E", "dependencies"))),
        unfinished(past.plus(ended("P", 1), _RELEASED)),
        *brings(past, ended("P", 1), _RELEASED, ready("C", "dependencies")),
    )


# DEP-007


def a_node_with_edges_is_begun_by_an_edge() -> Iterator[Scenario]:
    """DEP-007."""
    run = Run(["P", "A", node("D", "P"), "Z"], ["A>D"])
    run.start("P")
    run.start("A")
    past, at = run.past, len(run.past) + 1
    latched, queued = past + ended("P", 1), past.plus(ended("A", 2), fired(0, "A", at))
    yield scenario(
        "DEP-007",
        "the latch is set first, then the edge comes",
        refused(latched + _RELEASED),
        refused(latched + ready("D", "queued")),
        refused(latched + started("D", 3)),
        *brings(past, ended("P", 1), state={"/nodes/D/status": "pending"}),
        refused(latched.plus(ended("A", 2), fired(0, "A", at + 1), _RELEASED)),
        *brings(latched, ended("A", 2), fired(0, "A", at + 1), state={"/nodes/D/status": "ready"}),
        accepted(latched.plus(ended("A", 2), fired(0, "A", at + 1), started("D", 3))),
    )
    yield scenario(
        "DEP-007",
        "the edge comes first, then the latch is set",
        refused(queued + ready("D", "queued")),
        refused(queued + started("D", 3)),
        *brings(past, ended("A", 2), fired(0, "A", at), state={"/nodes/D/status": "pending"}),
        refused(queued.plus(ended("P", 1), _RELEASED)),
        unfinished(queued + ended("P", 1)),
        *brings(queued, ended("P", 1), ready("D", "queued"), state={"/nodes/D/status": "ready"}),
    )
    begun = queued.plus(ended("P", 1), ready("D", "queued"), started("D", 3), ended("D", 3))
    yield scenario(
        "DEP-007",
        "a node that was begun by an edge is not released too",
        refused(begun + _RELEASED),
        accepted(begun),
    )
    run = Run(["P", "A", node("D", "P"), "Z"], [edge("A>D", "blocked")])
    run.run("P")
    run.start("A")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "DEP-007",
        "the latch is set, and the edge does not come",
        refused(past.plus(ended("A", 2), _RELEASED)),
        *brings(past, ended("A", 2), closed("D")),
        *brings(past, ended("A", 2, "blocked"), fired(0, "A", at)),
    )


# DEP-008


def outcomes_are_pinned() -> Iterator[Scenario]:
    """DEP-008."""
    again = edge("P>P", {"field": "again", "equals": 1})
    nodes: list[str | Document] = [node("P", outputs=["x"]), node("D", "P", **_NEEDS_X), "Z"]
    for name, first, second, x in (
        ("a value, then another one", {"x": 1, "again": 1}, {"x": 2}, 1),
        ("a value, then none", {"x": 1, "again": 1}, {}, 1),
        ("none, then a value", {"again": 1}, {"x": 2}, None),
    ):
        run = Run(nodes, [again], initial_nodes=["P", "Z"])
        run.run("P", output=first)
        run.run("P", output=second)
        yield scenario(
            "DEP-008",
            f"what a prerequisite gives is pinned before its second turn: {name}",
            *_given(run, 3, x),
        )
        if x is not None:
            run = Run(nodes, [again], initial_nodes=["P", "Z"])
            run.run("P", output=first)
            run.start("D")
            run.run("P", output=second)
            run.end("D", "retryable_failure")
            yield scenario(
                "DEP-008",
                f"what a prerequisite gives is the same in each attempt: {name}",
                *_given(run, 4, x, nth=2),
            )
    edges: list[str | Document] = ["T>D", "Y>D", again]
    for name, first, second, x in (
        ("a value, then none", {"x": 1, "again": 1}, {}, 1),
        ("none, then a value", {"again": 1}, {"x": 2}, None),
    ):
        run = Run([*nodes, "T", "Y"], edges, initial_nodes=["P", "T", "Y", "Z"])
        run.run("P", output=first)
        run.run("P", output=second)
        run.run("T")
        yield scenario(
            "DEP-008",
            f"what a prerequisite gives is pinned when the latch is set, not when an edge comes: {name}",
            *_given(run, 4, x),
        )
        run = Run([*nodes, "T", "Y"], edges, initial_nodes=["P", "T", "Y", "Z"])
        run.run("P", output=first)
        run.run("T")
        run.start("D")
        if x is not None:
            run.end("D", "blocked")
        run.run("P", output=second)
        run.run("Y")
        yield scenario(
            "DEP-008",
            f"what a prerequisite gives is the same in each activation: {name}",
            *_given(run, 6, x),
        )


def what_is_pinned_is_the_last_outcome() -> Iterator[Scenario]:
    """DEP-008."""
    nodes: list[str | Document] = [node("P", outputs=["x"]), "Q", "T", node("D", "P", "Q", **_NEEDS_X), "Z"]
    run = Run(nodes, ["T>P"], initial_nodes=["P", "Q", "T", "Z"])
    run.run("P", output={"x": 1})
    run.run("T")
    run.run("P", output={"x": 2})
    run.run("Q")
    yield scenario(
        "DEP-008",
        "a prerequisite had a second turn before the latch is set",
        *_given(run, 5, 2),
    )
    run = Run(nodes, ["T>P"], initial_nodes=["P", "Q", "T", "Z"])
    run.run("P", output={"x": 1})
    run.run("T")
    run.run("P", output={})
    run.run("Q")
    yield scenario(
        "DEP-008",
        "a prerequisite had a second turn without a value before the latch is set",
        *_given(run, 5, None),
    )
    nodes = [node("P", outputs=["x"]), "Q", _any_succeeded("D", "P", "Q", **_NEEDS_X), "Z"]
    run = Run(nodes)
    run.run("Q")
    run.run("P", output={"x": 1})
    yield scenario(
        "DEP-008",
        "a prerequisite had no outcome when the latch was set",
        *_given(run, 3, None),
    )
    run = Run(nodes)
    run.run("P", output={"x": 1})
    run.run("Q")
    yield scenario(
        "DEP-008",
        "the other prerequisite had no outcome when the latch was set",
        *_given(run, 3, 1),
    )
    run = Run(
        [node("P", outputs=["x"]), "F", _all_completed("D", "P", **_NEEDS_X), "Z"],
        [edge("P>F", "permanent_failure"), "F>P"],
        initial_nodes=["P", "Z"],
    )
    run.run("P", "permanent_failure")
    run.run("F")
    run.run("P", output={"x": 1})
    yield scenario(
        "DEP-008",
        "a failure is pinned, and a later success does not change it",
        *_given(run, 4, None),
    )
    run = Run([node("P", outputs=["x"]), node("D", "P", **_NEEDS_X), "Z"])
    run.start("P")
    past = run.past
    yield scenario(
        "DEP-008",
        "the outcome is pinned that satisfied the policy",
        accepted(past, {"/nodes/D/released": None}),
        *brings(past, ended("P", 1), _RELEASED, state={"/nodes/D/released": {"P": len(past) + 1}}),
    )


# DEP-009


def one_end_ends_no_other() -> Iterator[Scenario]:
    """DEP-009."""
    for kind, result in (("permanent_failure", "failed"), ("blocked", "blocked"), ("cancelled", "cancelled")):
        for version in (2, 5):
            run = Run(["A", "B", "R", node("C", "B"), "Z"], version=version)
            run.start("A")
            run.start("B")
            past = run.past
            more = past + ended("A", 1, kind)
            told = {"/status": "running", "/nodes/B/status": "running", "/nodes/R/status": "ready"}
            yield scenario(
                "DEP-009",
                f"a node ends with {kind} in version {version}, and the others go on",
                refused(more + run_is(result)),
                refused(more + closed("B", "cancelled")),
                refused(more + closed("R", "cancelled")),
                refused(more + closed("C")),
                accepted(more, told),
                accepted(more + started("R", 3)),
                unfinished(more + ended("B", 2)),
                accepted(more.plus(ended("B", 2), ready("C", "dependencies"))),
                accepted(more.plus(ended("B", 2), ready("C", "dependencies"), started("C", 3))),
            )
    run = Run(["A", "B", node("D", "A"), node("C", "B"), "Z"])
    run.start("A")
    past = run.past
    yield scenario(
        "DEP-009",
        "what waits for a failed node is closed, and what does not wait for it is not",
        refused(past.plus(ended("A", 1, "permanent_failure"), closed("D"), closed("C"))),
        refused(past.plus(ended("A", 1, "permanent_failure"), closed("C"))),
        *brings(past, ended("A", 1, "permanent_failure"), closed("D")),
        *brings(
            past.plus(ended("A", 1, "permanent_failure"), closed("D"), started("B", 2)),
            ended("B", 2),
            ready("C", "dependencies"),
        ),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    all_have_succeeded,
    all_have_ended,
    who_asks_for_changes_has_not_ended,
    one_has_succeeded,
    a_policy_is_judged_before_edges_fire,
    an_earlier_success_does_not_count,
    a_policy_is_judged_at_closures_and_terminations,
    a_latch_stays_set,
    a_latch_waits_for_an_edge,
    a_node_without_edges_is_released_once,
    a_node_with_edges_is_begun_by_an_edge,
    outcomes_are_pinned,
    what_is_pinned_is_the_last_outcome,
    one_end_ends_no_other,
)
