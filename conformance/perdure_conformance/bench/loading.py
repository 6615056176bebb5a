"""From stored lines to the state of a run: what each check costs, beside what reading the JSON alone costs."""

from __future__ import annotations

import gc
import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Final

import msgspec

from perdure.kernel.histories import states
from perdure.kernel.identity import EventId
from perdure.kernel.records import Place, StoredRecord, decoded, sealed, verified
from perdure_conformance.bench.runs import RUN_ID, Play

Lines = list[bytes]

ROUNDS: Final = 5


def lines_of(play: Play) -> Lines:
    """Play a run, and return its records as they are stored."""
    lines: Lines = []
    numbers = count(1)
    for batch in play.batches():
        ids = [EventId(f"00000000-0000-7000-9000-{next(numbers):012x}") for _ in batch]
        lines += sealed(Place(RUN_ID, len(lines) + 1), batch, ids)
    return lines


def _each(read: Callable[[bytes], object]) -> Callable[[Lines], object]:
    return lambda lines: [read(line) for line in lines]


def _parsed_and_digested(line: bytes) -> tuple[StoredRecord, str]:
    return _PARSER.decode(line), hashlib.sha256(line).hexdigest()


def _exhausted(found: Iterable[object]) -> None:
    for _ in found:
        pass


_PARSER: Final = msgspec.json.Decoder(StoredRecord)

STEPS: Final[Mapping[str, Callable[[Lines], object]]] = {
    "json.loads alone": _each(json.loads),
    "parsed strictly": _each(_PARSER.decode),
    "and the checksum over the stored bytes": _each(_parsed_and_digested),
    "and the event decoded": _each(decoded),
    "and linked, whole batches, reduced: fast": lambda lines: _exhausted(states(map(decoded, lines))),
    "verified: all rules of records, canonical form too": _each(verified),
    "and linked, whole batches, reduced: verify": lambda lines: _exhausted(states(map(verified, lines))),
}
"""What is timed; `and` is added to the row above."""


def shares(play: Play) -> tuple[int, float, dict[str, float]]:
    """Return how many records a run has, their mean size in bytes, and the fastest seconds of each step.

    The steps take turns, so that what else the machine does is shared among them.
    """
    lines = lines_of(play)
    fastest = dict.fromkeys(STEPS, math.inf)
    for _ in range(ROUNDS):
        for name, step in STEPS.items():
            gc.collect()
            began = time.process_time()
            step(lines)
            fastest[name] = min(fastest[name], time.process_time() - began)
    return len(lines), sum(map(len, lines)) / len(lines), fastest
