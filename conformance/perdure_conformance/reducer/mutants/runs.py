"""Faults of runs, their histories and their answers: RUN-001 to RUN-003, RUN-006 to RUN-011, RUN-029 to RUN-031."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from perdure.kernel.commands import AnyCommand, CreateRun, DeliverSignal, Rejection, StartNode
from perdure.kernel.decide import Events
from perdure.kernel.errors import HistoryError
from perdure.kernel.events import AnyEvent, NodeReady, RecoveryAcquired, RunCreated, TransitionActivated
from perdure.kernel.specification import covered_by_hash
from perdure.kernel.state import State
from perdure.kernel.values import JsonObject, digest
from perdure_conformance.reducer.contract import Entry, Reduced
from perdure_conformance.reducer.mutants.faults import Forgives, PassesOver
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

# Creation


@mutant("RUN-001")
class IsCreatedTwice(Forgives):
    """Takes a second RunCreated for a repetition of the first."""

    forgiven: ClassVar = frozenset({"run_conflict"})


class _CreatesOtherwise(ReferenceKernel):
    """It makes something of a RunCreated that is not there."""

    def mended(self, event: RunCreated) -> RunCreated:
        """Return the creation as it is taken."""
        raise NotImplementedError

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is None and isinstance(event, RunCreated):
            return super().step(state, self.mended(event), version)
        return super().step(state, event, version)


@mutant("RUN-002")
class BelievesTheHash(_CreatesOtherwise):
    """Never works out the content hash of a document."""

    def mended(self, event: RunCreated) -> RunCreated:
        right = digest(covered_by_hash(event.specification))
        document = {**event.specification, "content_hash": right}
        return msgspec.structs.replace(event, specification=document, content_hash=right)


@mutant("RUN-002")
class HashesWhatItIsGiven(_CreatesOtherwise):
    """Looks at the content hash in RunCreated alone, and not at that in its document."""

    def mended(self, event: RunCreated) -> RunCreated:
        right = digest(covered_by_hash(event.specification))
        return msgspec.structs.replace(event, specification={**event.specification, "content_hash": right})


@mutant("RUN-003")
class LeavesOutOtherInput(_CreatesOtherwise):
    """Takes of the input what is declared, and drops the rest without a word."""

    def mended(self, event: RunCreated) -> RunCreated:
        declared = event.specification.get("inputs", ())
        assert isinstance(declared, Sequence)
        kept = {name: value for name, value in event.input.items() if name in declared}
        return msgspec.structs.replace(event, input=kept)


@mutant("RUN-003")
class FillsInputWithNull(_CreatesOtherwise):
    """Takes a declared input that is not given for null."""

    def mended(self, event: RunCreated) -> RunCreated:
        declared = event.specification.get("inputs", ())
        assert isinstance(declared, Sequence)
        return msgspec.structs.replace(event, input={**{str(name): None for name in declared}, **event.input})


class _CreatesAgain(ReferenceKernel):
    """It compares a run that is created again with the run in another way."""

    def is_same(self, state: State, command: CreateRun) -> bool:
        """Tell whether the run is taken for the same."""
        raise NotImplementedError

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        if state is None or not isinstance(command, CreateRun):
            return super().choose(state, command)
        code = "already_created" if self.is_same(state, command) else "run_conflict"
        return Rejection(code=code, sentence="")  # type: ignore[arg-type]


@mutant("RUN-011")
class KnowsRunsByTheirId(_CreatesAgain):
    """Takes a run for the same if its id is."""

    def is_same(self, state: State, command: CreateRun) -> bool:
        return state.run_id == command.run_id


@mutant("RUN-011")
class ForgetsAncestors(_CreatesAgain):
    """Does not compare the ancestors of a run that is created again."""

    def is_same(self, state: State, command: CreateRun) -> bool:
        content_hash = digest(covered_by_hash(command.specification))
        same = (state.run_id, state.content_hash) == (command.run_id, content_hash)
        return same and digest(state.input) == digest(command.input)


@mutant("RUN-011")
class TakesTrueForOne(_CreatesAgain):
    """Compares inputs as its language does, in which true is 1."""

    def is_same(self, state: State, command: CreateRun) -> bool:
        content_hash = digest(covered_by_hash(command.specification))
        same = (state.run_id, state.content_hash, state.ancestors) == (command.run_id, content_hash, command.ancestors)
        return same and state.input == command.input


@mutant("RUN-011")
class ValidatesFirst(ReferenceKernel):
    """Looks whether a document is valid before it looks whether the run is there."""

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        if state is not None and isinstance(command, CreateRun):
            alone = super().choose(None, command)
            if isinstance(alone, Rejection):
                return alone
        return super().choose(state, command)


# Batches


class _WritesOtherwise(ReferenceKernel):
    """It gives other events to a command than it would accept."""

    def written(self, events: Events) -> Events:
        """Return the events that it gives."""
        raise NotImplementedError

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        return found if isinstance(found, Rejection) else self.written(found)


@mutant("RUN-006", overlaps=("RTY-007", "RUN-002"))
class LeavesConsequencesToOthers(_WritesOtherwise):
    """Answers a command with its first event, and waits for somebody to ask for the others."""

    def written(self, events: Events) -> Events:
        return events[:1]


@mutant("RUN-006")
class FiresLast(_WritesOtherwise):
    """Writes what an outcome releases before the edges that it fires."""

    def written(self, events: Events) -> Events:
        fired = tuple(event for event in events if isinstance(event, TransitionActivated))
        if not fired:
            return events
        rest = tuple(event for event in events if event not in fired)
        return (*rest, *fired)


@mutant("RUN-006")
class SortsWhatIsReady(_WritesOtherwise):
    """Writes initial nodes in the order of their names."""

    def written(self, events: Events) -> Events:
        if not isinstance(events[0], RunCreated):
            return events
        ready = [event for event in events if isinstance(event, NodeReady)]
        return (events[0], *sorted(ready, key=lambda event: event.node))


@mutant("RUN-006", overlaps=("RUN-002",))
class PinsDocumentsWithoutAHash(_WritesOtherwise):
    """Writes the document into RunCreated as it was given, without its content hash."""

    def written(self, events: Events) -> Events:
        first = events[0]
        if not isinstance(first, RunCreated):
            return events
        document = {name: value for name, value in first.specification.items() if name != "content_hash"}
        return (msgspec.structs.replace(first, specification=document), *events[1:])


@mutant(
    "RUN-007",
    overlaps=(
        "BUD-004",
        "CAN-003",
        "RTY-002",
        "RTY-008",
        "RUN-028",
        "SIG-010",
        "TIM-002",
        "TIM-005",
        "TIM-006",
        "TIM-009",
    ),
)
class LetsWorkersIn(ReferenceKernel):
    """Takes RecoveryAcquired at any time, in the middle of a batch too."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is None or not isinstance(event, RecoveryAcquired) or self.owed(state) is None:
            return super().step(state, event, version)
        return msgspec.structs.replace(state, sequence=state.sequence + 1, version=version)


@mutant(
    "RUN-007",
    overlaps=(
        "DEP-001",
        "DEP-002",
        "DEP-003",
        "DEP-004",
        "DEP-005",
        "DEP-006",
        "DEP-007",
        "DEP-010",
        "EDG-011",
        "EDG-012",
        "RUN-020",
        "RUN-030",
        "VER-010",
    ),
)
class LetsThingsBeReadyAgain(PassesOver):
    """Takes a NodeReady that nobody owes for a repetition."""

    def is_passed_over(self, state: State, entry: Entry, error: HistoryError) -> bool:
        del state
        return error.code == "nothing_owed" and entry.event["type"] == "NodeReady"


@mutant("RUN-007", overlaps=("RTY-006", "RTY-008", "RTY-009", "RUN-012", "RUN-020", "TIM-005", "TIM-010", "VER-011"))
class ReleasesRetriesAtWill(PassesOver):
    """Does not ask whether anything is to be released where a retry is."""

    def is_passed_over(self, state: State, entry: Entry, error: HistoryError) -> bool:
        del state
        return error.code == "nothing_owed" and entry.event["type"] == "RetryReleased"


@mutant("RUN-008")
class CallsEveryHistoryWhole(ReferenceKernel):
    """Does not look whether something is owed where a history ends."""

    def told(self, answer: Reduced, history: Sequence[Entry]) -> Reduced:
        del history
        return msgspec.structs.replace(answer, whole=True) if answer.accepted else answer


@mutant("RUN-008")
class RefusesWhatIsNotWhole(ReferenceKernel):
    """Takes a history that was cut inside a batch for a corrupt one."""

    def told(self, answer: Reduced, history: Sequence[Entry]) -> Reduced:
        if not answer.accepted or answer.whole:
            return answer
        return Reduced(accepted=False, kind="corrupt", sequence=len(history))


class _RemembersRejections(ReferenceKernel):
    """It keeps something of what it rejected."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self.rejected: list[tuple[State, AnyCommand]] = []

    def is_spoilt(self, state: State, command: AnyCommand) -> bool:
        """Tell whether a command is rejected for what was rejected before."""
        raise NotImplementedError

    def before(self, state: State) -> list[AnyCommand]:
        """Return the commands that it rejected in a state."""
        return [command for where, command in self.rejected if where == state]

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if state is None:
            return found
        if isinstance(found, Rejection):
            self.rejected.append((state, command))
            return found
        return Rejection(code="no_effect", sentence="") if self.is_spoilt(state, command) else found


@mutant("RUN-009", overlaps=("CHD-009", "RTY-002", "RUN-012", "RUN-029"))
class SpendsIdsOfRejectedStarts(_RemembersRejections):
    """Keeps the attempt id of a start that it rejected."""

    def is_spoilt(self, state: State, command: AnyCommand) -> bool:
        starts = [each.attempt_id for each in self.before(state) if isinstance(each, StartNode)]
        return isinstance(command, StartNode) and command.attempt_id in starts


@mutant("RUN-009", overlaps=("SIG-006", "SIG-007"))
class SpendsIdsOfEarlySignals(_RemembersRejections):
    """Keeps the id of a signal that came too early."""

    def is_spoilt(self, state: State, command: AnyCommand) -> bool:
        delivered = [each.signal_id for each in self.before(state) if isinstance(each, DeliverSignal)]
        return isinstance(command, DeliverSignal) and command.signal_id in delivered


@mutant(
    "RUN-010", report="bunnycompany/underclass#17", overlaps=("BUD-001", "BUD-003", "BUD-007", "RUN-006", "RUN-009")
)
class ChargesReplays(ReferenceKernel):
    """Charges the attempts of a history again each time that it goes on from one that it replayed."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._replayed: tuple[Entry, ...] = ()
        self._used = 0

    def reduce(self, history: Sequence[Entry]) -> Reduced:
        goes_on = bool(self._replayed) and tuple(history[: len(self._replayed)]) == self._replayed
        self._used = self._used if goes_on else 0
        self._replayed = tuple(history)
        answer = super().reduce(history)
        self._used += sum(entry.event.get("type") == "NodeStarted" for entry in history)
        return answer

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        if state is not None:
            return after
        return msgspec.structs.replace(after, attempts_used=after.attempts_used + self._used)


@mutant(
    "RUN-010",
    overlaps=(
        "DEP-011",
        "EDG-013",
        "EDG-014",
        "RTY-006",
        "RUN-020",
        "RUN-021",
        "RUN-024",
        "RUN-026",
        "SIG-004",
        "SIG-008",
        "VER-007",
        "VER-008",
        "VER-010",
    ),
)
class TellsTheStateBefore(ReferenceKernel):
    """Keeps the state that it told last, and takes a history of the same document and length for the same one."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._told: tuple[tuple[str, int], JsonObject] | None = None

    def document(self, state: State) -> JsonObject:
        key = (state.content_hash, state.sequence)
        if self._told is None or self._told[0] != key:
            self._told = (key, super().document(state))
        return self._told[1]


# Answers


class _RejectsOtherwise(ReferenceKernel):
    """It has other codes."""

    def code_of(self, rejection: Rejection, state: State | None, command: AnyCommand) -> str:
        """Return the code of a rejection."""
        raise NotImplementedError

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if not isinstance(found, Rejection):
            return found
        return msgspec.structs.replace(found, code=self.code_of(found, state, command))


@mutant("RUN-029")
class HasItsOwnCodes(_RejectsOtherwise):
    """Names its rejections in its own words."""

    def code_of(self, rejection: Rejection, state: State | None, command: AnyCommand) -> str:
        del state, command
        return "".join(word.capitalize() for word in rejection.code.split("_"))


@mutant("RUN-029", report="apache/airflow#43475", overlaps=("CAN-004", "RUN-011", "RUN-015", "SIG-007"))
class LooksForTheEndFirst(_RejectsOtherwise):
    """Says that the run has ended before it looks whether it was asked so before."""

    def code_of(self, rejection: Rejection, state: State | None, command: AnyCommand) -> str:
        del command
        return "run_terminal" if state is not None and state.status != "running" else rejection.code


@mutant("RUN-029")
class LooksForTheEndLast(ReferenceKernel):
    """Looks whether a node is there before it looks whether the run has ended."""

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        is_unknown = state is not None and isinstance(command, StartNode) and state.position(command.node) is None
        if is_unknown:
            return Rejection(code="unknown_node", sentence="")
        return super().choose(state, command)


@mutant("RUN-030")
class CountsFromZero(ReferenceKernel):
    """Tells the position of a wrong event in its list, which begins with 0."""

    def told(self, answer: Reduced, history: Sequence[Entry]) -> Reduced:
        del history
        if answer.accepted or answer.sequence == 1:
            return answer
        return msgspec.structs.replace(answer, sequence=(answer.sequence or 0) - 1)


@mutant("RUN-030")
class TellsTheLastEvent(ReferenceKernel):
    """Reads to the end before it refuses, and tells where that was."""

    def told(self, answer: Reduced, history: Sequence[Entry]) -> Reduced:
        return answer if answer.accepted else msgspec.structs.replace(answer, sequence=len(history))


@mutant("RUN-030", overlaps=("RUN-028",))
class IgnoresReleases(PassesOver):
    """Passes over a RecoveryReleased of a worker that does not hold the run."""

    passed_over: ClassVar = frozenset({"wrong_owner"})


@mutant("RUN-030", overlaps=("TIM-001",))
class IgnoresTimeThatStandsStill(PassesOver):
    """Passes over a VirtualTimeAdvanced to now."""

    passed_over: ClassVar = frozenset({"no_effect"})


@mutant("RUN-031")
class CallsEverythingCorrupt(ReferenceKernel):
    """Has one word for all that it refuses."""

    def told(self, answer: Reduced, history: Sequence[Entry]) -> Reduced:
        del history
        return answer if answer.accepted else msgspec.structs.replace(answer, kind="corrupt")


@mutant("RUN-031")
class CallsEverythingIncompatible(ReferenceKernel):
    """Blames the version for whatever it cannot make sense of."""

    def told(self, answer: Reduced, history: Sequence[Entry]) -> Reduced:
        del history
        return answer if answer.accepted else msgspec.structs.replace(answer, kind="incompatible")
