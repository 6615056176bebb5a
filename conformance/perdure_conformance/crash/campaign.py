"""All layers over one journal: what was tried, what was found, and the verdict on each requirement.

Source: `docs/spec/crash.md`; "Contract for an implementer" of the crash design.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from perdure.journal.contract import Description, DurabilityLevel
from perdure_conformance.crash import power
from perdure_conformance.crash.deviations import cut_of, deviations
from perdure_conformance.crash.disk import Cut
from perdure_conformance.crash.findings import Found, Layer
from perdure_conformance.crash.judge import (
    AFTER_A_FAILED_SYNC,
    AFTER_AN_ERROR,
    LEVELS,
    REQUIREMENTS,
    Rule,
    requirement_of,
)
from perdure_conformance.crash.record import record
from perdure_conformance.crash.recording import REBUILDABLE, Recording, watcher, why_not
from perdure_conformance.crash.recovery import Recoverer, recoverer, scratch
from perdure_conformance.crash.replay import Failure, Power, Replay, ReplayError, Undisturbed, Workload, parse
from perdure_conformance.crash.windows import CannotBeTried, Crashed, Judged, Part, Start, Windows
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import Target
from perdure_conformance.suite import Progress

FILES: Final[tuple[Layer, ...]] = ("calls", "power")
"""The layers that are tried here."""


def level_of(requirement: str) -> DurabilityLevel:
    """Return the level at which a requirement is judged."""
    errors: Mapping[str, DurabilityLevel] = {AFTER_AN_ERROR: "process-crash", AFTER_A_FAILED_SYNC: "ordered"}
    return {**{known: level for (level, _), known in REQUIREMENTS.items()}, **errors}[requirement]


def layers_of(requirement: str) -> tuple[Layer, ...]:
    """Return which layers judge a requirement."""
    if requirement == AFTER_AN_ERROR:
        return ("calls",)
    return FILES if level_of(requirement) == "process-crash" else ("power",)


_FEW: Final = 5
_FAILED_SYNCS: Final = 8
"""How many syncs are made to fail, one in each recording."""
_FEWEST: Final = 5
"""So many appends, and fewer, may show what was found with more."""
_OF_ERRORS: Final = frozenset({AFTER_AN_ERROR, AFTER_A_FAILED_SYNC})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is tried, and as what it is judged."""

    layers: Sequence[Layer] = FILES
    level: DurabilityLevel | None = None
    """At which level it is judged; None for that which it claims."""
    workload: str | None = None
    rebuildable: tuple[str, ...] = REBUILDABLE
    """Names of files that the journal makes anew whenever it likes, as patterns."""
    appends: int = 4
    seed: int = 1
    timeout_s: float = 10.0
    part: Part = (0, 1)
    """Which windows are tried."""
    until: str | None = None
    """The requirement that ends it once it is found broken; None if all is to be found."""
    smaller: bool = True
    """Whether what is found is looked for with fewer appends."""


@dataclass(slots=True)
class Outcome:
    """All that was learnt about one journal."""

    plan: Plan
    description: Description | None = None
    workload: Workload | None = None
    found: dict[str, Found] = field(default_factory=dict)
    """The first finding of each requirement."""
    counts: Counter[str] = field(default_factory=Counter)
    """How many states and windows were judged, by level, and `calls`."""
    open: dict[Layer, str] = field(default_factory=dict)
    """Why a layer says nothing, or not all, in a sentence."""
    fault: AdapterFault | Silence | None = None
    """What ended it."""
    highest_level: DurabilityLevel | None = None
    """The highest level at which nothing was found; None if there is none, or nothing can be said."""
    after_power: list[Crashed] = field(default_factory=list)
    """States of the disk of each kind, which the journal recovers from; now that recovery is disturbed."""
    not_failed: str | None = None
    """Why no sync can be made to fail, in a sentence."""
    durations_s: dict[str, float] = field(default_factory=dict)
    """How long each layer took."""

    @property
    def level(self) -> DurabilityLevel | None:
        """At which level it is judged."""
        if self.plan.level is not None or self.description is None:
            return self.plan.level
        return self.description.capabilities.durable

    def finding_of(self, level: DurabilityLevel, rule: Rule) -> Found | None:
        """Return what shows that a rule is broken at a level: its own finding, or one of a level beneath."""
        beneath = LEVELS[: LEVELS.index(level)]
        own = self.found.get(REQUIREMENTS.get((level, rule), ""))
        others = (
            each
            for each in self.found.values()
            if each.requirement not in _OF_ERRORS and each.rule == rule and each.level in beneath
        )
        return own or next(others, None)

    def breaks(self, level: DurabilityLevel) -> Found | None:
        """Return what shows that a level does not hold; None if nothing was found."""
        beneath = LEVELS[: LEVELS.index(level) + 1]
        found = [each for each in self.found.values() if each.requirement not in _OF_ERRORS]
        return next((each for level in beneath for each in found if each.level == level), None)

    def lower(self, level: DurabilityLevel) -> None:
        """Note that a level does not hold."""
        beneath = LEVELS[: LEVELS.index(level)]
        if self.highest_level not in beneath:
            self.highest_level = beneath[-1] if beneath else None

    def is_judged_at(self, level: DurabilityLevel) -> bool:
        """Tell whether a level is claimed, or asked for."""
        return self.level is not None and LEVELS.index(level) <= LEVELS.index(self.level)

    def reached(self, requirement: str) -> int:
        """Return how many crashes, or errors, were judged by a requirement."""
        if requirement == AFTER_AN_ERROR:
            return self.counts["errors"]
        if requirement == AFTER_A_FAILED_SYNC:
            return self.counts["failed syncs"]
        level = level_of(requirement)
        states = sum(self.counts[each] for each in LEVELS[: LEVELS.index(level) + 1])
        return states + (self.counts["calls"] if level == "process-crash" else 0)

    def why_open(self, requirement: str) -> str | None:
        """Return why nothing can be said of a requirement, if no layer that was asked for says anything."""
        asked = [name for name in layers_of(requirement) if name in self.plan.layers]
        if asked and all(name in self.open for name in asked):
            return self.open[asked[0]]
        if requirement == AFTER_A_FAILED_SYNC and self.not_failed is not None:
            return self.not_failed
        is_behind = requirement == AFTER_A_FAILED_SYNC and "CRS-011" in self.found
        return "CRS-011 is broken: where syncs are missing, none of them is made to fail" if is_behind else None

    def broken(self) -> Mapping[str, Found]:
        """Return what shows of each requirement that it is broken."""
        by_rule = {key: self.finding_of(*key) for key in REQUIREMENTS}
        shown = {REQUIREMENTS[key]: found for key, found in by_rule.items() if found is not None}
        return {**shown, **{key: found for key, found in self.found.items() if key in _OF_ERRORS}}


def crash(target: Target, plan: Plan, progress: Progress) -> Outcome:
    """Try all layers over a journal. A fault of the adapter where nothing disturbs it ends it."""
    outcome = Outcome(plan)
    with scratch() as folder:
        try:
            with recoverer(target, plan.timeout_s) as opened:
                outcome.description = opened.description
                outcome.workload = _workload(plan, opened.description)
                for name, layer in (("power", _cut_power), ("calls", _try_calls)):
                    if name in plan.layers:
                        began = time.monotonic()
                        layer(target, opened, folder, outcome, progress)
                        outcome.durations_s[name] = time.monotonic() - began
        except (AdapterFault, Silence) as fault:
            outcome.fault = fault
    return outcome


def play(target: Target, replay: Replay, timeout_s: float, rebuildable: Sequence[str] = REBUILDABLE) -> Found | None:
    """Play one line again; return what is wrong, None if nothing is.

    Raises `ReplayError` if the journal does otherwise than it did, `CannotBeTried`, `AdapterFault`, `Silence`.
    """
    with scratch() as folder, recoverer(target, timeout_s) as opened:
        *before, last = replay.faults
        if isinstance(replay.faults[0], Power) and before:
            return _play_recovery(target, replay, replay.faults[0], opened, folder, rebuildable)
        if not isinstance(last, Power):
            windows = Windows(target, replay.workload, opened, folder, timeout_s, rebuildable=rebuildable)
            judged = windows.play(replay)
            if judged.diverged is not None:
                raise ReplayError(judged.diverged)
            return _of_window(judged) if judged.broken is not None else None
        if not all(isinstance(fault, Failure) for fault in before[:1]) or before[1:]:
            raise ReplayError("Before a power cut, one call may fail, and nothing else may happen.")
        failure = next((fault for fault in before if isinstance(fault, Failure)), None)
        fault = failure or Undisturbed()
        if failure is not None and watcher() == "strace":
            # Strace goes by an ordinal in the thread, which the line of a replay does not have.
            counted = record(target, replay.workload, folder / "counted", timeout_s, rebuildable=rebuildable)
            fault = next((each for each in counted.syncs if each == failure), failure)
        recorded = record(target, replay.workload, folder / "recorded", timeout_s, fault, rebuildable)
        bench = power.Bench(recorded, opened, folder)
        cut = cut_of(last, bench.disk)
        _, wrong = bench.judge(cut)
        if wrong is None:
            return None
        found = power.finding(bench, last.level, cut)
        told = _of_power(found, recorded, bench, replay.workload, failure)
        return replace(told, stderr=opened.last_words().stderr)


def _play_recovery(
    target: Target, replay: Replay, power_cut: Power, opened: Recoverer, folder: Path, rebuildable: Sequence[str]
) -> Found | None:
    """Cut the power, and disturb the recovery from that."""
    timeout_s = opened.timeout_s
    recorded = record(target, replay.workload, folder / "recorded", timeout_s, rebuildable=rebuildable)
    bench = power.Bench(recorded, opened, folder)
    crashed = _crashed(power_cut, cut_of(power_cut, bench.disk), recorded, bench)
    windows = Windows(target, replay.workload, opened, folder, timeout_s, rebuildable=rebuildable)
    judged = windows.go_on(crashed, replay.faults[1:])
    if judged.diverged is not None:
        raise ReplayError(judged.diverged)
    return _of_window(judged) if judged.broken is not None else None


def _crashed(fault: Power, cut: Cut, recorded: power.Recorded, bench: power.Bench) -> Crashed:
    """Return a power cut as what a first start has left."""
    bench.judge(cut)
    answered = bench.disk.answered(cut.calls)
    start = Start(tuple(recorded.before(answered)), {}, Recording([]), None)
    return Crashed(fault, start, recorded.after(answered), bench.left(cut))


def _workload(plan: Plan, description: Description) -> Workload:
    claims = description.capabilities
    name = "caches" if claims.snapshots or claims.leases else "append"
    return Workload(plan.workload or name, plan.appends, plan.seed)


def _cut_power(target: Target, opened: Recoverer, folder: Path, outcome: Outcome, progress: Progress) -> None:
    reason = why_not()
    if reason is not None:
        outcome.open["power"] = reason
        return
    assert outcome.workload is not None
    progress("recording", 0, 1)
    plan = outcome.plan
    place = folder / "recorded"
    recorded = record(target, outcome.workload, place, plan.timeout_s, rebuildable=plan.rebuildable)
    wanted = outcome.plan.level
    levels = LEVELS if wanted is None else LEVELS[: LEVELS.index(wanted) + 1]
    bench = power.Bench(recorded, opened, folder)
    judged = power.judge(bench, levels=levels, seed=outcome.plan.seed, progress=lambda label: progress(label, 0, 1))
    if judged.blind:
        outcome.open["power"] = judged.blind[0]
        return
    for finding in judged.findings.values():
        outcome.found[finding.requirement] = _of_power(finding, recorded, bench, outcome.workload)
    _cut_power_with_fewer_appends(target, opened, folder, outcome, progress)
    outcome.counts.update({f"{level}": count for level, count in judged.states.items()})
    outcome.highest_level = judged.highest_level
    for level, cut in judged.kinds.values():
        if outcome.is_judged_at(level):
            fault = Power(level, cut.calls, deviations(cut, recorded.trace))
            outcome.after_power.append(_crashed(fault, cut, recorded, bench))
    if "ordered" in levels and "CRS-011" not in outcome.found:
        _fail_syncs(target, opened, folder, recorded, outcome, progress)


def _fail_syncs(
    target: Target,
    opened: Recoverer,
    folder: Path,
    recorded: power.Recorded,
    outcome: Outcome,
    progress: Progress,
) -> None:
    """Record anew for each of the first syncs, which fails; cut the power behind what is acknowledged all the same."""
    assert outcome.workload is not None
    for number, failure in enumerate(recorded.syncs[:_FAILED_SYNCS], 1):
        progress("power, syncs that fail", number, len(recorded.syncs[:_FAILED_SYNCS]))
        try:
            place = folder / f"failed-{number}"
            failed = record(target, outcome.workload, place, outcome.plan.timeout_s, failure, recorded.rebuildable)
        except AdapterFault:
            outcome.counts["failed syncs"] += 1
            continue  # It ended, and so acknowledged nothing more.
        except Silence:
            continue  # Nobody knows what it would have acknowledged.
        except CannotBeTried as reason:
            outcome.not_failed = f"{reason}"
            return
        bench = power.Bench(failed, opened, folder)
        judged = power.judge(bench, levels=["ordered"], rules=["lost"])
        outcome.counts["failed syncs"] += not judged.blind
        for finding in judged.findings.values():
            outcome.found[AFTER_A_FAILED_SYNC] = _of_power(finding, failed, bench, outcome.workload, failure)
            _cut_power_with_fewer_appends(target, opened, folder, outcome, progress, failure)
            return


def _cut_power_with_fewer_appends(
    target: Target,
    opened: Recoverer,
    folder: Path,
    outcome: Outcome,
    progress: Progress,
    failure: Failure | None = None,
) -> None:
    """Put what shows the same with the fewest appends in the place of what power cuts have found."""
    plan, workload = outcome.plan, outcome.workload
    assert workload is not None
    sought = set(outcome.found) if failure is None else {AFTER_A_FAILED_SYNC}
    left = {each for each in sought if plan.smaller and outcome.is_judged_at(level_of(each))}
    for appends in range(1, workload.appends):
        may_show = [outcome.found[each] for each in left if _may_show(outcome.found[each], appends)]
        if not may_show:
            continue
        progress("power, fewer appends", appends, workload.appends - 1)
        fewer = replace(workload, appends=appends)
        place = folder / f"fewer-{appends}{'' if failure is None else '-failed'}"
        try:
            recorded = record(target, fewer, place, plan.timeout_s, failure or Undisturbed(), plan.rebuildable)
        except (AdapterFault, Silence):
            continue  # It was not so with more.
        bench = power.Bench(recorded, opened, folder)
        levels = [level for level in LEVELS if any(found.level == level for found in may_show)]
        rules = {found.rule for found in may_show}
        for finding in power.judge(bench, levels=levels, draws=0, rules=rules).findings.values():
            found = _of_power(finding, recorded, bench, fewer, failure)
            if found.requirement in left:
                outcome.found[found.requirement] = found
                left.remove(found.requirement)


def _may_show(found: Found, appends: int) -> bool:
    """Tell whether so many appends may show the same: a few may, or those that were asked before the crash."""
    asked = sum(each.method == "append" for each in found.exchanges)
    return appends <= _FEWEST or appends in {asked - 1, asked}


def _of_power(
    finding: power.Finding,
    recorded: power.Recorded,
    bench: power.Bench,
    workload: Workload,
    failure: Failure | None = None,
) -> Found:
    """Return a finding as one of this layer; with the sync that failed before it, if one did."""
    cut = Power(finding.level, finding.cut.calls, deviations(finding.cut, recorded.trace))
    behind = "" if failure is None else f"{failure.call} {failure.ordinal} failed, and "
    return Found(
        requirement=finding.requirement if failure is None else AFTER_A_FAILED_SYNC,
        layer="power",
        level=finding.level,
        rule=finding.rule,
        blame=f"{behind}{finding.blame}",
        sentence=finding.sentence,
        replay=f"{Replay(workload, (cut,) if failure is None else (failure, cut))}",
        image=bench.left(finding.cut),
        exchanges=tuple(recorded.before(finding.answered)),
        recovered=finding.recovered,
    )


def _try_calls(target: Target, opened: Recoverer, folder: Path, outcome: Outcome, progress: Progress) -> None:
    assert outcome.workload is not None
    plan = outcome.plan
    windows = Windows(target, outcome.workload, opened, folder, plan.timeout_s, rebuildable=plan.rebuildable)
    try:
        with closing(
            windows.all(part=plan.part)
        ) as tried:  # Whatever ends it, nothing is started before the folder goes.
            diverged = _try_each(tried, outcome, progress)
        diverged += disturb_recoveries(windows, outcome, progress)
        for found in [each for each in outcome.found.values() if each.layer == "calls"]:
            _try_calls_with_fewer_appends(target, opened, folder, outcome, found)
    except CannotBeTried as reason:
        outcome.open["calls"] = f"{reason}"
        return
    unseen = windows.recorded().start.recording.unseen
    if unseen:
        outcome.open["calls"] = f"there are windows that nobody can try: {unseen[0]}."
    if diverged:
        outcome.open["calls"] = f"{diverged} windows were not those that were meant: it does not do the same each time."


def disturb_recoveries(windows: Windows, outcome: Outcome, progress: Progress) -> int:
    """Disturb what comes after a power cut of each kind, at each of its calls; return how many diverged."""
    ways: set[str] = set()
    diverged = 0
    for crashed in outcome.after_power:
        if outcome.plan.until in outcome.found:
            break
        with closing(windows.recoveries(crashed, ways, outcome.plan.part)) as tried:
            diverged += _try_each(tried, outcome, progress)
    return diverged


def _try_each(tried: Iterable[Judged], outcome: Outcome, progress: Progress) -> int:
    """Note what comes of windows, up to a few wrong ones; return how many diverged."""
    wrong = diverged = 0
    for judged in tried:
        outcome.counts["calls" if judged.is_of_a_kill else "errors"] += 1
        windows_tried = outcome.counts["calls"] + outcome.counts["errors"]
        progress("calls", windows_tried, windows_tried)
        diverged += judged.diverged is not None
        if judged.broken is None or judged.diverged is not None:
            continue
        wrong += 1
        found = _of_window(judged)
        outcome.found.setdefault(found.requirement, found)
        if found.requirement != AFTER_AN_ERROR and found.level is not None:
            outcome.lower(found.level)
        if wrong >= _FEW or outcome.plan.until in outcome.found:
            break
    return diverged


def _try_calls_with_fewer_appends(
    target: Target, opened: Recoverer, folder: Path, outcome: Outcome, found: Found
) -> None:
    """Put the same window with the fewest appends that show the same in the place of one that was found."""
    plan, replay = outcome.plan, parse(found.replay)
    if not plan.smaller or not outcome.is_judged_at(level_of(found.requirement)) or isinstance(replay.faults[0], Power):
        return
    for appends in (each for each in range(1, replay.workload.appends) if _may_show(found, each)):
        fewer = replace(replay, workload=replace(replay.workload, appends=appends))
        place = folder / f"{found.requirement}-{appends}"
        place.mkdir()
        windows = Windows(target, fewer.workload, opened, place, plan.timeout_s, rebuildable=plan.rebuildable)
        with suppress(CannotBeTried, AdapterFault, Silence):
            judged = windows.play(fewer)
            if judged.broken is None or judged.diverged is not None:
                continue
            again = _of_window(judged)
            if again.requirement == found.requirement:
                outcome.found[found.requirement] = again
                return


def _of_window(judged: Judged) -> Found:
    assert judged.broken is not None
    rule, first = judged.broken.rule, judged.replay.faults[0]
    level: DurabilityLevel = first.level if isinstance(first, Power) else "process-crash"
    after = f"after a power cut at {level}, " if isinstance(first, Power) else ""
    return Found(
        requirement=requirement_of(level, rule) if judged.is_of_a_kill else AFTER_AN_ERROR,
        layer="calls",
        level=level,
        rule=rule,
        blame=after + judged.sentence.partition(": ")[0],
        sentence=judged.broken.sentence,
        replay=f"{judged.replay}",
        image=judged.image,
        exchanges=judged.asked,
        recovered=judged.recovered,
        then=judged.then,
        stderr=judged.stderr,
    )
