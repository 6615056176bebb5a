"""What a scenario is: a few questions about one requirement, each with the answer that it must have.

The answers are written by hand, and a test holds them against the model; what a kernel is judged by is the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from perdure_conformance.reducer.contract import Entry, Kind
from perdure_conformance.reducer.histories import Fact, History, Value
from perdure_conformance.reducer.kept import Kept
from perdure_conformance.reducer.questions import WHOLENESS, Query, Truth, truth_about


@dataclass(frozen=True, slots=True)
class Accepted:
    """The history can have happened."""

    whole: bool
    state: Mapping[str, Value]
    """What is asked of the state, by JSON Pointer."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The history cannot have happened."""

    at: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Gives:
    """The command gives a batch, in short."""

    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """The command is rejected, with one of these codes; the first is the model's."""

    codes: tuple[str, ...]
    disposition: str | None


@dataclass(frozen=True, slots=True)
class Restores:
    """The run is restored to the state that the history up to an event amounts to."""

    until: int


@dataclass(frozen=True, slots=True)
class RefusesToRestore:
    """The run is not restored."""

    at: int
    kind: Kind


Expected = Accepted | Refused | Gives | Rejected | Restores | RefusesToRestore


@dataclass(frozen=True, eq=False)
class Side:
    """One question of a scenario."""

    question: Query
    expected: Expected

    @cached_property
    def truth(self) -> Truth:
        """What the model says: worked out once, however many kernels are asked."""
        return truth_about(self.question)


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """A few questions about one requirement: what must be refused, and its twin one edit away."""

    requirement: str
    name: str
    sides: tuple[Side, ...]
    is_heavy: bool = False
    """Whether it is asked at the depths `normal` and `deep` alone, since it takes long."""


def scenario(requirement: str, name: str, *sides: Side, heavy: bool = False) -> Scenario:
    """Return a scenario; its questions are asked in this order."""
    shared = _shared([side.question.history for side in sides]) if requirement != WHOLENESS else 0
    about = (
        Side(msgspec.structs.replace(side.question, about=requirement, shared=shared), side.expected) for side in sides
    )
    return Scenario(requirement, name, tuple(about), heavy)


def _shared(histories: Sequence[Sequence[Entry]]) -> int:
    """Return how many events histories have in common at their beginning; none if there is but one history."""
    first = histories[0]
    if all(history == first for history in histories):
        return 0
    most = min(map(len, histories))
    return next((n for n in range(most) if any(history[n] != first[n] for history in histories)), most)


def accepted(past: History, state: Mapping[str, Value] | None = None, *, whole: bool = True) -> Side:
    """Say that a history is accepted; that it is whole or not; and what of its state is told, by JSON Pointer."""
    told = None if state is None else tuple(state)
    return Side(Query(past.entries, told=told), Accepted(whole, state or {}))


def unfinished(past: History) -> Side:
    """Say that a history is accepted, and that more is owed."""
    return accepted(past, whole=False)


def refused(past: History, at: int = -1, kind: Kind = "corrupt") -> Side:
    """Say that a history is refused, at its last event unless at another one."""
    return Side(Query(past.entries), Refused(at if at > 0 else len(past) + 1 + at, kind))


def gives(past: History, command: Fact, *events: str) -> Side:
    """Say what a command gives, in short."""
    return Side(Query(past.entries, command), Gives(events))


def rejects(past: History, command: Fact, *codes: str, disposition: str | None = None) -> Side:
    """Say that a command is rejected, with whichever of these codes."""
    return Side(Query(past.entries, command, codes=codes[1:]), Rejected(codes, disposition))


def restores(found: Kept, until: int | None = None) -> Side:
    """Say that a run is restored: to its whole history, or up to an event of it."""
    past = found.past if until is None else found.past.until(until)
    return Side(Query(past.entries, shown=found.shown), Restores(len(past)))


def refuses(found: Kept, at: int, kind: Kind = "corrupt") -> Side:
    """Say that a run is not restored: at this position no right record stands."""
    return Side(Query(found.past.entries, shown=found.shown), RefusesToRestore(at, kind))


NOTHING_YET = History()
"""Before a run is created."""
