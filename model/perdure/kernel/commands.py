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

_NODE = about("Names the node, as the specification does.")
_ATTEMPT = about("Says which attempt, by the identity that it was started with.")


class Command(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag_field="type", tag=True):
    """Something asked of a run."""


class CreateRun(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Begin a run."""

    run_id: Annotated[RunIdText, about("Says which run, by an identity that no other has.")]
    specification: Annotated[
        Members, about("Is the document that the run is pinned to; a `content_hash` is added if it has none.")
    ]
    input: Annotated[Members, about("Gives the run its input: a value for each field that the document declares.")] = (
        msgspec.field(default_factory=dict)
    )
    ancestors: Annotated[tuple[RunIdText, ...], about("Names the runs that it is a child of, outermost first.")] = ()


class StartNode(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Dispatch an attempt of a ready node."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[
        AttemptIdText, about("Gives the attempt its identity, which no attempt of the run had before.")
    ]
    child_run_id: Annotated[RunIdText, about("Gives the child run its identity, if the node is a child's.")] | None = (
        None
    )


class CompleteAttempt(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Commit the outcome of an attempt."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    outcome: Annotated[Outcome, about("Says how it ended.")]


class CompleteChild(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Commit how a child run ended."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    child_run_id: Annotated[RunIdText, about("Says which run did the work of the attempt.")]
    result: Annotated[ChildResult, about("Says how the run ended.")]
    output: Annotated[Members, about("Is the output of the run; fields that the node takes are copied from it.")] = (
        msgspec.field(default_factory=dict)
    )


class OpenSignalWait(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Wait for a signal."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    name: Annotated[FieldName, about("Names the signal, one that the node declares.")]
    token_sha256: Annotated[
        DigestText, about("Is the SHA-256 of the token that a delivery must present, in lowercase hexadecimal.")
    ]
    deadline_ms: (
        Annotated[AtLeastZero, about("Says when the wait expires, later than now; without it, never.")] | None
    ) = None


class OpenTimerWait(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Wait for a time."""

    node: Annotated[NodeName, _NODE]
    attempt_id: Annotated[AttemptIdText, _ATTEMPT]
    deadline_ms: Annotated[AtLeastZero, about("Says until when, later than now.")]


class DeliverSignal(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Deliver a signal to a waiting node."""

    node: Annotated[NodeName, _NODE]
    signal_id: Annotated[SignalIdText, about("Gives the delivery its identity, which serves once in a run.")]
    name: Annotated[FieldName, about("Names the signal.")]
    token_sha256: Annotated[
        DigestText, about("Is the SHA-256 of the token that is presented, in lowercase hexadecimal.")
    ]
    payload: Annotated[
        Json, about(f"Is what the signal carries, of at most {MAX_INLINE_BYTES:,} bytes in canonical form.")
    ] = None


class AdvanceTime(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Let time go on, and whatever is due happen."""

    now_ms: Annotated[AtLeastZero, about("Says what time it is: milliseconds since the run began.")]


class RequestCancellation(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Cancel the run."""

    requester: Annotated[Requester, about("Says who asks, for people.")]
    reason: Annotated[str, about(f"Says why, for people, in at most {MAX_REASON_BYTES:,} bytes of UTF-8.")]


class AcquireRecovery(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Record that a worker took the run over."""

    owner: Annotated[OwnerIdText, about("Says which worker.")]
    epoch: Annotated[
        AtLeastOne, about("Is the fencing epoch that its lease was granted with, higher than those before.")
    ]


class ReleaseRecovery(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Record that a worker gave the run up."""

    owner: Annotated[OwnerIdText, about("Says which worker.")]
    epoch: Annotated[AtLeastOne, about("Is the fencing epoch of its lease.")]


class Settle(Command, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Emit what the newest rules owe to an older history."""


OpeningCommand = (
    StartNode
    | CompleteAttempt
    | CompleteChild
    | OpenSignalWait
    | OpenTimerWait
    | DeliverSignal
    | AdvanceTime
    | RequestCancellation
    | AcquireRecovery
    | ReleaseRecovery
)
"""The commands of a run that is there, and that have a first event of their own."""

AnyCommand = CreateRun | OpeningCommand | Settle

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
    "invalid_id",
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

    code: Annotated[RejectionCode, about("Says why, for programs.")]
    sentence: Annotated[str, about("Says the same, for people.")]
    disposition: Annotated[Disposition, about("Says what became of the signal, if it was delivered before.")] | None = (
        None
    )


def rejected(code: RejectionCode, sentence: str) -> Rejection:
    """Return a rejection that says no more than why."""
    return Rejection(code=code, sentence=sentence)


def token_digest(token: str) -> Digest:
    """Return the digest under which a token is known: SHA-256 of its UTF-8. The token itself goes no further."""
    return Digest(hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest())
