"""What is judged: a built-in name, `module:factory`, or a command; and how each is opened."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from perdure_conformance.harness.connection import Connection
from perdure_conformance.harness.factories import BUILT_IN, JournalFactory, import_factory
from perdure_conformance.harness.local import LocalConnection
from perdure_conformance.harness.process import ProcessConnection
from perdure_conformance.harness.transcript import Transcript


class Target(Protocol):
    """Something that can be opened again and again."""

    @property
    def is_process(self) -> bool:
        """Whether it runs in a process of its own, which can be killed and have siblings."""
        ...

    def open(self, timeout_s: float, transcript: Transcript) -> Connection:
        """Start it. Raises `AdapterFault` if that fails."""
        ...

    def as_process(self) -> Target:
        """Return the same implementation in a process of its own."""
        ...

    def words(self) -> dict[str, str | list[str]]:
        """Return what names it in a report and finds it again: `{"name": …}` or `{"command": […]}`."""
        ...


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """A program that speaks the protocol."""

    command: tuple[str, ...]
    name: str | None = None
    """How the user named it, if not by this command."""
    connect: Callable[[Sequence[str], float, Transcript], Connection] = ProcessConnection

    @property
    def is_process(self) -> bool:
        """It is."""
        return True

    def open(self, timeout_s: float, transcript: Transcript) -> Connection:
        """Start the program."""
        return self.connect(self.command, timeout_s, transcript)

    def as_process(self) -> Target:
        """Return itself."""
        return self

    def words(self) -> dict[str, str | list[str]]:
        """Return the command, or the name that stands for it."""
        return {"name": self.name} if self.name is not None else {"command": list(self.command)}


@dataclass(frozen=True, slots=True)
class PythonTarget:
    """A Python factory, opened in this process."""

    name: str
    factory: JournalFactory
    path: str
    """`module:factory`, to be imported by another process."""

    @property
    def is_process(self) -> bool:
        """It is not."""
        return False

    def open(self, timeout_s: float, transcript: Transcript) -> Connection:
        """Make a connection whose `initialize` calls the factory."""
        return LocalConnection(self.factory, timeout_s, transcript)

    def as_process(self) -> Target:
        """Return the same factory, served by a Python of its own."""
        return CommandTarget((sys.executable, "-m", "perdure_conformance.harness.serve", self.path), name=self.name)

    def words(self) -> dict[str, str | list[str]]:
        """Return the name."""
        return {"name": self.name}


def find_target(name: str | None, command: Sequence[str] = ()) -> Target:
    """Return the target that the words name. Raises `TargetError`."""
    if command:
        return CommandTarget(tuple(command))
    name = name or "sqlite"
    path = BUILT_IN.get(name, name)
    return PythonTarget(name, import_factory(path), path)
