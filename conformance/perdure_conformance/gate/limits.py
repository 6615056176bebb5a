"""The limits of two schemas: numbers, lengths, counts, formats. Each is the same, looser, or tighter."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final, Literal

from perdure_conformance.gate.nodes import View
from perdure_conformance.histories.words import value_in_words

_NONE: Final = float("inf")
Way = Literal["looser", "tighter", "other"]

_COUNTS_FROM: Final = ("minLength", "minItems", "minProperties")
_COUNTS_UP_TO: Final = ("maxLength", "maxItems", "maxProperties")


def limits(old: View, new: View) -> Iterator[tuple[Way, str]]:
    """Yield each limit that is another one: which way it went, and both in words."""
    yield from _of_numbers(old, new)
    for keyword in _COUNTS_FROM:
        yield from _moved(keyword, -old.get(keyword, 0), -new.get(keyword, 0), old, new)
    for keyword in _COUNTS_UP_TO:
        yield from _moved(keyword, old.get(keyword, _NONE), new.get(keyword, _NONE), old, new)
    yield from _of_one("uniqueItems", old, new, nothing=False)
    yield from _of_one("format", old, new)
    yield from _of_one("pattern", old, new)
    yield from _of_multiples(old, new)


def _of_numbers(old: View, new: View) -> Iterator[tuple[Way, str]]:
    """Yield the bounds of numbers; of integers, an exclusive one is the next inclusive one."""
    whole = old.get("type") == new.get("type") == "integer"
    for side, sign in (("minimum", -1), ("maximum", 1)):
        bounds = [_bound(view, side, sign, whole=whole) for view in (old, new)]
        if bounds[0] != bounds[1]:
            yield "tighter" if bounds[1] < bounds[0] else "looser", _told(side, old, new)


def _bound(view: View, side: str, sign: int, *, whole: bool) -> tuple[float, int]:
    """Return a bound such that a lower one is tighter."""
    inclusive, exclusive = view.get(side), view.get(f"exclusive{side.capitalize()}")
    found = [(float("inf"), 0)]
    if inclusive is not None:
        found.append((sign * inclusive, 0))
    if exclusive is not None:
        is_next = whole and isinstance(exclusive, int)
        found.append((sign * exclusive - 1, 0) if is_next else (sign * exclusive, -1))
    return min(found)


def _told(side: str, old: View, new: View) -> str:
    keywords = (side, f"exclusive{side.capitalize()}")
    told = [[f"{name} {view.get(name)}" for name in keywords if name in view.keywords] for view in (old, new)]
    return " became ".join(" and ".join(each) or f"no {side}" for each in told)


def _moved(keyword: str, old_bound: float, new_bound: float, old: View, new: View) -> Iterator[tuple[Way, str]]:
    if old_bound != new_bound:
        yield "tighter" if new_bound < old_bound else "looser", _became(keyword, old, new)


def _of_one(keyword: str, old: View, new: View, nothing: Any = None) -> Iterator[tuple[Way, str]]:
    """Yield a keyword of which nobody can tell whether another value of it is looser."""
    before, after = old.get(keyword, nothing), new.get(keyword, nothing)
    if before != after:
        way: Way = "tighter" if before == nothing else "looser" if after == nothing else "other"
        yield way, _became(keyword, old, new)


def _of_multiples(old: View, new: View) -> Iterator[tuple[Way, str]]:
    before, after = old.get("multipleOf"), new.get("multipleOf")
    if before == after:
        return
    divides = after is None or (before is not None and Fraction(str(before)) % Fraction(str(after)) == 0)
    yield "looser" if divides else "tighter", _became("multipleOf", old, new)


def _became(keyword: str, old: View, new: View) -> str:
    told = (view.get(keyword) for view in (old, new))
    words = [f"no {keyword}" if each is None else value_in_words(each) for each in told]
    return f"{keyword}: {words[0]} became {words[1]}"
