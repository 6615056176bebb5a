"""What a disk may hold after a crash at any point of a trace.

A `Cut` says how many calls were made and which of them are not on the disk, or not whole. Each level allows some cuts
and not others; what a cut leaves is an `Image`.

Source: `docs/spec/crash.md`, "Levels".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from msgspec import Struct

from perdure.journal.contract import DurabilityLevel
from perdure_conformance.crash.trace import (
    BY_ITSELF,
    STATE_DIRECTORY,
    Answer,
    Blind,
    Create,
    File,
    Link,
    Operation,
    Rename,
    Sync,
    Trace,
    Truncate,
    Unlink,
    Write,
)

SECTOR_BYTES: Final = 512
_SECTORS_OF_A_PAGE: Final = 8

Change = Create | Write | Truncate | Link | Unlink | Rename
"""What a call may have changed, and a power cut may take away."""


class Torn(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What is there of a write that is not there whole."""

    sectors: tuple[int, ...]
    """Which of its sectors are there, counted from 0 where it begins."""
    is_long: bool
    """Whether the file is as long as the write made it, with zeros for what never came; else it ends with what did."""


class Fate(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What became of one call that is not on the disk as it was made."""

    call: int
    torn: Torn | None = None
    """What is there of it; None if nothing is."""


class Cut(Struct, frozen=True, forbid_unknown_fields=True):
    """One way to crash."""

    calls: int
    """How many calls had been made."""
    fates: tuple[Fate, ...] = ()
    """Those that are not on the disk as they were made, in order."""

    @property
    def size(self) -> int:
        """Return how many calls are not on the disk as they were made."""
        return len(self.fates)

    @property
    def lost(self) -> frozenset[int]:
        """Return the calls of which nothing is on the disk."""
        return frozenset(fate.call for fate in self.fates if fate.torn is None)


@dataclass(frozen=True, slots=True)
class Image:
    """What a state directory holds."""

    files: Mapping[str, bytes]
    folders: frozenset[str]
    links: Mapping[str, str]
    """Further names of files, each with the name in `files` that is the same file."""

    def key(self) -> object:
        """Return what is equal for equal images."""
        return frozenset(self.files.items()), self.folders, frozenset(self.links.items())


@dataclass(slots=True)
class _Tree:
    """Files, and the names that lead to them."""

    contents: dict[File, bytes | bytearray] = field(default_factory=dict)
    folders: frozenset[File] = frozenset({STATE_DIRECTORY})
    names: dict[tuple[File, str], File] = field(default_factory=dict)

    def copy(self) -> _Tree:
        """Return another one of the same; what was written to since the last copy is looked at as it is now."""
        for file, content in self.contents.items():
            if isinstance(content, bytearray):
                self.contents[file] = bytes(content)
        return _Tree(dict(self.contents), self.folders, dict(self.names))

    def write(self, file: File, offset: int, data: bytes) -> None:
        content = self._changeable(file)
        if len(content) < offset:
            content.extend(bytes(offset - len(content)))
        content[offset : offset + len(data)] = data

    def resize(self, file: File, size: int) -> None:
        content = self._changeable(file)
        del content[size:]
        content.extend(bytes(size - len(content)))

    def size(self, file: File) -> int:
        return len(self.contents.get(file, b""))

    def _changeable(self, file: File) -> bytearray:
        content = self.contents.get(file, b"")
        if not isinstance(content, bytearray):
            content = self.contents[file] = bytearray(content)
        return content


class Disk:
    """All that a trace says about what may be on a disk."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.operations: Sequence[Operation] = [call.operation for call in trace.calls]
        self._moved: dict[int, File] = {}
        """Which file a rename gave another name, by call."""
        self._bases: list[_Tree] = []
        """After so many calls, what was surely on the disk."""
        self._open: list[tuple[int, ...]] = []
        """After so many calls, those that were not covered by a sync, in order."""
        self._answers: list[int] = []
        self._syncs = [index for index, each in enumerate(self.operations) if isinstance(each, Sync)]
        self._begun = list(accumulate((self._began(index) for index in self._syncs), max))
        self._walk()

    @property
    def blind(self) -> tuple[str, ...]:
        """What the trace cannot show, in sentences."""
        return tuple(dict.fromkeys(each.sentence for each in self.operations if isinstance(each, Blind)))

    def answered(self, calls: int) -> int:
        """Return the number of the last answer that was given before so many calls were made."""
        return self._answers[calls]

    def pending(self, calls: int) -> tuple[int, ...]:
        """Return which of the first so many calls no sync covers (level `posix-weak`)."""
        return self._open[calls]

    def after_last_sync(self, calls: int) -> int:
        """Return how many of the first so many calls are surely there at `ordered`: all up to the last sync."""
        found = bisect_right(self._syncs, calls - 1)
        return self._begun[found - 1] if found else 0

    def image(self, cut: Cut) -> Image:
        """Return what a crash leaves."""
        fates = {fate.call: fate for fate in cut.fates}
        tree = self._bases[cut.calls].copy()
        for index in self._open[cut.calls]:
            if index not in fates:
                self._apply(tree, index)
            elif (torn := fates[index].torn) is not None:
                self._tear(tree, index, torn)
        return _image(tree)

    def allows(self, cut: Cut, level: DurabilityLevel) -> bool:
        """Tell whether a level has this cut among its own or those of the levels beneath."""
        lost = sorted(cut.lost)
        torn = [fate.call for fate in cut.fates if fate.torn is not None]
        pending = self.pending(cut.calls)
        if level == "process-crash":
            return not lost and torn in ([], [cut.calls - 1]) and self._is_cut_at_a_page(cut)
        if level == "posix-weak":
            return set(pending).issuperset(fate.call for fate in cut.fates)
        surely = self.after_last_sync(cut.calls)
        tail = [index for index in pending if index >= min((*lost, *torn), default=cut.calls)]
        is_a_beginning = tail == sorted([*torn, *lost]) and all(index >= surely for index in tail)
        return is_a_beginning and torn in ([], tail[:1]) and (level == "sector" or self._is_cut_at_a_page(cut))

    def pages(self, index: int) -> Sequence[Torn]:
        """Return what may be there of a write within which its process was killed: a beginning, in whole pages."""
        write = self.operations[index]
        if not isinstance(write, Write):
            return ()
        first = write.offset // SECTOR_BYTES
        kept = (count for count in range(1, self.sectors(index)) if (first + count) % _SECTORS_OF_A_PAGE == 0)
        return [Torn(tuple(range(count)), is_long=False) for count in kept]

    def _is_cut_at_a_page(self, cut: Cut) -> bool:
        return all(fate.torn is None or fate.torn in self.pages(fate.call) for fate in cut.fates)

    def sectors(self, index: int) -> int:
        """Return how many sectors a write touches; 0 if the call is none."""
        write = self.operations[index]
        if not isinstance(write, Write) or not write.data:
            return 0
        return (write.offset + len(write.data) - 1) // SECTOR_BYTES - write.offset // SECTOR_BYTES + 1

    def _began(self, index: int) -> int:
        """Return how many calls had been made when a sync began."""
        sync = self.operations[index]
        return sync.began if isinstance(sync, Sync) and sync.began is not None else index

    def _walk(self) -> None:
        base, full = _held(self.trace), _held(self.trace)
        pending: list[int] = []
        answer = 0
        self._note(base, pending, answer)
        for index, operation in enumerate(self.operations):
            match operation:
                case Answer(number=number):
                    answer = number
                case Sync(file=file, how=how):
                    began = [each for each in pending if each < self._began(index)]
                    covered = self._with_its_write(began, index) if how in BY_ITSELF else self._covered(began, file)
                    if covered:
                        base = base.copy()
                        for each in covered:
                            self._apply(base, each)
                        pending = [each for each in pending if each not in set(covered)]
                case Blind():
                    pass
                case _:
                    if isinstance(operation, Rename):
                        self._moved[index] = full.names[operation.directory, operation.name]
                    self._apply(full, index)
                    pending = [*pending, index]
                    if isinstance(operation, Create):
                        base = base.copy()
                        _make(base, operation)
            self._note(base, pending, answer)

    def _note(self, base: _Tree, pending: Sequence[int], answer: int) -> None:
        self._bases.append(base)
        self._open.append(tuple(pending))
        self._answers.append(answer)

    def _covered(self, pending: Sequence[int], file: File | None) -> list[int]:
        """Return which calls a sync brings: those of its file, and whatever came before on a name that it brings."""
        brought: list[int] = []
        names: set[tuple[File, str]] = set()
        for index in reversed(pending):
            own = set(_names_of(self.operations[index]))
            if _is_covered(self.operations[index], file) or own & names:
                brought.append(index)
                names |= own
        return brought[::-1]

    def _with_its_write(self, pending: Sequence[int], sync: int) -> list[int]:
        """Return which calls a write brings that syncs by itself: no other write of its file, but what it lies upon."""
        operations, calls = self.operations, self.trace.calls
        writes = (each for each in reversed(pending) if isinstance(operations[each], Write))
        own = next((each for each in writes if calls[each].thread == calls[sync].thread), None)
        brought: list[int] = [] if own is None else [own]
        for index in () if own is None else reversed(pending[: pending.index(own)]):
            if any(_lies_upon(operations[each], operations[index]) for each in brought):
                brought.append(index)
        return brought[::-1]

    def _apply(self, tree: _Tree, index: int) -> None:
        match self.operations[index]:
            case Write() as write:
                tree.write(write.file, write.offset, write.data)
            case Truncate(file=file, size=size):
                tree.resize(file, size)
            case Create() as create:
                _make(tree, create)
                tree.names[create.directory, create.name] = create.file
            case Link(file=file, directory=directory, name=name):
                tree.names[directory, name] = file
            case Unlink(directory=directory, name=name):
                tree.names.pop((directory, name), None)
            case Rename() as rename:
                tree.names.pop((rename.directory, rename.name), None)
                tree.names[rename.new_directory, rename.new_name] = self._moved[index]
            case _:
                pass

    def _tear(self, tree: _Tree, index: int, torn: Torn) -> None:
        write = self.operations[index]
        assert isinstance(write, Write), "only a write can be torn"
        if torn.is_long:
            tree.resize(write.file, max(tree.size(write.file), write.offset + len(write.data)))
        pieces = self.pieces(index)
        for start, piece in (pieces[sector] for sector in torn.sectors):
            tree.write(write.file, start, piece)

    def pieces(self, index: int) -> list[tuple[int, bytes]]:
        """Return what a write puts into each sector that it touches, with the place in the file."""
        write = self.operations[index]
        assert isinstance(write, Write), "only a write has sectors"
        return list(_pieces(write.offset, write.data))


def _held(trace: Trace) -> _Tree:
    tree = _Tree()
    for held in trace.before:
        _make(tree, Create(held.directory, held.name, held.file, held.kind))
        tree.names[held.directory, held.name] = held.file
        if held.kind == "file":
            tree.contents[held.file] = held.data
    return tree


def _make(tree: _Tree, create: Create) -> None:
    """Have a file, which no name leads to as yet."""
    if create.kind == "directory":
        tree.folders |= {create.file}
    else:
        tree.contents.setdefault(create.file, b"")


def _is_covered(operation: Operation, file: File | None) -> bool:
    match operation:
        case Write() | Truncate():
            return file is None or operation.file == file
        case Create() | Link() | Unlink():
            return file is None or operation.directory == file
        case Rename():
            return file is None or file in {operation.directory, operation.new_directory}
        case _:
            return False


def _lies_upon(later: Operation, earlier: Operation) -> bool:
    """Tell whether a change of a file cannot be there without an earlier one of the same file."""
    match earlier, later:
        case Truncate(), Write() | Truncate():
            return earlier.file == later.file
        case Write(), Write():
            begins = max(earlier.offset, later.offset)
            ends = min(earlier.offset + len(earlier.data), later.offset + len(later.data))
            return earlier.file == later.file and begins < ends
        case Write(), Truncate(size=size):
            return earlier.file == later.file and earlier.offset + len(earlier.data) > size
        case _:
            return False


def _names_of(operation: Operation) -> Iterator[tuple[File, str]]:
    match operation:
        case Create() | Link() | Unlink():
            yield operation.directory, operation.name
        case Rename():
            yield operation.directory, operation.name
            yield operation.new_directory, operation.new_name
        case _:
            pass


def _pieces(offset: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    begun = 0
    while begun < len(data):
        start = offset + begun
        size = SECTOR_BYTES - start % SECTOR_BYTES
        yield start, data[begun : begun + size]
        begun += size


def _image(tree: _Tree) -> Image:
    files: dict[str, bytes] = {}
    folders: set[str] = set()
    links: dict[str, str] = {}
    first: dict[File, str] = {}
    within: dict[File, list[tuple[str, File]]] = {}
    for (directory, name), file in tree.names.items():
        within.setdefault(directory, []).append((name, file))
    waiting = [("", STATE_DIRECTORY)]
    while waiting:
        prefix, directory = waiting.pop()
        for name, file in sorted(within.pop(directory, ())):
            path = f"{prefix}{name}"
            if file in tree.folders:
                folders.add(path)
                waiting.append((f"{path}/", file))
            elif file in first:
                links[path] = first[file]
            else:
                first[file] = path
                files[path] = bytes(tree.contents.get(file, b""))
    return Image(files, frozenset(folders), links)
