"""How fast the real kernel explores, beside a bare search of the same states, in one run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from perdure.kernel.rules import RULES
from perdure.kernel.validation.validator import validate
from perdure_conformance.bench import bare
from perdure_conformance.bench.bare import Numbers, Successors
from perdure_conformance.bench.growth import seconds_of
from perdure_conformance.exploration.exploring import creation_of, searched
from perdure_conformance.exploration.search import Bounds, Search

ROUNDS = 3
WIDTH, ATTEMPTS = 3, 100
REPEATS = 10
"""How often what is quick is done for once of what is not."""

_BOUNDS: Final = Bounds(1_000_000)


@dataclass(frozen=True, slots=True)
class System:
    """A system, as a document and as a bare search."""

    document: dict[str, Any]
    begun: Numbers
    successors: Successors


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast one system is searched: by the kernel without reductions and with them, and by the bare search."""

    name: str
    states: int
    reduced_states: int
    bare_states: int
    kernel_s: float
    reduced_s: float
    bare_s: float

    @property
    def kernel_rate(self) -> float:
        """States a second, without reductions."""
        return self.states / self.kernel_s

    @property
    def bare_rate(self) -> float:
        """States a second."""
        return self.bare_states / self.bare_s

    @property
    def ratio(self) -> float:
        """The rate of the kernel, if that of the bare search is 1."""
        return self.kernel_rate / self.bare_rate

    @property
    def reduced_ratio(self) -> float:
        """The same of the states that the kernel need not look at, too: it knows as much afterwards."""
        return self.bare_s / self.reduced_s


def systems() -> Mapping[str, System]:
    """Return the systems by name."""
    diamond = bare.diamond_successors(WIDTH, ATTEMPTS)
    return {
        "diamond": System(bare.diamond(WIDTH, ATTEMPTS), bare.diamond_begun(WIDTH), diamond),
        "loop": System(bare.loop(), bare.LOOP_BEGUN, bare.loop_successors),
    }


def speed(name: str, system: System) -> Speed:
    """Measure all three in turn, so that what else the machine does is shared among them."""
    specification = validate(system.document).specification
    assert specification is not None
    creation = creation_of(system.document, specification)

    def kernel(is_reduced: object) -> int:
        return searched(creation, _BOUNDS, is_reduced=bool(is_reduced), rules=RULES, kind=Search).found.states

    def bare_search(_: object) -> int:
        return len(bare.searched(system.begun, system.successors))

    done: dict[str, tuple[Callable[[object], int], bool, int]] = {
        "kernel": (kernel, False, 1),
        "reduced": (kernel, True, REPEATS),
        "bare": (bare_search, False, REPEATS),
    }
    states = {which: run(is_reduced) for which, (run, is_reduced, _) in done.items()}
    fastest = dict.fromkeys(done, math.inf)
    for _ in range(ROUNDS):
        for which, (run, is_reduced, repeats) in done.items():
            fastest[which] = min(fastest[which], seconds_of(run, is_reduced, repeats))
    return Speed(name, *states.values(), *fastest.values())
