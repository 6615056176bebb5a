"""Usage is a fold: each start consumes an attempt, each activation and each step of a retry a transition, no more.

What a run has used is not kept beside its history, it is counted from it: every event adds what it consumes and nothing
else changes the count. So a replay consumes nothing, and no outcome, loop, retry or resume gives anything back. The
induction is on the events: at the beginning nothing is used, and each event adds to the usage as many attempts as the
state knows more, and as many transitions as there are more activations, retries that were scheduled, and retries that
were released.

Any usage may have been before, and every type of event comes in its places. Only `applied` writes the two counts, so
nothing about the nodes of a run matters to them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import msgspec

from perdure.kernel.changes import applied
from perdure.kernel.creation import created
from perdure.kernel.events import (
    ChildStarted,
    Event,
    EventV5,
    NodeOutcomeCommitted,
    NodeReady,
    NodeStarted,
    NodeTerminated,
    RecoveryAcquired,
    RetryReleased,
    TransitionActivated,
)
from perdure.kernel.rules import RULES, Charged, Rules, charge
from perdure.kernel.state import NodeState, State
from perdure_proofs.places import beginnings, missing, places
from perdure_proofs.runs import MOST
from perdure_proofs.steps import Step, text_of, written_by
from perdure_proofs.theorems import Any, Theorem


def _at_the_end(event: Event) -> Charged | None:
    if isinstance(event, NodeStarted | ChildStarted):
        return None
    return "attempts" if isinstance(event, NodeOutcomeCommitted) and event.attempt_id is not None else charge(event)


def _charging(budget: Charged | None, kind: type[Event], cause: str = "") -> Step:
    """Return the step by which events of a kind consume another budget, or none."""
    return Step(
        rules=replace(
            RULES,
            charge=lambda event: (
                budget if isinstance(event, kind) and getattr(event, "cause", "") == cause else charge(event)
            ),
        )
    )


def _refilled(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    return msgspec.structs.replace(after, attempts_used=0) if isinstance(event, RecoveryAcquired) else after


def _given_back(state: State, event: EventV5, version: int, rules: Rules) -> State:
    after = applied(state, event, version, rules)
    if not isinstance(event, TransitionActivated):
        return after
    attempts = state.nodes[state.plan.targets[event.edge]].attempts
    return msgspec.structs.replace(after, attempts_used=after.attempts_used - attempts)


THEOREM: Final = Theorem(
    ("BUD-001", "BUD-002", "BUD-007"),
    Step(),
    {
        "ChildRunsAreFree": _charging(None, ChildStarted),
        "ChargesAtTheEnd": Step(rules=replace(RULES, charge=_at_the_end)),
        "ChargesTheQueueTwice": _charging("transitions", NodeReady, "queued"),
        "ChargesRetriesOnce": _charging(None, RetryReleased),
        "TheBeginningIsFree": _charging(None, NodeReady, "initial"),
        "ReleasesAreFree": _charging(None, NodeReady, "dependencies"),
        "ChargesTerminations": _charging("transitions", NodeTerminated),
        "RefillsAtRecovery": Step(applied=_refilled),
        "RefillsInEachRound": Step(applied=_given_back),
        "CountsWhenItCancels": Step(
            source=lambda module: text_of(module).replace(
                "agenda=Agenda(cancelling=position + 1)", "agenda=Agenda(cancelling=position + 1), attempts_used=0"
            )
        ),
    },
)


@THEOREM.claim
def there_is_a_place_for_every_event(step: Step, values: Any) -> bool:
    """Every event of every version, and every row of the node table, is among the places that are spoken of."""
    del step, values
    return not missing(places())


@THEOREM.claim
def nothing_is_used_at_the_beginning(step: Step, values: Any) -> bool:
    """A run that was just created has used nothing."""
    event, version = values.among("creation", beginnings())
    state = created(event, version, step.rules)
    return isinstance(state, State) and (state.attempts_used, state.transitions_used) == (0, 0)


@THEOREM.claim
def nothing_else_counts(step: Step, values: Any) -> bool:
    """The kernel writes the two counts where an event is charged, and nowhere else."""
    budget = values.among("budget", ("attempts", "transitions"))
    return written_by(f"{budget}_used", step.source) == {"changes.applied"}


@THEOREM.claim
def each_start_consumes_an_attempt(step: Step, values: Any) -> bool:
    """Every event consumes as many attempts as the run knows more after it than before."""
    place = values.among("place", places())
    before = msgspec.structs.replace(place.before, attempts_used=values.whole("attempts_used", 0, MOST))
    after = step.applied(before, place.event, place.version, step.rules)
    return after.attempts_used == before.attempts_used + len(after.attempts) - len(before.attempts)


@THEOREM.claim
def each_activation_and_retry_consumes_transitions(step: Step, values: Any) -> bool:
    """Every event consumes a transition for each activation, each retry scheduled and each released; no other does."""
    place = values.among("place", places())
    before = msgspec.structs.replace(place.before, transitions_used=values.whole("transitions_used", 0, MOST))
    after = step.applied(before, place.event, place.version, step.rules)
    moved = sum(_moves_on(before.nodes[position], after.nodes[position]) for position in before.nodes)
    return after.transitions_used == before.transitions_used + moved


def _moves_on(before: NodeState, after: NodeState) -> int:
    """Return how many activations a node has more; and one for a retry that was scheduled, and for one released."""
    is_scheduled = before.retry_ms is None and after.retry_ms is not None
    is_released = before.status == "retry_pending" and after.status == "ready"
    return after.activations - before.activations + is_scheduled + is_released
