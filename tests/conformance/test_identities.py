from __future__ import annotations

import sqlite3
from typing import NoReturn

import msgspec
import pytest

from perdure.kernel.errors import Corruption
from perdure.kernel.histories import states
from perdure.kernel.identity import EventId
from perdure.kernel.records import verified
from perdure_conformance.bench import loading, runs
from perdure_conformance.histories.identities import Identities
from perdure_conformance.histories.stored import HistoryRefused


@pytest.mark.parametrize("max_in_memory", [0, 1, 3, 100])
def test_what_was_added_is_there_on_disk_or_in_memory(max_in_memory: int) -> None:
    ids = [EventId(f"{number:036x}") for number in range(20)]
    with Identities(max_in_memory) as seen:
        for event_id in ids:
            assert event_id not in seen
            seen.add(event_id)
            assert event_id in seen
        seen.add(ids[3])
        assert all(event_id in seen for event_id in ids)


@pytest.mark.parametrize("max_in_memory", [3, 100])
def test_an_event_id_that_is_used_again_is_found_on_disk_or_in_memory(max_in_memory: int) -> None:
    records = [verified(line) for line in loading.lines_of(runs.turns(30))]
    with Identities(max_in_memory) as seen:
        assert len(list(states(records, seen=seen))) == len(records)
    again = [*records[:19], msgspec.structs.replace(records[19], event_id=records[1].event_id)]
    with Identities(max_in_memory) as seen, pytest.raises(Corruption) as raised:
        list(states(again, seen=seen))
    assert (raised.value.code, raised.value.sequence) == ("event_id_used", 20)


def test_a_full_disk_is_told_with_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object, **_more: object) -> NoReturn:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(sqlite3, "connect", full)
    with Identities(1) as seen:
        seen.add(EventId("a"))
        with pytest.raises(HistoryRefused, match=r"disk is full\. Free disk space, or set TMPDIR"):
            seen.add(EventId("b"))
