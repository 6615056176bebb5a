"""Places in a JSON value: all that there are, what is at one, and the value with something else there.

A place is the steps to it; as a JSON Pointer (RFC 6901) it is a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from perdure.kernel.problems import pointer_token
from perdure_conformance.spec.documents import Value

Place = tuple[str | int, ...]


def parts(value: Value, above: Place = ()) -> Iterator[tuple[Place, Value]]:
    """Yield a value and all that is inside it, each with its place, from the root down."""
    yield above, value
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from parts(item, (*above, key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for position, item in enumerate(value):
            yield from parts(item, (*above, position))


def edited(value: Value, place: Place, edit: Callable[[Any], Value]) -> Value:
    """Return the value with what stands at a place edited."""
    if not place:
        return edit(value)
    key, *rest = place
    changed = edited(value[key], tuple(rest), edit)
    if isinstance(value, Mapping):
        return {**value, key: changed}
    return [*value[: int(key)], changed, *value[int(key) + 1 :]]


def at(value: Value, steps: Sequence[str]) -> Value:
    """Return what stands where the steps of a pointer lead."""
    for step in steps:
        value = value[step] if isinstance(value, Mapping) else value[int(step)]
    return value


def pointer_of(place: Place) -> str:
    """Return a place as a JSON Pointer."""
    return "".join(f"/{pointer_token(str(step))}" for step in place)


def steps_of(pointer: str) -> list[str]:
    """Return the steps of a JSON Pointer; a position in an array is a text, too."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
