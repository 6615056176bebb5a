"""The profile `spec`, as one judgement: every pair, then drawn documents, and a verdict for each requirement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.judging import Court
from perdure_conformance.spec.cases import SpecCase, replay, shrink
from perdure_conformance.spec.claims import PAGES
from perdure_conformance.spec.contract import Capabilities, Description
from perdure_conformance.spec.documents import length_of
from perdure_conformance.spec.drawn import draw_documents
from perdure_conformance.spec.pairs import Pair, all_pairs
from perdure_conformance.spec.questions import Question, about, can_be_asked, hold
from perdure_conformance.spec.room import Room
from perdure_conformance.spec.rules import RULES
from perdure_conformance.suite import Inconclusive, Judgement, Options, Progress, Replay, Violation, say_nothing
from perdure_conformance.verdict import Depth

DRAWN: Final = "drawn documents"

_TOLD_OF_ALL: Final = frozenset({"SPC-002", "SPC-028", "SPC-029"})
"""Judged whenever a document is accepted or refused, whatever it is there for."""

_LAPSES: Final = frozenset({"error", "exited"})
"""The faults of one answer: a validator that is opened again may still answer the next question."""

_LAPSES_BORNE: Final = 4
"""The next one ends the judgement."""

_HISTORY_KEPT: Final = 1_000
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


class _SpecCourt(Court[SpecCase, Capabilities]):
    """One judgement of a validator under way."""

    def __init__(self, target: Target, options: Options, progress: Progress) -> None:
        super().__init__(target, options, progress, RULES, PAGES)
        self._room = Room(target, options.timeout_s)
        self._plan = PLANS[options.depth]
        self._history: list[Question] = []
        self._asked = 0
        self._unanswered: dict[str, None] = {}
        """Requirements that a question was asked for which had no answer, but an exception or an exit."""

    def describe(self) -> Description:
        """Learn what is claimed."""
        return self._room.describe()

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

    def close(self) -> None:
        """End the validator in good order."""
        self._room.close()

    def remove(self) -> None:
        """Leave nothing behind, and add up."""
        self._room.remove()
        self.judgement.counts["documents"] = self._asked
        if self.judgement.lapses:
            why = _in_words(self.judgement.faults, self._asked)
            self.judgement.inconclusive.update(dict.fromkeys(self._unanswered, why))

    def bare_case(self, stop: AdapterFault) -> SpecCase:
        """Return the case without a question."""
        return self._case(stop, (), frozenset())

    def with_history(self, case: SpecCase) -> SpecCase:
        """Return a case with the questions before it."""
        before = tuple(self._history[:-1][-_HISTORY_KEPT:])
        return msgspec.structs.replace(case, questions=(*before, *case.questions))

    def replay(self, case: SpecCase) -> Replay:
        """Ask again, of a fresh validator."""
        return replay(case, self.target)

    def shrink(self, case: SpecCase) -> SpecCase:
        """Make a case smaller."""
        return shrink(case, self.target, attempts=self._plan.attempts_to_shrink)

    def seen(self, case: SpecCase) -> str:
        """Return what was said."""
        del case
        return self._room.transcript.text()

    def _draw(self, seed: int) -> None:
        for document in self.each(DRAWN, draw_documents(self._plan.documents, seed)):
            self._ask(Question(document), DRAWN)

    def _ask(self, question: Question, found_by: str) -> None:
        """Ask one question. What is known to be broken is not asked about again."""
        if not can_be_asked(question, self.claims):
            return
        off = self.options.switched_off | frozenset(self.judgement.findings)
        if length_of(question.document) <= _HISTORY_CHARACTERS:
            self._history.append(question)
        self._asked += 1
        try:
            hold(question, self._room.ask(question), self.claims, off, self.judgement.reached)
        except Violation as violation:
            self.keep(violation, self._case(violation, (question,), off), found_by)
        except Inconclusive as error:
            if question.about:
                self.judgement.inconclusive[question.about] = f"{error}"
            else:
                self.judgement.cut_short = True
        except AdapterFault as fault:
            self.keep(fault, self._case(fault, (question,), frozenset()), found_by)
            if fault.kind not in _LAPSES or len(self.judgement.lapses) >= _LAPSES_BORNE:
                raise
            self.judgement.lapses.append(fault)
            self._unanswered[about(question)] = None
            self._history.clear()  # What comes next is asked of another process, or of another object.

    def _case(self, stop: Violation | AdapterFault, questions: tuple[Question, ...], off: frozenset[str]) -> SpecCase:
        return SpecCase(questions=questions, in_own_process=False, **self.circumstances(stop, off))


def _in_words(faults: Sequence[AdapterFault], asked: int) -> str:
    """Return what became of the questions that had no answer."""
    how = "raised" if all(fault.kind == "error" for fault in faults) else "raised or exited"
    return f"the validator {how} on {len(faults)} of {asked} documents, first: {faults[0].sentence}"
