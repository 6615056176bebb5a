"""What a traced program did, as a `Trace`: how it is run, and how the lines are read that the tracer wrote."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal, get_args

import msgspec
from msgspec import Struct

from perdure_conformance.crash.replay import Failure, Fault, Undisturbed
from perdure_conformance.crash.trace import (
    Answer,
    Blind,
    Call,
    Create,
    Held,
    Link,
    Operation,
    Rename,
    Sync,
    Trace,
    Truncate,
    Unlink,
    Write,
)
from perdure_conformance.interrupts import uninterrupted

REBUILDABLE: Final = ("*-shm",)
"""Files that an implementation makes anew from others whenever it likes, such as SQLite's shared index of its log."""

Watcher = Literal["ptrace", "strace"]
WATCHERS: Final[tuple[Watcher, ...]] = get_args(Watcher)
"""What can watch a program: our own tracer, which is tried first, and the program strace."""
FORCED: Final = "PERDURE_TRACE"
"""The variable that says which of them it is to be."""
STRACE_DISTURBS_NOTHING: Final = (
    "Programs are watched by strace here, which can neither kill them behind a call nor cut a write short: nothing is "
    "killed, and nothing made to fail but the syncs of one thread."
)
_AARCH64: Final = frozenset({"aarch64", "arm64"})
_UNTESTED: Final = "aarch64 is untested"

_PACKAGES: Final = Path(__file__).resolve().parents[2]
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from perdure_conformance.crash.tracer import main; "
    "main(*sys.argv[1:])"
)


class Before(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """What was there before the program started."""

    held: Held


class Done(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A call that succeeded."""

    number: int
    """Counted from 1 over all calls that change files, those that fail included; 0 for what is not counted."""
    name: str
    ordinal: int
    """Counted from 1 over the calls of this name."""
    call: Call
    thread_ordinal: int = 0
    """Counted from 1 over the calls of this name of its thread, on whatever files: strace goes by it, and none else."""


class Failed(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A call that was counted, and failed of itself."""

    number: int
    name: str
    ordinal: int
    text: str
    error: int


class Injected(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The fault happened, at this call."""

    number: int
    name: str
    ordinal: int
    text: str


class End(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The program ended of itself, or was killed by its fault."""

    calls: int
    reads: int
    status: int


Line = Before | Done | Failed | Injected | End
_LINE: Final = msgspec.json.Decoder(Line)


class Recording(Struct, frozen=True):
    """All lines of one run."""

    lines: Sequence[Line]

    @property
    def trace(self) -> Trace:
        """What was done, in order."""
        return Trace([line.held for line in self.lines if isinstance(line, Before)], [done.call for done in self.done])

    @property
    def done(self) -> Sequence[Done]:
        """What was done, with how each call is counted: one for each call of the trace."""
        return [line for line in self.lines if isinstance(line, Done)]

    @property
    def until_injected(self) -> Trace:
        """What was done before the fault happened, and all of it if none did."""
        until = next((index for index, line in enumerate(self.lines) if isinstance(line, Injected)), None)
        return Recording(self.lines[:until]).trace

    @property
    def injected(self) -> Injected | None:
        """Where the fault happened, if it did."""
        return next((line for line in self.lines if isinstance(line, Injected)), None)

    @property
    def end(self) -> End | None:
        """How it ended; None if the tracer was killed."""
        return next((line for line in self.lines if isinstance(line, End)), None)

    @property
    def unseen(self) -> Sequence[str]:
        """What changes files without a call that could be stopped at: there are windows that nobody tries."""
        found = [done.call.operation for done in self.done if not done.number]
        return [operation.sentence for operation in found if isinstance(operation, Blind)]

    @property
    def blind(self) -> Sequence[str]:
        """What the trace cannot show."""
        return [done.call.operation.sentence for done in self.done if isinstance(done.call.operation, Blind)]


def why_not() -> str | None:
    """Return why no program can be watched on this machine, in one or two sentences; None if one was."""
    return None if watcher() is not None else _chosen().why


def watcher() -> Watcher | None:
    """Return by what programs are watched on this machine; None if by nothing."""
    return _chosen().by


def why_not_disturbed() -> str | None:
    """Return why no program can be killed at a call here, and no call made to fail; None if all this can be."""
    return STRACE_DISTURBS_NOTHING if watcher() == "strace" else why_not()


def what_watches() -> str | None:
    """Return what is to be known of what watches; None of our own tracer."""
    if watcher() != "strace":
        return None
    untested = f", and {_UNTESTED}" if platform.machine() in _AARCH64 else ""
    return f"system calls are watched by strace{untested}: {_chosen().why}"


class Choice(Struct, frozen=True):
    """By what programs are watched; None if by nothing."""

    by: Watcher | None
    why: str
    """Why not by what is tried before it."""


def _chosen() -> Choice:
    return choose(os.environ.get(FORCED, ""))


@cache
def choose(forced: str) -> Choice:
    """Return the first that watches a program, of all or of what the variable says."""
    if sys.platform != "linux":
        return Choice(None, f"System calls are watched on Linux alone, and this is {sys.platform}.")
    if forced and forced not in WATCHERS:
        return Choice(None, f"{FORCED} is {forced!a}: write {' or '.join(WATCHERS)}.")
    reasons = [f"{FORCED} says so."] if forced else []
    for by in WATCHERS:
        if forced in ("", by):
            reason = _why_not(by)
            if reason is None:
                return Choice(by, " ".join(reasons))
            reasons.append(reason)
    return Choice(None, " ".join(reasons[1:] if forced else reasons))


def _why_not(by: Watcher) -> str | None:
    if by == "ptrace" and platform.machine() != "x86_64":
        return f"Our own tracer is for x86-64 alone, and this is {platform.machine()}."
    if by == "strace" and shutil.which(by) is None:
        untested = f" ({_UNTESTED})" if platform.machine() in _AARCH64 else ""
        return f"strace can stand in for our own tracer{untested}, and is not found: apt install strace."
    with uninterrupted(), tempfile.TemporaryDirectory(prefix="perdure-") as folder:
        log = Path(folder) / "log"
        command = traced((sys.executable, "-I", "-S", "-c", "print()"), Path(folder), log, by=by)
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
        seen = [done.call.text for done in read(log).done]
    if done.returncode == 0 and seen == ["answer 1"]:
        return None
    *_, said = ["no call was seen", *seen, *done.stderr.splitlines()]
    through = "" if by == "ptrace" else " by strace"
    return f"System calls cannot be watched{through} on this machine: {said.rstrip('.')}."


def traced(
    command: Sequence[str],
    state: Path,
    log: Path,
    fault: Fault = Undisturbed(),  # noqa: B008 - a frozen value
    *,
    with_reads: bool = False,
    rebuildable: Sequence[str] = REBUILDABLE,
    by: Watcher | None = None,
) -> tuple[str, ...]:
    """Return the command that runs another one with the same standard input and output, and logs what it did.

    The state directory must be there. With reads, they are counted too, which takes longer; strace counts none.
    """
    settings = {
        "by": by or watcher() or "ptrace",
        "log": str(log),
        "state": str(state.resolve()),
        "fault": f"{fault}",
        "thread_ordinal": fault.thread_ordinal if isinstance(fault, Failure) else 0,
        "rebuildable": list(rebuildable),
        "with_reads": with_reads,
    }
    words = msgspec.json.encode(settings).decode()
    return (sys.executable, "-I", "-S", "-c", _PROGRAM, str(_PACKAGES), words, *command)


def read(log: Path) -> Recording:
    """Return what was written so far; half a line at the end, of a tracer that was killed, is none."""
    *lines, _ = log.read_bytes().split(b"\n") if log.exists() else [b""]
    return Recording([_LINE.decode(line) for line in lines])


def shapes(trace: Trace) -> Iterator[str]:
    """Yield what each call did, without the bytes and the names that may differ from run to run."""
    for call in trace.calls:
        yield _shape(call.operation)


def _shape(operation: Operation) -> str:
    match operation:
        case Create(directory, _, file, kind):
            return f"Create {kind} {file} in {directory}"
        case Write(file, offset, data):
            return f"Write {file}@{offset}+{len(data)}"
        case Truncate(file, size):
            return f"Truncate {file} to {size}"
        case Link(file, directory):
            return f"Link {file} in {directory}"
        case Unlink(directory):
            return f"Unlink in {directory}"
        case Rename(directory, _, new_directory):
            return f"Rename from {directory} to {new_directory}"
        case Sync(file, how):
            return f"Sync {file} {how}"
        case Answer(number):
            return f"Answer {number}"
        case Blind():
            return "Blind"


def digest(trace: Trace) -> str:
    """Return a digest of the shapes: traces that differ here are of runs that took different ways."""
    return hashlib.sha256("\n".join(shapes(trace)).encode()).hexdigest()


def divergence(recorded: Trace, played: Trace) -> str | None:
    """Return where a later run, disturbed or not, left the way of a recorded one, in one sentence; None if it did not.

    A run that ended early has not left it.
    """
    for number, (expected, found) in enumerate(zip(recorded.calls, played.calls, strict=False), 1):
        if _shape(expected.operation) != _shape(found.operation):
            return f"The trace diverged at call {number}: it was {expected.text!a}, and is {found.text!a}."
    return None
