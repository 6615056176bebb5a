"""Symbolic values: numbers and names that stand for all that they can be, and every way through a function on them.

A function of the model runs on them as it is. Where it asks whether something holds, the way forks: each way through
ends with what was returned, under the conditions that lead there. So the encoding of a rule is made by the rule.

A symbolic value stands in for a plain one: `int` and `str` are what it is typed as, and what it does not understand it
refuses, rather than to answer for one value. What it cannot notice is `is` and `type()`, digits once they are in a
sentence, and a name in a set of plain ones: where these matter, only the comparison with Python tells.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NoReturn, Self, TypeVar, cast

import msgspec
import z3

from perdure.kernel.errors import Corruption

T = TypeVar("T")

_MOST_WAYS: Final = 20_000
_LONGEST_MS: Final = 5_000
RAISED: Final = (AssertionError, ArithmeticError, LookupError, ValueError, Corruption)
"""What a rule raises that is broken: then a claim does not hold."""


class UnsupportedError(BaseException):
    """The function does with a symbolic value what has no encoding. No `except` of the model takes it for an error."""


class DoesNotApply(BaseException):
    """What is assumed does not hold here. No `except` of the model takes it for an error."""


POWER: Final = z3.Function("power", z3.IntSort(), z3.IntSort(), z3.IntSort())
"""A whole number of at least 1 to a power: Z3 knows of it what `_learn_power` says."""
_LARGE: Final = 53
"""Two to this power is more than any number of a run."""

Point = Mapping[str, int]
"""The number of each choice and the value of each symbol of one case; names are numbers here."""

_OPERATIONS: Final[Mapping[int, Callable[..., int]]] = {
    z3.Z3_OP_TRUE: lambda: True,
    z3.Z3_OP_FALSE: lambda: False,
    z3.Z3_OP_NOT: operator.not_,
    z3.Z3_OP_AND: lambda *all_of: all(all_of),
    z3.Z3_OP_OR: lambda *any_of: any(any_of),
    z3.Z3_OP_EQ: operator.eq,
    z3.Z3_OP_DISTINCT: operator.ne,
    z3.Z3_OP_LT: operator.lt,
    z3.Z3_OP_LE: operator.le,
    z3.Z3_OP_GT: operator.gt,
    z3.Z3_OP_GE: operator.ge,
    z3.Z3_OP_ADD: lambda *terms: sum(terms),
    z3.Z3_OP_SUB: lambda first, *rest: first - sum(rest),
    z3.Z3_OP_MUL: lambda *factors: math.prod(factors),
    z3.Z3_OP_UMINUS: operator.neg,
    z3.Z3_OP_MOD: operator.mod,
    z3.Z3_OP_IMPLIES: operator.le,
}
"""What Z3 means by its operations; the remainder by a positive number alone."""


@cache
def at(term: z3.ExprRef) -> Callable[[Point], int]:
    """Return what gives the value of a term at a point."""
    if z3.is_int_value(term):
        number: int = term.as_long()
        return lambda _: number
    if z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
        name = term.decl().name()
        return lambda point: point[name]
    is_power = term.decl().eq(POWER)
    do, parts = operator.pow if is_power else _OPERATIONS[term.decl().kind()], [at(part) for part in term.children()]
    if len(parts) == 2:
        one, other = parts
        return lambda point: do(one(point), other(point))
    return lambda point: do(*(part(point) for part in parts))


@dataclass(slots=True)
class Way:
    """One way through a function."""

    choices: dict[str, int] = field(default_factory=dict)
    """The number of each value that was taken out of a finite choice, by the name of the choice."""
    symbols: dict[str, z3.ExprRef] = field(default_factory=dict)
    """The symbolic values that stood for all, by name."""
    conditions: list[z3.BoolRef] = field(default_factory=list)
    """What holds on this way, and on no other."""
    calls: list[tuple[str, object]] = field(default_factory=list)
    """What the rules answered that were asked, in order."""
    value: object = None
    """What was returned; or the exception that was raised."""


@dataclass(slots=True)
class Ways:
    """Ways that fork from one: what leads to many of them is asked once."""

    ending: list[Way] = field(default_factory=list)
    """Those on which nothing more is asked."""
    further: dict[Callable[[Point], int], Ways] = field(default_factory=dict)
    """Those that go on, by what holds next on them."""

    def add(self, way: Way) -> None:
        """Add a way, at the end of its conditions."""
        place = self
        for condition in way.conditions:
            place = place.further.setdefault(at(condition), Ways())
        place.ending.append(way)

    def of(self, point: Point) -> Iterator[Way]:
        """Yield every way that leads to a point."""
        yield from self.ending
        for holds, ways_from_here in self.further.items():
            if holds(point):
                yield from ways_from_here.of(point)


class Walk:
    """The walk of one way: at each fork it turns as it is told to, then as it can."""

    def __init__(self, told: tuple[int, ...], waiting: list[tuple[int, ...]], solver: z3.Solver) -> None:
        self.way = Way()
        self.powers: list[tuple[z3.ArithRef, z3.ArithRef]] = []
        self._told = told
        self._turns: list[int] = []
        self._waiting = waiting
        self._solver = solver

    def unused(self, name: str) -> str:
        """Return a name that no other value of this way has: else both would be one."""
        if name in self.way.symbols or name in self.way.choices:
            raise UnsupportedError(f"two values of one claim are called {name}")
        return name

    def know(self, term: z3.BoolRef) -> None:
        """Go on where this holds, which is somewhere."""
        self.way.conditions.append(term)
        self._solver.add(term)

    def assume(self, term: z3.BoolRef) -> None:
        """Go on only where this holds."""
        self.know(term)
        if len(self._turns) >= len(self._told) and not self._can(term):
            raise DoesNotApply

    def must(self, term: z3.BoolRef) -> bool:
        """Tell whether it holds on every way from here."""
        return not self._can(z3.Not(term))

    def fork(self, term: z3.BoolRef) -> bool:
        """Return whether it holds: on one way it does, on another it does not."""
        settled = z3.simplify(term)
        if z3.is_true(settled) or z3.is_false(settled):
            return bool(z3.is_true(settled))
        negated = z3.Not(term)
        if len(self._turns) < len(self._told):
            turn = self._told[len(self._turns)]
        else:
            turn = int(self._can(term))
            if turn and self._can(negated):
                self._waiting.append((*self._turns, 0))
        self._turns.append(turn)
        self.way.conditions.append(term if turn else negated)
        self._solver.add(term if turn else negated)
        return bool(turn)

    def choose(self, number: int) -> int:
        """Return a number from 0 to one less: each of them, on ways of their own."""
        if len(self._turns) < len(self._told):
            turn = self._told[len(self._turns)]
        else:
            turn = 0
            self._waiting.extend((*self._turns, other) for other in range(number - 1, 0, -1))
        self._turns.append(turn)
        return turn

    def _can(self, term: z3.BoolRef) -> bool:
        return bool(self._solver.check(term) != z3.unsat)


_walk: ContextVar[Walk] = ContextVar("walk")


def solver_of(timeout_ms: int) -> z3.Solver:
    """Return a solver that gives up after a while, and leaves Ctrl-C to Python."""
    found = z3.Solver()
    found.set("timeout", timeout_ms)
    found.set("ctrl_c", False)  # noqa: FBT003 - else Z3 takes the signal for an answer, and nobody else hears of it
    return found


def ways(function: Callable[[Walk], T]) -> Iterator[Way]:
    """Yield every way through a function, but those on which it does not apply."""
    waiting: list[tuple[int, ...]] = [()]
    walked = 0
    while waiting:
        walked += 1
        if walked > _MOST_WAYS:
            raise UnsupportedError(f"there are more than {_MOST_WAYS:,} ways through it")
        solver = solver_of(_LONGEST_MS)  # Where Z3 does not know, both ways are walked.
        walk = Walk(waiting.pop(), waiting, solver)
        token = _walk.set(walk)
        try:
            walk.way.value = function(walk)
        except DoesNotApply:
            continue
        except (TypeError, AttributeError) as error:
            raise UnsupportedError(f"a symbolic value is used as what it is not: {error}") from error
        except RAISED as raised:
            walk.way.value = raised
        finally:
            _walk.reset(token)
        yield walk.way


def whole(name: str, low: int, high: int) -> int:
    """Return what stands for every whole number from `low` to `high`."""
    walk, term = _walk.get(), _whole(name)
    walk.way.symbols[walk.unused(name)] = term
    if type(low) is int and type(high) is int and low <= high:
        walk.know(_within(name, low, high))
    else:
        walk.assume(z3.And(term >= as_term(low), term <= as_term(high)))
    return cast("int", Number(term))


@cache
def _whole(name: str) -> z3.ArithRef:
    """Return the term of this name: to make one takes longer than to run a rule."""
    return z3.Int(name)


@cache
def _within(name: str, low: int, high: int) -> z3.BoolRef:
    return z3.And(_whole(name) >= low, _whole(name) <= high)


def assume(condition: object) -> None:
    """Go on only where this holds."""
    if isinstance(condition, Truth):
        _walk.get().assume(condition.term)
    elif not condition:
        raise DoesNotApply


def name(name: str) -> str:
    """Return what stands for every name but those that are written out: it is equal to another one, or not."""
    found, walk = _Name(_whole(name), name_text), _walk.get()
    walk.way.symbols[walk.unused(name)] = found.term
    return found


def identity(name: str) -> str:
    """Return what stands for every canonical UUID: it is equal to another one, or not."""
    found = _Identity(_whole(name), identity_text)
    walk = _walk.get()
    walk.way.symbols[walk.unused(name)] = found.term
    walk.assume(_within(name, 0, IDENTITIES - 1))
    return found


IDENTITIES: Final = 2**48
"""How many identities there are: those that differ in their last twelve digits alone."""


def name_text(number: int) -> str:
    """Return the name of a number."""
    return f"name{number}"


def identity_text(number: int) -> str:
    """Return the identity of a number: whatever is asked but whether two are the same, all of them answer alike."""
    return f"00000000-0000-4000-8000-{number:012x}"


def as_term(value: object) -> z3.ExprRef:
    """Return a value as a term."""
    match value:
        case _Symbol() | _Name():
            return value.term
        case bool():
            return z3.BoolVal(value)
        case int():
            return z3.IntVal(value)
        case _:
            raise UnsupportedError(f"there is no term for {value!r}")


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise UnsupportedError(f"{type(self).__name__.strip('_')}: its digits or letters are asked for, or what they give")


class _Symbol:
    """What stands for a value that is a term."""

    __slots__ = ("_at", "term")
    __hash__ = None  # type: ignore[assignment]
    __str__ = __repr__ = _refuse

    def __init__(self, term: z3.ExprRef) -> None:
        self.term = term
        self._at: Callable[[Point], int] | None = None

    def at(self, point: Point) -> int:
        """Return its value at a point."""
        if self._at is None:
            self._at = at(self.term)
        return self._at(point)


class Truth(_Symbol):
    """What stands for whether something holds."""

    __slots__ = ()
    __hash__ = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Say that it is a truth, to whoever asks."""
        return bool

    def __bool__(self) -> bool:
        return _walk.get().fork(self.term)

    def __int__(self) -> int:
        return int(bool(self))

    def __and__(self, other: object) -> bool:
        """Return whether both hold, which is no fork, as it is with `and`."""
        if isinstance(other, bool | Truth):
            return cast("bool", Truth(z3.And(self.term, as_term(other))))
        return NotImplemented

    __rand__ = __and__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, bool | Truth):
            return cast("bool", Truth(self.term == as_term(other)))
        return operator.eq(int(self), other) if isinstance(other, numbers.Number) else NotImplemented

    def __ne__(self, other: object) -> bool:
        if isinstance(other, bool | Truth):
            return cast("bool", Truth(self.term != as_term(other)))
        return operator.ne(int(self), other) if isinstance(other, numbers.Number) else NotImplemented


Arithmetic = Callable[[z3.ArithRef, z3.ArithRef], z3.ArithRef]


def _arithmetic(do: Arithmetic) -> Callable[[Number, object], Number]:
    def method(self: Number, other: object) -> Number:
        return Number(do(self.term, _as_number(other))) if isinstance(other, int | float | Number) else NotImplemented

    return method


def _comparison(do: Arithmetic) -> Callable[[Number, object], bool]:
    def method(self: Number, other: object) -> bool:
        if isinstance(other, int | float | Number):
            return cast("bool", Truth(do(self.term, _as_number(other))))
        return cast("bool", NotImplemented)

    return method


def _sameness(do: Arithmetic) -> Callable[[Number, object], bool]:
    compared = _comparison(do)

    def method(self: Number, other: object) -> bool:
        if isinstance(other, numbers.Number) and not isinstance(other, int):
            raise UnsupportedError(f"a whole number meets what is {type(other).__name__}")
        return compared(self, other)

    return method


def _as_number(value: object) -> z3.ArithRef:
    if isinstance(value, float):
        raise UnsupportedError(f"a whole number meets {value!r}")
    return z3.IntVal(int(value)) if isinstance(value, bool) else as_term(value)  # To Python, True is 1.


_TOLD: Final[dict[str, _Symbol | _Name]] = {}
"""What stands in a sentence, by the mark in its place."""
_MARK: Final = re.compile("⟨[a-z_]*[0-9]+⟩")


class Number(_Symbol):
    """What stands for a whole number."""

    __slots__ = ()
    __hash__ = None

    __add__ = _arithmetic(lambda one, other: one + other)
    __radd__ = _arithmetic(lambda one, other: other + one)
    __sub__ = _arithmetic(lambda one, other: one - other)
    __rsub__ = _arithmetic(lambda one, other: other - one)
    __mul__ = _arithmetic(lambda one, other: one * other)
    __rmul__ = _arithmetic(lambda one, other: other * one)
    __lt__ = _comparison(lambda one, other: one < other)
    __le__ = _comparison(lambda one, other: one <= other)
    __gt__ = _comparison(lambda one, other: one > other)
    __ge__ = _comparison(lambda one, other: one >= other)
    __eq__ = _sameness(lambda one, other: one == other)
    __ne__ = _sameness(lambda one, other: one != other)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Say that it is a whole number, to whoever asks."""
        return int

    def __neg__(self) -> Number:
        return Number(-self.term)

    def __bool__(self) -> bool:
        return _walk.get().fork(self.term != 0)

    def __format__(self, form: str) -> str:
        """Return what stands for its digits in a sentence, which is for people: none is compared with another."""
        if form:
            raise UnsupportedError("a symbolic number is told in another form than its digits")
        mark = f"⟨{self.term.get_id()}⟩"
        _TOLD[mark] = self
        return _Digits(mark)

    def __mod__(self, other: object) -> Number:
        if not isinstance(other, int | Number):
            return NotImplemented
        if not _walk.get().must(_as_number(other) > 0):  # Elsewhere Python and Z3 disagree.
            raise UnsupportedError("the divisor of a remainder may be less than 1")
        return Number(self.term % _as_number(other))

    def __pow__(self, other: object) -> Number:
        return _power(self, other) if isinstance(other, int | Number) else NotImplemented

    def __rpow__(self, other: object) -> Number:
        return _power(other, self) if isinstance(other, int) else NotImplemented


def _power(base: object, exponent: object) -> Number:
    walk, one, other = _walk.get(), _as_number(base), _as_number(exponent)
    if not walk.must(z3.And(one >= 1, other >= 0)):
        raise UnsupportedError("a power of a number less than 1, or to one less than 0")
    _learn_power(walk, one, other)
    return Number(POWER(one, other))


def _learn_power(walk: Walk, base: z3.ArithRef, exponent: z3.ArithRef) -> None:
    """Say what is true of a power, alone and beside others of the same base."""
    found = POWER(base, exponent)
    facts = [
        found >= 1,
        z3.Implies(exponent == 0, found == 1),
        z3.Implies(exponent >= 1, found >= base),
        z3.Implies(base == 1, found == 1),
        z3.Implies(z3.And(base >= 2, exponent >= _LARGE), found >= 2**_LARGE),
    ]
    if z3.is_int_value(exponent) and exponent.as_long() <= _LARGE:
        facts.append(z3.Implies(base == 2, found == 2 ** exponent.as_long()))
        facts.append(z3.Implies(base >= 3, found >= 3 ** exponent.as_long()))
    for known, other in walk.powers:
        if known.eq(base):
            facts.append(z3.Implies(exponent == other + 1, found == base * POWER(base, other)))
            facts.append(z3.Implies(other == exponent + 1, POWER(base, other) == base * found))
            facts.append(z3.Implies(exponent <= other, found <= POWER(base, other)))
            facts.append(z3.Implies(other <= exponent, POWER(base, other) <= found))
    walk.powers.append((base, exponent))
    for fact in facts:
        walk.know(fact)


_ASKED: Final = {
    "__str__",
    "__repr__",
    "__format__",
    "__hash__",
    *(f"__{each}__" for each in ["eq", "ne", "lt", "le", "gt", "ge"]),
}
_PLAIN: Final = frozenset(dir(object)) - _ASKED


def _refusing(kind: type) -> Callable[[type[T]], type[T]]:
    """Refuse all that a kind of value does, but what a class says itself: the kind would answer for one value."""

    def made(of: type[T]) -> type[T]:
        for each in dir(kind):
            if each not in _PLAIN and each not in vars(of):
                setattr(of, each, property(_refuse) if not callable(getattr(kind, each)) else _refuse)
        return of

    return made


@_refusing(str)
class _Digits(str):
    """What stands for the digits of a number, or a name, before they are in a sentence."""

    __slots__ = ()


@_refusing(str)
class _Name(str):
    """What stands for a name. All that it does is to be another one, or the same.

    In a set or a dictionary of plain names it is never found: it stands for those that are not written out.
    """

    __slots__ = ("_at", "_text", "term")
    term: z3.ArithRef
    _text: Callable[[int], str]
    _at: Callable[[Point], int]

    def __new__(cls, term: z3.ArithRef, text: Callable[[int], str]) -> Self:
        found = super().__new__(cls, text(0))
        found.term, found._text, found._at = term, text, at(term)
        return found

    def at(self, point: Point) -> str:
        """Return the name that it is at a point."""
        return self._text(self._at(point))

    def __format__(self, form: str) -> str:
        """Return what stands for it in a sentence, which is for people."""
        if form:
            raise UnsupportedError("a symbolic name is told in another form")
        mark = f"⟨{self._text.__name__}{self.term.get_id()}⟩"
        _TOLD[mark] = self
        return _Digits(mark)

    def __hash__(self) -> int:
        return 0  # In a dictionary of names, the comparison decides.

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Name):
            return cast("bool", Truth(self.term == other.term))
        if isinstance(other, str):
            raise UnsupportedError("a symbolic name is compared with a plain one")
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other


class _Identity(_Name):
    """What stands for a canonical UUID. Its form is that of all."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(identity_text(0))

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        """Return the bytes of one: that there are any, and how many, is what they have in common."""
        return super(_Name, self).encode(encoding, errors)


SPELLINGS: Final[tuple[Callable[[int], float], ...]] = (int, float, lambda number: -float(-number))
"""How a number of JSON may be spelt: 1, 1.0; 0, 0.0, and −0.0 too."""


@_refusing(float)
class _Figure(float):
    """What stands for a number of JSON, however it is spelt. All that it does is to be another one, or the same.

    It is no `int`, so that it is always asked itself, even if it stands to the right of `True` or of 1.
    """

    __slots__ = ("spelling", "term")
    term: z3.ArithRef
    spelling: z3.ArithRef

    def __new__(cls, term: z3.ArithRef, spelling: z3.ArithRef) -> Self:
        found = super().__new__(cls, math.nan)
        found.term, found.spelling = term, spelling
        return found

    def at(self, point: Point) -> float:
        """Return the number that it is at a point."""
        return SPELLINGS[at(self.spelling)(point)](at(self.term)(point))

    def __hash__(self) -> int:
        return 0  # In a dictionary of symbolic ones, the comparison decides.

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Figure):
            return cast("bool", Truth(self.term == other.term))
        if not isinstance(other, _Symbol) and isinstance(other, int | float) and other == other // 1:
            return cast("bool", Truth(self.term == int(other)))
        if isinstance(other, numbers.Number):
            raise UnsupportedError(f"a symbolic number of JSON meets what is {type(other).__name__}")
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other


def figure(name: str) -> float:
    """Return what stands for every number of JSON: it is equal to another one or not, however both are spelt."""
    walk, spelt = _walk.get(), f"{name}, spelt"
    found = _Figure(_whole(name), _whole(spelt))
    walk.way.symbols[walk.unused(name)], walk.way.symbols[walk.unused(spelt)] = found.term, found.spelling
    walk.know(_within(spelt, 0, len(SPELLINGS) - 1))
    return found


def evaluated(value: object, point: Point) -> object:
    """Return a value with numbers in place of what stands for them."""
    match value:
        case _Symbol() | _Name() | _Figure():
            return value.at(point)
        case str():
            return _MARK.sub(lambda mark: f"{_TOLD[mark[0]].at(point)}", value)
        case tuple() if hasattr(value, "_make"):
            return value._make(evaluated(each, point) for each in value)
        case tuple():
            return tuple(evaluated(each, point) for each in value)
        case list():
            return [evaluated(each, point) for each in value]
        case dict():
            return {evaluated(key, point): evaluated(each, point) for key, each in value.items()}
        case msgspec.Struct():
            fields = {each: evaluated(getattr(value, each), point) for each in value.__struct_fields__}
            return msgspec.structs.replace(value, **fields)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            shown = {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.init}
            return dataclasses.replace(value, **{key: evaluated(each, point) for key, each in shown.items()})
        case _:
            return value
