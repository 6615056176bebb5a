"""`perdure crash`: crash a journal at every window, and judge what comes back."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer

from perdure.journal.contract import DurabilityLevel
from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, target_or_exit, wrong_usage
from perdure_conformance.cli.judged import judged
from perdure_conformance.crash import network
from perdure_conformance.crash.campaign import FILES, Plan
from perdure_conformance.crash.findings import Found, Layer
from perdure_conformance.crash.of_clients import OfClients
from perdure_conformance.crash.of_files import OfFiles
from perdure_conformance.crash.of_servers import OfServers
from perdure_conformance.crash.profile import Campaign, selected_by, under
from perdure_conformance.crash.recording import REBUILDABLE
from perdure_conformance.crash.replay import Replay, ReplayError, Schedule, parse
from perdure_conformance.crash.scheduling import SCHEDULES, CannotBeScheduled
from perdure_conformance.crash.servers import Behind, ServerFault
from perdure_conformance.crash.windows import CannotBeTried
from perdure_conformance.crash.workload import WORKLOADS
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import PythonTarget, Target
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.reports.failure import last_words
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import requirements
from perdure_conformance.suite import Options
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

_OF_CLIENTS: list[str] = ["schedule"]

EPILOG = """\b
Examples:
  perdure crash
  perdure crash files --layer power
  perdure crash --command "node adapter.mjs" --level posix-weak
  perdure crash --command "node adapter.mjs" --server "server --port {port} --data {state_dir}" --connect ADDRESS
  perdure crash files-write --layer power --replay v1:w=append,n=4,seed=1:power/ordered:t7:-6
  perdure crash module:factory --layer schedule
"""


def crash_command(  # noqa: PLR0913, PLR0917 - the options of a command
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            help=f"A built-in journal ({', '.join(JOURNALS.built_in)}) or a factory as module:factory.",
        ),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="A program that speaks the protocol, in place of TARGET; run without a shell."
        ),
    ] = None,
    level: Annotated[
        DurabilityLevel | None, typer.Option(help="Judge it at this level; without it, at that which it claims.")
    ] = None,
    layer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LAYER",
            help=f"Try this alone: {', '.join(FILES)} or schedule; with --server {' or '.join(network.LAYERS)}. "
            "Default: all but schedule.",
        ),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            metavar="WORKLOAD", help=f"What is asked: {', '.join(sorted(WORKLOADS))}. Default: what it claims."
        ),
    ] = None,
    appends: Annotated[int, typer.Option(min=1, max=1_000, metavar="N", help="How many appends are sent.")] = 4,
    seed: Annotated[int, typer.Option(min=0, max=2**53 - 1, metavar="N", help="The seed of what is drawn.")] = 1,
    timeout: Annotated[
        float, typer.Option(min=0.05, max=3600, metavar="SECONDS", help="Seconds that the journal has for one answer.")
    ] = 10.0,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="The server that the journal is a client of; {port} and {state_dir} are filled in."
        ),
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
    ] = SCHEDULES,
    rebuildable: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Files that it makes anew whenever they are missing, besides *-shm."),
    ] = None,
    replay: Annotated[
        str | None, typer.Option(metavar="LINE", help="Play one crash again, as a finding has named it; try no other.")
    ] = None,
    report_dir: Annotated[
        Path,
        typer.Option(
            "--report", metavar="FOLDER", help="Where report.json, the folders of failures and the renderings go."
        ),
    ] = Path("perdure-crash"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Crash a journal at every window: kills, failed calls, power cuts. Say at which level it keeps its word.

    Nothing needs to be built in: the program is watched from outside, on Linux. With --server its connection is cut and
    its server killed instead, at every message.

    Exit codes: 0 conformant, 1 not conformant, 2 wrong usage, 3 no verdict.
    """
    implementation = target_or_exit(JOURNALS, target, command)
    line = None if replay is None else _parsed(replay)
    if workload is not None and workload not in WORKLOADS:
        wrong_usage(f"There is no workload {workload!r}. What there is: {', '.join(sorted(WORKLOADS))}.")
    names = layer or []
    campaign: Campaign
    if server is not None:
        behind = Behind(command=_words(server), connect=_variables(connect or []))
        campaign = OfServers(
            behind=behind,
            tried=_of_a_server(names),
            workload=workload or "append",
            appends=appends,
            rounds=rounds,
        )
    elif names == _OF_CLIENTS or (line is not None and any(isinstance(each, Schedule) for each in line.faults)):
        campaign = OfClients(at=level, workload=workload or "append", appends=appends, schedules=schedules)
        if not isinstance(implementation, PythonTarget):
            wrong_usage(
                "--layer schedule is for journals in Python: name a factory as module:factory, and no --command."
            )
    else:
        made_anew = (*REBUILDABLE, *(rebuildable or []))
        campaign = OfFiles(
            Plan(layers=_of_files(names), level=level, workload=workload, rebuildable=made_anew, appends=appends)
        )
    if line is not None:
        _play(campaign, implementation, line, timeout, as_json=as_json)
    options = Options("normal", seed, timeout_s=timeout, only=selected_by(campaign))
    done = judged(under(campaign), implementation, options, report_dir, as_json=as_json)
    sys.exit(done.report.exit_code)


def _parsed(line: str) -> Replay:
    try:
        return parse(line)
    except ReplayError as error:
        wrong_usage(f"{error}")


def _play(campaign: Campaign, target: Target, line: Replay, timeout_s: float, *, as_json: bool) -> NoReturn:
    try:
        found = campaign.play(target, line, timeout_s)
    except (ReplayError, CannotBeTried, CannotBeScheduled, ServerFault, AdapterFault, Silence) as error:
        sys.stderr.write(f"perdure: {inert(str(error))}\n")
        sys.exit(NO_VERDICT)
    if as_json:
        print_json(None if found is None else _in_json(found))
    else:
        lines = ["Nothing is wrong."] if found is None else _in_words(found)
        with even_if_nobody_reads():
            for told in lines:
                console().print(inert(told), soft_wrap=True, markup=False)
    sys.exit(CONFORMANT if found is None else NOT_CONFORMANT)


def _in_words(found: Found) -> list[str]:
    return [
        f"{found.requirement}  {requirements()[found.requirement].sentence}",
        "",
        *([f"level     {found.level}"] if found.level is not None else []),
        f"blame     {found.blame}",
        f"actual    {found.sentence}",
        *last_words(found.stderr),
        *(["", *found.transcript.splitlines()] if found.transcript else []),
    ]


def _in_json(found: Found) -> dict[str, object]:
    return {
        "requirement": found.requirement,
        "layer": found.layer,
        "level": found.level,
        "blame": found.blame,
        "actual": found.sentence,
        "replay": found.replay,
    }


def _words(server: str) -> tuple[str, ...]:
    """Return the words of a server's command."""
    try:
        words = shlex.split(server)
    except ValueError as error:
        wrong_usage(f"--server cannot be split into words: {error}.")
    if not any("{port}" in word for word in words):
        wrong_usage(
            '--server does not say where {port} goes; write --server "server --port {port} --data {state_dir}".'
        )
    return tuple(words)


def _variables(words: list[str]) -> tuple[str, ...]:
    """Return the variables by which the journal is told where its server is, each with its pattern if it has one."""
    for word in words:
        if not _VARIABLE.fullmatch(word):
            wrong_usage(f"--connect {word!r} names no variable of the environment: write NAME, or NAME=…{{port}}….")
    return tuple(words)


_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:=.*)?", re.DOTALL)


def _of_a_server(names: list[str]) -> tuple[Layer, ...]:
    for name in names:
        if name not in network.LAYERS:
            wrong_usage(f"There is no layer {name!r} of a server. What there is: {', '.join(network.LAYERS)}.")
    return tuple(name for name in network.LAYERS if name in names or not names)


def _of_files(names: list[str]) -> tuple[Layer, ...]:
    for name in names:
        if name in _OF_CLIENTS:
            wrong_usage("--layer schedule stands alone: it asks several clients at a time.")
        if name in network.LAYERS:
            wrong_usage(f'--layer {name} needs the server: --server "server --port {{port}} --data {{state_dir}}".')
        if name not in FILES:
            wrong_usage(f"There is no layer {name!r}. What there is: {', '.join(FILES)}.")
    return tuple(name for name in FILES if name in names or not names)
