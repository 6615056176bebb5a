"""The report: one JSON document that says what was judged, how, and what came of it.

Its schema is `schemas/report-1.json`.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final, Literal

import msgspec

from perdure.kernel.values import JsonObject, JsonValue, digest
from perdure_conformance.harness.connection import AFTERWARDS
from perdure_conformance.harness.targets import Target
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import requirements, requirements_digest
from perdure_conformance.rules import ExitCode
from perdure_conformance.suite import AnyProfile, Judgement
from perdure_conformance.terms import NO_TERMS, Surprise, Terms
from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT, Depth, Evidence, Verdict

REPORT_VERSION: Final = 1
IN_PART: Final = "not judged: only a part was selected"
"""The level where nobody can tell one."""

Outcome = Literal["conformant", "as_expected", "as_pinned", "not_conformant", "no_verdict"]
"""What it all comes to. Broken, but as a file of expected failures says; or by a requirement alone that is new."""

ExcuseKind = Literal["expected", "new"]
"""By a file of expected failures; or because the requirement is new, and an earlier release is pinned."""


@dataclass(frozen=True, slots=True)
class Report:
    """The judgement of one implementation, with its verdicts."""

    document: JsonObject
    depth: Depth
    exit_code: int
    verdicts: Mapping[str, Verdict]
    outcome: Outcome
    excuses: Mapping[str, Excuse]
    """What is broken and does not count: why, by requirement."""
    surprises: tuple[Surprise, ...]


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why a broken requirement does not count."""

    kind: ExcuseKind
    why: str


def build(  # noqa: PLR0913 - all that a report tells
    profile: AnyProfile,
    judgement: Judgement,
    target: Target,
    *,
    depth: Depth,
    seed: int,
    only: frozenset[str] = frozenset(),
    terms: Terms = NO_TERMS,
    cases: Mapping[str, str],
) -> Report:
    """Return the report of a judgement. `cases` names the folder of each failure."""
    description = judgement.description
    claims = description.capabilities if description else profile.nothing_claimed
    verdicts = _verdicts(profile, judgement, claims, target, only)
    actual = {key: finding.case.actual for key, finding in judgement.findings.items()}
    surprises = profile.rules.surprises(terms.expected, verdicts, actual)
    excuses = _excuses(profile, verdicts, terms, {each.requirement for each in surprises})
    code, outcome = come_to(
        profile.rules.exit_code,
        verdicts,
        {key: excuse.kind for key, excuse in excuses.items()},
        depth,
        surprised=bool(surprises),
        faulty=bool(judgement.faults),
    )
    document: dict[str, JsonValue] = {
        "report_version": REPORT_VERSION,
        "suite": {"name": "perdure", "version": version("perdure"), "profile": profile.name},
        "requirements_digest": requirements_digest(profile.pages),
        "vectors_digest": None if profile.vectors_digest is None else profile.vectors_digest(),
        "target": {
            "name": inert(description.name) if description else "unknown",
            "version": inert(description.version) if description else "unknown",
            "words": target.words(),
            "digest": digest({"words": target.words(), "says": msgspec.to_builtins(description)}),
        },
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "python": platform.python_version(),
            "cores": os.cpu_count() or 1,
        },
        "depth": depth,
        "seed": seed,
        "capabilities": msgspec.to_builtins(claims),
        "level": _level(profile, claims, verdicts, only, outcome),
        "outcome": outcome,
        "pinned": terms.pinned,
        "exit_code": code,
        "requirements": [
            {
                "id": key,
                "sentence": requirements()[key].sentence,
                "verdict": verdict,
                "reached": judgement.reached[key],
                "checks": profile.checks_of(key),
                "case": cases.get(key),
                **_why(judgement, key, verdict),
                **({"excuse": {"kind": excuses[key].kind, "why": excuses[key].why}} if key in excuses else {}),
            }
            for key, verdict in verdicts.items()
        ],
        "surprises": [
            {"id": each.requirement, "kind": each.kind, "sentence": inert(each.sentence)} for each in surprises
        ],
        "fault": _fault(judgement, cases),
        "not_covered": (
            [*_not_covered(profile, claims, verdicts), *judgement.not_played]
            if description
            else ["everything: it did not open"]
        ),
        "durations": {name: round(seconds, 3) for name, seconds in judgement.durations_s.items()},
        "durable_operations": judgement.counts.get("durable_operations", 0),
        "counts": dict(judgement.counts),
    }
    return Report(document, depth, code, verdicts, outcome, excuses, surprises)


def _excuses(
    profile: AnyProfile, verdicts: Mapping[str, Verdict], terms: Terms, surprising: Collection[str]
) -> dict[str, Excuse]:
    """Return which broken requirements do not count."""
    excuses = {}
    for requirement in profile.requirements():
        if verdicts.get(requirement.id) != "fail" or requirement.id in surprising:
            continue
        if requirement.id in terms.expected:
            excuses[requirement.id] = Excuse("expected", inert(terms.expected[requirement.id].why))
        elif profile.rules.in_grace(requirement, terms.pinned, release()):
            excuses[requirement.id] = Excuse("new", f"it came with {requirement.since}, and counts from the next on")
    return excuses


def come_to(
    exit_code: ExitCode,
    verdicts: Mapping[str, Verdict],
    excuses: Mapping[str, ExcuseKind],
    depth: Depth,
    *,
    surprised: bool,
    faulty: bool,
) -> tuple[int, Outcome]:
    """Return the exit code that verdicts come to, but for those that are excused, and what it is called."""
    counted = tuple(verdict for key, verdict in verdicts.items() if key not in excuses)
    code = NOT_CONFORMANT if surprised else exit_code(counted, depth, faulty=faulty)
    if code != CONFORMANT:
        return code, "not_conformant" if code == NOT_CONFORMANT else "no_verdict"
    if "expected" in excuses.values():
        return code, "as_expected"
    return code, "as_pinned" if excuses else "conformant"


def release() -> str:
    """Return this release, MAJOR.MINOR."""
    return ".".join(version("perdure").split(".")[:2])


def _not_covered(profile: AnyProfile, claims: object, verdicts: Mapping[str, Verdict]) -> list[JsonValue]:
    """Return, in words, what the report says nothing about: what the profile says, and what its pages only announce."""
    reserved = [requirement.id for requirement in profile.reserved()]
    announced = [f"{', '.join(reserved)}: reserved, not judged yet"] if reserved else []
    return [*profile.not_covered(claims, verdicts), *announced]


def _level(
    profile: AnyProfile, claims: object, verdicts: Mapping[str, Verdict], only: frozenset[str], outcome: Outcome
) -> str:
    """Return the highest level that holds, in the words of the profile, or "none"; or why none can be told."""
    if only:
        return IN_PART
    return profile.level(claims, verdicts) if outcome == "conformant" else "none"


def _verdicts(
    profile: AnyProfile, judgement: Judgement, claims: object, target: Target, only: frozenset[str]
) -> dict[str, Verdict]:
    """Return the verdict on each requirement, in the order of the profile; what is not claimed comes last."""
    rules, interrupted = profile.rules, judgement.fault is not None or judgement.cut_short
    verdicts = {
        requirement.id: rules.verdict_on(
            Evidence(
                claimed=rules.is_claimed(requirement, claims, in_process=not target.is_process),
                broken=requirement.id in judgement.findings,
                interrupted=interrupted or requirement.id in judgement.inconclusive,
                reached=judgement.reached[requirement.id],
            )
        )
        for requirement in profile.requirements(only)
    }
    return dict(sorted(verdicts.items(), key=lambda pair: pair[1] == "not_claimed"))


def _why(judgement: Judgement, requirement: str, verdict: Verdict) -> dict[str, JsonValue]:
    """Return why nothing can be said of a requirement, if that is so."""
    if verdict != "inconclusive":
        return {}
    ended = AFTERWARDS[judgement.fault.kind] if judgement.fault is not None else ""
    why = ended or "something drawn had no definite answer"
    if times := judgement.reached[requirement]:
        kept = f"kept {'once' if times == 1 else f'{times:,} times'}"
        why = f"{kept}; cut short {ended}" if ended else f"{kept}; {why}"
    return {"why": inert(judgement.inconclusive.get(requirement) or why)}


def _fault(judgement: Judgement, cases: Mapping[str, str]) -> JsonValue:
    if not judgement.faults:
        return None
    fault = judgement.fault or judgement.lapses[0]
    return {"kind": fault.kind, "sentence": inert(fault.sentence), "case": cases.get(f"fault:{fault.kind}")}
