"""Snapshots of a run, SNP-010 to SNP-022: each right one, and with one thing that is wrong.

A snapshot that must be discarded says that it is a millisecond later than it was: whoever believes it says so too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from perdure.kernel.values import digest
from perdure_conformance.reducer.histories import History, node, owner, run_id
from perdure_conformance.reducer.kept import GONE, Kept, event_id, kept
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.records import ALONE, LAST, OTHER_RUN, OUTCOME, a_run
from perdure_conformance.reducer.scenarios.scenario import Scenario, Side, refuses, restores, scenario
from perdure_conformance.reducer.shorter import batches_of

AFTER: Final = 4
"""The last record that a snapshot of the run includes; three batches follow."""
LATER: Final = {"now_ms": 6}
"""What a state says that is a millisecond ahead."""


def _right() -> Kept:
    return kept(a_run().past)


def _borders(past: History) -> list[int]:
    whole, _ = batches_of(past.entries)
    return [sum(map(len, whole[: number + 1])) for number in range(len(whole))]


def _at_each_border(past: History) -> tuple[Side, ...]:
    right = kept(past)
    return (restores(right), *(restores(right.taken(border)) for border in _borders(past)))


def snapshot_and_tail_are_the_whole_history() -> Iterator[Scenario]:
    """SNP-010."""
    yield scenario("SNP-010", "a snapshot at each border of a short run", *_at_each_border(a_run().past))
    run = Run([node("A", signals=["go", "stop"])])
    run.start("A")
    run.wait("A", "go")
    run.reject("A")
    run.accept("A", "go", payload={"x": "a\0b"})
    run.wait("A", "stop")
    yield scenario("SNP-010", "a snapshot at each border of a run with signals", *_at_each_border(run.past))
    retry = {"max_attempts": 3, "backoff": {"kind": "fixed", "delay_ms": 4}}
    run = Run([node("A", retry=retry), "B"], ["A>B", "B>B"], initial_nodes=["A"])
    run.run("A", "retryable_failure")
    run.advance(4)
    run.run("A")
    run.run("B")
    run.start("B")
    yield scenario("SNP-010", "a snapshot at each border of a run with a retry and a loop", *_at_each_border(run.past))
    run = Run("AB")
    run.run("A")
    run.cancel()
    yield scenario("SNP-010", "a snapshot at each border of a run that was cancelled", *_at_each_border(run.past))


def versions_are_known() -> Iterator[Scenario]:
    """SNP-011."""
    right = _right()
    yield scenario(
        "SNP-011",
        "a snapshot in another version",
        restores(right.taken(AFTER)),
        restores(right.taken(AFTER, LATER, snapshot_schema_version=2)),
        restores(right.taken(AFTER, LATER, snapshot_schema_version=0)),
        restores(right.taken(LAST, LATER, snapshot_schema_version=2)),
        restores(right.taken(AFTER, LATER, snapshot_schema_version=GONE)),
    )


def snapshots_are_strict() -> Iterator[Scenario]:
    """SNP-012."""
    right = _right()
    later = right.taken(AFTER, LATER)
    yield scenario(
        "SNP-012",
        "a snapshot in other bytes",
        restores(right.taken(AFTER)),
        restores(later.snapshot_saying(lambda body: body.replace('"run_id":', '"run_id": ', 1))),
        restores(later.snapshot_saying(lambda body: body + "\n")),
        restores(later.snapshot_saying(lambda body: body.replace("{", '{"sequence":4,', 1))),
    )
    yield scenario(
        "SNP-012",
        "a snapshot with a member more or less",
        restores(right.taken(AFTER)),
        restores(right.taken(AFTER, LATER, note="x")),
        restores(right.taken(AFTER, LATER, event_id=GONE)),
        restores(right.taken(AFTER, LATER, record_checksum=GONE)),
        restores(right.taken(AFTER, LATER, sequence=str(AFTER))),
    )


def states_have_their_checksum() -> Iterator[Scenario]:
    """SNP-013."""
    right = _right()
    yield scenario(
        "SNP-013",
        "a snapshot with the checksum of another state",
        restores(right.taken(AFTER)),
        restores(right.taken(AFTER, LATER, state_checksum=digest({}))),
        restores(right.taken(AFTER).snapshot_saying(lambda body: body.replace('"now_ms":5', '"now_ms":6'))),
        restores(right.taken(LAST).snapshot_saying(lambda body: body.replace('"now_ms":5', '"now_ms":6'))),
    )


def snapshots_are_of_their_run() -> Iterator[Scenario]:
    """SNP-014."""
    right = _right()
    yield scenario(
        "SNP-014",
        "a snapshot of another run",
        restores(right.taken(AFTER)),
        restores(right.taken(AFTER, LATER, run_id=OTHER_RUN)),
        restores(right.taken(LAST, LATER, run_id=run_id(3))),
    )


def snapshots_are_at_their_place() -> Iterator[Scenario]:
    """SNP-015."""
    right = _right()
    yield scenario(
        "SNP-015",
        "a snapshot under another sequence",
        restores(right.taken(AFTER)),
        restores(right.taken(AFTER, LATER).keeps_snapshot(LAST)),
        restores(right.taken(LAST, LATER).keeps_snapshot(AFTER)),
        restores(right.taken(AFTER, LATER).keeps_snapshot(AFTER - 1)),
    )
    yield scenario(
        "SNP-015",
        "a snapshot of a history whose end was lost",
        restores(right.taken(ALONE).until(OUTCOME + 1), OUTCOME + 1),
        restores(right.taken(LAST).until(AFTER), AFTER),
        restores(right.taken(AFTER).until(AFTER), AFTER),
        restores(right.taken(AFTER, {"sequence": 99}, sequence=99).keeps_snapshot(99)),
    )


def snapshots_are_of_their_record() -> Iterator[Scenario]:
    """SNP-016 to SNP-018."""
    right = _right()
    found = {
        "SNP-016": ("event", "event_id", event_id(99), right.record(ALONE)["event_id"]),
        "SNP-017": ("record", "record_checksum", digest({}), right.record(ALONE)["checksum"]),
        "SNP-018": ("specification", "content_hash", digest({}), digest({"nodes": []})),
    }
    for requirement, (noun, member, other, another) in found.items():
        yield scenario(
            requirement,
            f"a snapshot that says another {noun}",
            restores(right.taken(AFTER)),
            restores(right.taken(AFTER, LATER, **{member: other})),
            restores(right.taken(LAST, LATER, **{member: another})),
        )
    rewritten = kept(a_run().past.but(ALONE, owner=owner(2)))
    yield scenario(
        "SNP-017",
        "a snapshot of a history whose last record was written anew",
        restores(rewritten.taken(ALONE)),
        restores(replace(rewritten, snapshot=right.taken(ALONE).snapshot)),
    )


def snapshots_are_between_batches() -> Iterator[Scenario]:
    """SNP-019."""
    right = _right()
    yield scenario(
        "SNP-019",
        "a snapshot inside a batch",
        restores(right.taken(OUTCOME + 1)),
        restores(_tied_to(right, OUTCOME + 1, OUTCOME)),
        restores(_tied_to(right, 2, 1)),
    )


def _tied_to(found: Kept, after: int, inside: int) -> Kept:
    """Return it with the snapshot after a batch, a millisecond ahead, tied to a record in the middle of it."""
    record = found.record(inside)
    now_ms = 6 if after > 2 else 1
    members = {"sequence": inside, "event_id": record["event_id"], "record_checksum": record["checksum"]}
    return found.taken(after, {"now_ms": now_ms, "sequence": inside}, **members).keeps_snapshot(inside)


def states_are_those_of_their_records() -> Iterator[Scenario]:
    """SNP-020."""
    right = _right()
    yield scenario(
        "SNP-020",
        "a snapshot with a state that nobody can read",
        restores(right.taken(AFTER)),
        restores(right.taken(AFTER, {**LATER, "state_schema_version": 3})),
        restores(right.taken(AFTER, {**LATER, "state_schema_version": 1})),
        restores(right.taken(AFTER, {**LATER, "note": "x"})),
        restores(right.taken(AFTER, {"nodes": {}})),
        restores(right.taken(LAST, {"status": "completed"})),
    )
    run = Run("AB", inputs=["ticket"], creation={"input": {"ticket": 1}, "ancestors": [OTHER_RUN]})
    run.run("A")
    with_input = kept(run.past)
    yield scenario(
        "SNP-020",
        "a snapshot with a state that says something else than its records",
        restores(with_input.taken(len(with_input))),
        restores(with_input.taken(len(with_input), {"input": {"ticket": 2}})),
        restores(with_input.taken(3, {"ancestors": [run_id(7)]})),
        restores(with_input.taken(3, {"ancestors": GONE})),
        restores(right.taken(AFTER, {**LATER, "run_id": OTHER_RUN})),
        restores(right.taken(AFTER, {**LATER, "sequence": AFTER - 1})),
    )


def nothing_about_a_snapshot_is_fatal() -> Iterator[Scenario]:
    """SNP-021."""
    right = _right()
    yield scenario(
        "SNP-021",
        "what is no snapshot at all",
        restores(right.taken(AFTER)),
        *(restores(right.keeping(body, AFTER)) for body in ("", "{", "null", "{}", "[" * 200, '"\\ud800"')),
        restores(right.taken(AFTER, snapshot_schema_version=2)),
    )
    run = Run([node("A", signals=["go", "stop"])])
    run.start("A")
    run.wait("A", "go")
    before = kept(run.past)
    other = before.but(len(before), event={**before.record(len(before))["event"], "name": "stop"})
    found = other.taken(len(other)).snapshot
    run.accept("A", "go")
    past = kept(run.past)
    record = past.record(len(before))
    assert found is not None
    hidden = past.keeping(found.body, len(before)).snapshot_saying(
        lambda body: body.replace(other.record(len(other))["checksum"], record["checksum"])
    )
    yield scenario(
        "SNP-021",
        "a snapshot that does not fit what follows",
        restores(past.taken(len(before))),
        restores(hidden),
    )


def no_snapshot_hides_anything() -> Iterator[Scenario]:
    """SNP-022."""
    right = _right()
    ended = right.taken(LAST)
    yield scenario(
        "SNP-022",
        "a wrong record before a snapshot",
        refuses(ended.saying(3, lambda body: body.replace('"now_ms":5', '"now_ms":4')), 3),
        refuses(ended.saying(ALONE, lambda body: body.replace('"epoch":1', '"epoch":2')), ALONE),
        refuses(ended.saying(LAST, lambda body: body.replace('"attempt":1', '"attempt":2')), LAST),
        refuses(ended.saying(1, lambda body: body.replace('"workflow_version":1', '"workflow_version":2')), 1),
        restores(ended),
    )
    earlier = right.taken(ALONE)
    yield scenario(
        "SNP-022",
        "a wrong record before or after an earlier snapshot",
        refuses(earlier.saying(3, lambda body: body.replace('"now_ms":5', '"now_ms":4')), 3),
        refuses(earlier.saying(LAST, lambda body: body.replace('"attempt":1', '"attempt":2')), LAST),
        restores(earlier),
    )


SCENARIOS: Final = (
    snapshot_and_tail_are_the_whole_history,
    versions_are_known,
    snapshots_are_strict,
    states_have_their_checksum,
    snapshots_are_of_their_run,
    snapshots_are_at_their_place,
    snapshots_are_of_their_record,
    snapshots_are_between_batches,
    states_are_those_of_their_records,
    nothing_about_a_snapshot_is_fatal,
    no_snapshot_hides_anything,
)
