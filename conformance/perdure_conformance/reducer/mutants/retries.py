"""Faults of retries: RTY-001 to RTY-009."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Final

import msgspec

from perdure.kernel.consequences import scheduled, tidied
from perdure.kernel.errors import Corruption, corrupt
from perdure.kernel.events import (
    AnyEvent,
    EventV5,
    NodeOutcomeCommitted,
    NodeReady,
    NodeStarted,
    NodeTerminated,
    RetryReleased,
    RetryScheduled,
    TransitionActivated,
)
from perdure.kernel.identity import NodeId, RunId
from perdure.kernel.liveness import changed
from perdure.kernel.rules import RULES, delay_ms, has_attempts, may_retry, policy_of
from perdure.kernel.specification import Backoff, Exponential, Fixed, RetryPolicy
from perdure.kernel.state import SignalWait, State
from perdure_conformance.reducer.mutants.faults import Forgives, with_moves
from perdure_conformance.reducer.mutants.turns import Overlooks, Turn, Wayward, again, at, with_agenda, with_node
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

_AFTER_THE_LAST_ATTEMPT: Final = (
    "BUD-002",
    "DEP-002",
    "EDG-008",
    "EDG-009",
    "EDG-010",
    "EDG-012",
    "RTY-004",
    "RUN-021",
    "SIG-010",
    "TIM-002",
    "VER-012",
)
"""What follows from attempts that are used up."""

# What is retried


@mutant(
    "RTY-001",
    overlaps=_AFTER_THE_LAST_ATTEMPT,
)
class RetriesOnceMore(ReferenceKernel):
    """Counts retries, and so makes one attempt more than `max_attempts`."""

    rules = replace(RULES, has_attempts=lambda policy, attempts: attempts <= policy.max_attempts)


@mutant(
    "RTY-001",
    overlaps=_AFTER_THE_LAST_ATTEMPT,
    report="cadence-workflow/cadence#1486",
)
class RetriesForEver(ReferenceKernel):
    """Never comes to the end of its attempts."""

    rules = replace(RULES, has_attempts=lambda *_: True)


@mutant(
    "RTY-001",
    overlaps=("DEP-001", "DEP-002", "DEP-004", "EDG-008", "EDG-009", "EDG-012", "EDG-016", "EDG-017", "RTY-004"),
)
class RetriesRequestsForChanges(ReferenceKernel):
    """Tries again what asked for changes."""

    rules = replace(
        with_moves(("changes_requested", "retry_pending")),
        may_retry=lambda policy, kind: kind == "changes_requested" or may_retry(policy, kind),
    )


@mutant("RTY-001", overlaps=("DEP-003", "DEP-010", "EDG-008", "EDG-012", "RTY-004", "RUN-021"))
class RetriesPermanentFailures(ReferenceKernel):
    """Tries again any failure of a node with a retry policy of its own, named or not."""

    rules = replace(
        RULES,
        may_retry=lambda policy, kind: (
            may_retry(policy, kind) or (kind == "permanent_failure" and policy != RetryPolicy())
        ),
    )


@mutant("RTY-001", overlaps=("CHD-014", "EDG-008", "EDG-009", "RTY-004"))
class IgnoresTheClasses(ReferenceKernel):
    """Tries no permanent failure again, though it is named."""

    rules = replace(RULES, may_retry=lambda _, kind: kind == "retryable_failure")


@mutant("RTY-001", overlaps=("EDG-009",))
class RetriesOnlyWhatIsNamed(ReferenceKernel):
    """Does not try a retryable failure again where `classes` names only permanent ones."""

    rules = replace(RULES, may_retry=lambda policy, kind: kind in policy.classes)


@mutant("RTY-001", overlaps=("EDG-013",), report="open-mercato/cezar#51")
class OneCounterForAllActivations(Wayward):
    """Holds all attempts that a node ever had against the limit of one activation."""

    def seen(self, state: State, event: EventV5) -> State:
        if not isinstance(event, NodeOutcomeCommitted) or event.attempt_id is None:
            return state
        position = at(state, event.node)
        total = sum(attempt.node == position for attempt in state.attempts.values())
        return with_node(state, position, attempts=total)

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, NodeOutcomeCommitted) or turn.event.attempt_id is None:
            return turn.after
        position = at(turn.after, turn.event.node)
        return with_node(turn.after, position, attempts=turn.before.nodes[position].attempts)


@mutant("RTY-002", overlaps=("BUD-001", "RTY-001", "RTY-005", "RTY-006"))
class AnnouncesTheSecondAttempt(Wayward):
    """Says in each RetryScheduled that the second attempt is to come."""

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        if isinstance(event, RetryScheduled):
            return msgspec.structs.replace(event, next_attempt=2)
        return event


@mutant(
    "RTY-002",
    overlaps=(
        "CHD-011",
        "CHD-014",
        "DEP-002",
        "DEP-010",
        "EDG-008",
        "EDG-012",
        "EDG-015",
        "EDG-017",
        "RTY-003",
        "RTY-008",
        "RUN-017",
        "SIG-006",
        "SIG-010",
    ),
)
class LeavesRetriesToRecovery(Wayward):
    """Makes a node retry pending, and schedules nothing as long as another node is ready."""

    def turned(self, turn: Turn) -> State:
        ended = turn.ended
        if ended is None or not ended.is_retried or not turn.after.statuses.get("ready", 0):
            return turn.after
        return tidied(with_agenda(turn.after, retry=None), self.rules)


@mutant("RTY-002", overlaps=("RTY-003",))
class OverlooksTheNumberOfTheRetry(Overlooks):
    """Does not look which attempt RetryScheduled announces."""

    of: ClassVar = RetryScheduled
    overlooked: ClassVar = frozenset({"next_attempt"})


# How attempts are counted


@mutant("RTY-003", overlaps=("CHD-009", "RTY-001", "RTY-005"), report="cadence-workflow/cadence#1486")
class TheThirdAttemptIsAttemptOne(Wayward):
    """Begins to count anew after two attempts, and so never comes to the end."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, RetryReleased) or turn.event.next_attempt < 3:
            return turn.after
        return with_node(turn.after, at(turn.after, turn.event.node), attempts=0)


@mutant(
    "RTY-003",
    overlaps=(
        "BUD-007",
        "BUD-008",
        "CHD-009",
        "DEP-004",
        "DEP-010",
        "EDG-011",
        "EDG-012",
        "EDG-013",
        "EDG-015",
        "RTY-001",
        "RUN-017",
        "RUN-027",
    ),
    report="open-mercato/cezar#51",
)
class LoopsKeepCounting(Wayward):
    """Goes on counting attempts in a new activation."""

    def turned(self, turn: Turn) -> State:
        if isinstance(turn.event, TransitionActivated):
            position = turn.after.plan.targets[turn.event.edge]
        elif isinstance(turn.event, NodeReady):
            position = at(turn.after, turn.event.node)
        else:
            return turn.after
        return with_node(turn.after, position, attempts=turn.before.nodes[position].attempts)


@mutant(
    "RTY-003",
    overlaps=(
        "CHD-011",
        "RTY-001",
        "RTY-006",
        "RTY-008",
        "RUN-019",
        "SIG-006",
        "SIG-010",
        "TIM-001",
        "TIM-002",
        "TIM-003",
        "TIM-006",
    ),
)
class ExpiriesDoNotCount(Wayward):
    """Does not count an attempt that expired."""

    def turned(self, turn: Turn) -> State:
        ended = turn.ended
        if ended is None or not ended.is_retried or _passed(turn.before, ended.position) is None:
            return turn.after
        return with_node(turn.after, ended.position, attempts=turn.after.nodes[ended.position].attempts - 1)


@mutant("RTY-003", overlaps=("EDG-013",))
class BelievesAnyNumber(Forgives):
    """Believes what NodeStarted says of its number."""

    forgiven: ClassVar = frozenset({"wrong_content"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, NodeStarted):
            return False
        position = at(state, event.node)
        return policy_of(state.node(position)).attempt_deadline_ms is None and event.deadline_ms is None


@mutant("RTY-003", overlaps=("DEP-008", "EDG-011", "EDG-012", "EDG-016", "RUN-017"))
class CountsAttemptsOfTheRun(Wayward):
    """Gives a retry its number among the attempts of the run, not among those of its activation."""

    def seen(self, state: State, event: EventV5) -> State:
        position = state.position(event.node) if isinstance(event, NodeStarted) else None
        if position is None or not state.nodes[position].attempts:
            return state
        return with_node(state, position, attempts=state.attempts_used)

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, NodeStarted):
            return turn.after
        position = at(turn.after, turn.event.node)
        return with_node(turn.after, position, attempts=turn.before.nodes[position].attempts + 1)

    def opens(self, state: State | None, opening: EventV5) -> EventV5:
        if state is None or not isinstance(opening, NodeStarted) or opening.attempt == 1:
            return opening
        return msgspec.structs.replace(opening, attempt=state.attempts_used + 1)


# When they are used up


@mutant(
    "RTY-004",
    overlaps=(
        "BUD-002",
        "DEP-002",
        "EDG-008",
        "EDG-009",
        "EDG-010",
        "EDG-012",
        "RUN-021",
        "SIG-010",
        "TIM-002",
        "VER-012",
    ),
)
class FailsWithoutATermination(Wayward):
    """Does not write why a node failed whose attempts are used up."""

    def turned(self, turn: Turn) -> State:
        state = turn.after
        if state.agenda.termination is None:
            return state
        return again(with_agenda(state, termination=None), self.rules)


@mutant(
    "RTY-004",
    overlaps=(
        "BUD-002",
        "DEP-002",
        "EDG-008",
        "EDG-009",
        "EDG-010",
        "EDG-012",
        "RTY-001",
        "RUN-021",
        "SIG-010",
        "TIM-002",
        "VER-012",
    ),
    report="inngest/inngest#1290",
)
class StaysAfterTheLastAttempt(Wayward):
    """Leaves a node retry pending for ever when its attempts are used up."""

    rules = replace(RULES, has_attempts=lambda *_: True)

    def turned(self, turn: Turn) -> State:
        ended, state = turn.ended, turn.after
        if ended is None or not ended.is_retried:
            return state
        policy, attempts = policy_of(state.node(ended.position)), state.nodes[ended.position].attempts
        if has_attempts(policy, attempts):
            return state
        return tidied(with_agenda(state, retry=None), self.rules)


@mutant("RTY-004", overlaps=("EDG-008", "EDG-009", "EDG-012", "RUN-021"))
class TerminatesEveryLastFailure(Wayward):
    """Writes NodeTerminated after a permanent failure of the last attempt, too."""

    def turned(self, turn: Turn) -> State:
        ended, state = turn.ended, turn.after
        if ended is None or ended.outcome.kind != "permanent_failure":
            return state
        if has_attempts(policy_of(state.node(ended.position)), turn.before.nodes[ended.position].attempts):
            return state
        return with_agenda(state, termination=ended.position)


@mutant("RTY-004", overlaps=("EDG-008", "EDG-009", "EDG-010"))
class TerminatesAfterEdges(Wayward):
    """Writes NodeTerminated after the edges of the node have fired."""

    def owed(self, state: State) -> EventV5 | None:
        if not state.agenda.firing:
            return super().owed(state)
        return super().owed(with_agenda(state, termination=None))


@mutant("RTY-004")
class TellsAllAttempts(Wayward):
    """Tells the attempts of all activations of a node as the usage of the last."""

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        if not isinstance(event, NodeTerminated) or event.reason != "attempts_exhausted":
            return event
        position = at(state, event.node)
        return msgspec.structs.replace(
            event, usage=sum(attempt.node == position for attempt in state.attempts.values())
        )


@mutant("RTY-004", overlaps=("RUN-022", "VER-012"))
class OverlooksLimitAndUsage(Overlooks):
    """Does not look what NodeTerminated says of limit and usage."""

    of: ClassVar = NodeTerminated
    overlooked: ClassVar = frozenset({"limit", "usage"})


# Delays


def exponential(delay: Callable[[int, int, int, int], int]) -> Callable[[Backoff, int], int]:
    """Return how delays are reckoned: by initial delay, multiplier, maximum and number of the attempt if they grow."""

    def reckoned(backoff: Backoff, next_attempt: int) -> int:
        if not isinstance(backoff, Exponential):
            return delay_ms(backoff, next_attempt)
        return delay(backoff.initial_ms, backoff.multiplier, backoff.maximum_ms, next_attempt)

    return reckoned


@mutant("RTY-005", report="apache/airflow#47971")
class OverflowsBeforeTheMaximum(ReferenceKernel):
    """Reckons a delay in 64 bits before it is held against the maximum."""

    rules = replace(
        RULES,
        delay_ms=exponential(
            lambda initial, multiplier, maximum, attempt: min(
                initial * pow(multiplier, attempt - 2, 2**64) % 2**64, maximum
            )
        ),
    )


@mutant("RTY-005", report="apache/airflow#47971")
class FailsInFloatingPoint(ReferenceKernel):
    """Reckons a delay in floating point of 32 bits, and has none for high powers although there is a maximum."""

    @staticmethod
    def _delay(initial: int, multiplier: int, maximum: int, attempt: int) -> int:
        power = multiplier ** (attempt - 2)
        return min(initial * power, maximum) if power < 2**128 else 0

    rules = replace(RULES, delay_ms=exponential(_delay))


@mutant("RTY-005")
class GrowsFromTheFirstRetryOn(ReferenceKernel):
    """Multiplies the delay of the first retry already."""

    rules = replace(
        RULES,
        delay_ms=exponential(
            lambda initial, multiplier, maximum, attempt: min(initial * multiplier ** (attempt - 1), maximum)
        ),
    )


@mutant("RTY-005", overlaps=("RTY-008",))
class StartsAboveTheMaximum(ReferenceKernel):
    """Does not hold the initial delay against the maximum."""

    rules = replace(
        RULES,
        delay_ms=exponential(
            lambda initial, multiplier, maximum, attempt: (
                initial if attempt == 2 else min(initial * multiplier ** (attempt - 2), maximum)
            )
        ),
    )


@mutant("RTY-005")
class GrowsBySteps(ReferenceKernel):
    """Lets delays grow in proportion, not exponentially."""

    rules = replace(
        RULES,
        delay_ms=exponential(
            lambda initial, multiplier, maximum, attempt: min(
                initial * (1 if attempt == 2 else multiplier * (attempt - 2)), maximum
            )
        ),
    )


@mutant("RTY-005", overlaps=("RTY-002", "RTY-006"))
class FixedDelaysAddUp(ReferenceKernel):
    """Adds a fixed delay once more at each retry."""

    rules = replace(
        RULES,
        delay_ms=lambda backoff, attempt: (
            delay_ms(backoff, attempt) * (attempt - 1 if isinstance(backoff, Fixed) else 1)
        ),
    )


@mutant("RTY-006")
class CountsFromTheDeadline(Wayward):
    """Counts the delay from the deadline that passed, not from now."""

    def owed(self, state: State) -> EventV5 | None:
        return super().owed(self._earlier(state))

    def seen(self, state: State, event: EventV5) -> State:
        return self._earlier(state) if isinstance(event, RetryScheduled) else state

    @staticmethod
    def _earlier(state: State) -> State:
        position = state.agenda.retry
        passed = None if position is None else state.nodes[position].deadline_ms
        return state if passed is None else msgspec.structs.replace(state, now_ms=passed)

    def turned(self, turn: Turn) -> State:
        ended, state = turn.ended, turn.after
        if isinstance(turn.event, RetryScheduled):
            state = with_node(state, at(state, turn.event.node), deadline_ms=None)
            return msgspec.structs.replace(state, now_ms=turn.before.now_ms)
        if ended is None or not ended.is_retried:
            return state
        return with_node(state, ended.position, deadline_ms=_passed(turn.before, ended.position))


@mutant("RTY-006", overlaps=("RTY-008", "TIM-011"))
class JudgesByItsOwnJitter(Wayward):
    """Computes a recorded deadline again, and refuses any other."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is not None and isinstance(event, RetryScheduled):
            expected = self.owed(state)
            if isinstance(expected, RetryScheduled) and expected.deadline_ms != event.deadline_ms:
                corrupt("something_else_owed", f"the deadline is {expected.deadline_ms}")
        return super().step(state, event, version)


@mutant("RTY-006", overlaps=("RTY-008",))
class KeepsItsOwnDeadline(Wayward):
    """Takes a recorded deadline, and keeps the one that it computes again."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        expected = None if state is None else self.owed(state)
        after = super().step(state, event, version)
        is_retry = isinstance(event, RetryScheduled) and isinstance(expected, RetryScheduled)
        return super().step(state, expected, version) if is_retry and expected is not None else after


@mutant("RTY-006", overlaps=("RTY-005", "TIM-011"))
class TakesAnyRetryDeadline(Forgives):
    """Takes any deadline of a retry, however early or late."""

    forgiven: ClassVar = frozenset({"something_else_owed"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        expected = self.owed(state)
        if not super().pardons(state, event, error) or not isinstance(event, RetryScheduled):
            return False
        return expected == msgspec.structs.replace(event, deadline_ms=getattr(expected, "deadline_ms", None))


@mutant("RTY-006", overlaps=("RTY-008",))
class RefusesTheMostJitter(ReferenceKernel):
    """Refuses a deadline with all the jitter that the policy allows."""

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is not None and isinstance(event, RetryScheduled):
            policy = policy_of(state.node(at(state, event.node)))
            base = state.now_ms + self.rules.delay_ms(policy.backoff, event.next_attempt)
            if policy.jitter is not None and 0 < policy.jitter.maximum_ms == event.deadline_ms - base:
                corrupt("something_else_owed", "the jitter is too much")
        return super().step(state, event, version)


@mutant("RTY-006", overlaps=("TIM-011",))
class ReadsJitterBothWays(Forgives):
    """Takes a deadline that lies before the delay is over by no more than the jitter."""

    forgiven: ClassVar = frozenset({"something_else_owed"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, RetryScheduled):
            return False
        policy = policy_of(state.node(at(state, event.node)))
        base = state.now_ms + self.rules.delay_ms(policy.backoff, event.next_attempt)
        most = 0 if policy.jitter is None else policy.jitter.maximum_ms
        return isinstance(self.owed(state), RetryScheduled) and base - most <= event.deadline_ms < base


# Jitter

_OFFSET: Final = 0xCBF29CE484222325
_PRIME: Final = 0x100000001B3
_WORD: Final = 0xFFFFFFFFFFFFFFFF


def fnv_1a(data: bytes) -> int:
    """Return FNV-1a of 64 bits."""
    value = _OFFSET
    for byte in data:
        value = (value ^ byte) * _PRIME & _WORD
    return value


def fnv_1(data: bytes) -> int:
    """Return FNV-1 of 64 bits: it multiplies first."""
    value = _OFFSET
    for byte in data:
        value = (value * _PRIME & _WORD) ^ byte
    return value


def jitter(
    hashed: Callable[[str, str, str, int], int], more: int = 1
) -> Callable[[RetryPolicy, RunId, NodeId, int], int]:
    """Return how jitter is reckoned: by a hash of seed, run, node and attempt, modulo `more` than the most."""

    def reckoned(policy: RetryPolicy, run_id: RunId, node: NodeId, next_attempt: int) -> int:
        if policy.jitter is None or not policy.jitter.maximum_ms:
            return 0
        return hashed(policy.jitter.seed, run_id, node, next_attempt) % (policy.jitter.maximum_ms + more)

    return reckoned


@mutant("RTY-007")
class NeverAddsTheMost(ReferenceKernel):
    """Takes the hash modulo `maximum_ms`."""

    rules = replace(RULES, jitter_ms=jitter(lambda *parts: fnv_1a("\0".join(map(str, parts)).encode()), more=0))


@mutant("RTY-007")
class MultipliesFirst(ReferenceKernel):
    """Takes FNV-1 for FNV-1a."""

    rules = replace(RULES, jitter_ms=jitter(lambda *parts: fnv_1("\0".join(map(str, parts)).encode())))


@mutant("RTY-007")
class JoinsWithoutNul(ReferenceKernel):
    """Hashes the parts without anything between them."""

    rules = replace(RULES, jitter_ms=jitter(lambda *parts: fnv_1a("".join(map(str, parts)).encode())))


@mutant("RTY-007")
class HashesTheAttemptThatFailed(ReferenceKernel):
    """Hashes the number of the attempt that failed."""

    rules = replace(
        RULES,
        jitter_ms=jitter(
            lambda seed, run_id, node, attempt: fnv_1a(f"{seed}\0{run_id}\0{node}\0{attempt - 1}".encode())
        ),
    )


@mutant("RTY-007")
class ReadsTheSeedAsLatin1(ReferenceKernel):
    """Hashes the seed in Latin-1, and what that does not have as question marks."""

    rules = replace(
        RULES,
        jitter_ms=jitter(lambda *parts: fnv_1a("\0".join(map(str, parts)).encode("latin-1", "replace"))),
    )


@mutant("RTY-007")
class HashesOneDigit(ReferenceKernel):
    """Hashes the number of the attempt as one character."""

    rules = replace(
        RULES,
        jitter_ms=jitter(
            lambda seed, run_id, node, attempt: fnv_1a(f"{seed}\0{run_id}\0{node}\0{chr(48 + attempt)}".encode())
        ),
    )


# Releases


@mutant("RTY-008", overlaps=("CHD-014", "EDG-008", "EDG-015", "EDG-017", "RTY-003", "RUN-017", "VER-011"))
class WaitsForTheClock(Wayward):
    """Releases a retry whose deadline is now only when time goes on, as long as another node is ready."""

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if not isinstance(event, RetryScheduled) or state.agenda.retry is None or not state.statuses.get("ready", 0):
            return state
        state = with_agenda(state, retry=None)
        return tidied(scheduled(state, "retry", event.deadline_ms, at(state, event.node), self.rules), self.rules)


@mutant("RTY-008", overlaps=("CHD-011", "CHD-014", "EDG-008", "EDG-015", "EDG-017", "RTY-003", "RUN-017", "VER-011"))
class ReleasesWithoutARecord(Wayward):
    """Makes a node ready at once when its retry is immediate and another node is ready, without RetryReleased."""

    rules = with_moves(("retry_pending", "ready"))

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if not isinstance(event, RetryScheduled) or state.agenda.retry is None or not state.statuses.get("ready", 0):
            return state
        position = at(state, event.node)
        node = msgspec.structs.replace(state.nodes[position], status="ready", retry_ms=None)
        state = changed(state, position, node, self.rules)
        return tidied(with_agenda(state, retry=None), self.rules)


@mutant("RTY-008", overlaps=("RTY-005", "TIM-011"))
class ReleasesOnlyWithoutDelay(Wayward):
    """Looks at the policy, not at the deadline: only `immediate` is released at once, and not a delay of 0."""

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if not isinstance(event, RetryScheduled) or state.agenda.retry is None:
            return state
        position = at(state, event.node)
        if policy_of(state.node(position)).backoff.kind == "immediate":
            return state
        state = with_agenda(state, retry=None)
        return tidied(scheduled(state, "retry", event.deadline_ms, position, self.rules), self.rules)


@mutant("RTY-009", overlaps=("RTY-006", "RTY-008", "TIM-005"))
class TakesAReleaseAtAnyTime(Forgives):
    """Takes RetryReleased whenever the node is retry pending, due or not."""

    forgiven: ClassVar = frozenset({"nothing_owed"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, RetryReleased):
            return False
        node = state.nodes[at(state, event.node)]
        return node.retry_ms is not None and event.next_attempt == node.attempts + 1


@mutant("RTY-009", overlaps=("EDG-011", "RUN-012"))
class StartsBeforeTheRelease(Forgives):
    """Starts a node that is retry pending, without waiting for its deadline."""

    rules = with_moves(("retry_pending", "running"))
    forgiven: ClassVar = frozenset({"not_ready"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, NodeStarted):
            return False
        return state.nodes[at(state, event.node)].status == "retry_pending"


@mutant("RTY-009", overlaps=("BUD-003", "RTY-002", "RTY-006", "RUN-006", "TIM-001", "TIM-003", "TIM-010"))
class ReleasesAtTheNextTick(Wayward):
    """Releases a retry as soon as time goes on at all."""

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if not isinstance(event, RetryScheduled) or state.nodes[at(state, event.node)].retry_ms is None:
            return state
        if state.agenda.retry is not None:
            return state
        position = at(state, event.node)
        state = with_node(state, position, retry_ms=state.now_ms + 1)
        return scheduled(state, "retry", state.now_ms + 1, position, self.rules)


def _passed(state: State, position: int) -> int | None:
    """Return the deadline by which the attempt of a node expires now, if it does."""
    node = state.nodes[position]
    wait_ms = node.wait.deadline_ms if isinstance(node.wait, SignalWait) else None
    deadlines = (deadline for deadline in (node.deadline_ms, wait_ms) if deadline is not None)
    first = min(deadlines, default=None)
    return first if first is not None and first <= state.now_ms and state.agenda.outcome is not None else None
