"""What is promised of explorations, and how that is seen: by specifications of which it is plain what is possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.kernel.values import JsonObject, canonical_json
from perdure_conformance.exploration.witnesses import played
from perdure_conformance.lint.files import Text
from perdure_conformance.simulation.steps import steps_of
from perdure_conformance.spec.documents import edge, node, workflow

Document = Mapping[str, object]
Explore = Callable[[JsonObject, int], Document]

_ENOUGH: Final = 10_000
_ONCE: Final = {"max_attempts": 1}


@dataclass(frozen=True, slots=True)
class Sample:
    """A specification, and all that its runs can do."""

    value: JsonObject
    results: frozenset[str]
    """Others cannot be."""
    never: frozenset[str] = frozenset()
    """Nodes that no run starts."""
    silent: frozenset[int] = frozenset()
    """Edges that never fire."""
    budgets: frozenset[str] = frozenset()
    """Those that can be used up."""


_ALL: Final = frozenset({"completed", "failed", "blocked", "cancelled"})

SAMPLES: Final[Mapping[str, Sample]] = {
    "a node": Sample(workflow(node("a", retry=_ONCE)), _ALL),
    "a branch that waits for one that ends otherwise": Sample(
        workflow(
            node("a", retry=_ONCE),
            node("b", retry=_ONCE),
            node("c", dependencies=["a", "b"]),
            edges=[edge("a", "b", when={"outcome": "blocked"})],
        ),
        _ALL,
        never=frozenset({"c"}),
    ),
    "two that race for a third": Sample(
        workflow(
            node("a", retry=_ONCE),
            node("b", retry=_ONCE),
            node("c", dependencies=["a", "b"], dependency_policy="any_succeeded", retry=_ONCE),
        ),
        _ALL,
    ),
    "a loop beside a branch": Sample(
        workflow(
            node("a"),
            node("b"),
            node("c"),
            edges=[edge("a", "b", when={"outcome": "changes_requested"}), edge("b", "a")],
            initial_nodes=["a", "c"],
            budgets={"max_attempts": 20, "max_transitions": 1_000},
        ),
        _ALL,
        budgets=frozenset({"attempts"}),
    ),
    "a loop that nothing leaves": Sample(
        workflow(
            node("a"),
            node("b"),
            edges=[edge("a", "a"), edge("b", "b", when={"outcome": "blocked"})],
            initial_nodes=["a", "b"],
            budgets={"max_attempts": 20, "max_transitions": 1_000},
        ),
        frozenset(),
        budgets=frozenset({"attempts"}),
    ),
    "the last attempt": Sample(
        workflow(
            node("a", retry=_ONCE),
            node("b", retry=_ONCE),
            edges=[edge("a", "b")],
            budgets={"max_attempts": 1},
        ),
        frozenset(),
        never=frozenset({"b"}),
        budgets=frozenset({"attempts"}),
    ),
    "a field": Sample(
        workflow(
            node("a", retry=_ONCE, outputs=["x"]),
            node("b", retry=_ONCE),
            node("c", retry=_ONCE, max_activations=1),
            edges=[
                edge("a", "b", when={"field": "x", "equals": 1}, mode="exclusive"),
                edge("a", "c", when={"field": "x", "equals": True}, mode="exclusive"),
                edge("c", "c", when={"outcome": "succeeded"}),
            ],
            initial_nodes=["a"],
        ),
        _ALL,
        silent=frozenset({2}),
    ),
}


def what_is_told_is_so(explore: Explore) -> str | None:
    """Explore each sample: what is told must be all that is possible, and each script must lead there."""
    for name, sample in SAMPLES.items():
        found = explore(sample.value, _ENOUGH)
        for what, wanted, seen in _compared(sample, found):
            if wanted != seen:
                return f"{name}: {what} are {sorted(map(str, seen))}, and not {sorted(map(str, wanted))}"
        complaint = _wrong_script(sample.value, found)
        if complaint is not None:
            return f"{name}: {complaint}"
        if found["exit_code"] != int(bool(sample.never)):
            return f"{name} is told with exit code {found['exit_code']}"
    return None


def _rows(found: Document, name: str) -> Sequence[Mapping[str, Any]]:
    rows = found[name]
    assert isinstance(rows, list)
    return rows


def _compared(sample: Sample, found: Document) -> Iterator[tuple[str, frozenset[object], frozenset[object]]]:
    results = {row["result"] for row in _rows(found, "results") if row["verdict"] == "reached"}
    never = {row["node"] for row in _rows(found, "nodes") if row["started"]["verdict"] == "unreachable"}
    silent = {row["edge"] for row in _rows(found, "edges") if row["verdict"] == "unreachable"}
    budgets = {row["budget"] for row in _rows(found, "budgets") if row["verdict"] == "reached"}
    yield "results", frozenset(sample.results), frozenset(results)
    yield "nodes that never start", frozenset(sample.never), frozenset(never)
    yield "edges that never fire", frozenset(sample.silent), frozenset(silent)
    yield "budgets that can be used up", frozenset(sample.budgets), frozenset(budgets)


def _wrong_script(value: JsonObject, found: Document) -> str | None:
    for row in _rows(found, "results"):
        way = row["way"]
        if row["verdict"] != "reached":
            continue
        script = [] if way is None else way["script"]
        steps = steps_of(Text("script.json", "json", canonical_json(script), ()))
        player = played(value, steps)
        status = "nothing" if player is None else player.state.status
        if status != row["result"]:
            return f"the script for {row['result']} leads to {status}"
    return None


def bounds_are_told(explore: Explore) -> str | None:
    """Explore each sample with too few states: nothing may be called unreachable, and no exit code be 0."""
    for name, sample in SAMPLES.items():
        found = explore(sample.value, 1)
        if found["stopped_by"] != "states" or found["complete"]:
            return f"{name} is told to be explored whole, with one state"
        if found["exit_code"] == 0:
            return f"{name} was not explored whole, and the exit code is 0"
        rows = [*_rows(found, "results"), *_rows(found, "budgets"), *_rows(found, "edges")]
        rows += [row["started"] for row in _rows(found, "nodes")]
        if any(row["verdict"] == "unreachable" for row in rows):
            return f"{name} was not explored whole, and something is called unreachable"
    return None
