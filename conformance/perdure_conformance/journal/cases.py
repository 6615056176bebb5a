"""Cases: a failing play as data, played again on fresh state, and made as small as it gets.

A case holds concrete operations, not a seed: what it does cannot change with the version of a library.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.targets import Target
from perdure_conformance.journal.describe import numbered
from perdure_conformance.journal.operations import Append, Identities, Load, Operation
from perdure_conformance.journal.play import Play, PlayEnded, Site, Tally
from perdure_conformance.journal.rules import RULES, Rules
from perdure_conformance.judging import failure_of, replayed
from perdure_conformance.shrinking import chunks, fewest, smallest, within
from perdure_conformance.suite import Case, Inconclusive, Replay, Violation

_MAX_RECORDS, _MAX_BODY_BYTES = 20_000, 64 * 2**20


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
        return sum(len(play.operations) for play in self.plays)

    @property
    def needs_prior_state(self) -> bool:
        """Whether it fails only after other plays."""
        return len(self.plays) > 1

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
            for operation in play.operations
            if isinstance(operation, Append)
            for record in operation.records
        ]
        return len(records) <= _MAX_RECORDS and sum(record.body_bytes for record in records) <= _MAX_BODY_BYTES

    def in_words(self, answers: tuple[str, ...], *, whole: bool) -> list[str]:
        """Return the operations in words, each of the last play with its answer as far as there was one."""
        *before, last = self.plays
        if not whole:
            return numbered(last.operations, answers)
        lines = [line for play in before for line in ("before, on runs of its own:", *numbered(play.operations, ()))]
        lines += ["and then, on other runs:"] if before else []
        lines += numbered(last.operations, answers)
        return lines if self.size else [*lines, "  (it failed before the first operation)"]


def replay(case: JournalCase, target: Target, rules: Rules = RULES) -> Replay:
    """Play a case on fresh state."""
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
    return _shrunk(case, lambda candidate: replay(candidate, target, rules).failure, rules, attempts)


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
        return rules.same_failure(failure(candidate), case.failure)

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
    for operation in gone:
        if isinstance(operation, Append):
            missing[operation.run] = missing.get(operation.run, 0) + len(operation.records)
    return tuple(
        msgspec.structs.replace(operation, expected_next=max(1, operation.expected_next - missing[operation.run]))
        if isinstance(operation, Append) and operation.run in missing
        else operation
        for operation in operations
    )


def _simpler(operation: Operation) -> Iterator[tuple[Operation, Append | None]]:
    """Yield simpler forms of one operation, each with the append that is missing from it, if any."""
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
        plain = msgspec.structs.replace(record, text="", body_bytes=0, awkward="")
        if plain != record:
            records = (*operation.records[:index], plain, *operation.records[index + 1 :])
            yield msgspec.structs.replace(operation, records=records), None
