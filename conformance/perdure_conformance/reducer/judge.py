"""The profile `reducer`, as one judgement: every scenario, the golden vectors, drawn runs, generated histories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.reducer.cases import ReducerCase, replay, shrink
from perdure_conformance.reducer.claims import PAGES
from perdure_conformance.reducer.contract import Capabilities
from perdure_conformance.reducer.drawn import draw_questions
from perdure_conformance.reducer.generated import Generated, generate
from perdure_conformance.reducer.golden import golden_questions
from perdure_conformance.reducer.questions import (
    BesideThePoint,
    Query,
    Setting,
    Truth,
    can_be_asked,
    hold,
    question_about,
)
from perdure_conformance.reducer.room import KernelRoom
from perdure_conformance.reducer.rules import RULES
from perdure_conformance.reducer.scenarios import all_scenarios
from perdure_conformance.reducer.scenarios.scenario import Side
from perdure_conformance.rooms import QuestionCourt
from perdure_conformance.suite import Judgement, Options, Progress, Replay, Violation, say_nothing
from perdure_conformance.verdict import Depth

DRAWN: Final = "drawn runs"
GOLDEN: Final = "golden vectors"
GENERATED: Final = "generated histories"
FOUND_BY: Final[Mapping[str, str]] = {
    DRAWN: "A check that draws: runs of specifications that nobody wrote, from the seed; each event that is decided "
    "and each state is compared with the model's, and what fails is made smaller.",
    GOLDEN: "A check of the vectors in `fixtures/`: a question in a file each, with the model's answer.",
    GENERATED: "A check by as many histories as `--generated N` says, drawn from the seed, half of them damaged.",
}
"""What a failure may be found by that is no written check, in words."""

_ENOUGH: Final = 10
"""So many requirements that generated histories show to be broken are enough."""


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
    return [scenario.name for scenario in all_scenarios() if scenario.requirement == requirement] + [GOLDEN, DRAWN]


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
        self._disagreements = 0

    def ask_written(self) -> None:
        """Ask all sides of each scenario, and then the golden vectors."""
        only = self.options.only
        chosen = [scenario for scenario in all_scenarios() if not only or scenario.requirement in only]
        if self.options.depth == "quick":
            chosen = [scenario for scenario in chosen if not scenario.is_heavy]
        self._ask_all((scenario.name, side) for scenario in self.each("scenarios", chosen) for side in scenario.sides)
        self._ask_golden()

    def _ask_golden(self) -> None:
        """Ask about the golden vectors, unless something is known to be broken, as with what is drawn."""
        only = self.options.only
        if self.options.off or self.judgement.findings:
            self.judgement.not_played.append(f"{GOLDEN}: not asked about, since something failed before")
            return
        asked = [(name, side) for name, side in golden_questions() if not only or side.question.about in only]
        self._ask_all(self.each(GOLDEN, asked))

    def _ask_all(self, asked: Iterable[tuple[str, Side]]) -> None:
        """Ask; what is beside the point is asked again without a requirement, if nothing was found."""
        beside: list[tuple[str, Side]] = []
        for name, side in asked:
            is_asked = can_be_asked(side.question, self.claims)
            if is_asked and not self._ask(side.question, side.truth, name):
                beside.append((name, side))
        if not self.options.off and not self.judgement.findings:
            for name, side in beside:
                self._ask(msgspec.structs.replace(side.question, about="", shared=0), side.truth, name)

    def ask_drawn(self) -> None:
        """Ask about drawn runs and generated histories.

        Not if something is known to be broken: it would be found again, by other names.
        """
        self._ask_runs()
        self._ask_generated()

    def _ask_runs(self) -> None:
        if self.options.off or self.judgement.findings:
            self.judgement.not_played.append(f"{DRAWN}: not played, since something failed before")
            return
        for question, truth in self.each(DRAWN, draw_questions(self._plan.runs, self.options.seed)):
            if can_be_asked(question, self.claims):
                self._ask(question, truth, DRAWN)
                if self.judgement.findings:
                    self.judgement.not_played.append(f"{DRAWN}: played up to the first failure")
                    return

    def _ask_generated(self) -> None:
        """Ask about as many generated histories as are wanted, one after the other, and count the disagreements."""
        count = self.options.generated
        if not count:
            return
        if self.options.off or self.judgement.findings:
            self.judgement.not_played.append(f"{GENERATED}: not compared, since something failed before")
            return
        for done, each in enumerate(generate(count, self.options.seed)):
            self.progress(GENERATED, done, count)
            self._compare(each)
            self.judgement.counts[GENERATED] = done + 1
            if len(self.judgement.findings) >= _ENOUGH:
                break
        self.judgement.counts["disagreements"] = self._disagreements

    def _compare(self, generated: Generated) -> None:
        question, truth = question_about(generated.history)

        def compare(off: frozenset[str]) -> None:
            answer, setting = self._room.ask(question), Setting(self.claims, self._room.reduce)
            try:
                hold(question, truth, answer, setting, frozenset(), self.judgement.reached)
            except Violation as violation:
                self._disagreements += 1
                if violation.requirement not in off:
                    raise

        self.put(question, compare, str(generated), is_kept=False)

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
