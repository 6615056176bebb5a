"""A profile judges itself: every mutant must be found by name, everything good must pass.

A mutant counts as killed if a check blames the requirement that it breaks. It must also pass once that requirement,
and the overlaps that it names, are switched off: else something unnamed found it, and the kill may be an accident.

A quick look at a mutant sees only that it is found, and that it fails again on fresh state. At some it looks more
closely, though not for accidents where each written check shows one requirement.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from perdure.kernel.values import JsonValue
from perdure_conformance import data
from perdure_conformance.harness.targets import CommandTarget
from perdure_conformance.registry import Mutant, Twin
from perdure_conformance.suite import AnyProfile, Case, Judgement, Options, Part
from perdure_conformance.verdict import Depth

_ATTEMPTS_TO_SHRINK = 400

SLICES: Final = 10
"""A quick look at all mutants looks more closely at every so many."""


@dataclass(frozen=True, slots=True)
class Kill:
    """What became of one mutant."""

    mutant: Mutant
    seconds: float
    """Until the requirement that it breaks was blamed."""
    found_by: str
    drawn_alone: bool | None
    """Whether what is drawn finds it alone; None if that was not tried."""
    size: int
    """The size of the shrunk case; 0 if it survived, or if that was not tried."""
    problems: tuple[str, ...]
    whole: bool = True
    """Whether it was shrunk and played again, and accidental kills were looked for."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What became of one good implementation."""

    name: str
    oddity: str
    seconds: float
    problems: tuple[str, ...]


def find(profile: AnyProfile, mutant: Mutant, seed: int) -> Kill:
    """Take a quick look at one mutant, by the written checks of what it breaks; a whole one if they do not find it."""
    aim = frozenset({mutant.breaks})
    found = _judge(profile, mutant, Options("quick", seed, only=aim, smaller=False, first_alone=True), "written")
    finding = found.findings.get(mutant.breaks)
    if finding is None:
        return kill(profile, mutant, seed)
    problems = () if finding.reproduced else ("does not fail again on fresh state",)
    return Kill(mutant, finding.seconds, finding.found_by, drawn_alone=None, size=0, problems=problems, whole=False)


def kill(profile: AnyProfile, mutant: Mutant, seed: int, *, full: bool = False, accidents: bool = True) -> Kill:
    """Judge one mutant, with its requirement and, to see accidents, without.

    `full` also shows what is drawn finds alone.
    """
    aim = frozenset({mutant.breaks})
    quick = Options("quick", seed, smaller=False)
    first = replace(quick, only=aim) if profile.written_stands_alone else quick
    found = _judge(profile, mutant, quick) if full else _judge(profile, mutant, first, "written")
    drawn_alone = mutant.breaks not in found.findings or full
    drawn = _judge(profile, mutant, replace(quick, depth="normal", only=aim), "drawn") if drawn_alone else found
    finding = found.findings.get(mutant.breaks) or drawn.findings.get(mutant.breaks)
    problems = []
    case = None
    if finding is None:
        problems.append(f"survives: {mutant.breaks} was not blamed, {', '.join(found.findings) or 'nothing'} was")
    else:
        case = profile.shrink(finding.case, profile.target_of(finding.case), attempts=_ATTEMPTS_TO_SHRINK)
        problems += _problems_of_case(profile, case)
    if accidents:
        without = _judge(profile, mutant, replace(quick, off=aim | frozenset(mutant.overlaps)))
        if without.findings:
            problems.append(f"also breaks {', '.join(without.findings)}, which it does not name")
    return Kill(
        mutant=mutant,
        seconds=finding.seconds if finding else 0.0,
        found_by=finding.found_by if finding else "",
        drawn_alone=(mutant.breaks in drawn.findings) if drawn_alone else None,
        size=case.size if case else 0,
        problems=tuple(problems),
        whole=accidents,
    )


def _judge(profile: AnyProfile, mutant: Mutant, options: Options, *parts: Part) -> Judgement:
    return profile.judge(mutant.target, replace(options, parts=frozenset(parts)) if parts else options)


def _problems_of_case(profile: AnyProfile, case: Case) -> Iterator[str]:
    sizes = profile.sizes
    if case.size > sizes.largest:
        yield f"its smallest case has {case.size} {sizes.unit}, more than {sizes.largest}"
    first, second = (profile.replay(case, profile.target_of(case)) for _ in range(2))
    if first.failure != case.failure:
        yield f"its case does not fail again, but gives {first.failure or 'no failure'}"
    if (first.failure, first.expected, first.actual) != (second.failure, second.expected, second.actual):
        yield "its case fails in two ways"


def a_third(profile: AnyProfile, name: str, which: int) -> frozenset[str]:
    """Return the third of the requirements that a quick look asks a good implementation about, by its slice.

    An empty set stands for all: of what is built in, and where a written check shows several requirements.
    """
    if name not in profile.twins or not profile.written_stands_alone:
        return frozenset()
    first = (which + list(profile.twins).index(name)) % 3
    return frozenset(requirement.id for requirement in profile.requirements()[first::3])


def check_good(
    profile: AnyProfile,
    good: Twin,
    seeds: tuple[int, ...],
    first: Depth = "quick",
    *,
    only: frozenset[str] = frozenset(),
    written_once: bool = False,
) -> Pass:
    """Judge one good implementation, for each seed, the first at a depth of its own; of all requirements, or of some.

    Written checks that say the same for every seed are asked once; with `written_once`, all of them.
    """
    written_once = written_once or profile.written_stands_alone
    began = time.monotonic()
    problems = []
    reached: set[str] = set()
    for seed in seeds:
        options = Options(first if seed == seeds[0] else "quick", seed, only=only)
        if written_once and seed != seeds[0]:
            options = replace(options, parts=frozenset({"drawn"}))
        judgement = profile.judge(good.target, options)
        problems += [f"seed {seed}: is accused of {failure}" for failure in judgement.findings]
        if not written_once:
            reached.clear()
        reached.update(judgement.reached)
        if judgement.description is not None:
            claims, in_process = judgement.description.capabilities, not good.target.is_process
            problems += [
                f"seed {seed}: {requirement.id} is claimed and was not reached"
                for requirement in profile.rules.claimed(profile.pages, claims, in_process=in_process)
                if requirement.id not in reached and (not only or requirement.id in only)
            ]
    return Pass(good.name, good.oddity, time.monotonic() - began, tuple(problems))


def good_ones(profile: AnyProfile) -> dict[str, Twin]:
    """Return what must pass, by name: what is built in, what is odd, and the examples whose interpreter is there."""
    subjects = profile.subjects
    built_in = {name: Twin(subjects.find(name), name, known.words) for name, known in subjects.built_in.items()}
    folder = data.examples()
    programs = {
        name: Twin(CommandTarget((interpreter, str(folder / file))), name, f"an example, run by {interpreter}")
        for name, (interpreter, file) in profile.examples.items()
        if folder is not None and shutil.which(interpreter)
    }
    return {**built_in, **profile.twins, **programs}


def unproven(profile: AnyProfile) -> list[str]:
    """Return the requirements that no mutant breaks."""
    return [requirement.id for requirement in profile.requirements() if not profile.mutants_of(requirement.id)]


def as_document(kill: Kill) -> JsonValue:
    """Return what became of a mutant, for machines."""
    return {
        "name": kill.mutant.name,
        "breaks": kill.mutant.breaks,
        "overlaps": list(kill.mutant.overlaps),
        "fault": kill.mutant.fault,
        "report": kill.mutant.report,
        "seconds": round(kill.seconds, 4),
        "found_by": kill.found_by,
        "drawn_alone": kill.drawn_alone,
        "size": kill.size,
        "whole": kill.whole,
        "problems": list(kill.problems),
    }


def median_size(kills: list[Kill]) -> float:
    """Return the median size of the shrunk cases; 0 if there is none."""
    sizes = [kill.size for kill in kills if kill.size]
    return statistics.median(sizes) if sizes else 0
