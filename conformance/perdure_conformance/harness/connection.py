"""One open implementation, and the three ways in which a call can fail to give an answer.

The checks see connections only, so an object in this process and a program in any language are judged by the very
same code.
"""

from __future__ import annotations

from typing import Literal, Protocol

from perdure.kernel.values import JsonObject

FaultKind = Literal[
    "cannot_start",  # the program or the factory is not there, or fails at once
    "exited",  # it ended although it was not asked to
    "silence",  # no answer within the time-out, for the second time
    "no_message",  # a line that is no JSON message
    "line_too_long",  # a line beyond the limit of the protocol
    "wrong_reply",  # a message that does not answer the request: its id, its form, its result
    "unasked",  # a message that nobody asked for
    "error",  # an error instead of a result
    "not_reading",  # it does not take its input
]


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
