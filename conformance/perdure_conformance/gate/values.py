"""Two values of JSON: whether they are equal, and where they differ first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.kernel.problems import pointer_token
from perdure.kernel.values import JsonValue, canonical_json
from perdure_conformance.histories.words import value_in_words


def equal(one: Any, other: Any) -> bool:
    """Tell whether two values are the same, however they are written."""
    return canonical_json(one) == canonical_json(other)


def first_difference(one: JsonValue, other: JsonValue) -> tuple[str, str]:
    """Return the first place where two values differ, as a JSON Pointer, and what became of what there."""
    if all(isinstance(one, kind) is isinstance(other, kind) for kind in (Mapping, list)):
        before, after = _by_step(one), _by_step(other)
        for step in dict.fromkeys((*before, *after)):
            if step not in before or step not in after:
                told = [value_in_words(found[step]) if step in found else "nothing" for found in (before, after)]
                return f"/{pointer_token(step)}", " became ".join(told)
            if not equal(before[step], after[step]):
                pointer, words = first_difference(before[step], after[step])
                return f"/{pointer_token(step)}{pointer}", words
    return "", f"{value_in_words(one)} became {value_in_words(other)}"


def _by_step(value: JsonValue) -> Mapping[str, JsonValue]:
    """Return what stands in an object or an array, by the step to it; nothing of what is neither."""
    if isinstance(value, Mapping):
        return value
    return {str(number): each for number, each in enumerate(value)} if isinstance(value, list) else {}
