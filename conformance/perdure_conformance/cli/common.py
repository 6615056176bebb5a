"""What commands share: consoles, usage errors, the target on the command line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Annotated, Final, NoReturn, TextIO, cast

import typer
from rich.console import Console
from typer.core import TyperCommand

from perdure_conformance.harness.factories import TargetError
from perdure_conformance.harness.targets import Subjects, Target
from perdure_conformance.reports.inert import inert
from perdure_conformance.verdict import USAGE

HISTORY: Final = "Records of a run: JSON lines, MWJ1, or the database of a journal; - is stdin."
RunOption = Annotated[
    str | None, typer.Option("--run", metavar="RUN_ID", help="The run, where a database holds several.")
]

QUIET: Final = "PERDURE_QUIET"
"""Set in the environment, it lets nothing be told of how far work is; `perdure --quiet` sets it."""


def be_quiet() -> None:
    """Let nothing be told of how far work is, here and in the processes that are started."""
    os.environ[QUIET] = "1"


_TYPE: Final = re.compile(r" <(?:str|path|list\[str\])>")


class _Command(TyperCommand):
    """A command whose help says in a word what an argument is, and not of which type of Python it is."""

    def get_help(self, ctx: typer.Context) -> str:  # type: ignore[override]
        """Return its help."""
        return _TYPE.sub(lambda found: " " * len(found[0]), super().get_help(ctx))

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the words behind the command; `--quiet` may stand among them as well as before it."""
        end = args.index("--") if "--" in args else len(args)
        if "--quiet" in args[:end]:
            be_quiet()
        return super().parse_args(ctx, [word for word in args[:end] if word != "--quiet"] + args[end:])


def add_command(app: typer.Typer, name: str, do: Callable[..., None], epilog: str, summary: str) -> None:
    """Add a command; the summary stands in the list of commands, whole."""
    app.command(name, cls=_Command, epilog=epilog, short_help=summary)(do)


_PIPED_WIDTH: Final = 160
_SPACES_AT_END: Final = re.compile(r" +(?=\n)")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to `even_if_nobody_reads`, where rich would exit with 1."""
        raise  # noqa: PLE0704 - rich calls this while it handles the error


class _Trimmed(io.TextIOBase):
    """Standard output, without the spaces that end the lines of tables. Whole lines are written at a time."""

    def write(self, text: str, /) -> int:
        sys.stdout.write(_SPACES_AT_END.sub("", text))
        return len(text)

    def flush(self) -> None:
        sys.stdout.flush()


def console() -> Console:
    """Return the console for results: standard output, plain and without spaces at the ends when it is piped."""
    if sys.stdout.isatty():
        return _Console(highlight=False)
    width = None if "COLUMNS" in os.environ else _PIPED_WIDTH
    return _Console(highlight=False, width=width, file=cast("IO[str]", _Trimmed()))


@contextlib.contextmanager
def even_if_nobody_reads() -> Iterator[None]:
    """Print, and go on if nobody reads or the disk is full: the exit code is the verdict, not the fate of a pipe."""
    try:
        yield
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_product(content: bytes, remedy: str) -> bool:
    """Write what was asked for to standard output. Unlike a verdict it must arrive, unless nobody reads any more.

    Returns whether somebody does.
    """
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        wrong_usage(f"standard output cannot be written: {error.strerror}. {remedy}")
    return True


def write_file(path: Path | str, content: bytes, option: str) -> None:
    """Write what was asked for to a file, which is replaced; exit with 2 if it cannot be written."""
    try:
        Path(path).write_bytes(content)  # Whoever names a device or a link means it.
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        wrong_usage(f"{path} cannot be written: {reason}. Name another file with {option}.")


def wrong_usage(sentence: str) -> NoReturn:
    """Say what is wrong with the words of the command, and exit with 2."""
    print_lines([f"perdure: {sentence}"], to=sys.stderr)
    sys.exit(USAGE)


def print_lines(lines: Iterable[str], to: TextIO | None = None) -> None:
    """Write harmless lines, to standard output unless something else is said; a verdict has colour on a terminal.

    Each is one line: what it tells of others cannot begin one that looks like ours.
    """
    where = sys.stdout if to is None else to
    has_colours = where.isatty() and not os.environ.get("NO_COLOR")
    for line in lines:
        told = inert(line).replace("\n", r"\n")
        where.write((_VERDICT.sub(_coloured, told) if has_colours else told) + "\n")


_VERDICT: Final = re.compile(r"^[A-Z]{2,}(?: [A-Z]{2,})*(?=  )")
_GOOD: Final = frozenset({"SOUND", "SAME", "WRITTEN", "RUN COMPLETED", "COMPATIBLE", "PROVED", "CONFIRMED", "NOTICED"})
_BAD: Final = frozenset({"BAD", "DIFFERENT", "RUN FAILED", "BREAKING", "REFUTED"})


def _coloured(found: re.Match[str]) -> str:
    colour = "green" if found[0] in _GOOD else "red" if found[0] in _BAD else "yellow"
    return typer.style(found[0], fg=colour, bold=True)


def print_json(document: object) -> None:
    """Write one JSON document to standard output, and nothing else."""
    with even_if_nobody_reads():
        sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=True) + "\n")


def target_or_exit(subjects: Subjects, name: str | None, command: str | None) -> Target:
    """Find the target; exit with 2 if there is none."""
    if name is not None and command is not None:
        wrong_usage("Give a target or --command, not both.")
    try:
        words = shlex.split(command) if command is not None else []
    except ValueError as error:
        wrong_usage(f"--command cannot be split into words: {error}.")
    if command is not None and not words:
        wrong_usage('--command is empty. Give a program, as in --command "node adapter.mjs".')
    sys.path.insert(0, "")
    try:
        return subjects.find(name, words)
    except TargetError as error:
        wrong_usage(str(error))
