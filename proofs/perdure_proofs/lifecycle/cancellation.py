"""A cancellation closes every node that has not ended, in specification order, and then the run; nothing else happens.

What a cancelled run leaves running goes on for nobody. So the cascade walks all nodes, of however many there are, by
induction on the position that it has reached: all nodes before it have ended. It begins at the first node that has not.
A step cancels the node there, with its attempt if it has one, and goes on to the next that has not ended; it looks at
no node before, for here there is none to look at, and changes none after. When it has reached the end, and not before,
the run is cancelled, so then every node has ended. Nobody's node is charged, released, retried or judged on the way.

Nothing here is any number: all is gone through. A step sees the node that it cancels, behind none, one or five that
have ended, and up to two that follow it, of every status: it asks each whether it has ended, one after the other, so
more would be passed over as these are. Its nodes depend on nothing: a dependent is counted anew, which concerns no
status. Where the cascade begins, and where it ends, is looked at in runs of one and of two nodes. These are also
cancelled whole, with nodes of every status, and what leads from each to the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Final, Literal, get_args

import msgspec
from immutables import Map

from perdure.kernel.changes import applied
from perdure.kernel.consequences import owed
from perdure.kernel.creation import created
from perdure.kernel.events import (
    RUNTIME_VERSION,
    CancellationRequested,
    CancelTarget,
    EventV5,
    NodeOutcomeCommitted,
    RunCancelled,
    RunCreated,
    RunFailed,
)
from perdure.kernel.identity import AttemptId, RunId
from perdure.kernel.legality import cancel_targets
from perdure.kernel.liveness import recounted
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.state import ACTIVE, STATUSES, TERMINAL, Agenda, AttemptState, NodeState, State, Status
from perdure_conformance.reducer.histories import RUN, Document, attempt, child, document, hashed, node
from perdure_proofs.steps import Apply
from perdure_proofs.theorems import UNNOTED, Any, Theorem

Target = Callable[[State, Rules], tuple[CancelTarget, ...]]
Owe = Callable[[State, Rules], EventV5 | None]

Shape = Literal["nothing leads anywhere", "each depends on the one before", "each leads to all"]
SHAPES: Final[tuple[Shape, ...]] = get_args(Shape)

_NAMES: Final = "ABCDEFGH"
_BEFORE: Final = (0, 1, 5)
"""How many nodes come before the one that is cancelled."""
_MOST_AFTER: Final = 2
_MOST: Final = 2
"""Of so many nodes are the runs that are cancelled whole, at most."""


@dataclass(frozen=True, slots=True)
class Cascade:
    """What cancels a run."""

    rules: Rules = RULES
    targets: Target = field(default=cancel_targets, metadata=UNNOTED)
    owed: Owe = field(default=owed, metadata=UNNOTED)
    applied: Apply = field(default=applied, metadata=UNNOTED)


def _sparing(*statuses: Status) -> Cascade:
    """Return the cascade that passes over nodes of some statuses."""

    def spared(state: State, event: EventV5, version: int, rules: Rules) -> State:
        after = applied(state, event, version, rules)
        position, last = after.agenda.cancelling, len(after.plan.nodes)
        if position is None:
            return after
        while position < last and after.nodes[position].status in {*statuses, *TERMINAL}:
            position += 1
        return msgspec.structs.replace(after, agenda=Agenda(cancelling=position))

    return Cascade(applied=spared)


def _without_child_runs(state: State, rules: Rules) -> tuple[CancelTarget, ...]:
    return tuple(msgspec.structs.replace(each, child_run_id=None) for each in cancel_targets(state, rules))


def _nobodys(state: State, rules: Rules) -> EventV5 | None:
    event = owed(state, rules)
    return msgspec.structs.replace(event, attempt_id=None) if isinstance(event, NodeOutcomeCommitted) else event


def _failing(state: State, rules: Rules) -> EventV5 | None:
    event = owed(state, rules)
    has_failed = any(node.status == "failed" for node in state.nodes.values())
    return RunFailed() if has_failed and isinstance(event, RunCancelled) else event


THEOREM: Final = Theorem(
    ("CAN-001", "CAN-002", "CAN-003", "CAN-004"),
    Cascade(),
    {
        "LeavesWaitingAttemptsOut": Cascade(replace(RULES, is_target=lambda node: node.status == "running")),
        "LeavesChildRunsOut": Cascade(targets=_without_child_runs),
        "SparesWhatWaits": _sparing("waiting"),
        "SparesWhatHasNotBegun": _sparing("pending"),
        "SparesWhatWillBeTriedAgain": _sparing("retry_pending"),
        "SparesWhatAskedForChanges": _sparing("changes_requested"),
        "CancelsNodesNotAttempts": Cascade(owed=_nobodys),
        "FailsAlthoughCancelled": Cascade(owed=_failing),
    },
)


@cache
def of_shape(shape: Shape, size: int) -> State:
    """Return the state of a run of so many nodes that was just created, with nothing on its agenda."""
    names = list(_NAMES[:size])
    nodes = [node(name) for name in names]
    arrows: list[str | Document] = []
    if shape == "each depends on the one before":
        nodes = [node(name, *names[max(0, at - 1) : at]) for at, name in enumerate(names)]
    elif shape == "each leads to all":
        arrows = [f"{source}>{target}" for source, target in product(names, names)]
    initial = names if shape == "nothing leads anywhere" else names[:1]
    pinned = hashed(document(nodes, arrows, initial_nodes=initial))
    event = RunCreated(run_id=RunId(RUN), specification=pinned, content_hash=pinned["content_hash"])
    state = created(event, RUNTIME_VERSION, RULES)
    assert isinstance(state, State)
    return msgspec.structs.replace(state, agenda=Agenda())


def with_statuses(statuses: Sequence[Status], shape: Shape = "nothing leads anywhere") -> State:
    """Return the state of a run whose nodes have these statuses, with an attempt where one is active.

    What runs is a child run; what waits is a handler.
    """
    active = {at: AttemptId(attempt(at)) for at, status in enumerate(statuses) if status in ACTIVE}
    children = {at: RunId(child(at)) for at, status in enumerate(statuses) if status == "running"}
    nodes = {
        at: NodeState(status=status, attempt_id=active.get(at), child_run_id=children.get(at), activations=1)
        for at, status in enumerate(statuses)
    }
    attempts = Map({attempt_id: AttemptState(at) for at, attempt_id in active.items()})
    state = msgspec.structs.replace(of_shape(shape, len(statuses)), nodes=Map(nodes), attempts=attempts)
    return recounted(state, RULES)


def any_statuses(values: Any, most: int) -> tuple[Status, ...]:
    """Return up to so many statuses."""
    size = values.among("nodes", range(1, most + 1))
    return tuple(values.among(f"status of {_NAMES[position]}", STATUSES) for position in range(size))


def request(kernel: Cascade, state: State) -> CancellationRequested:
    """Return the event that a request to cancel begins with."""
    targets, now_ms = kernel.targets(state, kernel.rules), state.now_ms
    return CancellationRequested(requester="somebody", reason="", now_ms=now_ms, policy="cascade", targets=targets)


def first_left(statuses: Sequence[Status], start: int = 0) -> int:
    """Return the position of the first node from a position on that has not ended; the number of nodes if all have."""
    left = (at for at in range(start, len(statuses)) if statuses[at] not in TERMINAL)
    return next(left, len(statuses))


@THEOREM.claim
def it_begins_at_the_first_node_that_has_not_ended(kernel: Cascade, values: Any) -> bool:
    """The request tells each active attempt, and its child run, and leaves nothing to do but to cancel nodes."""
    statuses = any_statuses(values, _MOST)
    state = with_statuses(statuses)
    event = request(kernel, state)
    after = kernel.applied(state, event, RUNTIME_VERSION, kernel.rules)
    active = [(at, attempt(at)) for at, status in enumerate(statuses) if status in ACTIVE]
    expected = [(_NAMES[at], attempt_id, state.nodes[at].child_run_id) for at, attempt_id in active]
    is_told = [(target.node, target.attempt_id, target.child_run_id) for target in event.targets] == expected
    return is_told and after.agenda == Agenda(cancelling=first_left(statuses)) and after.nodes == state.nodes


@THEOREM.claim
def each_step_cancels_a_node_and_goes_on_to_the_next(kernel: Cascade, values: Any) -> bool:
    """At a node that has not ended, it is cancelled; then comes the next that has not, and no other node is touched."""
    reached = values.among("nodes before", _BEFORE)
    status = values.among("status", tuple(status for status in STATUSES if status not in TERMINAL))
    after_it = tuple(
        values.among(f"status of the one {ordinal} after it", STATUSES)
        for ordinal in range(values.among("nodes after", range(_MOST_AFTER + 1)))
    )
    ended: Status = "succeeded"
    statuses = (*(ended for _ in range(reached)), status, *after_it)
    whole = with_statuses(statuses)
    seen = Map({at: node for at, node in whole.nodes.items() if at >= reached})
    state = msgspec.structs.replace(whole, nodes=seen, agenda=Agenda(cancelling=reached))
    event = kernel.owed(state, kernel.rules)
    if not isinstance(event, NodeOutcomeCommitted):
        return False
    after = kernel.applied(state, event, RUNTIME_VERSION, kernel.rules)
    is_right = (event.node, event.attempt_id) == (_NAMES[reached], seen[reached].attempt_id)
    is_cancelled = event.outcome.kind == "cancelled" and after.nodes[reached].status == "cancelled"
    is_alone = after.nodes.delete(reached) == seen.delete(reached)
    is_next = after.agenda == Agenda(cancelling=first_left(statuses, reached + 1))
    return is_right and is_cancelled and is_alone and is_next


@THEOREM.claim
def at_the_end_the_run_is_cancelled(kernel: Cascade, values: Any) -> bool:
    """Where no node is left, and only there, RunCancelled is owed, whatever the nodes came to; and then nothing is."""
    statuses = any_statuses(values, _MOST)
    state = msgspec.structs.replace(with_statuses(statuses), agenda=Agenda(cancelling=first_left(statuses)))
    event = kernel.owed(state, kernel.rules)
    is_over = all(status in TERMINAL for status in statuses)
    if not isinstance(event, RunCancelled):
        return not is_over
    after = kernel.applied(state, event, RUNTIME_VERSION, kernel.rules)
    return is_over and after.status == "cancelled" and kernel.owed(after, kernel.rules) is None


@THEOREM.claim
def short_runs_are_cancelled_whole(kernel: Cascade, values: Any) -> bool:
    """In the end all nodes have ended, those that had are as they were, and nothing was consumed."""
    statuses = any_statuses(values, _MOST)
    state = with_statuses(statuses, values.among("shape", SHAPES))
    *_, (last, after) = _cancelled(kernel, state)
    kept = all(
        after.nodes[at].status == (node.status if node.status in TERMINAL else "cancelled")
        for at, node in state.nodes.items()
    )
    used = (after.attempts_used, after.transitions_used) == (state.attempts_used, state.transitions_used)
    return kept and used and isinstance(last, RunCancelled)


def _cancelled(kernel: Cascade, state: State) -> Iterator[tuple[EventV5, State]]:
    """Yield the events of a cancellation, and the state after each."""
    event: EventV5 | None = request(kernel, state)
    while event is not None:
        state = kernel.applied(state, event, RUNTIME_VERSION, kernel.rules)
        yield event, state
        event = kernel.owed(state, kernel.rules)
