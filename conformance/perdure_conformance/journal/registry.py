"""Broken journals and odd good ones, and how they are registered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from perdure_conformance.harness.factories import JournalFactory
from perdure_conformance.harness.targets import PythonTarget


class JournalClass(JournalFactory, Protocol):
    """A class whose constructor opens a journal."""

    __name__: str


Factory = TypeVar("Factory", bound=JournalClass)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A journal with one fault, named after it."""

    factory: JournalClass
    name: str
    breaks: str
    """The requirement whose checks must find it."""
    overlaps: tuple[str, ...]
    """Requirements that the fault breaks too, in other ways."""
    report: str
    fault: str

    @property
    def target(self) -> PythonTarget:
        """Return it as something to be judged."""
        return _target(self.factory, self.name)


@dataclass(frozen=True, slots=True)
class Twin:
    """A journal that is unusual, and right."""

    factory: JournalClass
    name: str
    oddity: str

    @property
    def target(self) -> PythonTarget:
        """Return it as something to be judged."""
        return _target(self.factory, self.name)


MUTANTS: dict[str, Mutant] = {}
TWINS: dict[str, Twin] = {}


def mutant(breaks: str, *, overlaps: tuple[str, ...] = (), report: str = "") -> Callable[[Factory], Factory]:
    """Register a journal that breaks a requirement; the first line of its docstring says how."""

    def register(factory: Factory) -> Factory:
        MUTANTS[factory.__name__] = Mutant(factory, factory.__name__, breaks, overlaps, report, _first_line(factory))
        return factory

    return register


def twin(factory: Factory) -> Factory:
    """Register a journal that is unusual, and right; the first line of its docstring says what is odd."""
    TWINS[factory.__name__] = Twin(factory, factory.__name__, _first_line(factory))
    return factory


def _first_line(factory: JournalClass) -> str:
    return (factory.__doc__ or "").strip().partition("\n")[0]


def _target(factory: JournalClass, name: str) -> PythonTarget:
    path = f"{factory.__module__}:{name}"
    return PythonTarget(path, factory, path)
