"""A recorder without a tracer, for journals that take what they call of the system as a value."""

from __future__ import annotations

import os
from pathlib import Path

from perdure.kernel.values import JsonObject
from perdure_conformance.crash.journals import JournalOfFrames
from perdure_conformance.crash.power import Recorded
from perdure_conformance.crash.record import converse
from perdure_conformance.crash.replay import Workload
from perdure_conformance.crash.trace import (
    STATE_DIRECTORY,
    Answer,
    Call,
    Create,
    File,
    Operation,
    Rename,
    Sync,
    Trace,
    Truncate,
    Write,
)
from perdure_conformance.harness.connection import Connection
from perdure_conformance.harness.local import LocalConnection
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.journal.dispatch import Dispatcher


class Watched:
    """The module `os`, which tells what it changes in one folder that has no others in it."""

    def __init__(self, folder: Path) -> None:
        self.calls: list[Call] = []
        self._folder = folder
        self._names: dict[str, File] = {}
        self._open: dict[int, tuple[File, str]] = {}
        self._answers = 0

    def tell(self, text: str, operation: Operation) -> None:
        self.calls.append(Call(text, operation))

    def answer(self) -> None:
        self._answers += 1
        self.tell(f"answer {self._answers}", Answer(self._answers))

    def open(self, path: str, flags: int, mode: int = 0o777) -> int:
        name = Path(path).name
        is_folder = Path(path) == self._folder
        if not is_folder and name not in self._names:
            self._names[name] = File(len(self.calls) + 1)
            self.tell(f"create {name}", Create(STATE_DIRECTORY, name, self._names[name]))
        elif flags & os.O_TRUNC:
            self.tell(f"truncate {name} to 0", Truncate(self._names[name], 0))
        descriptor = os.open(path, flags, mode)
        self._open[descriptor] = (STATE_DIRECTORY, ".") if is_folder else (self._names[name], name)
        return descriptor

    def pwrite(self, descriptor: int, data: bytes, offset: int) -> int:
        file, name = self._open[descriptor]
        self.tell(f"write {name}@{offset}+{len(data)}", Write(file, offset, data))
        return os.pwrite(descriptor, data, offset)

    def ftruncate(self, descriptor: int, size: int) -> None:
        file, name = self._open[descriptor]
        self.tell(f"truncate {name} to {size}", Truncate(file, size))
        os.ftruncate(descriptor, size)

    def fsync(self, descriptor: int) -> None:
        file, name = self._open[descriptor]
        self.tell(f"fsync {name}", Sync(file, "fsync"))

    def close(self, descriptor: int) -> None:
        del self._open[descriptor]
        os.close(descriptor)

    def rename(self, path: str, new_path: str) -> None:
        name, new_name = Path(path).name, Path(new_path).name
        self.tell(f"rename {name} to {new_name}", Rename(STATE_DIRECTORY, name, STATE_DIRECTORY, new_name))
        self._names[new_name] = self._names.pop(name)
        Path(path).rename(new_path)


class _Telling:
    """A connection that tells of each answer."""

    def __init__(self, connection: Connection, system: Watched) -> None:
        self._connection, self._system = connection, system

    def call(self, method: str, params: JsonObject) -> JsonObject:
        result = self._connection.call(method, params)
        self._system.answer()
        return result

    def close(self) -> None:
        self._connection.close()
        self._system.answer()

    def kill(self) -> None:
        self._connection.kill()

    def stderr(self) -> str:
        return self._connection.stderr()


def recorded(journal: type[JournalOfFrames], folder: Path, workload: Workload) -> Recorded:
    """Send the workload to a journal in this process, and watch what it does."""
    folder.mkdir()
    system = Watched(folder)
    watched: type[JournalOfFrames] = type(journal.__name__, (journal,), {"system": system})
    connection = _Telling(LocalConnection(Dispatcher(watched), 10, Transcript()), system)
    claims, exchanges = converse(connection, workload, folder)
    connection.close()
    return Recorded(Trace([], system.calls), exchanges, claims)
