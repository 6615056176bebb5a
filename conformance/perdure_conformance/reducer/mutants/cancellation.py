"""Faults of cancellation: CAN-001 to CAN-004."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Final

import msgspec

from perdure.kernel.commands import AnyCommand, Rejection
from perdure.kernel.consequences import tidied
from perdure.kernel.decide import Events
from perdure.kernel.errors import Corruption, corrupt
from perdure.kernel.events import (
    AnyEvent,
    CancellationRequested,
    CancelTarget,
    EventV5,
    NodeOutcomeCommitted,
    RunBlocked,
    RunCancelled,
    RunCompleted,
    RunFailed,
    TransitionActivated,
)
from perdure.kernel.legality import cancel_targets
from perdure.kernel.liveness import is_satisfied
from perdure.kernel.rules import RULES
from perdure.kernel.state import ACTIVE, TERMINAL, State, Status
from perdure_conformance.reducer.mutants.faults import Forgives
from perdure_conformance.reducer.mutants.turns import (
    Turn,
    Wayward,
    at,
    latched,
    matching,
    waiting_for_dependencies,
    with_agenda,
    without_output,
)
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

_OF_PENDING_NODES: Final = ("CAN-003", "EDG-008", "RUN-006", "RUN-019", "RUN-026")
"""What shows by pending nodes of a cancelled run."""

Targets = tuple[CancelTarget, ...]

# What is recorded


class RecordsOtherwise(ReferenceKernel):
    """It records other targets of a cancellation."""

    def targets(self, state: State, right: Targets) -> Targets:
        """Return the targets, which should be `right`."""
        raise NotImplementedError

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if state is None or isinstance(found, Rejection) or not isinstance(found[0], CancellationRequested):
            return found
        return (msgspec.structs.replace(found[0], targets=self.targets(state, found[0].targets)), *found[1:])

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is None or not isinstance(event, CancellationRequested):
            return super().step(state, event, version)
        right = cancel_targets(state, self.rules)
        if event.targets != self.targets(state, right):
            corrupt("wrong_content", "the targets are others")
        return super().step(state, msgspec.structs.replace(event, targets=right), version)


@mutant("CAN-001", overlaps=("CAN-002",))
class LeavesChildRunsOut(RecordsOtherwise):
    """Records the attempts that are active, without their child runs."""

    def targets(self, state: State, right: Targets) -> Targets:
        del state
        return tuple(msgspec.structs.replace(target, child_run_id=None) for target in right)


@mutant("CAN-001", overlaps=("CAN-002", "TIM-010"), report="apache/incubator-kie-kogito-runtimes#4252")
class LeavesWaitingAttemptsOut(ReferenceKernel):
    """Records the attempts that run, and not those that wait."""

    rules = replace(RULES, is_target=lambda node: node.status == "running")


@mutant("CAN-001")
class RecordsTargetsAsTheyStarted(RecordsOtherwise):
    """Records the attempts that are active in the order of their ids."""

    def targets(self, state: State, right: Targets) -> Targets:
        del state
        return tuple(sorted(right, key=lambda target: target.attempt_id))


class BelievesRequests(Forgives):
    """It believes what CancellationRequested says."""

    forgiven: ClassVar = frozenset({"wrong_content"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, CancellationRequested):
            return False
        return self.believes(state, event)

    def believes(self, state: State, event: CancellationRequested) -> bool:
        """Tell whether it believes a request that is wrong."""
        raise NotImplementedError


@mutant("CAN-001")
class BelievesTheTargets(BelievesRequests):
    """Does not look which targets are recorded."""

    def believes(self, state: State, event: CancellationRequested) -> bool:
        return event.now_ms == state.now_ms


@mutant("CAN-001")
class BelievesTheTime(BelievesRequests):
    """Does not look when the cancellation says that it was."""

    def believes(self, state: State, event: CancellationRequested) -> bool:
        return event.targets == cancel_targets(state, self.rules)


# What is cancelled


class Spares(Wayward):
    """It spares some nodes when it cancels a run."""

    spared: ClassVar[frozenset[Status]]

    def turned(self, turn: Turn) -> State:
        state, position = turn.after, turn.after.agenda.cancelling
        if position is None:
            return state
        while position < len(state.nodes) and state.nodes[position].status in self.spared | TERMINAL:
            position += 1
        return with_agenda(state, cancelling=position)


@mutant("CAN-002", overlaps=("CAN-001", "TIM-010"), report="apache/incubator-kie-kogito-runtimes#4252")
class SparesWhatWaits(Spares):
    """Leaves waiting nodes as they are."""

    spared = frozenset({"waiting"})


@mutant("CAN-002", overlaps=_OF_PENDING_NODES)
class SparesWhatHasNotBegun(Spares):
    """Leaves pending nodes as they are."""

    spared = frozenset({"pending"})


@mutant("CAN-002")
class SparesWhatWillBeTriedAgain(Spares):
    """Leaves nodes as they are that will be tried again."""

    spared = frozenset({"retry_pending"})


@mutant("CAN-002", overlaps=("CAN-003",))
class SparesWhatAskedForChanges(Spares):
    """Takes nodes that asked for changes for ended."""

    spared = frozenset({"changes_requested"})


@mutant("CAN-002", overlaps=("CAN-001", "CAN-003", "CAN-004", "EDG-008", "RUN-026", "TIM-010"))
class CancelsNodesNotAttempts(Wayward):
    """Does not say which attempt is cancelled."""

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        if state.agenda.cancelling is None or not isinstance(event, NodeOutcomeCommitted):
            return event
        return msgspec.structs.replace(event, attempt_id=None)


@mutant("CAN-002")
class CancelsWhatIsActiveFirst(Wayward):
    """Cancels the active attempts, and then the other nodes."""

    def owed(self, state: State) -> EventV5 | None:
        return super().owed(self._next(state))

    def turned(self, turn: Turn) -> State:
        if turn.after.agenda.cancelling is None:
            return turn.after
        return tidied(with_agenda(turn.after, cancelling=0), self.rules)

    @staticmethod
    def _next(state: State) -> State:
        if state.agenda.cancelling is None:
            return state
        active = (position for position, node in sorted(state.nodes.items()) if node.status in ACTIVE)
        return with_agenda(state, cancelling=next(active, state.agenda.cancelling))


@mutant("CAN-002", overlaps=_OF_PENDING_NODES)
class SkipsWhatHadNotBegun(Wayward):
    """Skips the nodes that had not begun, and cancels the others."""

    def owed(self, state: State) -> EventV5 | None:
        event, position = super().owed(state), state.agenda.cancelling
        if position is None or not isinstance(event, NodeOutcomeCommitted):
            return event
        is_new = state.nodes[position].status == "pending"
        return msgspec.structs.replace(event, outcome=without_output("skipped")) if is_new else event


# What is judged


@mutant("CAN-003", overlaps=("BUD-002",))
class ChargesTheCascade(Wayward):
    """Charges for each node that it cancels."""

    def turned(self, turn: Turn) -> State:
        if turn.before.agenda.cancelling is None or not isinstance(turn.event, NodeOutcomeCommitted):
            return turn.after
        return msgspec.structs.replace(turn.after, transitions_used=turn.after.transitions_used + 1)


@mutant("CAN-003", overlaps=("EDG-008",))
class FiresEdgesOfTheCancelled(Wayward):
    """Follows the edges of an attempt that is cancelled with its run."""

    def owed(self, state: State) -> EventV5 | None:
        is_both = state.agenda.cancelling is not None and state.agenda.firing
        return super().owed(with_agenda(state, cancelling=None) if is_both else state)

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if turn.before.agenda.cancelling is None:
            return state
        if isinstance(event, TransitionActivated):
            return with_agenda(state, firing=state.agenda.firing[1:], fired=0)
        if not isinstance(event, NodeOutcomeCommitted) or event.attempt_id is None:
            return state
        edges = matching(state, at(state, event.node), event.outcome, self.rules)
        later = tuple(edge for edge in edges if state.nodes[state.plan.targets[edge]].status == "pending")
        return with_agenda(state, firing=later)


@mutant("CAN-003", overlaps=("RUN-026",))
class ReleasesWhatWaitedForTheCancelled(Wayward):
    """Releases nodes whose dependencies have all ended, cancelled as they are, before it cancels them too."""

    def owed(self, state: State) -> EventV5 | None:
        is_both = state.agenda.cancelling is not None and state.agenda.releases is not None
        return super().owed(with_agenda(state, cancelling=None) if is_both else state)

    def turned(self, turn: Turn) -> State:
        state = turn.after
        if turn.before.agenda.cancelling is None or not isinstance(turn.event, NodeOutcomeCommitted):
            return state
        for dependent, _ in waiting_for_dependencies(state):
            if is_satisfied(state, dependent, self.rules):
                state = latched(state, dependent)
        return state


@mutant(
    "CAN-003",
    overlaps=(
        "CAN-001",
        "CAN-002",
        "CAN-004",
        "EDG-008",
        "RUN-005",
        "RUN-006",
        "RUN-007",
        "RUN-025",
        "RUN-026",
        "TIM-010",
    ),
)
class GoesOnAfterTheRequest(Wayward):
    """Records the request, and leaves it to the nodes to end."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, CancellationRequested):
            return turn.after
        return with_agenda(turn.after, cancelling=None)


# How the run ends


@mutant("CAN-004")
class FailsAlthoughCancelled(Wayward):
    """Ends a cancelled run by the statuses of its nodes, as failed or blocked if one of them is."""

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        if not isinstance(event, RunCancelled):
            return event
        if state.statuses.get("failed", 0):
            return RunFailed()
        return RunBlocked() if state.statuses.get("blocked", 0) else event


@mutant("CAN-004")
class CompletesAlthoughCancelled(Wayward):
    """Completes a cancelled run if no attempt was active and some node succeeded."""

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        attempts = [attempt for attempt in state.attempts.values() if attempt.outcome is not None]
        kinds = {state.outcomes[attempt.outcome].kind for attempt in attempts if attempt.outcome is not None}
        return RunCompleted() if isinstance(event, RunCancelled) and kinds == {"succeeded"} else event


@mutant("CAN-004", overlaps=("RUN-026",), report="dbos-inc/dbos-transact-py#703")
class FinishesAfterItWasCancelled(Forgives):
    """Lets a run that was cancelled become completed or failed after all."""

    forgiven: ClassVar = frozenset({"run_terminal"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        is_fact = isinstance(event, RunCompleted | RunFailed | RunBlocked)
        return super().pardons(state, event, error) and state.status == "cancelled" and is_fact


@mutant("CAN-004", overlaps=("CAN-001", "CAN-002", "CAN-003", "RUN-006"))
class NeverSaysThatItIsCancelled(Wayward):
    """Cancels all nodes, and does not end the run."""

    def turned(self, turn: Turn) -> State:
        if turn.after.agenda.cancelling != len(turn.after.nodes):
            return turn.after
        return with_agenda(turn.after, cancelling=None)
