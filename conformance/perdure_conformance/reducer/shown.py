"""What a journal shows, as a journal and as JSON: who reads a run finds in it what a question says, and nothing else.

Source: `docs/spec/client.md`, "What is restored".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from perdure.journal.client import Client, JournalFault, Recovered
from perdure.journal.contract import (
    BUILT_IN_LIMITS,
    AppendAnswer,
    Capabilities,
    Description,
    Envelope,
    LoadAnswer,
    LoadSnapshotAnswer,
    NoSnapshot,
    NotStored,
    Page,
    SaveSnapshotAnswer,
)
from perdure.kernel.errors import HistoryError
from perdure.kernel.identity import RunId
from perdure.kernel.rules import Rules
from perdure_conformance.reducer.contract import Shown
from perdure_conformance.vectors.vector import written

_DESCRIPTION: Final = Description(
    name="what is shown", version="1", capabilities=Capabilities(snapshots=True), limits=BUILT_IN_LIMITS
)


class ShownJournal:
    """A journal that shows one run, and stores nothing."""

    description = _DESCRIPTION

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Store nothing."""
        del run_id, expected_next, records, epoch
        return NotStored()

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> LoadAnswer:
        """Show the records at these positions, whatever they say of themselves."""
        del run_id
        end = from_sequence - 1 + limit
        return Page(self._shown.records[from_sequence - 1 : end], end=end >= len(self._shown.records))

    def save_snapshot(self, run_id: RunId, sequence: int, body: str) -> SaveSnapshotAnswer:
        """Store nothing."""
        del run_id, sequence, body
        return NotStored()

    def load_snapshot(self, run_id: RunId) -> LoadSnapshotAnswer:
        """Show the snapshot."""
        del run_id
        return NoSnapshot() if self._shown.snapshot is None else self._shown.snapshot

    def close(self) -> None:
        """There is nothing to let go."""


_KEPT: Final[dict[tuple[Shown, int], tuple[Recovered | HistoryError | JournalFault, Rules]]] = {}
_KEPT_AT_MOST: Final = 2**10


def recovered(shown: Shown, rules: Rules) -> Recovered:
    """Return how a run stands, by the model's client. What somebody wrote is asked of many kernels in one process.

    Raises `HistoryError`, `JournalFault`.
    """
    key = shown, id(rules)
    if key not in _KEPT:
        if len(_KEPT) >= _KEPT_AT_MOST:
            _KEPT.clear()
        _KEPT[key] = _by_the_client(shown, rules), rules  # The rules are kept, so that their id is.
    found = _KEPT[key][0]
    if not isinstance(found, Recovered):
        raise found.with_traceback(None)
    return found


def _by_the_client(shown: Shown, rules: Rules) -> Recovered | HistoryError | JournalFault:
    journal = ShownJournal(shown)
    try:
        return Client(journal, journal, rules).recover(shown.run_id)
    except (HistoryError, JournalFault) as error:
        return error


# As JSON


def written_shown(shown: Shown) -> bytes:
    """Return what a journal shows as one line of JSON."""
    return written(msgspec.to_builtins(shown))


def read_shown(content: bytes) -> Shown:
    """Return what a journal shows, from JSON."""
    return msgspec.json.decode(content, type=Shown)
