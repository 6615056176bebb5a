"""`perdure verify`: find out whether a stored history could have happened."""

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
from perdure_conformance.histories import verification
from perdure_conformance.histories.files import opened
from perdure_conformance.histories.stored import HistoryRefused

EPILOG = """\b
Examples:
  perdure verify run.jsonl
  perdure verify run.jsonl --head 21:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  perdure verify run.jsonl --json
  perdure verify journal.sqlite3 --run 00000000-0000-7000-8000-000000000001
  perdure simulate workflow.yaml --output - | perdure verify -
"""


def verify(
    history: Annotated[str, typer.Argument(metavar="HISTORY", help=HISTORY)],
    head: Annotated[
        str | None,
        typer.Option(
            metavar="SEQUENCE:CHECKSUM",
            help="The last record that you know of; without it a cut at the end is not noticed.",
        ),
    ] = None,
    run: RunOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Hold a stored history against every rule: each record, each batch, each event; and name the first that is bad.

    Its format is known by its content: JSON lines, MWJ1, or the database of a journal. It is read record by record, so
    that it may be large, and strictly: nothing is skipped. One that was cut where a batch ends cannot be told from a
    whole one: --head pins a record that must be there.

    Exit codes: 0 it is sound, 1 it is not, or has a torn tail; 2 wrong usage or an unreadable file, 3 it is empty:
    nothing was checked.
    """
    try:
        pinned = None if head is None else verification.head_of(head)
        with opened(history, run) as stored:
            found = verification.verify(stored, pinned)
    except (HistoryRefused, verification.HeadRefused) as error:
        wrong_usage(str(error))
    if as_json:
        print_json(verification.document(found))
    else:
        with even_if_nobody_reads():
            print_lines(verification.in_words(found))
    sys.exit(verification.exit_code(found))
