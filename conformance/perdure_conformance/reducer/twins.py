"""Kernels that are unusual and right: whoever accuses one of them is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from perdure.kernel.state import State
from perdure_conformance.reducer.contract import Capabilities, Entry, Reduced
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_conformance.reducer.registry import TWINS, twin

__all__ = ["TWINS"]


@twin
class OnlyReduces(ReferenceKernel):
    """Claims nothing, and says no more than yes and no."""

    claims: ClassVar[Capabilities] = Capabilities()

    def told(self, answer: Reduced, history: Sequence[Entry]) -> Reduced:
        del history
        return msgspec.structs.replace(answer, code=None, sentence=None)


@twin
class Remembers(ReferenceKernel):
    """Keeps the states of the history that it saw last, and goes on from where the next one differs."""

    def __init__(self, state_dir: Path, namespace: str) -> None:
        super().__init__(state_dir, namespace)
        self._entries: list[Entry] = []
        self._states: list[State] = []

    def after(self, state: State | None, entry: Entry) -> State:
        number = 0 if state is None else state.sequence
        if number < len(self._entries) and self._entries[number] == entry:
            return self._states[number]
        found = super().after(state, entry)
        self._entries[number:], self._states[number:] = [entry], [found]
        return found
