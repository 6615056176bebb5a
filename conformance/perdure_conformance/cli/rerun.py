"""`perdure rerun`: play a failure again."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, wrong_usage
from perdure_conformance.crash.cases import CrashCase
from perdure_conformance.harness.factories import TargetError
from perdure_conformance.profiles import profile_of
from perdure_conformance.reports import failure
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import requirements
from perdure_conformance.suite import AnyProfile, Case, Replay
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

EPILOG = """\b
Examples:
  perdure rerun perdure-report/failures/JRN-007
"""

_OF_TIMING = (
    "It did not fail in {tries} tries. It depends on who comes first, so that does not tell that it cannot fail."
)


def rerun(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a failure, as a check has named it.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Play a failure again, on fresh state: what was kept is done again, nothing is drawn.

    It starts the program, or imports the factory, that case.json names: run folders only from people you trust. If it
    is not here and is where the check ran, it is played there.

    Exit codes: 1 it fails again, 0 it does not, 3 the adapter is at fault again, 2 wrong usage.
    """
    try:
        case = failure.read(folder)
        _go_where_it_ran(case, failure.ran_in(folder))
        sys.path.insert(0, "")
        profile = profile_of(case)
        target = profile.target_of(case)
    except (failure.CaseError, TargetError) as error:
        wrong_usage(str(error))
    again = profile.replay(case, target)
    if as_json:
        print_json(
            {
                "failure": case.failure,
                "again": again.failure,
                "same": again.failure == case.failure,
                "finished": again.finished,
                "expected": again.expected,
                "actual": again.actual,
            }
        )
    else:
        _show(profile, case, again)
    sys.exit(_exit_code(again))


def _go_where_it_ran(case: Case, ran_in: str) -> None:
    """Go to the folder in which the check ran, if what the case names is there, and not here."""
    command, name = case.target.get("command", ""), str(case.target.get("name", ""))
    module = name.partition(":")[0].partition(".")[0]
    words = [f"{module}.py", module] if name else command if isinstance(command, list) else [command]
    missing = next((word for word in words if word and _is_in(ran_in, word) and not _is_in("", word)), None)
    if missing is None or not ran_in:
        return
    with contextlib.suppress(OSError):
        os.chdir(ran_in)
        sys.stderr.write(
            f"perdure: {inert(missing)} is not here, so it is played in {inert(ran_in)}, where the check ran.\n"
        )


def _is_in(folder: str, word: str) -> bool:
    try:
        return Path(folder, word).exists()
    except (OSError, ValueError):
        return False


def _exit_code(again: Replay) -> int:
    if again.failure is None:
        return CONFORMANT if again.finished else NO_VERDICT
    return NO_VERDICT if again.failure.startswith("fault:") else NOT_CONFORMANT


def _show(profile: AnyProfile, case: Case, again: Replay) -> None:
    out = console()
    requirement = requirements().get(case.failure)
    told = requirement.sentence if requirement is not None else failure.meaning_of_fault(case.failure)
    lines = [f"{case.failure}  {told}", "", *case.in_words(again.answers, whole=False), ""]
    if again.failure is None and again.finished:
        lines.append("It does not fail any more." if case.tries == 1 else _OF_TIMING.format(tries=case.tries))
    elif again.failure is None:
        why = f"not all {profile.steps} were answered, or could be judged."
        lines.append(f"It could not be told: {again.actual or why}")
    else:
        how = "the same way" if again.failure == case.failure else f"in another way: {again.failure}"
        lines += [
            f"It fails again, {how}.",
            *([] if again.expected is None else [f"expected  {failure.as_line(again.expected)}"]),
            f"actual    {failure.as_line(again.actual)}",
            *failure.last_words(again.stderr),
        ]
        if isinstance(case, CrashCase) and case.anew:
            lines += ["", f"Judged was the state that was kept. What is written now is judged by {case.anew}"]
    with even_if_nobody_reads():
        for line in lines:
            out.print(inert(line), markup=False, soft_wrap=True)
