"""Batches that are right, asked about twice: as events of a history, and as what a command gives; and their parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.histories import NEWEST, Fact, History, Value, ended, terminated
from perdure_conformance.reducer.playing import short
from perdure_conformance.reducer.reference import read_entry
from perdure_conformance.reducer.scenarios.scenario import Side, accepted, gives

_COMMANDS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "NodeStarted": ("StartNode", ("node", "attempt_id")),
    "ChildStarted": ("StartNode", ("node", "attempt_id", "child_run_id")),
    "NodeOutcomeCommitted": ("CompleteAttempt", ("node", "attempt_id", "outcome")),
    "ChildCompleted": ("CompleteChild", ("node", "attempt_id", "child_run_id", "result", "output")),
    "VirtualTimeAdvanced": ("AdvanceTime", ("now_ms",)),
    "CancellationRequested": ("RequestCancellation", ("requester", "reason")),
}
"""The command whose batch begins with an event, and the members that it has from it."""


def brings(past: History, *events: Fact, state: Mapping[str, Value] | None = None) -> tuple[Side, Side]:
    """Say that these events are a whole batch, and that its command gives them; and what is told of the state."""
    assert past.version == NEWEST
    kind, names = _COMMANDS[str(events[0]["type"])]
    command: Fact = {"type": kind, **{name: events[0][name] for name in names}}
    batch = (short(read_entry(Entry(NEWEST, event))) for event in events)
    return accepted(past.plus(*events), state), gives(past, command, *batch)


def outcome_of_one_attempt(name: str, number: int, kind: str) -> list[Fact]:
    """Return how an attempt ends that is the only one of its activation."""
    used_up: Fact = {"reason": "attempts_exhausted", "limit": 1, "usage": 1}
    return [ended(name, number, kind), *([terminated(name, **used_up)] if kind == "retryable_failure" else [])]
