"""`perdure bench`: how time grows with size, and what each check costs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final

import typer
from rich.table import Table

from perdure.kernel.validation.validator import validate
from perdure.kernel.values import JsonValue
from perdure_conformance.bench import loading, runs, specifications
from perdure_conformance.bench.growth import Growth, measure
from perdure_conformance.bench.runs import Play
from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, progress_bar, wrong_usage
from perdure_conformance.verdict import CONFORMANT

EPILOG = """\b
Examples:
  perdure bench validate
  perdure bench run
  perdure bench load --json
"""

NODES: Final = (100, 1_000, 10_000)
EVENTS: Final = (100, 1_000, 10_000, 100_000)
RECORDS: Final = 3_000


def bench(
    name: Annotated[
        str,
        typer.Argument(
            help="validate: the model's validator. run: whole runs, decided and reduced. load: from records to a state."
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
    found = []
    with progress_bar() as bar:
        for shape, make in bar.track(specifications.SHAPES.items(), description="validate"):
            found.append(measure(shape, make, validate, NODES))
    return _as_json(found), [_growth("Validation", "nodes", found)]


def _run() -> Found:
    found = []
    with progress_bar() as bar:
        for shape, make in bar.track(runs.SHAPES.items(), description="runs"):
            found.append(measure(shape, make, Play.events, NODES))
        turns = [measure("turns", make, Play.events, EVENTS) for make in bar.track((runs.turns,), description="events")]
    tables = [_growth("Whole runs", "nodes", found), _growth("A loop of two nodes", "events", turns)]
    return _as_json([*found, *turns]), tables


def _load() -> Found:
    with progress_bar() as bar:
        for play in bar.track((runs.turns(RECORDS),), description="load"):
            records, mean_bytes, fastest = loading.shares(play)
    table = Table(
        title=f"From {records:,} stored records of {mean_bytes:.0f} bytes to the state of the run",
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    alone = next(iter(fastest.values()))
    for column in ("step", "µs a record", "json.loads alone = 1"):
        table.add_column(column, justify="left" if column == "step" else "right")
    for step, seconds in fastest.items():
        table.add_row(step, f"{1e6 * seconds / records:.1f}", f"{seconds / alone:.1f}")
    return {"records": records, "mean_bytes": mean_bytes, "seconds": dict(fastest)}, [table]


_BENCHMARKS: Final[Mapping[str, Callable[[], Found]]] = {"validate": _validate, "run": _run, "load": _load}


def _as_json(found: Sequence[Growth]) -> JsonValue:
    seconds = [{str(size): time for size, time in each.seconds.items()} for each in found]
    return [
        {"shape": each.name, "seconds": times, "exponent": each.exponent}
        for each, times in zip(found, seconds, strict=True)
    ]


def _growth(title: str, unit: str, found: Sequence[Growth]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="dim")
    table.add_column("shape")
    for size in found[0].seconds:
        table.add_column(f"{size:,} {unit}, ms", justify="right")
    table.add_column("exponent", justify="right")
    for each in found:
        times = [f"{1000 * seconds:.1f}" for seconds in each.seconds.values()]
        table.add_row(each.name, *times, f"{each.exponent:.2f}")
    return table
