"""What the checks that somebody wrote ask about, in words: each history with its command, and the right answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final, assert_never

from perdure_conformance.reducer.cases import compact, node_of, type_of
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.questions import Query
from perdure_conformance.reducer.scenarios import all_scenarios
from perdure_conformance.reducer.scenarios.scenario import (
    Accepted,
    Expected,
    Gives,
    Refused,
    RefusesToRestore,
    Rejected,
    Restores,
    Scenario,
)
from perdure_conformance.suite import WrittenCheck, begun_alike

_EVENTS: Final = 6


def checks() -> Mapping[str, WrittenCheck]:
    """Return every scenario by its name."""
    return {each.name: WrittenCheck((each.requirement,), partial(_steps, each)) for each in all_scenarios()}


def _steps(scenario: Scenario) -> list[str]:
    """Return what all questions of a scenario begin with, and then each of them with the answer that is right."""
    questions = [side.question for side in scenario.sides]
    begun = begun_alike([question.history for question in questions])
    lines = [f"  first, in each: {_short(questions[0].history[:begun])}"] if begun else []
    for number, side in enumerate(scenario.sides, 1):
        first, *others = [*_asked(side.question, begun, questions), f"→ {_right(side.expected)}"]
        lines += [f"  {number}. {first}", *(f"     {line}" for line in others)]
    return lines


def _asked(question: Query, begun: int, questions: Sequence[Query]) -> Iterator[str]:
    """Yield what is asked after what all begin with: events, a command, or what a journal shows that others do not."""
    later = question.history[begun:]
    if question.shown is None:
        yield from (f"{begun + n}. {compact(entry.event)}" for n, entry in enumerate(later[:_EVENTS], 1))
        if len(later) > _EVENTS:
            yield f"and {_short(later[_EVENTS:])}"
        if question.command is not None:
            yield f"command {compact(question.command)}"
        return
    others = [other.shown for other in questions if other.shown is not None and other is not question]
    records = question.shown.records
    yield f"a journal shows records {', '.join(f'{record.sequence}' for record in records) or 'none'}"
    own = [record for record in records if not any(record in other.records for other in others)]
    yield from (f"record {record.sequence}: {compact(record.body)}" for record in own[:_EVENTS] if others)
    if (snapshot := question.shown.snapshot) is not None:
        yield f"and a snapshot at {snapshot.sequence}: {compact(snapshot.body)}"


def _short(history: Sequence[Entry]) -> str:
    """Return events in short: how many, and the first of them."""
    told = [" ".join(filter(None, (type_of(entry.event), node_of(entry.event)))) for entry in history]
    more = f", and {len(told) - 2 * _EVENTS:,} more" if len(told) > 2 * _EVENTS else ""
    return ", ".join(told[: 2 * _EVENTS]) + more


def _right(expected: Expected) -> str:
    match expected:
        case Accepted(whole=whole, state=state):
            told = f"; of its state: {compact(state)}" if state else ""
            return ("accepted" if whole else "accepted, and more is owed") + told
        case Refused(at=at, kind=kind) | RefusesToRestore(at=at, kind=kind):
            return f"refused at {at}, as {kind}"
        case Gives(events=events):
            return f"allowed: {', '.join(events) or 'no events'}"
        case Rejected(codes=codes, disposition=disposition):
            told = f", with the disposition {disposition}" if disposition is not None else ""
            return f"rejected: {' or '.join(codes)}{told}"
        case Restores(until=until):
            return f"restored, as it is after event {until}"
        case _:
            assert_never(expected)
