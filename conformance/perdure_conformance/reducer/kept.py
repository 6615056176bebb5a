"""What a journal keeps of a run: right at first, and then with one thing that is wrong.

Records are made of the events of a history, batch by batch, and a snapshot is the model's own. What is changed on
purpose is sealed anew, so that nothing but that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from perdure.journal.contract import Envelope, Snapshot
from perdure.kernel.caches import snapshot_of
from perdure.kernel.identity import EventId, RunId
from perdure.kernel.rules import RULES
from perdure.kernel.values import canonical_json, digest, read_json
from perdure_conformance.reducer.contract import Shown
from perdure_conformance.reducer.histories import RUN, Fact, History, uuid
from perdure_conformance.reducer.shorter import batches_of
from perdure_conformance.reducer.shown import recovered

Value = Any
GONE: Final = ...
"""In the place of a member: it is left out."""


def event_id(number: int) -> str:
    """Return the identity of an event."""
    return uuid(6, number)


def sealed(record: Fact) -> str:
    """Return the text of a record, with the checksum that fits."""
    members = {name: value for name, value in record.items() if name != "checksum"}
    return canonical_json({**members, "checksum": digest(members)}).decode()


def with_members(document: Mapping[str, Value], members: Mapping[str, Value]) -> Fact:
    """Return an object with other members; those that are `GONE` are left out."""
    return {name: value for name, value in {**document, **members}.items() if value is not GONE}


def envelope_of(record: Fact) -> Envelope:
    """Return a record as a journal shows it."""
    return Envelope(record["sequence"], EventId(record["event_id"]), sealed(record))


def opened(envelope: Envelope) -> Fact:
    """Return the members of a record. Its text is strict JSON."""
    found: Any = read_json(envelope.body)
    return dict(found)


@dataclass(frozen=True, slots=True)
class Kept:
    """All that a journal keeps of one run."""

    past: History
    """What there was before anything went wrong."""
    records: tuple[Envelope, ...]
    snapshot: Snapshot | None = None
    run_id: str = RUN

    @property
    def shown(self) -> Shown:
        """What is shown to whoever restores the run."""
        return Shown(RunId(self.run_id), self.records, self.snapshot)

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.records)

    # Records, by their position

    def record(self, at: int) -> Fact:
        """Return the members of a record."""
        return opened(self.records[at - 1])

    def instead(self, at: int, *envelopes: Envelope) -> Kept:
        """Return it with other records in the place of one, or none."""
        return replace(self, records=(*self.records[: at - 1], *envelopes, *self.records[at:]))

    def but(self, at: int, **members: Value) -> Kept:
        """Return it with other members in a record, which is sealed anew."""
        return self.instead(at, envelope_of(with_members(self.record(at), members)))

    def saying(self, at: int, edit: Callable[[str], str]) -> Kept:
        """Return it with another text in a record, whatever its checksum is then."""
        envelope = self.records[at - 1]
        text = edit(envelope.body)
        assert text != envelope.body
        return self.instead(at, msgspec.structs.replace(envelope, body=text))

    def labelled(self, at: int, **members: Value) -> Kept:
        """Return it with an envelope that says something else than its record."""
        return self.instead(at, msgspec.structs.replace(self.records[at - 1], **members))

    def without(self, at: int) -> Kept:
        """Return it without a record."""
        return self.instead(at)

    def until(self, at: int) -> Kept:
        """Return it up to a record."""
        return replace(self, records=self.records[:at])

    def swapped(self, at: int) -> Kept:
        """Return it with a record and the next one in the other order."""
        one, other = self.records[at - 1 : at + 1]
        return replace(self, records=(*self.records[: at - 1], other, one, *self.records[at + 1 :]))

    def in_batches(self, *sizes: int) -> Kept:
        """Return it with its last records in batches of these sizes, whatever they were in."""
        at, found = len(self) - sum(sizes) + 1, self
        for size in sizes:
            for index in range(size):
                found, at = found.but(at, batch_index=index, batch_size=size), at + 1
        return found

    # A snapshot

    def taken(self, after: int, state: Mapping[str, Value] | None = None, **members: Value) -> Kept:
        """Return it with the snapshot after a record, with other members in its state and in itself.

        The checksum of the state fits, unless it is given.
        """
        standing = recovered(self.until(after).shown, RULES).standing
        assert standing is not None
        found: Any = read_json(snapshot_of(standing))
        changed = with_members(found["state"], state or {})
        document = with_members({**found, "state": changed, "state_checksum": digest(changed)}, members)
        return self.keeping(canonical_json(document).decode(), after)

    def keeping(self, body: str, under: int) -> Kept:
        """Return it with a snapshot, whatever it says, under a sequence."""
        return replace(self, snapshot=Snapshot(under, body))

    def snapshot_saying(self, edit: Callable[[str], str]) -> Kept:
        """Return it with another text of the snapshot."""
        assert self.snapshot is not None
        text = edit(self.snapshot.body)
        assert text != self.snapshot.body
        return self.keeping(text, self.snapshot.sequence)

    def keeps_snapshot(self, after: int) -> Kept:
        """Return it with the snapshot kept under another sequence."""
        assert self.snapshot is not None
        return self.keeping(self.snapshot.body, after)


def kept(past: History, run_id: str = RUN) -> Kept:
    """Return what a journal keeps of the history of a run, and no snapshot."""
    whole, rest = batches_of(past.entries)
    return Kept(past, tuple(_envelopes(run_id, whole + ([rest] if rest else []))), run_id=run_id)


def _envelopes(run_id: str, batches: Iterable[tuple[Value, ...]]) -> Iterable[Envelope]:
    sequence = 0
    for batch in batches:
        for index, entry in enumerate(batch):
            sequence += 1
            yield envelope_of(
                {
                    "run_id": run_id,
                    "sequence": sequence,
                    "event_id": event_id(sequence),
                    "batch_index": index,
                    "batch_size": len(batch),
                    "schema_version": entry.version,
                    "event": entry.event,
                }
            )
