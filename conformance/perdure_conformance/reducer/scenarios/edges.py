"""Edges: EDG-008 to EDG-017.

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

_KINDS: Final = ("succeeded", "changes_requested", "retryable_failure", "permanent_failure", "blocked", "cancelled")
_ONCE: Final[Fact] = {"max_attempts": 1}
_LATER: Final[Fact] = {"max_attempts": 2, "backoff": {"kind": "fixed", "delay_ms": 10}}
_EXPIRING: Final[Fact] = {"max_attempts": 1, "attempt_deadline_ms": 5}
_USED_UP: Final[Fact] = {"reason": "attempts_exhausted", "limit": 1, "usage": 1}
_ARTIFACT: Final[Fact] = {"artifact_id": "00000000-0000-7000-8000-000000000001", "byte_length": 1, "sha256": "0" * 64}


def _field(name: str, equals: Value) -> Fact:
    return {"field": name, "equals": equals}


def _queue(*brought: tuple[int, int]) -> Value:
    """Return a queue as it is told: activations by an edge, each with the sequence of the outcome that it follows."""
    return tuple({"edge": position, "source_sequence": sequence} for position, sequence in brought) or None


def _outcome_of_one_attempt(name: str, number: int, kind: str) -> list[Fact]:
    """Return how an attempt ends that is the only one of its activation."""
    used_up = [terminated(name, **_USED_UP)] if kind == "retryable_failure" else []
    return [ended(name, number, kind), *used_up]


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
    run = Run("ABCDZ", [edge("A>B", _field("go", 1), mode="exclusive"), edge("A>C", _field("go", 2), mode="exclusive"),
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
        outcomes = _outcome_of_one_attempt("A", 1, kind)
        other = fired((position + 1) % len(_KINDS), "A", at)
        yield scenario(
            "EDG-008",
            f"an edge for each kind, and one for any: {kind}",
            refused(run.past.plus(*outcomes, other)),
            *brings(run.past, *outcomes, fired(position, "A", at)),
            *brings(to_any.past, *outcomes, fired(0, "A", at)),
        )


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


def fields_match_equal_scalars() -> Iterator[Scenario]:
    """EDG-008."""
    for wanted, given, matches in (*((*pair, True) for pair in _EQUAL), *((*pair, False) for pair in _UNEQUAL)):
        run = Run("ABZ", [edge("A>B", _field("f", wanted)), "Z>B"])
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
    run = Run("ABZ", [edge("A>B", _field("f", 1)), "Z>A", "Z>B"], initial_nodes=["A", "Z"])
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
        [edge("A>A", _field("verdict", "redo")), edge("A>B", _field("verdict", "approve")), "Z>B"],
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
    run = Run("ABCZ", ["A>B", edge("B>C", _field("go", 1)), "Z>C"])
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
        *_outcome_of_one_attempt("A", 1, "retryable_failure"),
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
    batch = tuple(_outcome_of_one_attempt("A", 1, "retryable_failure"))
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
        return [fact_of_it, *_outcome_of_one_attempt(name, number, "retryable_failure")]

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


# EDG-011


def an_edge_makes_its_target_ready() -> Iterator[Scenario]:
    """EDG-011."""
    run = Run("ABZ", ["A>B"])
    run.start("A")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-011",
        "a pending target is ready at once",
        refused(past.plus(ended("A", 1), fired(0, "A", at), ready("B", "queued"))),
        refused(past.plus(ended("A", 1), fired(0, "A", at), ready("B", "dependencies"))),
        *brings(past, ended("A", 1), fired(0, "A", at), state={"/nodes/B/status": "ready", "/nodes/B/queue": None}),
        accepted(past.plus(ended("A", 1), fired(0, "A", at), started("B", 2))),
    )
    run = Run("ABZ", ["A>B", "B>A"], initial_nodes=["A", "Z"])
    run.run("A", "changes_requested")
    run.start("B")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-011",
        "a target that asked for changes is ready at once",
        refused(past.plus(ended("B", 2), fired(1, "B", at), ready("A", "queued"))),
        *brings(past, ended("B", 2), fired(1, "B", at), state={"/nodes/A/status": "ready", "/nodes/A/queue": None}),
        accepted(past.plus(ended("B", 2), fired(1, "B", at), started("A", 3))),
    )
    run = Run(["P", node("D", "P"), "Z"], ["P>D"])
    run.start("P")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-011",
        "a latch is set before the edges of the same outcome fire",
        refused(past.plus(ended("P", 1), fired(0, "P", at), ready("D", "queued"))),
        *brings(past, ended("P", 1), fired(0, "P", at), state={"/nodes/D/status": "ready", "/nodes/D/queue": None}),
        accepted(past.plus(ended("P", 1), fired(0, "P", at), started("D", 2))),
    )


def an_activation_is_queued() -> Iterator[Scenario]:
    """EDG-011."""
    for status in ("ready", "running", "waiting", "retry_pending"):
        run = Run([node("M", retry=_LATER, signals=["go"]), "A", "Z"], ["A>M"], initial_nodes=["M", "A", "Z"])
        run.start("A")
        if status != "ready":
            run.start("M")
        if status == "waiting":
            run.wait("M", "go")
        if status == "retry_pending":
            run.end("M", "retryable_failure")
        past, at = run.past, len(run.past) + 1
        run.end("A")
        if status == "waiting":
            run.accept("M", "go")
        if status == "retry_pending":
            run.advance(10)
        if status in {"ready", "retry_pending"}:
            run.start("M")
        number = 2 if status in {"running", "waiting", "ready"} else 3
        told = {"/nodes/M/status": status, "/nodes/M/queue": _queue((0, at)), "/nodes/M/activations": 2}
        sides = [] if status == "ready" else [refused(past.plus(ended("A", 1), fired(0, "A", at), started("M", 9)))]
        yield scenario(
            "EDG-011",
            f"a target that is {status} stays so, and begins anew when it has ended",
            *sides,
            refused(past.plus(ended("A", 1), fired(0, "A", at), ready("M", "queued"))),
            *brings(past, ended("A", 1), fired(0, "A", at), state=told),
            unfinished(run.past + ended("M", number)),
            *brings(run.past, ended("M", number), ready("M", "queued"), state={"/nodes/M/queue": None}),
        )
    run = Run(["P", "A", node("D", "P"), "Z"], ["A>D"])
    run.start("A")
    past, at = run.past, len(run.past) + 1
    told = {"/nodes/D/status": "pending", "/nodes/D/queue": _queue((0, at)), "/nodes/D/activations": 1}
    yield scenario(
        "EDG-011",
        "a target whose latch is not set stays pending",
        refused(past.plus(ended("A", 1), fired(0, "A", at), started("D", 2))),
        refused(past.plus(ended("A", 1), fired(0, "A", at), ready("D", "queued"))),
        *brings(past, ended("A", 1), fired(0, "A", at), state=told),
    )


def an_activation_goes_behind_those_queued() -> Iterator[Scenario]:
    """EDG-011."""
    run = Run(["P", "A", node("D", "P"), "Z"], ["A>D", "P>D"])
    run.run("A")
    run.start("P")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-011",
        "a latch is set while an activation is queued, and another one comes",
        unfinished(past.plus(ended("P", 2), fired(1, "P", at))),
        refused(past.plus(ended("P", 2), fired(1, "P", at), started("D", 3))),
        *brings(
            past, ended("P", 2), fired(1, "P", at), ready("D", "queued"), state={"/nodes/D/queue": _queue((1, at))}
        ),
    )
    run = Run("ABZ", ["B>A", edge("A>A", "succeeded")], initial_nodes=["A", "B", "Z"])
    run.start("A")
    run.run("B")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-011",
        "a node that activates itself stands behind what is queued",
        unfinished(past.plus(ended("A", 1), fired(1, "A", at))),
        refused(past.plus(ended("A", 1), fired(1, "A", at), started("A", 3))),
        *brings(
            past, ended("A", 1), fired(1, "A", at), ready("A", "queued"), state={"/nodes/A/queue": _queue((1, at))}
        ),
    )
    run = Run("ABZ", [edge("A>A", "succeeded")], initial_nodes=["A", "B", "Z"])
    run.start("A")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-011",
        "a node that activates itself with nothing queued is ready at once",
        refused(past.plus(ended("A", 1), fired(0, "A", at), ready("A", "queued"))),
        *brings(past, ended("A", 1), fired(0, "A", at), state={"/nodes/A/status": "ready"}),
        accepted(past.plus(ended("A", 1), fired(0, "A", at), started("A", 2))),
    )


# EDG-012


def queued_activations_begin_one_at_a_time() -> Iterator[Scenario]:
    """EDG-012."""
    run = Run("ABMZ", ["A>B", "A>M", "B>M"])
    run.run("A")
    run.start("M")
    run.start("B")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-012",
        "two ways into one node: it runs twice, one after the other",
        refused(past.plus(ended("B", 3), fired(2, "B", at), started("M", 4))),
        refused(past.plus(ended("B", 3), fired(2, "B", at), ended("M", 2), started("M", 4))),
        refused(past.plus(ended("B", 3), fired(2, "B", at), ended("M", 2), ready("M", "dependencies"))),
        *brings(past.plus(ended("B", 3), fired(2, "B", at)), ended("M", 2), ready("M", "queued")),
        accepted(past.plus(ended("B", 3), fired(2, "B", at), ended("M", 2), ready("M", "queued"), started("M", 4))),
        *brings(past.plus(ended("M", 2)), ended("B", 3), fired(2, "B", at + 1)),
    )
    run = Run("MABZ", ["A>M", "B>M"], initial_nodes=list("MABZ"))
    run.start("M")
    run.run("A")
    run.run("B")
    past = run.past
    told = {"/nodes/M/activation/edge": 0, "/nodes/M/queue": _queue((1, len(past) - 1))}
    yield scenario(
        "EDG-012",
        "two are queued: each has its turn",
        refused(past.plus(ended("M", 1), ready("M", "queued"), ready("M", "queued"))),
        *brings(past, ended("M", 1), ready("M", "queued"), state=told),
        *brings(past.plus(ended("M", 1), ready("M", "queued"), started("M", 4)), ended("M", 4), ready("M", "queued")),
        *brings(
            past.plus(ended("M", 1), ready("M", "queued"), started("M", 4), ended("M", 4), ready("M", "queued"))
            + started("M", 5),
            ended("M", 5),
        ),
    )
    for kind in _KINDS:
        run = Run([node("M", retry=_ONCE), "A", "Z"], ["A>M"], initial_nodes=list("MAZ"))
        run.start("M")
        run.run("A")
        past, batch = run.past, tuple(_outcome_of_one_attempt("M", 1, kind))
        yield scenario(
            "EDG-012",
            f"what is queued begins when the node has ended: {kind}",
            unfinished(past.plus(*batch)),
            *brings(past, *batch, ready("M", "queued"), state={"/nodes/M/status": "ready", "/nodes/M/attempts": None}),
        )
    run = Run([node("M", retry=_LATER), "A", "Z"], ["A>M"], initial_nodes=list("MAZ"))
    run.start("M")
    run.run("A")
    past, failure = run.past, ended("M", 1, "retryable_failure")
    yield scenario(
        "EDG-012",
        "what is queued waits for a retry",
        refused(past.plus(failure, ready("M", "queued"))),
        refused(past.plus(failure, retry("M", 2, 10), ready("M", "queued"))),
        *brings(past, failure, retry("M", 2, 10)),
        refused(past.plus(failure, retry("M", 2, 10), advanced(10), released("M", 2), ready("M", "queued"))),
        *brings(
            past.plus(failure, retry("M", 2, 10), advanced(10), released("M", 2), started("M", 3, 2)),
            ended("M", 3),
            ready("M", "queued"),
        ),
    )


def queued_activations_wait_for_the_latch() -> Iterator[Scenario]:
    """EDG-012."""
    run = Run(["A", "B", "P", "Q", node("D", "P", "Q"), "Z"], ["A>D", "B>D"])
    for each in "ABP":
        run.run(each)
    run.start("Q")
    past = run.past
    both = past.plus(ended("Q", 4), ready("D", "queued"))
    yield scenario(
        "EDG-012",
        "what is queued begins when the latch is set, one at a time",
        refused(past.until(-1) + ready("D", "queued")),
        unfinished(past + ended("Q", 4)),
        refused(past.plus(ended("Q", 4), ready("D", "dependencies"))),
        refused(both + ready("D", "queued")),
        *brings(past, ended("Q", 4), ready("D", "queued"), state={"/nodes/D/activation/edge": 0}),
        *brings(both + started("D", 5), ended("D", 5), ready("D", "queued")),
    )
    run = Run("MAZ", ["A>M"], initial_nodes=list("MAZ"))
    run.start("M")
    past = run.past
    yield scenario(
        "EDG-012",
        "nothing is queued, and nothing begins",
        refused(past.plus(ended("M", 1), ready("M", "queued"))),
        *brings(past, ended("M", 1)),
    )


def queued_activations_have_an_order() -> Iterator[Scenario]:
    """EDG-012."""
    mapping = {"x": {"node": "A", "output": "x"}}

    def begins(run: Run, *, x: int | None, more: bool = False) -> tuple[Side, ...]:
        """Say that the activation of M that has begun gives it a value, or lacks one, and so ends at once."""
        start = started("M", 9)
        if x is not None:
            return brings(run.past, start, state={"/nodes/M/active/input": {"x": x}})
        rest = (ready("M", "queued"),) if more else ()
        instead = refused(run.past.plus(start, ended("M", 9)))
        return instead, *brings(run.past, start, ended("M", 9, "permanent_failure"), *rest)

    # M is begun by G, when A has ended with x once, so that it has its input.
    nodes: list[Value] = [node("M", input_mapping=mapping), node("A", outputs=["x"]), "B", "G", "Z"]
    given: list[Value] = ["G>M", edge("A>A", "changes_requested")]

    def begun(*edges: Value) -> Run:
        run = Run(nodes, [*edges, *given], initial_nodes=["A", "B", "G", "Z"])
        run.run("A", "changes_requested", {"x": 0, "quiet": 1})
        run.run("G")
        run.start("M")
        return run

    loud = _field("loud", 1)
    run = begun(edge("A>M", loud), "B>M")
    run.run("A", "changes_requested", {"x": 1, "loud": 1})
    run.run("A", "changes_requested", {"loud": 1})
    run.end("M")
    yield scenario(
        "EDG-012",
        "two outcomes of one node are queued: the earlier goes first",
        *begins(run, x=1),
    )
    run.start("M")
    run.end("M")
    yield scenario(
        "EDG-012",
        "two outcomes of one node are queued: the later goes second",
        *begins(run, x=None),
    )
    run = begun("B>M", edge("A>M", loud))
    run.run("A", "changes_requested", {"loud": 1})
    run.run("A", output={"x": 2})
    run.run("B")
    run.end("M")
    yield scenario(
        "EDG-012",
        "the earlier outcome goes first, though its edge comes later in the document",
        *begins(run, x=None, more=True),
    )
    run = begun("B>M", edge("A>M", loud))
    run.run("B")
    run.run("A", "changes_requested", {"loud": 1})
    run.run("A", output={"x": 2})
    run.end("M")
    yield scenario(
        "EDG-012",
        "the earlier outcome goes first, and its edge comes first in the document",
        *begins(run, x=2),
    )
    run.start("M")
    run.end("M")
    yield scenario(
        "EDG-012",
        "the later outcome goes second, and brings what it was",
        *begins(run, x=None),
    )


def queued_activations_of_one_outcome_have_an_order() -> Iterator[Scenario]:
    """EDG-012."""
    run = Run("MABZ", ["B>M", "A>M", "A>B", "A>M"], initial_nodes=list("MABZ"))
    run.start("M")
    run.start("B")
    run.run("A")
    run.end("B")
    past = run.past
    first, second = len(past) - 6, len(past) - 2
    order = {"/nodes/M/queue": _queue((1, first), (3, first), (0, second))}
    later = {"/nodes/M/activation/edge": 1, "/nodes/M/queue": _queue((3, first), (0, second))}
    yield scenario(
        "EDG-012",
        "what is queued is ordered by outcome, then by edge",
        accepted(past, order),
        *brings(past, ended("M", 1), ready("M", "queued"), state=later),
    )


# EDG-013


def a_node_that_ended_is_activated_again() -> Iterator[Scenario]:
    """EDG-013."""
    for kind in _KINDS:
        run = Run([node("P", retry=_ONCE), "T", "Z"], ["T>P"], initial_nodes=list("PTZ"))
        run.run("P", kind)
        run.start("T")
        past, at = run.past, len(run.past) + 1
        again = past.plus(ended("T", 2), fired(0, "T", at))
        told = {"/nodes/P/status": "ready", "/nodes/P/attempts": None, "/nodes/P/activations": 2}
        yield scenario(
            "EDG-013",
            f"a node that ended with {kind} is activated again, with new attempts",
            unfinished(past + ended("T", 2)),
            *brings(past, ended("T", 2), fired(0, "T", at), state=told),
            refused(again + started("P", 3, 2)),
            refused(again + started("P", 1, 1)),
            accepted(again + started("P", 3, 1)),
        )
    run = Run(
        ["P", "S", node("D", "S", dependency_policy="all_completed")],
        [edge("P>S", "succeeded"), "D>P"],
        initial_nodes=["P"],
    )
    run.run("P", "changes_requested")
    run.start("D")
    past, at = run.past, len(run.past) + 1
    again = past.plus(ended("D", 2), fired(1, "D", at))
    yield scenario(
        "EDG-013",
        "a node that was terminated for want of a correction is activated again",
        unfinished(past + ended("D", 2)),
        *brings(past, ended("D", 2), fired(1, "D", at), state={"/nodes/P/status": "ready"}),
        accepted(again + started("P", 3)),
    )


def a_node_is_activated_as_often_as_it_comes() -> Iterator[Scenario]:
    """EDG-013."""
    run = Run("ABZ", [edge("A>B", "changes_requested"), edge("B>A", "succeeded")], initial_nodes=["A", "Z"])
    run.run("A", "changes_requested")
    run.start("B")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-013",
        "a correction leads back",
        unfinished(past + ended("B", 2)),
        refused(past.plus(ended("B", 2), terminated("A"))),
        *brings(past, ended("B", 2), fired(1, "B", at), state={"/nodes/A/status": "ready"}),
    )
    run.end("B")
    for _ in range(4):
        run.run("A", "changes_requested")
        run.run("B")
    run.run("A", "changes_requested")
    run.start("B")
    past, at = run.past, len(run.past) + 1
    told = {"/nodes/A/status": "ready", "/nodes/A/activations": 7, "/nodes/B/activations": 6}
    yield scenario(
        "EDG-013",
        "a correction loop goes round more often than a node has attempts",
        unfinished(past + ended("B", 12)),
        *brings(past, ended("B", 12), fired(1, "B", at), state=told),
        refused(past.plus(ended("B", 12), fired(1, "B", at), started("A", 13, 7))),
        accepted(past.plus(ended("B", 12), fired(1, "B", at), started("A", 13, 1))),
    )
    run = Run([node("P", retry={"max_attempts": 2}), "T", "Z"], ["T>P"], initial_nodes=list("PTZ"))
    run.run("P", "retryable_failure")
    run.run("P", "retryable_failure")
    run.run("T")
    run.start("P")
    past = run.past
    failure = ended("P", 4, "retryable_failure")
    used_up = terminated("P", reason="attempts_exhausted", limit=2, usage=2)
    yield scenario(
        "EDG-013",
        "a new activation has all its attempts again",
        refused(past.plus(failure, used_up)),
        *brings(past, failure, retry("P", 2, 0), released("P", 2)),
    )


# EDG-014


def no_edge_leads_into_a_closed_node() -> Iterator[Scenario]:
    """EDG-014."""
    for kind, closing in (("permanent_failure", "skipped"), ("blocked", "blocked"), ("cancelled", "cancelled")):
        run = Run(["X", "Y", node("M", "X"), "Z"], ["Y>M"])
        run.run("X", kind)
        run.start("Y")
        past, at = run.past, len(run.past) + 1
        told = {
            "/transitions_used": 3,
            "/nodes/M/status": closing,
            "/nodes/M/activations": None,
            "/nodes/M/queue": None,
        }
        yield scenario(
            "EDG-014",
            f"an edge into a node that was closed with {closing}",
            refused(past.plus(ended("Y", 2), fired(0, "Y", at))),
            *brings(past, ended("Y", 2), state=told),
        )
    run = Run(["X", "Y", node("M", "X")], ["Y>M"], budgets={"max_transitions": 2})
    run.run("X", "permanent_failure")
    run.start("Y")
    past = run.past
    exhausted = fact("BudgetExhausted", budget="transitions", limit=2, usage=2, last_outcome=len(past) + 1)
    yield scenario(
        "EDG-014",
        "an edge into a closed node is charged nowhere",
        refused(past.plus(ended("Y", 2), exhausted)),
        *brings(past, ended("Y", 2), run_is("failed")),
    )
    run = Run(
        ["P", "S", node("D", "S", dependency_policy="all_completed"), "Z"],
        [edge("P>S", "succeeded"), "D>P"],
        initial_nodes=["P", "Z"],
    )
    run.run("P", "blocked")
    run.run("D")
    run.start("P")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-014",
        "an edge into a node that was skipped for want of an edge",
        refused(past.plus(ended("P", 3), fired(0, "P", at))),
        *brings(past, ended("P", 3), state={"/nodes/S/status": "skipped", "/nodes/S/closed": True}),
    )
    run = Run(["X", "Y", node("M", "X"), "W", "Z"], ["Y>M", "Y>W"])
    run.run("X", "blocked")
    run.start("Y")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-014",
        "of two edges one leads into a closed node",
        refused(past.plus(ended("Y", 2), fired(0, "Y", at))),
        unfinished(past + ended("Y", 2)),
        *brings(past, ended("Y", 2), fired(1, "Y", at)),
    )
    run = Run("MYZ", ["Y>M"], initial_nodes=list("MYZ"))
    run.run("M", "blocked")
    run.start("Y")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-014",
        "a node that is blocked by its own outcome is not closed",
        unfinished(past + ended("Y", 2)),
        *brings(past, ended("Y", 2), fired(0, "Y", at), state={"/nodes/M/closed": None}),
    )


# EDG-015


def a_node_has_so_many_activations() -> Iterator[Scenario]:
    """EDG-015."""
    for most, fires in ((1, False), (2, True)):
        run = Run([node("P", max_activations=most), "T", "Z"], ["T>P"], initial_nodes=list("PTZ"))
        run.run("P")
        run.start("T")
        past, at = run.past, len(run.past) + 1
        yield scenario(
            "EDG-015",
            f"an initial activation counts, of {most}",
            unfinished(past + ended("T", 2)) if fires else refused(past.plus(ended("T", 2), fired(0, "T", at))),
            *brings(past, ended("T", 2), *([fired(0, "T", at)] if fires else [])),
        )
        run = Run([node("P", max_activations=most), "S", "T", "Z"], ["S>P", "T>P"])
        run.run("S")
        run.run("P")
        run.start("T")
        past, at = run.past, len(run.past) + 1
        yield scenario(
            "EDG-015",
            f"an activation by an edge counts, of {most}",
            unfinished(past + ended("T", 3)) if fires else refused(past.plus(ended("T", 3), fired(1, "T", at))),
            *brings(past, ended("T", 3), *([fired(1, "T", at)] if fires else [])),
        )
    run = Run(["X", node("D", "X", max_activations=1), "Z"])
    run.start("X")
    past = run.past
    yield scenario(
        "EDG-015",
        "an activation by dependencies counts",
        *brings(past, ended("X", 1), ready("D", "dependencies"), state={"/nodes/D/activations": 1}),
        accepted(past, {"/nodes/D/activations": None}),
    )


def queued_activations_count() -> Iterator[Scenario]:
    """EDG-015."""
    for most, fires in ((2, False), (3, True)):
        run = Run([node("M", max_activations=most), "A", "B", "Z"], ["A>M", "B>M"], initial_nodes=list("MABZ"))
        run.start("M")
        run.run("A")
        run.start("B")
        past, at = run.past, len(run.past) + 1
        told = {"/nodes/M/activations": most}
        yield scenario(
            "EDG-015",
            f"a queued activation counts, of {most}",
            unfinished(past + ended("B", 3)) if fires else refused(past.plus(ended("B", 3), fired(1, "B", at))),
            *brings(past, ended("B", 3), *([fired(1, "B", at)] if fires else []), state=told),
        )
        run.end("M")
        past, at = run.past, len(run.past) + 1
        yield scenario(
            "EDG-015",
            f"a queued activation that has begun counts once, of {most}",
            unfinished(past + ended("B", 3)) if fires else refused(past.plus(ended("B", 3), fired(1, "B", at))),
            *brings(past, ended("B", 3), *([fired(1, "B", at)] if fires else [])),
        )
    run = Run(["P", "A", "B", node("D", "P", max_activations=1), "Z"], ["A>D", "B>D"])
    run.run("A")
    run.start("B")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-015",
        "an activation counts that waits for a latch",
        refused(past.plus(ended("B", 2), fired(1, "B", at))),
        *brings(past, ended("B", 2), state={"/nodes/D/activations": 1}),
    )
    run = Run(["A", node("M", max_activations=2), "Z"], ["A>M", "A>M", "A>M"])
    run.start("A")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-015",
        "three edges of one outcome, and two activations",
        unfinished(past.plus(ended("A", 1), fired(0, "A", at))),
        refused(past.plus(ended("A", 1), fired(0, "A", at), fired(1, "A", at), fired(2, "A", at))),
        *brings(past, ended("A", 1), fired(0, "A", at), fired(1, "A", at)),
    )
    run = Run(["A", node("M", max_activations=1), "W", "Z"], ["A>M", "A>M", "A>W"])
    run.start("A")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-015",
        "an edge into a full node does not fire, the next one does",
        refused(past.plus(ended("A", 1), fired(0, "A", at), fired(1, "A", at))),
        unfinished(past.plus(ended("A", 1), fired(0, "A", at))),
        *brings(past, ended("A", 1), fired(0, "A", at), fired(2, "A", at)),
    )


def nothing_else_counts_as_an_activation() -> Iterator[Scenario]:
    """EDG-015."""
    run = Run([node("P", max_activations=2), "T", "Z"], ["T>P"], initial_nodes=list("PTZ"))
    run.run("P", "retryable_failure")
    run.run("P", "retryable_failure")
    run.run("P")
    run.start("T")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-015",
        "attempts are no activations",
        unfinished(past + ended("T", 4)),
        *brings(past, ended("T", 4), fired(0, "T", at), state={"/nodes/P/activations": 2}),
    )
    run = Run(
        [node("L", max_activations=2), "Z"],
        [edge("L>L", _field("again", equals=True)), "Z>L"],
        initial_nodes=["L", "Z"],
    )
    run.run("L", "retryable_failure")
    run.run("L", output={"again": False})
    run.start("Z")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-015",
        "a pass with a retry and a way back that was not taken is one activation",
        unfinished(past + ended("Z", 3)),
        *brings(past, ended("Z", 3), fired(1, "Z", at)),
    )
    run = Run([node("L", max_activations=2), "Z"], [edge("L>L", "succeeded")], initial_nodes=["L", "Z"])
    run.start("L")
    first = brings(run.past, ended("L", 1), fired(0, "L", len(run.past) + 1))
    run.end("L")
    run.start("L")
    past, at = run.past, len(run.past) + 1
    yield scenario(
        "EDG-015",
        "a loop of two passes ends by itself",
        *first,
        refused(past.plus(ended("L", 2), fired(0, "L", at))),
        *brings(past, ended("L", 2), state={"/nodes/L/activations": 2}),
    )
    run = Run([node("M", max_activations=1), "Z"], ["Z>M"], initial_nodes=["M", "Z"])
    run.start("M")
    past = run.past
    failure = (ended("M", 1, "retryable_failure"), retry("M", 2, 0), released("M", 2))
    yield scenario(
        "EDG-015",
        "retries are not held against the limit",
        refused(past.plus(failure[0], terminated("M", **_USED_UP))),
        *brings(past, *failure),
        accepted(past.plus(*failure, started("M", 2, 2))),
    )
    run = Run(["P", "A", node("D", "P", max_activations=1), "Z"], ["A>D"])
    run.run("A")
    run.start("P")
    past = run.past
    yield scenario(
        "EDG-015",
        "a queued activation of a full node begins",
        unfinished(past + ended("P", 2)),
        *brings(past, ended("P", 2), ready("D", "queued"), state={"/nodes/D/activations": 1}),
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
    run = Run("IAM", [edge("I>A", _field("go", equals=True)), "A>M", edge("I>M", _field("go", equals=False))])
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
    an_edge_makes_its_target_ready,
    an_activation_is_queued,
    an_activation_goes_behind_those_queued,
    queued_activations_begin_one_at_a_time,
    queued_activations_wait_for_the_latch,
    queued_activations_have_an_order,
    queued_activations_of_one_outcome_have_an_order,
    a_node_that_ended_is_activated_again,
    a_node_is_activated_as_often_as_it_comes,
    no_edge_leads_into_a_closed_node,
    a_node_has_so_many_activations,
    queued_activations_count,
    nothing_else_counts_as_an_activation,
    a_node_without_a_way_is_skipped,
    what_is_live_keeps_a_node,
    what_is_not_live_keeps_no_node,
    live_nodes_reach_by_every_path,
    a_latch_is_set_before_a_node_is_skipped,
    a_node_that_is_reached_is_not_skipped,
)
