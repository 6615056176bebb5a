from __future__ import annotations

import pytest
from tests.model.helpers import (
    MAX,
    OTHER_RUN,
    RUN,
    acknowledged,
    acknowledged_batch,
    batch,
    event_id,
    plain,
    record,
)

from perdure.journal.contract import (
    Capabilities,
    Description,
    Done,
    Envelope,
    EventIdConflict,
    Granted,
    Held,
    Limits,
    NoSnapshot,
    Renewed,
    SequenceConflict,
    Snapshot,
    StaleEpoch,
    TooLarge,
)
from perdure.journal.reference import (
    Lease,
    ReferenceJournal,
    RunView,
    decide_acquire,
    decide_append,
    decide_release,
    decide_renew,
    expiry,
)

GROWN = RunView(3, 5, {event_id(1): record(1, 1), event_id(2): record(2, 2)})
"""A run with the records 1 and 2 and the highest epoch 5."""


def test_new_records_at_the_next_position_are_to_be_stored() -> None:
    assert decide_append(GROWN, 3, [record(3, 3)], 5) is None


def test_a_higher_epoch_than_was_granted_is_not_stale() -> None:
    assert decide_append(GROWN, 3, [record(3, 3)], 6) is None


@pytest.mark.parametrize("epoch", [None, 0, 4])
def test_a_lower_epoch_than_was_granted_is_stale(epoch: int | None) -> None:
    answer = decide_append(GROWN, 3, [record(3, 3)], epoch)
    assert answer == StaleEpoch(detail="epoch 5 was granted")


def test_no_epoch_counts_as_0() -> None:
    assert decide_append(RunView(1, 0, {}), 1, [record(1, 1)], None) is None


def test_stored_records_are_acknowledged_again() -> None:
    assert decide_append(GROWN, 1, batch(1, 2), 5) == acknowledged((1, 1), (2, 2))


@pytest.mark.parametrize(
    "records",
    [
        [record(1, 1, "other")],
        [record(2, 1), record(3, 2)],
        [record(2, 2), record(3, 3)],
        [record(3, 3), record(4, 1)],
    ],
)
def test_a_stored_event_id_that_is_no_exact_replay_conflicts(records: list[Envelope]) -> None:
    assert decide_append(GROWN, 3, records, 5) == EventIdConflict()


@pytest.mark.parametrize("expected_next", [1, 2, 4, MAX])
def test_another_position_than_the_next_conflicts(expected_next: int) -> None:
    answer = decide_append(GROWN, expected_next, [record(expected_next, 9)], 5)
    assert answer == SequenceConflict(actual_next=3)


@pytest.mark.parametrize("now_ms", [0, 99, 100])
def test_a_lease_is_held_up_to_and_including_its_last_instant(now_ms: int) -> None:
    assert decide_acquire(Lease(3, 100), 10, now_ms) == Held(detail="until 100 ms")


@pytest.mark.parametrize(("lease", "now_ms"), [(Lease(3, 100), 101), (Lease(3), 0)])
def test_an_expired_or_released_lease_gives_way_to_the_next_epoch(lease: Lease, now_ms: int) -> None:
    assert decide_acquire(lease, 10, now_ms) == Granted(4, now_ms + 10)


def test_the_first_epoch_is_1() -> None:
    assert decide_acquire(Lease(), 10, 0) == Granted(1, 10)


def test_the_highest_epoch_is_renewed_and_released() -> None:
    assert decide_renew(Lease(3, 100), 3, 10, 1_000) == Renewed(1_010)
    assert decide_release(Lease(3, 100), 3) == Done()


@pytest.mark.parametrize(("lease", "epoch"), [(Lease(3, 100), 2), (Lease(3, 100), 4), (Lease(3, 100), 0), (Lease(), 0)])
def test_no_other_epoch_is_renewed_or_released(lease: Lease, epoch: int) -> None:
    assert plain(decide_renew(lease, epoch, 10, 0)) == StaleEpoch()
    assert plain(decide_release(lease, epoch)) == StaleEpoch()


@pytest.mark.parametrize(
    ("now_ms", "ttl_ms", "until_ms"),
    [
        (0, 0, 0),
        (5, 10, 15),
        (MAX - 10, 10, MAX),
        (MAX - 10, 11, MAX),
        (MAX, 0, MAX),
        (MAX, 1, MAX),
        (MAX, MAX, MAX),
    ],
)
def test_virtual_time_saturates(now_ms: int, ttl_ms: int, until_ms: int) -> None:
    assert expiry(now_ms, ttl_ms) == until_ms


def test_the_reference_claims_all_that_is_about_answers() -> None:
    limits = Limits(max_batch_records=2, max_batch_bytes=10, max_snapshot_bytes=3)
    assert ReferenceJournal(limits).description == Description(
        name="reference",
        version="1",
        capabilities=Capabilities(
            exact_replay=True,
            event_id_dedup=True,
            atomic_batch=True,
            multi_handle=False,
            multi_process=False,
            durable=None,
            snapshots=True,
            leases=True,
            fencing=True,
            read="linearizable",
            lease_clock="caller",
        ),
        limits=limits,
    )


def test_the_reference_keeps_the_limits_that_it_is_given() -> None:
    journal = ReferenceJournal(Limits(max_batch_records=2, max_batch_bytes=10, max_snapshot_bytes=3))
    assert plain(journal.append(RUN, 1, batch(1, 3, "x"))) == TooLarge()
    assert plain(journal.append(RUN, 1, batch(1, 2, "éééx"))) == TooLarge()
    assert plain(journal.save_snapshot(RUN, 1, "éé")) == TooLarge()
    assert journal.load_snapshot(RUN) == NoSnapshot()
    assert journal.append(RUN, 1, batch(1, 2, "ééx")) == acknowledged_batch(1, 2)
    assert journal.save_snapshot(RUN, 2, "éx") == Done()
    assert journal.load_snapshot(RUN) == Snapshot(2, "éx")


def test_the_reference_shows_what_decides_the_next_append() -> None:
    journal = ReferenceJournal()
    assert journal.view(RUN) == RunView(1, 0, {})
    journal.append(RUN, 1, batch(1, 2))
    journal.put_lease(RUN, Lease(5, 100))
    assert journal.view(RUN) == GROWN
    assert journal.lease(RUN) == Lease(5, 100)
    assert journal.records(RUN) == [record(1, 1), record(2, 2)]


def test_the_reference_shows_nothing_of_another_run() -> None:
    journal = ReferenceJournal()
    journal.append(RUN, 1, batch(1, 2))
    journal.put_lease(RUN, Lease(5, 100))
    assert journal.view(OTHER_RUN) == RunView(1, 0, {})
    assert journal.lease(OTHER_RUN) == Lease(0, -1)
    assert journal.records(OTHER_RUN) == []


def test_the_reference_stores_what_a_judge_has_judged() -> None:
    journal = ReferenceJournal()
    journal.store(RUN, batch(1, 2))
    journal.store(RUN, [record(3, 3)])
    assert journal.records(RUN) == [record(1, 1), record(2, 2), record(3, 3)]
    assert journal.append(RUN, 3, [record(3, 9)]) == SequenceConflict(actual_next=4)


def test_epochs_grow_from_whatever_was_put() -> None:
    journal = ReferenceJournal()
    journal.put_lease(RUN, Lease(41))
    assert decide_acquire(journal.lease(RUN), 10, 0) == Granted(42, 10)


def test_the_reference_outlives_its_closing() -> None:
    journal = ReferenceJournal()
    journal.append(RUN, 1, batch(1, 2))
    journal.close()
    assert journal.records(RUN) == [record(1, 1), record(2, 2)]
