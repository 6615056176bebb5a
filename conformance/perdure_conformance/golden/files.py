"""Vectors of files: a history in each format, and a snapshot, whole and with each damage that there is a code for.

Source: `docs/spec/formats.md`; `docs/spec/kernel.md`, "Corruption"; `docs/spec/client.md`, "Snapshots";
`docs/spec/tool.md`, TOL-011, TOL-012 and TOL-016.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from perdure.journal.frames import frame
from perdure.kernel.values import JsonObject, canonical_json, digest
from perdure_conformance.golden.tours import EVERY_VERSION, all_tours
from perdure_conformance.histories import snapshots, verification
from perdure_conformance.histories.files import opened_file
from perdure_conformance.histories.sealing import sealed_anew, snapshot_after, stored, tied_to, with_state
from perdure_conformance.reducer.histories import node, run_id
from perdure_conformance.reducer.playing import Run
from perdure_conformance.vectors.vector import Vector

Edits = Mapping[str, bytes]


def _lines() -> tuple[bytes, ...]:
    """Return a history of two nodes in a row: eight records in four batches."""
    run = Run(["A", node("B", "A")])
    run.run("A", output={"took_s": 1e-7})
    run.run("B")
    return stored(run.past.entries)


def _every_version() -> tuple[bytes, ...]:
    """Return a history that goes through every version."""
    return stored(next(tour for tour in all_tours() if tour.name == EVERY_VERSION).history.entries)


_LINES: Final = _lines()
_SNAPSHOT: Final = snapshot_after(_LINES, 5)
"""After five records, where a batch ends."""


def all_of_files() -> Iterator[Vector]:
    """Yield all of them."""
    for name, content in _of_records(_LINES).items():
        yield _of_file(f"lines: {name}", ("TOL-011", "TOL-012"), ".jsonl", _as_lines(content))
    for name, lines in _of_lines().items():
        yield _of_file(f"lines: {name}", ("JRN-034", "JRN-036"), ".jsonl", lines)
    for name, content in {
        "sound": _LINES,
        "sound, in every version": _every_version(),
        "a last batch is cut": _LINES[:-1],
    }.items():
        yield _of_file(f"MWJ1: {name}", ("JRN-030", "JRN-031"), ".mwj1", _as_frames(content))
    for name, frames in _of_frames(_as_frames(_LINES)).items():
        yield _of_file(f"MWJ1: {name}", ("JRN-031",), ".mwj1", frames)
    for name, snapshot in _of_snapshots().items():
        yield _of_file(f"MWS1: {name}", ("SNP-003",), ".mws1", snapshot)
    for name, (found, history) in _beside_histories().items():
        whole = frame("MWS1", canonical_json(found))
        yield _of_file(f"MWS1: {name}", ("TOL-016",), ".mws1", whole, {".mwj1": _as_frames(history)})


def _as_lines(records: tuple[bytes, ...]) -> bytes:
    return b"".join(record + b"\n" for record in records)


def _as_frames(records: tuple[bytes, ...]) -> bytes:
    return b"".join(frame("MWJ1", record) for record in records)


def _of_records(lines: tuple[bytes, ...]) -> Mapping[str, tuple[bytes, ...]]:
    """Return histories that are wrong in one record."""

    def instead(sequence: int, record: bytes) -> tuple[bytes, ...]:
        return (*lines[: sequence - 1], record, *lines[sequence:])

    def edited(sequence: int, old: bytes, new: bytes) -> tuple[bytes, ...]:
        assert old in lines[sequence - 1]
        return instead(sequence, lines[sequence - 1].replace(old, new))

    def sealed(sequence: int, old: bytes, new: bytes) -> tuple[bytes, ...]:
        assert old in lines[sequence - 1]
        return instead(sequence, sealed_anew(lines[sequence - 1].replace(old, new)))

    event_id = b"00000000-0000-7000-9000-000000000002"
    return {
        "sound": lines,
        "sound, in every version": _every_version(),
        "a record is no JSON": edited(3, b'"attempt":1', b'"attempt":'),
        "a record has a key twice": edited(3, b'"attempt":1', b'"attempt":1,"attempt":1'),
        "a record is not in canonical form": edited(3, b'"attempt":1', b'"attempt":1.0'),
        "a record with white space": edited(3, b'"attempt":1', b'"attempt": 1'),
        "a record was changed": edited(4, b"1e-7", b"1e-8"),
        "a record lacks a member": sealed(3, b',"schema_version":5', b""),
        "a record with an unknown member": sealed(3, b',"schema_version":5', b',"schema_version":5,"zone":1'),
        "a record of another run": sealed(3, b'"run_id":"00000000-0000-7000-8000-000100000001"', _OTHER_RUN),
        "a record is missing": (*lines[:2], *lines[3:]),
        "a record stands twice": (*lines[:3], *lines[2:]),
        "an event id is used again": sealed(4, b"00000000-0000-7000-9000-000000000003", event_id),
        "a record of a batch that never began": sealed(3, _ALONE, _SECOND_OF_TWO),
        "a batch is larger than its record says": sealed(2, b'"batch_size":2', b'"batch_size":3'),
        "a batch goes on although nothing is owed": _one_batch_too_long(lines),
        "an event against the rules, sealed anew": sealed(3, b'"attempt":1', b'"attempt":2'),
        "an event of an unknown type, sealed anew": sealed(3, b'"NodeStarted"', b'"NodePaused"'),
        "an event of an unknown version, sealed anew": sealed(3, b'"schema_version":5', b'"schema_version":6'),
    }


_OTHER_RUN: Final = b'"run_id":"00000000-0000-7000-8000-000100000002"'
_ALONE: Final = b'"batch_index":0,"batch_size":1'
_FIRST_OF_TWO: Final = b'"batch_index":0,"batch_size":2'
_SECOND_OF_TWO: Final = b'"batch_index":1,"batch_size":2'


def _one_batch_too_long(lines: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return a history whose second batch claims a record that is a batch of its own."""
    first = sealed_anew(lines[2].replace(_ALONE, _FIRST_OF_TWO))
    second = sealed_anew(lines[3].replace(_FIRST_OF_TWO, _SECOND_OF_TWO))
    return (*lines[:2], first, second, *lines[4:])


def _of_lines() -> Edits:
    """Return files of lines that are torn, or damaged at their end."""
    whole = _as_lines(_LINES)
    return {
        "nothing": b"",
        "the last record is cut": whole[:-20],
        "the last line feed is missing": whole[:-1],
        "zeros behind the last record": whole + bytes(16),
        "zeros behind a cut record": whole[:-20] + bytes(16),
        "a last batch is cut": _as_lines(_LINES[:-1]),
        "a record that is whole, changed and without its line feed": _as_lines(_LINES[:-1])
        + _LINES[-1].replace(b'"sequence":8', b'"sequence":9'),
        "junk without a line feed at the end": whole + b"junk",
        "junk at the end": whole + b"junk\n",
        "an empty line": _as_lines(_LINES[:2]) + b"\n" + _as_lines(_LINES[2:]),
        "lines that end with carriage returns": whole.replace(b"\n", b"\r\n"),
    }


def _of_frames(whole: bytes) -> Edits:
    """Return files of frames that are damaged in their second frame, or behind the last one."""
    at = 12 + int.from_bytes(whole[4:8], "big")
    return {
        "other letters": whole[:at] + b"mwj1" + whole[at + 4 :],
        "letters of a snapshot": whole[:at] + b"MWS1" + whole[at + 4 :],
        "a wrong CRC": _flipped(whole, at + 8),
        "a changed payload": _flipped(whole, at + 20),
        "a length of zero, and the CRC of nothing": whole[:at] + b"MWJ1" + bytes(8) + whole[at:],
        "a length beyond the limit": whole[: at + 4] + b"\xff\xff\xff\xff" + whole[at + 8 :],
        "cut within a payload": whole[:-1],
        "cut within a header": whole[: at + 7],
        "zeros behind the last frame": whole + bytes(12),
    }


def _of_snapshots() -> Edits:
    """Return snapshots, whole and damaged."""
    body = canonical_json(_SNAPSHOT)
    whole = frame("MWS1", body)
    return {
        "sound": whole,
        "letters of a history": b"MWJ1" + whole[4:],
        "a wrong CRC": _flipped(whole, 8),
        "a changed payload": _flipped(whole, 20),
        "cut within a payload": whole[:-1],
        "cut within a header": whole[:7],
        "a second frame": whole + whole,
        "zeros behind the frame": whole + bytes(12),
        "no JSON": frame("MWS1", body[:-1]),
        "not in canonical form": frame("MWS1", body.replace(b'"sequence":5', b'"sequence": 5')),
        "no sequence": frame("MWS1", body.replace(b',"sequence":5', b"")),
        "a changed state, and the CRC that fits": frame("MWS1", body.replace(b'"attempts":1', b'"attempts":2', 1)),
    }


def _beside_histories() -> Mapping[str, tuple[JsonObject, tuple[bytes, ...]]]:
    """Return snapshots, each with the history that lies beside it: sound, and with one thing that does not fit."""
    later = json.loads(_LINES[5])
    state = _SNAPSHOT["state"]
    assert isinstance(state, Mapping)
    return {
        "beside its history": (_SNAPSHOT, _LINES),
        "beside a history that ends with it": (_SNAPSHOT, _LINES[:5]),
        "of another run": ({**_SNAPSHOT, "run_id": run_id(2)}, _LINES),
        "of a record that the history has not": (_SNAPSHOT, _LINES[:2]),
        "of another event": ({**_SNAPSHOT, "event_id": later["event_id"]}, _LINES),
        "of another record": ({**_SNAPSHOT, "record_checksum": later["checksum"]}, _LINES),
        "inside a batch": (tied_to(_SNAPSHOT, _LINES[3]), _LINES),
        "of another specification": ({**_SNAPSHOT, "content_hash": digest({})}, _LINES),
        "of another state": (with_state(_SNAPSHOT, {**state, "now_ms": 9}), _LINES),
        "of a state that nobody can read": (with_state(_SNAPSHOT, {**state, "state_schema_version": 9}), _LINES),
    }


def _flipped(content: bytes, at: int) -> bytes:
    """Return the content with a bit of one byte turned."""
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def _of_file(
    name: str, requirements: tuple[str, ...], ending: str, content: bytes, beside: Edits | None = None
) -> Vector:
    files = {ending: content, **(beside or {})}
    with TemporaryDirectory(prefix="perdure-") as folder:
        for each, written in files.items():
            Path(folder, f"vector{each}").write_bytes(written)
        return Vector("verify", name, requirements, files, verified(str(Path(folder, f"vector{ending}"))))


def verified(file: str) -> JsonObject:
    """Return what the model's verifier says of a file."""
    with opened_file(file, None) as history:
        if history.format == "mws1":
            found = snapshots.document(snapshots.verify_snapshot(history))
        else:
            found = verification.document(verification.verify(history, None))
    fault = found["fault"]
    told = {"verdict": found["verdict"], "records": found["records"], "head": found["head"]}
    where = {name: fault[name] for name in ("check", "code", "sequence")} if isinstance(fault, Mapping) else None
    return {**told, "fault": where}  # type: ignore[dict-item]
