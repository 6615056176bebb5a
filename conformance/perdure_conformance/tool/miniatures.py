"""Tiny adapters that misbehave, each in one way: `python -m perdure_conformance.tool.miniatures MODE [MARK]`.

A process that one of them leaves behind carries the mark among its words.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

_LIMITS: Final = {"max_batch_records": 1_000, "max_batch_bytes": 2**20, "max_snapshot_bytes": 2**20}
_DAEMON_LIVES_S: Final = 30


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _reply(request: dict[str, Any], **changes: object) -> str:
    """Return the answer of a journal that has the core alone and takes everything."""
    method, params = request["method"], request["params"]
    result: dict[str, object] = {}
    if method == "initialize":
        result = {"protocol": 1, "name": "miniature", "version": "1", "capabilities": {}, "limits": _LIMITS}
    elif method == "append":
        kept = [{"sequence": record["sequence"], "event_id": record["event_id"]} for record in params["records"]]
        result = {"acknowledged": kept}
    elif method == "load":
        result = {"records": [], "end": True}
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result, **changes}) + "\n"


def says_nothing(_request: dict[str, Any]) -> None:
    """Never answer."""


def answers_another_id(request: dict[str, Any]) -> None:
    """Answer the request before this one."""
    _say(_reply(request, id="h-0"))


def logs_to_stdout(request: dict[str, Any]) -> None:
    """Write a log line first."""
    _say("INFO request received\n")
    _say(_reply(request))


def repeats_a_key(request: dict[str, Any]) -> None:
    """Give two results; a lax reader takes the last one."""
    _say(f'{{"jsonrpc":"2.0","id":"{request["id"]}","result":{{"none":true}},')
    _say(
        json.dumps({"result": {"protocol": 1, "name": "m", "version": "1", "capabilities": {}, "limits": _LIMITS}})[1:]
    )
    _say("\n")


def answers_twice(request: dict[str, Any]) -> None:
    """Answer each request twice."""
    _say(_reply(request) * 2)


def never_ends_a_line(_request: dict[str, Any]) -> None:
    """Write one line for ever."""
    while True:
        _say("x" * 65_536)


def exits(_request: dict[str, Any]) -> None:
    """Exit instead of answering."""
    sys.exit(7)


def leaves_a_daemon(request: dict[str, Any]) -> None:
    """Answer, and start a process in a session of its own that outlives this one."""
    if request["method"] == "initialize":
        sleeper = f"import time; time.sleep({_DAEMON_LIVES_S})"
        mark = sys.argv[2:]
        subprocess.Popen([sys.executable, "-S", "-c", sleeper, *mark], start_new_session=True)  # noqa: S603
    _say(_reply(request))


MODES: Final[dict[str, Callable[[dict[str, Any]], None]]] = {
    mode.__name__: mode
    for mode in (
        says_nothing,
        answers_another_id,
        logs_to_stdout,
        repeats_a_key,
        answers_twice,
        never_ends_a_line,
        exits,
        leaves_a_daemon,
    )
}


def main(mode: str) -> None:
    """Serve one mode until input ends."""
    for line in sys.stdin:
        MODES[mode](json.loads(line))


if __name__ == "__main__":
    main(sys.argv[1])
