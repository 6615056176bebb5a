"""Proving: a theorem by Z3, for all values; its encoding against Python, on many; its mutants, by a counterexample.

Source: CONTRIBUTING.md, "A theorem".
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any as Untyped
from typing import Final, Literal, TypeVar, cast

import z3

from perdure_proofs.symbols import (
    RAISED,
    DoesNotApply,
    Point,
    Truth,
    UnsupportedError,
    Walk,
    Way,
    Ways,
    evaluated,
    solver_of,
    ways,
)
from perdure_proofs.theorems import Claim, Drawn, Symbolic, Theorem, Told, Watched

S = TypeVar("S")

LIMIT_S: Final = 60.0
"""How long a theorem may take: proof, comparison, mutants."""
POINTS: Final = 20_000
"""On how many points, at least, an encoding is compared with Python where it has not finitely many."""
_MOST_DRAWS: Final = 20
"""How often a point is drawn, at most, for each that is wanted: some are not what is assumed."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Values for which a claim does not hold, by Z3 and by Python."""

    claim: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of one claim on one subject."""

    ways: Sequence[Way]
    counterexample: Counterexample | None
    doubt: str
    """Why there is neither a proof nor a counterexample; empty if there is one of them."""
    asked: frozenset[str] = frozenset()
    """The names of the rules that the claim asked."""

    @property
    def is_proved(self) -> bool:
        """Whether the claim holds for all values."""
        return self.counterexample is None and not self.doubt


@dataclass(frozen=True, slots=True)
class Comparison:
    """An encoding, compared with Python."""

    points: int
    is_exhaustive: bool
    """Whether there are no other points."""
    difference: str
    """What differs; empty if nothing does."""


Outcome = Literal["proved", "refuted", "unknown"]


@dataclass(slots=True)
class Verdict:
    """What came of a theorem."""

    theorem: Theorem[Untyped]
    faults: list[str] = field(default_factory=list)
    """What shows that it does not hold, is not about what Python does, or that a mutant passes."""
    doubts: list[str] = field(default_factory=list)
    """What is not known of it."""
    refuted: dict[str, Counterexample] = field(default_factory=dict)
    """The counterexample to each mutant."""
    ways: int = 0
    points: int = 0
    exhaustive: int = 0
    """How many of its claims were compared on all points there are."""
    seconds: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """In a word."""
        return "refuted" if self.faults else "unknown" if self.doubts else "proved"


def verdict(theorem: Theorem[Untyped], *, points: int = POINTS, seed: int = 1, now: Callable[[], float]) -> Verdict:
    """Prove a theorem, compare its encoding with Python, refute its mutants; `now` gives seconds of processor time."""
    began, found = now(), Verdict(theorem)
    if not theorem.claims:
        found.doubts.append("it claims nothing")
    for claim in theorem.claims:
        proof = proved(claim, theorem.subject)
        found.ways += len(proof.ways)
        if proof.counterexample is not None:
            found.faults.append(f"{claim.name} does not hold: {shown(proof.counterexample.values)}")
        if proof.doubt:
            found.doubts.append(f"{claim.name}: {proof.doubt}")
        draw = random.Random(f"{seed} {claim.name}")  # noqa: S311 - a seed draws the same
        comparison = compared(claim, theorem.subject, proof.ways, points, draw)
        found.points += comparison.points
        found.exhaustive += comparison.is_exhaustive
        if comparison.difference:
            found.faults.append(f"{claim.name} is not what Python does: {comparison.difference}")
    for name, mutant in theorem.mutants.items():
        counterexample = refuted(theorem, mutant)
        if counterexample is None:
            found.faults.append(f"the mutant {name} is not refuted")
        else:
            found.refuted[name] = counterexample
    found.seconds = now() - began
    if found.seconds > LIMIT_S:
        found.doubts.append(f"it took {found.seconds:.0f} s, more than {LIMIT_S:.0f}")
    return found


def refuted(theorem: Theorem[S], mutant: S) -> Counterexample | None:
    """Return a counterexample that one of a theorem's claims has for rules with a fault; None if all hold."""
    found = (proved(claim, mutant).counterexample for claim in theorem.claims)
    return next((each for each in found if each is not None), None)


def proved(claim: Claim[S], subject: S) -> Proof:
    """Prove a claim for all values, or find a counterexample, and no other."""
    asked: set[str] = set()

    def walked(walk: Walk) -> bool:
        values = Symbolic(walk)
        return claim.holds(cast("S", Watched(subject, values.note, asked)), values)

    found: list[Way] = []
    doubts: list[str] = []
    try:
        for way in ways(walked):
            found.append(way)
            refuting = _refuting(way)
            if isinstance(refuting, str):
                doubts.append(refuting)
            elif refuting is not None:
                values = Told(refuting)
                if _answer(claim, subject, values) not in {True, None}:
                    return Proof(found, Counterexample(claim.name, values.shown), "")
                doubts.append(f"Python does not confirm a counterexample: {shown(values.shown)}")
    except UnsupportedError as error:
        doubts.append(str(error))
    if not found and not doubts:
        doubts.append("it applies to nothing")
    return Proof(found, None, "; ".join(dict.fromkeys(doubts)), frozenset(asked))


def _refuting(way: Way) -> Point | str | None:
    """Return a point at which the claim does not hold; None if there is none; a sentence if Z3 does not know."""
    if way.value is True:
        return None
    solver = solver_of(int(LIMIT_S * 1000))
    solver.add(*way.conditions)
    if isinstance(way.value, Truth):
        solver.add(z3.Not(way.value.term))
    match solver.check():
        case z3.unsat:
            return None
        case z3.sat:
            return way.choices | _values(way, solver.model())
        case _:
            return f"Z3 does not know: {solver.reason_unknown()}"


def _values(way: Way, model: z3.ModelRef) -> dict[str, int]:
    return {name: model.eval(term, model_completion=True).as_long() for name, term in way.symbols.items()}


def _answer(claim: Claim[S], subject: S, values: Told) -> object:
    """Return what a claim says of values; the exception if it raises one; None if it does not apply."""
    try:
        return claim.holds(subject, values)
    except DoesNotApply:
        return None
    except (*RAISED, TypeError, AttributeError) as raised:
        return raised


def compared(claim: Claim[S], subject: S, found: Sequence[Way], points: int, draw: random.Random) -> Comparison:
    """Compare the encoding of a claim with what Python says: at a point of each way, and at drawn ones.

    Where no value is symbolic each way is a point, and there are no others.
    """
    by_choices: defaultdict[tuple[tuple[str, int], ...], Ways] = defaultdict(Ways)
    for way in found:
        by_choices[tuple(way.choices.items())].add(way)
    is_exhaustive = not any(way.symbols for way in found)
    known = [point for way in found if (point := _point_of(way)) is not None]
    drawn = () if is_exhaustive else (Drawn(draw.choice(known), draw=draw) for _ in range(points * _MOST_DRAWS))
    values, seen = Told({}), 0

    def noted(call: str, answer: object) -> object:
        return values.note(call, answer)

    rules = cast("S", Watched(subject, noted, set()))
    for values in chain(map(Told, known), drawn):
        difference = _difference(claim, rules, values, by_choices)
        if difference:
            return Comparison(seen, is_exhaustive=False, difference=difference)
        seen += difference is not None
        if seen >= points and not is_exhaustive:
            break
    return Comparison(seen, is_exhaustive, "")


def _point_of(way: Way) -> dict[str, int] | None:
    solver = solver_of(int(LIMIT_S * 1000))
    solver.add(*way.conditions)
    return way.choices | _values(way, solver.model()) if solver.check() == z3.sat else None


def _difference(
    claim: Claim[S], subject: S, values: Told, by_choices: Mapping[tuple[tuple[str, int], ...], Ways]
) -> str | None:
    """Return what differs at a point, empty if nothing does; None if nothing is claimed there."""
    answer = _answer(claim, subject, values)
    if answer is None:
        return None
    alike = by_choices.get(tuple(values.choices.items()), Ways())
    taken = list(alike.of(values.point))
    told = shown(values.shown)
    if len(taken) != 1:
        return f"{len(taken)} ways lead to {told}"
    way = taken[0]
    calls = [(name, evaluated(each, values.point)) for name, each in way.calls]
    if calls != values.calls:
        return f"at {told} the encoding has {calls}, and Python {values.calls}"
    encoded = evaluated(way.value, values.point)
    if isinstance(answer, Exception):
        return "" if type(encoded) is type(answer) else f"at {told} Python raises {answer!r}"
    return "" if encoded == answer else f"at {told} the encoding says {encoded}, and Python {answer}"


def shown(values: Mapping[str, object]) -> str:
    """Return the values of a case in words."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())
