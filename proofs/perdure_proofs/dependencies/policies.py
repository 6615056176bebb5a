"""For any number of prerequisites, a policy waits, releases or can never be satisfied: always exactly one of them.

A node with dependencies is judged by a tally of its prerequisites: how many there are that are not terminal, that
succeeded, and so on. Were two of the three answers possible at once, a node could run and be closed; were none, it
could wait for ever. Once every prerequisite is terminal, and none of them can be activated again, nobody waits.

The tally stands for prerequisites without bound: it is any that counts each of them once, which `tallies` shows of how
it is kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, get_args

from perdure.kernel.queues import added
from perdure.kernel.rules import RULES, Closing, Prospects, Rules, closing, is_satisfiable, satisfied
from perdure.kernel.specification import DependencyPolicy
from perdure.kernel.state import NodeState, Queued, Tally
from perdure_proofs.dependencies.tallies import any_tally
from perdure_proofs.runs import MOST
from perdure_proofs.theorems import Any, about_rules, assume

POLICIES: Final[tuple[DependencyPolicy, ...]] = get_args(DependencyPolicy)


def _waits_for_all(policy: DependencyPolicy, prerequisites: int, tally: Tally) -> bool:
    return satisfied(policy, prerequisites, tally) and (policy != "any_succeeded" or tally.unfinished == 0)


def _takes_the_first_that_ends(policy: DependencyPolicy, prerequisites: int, tally: Tally) -> bool:
    if policy == "any_succeeded":
        return tally.unfinished < prerequisites
    return satisfied(policy, prerequisites, tally)


def _never_gives_up(node: NodeState, prospects: Prospects, version: int) -> Closing | None:
    found = closing(node, prospects, version)
    return None if found == "propagated" and not prospects.is_cold else found


def _keeps_what_is_queued(node: NodeState, prospects: Prospects, version: int) -> Closing | None:
    return closing(node, prospects, version) if node.queue is None else None


def _gives_up_what_is_cold(node: NodeState, prospects: Prospects, version: int) -> Closing | None:
    return "propagated" if prospects.is_cold else closing(node, prospects, version)


THEOREM: Final = about_rules(
    "DEP-001",
    "DEP-002",
    "DEP-003",
    "DEP-010",
    mutants={
        "AllButOne": replace(
            RULES, satisfied=lambda _policy, prerequisites, tally: tally.succeeded >= prerequisites - 1
        ),
        "WaitsForAll": replace(RULES, satisfied=_waits_for_all),
        "TakesTheFirstThatEnds": replace(RULES, satisfied=_takes_the_first_that_ends),
        "NeverGivesUp": replace(RULES, closing=_never_gives_up),
        "GivesUpWhatIsCold": replace(RULES, closing=_gives_up_what_is_cold),
        "KeepsWhatIsQueued": replace(RULES, closing=_keeps_what_is_queued),
    },
)


@THEOREM.claim
def exactly_one_of_three(rules: Rules, values: Any) -> bool:
    """A node is released, or impossible, or waits for a prerequisite that may end: exactly one of them."""
    policy = values.among("policy", POLICIES)
    prerequisites = values.whole("prerequisites", 1, MOST)
    tally = any_tally(values, prerequisites)
    is_cold, has_edges = values.among("cold", (False, True)), values.among("edges", (False, True))
    version = values.whole("version", 1, 5)
    may_be = is_satisfiable(policy, prerequisites, tally, rules, is_cold=is_cold)
    found = rules.closing(NodeState(tally=tally), Prospects(is_cold, has_edges, may_be), version)
    is_released = bool(rules.satisfied(policy, prerequisites, tally))
    may_end = bool(tally.unfinished > 0) or (not is_cold and bool(tally.revivable > 0))
    return [is_released, found == "propagated", may_end and not is_released].count(True) == 1


@THEOREM.claim
def the_end_of_all_decides(rules: Rules, values: Any) -> bool:
    """Once all prerequisites are terminal and no edge can activate one again, a node is released or impossible."""
    policy = values.among("policy", POLICIES)
    prerequisites = values.whole("prerequisites", 1, MOST)
    tally = any_tally(values, prerequisites)
    is_cold = values.among("cold", (False, True))
    assume(tally.unfinished == 0)
    assume(is_cold or tally.revivable == 0)
    may_be = is_satisfiable(policy, prerequisites, tally, rules, is_cold=is_cold)
    return rules.closing(NodeState(tally=tally), Prospects(is_cold, False, may_be), 5) == "propagated" or (  # noqa: FBT003
        rules.satisfied(policy, prerequisites, tally)
    )


@THEOREM.claim
def success_is_enough(rules: Rules, values: Any) -> bool:
    """Once all prerequisites have succeeded, every policy is satisfied."""
    policy = values.among("policy", POLICIES)
    prerequisites = values.whole("prerequisites", 1, MOST)
    tally = any_tally(values, prerequisites)
    assume(tally.succeeded == prerequisites)
    return rules.satisfied(policy, prerequisites, tally)


@THEOREM.claim
def one_success_is_enough_for_any(rules: Rules, values: Any) -> bool:
    """Whatever the others are, one success satisfies `any_succeeded`, and all are needed for `all_succeeded`."""
    prerequisites = values.whole("prerequisites", 1, MOST)
    tally = any_tally(values, prerequisites)
    assume(tally.succeeded > 0)
    is_all = rules.satisfied("all_succeeded", prerequisites, tally)
    return rules.satisfied("any_succeeded", prerequisites, tally) and is_all == (tally.succeeded == prerequisites)


@THEOREM.claim
def a_success_is_needed(rules: Rules, values: Any) -> bool:
    """Where nothing succeeded, only `all_completed` is satisfied, and only if all are terminal."""
    policy = values.among("policy", POLICIES)
    prerequisites = values.whole("prerequisites", 1, MOST)
    tally = any_tally(values, prerequisites)
    assume(tally.succeeded == 0)
    return rules.satisfied(policy, prerequisites, tally) == (policy == "all_completed" and tally.unfinished == 0)


@THEOREM.claim
def what_waits_keeps_nothing_open(rules: Rules, values: Any) -> bool:
    """A node whose policy is impossible is closed by propagation, whatever leads to it and whatever is queued."""
    prospects = Prospects(
        is_cold=values.among("cold", (False, True)),
        has_edges=values.among("edges", (False, True)),
        is_satisfiable=values.among("satisfiable", (False, True)),
    )
    is_waiting = values.among("waits", (False, True))
    queue = added(None, Queued(values.whole("waiting", 2, MOST), 0)) if is_waiting else None
    found = rules.closing(NodeState(tally=Tally(unfinished=0), queue=queue), prospects, values.whole("version", 1, 5))
    return found == (None if prospects.is_satisfiable else "propagated")
