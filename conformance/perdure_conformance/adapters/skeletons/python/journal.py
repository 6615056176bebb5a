"""A journal on files, to be replaced by yours. The adapter calls three things: the constructor, append and load."""

import json
import re
from pathlib import Path
from typing import Any

Record = dict[str, Any]  # {"sequence": …, "event_id": …, "body": …}; the body is text, and kept as it is (JRN-002).

LIMITS = {"max_batch_records": 1_000, "max_batch_bytes": 1 << 20, "max_snapshot_bytes": 1 << 20}  # JRN-014
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class FileJournal:
    """A file for each run, written anew by each append: short, and slow when runs are long."""

    def __init__(self, state_dir: str, namespace: str) -> None:
        self.folder = Path(state_dir, namespace)
        self.folder.mkdir(parents=True, exist_ok=True)

    def append(self, run_id: str, expected_next: int, records: list[Record]) -> dict[str, Any]:
        """Compare and append. The first refusal that applies is the answer, in this order (JRN-013)."""
        stored = self.read(run_id)
        by_id = {record["event_id"]: record for record in stored}  # Of this run alone (JRN-010).
        known = [by_id.get(record["event_id"]) for record in records]
        acknowledged = {
            "acknowledged": [{"sequence": record["sequence"], "event_id": record["event_id"]} for record in records]
        }
        if not is_valid(expected_next, records):
            return {"refused": "invalid_record"}
        if len(records) > LIMITS["max_batch_records"] or size_of(records) > LIMITS["max_batch_bytes"]:
            return {"refused": "too_large"}  # JRN-026
        if known == records:
            return acknowledged  # An exact replay is stored already (JRN-008).
        if any(known):
            return {"refused": "event_id_conflict"}  # JRN-009
        if expected_next != len(stored) + 1:
            return {"refused": "sequence_conflict", "actual_next": len(stored) + 1}  # JRN-004, JRN-005, JRN-006
        self.write(run_id, stored + records)
        return acknowledged

    def load(self, run_id: str, from_sequence: int, limit: int) -> dict[str, Any]:
        """Return a page. One that would not fit in a line ends early, and is then not the end (JRN-003, JRN-021).

        A line has room for twice the bytes of a batch. Text takes up to twice its bytes, and what is around it 100.
        """
        rest = self.read(run_id)[from_sequence - 1 :]
        page = rest[:limit]
        while len(page) > 1 and size_of(page) + 100 * len(page) > LIMITS["max_batch_bytes"]:
            page = page[: len(page) // 2]
        return {"records": page, "end": len(page) == len(rest)}

    def read(self, run_id: str) -> list[Record]:
        """Return all records of a run. One that is not known has none (JRN-011)."""
        path = self.folder / f"{run_id}.json"
        records: list[Record] = json.loads(path.read_bytes()) if path.exists() else []
        return records

    def write(self, run_id: str, records: list[Record]) -> None:
        """Store a run, with its new batch or as it was (JRN-015), and before it is acknowledged (JRN-017).

        A kill leaves the old file or the new one. A power cut may take both: `durable` would be more than process-crash
        if the new file were synced before it is renamed, and the folder after.
        """
        new = self.folder / "new"
        new.write_text(json.dumps(records), "utf-8")
        new.replace(self.folder / f"{run_id}.json")


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
