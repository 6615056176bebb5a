"""Moves: what may happen next in a state, as a step of a script and as a command that the kernel must accept.

An attempt may end in every way that is legal for it. Its output has all that its node declares; of a field that an edge
asks about there is one output for each value that is named, and one for every other: no more can be told apart.

Waiting changes nothing that is reported: a node that waits may go on, or fail, as one that runs. A deadline of an
attempt or of a wait does what a retryable failure does, which comes anyway. So both are left out where moves are
reduced, and time goes on only for what is to be tried again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Final, NamedTuple, get_args

from msgspec import UNSET, UnsetType

from perdure.kernel.commands import (
    AdvanceTime,
    AnyCommand,
    CompleteAttempt,
    CompleteChild,
    DeliverSignal,
    OpenSignalWait,
    StartNode,
    token_digest,
)
from perdure.kernel.events import ChildCompleted, ChildResult
from perdure.kernel.identity import AttemptId, Name, NodeId, RunId, SignalId
from perdure.kernel.mapping import child_outcome
from perdure.kernel.outcomes import KINDS_WITH_OUTPUT, Outcome
from perdure.kernel.plan import Plan
from perdure.kernel.predicates import FieldEquals, FieldName, scalar_key
from perdure.kernel.rules import RULES, policy_of
from perdure.kernel.state import NodeState, SignalWait, State
from perdure.kernel.structure import Scalar
from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.simulation.outcomes import Answer, AttemptWord, outcome_of
from perdure_conformance.simulation.player import DEFAULT_TOKEN
from perdure_conformance.simulation.steps import Advance, Child, Complete, Deliver, Start, Step, Wait

MAX_OUTPUTS: Final = 256
"""So many outputs of a node are told apart; a node that has more is not explored whole."""

_TOKEN: Final = token_digest(DEFAULT_TOKEN)


class Move(NamedTuple):
    """Something that may happen."""

    step: Step
    command: AnyCommand


class Face(NamedTuple):
    """What tells one ending of an attempt from others: endings with one face lead to the same."""

    status: str
    is_retried: bool
    edges: tuple[int, ...]
    has_output: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """One way in which an attempt may end."""

    step: Complete | Child
    outcome: Outcome
    """That of the node."""
    output: JsonObject
    """That of a child run."""


class Moves:
    """The moves of runs of one specification."""

    def __init__(self, plan: Plan, *, is_reduced: bool) -> None:
        self._is_reduced = is_reduced
        found = [_endings(plan, position) for position in range(len(plan.nodes))]
        self.left_out = tuple(node.id for node, (_, is_whole) in zip(plan.nodes, found, strict=True) if not is_whole)
        """Nodes with more outputs than are told apart."""
        self.most = tuple(policy_of(node).max_attempts for node in plan.nodes)
        whole = [tuple(endings) for endings, _ in found]
        self._early = [_told_apart(plan, number, each, early=True) for number, each in enumerate(whole)]
        self._late = [_told_apart(plan, number, each, early=False) for number, each in enumerate(whole)]
        if not is_reduced:
            self._early = self._late = whole
        self._starts = [Start(start=node.id) for node in plan.nodes]

    def of(self, state: State) -> Iterator[Move]:
        """Yield every move in a state."""
        for position in range(len(state.plan.nodes)):
            yield from self.at(state, position)
        yield from self.times(state)

    def at(self, state: State, position: int) -> Iterator[Move]:
        """Yield what may happen at a node."""
        node = state.nodes[position]
        match node.status:
            case "ready":
                yield self.start(state, position)
            case "running":
                yield from self._ends(state, position, node)
            case "waiting" if isinstance(node.wait, SignalWait):
                name, wait = state.name(position), node.wait
                command = DeliverSignal(
                    node=name, signal_id=SignalId(fresh(state)), name=wait.name, token_sha256=wait.token_sha256
                )
                yield Move(Deliver(deliver=wait.name, to=name), command)
            case _:
                pass

    def start(self, state: State, position: int) -> Move:
        """Return the start of a ready node."""
        name, identity = state.name(position), fresh(state)
        child = RunId(identity) if state.node(position).child is not None else None
        command = StartNode(node=name, attempt_id=AttemptId(identity), child_run_id=child)
        return Move(self._starts[position], command)

    def _ends(self, state: State, position: int, node: NodeState) -> Iterator[Move]:
        name, attempt_id = state.name(position), node.attempt_id
        assert attempt_id is not None
        endings = self._early if node.attempts < self.most[position] else self._late
        for ending in endings[position]:
            yield Move(ending.step, _end(name, attempt_id, node.child_run_id, ending))
        if self._is_reduced:
            return
        for signal in state.node(position).signals:
            command = OpenSignalWait(node=name, attempt_id=attempt_id, name=signal, token_sha256=_TOKEN)
            yield Move(Wait(wait=name, signal=signal), command)

    def times(self, state: State) -> Iterator[Move]:
        """Yield the times to which time may go on: those at which something happens."""
        nodes = state.nodes.values()
        found = {node.retry_ms for node in nodes}
        if not self._is_reduced:
            found |= {node.deadline_ms for node in nodes}
            found.add(state.plan.specification.budgets.max_elapsed_ms)
        for now_ms in sorted(time for time in found if time is not None):
            yield Move(Advance(advance_to_ms=now_ms), AdvanceTime(now_ms=now_ms))


def fresh(state: State) -> str:
    """Return an identity that nothing in a run has: identities are interchangeable, so any does."""
    return f"00000000-0000-8000-8000-{state.sequence + 1:012x}"


def _end(
    name: NodeId, attempt_id: AttemptId, child_run_id: RunId | None, ending: Ending
) -> CompleteAttempt | CompleteChild:
    if isinstance(ending.step, Complete):
        return CompleteAttempt(node=name, attempt_id=attempt_id, outcome=ending.outcome)
    assert child_run_id is not None
    return CompleteChild(
        node=name,
        attempt_id=attempt_id,
        child_run_id=child_run_id,
        result=ending.step.result,
        output=ending.output,
    )


def _told_apart(plan: Plan, position: int, endings: Sequence[Ending], *, early: bool) -> tuple[Ending, ...]:
    """Return one of all endings with the same face, as long as there are attempts left, or when there are none."""
    found: dict[Face, Ending] = {}
    for ending in endings:
        found.setdefault(_face(plan, position, ending.outcome, early=early), ending)
    return tuple(found.values())


def _face(plan: Plan, position: int, outcome: Outcome, *, early: bool) -> Face:
    if early and RULES.may_retry(policy_of(plan.nodes[position]), outcome.kind):
        return Face("retry_pending", is_retried=True, edges=(), has_output=False)
    edges = tuple(edge for edge in plan.leaving[position] if RULES.matches(plan.edges[edge].when, outcome))
    has_output = outcome.kind in KINDS_WITH_OUTPUT
    return Face(RULES.status_after[outcome.kind], is_retried=False, edges=edges, has_output=has_output)


def _endings(plan: Plan, position: int) -> tuple[list[Ending], bool]:
    """Return how the attempts of a node may end, and whether that is all."""
    if plan.nodes[position].child is not None:
        return _child_endings(plan, position)
    outputs, is_whole = _outputs(_choices(plan, position))
    name = plan.nodes[position].id
    found = []
    word: AttemptWord
    for word in get_args(AttemptWord):
        for output in outputs if word in KINDS_WITH_OUTPUT else [{}]:
            given: JsonValue | UnsetType = output or UNSET
            step = Complete(complete=name, outcome=word, output=given)
            found.append(Ending(step, outcome_of(plan, position, _answer(step)), {}))
    return found, is_whole


def _answer(step: Complete) -> Answer:
    return Answer(step.outcome, step.output)


def _child_endings(plan: Plan, position: int) -> tuple[list[Ending], bool]:
    node = plan.nodes[position]
    child = node.child
    assert child is not None
    choices: dict[str, list[Scalar | UnsetType]] = {}
    for name, values in _choices(plan, position).items():
        if Name(name) in child.outputs:
            kept = choices.setdefault(child.outputs[Name(name)], [])
            known = {_key(value) for value in kept}
            kept += [value for value in values if _key(value) not in known]
    outputs, is_whole = _outputs(choices)
    found = []
    result: ChildResult
    for result in get_args(ChildResult):
        for output in outputs if result == "completed" else [{}]:
            completed = ChildCompleted(
                node=node.id, attempt_id=_NOBODY, child_run_id=RunId(_NOBODY), result=result, output=output
            )
            step = Child(child=node.id, result=result, output=output or UNSET)
            found.append(Ending(step, child_outcome(node, completed, RULES), output))
    return found, is_whole


_NOBODY: Final = AttemptId("00000000-0000-8000-8000-000000000000")


def _choices(plan: Plan, position: int) -> dict[str, list[Scalar | UnsetType]]:
    """Return, of each field of a node's output, the values that edges name, and one that none does."""
    node = plan.nodes[position]
    declared = node.outputs if node.child is None else tuple(node.child.outputs)
    asked: dict[FieldName, dict[object, Scalar]] = {Name(field): {} for field in declared}
    for edge in plan.leaving[position]:
        when = plan.edges[edge].when
        if isinstance(when, FieldEquals):
            asked.setdefault(when.field, {}).setdefault(scalar_key(when.equals), when.equals)
    found: dict[str, list[Scalar | UnsetType]] = {}
    for field, values in asked.items():
        other: Scalar | UnsetType = f"{node.id}.{field}" if field in declared else UNSET
        while other is not UNSET and scalar_key(other) in values:
            other = f"{other}'"
        found[field] = [*values.values(), other]
    return found


def _key(value: Scalar | UnsetType) -> object:
    return UNSET if isinstance(value, UnsetType) else scalar_key(value)


def _outputs(choices: dict[str, list[Scalar | UnsetType]]) -> tuple[list[JsonObject], bool]:
    """Return the outputs that can be told apart, and whether they are all."""
    combined = product(*choices.values())
    found: list[JsonObject] = [
        {field: value for field, value in zip(choices, values, strict=True) if value is not UNSET}
        for values in islice(combined, MAX_OUTPUTS)
    ]
    return found, next(combined, None) is None
