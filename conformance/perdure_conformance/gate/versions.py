"""Schemas by name and version, as in `event-5`: what went, what is new, and what a new version of events comes with.

A new version of events needs an upcaster: for each type of an older version that is gone in the new one, or no longer
valid by it, a golden vector has to show its newest form. And it needs histories: each of its types in a golden vector.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from perdure.kernel.values import JsonValue
from perdure_conformance.gate.alternatives import by_label
from perdure_conformance.gate.changes import Change
from perdure_conformance.gate.nodes import Library, Node
from perdure_conformance.gate.schemas import compared, takes_all
from perdure_conformance.gate.sources import Document, Side, Vectors
from perdure_conformance.reducer.histories import read_history
from perdure_conformance.vectors.vector import Vector

_NAME: Final = re.compile(r"(?P<family>.*?)[-_.:/]?v?(?P<version>[0-9]{1,9})")
_OF_EVENTS: Final = re.compile(r"(.*[-_.:/])?events?")


@dataclass(frozen=True, slots=True)
class Schema:
    """One schema of a side, by its name and its version."""

    document: Document
    name: str
    family: str
    version: int | None

    @property
    def key(self) -> tuple[str, int | None]:
        """By what it is paired with one of the other side."""
        return self.family, self.version

    @property
    def is_of_events(self) -> bool:
        """Whether it says what an event of a version is."""
        return self.version is not None and _OF_EVENTS.fullmatch(self.family) is not None


def named(document: Document) -> Schema:
    """Return a schema by its `$id`, or by its path if it has none."""
    identity = document.value.get("$id")
    name = identity.rstrip("#") if isinstance(identity, str) else document.file
    name = name.removesuffix(".json").removesuffix(".schema")
    found = _NAME.fullmatch(name)
    if found is None:
        return Schema(document, name, name, None)
    return Schema(document, name, found["family"], int(found["version"]))


def compared_schemas(old: Side, new: Side) -> Iterator[Change]:
    """Yield the changes from the schemas of one side to those of the other."""
    libraries = Library(old.name, old.schemas), Library(new.name, new.schemas)
    for library, side in zip(libraries, (old, new), strict=True):
        library.require_references(side.schemas)
    before, after = _by_key(old, new)
    if old.is_file and new.is_file and len(before) == len(after) == 1:
        (one,), (other,) = before.values(), after.values()
        before, after = {one.key: one}, {one.key: other}
    for key, one in before.items():
        if key in after:
            roots = libraries[0].root(one.document), libraries[1].root(after[key].document)
            yield from compared(*roots, is_of_events=one.is_of_events)
        elif one.version is None:
            yield Change("schema_removed", one.document.file, "", f"{one.document.file} is gone")
        else:
            yield Change("version_removed", one.document.file, "", f"version {one.version} of {one.family} is gone")
    versions = {one.family for one in before.values() if one.version is not None}
    for key, other in after.items():
        if key not in before:
            yield from _added(other, after, libraries[1], new.vectors, is_version=other.family in versions)


Schemas = dict[tuple[str, int | None], Schema]


def _by_key(old: Side, new: Side) -> tuple[Schemas, Schemas]:
    """Return the schemas of both sides by name and version; by the whole name where two of a side have the same."""
    sides = [[named(document) for document in side.schemas] for side in (old, new)]
    counts = [Counter(schema.key for schema in schemas) for schemas in sides]
    several = {key for count in counts for key, number in count.items() if number > 1}
    before, after = (
        {each.key: each for each in (_by_name(one) if one.key in several else one for one in schemas)}
        for schemas in sides
    )
    return before, after


def _by_name(schema: Schema) -> Schema:
    return replace(schema, family=schema.name, version=None)


def _added(
    schema: Schema,
    every: Schemas,
    library: Library,
    vectors: Sequence[Vectors],
    *,
    is_version: bool,
) -> Iterator[Change]:
    file = schema.document.file
    if not is_version:
        yield Change("schema_added", file, "", f"{file} is new")
        return
    if schema.is_of_events:
        root = library.root(schema.document)
        older = [each for each in every.values() if each.family == schema.family and _is_before(each, schema)]
        shown = [vector for folder in vectors for vector in folder.contents]
        wanting = [*_without_upcaster(schema, root, older, library, shown), *_without_vectors(schema, root, shown)]
        if wanting:
            yield from wanting
            return
    yield Change("version_added", file, "", f"version {schema.version} of {schema.family} is new")


def _is_before(one: Schema, other: Schema) -> bool:
    return one.version is not None and other.version is not None and one.version < other.version


def types_of(root: Node) -> Mapping[str, Node]:
    """Return the types of events of a version, each with its schema."""
    view = root.view
    alternatives = [node for keyword in ("anyOf", "oneOf") for node in view.many(keyword)] or [root]
    return {name.partition(": ")[2].strip('"'): node for name, node in by_label(alternatives).items()}


def _without_upcaster(
    schema: Schema, root: Node, older: Sequence[Schema], library: Library, shown: Sequence[Vector]
) -> Iterator[Change]:
    """Yield each older version of which some type has no newest form that is shown and right."""
    newest = types_of(root)
    risen = frozenset(_upcast(shown, root))
    for each in sorted(older, key=lambda one: one.version or 0):
        types = types_of(library.root(each.document))
        moved = [name for name, node in types.items() if name not in newest or not takes_all(node, newest[name])]
        left = [name for name in moved if (each.version, name) not in risen]
        if left:
            told = f"version {schema.version} does not take {', '.join(left)} of version {each.version} as it is"
            found = f"{told}, and no vector shows the newest form"
            yield Change("version_without_upcaster", schema.document.file, "", found)


def _upcast(shown: Sequence[Vector], root: Node) -> Iterator[tuple[int, str]]:
    """Yield what vectors show the newest form of: a version and a type, if that form is valid."""
    for vector in shown:
        events = vector.expected.get("events")
        if vector.kind != "upcast" or not isinstance(events, Sequence):
            continue
        for entry, event in zip(_entries(vector), events, strict=False):
            if root.accepts(_bare(event)):
                yield entry


def _bare(event: JsonValue) -> JsonValue:
    """Return an event without the version that is kept beside it."""
    if not isinstance(event, Mapping):
        return event
    return {name: value for name, value in event.items() if name != "recorded_version"}


def _without_vectors(schema: Schema, root: Node, shown: Sequence[Vector]) -> Iterator[Change]:
    """Yield that types of a new version stand in no history that is accepted."""
    seen = {
        entry
        for vector in shown
        if vector.kind == "reduce" and vector.expected.get("accepted") is True
        for entry in _entries(vector)
    }
    left = [name for name in types_of(root) if (schema.version, name) not in seen]
    if left:
        told = f"no history in a vector has {', '.join(left)} of version {schema.version}"
        yield Change("version_without_vectors", schema.document.file, "", told)


def _entries(vector: Vector) -> list[tuple[int, str]]:
    """Return the events of a vector, each as its version and its type; none of what is no history."""
    try:
        history, _ = read_history(vector.question)
    except ValueError:
        return []
    return [(entry.version, str(entry.event.get("type"))) for entry in history]
