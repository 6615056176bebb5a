"""Places: events where the kernel put them, so that a claim can be made of every event there is.

A place is a state, the event that came next, and the state after it. The kernel itself made them, in histories that are
the same each time. There is one, at least, for each type of event of each version, for each row of the node table and
each event that it names, and for all that an event can be owed for: `missing` says what is not there, and a theorem
that speaks of every event begins by asking it.

The numbers of a state can be any (`with_any_usage`); its nodes are those of the place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from msgspec.structs import replace

from perdure.kernel.changes import applied
from perdure.kernel.consequences import _STEPS, _due, owed, settling
from perdure.kernel.events import (
    EVENTS,
    BudgetExhausted,
    EventV5,
    NodeReady,
    NodeTerminated,
    RunCreated,
    SignalRejected,
)
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import DUE_ORDER, NODE_TABLE, RULES
from perdure.kernel.specification import Budgets, RetryPolicy
from perdure.kernel.state import State, Status
from perdure.kernel.upcast import upcast
from perdure_conformance.reducer.generated import generate
from perdure_conformance.reducer.reference import read_entry
from perdure_proofs.runs import MOST
from perdure_proofs.theorems import Any

_SEED: Final = 1
_HISTORIES: Final = 3_000
"""So many are looked through at most. Each second one is damaged, and passed over."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Place:
    """An event, where it came."""

    history: int
    """Which of the generated histories it is in."""
    before: State
    event: EventV5
    version: int
    after: State
    owed_by: str
    """What the batch owed it for, in the words of `consequences`; empty if it began a batch."""

    @property
    def is_owed(self) -> bool:
        """Whether the batch owed it."""
        return bool(self.owed_by)

    @property
    def moves(self) -> tuple[tuple[Status, Status], ...]:
        """Return the changes of status that it made."""
        pairs = ((self.before.nodes[at].status, self.after.nodes[at].status) for at in sorted(self.before.nodes))
        return tuple(pair for pair in pairs if pair[0] != pair[1])

    @property
    def detail(self) -> str:
        """Return what tells the event from others of its type: its cause, its reason, or its budget."""
        match self.event:
            case NodeReady(cause=detail) | NodeTerminated(reason=detail) | SignalRejected(reason=detail):
                return detail
            case BudgetExhausted(budget=budget):
                return budget
            case _:
                return ""

    @property
    def kind(self) -> tuple[object, ...]:
        """Return what it is an example of."""
        return (type(self.event), self.detail, self.moves, self.owed_by, self.version)

    def __repr__(self) -> str:
        """Return where it is, in words."""
        name = type(self.event).__name__ + (f" ({self.detail})" if self.detail else "")
        changes = "".join(f", {before} to {after}" for before, after in self.moves)
        where = f"event {self.after.sequence} of generated history {self.history}, version {self.version}"
        return f"{name}{changes}{f', owed by {self.owed_by}' if self.is_owed else ''}: {where}"


def played(histories: int = _HISTORIES, seed: int = _SEED) -> Iterator[Place]:
    """Yield every place of generated histories, but their creations.

    The state before an event that settles what an older version left is that in which it is owed.
    """
    for generated in generate(histories, seed):
        if generated.damage == "none":
            state: State | None = None
            for entry in generated.history:
                event = read_entry(entry)
                after = reduce(state, event, version=entry.version)
                current = upcast(event)
                if state is not None:
                    before = _before(state, current, after)
                    yield Place(generated.number, before, current, entry.version, after, owed_by(before))
                state = after


def _before(state: State, event: EventV5, after: State) -> State:
    """Return the state that an event was applied to."""
    if applied(state, event, after.version, RULES) == after:
        return state
    settled = settling(state, after.version, RULES)
    assert applied(settled, event, after.version, RULES) == after
    return settled


def owed_by(state: State) -> str:
    """Return what a state owes an event for; empty if it owes none."""
    if owed(state, RULES) is None:
        return ""
    step = next(step for step in _STEPS if step(state, RULES) is not None)
    if step is not _due or state.due is None:
        return step.__name__.strip("_")
    return f"due {RULES.due_order[state.due.first.rank]}"


CAUSES: Final = frozenset(step.__name__.strip("_") for step in _STEPS if step is not _due) | {
    f"due {kind}" for kind in DUE_ORDER
}
"""All that an event can be owed for."""


@lru_cache(maxsize=1)
def places() -> Sequence[Place]:
    """Return one place of each kind, until there is something of everything."""
    found: dict[tuple[object, ...], Place] = {}
    for number, place in enumerate(played()):
        found.setdefault(place.kind, place)
        if number % 100 == 0 and not missing(tuple(found.values())):
            break
    return tuple(found.values())


@lru_cache(maxsize=1)
def beginnings() -> Sequence[tuple[RunCreated, int]]:
    """Return the creations of the generated histories of each version, the first few."""
    first = [found.history[0] for found in islice(generate(_HISTORIES, _SEED), 60) if found.damage == "none"]
    return tuple((event, entry.version) for entry in first if isinstance(event := read_entry(entry), RunCreated))


def of_versions(least: int) -> Sequence[Place]:
    """Return the places whose events are of a version, or of a newer one."""
    return tuple(place for place in places() if place.version >= least)


def missing(found: Sequence[Place]) -> set[tuple[str, ...]]:
    """Return what there is no place for: an event of a version, what one is owed for, a row of the node table by one.

    Creation has no state before it; in version 1 an outcome has other names.
    """
    wanted: set[tuple[str, ...]] = {
        (str(version), upcast_name)
        for version, events in EVENTS.items()
        for event in events
        if event is not RunCreated and not (upcast_name := event.__name__).startswith(("NodeSuc", "NodeFai", "NodeBlo"))
    }
    wanted |= {(cause,) for cause in CAUSES}
    wanted |= {(move.source, move.target, event) for move in NODE_TABLE for event in move.events}
    for place in found:
        name = type(place.event).__name__
        wanted -= {(str(place.version), name), (place.owed_by,)} | {(*move, name) for move in place.moves}
    return wanted


def with_any_usage(values: Any, state: State) -> State:
    """Return the state with any limits, and any usage within them."""
    attempts, transitions = values.whole("max_attempts", 1, MOST), values.whole("max_transitions", 1, MOST)
    specification = state.plan.specification
    budgets: Budgets = replace(specification.budgets, max_attempts=attempts, max_transitions=transitions)
    plan = dataclasses.replace(state.plan, specification=replace(specification, budgets=budgets))
    return replace(
        state,
        plan=plan,
        attempts_used=values.whole("attempts_used", 0, attempts),
        transitions_used=values.whole("transitions_used", 0, transitions),
    )


def with_policy(state: State, position: int, policy: RetryPolicy) -> State:
    """Return the state of a run one of whose nodes has another retry policy."""
    specification = state.plan.specification
    nodes = list(specification.nodes)
    nodes[position] = replace(nodes[position], retry=policy)
    changed = replace(specification, nodes=tuple(nodes))
    return replace(state, plan=dataclasses.replace(state.plan, specification=changed))
