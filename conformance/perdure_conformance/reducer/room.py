"""Where questions are asked: an open kernel, opened again after it was silent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.harness.schemas import Repeated
from perdure_conformance.harness.targets import Target
from perdure_conformance.reducer.contract import FLOOR, Decided, Description, Entry, Limits, Reduced, Restored, Shown
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
        if question.shown is not None:
            return msgspec.convert(self.call("restore", _params(question)), Restored)
        if question.command is None:
            return self._reduce(_params(question))
        return msgspec.convert(self.call("decide", _params(question)), Decided)

    def reduce(self, history: Sequence[Entry]) -> Reduced:
        """Return what is said of a history. Raises as `ask` does."""
        return self._reduce({"history": _written(history)})

    def _reduce(self, params: JsonObject) -> Reduced:
        return msgspec.convert(self.call("reduce", params), Reduced)


_KEPT: dict[int, tuple[Query, Repeated]] = {}
_KEPT_AT_MOST: Final = 2**14


def _params(question: Query) -> JsonObject:
    """Return what is sent. What somebody wrote is asked of many kernels in one process, so that it is kept."""
    if question.about and id(question) in _KEPT:
        return _KEPT[id(question)][1]
    if question.shown is not None:
        params = Repeated(_of_a_journal(question.shown))
    else:
        params = Repeated(history=_written(question.history))
    if question.command is not None:
        params["command"] = question.command
    if question.about and len(_KEPT) < _KEPT_AT_MOST:
        _KEPT[id(question)] = (question, params)
    return params


def _written(history: Sequence[Entry]) -> list[JsonValue]:
    return [{"version": entry.version, "event": entry.event} for entry in history]


def _of_a_journal(shown: Shown) -> dict[str, JsonValue]:
    records: list[JsonValue] = [msgspec.to_builtins(envelope) for envelope in shown.records]
    found: dict[str, JsonValue] = {"run_id": shown.run_id, "records": records}
    return found if shown.snapshot is None else {**found, "snapshot": msgspec.to_builtins(shown.snapshot)}
