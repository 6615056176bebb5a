"""The search: from state to state, cheapest first, until everything has been seen or a bound is hit.

What a way costs is the number of its commands. Where starts are taken before everything else, many of them lead to
nothing on a way: there, a start costs nothing, and the end of an attempt costs two commands, one being its start. Then
`witnesses` leaves out the starts that lead to nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from perdure.kernel.commands import CreateRun, Rejection
from perdure.kernel.decide import Decision, decided
from perdure.kernel.events import (
    AttemptDeadlineExpired,
    BudgetExhausted,
    ChildStarted,
    EventV5,
    NodeStarted,
    TransitionActivated,
)
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.state import RunStatus, State, Status
from perdure_conformance.exploration.canonical import Budget, Key, Keys, Parts
from perdure_conformance.exploration.independent import Independence
from perdure_conformance.exploration.moves import Move, Moves
from perdure_conformance.interrupts import Interrupted, heeded
from perdure_conformance.simulation.steps import Child as ChildEnds
from perdure_conformance.simulation.steps import Complete, Start, Step

Bound = Literal["states", "time", "memory", "interrupted"]

_BETWEEN_LOOKS: Final = 64
"""How many states are looked at between two looks at the clock, the memory and the terminal."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A run ends by itself."""

    status: RunStatus


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A budget is used up, and the run fails."""

    budget: Budget


@dataclass(frozen=True, slots=True)
class Started:
    """An attempt of a node starts."""

    position: int


@dataclass(frozen=True, slots=True)
class Closed:
    """A node has a status when a run ends by itself."""

    position: int
    status: Status


@dataclass(frozen=True, slots=True)
class Fired:
    """An edge fires."""

    edge: int


@dataclass(frozen=True, slots=True)
class Stuck:
    """A run has not ended, and there is no move."""


Goal = Ended | Exhausted | Started | Closed | Fired | Stuck


class Way(NamedTuple):
    """How something is reached: from the beginning to a state, and by a step from there."""

    cost: int
    number: int
    step: Step | None
    """None if the state is it."""


class Arc(NamedTuple):
    """A move from one state to another, with what it uses up."""

    target: int
    step: Step
    cost: int
    attempts: int
    transitions: int
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a search goes, and what it looks at to know."""

    max_states: int
    time_limit_s: float | None = None
    memory_bytes: int | None = None
    clock: Callable[[], float] = lambda: 0.0
    memory: Callable[[], int] = lambda: 0
    tell: Callable[[int, int], None] = lambda _states, _waiting: None
    """Is told how many states were seen, and how many of them wait to be looked at."""
    watch: Callable[[State], None] = lambda _state: None
    """Is given each state that is new."""


@dataclass(slots=True)
class Found:
    """What a search found."""

    reached: dict[Goal, Way] = field(default_factory=dict)
    """The cheapest way to each thing that was reached."""
    parents: list[tuple[int, Step | None]] = field(default_factory=list)
    """Of each state, the one before it on the cheapest way, and the step."""
    arcs: list[list[Arc]] = field(default_factory=list)
    """The moves from each state; none are kept if all usage is in the keys."""
    ended: int = 0
    commands: int = 0
    stopped_by: Bound | None = None
    refusals: list[str] = field(default_factory=list)
    """Moves that the kernel refused, and never should."""

    @property
    def states(self) -> int:
        """How many states were seen."""
        return len(self.parents)

    def steps(self, way: Way) -> Iterator[Step]:
        """Yield the steps of a way."""
        found = [] if way.step is None else [way.step]
        number = way.number
        while number:
            number, step = self.parents[number]
            assert step is not None
            found.append(step)
        yield from reversed(found)


class Search:
    """A search through the states of runs of one specification."""

    def __init__(
        self,
        creation: CreateRun,
        bounds: Bounds,
        *,
        counted: AbstractSet[Budget],
        is_reduced: bool,
        takes_endings_first: bool = True,
        rules: Rules = RULES,
    ) -> None:
        first = decided(None, creation, rules)
        assert not isinstance(first, Rejection), first
        plan = first.state.plan
        self.plan = plan
        self.moves = Moves(plan, is_reduced=is_reduced)
        self.counted = counted
        self.found = Found()
        self._bounds = bounds
        self._rules = rules
        self._keys = Keys(plan, counted)
        self._is_reduced = is_reduced
        self._independence = Independence(plan) if is_reduced else None
        self._takes_endings_first = takes_endings_first and not counted
        self.has_taken_endings_first = False
        """Whether attempts ended on ways to which they may mean nothing: such a way may be longer than it has to be."""
        self._starts_are_free = is_reduced and "attempts" not in counted
        self._keeps_arcs = not {"attempts", "transitions"} <= counted
        self._seen: dict[Key, int] = {}
        self._costs: list[int] = []
        self._waiting: list[tuple[int, int]] = []
        self._states: dict[int, Parts] = {}
        self._looked_at = 0
        self.trips: set[Budget] = set()
        """Budgets that were used up although their usage is not in the keys: then it should be."""
        self.begun = first.state if first.state.status == "running" else None
        """The first state, if creation alone did not end the run."""
        self._enter(first, None, -1, None, 0)
        for event in first.events:
            if isinstance(event, BudgetExhausted):
                self._reach(Exhausted(event.budget), Way(0, 0, None))

    def run(self) -> Found:
        """Search until everything has been seen, a bound is hit, or usage turns out to matter."""
        try:
            while self._waiting and not self.trips and self.found.stopped_by is None:
                self._next()
        except Interrupted:
            heeded()
            self.found.stopped_by = "interrupted"
        return self.found

    @property
    def frontier(self) -> int | None:
        """What the cheapest state costs that is still to be looked at; None if there is none."""
        return self._waiting[0][0] if self._waiting else None

    def _next(self) -> None:
        cost, number = heapq.heappop(self._waiting)
        parts = self._states.get(number)
        if parts is None or cost > self._costs[number]:
            return
        self._look_around()
        if self.found.stopped_by is not None:
            return
        is_stuck = True
        for move, decision in self._moves(parts.state):
            self.found.commands += 1
            if isinstance(decision, Rejection):
                self.found.refusals.append(f"{type(move.command).__name__} is refused: {decision.sentence}")
                continue
            is_stuck = False
            self._follow(number, parts, move.step, decision, cost)
        if is_stuck:
            self._reach(Stuck(), Way(cost, number, None))
        del self._states[number]

    def _moves(self, state: State) -> Iterator[tuple[Move, Decision | Rejection]]:
        """Yield the moves from a state and what they give: all, or some that may be taken before all others."""
        independence = self._independence
        moves: Iterator[Move] | None = None
        if independence is not None and "attempts" not in self.counted:
            position = independence.start(state)
            if position is not None:
                move = self.moves.start(state, position)
                decision = decided(state, move.command, self._rules)
                if not isinstance(decision, Rejection) and decision.state.nodes[position].status == "running":
                    yield move, decision
                    return
            elif self._takes_endings_first and (position := self.ending(state)) is not None:
                moves = self.moves.at(state, position)
                self.has_taken_endings_first = True
        for move in moves or self.moves.of(state):
            yield move, decided(state, move.command, self._rules)

    def ending(self, state: State) -> int | None:
        """Return a running node whose endings may be taken before everything else."""
        return None if self._independence is None else self._independence.ending(state)

    def _look_around(self) -> None:
        bounds, found = self._bounds, self.found
        if found.states >= bounds.max_states:
            found.stopped_by = "states"
        self._looked_at += 1
        if self._looked_at % _BETWEEN_LOOKS != 1:
            return
        bounds.tell(found.states, len(self._states))
        if bounds.time_limit_s is not None and bounds.clock() >= bounds.time_limit_s:
            found.stopped_by = "time"
        elif bounds.memory_bytes is not None and bounds.memory() >= bounds.memory_bytes:
            found.stopped_by = "memory"

    def _follow(self, number: int, parts: Parts, step: Step, decision: Decision, cost: int) -> None:
        """Note where a step leads, and what happens on the way."""
        events, state = decision
        price = self._price(step, decision)
        exhausted = next((event for event in events if isinstance(event, BudgetExhausted)), None)
        if exhausted is not None and exhausted.budget not in self.counted:
            self.trips.add(exhausted.budget)
            return
        self._note(number, step, events, cost, price)
        target = self._enter(decision, parts, number, step, cost + price)
        if exhausted is not None:
            self._reach(Exhausted(exhausted.budget), Way(cost + price, target, None))
        elif state.status != "running":
            self._note_end(state, Way(cost + price, target, None))
        if self._keeps_arcs:
            before = parts.state
            arc = Arc(
                target,
                step,
                price,
                state.attempts_used - before.attempts_used,
                state.transitions_used - before.transitions_used,
                state.now_ms - before.now_ms,
            )
            self.found.arcs[number].append(arc)

    def _price(self, step: Step, decision: Decision) -> int:
        if not self._starts_are_free:
            return 1
        if isinstance(step, Complete | ChildEnds):
            return 2
        if isinstance(step, Start):
            position = self.plan.positions[step.start]
            return 0 if decision.state.nodes[position].status == "running" else 1
        return 1 + sum(isinstance(event, AttemptDeadlineExpired) for event in decision.events)

    def _enter(self, decision: Decision, before: Parts | None, parent: int, step: Step | None, cost: int) -> int:
        """Return the number of a state; a new one, or one that was reached at less cost, is still to be looked at."""
        parts = self._keys.parts(decision.state, before)
        key = self._keys.key(parts)
        number = self._seen.get(key)
        if number is not None and self._costs[number] <= cost:
            return number
        if number is None:
            number = len(self._costs)
            self._costs.append(cost)
            self.found.parents.append((parent, step))
            if self._keeps_arcs:
                self.found.arcs.append([])
            self._seen[key] = number
            self._bounds.watch(decision.state)
            if decision.state.status != "running":
                self.found.ended += 1
                return number
        else:
            self._costs[number] = cost
            self.found.parents[number] = (parent, step)
            if decision.state.status != "running":
                return number
        self._states[number] = parts
        heapq.heappush(self._waiting, (cost, number))
        return number

    def _reach(self, goal: Goal, way: Way) -> None:
        known = self.found.reached.get(goal)
        if known is None or way.cost < known.cost:
            self.found.reached[goal] = way

    def _note(self, number: int, step: Step, events: tuple[EventV5, ...], cost: int, price: int) -> None:
        """Note what happens on a move."""
        if isinstance(step, Start) and isinstance(events[0], NodeStarted | ChildStarted):
            self._reach(Started(self.plan.positions[step.start]), Way(cost + 1, number, step))
        for event in events:
            if isinstance(event, TransitionActivated):
                self._reach(Fired(event.edge), Way(cost + price, number, step))

    def _note_end(self, state: State, way: Way) -> None:
        self._reach(Ended(state.status), way)
        for position in range(len(self.plan.nodes)):
            self._reach(Closed(position, state.nodes[position].status), way)
