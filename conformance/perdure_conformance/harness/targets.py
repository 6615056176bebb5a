"""What is judged: a built-in name, `module:factory`, or a command; and how each is opened."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from perdure_conformance.harness.connection import Connection
from perdure_conformance.harness.dispatch import Served
from perdure_conformance.harness.factories import TargetError, import_object
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
    factory: Callable[..., object]
    path: str
    """`module:factory`, to be imported by another process."""
    dispatcher: type[Served]

    @property
    def is_process(self) -> bool:
        """It is not."""
        return False

    def open(self, timeout_s: float, transcript: Transcript) -> Connection:
        """Make a connection whose `initialize` calls the factory."""
        return LocalConnection(self.dispatcher(self.factory), timeout_s, transcript)

    def as_process(self) -> Target:
        """Return the same factory, served by a Python of its own."""
        serve = (sys.executable, "-m", "perdure_conformance.harness.serve")
        return CommandTarget((*serve, _path(self.dispatcher), self.path), name=self.name)

    def words(self) -> dict[str, str | list[str]]:
        """Return the name."""
        return {"name": self.name}


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """An implementation that perdure brings along."""

    path: str
    """As `module:factory`."""
    words: str
    """What it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """What can be judged as one profile, by name, and how a Python object of this kind is spoken to."""

    noun: str
    """What one of them is called; with an s, several."""
    factory: str
    """What a factory takes and returns, in words."""
    built_in: Mapping[str, BuiltIn]
    default: str
    """The built-in one that is judged if none is named."""
    dispatcher: type[Served]
    """Importable by its name, so that another process can serve the same object."""

    def find(self, name: str | None, command: Sequence[str] = ()) -> Target:
        """Return the target that the words name. Raises `TargetError`."""
        if strange := next((word for word in command if not is_text(word)), None):
            raise TargetError(f"{strange!a} is no UTF-8, so no report can name it: give what runs another name.")
        if command:
            return CommandTarget(tuple(command))
        name = self.default if name is None else name
        path = self.built_in[name].path if name in self.built_in else name
        if not all(path.partition(":")):
            raise TargetError(
                f"There is no {self.noun} called {path!r}. Give one of {', '.join(sorted(self.built_in))}, "
                'a factory as module:factory, or --command "…".'
            )
        factory = import_object(path)
        if not callable(factory):
            raise TargetError(f"{path} is not callable; a factory {self.factory}.")
        return PythonTarget(name, factory, path, self.dispatcher)

    def of(self, factory: type) -> Target:
        """Return a class, whose constructor is the factory, as a target."""
        return PythonTarget(_path(factory), factory, _path(factory), self.dispatcher)


def is_text(word: str) -> bool:
    """Tell whether a word of the command line is UTF-8, as all that stands in a report: what is not has surrogates."""
    return word.encode("utf-8", "ignore").decode() == word


def _path(of: type[Any]) -> str:
    return f"{of.__module__}:{of.__name__}"
