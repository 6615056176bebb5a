"""What every journal answers, as one table of calls and answers for all journals of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import pytest
from tests.model.helpers import (
    MAX,
    MIB,
    OTHER_OWNER,
    OTHER_RUN,
    OWNER,
    RUN,
    Store,
    acknowledged,
    acknowledged_batch,
    batch,
    event_id,
    everything,
    plain,
    record,
)

from perdure.journal.contract import (
    BUILT_IN_LIMITS,
    FLOOR,
    Acknowledged,
    Acknowledgement,
    AppendAnswer,
    Capabilities,
    Corrupt,
    Done,
    Envelope,
    EventIdConflict,
    Granted,
    Held,
    InvalidRecord,
    Limits,
    NoSnapshot,
    NotStored,
    Page,
    Renewed,
    SequenceConflict,
    Snapshot,
    StaleEpoch,
    TooLarge,
    Unavailable,
    acknowledge,
    invalid_or_too_large,
    utf8_bytes,
)
from perdure.kernel.identity import EventId, RunId

# The words


@pytest.mark.parametrize(
    ("answer", "wire"),
    [
        (
            Acknowledged((Acknowledgement(1, EventId("e1")), Acknowledgement(2, EventId("e2")))),
            {"acknowledged": [{"sequence": 1, "event_id": "e1"}, {"sequence": 2, "event_id": "e2"}]},
        ),
        (InvalidRecord(), {"refused": "invalid_record"}),
        (TooLarge(), {"refused": "too_large"}),
        (StaleEpoch(), {"refused": "stale_epoch"}),
        (EventIdConflict(), {"refused": "event_id_conflict"}),
        (SequenceConflict(actual_next=4), {"refused": "sequence_conflict", "actual_next": 4}),
        (NotStored(), {"refused": "not_stored"}),
        (Unavailable(detail="the disk is gone"), {"refused": "unavailable", "detail": "the disk is gone"}),
        (Corrupt(sequence=7), {"refused": "corrupt", "sequence": 7}),
        (Held(), {"refused": "held"}),
        (
            Page((Envelope(1, EventId("e1"), "x"),), end=True),
            {"records": [{"sequence": 1, "event_id": "e1", "body": "x"}], "end": True},
        ),
        (Done(), {}),
        (Snapshot(3, "state"), {"sequence": 3, "body": "state"}),
        (NoSnapshot(), {"none": True}),
        (Granted(2, 100), {"epoch": 2, "until_ms": 100}),
        (Renewed(100), {"until_ms": 100}),
    ],
)
def test_an_answer_has_the_words_of_the_protocol(answer: msgspec.Struct, wire: dict[str, object]) -> None:
    assert msgspec.json.decode(msgspec.json.encode(answer)) == wire


def test_what_is_not_claimed_is_left_out() -> None:
    assert msgspec.to_builtins(Capabilities()) == {}
    assert msgspec.to_builtins(Capabilities(exact_replay=True, durable="ordered")) == {
        "exact_replay": True,
        "durable": "ordered",
    }


def test_every_journal_takes_at_least_1000_records_and_1_mib() -> None:
    assert Limits(max_batch_records=1_000, max_batch_bytes=1_048_576, max_snapshot_bytes=1_048_576) == FLOOR


def test_the_built_in_journals_take_65536_records_and_64_mib() -> None:
    assert (
        Limits(max_batch_records=65_536, max_batch_bytes=67_108_864, max_snapshot_bytes=67_108_864) == BUILT_IN_LIMITS
    )


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [("", 0), ("a", 1), ("\x00", 1), ("é", 2), ("\N{EURO SIGN}", 3), ("\N{GRINNING FACE}", 4), ("\ud800", 3)],
)
def test_a_size_is_counted_in_utf_8(text: str, size_bytes: int) -> None:
    assert utf8_bytes(text) == size_bytes


def test_an_acknowledgement_names_each_record_in_order() -> None:
    assert acknowledge([record(3, 30), record(4, 40)]) == Acknowledged(
        (
            Acknowledgement(3, EventId("00000000-0000-4000-8000-00000000001e")),
            Acknowledgement(4, EventId("00000000-0000-4000-8000-000000000028")),
        )
    )


SMALL = Limits(max_batch_records=2, max_batch_bytes=6, max_snapshot_bytes=1)


@pytest.mark.parametrize("records", [batch(5, 6, "abc"), [record(5, 5, "abcdef")], [record(5, 5, "ééé")], batch(5, 5)])
def test_a_batch_up_to_the_limits_is_fine(records: Sequence[Envelope]) -> None:
    assert invalid_or_too_large(5, records, SMALL) is None


@pytest.mark.parametrize(
    ("records", "detail"),
    [
        (batch(5, 7, "a"), "3 records of 3 bytes; at most 2 of 6 bytes fit"),
        ([record(5, 5, "abcdefg")], "1 records of 7 bytes; at most 2 of 6 bytes fit"),
        (batch(5, 6, "abcd"), "2 records of 8 bytes; at most 2 of 6 bytes fit"),
        ([record(5, 5, "éééé")], "1 records of 8 bytes; at most 2 of 6 bytes fit"),
    ],
)
def test_a_batch_beyond_the_limits_is_too_large(records: Sequence[Envelope], detail: str) -> None:
    assert invalid_or_too_large(5, records, SMALL) == TooLarge(detail=detail)


# Refusals and their order


@dataclass(frozen=True)
class Call:
    """One append, and what is answered on a run that holds 1, 2 and 3, 4 and whose highest epoch is 2."""

    name: str
    expected_next: int
    records: Callable[[], Sequence[Envelope]]
    epoch: int | None
    answer: AppendAnswer


def of(*records: Envelope) -> Callable[[], Sequence[Envelope]]:
    return lambda: records


def too_many() -> Sequence[Envelope]:
    return batch(5, 65_541, "x")


def too_long(sequence: int, event: int) -> Callable[[], Sequence[Envelope]]:
    """One record, one byte beyond 64 MiB. Built when it is needed."""
    return lambda: [record(sequence, event, "x" * (64 * MIB + 1))]


def malformed(text: str, sequence: int = 5) -> Envelope:
    return Envelope(sequence, EventId(text), "body")


STALE = StaleEpoch()
INVALID = InvalidRecord()
NEXT = SequenceConflict(actual_next=5)

CALLS = [
    # One fault
    Call("an empty batch", 5, of(), 2, INVALID),
    Call("an empty batch at 1", 1, of(), None, INVALID),
    Call("a sequence below the expected one", 5, of(record(4, 9)), 2, INVALID),
    Call("a sequence above the expected one", 5, of(record(6, 9)), 2, INVALID),
    Call("a gap within the batch", 5, of(record(5, 5), record(7, 7)), 2, INVALID),
    Call("a sequence twice", 5, of(record(5, 5), record(5, 6)), 2, INVALID),
    Call("sequences in reverse", 5, of(record(6, 6), record(5, 5)), 2, INVALID),
    Call("no event id", 5, of(malformed("")), 2, INVALID),
    Call("an uppercase event id", 5, of(malformed("018F3A5C-0000-7000-8000-0000000000E1")), 2, INVALID),
    Call("a braced event id", 5, of(malformed("{018f3a5c-0000-7000-8000-0000000000e1}")), 2, INVALID),
    Call("an event id and a line feed", 5, of(malformed("018f3a5c-0000-7000-8000-0000000000e1\n")), 2, INVALID),
    Call("an event id without hyphens", 5, of(malformed("018f3a5c0000700080000000000000e1")), 2, INVALID),
    Call("a malformed event id second", 5, of(record(5, 5), malformed("x", 6)), 2, INVALID),
    Call("an event id twice in the batch", 5, of(record(5, 5), record(6, 5)), 2, INVALID),
    Call("an event id twice, far apart", 5, of(record(5, 5), record(6, 6), record(7, 5)), 2, INVALID),
    Call("an empty body", 5, of(record(5, 5, "")), 2, INVALID),
    Call("an empty body last", 5, of(record(5, 5), record(6, 6, "")), 2, INVALID),
    Call("a body with a lone surrogate", 5, of(record(5, 5, "\ud800")), 2, INVALID),
    Call("one record too many", 5, too_many, 2, TooLarge()),
    Call("one byte too many", 5, too_long(5, 5), 2, TooLarge()),
    Call("a lower epoch", 5, of(record(5, 5)), 1, STALE),
    Call("epoch 0", 5, of(record(5, 5)), 0, STALE),
    Call("no epoch", 5, of(record(5, 5)), None, STALE),
    Call("a stored event id with another body", 5, of(record(5, 1)), 2, EventIdConflict()),
    Call("a stored record at another sequence", 5, of(record(5, 4)), 2, EventIdConflict()),
    Call("a stored position with another body", 4, of(record(4, 4, "other")), 2, EventIdConflict()),
    Call("a stored event id in a new batch, first", 5, of(record(5, 4), record(6, 6)), 2, EventIdConflict()),
    Call("a stored event id in a new batch, last", 5, of(record(5, 5), record(6, 1)), 2, EventIdConflict()),
    Call("a batch that is partly stored", 4, of(record(4, 4), record(5, 5)), 2, EventIdConflict()),
    Call("the first position of a run that exists", 1, of(record(1, 9)), 2, NEXT),
    Call("a position before the next", 4, of(record(4, 9)), 2, NEXT),
    Call("a position after the next", 6, of(record(6, 9)), 2, NEXT),
    Call("the last position", MAX, of(record(MAX, 9)), 2, NEXT),
    # No fault
    Call("an exact replay of the first batch", 1, of(record(1, 1), record(2, 2)), 2, acknowledged((1, 1), (2, 2))),
    Call("an exact replay of the last batch", 3, of(record(3, 3), record(4, 4)), 2, acknowledged((3, 3), (4, 4))),
    Call("an exact replay under a higher epoch", 3, of(record(3, 3), record(4, 4)), 3, acknowledged((3, 3), (4, 4))),
    # Two faults: the first of the order is answered
    Call("too large and invalid", 5, too_long(6, 6), 2, INVALID),
    Call("stale and invalid", 5, of(record(5, 5, "")), 1, INVALID),
    Call("stored and invalid", 3, of(record(3, 3), record(4, 4), record(5, 5, "")), 2, INVALID),
    Call("conflicting by event id and invalid", 5, of(record(5, 1), record(6, 1)), 2, INVALID),
    Call("conflicting by sequence and invalid", 7, of(record(7, 7), record(9, 9)), 2, INVALID),
    Call("stale and too large", 5, too_long(5, 5), 1, TooLarge()),
    Call("conflicting by event id and too large", 5, too_long(5, 1), 2, TooLarge()),
    Call("conflicting by sequence and too large", 6, too_long(6, 6), 2, TooLarge()),
    Call("stored and stale", 1, of(record(1, 1), record(2, 2)), 1, STALE),
    Call("conflicting by event id and stale", 5, of(record(5, 1)), 1, STALE),
    Call("conflicting by sequence and stale", 4, of(record(4, 9)), None, STALE),
    Call("conflicting by sequence and event id, before the next", 2, of(record(2, 1)), 2, EventIdConflict()),
    Call("conflicting by sequence and event id, after the next", 9, of(record(9, 1)), 2, EventIdConflict()),
    Call("conflicting by sequence and event id, at 1", 1, of(record(1, 1, "other")), 2, EventIdConflict()),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_an_append_is_answered_by_the_first_rule_that_applies_and_stores_nothing(
    grown_store: Store, call: Call
) -> None:
    answer = grown_store.append(RUN, call.expected_next, call.records(), call.epoch)
    assert plain(answer) == call.answer
    assert everything(grown_store) == batch(1, 4)


def test_a_new_run_begins_at_1_only(store: Store) -> None:
    assert store.append(RUN, 2, batch(2, 2)) == SequenceConflict(actual_next=1)
    assert everything(store) == []
    assert store.append(RUN, 1, batch(1, 1)) == acknowledged_batch(1, 1)


def test_an_invalid_batch_begins_no_run(store: Store) -> None:
    assert plain(store.append(RUN, 1, [record(1, 1), record(2, 1)])) == INVALID
    assert store.append(RUN, 1, batch(1, 1)) == acknowledged_batch(1, 1)


def test_an_event_id_that_another_run_holds_is_no_conflict(store: Store) -> None:
    assert store.append(RUN, 1, batch(1, 2)) == acknowledged_batch(1, 2)
    assert store.append(OTHER_RUN, 1, [record(1, 2, "theirs")]) == acknowledged((1, 2))
    assert everything(store, RUN) == batch(1, 2)
    assert everything(store, OTHER_RUN) == [record(1, 2, "theirs")]


def test_a_refused_event_id_is_not_remembered(store: Store) -> None:
    assert store.append(RUN, 1, batch(1, 1)) == acknowledged_batch(1, 1)
    assert store.append(RUN, 4, [record(4, 9)]) == SequenceConflict(actual_next=2)
    assert store.append(RUN, 2, [record(2, 9)]) == acknowledged((2, 9))


def test_a_record_sent_again_alone_is_acknowledged(store: Store) -> None:
    # The specification leaves the choice for a part of a batch; these journals acknowledge.
    assert store.append(RUN, 1, batch(1, 3)) == acknowledged_batch(1, 3)
    assert store.append(RUN, 2, batch(2, 2)) == acknowledged_batch(2, 2)
    assert everything(store) == batch(1, 3)


AWKWARD = [
    "\x00",
    "a\x00b",
    "\u2028\u2029\x85",
    "\r\n\t\x1a\x7f",
    "\ufeff\ufffe\uffff",
    "e\u0301\u00e9",
    "\N{GRINNING FACE}",
    "' OR 1=1; --",
    " ",
    "1.0",
    "null",
]


def test_a_body_is_loaded_character_by_character_as_it_was_appended(store: Store) -> None:
    records = [record(index, index, body) for index, body in enumerate(AWKWARD, 1)]
    store.append(RUN, 1, records)
    assert [kept.body for kept in everything(store)] == AWKWARD
    assert isinstance(store.append(RUN, 1, records), Acknowledged)


def test_a_batch_of_exactly_the_most_records_is_acknowledged(store: Store) -> None:
    assert store.append(RUN, 1, batch(1, 65_536)) == acknowledged_batch(1, 65_536)
    assert store.load(RUN, 65_536, 9) == Page((record(65_536, 65_536),), end=True)


def test_a_batch_of_exactly_the_most_bytes_is_acknowledged(store: Store) -> None:
    body = "x" * (32 * MIB)
    assert store.append(RUN, 1, batch(1, 2, body)) == acknowledged_batch(1, 2)
    assert store.load(RUN, 2, 1) == Page((record(2, 2, body),), end=True)


# Pages


@pytest.mark.parametrize(
    ("from_sequence", "limit", "first", "last", "end"),
    [
        (1, 1, 1, 1, False),
        (1, 3, 1, 3, False),
        (1, 4, 1, 4, True),
        (1, 5, 1, 4, True),
        (1, MAX, 1, 4, True),
        (2, 1, 2, 2, False),
        (2, 2, 2, 3, False),
        (2, 3, 2, 4, True),
        (3, 2, 3, 4, True),
        (4, 1, 4, 4, True),
        (4, 9, 4, 4, True),
        (5, 1, 5, 4, True),
        (6, 9, 6, 5, True),
        (MAX, 1, MAX, 0, True),
    ],
)
def test_a_page_holds_up_to_its_limit_and_tells_whether_it_is_the_last(
    grown_store: Store, from_sequence: int, limit: int, first: int, last: int, *, end: bool
) -> None:
    assert grown_store.load(RUN, from_sequence, limit) == Page(tuple(batch(first, last)), end=end)


def test_an_unknown_run_ends_at_once(store: Store) -> None:
    store.append(OTHER_RUN, 1, batch(1, 2))
    assert store.load(RUN, 1, 9) == Page((), end=True)
    assert store.load(RUN, 2, 1) == Page((), end=True)


# Snapshots


def test_a_run_has_no_snapshot_until_one_is_saved_for_it(store: Store) -> None:
    store.append(RUN, 1, batch(1, 2))
    assert store.load_snapshot(RUN) == NoSnapshot()
    assert store.save_snapshot(OTHER_RUN, 2, "theirs") == Done()
    assert store.load_snapshot(RUN) == NoSnapshot()
    assert store.load_snapshot(OTHER_RUN) == Snapshot(2, "theirs")


def test_a_snapshot_takes_the_place_of_the_one_before(store: Store) -> None:
    assert store.save_snapshot(RUN, 2, "before") == Done()
    assert store.save_snapshot(RUN, 5, "after") == Done()
    assert store.load_snapshot(RUN) == Snapshot(5, "after")


@pytest.mark.parametrize("body", ["", *AWKWARD])
def test_a_snapshot_keeps_its_position_and_its_characters(store: Store, body: str) -> None:
    assert store.save_snapshot(RUN, MAX, body) == Done()
    assert store.load_snapshot(RUN) == Snapshot(MAX, body)


def test_a_snapshot_of_exactly_the_most_bytes_is_saved_and_of_more_is_too_large(store: Store) -> None:
    body = "x" * (64 * MIB)
    assert store.save_snapshot(RUN, 1, body) == Done()
    assert plain(store.save_snapshot(RUN, 2, body + "x")) == TooLarge()
    assert store.load_snapshot(RUN) == Snapshot(1, body)


def test_a_snapshot_is_no_record(store: Store) -> None:
    store.save_snapshot(RUN, 5, "state")
    assert everything(store) == []
    assert store.append(RUN, 1, batch(1, 1)) == acknowledged_batch(1, 1)


# Leases


@dataclass(frozen=True)
class Acquire:
    now_ms: int
    ttl_ms: int = 100
    run_id: RunId = RUN
    owner: str = OWNER


@dataclass(frozen=True)
class Renew:
    epoch: int
    now_ms: int
    ttl_ms: int = 100


@dataclass(frozen=True)
class Release:
    epoch: int


@dataclass(frozen=True)
class Append:
    sequence: int
    epoch: int | None
    run_id: RunId = RUN


Step = Acquire | Renew | Release | Append
HELD = Held()


def perform(store: Store, step: Step) -> msgspec.Struct:
    match step:
        case Acquire(now_ms, ttl_ms, run_id, owner):
            return plain(store.acquire(run_id, OWNER if owner == OWNER else OTHER_OWNER, ttl_ms, now_ms))
        case Renew(epoch, now_ms, ttl_ms):
            return plain(store.renew(RUN, epoch, ttl_ms, now_ms))
        case Release(epoch):
            return plain(store.release(RUN, epoch))
        case Append(sequence, epoch, run_id):
            return plain(store.append(run_id, sequence, batch(sequence, sequence), epoch))


STORED = {sequence: acknowledged((sequence, sequence)) for sequence in range(1, 6)}

SCRIPTS: dict[str, list[tuple[Step, msgspec.Struct]]] = {
    "a lease is held until its last instant, by its own owner too": [
        (Acquire(0), Granted(1, 100)),
        (Acquire(0), HELD),
        (Acquire(99, owner=OTHER_OWNER), HELD),
        (Acquire(100), HELD),
        (Acquire(100, owner=OTHER_OWNER), HELD),
        (Acquire(101, owner=OTHER_OWNER), Granted(2, 201)),
    ],
    "a lease of no time is held for one instant": [
        (Acquire(5, ttl_ms=0), Granted(1, 5)),
        (Acquire(5), HELD),
        (Acquire(6, ttl_ms=0), Granted(2, 6)),
    ],
    "a refused claim grants nothing": [
        (Acquire(0), Granted(1, 100)),
        (Acquire(50, ttl_ms=1_000), HELD),
        (Append(1, 1), STORED[1]),
        (Acquire(101), Granted(2, 201)),
    ],
    "an expiry saturates at the end of time, and is held there": [
        (Acquire(1, ttl_ms=MAX), Granted(1, MAX)),
        (Acquire(MAX), HELD),
        (Renew(1, MAX, ttl_ms=1), Renewed(MAX)),
        (Release(1), Done()),
        (Acquire(MAX - 100), Granted(2, MAX)),
        (Release(2), Done()),
        (Acquire(MAX - 101), Granted(3, MAX - 1)),
        (Acquire(MAX - 1), HELD),
        (Acquire(MAX), Granted(4, MAX)),
    ],
    "a released lease gives way at once, to a new epoch": [
        (Acquire(0), Granted(1, 100)),
        (Release(1), Done()),
        (Acquire(0), Granted(2, 100)),
        (Release(2), Done()),
        (Release(2), Done()),
        (Acquire(100, owner=OTHER_OWNER), Granted(3, 200)),
    ],
    "an expired lease may be released, and its epoch is not granted again": [
        (Acquire(0), Granted(1, 100)),
        (Release(1), Done()),
        (Acquire(500), Granted(2, 600)),
    ],
    "the highest epoch is renewed before and after it has expired": [
        (Acquire(0), Granted(1, 100)),
        (Renew(1, 100), Renewed(200)),
        (Acquire(200), HELD),
        (Renew(1, 1_000), Renewed(1_100)),
        (Acquire(1_100), HELD),
        (Acquire(1_101), Granted(2, 1_201)),
    ],
    "a renewal may shorten a lease": [
        (Acquire(0, ttl_ms=1_000), Granted(1, 1_000)),
        (Renew(1, 10, ttl_ms=5), Renewed(15)),
        (Acquire(15), HELD),
        (Acquire(16), Granted(2, 116)),
    ],
    "the highest epoch is renewed after its release": [
        (Acquire(0), Granted(1, 100)),
        (Release(1), Done()),
        (Renew(1, 0), Renewed(100)),
        (Acquire(100), HELD),
    ],
    "another epoch than the highest is stale and changes nothing": [
        (Acquire(0), Granted(1, 100)),
        (Acquire(101), Granted(2, 201)),
        (Renew(1, 150, ttl_ms=1_000), STALE),
        (Renew(3, 150, ttl_ms=1_000), STALE),
        (Renew(0, 150, ttl_ms=1_000), STALE),
        (Release(1), STALE),
        (Release(3), STALE),
        (Release(0), STALE),
        (Acquire(201), HELD),
        (Acquire(202), Granted(3, 302)),
    ],
    "what was never granted is stale": [
        (Renew(0, 0), STALE),
        (Renew(1, 0), STALE),
        (Release(0), STALE),
        (Release(1), STALE),
        (Acquire(0), Granted(1, 100)),
    ],
    "leases of two runs have nothing to do with each other": [
        (Acquire(0), Granted(1, 100)),
        (Acquire(0, run_id=OTHER_RUN), Granted(1, 100)),
        (Acquire(101, run_id=OTHER_RUN), Granted(2, 201)),
        (Append(1, 1), STORED[1]),
        (Append(1, 1, run_id=OTHER_RUN), STALE),
        (Append(1, 2, run_id=OTHER_RUN), STORED[1]),
        (Acquire(101), Granted(2, 201)),
    ],
    "time and release make no epoch stale": [
        (Append(1, None), STORED[1]),
        (Acquire(0), Granted(1, 100)),
        (Append(2, None), STALE),
        (Append(2, 0), STALE),
        (Append(2, 1), STORED[2]),
        (Release(1), Done()),
        (Append(3, 1), STORED[3]),
        (Append(4, None), STALE),
        (Acquire(0), Granted(2, 100)),
        (Append(4, 1), STALE),
        (Append(4, 2), STORED[4]),
        (Renew(2, 1_000), Renewed(1_100)),
        (Append(5, 2), STORED[5]),
    ],
    "an append under a higher epoch than was granted is no grant": [
        (Append(1, 7), STORED[1]),
        (Append(2, None), STORED[2]),
        (Acquire(0), Granted(1, 100)),
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_leases_follow_the_script(store: Store, script: Sequence[tuple[Step, msgspec.Struct]]) -> None:
    assert [perform(store, step) for step, _ in script] == [answer for _, answer in script]


def test_a_lease_begins_no_run(store: Store) -> None:
    store.acquire(RUN, OWNER, 100, 0)
    assert everything(store) == []
    assert store.append(RUN, 1, batch(1, 1), 1) == acknowledged_batch(1, 1)


def test_the_helpers_name_events_as_written_here() -> None:
    assert event_id(10) == "00000000-0000-4000-8000-00000000000a"
