"""What theorems about journals take for granted: bytes are read as they say, and longer batches are decided alike."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import pytest

from perdure.journal.contract import Acknowledged, Envelope, SequenceConflict, acknowledge
from perdure.journal.files import FilesJournal
from perdure.journal.folder import Damaged, RunsInFiles
from perdure.journal.frames import frame
from perdure.journal.lines import LinesJournal
from perdure.journal.records import seal
from perdure.journal.reference import ReferenceJournal
from perdure.kernel.identity import EventId, RunId
from perdure_proofs.journal.commits import Place, Read, Reading, is_sound
from perdure_proofs.symbols import identity_text

RUN = RunId(identity_text(1))


def seeded() -> random.Random:
    return random.Random(1)  # noqa: S311 - a seed draws the same


def drawn_batches(draw: random.Random, batches: int, most: int) -> list[list[Envelope]]:
    """Return batches of drawn sizes, of records of drawn lengths."""
    found: list[list[Envelope]] = []
    sequence = 0
    for size in (draw.randint(1, most) for _ in range(batches)):
        batch = []
        for index in range(size):
            sequence += 1
            event = {"type": "any", "text": draw.choice('aé😀\\"') * draw.randint(0, 9)}
            batch.append(
                seal(RUN, sequence, EventId(identity_text(sequence)), event, batch_index=index, batch_size=size)
            )
        found.append(batch)
    return found


def as_line(record: Envelope) -> bytes:
    return record.body.encode() + b"\n"


def as_frame(record: Envelope) -> bytes:
    return frame("MWJ1", record.body.encode())


def shown(journal: RunsInFiles, content: bytes) -> Sequence[Envelope] | None:
    try:
        return journal._parsed(RUN, content).records
    except Damaged:
        return None


@pytest.mark.parametrize(("kind", "written", "journals"), [(LinesJournal, as_line, 4), (FilesJournal, as_frame, 40)])
def test_a_file_cut_at_any_byte_shows_whole_batches(
    kind: type[LinesJournal | FilesJournal], written: object, journals: int, tmp_path: Path
) -> None:
    assert callable(written)
    draw = seeded()
    journal = kind(tmp_path, "cut")
    for _ in range(journals):
        batches = drawn_batches(draw, draw.randint(1, 3), 3)
        records = [record for batch in batches for record in batch]
        content = b"".join(map(written, records))
        ends = list(accumulate(sum(len(written(record)) for record in batch) for batch in batches))
        for cut in range(len(content) + 1):
            whole = sum(len(batch) for batch, end in zip(batches, ends, strict=True) if end <= cut)
            is_torn = kind is FilesJournal and cut not in ends
            assert shown(journal, content[:cut]) == (None if is_torn else records[:whole])
    journal.close()


def test_the_border_is_that_of_any_number_of_batches() -> None:
    draw, reading = seeded(), Reading()
    for _ in range(2_000):
        sizes = [draw.randint(1, 9) for _ in range(draw.randint(0, 9))]
        read = Read(0, None, 0)
        for size in sizes:
            for index in range(size):
                place = Place(index, size)
                assert reading.place_after(read.last, place) == (index, size)
                is_whole = index + 1 == size
                read = Read(read.records + 1, place, read.records + 1 if is_whole else read.border)
                assert is_sound(read)
                assert reading.in_whole_batches(read.records, read.last) == read.border
        assert read.records == read.border == sum(sizes)


class Writer:
    """Somebody who appends: at the end that he last saw, sometimes anew, sometimes what he or another sent before."""

    def __init__(self, draw: random.Random, journal: ReferenceJournal, sent: list[tuple[int, list[Envelope]]]) -> None:
        self._draw, self._journal, self._sent, self._next = draw, journal, sent, 1

    def step(self) -> None:
        before = list(self._journal.records(RUN))
        first, batch = self._batch()
        answer = self._journal.append(RUN, first, batch)
        after = self._journal.records(RUN)
        if isinstance(answer, Acknowledged):
            assert answer == acknowledge(batch)
            assert after[first - 1 : first - 1 + len(batch)] == batch
            self._next = first + len(batch)
        elif isinstance(answer, SequenceConflict):
            self._next = answer.actual_next
        assert after in (before, [*before, *batch])
        assert [record.sequence for record in after] == list(range(1, len(after) + 1))
        assert len({record.event_id for record in after}) == len(after)

    def _batch(self) -> tuple[int, list[Envelope]]:
        if self._sent and self._draw.random() < 0.3:
            return self._draw.choice(self._sent)
        ids = self._draw.choices(range(400), k=self._draw.randint(1, 9))
        batch = [Envelope(self._next + place, EventId(identity_text(each)), "{}") for place, each in enumerate(ids)]
        self._sent.append((self._next, batch))
        return self._next, batch


def test_longer_batches_of_several_writers_keep_a_run_dense_and_unique() -> None:
    draw = seeded()
    for _ in range(150):
        journal, sent = ReferenceJournal(), list[tuple[int, list[Envelope]]]()
        writers = [Writer(draw, journal, sent) for _ in range(3)]
        for _ in range(40):
            draw.choice(writers).step()
        assert journal.records(RUN)
