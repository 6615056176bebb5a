"""A run never starts more attempts, and never takes more transitions, than its budgets allow.

An orchestrator that goes round in circles is stopped by its budgets alone, so they must hold on every way: whatever
event comes, a command's or one that is owed, with any limits and any usage up to them. Either the event is within the
budgets, or the kernel puts BudgetExhausted in its place, whose numbers are right, and the run has failed, its nodes
left as they are. The limit itself may be used up: nobody is stopped one too early.

The induction is on the events. Before the first, nothing is used and every limit is at least 1; each event that the
reducer accepts keeps the usage within the limits. Before version 4 budgets do not hold (VER-012), so this is about runs
that began in version 4 or later, which is what invariant 2 says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from perdure.kernel.consequences import owed, within_budget
from perdure.kernel.errors import Corruption
from perdure.kernel.events import BudgetExhausted, ChildStarted, Event, EventV5, NodeStarted, RunFailed
from perdure.kernel.identity import NodeId
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import BUDGETS_FROM, RULES, Charged, Rules, charge
from perdure.kernel.state import State
from perdure_proofs.places import missing, of_versions, places, with_any_usage
from perdure_proofs.runs import ATTEMPT, MOST, RUN
from perdure_proofs.theorems import UNNOTED, Any, Theorem

Bound = Callable[[State, EventV5, int, Rules], EventV5]


@dataclass(frozen=True, slots=True)
class Budgeting:
    """What holds events against the budgets."""

    rules: Rules = RULES
    within_budget: Bound = field(default=within_budget, metadata=UNNOTED)


def _told_one_more(state: State, event: EventV5, version: int, rules: Rules) -> EventV5:
    found = within_budget(state, event, version, rules)
    return msgspec.structs.replace(found, usage=found.usage + 1) if isinstance(found, BudgetExhausted) else found


def _retries_are_free(event: Event) -> Charged | None:
    return None if isinstance(event, NodeStarted | ChildStarted) and event.attempt > 1 else charge(event)


THEOREM: Final = Theorem(
    ("BUD-001", "BUD-003", "BUD-005", "BUD-006"),
    Budgeting(),
    {
        "StopsAtTheLimit": Budgeting(replace(RULES, exceeds=lambda usage, limit: usage + 1 >= limit)),
        "GoesOneBeyond": Budgeting(replace(RULES, exceeds=lambda usage, limit: usage > limit)),
        "HasNoBudgets": Budgeting(replace(RULES, exceeds=lambda *_: False)),
        "RetriesAreFree": Budgeting(replace(RULES, charge=_retries_are_free)),
        "CountsWhatWouldExceed": Budgeting(within_budget=_told_one_more),
    },
    invariant=2,
)


@THEOREM.claim
def there_is_a_place_for_every_event(kernel: Budgeting, values: Any) -> bool:
    """Every event of every version, and every row of the node table, is among the places that are spoken of."""
    del kernel, values
    return not missing(places())


@THEOREM.claim
def the_beginning_is_within_the_limits(kernel: Budgeting, values: Any) -> bool:
    """A run that has used nothing has not used more than any limit, and may use one."""
    limit = values.whole("limit", 1, MOST)
    return not kernel.rules.exceeds(0, limit)


@THEOREM.claim
def every_start_is_charged(kernel: Budgeting, values: Any) -> bool:
    """A start consumes an attempt, whichever attempt of its activation it is, a handler's or a child's."""
    number, node = values.whole("attempt", 1, MOST), NodeId("node")
    child = ChildStarted(node=node, attempt_id=ATTEMPT, attempt=number, child_run_id=RUN)
    event = values.among("event", (NodeStarted(node=node, attempt_id=ATTEMPT, attempt=number), child))
    return kernel.rules.charge(event) == "attempts"


@THEOREM.claim
def every_event_keeps_within_the_limits(kernel: Budgeting, values: Any) -> bool:
    """Where usage is within the limits, it is so after every event that the reducer accepts."""
    place = values.among("place", of_versions(BUDGETS_FROM))
    before = with_any_usage(values, place.before)
    try:
        after = reduce(before, place.event, kernel.rules, version=place.version)
    except Corruption:
        return True
    budgets = after.plan.specification.budgets
    return after.attempts_used <= budgets.max_attempts and after.transitions_used <= budgets.max_transitions


@THEOREM.claim
def what_is_within_the_limits_comes(kernel: Budgeting, values: Any) -> bool:
    """An event comes as it is, unless it is charged to a budget that is used up; then BudgetExhausted tells so."""
    place = values.among("place", of_versions(BUDGETS_FROM))
    before = with_any_usage(values, place.before)
    budgets, charged = before.plan.specification.budgets, kernel.rules.charge(place.event)
    found = kernel.within_budget(before, place.event, place.version, kernel.rules)
    usage, limit = (
        (before.attempts_used, budgets.max_attempts)
        if charged == "attempts"
        else (before.transitions_used, budgets.max_transitions)
    )
    if charged is None or usage < limit:
        return found is place.event
    told = BudgetExhausted(budget=charged, limit=limit, usage=usage, last_outcome=before.last_outcome)
    return found == told


@THEOREM.claim
def an_exhausted_budget_fails_the_run(kernel: Budgeting, values: Any) -> bool:
    """After BudgetExhausted comes RunFailed, whatever else was owed, and the nodes stay as they are."""
    places_of_it = tuple(place for place in of_versions(BUDGETS_FROM) if isinstance(place.event, BudgetExhausted))
    place = values.among("place", places_of_it)
    after = place.after
    event = owed(after, kernel.rules)
    if not isinstance(event, RunFailed):
        return False
    ended = reduce(after, event, kernel.rules, version=place.version)
    return ended.status == "failed" and ended.nodes == place.before.nodes and owed(ended, kernel.rules) is None
