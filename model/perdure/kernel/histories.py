"""Histories: records one after the other, each at its place, every batch whole.

Source: "Records and events" of the graph design; RUN and VER requirements of `docs/spec/kernel.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    state: State | None = None
    expected: EventV5 | None = None
    last: Record | None = None
    seen = set[EventId]() if seen is None else seen
    for record in records:
        try:
            _linked(last, record, seen)
            _whole(state, expected, record)
            state = followed(state, record.event, expected, record.recorded_version, rules)
            expected = owed(state, rules)
            if expected is not None and record.batch_index + 1 == record.batch_size:
                corrupt("incomplete_batch", "the batch ends here, and more is owed")
        except HistoryError as error:
            error.sequence = record.sequence if last is None else last.sequence + 1
            raise
        last = record
        yield state
    if last is not None and last.batch_index + 1 < last.batch_size:
        told = f"the last batch has {last.batch_index + 1} of {last.batch_size} records"
        raise Corruption("incomplete_batch", told, last.sequence + 1)


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
