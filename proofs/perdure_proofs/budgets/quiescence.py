"""Without new commands a run comes to rest: every event that is owed lowers a rank that cannot be lowered for ever.

A batch goes on as long as something is owed. That it ends is not plain: edges lead back, a retry may be immediate, one
due item may make another due. But each owed event either ends the run, or says that it fails, or consumes a transition,
of which there are no more than the budget has, or brings the nodes nearer to where only a command moves them. That is
the **unrest** of a run: a number for each node by its status, two for each activation that waits for its turn, one for
a termination that is to be told, and one less where an outcome is on its way. The **rank** is how far the run is from
its end, then the transitions that are left, then the unrest; of two ranks the first number that differs decides. None
of them is ever less than 0, so there is no endless way down.

Two things are shown. For any run, whatever its nodes: every row of the node table that an owed event takes without
consuming a transition lowers the unrest. And where the kernel put each thing that can be owed, with any limits and any
usage within them: the whole rank falls. This is about versions from 4 on, in which budgets hold; `decide` writes no
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from perdure.kernel.changes import applied
from perdure.kernel.consequences import owed
from perdure.kernel.events import Event, NodeReady, RetryReleased, RetryScheduled, TransitionActivated
from perdure.kernel.queues import in_order
from perdure.kernel.rules import BUDGETS_FROM, NODE_TABLE, RULES, Move, Rules, charge
from perdure.kernel.state import ACTIVE, State, Status
from perdure_proofs.places import CAUSES, Place, of_versions, with_any_usage
from perdure_proofs.theorems import Any, about_rules

Rank = tuple[int, int, int]

UNREST: Final[Mapping[Status, int]] = {
    "waiting": 4,
    "running": 3,
    "pending": 1,
    "ready": 1,
    "retry_pending": 1,
    "changes_requested": 1,
    "succeeded": 0,
    "failed": 0,
    "blocked": 0,
    "cancelled": 0,
    "skipped": 0,
}
"""How many events may yet be owed for a node of this status that consume no transition, if no command comes."""
_QUEUED: Final = 2
_ROWS_OF: Final = ("NodeOutcomeCommitted", "NodeTerminated", "TimerFired", "NodeReady")
"""The events of the node table that can be owed; NodeReady without a charge is that of an activation that waited."""


def rank(state: State) -> Rank:
    """Return how far a run is from rest."""
    to_end = 0 if state.status != "running" else 1 if state.agenda.failing else 2
    left = state.plan.specification.budgets.max_transitions - state.transitions_used
    waiting = sum(1 for node in state.nodes.values() for _ in in_order(node.queue))
    told = (state.agenda.termination is not None) - (state.agenda.outcome is not None)
    return (to_end, left, sum(UNREST[node.status] for node in state.nodes.values()) + _QUEUED * waiting + told)


def _free(*kinds: type[Event]) -> Rules:
    """Return the rules by which some events consume nothing."""
    return replace(RULES, charge=lambda event: None if isinstance(event, kinds) else charge(event))


THEOREM: Final = about_rules(
    "BUD-003",
    "TIM-002",
    mutants={
        "ChargesRetriesOnce": _free(RetryReleased),
        "RetriesAreFree": _free(RetryScheduled, RetryReleased),
        "EdgesAreFree": _free(TransitionActivated),
        "ReleasesAreFree": _free(NodeReady),
        "HasNoBudgets": replace(RULES, exceeds=lambda *_: False),
        "WaitsAgain": replace(RULES, node_table=(*NODE_TABLE, Move("running", "waiting", ("TimerFired",), "a fault"))),
    },
    assumptions=(
        (
            "An owed event changes the status of one node at most, by a row of the node table: `liveness.changed` "
            "refuses every other change, and the tests of the model compare each state with that of a second kernel."
        ),
    ),
)


@THEOREM.claim
def each_row_that_is_free_lowers_the_unrest(rules: Rules, values: Any) -> bool:
    """A row of the node table that an owed event takes without a charge lowers the unrest, whatever else there is."""
    move = values.among("row", rules.node_table)
    event = values.among("event", _ROWS_OF)
    if event not in move.events:
        return True
    before, after = UNREST[move.source], UNREST[move.target]
    if event == "NodeOutcomeCommitted" and move.source in ACTIVE:  # The outcome may have been on its way,
        before, after = before - 1, after + (move.target == "failed")  # and that attempts are used up may follow.
    return before + _QUEUED * (event == "NodeReady") > after


@THEOREM.claim
def there_is_a_place_for_all_that_can_be_owed(rules: Rules, values: Any) -> bool:
    """All that an event can be owed for is among the places that are spoken of."""
    del rules
    cause = values.among("cause", sorted(CAUSES))
    return any(place.owed_by == cause for place in owing())


@THEOREM.claim
def each_owed_event_lowers_the_rank(rules: Rules, values: Any) -> bool:
    """Where an event is owed, with any usage within any limits, the rank falls, and no part of it is below 0."""
    place = values.among("place", owing())
    before = with_any_usage(values, place.before)
    event = owed(before, rules)
    if event is None:
        return False
    after = rank(applied(before, event, place.version, rules))
    return after < rank(before) and after[1] >= 0 and after[2] >= 0


def owing() -> tuple[Place, ...]:
    """Return the places at which something is owed, in versions in which budgets hold."""
    return tuple(place for place in of_versions(BUDGETS_FROM) if place.is_owed)
