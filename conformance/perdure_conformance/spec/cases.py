"""Cases: a failing question as data, asked again of a fresh validator, and made as small as it gets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from perdure.kernel.values import JsonError, JsonValue, read_json
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.requirements import requirements_of
from perdure_conformance.rooms import QuestionCase, replay_questions, violation_in, with_fewer_before
from perdure_conformance.shrinking import chunks, smallest, within
from perdure_conformance.spec.claims import PAGES
from perdure_conformance.spec.documents import MAX_CHARACTERS, length_of, text_of, written
from perdure_conformance.spec.places import parts
from perdure_conformance.spec.questions import Question, can_be_asked, hold, truth_about
from perdure_conformance.spec.room import ValidatorRoom
from perdure_conformance.suite import Inconclusive, Replay, Violation

_CHARACTERS_SHOWN = 4_000
_CHARACTERS_SHRUNK = 100_000


class SpecCase(QuestionCase[Question], frozen=True, kw_only=True, tag="spec"):
    """All that is needed to fail again: what was asked, the last question being the one that fails."""

    asked = "documents"

    @property
    def size(self) -> int:
        """How many values the documents hold; of a text that is no JSON, its characters in tens."""
        return sum(_size(question) for question in self.questions)

    @property
    def is_plausible(self) -> bool:
        """Whether its documents are no longer than those of checks, and about requirements of this profile."""
        known = {"", *(requirement.id for requirement in requirements_of(PAGES))}
        lengths = sum(length_of(question.document) for question in self.questions)
        return lengths <= MAX_CHARACTERS and all(question.about in known for question in self.questions)

    def question_in_words(self, question: Question) -> Iterable[str]:
        """Return a document, and the handlers that were given with it."""
        return in_words(question)


def _size(question: Question) -> int:
    if length_of(question.document) > _CHARACTERS_SHRUNK:
        return 1 + sum(isinstance(piece, str) for piece in question.document)
    try:
        return sum(1 for _ in parts(json.loads(text_of(question.document))))
    except (ValueError, RecursionError):
        return 1 + length_of(question.document) // 10


def in_words(question: Question) -> list[str]:
    """Return a document, and the handlers that were given with it; what is long is cut."""
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
    room = ValidatorRoom(target, case.timeout_s)

    def ask(question: Question) -> tuple[str, Violation | None]:
        claims = room.describe().capabilities
        if not can_be_asked(question, claims):
            return "not asked: handlers are not claimed", None
        answer = room.ask(question)
        broken = violation_in(lambda: hold(question, answer, claims, frozenset(case.off), Counter()))
        return "valid" if answer.valid else "refused", broken

    return replay_questions(case, room, ask)


def shrink(case: SpecCase, target: Target, *, attempts: int) -> SpecCase:
    """Return the smallest case found that fails the same way, in so many attempts."""
    if case.failure.startswith("fault:") or not case.questions:
        return case
    if case.needs_prior_state:
        return _shrunk_with_prior_state(case, target, attempts)
    room = ValidatorRoom(target, case.timeout_s)
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

    still_fails = within(attempts, fails)
    return smallest(with_fewer_before(case, still_fails), still_fails, _smaller)


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
