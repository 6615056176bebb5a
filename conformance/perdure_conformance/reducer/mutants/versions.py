"""Faults of versions: VER-001 to VER-012."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import msgspec

from perdure.kernel.changes import applied
from perdure.kernel.commands import AnyCommand, Rejection, Settle
from perdure.kernel.consequences import settling
from perdure.kernel.decide import Events
from perdure.kernel.errors import Incompatible, corrupt
from perdure.kernel.events import (
    EVENTS,
    AnyEvent,
    NodeBlocked,
    NodeFailed,
    RetryScheduled,
    RunCancelled,
    RunCreated,
    RunFailed,
)
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.state import Agenda, State
from perdure.kernel.upcast import upcast
from perdure.kernel.values import JsonObject
from perdure_conformance.reducer.contract import Decided, Entry
from perdure_conformance.reducer.mutants.faults import Forgives, PassesOver
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

_NEWEST: Final = 5


# What each version has


@mutant("VER-001", overlaps=("RUN-031", "VER-007"))
class SkipsWhatItDoesNotKnow(PassesOver):
    """Passes over events of types that it does not know."""

    passed_over: ClassVar = frozenset({"unknown_type"})


@mutant("VER-001", overlaps=("VER-007",))
class KnowsEveryTypeInEveryVersion(ReferenceKernel):
    """Takes an event of a later version in an older one, if it knows it."""

    def after(self, state: State | None, entry: Entry) -> State:
        try:
            return super().after(state, entry)
        except Incompatible as error:
            if state is None or error.code != "unknown_type":
                raise
            known = next((version for version in range(1, 6) if _has(version, entry.event)), None)
            if known is None or known == 1:
                raise
            return self.step(msgspec.structs.replace(state, version=known), self.read(Entry(known, entry.event)), known)


def _has(version: int, event: Mapping[str, Any]) -> bool:
    return any(kind.__name__ == event.get("type") for kind in EVENTS[version])


class _ReadsOtherwise(ReferenceKernel):
    """It makes something of an event that is not there."""

    def meant(self, event: JsonObject, version: int) -> JsonObject:
        """Return the event that it takes one for."""
        raise NotImplementedError

    def read(self, entry: Entry) -> AnyEvent:
        return super().read(Entry(entry.version, self.meant(entry.event, entry.version)))


def _members(version: int, name: object) -> frozenset[str]:
    """Return the members of a type of events, whatever their versions; none if there is no such type."""
    kinds = {kind.__name__: kind for kind in EVENTS.get(version, ())}
    kind = kinds.get(str(name))
    return frozenset() if kind is None else frozenset((*kind.__struct_fields__, "type"))


@mutant("VER-002", overlaps=("SIG-001",))
class DropsUnknownMembers(_ReadsOtherwise):
    """Leaves out of an event what it does not know."""

    def meant(self, event: JsonObject, version: int) -> JsonObject:
        known = _members(version, event.get("type"))
        return {name: value for name, value in event.items() if name in known} if known else event


@mutant("VER-002")
class ReadsMembersOfLaterVersions(_ReadsOtherwise):
    """Does not look in which version a member came."""

    def meant(self, event: JsonObject, version: int) -> JsonObject:
        if version >= 3 or event.get("type") != "RunCreated":
            return event
        return {name: value for name, value in event.items() if name not in {"input", "ancestors"}}


@mutant("VER-002")
class TakesTextForNumbers(_ReadsOtherwise):
    """Reads a number that stands there as text."""

    def meant(self, event: JsonObject, version: int) -> JsonObject:
        del version
        number = event.get("attempt")
        return {**event, "attempt": int(number)} if isinstance(number, str) and number.isdecimal() else event


@mutant("VER-002")
class TakesTrueForOne(_ReadsOtherwise):
    """Reads true as 1, as its language does."""

    def meant(self, event: JsonObject, version: int) -> JsonObject:
        del version
        return {**event, "attempt": 1} if event.get("attempt") is True else event


@mutant("VER-002")
class CountsWhatIsNotThere(_ReadsOtherwise):
    """Takes an attempt without a number for the first."""

    def meant(self, event: JsonObject, version: int) -> JsonObject:
        del version
        return {**event, "attempt": 1} if event.get("type") == "NodeStarted" and "attempt" not in event else event


@mutant("VER-002", overlaps=("CHD-010", "VER-005"))
class WantsEveryMember(ReferenceKernel):
    """Takes no creation of version 3 or later without its input."""

    def after(self, state: State | None, entry: Entry) -> State:
        is_bare = entry.event.get("type") == "RunCreated" and "input" not in entry.event
        document = entry.event.get("specification")
        of_version_3 = isinstance(document, Mapping) and document.get("schema_version") == 3
        if state is None and is_bare and of_version_3:
            corrupt("wrong_structure", "there is no input")
        return super().after(state, entry)


@mutant("VER-003", overlaps=("RUN-031",))
class ReadsAnyVersion(ReferenceKernel):
    """Reads an event of any other version as one of the newest."""

    def after(self, state: State | None, entry: Entry) -> State:
        return super().after(state, entry if entry.version in EVENTS else Entry(_NEWEST, entry.event))


@mutant("VER-003", overlaps=("RUN-031",))
class ReadsNewerVersions(ReferenceKernel):
    """Reads an event of a newer version as well as it can."""

    def after(self, state: State | None, entry: Entry) -> State:
        return super().after(state, Entry(min(entry.version, _NEWEST), entry.event))


@mutant("VER-004")
class ForgetsTheVersionBefore(Forgives):
    """Takes events of any version at any time."""

    forgiven: ClassVar = frozenset({"version_went_down"})


@mutant("VER-004")
class ChangesVersionInABatch(ReferenceKernel):
    """Takes a higher version in the middle of a batch."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is not None and version > state.version and state.agenda != Agenda():
            state = msgspec.structs.replace(state, version=version)
        return super().step(state, event, version)


def _version_of(event: AnyEvent) -> int:
    found = event.specification.get("schema_version") if isinstance(event, RunCreated) else None
    return found if isinstance(found, int) else 0


@mutant("VER-005")
class TakesNewerDocuments(ReferenceKernel):
    """Does not compare the version of a document with that of its run."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is None and version < _version_of(event) <= _NEWEST:
            first = super().step(state, event, _version_of(event))
            return msgspec.structs.replace(first, version=version)
        return super().step(state, event, version)


@mutant("VER-005", overlaps=("VER-012",))
class WantsDocumentsOfItsVersion(ReferenceKernel):
    """Takes no document of an older version than its run."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is None and 0 < _version_of(event) < version:
            corrupt("invalid_specification", "the document is older than the run")
        return super().step(state, event, version)


@mutant("VER-006")
class WritesTheVersionOfTheHistory(ReferenceKernel):
    """Goes on in the version in which a history was begun."""

    def decide(self, history: Sequence[Entry], command: JsonObject) -> Decided:
        answer = super().decide(history, command)
        if not answer.allowed or not history:
            return answer
        return msgspec.structs.replace(answer, version=history[-1].version)


# The rules of each version


@mutant(
    "VER-007",
    overlaps=(
        "DEP-002",
        "RUN-006",
        "RUN-021",
        "RUN-022",
        "RUN-026",
        "VER-001",
        "VER-004",
        "VER-005",
        "VER-008",
        "VER-009",
        "VER-010",
        "VER-011",
    ),
)
class JudgesByTheNewestRules(ReferenceKernel):
    """Upcasts every event as it reads it, and forgets the version in which it was recorded."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        newest = upcast(event) if version in EVENTS else event
        return super().step(state, newest, _NEWEST if version in EVENTS else version)


@mutant("VER-007", overlaps=("RUN-021", "VER-008"))
class TakesBlocksForFailures(ReferenceKernel):
    """Upcasts NodeBlocked as the failure that it was before there were outcomes."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if isinstance(event, NodeBlocked) and version == 1:
            event = NodeFailed(node=event.node, attempt_id=event.attempt_id, reason=event.reason)
        return super().step(state, event, version)


@mutant("VER-008", overlaps=("VER-007", "RUN-021", "RUN-026"))
class WaitsForTheOthers(ReferenceKernel):
    """Lets a run of version 1 go on when a node has failed or is blocked, as one of version 2."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        if version == 1 and after.agenda.verdict in {"failed", "blocked"} and after.statuses.get("ready", 0):
            return msgspec.structs.replace(after, agenda=Agenda())
        is_last = version == 1 and after.agenda.verdict in {"failed", "blocked"} and after.statuses.get("running", 0)
        return msgspec.structs.replace(after, agenda=Agenda()) if is_last else after


@mutant("VER-008", overlaps=("RUN-021", "VER-007"))
class FailsWhatIsBlocked(ReferenceKernel):
    """Lets a run of version 1 fail whatever ended it."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        if version == 1 and after.agenda.verdict == "blocked":
            return msgspec.structs.replace(after, agenda=msgspec.structs.replace(after.agenda, verdict="failed"))
        return after


@mutant("VER-009", overlaps=("CAN-004", "DEP-009", "RUN-025"))
class CancelsInEveryVersion(ReferenceKernel):
    """Takes RunCancelled wherever nothing is owed, in every version."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if (
            state is not None
            and isinstance(event, RunCancelled)
            and state.status == "running"
            and state.agenda == Agenda()
        ):
            return applied(state, event, version, self.rules)
        return super().step(state, event, version)


@mutant("VER-009")
class NeverCancelsVersion1(ReferenceKernel):
    """Wants a cancellation to be requested first, in version 1 too."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if isinstance(event, RunCancelled) and version == 1:
            corrupt("nothing_owed", "nobody asked for a cancellation")
        return super().step(state, event, version)


@mutant("VER-009", overlaps=("RUN-021",))
class CancelsInTheMiddle(ReferenceKernel):
    """Takes RunCancelled of version 1 while something is owed."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is not None and isinstance(event, RunCancelled) and version == 1 and state.status == "running":
            return applied(state, event, version, self.rules)
        return super().step(state, event, version)


class _ByVersion(ReferenceKernel):
    """It has other rules for some states."""

    def rules_of(self, state: State | None) -> Rules:
        """Return the rules that it has."""
        raise NotImplementedError

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        return reduce(state, event, self.rules_of(state), version=version)


@mutant("VER-010", overlaps=("RUN-006", "VER-007", "VER-011"))
class EndsWithItsFirstFailure(ReferenceKernel):
    """Takes a retryable failure of versions 2 and 3 for the end of its node."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        if (
            version not in {2, 3}
            or after.unsettled is None
            or (state is not None and state.unsettled == after.unsettled)
        ):
            return after
        position = after.unsettled.first
        failed = msgspec.structs.replace(after.nodes[position], status="failed")
        return msgspec.structs.replace(after, nodes=after.nodes.set(position, failed), unsettled=None)


@mutant("VER-010")
class FailsWithWhatIsLeft(ReferenceKernel):
    """Lets a run of version 2 or 3 fail when nothing but failures and changes are left of it."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        is_still = state is not None and not any(
            state.statuses.get(status, 0) for status in ("ready", "running", "waiting", "pending")
        )
        if state is not None and is_still and version in {2, 3} and isinstance(event, RunFailed) and state.unsettled:
            return applied(state, event, version, self.rules)
        return super().step(state, event, version)


@mutant("VER-011", overlaps=("RUN-006",))
class NeverSettles(ReferenceKernel):
    """Leaves to an older history what it left."""

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        if isinstance(command, Settle) and state is not None and state.status == "running":
            return Rejection(code="no_effect", sentence="")
        return super().choose(state, command)


@mutant("VER-011", overlaps=("VER-007",))
class SettlesFirst(ReferenceKernel):
    """Takes nothing from an older history before it is settled."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        due = None
        if (
            state is not None
            and version >= 4 > state.version
            and state.agenda == Agenda()
            and state.status == "running"
        ):
            due = self.owed(settling(state, version, self.rules))
        if due is not None and type(due) is not type(event):
            corrupt("something_else_owed", "the history is to be settled first")
        return super().step(state, event, version)


@mutant("VER-011")
class SettlesInTheOrderOfTime(ReferenceKernel):
    """Settles what failed first before what comes first in the specification."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        is_retry = state is not None and isinstance(event, RetryScheduled) and state.unsettled is not None
        if state is None or not is_retry or state.agenda != Agenda() or not isinstance(event, RetryScheduled):
            return super().step(state, event, version)
        positions = [position for position, node in state.nodes.items() if node.status == "retry_pending"]
        first = min(positions, key=lambda position: state.nodes[position].outcome or 0)
        if event.node != state.name(first):
            corrupt("something_else_owed", f"{state.name(first)} failed first")
        return msgspec.structs.replace(state, sequence=state.sequence + 1)


@mutant("VER-012")
class HasNoRetriesForOldDocuments(_ByVersion):
    """Retries nothing of a document that was written before there were retries."""

    _none: ClassVar[Rules] = replace(RULES, has_attempts=lambda policy, attempts: False)  # noqa: ARG005

    def rules_of(self, state: State | None) -> Rules:
        is_old = state is not None and state.plan.specification.schema_version < 4
        return self._none if is_old else self.rules


@mutant("VER-012")
class RetriesOldDocumentsForEver(_ByVersion):
    """Retries a document of an older version without an end, since it names none."""

    _all: ClassVar[Rules] = replace(RULES, has_attempts=lambda policy, attempts: True)  # noqa: ARG005

    def rules_of(self, state: State | None) -> Rules:
        is_old = state is not None and state.plan.specification.schema_version < 4
        return self._all if is_old else self.rules
