"""An edge fires as long as its target may be activated, and at most one activation of a node is live at a time.

Whoever limits how often a correction loop may go round counts activations: those that wait for their turn too, for they
will begin, and no attempts, for those are counted elsewhere. What is closed is never activated again. And what is live
is never disturbed: an activation that comes while another is live, or others wait, or the dependencies of the node are
not satisfied, is queued behind them, and the node stays as it is.

The induction is on the events. Three cases of the kernel write the count, and no other: that in which an edge fires,
which is asked for any node, any limit and any count, and two in which a node begins by itself, as an initial one or by
its dependencies. Where it does, in the places of all kinds, it had no activation before: that is seen, not proved. What
was queued was counted when it came.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Final

import msgspec

from perdure.kernel.changes import applied
from perdure.kernel.events import EventV5, NodeReady, TransitionActivated
from perdure.kernel.identity import NodeId
from perdure.kernel.liveness import recounted
from perdure.kernel.queues import Queue, added, in_order
from perdure.kernel.rules import RULES, Rules, begins_at_once, fires, is_released
from perdure.kernel.specification import Edge, Node
from perdure.kernel.state import ACTIVE, LIVE, STATUSES, TERMINAL, Agenda, NodeState, Queued, State
from perdure_proofs.places import places
from perdure_proofs.runs import ATTEMPT, MOST, run_of
from perdure_proofs.steps import Step, text_of, written_by
from perdure_proofs.theorems import Any, Theorem, assume

_SOURCE, _TARGET = NodeId("source"), NodeId("target")
_AT: Final = 1
"""The position of the target."""


def _counts_retries(target: NodeState, limit: int | None) -> bool:
    return fires(target, limit) and (limit is None or target.activations + max(target.attempts - 1, 0) < limit)


def _does_not_count_the_queue(target: NodeState, limit: int | None) -> bool:
    begun = target.activations - len(list(in_order(target.queue)))
    return not target.closed and (limit is None or begun < limit)


def _counts_what_begins(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    if not isinstance(event, NodeReady) or event.cause != "queued":
        return after
    position = state.plan.positions[event.node]
    node = msgspec.structs.replace(after.nodes[position], activations=after.nodes[position].activations + 1)
    return msgspec.structs.replace(after, nodes=after.nodes.set(position, node))


THEOREM: Final = Theorem(
    ("EDG-011", "EDG-013", "EDG-014", "EDG-015"),
    Step(),
    {
        "RunsNothingTwice": Step(
            dataclasses.replace(
                RULES, fires=lambda target, limit: target.status != "succeeded" and fires(target, limit)
            )
        ),
        "FiresIntoClosedNodes": Step(
            dataclasses.replace(RULES, fires=lambda target, limit: limit is None or target.activations < limit)
        ),
        "CountsRetriesAsActivations": Step(dataclasses.replace(RULES, fires=_counts_retries)),
        "DoesNotCountTheQueue": Step(dataclasses.replace(RULES, fires=_does_not_count_the_queue)),
        "AllowsOneActivationMore": Step(
            dataclasses.replace(
                RULES, fires=lambda target, limit: not target.closed and (limit is None or target.activations <= limit)
            )
        ),
        "BeginsWithoutItsDependencies": Step(
            dataclasses.replace(RULES, begins_at_once=lambda target: target.status not in LIVE and target.queue is None)
        ),
        "OvertakesTheQueue": Step(
            dataclasses.replace(RULES, begins_at_once=lambda target: target.status not in LIVE and is_released(target))
        ),
        "QueuesEverything": Step(
            dataclasses.replace(
                RULES, begins_at_once=lambda target: begins_at_once(target) and target.status not in TERMINAL
            )
        ),
        "DisturbsWhatIsLive": Step(
            dataclasses.replace(RULES, begins_at_once=lambda target: is_released(target) and target.queue is None)
        ),
        "CountsTheQueueTwice": Step(applied=_counts_what_begins),
        "CountsWhenItCloses": Step(
            source=lambda module: text_of(module).replace("closed=True", "closed=True, activations=0")
        ),
    },
    invariant=8,
)


def _waiting(values: Any) -> Queue[Queued] | None:
    """Return a queue in which nothing waits, or something does."""
    is_waiting = values.among("waits", (False, True))
    return added(None, Queued(values.whole("waiting", 2, MOST), 0)) if is_waiting else None


@cache
def _run(*, depends: bool) -> State:
    target = Node(id=_TARGET, dependencies=(_SOURCE,) if depends else ())
    return run_of([Node(id=_SOURCE), target], [Edge(source=_SOURCE, target=_TARGET)])


@THEOREM.claim
def an_edge_fires_as_long_as_activations_are_left(step: Step, values: Any) -> bool:
    """An edge fires unless its target is closed, or has had as many activations as it may: nothing else is asked."""
    limit = values.whole("max_activations", 1, MOST) if values.among("is limited", (True, False)) else None
    node = NodeState(
        status=values.among("status", STATUSES),
        activations=values.whole("activations", 0, MOST),
        attempts=values.whole("attempts", 0, MOST),
        queue=_waiting(values),
        closed=values.among("closed", (False, True)),
    )
    found = step.rules.fires(node, limit)
    if node.closed:
        return not found
    return bool(found) == (limit is None or bool(node.activations < limit))


@THEOREM.claim
def a_firing_counts_and_begins_in_its_turn(step: Step, values: Any) -> bool:
    """An activation counts once; it begins if nothing is live, nothing waits and its dependencies were satisfied.

    Else it waits, and the node stays as it is: so no more than one activation is live.
    """
    status = values.among("status", tuple(status for status in STATUSES if status != "skipped"))
    depends = values.among("depends", (False, True))
    was_satisfied = not depends or values.among("was satisfied", (True, False))
    node = NodeState(
        status=status,
        activations=values.whole("activations", 0, MOST),
        attempts=values.whole("attempts", 0, MOST),
        attempt_id=ATTEMPT if status in ACTIVE else None,
        queue=_waiting(values),
        released=(0,) if depends and was_satisfied else None,
    )
    state = _run(depends=depends)
    state = recounted(msgspec.structs.replace(state, nodes=state.nodes.set(_AT, node)), step.rules)
    node = state.nodes[_AT]
    event = TransitionActivated(edge=0, source=_SOURCE, source_sequence=values.whole("sequence", 2, MOST))
    before = msgspec.structs.replace(state, agenda=Agenda(firing=(0,)))
    after = step.applied(before, event, 5, step.rules).nodes[_AT]
    counted = msgspec.structs.replace(node, activations=node.activations + 1)
    activation = Queued(event.source_sequence, 0)
    if status not in LIVE and node.queue is None and was_satisfied:
        begun = msgspec.structs.replace(counted, status="ready", attempts=0, activation=activation)
        return after == begun
    return after == msgspec.structs.replace(counted, queue=added(node.queue, activation))


@THEOREM.claim
def no_node_has_more_activations_than_it_may(step: Step, values: Any) -> bool:
    """Where an edge fires into a node that is within its limit, the node is within it after."""
    limit = values.whole("max_activations", 1, MOST)
    node = NodeState(activations=values.whole("activations", 0, MOST), queue=_waiting(values))
    assume(node.activations <= limit)
    assume(step.rules.fires(node, limit))
    return node.activations + 1 <= limit


@THEOREM.claim
def what_begins_by_itself_is_the_first(step: Step, values: Any) -> bool:
    """A node that begins by itself has its first activation; what begins from the queue was counted when it came."""
    place = values.among("place", tuple(place for place in places() if isinstance(place.event, NodeReady)))
    event = place.event
    assert isinstance(event, NodeReady)
    position = place.before.plan.positions[event.node]
    before = place.before.nodes[position].activations
    after = step.applied(place.before, event, place.version, step.rules).nodes[position].activations
    return after == before if event.cause == "queued" else (before, after) == (0, 1)


@THEOREM.claim
def nothing_else_counts_activations(step: Step, values: Any) -> bool:
    """The kernel writes the count where an edge fires, and where a node begins by itself: nowhere else."""
    del values
    return written_by("activations", step.source) == {
        "changes._transition_activated",
        "changes._node_ready: 'initial'",
        "changes._node_ready: 'dependencies'",
    }
