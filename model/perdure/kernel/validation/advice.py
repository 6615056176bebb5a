"""Warnings: what is allowed, and probably not meant.

Source: "Warnings" of `docs/spec/specification.md`; SPC-031.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from perdure.kernel.graphs import dominators, forward
from perdure.kernel.identity import NodeId
from perdure.kernel.outcomes import OUTCOME_KINDS, RETRY_CLASSES, OutcomeKind
from perdure.kernel.predicates import FieldEquals, OutcomeIs, Predicate, predicate_key, witness
from perdure.kernel.problems import Correction, Problems, pointer_token, quoted
from perdure.kernel.specification import Backoff, Edge, Exponential, Node
from perdure.kernel.validation.foresight import warn_of_what_cannot_be
from perdure.kernel.validation.scopes import Scope

_KINDS_OF_A_CHILD: Final[frozenset[OutcomeKind]] = frozenset(OUTCOME_KINDS) - {"changes_requested", "skipped"}
"""What a child node can end with; `retryable_failure` when the deadline of its attempt expires."""

_EDGES_COMPARED, _WAYS_COMPARED = 12, 16  # Of each node, so that the time stays linear.


def warn(scopes: Sequence[Scope], problems: Problems) -> None:
    """Note every warning. What needs a whole graph is asked only if there is one."""
    for scope in scopes:
        _odd_nodes(scope)
        _odd_edges(scope)
        _budget_below_initial(scope)
        if not problems.errors:
            _dependency_on_loop(scope)
            _edge_fan_in(scope)
            warn_of_what_cannot_be(scope)
    if not problems.errors:
        _unused_children(scopes)


def _warn(
    scope: Scope,
    code: str,
    pointer: str,
    sentence: str,
    correction: Correction | None = None,
    other: str | None = None,
) -> None:
    scope.problems.warning(code, pointer, sentence, correction=correction, other=other)


def _odd_nodes(scope: Scope) -> None:
    for node in scope.definition.nodes:
        is_own = scope.is_own(f"{scope.at(node)}/dependencies")
        if node.dependency_policy != "all_succeeded" and not node.dependencies and is_own:
            told = "A policy without dependencies has no effect: take it away, or add dependencies."
            place = f"{scope.at(node)}/dependency_policy"
            correction = Correction(pointer=place, remove=True) if scope.has_whole_graph else None
            _warn(scope, "policy_without_dependencies", place, told, correction)
        if node.retry is None:
            continue
        if "retryable_failure" not in node.retry.classes and set(node.retry.classes) <= RETRY_CLASSES:
            told = "`retryable_failure` is retried all the same: add it, so that the document says so."
            _warn(scope, "implied_retry_class", f"{scope.at(node)}/retry/classes", told)
        _odd_backoff(scope, node.retry.backoff)


def _odd_backoff(scope: Scope, backoff: Backoff) -> None:
    if isinstance(backoff, Exponential) and backoff.initial_ms > backoff.maximum_ms and scope.is_own(scope.at(backoff)):
        told = "The first delay is cut to `maximum_ms`: raise it, or use a fixed delay."
        _warn(scope, "initial_exceeds_maximum", f"{scope.at(backoff)}/initial_ms", told)


def _odd_edges(scope: Scope) -> None:
    seen: dict[tuple[str, str, object], Edge] = {}
    for edge in scope.definition.edges:
        key = (edge.source, edge.target, predicate_key(edge.when))
        if not scope.is_own(f"{scope.at(edge)}/when") or not scope.is_own(f"{scope.at(edge)}/mode"):
            continue
        if edge.mode == "parallel" and key in seen:
            told = f"{quoted(scope.at(seen[key]))} says the same, so {quoted(edge.target)} would be activated twice."
            _warn(scope, "duplicate_edge", scope.at(edge), told, other=scope.at(seen[key]))
        elif edge.mode == "parallel":
            seen[key] = edge
        source = scope.node(edge.source)
        if source is not None:
            _odd_predicate(scope, edge, source)


def _odd_predicate(scope: Scope, edge: Edge, source: Node) -> None:
    match edge.when:
        case FieldEquals(field=name) if name not in scope.outputs_of(source):
            place = f"{scope.at(edge)}/when/field"
            if not scope.is_well_formed(place) or not scope.has_own_outputs(source):
                return
            told = f"{quoted(source.id)} does not declare {quoted(name)}, so this edge may never fire: declare it."
            _warn(scope, "undeclared_field", place, told)
        case OutcomeIs(outcome=kind) if source.child is not None and kind not in _KINDS_OF_A_CHILD | {"skipped"}:
            told = f"{quoted(source.id)} runs a child, whose result is never {quoted(kind)}: this edge never fires."
            _warn(scope, "child_never_gives", f"{scope.at(edge)}/when/outcome", told)
        case _:
            pass


def _budget_below_initial(scope: Scope) -> None:
    initial = len(scope.initial)
    budgets = scope.reading.places.get(id(scope.definition.budgets))
    place = scope.place if budgets is None else f"{budgets}/max_transitions"
    if 0 < scope.definition.budgets.max_transitions < initial and (budgets is None or scope.is_own(place)):
        told = f"Each of the {initial} initial nodes uses up one transition: raise `max_transitions`."
        _warn(scope, "budget_below_initial", place, told)


def _dependency_on_loop(scope: Scope) -> None:
    in_a_loop = {position for members in scope.union_cycles for position in members}
    for node in scope.definition.nodes:
        for number, name in enumerate(node.dependencies):
            if scope.positions[name] in in_a_loop:
                told = (
                    f"{quoted(name)} is in a loop, and releases {quoted(node.id)} once, by one of its turns: "
                    f"lead an edge out of the loop instead, if the last turn is meant."
                )
                _warn(scope, "dependency_on_loop", f"{scope.at(node)}/dependencies/{number}", told)


def _unused_children(scopes: Sequence[Scope]) -> None:
    root, *children = scopes
    used = {node.child.workflow for scope in scopes for node in scope.definition.nodes if node.child is not None}
    for key, scope in zip(root.catalog, children, strict=True):
        if key not in used:
            _warn(scope, "unused_child", f"/children/{pointer_token(key)}", "Nothing runs this child: take it away.")


# Edges that come together


class _Branches:
    """Which ways out of a node can be taken at the same time.

    Two edges come together from one turn of what is before them if, from the last node that every path to both goes
    through, two ways lead to them that one outcome can take. Arrows that close a loop do not count.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        nodes = scope.definition.nodes
        self._start = len(nodes)  # A node before the first ones, so that all have one root.
        arrows = [list(dict.fromkeys(targets)) for targets in (*scope.union, scope.initial)]
        order, self.sources = forward(arrows, self._start)
        self._tree = dominators(order, self.sources)
        self._ways: dict[tuple[int, int], dict[object, Predicate]] = {}
        self._ways_to_branch: dict[tuple[int, int], list[Predicate]] = {}
        for arrow, predicate in self._arrows():
            ways = self._ways.setdefault(arrow, {})
            if len(ways) < _WAYS_COMPARED:
                ways[predicate_key(predicate)] = predicate

    def _arrows(self) -> Iterator[tuple[tuple[int, int], Predicate]]:
        scope = self._scope
        for position in scope.initial:
            yield (self._start, position), "any"
        for edge in scope.definition.edges:
            yield (scope.positions[edge.source], scope.positions[edge.target]), edge.when
        for position, node in enumerate(scope.definition.nodes):
            released: Predicate = "any" if node.dependency_policy == "all_completed" else OutcomeIs("succeeded")
            for name in node.dependencies:
                yield (scope.positions[name], position), released

    def concurrent(self, one: Edge, other: Edge) -> bool:
        """Tell whether two edges can fire for one turn of what comes before."""
        source, source_of_other = self._scope.positions[one.source], self._scope.positions[other.source]
        split = self._tree.common(source, source_of_other)
        ways, others = self._ways_to(split, source, one), self._ways_to(split, source_of_other, other)
        pairs = ((a, b) for a in ways[:_WAYS_COMPARED] for b in others[:_WAYS_COMPARED])
        return any(witness(a, b) is not None for a, b in pairs)

    def _ways_to(self, split: int, source: int, edge: Edge) -> list[Predicate]:
        """Return the predicates of the ways out of `split` that lead to an edge."""
        if source == split:
            return [edge.when]
        branch = self._tree.ancestor(source, self._tree.depth[split] + 1)
        if (split, branch) not in self._ways_to_branch:
            self._ways_to_branch[split, branch] = self._found_from(split, branch)
        return self._ways_to_branch[split, branch]

    def _found_from(self, split: int, branch: int) -> list[Predicate]:
        """Go back from a branch, over the branches that lead into it, to the ways out of `split`."""
        found: list[Predicate] = []
        seen = {branch}
        waiting = [branch]
        while waiting and len(seen) <= _WAYS_COMPARED:
            below = waiting.pop()
            found += self._ways.get((split, below), {}).values()
            for before in self.sources[below][:_WAYS_COMPARED]:
                if before != split:
                    other = self._tree.ancestor(before, self._tree.depth[split] + 1)
                    waiting += [other] if other not in seen else []
                    seen.add(other)
        return found


def _edge_fan_in(scope: Scope) -> None:
    """Warn of each node where edges from branches that can run at the same time come together."""
    into: dict[NodeId, list[Edge]] = {}
    for edge in scope.definition.edges:
        into.setdefault(edge.target, []).append(edge)
    into = {target: edges for target, edges in into.items() if len({edge.source for edge in edges}) > 1}
    if not into:
        return
    branches = _Branches(scope)
    for target, edges in into.items():
        before = frozenset(branches.sources[scope.positions[target]])
        ahead = [edge for edge in edges if scope.positions[edge.source] in before]
        pairs = combinations(ahead[:_EDGES_COMPARED], 2)
        together = next(
            (pair for pair in pairs if pair[0].source != pair[1].source and branches.concurrent(*pair)), None
        )
        if together is not None:
            one, other = together
            told = (
                f"{quoted(one.source)} and {quoted(other.source)} can both end, and would activate "
                f"{quoted(target)} once each: make them its dependencies, if it is to wait for both."
            )
            _warn(scope, "edge_fan_in", scope.at(other), told)
