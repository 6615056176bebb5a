"""MWJ1 and MWS1, read strictly, as the journal's frames are.

Source: "MWJ1 and MWS1: whole files" of `docs/spec/formats.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final

from perdure.journal.frames import FrameError, FrameErrorCode, FrameKind, frames
from perdure_conformance.histories.stored import Damage, Format, FramingFault, Place, Stored

FORMATS: Final[Mapping[bytes, Format]] = {b"MWJ1": "mwj1", b"MWS1": "mws1"}
"""The formats, by the letters with which each of their frames begins."""

_KINDS: Final[Mapping[Format, FrameKind]] = {"mwj1": "MWJ1", "mws1": "MWS1"}
_CODES: Final[Mapping[FrameErrorCode, FramingFault]] = {
    "magic": "not_a_frame",
    "length": "wrong_length",
    "truncated": "cut_frame",
    "crc": "wrong_crc",
}


def framed_records(file: BinaryIO, form: Format) -> Iterator[Stored]:
    """Yield what each frame holds; raises `Damage` at one that is not whole and sound."""
    try:
        for frame in frames(_KINDS[form], file):
            yield Stored(Place("frame", frame.number, frame.offset), frame.payload, frame.end)
    except FrameError as error:
        raise Damage(_CODES[error.code], str(error), error.offset) from error
