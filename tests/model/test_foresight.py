"""Warnings of what no run can bring about: told of plain cases, and never of what some run does bring about.

The second is seen by playing small specifications with every outcome at every node, in every order.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from tests.model.documents import Document, as_definition, document, edge, errors, field, kind, node, warnings
from tests.model.exploration import NAMES, ONCE, PREDICATES, Shape, commands, key
from tests.model.playing import RUN

from perdure.kernel.commands import CompleteAttempt, CreateRun, Rejection
from perdure.kernel.decide import Events, decide
from perdure.kernel.events import NodeStarted
from perdure.kernel.outcomes import ChangesRequested, OutcomeKind, Succeeded
from perdure.kernel.reduce import reduce
from perdure.kernel.state import State
from perdure.kernel.validation.validator import validate

JOIN: Final = "join_never_satisfied"
SOURCE: Final = "source_runs_later"
SUCCEEDED, FAILED, CHANGES, BLOCKED = map(kind, ("succeeded", "permanent_failure", "changes_requested", "blocked"))


def told(found: Document) -> list[tuple[str, str]]:
    """Return the warnings of the two kinds, which are those of the document as a definition too."""
    validation = validate(found)
    assert errors(validation) == []
    ours = [(code, place) for code, place in warnings(validation) if code in {JOIN, SOURCE}]
    inside = [(code, place) for code, place in warnings(validate(as_definition(found))) if code in {JOIN, SOURCE}]
    assert inside == [(code, f"/children/inner@1{place}") for code, place in ours]
    return ours


# Joins


def joined(*edges: Document, of: tuple[str, ...] = ("a", "b"), **members: Any) -> Document:
    """Return a document of x, a, b, c and d, as far as edges or the join name them, and the join of some of them."""
    named = {name for one in edges for name in (one["from"], one["to"])} | set(of) | {"x"}
    policy = {"dependency_policy": members.pop("policy")} if "policy" in members else {}
    nodes = [members.pop(name, node(name)) for name in "xabcd" if name in named]
    return document(*nodes, node("j", *of, **policy), edges=list(edges), **members)


APART = (edge("x", "a", SUCCEEDED), edge("x", "b", FAILED))


@pytest.mark.parametrize(("found", "place"), [
    (joined(*APART), "/nodes/3/dependencies/1"),
    (joined(*APART, edge("a", "c"), edge("b", "d"), of=("c", "d")), "/nodes/5/dependencies/1"),
    (joined(*APART, edge("a", "c"), edge("x", "c", SUCCEEDED), of=("c", "b")), "/nodes/4/dependencies/1"),
    (joined(*APART, c=node("c", "a"), d=node("d", "b"), of=("x", "c", "d")), "/nodes/5/dependencies/2"),
    (joined(edge("x", "b", FAILED), of=("x", "b")), "/nodes/2/dependencies/1"),
    (joined(edge("x", "b", FAILED), of=("b", "x")), "/nodes/2/dependencies/1"),
    (joined(edge("x", "a", field("f", 1)), edge("x", "b", field("f", 2)), x=node("x", outputs=["f"])),
     "/nodes/3/dependencies/1"),
    (joined(edge("x", "a", field("f", 1)), edge("x", "b", BLOCKED), x=node("x", outputs=["f"])),
     "/nodes/3/dependencies/1"),
    (joined(edge("c", "x"), *APART, initial_nodes=["c"]), "/nodes/4/dependencies/1"),
    (joined(edge("x", "x", CHANGES), *APART, x=node("x", max_activations=1), initial_nodes=["x"]),
     "/nodes/3/dependencies/1"),
    (joined(edge("a", "a", CHANGES), *APART, initial_nodes=["x"]), "/nodes/3/dependencies/1"),
])  # fmt: skip
def test_a_join_of_branches_that_exclude_each_other_is_told(found: Document, place: str) -> None:
    assert told(found) == [(JOIN, place)]
    for policy in ("any_succeeded", "all_completed"):
        found["nodes"][-1]["dependency_policy"] = policy
        assert told(found) == []


@pytest.mark.parametrize("found", [
    joined(edge("x", "a", SUCCEEDED), edge("x", "b", SUCCEEDED)),
    joined(edge("x", "a"), edge("x", "b", FAILED)),
    joined(edge("x", "b", SUCCEEDED), of=("x", "b")),
    joined(edge("x", "a", field("f", 1)), edge("x", "b", field("g", 1)), x=node("x", outputs=["f", "g"])),
    joined(edge("x", "a", field("f", 1)), edge("x", "b", SUCCEEDED), x=node("x", outputs=["f"])),
    joined(*APART, initial_nodes=["x", "b"]),
    joined(*APART, edge("c", "x"), initial_nodes=["x", "c"]),
    joined(*APART, edge("c", "x"), edge("d", "x"), initial_nodes=["c", "d"]),
    joined(edge("x", "x", CHANGES), *APART, initial_nodes=["x"]),
    joined(edge("x", "x", CHANGES), *APART, x=node("x", max_activations=2), initial_nodes=["x"]),
    joined(edge("a", "x"), *APART, initial_nodes=["x"]),
    joined(*APART, edge("b", "c"), edge("a", "c"), of=("a", "c")),
    joined(*APART, d=node("d", "b", dependency_policy="all_completed"), of=("a", "d")),
    joined(*APART, d=node("d", "b", "x", dependency_policy="any_succeeded"), of=("a", "d")),
    joined(edge("x", "b"), edge("c", "b", FAILED), edge("c", "c"), c=node("c", "x", max_activations=2), of=("x", "b"),
           initial_nodes=["x"]),
])  # fmt: skip
def test_a_join_that_may_be_satisfied_is_not(found: Document) -> None:
    assert told(found) == []


def test_of_many_ways_and_many_prerequisites_some_are_compared() -> None:
    names = [f"n{number}" for number in range(40)]
    ways = [edge("x", name, field("f", name)) for name in names]
    nodes = [node("x", outputs=["f"]), *map(node, names)]
    assert told(document(*nodes, node("j", *names), edges=ways)) == [(JOIN, "/nodes/41/dependencies/1")]
    more = [*ways, *(edge(name, "a") for name in names), edge("x", "b", BLOCKED)]
    assert told(document(*nodes, node("a"), node("b"), node("j", "a", "b"), edges=more)) == []


def test_loops_that_are_entwined_are_left_alone() -> None:
    steps = [edge("p", "c"), edge("c", "d"), edge("d", "c"), edge("x", "a", SUCCEEDED), edge("x", "b", FAILED)]
    nodes = [*map(node, "xpcdab"), node("j", "a", "b")]
    begin = [edge("x", "p", SUCCEEDED)]
    assert told(document(*nodes, edges=[*begin, *steps], initial_nodes=["x"])) == [(JOIN, "/nodes/6/dependencies/1")]
    begin.append(edge("x", "d", FAILED))
    assert told(document(*nodes, edges=[*begin, *steps], initial_nodes=["x"])) == []


# Sources


def taking(name: str, source: str, *prerequisites: str, **members: Any) -> Document:
    """Return a node that takes an input from another one's output."""
    return node(name, *prerequisites, input_mapping={"v": {"node": source, "output": "o"}}, outputs=["o"], **members)


def gives(name: str, *prerequisites: str, **members: Any) -> Document:
    return node(name, *prerequisites, outputs=["o"], **members)


ROUND = [edge("a", "b"), edge("b", "a")]
PLACE = "/nodes/0/input_mapping/v"


@pytest.mark.parametrize("found", [
    document(taking("a", "b"), gives("b"), edges=ROUND, initial_nodes=["a"]),
    document(taking("a", "a"), edges=[edge("a", "a")], initial_nodes=["a"]),
    document(taking("a", "b"), gives("b"), node("s"), edges=[edge("s", "a"), *ROUND]),
    document(taking("a", "b"), gives("b"), node("c"), edges=[edge("a", "c"), edge("c", "b"), edge("b", "a")],
             initial_nodes=["a"]),
    document(taking("a", "b", "b", "s", dependency_policy="any_succeeded"), gives("b"), node("s"),
             edges=[edge("a", "b")], initial_nodes=["s"]),
    document(taking("a", "b"), gives("b", "c"), node("c", "a"), edges=[edge("b", "a")], initial_nodes=["a"]),
])  # fmt: skip
def test_a_source_that_runs_only_after_what_takes_from_it_is_told(found: Document) -> None:
    assert told({"initial_nodes": ["s"], **found}) == [(SOURCE, PLACE)]


@pytest.mark.parametrize("found", [
    document(taking("a", "b"), gives("b"), edges=ROUND, initial_nodes=["a", "b"]),
    document(taking("a", "b"), gives("b"), edges=ROUND, initial_nodes=["b"]),
    document(taking("a", "b"), gives("b"), node("s"), edges=[*ROUND, edge("s", "b")], initial_nodes=["a", "s"]),
    document(taking("a", "b"), gives("b"), node("s"), edges=[*ROUND, edge("s", "b"), edge("s", "a")],
             initial_nodes=["s"]),
    document(taking("a", "b"), gives("b", "a", "s", dependency_policy="any_succeeded"), node("s"),
             edges=[edge("b", "a")], initial_nodes=["a", "s"]),
    document(taking("a", "b"), gives("b", "a", dependency_policy="all_completed"), edges=[edge("b", "a")],
             initial_nodes=["a"]),
    document(node("a", input_mapping={"v": {"run_input": "v"}}), inputs=["v"], initial_nodes=["a"]),
    document(taking("a", "b", "b"), gives("b")),
])  # fmt: skip
def test_a_source_that_may_run_before_is_not(found: Document) -> None:
    assert told(found) == []


# Every run of small specifications

KINDS: Final[tuple[OutcomeKind, ...]] = ("succeeded", "changes_requested", "permanent_failure", "blocked")


MOST: Final = {True: 100, False: 20}
"""So many are played of those that are told, and of those that are not: the latter show that it does happen."""


def drawn(seed: int) -> Iterator[Shape]:
    """Yield specifications of four nodes, the last of which depends on two or three of the others."""
    chance = random.Random(seed)  # noqa: S311 - nothing is kept secret by it
    seen = set()
    while True:
        count = chance.choice((1, 2, 2, 3, 3, 4))
        arrows = [
            (chance.randrange(3), chance.choice((0, 1, 1, 2, 2)), chance.choice(PREDICATES)) for _ in range(count)
        ]
        policies = ["", "", "", "all_succeeded"]
        dependencies = [(number, 3) for number in chance.choice(((0, 1), (0, 2), (1, 2), (0, 1, 2)))]
        if chance.random() < 0.3:
            one, other = chance.choice(((0, 1), (0, 2), (1, 2)))
            dependencies.append((one, other))
            policies[other] = chance.choice(("all_succeeded", "all_completed", "any_succeeded"))
        if chance.random() < 0.1:
            arrows.append((chance.randrange(3), 3, chance.choice(PREDICATES)))
        free = [number for number in range(3) if not policies[number]]
        initial = sorted(chance.sample(free, min(len(free), chance.choice((1, 1, 1, 2)))))
        limit = chance.choice((1, 2, 2))
        found = Shape(
            (ONCE,) * 4, tuple(sorted(dependencies)), tuple(policies), tuple(sorted(arrows)), tuple(initial), limit
        )
        if found not in seen:
            seen.add(found)
            yield found


def happens(specification: Document, seen_in: Callable[[State, Events], bool]) -> bool:
    """Play a specification with every outcome in every order; tell whether a batch, with the state after it, is it."""
    first = decide(None, CreateRun(run_id=RUN, specification=specification))
    assert not isinstance(first, Rejection)
    waiting = deque([after(None, first)])
    seen = {mark(waiting[0])}
    while waiting:
        state = waiting.popleft()
        for command in commands(state, (KINDS,) * len(state.plan.nodes)) if state.status == "running" else ():
            events = decide(state, with_output(command))
            assert not isinstance(events, Rejection)
            now = after(state, events)
            if seen_in(now, events):
                return True
            if mark(now) not in seen:
                seen.add(mark(now))
                waiting.append(now)
    return False


def after(state: State | None, events: Events) -> State:
    for event in events:
        state = reduce(state, event)
    assert state is not None
    return state


def with_output(command: Any) -> Any:
    """Return a command whose outcome carries the output that somebody may take."""
    if isinstance(command, CompleteAttempt) and isinstance(command.outcome, Succeeded | ChangesRequested):
        return replaced(command, outcome=replaced(command.outcome, output={"o": 1}))
    return command


def replaced(struct: Any, **members: Any) -> Any:
    return type(struct)(**{name: getattr(struct, name) for name in struct.__struct_fields__} | members)


def mark(state: State) -> object:
    """Return what decides what can happen after a state, with whose outputs are there."""
    given = tuple(
        current.outcome is not None and isinstance(state.outcomes[current.outcome], Succeeded | ChangesRequested)
        for current in (state.nodes[position] for position in range(len(state.plan.nodes)))
    )
    return key(state), given, tuple(state.nodes[position].activations for position in range(len(state.plan.nodes)))


@pytest.mark.many
def test_no_join_that_is_told_is_ever_satisfied() -> None:
    def is_satisfied(state: State, _: Events) -> bool:
        return state.nodes[3].released is not None

    counts, happened = {True: 0, False: 0}, {True: 0, False: 0}
    for found in drawn(1):
        specification = found.document()
        validation = validate(specification)
        is_told = JOIN in [code for code, _ in warnings(validation)]
        if not validation.valid or counts[is_told] == MOST[is_told]:
            continue
        counts[is_told] += 1
        happened[is_told] += happens(specification, is_satisfied)
        assert not happened[True], str(found)
        if counts == MOST:
            break
    assert happened[False] > MOST[False] / 2


@pytest.mark.many
def test_no_source_that_is_told_runs_before_what_takes_from_it() -> None:
    counts, happened = {True: 0, False: 0}, {True: 0, False: 0}
    for found in drawn(2):
        source, target = next(((one, other) for one, other in found.arrows if other != 3), (0, 0))
        specification = found.document()
        specification["nodes"][target] |= {"input_mapping": {"v": {"node": NAMES[source], "output": "o"}}}
        specification["nodes"][source] |= {"outputs": ["o"]}
        validation = validate(specification)
        is_told = SOURCE in [code for code, _ in warnings(validation)]
        if not validation.valid or counts[is_told] == MOST[is_told]:
            continue
        counts[is_told] += 1
        happened[is_told] += happens(specification, _runs_first(target))
        assert not happened[True], str(found)
        if counts == MOST:
            break
    assert happened[False] > MOST[False] / 2


def _runs_first(target: int) -> Callable[[State, Events], bool]:
    """Return what tells whether a batch starts a node for the first time, and it has its input."""

    def tells(state: State, events: Events) -> bool:
        started = isinstance(events[0], NodeStarted) and state.plan.positions[events[0].node] == target
        return started and len(events) == 1 and state.nodes[target].outcome is None

    return tells
