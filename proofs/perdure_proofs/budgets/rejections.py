"""A rejected command consumes nothing, no attempt, identity or budget: tried with each command in finitely many states.

Whoever gets a rejection may ask again later, or something else, as if nothing had been asked. `decide` answers a
command with events or with a rejection, never with both and never with none of them. Since the state is the fold of the
events, a rejection cannot change it, unless `decide` changed the state that it was given; which it does not: the state
is frozen, and here every command is given to a state of every kind, and the state compared with what it was.

What is asked is every type of command, of a node of each status and of nobody, with identities that the run knows and
with new ones, now, earlier and later. That is finite, and all of it is tried: it is no proof for every state, but a
search of one state before each type of event, and of one after each end of a run. What an allowed command consumes is
shown by `usage`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, get_args

import msgspec

from perdure.kernel.commands import (
    AcquireRecovery,
    AdvanceTime,
    AnyCommand,
    CompleteAttempt,
    CompleteChild,
    CreateRun,
    DeliverSignal,
    OpenSignalWait,
    OpenTimerWait,
    Rejection,
    ReleaseRecovery,
    RequestCancellation,
    Settle,
    StartNode,
)
from perdure.kernel.decide import Events, decide
from perdure.kernel.events import RUNTIME_VERSION
from perdure.kernel.identity import AttemptId, Name, NodeId, OwnerId, RunId, SignalId
from perdure.kernel.outcomes import Succeeded
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.state import NodeState, SignalWait, State
from perdure.kernel.values import Digest
from perdure_conformance.reducer.histories import attempt, child, owner, signal
from perdure_proofs.places import beginnings, of_versions, places
from perdure_proofs.theorems import UNNOTED, Any, Theorem

Decide = Callable[[State | None, AnyCommand, Rules], Events | Rejection]

_NEW: Final = 999
_TOKEN, _OTHER_TOKEN = Digest("a" * 64), Digest("b" * 64)


@dataclass(frozen=True, slots=True)
class Deciding:
    """What answers commands."""

    rules: Rules = RULES
    decide: Decide = field(default=decide, metadata=UNNOTED)


def _charges_what_it_refuses(state: State | None, command: AnyCommand, rules: Rules) -> Events | Rejection:
    found = decide(state, command, rules)
    if isinstance(found, Rejection) and isinstance(command, StartNode) and state is not None:
        msgspec.structs.force_setattr(state, "attempts_used", state.attempts_used + 1)
    return found


def _uses_up_what_comes_too_early(state: State | None, command: AnyCommand, rules: Rules) -> Events | Rejection:
    found = decide(state, command, rules)
    if isinstance(found, Rejection) and isinstance(command, DeliverSignal) and state is not None:
        signals = state.signals.set(command.signal_id, "wrong_name")
        msgspec.structs.force_setattr(state, "signals", signals)
    return found


def _says_nothing(state: State | None, command: AnyCommand, rules: Rules) -> Events | Rejection:
    found = decide(state, command, rules)
    return () if isinstance(found, Rejection) and found.code == "no_effect" else found


THEOREM: Final = Theorem(
    ("RUN-009", "SIG-006"),
    Deciding(),
    {
        "ChargesWhatItRefuses": Deciding(decide=_charges_what_it_refuses),
        "UsesUpWhatComesTooEarly": Deciding(decide=_uses_up_what_comes_too_early),
        "SaysNothing": Deciding(decide=_says_nothing),
    },
)


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """A command, and the state that it is given to."""

    state: State | None
    command: AnyCommand

    def __repr__(self) -> str:
        """Return the command; and the run in the words of its nodes."""
        run = "no run" if self.state is None else [node.status for _, node in sorted(self.state.nodes.items())]
        return f"{self.command} of {run}"


@lru_cache(maxsize=1)
def questions() -> Sequence[Question]:
    """Return states between batches, one before each type of event that begins one, each with what may be asked."""
    found: dict[object, State] = {}
    for place in (place for place in of_versions(RUNTIME_VERSION) if not place.is_owed):
        found.setdefault(type(place.event), place.before)
    for place in places():
        if place.after.status != "running":
            found.setdefault(place.after.status, place.after)
        elif not place.is_owed and not isinstance(decide(place.before, Settle()), Rejection):
            found.setdefault(Settle, place.before)
    begun, _ = beginnings()[0]
    creation = CreateRun(run_id=begun.run_id, specification=begun.specification, input=begun.input)
    asked = [Question(state, command) for state in found.values() for command in commands(state)]
    return (Question(None, creation), Question(None, Settle()), *asked)


def commands(state: State) -> Iterator[AnyCommand]:
    """Yield commands of every type: of nodes and of nobody, with identities that are known and that are new."""
    yield from (Settle(), RequestCancellation(requester="somebody", reason=""))
    yield CreateRun(run_id=state.run_id, specification={})
    yield from (AdvanceTime(now_ms=now_ms) for now_ms in (max(0, state.now_ms - 1), state.now_ms, state.now_ms + 9))
    epoch = state.recovery.epoch if state.recovery is not None else 1
    for number in (1, 2):
        yield AcquireRecovery(owner=OwnerId(owner(number)), epoch=epoch + number - 1)
        yield ReleaseRecovery(owner=OwnerId(owner(number)), epoch=epoch)
    of_each_status = {state.nodes[position].status: position for position in sorted(state.nodes, reverse=True)}
    for position in sorted(of_each_status.values()):
        yield from _of_node(state, state.name(position), state.nodes[position])
    yield from _of_node(state, NodeId("nobody"), NodeState())


def _of_node(state: State, node: NodeId, of: NodeState) -> Iterator[AnyCommand]:
    wait = of.wait if isinstance(of.wait, SignalWait) else SignalWait(Name("s"), _TOKEN, None)
    known = {each: None for each in (*sorted(state.attempts)[:1], of.attempt_id, AttemptId(attempt(_NEW))) if each}
    for attempt_id in known:
        run = of.child_run_id or RunId(child(_NEW))
        yield StartNode(node=node, attempt_id=attempt_id)
        yield StartNode(node=node, attempt_id=attempt_id, child_run_id=run)
        yield CompleteAttempt(node=node, attempt_id=attempt_id, outcome=Succeeded(kind="succeeded"))
        yield CompleteChild(node=node, attempt_id=attempt_id, child_run_id=run, result="completed")
        for deadline_ms in (state.now_ms, state.now_ms + 1):
            yield OpenTimerWait(node=node, attempt_id=attempt_id, deadline_ms=deadline_ms)
        yield OpenSignalWait(node=node, attempt_id=attempt_id, name=wait.name, token_sha256=_TOKEN)
    for signal_id in (*sorted(state.signals)[:1], SignalId(signal(_NEW))):
        for token in (wait.token_sha256, _OTHER_TOKEN):
            yield DeliverSignal(node=node, signal_id=signal_id, name=wait.name, token_sha256=token)


@THEOREM.claim
def a_command_has_events_or_a_rejection(kernel: Deciding, values: Any) -> bool:
    """A command is answered with a rejection, or with one event at least."""
    found, _ = _answer(kernel, values.among("question", questions()))
    return isinstance(found, Rejection) or len(found) > 0


@THEOREM.claim
def everything_is_asked(kernel: Deciding, values: Any) -> bool:
    """Each type of command is allowed of some state, and each but a request to cancel is rejected of a running one."""
    kind = values.among("command", get_args(AnyCommand))
    asked = [question for question in questions() if type(question.command) is kind]
    is_running = [question for question in asked if question.state is not None and question.state.status == "running"]
    is_rejected = any(isinstance(_answer(kernel, question)[0], Rejection) for question in is_running)
    is_allowed = any(not isinstance(_answer(kernel, question)[0], Rejection) for question in asked)
    return is_allowed and is_rejected != (kind is RequestCancellation)


@THEOREM.claim
def nothing_changes_what_is_asked(kernel: Deciding, values: Any) -> bool:
    """The state that a command was given to is what it was, and answers the same when it is asked again."""
    question = values.among("question", questions())
    found, state = _answer(kernel, question)
    return state == question.state and kernel.decide(state, question.command, kernel.rules) == found


def _answer(kernel: Deciding, question: Question) -> tuple[Events | Rejection, State | None]:
    """Return the answer, and the state that was asked: a copy of its own, so that it could be changed."""
    state = None if question.state is None else msgspec.structs.replace(question.state)
    return kernel.decide(state, question.command, kernel.rules), state
