"""The profile `reducer`, as one judgement: every scenario, then drawn runs, and a verdict for each requirement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.judging import Court
from perdure_conformance.reducer.cases import ReducerCase, replay, shrink
from perdure_conformance.reducer.claims import PAGES
from perdure_conformance.reducer.contract import Capabilities, Description
from perdure_conformance.reducer.drawn import draw_questions
from perdure_conformance.reducer.questions import BesideThePoint, Query, Setting, Truth, can_be_asked, hold
from perdure_conformance.reducer.room import KernelRoom
from perdure_conformance.reducer.rules import RULES
from perdure_conformance.reducer.scenarios import all_scenarios
from perdure_conformance.reducer.scenarios.scenario import Side
from perdure_conformance.suite import Inconclusive, Judgement, Options, Progress, Replay, Violation, say_nothing
from perdure_conformance.verdict import Depth

DRAWN: Final = "drawn runs"

_LAPSES: Final = frozenset({"error", "exited"})
"""The faults of one answer: a kernel that is opened again may still answer the next question."""

_LAPSES_BORNE: Final = 4
"""The next one ends the judgement."""

_HISTORY_KEPT: Final = 1_000


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is tried at a depth."""

    runs: int
    attempts_to_shrink: int


PLANS: Final[dict[Depth, Plan]] = {
    "quick": Plan(runs=15, attempts_to_shrink=200),
    "normal": Plan(runs=150, attempts_to_shrink=600),
    "deep": Plan(runs=2_000, attempts_to_shrink=2_000),
}


def checks_of(requirement: str) -> list[str]:
    """Return the names of all checks that judge a requirement."""
    return [scenario.name for scenario in all_scenarios() if scenario.requirement == requirement] + [DRAWN]


def judge(target: Target, options: Options, progress: Progress = say_nothing) -> Judgement:
    """Judge a kernel. An adapter fault ends it, and is in the judgement."""
    return _ReducerCourt(target, options, progress).judge()


class _ReducerCourt(Court[ReducerCase, Capabilities]):
    """One judgement of a kernel under way."""

    def __init__(self, target: Target, options: Options, progress: Progress) -> None:
        super().__init__(target, options, progress, RULES, PAGES)
        self._room = KernelRoom(target, options.timeout_s)
        self._plan = PLANS[options.depth]
        self._history: list[Query] = []
        self._asked = 0
        self._unanswered: dict[str, None] = {}
        """Requirements that a question was asked for which had no answer, but an exception or an exit."""

    def describe(self) -> Description:
        """Learn what is claimed."""
        return self._room.describe()

    def ask_written(self) -> None:
        """Ask all sides of each scenario."""
        only = self.options.only
        chosen = [scenario for scenario in all_scenarios() if not only or scenario.requirement in only]
        if self.options.depth == "quick":
            chosen = [scenario for scenario in chosen if not scenario.is_heavy]
        beside: list[tuple[str, Side]] = []
        for scenario in self.each("scenarios", chosen):
            for side in scenario.sides:
                is_asked = can_be_asked(side.question, self.claims)
                if is_asked and not self._ask(side.question, side.truth, scenario.name):
                    beside.append((scenario.name, side))
        if not self.options.off and not self.judgement.findings:
            for name, side in beside:
                self._ask(msgspec.structs.replace(side.question, about="", shared=0), side.truth, name)

    def ask_drawn(self) -> None:
        """Ask about drawn runs, unless something is known to be broken: it would be found again, by other names."""
        if self.options.off or self.judgement.findings:
            return
        for question, truth in self.each(DRAWN, draw_questions(self._plan.runs, self.options.seed)):
            if can_be_asked(question, self.claims):
                self._ask(question, truth, DRAWN)
                if self.judgement.findings:
                    return

    def close(self) -> None:
        """End the kernel in good order."""
        self._room.close()

    def remove(self) -> None:
        """Leave nothing behind, and add up."""
        self._room.remove()
        self.judgement.counts["questions"] = self._asked
        if self.judgement.lapses:
            faults = self.judgement.faults
            why = (
                f"the kernel raised or exited on {len(faults)} of {self._asked} questions, first: {faults[0].sentence}"
            )
            self.judgement.inconclusive.update(dict.fromkeys(self._unanswered, why))

    def bare_case(self, stop: AdapterFault) -> ReducerCase:
        """Return the case without a question."""
        return self._case(stop, (), frozenset())

    def with_history(self, case: ReducerCase) -> ReducerCase:
        """Return a case with the questions before it."""
        before = tuple(self._history[:-1][-_HISTORY_KEPT:])
        return msgspec.structs.replace(case, questions=(*before, *case.questions))

    def replay(self, case: ReducerCase) -> Replay:
        """Ask again, of a fresh kernel."""
        return replay(case, self.target)

    def shrink(self, case: ReducerCase) -> ReducerCase:
        """Make a case smaller."""
        return shrink(case, self.target, attempts=self._plan.attempts_to_shrink)

    def seen(self, case: ReducerCase) -> str:
        """Return what was said."""
        del case
        return self._room.transcript.text()

    def _ask(self, question: Query, truth: Truth, found_by: str) -> bool:
        """Ask one question, and tell whether the answer was to the point.

        What is known to be broken is not asked about again.
        """
        off = self.options.switched_off | frozenset(self.judgement.findings)
        if question.about in off:
            return True
        self._history.append(question)
        self._asked += 1
        try:
            answer = self._room.ask(question)
            hold(question, truth, answer, Setting(self.claims, self._room.reduce), off, self.judgement.reached)
        except BesideThePoint:
            return False
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
            if question.about:
                self._unanswered[question.about] = None
            self._history.clear()  # What comes next is asked of another process, or of another object.
        return True

    def _case(self, stop: Violation | AdapterFault, questions: tuple[Query, ...], off: frozenset[str]) -> ReducerCase:
        return ReducerCase(questions=questions, in_own_process=False, **self.circumstances(stop, off))
