"""Steps: what a script may say, and how one is read.

A script is an array of steps, in JSON or YAML. The first member of a step says what it does; see `perdure simulate`.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from perdure.kernel.commands import RejectionCode
from perdure.kernel.events import ChildResult, Requester
from perdure.kernel.predicates import FieldName
from perdure.kernel.specification import NodeName
from perdure.kernel.structure import AtLeastZero, Json, Members, about
from perdure.kernel.values import JsonObject, JsonValue  # noqa: F401 - annotations are read at run time
from perdure_conformance.handwritten import read_as
from perdure_conformance.lint.files import FileRefused, Text
from perdure_conformance.simulation.outcomes import AttemptWord
from perdure_conformance.simulation.player import DEFAULT_TOKEN

MAX_STEPS: Final = 100_000

Ending = AttemptWord | Literal["skipped"]
Token = Annotated[str, Meta(max_length=1_000)]
_REFUSED = about("Says that the kernel refuses this, with this code.")


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """A node is started."""

    start: Annotated[NodeName, about("Starts this node.")]
    refused: Annotated[RejectionCode, _REFUSED] | None = None


class Complete(msgspec.Struct, frozen=True, kw_only=True):
    """The attempt of a handler's node ends."""

    complete: Annotated[NodeName, about("Ends the last attempt of this node.")]
    outcome: Annotated[Ending, about("Says how.")] = "succeeded"
    output: Annotated[Json, about("Gives its output; without it, it has all that is declared.")] | UnsetType = UNSET
    reason: Annotated[str, about("Says why.")] = ""
    refused: Annotated[RejectionCode, _REFUSED] | None = None


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """The child run of a node ends."""

    child: Annotated[NodeName, about("Ends the child run of this node.")]
    result: Annotated[ChildResult, about("Says how.")] = "completed"
    output: Annotated[Members, about("Gives its output; without it, it has all that is taken.")] | UnsetType = UNSET
    refused: Annotated[RejectionCode, _REFUSED] | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A node is started, and ends: a handler's with an outcome, a child's completed."""

    run: Annotated[NodeName, about("Starts this node and ends it.")]
    outcome: Annotated[Ending, about("Says how.")] = "succeeded"
    output: Annotated[Json, about("Gives its output; without it, it has all that is declared.")] | UnsetType = UNSET
    reason: Annotated[str, about("Says why.")] = ""
    refused: Annotated[RejectionCode, _REFUSED] | None = None


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """The attempt of a node waits, for a signal or a time."""

    wait: Annotated[NodeName, about("Lets this node wait.")]
    signal: Annotated[FieldName, about("Names the signal; without it, the node waits for a time.")] | None = None
    token: Annotated[Token, about("Says what a delivery must present.")] = DEFAULT_TOKEN
    until_ms: Annotated[AtLeastZero, about("Says when the wait ends.")] | None = None
    refused: Annotated[RejectionCode, _REFUSED] | None = None


class Deliver(msgspec.Struct, frozen=True, kw_only=True):
    """A signal is delivered."""

    deliver: Annotated[FieldName, about("Names the signal.")]
    to: Annotated[NodeName, about("Names the node.")]
    token: Annotated[Token, about("Is presented.")] = DEFAULT_TOKEN
    payload: Annotated[Json, about("Goes with it.")] = None
    delivery: Annotated[str, about("Names the delivery; one that is named again is the same one, repeated.")] = ""
    refused: Annotated[RejectionCode, _REFUSED] | None = None


class Advance(msgspec.Struct, frozen=True, kw_only=True):
    """Time goes on."""

    advance_to_ms: Annotated[AtLeastZero, about("Is the time then, since the run began.")]
    refused: Annotated[RejectionCode, _REFUSED] | None = None


class Cancel(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody asks for the run to be cancelled."""

    cancel: Annotated[str, about("Says why.")]
    requester: Annotated[Requester, about("Says who asks.")] = "script"
    refused: Annotated[RejectionCode, _REFUSED] | None = None


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """The run goes on by itself until a node has an active attempt."""

    reach: Annotated[NodeName, about("Goes on until this node is running.")]


Step = Start | Complete | Child | Run | Wait | Deliver | Advance | Cancel | Reach

ACTIONS: Final = tuple(kind.__struct_fields__[0] for kind in get_args(Step))


def steps_of(text: Text) -> tuple[Step, ...]:
    """Read a script. Raises `FileRefused`."""
    found, _ = read_as(tuple[Step, ...], text, f"A step begins with one of {', '.join(ACTIONS)}.")
    assert isinstance(found, tuple)
    if len(found) > MAX_STEPS:
        raise FileRefused(f"{text.name} has more than {MAX_STEPS:,} steps: make it shorter.")
    return found
