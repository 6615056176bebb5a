"""Graphs of nodes by position: cycles, reach, and what a node is always reached through.

Every function takes arrows as lists of targets, is linear or nearly so, and never recurses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

Arrows = Sequence[Sequence[int]]


def components(arrows: Arrows) -> list[list[int]]:
    """Return the strongly connected components, each before those that lead to it (Tarjan)."""
    found: list[list[int]] = []
    order: list[int] = [-1] * len(arrows)
    lowest: list[int] = [-1] * len(arrows)
    waiting: list[int] = []
    is_waiting = [False] * len(arrows)
    visited = 0
    for root in range(len(arrows)):
        if order[root] >= 0:
            continue
        path = [(root, iter(arrows[root]))]
        order[root] = lowest[root] = visited
        visited += 1
        waiting.append(root)
        is_waiting[root] = True
        while path:
            node, targets = path[-1]
            target = next((target for target in targets if order[target] < 0 or is_waiting[target]), None)
            if target is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == order[node]:
                    found.append(_taken_down_to(node, waiting, is_waiting))
            elif order[target] < 0:
                order[target] = lowest[target] = visited
                visited += 1
                waiting.append(target)
                is_waiting[target] = True
                path.append((target, iter(arrows[target])))
            else:
                lowest[node] = min(lowest[node], order[target])
    return found


def _taken_down_to(node: int, waiting: list[int], is_waiting: list[bool]) -> list[int]:
    start = len(waiting) - 1
    while waiting[start] != node:
        start -= 1
    taken = waiting[start:]
    del waiting[start:]
    for member in taken:
        is_waiting[member] = False
    return sorted(taken)


def cycles(arrows: Arrows) -> list[list[int]]:
    """Return the components that hold a cycle, in the order of their first members; a self-loop is a cycle."""
    return sorted(part for part in components(arrows) if len(part) > 1 or part[0] in arrows[part[0]])


def a_cycle(arrows: Arrows, members: Collection[int]) -> list[int]:
    """Return a shortest cycle through the first of `members`, which are one component: it ends where it begins."""
    start = min(members)
    inside = frozenset(members)
    came_from: dict[int, int] = {}
    queue = deque([start])
    while True:  # A component leads back to each of its members.
        node = queue.popleft()
        for target in arrows[node]:
            if target == start:
                return _back(node, start, came_from)
            if target in inside and target not in came_from:
                came_from[target] = node
                queue.append(target)


def _back(node: int, start: int, came_from: dict[int, int]) -> list[int]:
    path = [start]
    while node != start:
        path.append(node)
        node = came_from[node]
    return [*path, start][::-1]


def reached(arrows: Arrows, starts: Iterable[int]) -> list[bool]:
    """Tell for each node whether a path leads to it from one of `starts`."""
    found = [False] * len(arrows)
    waiting = list(starts)
    for node in waiting:
        found[node] = True
    while waiting:
        for target in arrows[waiting.pop()]:
            if not found[target]:
                found[target] = True
                waiting.append(target)
    return found


def forward(arrows: Arrows, start: int) -> tuple[list[int], list[list[int]]]:
    """Return an order of the nodes reached from `start`, and the sources of each node's arrows that go forward in it.

    What is left out closes a cycle: without it, every source stands before its targets.
    """
    finished: list[int] = []
    state = [0] * len(arrows)  # 0 new, 1 on the path, 2 finished.
    sources: list[list[int]] = [[] for _ in arrows]
    path = [(start, iter(arrows[start]))]
    state[start] = 1
    while path:
        node, targets = path[-1]
        target = next(targets, None)
        if target is None:
            path.pop()
            state[node] = 2
            finished.append(node)
            continue
        if state[target] != 1:
            sources[target].append(node)
        if state[target] == 0:
            state[target] = 1
            path.append((target, iter(arrows[target])))
    return finished[::-1], sources


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree of nodes that finds common ancestors in logarithmic time, by jumps up the path to the root."""

    depth: list[int]
    parent: list[int]
    jump: list[int]

    @classmethod
    def rooted_at(cls, root: int, size: int) -> Tree:
        """Return a tree that holds its root alone."""
        tree = cls([-1] * size, [root] * size, [root] * size)
        tree.depth[root] = 0
        return tree

    def add(self, node: int, parent: int) -> None:
        """Hang a new node beneath one that is there."""
        near = self.jump[parent]
        far = self.jump[near]
        even = self.depth[parent] - self.depth[near] == self.depth[near] - self.depth[far]
        self.depth[node] = self.depth[parent] + 1
        self.parent[node] = parent
        self.jump[node] = far if even else parent

    def ancestor(self, node: int, depth: int) -> int:
        """Return the ancestor of a node at a depth, which is not below its own."""
        while self.depth[node] > depth:
            node = self.jump[node] if self.depth[self.jump[node]] >= depth else self.parent[node]
        return node

    def common(self, one: int, other: int) -> int:
        """Return the lowest node that both are at or beneath."""
        depth = min(self.depth[one], self.depth[other])
        one, other = self.ancestor(one, depth), self.ancestor(other, depth)
        while one != other:
            if self.jump[one] != self.jump[other]:
                one, other = self.jump[one], self.jump[other]
            else:
                one, other = self.parent[one], self.parent[other]
        return one


def dominators(order: Sequence[int], sources: Arrows) -> Tree:
    """Return the tree in which each node hangs beneath the last one that every path to it goes through.

    `order` and `sources` are those of `forward`.
    """
    root = order[0]
    tree = Tree.rooted_at(root, len(sources))
    for node in order[1:]:
        first, *others = sources[node]
        above = first
        for other in others:
            above = tree.common(above, other)
        tree.add(node, above)
    return tree
