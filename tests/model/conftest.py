"""The journals of this package, each fresh, to which one table of calls and answers applies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.model.helpers import OWNER, RUN, Store, acknowledged_batch, batch

from perdure.journal.contract import Granted
from perdure.journal.memory import MemoryJournal
from perdure.journal.reference import ReferenceJournal
from perdure.journal.sqlite import SqliteJournal


def fresh(kind: str, state_dir: Path) -> Store:
    match kind:
        case "reference":
            return ReferenceJournal()
        case "memory":
            return MemoryJournal(state_dir, "journal")
        case _:
            return SqliteJournal(state_dir, "journal")


KINDS = ["reference", "memory", "sqlite"]


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    journal = fresh(request.param, tmp_path)
    yield journal
    journal.close()
    for left in tmp_path.iterdir():  # Some are of 64 MiB, and pytest would keep them.
        left.unlink()


@pytest.fixture(scope="module", params=KINDS)
def grown_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A journal whose run holds the batches 1, 2 and 3, 4 and whose highest epoch is 2. Its tests leave it so."""
    journal = fresh(request.param, tmp_path_factory.mktemp("grown"))
    assert journal.append(RUN, 1, batch(1, 2)) == acknowledged_batch(1, 2)
    assert journal.append(RUN, 3, batch(3, 4)) == acknowledged_batch(3, 4)
    assert journal.acquire(RUN, OWNER, 0, 0) == Granted(1, 0)
    assert journal.acquire(RUN, OWNER, 0, 1) == Granted(2, 1)
    yield journal
    journal.close()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteJournal]:
    journal = SqliteJournal(tmp_path, "journal")
    yield journal
    journal.close()
