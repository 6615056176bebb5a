"""Records: the canonical form that a journal stores as the body of an envelope.

The caller builds and checksums records; a journal keeps their bytes. A checksum is the digest of the record without
its `checksum` member.

Source: "Records and events" of the graph design.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from perdure.journal.contract import Envelope
from perdure.kernel.identity import EventId, RunId, is_canonical_uuid
from perdure.kernel.values import Digest, JsonObject, JsonValue, canonical_json, digest, read_json

SCHEMA_VERSION = 1
"""The version of event that is written."""


class RecordError(ValueError):
    """A body is no sound record. `str(error)` says what is wrong with it."""


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fact of a run's history, at its position, as part of one atomic batch."""

    run_id: RunId
    sequence: Annotated[int, Meta(ge=1)]
    event_id: EventId
    batch_index: Annotated[int, Meta(ge=0)]
    """0 for the first record of its batch."""
    batch_size: Annotated[int, Meta(ge=1)]
    schema_version: Annotated[int, Meta(ge=1, le=5)]
    event: dict[str, object]
    """The fact: an object with a `type`."""
    checksum: Digest

    def __post_init__(self) -> None:
        if not (is_canonical_uuid(self.run_id) and is_canonical_uuid(self.event_id)):
            raise ValueError("a run or event id is no canonical lowercase UUID")
        if self.batch_index >= self.batch_size:
            raise ValueError("the index in the batch is not below the batch's size")
        if not isinstance(self.event.get("type"), str):
            raise TypeError("the event has no type")


def seal(
    run_id: RunId, sequence: int, event_id: EventId, event: JsonObject, *, batch_index: int, batch_size: int
) -> Envelope:
    """Build one record of a batch: checksummed, in canonical form, in its envelope."""
    unsealed: dict[str, JsonValue] = {
        "run_id": run_id,
        "sequence": sequence,
        "event_id": event_id,
        "batch_index": batch_index,
        "batch_size": batch_size,
        "schema_version": SCHEMA_VERSION,
        "event": event,
    }
    sealed = {**unsealed, "checksum": digest(unsealed)}
    return Envelope(sequence, event_id, canonical_json(sealed).decode("utf-8"))


def opened(body: str) -> Record:
    """Read and verify the record in a body: strict JSON, in canonical form, with the right checksum.

    Raises `RecordError`.
    """
    try:
        value = read_json(body)
        canonical = canonical_json(value).decode("utf-8")
        record = msgspec.convert(value, Record)
    except (ValueError, msgspec.ValidationError) as error:
        raise RecordError(f"{error}") from error
    if canonical != body:
        raise RecordError("the body is not in canonical form")
    if record.checksum != _checksum_of(value):
        raise RecordError("the checksum does not fit the content")
    return record


def open_record(envelope: Envelope) -> Record:
    """Read and verify the record in an envelope.

    Raises `RecordError` if the body holds no sound record, or one of another position or event than its envelope.
    """
    try:
        record = opened(envelope.body)
    except RecordError as error:
        raise RecordError(f"record {envelope.sequence}: {error}") from error
    if (record.sequence, record.event_id) != (envelope.sequence, envelope.event_id):
        raise RecordError(f"record {envelope.sequence}: the body names another position or event")
    return record


def _checksum_of(value: JsonValue) -> Digest:
    assert isinstance(value, dict)
    return digest({name: member for name, member in value.items() if name != "checksum"})
