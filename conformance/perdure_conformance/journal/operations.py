"""Operations as data: what a script, a machine and a failure folder are made of.

They name runs, events and owners by small numbers. A play gives each number an identity of its own, so that a case can
be played again and again in one journal.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import lru_cache
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from perdure.journal.contract import Envelope
from perdure.journal.records import seal
from perdure.kernel.identity import EventId, OwnerId, RunId
from perdure.kernel.values import JsonObject, canonical_json

Number = Annotated[int, Meta(ge=0, le=10_000)]
Position = Annotated[int, Meta(ge=1, le=2**53 - 1)]
Damaging = Literal["flip", "cut", "zeros", "erase"]
BodyBytes = Annotated[int, Meta(ge=0, le=2**21)]
Letter = Literal["x", "\u00e9", "\u20ac", "\U0001f600"]
"""One of each length in UTF-8: of 1, 2, 3 and 4 bytes."""
Milliseconds = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class RecordSpec(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One record of an append. The defaults make a valid one; the overrides make it malformed on purpose."""

    event: Number
    """Which event: equal numbers are equal event ids."""
    text: Annotated[str, Meta(max_length=4096)] = ""
    """Text in the record's event, however odd."""
    body_bytes: BodyBytes = 0
    """Pad the body to this many bytes."""
    padding: Letter = "x"
    """What it is padded with; what this leaves over, with the first of them."""
    sequence: Position | None = None
    event_id: Annotated[str, Meta(max_length=200)] | None = None
    empty_body: bool = False
    awkward: Literal["", "keys", "numbers"] = ""
    """Add members that only the bytes keep: whoever writes the JSON anew changes their order, or their numbers."""
    batch: tuple[Number, Number] | None = None
    """Claim this index and size of the batch, as if the record came from another one."""


class _Operation(msgspec.Struct, frozen=True, tag_field="operation", omit_defaults=True, forbid_unknown_fields=True):
    """One step of a case."""


class Append(_Operation, frozen=True, tag="append"):
    """Append records at `expected_next`."""

    run: Number
    expected_next: Position
    records: tuple[RecordSpec, ...]
    grant: Number | None = None
    """Under the epoch of the run's grant of this number, counted from 0; None sends no epoch."""
    ahead: Number = 0
    """Under an epoch so much higher than the grant's."""
    handle: Number = 0


class Load(_Operation, frozen=True, tag="load"):
    """Read a run to its end, page by page."""

    run: Number
    from_sequence: Position = 1
    limit: Position = 1_000
    handle: Number = 0


class SaveSnapshot(_Operation, frozen=True, tag="save_snapshot"):
    """Save a snapshot."""

    run: Number
    sequence: Position
    text: Annotated[str, Meta(max_length=4096)]
    body_bytes: BodyBytes = 0
    """Pad the body to this many bytes."""
    padding: Letter = "x"
    """What it is padded with; what this leaves over, with the first of them."""
    handle: Number = 0


class LoadSnapshot(_Operation, frozen=True, tag="load_snapshot"):
    """Load the snapshot."""

    run: Number
    handle: Number = 0


class Acquire(_Operation, frozen=True, tag="acquire"):
    """Ask for the lease. Owners are numbers; the caller's clock says `now_ms`."""

    run: Number
    ttl_ms: Milliseconds
    now_ms: Milliseconds
    owner: Number = 0
    handle: Number = 0


class Renew(_Operation, frozen=True, tag="renew"):
    """Prolong the lease of the run's grant of this number."""

    run: Number
    grant: Number
    ttl_ms: Milliseconds
    now_ms: Milliseconds
    ahead: Number = 0
    """Under an epoch so much higher than the grant's."""
    handle: Number = 0


class Release(_Operation, frozen=True, tag="release"):
    """End the lease of the run's grant of this number."""

    run: Number
    grant: Number
    handle: Number = 0


class Follow(_Operation, frozen=True, tag="follow"):
    """In a race alone: read on after the last record that this handle has shown, so many times."""

    run: Number
    times: Annotated[int, Meta(ge=1, le=1_000)] = 1
    limit: Position = 1_000
    handle: Number = 0


Racing = Append | Load | Follow | Acquire


class Race(_Operation, frozen=True, tag="race"):
    """Several handles at once: each does its own operations one after the other, and all start together.

    An append goes to what its handle takes for the next sequence: `expected_next`, until an answer tells more.
    """

    operations: Annotated[tuple[Racing, ...], Meta(min_length=1, max_length=200)]

    @property
    def handles(self) -> list[int]:
        """The handles that take part, the lowest first."""
        return sorted({operation.handle for operation in self.operations})


class Reopen(_Operation, frozen=True, tag="reopen"):
    """Close every handle in good order, or one, and open it again."""

    handle: Number | None = None


class Crash(_Operation, frozen=True, tag="crash"):
    """Kill −9 every process and start again."""


class ReadFile(_Operation, frozen=True, tag="read_file"):
    """Compare the file of a run with what it must hold."""

    run: Number


class Interrupt(_Operation, frozen=True, tag="interrupt"):
    """Leave in the files what an append leaves that is cut short: every handle is closed, and nobody was told."""

    run: Number
    records: tuple[RecordSpec, ...]
    kept_bytes: Annotated[int, Meta(ge=0, le=2**21)]
    """How many bytes of the append are there; the last one never is."""
    zeros: Annotated[int, Meta(ge=0, le=2**16)] = 0
    """How many zeros follow."""


class Damage(_Operation, frozen=True, tag="damage"):
    """Change what the file of a run, or of its snapshot, holds of what was acknowledged. Every handle is closed."""

    run: Number
    how: Damaging
    record: Number = 0
    """Whose bytes, counted from the last record back."""
    offset: Annotated[int, Meta(ge=0, le=2**21)] = 0
    """Which byte of the record in the file; beyond its end it is counted anew from its beginning."""
    size: Annotated[int, Meta(ge=1, le=2**16)] = 1
    """Which bits to flip, up to 255, or how many zeros to write."""
    snapshot: bool = False
    """Whether the file is that of the snapshot."""


class Obstruct(_Operation, frozen=True, tag="obstruct"):
    """Put a folder in the place of a run's file, so that it cannot be read. Every handle is closed."""

    run: Number


class Clear(_Operation, frozen=True, tag="clear"):
    """Put the obstructed file back. Every handle is closed."""

    run: Number


OnFiles = ReadFile | Interrupt | Damage | Obstruct | Clear
"""What is done behind the journal's back, to files whose format it claims."""
Operation = Append | Load | SaveSnapshot | LoadSnapshot | Acquire | Renew | Release | Race | Reopen | Crash | OnFiles


def one_by_one(operations: Iterable[Operation]) -> Iterator[Operation | Racing]:
    """Yield the operations, and instead of each race those of its handles."""
    for operation in operations:
        if isinstance(operation, Race):
            yield from operation.operations
        else:
            yield operation


_AWKWARD: dict[str, JsonObject] = {
    "": {},
    "keys": {"10": 1, "9": 2, "-1": 3, "\U0001f600": 4, "\ufb33": 5, "": {"": {}}},
    "numbers": {"small": 1e-7, "smaller": 5e-324, "decimal": 0.000001, "large": 1e30, "mixed": [True, 1, "1", None]},
}
"""Canonical JSON sorts keys by UTF-16 code units, and writes numbers in its own way."""


def _padded(letter: Letter, size_bytes: int) -> str:
    """Return text of so many bytes; none if there is nothing to fill."""
    count, rest = divmod(max(0, size_bytes), len(letter.encode()))
    return letter * count + "x" * rest


class _Sealed:
    """Records that were sealed are kept, as long as all of them are not too long: many are sent the same."""

    _CHARACTERS_OF_AN_APPEND: Final = 2**19
    """More than that are few long records, which are sealed as quickly as they are found."""
    _CHARACTERS: Final = 2**25

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[Envelope, ...]] = {}
        self._characters = 0

    def get(self, key: Hashable, seal_all: Callable[[], tuple[Envelope, ...]]) -> tuple[Envelope, ...]:
        """Return what was sealed under a key; it is sealed now if it is not there."""
        if (found := self._kept.get(key)) is not None:
            return found
        records = seal_all()
        characters = sum(len(record.body) for record in records)
        if characters <= self._CHARACTERS_OF_AN_APPEND:
            if self._characters > self._CHARACTERS:
                self._kept.clear()
                self._characters = 0
            self._kept[key] = records
            self._characters += characters
        return records


_SEALED: Final = _Sealed()


class Identities:
    """The identities of one play, a function of its seed and number: the same play has the same ones again."""

    def __init__(self, seed: int, play: int) -> None:
        self._prefix = f"{seed}/{play}"

    def run_id(self, number: int) -> RunId:
        """Return the id of a run."""
        return RunId(self._id("run", number))

    def event_id(self, number: int) -> EventId:
        """Return the id of an event."""
        return EventId(self._id("event", number))

    def owner_id(self, number: int) -> OwnerId:
        """Return the id of an owner of leases."""
        return OwnerId(self._id("owner", number))

    def envelopes(self, operation: Append) -> tuple[Envelope, ...]:
        """Build the records of an append."""
        key = (self._prefix, operation.run, operation.expected_next, operation.records)
        return _SEALED.get(
            key, lambda: tuple(self._envelope(operation, index) for index in range(len(operation.records)))
        )

    def snapshot_body(self, operation: SaveSnapshot) -> str:
        """Build the body of a snapshot: canonical JSON that only its bytes keep."""
        state: JsonObject = {
            "run_id": self.run_id(operation.run),
            "sequence": operation.sequence,
            **_AWKWARD["keys"],
            **_AWKWARD["numbers"],
        }
        body = canonical_json({**state, "text": operation.text}).decode()
        missing = operation.body_bytes - len(body.encode())
        return canonical_json({**state, "text": operation.text + _padded(operation.padding, missing)}).decode()

    def _envelope(self, operation: Append, index: int) -> Envelope:
        spec = operation.records[index]
        envelope = self._sealed(operation, index, padding="")
        missing = spec.body_bytes - len(envelope.body.encode())
        if missing > 0:
            envelope = self._sealed(operation, index, padding=_padded(spec.padding, missing))
        return Envelope(envelope.sequence, envelope.event_id, "") if spec.empty_body else envelope

    def _sealed(self, operation: Append, index: int, padding: str) -> Envelope:
        spec = operation.records[index]
        return seal(
            self.run_id(operation.run),
            spec.sequence or operation.expected_next + index,
            self.event_id(spec.event) if spec.event_id is None else EventId(spec.event_id),
            {"type": "NodeSucceeded", "output": {"text": spec.text + padding, **_AWKWARD[spec.awkward]}},
            batch_index=index if spec.batch is None else spec.batch[0],
            batch_size=len(operation.records) if spec.batch is None else spec.batch[1],
        )

    def _id(self, kind: str, number: int) -> str:
        return _uuid(f"{self._prefix}/{kind}", number)


@lru_cache(maxsize=2**14)
def _uuid(prefix: str, number: int) -> str:
    """Return an id that differs from others of its prefix at its end if the number is even, else at its start."""
    digest = hashlib.sha256(prefix.encode()).hexdigest()
    same, differs = digest[:26], f"{number:04x}"
    text = f"{same}00{differs}" if number % 2 == 0 else f"{differs}{same[4:]}000001"
    return str(uuid.UUID(text, version=4))


def handles_of(operation: Operation) -> list[int]:
    """Return the handles that an operation names."""
    match operation:
        case Race():
            return operation.handles
        case Crash() | ReadFile() | Interrupt() | Damage() | Obstruct() | Clear():
            return []
        case Reopen(handle=handle):
            return [] if handle is None else [handle]
        case _:
            return [operation.handle]
