"""Frames: how a record, or a snapshot, stands in a file of the formats MWJ1 and MWS1.

Four letters, the length of the payload, its CRC-32, the payload; numbers are unsigned and big-endian. This module is
pure: it gets bytes, or an open file of which it reads no more than one frame at a time.

Source: `docs/spec/formats.md`, "MWJ1 and MWS1: whole files".
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from struct import Struct
from typing import BinaryIO, Final, Literal

FrameKind = Literal["MWJ1", "MWS1"]
"""What a payload is: the body of a record, or that of a snapshot."""

MAX_PAYLOAD_BYTES: Final[Mapping[FrameKind, int]] = {"MWJ1": 16 * 2**20, "MWS1": 64 * 2**20}
"""The limits are inclusive, and nothing longer is ever read."""

FrameErrorCode = Literal["magic", "length", "truncated", "crc"]
"""What is wrong with a frame, in the order in which it is looked for: whatever comes first is told."""

_LETTERS_BYTES: Final = 4
_HEADER: Final = Struct(">4sII")


class FrameError(ValueError):
    """A frame that is not whole and sound. `str(error)` is one sentence that says which, where and why.

    `number` counts the frames of the file from 1; `offset` is the byte at which the frame begins, from 0.
    """

    def __init__(self, code: FrameErrorCode, number: int, offset: int, reason: str) -> None:
        super().__init__(f"frame {number}, at byte {offset:,}: {reason}")
        self.code = code
        self.number = number
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Frame:
    """One whole and sound frame."""

    number: int
    """Its place among the frames of the file, from 1."""
    offset: int
    """The byte at which it begins, from 0."""
    payload: bytes

    @property
    def end(self) -> int:
        """The byte behind it, at which the next one would begin."""
        return self.offset + _HEADER.size + len(self.payload)


def frame(kind: FrameKind, payload: bytes) -> bytes:
    """Return the frame of a payload. Raises `ValueError` if it is empty, or longer than `MAX_PAYLOAD_BYTES`."""
    if not 0 < len(payload) <= MAX_PAYLOAD_BYTES[kind]:
        raise ValueError(f"a payload has {len(payload):,} bytes; {_allowed(kind)}")
    return _HEADER.pack(kind.encode(), len(payload), zlib.crc32(payload)) + payload


def frames(kind: FrameKind, source: bytes | BinaryIO) -> Iterator[Frame]:
    """Give the frames of a file one after the other, up to its end.

    Raises `FrameError` at the first that is not whole and sound; what comes behind it is not looked at. An error of
    the file itself is let through. No more than one frame is kept in memory.
    """
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    number, offset = 1, 0
    while header := _read(file, _HEADER.size):
        found = Frame(number, offset, _payload(kind, header, file, number, offset))
        yield found
        number, offset = number + 1, found.end


def _payload(kind: FrameKind, header: bytes, file: BinaryIO, number: int, offset: int) -> bytes:
    letters = header[:_LETTERS_BYTES]
    if not kind.encode().startswith(letters):
        raise FrameError("magic", number, offset, f"it begins with {letters!r} in place of {kind.encode()!r}")
    if len(header) < _HEADER.size:
        raise FrameError("truncated", number, offset, f"the file ends after {len(header)} bytes of its header")
    _, length, checksum = _HEADER.unpack(header)
    if not 0 < length <= MAX_PAYLOAD_BYTES[kind]:
        raise FrameError("length", number, offset, f"it tells of a payload of {length:,} bytes; {_allowed(kind)}")
    payload = _read(file, length)
    if len(payload) < length:
        reason = f"the file ends after {len(payload):,} of the {length:,} bytes of its payload"
        raise FrameError("truncated", number, offset, reason)
    if zlib.crc32(payload) != checksum:
        raise FrameError("crc", number, offset, "the CRC-32 does not fit the payload")
    return payload


def _allowed(kind: FrameKind) -> str:
    return f"{kind} has from 1 to {MAX_PAYLOAD_BYTES[kind]:,}"


def _read(file: BinaryIO, count: int) -> bytes:
    """Read `count` bytes, or fewer at the end of the file alone: one read of a raw file may return fewer anywhere."""
    parts = []
    while count and (part := file.read(count)):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
