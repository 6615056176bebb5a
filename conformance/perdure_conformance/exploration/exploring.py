"""Exploring: searches put together, and what follows from them.

States that differ only in usage are one, as long as no budget is used up on the way; where one is, the search begins
anew with its usage in the keys.

How long things take decides which orders are possible, and a search lets time go on only to what is due. So where
attempts have deadlines while others wait to be tried again, what was not reached may be possible all the same. A second
search, in which nothing takes time, reaches at least all that is possible: what it does not reach either is excluded.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final, Literal

from perdure.kernel.commands import CreateRun
from perdure.kernel.identity import NodeId, RunId
from perdure.kernel.plan import Plan
from perdure.kernel.rules import RULES, Rules, policy_of
from perdure.kernel.specification import Specification
from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.exploration.canonical import Budget
from perdure_conformance.exploration.independent import Independence
from perdure_conformance.exploration.search import Bound, Bounds, Exhausted, Found, Goal, Search, Way
from perdure_conformance.exploration.usage import Allowance, Counted, Outlook, Trip, outlooks
from perdure_conformance.simulation.identities import SeededIds
from perdure_conformance.simulation.player import Player
from perdure_conformance.simulation.steps import Advance

Verdict = Literal["reached", "unreachable", "not_found"]
"""Reached, with a way that leads there; excluded; or not found so far, which excludes nothing."""


@dataclass(frozen=True, slots=True)
class Shorter:
    """A second search, in which less is taken first, so that its ways are the shortest ones."""

    found: Found
    usage: Mapping[Counted, Trip | Outlook]
    frontier: int | None
    """What costs no more was seen whole; None if everything was."""

    def has(self, way: Way) -> bool:
        """Tell whether a way is a shortest one."""
        return self.frontier is None or way.cost <= self.frontier


@dataclass(slots=True)
class Exploration:
    """What is known of the runs of a specification."""

    plan: Plan
    document: JsonObject
    found: Found
    is_reduced: bool
    bounds: Bounds
    stopped_by: Bound | None
    left_out: tuple[NodeId, ...]
    """Nodes with more outputs than are told apart."""
    usage: Mapping[Counted, Trip | Outlook]
    """What is known of budgets without a look at all usages."""
    possible: AbstractSet[Goal] | None
    """What is reached if nothing takes time, where that matters; None if that may not be all that is possible."""
    is_exact: bool
    """Whether what was not reached is excluded by the search alone."""
    shorter: Shorter | None
    """What is known of ways on which no attempt ends to which they may mean nothing."""
    player: Player | None = None
    """A run that was just created, for whoever plays scripts."""
    played: int = 0
    """How many events of scripts were played."""

    @property
    def is_complete(self) -> bool:
        """Tell whether everything was explored."""
        return self.stopped_by is None and not self.left_out

    def verdict(self, goal: Goal) -> Verdict:
        """Return what is known of something."""
        outlook = self.outlook(goal)
        if goal in self.found.reached or isinstance(outlook, Trip) or outlook == "far":
            return "reached"
        if not self.is_complete or outlook == "unknown":
            return "not_found"
        if self.is_exact:
            return "unreachable"
        return "not_found" if self.possible is None or goal in self.possible else "unreachable"

    def outlook(self, goal: Goal) -> Trip | Outlook | None:
        """Return what is known of a budget without a look at all usages; None if it is none, or all were looked at."""
        if not isinstance(goal, Exhausted) or goal.budget == "elapsed":
            return None
        return self.usage.get(goal.budget)


_STATES_FOR_SHORTER_WAYS: Final = 2_000


def creation_of(document: JsonObject, specification: Specification) -> CreateRun:
    """Return the creation of the run that `perdure simulate` plays, if nothing is said."""
    given: dict[str, JsonValue] = {name: name for name in specification.inputs}
    return CreateRun(run_id=RunId(SeededIds(0).next_text()), specification=document, input=given)


def explored(
    document: JsonObject,
    specification: Specification,
    bounds: Bounds,
    *,
    is_reduced: bool = True,
    rules: Rules = RULES,
    kind: type[Search] = Search,
) -> Exploration:
    """Explore the runs of a valid specification."""
    creation = creation_of(document, specification)
    search = searched(creation, bounds, is_reduced=is_reduced, rules=rules, kind=kind)
    plan, found = search.plan, search.found
    usage = _usage(search)
    elapsed_ms = specification.budgets.max_elapsed_ms
    if elapsed_ms is not None and Exhausted("elapsed") not in found.reached and search.begun is not None:
        found.reached[Exhausted("elapsed")] = Way(1, 0, Advance(advance_to_ms=elapsed_ms))
    stopped_by, is_exact = found.stopped_by, True
    possible: set[Goal] | None = None
    if stopped_by is None and _is_sensitive(search):
        is_exact = False
        timeless = creation_of(untimed(document), specification)
        again = searched(timeless, bounds, is_reduced=True, rules=rules, kind=kind)
        stopped_by = again.found.stopped_by
        possible = {
            *again.found.reached,
            *(Exhausted(budget) for budget, each in _usage(again).items() if each != "never"),
        }
    shorter = None
    if stopped_by is None and search.has_taken_endings_first:
        shorter = _shorter(creation, bounds, search, rules)
        stopped_by = "interrupted" if shorter.found.stopped_by == "interrupted" else None
    return Exploration(
        plan, document, found, is_reduced, bounds, stopped_by, search.moves.left_out, usage, possible, is_exact, shorter
    )


def _shorter(creation: CreateRun, bounds: Bounds, search: Search, rules: Rules) -> Shorter:
    """Search once more, not much further than it went before, for ways that are not longer than they have to be."""
    limits = replace(bounds, max_states=min(bounds.max_states, max(_STATES_FOR_SHORTER_WAYS, search.found.states)))
    again = Search(creation, limits, counted=search.counted, is_reduced=True, takes_endings_first=False, rules=rules)
    again.run()
    return Shorter(again.found, _usage(again), again.frontier)


def searched(creation: CreateRun, bounds: Bounds, *, is_reduced: bool, rules: Rules, kind: type[Search]) -> Search:
    """Search, with as little usage in the keys as it takes."""
    budgets = creation.specification.get("budgets", {})
    has_elapsed = isinstance(budgets, Mapping) and "max_elapsed_ms" in budgets
    counted: set[Budget] = set()
    if not is_reduced:
        counted = {"attempts", "transitions", "elapsed"} if has_elapsed else {"attempts", "transitions"}
    while True:
        search = kind(creation, bounds, counted=frozenset(counted), is_reduced=is_reduced, rules=rules)
        search.run()
        if not search.trips:
            return search
        counted |= search.trips


def _usage(search: Search) -> Mapping[Counted, Trip | Outlook]:
    """Return what is known of each budget that is in no key."""
    budgets, begun = search.plan.specification.budgets, search.begun
    if begun is None or search.found.stopped_by is not None:
        return {}
    allowances = {
        "attempts": Allowance("attempts", begun.attempts_used, budgets.max_attempts),
        "transitions": Allowance("transitions", begun.transitions_used, budgets.max_transitions),
    }
    uncounted = [each for name, each in allowances.items() if name not in search.counted]
    return outlooks(search.found.arcs, uncounted, budgets.max_elapsed_ms)


def _is_sensitive(search: Search) -> bool:
    """Tell whether it decides what is possible how long things take."""
    is_timed = Independence(search.plan).is_timed
    has_deadlines = any(policy_of(node).attempt_deadline_ms is not None for node in search.plan.nodes)
    return is_timed and (has_deadlines or "elapsed" in search.counted)


def untimed(document: JsonObject) -> JsonObject:
    """Return a document in which nothing takes time: what is tried again is so at once, and nothing expires."""
    nodes = document["nodes"]
    assert isinstance(nodes, list | tuple)
    changed: dict[str, JsonValue] = {key: value for key, value in document.items() if key != "content_hash"}
    changed["nodes"] = [_untimed_node(node) for node in nodes]
    budgets = document.get("budgets")
    if isinstance(budgets, Mapping):
        changed["budgets"] = {key: value for key, value in budgets.items() if key != "max_elapsed_ms"}
    return changed


def _untimed_node(node: JsonValue) -> JsonValue:
    assert isinstance(node, Mapping)
    retry = node.get("retry")
    if not isinstance(retry, Mapping):
        return node
    kept = {key: value for key, value in retry.items() if key not in {"backoff", "jitter", "attempt_deadline_ms"}}
    return {**node, "retry": kept}
