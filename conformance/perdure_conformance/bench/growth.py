"""How time grows with size: times at several sizes, and the exponent that fits them."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Subject = TypeVar("Subject")

ROUNDS = 5
"""Each size is measured so often; the fastest round counts, since all else only adds to it."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The fastest time at each size."""

    name: str
    seconds: Mapping[int, float]

    @property
    def exponent(self) -> float:
        """The e of time = c · size^e that fits best: 1 is linear, 2 quadratic."""
        points = [(math.log(size), math.log(seconds)) for size, seconds in self.seconds.items()]
        mean_x = sum(x for x, _ in points) / len(points)
        mean_y = sum(y for _, y in points) / len(points)
        return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def measure(
    name: str, make: Callable[[int], Subject], run: Callable[[Subject], object], sizes: Sequence[int]
) -> Growth:
    """Run at each size, all sizes in turn, so that what else the machine does is shared among them."""
    subjects = {size: make(size) for size in sizes}
    fastest = dict.fromkeys(sizes, math.inf)
    for _ in range(ROUNDS):
        for size, subject in subjects.items():
            repeats = max(1, max(sizes) // size // 20)
            fastest[size] = min(fastest[size], seconds_of(run, subject, repeats))
    return Growth(name, fastest)


def seconds_of(run: Callable[[Subject], object], subject: Subject, repeats: int) -> float:
    """Return the seconds of the processor that one of so many runs takes."""
    gc.collect()
    gc.disable()
    try:
        began = time.process_time()
        for _ in range(repeats):
            run(subject)
        return (time.process_time() - began) / repeats
    finally:
        gc.enable()
