"""How runs end, and facts of recovery: RUN-024 to RUN-028."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final

from perdure_conformance.reducer.histories import (
    Fact,
    acquired,
    advanced,
    attempt,
    edge,
    ended,
    fact,
    given_up,
    node,
    owner,
    run_is,
    started,
)
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.scenario import (
    Scenario,
    accepted,
    gives,
    refused,
    rejects,
    scenario,
)

_RESULTS: Final = ("completed", "failed", "blocked", "cancelled")
_REQUEST: Final[dict[str, Any]] = {"requester": "somebody", "reason": "x", "now_ms": 0, "policy": "cascade"}
_ENDINGS: Final = {
    "completed": "succeeded",
    "failed": "permanent_failure",
    "blocked": "blocked",
    "cancelled": "cancelled",
}


def _ready(name: str) -> Fact:
    return fact("NodeReady", node=name, cause="dependencies")


# RUN-024


def a_run_ends_as_its_nodes_are() -> Iterator[Scenario]:
    """RUN-024."""
    for name, kinds, result in (
        ("all succeeded", ("succeeded", "succeeded"), "completed"),
        ("a failure and a block", ("blocked", "permanent_failure"), "failed"),
        ("a block and a cancellation", ("cancelled", "blocked"), "blocked"),
        ("a cancellation", ("cancelled", "succeeded"), "cancelled"),
        ("a failure and a cancellation", ("permanent_failure", "cancelled"), "failed"),
    ):
        run = Run("AB")
        for each, kind in zip("AB", kinds, strict=True):
            run.run(each, kind)
        others = [run_is(other) for other in _RESULTS if other != result]
        yield scenario(
            "RUN-024",
            f"{name}: {result}",
            *(refused(run.past.until(-1) + other) for other in others),
            accepted(run.past.until(-1) + run_is(result), {"/status": result}),
        )
    run = Run("A")
    run.run("A", "retryable_failure")
    run.run("A")
    yield scenario(
        "RUN-024",
        "a failed attempt that was retried counts for nothing",
        refused(run.past.until(-1) + run_is("failed")),
        accepted(run.past.until(-1) + run_is("completed")),
    )
    run = Run("A", [edge("A>A", "permanent_failure")], initial_nodes=["A"])
    run.run("A", "permanent_failure")
    run.run("A")
    yield scenario(
        "RUN-024",
        "a failed activation that was followed by a success counts for nothing",
        refused(run.past.until(-1) + run_is("failed")),
        accepted(run.past.until(-1) + run_is("completed")),
    )
    run = Run(["A", "B"], [edge("A>B", "blocked")])
    run.run("A")
    yield scenario(
        "RUN-024",
        "a skipped node does no harm",
        refused(run.past.until(-1) + run_is("blocked")),
        accepted(run.past.until(-1) + run_is("completed")),
    )


# RUN-025


def a_run_fact_comes_last() -> Iterator[Scenario]:
    """RUN-025."""
    for version in (2, 5):
        run = Run("AB", version=version)
        run.start("A")
        run.start("B")
        past = run.past + ended("A", 1, "permanent_failure")
        yield scenario(
            "RUN-025",
            f"version {version}: a run fails while another node is running",
            refused(past + run_is("failed")),
            accepted(past.plus(ended("B", 2), run_is("failed"))),
        )
    run = Run("AB")
    run.run("A")
    yield scenario(
        "RUN-025",
        "a run ends while a node is ready",
        *(refused(run.past + run_is(result)) for result in _RESULTS),
        accepted(run.past.plus(started("B", 2), ended("B", 2), run_is("completed"))),
    )
    run = Run(["A", node("B", "A")])
    run.start("A")
    past = run.played(ended("A", 1, "permanent_failure"))
    yield scenario(
        "RUN-025",
        "a run ends while a closure is owed",
        refused(past.without(-2)),
        accepted(past),
    )
    run = Run("AB")
    run.start("A")
    past = run.played(fact("CancellationRequested", **_REQUEST, targets=[{"node": "A", "attempt_id": attempt(1)}]))
    yield scenario(
        "RUN-025",
        "a run is cancelled before all its nodes are",
        refused(past.without(-2)),
        accepted(past),
    )


# RUN-026


def nothing_follows_a_run_fact() -> Iterator[Scenario]:
    """RUN-026."""
    for first, second in product(_RESULTS, _RESULTS):
        run = Run("A")
        run.run("A", _ENDINGS[first])
        yield scenario(
            "RUN-026",
            f"{first}, and then {second}",
            refused(run.past + run_is(second)),
            accepted(run.past, {"/status": first}),
        )
    run = Run("AB", budgets={"max_elapsed_ms": 5})
    run.start("A")
    running = run.past
    run.advance(5)
    yield scenario(
        "RUN-026",
        "a run that has failed by a budget goes on",
        refused(run.past + started("B", 2)),
        refused(run.past + ended("A", 1)),
        refused(run.past + advanced(6)),
        refused(run.past + acquired(1, 1)),
        accepted(running + started("B", 2)),
        accepted(run.past),
    )
    run = Run(["A", node("B", "A", dependency_policy="all_completed")])
    run.start("A")
    running = run.past
    run.cancel()
    yield scenario(
        "RUN-026",
        "a run that was cancelled goes on when its last attempt ends",
        refused(run.past + ended("A", 1)),
        refused(run.past + started("B", 2)),
        refused(run.past + fact("CancellationRequested", **_REQUEST)),
        accepted(running.plus(ended("A", 1), _ready("B"), started("B", 2))),
    )
    run = Run("AB", version=1)
    run.start("A")
    run.end("A", "permanent_failure")
    yield scenario(
        "RUN-026",
        "a run of version 1 that has failed goes on",
        refused(run.past + started("B", 2)),
        refused(run.past + run_is("cancelled")),
        accepted(run.past),
    )


# RUN-027


def the_output_of_a_run_is_derived() -> Iterator[Scenario]:
    """RUN-027."""
    outputs = {"x": {"node": "A", "output": "r"}, "y": {"node": "A", "output": "s"}}
    run = Run(
        [node("A", outputs=["r", "s"], max_activations=2), "B"],
        [edge("A>A")],
        initial_nodes=["A", "B"],
        outputs=outputs,
    )
    before = run.past
    run.run("A", output={"r": 1, "t": 2})
    once = run.past
    run.run("A", output={"s": None})
    yield scenario(
        "RUN-027",
        "no output yet; one that is there and one that is not; the last outcome alone",
        accepted(before, {"/output": {}}),
        accepted(once, {"/output": {"x": 1}}),
        accepted(run.past, {"/output": {"y": None}}),
    )


# RUN-028


def epochs_of_recovery_go_up() -> Iterator[Scenario]:
    """RUN-028."""
    run = Run("A")
    taken = run.past + acquired(1, 3)
    for epoch in (3, 2):
        yield scenario(
            "RUN-028",
            f"a run is taken over with epoch {epoch} after epoch 3",
            refused(taken + acquired(2, epoch)),
            accepted(taken + acquired(2, 4)),
            rejects(taken, fact("AcquireRecovery", owner=owner(2), epoch=epoch), "stale_epoch"),
        )
    yield scenario(
        "RUN-028",
        "a run is taken over with its epoch after that was given up",
        refused(taken.plus(given_up(1, 3), acquired(1, 3))),
        accepted(taken.plus(given_up(1, 3), acquired(1, 4))),
    )
    for name, wrong in (("another worker", given_up(2, 3)), ("another epoch", given_up(1, 4))):
        yield scenario(
            "RUN-028",
            f"a run is given up under {name}",
            refused(taken + wrong),
            accepted(taken + given_up(1, 3)),
        )
    yield scenario(
        "RUN-028",
        "a run is given up twice",
        refused(taken.plus(given_up(1, 3), given_up(1, 3))),
        accepted(taken.plus(given_up(1, 3))),
        rejects(taken + given_up(1, 3), fact("ReleaseRecovery", owner=owner(1), epoch=3), "wrong_owner"),
        gives(taken, fact("ReleaseRecovery", owner=owner(1), epoch=3), "RecoveryReleased"),
    )
    yield scenario(
        "RUN-028",
        "a run is given up that nobody took over",
        refused(run.past + given_up(1, 1)),
        accepted(run.past.plus(acquired(1, 1), given_up(1, 1))),
    )
    yield scenario(
        "RUN-028",
        "a run goes on under whatever worker",
        refused(run.past.until(1).plus(acquired(1, 1), started("A", 1)), 2),
        accepted(taken.plus(started("A", 1), acquired(2, 9), ended("A", 1), run_is("completed"))),
    )
    yield scenario(
        "RUN-028",
        "a run goes on under no worker",
        refused(taken.plus(given_up(1, 3), ended("A", 1))),
        accepted(taken.plus(given_up(1, 3), started("A", 1))),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    a_run_ends_as_its_nodes_are,
    a_run_fact_comes_last,
    nothing_follows_a_run_fact,
    the_output_of_a_run_is_derived,
    epochs_of_recovery_go_up,
)
