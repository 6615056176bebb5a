"""The report: one JSON document that says what was judged, how, and what came of it.

Its schema is `schemas/report-1.json`.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

import msgspec

from perdure.journal.contract import Capabilities
from perdure.kernel.values import JsonObject, JsonValue, digest
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.profile import PREFIXES, Judgement, checks_of
from perdure_conformance.journal.rules import RULES, Rules
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import Requirement, requirements, requirements_digest
from perdure_conformance.verdict import CONFORMANT, Depth, Evidence, Verdict

REPORT_VERSION = 1

_WORKFLOW_JOURNAL = ("core", "exact_replay", "event_id_dedup", "atomic_batch", "durable")

_NOT_IN_THIS_RELEASE = (
    "concurrent appenders",
    "crashes within an append, power loss, disk errors and cut connections",
    "damage to stored bytes",
    "batches beyond the declared limits",
)


@dataclass(frozen=True, slots=True)
class Report:
    """The judgement of one implementation, with its verdicts."""

    document: JsonObject
    exit_code: int
    verdicts: Mapping[str, Verdict]


def build(
    judgement: Judgement,
    target: Target,
    *,
    depth: Depth,
    seed: int,
    only: frozenset[str] = frozenset(),
    cases: Mapping[str, str],
    rules: Rules = RULES,
) -> Report:
    """Return the report of a judgement. `cases` names the folder of each failure."""
    description = judgement.description
    claims = description.capabilities if description else Capabilities()
    selected = [
        requirement
        for requirement in requirements().values()
        if requirement.id.startswith(PREFIXES) and (not only or requirement.id in only)
    ]
    verdicts = {
        requirement.id: rules.verdict_on(_evidence(requirement, judgement, claims, target, rules))
        for requirement in selected
    }
    code = rules.exit_code(tuple(verdicts.values()), depth, faulty=judgement.fault is not None)
    document: dict[str, JsonValue] = {
        "report_version": REPORT_VERSION,
        "suite": {"name": "perdure", "version": version("perdure"), "profile": "journal"},
        "requirements_digest": requirements_digest(PREFIXES),
        "vectors_digest": None,
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
        "level": level_in_words(verdicts, claims, only, code),
        "exit_code": code,
        "requirements": [
            {
                "id": requirement.id,
                "verdict": verdicts[requirement.id],
                "reached": judgement.tally.reached[requirement.id],
                "checks": checks_of(requirement.id),
                "case": cases.get(requirement.id),
            }
            for requirement in selected
        ],
        "fault": _fault(judgement, cases),
        "not_covered": not_covered(claims, verdicts) if description else ["everything: it did not open"],
        "durations": {name: round(seconds, 3) for name, seconds in judgement.durations_s.items()},
        "durable_operations": judgement.tally.durable_operations,
    }
    return Report(document, code, verdicts)


def level_in_words(verdicts: Mapping[str, Verdict], claims: Capabilities, only: frozenset[str], exit_code: int) -> str:
    """Return the highest level that holds: "Workflow journal", "Core" or "none"; or why none can be told."""
    if only:
        return "not judged: only a part was selected"
    if exit_code != CONFORMANT:
        return "none"
    judged = {requirements()[key].claim for key, verdict in verdicts.items() if verdict != "not_claimed"}
    if not judged.issuperset(_WORKFLOW_JOURNAL):
        return "Core"
    extras = ["snapshots"] if claims.snapshots else []
    extras += ["fenced leases"] if claims.leases and claims.fencing else []
    return "Workflow journal" + (f" with {' and '.join(extras)}" if extras else "")


def not_covered(claims: Capabilities, verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return, in words, what this report says nothing about."""
    known = requirements()
    not_judged = {known[key].claim for key, verdict in verdicts.items() if verdict == "not_claimed"}
    reasons = {
        "multi_handle": (claims.multi_handle, "claimed, and a program is one handle: claim multi_process to be judged"),
        "fencing": (claims.fencing, "claimed, and epochs come from acquire: claim leases to be judged"),
        "read=linearizable": (claims.read == "linearizable", "claimed, and there is no second handle to see it by"),
        "lease_clock=caller": (claims.leases, "judged by the store's own clock, which cannot be set"),
    }
    lines = []
    for claim in sorted(not_judged - {"unclaimed"}):
        claimed, reason = reasons.get(claim, (False, ""))
        if claimed or claim != "lease_clock=caller":
            lines.append(f"{claim}: {reason if claimed else 'not claimed'}")
    if claims.durable not in {None, "process-crash"}:
        lines.append(f"durable={claims.durable}: claimed, and judged at process-crash")
    return lines + list(_NOT_IN_THIS_RELEASE)


def _evidence(
    requirement: Requirement, judgement: Judgement, claims: Capabilities, target: Target, rules: Rules
) -> Evidence:
    broken = requirement.id in judgement.findings
    return Evidence(
        claimed=rules.is_claimed(requirement, claims, in_process=not target.is_process),
        broken=broken,
        interrupted=judgement.fault is not None or judgement.cut_short or requirement.id in judgement.inconclusive,
        reached=judgement.tally.reached[requirement.id],
    )


def _fault(judgement: Judgement, cases: Mapping[str, str]) -> JsonValue:
    fault = judgement.fault
    if fault is None:
        return None
    return {"kind": fault.kind, "sentence": inert(fault.sentence), "case": cases.get(f"fault:{fault.kind}")}
