"""`perdure rerun`: play a failure again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from perdure_conformance.cli.common import console, print_json, wrong_usage
from perdure_conformance.harness.factories import TargetError
from perdure_conformance.journal.cases import Case, Replay, replay, target_of
from perdure_conformance.journal.describe import sentence
from perdure_conformance.reports import failure
from perdure_conformance.reports.inert import inert
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

EPILOG = """\b
Examples:
  perdure rerun perdure-report/failures/JRN-007
"""


def rerun(
    folder: Annotated[Path, typer.Argument(help="The folder of a failure, as a check has named it.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Play a failure again, on fresh state: the concrete operations that were kept, not a seed.

    It starts the program, or imports the factory, that case.json names: run folders only from people you trust.

    Exit codes: 1 it fails again, 0 it does not, 3 the adapter is at fault again, 2 wrong usage.
    """
    try:
        case = failure.read(folder)
        sys.path.insert(0, "")
        target = target_of(case)
    except (failure.CaseError, TargetError) as error:
        wrong_usage(str(error))
    again = replay(case, target)
    if as_json:
        print_json(
            {
                "failure": case.failure,
                "again": again.failure,
                "same": again.failure == case.failure,
                "expected": again.expected,
                "actual": again.actual,
            }
        )
    else:
        _show(case, again)
    sys.exit(_exit_code(again))


def _exit_code(again: Replay) -> int:
    if again.failure is None:
        return CONFORMANT
    return NO_VERDICT if again.failure.startswith("fault:") else NOT_CONFORMANT


def _show(case: Case, again: Replay) -> None:
    out = console()
    for number, operation in enumerate(case.plays[-1].operations, 1):
        mark = "✗" if number == again.done and again.failure is not None else "·"
        out.print(f"{mark} {number}. {inert(sentence(operation))}", markup=False, soft_wrap=True)
    if again.failure is None:
        out.print(f"It does not fail any more: {case.failure} holds in this case.", markup=False, soft_wrap=True)
        return
    how = "the same way" if again.failure == case.failure else f"in another way (it was {case.failure})"
    out.print(f"{again.failure}: it fails again, {how}.", markup=False, soft_wrap=True)
    out.print(f"expected  {inert(str(again.expected))}", markup=False, soft_wrap=True)
    out.print(f"actual    {inert(str(again.actual))}", markup=False, soft_wrap=True)
