"""Theorems: what is claimed of the rules of the model for all values, and the faults that it must refute.

A claim is an ordinary function: given rules and any values, it says whether something holds. `Any` is where the values
come from. Z3 proves it for all of them (`Symbolic`), Python runs it on some (`Drawn`) and on a counterexample (`Told`).
So what is proved, what is compared and what is confirmed is one text.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from pkgutil import walk_packages
from types import MappingProxyType
from typing import Any as Untyped
from typing import Final, Generic, Protocol, TypeVar

from perdure.kernel.rules import RULES, Rules
from perdure_proofs import symbols

S = TypeVar("S")
T = TypeVar("T")


class Any(Protocol):
    """Where a claim takes its values from. Each has a name, which tells it in a counterexample."""

    def whole(self, name: str, low: int, high: int) -> int:
        """Return any whole number from `low` to `high`."""
        ...

    def among(self, name: str, values: Sequence[T]) -> T:
        """Return any one of these."""
        ...

    def name(self, name: str) -> str:
        """Return any name: it is equal to another one, or not."""
        ...

    def number(self, name: str) -> float:
        """Return any number of JSON, however it is spelt: it is equal to another one, or not."""
        ...

    def identity(self, name: str) -> str:
        """Return any canonical UUID: it is equal to another one, or not."""
        ...

    def note(self, call: str, answer: T) -> T:
        """Keep what a rule answered, to be compared, and return it."""
        ...


def assume(condition: bool) -> None:  # noqa: FBT001 - it reads as a sentence
    """Say what is taken for granted: where it does not hold, nothing is claimed."""
    symbols.assume(condition)


Holds = Callable[[S, Any], bool]


@dataclass(frozen=True, slots=True)
class Claim(Generic[S]):
    """One thing that a theorem claims."""

    name: str
    sentence: str
    holds: Holds[S]


@dataclass(slots=True, eq=False)
class Theorem(Generic[S]):
    """Something that holds for all values; one module has it, and says in prose what and why."""

    requirements: tuple[str, ...]
    """Those that lean on it."""
    subject: S
    """The rules that it is about: those of the model."""
    mutants: Mapping[str, S]
    """The same rules with a fault, by name: each must be refuted."""
    invariant: int | None = None
    """The number of the invariant that it is the proof of, in `perdure.kernel.invariants`."""
    assumptions: tuple[str, ...] = ()
    """What the model outside these rules is taken to do, each in a sentence that says what checks it."""
    claims: list[Claim[S]] = field(default_factory=list)
    name: str = ""
    """That of its module."""
    text: str = ""
    """What its module says, in prose."""

    @property
    def sentence(self) -> str:
        """What it says, in one sentence."""
        return self.text.partition("\n")[0]

    def claim(self, holds: Holds[S]) -> Holds[S]:
        """Claim what a function says, for all values; the first line of its docstring is the claim in words."""
        sentence = inspect.cleandoc(holds.__doc__ or "").partition("\n")[0]
        self.claims.append(Claim(holds.__name__, sentence, holds))
        return holds


def about_rules(
    *requirements: str,
    mutants: Mapping[str, Rules],
    invariant: int | None = None,
    assumptions: tuple[str, ...] = (),
) -> Theorem[Rules]:
    """Return a theorem about the rules of the kernel."""
    return Theorem(requirements, RULES, mutants, invariant, assumptions)


def theorems() -> dict[str, Theorem[Untyped]]:
    """Return all theorems by name, in the order of their names."""
    found = {}
    for place in walk_packages(import_module(__package__).__path__, f"{__package__}."):
        module = import_module(place.name)
        theorem = getattr(module, "THEOREM", None)
        if isinstance(theorem, Theorem):
            theorem.name = place.name.removeprefix(f"{__package__}.")
            theorem.text = inspect.cleandoc(module.__doc__ or "")
            found[theorem.name] = theorem
    return found


UNNOTED: Final = MappingProxyType({"is_noted": False})
"""Says of a function of a subject that its answers are too large to be noted: a claim notes what matters of them."""


class Watched:
    """Rules, such that what each of them answers is noted; those too that a subject has within."""

    def __init__(self, rules: object, note: Callable[[str, object], object], asked: set[str]) -> None:
        """Watch rules; `asked` gets the names of those that are looked up, tables too."""
        self._rules, self._note, self._asked = rules, note, asked
        assert is_dataclass(rules)
        self._unnoted = {each.name for each in fields(rules) if not each.metadata.get("is_noted", True)}
        self._found: dict[str, object] = {}

    def __getattr__(self, name: str) -> object:
        """Return a rule that notes its answers, or a table."""
        self._asked.add(name)
        if name not in self._found:
            self._found[name] = self._watched(name)
        return self._found[name]

    def _watched(self, name: str) -> object:
        rule = getattr(self._rules, name)
        if isinstance(rule, Rules):
            return Watched(rule, self._note, self._asked)
        if not callable(rule) or name in self._unnoted:
            return rule
        return lambda *given, **named: self._note(name, rule(*given, **named))


class Symbolic:
    """Values that stand for all."""

    def __init__(self, walk: symbols.Walk) -> None:
        self._walk = walk

    def whole(self, name: str, low: int, high: int) -> int:
        """Return what stands for all numbers."""
        return symbols.whole(name, low, high)

    def among(self, name: str, values: Sequence[T]) -> T:
        """Return each of them, on a way of its own."""
        number = self._walk.choose(len(values))
        self._walk.way.choices[self._walk.unused(name)] = number
        return values[number]

    def name(self, name: str) -> str:
        """Return what stands for all names."""
        return symbols.name(name)

    def number(self, name: str) -> float:
        """Return what stands for all numbers of JSON."""
        return symbols.figure(name)

    def identity(self, name: str) -> str:
        """Return what stands for all identities."""
        return symbols.identity(name)

    def note(self, call: str, answer: T) -> T:
        """Keep what a rule answered on this way."""
        self._walk.way.calls.append((call, answer))
        return answer


@dataclass(slots=True)
class Told:
    """Values that are told, by name; what is not told is the first there is."""

    point: symbols.Point
    shown: dict[str, object] = field(default_factory=dict)
    """The values as they were given out: a counterexample in words."""
    choices: dict[str, int] = field(default_factory=dict)
    calls: list[tuple[str, object]] = field(default_factory=list)

    def whole(self, name: str, low: int, high: int) -> int:
        """Return the number of this name; nothing is claimed of one out of bounds."""
        number = self.point.get(name, low)
        assume(low <= number <= high)
        self.shown[name] = number
        return number

    def among(self, name: str, values: Sequence[T]) -> T:
        """Return the one of this number."""
        number = self.point.get(name, 0)
        self.choices[name], self.shown[name] = number, values[number]
        return values[number]

    def name(self, name: str) -> str:
        """Return the name of this number."""
        found = symbols.name_text(self.point.get(name, 0))
        self.shown[name] = found
        return found

    def identity(self, name: str) -> str:
        """Return the identity of this number."""
        found = symbols.identity_text(self.point.get(name, 0))
        self.shown[name] = found
        return found

    def number(self, name: str) -> float:
        """Return the number of JSON of this number, in the spelling of that number."""
        found = symbols.SPELLINGS[self.point.get(f"{name}, spelt", 0)](self.point.get(name, 0))
        self.shown[name] = found
        return found

    def note(self, call: str, answer: T) -> T:
        """Keep what a rule answered."""
        self.calls.append((call, answer))
        return answer


_NEAR: Final = 3
_NAMES: Final = 3


@dataclass(slots=True)
class Drawn(Told):
    """Values that are drawn: near those of a known point, and near the bounds rather than far from them."""

    draw: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        known = list(self.point)
        most = self.draw.randint(0, len(known))  # Where much is assumed, most of what differs in much does not apply.
        changed = self.draw.sample(known, min(self.draw.randint(1, most + 1), len(known)))
        self.point: dict[str, int] = {name: number for name, number in self.point.items() if name not in changed}

    def whole(self, name: str, low: int, high: int) -> int:
        """Draw a number, unless that of the known point is kept."""
        assume(low <= high)
        if name not in self.point:
            self.point[name] = self._number(low, high)
        return Told.whole(self, name, low, high)

    def _number(self, low: int, high: int) -> int:
        near = self.draw.randint(0, min(_NEAR, high - low))
        return self.draw.choice((low + near, high - near, self.draw.randint(low, high)))

    def among(self, name: str, values: Sequence[T]) -> T:
        """Draw one of them, unless that of the known point is kept."""
        self.point.setdefault(name, self.draw.randrange(len(values)))
        return Told.among(self, name, values)

    def name(self, name: str) -> str:
        """Draw one of a few names, so that some are equal."""
        self.point.setdefault(name, self.draw.randrange(_NAMES))
        return Told.name(self, name)

    def number(self, name: str) -> float:
        """Draw one of a few numbers, in any spelling."""
        self.point.setdefault(name, self.draw.randrange(_NAMES))
        self.point.setdefault(f"{name}, spelt", self.draw.randrange(len(symbols.SPELLINGS)))
        return Told.number(self, name)

    def identity(self, name: str) -> str:
        """Draw one of a few identities, so that some are equal."""
        self.point.setdefault(name, self.draw.randrange(_NAMES))
        return Told.identity(self, name)
