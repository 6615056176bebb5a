"""Rules about edges.

EDG-001 to EDG-006.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from perdure.kernel.identity import NodeId
from perdure.kernel.predicates import can_match, overlaps, witness
from perdure.kernel.problems import quoted
from perdure.kernel.specification import Edge
from perdure.kernel.validation.scopes import Scope
from perdure.kernel.values import canonical_json


def _predicates_can_match(scope: Scope) -> None:
    """EDG-001."""
    for edge in scope.definition.edges:
        if not can_match(edge.when):
            told = "A skipped node fires no edge: take this edge away, or make its target a dependent."
            scope.error("never_matches", f"{scope.at(edge)}/when", told)


def _exclusive_edges_are_disjoint(scope: Scope) -> None:
    """EDG-002, EDG-003, EDG-005, EDG-007."""
    of_source: dict[NodeId, list[Edge]] = {}
    for edge in scope.definition.edges:
        place = scope.at(edge)
        is_own = edge.source and scope.is_own(f"{place}/when")
        if edge.mode == "exclusive" and can_match(edge.when) and is_own:
            of_source.setdefault(edge.source, []).append(edge)
    for edges in of_source.values():
        for first, second in overlaps([edge.when for edge in edges]):
            shown = msgspec.to_builtins(witness(edges[first].when, edges[second].when))
            told = (
                f"This edge and {quoted(scope.at(edges[first]))} are exclusive, and both follow the outcome "
                f"{quoted(canonical_json(shown).decode(), 200)}: narrow one of them, or take one away."
            )
            scope.error("overlapping_edges", scope.at(edges[second]), told, witness=shown, other=scope.at(edges[first]))


RULES: Final[tuple[Callable[[Scope], None], ...]] = (
    _predicates_can_match,
    _exclusive_edges_are_disjoint,
)
