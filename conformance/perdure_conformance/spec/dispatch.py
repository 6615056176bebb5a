"""From messages to a Python validator."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from perdure.kernel.specification import HandlerDeclaration
from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.harness import messages
from perdure_conformance.harness.connection import AdapterFault, Unsupported
from perdure_conformance.harness.targets import BuiltIn, Subjects
from perdure_conformance.spec.contract import Validator, ValidatorFactory


class Dispatcher:
    """One Python validator, spoken to in messages. The first message must be `initialize`."""

    def __init__(self, factory: ValidatorFactory) -> None:
        self._factory = factory
        self._validator: Validator | None = None

    def dispatch(self, method: str, params: JsonObject) -> JsonValue:
        """Return the result of one method. Raises `Unsupported`, and whatever the validator raises."""
        if method == "initialize":
            self._validator = self._factory(Path(str(params["state_dir"])), str(params["namespace"]))
            described: JsonValue = msgspec.to_builtins(
                {"protocol": messages.PROTOCOL, **msgspec.structs.asdict(self._validator.description)}
            )
            return described
        if self._validator is None:
            raise AdapterFault("error", f"{method} came before initialize.")
        if method == "shutdown":
            self._validator.close()
            return {}
        if method != "validate":
            raise Unsupported(method)
        handlers = msgspec.convert(params.get("handlers"), tuple[HandlerDeclaration, ...] | None)
        answered: JsonValue = msgspec.to_builtins(self._validator.validate(str(params["document"]), handlers))
        return answered


VALIDATORS: Final = Subjects(
    noun="validator",
    factory="takes (state_dir, namespace) and returns a validator",
    built_in={"reference": BuiltIn("perdure_conformance.spec.reference:ReferenceValidator", "the model's own")},
    default="reference",
    dispatcher=Dispatcher,
)
"""What can be judged as a validator of specifications."""
