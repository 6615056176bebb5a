"""Every specification of up to three nodes over a small alphabet, and every state that its runs can reach.

    python -m tests.model.exploration [--subset | --smallest]

prints the alphabet, what was counted, and each change of a node's status that occurred, with an example. The kernel's
own check of such changes is off: what occurs is seen by comparing nodes before and after each event. It must be the
node table: each row of it, by each of the events that the row names, and nothing else.

By these nothing is lost:

- Of specifications that differ in the names and the order of nodes, one is taken; of edges that differ in their order,
  one order. The order of events in a batch depends on them, the state after it does not (`test_exploration` looks).
- With a single prerequisite, `any_succeeded` says the same as `all_succeeded`, and is left out.
- Two states are one if they differ only in identities, sequences, the time since the epoch, and what ended attempts
  left behind: none of that decides what happens next.
- In larger shapes, an outcome is left out at a node where nothing tells it from another that is taken.

And these are bounds:

- A loop would go round for ever: each node that an edge leads to, in a loop or behind one, has `max_activations`.
- The larger a shape, the less else is combined with it: see `Bounds`. Parts of a specification between which there is
  no arrow have nothing to do with each other.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, combinations_with_replacement, permutations, product
from typing import Any, Final, TextIO

from tests.model.playing import RUN, document, edge, node, outcome, uuid

from perdure.kernel.commands import (
    AdvanceTime,
    AnyCommand,
    CompleteAttempt,
    CompleteChild,
    CreateRun,
    DeliverSignal,
    OpenSignalWait,
    OpenTimerWait,
    Rejection,
    RequestCancellation,
    StartNode,
    token_digest,
)
from perdure.kernel.consequences import owed
from perdure.kernel.decide import Events, decide
from perdure.kernel.events import ChildResult
from perdure.kernel.identity import AttemptId, Name, RunId, SignalId
from perdure.kernel.invariants import violations
from perdure.kernel.outcomes import OutcomeKind
from perdure.kernel.queues import in_order
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import NODE_TABLE, Move, Rules
from perdure.kernel.state import LIVE, STATUSES, NodeState, SignalWait, State, Status

PREDICATES: Final = ("any", "succeeded", "changes_requested", "permanent_failure")
MOST_EDGES: Final = 2
KINDS: Final[tuple[OutcomeKind, ...]] = (
    "succeeded",
    "changes_requested",
    "retryable_failure",
    "permanent_failure",
    "blocked",
    "cancelled",
)
CHILD_RESULTS: Final[tuple[ChildResult, ...]] = ("completed", "failed", "blocked", "cancelled")
NAMES: Final = "ABCD"

_LATER: Final = {"max_attempts": 2, "backoff": {"kind": "fixed", "delay_ms": 1}, "attempt_deadline_ms": 2}
WORKS: Final[dict[str, dict[str, Any]]] = {
    "once": {"retry": {"max_attempts": 1}},
    "retried at once": {"retry": {"max_attempts": 2, "classes": ["retryable_failure", "permanent_failure"]}},
    "retried later": {"retry": _LATER},
    "waits": {"retry": _LATER, "signals": ["go"]},
    "propagates": {"child": {"workflow": "child@1", "policy": "propagate"}},
    "requires success": {"child": {"workflow": "child@1", "policy": "require_success"}},
}
"""What a node may be: a handler that has one attempt or two, or a child."""
ONCE: Final = "once"
CHILDREN: Final = {"children": {"child@1": {"nodes": [node("K")]}}}
TOKEN: Final = token_digest("token")
OTHER_TOKEN: Final = token_digest("another")

Change = tuple[Status, Status, str]
"""A change of a node's status: before, after, and the type of the event."""


@dataclass(frozen=True, slots=True, order=True)
class Shape:
    """A specification: nodes by number, and what is said of each."""

    works: tuple[str, ...]
    dependencies: tuple[tuple[int, int], ...]
    """Prerequisite and dependent."""
    policies: tuple[str, ...]
    edges: tuple[tuple[int, int, str], ...]
    initial: tuple[int, ...]
    limit: int
    """`max_activations` of the nodes that edges lead to in a loop or behind one."""

    @property
    def arrows(self) -> tuple[tuple[int, int], ...]:
        """The dependencies and edges, from node to node."""
        return (*self.dependencies, *((one, other) for one, other, _ in self.edges))

    @property
    def size(self) -> int:
        """How many nodes and arrows there are."""
        return len(self.works) + len(self.arrows)

    def is_joined(self) -> bool:
        """Tell whether it does not fall into parts that have nothing to do with each other."""
        both_ways = [*self.arrows, *((other, one) for one, other in self.arrows)]
        return {0} | _reached(0, both_ways) == set(range(len(self.works)))

    def renamed(self, order: tuple[int, ...]) -> Shape:
        """Return the same, with each node at another place."""
        back = [order.index(place) for place in range(len(order))]
        return Shape(
            works=tuple(self.works[number] for number in back),
            dependencies=tuple(sorted((order[one], order[other]) for one, other in self.dependencies)),
            policies=tuple(self.policies[number] for number in back),
            edges=tuple(sorted((order[one], order[other], when) for one, other, when in self.edges)),
            initial=tuple(sorted(order[number] for number in self.initial)),
            limit=self.limit,
        )

    def first_of_its_kind(self) -> Shape:
        """Return the one that stands for all that differ only in names and order."""
        return min(self.renamed(order) for order in permutations(range(len(self.works))))

    def repeated(self) -> frozenset[int]:
        """Return the nodes that edges lead to and that may be activated without end."""
        after = {number: _reached(number, self.arrows) for number in range(len(self.works))}
        looping = [number for number, reached in after.items() if number in reached]
        endless = frozenset(looping).union(*(after[number] for number in looping))
        return endless & {target for _, target, _ in self.edges}

    def document(self) -> dict[str, Any]:
        """Return it as a document."""
        repeated = self.repeated()
        nodes = []
        for number, work in enumerate(self.works):
            members = dict(WORKS[work])
            if self.policies[number]:
                members["dependencies"] = [NAMES[one] for one, other in self.dependencies if other == number]
                members["dependency_policy"] = self.policies[number]
            if number in repeated:
                members["max_activations"] = self.limit
            nodes.append(node(NAMES[number], **members))
        edges = [edge(f"{NAMES[one]}>{NAMES[other]}", when) for one, other, when in self.edges]
        children = CHILDREN if any("child" in WORKS[work] for work in self.works) else {}
        return document(nodes, edges, initial_nodes=[NAMES[number] for number in self.initial], **children)

    def kinds(self, number: int) -> tuple[OutcomeKind, ...]:
        """Return the outcomes of a node that something tells from each other."""
        named = {when for one, _, when in self.edges if one == number}
        is_prerequisite = any(one == number for one, _ in self.dependencies)
        told: list[OutcomeKind] = ["succeeded", "changes_requested"]
        if "permanent_failure" in named:
            told.append("retryable_failure")
        if is_prerequisite or named & {"succeeded", "permanent_failure"}:
            told.append("permanent_failure")
        if is_prerequisite:
            told += ["blocked", "cancelled"]
        return tuple(told)

    def __str__(self) -> str:
        """Return it in a line."""
        parts = [f"{NAMES[number]} {work}" for number, work in enumerate(self.works) if work != ONCE]
        parts += [f"{NAMES[one]} –{when}→ {NAMES[other]}" for one, other, when in self.edges]
        for number, policy in enumerate(self.policies):
            if policy:
                names = ", ".join(NAMES[one] for one, other in self.dependencies if other == number)
                parts.append(f"{NAMES[number]} depends on {names} ({policy})")
        names = ", ".join(NAMES[number] for number in self.initial)
        return "; ".join([", ".join(NAMES[: len(self.works)]), *parts, f"initial {names}"])


def _reached(start: int, arrows: Iterable[tuple[int, int]]) -> frozenset[int]:
    reached: set[int] = set()
    found = {start}
    while found:
        found = {other for one, other in arrows if one in found} - reached
        reached |= found
    return frozenset(reached)


def dependencies_of(size: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield every set of dependencies without a cycle."""
    pairs = list(permutations(range(size), 2))
    for count in range(size * (size - 1) // 2 + 1):
        for chosen in combinations(pairs, count):
            if not any(number in _reached(number, chosen) for number in range(size)):
                yield chosen


def edges_of(size: int) -> Iterator[tuple[tuple[int, int, str], ...]]:
    """Yield every choice of edges."""
    single = sorted(product(range(size), range(size), PREDICATES))
    for count in range(MOST_EDGES + 1):
        yield from combinations_with_replacement(single, count)


def shapes_of(size: int) -> Iterator[Shape]:
    """Yield every specification of so many nodes that have one attempt each; some are not valid."""
    for dependencies in dependencies_of(size):
        counts = [sum(other == number for _, other in dependencies) for number in range(size)]
        policies = [
            ("", ("all_succeeded", "all_completed"), ("all_succeeded", "all_completed", "any_succeeded"))[min(count, 2)]
            or ("",)
            for count in counts
        ]
        free = [number for number in range(size) if not counts[number]]
        starts = list(chain.from_iterable(combinations(free, count) for count in range(1, len(free) + 1)))
        for chosen, edges, initial in product(product(*policies), edges_of(size), starts):
            yield Shape((ONCE,) * size, dependencies, chosen, edges, initial, 2)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of the alphabet is explored together: the largest sizes, nodes and arrows counted, of shapes."""

    every_shape: int
    """With handlers that have one attempt."""
    every_outcome: int
    """And with every outcome at every node; and with loops that go round once more."""
    one_work: int
    """With one node of each work, at each place, if the shape does not fall into parts."""
    two_works: int
    """With two nodes of each work, at each place."""


FULL: Final = Bounds(every_shape=8, every_outcome=5, one_work=5, two_works=3)
SUBSET: Final = Bounds(every_shape=4, every_outcome=3, one_work=3, two_works=0)
SMALLEST: Final = Bounds(every_shape=1, every_outcome=1, one_work=1, two_works=0)


def variants(shape: Shape, bounds: Bounds) -> Iterator[Shape]:
    """Yield a shape as it is, with other works at its nodes, and with longer loops."""
    yield shape
    is_joined = shape.is_joined()
    for works in product(WORKS, repeat=len(shape.works)):
        others = sum(work != ONCE for work in works)
        is_single = others == 1 and is_joined and shape.size <= bounds.one_work
        if is_single or (1 <= others <= 2 and shape.size <= bounds.two_works):
            yield replace(shape, works=works)
    if shape.size <= bounds.every_outcome and shape.repeated():
        yield replace(shape, limit=shape.limit + 1)


@dataclass(slots=True)
class Found:
    """What an exploration found."""

    enumerated: int = 0
    """Shapes."""
    shapes: int = 0
    """The same up to isomorphism."""
    invalid: int = 0
    specifications: int = 0
    """Valid ones, up to isomorphism, each with its works and limits."""
    states: int = 0
    ended: int = 0
    transitions: int = 0
    events: int = 0
    changes: Counter[Change] = field(default_factory=Counter)
    examples: dict[Change, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


ANYTHING_GOES: Final = Rules(
    node_table=tuple(Move(one, other, (), "every change is allowed") for one, other in product(STATUSES, STATUSES))
)
"""The rules without a check of the node table."""


def commands(state: State, kinds: tuple[tuple[OutcomeKind, ...], ...]) -> Iterator[AnyCommand]:
    """Yield the commands that bring a run on from a state, each of which it must accept."""
    for position in range(len(state.plan.nodes)):
        current = state.nodes[position]
        match current.status:
            case "ready":
                yield _start(state, position)
            case "running" if current.child_run_id is None:
                yield from _work(state, position, current, kinds[position])
            case "running":
                yield from _child_ends(state, position, current)
            case "waiting" if isinstance(current.wait, SignalWait):
                yield from _deliveries(state, position)
            case _:
                pass
    yield from _times(state)


def _fresh(state: State) -> str:
    return uuid(1000 + state.sequence)


def _start(state: State, position: int) -> StartNode:
    child = RunId(_fresh(state)) if state.node(position).child is not None else None
    return StartNode(node=state.name(position), attempt_id=AttemptId(_fresh(state)), child_run_id=child)


def _work(
    state: State, position: int, current: NodeState, kinds: tuple[OutcomeKind, ...]
) -> Iterator[CompleteAttempt | OpenSignalWait | OpenTimerWait]:
    name, attempt = state.name(position), current.attempt_id
    assert attempt is not None
    for kind in kinds:
        yield CompleteAttempt(node=name, attempt_id=attempt, outcome=_OUTCOMES[kind])
    for signal in state.node(position).signals:
        soon = state.now_ms + 1
        yield OpenTimerWait(node=name, attempt_id=attempt, deadline_ms=soon)
        for deadline in (None, soon):
            yield OpenSignalWait(
                node=name, attempt_id=attempt, name=Name(signal), token_sha256=TOKEN, deadline_ms=deadline
            )


_OUTCOMES: Final = {kind: outcome(kind) for kind in KINDS}


def _child_ends(state: State, position: int, current: NodeState) -> Iterator[CompleteChild]:
    assert current.attempt_id is not None
    assert current.child_run_id is not None
    for result in CHILD_RESULTS:
        yield CompleteChild(
            node=state.name(position),
            attempt_id=current.attempt_id,
            child_run_id=current.child_run_id,
            result=result,
        )


def _deliveries(state: State, position: int) -> Iterator[DeliverSignal]:
    for token in (TOKEN, OTHER_TOKEN):
        yield DeliverSignal(
            node=state.name(position), signal_id=SignalId(_fresh(state)), name=Name("go"), token_sha256=token
        )


def _times(state: State) -> Iterator[AdvanceTime]:
    """Yield the next time at which something is due, and the one at which everything is."""
    nodes = state.nodes.values()
    waits = (current.wait.deadline_ms for current in nodes if current.wait is not None)
    all_of_them = chain(waits, *((current.deadline_ms, current.retry_ms) for current in nodes))
    deadlines = {deadline for deadline in all_of_them if deadline is not None}
    for deadline in sorted(deadlines)[:1] + sorted(deadlines)[1:][-1:]:
        yield AdvanceTime(now_ms=deadline)


CANCEL: Final = RequestCancellation(requester="somebody", reason="enough")

Key = tuple[object, ...]


def key(state: State) -> Key:
    """Return what decides what can happen after a state."""
    nodes = (_node_key(state, position) for position in range(len(state.plan.nodes)))
    components = (
        (part.predecessors, part.is_done, *sorted(part.closable))
        for part in (state.components[number] for number in range(len(state.plan.members)))
    )
    entrances = (state.entrances[position] for position in range(len(state.plan.nodes)))
    return (
        state.status,
        *nodes,
        *components,
        *entrances,
        tuple(in_order(state.cold)),
        tuple(in_order(state.hopeless)),
    )


def _node_key(state: State, position: int) -> Key:
    current, specified = state.nodes[position], state.node(position)
    wait, now_ms = current.wait, state.now_ms
    return (
        current.status,
        current.closed,
        current.released is not None,
        current.activations if specified.max_activations is not None else -1,
        tuple(item.edge for item in in_order(current.queue)),
        current.attempts if current.status in LIVE else -1,
        None if current.deadline_ms is None else current.deadline_ms - now_ms,
        None if current.retry_ms is None else current.retry_ms - now_ms,
        type(wait),
        None if wait is None or wait.deadline_ms is None else wait.deadline_ms - now_ms,
    )


def statuses(state: State) -> tuple[Status, ...]:
    """Return the status of each node."""
    return tuple(state.nodes[position].status for position in range(len(state.plan.nodes)))


class Explorer:
    """Looks at specifications, one after the other, and keeps what it finds."""

    def __init__(self, rules: Rules = ANYTHING_GOES) -> None:
        self.rules = rules
        self.found = Found()

    def explore(self, shape: Shape, *, every_outcome: bool) -> set[Key]:
        """Look at every state that a run of a specification can reach; return their keys."""
        creation = CreateRun(run_id=RUN, specification=shape.document())
        first = decide(None, creation, self.rules)
        if isinstance(first, Rejection):
            self.found.invalid += 1
            return set()
        kinds = tuple(
            KINDS if every_outcome or work != ONCE else shape.kinds(number) for number, work in enumerate(shape.works)
        )
        self.found.specifications += 1
        start = self._after(None, first, shape, creation)
        seen = {key(start)}
        waiting = deque([start])
        while waiting:
            state = waiting.popleft()
            self._look(state, shape)
            for command, events in self._batches(state, shape, kinds):
                after = self._after(state, events, shape, command)
                mark = key(after)
                if mark not in seen:
                    seen.add(mark)
                    waiting.append(after)
        self.found.states += len(seen)
        return seen

    def _look(self, state: State, shape: Shape) -> None:
        """Check what holds of every state between two batches."""
        problems = violations(state)
        if owed(state, self.rules) is not None:
            problems.append("something is owed after a batch")
        if state.status != "running":
            self.found.ended += 1
        elif not LIVE & set(statuses(state)):
            problems.append("stuck: nothing is live, and the run has not ended")
        self.found.faults += [f"{shape}: {problem} in {statuses(state)}" for problem in problems]

    def _batches(
        self, state: State, shape: Shape, kinds: tuple[tuple[OutcomeKind, ...], ...]
    ) -> Iterator[tuple[AnyCommand, Events]]:
        if state.status != "running":
            return
        given = list(commands(state, kinds))
        if not given:
            self.found.faults.append(f"{shape}: stuck: nothing can be done in {statuses(state)}")
        for command in [*given, CANCEL]:
            events = decide(state, command, self.rules)
            if isinstance(events, Rejection):
                self.found.faults.append(f"{shape}: {command} is refused in {statuses(state)}: {events.sentence}")
            else:
                yield command, events

    def _after(self, state: State | None, events: Events, shape: Shape, command: AnyCommand) -> State:
        """Return the state after a batch, and keep every change of a status in it."""
        found = self.found
        found.transitions += 1
        found.events += len(events)
        pending: tuple[Status, ...] = tuple("pending" for _ in shape.works)
        before = pending if state is None else statuses(state)
        origin = before
        for event in events:
            state = reduce(state, event, self.rules)
            now = statuses(state)
            if now == before:
                continue
            changes = [(one, other) for one, other in zip(before, now, strict=True) if one != other]
            if len(changes) > 1:
                found.faults.append(f"{shape}: {type(event).__name__} changes {before} to {now}")
            for one, other in changes:
                change: Change = (one, other, type(event).__name__)
                found.changes[change] += 1
                if change not in found.examples:
                    found.examples[change] = f"{shape}: {_told(command)} in ({', '.join(origin)})"
            before = now
        assert state is not None
        return state


def _told(command: AnyCommand) -> str:
    match command:
        case CompleteAttempt():
            return f"CompleteAttempt {command.node} {command.outcome.kind}"
        case CompleteChild():
            return f"CompleteChild {command.node} {command.result}"
        case AdvanceTime():
            return f"AdvanceTime {command.now_ms}"
        case _:
            name = getattr(command, "node", None)
            return type(command).__name__ + (f" {name}" if name else "")


def table() -> set[Change]:
    """Return every change that the node table allows."""
    return {(move.source, move.target, event) for move in NODE_TABLE for event in move.events}


def explored(bounds: Bounds, told: TextIO | None = None) -> Found:
    """Explore everything within bounds; say how far it is, if it is to be told."""
    explorer = Explorer()
    found = explorer.found
    shapes: set[Shape] = set()
    for shape in chain.from_iterable(shapes_of(count) for count in (1, 2, 3)):
        if shape.size <= bounds.every_shape:
            found.enumerated += 1
            shapes.add(shape.first_of_its_kind())
    found.shapes = len(shapes)
    for number, shape in enumerate(sorted(shapes, key=lambda shape: (shape.size, shape))):
        if told is not None and number % 500 == 0:
            print(f"{number:,} of {len(shapes):,} shapes, {found.states:,} states", file=told, flush=True)
        every_outcome = shape.size <= bounds.every_outcome
        for variant in sorted({variant.first_of_its_kind() for variant in variants(shape, bounds)}):
            is_whole = every_outcome and variant.works == shape.works
            explorer.explore(variant, every_outcome=is_whole)
    return found


def report(bounds: Bounds, found: Found, seconds: float) -> str:
    """Return what was explored and found, for people."""
    allowed = table()
    lines = [
        "Alphabet",
        "  nodes         1 to 3",
        f"  edges         at most {MOST_EDGES}, loops of one node included; when: {', '.join(PREDICATES)}",
        "  dependencies  every set without a cycle, so at most 3; all_succeeded, all_completed, any_succeeded",
        "  initial       every choice of nodes without dependencies",
        *(f"  work          {name}: {members}" for name, members in WORKS.items()),
        "  loops         max_activations 2 (and 3) where an edge leads to a node in a loop, or behind one",
        f"  outcomes      {', '.join(KINDS)}; of a child: {', '.join(CHILD_RESULTS)}",
        "  commands      start, complete, open a wait, deliver (right token, wrong token), cancel, advance to the",
        "                next deadline and to the last",
        "Bounds, in nodes and arrows (edges and dependencies) together",
        f"  at most {bounds.every_shape}     every shape, all works `{ONCE}`, outcomes that something tells apart",
        f"  at most {bounds.every_outcome}     the same with every outcome, and with the longer loops",
        f"  at most {bounds.one_work}     shapes of one part, with one other work at one node",
        f"  at most {bounds.two_works}     with one or two other works",
        "Counts",
        f"  shapes enumerated        {found.enumerated:>10,}",
        f"  up to isomorphism        {found.shapes:>10,}",
        f"  specifications, valid    {found.specifications:>10,}   works and longer loops included",
        f"  specifications, invalid  {found.invalid:>10,}   refused by the validator",
        f"  states                   {found.states:>10,}   of them ended {found.ended:,}",
        f"  batches                  {found.transitions:>10,}",
        f"  events                   {found.events:>10,}",
        f"  seconds                  {seconds:>10.1f}",
        f"Changes of status, and by which event: {len(found.changes)} occurred, {len(allowed)} allowed",
        f"  rows of the node table   {len(NODE_TABLE):>10,}",
    ]
    for change in sorted(allowed | set(found.changes)):
        before, after, event = change
        mark = " " if change in allowed and change in found.changes else "!"
        lines.append(f"{mark} {before} → {after} by {event}: {found.changes[change]:,}")
        lines.append(f"      {found.examples.get(change, 'never')}")
    return "\n".join([*lines, f"Faults: {len(found.faults)}", *found.faults[:20]])


def main(words: list[str]) -> int:
    """Explore, print, and return 0 if all is as it should be."""
    bounds = SUBSET if "--subset" in words else SMALLEST if "--smallest" in words else FULL
    start = time.process_time()
    found = explored(bounds, sys.stderr)
    print(report(bounds, found, time.process_time() - start))
    return int(bool(found.faults) or set(found.changes) != table())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
