"""`perdure verify`: find out whether a stored history could have happened."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated, NoReturn

import typer

from perdure_conformance.cli.common import (
    HISTORY,
    RunOption,
    even_if_nobody_reads,
    print_json,
    print_lines,
    wrong_usage,
)
from perdure_conformance.histories import snapshots, verification
from perdure_conformance.histories.files import opened_file
from perdure_conformance.histories.stored import History, HistoryRefused

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
    whole one: --head pins a record that must be there. A snapshot, RUN.mws1, is held against RUN.mwj1 if that lies
    beside it.

    Exit codes: 0 it is sound, 1 it is not, or has a torn tail; 2 wrong usage or an unreadable file, 3 it is empty:
    nothing was checked.
    """
    try:
        pinned = None if head is None else verification.head_of(head)
        with opened_file(history, run) as stored:
            if stored.format == "mws1":
                _tell_of_a_snapshot(stored, pinned, as_json=as_json)
            found = verification.verify(stored, pinned)
    except (HistoryRefused, verification.HeadRefused) as error:
        wrong_usage(str(error))
    _tell(verification.document(found), verification.in_words(found), as_json=as_json)
    sys.exit(verification.exit_code(found))


def _tell_of_a_snapshot(stored: History, pinned: verification.Head | None, *, as_json: bool) -> NoReturn:
    if pinned is not None:
        wrong_usage("A snapshot has no head: --head pins a record of a history.")
    found = snapshots.verify_snapshot(stored)
    _tell(snapshots.document(found), snapshots.in_words(found), as_json=as_json)
    sys.exit(found.exit_code)


def _tell(document: object, lines: Iterable[str], *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        with even_if_nobody_reads():
            print_lines(lines)
