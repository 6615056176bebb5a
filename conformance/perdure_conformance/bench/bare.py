"""Two small systems as bare searches: tuples of numbers and nothing of the model, to hold the exploration against.

Each has the document that it is about. A state is a tuple of small numbers; `STATUSES` says what each stands for. The
same systems are in Promela in `tests/model/spin/`, and a test compares all three.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from perdure_conformance.spec.documents import edge, node, workflow

STATUSES: Final = (
    "pending",
    "ready",
    "running",
    "changes_requested",
    "succeeded",
    "failed",
    "blocked",
    "cancelled",
    "skipped",
)
PENDING, READY, RUNNING, CHANGES, SUCCEEDED, FAILED, BLOCKED, CANCELLED, SKIPPED = range(len(STATUSES))
RESULTS: Final = ("running", "completed", "failed", "blocked", "cancelled", "budget")
GOING, COMPLETED, RUN_FAILED, RUN_BLOCKED, RUN_CANCELLED, BUDGET = range(len(RESULTS))

_ENDINGS: Final = (SUCCEEDED, CHANGES, FAILED, FAILED, BLOCKED, CANCELLED)
"""The status after each kind of outcome; the third one is tried again as long as there are attempts."""
_RETRYABLE: Final = 2

Numbers = tuple[int, ...]
Successors = Callable[[Numbers], Iterator[Numbers]]


def searched(first: Numbers, successors: Successors) -> set[Numbers]:
    """Return every state that can be reached."""
    seen = {first}
    waiting = deque([first])
    while waiting:
        for after in successors(waiting.popleft()):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen


def _result(statuses: list[int]) -> int:
    """Return how a run has ended; that it goes on, if it does."""
    if any(status < SUCCEEDED for status in statuses):
        return GOING
    if FAILED in statuses:
        return RUN_FAILED
    if BLOCKED in statuses:
        return RUN_BLOCKED
    return RUN_CANCELLED if CANCELLED in statuses else COMPLETED


# A diamond: one node, branches that depend on it and are tried again, and one that any of them releases.


def diamond(width: int, max_attempts: int) -> dict[str, Any]:
    """Return the document of a diamond, and of a budget of attempts."""
    branches = [f"b{number}" for number in range(width)]
    once = {"max_attempts": 1}
    return workflow(
        node("first", retry=once),
        *(node(name, dependencies=["first"], retry={"max_attempts": 2}) for name in branches),
        node("last", dependencies=branches, dependency_policy="any_succeeded", retry=once),
        budgets={"max_attempts": max_attempts},
    )


def diamond_begun(width: int) -> Numbers:
    """Return the first state: the result, attempts used, the statuses, and the attempts of each branch that is live."""
    return (GOING, 0, READY, *[PENDING] * (width + 1), *[0] * width)


def diamond_successors(width: int, max_attempts: int) -> Successors:
    """Return what follows a state of a diamond."""
    last = width + 1

    def successors(state: Numbers) -> Iterator[Numbers]:
        if state[0] != GOING:
            return
        for position in range(last + 1):
            status = state[2 + position]
            if status == READY:
                yield _started(state, position, last, max_attempts)
            elif status == RUNNING:
                yield from _ended(state, position, last)

    return successors


def _started(state: Numbers, position: int, last: int, max_attempts: int) -> Numbers:
    if state[1] == max_attempts:
        return (BUDGET, *state[1:])
    after = list(state)
    after[1] += 1
    after[2 + position] = RUNNING
    if 0 < position < last:
        after[2 + last + position] += 1
    return tuple(after)


def _ended(state: Numbers, position: int, last: int) -> Iterator[Numbers]:
    is_branch = 0 < position < last
    for kind, ending in enumerate(_ENDINGS):
        after = list(state)
        after[2 + position] = ending
        if kind == _RETRYABLE and is_branch and state[2 + last + position] < 2:
            after[2 + position] = READY
            yield tuple(after)
            continue
        if is_branch:
            after[2 + last + position] = 0
        statuses = after[2 : 3 + last]
        _settle(statuses, last)
        yield (_result(statuses), after[1], *statuses, *after[3 + last :])


def _settle(statuses: list[int], last: int) -> None:
    """Let what waits go on, or give it up. Nothing corrects: what asks for changes fails when nothing leads to it."""
    first, branches = statuses[0], statuses[1:last]
    if first == CHANGES:
        first = statuses[0] = FAILED
    for number, status in enumerate(branches):
        if status == CHANGES:
            branches[number] = FAILED
        elif status == PENDING and first > RUNNING:
            branches[number] = READY if first == SUCCEEDED else first if first in {BLOCKED, CANCELLED} else SKIPPED
    statuses[1:last] = branches
    if statuses[last] == CHANGES and min(branches) > RUNNING:
        statuses[last] = FAILED
    elif statuses[last] == PENDING and SUCCEEDED in branches:
        statuses[last] = READY
    elif statuses[last] == PENDING and min(branches) > SUCCEEDED:
        statuses[last] = CANCELLED if CANCELLED in branches else BLOCKED if BLOCKED in branches else SKIPPED


# A loop: `a` leads to `b` by two edges, and `b` back to `a` when it asks for changes; both have so many activations.

LOOP_LIMITS: Final = (2, 3)


def loop() -> dict[str, Any]:
    """Return the document of the loop."""
    once = {"max_attempts": 1}
    return workflow(
        node("a", retry=once, max_activations=LOOP_LIMITS[0]),
        node("b", retry=once, max_activations=LOOP_LIMITS[1]),
        edges=[
            edge("a", "b"),
            edge("a", "b", when={"outcome": "succeeded"}),
            edge("b", "a", when={"outcome": "changes_requested"}),
        ],
        initial_nodes=["a"],
    )


LOOP_BEGUN: Final[Numbers] = (GOING, READY, PENDING, 1, 0, 0, 0)
"""The result, the statuses, the activations, and how many of them wait, of both nodes."""


def loop_successors(state: Numbers) -> Iterator[Numbers]:
    """Yield what follows a state of the loop."""
    result, *now = state
    if result != GOING:
        return
    for node_ in (0, 1):
        if now[node_] == READY:
            started = now.copy()
            started[node_] = RUNNING
            yield (GOING, *started)
        elif now[node_] == RUNNING:
            for ending in _ENDINGS:
                ended = now.copy()
                ended[node_] = ending
                edges = (1 + (ending == SUCCEEDED)) if node_ == 0 else int(ending == CHANGES)
                for _ in range(edges):
                    _fire(ended, 1 - node_)
                if ended[node_] not in {READY, RUNNING} and ended[4 + node_]:
                    ended[4 + node_] -= 1
                    ended[node_] = READY
                if not {READY, RUNNING} & set(ended[:2]):
                    ended[:2] = [FAILED if status == CHANGES else status for status in ended[:2]]
                yield (_result(ended[:2]), *ended)


def _fire(now: list[int], target: int) -> None:
    if now[2 + target] == LOOP_LIMITS[target]:
        return
    now[2 + target] += 1
    if now[target] in {READY, RUNNING}:
        now[4 + target] += 1
    else:
        now[target] = READY
