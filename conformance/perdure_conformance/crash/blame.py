"""Which call is to blame for a wrong recovery, in one sentence."""

from __future__ import annotations

from perdure_conformance.crash.disk import Cut, Disk, Fate
from perdure_conformance.crash.judge import Rule
from perdure_conformance.crash.trace import Answer, Blind, Sync, Truncate, Write


def blame(disk: Disk, cut: Cut, rule: Rule) -> str:
    """Return who is to blame, given the smallest cut that breaks a rule."""
    if not cut.fates:
        return f"a crash right after {_last_change(disk, cut)}, with all that was written on the disk, is enough"
    guilty = cut.fates[0]
    number = _covering_answer(disk, cut, guilty)
    if rule == "lost" and number is not None:
        return f"acknowledgement {number} is not covered: {_what(disk, guilty)} has no {_sync(disk, guilty)} before it"
    overtaking = _overtaking(disk, cut)
    if overtaking is None:
        return f"{_what(disk, guilty)} may be all that a power cut spoils: it has no {_sync(disk, guilty)} yet"
    return f"{overtaking} may be on the disk before {_what(disk, guilty)}, which has no {_sync(disk, guilty)} between"


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
    """Return the number of the first answer after a call, if it was given before the crash."""
    later = (disk.operations[index] for index in range(guilty.call + 1, cut.calls))
    return next((each.number for each in later if isinstance(each, Answer)), None)


def _overtaking(disk: Disk, cut: Cut) -> str | None:
    """Return the last call that is on the disk although an earlier one is not."""
    fates = {fate.call for fate in cut.fates}
    for index in range(cut.calls - 1, cut.fates[0].call, -1):
        if index not in fates and not isinstance(disk.operations[index], Sync | Answer | Blind):
            return disk.trace.calls[index].text
    return None


def _last_change(disk: Disk, cut: Cut) -> str:
    texts = (
        disk.trace.calls[index].text
        for index in range(cut.calls - 1, -1, -1)
        if not isinstance(disk.operations[index], Sync | Blind)
    )
    return next(texts, "the start")
