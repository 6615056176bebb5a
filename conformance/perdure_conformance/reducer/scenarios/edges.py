"""Edges that fire: EDG-008 to EDG-010.

A node Z that is ready, with edges to others, keeps a run and those others from ending.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure_conformance.reducer.histories import (
    Fact,
    Value,
    advanced,
    attempt,
    closed,
    edge,
    ended,
    fact,
    field,
    fired,
    node,
    released,
    retry,
    run_is,
    started,
    terminated,
)
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.batches import brings, outcome_of_one_attempt
from perdure_conformance.reducer.scenarios.scenario import Scenario, accepted, refused, scenario, unfinished

_KINDS: Final = ("succeeded", "changes_requested", "retryable_failure", "permanent_failure", "blocked", "cancelled")
_ONCE: Final[Fact] = {"max_attempts": 1}
_LATER: Final[Fact] = {"max_attempts": 2, "backoff": {"kind": "fixed", "delay_ms": 10}}
_EXPIRING: Final[Fact] = {"max_attempts": 1, "attempt_deadline_ms": 5}
_USED_UP: Final[Fact] = {"reason": "attempts_exhausted", "limit": 1, "usage": 1}
_ARTIFACT: Final[Fact] = {"artifact_id": "00000000-0000-7000-8000-000000000001", "byte_length": 1, "sha256": "0" * 64}
_EQUAL: Final[tuple[tuple[Value, Value], ...]] = (
    (1, 1),
    (1, 1.0),
    (0, -0.0),
    (0.5, 0.5),
    (0, 0),
    (True, True),
    (False, False),
    (None, None),
    ("", ""),
    ("go", "go"),
)
_UNEQUAL: Final[tuple[tuple[Value, Value], ...]] = (
    (1, True),
    (True, 1),
    (0, False),
    (False, 0),
    (1, 2),
    (1, "1"),
    ("1", 1),
    (None, False),
    (None, 0),
    (None, ""),
    (False, None),
    (True, "true"),
    ("go", "Go"),
    ("go", "go "),
    ("go", ["go"]),
    ("\u00e9", "e\u0301"),
)


def _cancellation(*targets: tuple[str, int]) -> Fact:
    active = [{"node": name, "attempt_id": attempt(number)} for name, number in targets]
    common = {"requester": "somebody", "reason": "enough", "now_ms": 0, "policy": "cascade"}
    return fact("CancellationRequested", **common, targets=active)


# EDG-008


def edges_fire_that_match() -> Iterator[Scenario]:
    """EDG-008."""
    run = Run("ABCZ", [edge("A>B", "succeeded"), edge("A>C", "permanent_failure"), "Z>B", "Z>C"])
    run.start("A")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-008",
        "one edge matches, and another does not",
        refused(past.plus(ended("A", 1), fired(1, "A", at))),
        refused(past.plus(ended("A", 1), fired(0, "A", at), fired(1, "A", at))),
        refused(past.plus(ended("A", 1), fired(0, "A", at), fired(0, "A", at))),
        unfinished(past + ended("A", 1)),
        *brings(past, ended("A", 1), fired(0, "A", at)),
        *brings(past, ended("A", 1, "permanent_failure"), fired(1, "A", at)),
    )
    yield scenario(
        "EDG-008",
        "no edge matches",
        refused(past.plus(ended("A", 1, "blocked"), fired(0, "A", at))),
        refused(past.plus(ended("A", 1, "blocked"), fired(1, "A", at))),
        *brings(past, ended("A", 1, "blocked")),
    )
    yield scenario(
        "EDG-008",
        "an edge does not fire when its source starts",
        refused(past + fired(0, "A", len(past))),
        refused(run.past.until(-1) + fired(0, "A", len(past) - 1)),
        accepted(past),
    )
    yield scenario(
        "EDG-008",
        "an edge does not fire at the outcome of another node",
        refused(past.plus(started("Z", 2), ended("Z", 2), fired(0, "A", at + 1))),
        *brings(past + started("Z", 2), ended("Z", 2), fired(2, "Z", at + 1), fired(3, "Z", at + 1)),
    )


def edges_fire_in_their_order() -> Iterator[Scenario]:
    """EDG-008."""
    run = Run("ABCD", ["A>D", "A>B", edge("A>C", "blocked"), "A>C"])
    run.start("A")
    past, at = run.past, len(run.past) + 1
    fires = {position: fired(position, "A", at) for position in range(4)}
    yield scenario(
        "EDG-008",
        "edges that match fire in their own order, whatever that of their targets",
        refused(past.plus(ended("A", 1), fires[1])),
        refused(past.plus(ended("A", 1), fires[3])),
        refused(past.plus(ended("A", 1), fires[0], fires[3])),
        unfinished(past.plus(ended("A", 1), fires[0])),
        unfinished(past.plus(ended("A", 1), fires[0], fires[1])),
        *brings(past, ended("A", 1), fires[0], fires[1], fires[3]),
        *brings(past, ended("A", 1, "blocked"), *fires.values()),
    )
    run = Run("ABCDZ", [edge("A>B", field("go", 1), mode="exclusive"), edge("A>C", field("go", 2), mode="exclusive"),
                        "A>D", "Z>B", "Z>C"])  # fmt: skip
    run.start("A")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-008",
        "an exclusive edge and a parallel one",
        refused(past.plus(ended("A", 1, output={"go": 2}), fired(0, "A", at))),
        unfinished(past.plus(ended("A", 1, output={"go": 2}), fired(1, "A", at))),
        *brings(past, ended("A", 1, output={"go": 2}), fired(1, "A", at), fired(2, "A", at)),
        *brings(past, ended("A", 1, output={"go": 3}), fired(2, "A", at)),
    )
    run = Run("ABZ", ["A>B", "A>B"])
    run.start("A")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-008",
        "two equal edges fire both",
        unfinished(past.plus(ended("A", 1), fired(0, "A", at))),
        *brings(past, ended("A", 1), fired(0, "A", at), fired(1, "A", at), state={"/nodes/B/activations": 2}),
    )


def each_kind_matches_itself() -> Iterator[Scenario]:
    """EDG-008."""
    edges: list[Value] = [*(edge("A>B", kind) for kind in _KINDS), "Z>A", "Z>B"]
    run = Run([node("A", retry=_ONCE), "B", "Z"], edges, initial_nodes=["A", "Z"])
    to_any = Run([node("A", retry=_ONCE), "B", "Z"], ["A>B", "Z>A", "Z>B"], initial_nodes=["A", "Z"])
    run.start("A")
    to_any.start("A")
    at = len(run.past) + 1
    for position, kind in enumerate(_KINDS):
        outcomes = outcome_of_one_attempt("A", 1, kind)
        other = fired((position + 1) % len(_KINDS), "A", at)
        yield scenario(
            "EDG-008",
            f"an edge for each kind, and one for any: {kind}",
            refused(run.past.plus(*outcomes, other)),
            *brings(run.past, *outcomes, fired(position, "A", at)),
            *brings(to_any.past, *outcomes, fired(0, "A", at)),
        )


def fields_match_equal_scalars() -> Iterator[Scenario]:
    """EDG-008."""
    for wanted, given, matches in (*((*pair, True) for pair in _EQUAL), *((*pair, False) for pair in _UNEQUAL)):
        run = Run("ABZ", [edge("A>B", field("f", wanted)), "Z>B"])
        run.start("A")
        past, at = run.past, len(run.past) + 1
        has_it, has_another = ended("A", 1, output={"f": given}), ended("A", 1, output={"g": given})
        right = (fired(0, "A", at),) if matches else ()
        yield scenario(
            "EDG-008",
            f"a field equals {wanted!r}, and is {given!a}",
            unfinished(past + has_it) if matches else refused(past.plus(has_it, fired(0, "A", at))),
            *brings(past, has_it, *right),
            *brings(past, has_another),
        )


def fields_are_of_inline_objects() -> Iterator[Scenario]:
    """EDG-008."""
    run = Run("ABZ", [edge("A>B", field("f", 1)), "Z>A", "Z>B"], initial_nodes=["A", "Z"])
    run.start("A")
    past, at = run.past, len(run.past) + 1
    for name, output in (
        ("deeper", {"d": {"f": 1}}),
        ("of an item", [{"f": 1}]),
        ("in a string", '{"f":1}'),
        ("and there is no output", None),
    ):
        yield scenario(
            "EDG-008",
            f"a field that is looked for is not at the top of an object: {name}",
            refused(past.plus(ended("A", 1, output=output), fired(0, "A", at))),
            *brings(past, ended("A", 1, output=output)),
            *brings(past, ended("A", 1, output={"f": 1}), fired(0, "A", at)),
        )
    elsewhere = fact(
        "NodeOutcomeCommitted", node="A", attempt_id=attempt(1), outcome={"kind": "succeeded", "artifact": _ARTIFACT}
    )
    yield scenario(
        "EDG-008",
        "a field of an output that is kept elsewhere",
        refused(past.plus(elsewhere, fired(0, "A", at))),
        *brings(past, elsewhere),
        *brings(past, ended("A", 1, "changes_requested", {"f": 1}), fired(0, "A", at)),
    )


def edges_look_at_this_outcome_alone() -> Iterator[Scenario]:
    """EDG-008."""
    run = Run(
        [node("A", outputs=["verdict"]), "B", "Z"],
        [edge("A>A", field("verdict", "redo")), edge("A>B", field("verdict", "approve")), "Z>B"],
        initial_nodes=["A", "Z"],
    )
    run.run("A", output={"verdict": "redo"})
    run.run("A", output={"verdict": "redo"})
    run.start("A")
    past, at = run.past, len(run.past) + 1
    approved = ended("A", 3, output={"verdict": "approve"})
    yield scenario(
        "EDG-008",
        "a gate that says redo, redo, approve",
        refused(past.plus(approved, fired(0, "A", at))),
        refused(past.plus(approved, fired(1, "A", at), fired(0, "A", at))),
        *brings(past, approved, fired(1, "A", at)),
        *brings(past, ended("A", 3, output={"verdict": "redo"}), fired(0, "A", at)),
        *brings(past, ended("A", 3)),
    )
    run = Run("ABCZ", ["A>B", edge("B>C", field("go", 1)), "Z>C"])
    run.run("A", output={"go": 1})
    run.start("B")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-008",
        "the output of the node before is not looked at",
        refused(past.plus(ended("B", 2), fired(1, "B", at))),
        *brings(past, ended("B", 2)),
        *brings(past, ended("B", 2, output={"go": 1}), fired(1, "B", at)),
    )


def edges_wait_for_the_ending_outcome() -> Iterator[Scenario]:
    """EDG-008."""
    edges: list[Value] = [edge("A>B", "retryable_failure"), edge("A>C"), "Z>B", "Z>C"]
    run = Run(["A", "B", "C", "Z"], edges)
    run.start("A")
    past, at = run.past, len(run.past) + 1
    failure, again = ended("A", 1, "retryable_failure"), (retry("A", 2, 0), released("A", 2))
    yield scenario(
        "EDG-008",
        "an outcome that is retried at once fires none",
        refused(past.plus(failure, fired(0, "A", at))),
        refused(past.plus(failure, *again, fired(0, "A", at))),
        refused(past.plus(failure, *again, fired(1, "A", at))),
        *brings(past, failure, *again),
    )
    run.end("A", "retryable_failure")
    run.start("A")
    past, later = run.past, len(run.past) + 1
    yield scenario(
        "EDG-008",
        "the edges of an activation are evaluated once, at its last outcome",
        refused(past.plus(ended("A", 2), fired(0, "A", at))),
        refused(past.plus(ended("A", 2), fired(1, "A", later), fired(1, "A", at))),
        *brings(past, ended("A", 2), fired(1, "A", later)),
    )
    run = Run([node("A", retry=_LATER), "B", "C", "Z"], edges)
    run.start("A")
    past = run.past
    yield scenario(
        "EDG-008",
        "an outcome that is retried later fires none, then or when the retry is released",
        refused(past.plus(failure, retry("A", 2, 10), fired(0, "A", at))),
        *brings(past, failure, retry("A", 2, 10)),
        refused(past.plus(failure, retry("A", 2, 10), advanced(10), released("A", 2), fired(0, "A", at))),
        *brings(past.plus(failure, retry("A", 2, 10)), advanced(10), released("A", 2)),
    )
    run = Run([node("A", retry={"classes": ["permanent_failure"]}), "B", "Z"], ["A>B", "Z>B"])
    run.start("A")
    past, failure = run.past, ended("A", 1, "permanent_failure")
    yield scenario(
        "EDG-008",
        "a permanent failure that is retried fires none",
        refused(past.plus(failure, fired(0, "A", at))),
        *brings(past, failure, *again),
    )
    run = Run("ABCZ", ["A>B", "B>A", edge("B>C", "succeeded"), "Z>C"], initial_nodes=["A", "Z"])
    run.run("A")
    run.run("B", "blocked")
    run.run("A")
    run.start("B")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-008",
        "the edges of each activation are evaluated",
        unfinished(past + ended("B", 4)),
        unfinished(past.plus(ended("B", 4), fired(1, "B", at))),
        *brings(past, ended("B", 4), fired(1, "B", at), fired(2, "B", at)),
        *brings(past, ended("B", 4, "cancelled"), fired(1, "B", at)),
    )


def outcomes_of_the_kernel_fire_edges() -> Iterator[Scenario]:
    """EDG-008."""
    run = Run([node("A", retry=_EXPIRING), "B", "Z"], [edge("A>B", "retryable_failure"), "Z>B"])
    run.start("A")
    past, at = run.past, len(run.past) + 3
    expiry = (
        advanced(5),
        fact("AttemptDeadlineExpired", node="A", attempt_id=attempt(1), deadline_ms=5),
        *outcome_of_one_attempt("A", 1, "retryable_failure"),
    )
    yield scenario(
        "EDG-008",
        "an attempt that expires, and is the last one, fires edges",
        unfinished(past.plus(*expiry)),
        *brings(past, *expiry, fired(0, "A", at)),
    )
    mapping = {"x": {"node": "Y", "output": "x"}}
    run = Run([node("Y", outputs=["x"]), node("A", input_mapping=mapping), "B", "Z"],
              ["Y>A", edge("A>B", "permanent_failure"), "Z>B"])  # fmt: skip
    run.run("Y", output={})
    past, at = run.past, len(run.past) + 2
    missing = (started("A", 2), ended("A", 2, "permanent_failure"))
    yield scenario(
        "EDG-008",
        "an attempt that lacks an input fires edges",
        unfinished(past.plus(*missing)),
        *brings(past, *missing, fired(1, "A", at)),
    )


def closures_and_cascades_fire_none() -> Iterator[Scenario]:
    """EDG-008."""
    run = Run(["A", node("D", "A"), "E", "Z"], ["D>E", "Z>E"])
    run.start("A")
    past = run.past
    for kind, closing in (("blocked", "blocked"), ("cancelled", "cancelled"), ("permanent_failure", "skipped")):
        batch = (ended("A", 1, kind), closed("D", closing))
        yield scenario(
            "EDG-008",
            f"a node that is closed with {closing} fires no edge",
            refused(past.plus(*batch, fired(0, "D", len(past) + 2))),
            *brings(past, *batch),
        )
    run = Run("ASEZ", [edge("A>S", "blocked"), "S>E", "Z>E"])
    run.start("A")
    past = run.past
    yield scenario(
        "EDG-008",
        "a node that is skipped for want of an edge fires none",
        refused(past.plus(ended("A", 1), closed("S"), fired(1, "S", len(past) + 2))),
        *brings(past, ended("A", 1), closed("S")),
        *brings(past, ended("A", 1, "blocked"), fired(0, "A", len(past) + 1)),
    )
    run = Run("ABZ", [edge("A>B", "cancelled"), "Z>B"])
    run.start("A")
    past, at = run.past, len(run.past) + 2
    begun = past.plus(_cancellation(("A", 1)), ended("A", 1, "cancelled"))
    rest = (closed("B", "cancelled"), closed("Z", "cancelled"), run_is("cancelled"))
    yield scenario(
        "EDG-008",
        "a node that is cancelled with its run fires none, one that is cancelled by itself does",
        refused(begun + fired(0, "A", at)),
        accepted(begun.plus(*rest)),
        *brings(past, ended("A", 1, "cancelled"), fired(0, "A", at - 1)),
    )
    run = Run("ABCZ", [edge("A>B", "changes_requested"), edge("A>C", "permanent_failure"), "Z>C"])
    run.start("A")
    past, at = run.past, len(run.past) + 1
    ending = (ended("A", 1, "changes_requested"), fired(0, "A", at), terminated("A"))
    yield scenario(
        "EDG-008",
        "a node that is terminated fires none again",
        refused(past.plus(*ending, fired(1, "A", at))),
        refused(past.plus(*ending, fired(1, "A", at + 2))),
        refused(past.plus(*ending, fired(0, "A", at + 2))),
        *brings(past, *ending),
    )


# EDG-009


def edges_match_the_outcome_as_committed() -> Iterator[Scenario]:
    """EDG-009."""
    edges: list[Value] = [
        edge("A>B", "retryable_failure"),
        edge("A>C", "permanent_failure"),
        edge("A>D", "changes_requested"),
        "Z>B",
        "Z>C",
        "Z>D",
    ]
    both = {"max_attempts": 1, "classes": ["permanent_failure"]}
    run = Run([node("A", retry=both), "B", "C", "D", "Z"], edges)
    run.start("A")
    past, at = run.past, len(run.past) + 1
    for kind, position, other in (("retryable_failure", 0, 1), ("permanent_failure", 1, 0)):
        batch = (ended("A", 1, kind), terminated("A", **_USED_UP))
        yield scenario(
            "EDG-009",
            f"a {kind} whose attempts are used up is matched as what it is",
            refused(past.plus(*batch, fired(other, "A", at))),
            refused(past.plus(*batch, fired(position, "A", at), fired(1, "A", at))),
            unfinished(past.plus(*batch)),
            *brings(past, *batch, fired(position, "A", at)),
        )
    run = Run(["A", "B", "C", "D", "Z"], edges)
    for _ in range(2):
        run.run("A", "retryable_failure")
    run.start("A")
    past, at = run.past, len(run.past) + 1
    batch = (ended("A", 3, "retryable_failure"), terminated("A", reason="attempts_exhausted", limit=3, usage=3))
    yield scenario(
        "EDG-009",
        "the third failure of three is matched as a retryable one",
        refused(past.plus(*batch, fired(1, "A", at))),
        *brings(past, *batch, fired(0, "A", at)),
        *brings(past, ended("A", 3, "permanent_failure"), fired(1, "A", at)),
    )
    asked = (ended("A", 3, "changes_requested"), fired(2, "A", at), terminated("A"))
    yield scenario(
        "EDG-009",
        "a request for changes that nothing answers is matched as one, not as a failure",
        refused(past.plus(ended("A", 3, "changes_requested"), fired(1, "A", at))),
        refused(past.plus(ended("A", 3, "changes_requested"), terminated("A"))),
        *brings(past, *asked),
    )


# EDG-010


def a_transition_tells_where_it_comes_from() -> Iterator[Scenario]:
    """EDG-010."""
    run = Run("ABCZ", ["A>B", "Z>C"])
    run.run("Z")
    run.start("A")
    past, at = run.past, len(run.past) + 1
    right = past.plus(ended("A", 2), fired(0, "A", at))
    yield scenario(
        "EDG-010",
        "the position of an edge, its source, and the sequence of the outcome",
        refused(right.but(-1, edge=1)),
        refused(right.but(-1, edge=2)),
        refused(right.but(-1, edge=1, source="Z")),
        refused(right.but(-1, source="B")),
        refused(right.but(-1, source="Z")),
        refused(right.but(-1, source="nobody")),
        refused(right.but(-1, source_sequence=at - 1)),
        refused(right.but(-1, source_sequence=at + 1)),
        refused(right.but(-1, source_sequence=1)),
        accepted(right),
    )
    run = Run("ABZ", ["A>B", "A>B", "Z>A"], initial_nodes=["A", "Z"])
    run.run("A", "cancelled")
    first = len(run.past) - 2
    run.run("Z")
    run.start("A")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-010",
        "the outcome is that of this activation, and each edge has its own position",
        refused(past.plus(ended("A", 3, "cancelled"), fired(0, "A", first))),
        refused(past.plus(ended("A", 3, "cancelled"), fired(0, "A", at), fired(0, "A", at))),
        refused(past.plus(ended("A", 3, "cancelled"), fired(0, "A", at), fired(1, "A", at + 1))),
        accepted(past.plus(ended("A", 3, "cancelled"), fired(0, "A", at), fired(1, "A", at))),
    )
    run = Run([node("A", retry=_ONCE), "B", "Z"], ["A>B"])
    run.start("A")
    past, at = run.past, len(run.past) + 1
    batch = tuple(outcome_of_one_attempt("A", 1, "retryable_failure"))
    yield scenario(
        "EDG-010",
        "the outcome of a terminated node is its outcome, not its termination",
        refused(past.plus(*batch, fired(0, "A", at + 1))),
        accepted(past.plus(*batch, fired(0, "A", at))),
    )
    run = Run([node("A", retry=_EXPIRING), node("B", retry=_EXPIRING), "C", "D", "Z"], ["A>C", "B>D"])
    run.start("A")
    run.start("B")
    past, at = run.past, len(run.past)

    def expiry(name: str, number: int) -> list[Fact]:
        fact_of_it = fact("AttemptDeadlineExpired", node=name, attempt_id=attempt(number), deadline_ms=5)
        return [fact_of_it, *outcome_of_one_attempt(name, number, "retryable_failure")]

    yield scenario(
        "EDG-010",
        "two outcomes in one batch: each edge follows its own",
        refused(past.plus(advanced(5), *expiry("A", 1), fired(0, "A", at + 3), *expiry("B", 2), fired(1, "B", at + 3))),
        *brings(past, advanced(5), *expiry("A", 1), fired(0, "A", at + 3), *expiry("B", 2), fired(1, "B", at + 7)),
    )
    run = Run([node("A", child={"workflow": "sub@1", "policy": "propagate"}), "B", "Z"], ["A>B"],
              children={"sub@1": {"nodes": [node("x")]}})  # fmt: skip
    run.start("A")
    run.child_ends("A")
    yield scenario(
        "EDG-010",
        "the outcome of a child's node is its own, not the end of the child run",
        refused(run.past.but(-1, source_sequence=len(run.past) - 2)),
        accepted(run.past.but(-1, source_sequence=len(run.past) - 1)),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    edges_fire_that_match,
    edges_fire_in_their_order,
    each_kind_matches_itself,
    fields_match_equal_scalars,
    fields_are_of_inline_objects,
    edges_look_at_this_outcome_alone,
    edges_wait_for_the_ending_outcome,
    outcomes_of_the_kernel_fire_edges,
    closures_and_cascades_fire_none,
    edges_match_the_outcome_as_committed,
    a_transition_tells_where_it_comes_from,
)
