"""A snapshot in a file of its own, MWS1: held against all that needs no history.

Source: "MWJ1 and MWS1: whole files" of `docs/spec/formats.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from perdure.kernel.errors import Corruption, corrupt
from perdure.kernel.identity import is_canonical_uuid
from perdure.kernel.values import MAX_SAFE_INTEGER, JsonError, canonical_json, read_json
from perdure_conformance.histories.checks import CHECKS, Check
from perdure_conformance.histories.stored import FORMAT_NAMES, Damage, History
from perdure_conformance.histories.verification import VERIFY_VERSION, Result, bad, fault_document
from perdure_conformance.histories.walk import Fault
from perdure_conformance.histories.words import one_line
from perdure_conformance.lint.document import name_of
from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT

_RECORD: Final = (
    "the linkage: whether the record that the snapshot says is there, and says the same; "
    "verify the history of the run, from which a snapshot can be made again"
)
_STATE: Final = "the state: whether it is what the history up to that record amounts to"

_MADE: Final[tuple[Check, ...]] = ("framing", "checksum", "form")
"""The kinds of check that are made of a snapshot, in their order."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was found out about a snapshot."""

    file: str
    run_id: str | None
    sequence: int
    """The last record that it says to include; 0 if it is not sound."""
    fault: Fault | None

    @property
    def exit_code(self) -> int:
        """What a command comes to."""
        return CONFORMANT if self.fault is None else NOT_CONFORMANT

    @property
    def checks(self) -> Mapping[Check, Result]:
        """What became of each kind of check."""
        found = None if self.fault is None else self.fault.check
        good = _MADE if found is None else _MADE[: _MADE.index(found)]
        return {
            check: Result(check in good or check == found, int(check in good), self._code(check)) for check in CHECKS
        }

    def _code(self, check: Check) -> str | None:
        return self.fault.code if self.fault is not None and self.fault.check == check else None


def verify_snapshot(history: History) -> Snapshot:
    """Verify a snapshot: one frame, with canonical JSON that says its run and its last record."""
    place = history.place(1, 0)
    try:
        stored = next(history.records)
        run_id, sequence = _place_of(stored.content)
        place = history.place(2, stored.end)
        _require_the_end(history)
    except (Damage, Corruption) as error:
        if isinstance(error, Damage) and error.offset is not None:
            place = place._replace(offset=error.offset)
        owed = "one frame with a snapshot, and nothing else"
        return Snapshot(history.name, None, 0, Fault(1, place, error.code, "corrupt", one_line(str(error)), owed, None))
    return Snapshot(history.name, run_id, sequence, None)


def _require_the_end(history: History) -> None:
    """Raise `Damage` if more than one frame is there."""
    if next(history.records, None) is not None:
        raise Damage("trailing_bytes", "there is more than one frame, and a snapshot is one")


def _place_of(content: bytes) -> tuple[str, int]:
    """Return the run and the last record that a snapshot says. Raises `Corruption`."""
    try:
        value = read_json(content)
    except JsonError as error:
        corrupt("not_json", str(error))
    if canonical_json(value) != content:
        corrupt("not_canonical", "the snapshot is not in canonical form")
    run_id, sequence = (value.get("run_id"), value.get("sequence")) if isinstance(value, Mapping) else (None, None)
    if not isinstance(run_id, str) or not is_canonical_uuid(run_id):
        corrupt("wrong_structure", "the snapshot is no object with a run_id that is a canonical UUID")
    if not isinstance(sequence, int) or isinstance(sequence, bool) or not 0 < sequence <= MAX_SAFE_INTEGER:
        corrupt("wrong_structure", "the sequence of the snapshot is not one from 1 to 2^53−1")
    return run_id, sequence


def document(snapshot: Snapshot) -> dict[str, object]:
    """Return what was found out as JSON, in the form that a history has."""
    return {
        "verify_version": VERIFY_VERSION,
        "file": name_of(snapshot.file),
        "format": "mws1",
        "verdict": "sound" if snapshot.fault is None else "bad",
        "exit_code": snapshot.exit_code,
        "run_id": snapshot.run_id,
        "status": None,
        "records": 0,
        "batches": 0,
        "head": None,
        "fault": None if snapshot.fault is None else fault_document(snapshot.fault),
        "anchored": "none",
        "checks": {check: result.document() for check, result in snapshot.checks.items()},
        "not_checked": [_RECORD, _STATE],
    }


def in_words(snapshot: Snapshot) -> list[str]:
    """Return what was found out, as lines."""
    if snapshot.fault is not None:
        return bad(snapshot.fault)
    return [
        f"SOUND  a snapshot after record {snapshot.sequence:,}, alone",
        f"format   {FORMAT_NAMES['mws1']}",
        f"run      {snapshot.run_id}",
        "Checked: the frame and its CRC; strict JSON in canonical form; run and sequence. Not checked:",
        f"  {_RECORD}",
        f"  {_STATE}",
    ]
