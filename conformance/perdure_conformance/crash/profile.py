"""The profile `crash`, as one value: `perdure crash` judges by it, and `perdure check journal --crash` by it too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from perdure.journal.contract import Capabilities, DurabilityLevel
from perdure_conformance.crash.campaign import (
    LAYERS,
    NOT_THERE,
    Outcome,
    Plan,
    crash,
    layers_of,
    level_of,
)
from perdure_conformance.crash.cases import CrashCase, case_of, replay, shrink
from perdure_conformance.crash.judge import AFTER_A_FAILED_SYNC, AFTER_AN_ERROR, LEVELS, PAGES, REQUIREMENTS
from perdure_conformance.crash.mutants import MUTANTS
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal import claims as of_journals
from perdure_conformance.journal.cases import JournalCase
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.requirements import Requirement
from perdure_conformance.rules import Rules
from perdure_conformance.suite import Finding, Judgement, Options, Profile, Progress, Sizes, say_nothing
from perdure_conformance.verdict import Depth, Verdict

JUDGED: Final = frozenset({*REQUIREMENTS.values(), AFTER_AN_ERROR, AFTER_A_FAILED_SYNC})
"""The requirements that are judged here."""

_APPENDS: Final[Mapping[Depth, int]] = {"quick": 2, "normal": 4, "deep": 12}


def under(plan: Plan) -> Profile[CrashCase, Capabilities]:
    """Return the profile as it is when this is tried, and judged as this."""
    return Profile(
        name="crash",
        pages=PAGES,
        subjects=JOURNALS,
        rules=Rules(is_claimed=partial(_is_claimed, plan)),
        nothing_claimed=Capabilities(),
        judge=partial(_judge, plan),
        case=CrashCase,
        replay=replay,
        shrink=shrink,
        level=partial(_level, plan),
        not_covered=lambda _claims, _verdicts: list(NOT_THERE),
        checks_of=checks_of,
        meanings={},
        mutants=MUTANTS,
        twins={},
        steps="requests",
        sizes=Sizes(unit="requests", largest=14, median=4),
    )


def checks_of(requirement: str) -> list[str]:
    """Return what is tried for a requirement."""
    if requirement not in JUDGED:
        return []
    return [f"perdure crash --layer {name}: {tried}" for name, tried in layers_of(requirement).items()]


def _is_claimed(plan: Plan, requirement: Requirement, claims: Capabilities, *, in_process: bool) -> bool:
    """Tell whether a requirement is judged: its level is claimed, or asked for."""
    del in_process
    level = plan.level or claims.durable
    if level is None or requirement.id not in JUDGED:
        return False
    return LEVELS.index(level_of(requirement.id)) <= LEVELS.index(level)


def _level(plan: Plan, claims: Capabilities, verdicts: Mapping[str, Verdict]) -> str:
    del verdicts
    return f"durable at {plan.level or claims.durable}"


def _judge(plan: Plan, target: Target, options: Options, progress: Progress = say_nothing) -> Judgement:
    """Judge a journal by its crashes. An adapter fault ends it, and is in the judgement."""
    judgement = Judgement()
    _add(judgement, plan, target, options, progress)
    return judgement


def _add(judgement: Judgement, plan: Plan, target: Target, options: Options, progress: Progress) -> None:
    outcome = crash(target, replace(plan, seed=options.seed, timeout_s=options.timeout_s), progress)
    judgement.description = judgement.description or outcome.description
    if outcome.fault is not None:
        fault = outcome.fault
        judgement.fault = fault if isinstance(fault, AdapterFault) else AdapterFault("silence", f"{fault}.")
    judgement.durations_s |= outcome.durations_s
    judgement.counts |= {name: sum(outcome.counts[each] for each in counted) for name, counted in _COUNTS.items()}
    for requirement in sorted(JUDGED):
        judgement.reached[requirement] = outcome.reached(requirement)
        if (why := outcome.why_open(requirement)) is not None:
            judgement.inconclusive[requirement] = why
    for requirement, found in outcome.broken().items():
        if outcome.is_judged_at(level_of(requirement)) and requirement not in options.switched_off:
            judgement.findings[requirement] = _finding(case_of(requirement, found, target, outcome), target)
    judgement.not_played += _beyond(outcome)


_COUNTS: Final[Mapping[str, tuple[str, ...]]] = {
    "states_of_the_disk": LEVELS,
    "kills": ("calls",),
    "calls_that_failed": ("errors",),
    "syncs_that_failed": ("failed syncs",),
}


def _finding(case: CrashCase, target: Target) -> Finding:
    return Finding(
        case=case,
        reproduced=replay(case, target).failure == case.failure,
        found_by=f"layer {case.layer}",
        answers=(),
        transcript="",
        stderr="",
        seconds=0.0,
        state=case.state,
    )


def _beyond(outcome: Outcome) -> Iterator[str]:
    """Yield what this says nothing about: layers that were not tried or are blind, and levels that are not claimed."""
    for name, reason in outcome.open.items():
        yield f"{name}: {reason}"
    for name, what in LAYERS.items():
        if name not in outcome.plan.layers:
            yield f"{name}: {what}; not asked for"
    for level in LEVELS:
        if not outcome.is_judged_at(level):
            yield _unclaimed(outcome, level)


def _unclaimed(outcome: Outcome, level: DurabilityLevel) -> str:
    if outcome.plan.level is not None:
        return f"durable={level}: above the level that was asked for"
    found = outcome.breaks(level)
    if found is None or found.level != level or outcome.breaks(LEVELS[LEVELS.index(level) - 1]):
        holds = outcome.highest_level is not None and LEVELS.index(level) <= LEVELS.index(outcome.highest_level)
        return f"durable={level}: not claimed" + (", and nothing was found against it" if holds else "")
    return f"durable={level}: not claimed, and it does not hold: {found.blame}; --level {level} tells more"


CRASH: Final = under(Plan())


def with_crashes(journals: Profile[JournalCase, Capabilities]) -> Profile[JournalCase, Capabilities]:
    """Return the profile of journals that is judged by crashes too, at the level that is claimed."""
    crashes = CRASH

    def is_claimed(requirement: Requirement, claims: Capabilities, *, in_process: bool) -> bool:
        owner = crashes if requirement.page in PAGES else journals
        return owner.rules.is_claimed(requirement, claims, in_process=in_process)

    def judge(target: Target, options: Options, progress: Progress = say_nothing) -> Judgement:
        judgement = journals.judge(target, options, progress)
        description = judgement.description
        if judgement.fault is None and description is not None and _is_asked(options, description.capabilities):
            _add(judgement, _plan(options), target, options, progress)
        return judgement

    def level(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> str:
        of_journal = journals.level(claims, verdicts)
        return of_journal if claims.durable is None else f"{of_journal}, {crashes.level(claims, verdicts)}"

    def not_covered(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> list[str]:
        of_journal = (each for each in of_journals.not_judged(claims, verdicts) if not each.startswith("durable="))
        return [*of_journal, *crashes.not_covered(claims, verdicts)]

    def checks(requirement: str) -> list[str]:
        return checks_of(requirement) if requirement in JUDGED else journals.checks_of(requirement)

    return replace(
        journals,
        pages=(*journals.pages, *PAGES),
        rules=replace(journals.rules, is_claimed=is_claimed),
        judge=judge,
        level=level,
        not_covered=not_covered,
        checks_of=checks,
    )


def _plan(options: Options) -> Plan:
    """Return what is tried in a check: the layers that judge what is selected."""
    wanted = {name for requirement in JUDGED - options.switched_off for name in layers_of(requirement)}
    return Plan(layers=tuple(name for name in LAYERS if name in wanted), appends=_APPENDS[options.depth])


def _is_asked(options: Options, claims: object) -> bool:
    """Tell whether anything about crashes is to be judged."""
    return isinstance(claims, Capabilities) and claims.durable is not None and not options.switched_off >= JUDGED
