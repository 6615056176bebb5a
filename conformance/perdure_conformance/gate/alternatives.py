"""The alternatives of two schemas, each with its partner: by what tells it apart, by all it says, by its types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.kernel.values import canonical_json, read_json
from perdure_conformance.gate.nodes import Node, View, same

_TELLS_APART: Final = ("type", "kind", "code")
"""Members that tell alternatives apart come first by these names."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Alternatives of both sides."""

    pairs: tuple[tuple[Node, Node], ...]
    gone: tuple[Node, ...]
    new: tuple[Node, ...]


def paired(old: Sequence[Node], new: Sequence[Node]) -> Paired:
    """Give each alternative its partner, if it has one."""
    left, right = list(old), list(new)
    pairs: list[tuple[Node, Node]] = []
    for are_partners in (_have_one_label, _are_the_same, _have_the_same_types):
        for one in tuple(left):
            partner = next((other for other in right if are_partners(one, other)), None)
            if partner is not None:
                pairs.append((one, partner))
                left.remove(one)
                right.remove(partner)
    return Paired(tuple(pairs), tuple(left), tuple(right))


def _have_one_label(one: Node, other: Node) -> bool:
    return label(one) is not None and label(one) == label(other)


def _are_the_same(one: Node, other: Node) -> bool:
    return label(one) is label(other) is None and same(one, other)


def _have_the_same_types(one: Node, other: Node) -> bool:
    return label(one) is label(other) is None and types(one) is not None and types(one) == types(other)


def label(node: Node) -> str | None:
    """Return what tells an alternative apart: the one value of a required member, such as `type` of an event."""
    members, required = members_of(node), required_in(node)
    for name in sorted(members.keys() & required, key=lambda each: (each not in _TELLS_APART, each)):
        values = only_values(members[name])
        if values is not None and len(values) == 1:
            return f"{name}: {values[0]}"
    return None


def only_values(node: Node) -> list[str] | None:
    """Return the values that are valid, in canonical form, where they are listed; None if they are not."""
    view = node.view
    if "const" in view.keywords:
        return [canonical_json(view.get("const")).decode()]
    if "enum" in view.keywords:
        return [canonical_json(each).decode() for each in view.get("enum")]
    return None


def types(node: Node) -> frozenset[str] | None:
    """Return the types that are valid; None if any is."""
    values = node.view.get("type")
    if isinstance(values, str):
        return frozenset({values})
    return frozenset(values) if isinstance(values, list) else None


def by_label(nodes: Sequence[Node]) -> Mapping[str, Node]:
    """Return alternatives by what tells them apart."""
    return {told: node for node in nodes if (told := label(node)) is not None}


def members_of(node: Node) -> dict[str, Node]:
    """Return the members that are named, in what must hold as well too."""
    return {name: member for view in _views(node) for name, member in view.by_name("properties").items()}


def required_in(node: Node) -> frozenset[str]:
    """Return the members that must be there."""
    return frozenset(name for view in _views(node) for name in view.get("required", ()))


def _views(node: Node) -> Iterator[View]:
    """Yield what a place demands, and last the place itself."""
    for each in node.view.rest:
        yield from _views(each)
    yield node.view


def by_type(view: View) -> list[Node]:
    """Return a place as alternatives of one type each; as it is, if it has values or must hold with something else."""
    told, home = view.get("type"), view.home
    if not isinstance(told, list) or view.rest or {"const", "enum"} & view.demands:
        return [home]
    keywords = {name: value for name, (value, _) in view.keywords.items() if name in view.demands}
    if any(origin.uri != home.uri for name, (_, origin) in view.keywords.items() if name in view.demands):
        return [home]
    return [Node(home.library, home.uri, home.pointer, _of_type(keywords, each), f"type {each}") for each in told]


_OF_TEXTS: Final = ("minLength", "maxLength", "pattern", "format")
_OF_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_OF_ARRAYS: Final = ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains")
_OF_OBJECTS: Final = (
    *("properties", "patternProperties", "additionalProperties", "propertyNames", "required"),
    *("minProperties", "maxProperties"),
)
_OF_TYPES: Final = {
    **dict.fromkeys(_OF_TEXTS, ("string",)),
    **dict.fromkeys(_OF_NUMBERS, ("number", "integer")),
    **dict.fromkeys(_OF_ARRAYS, ("array",)),
    **dict.fromkeys(_OF_OBJECTS, ("object",)),
}
"""Keywords that are about values of some types alone."""


def _of_type(keywords: Mapping[str, object], name: str) -> Mapping[str, object]:
    return {**{each: value for each, value in keywords.items() if name in _OF_TYPES.get(each, (name,))}, "type": name}


def is_apart(one: Node, other: Node) -> bool:
    """Tell whether no value is valid by both, as far as that is easily seen."""
    labels = label(one), label(other)
    if None not in labels:
        name, _, value = str(labels[0]).partition(": ")
        other_name, _, other_value = str(labels[1]).partition(": ")
        if name == other_name and value != other_value:
            return True
    for values, node in ((only_values(one), other), (only_values(other), one)):
        if values is not None:
            return not any(node.accepts(read_json(each)) for each in values)
    before, after = types(one), types(other)
    if before is None or after is None:
        return False
    if not before & after and not {"number", "integer"} <= before | after:
        return True
    return before == after == {"object"} and (_is_refused(one, other) or _is_refused(other, one))


def _is_refused(one: Node, other: Node) -> bool:
    """Tell whether a member that one object must have is none that another may have, or has another value there."""
    members, others = members_of(one), members_of(other)
    for name in required_in(one):
        if name in members and name in others and _are_other_values(members[name], others[name]):
            return True
        for view in _views(other):
            is_open = "patternProperties" in view.keywords or not view.one("additionalProperties").view.nothing
            if not is_open and name not in view.by_name("properties"):
                return True
    return False


def _are_other_values(one: Node, other: Node) -> bool:
    values = only_values(one), only_values(other)
    if values[0] is not None and values[1] is not None:
        return not set(values[0]) & set(values[1])
    before, after = types(one), types(other)
    return bool(before and after) and not before & after and not {"number", "integer"} <= before | after  # type: ignore[operator]
