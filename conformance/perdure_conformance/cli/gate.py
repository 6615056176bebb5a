"""`perdure gate`: find out whether a change breaks what was released, or what is stored."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer

from perdure_conformance.cli.common import (
    even_if_nobody_reads,
    print_json,
    print_lines,
    target_or_exit,
    wrong_usage,
)
from perdure_conformance.gate import comparison, replaying, telling
from perdure_conformance.gate.sources import GateRefused
from perdure_conformance.reducer.dispatch import KERNELS

EPILOG = """\b
Examples:
  perdure gate released/schemas schemas
  perdure gate ../released .
  perdure gate released/workflow.yaml workflow.yaml
  perdure gate released/workflows workflows --journals journals
  perdure gate ../released . --json
  perdure gate --journals journals reference
  perdure gate --journals journals --command "node adapter.mjs"
  perdure gate --journals released/fixtures my_package:kernel
"""

_OLD: Final = "What was released: a file, or a folder of schemas, golden vectors, specifications. Or a target."
_JOURNALS: Final = typer.Option(
    metavar="DIR", help="Stored histories: *.jsonl, *.mwj1, *.sqlite3; or golden vectors, for a target alone."
)
_GITHUB: Final = typer.Option("--github", help="Print annotations of GitHub for what is breaking, and nothing else.")


def gate(
    old: Annotated[str | None, typer.Argument(metavar="OLD|TARGET", help=_OLD)] = None,
    new: Annotated[str | None, typer.Argument(metavar="NEW", help="What is to be released: the same of it.")] = None,
    journals: Annotated[str | None, _JOURNALS] = None,
    command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="A kernel that speaks the protocol, in place of TARGET.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.05, max=3600, help="How long one answer may take.")
    ] = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")] = False,  # noqa: FBT002
    as_github: Annotated[bool, _GITHUB] = False,  # noqa: FBT002
) -> None:
    """Tell for each change from OLD to NEW whether it is compatible or breaking, and why.

    Schemas, golden vectors and workflow specifications are compared, by the version policy: what was valid must stay
    valid and mean the same, and what a stored history refers to must stay. An optional member with a default may be
    added; what is removed, renamed or means something else needs a new version, with an upcaster. With --journals it
    is told which of these histories refer to a node or a workflow that is gone. Nothing is fetched.

    With --journals and a TARGET, or --command, the histories are replayed on that kernel: it must say of each what its
    golden vector says, or what the model says.

    Exit codes: 0 compatible, or all the same; 1 breaking, or one differs; 2 wrong usage, or something cannot be read;
    3 nothing could be compared, or a history has no verdict.
    """
    if as_json and as_github:
        wrong_usage("Give --json or --github, not both.")
    if command is not None or new is None:
        if journals is None or new is not None or (old is None) == (command is None):
            wrong_usage("Give OLD and NEW, or --journals DIR and one TARGET or --command.")
        _replay(journals, old, command, timeout, as_json=as_json, as_github=as_github)
    if old is None:
        wrong_usage("Give OLD and NEW.")
    try:
        found = comparison.compare(old, new, journals)
    except GateRefused as error:
        wrong_usage(str(error))
    if as_json:
        print_json(found.document)
    elif as_github:
        with even_if_nobody_reads():
            sys.stdout.writelines(f"{line}\n" for line in telling.as_commands(found, new, is_file=Path(new).is_file()))
    else:
        with even_if_nobody_reads():
            print_lines(telling.in_words(found))
    sys.exit(found.exit_code)


def _replay(
    journals: str, name: str | None, command: str | None, timeout: float, *, as_json: bool, as_github: bool
) -> NoReturn:
    if as_github:
        wrong_usage("--github is about a comparison of OLD and NEW: leave it out.")
    target = target_or_exit(KERNELS, name, command)
    try:
        found = replaying.replay(journals, target, timeout)
    except GateRefused as error:
        wrong_usage(str(error))
    if as_json:
        print_json(found.document)
    else:
        with even_if_nobody_reads():
            print_lines(telling.replays_in_words(found))
    sys.exit(found.exit_code)
