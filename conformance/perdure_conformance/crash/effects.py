# Paths are strings here, as they are in calls.
# ruff: noqa: PTH119, PTH120
"""What each call does to a shadow: which files there are, how long they are, what descriptors and names mean.

And what it goes by: so it is known where it matters which of two came first that ran at the same time.
Only the standard library is imported here.
"""

from __future__ import annotations

import os
import re
import stat
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from perdure_conformance.crash import shadow, strace
from perdure_conformance.crash.shadow import Node, Opened, Shadow, Thread
from perdure_conformance.crash.strace import Arguments, Result, Unreadable
from perdure_conformance.crash.system import EMPTY_PATH, EXCHANGE, FOLLOW, HERE, KEEP_SIZE, RWF_APPEND, UNNAMED

CLONES: Final = frozenset({"clone", "clone3", "fork", "vfork"})
_OPENS: Final = frozenset({"open", "openat", "openat2", "creat"})
_WRITES: Final = frozenset({"write", "writev", "pwrite64", "pwritev", "pwritev2"})
_READS: Final = frozenset({"read", "readv", "preadv2"})
_COPIES: Final = frozenset({"sendfile", "copy_file_range", "splice"})
_RESIZES: Final = frozenset({"ftruncate", "fallocate"})
_SHARES_MEMORY, _SHARES_FOLDER, _SHARES_FILES = 0x100, 0x200, 0x400
_MAP_SHARED, _CLOSES_LATER, _TABLE_OF_ITS_OWN = 0x1, 0x4, 0x2
_COPY, _SET_CLOSING, _SET_FLAGS, _COPY_CLOSING = 0, 2, 4, 1030
_CLOSE_LATER, _KEEP_OPEN = 0x5451, 0x5450
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
class Touch:
    """Something that a call goes by, or changes."""

    what: tuple[object, ...]
    start: int = 0
    end: int = _END
    changes: bool = True

    def crosses(self, other: Touch) -> bool:
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
    when: int = 0
    """Which call of this name it is of its thread."""
    arguments: Arguments = field(default_factory=Arguments)
    touches: Sequence[Touch] = ()
    crossed: str | None = None
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
class Spot:
    """Where a path leads below the state directory."""

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

    # What a call goes by

    def touched(self, call: Call) -> Iterator[Touch]:
        """Yield what it goes by, below the state directory."""
        if call.name in _PLACES:
            yield from self._touched_by_name(call)
            return
        if call.name in _COPIES:
            yield from self._touched_by_copying(call)
            return
        is_one = call.name in _READS | _WRITES | _RESIZES | {"lseek"}
        opened = self.table(call).opened.get(call.value(0)) if is_one else None
        if opened is None:
            return
        if call.name in _WRITES:
            yield from _written(call, opened)
            return
        if call.name in _RESIZES:
            yield Touch(("bytes", opened.node))
        else:
            yield Touch(("position", opened), changes=call.name == "lseek")

    def _touched_by_copying(self, call: Call) -> Iterator[Touch]:
        for index, changes in zip([index for index, _ in self._copied(call)], (False, True), strict=True):
            opened = self.table(call).opened.get(call.value(index))
            if opened is not None:
                yield Touch(("position", opened))
                yield Touch(("bytes", opened.node), changes=changes)

    def _touched_by_name(self, call: Call) -> Iterator[Touch]:
        flags = call.flags() if call.name in _OPENS else 0
        for spot in self.spots(call):
            is_read = call.name == "truncate" or (call.name in _OPENS and not flags & os.O_CREAT)
            yield Touch(("name", spot.parent, spot.name), changes=not is_read)
            if spot.node is not None and (call.name == "truncate" or flags & os.O_TRUNC):
                yield Touch(("bytes", spot.node))

    def spots(self, call: Call) -> Iterator[Spot]:
        """Yield where the names lead that a call is given."""
        for directory, path in _PLACES.get(call.name, ()):
            spot = self.spot(call, HERE if directory is None else call.value(directory), path)
            if spot is not None:
                yield spot

    def spot(self, call: Call, directory: int, index: int) -> Spot | None:
        """Return where a name leads; None if that is not below the state directory."""
        self._shadow.annotated = call.arguments.descriptors
        path = call.path(index)
        found = self._shadow.found(call.thread, directory, path) if path else None
        parent = None if found is None else self._shadow.node(os.path.dirname(found.path))
        if found is None or parent is None:
            return None
        return Spot(parent, found.name, parent.children.get(found.name))

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
        self.table(call).put(result.value, opened, closing=bool(flags & os.O_CLOEXEC))

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
        for spot in self.spots(call):
            if spot.node is not None:
                spot.node.resize(call.value(1))

    # Names

    def make(self, call: Call, _: Result) -> None:
        """There is a new name."""
        for spot in self.spots(call):
            kind: shadow.Kind = "directory" if call.name.startswith("mkdir") else "other"
            if call.name.startswith("mknod"):
                mode = call.value(1 if call.name == "mknod" else 2)
                kind = "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "other"
            if spot.node is not None:
                raise Unreadable(f"{call.name}({call.text})")
            self._shadow.name(self._shadow.make(kind), spot.parent, spot.name)

    def unlink(self, call: Call, _: Result) -> None:
        """A name is gone."""
        for spot in self.spots(call):
            self._shadow.unname(spot.parent, spot.name)

    def rename(self, call: Call, _: Result) -> None:
        """A name leads to what another one led to."""
        of_directories = (0, 1, 2, 3) if call.name != "rename" else (None, 0, None, 1)
        old, new = (
            self.spot(call, HERE if directory is None else call.value(directory), path or 0)
            for directory, path in (of_directories[:2], of_directories[2:])
        )
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
        if call.name == "link":
            node, new = self._source(call, HERE, 0, 0), self.spot(call, HERE, 1)
        else:
            node = self._source(call, call.value(0), 1, call.value(4))
            new = self.spot(call, call.value(2), 3)
        if new is not None:
            self._shadow.name(node or self._shadow.take(), new.parent, new.name)

    def _source(self, call: Call, directory: int, index: int, flags: int) -> Node | None:
        path = call.path(index)
        descriptor = directory if flags & EMPTY_PATH and not path else None
        found = self._shadow.found(call.thread, directory, path) if path else None
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
            maker.table if flags & _SHARES_FILES else maker.table.copy(),
            maker.folder if flags & _SHARES_FOLDER else shadow.Folder(maker.folder.at),
            maker.memory if flags & _SHARES_MEMORY else shadow.Memory(list(maker.memory.mappings)),
        )

    def start(self, call: Call, _: Result) -> None:
        """A thread has begun, of which nothing was printed yet."""
        if call.child is not None:
            self.born.setdefault(call.child, []).append(self.child_of(call))
            call.child = None

    def become(self, call: Call, _: Result) -> None:
        """A process is another program."""
        thread = self._shadow.threads[call.thread]
        thread.table, thread.memory = thread.table.leave(), shadow.Memory()

    def unshare(self, call: Call, _: Result) -> None:
        """A thread has a table and a current folder of its own."""
        thread, flags = self._shadow.threads[call.thread], call.value(0)
        thread.table = thread.table.copy() if flags & _SHARES_FILES else thread.table
        thread.folder = shadow.Folder(thread.folder.at) if flags & _SHARES_FOLDER else thread.folder

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
            closing = call.name == "dup3" and bool(call.value(2) & os.O_CLOEXEC)
            self.table(call).put(result.value, self.table(call).opened.get(call.value(0)), closing=closing)

    def control(self, call: Call, result: Result) -> None:
        """`fcntl(descriptor, request, argument)`."""
        table, descriptor, request = self.table(call), call.value(0), call.value(1)
        opened = table.opened.get(descriptor)
        if request in (_COPY, _COPY_CLOSING):
            table.put(result.value, opened, closing=request == _COPY_CLOSING)
        elif request == _SET_CLOSING:
            table.close_later(descriptor, closing=bool(call.value(2) & 1))
        elif request == _SET_FLAGS and opened is not None:
            opened.flags = opened.flags & ~_SETTABLE | call.value(2) & _SETTABLE

    def control_device(self, call: Call, _: Result) -> None:
        """`ioctl(descriptor, request)`."""
        if call.value(1) in (_CLOSE_LATER, _KEEP_OPEN):
            self.table(call).close_later(call.value(0), closing=call.value(1) == _CLOSE_LATER)

    def close_range(self, call: Call, _: Result) -> None:
        """`close_range(first, last, flags)`."""
        thread = self._shadow.threads[call.thread]
        if call.value(2) & _TABLE_OF_ITS_OWN:
            thread.table = thread.table.copy()
        for descriptor in [each for each in thread.table.opened if call.value(0) <= each <= call.value(1)]:
            if call.value(2) & _CLOSES_LATER:
                thread.table.close_later(descriptor, closing=True)
            else:
                thread.table.put(descriptor, None)

    # Memory

    def map(self, call: Call, result: Result) -> None:
        """`mmap(address, size, protection, flags, descriptor, offset)`."""
        memory = self._shadow.threads[call.thread].memory
        end = result.value + call.value(1)
        memory.free(result.value, end)
        opened = self.table(call).opened.get(call.value(4))
        if call.value(3) & _MAP_SHARED and opened is not None:
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


def _to(
    effect: Callable[[Effects, Call, Result], None], names: str
) -> Mapping[str, Callable[[Effects, Call, Result], None]]:
    return dict.fromkeys(names.split(), effect)


_EFFECTS: Final = {
    **_to(Effects.open, "open openat openat2 creat open_by_handle_at"),
    **_to(Effects.write, "write writev pwrite64 pwritev pwritev2"),
    **_to(Effects.read, "read readv preadv2"),
    **_to(Effects.seek, "lseek"),
    **_to(Effects.copy, "sendfile copy_file_range splice"),
    **_to(Effects.size, "ftruncate fallocate"),
    **_to(Effects.truncate, "truncate"),
    **_to(Effects.make, "mkdir mkdirat mknod mknodat symlink symlinkat"),
    **_to(Effects.unlink, "unlink unlinkat rmdir"),
    **_to(Effects.rename, "rename renameat renameat2"),
    **_to(Effects.link, "link linkat"),
    **_to(Effects.start, " ".join(CLONES)),
    **_to(Effects.become, "execve execveat"),
    **_to(Effects.unshare, "unshare"),
    **_to(Effects.move, "chroot pivot_root mount umount2 move_mount setns"),
    **_to(Effects.bring, "recvmsg recvmmsg pidfd_getfd"),
    **_to(Effects.go, "chdir fchdir"),
    **_to(Effects.close, "close"),
    **_to(Effects.duplicate, "dup dup2 dup3"),
    **_to(Effects.control, "fcntl"),
    **_to(Effects.control_device, "ioctl"),
    **_to(Effects.close_range, "close_range"),
    **_to(Effects.map, "mmap"),
    **_to(Effects.unmap, "munmap"),
    **_to(Effects.remap, "mremap"),
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


def _written(call: Call, opened: Opened) -> Iterator[Touch]:
    """Yield the bytes that are written, up to the end of the file if others move them."""
    offset = _offset(call)
    start = _where(call, opened, offset)
    if offset is None:
        yield Touch(("position", opened))
    appends = opened.flags & os.O_APPEND or call.name == "pwritev2"
    size = _size(call)
    yield Touch(("bytes", opened.node), 0 if appends else start, _END if appends else start + size)


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
