"""Nodes: what releases one, what becomes of one, what it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, get_args

from perdure.kernel.events import ChildResult
from perdure.kernel.outcomes import OutcomeKind
from perdure.kernel.rules import (
    Closing,
    Prospects,
    child_outcome,
    closing,
    fires,
    outcome_seen,
    propagated,
    satisfied,
    share,
)
from perdure.kernel.specification import ChildPolicy, DependencyPolicy
from perdure.kernel.state import TERMINAL, NodeState, Status, Tally
from perdure_proofs.contracts import contract, one_of
from perdure_proofs.theorems import assume

POLICIES: Final[tuple[DependencyPolicy, ...]] = get_args(DependencyPolicy)
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
CHILD_POLICIES: Final[tuple[ChildPolicy, ...]] = get_args(ChildPolicy)
CHILD_RESULTS: Final[tuple[ChildResult, ...]] = get_args(ChildResult)


@contract(
    "RUN-017",
    leaf=outcome_seen,
    mutants={
        "LooksAtTheLatest": lambda brought, _pinned, last: last if brought is None else brought,
        "TakesNoneForTheLatest": lambda brought, pinned, last: outcome_seen(brought, pinned or None, last),
    },
)
def what_is_seen_was_there_at_the_release(
    seen: Callable[[int | None, int | None, int | None], int | None],
    brought: int | None,
    pinned: int | None,
    last: int | None,
) -> bool:
    """What an edge brought is seen, else what was pinned, of which 0 is nothing, else what came last."""
    found = seen(brought, pinned, last)
    if brought is not None:
        return found == brought
    if pinned is not None:
        return found is None if pinned == 0 else found == pinned
    return found == last


@contract(
    "DEP-011",
    leaf=propagated,
    mutants={"PutsBlockedFirst": lambda tally: "blocked" if tally.blocked else propagated(tally)},
)
def the_worst_is_propagated(
    propagated: Callable[[Tally], OutcomeKind], unfinished: int, cancelled: int, blocked: int
) -> bool:
    """A node that can never run is cancelled if a prerequisite was, else blocked if one was, else skipped."""
    assume(unfinished >= 0 and cancelled >= 0 and blocked >= 0)
    kind = propagated(Tally(unfinished=unfinished, cancelled=cancelled, blocked=blocked))
    return kind == ("cancelled" if cancelled > 0 else "blocked" if blocked > 0 else "skipped")


@contract(
    "DEP-001",
    "DEP-002",
    "DEP-003",
    leaf=satisfied,
    mutants={"AllButOne": lambda policy, prerequisites, tally: satisfied(policy, max(prerequisites - 1, 1), tally)},
)
def all_that_ended_well_satisfy_any_policy(
    satisfied: Callable[[DependencyPolicy, int, Tally], bool], policy: int, prerequisites: int
) -> bool:
    """Once all prerequisites have succeeded, each policy is satisfied."""
    assume(prerequisites > 0)
    return satisfied(one_of(POLICIES, policy), prerequisites, Tally(unfinished=0, succeeded=prerequisites))


@contract(
    "DEP-001",
    leaf=share,
    mutants={
        "ForgetsSkipped": lambda status, *, is_revivable: share(
            "pending" if status == "skipped" else status, is_revivable=is_revivable
        )
    },
)
def a_prerequisite_counts_once(share: Callable[..., Tally], status: int, revivable: int) -> bool:
    """A prerequisite counts as unfinished, as one of three ends, or, if it failed or was skipped, as none of them."""
    of_status = one_of(STATUSES, status)
    tally = share(of_status, is_revivable=one_of((False, True), revivable))
    counted = tally.unfinished + tally.succeeded + tally.cancelled + tally.blocked
    is_none = of_status in TERMINAL and of_status not in {"succeeded", "blocked", "cancelled"}
    return counted == int(not is_none) and tally.revivable <= 1 - tally.unfinished - tally.succeeded


@contract(
    "DEP-010",
    "EDG-016",
    "EDG-017",
    "RUN-022",
    leaf=closing,
    mutants={
        "ClosesWhatMayBeReached": lambda node, prospects, version: closing(
            node, replace(prospects, is_cold=True), version
        ),
        "ClosesWhatIsSatisfiable": lambda node, prospects, version: closing(
            node, replace(prospects, is_satisfiable=False), version
        ),
    },
)
def what_may_yet_run_is_not_closed(
    closing: Callable[[NodeState, Prospects, int], Closing | None],
    status: int,
    prospects: Prospects,
    tally: int,
    version: int,
) -> bool:
    """A node to which something may yet come is not closed: it can be reached, or its policy may be satisfied."""
    node = NodeState(status=one_of(STATUSES, status), tally=one_of((None, Tally(unfinished=1)), tally))
    waits = prospects.is_satisfiable if node.tally is not None and node.status == "pending" else not prospects.is_cold
    return not waits or closing(node, prospects, version) is None


@contract(
    "EDG-014",
    "EDG-015",
    leaf=fires,
    mutants={
        "ActivatesTheClosed": lambda target, limit: fires(NodeState(activations=target.activations), limit),
        "OneTooMany": lambda target, limit: fires(target, None if limit is None else limit + 1),
    },
)
def activations_stay_within_their_limit(
    fires: Callable[[NodeState, int | None], bool], activations: int, closed: int, limit: int | None
) -> bool:
    """An edge fires if it leads to a node that is not closed, and whose activations then stay within their limit."""
    is_within, is_closed = limit is None or activations + 1 <= limit, one_of((False, True), closed)
    return fires(NodeState(activations=activations, closed=is_closed), limit) == (is_within and not is_closed)


@contract(
    "CHD-012",
    leaf=child_outcome,
    mutants={
        "PropagatesAFailure": lambda policy, result: (
            "permanent_failure" if result != "completed" else child_outcome(policy, result)
        )
    },
)
def a_child_succeeds_as_one_that_completed(
    child_outcome: Callable[[ChildPolicy, ChildResult], OutcomeKind], policy: int, result: int
) -> bool:
    """A node whose child completed succeeds; else it fails, or ends as the child did if its policy says so."""
    of_policy, of_result = one_of(CHILD_POLICIES, policy), one_of(CHILD_RESULTS, result)
    kind = child_outcome(of_policy, of_result)
    if of_result == "completed":
        return kind == "succeeded"
    return kind == ("permanent_failure" if of_result == "failed" or of_policy == "require_success" else of_result)
