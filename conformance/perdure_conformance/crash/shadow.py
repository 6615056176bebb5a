# Paths are strings here, as they are in calls.
# ruff: noqa: PTH109, PTH116, PTH118, PTH120, PTH123, PTH208
"""What the descriptors, names and files of a program are, by its calls alone, when nobody can be asked any more.

It answers as `/proc` would have at that moment. It knows the files below the state directory: which there are, what is
in them, what leads to them, where each descriptor of one stands; and the current folder of each thread.
Only the standard library is imported here.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from perdure_conformance.crash.system import HERE, LONGEST_FILE_BYTES, Key, Location, of_thread

Kind = Literal["file", "directory", "other"]


@dataclass(eq=False, slots=True)
class Node:
    """A file or directory below the state directory, or something else that has a name there."""

    key: Key
    kind: Kind
    size: int = 0
    content: bytearray | None = field(default_factory=bytearray)
    """What is in a file; None once something came from where nobody looked."""
    children: dict[str, Node] = field(default_factory=dict)
    places: list[tuple[Node, str]] = field(default_factory=list)
    """The names that lead to it."""

    def write(self, start: int, size: int, data: bytes | None) -> None:
        """Put so many bytes there; None if they are not known."""
        self.resize(max(self.size, start + size))
        if self.content is not None and data is not None and len(data) == size:
            self.content[start : start + size] = data
        else:
            self.content = None

    def resize(self, size: int) -> None:
        """Make it as long as this, by zeros if it was shorter."""
        self.size = size
        if size > LONGEST_FILE_BYTES:
            self.content = None
        if self.content is not None:
            del self.content[size:]
            self.content.extend(bytes(size - len(self.content)))

    def read(self, start: int, size: int) -> bytes | None:
        """Return what is there; None if it is not known."""
        return None if self.content is None else bytes(self.content[start : start + size])


@dataclass(eq=False, slots=True)
class Opened:
    """What descriptors that were copied from each other share."""

    node: Node
    flags: int
    position: int = 0


@dataclass(eq=False, slots=True)
class Table:
    """The descriptors of a process that mean something below the state directory."""

    opened: dict[int, Opened] = field(default_factory=dict)
    close_on_exec: set[int] = field(default_factory=set)
    """Those that another program does not inherit."""

    def copy(self) -> Table:
        """Return the table of a child."""
        return Table(dict(self.opened), set(self.close_on_exec))

    def put(self, descriptor: int, opened: Opened | None, *, close_on_exec: bool = False) -> None:
        """Let a descriptor mean something, or nothing that is known."""
        self.opened.pop(descriptor, None)
        self.close_on_exec.discard(descriptor)
        if opened is not None:
            self.opened[descriptor] = opened
            self.mark(descriptor, close_on_exec=close_on_exec)

    def mark(self, descriptor: int, *, close_on_exec: bool) -> None:
        """Say whether another program inherits a descriptor."""
        (self.close_on_exec.add if close_on_exec else self.close_on_exec.discard)(descriptor)

    def inherited(self) -> Table:
        """Return what another program finds, which the process becomes."""
        return Table({each: opened for each, opened in self.opened.items() if each not in self.close_on_exec})


@dataclass(eq=False, slots=True)
class Folder:
    """A current folder: below the state directory, or elsewhere."""

    at: Node | str


@dataclass(frozen=True, slots=True)
class Mapping:
    """Addresses at which a file is mapped, and shared."""

    start: int
    end: int
    node: Node


@dataclass(eq=False, slots=True)
class Memory:
    """What is mapped in a process."""

    mappings: list[Mapping] = field(default_factory=list)

    def free(self, start: int, end: int) -> None:
        """Let nothing be mapped at these addresses."""
        kept: list[Mapping] = []
        for each in self.mappings:
            kept += [
                Mapping(first, last, each.node)
                for first, last in ((each.start, min(each.end, start)), (max(each.start, end), each.end))
                if first < last
            ]
        self.mappings = kept


@dataclass(eq=False, slots=True)
class Thread:
    """What a thread has, some of it shared with others."""

    table: Table
    folder: Folder
    memory: Memory


class Shadow:
    """A `System` that answers for a thread in one of its calls."""

    def __init__(self, state: str, said_to: Key, said: str) -> None:
        self.state = state
        self._said = said
        self._said_to = said_to
        there = os.stat(state)
        self.root = Node((there.st_dev, there.st_ino), "directory")
        self.threads: dict[int, Thread] = {}
        self.texts: dict[int, bytes] = {}
        """What the call at hand has in memory, by address."""
        self.annotated: dict[int, str] = {}
        """Where its descriptors lead, as it was printed."""
        self._made = 0
        self._real: dict[str, str] = {}
        known: dict[Key, Node] = {self.root.key: self.root}
        self._take_in(state, self.root, known)
        self._first = Thread(Table(), Folder(self.walk(os.getcwd()) or os.getcwd()), Memory())
        self._inherit(known)

    def _take_in(self, path: str, parent: Node, known: dict[Key, Node]) -> None:
        with os.scandir(path) as entries:
            for entry in entries:
                there = entry.stat(follow_symlinks=False)
                key = (there.st_dev, there.st_ino)
                node = known.get(key)
                if node is None:
                    node = known[key] = Node(key, _kind(there.st_mode), there.st_size)
                    node.content = _content(entry.path) if node.kind == "file" else None
                self.name(node, parent, entry.name)
                if node.kind == "directory":
                    self._take_in(entry.path, node, known)

    def _inherit(self, known: dict[Key, Node]) -> None:
        """Take in the descriptors that the program will have from us."""
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                descriptor = int(name)
                there = os.fstat(descriptor)
                node = known.get((there.st_dev, there.st_ino))
                if node is not None and os.get_inheritable(descriptor):
                    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
                    position = os.lseek(descriptor, 0, os.SEEK_CUR) if node.kind == "file" else 0
                    self._first.table.put(descriptor, Opened(node, flags, position))

    def begin(self, thread: int) -> None:
        """Let this be the first thread."""
        self.threads[thread] = self._first

    # What is asked

    def memory(self, thread: int, address: int, size: int) -> bytes:
        """Look at what was printed of the call."""
        del thread
        return self.texts.get(address, b"")[:size]

    def change_memory(self, thread: int, address: int, data: bytes) -> None:
        """Raise `NotImplementedError`: the call is over."""
        raise NotImplementedError

    def key(self, thread: int, descriptor: int) -> Key | None:
        """Look into the table; standard output is known by where it leads, and a file system by what leads there."""
        if self.annotated.get(descriptor) == self._said:
            return self._said_to
        opened = self.threads[thread].table.opened.get(descriptor)
        if opened is not None:
            return opened.node.key
        with suppress(OSError):
            return os.stat(self.annotated.get(descriptor, "")).st_dev, 0
        return None

    def path(self, thread: int, descriptor: int) -> str:
        """Return a path below the state directory: no other descriptor is in the table."""
        del thread, descriptor
        return self.state

    def size(self, thread: int, descriptor: int) -> int:
        """Return how long the file is by now."""
        return self.threads[thread].table.opened[descriptor].node.size

    def position_and_flags(self, thread: int, descriptor: int) -> tuple[int, int]:
        """Look into the table."""
        opened = self.threads[thread].table.opened[descriptor]
        return opened.position, opened.flags

    def copied(self, thread: int, descriptor: int, offset: int | None, size: int) -> bytes:
        """Look at what is in the file by now. Raises `PermissionError` if that is not known."""
        opened = self.threads[thread].table.opened[descriptor]
        data = opened.node.read(opened.position - size if offset is None else offset, size)
        if data is None:
            raise PermissionError
        return data

    def mapped(self, thread: int, start: int, end: int) -> Iterator[Key]:
        """Look at what was mapped."""
        for each in self.threads[thread].memory.mappings:
            if each.start < end and start < each.end:
                yield each.node.key

    def locate(self, thread: int, directory: int, path: str) -> Location | None:
        """Go by the current folder of the thread, and by its descriptors."""
        whole = self.whole(thread, directory, path)
        if whole is None:
            return None
        above, name = os.path.split(whole.rstrip("/"))
        if name in (".", ".."):
            there = self.walk(whole)
            if there is None:
                return None
            above, name = os.path.split(self.path_of(there) if isinstance(there, Node) else there)
        parent = self.walk(above or "/")
        if parent is None:
            return None
        if isinstance(parent, str):
            return Location(None, name, os.path.join(parent, name))
        return Location(parent.key, name, os.path.join(self.path_of(parent), name))

    def descriptor_at(self, thread: int, path: str) -> int | None:
        """Know the descriptors of the thread alone."""
        start, _, name = path.rpartition("/")
        return int(name) if start == f"/proc/{thread}/fd" and name.isdecimal() else None

    def there(self, path: str, *, follow: bool = False) -> tuple[Key, int] | None:
        """Look below the state directory."""
        del follow
        node = self.node(path)
        return None if node is None else (node.key, node.size)

    # Where things are

    def whole(self, thread: int, directory: int, path: str) -> str | None:
        """Return a path from the root on; None if the folder is not known that it begins in."""
        path = of_thread(thread, path)
        if path.startswith("/"):
            return path
        at = self.threads[thread].folder.at if directory == HERE else self._led_to(thread, directory)
        if at is None:
            return None
        if isinstance(at, Node):
            if at is not self.root and not at.places:
                return None
            at = self.path_of(at)
        return f"{at}/{path}"

    def _led_to(self, thread: int, descriptor: int) -> Node | str | None:
        opened = self.threads[thread].table.opened.get(descriptor)
        return self.annotated.get(descriptor) if opened is None else opened.node

    def walk(self, path: str) -> Node | str | None:
        """Return the directory that a path leads to, by its name if it is not below the state directory."""
        at: Node | str = "/"
        for name in path.split("/"):
            if name in ("", "."):
                continue
            if isinstance(at, str):
                at = self._really(os.path.join(at, name))
                if at == self.state:
                    at = self.root
            elif name == "..":
                at = os.path.dirname(self.state) if at is self.root else at.places[0][0]
            else:
                child = at.children.get(name)
                if child is None or child.kind != "directory":
                    return None
                at = child
        return at

    def _really(self, path: str) -> str:
        """Follow links outside the state directory, as they are now."""
        if path not in self._real:
            self._real[path] = os.path.realpath(path)
        return self._real[path]

    def is_below(self, path: str) -> bool:
        """Tell whether a path leads to the state directory, or below it."""
        return path == self.state or path.startswith(f"{self.state}/")

    def node(self, path: str) -> Node | None:
        """Return what has a name below the state directory, which is given from the root on and without links."""
        if path == self.state:
            return self.root
        at: Node | None = self.root
        if not path.startswith(f"{self.state}/"):
            return None
        for name in path.removeprefix(f"{self.state}/").split("/"):
            at = None if at is None else at.children.get(name)
        return at

    def path_of(self, node: Node) -> str:
        """Return a path that leads to what has a name."""
        parts: list[str] = []
        while node is not self.root:
            node, name = node.places[0]
            parts.append(name)
        return "/".join((self.state, *reversed(parts)))

    def paths_of(self, node: Node) -> list[str]:
        """Return all of them."""
        if node is self.root:
            return [self.state]
        return [f"{self.path_of(parent)}/{name}" for parent, name in node.places]

    # What changes

    def make(self, kind: Kind) -> Node:
        """Return something new, which has no name yet; nobody has seen its inode, so it gets a number that none has."""
        self._made += 1
        return Node((self.root.key[0], -self._made), kind)

    def take(self) -> Node:
        """Return a file that comes from elsewhere."""
        node = self.make("file")
        node.content = None
        return node

    def name(self, node: Node, parent: Node, name: str) -> None:
        """Give something a name; what had it before has it no more."""
        self.unname(parent, name)
        parent.children[name] = node
        node.places.append((parent, name))

    def unname(self, parent: Node, name: str) -> None:
        """Take a name away."""
        former = parent.children.pop(name, None)
        if former is not None:
            former.places.remove((parent, name))


def _content(path: str) -> bytearray | None:
    with open(path, "rb") as opened:
        content = bytearray(opened.read(LONGEST_FILE_BYTES + 1))
    return content if len(content) <= LONGEST_FILE_BYTES else None


def _kind(mode: int) -> Kind:
    if stat.S_ISDIR(mode):
        return "directory"
    return "file" if stat.S_ISREG(mode) else "other"
