"""MWJ1 and MWS1, read strictly: frames with a length and a CRC, and nothing between or behind them.

Source: "MWJ1 and MWS1: whole files" of `docs/spec/formats.md`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import IO, Final

from perdure_conformance.histories.stored import Damage, Format, Place, Stored

MAGICS: Final[Mapping[bytes, Format]] = {b"MWJ1": "mwj1", b"MWS1": "mws1"}
LIMITS: Final[Mapping[Format, int]] = {"mwj1": 2**24, "mws1": 2**26}
"""The most bytes that a payload has."""

_LETTERS: Final[Mapping[Format, bytes]] = {form: letters for letters, form in MAGICS.items()}
_HEADER: Final = struct.Struct(">4sII")


def framed(form: Format, payload: bytes) -> bytes:
    """Return a payload in its frame."""
    return _HEADER.pack(_LETTERS[form], len(payload), zlib.crc32(payload)) + payload


def frames(file: IO[bytes], form: Format) -> Iterator[Stored]:
    """Yield what each frame holds; raises `Damage` at one that is not whole and sound."""
    offset = number = 0
    while header := file.read(_HEADER.size):
        number += 1
        payload = _payload(file, form, header, offset)
        end = offset + len(header) + len(payload)
        yield Stored(Place("frame", number, offset), payload, end)
        offset = end


def _payload(file: IO[bytes], form: Format, header: bytes, offset: int) -> bytes:
    letters = _LETTERS[form]
    if not header.startswith(letters[: len(header)]):
        told = f"the frame does not begin with the letters {letters.decode()}"
        raise Damage("not_a_frame", told, offset)
    if len(header) < _HEADER.size:
        raise Damage("cut_frame", f"the file ends {len(header)} bytes into the header of a frame", offset)
    _, length, crc = _HEADER.unpack(header)
    if not 0 < length <= LIMITS[form]:
        told = f"the frame says that its payload has {length:,} bytes, and it has 1 to {LIMITS[form]:,}"
        raise Damage("wrong_length", told, offset)
    payload = file.read(length)
    if len(payload) < length:
        told = f"the file ends after {len(payload):,} of the {length:,} bytes of the payload"
        raise Damage("cut_frame", told, offset)
    if zlib.crc32(payload) != crc:
        raise Damage("wrong_crc", f"the CRC of the payload is {zlib.crc32(payload):08x}, and not {crc:08x}", offset)
    return payload
