"""Versions: VER-001 to VER-012."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from perdure_conformance.reducer.histories import ended, fact, started
from perdure_conformance.reducer.playing import Run
from perdure_conformance.reducer.scenarios.scenario import Scenario, accepted, refused, scenario, unfinished


def types_belong_to_their_version() -> Iterator[Scenario]:
    """VER-001."""
    run = Run("A")
    run.start("A")
    yield scenario(
        "VER-001",
        "an event of a type that nobody knows",
        refused(run.past + fact("NodePaused", node="A"), kind="incompatible"),
        accepted(run.past),
    )


def versions_are_known() -> Iterator[Scenario]:
    """VER-003."""
    run = Run("A")
    for version in (0, 6):
        yield scenario(
            "VER-003",
            f"an event of version {version}",
            refused(run.past.on(version) + started("A", 1), kind="incompatible"),
            accepted(run.past + started("A", 1)),
        )


def versions_only_go_up() -> Iterator[Scenario]:
    """VER-004."""
    run = Run("A", version=2)
    run.goes_on(3)
    run.start("A")
    yield scenario(
        "VER-004",
        "a version that is lower than the one before",
        refused(run.past.on(2) + ended("A", 1)),
        unfinished(run.past + ended("A", 1)),
    )


SCENARIOS: Final[tuple[Callable[[], Iterator[Scenario]], ...]] = (
    types_belong_to_their_version,
    versions_are_known,
    versions_only_go_up,
)
