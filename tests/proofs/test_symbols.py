"""What stands for all values: every way is walked, what has no encoding is refused, the rest is what Python does."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pytest
import z3

from perdure_proofs import symbols
from perdure_proofs.proving import compared, proved, verdict
from perdure_proofs.symbols import Number
from perdure_proofs.theorems import Any, Claim, Theorem, assume


@dataclass(frozen=True)
class Subject:
    larger: Callable[[int, int], int] = max


SUBJECT = Subject()
DRAW = random.Random(1)  # noqa: S311 - a seed draws the same


def claim(holds: Callable[[Subject, Any], bool]) -> Claim[Subject]:
    return Claim(holds.__name__, "", holds)


def two(values: Any) -> tuple[int, int]:
    return values.whole("one", -100, 100), values.whole("other", -100, 100)


@claim
def the_larger_is_one_of_both(subject: Subject, values: Any) -> bool:
    one, other = two(values)
    found = subject.larger(one, other)
    return found == one or found == other  # noqa: PLR1714 - what stands for all has no hash


@claim
def the_larger_is_no_smaller(subject: Subject, values: Any) -> bool:
    one, other = two(values)
    return subject.larger(one, other) >= other


def test_every_way_is_walked_and_proved() -> None:
    for each in (the_larger_is_one_of_both, the_larger_is_no_smaller):
        proof = proved(each, SUBJECT)
        assert proof.is_proved
        assert len(proof.ways) >= 2
        comparison = compared(each, SUBJECT, proof.ways, 500, DRAW)
        assert comparison.points >= 500
        assert not comparison.difference


def test_a_fault_gives_a_counterexample_that_python_confirms() -> None:
    proof = proved(the_larger_is_no_smaller, Subject(larger=min))
    assert proof.counterexample is not None
    values = proof.counterexample.values
    assert min(int(str(values["one"])), int(str(values["other"]))) < int(str(values["other"]))


def test_an_encoding_that_is_wrong_differs_from_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(one: Number, other: object) -> symbols.Truth:
        return symbols.Truth(one.term >= symbols.as_term(other))

    monkeypatch.setattr(Number, "__gt__", wrong)

    @claim
    def one_is_greater(_: Subject, values: Any) -> bool:
        one, other = two(values)
        return (one > other) == values.note("greater", one > other)

    proof = proved(one_is_greater, SUBJECT)
    assert proof.is_proved, "the claim says nothing about what greater means"
    assert "and Python" in compared(one_is_greater, SUBJECT, proof.ways, 500, DRAW).difference


def test_two_values_of_one_name_are_refused() -> None:
    """Else both would be one, within the bounds of both: perhaps nothing at all."""

    @claim
    def named_twice(_: Subject, values: Any) -> bool:
        return values.whole("one", 0, 5) < values.whole("one", 6, 9)

    assert "called one" in proved(named_twice, SUBJECT).doubt


def test_what_is_assumed_everywhere_away_proves_nothing() -> None:
    @claim
    def nothing_is_claimed(_: Subject, values: Any) -> bool:
        one, _other = two(values)
        assume(one > 100)
        return False

    assert proved(nothing_is_claimed, SUBJECT).doubt == "it applies to nothing"


def swallowed(number: int) -> str:
    try:
        return f"{number:d}"
    except Exception:  # noqa: BLE001 - so may a rule
        return ""


@pytest.mark.parametrize(
    "use",
    [
        lambda number: number == 1.0,
        range,
        lambda number: {number: 1},
        lambda number: [1, 2, 3][number],
        lambda number: 5 % number,
        lambda number: number % -2,
        lambda number: number & 1,
        lambda number: f"{number:d}",
        lambda number: number / 2,
        lambda number: number == Decimal(1),
        lambda number: Fraction(1) == number,
        lambda number: number != complex(1),
        lambda number: number.bit_length(),
        str,
        repr,
        lambda number: f"{number}" == "1",
        lambda number: f"{number == 1}",
        lambda number: str(number == 1),
        swallowed,
    ],
)
def test_what_has_no_encoding_is_refused(use: Callable[[int], object]) -> None:
    @claim
    def used(_: Subject, values: Any) -> bool:
        use(values.whole("number", -3, 3))
        return True

    assert proved(used, SUBJECT).doubt


def test_a_number_and_a_truth_are_what_python_takes_them_for() -> None:
    @claim
    def are_whole(_: Subject, values: Any) -> bool:
        number, other = two(values)
        truth = number == 7
        assert isinstance(number, int)
        assert not isinstance(number, bool | float | str)
        assert isinstance(truth, bool)
        assert number is not None
        assert (truth == 1) == (number == 7) == (not truth != 1)  # noqa: SIM202
        return (truth == other) == (other == (number == 7))

    proof = proved(are_whole, SUBJECT)
    assert proof.is_proved
    assert not compared(are_whole, SUBJECT, proof.ways, 500, DRAW).difference


def test_what_is_claimed_of_one_number_alone_is_refuted() -> None:
    @claim
    def is_another(_: Subject, values: Any) -> bool:
        return (values.whole("number", 0, 10**15) == 10**14 + 7) != 1

    found = proved(is_another, SUBJECT).counterexample
    assert found is not None
    assert found.values["number"] == 10**14 + 7


@pytest.mark.parametrize(
    "use",
    [
        len,
        str,
        repr,
        list,
        lambda name: name + "x",
        lambda name: f"{name}" == "name0",
        lambda name: name.startswith("n"),
        lambda name: name[0],
        lambda name: "n" in name,
        lambda name: name.upper(),
        lambda name: name > name,  # noqa: PLR0124
    ],
)
def test_all_else_of_a_name_is_refused(use: Callable[[str], object]) -> None:
    @claim
    def used(_: Subject, values: Any) -> bool:
        use(values.name("name"))
        return True

    assert proved(used, SUBJECT).doubt


def test_a_theorem_that_claims_nothing_is_not_proved() -> None:
    assert verdict(Theorem((), SUBJECT, {}), now=lambda: 0.0).doubts == ["it claims nothing"]


def test_a_plain_truth_is_one_as_python_has_it() -> None:
    @claim
    def one_more(_: Subject, values: Any) -> bool:
        number = values.whole("number", -3, 3)
        return number + True == number + 1 and (number == True) == (number == 1)  # noqa: E712

    assert proved(one_more, SUBJECT).is_proved


def test_names_are_equal_or_not_and_nothing_else() -> None:
    @claim
    def equal_names_are_one_key(_: Subject, values: Any) -> bool:
        one, other = values.name("one"), values.name("other")
        return ({one: 1}.get(other) == 1) == (one == other)

    assert proved(equal_names_are_one_key, SUBJECT).is_proved

    @claim
    def names_are_sorted(_: Subject, values: Any) -> bool:
        return values.name("one") <= values.name("other")

    assert proved(names_are_sorted, SUBJECT).doubt

    @claim
    def a_name_is_known(_: Subject, values: Any) -> bool:
        return values.name("one") == "known"

    assert "plain" in proved(a_name_is_known, SUBJECT).doubt


def test_a_rule_that_raises_is_refuted() -> None:
    def fails(one: int, other: int) -> int:
        assert one != other
        return max(one, other)

    counterexample = proved(the_larger_is_no_smaller, Subject(larger=fails)).counterexample
    assert counterexample is not None
    assert counterexample.values["one"] == counterexample.values["other"]


def test_z3_and_python_mean_the_same_by_each_operation() -> None:
    """`at` gives what Z3 gives, for every operation that a term can have, on terms that are drawn."""
    draw = random.Random(7)  # noqa: S311
    names = [z3.Int("one"), z3.Int("other")]
    for _ in range(400):
        number = drawn(draw, names, 3)
        point = {"one": draw.randint(-5, 5), "other": draw.randint(-5, 5)}
        where = [(name, z3.IntVal(point[str(name)])) for name in names]
        for term in (number, number < names[0], z3.Not(z3.Or(number == names[1], number >= 2)), number != names[0]):
            told = z3.simplify(z3.substitute(term, *where))
            expected = told.as_long() if z3.is_int_value(told) else z3.is_true(told)
            assert symbols.at(term)(point) == expected, term


def drawn(draw: random.Random, names: list[z3.ArithRef], depth: int) -> z3.ArithRef:
    if depth == 0:
        return draw.choice([*names, z3.IntVal(draw.randint(-3, 3))])
    one, other = drawn(draw, names, depth - 1), drawn(draw, names, depth - 1)
    return draw.choice([one + other, one - other, one * other, -one, one % draw.randint(1, 4)])


def test_numbers_of_json_are_the_same_however_they_are_spelt() -> None:
    @claim
    def true_may_be_one(_: Subject, values: Any) -> bool:
        return not (True == values.number("one"))  # noqa: E712, SIM201, SIM300 - it is asked from the left

    found = proved(true_may_be_one, SUBJECT).counterexample
    assert found is not None
    assert found.values["one"] == 1

    @claim
    def the_same_is_one_key(_: Subject, values: Any) -> bool:
        one, other = values.number("one"), values.number("other")
        return ({one: 1}.get(other) == 1) == (one == other)

    proof = proved(the_same_is_one_key, SUBJECT)
    assert proof.is_proved
    assert not compared(the_same_is_one_key, SUBJECT, proof.ways, 500, DRAW).difference


@pytest.mark.parametrize(
    "use",
    [
        lambda number: number < 1,
        lambda number: number + 1,
        bool,
        int,
        repr,
        float,
        lambda number: f"{number}",
        lambda number: number == 0.5,
        lambda number: number == Decimal(1),
        lambda number: divmod(number, 2),
        lambda number: number.real,
        lambda number: number.is_integer(),
        lambda number: number.hex(),
    ],
)
def test_all_else_of_a_number_of_json_is_refused(use: Callable[[float], object]) -> None:
    @claim
    def used(_: Subject, values: Any) -> bool:
        use(values.number("number"))
        return True

    assert proved(used, SUBJECT).doubt


def test_what_is_known_of_powers_is_so() -> None:
    """Python has each fact that Z3 is told of a power among the conditions of its way, and finds it true."""

    @claim
    def powers_grow(_: Subject, values: Any) -> bool:
        base, exponent = values.whole("base", 1, 9), values.whole("exponent", 0, 60)
        one, more, most = base**exponent, base ** (exponent + 1), base**53
        return bool(more == base * one) and bool(exponent > 53 or one <= most)

    proof = proved(powers_grow, SUBJECT)
    assert proof.is_proved
    comparison = compared(powers_grow, SUBJECT, proof.ways, 500, DRAW)
    assert comparison.points >= 500
    assert not comparison.difference

    @claim
    def a_power_of_what_may_be_zero(_: Subject, values: Any) -> bool:
        return values.whole("base", 0, 9) ** 2 >= 0

    assert "power" in proved(a_power_of_what_may_be_zero, SUBJECT).doubt


def test_an_interruption_is_heard_while_z3_thinks() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    one, other, third = z3.Ints("one other third")
    solver = symbols.solver_of(1_000)
    solver.add(one**3 + other**3 + third**3 == 114)  # Nobody knows.
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        assert solver.check() == z3.unknown
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]
