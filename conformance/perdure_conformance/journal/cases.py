"""Cases: a failing play as data, played again on fresh state, and made as small as it gets.

A case holds concrete operations, not a seed: what it does cannot change with the version of a library.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.calls import Noun
from perdure_conformance.journal.describe import numbered
from perdure_conformance.journal.operations import Append, Follow, Identities, Load, Operation, Race, Racing, one_by_one
from perdure_conformance.journal.play import Play, PlayEnded, Site, Tally
from perdure_conformance.journal.rules import RULES, Rules
from perdure_conformance.journal.timeline import timeline
from perdure_conformance.judging import failure_of, replayed
from perdure_conformance.shrinking import chunks, fewest, smallest, within
from perdure_conformance.suite import Case, Inconclusive, Replay, Violation
from perdure_conformance.timeline import Timeline

_MAX_RECORDS, _MAX_BODY_BYTES = 20_000, 64 * 2**20

_TRIES_OF_A_RACE = 20
"""How often a case with a race is played until it fails the same way."""
_TRIES_TO_SHRINK_A_RACE = 5
"""A smaller case with a race must fail the same way in most of so many tries: it is to fail again later."""


class PlayOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One play: its number, which gives its runs their identities, and what it does."""

    number: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    operations: tuple[Operation, ...]


class JournalCase(Case, frozen=True, kw_only=True, tag="journal"):
    """All that is needed to fail again. The last play fails; those before it make the state that it needs."""

    plays: Annotated[tuple[PlayOf, ...], Meta(min_length=1)]

    @property
    def size(self) -> int:
        """How many operations it has."""
        return sum(1 for play in self.plays for _ in one_by_one(play.operations))

    @property
    def needs_prior_state(self) -> bool:
        """Whether it fails only after other plays."""
        return len(self.plays) > 1

    @property
    def tries(self) -> int:
        """Once, or more often if it has a race."""
        races = any(isinstance(operation, Race) for play in self.plays for operation in play.operations)
        return _TRIES_OF_A_RACE if races else 1

    @property
    def unanswered(self) -> tuple[str, ...]:
        """No answer to the last operation; what came before it was answered, and is not kept."""
        *before, last = self.plays[-1].operations or (None,)
        return () if last is None or isinstance(last, Race) else (*("" for _ in before), "no answer")

    def as_played(self, again: Replay) -> Self:
        """Return the case with what came of playing it, up to the operation that failed."""
        *before, last = self.plays
        plays = (*before, PlayOf(last.number, last.operations[: len(again.answers)]))
        return msgspec.structs.replace(super().as_played(again), plays=plays)

    @property
    def is_plausible(self) -> bool:
        """Whether it has no more records, and no longer ones, than checks send."""
        records = [
            record
            for play in self.plays
            for operation in one_by_one(play.operations)
            if isinstance(operation, Append)
            for record in operation.records
        ]
        return len(records) <= _MAX_RECORDS and sum(record.body_bytes for record in records) <= _MAX_BODY_BYTES

    def in_words(self, answers: tuple[str, ...], *, whole: bool) -> list[str]:
        """Return the operations in words, each of the last play with its answer as far as there was one."""
        *before, last = self.plays
        told = numbered(last.operations, answers, self._noun)
        if not whole:
            return told
        lines: list[str] = []
        for play in before:
            lines += ["before, on runs of its own:", *numbered(play.operations, (), self._noun)]
        lines += ["and then, on other runs:"] if before else []
        lines += told
        return lines if self.size else [*lines, "  (it failed before the first operation)"]

    def timeline(self, answers: tuple[str, ...]) -> Timeline:
        """Return what the last play does, a lane for each handle, or process."""
        return timeline(self.plays[-1].operations, answers, self._noun)

    @property
    def _noun(self) -> Noun:
        return "process" if self.in_own_process or "command" in self.target else "handle"


def replay(case: JournalCase, target: Target, rules: Rules = RULES) -> Replay:
    """Play a case on fresh state; one with a race again and again, until it fails the same way."""
    return _replayed(case, target, rules, case.tries)


def _replayed(case: JournalCase, target: Target, rules: Rules, tries: int) -> Replay:
    while True:
        again = _replayed_once(case, target, rules)
        tries -= 1
        if not tries or rules.same_failure(again.failure, case.failure):
            return again


def _replayed_once(case: JournalCase, target: Target, rules: Rules) -> Replay:
    site = Site(target, case.timeout_s)
    stop: Violation | AdapterFault | None = None
    answers: list[str] = []
    finished = True
    try:
        for play_of in case.plays:
            answers, stop, finished = _play(play_of, site, case, rules)
            if isinstance(stop, AdapterFault):
                break  # What earlier plays broke does not matter, as long as the implementation goes on.
        all_done = finished and len(answers) == len(case.plays[-1].operations)
        return replayed(stop, answers, all_done=all_done, transcript=site.transcript.text(), stderr=site.stderr)
    finally:
        site.remove()


def _play(
    play_of: PlayOf, site: Site, case: JournalCase, rules: Rules
) -> tuple[list[str], Violation | AdapterFault | None, bool]:
    play: Play | None = None
    stop: Violation | AdapterFault | None = None
    try:
        play = Play(site, Identities(case.seed, play_of.number), Tally(), rules, frozenset(case.off))
        for operation in play_of.operations:
            play.do(operation)
    except (Violation, AdapterFault) as error:
        stop = error
    except (Inconclusive, PlayEnded):
        return play.answers if play is not None else [], None, False
    return play.answers if play is not None else [], stop, True


def shrink(case: JournalCase, target: Target, rules: Rules = RULES, *, attempts: int) -> JournalCase:
    """Return the smallest case found that fails the same way on fresh state, in so many attempts.

    Plays go first, then operations in ever smaller chunks, then records, then what is odd about them. A case of one
    play is shrunk within one open implementation, on runs of their own, and confirmed on fresh state: that is much
    faster, and if the confirmation fails, it is shrunk on fresh state throughout.
    """
    if len(case.plays) == 1 and not case.failure.startswith("fault:"):
        smaller = _shrunk_in_one_place(case, target, rules, attempts)
        if rules.same_failure(replay(smaller, target, rules).failure, case.failure):
            return smaller
    return _shrunk(case, lambda candidate: _replayed_once(candidate, target, rules).failure, rules, attempts)


def _shrunk_in_one_place(case: JournalCase, target: Target, rules: Rules, attempts: int) -> JournalCase:
    site = Site(target, case.timeout_s)
    numbers = itertools.count(case.plays[0].number + 1)

    def failure(candidate: JournalCase) -> str | None:
        _, stop, _ = _play(PlayOf(next(numbers), candidate.plays[0].operations), site, candidate, rules)
        if isinstance(stop, AdapterFault):
            site.crash()
        return None if stop is None else failure_of(stop)

    try:
        return _shrunk(case, failure, rules, attempts)
    finally:
        site.remove()


def _shrunk(
    case: JournalCase, failure: Callable[[JournalCase], str | None], rules: Rules, attempts: int
) -> JournalCase:
    def fails_alike(candidate: JournalCase) -> bool:
        enough = (_TRIES_TO_SHRINK_A_RACE if candidate.tries > 1 else 1) // 2 + 1
        looks: Counter[bool] = Counter()
        while max(looks.values(), default=0) < enough:
            looks[rules.same_failure(failure(candidate), case.failure)] += 1
        return looks[True] == enough

    still_fails = within(attempts, fails_alike)
    *before, last = case.plays

    def after(plays: tuple[PlayOf, ...]) -> JournalCase:
        return msgspec.structs.replace(case, plays=(*plays, last))

    needed = fewest(tuple(before), lambda plays: still_fails(after(plays)))
    return smallest(after(needed), still_fails, _smaller)


def _smaller(case: JournalCase) -> Iterator[JournalCase]:
    """Yield cases that are a little smaller, the boldest first."""
    *before, last = case.plays
    for operations in _smaller_operations(last.operations):
        yield msgspec.structs.replace(case, plays=(*before, PlayOf(last.number, operations)))
    for index, play in enumerate(before):
        for operations in _smaller_operations(play.operations):
            plays = (*before[:index], PlayOf(play.number, operations), *before[index + 1 :], last)
            yield msgspec.structs.replace(case, plays=plays)


def _smaller_operations(operations: tuple[Operation, ...]) -> Iterator[tuple[Operation, ...]]:
    for gone in chunks(len(operations)):
        rest = operations[gone.stop :]
        yield operations[: gone.start] + _moved_up(rest, operations[gone])
        yield operations[: gone.start] + rest
    for index, operation in enumerate(operations):
        before, rest = operations[:index], operations[index + 1 :]
        if rest and (merged := _merged(operation, rest[0])) is not None:
            yield (*before, merged, *rest[1:])
        for simpler, missing in _simpler(operation):
            yield (*before, simpler, *(_moved_up(rest, (missing,)) if missing is not None else rest))


def _merged(first: Operation, second: Operation) -> Append | None:
    """Return two appends in a row as one batch."""
    if not isinstance(first, Append) or not isinstance(second, Append):
        return None
    in_a_row = second.expected_next == first.expected_next + len(first.records)
    alike = (first.run, first.handle, first.grant) == (second.run, second.handle, second.grant)
    return msgspec.structs.replace(first, records=first.records + second.records) if in_a_row and alike else None


def _moved_up(operations: tuple[Operation, ...], gone: Sequence[Operation]) -> tuple[Operation, ...]:
    """Let later appends close the gap that the missing ones leave."""
    missing: dict[int, int] = {}
    for operation in one_by_one(gone):
        if isinstance(operation, Append):
            missing[operation.run] = missing.get(operation.run, 0) + len(operation.records)

    def of_race(operation: Racing) -> Racing:
        return _at_earlier(operation, missing) if isinstance(operation, Append) else operation

    def moved(operation: Operation) -> Operation:
        match operation:
            case Append():
                return _at_earlier(operation, missing)
            case Race(operations=of_handles):
                return Race(tuple(of_race(each) for each in of_handles))
            case _:
                return operation

    return tuple(moved(operation) for operation in operations)


def _at_earlier(append: Append, missing: Mapping[int, int]) -> Append:
    return msgspec.structs.replace(append, expected_next=max(1, append.expected_next - missing.get(append.run, 0)))


def _fewer_at_once(race: Race) -> Iterator[Race]:
    """Yield races with less in them: without a handle, without some operations, with fewer looks."""
    operations = race.operations
    for handle in race.handles:
        rest = tuple(operation for operation in operations if operation.handle != handle)
        if rest:
            yield Race(rest)
    for gone in chunks(len(operations)):
        if len(operations) > 1:
            yield Race(operations[: gone.start] + operations[gone.stop :])
    for index, operation in enumerate(operations):
        if isinstance(operation, Follow) and operation.times > 1:
            fewer = msgspec.structs.replace(operation, times=operation.times // 2)
            yield Race((*operations[:index], fewer, *operations[index + 1 :]))
        elif isinstance(operation, Append):
            for simpler, _ in _simpler(operation):
                if isinstance(simpler, Append):
                    yield Race((*operations[:index], simpler, *operations[index + 1 :]))


def _simpler(operation: Operation) -> Iterator[tuple[Operation, Append | None]]:
    """Yield simpler forms of one operation, each with the append that is missing from it, if any."""
    if isinstance(operation, Race):
        yield from ((fewer, None) for fewer in _fewer_at_once(operation))
    if isinstance(operation, Load):
        yield from (
            (msgspec.structs.replace(operation, limit=limit), None) for limit in (1, 2) if limit < operation.limit
        )
    if not isinstance(operation, Append):
        return
    size = len(operation.records) // 2
    while size >= max(1, len(operation.records) // 8):
        for start in range(0, len(operation.records), size):
            fewer = operation.records[:start] + operation.records[start + size :]
            gone = msgspec.structs.replace(operation, records=operation.records[start : start + size])
            if fewer:
                yield msgspec.structs.replace(operation, records=fewer), gone
        size //= 2
    for index, record in enumerate(operation.records):
        plain = msgspec.structs.replace(record, text="", body_bytes=0, padding="x", awkward="")
        for simpler in (plain, msgspec.structs.replace(record, padding="x")):
            if simpler != record:
                records = (*operation.records[:index], simpler, *operation.records[index + 1 :])
                yield msgspec.structs.replace(operation, records=records), None
