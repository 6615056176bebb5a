"""`perdure crash`: crash a journal at every window, and judge what comes back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from perdure.journal.contract import DurabilityLevel
from perdure_conformance.cli import crash_schedules, crash_servers
from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, target_or_exit, wrong_usage
from perdure_conformance.cli.judged import judged
from perdure_conformance.crash.campaign import LAYERS, Found, Layer, Plan, layers_of, play
from perdure_conformance.crash.network import Layer as OfServer
from perdure_conformance.crash.profile import JUDGED, under
from perdure_conformance.crash.recording import REBUILDABLE
from perdure_conformance.crash.replay import ReplayError, Workload, parse
from perdure_conformance.crash.windows import CannotBeTried
from perdure_conformance.crash.workload import WORKLOADS
from perdure_conformance.harness.connection import AdapterFault, Silence
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import requirements
from perdure_conformance.suite import Options
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

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
    rebuildable: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Files that it makes anew whenever they are missing, besides *-shm."),
    ] = None,
    replay: Annotated[
        str | None, typer.Option(metavar="LINE", help="Play one crash again, as a finding has named it; try no other.")
    ] = None,
    report_dir: Annotated[
        Path, typer.Option("--report", help="Where report.json, the folders of failures and the renderings go.")
    ] = Path("perdure-crash"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Crash a journal at every window: kills, failed calls, power cuts. Say at which level it keeps its word.

    Nothing needs to be built in: the program is watched from outside, on Linux. With --server its connection is cut and
    its server killed instead, at every message.

    Exit codes: 0 conformant, 1 not conformant, 2 wrong usage, 3 no verdict.
    """
    implementation = target_or_exit(JOURNALS, target, command)
    made_anew = (*REBUILDABLE, *(rebuildable or []))
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
        _play(implementation, replay, timeout, made_anew, as_json=as_json)
    _know(workload)
    if layer == [crash_schedules.LAYER]:
        _prepare(report_dir)
        clients = crash_schedules.Asked(Workload(workload or "append", appends, seed), level, schedules, timeout)
        crash_schedules.judge(implementation, clients, report_dir, as_json=as_json)
    layers = _layers(layer or [])
    judged_as = under(Plan(layers=layers, level=level, workload=workload, rebuildable=made_anew, appends=appends))
    of_layers = (each for each in JUDGED if layers_of(each).keys() & set(layers))
    only = frozenset() if len(layers) == len(LAYERS) else frozenset(of_layers)
    options = Options("normal", seed, timeout_s=timeout, only=only)
    done = judged(judged_as, implementation, options, report_dir, as_json=as_json)
    sys.exit(done.report.exit_code)


def _play(target: Target, line: str, timeout_s: float, made_anew: Sequence[str], *, as_json: bool) -> NoReturn:
    try:
        replay = parse(line)
    except ReplayError as error:
        wrong_usage(f"{error}")
    try:
        found = play(target, replay, timeout_s, made_anew)
    except (ReplayError, CannotBeTried, AdapterFault, Silence) as error:
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
        f"level     {found.level}",
        f"blame     {found.blame}",
        f"actual    {found.sentence}",
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
    except OSError as error:
        wrong_usage(f"{report_dir} cannot be written: {error.strerror}. Name another folder with --report.")
