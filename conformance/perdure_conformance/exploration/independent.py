"""Independence: which moves commute with all that may happen elsewhere, so that one order stands for all.

Two moves may be taken in one order only if no other order leads to anything else that is reported.

- **The start of a node** takes nothing from others and gives nothing to them: it only lets its own attempt end. It is
  taken first, unless it may need the last attempt of a budget, unless its attempt has a deadline while time goes on,
  and unless its input may change meanwhile.
- **The endings of a node** are taken before what other live nodes do if nothing that they lead to is led to by those
  too, or only nodes to which the order means nothing. A node is one of these if it is activated once at most, as are
  its prerequisites and the sources of its edges, if not both dependencies and edges lead to it, and if it takes no
  output of which the order decides what it is. That holds only while no budget is used up and no time goes on; and only
  if what they lead to comes to an end, or else what others do would be put off for ever.

Closing needs no more: what nothing live reaches is closed as soon as that is so, in whichever order it came to that.
`tests/conformance/test_explore.py` compares what is found with and without, over many drawn specifications.
"""

from __future__ import annotations

from perdure.kernel.graphs import components
from perdure.kernel.plan import Plan
from perdure.kernel.rules import policy_of
from perdure.kernel.specification import Exponential, Fixed, Node, OutputReference
from perdure.kernel.state import LIVE, State


class Independence:
    """What is independent in runs of one specification."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.is_timed = any(_is_delayed(node) for node in plan.nodes)
        """Whether time has to go on before something is tried again."""
        feeding = _feeding(plan)
        once = _once(plan, feeding)
        self._reached = _reached(plan)
        """For each node, itself and those that it leads to, as bits."""
        self._indifferent = sum(
            1 << position for position in range(len(plan.nodes)) if _is_indifferent(plan, position, feeding, once)
        )
        self._endless = _endless(plan)
        self._starts = [self._is_free(position) for position in range(len(plan.nodes))]

    def start(self, state: State) -> int | None:
        """Return a ready node whose start may be taken before everything else."""
        for position, is_free in enumerate(self._starts):
            if is_free and state.nodes[position].status == "ready":
                return position
        return None

    def ending(self, state: State) -> int | None:
        """Return a running node whose endings may be taken before everything else."""
        if self.is_timed:
            return None
        live = [position for position in range(len(self._plan.nodes)) if state.nodes[position].status in LIVE]
        for position in live:
            if state.nodes[position].status != "running" or self._reached[position] & self._endless:
                continue
            others = 0
            for other in live:
                others |= self._reached[other] if other != position else 0
            if not self._reached[position] & others & ~self._indifferent:
                return position
        return None

    def _is_free(self, position: int) -> bool:
        node, plan = self._plan.nodes[position], self._plan
        if self.is_timed and policy_of(node).attempt_deadline_ms is not None:
            return False
        return _sources(plan, node) <= set(plan.prerequisites[position])


def _is_delayed(node: Node) -> bool:
    policy = policy_of(node)
    if policy.max_attempts == 1:
        return False
    jitter = policy.jitter.maximum_ms if policy.jitter is not None else 0
    match policy.backoff:
        case Fixed(delay_ms=delay):
            return bool(delay + jitter)
        case Exponential():
            return bool(min(policy.backoff.initial_ms, policy.backoff.maximum_ms) + jitter)
        case _:
            return bool(jitter)


def _sources(plan: Plan, node: Node) -> set[int]:
    references = node.input_mapping.values()
    return {plan.positions[each.node] for each in references if isinstance(each, OutputReference)}


def _feeding(plan: Plan) -> list[list[int]]:
    """Return for each node the sources of the edges that lead to it."""
    found: list[list[int]] = [[] for _ in plan.nodes]
    for edge, target in zip(plan.edges, plan.targets, strict=True):
        found[target].append(plan.positions[edge.source])
    return found


def _is_indifferent(plan: Plan, position: int, feeding: list[list[int]], once: list[bool]) -> bool:
    """Tell whether it means nothing to a node in which order its prerequisites and the sources of its edges end."""
    node, prerequisites, sources = plan.nodes[position], plan.prerequisites[position], feeding[position]
    if not once[position] or not all(once[other] for other in (*prerequisites, *sources)):
        return False
    if prerequisites and sources:
        return False
    taken = _sources(plan, node)
    return not taken or (node.dependency_policy != "any_succeeded" and taken <= set(prerequisites))


def _arrows(plan: Plan) -> list[list[int]]:
    return [
        [*plan.dependents[position], *(plan.targets[edge] for edge in plan.leaving[position])]
        for position in range(len(plan.nodes))
    ]


def _reached(plan: Plan) -> list[int]:
    arrows = _arrows(plan)
    reached = [0] * len(arrows)
    for part in components(arrows):
        bits = 0
        for member in part:
            bits |= 1 << member
            for target in arrows[member]:
                bits |= reached[target]
        for member in part:
            reached[member] = bits
    return reached


def _endless(plan: Plan) -> int:
    """Return the nodes, as bits, that may be activated without end: those of cycles that nothing limits."""
    arrows, bits = _arrows(plan), 0
    for part in components(arrows):
        is_cycle = len(part) > 1 or part[0] in arrows[part[0]]
        if is_cycle and any(plan.nodes[member].max_activations is None for member in part):
            bits |= sum(1 << member for member in part)
    return bits


def _once(plan: Plan, feeding: list[list[int]]) -> list[bool]:
    """Return of each node whether it is activated once at most, whatever happens."""
    most = [0] * len(plan.nodes)
    initial = frozenset(plan.initial)
    for part in reversed(components(_arrows(plan))):
        members = frozenset(part)
        for position in part:
            is_released = bool(plan.prerequisites[position]) and not feeding[position]
            most[position] = int(position in initial) + int(is_released)
            most[position] += sum(2 if source in members else most[source] for source in feeding[position])
    return [count <= 1 for count in most]
