"""`perdure explore`: find out what runs of a workflow specification can do."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from perdure.authoring.source import Syntax
from perdure.kernel.values import JsonObject
from perdure_conformance.cli.common import (
    console,
    even_if_nobody_reads,
    print_json,
    print_lines,
    write_file,
    wrong_usage,
)
from perdure_conformance.cli.pictures import METAVAR, draw, refuse_other_kinds
from perdure_conformance.cli.progress import progress_bar
from perdure_conformance.exploration import pictures, results
from perdure_conformance.exploration.exploring import explored
from perdure_conformance.exploration.results import Result
from perdure_conformance.exploration.search import Bounds
from perdure_conformance.lint import text
from perdure_conformance.lint.files import STDIN, FileRefused, read_said
from perdure_conformance.lint.findings import lint
from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT

EPILOG = """\b
What is told:
  - how a run can end: completed, failed, blocked, cancelled, and which budgets can be used up
  - which nodes can start, and how they can end; of those that can end blocked or skipped, how it comes to that
  - nodes that never start, edges that never fire, dead ends: states from which nothing leads on, and which are no end
Each with the shortest script that leads there, which perdure simulate plays. `never` means that every state was seen,
`not found so far` that a bound was hit before.

\b
Examples:
  perdure explore workflow.yaml
  perdure explore workflow.yaml --scripts ways
  perdure simulate workflow.yaml --script ways/failed.json --stop
  perdure explore workflow.yaml --picture svg explored.svg
  perdure explore workflow.yaml --max-states 1000000 --memory 4096 --time-limit 600
  perdure explore workflow.yaml --json
"""

_STATM: Final = Path("/proc/self/statm")


def explore(  # noqa: PLR0913, PLR0917 - the options of a command
    specification: Annotated[
        str, typer.Argument(metavar="SPEC", help="A workflow specification: .json, .yaml, .yml; - is stdin.")
    ],
    max_states: Annotated[int, typer.Option(metavar="N", min=1, help="Stop after so many states.")] = 100_000,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0.0, help="Stop after so many seconds.")
    ] = None,
    memory: Annotated[int, typer.Option(metavar="MIB", min=1, help="Stop when so much memory is in use.")] = 2_048,
    no_reduction: Annotated[  # noqa: FBT002
        bool, typer.Option("--no-reduction", help="Look at every order of everything, and at every usage of budgets.")
    ] = False,
    scripts: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write each script to a file in this folder.")
    ] = None,
    picture: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar=METAVAR, help="Draw the graph with what runs reach; - is standard output, alone."),
    ] = None,
    syntax: Annotated[Syntax | None, typer.Option(help="How SPEC is written; for - it is needed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Look at every state that runs of a workflow specification can reach, and tell what can happen.

    Nothing is executed. Attempts end in every way that is legal, in every order, and time goes on to what is due. What
    differs in nothing that matters is looked at once.

    Exit codes: 0 everything was seen; 1 the specification is not valid, a node never starts, or there is a dead end;
    2 wrong usage; 3 a bound was hit, and what was seen is all right; 130 interrupted, and what was found is told.
    """
    refuse_other_kinds(picture)
    if as_json and picture is not None and picture[1] == STDIN:
        wrong_usage("Standard output takes one thing: the picture or the JSON document.")
    try:
        linted = lint(read_said(specification, syntax), None)
    except FileRefused as error:
        wrong_usage(str(error))
    if linted.specification is None or not linted.valid:
        sys.stderr.write(text.report([linted]))
        sys.exit(NOT_CONFORMANT)
    assert linted.source is not None
    assert isinstance(linted.source.value, dict)
    assert linted.content_hash is not None
    document: JsonObject = linted.source.value
    with _bounds(max_states, time_limit, memory) as bounds:
        exploration = explored(document, linted.specification, bounds, is_reduced=not no_reduction)
    found = results.result_of(linted.file, linted.content_hash, exploration)
    if scripts is not None:
        _write_scripts(found, Path(scripts))
    drawn = None if picture is None else draw(pictures.explored(exploration), linted.content_hash, picture)
    with even_if_nobody_reads():
        if drawn is not None:
            sys.stdout.write(drawn)
        elif as_json:
            print_json(results.document(found))
        else:
            _print(found)
    if found.exit_code != CONFORMANT and drawn is not None:
        print_lines([f"perdure: {results.sentence(found)}"], to=sys.stderr)
    sys.exit(found.exit_code)


@contextmanager
def _bounds(max_states: int, time_limit_s: float | None, memory_mib: int) -> Iterator[Bounds]:
    """Give the bounds of a search, which tells on standard error how far it is."""
    began = time.monotonic()
    with progress_bar() as bar:
        task = bar.add_task("states", total=max_states)
        yield Bounds(
            max_states=max_states,
            time_limit_s=time_limit_s,
            memory_bytes=memory_mib * 2**20,
            clock=lambda: time.monotonic() - began,
            memory=_memory,
            tell=lambda states, waiting: bar.update(
                task, completed=states, description=f"states, {waiting:,} to be looked at"
            ),
        )


def _memory() -> int:
    """Return how many bytes of memory this process uses; the most that it ever did, where the system tells no more."""
    try:
        return int(_STATM.read_text("ascii").split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        unit = 1 if sys.platform == "darwin" else 1_024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _write_scripts(found: Result, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        wrong_usage(f"{folder} cannot be made: {error.strerror}. Name another folder with --scripts.")
    for name, way in results.ways(found):
        content = json.dumps(way.document, indent=2, ensure_ascii=True) + "\n"
        write_file(folder / f"{name}.json", content.encode(), "--scripts")


def _print(found: Result) -> None:
    for table in results.tables(found):
        console().print(table)
        console().print()
    print_lines(results.lines(found))
