"""Layers 1 and 2 as a campaign: the program is watched from outside, killed, failed, and its power cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from perdure.journal.contract import Capabilities, DurabilityLevel
from perdure_conformance.crash import campaign
from perdure_conformance.crash.campaign import FILES, Outcome, Plan, level_of
from perdure_conformance.crash.cases import case_of, finding_of
from perdure_conformance.crash.findings import LAYERS, Found, Layer
from perdure_conformance.crash.judge import AFTER_A_FAILED_SYNC, AFTER_AN_ERROR, LEVELS, REQUIREMENTS
from perdure_conformance.crash.recording import what_watches
from perdure_conformance.crash.replay import Replay
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.suite import Judgement, Options, Progress

_JUDGED: Final = frozenset({*REQUIREMENTS.values(), AFTER_AN_ERROR, AFTER_A_FAILED_SYNC})
_COUNTS: Final[Mapping[str, tuple[str, ...]]] = {
    "states_of_the_disk": LEVELS,
    "kills": ("calls",),
    "calls_that_failed": ("errors",),
    "syncs_that_failed": ("failed syncs",),
}


@dataclass(frozen=True, slots=True)
class OfFiles:
    """A journal that keeps its files itself."""

    plan: Plan = field(default_factory=Plan)

    @property
    def layers(self) -> Mapping[Layer, bool]:
        """The layers that there are, and whether each is tried."""
        return {layer: layer in self.plan.layers for layer in FILES}

    @property
    def not_there(self) -> tuple[str, ...]:
        """What no layer of these shows."""
        return (
            "several clients, switched at each call: `perdure crash module:factory --layer schedule`, in Python alone",
            "connections that are cut, servers that are killed: `perdure crash` with --server",
            "a power cut after a kill: what was written before the kill, and not synced, is taken to be on the disk",
            "a failed sync of a directory behind which a file is synced, and one that succeeds when asked for again",
            "`not_stored` that is not so, behind a call that failed: the same is sent again at once, and acknowledged",
            "a disk that loses what it has synced, or damages what nobody wrote to",
            "two requests at a time: the workload sends one after the other",
        )

    def layers_of(self, requirement: str) -> tuple[Layer, ...]:
        """Return which layers judge a requirement; none if none of these does."""
        return campaign.layers_of(requirement) if requirement in _JUDGED else ()

    def is_claimed(self, requirement: str, claims: Capabilities) -> bool:
        """Tell whether the level of a requirement is claimed, or asked for."""
        level = self.plan.level or claims.durable
        return level is not None and LEVELS.index(level_of(requirement)) <= LEVELS.index(level)

    def level(self, claims: Capabilities) -> str:
        """Return what it shows if nothing is wrong."""
        return f"durable at {self.plan.level or claims.durable}"

    def judge(self, judgement: Judgement, target: Target, options: Options, progress: Progress) -> None:
        """Add to a judgement what came of all this. An adapter fault ends it, and is in the judgement."""
        plan = replace(self.plan, seed=options.seed, timeout_s=options.timeout_s, smaller=options.smaller)
        outcome = campaign.crash(target, plan, progress)
        judgement.description = judgement.description or outcome.description
        if outcome.fault is not None:
            fault = outcome.fault
            judgement.fault = fault if isinstance(fault, AdapterFault) else AdapterFault("silence", f"{fault}.")
        judgement.durations_s |= outcome.durations_s
        judgement.counts |= {name: sum(outcome.counts[each] for each in counted) for name, counted in _COUNTS.items()}
        for requirement in sorted(_JUDGED):
            judgement.reached[requirement] = outcome.reached(requirement)
            if (why := outcome.why_open(requirement)) is not None:
                judgement.inconclusive[requirement] = why
        self._keep(judgement, outcome, target, options)
        judgement.not_played += _beyond(outcome)

    def _keep(self, judgement: Judgement, outcome: Outcome, target: Target, options: Options) -> None:
        for requirement, found in sorted(outcome.broken().items()):
            if not outcome.is_judged_at(level_of(requirement)) or requirement in options.switched_off:
                continue
            assert outcome.description is not None, "what did not open was not crashed"
            case = case_of(
                found,
                target,
                options,
                outcome.description.capabilities,
                requirement=requirement,
                rebuildable=self.plan.rebuildable,
                holds=outcome.highest_level,
            )
            judgement.findings[requirement] = finding_of(case, target, found)

    def play(self, target: Target, replay: Replay, timeout_s: float) -> Found | None:
        """Play one line again. Raises as `campaign.play`."""
        return campaign.play(target, replay, timeout_s, self.plan.rebuildable)


def _beyond(outcome: Outcome) -> Iterator[str]:
    """Yield what this says nothing about: layers that were not tried or are blind, and levels that are not claimed."""
    if (what := what_watches()) is not None:
        yield what
    for name, reason in outcome.open.items():
        yield f"{name}: {reason}"
    for name in FILES:
        if name not in outcome.plan.layers:
            yield f"{name}: {LAYERS[name]}; not asked for"
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
