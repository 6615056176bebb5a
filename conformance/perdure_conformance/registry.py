"""Broken implementations and odd good ones, and how a profile registers them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from perdure_conformance.harness.targets import Subjects, Target

Factory = TypeVar("Factory", bound=type)


@dataclass(frozen=True, slots=True)
class Mutant:
    """An implementation with one fault, named after it."""

    target: Target
    name: str
    breaks: str
    """The requirement whose checks must find it."""
    overlaps: tuple[str, ...]
    """Requirements that the fault breaks too, in other ways."""
    report: str
    fault: str


@dataclass(frozen=True, slots=True)
class Twin:
    """An implementation that is good: unusual, or built in."""

    target: Target
    name: str
    oddity: str


class Registry:
    """The mutants and the twins of one profile, by name. Each is a class whose constructor is a factory."""

    def __init__(self, subjects: Subjects) -> None:
        self.mutants: dict[str, Mutant] = {}
        self.twins: dict[str, Twin] = {}
        self._subjects = subjects

    def mutant(self, breaks: str, *, overlaps: tuple[str, ...] = (), report: str = "") -> Callable[[Factory], Factory]:
        """Register what breaks a requirement; the first line of its docstring says how."""

        def register(factory: Factory) -> Factory:
            target, name = self._subjects.of(factory), factory.__name__
            self.mutants[name] = Mutant(target, name, breaks, overlaps, report, _first_line(factory))
            return factory

        return register

    def twin(self, factory: Factory) -> Factory:
        """Register what is unusual, and right; the first line of its docstring says what is odd."""
        self.twins[factory.__name__] = Twin(self._subjects.of(factory), factory.__name__, _first_line(factory))
        return factory


def _first_line(factory: type) -> str:
    return (factory.__doc__ or "").strip().partition("\n")[0]
