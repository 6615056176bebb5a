"""Contracts of leaf functions: what holds of one of them for all values of its types.

A contract is an ordinary function: given a leaf of the model and any values of the types that it asks for, it says
whether something holds; `assume(…)` says where nothing is claimed. `confirming` has CrossHair look at it. Each module
is about one subject.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any as Untyped
from typing import Concatenate, Generic, ParamSpec, TypeVar

from perdure_proofs.theorems import assume

T = TypeVar("T")
Leaf = TypeVar("Leaf")
Values = ParamSpec("Values")


@dataclass(frozen=True, slots=True)
class Contract(Generic[Leaf]):
    """What holds of a leaf of the model."""

    requirements: tuple[str, ...]
    """Those that lean on it."""
    leaf: Leaf
    """The model's own function."""
    mutants: Mapping[str, Leaf]
    """The same function with a fault, by name: each must be refuted."""
    holds: Callable[..., bool]
    """Given a leaf and values, whether it holds; the types of the values are those of its parameters."""

    @property
    def name(self) -> str:
        """That of its module and its function."""
        return f"{self.holds.__module__.removeprefix(f'{__package__}.')}.{self.holds.__name__}"

    @property
    def sentence(self) -> str:
        """What it says, in one sentence."""
        return inspect.cleandoc(self.holds.__doc__ or "").partition("\n")[0]


def contract(
    *requirements: str, leaf: Leaf, mutants: Mapping[str, Leaf]
) -> Callable[[Callable[Concatenate[Leaf, Values], bool]], Contract[Leaf]]:
    """Make a contract of a function; the first line of its docstring is the contract in words."""
    return lambda holds: Contract(requirements, leaf, mutants, holds)


def one_of(values: Sequence[T], number: int) -> T:
    """Return any one of a few values, by its number."""
    assume(0 <= number < len(values))
    return next(value for place, value in enumerate(values) if place == number)


def contracts() -> list[Contract[Untyped]]:
    """Return all contracts, module by module, each in the order in which it has them."""
    modules = [import_module(f"{__package__}.{place.name}") for place in iter_modules(__path__)]
    return [each for module in modules for each in vars(module).values() if isinstance(each, Contract)]
