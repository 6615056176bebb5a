"""What commands share: consoles, usage errors, the target on the command line."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from types import FrameType
from typing import Final, NoReturn

from rich.console import Console

from perdure_conformance.harness.factories import TargetError
from perdure_conformance.harness.targets import Target, find_target
from perdure_conformance.reports.inert import inert
from perdure_conformance.verdict import USAGE

INTERRUPTED: Final = 130
_PIPED_WIDTH: Final = 160


class Interrupted(BaseException):
    """The user, or the system, asks to stop. Not a `KeyboardInterrupt`, which the command line would swallow."""


def interrupt_on_signals() -> None:
    """Turn Ctrl-C and termination into `Interrupted`, so that everything is tidied up on the way out."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise Interrupted


def console() -> Console:
    """Return the console for results: standard output, plain when it is piped."""
    piped = not sys.stdout.isatty()
    return Console(highlight=False, width=_PIPED_WIDTH if piped else None)


def progress_console() -> Console:
    """Return the console for progress: standard error."""
    return Console(stderr=True, highlight=False)


def wrong_usage(sentence: str) -> NoReturn:
    """Say what is wrong with the words of the command, and exit with 2."""
    sys.stderr.write(f"perdure: {inert(sentence)}\n")
    sys.exit(USAGE)


def print_json(document: object) -> None:
    """Write one JSON document to standard output, and nothing else."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=True) + "\n")


def target_or_exit(name: str | None, command: str | None) -> Target:
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
        return find_target(name, words)
    except TargetError as error:
        wrong_usage(str(error))
