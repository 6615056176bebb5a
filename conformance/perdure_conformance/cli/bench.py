"""`perdure bench`: how time grows with size."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.table import Table

from perdure.kernel.validation.validator import validate
from perdure_conformance.bench.growth import Growth, measure
from perdure_conformance.bench.specifications import SHAPES
from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, progress_bar, wrong_usage
from perdure_conformance.verdict import CONFORMANT

EPILOG = """\b
Examples:
  perdure bench validate
  perdure bench validate --json
"""

SIZES = (100, 1_000, 10_000)


def bench(
    name: Annotated[str, typer.Argument(help="validate: the model's validator, on large specifications.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Measure how time grows with size, at 100, 1,000 and 10,000 nodes, all in one run.

    The exponent is the e of time = c · size^e that fits best: 1 is linear, 2 quadratic.
    """
    if name != "validate":
        wrong_usage(f"There is no benchmark {name!r}. There is: validate.")
    found = []
    with progress_bar() as bar:
        for shape, make in bar.track(SHAPES.items(), description="validate"):
            found.append(measure(shape, make, validate, SIZES))
    if as_json:
        print_json([{"shape": each.name, "seconds": each.seconds, "exponent": each.exponent} for each in found])
    else:
        _show(found)
    sys.exit(CONFORMANT)


def _show(found: list[Growth]) -> None:
    table = Table(title="Validation", title_justify="left", box=None, pad_edge=False, header_style="dim")
    table.add_column("shape")
    for size in SIZES:
        table.add_column(f"{size:,} nodes, ms", justify="right")
    table.add_column("exponent", justify="right")
    for each in found:
        times = [f"{1000 * each.seconds[size]:.1f}" for size in SIZES]
        table.add_row(each.name, *times, f"{each.exponent:.2f}")
    with even_if_nobody_reads():
        console().print(table)
