"""What the two journals on files have in common, and what each makes of its files."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest
from tests.model.helpers import MIB, OTHER_RUN, OWNER, RUN, event_id

from perdure.journal.contract import (
    BUILT_IN_LIMITS,
    Acknowledged,
    Corrupt,
    Done,
    Envelope,
    EventIdConflict,
    Granted,
    Held,
    InvalidRecord,
    JournalOpenError,
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
)
from perdure.journal.files import FilesJournal, FlushedFilesJournal, WrittenFilesJournal
from perdure.journal.lines import LinesJournal
from perdure.journal.records import seal
from perdure.kernel.identity import RunId
from perdure.kernel.values import canonical_json

Journal = FilesJournal | LinesJournal

KINDS = [FilesJournal, FlushedFilesJournal, WrittenFilesJournal, LinesJournal]
FILES = [FilesJournal, FlushedFilesJournal, WrittenFilesJournal]
ODD = ["", "x", "NUL \0, \u2028, CR \r, LF \n", "\U0001f600" * 1_025, "e\u0301 \ufb01 \ufeff"]


def sealed(first: int, *texts: str, run: RunId = RUN, number: int | None = None) -> list[Envelope]:
    """A batch of records that begins at a sequence, with the event ids of these numbers."""
    numbers = range(number or first, (number or first) + len(texts))
    return [
        seal(
            run,
            first + index,
            event_id(numbers[index]),
            {"type": "NodeSucceeded", "output": {"text": text}},
            batch_index=index,
            batch_size=len(texts),
        )
        for index, text in enumerate(texts)
    ]


def file_of(state_dir: Path, journal: Journal, run: RunId = RUN) -> Path:
    return state_dir / "journal" / f"{run}{journal.suffix}"


def opened(kind: type[Journal], state_dir: Path) -> Journal:
    return kind(state_dir, "journal")


def records_of(journal: Journal, run: RunId = RUN) -> list[Envelope]:
    answer = journal.load(run, 1, 1_000)
    assert isinstance(answer, Page), answer
    assert answer.end
    return list(answer.records)


AnyJournal = TypeVar("AnyJournal", bound=FilesJournal | LinesJournal)


def three_in(kind: type[AnyJournal], state_dir: Path) -> tuple[AnyJournal, list[Envelope]]:
    """A journal with a run of three records, the last two a batch."""
    journal = kind(state_dir, "journal")
    records = [*sealed(1, "one"), *sealed(2, "two", "three")]
    assert journal.append(RUN, 1, records[:1]) == acknowledge(records[:1])
    assert journal.append(RUN, 2, records[1:]) == acknowledge(records[1:])
    return journal, records


def failing(code: int) -> Callable[..., NoReturn]:
    def fail(*_arguments: object, **_more: object) -> NoReturn:
        raise OSError(code, os.strerror(code))

    return fail


# Both


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_appended_is_loaded_by_every_handle_and_after_a_reopen(kind: type[Journal], tmp_path: Path) -> None:
    journal, records = three_in(kind, tmp_path)
    other = opened(kind, tmp_path)
    assert records_of(other) == records
    assert other.load(RUN, 2, 1) == Page((records[1],), end=False)
    assert other.load(OTHER_RUN, 1, 5) == Page((), end=True)
    more = sealed(4, *ODD)
    assert other.append(RUN, 4, more) == acknowledge(more)
    journal.close()
    other.close()
    assert records_of(opened(kind, tmp_path)) == [*records, *more]


@pytest.mark.parametrize("kind", KINDS)
def test_a_handle_may_be_closed_twice_and_answers_no_more(kind: type[Journal], tmp_path: Path) -> None:
    journal, records = three_in(kind, tmp_path)
    for _ in range(2):
        journal.close()
    assert isinstance(journal.load(RUN, 1, 9), Unavailable)
    assert isinstance(journal.append(RUN, 4, sealed(4, "four")), NotStored)
    assert records_of(opened(kind, tmp_path)) == records


@pytest.mark.parametrize("kind", KINDS)
def test_an_append_is_compared(kind: type[Journal], tmp_path: Path) -> None:
    journal, records = three_in(kind, tmp_path)
    assert journal.append(RUN, 2, records[1:]) == acknowledge(records[1:])
    assert journal.append(RUN, 3, sealed(3, "x", number=9)) == SequenceConflict(actual_next=4)
    assert journal.append(RUN, 4, sealed(4, "x", number=1)) == EventIdConflict()
    assert isinstance(journal.append(RUN, 4, []), InvalidRecord)
    assert records_of(journal) == records


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_that_is_no_record_of_its_envelope_is_refused(kind: type[Journal], tmp_path: Path) -> None:
    journal = opened(kind, tmp_path)
    (record,) = sealed(1, "one")
    elsewhere = sealed(1, "one", run=OTHER_RUN)
    for wrong in (Envelope(1, record.event_id, "{}"), Envelope(1, record.event_id, "x"), *elsewhere):
        assert isinstance(journal.append(RUN, 1, [wrong]), InvalidRecord)
    assert records_of(journal) == []


@pytest.mark.parametrize("kind", KINDS)
def test_records_that_do_not_name_their_places_in_the_batch_are_refused(kind: type[Journal], tmp_path: Path) -> None:
    journal = opened(kind, tmp_path)
    half, end = sealed(1, "one", "two")
    for wrong in ([half], [*sealed(1, "one"), *sealed(2, "two")], [half, *sealed(2, "two")], [*sealed(1, "one"), end]):
        assert isinstance(journal.append(RUN, 1, wrong), InvalidRecord)
    assert records_of(journal) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_that_nests_too_deep_is_refused(kind: type[Journal], tmp_path: Path) -> None:
    journal = opened(kind, tmp_path)
    (record,) = sealed(1, "deep")
    body = record.body.replace('"deep"', "[" * 100_000 + "]" * 100_000)
    assert isinstance(journal.append(RUN, 1, [Envelope(1, record.event_id, body)]), InvalidRecord)


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_is_taken_up_to_the_longest_that_a_frame_holds(kind: type[Journal], tmp_path: Path) -> None:
    journal = opened(kind, tmp_path)
    room = 16 * MIB - len(sealed(1, "")[0].body)
    assert isinstance(journal.append(RUN, 1, sealed(1, "x" * (room + 1))), TooLarge)
    assert isinstance(journal.append(RUN, 1, sealed(1, "x" * room)), Acknowledged)
    assert len(records_of(journal)[0].body) == 16 * MIB == journal.description.limits.max_batch_bytes


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 1, 4_095, 4_096, 4_097, 65_535, 65_536, MIB])
def test_a_record_of_any_size_survives(kind: type[Journal], size: int, tmp_path: Path) -> None:
    journal = opened(kind, tmp_path)
    records = sealed(1, "x" * size)
    assert journal.append(RUN, 1, records) == acknowledge(records)
    assert records_of(opened(kind, tmp_path)) == records


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_cannot_be_read_is_unavailable_and_takes_nothing(kind: type[Journal], tmp_path: Path) -> None:
    journal, records = three_in(kind, tmp_path)
    path = file_of(tmp_path, journal)
    content = path.read_bytes()
    aside = path.rename(path.with_suffix(".aside"))
    path.mkdir()
    assert journal.load(RUN, 1, 10) == Unavailable(detail="Is a directory")
    assert journal.append(RUN, 4, sealed(4, "four")) == NotStored(detail="Is a directory")
    path.rmdir()
    aside.rename(path)
    assert path.read_bytes() == content
    assert records_of(journal) == records


@pytest.mark.parametrize("kind", KINDS)
def test_a_place_that_is_no_folder_cannot_be_opened(kind: type[Journal], tmp_path: Path) -> None:
    tmp_path.joinpath("journal").write_text("")
    with pytest.raises(JournalOpenError, match="cannot be opened as a journal: File exists"):
        opened(kind, tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_what_killed_writers_left_is_removed_when_a_journal_is_opened(kind: type[Journal], tmp_path: Path) -> None:
    journal, records = three_in(kind, tmp_path)
    left = tmp_path / "journal" / f"{RUN}.something.tmp"
    left.write_bytes(b"half a file")
    kept = tmp_path / "journal" / "folder.tmp"
    kept.mkdir()
    assert records_of(journal) == records
    assert records_of(opened(kind, tmp_path)) == records
    assert not left.exists()
    assert kept.exists()


class Killed(BaseException):
    """The process ends here: nothing that it would do on an error is done."""


def watch_syncs(patch: pytest.MonkeyPatch, ends: BaseException | None = None, at: str = "") -> list[str]:
    """Note how the names of the files that are synced end; let the sync of one that ends so fail."""
    sync = os.fsync
    synced: list[str] = []

    def watched(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        synced.append(name.rpartition(".")[2])
        if ends is not None and name.endswith(at):
            raise ends
        sync(descriptor)

    patch.setattr(os, "fsync", watched)
    return synced


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (FilesJournal, ["tmp", "journal", "tmp", "journal"]),
        (FlushedFilesJournal, []),
        (WrittenFilesJournal, []),
        (LinesJournal, ["jsonl", "journal", "jsonl"]),
    ],
)
def test_an_append_syncs_what_it_claims_to_and_in_this_order(
    kind: type[Journal], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = watch_syncs(monkeypatch)
    journal = opened(kind, tmp_path)
    assert synced == ([tmp_path.name] if expected else [])
    synced.clear()
    for sequence in (1, 2, 2):  # A replay, and a load, find everything synced.
        assert isinstance(journal.append(RUN, sequence, sealed(sequence, "x")), Acknowledged)
    records_of(journal)
    assert synced == expected


@pytest.mark.parametrize(
    ("kind", "at", "settled"),
    [(FilesJournal, "journal", ["mwj1", "journal"]), (LinesJournal, "jsonl", ["jsonl", "journal"])],
)
def test_what_a_killed_writer_has_not_synced_is_synced_before_anybody_reads_it(
    kind: type[Journal], at: str, settled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, other = opened(kind, tmp_path), opened(kind, tmp_path)
    records = sealed(1, "one")
    with monkeypatch.context() as patched:
        watch_syncs(patched, Killed(), at)
        with pytest.raises(Killed):
            journal.append(RUN, 1, records)
    with monkeypatch.context() as patched:
        watch_syncs(patched, OSError(errno.EIO, "it cannot be synced"), at)
        assert other.load(RUN, 1, 9) == Unavailable(detail="it cannot be synced")
        assert other.append(RUN, 1, records) == NotStored(detail="it cannot be synced")
    synced = watch_syncs(monkeypatch)
    assert records_of(other) == records
    assert other.append(RUN, 1, records) == acknowledge(records)
    assert synced == settled


@pytest.mark.parametrize("kind", [FilesJournal, LinesJournal])
def test_a_writer_that_was_killed_before_it_made_its_file_left_nothing(
    kind: type[Journal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = opened(kind, tmp_path)
    journal._folder.begin(f"{RUN}{kind.suffix}")
    synced = watch_syncs(monkeypatch)
    assert records_of(journal) == []
    assert synced == ["journal"]


@pytest.mark.parametrize(("kind", "at"), [(FilesJournal, "journal"), (LinesJournal, "jsonl")])
def test_a_sync_that_fails_is_tried_again_before_a_replay_is_acknowledged(
    kind: type[Journal], at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = opened(kind, tmp_path)
    records = sealed(1, "one")
    with monkeypatch.context() as patched:
        watch_syncs(patched, OSError(errno.EIO, "it cannot be synced"), at)
        assert journal.append(RUN, 1, records) == Unavailable(detail="it cannot be synced")
        assert isinstance(journal.load(RUN, 1, 9), Unavailable)
        assert isinstance(journal.append(RUN, 1, records), NotStored)
    assert journal.append(RUN, 1, records) == acknowledge(records)
    assert records_of(journal) == records


def test_lines_that_cannot_be_synced_are_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, records = three_in(LinesJournal, tmp_path)
    with monkeypatch.context() as patched:
        watch_syncs(patched, OSError(errno.EIO, "it cannot be synced"))
        assert isinstance(journal.append(RUN, 4, sealed(4, "four")), Unavailable)
    assert records_of(journal) == records


def test_a_file_that_was_not_replaced_needs_no_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, records = three_in(FilesJournal, tmp_path)
    watch_syncs(monkeypatch, OSError(errno.EIO, "it cannot be synced"))
    assert journal.append(RUN, 4, sealed(4, "four")) == NotStored(detail="it cannot be synced")
    assert records_of(journal) == records


# Whole files


def frame(letters: bytes, payload: bytes) -> bytes:
    return letters + len(payload).to_bytes(4, "big") + zlib.crc32(payload).to_bytes(4, "big") + payload


def test_the_file_of_a_run_holds_its_frames(tmp_path: Path) -> None:
    journal, records = three_in(FilesJournal, tmp_path)
    content = file_of(tmp_path, journal).read_bytes()
    assert content == b"".join(frame(b"MWJ1", record.body.encode()) for record in records)
    assert content[:12] == b"MWJ1\x00\x00\x01\x29" + zlib.crc32(records[0].body.encode()).to_bytes(4, "big")


def ends_of(journal: Journal, records: Sequence[Envelope]) -> list[int]:
    overhead = 12 if journal.suffix == ".mwj1" else 1
    return list(accumulate(len(record.body.encode()) + overhead for record in records))


def corrupt_at(journal: Journal, sequence: int) -> None:
    answer = journal.load(RUN, 1, 10)
    assert isinstance(answer, Corrupt), answer
    assert answer.sequence == sequence
    assert isinstance(journal.append(RUN, 4, sealed(4, "four")), NotStored)


def test_a_whole_file_that_is_cut_or_flipped_anywhere_is_corrupt_there(tmp_path: Path) -> None:
    journal, records = three_in(WrittenFilesJournal, tmp_path)
    path = file_of(tmp_path, journal)
    content = path.read_bytes()
    ends = ends_of(journal, records)
    for position in range(ends[0], len(content)):
        sequence = 2 if position < ends[1] else 3
        for bit in (0, 3, 7):
            path.write_bytes(content[:position] + bytes([content[position] ^ 1 << bit]) + content[position + 1 :])
            corrupt_at(journal, sequence)
        path.write_bytes(content[:position])
        if position == ends[0]:  # Between two batches.
            assert records_of(journal) == records[:1]
        else:
            corrupt_at(journal, sequence)
    path.write_bytes(b"")
    corrupt_at(journal, 1)
    path.write_bytes(content)
    assert records_of(journal) == records


def test_zeros_behind_a_whole_file_are_damage(tmp_path: Path) -> None:
    journal, _ = three_in(WrittenFilesJournal, tmp_path)
    with file_of(tmp_path, journal).open("ab", buffering=0) as file:
        for _ in range(4_096):
            file.write(b"\0")
            assert isinstance(answer := journal.load(RUN, 1, 10), Corrupt)
            assert answer.sequence == 4


def test_a_frame_of_another_run_or_place_is_damage(tmp_path: Path) -> None:
    journal, records = three_in(WrittenFilesJournal, tmp_path)
    path = file_of(tmp_path, journal)
    for wrong in (sealed(2, "two", run=OTHER_RUN), sealed(3, "three")):
        path.write_bytes(b"".join(frame(b"MWJ1", record.body.encode()) for record in [records[0], *wrong]))
        corrupt_at(journal, 2)
    path.write_bytes(frame(b"MWJ1", b"no json"))
    corrupt_at(journal, 1)


def snapshot_body(sequence: int, run: RunId = RUN, text: str = "") -> str:
    return canonical_json({"run_id": run, "sequence": sequence, "text": text}).decode()


@pytest.mark.parametrize("kind", FILES)
def test_snapshots_and_leases_are_kept(kind: type[FilesJournal], tmp_path: Path) -> None:
    journal, other = kind(tmp_path, "journal"), kind(tmp_path, "journal")
    assert journal.load_snapshot(RUN) == NoSnapshot()
    assert journal.save_snapshot(RUN, 2, snapshot_body(2)) == Done()
    assert other.load_snapshot(RUN) == Snapshot(2, snapshot_body(2))
    assert tmp_path.joinpath("journal", f"{RUN}.mws1").read_bytes() == frame(b"MWS1", snapshot_body(2).encode())
    assert isinstance(journal.save_snapshot(RUN, 3, snapshot_body(2)), NotStored)
    assert isinstance(journal.save_snapshot(RUN, 3, "no json"), NotStored)
    for odd in ("[" * 100_000, '"\ud800"'):
        body = snapshot_body(2, text="odd").replace('"odd"', odd)
        assert isinstance(journal.save_snapshot(RUN, 2, body), NotStored)
    too_large = snapshot_body(2, text="x" * BUILT_IN_LIMITS.max_snapshot_bytes)
    assert isinstance(journal.save_snapshot(RUN, 2, too_large), TooLarge)
    assert journal.acquire(RUN, OWNER, 10, 0) == Granted(1, 10)
    assert isinstance(other.acquire(RUN, OWNER, 10, 10), Held)
    assert other.renew(RUN, 1, 10, 5) == Renewed(15)
    assert isinstance(other.renew(RUN, 2, 10, 5), StaleEpoch)
    assert isinstance(other.release(RUN, 2), StaleEpoch)
    assert other.release(RUN, 1) == Done()
    assert journal.acquire(RUN, OWNER, 10, 0) == Granted(2, 10)
    assert isinstance(journal.append(RUN, 1, sealed(1, "one")), StaleEpoch)
    assert isinstance(journal.append(RUN, 1, sealed(1, "one"), 2), Acknowledged)


@pytest.mark.parametrize(
    ("kind", "name", "level"),
    [
        (FilesJournal, "files", "posix-weak"),
        (FlushedFilesJournal, "files-flush", "process-crash"),
        (WrittenFilesJournal, "files-write", "process-crash"),
        (LinesJournal, "lines", "ordered"),
    ],
)
def test_only_who_syncs_claims_to_survive_a_power_cut(
    kind: type[Journal], name: str, level: str, tmp_path: Path
) -> None:
    description = opened(kind, tmp_path).description
    assert (description.name, description.capabilities.durable) == (name, level)
    assert description.capabilities.format == ("jsonl" if kind is LinesJournal else "mwj1")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"MWS1",
        frame(b"MWJ1", snapshot_body(2).encode()),
        frame(b"MWS1", snapshot_body(2).encode())[:-1],
        frame(b"MWS1", snapshot_body(2).encode()) + b"\0",
        frame(b"MWS1", snapshot_body(2).encode()) * 2,
        frame(b"MWS1", snapshot_body(2, OTHER_RUN).encode()),
        frame(b"MWS1", b"no json"),
    ],
)
def test_a_damaged_snapshot_is_none_and_is_told(
    content: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal = WrittenFilesJournal(tmp_path, "journal")
    tmp_path.joinpath("journal", f"{RUN}.mws1").write_bytes(content)
    assert journal.load_snapshot(RUN) == NoSnapshot()
    assert f"snapshot_discarded: run {RUN}: " in caplog.text


def test_a_snapshot_that_cannot_be_read_is_unavailable(tmp_path: Path) -> None:
    journal = WrittenFilesJournal(tmp_path, "journal")
    tmp_path.joinpath("journal", f"{RUN}.mws1").mkdir()
    assert journal.load_snapshot(RUN) == Unavailable(detail="Is a directory")


@pytest.mark.parametrize("content", [b"", b"{}", frame(b"MWS1", b'{"epoch":1}'), frame(b"MWS1", b"[]")])
def test_a_damaged_lease_grants_nothing_and_lets_nothing_in(content: bytes, tmp_path: Path) -> None:
    journal = WrittenFilesJournal(tmp_path, "journal")
    tmp_path.joinpath("journal", f"{RUN}.lease").write_bytes(content)
    assert isinstance(journal.acquire(RUN, OWNER, 10, 0), NotStored)
    assert isinstance(journal.append(RUN, 1, sealed(1, "one")), NotStored)


def test_a_full_disk_stores_nothing_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, records = three_in(FilesJournal, tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing(errno.ENOSPC))
        assert journal.append(RUN, 4, sealed(4, "four")) == NotStored(detail="No space left on device")
        assert isinstance(journal.save_snapshot(RUN, 2, snapshot_body(2)), NotStored)
    assert not list(tmp_path.joinpath("journal").glob("*.tmp"))
    assert records_of(journal) == records


def test_once_a_file_was_renamed_a_failure_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, records = three_in(FilesJournal, tmp_path)
    more = sealed(4, "four")
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", failing(errno.EIO))
        assert journal.append(RUN, 4, more) == Unavailable(detail="Input/output error")
    assert records_of(journal) == [*records, *more]
    assert journal.append(RUN, 4, more) == acknowledge(more)


# Lines


def test_the_file_of_a_run_holds_its_lines(tmp_path: Path) -> None:
    journal, records = three_in(LinesJournal, tmp_path)
    assert file_of(tmp_path, journal).read_bytes() == b"".join(record.body.encode() + b"\n" for record in records)


def goes_on_after(journal: Journal, path: Path, kept: Sequence[Envelope], caplog: pytest.LogCaptureFixture) -> None:
    """A torn tail is told and dropped, and the next record takes its place."""
    caplog.clear()
    assert records_of(journal) == list(kept)
    assert f"torn_tail: run {RUN}: " in caplog.text
    at = len(kept) + 1
    assert journal.append(RUN, at + 1, sealed(at + 1, "late", number=90)) == SequenceConflict(actual_next=at)
    more = sealed(at, "anew", number=91)
    assert journal.append(RUN, at, more) == acknowledge(more)
    assert path.read_bytes() == b"".join(record.body.encode() + b"\n" for record in [*kept, *more])
    assert records_of(journal) == [*kept, *more]


def test_lines_that_are_cut_anywhere_are_a_torn_tail(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # Nothing is lost here, and a disk takes its time.
    journal, records = three_in(LinesJournal, tmp_path)
    path = file_of(tmp_path, journal)
    content = path.read_bytes()
    ends = ends_of(journal, records)
    for length in range(1, len(content)):
        path.write_bytes(content[:length])
        if length == ends[0]:
            assert records_of(journal) == records[:1]
        else:
            goes_on_after(journal, path, records[: length >= ends[0]], caplog)


def test_zeros_behind_lines_are_a_torn_tail(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    journal, records = three_in(LinesJournal, tmp_path)
    path = file_of(tmp_path, journal)
    content = path.read_bytes()
    with path.open("ab", buffering=0) as file:
        for _ in range(4_096):
            file.write(b"\0")
            assert records_of(journal) == records
    half = sealed(4, "four")[0].body.encode()[:100]
    for tail in (bytes(4_096), half + bytes(7), half, sealed(4, "all but its end")[0].body.encode()):
        path.write_bytes(content + tail)
        goes_on_after(journal, path, records, caplog)


def test_lines_that_are_flipped_anywhere_are_damage_unless_they_look_torn(tmp_path: Path) -> None:
    journal, records = three_in(LinesJournal, tmp_path)
    path = file_of(tmp_path, journal)
    content = path.read_bytes()
    ends = ends_of(journal, records)
    for position in range(ends[0], len(content)):
        for mask in (1, 8, 128):
            path.write_bytes(content[:position] + bytes([content[position] ^ mask]) + content[position + 1 :])
            corrupt_at(journal, 2 if position < ends[1] else 3)
    path.write_bytes(content[:-1] + b"\0")  # That cannot be told from a line without its end, and zeros.
    assert records_of(journal) == records[:1]


@pytest.mark.parametrize(
    "lines",
    [
        sealed(2, "two", run=OTHER_RUN),
        sealed(3, "three"),
        sealed(2, "two", "three")[1:],
        [sealed(2, "two", "three")[0], *sealed(3, "three")],
    ],
)
def test_a_line_of_another_run_place_or_batch_is_damage(lines: list[Envelope], tmp_path: Path) -> None:
    journal = opened(LinesJournal, tmp_path)
    first = sealed(1, "one")
    path = file_of(tmp_path, journal)
    path.write_bytes(b"".join(record.body.encode() + b"\n" for record in [*first, *lines]))
    corrupt_at(journal, len(lines) + 1)


@pytest.mark.parametrize(
    "rest", [b"x", b"[]", b"{}", b'{"a":1}', b'{"a":1}x', b'{"a":"\\"}"}}', b"\xff", b'{"\xff', b'{"a\x01']
)
def test_a_rest_that_is_no_beginning_of_a_record_is_damage(rest: bytes, tmp_path: Path) -> None:
    journal, _ = three_in(LinesJournal, tmp_path)
    path = file_of(tmp_path, journal)
    path.write_bytes(path.read_bytes() + rest)
    corrupt_at(journal, 4)


def test_what_does_not_fit_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, records = three_in(LinesJournal, tmp_path)
    path = file_of(tmp_path, journal)
    content = path.read_bytes()
    write = os.pwrite
    calls: list[int] = []

    def short(descriptor: int, data: bytes, offset: int) -> int:
        calls.append(offset)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data[:10], offset)

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", short)
        assert journal.append(RUN, 4, sealed(4, "four")) == NotStored(detail="No space left on device")
    assert path.read_bytes() == content
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing(errno.EIO))
        assert journal.append(RUN, 4, sealed(4, "four")) == Unavailable(detail="Input/output error")
    assert records_of(journal)[:3] == records
