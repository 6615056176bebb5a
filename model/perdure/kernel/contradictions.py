"""Contradictions: what no state between two batches can say, since no history leads there.

Asked of a state that was restored from a document, whose counts are right, since they were just made. Not everything
that no history leads to is told: enough that whatever is left can be gone on with as with any other state.

Source: "Snapshots" of the graph design; `docs/spec/kernel.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from perdure.kernel.consequences import BUDGETS_FROM
from perdure.kernel.identity import NodeId
from perdure.kernel.liveness import is_satisfied
from perdure.kernel.outcomes import OutcomeKind
from perdure.kernel.queues import in_order
from perdure.kernel.rules import Rules, is_released, policy_of
from perdure.kernel.state import ACTIVE, LIVE, TERMINAL, NodeState, Received, SignalWait, State


def contradictions(state: State, rules: Rules) -> Iterator[str]:
    """Yield what in a state between two batches contradicts something else in it, or what came before."""
    for check in _CHECKS:
        yield from check(state, rules)


def _nodes(state: State) -> Iterator[tuple[int, NodeId, NodeState]]:
    for position in range(len(state.plan.nodes)):
        yield position, state.name(position), state.nodes[position]


def pinned(state: State, position: int) -> Mapping[int, int]:
    """Return the outcomes that are pinned for a node, by the positions of the prerequisites that had any."""
    prerequisites, released = state.plan.prerequisites[position], state.nodes[position].released
    found = zip(prerequisites, released, strict=True) if released is not None else ()
    return {prerequisite: sequence for prerequisite, sequence in found if sequence}


def _owners(state: State) -> Mapping[int | None, int]:
    """Return the node of each outcome of an attempt."""
    return {attempt.outcome: attempt.node for attempt in state.attempts.values() if attempt.outcome is not None}


def _ledger(state: State, _: Rules) -> Iterator[str]:
    """Outcomes, attempts and child runs refer to each other as they must."""
    if any(not 1 < sequence <= state.sequence for sequence in state.outcomes):
        yield "an outcome is not among the events so far"
    ended = [attempt.outcome for attempt in state.attempts.values() if attempt.outcome is not None]
    if len(set(ended)) != len(ended) or any(sequence not in state.outcomes for sequence in ended):
        yield "two attempts have one outcome, or one has an outcome that is not there"
    if any(run_id in {state.run_id, *state.ancestors} for run_id in state.child_runs):
        yield "a child run is the run or one of its ancestors"
    if any(state.node(position).child is None for position in state.child_runs.values()):
        yield "a handler has a child run"
    for name, attempt in state.attempts.items():
        completed = attempt.completed
        if completed is not None and (
            attempt.outcome is None or state.child_runs.get(completed.child_run_id) != attempt.node
        ):
            yield f"the attempt {name} was ended by another run than its own"


def _activity(state: State, _: Rules) -> Iterator[str]:
    """A node is running or waiting exactly while it has an active attempt, and every attempt is active or has ended."""
    for position, name, node in _nodes(state):
        if (node.status in ACTIVE) != (node.attempt_id is not None):
            yield f"{name} is {node.status}, with an attempt or without"
        if (node.status == "waiting") != (node.wait is not None):
            yield f"{name} is {node.status}, with a wait or without"
        if node.retry_ms is not None and node.status != "retry_pending":
            yield f"{name} is {node.status} with a retry"
        attempt = None if node.attempt_id is None else state.attempts.get(node.attempt_id)
        if node.attempt_id is not None and (attempt is None or attempt.outcome is not None or attempt.node != position):
            yield f"the active attempt of {name} is none of it, or has ended"
    active = sum(node.attempt_id is not None for node in state.nodes.values())
    if active != sum(attempt.outcome is None for attempt in state.attempts.values()):
        yield "an attempt has no outcome, and is not active"


def _work(state: State, _: Rules) -> Iterator[str]:
    """Children have child runs and wait for nothing; handlers wait for what they declare."""
    for position, name, node in _nodes(state):
        specified, child_run_id = state.node(position), node.child_run_id
        if specified.child is not None:
            is_its_own = child_run_id is not None and state.child_runs.get(child_run_id) == position
            if node.attempt_id is not None and (not is_its_own or node.wait is not None or node.resolved):
                yield f"{name} is a child, and its attempt has no child run, or waits"
        elif child_run_id is not None:
            yield f"{name} has a handler, and a child run"
        if isinstance(node.wait, SignalWait) and node.wait.name not in specified.signals:
            yield f"{name} declares no signal {node.wait.name}"
        for gain in node.resolved.values():
            if isinstance(gain, Received) and state.signals.get(gain.signal_id) != "accepted":
                yield f"the delivery {gain.signal_id} was not accepted"


def _beginnings(state: State, rules: Rules) -> Iterator[str]:
    """Activations come from edges to the node and outcomes of their sources; no node has more than it may have."""
    owners, edges = _owners(state), state.plan.edges
    for position, name, node in _nodes(state):
        waiting = tuple(in_order(node.queue))
        for sequence, edge in (*waiting, *([node.activation] if node.activation is not None else [])):
            if edge >= len(edges) or state.plan.targets[edge] != position:
                yield f"no edge {edge} leads to {name}"
            elif owners.get(sequence) != state.plan.positions[edges[edge].source]:
                yield f"the outcome {sequence} is none of the source of the edge {edge}"
        limit = state.node(position).max_activations
        if node.activations < len(waiting) + (node.status in LIVE) or (limit is not None and node.activations > limit):
            yield f"{name} has another number of activations than it can have"
        policy = policy_of(state.node(position))
        begun = node.status in ACTIVE or node.status == "retry_pending"
        has_more = rules.has_attempts(policy, node.attempts)
        if (begun and not node.attempts) or (not has_more and node.status in {"ready", "retry_pending"}):
            yield f"{name} is {node.status} after {node.attempts} attempts"
        if node.attempts > policy.max_attempts:
            yield f"{name} has {node.attempts} attempts"


def _outcomes(state: State, rules: Rules) -> Iterator[str]:
    """The last outcome of a node is its own, or that of its closure, and gave it its status."""
    owners = _owners(state)
    for position, name, node in _nodes(state):
        ended = node.closed or node.status in TERMINAL or node.status in {"changes_requested", "retry_pending"}
        if node.outcome is None and ended:
            yield f"{name} is {node.status} without an outcome"
        elif node.outcome is not None and node.outcome not in state.outcomes:
            yield f"the outcome {node.outcome} of {name} is not there"
        elif node.outcome is not None:
            owner = owners.get(node.outcome)
            is_nobodys = owner is None and (node.closed or state.status == "cancelled")
            if not is_nobodys and (owner != position or node.closed):
                yield f"the outcome {node.outcome} is none of {name}"
            if state.outcomes[node.outcome].kind not in _kinds(state, position, rules):
                yield f"{name} cannot be {node.status} after its outcome"


def _kinds(state: State, position: int, rules: Rules) -> set[OutcomeKind]:
    """Return the kinds that the last outcome of a node may have."""
    status, after = state.nodes[position].status, rules.status_after
    if status == "retry_pending":
        return {kind for kind in after if rules.may_retry(policy_of(state.node(position)), kind)}
    if status == "pending":
        return set()
    if status not in TERMINAL and status != "changes_requested":
        return set(after) - {"skipped"}
    kinds = {kind for kind, found in after.items() if found == status}
    return kinds | {"changes_requested"} if status == "failed" else kinds


def _latches(state: State, rules: Rules) -> Iterator[str]:
    """What is pinned are outcomes of prerequisites; no node ran before its dependencies were satisfied."""
    owners = _owners(state)
    for position, name, node in _nodes(state):
        if (node.attempts or node.status in LIVE) and not is_released(node):
            yield f"{name} was activated before its dependencies were satisfied"
        if node.closed and (node.status not in {"skipped", "blocked", "cancelled"} or node.queue is not None):
            yield f"{name} is closed and {node.status}"
        for prerequisite, sequence in pinned(state, position).items():
            if sequence not in state.outcomes or owners.get(sequence, prerequisite) != prerequisite:
                yield f"the outcome {sequence} is none of {state.name(prerequisite)}"
        if state.status == "running" and node.status == "pending":
            is_free = is_released(node) and not state.plan.entering[position]
            if is_free or (not is_released(node) and is_satisfied(state, position, rules)):
                yield f"{name} is pending, and nothing keeps it from being ready"


def _budgets(state: State, rules: Rules) -> Iterator[str]:
    """A run whose budgets held from its beginning has used no more than they allow."""
    budgets = state.plan.specification.budgets
    used = {
        "attempts": (state.attempts_used, budgets.max_attempts),
        "transitions": (state.transitions_used, budgets.max_transitions),
    }
    for budget, (usage, limit) in used.items():
        if state.oldest >= BUDGETS_FROM and usage and rules.exceeds(usage - 1, limit):
            yield f"{usage} {budget} are used of {limit}"


def _result(state: State, _: Rules) -> Iterator[str]:
    """A run goes on exactly while some node has not ended, unless something else ended it."""
    is_over = all(node.status in TERMINAL for node in state.nodes.values())
    if state.status == "running" and is_over:
        yield "every node has ended, and the run has not"
    if not is_over and (state.status == "completed" or (state.status == "blocked" and state.version > 1)):
        yield f"the run is {state.status}, and not every node has ended"
    for _position, name, node in _nodes(state):
        if state.status == "running" and node.queue is not None and node.status not in LIVE and is_released(node):
            yield f"an activation waits for {name}, which is {node.status}"


_CHECKS: Final[tuple[Callable[[State, Rules], Iterator[str]], ...]] = (
    _ledger,
    _activity,
    _work,
    _beginnings,
    _outcomes,
    _latches,
    _budgets,
    _result,
)
