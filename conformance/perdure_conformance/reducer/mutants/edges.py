"""Faults of edges: EDG-008 to EDG-017."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import msgspec

from perdure.kernel.events import EventV5, NodeOutcomeCommitted, NodeReady, NodeStarted, TransitionActivated
from perdure.kernel.outcomes import Outcome, OutcomeKind, Unsuccessful
from perdure.kernel.predicates import Predicate, matches
from perdure.kernel.queues import Queue, added, in_order
from perdure.kernel.rules import RULES, Closing, Prospects, begins_at_once, closing, fires, is_released
from perdure.kernel.state import LIVE, TERMINAL, NodeState, Queued, State
from perdure_conformance.reducer.mutants.faults import with_moves
from perdure_conformance.reducer.mutants.turns import (
    ClosesToo,
    Overlooks,
    Turn,
    Wayward,
    again,
    at,
    firing,
    matching,
    with_node,
    without_output,
)
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

# Which edges fire


@mutant("EDG-008", overlaps=("EDG-014", "EDG-015", "RUN-006", "RUN-017"))
class FiresOnlyTheFirst(Wayward):
    """Follows the first edge that matches, and no other."""

    def turned(self, turn: Turn) -> State:
        ended = turn.ended
        return turn.after if ended is None else _refired(turn.after, turn.after.agenda.firing[:1], self)


@mutant("EDG-008", overlaps=("EDG-015", "RUN-006", "RUN-017"))
class FiresTheLastEdgeFirst(Wayward):
    """Follows edges in the opposite order."""

    def turned(self, turn: Turn) -> State:
        ended = turn.ended
        return turn.after if ended is None else _refired(turn.after, turn.after.agenda.firing[::-1], self)


@mutant("EDG-008", overlaps=("DEP-010", "VER-010"))
class FiresAtEachFailure(Wayward):
    """Follows the edges of an outcome that will be retried."""

    def turned(self, turn: Turn) -> State:
        ended = turn.ended
        if ended is None or not ended.is_retried:
            return turn.after
        return firing(turn.after, matching(turn.after, ended.position, ended.outcome, self.rules), self.rules)


@mutant("EDG-008", overlaps=("DEP-001", "DEP-010", "EDG-016", "EDG-017", "RUN-023"))
class FiresAtClosures(Wayward):
    """Follows the edges of a node that was skipped or closed otherwise."""

    def turned(self, turn: Turn) -> State:
        if isinstance(turn.event, TransitionActivated):
            return again(turn.after, self.rules)
        position = turn.closed
        if position is None or not isinstance(turn.event, NodeOutcomeCommitted):
            return turn.after
        edges = (
            *turn.after.agenda.firing[turn.after.agenda.fired :],
            *matching(turn.after, position, turn.event.outcome, self.rules),
        )
        return firing(turn.after, edges, self.rules)


@mutant(
    "EDG-008",
    overlaps=("DEP-004", "DEP-005", "DEP-008", "EDG-009", "RUN-017", "RUN-024"),
    report="github/spec-kit#2592",
)
class LoopsOnItsFirstOutcome(Wayward):
    """Matches edges with the first outcome that a node ever had."""

    def turned(self, turn: Turn) -> State:
        if isinstance(turn.event, TransitionActivated):
            return again(turn.after, self.rules)
        ended = turn.ended
        if ended is None or ended.is_retried:
            return turn.after
        first = min(
            attempt.outcome
            for attempt in turn.after.attempts.values()
            if attempt.node == ended.position and attempt.outcome is not None
        )
        edges = matching(turn.after, ended.position, turn.after.outcomes[first], self.rules)
        is_right = edges == matching(turn.after, ended.position, ended.outcome, self.rules)
        return turn.after if is_right else firing(turn.after, edges, self.rules)


@mutant("EDG-009", overlaps=("EDG-008",))
class CallsTheLastFailurePermanent(ReferenceKernel):
    """Matches edges with a permanent failure when the attempts are used up."""

    @staticmethod
    def _matches(predicate: Predicate, outcome: Outcome) -> bool:
        if isinstance(outcome, Unsuccessful) and outcome.kind == "retryable_failure":
            return matches(predicate, without_output("permanent_failure"))
        return matches(predicate, outcome)

    rules = replace(RULES, matches=_matches)


@mutant("EDG-009", overlaps=("EDG-008", "EDG-010", "RTY-004"))
class FollowsNoRetryableFailure(ReferenceKernel):
    """Follows no edge at all when the attempts are used up."""

    rules = replace(
        RULES,
        matches=lambda predicate, outcome: outcome.kind != "retryable_failure" and matches(predicate, outcome),
    )


@mutant("EDG-010", overlaps=("EDG-008", "EDG-009", "EDG-015", "RTY-004", "RUN-006", "RUN-017"))
class PointsAtTheEventBefore(Wayward):
    """Tells the sequence of the event before TransitionActivated, which is not always the outcome."""

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        if isinstance(event, TransitionActivated):
            return msgspec.structs.replace(event, source_sequence=state.sequence)
        return event


@mutant("EDG-010")
class OverlooksTheSequenceOfTheOutcome(Overlooks):
    """Does not look which outcome TransitionActivated says that it follows."""

    of: ClassVar = TransitionActivated
    overlooked: ClassVar = frozenset({"source_sequence"})


@mutant("EDG-010")
class OverlooksTheSource(Overlooks):
    """Does not look which source TransitionActivated names."""

    of: ClassVar = TransitionActivated
    overlooked: ClassVar = frozenset({"source"})


# What becomes of an activation


@mutant("EDG-011", overlaps=("BUD-002", "DEP-010", "EDG-012"))
class LosesWhatComesToABusyNode(Wayward):
    """Drops an activation that comes while its target is busy."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, TransitionActivated):
            return turn.after
        target = turn.before.plan.targets[turn.event.edge]
        node = turn.before.nodes[target]
        return with_node(turn.after, target, queue=node.queue) if node.status in LIVE else turn.after


@mutant("EDG-011", overlaps=("EDG-012",))
class QueuesOnlyOne(Wayward):
    """Takes one waiting activation for enough, and drops those that come after it."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, TransitionActivated):
            return turn.after
        target = turn.before.plan.targets[turn.event.edge]
        queue = turn.before.nodes[target].queue
        return turn.after if queue is None else with_node(turn.after, target, queue=queue)


@mutant("EDG-011", overlaps=("EDG-012",))
class OvertakesTheQueue(ReferenceKernel):
    """Begins a new activation at once although others wait."""

    rules = replace(RULES, begins_at_once=lambda target: target.status not in LIVE and is_released(target))


@mutant(
    "EDG-011",
    overlaps=(
        "BUD-007",
        "BUD-008",
        "CHD-009",
        "DEP-004",
        "DEP-010",
        "EDG-013",
        "EDG-015",
        "RTY-003",
        "RUN-017",
        "RUN-020",
        "RUN-027",
    ),
)
class QueuesEverything(ReferenceKernel):
    """Queues an activation of a node that ended before, although the node is idle."""

    rules = replace(RULES, begins_at_once=lambda target: begins_at_once(target) and target.status not in TERMINAL)


@mutant("EDG-012", overlaps=("EDG-011",))
class BeginsTheLatestFirst(Wayward):
    """Takes the activation that came last from the queue."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, NodeReady) or turn.event.cause != "queued":
            return turn.after
        position = at(turn.before, turn.event.node)
        *others, last = in_order(turn.before.nodes[position].queue)
        return with_node(turn.after, position, activation=last, queue=_queue(others))


@mutant("EDG-012")
class OrdersTheQueueByEdges(Wayward):
    """Takes the activation by the first edge from the queue, whenever it came."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, NodeReady) or turn.event.cause != "queued":
            return turn.after
        position = at(turn.before, turn.event.node)
        waiting = in_order(turn.before.nodes[position].queue)
        first, *others = sorted(waiting, key=lambda item: (item.edge, item.source_sequence))
        return with_node(turn.after, position, activation=first, queue=_queue(others))


@mutant("EDG-012", overlaps=("EDG-011",))
class EmptiesTheQueue(Wayward):
    """Begins one activation of the queue, and forgets the others."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, NodeReady) or turn.event.cause != "queued":
            return turn.after
        return with_node(turn.after, at(turn.before, turn.event.node), queue=None)


# How often


@mutant("EDG-013", overlaps=("DEP-004", "DEP-005", "EDG-011", "EDG-012", "EDG-015", "RUN-017", "RUN-020", "RUN-027"))
class RunsNothingTwice(ReferenceKernel):
    """Lets no edge fire into a node that succeeded."""

    rules = replace(RULES, fires=lambda target, limit: target.status != "succeeded" and fires(target, limit))


@mutant("EDG-013", overlaps=("DEP-004", "DEP-010", "RUN-020"))
class LeavesFailedNodesFailed(ReferenceKernel):
    """Lets no edge fire into a node that failed."""

    rules = replace(RULES, fires=lambda target, limit: target.status != "failed" and fires(target, limit))


@mutant("EDG-013")
class TerminatedForGood(Wayward):
    """Lets no edge fire into a node that NodeTerminated ended."""

    def turned(self, turn: Turn) -> State:
        edges = tuple(edge for edge in turn.after.agenda.firing if not self._is_terminated(turn.after, edge))
        return turn.after if turn.ended is None else _refired(turn.after, edges, self)

    @staticmethod
    def _is_terminated(state: State, edge: int) -> bool:
        target = state.nodes[state.plan.targets[edge]]
        if target.status != "failed" or target.outcome is None:
            return False
        return state.outcomes[target.outcome].kind in {"changes_requested", "retryable_failure"}


@mutant("EDG-014", overlaps=("DEP-010", "EDG-016"))
class FiresIntoClosedNodes(ReferenceKernel):
    """Lets an edge fire into a node that was closed, which then runs."""

    rules = replace(
        with_moves(("skipped", "ready")), fires=lambda target, limit: limit is None or target.activations < limit
    )


@mutant("EDG-014")
class ChargesForClosedTargets(Wayward):
    """Charges for an edge into a closed node, although nothing happens."""

    def turned(self, turn: Turn) -> State:
        ended = turn.ended
        if ended is None or ended.is_retried:
            return turn.after
        edges = matching(turn.after, ended.position, ended.outcome, self.rules)
        charged = sum(turn.before.nodes[turn.before.plan.targets[edge]].closed for edge in edges)
        return msgspec.structs.replace(turn.after, transitions_used=turn.after.transitions_used + charged)


@mutant("EDG-015", report="open-mercato/cezar#51")
class CountsRetriesAsActivations(ReferenceKernel):
    """Counts further attempts against the limit of activations."""

    @staticmethod
    def _fires(target: NodeState, limit: int | None) -> bool:
        return fires(target, limit) and (limit is None or target.activations + max(target.attempts - 1, 0) < limit)

    rules = replace(RULES, fires=_fires)


@mutant(
    "EDG-015",
    overlaps=("DEP-005", "DEP-006", "DEP-010", "EDG-011", "EDG-013", "EDG-016", "RTY-003", "RUN-017", "RUN-027"),
)
class CountsOnlyWhatEdgesBring(Wayward):
    """Does not count the activation that a node began the run with."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, NodeReady) or turn.event.cause == "queued":
            return turn.after
        return with_node(turn.after, at(turn.after, turn.event.node), activations=0)


@mutant("EDG-015")
class DoesNotCountTheQueue(ReferenceKernel):
    """Counts the activations that have begun, without those that wait."""

    @staticmethod
    def _fires(target: NodeState, limit: int | None) -> bool:
        begun = target.activations - len(list(in_order(target.queue)))
        return not target.closed and (limit is None or begun < limit)

    rules = replace(RULES, fires=_fires)


@mutant("EDG-015")
class CountsTheQueueTwice(Wayward):
    """Counts an activation when it is queued, and again when it begins."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, NodeReady) or turn.event.cause != "queued":
            return turn.after
        position = at(turn.after, turn.event.node)
        return with_node(turn.after, position, activations=turn.after.nodes[position].activations + 1)


@mutant("EDG-015", overlaps=("DEP-010", "EDG-016", "RUN-017", "RUN-027"))
class AllowsOneActivationMore(ReferenceKernel):
    """Lets an edge fire once more than `max_activations` says."""

    rules = replace(
        RULES, fires=lambda target, limit: not target.closed and (limit is None or target.activations <= limit)
    )


@mutant("EDG-015", overlaps=("DEP-005", "DEP-006", "EDG-008", "EDG-011", "EDG-013"))
class LimitsWhatStarted(Wayward):
    """Counts an activation when its first attempt starts."""

    def turned(self, turn: Turn) -> State:
        if isinstance(turn.event, NodeStarted) and turn.event.attempt == 1:
            position = at(turn.after, turn.event.node)
            return with_node(turn.after, position, activations=turn.after.nodes[position].activations + 1)
        if isinstance(turn.event, NodeReady) and turn.event.cause != "queued":
            position = at(turn.after, turn.event.node)
        elif isinstance(turn.event, TransitionActivated):
            position = turn.after.plan.targets[turn.event.edge]
        else:
            return turn.after
        return with_node(turn.after, position, activations=turn.before.nodes[position].activations)


# Branches that are not taken


@mutant("EDG-016", overlaps=("DEP-001", "DEP-002", "DEP-007", "DEP-010", "DEP-011", "EDG-008", "EDG-017", "RUN-023"))
class NeverSkips(ReferenceKernel):
    """Leaves a branch that is not taken pending, so that the run never ends."""

    @staticmethod
    def _closing(node: NodeState, prospects: Prospects, version: int) -> Closing | None:
        found = closing(node, prospects, version)
        return None if found == "skipped" else found

    rules = replace(RULES, closing=_closing)


@mutant("EDG-016", overlaps=("DEP-001", "DEP-002", "DEP-010", "DEP-011", "RUN-023"))
class KeepsALoopAlive(Wayward):
    """Does not skip the nodes of a loop, since they lead to each other."""

    def turned(self, turn: Turn) -> State:
        def keeps(position: int) -> bool:
            return (
                _is_untaken(turn.after, position)
                and len(turn.after.plan.members[turn.after.plan.component[position]]) > 1
            )

        return again(turn.after, self.rules, keeps) if turn.after.agenda.closing else turn.after


@mutant("EDG-016", overlaps=("DEP-001", "DEP-002", "DEP-007", "DEP-010", "DEP-011", "EDG-008", "EDG-017", "RUN-023"))
class CallsUntakenBranchesBlocked(Wayward):
    """Closes a branch that is not taken as blocked."""

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        if not isinstance(event, NodeOutcomeCommitted) or event.outcome.kind != "skipped":
            return event
        is_untaken = _is_untaken(state, at(state, event.node))
        return msgspec.structs.replace(event, outcome=without_output("blocked")) if is_untaken else event


@mutant("EDG-017", overlaps=("DEP-010", "EDG-008", "EDG-009", "EDG-016"), report="twentyhq/twenty#24071")
class SkipsAMergeWithADeadEdge(ClosesToo):
    """Skips a node as soon as one edge into it was not taken, though another may yet fire."""

    def lost(self, state: State) -> Iterator[tuple[int, OutcomeKind]]:
        for edge in state.plan.edges:
            source, target = state.nodes[at(state, edge.source)], at(state, edge.target)
            if _may_be_activated(state, target) and source.status in TERMINAL:
                yield target, "skipped"


@mutant("EDG-017", overlaps=("EDG-016",))
class LooksOneEdgeBack(ClosesToo):
    """Skips a node to which no edge of a live node leads directly."""

    def lost(self, state: State) -> Iterator[tuple[int, OutcomeKind]]:
        if state.last_outcome is None:
            return
        reached = {edge.target for edge in state.plan.edges if state.nodes[at(state, edge.source)].status in LIVE}
        for position in sorted(state.nodes):
            if _may_be_activated(state, position) and state.name(position) not in reached:
                yield position, "skipped"


@mutant("EDG-017", overlaps=("EDG-016",))
class LooksAlongEdgesOnly(ClosesToo):
    """Skips a node that live nodes reach only by way of a dependency."""

    def lost(self, state: State) -> Iterator[tuple[int, OutcomeKind]]:
        if state.last_outcome is None:
            return
        reached = {position for position, node in state.nodes.items() if node.status in LIVE}
        while (
            more := {state.plan.targets[edge] for position in reached for edge in state.plan.leaving[position]}
            - reached
        ):
            reached |= more
        for position in sorted(state.nodes):
            if _may_be_activated(state, position) and position not in reached:
                yield position, "skipped"


def _is_untaken(state: State, position: int) -> bool:
    """Tell whether a node is pending for want of an edge alone."""
    node = state.nodes[position]
    return node.status == "pending" and is_released(node)


def _may_be_activated(state: State, position: int) -> bool:
    """Tell whether a node waits for an edge and for nothing else."""
    return _is_untaken(state, position) and state.plan.entering[position] > 0 and state.nodes[position].queue is None


def _refired(state: State, edges: tuple[int, ...], kernel: ReferenceKernel) -> State:
    return state if edges == state.agenda.firing else firing(state, edges, kernel.rules)


def _queue(items: list[Queued]) -> Queue[Queued] | None:
    queue: Queue[Queued] | None = None
    for item in items:
        queue = added(queue, item)
    return queue
