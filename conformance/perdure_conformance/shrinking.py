"""How a failing case is made smaller, whatever it is made of: by asking again and again whether a smaller one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

_SIZE_OF_AN_ATTEMPT = 100
"""An attempt at a case that is larger than this counts as several."""


class Sized(Protocol):
    """A case with a size."""

    @property
    def size(self) -> int:
        """How much there is in it."""
        ...


AnyCase = TypeVar("AnyCase", bound=Sized)
Part = TypeVar("Part")


def within(attempts: int, fails: Callable[[AnyCase], bool]) -> Callable[[AnyCase], bool]:
    """Return `fails`, to be asked so often; after that nothing fails any more."""
    left = attempts * _SIZE_OF_AN_ATTEMPT

    def still_fails(candidate: AnyCase) -> bool:
        nonlocal left
        left -= max(_SIZE_OF_AN_ATTEMPT, candidate.size)
        return left >= 0 and fails(candidate)

    return still_fails


def smallest(
    case: AnyCase, still_fails: Callable[[AnyCase], bool], smaller: Callable[[AnyCase], Iterator[AnyCase]]
) -> AnyCase:
    """Take the first smaller case that still fails, and the first smaller one of that, as long as there is one."""
    while (found := next(filter(still_fails, smaller(case)), None)) is not None:
        case = found
    return case


def fewest(parts: tuple[Part, ...], still_fails: Callable[[tuple[Part, ...]], bool]) -> tuple[Part, ...]:
    """Drop what is not needed of many parts, in halves, quarters and so on, each looked at once."""
    size = len(parts)
    while size >= 1:
        start = 0
        while start < len(parts):
            rest = parts[:start] + parts[start + size :]
            if still_fails(rest):
                parts = rest
            else:
                start += size
        size //= 2
    return parts


def chunks(length: int) -> Iterator[slice]:
    """Yield what to leave out of a sequence of some length: its halves, its quarters, at last each item."""
    size = length // 2
    while size >= 1:
        for start in range(0, length - size + 1, size):
            yield slice(start, start + size)
        size //= 2
