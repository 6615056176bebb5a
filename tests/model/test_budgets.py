"""Where the default budgets end (BUD-008): runs are played to the last attempt or transition, and to one more.

Each run is a loop, so that it costs what its events cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from tests.model.playing import RUN, document, edge, outcome, uuid

from perdure.kernel.commands import CreateRun, StartNode
from perdure.kernel.consequences import owed
from perdure.kernel.decide import decide
from perdure.kernel.errors import Corruption
from perdure.kernel.events import (
    AnyEvent,
    BudgetExhausted,
    NodeOutcomeCommitted,
    NodeStarted,
    RunFailed,
    TransitionActivated,
)
from perdure.kernel.identity import AttemptId, NodeId
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.specification import Budgets
from perdure.kernel.state import State

A = NodeId("A")
ARROWS = 1_000
"""How many edges leave the node, so that most of what happens is transitions."""


def began(arrows: int) -> State:
    """The state of a run in which A is ready: an edge leads back to it, and others to B, which nobody starts."""
    edges = [edge("A>A"), *(edge("A>B") for _ in range(arrows - 1))]
    nodes = ["A", "B"] if arrows > 1 else ["A"]
    created = decide(None, CreateRun(run_id=RUN, specification=document(nodes, edges, initial_nodes=["A"])))
    assert isinstance(created, tuple)
    return played(None, created)


def played(state: State | None, events: Iterable[AnyEvent]) -> State:
    for event in events:
        state = reduce(state, event)
    assert state is not None
    return state


def turn(number: int, sequence: int, arrows: int) -> Iterator[AnyEvent]:
    """Yield what happens when A runs for the so-manieth time, after so many events."""
    attempt_id = AttemptId(uuid(number))
    yield NodeStarted(node=A, attempt_id=attempt_id, attempt=1)
    yield NodeOutcomeCommitted(node=A, attempt_id=attempt_id, outcome=outcome("succeeded"))
    for arrow in range(arrows):
        yield TransitionActivated(edge=arrow, source=A, source_sequence=sequence + 2)


def test_a_run_has_ten_thousand_attempts_and_no_more() -> None:
    state = began(1)
    for number in range(1, 10_000):
        state = played(state, turn(number, state.sequence, 1))
    assert state.attempts_used == 9_999
    state = played(state, turn(10_000, state.sequence, 1))
    assert state.attempts_used == Budgets().max_attempts == 10_000
    attempt_id = AttemptId(uuid(10_001))
    over = BudgetExhausted(budget="attempts", limit=10_000, usage=10_000, last_outcome=state.last_outcome)
    assert decide(state, StartNode(node=A, attempt_id=attempt_id)) == (over, RunFailed())
    with pytest.raises(Corruption):
        reduce(state, NodeStarted(node=A, attempt_id=attempt_id, attempt=1))


@pytest.mark.many
def test_a_run_has_a_hundred_thousand_transitions_and_no_more() -> None:
    state = began(ARROWS)
    for number in range(1, 100_000 // ARROWS):
        state = played(state, turn(number, state.sequence, ARROWS))
    *last, one_more = turn(100_000 // ARROWS, state.sequence, ARROWS)
    state = played(state, last[:-1])
    assert state.transitions_used == 99_999
    assert owed(state, RULES) == last[-1]
    state = reduce(state, last[-1])
    assert state.transitions_used == Budgets().max_transitions == 100_000
    over = BudgetExhausted(budget="transitions", limit=100_000, usage=100_000, last_outcome=state.last_outcome)
    assert owed(state, RULES) == over
    with pytest.raises(Corruption):
        reduce(state, one_more)
    assert owed(reduce(state, over), RULES) == RunFailed()
