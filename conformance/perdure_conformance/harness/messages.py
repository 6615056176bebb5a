"""The messages of protocol 1: one JSON object a line. What both sides of the wire need to write and to limit them.

Source: `docs/spec/protocol.md`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from perdure.kernel.values import JsonObject, JsonValue

PROTOCOL = 1
METHOD_NOT_FOUND = -32601
BYTES_BEFORE_INITIALIZE = 64 * 1024


def line_limit_bytes(ours: Mapping[str, int], theirs: Mapping[str, int]) -> int:
    """Return the longest line allowed once both sides have named their limits: the smaller of each is in force."""
    in_force = [min(ours[name], theirs[name]) for name in ours if name.endswith("_bytes")]
    return 2 * max(in_force) + 64 * 1024


def encode_request(request_id: str, method: str, params: JsonObject) -> bytes:
    """Return the line that asks for `method`."""
    message: dict[str, JsonValue] = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return encode_line(message)


def encode_line(message: JsonObject) -> bytes:
    """Return one message as a line, LF included."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"


def quote(line: bytes) -> str:
    """Show the beginning of a line inertly: nothing in it can steer a terminal."""
    text = line[:120].decode("utf-8", "backslashreplace")
    return ascii(text) + ("…" if len(line) > 120 else "")
