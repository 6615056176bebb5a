"""Edges: EDG-008 to EDG-017."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure_conformance.reducer.scenarios.scenario import Scenario

SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = ()
