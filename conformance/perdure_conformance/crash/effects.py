# Paths are strings here, as they are in calls.
# ruff: noqa: PTH119, PTH120
"""What each call does to a shadow: which files there are, how long they are, what descriptors and names mean.

And what it depends on and changes: so it is known which calls conflict that ran at the same time. What the system calls
is called as Linux does. Only the standard library is imported here.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import struct
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from perdure_conformance.crash import shadow, strace
from perdure_conformance.crash.shadow import Node, Opened, Shadow, Thread
from perdure_conformance.crash.strace import Arguments, Result, Unreadable
from perdure_conformance.crash.system import (
    EMPTY_PATH,
    EXCHANGE,
    FOLLOW,
    HERE,
    KEEP_SIZE,
    MAP_SHARED,
    RWF_APPEND,
    UNNAMED,
    Location,
)

FORKS: Final = frozenset({"clone", "clone3", "fork", "vfork"})
"""What starts a thread, or a process."""
_OPENS: Final = frozenset({"open", "openat", "openat2", "creat"})
_WRITES: Final = frozenset({"write", "writev", "pwrite64", "pwritev", "pwritev2"})
_READS: Final = frozenset(strace.READS)
_COPIES: Final = frozenset({"sendfile", "copy_file_range", "splice"})
_RESIZES: Final = frozenset({"ftruncate", "fallocate"})
_CLONE_VM, _CLONE_FS, _CLONE_FILES = 0x100, 0x200, 0x400
_CLOSE_RANGE_UNSHARE, _CLOSE_RANGE_CLOEXEC = 0x2, 0x4
_SETTABLE: Final = os.O_APPEND | os.O_NONBLOCK
_END: Final = 2**63
_PLACES: Final[Mapping[str, Sequence[tuple[int | None, int]]]] = {
    **dict.fromkeys(("open", "creat", "truncate", "mkdir", "rmdir", "unlink", "mknod"), ((None, 0),)),
    **dict.fromkeys(("openat", "openat2", "mkdirat", "unlinkat", "mknodat"), ((0, 1),)),
    **dict.fromkeys(("rename", "link"), ((None, 0), (None, 1))),
    **dict.fromkeys(("renameat", "renameat2", "linkat"), ((0, 1), (2, 3))),
    "symlink": ((None, 1),),
    "symlinkat": ((1, 2),),
}
"""Which arguments of a call are names, each with the one that is the directory; None for the current folder."""


@dataclass(frozen=True, slots=True)
class Access:
    """Something that a call depends on, or changes: a name, the position of a descriptor, or bytes of a file."""

    what: tuple[object, ...]
    start: int = 0
    end: int = _END
    """Of bytes: from where, and up to where."""
    changes: bool = True

    def conflicts_with(self, other: Access) -> bool:
        """Tell whether it matters which of the two came first."""
        is_the_same = self.what == other.what and self.start < other.end and other.start < self.end
        return is_the_same and (self.changes or other.changes)


@dataclass(slots=True)
class Call:
    """A call that was begun."""

    name: str
    thread: int
    text: str
    began: int
    """How many calls had been told by then."""
    child: int | None
    """The thread that it starts."""
    thread_ordinal: int = 0
    """Counted from 1 over the calls of this name of its thread."""
    arguments: Arguments = field(default_factory=Arguments)
    accesses: Sequence[Access] = ()
    conflicting: str | None = None
    """The name of one that ran at the same time, where it matters which came first."""

    def value(self, index: int) -> int:
        """Return an argument. Raises `Unreadable`."""
        value = self.arguments.values[index] if index < len(self.arguments.values) else None
        if value is None:
            raise Unreadable(f"{self.name}({self.text})")
        return value

    def path(self, index: int) -> str:
        """Return an argument that is text. Raises `Unreadable`."""
        text = self.arguments.texts.get(self.value(index))
        if text is None:
            raise Unreadable(f"{self.name}({self.text})")
        return os.fsdecode(text)

    def flags(self) -> int:
        """Return how it opens a file. Raises `Unreadable`."""
        match self.name:
            case "creat":
                return os.O_CREAT | os.O_TRUNC | os.O_WRONLY
            case "open":
                return self.value(1)
            case "openat2":
                return int.from_bytes(self.arguments.texts[self.value(2)], "little")
            case _:
                return self.value(2)


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a directory of the state."""

    parent: Node
    name: str
    node: Node | None
    """What is there, if anything is."""


class Effects:
    """What calls do, one after the other."""

    def __init__(self, shadow: Shadow, blind: Callable[[Call, str], None]) -> None:
        self._shadow = shadow
        self._blind = blind
        """What is told of that which is not followed."""
        self.born: dict[int, list[Thread]] = {}
        """What threads have of which nothing was printed yet."""

    def of(self, call: Call, result: Result) -> None:
        """Do what a call did that succeeded."""
        effect = _EFFECTS.get(call.name)
        if effect is not None:
            effect(self, call, result)

    def printed(self, call: Call, result: Result) -> int:
        """Return how many bytes were printed of what a call has written; all, of one that does not write."""
        return _size(call) if call.name in _WRITES else result.value

    # What a call depends on

    def accesses(self, call: Call) -> Iterator[Access]:
        """Yield what it depends on, or changes, below the state directory."""
        if call.name in _PLACES:
            yield from self._accesses_by_name(call)
            return
        if call.name in _COPIES:
            yield from self._accesses_by_copying(call)
            return
        is_one = call.name in _READS | _WRITES | _RESIZES | {"lseek"}
        opened = self.table(call).opened.get(call.value(0)) if is_one else None
        if opened is None:
            return
        if call.name in _WRITES:
            yield from _written(call, opened)
            return
        if call.name in _RESIZES:
            yield Access(("bytes", opened.node))
        else:
            yield Access(("position", opened), changes=call.name == "lseek")

    def _accesses_by_copying(self, call: Call) -> Iterator[Access]:
        for index, changes in zip([index for index, _ in self._copied(call)], (False, True), strict=True):
            opened = self.table(call).opened.get(call.value(index))
            if opened is not None:
                yield Access(("position", opened))
                yield Access(("bytes", opened.node), changes=changes)

    def _accesses_by_name(self, call: Call) -> Iterator[Access]:
        flags = call.flags() if call.name in _OPENS else 0
        for entry in self.entries(call):
            is_read = call.name == "truncate" or (call.name in _OPENS and not flags & os.O_CREAT)
            yield Access(("name", entry.parent, entry.name), changes=not is_read)
            if entry.node is not None and (call.name == "truncate" or flags & os.O_TRUNC):
                yield Access(("bytes", entry.node))

    def entries(self, call: Call) -> Iterator[Entry]:
        """Yield what the names mean that a call is given, but for those that lead elsewhere."""
        for directory, path in _PLACES[call.name]:
            entry = self.entry(call, directory, path)
            if entry is not None:
                yield entry

    def entry(self, call: Call, directory: int | None, path: int) -> Entry | None:
        """Return what a name means that is given by these arguments; None if it leads elsewhere."""
        self._shadow.annotated = call.arguments.descriptors
        found = self._located(call, directory, path)
        parent = None if found is None else self._shadow.node(os.path.dirname(found.path))
        if found is None or parent is None:
            return None
        return Entry(parent, found.name, parent.children.get(found.name))

    def _located(self, call: Call, directory: int | None, path: int) -> Location | None:
        where, name = HERE if directory is None else call.value(directory), call.path(path)
        return self._shadow.locate(call.thread, where, name) if name else None

    def table(self, call: Call) -> shadow.Table:
        """Return the descriptors of the thread."""
        return self._shadow.threads[call.thread].table

    # Files

    def open(self, call: Call, result: Result) -> None:
        """A descriptor leads to what was opened, which may be new, or empty now."""
        flags = call.flags()
        node = None
        if result.path is not None and self._shadow.is_below(result.path):
            node = self._opened(result.path, flags, is_unnamed=result.is_unnamed)
            if node is None:
                shown = os.path.relpath(result.path, self._shadow.state)
                self._blind(call, f"{shown} came from where nobody looked")
            elif flags & os.O_TRUNC:
                node.resize(0)
        opened = None if node is None else Opened(node, flags)
        self.table(call).put(result.value, opened, close_on_exec=bool(flags & os.O_CLOEXEC))

    def _opened(self, path: str, flags: int, *, is_unnamed: bool) -> Node | None:
        if flags & UNNAMED:
            return self._shadow.make("file")
        node = None if is_unnamed else self._shadow.node(path)
        if node is not None and flags & os.O_CREAT and flags & os.O_EXCL:
            return None
        if node is None and flags & os.O_CREAT and not is_unnamed:
            parent = self._shadow.node(os.path.dirname(path))
            if parent is not None:
                node = self._shadow.make("file")
                self._shadow.name(node, parent, os.path.basename(path))
        return node

    def write(self, call: Call, result: Result) -> None:
        """A file is longer, and its descriptor stands behind what was written."""
        written = result.value
        opened = self.table(call).opened.get(call.value(0))
        if opened is None or not written:
            return
        offset = _offset(call)
        start = _where(call, opened, offset)
        opened.node.write(start, written, None if call.arguments.is_cut else _data(call)[:written])
        if offset is None:
            opened.position = start + written

    def read(self, call: Call, result: Result) -> None:
        """A descriptor stands behind what was read."""
        opened = self.table(call).opened.get(call.value(0))
        if opened is not None and (call.name != "preadv2" or _is_none(call.value(3))):
            opened.position += result.value

    def seek(self, call: Call, result: Result) -> None:
        """A descriptor stands elsewhere."""
        opened = self.table(call).opened.get(call.value(0))
        if opened is not None:
            opened.position = result.value

    def copy(self, call: Call, result: Result) -> None:
        """Both descriptors stand behind what was copied; the file is longer."""
        source, target = self._copied(call)
        data = None
        for (index, offset), is_target in ((source, False), (target, True)):
            opened = self.table(call).opened.get(call.value(index))
            if opened is None:
                continue
            given = self._shadow.texts.get(call.value(offset)) if offset is not None else None
            start = opened.position if given is None else int.from_bytes(given, "little")
            if given is None:
                opened.position += result.value
            if is_target:
                opened.node.write(start, result.value, data)
            else:
                data = opened.node.read(start, result.value)

    def _copied(self, call: Call) -> tuple[tuple[int, int | None], tuple[int, int | None]]:
        """Return which arguments say from where is copied, and to where: a descriptor, and an offset."""
        return ((1, 2), (0, None)) if call.name == "sendfile" else ((0, 1), (2, 3))

    def size(self, call: Call, _: Result) -> None:
        """`ftruncate(descriptor, size)`, `fallocate(descriptor, mode, offset, size)`."""
        opened = self.table(call).opened.get(call.value(0))
        if opened is None:
            return
        if call.name == "ftruncate":
            opened.node.resize(call.value(1))
        elif not call.value(1) & KEEP_SIZE:
            opened.node.resize(max(opened.node.size, call.value(2) + call.value(3)))

    def truncate(self, call: Call, _: Result) -> None:
        """`truncate(path, size)`."""
        for entry in self.entries(call):
            if entry.node is not None:
                entry.node.resize(call.value(1))

    # Names

    def make(self, call: Call, _: Result) -> None:
        """There is a new name."""
        for entry in self.entries(call):
            kind: shadow.Kind = "directory" if call.name.startswith("mkdir") else "other"
            if call.name.startswith("mknod"):
                mode = call.value(1 if call.name == "mknod" else 2)
                kind = "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "other"
            if entry.node is not None:
                raise Unreadable(f"{call.name}({call.text})")
            self._shadow.name(self._shadow.make(kind), entry.parent, entry.name)

    def unlink(self, call: Call, _: Result) -> None:
        """A name is gone."""
        for entry in self.entries(call):
            self._shadow.unname(entry.parent, entry.name)

    def rename(self, call: Call, _: Result) -> None:
        """A name leads to what another one led to."""
        old, new = (self.entry(call, directory, path) for directory, path in _PLACES[call.name])
        is_exchanged = call.name == "renameat2" and bool(call.value(4) & EXCHANGE)
        if old is not None and new is not None and old.node is new.node and not is_exchanged:
            return
        node = old.node if old is not None else None
        if old is not None:
            self._shadow.unname(old.parent, old.name)
        if new is not None:
            self._shadow.name(node or self._shadow.take(), new.parent, new.name)
        if is_exchanged and old is not None:
            former = new.node if new is not None else None
            self._shadow.name(former or self._shadow.take(), old.parent, old.name)

    def link(self, call: Call, _: Result) -> None:
        """There is another name."""
        source, target = _PLACES[call.name]
        node, new = self._source(call, *source), self.entry(call, *target)
        if new is not None:
            self._shadow.name(node or self._shadow.take(), new.parent, new.name)

    def _source(self, call: Call, directory: int | None, path: int) -> Node | None:
        flags = call.value(4) if call.name == "linkat" else 0
        descriptor = call.value(0) if flags & EMPTY_PATH and not call.path(path) else None
        found = self._located(call, directory, path)
        if flags & FOLLOW and found is not None:
            descriptor = self._shadow.descriptor_at(call.thread, found.path)
        if descriptor is not None:
            opened = self.table(call).opened.get(descriptor)
            return None if opened is None else opened.node
        return None if found is None else self._shadow.node(found.path)

    # Threads

    def child_of(self, call: Call) -> Thread:
        """Return what a thread finds that a call starts."""
        found = re.search(r"flags=([0-9a-fx|]+)", call.text)
        flags = strace.number(found[1]) if found is not None else 0
        maker = self._shadow.threads[call.thread]
        return Thread(
            maker.table if flags & _CLONE_FILES else maker.table.copy(),
            maker.folder if flags & _CLONE_FS else shadow.Folder(maker.folder.at),
            maker.memory if flags & _CLONE_VM else shadow.Memory(list(maker.memory.mappings)),
        )

    def start(self, call: Call, _: Result) -> None:
        """A thread has begun, of which nothing was printed yet."""
        if call.child is not None:
            self.born.setdefault(call.child, []).append(self.child_of(call))
            call.child = None

    def become(self, call: Call, _: Result) -> None:
        """A process is another program."""
        thread = self._shadow.threads[call.thread]
        thread.table, thread.memory = thread.table.inherited(), shadow.Memory()

    def unshare(self, call: Call, _: Result) -> None:
        """A thread has a table and a current folder of its own."""
        thread, flags = self._shadow.threads[call.thread], call.value(0)
        thread.table = thread.table.copy() if flags & _CLONE_FILES else thread.table
        thread.folder = shadow.Folder(thread.folder.at) if flags & _CLONE_FS else thread.folder

    def move(self, call: Call, _: Result) -> None:
        """Names lead elsewhere."""
        self._blind(call, f"{call.name} was called: what names mean from then on is not followed")

    def bring(self, call: Call, result: Result) -> None:
        """A descriptor came from another process."""
        is_printed = strace.printed(self._shadow.state) in call.text
        if is_printed or (result.path is not None and self._shadow.is_below(result.path)):
            self._blind(call, f"{call.name} brought a descriptor, which is not followed")

    def go(self, call: Call, _: Result) -> None:
        """The current folder is another one."""
        self._shadow.threads[call.thread].folder.at = self._folder(call)

    def _folder(self, call: Call) -> Node | str:
        if call.name == "fchdir":
            opened = self.table(call).opened.get(call.value(0))
            at = opened.node if opened is not None else call.arguments.descriptors.get(call.value(0))
        else:
            whole = self._shadow.whole(call.thread, HERE, call.path(0))
            at = None if whole is None else self._shadow.walk(whole)
        if at is None:
            raise Unreadable(f"{call.name}({call.text})")
        return at

    # Descriptors

    def close(self, call: Call, _: Result) -> None:
        """`close(descriptor)`."""
        self.table(call).put(call.value(0), None)

    def duplicate(self, call: Call, result: Result) -> None:
        """`dup(descriptor)`, `dup2(descriptor, new)`, `dup3(descriptor, new, flags)`."""
        if call.value(0) != result.value:
            close_on_exec = call.name == "dup3" and bool(call.value(2) & os.O_CLOEXEC)
            opened = self.table(call).opened.get(call.value(0))
            self.table(call).put(result.value, opened, close_on_exec=close_on_exec)

    def control(self, call: Call, result: Result) -> None:
        """`fcntl(descriptor, request, argument)`."""
        table, descriptor, request = self.table(call), call.value(0), call.value(1)
        opened = table.opened.get(descriptor)
        if request in (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC):
            table.put(result.value, opened, close_on_exec=request == fcntl.F_DUPFD_CLOEXEC)
        elif request == fcntl.F_SETFD:
            table.mark(descriptor, close_on_exec=bool(call.value(2) & fcntl.FD_CLOEXEC))
        elif request == fcntl.F_SETFL and opened is not None:
            opened.flags = opened.flags & ~_SETTABLE | call.value(2) & _SETTABLE

    def control_device(self, call: Call, _: Result) -> None:
        """`ioctl(descriptor, request)`."""
        if call.value(1) in (termios.FIOCLEX, termios.FIONCLEX):
            self.table(call).mark(call.value(0), close_on_exec=call.value(1) == termios.FIOCLEX)

    def close_range(self, call: Call, _: Result) -> None:
        """`close_range(first, last, flags)`."""
        thread = self._shadow.threads[call.thread]
        if call.value(2) & _CLOSE_RANGE_UNSHARE:
            thread.table = thread.table.copy()
        for descriptor in [each for each in thread.table.opened if call.value(0) <= each <= call.value(1)]:
            if call.value(2) & _CLOSE_RANGE_CLOEXEC:
                thread.table.mark(descriptor, close_on_exec=True)
            else:
                thread.table.put(descriptor, None)

    # Memory

    def map(self, call: Call, result: Result) -> None:
        """`mmap(address, size, protection, flags, descriptor, offset)`."""
        memory = self._shadow.threads[call.thread].memory
        end = result.value + call.value(1)
        memory.free(result.value, end)
        opened = self.table(call).opened.get(call.value(4))
        if call.value(3) & MAP_SHARED and opened is not None:
            memory.mappings.append(shadow.Mapping(result.value, end, opened.node))

    def unmap(self, call: Call, _: Result) -> None:
        """`munmap(address, size)`."""
        self._shadow.threads[call.thread].memory.free(call.value(0), call.value(0) + call.value(1))

    def remap(self, call: Call, result: Result) -> None:
        """`mremap(address, size, new size, flags)`."""
        memory = self._shadow.threads[call.thread].memory
        moved = [each for each in memory.mappings if each.start <= call.value(0) < each.end]
        end = result.value + call.value(2)
        memory.free(call.value(0), call.value(0) + call.value(1))
        memory.free(result.value, end)
        memory.mappings += [shadow.Mapping(result.value, end, each.node) for each in moved]


_EFFECTS: Final[Mapping[str, Callable[[Effects, Call, Result], None]]] = {
    **dict.fromkeys((*_OPENS, "open_by_handle_at"), Effects.open),
    **dict.fromkeys(_WRITES, Effects.write),
    **dict.fromkeys(_READS, Effects.read),
    "lseek": Effects.seek,
    **dict.fromkeys(_COPIES, Effects.copy),
    **dict.fromkeys(_RESIZES, Effects.size),
    "truncate": Effects.truncate,
    **dict.fromkeys(("mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat"), Effects.make),
    **dict.fromkeys(("unlink", "unlinkat", "rmdir"), Effects.unlink),
    **dict.fromkeys(("rename", "renameat", "renameat2"), Effects.rename),
    **dict.fromkeys(("link", "linkat"), Effects.link),
    **dict.fromkeys(FORKS, Effects.start),
    **dict.fromkeys(("execve", "execveat"), Effects.become),
    "unshare": Effects.unshare,
    **dict.fromkeys(("chroot", "pivot_root", "mount", "umount2", "move_mount", "setns"), Effects.move),
    **dict.fromkeys(("recvmsg", "recvmmsg", "pidfd_getfd"), Effects.bring),
    **dict.fromkeys(("chdir", "fchdir"), Effects.go),
    "close": Effects.close,
    **dict.fromkeys(("dup", "dup2", "dup3"), Effects.duplicate),
    "fcntl": Effects.control,
    "ioctl": Effects.control_device,
    "close_range": Effects.close_range,
    "mmap": Effects.map,
    "munmap": Effects.unmap,
    "mremap": Effects.remap,
}


def _offset(call: Call) -> int | None:
    """Return where it writes; None if that is where the descriptor stands."""
    if call.name in {"write", "writev"}:
        return None
    offset = call.value(3)
    return None if call.name == "pwritev2" and _is_none(offset) else offset


def _is_none(offset: int) -> bool:
    return offset % 2**64 == 2**64 - 1


def _where(call: Call, opened: Opened, offset: int | None) -> int:
    appends = opened.flags & os.O_APPEND or (call.name == "pwritev2" and call.value(4) & RWF_APPEND)
    if appends:
        return opened.node.size
    return opened.position if offset is None else offset


def _written(call: Call, opened: Opened) -> Iterator[Access]:
    """Yield the bytes that are written, up to the end of the file if others move them."""
    offset = _offset(call)
    start = _where(call, opened, offset)
    if offset is None:
        yield Access(("position", opened))
    appends = opened.flags & os.O_APPEND or call.name == "pwritev2"
    size = _size(call)
    yield Access(("bytes", opened.node), 0 if appends else start, _END if appends else start + size)


def _size(call: Call) -> int:
    """Return how many bytes were given to a call that writes."""
    return len(_data(call))


def _data(call: Call) -> bytes:
    """Return the bytes that were given to a call that writes."""
    given = call.arguments.texts.get(call.value(1), b"")
    if call.name in {"write", "pwrite64"}:
        return given
    parts = (address for address, _ in struct.iter_unpack("=QQ", given))
    return b"".join(call.arguments.texts.get(address, b"") for address in parts)
