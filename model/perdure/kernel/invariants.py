"""Invariants: what holds of every state between two batches, each with its number.

 1  Every outcome is among the events so far, and ends one attempt at most; every attempt is charged.
 2  A run whose budgets held from its beginning has used no more than they allow.
 3  An activation has no more attempts than its policy allows, and one that goes on may have another.
 4  A node has an attempt exactly while it is running or waiting, a wait exactly while it is waiting, and a retry only
    while it is retry pending.
 5  The active attempt of a node is its own and has no outcome, and every attempt is active or has one.
 6  Children, and no handlers, have child runs; each child run is new to its run, and ends its own attempt alone.
 7  Handlers, and no children, wait: for signals that they declare; what they got was accepted.
 8  Activations come from edges to the node and outcomes of their sources; no node has more than it may have.
 9  An activation waits only for a node that is live, or whose dependencies are not satisfied yet.
10  The last outcome of a node is its own, or that of its closure, and gave it its status.
11  No node is activated before its dependencies were satisfied; what was pinned then are outcomes of prerequisites.
12  A node is pending only if something keeps it from being ready.
13  A closed node was skipped or ended by propagation, and nothing waits for it.
14  A node counts its prerequisites as they are.
15  A component counts its nodes as they are.
16  A run counts its nodes as they are.
17  Every deadline of a node is among what happens at a time.
18  Nothing is owed. A run whose nodes have all ended has ended; so have all nodes of one that ended by itself.
19  A run that has not ended has something live, or an older history left something to settle: nothing is stuck.

Whoever restores a state asks them, and whoever doubts. They are not all that can be said of the states that histories
lead to, but enough that a state that keeps them can be gone on with as with any other.

Source: "Lifecycle" and "Snapshots" of the graph design; `docs/spec/kernel.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import reduce
from typing import Final

from perdure.kernel.consequences import NOTHING, owed, settling
from perdure.kernel.events import RUNTIME_VERSION
from perdure.kernel.identity import NodeId
from perdure.kernel.liveness import is_satisfied
from perdure.kernel.outcomes import OutcomeKind
from perdure.kernel.queues import in_order
from perdure.kernel.rules import BUDGETS_FROM, RULES, Rules, is_released, policy_of, share
from perdure.kernel.state import ACTIVE, LIVE, TERMINAL, NodeState, Received, SignalWait, State, Tally


def violations(state: State, rules: Rules = RULES) -> list[str]:
    """Return what does not hold of a state between two batches: the number of the invariant, and where."""
    return [f"{number}: {found}" for number, check in INVARIANTS.items() for found in check(state, rules)]


def pinned(state: State, position: int) -> Mapping[int, int]:
    """Return the outcomes that are pinned for a node, by the positions of the prerequisites that had any."""
    prerequisites, released = state.plan.prerequisites[position], state.nodes[position].released
    found = zip(prerequisites, released, strict=True) if released is not None else ()
    return {prerequisite: sequence for prerequisite, sequence in found if sequence}


def _nodes(state: State) -> Iterator[tuple[int, NodeId, NodeState]]:
    for position in range(len(state.plan.nodes)):
        yield position, state.name(position), state.nodes[position]


def _owners(state: State) -> Mapping[int | None, int]:
    """Return the node of each outcome of an attempt."""
    return {attempt.outcome: attempt.node for attempt in state.attempts.values() if attempt.outcome is not None}


def _outcomes(state: State, _: Rules) -> Iterator[str]:
    if any(not 1 < sequence <= state.sequence for sequence in state.outcomes):
        yield "an outcome is not among the events so far"
    ended = [attempt.outcome for attempt in state.attempts.values() if attempt.outcome is not None]
    if len(set(ended)) != len(ended) or any(sequence not in state.outcomes for sequence in ended):
        yield "two attempts have one outcome, or one has an outcome that is not there"
    if len(state.attempts) != state.attempts_used:
        yield f"{len(state.attempts)} attempts, {state.attempts_used} charged"


def _budgets(state: State, rules: Rules) -> Iterator[str]:
    budgets = state.plan.specification.budgets
    used = {
        "attempts": (state.attempts_used, budgets.max_attempts),
        "transitions": (state.transitions_used, budgets.max_transitions),
    }
    for budget, (usage, limit) in used.items():
        if state.oldest >= BUDGETS_FROM and usage and rules.exceeds(usage - 1, limit):
            yield f"{usage} {budget} are used of {limit}"


def _attempts(state: State, rules: Rules) -> Iterator[str]:
    for position, name, node in _nodes(state):
        policy = policy_of(state.node(position))
        has_begun = node.status in ACTIVE or node.status == "retry_pending"
        goes_on = node.status in {"ready", "retry_pending"}
        if (has_begun and not node.attempts) or (goes_on and not rules.has_attempts(policy, node.attempts)):
            yield f"{name} is {node.status} after {node.attempts} attempts"
        if node.attempts > policy.max_attempts:
            yield f"{name} has {node.attempts} attempts"


def _activity(state: State, _: Rules) -> Iterator[str]:
    for _position, name, node in _nodes(state):
        if (node.status in ACTIVE) != (node.attempt_id is not None):
            yield f"{name} is {node.status}, with an attempt or without"
        if (node.status == "waiting") != (node.wait is not None):
            yield f"{name} is {node.status}, with a wait or without"
        if node.deadline_ms is not None and node.attempt_id is None:
            yield f"{name} has a deadline, and no attempt"
        if node.retry_ms is not None and node.status != "retry_pending":
            yield f"{name} is {node.status} with a retry"


def _active(state: State, _: Rules) -> Iterator[str]:
    for position, name, node in _nodes(state):
        attempt = None if node.attempt_id is None else state.attempts.get(node.attempt_id)
        if node.attempt_id is not None and (attempt is None or attempt.outcome is not None or attempt.node != position):
            yield f"the active attempt of {name} is none of it, or has ended"
    active = sum(node.attempt_id is not None for node in state.nodes.values())
    if active != sum(attempt.outcome is None for attempt in state.attempts.values()):
        yield "an attempt has no outcome, and is not active"


def _children(state: State, _: Rules) -> Iterator[str]:
    if any(run_id in {state.run_id, *state.ancestors} for run_id in state.child_runs):
        yield "a child run is the run or one of its ancestors"
    if any(state.node(position).child is None for position in state.child_runs.values()):
        yield "a handler has a child run"
    for attempt_id, attempt in state.attempts.items():
        completed = attempt.completed
        is_its_own = completed is None or state.child_runs.get(completed.child_run_id) == attempt.node
        if completed is not None and (attempt.outcome is None or not is_its_own):
            yield f"the attempt {attempt_id} was ended by another run than its own"
    for position, name, node in _nodes(state):
        is_child, child_run_id = state.node(position).child is not None, node.child_run_id
        is_its_own = child_run_id is not None and state.child_runs.get(child_run_id) == position
        if is_child and node.attempt_id is not None and not is_its_own:
            yield f"{name} is a child, and its attempt has no child run"
        if not is_child and child_run_id is not None:
            yield f"{name} has a handler, and a child run"


def _waits(state: State, _: Rules) -> Iterator[str]:
    for position, name, node in _nodes(state):
        specified = state.node(position)
        if specified.child is not None and (node.wait is not None or node.resolved):
            yield f"{name} is a child, and waits or did"
        if isinstance(node.wait, SignalWait) and node.wait.name not in specified.signals:
            yield f"{name} declares no signal {node.wait.name}"
        for gain in node.resolved.values():
            if isinstance(gain, Received) and state.signals.get(gain.signal_id) != "accepted":
                yield f"the delivery {gain.signal_id} was not accepted"


def _activations(state: State, _: Rules) -> Iterator[str]:
    owners, edges = _owners(state), state.plan.edges
    for position, name, node in _nodes(state):
        waiting, limit = tuple(in_order(node.queue)), state.node(position).max_activations
        for sequence, edge in (*waiting, *([node.activation] if node.activation is not None else [])):
            if edge >= len(edges) or state.plan.targets[edge] != position:
                yield f"no edge {edge} leads to {name}"
            elif owners.get(sequence) != state.plan.positions[edges[edge].source]:
                yield f"the outcome {sequence} is none of the source of the edge {edge}"
        if node.activations < len(waiting) + (node.status in LIVE) or (limit is not None and node.activations > limit):
            yield f"{name} has another number of activations than it can have"


def _queues(state: State, _: Rules) -> Iterator[str]:
    for _position, name, node in _nodes(state):
        if state.status == "running" and node.queue is not None and node.status not in LIVE and is_released(node):
            yield f"an activation waits for {name}, which is {node.status}"


def _endings(state: State, rules: Rules) -> Iterator[str]:
    owners = _owners(state)
    for position, name, node in _nodes(state):
        has_ended = node.closed or node.status in TERMINAL or node.status in {"changes_requested", "retry_pending"}
        if node.outcome is None and has_ended:
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


def _kinds(state: State, position: int, rules: Rules) -> AbstractSet[OutcomeKind]:
    """Return the kinds that the last outcome of a node may have."""
    status, after = state.nodes[position].status, rules.status_after
    if status == "retry_pending":
        return {kind for kind in after if rules.may_retry(policy_of(state.node(position)), kind)}
    if status == "pending":
        return set()
    if status in LIVE:
        return set(after) - {"skipped"}
    kinds = {kind for kind, found in after.items() if found == status}
    return kinds | {"changes_requested"} if status == "failed" else kinds


def _latches(state: State, _: Rules) -> Iterator[str]:
    owners = _owners(state)
    for position, name, node in _nodes(state):
        if (node.attempts or node.status in LIVE) and not is_released(node):
            yield f"{name} was activated before its dependencies were satisfied"
        for prerequisite, sequence in pinned(state, position).items():
            if sequence not in state.outcomes or owners.get(sequence, prerequisite) != prerequisite:
                yield f"the outcome {sequence} is none of {state.name(prerequisite)}"


def _pending(state: State, rules: Rules) -> Iterator[str]:
    for position, name, node in _nodes(state):
        is_free = not state.plan.entering[position] if is_released(node) else is_satisfied(state, position, rules)
        if state.status == "running" and node.status == "pending" and is_free:
            yield f"{name} is pending, and nothing keeps it from being ready"


def _closed(state: State, _: Rules) -> Iterator[str]:
    for _position, name, node in _nodes(state):
        if node.closed and (node.status not in {"skipped", "blocked", "cancelled"} or node.queue is not None):
            yield f"{name} is closed and {node.status}"


def _tallies(state: State, _: Rules) -> Iterator[str]:
    for position, name, node in _nodes(state):
        shares = (
            share(state.nodes[prerequisite].status, is_revivable=state.entrances[prerequisite] > 0)
            for prerequisite in state.plan.prerequisites[position]
        )
        found = reduce(Tally.plus, shares, Tally(unfinished=0))
        if node.tally != (found if state.plan.prerequisites[position] else None):
            yield f"{name} counts {node.tally}, and there are {found}"


def _components(state: State, _: Rules) -> Iterator[str]:
    for number, members in enumerate(state.plan.members):
        part = state.components[number]
        live = sum(state.nodes[member].status in LIVE for member in members)
        if part.live != live:
            yield f"component {number} counts {part.live} live nodes, and there are {live}"


def _statuses(state: State, _: Rules) -> Iterator[str]:
    found = Counter(node.status for node in state.nodes.values())
    counted = {status: count for status, count in state.statuses.items() if count}
    if counted != found:
        yield f"it counts {counted}, and there are {dict(found)}"


def _deadlines(state: State, _: Rules) -> Iterator[str]:
    due = {(item.deadline_ms, item.position) for item in in_order(state.due)}
    for position, name, node in _nodes(state):
        wait_ms = None if node.wait is None else node.wait.deadline_ms
        for deadline_ms in {node.deadline_ms, wait_ms, node.retry_ms} - {None}:
            if state.status == "running" and (deadline_ms, position) not in due:
                yield f"nothing will happen to {name} at {deadline_ms}"


def _result(state: State, _: Rules) -> Iterator[str]:
    if state.agenda != NOTHING:
        yield f"something is owed: {state.agenda}"
    is_over = all(node.status in TERMINAL for node in state.nodes.values())
    if is_over and state.status == "running":
        yield "every node has ended, and the run has not"
    if not is_over and (
        state.status == "completed" or (state.status in {"blocked", "cancelled"} and state.version > 1)
    ):
        yield f"the run is {state.status}, and not every node has ended"


def _progress(state: State, rules: Rules) -> Iterator[str]:
    is_live = any(node.status in LIVE for node in state.nodes.values())
    if state.status == "running" and not is_live and not _is_to_be_settled(state, rules):
        yield "nothing is live, and the run has not ended"


def _is_to_be_settled(state: State, rules: Rules) -> bool:
    return state.oldest < BUDGETS_FROM and owed(settling(state, RUNTIME_VERSION, rules), rules) is not None


INVARIANTS: Final[Mapping[int, Callable[[State, Rules], Iterator[str]]]] = {
    1: _outcomes,
    2: _budgets,
    3: _attempts,
    4: _activity,
    5: _active,
    6: _children,
    7: _waits,
    8: _activations,
    9: _queues,
    10: _endings,
    11: _latches,
    12: _pending,
    13: _closed,
    14: _tallies,
    15: _components,
    16: _statuses,
    17: _deadlines,
    18: _result,
    19: _progress,
}
"""Each invariant, by its number: it yields what does not hold."""
