"""The program `strace` in place of our own tracer: how it is run, and how what it prints is read.

All text is printed in hexadecimal, all flags as numbers, and each descriptor with where it leads: so a line is read
without a table of names, and nothing that a program calls its files can be taken for something else. What is read from
files is not printed. Only the standard library is imported here.
"""

from __future__ import annotations

import errno
import os
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from perdure_conformance.crash.recorder import NUMBERS

PROGRAM: Final = "strace"
_LONGEST_WRITE_BYTES: Final = 2**25
"""What is longer is cut short, and no base for a verdict."""

_SYNCS: Final = "fsync,fdatasync,sync,syncfs"
_SYNCS_WAIT_US: Final = 2_000
"""How long each waits before it begins: what acknowledges without waiting for it has done so by then."""

READS: Final = ("read", "readv", "preadv2")
"""Calls that read and may move a descriptor: what is read is not printed."""
_KEPT: Final = [
    "open_by_handle_at",
    "close",
    "close_range",
    "dup",
    "dup2",
    "dup3",
    "fcntl",
    "lseek",
    "chdir",
    "fchdir",
    "clone",
    "clone3",
    "fork",
    "vfork",
    "execve",
    "execveat",
    "munmap",
    "mremap",
    "unshare",
    "setns",
    "chroot",
    "pivot_root",
    "mount",
    "umount2",
    "move_mount",
    "recvmsg",
    "recvmmsg",
    "pidfd_getfd",
]
"""Calls that change nothing on a disk: by these it is known what the others mean."""


@dataclass(frozen=True, slots=True)
class Injection:
    """A call that is made to fail."""

    call: str
    error: str
    """Its name, such as `EIO`."""
    thread_ordinal: int
    """Counted from 1 over the calls of this name of its thread: of each thread, this one fails."""


def command(log: str, watched: Sequence[str], *, with_filter: bool, injection: Injection | None) -> list[str]:
    """Return the command that runs another one, and writes to a file what it calls.

    With a filter, what is not looked at takes no time. Syncs wait, if none is made to fail.
    """
    disturbs = (
        ("-e", f"inject={_SYNCS}:delay_enter={_SYNCS_WAIT_US}")
        if injection is None
        else ("-e", f"inject={injection.call}:error={injection.error}:when={injection.thread_ordinal}")
    )
    calls = (f"?{name}" for name in (*NUMBERS, *READS, *_KEPT))
    return [
        *(PROGRAM, "-f", "-y", "-xx", "-X", "raw", "--quiet=attach", "-s", f"{_LONGEST_WRITE_BYTES}"),
        *("-e", f"trace={','.join(calls)}", "-e", f"raw={','.join(READS)}", "-o", log),
        *(("--seccomp-bpf",) if with_filter else ()),
        *disturbs,
        *("--", *watched),
    ]


class Unreadable(Exception):
    """A line that strace is not known to print. `str(error)` is what was found."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A call begins, and has ended if its result is there."""

    thread: int
    call: str
    text: str
    """Its arguments, as far as they are in this line."""
    result: str | None


@dataclass(frozen=True, slots=True)
class Resumed:
    """A call goes on, and has ended."""

    thread: int
    call: str
    text: str
    """The other arguments."""
    result: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A thread ended."""

    thread: int


@dataclass(frozen=True, slots=True)
class Superseded:
    """A process has become another program: the thread that called for that goes by the number of the process now."""

    thread: int
    former: int
    """The number that it had."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Whatever else is printed."""

    thread: int
    sentence: str | None = None
    """What strace says; None of a signal, and of a call that has no end."""


Line = Begun | Resumed | Ended | Superseded | Remark
"""What was printed of one thread, once."""


_THREAD: Final = re.compile(r"([0-9]+) +(.*)", re.DOTALL)
_WHOLE: Final = re.compile(r"([a-z_][a-z0-9_]*)\((.*)\) += (.*)")
_BEGUN: Final = re.compile(r"([a-z_][a-z0-9_]*)\((.*?) ?<(?:unfinished|detached) \.\.\.>(?:\) += \?)?")
_RESUMED: Final = re.compile(r"<\.\.\. ([a-z_][a-z0-9_]*) resumed>(.*)\) += (.*)")
_RESUMED_IN_VAIN: Final = re.compile(r"<\.\.\. [a-z_][a-z0-9_]* resumed>.*<(?:unfinished|detached) \.\.\.>.*")
_ENDED: Final = re.compile(r"\+\+\+ (?:exited with [0-9]+|killed by [A-Za-z0-9_+]+(?: \(core dumped\))?) \+\+\+")
_SUPERSEDED: Final = re.compile(r"\+\+\+ superseded by execve in pid ([0-9]+) \+\+\+")
_OF_NO_CALL: Final = re.compile(r"--- .* ---|\?\?\?\?? ?\(.*")
_TOLD: Final = re.compile(r"\[ (.*) \]")


def line(text: str) -> Line:
    """Read one line. Raises `Unreadable`."""
    found = _THREAD.fullmatch(text)
    if found is None:
        raise Unreadable(text)
    thread, said = int(found[1]), found[2]
    if (of := _WHOLE.fullmatch(said)) is not None:
        return Begun(thread, of[1], of[2], of[3])
    if (of := _BEGUN.fullmatch(said)) is not None:
        return Begun(thread, of[1], of[2], None)
    if (of := _RESUMED.fullmatch(said)) is not None:
        return Resumed(thread, of[1], of[2], of[3])
    if _ENDED.fullmatch(said) is not None:
        return Ended(thread)
    if (of := _SUPERSEDED.fullmatch(said)) is not None:
        return Superseded(thread, int(of[1]))
    if (of := _TOLD.fullmatch(said)) is not None:
        return Remark(thread, of[1])
    if _OF_NO_CALL.fullmatch(said) is not None or _RESUMED_IN_VAIN.fullmatch(said) is not None:
        return Remark(thread)
    raise Unreadable(text)


@dataclass(slots=True)
class Arguments:
    """What a call was given, as if it were asked where it stands."""

    values: list[int | None] = field(default_factory=list)
    """Numbers, and addresses in `texts`; None for what is printed in a way that is of no use here."""
    texts: dict[int, bytes] = field(default_factory=dict)
    descriptors: dict[int, str] = field(default_factory=dict)
    """Where the descriptors lead."""
    unnamed: set[int] = field(default_factory=set)
    """Those that lead to what has no name any more."""
    is_cut: bool = False
    """Whether strace left out some of the text."""


_NUMBER: Final = r"-?(?:0x[0-9a-f]+|[0-9]+)"
_LED: Final = r"<([^<>]*)>(\(deleted\))?"
_PARTS: Final = re.compile(
    rf'(?P<numbers>{_NUMBER}(?:\|{_NUMBER})*)(?:{_LED})?|"(?P<text>[^"]*)"(?P<cut>\.\.\.)?|(?P<null>NULL)'
)
_VECTOR: Final = re.compile(r"\{iov_base=([^,]*), iov_len=([0-9]+)\}")
_POINTED: Final = re.compile(rf"\[({_NUMBER})\](?: => \[{_NUMBER}\])?")
_FLAGS: Final = re.compile(rf"\{{flags=({_NUMBER}(?:\|{_NUMBER})*)[,}}].*")
_FIRST_ADDRESS: Final = 2**32
_APART: Final = 2**32


def arguments(text: str) -> Arguments:
    """Read what stands between the parentheses of a call. Raises `Unreadable`."""
    found = Arguments()
    for part in _split(text):
        found.values.append(_value(part, found))
    return found


def _split(text: str) -> list[str]:
    """Return what stands between the outermost commas; text and paths, in hexadecimal, have none."""
    if not text:
        return []
    if not any(each in text for each in "[{("):
        return text.split(", ")
    parts: list[str] = []
    depth = start = 0
    for found in re.finditer(r"[\[{(\]})]|, ", text):
        if found[0] == ", ":
            if not depth:
                parts.append(text[start : found.start()])
                start = found.end()
        else:
            depth += 1 if found[0] in "[{(" else -1
    if depth < 0:
        raise Unreadable(text)
    return [*parts, text[start:]]


def _value(part: str, into: Arguments) -> int | None:
    if (found := _PARTS.fullmatch(part)) is not None:
        if found["null"]:
            return 0
        if found["numbers"] is None:
            into.is_cut |= found["cut"] is not None
            return _put(into, unhex(found["text"]))
        value = number(found["numbers"])
        if found[2] is not None:
            into.descriptors[value] = os.fsdecode(unhex(found[2]))
            if found[3] is not None:
                into.unnamed.add(value)
        return value
    if (found := _POINTED.fullmatch(part)) is not None:
        return _put(into, struct.pack("=q", number(found[1])))
    if part.startswith("[{iov_base=") or part == "[]":
        return _vector(part, into)
    if (found := _FLAGS.fullmatch(part)) is not None:
        return _put(into, struct.pack("=Q", number(found[1])))
    return None


def _vector(part: str, into: Arguments) -> int:
    parts = _VECTOR.findall(part)
    whole = ", ".join(f"{{iov_base={base}, iov_len={size}}}" for base, size in parts)
    into.is_cut |= part != f"[{whole}]"
    table = b"".join(struct.pack("=QQ", _value(base, into) or 0, int(size)) for base, size in parts)
    return _put(into, table)


def _put(into: Arguments, data: bytes) -> int:
    address = _FIRST_ADDRESS + _APART * len(into.texts)
    into.texts[address] = data
    return address


def number(text: str) -> int:
    """Return a number, or several that are flags."""
    whole = 0
    for each in text.split("|"):
        is_octal = len(each) > 1 and each[0] == "0" and each[1] != "x"
        whole |= int(each, 8 if is_octal else 0)
    return whole


_PRINTED_BYTES: Final = 4
"""How long one byte is, as it is printed."""


def unhex(text: str) -> bytes:
    r"""Read `\x61\x62`. Raises `Unreadable`."""
    try:
        read = bytes.fromhex(text.replace("\\x", ""))
    except ValueError:
        raise Unreadable(text) from None
    if len(text) != _PRINTED_BYTES * len(read):
        raise Unreadable(text)
    return read


def printed(text: str) -> str:
    """Return how a path is printed."""
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(text))


@dataclass(frozen=True, slots=True)
class Result:
    """How a call ended."""

    value: int
    """What it returned; the number of an error is negative."""
    path: str | None = None
    """Where a descriptor leads that it returned."""
    is_unnamed: bool = False
    is_known: bool = True
    """Whether it ended at all: a thread that is killed does not say."""
    is_injected: bool = False
    """Whether it was made to fail."""


_INTERRUPTED: Final = 512
_RETURNED: Final = re.compile(rf"({_NUMBER})(?:{_LED})?(?: \(.*\))?")
_FAILED: Final = re.compile(r"-1 (E[A-Z0-9]+) \(.*?\)( \(INJECTED\))?")
_TO_BE_RESTARTED: Final = re.compile(r"\? ERESTART[A-Z_]* \(.*\)")


def result(text: str) -> Result:
    """Read what stands behind the equals sign. Raises `Unreadable`."""
    if text == "?":
        return Result(0, is_known=False)
    if (found := _FAILED.fullmatch(text)) is not None:
        return Result(-int(getattr(errno, found[1], errno.EIO)), is_injected=found[2] is not None)
    if _TO_BE_RESTARTED.fullmatch(text) is not None:
        return Result(-_INTERRUPTED)
    found = _RETURNED.fullmatch(text)
    if found is None:
        raise Unreadable(text)
    if found[2] is None:
        return Result(number(found[1]))
    return Result(number(found[1]), os.fsdecode(unhex(found[2])), found[3] is not None)
