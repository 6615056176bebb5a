"""Where questions are asked: an open kernel, opened again after it was silent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.harness.targets import Target
from perdure_conformance.reducer.contract import FLOOR, Decided, Description, Entry, Limits, Reduced
from perdure_conformance.reducer.questions import Answer, Query
from perdure_conformance.rooms import Room


@dataclass(frozen=True, slots=True)
class _Kernels:
    """Rooms of kernels."""

    profile: str = "reducer"
    limits: Limits = FLOOR
    description: type[Description] = Description


_KERNELS: Final = _Kernels()


class KernelRoom(Room[Description]):
    """One kernel, open as long as it answers."""

    def __init__(self, target: Target, timeout_s: float) -> None:
        super().__init__(_KERNELS, target, timeout_s)

    def ask(self, question: Query) -> Answer:
        """Return the answer. Raises `Inconclusive` at a first silence, `AdapterFault` at a second and for any fault."""
        if question.command is None:
            return self.reduce(question.history)
        params: JsonObject = {"history": _written(question.history), "command": question.command}
        return msgspec.convert(self.call("decide", params), Decided)

    def reduce(self, history: Sequence[Entry]) -> Reduced:
        """Return what is said of a history. Raises as `ask` does."""
        return msgspec.convert(self.call("reduce", {"history": _written(history)}), Reduced)


def _written(history: Sequence[Entry]) -> list[JsonValue]:
    return [{"version": entry.version, "event": entry.event} for entry in history]
