"""Where questions are asked: an open validator, opened again after it was silent."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.harness import messages
from perdure_conformance.harness.connection import AdapterFault, Connection, Silence, Unsupported
from perdure_conformance.harness.targets import Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.spec.contract import FLOOR, Answer, Description
from perdure_conformance.spec.documents import text_of
from perdure_conformance.spec.questions import Question
from perdure_conformance.suite import Inconclusive

NAMESPACE: Final = "perdure"


class Room:
    """One validator, open as long as it answers."""

    def __init__(self, target: Target, timeout_s: float) -> None:
        self.target = target
        self.transcript = Transcript()
        self.silences = 0
        self._timeout_s = timeout_s
        self._state_dir = Path(tempfile.mkdtemp(prefix="perdure-"))
        self._connection: Connection | None = None
        self._description: Description | None = None
        self._stderr = ""

    def describe(self) -> Description:
        """Return who the validator is and what it claims. Raises `AdapterFault`."""
        self._open()
        assert self._description is not None
        return self._description

    def ask(self, question: Question) -> Answer:
        """Return the answer. Raises `Inconclusive` at a first silence, `AdapterFault` at a second and for any fault."""
        params: dict[str, JsonValue] = {"document": text_of(question.document)}
        if question.handlers is not None:
            params["handlers"] = [
                {"name": handler.name, "version": handler.version, "inputs": list(handler.inputs)}
                for handler in question.handlers
            ]
        try:
            return msgspec.convert(self._call("validate", params), Answer)
        except Unsupported:
            raise AdapterFault("error", "validate is not supported, and a validator has nothing else.") from None
        except Silence as silence:
            self.silences += 1
            self._let_go()
            if self.silences > 1:
                raise AdapterFault("silence", f"{silence}, for the second time.", self._stderr) from silence
            raise Inconclusive(f"{silence}") from silence

    def remove(self) -> None:
        """End the validator, and remove what it was given."""
        self._let_go()
        shutil.rmtree(self._state_dir, ignore_errors=True)

    def stderr(self) -> str:
        """Return the end of what the validator wrote to standard error."""
        return self._connection.stderr() if self._connection is not None else self._stderr

    def _call(self, method: str, params: JsonObject) -> JsonObject:
        connection = self._open()
        try:
            return connection.call(method, params)
        except AdapterFault:
            self._let_go()
            raise

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = self.target.open(self._timeout_s, self.transcript)
            self._description = self._initialize(self._connection)
        return self._connection

    def _initialize(self, connection: Connection) -> Description:
        params: JsonObject = {
            "protocol": messages.PROTOCOL,
            "profile": "spec",
            "state_dir": str(self._state_dir),
            "namespace": NAMESPACE,
            "limits": msgspec.to_builtins(FLOOR),
        }
        try:
            return msgspec.convert(connection.call("initialize", params), Description)
        except Silence as silence:
            self._let_go()
            raise AdapterFault("silence", f"{silence}.", self._stderr) from silence
        except Unsupported:
            self._let_go()
            raise AdapterFault("error", "initialize is not supported.", self._stderr) from None

    def close(self) -> None:
        """End the validator in good order. Raises `AdapterFault` if it does not."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._stderr = connection.stderr()
            connection.close()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(AdapterFault):
                self._stderr = connection.stderr()
            connection.kill()
