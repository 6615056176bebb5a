"""The command line, one file a command; `common` and `pictures` are what they share.

Exit codes: 0 conformant, 1 not, 2 wrong usage, 3 no verdict, 130 interrupted.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Final

import typer

from perdure_conformance.cli.common import QUIET, add_command, be_quiet

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "check": ("check", "Judge an implementation by every requirement."),
    "crash": ("crash_command", "Crash a journal in every way, and judge it."),
    "rerun": ("rerun", "Play a failure again, from its folder."),
    "report": ("report", "Render a report: page, JUnit XML, badge, …"),
    "lint": ("lint_command", "Find the problems of workflow specifications."),
    "simulate": ("simulate", "Play a run of a workflow specification."),
    "explore": ("explore", "Find out what runs of a specification can do."),
    "verify": ("verify", "Hold a stored history against every rule."),
    "inspect": ("inspect", "Show the state that a history amounts to."),
    "diff": ("diff", "Compare two histories, or two reports."),
    "adapter": ("app", "Start an adapter, in any language."),
    "explain": ("explain", "Explain a requirement, or a word."),
    "gate": ("gate", "Tell whether a change breaks a release."),
    "vectors": ("app", "Golden vectors: check, write, export them."),
    "selftest": ("selftest", "Judge the suite itself, by its mutants."),
    "prove": ("prove", "Prove what holds of the rules for all values."),
    "bench": ("bench", "Measure what costs how much time."),
    "doctor": ("doctor", "Show what this machine allows."),
}
"""Each command, in the order of the help: what it is in the module of its name, and a sentence."""


def _say_version(wanted: bool) -> None:  # noqa: FBT001 - called by the option
    if wanted:
        typer.echo(f"perdure {version('perdure')}")
        raise typer.Exit


_VERSION = typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")


def _be_quiet(wanted: bool) -> None:  # noqa: FBT001 - called by the option
    if wanted:
        be_quiet()


_QUIET = typer.Option("--quiet", callback=_be_quiet, help=f"Do not tell how far long work is, as with {QUIET}=1.")


def perdure(*, version: Annotated[bool, _VERSION] = False, quiet: Annotated[bool, _QUIET] = False) -> None:
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
        attribute, summary = COMMANDS[name]
        command = getattr(module, attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, help=module.HELP, short_help=summary)
        else:
            add_command(app, name, command, module.EPILOG, summary)
    return app


def meant_by(word: str) -> str:
    """Return the command of two words that somebody means who names its second one alone, or nearly; empty if none.

    Of any other word that is nearly a command or an option, typer says what was probably meant.
    """
    if word.startswith("-") or word in COMMANDS:
        return ""
    of_two_words: dict[str, str] = {}
    for name, (attribute, _) in COMMANDS.items():
        command = getattr(import_module(f"{__name__}.{name}"), attribute)
        if isinstance(command, typer.Typer):
            of_two_words |= {str(each.name): f"perdure {name} {each.name}" for each in command.registered_commands}
    nearly = [word] if word in of_two_words else difflib.get_close_matches(word, [*COMMANDS, *of_two_words], n=1)
    return next((of_two_words[each] for each in nearly if each not in COMMANDS), "")
