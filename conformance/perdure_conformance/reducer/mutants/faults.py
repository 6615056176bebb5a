"""What several mutants do: to forgive, to pass over, to look up otherwise, to change what is on the agenda.

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

from perdure.kernel.changes import applied
from perdure.kernel.consequences import tidied
from perdure.kernel.errors import Corruption, HistoryError
from perdure.kernel.events import AnyEvent, ChildStarted, NodeStarted, RunCreated
from perdure.kernel.mapping import unsuccessful
from perdure.kernel.outcomes import output_fields
from perdure.kernel.rules import RULES, Move, Rules
from perdure.kernel.specification import OutputReference
from perdure.kernel.state import Agenda, State, Status
from perdure.kernel.upcast import upcast
from perdure.kernel.values import JsonValue
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.reference import ReferenceKernel


def with_moves(*moves: tuple[Status, Status]) -> Rules:
    """Return the rules with more rows in the node table: what is forgiven would else break it."""
    more = tuple(Move(source, target, (), "fault") for source, target in moves)
    return replace(RULES, node_table=(*RULES.node_table, *more))


def without_move(source: Status, target: Status) -> Rules:
    """Return the rules without a row of the node table."""
    rows = tuple(move for move in RULES.node_table if (move.source, move.target) != (source, target))
    return replace(RULES, node_table=rows)


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
            return ignoring(state)
        try:
            return applied(state, upcast(event), version, self.rules)
        except (HistoryError, LookupError, AssertionError, AttributeError):
            raise error from None


class PassesOver(ReferenceKernel):
    """It passes over events that it should refuse, and goes on as if they were not there."""

    passed_over: ClassVar[frozenset[str]]

    def is_passed_over(self, state: State, entry: Entry, error: HistoryError) -> bool:
        """Tell whether a wrong event is passed over."""
        del state, entry
        return error.code in self.passed_over

    def after(self, state: State | None, entry: Entry) -> State:
        try:
            return super().after(state, entry)
        except HistoryError as error:
            if state is None or not self.is_passed_over(state, entry, error):
                raise
            return ignoring(state)


def ignoring(state: State) -> State:
    """Return the state after an event that changes nothing."""
    return msgspec.structs.replace(state, sequence=state.sequence + 1)


class Rewrites(ReferenceKernel):
    """It takes an event for another one."""

    def rewritten(self, state: State, event: AnyEvent) -> AnyEvent:
        """Return the event that it takes an event for."""
        raise NotImplementedError

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        return super().step(state, event if state is None else self.rewritten(state, event), version)


class Forgets(ReferenceKernel):
    """It forgets a part of what a batch owes."""

    def left(self, state: State, agenda: Agenda) -> Agenda:
        """Return what it still owes."""
        raise NotImplementedError

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        left = self.left(after, after.agenda)
        if left == after.agenda:
            return after
        return tidied(msgspec.structs.replace(after, agenda=left), self.rules)


class LooksUp(ReferenceKernel):
    """It takes the mapped inputs of an attempt from somewhere else."""

    def seen(self, state: State, position: int, source: int) -> int | None:
        """Return the sequence of the outcome of a node that an attempt of another one sees."""
        raise NotImplementedError

    def step(self, state: State | None, event: AnyEvent, version: int) -> State:
        after = super().step(state, event, version)
        if not isinstance(event, NodeStarted | ChildStarted):
            return after
        position = after.plan.positions[event.node]
        node = after.node(position)
        found: dict[str, JsonValue] = dict(node.input)
        agenda = after.agenda if after.agenda.outcome is None else Agenda()
        for name, reference in node.input_mapping.items():
            fields, wanted = after.input, ""
            if isinstance(reference, OutputReference):
                sequence = self.seen(after, position, after.plan.positions[reference.node])
                fields = {} if sequence is None else output_fields(after.outcomes[sequence])
                wanted = reference.output
            else:
                wanted = reference.run_input
            if wanted in fields:
                found[name] = fields[wanted]
            else:
                missing = unsuccessful("permanent_failure", f"the input {name} is missing")
                agenda = msgspec.structs.replace(agenda, outcome=(position, missing))
        nodes = after.nodes.set(position, msgspec.structs.replace(after.nodes[position], input=found))
        return msgspec.structs.replace(after, nodes=nodes, agenda=agenda)
