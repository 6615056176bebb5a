"""Kernels that are unusual and right: whoever accuses one of them is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from perdure.journal.client import Recovered
from perdure.kernel.rules import RULES
from perdure.kernel.snapshots import state_digest
from perdure.kernel.state import State
from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.reducer.contract import Capabilities, Decided, Entry, Reduced, Restored, Shown
from perdure_conformance.reducer.reference import EVERYTHING, ReferenceKernel
from perdure_conformance.reducer.registry import TWINS, twin

__all__ = ["TWINS"]


@twin
class OnlyReduces(ReferenceKernel):
    """Claims nothing, and says no more than yes and no."""

    claims: ClassVar[Capabilities] = Capabilities()

    def told(self, answer: Reduced, history: Sequence[Entry]) -> Reduced:
        del history
        return msgspec.structs.replace(answer, code=None, sentence=None)


@twin
class Remembers(ReferenceKernel):
    """Keeps the states of the history that it saw last, and goes on from where the next one differs."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._entries: list[str] = []
        self._states: list[State] = []

    def after(self, state: State | None, entry: Entry) -> State:
        number, text = 0 if state is None else state.sequence, json.dumps([entry.version, entry.event])
        if number < len(self._entries) and self._entries[number] == text:
            return self._states[number]
        found = super().after(state, entry)
        self._entries[number:], self._states[number:] = [text], [found]
        return found


_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "RunCreated": {"input": {}, "ancestors": []},
    "CancellationRequested": {"targets": []},
    "ChildCompleted": {"output": {}},
    "SignalAccepted": {"payload": None},
}
_OF_A_COMMAND: Final = frozenset({"CompleteAttempt"})


@twin
class SaysItInOtherWords(ReferenceKernel):
    """Gives its own reasons, the most jitter, and every member that has a default."""

    claims: ClassVar[Capabilities] = msgspec.structs.replace(EVERYTHING, jitter=False)
    rules = replace(RULES, jitter_ms=lambda policy, *_: 0 if policy.jitter is None else policy.jitter.maximum_ms)

    def answered(self, answer: Decided, command: JsonObject) -> Decided:
        if answer.events is None:
            return answer
        is_given = command["type"] in _OF_A_COMMAND
        events = tuple(
            self._otherwise(event, is_given=is_given and not number) for number, event in enumerate(answer.events)
        )
        return msgspec.structs.replace(answer, events=events)

    def _otherwise(self, event: JsonObject, *, is_given: bool) -> JsonObject:
        outcome = event.get("outcome")
        if isinstance(outcome, Mapping) and "reason" in outcome and not is_given:
            event = {**event, "outcome": {**outcome, "reason": "because"}}
        return {**_DEFAULTS.get(str(event["type"]), {}), **event}

    def document(self, state: State) -> JsonObject:
        told = super().document(state)
        nodes = told["nodes"]
        assert isinstance(nodes, Mapping)
        every: JsonObject = {name: self._every_member(node) for name, node in nodes.items()}
        return {"ancestors": [], "signals": {}, "recovery": None, **told, "nodes": every}

    def _every_member(self, node: JsonValue) -> JsonValue:
        assert isinstance(node, Mapping)
        active = node.get("active")
        if isinstance(active, Mapping):
            resolved = active.get("resolved", ())
            assert isinstance(resolved, Sequence)
            active = {"wait": None, **active, "resolved": [self._with_payload(gain) for gain in resolved]}
        return {"activation": None, "closed": False, "retry_ms": None, **node, "active": active}

    def _with_payload(self, gain: JsonValue) -> JsonValue:
        assert isinstance(gain, Mapping)
        return {"payload": None, **gain} if gain["kind"] == "signal" else gain


@twin
class DecidesWithoutCodes(ReferenceKernel):
    """Decides commands, and says of what it rejects no more than that; tells no states."""

    claims: ClassVar[Capabilities] = Capabilities(decide=True)

    def answered(self, answer: Decided, command: JsonObject) -> Decided:
        del command
        return answer if answer.allowed else Decided(allowed=False)


@twin
class AlwaysReplaysInFull(ReferenceKernel):
    """Takes every snapshot, good or bad, and uses none."""

    def taken(self, shown: Shown) -> Shown:
        return msgspec.structs.replace(shown, snapshot=None)


@twin
class RestoresFromRecordsAlone(ReferenceKernel):
    """Reads records, and has no snapshots; says of what it refuses no more than it must."""

    claims: ClassVar[Capabilities] = Capabilities(records=True)

    def retold(self, answer: Restored) -> Restored:
        return msgspec.structs.replace(answer, code=None, sentence=None)


@twin
class UsesASnapshotOnlyIfAReplayAgrees(ReferenceKernel):
    """Replays everything whatever a snapshot says, and tells the snapshot's state if it is the same."""

    def recovered(self, shown: Shown) -> Recovered:
        by_snapshot, replayed = super().recovered(shown), super().recovered(self._alone(shown))
        assert by_snapshot.standing is not None
        assert replayed.standing is not None
        agrees = state_digest(by_snapshot.standing.state) == state_digest(replayed.standing.state)
        return by_snapshot if agrees else replayed

    def _alone(self, shown: Shown) -> Shown:
        return msgspec.structs.replace(shown, snapshot=None)


@twin
class CallsUnknownMembersDamage(ReferenceKernel):
    """Calls a record with a member that it does not know corrupt, as one without a member that it needs."""

    def retold(self, answer: Restored) -> Restored:
        return msgspec.structs.replace(answer, kind="corrupt") if answer.code == "unknown_member" else answer
