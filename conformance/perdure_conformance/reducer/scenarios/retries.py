"""Retries: RTY-001 to RTY-009."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure_conformance.reducer.scenarios.scenario import Scenario

SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = ()
