"""`perdure diff`: find where two stored histories part, or what changed from one report to another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer

from perdure_conformance.cli.common import even_if_nobody_reads, print_json, print_lines, wrong_usage
from perdure_conformance.histories import difference, inspection
from perdure_conformance.histories.files import STDIN, opened
from perdure_conformance.histories.stored import Damage, HistoryRefused
from perdure_conformance.histories.walk import Walk
from perdure_conformance.reports import comparison, reading
from perdure_conformance.reports.reading import ReportRefused
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

EPILOG = """\b
Examples:
  perdure diff before.jsonl after.jsonl
  perdure diff before.jsonl after.jsonl --ignore-identities
  perdure diff before.jsonl after.jsonl --json
  perdure diff released-report perdure-report
"""


_IGNORE: Final = typer.Option(
    "--ignore-identities", help="Let histories be the same that differ in nothing but identities."
)


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="A history, in any format; - is stdin. Or a report.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    run_a: Annotated[str | None, typer.Option(metavar="RUN_ID", help="The run, where A holds several.")] = None,
    run_b: Annotated[str | None, typer.Option(metavar="RUN_ID", help="The run, where B holds several.")] = None,
    ignore_identities: Annotated[bool, _IGNORE] = False,  # noqa: FBT002
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Find the first record in which two histories differ, or what changed from one report to another.

    Reports, known by report.json or its folder, must be of one profile: which requirements have another verdict, what
    is covered now and what no longer, and what else was different. A requirement that passed and does not, or that
    fails now, is a regression.

    Runs, events, attempts and deliveries have identities of their own. Where only these differ, each standing for one
    of the other history throughout, it says so, and how both runs stand at their ends. Nothing is verified.

    Exit codes: 0 the same, or no regression; 1 different, or a regression; 2 wrong usage, or a file cannot be read; 3
    both are empty.
    """
    if any(reading.is_report(name) for name in (a, b) if name != STDIN):
        if STDIN in {a, b}:
            wrong_usage("One is a report, and standard input is read as a history: give two reports, or two histories.")
        if run_a is not None or run_b is not None or ignore_identities:
            wrong_usage("--run-a, --run-b and --ignore-identities are about histories, and these are reports.")
        _diff_reports(Path(a), Path(b), as_json=as_json)
    if a == b == STDIN:
        wrong_usage("Standard input can be read once: give - once.")
    try:
        with opened(a, run_a) as one, opened(b, run_b) as other:
            found = difference.compare(one.records, other.records)
        is_settled = found.first is not None or found.first_identity is None
        ends = {} if is_settled or STDIN in {a, b} else {"a": _end(a, run_a), "b": _end(b, run_b)}
    except HistoryRefused as error:
        wrong_usage(str(error))
    except Damage as error:
        wrong_usage(f"A history cannot be read to its end: {error}. perdure verify tells where.")
    is_same = found.is_same or (ignore_identities and found.first is None)
    code = NO_VERDICT if found.is_empty else CONFORMANT if is_same else NOT_CONFORMANT
    if as_json:
        print_json(difference.document(found, code, ends or None))
    else:
        with even_if_nobody_reads():
            told = [f"  {name.upper()}  {end}" for name, end in ends.items()]
            print_lines([*difference.in_words(found), *told])
    sys.exit(code)


def _diff_reports(a: Path, b: Path, *, as_json: bool) -> NoReturn:
    try:
        found = comparison.compare(reading.read_document(a), reading.read_document(b))
    except ReportRefused as error:
        wrong_usage(str(error))
    if as_json:
        print_json(comparison.document(found))
    else:
        with even_if_nobody_reads():
            print_lines(comparison.in_words(found))
    sys.exit(found.exit_code)


def _end(name: str, run_id: str | None) -> str:
    """Return how the run of a history stands at its end, in words."""
    with opened(name, run_id) as stored:
        walk = Walk(stored)
        walk.to_the_end()
    if walk.fault is not None:
        return f"cannot be, from record {walk.fault.sequence} on: {walk.fault.code}"
    if walk.state is None:
        return "cannot be read a second time, so that its end is not shown"
    return f"{inspection.workflow_of(walk.state)} is {walk.state.status} after {walk.sequence:,} records"
