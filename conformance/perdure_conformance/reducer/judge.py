"""The profile `reducer`, as one judgement: every scenario, then drawn runs, and a verdict for each requirement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.reducer.cases import ReducerCase, replay, shrink
from perdure_conformance.reducer.claims import PAGES
from perdure_conformance.reducer.contract import Capabilities
from perdure_conformance.reducer.drawn import draw_questions
from perdure_conformance.reducer.questions import BesideThePoint, Query, Setting, Truth, can_be_asked, hold
from perdure_conformance.reducer.room import KernelRoom
from perdure_conformance.reducer.rules import RULES
from perdure_conformance.reducer.scenarios import all_scenarios
from perdure_conformance.reducer.scenarios.scenario import Side
from perdure_conformance.rooms import QuestionCourt
from perdure_conformance.suite import Judgement, Options, Progress, Replay, Violation, say_nothing
from perdure_conformance.verdict import Depth

DRAWN: Final = "drawn runs"


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


class _ReducerCourt(QuestionCourt[ReducerCase, Capabilities, Query]):
    """One judgement of a kernel under way."""

    subject = "kernel"
    counted = "questions"
    _room: KernelRoom

    def __init__(self, target: Target, options: Options, progress: Progress) -> None:
        super().__init__(KernelRoom(target, options.timeout_s), options, progress, RULES, PAGES)
        self._plan = PLANS[options.depth]

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
            self.judgement.not_played.append(f"{DRAWN}: not played, since something failed before")
            return
        for question, truth in self.each(DRAWN, draw_questions(self._plan.runs, self.options.seed)):
            if can_be_asked(question, self.claims):
                self._ask(question, truth, DRAWN)
                if self.judgement.findings:
                    self.judgement.not_played.append(f"{DRAWN}: played up to the first failure")
                    return

    def replay(self, case: ReducerCase) -> Replay:
        """Ask again, of a fresh kernel."""
        return replay(case, self.target)

    def shrink(self, case: ReducerCase) -> ReducerCase:
        """Make a case smaller."""
        return shrink(case, self.target, attempts=self._plan.attempts_to_shrink)

    def _ask(self, question: Query, truth: Truth, found_by: str) -> bool:
        """Ask one question, and tell whether the answer was to the point.

        What is known to be broken is not asked about again.
        """
        if question.about in self.off:
            return True
        setting = Setting(self.claims, self._room.reduce)
        try:
            self.put(
                question,
                lambda off: hold(question, truth, self._room.ask(question), setting, off, self.judgement.reached),
                found_by,
            )
        except BesideThePoint:
            return False
        return True

    def case(self, stop: Violation | AdapterFault, questions: tuple[Query, ...], off: frozenset[str]) -> ReducerCase:
        """Return the case of questions, the last of which failed."""
        return ReducerCase(questions=questions, in_own_process=False, **self.circumstances(stop, off))
