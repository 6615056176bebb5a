"""A cut as the words of a replay, and back: `t4:-1,~3s0.2` is a crash after four calls, the first of them lost.

Behind `-` stands a call of which nothing is on the disk, behind `~` a write that is torn, counted from 1. Of a torn
write the sectors follow that are there, behind `l` if the file is as long as the write made it, else behind `s`. At the
end, `@` and the beginning of a digest of the calls: whoever plays it again knows whether these are the same.
"""

from __future__ import annotations

import re
from typing import Final

from perdure_conformance.crash.disk import Cut, Disk, Fate, Torn
from perdure_conformance.crash.recording import digest
from perdure_conformance.crash.replay import Power, ReplayError
from perdure_conformance.crash.trace import Trace

_DIGITS: Final = 12
_FATE: Final = re.compile(
    r"-(?P<lost>[1-9][0-9]{0,8})|~(?P<torn>[1-9][0-9]{0,8})(?P<how>[sl])(?P<sectors>(?:[0-9]{1,6}(?:\.[0-9]{1,6})*)?)",
    re.ASCII,
)


def deviations(cut: Cut, trace: Trace) -> str:
    """Return what a cut loses, in the words of a replay."""
    return f"{','.join(map(_fate_in_words, cut.fates))}@{_digest(cut.calls, trace)}"


def cut_of(power: Power, disk: Disk) -> Cut:
    """Return the cut that a replay names. Raises `ReplayError` if it is none of this trace, or none of its level."""
    words, _, expected = power.deviations.partition("@")
    if power.calls > len(disk.operations) or (expected and expected != _digest(power.calls, disk.trace)):
        raise ReplayError(
            "The trace diverged: the journal did not make the calls that it made then. "
            "If it was changed, crash it anew, without --replay."
        )
    cut = Cut(power.calls, tuple(_fate(word, disk) for word in words.split(",") if word))
    if not disk.allows(cut, power.level):
        raise ReplayError(f"{words!a} after {power.calls} calls is no crash that {power.level} allows.")
    return cut


def _fate_in_words(fate: Fate) -> str:
    if fate.torn is None:
        return f"-{fate.call + 1}"
    return f"~{fate.call + 1}{'l' if fate.torn.is_long else 's'}{'.'.join(map(str, fate.torn.sectors))}"


def _fate(word: str, disk: Disk) -> Fate:
    found = _FATE.fullmatch(word)
    if found is None:
        raise ReplayError(f"{word!a} says nothing of a call: write -5, or ~5s0.2.")
    call = int(found["lost"] or found["torn"]) - 1
    if found["lost"]:
        return Fate(call)
    sectors = tuple(int(sector) for sector in found["sectors"].split(".") if sector)
    if call >= len(disk.operations) or any(sector >= disk.sectors(call) for sector in sectors):
        raise ReplayError(f"{word!a} names a sector that call {call + 1} did not write.")
    return Fate(call, Torn(sectors, is_long=found["how"] == "l"))


def _digest(calls: int, trace: Trace) -> str:
    return digest(Trace(trace.before, trace.calls[:calls]))[:_DIGITS]
