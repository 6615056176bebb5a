"""Versions: VER-001 to VER-012."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from perdure_conformance.reducer.histories import (
    NEWEST,
    acquired,
    advanced,
    attempt,
    complete,
    created,
    document,
    edge,
    ended,
    fact,
    history,
    node,
    ready,
    released,
    retry,
    run_is,
    start,
    started,
    terminated,
    waits_until,
)
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.scenario import (
    Scenario,
    accepted,
    gives,
    refused,
    rejects,
    scenario,
)

_SETTLE: Final = fact("Settle")


# What each version has


def types_belong_to_their_version() -> Iterator[Scenario]:
    """VER-001."""
    run = Run("AB")
    run.start("A")
    yield scenario(
        "VER-001",
        "an event of a type that nobody knows",
        refused(run.past + fact("NodePaused", node="A"), kind="incompatible"),
        accepted(run.past + acquired(1, 1)),
    )
    yield scenario(
        "VER-001",
        "an event of an unknown type in the middle",
        refused(run.past.plus(fact("NodePaused", node="A"), ended("A", 1)), -2, "incompatible"),
        accepted(run.past.plus(acquired(1, 1), ended("A", 1))),
    )
    succeeded = fact("NodeSucceeded", node="A", attempt_id=attempt(1))
    one = Run("AB", version=1)
    one.start("A")
    yield scenario(
        "VER-001",
        "an outcome in version 1",
        refused(one.past + ended("A", 1), kind="incompatible"),
        accepted(one.past + succeeded),
    )
    two = Run("AB", version=2)
    two.start("A")
    yield scenario(
        "VER-001",
        "a success of version 1 in version 2",
        refused(two.past + succeeded, kind="incompatible"),
        accepted(two.past + ended("A", 1)),
    )
    for version, event in ((3, advanced(5)), (4, waits_until("A", 1, 5)), (4, acquired(1, 1))):
        run = Run("AB", version=version)
        run.start("A")
        yield scenario(
            "VER-001",
            f"{event['type']} in version {version}",
            refused(run.past + event, kind="incompatible"),
            accepted(run.past.on(version + 1) + event),
        )


def members_belong_to_their_version() -> Iterator[Scenario]:
    """VER-002."""
    run = Run("AB")
    right = run.past + started("A", 1)
    yield scenario(
        "VER-002",
        "a member of an event that nobody knows",
        refused(right.but(-1, worker="w"), kind="incompatible"),
        accepted(right),
    )
    for name, wrong in (
        ("a number as text", {"attempt": "1"}),
        ("a number as a truth value", {"attempt": True}),
        ("a fraction", {"attempt": 1.5}),
        ("zero", {"attempt": 0}),
        ("a name that is null", {"node": None}),
        ("none that is required", {"attempt": ...}),
    ):
        yield scenario(
            "VER-002",
            f"a member of an event: {name}",
            refused(right.but(-1, **wrong)),
            accepted(right),
        )
    begun = history(created(document("A", version=3)), ready("A"), version=3)
    yield scenario(
        "VER-002",
        "members that are absent have their defaults",
        refused(begun.but(1, input=[], ancestors={}), 1),
        accepted(begun),
        accepted(begun.but(1, input={}, ancestors=[])),
    )
    older = history(created(document("A", version=2)), ready("A"), version=2)
    yield scenario(
        "VER-002",
        "members of a creation in version 3 and before",
        refused(older.but(1, input={}), 1, "incompatible"),
        refused(older.but(1, ancestors=[]), 1, "incompatible"),
        accepted(older),
    )
    deadline = {"retry": {"attempt_deadline_ms": 5}}
    newer = Run([node("A", **deadline)], version=4)
    three = Run("A", version=3)
    yield scenario(
        "VER-002",
        "the deadline of an attempt in version 4 and before",
        refused(three.past + started("A", 1, deadline_ms=5), kind="incompatible"),
        accepted(newer.past + started("A", 1, deadline_ms=5)),
        accepted(three.past + started("A", 1)),
    )
    outcome: Any = {"kind": "succeeded", "output": 1}
    done = right + ended("A", 1)
    yield scenario(
        "VER-002",
        "members of an outcome",
        refused(done.but(-1, outcome={**outcome, "worker": "w"}), kind="incompatible"),
        refused(done.but(-1, outcome={"kind": "done"})),
        refused(done.but(-1, outcome={"kind": "blocked"})),
        accepted(done.but(-1, outcome=outcome)),
    )


def versions_are_known() -> Iterator[Scenario]:
    """VER-003."""
    run = Run("A")
    for version in (-1, 0, 6, 2**53 - 1):
        yield scenario(
            "VER-003",
            f"an event of version {version}",
            refused(run.past.on(version) + started("A", 1), kind="incompatible"),
            accepted(run.past + started("A", 1)),
        )
    begun = run.past
    yield scenario(
        "VER-003",
        "a history that begins in version 6",
        refused(begun.recorded_in(6, 1).recorded_in(6, 2), 1, "incompatible"),
        accepted(begun),
    )


def versions_only_go_up() -> Iterator[Scenario]:
    """VER-004."""
    run = Run("AB", version=2)
    run.goes_on(3)
    run.start("A")
    yield scenario(
        "VER-004",
        "a version that is lower than the one before",
        refused(run.past.on(2) + ended("A", 1)),
        accepted(run.past + ended("A", 1)),
    )
    for version in (3, 4):
        begun = Run("AB", version=version).past
        yield scenario(
            "VER-004",
            f"a version that is higher than {version} inside a batch",
            refused(begun.recorded_in(version + 1, 2).recorded_in(version + 1, 3), 2),
            accepted(begun.on(version + 1) + started("A", 1)),
        )


def documents_are_no_newer_than_their_run() -> Iterator[Scenario]:
    """VER-005."""
    for version in (1, 2, 3, 4):
        newer, same = (
            history(created(document("A", version=each)), ready("A"), version=version)
            for each in (version + 1, version)
        )
        yield scenario(
            "VER-005",
            f"a document of version {version + 1} in a history of version {version}",
            refused(newer, 1),
            accepted(same),
        )
    yield scenario(
        "VER-005",
        "a document of version 1 in a history of version 5",
        refused(history(created(document("A", version=2)), ready("A"), version=1), 1),
        accepted(history(created(document("A", version=1)), ready("A"))),
    )


def the_newest_version_is_written() -> Iterator[Scenario]:
    """VER-006."""
    for version in (1, 2, 3, 4):
        run = Run("AB", version=version)
        run.start("A")
        yield scenario(
            "VER-006",
            f"a command after a history of version {version}",
            gives(run.past, start("B", 2), "NodeStarted B"),
            gives(run.past, complete("A", 1), "NodeOutcomeCommitted A succeeded"),
        )


# The rules of each version


def events_keep_the_rules_of_their_version() -> Iterator[Scenario]:
    """VER-007."""
    run = Run(["A", "B", node("C", "A")], version=1)
    run.start("A")
    run.end("A")
    yield scenario(
        "VER-007",
        "a success of version 1, and what follows in version 5",
        refused(run.past.on(NEWEST) + fact("NodeSucceeded", node="A", attempt_id=attempt(1)), kind="incompatible"),
        accepted(run.past, {"/nodes/A/status": "succeeded", "/nodes/C/status": "ready"}),
        accepted(run.past.on(NEWEST) + started("C", 2), {"/nodes/A/status": "succeeded", "/nodes/C/status": "running"}),
    )
    for kind, of, result in (("NodeFailed", "permanent_failure", "failed"), ("NodeBlocked", "blocked", "blocked")):
        run = Run("A", version=1)
        run.start("A")
        run.end("A", of)
        yield scenario(
            "VER-007",
            f"{kind} of version 1",
            refused(run.past.instead(-1, run_is("failed" if result == "blocked" else "blocked"))),
            accepted(run.past, {"/nodes/A/status": result, "/outcomes/4/kind": of}),
        )
    run = Run("AB", version=3)
    run.run("A", "retryable_failure")
    yield scenario(
        "VER-007",
        "a failure of version 3 is followed by what version 3 owes, in version 5 too",
        refused(run.past.plus(retry("A", 2, 0)), kind="incompatible"),
        accepted(run.past.on(NEWEST) + started("B", 2)),
    )


def version_1_ends_at_once() -> Iterator[Scenario]:
    """VER-008."""
    for kind, of, result in (("fails", "permanent_failure", "failed"), ("is blocked", "blocked", "blocked")):
        run = Run("AB", version=1)
        run.start("A")
        run.start("B")
        run.end("A", of)
        yield scenario(
            "VER-008",
            f"version 1: a node {kind} while another one is running",
            refused(run.past.until(-1) + fact("NodeSucceeded", node="B", attempt_id=attempt(2))),
            refused(run.past.until(-1) + run_is("completed")),
            accepted(run.past, {"/status": result, "/nodes/B/status": "running"}),
        )
    run = Run("AB", version=1)
    run.run("A")
    yield scenario(
        "VER-008",
        "version 1: a run is completed by its last success",
        refused(run.past + run_is("completed")),
        accepted(run.past.plus(started("B", 2), _succeeded("B", 2), run_is("completed"))),
    )
    run = Run(["A", node("B", "A")], version=1)
    run.run("A", "permanent_failure")
    yield scenario(
        "VER-008",
        "version 1: a dependent of a failed node is not closed",
        refused(run.past.instead(-1, run_is("completed"))),
        accepted(run.past, {"/nodes/B/status": "pending"}),
    )


def _succeeded(name: str, number: int) -> Any:
    return fact("NodeSucceeded", node=name, attempt_id=attempt(number))


def version_1_is_cancelled_by_one_event() -> Iterator[Scenario]:
    """VER-009."""
    for version in (2, 5):
        one, other = Run("AB", version=1), Run("AB", version=version)
        for run in (one, other):
            run.start("A")
        yield scenario(
            "VER-009",
            f"a run is cancelled by its run fact alone in version {version}",
            refused(other.past + run_is("cancelled")),
            accepted(
                one.past + run_is("cancelled"),
                {"/status": "cancelled", "/nodes/A/status": "running", "/nodes/B/status": "ready"},
            ),
        )
    run = Run("AB", version=1)
    yield scenario(
        "VER-009",
        "version 1: a run is cancelled while something is owed",
        refused(run.past.until(2) + run_is("cancelled")),
        accepted(run.past + run_is("cancelled")),
    )


def failures_are_left_by_older_versions() -> Iterator[Scenario]:
    """VER-010."""
    for version in (2, 3):
        run = Run(["A", "B", node("C", "A", dependency_policy="all_completed")], version=version)
        run.run("A", "retryable_failure")
        yield scenario(
            "VER-010",
            f"version {version}: a retryable failure is not the end of its node",
            refused(run.past + ready("C", "dependencies")),
            accepted(run.past, {"/nodes/A/status": "retry_pending", "/nodes/A/retry_ms": None}),
        )
        run = Run("A", version=version)
        run.run("A", "retryable_failure")
        yield scenario(
            "VER-010",
            f"version {version}: a retryable failure does not end the run",
            refused(run.past + run_is("failed")),
            accepted(run.past, {"/status": "running"}),
        )
        run = Run("A", version=version)
        run.run("A", "changes_requested")
        yield scenario(
            "VER-010",
            f"version {version}: changes that are requested do not end the run",
            refused(run.past + run_is("failed")),
            accepted(run.past, {"/nodes/A/status": "changes_requested", "/status": "running"}),
        )
    run = Run("AB", [edge("A>B", "retryable_failure")], version=3)
    run.start("A")
    past = run.past + ended("A", 1, "retryable_failure")
    yield scenario(
        "VER-010",
        "version 3: a retryable failure fires no edge",
        refused(past + fact("TransitionActivated", edge=0, source="A", source_sequence=4)),
        accepted(past, {"/nodes/B/status": "pending"}),
    )


def settling_gives_what_is_owed() -> Iterator[Scenario]:
    """VER-011."""
    run = Run("ABC", version=3)
    for name in "BA":
        run.run(name, "retryable_failure")
    settled = run.fork()
    settled.goes_on(NEWEST)
    settled.settle()
    retries = ("RetryScheduled A", "RetryReleased A", "RetryScheduled B", "RetryReleased B")
    yield scenario(
        "VER-011",
        "retries of an older version, in specification order",
        refused(run.past.on(NEWEST).plus(retry("B", 2, 0))),
        accepted(settled.past, {"/nodes/A/status": "ready", "/nodes/B/status": "ready"}),
        gives(run.past, _SETTLE, *retries),
    )
    yield scenario(
        "VER-011",
        "what is settled is owed to its end",
        refused(settled.past.until(-1) + started("C", 3)),
        refused(settled.past.until(-2) + started("C", 3)),
        accepted(settled.past + started("C", 3)),
    )
    yield scenario(
        "VER-011",
        "a command is allowed before an older history is settled",
        refused(run.past.on(NEWEST) + released("A", 2)),
        accepted(run.past.on(NEWEST) + started("C", 3)),
    )
    started_first = run.past.on(NEWEST) + started("C", 3)
    yield scenario(
        "VER-011",
        "another command comes before it is settled",
        refused(started_first + released("A", 2)),
        accepted(started_first.plus(retry("A", 2, 0), released("A", 2), retry("B", 2, 0), released("B", 2))),
    )
    run = Run(["A", node("B", "A")], version=3)
    run.run("A", "changes_requested")
    settled = run.fork()
    settled.goes_on(NEWEST)
    settled.settle()
    yield scenario(
        "VER-011",
        "changes that an older version left are terminated, and the run ends",
        refused(run.past.on(4).plus(terminated("A"), run_is("failed"))),
        accepted(settled.past, {"/status": "failed", "/nodes/B/status": "skipped"}),
        gives(run.past, _SETTLE, "NodeTerminated A no_correction", "NodeOutcomeCommitted B skipped", "RunFailed"),
    )
    run, left = Run("A"), Run("A", version=2)
    left.run("A", "retryable_failure")
    yield scenario(
        "VER-011",
        "there is nothing to settle",
        rejects(run.past, _SETTLE, "no_effect"),
        gives(left.past, _SETTLE, "RetryScheduled A", "RetryReleased A"),
    )


def defaults_hold_for_older_documents() -> Iterator[Scenario]:
    """VER-012."""
    run = Run("A", version=3)
    run.goes_on(NEWEST)
    run.start("A")
    past = run.played(ended("A", 1, "retryable_failure"))
    yield scenario(
        "VER-012",
        "a failure of a node of an older document is retried at once",
        refused(past.until(-2).plus(run_is("failed"))),
        accepted(past),
    )
    for _ in range(2):
        run.end("A", "retryable_failure")
        run.start("A")
    past = run.played(ended("A", 3, "retryable_failure"))
    yield scenario(
        "VER-012",
        "a node of an older document has three attempts",
        refused(past.until(-2).plus(retry("A", 4, 0))),
        refused(past.but(-2, limit=4), -2),
        accepted(past),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    types_belong_to_their_version,
    members_belong_to_their_version,
    versions_are_known,
    versions_only_go_up,
    documents_are_no_newer_than_their_run,
    the_newest_version_is_written,
    events_keep_the_rules_of_their_version,
    version_1_ends_at_once,
    version_1_is_cancelled_by_one_event,
    failures_are_left_by_older_versions,
    settling_gives_what_is_owed,
    defaults_hold_for_older_documents,
)
