from __future__ import annotations

import threading
from pathlib import Path

from tests.model.helpers import (
    MIB,
    OTHER_OWNER,
    OWNER,
    RUN,
    acknowledged_batch,
    batch,
    everything,
    plain,
    record,
)

from perdure.journal.contract import (
    Acknowledged,
    Capabilities,
    Description,
    Granted,
    Held,
    Limits,
    SequenceConflict,
    Snapshot,
)
from perdure.journal.memory import MemoryJournal


def test_the_memory_journal_claims_handles_but_no_processes_and_no_durability(tmp_path: Path) -> None:
    assert MemoryJournal(tmp_path, "journal").description == Description(
        name="memory",
        version="1",
        capabilities=Capabilities(
            exact_replay=True,
            event_id_dedup=True,
            atomic_batch=True,
            multi_handle=True,
            multi_process=False,
            durable=None,
            snapshots=True,
            leases=True,
            fencing=True,
            read="linearizable",
            lease_clock="caller",
        ),
        limits=Limits(max_batch_records=65_536, max_batch_bytes=64 * MIB, max_snapshot_bytes=64 * MIB),
    )


def test_the_state_outlives_its_handles(tmp_path: Path) -> None:
    first = MemoryJournal(tmp_path, "journal")
    first.append(RUN, 1, batch(1, 2))
    first.save_snapshot(RUN, 2, "state")
    first.acquire(RUN, OWNER, 100, 0)
    first.close()
    again = MemoryJournal(tmp_path, "journal")
    assert everything(again) == batch(1, 2)
    assert again.append(RUN, 1, batch(1, 2), 1) == acknowledged_batch(1, 2)
    assert again.load_snapshot(RUN) == Snapshot(2, "state")
    assert plain(again.acquire(RUN, OTHER_OWNER, 100, 100)) == Held()
    assert again.acquire(RUN, OTHER_OWNER, 100, 101) == Granted(2, 201)


def test_two_handles_see_each_other(tmp_path: Path) -> None:
    one, two = MemoryJournal(tmp_path, "journal"), MemoryJournal(tmp_path, "journal")
    assert one.append(RUN, 1, batch(1, 2)) == acknowledged_batch(1, 2)
    assert two.append(RUN, 1, [record(1, 9)]) == SequenceConflict(actual_next=3)
    assert two.append(RUN, 3, batch(3, 3)) == acknowledged_batch(3, 3)
    assert everything(one) == batch(1, 3)


def test_another_place_or_namespace_is_another_journal(tmp_path: Path) -> None:
    MemoryJournal(tmp_path, "journal").append(RUN, 1, batch(1, 2))
    assert everything(MemoryJournal(tmp_path, "other")) == []
    assert everything(MemoryJournal(tmp_path / "other", "journal")) == []


def test_of_writers_who_race_for_a_position_one_is_acknowledged(tmp_path: Path) -> None:
    start = threading.Barrier(4)
    winners: list[int] = []

    def race(writer: int) -> None:
        journal = MemoryJournal(tmp_path, "journal")
        start.wait()
        for sequence in range(1, 51):
            answer = journal.append(RUN, sequence, [record(sequence, 100 * writer + sequence)])
            if isinstance(answer, Acknowledged):
                winners.append(sequence)

    writers = [threading.Thread(target=race, args=(writer,)) for writer in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(winners) == list(range(1, 51))
    assert [kept.sequence for kept in everything(MemoryJournal(tmp_path, "journal"))] == list(range(1, 51))
