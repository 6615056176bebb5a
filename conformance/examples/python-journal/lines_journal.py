"""A journal in Python, as small as it gets: a file of JSON lines for each run, one synced line a batch.

perdure check journal lines_journal:LinesJournal
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from perdure.journal.contract import (
    FLOOR,
    AppendAnswer,
    Capabilities,
    Description,
    Envelope,
    EventIdConflict,
    Page,
    SequenceConflict,
    acknowledge,
    invalid_or_too_large,
)
from perdure.kernel.identity import EventId, RunId


class LinesJournal:
    """Keeps what it has read in memory, and each batch as one line that is synced before it is acknowledged."""

    description = Description(
        name="lines",
        version="1",
        capabilities=Capabilities(exact_replay=True, event_id_dedup=True, atomic_batch=True, durable="process-crash"),
        limits=FLOOR,
    )

    def __init__(self, state_dir: Path, namespace: str) -> None:
        self._folder = state_dir / namespace
        self._folder.mkdir(exist_ok=True)
        self._runs: dict[RunId, list[Envelope]] = {}

    def append(
        self, run_id: RunId, expected_next: int, records: Sequence[Envelope], epoch: int | None = None
    ) -> AppendAnswer:
        """Compare, write one line, sync, acknowledge."""
        del epoch  # Without leases there are no epochs.
        stored = self._read(run_id)
        refusal = invalid_or_too_large(expected_next, records, FLOOR)
        if refusal is not None:
            return refusal
        if list(records) == stored[expected_next - 1 : expected_next - 1 + len(records)]:
            return acknowledge(records)
        if {record.event_id for record in stored} & {record.event_id for record in records}:
            return EventIdConflict()
        if expected_next != len(stored) + 1:
            return SequenceConflict(actual_next=len(stored) + 1)
        line = json.dumps([[record.sequence, record.event_id, record.body] for record in records])
        with self._file(run_id).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        stored.extend(records)
        return acknowledge(records)

    def load(self, run_id: RunId, from_sequence: int, limit: int) -> Page:
        """Serve a page."""
        stored = self._read(run_id)
        start = from_sequence - 1
        return Page(tuple(stored[start : start + limit]), end=start + limit >= len(stored))

    def close(self) -> None:
        """Nothing is open between calls."""

    def _file(self, run_id: RunId) -> Path:
        return self._folder / f"{run_id}.jsonl"

    def _read(self, run_id: RunId) -> list[Envelope]:
        if run_id not in self._runs:
            self._runs[run_id] = [
                Envelope(sequence, EventId(event_id), body)
                for line in self._whole_lines(run_id)
                for sequence, event_id, body in json.loads(line)
            ]
        return self._runs[run_id]

    def _whole_lines(self, run_id: RunId) -> list[bytes]:
        """Read the file, and cut off a line without its end: whatever was on it was never acknowledged."""
        path = self._file(run_id)
        content = path.read_bytes() if path.exists() else b""
        end = content.rfind(b"\n") + 1
        if end < len(content):
            os.truncate(path, end)
        return content[:end].splitlines()
