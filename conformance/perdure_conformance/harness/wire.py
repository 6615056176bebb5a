"""The messages of protocol 1: one JSON object a line, each with a JSON Schema, checked in both directions.

Source: `docs/spec/protocol.md`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from perdure.journal.contract import FLOOR, Limits
from perdure.kernel.values import JsonError, JsonObject, JsonValue, read_json
from referencing import Registry, Resource

from perdure_conformance import data
from perdure_conformance.harness.connection import AdapterFault, Unsupported

_Schema = bool | Mapping[str, Any]

PROTOCOL = 1
METHOD_NOT_FOUND = -32601
BYTES_BEFORE_INITIALIZE = 64 * 1024

HARNESS_LIMITS = FLOOR
"""What the harness sends at most, and therefore all that it has to receive."""

_LOGS_BELONG_ON_STDERR = "Standard output is for messages alone; write logs to standard error."


def line_limit_bytes(declared: Limits) -> int:
    """Return the longest line allowed once the implementation has declared its limits."""
    batch = min(declared.max_batch_bytes, HARNESS_LIMITS.max_batch_bytes)
    snapshot = min(declared.max_snapshot_bytes, HARNESS_LIMITS.max_snapshot_bytes)
    return 2 * max(batch, snapshot) + 64 * 1024


def encode_request(request_id: str, method: str, params: JsonObject) -> bytes:
    """Return the line that asks for `method`."""
    message: dict[str, JsonValue] = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return encode_line(message)


def encode_line(message: JsonObject) -> bytes:
    """Return one message as a line, LF included."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"


def check_params(method: str, params: JsonObject) -> None:
    """Hold what the harness sends against its own schema; a difference is a fault of the suite."""
    problem = _first_problem(f"{method}#/$defs/params", params)
    assert problem is None, f"the suite would send bad params of {method}: {problem}"  # noqa: S101


def decode_reply(line: bytes, request_id: str, method: str) -> JsonObject:
    """Return the result that `line` holds for the request.

    Raises `Unsupported` for "method not found", `AdapterFault` for all that the protocol does not allow.
    """
    try:
        message = read_json(line)
    except JsonError as error:
        raise AdapterFault(
            "no_message", f"In place of the answer to {method} came {quote(line)}: {error}. {_LOGS_BELONG_ON_STDERR}"
        ) from error
    if isinstance(message, dict) and "method" in message:
        raise AdapterFault("unasked", f"A request of its own came while {method} was pending: {quote(line)}.")
    problem = _first_problem("reply", message)
    if problem is not None or not isinstance(message, dict):
        raise AdapterFault("wrong_reply", f"The answer to {method} is no reply: {problem}. It was {quote(line)}.")
    if message["id"] != request_id:
        raise AdapterFault(
            "wrong_reply", f"The answer to {method} carries the id {message['id']!r} instead of {request_id!r}."
        )
    if "error" in message:
        raise _error(method, message["error"])
    return check_result(method, message["result"])


def check_result(method: str, result: JsonValue) -> JsonObject:
    """Return `result` if it is what `method` may answer. Raises `AdapterFault` otherwise."""
    problem = _first_problem(f"{method}#/$defs/result", result)
    if problem is not None or not isinstance(result, dict):
        raise AdapterFault("wrong_reply", f"The result of {method} is not what the protocol says: {problem}.")
    return result


def quote(line: bytes) -> str:
    """Show the beginning of a line inertly: nothing in it can steer a terminal."""
    text = line[:120].decode("utf-8", "backslashreplace")
    return ascii(text) + ("…" if len(line) > 120 else "")


def _error(method: str, error: JsonValue) -> AdapterFault | Unsupported:
    assert isinstance(error, dict)  # noqa: S101 - the reply schema says so
    if error["code"] == METHOD_NOT_FOUND:
        return Unsupported(method)
    sentence = f"{method} was answered with error {error['code']}: {ascii(str(error['message'])[:300])}."
    return AdapterFault("error", f"{sentence} A refusal is a result; an error is a fault.")


def _first_problem(schema: str, instance: JsonValue) -> str | None:
    """Return where and how `instance` breaks the schema, or None."""
    error = best_match(_validator(schema).iter_errors(instance))
    return None if error is None else _sentence(error)


def _sentence(error: ValidationError) -> str:
    place = "/".join(str(step) for step in error.absolute_path)
    message = error.message if len(error.message) <= 300 else error.message[:300] + "…"
    return f"at /{ascii(place)[1:-1]}, {ascii(message)[1:-1]}"


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"urn:perdure:protocol-{PROTOCOL}:{schema}"}, registry=_registry())


@cache
def _registry() -> Registry[_Schema]:
    folder = data.schemas() / f"protocol-{PROTOCOL}"
    documents = (json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json")))
    return Registry[_Schema]().with_resources(
        (document["$id"], Resource.from_contents(document)) for document in documents
    )
