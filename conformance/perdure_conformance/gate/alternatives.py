"""The alternatives of two schemas, each with its partner: by what tells it apart, by all it says, by its types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.kernel.values import canonical_json
from perdure_conformance.gate.nodes import Node, same

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
    view = node.view
    members, required = view.by_name("properties"), frozenset(view.get("required", ()))
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
