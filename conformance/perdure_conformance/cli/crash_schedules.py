"""`perdure crash … --layer schedule`: several clients of a Python journal, switched at each call, and crashed."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from perdure.journal.contract import DurabilityLevel
from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, progress_bar, wrong_usage
from perdure_conformance.crash.replay import ReplayError, Schedule, Workload, parse
from perdure_conformance.crash.scheduling import SCHEDULES, CannotBeScheduled, Found, Judged
from perdure_conformance.crash.scheduling import judge as judged_by_schedules
from perdure_conformance.crash.scheduling import play as played
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import PythonTarget, Target
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import requirements
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT, exit_code

__all__ = ["LAYER", "SCHEDULES", "Asked", "is_of_a_schedule", "judge", "play"]

LAYER: Final = "schedule"

_NOT_CLAIMED: Final = (
    "snapshots and leases; calls that fail; several processes",
    "threads that are switched between two calls: they are switched at calls of os and open, and at locks",
    "threads of the journal's own, and files that are changed by other ways than os and open: then it is inconclusive",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the words of the command say."""

    workload: Workload
    level: DurabilityLevel | None
    schedules: int
    timeout_s: float


def is_of_a_schedule(line: str) -> bool:
    """Tell whether a line is a replay of a schedule."""
    try:
        return any(isinstance(fault, Schedule) for fault in parse(line).faults)
    except ReplayError:
        return False


def judge(target: Target, asked: Asked, report_dir: Path, *, as_json: bool) -> NoReturn:
    """Draw schedules, tell what came of them, and exit."""
    journal = _in_this_process(target)
    try:
        with progress_bar() as bar:
            task = bar.add_task("", total=None)
            judged = judged_by_schedules(
                journal,
                asked.workload,
                level=asked.level,
                schedules=asked.schedules,
                timeout_s=asked.timeout_s,
                progress=lambda label: bar.update(task, description=label),
            )
    except (AdapterFault, Silence) as error:
        _no_verdict(error)
    verdicts = judged.verdicts()
    code = exit_code(list(verdicts.values()), "normal", faulty=False)
    document = _document(target, asked, judged, code)
    (report_dir / "crash-report.json").write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    if as_json:
        print_json(document)
    else:
        _print(_lines(target, judged, code))
    sys.exit(code)


def play(target: Target, line: str, timeout_s: float, *, as_json: bool) -> NoReturn:
    """Play one line, tell what came of it, and exit."""
    journal = _in_this_process(target)
    try:
        found = played(journal, parse(line), timeout_s)
    except (ReplayError, CannotBeScheduled, AdapterFault, Silence) as error:
        _no_verdict(error)
    if as_json:
        print_json(None if found is None else _finding(found))
    else:
        _print(["Nothing is wrong."] if found is None else _told(found, target))
    sys.exit(CONFORMANT if found is None else NOT_CONFORMANT)


def _in_this_process(target: Target) -> PythonTarget:
    if not isinstance(target, PythonTarget):
        wrong_usage("--layer schedule is for journals in Python: name a factory as module:factory, and no --command.")
    return target


def _not_claimed(judged: Judged) -> list[str]:
    claims = judged.description.capabilities
    return [
        *([f"{LAYER}: {judged.open}"] if judged.open is not None else []),
        *([] if claims.multi_handle else [f"{LAYER}: it does not claim multi_handle, and has one client"]),
        *([f"{LAYER}: it claims no level of durability"] if judged.level is None else []),
        *_NOT_CLAIMED,
    ]


def _finding(found: Found) -> dict[str, object]:
    return {
        "requirement": found.requirement,
        "layer": LAYER,
        "level": found.level,
        "blame": found.blame,
        "sentence": found.sentence,
        "replay": found.replay,
        "folder": None,
    }


def _document(target: Target, asked: Asked, judged: Judged, code: int) -> dict[str, object]:
    return {
        "crash_report_version": 1,
        "target": target.words(),
        "name": judged.description.name,
        "version": judged.description.version,
        "claimed": judged.description.capabilities.durable,
        "judged_at": judged.level,
        "highest_level": None,
        "workload": f"{asked.workload}",
        "layers": [LAYER],
        "counts": dict(judged.counts),
        "verdicts": dict(judged.verdicts()),
        "findings": [_finding(found) for found in judged.found.values()],
        "fault": None,
        "not_claimed": _not_claimed(judged),
        "exit_code": code,
    }


def _lines(target: Target, judged: Judged, code: int) -> list[str]:
    counts = judged.counts
    pace = ""
    if judged.seconds:
        pace = f"; {counts['schedules'] / judged.seconds:,.0f} and {counts['crashes'] / judged.seconds:,.0f} a second"
    told = (
        f"{counts['schedules']:,} schedules with {counts['switches']:,} switches, {counts['crashes']:,} crashes of them"
    )
    lines = [
        f"{judged.description.name} {judged.description.version}",
        "",
        f"schedule  {told}{pace}",
        "",
        *(f"{key}  {verdict}" for key, verdict in judged.verdicts().items()),
        "",
    ]
    for found in judged.found.values():
        lines += [*_told(found, target), ""]
    word = {CONFORMANT: "CONFORMANT", NOT_CONFORMANT: "NOT CONFORMANT"}.get(code, "NO VERDICT")
    return [*lines, *(f"not claimed  {each}" for each in _not_claimed(judged)), "", word]


def _told(found: Found, target: Target) -> list[str]:
    name = target.words()["name"]
    return [
        f"{found.requirement}  {requirements()[found.requirement].sentence}",
        "",
        f"level     {found.level}",
        f"blame     {found.blame}",
        f"came      {found.sentence}",
        f"replay    perdure crash {name} --replay {shlex.quote(found.replay)}",
    ]


def _print(lines: Sequence[str]) -> None:
    with even_if_nobody_reads():
        for line in lines:
            console().print(inert(line), soft_wrap=True, markup=False)


def _no_verdict(why: object) -> NoReturn:
    sys.stderr.write(f"perdure: {inert(str(why))}\n")
    sys.exit(NO_VERDICT)
