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

from perdure_conformance.cli.common import console, print_json, progress_bar, wrong_usage
from perdure_conformance.interrupts import interrupt_on_signals
from perdure_conformance.journal import selftest as journal
from perdure_conformance.tool import selftest as tool
from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT, Depth

PROFILES: Final = ("journal", "tool")
Item = TypeVar("Item")
Result = TypeVar("Result")


EPILOG = """\b
Examples:
  perdure selftest
  perdure selftest journal --jobs 2
  perdure selftest journal --full
"""


def selftest(
    profiles: Annotated[list[str] | None, typer.Argument(help="journal, tool; all by default.")] = None,
    full: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--full", help="20 seeds at depth normal for what must pass, and what the machine finds alone."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**52, help="The seed of what is drawn.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, help="How many mutants are judged at once.")] = os.cpu_count() or 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the matrix as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Judge the suite itself: each mutant must be found by name, each good journal must pass.

    Exit codes: 0 all is well, 1 a mutant survives, is killed by accident, or a good journal is accused; 2 wrong usage.
    """
    chosen = profiles or list(PROFILES)
    for profile in chosen:
        if profile not in PROFILES:
            wrong_usage(f"There is no profile {profile!r} to test. There are: {', '.join(PROFILES)}.")
    out = Console(stderr=True, quiet=True) if as_json else console()
    document: dict[str, object] = {}
    problems: list[str] = []
    if "journal" in chosen:
        document["journal"] = _journal(out, problems, seed=seed, jobs=jobs, full=full)
    if "tool" in chosen:
        document["tool"] = _tool(out, problems)
    document["problems"] = problems
    if as_json:
        print_json(document)
    for problem in problems:
        out.print(f"[bold red]✗[/] {escape(problem)}", soft_wrap=True)
    out.print("[bold green]All is well.[/]" if not problems else f"[bold red]Problems: {len(problems)}.[/]")
    sys.exit(NOT_CONFORMANT if problems else CONFORMANT)


def _journal(out: Console, problems: list[str], *, seed: int, jobs: int, full: bool) -> dict[str, object]:
    kills = _each("mutants", _kill, [(name, seed, full) for name in journal.MUTANTS], jobs)
    seeds = tuple(range(seed, seed + (20 if full else 2)))
    depth: Depth = "normal" if full else "quick"
    goods = _each("good journals", _good, [(name, seeds, depth) for name, _, _ in journal.good_journals()], jobs)
    problems += [f"{kill.mutant.name} {problem}" for kill in kills for problem in kill.problems]
    problems += [f"{good.name} {problem}" for good in goods for problem in good.problems]
    problems += [f"{requirement} has no mutant" for requirement in journal.unproven()]
    median = journal.median_operations(kills)
    if median > journal.MAX_MEDIAN_OPERATIONS:
        problems.append(f"the median case has {median} operations, more than {journal.MAX_MEDIAN_OPERATIONS}")
    _print_kills(out, kills)
    _print_goods(out, goods, seeds, depth)
    largest = max(kill.operations for kill in kills)
    out.print(f"{len(kills)} mutants; shrunk cases: median {median:g} operations, largest {largest}.")
    return {
        "mutants": [journal.as_document(kill) for kill in kills],
        "good": [{"name": good.name, "seconds": round(good.seconds, 3), "problems": good.problems} for good in goods],
        "median_operations": median,
        "largest_operations": largest,
    }


def _print_kills(out: Console, kills: list[journal.Kill]) -> None:
    table = Table(title="Kill matrix", title_justify="left", box=None, pad_edge=False, header_style="dim")
    for heading in ("requirement", "mutant", "killed", "ms", "operations", "found by", "also breaks"):
        table.add_column(heading, justify="right" if heading in {"ms", "operations"} else "left")
    for kill in sorted(kills, key=lambda kill: (kill.mutant.breaks, kill.mutant.name)):
        table.add_row(
            kill.mutant.breaks,
            kill.mutant.name,
            "[green]yes[/]" if not kill.problems else "[bold red]no[/]",
            f"{kill.seconds * 1000:.0f}",
            str(kill.operations),
            escape(kill.found_by) + {True: " (and the machine alone)", False: "", None: ""}[kill.by_machine],
            " ".join(kill.mutant.overlaps),
        )
    out.print(table)


def _print_goods(out: Console, goods: list[journal.Pass], seeds: tuple[int, ...], depth: Depth) -> None:
    title = f"Good journals, {len(seeds)} seeds, depth {depth}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="dim")
    for heading in ("journal", "passes", "s", "oddity"):
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


def _kill(item: tuple[str, int, bool]) -> journal.Kill:
    name, seed, full = item
    return journal.kill(journal.MUTANTS[name], seed, full=full)


def _good(item: tuple[str, tuple[int, ...], Depth]) -> journal.Pass:
    wanted, seeds, depth = item
    name, oddity, target = next(good for good in journal.good_journals() if good[0] == wanted)
    return journal.check_good(name, oddity, target, seeds, depth)
