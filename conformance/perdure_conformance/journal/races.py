"""What came of operations that ran at the same time, and what must be true of it.

A judge of one call at a time cannot say what was right here: that depends on who came first. So each run of a race
becomes one step: all calls with their answers, each between two instants of a logical clock, and what was there before.

A complaint has a sentence that is the same however the race went; there is none in it where a requirement is kept, and
no complaint where it has nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
from perdure.kernel.identity import EventId
from perdure_conformance.journal.calls import (
    MARK,
    UNNAMED,
    AcquireCall,
    AnyCall,
    AppendCall,
    Call,
    LoadCall,
    Names,
    all_in_words,
)
from perdure_conformance.journal.linearizability import Interval, is_linearizable


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is wrong with a race, and where. It is false if nothing is."""

    words: str = ""
    """A sentence that is the same however the race went."""
    sequence: int | None = None
    """The sequence at which it shows, if there is one."""
    calls: tuple[AnyCall, ...] = ()
    """The calls that cannot all be right; none if that takes more of them."""

    def __bool__(self) -> bool:
        """Tell whether anything is wrong."""
        return bool(self.words)


_RIGHT: Final = Complaint()


@dataclass(frozen=True)
class RaceStep:
    """Appends and loads of one run at the same time, and then a load of it on each handle."""

    before: tuple[Envelope, ...]
    calls: tuple[AppendCall | LoadCall, ...]
    finals: Mapping[int, tuple[Envelope, ...]]
    """What each handle showed at the end, from the start of the run on."""
    batches_are_whole: bool
    """Whether that is claimed."""
    names: Names = UNNAMED

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
    names: Names = UNNAMED

    @property
    def granted(self) -> list[int]:
        """The epochs that were granted."""
        return [call.answer.epoch for call in self.calls if isinstance(call.answer, Granted)]

    @property
    def grants(self) -> tuple[AcquireCall, ...]:
        """The requests that were granted."""
        return tuple(call for call in self.calls if isinstance(call.answer, Granted))


# Appends


def _answered(step: RaceStep) -> Complaint | None:
    """New records in a sound envelope, without a lease, are acknowledged in order, or refused for their position."""
    if not step.appends:
        return None
    for call in step.acknowledged:
        if call.answer != acknowledge(call.records):
            return Complaint("an acknowledgement names other records than were sent", calls=(call,))
    legal = Acknowledged | SequenceConflict | NotStored | Unavailable | None
    strange = tuple(call for call in step.appends if not isinstance(call.answer, legal))
    return (
        Complaint("new records were refused for another reason than their position", calls=strange)
        if strange
        else _RIGHT
    )


def _stands_once(step: RaceStep) -> Complaint | None:
    """What was acknowledged stands there once, and nothing else but what may."""
    if not step.has_several_appenders:
        return None
    due = dict(enumerate(step.before, 1))
    by: dict[int, AppendCall] = {}
    for call in step.acknowledged:
        for record in call.records:
            at = record.sequence
            if due.setdefault(at, record) != record:
                return Complaint("two appends were acknowledged at one sequence", at, _present(by.get(at), call))
            by[at] = call
    return _shown_apart(step) or _lost(step, due, by) or _doubled(step) or _never_acknowledged(step, due) or _RIGHT


def _shown_apart(step: RaceStep) -> Complaint | None:
    after = step.after
    whole = next(handle for handle, final in step.finals.items() if final == after)
    for handle, final in step.finals.items():
        if final != after[: len(final)]:
            at = 1 + next(place for place, record in enumerate(final) if record != after[place])
            pages = _present(_last_page(step, at, handle), _last_page(step, at, whole))
            return Complaint(f"two {step.names.nouns} show different records at one sequence", at, pages)
    return None


def _lost(step: RaceStep, due: Mapping[int, Envelope], by: Mapping[int, AppendCall]) -> Complaint | None:
    for at, record in due.items():
        if step.after[at - 1 : at] != (record,):
            words = "a record that was acknowledged does not stand at its sequence"
            return Complaint(words, at, _present(by.get(at), _last_page(step, at)))
    return None


def _doubled(step: RaceStep) -> Complaint | None:
    first: dict[EventId, Envelope] = {}
    for record in step.after:
        if first.setdefault(record.event_id, record) is not record:
            return Complaint("an event stands twice in the run", record.sequence, _senders(step, record))
    return None


def _never_acknowledged(step: RaceStep, due: Mapping[int, Envelope]) -> Complaint | None:
    possible = {record for call in step.unknown for record in call.records}
    for record in step.after:
        if due.get(record.sequence) != record and record not in possible:
            calls = _present(*_senders(step, record), _last_page(step, record.sequence))
            return Complaint("a record stands there that was never acknowledged", record.sequence, calls)
    return None


def _byte_for_byte(step: RaceStep) -> Complaint | None:
    """What was acknowledged is shown with the bytes that were sent."""
    sent = {(record.sequence, record.event_id): record for call in step.acknowledged for record in call.records}
    if not sent:
        return None
    for load in step.loads:
        for record in load.shown:
            if sent.get((record.sequence, record.event_id), record) != record:
                calls = _present(*_senders(step, record), load)
                return Complaint("a record is shown with another body than was sent", record.sequence, calls)
    return _RIGHT


def _whole(step: RaceStep) -> Complaint | None:
    """An append without a definite answer is there whole or not at all."""
    batches = [call for call in step.unknown if len(call.records) > 1]
    if not batches:
        return None
    after = set(step.after)
    for call in batches:
        if not after.issuperset(call.records) and not after.isdisjoint(call.records):
            at = call.last_sequence
            calls = _present(call, _last_page(step, at))
            return Complaint("a part of a batch is there", call.expected_next, calls)
    return _RIGHT


def _compared(step: RaceStep) -> Complaint | None:
    """An append that began after another was acknowledged knows of it."""
    if not step.has_several_appenders:
        return None
    for call in step.appends:
        before = list(_acknowledged_before(step, call))
        if not before:
            continue
        last = max(before, key=lambda first: first.last_sequence)
        replayed = any(first.records == call.records for first in step.appends if first.began < call.began)
        if call.is_acknowledged and call.expected_next <= last.last_sequence and not replayed:
            words = "an append was acknowledged at a sequence below one that had been acknowledged before it began"
            return Complaint(words, call.expected_next, (last, call))
        if isinstance(call.answer, SequenceConflict) and call.answer.actual_next <= last.last_sequence:
            words = "a sequence_conflict tells a next sequence that had been acknowledged before the append began"
            return Complaint(words, call.answer.actual_next, (last, call))
    return _RIGHT


# Loads


def _in_order(step: RaceStep) -> Complaint | None:
    """Each load shows records in order, none missing, and what its handle has shown before."""
    if not step.loads or not step.appends:
        return None
    shown: dict[tuple[int, int], tuple[Envelope, LoadCall]] = {}
    furthest: dict[int, tuple[int, LoadCall]] = {}
    one = step.names.noun
    for call in step.loads:
        if not call.is_unknown and not isinstance(call.answer, Page):
            return Complaint("a load was refused while others appended", calls=(call,))
        for at, record in enumerate(call.shown, call.position):
            if record.sequence != at:
                words = "a load does not show the records in order, from the position that was asked for"
                return Complaint(words, at, (call,))
            known, earlier = shown.setdefault((call.handle, at), (record, call))
            if known != record:
                return Complaint(f"a {one} shows another record than before at one sequence", at, (earlier, call))
        last = call.position + len(call.shown) - 1
        far, earlier = furthest.get(call.handle, (0, call))
        if call.ends and last < far:
            return Complaint(f"a {one} does not show any more what it has shown before", far, (earlier, call))
        if call.shown and last > far:
            furthest[call.handle] = (last, call)
    return _RIGHT


def _shows_its_own(step: RaceStep) -> Complaint | None:
    """A load that says that it is at the end shows what was acknowledged on its handle."""
    return _shows(step, lambda load, append: append.handle == load.handle)


def _shows_all(step: RaceStep) -> Complaint | None:
    """A load that says that it is at the end shows what was acknowledged anywhere."""
    return _shows(step, lambda load, append: append.handle != load.handle)


def _shows(step: RaceStep, is_due: Callable[[LoadCall, AppendCall], bool]) -> Complaint | None:
    due = [(load, call) for load in step.loads if load.ends for call in _acknowledged_before(step, load)]
    pairs = [(load, call) for load, call in due if is_due(load, call)]
    if not pairs:
        return None
    for load, call in pairs:
        end = call.last_sequence
        if load.position + len(load.shown) <= end >= load.position:
            words = "a load does not show what had been acknowledged before it began"
            return Complaint(words, load.position + len(load.shown), (call, load))
    return _RIGHT


# Appends and loads together


def _explained(step: RaceStep) -> Complaint | None:
    """Some order of the calls explains every answer."""
    in_parts = not step.batches_are_whole and any(len(call.records) > 1 for call in step.appends)
    if in_parts or not step.has_several_handles:
        return None
    explained = is_linearizable(list(_intervals(step)), step.before, _after)
    if explained is None:
        return None
    return _RIGHT if explained else Complaint("no order of the calls explains all their answers", *_forgotten(step))


def _forgotten(step: RaceStep) -> tuple[int | None, tuple[LoadCall, ...]]:
    """Return where a load shows less than one that was answered before it began, with both; for people alone."""
    for load in step.loads:
        answered = [each for each in step.loads if each.shown and each.ended < load.began]
        furthest = max(answered, key=lambda each: each.position + len(each.shown), default=None)
        next_shown = load.position + len(load.shown)
        if load.ends and furthest is not None and next_shown < furthest.position + len(furthest.shown):
            return next_shown, (furthest, load)
    return None, ()


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


def _granted_once(step: LeaseRaceStep) -> Complaint | None:
    """At most one is granted, and no epoch twice."""
    if len({call.handle for call in step.calls}) < 2:
        return None
    if len(set(step.granted)) < len(step.granted):
        return Complaint("an epoch was granted twice", calls=step.grants)
    are_several = step.lasts and len(step.granted) > 1
    return Complaint("two requests were granted", calls=step.grants) if are_several else _RIGHT


def _granted_above(step: LeaseRaceStep) -> Complaint | None:
    """A granted epoch is above every one before."""
    if not step.highest_epoch or not step.granted:
        return None
    is_below = min(step.granted) <= step.highest_epoch
    return Complaint("an epoch is not above those before", calls=step.grants) if is_below else _RIGHT


def _not_granted(step: LeaseRaceStep) -> Complaint | None:
    """A lease that is held is granted to nobody."""
    if step.is_free is not False:
        return None
    return Complaint("a lease that is held was granted", calls=step.grants) if step.granted else _RIGHT


def _granted_at_all(step: LeaseRaceStep) -> Complaint | None:
    """A lease that is free is granted to one of those who ask for it."""
    if not step.is_free:
        return None
    are_refused = all(isinstance(call.answer, Held) for call in step.calls)
    return Complaint("nobody was granted a lease that is free", calls=step.calls) if are_refused else _RIGHT


COMPLAINTS: Final[Mapping[str, Callable[[RaceStep], Complaint | None]]] = {
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

COMPLAINTS_OF_LEASES: Final[Mapping[str, Callable[[LeaseRaceStep], Complaint | None]]] = {
    "LSE-007": _granted_once,
    "LSE-001": _granted_above,
    "LSE-002": _not_granted,
    "LSE-003": _granted_at_all,
}
"""What is asked of requests for leases, likewise."""


def in_words(step: RaceStep | LeaseRaceStep, found: Complaint = _RIGHT) -> str:
    """Return all calls in the order in which they were sent; those marked that a complaint is about, and its place."""
    told = all_in_words(step.calls, step.names, found.calls)
    if not found:
        return told
    at = "" if found.sequence is None else f"at sequence {found.sequence} "
    return f"{told}\n{MARK} {at}of run {step.names.run}"


def complaint(requirement: str, step: RaceStep | LeaseRaceStep) -> Complaint | None:
    """Return what is wrong with a step, or that nothing is; None if the requirement has nothing to say of it."""
    return COMPLAINTS[requirement](step) if isinstance(step, RaceStep) else COMPLAINTS_OF_LEASES[requirement](step)


def _acknowledged_before(step: RaceStep, call: Call) -> Iterator[AppendCall]:
    return (first for first in step.acknowledged if first.ended < call.began)


def _senders(step: RaceStep, record: Envelope) -> tuple[AppendCall, ...]:
    """Return the appends that have sent the event of a record."""
    return tuple(call for call in step.appends if any(sent.event_id == record.event_id for sent in call.records))


def _last_page(step: RaceStep, sequence: int, handle: int | None = None) -> LoadCall | None:
    """Return the last page, of one handle or of any, on which a sequence stands or would."""
    pages = [
        load
        for load in step.loads
        if handle in {None, load.handle} and load.position <= sequence <= load.position + len(load.shown)
    ]
    return pages[-1] if pages else None


def _present(*calls: AnyCall | None) -> tuple[AnyCall, ...]:
    return tuple(call for call in calls if call is not None)
