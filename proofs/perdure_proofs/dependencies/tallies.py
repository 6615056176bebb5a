"""A tally counts each prerequisite once, as it is now, through every change of status that the node table allows.

A node with a thousand prerequisites is not judged by looking at them: each adds its share to the tally, and when its
status changes, the old share is taken away and the new one added. Were one counted twice, or not taken away, a node
would be released too early, or never.

It is an induction over the prerequisites: the empty tally is right for none, one share more makes it right for one
more, and a change of status keeps it right. The step is that of the kernel: `changed`, with the dependents told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from perdure.kernel.identity import NodeId
from perdure.kernel.liveness import changed, entrance_lost
from perdure.kernel.rules import NODE_TABLE, RULES, share
from perdure.kernel.specification import DependencyPolicy, Edge, Node
from perdure.kernel.state import LIVE, STATUSES, NodeState, State, Status, Tally
from perdure_proofs.runs import MOST, run_of
from perdure_proofs.theorems import Any, Theorem, assume

BEGINNINGS: Final = frozenset({"NodeReady", "TransitionActivated"})
"""The events that begin a new activation of a node that has ended."""


def after_a_change(state: State, position: int, node: NodeState) -> Tally | None:
    """Return what the first dependent of a node counts after a change of the node."""
    return changed(state, position, node, RULES).nodes[state.plan.dependents[position][0]].tally


def after_a_lost_edge(state: State, position: int) -> Tally | None:
    """Return what the first dependent of a node counts after an edge into the node turned out never to fire again."""
    return entrance_lost(state, position, RULES).nodes[state.plan.dependents[position][0]].tally


@dataclass(frozen=True, slots=True)
class Counting:
    """How prerequisites are counted."""

    share: Callable[..., Tally] = share
    plus: Callable[[Tally, Tally], Tally] = Tally.plus
    minus: Callable[[Tally, Tally], Tally] = Tally.minus
    after_a_change: Callable[[State, int, NodeState], Tally | None] = after_a_change
    after_a_lost_edge: Callable[[State, int], Tally | None] = after_a_lost_edge


def _takes_skipped_for_succeeded(status: Status, *, is_revivable: bool) -> Tally:
    return share("succeeded" if status == "skipped" else status, is_revivable=is_revivable)


def _takes_retry_pending_for_completed(status: Status, *, is_revivable: bool) -> Tally:
    return share("failed" if status == "retry_pending" else status, is_revivable=is_revivable)


def _counts_cancelled_twice(status: Status, *, is_revivable: bool) -> Tally:
    return msgspec.structs.replace(share(status, is_revivable=is_revivable), blocked=int(status == "cancelled"))


def _remembers_old_successes(state: State, position: int, node: NodeState) -> Tally | None:
    after = after_a_change(state, position, node)
    assert after is not None
    return after.plus(Tally(unfinished=0, succeeded=int(state.nodes[position].status == "succeeded")))


THEOREM: Final = Theorem(
    ("DEP-004", "DEP-010"),
    Counting(),
    {
        "TakesSkippedForSucceeded": Counting(share=_takes_skipped_for_succeeded),
        "TakesRetryPendingForCompleted": Counting(share=_takes_retry_pending_for_completed),
        "CountsCancelledTwice": Counting(share=_counts_cancelled_twice),
        "RemembersOldSuccesses": Counting(after_a_change=_remembers_old_successes),
        "NeverTellsOfALostEdge": Counting(after_a_lost_edge=lambda state, _: state.nodes[1].tally),
    },
    invariant=14,
    assumptions=(
        "Nothing but `changed` changes a status: invariant 14 is asked of every state that a snapshot restores.",
    ),
)


def is_a_count(tally: Tally, prerequisites: int) -> bool:
    """Tell whether a tally can be one of so many prerequisites, each counted once."""
    return (
        (tally.unfinished >= 0)
        & (tally.succeeded >= 0)
        & (tally.cancelled >= 0)
        & (tally.blocked >= 0)
        & (tally.revivable >= 0)
        & (tally.unfinished + tally.succeeded + tally.cancelled + tally.blocked <= prerequisites)
        & (tally.revivable <= prerequisites - tally.unfinished - tally.succeeded)
    )


def any_tally(values: Any, prerequisites: int, name: str = "") -> Tally:
    """Return any tally that counts each of so many prerequisites once."""
    tally = Tally(
        unfinished=values.whole(f"{name}unfinished", 0, prerequisites),
        succeeded=values.whole(f"{name}succeeded", 0, prerequisites),
        cancelled=values.whole(f"{name}cancelled", 0, prerequisites),
        blocked=values.whole(f"{name}blocked", 0, prerequisites),
        revivable=values.whole(f"{name}revivable", 0, prerequisites),
    )
    assume(is_a_count(tally, prerequisites))
    return tally


@THEOREM.claim
def none_are_counted_right(_: Counting, values: Any) -> bool:
    """The empty tally counts no prerequisites; each is counted in one way or, failed or skipped, in none."""
    assert values is not None
    return is_a_count(Tally(unfinished=0), 0)


@THEOREM.claim
def one_more_is_counted_right(counting: Counting, values: Any) -> bool:
    """A tally that counts some prerequisites and the share of one more counts one more."""
    prerequisites = values.whole("prerequisites", 0, MOST)
    tally = any_tally(values, prerequisites)
    status, is_revivable = values.among("status", STATUSES), values.among("revivable edge", (False, True))
    more = counting.plus(tally, counting.share(status, is_revivable=is_revivable))
    return is_a_count(more, prerequisites + 1)


@THEOREM.claim
def a_share_says_what_a_status_is(counting: Counting, values: Any) -> bool:
    """A live prerequisite is unfinished, a success is one, and what is neither has a share of its own status only."""
    status, is_revivable = values.among("status", STATUSES), values.among("revivable edge", (False, True))
    found = counting.share(status, is_revivable=is_revivable)
    is_live = status in LIVE
    return (found.unfinished == 1 or not is_live) and all(
        (getattr(found, each) == 1) == (status == each) for each in ("succeeded", "cancelled", "blocked")
    )


@THEOREM.claim
def what_ended_is_left_by_an_activation_alone(counting: Counting, values: Any) -> bool:
    """What a tally does not count as unfinished becomes so by a new activation, and by nothing else."""
    move = values.among("move", NODE_TABLE)
    before = counting.share(move.source, is_revivable=False)
    after = counting.share(move.target, is_revivable=False)
    return before.unfinished == 1 or after.unfinished == 0 or set(move.events) <= BEGINNINGS


@THEOREM.claim
def the_order_does_not_matter(counting: Counting, values: Any) -> bool:
    """Tallies are added in any order and grouping, and taken away again."""
    one, other, third = (any_tally(values, MOST, name) for name in ("one ", "other ", "third "))
    plus = counting.plus
    return (
        plus(one, other) == plus(other, one)
        and plus(plus(one, other), third) == plus(one, plus(other, third))
        and counting.minus(plus(one, other), other) == one
    )


DEPENDENTS: Final[tuple[tuple[DependencyPolicy, tuple[int, ...] | None], ...]] = (
    ("any_succeeded", None),
    ("all_succeeded", (0,)),
)
"""A node that is not released yet, and is judged at each change; one that is."""


def _any_run(values: Any, rest: Tally, entrances: int, status: Status, counted: Tally) -> State:
    """Return a run with a prerequisite, and a node that depends on it and on others, which count the rest."""
    policy, released = values.among("dependent", DEPENDENTS)
    one, other = NodeId("prerequisite"), NodeId("dependent")
    nodes = [Node(id=one), Node(id=other, dependencies=(one,), dependency_policy=policy)]
    state = run_of(nodes, [Edge(source=one, target=one)])
    dependent = NodeState(released=released, tally=rest.plus(counted))
    return msgspec.structs.replace(
        state,
        nodes=state.nodes.set(0, NodeState(status=status)).set(1, dependent),
        statuses=state.statuses.set(status, 2),
        entrances=state.entrances.set(0, entrances),
    )


@THEOREM.claim
def a_lost_edge_keeps_the_tally_right(counting: Counting, values: Any) -> bool:
    """When an edge into a prerequisite turns out never to fire again, its dependents count whether one is left."""
    status = values.among("status", STATUSES)
    rest, entrances = any_tally(values, MOST), values.whole("entrances", 1, MOST)
    state = _any_run(values, rest, entrances, status, share(status, is_revivable=True))
    return counting.after_a_lost_edge(state, 0) == rest.plus(share(status, is_revivable=entrances > 1))


@THEOREM.claim
def a_change_of_status_keeps_the_tally_right(counting: Counting, values: Any) -> bool:
    """After every change of status that the node table allows, a dependent counts the status that there is now."""
    move = values.among("move", NODE_TABLE)
    rest, entrances = any_tally(values, MOST), values.whole("entrances", 0, MOST)
    is_revivable = entrances > 0
    state = _any_run(values, rest, entrances, move.source, share(move.source, is_revivable=is_revivable))
    expected = rest.plus(share(move.target, is_revivable=is_revivable))
    return counting.after_a_change(state, 0, NodeState(status=move.target)) == expected
