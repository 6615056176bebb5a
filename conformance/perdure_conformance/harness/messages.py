"""The messages of protocol 1: one JSON object a line. What both sides of the wire need to write and to limit them.

Source: `docs/spec/protocol.md`.
"""

from __future__ import annotations

import json

from perdure.journal.contract import FLOOR, Limits
from perdure.kernel.values import JsonObject, JsonValue

PROTOCOL = 1
METHOD_NOT_FOUND = -32601
BYTES_BEFORE_INITIALIZE = 64 * 1024

HARNESS_LIMITS = FLOOR
"""What the harness sends at most, and therefore all that it has to receive."""


def limits_in_force(declared: Limits) -> Limits:
    """Return the smaller of what the implementation declares and what the harness sends."""
    return Limits(
        max_batch_records=min(declared.max_batch_records, HARNESS_LIMITS.max_batch_records),
        max_batch_bytes=min(declared.max_batch_bytes, HARNESS_LIMITS.max_batch_bytes),
        max_snapshot_bytes=min(declared.max_snapshot_bytes, HARNESS_LIMITS.max_snapshot_bytes),
    )


def line_limit_bytes(declared: Limits) -> int:
    """Return the longest line allowed once the implementation has declared its limits."""
    limits = limits_in_force(declared)
    return 2 * max(limits.max_batch_bytes, limits.max_snapshot_bytes) + 64 * 1024


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
