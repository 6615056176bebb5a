"""`perdure crash`: crash a journal at every window, and judge what comes back."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer

from perdure.journal.contract import DurabilityLevel
from perdure_conformance.cli import crash_schedules, crash_servers
from perdure_conformance.cli.common import (
    console,
    even_if_nobody_reads,
    print_json,
    progress_bar,
    target_or_exit,
    wrong_usage,
)
from perdure_conformance.crash import bundle
from perdure_conformance.crash.campaign import LAYERS, NOT_THERE, Found, Layer, Options, Outcome, crash, play
from perdure_conformance.crash.judge import LEVELS
from perdure_conformance.crash.network import Layer as OfServer
from perdure_conformance.crash.recording import why_not
from perdure_conformance.crash.replay import ReplayError, Workload, parse
from perdure_conformance.crash.windows import CannotBeTried
from perdure_conformance.crash.workload import WORKLOADS
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import requirements
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT, exit_code

EPILOG = """\b
Examples:
  perdure crash
  perdure crash files --layer power
  perdure crash --command "node adapter.mjs" --level posix-weak
  perdure crash --command "node adapter.mjs" --server "server --port {port} --data {state_dir}" --connect ADDRESS
  perdure crash files-write --layer power --replay v1:w=append,n=4,seed=1:power/ordered:t7:-6
  perdure crash module:factory --layer schedule
"""

_FAILURES: Final = "failures"


def crash_command(  # noqa: PLR0913, PLR0917 - the options of a command
    target: Annotated[
        str | None,
        typer.Argument(help=f"A built-in journal ({', '.join(JOURNALS.built_in)}) or a factory as module:factory."),
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="A program that speaks the protocol, in place of TARGET; run without a shell.")
    ] = None,
    level: Annotated[
        DurabilityLevel | None, typer.Option(help="Judge it at this level; without it, at that which it claims.")
    ] = None,
    layer: Annotated[
        list[str] | None,
        typer.Option(help=f"Try this alone; {', '.join(LAYERS)} or schedule. Default: the first two."),
    ] = None,
    workload: Annotated[
        str | None, typer.Option(help=f"What is asked: {', '.join(sorted(WORKLOADS))}. Default: what it claims.")
    ] = None,
    appends: Annotated[int, typer.Option(min=1, max=1_000, metavar="N", help="How many appends are sent.")] = 4,
    seed: Annotated[int, typer.Option(min=0, max=2**53 - 1, metavar="N", help="The seed of what is drawn.")] = 1,
    timeout: Annotated[
        float, typer.Option(min=0.05, max=3600, metavar="SECONDS", help="Seconds that the journal has for one answer.")
    ] = 10.0,
    server: Annotated[
        str | None,
        typer.Option(help="The server that the journal is a client of; {port} and {state_dir} are filled in."),
    ] = None,
    connect: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Tell the journal in this variable where its server is; or NAME=…{port}…."),
    ] = None,
    rounds: Annotated[
        int,
        typer.Option(min=0, max=1_000_000, metavar="N", help="With --server: how often it is killed several times."),
    ] = 10,
    schedules: Annotated[
        int, typer.Option(min=1, max=1_000_000, metavar="N", help="With --layer schedule: how many are drawn.")
    ] = crash_schedules.SCHEDULES,
    replay: Annotated[
        str | None, typer.Option(metavar="LINE", help="Play one crash again, as a finding has named it; try no other.")
    ] = None,
    report_dir: Annotated[
        Path, typer.Option("--report", help="Where crash-report.json and the folders of failures go.")
    ] = Path("perdure-crash"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Crash a journal at every window: kills, failed calls, power cuts. Say at which level it keeps its word.

    Nothing needs to be built in: the program is watched from outside, on Linux. With --server its connection is cut and
    its server killed instead, at every message.

    Exit codes: 0 conformant, 1 not conformant, 2 wrong usage, 3 no verdict.
    """
    implementation = target_or_exit(JOURNALS, target, command)
    if server is not None:
        of_server = _layers_of_a_server(layer or [])
        asked = Workload(workload or "append", appends, seed)
        behind = crash_servers.Behind(server, connect or [], of_server, asked, rounds, timeout)
        if replay is not None:
            crash_servers.play(implementation, behind, replay, as_json=as_json)
        _know(workload)
        _prepare(report_dir)
        crash_servers.judge(implementation, behind, report_dir, as_json=as_json)
    if replay is not None and crash_schedules.is_of_a_schedule(replay):
        crash_schedules.play(implementation, replay, timeout, as_json=as_json)
    if replay is not None:
        _play(implementation, replay, timeout, as_json=as_json)
    _know(workload)
    if layer == [crash_schedules.LAYER]:
        _prepare(report_dir)
        clients = crash_schedules.Asked(Workload(workload or "append", appends, seed), level, schedules, timeout)
        crash_schedules.judge(implementation, clients, report_dir, as_json=as_json)
    _prepare(report_dir)
    options = Options(
        layers=_layers(layer or []), level=level, workload=workload, appends=appends, seed=seed, timeout_s=timeout
    )
    with progress_bar() as bar:
        task = bar.add_task("", total=None)
        outcome = crash(implementation, options, lambda label: bar.update(task, description=label))
    folders = _keep(outcome, implementation, report_dir)
    code = _exit_code(outcome)
    document = _document(outcome, implementation, folders, code)
    (report_dir / "crash-report.json").write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    if as_json:
        print_json(document)
    else:
        with even_if_nobody_reads():
            for line in _lines(outcome, implementation, folders, code):
                console().print(inert(line), soft_wrap=True, markup=False)
    sys.exit(code)


def again(folder: Path, *, timeout_s: float = 10.0, as_json: bool) -> NoReturn:
    """Judge a kept crash again, without recording anything, and exit."""
    try:
        kept, image = bundle.read(folder)
    except bundle.BundleError as error:
        wrong_usage(f"{error}")
    command, name = kept.target.get("command"), kept.target.get("name")
    words = shlex.join(command) if isinstance(command, list) else None
    target = target_or_exit(JOURNALS, name if isinstance(name, str) else None, words)
    try:
        wrong = bundle.judged_again(kept, image, target, timeout_s)
    except (AdapterFault, Silence) as error:
        sys.stderr.write(f"perdure: {inert(str(error))}\n")
        sys.exit(NO_VERDICT)
    is_same = wrong is not None and wrong.rule == kept.rule
    if as_json:
        told = None if wrong is None else {"rule": wrong.rule, "sentence": wrong.sentence}
        print_json({"failure": kept.requirement, "again": told, "same": is_same})
    else:
        how = "in the same way" if is_same else "in another way"
        came = "It recovers from this state now." if wrong is None else f"It fails again, {how}: {wrong.sentence}."
        with even_if_nobody_reads():
            for line in (f"{kept.requirement}  {requirements()[kept.requirement].sentence}", "", kept.blame, came):
                console().print(inert(line), soft_wrap=True, markup=False)
    sys.exit(CONFORMANT if wrong is None else NOT_CONFORMANT)


def _play(target: Target, line: str, timeout_s: float, *, as_json: bool) -> NoReturn:
    try:
        replay = parse(line)
    except ReplayError as error:
        wrong_usage(f"{error}")
    try:
        found = play(target, replay, timeout_s)
    except (ReplayError, CannotBeTried, AdapterFault, Silence) as error:
        sys.stderr.write(f"perdure: {inert(str(error))}\n")
        sys.exit(NO_VERDICT)
    if as_json:
        print_json(None if found is None else _finding(found, None))
    else:
        with even_if_nobody_reads():
            for told in ["Nothing is wrong."] if found is None else _told(found, target):
                console().print(inert(told), soft_wrap=True, markup=False)
    sys.exit(CONFORMANT if found is None else NOT_CONFORMANT)


def _know(workload: str | None) -> None:
    if workload is not None and workload not in WORKLOADS:
        wrong_usage(f"There is no workload {workload!r}. What there is: {', '.join(sorted(WORKLOADS))}.")


def _layers_of_a_server(names: list[str]) -> tuple[OfServer, ...]:
    for name in names:
        if name not in crash_servers.LAYERS:
            wrong_usage(f"There is no layer {name!r} of a server. What there is: {', '.join(crash_servers.LAYERS)}.")
    return tuple(name for name in crash_servers.LAYERS if name in names or not names)


def _layers(names: list[str]) -> tuple[Layer, ...]:
    for name in names:
        if name == crash_schedules.LAYER:
            wrong_usage("--layer schedule stands alone: it asks several clients at a time.")
        if name in crash_servers.LAYERS:
            wrong_usage(f'--layer {name} needs the server: --server "server --port {{port}} --data {{state_dir}}".')
        if name not in LAYERS:
            wrong_usage(f"There is no layer {name!r}. What there is: {', '.join(LAYERS)}.")
    return tuple(name for name in LAYERS if name in names or not names)


def _prepare(report_dir: Path) -> None:
    try:
        report_dir.mkdir(parents=True, exist_ok=True)
        for requirement in requirements():
            folder = report_dir / _FAILURES / requirement
            if bundle.is_bundle(folder) and not folder.is_symlink():
                shutil.rmtree(folder)
    except OSError as error:
        wrong_usage(f"{report_dir} cannot be written: {error.strerror}. Name another folder with --report.")


def _keep(outcome: Outcome, target: Target, report_dir: Path) -> dict[str, Path]:
    if outcome.description is None:
        return {}
    claims = outcome.description.capabilities
    return {
        requirement: bundle.write(report_dir, found, target, claims, "\n".join(_told(found, target)) + "\n")
        for requirement, found in outcome.found.items()
    }


def _exit_code(outcome: Outcome) -> int:
    verdicts = list(outcome.verdicts.values())
    return exit_code(verdicts, "normal", faulty=outcome.fault is not None)


def _words_of(target: Target) -> str:
    """Return what names a target on the command line."""
    words = target.words()
    command = words.get("command")
    return f"--command {shlex.quote(shlex.join(command))}" if isinstance(command, list) else f"{words['name']}"


def _told(found: Found, target: Target) -> list[str]:
    return [
        f"{found.requirement}  {requirements()[found.requirement].sentence}",
        "",
        f"level     {found.level}",
        f"blame     {found.blame}",
        f"came      {found.sentence}",
        f"asked     {', '.join(each.method for each in found.exchanges)}",
        *(f"state     {line}" for line in bundle.listed(found.image)),
        f"replay    perdure crash {_words_of(target)} --replay {shlex.quote(found.replay)}",
    ]


def _finding(found: Found, folder: Path | None) -> dict[str, object]:
    return {
        "requirement": found.requirement,
        "layer": found.layer,
        "level": found.level,
        "blame": found.blame,
        "sentence": found.sentence,
        "replay": found.replay,
        "folder": None if folder is None else str(folder),
    }


def _document(outcome: Outcome, target: Target, folders: dict[str, Path], code: int) -> dict[str, object]:
    description = outcome.description
    return {
        "crash_report_version": 1,
        "target": target.words(),
        "name": None if description is None else description.name,
        "version": None if description is None else description.version,
        "claimed": None if description is None else description.capabilities.durable,
        "judged_at": outcome.level,
        "highest_level": outcome.highest_level,
        "workload": None if outcome.workload is None else f"{outcome.workload}",
        "layers": list(outcome.options.layers),
        "counts": dict(outcome.counts),
        "verdicts": dict(outcome.verdicts),
        "findings": [_finding(found, folders[found.requirement]) for found in outcome.found.values()],
        "fault": None if outcome.fault is None else str(outcome.fault),
        "not_claimed": _not_claimed(outcome),
        "exit_code": code,
    }


def _not_claimed(outcome: Outcome) -> list[str]:
    """Return what this says nothing about, in sentences."""
    machine = why_not()
    left_out = [f"{name}: {LAYERS[name]}; not asked for" for name in LAYERS if name not in outcome.options.layers]
    opened = [f"{name}: {reason}" for name, reason in outcome.open.items()]
    above = [level for level in LEVELS if outcome.level is not None and not outcome.is_judged_at(level)]
    return [
        *([] if machine is None else [machine]),
        *opened,
        *left_out,
        *(["levels above what it claims: " + ", ".join(above)] if above else []),
        *NOT_THERE,
    ]


def _lines(outcome: Outcome, target: Target, folders: dict[str, Path], code: int) -> list[str]:
    lines: list[str] = []
    if outcome.description is not None:
        claimed = outcome.description.capabilities.durable or "no level"
        lines += [f"{outcome.description.name} {outcome.description.version}, which claims {claimed}", ""]
    states = {level: outcome.counts[level] for level in LEVELS if outcome.counts[level]}
    if states:
        total = sum(states.values())
        pace = f", {total / outcome.seconds:,.0f} a second" if outcome.seconds else ""
        lines.append(
            f"power     {total:,} states of the disk{pace}: " + ", ".join(f"{k} {v:,}" for k, v in states.items())
        )
    if outcome.counts["calls"]:
        lines.append(f"calls     {outcome.counts['calls']:,} kills, {outcome.counts['errors']:,} calls that failed")
    lines += ["", *(f"{key}  {verdict}" for key, verdict in outcome.verdicts.items()), ""]
    for requirement, found in outcome.found.items():
        note = [] if outcome.is_judged_at(found.level) else ["It does not claim this level; it is told all the same."]
        lines += [*note, *_told(found, target), f"again     perdure rerun {shlex.quote(str(folders[requirement]))}", ""]
    if outcome.fault is not None:
        lines += [f"adapter fault: {outcome.fault}", ""]
    if outcome.highest_level is not None or outcome.found:
        lines.append(f"holds at  {outcome.highest_level or 'no level'}")
    lines += [f"not claimed  {each}" for each in _not_claimed(outcome)]
    word = {CONFORMANT: "CONFORMANT", NOT_CONFORMANT: "NOT CONFORMANT"}.get(code, "NO VERDICT")
    return [*lines, "", f"{word}  at {outcome.level or 'no level'}"]
