"""Histories by the thousand: runs of every version and every mix of them, as they are, and damaged in one place.

Each is made from the seed and its number alone, and none is kept. What a damaged one is, refused or still right, is
the model's business; but a damage never makes an event wrong in two ways of which one is incompatible and the other
corrupt, so that there is one answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from perdure.kernel.errors import HistoryError
from perdure.kernel.events import EVENTS
from perdure.kernel.state import NodeState, SignalWait
from perdure.kernel.validation.validator import validate
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.drawn import KINDS, draw_document
from perdure_conformance.reducer.histories import NEWEST, Document, acquired, fact, given_up
from perdure_conformance.reducer.playing import Run

_STEPS: Final = (2, 6, 12, 20)
_SINCE: Final[Mapping[str, int]] = {
    "dependency_policy": 2,
    "edges": 3,
    "initial_nodes": 3,
    "children": 3,
    "child": 3,
    "max_activations": 3,
    "retry": 4,
    "budgets": 4,
    "signals": 5,
}
"""The version that has each member of a document first."""
_TYPES: Final = {version: sorted(kind.__name__ for kind in kinds) for version, kinds in EVENTS.items()}
_TIME: Final = 4
_WAITS: Final = 5


@dataclass(frozen=True, slots=True)
class Generated:
    """One history."""

    number: int
    """Counted from 0."""
    damage: str
    """The kind of damage, or `none`."""
    at: int
    """The sequence of the event that was damaged; 0 if none was."""
    history: tuple[Entry, ...]

    def __str__(self) -> str:
        """Return what it is, in words."""
        told = "as it was played" if self.damage == "none" else f"{self.damage} at {self.at}"
        return f"generated history {self.number:,}, {told}"


def generate(count: int, seed: int) -> Iterator[Generated]:
    """Yield so many histories: each second one is the one before it, damaged in one place."""
    played: tuple[Entry, ...] = ()
    for number in range(count):
        random = Random(f"{seed}/{number}")  # noqa: S311 - it has to be the same again, not secret
        if number % 2:
            yield _damaged(random, number, played)
        else:
            played = _played(random)
            yield Generated(number, "none", 0, played)


# Runs


def _played(random: Random) -> tuple[Entry, ...]:
    """Return the history of a run that begins in some version, and may go on in others."""
    version = random.randint(1, NEWEST)
    found = _document(random, version)
    members = {name: member for name, member in found.items() if name not in _HEAD}
    run = Run(found["nodes"], found.get("edges", ()), version, **members)
    for _ in range(random.choice(_STEPS)):
        if run.state.status != "running":
            break
        if run.past.version < NEWEST and random.random() < 0.15:
            run.goes_on(random.randint(run.past.version + 1, NEWEST))
        try:
            _step(random, run)
        except HistoryError:  # Something else is due or used up.
            continue
    return run.past.entries


_HEAD: Final = frozenset({"schema_version", "workflow_id", "workflow_version", "nodes", "edges"})


def _document(random: Random, version: int) -> Document:
    """Return a document that has nothing which a later version introduced."""
    while True:
        drawn = draw_document(random)
        nodes = [_fit(each, version) for each in drawn["nodes"]]
        found = _fit({**drawn, "schema_version": version, "nodes": nodes}, version)
        if validate(found).valid:
            return found


def _fit(members: Document, version: int) -> Document:
    kept = {name: member for name, member in members.items() if _SINCE.get(name, 1) <= version}
    return {**kept, "handler": {"name": "work", "version": 1}} if "child" in members and "child" not in kept else kept


def _step(random: Random, run: Run) -> None:
    """Let something happen that may happen, most often work. Raises `HistoryError` where it may not after all."""
    nodes = {run.state.name(position): each for position, each in sorted(run.state.nodes.items())}
    busy = [str(name) for name, each in nodes.items() if each.status in {"ready", "running", "waiting"}]
    if busy and random.random() < 0.8:
        name = random.choice(busy)
        _work(random, run, name, run.of(name))
    else:
        random.choice(_others(random, run))()


def _work(random: Random, run: Run, name: str, of: NodeState) -> None:
    version = run.past.version
    if of.status == "ready":
        run.start(name)
    elif of.status == "waiting":
        _deliver(random, run, name, of)
    elif of.child_run_id is not None:
        result = random.choice(("completed", "completed", "failed", "blocked", "cancelled"))
        run.child_ends(name, result, **random.choice(({"r": 0}, {"r": True}, {})))
    elif version >= _WAITS and random.random() < 0.3:
        later = run.state.now_ms + random.randint(1, 6)
        wait = (lambda: run.wait(name, "s", deadline_ms=later), lambda: run.wait_until(name, later))
        random.choice(wait)()
    else:
        kinds = ("succeeded", "permanent_failure", "blocked") if version == 1 else KINDS
        kind = "succeeded" if random.random() < 0.5 else random.choice(kinds)
        output = {"go": random.choice((0, True))} if kind in {"succeeded", "changes_requested"} else None
        run.end(name, kind, output)


def _deliver(random: Random, run: Run, name: str, of: NodeState) -> None:
    if not isinstance(of.wait, SignalWait):
        run.advance(run.state.now_ms + random.randint(1, 6))
    elif random.random() < 0.6:
        run.accept(name, "s", payload=random.choice((None, 0, [1], {"a": None})))
    else:
        run.reject(name, random.choice(("wrong_name", "wrong_token")))


def _others(random: Random, run: Run) -> list[Callable[[], object]]:
    """Return what may happen beside work, in the version of the run."""
    version, now_ms = run.past.version, run.state.now_ms
    found: list[Callable[[], object]] = []
    if version == 1:
        found.append(lambda: run.write(fact("RunCancelled")))
    if version >= _TIME:
        later = now_ms + random.randint(1, 6)
        found += [lambda: run.advance(later), lambda: run.advance(later), run.settle]
    if version >= _WAITS:
        epoch = 1 if run.state.recovery is None else run.state.recovery.epoch
        found += [run.cancel, lambda: run.write(acquired(1, epoch + 1)), lambda: run.write(given_up(1, epoch))]
    return found or [lambda: None]


# Damage

Damage = Callable[[Random, Sequence[Entry], int], Sequence[Entry] | None]
"""Damages a history at an event, counted from 0; None if this event cannot be damaged so."""


def _damaged(random: Random, number: int, played: tuple[Entry, ...]) -> Generated:
    kind = list(DAMAGES)[number // 2 % len(DAMAGES)]
    for at in random.sample(range(len(played)), len(played)):
        found = DAMAGES[kind](random, played, at)
        if found and tuple(found) != played:
            return Generated(number, kind, at + 1, tuple(found))
    return Generated(number, "repeated", len(played), (*played, played[-1]))


def _left_out(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry]:
    del random
    return [*events[:at], *events[at + 1 :]]


def _repeated(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry]:
    del random
    return [*events[: at + 1], events[at], *events[at + 1 :]]


def _swapped(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry] | None:
    del random
    return [*events[:at], events[at + 1], events[at], *events[at + 2 :]] if at + 1 < len(events) else None


def _moved(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry] | None:
    rest = [*events[:at], *events[at + 1 :]]
    to = random.randrange(len(events))
    return None if to == at else [*rest[:to], events[at], *rest[to:]]


def _inserted(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry]:
    """Put an event of this history where it is not."""
    return [*events[:at], events[random.randrange(len(events))], *events[at:]]


def _cut(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry] | None:
    del random
    return events[:at] if at else None


def _version_changed(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry] | None:
    """Put an event in another version that has its type: in one that has not, it would be wrong in two ways."""
    entry = events[at]
    others = [version for version, types in _TYPES.items() if version != entry.version and entry.event["type"] in types]
    return _instead(events, at, Entry(random.choice(others), entry.event)) if others else None


def _version_unknown(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry]:
    return _instead(events, at, Entry(random.choice((-1, 0, NEWEST + 1, 99)), events[at].event))


def _type_unknown(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry]:
    del random
    return _with(events, at, type="NodePaused")


def _type_changed(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry] | None:
    others = [name for name in _TYPES[events[at].version] if name != events[at].event["type"]]
    return _with(events, at, type=random.choice(others))


def _number_changed(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry] | None:
    numbers = [name for name, value in events[at].event.items() if type(value) is int]
    if not numbers:
        return None
    name = random.choice(numbers)
    return _with(events, at, **{name: max(0, int(events[at].event[name]) + random.choice((-1, 1)))})  # type: ignore[arg-type]


def _text_changed(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry] | None:
    """Put a text of another event, under the same name, in the place of one."""
    texts = [name for name, value in events[at].event.items() if isinstance(value, str) and name not in _FIXED]
    if not texts:
        return None
    name = random.choice(texts)
    others = sorted({str(each.event[name]) for each in events if name in each.event} - {str(events[at].event[name])})
    return _with(events, at, **{name: random.choice(others)}) if others else None


_FIXED: Final = frozenset({"type"})


def _outcome_changed(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry] | None:
    """Give an outcome another kind, with the reason that it must have."""
    if "outcome" not in events[at].event:
        return None
    kind = random.choice((*KINDS, "skipped"))
    return _with(events, at, outcome={"kind": kind, **({} if kind == "succeeded" else {"reason": "changed"})})


def _member_left_out(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry] | None:
    names = [name for name in events[at].event if name not in _FIXED]
    gone = random.choice(names) if names else None
    kept = {name: value for name, value in events[at].event.items() if name != gone}
    return None if gone is None else _instead(events, at, Entry(events[at].version, kept))


def _member_added(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry]:
    return _with(events, at, **{random.choice(("zone", "Node", "")): 1})


def _value_of_another_type(random: Random, events: Sequence[Entry], at: int) -> Sequence[Entry] | None:
    names = [name for name in events[at].event if name not in _FREE]
    return _with(events, at, **{random.choice(names): random.choice((True, 1.5, [], {"a": 1}))}) if names else None


_FREE: Final = frozenset({"type", "output", "payload"})
"""Members that any value is right for, and the type, which would be an unknown one."""


def _instead(events: Sequence[Entry], at: int, entry: Entry) -> Sequence[Entry]:
    return [*events[:at], entry, *events[at + 1 :]]


def _with(events: Sequence[Entry], at: int, **members: Any) -> Sequence[Entry]:
    return _instead(events, at, Entry(events[at].version, {**events[at].event, **members}))


DAMAGES: Final[Mapping[str, Damage]] = {
    "left_out": _left_out,
    "repeated": _repeated,
    "swapped": _swapped,
    "moved": _moved,
    "inserted": _inserted,
    "cut": _cut,
    "version_changed": _version_changed,
    "version_unknown": _version_unknown,
    "type_unknown": _type_unknown,
    "type_changed": _type_changed,
    "number_changed": _number_changed,
    "text_changed": _text_changed,
    "outcome_changed": _outcome_changed,
    "member_left_out": _member_left_out,
    "member_added": _member_added,
    "value_of_another_type": _value_of_another_type,
}
"""The kinds of damage, by name."""
