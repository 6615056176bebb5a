# Asked at the end of every run, and of every process there is: paths as objects would take most of the time.
# ruff: noqa: PTH108, PTH123, PTH208
"""Running a program under strace, until it and all that it started is gone.

Orphans come to this process: when the program has ended, they are killed, as under our own tracer; and all are killed
if the one dies that has started this one. Only the standard library is imported here.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import select
import shutil
import signal
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from types import FrameType
from typing import Final

from perdure_conformance.crash import strace
from perdure_conformance.crash.ptrace import CANNOT_BE_STARTED, CANNOT_TRACE, cannot_be_started
from perdure_conformance.crash.retold import Retold
from perdure_conformance.crash.strace import Injection

_ON_DEATH_OF_PARENT, _SECCOMP, _SUBREAPER = 1, 22, 36
_FILTER: Final = 2
_LOOKS_FOR_ORPHANS_MS, _LOOKS_FOR_STRACE_MS = 10, 100
"""How often, when nothing is printed: it may have ended without a word."""
_READ_BYTES: Final = 2**20


def run(
    command: Sequence[str],
    pipe: str,
    parent: int,
    retold: Retold,
    started: Callable[[], None],
    injection: Injection | None,
) -> int:
    """Start a program, tell what it did, and return its wait status; `CANNOT_TRACE` if strace cannot.

    What strace prints comes through a pipe that is made at this path.
    """
    if shutil.which(command[0]) is None:
        os.write(2, cannot_be_started(command[0], FileNotFoundError()).encode())
        return CANNOT_BE_STARTED << 8
    _die_with(parent)
    os.mkfifo(pipe)
    printed = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with suppress(OSError):
        fcntl.fcntl(printed, fcntl.F_SETPIPE_SZ, _READ_BYTES)
    tracer = os.fork()
    if tracer == 0:
        _become(strace.command(pipe, command, with_filter=_takes_filters(), injection=injection))
    started()
    lines, status = _Run(tracer, printed).to_its_end()
    os.unlink(pipe)
    if not lines[0]:
        return CANNOT_TRACE << 8
    failed = re.fullmatch(r"[0-9]+ +execve\(.*\) += -1 (E[A-Z0-9]+) .*", lines[0])
    if failed is not None:
        number = getattr(errno, failed[1], errno.ENOEXEC)
        os.write(2, cannot_be_started(command[0], OSError(number, os.strerror(number))).encode())
        return CANNOT_BE_STARTED << 8
    retold.read(lines)
    return status


def _takes_filters() -> bool:
    """Tell whether a seccomp filter may be installed: then it is asked where that is."""
    c = ctypes.CDLL(None, use_errno=True)
    return c.prctl(_SECCOMP, _FILTER, None, 0, 0) == -1 and ctypes.get_errno() == errno.EFAULT


def _die_with(parent: int) -> None:
    """Have orphans come here, and kill all if the parent dies."""

    def die(_number: int, _frame: FrameType | None) -> None:
        _kill_all()
        os._exit(1)

    signal.signal(signal.SIGTERM, die)
    c = ctypes.CDLL(None)
    c.prctl(_SUBREAPER, 1, 0, 0, 0)
    c.prctl(_ON_DEATH_OF_PARENT, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _become(command: Sequence[str]) -> None:
    """In the child: become strace. Never returns."""
    try:
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM):  # An ignored signal is inherited.
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], list(command))  # noqa: S606 - the user's own command, without a shell
    except OSError as error:
        os.write(2, f"{strace.PROGRAM} cannot be started: {error.strerror}.\n".encode())
    finally:
        os._exit(CANNOT_BE_STARTED)


class _Run:
    """A run of strace, and what it prints."""

    def __init__(self, tracer: int, printed: int) -> None:
        self._tracer = tracer
        self._printed = printed
        self._content = bytearray()
        self._ended: re.Pattern[bytes] | None = None
        """What is printed once the program has ended."""
        self._looked_at = self._taken = 0
        """Up to which byte it was looked for that, and what is new was taken into account."""

    def to_its_end(self) -> tuple[list[str], int]:
        """Return the lines that were printed, the last one empty if it is whole, and the wait status."""
        status = self._until_it_ends()
        _kill_all()
        os.close(self._printed)
        return self._content.decode("ascii", "backslashreplace").split("\n"), status

    def _until_it_ends(self) -> int:
        poll = select.poll()
        poll.register(self._printed, select.POLLIN)
        has_ended = False
        while True:
            events = poll.poll(_LOOKS_FOR_ORPHANS_MS if has_ended else _LOOKS_FOR_STRACE_MS)
            self._take()
            has_ended = has_ended or self._has_ended()
            if has_ended:
                _kill(each for each in _children() if each != self._tracer)
            is_closed = any(event & select.POLLHUP for _, event in events)
            ended, status = os.waitpid(self._tracer, 0 if is_closed else os.WNOHANG)
            if ended:
                self._take()
                return status

    def _take(self) -> None:
        with suppress(BlockingIOError):
            while part := os.read(self._printed, _READ_BYTES):
                self._content += part

    def _has_ended(self) -> bool:
        """Tell whether the program has ended: it is the first thread of which anything is printed."""
        taken, self._taken = self._taken, len(self._content)
        end = self._content.rfind(b"\n", taken) + 1
        if not end:
            return False
        if self._ended is None:
            first = re.match(rb"([0-9]+) .*\n", self._content)
            if first is None:
                return False
            self._ended = re.compile(rb"^%s +\+\+\+ (?:exited|killed) " % first[1], re.MULTILINE)
        start, self._looked_at = self._looked_at, end
        return self._ended.search(self._content, start, end) is not None


def _kill_all() -> None:
    """Kill and reap all that there is."""
    while children := _children():
        _kill(children)
        for child in children:
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


def _kill(processes: Iterable[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _children() -> list[int]:
    """Return the processes whose parent is this one."""
    here = os.getpid()
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as opened:
                if int(opened.read().rpartition(b")")[2].split()[1]) == here:
                    found.append(int(name))
    return found
