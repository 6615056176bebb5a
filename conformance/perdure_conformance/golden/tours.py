"""Histories to go through every version: each type of event in each of them, and each mix of two versions.

Source: `docs/spec/kernel.md`, "Events of each version", "Versions".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from perdure.kernel.events import EVENTS, RUNTIME_VERSION
from perdure_conformance.reducer.histories import (
    Document,
    Fact,
    History,
    acquired,
    created,
    document,
    edge,
    ended,
    fact,
    given_up,
    history,
    node,
    ready,
    run_id,
    started,
)
from perdure_conformance.reducer.playing import Run

VERSIONS: Final = tuple(EVENTS)
EVERY_VERSION: Final = "every version in one history"


class Tour(NamedTuple):
    """A history, what it shows, and the requirements that it is about."""

    name: str
    requirements: tuple[str, ...]
    history: History


def all_tours() -> Iterator[Tour]:
    """Yield all of them."""
    for version in VERSIONS:
        yield from _endings(version)
    yield from _facts_of_version_1()
    for version in VERSIONS[2:]:
        yield from _from_version_3(version)
    for version in VERSIONS[3:]:
        yield from _from_version_4(version)
    yield from _waits()
    yield from _ends_of_version_5()
    yield from _mixes()
    yield from _settled()
    yield from _members_and_types_of_later_versions()
    yield from _spellings()


# Each type of event of each version

_ENDINGS: Final = {
    "completed": "succeeded",
    "failed": "permanent_failure",
    "blocked": "blocked",
    "cancelled": "cancelled",
}


def _endings(version: int) -> Iterator[Tour]:
    """Runs of two nodes in a row, one for each run fact."""
    for result, kind in _ENDINGS.items():
        run = Run(["A", node("B", "A")], version=version)
        run.run("A")
        run.start("B")
        if version == 1 and kind == "cancelled":
            run.write(fact("RunCancelled"))
        else:
            run.end("B", kind, reason="" if kind == "succeeded" else "so it came")
        requirement = "RUN-024" if version > 1 else "VER-009" if result == "cancelled" else "VER-008"
        yield Tour(f"version {version}, a run is {result}", (requirement,), run.past)


def _facts_of_version_1() -> Iterator[Tour]:
    run = Run("AB", version=1)
    run.start("A")
    run.start("B")
    yield Tour("version 1, an output and none", ("VER-007",), _ended_both(run, {"answer": 42}))
    yield Tour("version 1, an output that is null", ("VER-007",), _with_null(run))
    yield Tour("version 1, a failure ends the run while another node runs", ("VER-008",), _failed(run, "NodeFailed"))
    yield Tour("version 1, a block ends the run while another node runs", ("VER-008",), _failed(run, "NodeBlocked"))


def _ended_both(run: Run, output: Document) -> History:
    other = run.fork()
    other.end("A", output=output)
    other.end("B")
    return other.past


def _with_null(run: Run) -> History:
    return run.played(fact("NodeSucceeded", node="A", attempt_id=run.of("A").attempt_id, output=None))


def _failed(run: Run, kind: str) -> History:
    return run.played(fact(kind, node="A", attempt_id=run.of("A").attempt_id, reason="no disk"))


def _from_version_3(version: int) -> Iterator[Tour]:
    run = Run("AB", [edge("A>B", "succeeded")], version)
    run.run("A")
    run.run("B")
    yield Tour(f"version {version}, an edge fires", ("EDG-008", "EDG-010"), run.past)
    run = Run("AM", ["A>M", "A>M"], version)
    run.run("A")
    run.run("M")
    run.run("M")
    yield Tour(f"version {version}, an activation waits for its turn", ("EDG-011", "EDG-012"), run.past)
    for result in ("completed", "failed"):
        sub = {"nodes": [node("x", outputs=["r"])], "outputs": {"r": {"node": "x", "output": "r"}}}
        call = {"workflow": "sub@1", "policy": "propagate", "outputs": {"go": "r"}}
        run = Run([node("A", child=call)], version=version, children={"sub@1": sub})
        run.start("A")
        run.child_ends("A", result, **({"r": [1, "two"]} if result == "completed" else {}))
        yield Tour(f"version {version}, a child run is {result}", ("CHD-011", "CHD-012", "CHD-013"), run.past)
    creation = {"input": {"goal": "tea"}, "ancestors": [run_id(8), run_id(9)]}
    takes = {"goal": {"run_input": "goal"}}
    run = Run([node("A", input_mapping=takes)], version=version, inputs=["goal"], creation=creation)
    run.start("A")
    yield Tour(f"version {version}, a run with input and ancestors", ("RUN-003", "RUN-017"), run.past)


def _from_version_4(version: int) -> Iterator[Tour]:
    backoff = {"kind": "fixed", "delay_ms": 3}
    run = Run([node("A", retry={"max_attempts": 2, "backoff": backoff, "attempt_deadline_ms": 5})], version=version)
    run.run("A", "retryable_failure")
    run.advance(3)
    run.start("A")
    run.advance(8)
    shows = f"version {version}, a retry after its delay, an attempt that expires, and no more attempts"
    yield Tour(shows, ("RTY-004", "RTY-009", "TIM-006"), run.past)
    run = Run("A", version=version)
    run.run("A", "retryable_failure")
    yield Tour(f"version {version}, an immediate retry", ("RTY-008",), run.past)
    run = Run("AB", [edge("A>B", "changes_requested")], version)
    run.run("A", "changes_requested")
    yield Tour(f"version {version}, no correction is left", ("RUN-022",), run.past)
    for name, budgets in (
        ("attempts", {"max_attempts": 1}),
        ("transitions", {"max_transitions": 1}),
        ("elapsed", {"max_elapsed_ms": 10}),
    ):
        run = Run(["A", node("B", "A")], version=version, budgets=budgets)
        run.run("A")
        if name == "attempts":
            run.start("B")
        elif name == "elapsed":
            run.advance(11)
        yield Tour(f"version {version}, the budget {name} is exhausted", ("BUD-003", "BUD-005"), run.past)


def _waits() -> Iterator[Tour]:
    waiting = Run([node("A", signals=["s", "t"])])
    waiting.start("A")
    run = waiting.fork()
    run.wait("A", "s", deadline_ms=10)
    run.reject("A", "wrong_name")
    run.reject("A", "wrong_token")
    run.accept("A", "s", payload={"ok": True})
    run.wait("A", "t")
    run.accept("A", "t")
    yield Tour(
        "version 5, a signal is rejected twice, then accepted, then another one", ("SIG-004", "SIG-009"), run.past
    )
    run = waiting.fork()
    run.wait("A", "s", deadline_ms=10)
    run.advance(10)
    yield Tour("version 5, a wait for a signal expires", ("SIG-010",), run.past)
    run = waiting.fork()
    run.wait_until("A", 7)
    run.advance(7)
    yield Tour("version 5, a timer fires", ("TIM-009",), run.past)


def _ends_of_version_5() -> Iterator[Tour]:
    call = {"workflow": "sub@1", "policy": "require_success"}
    nodes: list[str | Document] = ["A", node("B", "A"), node("C", child=call), "D"]
    run = Run(nodes, children={"sub@1": {"nodes": [node("x")]}})
    run.start("A")
    run.start("C")
    run.run("D")
    run.cancel()
    yield Tour(
        "version 5, a run is cancelled with a handler and a child run under way", ("CAN-001", "CAN-002"), run.past
    )
    run = Run("A")
    run.write(acquired(1, 1))
    run.write(given_up(1, 1))
    run.write(acquired(2, 4))
    yield Tour("version 5, a run is taken over, given up, and taken over again", ("RUN-028",), run.past)


# Mixes of versions


def _mixes() -> Iterator[Tour]:
    for older, newer in combinations(VERSIONS, 2):
        run = Run("AB", version=older)
        run.run("A", output={"of": older})
        run.goes_on(newer)
        run.run("B", output={"of": newer})
        yield Tour(f"version {older} goes on in version {newer}", ("VER-004", "VER-007"), run.past)
        run = Run("AB", version=older)
        run.goes_on(newer)
        run.run("A")
        back = run.past.on(older) + started("B", 2)
        yield Tour(f"version {newer} goes on in version {older}", ("VER-004",), back)
        begun = history(created(document("A", version=1)), version=older).on(newer) + ready("A")
        yield Tour(f"version {older} becomes version {newer} inside a batch", ("VER-004",), begun)
        later = history(created(document("A", version=older)), version=newer) + ready("A")
        yield Tour(f"a document of version {older} in a history of version {newer}", ("VER-005",), later)
        pinned = history(created(document("A", version=newer)), version=older)
        yield Tour(f"a document of version {newer} in a history of version {older}", ("VER-005",), pinned)
    for many in range(3, len(VERSIONS) + 1):
        for mix in combinations(VERSIONS, many):
            told = f"versions {', '.join(map(str, mix[:-1]))} and {mix[-1]} in one history"
            yield Tour(EVERY_VERSION if mix == VERSIONS else told, ("VER-004", "VER-007"), _in_turn(mix))


def _in_turn(mix: Sequence[int]) -> History:
    """Return a history that goes on in one version after the other, with a node in each."""
    nodes = "ABCDE"[: len(mix)]
    run = Run(nodes, version=mix[0])
    for version, name in zip(mix, nodes, strict=True):
        run.goes_on(version)
        run.run(name)
    return run.past


def _settled() -> Iterator[Tour]:
    """What versions 2 and 3 leave, and later versions owe for it."""
    for older in (2, 3):
        left = Run("AB", version=older)
        left.run("A", "retryable_failure")
        left.run("B", "changes_requested")
        shows = f"version {older} leaves a retry without a deadline and a correction that cannot come"
        yield Tour(shows, ("VER-010",), left.past)
        for newer in VERSIONS[3:]:
            run = left.fork()
            run.goes_on(newer)
            run.settle()
            yield Tour(f"version {older} is settled in version {newer}", ("VER-011",), run.past)
        run = left.fork()
        run.goes_on(RUNTIME_VERSION)
        run.cancel()
        shows = f"what version {older} left is cancelled in version {RUNTIME_VERSION}"
        yield Tour(shows, ("CAN-002", "VER-011"), run.past)
        yield Tour(f"version {older} waits for a correction that can still come", ("VER-010",), _correctable(older))


def _correctable(version: int) -> History:
    """Return a history that ends while a live node reaches one that is asked for changes: nothing is left to Settle."""
    if version == 2:
        run = Run(["A", "B", node("C", "A", "B", dependency_policy="any_succeeded")], version=version)
        run.run("A")
        run.run("C", "changes_requested")
        return run.past
    run = Run("AB", [edge("A>B", "changes_requested"), edge("B>A", "succeeded")], version, initial_nodes=["A"])
    run.run("A", "changes_requested")
    return run.past


_FIRSTS: Final[dict[int, tuple[str, Fact]]] = {
    2: ("NodeOutcomeCommitted", ended("A", 1)),
    3: ("TransitionActivated", fact("TransitionActivated", edge=0, source="A", source_sequence=1)),
    4: ("VirtualTimeAdvanced", fact("VirtualTimeAdvanced", now_ms=5)),
    5: ("RecoveryAcquired", acquired(1, 1)),
}
"""A type of event that each version was the first to have."""


def _members_and_types_of_later_versions() -> Iterator[Tour]:
    for version in VERSIONS[:-1]:
        run = Run("AB", version=version)
        run.start("A")
        for first, (name, event) in _FIRSTS.items():
            if first > version:
                yield Tour(f"version {version} has no {name}", ("VER-001",), run.past + event)
    for version in VERSIONS[1:]:
        run = Run("AB", version=version)
        run.start("A")
        old = fact("NodeSucceeded", node="A", attempt_id=run.of("A").attempt_id)
        yield Tour(f"version {version} has no NodeSucceeded any more", ("VER-001",), run.past + old)
    for version in (0, RUNTIME_VERSION + 1):
        run = Run("A")
        yield Tour(f"there is no version {version}", ("VER-003",), run.past.on(version) + started("A", 1))


def _spellings() -> Iterator[Tour]:
    """What readers of JSON and JSON Schema disagree about, in an event."""
    run = Run("A")
    begun = run.past + started("A", 1)
    for shows, number in {"true": True, "a string of digits": "1", "spelt 1.0": 1.0, "spelt 1": 1}.items():
        yield Tour(f"an integer of an event: {shows}", ("VER-002",), begun.but(-1, attempt=number))
    identity = str(begun.entries[-1].event["attempt_id"]).replace("7000", "7abc")
    for shows, text in {
        "with a line feed": identity + "\n",
        "in capitals": identity.upper(),
        "lower": identity,
    }.items():
        yield Tour(f"an identity in an event: {shows}", ("RUN-004",), begun.but(-1, attempt_id=text))
    for shows, reason in {"4,097 bytes": "ä" * 2048 + "x", "4,096 bytes": "ä" * 2048}.items():
        yield Tour(f"a reason: {shows}", ("RUN-005",), begun + ended("A", 1, "blocked", reason=reason))
