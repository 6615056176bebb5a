"""A snapshot in a file of its own, MWS1: held against itself, and against the history that lies beside it.

Source: "MWJ1 and MWS1: whole files" of `docs/spec/formats.md`; "Snapshots" of `docs/spec/client.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perdure.kernel.caches import SnapshotDocument, SnapshotError, discard, read_snapshot, restored
from perdure.kernel.errors import Corruption, corrupt
from perdure.kernel.identity import is_canonical_uuid
from perdure.kernel.records import Record
from perdure.kernel.snapshots import document_of_state
from perdure.kernel.values import MAX_SAFE_INTEGER, JsonError, canonical_json, digest, read_json
from perdure_conformance.histories.checks import CHECKS, Check
from perdure_conformance.histories.files import STDIN, opened_file
from perdure_conformance.histories.stored import FORMAT_NAMES, Damage, History, Place
from perdure_conformance.histories.verification import VERIFY_VERSION, Result, bad, fault_document
from perdure_conformance.histories.walk import Fault, Walk
from perdure_conformance.histories.words import one_line
from perdure_conformance.lint.document import name_of
from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT

_ALONE: Final[tuple[Check, ...]] = ("framing", "checksum", "form")
"""The kinds of check that are made of a snapshot alone, in their order."""
_BESIDE: Final[tuple[Check, ...]] = ("linkage", "rules")
"""Those that are made of it beside its history."""
_NOT_MADE: Final = (
    "the linkage: whether the record that the snapshot says is there, and says the same",
    "the state: whether it is what the history up to that record amounts to",
)
_HISTORY: Final = ".mwj1"


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found out about a snapshot."""

    file: str
    run_id: str | None
    sequence: int
    """The last record that it says to include; 0 if it says none."""
    fault: Fault | None
    made: tuple[Check, ...] = _ALONE
    """The kinds of check that were made, if nothing was found."""
    reason: str = ""
    """Why others were not."""

    @property
    def exit_code(self) -> int:
        """What a command comes to."""
        return CONFORMANT if self.fault is None else NOT_CONFORMANT

    @property
    def checks(self) -> Mapping[Check, Result]:
        """What became of each kind of check."""
        found = None if self.fault is None else self.fault.check
        order = (*_ALONE, *_BESIDE)
        good = self.made if found is None else order[: order.index(found)]
        return {
            check: Result(check in good or check == found, int(check in good), self._code(check)) for check in CHECKS
        }

    @property
    def not_checked(self) -> list[str]:
        """What is still not known."""
        return [] if set(_BESIDE) <= set(self.made) else [f"{each}: {self.reason}" for each in _NOT_MADE]

    def _code(self, check: Check) -> str | None:
        return self.fault.code if self.fault is not None and self.fault.check == check else None


def verified_snapshot(name: str) -> dict[str, object]:
    """Verify a snapshot, and return what was found out as JSON. Raises `HistoryRefused`."""
    with opened_file(name) as history:
        return document(verify_snapshot(history))


def verify_snapshot(history: History) -> Verified:
    """Verify a snapshot: one frame, with canonical JSON that says its run and its last record; and that record.

    The history of `RUN.mws1` is `RUN.mwj1`, in the same folder. Raises `HistoryRefused` where reading fails.
    """
    place = history.place(1, 0)
    try:
        stored = next(history.records)
        run_id, sequence = _place_of(stored.content)
        place = history.place(2, stored.end)
        _require_the_end(history)
        place = history.place(1, 0)
        found = _document_of(stored.content)
    except (Damage, Corruption) as error:
        if isinstance(error, Damage) and error.offset is not None:
            place = place._replace(offset=error.offset)
        return Verified(history.name, None, 0, _fault(1, place, error.code, str(error)))
    if isinstance(found, str):
        return Verified(history.name, run_id, sequence, None, reason=found)
    return _verified_beside(history, found, place)


def _verified_beside(history: History, found: SnapshotDocument, place: Place) -> Verified:
    """Hold a snapshot against its record, and its state against what the history amounts to."""
    beside = _beside(history.name)
    if beside is None:
        told = f"there is no {FORMAT_NAMES['mwj1']} file of this name beside it"
        return Verified(history.name, found.run_id, found.sequence, None, reason=told)
    with opened_file(beside) as other:
        walk = Walk(other)
        first = _to(walk, found.sequence)
    reason = f"the history beside it is bad at record {walk.sequence + 1}: verify that"
    if other.format != "mwj1" or (walk.fault is not None and walk.sequence < found.sequence):
        return Verified(history.name, found.run_id, found.sequence, None, reason=reason)
    try:
        _require_the_record(found, first, walk)
    except SnapshotError as error:
        fault = _fault(found.sequence, place, error.code, str(error))
        return Verified(history.name, found.run_id, found.sequence, fault)
    return Verified(history.name, found.run_id, found.sequence, None, (*_ALONE, *_BESIDE))


def _beside(name: str) -> str | None:
    """Return the name of the history that lies beside a snapshot, if one does."""
    path = Path(name)
    if name == STDIN or path.suffix == _HISTORY or not path.with_suffix(_HISTORY).exists():
        return None
    return str(path.with_suffix(_HISTORY))


def _to(walk: Walk, sequence: int) -> Record | None:
    """Walk up to a record, or as far as it goes, and return the first."""
    first = None
    for record in walk.steps():
        first = first or record
        if record.sequence == sequence:
            break
    return first


def _require_the_record(found: SnapshotDocument, first: Record | None, walk: Walk) -> None:
    """Raise `SnapshotError` if the record that a walk came to is not that of a snapshot, or the state another."""
    last, state = walk.record, walk.state
    if first is None or last is None or state is None:
        discard("wrong_position", "the history beside it has no record")
    resumed = restored(found, first, last).state
    if digest(document_of_state(resumed)) != digest(document_of_state(state)):
        discard("wrong_state", f"the history up to record {last.sequence} amounts to another state")


def _document_of(content: bytes) -> SnapshotDocument | str:
    """Return a snapshot as a whole document, or why it is none. Raises `Corruption` if its state was changed."""
    try:
        return read_snapshot(content)
    except SnapshotError as error:
        if error.code == "wrong_checksum":
            corrupt("wrong_checksum", str(error))
        return f"it is no document of a snapshot as schemas/snapshot-1.json has it, {one_line(str(error))}"


def _fault(sequence: int, place: Place, code: str, sentence: str) -> Fault:
    owed = "one frame with a snapshot of what the history beside it says, and nothing else"
    return Fault(sequence, place, code, "corrupt", one_line(sentence), owed, None)


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


def document(snapshot: Verified) -> dict[str, object]:
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
        "not_checked": snapshot.not_checked,
    }


def in_words(snapshot: Verified) -> list[str]:
    """Return what was found out, as lines."""
    if snapshot.fault is not None:
        return bad(snapshot.fault)
    is_whole = not snapshot.not_checked
    made = "the frame and its CRC; strict JSON in canonical form; run and sequence"
    return [
        f"SOUND  a snapshot after record {snapshot.sequence:,}, {'beside its history' if is_whole else 'alone'}",
        f"format   {FORMAT_NAMES['mws1']}",
        f"run      {snapshot.run_id}",
        f"Checked: {made}; the record that it says, and the state." if is_whole else f"Checked: {made}. Not checked:",
        *(f"  {each}" for each in snapshot.not_checked),
    ]
