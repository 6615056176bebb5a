"""What a reducer says of a history that cannot be.

`Corruption`: no runtime that keeps the rules writes this event here. `Incompatible`: this model does not know the
version, the type or a member. Both name the code that `docs/spec/kernel.md` lists.
"""

from __future__ import annotations

from typing import Literal, NoReturn

from perdure.kernel.commands import RejectionCode

CorruptionCode = (
    RejectionCode
    | Literal["something_else_owed", "nothing_owed", "illegal_transition", "version_went_down", "wrong_content"]
)
IncompatibleCode = Literal["unknown_version", "unknown_type", "unknown_structure"]


class HistoryError(Exception):
    """A history that cannot be. `str(error)` says why."""

    def __init__(self, code: CorruptionCode | IncompatibleCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Corruption(HistoryError):
    """An event that cannot be where it is."""


class Incompatible(HistoryError):
    """An event that this model does not know."""


def corrupt(code: CorruptionCode, sentence: str) -> NoReturn:
    """Raise `Corruption`."""
    raise Corruption(code, sentence)
