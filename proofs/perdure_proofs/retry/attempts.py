"""An activation never has more attempts than its policy allows, whatever event comes.

A node that fails is tried again, by itself and for ever if nothing counts: each attempt may cost money, or do something
to the world. The count is in the state of the node. It grows by one with each start, begins at 0 with each activation,
and no wait, expiry, crash or resume sets it back. A node that is ready, or will be tried again, may have one more.

The induction is on the events. At the beginning nothing was attempted; each event in its places, with any number of
attempts before and any limit, keeps what the first paragraph says. Only `_begins` and `_started` write the count, so
nothing about the other nodes of a run matters to it. Before version 4 nothing is tried again: an activation has one
attempt, and what an older history leaves to be settled may have a second, for documents had no policies then and the
default allows three.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import msgspec

from perdure.kernel.changes import applied
from perdure.kernel.events import (
    ChildStarted,
    EventV5,
    NodeReady,
    NodeStarted,
    RetryReleased,
    RetryScheduled,
    SignalAccepted,
    TransitionActivated,
)
from perdure.kernel.identity import NodeId
from perdure.kernel.legality import contradiction
from perdure.kernel.rules import BUDGETS_FROM, RULES, Rules, policy_of
from perdure.kernel.specification import RetryPolicy
from perdure.kernel.state import NodeState, State
from perdure_proofs.places import Place, missing, of_versions, places, with_policy
from perdure_proofs.runs import MOST
from perdure_proofs.steps import Step, text_of, written_by
from perdure_proofs.theorems import Any, Theorem, assume


def _with_attempts(state: State, position: int, attempts: int) -> State:
    node = msgspec.structs.replace(state.nodes[position], attempts=attempts)
    return msgspec.structs.replace(state, nodes=state.nodes.set(position, node))


def _loops_keep_counting(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    if not isinstance(event, TransitionActivated):
        return after
    position = state.plan.targets[event.edge]
    return _with_attempts(after, position, state.nodes[position].attempts)


def _waits_set_it_back(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    return _with_attempts(after, state.plan.positions[event.node], 0) if isinstance(event, SignalAccepted) else after


def _retries_begin_anew(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    return _with_attempts(after, state.plan.positions[event.node], 0) if isinstance(event, RetryReleased) else after


THEOREM: Final = Theorem(
    ("RTY-001", "RTY-003"),
    Step(),
    {
        "RetriesOnceMore": Step(
            dataclasses.replace(RULES, has_attempts=lambda policy, attempts: attempts <= policy.max_attempts)
        ),
        "RetriesForEver": Step(dataclasses.replace(RULES, has_attempts=lambda *_: True)),
        "LoopsKeepCounting": Step(applied=_loops_keep_counting),
        "WaitsSetItBack": Step(applied=_waits_set_it_back),
        "RetriesBeginAnew": Step(applied=_retries_begin_anew),
        "CountsWhenItCancels": Step(
            source=lambda module: text_of(module).replace('status="cancelled"', 'status="cancelled", attempts=0')
        ),
    },
    invariant=3,
)


def is_within(node: NodeState, limit: int) -> bool:
    """Tell whether a node has no more attempts than it may, and one left if it goes on."""
    goes_on = node.status in {"ready", "retry_pending"}
    return node.attempts < limit if goes_on else node.attempts <= limit


def _node_of(place: Place) -> int:
    """Return the node that an event is about; the first one if it is about none."""
    event = place.event
    if isinstance(event, TransitionActivated):
        return place.before.plan.targets[event.edge]
    return place.before.plan.positions.get(getattr(event, "node", NodeId("")), 0)


def _any_step(values: Any, place: Place, limit: int) -> tuple[State, EventV5, int]:
    """Return a place at which its node has had any number of attempts, and may have as many as a limit says."""
    position = _node_of(place)
    attempts = values.whole("attempts", 0, MOST)
    policy = msgspec.structs.replace(policy_of(place.before.node(position)), max_attempts=limit)
    before = _with_attempts(with_policy(place.before, position, policy), position, attempts)
    event = place.event
    if isinstance(event, NodeStarted | ChildStarted):
        event = msgspec.structs.replace(event, attempt=values.whole("attempt", 1, MOST))
    if isinstance(event, RetryScheduled | RetryReleased):
        event = msgspec.structs.replace(event, next_attempt=attempts + 1)
    return before, event, position


@THEOREM.claim
def there_is_a_place_for_every_event(step: Step, values: Any) -> bool:
    """Every event of every version, and every row of the node table, is among the places that are spoken of."""
    del step, values
    return not missing(places())


@THEOREM.claim
def nothing_else_counts_attempts(step: Step, values: Any) -> bool:
    """The kernel writes the count where an activation begins and where an attempt starts, and nowhere else."""
    del values
    of_the_run = {"changes._outcome_committed", "changes._child_completed"}  # Those of a run have the same name.
    return written_by("attempts", step.source) - of_the_run == {"changes._begins", "changes._started"}


@THEOREM.claim
def a_fresh_node_may_be_started(step: Step, values: Any) -> bool:
    """A node that has had no attempt may have one, whatever the limit; one that had one may have another by default."""
    policy = RetryPolicy(max_attempts=values.whole("max_attempts", 1, MOST))
    return step.rules.has_attempts(policy, 0) and step.rules.has_attempts(RetryPolicy(), 1)


@THEOREM.claim
def every_event_keeps_within_the_limit(step: Step, values: Any) -> bool:
    """Where a node has no more attempts than it may, and one left if it goes on, this is so after every event."""
    place = values.among("place", of_versions(BUDGETS_FROM))
    limit = values.whole("max_attempts", 1, MOST)
    before, event, position = _any_step(values, place, limit)
    assume(is_within(before.nodes[position], limit))
    if isinstance(event, NodeStarted | ChildStarted):
        assume(contradiction(before, event, place.version, step.rules) is None)
    after = step.applied(before, event, place.version, step.rules)
    return is_within(after.nodes[position], limit)


@THEOREM.claim
def each_start_counts_and_nothing_sets_back(step: Step, values: Any) -> bool:
    """A start is one attempt more; an activation begins with none; after every other event there are as many."""
    place = values.among("place", places())
    before, event, position = _any_step(values, place, MOST)
    if isinstance(event, NodeStarted | ChildStarted):
        assume(contradiction(before, event, place.version, step.rules) is None)
    after = step.applied(before, event, place.version, step.rules).nodes[position]
    begins = isinstance(event, NodeReady | TransitionActivated) and after.status != before.nodes[position].status
    starts = isinstance(event, NodeStarted | ChildStarted)
    return after.attempts == (0 if begins else before.nodes[position].attempts + int(starts))


@THEOREM.claim
def before_version_4_there_is_one_attempt(step: Step, values: Any) -> bool:
    """In older versions an activation has at most one attempt, and a node that is ready has had none."""
    place = values.among("place", tuple(place for place in places() if place.version < BUDGETS_FROM))
    before, event, position = _any_step(values, place, RetryPolicy().max_attempts)
    node = before.nodes[position]
    assume(node.attempts <= int(node.status != "ready"))
    if isinstance(event, NodeStarted | ChildStarted):
        assume(contradiction(before, event, place.version, step.rules) is None)
    found = step.applied(before, event, place.version, step.rules).nodes[position]
    return found.attempts <= int(found.status != "ready")
