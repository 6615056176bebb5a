"""One signal resolves one wait, and a delivery that comes to no open wait consumes nothing.

A wait is open as long as it is a wait for a signal and neither it nor its attempt is due. To an open wait a delivery is
accepted if its name and its token are those of the wait, and rejected otherwise, the name looked at first. An accepted
one closes this wait and no other, even if many nodes wait for the same; a second signal finds it closed. A rejected one
leaves all as it was but its own identity. Where no wait is open, nothing is recorded, so the same delivery may come
again later.

Times and deadlines are any. Of names and tokens there are as many as can differ from those of a wait, and from each
other. Nodes that wait for the same signal are three, and up to two signals were accepted before: these are gone
through, since nothing counts them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from perdure.kernel.changes import applied
from perdure.kernel.commands import DeliverSignal, Rejection, token_digest
from perdure.kernel.decide import decide
from perdure.kernel.events import (
    RUNTIME_VERSION,
    EventV5,
    Mismatch,
    SignalAccepted,
    SignalRejected,
    SignalWaitOpened,
    TimerWaitOpened,
)
from perdure.kernel.identity import Name, SignalId
from perdure.kernel.legality import Opening, open_wait, refusal
from perdure.kernel.rules import RULES, Rules, mismatch
from perdure.kernel.state import NodeState, Received, SignalWait, State, TimerWait
from perdure.kernel.values import Digest
from perdure_conformance.reducer.histories import signal
from perdure_proofs.lifecycle.cancellation import with_statuses
from perdure_proofs.runs import MOST
from perdure_proofs.steps import Apply, Refuse, forgiving
from perdure_proofs.theorems import UNNOTED, Any, Theorem

Opened = Callable[[State, int, Rules], SignalWait | None]

_NAME: Final = Name("s")
_NAMES: Final = (_NAME, Name("S"), Name("t"))
_TOKEN: Final = token_digest("secret")
_TOKENS: Final = (_TOKEN, token_digest("guess"), Digest(_TOKEN[:32] + "0" * 32))
_SIGNAL: Final = SignalId(signal(1))
_NODES: Final = 3


@dataclass(frozen=True, slots=True)
class Waits:
    """What waits are resolved by."""

    rules: Rules = RULES
    open_wait: Opened = field(default=open_wait, metadata=UNNOTED)
    refusal: Refuse = field(default=refusal, metadata=UNNOTED)
    applied: Apply = field(default=applied, metadata=UNNOTED)


def _without_the_deadline_of_the_attempt(state: State, position: int, rules: Rules) -> SignalWait | None:
    node = msgspec.structs.replace(state.nodes[position], deadline_ms=None)
    return open_wait(msgspec.structs.replace(state, nodes=state.nodes.set(position, node)), position, rules)


def _waiting_on(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    if not isinstance(event, SignalAccepted):
        return after
    position = state.plan.positions[event.node]
    node = msgspec.structs.replace(after.nodes[position], wait=state.nodes[position].wait)
    return msgspec.structs.replace(after, nodes=after.nodes.set(position, node))


def _resolving_all(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    if isinstance(event, SignalAccepted):
        for name in state.plan.positions:
            if name != event.node:
                after = applied(after, msgspec.structs.replace(event, node=name), version, rules)
    return after


def _ending_the_wait(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    if not isinstance(event, SignalRejected):
        return after
    position = state.plan.positions[event.node]
    node = msgspec.structs.replace(after.nodes[position], wait=None)
    return msgspec.structs.replace(after, nodes=after.nodes.set(position, node))


def _token_first(wait: SignalWait, name: Name, token_sha256: Digest) -> Mismatch | None:
    return mismatch(wait, wait.name, token_sha256) or mismatch(wait, name, token_sha256)


def _by_its_half(wait: SignalWait, name: Name, token_sha256: Digest) -> Mismatch | None:
    half = Digest(token_sha256[:32] + wait.token_sha256[32:])
    return mismatch(wait, name, half)


THEOREM: Final = Theorem(
    ("SIG-003", "SIG-004", "SIG-005", "SIG-006", "SIG-009"),
    Waits(),
    {
        "IsOnTimeToTheLast": Waits(replace(RULES, is_due=lambda now_ms, deadline_ms: now_ms > deadline_ms)),
        "WaitsTwice": Waits(refusal=forgiving("not_active")),
        "OverlooksTheDeadlineOfTheAttempt": Waits(open_wait=_without_the_deadline_of_the_attempt),
        "LooksAtNoToken": Waits(
            replace(RULES, mismatch=lambda wait, name, _: None if wait.name == name else "wrong_name")
        ),
        "LooksAtNoName": Waits(replace(RULES, mismatch=lambda wait, _, token: mismatch(wait, wait.name, token))),
        "LooksAtTheTokenFirst": Waits(replace(RULES, mismatch=_token_first)),
        "ComparesHalfADigest": Waits(replace(RULES, mismatch=_by_its_half)),
        "WaitsOn": Waits(applied=_waiting_on),
        "OneSignalForAllNodes": Waits(applied=_resolving_all),
        "ARejectionEndsTheWait": Waits(applied=_ending_the_wait),
    },
)


def all_waiting() -> State:
    """Return the state of a run whose nodes all wait for the same signal, with the same token and no deadline."""
    state = with_statuses(("waiting",) * _NODES)
    wait = SignalWait(_NAME, _TOKEN, None)
    nodes = {at: msgspec.structs.replace(node, wait=wait) for at, node in state.nodes.items()}
    return msgspec.structs.replace(state, nodes=state.nodes.update(nodes))


def any_deadline(values: Any, whose: str) -> int | None:
    """Return any deadline, or none."""
    return (
        values.whole(f"deadline_ms of the {whose}", 0, MOST) if values.among(f"the {whose} has one", _EITHER) else None
    )


_EITHER: Final = (True, False)


def any_wait(values: Any) -> tuple[State, bool]:
    """Return a state whose first node waits in any way, at any time; and whether its wait is for a signal, and open."""
    kind = values.among("wait", ("signal", "timer", "none"))
    now_ms, attempt_ms = values.whole("now_ms", 0, MOST), any_deadline(values, "attempt")
    wait_ms = any_deadline(values, "wait") if kind == "signal" else None
    state = all_waiting()
    node = msgspec.structs.replace(state.nodes[0], deadline_ms=attempt_ms, wait=_wait(kind, wait_ms))
    if kind == "none":
        node = msgspec.structs.replace(node, status="running")
    is_late = (attempt_ms is not None and now_ms >= attempt_ms) or (wait_ms is not None and now_ms >= wait_ms)
    state = msgspec.structs.replace(state, now_ms=now_ms, nodes=state.nodes.set(0, node))
    return state, kind == "signal" and not is_late


def _wait(kind: str, deadline_ms: int | None) -> SignalWait | TimerWait | None:
    if kind == "none":
        return None
    return SignalWait(_NAME, _TOKEN, deadline_ms) if kind == "signal" else TimerWait(MOST)


@THEOREM.claim
def a_wait_is_open_until_it_is_due(kernel: Waits, values: Any) -> bool:
    """A wait is open if it is for a signal, and now is before its deadline and before that of its attempt."""
    state, is_open = any_wait(values)
    found = kernel.open_wait(state, 0, kernel.rules)
    return found is not None if is_open else found is None


@THEOREM.claim
def a_node_that_waits_opens_no_other_wait(kernel: Waits, values: Any) -> bool:
    """While a node waits, for a signal or for a time, its attempt opens no further wait."""
    kind = values.among("wait", ("signal", "timer"))
    state = all_waiting()
    node = msgspec.structs.replace(state.nodes[0], wait=_wait(kind, None))
    state = msgspec.structs.replace(state, nodes=state.nodes.set(0, node))
    assert node.attempt_id is not None
    deadline_ms = values.whole("deadline_ms", 1, MOST)
    opened: Opening = TimerWaitOpened(node=state.name(0), attempt_id=node.attempt_id, deadline_ms=deadline_ms)
    if values.among("wait to be opened", ("signal", "timer")) == "signal":
        opened = SignalWaitOpened(node=state.name(0), attempt_id=node.attempt_id, name=_NAME, token_sha256=_TOKEN)
    return kernel.refusal(state, opened, kernel.rules) is not None


@THEOREM.claim
def a_delivery_to_no_open_wait_consumes_nothing(kernel: Waits, values: Any) -> bool:
    """A delivery gives an event if a wait is open, and is rejected as `no_open_wait` otherwise; the event names it."""
    state, is_open = any_wait(values)
    command = DeliverSignal(node=state.name(0), signal_id=_SIGNAL, name=_NAME, token_sha256=_TOKEN)
    found = decide(state, command, kernel.rules)
    if isinstance(found, Rejection):
        return not is_open and found.code == "no_open_wait"
    return is_open and isinstance(found[0], SignalAccepted) and found[0].signal_id == _SIGNAL


@THEOREM.claim
def a_delivery_fits_by_its_name_then_by_its_token(kernel: Waits, values: Any) -> bool:
    """Another name is `wrong_name`, whatever the token; then another token is `wrong_token`; what fits is accepted."""
    name, token = values.among("name", _NAMES), values.among("token", _TOKENS)
    state = all_waiting()
    command = DeliverSignal(node=state.name(0), signal_id=_SIGNAL, name=name, token_sha256=token)
    found = decide(state, command, kernel.rules)
    assert not isinstance(found, Rejection)
    event = found[0]
    if name == _NAME and token == _TOKEN:
        return isinstance(event, SignalAccepted)
    return isinstance(event, SignalRejected) and event.reason == ("wrong_token" if name == _NAME else "wrong_name")


@THEOREM.claim
def one_signal_resolves_one_wait(kernel: Waits, values: Any) -> bool:
    """Of three nodes that wait for it, one goes on with the signal, its wait is closed, and the others wait on."""
    position = values.among("node", range(_NODES))
    state = msgspec.structs.replace(all_waiting(), now_ms=values.whole("now_ms", 0, MOST))
    command = DeliverSignal(node=state.name(position), signal_id=_SIGNAL, name=_NAME, token_sha256=_TOKEN)
    found = decide(state, command, kernel.rules)
    assert not isinstance(found, Rejection)
    after = kernel.applied(state, found[0], RUNTIME_VERSION, kernel.rules)
    node = after.nodes[position]
    is_alone = after.nodes.delete(position) == state.nodes.delete(position)
    is_closed = node.wait is None and kernel.open_wait(after, position, kernel.rules) is None
    return is_alone and is_closed and node.status == "running" and _received(node) == [_SIGNAL]


def _received(node: NodeState) -> list[SignalId]:
    gains = [node.resolved[number] for number in sorted(node.resolved)]
    return [gain.signal_id for gain in gains if isinstance(gain, Received)]


@THEOREM.claim
def signals_are_given_in_their_order(kernel: Waits, values: Any) -> bool:
    """What an attempt accepted before, nothing, one signal or two, stays, and what it accepts comes after it."""
    before = values.among("accepted before", range(_NODES))
    state = all_waiting()
    gains = {number: Received(SignalId(signal(9 - number)), _NAME, None) for number in range(before)}
    node = msgspec.structs.replace(state.nodes[0], resolved=state.nodes[0].resolved.update(gains))
    state = msgspec.structs.replace(state, nodes=state.nodes.set(0, node))
    command = DeliverSignal(node=state.name(0), signal_id=_SIGNAL, name=_NAME, token_sha256=_TOKEN)
    found = decide(state, command, kernel.rules)
    assert not isinstance(found, Rejection)
    after = kernel.applied(state, found[0], RUNTIME_VERSION, kernel.rules)
    return _received(after.nodes[0]) == [*_received(node), _SIGNAL]


@THEOREM.claim
def a_rejection_leaves_the_wait_open(kernel: Waits, values: Any) -> bool:
    """After SignalRejected all nodes are as they were, the one that waits too."""
    position = values.among("node", range(_NODES))
    state = all_waiting()
    command = DeliverSignal(node=state.name(position), signal_id=_SIGNAL, name=_NAMES[-1], token_sha256=_TOKEN)
    found = decide(state, command, kernel.rules)
    assert not isinstance(found, Rejection)
    after = kernel.applied(state, found[0], RUNTIME_VERSION, kernel.rules)
    return after.nodes == state.nodes
