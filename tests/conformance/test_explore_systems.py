"""Small systems, searched by the real kernel, by bare Python and by SPIN: the same states, and the same results."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from perdure.kernel.queues import in_order
from perdure.kernel.state import LIVE, State
from perdure.kernel.validation.validator import validate
from perdure_conformance.bench import bare
from perdure_conformance.bench.bare import Numbers
from perdure_conformance.exploration.exploring import explored
from perdure_conformance.exploration.search import Bounds, Ended, Exhausted

MODELS = Path(__file__).resolve().parents[1] / "model/spin"


def result_of(state: State) -> int:
    """Return how a run has ended: in these systems, only a budget leaves nodes as they are."""
    statuses = {state.nodes[position].status for position in range(len(state.plan.nodes))}
    is_cut = state.status == "failed" and statuses & {"ready", "running", "pending"}
    return bare.BUDGET if is_cut else bare.RESULTS.index(state.status)


def numbers(state: State, position: int) -> int:
    return bare.STATUSES.index(state.nodes[position].status)


def of_diamond(state: State) -> Numbers:
    """Return what a state says of the variables of the bare diamond."""
    count = len(state.plan.nodes)
    branches = (state.nodes[position] for position in range(1, count - 1))
    attempts = (branch.attempts if branch.status in LIVE else 0 for branch in branches)
    statuses = (numbers(state, position) for position in range(count))
    return (result_of(state), state.attempts_used, *statuses, *attempts)


def of_loop(state: State) -> Numbers:
    """Return what a state says of the variables of the bare loop."""
    nodes = [state.nodes[position] for position in (0, 1)]
    waiting = [sum(1 for _ in in_order(node.queue)) for node in nodes]
    return (result_of(state), *(numbers(state, each) for each in (0, 1)), *(n.activations for n in nodes), *waiting)


def by_kernel(document: dict[str, Any], projected: Callable[[State], Numbers]) -> tuple[set[Numbers], set[int], int]:
    """Return the states that the kernel reaches, the results that are told, and how many states there are."""
    seen: set[Numbers] = set()
    specification = validate(document).specification
    assert specification is not None
    bounds = Bounds(100_000, watch=lambda state: seen.add(projected(state)))
    found = explored(document, specification, bounds, is_reduced=False)
    assert found.stopped_by is None
    results = {bare.RESULTS.index(goal.status) for goal in found.found.reached if isinstance(goal, Ended)}
    exhausted = {bare.BUDGET for goal in found.found.reached if isinstance(goal, Exhausted)}
    return seen, results | exhausted, found.found.states


def by_bare_search(name: str) -> set[Numbers]:
    if name == "loop":
        return bare.searched(bare.LOOP_BEGUN, bare.loop_successors)
    return bare.searched(bare.diamond_begun(2), bare.diamond_successors(2, 4))


def system(name: str) -> tuple[dict[str, Any], Callable[[State], Numbers]]:
    return (bare.loop(), of_loop) if name == "loop" else (bare.diamond(2, 4), of_diamond)


@pytest.mark.parametrize(("name", "count"), [("diamond", 236), ("loop", 102)])
def test_the_kernel_and_a_bare_search_reach_the_same_states(name: str, count: int) -> None:
    bare_states = by_bare_search(name)
    states, results, distinct = by_kernel(*system(name))
    assert states == bare_states
    assert len(states) == count
    assert distinct >= count
    assert results == {state[0] for state in bare_states} - {bare.GOING}


def test_a_wider_diamond_too() -> None:
    bare_states = bare.searched(bare.diamond_begun(3), bare.diamond_successors(3, 5))
    states, _, _ = by_kernel(bare.diamond(3, 5), of_diamond)
    assert states == bare_states
    assert len(states) > 1_000


HAS_SPIN = shutil.which("spin") is not None and shutil.which("gcc") is not None


@pytest.mark.skipif(
    not HAS_SPIN and not os.environ.get("PERDURE_TOOLCHAINS"),
    reason="spin or gcc is not installed: SPIN is not covered",
)
@pytest.mark.parametrize("name", ["diamond", "loop"])
def test_spin_stores_as_many_states(tmp_path: Path, name: str) -> None:
    shutil.copy(MODELS / f"{name}.pml", tmp_path)
    for words in (["spin", "-a", f"{name}.pml"], ["gcc", "-O0", "-DNOREDUCE", "-DSAFETY", "-o", "pan", "pan.c"]):
        subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    done = subprocess.run(["./pan"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=120)
    stored = re.search(r"(\d+) states, stored", done.stdout)
    assert stored is not None
    assert "errors: 0" in done.stdout
    expected = by_bare_search(name)
    assert int(stored[1]) == len(expected)
    results = {int(number) for number in re.findall(r"^result (\d+)$", done.stdout, re.MULTILINE)}
    assert results == {state[0] for state in expected} - {bare.GOING}
