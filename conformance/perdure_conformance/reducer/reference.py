"""The model's kernel, as a kernel that can be judged. Whatever a mutant replaces is a method of its own.

A mutant of a rule says `rules = replace(RULES, …)`; any other one overrides `read`, `step`, `choose`, `told` or
`document`, and says the wrong thing there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Final

from perdure.journal.client import JournalFault, Recovered
from perdure.kernel.commands import COMMANDS, AnyCommand, Rejection
from perdure.kernel.consequences import owed
from perdure.kernel.decide import Events, decide
from perdure.kernel.errors import Corruption, HistoryError, Incompatible, corrupt
from perdure.kernel.events import EVENTS, AnyEvent
from perdure.kernel.limits import record_limit, require_within_limits
from perdure.kernel.mapping import run_output
from perdure.kernel.problems import Problems
from perdure.kernel.records import document_of, event_of
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.snapshots import document_of_state
from perdure.kernel.state import State
from perdure.kernel.structure import Reading, read
from perdure.kernel.values import JsonObject, canonical_json
from perdure_conformance.reducer.contract import (
    FLOOR,
    Capabilities,
    Decided,
    Description,
    Entry,
    Reduced,
    Restored,
    Shown,
)
from perdure_conformance.reducer.shown import recovered

EVERYTHING: Final = Capabilities(state=True, decide=True, codes=True, jitter=True, records=True, snapshots=True)

RECORD_BYTES: Final = 512
"""About what a record has beside its event, rounded up: questions about limits keep away from the difference."""

_SHORT: Final = 2**14
"""Characters of an event whose record cannot be too large: its canonical form has at most a few times as many bytes."""


class ReferenceKernel:
    """The model's kernel. It claims everything."""

    claims: ClassVar[Capabilities] = EVERYTHING
    rules: ClassVar[Rules] = RULES

    def __init__(self, state_dir: Path, namespace: str) -> None:
        del state_dir, namespace
        self.description = Description(name="perdure", version="1", capabilities=self.claims, limits=FLOOR)

    def reduce(self, history: Sequence[Entry]) -> Reduced:
        """Fold the history."""
        state: State | None = None
        for sequence, entry in enumerate(history, 1):
            try:
                state = self.after(state, entry)
            except HistoryError as error:
                return self.told(_refused(error, sequence), history)
        assert state is not None
        whole = self.owed(state) is None
        if not whole or not self.claims.state:
            return self.told(Reduced(accepted=True, whole=whole), history)
        told = Reduced(accepted=True, whole=True, state=self.document(state), output=self.output(state))
        return self.told(told, history)

    def decide(self, history: Sequence[Entry], command: JsonObject) -> Decided:
        """Fold the history, and decide the command."""
        state: State | None = None
        try:
            for entry in history:
                state = self.after(state, entry)
        except HistoryError as error:
            return self.answered(Decided(allowed=False, code=error.code, sentence=str(error)[:4096]), command)
        found = self.choose(state, command_of(command))
        if isinstance(found, Rejection):
            answer = Decided(
                allowed=False, code=found.code, disposition=found.disposition, sentence=found.sentence[:4096]
            )
        else:
            answer = Decided(allowed=True, version=5, events=tuple(document_of(event) for event in found))
        return self.answered(answer, command)

    def restore(self, shown: Shown) -> Restored:
        """Restore a run by the model's client."""
        try:
            found = self.recovered(self.taken(shown))
        except (HistoryError, JournalFault) as error:
            kind: Final = "incompatible" if isinstance(error, Incompatible) else "corrupt"
            refused = Restored(
                restored=False, kind=kind, sequence=error.sequence, code=error.code, sentence=str(error)[:4096]
            )
            return self.retold(refused)
        assert found.standing is not None
        return self.retold(Restored(restored=True, state=self.document(found.standing.state)))

    def close(self) -> None:
        """There is nothing to end."""

    # What a mutant may do otherwise

    def after(self, state: State | None, entry: Entry) -> State:
        """Return the state after an entry. Raises `HistoryError`."""
        return self.step(state, self.read(entry), entry.version)

    def read(self, entry: Entry) -> AnyEvent:
        """Decode an event, and hold it against its limits. Raises `HistoryError`."""
        return read_entry(entry)

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        """Return the state after an event. Raises `HistoryError`."""
        return begun(event, version, self.rules) if state is None else reduce(state, event, self.rules, version=version)

    def owed(self, state: State) -> AnyEvent | None:
        """Return what is owed."""
        return owed(state, self.rules)

    def taken(self, shown: Shown) -> Shown:
        """Return what a journal shows, as it is taken."""
        return shown

    def recovered(self, shown: Shown) -> Recovered:
        """Return how a run stands. Raises `HistoryError`, `JournalFault`."""
        return recovered(shown, self.rules)

    def retold(self, answer: Restored) -> Restored:
        """Return what is said of what a journal shows."""
        return answer

    def choose(self, state: State | None, command: AnyCommand) -> Events | Rejection:
        """Return the events of a command, or why there are none."""
        return decide(state, command, self.rules)

    def document(self, state: State) -> JsonObject:
        """Return a state as it is told."""
        return document_of_state(state)

    def output(self, state: State) -> JsonObject:
        """Return the output of the run."""
        return run_output(state)

    def told(self, answer: Reduced, history: Sequence[Entry]) -> Reduced:
        """Return what is said of a history."""
        del history
        return answer

    def answered(self, answer: Decided, command: JsonObject) -> Decided:
        """Return what is said to a command."""
        del command
        return answer


def _refused(error: HistoryError, sequence: int) -> Reduced:
    kind: Final = "corrupt" if isinstance(error, Corruption) else "incompatible"
    return Reduced(accepted=False, kind=kind, sequence=sequence, code=error.code, sentence=str(error)[:4096])


def command_of(command: JsonObject) -> AnyCommand:
    """Decode a command. It is one of the suite's own, so that nothing is wrong with it."""
    problems = Problems()
    found = read(AnyCommand, command, Reading(problems))
    assert not problems.errors, problems.kept[0].sentence
    assert isinstance(found, COMMANDS)
    return found  # type: ignore[return-value]


_BEGUN: dict[tuple[int, int, int], tuple[AnyEvent, Rules, State]] = {}
_BEGUN_AT_MOST: Final = 4096


def begun(event: AnyEvent, version: int, rules: Rules) -> State:
    """Return the first state of a run. It is kept: documents are asked about again and again, and take the most time.

    Raises `HistoryError`.
    """
    key = (id(event), version, id(rules))
    if key not in _BEGUN:
        if len(_BEGUN) >= _BEGUN_AT_MOST:
            _BEGUN.clear()
        _BEGUN[key] = (event, rules, reduce(None, event, rules, version=version))  # Both are kept, so that ids are.
    return _BEGUN[key][2]


def read_entry(entry: Entry) -> AnyEvent:
    """Decode an event of a history, and hold it against its limits. Raises `HistoryError`."""
    if entry.version not in EVENTS:
        raise Incompatible("unknown_version", f"there is no event version {entry.version}")
    text = json.dumps(entry.event, separators=(",", ":"))
    if len(text) <= _SHORT:
        return _read_short(text, entry.version)
    event = _read(entry.event, entry.version)
    size, limit = len(canonical_json(entry.event)) + RECORD_BYTES, record_limit(event)
    if size > limit:
        corrupt("over_limit", f"the record has about {size} bytes, and may have {limit}")
    return event


@lru_cache(maxsize=2**14)
def _read_short(text: str, version: int) -> AnyEvent:
    return _read(json.loads(text), version)


def _read(document: JsonObject, version: int) -> AnyEvent:
    event = event_of(document, version)
    require_within_limits(event)
    return event
