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

_NODE = about("Names the node, as the specification does.")
_ATTEMPT = about("Says which attempt, by the identity that it was started with.")
_REASON = about(f"Says why, for people, in at most {MAX_REASON_BYTES:,} bytes of UTF-8.")
_DEADLINE = about("Says when the attempt expires, in virtual time; without it, never.", since=4)
_NUMBER = about("Counts the attempts of the activation, from 1.")
_NEXT = about("Says which attempt of the activation is to come.")
_CHILD_RUN = about("Says which run does the work of the attempt.")
_PASSED = about("Says which deadline it was, in virtual time.")


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

    run_id: Annotated[RunIdText, about("Says which run, by an identity that no other has.")]
    specification: Annotated[Members, about("Is the document that the run is pinned to, with its `content_hash`.")]
    content_hash: Annotated[DigestText, about("Repeats the `content_hash` of the document.")]
    input: Annotated[
        Members, about("Gives the run its input: a value for each field that the document declares.", since=3)
    ] = msgspec.field(default_factory=dict)
    ancestors: Annotated[
        tuple[RunIdText, ...], about("Names the runs that this one is a child of, outermost first.", since=3)
    ] = ()


class NodeReady(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An activation of a node began: it may be started."""

    node: Annotated[NodeName, _NODE]
    cause: Annotated[
        Cause,
        about(
            "Says what began it.",
            words={
                "initial": "The run did, when it was created.",
                "dependencies": "The node's dependencies did, when they were satisfied.",
                "queued": "An edge had fired while the node was busy or waited for its dependencies: now is its turn.",
            },
        ),
    ]


class NodeStarted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt was dispatched to the node's handler."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    attempt: Annotated[AtLeastOne, _NUMBER]
    deadline_ms: Annotated[AtLeastZero, _DEADLINE] | None = None


class NodeSucceeded(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt succeeded."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    output: (
        Annotated[Json, about(f"Gives the result as JSON, of at most {MAX_INLINE_BYTES:,} bytes in canonical form.")]
        | UnsetType
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
    attempt_id: (
        Annotated[
            AttemptIdText, about("Says which attempt ended; without it, the node had none, and is closed or cancelled.")
        ]
        | None
    ) = None
    outcome: Annotated[Outcome, about("Says how it ended.")]


class TransitionActivated(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An edge fired: an activation of its target began, or waits for its turn."""

    edge: Annotated[AtLeastZero, about("Is the position of the edge among those of the specification, from 0.")]
    source: Annotated[NodeName, about("Names the node whose outcome the edge follows.")]
    source_sequence: Annotated[AtLeastOne, about("Is the sequence of the record of that outcome.")]


class ChildStarted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt was dispatched as a child run."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    attempt: Annotated[AtLeastOne, _NUMBER]
    child_run_id: Annotated[RunIdText, _CHILD_RUN]
    deadline_ms: Annotated[AtLeastZero, _DEADLINE] | None = None


class ChildCompleted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A child run ended."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    child_run_id: Annotated[RunIdText, _CHILD_RUN]
    result: Annotated[ChildResult, about("Says how the run ended.")]
    output: Annotated[Members, about("Is the output of the run; fields that the node takes are copied from it.")] = (
        msgspec.field(default_factory=dict)
    )


class VirtualTimeAdvanced(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Time went on."""

    now_ms: Annotated[AtLeastZero, about("Says what time it is: milliseconds since the run began.")]


class RetryScheduled(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A node will be tried again."""

    node: Annotated[NodeName, _NODE]
    next_attempt: Annotated[AtLeastOne, _NEXT]
    deadline_ms: Annotated[AtLeastZero, about("Says when it may start, in virtual time.")]


class RetryReleased(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The delay of a retry is over: the node may be started."""

    node: Annotated[NodeName, _NODE]
    next_attempt: Annotated[AtLeastOne, _NEXT]


class AttemptDeadlineExpired(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt took too long."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    deadline_ms: Annotated[AtLeastZero, _PASSED]


class NodeTerminated(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A node failed for good although its outcome might have led on."""

    node: Annotated[NodeName, _NODE]
    reason: Annotated[
        TerminationReason,
        about(
            "Says why.",
            words={
                "attempts_exhausted": "Its last attempt failed in a way that is tried again, and none is left.",
                "no_correction": "It asked for changes, and nothing can lead to it any more.",
            },
        ),
    ]
    limit: (
        Annotated[AtLeastOne, about("Says how many attempts the activation may have, if they are used up.")] | None
    ) = None
    usage: Annotated[AtLeastZero, about("Says how many attempts the activation had, if they are used up.")] | None = (
        None
    )


class BudgetExhausted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One more would have exceeded a budget of the run."""

    budget: Annotated[Budget, about("Says which budget.")]
    limit: Annotated[AtLeastOne, about("Says how much the specification allows.")]
    usage: Annotated[AtLeastZero, about("Says how much was used, without what would have been too much.")]
    last_outcome: (
        Annotated[AtLeastOne, about("Is the sequence of the last NodeOutcomeCommitted; without it, there is none.")]
        | None
    ) = None


class SignalWaitOpened(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt waits for a signal."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    name: Annotated[FieldName, about("Names the signal, one that the node declares.")]
    token_sha256: Annotated[
        DigestText, about("Is the SHA-256 of the token that a delivery must present, in lowercase hexadecimal.")
    ]
    deadline_ms: (
        Annotated[AtLeastZero, about("Says when the wait expires, in virtual time; without it, never.")] | None
    ) = None


class SignalAccepted(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A signal satisfied a wait."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    signal_id: Annotated[SignalIdText, about("Says which delivery, by an identity that is used up.")]
    name: Annotated[FieldName, about("Names the signal, one that the node declares.")]
    payload: Annotated[
        Json, about(f"Is what the signal carries, of at most {MAX_INLINE_BYTES:,} bytes in canonical form.")
    ] = None


class SignalRejected(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A signal did not fit the open wait that it was delivered to; its delivery is used up."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    signal_id: Annotated[SignalIdText, about("Says which delivery, by an identity that is used up.")]
    reason: Annotated[
        Mismatch,
        about(
            "Says what did not fit.",
            words={
                "wrong_name": "The node waits for a signal of another name.",
                "wrong_token": "The name is right, and the token is not.",
            },
        ),
    ]


class SignalExpired(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A wait for a signal took too long."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    deadline_ms: Annotated[AtLeastZero, _PASSED]


class TimerWaitOpened(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt waits for a time."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    deadline_ms: Annotated[AtLeastZero, about("Says until when, in virtual time.")]


class TimerFired(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The time that an attempt waited for has come."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    deadline_ms: Annotated[AtLeastZero, about("Says which time it was, in virtual time.")]


class CancelTarget(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """Something active that a cancellation must reach."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    child_run_id: Annotated[RunIdText, about("Says which run does its work, if one does.")] | None = None


class CancellationRequested(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Somebody asked for the run to be cancelled."""

    requester: Annotated[Requester, about("Says who asked, for people.")]
    reason: Annotated[str, _REASON]
    now_ms: Annotated[AtLeastZero, about("Says when, in virtual time.")]
    policy: Annotated[
        CancellationPolicy,
        about("Says what it does.", words={"cascade": "Every node that is not terminal is cancelled."}),
    ]
    targets: Annotated[tuple[CancelTarget, ...], about("Lists what was active, in specification order.")] = ()


class RecoveryAcquired(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A worker took the run over."""

    owner: Annotated[OwnerIdText, about("Says which worker.")]
    epoch: Annotated[
        AtLeastOne, about("Is the fencing epoch that its lease was granted with, higher than those before.")
    ]


class RecoveryReleased(Event, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A worker gave the run up."""

    owner: Annotated[OwnerIdText, about("Says which worker.")]
    epoch: Annotated[AtLeastOne, about("Is the fencing epoch of its lease.")]


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
