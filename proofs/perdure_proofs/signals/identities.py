"""The identity of a delivery is consumed once in a run, and what became of it is never forgotten.

Whoever delivers a signal delivers it again when no answer came, perhaps much later and to another node, and it must not
count twice. An identity is consumed when a delivery is accepted or rejected by an open wait, and it is kept with what
became of it. From then on it is in no further event, and a delivery under it, to whatever node, with whatever content
and even after the run has ended, is answered with its first disposition.

A run that has consumed an identity is given every type of event, in its places: none removes the identity or changes
what became of it, and two places of the kernel write the identities at all. Only the identity that an event names
joins them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, get_args

import msgspec
from immutables import Map

from perdure.kernel.changes import applied
from perdure.kernel.commands import AnyCommand, DeliverSignal, Disposition, Rejection
from perdure.kernel.decide import Events, decide
from perdure.kernel.events import EventV5, NodeOutcomeCommitted, RecoveryAcquired, SignalAccepted, SignalRejected
from perdure.kernel.identity import Name, NodeId, SignalId
from perdure.kernel.legality import refusal
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.state import State
from perdure.kernel.values import Digest
from perdure_conformance.reducer.histories import signal
from perdure_proofs.places import Place, missing, places
from perdure_proofs.steps import Apply, Refuse, Source, forgiving, text_of, written_by
from perdure_proofs.theorems import UNNOTED, Any, Theorem

Decide = Callable[[State | None, AnyCommand, Rules], Events | Rejection]

_OLD, _NEW = SignalId(signal(997)), SignalId(signal(998))
_DISPOSITIONS: Final[tuple[Disposition, ...]] = get_args(Disposition)
_TOKEN, _OTHER_TOKEN = Digest("a" * 64), Digest("b" * 64)


@dataclass(frozen=True, slots=True)
class Deliveries:
    """What takes deliveries."""

    rules: Rules = RULES
    refusal: Refuse = field(default=refusal, metadata=UNNOTED)
    decide: Decide = field(default=decide, metadata=UNNOTED)
    applied: Apply = field(default=applied, metadata=UNNOTED)
    source: Source = field(default=text_of, metadata=UNNOTED)


def _forgetting(*kinds: type[EventV5]) -> Deliveries:
    """Return what forgets all deliveries at some events."""

    def forgetful(state: State, event: EventV5, version: int, rules: Rules) -> State:
        after = applied(state, event, version, rules)
        return msgspec.structs.replace(after, signals=Map()) if isinstance(event, kinds) else after

    return Deliveries(applied=forgetful)


def _unused_if_rejected(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    return msgspec.structs.replace(after, signals=state.signals) if isinstance(event, SignalRejected) else after


def _always_accepted(state: State | None, command: AnyCommand, rules: Rules) -> Events | Rejection:
    found = decide(state, command, rules)
    if isinstance(found, Rejection) and found.disposition is not None:
        return msgspec.structs.replace(found, disposition="accepted")
    return found


def _looking_for_a_wait_first(state: State | None, command: AnyCommand, rules: Rules) -> Events | Rejection:
    if not isinstance(command, DeliverSignal) or state is None:
        return decide(state, command, rules)
    found = decide(msgspec.structs.replace(state, signals=Map()), command, rules)
    is_refused = isinstance(found, Rejection) and found.code == "no_open_wait"
    return found if is_refused else decide(state, command, rules)


THEOREM: Final = Theorem(
    ("SIG-006", "SIG-007"),
    Deliveries(),
    {
        "ForgetsDeliveriesAtRecovery": _forgetting(RecoveryAcquired),
        "ForgetsDeliveriesOfAnAttempt": _forgetting(NodeOutcomeCommitted),
        "RejectionsUseNothingUp": Deliveries(applied=_unused_if_rejected),
        "UsesTwice": Deliveries(refusal=forgiving("already_consumed")),
        "CallsEveryDeliveryAccepted": Deliveries(decide=_always_accepted),
        "LooksForAWaitFirst": Deliveries(decide=_looking_for_a_wait_first),
        "ForgetsDeliveriesSomewhere": Deliveries(
            source=lambda module: text_of(module).replace("(cancelling=0)", "(cancelling=0), signals=Map()")
        ),
    },
)


def having_consumed(state: State, disposition: Disposition) -> State:
    """Return the state of a run that has consumed one identity more."""
    return msgspec.structs.replace(state, signals=state.signals.set(_OLD, disposition))


def _deliveries() -> tuple[Place, ...]:
    return tuple(place for place in places() if isinstance(place.event, SignalAccepted | SignalRejected))


@THEOREM.claim
def an_identity_serves_once(kernel: Deliveries, values: Any) -> bool:
    """Where a delivery is legal under a new identity, it is refused under one that is consumed."""
    place, disposition = values.among("place", _deliveries()), values.among("disposition", _DISPOSITIONS)
    told = values.among("identity", (_OLD, _NEW))
    assert isinstance(place.event, SignalAccepted | SignalRejected)
    event = msgspec.structs.replace(place.event, signal_id=told)
    refused = kernel.refusal(having_consumed(place.before, disposition), event, kernel.rules)
    return (refused is None) == (told == _NEW)


@THEOREM.claim
def what_became_of_a_delivery_is_kept(kernel: Deliveries, values: Any) -> bool:
    """SignalAccepted keeps its identity as accepted, SignalRejected with its reason; and neither keeps another."""
    place = values.among("place", _deliveries())
    event = place.event
    assert isinstance(event, SignalAccepted | SignalRejected)
    after = kernel.applied(place.before, event, place.version, kernel.rules)
    disposition: Disposition = "accepted" if isinstance(event, SignalAccepted) else event.reason
    return after.signals == place.before.signals.set(event.signal_id, disposition)


@THEOREM.claim
def the_identities_are_written_at_deliveries_alone(kernel: Deliveries, values: Any) -> bool:
    """The kernel writes what was consumed where a signal is accepted, and where one is rejected."""
    del values
    written = written_by("signals", kernel.source)
    return written == {"changes._signal_accepted", "changes._changed_by: SignalRejected()"}


@THEOREM.claim
def no_event_forgets_a_delivery(kernel: Deliveries, values: Any) -> bool:
    """Whatever event comes, what was consumed stays so; only deliveries consume. There is a place for every event."""
    place, disposition = values.among("place", places()), values.among("disposition", _DISPOSITIONS)
    before = having_consumed(place.before, disposition)
    after = kernel.applied(before, place.event, place.version, kernel.rules)
    is_kept = all(after.signals.get(signal_id) == of for signal_id, of in before.signals.items())
    joined = {*after.signals} - {*before.signals}
    return (
        not missing(places()) and is_kept and (not joined or isinstance(place.event, SignalAccepted | SignalRejected))
    )


@THEOREM.claim
def a_repeated_delivery_has_the_first_answer(kernel: Deliveries, values: Any) -> bool:
    """Whatever else it says, a delivery under a consumed identity is told what became of the first, in any run."""
    place = values.among("place", (*_deliveries(), *_ends()))
    disposition = values.among("disposition", _DISPOSITIONS)
    state = having_consumed(place.after, disposition)
    node = values.among("node", (*sorted(state.plan.positions), NodeId("nobody")))
    token = values.among("token", (_TOKEN, _OTHER_TOKEN))
    command = DeliverSignal(node=node, signal_id=_OLD, name=Name("s"), token_sha256=token)
    found = kernel.decide(state, command, kernel.rules)
    return isinstance(found, Rejection) and (found.code, found.disposition) == ("already_consumed", disposition)


def _ends() -> tuple[Place, ...]:
    """Return a place of each end that a run can have."""
    ends = {place.after.status: place for place in places() if place.after.status != "running"}
    return tuple(ends[status] for status in sorted(ends))
