"""The state of a run as a document: restored, it is gone on with as if nothing had happened; damaged, it is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from tests.model.documents import GONE, changed
from tests.model.drawn_values import near_miss, places, with_one_edit
from tests.model.playing import RUN, Player, document, edge, node, outcome, uuid
from tests.model.random_commands import Asker
from tests.model.random_documents import random_document
from tests.model.random_runs import Checked

from perdure.kernel.commands import (
    AcquireRecovery,
    AdvanceTime,
    AnyCommand,
    CompleteAttempt,
    CompleteChild,
    Rejection,
    RequestCancellation,
    Settle,
    StartNode,
    token_digest,
)
from perdure.kernel.consequences import owed
from perdure.kernel.decide import decide
from perdure.kernel.errors import Corruption, HistoryError, Incompatible
from perdure.kernel.events import NodeOutcomeCommitted, NodeStarted, RunCreated
from perdure.kernel.identity import AttemptId, NodeId, OwnerId, RunId
from perdure.kernel.invariants import violations
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.snapshots import document_of_state, state_digest, state_from
from perdure.kernel.state import STATUSES, State
from perdure.kernel.values import MAX_SAFE_INTEGER, JsonObject, canonical_json, digest, read_json

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
    for seed in range(40):
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


def test_a_state_within_a_batch_has_no_document() -> None:
    run = Player(document(["A"]))
    before = run.now
    run.start("A")
    run.end("A")
    events = run.batches[-1]
    assert document_of_state(before)["status"] == "running"
    with pytest.raises(Corruption, match="more is owed") as refused:
        document_of_state(reduce(reduce(before, run.batches[1][0]), events[0]))
    assert refused.value.code == "incomplete_batch"
    assert document_of_state(run.now)["status"] == "completed"


def test_a_document_has_room_for_the_deepest_values() -> None:
    """They nest 90 deep: the input of the run, that of a node, a payload, an output, the output of a child."""
    child = {"nodes": [node("x", outputs=["r"])], "outputs": {"r": {"node": "x", "output": "r"}}}
    given = {"ticket": {"run_input": "ticket"}}
    nodes = [
        node("A", signals=["s"], input_mapping=given),
        node("B", child={"workflow": "c@1", "policy": "propagate", "outputs": {"r": "r"}}),
    ]
    deep = json.loads("[" * 89 + "]" * 89)
    run = Player(document(nodes, inputs=["ticket"], children={"c@1": child}), input={"ticket": deep})
    run.start("A")
    run.wait("A", "s")
    assert run.deliver("A", "s", payload=[[deep]]) == ["! over_limit"]
    assert run.deliver("A", "s", payload=[deep]) == ["SignalAccepted A"]
    assert run.now.nodes[0].input == {"ticket": deep}
    assert restored(run.now, specification_of(run)).nodes == run.now.nodes
    assert run.end("A", output=[[deep]]) == ["! over_limit"]
    run.end("A", output=[deep])
    run.start("B", child=True)
    assert run.child_ends("B", "completed", r=[deep]) == ["! over_limit"]
    assert run.child_ends("B", "completed", r=deep)[:2] == ["ChildCompleted B", "NodeOutcomeCommitted B succeeded"]
    assert restored(run.now, specification_of(run)).outcomes == run.now.outcomes


def specification_of(run: Player) -> JsonObject:
    created = run.history[0]
    assert isinstance(created, RunCreated)
    return created.specification


def test_what_is_left_to_settle_is_left_when_restored() -> None:
    """Version 3 left A asking for changes that cannot come: the end of B in version 5 does not settle it."""
    specification = document(["A", "B"], schema_version=3)
    pinned = {**specification, "content_hash": digest(specification)}
    created = RunCreated(run_id=RUN, specification=pinned, content_hash=digest(specification))
    state = reduce(None, created, version=3)
    while (event := owed(state, RULES)) is not None:
        state = reduce(state, event, version=3)
    for number, name in enumerate("AB"):
        started = NodeStarted(node=NodeId(name), attempt_id=AttemptId(uuid(number)), attempt=1)
        state = reduce(state, started, version=3)
    wanting = outcome("changes_requested")
    ended = NodeOutcomeCommitted(node=NodeId("A"), attempt_id=AttemptId(uuid(0)), outcome=wanting)
    state = reduce(state, ended, version=3)
    again = restored(state, pinned)
    assert document_of_state(again)["unsettled"] == ("A",)
    done = CompleteAttempt(node=NodeId("B"), attempt_id=AttemptId(uuid(1)), outcome=outcome("succeeded"))
    assert decide(again, done) == decide(state, done)
    assert decide(again, Settle()) == decide(state, Settle())


def test_a_document_has_no_token() -> None:
    run = Player(document([node("A", signals=["s"])]))
    run.start("A")
    run.wait("A", "s", token="open sesame")
    written = canonical_json(document_of_state(run.now))
    assert b"open sesame" not in written
    assert token_digest("open sesame").encode() in written


# Documents that anybody may have changed


def damaged(chance: Random, whole: Document) -> Document:
    """Return a document with one value in place of another, most often of the same type."""
    found = [(place, value_at(whole, place)) for place in places(whole) if place]
    place, value = chance.choice(found)
    same = [other for _, other in found if type(other) is type(value) and other != value]
    if isinstance(value, str) and value in STATUSES:
        return replaced(whole, place, chance.choice(STATUSES))
    if isinstance(value, int) and not isinstance(value, bool) and chance.random() < 0.5:
        return replaced(whole, place, min(max(0, value + chance.choice((-1, 1, 2))), MAX_SAFE_INTEGER))
    if isinstance(value, dict) and value and chance.random() < 0.6:
        gone = chance.choice(list(value))
        return replaced(whole, place, {key: item for key, item in value.items() if key != gone})
    if isinstance(value, list) and value and chance.random() < 0.6:
        return replaced(whole, place, chance.choice((value[1:], [*value, value[0]], value[::-1])))
    return replaced(whole, place, chance.choice(same or [None]))


def replaced(whole: Document, place: Any, value: Any) -> Document:
    found: Document = with_one_edit(whole, place, lambda _: value)
    return found


def value_at(whole: Any, place: Any) -> Any:
    for step in place:
        whole = whole[step]
    return whole


def asked(state: State) -> Iterator[AnyCommand]:
    """Yield commands for everything that could go on."""
    yield from (AdvanceTime(now_ms=min(state.now_ms + more, MAX_SAFE_INTEGER)) for more in (0, 1, 50))
    yield Settle()
    yield RequestCancellation(requester="somebody", reason="")
    for position, found in state.nodes.items():
        name, is_child = state.name(position), state.node(position).child is not None
        fresh = AttemptId(uuid(5_000 + position))
        yield StartNode(node=name, attempt_id=fresh, child_run_id=RunId(uuid(6_000 + position)) if is_child else None)
        if found.attempt_id is not None and found.child_run_id is not None:
            yield CompleteChild(
                node=name, attempt_id=found.attempt_id, child_run_id=found.child_run_id, result="completed"
            )
        elif found.attempt_id is not None:
            for ending in (outcome("succeeded", {"go": 1}), outcome("changes_requested"), outcome("retryable_failure")):
                yield CompleteAttempt(node=name, attempt_id=found.attempt_id, outcome=ending)


@pytest.mark.many
def test_a_damaged_document_is_refused_or_can_be_gone_on_with() -> None:
    counts: Counter[str] = Counter()
    for seed in range(45):
        run, chance = (recorded_older if seed % 3 else recorded)(seed), Random(seed)  # noqa: S311 - it draws examples
        for _, state in run.borders[::2]:
            whole = json.loads(canonical_json(document_of_state(state)))
            for _ in range(4):
                hostile: Any = read_json(json.dumps(damaged(chance, whole)))
                hostile = read_json(json.dumps(near_miss(hostile, chance))) if chance.random() < 0.2 else hostile
                try:
                    found = state_from(hostile, run.specification)
                except HistoryError as refused:
                    counts[refused.code] += 1
                    continue
                counts["accepted"] += 1
                go_on_with(found, run.specification)
    assert min(counts[code] for code in ("accepted", "wrong_content", "wrong_structure", "unknown_member")) > 20, counts


def go_on_with(state: State, specification: JsonObject) -> None:
    """Give each command to a state that was made of a document, and hold what comes of it against the invariants."""
    restored(state, specification)
    assert violations(state) == []
    for command in asked(state):
        answer, after = decide(state, command), state
        for event in () if isinstance(answer, Rejection) else answer:
            after = reduce(after, event)
        assert owed(after, RULES) is None
        assert violations(after) == []


# Documents that are refused, each one edit away from one that is not


def everything() -> tuple[Document, Document, dict[str, str]]:
    """Return a specification, the document of a state with everything in it, and what attempts, runs, ids it has."""
    child = {"nodes": [node("x", outputs=["r"])], "outputs": {"r": {"node": "x", "output": "r"}}}
    call = {"workflow": "sub@1", "policy": "propagate"}
    specification = document(
        [
            node("W", signals=["s", "t"], retry={"attempt_deadline_ms": 500}),
            node("K", child=call),
            node("L", child=call),
            node("R", retry={"max_attempts": 2, "backoff": {"kind": "fixed", "delay_ms": 100}}),
            node("P", outputs=["go"]),
            node("D", dependencies=["P", "L"], dependency_policy="any_succeeded"),
            node("Q", max_activations=2),
            node("X"),
            node("E"),
            node("C"),
            node("N", dependencies=["W", "K"]),
        ],
        [edge("P>Q"), edge("P>X", "blocked"), edge("P>E"), edge("W>C")],
        initial_nodes=["W", "K", "L", "R", "P", "Q", "C"],
        inputs=["ticket"],
        children={"sub@1": child},
        budgets={"max_attempts": 50, "max_transitions": 60, "max_elapsed_ms": 1_000},
    )
    run = Player(specification, input={"ticket": 7}, ancestors=(RunId(uuid(2)),))
    for name in ("W", "R", "P", "Q", "C"):
        run.start(name)
    for name in ("K", "L"):
        run.start(name, child=True)
    run.wait("W", "s")
    run.deliver("W", "t", signal_id=uuid(70))
    run.deliver("W", "s", signal_id=uuid(71), payload={"x": 1})
    run.wait_until("W", 5)
    run.advance(6)
    run.wait("W", "t", deadline_ms=50)
    run.end("R", "retryable_failure")
    run.end("P", "succeeded", {"go": 1})
    run.end("C", "changes_requested")
    run.child_ends("L", "failed", r=1)
    run.do(AcquireRecovery(owner=OwnerId(uuid(90)), epoch=3))
    created = run.history[0]
    assert isinstance(created, RunCreated)
    found = json.loads(canonical_json(document_of_state(run.now)))
    names = {name: found["nodes"][name]["active"]["attempt_id"] for name in ("W", "K", "Q")}
    names["child"] = found["nodes"]["K"]["active"]["child_run_id"]
    for name, attempt in found["attempts"].items():
        names.setdefault(attempt["node"], name)
    return dict(created.specification), found, names


SPECIFICATION, WHOLE, NAMES = everything()
OUTCOMES = {name: WHOLE["nodes"][name]["outcome"] for name in ("R", "P", "C", "L", "X")}

QUEUED = {"activations": 1, "queue": [{"edge": 1, "source_sequence": OUTCOMES["P"]}]}

REFUSED: list[tuple[str, Any, str]] = [
    ("state_schema_version", 1, "unknown_version"),
    ("state_schema_version", 3, "unknown_version"),
    ("state_schema_version", GONE, "wrong_structure"),
    ("version", 6, "unknown_version"),
    ("version", 4, "version_went_down"),
    ("oldest", 4, "invalid_specification"),
    ("surplus", 1, "unknown_member"),
    ("nodes/W/surplus", 1, "unknown_member"),
    ("status", "paused", "wrong_structure"),
    ("sequence", 0, "wrong_structure"),
    ("recovery/is_held", 1, "wrong_structure"),
    ("outcomes/0", {"kind": "succeeded"}, "wrong_structure"),
    ("content_hash", "0" * 64, "invalid_specification"),
    ("input", {}, "invalid_input"),
    ("ancestors/0", WHOLE["run_id"], "invalid_ancestors"),
    ("outcomes/{C}/reason", "r" * 4_097, "over_limit"),
    ("outcomes/{P}/output/go", "x" * 65_528, "over_limit"),
    ("nodes/W/active/resolved/0/payload", "x" * 65_535, "over_limit"),
    ("input/ticket", "x" * 983_040, "over_limit"),
    ("attempts/[L]/completed/output/r", "x" * 983_040, "over_limit"),
    ("nodes/N", GONE, "the nodes are not those"),
    ("nodes/M", {"status": "pending"}, "the nodes are not those"),
    ("attempts/[W]/node", "nobody", "there is no node nobody"),
    ("child_runs/[child]", "nobody", "there is no node nobody"),
    ("unsettled", ["nobody"], "there is no node nobody"),
    ("unsettled", ["R"], "left to Settle"),
    ("unsettled", ["P"], "left to Settle"),
    ("nodes/R/retry_ms", GONE, "left to Settle"),
    ("nodes/Q/queue/1", {"edge": 0, "source_sequence": OUTCOMES["P"]}, "not in order"),
    ("nodes/D/released", {}, "are not its prerequisites"),
    ("nodes/D/released/W", OUTCOMES["P"], "are not its prerequisites"),
    ("nodes/N/released", {"K": OUTCOMES["P"]}, "is none of K"),
    ("nodes/D/released/P", 2, "is none of P"),
    ("nodes/D/released", GONE, "activated before its dependencies"),
    ("outcomes/1", {"kind": "succeeded"}, "not among the events"),
    ("sequence", OUTCOMES["C"] - 1, "not among the events"),
    ("attempts/[P]/outcome", OUTCOMES["C"], "two attempts have one outcome"),
    ("attempts/[P]/outcome", 2, "has an outcome that is not there"),
    ("attempts/[P]/outcome", GONE, "has no outcome, and is not active"),
    ("child_runs/" + uuid(2), "K", "one of its ancestors"),
    ("child_runs/" + uuid(3), "P", "a handler has a child run"),
    ("attempts/[L]/completed/child_run_id", uuid(3), "ended by another run"),
    ("attempts/[K]/completed", {"child_run_id": NAMES["child"], "result": "failed"}, "ended by another run"),
    ("nodes/W/active", GONE, "with an attempt or without"),
    ("nodes/W/active/wait", GONE, "with a wait or without"),
    ("nodes/W/status", "running", "with a wait or without"),
    ("nodes/P/retry_ms", 9, "with a retry"),
    ("nodes/Q/active/attempt_id", uuid(3), "is none of it"),
    ("nodes/Q/active/attempt_id", NAMES["P"], "is none of it"),
    ("nodes/Q/active/attempt_id", NAMES["W"], "is none of it"),
    ("nodes/K/active/child_run_id", GONE, "has no child run"),
    ("nodes/K/active/child_run_id", uuid(3), "has no child run"),
    ("nodes/K/active/resolved", [{"kind": "timer", "deadline_ms": 1}], "waits or did"),
    ("nodes/Q/active/child_run_id", NAMES["child"], "has a handler, and a child run"),
    ("nodes/W/active/wait/name", "u", "declares no signal u"),
    ("nodes/W/active/resolved/0/signal_id", uuid(70), "was not accepted"),
    ("signals/" + uuid(71), GONE, "was not accepted"),
    ("nodes/Q/queue/0/edge", 4, "no edge 4 leads to Q"),
    ("nodes/E/activation/edge", 0, "no edge 0 leads to E"),
    ("nodes/E/activation/source_sequence", OUTCOMES["C"], "none of the source of the edge"),
    ("nodes/Q/activations", 1, "another number of activations"),
    ("nodes/Q/activations", 3, "another number of activations"),
    ("nodes/W/attempts", 0, "after 0 attempts"),
    ("nodes/R/attempts", 2, "after 2 attempts"),
    ("nodes/E/attempts", 3, "after 3 attempts"),
    ("nodes/P/attempts", 4, "P has 4 attempts"),
    ("nodes/P/outcome", GONE, "succeeded without an outcome"),
    ("nodes/X/outcome", GONE, "skipped without an outcome"),
    ("nodes/C/outcome", GONE, "changes_requested without an outcome"),
    ("nodes/R/outcome", GONE, "retry_pending without an outcome"),
    ("nodes/P/outcome", 2, "of P is not there"),
    ("nodes/P/outcome", OUTCOMES["C"], "is none of P"),
    ("nodes/P/closed", True, "is none of P"),
    ("nodes/X/closed", False, "is none of X"),
    ("nodes/C/status", "succeeded", "cannot be succeeded"),
    ("nodes/P/status", "pending", "cannot be pending"),
    ("outcomes/{R}/kind", "blocked", "cannot be retry_pending"),
    ("outcomes/{X}/kind", "blocked", "cannot be skipped"),
    ("nodes/X", {**WHOLE["nodes"]["X"], **QUEUED}, "an activation waits for X, which is skipped"),
    ("transitions_used", 61, "61 transitions are used of 60"),
    ("status", "completed", "not every node has ended"),
    ("status", "blocked", "not every node has ended"),
]  # fmt: skip


TITLES = [f"{at} {'gone' if value is GONE else repr(value)}"[:60] for at, value, _ in REFUSED]


@pytest.mark.parametrize(("at", "value", "expected"), REFUSED, ids=TITLES)
def test_a_document_one_edit_away_from_a_right_one_is_refused(at: str, value: Any, expected: str) -> None:
    for names, left, right in ((NAMES, "[", "]"), (OUTCOMES, "{", "}")):
        for name, text in names.items():
            at = at.replace(f"{left}{name}{right}", str(text))
    code, words = (expected, "") if "_" in expected and " " not in expected else ("wrong_content", expected)
    assert canonical_json(document_of_state(state_from(WHOLE, SPECIFICATION))) == canonical_json(WHOLE)
    with pytest.raises(HistoryError) as refused:
        state_from(changed(WHOLE, f"/{at}", value), SPECIFICATION)
    assert refused.value.code == code
    assert words in str(refused.value)
    assert isinstance(refused.value, Incompatible) == (code in {"unknown_version", "unknown_member"})


@pytest.mark.parametrize(
    ("at", "value"),
    [
        ("outcomes/{C}/reason", "r" * 4_096),
        ("outcomes/{P}/output/go", "x" * 65_527),
        ("nodes/W/active/resolved/0/payload", "x" * 65_534),
        ("transitions_used", 60),
        ("input/ticket", "x" * 983_027),
    ],
)
def test_a_document_at_its_limits_is_accepted(at: str, value: Any) -> None:
    for name, sequence in OUTCOMES.items():
        at = at.replace(f"{{{name}}}", str(sequence))
    found = changed(WHOLE, f"/{at}", value)
    assert canonical_json(document_of_state(state_from(found, SPECIFICATION))) == canonical_json(found)


@pytest.mark.parametrize(("status", "is_refused"), [("completed", False), ("running", True)])
def test_a_run_whose_nodes_have_all_ended_has_ended(status: str, is_refused: bool) -> None:
    run = Player(document(["A"]))
    run.run("A")
    created = run.history[0]
    assert isinstance(created, RunCreated)
    found: Any = {**document_of_state(run.now), "status": status}
    assert is_refused == (refusal_of(found, created.specification) == "18: every node has ended, and the run has not")


@pytest.mark.parametrize(
    ("members", "expected"),
    [({}, None), ({"status": "pending", "activations": 0}, "12: B is pending, and nothing keeps it from being ready")],
)
def test_a_node_that_is_free_is_not_pending(members: Document, expected: str | None) -> None:
    run = Player(document(["A", "B"]))
    created = run.history[0]
    assert isinstance(created, RunCreated)
    found = json.loads(canonical_json(document_of_state(run.now)))
    found["nodes"]["B"] |= members
    assert refusal_of(found, created.specification) == expected


@pytest.mark.parametrize(("gone", "expected"), [("", None), ("released", "12: B is pending, and nothing keeps it")])
def test_a_node_whose_dependencies_are_satisfied_is_released(gone: str, expected: str | None) -> None:
    run = Player(
        document(["A", node("B", dependencies=["A"]), "C"], [edge("C>B", "blocked")], initial_nodes=["A", "C"])
    )
    run.run("A")
    created = run.history[0]
    assert isinstance(created, RunCreated)
    found = json.loads(canonical_json(document_of_state(run.now)))
    assert found["nodes"]["B"]["status"] == "pending"
    found["nodes"]["B"].pop(gone, None)
    refused = refusal_of(found, created.specification)
    assert refused is expected is None or str(refused).startswith(str(expected))


@pytest.mark.parametrize(
    ("status", "expected"), [("ready", None), ("succeeded", "9: an activation waits for B, which is succeeded")]
)
def test_an_activation_waits_for_a_node_that_is_busy(status: str, expected: str | None) -> None:
    run = Player(document(["A", "B", "C"], [edge("A>B")], initial_nodes=["A", "B", "C"]))
    run.run("B")
    run.run("A")
    created = run.history[0]
    assert isinstance(created, RunCreated)
    found = json.loads(canonical_json(document_of_state(run.now)))
    if status != "ready":
        found["nodes"]["B"] |= {"status": status, "queue": [found["nodes"]["B"].pop("activation")]}
    assert refusal_of(found, created.specification) == expected


def refusal_of(found: Any, specification: JsonObject) -> str | None:
    try:
        state_from(found, specification)
    except Corruption as refused:
        return str(refused)
    return None
