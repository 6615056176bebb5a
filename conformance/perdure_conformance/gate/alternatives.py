"""The alternatives of two schemas, each with its partner: by what tells it apart, by its types, or by its place."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
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
    _pair_by(label, left, right, pairs)
    for one in [each for each in left if label(each) is None]:
        partner = next((other for other in right if label(other) is None and same(one, other)), None)
        if partner is not None:
            pairs.append((one, partner))
            left.remove(one)
            right.remove(partner)
    _pair_by(types, left, right, pairs)
    return Paired(tuple(pairs), tuple(left), tuple(right))


def _pair_by(
    key: Callable[[Node], Hashable | None], left: list[Node], right: list[Node], pairs: list[tuple[Node, Node]]
) -> None:
    """Pair what has the same key; None is no key, and what has a label has no partner without it."""
    for one in list(left):
        if (wanted := key(one)) is None or (key is not label and label(one) is not None):
            continue
        partner = next((other for other in right if key(other) == wanted and _may_pair(key, other)), None)
        if partner is not None:
            pairs.append((one, partner))
            left.remove(one)
            right.remove(partner)


def _may_pair(key: Callable[[Node], Hashable | None], other: Node) -> bool:
    return key is label or label(other) is None


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
