"""A crash anywhere in a commit loses no acknowledged batch, and shows no part of one.

A journal that appends in place syncs a batch before it acknowledges it, so what a crash leaves of its file is a
beginning of what was written, at least as long as all that was acknowledged, cut at any byte. What is read of it is
every record of which all bytes are there. So it is enough that of any number of records that were read, those are
shown that belong to whole batches, all of them, and no others: then what was acknowledged is shown, for it was read
whole, and the last batch is shown if all of it is there, and else not at all.

By induction over the records that are read, whatever the sizes of the batches and wherever the file is cut: a record
is read if it is at its place behind the one before, and after each of them the journal knows where the last whole batch
ended. That is the journal `lines`. The journal `files`, which writes its file anew, asks only what is missing, and
shows nothing of a file that is cut, which is tried and not proved; in `sqlite`, SQLite keeps a batch whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from perdure.journal.folder import InABatch, in_whole_batches, missing, place_after
from perdure.kernel.values import MAX_SAFE_INTEGER
from perdure_proofs.theorems import Any, Theorem, assume


@dataclass(frozen=True, slots=True)
class Reading:
    """How records are told apart by batches when they are read."""

    missing: Callable[[InABatch], int] = missing
    place_after: Callable[[InABatch | None, InABatch], tuple[int, int]] = place_after
    in_whole_batches: Callable[[int, InABatch | None], int] = in_whole_batches


THEOREM: Final = Theorem(
    ("JRN-015", "JRN-031", "JRN-034", "JRN-036", "CRS-001", "CRS-002", "CRS-011"),
    Reading(),
    mutants={
        "ServesHalfABatch": Reading(in_whole_batches=lambda read, _last: read),
        "DropsTheLastBatch": Reading(
            in_whole_batches=lambda read, last: 0 if last is None else read - last.batch_index - 1
        ),
        "DropsTheLastRecord": Reading(
            in_whole_batches=lambda read, last: read - 1 if last is not None and missing(last) else read
        ),
        "EndsABatchEarly": Reading(missing=lambda last: max(last.batch_size - last.batch_index - 2, 0)),
        "TakesAnyPlace": Reading(place_after=lambda _last, found: (found.batch_index, found.batch_size)),
        "NeverComparesTheSize": Reading(
            place_after=lambda last, found: (place_after(last, found)[0], found.batch_size)
        ),
    },
    assumptions=(
        "What was acknowledged was synced before, and a sync keeps what it says: `perdure crash` judges it (CRS-011).",
        "A record is read if and only if all its bytes are there: tests/proofs cuts real files at every byte.",
    ),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Which record of its batch one is."""

    batch_index: int
    batch_size: int


@dataclass(frozen=True, slots=True)
class Read:
    """How far a file was read: how many records, the place of the last one, and where the last whole batch ended."""

    records: int
    last: Place | None
    border: int


def is_sound(read: Read) -> bool:
    """Tell whether the border is where it must be: behind the last record of a whole batch, else before its first."""
    if read.last is None:
        return read.records == 0 and read.border == 0
    index, size = read.last.batch_index, read.last.batch_size
    is_whole = index + 1 == size
    return 0 <= index < size and 0 <= read.border == (read.records if is_whole else read.records - index - 1)


def any_place(values: Any, name: str) -> Place:
    """Return any place in a batch of any size."""
    size = values.whole(f"size of the batch of {name}", 1, MAX_SAFE_INTEGER)
    return Place(values.whole(f"index of {name}", 0, size - 1), size)


def any_read(values: Any) -> Read:
    """Return how far any file was read."""
    if values.among("the file", ("is empty", "has records")) == "is empty":
        return Read(0, None, 0)
    last = any_place(values, "the last record")
    read = Read(values.whole("records read", 1, MAX_SAFE_INTEGER), last, values.whole("border", 0, MAX_SAFE_INTEGER))
    assume(is_sound(read))
    return read


def any_next(reading: Reading, values: Any, read: Read) -> Read:
    """Return how far a file was read after any one more record that is at its place."""
    found = any_place(values, "the next record")
    assume(reading.place_after(read.last, found) == (found.batch_index, found.batch_size))
    records = read.records + 1
    return Read(records, found, records if found.batch_index + 1 == found.batch_size else read.border)


@THEOREM.claim
def what_is_missing_is_counted(reading: Reading, values: Any) -> bool:
    """Behind the last record of a batch nothing is missing, and behind any other one more than behind the next."""
    place = any_place(values, "the record")
    if place.batch_index + 1 == place.batch_size:
        return reading.missing(place) == 0
    return reading.missing(place) == reading.missing(Place(place.batch_index + 1, place.batch_size)) + 1


@THEOREM.claim
def a_record_at_its_place_keeps_the_border(reading: Reading, values: Any) -> bool:
    """If the border is where it must be, it is after one more record: a batch begins, or goes on in its size."""
    read = any_read(values)
    after = any_next(reading, values, read)
    assert after.last is not None
    is_begun = read.border == read.records
    is_of_one_size = is_begun or (read.last is not None and after.last.batch_size == read.last.batch_size)
    return is_sound(after) and is_of_one_size and (after.last.batch_index == 0) == is_begun


@THEOREM.claim
def whole_batches_are_shown_and_nothing_else(reading: Reading, values: Any) -> bool:
    """Of what was read, of any number of batches of any size, all is shown up to the border, and nothing behind it."""
    read = any_read(values)
    return reading.in_whole_batches(read.records, read.last) == read.border


@THEOREM.claim
def a_batch_is_shown_at_once(reading: Reading, values: Any) -> bool:
    """One more record shows nothing more, or the batch that it ends, with all its records; it hides nothing."""
    read = any_read(values)
    after = any_next(reading, values, read)
    assert after.last is not None
    more = reading.in_whole_batches(after.records, after.last) - reading.in_whole_batches(read.records, read.last)
    return more == (after.last.batch_size if reading.missing(after.last) == 0 else 0)
