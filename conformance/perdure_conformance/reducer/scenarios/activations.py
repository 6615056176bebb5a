"""Activations: EDG-011 to EDG-015.

A node Z that is ready, with edges to others, keeps a run and those others from ending.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure_conformance.reducer.histories import (
    Fact,
    Value,
    advanced,
    edge,
    ended,
    fact,
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
from perdure_conformance.reducer.scenarios.batches import brings, outcome_of_one_attempt
from perdure_conformance.reducer.scenarios.scenario import Scenario, Side, accepted, refused, scenario, unfinished

_KINDS: Final = ("succeeded", "changes_requested", "retryable_failure", "permanent_failure", "blocked", "cancelled")
_ONCE: Final[Fact] = {"max_attempts": 1}
_LATER: Final[Fact] = {"max_attempts": 2, "backoff": {"kind": "fixed", "delay_ms": 10}}
_USED_UP: Final[Fact] = {"reason": "attempts_exhausted", "limit": 1, "usage": 1}


def _queue(*brought: tuple[int, int]) -> Value:
    """Return a queue as it is told: activations by an edge, each with the sequence of the outcome that it follows."""
    return tuple({"edge": position, "source_sequence": sequence} for position, sequence in brought) or None


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
        past, batch = run.past, tuple(outcome_of_one_attempt("M", 1, kind))
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

    loud = field("loud", 1)
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
        [edge("L>L", field("again", equals=True)), "Z>L"],
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


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
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
)
