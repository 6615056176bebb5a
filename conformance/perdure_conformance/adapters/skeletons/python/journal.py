"""A journal on files, to be replaced by yours. The adapter calls four things: the constructor, append, load, close."""

import json
import os
import re
from pathlib import Path
from typing import Any

Record = dict[str, Any]  # {"sequence": …, "event_id": …, "body": …}; the body is text, and kept as it is (JRN-002).

LIMITS = {"max_batch_records": 1_000, "max_batch_bytes": 1_048_576, "max_snapshot_bytes": 1_048_576}  # JRN-014
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class FileJournal:
    """A file for each run, a line for each batch."""

    def __init__(self, state_dir: str, namespace: str) -> None:
        self.folder = Path(state_dir, namespace)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.runs: dict[str, list[Record]] = {}

    def append(self, run_id: str, expected_next: int, records: list[Record]) -> dict[str, Any]:
        """Compare and append. The first refusal that applies is the answer, in this order (JRN-013)."""
        stored = self.read(run_id)
        if not is_valid(expected_next, records):
            return {"refused": "invalid_record"}
        if len(records) > LIMITS["max_batch_records"] or size_of(records) > LIMITS["max_batch_bytes"]:
            return {"refused": "too_large"}  # JRN-026
        acknowledged = [{"sequence": record["sequence"], "event_id": record["event_id"]} for record in records]
        if stored[expected_next - 1 :][: len(records)] == records:
            return {"acknowledged": acknowledged}  # An exact replay: it is stored already (JRN-008).
        known = {record["event_id"] for record in stored}  # Of this run alone (JRN-010).
        if any(record["event_id"] in known for record in records):
            return {"refused": "event_id_conflict"}  # JRN-009
        if expected_next != len(stored) + 1:
            return {"refused": "sequence_conflict", "actual_next": len(stored) + 1}  # JRN-004, JRN-005, JRN-006
        self.write(run_id, records)
        stored.extend(records)
        return {"acknowledged": acknowledged}

    def load(self, run_id: str, from_sequence: int, limit: int) -> tuple[list[Record], bool]:
        """Return a page, and whether no record follows it (JRN-003, JRN-021). An unknown run has none (JRN-011)."""
        rest = self.read(run_id)[from_sequence - 1 :]
        return rest[:limit], len(rest) <= limit

    def close(self) -> None:
        """Nothing is open between calls."""

    def path(self, run_id: str) -> Path:
        """Return the file of a run."""
        return self.folder / f"{run_id}.journal"

    def read(self, run_id: str) -> list[Record]:
        """Read a run once. A last line without its LF was never acknowledged: it is cut off (JRN-015, JRN-017)."""
        if run_id not in self.runs:
            content = self.path(run_id).read_bytes() if self.path(run_id).exists() else b""
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                os.truncate(self.path(run_id), whole)
            lines = content[:whole].split(b"\n")[:-1]
            self.runs[run_id] = [record for line in lines for record in json.loads(line)]
        return self.runs[run_id]

    def write(self, run_id: str, records: list[Record]) -> None:
        """Write a batch as one line, and have it on disk before it is acknowledged (JRN-015, JRN-017)."""
        try:
            with self.path(run_id).open("ab") as file:
                file.write(json.dumps(records).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            del self.runs[run_id]  # Who knows what is there? Read it again.
            raise


def is_valid(expected_next: int, records: list[Record]) -> bool:
    """Tell whether there are records, dense from `expected_next`, with an id of their own and a body (JRN-012)."""
    ids = {record["event_id"] for record in records}
    return 0 < len(records) == len(ids) and all(
        record["sequence"] == expected_next + index and UUID.fullmatch(record["event_id"]) and record["body"]
        for index, record in enumerate(records)
    )


def size_of(records: list[Record]) -> int:
    """Return how many bytes the bodies have."""
    return sum(len(record["body"].encode()) for record in records)
