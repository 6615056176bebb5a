"""Faults of dependencies: DEP-001 to DEP-011."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import msgspec

from perdure.kernel.events import (
    NodeOutcomeCommitted,
    NodeReady,
    NodeStarted,
    NodeTerminated,
    TransitionActivated,
)
from perdure.kernel.liveness import is_satisfied
from perdure.kernel.mapping import input_of
from perdure.kernel.outcomes import OutcomeKind, Succeeded
from perdure.kernel.queues import added
from perdure.kernel.rules import RULES, begins_at_once, closing, propagated, satisfied, share
from perdure.kernel.specification import DependencyPolicy
from perdure.kernel.state import LIVE, TERMINAL, Agenda, State, Status, Tally
from perdure_conformance.reducer.mutants.turns import (
    ClosesToo,
    Overlooks,
    Turn,
    Wayward,
    again,
    at,
    latched,
    newly_latched,
    unlatched,
    waiting_for_dependencies,
    with_agenda,
    with_node,
)
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

# Policies


@mutant("DEP-001", overlaps=("DEP-004", "DEP-010", "DEP-011"))
class RunsAfterFailures(ReferenceKernel):
    """Satisfies all_succeeded when every prerequisite has ended and one has succeeded."""

    @staticmethod
    def _satisfied(policy: DependencyPolicy, count: int, tally: Tally) -> bool:
        is_enough = policy == "all_succeeded" and tally.unfinished == 0 and tally.succeeded > 0
        return is_enough or satisfied(policy, count, tally)

    rules = replace(RULES, satisfied=_satisfied)


@mutant("DEP-001", overlaps=("DEP-010", "DEP-011", "EDG-016"))
class TakesSkippedForSucceeded(Wayward):
    """Satisfies all_succeeded by a prerequisite that was skipped."""

    def turned(self, turn: Turn) -> State:
        position, event, state = turn.closed, turn.event, turn.after
        if position is None or not isinstance(event, NodeOutcomeCommitted) or event.outcome.kind != "skipped":
            return state
        skipped, succeeded = share("skipped", is_revivable=False), share("succeeded", is_revivable=False)
        for dependent in state.plan.dependents[position]:
            tally = state.nodes[dependent].tally
            assert tally is not None
            state = with_node(state, dependent, tally=tally.minus(skipped).plus(succeeded))
        for dependent, _ in waiting_for_dependencies(state):
            if is_satisfied(state, dependent, self.rules):
                state = latched(state, dependent)
        return again(state, self.rules)


@mutant("DEP-001", overlaps=("DEP-006", "DEP-010", "DEP-011", "EDG-012"))
class NeedsOneSuccess(ReferenceKernel):
    """Takes all_succeeded for any_succeeded."""

    @staticmethod
    def _satisfied(policy: DependencyPolicy, count: int, tally: Tally) -> bool:
        return satisfied("any_succeeded" if policy == "all_succeeded" else policy, count, tally)

    rules = replace(RULES, satisfied=_satisfied)


class CompletesBy(Wayward):
    """It takes another status for one of a prerequisite that is complete."""

    status: ClassVar[Status]

    def turned(self, turn: Turn) -> State:
        ended, state = turn.ended, turn.after
        if ended is None or state.nodes[ended.position].status != self.status:
            return state
        for dependent, node in waiting_for_dependencies(state):
            statuses = {state.nodes[prerequisite].status for prerequisite in state.plan.prerequisites[dependent]}
            policy = state.node(dependent).dependency_policy
            if node.tally is not None and policy == "all_completed" and statuses <= TERMINAL | {self.status}:
                state = latched(state, dependent)
        return again(state, self.rules)


@mutant("DEP-002")
class TakesChangesRequestedForCompleted(CompletesBy):
    """Satisfies all_completed by a prerequisite that asked for changes."""

    status = "changes_requested"


@mutant("DEP-002", overlaps=("VER-010",))
class TakesRetryPendingForCompleted(CompletesBy):
    """Satisfies all_completed by a prerequisite that will be tried again."""

    status = "retry_pending"


@mutant("DEP-002", overlaps=("DEP-004",))
class CompletesWithoutBlockedOnes(ReferenceKernel):
    """Does not satisfy all_completed if a prerequisite is blocked or cancelled."""

    @staticmethod
    def _satisfied(policy: DependencyPolicy, count: int, tally: Tally) -> bool:
        is_spoilt = policy == "all_completed" and (tally.blocked or tally.cancelled)
        return not is_spoilt and satisfied(policy, count, tally)

    rules = replace(RULES, satisfied=_satisfied)


@mutant("DEP-002", overlaps=("BUD-005", "DEP-004", "EDG-016", "RTY-004", "RUN-023"))
class CompletesWithASuccess(ReferenceKernel):
    """Does not satisfy all_completed unless some prerequisite succeeded."""

    @staticmethod
    def _satisfied(policy: DependencyPolicy, count: int, tally: Tally) -> bool:
        return satisfied(policy, count, tally) and (policy != "all_completed" or tally.succeeded > 0)

    rules = replace(RULES, satisfied=_satisfied)


@mutant("DEP-003", overlaps=("DEP-005",))
class WaitsForAll(ReferenceKernel):
    """Satisfies any_succeeded only when every prerequisite has ended."""

    @staticmethod
    def _satisfied(policy: DependencyPolicy, count: int, tally: Tally) -> bool:
        return satisfied(policy, count, tally) and (policy != "any_succeeded" or tally.unfinished == 0)

    rules = replace(RULES, satisfied=_satisfied)


@mutant("DEP-003", overlaps=("DEP-010",))
class TakesTheFirstThatEnds(ReferenceKernel):
    """Satisfies any_succeeded by the first prerequisite that ends, however."""

    @staticmethod
    def _satisfied(policy: DependencyPolicy, count: int, tally: Tally) -> bool:
        return tally.unfinished < count if policy == "any_succeeded" else satisfied(policy, count, tally)

    rules = replace(RULES, satisfied=_satisfied)


@mutant("DEP-003", overlaps=("DEP-010", "DEP-011"))
class AFailureSpoilsAny(ReferenceKernel):
    """Does not satisfy any_succeeded if another prerequisite ended without success before."""

    @staticmethod
    def _satisfied(policy: DependencyPolicy, count: int, tally: Tally) -> bool:
        is_spoilt = policy == "any_succeeded" and tally.succeeded < count - tally.unfinished
        return not is_spoilt and satisfied(policy, count, tally)

    rules = replace(RULES, satisfied=_satisfied)


# When they are judged


@mutant("DEP-004")
class RemembersOldSuccesses(Wayward):
    """Counts a success of a prerequisite that was activated again since."""

    def turned(self, turn: Turn) -> State:
        ended, state = turn.ended, turn.after
        if (ended is None or ended.is_retried) and turn.closed is None:
            return state
        succeeded = {
            attempt.node
            for attempt in state.attempts.values()
            if attempt.outcome is not None and isinstance(state.outcomes[attempt.outcome], Succeeded)
        }
        for dependent, node in waiting_for_dependencies(state):
            prerequisites = set(state.plan.prerequisites[dependent])
            policy = state.node(dependent).dependency_policy
            is_enough = prerequisites & succeeded if policy == "any_succeeded" else prerequisites <= succeeded
            if node.tally is not None and policy != "all_completed" and is_enough:
                state = latched(state, dependent)
        return state if state is turn.after else again(state, self.rules)


@mutant("DEP-004", overlaps=("BUD-005", "DEP-002", "EDG-016", "RUN-023"))
class DoesNotJudgeAtClosures(Wayward):
    """Judges dependents when attempts end, and not when a node is closed."""

    def turned(self, turn: Turn) -> State:
        state = turn.after
        if turn.closed is None:
            return state
        for position in newly_latched(turn.before, state):
            state = unlatched(state, position)
        return state if state is turn.after else again(state, self.rules)


@mutant("DEP-004", overlaps=("DEP-002",))
class DoesNotJudgeAtTerminations(Wayward):
    """Judges dependents at outcomes alone, and not when a node is terminated."""

    def turned(self, turn: Turn) -> State:
        state = turn.after
        if not isinstance(turn.event, NodeTerminated):
            return state
        for position in newly_latched(turn.before, state):
            state = unlatched(state, position)
        return state if state is turn.after else again(state, self.rules)


@mutant("DEP-005", overlaps=("DEP-004",))
class JudgesAfterEdges(Wayward):
    """Judges dependents after edges fired: one that activates the prerequisite again undoes the release."""

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if not isinstance(event, TransitionActivated):
            return state
        for dependent in state.plan.dependents[state.plan.targets[event.edge]]:
            node = state.nodes[dependent]
            is_new = state.agenda.releases is not None and node.status == "pending" and node.released is not None
            if is_new and not is_satisfied(state, dependent, self.rules):
                state = unlatched(state, dependent)
        return state if state is turn.after else again(state, self.rules)


@mutant("DEP-005", overlaps=("DEP-008", "RUN-017"))
class ForgetsTheLatch(Wayward):
    """Takes a latch back when a prerequisite is activated again before its dependent began."""

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if not isinstance(event, TransitionActivated):
            return state
        for dependent in state.plan.dependents[state.plan.targets[event.edge]]:
            node = state.nodes[dependent]
            is_waiting = node.status == "pending" and state.plan.entering[dependent] and node.queue is None
            if is_waiting and not is_satisfied(state, dependent, self.rules):
                state = unlatched(state, dependent)
        return state


class ReleasesMore(Wayward):
    """It releases nodes again when their prerequisites end again."""

    policies: ClassVar[frozenset[DependencyPolicy]]

    def turned(self, turn: Turn) -> State:
        ended, state = turn.ended, turn.after
        if ended is None or ended.is_retried:
            return state
        for dependent in state.plan.dependents[ended.position]:
            before, policy = turn.before.nodes[dependent], state.node(dependent).dependency_policy
            is_over = before.released is not None and before.status in TERMINAL and not state.plan.entering[dependent]
            if is_over and policy in self.policies and is_satisfied(state, dependent, self.rules):
                state = latched(state, dependent)
        return state if state is turn.after else again(state, self.rules)


@mutant("DEP-005", overlaps=("DEP-006",))
class ReleasesAgain(ReleasesMore):
    """Releases a node again when its prerequisites end again."""

    policies = frozenset({"all_succeeded", "all_completed"})


@mutant("DEP-006", overlaps=("DEP-005",))
class ReleasesForEachSuccess(ReleasesMore):
    """Releases a node with any_succeeded for each prerequisite that succeeds."""

    policies = frozenset({"any_succeeded"})


@mutant("DEP-006", overlaps=("DEP-007", "EDG-012", "VER-004"))
class OverlooksTheCause(Overlooks):
    """Does not look which cause NodeReady names."""

    of: ClassVar = NodeReady
    overlooked: ClassVar = frozenset({"cause"})


@mutant("DEP-007", overlaps=("DEP-004", "EDG-011", "EDG-016", "RUN-006", "RUN-017"))
class BeginsWithoutAnEdge(Wayward):
    """Begins a node with dependencies and edges as soon as its dependencies are satisfied."""

    def turned(self, turn: Turn) -> State:
        state = turn.after
        for position in newly_latched(turn.before, state):
            if state.plan.entering[position] and state.nodes[position].queue is None:
                state = with_agenda(state, releases=added(state.agenda.releases, position))
        return state if state is turn.after else again(state, self.rules)


@mutant("DEP-007", overlaps=("DEP-010", "EDG-011", "EDG-012", "EDG-015", "EDG-016"))
class BeginsWithoutItsDependencies(ReferenceKernel):
    """Begins a node as soon as an edge fires, whatever it depends on."""

    rules = replace(RULES, begins_at_once=lambda target: target.status not in LIVE and target.queue is None)


@mutant("DEP-007", overlaps=("DEP-010", "EDG-011", "EDG-012", "EDG-015"))
class ForgetsWhatCameTooEarly(Wayward):
    """Drops an activation that comes before the dependencies are satisfied."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, TransitionActivated):
            return turn.after
        target = turn.before.plan.targets[turn.event.edge]
        node = turn.before.nodes[target]
        is_early = node.status == "pending" and not begins_at_once(node)
        return with_node(turn.after, target, queue=node.queue) if is_early else turn.after


# What is pinned


@mutant("DEP-008", overlaps=("RUN-017",))
class TakesTheNewestOutcomes(Wayward):
    """Gives a node the newest outcomes of its prerequisites, not those that released it."""

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if not isinstance(event, NodeStarted):
            return state
        position = at(state, event.node)
        given = input_of(with_node(state, position, released=None), position, self.rules)
        return state if isinstance(given, str) else with_node(state, position, input=given)


@mutant("DEP-008", overlaps=("RUN-017",))
class PinsEachActivation(Wayward):
    """Pins the outcomes of the prerequisites anew for each activation."""

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if isinstance(event, TransitionActivated):
            position = state.plan.targets[event.edge]
        elif isinstance(event, NodeReady):
            position = at(state, event.node)
        else:
            return state
        if state.nodes[position].released is None or state.nodes[position].status != "ready":
            return state
        pinned = tuple(state.nodes[other].outcome or 0 for other in state.plan.prerequisites[position])
        return with_node(state, position, released=pinned)


# What a failure does to others


@mutant("DEP-009", overlaps=("DEP-001", "DEP-002", "DEP-003", "DEP-005", "DEP-010", "RUN-025"))
class EndsTheRunWithItsFirstFailure(Wayward):
    """Fails the run as soon as a node fails for good while others run, as version 1 did."""

    def turned(self, turn: Turn) -> State:
        ended, state = turn.ended, turn.after
        if ended is None or ended.outcome.kind != "permanent_failure" or ended.is_retried:
            return state
        if not state.statuses.get("running", 0):
            return state
        return msgspec.structs.replace(state, agenda=Agenda(verdict="failed"))


@mutant("DEP-009", overlaps=("DEP-002", "DEP-003", "DEP-004", "DEP-010", "RTY-004"))
class ReleasesNothingAfterAFailure(Wayward):
    """Releases nothing any more when some node has failed."""

    def turned(self, turn: Turn) -> State:
        state = turn.after
        if not state.statuses.get("failed", 0):
            return state
        latches = [position for position in newly_latched(turn.before, state) if not state.plan.entering[position]]
        return again(_released_as_before(turn), self.rules) if latches else state


# Impossible policies


@mutant("DEP-010", overlaps=("DEP-001", "DEP-004"))
class GivesUpAtTheFirstFailure(ClosesToo):
    """Closes a node when one prerequisite did not succeed, while others are still under way."""

    def lost(self, state: State) -> Iterator[tuple[int, OutcomeKind]]:
        for position, node in waiting_for_dependencies(state):
            tally, policy = node.tally, state.node(position).dependency_policy
            assert tally is not None
            ended = len(state.plan.prerequisites[position]) - tally.unfinished
            if policy == "all_succeeded" and ended > tally.succeeded:
                yield position, propagated(tally)


@mutant("DEP-010", overlaps=("DEP-004",))
class ExpectsNoCorrection(ClosesToo):
    """Closes a node when all prerequisites have ended, though an edge may activate one again."""

    def lost(self, state: State) -> Iterator[tuple[int, OutcomeKind]]:
        for position, node in waiting_for_dependencies(state):
            assert node.tally is not None
            if not node.tally.unfinished and not is_satisfied(state, position, self.rules):
                yield position, propagated(node.tally)


@mutant("DEP-010", overlaps=("EDG-016",))
class WaitsWhileAnythingLeadsThere(Wayward):
    """Takes any way from a live node for hope, also one that ends in a dependency."""

    def born(self, state: State) -> State:
        entrances = {position: count + 1 for position, count in state.entrances.items()}
        return msgspec.structs.replace(state, entrances=state.entrances.update(entrances))


@mutant("DEP-010", overlaps=("EDG-016",))
class KeepsWhatIsQueued(ReferenceKernel):
    """Does not close a node for which activations are queued."""

    rules = replace(RULES, closing=lambda node, *more: closing(node, *more) if node.queue is None else None)


@mutant("DEP-010")
class KeepsTheQueueOfTheClosed(Wayward):
    """Does not discard the activations that are queued for a node that it closes."""

    def turned(self, turn: Turn) -> State:
        position, after = turn.closed, turn.after
        return after if position is None else with_node(after, position, queue=turn.before.nodes[position].queue)


@mutant("DEP-010", overlaps=("EDG-016",))
class ClosesOnlyWhatNothingReaches(Wayward):
    """Does not close a node as long as a live node reaches it, though its dependencies are hopeless."""

    def turned(self, turn: Turn) -> State:
        state = turn.after
        if not state.agenda.closing:
            return state

        def keeps(position: int) -> bool:
            part = state.components[state.plan.component[position]]
            return state.plan.entering[position] > 0 and bool(part.live or part.predecessors)

        return again(state, self.rules, keeps)


@mutant("DEP-011")
class BlockedBeatsCancelled(ReferenceKernel):
    """Closes a node as blocked if a prerequisite is blocked, though another is cancelled."""

    rules = replace(RULES, propagated=lambda tally: "blocked" if tally.blocked else propagated(tally))


@mutant(
    "DEP-011",
    overlaps=("DEP-001", "DEP-002", "DEP-003", "DEP-004", "DEP-010", "EDG-008", "EDG-016", "RUN-019", "RUN-020"),
)
class AlwaysSkips(ReferenceKernel):
    """Closes a node as skipped, whatever its prerequisites are."""

    rules = replace(RULES, propagated=lambda _: "skipped")


@mutant("DEP-011", overlaps=("DEP-001", "DEP-010"))
class BlocksBehindFailures(ReferenceKernel):
    """Closes a node behind a failure as blocked, if another prerequisite succeeded."""

    rules = replace(
        RULES, propagated=lambda tally: "blocked" if tally.succeeded and not tally.cancelled else propagated(tally)
    )


def _released_as_before(turn: Turn) -> State:
    """Return the state after an event, with nothing more to be released than before it."""
    return with_agenda(turn.after, releases=turn.before.agenda.releases)
