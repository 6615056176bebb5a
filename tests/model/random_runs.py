"""Random runs: the kernel against the dumb kernel, and everything that must hold of each history.

`python -m tests.model.random_runs --runs 5000 --seed 1` plays so many and prints what they came to.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from random import Random
from typing import Any

import msgspec
from tests.model.dumb_kernel import BY_THE_KERNEL, DumbRun
from tests.model.playing import RUN
from tests.model.random_commands import Asker
from tests.model.random_documents import Document, random_document
from tests.model.tampering import changes, encoded, explains

from perdure.kernel.commands import CreateRun, Rejection, Settle
from perdure.kernel.consequences import owed
from perdure.kernel.decide import decide
from perdure.kernel.errors import Corruption, HistoryError
from perdure.kernel.events import (
    EVENTS,
    NodeBlocked,
    NodeFailed,
    NodeOutcomeCommitted,
    NodeSucceeded,
    RunCancelled,
)
from perdure.kernel.invariants import violations
from perdure.kernel.outcomes import Succeeded
from perdure.kernel.queues import rest
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.state import LIVE, State
from perdure.kernel.upcast import upcast


class Disagreement(AssertionError):
    """Something that must hold does not."""


def require(holds: object, said: str, *details: object) -> None:
    if not holds:
        raise Disagreement("\n".join([said, *(f"  {detail}" for detail in details)]))


class Checked:
    """One run, played by the kernel and by the dumb kernel, and checked at each step."""

    def __init__(self, random: Random, counts: Counter[str] | None = None, *, tampering: float = 0.1) -> None:
        self.random = random
        self.counts: Counter[str] = Counter() if counts is None else counts
        self.tampering = tampering
        self.state: State | None = None
        self.dumb = DumbRun()
        self.history: list[tuple[Any, int]] = []
        self.incomplete: State | None = None
        """The state before the last event, if that is not the first of its batch."""
        self.is_settled = True
        """Whether nothing is left that only the newest rules know an end of."""

    @property
    def now(self) -> State:
        assert self.state is not None
        return self.state

    def create(self, document: Document, version: int = 5, **members: Any) -> None:
        inputs = {"ticket": 7} if document.get("inputs") else {}
        command = CreateRun(**({"run_id": RUN, "specification": document, "input": inputs} | members))
        if version == 5:
            self.ask_amiss(command)
            self.ask(command)
        else:
            self.write(command, version)
        self.creation = command

    def ask_amiss(self, command: CreateRun) -> None:
        """Give commands before there is a run, and creations that are none."""
        wrong: dict[str, Any] = {"nodes": []} if self.random.random() < 0.5 else {"content_hash": "0" * 64}
        for amiss in (
            Settle(),
            msgspec.structs.replace(command, input={"other": 1}),
            msgspec.structs.replace(command, ancestors=(command.run_id,)),
            msgspec.structs.replace(command, specification={**command.specification, **wrong}),
        ):
            require(not self.ask(amiss), "a run was created amiss", amiss)

    def ask(self, command: Any) -> bool:
        """Give a command to both kernels; return whether it was allowed."""
        events, codes, after = self.dumb.answer(command)
        found = decide(self.state, command)
        if isinstance(found, Rejection):
            self.counts[f"! {found.code}"] += 1
            require(
                codes and found.code in codes, "another answer", command, f"kernel {found}", f"twin {codes}{events}"
            )
            return False
        require(len(found) == len(events), "another batch", command, f"kernel {found}", f"twin   {events} {codes}")
        for one, other in zip(found, events, strict=True):
            require(is_same(one, other), "another event", command, f"kernel {one}", f"twin   {other}")
        self.commit(list(found), after, 5)
        self.is_settled = self.is_settled or isinstance(command, Settle)
        require(not self.is_settled or self.is_moving(), "the run stands still", command, self.dumb.nodes)
        return True

    def write(self, command: Any, version: int) -> bool:
        """Let the dumb kernel write what a runtime of an older version would, and the kernel read it."""
        events, codes, after = self.dumb.answer(command, version)
        if codes:
            self.counts[f"! older {min(codes)}"] += 1
            return False
        if any(type(event) not in EVENTS[version] for event in map(in_words_of(version), events)):
            return False
        self.is_settled = self.is_settled and version >= 4
        self.commit([in_words_of(version)(event) for event in events], after, version)
        require(not self.is_settled or self.is_moving(), "the run stands still", command, self.dumb.nodes)
        return True

    def cancel_in_version_1(self) -> None:
        """Write the one fact of a cancellation that version 1 has."""
        after = self.dumb.copy()
        after.sequence, after.status = after.sequence + 1, "cancelled"
        self.commit([RunCancelled()], after, 1)

    def commit(self, events: list[Any], after: DumbRun, version: int) -> None:
        before, state, first = self.dumb, self.state, len(self.history)
        states: list[State | None] = [state]
        if self.incomplete is not None:
            self.must_refuse(self.incomplete, events[0], version)
        for event in events:
            try:
                state = reduce(state, event, version=version)
            except HistoryError as refused:
                raise Disagreement(f"refused: {refused}\n  {events}\n  at {event}, version {version}") from refused
            states.append(state)
            is_last = event is events[-1]
            require(
                (owed(state, RULES) is None) == is_last, "a batch ends where it does not", event, owed(state, RULES)
            )
            self.counts[type(event).__name__] += 1
        self.counts["events"] += len(events)
        self.counts["batches"] += 1
        self.state, self.dumb = state, after
        self.incomplete = states[-2] if len(events) > 1 else None
        self.history += [(event, version) for event in events]
        for position, event in enumerate(events):
            newest = upcast(event)
            if isinstance(newest, NodeOutcomeCommitted):
                self.dumb.outcomes[first + position + 1] = newest.outcome
        self.check(before, events, states, version)

    def check(self, before: DumbRun, events: list[Any], states: list[State | None], version: int) -> None:
        found = differences(self.now, self.dumb)
        require(not found, "another state", events, *found)
        broken = violations(self.now)
        require(not broken, "an invariant is broken", *broken)
        if self.random.random() < self.tampering:
            self.tamper(before, events, states, version)

    def is_moving(self) -> bool:
        """Tell whether the run is over or something will come from a node by itself."""
        return self.now.status != "running" or any(node.status in LIVE for _, node in self.now.nodes.items())

    def tamper(self, before: DumbRun, events: list[Any], states: list[State | None], version: int) -> None:
        """Leave out, repeat, exchange and change events of a batch: the kernel refuses it, or could have written it."""
        for position, event in enumerate(events):
            self.must_refuse(states[position + 1], event, version)
            if position + 1 < len(events):
                self.must_be_right(before, states, position, event, events[position + 1], version)
        position = self.random.randrange(len(events))
        for changed in changes(self.random, events[position], self.now):
            self.must_be_right(before, states, position, events[position], changed, version)

    def must_be_right(
        self, before: DumbRun, states: list[State | None], position: int, event: Any, other: Any, version: int
    ) -> None:
        """Put another event in the place of one: the kernel refuses it, or a command could have given it."""
        self.counts["tampered"] += 1
        try:
            reduce(states[position], other, version=version)
        except Corruption:
            return
        self.counts["tampered, and right"] += 1
        is_right = explains(before, position, event, other, version)
        require(is_right, "another event is accepted", f"instead of {event}", f"there is   {other}")

    def must_refuse(self, state: State | None, event: Any, version: int) -> None:
        """Reduce an event that cannot be there: the kernel refuses it."""
        self.counts["tampered"] += 1
        try:
            reduce(state, event, version=version)
        except Corruption:
            return
        require(None, "an event is accepted where none like it can be", event)

    def replay(self) -> None:
        """Fold the history anew, and its upcast: both give the state."""
        state: State | None = None
        for event, version in self.history:
            state = reduce(state, event, version=version)
        require(state == self.now, "a replay gives another state")
        state = None
        for event, version in self.history:
            state = reduce(state, upcast(event), version=version)
        require(state == self.now, "the replay of the upcast gives another state")
        self.counts["replayed events"] += len(self.history)


def is_same(one: Any, other: Any) -> bool:
    """Tell whether the kernel's event is the dumb kernel's, whose own reasons are free."""
    if isinstance(other, NodeOutcomeCommitted) and getattr(other.outcome, "reason", "") == BY_THE_KERNEL:
        outcome = getattr(one, "outcome", None)
        if outcome is None or isinstance(outcome, Succeeded) or outcome.evidence:
            return False
        other = msgspec.structs.replace(other, outcome=msgspec.structs.replace(other.outcome, reason=outcome.reason))
    return bool(one == other and encoded(one) == encoded(other))


def in_words_of(version: int) -> Any:
    return in_words_of_version_1 if version == 1 else lambda event: event


def in_words_of_version_1(event: Any) -> Any:
    if not isinstance(event, NodeOutcomeCommitted):
        return event
    common: Any = {"node": event.node, "attempt_id": event.attempt_id}
    if isinstance(event.outcome, Succeeded):
        return NodeSucceeded(output=event.outcome.output, **common)
    kind = NodeBlocked if event.outcome.kind == "blocked" else NodeFailed
    return kind(reason=event.outcome.reason, **common)


def differences(state: State, dumb: DumbRun) -> list[str]:
    """Return what the kernel's state says otherwise than the dumb one."""
    pairs: dict[str, tuple[object, object]] = {
        "status": (state.status, dumb.status),
        "sequence": (state.sequence, dumb.sequence),
        "now": (state.now_ms, dumb.now),
        "attempts used": (state.attempts_used, dumb.attempts_used),
        "transitions used": (state.transitions_used, dumb.transitions_used),
        "last outcome": (state.last_outcome, dumb.last_outcome),
        "signals": (dict(state.signals.items()), dumb.signals),
        "order": ([[state.name(m) for m in part] for part in state.plan.members], dumb.order),
        "attempts": (
            {name: (state.name(a.node), a.outcome) for name, a in state.attempts.items()},
            {name: (a["node"], a["outcome"]) for name, a in dumb.attempts.items()},
        ),
        "outcomes": (dict(state.outcomes.items()), dumb.outcomes),
    }
    for position, node in state.nodes.items():
        name = state.name(position)
        other = dumb.nodes[name]
        is_latched = node.tally is None or node.released is not None
        pairs[name] = (
            (node.status, node.activations, node.activation, node.attempts, node.attempt_id, node.child_run_id),
            tuple(
                other[key] for key in ("status", "activations", "activation", "attempts", "attempt_id", "child_run_id")
            ),
        )
        pairs[f"{name}, more"] = (
            (node.deadline_ms, node.retry_ms, node.outcome, node.closed, is_latched, node.wait is None),
            (
                *tuple(other[key] for key in ("deadline", "retry", "outcome", "closed", "latched")),
                other["wait"] is None,
            ),
        )
        pairs[f"{name}, queue"] = (queue_of(node.queue), other["queue"])
        if node.released is not None:
            prerequisites = state.plan.prerequisites[position]
            pinned = {state.name(p): s or None for p, s in zip(prerequisites, node.released, strict=True)}
            pairs[f"{name}, pinned"] = (pinned, other["pinned"])
    return [f"{key}: kernel {one}, twin {other}" for key, (one, other) in pairs.items() if one != other]


def queue_of(queue: Any) -> list[Any]:
    found = []
    while queue is not None:
        found.append(queue.first)
        queue = rest(queue)
    return found


def play(random: Random, counts: Counter[str], steps: int = 60, tampering: float = 0.1) -> Checked:
    """Play one run of the newest version."""
    run = Checked(random, counts, tampering=tampering)
    run.create(random_document(random))
    asker = Asker(random, hurry=random.choice((0.4, 0.7, 0.9)))
    asker.asked.append(run.creation)
    for _ in range(steps):
        run.ask(asker.next(run.dumb))
        if run.now.status != "running" and random.random() < 0.3:
            break
    run.replay()
    counts[f"run {run.now.status}"] += 1
    return run


def play_older(random: Random, counts: Counter[str], steps: int = 40, tampering: float = 0.1) -> Checked:
    """Play one run that begins in an older version and goes on in newer ones."""
    version = random.randint(1, 4)
    counts[f"begun in version {version}"] += 1
    run = Checked(random, counts, tampering=tampering)
    run.create(random_document(random, random.randint(1, version)), version)
    asker = Asker(random, hurry=0.8)
    for _ in range(steps):
        if run.now.status != "running":
            break
        if version < 5 and random.random() < 0.07:
            version = random.randint(version + 1, 5)
            if version == 5 and random.random() < 0.7:
                run.ask(Settle())
            continue
        if version == 1 and random.random() < 0.01:
            run.cancel_in_version_1()
            break
        command = asker.next(run.dumb, version)
        run.ask(command) if version == 5 else run.write(command, version)
    if run.now.status == "running":
        run.ask(Settle())
        run.is_settled = True
        require(run.is_moving(), "a settled run stands still", run.dumb.nodes)
    run.replay()
    counts[f"older run {run.now.status}"] += 1
    return run


def campaign(runs: int, seed: int, counts: Counter[str]) -> int:
    """Play so many runs, every fourth of them begun in an older version; return how many break a rule."""
    broken = 0
    for number in range(runs):
        random = Random(f"{seed}/{number}")  # noqa: S311 - it draws examples
        try:
            (play_older if number % 4 == 3 else play)(random, counts)
        except Exception as wrong:  # noqa: BLE001 - whatever goes wrong is told, and the next run played
            broken += 1
            print(f"run {number}: {type(wrong).__name__}: {wrong}")
            if not isinstance(wrong, Disagreement):
                traceback.print_exc()
    return broken


def main(arguments: list[str] | None = None) -> int:
    """Play a campaign, and print what it came to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    broken = campaign(chosen.runs, chosen.seed, counts)
    for name, count in sorted(counts.items()):
        print(f"{count:9,}  {name}")
    print(f"{chosen.runs:9,}  runs")
    print(f"{broken:9,}  violations")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
