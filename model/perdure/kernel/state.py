"""The state of a run: what its history amounts to.

Everything here is a value: a change gives a new state that shares with the old one what did not change.

Invariants, which `invariants.violations` checks one by one, are numbered there.

Source: ADR-0032, "State model", "Typed outcomes and dependency policies"; `docs/spec/kernel.md`.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

import msgspec
from immutables import Map

from perdure.kernel.commands import Disposition
from perdure.kernel.events import ChildCompleted
from perdure.kernel.identity import AttemptId, Name, NodeId, OwnerId, RunId, SignalId
from perdure.kernel.outcomes import Outcome
from perdure.kernel.plan import Plan
from perdure.kernel.queues import Queue
from perdure.kernel.specification import Node
from perdure.kernel.values import Digest, JsonObject, JsonValue

Status = Literal[
    "pending",
    "ready",
    "running",
    "waiting",
    "retry_pending",
    "changes_requested",
    "succeeded",
    "failed",
    "blocked",
    "cancelled",
    "skipped",
]
RunStatus = Literal["running", "completed", "failed", "blocked", "cancelled"]

STATUSES: Final[tuple[Status, ...]] = get_args(Status)
LIVE: Final[frozenset[Status]] = frozenset({"ready", "running", "waiting", "retry_pending"})
"""Statuses of a node from which something will come by itself."""
ACTIVE: Final[frozenset[Status]] = frozenset({"running", "waiting"})
"""Statuses of a node with an attempt that has no outcome yet."""
TERMINAL: Final[frozenset[Status]] = frozenset({"succeeded", "failed", "blocked", "cancelled", "skipped"})


class Queued(NamedTuple):
    """An activation that an edge brought. Those that wait for their turn come in this order."""

    source_sequence: int
    """That of the outcome that the edge follows."""
    edge: int
    """Its position."""


class Due(NamedTuple):
    """Something that happens at a time. What comes first is less."""

    deadline_ms: int
    rank: int
    """The place of its kind in the order of what is due at one time."""
    position: int
    """The node; −1 is the run."""


class Hopeless(NamedTuple):
    """A node whose policy cannot be satisfied any more."""

    component: int
    position: int


class Value(msgspec.Struct, frozen=True, gc=False):
    """A part of a state."""


class SignalWait(Value, frozen=True, gc=False):
    """An attempt waits for a signal."""

    name: Name
    token_sha256: Digest
    deadline_ms: int | None


class TimerWait(Value, frozen=True, gc=False):
    """An attempt waits for a time."""

    deadline_ms: int


class Received(Value, frozen=True, gc=False):
    """A signal that an attempt accepted."""

    signal_id: SignalId
    name: Name
    payload: JsonValue


class TimerPassed(Value, frozen=True, gc=False):
    """A time that an attempt waited for and that came."""

    deadline_ms: int


class Tally(Value, frozen=True, gc=False):
    """How the prerequisites of a node stand, by their current statuses."""

    unfinished: int
    """How many are not terminal."""
    succeeded: int = 0
    cancelled: int = 0
    blocked: int = 0
    revivable: int = 0
    """How many ended without success and may yet be activated again by an edge."""

    def plus(self, other: Tally) -> Tally:
        """Return what both count together."""
        return Tally(
            self.unfinished + other.unfinished,
            self.succeeded + other.succeeded,
            self.cancelled + other.cancelled,
            self.blocked + other.blocked,
            self.revivable + other.revivable,
        )

    def minus(self, other: Tally) -> Tally:
        """Return what is left without what another counts."""
        return Tally(
            self.unfinished - other.unfinished,
            self.succeeded - other.succeeded,
            self.cancelled - other.cancelled,
            self.blocked - other.blocked,
            self.revivable - other.revivable,
        )


class NodeState(Value, frozen=True, gc=False):
    """How a node stands."""

    status: Status = "pending"
    activations: int = 0
    """How many activations it had, those in its queue included."""
    activation: Queued | None = None
    """What began the current activation, if an edge did."""
    queue: Queue[Queued] | None = None
    """The activations that wait, in the order in which they will begin."""
    attempts: int = 0
    """How many attempts the current activation has started."""
    attempt_id: AttemptId | None = None
    """The attempt that is active."""
    child_run_id: RunId | None = None
    deadline_ms: int | None = None
    """When the active attempt expires."""
    input: JsonObject | None = None
    """What the active attempt is given."""
    wait: SignalWait | TimerWait | None = None
    resolved: Map[int, Received | TimerPassed] = Map()
    """What the active attempt waited for and got, numbered from 0."""
    retry_ms: int | None = None
    """When the next attempt may start."""
    outcome: int | None = None
    """The sequence of its last outcome."""
    closed: bool = False
    """Whether it will never be activated again."""
    tally: Tally | None = None
    """Its prerequisites, if it has any."""
    released: tuple[int, ...] | None = None
    """The sequences of its prerequisites' last outcomes when its policy was satisfied; 0 for one that had none."""


class ComponentState(Value, frozen=True, gc=False):
    """How a component stands."""

    live: int
    """How many of its nodes are live."""
    predecessors: int
    """How many components that lead to it may still bring something."""
    is_done: bool = False
    """Whether nothing will come from it any more."""
    closable: Map[int, None] = Map()
    """Its nodes that are to be closed once nothing live can reach them; and some that need not any more."""

    @property
    def is_cold(self) -> bool:
        """Whether nothing live is in it or leads to it."""
        return not self.live and not self.predecessors


class AttemptState(Value, frozen=True, gc=False):
    """What an attempt came to."""

    node: int
    outcome: int | None = None
    """The sequence of its outcome."""
    completed: ChildCompleted | None = None
    """How the child run ended that did its work."""


class Recovery(Value, frozen=True, gc=False):
    """The last worker that took the run over."""

    owner: OwnerId
    epoch: int
    is_held: bool


class Agenda(Value, frozen=True, gc=False):
    """What the batch that is being written still owes; empty between batches. `consequences` says in which order."""

    failing: bool = False
    """A budget is exhausted: the run fails."""
    initial: int | None = None
    """How many of the initial nodes are ready."""
    cancelling: int | None = None
    """The first node that the cancellation has not reached."""
    outcome: tuple[int, Outcome] | None = None
    """A node, and the outcome that follows by itself."""
    retry: int | None = None
    """The node whose retry is to be scheduled, and released if that is at once."""
    settling: bool = False
    """What older rules left is settled."""
    termination: int | None = None
    """The node whose attempts are used up."""
    firing: tuple[int, ...] = ()
    """Edges that the last outcome follows."""
    fired: int = 0
    """How many of them are done with."""
    releases: Queue[int] | None = None
    """Nodes whose dependencies have been satisfied."""
    queued: Queue[int] | None = None
    """Nodes with an activation that waits and may begin."""
    closing: tuple[int, ...] = ()
    """Nodes to close in this round."""
    closed: int = 0
    """How many of them are done with."""
    judging: bool = False
    """Something ended: nodes may have to be closed, and the run may be over."""
    verdict: RunStatus | None = None
    """How the run ends."""
    advancing: bool = False
    """Time went on: what is due happens."""


class State(Value, frozen=True, gc=False):
    """How a run stands after the events up to `sequence`."""

    plan: Plan
    run_id: RunId
    ancestors: tuple[RunId, ...]
    content_hash: Digest
    input: JsonObject
    sequence: int
    version: int
    """The version of the last event."""
    oldest: int
    """The version of the first event."""
    nodes: Map[int, NodeState]
    components: Map[int, ComponentState] = Map()
    entrances: Map[int, int] = Map()
    """For each node, how many edges may still activate it."""
    statuses: Map[Status, int] = Map()
    """How many nodes have each status."""
    status: RunStatus = "running"
    now_ms: int = 0
    attempts_used: int = 0
    transitions_used: int = 0
    last_outcome: int | None = None
    attempts: Map[AttemptId, AttemptState] = Map()
    child_runs: Map[RunId, int] = Map()
    """The node of each child run."""
    outcomes: Map[int, Outcome] = Map()
    """Each outcome, by its sequence."""
    signals: Map[SignalId, Disposition] = Map()
    """What became of each delivery that was used up."""
    due: Queue[Due] | None = None
    """What happens at a time. Some of it may be out of date."""
    cold: Queue[int] | None = None
    """Components that nothing live reaches and that are not done with."""
    hopeless: Queue[Hopeless] | None = None
    """Nodes whose policies cannot be satisfied any more; some may be out of date."""
    unsettled: Queue[int] | None = None
    """What an older history left to the newest rules: nodes to be tried again."""
    recovery: Recovery | None = None
    agenda: Agenda = Agenda()

    def position(self, name: NodeId) -> int | None:
        """Return the position of a node, if there is one of that name."""
        return self.plan.positions.get(name)

    def node(self, position: int) -> Node:
        """Return the specification of a node."""
        return self.plan.nodes[position]

    def name(self, position: int) -> NodeId:
        """Return the name of a node."""
        return self.plan.nodes[position].id
