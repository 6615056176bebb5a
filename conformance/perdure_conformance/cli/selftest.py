"""`perdure selftest`: the suite judges itself, and prints the kill matrix."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Annotated, Final, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from perdure_conformance import selftest as suite
from perdure_conformance.cli.common import console, print_json, progress_bar, wrong_usage
from perdure_conformance.interrupts import interrupt_on_signals
from perdure_conformance.profiles import PROFILES
from perdure_conformance.suite import AnyProfile
from perdure_conformance.tool import selftest as tool
from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT, Depth

_ALL: Final = (*PROFILES, "tool")
Item = TypeVar("Item")
Result = TypeVar("Result")


EPILOG = """\b
Examples:
  perdure selftest
  perdure selftest journal --jobs 2
  perdure selftest journal --full
  perdure selftest spec --sample 10
"""


def selftest(
    profiles: Annotated[list[str] | None, typer.Argument(help=f"{', '.join(_ALL)}; all by default.")] = None,
    full: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--full", help="20 seeds at depth normal for what must pass, and what is drawn finds alone."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**52, help="The seed of what is drawn.")] = 1,
    sample: Annotated[int, typer.Option(min=1, help="Look for accidental kills at one mutant in so many.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, help="How many mutants are judged at once.")] = os.cpu_count() or 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the matrix as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Judge the suite itself: each mutant must be found by name, all that is good must pass.

    Exit codes: 0 all is well, 1 a mutant survives, is killed by accident, or something good is accused; 2 wrong usage.
    """
    chosen = profiles or list(_ALL)
    for name in chosen:
        if name not in _ALL:
            wrong_usage(f"There is no profile {name!r} to test. There are: {', '.join(_ALL)}.")
    out = Console(stderr=True, quiet=True) if as_json else console()
    document: dict[str, object] = {}
    problems: list[str] = []
    for name, profile in PROFILES.items():
        if name in chosen:
            document[name] = _profile(profile, out, problems, seed=seed, jobs=jobs, full=full, sample=sample)
    if "tool" in chosen:
        document["tool"] = _tool(out, problems)
    document["problems"] = problems
    if as_json:
        print_json(document)
    for problem in problems:
        out.print(f"[bold red]✗[/] {escape(problem)}", soft_wrap=True)
    out.print("[bold green]All is well.[/]" if not problems else f"[bold red]Problems: {len(problems)}.[/]")
    sys.exit(NOT_CONFORMANT if problems else CONFORMANT)


def _profile(
    profile: AnyProfile, out: Console, problems: list[str], *, seed: int, jobs: int, full: bool, sample: int
) -> dict[str, object]:
    mutants = [(profile.name, name, seed, full, number % sample == 0) for number, name in enumerate(profile.mutants)]
    kills = _each("mutants", _kill, mutants, jobs)
    seeds = tuple(range(seed, seed + (20 if full else 2)))
    depth: Depth = "normal" if full else "quick"
    label = f"good {profile.subjects.noun}s"
    goods = _each(label, _good, [(profile.name, name, seeds, depth) for name in suite.good_ones(profile)], jobs)
    problems += [f"{kill.mutant.name} {problem}" for kill in kills for problem in kill.problems]
    problems += [f"{good.name} {problem}" for good in goods for problem in good.problems]
    problems += [f"{requirement} has no mutant" for requirement in suite.unproven(profile)]
    median, sizes = suite.median_size(kills), profile.sizes
    if median > sizes.median:
        problems.append(f"the median case has {median} {sizes.unit}, more than {sizes.median}")
    _print_kills(out, kills, sizes.unit)
    _print_goods(out, goods, seeds, depth, profile.subjects.noun)
    largest = max((kill.size for kill in kills), default=0)
    out.print(f"{len(kills)} mutants; shrunk cases: median {median:g} {sizes.unit}, largest {largest}.")
    return {
        "mutants": [suite.as_document(kill) for kill in kills],
        "good": [{"name": good.name, "seconds": round(good.seconds, 3), "problems": good.problems} for good in goods],
        "unit": sizes.unit,
        "median_size": median,
        "largest_size": largest,
    }


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
            str(kill.size),
            escape(kill.found_by) + {True: " (and what is drawn, alone)", False: "", None: ""}[kill.drawn_alone],
            " ".join(kill.mutant.overlaps),
        )
    out.print(table)


def _print_goods(out: Console, goods: list[suite.Pass], seeds: tuple[int, ...], depth: Depth, noun: str) -> None:
    title = f"Good {noun}s, {len(seeds)} seeds, depth {depth}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="dim")
    for heading in (noun, "passes", "s", "oddity"):
        table.add_column(heading, justify="right" if heading == "s" else "left")
    for good in goods:
        passes = "[green]yes[/]" if not good.problems else "[bold red]no[/]"
        table.add_row(good.name, passes, f"{good.seconds:.1f}", escape(good.oddity))
    out.print(table)


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
    results = []
    with progress_bar() as bar, _worker_pool(jobs) as pool:
        for result in bar.track(pool.map(do, items), total=len(items), description=label):
            results.append(result)  # noqa: PERF402 - one by one, as they come
    return results


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


def _kill(item: tuple[str, str, int, bool, bool]) -> suite.Kill:
    name, mutant, seed, full, accidents = item
    profile = PROFILES[name]
    return suite.kill(profile, profile.mutants[mutant], seed, full=full, accidents=accidents)


def _good(item: tuple[str, str, tuple[int, ...], Depth]) -> suite.Pass:
    name, good, seeds, depth = item
    profile = PROFILES[name]
    return suite.check_good(profile, suite.good_ones(profile)[good], seeds, depth)
