"""`perdure`, and `python -m perdure_conformance`: what surrounds every command.

The commands are imported last: before that, streams and signals are in order, so that nothing ends in a traceback.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from perdure_conformance.interrupts import Interrupted, heeded, interrupt_on_signals, tidy_up
from perdure_conformance.reports.inert import inert
from perdure_conformance.verdict import INTERRUPTED, NO_VERDICT, USAGE


def main() -> None:
    """Run the command line; an interruption leaves nothing behind, a fault of perdure says so."""
    _open_closed_streams()
    interrupt_on_signals()
    if not _stands_somewhere():
        sys.stderr.write("perdure: the current folder does not exist any more. Go to another one.\n")
        sys.exit(USAGE)
    try:
        from perdure_conformance.cli import command_line, meant_by  # noqa: PLC0415 - see above

        if sys.argv[1:] and (meant := meant_by(sys.argv[1])):
            sys.stderr.write(f"perdure: There is no command {sys.argv[1]!r}. Did you mean `{meant}`?\n")
            sys.exit(USAGE)
        command_line(sys.argv[1:])(standalone_mode=True)
    except Interrupted:
        heeded()
        sys.stderr.write("Interrupted. Nothing was left running, and no verdict was given.\n")
        sys.exit(INTERRUPTED)
    except Exception as error:
        if os.environ.get("PERDURE_DEBUG"):
            raise
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            sys.stderr.write("perdure: No space is left where it keeps its folders. No verdict was given.\n")
            sys.exit(NO_VERDICT)
        sys.stderr.write(
            f"perdure itself failed: {type(error).__name__}: {inert(str(error)[:500])}\n"
            "No verdict was given. Please report it, with what PERDURE_DEBUG=1 shows.\n"
        )
        sys.exit(NO_VERDICT)
    finally:
        tidy_up()


def _stands_somewhere() -> bool:
    try:
        Path.cwd()
    except OSError:
        return False
    return True


def _open_closed_streams() -> None:
    """Make standard streams usable, whatever the caller did with them, and able to write any character."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
