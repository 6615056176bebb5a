"""The state of a run as a document: restored, it is gone on with as if nothing had happened; damaged, it is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tests.model.random_commands import Asker
from tests.model.random_documents import random_document
from tests.model.random_runs import Checked

from perdure.kernel.commands import AdvanceTime, Rejection, Settle
from perdure.kernel.consequences import owed
from perdure.kernel.decide import decide
from perdure.kernel.events import RunCreated
from perdure.kernel.invariants import violations
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.snapshots import document_of_state, state_digest, state_from
from perdure.kernel.state import State
from perdure.kernel.values import MAX_SAFE_INTEGER, JsonObject, canonical_json, read_json

Document = dict[str, Any]


class Recorded(Checked):
    """A run that remembers what it was asked, what it answered, and its state at each border of a batch."""

    def __init__(self, random: Random) -> None:
        super().__init__(random, tampering=0)
        self.log: list[tuple[Any, Any, int]] = []
        """A command, its answer, and the version in which it was written."""
        self.borders: list[tuple[int, State]] = []
        """How much of the log lies before, and the state."""

    def ask(self, command: Any) -> bool:
        if isinstance(command, AdvanceTime) and command.now_ms > MAX_SAFE_INTEGER:
            return False
        self.log.append((command, decide(self.state, command), 5))
        return super().ask(command)

    def commit(self, events: list[Any], after: Any, version: int) -> None:
        if version < 5:
            self.log.append((None, tuple(events), version))
        super().commit(events, after, version)
        self.borders.append((len(self.log), self.now))

    @property
    def specification(self) -> JsonObject:
        created = self.history[0][0]
        assert isinstance(created, RunCreated)
        return created.specification


def recorded(seed: int) -> Recorded:
    """Play a run of the newest version."""
    random = Random(seed)  # noqa: S311 - it draws examples
    run = Recorded(random)
    run.create(random_document(random))
    asker = Asker(random, hurry=random.choice((0.4, 0.7, 0.9)))
    for _ in range(40):
        run.ask(asker.next(run.dumb))
    return run


def recorded_older(seed: int) -> Recorded:
    """Play a run that begins in an older version, and is settled when it goes on in the newest."""
    random = Random(seed)  # noqa: S311 - it draws examples
    run, version = Recorded(random), random.randint(1, 4)
    run.create(random_document(random, random.randint(1, version)), version)
    asker = Asker(random, hurry=0.8)
    for _ in range(20):
        if run.now.status == "running":
            run.write(asker.next(run.dumb, version), version)
    if run.now.status == "running":
        run.ask(Settle())
    for _ in range(20):
        run.ask(asker.next(run.dumb))
    return run


def restored(state: State, specification: JsonObject) -> State:
    """Return the state of the document of a state, by way of its text."""
    text = canonical_json(document_of_state(state))
    value = read_json(text)
    assert isinstance(value, dict)
    found = state_from(value, specification)
    assert canonical_json(document_of_state(found)) == text
    return found


@pytest.mark.parametrize("play", [recorded, recorded_older])
def test_a_snapshot_and_the_tail_are_the_whole_history(play: Callable[[int], Recorded]) -> None:
    counts: Counter[str] = Counter()
    for seed in range(60):
        run = play(seed)
        for before, state in run.borders:
            again = restored(state, run.specification)
            assert owed(again, RULES) is owed(state, RULES) is None
            assert violations(again) == violations(state)
            assert state_digest(again) == state_digest(state)
            counts[state.status] += 1
            if before % 3:
                continue
            for command, answer, version in run.log[before:]:
                if command is not None:
                    assert decide(again, command) == answer, (seed, before, command)
                for event in () if isinstance(answer, Rejection) else answer:
                    again = reduce(again, event, version=version)
            assert state_digest(again) == state_digest(run.now)
    assert {"running", "completed", "failed", "blocked", "cancelled"} <= set(counts), counts
