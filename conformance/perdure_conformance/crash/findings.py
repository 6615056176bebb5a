"""The layers by name, and one wrong recovery, whichever of them found it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from perdure.journal.contract import DurabilityLevel
from perdure_conformance.crash.disk import Image
from perdure_conformance.crash.judge import Exchange, Recovered, Rule
from perdure_conformance.crash.replay import Fault

Layer = Literal["calls", "power", "net", "server", "schedule"]
LAYERS: Final[Mapping[Layer, str]] = {
    "calls": "killed behind each call, and each call failed or cut short, in recoveries too",
    "power": "the power cut at each moment, with each part of what was not synced lost or torn",
    "net": "each message between journal and server lost, cut off and late",
    "server": "the server killed at each message, and again and again at drawn ones",
    "schedule": "several clients of a Python journal switched at each call, and crashed",
}
"""What is tried, by name."""

WrongRule = Rule | Literal["untrue", "unrecognised"]
"""How it can be wrong: as any recovery; a refusal that has stored; a batch, sent again, that is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One wrong recovery, as small as it could be made."""

    requirement: str
    layer: Layer
    level: DurabilityLevel | None
    """The lowest level that allows this crash; None where only a connection was disturbed."""
    rule: WrongRule
    blame: str
    """Which call or message is to blame, in one sentence."""
    sentence: str
    """What is wrong with what came back."""
    replay: str
    """The line that plays it again."""
    exchanges: tuple[Exchange, ...]
    """What was asked before the crash, with the answers that came; the last may have none."""
    image: Image | None = None
    """What the crash has left; None of a server, whose files are its own."""
    recovered: Recovered | None = None
    then: tuple[Fault, ...] = ()
    """What must happen to starts on that image, for what is wrong to be seen."""
    transcript: str = ""
    """What was said, where that is kept."""
    stderr: str = ""
    """The end of what was written to standard error, where that was kept when it was found: nothing is judged by it."""
