"""The client of a journal: what is sound passes over every store; what a journal tells wrong is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec.structs import replace
from tests.model.helpers import OTHER_RUN
from tests.model.playing import RUN, Player, document, edge, node, uuid

from perdure.journal.client import ATTEMPTS, HISTORY_RECORDS, Appended, Client, JournalFault, Recovered, Skipped
from perdure.journal.contract import (
    Acknowledged,
    AppendAnswer,
    Capabilities,
    Corrupt,
    Description,
    Done,
    Envelope,
    EventIdConflict,
    LoadAnswer,
    LoadSnapshotAnswer,
    NotStored,
    Page,
    SaveSnapshotAnswer,
    SequenceConflict,
    Snapshot,
    StaleEpoch,
    TooLarge,
    Unavailable,
    acknowledge,
)
from perdure.journal.memory import MemoryJournal
from perdure.journal.reference import ReferenceJournal
from perdure.journal.sqlite import SqliteJournal
from perdure.kernel.caches import SnapshotError, read_snapshot, restored
from perdure.kernel.commands import DeliverSignal, Rejection, token_digest
from perdure.kernel.decide import decide
from perdure.kernel.errors import Corruption, HistoryError
from perdure.kernel.events import AnyEvent, RunCompleted
from perdure.kernel.histories import Standing
from perdure.kernel.identity import EventId, Name, NodeId, RunId
from perdure.kernel.records import Place, sealed, verified
from perdure.kernel.snapshots import state_digest
from perdure.kernel.values import JsonObject, canonical_json, digest, read_json

STORES: list[Callable[[Path, str], Any]] = [MemoryJournal, SqliteJournal]


def batches() -> list[list[bytes]]:
    """A loop with a signal and text that has a NUL, batch by batch."""
    run = Player(document([node("A", signals=["go", "stop"]), "B"], [edge("A>B", "succeeded")]))
    run.start("A")
    run.wait("A", "go")
    run.deliver("A", "go", payload="a\0b")
    run.end("A")
    run.run("B")
    return list(lines_of(run.batches))


def lines_of(found: Sequence[Sequence[AnyEvent]], first: int = 1) -> Iterator[list[bytes]]:
    for events in found:
        ids = [EventId(uuid(5_000 + first + index)) for index in range(len(events))]
        yield sealed(Place(RUN, first), events, ids)
        first += len(events)


BATCHES = batches()
RECORDS = [line for batch in BATCHES for line in batch]
BORDERS = [sum(map(len, BATCHES[: number + 1])) for number in range(len(BATCHES))]


def envelope(line: bytes) -> Envelope:
    value: Any = read_json(line)
    return Envelope(value["sequence"], value["event_id"], line.decode())


def resealed(line: bytes, **members: Any) -> bytes:
    """The record with other members, and the checksum that fits."""
    value: Any = read_json(line)
    value = {name: member for name, member in {**value, **members}.items() if name != "checksum"}
    return canonical_json({**value, "checksum": digest(value)})


def played(client: Client, most: int = len(BATCHES)) -> Standing:
    standing = None
    for batch in BATCHES[:most]:
        answer = client.append(standing, batch)
        assert isinstance(answer, Appended)
        standing = answer.standing
    assert standing is not None
    return standing


class Liar:
    """A journal whose answers are replaced, one after the other, by what a test says; None: the true one."""

    def __init__(
        self,
        lies: Sequence[Any] = (),
        *,
        exact_replay: bool = True,
        read: Literal["linearizable", "own_writes"] = "linearizable",
        **limits: int,
    ) -> None:
        self.true = ReferenceJournal()
        self.lies = list(lies)
        self.calls: list[str] = []
        self.exact_replay = exact_replay
        self.read = read
        self.limits = limits
        self.stores_first = False
        self.kept: LoadSnapshotAnswer | None = None

    @property
    def description(self) -> Description:
        true = self.true.description
        capabilities: Capabilities = replace(true.capabilities, exact_replay=self.exact_replay, read=self.read)
        return replace(true, capabilities=capabilities, limits=replace(true.limits, **self.limits))

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        self.calls.append("append")
        lie = self.lies.pop(0) if self.lies else None
        if lie is None or self.stores_first:
            true = self.true.append(run_id, expected_next, records, epoch)
            return lie or true
        answer: AppendAnswer = lie
        return answer

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        self.calls.append("load")
        lie = self.lies.pop(0) if self.lies else None
        answer: LoadAnswer = self.true.load(run_id, from_sequence, limit) if lie is None else lie
        return answer

    def close(self) -> None:
        self.true.close()

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        return self.true.save_snapshot(run_id, sequence, body)

    def load_snapshot(self, run_id: RunId) -> LoadSnapshotAnswer:
        return self.true.load_snapshot(run_id) if self.kept is None else self.kept


def filled(lines: Sequence[bytes]) -> Liar:
    """A journal that was filled by somebody else, whatever the lines say."""
    journal = Liar()
    journal.append(RUN, 1, [replace(envelope(line), sequence=place) for place, line in enumerate(lines, 1)])
    journal.calls.clear()
    return journal


def damaged(position: int, line: bytes) -> list[bytes]:
    return [*RECORDS[: position - 1], line, *RECORDS[position:]]


WHOLE = tuple(map(envelope, RECORDS))


# What is sound passes


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("page_records", [1, 2, 1_000])
def test_a_run_is_stored_and_recovered_at_every_border(
    tmp_path: Path, store: Callable[[Path, str], Any], page_records: int
) -> None:
    with closing(store(tmp_path, "journal")) as journal:
        client = Client(journal, journal, page_records=page_records)
        assert client.recover(RUN) == Recovered(None, "none", "there is no snapshot")
        standing = None
        for batch in BATCHES:
            answer = client.append(standing, batch)
            assert isinstance(answer, Appended)
            standing = answer.standing
            for found in (client.recover(RUN), Client(journal).recover(RUN)):
                assert found.standing is not None
                assert found.standing.last == standing.last
                assert state_digest(found.standing.state) == state_digest(standing.state)
            assert client.recover(RUN).snapshot == ("used" if batch is not BATCHES[0] else "none")
            assert client.snapshot(standing) == Done()
            assert client.recover(RUN).snapshot == "used"


def test_a_snapshot_at_any_border_and_what_follows_are_the_whole_history() -> None:
    for number in range(1, len(BATCHES) + 1):
        journal = Liar()
        client = Client(journal, journal)
        client.snapshot(played(client, number))
        standing = played(Client(filled([])), number)
        for batch in BATCHES[number:]:
            answer = client.append(standing, batch)
            assert isinstance(answer, Appended)
            standing = answer.standing
        found = client.recover(RUN)
        assert found.snapshot == "used"
        assert found.standing is not None
        assert state_digest(found.standing.state) == state_digest(standing.state)


# Before append


@pytest.mark.parametrize("store", STORES)
def test_a_second_terminal_event_is_refused_before_it_reaches_the_journal(
    tmp_path: Path, store: Callable[[Path, str], Any]
) -> None:
    with closing(store(tmp_path, "journal")) as journal:
        client = Client(journal)
        standing = played(client)
        (again,) = lines_of([[RunCompleted()]], len(RECORDS) + 1)
        with pytest.raises(Corruption) as error:
            client.append(standing, again)
        assert (error.value.code, error.value.sequence) == ("run_terminal", len(RECORDS) + 1)
        page = journal.load(RUN, 1, 1_000)
        assert [one.body.encode() for one in page.records] == RECORDS


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([], "wrong_batch"),
        (BATCHES[1] + BATCHES[2], "wrong_batch"),
        (BATCHES[1][:-1] if len(BATCHES[1]) > 1 else [], "wrong_batch"),
        (BATCHES[2], "gap"),
        ([line.replace(b'"event"', b' "event"') for line in BATCHES[1]], "not_canonical"),
        ([line.replace(b'"sequence"', b'"run_id":"x","sequence"') for line in BATCHES[1]], "not_json"),
        ([line.replace(uuid(5_003).encode(), uuid(6_003).encode()) for line in BATCHES[1]], "wrong_checksum"),
        ([resealed(line, run_id=OTHER_RUN) for line in BATCHES[1]], "wrong_run"),
        ([resealed(line, schema_version=9) for line in BATCHES[1]], "unknown_version"),
        ([resealed(line, event={"type": "RunCompleted"}) for line in BATCHES[1]], "nothing_owed"),
        ([line.replace(b'"event":{', b'"event":{"x":NaN,') for line in BATCHES[1]], "not_json"),
        ([line.replace(b'"event":{', b'"event":{"x":"\\ud800",') for line in BATCHES[1]], "not_json"),
        ([b"\xff"], "not_json"),
    ],
)
def test_nothing_unsound_is_sent(lines: list[bytes], code: str) -> None:
    journal = Liar()
    client = Client(journal)
    standing = played(client, 1)
    journal.calls.clear()
    with pytest.raises(HistoryError) as error:
        client.append(standing, lines)
    assert error.value.code == code
    assert error.value.sequence == BORDERS[0] + 1
    assert journal.calls == []


# What a journal says to an append


SENT = [envelope(line) for line in BATCHES[0]]


@pytest.mark.parametrize(
    "lie",
    [
        Acknowledged(()),
        acknowledge(SENT[:-1]),
        acknowledge([*SENT, *SENT]),
        acknowledge([replace(one, sequence=one.sequence + 1) for one in SENT]),
        acknowledge([replace(one, event_id=EventId(uuid(9))) for one in SENT]),
    ],
)
def test_no_acknowledgement_is_believed_but_that_of_exactly_the_records(lie: Acknowledged) -> None:
    with pytest.raises(JournalFault, match="other records") as fault:
        Client(Liar([lie])).append(None, BATCHES[0])
    assert (fault.value.code, fault.value.sequence) == ("wrong_acknowledgement", 1)


@pytest.mark.parametrize("answer", [NotStored(), EventIdConflict(), SequenceConflict(actual_next=7)])
def test_a_refusal_is_returned_as_it_is(answer: AppendAnswer) -> None:
    journal = Liar([answer])
    assert Client(journal).append(None, BATCHES[0]) == answer
    assert journal.calls == ["append"]


@pytest.mark.parametrize("is_stored", [True, False])
@pytest.mark.parametrize("exact_replay", [True, False])
def test_after_an_answer_that_says_nothing_the_records_are_stored_once(*, is_stored: bool, exact_replay: bool) -> None:
    journal = Liar([Unavailable()], exact_replay=exact_replay)
    journal.stores_first = is_stored
    answer = Client(journal).append(None, BATCHES[0])
    assert isinstance(answer, Appended)
    read = [] if exact_replay else ["load"]
    assert journal.calls == ["append", *read, *([] if is_stored and not exact_replay else ["append"])]
    assert journal.load(RUN, 1, 100) == Page(tuple(SENT), end=True)


@pytest.mark.parametrize("refusal", [StaleEpoch(), NotStored(), EventIdConflict()])
def test_nothing_is_known_of_a_batch_that_a_journal_need_not_show(refusal: AppendAnswer) -> None:
    journal = Liar([Unavailable(), refusal, Page((), end=True)], read="own_writes")
    journal.stores_first = True
    assert isinstance(Client(journal).append(None, BATCHES[0]), Unavailable)
    linearizable = Liar([Unavailable(), refusal, Page((), end=True)])
    assert Client(linearizable).append(None, BATCHES[0]) == refusal


@pytest.mark.parametrize("exact_replay", [True, False])
def test_a_journal_that_never_answers_is_asked_so_often(*, exact_replay: bool) -> None:
    journal = Liar([Unavailable()] * 10, exact_replay=exact_replay)
    answer = Client(journal).append(None, BATCHES[0])
    assert isinstance(answer, Unavailable)
    assert journal.calls == ["append"] + ([*["append"] * (ATTEMPTS - 1)] if exact_replay else ["load"] * ATTEMPTS)


OTHERS = tuple(replace(one, event_id=EventId(uuid(7_000 + one.sequence))) for one in SENT)


@pytest.mark.parametrize("page_records", [1, 2, 1_000])
def test_other_records_in_that_place_are_a_conflict(page_records: int) -> None:
    journal = Liar([Unavailable()], exact_replay=False)
    journal.true.append(RUN, 1, OTHERS)
    journal.true.append(RUN, len(OTHERS) + 1, [replace(OTHERS[0], sequence=len(OTHERS) + 1, event_id=EventId(uuid(8)))])
    answer = Client(journal, page_records=page_records).append(None, BATCHES[0])
    assert answer == SequenceConflict(actual_next=len(OTHERS) + 2, detail="other records are stored there")


class Brief(Liar):
    """A journal whose pages hold one record each, however many are asked for."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        return super().load(run_id, from_sequence, min(1, limit))


def test_what_is_stored_is_found_on_however_many_pages() -> None:
    journal = Brief([Unavailable()], exact_replay=False)
    journal.stores_first = True
    assert len(SENT) > 1
    assert isinstance(Client(journal).append(None, BATCHES[0]), Appended)
    assert journal.calls == ["append", *["load"] * len(SENT)]


@pytest.mark.parametrize("exact_replay", [True, False])
@pytest.mark.parametrize("refusal", [SequenceConflict(actual_next=9), EventIdConflict(), StaleEpoch(), NotStored()])
@pytest.mark.parametrize("is_stored", [True, False])
def test_a_refusal_of_what_is_sent_again_says_nothing_of_what_is_stored(
    *, is_stored: bool, refusal: AppendAnswer, exact_replay: bool
) -> None:
    read = [] if exact_replay else [Page((), end=True)]
    journal = Liar([Unavailable(), *read, refusal], exact_replay=exact_replay)
    journal.stores_first = is_stored
    answer = Client(journal).append(None, BATCHES[0])
    assert isinstance(answer, Appended) if is_stored else answer == refusal


def test_a_refusal_of_what_is_sent_again_settles_nothing_if_nothing_can_be_read() -> None:
    journal = Liar([Unavailable(), NotStored(), *[Unavailable()] * ATTEMPTS])
    assert isinstance(Client(journal).append(None, BATCHES[0]), Unavailable)


def test_a_part_of_a_batch_is_told_as_that() -> None:
    journal = Liar([Unavailable()], exact_replay=False)
    journal.true.append(RUN, 1, SENT[:1])
    with pytest.raises(JournalFault, match="the first 1 records alone") as fault:
        Client(journal).append(None, BATCHES[0])
    assert (fault.value.code, fault.value.sequence) == ("partly_stored", 2)


class Endless(Liar):
    """A journal that always has one more page, with whatever record."""

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        self.calls.append("load")
        found = self.true.load(run_id, from_sequence, limit)
        assert isinstance(found, Page)
        return replace(found, records=found.records or OTHERS[:1], end=False)


def test_a_journal_whose_history_never_ends_is_left_alone_at_the_bound() -> None:
    journal = Endless([Unavailable()], exact_replay=False)
    with pytest.raises(JournalFault, match="longer than 20 records") as fault:
        Client(journal, history_records=20).append(None, BATCHES[0])
    assert (fault.value.code, fault.value.sequence) == ("too_long", 21)
    assert len(journal.calls) < 25


def test_a_run_whose_batches_never_end_is_left_alone_at_the_bound() -> None:
    journal = filled(RECORDS)
    with pytest.raises(JournalFault) as fault:
        Client(journal, history_records=len(RECORDS) - 1).recover(RUN)
    assert (fault.value.code, fault.value.sequence) == ("too_long", len(RECORDS))
    assert Client(journal, history_records=len(RECORDS)).recover(RUN).standing is not None
    assert HISTORY_RECORDS >= 2**22


def test_nothing_is_sent_that_could_not_be_read_again() -> None:
    journal = Liar()
    client = Client(journal, history_records=BORDERS[1] - 1)
    standing = played(client, 1)
    journal.calls.clear()
    with pytest.raises(JournalFault) as fault:
        client.append(standing, BATCHES[1])
    assert (fault.value.code, journal.calls) == ("too_long", [])


# After load


@pytest.mark.parametrize(
    ("lines", "code", "sequence"),
    [
        (damaged(3, RECORDS[2].replace(b'"event"', b' "event"')), "not_canonical", 3),
        (damaged(3, RECORDS[2].replace(b'"sequence"', b'"sequence":3,"sequence"')), "not_json", 3),
        (damaged(3, RECORDS[2].replace(uuid(5_003).encode(), uuid(6_003).encode())), "wrong_checksum", 3),
        (damaged(3, resealed(RECORDS[2], run_id=OTHER_RUN)), "wrong_run", 3),
        (damaged(3, resealed(RECORDS[2], schema_version=9)), "unknown_version", 3),
        (damaged(3, resealed(RECORDS[2], event={"type": "RunCompleted"})), "nothing_owed", 3),
        (RECORDS[:1], "incomplete_batch", 2),
    ],
)
def test_nothing_unsound_is_served(lines: list[bytes], code: str, sequence: int) -> None:
    bodies = [
        Envelope(place, envelope(RECORDS[place - 1]).event_id, line.decode()) for place, line in enumerate(lines, 1)
    ]
    client = Client(Liar([Page(tuple(bodies), end=True)]))
    with pytest.raises(HistoryError) as error:
        client.recover(RUN)
    assert (error.value.code, error.value.sequence) == (code, sequence)


@pytest.mark.parametrize(
    ("pages", "code", "sequence"),
    [
        ([Page((*WHOLE[:3], WHOLE[2]), end=True)], "repeated", 4),
        ([Page(WHOLE[:3], end=False), Page(WHOLE[2:], end=True)], "repeated", 4),
        ([Page(WHOLE[:3], end=False), Page((), end=False)], "no_end", 4),
        ([Page(WHOLE[:3], end=False), Corrupt(sequence=4)], "corrupt", 4),
        ([Page(WHOLE[:3], end=False), Corrupt(sequence=4, detail="a hole")], "corrupt", 4),
        ([Page(WHOLE[:3], end=False), *[Unavailable(detail="EIO")] * ATTEMPTS], "unavailable", 4),
        ([*[Unavailable()] * ATTEMPTS], "unavailable", 1),
        ([Page((replace(WHOLE[0], event_id=EventId(uuid(9))), *WHOLE[1:]), end=True)], "wrong_envelope", 1),
        ([Page((WHOLE[0], replace(WHOLE[1], sequence=3)), end=True)], "wrong_envelope", 2),
        ([Page(WHOLE * 200, end=True)], "too_many", 1),
    ],
)
def test_a_journal_that_tells_wrong_is_told_by_name(pages: list[LoadAnswer], code: str, sequence: int) -> None:
    with pytest.raises(JournalFault) as fault:
        Client(Liar(pages)).recover(RUN)
    assert (fault.value.code, fault.value.sequence) == (code, sequence)


def test_a_gap_names_the_sequence_that_is_missing() -> None:
    with pytest.raises(Corruption) as error:
        Client(Liar([Page((*WHOLE[:2], *WHOLE[3:]), end=True)])).recover(RUN)
    assert (error.value.code, error.value.sequence) == ("gap", 3)


def test_a_journal_that_answers_at_last_is_heard() -> None:
    journal = Liar([Unavailable()] * (ATTEMPTS - 1) + [Page(WHOLE, end=True)])
    found = Client(journal).recover(RUN)
    assert found.standing is not None
    assert found.standing.last.sequence == len(RECORDS)


# Snapshots


def snapshot_of(number: int) -> Snapshot:
    journal = Liar()
    client = Client(journal, journal)
    client.snapshot(played(client, number))
    found = journal.load_snapshot(RUN)
    assert isinstance(found, Snapshot)
    return found


SNAPSHOT = snapshot_of(3)
DOCUMENT: Any = read_json(SNAPSHOT.body)
EMPTY_DIGEST = digest({})


def written(**members: Any) -> str:
    return canonical_json({**DOCUMENT, **members}).decode()


def with_state(**members: Any) -> str:
    state: JsonObject = {**DOCUMENT["state"], **members}
    return written(state=state, state_checksum=digest(state))


def moved(sequence: int) -> str:
    """The snapshot tied to another record of the run."""
    value: Any = read_json(RECORDS[sequence - 1])
    return written(sequence=sequence, event_id=value["event_id"], record_checksum=value["checksum"])


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", "not_json"),
        ("\ud800", "not_json"),
        (SNAPSHOT.body.replace('"sequence"', '"sequence":1,"sequence"', 1), "not_json"),
        (SNAPSHOT.body + " ", "not_canonical"),
        ("[]", "wrong_structure"),
        (written(surplus=1), "wrong_structure"),
        (written(snapshot_schema_version=2), "unknown_version"),
        (written(state_checksum=EMPTY_DIGEST), "wrong_checksum"),
        (written(run_id=OTHER_RUN), "wrong_run"),
        (written(event_id=uuid(9)), "wrong_event_id"),
        (written(record_checksum=EMPTY_DIGEST), "wrong_record"),
        (written(content_hash=EMPTY_DIGEST), "wrong_specification"),
        (with_state(sequence=SNAPSHOT.sequence - 1), "wrong_state"),
        (with_state(run_id=OTHER_RUN), "wrong_state"),
        (with_state(input={"x": 1}), "wrong_state"),
        (with_state(status="completed"), "wrong_state"),
        (with_state(state_schema_version=3), "wrong_state"),
    ],
)
def test_a_snapshot_with_anything_wrong_is_discarded_for_the_whole_history(body: str, code: str) -> None:
    journal = filled(RECORDS)
    journal.kept = Snapshot(SNAPSHOT.sequence, body)
    found = Client(journal, journal).recover(RUN)
    assert found.snapshot == "discarded"
    assert found.diagnostic.partition(":")[0] == code
    assert found.standing is not None
    assert found.standing.last.sequence == len(RECORDS)


@pytest.mark.parametrize(
    ("kept", "code"),
    [
        (Snapshot(SNAPSHOT.sequence - 1, SNAPSHOT.body), "wrong_position"),
        (Snapshot(len(RECORDS) + 1, written(sequence=len(RECORDS) + 1)), "wrong_position"),
        (Snapshot(1, moved(1)), "inside_batch"),
    ],
)
def test_a_snapshot_is_tied_to_its_position(kept: Snapshot, code: str) -> None:
    journal = filled(RECORDS)
    journal.kept = kept
    found = Client(journal, journal).recover(RUN)
    assert (found.snapshot, found.diagnostic.partition(":")[0]) == ("discarded", code)
    assert found.standing is not None
    assert found.standing.last.sequence == len(RECORDS)


def test_a_snapshot_is_held_against_the_record_that_it_names() -> None:
    with pytest.raises(SnapshotError) as error:
        restored(read_snapshot(SNAPSHOT.body.encode()), verified(RECORDS[0]), verified(RECORDS[0]))
    assert error.value.code == "wrong_position"


@pytest.mark.parametrize("position", range(1, len(RECORDS) + 1))
def test_no_snapshot_hides_that_a_record_is_damaged(position: int) -> None:
    line = RECORDS[position - 1]
    journal = filled(damaged(position, line.replace(b'"batch_size"', b'"Batch_size"')))
    journal.kept = SNAPSHOT
    with pytest.raises(HistoryError) as error:
        Client(journal, journal).recover(RUN)
    assert (error.value.code, error.value.sequence) == ("unknown_member", position)


@pytest.mark.parametrize(
    "edit",
    [
        {"event_id": uuid(5_001)},
        {"run_id": OTHER_RUN},
        {"batch_index": 7, "batch_size": 9},
    ],
)
def test_no_snapshot_hides_that_records_are_not_of_one_history(edit: JsonObject) -> None:
    pages = Page(tuple(map(envelope, damaged(2, resealed(RECORDS[1], **edit)))), end=True)
    journal = Liar([pages, pages])
    journal.kept = SNAPSHOT
    with pytest.raises(HistoryError) as error:
        Client(journal, journal).recover(RUN)
    assert error.value.sequence == 2


@pytest.mark.parametrize(
    "lie",
    [
        Corrupt(sequence=SNAPSHOT.sequence),
        Page((replace(WHOLE[0], event_id=EventId(uuid(9))),), end=False),
        Page((), end=False),
        Page(WHOLE * 200, end=True),
    ],
)
def test_a_journal_that_is_wrong_once_costs_a_snapshot_and_no_run(lie: LoadAnswer) -> None:
    journal = filled(RECORDS)
    journal.kept, journal.lies = SNAPSHOT, [lie]
    found = Client(journal, journal).recover(RUN)
    assert found.snapshot == "discarded"
    assert found.standing is not None
    assert found.standing.last.sequence == len(RECORDS)


def test_a_signal_that_a_snapshot_includes_is_consumed() -> None:
    number = next(n for n, batch in enumerate(BATCHES, 1) if any(b"SignalAccepted" in line for line in batch))
    journal = filled([line for batch in BATCHES[:number] for line in batch])
    journal.kept = snapshot_of(number)
    found = Client(journal, journal).recover(RUN)
    assert found.snapshot == "used"
    assert found.standing is not None
    (signal_id,) = found.standing.state.signals
    again = DeliverSignal(node=NodeId("A"), signal_id=signal_id, name=Name("go"), token_sha256=token_digest("secret"))
    answer = decide(found.standing.state, again)
    assert isinstance(answer, Rejection)
    assert (answer.code, answer.disposition) == ("already_consumed", "accepted")


def test_a_snapshot_that_hides_what_follows_is_found_by_what_follows() -> None:
    journal = filled(RECORDS)
    journal.kept = Snapshot(SNAPSHOT.sequence, with_state(nodes=waiting_for_another()))
    found = Client(journal, journal).recover(RUN)
    assert found.snapshot == "discarded"
    assert found.standing is not None
    assert state_digest(found.standing.state) == state_digest(played(Client(Liar())).state)


def waiting_for_another() -> Any:
    """The nodes of the state at the snapshot, one of which waits for another signal."""
    nodes = dict(DOCUMENT["state"]["nodes"])
    active = nodes["A"]["active"]
    nodes["A"] = {**nodes["A"], "active": {**active, "wait": {**active["wait"], "name": "stop"}}}
    return nodes


def test_a_first_record_that_creates_no_run_pins_nothing() -> None:
    journal = filled(damaged(1, resealed(RECORDS[0], event={"type": "RunCompleted"})))
    journal.kept = SNAPSHOT
    with pytest.raises(HistoryError) as error:
        Client(journal, journal).recover(RUN)
    assert (error.value.code, error.value.sequence) == ("no_run", 1)


def test_a_snapshot_that_cannot_be_had_is_not_missed() -> None:
    journal = filled(RECORDS)
    journal.kept = Unavailable()
    found = Client(journal, journal).recover(RUN)
    assert (found.snapshot, found.diagnostic) == ("none", "the snapshot is unavailable")
    assert found.standing is not None


def test_without_a_place_no_snapshot_is_kept() -> None:
    client = Client(Liar())
    assert isinstance(client.snapshot(played(client)), Skipped)
    assert client.recover(RUN).diagnostic == "no snapshots are kept"


def test_a_snapshot_too_large_is_skipped_and_nothing_else_is_lost() -> None:
    journal = Liar(max_snapshot_bytes=100)
    client = Client(journal, journal)
    answer: SaveSnapshotAnswer | Skipped = client.snapshot(played(client))
    assert isinstance(answer, TooLarge)
    assert "at most 100 fit" in answer.detail
    assert client.recover(RUN).snapshot == "none"


def test_inside_a_batch_there_is_no_snapshot() -> None:
    standing = played(Client(Liar()), 1)
    inside = Standing(replace(standing.last, batch_index=0, batch_size=2), standing.state)
    with pytest.raises(Corruption, match="between two batches"):
        Client(Liar()).snapshot(inside)
