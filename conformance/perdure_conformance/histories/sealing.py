"""Events of a run as the records that a journal stores, with identities that are always the same, and snapshots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from perdure.kernel.caches import snapshot_of
from perdure.kernel.consequences import owed
from perdure.kernel.errors import corrupt
from perdure.kernel.events import AnyEvent
from perdure.kernel.histories import followed_from
from perdure.kernel.identity import EventId, RunId
from perdure.kernel.records import Place, sealed, verified
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.state import State
from perdure.kernel.values import canonical_json, digest
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.histories import RUN
from perdure_conformance.reducer.reference import read_entry

Lines = tuple[bytes, ...]
Batch = tuple[int, list[AnyEvent]]
"""A version, and the events of a batch."""


def stored(entries: Sequence[Entry], version: int | None = None) -> Lines:
    """Return the records of a history, all of it in one version if one is given, whole batches each.

    Raises `HistoryError`.
    """
    lines: list[bytes] = []
    for recorded, events in _batches(entries, version):
        ids = [EventId(f"00000000-0000-7000-9000-{len(lines) + number:012x}") for number in range(len(events))]
        lines += sealed(Place(RunId(RUN), len(lines) + 1, recorded), events, ids)
    return tuple(lines)


def _batches(entries: Sequence[Entry], version: int | None) -> list[Batch]:
    found: list[Batch] = []
    state: State | None = None
    is_open = False
    for entry in entries:
        recorded = entry.version if version is None else version
        event = read_entry(Entry(recorded, entry.event))
        state = reduce(state, event, version=recorded)
        if not is_open:
            found.append((recorded, []))
        found[-1][1].append(event)
        is_open = owed(state, RULES) is not None
    if is_open:
        corrupt("incomplete_batch", "the last batch is not complete")
    return found


def checksum_of(line: bytes) -> str:
    """Return the checksum that a record says."""
    return str(json.loads(line)["checksum"])


def sealed_anew(line: bytes) -> bytes:
    """Return a record with the checksum that fits what it says."""
    unsealed = {name: member for name, member in json.loads(line).items() if name != "checksum"}
    return canonical_json({**unsealed, "checksum": digest(unsealed)})


def snapshot_after(lines: Sequence[bytes], sequence: int) -> Mapping[str, Any]:
    """Return the snapshot of a history after a record."""
    *_, standing = followed_from(None, map(verified, lines[:sequence]))
    found: Mapping[str, Any] = json.loads(snapshot_of(standing))
    return found


def tied_to(snapshot: Mapping[str, Any], line: bytes) -> Mapping[str, Any]:
    """Return a snapshot that is tied to another record."""
    record = json.loads(line)
    tie = {"sequence": record["sequence"], "event_id": record["event_id"], "record_checksum": record["checksum"]}
    return {**snapshot, **tie}


def with_state(snapshot: Mapping[str, Any], state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a snapshot with another state, and the checksum that fits it."""
    return {**snapshot, "state": state, "state_checksum": digest(state)}
