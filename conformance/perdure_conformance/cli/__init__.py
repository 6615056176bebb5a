"""The command line, one file a command; `common` is what they share.

Exit codes: 0 conformant, 1 not, 2 wrong usage, 3 no verdict, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from perdure_conformance.cli import check, doctor, explain, rerun, selftest
from perdure_conformance.cli.common import INTERRUPTED, Interrupted, interrupt_on_signals
from perdure_conformance.reports.inert import inert
from perdure_conformance.verdict import NO_VERDICT

app = typer.Typer(
    name="perdure",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _say_version(wanted: bool) -> None:  # noqa: FBT001 - called by the option
    if wanted:
        typer.echo(f"perdure {version('perdure')}")
        raise typer.Exit


_VERSION = typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")


@app.callback()
def perdure(*, version: Annotated[bool, _VERSION] = False) -> None:
    """Judge a durable workflow journal: find out whether it really loses nothing."""


app.command("check", epilog=check.EPILOG)(check.check)
app.command("rerun", epilog=rerun.EPILOG)(rerun.rerun)
app.command("explain", epilog=explain.EPILOG)(explain.explain)
app.command("selftest", epilog=selftest.EPILOG)(selftest.selftest)
app.command("doctor", epilog=doctor.EPILOG)(doctor.doctor)


def main() -> None:
    """Run the command line; an interruption leaves nothing behind and says so."""
    interrupt_on_signals()
    try:
        app(standalone_mode=True)
    except Interrupted:
        sys.stderr.write("Interrupted. Nothing was left running, and no verdict was given.\n")
        sys.exit(INTERRUPTED)
    except Exception as error:
        if os.environ.get("PERDURE_DEBUG"):
            raise
        sys.stderr.write(
            f"perdure itself failed: {type(error).__name__}: {inert(str(error)[:500])}\n"
            "No verdict was given. Please report it, with what PERDURE_DEBUG=1 shows.\n"
        )
        sys.exit(NO_VERDICT)
