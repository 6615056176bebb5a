"""The profile `spec`, as one judgement: every pair, then drawn documents, and a verdict for each requirement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.rooms import QuestionCourt
from perdure_conformance.spec.cases import SpecCase, replay, shrink
from perdure_conformance.spec.claims import PAGES
from perdure_conformance.spec.contract import Capabilities
from perdure_conformance.spec.documents import length_of
from perdure_conformance.spec.pairs import Pair, all_pairs
from perdure_conformance.spec.questions import Question, about, can_be_asked, hold
from perdure_conformance.spec.room import ValidatorRoom
from perdure_conformance.spec.rules import RULES
from perdure_conformance.suite import Judgement, Options, Progress, Replay, Violation, say_nothing
from perdure_conformance.verdict import Depth

DRAWN: Final = "drawn documents"
FOUND_BY: Final[Mapping[str, str]] = {
    DRAWN: "A check that draws: documents that nobody wrote, good ones and some with faults, from the seed; each "
    "verdict is compared with the model's, and what fails is made smaller.",
}
"""What a failure may be found by that is no written check, in words."""

_TOLD_OF_ALL: Final = frozenset({"SPC-002", "SPC-028", "SPC-029"})
"""Judged whenever a document is accepted or refused, whatever it is there for."""

_HISTORY_CHARACTERS: Final = 2**20


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is tried at a depth."""

    documents: int
    rounds: int
    """Drawing is done again, without what it has found, this often at most."""
    attempts_to_shrink: int


PLANS: Final[dict[Depth, Plan]] = {
    "quick": Plan(documents=60, rounds=3, attempts_to_shrink=400),
    "normal": Plan(documents=600, rounds=6, attempts_to_shrink=1_000),
    "deep": Plan(documents=4_000, rounds=12, attempts_to_shrink=4_000),
}


def checks_of(requirement: str) -> list[str]:
    """Return the names of all checks that judge a requirement."""
    if requirement in _TOLD_OF_ALL:
        return ["every pair", DRAWN]
    return [pair.name for pair in all_pairs() if requirement in _reaches(pair)] + [DRAWN]


def _reaches(pair: Pair) -> frozenset[str]:
    """Return the requirements that a pair is asked for."""
    more = {"EDG-007"} if pair.requirement == "EDG-002" else set()
    return frozenset({pair.requirement, *more})


def judge(target: Target, options: Options, progress: Progress = say_nothing) -> Judgement:
    """Judge a validator. An adapter fault ends it, and is in the judgement."""
    return _SpecCourt(target, options, progress).judge()


class _SpecCourt(QuestionCourt[SpecCase, Capabilities, Question]):
    """One judgement of a validator under way."""

    subject = "validator"
    counted = "documents"
    _room: ValidatorRoom

    def __init__(self, target: Target, options: Options, progress: Progress) -> None:
        super().__init__(ValidatorRoom(target, options.timeout_s), options, progress, RULES, PAGES)
        self._plan = PLANS[options.depth]

    def due(self, question: Question) -> str:
        """Return the requirement that the answer decides."""
        return about(question)

    def ask_written(self) -> None:
        """Ask about both documents of each pair."""
        only = self.options.only
        pairs = [pair for pair in all_pairs() if not only or only & (_reaches(pair) | _TOLD_OF_ALL)]
        for pair in self.each("pairs", pairs):
            for document in (pair.rejected, pair.accepted):
                if document is not None:
                    self._ask(Question(document, pair.handlers, pair.requirement), pair.name)

    def ask_drawn(self) -> None:
        """Ask about drawn documents."""
        self.rounds(DRAWN, self._plan.rounds, self._draw)

    def replay(self, case: SpecCase) -> Replay:
        """Ask again, of a fresh validator."""
        return replay(case, self.target)

    def shrink(self, case: SpecCase) -> SpecCase:
        """Make a case smaller."""
        return shrink(case, self.target, attempts=self._plan.attempts_to_shrink)

    def _draw(self, seed: int) -> None:
        from perdure_conformance.spec.drawn import draw_documents  # noqa: PLC0415 - to import what draws takes long

        for document in self.each(DRAWN, draw_documents(self._plan.documents, seed)):
            self._ask(Question(document), DRAWN)

    def _ask(self, question: Question, found_by: str) -> None:
        """Ask one question. What is known to be broken is not asked about again."""
        if not can_be_asked(question, self.claims):
            return
        self.put(
            question,
            lambda off: hold(question, self._room.ask(question), self.claims, off, self.judgement.reached),
            found_by,
            is_kept=length_of(question.document) <= _HISTORY_CHARACTERS,
        )

    def case(self, stop: Violation | AdapterFault, questions: tuple[Question, ...], off: frozenset[str]) -> SpecCase:
        """Return the case of questions, the last of which failed."""
        return SpecCase(questions=questions, in_own_process=False, **self.circumstances(stop, off))
