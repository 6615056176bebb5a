"""A Python object, spoken to in messages: each profile has a dispatcher, which turns a method into a call."""

from __future__ import annotations

from typing import Any, Protocol

from perdure.kernel.values import JsonObject, JsonValue


class Served(Protocol):
    """One Python object. The first message must be `initialize`, which calls the factory; the last is `shutdown`."""

    def __init__(self, factory: Any) -> None: ...

    def dispatch(self, method: str, params: JsonObject) -> JsonValue:
        """Return the result of one method. Raises `Unsupported`, and whatever the object raises."""
        ...
