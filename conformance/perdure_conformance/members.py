"""The members of what people write, and the words in them: what each does and where it may stand, as its type tells.

`python -m perdure_conformance.members` prints the table of `docs/spec/specification.md`, "What the members do".
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, cast

from perdure.authoring.schemas import SCHEMAS
from perdure.kernel.outcomes import Outcome
from perdure.kernel.specification import HandlerCatalogue, Specification
from perdure.kernel.structure import Place, places
from perdure.kernel.values import MAX_SAFE_INTEGER, JsonObject, JsonValue

_DOCUMENTS: Final[Mapping[str, tuple[object, str]]] = {
    "specification": (Specification, "specification-1"),
    "outcome": (Outcome, "outcome-1"),
    "catalogue of handlers": (HandlerCatalogue, "handlers-1"),
}
"""What people write, each with its type and the name of its schema."""


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a document, and the document version from which on it is there."""

    document: str
    path: str
    since: int


@dataclass(frozen=True, slots=True)
class Member:
    """A member, with all places where it is the same."""

    name: str
    does: str
    words: Mapping[str, str]
    """What each word does that it may be."""
    shape: str
    """What its value looks like, in words."""
    required: bool
    default: JsonValue
    places: tuple[Where, ...]


@dataclass(frozen=True, slots=True)
class Word:
    """A word that a member may be, with all places where it does the same."""

    word: str
    does: str
    of: Mapping[str, str]
    """The members that it is a word of, each with what it does."""
    places: tuple[Where, ...]


def members_called(word: str) -> list[Member]:
    """Return the members with this name; or with a path that ends so, as `retry.max_attempts`."""
    end = f".{_plain(word)}"
    return [member for member in _members() if any(f".{_plain(where.path)}".endswith(end) for where in member.places)]


def words_called(word: str) -> list[Word]:
    """Return what a word does wherever it may be written."""
    return [each for each in _words() if each.word == word]


def is_known(word: str) -> bool:
    """Tell whether a member or a word is called so."""
    return bool(members_called(word) or words_called(word))


@cache
def names() -> tuple[str, ...]:
    """Return the names of all members, and all words."""
    return tuple(dict.fromkeys([*(member.name for member in _members()), *(each.word for each in _words())]))


def table() -> str:
    """Return what the members of a specification do, as a table in Markdown."""
    rows = ["| member | what it does | from |", "| --- | --- | --- |"]
    for place in _to_be_read():
        words = "".join(f" `{word}`: {does}" for word, does in place.words.items())
        rows.append(f"| `{place.path}` | {place.description}{words} | {place.since} |")
    return "\n".join(rows) + "\n"


def _to_be_read() -> list[Place]:
    """Return each member of a specification once, the document's own ones first; not what only tells objects apart."""
    told = {place.path: place for place in places(Specification) if not place.path.endswith(".kind")}
    once = [place for path, place in told.items() if not path.startswith("children.")]
    return sorted(once, key=lambda place: ("." in place.path, f"children.*.{place.path}" in told))


def _plain(path: str) -> str:
    return path.replace("[]", "").replace(".*", "")


@cache
def _members() -> tuple[Member, ...]:
    found: dict[str, Member] = {}
    for document, place in _everywhere():
        name, shape = place.path.rpartition(".")[2], _in_words(place.schema, document)
        same = json.dumps([name, place.description, dict(place.words), shape, place.required, place.default])
        before = found[same].places if same in found else ()
        found[same] = Member(
            name=name,
            does=place.description,
            words=place.words,
            shape=shape,
            required=place.required,
            default=place.default,
            places=(*before, Where(document, place.path, place.since)),
        )
    return tuple(found.values())


@cache
def _words() -> tuple[Word, ...]:
    found: dict[tuple[str, str], Word] = {}
    for document, place in _everywhere():
        for word, does in place.words.items():
            if word not in _allowed(place.schema):
                continue
            before = found.get((word, does), Word(word, does, {}, ()))
            of = {**before.of, place.path.rpartition(".")[2]: place.description}
            found[word, does] = Word(word, does, of, (*before.places, Where(document, place.path, place.since)))
    return tuple(found.values())


def _everywhere() -> Iterator[tuple[str, Place]]:
    for document, (kind, _) in _DOCUMENTS.items():
        for place in places(kind):
            yield document, place


def _allowed(schema: JsonObject) -> list[str]:
    """Return the words that a value, or each item of it, may be itself."""
    choices = cast("Sequence[JsonObject]", schema.get("anyOf", [schema.get("items", schema)]))
    return [word for choice in choices for word in cast("Sequence[str]", choice.get("enum", []))]


def _in_words(schema: JsonObject, document: str) -> str:
    """Say what a value looks like."""
    if "$ref" in schema:
        return _object_in_words(_definition(schema, document), document)
    if "anyOf" in schema:
        return ", or ".join(_in_words(each, document) for each in cast("Sequence[JsonObject]", schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"`{word}`" for word in _allowed(schema))
    match schema.get("type"):
        case "integer":
            return _integer_in_words(schema)
        case "string":
            return _string_in_words(schema)
        case "array":
            least = f" of at least {schema['minItems']}" if "minItems" in schema else ""
            most = f" of at most {schema['maxItems']}" if "maxItems" in schema else ""
            return f"an array{least}{most}; each item: {_in_words(cast('JsonObject', schema['items']), document)}"
        case "object" if "propertyNames" in schema:
            key = _in_words(cast("JsonObject", schema["propertyNames"]), document)
            value = _in_words(cast("JsonObject", schema["additionalProperties"]), document)
            return f"an object; each key: {key}; each value: {value}"
        case "object":
            return "an object, any JSON"
        case None:
            return "any JSON"
        case _:
            return "null, true, false, a number or a string"


def _definition(reference: JsonObject, document: str) -> JsonObject:
    definitions = cast("Mapping[str, JsonObject]", SCHEMAS[_DOCUMENTS[document][1]]["$defs"])
    return definitions[str(reference["$ref"]).rpartition("/")[2]]


def _object_in_words(definition: JsonObject, document: str) -> str:
    """Name the members of an object; of one that is told apart by a word, with that word."""
    required = cast("Sequence[str]", definition["required"])
    members = cast("Mapping[str, JsonObject]", definition["properties"])
    needed = [f"`{name}` {_in_words(members[name], document)}" if name == "kind" else f"`{name}`" for name in required]
    others = [f"`{name}`" for name in members if name not in required]
    perhaps = ["perhaps " + ", ".join(others)] if others else []
    return f"an object with {' and '.join([*([', '.join(needed)] if needed else []), *perhaps])}"


def _integer_in_words(schema: JsonObject) -> str:
    most = "2^53−1" if schema["maximum"] == MAX_SAFE_INTEGER else schema["maximum"]
    return f"an integer from {schema['minimum']} to {most}"


def _string_in_words(schema: JsonObject) -> str:
    if "pattern" in schema:
        form = str(schema["pattern"]).removeprefix("^(?:").removesuffix(r")(?![\s\S])")
        return f"a string of the form {form}"
    if "maxLength" in schema:
        return f"a string of {schema.get('minLength', 0)} to {schema['maxLength']} characters"
    return "a string"


if __name__ == "__main__":  # pragma: no cover
    sys.stdout.write(table())
