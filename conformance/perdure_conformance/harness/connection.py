"""One open implementation, and the three ways in which a call can fail to give an answer.

The checks see connections only, so an object in this process and a program in any language are judged by the very
same code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from perdure.kernel.values import JsonObject

FaultKind = Literal[
    "cannot_start",
    "exited",
    "silence",
    "no_message",
    "line_too_long",
    "wrong_reply",
    "unasked",
    "error",
    "not_reading",
]

FAULTS: Final[Mapping[str, str]] = {
    "cannot_start": "The program or the factory is not there, or fails at once.",
    "exited": "The program ended although it was not asked to.",
    "silence": "No answer came within the time-out. Does the program flush standard output after each line? "
    "If it is only slow, raise --timeout; of a smoke test, --within.",
    "no_message": "A line on standard output is no JSON message. Logs belong on standard error.",
    "line_too_long": "A line is longer than the protocol allows: twice the largest limit plus 64 KiB.",
    "wrong_reply": "A message does not answer the request: its id, its form or its result is wrong.",
    "unasked": "A message came that nobody asked for.",
    "error": "An operation was answered with an error or an exception. A refusal is a result.",
    "not_reading": "The program does not take its input.",
}

AFTERWARDS: Final[Mapping[FaultKind, str]] = {
    "cannot_start": "after the program could not be started",
    "exited": "after the program had ended",
    "silence": "after no answer had come",
    "no_message": "after a line that is no message",
    "line_too_long": "after a line that is too long",
    "wrong_reply": "after a reply that answers nothing",
    "unasked": "after a message that nobody had asked for",
    "error": "after an operation had failed",
    "not_reading": "after the program had not taken its input",
}
"""Why nothing can be said of what was still to be asked."""


class AdapterFault(Exception):
    """The implementation, or its adapter, broke the protocol. It is never a pass, and never a verdict on a rule."""

    def __init__(self, kind: FaultKind, sentence: str, stderr: str = "") -> None:
        super().__init__(sentence)
        self.kind: FaultKind = kind
        self.sentence = sentence
        self.stderr = stderr
        """The end of what the implementation wrote to standard error, or the traceback of its exception."""


class Silence(Exception):
    """No answer came within the time-out: what the operation did is unknown, and this connection is of no more use."""


@dataclass(slots=True)
class Silences:
    """The silences of one judgement: after the first it goes on, and at the second it ends."""

    check: str = ""
    """What asks now, in words; empty if a case is played again."""
    first: str = ""
    """What was not answered the first time; empty if all was."""

    def during(self, check: str, *requirements: str) -> None:
        """Note which check asks from now on, and for which requirements."""
        self.check = f"{check!r}" + (f", for {', '.join(requirements)}" if requirements else "")

    def bear(self, silence: Silence, operation: str, stderr: Callable[[], str]) -> None:
        """Bear the first one. Raises `AdapterFault` at the second, which tells of both."""
        if self.first:
            told = f"{silence}, for the second time; before, there was no answer to {self.first}."
            raise AdapterFault("silence", told, stderr()) from silence
        self.first = operation + (f" in {self.check}" if self.check else "")


class Unsupported(Exception):
    """The implementation does not offer this operation."""


class Connection(Protocol):
    """One open implementation. Calls come one at a time."""

    def call(self, method: str, params: JsonObject) -> JsonObject:
        """Return the schema-checked result; a refusal is a result.

        Raises `Unsupported`, `Silence`, `AdapterFault`.
        """
        ...

    def close(self) -> None:
        """Shut down in good order. Raises `AdapterFault` if the implementation does not."""
        ...

    def kill(self) -> None:
        """End it at once, with all that it started. Never raises, and may be repeated."""
        ...

    def stderr(self) -> str:
        """Return the end of what it wrote to standard error."""
        ...
