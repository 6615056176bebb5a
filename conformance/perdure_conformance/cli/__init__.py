"""The command line, one file a command; `common` is what they share.

Exit codes: 0 conformant, 1 not, 2 wrong usage, 3 no verdict, 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Final

import typer

COMMANDS: Final[Mapping[str, str]] = {
    "check": "check",
    "rerun": "rerun",
    "report": "report",
    "lint": "lint_command",
    "simulate": "simulate",
    "verify": "verify",
    "inspect": "inspect",
    "diff": "diff",
    "adapter": "app",
    "explain": "explain",
    "vectors": "app",
    "selftest": "selftest",
    "bench": "bench",
    "doctor": "doctor",
}
"""Each command, in the order of the help, and what it is in the module of its name: a function, or several commands."""


def _say_version(wanted: bool) -> None:  # noqa: FBT001 - called by the option
    if wanted:
        typer.echo(f"perdure {version('perdure')}")
        raise typer.Exit


_VERSION = typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")


def perdure(*, version: Annotated[bool, _VERSION] = False) -> None:
    """Judge durable workflow systems: find out whether they really lose nothing."""


def command_line(words: Sequence[str] = ()) -> typer.Typer:
    """Return the command line for these words: of the command that they begin with alone, else of all.

    To import every command takes longer than most of them take to run.
    """
    app = typer.Typer(
        name="perdure",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        callback=perdure,
    )
    first = words[0] if words else ""
    for name in [first] if first in COMMANDS else COMMANDS:
        module = import_module(f"{__name__}.{name}")
        command = getattr(module, COMMANDS[name])
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, help=module.HELP)
        else:
            app.command(name, epilog=module.EPILOG)(command)
    return app
