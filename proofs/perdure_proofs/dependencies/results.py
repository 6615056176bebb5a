"""How a run ends is always one of four, goes by how many nodes have each status, and does not depend on any order.

Failure beats blocking, blocking beats cancellation, and only a run with none of them is completed. It is asked of the
counts of the run's nodes by status: so it is the same in whatever order they ended. Two parts of a run give together
what the worse of them gives alone. And the counts stay those of the nodes there are: what a change of status takes from
one it gives to another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec
from immutables import Map

from perdure.kernel.identity import NodeId
from perdure.kernel.liveness import changed
from perdure.kernel.rules import NODE_TABLE, RESULT_PRECEDENCE, RULES, Precedence, result
from perdure.kernel.specification import Node
from perdure.kernel.state import STATUSES, TERMINAL, NodeState, RunStatus, State, Status
from perdure_proofs.runs import MOST, run_of
from perdure_proofs.theorems import Any, Theorem, assume

WORST_FIRST: Final[tuple[RunStatus, ...]] = ("failed", "blocked", "cancelled", "completed")

Counts = Mapping[Status, int]


def counted_after(state: State, target: Status) -> Counts:
    """Return how many nodes have each status, after the first one changed its own."""
    return dict(changed(state, 0, NodeState(status=target), RULES).statuses)


@dataclass(frozen=True, slots=True)
class Ending:
    """How the end of a run is worked out."""

    result_precedence: Precedence = RESULT_PRECEDENCE
    result: Callable[[Precedence, Counts], RunStatus] = result
    counted_after: Callable[[State, Status], Counts] = counted_after

    def of(self, counts: Counts) -> RunStatus:
        """Return how a run ends with so many nodes of each status."""
        return self.result(self.result_precedence, counts)


def _goes_by_majority(precedence: Precedence, statuses: Counts) -> RunStatus:
    return "completed" if statuses.get("succeeded", 0) > statuses.get("failed", 0) else result(precedence, statuses)


THEOREM: Final = Theorem(
    ("RUN-024",),
    Ending(),
    {
        "BlockedBeatsFailed": Ending((("blocked", "blocked"), ("failed", "failed"), ("cancelled", "cancelled"))),
        "CompletesTheCancelled": Ending((("failed", "failed"), ("blocked", "blocked"))),
        "TakesTheSkippedForBlocked": Ending((*RESULT_PRECEDENCE, ("skipped", "blocked"))),
        "GoesByMajority": Ending(result=_goes_by_majority),
        "CountsTheOldStatusToo": Ending(
            counted_after=lambda state, target: {**state.statuses, target: state.statuses.get(target, 0) + 1}
        ),
    },
    invariant=16,
)


def any_counts(values: Any, name: str = "") -> dict[Status, int]:
    """Return any numbers of nodes that have ended, by status."""
    return {status: values.whole(f"{name}{status}", 0, MOST) for status in sorted(TERMINAL)}


@THEOREM.claim
def one_node_ends_its_run_its_own_way(ending: Ending, values: Any) -> bool:
    """A run of one node ends as the node did, which completes it if it succeeded or was skipped."""
    status = values.among("status", sorted(TERMINAL))
    expected = status if status in {"failed", "blocked", "cancelled"} else "completed"
    return ending.of({status: 1}) == expected


@THEOREM.claim
def two_parts_end_as_the_worse(ending: Ending, values: Any) -> bool:
    """A run ends as the worse of two parts of its nodes would, whatever the parts and whichever ends first."""
    one, other = any_counts(values, "one "), any_counts(values, "other ")
    together = {status: one[status] + other[status] for status in one}
    found = WORST_FIRST.index(ending.of(one)), WORST_FIRST.index(ending.of(other))
    return ending.of(together) == WORST_FIRST[min(found)]


@THEOREM.claim
def the_numbers_of_ends_do_not_matter(ending: Ending, values: Any) -> bool:
    """How many nodes ended in one way does not matter, but only whether any did."""
    counts = any_counts(values)
    return ending.of(counts) == ending.of({status: int(count > 0) for status, count in counts.items()})


@THEOREM.claim
def a_change_takes_from_one_and_gives_to_one(ending: Ending, values: Any) -> bool:
    """A change of status that the node table allows takes one node from its old status and gives it to the new one."""
    move = values.among("move", NODE_TABLE)
    counts = {status: values.whole(f"{status} nodes", 0, MOST) for status in STATUSES}
    assume(counts[move.source] > 0)
    run = run_of([Node(id=NodeId("node"))])
    state = msgspec.structs.replace(
        run, nodes=run.nodes.set(0, NodeState(status=move.source)), statuses=Map(counts.items())
    )
    after = ending.counted_after(state, move.target)
    expected = {**counts, move.source: counts[move.source] - 1, move.target: counts[move.target] + 1}
    return all(bool(after[status] == expected[status]) for status in STATUSES)
