"""What the stateful machine is told and tells: apart from it, since to import what draws takes long."""

from __future__ import annotations

from dataclasses import dataclass

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.suite import Inconclusive, Violation

Stop = Violation | AdapterFault | Inconclusive
"""Why a play could not go on."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """Which rules make sense."""

    can_crash: bool
    has_snapshots: bool
    judges_leases: bool
    fences: bool
    keeps_files: bool
    """Whether a file format is claimed."""
    shares: bool
    """Whether several handles may be used at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How hard the machine tries."""

    examples: int
    steps: int
    restarts: int
    plays_to_shrink: int
    """How many more plays may be spent on making a failing one smaller."""
