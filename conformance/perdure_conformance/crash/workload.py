"""What is asked of a journal that is to be crashed: a few requests, the same ones for the same words.

The first line that an adapter answers is that of `initialize`; the line `1 + i` is that of request `i`, counted from 1.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from perdure.kernel.values import JsonObject
from perdure_conformance.crash.replay import ReplayError, Workload
from perdure_conformance.journal.operations import Acquire, Append, Identities, RecordSpec, SaveSnapshot

ANSWERS_BEFORE_THE_FIRST_REQUEST: Final = 1
"""That of `initialize`."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as it is sent."""

    method: str
    params: JsonObject


def requests(workload: Workload) -> Sequence[Request]:
    """Return the requests in order. Raises `ReplayError` if there is no such workload."""
    identities = Identities(workload.seed, 0)
    return [_request(operation, identities) for operation in operations(workload)]


Changing = Append | SaveSnapshot | Acquire


def operations(workload: Workload) -> Sequence[Changing]:
    """Return the requests in order, before they have identities. Raises `ReplayError` if there is no such workload."""
    drawn = WORKLOADS.get(workload.name)
    if drawn is None:
        raise ReplayError(f"There is no workload {workload.name!a}; write one of {', '.join(sorted(WORKLOADS))}.")
    return drawn(workload.appends, random.Random(f"{workload}"))  # noqa: S311 - drawn again from the same words


def _request(operation: Changing, identities: Identities) -> Request:
    run_id = identities.run_id(operation.run)
    match operation:
        case Append():
            records = msgspec.to_builtins(list(identities.envelopes(operation)))
            place: JsonObject = {"run_id": run_id, "expected_next": operation.expected_next, "epoch": None}
            return Request("append", {**place, "records": records})
        case SaveSnapshot(sequence=sequence):
            body = identities.snapshot_body(operation)
            return Request("save_snapshot", {"run_id": run_id, "sequence": sequence, "body": body})
        case Acquire(ttl_ms=ttl_ms, now_ms=now_ms):
            owner = identities.owner_id(operation.owner)
            return Request("acquire", {"run_id": run_id, "owner": owner, "ttl_ms": ttl_ms, "now_ms": now_ms})


_FIRST_RUN_ALONE: Final = 2
"""So many appends go to the first run before the second one begins."""


def _second_from_the_third(index: int) -> int:
    """Return which run an append is of: a second one begins while the first is there, and then both grow in turn."""
    return 0 if index < _FIRST_RUN_ALONE else 1 - index % 2


def _appends(
    count: int, draw: random.Random, run_of: Callable[[int], int], sizes_bytes: Sequence[int] = (0,)
) -> Sequence[Append]:
    """Return appends of one to three records: the second is a batch whatever is drawn, so that a half one is seen."""
    heads: Counter[int] = Counter()
    appends: list[Append] = []
    for index in range(count):
        run = run_of(index)
        size = 3 if index == 1 else draw.randint(1, 3)
        events = range(heads.total(), heads.total() + size)
        records = tuple(RecordSpec(event, body_bytes=draw.choice(sizes_bytes)) for event in events)
        appends.append(Append(run, heads[run] + 1, records))
        heads[run] += size
    return appends


def _caches_and_leases(count: int, draw: random.Random) -> Sequence[Changing]:
    """Return appends, a snapshot after each, and a lease of another run that is over when the next is asked for."""
    operations: list[Changing] = []
    for index, append in enumerate(_appends(count, draw, _second_from_the_third)):
        last = append.expected_next + len(append.records) - 1
        operations += [append, SaveSnapshot(append.run, last, "state"), Acquire(2, ttl_ms=10, now_ms=100 * index)]
    return operations


_PAGES_BYTES: Final = (600, 5_000, 70_000)
"""More than a sector, a page, a pipe or a buffer."""

WORKLOADS: Final[Mapping[str, Callable[[int, random.Random], Sequence[Changing]]]] = {
    "append": lambda count, draw: _appends(count, draw, _second_from_the_third),
    "caches": _caches_and_leases,
    "large": lambda count, draw: _appends(count, draw, lambda _: 0, sizes_bytes=_PAGES_BYTES),
    "runs": lambda count, draw: _appends(count, draw, lambda index: index % 2),
}
"""Small records of one run, and from the third append on of two in turn; snapshots and leases beside them; large
records of one run; small ones of two runs in turn, from the first on."""
