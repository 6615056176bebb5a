"""Golden vectors on which the tool is tried: one of each kind, and every way in which a folder of them can differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import msgspec

from perdure_conformance.golden.collection import all_vectors
from perdure_conformance.vectors.folder import Wanted
from perdure_conformance.vectors.index import INDEX, Listed
from perdure_conformance.vectors.vector import Vector

Files = Mapping[str, bytes]

WITH_A_PLACE: Final = ("a byte more", "another spelling", "another answer")
"""The ways of differing that have a first place."""


@cache
def vectors_of_every_kind() -> tuple[Vector, ...]:
    """Return one vector of each kind, the last of it: of those there is an answer with something in it."""
    return tuple({vector.kind: vector for vector in all_vectors()}.values())


def differing(wanted: Wanted, vector: Listed) -> Iterator[tuple[str, Files]]:
    """Yield folders that differ in a vector alone, each in one way, with words for it."""
    files, path = wanted.contents, vector.files[0].path
    yield "a file is missing", {name: content for name, content in files.items() if name != path}
    yield "a byte more", {**files, path: files[path] + b" "}
    if b'":' in files[path]:
        yield "another spelling", {**files, path: files[path].replace(b'":', b'": ', 1)}
    yield "a file too many", {**files, f"{vector.id}.old": files[path]}
    yield "it is not listed", {**files, INDEX: _index(wanted, vector, None)}
    answer = {**msgspec.to_builtins(vector), "expected": {**vector.expected, "more": 1}}
    yield "another answer", {**files, INDEX: _index(wanted, vector, answer)}
    content = files[path] + b"\n"
    digest = {"path": path, "sha256": hashlib.sha256(content).hexdigest()}
    both = {**msgspec.to_builtins(vector), "files": [digest, *msgspec.to_builtins(vector.files[1:])]}
    yield "a file and its digest", {**files, path: content, INDEX: _index(wanted, vector, both)}


def _index(wanted: Wanted, vector: Listed, instead: Mapping[str, Any] | None) -> bytes:
    """Return the index with something else in the place of a vector, or nothing."""
    rows: list[Any] = [msgspec.to_builtins(each) for each in wanted.listed.values() if each.id != vector.id]
    return json.dumps({"vectors_version": 1, "vectors": [*rows, *([] if instead is None else [instead])]}).encode()
