"""One question, a history alone or with a command, or what a journal shows, and what an answer to it must be.

What is right is the model's business. Here stands who is to blame for what is wrong: each difference between the model
and an answer breaks one requirement. A written question is about one, which is to blame for what is wrong from the
event on in which the question differs from its twins. What is wrong before is beside the point, and so is a run fact
that is refused after it: that is no verdict on the requirement, and is asked again without one if nothing else was
found. How an answer is told is about a few other requirements; where that is the question, the kernel is asked a
little more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from perdure.journal.client import JournalFault, Recovered
from perdure.kernel.commands import REJECTION_CODES, REPEATS, Rejection
from perdure.kernel.consequences import owed
from perdure.kernel.decide import Events, decide
from perdure.kernel.errors import Corruption, HistoryError, Incompatible
from perdure.kernel.events import RUN_FACTS, RUNTIME_VERSION, AnyEvent, RetryScheduled
from perdure.kernel.records import document_of
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.snapshots import document_of_state
from perdure.kernel.state import State
from perdure.kernel.structure import Members
from perdure.kernel.values import JsonObject, JsonValue, canonical_json
from perdure_conformance.reducer import blame
from perdure_conformance.reducer.claims import claims_it
from perdure_conformance.reducer.contract import Capabilities, Decided, Entry, Reduced, Restored, Shown
from perdure_conformance.reducer.histories import acquired
from perdure_conformance.reducer.playing import short
from perdure_conformance.reducer.reference import begun, command_of, read_entry
from perdure_conformance.reducer.shown import recovered
from perdure_conformance.reducer.views import bare, told, view_of
from perdure_conformance.requirements import requirements
from perdure_conformance.suite import Violation

EVENTS_OF_A_COMMAND: Final = "RUN-006"
WHOLENESS: Final = "RUN-008"
PLACE_OF_A_REFUSAL: Final = "RUN-030"
KIND_OF_A_REFUSAL: Final = "RUN-031"
CODES: Final = "RUN-029"
DISPOSITIONS: Final = "SIG-007"
VERSION_WRITTEN: Final = "VER-006"
JITTER: Final = "RTY-007"
PLACE_OF_A_RECORD: Final = "JRN-051"
STATE_RESTORED: Final = "JRN-050"
STATE_RESUMED: Final = "SNP-010"
NO_SNAPSHOT_IS_FATAL: Final = "SNP-021"
NO_SNAPSHOT_HIDES_ANYTHING: Final = "SNP-022"

OF_EITHER_KIND: Final = frozenset({"unknown_member", "wrong_structure"})
"""The codes of events that may be called corrupt or incompatible."""

_FIRST: Final = (*REPEATS, "run_terminal")
"""Rejections of which no other one may be told in place."""


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A history, and a command to decide after it or none."""

    history: tuple[Entry, ...]
    command: Members | None = None
    about: str = ""
    """The requirement that the question is there for; empty if it was drawn."""
    told: tuple[str, ...] | None = None
    """The members of the state that it is about, as JSON Pointers; none if absent, all if it is empty."""
    codes: tuple[str, ...] = ()
    """Codes that a rejection may have beside the model's."""
    shared: int = 0
    """How many events it has in common with its twins."""
    shown: Shown | None = None
    """What a journal shows, of which the history is what there was before anything went wrong."""


Answer = Reduced | Decided | Restored


def can_be_asked(question: Query, claims: Capabilities) -> bool:
    """Tell whether a question is asked under these claims."""
    claim = requirements()[question.about].claim if question.about else "core"
    is_claimed = claim == "core" or claims_it(claims, claim)
    if question.shown is not None:
        needed = "records" if question.shown.snapshot is None else "snapshots"
        return is_claimed and claims_it(claims, needed)
    return is_claimed and (question.command is None or claims.decide)


@dataclass(frozen=True, slots=True)
class Truth:
    """What the model says."""

    state: State | None
    """After the history, if it is accepted and not empty."""
    error: HistoryError | None
    """Why it is refused."""
    sequence: int
    """Of the first wrong event."""
    owed: AnyEvent | None
    """What is owed after the history, or, of a refused one, where it is refused."""
    decided: Events | Rejection | None
    """What comes of the command, if there is one."""
    restored: Recovered | HistoryError | JournalFault | None = None
    """What comes of what a journal shows, if that is the question."""


def truth_about(question: Query) -> Truth:
    """Return what the model says to a question."""
    if question.shown is not None:
        return _truth_about_a_journal(question.shown)
    state: State | None = None
    for sequence, entry in enumerate(question.history, 1):
        try:
            event = read_entry(entry)
            begins = state is None
            state = begun(event, entry.version, RULES) if begins else reduce(state, event, version=entry.version)
        except HistoryError as error:
            due = owed(state, RULES) if state is not None else None
            return Truth(state=None, error=error, sequence=sequence, owed=due, decided=None)
    due = owed(state, RULES) if state is not None else None
    decided = None if question.command is None else decide(state, command_of(question.command))
    return Truth(state=state, error=None, sequence=0, owed=due, decided=decided)


def question_about(history: tuple[Entry, ...]) -> tuple[Query, Truth]:
    """Return the question what a history amounts to, and the truth: all of the state is told, where there is one."""
    question = Query(history, told=())
    truth = truth_about(question)
    has_state = truth.error is None and truth.owed is None
    return (question if has_state else Query(history)), truth


def _truth_about_a_journal(shown: Shown) -> Truth:
    try:
        found = recovered(shown, RULES)
    except (HistoryError, JournalFault) as error:
        return Truth(state=None, error=None, sequence=error.sequence or 0, owed=None, decided=None, restored=error)
    assert found.standing is not None
    return Truth(state=found.standing.state, error=None, sequence=0, owed=None, decided=None, restored=found)


Ask = Callable[[Sequence[Entry]], Reduced]
"""Asks about one more history, to find out what an answer means."""


@dataclass(frozen=True, slots=True)
class Point:
    """One thing about an answer that a requirement decides."""

    requirement: str
    kept: bool
    expected: JsonValue
    actual: JsonValue


@dataclass(frozen=True, slots=True)
class Setting:
    """What belongs to a question while its answer is judged."""

    claims: Capabilities
    ask: Ask


class BesideThePoint(Exception):
    """An answer is wrong, and not in what the question is there for."""


def hold(
    question: Query, truth: Truth, answer: Answer, setting: Setting, off: frozenset[str], reached: Counter[str]
) -> None:
    """Judge an answer, and count what is reached. Raises `Violation` for the first requirement that is broken.

    What is switched off says nothing, and ends the judgement of the answer. Raises `BesideThePoint` likewise.
    """
    for point in points(question, truth, answer, setting):
        reached[point.requirement] += 1
        if not point.kept:
            if point.requirement in off:
                return
            raise Violation(point.requirement, point.expected, point.actual)


def points(question: Query, truth: Truth, answer: Answer, setting: Setting) -> Iterator[Point]:
    """Yield what an answer is judged by, in order; what comes after a broken one means nothing."""
    if isinstance(answer, Decided):
        return _of_decided(question, truth, answer, setting)
    if isinstance(answer, Restored):
        return _of_restored(question, truth, answer, setting)
    if truth.error is not None:
        return _of_refused(question, truth, truth.error, answer, setting.ask)
    return _of_accepted(question, truth, answer, setting)


# A history


def _of_accepted(question: Query, truth: Truth, answer: Reduced, setting: Setting) -> Iterator[Point]:
    assert truth.state is not None
    expected: JsonValue = {"accepted": True, "whole": truth.owed is None}
    actual = _words(answer)
    if not answer.accepted:
        at = answer.sequence if answer.sequence is not None else 0
        entry = question.history[at - 1] if 0 < at <= len(question.history) else None
        if truth.owed is not None and setting.ask(_completed(question, truth)).accepted:
            yield Point(WHOLENESS, kept=False, expected=expected, actual=actual)
            return
        _keep_to_the_point(question, setting.ask)
        if question.shared and entry is not None and at > question.shared + 1 and _is_run_fact(entry):
            raise BesideThePoint
        yield Point(question.about or blame.of_a_right_event(entry), kept=False, expected=expected, actual=actual)
        return
    whole = truth.owed is None
    if answer.whole == whole:
        yield Point(question.about or WHOLENESS, kept=True, expected=expected, actual=actual)
    elif _acts_as_if_whole(question, setting.ask, truth) == whole:
        yield Point(WHOLENESS, kept=False, expected=expected, actual=actual)
    else:
        due = blame.of_what_is_owed(truth.owed) if truth.owed is not None else blame.NOTHING_OWED
        if question.about and question.shared == len(question.history) and question.about != WHOLENESS:
            raise BesideThePoint
        yield Point(question.about or due, kept=False, expected=expected, actual=actual)
    if setting.claims.state and whole and question.told is not None:
        yield from _of_state(question, view_of(truth.state), told(answer.state, answer.output))


def _keep_to_the_point(question: Query, ask: Ask) -> None:
    """Make sure that a kernel accepts what a question has in common with its twins. Raises `BesideThePoint`."""
    if question.about and question.shared and not ask(question.history[: question.shared]).accepted:
        raise BesideThePoint


def _completed(question: Query, truth: Truth) -> tuple[Entry, ...]:
    """Return a history that is not whole with all that is owed."""
    state, events = truth.state, list(question.history)
    assert state is not None
    while (due := owed(state, RULES)) is not None:
        events.append(Entry(state.version, document_of(due)))
        state = reduce(state, due, version=state.version)
    return tuple(events)


def _is_run_fact(entry: Entry) -> bool:
    return entry.event.get("type") in {kind.__name__ for kind in RUN_FACTS}


def _acts_as_if_whole(question: Query, ask: Ask, truth: Truth) -> bool:
    """Tell whether a kernel takes a history for whole: by what it says when another batch begins.

    A run that has ended is whole, whatever is said.
    """
    assert truth.state is not None
    if truth.state.status != "running":
        return True
    return ask((*question.history, Entry(RUNTIME_VERSION, acquired(99, 2**53 - 1)))).accepted


def _of_state(question: Query, expected: JsonObject, actual: Members | None) -> Iterator[Point]:
    """Yield a point for each member of the state that is asked about, or for the first difference of all of it."""
    for pointer in question.told or differences(expected, actual):
        wanted, found = at(expected, pointer), at(actual, pointer)
        yield Point(
            question.about or blame.of_a_member(pointer), same(wanted, found), {pointer: wanted}, {pointer: found}
        )


def at(value: JsonValue, pointer: str) -> JsonValue:
    """Return what is at a place; null if nothing is there."""
    for step in pointer.split("/")[1:]:
        if isinstance(value, Sequence) and not isinstance(value, str):
            value = value[int(step)] if step.isdecimal() and int(step) < len(value) else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def same(one: JsonValue, other: JsonValue) -> bool:
    """Tell whether two parts of a state are the same: what is nothing may be left out."""
    return (not one and not other) or canonical_json(one) == canonical_json(other)


def differences(expected: JsonValue, actual: JsonValue, pointer: str = "") -> Iterator[str]:
    """Yield the places where two states differ, as far as both are objects there."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for name in dict.fromkeys((*expected, *actual)):
            yield from differences(expected.get(name), actual.get(name), f"{pointer}/{name}")
    elif not same(expected, actual):
        yield pointer


def _of_refused(question: Query, truth: Truth, error: HistoryError, answer: Reduced, ask: Ask) -> Iterator[Point]:
    kind = "corrupt" if isinstance(error, Corruption) else "incompatible"
    expected: JsonValue = {"accepted": False, "kind": kind, "sequence": truth.sequence}
    actual = _words(answer)
    wrong = question.about or blame.of_a_wrong_event(error.code, question.history[truth.sequence - 1], truth.owed)
    yield Point(wrong, not answer.accepted, expected, actual)
    if answer.sequence == truth.sequence:
        yield Point(PLACE_OF_A_REFUSAL, kept=True, expected=expected, actual=actual)
    else:
        refuses = not ask(question.history[: truth.sequence]).accepted
        is_late = refuses and (truth.sequence == 1 or ask(question.history[: truth.sequence - 1]).accepted)
        if not is_late:
            _keep_to_the_point(question, ask)
        yield Point(PLACE_OF_A_REFUSAL if is_late else wrong, kept=False, expected=expected, actual=actual)
    if error.code not in OF_EITHER_KIND:
        yield Point(KIND_OF_A_REFUSAL, answer.kind == kind, expected, actual)


# What a journal shows


def _of_restored(question: Query, truth: Truth, answer: Restored, setting: Setting) -> Iterator[Point]:
    for point in _of_what_is_shown(question, truth, answer):
        if not point.kept:
            yield from _of_what_was_there(question, setting)
        yield point


def _of_what_is_shown(question: Query, truth: Truth, answer: Restored) -> Iterator[Point]:
    expected, actual = words_of(truth), _words(answer)
    error = truth.restored
    if isinstance(error, HistoryError | JournalFault):
        has_snapshot = question.shown is not None and question.shown.snapshot is not None
        # What is drawn is asked about without a snapshot first: there it was refused.
        by_code = NO_SNAPSHOT_HIDES_ANYTHING if has_snapshot else blame.of_a_record(error.code)
        yield Point(question.about or by_code, not answer.restored, expected, actual)
        kind = "incompatible" if isinstance(error, Incompatible) else "corrupt"
        may_be_either = error.code in OF_EITHER_KIND or not question.about  # What is drawn may be wrong in two ways.
        is_kind_told = answer.kind == kind or may_be_either
        is_place_told = answer.sequence == truth.sequence
        yield Point(PLACE_OF_A_RECORD, is_place_told and is_kind_told, expected, actual)
        return
    assert truth.state is not None
    assert isinstance(error, Recovered)
    about = question.about or STATE_RESTORED
    if error.snapshot == "used":
        about = STATE_RESUMED
    elif error.snapshot == "discarded" and not answer.restored:
        about = NO_SNAPSHOT_IS_FATAL
    yield Point(about, answer.restored, expected, actual)
    wanted, found = bare(document_of_state(truth.state)), bare(answer.state or {})
    for pointer in differences(wanted, found):
        there: JsonValue = {pointer: at(wanted, pointer)}
        yield Point(about, kept=False, expected=there, actual={pointer: at(found, pointer)})


def _of_what_was_there(question: Query, setting: Setting) -> Iterator[Point]:
    """Yield what is wrong with how the history is reduced that was there before anything went wrong.

    Raises `BesideThePoint` if anything is, and the question is about something else.
    """
    history = Query(question.history, told=())
    for point in points(history, truth_about(history), setting.ask(question.history), setting):
        if not point.kept:
            if question.about:
                raise BesideThePoint
            yield point


# A command


def _of_decided(question: Query, truth: Truth, answer: Decided, setting: Setting) -> Iterator[Point]:
    assert question.command is not None
    claims, expected, actual = setting.claims, words_of(truth), _words(answer)
    if answer.allowed == isinstance(truth.decided, Rejection):
        _keep_to_what_is_accepted(question, setting.ask)
    if isinstance(truth.decided, Rejection):
        by_code = blame.of_a_code(truth.decided.code)
        yield Point(question.about or by_code, not answer.allowed, expected, actual)
        if claims.codes:
            yield from _of_code(question, truth.decided, answer, setting)
        return
    assert truth.decided is not None
    if not answer.allowed:
        yield Point(
            question.about or blame.of_a_command(question.command), kept=False, expected=expected, actual=actual
        )
        return
    yield Point(VERSION_WRITTEN, answer.version == RUNTIME_VERSION, expected, actual)
    difference = _difference(truth, answer.events or (), is_settling=question.command["type"] == "Settle")
    if difference is not None:
        _keep_to_what_is_accepted(question, setting.ask)
        due = question.about or blame.of_a_difference(truth.decided, difference.number)
        if not _takes_its_own(question, answer, setting.ask) and requirements()[due].claim == "core":
            due = EVENTS_OF_A_COMMAND
        yield Point(due, kept=False, expected=difference.expected, actual=difference.actual)
    yield Point(question.about or blame.of_a_command(question.command), kept=True, expected=expected, actual=actual)
    if claims.jitter:
        delays = [event for event in truth.decided if isinstance(event, RetryScheduled)]
        told = [event.get("deadline_ms") for event in answer.events or () if event.get("type") == "RetryScheduled"]
        if delays:
            wanted: list[JsonValue] = [event.deadline_ms for event in delays]
            yield Point(JITTER, told == wanted, {"deadlines": wanted}, {"deadlines": told})


def _of_code(question: Query, truth: Rejection, answer: Decided, setting: Setting) -> Iterator[Point]:
    code = answer.code or ""
    expected, actual = _words(Decided(allowed=False, code=truth.code, disposition=truth.disposition)), _words(answer)
    right = {truth.code, *question.codes}
    if not question.about and truth.code not in _FIRST:
        right |= set(REJECTION_CODES) - set(_FIRST)  # Any that applies is right; which do, only the written ones know.
    if code not in right:
        _keep_to_what_is_accepted(question, setting.ask)
    about = question.about if code in REJECTION_CODES else ""
    yield Point(about or CODES, code in right, expected, actual)
    if truth.disposition is not None:
        yield Point(DISPOSITIONS, answer.disposition == truth.disposition, expected, actual)


def _keep_to_what_is_accepted(question: Query, ask: Ask) -> None:
    """Make sure that a kernel accepts the history before a command. Raises `BesideThePoint`."""
    if question.about and question.history and not ask(question.history).accepted:
        raise BesideThePoint


def _takes_its_own(question: Query, answer: Decided, ask: Ask) -> bool:
    """Tell whether a kernel accepts the events that it gives itself, and nothing is owed after them."""
    batch = tuple(Entry(RUNTIME_VERSION, event) for event in answer.events or ())
    if not batch:
        return False
    found = ask((*question.history, *batch))
    return found.accepted and found.whole is True


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a batch is not what it must be."""

    number: int
    """Of the event, from 0."""
    expected: JsonValue
    actual: JsonValue


def _difference(truth: Truth, events: Sequence[JsonObject], *, is_settling: bool) -> Difference | None:
    """Return the first event of a batch that is wrong, missing or too much. What is free may be otherwise."""
    assert isinstance(truth.decided, tuple)
    state = truth.state
    for number, document in enumerate(events):
        wanted = truth.decided[number] if number < len(truth.decided) else None
        wrong = Difference(number, None if wanted is None else document_of(wanted), dict(document))
        if wanted is None:
            return wrong
        try:
            event = read_entry(Entry(RUNTIME_VERSION, document))
            is_free = number > 0 or is_settling
            if not is_free and canonical_json(document_of(event)) != canonical_json(document_of(wanted)):
                return wrong
            state = reduce(state, event)
        except HistoryError:
            return wrong
        if type(event) is not type(wanted):
            return wrong
    if len(events) < len(truth.decided):
        return Difference(len(events), document_of(truth.decided[len(events)]), None)
    return None


# In words


def words_of(truth: Truth) -> JsonValue:
    """Return what the model says, for people."""
    if isinstance(truth.decided, Rejection):
        return _words(Decided(allowed=False, code=truth.decided.code, disposition=truth.decided.disposition))
    if truth.decided is not None:
        return {"allowed": True, "version": RUNTIME_VERSION, "events": [short(event) for event in truth.decided]}
    if truth.restored is not None:
        return {"restored": True} if truth.state is not None else {"restored": False, "sequence": truth.sequence}
    if truth.error is not None:
        return {"accepted": False, "sequence": truth.sequence}
    return {"accepted": True, "whole": truth.owed is None}


def _words(answer: Answer) -> JsonValue:
    """Return an answer for people: without sentences, and without the state, of which only a part is ever judged."""
    if isinstance(answer, Reduced):
        told: JsonValue = msgspec.to_builtins(msgspec.structs.replace(answer, sentence=None, state=None, output=None))
        return told
    if isinstance(answer, Restored):
        of_restored: JsonValue = msgspec.to_builtins(msgspec.structs.replace(answer, sentence=None, state=None))
        return of_restored
    shown: dict[str, JsonValue] = msgspec.to_builtins(msgspec.structs.replace(answer, sentence=None, events=None))
    return shown if answer.events is None else {**shown, "events": [_short(event) for event in answer.events]}


def _short(document: JsonObject) -> JsonValue:
    try:
        return short(read_entry(Entry(RUNTIME_VERSION, document)))
    except HistoryError:
        return dict(document)
