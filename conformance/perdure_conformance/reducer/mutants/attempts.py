"""Faults of attempts, their inputs and the lifecycle of nodes: RUN-012 to RUN-021."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import msgspec

from perdure.kernel.changes import applied
from perdure.kernel.commands import AnyCommand, CompleteAttempt, CompleteChild, Rejection
from perdure.kernel.decide import Events
from perdure.kernel.errors import Corruption, corrupt
from perdure.kernel.events import AnyEvent, ChildStarted, NodeOutcomeCommitted, NodeStarted
from perdure.kernel.mapping import input_of, unsuccessful
from perdure.kernel.outcomes import Unsuccessful
from perdure.kernel.rules import RULES, STATUS_AFTER, outcome_seen
from perdure.kernel.state import ACTIVE, Agenda, State
from perdure.kernel.values import JsonObject
from perdure_conformance.reducer.mutants.faults import (
    Forgets,
    Forgives,
    LooksUp,
    PassesOver,
    Rewrites,
    with_moves,
    without_move,
)
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

# What starts


@mutant("RUN-012", overlaps=("DEP-007", "EDG-011", "EDG-012", "RUN-030", "SIG-004", "TIM-009"))
class StartsWhatIsNotReady(Forgives):
    """Starts a node whatever its status is."""

    forgiven: ClassVar = frozenset({"not_ready"})
    rules = with_moves(("pending", "running"), ("succeeded", "running"))


@mutant("RUN-012", overlaps=("EDG-011", "RTY-009"))
class StartsBeforeTheDelayIsOver(Forgives):
    """Starts a node that is retry pending, since somebody asked for it."""

    forgiven: ClassVar = frozenset({"not_ready"})
    rules = with_moves(("retry_pending", "running"))

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        is_start = isinstance(event, NodeStarted) and event.node in state.plan.positions
        return is_start and super().pardons(state, event, error) and _status(state, event) == "retry_pending"


def _status(state: State, event: AnyEvent) -> str:
    assert isinstance(event, NodeStarted | ChildStarted | NodeOutcomeCommitted)
    return state.nodes[state.plan.positions[event.node]].status


@mutant("RUN-012")
class StartsChildrenAsHandlers(Forgives):
    """Does not ask whether a handler or a child run works for a node."""

    forgiven: ClassVar = frozenset({"child_run_id_needed", "not_a_child"})


@mutant("RUN-013", overlaps=("DEP-005", "EDG-013", "RUN-004"))
class UsesAttemptIdsAgain(Forgives):
    """Does not look whether an attempt id was used before."""

    forgiven: ClassVar = frozenset({"attempt_id_used"})


@mutant("RUN-013", overlaps=("DEP-005", "RUN-004"))
class KeepsAttemptIdsOfEachNode(Forgives):
    """Looks whether the node had the attempt id before, and not whether another one had."""

    forgiven: ClassVar = frozenset({"attempt_id_used"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, NodeStarted | ChildStarted):
            return False
        return state.attempts[event.attempt_id].node != state.plan.positions[event.node]


@mutant("RUN-013", overlaps=("DEP-005", "EDG-013"))
class ForgetsAttemptsThatEnded(Forgives):
    """Looks whether an attempt id is in use, and not whether it was."""

    forgiven: ClassVar = frozenset({"attempt_id_used"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, NodeStarted | ChildStarted):
            return False
        return state.attempts[event.attempt_id].outcome is not None


# What ends


@mutant("RUN-014", overlaps=("CAN-002", "CHD-011", "TIM-009"))
class EndsTheNodeWhateverTheAttempt(Rewrites):
    """Takes an outcome for that of the attempt that is active, whichever it names."""

    def rewritten(self, state: State, event: AnyEvent) -> AnyEvent:
        if not isinstance(event, NodeOutcomeCommitted) or event.attempt_id is None:
            return event
        position = state.plan.positions.get(event.node)
        active = None if position is None else state.nodes[position].attempt_id
        return event if active is None else msgspec.structs.replace(event, attempt_id=active)


@mutant("RUN-014")
class EndsTheAttemptWhateverTheNode(Rewrites):
    """Finds the node of an outcome by its attempt, and does not look which one it names."""

    def rewritten(self, state: State, event: AnyEvent) -> AnyEvent:
        if not isinstance(event, NodeOutcomeCommitted) or event.attempt_id not in state.attempts:
            return event
        assert event.attempt_id is not None
        return msgspec.structs.replace(event, node=state.name(state.attempts[event.attempt_id].node))


@mutant(
    "RUN-014",
    overlaps=("CHD-011", "RUN-020", "RUN-028", "RUN-030", "SIG-002", "SIG-003", "SIG-004", "SIG-005", "TIM-009"),
)
class TakesOutcomesTwice(PassesOver):
    """Takes a second outcome of an attempt for a repetition of the first."""

    passed_over: ClassVar = frozenset({"not_active"})


@mutant("RUN-014", overlaps=("SIG-003", "SIG-004", "SIG-005"))
class EndsWhatWaits(ReferenceKernel):
    """Takes the outcome of an attempt that waits, and forgets the wait."""

    rules = with_moves(("waiting", "succeeded"), ("waiting", "blocked"), ("waiting", "changes_requested"))

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is not None and isinstance(event, NodeOutcomeCommitted) and event.attempt_id in state.attempts:
            assert event.attempt_id is not None
            position = state.attempts[event.attempt_id].node
            node = state.nodes[position]
            if node.wait is not None and state.agenda == Agenda():
                return applied(state, event, version, self.rules)
        return super().step(state, event, version)


@mutant("RUN-015", overlaps=("CHD-013", "RUN-019"))
class ComparesKindsAlone(ReferenceKernel):
    """Takes two outcomes for one if their kinds are the same."""

    rules = replace(RULES, same_outcome=lambda one, other: one.kind == other.kind)


@mutant("RUN-015")
class ComparesAsItsLanguageDoes(ReferenceKernel):
    """Compares outcomes as its language does, in which true is 1."""

    rules = replace(RULES, same_outcome=lambda one, other: one == other)


@mutant("RUN-015")
class NeverLooksAtReasons(ReferenceKernel):
    """Takes two outcomes for one that differ in their reasons."""

    rules = replace(
        RULES,
        same_outcome=lambda one, other: (
            (one.kind, one.evidence) == (other.kind, other.evidence)
            if isinstance(one, Unsuccessful) and isinstance(other, Unsuccessful)
            else RULES.same_outcome(one, other)
        ),
    )


class _RepeatsOtherwise(ReferenceKernel):
    """It answers what was asked before in another way."""

    def again(self, state: State, command: AnyCommand, found: Rejection) -> Rejection:
        """Return the answer to what is rejected."""
        raise NotImplementedError

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        return self.again(state, command, found) if state is not None and isinstance(found, Rejection) else found


@mutant("RUN-015")
class FindsOutcomesByTheirAttempt(_RepeatsOtherwise):
    """Compares an outcome with what was committed for the attempt, and not the node."""

    def again(self, state: State, command: AnyCommand, found: Rejection) -> Rejection:
        if not isinstance(command, CompleteAttempt) or found.code != "conflicting_outcome":
            return found
        attempt = state.attempts[command.attempt_id]
        assert attempt.outcome is not None
        same = self.rules.same_outcome(state.outcomes[attempt.outcome], command.outcome)
        return msgspec.structs.replace(found, code="already_committed") if same else found


@mutant("RUN-015")
class FindsChildRunsByTheirAttempt(_RepeatsOtherwise):
    """Takes the end of a child run for a repetition if the attempt has its outcome, whatever that was."""

    def again(self, state: State, command: AnyCommand, found: Rejection) -> Rejection:
        del state
        if not isinstance(command, CompleteChild) or found.code != "conflicting_outcome":
            return found
        return msgspec.structs.replace(found, code="already_committed")


@mutant("RUN-015", overlaps=("SIG-010",))
class ForgetsAttemptsThatExpired(_RepeatsOtherwise):
    """Knows of an attempt that expired only that it is not active."""

    def again(self, state: State, command: AnyCommand, found: Rejection) -> Rejection:
        if not isinstance(command, CompleteAttempt) or found.code != "conflicting_outcome":
            return found
        attempt = state.attempts[command.attempt_id]
        assert attempt.outcome is not None
        expired = state.outcomes[attempt.outcome].kind == "retryable_failure"
        return msgspec.structs.replace(found, code="not_active") if expired else found


@mutant("RUN-016")
class SkipsAttempts(Forgives):
    """Lets an attempt end as skipped."""

    forgiven: ClassVar = frozenset({"invalid_outcome"})
    rules = with_moves(("running", "skipped"))


# What is given


@mutant("RUN-017", report="github/spec-kit#2592", overlaps=("DEP-008", "EDG-012"))
class ReadsTheFirstOutcome(LooksUp):
    """Takes a mapped input from the first outcome that a node had."""

    def seen(self, state: State, position: int, source: int) -> int | None:
        del position
        found = [each.outcome for each in state.attempts.values() if each.node == source and each.outcome is not None]
        return min(found, default=None)


@mutant("RUN-017", overlaps=("DEP-008", "EDG-012"))
class ReadsTheLastOutcome(ReferenceKernel):
    """Takes a mapped input from the last outcome that a node had, whatever is pinned."""

    rules = replace(RULES, outcome_seen=lambda *seen: seen[-1])


@mutant("RUN-017", overlaps=("EDG-012",))
class ReadsWhatIsPinnedFirst(ReferenceKernel):
    """Takes a mapped input from the pinned outcome, also where the node itself activated the other one."""

    rules = replace(RULES, outcome_seen=lambda _, *seen: outcome_seen(None, *seen))


@mutant("RUN-017")
class LooksUpAgain(ReferenceKernel):
    """Tells as input of an attempt what it would be given now."""

    def document(self, state: State) -> JsonObject:
        for position, node in state.nodes.items():
            given = input_of(state, position, self.rules) if node.status in ACTIVE else None
            if given is not None and not isinstance(given, str):
                state = msgspec.structs.replace(
                    state, nodes=state.nodes.set(position, msgspec.structs.replace(node, input=given))
                )
        return super().document(state)


@mutant("RUN-017")
class ForgetsWhatANodeIsGivenItself(ReferenceKernel):
    """Tells as input of an attempt what is mapped alone."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        if not isinstance(event, NodeStarted | ChildStarted):
            return after
        position = after.plan.positions[event.node]
        node, mapping = after.nodes[position], after.node(position).input_mapping
        found = {name: value for name, value in (node.input or {}).items() if name in mapping}
        return msgspec.structs.replace(
            after, nodes=after.nodes.set(position, msgspec.structs.replace(node, input=found))
        )


@mutant("RUN-018", overlaps=("DEP-008", "EDG-012", "RUN-017", "RUN-019"))
class StartsWithoutItsInput(Forgets):
    """Leaves out of an input what is missing, and lets the handler find out."""

    def left(self, state: State, agenda: Agenda) -> Agenda:
        if agenda.outcome is None:
            return agenda
        position, outcome = agenda.outcome
        starts = outcome.kind == "permanent_failure" and state.nodes[position].child_run_id is None
        return msgspec.structs.replace(agenda, outcome=None) if starts else agenda


@mutant("RUN-018")
class StartsChildrenWithoutInput(ReferenceKernel):
    """Starts a child run without a mapped input that is missing."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        if not isinstance(event, ChildStarted) or after.agenda.outcome is None:
            return after
        return msgspec.structs.replace(after, agenda=msgspec.structs.replace(after.agenda, outcome=None))


@mutant("RUN-018", overlaps=("DEP-008", "EDG-008", "EDG-012", "RUN-017", "RUN-019"))
class RetriesWithoutItsInput(ReferenceKernel):
    """Takes a missing input for a failure that may pass."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        if not isinstance(event, NodeStarted | ChildStarted) or after.agenda.outcome is None:
            return after
        outcome = (after.agenda.outcome[0], unsuccessful("retryable_failure", ""))
        return msgspec.structs.replace(after, agenda=msgspec.structs.replace(after.agenda, outcome=outcome))


@mutant("RUN-019", overlaps=("CAN-002", "CAN-003", "CAN-004", "EDG-008"))
class InsistsOnItsOwnReasons(ReferenceKernel):
    """Takes a closure only with the reason that it would have given itself."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        due = None if state is None else self.owed(state)
        is_closure = state is not None and bool(state.agenda.closing)
        if is_closure and isinstance(due, NodeOutcomeCommitted) and isinstance(event, NodeOutcomeCommitted):
            reasons = (getattr(due.outcome, "reason", ""), getattr(event.outcome, "reason", ""))
            if reasons[0] != reasons[1]:
                corrupt("something_else_owed", f"the reason is {reasons[0]}")
        return super().step(state, event, version)


@mutant("RUN-019", overlaps=("CHD-013",))
class TakesAnyOutputOfAnOutcomeThatIsOwed(Rewrites):
    """Looks at the kind of an outcome that is owed, and not at its output."""

    def rewritten(self, state: State, event: AnyEvent) -> AnyEvent:
        due = self.owed(state)
        if not isinstance(due, NodeOutcomeCommitted) or not isinstance(event, NodeOutcomeCommitted):
            return event
        same = (due.node, due.attempt_id, due.outcome.kind) == (event.node, event.attempt_id, event.outcome.kind)
        return due if same else event


@mutant("RUN-019")
class TakesEvidenceOfAnOutcomeThatIsOwed(Rewrites):
    """Looks at the kind and the output of an outcome that is owed, and not at its evidence."""

    def rewritten(self, state: State, event: AnyEvent) -> AnyEvent:
        if not isinstance(self.owed(state), NodeOutcomeCommitted) or not isinstance(event, NodeOutcomeCommitted):
            return event
        return msgspec.structs.replace(event, outcome=msgspec.structs.replace(event.outcome, evidence=()))


# The lifecycle


@mutant("RUN-020", overlaps=("DEP-010", "EDG-012", "EDG-013", "EDG-014"))
class LeavesTheBlockedAlone(ReferenceKernel):
    """Does not let a blocked node be ready again."""

    rules = without_move("blocked", "ready")


@mutant("RUN-020", overlaps=("EDG-012", "EDG-013"))
class LeavesTheCancelledAlone(ReferenceKernel):
    """Does not let a cancelled node be ready again."""

    rules = without_move("cancelled", "ready")


@mutant(
    "RUN-020",
    overlaps=("DEP-001", "DEP-002", "DEP-003", "DEP-004", "DEP-010", "DEP-011", "EDG-008", "EDG-016", "RUN-019"),
)
class NeverBlocksThePending(ReferenceKernel):
    """Has no arrow from pending to blocked, as the diagram has none."""

    rules = without_move("pending", "blocked")


@mutant("RUN-020", overlaps=("SIG-002",))
class WaitsBeforeItRuns(Forgives):
    """Lets a ready node wait for a signal."""

    forgiven: ClassVar = frozenset({"not_active"})
    rules = with_moves(("ready", "waiting"))

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        name = getattr(event, "node", None)
        position = state.plan.positions.get(name) if name is not None else None
        is_ready = position is not None and state.nodes[position].status == "ready"
        return is_ready and type(event).__name__ == "SignalWaitOpened" and super().pardons(state, event, error)


@mutant(
    "RUN-021",
    overlaps=(
        "DEP-001",
        "DEP-002",
        "DEP-011",
        "EDG-008",
        "RTY-001",
        "RTY-004",
        "RUN-014",
        "RUN-020",
        "RUN-024",
        "RUN-029",
    ),
)
class TakesTheCancelledForFailed(ReferenceKernel):
    """Takes a node that was cancelled by its handler for a failed one."""

    rules = replace(RULES, status_after={**STATUS_AFTER, "cancelled": "failed"})


@mutant(
    "RUN-021",
    overlaps=(
        "DEP-001",
        "DEP-002",
        "DEP-003",
        "DEP-004",
        "DEP-010",
        "DEP-011",
        "EDG-008",
        "EDG-016",
        "RTY-001",
        "RTY-004",
        "RUN-010",
        "RUN-019",
        "RUN-020",
        "RUN-024",
        "VER-007",
        "VER-008",
    ),
)
class TakesTheBlockedForFailed(ReferenceKernel):
    """Takes a node that is blocked for a failed one."""

    rules = replace(RULES, status_after={**STATUS_AFTER, "blocked": "failed"})


@mutant(
    "RUN-021",
    overlaps=(
        "CAN-002",
        "CAN-003",
        "DEP-001",
        "DEP-002",
        "DEP-003",
        "DEP-004",
        "EDG-008",
        "EDG-009",
        "EDG-016",
        "RTY-001",
        "RTY-004",
        "RUN-017",
        "RUN-022",
        "VER-011",
    ),
)
class TakesChangesForSuccess(ReferenceKernel):
    """Takes a node that asked for changes for one that succeeded."""

    rules = replace(RULES, status_after={**STATUS_AFTER, "changes_requested": "succeeded"})
