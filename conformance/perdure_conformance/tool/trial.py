"""What is on trial: a tool, by all that it does and promises something about; and one with a fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from perdure.kernel.values import JsonObject
from perdure_conformance.adapters.exchange import exchange
from perdure_conformance.adapters.smoke import Smoked, smoke
from perdure_conformance.exploration import results
from perdure_conformance.gate import comparison as comparison_of_releases
from perdure_conformance.gate import replaying
from perdure_conformance.golden.coverage import gaps
from perdure_conformance.harness.connection import Connection
from perdure_conformance.harness.process import ProcessConnection
from perdure_conformance.harness.targets import Target
from perdure_conformance.histories.conversion import copied
from perdure_conformance.histories.snapshots import verified_snapshot
from perdure_conformance.histories.verification import verified_file
from perdure_conformance.journal import profile
from perdure_conformance.journal.rules import RULES, Rules
from perdure_conformance.reports import comparison, rendering
from perdure_conformance.suite import AnyProfile
from perdure_conformance.tool import explorations, gating, renderings
from perdure_conformance.vectors.folder import Difference, Wanted, differences
from perdure_conformance.vectors.vector import Vector

Document = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its rules, its way to connect, and what its commands do."""

    rules: Rules = RULES
    connect: Callable[..., Connection] = ProcessConnection
    verify: Callable[[str, str | None], Document] = verified_file
    """Verifies the history in a file, under a head if there is one, and says what `perdure verify --json` says."""
    verify_snapshot: Callable[[str], Document] = verified_snapshot
    """Verifies the snapshot in a file, beside its history if that is there, and says the same."""
    convert: Callable[[str, str], None] = copied
    """Writes the history in one file to another, in the format that its name says."""
    render: renderings.Render = rendering.rendered
    """Renders the report in a folder."""
    compare: renderings.Compare = comparison.compared
    """Compares the reports in two folders, and says what `perdure diff --json` says."""
    smoke: Callable[[Target, float], Smoked] = smoke
    """Tries a journal for so many seconds."""
    exchange: Callable[[Target, float], Sequence[JsonObject]] = exchange
    """Records what is said to a target, and what it says."""
    differences: Callable[[Mapping[str, bytes], Wanted], list[Difference]] = differences
    """Holds the files of a folder of vectors against what has to be there."""
    gaps: Callable[[Sequence[Vector]], list[str]] = gaps
    """Tells what has to have a vector, and has none."""
    gate: gating.Gate = comparison_of_releases.gated
    """Compares two releases, with stored histories if there are any, and says what `perdure gate --json` says."""
    replay: gating.Replay = replaying.replayed
    """Replays the histories in a folder on a kernel, and says the same."""
    explore: explorations.Explore = results.told
    """Explores a specification, up to so many states, and says what `perdure explore --json` says."""

    @property
    def journal(self) -> AnyProfile:
        """The profile on which it is tried."""
        return profile.under(self.rules)


@dataclass(frozen=True, slots=True)
class ToolMutant:
    """A tool with one fault."""

    name: str
    breaks: str
    fault: str
    tool: Tool
