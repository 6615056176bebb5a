"""What a reducer says of a history that cannot be.

`Corruption`: no runtime that keeps the rules writes this event here. `Incompatible`: this model does not know the
version, the type or a member. Both name the code that `docs/spec/kernel.md` lists.
"""

from __future__ import annotations

from typing import Literal, NoReturn

from perdure.kernel.commands import RejectionCode

EventFault = Literal["something_else_owed", "nothing_owed", "illegal_transition", "version_went_down", "wrong_content"]
"""What is wrong with an event where it is, beside the codes of refused commands."""

RecordFault = Literal[
    "not_json",
    "not_canonical",
    "wrong_checksum",
    "wrong_structure",
    "wrong_run",
    "gap",
    "event_id_used",
    "wrong_batch",
    "incomplete_batch",
]
"""What is wrong with a record, or with its place in the history."""

CorruptionCode = RejectionCode | EventFault | RecordFault
IncompatibleCode = Literal["unknown_version", "unknown_type", "unknown_member"]


class HistoryError(Exception):
    """A history that cannot be. `str(error)` says why."""

    def __init__(self, code: CorruptionCode | IncompatibleCode, sentence: str, sequence: int | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.sequence = sequence
        """Where, if that is known."""


class Corruption(HistoryError):
    """An event that cannot be where it is."""


class Incompatible(HistoryError):
    """An event that this model does not know."""


def corrupt(code: CorruptionCode, sentence: str) -> NoReturn:
    """Raise `Corruption`."""
    raise Corruption(code, sentence)
