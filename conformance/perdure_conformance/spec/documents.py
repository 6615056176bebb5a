"""Documents to ask about: texts, in pieces where they are long, and small workflows to make them of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from perdure.kernel.values import JsonValue

Value = Any  # JSON, as it is written in a table.


class Repeat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text that stands many times in a row."""

    text: Annotated[str, Meta(min_length=1, max_length=1024)]
    times: Annotated[int, Meta(ge=0, le=2**25)]


Document = tuple[str | Repeat, ...]
"""The pieces of a text."""

MAX_CHARACTERS = 2**26


def text_of(document: Document) -> str:
    """Return the text."""
    return "".join(piece if isinstance(piece, str) else piece.text * piece.times for piece in document)


def length_of(document: Document) -> int:
    """Return how many characters the text has."""
    return sum(len(piece) if isinstance(piece, str) else len(piece.text) * piece.times for piece in document)


def written(value: JsonValue) -> Document:
    """Return a value as a document."""
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")),)


def pieces(value: JsonValue, **long: Repeat) -> Document:
    """Return a value as a document in which each string `<NAME>` stands for a long text."""
    (text,) = written(value)
    parts: list[str | Repeat] = [text]
    for name, repeat in long.items():
        before, _, after = str(parts.pop()).partition(f"<{name}>")
        parts += [before, repeat, after]
    return tuple(parts)


def workflow(*nodes: Mapping[str, Value], version: int = 5, **members: Value) -> dict[str, Value]:
    """Return a small document. Underscores at the end of a name are dropped."""
    return {
        "schema_version": version,
        "workflow_id": "order",
        "workflow_version": 1,
        "nodes": [dict(node) for node in nodes] or [node("a")],
        **_named(members),
    }


def node(name: str, **members: Value) -> dict[str, Value]:
    """Return a node that a handler works for, unless a child does."""
    work = {} if "child" in members or "handler" in members else {"handler": {"name": "work", "version": 1}}
    return {"id": name, **work, **_named(members)}


def edge(source: str, target: str, **members: Value) -> dict[str, Value]:
    """Return an edge."""
    return {"from": source, "to": target, **members}


def _named(members: Mapping[str, Value]) -> dict[str, Value]:
    return {("$schema" if name == "schema" else name): value for name, value in members.items()}
