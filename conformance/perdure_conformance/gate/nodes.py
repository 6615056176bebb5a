"""One place of a JSON Schema: references are followed, and what stands together is put together.

References lead within the side alone: to another file of it by its `$id` or its path, and never to a network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote, unquote, urldefrag, urljoin

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from perdure.kernel.problems import pointer_token
from perdure.kernel.values import JsonValue, canonical_json
from perdure_conformance.gate.sources import Document, GateRefused
from perdure_conformance.gate.values import equal

Schema = bool | Mapping[str, Any]
Place = tuple[str, str, str]

TEXT: Final = frozenset({"title", "description", "$comment", "examples", "deprecated", "readOnly", "writeOnly"})
"""What is for people."""
_NO_DEMAND: Final = frozenset({*TEXT, "$schema", "$id", "$defs", "definitions", "$anchor", "$dynamicAnchor", "default"})
DEFINITIONS: Final = ("$defs", "definitions")
ONE: Final = frozenset({"items", "additionalProperties", "propertyNames", "not", "if", "then", "else", "contains"})
"""Keywords whose value is a schema."""
MANY: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
"""Keywords whose value is an array of schemas."""
BY_NAME: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""Keywords whose value is an object of schemas."""
_SIZED: Final = ("Length", "Items", "Properties", "Contains")
_SIZES: Final = frozenset(f"{end}{what}" for end in ("min", "max") for what in _SIZED)
_NUMBERS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_OF_DRAFTS: Final = frozenset({"additionalItems", "dependencies", "$dynamicRef", "$recursiveRef"})
CONTENTS: Final = frozenset({"contentEncoding", "contentMediaType", "contentSchema"})
"""What a text means: nothing is refused by them, and the same text is something else by another of them."""
_PLAIN: Final = frozenset(
    {"type", "enum", "const", "required", "pattern", "format", "uniqueItems", "dependentRequired"}
)
_DEMANDS: Final = _SIZES | _NUMBERS | _UNEVALUATED | _OF_DRAFTS | CONTENTS | _PLAIN
"""The other keywords by which something is valid or not."""
_KNOWN: Final = ONE | MANY | BY_NAME | _DEMANDS
_READ_TOGETHER: Final = (
    (frozenset({"additionalProperties"}), frozenset({"properties", "patternProperties", "additionalProperties"})),
    (frozenset({"items", "additionalItems"}), frozenset({"items", "additionalItems", "prefixItems"})),
    (frozenset({"if", "then", "else"}), frozenset({"if", "then", "else"})),
    (frozenset({"contains", "minContains", "maxContains"}), frozenset({"contains", "minContains", "maxContains"})),
)
"""Keywords, each with those that it is read by where they stand beside it, and not where they must hold as well."""
_REFERENCES: Final = 200


class Library:
    """All schemas of a side."""

    def __init__(self, name: str, documents: Sequence[Document]) -> None:
        self._name = name
        self.files: dict[str, str] = {}
        registry: Registry[Schema] = Registry()
        for document in documents:
            uri = self._uri(document)
            if uri in self.files:
                raise GateRefused(f"{name}: {self.files[uri]} and {document.file} have the same $id: leave one out.")
            self.files[uri] = document.file
            registry = registry.with_resource(uri, DRAFT202012.create_resource(document.value))
        self._registry = registry
        self._places: dict[int, Node] = {}
        self.alike: dict[tuple[Place, int, Place], bool] = {}
        """Places of this side and of others, and whether they demand the same: each is found out once."""

    @staticmethod
    def _uri(document: Document) -> str:
        identity = document.value.get("$id")
        return identity.rstrip("#") if isinstance(identity, str) else f"file:///{document.file}"

    def require_references(self, documents: Sequence[Document]) -> None:
        """Follow every reference there is. Raises `GateRefused` for one that leads to nothing, or in a circle."""
        left = [self.root(document) for document in documents]
        while left:
            node = left.pop()
            if isinstance(node.schema, Mapping):
                self._places[id(node.schema)] = node
            left += _parts(node)
            assert node.view is not None

    def root(self, document: Document) -> Node:
        """Return the whole of a schema."""
        uri = self._uri(document)
        return Node(self, uri, "", document.value)

    def follow(self, node: Node, reference: str) -> Node:
        """Return what a reference leads to. Raises `GateRefused`."""
        where = f"{self._name}, {node.file}, {node.pointer or 'at its beginning'}"
        try:
            uri, fragment = urldefrag(reference)
            uri = node.uri if not uri else urljoin(node.uri, uri)
            found = self._registry.resolver().lookup(f"{uri}#{fragment}")
        except (Unresolvable, ValueError) as error:
            advice = "nothing is fetched: put the schema that has it into the folder"
            raise GateRefused(f"{where}: {reference[:200]!a} leads to nothing there, and {advice}.") from error
        if not isinstance(found.contents, Mapping | bool):
            raise GateRefused(f"{where}: {reference[:200]!a} leads to what is no schema: let it lead to one.")
        return self._places.get(id(found.contents)) or Node(self, uri, unquote(fragment), found.contents)

    def is_valid(self, node: Node, value: JsonValue) -> bool:
        """Tell whether a value is valid by a schema. Raises `GateRefused` for one that cannot be asked."""
        reference = {"$ref": f"{node.uri}#{quote(node.pointer)}"} if isinstance(node.schema, Mapping) else node.schema
        try:
            return Draft202012Validator(reference, registry=self._registry).is_valid(value)
        except (Unresolvable, RecursionError, re.error) as error:
            raise GateRefused(f"{self._name}, {node.file}: {node.pointer} cannot be asked: {error}.") from error


@dataclass(frozen=True)
class Node:
    """A place in a schema."""

    library: Library
    uri: str
    pointer: str
    schema: Schema
    part: str = ""
    """Which part of what stands there it is, if it is not the whole."""

    @property
    def file(self) -> str:
        """The file that it stands in."""
        return self.library.files.get(self.uri, self.uri)

    @property
    def place(self) -> Place:
        """What tells it from every other one of its side."""
        return self.uri, self.pointer, self.part

    def below(self, keyword: str, step: str | int | None, schema: Schema) -> Node:
        """Return a part of it."""
        if isinstance(schema, Mapping) and isinstance(schema.get("$id"), str):
            return Node(self.library, urljoin(self.uri, schema["$id"]), "", schema)
        told = "" if step is None else f"/{pointer_token(str(step))}"
        return Node(self.library, self.uri, f"{self.pointer}/{keyword}{told}", schema)

    @cached_property
    def view(self) -> View:
        """What it demands, together with what it refers to. Raises `GateRefused`."""
        return _view(self, ())

    def accepts(self, value: JsonValue) -> bool:
        """Tell whether a value is valid by it."""
        return self.library.is_valid(self, value)


@dataclass(frozen=True)
class View:
    """Keywords of a place, each with the place where it stands."""

    home: Node
    keywords: Mapping[str, tuple[Any, Node]]
    nothing: bool
    """Whether no value at all is valid."""
    rest: tuple[Node, ...] = ()
    """What must hold as well, and says something else under the same keyword."""

    def get(self, keyword: str, otherwise: Any = None) -> Any:
        """Return the value of a keyword."""
        return self.keywords[keyword][0] if keyword in self.keywords else otherwise

    def one(self, keyword: str) -> Node:
        """Return the schema that a keyword has; the one by which everything is valid if it is not there."""
        value, origin = self.keywords.get(keyword, (True, self.home))
        return origin.below(keyword, None, value)

    def many(self, keyword: str) -> list[Node]:
        """Return the schemas that a keyword has in an array."""
        value, origin = self.keywords.get(keyword, ([], self.home))
        return [origin.below(keyword, number, each) for number, each in enumerate(value)]

    def by_name(self, keyword: str) -> dict[str, Node]:
        """Return the schemas that a keyword has by name."""
        value, origin = self.keywords.get(keyword, ({}, self.home))
        return {name: origin.below(keyword, name, each) for name, each in value.items()}

    @property
    def demands(self) -> frozenset[str]:
        """The keywords by which something is valid or not."""
        return frozenset(self.keywords) & _KNOWN


def _view(node: Node, above: tuple[Place, ...]) -> View:
    where = f"{node.file}, {node.pointer or 'at its beginning'}"
    if node.place in above:
        raise GateRefused(f"{where}: the reference leads in a circle, and to no schema: let it lead to one.")
    if len(above) > _REFERENCES:
        raise GateRefused(f"{where}: more than {_REFERENCES} references lead here one by one: let each lead here.")
    way = (*above, node.place)
    if not isinstance(node.schema, Mapping):
        return View(node, {}, nothing=not node.schema)
    plain = _of_one_spelling(node.schema)
    own = {name: (value, node) for name, value in plain.items() if name not in {"$ref", "allOf"}}
    parts = [node.library.follow(node, node.schema["$ref"])] if "$ref" in node.schema else []
    says_something = own.keys() & (_KNOWN | {"default"}) or "allOf" in node.schema
    parts += [node.below("allOf", number, each) for number, each in enumerate(node.schema.get("allOf", ()))]
    views = [(each, _view(each, way)) for each in parts]
    home = views[0][1].home if views and not says_something else node
    return _together(View(home, own, nothing=False), views)


def _of_one_spelling(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return keywords with a list of one type as that type, and one listed value as a constant."""
    found = dict(schema)
    if isinstance(found.get("type"), list) and len(found["type"]) == 1:
        found["type"] = found["type"][0]
    if len(found.get("enum", ())) == 1 and "const" not in found:
        found["const"] = found.pop("enum")[0]
    return found


def _together(view: View, parts: Sequence[tuple[Node, View]]) -> View:
    """Put parts that must all hold together, as far as they do not speak about the same."""
    keywords, nothing, rest = dict(view.keywords), view.nothing, list(view.rest)
    is_alone = len(parts) == 1 and not view.demands
    for node, part in parts:
        nothing = nothing or part.nothing
        shared = {name for name in part.demands & keywords.keys() if not equal(keywords[name][0], part.get(name))}
        is_apart = part.demands & _UNEVALUATED and not is_alone
        if shared - {"required"} or is_apart or _read_otherwise(keywords, part):
            rest.append(node)
            continue
        rest += part.rest
        for name, (value, origin) in part.keywords.items():
            if name not in keywords:
                keywords[name] = (value, origin)
            elif name == "required":
                both = list(dict.fromkeys([*keywords[name][0], *value]))
                keywords[name] = (both, keywords[name][1])
    return View(view.home, keywords, nothing, tuple(rest))


def _read_otherwise(keywords: Mapping[str, tuple[Any, Node]], part: View) -> bool:
    """Tell whether something would be read by what stands beside it alone if all of it stood in one place."""
    for readers, read in _READ_TOGETHER:
        own, others = read & keywords.keys(), read & part.demands
        if own and others and (own | others) & readers:
            agree = own == others and all(equal(keywords[name][0], part.get(name)) for name in own)
            if not agree:
                return True
    return False


def same(old: Node, new: Node) -> bool:
    """Tell whether two places demand the same, and have the same defaults; words for people may differ."""
    known = old.library.alike
    met: dict[_Pair, _Pair | None] = {}
    left: list[tuple[Node, Node, _Pair | None]] = [(old, new, None)]
    while left:
        one, other, above = left.pop()
        pair = _pair(one, other)
        if pair in met or known.get(pair):
            continue
        met[pair] = above
        parts = None if pair in known else _same_but_below(one.view, other.view)
        if parts is None:
            at: _Pair | None = pair
            while at is not None:  # What differs below differs above as well.
                known[at] = False
                at = met[at]
            return False
        left += [(*each, pair) for each in parts]
    known.update(dict.fromkeys(met, True))
    return True


_Pair = tuple[Place, int, Place]


def _pair(one: Node, other: Node) -> _Pair:
    return one.view.home.place, id(other.library), other.view.home.place


def _same_but_below(one: View, other: View) -> list[tuple[Node, Node]] | None:
    """Return the pairs that have to demand the same, so that two places do; None if they do not, whatever is below."""
    if one.nothing != other.nothing or one.demands != other.demands or len(one.rest) != len(other.rest):
        return None
    if not equal(one.get("default", _ABSENT), other.get("default", _ABSENT)):
        return None
    pairs = list(zip(one.rest, other.rest, strict=True))
    for name in sorted(one.demands):
        below = _same_keyword(one, other, name)
        if below is None:
            return None
        pairs += below
    return pairs


_ABSENT: Final = {"no default": True, "at all": ["nothing"]}


def _same_keyword(one: View, other: View, name: str) -> list[tuple[Node, Node]] | None:
    if name in ONE:
        return [(one.one(name), other.one(name))]
    if name in MANY:
        lists = one.many(name), other.many(name)
        return list(zip(*lists, strict=True)) if len(lists[0]) == len(lists[1]) else None
    if name in BY_NAME:
        members, others = one.by_name(name), other.by_name(name)
        return [(members[each], others[each]) for each in members] if members.keys() == others.keys() else None
    values = one.get(name), other.get(name)
    if name in {"required", "enum", "type"} and all(isinstance(value, list) for value in values):
        is_same = {canonical_json(each) for each in values[0]} == {canonical_json(each) for each in values[1]}
    else:
        is_same = equal(*values)
    return [] if is_same else None


def _parts(node: Node) -> Iterator[Node]:
    """Yield the schemas that stand in a place, as they stand there."""
    if not isinstance(node.schema, Mapping):
        return
    for keyword, value in node.schema.items():
        if keyword in ONE and isinstance(value, Mapping | bool):
            yield node.below(keyword, None, value)
        elif keyword in MANY:
            yield from (node.below(keyword, number, each) for number, each in enumerate(value))
        elif keyword in BY_NAME or keyword in DEFINITIONS:
            yield from (node.below(keyword, name, each) for name, each in value.items())


def definitions(node: Node) -> dict[str, Node]:
    """Return the definitions of a whole schema."""
    if not isinstance(node.schema, Mapping):
        return {}
    return {
        name: node.below(keyword, name, each)
        for keyword in DEFINITIONS
        for name, each in node.schema.get(keyword, {}).items()
    }


def texts(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return what keywords say for people; what no standard knows is for people too."""
    return {
        name: value for name, value in keywords.items() if name in TEXT or name not in _KNOWN | _NO_DEMAND | {"$ref"}
    }
