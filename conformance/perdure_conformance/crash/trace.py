"""What a program did to the files of its state directory, call by call, and what it said meanwhile: one order.

A trace is recorded once, over all threads and children of a program. Windows to kill it in are counted by it, and what
a disk may hold after a power cut is worked out from it alone. Files are told apart by a number of their own, since a
name may come to mean another file; the number 0 is the state directory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NewType

from msgspec import Struct

File = NewType("File", int)
"""A file or directory, whatever it is called: numbers from 1 in the order in which they were first seen."""

STATE_DIRECTORY: Final = File(0)

BY_ITSELF: Final = ("O_SYNC", "O_DSYNC", "RWF_DSYNC")
"""What makes a write sync by itself: that covers it, with what it lies upon, and no other write of its file."""


class Create(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A new file or directory, with its first name. A file that was opened without one has only its first `Link`."""

    directory: File
    name: str
    file: File
    kind: Literal["file", "directory"] = "file"


class Write(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Bytes written at an offset; as many as the call said it wrote."""

    file: File
    offset: int
    data: bytes


class Truncate(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A file made as long as this, be it shorter or longer with zeros."""

    file: File
    size: int


class Link(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Another name for a file."""

    file: File
    directory: File
    name: str


class Unlink(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A name taken away, of a file or of an empty directory."""

    directory: File
    name: str


class Rename(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A file under another name; what had that name has none any more."""

    directory: File
    name: str
    new_directory: File
    new_name: str


class Sync(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """What was written is on the disk when this ends: of one file or directory, or of all if `file` is None."""

    file: File | None
    how: str
    """`fsync`, `fdatasync`, `sync`, `syncfs`; one of `BY_ITSELF` right behind a write of that kind."""
    began: int | None = None
    """After how many calls it began, if others were made meanwhile: it need not bring those."""


class Answer(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """One whole line that the adapter wrote on standard output, counted from 1: from now on its answer is known."""

    number: int


class Blind(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Something that a trace of calls cannot show, such as a writable shared mapping: no base for a verdict."""

    sentence: str


Operation = Create | Write | Truncate | Link | Unlink | Rename | Sync | Answer | Blind


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """One call that changed something, or may have."""

    text: str
    """For people, with names within the state directory: `write runs/1.log@0+160`."""
    operation: Operation
    thread: int = 0
    """Which thread of the program it was, counted from 0 in the order in which they came to be."""


class Held(Struct, frozen=True, forbid_unknown_fields=True):
    """A file or directory that was there before the trace began; all of it is on the disk."""

    file: File
    directory: File
    name: str
    kind: Literal["file", "directory"]
    data: bytes = b""


class Trace(Struct, frozen=True, forbid_unknown_fields=True):
    """One recording, from the start of a program to its end."""

    before: Sequence[Held]
    calls: Sequence[Call]
