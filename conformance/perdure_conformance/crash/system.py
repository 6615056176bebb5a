# At each stop a few questions to /proc, on strings: paths as objects would take most of the time.
# ruff: noqa: PTH115, PTH116, PTH123
"""What is asked of a system about a thread that is about to make a call, or has just made it.

`Proc` asks `/proc` while the thread stands still; `shadow` answers when nobody can be asked any more. The numbers that
calls are given have the names of Linux beside them. Only the standard library is imported here.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

Key = tuple[int, int]
"""Device and inode."""
LONGEST_FILE_BYTES: Final = 2**28
"""A longer file is not modelled: each state of a disk would be a copy of it."""
HERE: Final = -100
"""`AT_FDCWD`: the current folder, where a descriptor of a folder is expected."""
EMPTY_PATH, FOLLOW = 0x1000, 0x400
"""Of `linkat`: `AT_EMPTY_PATH`, the descriptor itself is meant; `AT_SYMLINK_FOLLOW`, links are followed."""
EXCHANGE, WHITEOUT = 0x2, 0x4
"""Of `renameat2`: `RENAME_EXCHANGE`, `RENAME_WHITEOUT`."""
KEEP_SIZE: Final = 0x1
"""Of `fallocate`: `FALLOC_FL_KEEP_SIZE`."""
MAP_SHARED: Final = 0x1
"""Of `mmap`."""
RWF_APPEND: Final = 0x10
"""Of `pwritev2`."""
UNNAMED: Final = 0o20000000
"""Of `open`: what sets `O_TMPFILE` apart."""


@dataclass(frozen=True, slots=True)
class Location:
    """A path, taken apart."""

    parent: Key | None
    """The directory that it leads to but for its last name; None if that is none."""
    name: str
    path: str
    """As it can be asked for again."""


def of_thread(thread: int, path: str) -> str:
    """Return what a path means that a thread names: `/proc/self` is its own."""
    for itself in ("/proc/self/", "/proc/thread-self/"):
        if path.startswith(itself):
            return f"/proc/{thread}/{path.removeprefix(itself)}"
    return path


class System(Protocol):
    """Who can be asked. What is asked for and is not there is an `OSError`, if nothing else is said."""

    def memory(self, thread: int, address: int, size: int) -> bytes:
        """Return what a process has there; less, if less is mapped."""
        ...

    def change_memory(self, thread: int, address: int, data: bytes) -> None:
        """Put something there."""
        ...

    def key(self, thread: int, descriptor: int) -> Key | None:
        """Return what a descriptor means; None if it means nothing."""
        ...

    def path(self, thread: int, descriptor: int) -> str:
        """Return where that is."""
        ...

    def size(self, thread: int, descriptor: int) -> int:
        """Return how long it is."""
        ...

    def position_and_flags(self, thread: int, descriptor: int) -> tuple[int, int]:
        """Return where a descriptor stands in its file, and how it was opened."""
        ...

    def copied(self, thread: int, descriptor: int, offset: int | None, size: int) -> bytes:
        """Return so many bytes that were just put into a file, there or where its descriptor stands now."""
        ...

    def mapped(self, thread: int, start: int, end: int) -> Iterator[Key]:
        """Yield what is mapped, and shared, within a range of addresses."""
        ...

    def locate(self, thread: int, directory: int, path: str) -> Location | None:
        """Return where a path leads that a thread names; None if it leads nowhere."""
        ...

    def descriptor_at(self, thread: int, path: str) -> int | None:
        """Return the descriptor of the thread itself that a path which was found names; None if it names none."""
        ...

    def there(self, path: str, *, follow: bool = False) -> tuple[Key, int] | None:
        """Return what is there, and how long; None if nothing is."""
        ...


class Proc:
    """The system that this program runs on."""

    def memory(self, thread: int, address: int, size: int) -> bytes:
        """Read `/proc/…/mem`."""
        descriptor = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(descriptor, size, address)
        except OSError:
            return b""
        finally:
            os.close(descriptor)

    def change_memory(self, thread: int, address: int, data: bytes) -> None:
        """Write `/proc/…/mem`."""
        descriptor = os.open(f"/proc/{thread}/mem", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.pwrite(descriptor, data, address)
        finally:
            os.close(descriptor)

    def key(self, thread: int, descriptor: int) -> Key | None:
        """Look at `/proc/…/fd`."""
        try:
            there = os.stat(f"/proc/{thread}/fd/{descriptor}")
        except OSError:
            return None
        return there.st_dev, there.st_ino

    def path(self, thread: int, descriptor: int) -> str:
        """Read the link in `/proc/…/fd`."""
        return os.readlink(f"/proc/{thread}/fd/{descriptor}")

    def size(self, thread: int, descriptor: int) -> int:
        """Look at `/proc/…/fd`."""
        return os.stat(f"/proc/{thread}/fd/{descriptor}").st_size

    def position_and_flags(self, thread: int, descriptor: int) -> tuple[int, int]:
        """Read `/proc/…/fdinfo`."""
        with open(f"/proc/{thread}/fdinfo/{descriptor}", encoding="ascii") as opened:
            position, flags = (line.split()[1] for line in (opened.readline(), opened.readline()))
        return int(position), int(flags, 8)

    def copied(self, thread: int, descriptor: int, offset: int | None, size: int) -> bytes:
        """Open the file anew."""
        at = self.position_and_flags(thread, descriptor)[0] - size if offset is None else offset
        copied = b""
        with open(f"/proc/{thread}/fd/{descriptor}", "rb", buffering=0) as opened:
            while part := os.pread(opened.fileno(), size - len(copied), at + len(copied)):
                copied += part
        return copied

    def mapped(self, thread: int, start: int, end: int) -> Iterator[Key]:
        """Read `/proc/…/maps`."""
        try:
            mappings = Path(f"/proc/{thread}/maps").read_bytes().splitlines()
        except OSError:
            return
        for mapping in mappings:
            addresses, permissions, _, device, inode, *_ = mapping.split(maxsplit=5)
            first, last = (int(each, 16) for each in addresses.split(b"-"))
            major, minor = (int(each, 16) for each in device.split(b":"))
            if permissions.endswith(b"s") and first < end and start < last:
                yield os.makedev(major, minor), int(inode)

    def locate(self, thread: int, directory: int, path: str) -> Location | None:
        """Go by the root, the current folder and the descriptors of the thread."""
        path = of_thread(thread, path)
        if path.startswith("/"):
            whole = f"/proc/{thread}/root{path}"
        elif directory == HERE:
            whole = f"/proc/{thread}/cwd/{path}"
        else:
            whole = f"/proc/{thread}/fd/{directory}/{path}"
        parent, name = os.path.split(whole.rstrip("/"))
        if name in (".", ".."):
            whole = os.path.realpath(whole)
            parent, name = os.path.split(whole)
        try:
            there = os.stat(parent)
        except OSError:
            return None
        return Location((there.st_dev, there.st_ino) if stat.S_ISDIR(there.st_mode) else None, name, whole)

    def descriptor_at(self, thread: int, path: str) -> int | None:
        """Compare it with what `locate` makes of `/proc/self/fd`."""
        is_one = path.startswith(f"/proc/{thread}/root/proc/{thread}/fd/")
        return int(path.rpartition("/")[2]) if is_one else None

    def there(self, path: str, *, follow: bool = False) -> tuple[Key, int] | None:
        """Look there."""
        try:
            there = os.stat(path) if follow else os.lstat(path)
        except OSError:
            return None
        return (there.st_dev, there.st_ino), there.st_size
