"""The command line, one file a command; `common` is what they share.

Exit codes: 0 conformant, 1 not, 2 wrong usage, 3 no verdict, 130 interrupted.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from perdure_conformance.cli import (
    adapter,
    bench,
    check,
    crash,
    diff,
    doctor,
    explain,
    inspect,
    lint,
    report,
    rerun,
    selftest,
    simulate,
    verify,
)

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
    """Judge durable workflow systems: find out whether they really lose nothing."""


app.command("check", epilog=check.EPILOG)(check.check)
app.command("crash", epilog=crash.EPILOG)(crash.crash_command)
app.command("rerun", epilog=rerun.EPILOG)(rerun.rerun)
app.command("report", epilog=report.EPILOG)(report.report)
app.command("lint", epilog=lint.EPILOG)(lint.lint_command)
app.command("simulate", epilog=simulate.EPILOG)(simulate.simulate)
app.command("verify", epilog=verify.EPILOG)(verify.verify)
app.command("inspect", epilog=inspect.EPILOG)(inspect.inspect)
app.command("diff", epilog=diff.EPILOG)(diff.diff)
app.add_typer(adapter.app, name="adapter", help="Start an adapter for an implementation in any language.")
app.command("explain", epilog=explain.EPILOG)(explain.explain)
app.command("selftest", epilog=selftest.EPILOG)(selftest.selftest)
app.command("bench", epilog=bench.EPILOG)(bench.bench)
app.command("doctor", epilog=doctor.EPILOG)(doctor.doctor)
