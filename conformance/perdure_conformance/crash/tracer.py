"""The program that stands between the harness and an implementation: it runs a command, and watches or disturbs it.

Its standard input and output are the command's. What it saw goes to a file, a line for each call at once, so that all
of it is there whenever and however it ends. Started by `recording.traced`; only the standard library is imported.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress

from perdure_conformance.crash.ptrace import Loop, TraceError
from perdure_conformance.crash.recorder import READ, Recorder, rules
from perdure_conformance.crash.replay import Failure, parse_fault

CANNOT_TRACE = 126
_STANDARD_OUTPUT = 1


def main(settings: str, *command: str) -> None:
    """Run a command as the settings say, and end as it ended."""
    read = json.loads(settings)
    fault = parse_fault(read["fault"])
    log = os.open(read["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    said_to = os.fstat(_STANDARD_OUTPUT)

    def tell(line: str) -> None:
        os.write(log, line.encode() + b"\n")

    recorder = Recorder(read["state"], (said_to.st_dev, said_to.st_ino), fault, tuple(read["rebuildable"]), tell)
    with_reads = read["with_reads"] or (isinstance(fault, Failure) and fault.call == READ)
    loop = Loop(recorder, rules(with_reads=with_reads), started=_let_go)
    try:
        status = loop.run(command)
    except TraceError as error:
        os.write(2, f"{error}\n".encode())
        sys.exit(CANNOT_TRACE)
    recorder.end(status)
    _end_as(status)


def _let_go() -> None:
    """Close what is the command's alone: who reads its output is to see its end."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, _STANDARD_OUTPUT):
        os.dup2(nothing, descriptor)
    os.close(nothing)


def _end_as(status: int) -> None:
    """End as the command ended: with its code, or by its signal."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with suppress(OSError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
