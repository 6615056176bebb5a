"""Events: the facts of a run's history, one class each, with the version that introduced each of them.

An event is written once and never changed. Its rules are those of the version that it was recorded in.

Source: ADR-0032, "Commands, events, state, and effects", "Typed outcomes and dependency policies", "Durable external
wait", "Structured cancellation"; `docs/spec/kernel.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from perdure.kernel.identity import UUID_GRAMMAR, AttemptId, OwnerId, RunId, SignalId
from perdure.kernel.outcomes import MAX_INLINE_BYTES, MAX_REASON_BYTES, DigestText, Outcome
from perdure.kernel.predicates import FieldName
from perdure.kernel.specification import CancellationPolicy, NodeName
from perdure.kernel.structure import AtLeastOne, AtLeastZero, Json, Members, about, whole
from perdure.kernel.values import JsonObject, JsonValue  # noqa: F401 - annotations are read at run time

RUNTIME_VERSION: Final = 5
"""The version that `decide` writes."""

RunIdText = Annotated[RunId, whole(UUID_GRAMMAR)]
AttemptIdText = Annotated[AttemptId, whole(UUID_GRAMMAR)]
SignalIdText = Annotated[SignalId, whole(UUID_GRAMMAR)]
OwnerIdText = Annotated[OwnerId, whole(UUID_GRAMMAR)]
Requester = Annotated[str, Meta(min_length=1, max_length=128)]

Cause = Literal["initial", "dependencies", "queued"]
ChildResult = Literal["completed", "failed", "blocked", "cancelled"]
TerminationReason = Literal["attempts_exhausted", "no_correction"]
Budget = Literal["attempts", "transitions", "elapsed"]
Mismatch = Literal["wrong_name", "wrong_token"]

_NODE = about("The node.")
_ATTEMPT = about("The attempt.")
_REASON = about(f"Why, for people. At most {MAX_REASON_BYTES:,} bytes in UTF-8.")


class Event(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
    tag=True,
):
    """A fact."""


class RunCreated(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A run began, pinned to its specification."""

    run_id: Annotated[RunIdText, about("The run.")]
    specification: Annotated[Members, about("The pinned document, its `content_hash` included.")]
    content_hash: Annotated[DigestText, about("The digest of the document without its hash.")]
    input: Annotated[Members, about("The run's input: the declared fields.", since=3)] = msgspec.field(
        default_factory=dict
    )
    ancestors: Annotated[
        tuple[RunIdText, ...], about("The runs that this one is a child of, outermost first.", since=3)
    ] = ()


class NodeReady(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An activation of a node began: it may be started."""

    node: Annotated[NodeName, _NODE]
    cause: Annotated[
        Cause,
        about("What began it: the run itself, the node's dependencies, or the first of the activations that waited."),
    ]


class NodeStarted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt was dispatched to the node's handler."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    attempt: Annotated[AtLeastOne, about("Its number within the activation.")]
    deadline_ms: Annotated[AtLeastZero, about("When it expires, in virtual time.", since=4)] | None = None


class NodeSucceeded(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt succeeded."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    output: (
        Annotated[Json, about(f"What it gives. At most {MAX_INLINE_BYTES:,} bytes in canonical form.")] | UnsetType
    ) = UNSET


class NodeFailed(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt failed, and with it the node and the run."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    reason: Annotated[str, _REASON]


class NodeBlocked(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt cannot go on, and with it the node and the run."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    reason: Annotated[str, _REASON]


class RunCompleted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The run ended well: every node succeeded or was skipped."""


class RunFailed(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The run ended: a node failed, or a budget was exhausted."""


class RunBlocked(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The run ended: a node was blocked, and none failed."""


class RunCancelled(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The run ended: it was cancelled, or a node was, and none failed or was blocked."""


class NodeOutcomeCommitted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The outcome of an attempt; without an attempt, a node was closed or cancelled that will not run."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT] | None = None
    outcome: Annotated[Outcome, about("How it ended.")]


class TransitionActivated(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An edge fired: an activation of its target began, or waits for its turn."""

    edge: Annotated[AtLeastZero, about("The position of the edge in the specification.")]
    source: Annotated[NodeName, about("The node whose outcome it follows.")]
    source_sequence: Annotated[AtLeastOne, about("The sequence of the record of that outcome.")]


class ChildStarted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt was dispatched as a child run."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    attempt: Annotated[AtLeastOne, about("Its number within the activation.")]
    child_run_id: Annotated[RunIdText, about("The child run.")]
    deadline_ms: Annotated[AtLeastZero, about("When it expires, in virtual time.", since=4)] | None = None


class ChildCompleted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A child run ended."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    child_run_id: Annotated[RunIdText, about("The child run.")]
    result: Annotated[ChildResult, about("How it ended.")]
    output: Annotated[Members, about("Its output.")] = msgspec.field(default_factory=dict)


class VirtualTimeAdvanced(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Time went on."""

    now_ms: Annotated[AtLeastZero, about("Milliseconds since the run epoch.")]


class RetryScheduled(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A node will be tried again."""

    node: Annotated[NodeName, _NODE]
    next_attempt: Annotated[AtLeastOne, about("The number of the attempt to come.")]
    deadline_ms: Annotated[AtLeastZero, about("When it may start, in virtual time.")]


class RetryReleased(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The delay of a retry is over: the node may be started."""

    node: Annotated[NodeName, _NODE]
    next_attempt: Annotated[AtLeastOne, about("The number of the attempt to come.")]


class AttemptDeadlineExpired(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt took too long."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    deadline_ms: Annotated[AtLeastZero, about("The deadline that has passed.")]


class NodeTerminated(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A node failed for good although its outcome might have led on."""

    node: Annotated[NodeName, _NODE]
    reason: Annotated[TerminationReason, about("Why: its attempts are used up, or no correction can come any more.")]
    limit: Annotated[AtLeastOne, about("The attempts that it had, if they are used up.")] | None = None
    usage: Annotated[AtLeastZero, about("The attempts that it used, if they are used up.")] | None = None


class BudgetExhausted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One more would have exceeded a budget of the run."""

    budget: Annotated[Budget, about("Which budget.")]
    limit: Annotated[AtLeastOne, about("Its limit.")]
    usage: Annotated[AtLeastZero, about("What was used.")]
    last_outcome: Annotated[AtLeastOne, about("The sequence of the last outcome in the history.")] | None = None


class SignalWaitOpened(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt waits for a signal."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    name: Annotated[FieldName, about("The name of the signal.")]
    token_sha256: Annotated[DigestText, about("The digest of the token that a delivery must present.")]
    deadline_ms: Annotated[AtLeastZero, about("When the wait expires, in virtual time.")] | None = None


class SignalAccepted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A signal satisfied a wait."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    signal_id: Annotated[SignalIdText, about("The delivery.")]
    name: Annotated[FieldName, about("The name of the signal.")]
    payload: Annotated[Json, about(f"What it carries. At most {MAX_INLINE_BYTES:,} bytes in canonical form.")] = None


class SignalRejected(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A signal did not fit the open wait that it was delivered to; its delivery is used up."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    signal_id: Annotated[SignalIdText, about("The delivery.")]
    reason: Annotated[Mismatch, about("What did not fit.")]


class SignalExpired(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A wait for a signal took too long."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    deadline_ms: Annotated[AtLeastZero, about("The deadline that has passed.")]


class TimerWaitOpened(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt waits for a time."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    deadline_ms: Annotated[AtLeastZero, about("The time, in virtual time.")]


class TimerFired(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The time that an attempt waited for has come."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    deadline_ms: Annotated[AtLeastZero, about("The time that has come.")]


class CancelTarget(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """Something active that a cancellation must reach."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    child_run_id: Annotated[RunIdText, about("The child run, if one does the work.")] | None = None


class CancellationRequested(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Somebody asked for the run to be cancelled."""

    requester: Annotated[Requester, about("Who asked.")]
    reason: Annotated[str, _REASON]
    now_ms: Annotated[AtLeastZero, about("When, in virtual time.")]
    policy: Annotated[CancellationPolicy, about("What it does: it cancels every node not at its end.")]
    targets: Annotated[tuple[CancelTarget, ...], about("The attempts and child runs that were active.")] = ()


class RecoveryAcquired(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A worker took the run over."""

    owner: Annotated[OwnerIdText, about("The worker.")]
    epoch: Annotated[AtLeastOne, about("The fencing epoch that its lease was granted with.")]


class RecoveryReleased(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A worker gave the run up."""

    owner: Annotated[OwnerIdText, about("The worker.")]
    epoch: Annotated[AtLeastOne, about("The fencing epoch of its lease.")]


RunFact = RunCompleted | RunFailed | RunBlocked | RunCancelled
NodeFact = NodeSucceeded | NodeFailed | NodeBlocked
"""How an attempt ended, in the words of version 1 alone."""

EventV1 = RunCreated | NodeReady | NodeStarted | NodeFact | RunFact
EventV2 = RunCreated | NodeReady | NodeStarted | NodeOutcomeCommitted | RunFact
EventV3 = EventV2 | TransitionActivated | ChildStarted | ChildCompleted
EventV4 = (
    EventV3
    | VirtualTimeAdvanced
    | RetryScheduled
    | RetryReleased
    | AttemptDeadlineExpired
    | NodeTerminated
    | BudgetExhausted
)
EventV5 = (
    EventV4
    | SignalWaitOpened
    | SignalAccepted
    | SignalRejected
    | SignalExpired
    | TimerWaitOpened
    | TimerFired
    | CancellationRequested
    | RecoveryAcquired
    | RecoveryReleased
)
AnyEvent = EventV5 | NodeFact

EVENTS: Final[Mapping[int, frozenset[type[Event]]]] = {
    version: frozenset(get_args(union))
    for version, union in enumerate((EventV1, EventV2, EventV3, EventV4, EventV5), 1)
}
"""The events of each version."""

RUN_FACTS: Final[tuple[type[RunFact], ...]] = (RunCompleted, RunFailed, RunBlocked, RunCancelled)
