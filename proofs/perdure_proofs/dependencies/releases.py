"""A release is never taken back: once its dependencies were satisfied, a node keeps that, whatever event comes.

A prerequisite may be activated again by an edge, and fail the second time. A node that was released by its first
success goes on, with the outcomes that were pinned then: else it would be given other input in its second attempt than
in its first, or be closed while it runs. And no node is released but by a policy that is satisfied.

The latch is one field of a node. Only `_released` writes it, which `judged` calls for a node that has none. At every
place, each node is looked at, with its latch as it is and with one set before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import msgspec

from perdure.kernel.changes import applied
from perdure.kernel.events import EventV5, NodeReady, TransitionActivated
from perdure.kernel.liveness import is_satisfied
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.state import State
from perdure_proofs.places import missing, places
from perdure_proofs.steps import Step, text_of, written_by
from perdure_proofs.theorems import Any, Theorem


def _unlatched(state: State, position: int) -> State:
    node = msgspec.structs.replace(state.nodes[position], released=None)
    return msgspec.structs.replace(state, nodes=state.nodes.set(position, node))


def _takes_releases_back(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    if isinstance(event, TransitionActivated):
        for dependent in state.plan.dependents[state.plan.targets[event.edge]]:
            after = _unlatched(after, dependent)
    return after


def _releases_once_an_activation(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    if isinstance(event, NodeReady) and event.cause == "dependencies":
        return _unlatched(after, state.plan.positions[event.node])
    return after


THEOREM: Final = Theorem(
    ("DEP-004", "DEP-005"),
    Step(),
    {
        "TakesReleasesBack": Step(applied=_takes_releases_back),
        "ReleasesOnceAnActivation": Step(applied=_releases_once_an_activation),
        "ForgetsItWhenAnActivationBegins": Step(
            source=lambda module: text_of(module).replace("attempts=0)", "attempts=0, released=None)")
        ),
        "ReleasesByTheFirstThatEnds": Step(
            replace(RULES, satisfied=lambda _, prerequisites, tally: tally.unfinished < prerequisites)
        ),
    },
    invariant=11,
)


@THEOREM.claim
def there_is_a_place_for_every_event(step: Step, values: Any) -> bool:
    """Every event of every version, and every row of the node table, is among the places that are spoken of."""
    del step, values
    return not missing(places())


@THEOREM.claim
def nothing_else_latches(step: Step, values: Any) -> bool:
    """The kernel writes the latch where a node is released, and nowhere else."""
    del values
    return written_by("released", step.source) == {"liveness._released"}


@THEOREM.claim
def no_release_is_taken_back(step: Step, values: Any) -> bool:
    """After every event, each node that was released is so still, with what was pinned then."""
    place = values.among("place", places())
    after = step.applied(place.before, place.event, place.version, step.rules)
    nodes = place.before.nodes
    return all(nodes[at].released in {None, after.nodes[at].released} for at in nodes)


@THEOREM.claim
def a_latch_of_any_node_stays(step: Step, values: Any) -> bool:
    """If a node had been released before, by whatever was pinned then, no event would change that."""
    place, position = values.among("place", places()), values.among("node", range(5))
    before = place.before
    if position >= len(before.nodes) or before.nodes[position].tally is None:
        return True
    prerequisites = before.plan.prerequisites[position]
    pinned = before.nodes[position].released or tuple(0 for _ in prerequisites)
    node = msgspec.structs.replace(before.nodes[position], released=pinned)
    before = msgspec.structs.replace(before, nodes=before.nodes.set(position, node))
    return step.applied(before, place.event, place.version, step.rules).nodes[position].released == pinned


@THEOREM.claim
def only_what_is_satisfied_is_released(step: Step, values: Any) -> bool:
    """A node that an event releases has its policy satisfied, by the model's own rules, when it is."""
    place = values.among("place", places())
    after = step.applied(place.before, place.event, place.version, step.rules)
    released = [at for at, node in after.nodes.items() if node.released and not place.before.nodes[at].released]
    return all(is_satisfied(after, at, RULES) for at in released)
