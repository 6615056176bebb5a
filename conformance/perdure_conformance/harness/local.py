"""A connection to a Python object in this process, on a thread of its own, so that a call can time out.

A thread that does not come back is left behind: Python cannot end it. It is a daemon, and holds nothing up.
"""

from __future__ import annotations

import os
import queue
import threading
import traceback
from collections.abc import Callable
from typing import NoReturn

from perdure.kernel.values import JsonError, JsonObject, JsonValue, read_json
from perdure_conformance.harness import messages, schemas
from perdure_conformance.harness.connection import AdapterFault, Silence, Unsupported
from perdure_conformance.harness.dispatch import Served
from perdure_conformance.harness.transcript import Transcript

_Outcome = tuple[JsonValue, BaseException | None]


class LocalConnection:
    """One open Python object."""

    def __init__(self, served: Served, timeout_s: float, transcript: Transcript) -> None:
        self._served = served
        self._timeout_s = timeout_s
        self._transcript = transcript
        self._calls: queue.SimpleQueue[Callable[[], JsonValue] | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[_Outcome] = queue.SimpleQueue()
        _keep_the_last_word()
        threading.Thread(target=self._work, daemon=True, name="perdure-target").start()

    def call(self, method: str, params: JsonObject) -> JsonObject:
        """Make one call and hold its result against the very schemas of the wire."""
        schemas.check_params(method, params)
        self._transcript.sent(messages.encode_own({"method": method, "params": params}))
        self._calls.put(lambda: self._served.dispatch(method, params))
        try:
            result, error = self._outcomes.get(timeout=self._timeout_s)
        except queue.Empty:
            raise Silence(f"{method} was not answered within {self._timeout_s:g} s") from None
        if isinstance(error, Unsupported | AdapterFault):
            raise error
        if error is not None:
            raise _raised(method, error)
        return schemas.check_result(method, params, self._as_if_sent(method, result))

    def close(self) -> None:
        """Close the object and end the thread."""
        try:
            self.call("shutdown", {})
        except Silence as error:
            raise AdapterFault("silence", f"It did not close within {self._timeout_s:g} s.") from error
        finally:
            self.kill()

    def kill(self) -> None:
        """Let go without closing. What a real kill −9 does, only a process can show."""
        self._calls.put(None)

    def stderr(self) -> str:
        """Return nothing: standard error is this process's own."""
        return ""

    def _as_if_sent(self, method: str, result: JsonValue) -> JsonValue:
        """Write and read the result as the wire would, so that both ways accept the same values."""
        try:
            line = messages.encode_line({"result": result})
            self._transcript.received(line)
            message = read_json(line)
        except (JsonError, TypeError, UnicodeEncodeError) as error:
            raise AdapterFault("wrong_reply", f"The result of {method} is no JSON value: {error}.") from error
        return message["result"] if isinstance(message, dict) else None

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            try:
                self._outcomes.put((call(), None))
            except BaseException as error:  # noqa: BLE001 - whatever the object raises is its fault, told as such
                self._outcomes.put((None, error))


class _Exited(BaseException):
    """The object tried to end the process that judges it."""


def _keep_the_last_word() -> None:
    """See to it that an object cannot end this process with an exit code of its own; what it forks still can."""
    if getattr(os._exit, "is_of_perdure", False):
        return
    end, here = os._exit, os.getpid()

    def refuse(status: int) -> NoReturn:
        if os.getpid() != here:
            end(status)
        raise _Exited(f"it tried to end the process, with the exit code {status}")

    refuse.is_of_perdure = True  # type: ignore[attr-defined]
    os._exit = refuse


def _raised(method: str, error: BaseException) -> AdapterFault:
    text = "".join(traceback.format_exception(error))
    return AdapterFault("error", f"{method} raised {type(error).__name__}: {str(error)[:300]!a}.", stderr=text)
