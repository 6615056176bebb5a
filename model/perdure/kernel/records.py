"""Records: one event of a run, at its place in the history, as it is stored.

A record is stored as one line of canonical JSON. Its checksum is the digest of the record without it. There are two
ways to read one, which agree on every line: `verified` holds it against every rule, one after the other; `decoded` is
quick with the records that are usual, and leaves all others to `verified`.

Source: "Records and events" of the graph design; VER requirements of `docs/spec/kernel.md`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, get_args

import msgspec

from perdure.kernel.errors import Incompatible, IncompatibleCode, corrupt
from perdure.kernel.events import (
    EVENTS,
    RUNTIME_VERSION,
    AnyEvent,
    AttemptIdText,
    Event,
    EventV1,
    EventV2,
    EventV3,
    EventV4,
    EventV5,
    NodeOutcomeCommitted,
    RunIdText,
)
from perdure.kernel.identity import UUID_GRAMMAR, EventId, RunId
from perdure.kernel.limits import record_limit, require_within_limits
from perdure.kernel.outcomes import (
    MAX_INLINE_BYTES,
    MAX_INLINE_DEPTH,
    MAX_REASON_BYTES,
    OUTCOME_KINDS,
    ChangesRequested,
    DigestText,
    Succeeded,
    Unsuccessful,
)
from perdure.kernel.problems import Problems
from perdure.kernel.specification import NodeName, Version
from perdure.kernel.structure import AtLeastOne, AtLeastZero, Members, Reading, about, read, whole
from perdure.kernel.values import Digest, JsonError, JsonObject, JsonValue, canonical_json, digest, read_json

EventIdText = Annotated[EventId, whole(UUID_GRAMMAR)]

_NAMES: Final[Mapping[int, frozenset[str]]] = {
    version: frozenset(kind.__name__ for kind in kinds) for version, kinds in EVENTS.items()
}
VERSIONS: Final[Mapping[int, object]] = dict(enumerate((EventV1, EventV2, EventV3, EventV4, EventV5), start=1))
"""The events of each version, as a union."""


class StoredRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """A record as it is stored: one event of a run's history, at its place."""

    run_id: Annotated[RunIdText, about("Says whose history it is in.")]
    sequence: Annotated[AtLeastOne, about("Is its place in the history: 1, 2, 3, without a gap.")]
    event_id: Annotated[EventIdText, about("Gives the event an identity, which no other event of the run has.")]
    batch_index: Annotated[AtLeastZero, about("Is its place in its batch, from 0.")]
    batch_size: Annotated[AtLeastOne, about("Says how many records its batch has.")]
    schema_version: Annotated[
        Version, about("Says in which version the event was recorded: its rules are those of this version.")
    ]
    event: Annotated[Members, about("Is the event: an object with a `type`, as the schema of its version says.")]
    checksum: Annotated[
        DigestText,
        about("Is the SHA-256 of the canonical form of the record without this member, in lowercase hexadecimal."),
    ]


class Record(msgspec.Struct, frozen=True, gc=False):
    """One event of a run's history, at its place."""

    run_id: RunId
    sequence: int
    event_id: EventId
    batch_index: int
    batch_size: int
    recorded_version: int
    event: AnyEvent
    checksum: Digest


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a batch begins, and in which version it is written."""

    run_id: RunId
    sequence: int
    version: int = RUNTIME_VERSION


def sealed(place: Place, events: Sequence[AnyEvent], event_ids: Iterable[EventId]) -> list[bytes]:
    """Return the lines of a batch: checksummed, in canonical form, without line feeds."""
    lines = []
    for index, (event, event_id) in enumerate(zip(events, event_ids, strict=True)):
        unsealed: dict[str, JsonValue] = {
            "run_id": place.run_id,
            "sequence": place.sequence + index,
            "event_id": event_id,
            "batch_index": index,
            "batch_size": len(events),
            "schema_version": place.version,
            "event": document_of(event),
        }
        lines.append(canonical_json({**unsealed, "checksum": digest(unsealed)}))
    return lines


def document_of(event: Event) -> JsonObject:
    """Return an event as JSON."""
    document: JsonObject = msgspec.to_builtins(event)
    return document


def verified(line: bytes) -> Record:
    """Read a record, and hold it against every rule that needs no history. Raises `Corruption`, `Incompatible`."""
    try:
        value = read_json(line)
    except JsonError as error:
        corrupt("not_json", str(error))
    stored = structured(StoredRecord, value, None)
    assert isinstance(stored, StoredRecord)
    assert isinstance(value, Mapping)
    if canonical_json(value) != line:
        corrupt("not_canonical", "the record is not in canonical form")
    if stored.checksum != digest({name: member for name, member in value.items() if name != "checksum"}):
        corrupt("wrong_checksum", "the checksum does not fit the content")
    if stored.batch_index >= stored.batch_size:
        corrupt("wrong_batch", f"the index {stored.batch_index} is not below the size of the batch")
    return _measured(_record(stored, event_of(stored.event, stored.schema_version)), len(line))


def _record(stored: StoredRecord, event: AnyEvent) -> Record:
    return Record(
        run_id=stored.run_id,
        sequence=stored.sequence,
        event_id=stored.event_id,
        batch_index=stored.batch_index,
        batch_size=stored.batch_size,
        recorded_version=stored.schema_version,
        event=event,
        checksum=stored.checksum,
    )


def event_of(document: JsonObject, version: int) -> AnyEvent:
    """Decode an event of a version. Raises `Corruption`, `Incompatible`."""
    name = document.get("type")
    if isinstance(name, str) and name not in _NAMES[version]:
        raise Incompatible("unknown_type", f"version {version} has no event {name[:100]}")
    event = structured(VERSIONS[version], document, version)
    assert isinstance(event, _EVENTS)
    return event


_UNKNOWN: Final[Mapping[str, IncompatibleCode]] = {
    "unsupported_version": "unknown_version",
    "unknown_member": "unknown_member",
    "member_of_later_version": "unknown_member",
}


def structured(kind: object, value: JsonValue, version: int | None) -> object:
    """Decode a value as a type, with the members of a version. Raises `Corruption`, `Incompatible`."""
    problems = Problems()
    found = read(kind, value, Reading(problems, version))
    if found is None or problems.errors:
        first = problems.kept[0]
        sentence = f"{first.pointer or '/'}: {first.sentence}"
        if first.code in _UNKNOWN:
            raise Incompatible(_UNKNOWN[first.code], sentence)
        corrupt("wrong_structure", sentence)
    return found


def _measured(record: Record, size: int) -> Record:
    """Return the record, if nothing in it exceeds its limit."""
    limit = record_limit(record.event)
    if size > limit:
        corrupt("over_limit", f"the record has {size} bytes, and may have {limit}")
    require_within_limits(record.event)
    return record


class _Committed(Event, frozen=True, kw_only=True, tag="NodeOutcomeCommitted"):
    """An outcome that is not decoded yet: there are three structs for the seven kinds."""

    node: NodeName
    attempt_id: AttemptIdText | None = None
    outcome: Members


_EVENTS: Final[tuple[type[AnyEvent], ...]] = get_args(AnyEvent)
_KINDS: Final[Mapping[str, type[Event]]] = {kind.__name__: kind for kind in EVENTS[RUNTIME_VERSION]}
_OUTCOMES: Final[Mapping[JsonValue, type[Succeeded | ChangesRequested | Unsuccessful]]] = {
    **dict.fromkeys(OUTCOME_KINDS, Unsuccessful),
    "succeeded": Succeeded,
    "changes_requested": ChangesRequested,
}
_QUICK_FROM: Final = 4
"""The version from which no event has gained a member."""
_STORED: Final = msgspec.json.Decoder(StoredRecord)
_SORTED: Final = msgspec.json.Encoder(order="sorted")
_JSON_OF_ANY_KIND: Final = re.compile(rb'"(?:output|payload|specification)":')
_UNUSUAL_NUMBER: Final = re.compile(rb"[:,\[]-?(?:[0-9]{16}|[0-9]*[.eE])")
"""A number that may be outside ±(2^53−1), or is not written as an integer."""
_ASTRAL: Final = re.compile(rb"[\xf0-\xf4]")
"""A character by which keys may be in another order in UTF-8 than in UTF-16."""


def decoded(line: bytes) -> Record:
    """Read a record, quickly if it is a usual one. Raises `Corruption`, `Incompatible`, as `verified` does.

    Usual is a record of a newer version, with JSON whose canonical form needs no more than sorted keys.
    """
    if _is_plain(line):
        try:
            stored = _STORED.decode(line)
            if _is_sound(stored, line):
                record = _record(stored, _quick_event(stored.event))
                return record if _is_within_all_limits(line) else _measured(record, len(line))
        except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError):
            pass
    return verified(line)


def _is_plain(line: bytes) -> bool:
    """Tell whether nothing in a line could be read in two ways, whatever it says."""
    return (
        len(line) <= MAX_INLINE_BYTES
        and b"null" not in line
        and line.count(b"[") + line.count(b"{") <= MAX_INLINE_DEPTH
        and (line.isascii() or _ASTRAL.search(line) is None)
        and not (_JSON_OF_ANY_KIND.search(line) and _UNUSUAL_NUMBER.search(line))
    )


def _is_sound(stored: StoredRecord, line: bytes) -> bool:
    """Tell whether a plain record is in canonical form, and what can be told without its event is right."""
    covered = line.replace(b'"checksum":"' + stored.checksum.encode() + b'",', b"", 1)
    return (
        stored.schema_version >= _QUICK_FROM
        and stored.event["type"] in _NAMES[stored.schema_version]
        and stored.batch_index < stored.batch_size
        and _SORTED.encode(stored) == line
        and hashlib.sha256(covered).hexdigest() == stored.checksum
    )


def _is_within_all_limits(line: bytes) -> bool:
    """Tell whether nothing in a line can exceed its limit or contradict itself."""
    return len(line) <= MAX_REASON_BYTES and b'"artifact"' not in line


def _quick_event(document: JsonObject) -> AnyEvent:
    if document["type"] != "NodeOutcomeCommitted":
        event = msgspec.convert(document, _KINDS[str(document["type"])])
        assert isinstance(event, _EVENTS)
        return event
    committed = msgspec.convert(document, _Committed)
    outcome = msgspec.convert(committed.outcome, _OUTCOMES[committed.outcome["kind"]])
    return NodeOutcomeCommitted(node=committed.node, attempt_id=committed.attempt_id, outcome=outcome)
