"""The two file formats as the judge knows them: what a file must hold, and what can be done to it.

Written from `docs/spec/formats.md` alone, without the model's own reader: what is judged is not its own judge.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from perdure.journal.contract import Envelope
from perdure.kernel.identity import RunId
from perdure_conformance.journal.operations import Damage, Damaging

Format = Literal["mwj1", "jsonl"]

_ASIDE: Final = ".aside"
_TEMPORARY: Final = ".0.tmp"


@dataclass(frozen=True, slots=True)
class Store:
    """The folder in which a journal keeps its runs, in a format."""

    folder: Path
    format: Format

    def file_of(self, run_id: RunId) -> Path:
        """Return where a run is kept."""
        return self.folder / f"{run_id}.{self.format}"

    def snapshot_of(self, run_id: RunId) -> Path:
        """Return where the snapshot of a run is kept."""
        return self.folder / f"{run_id}.mws1"

    def piece(self, record: Envelope) -> bytes:
        """Return the bytes of one record in the file of its run."""
        body = record.body.encode()
        return body + b"\n" if self.format == "jsonl" else framed(b"MWJ1", body)

    def contents(self, records: Sequence[Envelope]) -> bytes:
        """Return the whole file of a run."""
        return b"".join(map(self.piece, records))

    def read(self, run_id: RunId) -> bytes | None:
        """Return what the file of a run holds; None if there is none."""
        try:
            return self.file_of(run_id).read_bytes()
        except FileNotFoundError:
            return None

    def interrupt(
        self, run_id: RunId, stored: Sequence[Envelope], new: Sequence[Envelope], kept: int, zeros: int
    ) -> None:
        """Do what an append does that is cut short after so many bytes of its own, and some zeros.

        In place, that is a torn tail; where whole files are replaced, it is the beginning of another file.
        """
        before, own = self.contents(stored), self.contents(new)
        begun = own[: min(kept, len(own) - 1)] + bytes(zeros)
        self.folder.mkdir(exist_ok=True)
        if self.format == "jsonl":
            with self.file_of(run_id).open("ab") as file:
                file.write(begun)
        else:
            self.folder.joinpath(f"{run_id}{_TEMPORARY}").write_bytes(before + begun)

    def damage(self, run_id: RunId, stored: Sequence[Envelope], damage: Damage) -> int | None:
        """Damage the file of a run; return the sequence at which it is damaged, or None if nothing was done.

        Nothing is done if the damage would be none, or none that a reader can tell from an older or an interrupted
        file: a cut between two batches, and of JSON lines every cut and whatever looks like a torn tail.
        """
        pieces = [self.piece(record) for record in stored]
        if damage.record >= len(pieces):
            return None
        chosen = len(pieces) - 1 - damage.record
        content = b"".join(pieces)
        offset = sum(map(len, pieces[:chosen])) + damage.offset % len(pieces[chosen])
        hurt = _damaged(content, damage.how, offset, damage.size)
        if self.format == "jsonl" and (damage.how != "flip" or hurt.endswith(b"\0")):
            return None
        if damage.how == "cut" and damage.offset % len(pieces[chosen]) == 0 and not _is_inside_a_batch(stored[chosen]):
            return None
        self.file_of(run_id).write_bytes(hurt)
        return None if hurt == content else _first_that_differs(pieces, hurt)

    def damage_snapshot(self, run_id: RunId, damage: Damage) -> bool:
        """Damage the snapshot of a run; tell whether it is another file now."""
        path = self.snapshot_of(run_id)
        if not path.is_file():
            return False
        content = path.read_bytes()
        hurt = _damaged(content, damage.how, damage.offset % len(content), damage.size)
        path.write_bytes(hurt)
        return hurt != content

    def obstruct(self, run_id: RunId) -> None:
        """Let every reading of a run's file fail: a folder takes its place."""
        path = self.file_of(run_id)
        os.replace(path, path.with_name(path.name + _ASIDE))  # noqa: PTH105 - the way in which files are replaced
        path.mkdir()

    def clear(self, run_id: RunId) -> None:
        """Put the file back that was obstructed."""
        path = self.file_of(run_id)
        path.rmdir()
        os.replace(path.with_name(path.name + _ASIDE), path)  # noqa: PTH105


def framed(letters: bytes, payload: bytes) -> bytes:
    """Return a payload in its frame."""
    return letters + struct.pack(">II", len(payload), zlib.crc32(payload)) + payload


def _is_inside_a_batch(record: Envelope) -> bool:
    """Tell whether a record follows another one of its batch."""
    return bool(json.loads(record.body)["batch_index"])


def _damaged(content: bytes, how: Damaging, offset: int, size: int) -> bytes:
    match how:
        case "flip":
            return content[:offset] + bytes([content[offset] ^ (size % 256 or 1)]) + content[offset + 1 :]
        case "cut":
            return content[:offset]
        case "erase":
            return content[:offset] + bytes(len(content[offset : offset + size])) + content[offset + size :]
        case _:
            return content + bytes(size)


def _first_that_differs(pieces: Sequence[bytes], content: bytes) -> int:
    """Return the sequence of the first record whose bytes are not there; if all are, the next one."""
    start = 0
    for sequence, piece in enumerate(pieces, 1):
        if content[start : start + len(piece)] != piece:
            return sequence
        start += len(piece)
    return len(pieces) + 1
