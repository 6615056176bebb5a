"""A folder of vectors: read, written, and held against what the model would write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from perdure.kernel.values import JsonValue
from perdure_conformance.vectors.index import INDEX, Index, Listed, listed, read_index, written_index
from perdure_conformance.vectors.vector import Vector

FORMAT_PAGE: Final = "README.md"
"""The page in the folder that is their format. People write it."""

What = Literal["missing", "extra", "changed", "answer", "index"]
_SHOWN: Final = 60


class VectorsRefused(Exception):
    """A folder that cannot be read as vectors. `str(error)` is one sentence that says which, why and what helps."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a folder is not what the model would write."""

    vector: str
    """The identity of the vector, or of what a file was taken for; empty if it is about the index itself."""
    file: str
    what: What
    sentence: str


def contents_of(vectors: Iterable[Vector]) -> dict[str, bytes]:
    """Return the content of every file of a folder of vectors, by its path, the index included."""
    every = tuple(vectors)
    files = {path: content for vector in every for path, content in vector.contents.items()}
    return {**files, INDEX: written_index(every)}


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the content of every file that is in a folder, by its path. Raises `VectorsRefused`."""
    if not folder.is_dir():
        raise VectorsRefused(
            f"{folder} is no folder: name one with --folder, or write one with `perdure vectors write`."
        )
    try:
        files = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
        for path in files:
            if path.is_symlink() or not path.is_file():
                raise VectorsRefused(f"{path} is a link, a pipe or a device: put a file there, or leave it out.")
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    except OSError as error:
        raise VectorsRefused(f"{error.filename} cannot be read: {error.strerror}.") from error
    found.pop(FORMAT_PAGE, None)
    return found


def loaded(files: Mapping[str, bytes]) -> tuple[Vector, ...]:
    """Return the vectors of a folder. Raises `VectorsRefused` for an index or a file that is not as it was written."""
    return tuple(_loaded(each, files) for each in _index_of(files).vectors)


def _loaded(each: Listed, files: Mapping[str, bytes]) -> Vector:
    contents = {}
    for file in each.files:
        if file.path not in files:
            raise VectorsRefused(f"{each.id}: {file.path} is missing: bring it back, or write the vectors again.")
        if hashlib.sha256(files[file.path]).hexdigest() != file.sha256:
            raise VectorsRefused(f"{each.id}: {file.path} was changed: its SHA-256 is not the one in {INDEX}.")
        contents[file.path.removeprefix(each.id)] = files[file.path]
    return Vector(each.kind, each.name, each.requirements, contents, each.expected)


def _index_of(files: Mapping[str, bytes]) -> Index:
    try:
        return read_index(files[INDEX])
    except KeyError as error:
        raise VectorsRefused(f"{INDEX} is missing: this is no folder of vectors.") from error
    except msgspec.DecodeError as error:
        raise VectorsRefused(f"{INDEX} is no index of vectors: {error}.") from error


@dataclass(frozen=True, slots=True)
class Wanted:
    """What has to be in a folder: worked out once, however many folders are held against it."""

    contents: Mapping[str, bytes]
    """Of every file, by its path."""
    of_file: Mapping[str, str]
    """The vector that each file is of."""
    listed: Mapping[str, Listed]
    """Each vector, by its identity."""


def wanted_of(vectors: Sequence[Vector]) -> Wanted:
    """Return what has to be in a folder of these vectors."""
    of_file = {path: vector.id for vector in vectors for path in vector.contents}
    return Wanted(contents_of(vectors), of_file, {vector.id: listed(vector) for vector in vectors})


def differences(files: Mapping[str, bytes], wanted: Wanted) -> list[Difference]:
    """Return how the files in a folder differ from what the model would write, vector by vector."""
    return [*_of_files(files, wanted), *_of_index(files, wanted)]


def _of_files(files: Mapping[str, bytes], wanted: Wanted) -> Iterator[Difference]:
    contents, of_file = wanted.contents, wanted.of_file
    for path in sorted({*files, *contents} - {INDEX}):
        if path not in files:
            yield Difference(of_file[path], path, "missing", f"{path} is missing")
        elif path not in contents:
            yield Difference(path.partition(".")[0], path, "extra", f"{path} is there, and no vector has it")
        elif files[path] != contents[path]:
            yield Difference(of_file[path], path, "changed", f"{path}: {_first(files[path], contents[path])}")


def _first(there: bytes, wanted: bytes) -> str:
    """Return the first place where two contents differ."""
    lines = there.split(b"\n"), wanted.split(b"\n")
    number = next((n for n, pair in enumerate(zip(*lines, strict=False)) if pair[0] != pair[1]), min(map(len, lines)))
    mine, model = (_line(each, number) for each in lines)
    at = next((n for n, pair in enumerate(zip(mine, model, strict=False)) if pair[0] != pair[1]), None)
    at = min(len(mine), len(model)) if at is None else at
    told = f"line {number + 1}, byte {at + 1}"
    return f"{told}: there is {_shown(mine[at:])}, and the model writes {_shown(model[at:])}"


def _line(lines: Sequence[bytes], number: int) -> bytes:
    return lines[number] if number < len(lines) else b""


def _shown(content: bytes) -> str:
    text = content[:_SHOWN].decode("utf-8", "backslashreplace")
    return "nothing" if not text else repr(text) + ("…" if len(content) > _SHOWN else "")


def _of_index(files: Mapping[str, bytes], wanted: Wanted) -> Iterator[Difference]:
    """Yield what is wrong with the index: of each vector alone, and if it is none of them, of the index itself."""
    if files.get(INDEX) == wanted.contents[INDEX]:
        return
    if INDEX not in files:
        yield Difference("", INDEX, "missing", f"{INDEX} is missing")
        return
    try:
        there = {each.id: each for each in read_index(files[INDEX]).vectors}
    except msgspec.DecodeError as error:
        yield Difference("", INDEX, "index", f"{INDEX} is no index of vectors: {error}")
        return
    found = list(_of_entries(there, wanted.listed))
    yield from found
    if not found:
        yield Difference("", INDEX, "index", f"{INDEX}: {_first(files[INDEX], wanted.contents[INDEX])}")


def _of_entries(there: Mapping[str, Listed], wanted: Mapping[str, Listed]) -> Iterator[Difference]:
    for name in sorted({*there, *wanted}):
        if name not in there:
            yield Difference(name, INDEX, "missing", f"{INDEX} does not list {name}")
        elif name not in wanted:
            yield Difference(name, INDEX, "extra", f"{INDEX} lists {name}, and the model writes no such vector")
        else:
            pointer = _difference(_plain(there[name]), _plain(wanted[name]))
            if pointer is not None:
                told = f"{INDEX}, {name}, {pointer[0]}: there is {pointer[1]}, and the model says {pointer[2]}"
                yield Difference(name, INDEX, "answer", told)


def _plain(each: Listed) -> Any:
    return json.loads(json.dumps(msgspec.to_builtins(each)))


def _difference(there: JsonValue, wanted: JsonValue, pointer: str = "") -> tuple[str, str, str] | None:
    """Return the first place where two values differ, with what is in each."""
    if isinstance(there, Mapping) and isinstance(wanted, Mapping):
        for name in dict.fromkeys((*there, *wanted)):
            if name not in there or name not in wanted:
                return (f"{pointer}/{name}", _value(there, name), _value(wanted, name))
            found = _difference(there[name], wanted[name], f"{pointer}/{name}")
            if found is not None:
                return found
        return None
    if isinstance(there, list) and isinstance(wanted, list) and len(there) == len(wanted):
        pairs = enumerate(zip(there, wanted, strict=True))
        found_in = (_difference(*pair, f"{pointer}/{number}") for number, pair in pairs)
        return next((found for found in found_in if found is not None), None)
    same = json.dumps(there) == json.dumps(wanted)
    return None if same else (pointer, _shown(json.dumps(there).encode()), _shown(json.dumps(wanted).encode()))


def _value(members: Mapping[str, JsonValue], name: str) -> str:
    return _shown(json.dumps(members[name]).encode()) if name in members else "nothing"


@dataclass(frozen=True, slots=True)
class Change:
    """What writing does to one file."""

    path: str
    how: Literal["added", "changed", "removed"]


def changes(files: Mapping[str, bytes], wanted: Mapping[str, bytes]) -> list[Change]:
    """Return what writing would do to the files in a folder."""
    found = []
    for path in sorted({*files, *wanted}):
        if path not in files:
            found.append(Change(path, "added"))
        elif path not in wanted:
            found.append(Change(path, "removed"))
        elif files[path] != wanted[path]:
            found.append(Change(path, "changed"))
    return found


def write(folder: Path, wanted: Mapping[str, bytes], made: Iterable[Change]) -> None:
    """Make the changes. Raises `VectorsRefused` where a file cannot be written."""
    try:
        for change in made:
            path = folder / change.path
            if change.how == "removed":
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(wanted[change.path])
    except OSError as error:
        raise VectorsRefused(f"{error.filename} cannot be written: {error.strerror}.") from error
