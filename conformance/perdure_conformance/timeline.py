"""What happened in a case, for a picture: who did what, one after the other, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mark = Literal["ask", "close", "kill", "outside", "together"]
"""A question or an operation; a close in good order, and an opening; a kill and a restart; what is done to files; the
beginning of what is done at the same time."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that was done."""

    lane: int | None
    """Where it was done; None for everywhere."""
    words: str
    answer: str = ""
    """What came of it, in a word, if that is known."""
    mark: Mark = "ask"
    fails: bool = False
    """Whether this is what fails; if none is, it is the last one."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What was done in the part of a case that fails."""

    lanes: tuple[str, ...]
    """What stands side by side: handles, nodes, questions."""
    moments: tuple[Moment, ...]
