"""A recorded exchange: what the harness says and what comes, for an author's own unit tests.

It is deterministic: the same journal gives the same lines. Each line is `{"process": NUMBER, "to": MESSAGE}` or
`{"process": NUMBER, "from": MESSAGE}`; processes are counted from 1 in the order in which they are started.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, Literal

from perdure.kernel.values import JsonError, JsonObject, JsonValue, read_json
from perdure_conformance.harness.connection import AdapterFault, Connection
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
    append(1, 1, run=2),
    *(load(run=2, handle=1), append(2, 2, run=2, handle=1)),  # by a second process, which is told what the first did
    load(run=2),
    append(2, 3, run=2),  # the second was before
    append(3, 2, run=2),  # the second stored it
    append(3, 3, run=2),
    *(append(3, 4, run=2, handle=1), append(1, 1, run=2, handle=1), load(run=2, handle=1)),
    Reopen(),
    load(),
    append(1, 1),
    append(4, *range(100, 100 + _TOO_MANY)),  # too large
)
"""Each method, and each refusal that a journal in good order gives, but that of a snapshot which is too large.

What a second process does is left out where `multi_process` is not claimed. What would happen at the same time is in no
exchange: it would not be the same each time.
"""


class NotRecorded(Exception):
    """There is no good exchange to record. `str(error)` says why."""

    def __init__(self, kind: Literal["wrong", "fault"], sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


def exchange(target: Target, timeout_s: float) -> list[JsonObject]:
    """Return what was said, each message with its process and direction. Raises `NotRecorded`."""
    said: list[JsonObject] = []
    site = Site(_Recorded(target, said), timeout_s)
    try:
        play = Play(site, Identities(_SEED, 0), Tally(), RULES)
        for operation in OPERATIONS:
            play.do(operation)
        site.close_all()
    except Violation as error:
        raise NotRecorded("wrong", f"After {len(said)} messages, {error.requirement} is broken.") from error
    except (AdapterFault, Inconclusive) as error:
        raise NotRecorded("fault", f"After {len(said)} messages: {error}") from error
    except PlayEnded as error:
        raise NotRecorded("fault", f"After {len(said)} messages, an answer left open what is right.") from error
    finally:
        site.remove()
    return said


def in_lines(said: list[JsonObject]) -> bytes:
    """Return an exchange as the content of a file, in ASCII: nothing in it can steer a terminal."""
    return b"".join(json.dumps(message, separators=(",", ":")).encode() + b"\n" for message in said)


@dataclass(slots=True)
class _Recorded:
    """A target of which each process has a number, and every message is kept whole."""

    target: Target
    said: list[JsonObject]
    started: int = 0

    @property
    def is_process(self) -> bool:
        return self.target.is_process

    def open(self, timeout_s: float, transcript: Transcript) -> Connection:
        del transcript
        self.started += 1
        return self.target.open(timeout_s, _Recording(self.said, self.started))

    def as_process(self) -> Target:
        return self.target.as_process()

    def words(self) -> dict[str, str | list[str]]:
        return self.target.words()


class _Recording(Transcript):
    """What is said with one process."""

    def __init__(self, said: list[JsonObject], process: int) -> None:
        super().__init__()
        self._said = said
        self._process = process

    def sent(self, line: bytes) -> None:
        self._said.append({"process": self._process, "to": _placed(read_json(line))})

    def received(self, line: bytes) -> None:
        try:
            message = read_json(line)
        except JsonError:
            message = None  # What came is told by whoever judges it.
        self._said.append({"process": self._process, "from": message})


def _placed(request: JsonValue) -> JsonValue:
    """Return a request with a name for the folder of the state, which is another one each time."""
    if isinstance(request, dict) and request.get("method") == "initialize" and isinstance(request["params"], dict):
        return {**request, "params": {**request["params"], "state_dir": STATE_DIR}}
    return request
