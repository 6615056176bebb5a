"""The client over every journal that is built in: what is sound passes, and what was damaged beneath it is told."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.model.playing import RUN
from tests.model.test_client import BATCHES, BORDERS, RECORDS, played, resealed

from perdure.journal.client import Appended, Client, JournalFault
from perdure.journal.contract import (
    AppendAnswer,
    Description,
    Envelope,
    LoadAnswer,
    Page,
    SequenceConflict,
    Unavailable,
)
from perdure.journal.files import FilesJournal, FlushedFilesJournal, WrittenFilesJournal
from perdure.journal.frames import frame
from perdure.journal.lines import LinesJournal
from perdure.journal.memory import MemoryJournal
from perdure.journal.reference import ReferenceJournal
from perdure.journal.sqlite import SqliteJournal
from perdure.kernel.errors import HistoryError
from perdure.kernel.histories import Standing
from perdure.kernel.identity import RunId
from perdure.kernel.snapshots import state_digest

KINDS: list[Any] = [
    MemoryJournal,
    FilesJournal,
    FlushedFilesJournal,
    WrittenFilesJournal,
    LinesJournal,
    SqliteJournal,
]
"""Every journal that is built in."""
KEPT: list[Any] = [kind for kind in KINDS if kind is not MemoryJournal]
"""Those whose runs lie in files."""
OTHER_ID = "00000000-0000-7000-8000-00000000ffff"


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with closing(request.param(tmp_path, "journal")) as opened:
        yield opened


def client_of(journal: Any) -> Client:
    """Return a client that keeps snapshots in the journal, or beside it if it has none."""
    return Client(journal, journal if hasattr(journal, "save_snapshot") else ReferenceJournal())


def digest_of(standing: Standing | None) -> str:
    assert standing is not None
    return state_digest(standing.state)


def stored(journal: Any) -> list[bytes]:
    page = journal.load(RUN, 1, 1_000)
    assert isinstance(page, Page)
    assert page.end
    return [record.body.encode() for record in page.records]


class Doubtful:
    """A journal that stores and says nothing of it, once; it may stop to recognise what it is sent again."""

    def __init__(self, journal: Any, *, stores: bool, exact_replay: bool) -> None:
        self._journal, self._stores, self._exact_replay = journal, stores, exact_replay
        self._is_silent = True

    @property
    def description(self) -> Description:
        true: Description = self._journal.description
        return replace(true, capabilities=replace(true.capabilities, exact_replay=self._exact_replay))

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        silent, self._is_silent = self._is_silent, False
        if silent and not self._stores:
            return Unavailable()
        answer: AppendAnswer = self._journal.append(run_id, expected_next, records, epoch)
        return Unavailable() if silent else answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        answer: LoadAnswer = self._journal.load(run_id, from_sequence, min(limit, 1))
        return answer

    def close(self) -> None:
        self._journal.close()


def test_what_is_appended_is_stored_byte_for_byte(journal: Any) -> None:
    played(client_of(journal))
    assert stored(journal) == RECORDS


@pytest.mark.parametrize("stores", [True, False])
@pytest.mark.parametrize("exact_replay", [True, False])
def test_after_an_answer_that_says_nothing_each_batch_is_stored_once(
    journal: Any, *, stores: bool, exact_replay: bool
) -> None:
    standing = None
    for batch in BATCHES:
        answer = Client(Doubtful(journal, stores=stores, exact_replay=exact_replay)).append(standing, batch)
        assert isinstance(answer, Appended)
        standing = answer.standing
    assert stored(journal) == RECORDS


@pytest.mark.parametrize("exact_replay", [True, False])
def test_after_an_answer_that_says_nothing_a_conflict_tells_where_the_run_is(
    journal: Any, *, exact_replay: bool
) -> None:
    early = played(Client(ReferenceJournal()), 1)
    played(client_of(journal))
    late = Client(Doubtful(journal, stores=False, exact_replay=exact_replay))
    answer = late.append(early, [resealed(line, event_id=OTHER_ID) for line in BATCHES[1]])
    assert isinstance(answer, SequenceConflict)
    assert answer.actual_next == len(RECORDS) + 1


@pytest.mark.parametrize("number", range(1, len(BATCHES) + 1))
def test_a_snapshot_and_what_follows_are_the_whole_history(journal: Any, number: int) -> None:
    client = client_of(journal)
    standing = played(client, number)
    client.snapshot(standing)
    for batch in BATCHES[number:]:
        answer = client.append(standing, batch)
        assert isinstance(answer, Appended)
        standing = answer.standing
    found = client.recover(RUN)
    assert found.snapshot == "used"
    assert digest_of(found.standing) == digest_of(standing) == digest_of(Client(journal).recover(RUN).standing)


def test_a_snapshot_of_what_was_lost_is_discarded(journal: Any) -> None:
    client = client_of(journal)
    client.snapshot(played(Client(ReferenceJournal())))
    shorter = played(client, len(BATCHES) - 1)
    found = client.recover(RUN)
    assert (found.snapshot, found.diagnostic.partition(":")[0]) == ("discarded", "wrong_position")
    assert digest_of(found.standing) == digest_of(shorter)


# What was damaged beneath


def rewritten(journal: Any, folder: Path, lines: Sequence[bytes]) -> None:
    """Put other records in the place of those of a run, whatever they say; every frame is sound, every line whole."""
    if isinstance(journal, SqliteJournal):
        with closing(sqlite3.connect(folder / "journal.sqlite3", isolation_level=None)) as base:
            for sequence in range(len(RECORDS), len(lines), -1):
                base.execute("DELETE FROM records WHERE sequence = ?", (sequence,))
            for sequence, line in enumerate(lines, 1):
                base.execute("UPDATE records SET body = ? WHERE sequence = ?", (line.decode(), sequence))
        return
    framed = [frame("MWJ1", line) if isinstance(journal, FilesJournal) else line + b"\n" for line in lines]
    path = folder / "journal" / f"{RUN}{journal.suffix}"
    path.write_bytes(b"".join(framed))


def refused_at(client: Client) -> int | None:
    """Return where a run is refused, and not restored."""
    try:
        client.recover(RUN)
    except (HistoryError, JournalFault) as error:
        return error.sequence
    return None


@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("has_snapshot", [True, False])
@pytest.mark.parametrize("position", range(1, len(RECORDS) + 1))
def test_a_damaged_body_is_told_at_its_place_with_a_snapshot_and_without(
    tmp_path: Path, kind: Any, position: int, *, has_snapshot: bool
) -> None:
    with closing(kind(tmp_path, "journal")) as journal:
        client = client_of(journal)
        standing = played(client)
        if has_snapshot:
            client.snapshot(standing)
        line = RECORDS[position - 1]
        damaged = line.replace(b'"type"', b'"typo"')
        rewritten(journal, tmp_path, [*RECORDS[: position - 1], damaged, *RECORDS[position:]])
        assert refused_at(client) == position


@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("has_snapshot", [True, False])
@pytest.mark.parametrize("length", BORDERS[:-1])
def test_a_tail_that_was_lost_at_a_border_leaves_the_run_before_it(
    tmp_path: Path, kind: Any, length: int, *, has_snapshot: bool
) -> None:
    with closing(kind(tmp_path, "journal")) as journal:
        client = client_of(journal)
        standing = played(client)
        if has_snapshot:
            client.snapshot(standing)
        rewritten(journal, tmp_path, RECORDS[:length])
        found = client.recover(RUN)
        assert found.snapshot == ("discarded" if has_snapshot else "none")
        assert found.standing is not None
        assert found.standing.last.sequence == length
        answer = client.append(found.standing, BATCHES[BORDERS.index(length) + 1])
        assert isinstance(answer, Appended)


@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("has_snapshot", [True, False])
def test_a_tail_that_was_lost_inside_a_batch_is_no_shorter_run(
    tmp_path: Path, kind: Any, *, has_snapshot: bool
) -> None:
    with closing(kind(tmp_path, "journal")) as journal:
        client = client_of(journal)
        standing = played(client)
        if has_snapshot:
            client.snapshot(standing)
        inside = BORDERS[-1] - 1
        assert inside not in BORDERS
        rewritten(journal, tmp_path, RECORDS[:inside])
        if isinstance(journal, LinesJournal):  # It was never acknowledged: appended in place, that is a torn tail.
            found = client.recover(RUN)
            assert found.standing is not None
            assert found.standing.last.sequence == BORDERS[-2]
            return
        assert refused_at(client) == inside + 1
