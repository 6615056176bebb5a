"""`perdure selftest`: the suite judges itself, and prints the kill matrix."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from perdure_conformance import selftest as suite
from perdure_conformance.cli.common import console, print_json, wrong_usage
from perdure_conformance.cli.progress import tracked_of
from perdure_conformance.crash import selftest as crash
from perdure_conformance.crash.programs import NoSuchProgram
from perdure_conformance.crash.recording import why_not_disturbed
from perdure_conformance.crash.recovery import scratch
from perdure_conformance.interrupts import Interrupted, interrupt_on_signals, tidy_up
from perdure_conformance.profiles import PROFILES
from perdure_conformance.suite import AnyProfile
from perdure_conformance.tool import selftest as tool
from perdure_conformance.verdict import CONFORMANT, INTERRUPTED, NOT_CONFORMANT, Depth

_ALL: Final = (*PROFILES, "crash", "tool")
_Look = Literal["quick", "small", "whole", "full"]
"""Whether a mutant is found; its case made smaller, too; accidents looked for, too; what is drawn tried alone, too."""
Item = TypeVar("Item")
Result = TypeVar("Result")


EPILOG = """\b
Examples:
  perdure selftest
  perdure selftest journal --jobs 2
  perdure selftest journal --full
  perdure selftest spec --quick --slice 3
  perdure selftest crash --full --jobs 1
"""


def selftest(
    profiles: Annotated[
        list[str] | None, typer.Argument(metavar="PROFILE", help=f"{', '.join(_ALL)}; all by default.")
    ] = None,
    full: Annotated[  # noqa: FBT002
        bool,
        typer.Option(
            "--full", help="20 seeds for what must pass, the first at depth normal, and what is drawn finds alone."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", min=0, max=2**52, help="The seed of what is drawn.")] = 1,
    quick: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--quick", help="See only that mutants are found; look at a tenth of them more closely."),
    ] = False,
    which: Annotated[
        int | None,
        typer.Option("--slice", metavar="N", min=0, max=suite.SLICES - 1, help="Which tenth; else that of the day."),
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", min=1, help="How many mutants are judged at once.")] = os.cpu_count()
    or 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the matrix as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Judge the suite itself: each mutant must be found by name, all that is good must pass.

    Exit codes: 0 all is well, 1 a mutant survives, is killed by accident, or something good is accused; 2 wrong usage.
    """
    chosen = profiles or list(_ALL)
    which = _slice(which, quick=quick, full=full)
    for name in chosen:
        if name not in _ALL:
            wrong_usage(f"There is no profile {name!r} to test. There are: {', '.join(_ALL)}.")
    out = Console(stderr=True, quiet=True) if as_json else console()
    document: dict[str, object] = {}
    problems: list[str] = []
    for name, profile in PROFILES.items():
        if name in chosen:
            document[name] = _profile(profile, out, problems, seed=seed, jobs=jobs, full=full, which=which)
    if "crash" in chosen:
        document["crash"] = _crash(out, problems, seed=seed, jobs=jobs, full=full)
    if "tool" in chosen:
        document["tool"] = _tool(out, problems)
    if which is not None:
        document["slice"] = which
    document["problems"] = problems
    if as_json:
        print_json(document)
    for problem in problems:
        out.print(f"[bold red]✗[/] {escape(problem)}", soft_wrap=True)
    out.print("[bold green]All is well.[/]" if not problems else f"[bold red]Problems: {len(problems)}.[/]")
    sys.exit(NOT_CONFORMANT if problems else CONFORMANT)


def _slice(which: int | None, *, quick: bool, full: bool) -> int | None:
    """Return which tenth of the mutants is looked at whole; None for all of them."""
    if full and quick:
        wrong_usage("Give --full or --quick, not both.")
    if which is not None and not quick:
        wrong_usage("--slice belongs to --quick: else every mutant is looked at whole.")
    return datetime.now(UTC).toordinal() % suite.SLICES if quick and which is None else which


def _profile(
    profile: AnyProfile, out: Console, problems: list[str], *, seed: int, jobs: int, full: bool, which: int | None
) -> dict[str, object]:
    closer: _Look = "full" if full else "whole" if which is None or not profile.written_stands_alone else "small"
    mutants: list[tuple[str, str, int, _Look]] = [
        (profile.name, name, seed, closer if which in {None, number % suite.SLICES} else "quick")
        for number, name in enumerate(profile.mutants)
    ]
    kills = _each("mutants", _kill, mutants, jobs)
    seeds = tuple(range(seed, seed + (20 if full else 2)))
    first: Depth = "normal" if full else "quick"
    label = f"good {profile.subjects.noun}s"
    goods = _each(label, _good, [(profile.name, name, seeds, first, which) for name in suite.good_ones(profile)], jobs)
    problems += [f"{kill.mutant.name} {problem}" for kill in kills for problem in kill.problems]
    problems += [f"{good.name} {problem}" for good in goods for problem in good.problems]
    problems += [f"{requirement} has no mutant" for requirement in suite.unproven(profile)]
    median, sizes = suite.median_size(kills), profile.sizes
    if median > sizes.median and which is None:  # Of a few cases it says little.
        problems.append(f"the median case has {median} {sizes.unit}, more than {sizes.median}")
    _print_kills(out, kills, sizes.unit)
    _print_goods(out, goods, seeds, first, profile.subjects.noun)
    largest = max((kill.size for kill in kills), default=0)
    out.print(f"{len(kills)} mutants; shrunk cases: median {median:g} {sizes.unit}, largest {largest}.")
    if which is not None:
        out.print(_not_looked_at(kills, which, closer), soft_wrap=True)
    return {
        "mutants": [suite.as_document(kill) for kill in kills],
        "good": [{"name": good.name, "seconds": round(good.seconds, 3), "problems": good.problems} for good in goods],
        "unit": sizes.unit,
        "median_size": median,
        "largest_size": largest,
    }


def _not_looked_at(kills: list[suite.Kill], which: int, closer: _Look) -> str:
    """Say what a quick look leaves out."""
    smaller = sum(kill.size > 0 for kill in kills)
    if closer == "whole":
        seen, by_accident, asked = "looked at whole", "those", ""
    else:
        seen, by_accident, asked = "found, their cases made smaller", "any", ", odd ones a third of it each"
    return (
        f"Quick, slice {which} of 0 to {suite.SLICES - 1}: {smaller} mutants were {seen}. "
        f"The other {len(kills) - smaller} were only found, by the checks of what they break. It was not looked "
        f"whether something finds {by_accident} by accident, the median was not held to its bar, and what must pass "
        f"was asked what is written for one seed alone{asked}."
    )


def _print_kills(out: Console, kills: list[suite.Kill], unit: str) -> None:
    table = Table(title="Kill matrix", title_justify="left", box=None, pad_edge=False, header_style="dim")
    for heading in ("requirement", "mutant", "killed", "ms", unit, "found by", "also breaks"):
        table.add_column(heading, justify="right" if heading in {"ms", unit} else "left")
    for kill in sorted(kills, key=lambda kill: (kill.mutant.breaks, kill.mutant.name)):
        table.add_row(
            kill.mutant.breaks,
            kill.mutant.name,
            "[green]yes[/]" if not kill.problems else "[bold red]no[/]",
            f"{kill.seconds * 1000:.0f}",
            str(kill.size) if kill.size else "",
            escape(kill.found_by) + {True: " (and what is drawn, alone)", False: "", None: ""}[kill.drawn_alone],
            " ".join(kill.mutant.overlaps),
        )
    out.print(table)


def _print_goods(out: Console, goods: list[suite.Pass], seeds: tuple[int, ...], first: Depth, noun: str) -> None:
    title = f"Good {noun}s, {len(seeds)} seeds, the first at depth {first}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="dim")
    for heading in (noun, "passes", "s", "oddity"):
        table.add_column(heading, justify="right" if heading == "s" else "left")
    for good in goods:
        passes = "[green]yes[/]" if not good.problems else "[bold red]no[/]"
        table.add_row(good.name, passes, f"{good.seconds:.1f}", escape(good.oddity))
    out.print(table)


def _crash(out: Console, problems: list[str], *, seed: int, jobs: int, full: bool) -> dict[str, object]:
    """Let the crash engine judge itself; what this machine does not allow is said."""
    reason = why_not_disturbed()
    if reason is not None:
        out.print(f"crash: nothing is tried. {reason}", markup=False, soft_wrap=True)
        return {"not_tried": [reason]}
    with scratch() as folder:
        kills = _each("crash mutants", _crash_kill, [(name, folder, seed, full) for name in crash.planted()], jobs)
        goods = _each("good journals", _crash_good, [(name, folder, seed, full) for name in crash.good_ones()], jobs)
    killed = [kill for kill in kills if isinstance(kill, crash.Kill)]
    passed = [good for good in goods if isinstance(good, crash.Pass)]
    not_tried = [each for each in (*kills, *goods) if isinstance(each, str)]
    problems += [f"{kill.name} {problem}" for kill in killed for problem in kill.problems]
    problems += [f"{good.name} {problem}" for good in passed for problem in good.problems]
    problems += [f"{requirement} has no mutant" for requirement in crash.unproven()]
    _print_crashes(out, killed, passed)
    for line in not_tried:
        out.print(f"not tried: {line}", markup=False, soft_wrap=True)
    return {
        "mutants": [crash.as_document(kill) for kill in killed],
        "good": [{**asdict(good), "seconds": round(good.seconds, 3)} for good in passed],
        "not_tried": not_tried,
    }


def _print_crashes(out: Console, kills: list[crash.Kill], goods: list[crash.Pass]) -> None:
    table = Table(title="Kill matrix of crashes", title_justify="left", box=None, pad_edge=False, header_style="dim")
    for heading in ("requirement", "mutant", "killed", "s", "layer", "the guilty call"):
        table.add_column(heading, justify="right" if heading == "s" else "left")
    for kill in sorted(kills, key=lambda kill: (kill.breaks, kill.name)):
        yes = "[green]yes[/]" if not kill.problems else "[bold red]no[/]"
        cells = (kill.breaks, escape(kill.name), yes, f"{kill.seconds:.1f}")
        for layer, blame in kill.blame.items() or [("", "")]:
            table.add_row(*cells, layer, escape(blame))
    out.print(table)
    table = Table(title="Good journals", title_justify="left", box=None, pad_edge=False, header_style="dim")
    for heading in ("journal", "passes", "at", "seeds", "states", "windows", "s", "oddity"):
        table.add_column(heading, justify="right" if heading in {"seeds", "states", "windows", "s"} else "left")
    for good in goods:
        yes = "[green]yes[/]" if not good.problems else "[bold red]no[/]"
        figures = (f"{good.seeds}", f"{good.states:,}", f"{good.windows:,}", f"{good.seconds:.1f}")
        table.add_row(good.name, yes, good.claimed, *figures, escape(good.oddity))
    out.print(table)
    out.print("Each finding was played again from its line and from its folder.")


def _crash_kill(item: tuple[str, Path, int, bool]) -> crash.Kill | str:
    name, folder, seed, full = item
    try:
        return crash.kill(crash.planted()[name], folder, seed, full=full)
    except NoSuchProgram as reason:
        return f"{name}: {reason}"


def _crash_good(item: tuple[str, Path, int, bool]) -> crash.Pass | str:
    name, folder, seed, full = item
    try:
        return crash.check_good(crash.good_ones()[name], folder, seed, full=full)
    except NoSuchProgram as reason:
        return f"{name}: {reason}"


def _tool(out: Console, problems: list[str]) -> list[object]:
    kills = tool.kill_all()
    table = Table(title="Kill matrix of the tool", title_justify="left", box=None, pad_edge=False, header_style="dim")
    for heading in ("requirement", "mutant of the tool", "killed", "fault"):
        table.add_column(heading)
    for kill in kills:
        killed = "[green]yes[/]" if not kill.problems else "[bold red]no[/]"
        killed = killed if kill.breaks != "-" else "-"
        table.add_row(kill.breaks, kill.name, killed, escape(kill.fault))
    out.print(table)
    problems += [f"{kill.name} {problem}" for kill in kills for problem in kill.problems]
    problems += [f"{requirement} has no mutant" for requirement in tool.unproven()]
    return [{"name": kill.name, "breaks": kill.breaks, "problems": kill.problems} for kill in kills]


def _each(label: str, do: Callable[[Item], Result], items: list[Item], jobs: int) -> list[Result]:
    """Do all items, in processes of their own, with progress on standard error."""
    with _worker_pool(jobs) as pool:
        return list(tracked_of(pool.map(partial(_ending, do), items), label, len(items)))


def _ending(do: Callable[[Item], Result], item: Item) -> Result:
    """Do one item; whoever interrupts that ends the process, which would begin with the next one."""
    try:
        return do(item)
    except Interrupted:
        tidy_up()
        os._exit(INTERRUPTED)


@contextmanager
def _worker_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Give a pool whose processes are ended at once if this one is interrupted."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=interrupt_on_signals) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()
            raise


def _kill(item: tuple[str, str, int, _Look]) -> suite.Kill:
    name, mutant, seed, look = item
    profile = PROFILES[name]
    if look == "quick":
        return suite.find(profile, profile.mutants[mutant], seed)
    return suite.kill(profile, profile.mutants[mutant], seed, full=look == "full", accidents=look != "small")


def _good(item: tuple[str, str, tuple[int, ...], Depth, int | None]) -> suite.Pass:
    name, good, seeds, first, which = item
    profile = PROFILES[name]
    twin = suite.good_ones(profile)[good]
    if which is None:
        return suite.check_good(profile, twin, seeds, first)
    only = suite.a_third(profile, good, which)
    return suite.check_good(profile, twin, seeds, first, only=only, written_once=True)
