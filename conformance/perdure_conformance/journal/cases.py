"""Cases: a failing play as data, played again on fresh state, and made as small as it gets.

A case holds concrete operations, not a seed: what it does cannot change with the version of a library.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

import msgspec
from msgspec import Meta

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.factories import TargetError
from perdure_conformance.harness.targets import Target, find_target
from perdure_conformance.journal.operations import Append, Identities, Load, Operation
from perdure_conformance.journal.play import Inconclusive, Play, PlayEnded, Site, Tally, Violation
from perdure_conformance.journal.rules import RULES, Rules


class PlayOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One play: its number, which gives its runs their identities, and what it does."""

    number: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    operations: tuple[Operation, ...]


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that is needed to fail again. The last play fails; those before it make the state that it needs."""

    case_version: Literal[1] = 1
    profile: Literal["journal"] = "journal"
    target: dict[str, str | list[str]]
    """`{"name": …}` or `{"command": […]}`."""
    in_own_process: bool
    timeout_s: Annotated[float, Meta(gt=0, le=3600)]
    seed: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    plays: Annotated[tuple[PlayOf, ...], Meta(min_length=1)]
    off: tuple[str, ...] = ()
    """Requirements that were switched off: known to be broken too, and not asked about."""
    failure: str
    """The requirement that is broken, or `fault:KIND` for a fault of the adapter."""
    expected: object = None
    """A JSON value, for people: what was expected at the first difference."""
    actual: object = None
    """A JSON value, for people: what came instead."""

    @property
    def size(self) -> int:
        """How many operations it has."""
        return sum(len(play.operations) for play in self.plays)


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of playing a case."""

    failure: str | None
    """As in the case; None if nothing failed."""
    expected: object
    actual: object
    answers: tuple[str, ...]
    """What came in answer to each operation of the last play, in a word."""
    finished: bool
    """Whether every operation of the last play was done and judged, the failing one included."""
    transcript: str
    stderr: str


_OPERATIONS_OF_AN_ATTEMPT = 100
"""An attempt at a case that is longer than this counts as several."""


def target_of(case: Case) -> Target:
    """Find the case's target again. Raises `TargetError`."""
    if not case.target.keys() & {"name", "command"}:
        raise TargetError("The case names no target: neither a name nor a command.")
    command = case.target.get("command")
    name = case.target.get("name")
    target = find_target(str(name) if name is not None else None, command if isinstance(command, list) else ())
    return target.as_process() if case.in_own_process else target


def failure_of(stop: Violation | AdapterFault) -> str:
    """Return the word for a failure: the requirement, or the kind of fault."""
    return stop.requirement if isinstance(stop, Violation) else f"fault:{stop.kind}"


class Difference(TypedDict):
    """What was expected at the first difference, and what came."""

    expected: object
    actual: object


def difference(stop: Violation | AdapterFault) -> Difference:
    """Return the difference that a failure shows."""
    if isinstance(stop, Violation):
        return Difference(expected=stop.expected, actual=stop.actual)
    return Difference(expected=None, actual=stop.sentence)


def replay(case: Case, target: Target, rules: Rules = RULES) -> Replay:
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
        told = difference(stop) if stop is not None else Difference(expected=None, actual=None)
        return Replay(
            failure=None if stop is None else failure_of(stop),
            expected=told["expected"],
            actual=told["actual"],
            answers=tuple(answers),
            finished=stop is not None or (finished and len(answers) == len(case.plays[-1].operations)),
            transcript=site.transcript.text(),
            stderr=stop.stderr if isinstance(stop, AdapterFault) and stop.stderr else site.stderr(),
        )
    finally:
        site.remove()


def _play(
    play_of: PlayOf, site: Site, case: Case, rules: Rules
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


def shrink(case: Case, target: Target, rules: Rules = RULES, *, attempts: int) -> Case:
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


def _shrunk_in_one_place(case: Case, target: Target, rules: Rules, attempts: int) -> Case:
    site = Site(target, case.timeout_s)
    numbers = itertools.count(case.plays[0].number + 1)

    def failure(candidate: Case) -> str | None:
        _, stop, _ = _play(PlayOf(next(numbers), candidate.plays[0].operations), site, candidate, rules)
        if isinstance(stop, AdapterFault):
            site.crash()
        return None if stop is None else failure_of(stop)

    try:
        return _shrunk(case, failure, rules, attempts)
    finally:
        site.remove()


def _shrunk(case: Case, failure: Callable[[Case], str | None], rules: Rules, attempts: int) -> Case:
    left = attempts * _OPERATIONS_OF_AN_ATTEMPT

    def still_fails(candidate: Case) -> bool:
        nonlocal left
        left -= max(_OPERATIONS_OF_AN_ATTEMPT, candidate.size)
        return left >= 0 and rules.same_failure(failure(candidate), case.failure)

    case = _fewer_plays(case, still_fails)
    improved = True
    while improved and left > 0:
        improved = False
        for candidate in _smaller(case):
            if still_fails(candidate):
                case, improved = candidate, True
                break
    return case


def _fewer_plays(case: Case, still_fails: Callable[[Case], bool]) -> Case:
    """Drop the plays before the failing one, in halves."""
    size = len(case.plays) - 1
    while size >= 1:
        start = 0
        while start < len(case.plays) - 1:
            end = min(start + size, len(case.plays) - 1)
            candidate = msgspec.structs.replace(case, plays=case.plays[:start] + case.plays[end:])
            if still_fails(candidate):
                case = candidate
            else:
                start += size
        size //= 2
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Yield cases that are a little smaller, the boldest first."""
    *before, last = case.plays
    for operations in _smaller_operations(last.operations):
        yield msgspec.structs.replace(case, plays=(*before, PlayOf(last.number, operations)))
    for index, play in enumerate(before):
        for operations in _smaller_operations(play.operations):
            plays = (*before[:index], PlayOf(play.number, operations), *before[index + 1 :], last)
            yield msgspec.structs.replace(case, plays=plays)


def _smaller_operations(operations: tuple[Operation, ...]) -> Iterator[tuple[Operation, ...]]:
    size = len(operations) // 2
    while size >= 1:
        for start in range(0, len(operations) - size + 1, size):
            gone = operations[start : start + size]
            rest = operations[start + size :]
            yield operations[:start] + _moved_up(rest, gone)
            yield operations[:start] + rest
        size //= 2
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
