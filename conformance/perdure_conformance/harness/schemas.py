"""The JSON Schemas of the messages: what each side may say, checked in both directions."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable
from typing import Literal

from perdure.kernel.values import JsonError, JsonObject, JsonValue, read_json
from perdure_conformance.harness.connection import AdapterFault, Unsupported
from perdure_conformance.harness.messages import METHOD_NOT_FOUND, PROTOCOL, quote

_ITEMS_ALLOWED = 2_000
"""More than any profile asks for in one list."""

_MEMBERS_OF_A_REPLY = frozenset({"jsonrpc", "id", "result", "error"})

_REPLIES_REMEMBERED = 2_000
_BYTES_REMEMBERED = 16 * 1024

_LOGS_BELONG_ON_STDERR = "Standard output is for messages alone; write logs to standard error."


Decode = Callable[[bytes, str, str, JsonObject], JsonObject]
"""As `decode_reply`."""


class Repeated(dict[str, JsonValue]):
    """Params that are sent again and again, and do not change: they are held against their schema once."""

    is_held = False


def check_params(method: str, params: JsonObject) -> None:
    """Hold what the harness sends against its own schema; a difference is a fault of the suite."""
    if isinstance(params, Repeated):
        if params.is_held:
            return
        params.is_held = True
    request: JsonObject = {"jsonrpc": "2.0", "id": "h-1", "method": method, "params": {}}  # Any object will do.
    problem = _first_problem("request", request) or _first_problem(_form(method, "params", params), params)
    assert problem is None, f"the suite would send a bad {method}: {problem}"


def decode_reply(line: bytes, request_id: str, method: str, params: JsonObject) -> JsonObject:
    """Return the result that `line` holds for the request.

    Raises `Unsupported` for "method not found", `AdapterFault` for all that the protocol does not allow.
    """
    try:
        message = read_json(line)
    except JsonError as error:
        told = f"In place of the answer to {method} came {quote(line)}: {error}.{_advice(line)}"
        raise AdapterFault("no_message", told) from error
    if isinstance(message, dict) and "method" in message:
        raise AdapterFault("unasked", f"A request of its own came while {method} was pending: {quote(line)}.")
    problem = _wrong_form(message, request_id) or _wrong_reply(message)
    if problem is not None or not isinstance(message, dict):
        raise AdapterFault("wrong_reply", f"The answer to {method} is no reply: {problem}. It was {quote(line)}.")
    if message["id"] != request_id:
        raise _wrong_id(method, str(message["id"]), request_id)
    if "error" in message:
        raise _error(method, message["error"])
    return check_result(method, params, message["result"])


class Remembered:
    """Decodes replies as `decode_reply` does; one that came before, but for its id, is held against its schema once."""

    def __init__(self) -> None:
        self._results: dict[tuple[str, bytes], JsonObject] = {}

    def __call__(self, line: bytes, request_id: str, method: str, params: JsonObject) -> JsonObject:
        """Return the result that a line holds. Whoever gets it must not change it."""
        key = (method, line.replace(f'"{request_id}"'.encode(), b"", 1))
        if key in self._results:
            return self._results[key]
        result = decode_reply(line, request_id, method, params)
        if len(line) <= _BYTES_REMEMBERED and len(self._results) < _REPLIES_REMEMBERED and method != "initialize":
            self._results[key] = result
        return result


def _advice(line: bytes) -> str:
    """Return what helps whoever wrote a line that is not JSON."""
    if line.startswith(BOM_UTF8):
        return " It begins with a byte order mark: write UTF-8 without one."
    return "" if line.startswith(b"{") else f" {_LOGS_BELONG_ON_STDERR}"


def check_result(method: str, params: JsonObject, result: JsonValue) -> JsonObject:
    """Return `result` if it is what `method` may answer to these params. Raises `AdapterFault` otherwise."""
    problem = _too_long(result) or _first_problem(_form(method, "result", params), result)
    if problem is not None and not isinstance(result, dict):
        problem = "it is no object"
    elif problem is not None and isinstance(result, dict) and "refused" in result:
        problem = _about_a_refusal(method, result)
    if problem is not None or not isinstance(result, dict):
        schema = f"schemas/protocol-{PROTOCOL}/{method}.json"
        raise AdapterFault("wrong_reply", f"The result of {method} is not what {schema} says: {problem}.")
    return result


def _form(method: str, side: Literal["params", "result"], params: JsonObject) -> str:
    """Return the schema of one side of a method: each profile has its own of `initialize`."""
    of_profile = f"{params['profile']}_" if method == "initialize" and "profile" in params else ""
    return f"{method}#/$defs/{of_profile}{side}"


def _too_long(result: JsonValue) -> str | None:
    """Return where a list is longer than anything that was asked for; its items are not worth a look."""
    members = result.items() if isinstance(result, dict) else ()
    lists = ((name, len(member)) for name, member in members if isinstance(member, list))
    return next((f"at /{name[:40]!a}, {length} items came" for name, length in lists if length > _ITEMS_ALLOWED), None)


def _wrong_form(message: JsonValue, request_id: str) -> str | None:
    """Return what is commonly wrong with a reply, in plain words."""
    if not isinstance(message, dict):
        return "it is no object"
    if message.get("jsonrpc") != "2.0":
        return 'it has no "jsonrpc": "2.0"'
    if not isinstance(message.get("id"), str):
        found = json.dumps(message["id"])[:80] if "id" in message else "missing"
        return f'its id is {found}, and must be the string "{request_id}"'
    if "result" in message and "error" in message:
        return 'it has both "result" and "error": leave one of them out, even if it is null'
    if "result" not in message and "error" not in message:
        return 'it needs either "result" or "error"'
    if unknown := message.keys() - _MEMBERS_OF_A_REPLY:
        return f"its member {min(unknown)[:80]!a} is none of a reply"
    return None


def _wrong_reply(message: JsonValue) -> str | None:
    """Return how a reply breaks its schema, which asks of its id that it is a text, and of its result an object."""
    assert isinstance(message, dict)
    outline: JsonObject = {**message, "id": "", **({"result": {}} if isinstance(message.get("result"), dict) else {})}
    return _first_problem("reply", outline) and _first_problem("reply", message)


def _wrong_id(method: str, found: str, wanted: str) -> AdapterFault:
    prefix, _, number = found.partition("-")
    if prefix == "h" and number.isdecimal() and 0 < int(number[:18]) < int(wanted.removeprefix("h-")):
        return AdapterFault("unasked", f"A second answer to request {found} came while {method} was pending.")
    return AdapterFault("wrong_reply", f"The answer to {method} carries the id {found[:80]!a}, not {wanted!a}.")


def _error(method: str, error: JsonValue) -> AdapterFault | Unsupported:
    assert isinstance(error, dict)
    if error["code"] == METHOD_NOT_FOUND:
        return Unsupported(method)
    sentence = f"{method} was answered with error {error['code']}: {str(error['message'])[:300]!a}."
    return AdapterFault("error", f"{sentence} A refusal is a result; an error is a fault.")


def _first_problem(schema: str, instance: JsonValue) -> str | None:
    """Return where and how `instance` breaks the schema, or None."""
    from perdure_conformance.harness.problems import first_problem  # noqa: PLC0415 - see there

    return first_problem(schema, instance)


def _about_a_refusal(method: str, result: JsonObject) -> str:
    """Return what is wrong with a refusal that is not right."""
    from perdure_conformance.harness.problems import about_a_refusal  # noqa: PLC0415 - see there

    return about_a_refusal(method, result)
