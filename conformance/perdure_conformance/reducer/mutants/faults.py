"""What several mutants do: to forgive, to skip, to be blind to a consequence, to remember what they must not.

A mutant of a rule needs nothing of this:

    @mutant("DEP-003")
    class WaitsForAll(ReferenceKernel):
        '''Takes any_succeeded for all_succeeded.'''

        rules = replace(RULES, satisfied=lambda policy, count, tally: …)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import msgspec

from perdure.kernel.errors import Corruption, HistoryError
from perdure.kernel.events import AnyEvent, RunCreated
from perdure.kernel.reduce import applied
from perdure.kernel.rules import RULES, Move, Rules
from perdure.kernel.state import State, Status
from perdure.kernel.upcast import upcast
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.reference import ReferenceKernel


def with_moves(*moves: tuple[Status, Status]) -> Rules:
    """Return the rules with more rows in the node table: what is forgiven would else break it."""
    more = tuple(Move(source, target, (), "fault") for source, target in moves)
    return replace(RULES, node_table=(*RULES.node_table, *more))


class Forgives(ReferenceKernel):
    """It does not refuse for some codes, and goes on as if the event were right."""

    forgiven: ClassVar[frozenset[str]]

    def pardons(self, state: State, event: AnyEvent, error: Corruption) -> bool:
        """Tell whether a wrong event is forgiven."""
        del state, event
        return error.code in self.forgiven

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        try:
            return super().step(state, event, version)
        except Corruption as error:
            if state is None or not self.pardons(state, event, error):
                raise
            return self.anyway(state, event, version, error)

    def anyway(self, state: State, event: AnyEvent, version: int, error: Corruption) -> State:
        """Return the state after an event that cannot be. What makes no sense at all is refused all the same."""
        if isinstance(event, RunCreated):
            return msgspec.structs.replace(state, sequence=state.sequence + 1)
        try:
            return applied(state, upcast(event), version, self.rules)
        except (HistoryError, LookupError, AssertionError, AttributeError):
            raise error from None


class PassesOver(ReferenceKernel):
    """It passes over events that it should refuse, and goes on as if they were not there."""

    passed_over: ClassVar[frozenset[str]]

    def after(self, state: State | None, entry: Entry) -> State:
        try:
            return super().after(state, entry)
        except HistoryError as error:
            if state is None or error.code not in self.passed_over:
                raise
            return msgspec.structs.replace(state, sequence=state.sequence + 1)
