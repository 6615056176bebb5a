"""The program that stands between the harness and an implementation: it runs a command, and watches or disturbs it.

Its standard input and output are the command's. What it saw goes to a file, a line for each call at once, so that all
of it is there whenever and however it ends. Started by `recording.traced`; only the standard library is imported.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from perdure_conformance.crash.ptrace import CANNOT_TRACE, Loop, TraceError
from perdure_conformance.crash.recorder import READ, Recorder, rules
from perdure_conformance.crash.replay import Failure, parse_fault
from perdure_conformance.crash.system import Key

_STANDARD_OUTPUT = 1


def main(settings: str, *command: str) -> None:
    """Run a command as the settings say, and end as it ended."""
    read = json.loads(settings)
    log = os.open(read["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)

    def tell(line: str) -> None:
        os.write(log, line.encode() + b"\n")

    try:
        status = (_by_strace if read["by"] == "strace" else _by_ptrace)(read, tell, command)
    except TraceError as error:
        os.write(2, f"{error}\n".encode())
        sys.exit(CANNOT_TRACE)
    _end_as(status)


def _by_ptrace(read: Mapping[str, Any], tell: Callable[[str], None], command: Sequence[str]) -> int:
    fault = parse_fault(read["fault"])
    recorder = Recorder(read["state"], _said_to(), fault, tuple(read["rebuildable"]), tell)
    with_reads = read["with_reads"] or (isinstance(fault, Failure) and fault.call == READ)
    status = Loop(recorder, rules(with_reads=with_reads), started=_let_go).run(command)
    recorder.end(status)
    return status


def _by_strace(read: Mapping[str, Any], tell: Callable[[str], None], command: Sequence[str]) -> int:
    """Let another process do it, and end as it does: that one kills all if this one is killed."""
    here = os.getpid()
    other = os.fork()
    if other:
        _let_go()
        return os.waitpid(other, 0)[1]
    # What reads strace is not loaded where our own tracer runs, once for each window that is tried.
    from perdure_conformance.crash import by_strace  # noqa: PLC0415
    from perdure_conformance.crash.retold import Retold  # noqa: PLC0415
    from perdure_conformance.crash.strace import Injection  # noqa: PLC0415

    said = f"{Path(f'/proc/self/fd/{_STANDARD_OUTPUT}').readlink()}"
    fault = parse_fault(read["fault"])
    fails = Injection(fault.call, fault.error, read["thread_ordinal"]) if isinstance(fault, Failure) else None
    retold = Retold(read["state"], _said_to(), said, tuple(read["rebuildable"]), tell, fault)
    status = by_strace.run(command, f"{read['log']}.strace", here, retold, started=_let_go, injection=fails)
    retold.end(status)
    return status


def _said_to() -> Key:
    there = os.fstat(_STANDARD_OUTPUT)
    return there.st_dev, there.st_ino


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
