"""Inputs: what `--input` says, and what stands for an input that it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.kernel.specification import Specification
from perdure.kernel.values import JsonError, JsonObject, JsonValue, read_json
from perdure_conformance.histories.words import one_line


class WordsRefused(ValueError):
    """An option that says nothing. `str(error)` is one sentence that says which and what helps."""


def inputs_of(words: Sequence[str], specification: Specification) -> tuple[JsonObject, tuple[str, ...]]:
    """Return the input of a run, and the fields that nobody gave. Raises `WordsRefused`."""
    given: dict[str, JsonValue] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise WordsRefused(f"--input {one_line(word, 60)} is not NAME=VALUE, as in --input topic=durability.")
        if name not in specification.inputs:
            known = ", ".join(specification.inputs) or "none"
            raise WordsRefused(f"The workflow declares no input {one_line(name, 60)}; it declares: {known}.")
        if name in given:
            raise WordsRefused(f"The input {name} is given twice.")
        given[name] = _value(name, text)
    missing = tuple(name for name in specification.inputs if name not in given)
    return {**given, **{name: name for name in missing}}, missing


def _value(name: str, text: str) -> JsonValue:
    """Read a value: JSON if it is that, else the text itself."""
    try:
        return read_json(text)
    except JsonError as error:
        if error.code != "not_json" or text.lstrip()[:1] in {"{", "[", '"'}:
            raise WordsRefused(f"--input {name} is no JSON: {one_line(str(error))}.") from error
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise WordsRefused(f"--input {name} is no UTF-8.") from error
    return text
