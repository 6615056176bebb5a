"""Runs that nobody thought of: random documents, random commands, and histories with one event changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import Any, Final

import msgspec

from perdure.kernel.commands import Rejection
from perdure.kernel.decide import decide
from perdure.kernel.records import document_of
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.state import NodeState, State
from perdure.kernel.validation.validator import validate
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.histories import (
    NEWEST,
    Document,
    Fact,
    History,
    acquired,
    advance,
    attempt,
    child,
    complete,
    create,
    document,
    edge,
    fact,
    node,
    owner,
    signal,
)
from perdure_conformance.reducer.kept import kept
from perdure_conformance.reducer.questions import Query, Truth, truth_about
from perdure_conformance.reducer.reference import command_of
from perdure_conformance.reducer.shorter import batches_of

KINDS: Final = ("succeeded", "changes_requested", "retryable_failure", "permanent_failure", "blocked", "cancelled")
_SUB: Final[Document] = {"nodes": [node("x", outputs=["r"])], "outputs": {"r": {"node": "x", "output": "r"}}}
_COMMANDS_A_RUN: Final = 14
_TOKEN: Final = "a" * 64


def draw_document(random: Random) -> Document:
    """Draw a document that a validator accepts."""
    while True:
        found = _document(random)
        if validate(found).valid:
            return found


def _document(random: Random) -> Document:
    names = "ABCDE"[: random.randint(1, 5)]
    order = random.sample(names, len(names))
    edges = [edge(f"{random.choice(names)}>{random.choice(names)}", _when(random)) for _ in range(random.randint(0, 5))]
    nodes = []
    for name in names:
        earlier = order[: order.index(name)]
        dependencies = random.sample(earlier, min(len(earlier), random.randint(0, 2))) if random.random() < 0.5 else []
        nodes.append(_node(random, name, dependencies))
    led_to = {each["to"] for each in edges}
    free = [each["id"] for each in nodes if "dependencies" not in each]
    initial = [name for name in free if name not in led_to or random.random() < 0.4]
    budgets = {
        name: random.choice((1, 2, 4, 8, 16))
        for name in ("max_attempts", "max_transitions", "max_elapsed_ms")
        if random.random() < 0.15
    }
    more: Document = {"budgets": budgets} if budgets else {}
    return document(nodes, edges, initial_nodes=initial, children={"sub@1": _SUB}, **more)


def _when(random: Random) -> Any:
    choices = ("any", {"field": "go", "equals": random.choice((0, True))}, *KINDS)
    return random.choice(choices)


def _node(random: Random, name: str, dependencies: Sequence[str]) -> Document:
    members: Document = {"outputs": ["go"]}
    if dependencies:
        members["dependency_policy"] = random.choice(("all_succeeded", "all_completed", "any_succeeded"))
    if random.random() < 0.2:
        members["max_activations"] = random.choice((1, 2))
    if random.random() < 0.4:
        members["retry"] = _retry(random)
    if random.random() < 0.15:
        policy = random.choice(("propagate", "require_success"))
        del members["outputs"]
        return node(
            name, *dependencies, child={"workflow": "sub@1", "policy": policy, "outputs": {"go": "r"}}, **members
        )
    return node(name, *dependencies, signals=["s"], **members)


def _retry(random: Random) -> Document:
    found: Document = {"max_attempts": random.choice((1, 2, 3))}
    if random.random() < 0.4:
        found["classes"] = ["retryable_failure", "permanent_failure"]
    found["backoff"] = random.choice(
        (
            {"kind": "immediate"},
            {"kind": "fixed", "delay_ms": 3},
            {"kind": "exponential", "initial_ms": 1, "multiplier": 2, "maximum_ms": 5},
        )
    )
    if random.random() < 0.3:
        found["jitter"] = {"seed": "salt", "maximum_ms": 4}
    if random.random() < 0.3:
        found["attempt_deadline_ms"] = random.choice((2, 5))
    return found


class _Asker:
    """Asks random things of a run, most of them allowed."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.number = 0

    def next(self, state: State) -> Fact:
        """Return a command."""
        nodes = {state.name(position): each for position, each in state.nodes.items()}
        by_status = [name for name, each in sorted(nodes.items()) if each.status in {"ready", "running", "waiting"}]
        if by_status and self.random.random() < 0.75:
            name = self.random.choice(by_status)
            return self._work(state, name, nodes[name])
        return self._other(state, self.random.choice(sorted(nodes)))

    def _work(self, state: State, name: str, of: NodeState) -> Fact:
        self.number += 1
        is_child = state.node(state.plan.positions[name]).child is not None  # type: ignore[index]
        common: Fact = {"node": name, "attempt_id": of.attempt_id}
        if of.status == "ready":
            members = {"child_run_id": child(self.number)} if is_child else {}
            return fact("StartNode", node=name, attempt_id=attempt(self.number), **members)
        if of.status == "waiting":
            token = self.random.choice((_TOKEN, _TOKEN, "b" * 64))
            return fact("DeliverSignal", node=name, signal_id=signal(self.number), name="s", token_sha256=token)
        if is_child:
            result = self.random.choice(("completed", "completed", "failed", "blocked", "cancelled"))
            given: Any = self.random.choice(({"r": 0}, {"r": True}, {}))
            return fact("CompleteChild", **common, child_run_id=of.child_run_id, result=result, output=given)
        later = state.now_ms + self.random.randint(1, 6)
        if self.random.random() < 0.15:
            return fact("OpenTimerWait", **common, deadline_ms=later)
        if self.random.random() < 0.15:
            return fact("OpenSignalWait", **common, name="s", token_sha256=_TOKEN, deadline_ms=later)
        kind = "succeeded" if self.random.random() < 0.5 else self.random.choice(KINDS)
        output: Any = {"go": self.random.choice((0, True))} if kind in {"succeeded", "changes_requested"} else None
        return fact("CompleteAttempt", **common, outcome=complete("", 0, kind, output)["outcome"])

    def _other(self, state: State, name: str) -> Fact:
        self.number += 1
        earlier = attempt(self.random.randint(1, self.number))
        epoch = 1 if state.recovery is None else state.recovery.epoch
        return self.random.choice(
            (
                advance(state.now_ms + self.random.randint(1, 6)),
                advance(state.now_ms + self.random.randint(1, 6)),
                advance(max(0, state.now_ms - 1)),
                fact("StartNode", node=name, attempt_id=earlier),
                fact("CompleteAttempt", node=name, attempt_id=earlier, outcome={"kind": "succeeded"}),
                fact("AcquireRecovery", owner=owner(1), epoch=epoch + self.random.randint(0, 1)),
                fact("ReleaseRecovery", owner=owner(1), epoch=epoch),
                fact("RequestCancellation", requester="somebody", reason="enough"),
                fact("Settle"),
            )
        )


def _run(random: Random) -> Iterator[Query]:
    """Yield questions about one run: of each command, of the history in the end, and of that with one change."""
    asker = _Asker(random)
    state: State | None = None
    history: list[Entry] = []
    command = create(draw_document(random))
    for _ in range(_COMMANDS_A_RUN):
        yield Query(tuple(history), command)
        found = decide(state, command_of(command), RULES)
        if not isinstance(found, Rejection):
            for event in found:
                state = reduce(state, event, RULES)
                history.append(Entry(NEWEST, document_of(event)))
        assert state is not None
        if state.status != "running":
            break
        command = asker.next(state)
    yield Query(tuple(history), told=())
    yield Query(tuple(history[: random.randint(1, len(history))]))
    for _ in range(2):
        yield Query(tuple(_changed(random, history)))
    yield from _kept(random, History(tuple(history)))


def _kept(random: Random, past: History) -> Iterator[Query]:
    """Yield what a journal keeps of a run, with a snapshot after some batch; and both with one character changed."""
    right = kept(past)
    whole, _ = batches_of(past.entries)
    with_one = right.taken(sum(map(len, whole[: random.randint(1, len(whole))])))
    at = random.randint(1, len(right))
    text = right.records[at - 1].body
    place = random.randrange(len(text))
    other = random.choice([each for each in '0a,}"' if each != text[place]])
    for each in (right, with_one):
        damaged = each.saying(at, lambda body: body[:place] + other + body[place + 1 :])
        yield from (Query(past.entries, shown=each.shown), Query(past.entries, shown=damaged.shown))


def _changed(random: Random, history: list[Entry]) -> list[Entry]:
    """Return a history with one event left out, repeated, moved or changed."""
    at = random.randrange(len(history))
    match random.randint(0, 4):
        case 0 if len(history) > 1:
            return [*history[:at], *history[at + 1 :]]
        case 1:
            return [*history[: at + 1], history[random.randrange(len(history))], *history[at + 1 :]]
        case 2:
            return [*history[: at + 1], Entry(NEWEST, acquired(1, random.randint(1, 3)))]
        case 3:
            return [*history[:at], *history[at : at + 2][::-1], *history[at + 2 :]]
        case _:
            return [*history[:at], _edited(random, history[at], random.choice(history)), *history[at + 1 :]]


def _edited(random: Random, entry: Entry, other: Entry) -> Entry:
    """Return an event with a number one larger, or with a member of another event."""
    members = [name for name in entry.event if name not in {"type", "specification"}]
    if not members:
        return msgspec.structs.replace(entry, version=random.randint(1, NEWEST))
    name = random.choice(members)
    value = entry.event[name]
    new = value + 1 if isinstance(value, int) and not isinstance(value, bool) else other.event.get(name, value)
    return Entry(entry.version, {**entry.event, name: new})


@lru_cache(maxsize=2)
def draw_questions(runs: int, seed: int) -> tuple[tuple[Query, Truth], ...]:
    """Return the questions about so many drawn runs, with what the model says."""
    drawn = []
    for number in range(runs):
        for question in _run(Random(f"{seed}/{number}")):  # noqa: S311 - it has to be the same again, not secret
            drawn.append((question, truth_about(question)))  # noqa: PERF401 - as it is read
    return tuple(drawn)
