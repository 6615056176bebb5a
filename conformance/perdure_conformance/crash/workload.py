"""What is asked of a journal that is to be crashed: a few appends, the same ones for the same words.

The first line that an adapter answers is that of `initialize`; the line `1 + i` is that of append `i`, counted from 1.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from perdure.journal.contract import Envelope
from perdure.kernel.identity import RunId
from perdure.kernel.values import JsonObject
from perdure_conformance.crash.replay import Asked, ReplayError
from perdure_conformance.journal.operations import Append, Identities, RecordSpec

ANSWERS_BEFORE_THE_FIRST_APPEND: Final = 1
"""That of `initialize`."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One append as it is sent."""

    number: int
    """Counted from 1."""
    run_id: RunId
    expected_next: int
    records: tuple[Envelope, ...]

    def params(self) -> JsonObject:
        """Return the request."""
        return {
            "run_id": self.run_id,
            "expected_next": self.expected_next,
            "epoch": None,
            "records": msgspec.to_builtins(list(self.records)),
        }


def workload(asked: Asked) -> Sequence[Sent]:
    """Return the appends in order. Raises `ReplayError` if there is no such workload."""
    drawn = WORKLOADS.get(asked.workload)
    if drawn is None:
        raise ReplayError(f"There is no workload {asked.workload!a}; write one of {', '.join(sorted(WORKLOADS))}.")
    identities = Identities(asked.seed, 0)
    operations = drawn(asked.appends, random.Random(f"{asked}"))  # noqa: S311 - drawn again from the same words
    return [_sent(number, operation, identities) for number, operation in enumerate(operations, 1)]


def further(asked: Asked, run_id: RunId, expected_next: int, start: int = 0) -> Sent:
    """Return one more append to a run, of events that nothing else sends: it tells whether the journal goes on.

    After each start of the program it is another one; starts are counted from 0.
    """
    identities = Identities(asked.seed, 0)
    run = next(number for number in range(_RUNS) if identities.run_id(number) == run_id)
    first = _EVENTS_OF_WORKLOADS + 2 * start
    append = Append(run, expected_next, (RecordSpec(first, text="further"), RecordSpec(first + 1)))
    return _sent(0, append, identities)


def _sent(number: int, operation: Append, identities: Identities) -> Sent:
    run_id = identities.run_id(operation.run)
    return Sent(number, run_id, operation.expected_next, identities.envelopes(operation))


def _appends(count: int, draw: random.Random, *, runs: int = 1, sizes_bytes: Sequence[int] = (0,)) -> Sequence[Append]:
    """Return appends of one to three records: the second is a batch whatever is drawn, so that a half one is seen."""
    heads = [0] * runs
    appends: list[Append] = []
    for index in range(count):
        run = index % runs
        size = 3 if index == 1 else draw.randint(1, 3)
        events = range(sum(heads), sum(heads) + size)
        records = tuple(RecordSpec(event, body_bytes=draw.choice(sizes_bytes)) for event in events)
        appends.append(Append(run, heads[run] + 1, records))
        heads[run] += size
    return appends


_RUNS: Final = 2
_EVENTS_OF_WORKLOADS: Final = 5_000
_PAGES_BYTES: Final = (600, 5_000, 70_000)
"""More than a sector, a page, a pipe or a buffer."""

WORKLOADS: Final[Mapping[str, Callable[[int, random.Random], Sequence[Append]]]] = {
    "append": _appends,
    "large": lambda count, draw: _appends(count, draw, sizes_bytes=_PAGES_BYTES),
    "runs": lambda count, draw: _appends(count, draw, runs=_RUNS),
}
"""Small records of one run; large ones; small ones of two runs in turn."""
