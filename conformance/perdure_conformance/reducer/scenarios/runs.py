"""Runs: RUN-001 to RUN-031."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure_conformance.reducer.histories import (
    child_started,
    complete,
    created,
    document,
    ended,
    fired,
    history,
    node,
    ready,
    run_is,
    start,
    started,
)
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.scenario import (
    NOTHING_YET,
    Scenario,
    accepted,
    gives,
    refused,
    rejects,
    scenario,
    unfinished,
)

_SUB: Final = {"nodes": [node("x")]}
_ONE: Final = document("A")


def a_history_begins_with_its_creation() -> Iterator[Scenario]:
    """RUN-001."""
    run = Run("A")
    yield scenario(
        "RUN-001",
        "a history without its first event",
        refused(run.past.without(1), 1),
        accepted(run.past),
    )
    yield scenario(
        "RUN-001",
        "a run is created twice",
        refused(run.past + created(run.document)),
        accepted(run.past + started("A", 1)),
    )


def a_history_is_whole_where_a_batch_ends() -> Iterator[Scenario]:
    """RUN-008."""
    run = Run("AB", ["A>B"])
    run.run("A")
    yield scenario(
        "RUN-008",
        "a history is cut inside a batch, and where one ends",
        unfinished(run.past.until(-1)),
        accepted(run.past),
        unfinished(run.past.until(1)),
        accepted(run.past.until(2)),
    )


def only_what_is_ready_starts() -> Iterator[Scenario]:
    """RUN-012."""
    run = Run(["A", node("B", "A")])
    yield scenario(
        "RUN-012",
        "a pending node is started",
        refused(run.past + started("B", 1)),
        accepted(run.past + started("A", 1)),
    )
    run = Run("AB")
    run.run("A")
    yield scenario(
        "RUN-012",
        "a node that has ended is started again",
        refused(run.past + started("A", 2)),
        accepted(run.past + started("B", 2)),
    )
    run = Run(["A", node("C", child={"workflow": "sub@1", "policy": "propagate"})], children={"sub@1": _SUB})
    yield scenario(
        "RUN-012",
        "a handler's node is started as a child run",
        refused(run.past + child_started("A", 1, 1)),
        accepted(run.past + child_started("C", 1, 1)),
    )
    yield scenario(
        "RUN-012",
        "a child's node is started without a child run",
        refused(run.past + started("C", 1)),
        accepted(run.past + started("A", 1)),
    )


def attempt_ids_are_new() -> Iterator[Scenario]:
    """RUN-013."""
    run = Run("AB")
    run.start("A")
    yield scenario(
        "RUN-013",
        "two nodes with one attempt id",
        refused(run.past + started("B", 1)),
        accepted(run.past + started("B", 2)),
    )
    run.end("A")
    yield scenario(
        "RUN-013",
        "the attempt id of a node that has ended",
        refused(run.past + started("B", 1)),
        accepted(run.past + started("B", 2)),
    )


def no_attempt_is_skipped() -> Iterator[Scenario]:
    """RUN-016."""
    run = Run("A")
    run.start("A")
    yield scenario(
        "RUN-016",
        "an attempt is skipped",
        refused(run.past + ended("A", 1, "skipped")),
        unfinished(run.past + ended("A", 1, "cancelled")),
    )


def a_run_ends_as_its_nodes_are() -> Iterator[Scenario]:
    """RUN-024."""
    for name, kinds, result in (
        ("all succeeded", ("succeeded", "succeeded"), "completed"),
        ("a failure and a block", ("blocked", "permanent_failure"), "failed"),
        ("a block and a cancellation", ("cancelled", "blocked"), "blocked"),
        ("a cancellation", ("cancelled", "succeeded"), "cancelled"),
    ):
        run = Run("AB")
        for each, kind in zip("AB", kinds, strict=True):
            run.run(each, kind)
        others = [run_is(other) for other in ("completed", "failed", "blocked", "cancelled") if other != result]
        yield scenario(
            "RUN-024",
            f"{name}: {result}",
            *(refused(run.past.until(-1) + other) for other in others),
            accepted(run.past.until(-1) + run_is(result)),
        )


def the_output_of_a_run_is_derived() -> Iterator[Scenario]:
    """RUN-027."""
    outputs = {"x": {"node": "A", "output": "r"}, "y": {"node": "A", "output": "s"}}
    run = Run([node("A", outputs=["r", "s"])], outputs=outputs)
    before = run.past
    run.run("A", output={"r": 1, "t": 2})
    yield scenario(
        "RUN-027",
        "no output yet; then one that is there and one that is not",
        accepted(before, {"/output": {}}),
        accepted(run.past, {"/output": {"x": 1}}),
    )


def a_rejection_has_the_code_that_applies() -> Iterator[Scenario]:
    """RUN-029."""
    run = Run(["A", node("B", "A")])
    yield scenario(
        "RUN-029",
        "a command that is not allowed",
        rejects(run.past, start("B", 1), "not_ready"),
        gives(run.past, start("A", 1), "NodeStarted A"),
    )
    yield scenario(
        "RUN-029",
        "there is no run",
        rejects(NOTHING_YET, start("A", 1), "no_run"),
        gives(run.past, start("A", 1), "NodeStarted A"),
    )
    run.run("A")
    run.run("B")
    yield scenario(
        "RUN-029",
        "the run has ended, and it is no such node either",
        rejects(run.past, start("C", 3), "run_terminal"),
        rejects(run.past, complete("A", 1), "already_committed"),
    )


def a_refusal_has_a_kind() -> Iterator[Scenario]:
    """RUN-031."""
    run = Run("A")
    yield scenario(
        "RUN-031",
        "what cannot be read, and what cannot be",
        refused(run.past + {"type": "Nonsense"}, kind="incompatible"),
        refused(run.past + started("B", 1)),
        refused(run.past.on(6) + started("A", 1), kind="incompatible"),
        refused(run.past + fired(0, "A", 2)),
    )
    assert history(created(_ONE), ready("A")) == run.past


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    a_history_begins_with_its_creation,
    a_history_is_whole_where_a_batch_ends,
    only_what_is_ready_starts,
    attempt_ids_are_new,
    no_attempt_is_skipped,
    a_run_ends_as_its_nodes_are,
    the_output_of_a_run_is_derived,
    a_rejection_has_the_code_that_applies,
    a_refusal_has_a_kind,
)
