"""A walk through a history: record by record, with the state after each, up to the first that cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from perdure.kernel.consequences import owed
from perdure.kernel.errors import HistoryError, Incompatible
from perdure.kernel.events import EventV5
from perdure.kernel.histories import states
from perdure.kernel.records import Record, document_of, verified
from perdure.kernel.rules import RULES
from perdure.kernel.state import State
from perdure.kernel.values import JsonObject
from perdure_conformance.histories.checks import Check, check_of
from perdure_conformance.histories.identities import Identities
from perdure_conformance.histories.stored import Damage, History, Place, Stored
from perdure_conformance.histories.words import named, one_line

FaultKind = Literal["corrupt", "incompatible", "not_the_head", "torn_tail"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a history goes wrong, and why."""

    sequence: int
    place: Place
    code: str
    kind: FaultKind
    sentence: str
    owed: str
    """What had to come there, in words."""
    owed_event: JsonObject | None
    """The event that was owed, if one was."""

    @property
    def check(self) -> Check:
        """The kind of check that found it."""
        return check_of(self.code)


class Walk:
    """One walk; between two steps it tells how far it got. It keeps the last state, and no record but the last."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.state: State | None = None
        self.record: Record | None = None
        """The last record that was accepted."""
        self.stored: Stored | None = None
        """That record as it is stored."""
        self.whole: Record | None = None
        """The last record of the last batch that is whole."""
        self.batches = 0
        """How many batches are whole."""
        self.pieces = 0
        """How many lines, frames or rows were read, accepted or not."""
        self.fault: Fault | None = None
        self._read: tuple[Stored, Record] | None = None
        self.here = history.place(1, 0)
        """Where what was read last stands; at the end, where the next would."""
        self._batch = self.here
        """Where the batch stands that was begun last."""
        self._is_at_the_end = False

    def steps(self) -> Iterator[Record]:
        """Yield each record once the state after it is known; end at the first that cannot be, and note the fault."""
        try:
            with Identities() as seen:
                for state in states(self._records(), seen=seen):
                    if self._is_ended():
                        yield self._accepted(state)
        except HistoryError as error:
            is_torn = self._is_at_the_end and self.history.format == "jsonl"
            kind: FaultKind = "incompatible" if isinstance(error, Incompatible) else "corrupt"
            self.fault = self._torn(str(error)) if is_torn else self._fault(error.code, str(error), kind)
        except Damage as error:
            is_torn = error.code == "torn_tail"
            self.fault = self._torn(str(error)) if is_torn else self._fault(error.code, str(error), "corrupt")

    def to_the_end(self) -> None:
        """Walk on until the history ends, or goes wrong."""
        for _ in self.steps():
            pass

    @property
    def sequence(self) -> int:
        """The sequence of the last record that was accepted; 0 before the first."""
        return 0 if self.record is None else self.record.sequence

    def _records(self) -> Iterator[Record]:
        for stored in self._pieces():
            record = verified(stored.content)
            if stored.row is not None and stored.row != (record.run_id, record.sequence, record.event_id):
                told = f"the row says {stored.row}, and its record is event {record.event_id} at {record.sequence}"
                raise Damage("wrong_row", f"{told} of run {record.run_id}")
            self._read = stored, record
            yield record

    def _pieces(self) -> Iterator[Stored]:
        """Yield what is stored, and keep where it stands, or where the file is wrong around it."""
        following = self.here
        try:
            for stored in self.history.records:
                self.pieces += stored.is_ended
                self.here, following = stored.place, self.history.place(stored.place.number + 1, stored.end)
                yield stored
        except Damage as error:
            if error.offset is None:
                self.here = following
            elif error.offset != self.here.offset:
                self.here = following._replace(offset=error.offset)
            raise
        self.here, self._is_at_the_end = following, True

    def _is_ended(self) -> bool:
        return self._read is not None and self._read[0].is_ended

    def _accepted(self, state: State) -> Record:
        assert self._read is not None
        self.state = state
        self.stored, self.record = self._read
        if self.record.batch_index == 0:
            self._batch = self.stored.place
        if self.record.batch_index + 1 == self.record.batch_size:
            self.whole = self.record
            self.batches += 1
        return self.record

    def _torn(self, sentence: str) -> Fault:
        """Return the tail behind the last whole batch."""
        place = self.here if self.record is self.whole else self._batch
        sequence = 1 if self.whole is None else self.whole.sequence + 1
        return Fault(
            sequence, place, "torn_tail", "torn_tail", one_line(sentence), "a whole batch, or the end of the file", None
        )

    def _fault(self, code: str, sentence: str, kind: FaultKind) -> Fault:
        event = what_is_owed(self.state)
        return Fault(
            sequence=self.sequence + 1,
            place=self.here,
            code=code,
            kind=kind,
            sentence=one_line(sentence),
            owed=_in_words(self.state, event),
            owed_event=None if event is None else document_of(event),
        )


def what_is_owed(state: State | None) -> EventV5 | None:
    """Return the event that a state owes, if it owes one."""
    return None if state is None else owed(state, RULES)


def _in_words(state: State | None, event: EventV5 | None) -> str:
    if state is None:
        return "RunCreated, with which a history begins"
    if event is not None:
        return f"{named(event)}, in the batch that was begun"
    if state.status != "running":
        return f"nothing: the run is {state.status}, and nothing comes after that"
    return "nothing: here a batch may begin, or the history end"
