"""Faults of budgets: BUD-001 to BUD-008."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Final

import msgspec

from perdure.kernel.commands import AnyCommand, Rejection
from perdure.kernel.consequences import scheduled
from perdure.kernel.decide import Events
from perdure.kernel.errors import corrupt
from perdure.kernel.events import (
    AnyEvent,
    BudgetExhausted,
    ChildStarted,
    Event,
    EventV5,
    NodeOutcomeCommitted,
    NodeReady,
    NodeStarted,
    NodeTerminated,
    RecoveryAcquired,
    RetryReleased,
    RunCancelled,
    RunFailed,
    TransitionActivated,
)
from perdure.kernel.legality import exhausted_at_start
from perdure.kernel.rules import BUDGETS_FROM, RULES, Charged, Rules, charge, exceeds
from perdure.kernel.state import LIVE, State
from perdure.kernel.values import JsonObject
from perdure_conformance.reducer.mutants.turns import Overlooks, Turn, Wayward, with_agenda
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

_AT_THE_LIMIT: Final = ("BUD-001", "BUD-002", "BUD-005", "BUD-007", "RUN-010", "TIM-002")
"""What ends at a limit."""

_TOLD: Final = ("BUD-001", "BUD-002", "BUD-003", "BUD-007", "TIM-002")
"""What shows by what BudgetExhausted tells."""


def charging(budget: Charged | None, which: Callable[[Event], bool]) -> Rules:
    """Return the rules by which some events consume another budget, or none."""
    return replace(RULES, charge=lambda event: budget if which(event) else charge(event))


# What is charged


@mutant("BUD-001")
class ChildRunsAreFree(ReferenceKernel):
    """Does not charge for child runs."""

    rules = charging(None, lambda event: isinstance(event, ChildStarted))


@mutant("BUD-001", overlaps=("BUD-007",))
class RetriesAreFree(ReferenceKernel):
    """Charges for the first attempt of an activation alone."""

    rules = charging(None, lambda event: isinstance(event, NodeStarted | ChildStarted) and event.attempt > 1)


@mutant("BUD-001", overlaps=("BUD-003", "BUD-005", "BUD-007", "RUN-010"))
class ChargesAtTheEnd(ReferenceKernel):
    """Charges for an attempt when it ends."""

    @staticmethod
    def _charge(event: Event) -> Charged | None:
        if isinstance(event, NodeStarted | ChildStarted):
            return None
        is_end = isinstance(event, NodeOutcomeCommitted) and event.attempt_id is not None
        return "attempts" if is_end else charge(event)

    rules = replace(RULES, charge=_charge)


@mutant("BUD-001")
class ChargesClosures(ReferenceKernel):
    """Charges for a node that is closed as for an attempt."""

    rules = charging("attempts", lambda event: isinstance(event, NodeOutcomeCommitted) and event.attempt_id is None)


@mutant("BUD-002")
class ChargesTheQueueTwice(ReferenceKernel):
    """Charges for a queued activation when it begins, too."""

    rules = charging("transitions", lambda event: isinstance(event, NodeReady) and event.cause == "queued")


@mutant("BUD-002", overlaps=("BUD-003",))
class ChargesRetriesOnce(ReferenceKernel):
    """Charges for a retry when it is scheduled, and not when it is released."""

    rules = charging(None, lambda event: isinstance(event, RetryReleased))


@mutant("BUD-002", overlaps=("BUD-003", "BUD-005", "BUD-007", "CAN-003", "EDG-014", "TIM-002"))
class TheBeginningIsFree(ReferenceKernel):
    """Does not charge for the nodes that a run begins with."""

    rules = charging(None, lambda event: isinstance(event, NodeReady) and event.cause == "initial")


@mutant("BUD-002", overlaps=("BUD-003", "BUD-005", "BUD-007"))
class ReleasesAreFree(ReferenceKernel):
    """Does not charge for nodes that their dependencies release."""

    rules = charging(None, lambda event: isinstance(event, NodeReady) and event.cause == "dependencies")


@mutant("BUD-002")
class ChargesTerminations(ReferenceKernel):
    """Charges for NodeTerminated."""

    rules = charging("transitions", lambda event: isinstance(event, NodeTerminated))


# Limits


@mutant("BUD-003", overlaps=("BUD-001", "BUD-002", "BUD-007", "BUD-008", "RUN-009", "RUN-010"))
class StopsAtTheLimit(ReferenceKernel):
    """Fails the run when it would come to its limit, not beyond."""

    rules = replace(RULES, exceeds=lambda usage, limit: usage + 1 >= limit)


@mutant("BUD-003", overlaps=_AT_THE_LIMIT)
class GoesOneBeyond(ReferenceKernel):
    """Fails the run when it is beyond its limit already."""

    rules = replace(RULES, exceeds=lambda usage, limit: usage > limit)


@mutant("BUD-003", overlaps=_AT_THE_LIMIT)
class HasNoBudgets(ReferenceKernel):
    """Counts what is used, and holds it against nothing."""

    rules = replace(RULES, exceeds=lambda *_: False)


@mutant("BUD-003", overlaps=("BUD-001", "BUD-005", "BUD-007"))
class RefusesToStart(ReferenceKernel):
    """Rejects a start that is beyond the budget, so that the run never ends."""

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if not isinstance(found, Rejection) and found[0] == self._exhausted(state):
            return Rejection(code="not_ready", sentence="no attempts are left")
        return found

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is not None and self.owed(state) is None and event == self._exhausted(state):
            corrupt("nothing_owed", "no batch begins with this")
        return super().step(state, event, version)

    def _exhausted(self, state: State | None) -> BudgetExhausted | None:
        return None if state is None else exhausted_at_start(state, BUDGETS_FROM, self.rules)


@mutant("BUD-003")
class FinishesTheBatch(Wayward):
    """Writes the consequences that it owes before it fails for a budget, charged or not."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, BudgetExhausted) or not turn.before.agenda.firing:
            return turn.after
        agenda = msgspec.structs.replace(turn.before.agenda, firing=(), fired=0, failing=False)
        return msgspec.structs.replace(turn.after, agenda=msgspec.structs.replace(agenda, verdict="failed"))


@mutant("BUD-004", overlaps=("BUD-005", "BUD-008", "RUN-026", "TIM-003", "TIM-005"))
class NeverTooLate(Wayward):
    """Has no elapsed limit."""

    def born(self, state: State) -> State:
        return msgspec.structs.replace(state, due=None)


class _FailsAt(Wayward):
    """It fails at another time than its elapsed limit."""

    late_ms: ClassVar[int]

    def born(self, state: State) -> State:
        limit = state.plan.specification.budgets.max_elapsed_ms
        empty = msgspec.structs.replace(state, due=None)
        return state if limit is None else scheduled(empty, "elapsed", limit + self.late_ms, -1, self.rules)

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        if isinstance(event, BudgetExhausted) and event.budget == "elapsed":
            return msgspec.structs.replace(event, limit=event.limit - self.late_ms)
        return event


@mutant("BUD-004", overlaps=("BUD-005", "BUD-008", "RUN-026", "TIM-003"))
class FailsOneMillisecondLate(_FailsAt):
    """Fails when more time has passed than the elapsed limit, not as much."""

    late_ms = 1


class TellsOtherwise(Wayward):
    """It tells something else of a budget that is exhausted."""

    def of(self, state: State, event: BudgetExhausted) -> BudgetExhausted:
        """Return what it tells, which should be `event`."""
        raise NotImplementedError

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        return self.of(state, event) if isinstance(event, BudgetExhausted) else event

    def opens(self, state: State | None, opening: EventV5) -> EventV5:
        return self.of(state, opening) if isinstance(opening, BudgetExhausted) and state is not None else opening

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is None or self.owed(state) is not None or not isinstance(event, BudgetExhausted):
            return super().step(state, event, version)
        right = exhausted_at_start(state, version, self.rules)
        if right is None or event != self.of(state, right):
            corrupt("nothing_owed", "no batch begins with this")
        return super().step(state, right, version)


@mutant("BUD-004", overlaps=("TIM-003", "TIM-005"))
class TellsTheLimitAsUsage(TellsOtherwise):
    """Tells the elapsed limit as the time that has passed."""

    def of(self, state: State, event: BudgetExhausted) -> BudgetExhausted:
        del state
        return msgspec.structs.replace(event, usage=event.limit) if event.budget == "elapsed" else event


@mutant("BUD-005", overlaps=_TOLD)
class CountsWhatWouldExceed(TellsOtherwise):
    """Tells a usage that counts what would have exceeded the budget."""

    def of(self, state: State, event: BudgetExhausted) -> BudgetExhausted:
        del state
        return event if event.budget == "elapsed" else msgspec.structs.replace(event, usage=event.usage + 1)


@mutant("BUD-005", overlaps=_TOLD)
class TellsNoOutcome(TellsOtherwise):
    """Never tells the last outcome."""

    def of(self, state: State, event: BudgetExhausted) -> BudgetExhausted:
        del state
        return msgspec.structs.replace(event, last_outcome=None)


@mutant("BUD-005", overlaps=("BUD-001",))
class TellsTheLastAttempt(TellsOtherwise):
    """Tells the last outcome that an attempt had, and not a closure."""

    def of(self, state: State, event: BudgetExhausted) -> BudgetExhausted:
        sequences = (attempt.outcome for attempt in state.attempts.values() if attempt.outcome is not None)
        return msgspec.structs.replace(event, last_outcome=max(sequences, default=None))


@mutant("BUD-005", overlaps=("BUD-002", "BUD-003", "BUD-007", "TIM-002"))
class TellsTheOutcomeBeforeTheBatch(TellsOtherwise):
    """Tells the outcome before the one that this batch began with."""

    def of(self, state: State, event: BudgetExhausted) -> BudgetExhausted:
        if not (state.agenda.firing or state.agenda.releases or state.agenda.retry is not None):
            return event
        earlier = (sequence for sequence in state.outcomes if sequence != state.last_outcome)
        return msgspec.structs.replace(event, last_outcome=max(earlier, default=None))


@mutant("BUD-005")
class OverlooksTheLastOutcome(Overlooks):
    """Does not look which outcome BudgetExhausted names."""

    forgiven: ClassVar = frozenset({"something_else_owed", "nothing_owed"})
    of: ClassVar = BudgetExhausted
    overlooked: ClassVar = frozenset({"last_outcome"})

    def expected(self, state: State) -> EventV5 | None:
        return super().expected(state) or exhausted_at_start(state, BUDGETS_FROM, self.rules)


@mutant("BUD-006", overlaps=("BUD-002", "BUD-003", "BUD-004", "BUD-007", "RUN-026", "TIM-002"))
class CancelsWhatIsLeft(Wayward):
    """Cancels what has not ended when a budget is exhausted, and then fails the run."""

    def owed(self, state: State) -> EventV5 | None:
        agenda = state.agenda
        if not agenda.failing or agenda.cancelling is None:
            return super().owed(state)
        event = super().owed(msgspec.structs.replace(state, agenda=msgspec.structs.replace(agenda, failing=False)))
        return RunFailed() if isinstance(event, RunCancelled) else event

    def turned(self, turn: Turn) -> State:
        state = turn.after
        if isinstance(turn.event, BudgetExhausted):
            first = next((position for position in sorted(state.nodes) if _is_left(state, position)), len(state.nodes))
            return _cancelling(state, first)
        if isinstance(turn.event, NodeOutcomeCommitted) and turn.before.agenda.failing:
            return _cancelling(state, state.agenda.cancelling)
        return state


@mutant("BUD-006", overlaps=("VER-008",))
class TellsLiveNodesAsFailed(ReferenceKernel):
    """Tells the live nodes of a failed run as failed."""

    def document(self, state: State) -> JsonObject:
        if state.status == "failed":
            failed = {
                position: msgspec.structs.replace(node, status="failed") if node.status in LIVE else node
                for position, node in state.nodes.items()
            }
            state = msgspec.structs.replace(state, nodes=state.nodes.update(failed))
        return super().document(state)


# Usage


@mutant("BUD-007")
class ForgetsWhatOlderVersionsUsed(Wayward):
    """Begins to count with version 4, and forgets what was used before."""

    def turned(self, turn: Turn) -> State:
        before, after = turn.before, turn.after
        if before.version >= BUDGETS_FROM or after.version < BUDGETS_FROM:
            return after
        return msgspec.structs.replace(
            after,
            attempts_used=after.attempts_used - before.attempts_used,
            transitions_used=after.transitions_used - before.transitions_used,
        )


@mutant("BUD-007", overlaps=("BUD-002",), report="bunnycompany/underclass#17")
class ChargesReplayedRecords(Wayward):
    """Charges what was replayed to the run that is resumed."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, RecoveryAcquired):
            return turn.after
        return msgspec.structs.replace(
            turn.after,
            attempts_used=2 * turn.after.attempts_used,
            transitions_used=2 * turn.after.transitions_used,
        )


@mutant("BUD-007", overlaps=("BUD-002",))
class RefillsAtRecovery(Wayward):
    """Gives a run that is resumed its budgets anew."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, RecoveryAcquired):
            return turn.after
        return msgspec.structs.replace(turn.after, attempts_used=0, transitions_used=0)


@mutant("BUD-007", report="open-mercato/cezar#51")
class RefillsInEachRound(Wayward):
    """Gives back the attempts of a node that is activated again."""

    def turned(self, turn: Turn) -> State:
        state = turn.after
        if not isinstance(turn.event, TransitionActivated):
            return state
        node = turn.before.nodes[state.plan.targets[turn.event.edge]]
        return msgspec.structs.replace(state, attempts_used=state.attempts_used - node.attempts)


@mutant("BUD-007")
class ASuccessGivesBack(Wayward):
    """Gives back the attempts that a node needed, when it succeeds."""

    def turned(self, turn: Turn) -> State:
        ended, state = turn.ended, turn.after
        if ended is None or ended.outcome.kind != "succeeded":
            return state
        used = state.attempts_used - (turn.before.nodes[ended.position].attempts - 1)
        return msgspec.structs.replace(state, attempts_used=used)


# Defaults


@mutant("BUD-008", overlaps=("EDG-013", "RTY-005"))
class HasTwelveAttempts(ReferenceKernel):
    """Has 12 attempts where the document does not say how many."""

    rules = replace(RULES, exceeds=lambda usage, limit: exceeds(usage, 12 if limit == 10_000 else limit))


@mutant("BUD-008", overlaps=("BUD-004", "SIG-010", "TIM-001", "TIM-007", "TIM-011"))
class LastsADay(Wayward):
    """Fails a run without an elapsed limit after a day."""

    def born(self, state: State) -> State:
        return state if state.due is not None else scheduled(state, "elapsed", 86_400_000, -1, self.rules)


def _is_left(state: State, position: int) -> bool:
    return state.nodes[position].status in LIVE | {"pending", "changes_requested"}


def _cancelling(state: State, position: int | None) -> State:
    return with_agenda(state, failing=True, cancelling=position)
