"""`perdure adapter`: what an author of an adapter starts with."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from perdure_conformance.adapters import new as skeletons
from perdure_conformance.adapters.new import LANGUAGES, LanguageName, NotWritten
from perdure_conformance.cli.common import even_if_nobody_reads, print_json, print_lines, wrong_usage
from perdure_conformance.verdict import CONFORMANT

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

NEW_EPILOG = """\b
Examples:
  perdure adapter new --lang go
  perdure adapter new --lang python --folder my-journal
  perdure adapter new --lang rust --folder adapter --json
"""


def new(
    lang: Annotated[LanguageName, typer.Option(help="The language of the adapter.")],
    folder: Annotated[Path, typer.Option(help="Where to write it; made if it is not there.")] = Path("my-journal"),
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Write a working adapter with a small file journal, which passes perdure check journal: put yours in its place.

    Nothing that is there is written over.

    Exit codes: 0 written, 2 wrong usage, or nothing was written.
    """
    try:
        written = skeletons.write(lang, folder)
    except NotWritten as error:
        wrong_usage(str(error))
    language = LANGUAGES[lang]
    steps = [
        " && ".join(words for words in (f"cd {shlex.quote(str(folder))}", language.build) if words),
        f"perdure adapter smoke --command {shlex.quote(language.run)}",
    ]
    if as_json:
        told = {"language": lang, "folder": str(folder), "files": [str(path) for path in written]}
        print_json({**told, "needs": language.needs, "command": language.run, "next": steps, "exit_code": CONFORMANT})
    else:
        with even_if_nobody_reads():
            lines = [f"WRITTEN  {path}" for path in written]
            print_lines([*lines, "", f"It needs {language.needs}.", "", "Next:", *(f"  {step}" for step in steps)])
    sys.exit(CONFORMANT)


app.command("new", epilog=NEW_EPILOG)(new)
