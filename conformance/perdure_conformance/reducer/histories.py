"""Histories to ask about, and what they are made of, in few words: documents, events, commands, identities.

An identity is a number: `attempt(1)` is always the same attempt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from perdure.kernel.commands import token_digest
from perdure.kernel.specification import covered_by_hash
from perdure.kernel.values import JsonObject, digest
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.vectors.vector import written

Value = Any  # JSON, as it is written in a table.
Document = dict[str, Value]
Fact = dict[str, Value]
"""An event, or a command."""

NEWEST: Final = 5


def uuid(kind: int, number: int) -> str:
    """Return one identity a kind and a number."""
    return f"00000000-0000-7000-8000-{kind:04x}{number:08x}"


def run_id(number: int) -> str:
    """Return a run."""
    return uuid(1, number)


def attempt(number: int) -> str:
    """Return an attempt."""
    return uuid(2, number)


def child(number: int) -> str:
    """Return a child run."""
    return uuid(3, number)


def signal(number: int) -> str:
    """Return a delivery."""
    return uuid(4, number)


def owner(number: int) -> str:
    """Return a worker."""
    return uuid(5, number)


RUN: Final = run_id(1)

# Documents


def node(name: str, *dependencies: str, **members: Value) -> Document:
    """Return a node, with the nodes that it depends on. A handler works for it, unless a child does."""
    work = {} if "child" in members else {"handler": {"name": "work", "version": 1}}
    return {"id": name, **work, **({"dependencies": list(dependencies)} if dependencies else {}), **members}


def edge(arrow: str, when: Value = "any", **members: Value) -> Document:
    """Return an edge, `A>B`, that follows a kind of outcome, any outcome, or a predicate."""
    source, _, target = arrow.partition(">")
    predicate = when if when == "any" or isinstance(when, dict) else {"outcome": when}
    return {"from": source, "to": target, "when": predicate, **members}


def field(name: str, equals: Value) -> Document:
    """Return the predicate that a field of an outcome's output has this value."""
    return {"field": name, "equals": equals}


def document(
    nodes: Iterable[str | Document], edges: Iterable[str | Document] = (), version: int = NEWEST, **members: Value
) -> Document:
    """Return a document of nodes and edges, each a name, an arrow or an object."""
    listed = [node(item) if isinstance(item, str) else item for item in nodes]
    arrows = [edge(item) if isinstance(item, str) else item for item in edges]
    head = {"schema_version": version, "workflow_id": "example", "workflow_version": 1}
    return {**head, "nodes": listed, **({"edges": arrows} if arrows else {}), **members}


def hashed(specification: Document) -> Document:
    """Return a document with its content hash."""
    return {**specification, "content_hash": digest(covered_by_hash(specification))}


# Events


def created(specification: Document, /, **members: Value) -> Fact:
    """Return the creation of the run; underscores at the end of a name are dropped."""
    pinned = specification if "content_hash" in specification else hashed(specification)
    return {
        "type": "RunCreated",
        "run_id": RUN,
        "specification": pinned,
        "content_hash": pinned["content_hash"],
        **members,
    }


def fact(kind: str, **members: Value) -> Fact:
    """Return any event, or any command."""
    return {"type": kind, **members}


def ready(name: str, cause: str = "initial") -> Fact:
    """Return that a node is ready."""
    return fact("NodeReady", node=name, cause=cause)


def started(name: str, number: int, nth: int = 1, **members: Value) -> Fact:
    """Return that an attempt started, the nth of its activation."""
    return {**fact("NodeStarted", node=name, attempt_id=attempt(number), attempt=nth), **members}


def child_started(name: str, number: int, child_number: int, nth: int = 1, **members: Value) -> Fact:
    """Return that an attempt started as a child run."""
    common: Fact = {"node": name, "attempt_id": attempt(number), "attempt": nth, "child_run_id": child(child_number)}
    return {**fact("ChildStarted", **common), **members}


def outcome(kind: str, output: Value = None, reason: str = "") -> Document:
    """Return an outcome."""
    given = {} if output is None else {"output": output}
    return {"kind": kind, **given, **({} if kind == "succeeded" else {"reason": reason})}


def ended(name: str, number: int | None, kind: str = "succeeded", output: Value = None, reason: str = "") -> Fact:
    """Return that an attempt ended, or, without one, that a node was closed or cancelled."""
    of = {} if number is None else {"attempt_id": attempt(number)}
    return fact("NodeOutcomeCommitted", node=name, **of, outcome=outcome(kind, output, reason))


def closed(name: str, kind: str = "skipped") -> Fact:
    """Return that a node was closed."""
    return ended(name, None, kind, reason="the node will never run")


def fired(position: int, source: str, sequence: int) -> Fact:
    """Return that an edge fired."""
    return fact("TransitionActivated", edge=position, source=source, source_sequence=sequence)


def terminated(name: str, reason: str = "no_correction", **members: Value) -> Fact:
    """Return that a node was terminated."""
    return fact("NodeTerminated", node=name, reason=reason, **members)


def advanced(now_ms: int) -> Fact:
    """Return that time went on."""
    return fact("VirtualTimeAdvanced", now_ms=now_ms)


def retry(name: str, nth: int, deadline_ms: int) -> Fact:
    """Return that a retry is scheduled."""
    return fact("RetryScheduled", node=name, next_attempt=nth, deadline_ms=deadline_ms)


def released(name: str, nth: int) -> Fact:
    """Return that a retry is released."""
    return fact("RetryReleased", node=name, next_attempt=nth)


def waits(name: str, number: int, signal_name: str, token: str = "secret", **members: Value) -> Fact:  # noqa: S107
    """Return that an attempt waits for a signal."""
    return fact(
        "SignalWaitOpened",
        node=name,
        attempt_id=attempt(number),
        name=signal_name,
        token_sha256=token_digest(token),
        **members,
    )


def waits_until(name: str, number: int, deadline_ms: int) -> Fact:
    """Return that an attempt waits for a time."""
    return fact("TimerWaitOpened", node=name, attempt_id=attempt(number), deadline_ms=deadline_ms)


def accepts(name: str, number: int, signal_number: int, signal_name: str, **members: Value) -> Fact:
    """Return that a signal was accepted."""
    return fact(
        "SignalAccepted",
        node=name,
        attempt_id=attempt(number),
        signal_id=signal(signal_number),
        name=signal_name,
        **members,
    )


def acquired(number: int, epoch: int) -> Fact:
    """Return that a worker took the run over."""
    return fact("RecoveryAcquired", owner=owner(number), epoch=epoch)


def given_up(number: int, epoch: int) -> Fact:
    """Return that a worker gave the run up."""
    return fact("RecoveryReleased", owner=owner(number), epoch=epoch)


def run_is(result: str) -> Fact:
    """Return how the run ended: `completed`, `failed`, `blocked` or `cancelled`."""
    return fact(f"Run{result.capitalize()}")


# Commands


def create(specification: Document, /, **members: Value) -> Fact:
    """Ask for a run."""
    return {"type": "CreateRun", "run_id": RUN, "specification": specification, **members}


def start(name: str, number: int, **members: Value) -> Fact:
    """Ask for a start."""
    return fact("StartNode", node=name, attempt_id=attempt(number), **members)


def complete(name: str, number: int, kind: str = "succeeded", output: Value = None, reason: str = "") -> Fact:
    """Ask for an outcome."""
    return fact("CompleteAttempt", node=name, attempt_id=attempt(number), outcome=outcome(kind, output, reason))


def complete_child(
    name: str, number: int, child_number: int, result: str = "completed", output: Mapping[str, Value] | None = None
) -> Fact:
    """Ask for the end of a child run."""
    return fact(
        "CompleteChild",
        node=name,
        attempt_id=attempt(number),
        child_run_id=child(child_number),
        result=result,
        output=output or {},
    )


def deliver(name: str, number: int, signal_name: str, token: str = "secret", payload: Value = None) -> Fact:  # noqa: S107
    """Ask for a delivery."""
    return fact(
        "DeliverSignal",
        node=name,
        signal_id=signal(number),
        name=signal_name,
        token_sha256=token_digest(token),
        payload=payload,
    )


def advance(now_ms: int) -> Fact:
    """Ask that time goes on."""
    return fact("AdvanceTime", now_ms=now_ms)


# Histories


@dataclass(frozen=True, slots=True)
class History:
    """Events with their versions. `+` gives a longer one, `but` and the like one that differs in one place."""

    entries: tuple[Entry, ...] = ()
    version: int = NEWEST
    """Of what is added."""

    def __add__(self, event: Fact) -> History:
        """Return the history with one more event."""
        return self.plus(event)

    def __len__(self) -> int:
        """Return how many events it has."""
        return len(self.entries)

    def plus(self, *events: Fact) -> History:
        """Return the history with more events."""
        more = tuple(Entry(self.version, event) for event in events)
        return History((*self.entries, *more), self.version)

    def on(self, version: int) -> History:
        """Return the history, to be continued in another version."""
        return History(self.entries, version)

    def until(self, sequence: int) -> History:
        """Return the history up to an event; with a negative number, without so many at the end."""
        return History(self.entries[:sequence], self.version)

    def without(self, sequence: int) -> History:
        """Return the history without an event. Sequences count from 1, or from the end if negative."""
        at = self._at(sequence)
        return History((*self.entries[:at], *self.entries[at + 1 :]), self.version)

    def but(self, sequence: int, **members: Value) -> History:
        """Return the history with other members in an event; those that are `...` are left out."""
        entry = self.entries[self._at(sequence)]
        changed = {name: value for name, value in {**entry.event, **members}.items() if value is not ...}
        return self.instead(sequence, changed)

    def instead(self, sequence: int, event: Fact) -> History:
        """Return the history with another event in the place of one."""
        at = self._at(sequence)
        return History(
            (*self.entries[:at], Entry(self.entries[at].version, event), *self.entries[at + 1 :]), self.version
        )

    def recorded_in(self, version: int, sequence: int) -> History:
        """Return the history with an event in another version."""
        at = self._at(sequence)
        entry = Entry(version, self.entries[at].event)
        return History((*self.entries[:at], entry, *self.entries[at + 1 :]), self.version)

    def swapped(self, sequence: int) -> History:
        """Return the history with an event and the next one in the other order."""
        at = self._at(sequence)
        return History(
            (*self.entries[:at], self.entries[at + 1], self.entries[at], *self.entries[at + 2 :]), self.version
        )

    def _at(self, sequence: int) -> int:
        return sequence - 1 if sequence > 0 else len(self.entries) + sequence


def history(*events: Fact, version: int = NEWEST) -> History:
    """Return a history of one version."""
    return History(version=version).plus(*events)


def as_json(command: Fact) -> JsonObject:
    """Return an event or a command as what is sent."""
    return command


# As lines of JSON


def written_history(history: Iterable[Entry], command: JsonObject | None = None) -> bytes:
    """Return a history as JSON lines, with a command in the last one if there is any."""
    lines = [written({"version": entry.version, "event": entry.event}) for entry in history]
    return b"".join(lines) + (b"" if command is None else written({"command": command}))


def read_history(content: bytes) -> tuple[tuple[Entry, ...], JsonObject | None]:
    """Return the history and the command that JSON lines hold. Raises `ValueError` for lines that hold neither."""
    try:
        lines = [msgspec.convert(json.loads(line), dict[str, Any]) for line in content.splitlines()]
    except RecursionError as error:
        raise ValueError("a line is nested too deep") from error
    command = lines[-1].get("command") if lines else None
    entries = lines if command is None else lines[:-1]
    if command is not None and not isinstance(command, Mapping):
        raise ValueError("a command is no object")
    return tuple(msgspec.convert(entry, Entry) for entry in entries), command
