"""Records one by one, the histories that they make, their limits and their older words: each fault with its twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.model.documents import ARTIFACT, GONE, changed
from tests.model.playing import RUN, Player, document, edge, node, uuid

from perdure.kernel.commands import (
    AcquireRecovery,
    AdvanceTime,
    CompleteAttempt,
    CompleteChild,
    CreateRun,
    DeliverSignal,
    OpenSignalWait,
    OpenTimerWait,
    Rejection,
    ReleaseRecovery,
    RequestCancellation,
    token_digest,
)
from perdure.kernel.consequences import owed
from perdure.kernel.decide import decide
from perdure.kernel.errors import Corruption, HistoryError, Incompatible
from perdure.kernel.events import (
    EVENTS,
    AnyEvent,
    CancellationRequested,
    ChildCompleted,
    Event,
    NodeBlocked,
    NodeFailed,
    NodeOutcomeCommitted,
    NodeReady,
    NodeStarted,
    NodeSucceeded,
    RecoveryAcquired,
    RecoveryReleased,
    RunCreated,
    SignalAccepted,
    SignalWaitOpened,
    TimerWaitOpened,
    VirtualTimeAdvanced,
)
from perdure.kernel.histories import states
from perdure.kernel.identity import AttemptId, EventId, Name, NodeId, OwnerId, RunId, SignalId
from perdure.kernel.limits import excess
from perdure.kernel.outcomes import ChangesRequested, Outcome, Succeeded, Unsuccessful
from perdure.kernel.records import Place, Record, decoded, document_of, event_of, sealed, verified
from perdure.kernel.reduce import reduce
from perdure.kernel.rules import RULES
from perdure.kernel.upcast import is_of_version, upcast
from perdure.kernel.values import Digest, canonical_json, digest, read_json

Document = dict[str, Any]

A, ATTEMPT, SIGNAL = NodeId("A"), AttemptId(uuid(11)), SignalId(uuid(12))


def event_id(number: int) -> EventId:
    return EventId(uuid(1_000_000 + number))


def stored(event: Document, **members: Any) -> Document:
    """Return an unsealed record."""
    return {
        "batch_index": 0,
        "batch_size": 1,
        "event": event,
        "event_id": uuid(21),
        "run_id": RUN,
        "schema_version": 5,
        "sequence": 7,
        **members,
    }


def line_of(unsealed: Document) -> bytes:
    return canonical_json({**unsealed, "checksum": digest(unsealed)})


def refusal_of(line: bytes) -> str | None:
    """Return the code with which both readers refuse a line; None if they read it."""
    codes: set[str | None] = set()
    for reader in (verified, decoded):
        try:
            reader(line)
            codes.add(None)
        except HistoryError as refused:
            codes.add(refused.code)
    (code,) = codes
    return code


# Records

STARTED: Document = {"type": "NodeStarted", "node": "A", "attempt_id": ATTEMPT, "attempt": 1}
WHOLE = stored(STARTED)


def test_what_is_sealed_is_read_again() -> None:
    events = (NodeStarted(node=A, attempt_id=ATTEMPT, attempt=1), VirtualTimeAdvanced(now_ms=5))
    lines = sealed(Place(RUN, 7, 4), events, [event_id(1), event_id(2)])
    for reader in (verified, decoded):
        first, second = map(reader, lines)
        assert first == Record(RUN, 7, event_id(1), 0, 2, 4, events[0], first.checksum)
        assert second == Record(RUN, 8, event_id(2), 1, 2, 4, events[1], second.checksum)
    value = read_json(lines[0])
    assert isinstance(value, dict)
    assert value.pop("checksum") == digest(value) == verified(lines[0]).checksum


@pytest.mark.parametrize(
    ("at", "value", "code"),
    [
        ("sequence", 0, "wrong_structure"),
        ("sequence", GONE, "wrong_structure"),
        ("sequence", True, "wrong_structure"),
        ("batch_size", 0, "wrong_structure"),
        ("batch_index", 1, "wrong_batch"),
        ("run_id", RUN.upper().replace("8", "A"), "wrong_structure"),
        ("event_id", "", "wrong_structure"),
        ("schema_version", 0, "unknown_version"),
        ("schema_version", 6, "unknown_version"),
        ("surplus", 1, "unknown_member"),
        ("event", None, "wrong_structure"),
        ("event", {}, "wrong_structure"),
        ("event/type", 1, "wrong_structure"),
        ("event/type", "NodeStopped", "unknown_type"),
        ("event/type", "NodeSucceeded", "unknown_type"),
        ("event/surplus", 1, "unknown_member"),
        ("event/deadline_ms", None, "wrong_structure"),
        ("event/deadline_ms", -1, "wrong_structure"),
        ("event/node", "", "wrong_structure"),
        ("event/node", GONE, "wrong_structure"),
    ],
)
def test_a_record_one_edit_away_from_a_right_one_is_refused(at: str, value: Any, code: str) -> None:
    assert refusal_of(line_of(WHOLE)) is None
    assert refusal_of(line_of(changed(WHOLE, f"/{at}", value))) == code


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (lambda line: line[:-1], "not_json"),
        (lambda line: b"[" + line + b"]", "wrong_structure"),
        (lambda line: line + b" ", "not_canonical"),
        (lambda line: line.replace(b'"sequence":7', b'"sequence":8'), "wrong_checksum"),
        (lambda line: line.replace(b'"node":"A"', b'"node":"A","node":"A"'), "not_json"),
        (lambda line: b"\xef\xbb\xbf" + line, "not_json"),
        (lambda _: b"\xff", "not_json"),
        (lambda _: b"", "not_json"),
        (lambda _: b"null", "wrong_structure"),
    ],
)
def test_a_line_one_edit_away_from_a_right_one_is_refused(edit: Callable[[bytes], bytes], code: str) -> None:
    assert refusal_of(edit(line_of(WHOLE))) == code


@pytest.mark.parametrize(
    ("member", "since", "event"),
    [
        ("deadline_ms", 4, {**STARTED, "deadline_ms": 5}),
        ("input", 3, {"type": "RunCreated", "run_id": RUN, "specification": {}, "content_hash": "0" * 64, "input": {}}),
    ],
)
def test_a_member_of_a_later_version_is_unknown(member: str, since: int, event: Document) -> None:
    for version in EVENTS:
        expected = "unknown_member" if version < since else None
        assert refusal_of(line_of(stored(event, schema_version=version))) == expected
        assert refusal_of(line_of(changed(stored(event, schema_version=version), f"/event/{member}", GONE))) is None


@pytest.mark.parametrize("kind", [NodeSucceeded, NodeOutcomeCommitted])
def test_an_event_is_decoded_by_its_version(kind: type[Event]) -> None:
    outcome = {} if kind is NodeSucceeded else {"outcome": {"kind": "succeeded"}}
    event: Document = {"type": kind.__name__, "node": "A", "attempt_id": ATTEMPT, **outcome}
    for version, kinds in EVENTS.items():
        if kind in kinds:
            assert document_of(event_of(event, version)) == event
        else:
            with pytest.raises(Incompatible) as refused:
                event_of(event, version)
            assert refused.value.code == "unknown_type"


def with_size(event: Document, size: int, *path: str) -> bytes:
    """Return the line of a record that has so many bytes, by a text at a place in its event."""
    pointer = "/event/" + "/".join(path)
    short = len(line_of(changed(stored(event), pointer, "")))
    line = line_of(changed(stored(event), pointer, "x" * (size - short)))
    assert len(line) == size
    return line


MIB = 2**20
CREATED: Document = {"type": "RunCreated", "run_id": RUN, "specification": {}, "content_hash": "0" * 64}
CHILD: Document = {
    "type": "ChildCompleted",
    "node": "A",
    "attempt_id": ATTEMPT,
    "child_run_id": uuid(3),
    "result": "completed",
    "output": {},
}


def test_a_record_that_creates_a_run_has_at_most_16_mib() -> None:
    assert refusal_of(with_size(CREATED, 16 * MIB, "specification", "x")) is None
    assert refusal_of(with_size(CREATED, 16 * MIB + 1, "specification", "x")) == "over_limit"


def test_any_other_record_has_at_most_1_mib() -> None:
    """What is in such a record reaches its own limit before, so the sentence says which one was exceeded."""
    with pytest.raises(Corruption, match="the output has"):
        verified(with_size(CHILD, MIB, "output", "x"))
    with pytest.raises(Corruption, match="the record has 1048577 bytes, and may have 1048576"):
        verified(with_size(CHILD, MIB + 1, "output", "x"))


def test_a_record_that_cancels_a_run_may_be_large() -> None:
    targets = [{"node": f"n{number}", "attempt_id": uuid(number)} for number in range(16_000)]
    event = {"type": "CancellationRequested", "requester": "x", "reason": "", "now_ms": 0, "policy": "cascade"}
    line = line_of(stored({**event, "targets": targets}))
    assert len(line) > MIB
    assert refusal_of(line) is None


# Limits


def committed(outcome: Outcome) -> NodeOutcomeCommitted:
    return NodeOutcomeCommitted(node=A, attempt_id=ATTEMPT, outcome=outcome)


def completing(outcome: Outcome) -> CompleteAttempt:
    return CompleteAttempt(node=A, attempt_id=ATTEMPT, outcome=outcome)


def with_output(output: Any) -> Outcome:
    return Succeeded(kind="succeeded", output=output)


def wanting(reason: str, output: Any = None) -> Outcome:
    return ChangesRequested(kind="changes_requested", reason=reason, output=output)


def cancelling(reason: str) -> CancellationRequested:
    return CancellationRequested(requester="x", reason=reason, now_ms=0, policy="cascade")


def accepting(payload: Any) -> SignalAccepted:
    return SignalAccepted(node=A, attempt_id=ATTEMPT, signal_id=SIGNAL, name=Name("s"), payload=payload)


def delivering(payload: Any) -> DeliverSignal:
    return DeliverSignal(node=A, signal_id=SIGNAL, name=Name("s"), token_sha256=Digest("0" * 64), payload=payload)


def completed(output: Any) -> ChildCompleted:
    return ChildCompleted(
        node=A, attempt_id=ATTEMPT, child_run_id=RunId(uuid(3)), result="completed", output={"x": output}
    )


def child_completing(output: Any) -> CompleteChild:
    return CompleteChild(
        node=A, attempt_id=ATTEMPT, child_run_id=RunId(uuid(3)), result="completed", output={"x": output}
    )


def created(given: Any) -> RunCreated:
    return RunCreated(run_id=RUN, specification={}, content_hash=Digest("0" * 64), input={"x": given})


def creating(given: Any) -> CreateRun:
    return CreateRun(run_id=RUN, specification={}, input={"x": given})


INLINE: list[Callable[[Any], Any]] = [
    lambda output: committed(with_output(output)),
    lambda output: completing(with_output(output)),
    lambda output: committed(wanting("", output)),
    lambda output: NodeSucceeded(node=A, attempt_id=ATTEMPT, output=output),
    accepting,
    delivering,
]
FIELDS: list[Callable[[Any], Any]] = [completed, child_completing, created, creating]
REASONS: list[Callable[[str], Any]] = [
    lambda reason: committed(Unsuccessful(kind="blocked", reason=reason)),
    lambda reason: completing(Unsuccessful(kind="blocked", reason=reason)),
    lambda reason: committed(wanting(reason)),
    lambda reason: NodeFailed(node=A, attempt_id=ATTEMPT, reason=reason),
    lambda reason: NodeBlocked(node=A, attempt_id=ATTEMPT, reason=reason),
    cancelling,
    lambda reason: RequestCancellation(requester="x", reason=reason),
]


@pytest.mark.parametrize("make", INLINE)
@pytest.mark.parametrize("character", ["x", "é", "\u2028", "\U0001f600", "\x00"])
def test_inline_values_have_at_most_65536_bytes_in_canonical_form(make: Callable[[Any], Any], character: str) -> None:
    size = len(canonical_json(character)) - 2
    room, left = divmod(65_534, size)
    assert excess(make(character * room + "x" * left)) is None
    assert excess(make(character * room + "x" * (left + 1))) is not None


@pytest.mark.parametrize("make", INLINE)
def test_inline_numbers_are_measured_as_they_are_written(make: Callable[[Any], Any]) -> None:
    assert excess(make([1.0] * 32_766 + [11])) is None
    assert excess(make([1.0] * 32_766 + [111])) is not None


@pytest.mark.parametrize("make", FIELDS)
def test_fields_of_runs_have_at_most_983040_bytes(make: Callable[[Any], Any]) -> None:
    assert excess(make("x" * (983_040 - 8))) is None
    assert excess(make("x" * (983_040 - 7))) is not None


@pytest.mark.parametrize("make", REASONS)
@pytest.mark.parametrize("character", ["x", "é", "\u2028", "\U0001f600", "\ud800"])
def test_reasons_have_at_most_4096_bytes_of_utf_8(make: Callable[[str], Any], character: str) -> None:
    size = len(character.encode("utf-8", "surrogatepass"))
    room, left = divmod(4_096, size)
    assert excess(make(character * room + "x" * left)) is None
    assert excess(make(character * room + "x" * (left + 1))) is not None


@pytest.mark.parametrize("make", [*INLINE, *FIELDS])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800"], ids=ascii)
def test_what_is_no_durable_json_is_over_the_limit(make: Callable[[Any], Any], value: Any) -> None:
    assert excess(make([0])) is None
    assert excess(make([value])) is not None


def nested(depth: int, bracket: str) -> Any:
    """Return arrays or objects in each other, so deep."""
    value: Any = [] if bracket == "[]" else {}
    for _ in range(depth - 1):
        value = [value] if bracket == "[]" else {"a": value}
    return value


@pytest.mark.parametrize("bracket", ["[]", "{}"])
def test_values_nest_at_most_90_deep(bracket: str) -> None:
    for make in INLINE:
        assert excess(make(nested(90, bracket))) is None
        assert "deep" in str(excess(make(nested(91, bracket))))
    for make in FIELDS:
        assert excess(make(nested(89, bracket))) is None
        assert "deep" in str(excess(make(nested(90, bracket))))
        assert "deep" in str(excess(make(nested(20_000, bracket))))


TIMES: list[Callable[[int], Any]] = [
    lambda time: VirtualTimeAdvanced(now_ms=time),
    lambda time: AdvanceTime(now_ms=time),
    lambda time: TimerWaitOpened(node=A, attempt_id=ATTEMPT, deadline_ms=time),
    lambda time: OpenTimerWait(node=A, attempt_id=ATTEMPT, deadline_ms=time),
    lambda time: SignalWaitOpened(
        node=A, attempt_id=ATTEMPT, name=Name("s"), token_sha256=token_digest(""), deadline_ms=time
    ),
    lambda time: OpenSignalWait(
        node=A, attempt_id=ATTEMPT, name=Name("s"), token_sha256=token_digest(""), deadline_ms=time
    ),
]
OWNER = OwnerId(uuid(4))
EPOCHS: list[Callable[[int], Any]] = [
    lambda epoch: RecoveryAcquired(owner=OWNER, epoch=epoch),
    lambda epoch: AcquireRecovery(owner=OWNER, epoch=epoch),
    lambda epoch: RecoveryReleased(owner=OWNER, epoch=epoch),
    lambda epoch: ReleaseRecovery(owner=OWNER, epoch=epoch),
]


@pytest.mark.parametrize(("makers", "least"), [(TIMES, 0), (EPOCHS, 1)])
def test_times_and_epochs_are_those_that_a_record_can_say(makers: list[Callable[[int], Any]], least: int) -> None:
    for make in makers:
        assert [excess(make(number)) for number in (least, least + 1, 2**53 - 1)] == [None] * 3
        assert all(excess(make(number)) for number in (least - 1, -(2**60), 2**53))


def test_a_wait_without_an_end_has_no_number() -> None:
    assert excess(msgspec.structs.replace(TIMES[4](0), deadline_ms=None)) is None


def test_what_no_record_can_hold_is_neither_given_nor_followed() -> None:
    run = Player(document([node("A", signals=["s"])]))
    run.do(AcquireRecovery(owner=OWNER, epoch=1))
    run.start("A")
    before = run.now
    assert run.advance(2**53) == run.advance(-1) == run.wait_until("A", 2**53) == ["! over_limit"]
    assert run.do(AcquireRecovery(owner=OWNER, epoch=2**53)) == ["! over_limit"]
    assert run.end("A", output=float("nan")) == ["! over_limit"]
    assert run.now is before
    for event in (VirtualTimeAdvanced(now_ms=2**53), committed(with_output(nested(91, "[]")))):
        with pytest.raises(HistoryError) as refused:
            reduce(before, event)
        assert refused.value.code == "over_limit"
    assert run.advance(2**53 - 1) == ["VirtualTimeAdvanced"]


def test_a_repeated_command_with_what_no_record_can_hold_is_another_one() -> None:
    run = Player(document(["A"]))
    run.start("A")
    attempt = run.attempt("A")
    run.end("A", output=1)
    for output, code in ((1, "already_committed"), (1.0, "already_committed"), (float("nan"), "conflicting_outcome")):
        assert run.do(CompleteAttempt(node=A, attempt_id=attempt, outcome=with_output(output))) == [f"! {code}"]
    strange = {**document(["A"]), "nodes": float("inf")}
    assert run.do(CreateRun(run_id=RUN, specification=strange)) == ["! run_conflict"]
    refused = decide(None, CreateRun(run_id=RUN, specification=strange))
    assert isinstance(refused, Rejection)
    assert refused.code == "invalid_specification"


def test_output_is_given_once() -> None:
    artifact = event_of(
        {"type": "NodeOutcomeCommitted", "node": "A", "outcome": {"kind": "succeeded", "artifact": ARTIFACT}}, 5
    )
    assert isinstance(artifact, NodeOutcomeCommitted)
    assert excess(artifact) is None
    assert isinstance(artifact.outcome, Succeeded)
    twice = msgspec.structs.replace(artifact.outcome, output=None)
    assert excess(committed(twice)) == "Give `output` or `artifact`, not both."


@pytest.mark.parametrize(
    "subject", [AdvanceTime(now_ms=1), NodeReady(node=A, cause="initial"), NodeSucceeded(node=A, attempt_id=ATTEMPT)]
)
def test_what_carries_nothing_has_no_limit(subject: Any) -> None:
    assert excess(subject) is None


# Older words

OLDER: list[tuple[AnyEvent, Outcome]] = [
    (NodeSucceeded(node=A, attempt_id=ATTEMPT, output={"x": 1}), with_output({"x": 1})),
    (NodeSucceeded(node=A, attempt_id=ATTEMPT, output=None), with_output(None)),
    (NodeSucceeded(node=A, attempt_id=ATTEMPT), Succeeded(kind="succeeded")),
    (NodeFailed(node=A, attempt_id=ATTEMPT, reason="why"), Unsuccessful(kind="permanent_failure", reason="why")),
    (NodeBlocked(node=A, attempt_id=ATTEMPT, reason="why"), Unsuccessful(kind="blocked", reason="why")),
]


@pytest.mark.parametrize(("older", "outcome"), OLDER)
def test_an_older_fact_is_told_in_the_newest_words(older: AnyEvent, outcome: Outcome) -> None:
    assert upcast(older) == committed(outcome)
    assert upcast(upcast(older)) == upcast(older)
    assert [version for version in EVENTS if is_of_version(older, version)] == [1]
    assert all(is_of_version(upcast(older), version) for version in EVENTS)


@pytest.mark.parametrize(
    "event",
    [
        NodeOutcomeCommitted(node=A, outcome=Unsuccessful(kind="blocked", reason="")),
        committed(Unsuccessful(kind="cancelled", reason="")),
        committed(wanting("")),
    ],
)
def test_what_version_1_could_not_say_is_not_of_it(event: NodeOutcomeCommitted) -> None:
    assert [version for version in EVENTS if is_of_version(event, version)] == [2, 3, 4, 5]


def test_evidence_came_after_version_1() -> None:
    event = event_of(
        {"type": "NodeOutcomeCommitted", "node": "A", "attempt_id": ATTEMPT, "outcome": {"kind": "succeeded"}}, 5
    )
    assert is_of_version(event, 1)
    with_evidence: Document = {**document_of(event), "outcome": {"kind": "succeeded", "evidence": [ARTIFACT]}}
    assert not is_of_version(event_of(with_evidence, 5), 1)


def test_every_other_event_keeps_its_words() -> None:
    event = VirtualTimeAdvanced(now_ms=1)
    assert upcast(event) is event
    assert [version for version in EVENTS if is_of_version(event, version)] == [4, 5]


# Histories


def history() -> list[Record]:
    """Return the records of a run, in four batches: two nodes, one after the other."""
    run = Player(document(["A", node("B", dependencies=["A"]), "C"], [edge("B>C")], initial_nodes=["A"]))
    run.run("A")
    run.start("B")
    lines, sequence = [], 1
    for batch in run.batches:
        lines += sealed(Place(RUN, sequence), batch, [event_id(sequence + index) for index in range(len(batch))])
        sequence += len(batch)
    return [verified(line) for line in lines]


def test_a_whole_history_gives_a_state_after_each_record() -> None:
    records = history()
    found = list(states(records))
    assert [state.sequence for state in found] == list(range(1, len(records) + 1))
    assert owed(found[-1], RULES) is None
    assert list(states([])) == []


def altered(position: int, **members: Any) -> list[Record]:
    records = history()
    records[position] = msgspec.structs.replace(records[position], **members)
    return records


OTHER = RunId(uuid(2))

FAULTS: list[tuple[list[Record], str, int]] = [
    (history()[1:], "gap", 2),
    ([history()[0], *history()[2:]], "gap", 2),
    ([*history()[:2], history()[1], *history()[2:]], "gap", 3),
    (altered(0, sequence=2), "gap", 2),
    (altered(1, run_id=OTHER), "wrong_run", 2),
    ([msgspec.structs.replace(record, run_id=OTHER) for record in history()], "wrong_run", 1),
    (altered(2, event_id=history()[0].event_id), "event_id_used", 3),
    (altered(1, batch_index=0), "wrong_batch", 2),
    (altered(1, batch_size=3), "wrong_batch", 2),
    (altered(1, recorded_version=4), "wrong_batch", 2),
    (altered(0, batch_index=1, batch_size=3), "wrong_batch", 1),
    (altered(0, batch_size=1), "incomplete_batch", 1),
    (altered(2, batch_size=2), "wrong_batch", 4),
    ([*altered(2, batch_size=2)[:3], *altered(3, batch_index=1, batch_size=2)[3:]], "nothing_owed", 4),
    (history()[:1], "incomplete_batch", 2),
    (history()[:4], "incomplete_batch", 5),
    (altered(2, recorded_version=4), "version_went_down", 3),
    (altered(0, recorded_version=6), "unknown_version", 1),
    (altered(1, event=history()[2].event), "something_else_owed", 2),
    (altered(0, event=history()[1].event), "no_run", 1),
    (altered(2, event=history()[0].event), "run_conflict", 3),
    (altered(2, event=history()[1].event), "nothing_owed", 3),
    (altered(3, recorded_version=4), "version_went_down", 4),
]


@pytest.mark.parametrize(
    ("records", "code", "sequence"), FAULTS, ids=[f"{number} {code}" for number, (_, code, _) in enumerate(FAULTS)]
)
def test_a_history_with_one_fault_is_refused_there(records: list[Record], code: str, sequence: int) -> None:
    with pytest.raises(HistoryError) as refused:
        list(states(records))
    assert (refused.value.code, refused.value.sequence) == (code, sequence)
    assert str(refused.value)
