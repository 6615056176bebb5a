"""A recorded exchange: what the harness says and what comes, for an author's own unit tests.

It is deterministic: the same journal gives the same lines. Each line is `{"to": MESSAGE}` or `{"from": MESSAGE}`.
"""

from __future__ import annotations

import json
from typing import Final, Literal

from perdure.kernel.values import JsonError, JsonObject, JsonValue, read_json
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.journal.operations import (
    Acquire,
    Append,
    Identities,
    LoadSnapshot,
    Operation,
    RecordSpec,
    Release,
    Renew,
    Reopen,
    SaveSnapshot,
)
from perdure_conformance.journal.play import Play, PlayEnded, Site, Tally
from perdure_conformance.journal.rules import RULES
from perdure_conformance.journal.scripts import append, event, load
from perdure_conformance.suite import Inconclusive, Violation

STATE_DIR: Final = "/tmp/state"  # noqa: S108 - a name in a file, not a folder that is used
"""What stands for the folder in which the state was kept."""

_SEED: Final = 1
_TOO_MANY: Final = 1_001

OPERATIONS: Final[tuple[Operation, ...]] = (
    append(1, 1),  # a new run
    append(2, 2, 3),  # a batch
    load(),
    load(limit=2),  # page by page
    load(run=1),  # of a run that is not there
    append(1, 4),  # 1 is not anywhere
    append(5, 4),  # nor may a position be left out
    append(1, 1),  # an exact replay
    append(2, event(2, "other"), event(3)),  # a known event, with other bytes
    append(4, 1),  # a known event, at another position
    append(1, 1, run=1),  # a known event, in another run
    Append(run=0, expected_next=4, records=()),
    append(4, RecordSpec(event=4, sequence=5)),
    append(4, RecordSpec(event=4, event_id="not-a-uuid")),
    append(4, 4, 4),
    append(4, RecordSpec(event=4, empty_body=True)),
    append(4, event(4, "line separator \u2028, emoji \U0001f600, quotes \" \\ '")),
    LoadSnapshot(run=0),
    SaveSnapshot(run=0, sequence=2, text="two"),
    LoadSnapshot(run=0),
    Acquire(run=0, ttl_ms=10, now_ms=0),
    Acquire(run=0, ttl_ms=10, now_ms=10, owner=1),
    Renew(run=0, grant=0, ttl_ms=10, now_ms=10),
    append(5, 5, grant=0),
    Acquire(run=0, ttl_ms=10, now_ms=21, owner=1),
    append(6, 6, grant=0),
    Renew(run=0, grant=0, ttl_ms=10, now_ms=22),
    Release(run=0, grant=0),
    Release(run=0, grant=1),
    Reopen(),
    load(),
    append(1, 1),
    append(4, *range(100, 100 + _TOO_MANY)),  # too large
)
"""Each method, and each refusal that a journal in good order gives, but that of a snapshot which is too large."""


class NotRecorded(Exception):
    """There is no good exchange to record. `str(error)` says why."""

    def __init__(self, kind: Literal["wrong", "fault"], sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


def exchange(target: Target, timeout_s: float) -> list[JsonObject]:
    """Return what was said, each message as `{"to": …}` or `{"from": …}`. Raises `NotRecorded`."""
    recording = _Recording()
    site = Site(target, timeout_s, recording)
    try:
        play = Play(site, Identities(_SEED, 0), Tally(), RULES)
        for operation in OPERATIONS:
            play.do(operation)
        site.close_all()
    except Violation as error:
        raise NotRecorded("wrong", f"After {len(recording.said)} messages, {error.requirement} is broken.") from error
    except (AdapterFault, Inconclusive) as error:
        raise NotRecorded("fault", f"After {len(recording.said)} messages: {error}") from error
    except PlayEnded as error:
        raise NotRecorded(
            "fault", f"After {len(recording.said)} messages, an answer left open what is right."
        ) from error
    finally:
        site.remove()
    return recording.said


def in_lines(said: list[JsonObject]) -> bytes:
    """Return an exchange as the content of a file, in ASCII: nothing in it can steer a terminal."""
    return b"".join(json.dumps(message, separators=(",", ":")).encode() + b"\n" for message in said)


class _Recording(Transcript):
    """A transcript that keeps every message whole."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[JsonObject] = []

    def sent(self, line: bytes) -> None:
        super().sent(line)
        self.said.append({"to": _placed(read_json(line))})

    def received(self, line: bytes) -> None:
        super().received(line)
        try:
            self.said.append({"from": read_json(line)})
        except JsonError:
            self.said.append({"from": None})  # What came is told by whoever judges it.


def _placed(request: JsonValue) -> JsonValue:
    """Return a request with a name for the folder of the state, which is another one each time."""
    if isinstance(request, dict) and request.get("method") == "initialize" and isinstance(request["params"], dict):
        return {**request, "params": {**request["params"], "state_dir": STATE_DIR}}
    return request
