"""What is in events: RUN-004 and RUN-005."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from perdure_conformance.reducer.histories import (
    acquired,
    attempt,
    child,
    child_started,
    complete,
    created,
    deliver,
    document,
    ended,
    fact,
    history,
    ready,
    started,
)
from perdure_conformance.reducer.histories import node as node_of
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.runs import SUB, child_node
from perdure_conformance.reducer.scenarios.scenario import Scenario, accepted, gives, refused, rejects, scenario

_LOWER: Final = "00000000-0000-7000-8000-0000000000ab"
_MAX_INLINE: Final = 65_536
_MAX_REASON: Final = 4_096
_MAX_VALUE: Final = 983_040


def ids_are_canonical() -> Iterator[Scenario]:
    """RUN-004."""
    run = Run("A")
    for name, wrong in (
        ("empty", ""),
        ("a space", " "),
        ("null", None),
        ("in capitals", _LOWER.upper()),
        ("in braces", f"{{{_LOWER}}}"),
        ("without hyphens", _LOWER.replace("-", "")),
        ("with a line feed", f"{_LOWER}\n"),
        ("no UUID", "attempt-1"),
    ):
        yield scenario(
            "RUN-004",
            f"an attempt id that is {name}",
            refused(run.past + started("A", 1, attempt_id=wrong)),
            accepted(run.past + started("A", 1, attempt_id=_LOWER)),
        )
    for name, right in (
        ("of version 4", "9b2e7f0a-3c41-4d6e-9f00-1b2c3d4e5f60"),
        ("of version 1", "f47ac10b-58cc-11ef-8000-00a0c91e6bf6"),
        ("that is nil", "00000000-0000-0000-0000-000000000000"),
    ):
        yield scenario(
            "RUN-004",
            f"an attempt id {name}",
            refused(run.past + started("A", 1, attempt_id=f"urn:uuid:{right}")),
            accepted(run.past + started("A", 1, attempt_id=right)),
        )
    run = Run("AB")
    run.write(started("A", 9))
    yield scenario(
        "RUN-004",
        "an attempt id that is lower than the one before",
        refused(run.past + started("B", 9)),
        accepted(run.past + started("B", 8)),
    )
    yield scenario(
        "RUN-004",
        "a run id that is empty",
        refused(history(created(document("A"), run_id=""), ready("A")), 1),
        accepted(history(created(document("A"), run_id=_LOWER), ready("A"))),
    )
    run = Run([child_node("C")], children=SUB)
    yield scenario(
        "RUN-004",
        "a child run id that is empty",
        refused(run.past + child_started("C", 1, 1, child_run_id="")),
        accepted(run.past + child_started("C", 1, 1, child_run_id=_LOWER)),
    )
    run = Run([node_of("A", signals=["go"])])
    yield scenario(
        "RUN-004",
        "an owner id that is empty",
        refused(run.past + {**acquired(1, 1), "owner": ""}),
        accepted(run.past + {**acquired(1, 1), "owner": _LOWER}),
    )
    run.start("A")
    run.wait("A", "go")
    accepts: Any = {"node": "A", "attempt_id": attempt(1), "name": "go"}
    yield scenario(
        "RUN-004",
        "a signal id that is empty",
        refused(run.past + fact("SignalAccepted", **accepts, signal_id="")),
        accepted(run.past + fact("SignalAccepted", **accepts, signal_id=_LOWER)),
    )


def limits_are_kept() -> Iterator[Scenario]:
    """RUN-005."""
    run = Run("AB")
    run.start("A")
    for name, most, more in (
        ("letters", "x" * _MAX_REASON, "x" * (_MAX_REASON + 1)),
        ("letters of two bytes", "é" * (_MAX_REASON // 2), "é" * (_MAX_REASON // 2) + "x"),
    ):
        yield scenario(
            "RUN-005",
            f"a reason that is too long, in {name}",
            refused(run.past + ended("A", 1, "cancelled", reason=more)),
            accepted(run.past + ended("A", 1, "cancelled", reason=most)),
        )
    for name, most_output, more_output in (
        ("a text", "x" * (_MAX_INLINE - 2), "x" * (_MAX_INLINE - 1)),
        ("letters of two bytes", "é" * (_MAX_INLINE // 2 - 1), "é" * (_MAX_INLINE // 2 - 1) + "x"),
    ):
        yield scenario(
            "RUN-005",
            f"an output that is too large, in {name}",
            refused(run.past + ended("A", 1, "succeeded", more_output)),
            accepted(run.past + ended("A", 1, "succeeded", most_output)),
        )
    deep, deeper = _nested(90), _nested(91)
    yield scenario(
        "RUN-005",
        "an output that nests too deep",
        refused(run.past + ended("A", 1, "succeeded", deeper)),
        accepted(run.past + ended("A", 1, "succeeded", deep)),
    )
    reference = {"artifact_id": _LOWER, "byte_length": 1, "sha256": "0" * 64}
    many = run.past + ended("A", 1, "cancelled")
    yield scenario(
        "RUN-005",
        "an outcome with too much evidence",
        refused(many.but(-1, outcome={"kind": "cancelled", "reason": "", "evidence": [reference] * 33})),
        accepted(many.but(-1, outcome={"kind": "cancelled", "reason": "", "evidence": [reference] * 32})),
    )
    yield scenario(
        "RUN-005",
        "a command with too long a reason",
        rejects(run.past, complete("A", 1, "cancelled", reason="x" * (_MAX_REASON + 1)), "over_limit"),
        gives(run.past, complete("A", 1, "cancelled"), "NodeOutcomeCommitted A cancelled"),
    )
    cancelled = Run("A").played(
        fact("CancellationRequested", requester="x", reason="x", now_ms=0, policy="cascade"),
    )
    yield scenario(
        "RUN-005",
        "a cancellation with too long a reason",
        refused(cancelled.but(3, reason="x" * (_MAX_REASON + 1)), 3),
        accepted(cancelled.but(3, reason="x" * _MAX_REASON)),
    )
    run = Run([node_of("A", signals=["go"])])
    run.start("A")
    run.wait("A", "go")
    accepts: Any = {"node": "A", "attempt_id": attempt(1), "name": "go", "signal_id": _LOWER}
    yield scenario(
        "RUN-005",
        "a payload that is too large",
        refused(run.past + fact("SignalAccepted", **accepts, payload="x" * (_MAX_INLINE - 1))),
        accepted(run.past + fact("SignalAccepted", **accepts, payload="x" * (_MAX_INLINE - 2))),
        rejects(run.past, deliver("A", 1, "go", payload="x" * (_MAX_INLINE - 1)), "over_limit"),
    )
    yield from _of_older_versions()
    yield from _of_records()


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def _of_older_versions() -> Iterator[Scenario]:
    run = Run("A", version=1)
    run.start("A")
    common: Any = {"node": "A", "attempt_id": attempt(1)}
    yield scenario(
        "RUN-005",
        "an output of version 1 that is too large",
        refused(run.past + fact("NodeSucceeded", **common, output="x" * (_MAX_INLINE - 1))),
        accepted(run.played(fact("NodeSucceeded", **common, output="x" * (_MAX_INLINE - 2)))),
    )
    for kind in ("NodeFailed", "NodeBlocked"):
        yield scenario(
            "RUN-005",
            f"a reason of {kind} that is too long",
            refused(run.past + fact(kind, **common, reason="x" * (_MAX_REASON + 1))),
            accepted(run.played(fact(kind, **common, reason="x" * _MAX_REASON))),
        )


def _of_records() -> Iterator[Scenario]:
    run = Run([child_node("C"), "A"], children=SUB)
    run.start("C")
    ends: Any = {"node": "C", "attempt_id": attempt(1), "child_run_id": child(1), "result": "completed"}
    most: Any = {"r": 1, "s": "x" * (_MAX_VALUE - len('{"r":1,"s":""}'))}
    yield scenario(
        "RUN-005",
        "an output of a child that is too large",
        refused(run.past + fact("ChildCompleted", **ends, output={**most, "s": most["s"] + "x"})),
        accepted(run.played(fact("ChildCompleted", **ends, output=most))),
    )
    most = {"x": "x" * (_MAX_VALUE - len('{"x":""}'))}
    begun = history(created(document("A", inputs=["x"]), input=most), ready("A"))
    yield scenario(
        "RUN-005",
        "an input of a run that is too large",
        refused(begun.but(1, input={"x": most["x"] + "x"}), 1),
        accepted(begun),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (ids_are_canonical, limits_are_kept)
