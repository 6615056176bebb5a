"""The other side of the wire: `python -m perdure_conformance.harness.serve DISPATCHER FACTORY` is an adapter.

Both are named as `module:name`. It lets a Python object be judged as a program, which can be killed.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from perdure.kernel.values import JsonObject, JsonValue, read_json
from perdure_conformance.harness import messages
from perdure_conformance.harness.connection import Unsupported
from perdure_conformance.harness.dispatch import Served
from perdure_conformance.harness.factories import import_object


def serve(served: Served, requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests, a line each, until `shutdown` or the end of input."""
    for line in requests:
        request = read_json(line)
        assert isinstance(request, dict)
        replies.write(messages.encode_line({"jsonrpc": "2.0", "id": request["id"], **outcome(served, request)}))
        replies.flush()
        if request["method"] == "shutdown":
            return


def outcome(served: Served, request: JsonObject) -> dict[str, JsonValue]:
    """Return what a reply says beside its id: a result, or an error."""
    method, params = str(request["method"]), request["params"]
    assert isinstance(params, dict)
    try:
        return {"result": served.dispatch(method, params)}
    except Unsupported:
        return {"error": {"code": messages.METHOD_NOT_FOUND, "message": f"method not found: {method}"}}


def main(dispatcher: str, factory: str) -> None:
    """Serve a factory. What its object prints goes to standard error: standard output is for replies alone."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(import_object(dispatcher)(import_object(factory)), sys.stdin.buffer, replies)


if __name__ == "__main__":
    main(*sys.argv[1:])
