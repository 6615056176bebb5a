"""What several tests of the model share: identities, records and answers, in few words."""

from __future__ import annotations

from typing import Protocol, TypeVar

import msgspec

from perdure.journal.contract import (
    Acknowledged,
    Acknowledgement,
    Envelope,
    Journal,
    LeaseStore,
    Page,
    SnapshotStore,
)
from perdure.kernel.identity import EventId, OwnerId, RunId

RUN = RunId("018f3a5c-0000-7000-8000-000000000001")
OTHER_RUN = RunId("018f3a5c-0000-7000-8000-000000000002")
OWNER = OwnerId("018f3a5c-0000-7000-8000-0000000000a1")
OTHER_OWNER = OwnerId("018f3a5c-0000-7000-8000-0000000000a2")

MAX = 9007199254740991
"""2^53−1: the last integer, position, epoch and instant."""

MIB = 1048576

Answer = TypeVar("Answer", bound=msgspec.Struct)


class Store(Journal, SnapshotStore, LeaseStore, Protocol):
    """A journal that claims all its operations."""


def event_id(number: int) -> EventId:
    return EventId(f"00000000-0000-4000-8000-{number:012x}")


def record(sequence: int, event: int, body: str = "body") -> Envelope:
    return Envelope(sequence, event_id(event), body)


def batch(first: int, last: int, body: str = "body") -> list[Envelope]:
    """Records at the positions `first` to `last`, each with the event id of its position."""
    return [record(sequence, sequence, body) for sequence in range(first, last + 1)]


def acknowledged(*pairs: tuple[int, int]) -> Acknowledged:
    """The acknowledgement of (sequence, event number) pairs."""
    return Acknowledged(tuple(Acknowledgement(sequence, event_id(event)) for sequence, event in pairs))


def acknowledged_batch(first: int, last: int) -> Acknowledged:
    return acknowledged(*((sequence, sequence) for sequence in range(first, last + 1)))


def plain(answer: Answer) -> Answer:
    """The answer without its words for people, by which nothing is decided."""
    return msgspec.structs.replace(answer, detail="") if hasattr(answer, "detail") else answer


def everything(journal: Journal, run_id: RunId = RUN) -> list[Envelope]:
    """All records of a run, in one page."""
    page = journal.load(run_id, 1, 100_000)
    assert isinstance(page, Page)
    assert page.end
    return list(page.records)
