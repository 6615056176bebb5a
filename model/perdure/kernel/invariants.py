"""Invariants: what holds of every state between two batches, each with its number.

 1  An attempt has at most one outcome, and the active attempt of a node has none.
 2  A run never uses more than its budgets allow.
 3  An activation never has more attempts than its policy allows.
 4  A node has an attempt exactly while it is running or waiting, and a wait exactly while it is waiting.
 5  A node that is ready, or was, was initial, or its dependencies were satisfied, or it has none.
 6  A closed node is terminal, and nothing waits for it.
 7  No node has more activations than it may have.
 8  An activation waits only for a node that is live, or whose dependencies are not satisfied yet.
 9  A node counts its prerequisites as they are.
10  A component counts its nodes as they are.
11  A run counts its nodes as they are.
12  Every deadline of a node is among what happens at a time.
13  A run that has ended owes nothing; one that ended by itself has only terminal nodes.
14  A run that has not ended has something live, or an older history left something to settle: nothing is stuck.

`violations` is for tests and for whoever doubts; nothing in the kernel calls it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from perdure.kernel.consequences import BUDGETS_FROM, NOTHING, owed, settling
from perdure.kernel.events import RUNTIME_VERSION
from perdure.kernel.queues import in_order
from perdure.kernel.rules import RULES, is_released, policy_of, share
from perdure.kernel.state import ACTIVE, LIVE, TERMINAL, NodeState, State, Tally


def violations(state: State) -> list[str]:
    """Return what does not hold of a state between two batches: the number of the invariant, and where."""
    return [f"{number}: {found}" for number, check in _INVARIANTS.items() for found in check(state)]


def _nodes(state: State) -> Iterator[tuple[int, str, NodeState]]:
    for position in range(len(state.plan.nodes)):
        yield position, state.name(position), state.nodes[position]


def _one_outcome(state: State) -> Iterator[str]:
    outcomes = Counter(attempt.outcome for attempt in state.attempts.values() if attempt.outcome is not None)
    yield from (f"outcome {sequence} ends {count} attempts" for sequence, count in outcomes.items() if count > 1)
    for _, name, node in _nodes(state):
        if node.attempt_id is not None and state.attempts[node.attempt_id].outcome is not None:
            yield f"the attempt of {name} has an outcome and is active"
    if len(state.attempts) != state.attempts_used:
        yield f"{len(state.attempts)} attempts, {state.attempts_used} charged"


def _budgets(state: State) -> Iterator[str]:
    budgets = state.plan.specification.budgets
    if state.attempts_used > budgets.max_attempts:
        yield f"{state.attempts_used} attempts of {budgets.max_attempts}"
    if state.transitions_used > budgets.max_transitions:
        yield f"{state.transitions_used} transitions of {budgets.max_transitions}"


def _attempts(state: State) -> Iterator[str]:
    for position, name, node in _nodes(state):
        if node.attempts > policy_of(state.node(position)).max_attempts:
            yield f"{name} has {node.attempts} attempts"


def _activity(state: State) -> Iterator[str]:
    for _, name, node in _nodes(state):
        is_active = state.status == "running" and node.status in ACTIVE
        if is_active and node.attempt_id is None:
            yield f"{name} is {node.status} without an attempt"
        if node.status not in ACTIVE and (node.attempt_id, node.deadline_ms, node.wait) != (None, None, None):
            yield f"{name} is {node.status} with an attempt"
        if (node.status == "waiting") != (node.wait is not None):
            yield f"{name} is {node.status} with the wait {node.wait}"
        if node.retry_ms is not None and node.status != "retry_pending":
            yield f"{name} is {node.status} with a retry"


def _readiness(state: State) -> Iterator[str]:
    for _, name, node in _nodes(state):
        if node.status in LIVE and not is_released(node):
            yield f"{name} is {node.status} before its dependencies were satisfied"
        if node.status in LIVE and not node.activations:
            yield f"{name} is {node.status} without an activation"


def _closed(state: State) -> Iterator[str]:
    for _, name, node in _nodes(state):
        if node.closed and (node.status not in TERMINAL or node.queue is not None):
            yield f"{name} is closed and {node.status}"


def _activations(state: State) -> Iterator[str]:
    for position, name, node in _nodes(state):
        limit = state.node(position).max_activations
        if limit is not None and node.activations > limit:
            yield f"{name} has {node.activations} activations of {limit}"


def _queues(state: State) -> Iterator[str]:
    if state.status != "running":
        return
    for _, name, node in _nodes(state):
        if node.queue is not None and node.status not in LIVE and is_released(node):
            yield f"an activation waits for {name}, which is {node.status}"


def _tallies(state: State) -> Iterator[str]:
    for position, name, node in _nodes(state):
        found = Tally(unfinished=0)
        for prerequisite in state.plan.prerequisites[position]:
            one = share(state.nodes[prerequisite].status, is_revivable=state.entrances[prerequisite] > 0)
            found = found.plus(one)
        if node.tally is not None and node.tally != found:
            yield f"{name} counts {node.tally}, and there are {found}"


def _components(state: State) -> Iterator[str]:
    for number, members in enumerate(state.plan.members):
        part = state.components[number]
        live = sum(state.nodes[member].status in LIVE for member in members)
        unfinished = sum(state.nodes[member].status not in TERMINAL for member in members)
        if (part.live, part.unfinished) != (live, unfinished):
            yield f"component {number} counts {part.live} live, {part.unfinished} unfinished: {live}, {unfinished}"


def _statuses(state: State) -> Iterator[str]:
    found = Counter(node.status for _, _, node in _nodes(state))
    counted = {status: count for status, count in state.statuses.items() if count}
    if counted != dict(found):
        yield f"it counts {counted}, and there are {dict(found)}"


def _deadlines(state: State) -> Iterator[str]:
    due = {(item[0], item[2]) for item in in_order(state.due)}
    for position, name, node in _nodes(state):
        wait_ms = None if node.wait is None else node.wait.deadline_ms
        for deadline_ms in {node.deadline_ms, wait_ms, node.retry_ms} - {None}:
            if state.status == "running" and (deadline_ms, position) not in due:
                yield f"nothing will happen to {name} at {deadline_ms}"


def _final(state: State) -> Iterator[str]:
    if state.agenda != NOTHING:
        yield f"something is owed: {state.agenda}"
    nodes = [node for _, _, node in _nodes(state)]
    if state.status in {"completed", "blocked"} and state.version > 1:
        yield from (
            f"the run is {state.status}, and a node {node.status}" for node in nodes if node.status not in TERMINAL
        )


def _progress(state: State) -> Iterator[str]:
    is_live = any(state.statuses.get(status, 0) for status in LIVE)
    if state.status == "running" and not is_live and not _is_to_be_settled(state):
        yield "nothing is live, and the run has not ended"


def _is_to_be_settled(state: State) -> bool:
    return state.oldest < BUDGETS_FROM and owed(settling(state, RUNTIME_VERSION, RULES), RULES) is not None


_INVARIANTS: dict[int, Callable[[State], Iterator[str]]] = {
    1: _one_outcome,
    2: _budgets,
    3: _attempts,
    4: _activity,
    5: _readiness,
    6: _closed,
    7: _activations,
    8: _queues,
    9: _tallies,
    10: _components,
    11: _statuses,
    12: _deadlines,
    13: _final,
    14: _progress,
}
