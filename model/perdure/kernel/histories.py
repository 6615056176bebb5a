"""Histories: records one after the other, each at its place, every batch whole.

Source: "Records and events" of the graph design; RUN and VER requirements of `docs/spec/kernel.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from perdure.kernel.consequences import owed
from perdure.kernel.errors import Corruption, HistoryError, corrupt
from perdure.kernel.events import EventV5, RunCreated
from perdure.kernel.identity import EventId
from perdure.kernel.records import Record
from perdure.kernel.reduce import followed
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.state import State


class Identities(Protocol):
    """A set of event ids."""

    def __contains__(self, event_id: EventId, /) -> bool:
        """Tell whether an event id was added."""
        ...

    def add(self, event_id: EventId, /) -> None:
        """Add an event id."""
        ...


def states(records: Iterable[Record], rules: Rules = RULES, seen: Identities | None = None) -> Iterator[State]:
    """Yield the state after each record of a run's whole history. The event ids are kept in `seen`, which is empty.

    Raises `HistoryError`, with the sequence, at the first record that cannot be where it is; after the last one, if
    its batch is incomplete.
    """
    return (standing.state for standing in followed_from(None, records, rules, Links(seen=seen)))


@dataclass(frozen=True, slots=True)
class Standing:
    """How a run stands: its last record, and the state after it."""

    last: Record
    state: State


class Links:
    """What ties records one to the next, whatever their events do: run, sequence, batch, and an identity of its own."""

    def __init__(self, last: Record | None = None, seen: Identities | None = None) -> None:
        self._last = last
        self._seen = set[EventId]() if seen is None else seen
        if last is not None:
            self._seen.add(last.event_id)

    def follow(self, record: Record) -> None:
        """Hold a record against the one before it, and go on from there. Raises `Corruption`, with the sequence."""
        try:
            _linked(self._last, record, self._seen)
        except Corruption as error:
            error.sequence = record.sequence if self._last is None else self._last.sequence + 1
            raise
        self._last = record

    def end(self) -> None:
        """Raise `Corruption` if the history cannot end here, inside a batch."""
        last = self._last
        if last is not None and last.batch_index + 1 < last.batch_size:
            told = f"the last batch has {last.batch_index + 1} of {last.batch_size} records"
            raise Corruption("incomplete_batch", told, last.sequence + 1)


def followed_from(
    standing: Standing | None, records: Iterable[Record], rules: Rules = RULES, links: Links | None = None
) -> Iterator[Standing]:
    """Yield how a run stands after each of the records that follow a border between two batches, or its beginning.

    Raises as `states` does. An event id is known to be used only if it stands in these records, last before them, or
    in those that `links` followed.
    """
    state, last = (None, None) if standing is None else (standing.state, standing.last)
    links = Links(last) if links is None else links
    expected: EventV5 | None = None
    for record in records:
        links.follow(record)
        try:
            _whole(state, expected, record)
            state = followed(state, record.event, expected, record.recorded_version, rules)
            expected = owed(state, rules)
            if expected is not None and record.batch_index + 1 == record.batch_size:
                corrupt("incomplete_batch", "the batch ends here, and more is owed")
        except HistoryError as error:
            error.sequence = record.sequence
            raise
        yield Standing(record, state)
    links.end()


def _linked(last: Record | None, record: Record, seen: Identities) -> None:
    """Hold a record against the one before it, and note its identity. Raises `Corruption`."""
    expected = 1 if last is None else last.sequence + 1
    if record.sequence != expected:
        corrupt("gap", f"sequence {expected} is missing: {record.sequence} is in its place")
    if last is not None and record.run_id != last.run_id:
        corrupt("wrong_run", f"the record belongs to another run, {record.run_id}")
    if record.event_id in seen:
        corrupt("event_id_used", f"the event {record.event_id} stands in the history already")
    seen.add(record.event_id)
    is_next = last is not None and last.batch_index + 1 < last.batch_size
    batch = (last.batch_index + 1, last.batch_size, last.recorded_version) if last is not None and is_next else None
    if batch is not None and (record.batch_index, record.batch_size, record.recorded_version) != batch:
        corrupt("wrong_batch", f"record {batch[0] + 1} of a batch of {batch[1]} in version {batch[2]} is missing")
    if batch is None and record.batch_index:
        corrupt("wrong_batch", f"the record is number {record.batch_index + 1} of a batch that never began")


def _whole(state: State | None, expected: EventV5 | None, record: Record) -> None:
    """Hold a record against what its batch owes. Raises `Corruption`."""
    if state is not None and expected is None and record.batch_index:
        corrupt("nothing_owed", "the batch goes on although nothing is owed")
    if isinstance(record.event, RunCreated) and record.event.run_id != record.run_id:
        corrupt("wrong_run", f"the event creates another run, {record.event.run_id}")
