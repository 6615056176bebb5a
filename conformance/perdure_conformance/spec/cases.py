"""Cases: a failing question as data, asked again of a fresh validator, and made as small as it gets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from perdure.kernel.values import JsonError, JsonValue, read_json
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.judging import replayed
from perdure_conformance.requirements import requirements_of
from perdure_conformance.shrinking import chunks, fewest, smallest, within
from perdure_conformance.spec.claims import PAGES
from perdure_conformance.spec.documents import MAX_CHARACTERS, length_of, text_of, written
from perdure_conformance.spec.places import parts
from perdure_conformance.spec.questions import Question, can_be_asked, hold, truth_about
from perdure_conformance.spec.room import Room
from perdure_conformance.suite import Case, Inconclusive, Replay, Violation

_CHARACTERS_SHOWN = 4_000
_CHARACTERS_SHRUNK = 100_000


class SpecCase(Case, frozen=True, kw_only=True, tag="spec"):
    """All that is needed to fail again: what was asked, the last question being the one that fails."""

    questions: Annotated[tuple[Question, ...], Meta(max_length=1000)]

    @property
    def size(self) -> int:
        """How many values the documents hold; of a text that is no JSON, its characters in tens."""
        return sum(_size(question) for question in self.questions)

    @property
    def needs_prior_state(self) -> bool:
        """Whether it fails only after other questions."""
        return len(self.questions) > 1

    @property
    def is_plausible(self) -> bool:
        """Whether its documents are no longer than those of checks, and about requirements of this profile."""
        known = {"", *(requirement.id for requirement in requirements_of(PAGES))}
        lengths = sum(length_of(question.document) for question in self.questions)
        return lengths <= MAX_CHARACTERS and all(question.about in known for question in self.questions)

    def in_words(self, answers: tuple[str, ...], *, whole: bool) -> list[str]:
        """Return the documents, each with what was answered."""
        shown = self.questions if whole else self.questions[-1:]
        if not shown:
            return ["  (it failed before the first question)"]
        lines = []
        for question in shown:
            last = question is self.questions[-1]
            lines += ["  " + line for line in _in_words(question)]
            lines += [f"  → {answers[-1]}"] if last and answers else []
        return lines


def _size(question: Question) -> int:
    if length_of(question.document) > _CHARACTERS_SHRUNK:
        return 1 + sum(isinstance(piece, str) for piece in question.document)
    try:
        return sum(1 for _ in parts(json.loads(text_of(question.document))))
    except (ValueError, RecursionError):
        return 1 + length_of(question.document) // 10


def _in_words(question: Question) -> list[str]:
    pieces = [
        piece if isinstance(piece, str) else f"⟨{piece.text!a}, {piece.times:,} times⟩" for piece in question.document
    ]
    text = "".join(pieces)
    lines = [text if len(text) <= _CHARACTERS_SHOWN else text[:_CHARACTERS_SHOWN] + "…"]
    if question.handlers is not None:
        handlers = [f"{handler.name} {handler.version} ({', '.join(handler.inputs)})" for handler in question.handlers]
        lines.append(f"handlers: {'; '.join(handlers) or 'none'}")
    return lines


def replay(case: SpecCase, target: Target) -> Replay:
    """Ask again, of a fresh validator."""
    room = Room(target, case.timeout_s)
    stop: Violation | AdapterFault | None = None
    answers: list[str] = []
    try:
        for question in case.questions:
            stop = None
            if not can_be_asked(question, room.describe().capabilities):
                answers.append("not asked: handlers are not claimed")
                continue
            answer = room.ask(question)
            answers.append("valid" if answer.valid else "refused")
            try:
                hold(question, answer, room.describe().capabilities, frozenset(case.off), Counter())
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


def _close_if_asked(case: SpecCase, room: Room) -> None:
    """Open and close in good order, where it failed so, or before the first question."""
    if case.failure.startswith("fault:"):
        room.describe()
        room.close()


def shrink(case: SpecCase, target: Target, *, attempts: int) -> SpecCase:
    """Return the smallest case found that fails the same way, in so many attempts."""
    if case.failure.startswith("fault:") or not case.questions:
        return case
    if case.needs_prior_state:
        return _shrunk_with_prior_state(case, target, attempts)
    room = Room(target, case.timeout_s)
    broken = _broken(case)

    def fails(candidate: SpecCase) -> bool:
        if _broken(candidate) != broken:
            return False  # It would show something else.
        question = candidate.questions[-1]
        try:
            hold(question, room.ask(question), room.describe().capabilities, frozenset(case.off), Counter())
        except Violation as violation:
            return violation.requirement == case.failure
        except (Inconclusive, AdapterFault):
            return False
        return False

    try:
        return smallest(case, within(attempts, fails), _smaller)
    finally:
        room.remove()


def _broken(case: SpecCase) -> frozenset[str]:
    """Return the codes of what is wrong with the failing document."""
    last = case.questions[-1]
    problems = truth_about(last.document, last.handlers).problems
    return frozenset(problem.code for problem in problems if problem.severity == "error")


def _shrunk_with_prior_state(case: SpecCase, target: Target, attempts: int) -> SpecCase:
    """Drop questions before the failing one, and make that one smaller, each time asking a fresh validator."""
    broken = _broken(case)

    def fails(candidate: SpecCase) -> bool:
        return _broken(candidate) == broken and replay(candidate, target).failure == case.failure

    *before, last = case.questions
    still_fails = within(attempts, fails)
    fewer = fewest(tuple(before), lambda kept: still_fails(msgspec.structs.replace(case, questions=(*kept, last))))
    case = msgspec.structs.replace(case, questions=(*fewer, last))
    return smallest(case, still_fails, _smaller)


def _smaller(case: SpecCase) -> Iterator[SpecCase]:
    """Yield cases whose failing document is a little smaller, the boldest first."""
    *before, last = case.questions
    if length_of(last.document) > _CHARACTERS_SHRUNK:
        return
    try:
        value = read_json(text_of(last.document))
    except JsonError:
        return
    for smaller in _smaller_values(value):
        question = msgspec.structs.replace(last, document=written(smaller))
        yield msgspec.structs.replace(case, questions=(*before, question))


def _smaller_values(value: JsonValue) -> Iterator[JsonValue]:
    """Yield values that lack a part, first of what is nearest to the root, then of what is inside."""
    if isinstance(value, Mapping):
        for key in value:
            yield {other: item for other, item in value.items() if other != key}
        for key, item in value.items():
            for smaller in _smaller_values(item):
                yield {**value, key: smaller}
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for gone in chunks(len(value)):
            yield [*value[: gone.start], *value[gone.stop :]]
        if len(value) == 1:
            yield []
        for position, item in enumerate(value):
            for smaller in _smaller_values(item):
                yield [*value[:position], smaller, *value[position + 1 :]]
