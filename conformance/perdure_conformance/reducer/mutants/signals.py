"""Faults of signals: SIG-001 to SIG-010."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from immutables import Map

from perdure.kernel.commands import AnyCommand, DeliverSignal, Rejection, token_digest
from perdure.kernel.consequences import tidied
from perdure.kernel.decide import Events
from perdure.kernel.errors import Corruption, corrupt
from perdure.kernel.events import (
    AnyEvent,
    EventV5,
    Mismatch,
    NodeOutcomeCommitted,
    RecoveryAcquired,
    SignalAccepted,
    SignalExpired,
    SignalRejected,
    SignalWaitOpened,
    TimerWaitOpened,
)
from perdure.kernel.identity import AttemptId, Name, NodeId, RunId, SignalId
from perdure.kernel.liveness import changed
from perdure.kernel.rules import RULES, mismatch
from perdure.kernel.state import Received, SignalWait, State, TimerPassed
from perdure.kernel.values import Digest, JsonValue, canonical_json
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.mutants.faults import Forgives, with_moves
from perdure_conformance.reducer.mutants.turns import Turn, Wayward, at, with_agenda, with_node, without_output
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

_DIGEST_DIGITS = frozenset("0123456789abcdef")

# Tokens


@mutant("SIG-001", overlaps=("VER-002",))
class HasAPlaceForTokens(ReferenceKernel):
    """Takes events that carry the token beside its digest."""

    def read(self, entry: Entry) -> AnyEvent:
        if "token" not in entry.event or not str(entry.event.get("type")).startswith("Signal"):
            return super().read(entry)
        event = {name: value for name, value in entry.event.items() if name != "token"}
        return super().read(Entry(entry.version, event))


@mutant("SIG-001", overlaps=("VER-002",))
class TakesATokenForItsDigest(ReferenceKernel):
    """Takes an event that carries a token where its digest belongs."""

    def read(self, entry: Entry) -> AnyEvent:
        token = entry.event.get("token_sha256")
        if not isinstance(token, str) or (len(token) == 64 and set(token) <= _DIGEST_DIGITS):
            return super().read(entry)
        return super().read(Entry(entry.version, {**entry.event, "token_sha256": token_digest(token)}))


@mutant("SIG-001", overlaps=("VER-002",))
class RepeatsTheDigest(ReferenceKernel):
    """Takes a SignalAccepted that carries what was presented."""

    def read(self, entry: Entry) -> AnyEvent:
        if entry.event.get("type") != "SignalAccepted":
            return super().read(entry)
        event = {name: value for name, value in entry.event.items() if name != "token_sha256"}
        return super().read(Entry(entry.version, event))


# Waits


@mutant("SIG-002")
class WaitsForAnything(Forgives):
    """Waits for a signal that the node does not declare."""

    forgiven: ClassVar = frozenset({"undeclared_signal"})


@mutant("SIG-002", overlaps=("BUD-006", "CAN-002", "EDG-011", "RUN-014", "RUN-020", "SIG-003", "SIG-004", "SIG-005"))
class WaitsWhileItRuns(Wayward):
    """Leaves a node running that waits for a signal."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, SignalWaitOpened):
            return turn.after
        position = at(turn.after, turn.event.node)
        node = msgspec.structs.replace(turn.after.nodes[position], status="running")
        return changed(turn.after, position, node, self.rules)


@mutant("SIG-003", overlaps=("RUN-020", "SIG-005"))
class WaitsTwice(Forgives):
    """Opens a wait in the place of one that is open."""

    forgiven: ClassVar = frozenset({"not_active"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, SignalWaitOpened | TimerWaitOpened):
            return False
        return _is_waiting(state, event.node, event.attempt_id)


@mutant("SIG-003", overlaps=("RUN-014", "RUN-020", "SIG-004", "SIG-005"))
class EndsWhileItWaits(Forgives):
    """Takes the outcome of an attempt that waits."""

    rules = with_moves(("waiting", "succeeded"), ("waiting", "changes_requested"), ("waiting", "blocked"))
    forgiven: ClassVar = frozenset({"not_active"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, NodeOutcomeCommitted):
            return False
        return event.attempt_id is not None and _is_waiting(state, event.node, event.attempt_id)


# Deliveries


@mutant(
    "SIG-004",
    overlaps=(
        "EDG-011",
        "EDG-016",
        "RUN-014",
        "RUN-020",
        "SIG-003",
        "SIG-005",
        "SIG-006",
        "SIG-007",
        "SIG-008",
        "SIG-009",
        "TIM-001",
        "TIM-010",
    ),
)
class WaitsOn(Wayward):
    """Leaves a wait open whose signal came."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, SignalAccepted):
            return turn.after
        position = at(turn.after, turn.event.node)
        node = msgspec.structs.replace(
            turn.after.nodes[position], status="waiting", wait=turn.before.nodes[position].wait
        )
        return changed(turn.after, position, node, self.rules)


@mutant(
    "SIG-004",
    overlaps=(
        "EDG-011",
        "EDG-016",
        "RUN-014",
        "RUN-020",
        "SIG-003",
        "SIG-006",
        "SIG-007",
        "SIG-008",
        "SIG-009",
        "TIM-001",
        "TIM-005",
    ),
)
class ASignalStartsANewAttempt(Wayward):
    """Ends an attempt when its signal comes, and makes its node ready for another."""

    rules = with_moves(("running", "ready"))

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, SignalAccepted):
            return turn.after
        position = at(turn.after, turn.event.node)
        node = msgspec.structs.replace(
            turn.after.nodes[position], status="ready", attempt_id=None, deadline_ms=None, input=None, resolved=Map()
        )
        return changed(turn.after, position, node, self.rules)


class BelievesDeliveries(Forgives):
    """It believes what an event says of a delivery."""

    forgiven: ClassVar = frozenset({"wrong_content"})
    of: ClassVar[tuple[type, ...]] = (SignalAccepted,)

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, SignalAccepted | SignalRejected):
            return False
        return isinstance(event, self.of) and self.believes(state, event)

    def believes(self, state: State, event: SignalAccepted | SignalRejected) -> bool:
        """Tell whether it believes an event that is wrong."""
        raise NotImplementedError


@mutant("SIG-004", overlaps=("TIM-010",))
class AcceptsForAnyAttempt(BelievesDeliveries):
    """Does not look which attempt accepts a signal."""

    def believes(self, state: State, event: SignalAccepted | SignalRejected) -> bool:
        return state.nodes[at(state, event.node)].attempt_id != event.attempt_id


@mutant("SIG-004", overlaps=("SIG-005",))
class AcceptsAnotherName(BelievesDeliveries):
    """Does not look whether a signal that is recorded as accepted has the name that is waited for."""

    def believes(self, state: State, event: SignalAccepted | SignalRejected) -> bool:
        return state.nodes[at(state, event.node)].attempt_id == event.attempt_id


@mutant("SIG-005")
class RejectsForAnyAttempt(BelievesDeliveries):
    """Does not look whose wait a rejected signal was for."""

    of = (SignalRejected,)

    def believes(self, state: State, event: SignalAccepted | SignalRejected) -> bool:
        return state.nodes[at(state, event.node)].attempt_id != event.attempt_id


@mutant("SIG-005", overlaps=("SIG-004", "SIG-008"))
class LooksAtNoToken(ReferenceKernel):
    """Accepts any signal of the right name."""

    rules = replace(RULES, mismatch=lambda wait, name, _: None if wait.name == name else "wrong_name")


@mutant("SIG-005", overlaps=("RUN-006", "SIG-004"))
class LooksAtNoName(ReferenceKernel):
    """Accepts any signal with the right token."""

    rules = replace(RULES, mismatch=lambda wait, _, digest: mismatch(wait, wait.name, digest))


@mutant("SIG-005")
class LooksAtTheTokenFirst(ReferenceKernel):
    """Says that the token is wrong of a delivery with a wrong name too."""

    @staticmethod
    def _mismatch(wait: SignalWait, name: Name, digest: Digest) -> Mismatch | None:
        return "wrong_token" if digest != wait.token_sha256 else mismatch(wait, name, digest)

    rules = replace(RULES, mismatch=_mismatch)


@mutant("SIG-005", overlaps=("SIG-004",))
class ComparesHalfADigest(ReferenceKernel):
    """Compares the first 32 digits of a digest."""

    @staticmethod
    def _mismatch(wait: SignalWait, name: Name, digest: Digest) -> Mismatch | None:
        is_similar = digest[:32] == wait.token_sha256[:32]
        return mismatch(wait, name, wait.token_sha256 if is_similar else digest)

    rules = replace(RULES, mismatch=_mismatch)


@mutant("SIG-005", overlaps=("SIG-004",))
class IgnoresCapitals(BelievesDeliveries):
    """Takes names that differ in capitals for one."""

    @staticmethod
    def _mismatch(wait: SignalWait, name: Name, digest: Digest) -> Mismatch | None:
        return mismatch(wait, wait.name if name.lower() == wait.name.lower() else name, digest)

    rules = replace(RULES, mismatch=_mismatch)

    def believes(self, state: State, event: SignalAccepted | SignalRejected) -> bool:
        node = state.nodes[at(state, event.node)]
        if not isinstance(event, SignalAccepted) or not isinstance(node.wait, SignalWait):
            return False
        return node.attempt_id == event.attempt_id and node.wait.name.lower() == event.name.lower()


@mutant("SIG-005", overlaps=("SIG-007", "SIG-008", "SIG-009", "TIM-005"))
class ARejectionEndsTheWait(Wayward):
    """Closes the wait to which a wrong signal came."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, SignalRejected):
            return turn.after
        position = at(turn.after, turn.event.node)
        node = msgspec.structs.replace(turn.after.nodes[position], status="running", wait=None)
        return changed(turn.after, position, node, self.rules)


@mutant("SIG-006", overlaps=("SIG-004", "SIG-010", "TIM-010"))
class KeepsEarlySignals(Forgives):
    """Accepts a signal for an attempt that does not wait yet."""

    forgiven: ClassVar = frozenset({"no_open_wait"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, SignalAccepted):
            return False
        node = state.nodes[at(state, event.node)]
        is_new = event.signal_id not in state.signals
        return node.status == "running" and node.attempt_id == event.attempt_id and is_new


@mutant("SIG-006", overlaps=("RUN-009", "SIG-005", "SIG-008", "SIG-010", "TIM-010"))
class UsesUpEarlySignals(Forgives):
    """Rejects, and uses up, a signal that comes to no wait."""

    forgiven: ClassVar = frozenset({"no_open_wait"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, SignalRejected):
            return False
        return state.nodes[at(state, event.node)].attempt_id is not None and event.signal_id not in state.signals

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if state is None or not isinstance(command, DeliverSignal) or not isinstance(found, Rejection):
            return found
        position = state.position(command.node)
        attempt_id = None if position is None else state.nodes[position].attempt_id
        if found.code != "no_open_wait" or attempt_id is None:
            return found
        event = SignalRejected(
            node=command.node, attempt_id=attempt_id, signal_id=command.signal_id, reason="wrong_name"
        )
        return (event,)


@mutant("SIG-006", overlaps=("SIG-010", "TIM-006"), report="Azure/azure-functions-durable-extension#3255")
class ADeadWaitUsesUpSignals(Forgives):
    """Leaves the wait of an attempt that is over registered: it uses up what comes before the next attempt waits."""

    forgiven: ClassVar = frozenset({"no_open_wait"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, SignalRejected):
            return False
        return event.attempt_id == self._dead(state, event.node) and event.signal_id not in state.signals

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if state is None or not isinstance(command, DeliverSignal) or not isinstance(found, Rejection):
            return found
        attempt_id = self._dead(state, command.node) if state.position(command.node) is not None else None
        if found.code != "no_open_wait" or attempt_id is None:
            return found
        event = SignalRejected(
            node=command.node, attempt_id=attempt_id, signal_id=command.signal_id, reason="wrong_token"
        )
        return (event,)

    @staticmethod
    def _dead(state: State, name: NodeId) -> AttemptId | None:
        """Return the last attempt of a node that has signals and is to be tried again."""
        position = at(state, name)
        node = state.nodes[position]
        if node.status != "retry_pending" or not state.node(position).signals:
            return None
        return next(key for key, attempt in state.attempts.items() if attempt.outcome == node.outcome)


@mutant("SIG-006", overlaps=("SIG-010",))
class AcceptsDuringATimer(Forgives):
    """Accepts a signal for an attempt that waits for a time."""

    forgiven: ClassVar = frozenset({"no_open_wait"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, SignalAccepted):
            return False
        return _is_waiting(state, event.node, event.attempt_id) and event.signal_id not in state.signals


# Which deliveries are used up


@mutant("SIG-007", report="temporalio/temporal#4028")
class ForgetsDeliveriesAtRecovery(Wayward):
    """Forgets which deliveries are used up when a run is resumed."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, RecoveryAcquired):
            return turn.after
        return msgspec.structs.replace(turn.after, signals=Map())


@mutant("SIG-007")
class ForgetsDeliveriesOfAnAttempt(Wayward):
    """Forgets, when an attempt ends, which deliveries it used up."""

    def turned(self, turn: Turn) -> State:
        ended, signals = turn.ended, turn.after.signals
        if ended is None:
            return turn.after
        for gain in turn.before.nodes[ended.position].resolved.values():
            if isinstance(gain, Received) and gain.signal_id in signals:
                signals = signals.delete(gain.signal_id)
        return msgspec.structs.replace(turn.after, signals=signals)


@mutant("SIG-007", overlaps=("SIG-005", "SIG-008"))
class RejectionsUseNothingUp(Wayward):
    """Does not use up a delivery that it rejects."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, SignalRejected):
            return turn.after
        return msgspec.structs.replace(turn.after, signals=turn.before.signals)


class UsesTwice(Wayward):
    """It takes a delivery again that is used up."""

    def used_up(self, state: State, event: SignalAccepted | SignalRejected) -> bool:
        """Tell whether it knows that a delivery is used up."""
        raise NotImplementedError

    def seen(self, state: State, event: EventV5) -> State:
        if not isinstance(event, SignalAccepted | SignalRejected) or event.signal_id not in state.signals:
            return state
        if self.used_up(state, event):
            return state
        return msgspec.structs.replace(state, signals=state.signals.delete(event.signal_id))


@mutant("SIG-007", overlaps=("SIG-008",), report="camunda/camunda#3050")
class OneSignalForTwoNodes(UsesTwice):
    """Lets one delivery be accepted at two nodes."""

    def used_up(self, state: State, event: SignalAccepted | SignalRejected) -> bool:
        node = state.nodes[at(state, event.node)]
        return any(isinstance(gain, Received) and gain.signal_id == event.signal_id for gain in node.resolved.values())


@mutant("SIG-007", overlaps=("SIG-008",), report="camunda/camunda#3050")
class OneSignalForTwoWaits(UsesTwice):
    """Lets one delivery be accepted by two waits of one attempt."""

    def used_up(self, state: State, event: SignalAccepted | SignalRejected) -> bool:
        node = state.nodes[at(state, event.node)]
        return not any(
            isinstance(gain, Received) and gain.signal_id == event.signal_id for gain in node.resolved.values()
        )


@mutant("SIG-007", overlaps=("RUN-029",))
class CallsEveryDeliveryAccepted(ReferenceKernel):
    """Says of any delivery that is used up that it was accepted."""

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if isinstance(found, Rejection) and found.code == "already_consumed":
            return msgspec.structs.replace(found, disposition="accepted")
        return found


@mutant("SIG-007", overlaps=("RUN-029", "SIG-008"))
class LooksForAWaitFirst(ReferenceKernel):
    """Says of a delivery that is used up that nobody waits for it, if nobody does."""

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if state is None or not isinstance(command, DeliverSignal) or not isinstance(found, Rejection):
            return found
        fresh = msgspec.structs.replace(state, signals=Map())
        other = super().choose(fresh, command)
        return other if isinstance(other, Rejection) and other.code in {"no_open_wait", "unknown_node"} else found


@mutant("SIG-007", report="vercel/workflow#305")
class OneSignalForAllRuns(ReferenceKernel):
    """Takes a delivery for used up that another run has used up."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._runs: dict[SignalId, RunId] = {}

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        if isinstance(event, SignalAccepted) and self._runs.setdefault(event.signal_id, after.run_id) != after.run_id:
            corrupt("already_consumed", "another run has used this delivery up")
        return after


# Equal deliveries


@mutant("SIG-008", overlaps=("SIG-004", "SIG-007"), report="dapr/dapr#10084")
class TakesEqualSignalsForOne(ReferenceKernel):
    """Takes a delivery with the name and the payload of one before for its repetition."""

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if isinstance(found, Rejection) or state is None or not isinstance(found[0], SignalAccepted):
            return found
        if not self._is_known(state, found[0]):
            return found
        return Rejection(code="already_consumed", sentence="it was accepted before", disposition="accepted")

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is not None and isinstance(event, SignalAccepted) and self._is_known(state, event):
            corrupt("already_consumed", "it was accepted before")
        return super().step(state, event, version)

    @staticmethod
    def _is_known(state: State, event: SignalAccepted) -> bool:
        position = state.position(event.node)
        gains: Sequence[Any] = [] if position is None else list(state.nodes[position].resolved.values())
        return any(
            isinstance(gain, Received) and gain.name == event.name and _same(gain.payload, event.payload)
            for gain in gains
        )


@mutant("SIG-008", overlaps=("SIG-007", "SIG-009"), report="dapr/dapr#10084")
class OneSignalAtATime(ReferenceKernel):
    """Takes a second delivery of one name at one node for the first, until time goes on."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._accepted: set[tuple[str, Name, int]] = set()

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is None:
            self._accepted = set()
        if state is not None and isinstance(event, SignalAccepted):
            key = (event.node, event.name, state.now_ms)
            if key in self._accepted:
                corrupt("already_consumed", "it was accepted before")
            self._accepted.add(key)
        return super().step(state, event, version)


@mutant("SIG-008", overlaps=("SIG-009",))
class KeepsOneOfEqualSignals(Wayward):
    """Accepts two equal signals, and gives the attempt one."""

    def turned(self, turn: Turn) -> State:
        event = turn.event
        if not isinstance(event, SignalAccepted):
            return turn.after
        position = at(turn.after, event.node)
        resolved = turn.before.nodes[position].resolved
        is_known = any(
            isinstance(gain, Received) and gain.name == event.name and _same(gain.payload, event.payload)
            for gain in resolved.values()
        )
        return with_node(turn.after, position, resolved=resolved) if is_known else turn.after


# What an attempt is given


@mutant("SIG-009", overlaps=("SIG-008",))
class KeepsOnlyTheLastSignal(Wayward):
    """Gives an attempt the last signal that it accepted, and no other."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, SignalAccepted):
            return turn.after
        position = at(turn.after, turn.event.node)
        gains = turn.after.nodes[position].resolved
        return with_node(turn.after, position, resolved=_numbered([gains[len(gains) - 1]]))


@mutant("SIG-009")
class SortsSignals(Wayward):
    """Gives an attempt its signals in the order of their ids."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, SignalAccepted):
            return turn.after
        position = at(turn.after, turn.event.node)
        gains = sorted(turn.after.nodes[position].resolved.values(), key=lambda gain: getattr(gain, "signal_id", ""))
        return with_node(turn.after, position, resolved=_numbered(gains))


@mutant("SIG-009", overlaps=("SIG-008",))
class KeepsOneSignalAName(Wayward):
    """Gives an attempt the last signal of each name."""

    def turned(self, turn: Turn) -> State:
        event = turn.event
        if not isinstance(event, SignalAccepted):
            return turn.after
        position = at(turn.after, event.node)
        *earlier, last = (gain for _, gain in sorted(turn.after.nodes[position].resolved.items()))
        kept = [gain for gain in earlier if getattr(gain, "name", None) != event.name]
        return with_node(turn.after, position, resolved=_numbered([*kept, last]))


@mutant("SIG-009")
class HandsSignalsOn(Wayward):
    """Gives the next attempt the signals of the one before."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, NodeOutcomeCommitted) or turn.event.attempt_id is None:
            return turn.after
        position = at(turn.after, turn.event.node)
        return with_node(turn.after, position, resolved=turn.before.nodes[position].resolved)


# Expiry


@mutant("SIG-010", overlaps=("SIG-006", "TIM-010"), report="Azure/azure-functions-durable-extension#3255")
class ADeadWaitTakesASignal(Wayward):
    """Leaves a wait registered that expired: it takes the next signal, for an attempt that does not wait."""

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if not isinstance(event, NodeOutcomeCommitted):
            return state
        position = at(state, event.node)
        wait = turn.before.nodes[position].wait
        if state.nodes[position].status != "retry_pending" or not isinstance(wait, SignalWait):
            return state
        return with_node(state, position, wait=SignalWait(wait.name, wait.token_sha256, None))


@mutant("SIG-010", overlaps=("SIG-006",))
class AWaitExpiresForGood(Wayward):
    """Ends an attempt whose wait expired with a permanent failure."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, SignalExpired):
            return turn.after
        outcome = (at(turn.after, turn.event.node), without_output("permanent_failure"))
        return with_agenda(turn.after, outcome=outcome)


@mutant("SIG-010", overlaps=("TIM-005",))
class GoesOnWithoutItsSignal(Wayward):
    """Lets an attempt go on whose wait expired."""

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if not isinstance(event, SignalExpired):
            return state
        position = at(state, event.node)
        node = state.nodes[position]
        resolved = node.resolved.set(len(node.resolved), TimerPassed(event.deadline_ms))
        node = msgspec.structs.replace(node, status="running", wait=None, resolved=resolved)
        state = changed(state, position, node, self.rules)
        return tidied(with_agenda(state, outcome=None), self.rules)


@mutant("SIG-010")
class TellsWhenTheWaitWasFound(Wayward):
    """Tells when a wait was found to be late, not when it was due."""

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        if isinstance(event, SignalExpired):
            return msgspec.structs.replace(event, deadline_ms=state.now_ms)
        return event


def _is_waiting(state: State, name: Any, attempt_id: str) -> bool:
    position = state.position(name)
    if position is None:
        return False
    node = state.nodes[position]
    return node.status == "waiting" and node.attempt_id == attempt_id


def _same(one: JsonValue, other: JsonValue) -> bool:
    return canonical_json(one) == canonical_json(other)


def _numbered(gains: Sequence[Received | TimerPassed]) -> Map[int, Received | TimerPassed]:
    return Map(enumerate(gains))
