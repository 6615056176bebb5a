"""`perdure prove`: the theorems about the rules of the model, proved again."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Final

import typer

from perdure_conformance.cli.common import (
    even_if_nobody_reads,
    print_json,
    print_lines,
    wrong_usage,
)
from perdure_conformance.cli.progress import tracked
from perdure_conformance.verdict import CONFORMANT, NO_VERDICT, NOT_CONFORMANT

EPILOG = """\b
Examples:
  perdure prove
  perdure prove --theorem retry.delays --theorem dependencies.policies
  perdure prove --points 2000 --json
  perdure prove --changes
  perdure prove --page > docs/proofs.md
"""

_EXIT_CODES: Final = {
    "proved": CONFORMANT,
    "confirmed": CONFORMANT,
    "refuted": NOT_CONFORMANT,
    "unknown": NO_VERDICT,
}
_PACKAGES: Final = {"z3": "the package z3-solver", "crosshair": "the package crosshair-tool"}


def prove(
    theorem: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Prove this one alone; may be given several times.")
    ] = None,
    points: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="On how many points each encoding is compared with Python."),
    ] = 20_000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Draw these points by another seed.")] = 1,
    page: Annotated[  # noqa: FBT002
        bool, typer.Option("--page", help="Print the page of all theorems and contracts, in Markdown, and prove none.")
    ] = False,
    with_changes: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--changes", help="Hold the faults of the reducer's mutants against the theorems, too."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Prove what is claimed of the rules of the model for all values, and refute what has a fault.

    A rule of the model runs on values that stand for all, and Z3 proves what is claimed of it. Python runs the same
    claim on many values, and on each counterexample. CrossHair confirms the contracts of leaves, but with --theorem.

    Exit codes: 0 all is proved, 1 a theorem does not hold, or a mutant passes, 2 wrong usage, 3 something is not known.
    """
    try:
        from perdure_proofs import changes, confirming, contracts, document, proving, theorems  # noqa: PLC0415
    except ModuleNotFoundError as error:  # Only a checkout has them.
        lacks = _PACKAGES.get(str(error.name), "the folder proofs/ of perdure's repository")
        wrong_usage(
            f"Proofs need {lacks}, and this perdure was installed without it. In a clone of the repository, "
            "pip install --editable '.[proofs]' makes one that has it."
        )
    known = theorems.theorems()
    unknown = next((name for name in theorem or () if name not in known), None)
    if unknown is not None:
        wrong_usage(f"There is no theorem {unknown!r}. There are: {', '.join(known)}.")
    if page:
        with even_if_nobody_reads():
            sys.stdout.write(document.page(known.values(), contracts.contracts()))
        sys.exit(CONFORMANT)
    found, now = document.Found(), time.process_time
    for each in tracked([known[name] for name in theorem or known], "theorems"):
        found.theorems.append(proving.verdict(each, points=points, seed=seed, now=now))
    for held in tracked([] if theorem else contracts.contracts(), "contracts"):
        found.contracts.append(confirming.checked(held, now=now))
    for name, rules in tracked(changes.changes().items() if with_changes else (), "changes"):
        found.changes[name] = changes.noticed(rules, known.values())
    outcomes = [*(each.outcome for each in found.theorems), *(each.outcome for each in found.contracts)]
    code = max((_EXIT_CODES[each] for each in outcomes), key=(CONFORMANT, NO_VERDICT, NOT_CONFORMANT).index)
    if as_json:
        print_json({**document.as_json(found, points, seed), "exit_code": code})
    else:
        with even_if_nobody_reads():
            print_lines(document.lines(found))
    sys.exit(code)
