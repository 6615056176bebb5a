"""Commands: what a runtime may ask for, and the answers that are not events.

A token never enters the kernel: commands carry its digest.

Source: ADR-0032, "Commands, events, state, and effects"; "Commands and their batches" of `docs/spec/kernel.md`.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Final, Literal, get_args

import msgspec

from perdure.kernel.events import (
    AttemptIdText,
    ChildResult,
    OwnerIdText,
    Requester,
    RunIdText,
    SignalIdText,
)
from perdure.kernel.outcomes import MAX_INLINE_BYTES, MAX_REASON_BYTES, DigestText, Outcome
from perdure.kernel.predicates import FieldName
from perdure.kernel.specification import NodeName
from perdure.kernel.structure import AtLeastOne, AtLeastZero, Json, Members, about
from perdure.kernel.values import Digest, JsonObject, JsonValue  # noqa: F401 - annotations are read at run time

_NODE = about("The node.")
_ATTEMPT = about("The attempt.")


class Command(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag_field="type", tag=True):
    """Something asked of a run."""


class CreateRun(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Begin a run."""

    run_id: Annotated[RunIdText, about("Its identity.")]
    specification: Annotated[Members, about("The document that it is pinned to.")]
    input: Annotated[Members, about("The run's input: the declared fields, all of them.")] = msgspec.field(
        default_factory=dict
    )
    ancestors: Annotated[tuple[RunIdText, ...], about("The runs that it is a child of, outermost first.")] = ()


class StartNode(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Dispatch an attempt of a ready node."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, about("The identity of the attempt, new in this run.")]
    child_run_id: Annotated[RunIdText, about("The identity of the child run, if the node is one.")] | None = None


class CompleteAttempt(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Commit the outcome of an attempt."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    outcome: Annotated[Outcome, about("How it ended.")]


class CompleteChild(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Commit how a child run ended."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    child_run_id: Annotated[RunIdText, about("The child run.")]
    result: Annotated[ChildResult, about("How it ended.")]
    output: Annotated[Members, about("Its output.")] = msgspec.field(default_factory=dict)


class OpenSignalWait(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Wait for a signal."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    name: Annotated[FieldName, about("The name of the signal: one that the node declares.")]
    token_sha256: Annotated[DigestText, about("The digest of the token that a delivery must present.")]
    deadline_ms: Annotated[AtLeastZero, about("When the wait expires, later than now.")] | None = None


class OpenTimerWait(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Wait for a time."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    deadline_ms: Annotated[AtLeastZero, about("The time, later than now.")]


class DeliverSignal(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Deliver a signal to a waiting node."""

    node: Annotated[NodeName, _NODE]
    signal_id: Annotated[SignalIdText, about("The identity of the delivery.")]
    name: Annotated[FieldName, about("The name of the signal.")]
    token_sha256: Annotated[DigestText, about("The digest of the token that it presents.")]
    payload: Annotated[Json, about(f"What it carries. At most {MAX_INLINE_BYTES:,} bytes in canonical form.")] = None


class AdvanceTime(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Let time go on, and whatever is due happen."""

    now_ms: Annotated[AtLeastZero, about("Milliseconds since the run epoch.")]


class RequestCancellation(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Cancel the run."""

    requester: Annotated[Requester, about("Who asks.")]
    reason: Annotated[str, about(f"Why, for people. At most {MAX_REASON_BYTES:,} bytes in UTF-8.")]


class AcquireRecovery(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Record that a worker took the run over."""

    owner: Annotated[OwnerIdText, about("The worker.")]
    epoch: Annotated[AtLeastOne, about("The fencing epoch that its lease was granted with.")]


class ReleaseRecovery(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Record that a worker gave the run up."""

    owner: Annotated[OwnerIdText, about("The worker.")]
    epoch: Annotated[AtLeastOne, about("The fencing epoch of its lease.")]


class Settle(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Emit what the newest rules owe to an older history."""


AnyCommand = (
    CreateRun
    | StartNode
    | CompleteAttempt
    | CompleteChild
    | OpenSignalWait
    | OpenTimerWait
    | DeliverSignal
    | AdvanceTime
    | RequestCancellation
    | AcquireRecovery
    | ReleaseRecovery
    | Settle
)

COMMANDS: Final[tuple[type[Command], ...]] = get_args(AnyCommand)

Disposition = Literal["accepted", "wrong_name", "wrong_token"]
"""What became of a delivery."""

RejectionCode = Literal[
    "already_created",
    "run_conflict",
    "already_committed",
    "conflicting_outcome",
    "already_consumed",
    "run_terminal",
    "no_run",
    "invalid_specification",
    "invalid_input",
    "invalid_ancestors",
    "unknown_node",
    "not_ready",
    "attempt_id_used",
    "child_run_id_needed",
    "child_run_id_used",
    "not_a_child",
    "is_a_child",
    "not_active",
    "attempt_due",
    "invalid_outcome",
    "over_limit",
    "undeclared_signal",
    "deadline_passed",
    "no_open_wait",
    "time_went_back",
    "no_effect",
    "stale_epoch",
    "wrong_owner",
]
"""Why a command gives no events. The first five answer a command that was given before, and come first."""

REJECTION_CODES: Final[tuple[RejectionCode, ...]] = get_args(RejectionCode)
REPEATS: Final = REJECTION_CODES[:5]


class Rejection(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A command that gives no events, and why."""

    code: Annotated[RejectionCode, about("Why.")]
    sentence: Annotated[str, about("The same, for people.")]
    disposition: Annotated[Disposition, about("What became of the signal, if it was delivered before.")] | None = None


def token_digest(token: str) -> Digest:
    """Return the digest under which a token is known: SHA-256 of its UTF-8. The token itself goes no further."""
    return Digest(hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest())
