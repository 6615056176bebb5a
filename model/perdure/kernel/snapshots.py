"""The state of a run as a document, between two batches, and the state of such a document.

The document holds what cannot be worked out: usage of attempts, the last outcome, every count, and what is due when
follow from it and the specification. A state that is restored owes the same, and answers every command in the same way,
as the one that was written down. Tokens are in neither, only their digests.

Source: ADR-0032, "Journal and snapshot guarantees"; `docs/spec/kernel.md`, "Values and records".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal

import msgspec
from immutables import Map
from msgspec import Meta
from msgspec.structs import replace

from perdure.kernel.commands import Disposition
from perdure.kernel.consequences import NOTHING, scheduled
from perdure.kernel.creation import created
from perdure.kernel.errors import corrupt
from perdure.kernel.events import (
    AttemptIdText,
    ChildCompleted,
    ChildResult,
    NodeOutcomeCommitted,
    OwnerIdText,
    RunCreated,
    RunIdText,
    SignalAccepted,
    SignalIdText,
)
from perdure.kernel.identity import NodeId
from perdure.kernel.invariants import pinned, violations
from perdure.kernel.limits import require_within_limits
from perdure.kernel.liveness import recounted
from perdure.kernel.outcomes import DigestText, Outcome
from perdure.kernel.plan import Plan
from perdure.kernel.predicates import FieldName
from perdure.kernel.queues import Queue, added, in_order
from perdure.kernel.records import structured
from perdure.kernel.rules import RULES, Rules
from perdure.kernel.specification import NodeName, Version
from perdure.kernel.state import (
    AttemptState,
    NodeState,
    Queued,
    Received,
    Recovery,
    RunStatus,
    SignalWait,
    State,
    Status,
    TimerPassed,
    TimerWait,
)
from perdure.kernel.structure import AtLeastOne, AtLeastZero, Json, Members, about, whole
from perdure.kernel.values import (  # noqa: F401 - annotations are read at run time
    Digest,
    JsonObject,
    JsonValue,
    digest,
)

STATE_SCHEMA_VERSION: Final = 2

StateVersion = Annotated[
    int, Meta(ge=STATE_SCHEMA_VERSION, le=STATE_SCHEMA_VERSION, extra={"code": "unsupported_version"})
]
SequenceText = Annotated[str, whole("[1-9][0-9]{0,15}")]
"""A sequence, as the key of an object."""


class Part(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A part of the document of a state."""


class Activation(Part, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An activation that an edge brought."""

    edge: Annotated[AtLeastZero, about("Is the position of the edge among those of the specification, from 0.")]
    source_sequence: Annotated[AtLeastOne, about("Is the sequence of the outcome that the edge follows.")]


class WaitForSignal(Part, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt waits for a signal."""

    kind: Annotated[Literal["signal"], about("Says that it waits for a signal.")]
    name: Annotated[FieldName, about("Names the signal, one that the node declares.")]
    token_sha256: Annotated[
        DigestText, about("Is the SHA-256 of the token that a delivery must present, in lowercase hexadecimal.")
    ]
    deadline_ms: (
        Annotated[AtLeastZero, about("Says when the wait expires, in virtual time; without it, never.")] | None
    ) = None


class WaitForTime(Part, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt waits for a time."""

    kind: Annotated[Literal["timer"], about("Says that it waits for a time.")]
    deadline_ms: Annotated[AtLeastZero, about("Says until when, in virtual time.")]


class ReceivedSignal(Part, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A signal that an attempt accepted."""

    kind: Annotated[Literal["signal"], about("Says that it was a signal.")]
    signal_id: Annotated[SignalIdText, about("Says which delivery.")]
    name: Annotated[FieldName, about("Names the signal.")]
    payload: Annotated[Json, about("Is what the signal carried.")] = None


class PassedTime(Part, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A time that an attempt waited for and that came."""

    kind: Annotated[Literal["timer"], about("Says that it was a time.")]
    deadline_ms: Annotated[AtLeastZero, about("Says which time, in virtual time.")]


class ActiveAttempt(Part, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An attempt that has no outcome yet."""

    attempt_id: Annotated[AttemptIdText, about("Says which attempt, by the identity that it was started with.")]
    child_run_id: Annotated[RunIdText, about("Says which run does its work, if one does.")] | None = None
    deadline_ms: (
        Annotated[AtLeastZero, about("Says when the attempt expires, in virtual time; without it, never.")] | None
    ) = None
    input: Annotated[
        Members, about("Is what the attempt is given: the fields of its node's `input` and `input_mapping`.")
    ]
    wait: Annotated[WaitForSignal | WaitForTime, about("Says what it waits for, if it waits.")] | None = None
    resolved: Annotated[
        tuple[ReceivedSignal | PassedTime, ...], about("Lists what it waited for and got, in this order.")
    ] = ()


class NodeDocument(Part, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """How a node stands."""

    status: Annotated[Status, about("Is its status.")]
    activations: Annotated[
        AtLeastZero, about("Counts its activations, those that wait or were discarded included.")
    ] = 0
    activation: (
        Annotated[
            Activation,
            about("Says what began the current activation, or the last one if that has ended, if an edge did."),
        ]
        | None
    ) = None
    queue: Annotated[
        tuple[Activation, ...], about("Lists the activations that wait, in the order in which they will begin.")
    ] = ()
    attempts: Annotated[
        AtLeastZero, about("Counts the attempts of the current activation, or of the last one if that has ended.")
    ] = 0
    active: Annotated[ActiveAttempt, about("Is the attempt that is active, if one is.")] | None = None
    retry_ms: (
        Annotated[AtLeastZero, about("Says when the next attempt may start, in virtual time, until it may.")] | None
    ) = None
    outcome: Annotated[AtLeastOne, about("Is the sequence of its last outcome, if it had any.")] | None = None
    closed: Annotated[bool, about("Says whether closing ended it, so that it will never be activated again.")] = False
    released: (
        Annotated[
            Mapping[NodeName, AtLeastOne],
            about(
                "Says, once its dependencies were satisfied, which outcomes are pinned: the sequence of the last one "
                "of each prerequisite that had any."
            ),
        ]
        | None
    ) = None


class ChildDocument(Part, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """How a child run ended."""

    child_run_id: Annotated[RunIdText, about("Says which run did the work of the attempt.")]
    result: Annotated[ChildResult, about("Says how the run ended.")]
    output: Annotated[Members, about("Is the output of the run.")] = msgspec.field(default_factory=dict)


class AttemptDocument(Part, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """What an attempt came to."""

    node: Annotated[NodeName, about("Names its node.")]
    outcome: Annotated[AtLeastOne, about("Is the sequence of its outcome; without it, it is active.")] | None = None
    completed: Annotated[ChildDocument, about("Says how the child run ended, if that ended the attempt.")] | None = None


class RecoveryDocument(Part, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The last worker that took the run over."""

    owner: Annotated[OwnerIdText, about("Says which worker.")]
    epoch: Annotated[AtLeastOne, about("Is the fencing epoch of its lease.")]
    is_held: Annotated[bool, about("Says whether it has not given the run up since.")]


class StateDocument(Part, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """How a run stands between two batches, beside the specification that it is pinned to."""

    state_schema_version: Annotated[StateVersion, about("Says how the document is to be read.")]
    run_id: Annotated[RunIdText, about("Says which run.")]
    content_hash: Annotated[DigestText, about("Is the `content_hash` of the specification.")]
    ancestors: Annotated[
        tuple[RunIdText, ...], about("Names the runs that this one is a child of, outermost first.")
    ] = ()
    input: Annotated[Members, about("Is the input of the run.")] = msgspec.field(default_factory=dict)
    sequence: Annotated[AtLeastOne, about("Is the sequence of the last event that the state includes.")]
    version: Annotated[Version, about("Is the version of that event.")]
    oldest: Annotated[Version, about("Is the version of the first event.")]
    status: Annotated[RunStatus, about("Says whether the run goes on, or how it ended.")]
    now_ms: Annotated[AtLeastZero, about("Says what time it is: milliseconds since the run began.")] = 0
    transitions_used: Annotated[AtLeastZero, about("Says how much of the budget of transitions is used.")] = 0
    nodes: Annotated[Mapping[NodeName, NodeDocument], about("Says how each node of the specification stands.")]
    attempts: Annotated[
        Mapping[AttemptIdText, AttemptDocument], about("Says of each attempt of the run what it came to.")
    ] = msgspec.field(default_factory=dict)
    child_runs: Annotated[Mapping[RunIdText, NodeName], about("Names the node of each child run.")] = msgspec.field(
        default_factory=dict
    )
    outcomes: Annotated[
        Mapping[SequenceText, Outcome], about("Keeps each outcome under the sequence of its record.")
    ] = msgspec.field(default_factory=dict)
    signals: Annotated[
        Mapping[SignalIdText, Disposition], about("Says of each delivery that was used up what became of it.")
    ] = msgspec.field(default_factory=dict)
    unsettled: Annotated[
        tuple[NodeName, ...],
        about(
            "Names, in specification order, the nodes that events of older versions left to Settle: they are to be "
            "tried again without a deadline, or asked for changes that cannot come, since no live node reaches them. A "
            "run that has ended has none."
        ),
    ] = ()
    recovery: Annotated[RecoveryDocument, about("Says who took the run over last, if anybody did.")] | None = None


# From a state to its document


def document_of_state(state: State) -> JsonObject:
    """Return the document of a state between two batches. Raises `Corruption` of one within a batch: it has none."""
    if state.agenda != NOTHING:
        corrupt("incomplete_batch", "a state within a batch has no document: more is owed")
    document: JsonObject = msgspec.to_builtins(
        StateDocument(
            state_schema_version=STATE_SCHEMA_VERSION,
            run_id=state.run_id,
            content_hash=state.content_hash,
            ancestors=state.ancestors,
            input=state.input,
            sequence=state.sequence,
            version=state.version,
            oldest=state.oldest,
            status=state.status,
            now_ms=state.now_ms,
            transitions_used=state.transitions_used,
            nodes={state.name(position): _node(state, position) for position in range(len(state.plan.nodes))},
            attempts={name: _attempt(state, attempt) for name, attempt in state.attempts.items()},
            child_runs={run_id: state.name(position) for run_id, position in state.child_runs.items()},
            outcomes={str(sequence): outcome for sequence, outcome in state.outcomes.items()},
            signals=dict(state.signals.items()),
            unsettled=_left(state),
            recovery=_recovery(state.recovery),
        )
    )
    return document


def state_digest(state: State) -> Digest:
    """Return the digest of the document of a state. Raises `Corruption` if it has none."""
    return digest(document_of_state(state))


def _left(state: State) -> tuple[NodeId, ...]:
    return tuple(state.name(position) for position in range(len(state.plan.nodes)) if _is_left(state, position))


def _is_left(state: State, position: int) -> bool:
    """Tell whether what comes next of a node is left to Settle."""
    node, part = state.nodes[position], state.components[state.plan.component[position]]
    if state.status != "running":
        return False
    if node.status == "changes_requested":
        return part.is_done or position not in part.closable
    return node.status == "retry_pending" and node.retry_ms is None


def _node(state: State, position: int) -> NodeDocument:
    node = state.nodes[position]
    return NodeDocument(
        status=node.status,
        activations=node.activations,
        activation=None if node.activation is None else _activation(node.activation),
        queue=tuple(map(_activation, in_order(node.queue))),
        attempts=node.attempts,
        active=_active(node),
        retry_ms=node.retry_ms,
        outcome=node.outcome,
        closed=node.closed,
        released=None if node.released is None else _released(state, position),
    )


def _released(state: State, position: int) -> Mapping[NodeId, int]:
    return {state.name(prerequisite): sequence for prerequisite, sequence in pinned(state, position).items()}


def _activation(queued: Queued) -> Activation:
    sequence, edge = queued
    return Activation(edge=edge, source_sequence=sequence)


def _active(node: NodeState) -> ActiveAttempt | None:
    if node.attempt_id is None:
        return None
    return ActiveAttempt(
        attempt_id=node.attempt_id,
        child_run_id=node.child_run_id,
        deadline_ms=node.deadline_ms,
        input=node.input or {},
        wait=_wait(node.wait),
        resolved=tuple(_resolved(node.resolved[number]) for number in range(len(node.resolved))),
    )


def _wait(wait: SignalWait | TimerWait | None) -> WaitForSignal | WaitForTime | None:
    if isinstance(wait, SignalWait):
        return WaitForSignal(
            kind="signal", name=wait.name, token_sha256=wait.token_sha256, deadline_ms=wait.deadline_ms
        )
    return None if wait is None else WaitForTime(kind="timer", deadline_ms=wait.deadline_ms)


def _resolved(gain: Received | TimerPassed) -> ReceivedSignal | PassedTime:
    if isinstance(gain, TimerPassed):
        return PassedTime(kind="timer", deadline_ms=gain.deadline_ms)
    return ReceivedSignal(kind="signal", signal_id=gain.signal_id, name=gain.name, payload=gain.payload)


def _attempt(state: State, attempt: AttemptState) -> AttemptDocument:
    ended = attempt.completed
    completed = None
    if ended is not None:
        completed = ChildDocument(child_run_id=ended.child_run_id, result=ended.result, output=ended.output)
    return AttemptDocument(node=state.name(attempt.node), outcome=attempt.outcome, completed=completed)


def _recovery(recovery: Recovery | None) -> RecoveryDocument | None:
    if recovery is None:
        return None
    return RecoveryDocument(owner=recovery.owner, epoch=recovery.epoch, is_held=recovery.is_held)


# From a document to its state


def state_from(document: JsonObject, specification: JsonObject, rules: Rules = RULES) -> State:
    """Return the state of a document, with everything that follows from it worked out.

    Raises `Incompatible` for a version or a member that this model does not know, `Corruption` for a document that is
    not one of a state between two batches of a run of this specification.
    """
    found = structured(StateDocument, document, None)
    assert isinstance(found, StateDocument)
    creation = RunCreated(
        run_id=found.run_id,
        specification=specification,
        content_hash=found.content_hash,
        input=found.input,
        ancestors=found.ancestors,
    )
    if found.oldest > found.version:
        corrupt("version_went_down", f"version {found.version} follows version {found.oldest}")
    require_within_limits(creation)
    first = created(creation, found.oldest, rules)
    if not isinstance(first, State):
        corrupt(first.code, first.sentence)
    state = _unsettled(recounted(_filled(first, found, rules), rules), found.unsettled)
    wrong = violations(state, rules)
    return corrupt("wrong_content", wrong[0]) if wrong else state


def _filled(first: State, found: StateDocument, rules: Rules) -> State:
    """Return the state at a run's beginning with everything in it that its document says."""
    plan = first.plan
    if found.nodes.keys() != plan.positions.keys():
        corrupt("wrong_content", "the nodes are not those of the specification")
    state = replace(
        first,
        sequence=found.sequence,
        version=found.version,
        status=found.status,
        now_ms=found.now_ms,
        transitions_used=found.transitions_used,
        attempts_used=len(found.attempts),
        nodes=Map(
            (position, _node_state(plan, position, found.nodes[node.id])) for position, node in enumerate(plan.nodes)
        ),
        attempts=Map((name, _attempt_state(plan, name, attempt)) for name, attempt in found.attempts.items()),
        child_runs=Map((run_id, _position(plan, name)) for run_id, name in found.child_runs.items()),
        outcomes=Map((int(sequence), _outcome(outcome)) for sequence, outcome in found.outcomes.items()),
        signals=Map(found.signals.items()),
        recovery=None
        if found.recovery is None
        else Recovery(found.recovery.owner, found.recovery.epoch, found.recovery.is_held),
        agenda=NOTHING,
    )
    state = replace(state, last_outcome=max(state.outcomes.keys(), default=None))
    return _scheduled(state, rules)


def _position(plan: Plan, name: NodeId) -> int:
    return plan.positions[name] if name in plan.positions else corrupt("wrong_content", f"there is no node {name}")


def _outcome(outcome: Outcome) -> Outcome:
    require_within_limits(NodeOutcomeCommitted(node=NodeId("any"), outcome=outcome))
    return outcome


def _attempt_state(plan: Plan, name: AttemptIdText, attempt: AttemptDocument) -> AttemptState:
    ended, completed = attempt.completed, None
    if ended is not None:
        completed = ChildCompleted(
            node=attempt.node,
            attempt_id=name,
            child_run_id=ended.child_run_id,
            result=ended.result,
            output=ended.output,
        )
        require_within_limits(completed)
    return AttemptState(_position(plan, attempt.node), attempt.outcome, completed)


def _node_state(plan: Plan, position: int, found: NodeDocument) -> NodeState:
    queue = tuple(_queued(item) for item in found.queue)
    if list(queue) != sorted(set(queue)):
        corrupt("wrong_content", f"the queue of {plan.nodes[position].id} is not in order")
    node = NodeState(
        status=found.status,
        activations=found.activations,
        activation=None if found.activation is None else _queued(found.activation),
        queue=_queue(queue),
        attempts=found.attempts,
        retry_ms=found.retry_ms,
        outcome=found.outcome,
        closed=found.closed,
        released=None if found.released is None else _pinned(plan, position, found.released),
    )
    return node if found.active is None else _with_attempt(node, found.active)


def _queued(found: Activation) -> Queued:
    return Queued(found.source_sequence, found.edge)


def _queue(items: Iterable[Queued]) -> Queue[Queued] | None:
    queue: Queue[Queued] | None = None
    for item in items:
        queue = added(queue, item)
    return queue


def _pinned(plan: Plan, position: int, released: Mapping[NodeId, int]) -> tuple[int, ...]:
    names = [plan.nodes[prerequisite].id for prerequisite in plan.prerequisites[position]]
    if not released or not released.keys() <= set(names):
        corrupt("wrong_content", f"what is pinned for {plan.nodes[position].id} are not its prerequisites")
    return tuple(released.get(name, 0) for name in names)


def _with_attempt(node: NodeState, active: ActiveAttempt) -> NodeState:
    return replace(
        node,
        attempt_id=active.attempt_id,
        child_run_id=active.child_run_id,
        deadline_ms=active.deadline_ms,
        input=active.input,
        wait=_wait_state(active.wait),
        resolved=Map(enumerate(_gain(active, gain) for gain in active.resolved)),
    )


def _wait_state(wait: WaitForSignal | WaitForTime | None) -> SignalWait | TimerWait | None:
    if isinstance(wait, WaitForSignal):
        return SignalWait(wait.name, wait.token_sha256, wait.deadline_ms)
    return None if wait is None else TimerWait(wait.deadline_ms)


def _gain(active: ActiveAttempt, gain: ReceivedSignal | PassedTime) -> Received | TimerPassed:
    if isinstance(gain, PassedTime):
        return TimerPassed(gain.deadline_ms)
    require_within_limits(
        SignalAccepted(
            node=NodeId("any"),
            attempt_id=active.attempt_id,
            signal_id=gain.signal_id,
            name=gain.name,
            payload=gain.payload,
        )
    )
    return Received(gain.signal_id, gain.name, gain.payload)


def _scheduled(state: State, rules: Rules) -> State:
    """Return the state in which every deadline of a node is among what happens at a time."""
    for position, node in state.nodes.items():
        if node.deadline_ms is not None:
            state = scheduled(state, "attempt", node.deadline_ms, position, rules)
        if isinstance(node.wait, TimerWait):
            state = scheduled(state, "timer", node.wait.deadline_ms, position, rules)
        elif node.wait is not None and node.wait.deadline_ms is not None:
            state = scheduled(state, "signal_wait", node.wait.deadline_ms, position, rules)
        if node.retry_ms is not None:
            state = scheduled(state, "retry", node.retry_ms, position, rules)
    return state


def _unsettled(state: State, names: Sequence[NodeId]) -> State:
    """Return the state in which what comes next of some nodes is left to Settle."""
    for name in names:
        position = _position(state.plan, name)
        number = state.plan.component[position]
        part = state.components[number]
        if state.nodes[position].status == "retry_pending":
            state = replace(state, unsettled=added(state.unsettled, position))
        elif position in part.closable:
            part = replace(part, closable=part.closable.delete(position))
            state = replace(state, components=state.components.set(number, part))
    left = _left(state)
    return state if left == tuple(names) else corrupt("wrong_content", f"what is left to Settle are the nodes {left}")
