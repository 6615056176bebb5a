"""The crashes that are tried, those with the fewest deviations first, and how one that finds a fault is made smaller.

Source: `docs/spec/crash.md`, "Levels"; "Facts that save days" of the crash design.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Final, TypeVar

from perdure.journal.contract import DurabilityLevel
from perdure_conformance.crash.disk import Cut, Disk, Fate, Torn
from perdure_conformance.crash.trace import Answer, Blind, Sync
from perdure_conformance.shrinking import chunks, smallest

Anything = TypeVar("Anything")

_PAIRS_UP_TO: Final = 8
"""Pairs are tried where no more calls than this are open; drawn ones cover the rest."""
_PLACES: Final = 6
"""At how many places a long write is torn."""
_MOMENTS: Final = 16
"""At how many moments a call is lost, and how many calls are kept alone at one."""
_MOMENTS_OF_A_TEAR: Final = 4
_MOMENTS_OF_ALL: Final = 100
_CHANCES: Final = (0.2, 0.5, 0.8)


def cuts(disk: Disk, level: DurabilityLevel, *, draws: int, seed: int) -> Iterator[Cut]:
    """Return the cuts that a level adds to the levels beneath: what is thought of, then what is drawn.

    The same state may come more than once.
    """
    match level:
        case "process-crash":
            for calls in _moments(disk):
                yield Cut(calls)
            for calls in _moments(disk)[1:]:
                yield from (Cut(calls, (Fate(calls - 1, way),)) for way in _some(disk.pages(calls - 1)))
        case "ordered":
            yield from _beginnings(disk)
        case "sector":
            yield from _torn_beginnings(disk)
        case "posix-weak":
            yield from _one_deviation(disk)
            yield from _one_kept(disk)
            yield from _two_lost(disk)
            yield from _drawn(disk, draws, Random(seed))  # noqa: S311 - a draw must be the same again


def _moments(disk: Disk) -> list[int]:
    """Return after how many calls a crash is worth a try: a sync alone makes nothing possible."""
    return [0, *(index + 1 for index, each in enumerate(disk.operations) if not isinstance(each, Sync | Blind))]


def _ends(disk: Disk) -> list[tuple[int, tuple[int, ...]]]:
    """Return how a beginning may end: after how many calls the power goes, and which of them are missing.

    Where the first that is missing is the same, the disk holds the same; so one moment for each answer is enough. Those
    of which the fewest are missing come first.
    """
    found: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {}
    for calls in _moments(disk):
        surely = disk.after_last_sync(calls)
        tail = tuple(index for index in disk.pending(calls) if index >= surely)
        for place, first in enumerate(tail):
            found.setdefault((first, disk.answered(calls)), (calls, tail[place:]))
    return sorted(found.values(), key=lambda end: (len(end[1]), end[0]))


def _beginnings(disk: Disk) -> Iterator[Cut]:
    for calls, (first, *lost) in _ends(disk):
        for way in (None, *_some(disk.pages(first))):
            yield Cut(calls, (Fate(first, way), *map(Fate, lost)))


def _torn_beginnings(disk: Disk) -> Iterator[Cut]:
    for calls, (torn, *lost) in _ends(disk):
        for way in _tears(disk, torn):
            yield Cut(calls, (Fate(torn, way), *map(Fate, lost)))


def _one_deviation(disk: Disk) -> Iterator[Cut]:
    moments = _moments_of_each(disk)
    for index, of_call in moments.items():
        for calls in of_call:
            yield Cut(calls, (Fate(index),))
    for index, of_call in moments.items():
        for calls in _some(of_call, _MOMENTS_OF_A_TEAR):
            for way in _tears(disk, index):
                yield Cut(calls, (Fate(index, way),))


def _moments_of_each(disk: Disk) -> Mapping[int, Sequence[int]]:
    """Return at which moments a crash may take away each call: all, or some if there are many."""
    found: dict[int, list[int]] = {}
    for calls in _moments(disk):
        for index in disk.pending(calls):
            found.setdefault(index, []).append(calls)
    return {index: _some(moments, _MOMENTS) for index, moments in sorted(found.items())}


def _one_kept(disk: Disk) -> Iterator[Cut]:
    for calls in _some(_moments(disk), _MOMENTS_OF_ALL):
        pending = disk.pending(calls)
        if pending:
            yield Cut(calls, tuple(map(Fate, pending)))
        for kept in _some(pending, _MOMENTS):
            yield Cut(calls, tuple(Fate(index) for index in pending if index != kept))


def _two_lost(disk: Disk) -> Iterator[Cut]:
    for calls in _moments(disk):
        pending = disk.pending(calls)
        if len(pending) <= _PAIRS_UP_TO:
            for pair in combinations(pending, 2):
                yield Cut(calls, tuple(map(Fate, pair)))


def _drawn(disk: Disk, draws: int, random: Random) -> Iterator[Cut]:
    moments = [calls for calls in _moments(disk) if len(disk.pending(calls)) > 1]
    for _ in range(draws if moments else 0):
        calls = random.choice(moments)
        chance = random.choice(_CHANCES)
        fates = [
            Fate(index, _drawn_tear(disk, index, random)) for index in disk.pending(calls) if random.random() < chance
        ]
        yield Cut(calls, tuple(fates))


def _drawn_tear(disk: Disk, index: int, random: Random) -> Torn | None:
    sectors = disk.sectors(index)
    if sectors == 0 or random.random() < 0.5:
        return None
    kept = tuple(sector for sector in range(sectors) if random.random() < 0.5)
    return Torn(kept if len(kept) < sectors else kept[:-1], is_long=random.random() < 0.5)


def _tears(disk: Disk, index: int) -> Iterator[Torn]:
    """Return the ways in which a write is torn: none of it but its length; a part missing; a part alone."""
    sectors = disk.sectors(index)
    if sectors == 0:
        return
    everything = tuple(range(sectors))
    places = _some(everything)
    yield Torn((), is_long=True)
    for place in places[1:]:
        yield Torn(everything[:place], is_long=False)
        yield Torn(everything[:place], is_long=True)
    for place in places[:-1]:
        yield Torn(everything[:place] + everything[place + 1 :], is_long=True)
        yield Torn((place,), is_long=True)
    if sectors > 1:
        yield Torn(everything[-1:], is_long=True)


def _some(many: Sequence[Anything], at_most: int = _PLACES + 1) -> Sequence[Anything]:
    """Return the first, the last and some between, if there are more than so many."""
    if len(many) <= at_most:
        return many
    places = {round(each * (len(many) - 1) / (at_most - 1)) for each in range(at_most)}
    return [many[place] for place in sorted(places)]


def smaller(cut: Cut, disk: Disk, level: DurabilityLevel, fails: Callable[[Cut], bool]) -> Cut:
    """Return the smallest cut found that still fails at this level: less lost, less torn, an earlier crash."""
    tried = {cut}

    def still_fails(candidate: Cut) -> bool:
        if candidate in tried or not disk.allows(candidate, level):
            return False
        tried.add(candidate)
        return fails(candidate)

    return smallest(cut, still_fails, lambda each: _candidates(each, disk))


def _candidates(cut: Cut, disk: Disk) -> Iterator[Cut]:
    """Return cuts that say less: half of the deviations, one less, a write that is there, an earlier crash."""
    fates = cut.fates
    for part in chunks(len(fates)):
        yield Cut(cut.calls, fates[: part.start] + fates[part.stop :])
    if len(fates) == 1:
        yield Cut(cut.calls)
    for place, fate in enumerate(fates):
        for simpler in _simpler(disk, fate):
            yield Cut(cut.calls, (*fates[:place], simpler, *fates[place + 1 :]))
    last = max((fate.call for fate in fates), default=-1)
    for calls in _earlier(disk, cut.calls, last + 1):
        yield Cut(calls, fates)


def _simpler(disk: Disk, fate: Fate) -> Iterable[Fate]:
    """Return fates of a torn write that are easier to understand: nothing of it, but its length; a beginning."""
    if fate.torn is None:
        return ()
    ways: list[Torn | None] = [None, *_tears(disk, fate.call)]
    known = ways.index(fate.torn) if fate.torn in ways else len(ways)
    return [Fate(fate.call, way) for way in ways[:known]]


def _earlier(disk: Disk, calls: int, at_least: int) -> Sequence[int]:
    """Return after how few calls the crash may come instead; the moment after each answer first."""
    moments = [each for each in _moments(disk) if at_least <= each < calls]
    after_answers = [each for each in moments if each and isinstance(disk.operations[each - 1], Answer)]
    return list(dict.fromkeys([*after_answers, *moments]))
