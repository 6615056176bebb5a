"""Cases: a failing question as data, asked again of a fresh kernel, and made as small as it gets."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from perdure.kernel.values import JsonValue
from perdure_conformance.harness.targets import Target
from perdure_conformance.reducer.claims import PAGES
from perdure_conformance.reducer.contract import Decided, Restored, Shown
from perdure_conformance.reducer.questions import (
    Answer,
    BesideThePoint,
    Query,
    Setting,
    can_be_asked,
    hold,
    truth_about,
)
from perdure_conformance.reducer.room import KernelRoom
from perdure_conformance.reducer.shorter import shorter
from perdure_conformance.requirements import requirements_of
from perdure_conformance.rooms import QuestionCase, replay_questions, violation_in, with_fewer_before
from perdure_conformance.shrinking import smallest, within
from perdure_conformance.suite import Replay, Violation
from perdure_conformance.timeline import Moment, Timeline

_CHARACTERS_SHOWN = 400
_EVENTS_AT_MOST = 100_000


class ReducerCase(QuestionCase[Query], frozen=True, kw_only=True, tag="reducer"):
    """All that is needed to fail again: what was asked, the last question being the one that fails."""

    @property
    def size(self) -> int:
        """How many events the histories hold, and commands."""
        return sum(len(question.history) + (question.command is not None) for question in self.questions)

    @property
    def is_plausible(self) -> bool:
        """Whether its histories are no longer than those of checks, and about requirements of this profile."""
        known = {"", *(requirement.id for requirement in requirements_of(PAGES))}
        return self.size <= _EVENTS_AT_MOST and all(question.about in known for question in self.questions)

    def question_in_words(self, question: Query) -> Iterator[str]:
        """Yield a history, an event a line, and the command; or what a journal shows, a record a line."""
        if question.shown is not None:
            yield from _shown_in_words(question.shown)
            return
        for sequence, entry in enumerate(question.history, 1):
            yield f"{sequence}. v{entry.version} {compact(entry.event)}"
        if question.command is not None:
            yield f"command {compact(question.command)}"

    def timeline(self, answers: tuple[str, ...]) -> Timeline:
        """Return the history that fails, event by event, a lane for each node, and what is asked about it."""
        if not self.questions:
            return Timeline((), ())
        last = self.questions[-1]
        if last.shown is not None:
            return _of_what_is_shown(last.shown, answers)
        events = [entry.event for entry in last.history]
        lanes = list(dict.fromkeys(["the run", *filter(None, map(node_of, events)), "the kernel"]))
        moments = [Moment(lanes.index(node_of(event) or "the run"), type_of(event)) for event in events]
        asked = "reduce" if last.command is None else f"decide {type_of(last.command)}"
        moments.append(Moment(lanes.index("the kernel"), asked, answers[-1] if answers else ""))
        return Timeline(tuple(lanes), tuple(moments))


def _of_what_is_shown(shown: Shown, answers: tuple[str, ...]) -> Timeline:
    """Return what a journal shows, record by record, and that a run is to be restored from it."""
    moments = [Moment(0, f"record {record.sequence}") for record in shown.records]
    moments += [Moment(0, f"snapshot at {shown.snapshot.sequence}")] if shown.snapshot is not None else []
    moments.append(Moment(1, "restore", answers[-1] if answers else ""))
    return Timeline(("the journal", "the kernel"), tuple(moments))


def type_of(event: Mapping[str, JsonValue]) -> str:
    """Return what an event or a command is; it may be none that the model knows."""
    return str(event.get("type", "without a type"))


def node_of(event: Mapping[str, JsonValue]) -> str | None:
    """Return the node that an event is about; None if it is about none."""
    node = event.get("node", event.get("source"))
    return node if isinstance(node, str) else None


def _shown_in_words(shown: Shown) -> Iterator[str]:
    yield f"run {shown.run_id}"
    for number, record in enumerate(shown.records, 1):
        yield f"{number}. {record.sequence} {record.event_id} {_cut(ascii(record.body)[1:-1])}"
    if shown.snapshot is not None:
        yield f"snapshot {shown.snapshot.sequence} {_cut(ascii(shown.snapshot.body)[1:-1])}"


def compact(value: object) -> str:
    """Return a value on a line, cut."""
    return _cut(json.dumps(value, ensure_ascii=True, separators=(",", ":")))


def _cut(text: str) -> str:
    return text if len(text) <= _CHARACTERS_SHOWN else text[:_CHARACTERS_SHOWN] + "…"


def in_a_word(answer: Answer) -> str:
    """Return an answer in a word."""
    if isinstance(answer, Decided):
        return "allowed" if answer.allowed else f"rejected {answer.code or ''}".strip()
    if isinstance(answer, Restored):
        return "restored" if answer.restored else f"refused at {answer.sequence}"
    return "accepted" if answer.accepted else f"refused at {answer.sequence}"


def replay(case: ReducerCase, target: Target) -> Replay:
    """Ask again, of a fresh kernel."""
    room = KernelRoom(target, case.timeout_s)

    def ask(question: Query) -> tuple[str, Violation | None]:
        claims = room.describe().capabilities
        if not can_be_asked(question, claims):
            return "not asked: not claimed", None
        answer = room.ask(question)
        truth, setting = truth_about(question), Setting(claims, room.reduce)
        with contextlib.suppress(BesideThePoint):
            broken = violation_in(lambda: hold(question, truth, answer, setting, frozenset(case.off), Counter()))
            return in_a_word(answer), broken
        return in_a_word(answer), None

    return replay_questions(case, room, ask)


def shrink(case: ReducerCase, target: Target, *, attempts: int) -> ReducerCase:
    """Return the smallest case found that fails the same way, in so many attempts.

    A question that somebody wrote is small already: of those, only what is asked before is dropped.
    """
    if case.failure.startswith("fault:") or not case.questions:
        return case

    def fails(candidate: ReducerCase) -> bool:
        return replay(candidate, target).failure == case.failure

    still_fails = within(attempts, fails)
    fewer = with_fewer_before(case, still_fails)
    return fewer if case.questions[-1].about else smallest(fewer, still_fails, _smaller)


def _smaller(case: ReducerCase) -> Iterator[ReducerCase]:
    """Yield cases whose failing question is a little smaller, the boldest first."""
    *before, last = case.questions
    if last.shown is not None:
        return  # Its records are sealed: a shorter history has others.
    for history in shorter(last.history, is_decided=last.command is not None):
        question = msgspec.structs.replace(last, history=history)
        yield msgspec.structs.replace(case, questions=(*before, question))
