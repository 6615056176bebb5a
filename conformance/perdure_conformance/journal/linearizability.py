"""Whether calls that ran at the same time answered as if each had happened at one moment of its own.

A depth-first search for one order that explains every answer, after Wing and Gong, "Testing and Verifying Concurrent
Objects" (1993). What was tried once is not tried again: after the same calls, the same state has the same future
(Lowe, "Testing for Linearizability", 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

MOST_SITUATIONS: Final = 50_000
"""After so many situations the search gives up."""

Operation = TypeVar("Operation")
State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Interval(Generic[Operation]):
    """One call: what was asked and answered, and between which instants of a logical clock."""

    operation: Operation
    began: int
    ended: int | None
    """None if no definite answer came: it may have happened at any later moment, or never."""


def is_linearizable(
    history: Sequence[Interval[Operation]],
    initial: State,
    after: Callable[[State, Operation], State | None],
    most: int = MOST_SITUATIONS,
) -> bool | None:
    """Tell whether some order of the calls explains all answers; None if that took more than `most` situations.

    `after` returns the state after an operation, or None if its answer is not the one that this state gives.
    """
    calls = sorted(history, key=lambda call: call.began)
    definite = sum(1 << index for index, call in enumerate(calls) if call.ended is not None)
    seen = {(0, initial)}
    open_situations = [(0, initial)]
    while open_situations:
        if len(seen) > most:
            return None
        done, state = open_situations.pop()
        if done & definite == definite:
            return True
        for index in _first_ones(calls, done):
            following = after(state, calls[index].operation)
            situation = (done | 1 << index, following)
            if following is not None and situation not in seen:
                seen.add((done | 1 << index, following))
                open_situations.append((done | 1 << index, following))
    return False


def _first_ones(calls: Sequence[Interval[Operation]], done: int) -> Iterator[int]:
    """Yield the calls that may happen next: those that began before any that is not done yet ended.

    The one that ended first comes last, and is tried first.
    """
    waiting = [index for index in range(len(calls)) if not done >> index & 1]
    ends = {index: end for index in waiting if (end := calls[index].ended) is not None}
    first_end = min(ends.values(), default=None)
    possible = [index for index in waiting if first_end is None or calls[index].began <= first_end]
    yield from sorted(possible, key=lambda index: -ends.get(index, 2**63))
