"""Which call is to blame for a wrong recovery, in one sentence."""

from __future__ import annotations

from typing import Final

from perdure_conformance.crash.disk import Cut, Disk, Fate
from perdure_conformance.crash.judge import Rule
from perdure_conformance.crash.trace import Answer, Blind, Sync, Truncate, Write

_TAKEN_AWAY: Final = "takes away what was acknowledged before it"
_TOO_MUCH: Final = "is enough: the recovery does not stand it"
_UNACKNOWLEDGED: Final = "it was not acknowledged yet, and the recovery must stand what is there of it"


def blame(disk: Disk, cut: Cut, rule: Rule) -> str:
    """Return who is to blame, given the smallest cut that breaks a rule."""
    last = _last_change(disk, cut)
    if not cut.fates:
        if rule != "lost":
            return f"a crash right behind {_text(disk, last)} is enough, with all that was written on the disk"
        if last is None or disk.answered(cut.calls) > disk.answered(last + 1):
            return "the recovery is to blame: all that was written is on the disk"
        return f"{_text(disk, last)} {_TAKEN_AWAY}"
    guilty = cut.fates[0]
    if disk.allows(cut, "process-crash"):
        return f"{_within(disk, guilty)} {_TAKEN_AWAY if rule == 'lost' else _TOO_MUCH}"
    number = _covering_answer(disk, cut, guilty)
    if rule == "lost" and number is not None:
        return f"acknowledgement {number} is not covered: {_what(disk, guilty)} has no {_sync(disk, guilty)} before it"
    sync = _sync(disk, guilty)
    if last is not None and last not in {fate.call for fate in cut.fates}:
        return f"{_text(disk, last)} may be on the disk before {_what(disk, guilty)}: there is no {sync} between"
    if rule == "lost":
        return f"{_what(disk, guilty)} {_TAKEN_AWAY}"
    if number is None:
        return f"{_what(disk, guilty)} is enough: {_UNACKNOWLEDGED}"
    return f"{_what(disk, guilty)} is enough: no {sync} covers it yet"


def _within(disk: Disk, fate: Fate) -> str:
    """Return a kill within a write in words, with what that left: no sync has a say in it."""
    pieces, there = disk.pieces(fate.call), () if fate.torn is None else fate.torn.sectors
    size = sum(len(pieces[sector][1]) for sector in there)
    return f"a kill within {_text(disk, fate.call)}, {size} bytes of which are there,"


def _what(disk: Disk, fate: Fate) -> str:
    """Return a call in words, with what is there of it if it is torn."""
    text = disk.trace.calls[fate.call].text
    if fate.torn is None:
        return text
    if not fate.torn.sectors:
        return f"{text} (of which only the length is there)"
    return f"{text} (of which {len(fate.torn.sectors)} of {disk.sectors(fate.call)} sectors are there)"


def _sync(disk: Disk, fate: Fate) -> str:
    is_of_file = isinstance(disk.operations[fate.call], Write | Truncate)
    return "fsync" if is_of_file else "fsync of its directory"


def _covering_answer(disk: Disk, cut: Cut, guilty: Fate) -> int | None:
    """Return the first request that was answered between a call and the crash, counted without `initialize`."""
    later = (disk.operations[index] for index in range(guilty.call + 1, cut.calls))
    return next((max(1, each.number - 1) for each in later if isinstance(each, Answer)), None)


def _last_change(disk: Disk, cut: Cut) -> int | None:
    """Return the last call that changed something before the crash."""
    calls = range(cut.calls - 1, -1, -1)
    return next((index for index in calls if not isinstance(disk.operations[index], Sync | Answer | Blind)), None)


def _text(disk: Disk, index: int | None) -> str:
    return "the start" if index is None else disk.trace.calls[index].text
