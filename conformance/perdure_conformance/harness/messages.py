"""The messages of protocol 1: one JSON object a line. What both sides of the wire need to write and to limit them.

Source: `docs/spec/protocol.md`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from perdure.kernel.values import JsonObject

PROTOCOL = 1
METHOD_NOT_FOUND = -32601
BYTES_BEFORE_INITIALIZE = 64 * 1024


def line_limit_bytes(ours: Mapping[str, int], theirs: Mapping[str, int]) -> int:
    """Return the longest line allowed once both sides have named their limits: the smaller of each is in force."""
    in_force = [min(ours[name], theirs[name]) for name in ours if name.endswith("_bytes")]
    return 2 * max(in_force) + 64 * 1024


def encode_request(request_id: str, method: str, params: JsonObject) -> bytes:
    """Return the line that asks for `method`."""
    return encode_own({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def encode_own(message: JsonObject) -> bytes:
    """Return a message of the harness, which is sure to be JSON, as a line, LF included."""
    return msgspec.json.encode(message) + b"\n"


def encode_line(message: JsonObject) -> bytes:
    """Return a message that anybody may have made as a line, LF included: what is no JSON shows when it is read."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"


def quote(line: bytes) -> str:
    """Show the beginning of a line inertly: nothing in it can steer a terminal."""
    text = line[:120].decode("utf-8", "backslashreplace")
    return ascii(text) + ("…" if len(line) > 120 else "")
