"""What a graph kernel is, for Python: who it is, what it claims, and what it answers.

A kernel under test keeps nothing: each question brings the whole history of a run.

Source: `docs/spec/kernel.md`; `docs/spec/client.md`; `docs/spec/protocol.md`, "Profile `reducer`".
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, Protocol

import msgspec

from perdure.journal.contract import Envelope, Snapshot
from perdure.kernel.identity import RunId
from perdure.kernel.structure import Members
from perdure.kernel.values import JsonObject


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one call may carry: UTF-8 bytes of a history as JSON without spaces, inclusive."""

    max_history_bytes: int


FLOOR: Final = Limits(max_history_bytes=32 * 2**20)
"""Every kernel takes at least this much."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a kernel does beyond accepting and refusing histories. What is not claimed is not judged."""

    state: bool = False
    """It tells the state that a history amounts to."""
    decide: bool = False
    """It decides commands."""
    codes: bool = False
    """It names the code of each rejection; it decides commands."""
    jitter: bool = False
    """It adds exactly the jitter of the specification; it decides commands."""
    records: bool = False
    """It restores a run from the records that a journal shows."""
    snapshots: bool = False
    """It restores a run with a snapshot too; it restores from records."""


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """Who a kernel is and what it claims."""

    name: str
    version: str
    capabilities: Capabilities
    limits: Limits


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One event of a history."""

    version: int
    """The version that it was recorded in."""
    event: Members
    """An object with a `type`, or what somebody took for one."""


Kind = Literal["corrupt", "incompatible"]


class Reduced(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a kernel says of a history."""

    accepted: bool
    whole: bool | None = None
    """Of an accepted one: whether nothing is owed, so that it may end here."""
    state: Members | None = None
    """Of a whole one, if it is claimed: what it amounts to, as `schemas/state-2.json` says."""
    output: Members | None = None
    """Of a whole one, if the state is claimed: the output of the run as far as it goes."""
    kind: Kind | None = None
    """Of a refused one: what it is refused for."""
    sequence: int | None = None
    """Of a refused one: the first wrong event, counted from 1."""
    code: str | None = None
    """Of a refused one, for people. Never judged."""
    sentence: str | None = None
    """For people; at most 4,096 characters. Never judged."""


class Shown(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a journal shows of a run: everything that it keeps, and its snapshot or none."""

    run_id: RunId
    records: tuple[Envelope, ...]
    snapshot: Snapshot | None = None


class Restored(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a kernel makes of what a journal shows."""

    restored: bool
    state: Members | None = None
    """Of a restored run: the state, as `schemas/state-2.json` says."""
    kind: Kind | None = None
    """Of a refused one: what it is refused for."""
    sequence: int | None = None
    """Of a refused one: the first position at which no right record stands."""
    code: str | None = None
    """Of a refused one, for people. Never judged."""
    sentence: str | None = None
    """For people; at most 4,096 characters. Never judged."""


class Decided(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a kernel says to a command."""

    allowed: bool
    version: int | None = None
    """Of an allowed one: the version that its events are written in."""
    events: tuple[Members, ...] | None = None
    """Of an allowed one: its batch."""
    code: str | None = None
    """Of one that is rejected, if codes are claimed: why."""
    disposition: str | None = None
    """Of a signal that was consumed before, if codes are claimed: what became of it."""
    sentence: str | None = None
    """For people; at most 4,096 characters. Never judged."""


class Kernel(Protocol):
    """A graph kernel."""

    @property
    def description(self) -> Description:
        """Who it is and what it claims."""
        ...

    def reduce(self, history: Sequence[Entry]) -> Reduced:
        """Answer whether the history can have happened. It has at least one event."""
        ...

    def decide(self, history: Sequence[Entry], command: JsonObject) -> Decided:
        """Answer what comes of a command after a history that is right and whole, or empty. Called only if claimed."""
        ...

    def restore(self, shown: Shown) -> Restored:
        """Answer how a run stands, by what a journal shows of it. Called only if claimed."""
        ...

    def close(self) -> None:
        """End in good order."""
        ...


class KernelFactory(Protocol):
    """How a Python kernel is opened: `module:factory` names one of these."""

    def __call__(self, state_dir: Path, namespace: str) -> Kernel:
        """Open a kernel. It keeps no state, and is given a place for it all the same."""
        ...
