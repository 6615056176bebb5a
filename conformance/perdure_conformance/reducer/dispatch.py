"""From messages to a Python kernel."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.harness import messages
from perdure_conformance.harness.connection import AdapterFault, Unsupported
from perdure_conformance.harness.targets import BuiltIn, Subjects
from perdure_conformance.reducer.contract import Entry, Kernel, KernelFactory, Shown


class Dispatcher:
    """One Python kernel, spoken to in messages. The first message must be `initialize`."""

    def __init__(self, factory: KernelFactory) -> None:
        self._factory = factory
        self._kernel: Kernel | None = None

    def dispatch(self, method: str, params: JsonObject) -> JsonValue:
        """Return the result of one method. Raises `Unsupported`, and whatever the kernel raises."""
        if method == "initialize":
            self._kernel = self._factory(Path(str(params["state_dir"])), str(params["namespace"]))
            described: JsonValue = msgspec.to_builtins(
                {"protocol": messages.PROTOCOL, **msgspec.structs.asdict(self._kernel.description)}
            )
            return described
        if self._kernel is None:
            raise AdapterFault("error", f"{method} came before initialize.")
        if method == "shutdown":
            self._kernel.close()
            return {}
        if method == "restore":
            restored: JsonValue = msgspec.to_builtins(self._kernel.restore(msgspec.convert(params, Shown)))
            return restored
        if method not in {"reduce", "decide"}:
            raise Unsupported(method)
        history = _entries(params["history"])
        if method == "reduce":
            reduced: JsonValue = msgspec.to_builtins(self._kernel.reduce(history))
            return reduced
        command = params["command"]
        assert isinstance(command, Mapping)
        decided: JsonValue = msgspec.to_builtins(self._kernel.decide(history, command))
        return decided


def _entries(history: Any) -> tuple[Entry, ...]:
    """Return a history as objects. Its form is checked already, as that of every message."""
    return tuple(Entry(entry["version"], entry["event"]) for entry in history)


KERNELS: Final = Subjects(
    noun="kernel",
    factory="takes (state_dir, namespace) and returns a kernel",
    built_in={"reference": BuiltIn("perdure_conformance.reducer.reference:ReferenceKernel", "the model's own")},
    default="reference",
    dispatcher=Dispatcher,
)
"""What can be judged as a graph kernel."""
