"""Events changed in one place, and which of them could stand there nevertheless."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
from tests.model.documents import ARTIFACT
from tests.model.dumb_kernel import LATEST, DumbRun, delay
from tests.model.playing import outcome, uuid
from tests.model.random_documents import KINDS

from perdure.kernel import commands as c
from perdure.kernel import events as e
from perdure.kernel.identity import Name
from perdure.kernel.outcomes import ArtifactReference
from perdure.kernel.state import State
from perdure.kernel.upcast import upcast

WORDS = {
    "cause": ("initial", "dependencies", "queued"),
    "kind": (*KINDS, "skipped"),
    "result": ("completed", "failed", "blocked", "cancelled"),
    "policy": ("cascade",),
    "wrong": ("wrong_name", "wrong_token"),
    "terminated": ("attempts_exhausted", "no_correction"),
    "budget": ("attempts", "transitions", "elapsed"),
}
Path = tuple[Any, ...]


def changes(random: Random, event: Any, state: State) -> Iterator[Any]:
    """Give an event with one of its values changed, if there is one."""
    places = [place for place in leaves(event) if place and place[0] != "specification"]
    if not places:
        return
    place = random.choice(places)
    value = at(event, place)
    kinds: Any = {e.SignalRejected: {"reason": "wrong"}, e.NodeTerminated: {"reason": "terminated"}}
    new = another(random, kinds.get(type(event), {}).get(place[-1], place[-1]), value, state)
    if place == ("outcome", "kind") and new != value:
        yield msgspec.structs.replace(event, outcome=outcome(new))
    elif type(new) is not type(value) or new != value:
        yield put(event, place, new)


def leaves(value: Any, place: Path = ()) -> Iterator[Path]:
    """Give the place of each value that has no parts."""
    parts = parts_of(value)
    if not parts and value is not msgspec.UNSET:
        yield place
    for name, part in parts:
        yield from leaves(part, (*place, name))


def parts_of(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, msgspec.Struct):
        return [(name, getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list | tuple) else []


def at(value: Any, place: Path) -> Any:
    for step in place:
        value = dict(parts_of(value))[step]
    return value


def put(value: Any, place: Path, new: Any) -> Any:
    if not place:
        return new
    first, *others = place
    parts = {name: put(part, tuple(others), new) if name == first else part for name, part in parts_of(value)}
    if isinstance(value, msgspec.Struct):
        return type(value)(**parts)
    return parts if isinstance(value, dict) else type(value)(parts.values())


def another(random: Random, name: Any, value: Any, state: State) -> Any:
    """Return another value, of a kind that makes sense in its place."""
    if name in {"node", "source"}:
        return random.choice([str(node.id) for node in state.plan.nodes])
    if name in {"attempt_id", "child_run_id", "signal_id", "owner"}:
        return random.choice([*sorted({*state.attempts, *state.child_runs, *state.signals}), uuid(998)])
    if name in WORDS:
        return random.choice(WORDS[name])
    if value is None and str(name).endswith(("_ms", "limit", "usage", "last_outcome")):
        return random.choice((1, 5, 9))
    if name == "evidence":
        return (msgspec.convert(ARTIFACT, ArtifactReference),)
    match value:
        case bool() | None:
            return random.choice((True, False, None, 0, 1))
        case int():
            return max(0, value + random.choice((-2, -1, 1, 2)))
        case str():
            return random.choice((value + "x", uuid(997), "s", "t"))
        case _:
            return value


def explains(before: DumbRun, position: int, original: Any, changed: Any, version: int) -> bool:
    """Tell whether an event could stand in the place of another one of a batch."""
    original, changed = upcast(original), upcast(changed)
    if same_but_for_what_is_free(before, original, changed):
        return True
    return position == 0 and any(begins(before, command, changed, version) for command in commands_of(changed))


def same_but_for_what_is_free(before: DumbRun, original: Any, changed: Any) -> bool:
    if isinstance(original, e.RetryScheduled) and isinstance(changed, e.RetryScheduled):
        policy = before.policy(original.node)
        most = policy.jitter.maximum_ms if policy.jitter is not None else 0
        # The batch's now is the only time that gives the original.
        low = original.deadline_ms - before.jitter(original.node, original.next_attempt)
        is_saturated = original.deadline_ms == LATEST
        is_in_range = low <= changed.deadline_ms <= min(low + most, LATEST)
        is_same = msgspec.structs.replace(changed, deadline_ms=original.deadline_ms) == original
        assert is_saturated or low >= delay(policy.backoff, original.next_attempt)
        return is_same and (is_in_range or is_saturated)
    if isinstance(original, e.NodeOutcomeCommitted) and isinstance(changed, e.NodeOutcomeCommitted):
        outcome: Any = original.outcome
        if outcome.kind == "succeeded" or changed.outcome.kind != outcome.kind:
            return False
        relabelled = msgspec.structs.replace(changed.outcome, reason=outcome.reason)
        return bool(msgspec.structs.replace(changed, outcome=relabelled) == original)
    return False


def encoded(event: Any) -> bytes:
    """Return an event in bytes: `true` is not 1 there, and the order of members is nothing."""
    return msgspec.json.encode(event, order="sorted")


def begins(before: DumbRun, command: Any, changed: Any, version: int) -> bool:
    """Tell whether a command's batch begins with an event."""
    events, _, _ = before.answer(command, version)
    return bool(events) and bool(encoded(events[0]) == encoded(changed))


def commands_of(event: Any) -> list[Any]:
    """Return the commands whose batch may begin with an event."""
    pairs: dict[type[Any], type[Any]] = {
        e.RunCreated: c.CreateRun,
        e.NodeStarted: c.StartNode,
        e.ChildStarted: c.StartNode,
        e.ChildCompleted: c.CompleteChild,
        e.NodeOutcomeCommitted: c.CompleteAttempt,
        e.VirtualTimeAdvanced: c.AdvanceTime,
        e.SignalWaitOpened: c.OpenSignalWait,
        e.TimerWaitOpened: c.OpenTimerWait,
        e.CancellationRequested: c.RequestCancellation,
        e.RecoveryAcquired: c.AcquireRecovery,
        e.RecoveryReleased: c.ReleaseRecovery,
    }
    if isinstance(event, e.SignalAccepted | e.SignalRejected):
        return deliveries_of(event)
    kind = pairs.get(type(event))
    if kind is None or (isinstance(event, e.NodeOutcomeCommitted) and event.attempt_id is None):
        return []
    names = [name for name in kind.__struct_fields__ if hasattr(event, name)]
    return [kind(**{name: getattr(event, name) for name in names})]


def deliveries_of(event: Any) -> list[Any]:
    tokens = [c.token_digest("secret"), c.token_digest("guess")]
    common: Any = {"node": event.node, "signal_id": event.signal_id}
    return [
        c.DeliverSignal(name=Name(name), token_sha256=token, payload=getattr(event, "payload", None), **common)
        for name in "stz"
        for token in tokens
    ]
