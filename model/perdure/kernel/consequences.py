"""Consequences: what a state owes next.

At any moment a state owes at most one event. The order of what is owed is that of `_STEPS`, and stands there alone.
A round of closing is written whole before what it releases (RUN-023).
What needs no event, an edge that does not fire, an entry that is out of date, is passed over by `tidied`.

Source: "Commands and their batches" of the graph design and of `docs/spec/kernel.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, assert_never

from msgspec.structs import replace

from perdure.kernel.closing import closure, is_cold, with_next_round
from perdure.kernel.events import (
    AttemptDeadlineExpired,
    BudgetExhausted,
    EventV5,
    NodeOutcomeCommitted,
    NodeReady,
    NodeTerminated,
    RetryReleased,
    RetryScheduled,
    RunBlocked,
    RunCancelled,
    RunCompleted,
    RunFact,
    RunFailed,
    SignalExpired,
    TimerFired,
    TransitionActivated,
)
from perdure.kernel.liveness import recounted
from perdure.kernel.mapping import unsuccessful
from perdure.kernel.queues import Queue, added, rest
from perdure.kernel.rules import BUDGETS_FROM, GOES_ON_FROM, Charged, DueKind, Rules, policy_of, result
from perdure.kernel.state import ACTIVE, TERMINAL, Agenda, Due, RunStatus, SignalWait, State, TimerWait

NOTHING: Final = Agenda()

RUN_STATUS: Final[Mapping[type[RunFact], RunStatus]] = {
    RunCompleted: "completed",
    RunFailed: "failed",
    RunBlocked: "blocked",
    RunCancelled: "cancelled",
}
"""The status of a run after each run fact."""
_RUN_FACTS: Final[Mapping[RunStatus, RunFact]] = {status: fact() for fact, status in RUN_STATUS.items()}

_EXPIRIES: Final[Mapping[DueKind, type[AttemptDeadlineExpired | SignalExpired | TimerFired]]] = {
    "attempt": AttemptDeadlineExpired,
    "signal_wait": SignalExpired,
    "timer": TimerFired,
}


def owed(state: State, rules: Rules) -> EventV5 | None:
    """Return the event that must follow in this batch; None if the batch may end (RUN-007)."""
    if state.agenda == NOTHING:
        return None
    for step in _STEPS:
        event = step(state, rules)
        if event is not None:
            return within_budget(state, event, state.version, rules)
    return None


def within_budget(state: State, event: EventV5, version: int, rules: Rules) -> EventV5:
    """Return the event; or, if it would exceed a budget of the run, the event that says so (BUD-003)."""
    budget = rules.charge(event)
    return event if budget is None else exhausted(state, budget, version, rules) or event


def exhausted(state: State, budget: Charged, version: int, rules: Rules) -> BudgetExhausted | None:
    """Return the event that says that one more would exceed a budget; None if it would not (BUD-005)."""
    if version < BUDGETS_FROM:
        return None
    budgets = state.plan.specification.budgets
    limit, usage = (
        (budgets.max_attempts, state.attempts_used)
        if budget == "attempts"
        else (budgets.max_transitions, state.transitions_used)
    )
    if not rules.exceeds(usage, limit):
        return None
    return BudgetExhausted(budget=budget, limit=limit, usage=usage, last_outcome=state.last_outcome)


def settling(state: State, version: int, rules: Rules) -> State:
    """Return the state in which the rules of a version begin to settle what older ones left (VER-011)."""
    agenda = Agenda(settling=True, judging=True)
    return tidied(recounted(replace(state, version=version, agenda=agenda), rules), rules)


def scheduled(state: State, kind: DueKind, deadline_ms: int, position: int, rules: Rules) -> State:
    """Return the state in which something happens to a node at a time."""
    return replace(state, due=added(state.due, Due(deadline_ms, rules.due_order.index(kind), position)))


# What is owed, in order: each step returns the event that it owes, if it owes any.


def _failure(state: State, _: Rules) -> EventV5 | None:
    return RunFailed() if state.agenda.failing else None


def _initial(state: State, _: Rules) -> EventV5 | None:
    done = state.agenda.initial
    return None if done is None else NodeReady(node=state.name(state.plan.initial[done]), cause="initial")


def _cancellation(state: State, _: Rules) -> EventV5 | None:
    position = state.agenda.cancelling
    if position is None:
        return None
    if position == len(state.plan.nodes):
        return RunCancelled()
    outcome = unsuccessful("cancelled", "the run was cancelled")
    return NodeOutcomeCommitted(node=state.name(position), attempt_id=state.nodes[position].attempt_id, outcome=outcome)


def _outcome(state: State, _: Rules) -> EventV5 | None:
    if state.agenda.outcome is None:
        return None
    position, outcome = state.agenda.outcome
    return NodeOutcomeCommitted(node=state.name(position), attempt_id=state.nodes[position].attempt_id, outcome=outcome)


def _retry(state: State, rules: Rules) -> EventV5 | None:
    position = state.agenda.retry
    if position is None and state.agenda.settling and state.unsettled is not None:
        position = state.unsettled.first
    if position is None:
        return None
    node = state.nodes[position]
    if node.retry_ms is not None:
        return RetryReleased(node=state.name(position), next_attempt=node.attempts + 1)
    policy = policy_of(state.node(position))
    delay = rules.delay_ms(policy.backoff, node.attempts + 1)
    delay += rules.jitter_ms(policy, state.run_id, state.name(position), node.attempts + 1)
    return RetryScheduled(
        node=state.name(position), next_attempt=node.attempts + 1, deadline_ms=rules.later(state.now_ms, delay)
    )


def _termination(state: State, _: Rules) -> EventV5 | None:
    position = state.agenda.termination
    if position is None:
        return None
    limit, usage = policy_of(state.node(position)).max_attempts, state.nodes[position].attempts
    return NodeTerminated(node=state.name(position), reason="attempts_exhausted", limit=limit, usage=usage)


def _transition(state: State, _: Rules) -> EventV5 | None:
    if not state.agenda.firing:
        return None
    edge = state.agenda.firing[state.agenda.fired]
    source = state.plan.edges[edge].source
    sequence = state.nodes[state.plan.positions[source]].outcome
    assert sequence is not None
    return TransitionActivated(edge=edge, source=source, source_sequence=sequence)


def _release(state: State, _: Rules) -> EventV5 | None:
    releases = state.agenda.releases
    return None if releases is None else NodeReady(node=state.name(releases.first), cause="dependencies")


def _queued(state: State, _: Rules) -> EventV5 | None:
    queued = state.agenda.queued
    return None if queued is None else NodeReady(node=state.name(queued.first), cause="queued")


def _closure(state: State, rules: Rules) -> EventV5 | None:
    if not state.agenda.closing:
        return None
    position = state.agenda.closing[state.agenda.closed]
    kind = closure(state, position, rules, is_cold=is_cold(state, position))
    assert kind is not None
    if kind == "terminated":
        return NodeTerminated(node=state.name(position), reason="no_correction")
    return NodeOutcomeCommitted(node=state.name(position), outcome=unsuccessful(kind, "the node will never run"))


def _verdict(state: State, _: Rules) -> EventV5 | None:
    return None if state.agenda.verdict is None else _RUN_FACTS[state.agenda.verdict]


def _due(state: State, rules: Rules) -> EventV5 | None:
    if not state.agenda.advancing or state.due is None:
        return None
    deadline_ms, rank, position = state.due.first
    kind = rules.due_order[rank]
    if kind == "elapsed":
        return BudgetExhausted(budget="elapsed", limit=deadline_ms, usage=state.now_ms, last_outcome=state.last_outcome)
    name, node = state.name(position), state.nodes[position]
    if kind == "retry":
        return RetryReleased(node=name, next_attempt=node.attempts + 1)
    assert node.attempt_id is not None
    return _EXPIRIES[kind](node=name, attempt_id=node.attempt_id, deadline_ms=deadline_ms)


Step = Callable[[State, Rules], EventV5 | None]
_STEPS: Final[tuple[Step, ...]] = (
    _failure,
    _initial,
    _cancellation,
    _outcome,
    _retry,
    _termination,
    _transition,
    _closure,
    _release,
    _queued,
    _verdict,
    _due,
)


def tidied(state: State, rules: Rules) -> State:
    """Return the state with nothing on its agenda that needs no event."""
    agenda = state.agenda
    if agenda == NOTHING:
        return state
    if agenda.cancelling is not None:
        return _to_next_cancelled(state, agenda.cancelling)
    if agenda.settling and state.unsettled is None:
        state = replace(state, agenda=replace(agenda, settling=False))
    if agenda.firing:
        state = _to_next_firing(state, rules)
    if agenda.judging and _may_judge(state.agenda):
        state = _judged(state, rules)
    return _to_next_due(state, rules) if agenda.advancing else state


def _to_next_cancelled(state: State, position: int) -> State:
    while position < len(state.plan.nodes) and state.nodes[position].status in TERMINAL:
        position += 1
    return replace(state, agenda=replace(state.agenda, cancelling=position))


def _to_next_firing(state: State, rules: Rules) -> State:
    agenda, fired = state.agenda, state.agenda.fired
    while fired < len(agenda.firing):
        target = state.plan.targets[agenda.firing[fired]]
        if rules.fires(state.nodes[target], state.node(target).max_activations):
            return replace(state, agenda=replace(agenda, fired=fired))
        fired += 1
    return replace(state, agenda=replace(agenda, firing=(), fired=0))


def _may_judge(agenda: Agenda) -> bool:
    """Tell whether all that comes before the closing is done."""
    return agenda == Agenda(judging=True, advancing=agenda.advancing)


def _judged(state: State, rules: Rules) -> State:
    if state.version >= GOES_ON_FROM:
        state = with_next_round(state, rules)
    if state.agenda.closing:
        return state
    ended = sum(state.statuses.get(status, 0) for status in TERMINAL)
    verdict = result(rules.result_precedence, state.statuses) if ended == len(state.plan.nodes) else None
    return replace(state, agenda=replace(state.agenda, judging=False, verdict=verdict))


def _to_next_due(state: State, rules: Rules) -> State:
    if state.agenda != Agenda(advancing=True):
        return state
    due = without_outdated(state, rules)
    is_over = due is None or not rules.is_due(state.now_ms, due.first.deadline_ms)
    return replace(state, due=due, agenda=NOTHING if is_over else state.agenda)


def without_outdated(state: State, rules: Rules) -> Queue[Due] | None:
    """Return what happens at a time, with what is still to happen in front."""
    due = state.due
    while due is not None and not _is_current(state, due.first, rules):
        due = rest(due)
    return due


def _is_current(state: State, item: Due, rules: Rules) -> bool:
    """Tell whether what was to happen is still to."""
    kind = rules.due_order[item.rank]
    if kind == "elapsed":
        return True
    node = state.nodes[item.position]
    match kind:
        case "attempt":
            return node.status in ACTIVE and node.deadline_ms == item.deadline_ms
        case "signal_wait":
            return isinstance(node.wait, SignalWait) and node.wait.deadline_ms == item.deadline_ms
        case "timer":
            return isinstance(node.wait, TimerWait) and node.wait.deadline_ms == item.deadline_ms
        case "retry":
            return node.retry_ms == item.deadline_ms
        case _:
            assert_never(kind)
