"""Witnesses: the way to something, as a script that `perdure simulate SPEC --script FILE --stop` plays.

Each is played again, by that very player: nothing is told to be reached that the kernel does not do. Only where that
would take too long, a way is told as the search went it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import UNSET

from perdure.kernel.events import BudgetExhausted, ChildStarted, NodeStarted, TransitionActivated
from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.exploration.exploring import Exploration
from perdure_conformance.exploration.search import Closed, Ended, Exhausted, Fired, Goal, Started, Stuck
from perdure_conformance.exploration.usage import Trip
from perdure_conformance.simulation.outcomes import Answers
from perdure_conformance.simulation.player import Bounds, Player
from perdure_conformance.simulation.scripts import Script
from perdure_conformance.simulation.steps import Child, Complete, Deliver, Start, Step, Wait

MAX_PLAYED: Final = 50_000
"""When so many events were played again, other ways are told as the search went them, with starts that mean nothing."""
_NO_LIMIT: Final = 2**53


@dataclass(frozen=True, slots=True)
class Witness:
    """A way to something: steps, in their order."""

    steps: tuple[Step, ...]
    is_shortest: bool
    """Whether it is known that there is none with fewer."""

    @property
    def document(self) -> list[JsonValue]:
        """The script, as JSON."""
        return [step_document(step) for step in self.steps]


def witness(exploration: Exploration, goal: Goal) -> Witness | None:
    """Return the shortest way to something that was reached, as far as known; None if it is too long to look for."""
    found = _trip(exploration, goal) if exploration.outlook(goal) is not None else None
    found = found or _way(exploration, goal)
    if found is None:
        return None
    steps, cost, is_shortest = found
    if exploration.played >= MAX_PLAYED and not isinstance(exploration.outlook(goal), Trip):
        return Witness(steps, is_shortest=False)
    is_counted = isinstance(goal, Exhausted) and goal.budget == "attempts"
    needed = steps if is_counted else _needed(steps)
    if not is_counted and len(needed) != cost:
        needed = _needed(steps, _ended_at_once(exploration, steps))
    assert leads_to(exploration, needed, goal), f"the way to {goal} leads elsewhere"
    return Witness(needed, is_shortest and len(needed) == cost)


Told = tuple[tuple[Step, ...], int, bool]
"""Steps, what they should cost without those that mean nothing, and whether there is no shorter way."""


def _trip(exploration: Exploration, goal: Goal) -> Told | None:
    """Return the steps to the end of a budget, where that was found without a look at all usages."""
    shorter = exploration.shorter
    trip = exploration.outlook(goal)
    if shorter is not None and isinstance(goal, Exhausted) and goal.budget != "elapsed":
        other = shorter.usage.get(goal.budget)
        if isinstance(other, Trip):
            return other.steps, other.cost, True
    return (trip.steps, trip.cost, shorter is None) if isinstance(trip, Trip) else None


def _way(exploration: Exploration, goal: Goal) -> Told | None:
    found, shorter = exploration.found, exploration.shorter
    way = found.reached.get(goal)
    if way is None:
        return None
    other = None if shorter is None else shorter.found.reached.get(goal)
    if shorter is not None and isinstance(goal, Started | Fired):
        if other is not None and other.cost <= way.cost:
            return tuple(shorter.found.steps(other)), other.cost, shorter.has(other)
        return tuple(found.steps(way)), way.cost, False
    return tuple(found.steps(way)), way.cost, exploration.stopped_by is None


def _needed(steps: Sequence[Step], ended_at_once: AbstractSet[int] = frozenset()) -> tuple[Step, ...]:
    """Return the steps without the starts of attempts of which nothing comes; the last step is what matters."""
    found: list[Step] = []
    goes_on: set[str] = set()
    for number in reversed(range(len(steps))):
        match steps[number]:
            case Start(start=name):
                if name not in goes_on and number not in ended_at_once and number + 1 < len(steps):
                    continue
                goes_on.discard(name)
            case Complete(complete=name) | Child(child=name) | Wait(wait=name) | Deliver(to=name):
                goes_on.add(name)
            case _:
                pass
        found.append(steps[number])
    return tuple(reversed(found))


def _ended_at_once(exploration: Exploration, steps: Sequence[Step]) -> frozenset[int]:
    """Return which steps start an attempt that ends with its start, since an input is missing."""
    player = _replayed(exploration, steps)
    assert player is not None, "a way is refused"
    return frozenset(number for number, batch in enumerate(player.batches[1:]) if len(batch.events) > 1)


def leads_to(exploration: Exploration, steps: Sequence[Step], goal: Goal) -> bool:
    """Tell whether a script leads to something: it is played as `perdure simulate` plays it."""
    player = _replayed(exploration, steps)
    if player is None:
        return False
    state, plan = player.state, exploration.plan
    last = player.batches[-1].events
    match goal:
        case Ended(status=status):
            return state.status == status
        case Exhausted(budget=budget):
            return any(isinstance(event, BudgetExhausted) and event.budget == budget for event in last)
        case Started(position=position):
            name = plan.nodes[position].id
            return any(isinstance(event, NodeStarted | ChildStarted) and event.node == name for event in last)
        case Closed(position=position, status=status):
            return state.status != "running" and state.nodes[position].status == status
        case Fired(edge=edge):
            return any(isinstance(event, TransitionActivated) and event.edge == edge for event in last)
        case Stuck():
            return state.status == "running"


def played(document: JsonObject, steps: Sequence[Step]) -> Player | None:
    """Play a script, and nothing more; None if the kernel refuses a step."""
    return _followed(begun(document), steps)


def _replayed(exploration: Exploration, steps: Sequence[Step]) -> Player | None:
    """Play a script after a creation that is done once for all scripts."""
    if exploration.player is None:
        exploration.player = begun(exploration.document)
    player = exploration.player
    kept: tuple[object, ...] = (player.state, *player.batches, *player.rows)
    found = _followed(copy.deepcopy(player, {id(each): each for each in kept}), steps)
    exploration.played += len(steps) if found is None else found.state.sequence
    return found


def begun(document: JsonObject) -> Player:
    """Return a run that was just created, as `perdure simulate` creates it."""
    inputs = document.get("inputs", ())
    assert isinstance(inputs, list | tuple)
    return Player(document, {str(name): str(name) for name in inputs}, Answers({}), Bounds(_NO_LIMIT), 0)


def _followed(player: Player, steps: Sequence[Step]) -> Player | None:
    script = Script(player, steps)
    script.play()
    return None if script.fault else player


def step_document(step: Step) -> JsonObject:
    """Return a step as JSON, without the members that say what is so anyway."""
    whole: dict[str, JsonValue] = msgspec.to_builtins(step)
    defaults = {field.name: field.default for field in msgspec.structs.fields(step)}
    kept = {name: value for name, value in whole.items() if name not in defaults or value != defaults[name]}
    if isinstance(step, Complete | Child) and step.output is UNSET:
        kept.pop("output", None)
    return kept
