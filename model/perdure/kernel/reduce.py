"""Reduce: the state after an event.

An event is either the one that the state owes, or, if it owes none, one that a command may open a batch with. Anything
else is corruption. What each type of event changes stands in `changes`.

Source: ADR-0032, "Commands, events, state, and effects"; `docs/spec/kernel.md`.
"""

from __future__ import annotations

from typing import NoReturn

from msgspec.structs import replace

from perdure.kernel.changes import applied
from perdure.kernel.commands import Rejection
from perdure.kernel.consequences import (
    owed,
    settling,
    within_budget,
)
from perdure.kernel.creation import created
from perdure.kernel.errors import Incompatible, corrupt
from perdure.kernel.events import (
    EVENTS,
    RUNTIME_VERSION,
    AnyEvent,
    EventV5,
    NodeOutcomeCommitted,
    RetryScheduled,
    RunCancelled,
    RunCreated,
)
from perdure.kernel.legality import Opening, contradiction, exhausted_at_start, refusal, run_terminal
from perdure.kernel.limits import require_within_limits
from perdure.kernel.outcomes import Outcome, Succeeded
from perdure.kernel.rules import BUDGETS_FROM, RULES, Rules, policy_of
from perdure.kernel.state import State
from perdure.kernel.upcast import is_of_version, upcast


def reduce(state: State | None, event: AnyEvent, rules: Rules = RULES, *, version: int = RUNTIME_VERSION) -> State:
    """Return the state after an event that was recorded in a version, in the words of that version or of the newest.

    Raises `Corruption` if the event cannot be here, `Incompatible` if the version does not have it.
    """
    require_within_limits(event)
    return followed(state, event, None if state is None else owed(state, rules), version, rules)


def followed(state: State | None, event: AnyEvent, expected: EventV5 | None, version: int, rules: Rules) -> State:
    """Return the state after an event within its limits, where `expected` is what is owed. Raises as `reduce` does."""
    if version not in EVENTS:
        raise Incompatible("unknown_version", f"there is no event version {version}")
    if not is_of_version(event, version):
        raise Incompatible("unknown_type", f"version {version} has no {type(event).__name__}")
    if state is None or isinstance(event, RunCreated):
        return _begun(state, event, version, rules)
    if version < state.version:
        corrupt("version_went_down", f"version {version} follows version {state.version}")
    current = upcast(event)
    if expected is None:
        return _opened(state, current, version, rules)
    if version != state.version:
        corrupt("something_else_owed", f"{_named(expected)} is owed in version {state.version}, and this is {version}")
    if not fits(state, expected, current, rules):
        _refuse(expected, current)
    return applied(state, current, version, rules)


def _begun(state: State | None, event: AnyEvent, version: int, rules: Rules) -> State:
    if not isinstance(event, RunCreated):
        corrupt("no_run", "the first event of a history is RunCreated")
    if state is not None:
        corrupt("run_conflict", "the run was created before")
    first = created(event, version, rules)
    return first if isinstance(first, State) else _corrupt_as(first)


def _corrupt_as(refused: Rejection) -> NoReturn:
    """A command that would be refused so gave this event."""
    corrupt(refused.code, refused.sentence)


def _opened(state: State, event: EventV5, version: int, rules: Rules) -> State:
    """Return the state after the first event of a batch."""
    if state.status != "running":
        _corrupt_as(run_terminal(state))
    if not isinstance(event, Opening) or (isinstance(event, NodeOutcomeCommitted) and event.attempt_id is None):
        return _opened_otherwise(state, event, version, rules)
    refused = refusal(state, event, rules)
    if refused is not None:
        _corrupt_as(refused)
    wrong = contradiction(state, event, version, rules)
    if wrong is not None:
        corrupt("wrong_content", wrong)
    permitted = within_budget(state, event, version, rules)
    if permitted != event:
        _refuse(permitted, event)
    return applied(state, event, version, rules)


def _opened_otherwise(state: State, event: EventV5, version: int, rules: Rules) -> State:
    """Return the state after the first event of a batch that no command asked for in so many words."""
    if isinstance(event, RunCancelled) and version == 1:
        return applied(state, event, version, rules)
    if event == exhausted_at_start(state, version, rules):
        return applied(state, event, version, rules)
    newest = settling(state, version, rules) if version >= BUDGETS_FROM else state
    expected = owed(newest, rules)
    if expected is None or not fits(newest, expected, event, rules):
        corrupt("nothing_owed", f"nothing is owed here, and no command begins with {_named(event)}")
    return applied(newest, event, version, rules)


def _refuse(expected: AnyEvent, event: AnyEvent) -> NoReturn:
    found = _named(event) if _named(event) != _named(expected) else "one with other content"
    corrupt("something_else_owed", f"{_named(expected)} is owed here, and this is {found}")


def _named(event: AnyEvent) -> str:
    node = getattr(event, "node", None)
    return type(event).__name__ + (f" of {node}" if isinstance(node, str) else "")


def fits(state: State, expected: AnyEvent, event: AnyEvent, rules: Rules) -> bool:
    """Tell whether an event is the one that is owed.

    A deadline may have any jitter that the policy allows, and a reason that the kernel gives may be in other words.
    """
    match expected, event:
        case RetryScheduled(), RetryScheduled():
            policy = policy_of(state.node(state.plan.positions[expected.node]))
            base = rules.later(state.now_ms, rules.delay_ms(policy.backoff, expected.next_attempt))
            most = rules.later(base, policy.jitter.maximum_ms if policy.jitter is not None else 0)
            is_in_range = base <= event.deadline_ms <= most
            return is_in_range and replace(expected, deadline_ms=event.deadline_ms) == event
        case NodeOutcomeCommitted(), NodeOutcomeCommitted():
            is_same = (expected.node, expected.attempt_id) == (event.node, event.attempt_id)
            return is_same and _same_but_for_reason(expected.outcome, event.outcome, rules)
        case _:
            return expected == event


def _same_but_for_reason(expected: Outcome, found: Outcome, rules: Rules) -> bool:
    if not isinstance(expected, Succeeded) and not isinstance(found, Succeeded):
        found = replace(found, reason=expected.reason)
    return rules.same_outcome(expected, found)
