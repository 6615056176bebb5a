"""Faults of versions: VER-001 to VER-012."""

from __future__ import annotations

from typing import ClassVar

from perdure.kernel.events import AnyEvent
from perdure.kernel.state import State
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.mutants.faults import Forgives, PassesOver
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import mutant


@mutant("VER-001", overlaps=("RUN-031",))
class SkipsWhatItDoesNotKnow(PassesOver):
    """Passes over events of types that it does not know."""

    passed_over: ClassVar = frozenset({"unknown_type"})


@mutant("VER-003", overlaps=("RUN-031",))
class ReadsAnyVersion(ReferenceKernel):
    """Reads an event of any other version as one of the newest."""

    def read(self, entry: Entry) -> AnyEvent:
        return super().read(entry if entry.version in range(1, 6) else Entry(5, entry.event))

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        return super().step(state, event, version if version in range(1, 6) else 5)


@mutant("VER-004")
class ForgetsTheVersionBefore(Forgives):
    """Takes events of any version at any time."""

    forgiven: ClassVar = frozenset({"version_went_down"})
