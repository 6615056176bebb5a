"""Structure: what a JSON document may look like, said once, as annotated types.

From the same types come the decoder, which reports every difference instead of the first one, and the JSON Schema.
A type is built of: strings, integers and booleans, words (`Literal`), scalars, any JSON, tuples, mappings, structs, and
unions of words and structs. The structs of a union are told apart by their first member: by its value if it is a
word, else by its name.

Source: "Records and events" of the graph design: schema and decoder accept exactly the same parsed values.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Final, Literal, NewType, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, UnsetType

from perdure.kernel.problems import Correction, Problems, listed, pointer_token, quoted
from perdure.kernel.values import MAX_SAFE_INTEGER, JsonObject, JsonValue

Scalar = None | bool | int | float | str

AtLeastOne = Annotated[int, Meta(ge=1, le=MAX_SAFE_INTEGER)]
AtLeastZero = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]

LATEST: Final = 5
"""The latest version that any member came with."""

_LONGEST_KEY: Final = 1_000
_REQUIRED_SHOWN: Final = 4

_END: Final = r"(?![\s\S])"  # Where ECMA and Python both see the end of a string, and nothing else.


UNIQUE: Final = Meta(extra={"unique": True})
"""The constraint that no string stands twice in an array."""


def whole(grammar: str, *, code: str | None = None) -> Meta:
    """Return the constraint that a string matches the grammar from end to end, and the code if it does not."""
    return Meta(pattern=f"^(?:{grammar}){_END}", extra={"code": code} if code is not None else None)


def about(description: str, *, since: int = 1, words: Mapping[str, str] | None = None) -> Meta:
    """Return what is said about a member and each word that it may be, and the version that introduced it."""
    return Meta(description=description, extra={"since": since, "words": words or {}})


class Hole(Exception):
    """A value is so wrong that nothing can stand for it."""


@dataclass(slots=True)
class Reading:
    """One document being decoded."""

    problems: Problems
    version: int | None = None
    """The version that the document claims, as far as it matters which members it may have."""
    places: dict[int, str] = field(default_factory=dict)
    """The JSON Pointer of each struct, by identity."""
    made_up: set[str] = field(default_factory=set)
    """The places of values that had to be left out or made up, and of all that they are in: never one without these."""
    incomplete: set[str] = field(default_factory=set)
    """The places of arrays that lack an item, and of objects with a member that nobody knows."""

    ill_formed: set[str] = field(default_factory=set)
    """The places of strings that have not the form that they must have: they are kept as they are."""

    def wound(self, place: str) -> None:
        """Note that the value at a place is not the document's own."""
        while place and place not in self.made_up:
            self.made_up.add(place)
            place = place.rpartition("/")[0]


class Definitions(dict[str, JsonValue]):
    """The JSON Schemas of structs by name, with the members that there are up to a version."""

    def __init__(self, version: int) -> None:
        super().__init__()
        self.version = version


class Shape(ABC):
    """One kind of value."""

    words: str
    """What it is, for a sentence."""

    @abstractmethod
    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        """Return the decoded value, or something harmless in its place. Raises `Hole`."""
        ...

    def hole(self) -> object:
        """Return what can stand for a wrong value without further harm. Raises `Hole` if nothing can."""
        raise Hole

    @abstractmethod
    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        """Return its JSON Schema; structs go to `definitions`."""
        ...


def _wrong_type(shape: Shape, value: JsonValue, place: str, reading: Reading, *, as_in: str = "") -> object:
    reading.wound(place)
    reading.problems.error("wrong_type", place, f"Write {shape.words} here{as_in}; this is {_kind_of(value)}.")
    return shape.hole()


def _kind_of(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"[:60]
        case str():
            return f"the string {quoted(value)}"
        case Mapping():
            return "an object"
        case _:
            return "an array"


@dataclass(frozen=True, slots=True)
class _Text(Shape):
    pattern: re.Pattern[str] | None
    min_length: int
    max_length: int | None
    code: str
    words: str = "a string"

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        if not isinstance(value, str):
            return _wrong_type(self, value, place, reading)
        return self.read_text(value, place, reading)

    def matches(self, value: str) -> bool:
        """Tell whether a string has the form."""
        return self.pattern is None or self.pattern.search(value) is not None

    def read_text(self, value: str, place: str, reading: Reading, *, is_key: bool = False) -> str:
        """Return the string or the key as it is, so that what it names can still be found."""
        if not self.matches(value):
            assert self.pattern is not None
            told = f"{quoted(value)} has not the form {_grammar(self.pattern)}."
            reading.problems.error(self.code, place, told, at_key=is_key)
            reading.ill_formed.add(place)
            return value
        if len(value) < self.min_length or (self.max_length is not None and len(value) > self.max_length):
            told = f"Write {self.min_length} to {self.max_length} characters here; there are {len(value)}."
            reading.problems.error(self.code, place, told, at_key=is_key)
        return value

    def hole(self) -> object:
        return ""

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        del definitions
        found: dict[str, JsonValue] = {"type": "string"}
        if self.pattern is not None:
            found["pattern"] = self.pattern.pattern
        if self.min_length:
            found["minLength"] = self.min_length
        if self.max_length is not None:
            found["maxLength"] = self.max_length
        return found


def _grammar(pattern: re.Pattern[str]) -> str:
    return pattern.pattern.removeprefix("^(?:").removesuffix(f"){_END}")


@dataclass(frozen=True, slots=True)
class _Integer(Shape):
    minimum: int
    maximum: int
    code: str
    words: str = "an integer"

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        if isinstance(number, bool) or not isinstance(number, int):
            return _wrong_type(self, value, place, reading)
        if not self.minimum <= number <= self.maximum:
            allowed = f"at least {self.minimum} and at most {self.maximum}"
            reading.problems.error(self.code, place, f"This number must be {allowed}; it is {str(number)[:40]}.")
        return number

    def hole(self) -> object:
        return self.minimum

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        del definitions
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True, slots=True)
class _Boolean(Shape):
    words: str = "true or false"

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        return value if isinstance(value, bool) else _wrong_type(self, value, place, reading)

    def hole(self) -> object:
        return False

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        del definitions
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class _Word(Shape):
    allowed: tuple[str, ...]

    @property
    def words(self) -> str:  # type: ignore[override]
        """Return the words themselves."""
        return f"one of {listed(self.allowed)}" if len(self.allowed) > 1 else quoted(self.allowed[0])

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        if not isinstance(value, str):
            return _wrong_type(self, value, place, reading)
        if value not in self.allowed:
            reading.wound(place)
            fix = reading.problems.meant(value, self.allowed, otherwise=f"write {self.words}.")
            reading.problems.error("unknown_word", place, f"{quoted(value)} means nothing here; {fix}")
            return self.hole()
        return value

    def hole(self) -> object:
        return self.allowed[0]

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        del definitions
        return {"enum": list(self.allowed)}


@dataclass(frozen=True, slots=True)
class _Scalar(Shape):
    words: str = "null, true, false, a number or a string"

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        return _wrong_type(self, value, place, reading)

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        del definitions
        return {"type": ["null", "boolean", "number", "string"]}


@dataclass(frozen=True, slots=True)
class _Anything(Shape):
    words: str = "any JSON"

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        del place, reading
        return value

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        del definitions
        return {}


@dataclass(frozen=True, slots=True)
class _AnyObject(Shape):
    words: str = "an object"

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        if isinstance(value, Mapping):
            return value
        return _wrong_type(self, value, place, reading)

    def hole(self) -> object:
        return {}

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        del definitions
        return {"type": "object"}


@dataclass(frozen=True, slots=True)
class _Array(Shape):
    item: Shape
    min_items: int
    max_items: int | None
    is_unique: bool = False
    words: str = "an array"

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        if not isinstance(value, Sequence) or isinstance(value, str):
            reading.incomplete.add(place)
            return _wrong_type(self, value, place, reading)
        if len(value) < self.min_items or (self.max_items is not None and len(value) > self.max_items):
            most = "" if self.max_items is None else f" and at most {self.max_items}"
            told = f"This array needs at least {self.min_items}{most}; there are {len(value)}."
            reading.problems.error("out_of_range", place, told)
        items = []
        for position, item in enumerate(value):
            try:
                items.append(self.item.read(item, f"{place}/{position}", reading))
            except Hole:
                reading.incomplete.add(place)
        if self.is_unique:
            _tell_repeated(value, place, reading)
        return tuple(items)

    def hole(self) -> object:
        return ()

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {"type": "array", "items": self.item.schema(definitions)}
        if self.min_items:
            found["minItems"] = self.min_items
        if self.max_items is not None:
            found["maxItems"] = self.max_items
        if self.is_unique:
            found["uniqueItems"] = True
        return found


def _tell_repeated(value: Sequence[JsonValue], place: str, reading: Reading) -> None:
    seen: set[str] = set()
    for position, item in enumerate(value):
        if isinstance(item, str) and item in seen:
            repeated_name(item, f"{place}/{position}", reading.problems)
        elif isinstance(item, str):
            seen.add(item)


def repeated_name(name: str, place: str, problems: Problems) -> None:
    """Note that a name stands in its array already."""
    told = f"Take {quoted(name)} away: it stands here already."
    problems.error("duplicate_name", place, told, correction=Correction(pointer=place, remove=True))


@dataclass(frozen=True, slots=True)
class _Map(Shape):
    key: _Text
    item: Shape
    words: str = "an object"

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        if not isinstance(value, Mapping):
            return _wrong_type(self, value, place, reading)
        items = {}
        for key, item in value.items():
            inside = f"{place}/{pointer_token(key)}"
            self.key.read_text(key, inside, reading, is_key=True)
            if len(key) > _LONGEST_KEY:  # Each place inside would be as long.
                reading.incomplete.add(place)
                continue
            try:
                items[key] = self.item.read(item, inside, reading)
            except Hole:
                reading.incomplete.add(place)
        return items

    def hole(self) -> object:
        return {}

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        return {
            "type": "object",
            "propertyNames": self.key.schema(definitions),
            "additionalProperties": self.item.schema(definitions),
        }


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    attribute: str
    shape: Shape
    required: bool
    default: JsonValue
    since: int
    description: str
    words: Mapping[str, str]

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        inside = f"{place}/{self.name}"
        if reading.version is not None and self.since > reading.version:
            _too_new(self, reading.version, inside, reading)
        return self.shape.read(value, inside, reading)

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        since = f" From schema_version {self.since} on." if self.since > 1 else ""
        words = "".join(f" `{word}`: {meaning}" for word, meaning in self.words.items())
        default = {"default": self.default} if self.default is not None else {}
        return {**self.shape.schema(definitions), "description": self.description + words + since, **default}


@dataclass(frozen=True, slots=True)
class _Record(Shape):
    make: Callable[..., object]
    name: str
    description: str
    members: Mapping[str, _Member]

    @property
    def words(self) -> str:  # type: ignore[override]
        """Return what it is, with the members that it cannot be without."""
        required = [quoted(member.name) for member in self.members.values() if member.required]
        return f"an object with {_joined(required)}" if 0 < len(required) <= _REQUIRED_SHOWN else "an object"

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        if not isinstance(value, Mapping):
            return _wrong_type(self, value, place, reading, as_in=self._around(value))
        arguments: dict[str, object] = {}
        usable = True
        for key in value:
            if key not in self.members:
                self._unknown(key, place, reading)
        for member in self.members.values():
            try:
                if member.name in value:
                    arguments[member.attribute] = member.read(value[member.name], place, reading)
                elif member.required:
                    arguments[member.attribute] = _missing(member, place, reading)
            except Hole:
                usable = usable and not member.required
        if not usable:
            raise Hole
        arguments.pop("", None)
        made = self.make(**arguments)
        reading.places[id(made)] = place
        return made

    def _around(self, value: JsonValue) -> str:
        """Return the object that a string was probably written for, for a sentence; empty if none is plain."""
        required = [member for member in self.members.values() if member.required]
        if not isinstance(value, str) or not required or not _is_named_by(required[0].shape, value):
            return ""
        if not all(isinstance(member.shape, _Integer) for member in required[1:]):
            return ""
        shown = [f"{required[0].name}: {value}", *(f"{member.name}: {member.shape.hole()}" for member in required[1:])]
        whole_object = "{" + ", ".join(shown) + "}"
        return f", as in {quoted(whole_object, 200)}"

    def _unknown(self, key: str, place: str, reading: Reading) -> None:
        reading.incomplete.add(place)
        otherwise = f"leave it out. Members here: {listed(self.members)}."
        fix = reading.problems.meant(key, self.members, otherwise=otherwise)
        told = f"There is no member {quoted(key)} here; {fix}"
        reading.problems.error("unknown_member", f"{place}/{pointer_token(key)}", told, at_key=True)

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        if self.name not in definitions:
            definitions[self.name] = {}
            members = [member for member in self.members.values() if member.since <= definitions.version]
            definitions[self.name] = {
                "description": self.description,
                "type": "object",
                "properties": {member.name: member.schema(definitions) for member in members},
                "required": [member.name for member in members if member.required],
                "additionalProperties": False,
            }
        return {"$ref": f"#/$defs/{self.name}"}


def _is_named_by(shape: Shape, value: str) -> bool:
    return isinstance(shape, _Text) and shape.pattern is not None and shape.matches(value)


def _joined(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _missing(member: _Member, place: str, reading: Reading) -> object:
    reading.wound(f"{place}/{member.name}")
    told = f"Add {quoted(member.name)}, {member.shape.words}: {member.description}"
    reading.problems.error("missing_member", place, told)
    return member.shape.hole()


def _too_new(member: _Member, version: int, place: str, reading: Reading) -> None:
    told = (
        f"{quoted(member.name)} came with schema_version {member.since}, and this document has {version}: "
        f"raise schema_version, or leave it out."
    )
    correction = Correction(pointer="/schema_version", value=member.since)
    reading.problems.error("member_of_later_version", place, told, at_key=True, correction=correction)


@dataclass(frozen=True, slots=True)
class _Union(Shape):
    word: _Word | None
    records: tuple[_Record, ...]

    @property
    def words(self) -> str:  # type: ignore[override]
        """Return what there is to choose from."""
        objects = " or ".join(dict.fromkeys(f"an object with {quoted(_first(record).name)}" for record in self.records))
        return f"{self.word.words} or {objects}" if self.word is not None else objects

    def read(self, value: JsonValue, place: str, reading: Reading) -> object:
        if isinstance(value, str) and self.word is not None:
            return self._read_word(self.word, value, place, reading)
        if not isinstance(value, Mapping):
            return _wrong_type(self, value, place, reading)
        for record in self.records:
            if _is_told_by(record, value):
                return record.read(value, place, reading)
        first = _first(self.records[0])
        words = _Word(tuple(word for record in self.records for word in _words_of(record)))
        reading.wound(place)
        if isinstance(first.shape, _Word) and first.name in value:
            words.read(value[first.name], f"{place}/{first.name}", reading)
        elif all(_first(record).name == first.name for record in self.records):
            told = f"Add {quoted(first.name)}, {words.words}{self._told_by_members(value)}."
            reading.problems.error("missing_member", place, told)
        else:
            reading.problems.error("missing_member", place, f"Write {self.words} here.")
        return self.hole()

    def _told_by_members(self, value: JsonObject) -> str:
        """Return which word goes with the members that are there, if one alone does."""
        fitting = [record for record in self.records if value and value.keys() <= record.members.keys()]
        if len(fitting) != 1:
            return ""
        word = _words_of(fitting[0])[0]
        return f"; with {listed(value)} it is {quoted(word)}"

    def _read_word(self, word: _Word, value: str, place: str, reading: Reading) -> object:
        """Read a word; one that belongs into an object is told where."""
        meant = next((_first(record).name for record in self.records if value in _words_of(record)), None)
        if value in word.allowed or meant is None:
            return word.read(value, place, reading)
        reading.wound(place)
        told = f"Write an object here: {quoted(f'{{{meant}: {value}}}')}."
        reading.problems.error("unknown_word", place, told)
        return self.hole()

    def schema(self, definitions: Definitions) -> dict[str, JsonValue]:
        shapes: list[Shape] = [*([self.word] if self.word is not None else []), *self.records]
        return {"anyOf": [shape.schema(definitions) for shape in shapes]}


def _first(record: _Record) -> _Member:
    return next(iter(record.members.values()))


def _words_of(record: _Record) -> tuple[str, ...]:
    shape = _first(record).shape
    return shape.allowed if isinstance(shape, _Word) else ()


def _is_told_by(record: _Record, value: JsonObject) -> bool:
    name, words = _first(record).name, _words_of(record)
    found = value.get(name)
    return isinstance(found, str) and found in words if words else name in value


ANY: Final = Meta(title="any JSON")
if TYPE_CHECKING:
    Json = Annotated[JsonValue, ANY]
    Members = Annotated[JsonObject, ANY]
else:  # msgspec knows no recursive types.
    Json = Annotated[object, ANY]
    Members = Annotated[Mapping[str, object], ANY]


@cache
def _shape(kind: object) -> Shape:
    return _shape_of(kind, ())


def _shape_of(kind: object, metas: tuple[Meta, ...]) -> Shape:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _shape_of(arguments[0], (*arguments[1:], *metas))
    if isinstance(kind, NewType):
        return _shape_of(kind.__supertype__, metas)
    if ANY in metas:
        return _AnyObject() if origin is Mapping else _Anything()
    if origin is Literal:
        return _Word(arguments)
    if origin in {Union, UnionType}:
        return _union(arguments, metas)
    if origin is tuple:
        item = _shape_of(arguments[0], ())
        return _Array(item, _limit(metas, "min_length") or 0, _limit(metas, "max_length"), UNIQUE in metas)
    if origin is Mapping:
        key = _shape_of(arguments[0], ())
        assert isinstance(key, _Text)
        return _Map(key, _shape_of(arguments[1], ()))
    if kind is str:
        return _text(metas)
    if kind is int:
        lowest, highest = _limit(metas, "ge"), _limit(metas, "le")
        assert lowest is not None
        assert highest is not None
        return _Integer(lowest, highest, _code(metas, "out_of_range"))
    assert isinstance(kind, type)
    return _Boolean() if kind is bool else _record(kind)


def _union(kinds: tuple[object, ...], metas: tuple[Meta, ...]) -> Shape:
    if set(kinds) == set(get_args(Scalar)):
        return _Scalar()
    kinds = tuple(kind for kind in kinds if kind not in {NoneType, UnsetType})
    if len(kinds) == 1:
        return _shape_of(kinds[0], metas)
    shapes = [_shape_of(kind, ()) for kind in kinds]
    words = [shape for shape in shapes if isinstance(shape, _Word)]
    return _Union(words[0] if words else None, tuple(shape for shape in shapes if isinstance(shape, _Record)))


def _text(metas: tuple[Meta, ...]) -> _Text:
    patterns = [re.compile(meta.pattern) for meta in metas if meta.pattern is not None]
    return _Text(
        pattern=patterns[0] if patterns else None,
        min_length=_limit(metas, "min_length") or 0,
        max_length=_limit(metas, "max_length"),
        code=_code(metas, "wrong_form"),
    )


def _limit(metas: tuple[Meta, ...], name: str) -> int | None:
    found: list[int] = [limit for meta in metas if (limit := getattr(meta, name)) is not None]
    return found[0] if found else None


def _code(metas: tuple[Meta, ...], default: str) -> str:
    codes: list[str] = [meta.extra["code"] for meta in metas if meta.extra and "code" in meta.extra]
    return codes[0] if codes else default


@cache
def _record(kind: type[msgspec.Struct]) -> _Record:
    hints = get_type_hints(kind, include_extras=True)
    members = [*_tag(kind), *(_member(hints[field.name], field) for field in msgspec.structs.fields(kind))]
    description = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    return _Record(kind, kind.__name__, description, {member.name: member for member in members})


def _tag(kind: type[msgspec.Struct]) -> list[_Member]:
    """Return the member that tells the structs of a union apart, if it is a tag: no attribute holds it."""
    config = kind.__struct_config__
    if config.tag_field is None:
        return []
    told = "Says what this is."
    return [_Member(config.tag_field, "", _Word((str(config.tag),)), True, None, 1, told, {})]  # noqa: FBT003


def _member(hint: object, of: msgspec.structs.FieldInfo) -> _Member:
    metas = _metas(hint)
    said = [meta.extra for meta in metas if meta.extra and "since" in meta.extra]
    shape = _shape_of(hint, ())
    default = None if of.default in (NODEFAULT, UNSET) else of.default
    return _Member(
        name=of.encode_name,
        attribute=of.name,
        shape=shape,
        required=of.required,
        default=list(default) if isinstance(default, tuple) else msgspec.to_builtins(default),
        since=said[0]["since"] if said else 1,
        description=" ".join(meta.description for meta in metas if meta.description is not None),
        words=(said[0]["words"] if said else {}) or _words_told_apart(shape),
    )


def _words_told_apart(shape: Shape) -> Mapping[str, str]:
    """Return the words by which the objects of a choice are told apart, each with what its object is."""
    records = shape.records if isinstance(shape, _Union) else ()
    return {word: record.description for record in records for word in _words_of(record)}


def _metas(hint: object) -> tuple[Meta, ...]:
    """Return all that is said about a member, around its type, or around what is there if it may be absent."""
    arguments = get_args(hint)
    if get_origin(hint) is Annotated:
        return (*arguments[1:], *_metas(arguments[0]))
    if get_origin(hint) in {Union, UnionType}:
        return tuple(meta for argument in arguments for meta in _metas(argument))
    return ()


def read(kind: object, value: JsonValue, reading: Reading) -> object | None:
    """Decode `value` as a type, and note every difference; None if nothing of it can be used."""
    try:
        return _shape(kind).read(value, "", reading)
    except Hole:
        return None


@dataclass(frozen=True, slots=True)
class Place:
    """A member at a place where it may stand, as its type tells of it."""

    path: str
    """From the outermost object: `nodes[].id` in each item of an array, `children.*.nodes` in each value of a map."""
    description: str
    words: Mapping[str, str]
    """What each word does that it may be."""
    since: int
    """The document version from which on it may stand there."""
    required: bool
    default: JsonValue
    schema: JsonObject
    """The JSON Schema of its value; `$ref` names an object by its type."""


def places(kind: object) -> Iterator[Place]:
    """Go through every member that a document of this type may have, each object before what is in it."""
    return _places(_shape(kind), "", 1)


def _places(shape: Shape, path: str, since: int) -> Iterator[Place]:
    match shape:
        case _Array():
            yield from _places(shape.item, f"{path}[]", since)
        case _Map():
            yield from _places(shape.item, f"{path}.*", since)
        case _Union():
            for record in shape.records:
                yield from _places(record, path, since)
        case _Record():
            for member in shape.members.values():
                inside, from_then_on = f"{path}.{member.name}".removeprefix("."), max(since, member.since)
                yield Place(
                    path=inside,
                    description=member.description,
                    words=member.words or _word_of_its_object(shape, member),
                    since=from_then_on,
                    required=member.required,
                    default=member.default,
                    schema=member.shape.schema(Definitions(LATEST)),
                )
                yield from _places(member.shape, inside, from_then_on)
        case _:
            return


def _word_of_its_object(record: _Record, member: _Member) -> Mapping[str, str]:
    words = _words_of(record) if member is _first(record) else ()
    return dict.fromkeys(words, record.description)


def json_schema(kind: object, *, identity: str, title: str, version: int = LATEST) -> JsonObject:
    """Return the JSON Schema (2020-12) of a type, with the members that there are up to a version."""
    definitions = Definitions(version)
    root = _shape(kind).schema(definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": identity,
        "title": title,
        **root,
        "$defs": dict(sorted(definitions.items())),
    }
