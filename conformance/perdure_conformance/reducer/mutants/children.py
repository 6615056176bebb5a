"""Faults of children: CHD-009 to CHD-014."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

import msgspec
from immutables import Map

from perdure.kernel.errors import Corruption
from perdure.kernel.events import (
    AnyEvent,
    ChildCompleted,
    ChildStarted,
    EventV5,
    NodeOutcomeCommitted,
    RunCreated,
    SignalWaitOpened,
    TimerWaitOpened,
)
from perdure.kernel.identity import Name, RunId
from perdure.kernel.outcomes import MAX_INLINE_BYTES, Outcome, Succeeded
from perdure.kernel.rules import RULES, child_outcome
from perdure.kernel.state import State
from perdure.kernel.values import JsonObject, canonical_json
from perdure_conformance.reducer.mutants.faults import Forgives
from perdure_conformance.reducer.mutants.turns import Turn, Wayward, at, with_agenda, without_output
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

_IN_OUTPUTS: Final = ("CHD-012", "CHD-014", "RUN-005", "RUN-006", "RUN-019")
"""What looks at the output of a child run is judged by it too."""

# Identities


class TakesChildRuns(Forgives):
    """It starts child runs under ids that are in use."""

    forgiven: ClassVar = frozenset({"child_run_id_used"})

    def used(self, state: State) -> tuple[RunId, ...]:
        """Return the ids that it takes all the same."""
        raise NotImplementedError

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        is_forgiven = super().pardons(state, event, error)
        return is_forgiven and isinstance(event, ChildStarted) and event.child_run_id in self.used(state)


@mutant("CHD-009", report="Azure/azure-functions-durable-extension#746")
class IsItsOwnChild(TakesChildRuns):
    """Starts a child run under the id of the run itself."""

    def used(self, state: State) -> tuple[RunId, ...]:
        return (state.run_id,)


@mutant("CHD-009", report="Azure/azure-functions-durable-extension#746")
class StartsItsParent(TakesChildRuns):
    """Looks for its own id alone, and starts a child run under that of an ancestor."""

    def used(self, state: State) -> tuple[RunId, ...]:
        return state.ancestors


@mutant("CHD-009")
class ForgetsTheOutermostAncestors(TakesChildRuns):
    """Knows its parent, and no ancestor beyond."""

    def used(self, state: State) -> tuple[RunId, ...]:
        return state.ancestors[:-1]


@mutant("CHD-009")
class ForgetsChildRunsThatEnded(Wayward):
    """Starts a child run under the id of one that ended."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, ChildCompleted):
            return turn.after
        return msgspec.structs.replace(turn.after, child_runs=turn.after.child_runs.delete(turn.event.child_run_id))


@mutant("CHD-009")
class KnowsChildRunsByNode(Wayward):
    """Looks for a child run id among those of the same node alone."""

    def seen(self, state: State, event: EventV5) -> State:
        if not isinstance(event, ChildStarted):
            return state
        position = state.position(event.node)
        own = {run_id: node for run_id, node in state.child_runs.items() if node == position}
        return msgspec.structs.replace(state, child_runs=Map(own))

    def turned(self, turn: Turn) -> State:
        return msgspec.structs.replace(turn.after, child_runs=turn.before.child_runs.update(turn.after.child_runs))


@mutant("CHD-010")
class TakesAnAncestorTwice(ReferenceKernel):
    """Takes a run whose ancestors name one run twice."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is None and isinstance(event, RunCreated):
            event = msgspec.structs.replace(event, ancestors=tuple(dict.fromkeys(event.ancestors)))
        return super().step(state, event, version)


@mutant("CHD-010", report="Azure/azure-functions-durable-extension#746")
class IsItsOwnAncestor(ReferenceKernel):
    """Takes a run that is its own ancestor."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is None and isinstance(event, RunCreated):
            others = tuple(run_id for run_id in event.ancestors if run_id != event.run_id)
            event = msgspec.structs.replace(event, ancestors=others)
        return super().step(state, event, version)


# What ends an attempt


@mutant("CHD-011")
class TakesAnyChildRun(Forgives):
    """Does not look which child run ended."""

    forgiven: ClassVar = frozenset({"not_active"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, ChildCompleted):
            return False
        return state.nodes[at(state, event.node)].attempt_id == event.attempt_id


@mutant("CHD-011", overlaps=("RUN-014",))
class TakesAChildRunOfAnEarlierAttempt(Forgives):
    """Ends the active attempt by the child run of an earlier one."""

    forgiven: ClassVar = frozenset({"not_active"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, ChildCompleted):
            return False
        position, attempt = at(state, event.node), state.attempts.get(event.attempt_id)
        is_earlier = attempt is not None and attempt.node == position and attempt.outcome is not None
        return is_earlier and state.nodes[position].status == "running"


@mutant("CHD-011")
class EndsChildrenFromOutside(Forgives):
    """Lets an outcome from outside end an attempt that a child run works for."""

    forgiven: ClassVar = frozenset({"is_a_child"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        return super().pardons(state, event, error) and isinstance(event, NodeOutcomeCommitted)


@mutant("CHD-011", overlaps=("TIM-009",))
class ChildrenWait(Forgives):
    """Lets a child's node wait for signals and timers."""

    forgiven: ClassVar = frozenset({"is_a_child"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        return super().pardons(state, event, error) and isinstance(event, SignalWaitOpened | TimerWaitOpened)


# What it ends with


@mutant("CHD-012")
class AlwaysPropagates(ReferenceKernel):
    """Gives the node what the child run came to, also where a success is required."""

    rules = replace(RULES, child_outcome=lambda _, result: child_outcome("propagate", result))


@mutant("CHD-012")
class AlwaysRequiresSuccess(ReferenceKernel):
    """Fails the node permanently for any child run that did not complete, also where it is to be propagated."""

    rules = replace(RULES, child_outcome=lambda _, result: child_outcome("require_success", result))


@mutant("CHD-012", overlaps=("RUN-019",))
class TriesFailedChildrenAgain(ReferenceKernel):
    """Takes a child run that failed for a failure that may be tried again."""

    rules = replace(
        RULES,
        child_outcome=lambda policy, result: (
            "retryable_failure" if result == "failed" else child_outcome(policy, result)
        ),
    )


@mutant("CHD-012", report="hatchet-dev/hatchet#4554")
class TakesAnyEndForSuccess(ReferenceKernel):
    """Loses how the child run ended, and takes it for a success."""

    rules = replace(RULES, child_outcome=lambda *_: "succeeded")


class Gives(Wayward):
    """It makes something else of the output of a child run that completed."""

    def given(self, outputs: Mapping[Name, Name], completed: ChildCompleted, right: Outcome) -> Outcome:
        """Return the outcome of the node, which should be `right`."""
        raise NotImplementedError

    def turned(self, turn: Turn) -> State:
        event, agenda = turn.event, turn.after.agenda
        if not isinstance(event, ChildCompleted) or event.result != "completed" or agenda.outcome is None:
            return turn.after
        position, right = agenda.outcome
        call = turn.after.node(position).child
        assert call is not None
        return with_agenda(turn.after, outcome=(position, self.given(call.outputs, event, right)))


@mutant("CHD-013", overlaps=_IN_OUTPUTS)
class CopiesTheWholeOutput(Gives):
    """Gives the node all that the child run gave, beside what it takes."""

    def given(self, outputs: Mapping[Name, Name], completed: ChildCompleted, right: Outcome) -> Outcome:
        if not isinstance(right, Succeeded):
            return right
        return _succeeded({**completed.output, **_taken(outputs, completed)})


@mutant("CHD-013", overlaps=_IN_OUTPUTS)
class KeepsTheNamesOfTheChild(Gives):
    """Gives the node the fields that it takes under the names that the child run gave them."""

    def given(self, outputs: Mapping[Name, Name], completed: ChildCompleted, right: Outcome) -> Outcome:
        if not isinstance(right, Succeeded):
            return right
        return _succeeded({wanted: completed.output[wanted] for wanted in outputs.values()})


@mutant("CHD-013", overlaps=("CHD-011", "CHD-012", "TIM-007"))
class GivesNoEmptyObject(Gives):
    """Gives no output at all where the node takes no field."""

    def given(self, outputs: Mapping[Name, Name], completed: ChildCompleted, right: Outcome) -> Outcome:
        del completed
        return right if outputs or not isinstance(right, Succeeded) else Succeeded(kind="succeeded")


@mutant("CHD-014", overlaps=("CHD-013",))
class LeavesOutWhatIsMissing(Gives):
    """Leaves out a field that the child run did not give, and succeeds."""

    def given(self, outputs: Mapping[Name, Name], completed: ChildCompleted, right: Outcome) -> Outcome:
        if all(wanted in completed.output for wanted in outputs.values()):
            return right
        return _succeeded(_found(outputs, completed))


@mutant("CHD-014", overlaps=("CHD-013",))
class TakesNullForWhatIsMissing(Gives):
    """Takes null for a field that the child run did not give."""

    def given(self, outputs: Mapping[Name, Name], completed: ChildCompleted, right: Outcome) -> Outcome:
        if all(wanted in completed.output for wanted in outputs.values()):
            return right
        return _succeeded({**dict.fromkeys(outputs), **_found(outputs, completed)})


@mutant("CHD-014")
class TriesAgainWhatIsMissing(Gives):
    """Takes a missing field for a failure that may be tried again."""

    def given(self, outputs: Mapping[Name, Name], completed: ChildCompleted, right: Outcome) -> Outcome:
        is_missing = any(wanted not in completed.output for wanted in outputs.values())
        return without_output("retryable_failure") if is_missing else right


@mutant("CHD-014")
class TakesTooMuch(Gives):
    """Takes what the child run gave, however much it is."""

    def given(self, outputs: Mapping[Name, Name], completed: ChildCompleted, right: Outcome) -> Outcome:
        if any(wanted not in completed.output for wanted in outputs.values()):
            return right
        return _succeeded(_taken(outputs, completed))


@mutant("CHD-014")
class FailsAtExactlyTheLimit(Gives):
    """Fails for output of just as many bytes as are allowed."""

    def given(self, outputs: Mapping[Name, Name], completed: ChildCompleted, right: Outcome) -> Outcome:
        if not isinstance(right, Succeeded) or len(canonical_json(_taken(outputs, completed))) < MAX_INLINE_BYTES:
            return right
        return without_output("permanent_failure")


@mutant("CHD-014", overlaps=("RUN-005",))
class HoldsTheWholeOutputAgainstTheLimit(Gives):
    """Fails for output that the node does not take, if that is too much."""

    def given(self, outputs: Mapping[Name, Name], completed: ChildCompleted, right: Outcome) -> Outcome:
        del outputs
        is_small = len(canonical_json(completed.output)) <= MAX_INLINE_BYTES
        return right if is_small else without_output("permanent_failure")


def _taken(outputs: Mapping[Name, Name], completed: ChildCompleted) -> JsonObject:
    return {name: completed.output[wanted] for name, wanted in outputs.items()}


def _found(outputs: Mapping[Name, Name], completed: ChildCompleted) -> JsonObject:
    return {name: completed.output[wanted] for name, wanted in outputs.items() if wanted in completed.output}


def _succeeded(output: JsonObject) -> Outcome:
    return Succeeded(kind="succeeded", output=output)
