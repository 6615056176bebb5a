"""What a Python journal calls of `os` and `open`, seen from within: each call a place to switch at, and recorded.

While clients run, the names in `os`, `io`, `builtins`, `fcntl`, `threading` and `time` stand for functions that do the
same and write down what they did to the state directory, as calls of a trace. On any other thread they do what they
always did. What changes files by other ways, such as an extension in C, is not seen; that it was there shows when the
state directory is compared with the trace.

Source: "Layers, by value" of the crash design, layer 4.
"""

from __future__ import annotations

import _thread
import builtins
import functools
import importlib
import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from perdure_conformance.crash.baton import Client, Lock, running
from perdure_conformance.crash.trace import (
    STATE_DIRECTORY,
    Blind,
    Call,
    Create,
    File,
    Link,
    Operation,
    Rename,
    Sync,
    Truncate,
    Unlink,
    Write,
)

try:
    import fcntl
except ImportError:  # pragma: no cover - there is no such module on Windows
    fcntl = None  # type: ignore[assignment]

Path_ = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Place = tuple[File, str]
"""A directory, and a name in it; an empty name is the state directory."""

_pyio: Final = importlib.import_module("_pyio")
"""Files in Python alone, whose calls are those of `os`."""
_REAL: Final = {name: getattr(os, name) for name in dir(os) if callable(getattr(os, name))}
_REAL_OPEN: Final = io.open
_REAL_SLEEP: Final = time.sleep
_REAL_FLOCK: Final[Callable[[Any, int], None]] = getattr(fcntl, "flock", lambda *_: None)
_REAL_NEW_LOCK: Final = _thread.allocate_lock
_REAL_NEW_RLOCK: Final = threading.RLock
_FULL_SYNC: Final = getattr(os, "O_SYNC", 0)
_DATA_SYNC: Final = getattr(os, "O_DSYNC", 0)
_UNNAMED: Final = getattr(os, "O_TMPFILE", 0)


@dataclass(frozen=True, slots=True)
class _Opened:
    file: File
    flags: int


class Watch:
    """What clients do to one state directory, as a trace."""

    def __init__(self, state_dir: Path) -> None:
        self.calls: list[Call] = []
        self._root = os.path.realpath(state_dir)
        self._names: dict[Place, File] = {}
        self._places: dict[File, Place] = {}
        self._opened: dict[int, _Opened] = {}
        self._last = STATE_DIRECTORY
        self.unlocked = 0
        """How often a lock on a file was let go."""

    def note(self, text: str, operation: Operation, client: Client | None = None) -> None:
        """Write down one call."""
        self.calls.append(Call(text, operation, client.number if client is not None else 0))

    def blind(self, sentence: str) -> None:
        """Write down that something happened that a trace does not show."""
        self.note(sentence, Blind(sentence))

    def place(self, path: Path_ | int, dir_fd: int | None = None) -> Place | None:
        """Return where a path leads to; None if that is elsewhere, or nowhere."""
        if isinstance(path, int):
            return None
        text = os.fsdecode(path)
        if dir_fd is None or text.startswith("/"):
            text = os.path.normpath(text if text.startswith("/") else f"{_REAL['getcwd']()}/{text}")
            if text != self._root and not text.startswith(f"{self._root}/"):
                return None
            directory, text = STATE_DIRECTORY, text[len(self._root) + 1 :]
        elif dir_fd in self._opened:
            directory = self._opened[dir_fd].file
        else:
            return None
        *folders, name = text.split("/")
        for folder in folders:
            inside = self._names.get((directory, folder))
            if inside is None:
                return None
            directory = inside
        return directory, name

    def known(self, place: Place) -> File | None:
        """Return the file of a place, if one is there."""
        return self._names.get(place) if place[1] else STATE_DIRECTORY

    def of(self, descriptor: int) -> _Opened | None:
        """Return what a descriptor is open for, if that is in the state directory."""
        return self._opened.get(descriptor)

    def named(self, place: Place) -> str:
        """Return a place in words."""
        directory, name = place
        words = [name]
        while directory != STATE_DIRECTORY:
            directory, name = self._places[directory]
            words.append(name)
        return "/".join(reversed(words)) or "the state directory"

    def path_of(self, file: File) -> str:
        """Return the name of a file in words, or its last one."""
        return self.named(self._places.get(file, (STATE_DIRECTORY, "")))

    def made(self, place: Place) -> File:
        """Have a new file at a place."""
        self._last = File(self._last + 1)
        self.linked(self._last, place)
        return self._last

    def linked(self, file: File, place: Place) -> None:
        """Have a file at a place."""
        self._names[place] = file
        self._places[file] = place

    def unlinked(self, place: Place) -> File | None:
        """Have nothing at a place any more."""
        return self._names.pop(place, None)

    def opened(self, descriptor: int, file: File, flags: int) -> None:
        """Know a descriptor."""
        self._opened[descriptor] = _Opened(file, flags)

    def same(self, descriptor: int, new: int) -> None:
        """Know a second descriptor of the same."""
        if descriptor in self._opened:
            self._opened[new] = self._opened[descriptor]

    def closed(self, descriptor: int) -> None:
        """Know a descriptor no more."""
        if self._opened.pop(descriptor, None) is not None:
            self.unlocked += 1

    def leftovers(self) -> Sequence[int]:
        """Return the descriptors that are still open."""
        return list(self._opened)


_WATCHED: Final[dict[object, Watch]] = {}
"""The watch of each baton, since a client that was left behind may go on after its time."""


def _watching() -> tuple[Client, Watch] | None:
    client = running()
    watch = None if client is None else _WATCHED.get(client.baton)
    return None if client is None or watch is None else (client, watch)


# Calls on paths


def _open(path: Path_, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    seen = _watching()
    place = seen[1].place(path, dir_fd) if seen is not None else None
    if seen is None or place is None:
        return int(_REAL["open"](path, flags, mode, dir_fd=dir_fd))
    client, watch = seen
    client.reach(f"open {watch.named(place)}")
    file = watch.known(place)
    size = _size(path, dir_fd) if flags & os.O_TRUNC and file is not None else 0
    descriptor = int(_REAL["open"](path, flags, mode, dir_fd=dir_fd))
    if _UNNAMED and flags & _UNNAMED == _UNNAMED:
        watch.blind("a file was opened without a name, which is not modelled")
        return descriptor
    if file is None:
        file = watch.made(place)
        if flags & os.O_CREAT:
            watch.note(f"create {watch.named(place)}", Create(place[0], place[1], file), client)
        else:
            watch.blind(f"{watch.named(place)} is there, and no call that was seen has made it")
    elif size:
        watch.note(f"truncate {watch.named(place)} to 0", Truncate(file, 0), client)
    watch.opened(descriptor, file, flags)
    return descriptor


def _size(path: Path_, dir_fd: int | None) -> int:
    try:
        return int(_REAL["stat"](path, dir_fd=dir_fd).st_size)
    except OSError:
        return 0


def _mkdir(path: Path_, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
    seen = _watching()
    place = seen[1].place(path, dir_fd) if seen is not None else None
    if seen is None or place is None:
        _REAL["mkdir"](path, mode, dir_fd=dir_fd)
        return
    client, watch = seen
    client.reach(f"mkdir {watch.named(place)}")
    _REAL["mkdir"](path, mode, dir_fd=dir_fd)
    file = watch.made(place)
    watch.note(f"mkdir {watch.named(place)}", Create(place[0], place[1], file, "directory"), client)


def _removing(name: str) -> Callable[..., None]:
    def remove(path: Path_, *, dir_fd: int | None = None) -> None:
        seen = _watching()
        place = seen[1].place(path, dir_fd) if seen is not None else None
        if seen is None or place is None:
            _REAL[name](path, dir_fd=dir_fd)
            return
        client, watch = seen
        client.reach(f"unlink {watch.named(place)}")
        _REAL[name](path, dir_fd=dir_fd)
        watch.unlinked(place)
        watch.note(f"unlink {watch.named(place)}", Unlink(*place), client)

    return remove


def _moving(name: str) -> Callable[..., None]:
    def move(old: Path_, new: Path_, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        seen = _watching()
        source = seen[1].place(old, src_dir_fd) if seen is not None else None
        target = seen[1].place(new, dst_dir_fd) if seen is not None else None
        if seen is None or (source is None and target is None):
            _REAL[name](old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
            return
        client, watch = seen
        if source is None or target is None:
            client.reach("rename")
            _REAL[name](old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
            watch.blind("a file was renamed from or to a place outside the state directory")
            return
        text = f"rename {watch.named(source)} to {watch.named(target)}"
        client.reach(text)
        _REAL[name](old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        file = watch.known(source)
        if file is None:
            watch.blind(f"{text}: no call that was seen has made it")
        elif file != watch.known(target):
            watch.unlinked(source)
            watch.linked(file, target)
            watch.note(text, Rename(*source, *target), client)

    return move


def _link(
    old: Path_,
    new: Path_,
    *,
    src_dir_fd: int | None = None,
    dst_dir_fd: int | None = None,
    follow_symlinks: bool = True,
) -> None:
    seen = _watching()
    source = seen[1].place(old, src_dir_fd) if seen is not None else None
    target = seen[1].place(new, dst_dir_fd) if seen is not None else None
    if seen is not None:
        seen[0].reach("link")
    _REAL["link"](old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, follow_symlinks=follow_symlinks)
    if seen is None or target is None:
        return
    client, watch = seen
    file = None if source is None else watch.known(source)
    if file is None:
        watch.blind(f"{watch.named(target)} came from outside the state directory")
        return
    watch.linked(file, target)
    watch.note(f"link {os.fsdecode(old)} to {watch.named(target)}", Link(file, *target), client)


def _truncate(path: Path_ | int, length: int) -> None:
    if isinstance(path, int):
        _ftruncate(path, length)
        return
    seen = _watching()
    place = seen[1].place(path) if seen is not None else None
    if seen is None or place is None:
        _REAL["truncate"](path, length)
        return
    client, watch = seen
    text = f"truncate {watch.named(place)} to {length}"
    client.reach(text)
    _REAL["truncate"](path, length)
    file = watch.known(place)
    if file is None:
        watch.blind(f"{text}: no call that was seen has made it")
    else:
        watch.note(text, Truncate(file, length), client)


def _not_modelled(name: str) -> Callable[..., Any]:
    """Return a function that does the same, after which the trace shows not all."""

    def call(*arguments: Any, **named: Any) -> Any:
        result = _REAL[name](*arguments, **named)
        seen = _watching()
        if seen is not None and any(_is_watched(seen[1], each) for each in arguments):
            seen[1].blind(f"{name} changed the state directory, which is not modelled")
        return result

    return call


def _is_watched(watch: Watch, argument: object) -> bool:
    if isinstance(argument, int):
        return watch.of(argument) is not None
    return isinstance(argument, str | bytes | os.PathLike) and watch.place(argument) is not None


def _looking(name: str) -> Callable[..., Any]:
    """Return a function that does the same, before which another client may go on."""

    def call(*arguments: Any, **named: Any) -> Any:
        seen = _watching()
        if seen is not None and any(_is_watched(seen[1], each) for each in arguments[:1]):
            seen[0].reach(name)
        return _REAL[name](*arguments, **named)

    return call


# Calls on descriptors


def _closes(descriptor: int) -> None:
    seen = _watching()
    if seen is not None:
        seen[1].closed(descriptor)
    _REAL["close"](descriptor)


def _dup(descriptor: int) -> int:
    new = int(_REAL["dup"](descriptor))
    seen = _watching()
    if seen is not None:
        seen[1].same(descriptor, new)
    return new


def _dup2(descriptor: int, new: int, inheritable: bool = True) -> int:  # noqa: FBT001, FBT002 - as in `os`
    result = int(_REAL["dup2"](descriptor, new, inheritable))
    seen = _watching()
    if seen is not None:
        seen[1].closed(new)
        seen[1].same(descriptor, new)
    return result


def _writing(name: str, *, is_gathered: bool, has_offset: bool) -> Callable[..., int]:
    def write(descriptor: int, data: Any, *rest: int) -> int:
        seen = _watching()
        opened = seen[1].of(descriptor) if seen is not None else None
        if seen is None or opened is None:
            return int(_REAL[name](descriptor, data, *rest))
        client, watch = seen
        path = watch.path_of(opened.file)
        content = b"".join(bytes(memoryview(each)) for each in data) if is_gathered else bytes(memoryview(data))
        client.reach(f"write {path}")
        if opened.flags & os.O_APPEND:
            offset = _REAL["fstat"](descriptor).st_size
        else:
            offset = rest[0] if has_offset else _REAL["lseek"](descriptor, 0, os.SEEK_CUR)
        written = int(_REAL[name](descriptor, data, *rest))
        watch.note(f"write {path}@{offset}+{written}", Write(opened.file, offset, content[:written]), client)
        how = _synchronous(opened.flags)
        if how is not None:
            watch.note(f"{how} {path}", Sync(opened.file, how), client)
        return written

    return write


def _synchronous(flags: int) -> str | None:
    if _FULL_SYNC and flags & _FULL_SYNC == _FULL_SYNC:
        return "O_SYNC"
    return "O_DSYNC" if flags & _DATA_SYNC else None


def _reading(name: str) -> Callable[..., Any]:
    def read(descriptor: int, *rest: Any) -> Any:
        seen = _watching()
        opened = seen[1].of(descriptor) if seen is not None else None
        if seen is not None and opened is not None:
            seen[0].reach(f"read {seen[1].path_of(opened.file)}")
        return _REAL[name](descriptor, *rest)

    return read


def _ftruncate(descriptor: int, length: int) -> None:
    seen = _watching()
    opened = seen[1].of(descriptor) if seen is not None else None
    if seen is None or opened is None:
        _REAL["ftruncate"](descriptor, length)
        return
    client, watch = seen
    text = f"truncate {watch.path_of(opened.file)} to {length}"
    client.reach(text)
    _REAL["ftruncate"](descriptor, length)
    watch.note(text, Truncate(opened.file, length), client)


def _syncing(name: str) -> Callable[[Any], None]:
    def sync(descriptor: Any) -> None:
        seen = _watching()
        number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        opened = seen[1].of(number) if seen is not None else None
        if seen is None or opened is None:
            _REAL[name](descriptor)
            return
        client, watch = seen
        text = f"{name} {watch.path_of(opened.file)}"
        client.reach(text)
        began = len(watch.calls)
        client.reach(f"the end of {text}")  # What others write meanwhile, it need not bring.
        watch.note(text, Sync(opened.file, name, None if began == len(watch.calls) else began), client)

    return sync


def _sync_all() -> None:
    seen = _watching()
    if seen is None:
        _REAL["sync"]()
        return
    client, watch = seen
    client.reach("sync")
    watch.note("sync", Sync(None, "sync"), client)


def _flock(descriptor: Any, operation: int) -> None:
    seen = _watching()
    if seen is None:
        _REAL_FLOCK(descriptor, operation)
        return
    client, watch = seen
    if operation & fcntl.LOCK_UN:
        _REAL_FLOCK(descriptor, operation)
        watch.unlocked += 1
        return
    client.reach("a lock on a file")
    while True:
        try:
            _REAL_FLOCK(descriptor, operation | fcntl.LOCK_NB)
        except BlockingIOError:
            if operation & fcntl.LOCK_NB:
                raise
            client.wait("a lock on a file", functools.partial(_was_unlocked, watch, watch.unlocked))
        else:
            return


def _was_unlocked(watch: Watch, before: int) -> bool:
    return watch.unlocked > before


# Files, locks and sleep


def _open_file(file: Any, *arguments: Any, **named: Any) -> Any:
    seen = _watching()
    if seen is None or not _is_watched(seen[1], file):
        return _REAL_OPEN(file, *arguments, **named)
    return _pyio.open(file if isinstance(file, int) else os.fspath(file), *arguments, **named)


def _new_lock() -> Any:
    return _REAL_NEW_LOCK() if running() is None else Lock()


def _new_lock_of_a_file() -> Any:
    return _REAL_NEW_LOCK() if running() is None else Lock(is_place=False)


def _new_rlock(*arguments: Any, **named: Any) -> Any:
    if running() is None:
        return _REAL_NEW_RLOCK(*arguments, **named)
    return threading._PyRLock(*arguments, **named)  # type: ignore[attr-defined]  # noqa: SLF001 - made of such locks


def _sleep(seconds: float) -> None:
    client = running()
    if client is None:
        _REAL_SLEEP(seconds)
    else:
        client.rest("sleep")


def _replacements() -> Sequence[tuple[ModuleType, str, object]]:
    """Return what stands for what while clients run."""
    of_os: Mapping[str, object] = {
        "open": _open,
        "mkdir": _mkdir,
        "unlink": _removing("unlink"),
        "remove": _removing("remove"),
        "rmdir": _removing("rmdir"),
        "rename": _moving("rename"),
        "replace": _moving("replace"),
        "link": _link,
        "truncate": _truncate,
        "close": _closes,
        "dup": _dup,
        "dup2": _dup2,
        "write": _writing("write", is_gathered=False, has_offset=False),
        "pwrite": _writing("pwrite", is_gathered=False, has_offset=True),
        "writev": _writing("writev", is_gathered=True, has_offset=False),
        "pwritev": _writing("pwritev", is_gathered=True, has_offset=True),
        **{name: _reading(name) for name in ("read", "pread", "readv", "preadv")},
        "ftruncate": _ftruncate,
        "fsync": _syncing("fsync"),
        "fdatasync": _syncing("fdatasync"),
        "sync": _sync_all,
        **{name: _looking(name) for name in ("stat", "listdir", "scandir")},
        **{
            name: _not_modelled(name)
            for name in ("symlink", "mkfifo", "mknod", "sendfile", "copy_file_range", "splice", "posix_fallocate")
        },
    }
    locks = ((threading, "Lock"), (threading, "_allocate_lock"), (_thread, "allocate_lock"))
    return [
        *((os, name, function) for name, function in of_os.items() if name in _REAL),
        (io, "open", _open_file),
        (builtins, "open", _open_file),
        *((module, name, _new_lock) for module, name in locks),
        (_pyio, "Lock", _new_lock_of_a_file),
        (threading, "RLock", _new_rlock),
        (time, "sleep", _sleep),
        *([(fcntl, "flock", _flock)] if hasattr(fcntl, "flock") else []),
    ]


@contextmanager
def installed() -> Iterator[None]:
    """Have calls seen, on the threads of clients alone; also where a module has taken a name for itself."""
    replaced: list[tuple[ModuleType, str, object]] = []
    try:
        for module, name, function in _everywhere(_replacements()):
            replaced.append((module, name, getattr(module, name)))
            setattr(module, name, function)
        yield
    finally:
        for module, name, function in reversed(replaced):
            setattr(module, name, function)


def _everywhere(replacements: Sequence[tuple[ModuleType, str, object]]) -> Sequence[tuple[ModuleType, str, object]]:
    """Add the names in modules outside the standard library that stand for the same functions."""
    of_real = {id(getattr(module, name)): function for module, name, function in replacements}
    found = list(replacements)
    for module in list(sys.modules.values()):
        own = getattr(module, "__name__", __name__)
        if own == __name__ or own.partition(".")[0] in sys.stdlib_module_names:
            continue
        for name, value in list(vars(module).items()):
            if id(value) in of_real and callable(value):
                found.append((module, name, of_real[id(value)]))
    return found


@contextmanager
def watching(baton: object, state_dir: Path) -> Iterator[Watch]:
    """Watch what the clients of a baton do to a state directory; close what they leave open."""
    watch = Watch(state_dir)
    _WATCHED[baton] = watch
    try:
        yield watch
    finally:
        del _WATCHED[baton]
        for descriptor in watch.leftovers():
            with suppress(OSError):
                _REAL["close"](descriptor)
