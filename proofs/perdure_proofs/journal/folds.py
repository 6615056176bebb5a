"""A snapshot and what follows it give the state that the whole history gives.

The state after a history is a fold: each record is reduced in the state that the records before it left. So a fold may
stop at any border between two batches and go on from there, by induction over what follows: after each of its records
the two folds stand at the same state. What goes on from a snapshot goes on from the state that was restored, and that
is the state that was written down: each number of each node comes back as it was, for all numbers, and so does all
else in the histories that are gone through here.

The numbers of nodes are proved for all values. That a state is restored whole, and that a fold goes on alike, is
compared, not proved: at each border of the histories here, and of many more in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Final

from immutables import Map
from msgspec.structs import replace

from perdure.kernel.caches import SnapshotDocument, SnapshotError, read_snapshot, resumed, snapshot_of
from perdure.kernel.consequences import owed
from perdure.kernel.errors import HistoryError
from perdure.kernel.events import AnyEvent
from perdure.kernel.histories import Standing, followed_from
from perdure.kernel.identity import EventId
from perdure.kernel.plan import Plan
from perdure.kernel.queues import in_order
from perdure.kernel.records import Record
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.snapshots import NodeDocument, _node, _node_state, document_of_state
from perdure.kernel.state import NodeState, Queued, SignalWait, State, TimerWait
from perdure.kernel.values import MAX_SAFE_INTEGER, Digest
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.generated import generate
from perdure_conformance.reducer.reference import read_entry
from perdure_proofs.symbols import identity_text
from perdure_proofs.theorems import UNNOTED, Any, Theorem

Folded = Callable[[Standing | None, Iterable[Record]], Iterator[Standing]]
Resumed = Callable[[SnapshotDocument, Iterable[Record]], Iterator[Standing]]


@dataclass(frozen=True, slots=True)
class Folds:
    """How a history is folded, and how a state is written down and restored."""

    followed_from: Folded = field(default=followed_from, metadata=UNNOTED)
    snapshot_of: Callable[[Standing], bytes] = field(default=snapshot_of, metadata=UNNOTED)
    resumed: Resumed = field(default=resumed, metadata=UNNOTED)
    written: Callable[[State, int], NodeDocument] = field(default=_node, metadata=UNNOTED)
    restored: Callable[[Plan, int, NodeDocument], NodeState] = field(default=_node_state, metadata=UNNOTED)


def applies_what_is_included(found: SnapshotDocument, records: Iterable[Record]) -> Iterator[Standing]:
    """Go on at the record that the snapshot includes last, rather than behind it."""
    kept = tuple(records)
    standing = next(resumed(found, kept))
    yield standing
    yield from followed_from(standing, (each for each in kept if each.sequence >= found.sequence))


def leaves_the_tail_out(found: SnapshotDocument, records: Iterable[Record]) -> Iterator[Standing]:
    """Take the snapshot for the run, and read nothing that follows."""
    yield next(resumed(found, records))


def counts_what_the_snapshot_includes(found: SnapshotDocument, records: Iterable[Record]) -> Iterator[Standing]:
    """Charge the transitions of a run again that its snapshot includes."""
    for standing in resumed(found, records):
        state = replace(standing.state, transitions_used=2 * standing.state.transitions_used)
        yield Standing(standing.last, state)


def forgets_consumed_signals(standing: Standing) -> bytes:
    """Do not keep in a snapshot which signals were consumed."""
    return snapshot_of(Standing(standing.last, replace(standing.state, signals=Map())))


def forgets_attempts(state: State, position: int) -> NodeDocument:
    """Write down no attempts of the current activation."""
    return replace(_node(state, position), attempts=0)


def takes_zero_for_none(plan: Plan, position: int, found: NodeDocument) -> NodeState:
    """Take a time of 0 for none."""
    node = _node_state(plan, position, found)
    return replace(node, retry_ms=node.retry_ms or None)


THEOREM: Final = Theorem(
    ("RUN-002", "SNP-010"),
    Folds(),
    mutants={
        "AppliesWhatIsIncluded": Folds(resumed=applies_what_is_included),
        "LeavesTheTailOut": Folds(resumed=leaves_the_tail_out),
        "CountsWhatTheSnapshotIncludes": Folds(resumed=counts_what_the_snapshot_includes),
        "ForgetsConsumedSignals": Folds(snapshot_of=forgets_consumed_signals),
        "ForgetsAttempts": Folds(written=forgets_attempts),
        "TakesZeroForNone": Folds(restored=takes_zero_for_none),
    },
    assumptions=(
        "A state is restored whole from its text: compared at each border of generated histories, not proved.",
        "What is reduced depends on state and event alone: the kernel has no clock, no randomness and no input.",
    ),
)

HISTORIES: Final = 24
_SEED: Final = 2


@cache
def whole(number: int) -> tuple[Standing, ...]:
    """Return how a generated run stands after each of its records."""
    histories = (each.history for each in generate(2 * HISTORIES, _SEED) if each.damage == "none")
    return tuple(followed_from(None, recorded(next(islice(histories, number, None)))))


def recorded(entries: Sequence[Entry]) -> Iterator[Record]:
    """Yield the records of a history: a batch ends where nothing is owed."""
    batch: list[tuple[AnyEvent, int]] = []
    state: State | None = None
    sequence = 0
    for entry in entries:
        event = read_entry(entry)
        state = reduce(state, event, version=entry.version)
        batch.append((event, entry.version))
        if owed(state, RULES) is None:
            for index, (each, version) in enumerate(batch):
                sequence += 1
                event_id, checksum = EventId(identity_text(sequence)), Digest(f"{sequence:064x}")
                yield Record(state.run_id, sequence, event_id, index, len(batch), version, each, checksum)
            batch = []


def borders(standings: Sequence[Standing]) -> list[int]:
    """Return how many records lie before each border between two batches, the last one too."""
    return [place for place, each in enumerate(standings, 1) if each.last.batch_index + 1 == each.last.batch_size]


def is_alike(one: Standing, other: Standing) -> bool:
    """Tell whether a run stands alike: at the same record, owing the same, and, between batches, in the same state."""
    is_same = one.last == other.last and owed(one.state, RULES) == owed(other.state, RULES)
    is_between = one.last.batch_index + 1 == one.last.batch_size
    return is_same and (not is_between or document_of_state(one.state) == document_of_state(other.state))


def are_alike(found: Sequence[Standing], expected: Sequence[Standing]) -> bool:
    """Tell whether a run stands alike after each of the same records."""
    return len(found) == len(expected) and all(map(is_alike, found, expected))


@THEOREM.claim
def a_fold_goes_on_from_any_border(folds: Folds, values: Any) -> bool:
    """A history that is folded up to a border and then on from there gives what it gives as a whole, at each record."""
    standings = whole(values.among("history", range(HISTORIES)))
    border = values.among("border", borders(standings))
    following = [each.last for each in standings[border:]]
    found = list(folds.followed_from(standings[border - 1], following))
    return are_alike(found, standings[border:])


@THEOREM.claim
def a_snapshot_and_its_tail_are_the_whole(folds: Folds, values: Any) -> bool:
    """A run that is restored by a snapshot of any border, and what follows, stands as by its whole history."""
    standings = whole(values.among("history", range(HISTORIES)))
    border = values.among("border", borders(standings))
    try:
        found = read_snapshot(folds.snapshot_of(standings[border - 1]))
        return are_alike(list(folds.resumed(found, [each.last for each in standings])), standings[border - 1 :])
    except (HistoryError, SnapshotError):
        return False


@THEOREM.claim
def a_node_comes_back_with_any_numbers(folds: Folds, values: Any) -> bool:
    """A node that is written down, whatever its counts, sequences and times, is restored as it was."""
    kept = values.among("node", nodes())
    state, position = kept.standing.state, kept.position
    node = with_any_numbers(values, state.nodes[position])
    state = replace(state, nodes=state.nodes.set(position, node))
    found = folds.restored(state.plan, position, folds.written(state, position))
    is_in_order = list(in_order(found.queue)) == list(in_order(node.queue))
    return is_in_order and replace(found, queue=None) == replace(node, queue=None, tally=None)


@dataclass(frozen=True, slots=True, repr=False)
class Kept:
    """A node at a border of a history."""

    history: int
    standing: Standing
    position: int

    def __repr__(self) -> str:
        """Return where it is, in words."""
        name, last = self.standing.state.name(self.position), self.standing.last
        return f"node {name} after record {last.sequence} of generated history {self.history}"


@cache
def nodes() -> tuple[Kept, ...]:
    """Return one node of each shape that there is at the borders of all histories."""
    found: dict[object, Kept] = {}
    for number in range(HISTORIES):
        standings = whole(number)
        for border in borders(standings):
            for position, node in standings[border - 1].state.nodes.items():
                found.setdefault(shape(node), Kept(number, standings[border - 1], position))
    return tuple(found.values())


def shape(node: NodeState) -> object:
    """Return what of a node is no number: which of its members it has."""
    gains = tuple(type(node.resolved[number]) for number in range(len(node.resolved)))
    pins = None if node.released is None else tuple(map(bool, node.released))
    times = (node.deadline_ms is None, node.retry_ms is None, getattr(node.wait, "deadline_ms", None) is None)
    rest = (node.attempt_id is None, node.child_run_id is None, node.outcome is None, node.activation is None)
    return (node.status, type(node.wait), times, rest, gains, pins, node.closed, len(list(in_order(node.queue))))


def with_any_numbers(values: Any, node: NodeState) -> NodeState:
    """Return the node with any numbers where it has numbers."""

    def any_of(name: str, known: int | None) -> int | None:
        return None if known is None else values.whole(name, 0, MAX_SAFE_INTEGER)

    def any_wait(wait: SignalWait | TimerWait | None) -> SignalWait | TimerWait | None:
        return None if wait is None else replace(wait, deadline_ms=any_of("deadline of the wait", wait.deadline_ms))

    begun = node.activation
    return replace(
        node,
        activations=values.whole("activations", 0, MAX_SAFE_INTEGER),
        attempts=values.whole("attempts", 0, MAX_SAFE_INTEGER),
        deadline_ms=any_of("deadline", node.deadline_ms),
        retry_ms=any_of("retry", node.retry_ms),
        outcome=any_of("outcome", node.outcome),
        wait=any_wait(node.wait),
        activation=begun
        and Queued(values.whole("source", 1, MAX_SAFE_INTEGER), values.whole("edge", 0, MAX_SAFE_INTEGER)),
        released=node.released
        and tuple(
            pin and values.whole(f"pinned {place}", 1, MAX_SAFE_INTEGER) for place, pin in enumerate(node.released)
        ),
    )
