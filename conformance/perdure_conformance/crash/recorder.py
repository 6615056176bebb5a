# Paths are strings here, as they are in calls.
# ruff: noqa: PTH116, PTH123
"""What system calls do to the files of a state directory, asked while the thread that makes one stands still.

Which file a descriptor means, where it stands and how it was opened is asked of a `System`, so that descriptors may be
copied, inherited, shared by threads or sent to others. Names are kept in a table, which only calls that succeed change.

Calls that change files are counted from 1 over all threads and processes, and in each name: injection goes by these.
Only the standard library is imported here; what is written are the lines that `recording` reads.
"""

from __future__ import annotations

import base64
import errno
import fnmatch
import json
import os
import stat
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from perdure_conformance.crash.ptrace import Decision, Fail, KillAll, LetBe, Rule, Stop, Watch
from perdure_conformance.crash.replay import Failure, Fault, Kill, Short, Tear
from perdure_conformance.crash.system import (
    EMPTY_PATH,
    EXCHANGE,
    FOLLOW,
    HERE,
    KEEP_SIZE,
    LONGEST_FILE_BYTES,
    MAP_SHARED,
    RWF_APPEND,
    UNNAMED,
    WHITEOUT,
    Key,
    Proc,
    System,
)

Words = dict[str, "str | int | None"]
"""One operation, as `trace` reads it."""
Shortening = Callable[[int], tuple[Mapping[int, int], Callable[[], None]]]
"""From a number of bytes to the arguments with which no more are written, and to what puts the memory right again."""
OF_ANOTHER_ARCHITECTURE: Final = "a call of another architecture was made, which is not looked at"
READ: Final = "read"
"""What every call that reads a file is counted as."""

_CREATE, _EXCLUSIVE, _TRUNCATE, _APPEND, _DATA_SYNC, _FULL_SYNC = (
    os.O_CREAT, os.O_EXCL, os.O_TRUNC, os.O_APPEND, os.O_DSYNC, os.O_SYNC,
)  # fmt: skip
_RWF_DSYNC, _RWF_SYNC = 0x2, 0x4
_LONGEST_PATH: Final = 4096


@dataclass(frozen=True, slots=True)
class Plan:
    """A call that changes files, or says something."""

    text: str
    ended: Callable[[int], Iterable[tuple[str, Words]]]
    """What it did, in words and as operations, by its result; it succeeded."""
    is_counted: bool = True
    shortened: Shortening | None = None


_CHANGES_NOTHING: Final = Plan("nothing", lambda _: (), is_counted=False)
"""A call that changes nothing as things are: it is watched, so that nobody changes them before it is made."""


@dataclass(frozen=True, slots=True)
class Place:
    """A name in a directory of the state, or elsewhere."""

    directory: int | None
    name: str
    path: str
    """As the system can be asked for it."""


class Recorder:
    """Everything that is known of the files below one directory, and the fault that is to happen."""

    def __init__(
        self,
        state: str,
        said_to: Key,
        fault: Fault,
        rebuildable: Sequence[str],
        tell: Callable[[str], None],
        system: System | None = None,
    ) -> None:
        self._system = system or Proc()
        self._state = state
        self._said_to = said_to
        self._fault = fault
        self._rebuildable = rebuildable
        self._tell = tell
        self._files: dict[Key, int] = {}
        self._names: dict[tuple[int, str], int] = {}
        self._places: dict[int, tuple[int, str]] = {}
        self._directories: set[int] = set()
        self._count = 0
        self._ordinals: Counter[str] = Counter()
        self._answers = 0
        self._last_file = 0
        self._has_mappings = False
        there = os.stat(state)
        self._device = there.st_dev
        self._files[there.st_dev, there.st_ino] = 0
        self._look_at(state, 0)

    def about_to(self, stop: Stop) -> Decision:
        """Return what becomes of a call: whether it is ours, whether it is counted, and whether its fault is due."""
        name, plan_of = _CALLS.get(stop.call, ("", None))
        if plan_of is None:
            self.blind(stop, OF_ANOTHER_ARCHITECTURE)
            return LetBe()
        if name in _READING:
            return self._reading(stop)
        plan = plan_of(self, stop)
        if plan is None:
            return LetBe()
        if not plan.is_counted:
            return Watch(lambda result: self._done(stop, plan, result, 0, name))
        self._count += 1
        self._ordinals[name] += 1
        return self._counted(stop, name, plan)

    def lost(self, stop: Stop) -> None:
        """Note that nobody knows what a call did."""
        self.blind(stop, ended_within(_CALLS[stop.call][0]))

    def blind(self, stop: Stop, sentence: str) -> None:
        """Note that something was done that no trace of calls shows."""
        call = {"text": sentence, "operation": _blind(sentence), "thread": stop.number}
        self._line("Done", number=0, name="", ordinal=0, call=call)

    def end(self, status: int) -> None:
        """Note how the program ended, by its wait status."""
        self._line("End", calls=self._count, reads=self._ordinals[READ], status=status)

    # What is to happen

    def _counted(self, stop: Stop, name: str, plan: Plan) -> Decision:
        number, ordinal = self._count, self._ordinals[name]
        fault = self._fault
        undo: Callable[[], None] = _nothing
        arguments: Mapping[int, int] = {}
        match fault:
            case Kill(moment="before", number=there) if there == number:
                self._injected(name, plan.text)
                return KillAll()
            case Failure(call=call, ordinal=there, error=error) if (call, there) == (name, ordinal):
                self._injected(name, plan.text)
                return Fail(int(getattr(errno, error)))
            case Short(call=call, ordinal=there) | Tear(call=call, ordinal=there) if (call, there) == (
                name,
                ordinal,
            ) and plan.shortened is not None:
                arguments, undo = plan.shortened(fault.size_bytes)
                if arguments:
                    self._injected(name, plan.text)
            case _:
                pass
        is_last = fault == Kill("after", number) or (isinstance(fault, Tear) and bool(arguments))

        def ended(result: int) -> bool:
            undo()
            self._done(stop, plan, result, number, name)
            if is_last and not arguments:
                self._injected(name, plan.text)
            return is_last

        return Watch(ended, arguments)

    def _reading(self, stop: Stop) -> Decision:
        file = self._file_of(stop, _descriptor(stop.arguments[0]))
        if file is None:
            return LetBe()
        self._ordinals[READ] += 1
        match self._fault:
            case Failure(call=call, ordinal=ordinal, error=error) if (call, ordinal) == (READ, self._ordinals[READ]):
                self._injected(READ, f"{READ} {self._path_of(file)}")
                return Fail(int(getattr(errno, error)))
            case _:
                return LetBe()

    # What is told

    def _done(self, stop: Stop, plan: Plan, result: int, number: int, name: str) -> bool:
        ordinal = self._ordinals[name] if plan.is_counted else 0
        if result < 0:
            if plan.is_counted:
                text = _legible(plan.text)
                self._line("Failed", number=number, name=name, ordinal=ordinal, text=text, error=-result)
            return False
        for text, operation in plan.ended(result):
            said = _legible(text)
            known = operation if said == text else _blind(f"{said}: a name that is not UTF-8 is not modelled")
            call = {"text": said, "operation": known, "thread": stop.number}
            self._line("Done", number=number, name=name, ordinal=ordinal, call=call, thread_ordinal=stop.thread_ordinal)
        return False

    def _injected(self, name: str, text: str) -> None:
        self._line("Injected", number=self._count, name=name, ordinal=self._ordinals[name], text=_legible(text))

    def _line(self, kind: str, **members: object) -> None:
        self._tell(json.dumps({"type": kind, **members}))

    # What is there

    def _look_at(self, path: str, directory: int) -> None:
        """Take in what is there before the program starts."""
        with os.scandir(path) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            is_directory = entry.is_dir(follow_symlinks=False)
            if not (is_directory or entry.is_file(follow_symlinks=False)):
                continue
            there = entry.stat(follow_symlinks=False)
            key = (there.st_dev, there.st_ino)
            file = self._files.get(key)
            is_new = file is None
            if file is None:
                file = self._named(key, directory, entry.name)
            self._names[directory, entry.name] = file
            kind, data = ("directory", b"") if is_directory else ("file", b"")
            if not is_directory and is_new:
                with open(entry.path, "rb") as opened:
                    data = opened.read()
            name = _legible(entry.name)
            self._line(
                "Before",
                held={"file": file, "directory": directory, "name": name, "kind": kind, "data": _base64(data)},
            )
            if is_directory:
                self._directories.add(file)
                self._look_at(entry.path, file)

    def _named(self, key: Key, directory: int, name: str) -> int:
        """Give a new file its number."""
        self._last_file += 1
        self._files[key] = self._last_file
        self._names[directory, name] = self._last_file
        self._places[self._last_file] = (directory, name)
        return self._last_file

    def _path_of(self, file: int) -> str:
        if file == 0:
            return "."
        if file not in self._places:
            return f"file {file}"
        directory, name = self._places[file]
        return name if directory == 0 else f"{self._path_of(directory)}/{name}"

    def _name_of(self, place: Place) -> str:
        assert place.directory is not None
        return place.name if place.directory == 0 else f"{self._path_of(place.directory)}/{place.name}"

    def _file_of(self, stop: Stop, descriptor: int) -> int | None:
        """Return the file of the state that a descriptor means."""
        key = self._system.key(stop.thread, descriptor)
        file = None if key is None else self._files.get(key)
        if file is None:
            return None
        try:
            where = self._system.path(stop.thread, descriptor)
        except OSError:
            return None
        # An inode that became free may have come to another file, elsewhere; one that has its name still is the same,
        # whatever path leads there: the program may see other mounts.
        is_ours = where == self._state or where.startswith(f"{self._state}/") or where.endswith(" (deleted)")
        return file if is_ours or not file or file in self._names.values() else None

    def _is_said(self, stop: Stop, descriptor: int) -> bool:
        """Tell whether a descriptor is the standard output that the program was started with."""
        return self._system.key(stop.thread, descriptor) == self._said_to

    def _place(self, stop: Stop, directory: int, address: int) -> Place | None:
        """Return the place that a path names; None if it names none."""
        path = os.fsdecode(self._text_at(stop.thread, address))
        found = self._system.locate(stop.thread, directory, path) if path else None
        if found is None:
            return None
        return Place(None if found.parent is None else self._files.get(found.parent), found.name, found.path)

    def _ours(self, stop: Stop, directory: int, address: int) -> tuple[Place, int | None] | None:
        """Return a place in the state, and the file that is there; None if the path leads elsewhere."""
        place = self._place(stop, directory, address)
        if place is None or place.directory is None:
            return None
        return place, self._names.get((place.directory, place.name))

    def _key(self, place: Place) -> Key:
        """Return what was just put there. Raises `OSError`."""
        there = self._system.there(place.path)
        if there is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place.path)
        return there[0]

    def _size(self, path: str) -> int | None:
        """Return how long a file is, if there is one."""
        there = self._system.there(path)
        return None if there is None else there[1]

    def _text_at(self, thread: int, address: int) -> bytes:
        """Return the text that ends in a zero."""
        return self._system.memory(thread, address, _LONGEST_PATH).partition(b"\0")[0]

    def _gathered(self, thread: int, parts: Sequence[tuple[int, int]], size: int) -> bytes:
        """Return so many bytes from the parts, in order."""
        gathered = b""
        for address, most in parts:
            gathered += self._system.memory(thread, address, min(most, size - len(gathered)))
            if len(gathered) >= size:
                break
        return gathered

    # Calls that write

    def write(self, stop: Stop) -> Plan | None:
        """`write(descriptor, buffer, size)`."""
        descriptor, address, size = _descriptor(stop.arguments[0]), stop.arguments[1], stop.arguments[2]
        return self._writing(stop, descriptor, ((address, size),), None, 0, _fewer(size))

    def pwrite(self, stop: Stop) -> Plan | None:
        """`pwrite64(descriptor, buffer, size, offset)`."""
        descriptor, address, size, offset = _descriptor(stop.arguments[0]), *stop.arguments[1:4]
        return self._writing(stop, descriptor, ((address, size),), offset, 0, _fewer(size))

    def writev(self, stop: Stop) -> Plan | None:
        """`writev(descriptor, parts, count)`."""
        return self._writing_parts(stop, None, 0)

    def pwritev(self, stop: Stop) -> Plan | None:
        """`pwritev(descriptor, parts, count, offset, 0)`."""
        return self._writing_parts(stop, stop.arguments[3], 0)

    def pwritev2(self, stop: Stop) -> Plan | None:
        """`pwritev2(descriptor, parts, count, offset, 0, flags)`; the offset −1 is that of the descriptor."""
        offset = None if stop.arguments[3] == 2**64 - 1 else stop.arguments[3]
        return self._writing_parts(stop, offset, stop.arguments[5] & 0xFFFFFFFF)

    def _writing_parts(self, stop: Stop, offset: int | None, flags: int) -> Plan | None:
        descriptor, address, count = _descriptor(stop.arguments[0]), stop.arguments[1], stop.arguments[2]
        table = self._system.memory(stop.thread, address, 16 * min(count, 1024))
        parts = [(start, size) for start, size in struct.iter_unpack("=QQ", table)]

        def shortened(most: int) -> tuple[Mapping[int, int], Callable[[], None]]:
            ends = list(accumulate(size for _, size in parts))
            index = next((index for index, end in enumerate(ends) if end >= most), None)
            if index is None or most == ends[-1]:
                return {}, _nothing
            at, size = address + 16 * index + 8, parts[index][1]
            self._system.change_memory(stop.thread, at, struct.pack("=Q", size - (ends[index] - most)))
            return {2: index + 1}, lambda: self._system.change_memory(stop.thread, at, struct.pack("=Q", size))

        return self._writing(stop, descriptor, parts, offset, flags, shortened)

    def _writing(
        self,
        stop: Stop,
        descriptor: int,
        parts: Sequence[tuple[int, int]],
        offset: int | None,
        flags: int,
        shortened: Shortening,
    ) -> Plan | None:
        if self._is_said(stop, descriptor):
            return Plan("answer", lambda written: self._saying(stop, parts, written), is_counted=False)
        file = self._file_of(stop, descriptor)
        if file is None or not sum(size for _, size in parts):
            return None
        path = self._path_of(file)

        def ended(written: int) -> Sequence[tuple[str, Words]]:
            return self._written(stop, descriptor, file, self._gathered(stop.thread, parts, written), offset, flags)

        return Plan(f"write {path}", ended, shortened=shortened)

    def sendfile(self, stop: Stop) -> Plan | None:
        """`sendfile(descriptor, …, …, size)`."""
        return self._copying(stop, _descriptor(stop.arguments[0]), 0, 3)

    def copy_file_range(self, stop: Stop) -> Plan | None:
        """`copy_file_range(…, …, descriptor, offset, size, …)`, `splice(…, …, descriptor, offset, size, …)`."""
        return self._copying(stop, _descriptor(stop.arguments[2]), stop.arguments[3], 4)

    def _copying(self, stop: Stop, descriptor: int, address: int, size_at: int) -> Plan | None:
        """Plan a write of what is nowhere in memory: it is read from the file once it is there."""
        file = self._file_of(stop, descriptor)
        if file is None:
            return self._hiding(stop, descriptor)
        offset = struct.unpack("=q", self._system.memory(stop.thread, address, 8))[0] if address else None
        size = stop.arguments[size_at]

        def ended(copied: int) -> Sequence[tuple[str, Words]]:
            try:
                data = self._system.copied(stop.thread, descriptor, offset, min(copied, LONGEST_FILE_BYTES + 1))
            except PermissionError:
                sentence = f"what was copied into {self._path_of(file)} cannot be read"
                return ((sentence, _blind(sentence)),)
            return self._written(stop, descriptor, file, data, offset, 0)

        return Plan(
            f"write {self._path_of(file)}",
            ended,
            shortened=lambda most: ({size_at: most} if most < size else {}, _nothing),
        )

    def _written(
        self, stop: Stop, descriptor: int, file: int, data: bytes, offset: int | None, flags: int
    ) -> Sequence[tuple[str, Words]]:
        if not data:
            return ()
        position, opened = self._system.position_and_flags(stop.thread, descriptor)
        if opened & _APPEND or flags & RWF_APPEND:
            at = self._system.size(stop.thread, descriptor) - len(data)
        else:
            at = position - len(data) if offset is None else offset
        path = self._path_of(file)
        if at + len(data) > LONGEST_FILE_BYTES:
            return (_too_long(path),)
        write: Words = {"type": "Write", "file": file, "offset": at, "data": _base64(data)}
        how = _synchronous(opened, flags)
        if how is None:
            return ((f"write {path}@{at}+{len(data)}", write),)
        sync: Words = {"type": "Sync", "file": file, "how": how}
        return ((f"write {path}@{at}+{len(data)}", write), (f"{how} {path}", sync))

    def _saying(self, stop: Stop, parts: Sequence[tuple[int, int]], written: int) -> Iterator[tuple[str, Words]]:
        for _ in range(self._gathered(stop.thread, parts, written).count(b"\n")):
            self._answers += 1
            yield f"answer {self._answers}", {"type": "Answer", "number": self._answers}

    # Calls that make, size, name and sync files

    def open(self, stop: Stop) -> Plan | None:
        """`open(path, flags, mode)`."""
        return self._opening(stop, HERE, stop.arguments[0], stop.arguments[1])

    def creat(self, stop: Stop) -> Plan | None:
        """`creat(path, mode)`."""
        return self._opening(stop, HERE, stop.arguments[0], _CREATE | _TRUNCATE | os.O_WRONLY)

    def openat(self, stop: Stop) -> Plan | None:
        """`openat(directory, path, flags, mode)`."""
        return self._opening(stop, _descriptor(stop.arguments[0]), stop.arguments[1], stop.arguments[2])

    def openat2(self, stop: Stop) -> Plan | None:
        """`openat2(directory, path, how, size)`."""
        (flags,) = struct.unpack("=Q", self._system.memory(stop.thread, stop.arguments[2], 8))
        return self._opening(stop, _descriptor(stop.arguments[0]), stop.arguments[1], flags)

    def _opening(self, stop: Stop, directory: int, address: int, flags: int) -> Plan | None:
        if flags & UNNAMED:
            return self._opening_without_name(stop, self._place(stop, directory, address))
        found = self._ours(stop, directory, address)
        if found is None:
            return None
        place, file = found
        name = self._name_of(place)
        if file is not None:
            may_be_there = not (flags & _CREATE and flags & _EXCLUSIVE)
            is_emptied = flags & _TRUNCATE and may_be_there and self._size(place.path)
            cut: Words = {"type": "Truncate", "file": file, "size": 0}
            text = f"truncate {name} to 0"
            return Plan(text, lambda _: ((text, cut),)) if is_emptied else _CHANGES_NOTHING
        if not flags & _CREATE or self._size(place.path) is not None:
            return None  # It may be a pipe, which would wait for somebody else.
        return Plan(f"create {name}", lambda _: self._created(place, "file"))

    def _opening_without_name(self, stop: Stop, place: Place | None) -> Plan | None:
        there = None if place is None else self._system.there(place.path, follow=True)
        if there is None or there[0] not in self._files:
            return None
        return Plan("open a file without a name", lambda opened: self._opened_without_name(stop, opened))

    def _opened_without_name(self, stop: Stop, opened: int) -> Sequence[tuple[str, Words]]:
        """Give a file its number that has no name yet: what is written to it comes before it is linked."""
        key = self._system.key(stop.thread, opened)
        if key is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        self._last_file += 1
        self._files[key] = self._last_file
        return ()

    def _created(self, place: Place, kind: str) -> Sequence[tuple[str, Words]]:
        assert place.directory is not None
        file = self._named(self._key(place), place.directory, place.name)
        if kind == "directory":
            self._directories.add(file)
        words: Words = {"type": "Create", "directory": place.directory, "name": place.name, "file": file, "kind": kind}
        return ((f"{'create' if kind == 'file' else 'mkdir'} {self._path_of(file)}", words),)

    def mkdir(self, stop: Stop) -> Plan | None:
        """`mkdir(path, mode)`."""
        return self._making(stop, HERE, stop.arguments[0], "directory")

    def mkdirat(self, stop: Stop) -> Plan | None:
        """`mkdirat(directory, path, mode)`."""
        return self._making(stop, _descriptor(stop.arguments[0]), stop.arguments[1], "directory")

    def mknod(self, stop: Stop) -> Plan | None:
        """`mknod(path, mode, device)`."""
        is_file = stat.S_IFMT(stop.arguments[1]) in (0, stat.S_IFREG)
        return self._making(stop, HERE, stop.arguments[0], "file") if is_file else None

    def mknodat(self, stop: Stop) -> Plan | None:
        """`mknodat(directory, path, mode, device)`."""
        is_file = stat.S_IFMT(stop.arguments[2]) in (0, stat.S_IFREG)
        return self._making(stop, _descriptor(stop.arguments[0]), stop.arguments[1], "file") if is_file else None

    def _making(self, stop: Stop, directory: int, address: int, kind: str) -> Plan | None:
        found = self._ours(stop, directory, address)
        if found is None or found[1] is not None:
            return None if found is None else _CHANGES_NOTHING
        place = found[0]
        return Plan(f"make {self._name_of(place)}", lambda _: self._created(place, kind))

    def ftruncate(self, stop: Stop) -> Plan | None:
        """`ftruncate(descriptor, size)`."""
        descriptor, size = _descriptor(stop.arguments[0]), stop.arguments[1]
        file = self._file_of(stop, descriptor)
        there = None if file is None else self._system.size(stop.thread, descriptor)
        return self._sizing(file, there, size)

    def truncate(self, stop: Stop) -> Plan | None:
        """`truncate(path, size)`."""
        found = self._ours(stop, HERE, stop.arguments[0])
        return None if found is None else self._sizing(found[1], self._size(found[0].path), stop.arguments[1])

    def _sizing(self, file: int | None, there: int | None, size: int) -> Plan | None:
        if file is None or there == size:
            return None if file is None else _CHANGES_NOTHING
        text = f"truncate {self._path_of(file)} to {size}"
        if size > LONGEST_FILE_BYTES:
            return Plan(text, lambda _: (_too_long(self._path_of(file)),))
        words: Words = {"type": "Truncate", "file": file, "size": size}
        return Plan(text, lambda _: ((text, words),))

    def fallocate(self, stop: Stop) -> Plan | None:
        """`fallocate(descriptor, mode, offset, size)`: room is taken, and the file is longer by zeros."""
        descriptor, mode, offset, size = (_descriptor(stop.arguments[0]), *stop.arguments[1:4])
        if mode & 0xFFFFFFFF & ~KEEP_SIZE:
            return self._hiding(stop, descriptor)
        file = self._file_of(stop, descriptor)
        if file is None:
            return None
        there = self._system.size(stop.thread, descriptor)
        return self._sizing(file, there, there if mode & KEEP_SIZE else max(there, offset + size))

    def unlink(self, stop: Stop) -> Plan | None:
        """`unlink(path)`, `rmdir(path)`."""
        return self._unnaming(stop, HERE, stop.arguments[0])

    def unlinkat(self, stop: Stop) -> Plan | None:
        """`unlinkat(directory, path, flags)`."""
        return self._unnaming(stop, _descriptor(stop.arguments[0]), stop.arguments[1])

    def _unnaming(self, stop: Stop, directory: int, address: int) -> Plan | None:
        found = self._ours(stop, directory, address)
        if found is None or found[1] is None:
            return None if found is None else _CHANGES_NOTHING
        place = found[0]
        text = f"unlink {self._name_of(place)}"
        return Plan(text, lambda _: self._unnamed(place, text))

    def _unnamed(self, place: Place, text: str) -> Sequence[tuple[str, Words]]:
        assert place.directory is not None
        file = self._names.pop((place.directory, place.name))
        if file in self._directories:  # Its inode may come to another one, elsewhere.
            self._files = {key: there for key, there in self._files.items() if there != file}
        return ((text, {"type": "Unlink", "directory": place.directory, "name": place.name}),)

    def link(self, stop: Stop) -> Plan | None:
        """`link(old, new)`."""
        return self._linking(stop, self._source(stop, HERE, stop.arguments[0]), HERE, stop.arguments[1])

    def linkat(self, stop: Stop) -> Plan | None:
        """`linkat(old directory, old, new directory, new, flags)`."""
        directory, path, new_directory, new_path, flags, _ = stop.arguments
        if flags & EMPTY_PATH and not self._text_at(stop.thread, path):
            file = self._file_of(stop, _descriptor(directory))
        elif flags & FOLLOW:
            file = self._followed(stop, _descriptor(directory), path)
        else:
            file = self._source(stop, _descriptor(directory), path)
        return self._linking(stop, file, _descriptor(new_directory), new_path)

    def _source(self, stop: Stop, directory: int, address: int) -> int | None:
        found = self._ours(stop, directory, address)
        return None if found is None else found[1]

    def _followed(self, stop: Stop, directory: int, address: int) -> int | None:
        """Return the file that a path leads to which may be a link: a file without a name is linked so."""
        place = self._place(stop, directory, address)
        if place is None:
            return None
        descriptor = self._system.descriptor_at(stop.thread, place.path)
        return self._source(stop, directory, address) if descriptor is None else self._file_of(stop, descriptor)

    def _linking(self, stop: Stop, file: int | None, directory: int, address: int) -> Plan | None:
        found = self._ours(stop, directory, address)
        if found is None:
            if file is None:
                return None
            sentence = f"{self._path_of(file)} got a name outside the state directory"
            return Plan(f"link {self._path_of(file)} elsewhere", lambda _: ((sentence, _blind(sentence)),))
        place, there = found
        if there is not None:
            return _CHANGES_NOTHING
        name = self._name_of(place)
        if file is None:
            return Plan(f"link {name}", lambda _: self._came_from_elsewhere(place))
        assert place.directory is not None
        words: Words = {"type": "Link", "file": file, "directory": place.directory, "name": place.name}

        def linked(_: int) -> Sequence[tuple[str, Words]]:
            assert place.directory is not None
            self._names[place.directory, place.name] = file
            text = f"link {self._path_of(file)} to {name}"
            self._places.setdefault(file, (place.directory, place.name))
            return ((text, words),)

        return Plan(f"link {name}", linked)

    def _came_from_elsewhere(self, place: Place) -> Sequence[tuple[str, Words]]:
        """Take in a file that was written where nobody looked."""
        assert place.directory is not None
        self._named(self._key(place), place.directory, place.name)
        sentence = f"{self._name_of(place)} came from outside the state directory, with what was written to it there"
        return ((sentence, _blind(sentence)),)

    def rename(self, stop: Stop) -> Plan | None:
        """`rename(old, new)`."""
        return self._renaming(stop, (HERE, stop.arguments[0]), (HERE, stop.arguments[1]), 0)

    def renameat(self, stop: Stop) -> Plan | None:
        """`renameat(old directory, old, new directory, new)`."""
        old, new = stop.arguments[:2], stop.arguments[2:4]
        return self._renaming(stop, (_descriptor(old[0]), old[1]), (_descriptor(new[0]), new[1]), 0)

    def renameat2(self, stop: Stop) -> Plan | None:
        """`renameat2(old directory, old, new directory, new, flags)`."""
        old, new = stop.arguments[:2], stop.arguments[2:4]
        flags = stop.arguments[4]
        return self._renaming(stop, (_descriptor(old[0]), old[1]), (_descriptor(new[0]), new[1]), flags)

    def _renaming(self, stop: Stop, old: tuple[int, int], new: tuple[int, int], flags: int) -> Plan | None:
        source, target = self._ours(stop, *old), self._ours(stop, *new)
        if target is None:
            if source is None or source[1] is None:
                return None if source is None else _CHANGES_NOTHING
            text = f"rename {self._name_of(source[0])} out of the state directory"
            place = source[0]
            return Plan(text, lambda _: self._unnamed(place, text))
        place = target[0]
        if source is None:
            return Plan(f"rename to {self._name_of(place)}", lambda _: self._came_from_elsewhere(place))
        if source[1] is None or source[1] == target[1]:
            return _CHANGES_NOTHING
        text = f"rename {self._name_of(source[0])} to {self._name_of(place)}"
        if flags & (EXCHANGE | WHITEOUT):
            sentence = f"{text}: one call changed two names, which is not modelled"
            return Plan(text, lambda _: ((sentence, _blind(sentence)),))
        return Plan(text, lambda _: self._renamed(source[0], place, text))

    def _renamed(self, old: Place, new: Place, text: str) -> Sequence[tuple[str, Words]]:
        assert old.directory is not None
        assert new.directory is not None
        file = self._names.pop((old.directory, old.name))
        self._names[new.directory, new.name] = file
        self._places[file] = (new.directory, new.name)
        words: Words = {
            "type": "Rename",
            "directory": old.directory,
            "name": old.name,
            "new_directory": new.directory,
            "new_name": new.name,
        }
        return ((text, words),)

    def sync_file(self, stop: Stop) -> Plan | None:
        """`fsync(descriptor)`, `fdatasync(descriptor)`."""
        file = self._file_of(stop, _descriptor(stop.arguments[0]))
        if file is None:
            return None
        how = _CALLS[stop.call][0]
        text = f"{how} {self._path_of(file)}"
        words: Words = {"type": "Sync", "file": file, "how": how, "began": stop.began}
        return Plan(text, lambda _: ((text, words),))

    def sync_all(self, stop: Stop) -> Plan | None:
        """`sync()`, `syncfs(descriptor)`."""
        how = _CALLS[stop.call][0]
        if how == "syncfs":
            key = self._system.key(stop.thread, _descriptor(stop.arguments[0]))
            if key is None or key[0] != self._device:
                return None
        words: Words = {"type": "Sync", "file": None, "how": how, "began": stop.began}
        return Plan(how, lambda _: ((how, words),))

    # What a trace cannot show

    def symlink(self, stop: Stop) -> Plan | None:
        """`symlink(target, path)`."""
        return self._symbolic(stop, HERE, stop.arguments[1])

    def symlinkat(self, stop: Stop) -> Plan | None:
        """`symlinkat(target, directory, path)`."""
        return self._symbolic(stop, _descriptor(stop.arguments[1]), stop.arguments[2])

    def _symbolic(self, stop: Stop, directory: int, address: int) -> Plan | None:
        found = self._ours(stop, directory, address)
        if found is None:
            return None
        sentence = f"{self._name_of(found[0])} is a symbolic link, which is not modelled"
        return Plan(f"symlink {self._name_of(found[0])}", lambda _: ((sentence, _blind(sentence)),))

    def hidden_in_first(self, stop: Stop) -> Plan | None:
        """`vmsplice(descriptor, …)`, `ioctl(descriptor, FICLONE, …)`."""
        return self._hiding(stop, _descriptor(stop.arguments[0]))

    def _hiding(self, stop: Stop, descriptor: int) -> Plan | None:
        name = _CALLS[stop.call][0]
        if self._is_said(stop, descriptor):
            sentence = f"{name} wrote to standard output, where its lines cannot be counted"
            return Plan(name, lambda _: ((sentence, _blind(sentence)),), is_counted=False)
        file = self._file_of(stop, descriptor)
        if file is None or self._is_rebuildable(file):
            return None
        sentence = f"{name} changed {self._path_of(file)}, which is not modelled"
        return Plan(f"{name} {self._path_of(file)}", lambda _: ((sentence, _blind(sentence)),))

    def map(self, stop: Stop) -> Plan | None:
        """`mmap(address, size, protection, flags, descriptor, offset)`: shared."""
        file = self._file_of(stop, _descriptor(stop.arguments[4]))
        if file is None or self._is_rebuildable(file):
            return None
        if not stop.arguments[2] & _WRITABLE:
            self._has_mappings = True
            return None
        return self._mapping("mmap", file)

    def protect(self, stop: Stop) -> Plan | None:
        """`mprotect(address, size, protection)`, `pkey_mprotect(…)`: writable from now on."""
        if not self._has_mappings:
            return None
        address, size = stop.arguments[:2]
        file = next(
            (file for file in self._mapped(stop, address, address + size) if not self._is_rebuildable(file)), None
        )
        return None if file is None else self._mapping(_CALLS[stop.call][0], file)

    def _mapping(self, call: str, file: int) -> Plan:
        sentence = f"{self._path_of(file)} is written through a shared mapping, which no trace of calls shows"
        return Plan(call, lambda _: ((sentence, _blind(sentence)),), is_counted=False)

    def _mapped(self, stop: Stop, start: int, end: int) -> Iterator[int]:
        """Yield the files of the state that are mapped, and shared, within a range of addresses."""
        for key in self._system.mapped(stop.thread, start, end):
            if (file := self._files.get(key)) is not None:
                yield file

    def queue(self, stop: Stop) -> Plan | None:
        """`io_uring_setup(…)`, `io_setup(…)`."""
        sentence = f"{_CALLS[stop.call][0]} was called: what is written through a queue, no trace of calls shows"
        return Plan(_CALLS[stop.call][0], lambda _: ((sentence, _blind(sentence)),), is_counted=False)

    def _is_rebuildable(self, file: int) -> bool:
        name = self._places.get(file, (0, ""))[1]
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self._rebuildable)


def ended_within(call: str) -> str:
    """Return what is said where a thread was killed before its call came back."""
    return f"a thread was ended within {call}, and nobody knows what it did"


def _nothing() -> None:
    """Put nothing right."""


def _fewer(size: int) -> Shortening:
    """Return how a call comes to write less whose third argument says how much."""
    return lambda most: ({2: most} if most < size else {}, _nothing)


def _blind(sentence: str) -> Words:
    return {"type": "Blind", "sentence": sentence}


def _legible(text: str) -> str:
    """Return a text that can be written down, whatever names are in it."""
    return text.encode("utf-8", "backslashreplace").decode()


def _too_long(path: str) -> tuple[str, Words]:
    sentence = f"{path} is longer than {LONGEST_FILE_BYTES} bytes, which is not modelled"
    return sentence, _blind(sentence)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _descriptor(argument: int) -> int:
    """Return the 32 bits of a register that are a descriptor, which may be negative."""
    low = argument & 0xFFFFFFFF
    return low - 2**32 if low >= 2**31 else low


def _synchronous(opened: int, flags: int) -> str | None:
    """Return what made a write synchronous, if anything did."""
    if opened & _FULL_SYNC == _FULL_SYNC:
        return "O_SYNC"
    if opened & _DATA_SYNC:
        return "O_DSYNC"
    return "RWF_DSYNC" if flags & (_RWF_DSYNC | _RWF_SYNC) else None


_READING: Final = frozenset({"read", "pread64", "readv", "preadv", "preadv2"})
_Planner = Callable[[Recorder, Stop], Plan | None]


def _no_plan(recorder: Recorder, stop: Stop) -> Plan | None:
    """Stand where a call that reads has its planner: it needs none."""
    del recorder, stop
    return None


_CALLS: Final[Mapping[int, tuple[str, _Planner]]] = {
    0: ("read", _no_plan),
    1: ("write", Recorder.write),
    2: ("open", Recorder.open),
    9: ("mmap", Recorder.map),
    10: ("mprotect", Recorder.protect),
    16: ("ioctl", Recorder.hidden_in_first),
    17: ("pread64", _no_plan),
    18: ("pwrite64", Recorder.pwrite),
    19: ("readv", _no_plan),
    20: ("writev", Recorder.writev),
    40: ("sendfile", Recorder.sendfile),
    74: ("fsync", Recorder.sync_file),
    75: ("fdatasync", Recorder.sync_file),
    76: ("truncate", Recorder.truncate),
    77: ("ftruncate", Recorder.ftruncate),
    82: ("rename", Recorder.rename),
    83: ("mkdir", Recorder.mkdir),
    84: ("rmdir", Recorder.unlink),
    85: ("creat", Recorder.creat),
    86: ("link", Recorder.link),
    87: ("unlink", Recorder.unlink),
    88: ("symlink", Recorder.symlink),
    133: ("mknod", Recorder.mknod),
    162: ("sync", Recorder.sync_all),
    206: ("io_setup", Recorder.queue),
    257: ("openat", Recorder.openat),
    258: ("mkdirat", Recorder.mkdirat),
    259: ("mknodat", Recorder.mknodat),
    263: ("unlinkat", Recorder.unlinkat),
    264: ("renameat", Recorder.renameat),
    265: ("linkat", Recorder.linkat),
    266: ("symlinkat", Recorder.symlinkat),
    275: ("splice", Recorder.copy_file_range),
    278: ("vmsplice", Recorder.hidden_in_first),
    285: ("fallocate", Recorder.fallocate),
    295: ("preadv", _no_plan),
    296: ("pwritev", Recorder.pwritev),
    306: ("syncfs", Recorder.sync_all),
    316: ("renameat2", Recorder.renameat2),
    326: ("copy_file_range", Recorder.copy_file_range),
    327: ("preadv2", _no_plan),
    328: ("pwritev2", Recorder.pwritev2),
    329: ("pkey_mprotect", Recorder.protect),
    425: ("io_uring_setup", Recorder.queue),
    437: ("openat2", Recorder.openat2),
}
"""Every call that is stopped at, by its number on x86-64."""

NUMBERS: Final = {name: number for number, (name, _) in _CALLS.items() if name not in _READING}
"""The number of every call that may change a file, by name."""

_WRITABLE: Final = 0x2
_MAKES_OR_EMPTIES: Final = _CREATE | _TRUNCATE | UNNAMED
_CLONES: Final = (0x40049409, 0x4020940D)
"""The `ioctl` FICLONE and FICLONERANGE: one file gets the blocks of another."""


def rules(*, with_reads: bool) -> Sequence[Rule]:
    """Return what is stopped at: opening only if it makes or empties a file, mapping only if it is shared."""
    narrowed = {
        "open": (Rule(2, bits=((1, _MAKES_OR_EMPTIES),)),),
        "openat": (Rule(257, bits=((2, _MAKES_OR_EMPTIES),)),),
        "mmap": (Rule(9, bits=((3, MAP_SHARED),)),),
        "mprotect": (Rule(10, bits=((2, _WRITABLE),)),),
        "pkey_mprotect": (Rule(329, bits=((2, _WRITABLE),)),),
        "ioctl": tuple(Rule(16, equal=((1, request),)) for request in _CLONES),
    }
    found: list[Rule] = []
    for number, (name, _) in _CALLS.items():
        if with_reads or name not in _READING:
            found += narrowed.get(name, (Rule(number),))
    return found
