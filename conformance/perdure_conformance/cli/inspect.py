"""`perdure inspect`: show what a stored history amounts to."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from perdure_conformance.cli.common import (
    HISTORY,
    RunOption,
    even_if_nobody_reads,
    print_json,
    print_lines,
    wrong_usage,
)
from perdure_conformance.histories import conversion, inspection, verification
from perdure_conformance.histories.files import opened
from perdure_conformance.histories.stored import HistoryRefused
from perdure_conformance.histories.walk import Walk
from perdure_conformance.verdict import NO_VERDICT, NOT_CONFORMANT

EPILOG = """\b
Examples:
  perdure inspect run.jsonl
  perdure inspect run.jsonl --at 12
  perdure inspect run.jsonl --json
  perdure inspect journal.sqlite3 --output run.mwj1
  perdure inspect torn.jsonl --at 24 --output run.jsonl
"""


def inspect(
    history: Annotated[str, typer.Argument(metavar="HISTORY", help=HISTORY)],
    at: Annotated[int | None, typer.Option(metavar="SEQUENCE", min=1, help="Show the state after this record.")] = None,
    run: RunOption = None,
    output: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the records to *.jsonl, *.mwj1 or *.sqlite3."),
    ] = None,
    written_as: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="jsonl, mwj1 or sqlite, whatever FILE is called.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,  # noqa: FBT002
    as_json: Annotated[bool, typer.Option("--json", help="Print the state as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Show the state that a history amounts to: nodes, budgets, open waits, what is due, and what may be done next.

    Each record is verified on the way. Inputs and outputs are not shown. --output also writes the records in the same
    or another format, byte for byte: all of them, or, where anything is wrong, nothing.

    Exit codes: 0 it is shown, 1 the history is bad, 2 wrong usage or a file cannot be read or written, 3 it is empty.
    """
    try:
        target = None if output is None else conversion.target_of(output, written_as, force=force)
        with opened(history, run) as stored:
            walk = Walk(stored)
            if target is None:
                any(record.sequence == at for record in walk.steps())
            copy = None if target is None else conversion.convert(walk, target, until=at)
    except (HistoryRefused, conversion.NotWritten) as error:
        wrong_usage(str(error))
    if walk.fault is not None:
        before = walk.fault.sequence - 1
        hint = [f"hint     `--at {before}` shows the state before it"] if before else []
        print_lines([*verification.bad(walk.fault), *hint], to=sys.stderr)
        sys.exit(NOT_CONFORMANT)
    if walk.state is None:
        print_lines(["perdure: the history is empty: it has no record, and no state."], to=sys.stderr)
        sys.exit(NO_VERDICT)
    if at is not None and at > walk.sequence:
        wrong_usage(f"There is no record {at:,}: the history ends after record {walk.sequence:,}.")
    if as_json:
        print_json(inspection.document(walk.state, None if copy is None else conversion.document(copy)))
    else:
        with even_if_nobody_reads():
            print_lines([*([] if copy is None else conversion.in_words(copy)), *inspection.in_words(walk.state)])
