"""A document that somebody wrote: its value, and where in the text each part of it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from perdure.authoring import json_text, yaml_text
from perdure.authoring.positions import Event, Place, Position, SourceError, Span, places, refusal, spans
from perdure.kernel.values import JsonValue

Syntax = Literal["json", "yaml"]

MAX_SOURCE_BYTES = 16 * 2**20
"""Longer texts are refused before they are read."""
MAX_YAML_BYTES = 4 * 2**20
"""Longer YAML too: it takes a hundred times as long to read as JSON."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document that was read. Positions are looked for when they are asked for, in one pass for all pointers."""

    value: JsonValue
    syntax: Syntax
    text: str = field(repr=False)

    def locate(self, pointers: Iterable[str]) -> dict[str, Position]:
        """Return where the value of each JSON Pointer starts; if it is missing, the nearest value around it.

        Raises `ValueError` for what is no JSON Pointer.
        """
        return {pointer: place.value for pointer, place in self._places(pointers).items()}

    def locate_keys(self, pointers: Iterable[str]) -> dict[str, Position]:
        """Return where the key of each member stands; what has no key is located like its value.

        Raises `ValueError` for what is no JSON Pointer.
        """
        return {pointer: place.key for pointer, place in self._places(pointers).items()}

    def spans(self, pointers: Iterable[str]) -> dict[str, Span]:
        """Return the text of the value of each JSON Pointer; what is missing has none.

        Raises `ValueError` for what is no JSON Pointer.
        """
        return spans(self._events(), pointers)

    def _places(self, pointers: Iterable[str]) -> dict[str, Place]:
        pointers = list(pointers)
        if not pointers:
            return {}
        return places(self.text, self._events(), pointers)

    def _events(self) -> Iterator[Event]:
        return json_text.events(self.text) if self.syntax == "json" else yaml_text.events(self.text)


def syntax_of(path_name: str) -> Syntax:
    """Return the syntax that the suffix of a file's name stands for. Raises `SourceError` for any other suffix."""
    lowered = path_name.lower()
    if lowered.endswith(".json"):
        return "json"
    if lowered.endswith((".yaml", ".yml")):
        return "yaml"
    raise SourceError("unknown_syntax", "the name does not tell the syntax: end it with .json, .yaml or .yml", None)


def read_source(text: bytes, syntax: Syntax) -> Source:
    """Read a document as durable JSON. Nothing in it can run.

    Raises `SourceError`: `not_utf8`, `empty`, `too_large`, `duplicate_key`, `lone_surrogate`, `number_out_of_range`,
    `too_deep`; in JSON `not_json`; in YAML `not_yaml`, `yaml_alias`, `yaml_ambiguous`, `yaml_directive`,
    `yaml_documents`, `yaml_key`, `yaml_merge`, `yaml_tab`, `yaml_tag`.
    """
    if syntax == "yaml" and len(text) > MAX_YAML_BYTES:
        raise SourceError("too_large", f"YAML is longer than {MAX_YAML_BYTES:,} bytes: write it as JSON", None)
    if len(text) > MAX_SOURCE_BYTES:
        raise SourceError("too_large", f"the text is longer than {MAX_SOURCE_BYTES:,} bytes: make it shorter", None)
    decoded = _decoded(text)
    if decoded.startswith("\ufeff"):
        sentence = "the text starts with a byte order mark: save it as UTF-8 without one"
        raise refusal(decoded, 0, f"not_{syntax}", sentence)
    if not decoded.strip(" \t\r\n"):
        raise refusal(decoded, 0, "empty", "the text is empty: write one value")
    value = json_text.read(decoded) if syntax == "json" else yaml_text.read(decoded)
    return Source(value, syntax, decoded)


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        before = text[: error.start].decode("utf-8")
        sentence = f"the byte 0x{text[error.start]:02X} is no UTF-8 here: save the text as UTF-8"
        raise refusal(before, len(before), "not_utf8", sentence) from error
