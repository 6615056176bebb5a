"""For each requirement, questions that show it, each with its twin one edit away.

A module has the requirements of a subject; its `SCENARIOS` are functions, one a requirement or a part of one, that
yield scenarios:

    def only_what_is_ready_starts() -> Iterator[Scenario]:
        '''RUN-012.'''
        run = Run(["A", node("B", "A")])
        yield scenario(
            "RUN-012",
            "a pending node is started",
            refused(run.past + started("B", 1)),
            accepted(run.past + started("A", 1)),
        )
"""

from __future__ import annotations

from functools import cache
from typing import Final

from perdure_conformance.reducer.scenarios import (
    activations,
    attempts,
    budgets,
    cancellation,
    children,
    closing,
    dependencies,
    edges,
    endings,
    events,
    records,
    retries,
    runs,
    signals,
    snapshots,
    time,
    versions,
)
from perdure_conformance.reducer.scenarios.scenario import Scenario

__all__ = ["Scenario", "all_scenarios"]

_MODULES: Final = (
    runs,
    events,
    attempts,
    edges,
    activations,
    dependencies,
    closing,
    endings,
    retries,
    time,
    budgets,
    signals,
    cancellation,
    children,
    versions,
    records,
    snapshots,
)


@cache
def all_scenarios() -> tuple[Scenario, ...]:
    """Return all scenarios: made when they are first asked for, since that takes a moment."""
    return tuple(each for module in _MODULES for scenarios in module.SCENARIOS for each in scenarios())
