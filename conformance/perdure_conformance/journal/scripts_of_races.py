"""Sequences in which several handles do something at the same time: those of one process, or a process each.

What comes of a race depends on who is first, so each is played several times.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from perdure_conformance.journal.operations import Acquire, Append, Follow, Operation, Race, Racing, Release, Reopen
from perdure_conformance.journal.scripts import Script, append, load

_APPENDS = ("JRN-027", "JRN-028", "JRN-029")
_LOOKS = (*_APPENDS, "JRN-020")
_LEASES = ("LSE-007",)
_TTL_MS = 600_000


def _race(*parts: Iterator[Racing]) -> Race:
    return Race(operations=tuple(operation for part in parts for operation in part))


def _appends(handle: int, times: int, *, run: int = 0, size: int = 1, at: int = 1) -> Iterator[Append]:
    """Yield appends of so many new events each by one handle; every handle has events of its own."""
    numbers = count(1_000 * (handle + 1) + 100 * run)
    return (append(at, *(next(numbers) for _ in range(size)), run=run, handle=handle) for _ in range(times))


def _follows(handle: int, times: int, *, run: int = 0, limit: int = 1_000) -> Iterator[Follow]:
    return iter([Follow(run=run, times=times, limit=limit, handle=handle)])


def _appends_and_looks(handle: int, times: int) -> Iterator[Racing]:
    for each in _appends(handle, times):
        yield each
        yield Follow(run=0, handle=handle)


def _acquires(handles: int, now_ms: int) -> Race:
    return Race(
        operations=tuple(
            Acquire(run=0, ttl_ms=_TTL_MS, now_ms=now_ms, owner=handle, handle=handle) for handle in range(handles)
        )
    )


def _loads(handles: int, *, run: int = 0) -> tuple[Operation, ...]:
    return tuple(load(run=run, handle=handle) for handle in range(handles))


def _races(who: str, most: int, *, alone: bool) -> tuple[Script, ...]:
    """Return what at most so many handles do at the same time."""
    appenders = most - 1
    return (
        Script(
            f"{who} append to one run at the same time",
            _APPENDS,
            (
                _race(*(_appends(handle, 20 // most) for handle in range(most))),
                *_loads(most),
                append(20 // most * most + 1, 1),
                Reopen(),
                *_loads(2),
            ),
            alone=alone,
        ),
        Script(
            f"two of {who} append at the same time, once each",
            _APPENDS,
            (append(1, 1), *_loads(2), _race(_appends(0, 1, at=2), _appends(1, 1, at=2)), *_loads(2)),
            alone=alone,
        ),
        Script(
            f"{who} append and look by turns, at the same time",
            _LOOKS,
            (_race(*(_appends_and_looks(handle, 3) for handle in range(appenders))), *_loads(appenders)),
            alone=alone,
        ),
        Script(
            f"one of {who} reads on while the others append",
            _LOOKS,
            (
                append(1, 1, 2),
                _race(
                    *(_appends(handle, 4, at=3) for handle in range(appenders)),
                    _follows(appenders, 40, limit=3),
                ),
                *_loads(most),
            ),
            alone=alone,
        ),
        Script(
            f"two of {who} read on while the others append",
            ("JRN-028", "JRN-029", "JRN-020"),
            (
                _race(
                    *(_appends(handle, 4) for handle in range(most - 2)),
                    *(_follows(handle, 20) for handle in (most - 2, most - 1)),
                ),
                *_loads(most),
            ),
            alone=alone,
        ),
        Script(
            f"one of {who} reads on while the others append batches",
            _APPENDS,
            (
                _race(
                    *(_appends(handle, 3, size=3) for handle in range(appenders)),
                    _follows(appenders, 40, limit=2),
                ),
                *_loads(most),
            ),
            alone=alone,
        ),
        Script(
            f"{who} append to a run each and to one together, at the same time",
            _APPENDS,
            (
                _race(
                    *(_appends(handle, 2, run=handle + 1) for handle in range(appenders)),
                    *(_appends(handle, 2) for handle in range(appenders)),
                ),
                *_loads(appenders),
                *(load(run=handle + 1, handle=appenders - 1 - handle) for handle in range(appenders)),
            ),
            alone=alone,
        ),
        Script(
            f"{who} ask for a lease at the same time",
            _LEASES,
            (
                _acquires(most, 1_000),
                _acquires(most, 2_000),
                Release(run=0, grant=0),
                _acquires(most, 3_000),
                Release(run=0, grant=1, handle=1),
                _acquires(2, 4_000),
            ),
            alone=alone,
        ),
    )


RACE_SCRIPTS: tuple[Script, ...] = _races("four handles", 4, alone=False) + _races("three processes", 3, alone=True)
"""Every script in which something happens at the same time."""
