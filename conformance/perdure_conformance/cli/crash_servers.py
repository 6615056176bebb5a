"""`perdure crash --server …`: a journal that keeps its state in a server, its connection cut, its server killed."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, wrong_usage
from perdure_conformance.crash.network import Finding, Judged, Layer, Subject, judge_connections, judge_kills, replayed
from perdure_conformance.crash.replay import ReplayError, Workload, parse
from perdure_conformance.crash.servers import CommandServer, Server, ServerFault, reached
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import Target
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import requirements
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT, Verdict, exit_code

LAYERS: Final[Mapping[Layer, str]] = {
    "net": "each message between journal and server lost, cut off and late",
    "server": "the server killed at each message, and again and again at drawn ones",
}
"""What is tried, by name."""

_NOT_CLAIMED: Final = (
    "power cuts and calls that fail: give no --server, and have the journal's own files watched",
    "a server that is killed between two messages, at each of its calls",
    "several clients at a time, and what a server stores but its records",
)
_GRAVEST_FIRST: Final[tuple[Verdict, ...]] = ("fail", "inconclusive", "pass", "not_reached", "not_claimed")


@dataclass(frozen=True, slots=True)
class Behind:
    """The server behind a journal, as the words of the command say it."""

    command: str
    connect: Sequence[str]
    layers: Sequence[Layer]
    workload: Workload
    rounds: int
    timeout_s: float


def judge(target: Target, behind: Behind, report_dir: Path, *, as_json: bool) -> NoReturn:
    """Try all that the layers say, tell what came of it, and exit."""
    subject = _subject(target, behind)
    judged: list[Judged] = []
    try:
        if "net" in behind.layers:
            judged.append(judge_connections(subject, behind.workload))
        if "server" in behind.layers:
            judged.append(judge_kills(subject, behind.workload, behind.rounds))
    except (ServerFault, AdapterFault, Silence) as error:
        _no_verdict(error)
    verdicts = _verdicts(judged)
    code = exit_code(list(verdicts.values()), "normal", faulty=any(each.inconclusive for each in judged))
    document = _document(target, behind, judged, verdicts, code)
    (report_dir / "crash-report.json").write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    if as_json:
        print_json(document)
    else:
        _print(_lines(judged, verdicts, code))
    sys.exit(code)


def play(target: Target, behind: Behind, line: str, *, as_json: bool) -> NoReturn:
    """Play one line, tell what came of it, and exit."""
    try:
        outcome = replayed(_subject(target, behind), parse(line))
    except (ReplayError, ServerFault, AdapterFault, Silence) as error:
        _no_verdict(error)
    if outcome.finding is None and outcome.inconclusive is not None:
        _no_verdict(outcome.inconclusive)
    found = outcome.finding
    if as_json:
        print_json(None if found is None else _finding(found))
    else:
        _print(["Nothing is wrong."] if found is None else [*_told(found), "", *found.transcript.splitlines()])
    sys.exit(CONFORMANT if found is None else NOT_CONFORMANT)


def _subject(target: Target, behind: Behind) -> Subject:
    words = _words(behind.command)
    return Subject(
        adapter=lambda address: reached(target, address, behind.connect),
        server=partial(_server, words, behind.timeout_s),
        timeout_s=behind.timeout_s,
        patience_s=behind.timeout_s,
    )


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        wrong_usage(f"--server cannot be split into words: {error}.")
    if not any("{port}" in word for word in words):
        wrong_usage(
            '--server does not say where {port} goes; write --server "server --port {port} --data {state_dir}".'
        )
    return words


def _server(words: Sequence[str], timeout_s: float, folder: Path) -> Server:
    return CommandServer(words, folder, timeout_s)


def _verdicts(judged: Sequence[Judged]) -> dict[str, Verdict]:
    told: dict[str, list[Verdict]] = {}
    for each in judged:
        for requirement, verdict in each.verdicts().items():
            told.setdefault(requirement, []).append(verdict)
    return {requirement: min(told[requirement], key=_GRAVEST_FIRST.index) for requirement in sorted(told)}


def _findings(judged: Sequence[Judged]) -> list[Finding]:
    found: dict[str, Finding] = {}
    for each in judged:
        found = {**each.findings, **found}
    return [found[requirement] for requirement in sorted(found)]


def _finding(found: Finding) -> dict[str, object]:
    return {
        "requirement": found.requirement,
        "layer": found.layer,
        "level": "process-crash",
        "blame": found.blame,
        "sentence": found.sentence,
        "replay": f"{found.replay}",
        "folder": None,
    }


def _document(
    target: Target, behind: Behind, judged: Sequence[Judged], verdicts: Mapping[str, Verdict], code: int
) -> dict[str, object]:
    description = next((each.description for each in judged if each.description is not None), None)
    claimed = None if description is None else description.capabilities.durable
    return {
        "crash_report_version": 1,
        "target": target.words(),
        "name": None if description is None else description.name,
        "version": None if description is None else description.version,
        "claimed": claimed,
        "judged_at": claimed and "process-crash",
        "highest_level": None,
        "workload": f"{behind.workload}",
        "layers": list(behind.layers),
        "counts": {each.layer: each.windows for each in judged},
        "verdicts": dict(verdicts),
        "findings": [_finding(found) for found in _findings(judged)],
        "fault": None,
        "not_claimed": _not_claimed(judged),
        "exit_code": code,
    }


def _not_claimed(judged: Sequence[Judged]) -> list[str]:
    tried = {each.layer for each in judged}
    return [
        *(
            f"{each.layer}: {outcome.replay}: {outcome.inconclusive}"
            for each in judged
            for outcome in each.inconclusive
        ),
        *(f"{name}: {LAYERS[name]}; not asked for" for name in LAYERS if name not in tried),
        *_NOT_CLAIMED,
    ]


def _lines(judged: Sequence[Judged], verdicts: Mapping[str, Verdict], code: int) -> list[str]:
    lines = []
    for each in judged:
        pace = f", {each.windows / each.seconds:,.1f} a second" if each.seconds else ""
        lines.append(f"{each.layer:<8}  {each.windows:,} windows{pace}: {LAYERS[each.layer]}")
    lines += ["", *(f"{key}  {verdict}" for key, verdict in verdicts.items()), ""]
    for found in _findings(judged):
        lines += [*_told(found), ""]
    word = {CONFORMANT: "CONFORMANT", NOT_CONFORMANT: "NOT CONFORMANT"}.get(code, "NO VERDICT")
    return [*lines, *(f"not claimed  {each}" for each in _not_claimed(judged)), "", word]


def _told(found: Finding) -> list[str]:
    return [
        f"{found.requirement}  {requirements()[found.requirement].sentence}",
        "",
        f"blame     {found.blame}",
        f"came      {found.sentence}",
        f"replay    --replay {shlex.quote(f'{found.replay}')}",
    ]


def _print(lines: Sequence[str]) -> None:
    with even_if_nobody_reads():
        for line in lines:
            console().print(inert(line), soft_wrap=True, markup=False)


def _no_verdict(why: object) -> NoReturn:
    sys.stderr.write(f"perdure: {inert(str(why))}\n")
    sys.exit(NO_VERDICT)
