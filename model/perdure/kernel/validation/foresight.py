"""Warnings of what no run can bring about, whatever the outcomes are.

If a node has run, another has run before it: the source of an edge that fired into it or, if no edge leads to it, a
prerequisite that succeeded. Such steps are the **arrows** here. A node that may run without any hangs beneath a root:
an initial one, and one whose prerequisites need only be completed, since they may have been skipped. So whatever every
path from the root to a node goes through has run before the node.

Of what this does not show nothing is told: it may be possible.

Source: "Warnings" of `docs/spec/specification.md`; RUN-017, RUN-018, DEP-001 and EDG-008 of `docs/spec/kernel.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from perdure.kernel.graphs import Tree, dominators, forward
from perdure.kernel.identity import NodeId
from perdure.kernel.outcomes import OutcomeKind
from perdure.kernel.predicates import OutcomeIs, Predicate, witness
from perdure.kernel.problems import pointer_token, quoted
from perdure.kernel.specification import Edge, Node, OutputReference
from perdure.kernel.validation.scopes import Scope

_PREREQUISITES_COMPARED: Final = 8
"""So many of each node, so that the time stays linear."""
_ARROWS_FOLLOWED: Final = 16
"""Likewise."""
_SUCCEEDED: Final[OutcomeKind] = "succeeded"


@dataclass(frozen=True, slots=True)
class _Arrow:
    """A step after which a node may run: from which node, and at which of its outcomes."""

    source: int
    when: Predicate


def warn_of_what_cannot_be(scope: Scope) -> None:
    """Note inputs that are wanted before they can be there, and joins that can never be satisfied."""
    maps = any(
        isinstance(reference, OutputReference)
        for node in scope.definition.nodes
        for reference in node.input_mapping.values()
    )
    if maps or any(len(node.dependencies) > 1 for node in scope.definition.nodes):
        ways = _ways_of(scope)
        if ways is not None:
            _source_runs_later(scope, ways)
            _join_never_satisfied(scope, ways)


class _Ways:
    """How each node may come to run."""

    def __init__(self, scope: Scope, into: Sequence[Sequence[_Arrow]], tree: Tree) -> None:
        self.root = len(scope.definition.nodes)
        self.tree = tree
        self._scope = scope
        self._into = into
        self._entering: dict[NodeId, list[Edge]] = {}
        for edge in scope.definition.edges:
            self._entering.setdefault(edge.target, []).append(edge)
        self._initial = frozenset(scope.initial)
        self._once: dict[int, bool] = {}
        self._found: dict[tuple[int, int], tuple[Predicate, ...]] = {}
        self._apart: dict[tuple[int, int, int], bool] = {}

    def is_before(self, one: int, other: int) -> bool:
        """Tell whether one node has run whenever the other runs. Each node is before itself."""
        depth = self.tree.depth
        return 0 <= depth[one] <= depth[other] and self.tree.ancestor(other, depth[one]) == one

    def exclude(self, one: int, other: int) -> int | None:
        """Return the node of which no outcome leads to the success of both nodes; None if none is known."""
        if self.tree.depth[one] < 0 or self.tree.depth[other] < 0:
            return None
        split = self.tree.common(one, other)
        if split == self.root or not self.is_once(split):
            return None
        pair = (self._beneath(split, one), self._beneath(split, other))
        if (split, *pair) not in self._apart:
            self._apart[split, *pair] = _are_apart(*(self._from(split, branch) for branch in pair))
        return split if self._apart[split, *pair] else None

    def is_once(self, position: int) -> bool:
        """Tell whether a node surely has one activation at most, and so one ending outcome."""
        path: list[int] = []
        while position not in self._once:
            self._once[position] = False  # For those that go round in a circle.
            path.append(position)
            node = self._scope.definition.nodes[position]
            entering = self._entering.get(node.id, [])
            if node.max_activations == 1 or not entering:
                self._once[position] = True
            elif len(entering) == 1 and position not in self._initial:
                position = self._scope.positions[entering[0].source]
        for passed in path:
            self._once[passed] = self._once[passed] or self._once[position]
        return self._once[path[0] if path else position]

    def _beneath(self, split: int, position: int) -> int:
        """Return the node right beneath another in the tree that a node is at or under; that one itself of itself."""
        return split if position == split else self.tree.ancestor(position, self.tree.depth[split] + 1)

    def _from(self, split: int, branch: int) -> tuple[Predicate, ...]:
        """Return at which outcomes of a node the way to a branch begins, or it succeeds itself; none if too many."""
        if branch == split:
            return (OutcomeIs(_SUCCEEDED),)
        if (split, branch) not in self._found:
            self._found[split, branch] = self._followed_back(split, branch)
        return self._found[split, branch]

    def _followed_back(self, split: int, branch: int) -> tuple[Predicate, ...]:
        """Go back from a branch, over the branches that lead into it, to the ways out of `split`."""
        found: list[Predicate] = []
        waiting = [branch]
        seen = {branch}
        followed = 0
        while waiting:
            arrows = self._into[waiting.pop()]
            followed += len(arrows)
            if followed > _ARROWS_FOLLOWED:
                return ()
            for arrow in arrows:
                if arrow.source == split:
                    found.append(arrow.when)
                elif self.tree.depth[arrow.source] >= 0:
                    before = self._beneath(split, arrow.source)
                    waiting += [before] if before not in seen else []
                    seen.add(before)
        return tuple(found)


def _are_apart(ways: tuple[Predicate, ...], others: tuple[Predicate, ...]) -> bool:
    """Tell whether it is sure that no outcome takes a way of each."""
    return bool(ways and others) and all(witness(one, other) is None for one in ways for other in others)


def _ways_of(scope: Scope) -> _Ways | None:
    """Return how each node may come to run; None if loops are so entwined that what is before what is not plain."""
    root = len(scope.definition.nodes)
    into = _arrows(scope, root)
    arrows: list[list[int]] = [[] for _ in into]
    for target, steps in enumerate(into):
        for source in dict.fromkeys(step.source for step in steps):
            arrows[source].append(target)
    order, sources = forward(arrows, root)
    tree = dominators(order, sources)
    # Arrows that close a loop were left out; what every path goes through is right if none of them leads past it.
    for source in order:
        for target in arrows[source]:
            above = tree.parent[target]
            if tree.depth[source] < tree.depth[above] or tree.ancestor(source, tree.depth[above]) != above:
                return None
    return _Ways(scope, into, tree)


def _arrows(scope: Scope, root: int) -> list[list[_Arrow]]:
    """Return for each node, and the root, the arrows that lead to it."""
    into: list[list[_Arrow]] = [[] for _ in range(root + 1)]
    for position in scope.initial:
        into[position].append(_Arrow(root, "any"))
    for edge in scope.definition.edges:
        into[scope.positions[edge.target]].append(_Arrow(scope.positions[edge.source], edge.when))
    for position, node in enumerate(scope.definition.nodes):
        if not into[position]:
            into[position] += _released_by(scope, node, root)
    return into


def _released_by(scope: Scope, node: Node, root: int) -> Iterator[_Arrow]:
    if node.dependency_policy == "all_completed":
        yield _Arrow(root, "any")
        return
    for name in node.dependencies:
        yield _Arrow(scope.positions[name], OutcomeIs(_SUCCEEDED))


def _source_runs_later(scope: Scope, ways: _Ways) -> None:
    for position, node in enumerate(scope.definition.nodes):
        for name, reference in node.input_mapping.items():
            if isinstance(reference, OutputReference) and ways.is_before(position, scope.positions[reference.node]):
                told = (
                    f"{quoted(reference.node)} cannot have run when {quoted(node.id)} first does, which fails for want "
                    f"of {quoted(name)}: begin with a node that does not need it."
                )
                place = f"{scope.at(node)}/input_mapping/{pointer_token(name)}"
                scope.problems.warning("source_runs_later", place, told)


def _join_never_satisfied(scope: Scope, ways: _Ways) -> None:
    """Warn of each node that waits for the success of two nodes of which no run has both."""
    for node in scope.definition.nodes:
        if node.dependency_policy != "all_succeeded" or len(node.dependencies) < 2:
            continue
        compared = node.dependencies[:_PREREQUISITES_COMPARED]
        for (first, one), (second, other) in combinations(enumerate(compared), 2):
            split = ways.exclude(scope.positions[one], scope.positions[other])
            if split is None:
                continue
            told = (
                f"{quoted(one)} and {quoted(other)} cannot both succeed, since no outcome of "
                f"{quoted(scope.definition.nodes[split].id)} leads to both, so {quoted(node.id)} never runs: let it "
                f"depend on one of them, or use `any_succeeded`."
            )
            place = f"{scope.at(node)}/dependencies"
            scope.problems.warning("join_never_satisfied", f"{place}/{second}", told, other=f"{place}/{first}")
            break
