"""Stopping a program, with all its threads and children, at the system calls that a filter names: x86-64 Linux alone.

A seccomp filter stops a thread just before such a call; all other calls run at full speed. What happens then is asked
of a `Watcher`, which may let the call be, watch how it ends, change its arguments, have it fail, or kill everybody. One
watched call runs at a time, over all threads and processes: another thread waits at the entrance of its own, so that
the calls have one order, and what came before one of them is done.

If the tracer dies, all it traces dies with it (`PTRACE_O_EXITKILL`). Only the standard library is imported here.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from perdure_conformance.harness.starting import why_not_started

CANNOT_TRACE, CANNOT_BE_STARTED = 126, 127
"""With what it is ended if nothing can be traced, and if there is no such program, as of a shell."""

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_LIBC.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
_LIBC.ptrace.restype = ctypes.c_long
_LIBC.prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong)
_LIBC.prctl.restype = ctypes.c_int

_CONT, _GETREGS, _SETREGS, _SYSCALL = 7, 12, 13, 24
_GETEVENTMSG, _SEIZE, _LISTEN = 0x4201, 0x4206, 0x4208
_OPTIONS: Final = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x80 | 0x100000
"""TRACESYSGOOD, TRACEFORK, TRACEVFORK, TRACECLONE, TRACEEXEC, TRACESECCOMP, EXITKILL."""
_EVENT_EXEC, _EVENT_SECCOMP, _EVENT_STOP = 4, 7, 128
_SYSCALL_STOP: Final = signal.SIGTRAP | 0x80
_STOPPING: Final = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
_WALL: Final = 0x40000000
_NO_CALL: Final = 2**64 - 1
_OF_ANOTHER_ARCHITECTURE: Final = 1
"""What the filter says of a call that is numbered otherwise, as one by `int 0x80` is, from 64-bit code too."""


_NAMES: Final = (
    "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax "
    "rip cs eflags rsp ss fs_base gs_base ds es fs gs"
)


class Registers(ctypes.Structure):
    """What `struct user_regs_struct` is on x86-64."""

    cs: int
    orig_rax: int
    rax: int
    rdi: int
    rsi: int
    rdx: int
    r10: int
    r8: int
    r9: int
    _fields_ = [(name, ctypes.c_ulonglong) for name in _NAMES.split()]


class TraceError(Exception):
    """No program can be traced on this machine. `str(error)` is one sentence."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A thread that is about to make a call."""

    thread: int
    number: int
    """Which thread of the program it is, counted from 0 in the order in which they came to be."""
    call: int
    arguments: tuple[int, int, int, int, int, int]
    began: int | None = None
    """After how many calls it began, if others were made meanwhile."""
    thread_ordinal: int = 0
    """Counted from 1 over the calls of this name of its thread, on whatever files; 0 if nobody counts."""


@dataclass(frozen=True, slots=True)
class LetBe:
    """The call runs, and nobody looks how it ends."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The call runs, perhaps with other arguments; how it ended is asked, by its result. A result < 0 is an error."""

    ended: Callable[[int], bool]
    """Whether everybody is to be killed now."""
    arguments: Mapping[int, int] = field(default_factory=dict)
    """What takes the place of its arguments, by index; the thread finds its own ones again when the call has ended."""


@dataclass(frozen=True, slots=True)
class Fail:
    """The call does not run, and fails with this error number."""

    error: int


@dataclass(frozen=True, slots=True)
class KillAll:
    """The call does not run, and everybody is killed."""


Decision = LetBe | Watch | Fail | KillAll


@dataclass(frozen=True, slots=True)
class Rule:
    """Which calls a thread is stopped at: this one, if all that is said of its arguments holds."""

    call: int
    bits: tuple[tuple[int, int], ...] = ()
    """Arguments of which one of these bits must be set, by index; of the lower half of each."""
    equal: tuple[tuple[int, int], ...] = ()
    """Arguments that must have this value."""


class Watcher(Protocol):
    """Who decides what becomes of a call."""

    def about_to(self, stop: Stop) -> Decision:
        """Return what becomes of this call."""
        ...

    def lost(self, stop: Stop) -> None:
        """Note that a thread was ended within a call that was watched: nobody knows whether it ran."""
        ...


def _ptrace(request: int, thread: int, address: int = 0, data: int = 0) -> None:
    if _LIBC.ptrace(request, thread, address, data) == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


_ARGUMENTS: Final = ("rdi", "rsi", "rdx", "r10", "r8", "r9")


@dataclass(slots=True)
class _Inside:
    stop: Stop
    watch: Watch
    changed: Mapping[str, int]
    """What the thread had in the registers that were changed."""


class Loop:
    """A program and all that it starts, from its start to its end."""

    def __init__(self, watcher: Watcher, rules: Sequence[Rule], started: Callable[[], None]) -> None:
        self._watcher = watcher
        self._started = started
        """Called once the program has been started."""
        self._filter = filter_program(rules)
        self._registers = Registers()
        self._address = ctypes.addressof(self._registers)
        self._threads: dict[int, int] = {}
        """The number of each thread that there is."""
        self._seen = 0
        self._waiting: deque[int] = deque()
        """Threads that wait at the entrance of a call."""
        self._inside: _Inside | None = None
        """The one that is in a call that is watched."""
        self._is_killing = False

    def run(self, command: Sequence[str]) -> int:
        """Start a program, and return its wait status once it and all that it started is gone. Raises `TraceError`."""
        main = self._start(command)
        status = self._until_it_ends(main)
        self._kill_all()
        with suppress(ChildProcessError):
            while True:
                os.waitpid(-1, _WALL)
        return status

    def _start(self, command: Sequence[str]) -> int:
        """Fork, and trace the child before it does anything; then its first call is to become the program."""
        may_go, go = os.pipe()
        child = os.fork()
        if child == 0:
            _become(command, may_go, self._filter)
        os.close(may_go)
        try:
            _ptrace(_SEIZE, child, 0, _OPTIONS)
        except OSError as error:
            os.kill(child, signal.SIGKILL)
            raise TraceError(f"A program cannot be traced here: {error.strerror}.") from error
        self._saw(child)
        os.write(go, b"!")
        os.close(go)
        self._started()
        return child

    def _saw(self, thread: int) -> None:
        if thread not in self._threads:
            self._threads[thread] = self._seen
            self._seen += 1

    def _until_it_ends(self, main: int) -> int:
        while True:
            thread, status = os.waitpid(-1, _WALL)
            if not os.WIFSTOPPED(status):
                self._gone(thread)
                if thread == main:
                    return status
                continue
            self._saw(thread)
            if self._is_killing:
                os.kill(thread, signal.SIGKILL)
            with suppress(ProcessLookupError):  # It may be killed at any moment.
                self._stopped(thread, os.WSTOPSIG(status), status >> 16)

    def _stopped(self, thread: int, number: int, event: int) -> None:
        if event == _EVENT_SECCOMP:
            if self._inside is None:
                self._at_entrance(thread)
            else:
                self._waiting.append(thread)
        elif number == _SYSCALL_STOP:
            self._at_exit(thread)
        elif event == _EVENT_STOP and number in _STOPPING:
            _ptrace(_LISTEN, thread)
        elif event == _EVENT_EXEC:
            self._became_main(thread)
            _ptrace(_CONT, thread)
        else:
            _ptrace(_CONT, thread, 0, 0 if event else number)

    def _at_entrance(self, thread: int) -> None:
        registers = self._registers
        _ptrace(_GETREGS, thread, 0, self._address)
        data = ctypes.c_ulong()
        _ptrace(_GETEVENTMSG, thread, 0, ctypes.addressof(data))
        stop = Stop(
            thread,
            self._threads[thread],
            registers.orig_rax if data.value != _OF_ANOTHER_ARCHITECTURE else _NO_CALL,
            (registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9),
        )
        match self._decision(stop):
            case Watch() as watch:
                changed = {_ARGUMENTS[index]: stop.arguments[index] for index in watch.arguments}
                self._inside = _Inside(stop, watch, changed)
                if changed:
                    for index, value in watch.arguments.items():
                        setattr(registers, _ARGUMENTS[index], value)
                    _ptrace(_SETREGS, thread, 0, self._address)
                _ptrace(_SYSCALL, thread)
            case Fail(error):
                registers.orig_rax, registers.rax = _NO_CALL, 2**64 - error
                _ptrace(_SETREGS, thread, 0, self._address)
                _ptrace(_CONT, thread)
            case KillAll():
                self._kill_all()
            case LetBe():
                _ptrace(_CONT, thread)

    def _decision(self, stop: Stop) -> Decision:
        try:
            return self._watcher.about_to(stop)
        except OSError:
            self._require_here(stop.thread)
            raise

    def _require_here(self, thread: int) -> None:
        """Raise `ProcessLookupError` if a thread was ended while it stood still: what it was about is not done."""
        _ptrace(_GETREGS, thread, 0, self._address)

    def _at_exit(self, thread: int) -> None:
        inside = self._inside
        if inside is None or inside.stop.thread != thread:
            _ptrace(_CONT, thread)
            return
        registers = self._registers
        _ptrace(_GETREGS, thread, 0, self._address)
        result = registers.rax - 2**64 if registers.rax >= 2**63 else registers.rax
        for name, value in inside.changed.items():
            setattr(registers, name, value)
        if inside.changed:
            _ptrace(_SETREGS, thread, 0, self._address)
        try:
            is_to_kill = inside.watch.ended(result)
        except OSError:
            self._require_here(thread)
            raise
        self._inside = None
        if is_to_kill:
            self._kill_all()
            return
        _ptrace(_CONT, thread)
        self._next_one()

    def _next_one(self) -> None:
        """Let in those who wait, until one is inside."""
        while self._waiting and self._inside is None and not self._is_killing:
            with suppress(ProcessLookupError):
                self._at_entrance(self._waiting.popleft())

    def _became_main(self, thread: int) -> None:
        """Forget the thread that has started another program: it goes by the number of its process from now on."""
        former = ctypes.c_ulong()
        _ptrace(_GETEVENTMSG, thread, 0, ctypes.addressof(former))
        if former.value != thread:
            self._gone(former.value)

    def _gone(self, thread: int) -> None:
        self._threads.pop(thread, None)
        with suppress(ValueError):
            self._waiting.remove(thread)
        if self._inside is not None and self._inside.stop.thread == thread:
            if not self._is_killing:
                self._watcher.lost(self._inside.stop)
            self._inside = None
            self._next_one()

    def _kill_all(self) -> None:
        """Kill all processes. A thread that waits at the entrance of a call does not make it any more."""
        self._is_killing = True
        for thread in tuple(self._threads):
            with suppress(ProcessLookupError):
                os.kill(thread, signal.SIGKILL)


def _become(command: Sequence[str], may_go: int, program: bytes) -> None:
    """In the child: wait until it is traced, put the filter in place, and become the program. Never returns."""
    try:
        os.read(may_go, 1)
        instructions = ctypes.create_string_buffer(program, len(program))
        head = struct.pack("@HP", len(program) // _INSTRUCTION.size, ctypes.addressof(instructions))
        if os.geteuid() != 0:  # Who is not root may filter only what can never become root.
            _prctl(_NO_NEW_PRIVILEGES, 1, None)
        _prctl(_SECCOMP, _FILTER, ctypes.addressof(ctypes.create_string_buffer(head, len(head))))
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and an ignored signal is inherited.
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], list(command))  # noqa: S606 - the user's own command, without a shell
    except BaseException as error:  # noqa: BLE001 - a forked child must end here, whatever happens
        os.write(2, cannot_be_started(command[0], error).encode())
    finally:
        os._exit(CANNOT_BE_STARTED)


def cannot_be_started(program: str, error: BaseException) -> str:
    """Return the line that says so."""
    why = why_not_started(program, error) if isinstance(error, OSError | ValueError) else f"{error}."
    return f"{program!a} cannot be started: {why}\n"


_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


def _prctl(option: int, argument: int, address: int | None) -> None:
    if _LIBC.prctl(option, argument, address, 0, 0) == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{os.strerror(error)} (prctl {option})")


_INSTRUCTION: Final = struct.Struct("=HBBI")
_LOAD, _RETURN, _IF_EQUAL, _IF_AT_LEAST, _IF_BITS = 0x20, 0x06, 0x15, 0x35, 0x45
_STOP_HERE, _RUN = 0x7FF00000, 0x7FFF0000
_CALL_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X86_64, _X32 = 0xC000003E, 0x40000000


def filter_program(rules: Sequence[Rule]) -> bytes:
    """Return a BPF program that stops a thread at these calls, and at every call of another architecture."""
    stop, other = (_RETURN, 0, 0, _STOP_HERE), (_RETURN, 0, 0, _STOP_HERE | _OF_ANOTHER_ARCHITECTURE)
    program = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_IF_EQUAL, 1, 0, _X86_64), other]
    program += [(_LOAD, 0, 0, _CALL_AT), (_IF_AT_LEAST, 0, 1, _X32), other]
    for rule in rules:
        tests = [(_IF_EQUAL, _CALL_AT, rule.call)]
        tests += [(_IF_BITS, _ARGUMENTS_AT + 8 * index, mask) for index, mask in rule.bits]
        tests += [(_IF_EQUAL, _ARGUMENTS_AT + 8 * index, value) for index, value in rule.equal]
        for done, (test, at, value) in enumerate(tests, 1):
            program += [(_LOAD, 0, 0, at), (test, 0, 2 * (len(tests) - done) + 1, value)]
        program.append(stop)
    return b"".join(_INSTRUCTION.pack(*instruction) for instruction in [*program, (_RETURN, 0, 0, _RUN)])
