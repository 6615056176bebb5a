"""A walk through a history: record by record, with the state after each, up to the first that cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
from perdure_conformance.histories.files import Line
from perdure_conformance.histories.words import named, one_line

FaultKind = Literal["corrupt", "incompatible", "not_the_head"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a history goes wrong, and why."""

    sequence: int
    line: int
    code: str
    kind: FaultKind
    sentence: str
    owed: str
    """What had to come there, in words."""
    owed_event: JsonObject | None
    """The event that was owed, if one was."""


class Walk:
    """One walk; between two steps it tells how far it got. It keeps the last state, and no record but the last."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = lines
        self.state: State | None = None
        self.record: Record | None = None
        """The last record that was accepted."""
        self.batches = 0
        """How many batches are whole."""
        self.is_ended = True
        """Whether a line feed ended the last line."""
        self.fault: Fault | None = None
        self._read: Record | None = None

    def steps(self) -> Iterator[Record]:
        """Yield each record once the state after it is known; end at the first that cannot be, and note the fault."""
        try:
            for state in states(self._records()):
                self.state = state
                record = self.record = self._read
                assert record is not None
                self.batches += record.batch_index + 1 == record.batch_size
                yield record
        except HistoryError as error:
            self.fault = self._fault(error)

    def to_the_end(self) -> None:
        """Walk on until the history ends, or goes wrong."""
        for _ in self.steps():
            pass

    @property
    def sequence(self) -> int:
        """The sequence of the last record that was accepted; 0 before the first."""
        return 0 if self.record is None else self.record.sequence

    def _records(self) -> Iterator[Record]:
        for line in self._lines:
            self.is_ended = line.is_ended
            self._read = verified(line.content)
            yield self._read

    def _fault(self, error: HistoryError) -> Fault:
        event = what_is_owed(self.state)
        return Fault(
            sequence=self.sequence + 1,
            line=self.sequence + 1,
            code=error.code,
            kind="incompatible" if isinstance(error, Incompatible) else "corrupt",
            sentence=one_line(str(error)),
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
