"""What came of operations that ran at the same time, and what must be true of it.

A judge of one call at a time cannot say what was right here: that depends on who came first. So each run of a race
becomes one step: all calls with their answers, each between two instants of a logical clock, and what was there before.

A complaint is a sentence that is the same however the race went; it is empty where a requirement is kept, and None
where it has nothing to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from perdure.journal.contract import (
    Acknowledged,
    Envelope,
    Granted,
    Held,
    NotStored,
    Page,
    SequenceConflict,
    Unavailable,
    acknowledge,
)
from perdure_conformance.journal.client import Answer
from perdure_conformance.journal.linearizability import Interval, is_linearizable

_CALLS_TOLD: Final = 40


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


@dataclass(frozen=True)
class RaceStep:
    """Appends and loads of one run at the same time, and then a load of it on each handle."""

    before: tuple[Envelope, ...]
    calls: tuple[AppendCall | LoadCall, ...]
    finals: Mapping[int, tuple[Envelope, ...]]
    """What each handle showed at the end, from the start of the run on."""
    batches_are_whole: bool
    """Whether that is claimed."""

    @cached_property
    def appends(self) -> list[AppendCall]:
        """The appends, in the order in which they were sent."""
        return sorted((call for call in self.calls if isinstance(call, AppendCall)), key=lambda call: call.began)

    @cached_property
    def loads(self) -> list[LoadCall]:
        """The pages, in the order in which they were asked for."""
        return sorted((call for call in self.calls if isinstance(call, LoadCall)), key=lambda call: call.began)

    @cached_property
    def acknowledged(self) -> list[AppendCall]:
        """The appends that were acknowledged."""
        return [call for call in self.appends if call.is_acknowledged]

    @cached_property
    def unknown(self) -> list[AppendCall]:
        """The appends that were never answered definitely, however often they were sent."""
        told = {call.records for call in self.appends if call.is_acknowledged or call.came_too_late}
        return [call for call in self.appends if call.is_unknown and call.records not in told]

    @property
    def after(self) -> tuple[Envelope, ...]:
        """The longest that a handle showed at the end."""
        return max(self.finals.values(), key=len)

    @property
    def told(self) -> str:
        """All calls in words, in the order in which they were sent."""
        return _told(self.calls)

    @cached_property
    def has_several_handles(self) -> bool:
        """Whether several handles took part."""
        return len({call.handle for call in self.calls}) > 1

    @cached_property
    def has_several_appenders(self) -> bool:
        """Whether several handles appended."""
        return len({call.handle for call in self.appends}) > 1


@dataclass(frozen=True)
class LeaseRaceStep:
    """Requests for the lease of one run at the same time, all at one instant of the caller's clock."""

    highest_epoch: int
    """Before the race; 0 if none was ever granted."""
    is_free: bool | None
    """Whether the lease was there to be granted; None if only the store's own clock knows."""
    lasts: bool
    """Whether a lease that is granted in the race is held until its end."""
    calls: tuple[AcquireCall, ...]

    @property
    def granted(self) -> list[int]:
        """The epochs that were granted."""
        return [call.answer.epoch for call in self.calls if isinstance(call.answer, Granted)]

    @property
    def told(self) -> str:
        """All calls in words, in the order in which they were sent."""
        return _told(self.calls)


# Appends


def _answered(step: RaceStep) -> str | None:
    """New records in a sound envelope, without a lease, are acknowledged in order, or refused for their position."""
    if not step.appends:
        return None
    if any(call.answer != acknowledge(call.records) for call in step.acknowledged):
        return "an acknowledgement names other records than were sent"
    legal = Acknowledged | SequenceConflict | NotStored | Unavailable | None
    strange = any(not isinstance(call.answer, legal) for call in step.appends)
    return "new records were refused for another reason than their position" if strange else ""


def _stands_once(step: RaceStep) -> str | None:
    """What was acknowledged stands there once, and nothing else but what may."""
    if not step.has_several_appenders:
        return None
    after = step.after
    due = dict(enumerate(step.before, 1))
    for call in step.acknowledged:
        for record in call.records:
            if due.setdefault(record.sequence, record) != record:
                return "two appends were acknowledged at one sequence"
    if any(final != after[: len(final)] for final in step.finals.values()):
        return "two handles show different records at one sequence"
    if any(after[sequence - 1 : sequence] != (record,) for sequence, record in due.items()):
        return "a record that was acknowledged does not stand at its sequence"
    if max(Counter(record.event_id for record in after).values(), default=1) > 1:
        return "an event stands twice in the run"
    possible = {record for call in step.unknown for record in call.records}
    if not possible.issuperset(record for record in after if due.get(record.sequence) != record):
        return "a record stands there that was never acknowledged"
    return ""


def _byte_for_byte(step: RaceStep) -> str | None:
    """What was acknowledged is shown with the bytes that were sent."""
    sent = {(record.sequence, record.event_id): record for call in step.acknowledged for record in call.records}
    if not sent:
        return None
    shown = (record for load in step.loads for record in load.shown)
    is_changed = any(sent.get((record.sequence, record.event_id), record) != record for record in shown)
    return "a record is shown with another body than was sent" if is_changed else ""


def _whole(step: RaceStep) -> str | None:
    """An append without a definite answer is there whole or not at all."""
    batches = [set(call.records) for call in step.unknown if len(call.records) > 1]
    if not batches:
        return None
    after = set(step.after)
    return "" if all(batch <= after or batch.isdisjoint(after) for batch in batches) else "a part of a batch is there"


def _compared(step: RaceStep) -> str | None:
    """An append that began after another was acknowledged knows of it."""
    if not step.has_several_appenders:
        return None
    for call in step.appends:
        next_sequence = max((_end(first) + 1 for first in _acknowledged_before(step, call)), default=1)
        replayed = any(first.records == call.records for first in step.appends if first.began < call.began)
        if call.is_acknowledged and call.expected_next < next_sequence and not replayed:
            return "an append was acknowledged at a sequence below one that had been acknowledged before it began"
        if isinstance(call.answer, SequenceConflict) and call.answer.actual_next < next_sequence:
            return "a sequence_conflict tells a next sequence that had been acknowledged before the append began"
    return ""


# Loads


def _in_order(step: RaceStep) -> str | None:
    """Each load shows records in order, none missing, and what its handle has shown before."""
    if not step.loads or not step.appends:
        return None
    shown: dict[tuple[int, int], Envelope] = {}
    furthest: Counter[int] = Counter()
    for call in step.loads:
        if not call.is_unknown and not isinstance(call.answer, Page):
            return "a load was refused while others appended"
        if any(record.sequence != at for at, record in enumerate(call.shown, call.position)):
            return "a load does not show the records in order, from the position that was asked for"
        if any(shown.setdefault((call.handle, record.sequence), record) != record for record in call.shown):
            return "a handle shows another record than before at one sequence"
        last = call.position + len(call.shown) - 1
        if call.ends and last < furthest[call.handle]:
            return "a handle does not show any more what it has shown before"
        furthest[call.handle] = max(last if call.shown else 0, furthest[call.handle])
    return ""


def _shows_its_own(step: RaceStep) -> str | None:
    """A load that says that it is at the end shows what was acknowledged on its handle."""
    return _shows(step, lambda load, append: append.handle == load.handle)


def _shows_all(step: RaceStep) -> str | None:
    """A load that says that it is at the end shows what was acknowledged anywhere."""
    return _shows(step, lambda load, append: append.handle != load.handle)


def _shows(step: RaceStep, is_due: Callable[[LoadCall, AppendCall], bool]) -> str | None:
    due = [(load, call) for load in step.loads if load.ends for call in _acknowledged_before(step, load)]
    pairs = [(load, _end(call)) for load, call in due if is_due(load, call)]
    if not pairs:
        return None
    missed = any(load.position + len(load.shown) <= end >= load.position for load, end in pairs)
    return "a load does not show what had been acknowledged before it began" if missed else ""


# Appends and loads together


def _explained(step: RaceStep) -> str | None:
    """Some order of the calls explains every answer."""
    in_parts = not step.batches_are_whole and any(len(call.records) > 1 for call in step.appends)
    if in_parts or not step.has_several_handles:
        return None
    explained = is_linearizable(list(_intervals(step)), step.before, _after)
    return None if explained is None else "" if explained else "no order of the calls explains all their answers"


def _intervals(step: RaceStep) -> Iterator[Interval[AppendCall | LoadCall]]:
    for call in step.calls:
        if isinstance(call, LoadCall):
            if isinstance(call.answer, Page):
                yield Interval(call, call.began, call.ended)
        elif not isinstance(call.answer, NotStored):
            yield Interval(call, call.began, None if call.is_unknown else call.ended)


def _after(run: tuple[Envelope, ...], call: AppendCall | LoadCall) -> tuple[Envelope, ...] | None:
    """Return the run after a call, if it gives this answer."""
    if isinstance(call, LoadCall):
        rest = run[call.position - 1 :]
        is_right = call.shown == (rest if call.ends else rest[: len(call.shown)])
        return run if is_right else None
    next_sequence = len(run) + 1
    if isinstance(call.answer, SequenceConflict):
        is_right = call.answer.actual_next == next_sequence != call.expected_next
        return run if is_right else None
    if call.expected_next == next_sequence:
        return run + call.records
    is_replay = run[call.expected_next - 1 : call.expected_next - 1 + len(call.records)] == call.records
    return run if is_replay else None


# Leases


def _granted_once(step: LeaseRaceStep) -> str | None:
    """At most one is granted, and no epoch twice."""
    if len({call.handle for call in step.calls}) < 2:
        return None
    if len(set(step.granted)) < len(step.granted):
        return "an epoch was granted twice"
    return "two requests were granted" if step.lasts and len(step.granted) > 1 else ""


def _granted_above(step: LeaseRaceStep) -> str | None:
    """A granted epoch is above every one before."""
    if not step.highest_epoch or not step.granted:
        return None
    return "an epoch is not above those before" if min(step.granted) <= step.highest_epoch else ""


def _not_granted(step: LeaseRaceStep) -> str | None:
    """A lease that is held is granted to nobody."""
    if step.is_free is not False:
        return None
    return "a lease that is held was granted" if step.granted else ""


def _granted_at_all(step: LeaseRaceStep) -> str | None:
    """A lease that is free is granted to one of those who ask for it."""
    if not step.is_free:
        return None
    are_refused = all(isinstance(call.answer, Held) for call in step.calls)
    return "nobody was granted a lease that is free" if are_refused else ""


COMPLAINTS: Final[Mapping[str, Callable[[RaceStep], str | None]]] = {
    "JRN-002": _byte_for_byte,
    "JRN-027": _stands_once,
    "JRN-015": _whole,
    "JRN-028": _in_order,
    "JRN-003": _shows_its_own,
    "JRN-020": _shows_all,
    "JRN-019": _compared,
    "JRN-018": _compared,
    "JRN-001": _answered,
    "JRN-029": _explained,
}
"""What is asked of appends and loads, by requirement, the particular before the general."""

COMPLAINTS_OF_LEASES: Final[Mapping[str, Callable[[LeaseRaceStep], str | None]]] = {
    "LSE-007": _granted_once,
    "LSE-001": _granted_above,
    "LSE-002": _not_granted,
    "LSE-003": _granted_at_all,
}
"""What is asked of requests for leases, likewise."""


def complaint(requirement: str, step: RaceStep | LeaseRaceStep) -> str | None:
    """Return what is wrong with a step: empty if nothing is, None if the requirement has nothing to say of it."""
    return COMPLAINTS[requirement](step) if isinstance(step, RaceStep) else COMPLAINTS_OF_LEASES[requirement](step)


def _acknowledged_before(step: RaceStep, call: Call) -> Iterator[AppendCall]:
    return (first for first in step.acknowledged if first.ended < call.began)


def _end(call: AppendCall) -> int:
    """Return the sequence of its last record."""
    return call.expected_next + len(call.records) - 1


def _told(calls: Sequence[AppendCall | LoadCall | AcquireCall]) -> str:
    ordered = sorted(calls, key=lambda call: call.began)
    more = [f"and {len(ordered) - _CALLS_TOLD} more"] if len(ordered) > _CALLS_TOLD else []
    return "; ".join([*(_told_of(call) for call in ordered[:_CALLS_TOLD]), *more])


def _told_of(call: AppendCall | LoadCall | AcquireCall) -> str:
    """Return who did what, with which answer, and from when to when by the race's clock."""
    match call:
        case AppendCall():
            asked = f"append at {call.expected_next}"
        case LoadCall():
            asked = f"load from {call.position}"
        case AcquireCall():
            asked = "acquire"
    return f"{call.handle}: {asked} → {_word(call.answer)} [{call.began}–{call.ended}]"


def _word(answer: Answer | None) -> str:
    match answer:
        case None:
            return "no answer"
        case Page(records=records, end=end):
            return f"{len(records)}{', the end' if end else ''}"
        case SequenceConflict(actual_next=actual_next):
            return f"the next is {actual_next}"
        case Granted(epoch=epoch):
            return f"epoch {epoch}"
        case _:
            return str(answer.__struct_config__.tag or type(answer).__name__.lower())
