"""`perdure bench`: how time grows with size, and what each check costs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final

import typer
from rich.table import Table

from perdure.kernel.validation.validator import validate
from perdure.kernel.values import JsonValue
from perdure_conformance.bench import crashes, exploring, journals, loading, runs, specifications
from perdure_conformance.bench.growth import Growth, measure
from perdure_conformance.bench.runs import Play
from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, wrong_usage
from perdure_conformance.cli.progress import progress, tracked, tracked_of
from perdure_conformance.verdict import CONFORMANT

EPILOG = """\b
Examples:
  perdure bench validate
  perdure bench run
  perdure bench load --json
  perdure bench journals
  perdure bench crash
  perdure bench explore
"""

NODES: Final = (100, 1_000, 10_000)
EVENTS: Final = (100, 1_000, 10_000, 100_000)
RECORDS: Final = 3_000


def bench(
    name: Annotated[
        str,
        typer.Argument(
            help="validate: the model's validator. run: whole runs, decided and reduced. "
            "load: from records to a state. journals: the journal on SQLite. "
            "crash: states of a disk and kills a second. "
            "explore: the search of perdure explore, beside a bare one."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Measure how time grows with size, or what each check costs, side by side in one run.

    The exponent is the e of time = c · size^e that fits best: 1 is linear, 2 quadratic.
    """
    if name not in _BENCHMARKS:
        wrong_usage(f"There is no benchmark {name!r}. There are: {', '.join(_BENCHMARKS)}.")
    document, tables = _BENCHMARKS[name]()
    if as_json:
        print_json(document)
    else:
        with even_if_nobody_reads():
            for table in tables:
                console().print(table)
    sys.exit(CONFORMANT)


Found = tuple[JsonValue, list[Table]]


def _validate() -> Found:
    shapes = tracked(specifications.SHAPES.items(), "validate")
    found = [measure(shape, make, validate, NODES) for shape, make in shapes]
    return _as_json(found), [_growth("Validation", "nodes", found)]


def _run() -> Found:
    found = [measure(shape, make, Play.events, NODES) for shape, make in tracked(runs.SHAPES.items(), "runs")]
    turns = [measure("turns", make, Play.events, EVENTS) for make in tracked((runs.turns,), "events")]
    tables = [_growth("Whole runs", "nodes", found), _growth("A loop of two nodes", "events", turns)]
    return _as_json([*found, *turns]), tables


def _load() -> Found:
    for play in tracked((runs.turns(RECORDS),), "load"):
        records, mean_bytes, fastest = loading.shares(play)
    title = f"From {records:,} stored records of {mean_bytes:.0f} bytes to the state of the run"
    table = _table(title, "step", "µs a record", "json.loads alone = 1")
    alone = next(iter(fastest.values()))
    for step, seconds in fastest.items():
        table.add_row(step, f"{1e6 * seconds / records:.1f}", f"{seconds / alone:.1f}")
    return {"records": records, "mean_bytes": mean_bytes, "seconds": dict(fastest)}, [table]


def _journals() -> Found:
    with progress() as tell, journals.stored(journals.SIZES) as paths:
        tell("journals", 0, 3)
        grown = journals.growth(paths)
        tell("journals", 1, 3)
        peaks = journals.peaks(paths)
        tell("journals", 2, 3)
        compared = journals.comparisons()
    memory = _table("The most memory of a process that does it, in MiB", "step", *(f"{n:,} records" for n in paths))
    for name, sizes in peaks.items():
        memory.add_row(name, *(f"{size / 2**20:.0f}" for size in sizes.values()))
    appends = _table("One append, in µs", "records", "journal", "by hand", "throughput, by hand = 1")
    for each in compared:
        appends.add_row(
            f"{each.batch}", f"{1e6 * each.journal_s:.0f}", f"{1e6 * each.by_hand_s:.0f}", f"{each.ratio:.2f}"
        )
    document: JsonValue = {
        "growth": _as_json(grown),
        "peak_bytes": {name: {str(size): peak for size, peak in sizes.items()} for name, sizes in peaks.items()},
        "appends": [
            {"records": each.batch, "journal_s": each.journal_s, "by_hand_s": each.by_hand_s, "ratio": each.ratio}
            for each in compared
        ],
    }
    return document, [_growth("A run in the journal on SQLite", "records", grown, "step"), memory, appends]


def _crash() -> Found:
    found = list(tracked_of(crashes.paces(), "crashes", len(crashes.MEASURED)))
    paces = [each for each in found if isinstance(each, crashes.Pace)]
    not_measured = [each for each in found if isinstance(each, str)]
    table = _table("Crashes that are judged", "what", "crashes", "a second", "of this processor", "aimed at")
    for each in paces:
        alone = f"{each.crashes / each.processor_s:,.0f}" if each.processor_s else ""
        table.add_row(each.what, f"{each.crashes:,}", f"{each.crashes / each.seconds:,.1f}", alone, f"{each.wanted:,}")
    for sentence in not_measured:
        table.add_row(sentence, "", "", "", "")
    document: JsonValue = {
        "paces": [
            {
                "what": each.what,
                "crashes": each.crashes,
                "seconds": each.seconds,
                "processor_s": each.processor_s,
                "wanted": each.wanted,
            }
            for each in paces
        ],
        "not_measured": not_measured,
    }
    return document, [table]


def _explore() -> Found:
    found = [exploring.speed(*each) for each in tracked(exploring.systems().items(), "explore")]
    title = "Every state of a small system, searched by the kernel and by bare Python"
    columns = ("states", "kernel, states/s", "bare, states/s", "rate, bare = 1", "reduced, states", "bare time = 1")
    table = _table(title, "system", *columns)
    for each in found:
        rates = (f"{each.kernel_rate:,.0f}", f"{each.bare_rate:,.0f}", f"{each.ratio:.3f}")
        reduced = (f"{each.reduced_states:,}", f"{1 / each.reduced_ratio:.2f}")
        table.add_row(each.name, f"{each.states:,}", *rates, *reduced)
    document: JsonValue = [
        {
            "system": each.name,
            "states": each.states,
            "kernel_states_per_s": each.kernel_rate,
            "bare_states_per_s": each.bare_rate,
            "ratio": each.ratio,
            "reduced_states": each.reduced_states,
            "seconds": {"kernel": each.kernel_s, "reduced": each.reduced_s, "bare": each.bare_s},
        }
        for each in found
    ]
    return document, [table]


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="dim")
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position else "left")
    return table


_BENCHMARKS: Final[Mapping[str, Callable[[], Found]]] = {
    "validate": _validate,
    "run": _run,
    "load": _load,
    "journals": _journals,
    "crash": _crash,
    "explore": _explore,
}


def _as_json(found: Sequence[Growth]) -> JsonValue:
    seconds = [{str(size): time for size, time in each.seconds.items()} for each in found]
    return [
        {"shape": each.name, "seconds": times, "exponent": each.exponent}
        for each, times in zip(found, seconds, strict=True)
    ]


def _growth(title: str, unit: str, found: Sequence[Growth], what: str = "shape") -> Table:
    table = _table(title, what, *(f"{size:,} {unit}, ms" for size in found[0].seconds), "exponent")
    for each in found:
        times = [f"{1000 * seconds:.1f}" for seconds in each.seconds.values()]
        table.add_row(each.name, *times, f"{each.exponent:.2f}")
    return table
