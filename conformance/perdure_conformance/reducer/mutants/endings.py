"""Faults of endings and of recovery: RUN-022 to RUN-028."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Final

import msgspec
from immutables import Map

from perdure.kernel.changes import applied
from perdure.kernel.closing import is_cold
from perdure.kernel.consequences import owed, tidied
from perdure.kernel.errors import Corruption, HistoryError, corrupt
from perdure.kernel.events import (
    RUN_FACTS,
    AnyEvent,
    ChildStarted,
    NodeStarted,
    NodeTerminated,
    RecoveryAcquired,
    RecoveryReleased,
    RunCancelled,
    RunFailed,
)
from perdure.kernel.liveness import to_be_closed
from perdure.kernel.mapping import run_output
from perdure.kernel.outcomes import output_fields
from perdure.kernel.rules import RULES
from perdure.kernel.state import Agenda, State
from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.mutants.faults import Forgets, Forgives, PassesOver, ignoring
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

_TERMINATES_FROM: Final = 4
"""The version from which on NodeTerminated is there."""


# Closing


@mutant("RUN-022", overlaps=("EDG-016", "RUN-023", "VER-011"))
class LeavesCorrectionsOpen(Forgets):
    """Never terminates a node that asked for changes: a correction may come yet."""

    def left(self, state: State, agenda: Agenda) -> Agenda:
        waiting = agenda.closing[agenda.closed :]
        left = tuple(position for position in waiting if state.nodes[position].status != "changes_requested")
        if left == waiting:
            return agenda
        return msgspec.structs.replace(agenda, closing=left, closed=0, judging=agenda.judging or not left)


@mutant("RUN-022", overlaps=("RTY-004", "RUN-020"))
class TerminatesAtOnce(PassesOver):
    """Lets a node that asked for changes be terminated although a correction is on its way."""

    def is_passed_over(self, state: State, entry: Entry, error: HistoryError) -> bool:
        return error.code == "nothing_owed" and entry.event["type"] == "NodeTerminated" and state.status == "running"


@mutant("RUN-022", overlaps=("RTY-004",))
class CountsAttemptsOfTheTerminated(ReferenceKernel):
    """Takes whatever NodeTerminated says of attempts."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        due = None if state is None else self.owed(state)
        is_same = isinstance(event, NodeTerminated) and isinstance(due, NodeTerminated) and due.node == event.node
        if is_same and isinstance(due, NodeTerminated) and due.reason == "no_correction":
            return super().step(state, due, version)
        return super().step(state, event, version)


@mutant("RUN-022")
class ForgetsTheOutcomeOfTheTerminated(ReferenceKernel):
    """Tells no outcome of a node that was terminated."""

    def document(self, state: State) -> JsonObject:
        for position, node in state.nodes.items():
            outcome = None if node.outcome is None else state.outcomes[node.outcome]
            if node.status == "failed" and outcome is not None and outcome.kind == "changes_requested":
                bare = msgspec.structs.replace(node, outcome=None)
                state = msgspec.structs.replace(state, nodes=state.nodes.set(position, bare))
        return super().document(state)


@mutant("RUN-022")
class LeavesAllThatIsOlderToSettle(ReferenceKernel):
    """Leaves to Settle whatever asked for changes before version 4, also what a live node still reached then."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is not None and state.version < _TERMINATES_FROM <= version:
            for position, node in state.nodes.items():
                if node.status == "changes_requested":
                    number = state.plan.component[position]
                    part = state.components[number]
                    part = msgspec.structs.replace(
                        part, closable=Map((key, None) for key in part.closable if key != position)
                    )
                    state = msgspec.structs.replace(state, components=state.components.set(number, part))
        return super().step(state, event, version)


class _ClosesInAnotherOrder(ReferenceKernel):
    """It closes the nodes of a round in another order."""

    def ordered(self, state: State, closing: tuple[int, ...]) -> tuple[int, ...]:
        """Return the nodes of a round in its order."""
        raise NotImplementedError

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        agenda = after.agenda
        if len(agenda.closing) < 2 or agenda.closed:
            return after
        ordered = self.ordered(after, agenda.closing)
        return msgspec.structs.replace(after, agenda=msgspec.structs.replace(agenda, closing=ordered))


@mutant("RUN-023", overlaps=("EDG-016",))
class ClosesBackwards(_ClosesInAnotherOrder):
    """Closes the nodes of a component from the last to the first."""

    def ordered(self, state: State, closing: tuple[int, ...]) -> tuple[int, ...]:
        del state
        return closing[::-1]


@mutant("RUN-023", overlaps=("DEP-001", "DEP-005", "EDG-016"))
class ReleasesAfterAllRounds(ReferenceKernel):
    """Closes all that is to be closed before it releases what waited for any of it."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        try:
            return super().step(state, event, version)
        except Corruption as error:
            if state is None or error.code != "something_else_owed" or state.agenda.releases is None:
                raise
            later = msgspec.structs.replace(state, agenda=Agenda(judging=True))
            after = super().step(tidied(later, self.rules), event, version)
            agenda = msgspec.structs.replace(after.agenda, releases=state.agenda.releases)
            return msgspec.structs.replace(after, agenda=agenda)


@mutant("RUN-023")
class ReleasesWithinARound(ReferenceKernel):
    """Releases a node as soon as its policy is satisfied, in the middle of a round."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        agenda = after.agenda
        if not agenda.closing or agenda.releases is None or not is_cold(after, agenda.closing[0]):
            return after
        for position in agenda.closing[agenda.closed :]:
            after = to_be_closed(after, position)
        first = msgspec.structs.replace(agenda, closing=(), closed=0, judging=True)
        return tidied(msgspec.structs.replace(after, agenda=first), self.rules)


# Results


@mutant("RUN-024", overlaps=("DEP-010",))
class BlockedBeatsFailed(ReferenceKernel):
    """Says that a run is blocked, although a node of it failed."""

    rules = replace(RULES, result_precedence=(("blocked", "blocked"), ("failed", "failed"), ("cancelled", "cancelled")))


@mutant("RUN-024", overlaps=("DEP-011", "RTY-001", "RTY-004", "RUN-029"))
class CompletesTheCancelled(ReferenceKernel):
    """Says that a run is completed if none of its nodes failed or is blocked."""

    rules = replace(RULES, result_precedence=(("failed", "failed"), ("blocked", "blocked")))


@mutant("RUN-024", report="argoproj/argo-workflows#1219", overlaps=("RUN-029",))
class CountsFailedAttempts(Forgets):
    """Lets a run fail if any attempt of it failed, whatever came after."""

    def left(self, state: State, agenda: Agenda) -> Agenda:
        kinds = {outcome.kind for outcome in state.outcomes.values()}
        has_failed = not kinds.isdisjoint({"retryable_failure", "permanent_failure"})
        is_well = agenda.verdict == "completed"
        return msgspec.structs.replace(agenda, verdict="failed") if has_failed and is_well else agenda


@mutant("RUN-024", overlaps=("DEP-010", "EDG-016"))
class TakesTheSkippedForBlocked(ReferenceKernel):
    """Says that a run is blocked if a node of it was skipped."""

    rules = replace(RULES, result_precedence=(*RULES.result_precedence, ("skipped", "blocked")))


class _EndsEarly(ReferenceKernel):
    """It takes a run fact before its time."""

    def is_taken(self, state: State, event: AnyEvent) -> bool:
        """Tell whether a run fact is taken that is not owed."""
        raise NotImplementedError

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        try:
            return super().step(state, event, version)
        except Corruption as error:
            is_early = state is not None and state.status == "running" and isinstance(event, RUN_FACTS)
            if state is None or not is_early or not self.is_taken(state, event):
                raise error from None
            assert isinstance(event, RUN_FACTS)
            return applied(state, event, version, self.rules)


@mutant("RUN-025", overlaps=("CAN-004", "DEP-009", "RTY-004", "RUN-018", "RUN-022", "VER-011"))
class FailsFast(_EndsEarly):
    """Lets a run fail as soon as a node has failed."""

    def is_taken(self, state: State, event: AnyEvent) -> bool:
        has_failed = bool(state.statuses.get("failed", 0)) and state.version > 1
        return isinstance(event, RunFailed) and has_failed


@mutant("RUN-025", overlaps=("CAN-004", "DEP-009", "VER-009"))
class CancelsByTheRunFact(_EndsEarly):
    """Takes RunCancelled whenever nothing is owed, as in version 1."""

    def is_taken(self, state: State, event: AnyEvent) -> bool:
        return isinstance(event, RunCancelled) and owed(state, self.rules) is None


@mutant("RUN-025", overlaps=("CAN-002", "CAN-004", "RUN-018", "VER-011"))
class EndsWithoutItsClosures(_EndsEarly):
    """Takes a run fact when no node is live any more, whatever is to be closed or cancelled yet."""

    def is_taken(self, state: State, event: AnyEvent) -> bool:
        due = owed(state, self.rules)
        return type(due).__name__ == "NodeOutcomeCommitted" and getattr(due, "attempt_id", None) is None and bool(event)


class _GoesOn(ReferenceKernel):
    """It takes some events after a run has ended."""

    def is_taken(self, state: State, event: AnyEvent) -> bool:
        """Tell whether an event is taken."""
        raise NotImplementedError

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        try:
            return super().step(state, event, version)
        except Corruption as error:
            if state is None or error.code != "run_terminal" or not self.is_taken(state, event):
                raise
            return ignoring(state)


@mutant("RUN-026", report="dbos-inc/dbos-transact-py#703", overlaps=("CAN-004",))
class TheLastFactWins(_GoesOn):
    """Takes another run fact after the first."""

    def is_taken(self, state: State, event: AnyEvent) -> bool:
        del state
        return isinstance(event, RUN_FACTS)


@mutant("RUN-026", overlaps=("CAN-004",))
class TakesTheSameFactTwice(_GoesOn):
    """Takes a run fact for a repetition if it says the same as the first."""

    def is_taken(self, state: State, event: AnyEvent) -> bool:
        return type(event).__name__ == f"Run{state.status.capitalize()}"


@mutant("RUN-026", report="apache/airflow#43475", overlaps=("BUD-003", "CAN-004"))
class StartsAfterTheEnd(_GoesOn):
    """Starts what is ready in a run that has ended."""

    def is_taken(self, state: State, event: AnyEvent) -> bool:
        del state
        return isinstance(event, NodeStarted | ChildStarted)


@mutant("RUN-026")
class RecoversWhatHasEnded(_GoesOn):
    """Lets a worker take over a run that has ended."""

    def is_taken(self, state: State, event: AnyEvent) -> bool:
        del state
        return isinstance(event, RecoveryAcquired)


@mutant("RUN-027")
class HasNoOutput(ReferenceKernel):
    """Never derives an output of the run."""

    def output(self, state: State) -> JsonObject:
        del state
        return {}


@mutant("RUN-027")
class GivesNullForWhatIsMissing(ReferenceKernel):
    """Gives null for an output that the last outcome of its node does not carry."""

    def output(self, state: State) -> JsonObject:
        return {**dict.fromkeys(state.plan.specification.outputs), **run_output(state)}


@mutant("RUN-027")
class CollectsOutputs(ReferenceKernel):
    """Gives the last value that an output ever had, from whatever outcome."""

    def output(self, state: State) -> JsonObject:
        found: dict[str, JsonValue] = {}
        for name, reference in state.plan.specification.outputs.items():
            for attempt in sorted(state.attempts.values(), key=lambda attempt: attempt.outcome or 0):
                fields = {} if attempt.outcome is None else output_fields(state.outcomes[attempt.outcome])
                if state.name(attempt.node) == reference.node and reference.output in fields:
                    found[name] = fields[reference.output]
        return found


# Recovery


@mutant("RUN-028")
class TakesTheEpochAgain(Forgives):
    """Takes an epoch that is not lower for one that is higher."""

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        is_again = isinstance(event, RecoveryAcquired) and state.recovery is not None
        return (
            is_again
            and error.code == "stale_epoch"
            and getattr(event, "epoch", 0) == getattr(state.recovery, "epoch", -1)
        )


@mutant("RUN-028")
class TakesAnyEpoch(Forgives):
    """Never compares the epochs of workers."""

    forgiven: ClassVar = frozenset({"stale_epoch"})


@mutant("RUN-028", overlaps=("RUN-030",))
class ReleasesForAnybody(Forgives):
    """Lets a worker give up a run that another one holds."""

    forgiven: ClassVar = frozenset({"wrong_owner"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        is_held = state.recovery is not None and state.recovery.is_held
        return super().pardons(state, event, error) and isinstance(event, RecoveryReleased) and is_held


@mutant("RUN-028")
class ReleasesTwice(Forgives):
    """Lets a worker give up what it gave up before."""

    forgiven: ClassVar = frozenset({"wrong_owner"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        is_free = state.recovery is not None and not state.recovery.is_held
        return super().pardons(state, event, error) and isinstance(event, RecoveryReleased) and is_free


@mutant("RUN-028")
class WantsAWorkerFirst(ReferenceKernel):
    """Takes nothing from a run that some worker took over and gave up, until another one takes it."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        is_free = state is not None and state.recovery is not None and not state.recovery.is_held
        if is_free and not isinstance(event, RecoveryAcquired):
            corrupt("wrong_owner", "nobody holds the run")
        return super().step(state, event, version)
