"""The rules that are finite functions: each is one table or one small pure function, and stands here once.

The reducer, the documentation's diagrams, the proofs and the generators use the same ones. `Rules` holds them all, so
that one of them can be replaced, and what depends on it be seen.

Source: ADR-0032, "State model", "Typed outcomes and dependency policies"; `docs/spec/kernel.md`.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, assert_never

import msgspec

from perdure.kernel.events import (
    ChildResult,
    ChildStarted,
    Event,
    Mismatch,
    NodeReady,
    NodeStarted,
    RetryReleased,
    RetryScheduled,
    TransitionActivated,
)
from perdure.kernel.identity import Name, NodeId, RunId
from perdure.kernel.outcomes import Outcome, OutcomeKind
from perdure.kernel.predicates import Predicate, matches
from perdure.kernel.specification import (
    Backoff,
    ChildPolicy,
    DependencyPolicy,
    Exponential,
    Fixed,
    Immediate,
    Node,
    RetryPolicy,
)
from perdure.kernel.state import ACTIVE, LIVE, TERMINAL, NodeState, RunStatus, SignalWait, Status, Tally
from perdure.kernel.values import MAX_SAFE_INTEGER, Digest, JsonValue, canonical_json

DIAGRAM: Final = "ADR-0032, State model"


@dataclass(frozen=True, slots=True)
class Move:
    """A change of a node's status that may happen: by which events, and where that is said."""

    source: Status
    target: Status
    events: tuple[str, ...]
    origin: str


_OUTCOME = ("NodeOutcomeCommitted",)
_BEGINS = ("TransitionActivated", "NodeReady")

NODE_TABLE: Final = (
    Move("pending", "ready", ("NodeReady", "TransitionActivated"), DIAGRAM),
    Move("pending", "skipped", _OUTCOME, DIAGRAM),
    Move("pending", "cancelled", _OUTCOME, DIAGRAM),
    Move("ready", "running", ("NodeStarted", "ChildStarted"), DIAGRAM),
    Move("ready", "cancelled", _OUTCOME, DIAGRAM),
    Move("running", "waiting", ("SignalWaitOpened", "TimerWaitOpened"), DIAGRAM),
    Move("running", "succeeded", _OUTCOME, DIAGRAM),
    Move("running", "retry_pending", _OUTCOME, DIAGRAM),
    Move("running", "changes_requested", _OUTCOME, DIAGRAM),
    Move("running", "failed", _OUTCOME, DIAGRAM),
    Move("running", "blocked", _OUTCOME, DIAGRAM),
    Move("running", "cancelled", _OUTCOME, DIAGRAM),
    Move("waiting", "running", ("SignalAccepted",), DIAGRAM),
    Move("waiting", "retry_pending", _OUTCOME, DIAGRAM),
    Move("waiting", "failed", _OUTCOME, DIAGRAM),
    Move("waiting", "cancelled", _OUTCOME, DIAGRAM),
    Move("retry_pending", "ready", ("RetryReleased",), DIAGRAM),
    Move("changes_requested", "ready", _BEGINS, DIAGRAM),
    Move("pending", "blocked", _OUTCOME, "amendment: propagation"),
    Move("waiting", "running", ("TimerFired",), "amendment: timer wait"),
    Move("retry_pending", "cancelled", _OUTCOME, "amendment: cascade"),
    Move("changes_requested", "cancelled", _OUTCOME, "amendment: cascade"),
    Move("changes_requested", "failed", ("NodeTerminated",), "amendment: no correction left"),
    Move("succeeded", "ready", _BEGINS, "amendment: a new activation"),
    Move("failed", "ready", _BEGINS, "amendment: a new activation"),
    Move("blocked", "ready", _BEGINS, "amendment: a new activation"),
    Move("cancelled", "ready", _BEGINS, "amendment: a new activation"),
)

STATUS_AFTER: Final[Mapping[OutcomeKind, Status]] = {
    "succeeded": "succeeded",
    "changes_requested": "changes_requested",
    "retryable_failure": "failed",
    "permanent_failure": "failed",
    "blocked": "blocked",
    "cancelled": "cancelled",
    "skipped": "skipped",
}
"""The status of a node after an outcome that is not retried."""

Precedence = tuple[tuple[Status, RunStatus], ...]

RESULT_PRECEDENCE: Final[Precedence] = (("failed", "failed"), ("blocked", "blocked"), ("cancelled", "cancelled"))
"""The first status that a node of the run has tells how the run ends; if none has any, it is completed."""

Charged = Literal["attempts", "transitions"]
DueKind = Literal["elapsed", "attempt", "signal_wait", "timer", "retry"]

DUE_ORDER: Final[tuple[DueKind, ...]] = ("elapsed", "attempt", "signal_wait", "timer", "retry")
"""What comes first of what is due at one time."""

_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
_LARGEST_EXPONENT: Final = 53

GOES_ON_FROM: Final = 2
"""The version from which a run goes on when a node has failed (DEP-009, VER-008)."""
RETRIES_FROM: Final = 4
"""The version from which attempts are retried, and nodes terminated: before, there are no events for it (VER-010)."""
BUDGETS_FROM: Final = 4
"""The version from which budgets and deadlines hold (VER-012)."""

Closing = Literal["skipped", "terminated", "propagated"]
"""What becomes of a node from which nothing more can come; what is propagated, `propagated` says."""


@dataclass(frozen=True, slots=True)
class Prospects:
    """What may yet come to a node."""

    is_cold: bool
    """Nothing live reaches it."""
    has_edges: bool
    """Edges lead to it."""
    is_satisfiable: bool
    """Its policy is satisfied, or may yet be."""


Fate = Literal["retried", "exhausted", "left", "ended"]
"""What an outcome comes to: another attempt; the end, for want of attempts; Settle's business; or just the end."""


def satisfied(policy: DependencyPolicy, prerequisites: int, tally: Tally) -> bool:
    """Tell whether a dependency policy is satisfied (DEP-001, DEP-002, DEP-003)."""
    match policy:
        case "all_succeeded":
            return tally.succeeded == prerequisites
        case "all_completed":
            return tally.unfinished == 0
        case "any_succeeded":
            return tally.succeeded > 0
        case _:
            assert_never(policy)


def is_satisfiable(policy: DependencyPolicy, prerequisites: int, tally: Tally, rules: Rules, *, is_cold: bool) -> bool:
    """Tell whether a policy is satisfied or may yet be; it is impossible once it is neither (DEP-010).

    What is cold, no edge activates: no prerequisite ends again.
    """
    may_end = tally.unfinished or (tally.revivable and not is_cold)
    return bool(may_end) or rules.satisfied(policy, prerequisites, tally)


def propagated(tally: Tally) -> OutcomeKind:
    """Return what becomes of a node whose policy cannot be satisfied any more (DEP-011)."""
    if tally.cancelled:
        return "cancelled"
    return "blocked" if tally.blocked else "skipped"


def share(status: Status, *, is_revivable: bool) -> Tally:
    """Return what one prerequisite adds to a tally."""
    return Tally(
        unfinished=int(status not in TERMINAL),
        succeeded=int(status == "succeeded"),
        cancelled=int(status == "cancelled"),
        blocked=int(status == "blocked"),
        revivable=int(is_revivable and status in TERMINAL and status != "succeeded"),
    )


def result(precedence: Precedence, statuses: Mapping[Status, int]) -> RunStatus:
    """Return how a run ends, by how many of its nodes have each status (RUN-024)."""
    return next((ending for status, ending in precedence if statuses.get(status, 0)), "completed")


def policy_of(node: Node) -> RetryPolicy:
    """Return the retry policy of a node: its own, or the safe default."""
    return node.retry if node.retry is not None else RetryPolicy()


def may_retry(policy: RetryPolicy, kind: OutcomeKind) -> bool:
    """Tell whether an outcome is of a class that is tried again (RTY-001)."""
    return kind == "retryable_failure" or (kind == "permanent_failure" and kind in policy.classes)


def has_attempts(policy: RetryPolicy, attempts: int) -> bool:
    """Tell whether one more attempt is allowed after so many of the activation (RTY-001)."""
    return attempts < policy.max_attempts


def delay_ms(backoff: Backoff, next_attempt: int) -> int:
    """Return the delay before an attempt, without jitter; nothing overflows (RTY-005)."""
    match backoff:
        case Immediate():
            return 0
        case Fixed(delay_ms=delay):
            return delay
        case Exponential(initial_ms=initial, multiplier=multiplier, maximum_ms=maximum):
            # Two to this power is more than any maximum: the exponent need not grow further.
            grown: int = initial * multiplier ** min(next_attempt - 2, _LARGEST_EXPONENT)
            return min(grown, maximum)
        case _:
            assert_never(backoff)


def jitter_ms(policy: RetryPolicy, run_id: RunId, node: NodeId, next_attempt: int) -> int:
    """Return what is added to a delay (RTY-007)."""
    if policy.jitter is None:
        return 0
    text = "\0".join((policy.jitter.seed, run_id, node, str(next_attempt)))
    return within(fnv_1a(text.encode()), policy.jitter.maximum_ms)


def fnv_1a(text: bytes) -> int:
    """Return a number of 64 bits that tells texts apart: FNV-1a."""
    value = _FNV_OFFSET
    for byte in text:
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return value


def within(value: int, most: int) -> int:
    """Return a number from 0 to the most that is allowed, by another one."""
    return value % (most + 1)


def later(now_ms: int, delay: int) -> int:
    """Return the time after a delay; it saturates (TIM-011)."""
    return min(now_ms + delay, MAX_SAFE_INTEGER)


def is_due(now_ms: int, deadline_ms: int) -> bool:
    """Tell whether a time has come."""
    return now_ms >= deadline_ms


def exceeds(usage: int, limit: int) -> bool:
    """Tell whether one more would exceed a limit (BUD-003)."""
    return usage >= limit


def charge(event: Event) -> Charged | None:
    """Return the budget that an event consumes one of (BUD-001, BUD-002)."""
    match event:
        case NodeStarted() | ChildStarted():
            return "attempts"
        case NodeReady(cause=cause):
            return None if cause == "queued" else "transitions"
        case TransitionActivated() | RetryScheduled() | RetryReleased():
            return "transitions"
        case _:
            return None


def fires(target: NodeState, limit: int | None) -> bool:
    """Tell whether an edge into a node fires: not if it is closed (EDG-014), or has had all activations (EDG-015)."""
    return not target.closed and (limit is None or target.activations < limit)


def begins_at_once(target: NodeState) -> bool:
    """Tell whether an activation by an edge begins at once, or waits for its turn (EDG-011)."""
    return target.status not in LIVE and is_released(target) and target.queue is None


def is_released(node: NodeState) -> bool:
    """Tell whether a node's dependencies allow it to run: it has none, or they were satisfied once."""
    return node.tally is None or node.released is not None


def closing(node: NodeState, prospects: Prospects, version: int) -> Closing | None:
    """Return how a node is closed now; None if it is not to be (DEP-010, EDG-016, EDG-017, RUN-022)."""
    match node.status:
        case "changes_requested":
            return "terminated" if prospects.is_cold and version >= RETRIES_FROM else None
        case "pending" if not is_released(node):
            return None if prospects.is_satisfiable else "propagated"
        case "pending":
            return "skipped" if prospects.is_cold and prospects.has_edges and node.queue is None else None
        case _:
            return None


def is_target(node: NodeState) -> bool:
    """Tell whether a cancellation has to reach what a node does: it has an active attempt (CAN-001)."""
    return node.status in ACTIVE


def outcome_seen(brought: int | None, pinned: int | None, last: int | None) -> int | None:
    """Return which outcome of a node a mapped input is taken from, by its sequence (RUN-017).

    `brought` is the one that the current activation follows by an edge; `pinned` the one that was kept of a
    prerequisite, 0 if it had none; `last` its last one.
    """
    if brought is not None:
        return brought
    return last if pinned is None else pinned or None


def child_outcome(policy: ChildPolicy, result: ChildResult) -> OutcomeKind:
    """Return the outcome that a child's result gives its node (CHD-012)."""
    if result == "completed":
        return "succeeded"
    if policy == "require_success" or result == "failed":
        return "permanent_failure"
    return result


def same_outcome(one: Outcome, other: Outcome) -> bool:
    """Tell whether two outcomes are one, by their canonical forms: `true` is not 1."""
    forms: list[JsonValue] = [msgspec.to_builtins(one), msgspec.to_builtins(other)]
    return canonical_json(forms[0]) == canonical_json(forms[1])


def mismatch(wait: SignalWait, name: Name, token_sha256: Digest) -> Mismatch | None:
    """Return what of a delivery does not fit an open wait. Digests are compared in constant time (SIG-004, SIG-005)."""
    if name != wait.name:
        return "wrong_name"
    return None if hmac.compare_digest(token_sha256, wait.token_sha256) else "wrong_token"


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules that are finite functions."""

    node_table: tuple[Move, ...] = NODE_TABLE
    moves: frozenset[tuple[Status, Status]] = field(init=False)
    """The changes of status that the node table allows."""
    status_after: Mapping[OutcomeKind, Status] = field(default_factory=lambda: STATUS_AFTER)
    result_precedence: Precedence = RESULT_PRECEDENCE
    due_order: tuple[DueKind, ...] = DUE_ORDER
    satisfied: Callable[[DependencyPolicy, int, Tally], bool] = satisfied
    propagated: Callable[[Tally], OutcomeKind] = propagated
    matches: Callable[[Predicate, Outcome], bool] = matches
    may_retry: Callable[[RetryPolicy, OutcomeKind], bool] = may_retry
    has_attempts: Callable[[RetryPolicy, int], bool] = has_attempts
    delay_ms: Callable[[Backoff, int], int] = delay_ms
    jitter_ms: Callable[[RetryPolicy, RunId, NodeId, int], int] = jitter_ms
    later: Callable[[int, int], int] = later
    is_due: Callable[[int, int], bool] = is_due
    exceeds: Callable[[int, int], bool] = exceeds
    charge: Callable[[Event], Charged | None] = charge
    fires: Callable[[NodeState, int | None], bool] = fires
    begins_at_once: Callable[[NodeState], bool] = begins_at_once
    closing: Callable[[NodeState, Prospects, int], Closing | None] = closing
    is_target: Callable[[NodeState], bool] = is_target
    outcome_seen: Callable[[int | None, int | None, int | None], int | None] = outcome_seen
    child_outcome: Callable[[ChildPolicy, ChildResult], OutcomeKind] = child_outcome
    same_outcome: Callable[[Outcome, Outcome], bool] = same_outcome
    mismatch: Callable[[SignalWait, Name, Digest], Mismatch | None] = mismatch

    def __post_init__(self) -> None:
        object.__setattr__(self, "moves", frozenset((move.source, move.target) for move in self.node_table))


RULES: Final = Rules()


def fate(policy: RetryPolicy, kind: OutcomeKind, attempts: int, version: int, rules: Rules) -> Fate:
    """Return what the outcome of an attempt comes to, after so many of its activation (RTY-001, RTY-004, VER-010)."""
    if version < RETRIES_FROM:
        return "left" if kind == "retryable_failure" else "ended"
    if not rules.may_retry(policy, kind):
        return "ended"
    return "retried" if rules.has_attempts(policy, attempts) else "exhausted"
