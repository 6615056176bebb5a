"""Both sides as they lie there: schemas, folders of golden vectors, specifications. Nothing is fetched from anywhere.

A side is a file, or a folder with everything in it but what is hidden. A folder of vectors, known by its index, is one
thing; what is JSON or YAML and none of the three is told to be left out, and so is a report of perdure.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from perdure.authoring.positions import SourceError
from perdure.authoring.source import MAX_SOURCE_BYTES, read_source
from perdure.kernel.values import JsonValue, canonical_json
from perdure_conformance.lint.files import FileRefused, Text, read, read_said
from perdure_conformance.reports.reading import REPORT, is_report
from perdure_conformance.vectors.folder import VectorsRefused, loaded
from perdure_conformance.vectors.index import INDEX, Listed, read_index
from perdure_conformance.vectors.vector import Vector

_MAX_FILES: Final = 20_000
_MAX_BYTES: Final = 256 * 2**20
_SUFFIXES: Final = (".json", ".yaml", ".yml")
_LEFT_OUT: Final = frozenset({"node_modules", "__pycache__"})
_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


class GateRefused(Exception):
    """What cannot be compared. `str(error)` is one sentence that says which, why and what helps."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file, read."""

    file: str
    """In the folder of its side, with slashes."""
    value: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Vectors:
    """A folder of golden vectors."""

    file: str
    """Its index."""
    listed: Mapping[str, Listed]
    contents: tuple[Vector, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two that are compared."""

    name: str
    schemas: tuple[Document, ...]
    vectors: tuple[Vectors, ...]
    specifications: tuple[Document, ...]
    left_out: tuple[str, ...]
    """Files that are none of these."""
    is_file: bool
    skipped: tuple[str, ...] = ()
    """What was not looked at, each with why: reports of perdure, and the earlier side where it lies in this one."""


def read_sides(old: str, new: str) -> tuple[Side, Side]:
    """Read both, but for the earlier one where it lies within the later one. Raises `GateRefused`."""
    if _place_in(new, old) is not None:
        raise GateRefused(
            f"{new} lies within {old}, which would be compared with a part of itself: give two that lie side by side, "
            "or the earlier one within the later one."
        )
    return read_side(old), read_side(new, without=_place_in(old, new))


def _place_in(inner: str, outer: str) -> Path | None:
    """Return where a file or folder lies in another one; None if it does not."""
    try:
        one, other = Path(inner).resolve(), Path(outer).resolve()
    except (OSError, ValueError, RuntimeError):
        return None  # To read it tells why.
    return one.relative_to(other) if other in one.parents else None


def read_side(name: str, without: Path | None = None) -> Side:
    """Read a file, or a folder and all that is in it, but for one place. Raises `GateRefused`."""
    try:
        return _read_side(name, without)
    except (FileRefused, VectorsRefused) as error:
        raise GateRefused(str(error)) from error
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error


def unreadable(name: str, error: OSError | ValueError) -> GateRefused:
    """Return that a file or folder cannot be read, and why."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return GateRefused(f"{name} cannot be read: {reason}. Check its name and its permissions.")


def _read_side(name: str, without: Path | None) -> Side:
    path = Path(name)
    path.stat()
    if path.is_dir():
        skipped: list[str] = []

        def is_skipped(place: Path) -> bool:
            here = place.relative_to(path)
            why = "the earlier one" if here == without else "a report of perdure" if _is_of_a_report(place) else ""
            if why:
                skipped.append(f"{here.as_posix()} ({why})")
            return bool(why)

        files = files_below(path, _SUFFIXES, is_skipped)
        return replace(_side(name, path, files, is_file=False), skipped=tuple(sorted(skipped)))
    return _side(name, path.parent, [path.name], is_file=True)


def _is_of_a_report(place: Path) -> bool:
    """Tell whether a folder is a report of perdure, by what it has of it."""
    report = place / REPORT
    return place.is_dir() and not place.is_symlink() and not report.is_symlink() and is_report(str(report))


def _nothing(place: Path) -> bool:
    del place
    return False


def files_below(folder: Path, suffixes: tuple[str, ...], is_skipped: Callable[[Path], bool] = _nothing) -> list[str]:
    """Return the files whose names end so, by their paths in a folder, in order: no link, nothing hidden or skipped.

    Raises `GateRefused` for too many, and `OSError`.
    """
    found: list[str] = []
    for place, folders, names in os.walk(folder, onerror=_raise):
        looked_at = sorted(each for each in folders if not each.startswith(".") and each not in _LEFT_OUT)
        folders[:] = [each for each in looked_at if not is_skipped(Path(place, each))]
        for each in names:
            path = Path(place, each)
            if each.lower().endswith(suffixes) and not each.startswith(".") and not path.is_symlink():
                if is_skipped(path):
                    continue
                found.append(path.relative_to(folder).as_posix())
        if len(found) > _MAX_FILES:
            raise GateRefused(f"{folder} has more than {_MAX_FILES:,} files: name the folders that matter.")
    return sorted(found)


def _raise(error: OSError) -> None:
    raise error


class _Reader:
    """Reads the files of one folder, and no more bytes than are allowed in all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left = _MAX_BYTES

    def is_behind_a_link(self, file: PurePosixPath) -> bool:
        """Tell whether a file, or a folder on the way to it, is a link."""
        return any((self._folder / each).is_symlink() for each in (file, *file.parents[:-1]))

    def text(self, file: str) -> Text:
        """Return the bytes of a file, whatever its name ends with. Raises `FileRefused`, `GateRefused`."""
        name = str(self._folder / file)
        text = read(name) if file.lower().endswith(_SUFFIXES) else read_said(name, "json")
        if len(text.content) > MAX_SOURCE_BYTES:
            raise GateRefused(f"{name} has more than {MAX_SOURCE_BYTES:,} bytes: make it smaller, or leave it out.")
        self._left -= len(text.content)
        if self._left < 0:
            raise GateRefused(f"{self._folder} has more than {_MAX_BYTES:,} bytes: name the folders that matter.")
        return text

    def value(self, file: str) -> JsonValue:
        """Return the value in a file. Raises `FileRefused`, `GateRefused`."""
        text = self.text(file)
        try:
            return read_source(text.content, text.syntax).value
        except SourceError as error:
            at = "" if error.position is None else f", line {error.position.line}, column {error.position.column}"
            raise GateRefused(f"{text.name}{at}: {error.sentence}.") from error


def _side(name: str, folder: Path, files: list[str], *, is_file: bool) -> Side:
    reader = _Reader(folder)
    schemas: list[Document] = []
    specifications: list[Document] = []
    left_out: list[str] = []
    vectors = [
        _vectors(reader, file) for file in files if PurePosixPath(file).name == INDEX and _is_index(reader, file)
    ]
    of_vectors = tuple(PurePosixPath(each.file).parent for each in vectors)
    for file in files:
        if any(PurePosixPath(file).is_relative_to(folder) for folder in of_vectors):
            continue
        value = reader.value(file)
        if isinstance(value, Mapping) and "workflow_id" in value and "nodes" in value:
            specifications.append(Document(file, value))
        elif isinstance(value, Mapping) and _is_schema(value):
            _require_a_schema(str(folder / file), value)
            schemas.append(Document(file, value))
        else:
            left_out.append(file)
    return Side(name, tuple(schemas), tuple(vectors), tuple(specifications), tuple(left_out), is_file=is_file)


def _is_index(reader: _Reader, file: str) -> bool:
    value = reader.value(file)
    return isinstance(value, Mapping) and "vectors_version" in value


def _vectors(reader: _Reader, file: str) -> Vectors:
    """Return a folder of vectors, each as it was written. Raises `VectorsRefused`, `FileRefused`."""
    try:
        index = read_index(reader.text(file).content)
    except msgspec.DecodeError as error:
        raise GateRefused(f"{file} is no index of vectors: {error}.") from error
    folder = PurePosixPath(file).parent
    paths = dict.fromkeys(each.path for row in index.vectors for each in row.files)
    for path in paths:
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise GateRefused(f"{file} names {path}, which is not in its folder: mend the index.")
        if reader.is_behind_a_link(folder / path):
            raise GateRefused(f"{file} names {path}, which a link leads to: put the file itself there.")
    files = {path: reader.text((folder / path).as_posix()).content for path in paths}
    found = loaded({**files, INDEX: reader.text(file).content})
    rows = {each.id: each for each in index.vectors}
    if len(rows) != len(index.vectors):
        raise GateRefused(f"{file} lists a vector twice: mend the index.")
    return Vectors(file, rows, found)


def _is_schema(value: Mapping[str, JsonValue]) -> bool:
    """Tell whether an object is a JSON Schema: it says so, or has what only a schema has."""
    dialect = value.get("$schema")
    if isinstance(dialect, str):
        return "json-schema.org/" in dialect
    if "$defs" in value or isinstance(value.get("$id"), str):
        return True
    words = value.get("type")
    return isinstance(words, str) and words in _TYPES and bool({"properties", "items", "enum"} & value.keys())


def _require_a_schema(name: str, value: Mapping[str, JsonValue]) -> None:
    problem = _problem_of_a_schema(canonical_json(value))
    if problem is not None:
        raise GateRefused(f"{name} is no JSON Schema: {problem}.")


@lru_cache(maxsize=2**10)
def _problem_of_a_schema(content: bytes) -> str | None:
    """Return what is wrong with a schema; most of them are the same on both sides, and looked at once."""
    try:
        Draft202012Validator.check_schema(json.loads(content))
    except SchemaError as error:
        place = "/".join(str(step) for step in error.absolute_path)
        return f"at /{place}, {error.message[:200]}"
    return None
