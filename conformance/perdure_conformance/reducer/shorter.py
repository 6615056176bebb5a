"""Shorter histories: batches are left out, and the model writes again what follows from those that are left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perdure.kernel.consequences import owed
from perdure.kernel.errors import HistoryError
from perdure.kernel.records import document_of
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.state import State
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.reference import read_entry
from perdure_conformance.shrinking import chunks

Batch = tuple[Entry, ...]


def batches_of(history: Sequence[Entry]) -> tuple[list[Batch], Batch]:
    """Return the whole batches of a history, and what comes after them: a batch that is not whole, or is wrong."""
    whole: list[Batch] = []
    state: State | None = None
    begun = 0
    for number, entry in enumerate(history, 1):
        try:
            state = reduce(state, read_entry(entry), version=entry.version)
        except HistoryError:
            break
        if owed(state, RULES) is None:
            whole.append(tuple(history[begun:number]))
            begun = number
    return whole, tuple(history[begun:])


def shorter(history: tuple[Entry, ...], *, is_decided: bool) -> Iterator[tuple[Entry, ...]]:
    """Yield histories without some batches, the boldest first; the last one stays, unless a command comes after it."""
    whole, rest = batches_of(history)
    last = () if is_decided or rest or not whole else whole.pop()
    for gone in chunks(len(whole) - 1):
        kept = [whole[0], *whole[1 : gone.start + 1], *whole[gone.stop + 1 :]]
        written = _written(kept)
        if len(written) < sum(map(len, whole)):
            yield (*written, *last, *rest)


def _written(batches: Sequence[Batch]) -> tuple[Entry, ...]:
    """Return a history of the batches that are still possible: each begins as before, and goes on as it must."""
    state: State | None = None
    found: list[Entry] = []
    for batch in batches:
        opening = batch[0]
        try:
            after = reduce(state, read_entry(opening), version=opening.version)
        except HistoryError:
            continue
        state = after
        found.append(opening)
        while (due := owed(state, RULES)) is not None:
            found.append(Entry(opening.version, document_of(due)))
            state = reduce(state, due, version=opening.version)
    return tuple(found)
