"""Cases: a failing question as data, asked again of a fresh kernel, and made as small as it gets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.judging import replayed
from perdure_conformance.reducer.claims import PAGES
from perdure_conformance.reducer.contract import Decided
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
from perdure_conformance.shrinking import fewest, smallest, within
from perdure_conformance.suite import Case, Inconclusive, Replay, Violation

_CHARACTERS_SHOWN = 400
_EVENTS_AT_MOST = 100_000


class ReducerCase(Case, frozen=True, kw_only=True, tag="reducer"):
    """All that is needed to fail again: what was asked, the last question being the one that fails."""

    questions: Annotated[tuple[Query, ...], Meta(max_length=1000)]

    @property
    def size(self) -> int:
        """How many events the histories hold, and commands."""
        return sum(len(question.history) + (question.command is not None) for question in self.questions)

    @property
    def needs_prior_state(self) -> bool:
        """Whether it fails only after other questions."""
        return len(self.questions) > 1

    @property
    def is_plausible(self) -> bool:
        """Whether its histories are no longer than those of checks, and about requirements of this profile."""
        known = {"", *(requirement.id for requirement in requirements_of(PAGES))}
        return self.size <= _EVENTS_AT_MOST and all(question.about in known for question in self.questions)

    def in_words(self, answers: tuple[str, ...], *, whole: bool) -> list[str]:
        """Return the histories, an event a line, each with what was answered."""
        shown = self.questions if whole else self.questions[-1:]
        if not shown:
            return ["  (it failed before the first question)"]
        lines = []
        for question in shown:
            last = question is self.questions[-1]
            lines += ["  " + line for line in _in_words(question)]
            lines += [f"  → {answers[-1]}"] if last and answers else []
        return lines


def _in_words(question: Query) -> Iterator[str]:
    for sequence, entry in enumerate(question.history, 1):
        yield f"{sequence}. v{entry.version} {_compact(entry.event)}"
    if question.command is not None:
        yield f"command {_compact(question.command)}"


def _compact(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text if len(text) <= _CHARACTERS_SHOWN else text[:_CHARACTERS_SHOWN] + "…"


def in_a_word(answer: Answer) -> str:
    """Return an answer in a word."""
    if isinstance(answer, Decided):
        return "allowed" if answer.allowed else f"rejected {answer.code or ''}".strip()
    return "accepted" if answer.accepted else f"refused at {answer.sequence}"


def replay(case: ReducerCase, target: Target) -> Replay:
    """Ask again, of a fresh kernel."""
    room = KernelRoom(target, case.timeout_s)
    stop: Violation | AdapterFault | None = None
    answers: list[str] = []
    try:
        for question in case.questions:
            stop = None
            claims = room.describe().capabilities
            if not can_be_asked(question, claims):
                answers.append("not asked: not claimed")
                continue
            answer = room.ask(question)
            answers.append(in_a_word(answer))
            try:
                setting = Setting(claims, room.reduce)
                hold(question, truth_about(question), answer, setting, frozenset(case.off), Counter())
            except BesideThePoint:
                pass
            except Violation as violation:
                stop = violation
        _close_if_asked(case, room)
    except Inconclusive:
        pass
    except AdapterFault as fault:
        stop = fault
    try:
        all_done = len(answers) == len(case.questions)
        return replayed(stop, answers[-1:], all_done=all_done, transcript=room.transcript.text(), stderr=room.stderr)
    finally:
        room.remove()


def _close_if_asked(case: ReducerCase, room: KernelRoom) -> None:
    """Open and close in good order, where it failed so, or before the first question."""
    if case.failure.startswith("fault:"):
        room.describe()
        room.close()


def shrink(case: ReducerCase, target: Target, *, attempts: int) -> ReducerCase:
    """Return the smallest case found that fails the same way, in so many attempts.

    A question that somebody wrote is small already: of those, only what is asked before is dropped.
    """
    if case.failure.startswith("fault:") or not case.questions:
        return case
    *before, last = case.questions

    def fails(candidate: ReducerCase) -> bool:
        return replay(candidate, target).failure == case.failure

    still_fails = within(attempts, fails)
    fewer = fewest(tuple(before), lambda kept: still_fails(msgspec.structs.replace(case, questions=(*kept, last))))
    case = msgspec.structs.replace(case, questions=(*fewer, last))
    return case if last.about else smallest(case, still_fails, _smaller)


def _smaller(case: ReducerCase) -> Iterator[ReducerCase]:
    """Yield cases whose failing question is a little smaller, the boldest first."""
    *before, last = case.questions
    for history in shorter(last.history, is_decided=last.command is not None):
        question = msgspec.structs.replace(last, history=history)
        yield msgspec.structs.replace(case, questions=(*before, question))
