"""Where questions are asked of what keeps no state: an open implementation, opened again after it was silent."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from perdure.kernel.values import JsonObject
from perdure_conformance.harness import messages
from perdure_conformance.harness.connection import AdapterFault, Connection, Silence, Unsupported
from perdure_conformance.harness.targets import Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.suite import Inconclusive

NAMESPACE: Final = "perdure"

AnyDescription = TypeVar("AnyDescription")
Description_co = TypeVar("Description_co", covariant=True)


class Kind(Protocol[Description_co]):
    """What a profile says of its rooms."""

    @property
    def profile(self) -> str:
        """Its name."""
        ...

    @property
    def limits(self) -> msgspec.Struct:
        """What every implementation takes at least."""
        ...

    @property
    def description(self) -> type[Description_co]:
        """What an implementation says of itself."""
        ...


class Room(Generic[AnyDescription]):
    """One implementation, open as long as it answers."""

    def __init__(self, kind: Kind[AnyDescription], target: Target, timeout_s: float) -> None:
        self.transcript = Transcript()
        self.silences = 0
        self._kind = kind
        self._target = target
        self._timeout_s = timeout_s
        self._state_dir = Path(tempfile.mkdtemp(prefix="perdure-"))
        self._connection: Connection | None = None
        self._description: AnyDescription | None = None
        self._stderr = ""

    def describe(self) -> AnyDescription:
        """Return who the implementation is and what it claims. Raises `AdapterFault`."""
        self._open()
        assert self._description is not None
        return self._description

    def call(self, method: str, params: JsonObject) -> JsonObject:
        """Return the result. Raises `Inconclusive` at a first silence, `AdapterFault` at a second and for any fault."""
        connection = self._open()
        try:
            return connection.call(method, params)
        except Unsupported:
            self._let_go()
            raise AdapterFault("error", f"{method} is not supported, although it is claimed.") from None
        except Silence as silence:
            self.silences += 1
            self._let_go()
            if self.silences > 1:
                raise AdapterFault("silence", f"{silence}, for the second time.", self._stderr) from silence
            raise Inconclusive(f"{silence}") from silence
        except AdapterFault:
            self._let_go()
            raise

    def close(self) -> None:
        """End the implementation in good order. Raises `AdapterFault` if it does not."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._stderr = connection.stderr()
            connection.close()

    def remove(self) -> None:
        """End the implementation, and remove what it was given."""
        self._let_go()
        shutil.rmtree(self._state_dir, ignore_errors=True)

    def stderr(self) -> str:
        """Return the end of what the implementation wrote to standard error."""
        return self._connection.stderr() if self._connection is not None else self._stderr

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = self._target.open(self._timeout_s, self.transcript)
            self._description = self._initialize(self._connection)
        return self._connection

    def _initialize(self, connection: Connection) -> AnyDescription:
        params: JsonObject = {
            "protocol": messages.PROTOCOL,
            "profile": self._kind.profile,
            "state_dir": str(self._state_dir),
            "namespace": NAMESPACE,
            "limits": msgspec.to_builtins(self._kind.limits),
        }
        try:
            return msgspec.convert(connection.call("initialize", params), self._kind.description)
        except Silence as silence:
            self._let_go()
            raise AdapterFault("silence", f"{silence}.", self._stderr) from silence
        except Unsupported:
            self._let_go()
            raise AdapterFault("error", "initialize is not supported.", self._stderr) from None
        except AdapterFault:
            self._let_go()
            raise

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(AdapterFault):
                self._stderr = connection.stderr()
            connection.kill()
