"""The rules that are finite functions, by tables, at their limits, and against definitions worked out otherwise."""

from __future__ import annotations

from itertools import product

import pytest
from tests.model.playing import RUN, Player, document, node, outcome, uuid

from perdure.kernel.commands import token_digest
from perdure.kernel.events import ChildResult
from perdure.kernel.identity import Name, NodeId, RunId
from perdure.kernel.outcomes import OutcomeKind
from perdure.kernel.queues import added
from perdure.kernel.rules import (
    Prospects,
    begins_at_once,
    child_outcome,
    closing,
    delay_ms,
    exceeds,
    fires,
    has_attempts,
    is_due,
    is_target,
    jitter_ms,
    later,
    may_retry,
    mismatch,
    outcome_seen,
    propagated,
    same_outcome,
    satisfied,
    share,
)
from perdure.kernel.specification import (
    ChildPolicy,
    DependencyPolicy,
    Exponential,
    Fixed,
    Immediate,
    Jitter,
    RetryPolicy,
)
from perdure.kernel.state import LIVE, STATUSES, TERMINAL, NodeState, Queued, SignalWait, Status, Tally
from perdure.kernel.values import MAX_SAFE_INTEGER

ATTEMPTS = (2, 3, 63, 64, 1023, 1024, 1075, 10**6)


@pytest.mark.parametrize(("initial", "multiplier", "maximum"), [
    (0, 2, 100), (1, 1, 100), (1, 2, 100), (3, 2, MAX_SAFE_INTEGER), (1, 10, 10**9),
    (1, 2, MAX_SAFE_INTEGER), (1, 3, 1), (7, 1, 5), (MAX_SAFE_INTEGER, 10, MAX_SAFE_INTEGER),
])  # fmt: skip
@pytest.mark.parametrize("next_attempt", ATTEMPTS)
def test_delays_are_exact_and_at_most_their_maximum(
    initial: int, multiplier: int, maximum: int, next_attempt: int
) -> None:
    backoff = Exponential(kind="exponential", initial_ms=initial, multiplier=multiplier, maximum_ms=maximum)
    grown = initial
    for _ in range(min(next_attempt - 2, 2_000)):
        grown = min(grown * multiplier, maximum + 1)
    assert delay_ms(backoff, next_attempt) == min(grown, maximum)


@pytest.mark.parametrize("next_attempt", ATTEMPTS)
def test_other_delays_do_not_grow(next_attempt: int) -> None:
    assert delay_ms(Immediate(kind="immediate"), next_attempt) == 0
    assert delay_ms(Fixed(kind="fixed", delay_ms=30), next_attempt) == 30


def test_times_saturate() -> None:
    assert later(1, 2) == 3
    assert later(MAX_SAFE_INTEGER - 1, 1) == later(MAX_SAFE_INTEGER, 1) == MAX_SAFE_INTEGER
    assert later(MAX_SAFE_INTEGER, MAX_SAFE_INTEGER) == MAX_SAFE_INTEGER
    assert [is_due(now, 5) for now in (4, 5, 6)] == [False, True, True]
    assert [exceeds(usage, 5) for usage in (4, 5, 6)] == [False, True, True]


def fnv_1a(data: bytes) -> int:
    """FNV-1a of 64 bits, as its authors tell it."""
    found = 14695981039346656037
    for octet in data:
        found = ((found ^ octet) * 1099511628211) % 2**64
    return found


@pytest.mark.parametrize("maximum", [0, 1, 9, 1_000, 2**32, MAX_SAFE_INTEGER])
@pytest.mark.parametrize(("seed", "name", "number"), [("", "A", 2), ("s", "A", 3), ("é", "B", 10), ("s", "B", 10**6)])
def test_jitter_is_a_digest_of_seed_run_node_and_attempt(maximum: int, seed: str, name: str, number: int) -> None:
    policy = RetryPolicy(jitter=Jitter(seed=seed, maximum_ms=maximum))
    expected = fnv_1a(seed.encode() + b"\0" + RUN.encode() + b"\0" + name.encode() + b"\0" + str(number).encode())
    assert jitter_ms(policy, RUN, NodeId(name), number) == expected % (maximum + 1) <= maximum
    assert jitter_ms(RetryPolicy(), RUN, NodeId(name), number) == 0


def test_the_digest_is_that_of_its_authors() -> None:
    assert [fnv_1a(text) for text in (b"", b"a", b"foobar")] == [
        0xCBF29CE484222325, 0xAF63DC4C8601EC8C, 0x85944171F73967E8,
    ]  # fmt: skip
    whole = RetryPolicy(jitter=Jitter(seed="s", maximum_ms=MAX_SAFE_INTEGER))
    different = {jitter_ms(whole, RunId(run), NodeId(name), number)
                 for run, name, number in product((RUN, uuid(2)), "AB", (2, 3))}  # fmt: skip
    assert len(different) == 8


CHILDREN: dict[ChildResult, tuple[OutcomeKind, OutcomeKind]] = {
    "completed": ("succeeded", "succeeded"),
    "failed": ("permanent_failure", "permanent_failure"),
    "blocked": ("blocked", "permanent_failure"),
    "cancelled": ("cancelled", "permanent_failure"),
}


@pytest.mark.parametrize(("result", "kinds"), CHILDREN.items())
def test_what_a_child_gives_its_node(result: ChildResult, kinds: tuple[OutcomeKind, OutcomeKind]) -> None:
    policies: tuple[ChildPolicy, ChildPolicy] = ("propagate", "require_success")
    assert tuple(child_outcome(policy, result) for policy in policies) == kinds


POLICIES: dict[DependencyPolicy, tuple[bool, ...]] = {
    "all_succeeded": (True, False, False, False),
    "any_succeeded": (True, True, False, True),
    "all_completed": (True, True, True, False),
}


@pytest.mark.parametrize(("policy", "expected"), POLICIES.items())
def test_when_dependencies_are_satisfied(policy: DependencyPolicy, expected: tuple[bool, ...]) -> None:
    tallies = [
        tally_of("succeeded", "succeeded"),
        tally_of("succeeded", "failed"),
        tally_of("skipped", "blocked"),
        tally_of("succeeded", "running"),
    ]
    assert tuple(satisfied(policy, 2, tally) for tally in tallies) == expected


def tally_of(*statuses: Status) -> Tally:
    total = Tally(unfinished=0)
    for status in statuses:
        total = total.plus(share(status, is_revivable=False))
    return total


def test_what_impossible_dependencies_make_of_a_node() -> None:
    assert propagated(tally_of("failed", "skipped")) == "skipped"
    assert propagated(tally_of("failed", "blocked")) == "blocked"
    assert propagated(tally_of("cancelled", "blocked")) == propagated(tally_of("cancelled", "failed")) == "cancelled"


@pytest.mark.parametrize("status", STATUSES)
def test_what_a_prerequisite_counts_as(status: Status) -> None:
    for is_revivable in (True, False):
        found = share(status, is_revivable=is_revivable)
        assert found.unfinished == (status not in TERMINAL)
        assert found.succeeded == (status == "succeeded")
        assert found.revivable == (is_revivable and status in {"failed", "blocked", "cancelled", "skipped"})
        assert found.plus(found).minus(found) == found


@pytest.mark.parametrize(("activations", "limit", "closed", "expected"), [
    (0, None, False, True), (9, None, False, True), (1, 2, False, True), (2, 2, False, False), (3, 2, False, False),
    (0, None, True, False), (1, 2, True, False),
])  # fmt: skip
def test_when_an_edge_fires(activations: int, limit: int | None, closed: bool, expected: bool) -> None:
    assert fires(NodeState(activations=activations, closed=closed), limit) == expected


@pytest.mark.parametrize("status", STATUSES)
def test_when_an_activation_begins_at_once(status: Status) -> None:
    assert begins_at_once(NodeState(status=status)) == (status not in LIVE)
    assert begins_at_once(NodeState(status=status, tally=Tally(unfinished=1), released=(2,))) == (status not in LIVE)
    assert not begins_at_once(NodeState(status=status, tally=Tally(unfinished=1)))
    assert not begins_at_once(NodeState(status=status, queue=added(None, Queued(2, 0))))


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("cold", "edges", "hope"), list(product((False, True), repeat=3)))
def test_how_a_node_is_closed(status: Status, cold: bool, edges: bool, hope: bool) -> None:
    for current in (
        NodeState(status=status),
        NodeState(status=status, queue=added(None, Queued(2, 0))),
        NodeState(status=status, tally=Tally(unfinished=0)),
        NodeState(status=status, tally=Tally(unfinished=0), released=(2,)),
    ):
        prospects = Prospects(is_cold=cold, has_edges=edges, is_satisfiable=hope)
        found = {version: closing(current, prospects, version) for version in (2, 3, 4, 5)}
        if status == "changes_requested":
            assert found == {2: None, 3: None, **dict.fromkeys((4, 5), "terminated" if cold else None)}
        elif status == "pending" and current.tally is not None and current.released is None:
            assert set(found.values()) == {None if hope else "propagated"}
        else:
            is_skipped = status == "pending" and cold and edges and current.queue is None
            assert set(found.values()) == {"skipped" if is_skipped else None}


def test_which_outcome_a_mapped_input_is_taken_from() -> None:
    assert outcome_seen(5, 3, 7) == outcome_seen(5, None, None) == 5
    assert outcome_seen(None, 3, 7) == 3
    assert outcome_seen(None, 0, 7) is None
    assert outcome_seen(None, None, 7) == 7
    assert outcome_seen(None, None, None) is None


def test_what_a_cancellation_has_to_reach() -> None:
    assert {status for status in STATUSES if is_target(NodeState(status=status))} == {"running", "waiting"}


def test_what_is_tried_again() -> None:
    named = RetryPolicy(max_attempts=3, classes=("retryable_failure", "permanent_failure"))
    plain = RetryPolicy(max_attempts=3)
    kinds: list[OutcomeKind] = ["retryable_failure", "permanent_failure", "blocked", "changes_requested", "succeeded"]
    assert [may_retry(plain, kind) for kind in kinds] == [True, False, False, False, False]
    assert [may_retry(named, kind) for kind in kinds] == [True, True, False, False, False]
    assert [has_attempts(plain, attempts) for attempts in (1, 2, 3)] == [True, True, False]


def test_outcomes_are_one_by_their_canonical_forms() -> None:
    assert same_outcome(outcome("succeeded", 1), outcome("succeeded", 1.0))
    assert not same_outcome(outcome("succeeded", 1), outcome("succeeded", True))
    assert not same_outcome(outcome("succeeded"), outcome("blocked"))


def test_a_delivery_fits_by_its_name_then_by_its_token() -> None:
    wait = SignalWait(Name("s"), token_digest("secret"), None)
    assert mismatch(wait, Name("s"), token_digest("secret")) is None
    assert mismatch(wait, Name("s"), token_digest("guess")) == "wrong_token"
    assert mismatch(wait, Name("t"), token_digest("guess")) == mismatch(wait, Name("t"), wait.token_sha256)
    assert mismatch(wait, Name("t"), wait.token_sha256) == "wrong_name"


def test_a_retry_is_scheduled_at_the_end_of_time() -> None:
    run = Player(document([node("A", retry={"backoff": {"kind": "fixed", "delay_ms": 10}})]))
    run.advance(MAX_SAFE_INTEGER - 5)
    assert run.run("A", "retryable_failure")[-1] == "RetryScheduled A"
    assert run.now.nodes[0].retry_ms == MAX_SAFE_INTEGER
    assert run.advance(MAX_SAFE_INTEGER) == ["VirtualTimeAdvanced", "RetryReleased A"]
