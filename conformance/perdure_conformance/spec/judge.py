"""The profile `spec`, as one judgement: every pair, then drawn documents, and a verdict for each requirement."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

import msgspec

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.spec.cases import SpecCase, replay, shrink
from perdure_conformance.spec.documents import length_of
from perdure_conformance.spec.drawn import draw_documents
from perdure_conformance.spec.pairs import Pair, all_pairs
from perdure_conformance.spec.questions import Question
from perdure_conformance.spec.room import Inconclusive, Room
from perdure_conformance.suite import (
    Finding,
    Judgement,
    Options,
    Progress,
    Violation,
    difference,
    failure_of,
    say_nothing,
)
from perdure_conformance.verdict import Depth

DRAWN: Final = "drawn documents"

_TOLD_OF_ALL: Final = frozenset({"SPC-002", "SPC-028", "SPC-029"})
"""Judged whenever a document is accepted or refused, whatever it is there for."""

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
    court = _Court(target, options, progress)
    try:
        court.describe()
        if "scripts" in options.parts:
            court.ask_pairs()
        if "machine" in options.parts:
            court.ask_drawn()
        court.close()
    except AdapterFault as fault:
        court.judgement.fault = fault
    finally:
        court.room.remove()
    return court.judgement


class _Court:
    """One judgement under way."""

    def __init__(self, target: Target, options: Options, progress: Progress) -> None:
        self.judgement = Judgement()
        self.room = Room(target, options.timeout_s)
        self._target = target
        self._options = options
        self._progress = progress
        self._plan = PLANS[options.depth]
        self._started = time.monotonic()
        self._history: list[Question] = []

    def describe(self) -> None:
        """Learn what is claimed."""
        try:
            self.judgement.description = self.room.describe()
        except AdapterFault as fault:
            self._keep(fault, "initialize")
            raise

    def close(self) -> None:
        """End the validator in good order."""
        try:
            self.room.close()
        except AdapterFault as fault:
            self._keep(fault, "shutdown")
            raise

    def ask_pairs(self) -> None:
        """Ask about both documents of each pair."""
        began = time.monotonic()
        only = self._options.only
        pairs = [pair for pair in all_pairs() if not only or only & (_reaches(pair) | _TOLD_OF_ALL)]
        for done, pair in enumerate(pairs):
            self._progress("pairs", done, len(pairs))
            for document in (pair.rejected, pair.accepted):
                if document is not None:
                    self._ask(Question(document, pair.handlers, pair.requirement), pair.name)
        self._progress("pairs", len(pairs), len(pairs))
        self.judgement.durations_s["pairs"] = time.monotonic() - began

    def ask_drawn(self) -> None:
        """Draw round after round, each without what is known already, until one finds nothing new."""
        began = time.monotonic()
        for round_ in range(self._plan.rounds):
            known = len(self.judgement.findings)
            self._draw(self._options.seed + round_)
            if len(self.judgement.findings) == known:
                break
        self.judgement.durations_s[DRAWN] = time.monotonic() - began

    def _draw(self, seed: int) -> None:
        drawn = draw_documents(self._plan.documents, seed)
        for done, document in enumerate(drawn):
            self._progress(DRAWN, done, len(drawn))
            self._ask(Question(document), DRAWN)
        self._progress(DRAWN, len(drawn), len(drawn))

    def _ask(self, question: Question, found_by: str) -> None:
        """Ask one question. What is known to be broken is not asked about again."""
        off = self._options.switched_off | frozenset(self.judgement.findings)
        if length_of(question.document) <= _HISTORY_CHARACTERS:
            self._history.append(question)
        try:
            self.room.judge(question, off, self.judgement.reached)
        except Violation as violation:
            self._keep(violation, found_by, question, off)
        except Inconclusive:
            if question.about:
                self.judgement.inconclusive.add(question.about)
            else:
                self.judgement.cut_short = True
        except AdapterFault as fault:
            self._keep(fault, found_by, question)
            raise

    def _keep(
        self,
        stop: Violation | AdapterFault,
        found_by: str,
        question: Question | None = None,
        off: frozenset[str] = frozenset(),
    ) -> None:
        """Confirm a failure on a fresh validator, make it smaller, and keep it."""
        seconds = time.monotonic() - self._started
        seen = SpecCase(
            target=self._target.words(),
            in_own_process=False,
            timeout_s=self._options.timeout_s,
            seed=self._options.seed,
            questions=(question,) if question is not None else (),
            off=tuple(sorted(off)),
            failure=failure_of(stop),
            **difference(stop),
        )
        is_silence = seen.failure == "fault:silence"  # Each further look would cost a time-out.
        case = None if is_silence else self._confirmed(seen)
        again = replay(case, self._target) if case is not None else None
        if case is not None and again is not None:
            case = msgspec.structs.replace(case, expected=again.expected, actual=again.actual)
        self.judgement.findings[seen.failure] = Finding(
            case=case or seen,
            reproduced=None if is_silence else case is not None,
            found_by=found_by,
            answers=again.answers if again else (),
            transcript=again.transcript if again else self.room.transcript.text(),
            stderr=again.stderr if again else stop.stderr if isinstance(stop, AdapterFault) else "",
            seconds=seconds,
        )

    def _confirmed(self, seen: SpecCase) -> SpecCase | None:
        """Return the smallest case that fails the same way on a fresh validator, alone or after what came before."""
        before = tuple(self._history[:-1][-_HISTORY_KEPT:])
        with_history = msgspec.structs.replace(seen, questions=(*before, *seen.questions))
        for candidate in (seen, with_history):
            if replay(candidate, self._target).failure == seen.failure:
                if not self._options.smaller:
                    return candidate
                return shrink(candidate, self._target, attempts=self._plan.attempts_to_shrink)
        return None
