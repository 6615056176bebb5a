"""`perdure inspect`: show what a stored history amounts to."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from perdure_conformance.cli.common import even_if_nobody_reads, print_json, print_lines, wrong_usage
from perdure_conformance.histories import inspection, verification
from perdure_conformance.histories.files import HistoryRefused, opened
from perdure_conformance.histories.walk import Walk
from perdure_conformance.verdict import NO_VERDICT, NOT_CONFORMANT

EPILOG = """\b
Examples:
  perdure inspect run.jsonl
  perdure inspect run.jsonl --at 12
  perdure inspect run.jsonl --json
"""


def inspect(
    history: Annotated[str, typer.Argument(metavar="HISTORY", help="Records, one a line (*.jsonl); - is stdin.")],
    at: Annotated[int | None, typer.Option(metavar="SEQUENCE", min=1, help="Show the state after this record.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the state as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Show the state that a history amounts to: nodes, budgets, open waits, what is due, and what may be done next.

    Each record is verified on the way. Inputs and outputs are not shown.

    Exit codes: 0 it is shown, 1 the history is bad, 2 wrong usage or the file cannot be read, 3 it is empty.
    """
    try:
        with opened(history) as lines:
            walk = Walk(lines)
            any(record.sequence == at for record in walk.steps())
    except HistoryRefused as error:
        wrong_usage(str(error))
    if walk.fault is not None:
        before = walk.sequence
        hint = [f"hint     `--at {before}` shows the state before it"] if before else []
        print_lines([*verification.bad(walk.fault), *hint], to=sys.stderr)
        sys.exit(NOT_CONFORMANT)
    if walk.state is None:
        print_lines(["perdure: the history is empty: it has no record, and no state."], to=sys.stderr)
        sys.exit(NO_VERDICT)
    if at is not None and at > walk.sequence:
        wrong_usage(f"There is no record {at:,}: the history ends after record {walk.sequence:,}.")
    if as_json:
        print_json(inspection.document(walk.state))
    else:
        with even_if_nobody_reads():
            print_lines(inspection.in_words(walk.state))
