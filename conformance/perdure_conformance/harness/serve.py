"""The other side of the wire: `python -m perdure_conformance.harness.serve MODULE:FACTORY` is an adapter.

It lets a Python journal be judged as a program, which can be killed.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from perdure.kernel.values import JsonObject, JsonValue, read_json
from perdure_conformance.harness import messages
from perdure_conformance.harness.connection import Unsupported
from perdure_conformance.harness.dispatch import Dispatcher
from perdure_conformance.harness.factories import JournalFactory, import_factory


def serve(factory: JournalFactory, requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests, a line each, until `shutdown` or the end of input."""
    dispatcher = Dispatcher(factory)
    for line in requests:
        request = read_json(line)
        assert isinstance(request, dict)
        replies.write(messages.encode_line({"jsonrpc": "2.0", "id": request["id"], **_outcome(dispatcher, request)}))
        replies.flush()
        if request["method"] == "shutdown":
            return


def _outcome(dispatcher: Dispatcher, request: JsonObject) -> dict[str, JsonValue]:
    method, params = str(request["method"]), request["params"]
    assert isinstance(params, dict)
    try:
        return {"result": dispatcher.dispatch(method, params)}
    except Unsupported:
        return {"error": {"code": messages.METHOD_NOT_FOUND, "message": f"method not found: {method}"}}


def main(path: str) -> None:
    """Serve a factory. What the journal prints goes to standard error: standard output is for replies alone."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(import_factory(path), sys.stdin.buffer, replies)


if __name__ == "__main__":
    main(sys.argv[1])
