"""Snapshots: the state of a run at a border between two batches, tied to the record that it includes last.

A snapshot is a derived cache and never the truth: whatever is wrong with one has a code, and whoever finds it replays
the whole history.

Source: ADR-0032, "Journal and snapshot guarantees"; SNP requirements of `docs/spec/client.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Final, Literal, NoReturn

import msgspec
from msgspec import Meta

from perdure.kernel.errors import HistoryError, corrupt
from perdure.kernel.events import RunCreated, RunIdText
from perdure.kernel.histories import Links, Standing, followed_from
from perdure.kernel.outcomes import DigestText
from perdure.kernel.problems import Problems
from perdure.kernel.records import EventIdText, Record
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.snapshots import document_of_state, state_from
from perdure.kernel.state import State
from perdure.kernel.structure import AtLeastOne, Members, Reading, about, read
from perdure.kernel.values import JsonError, JsonObject, canonical_json, digest, read_json

SNAPSHOT_SCHEMA_VERSION: Final = 1

SnapshotVersion = Annotated[
    int, Meta(ge=SNAPSHOT_SCHEMA_VERSION, le=SNAPSHOT_SCHEMA_VERSION, extra={"code": "unsupported_version"})
]

SnapshotFault = Literal[
    "not_json",
    "not_canonical",
    "unknown_version",
    "wrong_structure",
    "wrong_checksum",
    "wrong_run",
    "wrong_position",
    "wrong_event_id",
    "wrong_record",
    "wrong_specification",
    "inside_batch",
    "wrong_state",
]
"""What is wrong with a snapshot."""


class SnapshotError(Exception):
    """A snapshot that is to be discarded. `str(error)` says why."""

    def __init__(self, code: SnapshotFault, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class SnapshotDocument(msgspec.Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """A snapshot: how a run stood after a record that was the last of its batch."""

    snapshot_schema_version: Annotated[SnapshotVersion, about("Says how the document is to be read.")]
    run_id: Annotated[RunIdText, about("Says which run.")]
    sequence: Annotated[AtLeastOne, about("Is the sequence of the last record that the state includes.")]
    event_id: Annotated[EventIdText, about("Is the identity of the event of that record.")]
    record_checksum: Annotated[DigestText, about("Is the checksum of that record.")]
    content_hash: Annotated[DigestText, about("Is the `content_hash` of the specification that the run is pinned to.")]
    state_checksum: Annotated[
        DigestText, about("Is the SHA-256 of the canonical form of the state, in lowercase hexadecimal.")
    ]
    state: Annotated[Members, about("Is the state, as `state-2.json` says.")]


def snapshot_of(standing: Standing) -> bytes:
    """Return the text of the snapshot of how a run stands. Raises `Corruption` inside a batch: there is none."""
    state, last = standing.state, standing.last
    if last.batch_index + 1 < last.batch_size:
        corrupt("incomplete_batch", "a snapshot is taken between two batches only")
    document = document_of_state(state)
    return canonical_json(
        {
            "snapshot_schema_version": SNAPSHOT_SCHEMA_VERSION,
            "run_id": last.run_id,
            "sequence": last.sequence,
            "event_id": last.event_id,
            "record_checksum": last.checksum,
            "content_hash": state.content_hash,
            "state_checksum": digest(document),
            "state": document,
        }
    )


def read_snapshot(text: bytes) -> SnapshotDocument:
    """Read a snapshot, and hold it against every rule that needs no record. Raises `SnapshotError`."""
    try:
        value = read_json(text)
    except JsonError as error:
        discard("not_json", str(error))
    problems = Problems()
    found = read(SnapshotDocument, value, Reading(problems, None))
    if found is None or problems.errors:
        first = problems.kept[0]
        discard(
            "unknown_version" if first.code == "unsupported_version" else "wrong_structure",
            f"{first.pointer or '/'}: {first.sentence}",
        )
    assert isinstance(found, SnapshotDocument)
    if canonical_json(value) != text:
        discard("not_canonical", "the snapshot is not in canonical form")
    if found.state_checksum != digest(found.state):
        discard("wrong_checksum", "the checksum does not fit the state")
    return found


def resumed(found: SnapshotDocument, records: Iterable[Record], rules: Rules = RULES) -> Iterator[Standing]:
    """Yield how a run stands by its snapshot, and after each record that follows; `records` are all that it has.

    Those that the snapshot includes are not reduced again, and still held against each other: no snapshot hides that
    one of them is damaged. Raises `SnapshotError`, and `HistoryError` with the sequence.
    """
    links, following = Links(), iter(records)
    first: Record | None = None
    for record in following:
        links.follow(record)
        first = first or record
        if record.sequence == found.sequence:
            standing = restored(found, first, record, rules)
            yield standing
            yield from followed_from(standing, following, rules, links)
            return
    discard("wrong_position", f"the history has no record {found.sequence}")


def restored(found: SnapshotDocument, first: Record, last: Record, rules: Rules = RULES) -> Standing:
    """Return how a run stands by its snapshot, its first record, and the record that the snapshot includes last.

    Raises `SnapshotError`.
    """
    if found.run_id != first.run_id:
        discard("wrong_run", f"the snapshot is of another run, {found.run_id}")
    if found.sequence != last.sequence:
        discard("wrong_position", f"the snapshot ends at {found.sequence}, and the record is at {last.sequence}")
    if found.event_id != last.event_id:
        discard("wrong_event_id", f"the event at {found.sequence} is {last.event_id}, not {found.event_id}")
    if found.record_checksum != last.checksum:
        discard("wrong_record", f"the record at {found.sequence} is another than that of the snapshot")
    if last.batch_index + 1 < last.batch_size:
        discard("inside_batch", f"the snapshot ends inside a batch, at {found.sequence}")
    return Standing(last, _state(found, first, last, rules))


def _state(found: SnapshotDocument, first: Record, last: Record, rules: Rules) -> State:
    """Return the state, which repeats what the records say. Raises `SnapshotError`."""
    creation = first.event
    if not isinstance(creation, RunCreated) or found.content_hash != creation.content_hash:
        discard("wrong_specification", "the run is not pinned to the specification of the snapshot")
    repeated: JsonObject = {
        "run_id": first.run_id,
        "content_hash": creation.content_hash,
        "ancestors": creation.ancestors,
        "input": creation.input,
        "sequence": last.sequence,
        "version": last.recorded_version,
        "oldest": first.recorded_version,
    }
    told: JsonObject = {"ancestors": (), "input": {}, **found.state}
    for member, value in repeated.items():
        if canonical_json(told.get(member)) != canonical_json(value):
            discard("wrong_state", f"the records have another {member} than the state")
    try:
        return state_from(found.state, creation.specification, rules)
    except HistoryError as error:
        discard("wrong_state", str(error))


def discard(code: SnapshotFault, sentence: str) -> NoReturn:
    """Raise `SnapshotError`."""
    raise SnapshotError(code, sentence)
