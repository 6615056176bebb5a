from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.model.helpers import (
    MIB,
    OTHER_OWNER,
    OTHER_RUN,
    OWNER,
    RUN,
    acknowledged,
    acknowledged_batch,
    batch,
    everything,
    plain,
    record,
)

from perdure.journal.contract import (
    Acknowledged,
    Capabilities,
    Corrupt,
    Description,
    Done,
    EventIdConflict,
    Granted,
    Held,
    InvalidRecord,
    JournalOpenError,
    Limits,
    NoSnapshot,
    NotStored,
    Page,
    SequenceConflict,
    Snapshot,
    StaleEpoch,
    Unavailable,
)
from perdure.journal.sqlite import FORMAT_VERSION, SqliteJournal


def raw(state_dir: Path) -> closing[sqlite3.Connection]:
    """Another program's connection to the journal's database."""
    return closing(sqlite3.connect(state_dir / "journal.sqlite3", timeout=0, isolation_level=None))


# What it claims, and on what


def test_the_sqlite_journal_claims_everything(sqlite: SqliteJournal) -> None:
    assert sqlite.description == Description(
        name="sqlite",
        version=f"1 (SQLite {sqlite3.sqlite_version})",
        capabilities=Capabilities(
            exact_replay=True,
            event_id_dedup=True,
            atomic_batch=True,
            multi_handle=True,
            multi_process=True,
            durable="posix-weak",
            snapshots=True,
            leases=True,
            fencing=True,
            read="linearizable",
            lease_clock="caller",
        ),
        limits=Limits(max_batch_records=65_536, max_batch_bytes=64 * MIB, max_snapshot_bytes=64 * MIB),
    )


def test_the_database_is_named_after_the_namespace(sqlite: SqliteJournal, tmp_path: Path) -> None:
    sqlite.append(RUN, 1, batch(1, 1))
    assert (tmp_path / "journal.sqlite3").read_bytes().startswith(b"SQLite format 3\0")


def test_another_namespace_is_another_journal(sqlite: SqliteJournal, tmp_path: Path) -> None:
    sqlite.append(RUN, 1, batch(1, 1))
    with closing(SqliteJournal(tmp_path, "other")) as other:
        assert everything(other) == []


def test_a_commit_waits_for_the_disk(sqlite: SqliteJournal) -> None:
    assert sqlite._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert sqlite._database.execute("PRAGMA synchronous").fetchone() == (3,)


def test_a_reopened_handle_waits_for_the_disk_too(tmp_path: Path) -> None:
    SqliteJournal(tmp_path, "journal").close()
    with closing(SqliteJournal(tmp_path, "journal")) as again:
        assert again._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert again._database.execute("PRAGMA synchronous").fetchone() == (3,)


def test_the_format_is_version_1(sqlite: SqliteJournal) -> None:
    assert FORMAT_VERSION == 1
    assert sqlite._database.execute("PRAGMA user_version").fetchone() == (1,)


# Reopening, handles, processes


def test_everything_is_there_after_a_reopen(tmp_path: Path) -> None:
    with closing(SqliteJournal(tmp_path, "journal")) as first:
        first.append(RUN, 1, batch(1, 2, "\x00\u2028"))
        first.append(OTHER_RUN, 1, batch(1, 1))
        first.save_snapshot(RUN, 2, "state\x00")
        first.acquire(RUN, OWNER, 100, 0)
    with closing(SqliteJournal(tmp_path, "journal")) as again:
        assert everything(again, RUN) == batch(1, 2, "\x00\u2028")
        assert everything(again, OTHER_RUN) == batch(1, 1)
        assert again.load_snapshot(RUN) == Snapshot(2, "state\x00")
        assert again.load_snapshot(OTHER_RUN) == NoSnapshot()
        assert plain(again.append(RUN, 3, batch(3, 3))) == StaleEpoch()
        assert again.append(RUN, 1, batch(1, 2, "\x00\u2028"), 1) == acknowledged_batch(1, 2)
        assert again.append(RUN, 3, [record(3, 1)], 1) == EventIdConflict()
        assert again.append(RUN, 1, [record(1, 9)], 1) == SequenceConflict(actual_next=3)
        assert plain(again.acquire(RUN, OTHER_OWNER, 100, 100)) == Held()
        assert again.acquire(RUN, OTHER_OWNER, 100, 101) == Granted(2, 201)


def test_nothing_is_there_after_the_reopen_that_was_refused_before(tmp_path: Path) -> None:
    with closing(SqliteJournal(tmp_path, "journal")) as first:
        assert first.append(RUN, 2, batch(2, 2)) == SequenceConflict(actual_next=1)
    with closing(SqliteJournal(tmp_path, "journal")) as again:
        assert everything(again) == []


def test_two_handles_see_each_other(sqlite: SqliteJournal, tmp_path: Path) -> None:
    with closing(SqliteJournal(tmp_path, "journal")) as two:
        assert sqlite.append(RUN, 1, batch(1, 2)) == acknowledged_batch(1, 2)
        assert two.append(RUN, 1, [record(1, 9)]) == SequenceConflict(actual_next=3)
        assert two.append(RUN, 3, [record(3, 2)]) == EventIdConflict()
        assert two.append(RUN, 1, batch(1, 2)) == acknowledged_batch(1, 2)
        assert two.append(RUN, 3, batch(3, 3)) == acknowledged_batch(3, 3)
        assert everything(sqlite) == everything(two) == batch(1, 3)
        assert two.acquire(RUN, OWNER, 100, 0) == Granted(1, 100)
        assert plain(sqlite.append(RUN, 4, batch(4, 4))) == StaleEpoch()
        assert two.save_snapshot(RUN, 3, "state") == Done()
        assert sqlite.load_snapshot(RUN) == Snapshot(3, "state")


def test_a_handle_may_be_used_from_several_threads_and_each_position_is_acknowledged_once(tmp_path: Path) -> None:
    start = threading.Barrier(4)
    winners: list[int] = []

    def race(journal: SqliteJournal, writer: int) -> None:
        start.wait()
        for sequence in range(1, 11):
            answer = journal.append(RUN, sequence, [record(sequence, 100 * writer + sequence)])
            if isinstance(answer, Acknowledged):
                winners.append(sequence)

    with closing(SqliteJournal(tmp_path, "journal")) as one, closing(SqliteJournal(tmp_path, "journal")) as two:
        writers = [threading.Thread(target=race, args=((one, two)[writer % 2], writer)) for writer in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert sorted(winners) == list(range(1, 11))
        assert [kept.sequence for kept in everything(one)] == list(range(1, 11))


def in_another_process(state_dir: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    program = "\n".join(
        [
            "import os, signal, sys",
            "from pathlib import Path",
            "import msgspec",
            "from perdure.journal.contract import Envelope",
            "from perdure.journal.sqlite import SqliteJournal",
            "journal = SqliteJournal(Path(sys.argv[1]), 'journal')",
            "def tell(answer): print(msgspec.json.encode(answer).decode(), flush=True)",
            f"run = {RUN!r}",
            "new = [Envelope(3, '00000000-0000-4000-8000-000000000003', 'theirs')]",
            "late = [Envelope(1, '00000000-0000-4000-8000-000000000009', 'late')]",
            *lines,
        ]
    )
    words = [sys.executable, "-c", program, str(state_dir)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def test_two_processes_see_each_other(sqlite: SqliteJournal, tmp_path: Path) -> None:
    assert sqlite.append(RUN, 1, batch(1, 2)) == acknowledged_batch(1, 2)
    other = in_another_process(
        tmp_path,
        "tell(journal.append(run, 1, late))",
        "tell(journal.append(run, 3, new))",
        "tell([record.body for record in journal.load(run, 1, 9).records])",
        "tell(journal.acquire(run, 'owner', 100, 0))",
    )
    assert other.stderr == ""
    assert other.stdout.splitlines() == [
        '{"refused":"sequence_conflict","actual_next":3}',
        '{"acknowledged":[{"sequence":3,"event_id":"00000000-0000-4000-8000-000000000003"}]}',
        '["body","body","theirs"]',
        '{"epoch":1,"until_ms":100}',
    ]
    assert everything(sqlite) == [*batch(1, 2), record(3, 3, "theirs")]
    assert plain(sqlite.append(RUN, 4, batch(4, 4))) == StaleEpoch()
    assert sqlite.append(RUN, 3, [record(3, 3, "theirs")], 1) == acknowledged((3, 3))


def test_what_was_acknowledged_is_there_after_a_kill_and_an_open_transaction_is_not(tmp_path: Path) -> None:
    with closing(SqliteJournal(tmp_path, "journal")) as first:
        first.append(RUN, 1, batch(1, 2))
    killed = in_another_process(
        tmp_path,
        "tell(journal.append(run, 3, new))",
        "journal._database.execute('BEGIN IMMEDIATE')",
        "journal._insert(run, 4, [Envelope(4, '00000000-0000-4000-8000-000000000004', 'unheard')], 0)",
        "os.kill(os.getpid(), signal.SIGKILL)",
    )
    assert killed.stdout.startswith('{"acknowledged":')
    assert killed.returncode == -signal.SIGKILL
    with closing(SqliteJournal(tmp_path, "journal")) as again:
        assert everything(again) == [*batch(1, 2), record(3, 3, "theirs")]
        assert again.append(RUN, 3, [record(3, 3, "theirs")]) == acknowledged((3, 3))


# Batches of several statements


def test_a_batch_of_several_statements_is_stored_in_order(sqlite: SqliteJournal) -> None:
    assert sqlite.append(RUN, 1, batch(1, 2)) == acknowledged_batch(1, 2)
    assert sqlite.append(RUN, 3, batch(3, 2_502)) == acknowledged_batch(3, 2_502)
    assert everything(sqlite) == batch(1, 2_502)
    assert sqlite.append(RUN, 3, batch(3, 2_502)) == acknowledged_batch(3, 2_502)
    assert everything(sqlite) == batch(1, 2_502)


@pytest.mark.parametrize("size", [999, 1_000, 1_001, 2_000, 2_001])
def test_a_batch_around_the_length_of_a_statement_is_stored_whole(sqlite: SqliteJournal, size: int) -> None:
    assert sqlite.append(RUN, 1, batch(1, size)) == acknowledged_batch(1, size)
    assert everything(sqlite) == batch(1, size)


@pytest.mark.parametrize("position", [3, 1_002, 1_003, 1_500, 2_502])
def test_a_conflict_in_any_statement_leaves_nothing_of_the_batch(sqlite: SqliteJournal, position: int) -> None:
    sqlite.append(RUN, 1, batch(1, 2))
    records = batch(3, 2_502)
    records[position - 3] = record(position, 1)
    assert sqlite.append(RUN, 3, records) == EventIdConflict()
    assert everything(sqlite) == batch(1, 2)
    assert sqlite.append(RUN, 3, batch(3, 2_502)) == acknowledged_batch(3, 2_502)


@pytest.mark.parametrize("first", [1, 2, 4])
def test_a_batch_of_several_statements_at_another_position_conflicts(sqlite: SqliteJournal, first: int) -> None:
    sqlite.append(RUN, 1, [record(1, 9_001), record(2, 9_002)])
    assert sqlite.append(RUN, first, batch(first, first + 2_499)) == SequenceConflict(actual_next=3)
    assert everything(sqlite) == [record(1, 9_001), record(2, 9_002)]


def test_a_batch_of_several_statements_under_a_lower_epoch_is_stale(sqlite: SqliteJournal) -> None:
    sqlite.acquire(RUN, OWNER, 100, 0)
    assert plain(sqlite.append(RUN, 1, batch(1, 2_500))) == StaleEpoch()
    assert everything(sqlite) == []


# Races within one call


class Overtaken(SqliteJournal):
    """A handle that another writer overtakes just before its next transaction begins."""

    overtake: Callable[[], object] | None = None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        overtake, self.overtake = self.overtake, None
        if overtake is not None:
            overtake()
        with super()._transaction():
            yield


def overtaken_append(state_dir: Path, theirs: Sequence[tuple[int, int]], first: int, last: int) -> object:
    """Append on a handle while another one appends (sequence, event) pairs after the first comparison."""
    with closing(SqliteJournal(state_dir, "journal")) as rival, closing(Overtaken(state_dir, "journal")) as journal:
        rival.append(RUN, 1, batch(1, 1))
        journal.overtake = lambda: rival.append(RUN, 2, [record(*pair) for pair in theirs])
        answer = journal.append(RUN, first, batch(first, last))
        assert [kept.sequence for kept in everything(rival)] == list(range(1, len(everything(rival)) + 1))
        return answer


def test_a_run_that_grows_up_to_the_expected_position_during_the_call_takes_the_records(tmp_path: Path) -> None:
    assert overtaken_append(tmp_path, [(2, 2), (3, 3)], 4, 5) == acknowledged((4, 4), (5, 5))


def test_a_run_that_grows_during_the_call_but_not_far_enough_conflicts(tmp_path: Path) -> None:
    assert overtaken_append(tmp_path, [(2, 2)], 4, 5) == SequenceConflict(actual_next=3)


def test_a_run_that_grows_past_the_expected_position_during_the_call_conflicts(tmp_path: Path) -> None:
    assert overtaken_append(tmp_path, [(2, 12), (3, 13), (4, 14)], 3, 3) == SequenceConflict(actual_next=5)


def test_a_record_that_another_writer_stores_during_the_call_is_acknowledged(tmp_path: Path) -> None:
    assert overtaken_append(tmp_path, [(2, 2), (3, 3)], 3, 3) == acknowledged((3, 3))


def test_an_event_id_that_another_writer_stores_during_the_call_conflicts(tmp_path: Path) -> None:
    assert overtaken_append(tmp_path, [(2, 3)], 3, 3) == EventIdConflict()


def test_a_position_that_another_writer_takes_before_a_long_batch_conflicts(tmp_path: Path) -> None:
    assert overtaken_append(tmp_path, [(2, 9_001)], 2, 2_501) == SequenceConflict(actual_next=3)


# Opening


def cannot_be_opened(state_dir: Path) -> str:
    with pytest.raises(JournalOpenError) as refused:
        SqliteJournal(state_dir, "journal", busy_timeout_ms=0)
    return str(refused.value)


def test_a_file_that_is_no_database_is_not_opened_and_not_changed(tmp_path: Path) -> None:
    foreign = tmp_path / "journal.sqlite3"
    foreign.write_text("Dear diary, " * 100)
    assert cannot_be_opened(tmp_path) == f"{foreign} cannot be opened as a journal: file is not a database"
    assert foreign.read_text() == "Dear diary, " * 100


def test_a_place_that_does_not_exist_is_not_opened(tmp_path: Path) -> None:
    reason = cannot_be_opened(tmp_path / "absent")
    assert reason == (
        f"{tmp_path / 'absent' / 'journal.sqlite3'} cannot be opened as a journal: unable to open database file"
    )


def test_a_folder_in_the_place_of_the_database_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite3").mkdir()
    assert "cannot be opened as a journal" in cannot_be_opened(tmp_path)


def test_an_empty_file_becomes_a_journal(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite3").touch()
    with closing(SqliteJournal(tmp_path, "journal")) as journal:
        assert journal.append(RUN, 1, batch(1, 1)) == acknowledged_batch(1, 1)


def test_a_database_of_another_program_is_not_opened_and_not_changed(tmp_path: Path) -> None:
    with raw(tmp_path) as foreign:
        foreign.execute("CREATE TABLE records (title TEXT)")
    before = (tmp_path / "journal.sqlite3").read_bytes()
    assert cannot_be_opened(tmp_path) == (
        f"{tmp_path / 'journal.sqlite3'} is another program's database; use another place or namespace"
    )
    assert (tmp_path / "journal.sqlite3").read_bytes() == before


def test_a_newer_format_is_not_opened_and_not_changed(tmp_path: Path) -> None:
    with raw(tmp_path) as newer:
        newer.execute("PRAGMA user_version = 2")
    before = (tmp_path / "journal.sqlite3").read_bytes()
    assert cannot_be_opened(tmp_path) == (
        f"{tmp_path / 'journal.sqlite3'} has format 2, this release reads 1; use a newer release"
    )
    assert (tmp_path / "journal.sqlite3").read_bytes() == before


@pytest.mark.parametrize("content", ["PRAGMA user_version = 2", "CREATE TABLE records (title TEXT)"])
def test_a_database_that_is_not_opened_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    with raw(tmp_path) as foreign:
        foreign.execute(content)
    opened = sqlite3.connect(tmp_path / "journal.sqlite3")
    monkeypatch.setattr(sqlite3, "connect", lambda *_, **__: opened)
    cannot_be_opened(tmp_path)
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        opened.execute("SELECT 1")


def test_a_new_database_that_somebody_keeps_locked_is_not_opened(tmp_path: Path) -> None:
    with raw(tmp_path) as other:
        other.execute("BEGIN IMMEDIATE")
        assert cannot_be_opened(tmp_path).endswith("cannot be opened as a journal: database is locked")


def test_a_new_database_that_another_handle_is_preparing_is_opened_when_that_is_done(tmp_path: Path) -> None:
    class Waits(Overtaken):
        def overtake(self) -> None:
            other.execute("COMMIT")

    with raw(tmp_path) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(Waits(tmp_path, "journal", busy_timeout_ms=0)) as journal:
            assert journal._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert journal.append(RUN, 1, batch(1, 1)) == acknowledged_batch(1, 1)


def test_handles_that_open_a_new_database_at_once_all_open_it(tmp_path: Path) -> None:
    start = threading.Barrier(8)
    opened: list[SqliteJournal] = []

    def open_it() -> None:
        start.wait()
        opened.append(SqliteJournal(tmp_path, "journal"))

    openers = [threading.Thread(target=open_it) for _ in range(8)]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join()
    assert len(opened) == 8
    for journal in opened:
        journal.close()


# Failures


def test_a_locked_database_stores_nothing_and_says_so(sqlite: SqliteJournal, tmp_path: Path) -> None:
    sqlite.append(RUN, 1, batch(1, 2))
    sqlite.acquire(RUN, OWNER, 100, 0)
    locked_out = SqliteJournal(tmp_path, "journal", busy_timeout_ms=0)
    with closing(locked_out) as journal, raw(tmp_path) as other:
        other.execute("BEGIN IMMEDIATE")
        assert journal.append(RUN, 3, batch(3, 3), 1) == NotStored(detail="database is locked")
        assert plain(journal.append(RUN, 3, batch(3, 2_502), 1)) == NotStored()
        assert plain(journal.append(RUN, 1, batch(1, 2), 1)) == NotStored()
        assert plain(journal.save_snapshot(RUN, 2, "state")) == NotStored()
        assert plain(journal.acquire(RUN, OWNER, 100, 101)) == NotStored()
        assert plain(journal.renew(RUN, 1, 100, 0)) == NotStored()
        assert plain(journal.release(RUN, 1)) == NotStored()
        assert journal.load(RUN, 1, 9) == Page(tuple(batch(1, 2)), end=True)
        assert journal.load_snapshot(RUN) == NoSnapshot()
        other.execute("ROLLBACK")
        assert plain(journal.acquire(RUN, OWNER, 100, 100)) == Held()
        assert journal.append(RUN, 3, batch(3, 3), 1) == acknowledged_batch(3, 3)


def test_what_is_wrong_with_a_batch_is_said_even_of_a_locked_database(sqlite: SqliteJournal, tmp_path: Path) -> None:
    with raw(tmp_path) as other:
        other.execute("BEGIN IMMEDIATE")
        assert plain(sqlite.append(RUN, 1, [])) == InvalidRecord()


def test_a_database_that_cannot_be_read_is_unavailable(tmp_path: Path) -> None:
    with closing(SqliteJournal(tmp_path, "journal", busy_timeout_ms=0)) as journal, raw(tmp_path) as other:
        journal.append(RUN, 1, batch(1, 2))
        journal._database.execute("PRAGMA journal_mode = DELETE")  # Without the log, a writer locks readers out.
        other.execute("BEGIN EXCLUSIVE")
        assert journal.load(RUN, 1, 9) == Unavailable(detail="database is locked")
        assert journal.load_snapshot(RUN) == Unavailable(detail="database is locked")
        other.execute("ROLLBACK")
        assert journal.load(RUN, 1, 9) == Page(tuple(batch(1, 2)), end=True)
        assert journal.load_snapshot(RUN) == NoSnapshot()


def test_a_database_that_is_read_only_stores_nothing_and_says_so(sqlite: SqliteJournal) -> None:
    sqlite.append(RUN, 1, batch(1, 2))
    sqlite._database.execute("PRAGMA query_only = ON")
    assert sqlite.append(RUN, 3, batch(3, 3)) == NotStored(detail="attempt to write a readonly database")
    assert plain(sqlite.append(RUN, 3, batch(3, 2_502))) == NotStored()
    assert everything(sqlite) == batch(1, 2)


@pytest.mark.parametrize(("last", "body_bytes"), [(3, 600_000), (2_502, 90)])
def test_a_full_disk_leaves_nothing_of_a_batch(sqlite: SqliteJournal, last: int, body_bytes: int) -> None:
    sqlite.append(RUN, 1, batch(1, 2))
    sqlite._database.execute("PRAGMA max_page_count = 130")
    answer = sqlite.append(RUN, 3, batch(3, last, "x" * body_bytes))
    assert answer == Unavailable(detail="database or disk is full")
    assert everything(sqlite) == batch(1, 2)
    assert sqlite.append(RUN, 3, batch(3, 3)) == acknowledged_batch(3, 3)


def test_an_interrupted_batch_of_several_statements_leaves_nothing(sqlite: SqliteJournal) -> None:
    inserts = 0
    once = iter([1])  # SQLite ends the transaction by itself; what comes after is not interrupted.

    def interrupt_the_second(statement: str) -> None:
        nonlocal inserts
        inserts += statement.startswith("INSERT")
        if inserts == 2:
            sqlite._database.set_progress_handler(lambda: next(once, 0), 1)

    sqlite._database.set_trace_callback(interrupt_the_second)
    assert sqlite.append(RUN, 1, batch(1, 2_500)) == Unavailable(detail="interrupted")
    sqlite._database.set_trace_callback(None)
    sqlite._database.set_progress_handler(None, 1)
    assert everything(sqlite) == []
    assert sqlite.append(RUN, 1, batch(1, 2_500)) == acknowledged_batch(1, 2_500)


def test_after_its_closing_a_handle_is_unavailable(sqlite: SqliteJournal) -> None:
    sqlite.append(RUN, 1, batch(1, 2))
    sqlite.close()
    assert sqlite.append(RUN, 3, batch(3, 3)) == Unavailable(detail="Cannot operate on a closed database.")
    assert plain(sqlite.append(RUN, 3, batch(3, 2_502))) == Unavailable()
    assert plain(sqlite.load(RUN, 1, 9)) == Unavailable()
    assert plain(sqlite.save_snapshot(RUN, 2, "state")) == Unavailable()
    assert plain(sqlite.load_snapshot(RUN)) == Unavailable()
    assert plain(sqlite.acquire(RUN, OWNER, 100, 0)) == Unavailable()
    assert plain(sqlite.renew(RUN, 1, 100, 0)) == Unavailable()
    assert plain(sqlite.release(RUN, 1)) == Unavailable()


def test_closing_twice_is_closing(sqlite: SqliteJournal, tmp_path: Path) -> None:
    sqlite.append(RUN, 1, batch(1, 2))
    sqlite.close()
    sqlite.close()
    with closing(SqliteJournal(tmp_path, "journal")) as again:
        assert everything(again) == batch(1, 2)


def test_closing_one_handle_leaves_the_others(sqlite: SqliteJournal, tmp_path: Path) -> None:
    SqliteJournal(tmp_path, "journal").close()
    assert sqlite.append(RUN, 1, batch(1, 1)) == acknowledged_batch(1, 1)


def test_a_snapshot_that_is_no_unicode_text_is_not_stored(sqlite: SqliteJournal) -> None:
    sqlite.save_snapshot(RUN, 1, "state")
    assert plain(sqlite.save_snapshot(RUN, 2, "\ud800")) == NotStored()
    assert sqlite.load_snapshot(RUN) == Snapshot(1, "state")


# Damage


@pytest.mark.parametrize(
    ("deleted", "from_sequence", "limit", "sequence"),
    [
        ("= 3", 1, 9, 3),
        ("= 3", 3, 1, 3),
        ("= 3", 2, 2, 3),
        ("= 1", 1, 9, 1),
        ("< 5", 1, 1, 1),
        ("< 5", 4, 1, 4),
        ("IN (2, 4)", 1, 9, 2),
        ("IN (2, 4)", 3, 9, 4),
    ],
)
def test_a_missing_record_before_others_is_corruption_at_its_sequence(
    sqlite: SqliteJournal, deleted: str, from_sequence: int, limit: int, sequence: int
) -> None:
    sqlite.append(RUN, 1, batch(1, 5))
    sqlite._database.execute(f"DELETE FROM records WHERE sequence {deleted}")  # noqa: S608
    assert plain(sqlite.load(RUN, from_sequence, limit)) == Corrupt(sequence=sequence)


def test_what_lies_before_and_after_a_missing_record_is_served(sqlite: SqliteJournal) -> None:
    sqlite.append(RUN, 1, batch(1, 5))
    sqlite._database.execute("DELETE FROM records WHERE sequence = 3")
    assert sqlite.load(RUN, 1, 1) == Page((record(1, 1),), end=False)
    assert sqlite.load(RUN, 4, 9) == Page((record(4, 4), record(5, 5)), end=True)


def test_damage_to_one_run_is_none_to_another(sqlite: SqliteJournal) -> None:
    sqlite.append(RUN, 1, batch(1, 5))
    sqlite.append(OTHER_RUN, 1, batch(1, 5))
    sqlite._database.execute("DELETE FROM records WHERE run_id = ? AND sequence = 3", (RUN,))
    assert everything(sqlite, OTHER_RUN) == batch(1, 5)
