"""Faults of time: TIM-001 to TIM-011."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import msgspec

from perdure.kernel.commands import AdvanceTime, AnyCommand, OpenSignalWait, OpenTimerWait, Rejection
from perdure.kernel.consequences import scheduled, tidied, without_outdated
from perdure.kernel.decide import Events
from perdure.kernel.errors import Corruption, corrupt
from perdure.kernel.events import (
    AnyEvent,
    AttemptDeadlineExpired,
    ChildCompleted,
    ChildStarted,
    EventV5,
    NodeOutcomeCommitted,
    NodeStarted,
    RecoveryAcquired,
    RetryReleased,
    SignalAccepted,
    SignalExpired,
    SignalWaitOpened,
    TimerFired,
    TimerWaitOpened,
    VirtualTimeAdvanced,
)
from perdure.kernel.legality import attempt_deadline
from perdure.kernel.liveness import changed
from perdure.kernel.queues import Queue, added, in_order
from perdure.kernel.rules import RULES, DueKind, policy_of
from perdure.kernel.state import ACTIVE, Due, NodeState, SignalWait, State, TimerPassed, TimerWait
from perdure.kernel.values import MAX_SAFE_INTEGER
from perdure_conformance.reducer.mutants.faults import Forgives, with_moves
from perdure_conformance.reducer.mutants.turns import (
    Overlooks,
    Turn,
    Wayward,
    at,
    with_agenda,
    with_node,
    without_output,
)
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant

# The clock


@mutant("TIM-001")
class TimeGoesBack(Forgives):
    """Takes any time for now, an earlier one too."""

    forgiven: ClassVar = frozenset({"time_went_back"})


@mutant("TIM-001", overlaps=("RUN-030",))
class TakesNowForLater(Forgives):
    """Takes VirtualTimeAdvanced to now although nothing is due."""

    forgiven: ClassVar = frozenset({"no_effect"})


class RefusesToAdvance(ReferenceKernel):
    """It refuses some advances that are right."""

    def refuses(self, state: State, now_ms: int) -> bool:
        """Tell whether it refuses an advance."""
        raise NotImplementedError

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if state is None or isinstance(found, Rejection) or not isinstance(command, AdvanceTime):
            return found
        if not self.refuses(state, command.now_ms):
            return found
        return Rejection(code="no_effect", sentence="there is nothing to do at that time")

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if state is not None and isinstance(event, VirtualTimeAdvanced) and self.refuses(state, event.now_ms):
            corrupt("no_effect", "there is nothing to do at that time")
        return super().step(state, event, version)


@mutant("TIM-001", overlaps=("BUD-007", "RTY-009", "TIM-005", "TIM-007", "TIM-010"))
class RefusesIdleTime(RefusesToAdvance):
    """Refuses to advance once more to a time at which nothing is due."""

    def refuses(self, state: State, now_ms: int) -> bool:
        due = without_outdated(state, self.rules)
        return now_ms >= state.now_ms > 0 and (due is None or not self.rules.is_due(now_ms, due.first.deadline_ms))


@mutant("TIM-001")
class RefusesTheSameTime(RefusesToAdvance):
    """Refuses to advance to now, though something is due."""

    def refuses(self, state: State, now_ms: int) -> bool:
        return now_ms == state.now_ms


@mutant("TIM-001", overlaps=("RUN-006", "TIM-002", "TIM-003", "TIM-009"))
class SetsItsClockByTimers(Wayward):
    """Takes the deadline of a timer that fired for now."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, TimerFired):
            return turn.after
        return tidied(msgspec.structs.replace(turn.after, now_ms=turn.event.deadline_ms), self.rules)


# What is due


@mutant("TIM-002", overlaps=("EDG-010", "RTY-008", "RUN-006", "TIM-003"))
class OneItemAtATime(Wayward):
    """Lets one due item happen at each advance."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, AttemptDeadlineExpired | SignalExpired | TimerFired | RetryReleased):
            return turn.after
        return with_agenda(turn.after, advancing=False)


@mutant("TIM-002", overlaps=("EDG-010", "RTY-008"))
class StopsAfterAnExpiry(Wayward):
    """Lets nothing more happen in a batch after a first expiry and its consequences."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, AttemptDeadlineExpired | SignalExpired):
            return turn.after
        return with_agenda(turn.after, advancing=False)


@mutant("TIM-002", overlaps=("BUD-004", "RTY-009", "RUN-006", "SIG-010", "TIM-003", "TIM-005", "TIM-006", "TIM-009"))
class WantsTheExactTime(Wayward):
    """Writes that time went on, and lets nothing happen whose time has passed already."""

    def turned(self, turn: Turn) -> State:
        due = without_outdated(turn.after, self.rules)
        if not isinstance(turn.event, VirtualTimeAdvanced) or due is None or due.first.deadline_ms >= turn.after.now_ms:
            return turn.after
        return with_agenda(turn.after, advancing=False)


class PicksDue(Wayward):
    """It lets what is due happen in another order."""

    def order(self, item: Due) -> tuple[int, ...]:
        """Return what due items are ordered by."""
        raise NotImplementedError

    def owed(self, state: State) -> EventV5 | None:
        if not state.agenda.advancing or state.due is None:
            return super().owed(state)
        due = [item for item in in_order(state.due) if self._is_due(state, item)]
        first = min(due, key=self.order, default=None)
        return super().owed(state if first is None else msgspec.structs.replace(state, due=_alone(first)))

    def _is_due(self, state: State, item: Due) -> bool:
        is_current = without_outdated(msgspec.structs.replace(state, due=_alone(item)), self.rules) is not None
        return is_current and self.rules.is_due(state.now_ms, item.deadline_ms)


@mutant("TIM-003", overlaps=("RUN-006", "TIM-002"))
class LatestDeadlineFirst(PicksDue):
    """Lets what is due happen from the latest deadline to the earliest."""

    def order(self, item: Due) -> tuple[int, ...]:
        deadline_ms, rank, position = item
        return (-deadline_ms, rank, position)


@mutant("TIM-003", overlaps=("TIM-002",))
class KindsBeforeDeadlines(PicksDue):
    """Lets all of one kind happen before the next kind, whatever the deadlines are."""

    def order(self, item: Due) -> tuple[int, ...]:
        deadline_ms, rank, position = item
        return (rank, deadline_ms, position)


@mutant("TIM-003")
class NodesBeforeKinds(PicksDue):
    """Lets what has one deadline happen node by node."""

    def order(self, item: Due) -> tuple[int, ...]:
        deadline_ms, rank, position = item
        return (deadline_ms, position, rank)


@mutant("TIM-003", overlaps=("TIM-002",))
class NodesBeforeDeadlines(PicksDue):
    """Lets what is due happen in specification order, whatever the deadlines are."""

    def order(self, item: Due) -> tuple[int, ...]:
        deadline_ms, rank, position = item
        return (position, deadline_ms, rank)


@mutant("TIM-003", overlaps=("EDG-010", "RTY-008", "TIM-002"))
class LastNodeFirst(PicksDue):
    """Lets what has one deadline and one kind happen against specification order."""

    def order(self, item: Due) -> tuple[int, ...]:
        deadline_ms, rank, position = item
        return (deadline_ms, rank, -position)


@mutant("TIM-003", overlaps=("BUD-004",))
class TheLimitComesLast(ReferenceKernel):
    """Lets everything else that has the deadline of the run happen before the run fails."""

    rules = replace(RULES, due_order=("attempt", "signal_wait", "timer", "retry", "elapsed"))


@mutant("TIM-003")
class WaitsComeFirst(ReferenceKernel):
    """Lets a signal wait expire before its attempt, when both have one deadline."""

    rules = replace(RULES, due_order=("elapsed", "signal_wait", "attempt", "timer", "retry"))


@mutant("TIM-003")
class TimersBeforeSignals(ReferenceKernel):
    """Lets a timer fire before a signal wait of the same deadline expires."""

    rules = replace(RULES, due_order=("elapsed", "attempt", "timer", "signal_wait", "retry"))


@mutant("TIM-003")
class RetriesComeFirst(ReferenceKernel):
    """Lets a retry be released before a timer of the same deadline fires."""

    rules = replace(RULES, due_order=("elapsed", "attempt", "signal_wait", "retry", "timer"))


# Deadlines of attempts


class StartsOtherwise(ReferenceKernel):
    """It gives an attempt another deadline."""

    def deadline(self, state: State, position: int, right: int | None) -> int | None:
        """Return the deadline of an attempt that starts now, which should be `right`."""
        raise NotImplementedError

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        if state is None or isinstance(found, Rejection) or not isinstance(found[0], NodeStarted | ChildStarted):
            return found
        first = found[0]
        deadline_ms = self.deadline(state, at(state, first.node), first.deadline_ms)
        return (msgspec.structs.replace(first, deadline_ms=deadline_ms), *found[1:])

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        is_known = isinstance(event, NodeStarted | ChildStarted) and state is not None
        if not is_known or not isinstance(event, NodeStarted | ChildStarted) or state is None:
            return super().step(state, event, version)
        position = state.position(event.node)
        if position is None:
            return super().step(state, event, version)
        right = attempt_deadline(state, position, version, self.rules)
        deadline_ms = self.deadline(state, position, right)
        if event.deadline_ms != deadline_ms:
            corrupt("wrong_content", f"the deadline of the attempt is {deadline_ms}")
        after = super().step(state, msgspec.structs.replace(event, deadline_ms=right), version)
        after = with_node(after, position, deadline_ms=deadline_ms)
        return after if deadline_ms is None else scheduled(after, "attempt", deadline_ms, position, self.rules)


@mutant("TIM-004", overlaps=("CHD-011", "RTY-003", "RUN-015", "TIM-001", "TIM-007", "TIM-011"))
class CountsFromTheBeginning(StartsOtherwise):
    """Counts the deadline of an attempt from the beginning of the run."""

    def deadline(self, state: State, position: int, right: int | None) -> int | None:
        return None if right is None else policy_of(state.node(position)).attempt_deadline_ms


@mutant("TIM-004", overlaps=("CHD-011", "RTY-003", "RUN-015"))
class OnlyTheFirstAttemptHasADeadline(StartsOtherwise):
    """Gives a deadline to the first attempt, and to no other."""

    def deadline(self, state: State, position: int, right: int | None) -> int | None:
        return None if state.nodes[position].attempts else right


@mutant("TIM-004", overlaps=("TIM-007",))
class ChildrenHaveNoDeadline(StartsOtherwise):
    """Gives a deadline to handlers, and none to child runs."""

    def deadline(self, state: State, position: int, right: int | None) -> int | None:
        return None if state.node(position).child is not None else right


@mutant("TIM-004", overlaps=("TIM-001", "TIM-011"))
class TakesAnyAttemptDeadline(Forgives):
    """Takes whatever deadline an attempt is recorded with."""

    forgiven: ClassVar = frozenset({"wrong_content"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        if not super().pardons(state, event, error) or not isinstance(event, NodeStarted | ChildStarted):
            return False
        return event.attempt == state.nodes[at(state, event.node)].attempts + 1


def _rearmed(state: State, position: int, later: Callable[[int, int], int]) -> State:
    """Return the state in which an attempt has its full time again."""
    limit = policy_of(state.node(position)).attempt_deadline_ms
    if limit is None or state.nodes[position].deadline_ms is None:
        return state
    deadline_ms = later(state.now_ms, limit)
    state = with_node(state, position, deadline_ms=deadline_ms)
    return scheduled(state, "attempt", deadline_ms, position, RULES)


@mutant("TIM-005", report="run-llama/llama-agents#726")
class RearmsWhenItIsResumed(Wayward):
    """Gives all attempts their full time again when a run is resumed."""

    def turned(self, turn: Turn) -> State:
        state = turn.after
        if not isinstance(turn.event, RecoveryAcquired):
            return state
        for position, node in sorted(state.nodes.items()):
            if node.status in ACTIVE:
                state = _rearmed(state, position, self.rules.later)
        return state


@mutant("TIM-005")
class RearmsAfterAWait(Wayward):
    """Gives an attempt its full time again after a wait."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, SignalAccepted | TimerFired):
            return turn.after
        return _rearmed(turn.after, at(turn.after, turn.event.node), self.rules.later)


@mutant("TIM-006", overlaps=("SIG-006", "TIM-002", "TIM-003", "TIM-005"))
class AWaitEndsTheDeadline(Wayward):
    """Takes the deadline from an attempt that waits."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, SignalWaitOpened | TimerWaitOpened):
            return turn.after
        return with_node(turn.after, at(turn.after, turn.event.node), deadline_ms=None)


@mutant(
    "TIM-006",
    overlaps=("CHD-011", "EDG-008", "EDG-010", "RTY-004", "RTY-008", "RUN-019", "TIM-001", "TIM-002", "TIM-003"),
)
class ExpiresForGood(Wayward):
    """Ends an attempt that expired with a permanent failure."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, AttemptDeadlineExpired):
            return turn.after
        outcome = without_output("permanent_failure")
        return with_agenda(turn.after, outcome=(at(turn.after, turn.event.node), outcome))


@mutant("TIM-006", overlaps=("TIM-002", "TIM-003", "TIM-005"))
class TellsWhenItExpired(Wayward):
    """Tells when an attempt was found to be late, not when it was due."""

    def owed(self, state: State) -> EventV5 | None:
        event = super().owed(state)
        if isinstance(event, AttemptDeadlineExpired):
            return msgspec.structs.replace(event, deadline_ms=state.now_ms)
        return event


@mutant("TIM-006", overlaps=("TIM-005",))
class OverlooksTheDeadlineThatPassed(Overlooks):
    """Does not look which deadline AttemptDeadlineExpired names."""

    of: ClassVar = AttemptDeadlineExpired
    overlooked: ClassVar = frozenset({"deadline_ms"})


@mutant(
    "TIM-006",
    overlaps=("CHD-011", "EDG-008", "EDG-010", "RTY-004", "RTY-008", "TIM-001", "TIM-002", "TIM-003", "TIM-005"),
)
class IsOnTimeToTheLast(Wayward):
    """Lets an attempt expire when its deadline has passed, not when it has come."""

    def turned(self, turn: Turn) -> State:
        event = self.owed(turn.after)
        if not isinstance(event, AttemptDeadlineExpired) or event.deadline_ms < turn.after.now_ms:
            return turn.after
        return with_agenda(turn.after, advancing=False)


class TakesWhatIsLate(Forgives):
    """It takes something from an attempt that is due."""

    forgiven: ClassVar = frozenset({"attempt_due"})
    of: ClassVar[tuple[type, ...]]

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        return super().pardons(state, event, error) and isinstance(event, self.of)


@mutant("TIM-007")
class TakesALateOutcome(TakesWhatIsLate):
    """Takes an outcome of an attempt that is due."""

    of = (NodeOutcomeCommitted,)


@mutant("TIM-007")
class TakesALateChild(TakesWhatIsLate):
    """Takes the end of a child run whose attempt is due."""

    of = (ChildCompleted,)


@mutant("TIM-007")
class LetsTheLateWait(TakesWhatIsLate):
    """Lets an attempt wait that is due."""

    of = (SignalWaitOpened, TimerWaitOpened)


# Deadlines of waits


@mutant("TIM-008")
class TakesPastDeadlines(Forgives):
    """Opens waits whose deadlines have passed."""

    forgiven: ClassVar = frozenset({"deadline_passed"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        is_wait = isinstance(event, SignalWaitOpened | TimerWaitOpened)
        return super().pardons(state, event, error) and is_wait and getattr(event, "deadline_ms", 0) < state.now_ms


@mutant("TIM-008", overlaps=("TIM-009",))
class TakesADeadlineOfNow(Forgives):
    """Opens a wait whose deadline is now."""

    forgiven: ClassVar = frozenset({"deadline_passed"})

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        is_wait = isinstance(event, SignalWaitOpened | TimerWaitOpened)
        return super().pardons(state, event, error) and is_wait and getattr(event, "deadline_ms", 0) == state.now_ms


@mutant("TIM-008", overlaps=("TIM-009",))
class WantsTwoMilliseconds(ReferenceKernel):
    """Refuses a deadline that is the next millisecond."""

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        found = super().choose(state, command)
        is_wait = isinstance(command, OpenSignalWait | OpenTimerWait) and state is not None
        if is_wait and not isinstance(found, Rejection) and self._is_next(state, command):
            return Rejection(code="deadline_passed", sentence="the deadline is too near")
        return found

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        if isinstance(event, SignalWaitOpened | TimerWaitOpened) and self._is_next(state, event):
            corrupt("deadline_passed", "the deadline is too near")
        return super().step(state, event, version)

    @staticmethod
    def _is_next(state: State | None, wait: object) -> bool:
        return state is not None and getattr(wait, "deadline_ms", None) == state.now_ms + 1


@mutant("TIM-009", overlaps=("EDG-016",))
class ATimerStartsANewAttempt(Wayward):
    """Ends an attempt without a deadline when its timer fires, and makes its node ready for another."""

    rules = with_moves(("running", "ready"))

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, TimerFired):
            return turn.after
        position = at(turn.after, turn.event.node)
        has_deadline = turn.before.nodes[position].deadline_ms is not None
        return turn.after if has_deadline else _ready_again(turn.after, position, self)


@mutant("TIM-009", overlaps=("EDG-016", "RUN-006", "TIM-001", "TIM-002", "TIM-003", "TIM-010"))
class ATimerIsAFailure(Wayward):
    """Ends an attempt with a failure when its timer fires."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, TimerFired):
            return turn.after
        outcome = (at(turn.after, turn.event.node), without_output("retryable_failure"))
        return with_agenda(turn.after, outcome=outcome, advancing=True)


@mutant("TIM-009", overlaps=("EDG-016", "RUN-006", "TIM-002", "TIM-003", "TIM-010"))
class NeverFires(Wayward):
    """Forgets a timer as soon as it is set."""

    def turned(self, turn: Turn) -> State:
        if not isinstance(turn.event, TimerWaitOpened):
            return turn.after
        return msgspec.structs.replace(turn.after, due=turn.before.due)


@mutant("TIM-009", overlaps=("BUD-004", "EDG-016", "RUN-006", "SIG-003", "TIM-002", "TIM-003", "TIM-006", "TIM-010"))
class WakesAtAnyTime(Wayward):
    """Lets timers fire as soon as time goes on at all."""

    def turned(self, turn: Turn) -> State:
        event, state = turn.event, turn.after
        if not isinstance(event, TimerWaitOpened):
            return state
        soon = state.now_ms + 1
        position = at(state, event.node)
        return scheduled(with_node(state, position, wait=TimerWait(soon)), "timer", soon, position, self.rules)


# Deadlines whose subject has ended


class RevivesDeadlines(Wayward):
    """It forgets to take back a deadline whose subject has ended, and strikes what came after it."""

    kind: ClassVar[DueKind]

    def revived(self, node: NodeState, deadline_ms: int) -> NodeState | None:
        """Return a node in which the deadline is there again, if it can be."""
        raise NotImplementedError

    def turned(self, turn: Turn) -> State:
        state = self._keeping(turn.before, turn.after)
        if not isinstance(turn.event, VirtualTimeAdvanced):
            return state
        for item in in_order(turn.before.due):
            deadline_ms, rank, position = item
            if self.rules.due_order[rank] != self.kind or not self.rules.is_due(state.now_ms, deadline_ms):
                continue
            node = self.revived(state.nodes[position], deadline_ms)
            if node is not None:
                nodes = state.nodes.set(position, node)
                state = msgspec.structs.replace(state, nodes=nodes, due=added(state.due, item))
        return tidied(with_agenda(state, advancing=True), self.rules)

    @staticmethod
    def _keeping(before: State, after: State) -> State:
        due, known = after.due, set(in_order(after.due))
        for item in in_order(before.due):
            due = due if item in known or item.deadline_ms <= after.now_ms else added(due, item)
        return msgspec.structs.replace(after, due=due)


@mutant("TIM-010", report="restatedev/restate#1029")
class ALateTimerFires(RevivesDeadlines):
    """Leaves the timer of an attempt that ended: it fires in the next one."""

    kind = "timer"

    def revived(self, node: NodeState, deadline_ms: int) -> NodeState | None:
        if node.status != "running" or TimerPassed(deadline_ms) in node.resolved.values():
            return None
        return msgspec.structs.replace(node, wait=TimerWait(deadline_ms))


@mutant("TIM-010")
class AnAcceptedWaitExpires(RevivesDeadlines):
    """Leaves the deadline of a signal wait whose signal came: it ends the attempt all the same."""

    kind = "signal_wait"

    def revived(self, node: NodeState, deadline_ms: int) -> NodeState | None:
        if node.status != "running":
            return None
        return msgspec.structs.replace(node, wait=SignalWait("", "", deadline_ms))  # type: ignore[arg-type]


@mutant("TIM-010")
class AnOldDeadlineStrikesTheNextAttempt(RevivesDeadlines):
    """Leaves the deadline of an attempt that ended: the next one expires by it."""

    kind = "attempt"

    def revived(self, node: NodeState, deadline_ms: int) -> NodeState | None:
        if node.status != "running":
            return None
        return msgspec.structs.replace(node, deadline_ms=deadline_ms)


@mutant("TIM-011", overlaps=("TIM-001", "TIM-007"))
class DoesNotSaturate(ReferenceKernel):
    """Reckons deadlines beyond the greatest time."""

    rules = replace(RULES, later=lambda now_ms, delay: now_ms + delay)


@mutant("TIM-011", overlaps=("TIM-001", "TIM-007"))
class WrapsAround(ReferenceKernel):
    """Begins again at 0 where a deadline would lie beyond the greatest time."""

    rules = replace(RULES, later=lambda now_ms, delay: (now_ms + delay) % (MAX_SAFE_INTEGER + 1))


@mutant("TIM-011", overlaps=("TIM-001", "TIM-007"))
class HasNoDeadlineBeyond(StartsOtherwise):
    """Gives an attempt no deadline where it would lie beyond the greatest time."""

    def deadline(self, state: State, position: int, right: int | None) -> int | None:
        limit = policy_of(state.node(position)).attempt_deadline_ms
        return right if limit is None or state.now_ms + limit <= MAX_SAFE_INTEGER else None


def _alone(item: Due) -> Queue[Due] | None:
    return added(None, item)


def _ready_again(state: State, position: int, kernel: ReferenceKernel) -> State:
    node = msgspec.structs.replace(
        state.nodes[position], status="ready", attempt_id=None, deadline_ms=None, input=None, wait=None
    )
    return changed(state, position, node, kernel.rules)
