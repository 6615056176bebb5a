"""Calls that were made at the same time: who asked what, when, and what came; in words, and read back from words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from perdure.journal.contract import Acknowledged, Envelope, Granted, Page, SequenceConflict, Unavailable
from perdure.kernel.identity import EventId
from perdure_conformance.journal.client import Answer

Noun = Literal["handle", "process"]
"""What a handle is to whoever reads: over the wire each is a process, in Python an object."""

_CALLS_TOLD: Final = 38
"""As many as a picture shows, with the beginning."""
_EVENTS_TOLD: Final = 4
MARK: Final = "✗"
"""Stands behind calls that cannot all be right."""
_LINE_AT_MOST: Final = 2_000
_LINE: Final = re.compile(
    r"(?P<who>(?:handle|process) (?P<handle>[0-9]{1,6})): "
    r"(?P<words>.*?) → (?P<answer>.*?) (?P<when>\[[0-9]+–[0-9]+\][^✗]*?)(?P<mark> ✗)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call in a race."""

    handle: int
    began: int
    """The instant before it was sent, by the race's own clock, on which no two instants are equal."""
    ended: int
    """The instant after its answer came, or after the wait for one."""
    answer: Answer | None
    """None if none came."""

    @property
    def is_unknown(self) -> bool:
        """Whether it may have happened, later even, or never."""
        return self.answer is None or isinstance(self.answer, Unavailable)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendCall(Call):
    """One append."""

    expected_next: int
    records: tuple[Envelope, ...]

    @property
    def is_acknowledged(self) -> bool:
        """Whether it was acknowledged."""
        return isinstance(self.answer, Acknowledged)

    @property
    def came_too_late(self) -> bool:
        """Whether it was refused for a position that is taken: it will never happen."""
        return isinstance(self.answer, SequenceConflict) and self.answer.actual_next > self.expected_next

    @property
    def last_sequence(self) -> int:
        """The sequence of its last record."""
        return self.expected_next + len(self.records) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCall(Call):
    """One page."""

    position: int

    @property
    def shown(self) -> tuple[Envelope, ...]:
        """The records of the page."""
        return self.answer.records if isinstance(self.answer, Page) else ()

    @property
    def ends(self) -> bool:
        """Whether it says that no record follows."""
        return isinstance(self.answer, Page) and self.answer.end


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquireCall(Call):
    """One request for a lease."""


AnyCall = AppendCall | LoadCall | AcquireCall


@dataclass(frozen=True, slots=True)
class Names:
    """What the numbers of a case are called: its run, its handles, its events."""

    noun: Noun = "handle"
    run: int = 0
    events: Mapping[EventId, int] = field(default_factory=dict)
    """The number of an event, by its id."""

    @property
    def nouns(self) -> str:
        """Several of them."""
        return plural(self.noun)

    def event(self, record: Envelope) -> str:
        """Return the number of a record's event, or its id if it is none of the case."""
        return str(self.events.get(record.event_id, record.event_id))


UNNAMED: Final = Names()
"""Where nobody will read it."""


def plural(noun: Noun) -> str:
    """Return what several are called."""
    return f"{noun}es" if noun == "process" else f"{noun}s"


@dataclass(frozen=True, slots=True)
class Told:
    """One call in words, or several alike of one handle in a row."""

    handle: int
    who: str
    words: str
    answer: str
    when: str
    """When it began and ended; of several alike, the first one and the last."""
    fails: bool = False
    """Whether it is one of those that cannot all be right."""

    @property
    def line(self) -> str:
        """All of it."""
        return f"{self.who}: {self.words} → {self.answer} {self.when}{f' {MARK}' if self.fails else ''}"


def all_in_words(calls: Sequence[AnyCall], names: Names, wrong: Sequence[AnyCall] = ()) -> str:
    """Return calls a line each, in the order in which they were sent; those alike of one handle in a row once."""
    found: list[tuple[Told, list[AnyCall]]] = []
    latest: dict[int, int] = {}
    for call in sorted(calls, key=lambda call: call.began):
        told = _told(call, names, fails=call in wrong)
        at = latest.get(call.handle)
        if at is not None and replace(found[at][0], when="") == replace(told, when="") and not told.fails:
            found[at][1].append(call)
        else:
            latest[call.handle] = len(found)
            found.append((told, [call]))
    lines = [_repeated(told, alike).line for told, alike in found[:_CALLS_TOLD]]
    more = [f"and {len(found) - _CALLS_TOLD} more"] if len(found) > _CALLS_TOLD else []
    return "\n".join([*lines, *more])


def lines_of(answer: str) -> list[str]:
    """Return what came of a race, line by line, of what may have been edited by hand."""
    return answer.split("\n", _CALLS_TOLD + 1) if answer else []


def read_back(line: str) -> Told | None:
    """Return the call that a line tells; None if it tells none."""
    found = _LINE.fullmatch(line) if len(line) <= _LINE_AT_MOST else None
    if found is None:
        return None
    return Told(
        int(found["handle"]),
        found["who"],
        found["words"],
        found["answer"],
        found["when"],
        fails=found["mark"] is not None,
    )


def _repeated(told: Told, calls: Sequence[AnyCall]) -> Told:
    if len(calls) == 1:
        return told
    return replace(told, when=f"{told.when}, {len(calls)} times, the last {_when(calls[-1])}")


def _told(call: AnyCall, names: Names, *, fails: bool) -> Told:
    match call:
        case AppendCall():
            asked = f"append {_events(call.records, names)} to run {names.run} at {call.expected_next}"
        case LoadCall():
            asked = f"load run {names.run} from {call.position}"
        case AcquireCall():
            asked = f"acquire run {names.run}"
    return Told(call.handle, f"{names.noun} {call.handle}", asked, _word(call.answer, names), _when(call), fails=fails)


def _when(call: Call) -> str:
    return f"[{call.began}–{call.ended}]"


def _events(records: Iterable[Envelope], names: Names) -> str:
    events = [names.event(record) for record in records]
    if len(events) == 1:
        return f"event {events[0]}"
    told = events if len(events) <= _EVENTS_TOLD else [*events[: _EVENTS_TOLD - 1], "…", events[-1]]
    count = f"{len(events)} events: " if len(events) > _EVENTS_TOLD else "events "
    return count + ", ".join(told)


def _word(answer: Answer | None, names: Names) -> str:
    match answer:
        case None:
            return "no answer"
        case Page(records=records, end=end):
            return (_events(records, names) if records else "no records") + (", the end" if end else "")
        case SequenceConflict(actual_next=actual_next):
            return f"the next is {actual_next}"
        case Granted(epoch=epoch):
            return f"epoch {epoch}"
        case _:
            return str(answer.__struct_config__.tag or type(answer).__name__.lower())
