"""Kernels that are wrong on purpose, each with one fault that somebody really had or easily has.

Each is named after its fault and kept so small that the fault is all one sees. They prove that the checks can fail.
"""

from __future__ import annotations

from perdure_conformance.reducer.mutants import (
    attempts,
    budgets,
    cancellation,
    children,
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
from perdure_conformance.reducer.registry import MUTANTS

__all__ = [
    "MUTANTS",
    "attempts",
    "budgets",
    "cancellation",
    "children",
    "dependencies",
    "edges",
    "endings",
    "events",
    "records",
    "retries",
    "runs",
    "signals",
    "snapshots",
    "time",
    "versions",
]
