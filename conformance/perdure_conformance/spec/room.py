"""Where questions are asked: an open validator, opened again after it was silent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from perdure.kernel.values import JsonValue
from perdure_conformance.harness.targets import Target
from perdure_conformance.rooms import Room
from perdure_conformance.spec.contract import FLOOR, Answer, Description, Limits
from perdure_conformance.spec.documents import text_of
from perdure_conformance.spec.questions import Question


@dataclass(frozen=True, slots=True)
class _Validators:
    """Rooms of validators."""

    profile: str = "spec"
    limits: Limits = FLOOR
    description: type[Description] = Description


_VALIDATORS: Final = _Validators()


class ValidatorRoom(Room[Description]):
    """One validator, open as long as it answers."""

    def __init__(self, target: Target, timeout_s: float) -> None:
        super().__init__(_VALIDATORS, target, timeout_s)

    def ask(self, question: Question) -> Answer:
        """Return the answer. Raises `Inconclusive` at a first silence, `AdapterFault` at a second and for any fault."""
        params: dict[str, JsonValue] = {"document": text_of(question.document)}
        if question.handlers is not None:
            params["handlers"] = [
                {"name": handler.name, "version": handler.version, "inputs": list(handler.inputs)}
                for handler in question.handlers
            ]
        return msgspec.convert(self.call("validate", params), Answer)
