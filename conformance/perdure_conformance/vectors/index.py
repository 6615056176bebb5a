"""The index of a folder of vectors: what each one is, which files hold its question, and the answer that it must have.

Source: `schemas/vectors-1.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

import msgspec

from perdure.kernel.values import Digest, JsonValue, digest
from perdure_conformance.vectors.vector import Kind, Vector

INDEX: Final = "index.json"
VECTORS_VERSION: Final = 1


class VectorFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a vector."""

    path: str
    """In the folder, with slashes."""
    sha256: str
    """Of its bytes."""


class Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One vector, as the index lists it."""

    id: str
    kind: Kind
    name: str
    requirements: tuple[str, ...]
    files: tuple[VectorFile, ...]
    expected: Mapping[str, Any]


class Index(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The index."""

    vectors_version: Literal[1]
    vectors: tuple[Listed, ...]


def listed(vector: Vector) -> Listed:
    """Return a vector as it is listed."""
    files = (VectorFile(path, hashlib.sha256(content).hexdigest()) for path, content in vector.contents.items())
    return Listed(vector.id, vector.kind, vector.name, vector.requirements, tuple(files), vector.expected)


def written_index(vectors: Iterable[Vector]) -> bytes:
    """Return the index of vectors: one line each, so that a change shows as a line."""
    lines = [json.dumps(msgspec.to_builtins(listed(vector)), ensure_ascii=True) for vector in vectors]
    return (f'{{"vectors_version": {VECTORS_VERSION}, "vectors": [\n' + ",\n".join(lines) + "\n]}\n").encode()


def read_index(content: bytes) -> Index:
    """Return an index. Raises `msgspec.DecodeError` or `msgspec.ValidationError` for what is none."""
    return msgspec.json.decode(content, type=Index)


def digest_of(vectors: Iterable[Listed]) -> Digest:
    """Return the digest of listed vectors: SHA-256 of the canonical form of the array of them."""
    lines: JsonValue = [msgspec.to_builtins(each) for each in vectors]
    return digest(lines)
