"""What a vector is: a question in a file or two, what it shows, and the answer that it must have."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from perdure.kernel.values import JsonObject, JsonValue

Kind = Literal[
    "reduce", "decide", "restore", "upcast", "validate", "read", "read_yaml", "verify", "jitter", "token", "checksum"
]

KINDS: Final[Mapping[Kind, str]] = {
    "reduce": "a history, an event a line: what a kernel makes of it",
    "decide": "a history, an event a line, and a command in the last line: what a kernel decides",
    "restore": "what a journal keeps of a run, its snapshot or none: how a client restores it",
    "upcast": "events, one a line: their newest form",
    "validate": "a specification, and a catalogue of handlers if there is one: what a validator says",
    "read": "a JSON text: its canonical form, or why it is not read",
    "read_yaml": "a YAML text: the canonical form of what it says, or why it is not read",
    "verify": "a stored history or snapshot: whether it is sound, and else where it is not",
    "jitter": "what jitter is worked out from: the jitter",
    "token": "a token: its digest",
    "checksum": "a record without its checksum: the checksum",
}
"""The kinds, each with the question in its files and what is asked."""


@dataclass(frozen=True, slots=True)
class Vector:
    """A question, and the answer that it must have."""

    kind: Kind
    name: str
    """What it shows, in words."""
    requirements: tuple[str, ...]
    files: Mapping[str, bytes]
    """The content of each file, by how its name ends; the first is the question."""
    expected: JsonObject

    @property
    def id(self) -> str:
        """Its identity: the kind, and the name as a name of a file."""
        return f"{self.kind}/{_slug(self.name)}"

    @property
    def question(self) -> bytes:
        """The content of its first file; nothing if it has none."""
        return next(iter(self.files.values()), b"")

    @property
    def contents(self) -> Mapping[str, bytes]:
        """The content of each file, by its path in the folder."""
        return {self.id + ending: content for ending, content in self.files.items()}


_OTHERS: Final = re.compile(r"[^a-z0-9]+")
_SPELT: Final = {"^": " to the ", "−": " minus ", "×": " times "}


def _slug(name: str) -> str:
    for sign, word in _SPELT.items():
        name = name.replace(sign, word)
    return _OTHERS.sub("-", name.lower()).strip("-")


def written(value: JsonValue) -> bytes:
    """Return a value as one line of JSON, with its numbers as they are spelt."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
