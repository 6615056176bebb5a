from __future__ import annotations

import errno
import io
import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO, cast

import pytest

from perdure.journal.frames import MAX_PAYLOAD_BYTES, Frame, FrameError, FrameKind, frame, frames

GOLDEN = (
    b"MWJ1\x00\x00\x00\x03\x7a\x6c\x86\xf1one"  # "one", whose CRC-32 is 7A6C86F1
    b"MWJ1\x00\x00\x00\x0a\x9c\xec\x0a\xee\xe2\x80\xa8\xf0\x9f\x98\x80\x00\x0a\xff"
)
PAYLOADS = [b"one", b"\xe2\x80\xa8\xf0\x9f\x98\x80\x00\n\xff"]
SNAPSHOT = b"MWS1\x00\x00\x00\x02\xa3\xa6\xbf\x43{}"


def damage(content: bytes | BinaryIO, kind: FrameKind = "MWJ1") -> tuple[list[bytes], FrameError | None]:
    """The payloads before the first damaged frame, and its damage."""
    found: list[bytes] = []
    try:
        found.extend(each.payload for each in frames(kind, content))
    except FrameError as error:
        return found, error
    return found, None


def told(content: bytes, kind: FrameKind = "MWJ1") -> tuple[str, int, int]:
    """What is told of the damage: its code, the number of the frame, its offset."""
    _, error = damage(content, kind)
    assert error is not None
    return error.code, error.number, error.offset


def test_frames_are_written_byte_for_byte_as_the_format_says() -> None:
    assert b"".join(frame("MWJ1", payload) for payload in PAYLOADS) == GOLDEN
    assert frame("MWS1", b"{}") == SNAPSHOT


def test_the_checksum_is_that_of_ieee_802_3() -> None:
    assert frame("MWJ1", b"123456789")[8:12] == b"\xcb\xf4\x39\x26"  # The check value of catalogues of CRCs.


def test_frames_are_read_with_their_places() -> None:
    assert list(frames("MWJ1", GOLDEN)) == [Frame(1, 0, PAYLOADS[0]), Frame(2, 15, PAYLOADS[1])]
    assert [each.end for each in frames("MWJ1", io.BytesIO(GOLDEN))] == [15, 37]
    assert [each.payload for each in frames("MWS1", SNAPSHOT)] == [b"{}"]


def test_an_empty_file_has_no_frames() -> None:
    assert list(frames("MWJ1", b"")) == []


@pytest.mark.parametrize("length", range(len(GOLDEN)))
def test_a_file_that_is_cut_is_truncated_in_the_frame_that_is_cut(length: int) -> None:
    found, error = damage(GOLDEN[:length])
    number = 1 if length < 15 else 2
    assert found == PAYLOADS[: number - 1]
    if length in {0, 15}:  # At the border of two frames.
        assert error is None
    else:
        assert error is not None
        assert (error.code, error.number, error.offset) == ("truncated", number, 0 if number == 1 else 15)


@pytest.mark.parametrize("position", range(len(GOLDEN)))
def test_each_flipped_bit_is_told_in_the_frame_that_it_is_in(position: int) -> None:
    for bit in range(8):
        changed = bytearray(GOLDEN)
        changed[position] ^= 1 << bit
        found, error = damage(bytes(changed))
        number, offset = (1, 0) if position < 15 else (2, 15)
        assert found == PAYLOADS[: number - 1]
        assert error is not None
        assert (error.number, error.offset) == (number, offset)
        within = position - offset
        expected = {"magic"} if within < 4 else {"length", "truncated", "crc"} if within < 8 else {"crc"}
        assert error.code in expected


def test_zeros_behind_the_last_frame_are_damage_however_many_they_are() -> None:
    for count in range(1, 4_097):
        found, error = damage(GOLDEN + bytes(count))
        assert found == PAYLOADS
        assert error is not None
        assert (error.code, error.number, error.offset) == ("magic", 3, 37)


@pytest.mark.parametrize(
    ("content", "code", "sentence"),
    [
        (b"MWS1" + GOLDEN[4:], "magic", "frame 1, at byte 0: it begins with b'MWS1' in place of b'MWJ1'"),
        (b"MX", "magic", "frame 1, at byte 0: it begins with b'MX' in place of b'MWJ1'"),
        (b"MWJ1\0\0", "truncated", "frame 1, at byte 0: the file ends after 6 bytes of its header"),
        (
            b"MWJ1" + bytes(8),
            "length",
            "frame 1, at byte 0: it tells of a payload of 0 bytes; MWJ1 has from 1 to 16,777,216",
        ),
        (
            b"MWJ1\x01\x00\x00\x01\0\0\0\0",
            "length",
            "frame 1, at byte 0: it tells of a payload of 16,777,217 bytes; MWJ1 has from 1 to 16,777,216",
        ),
        (
            b"MWJ1\x01\x00\x00\x00\0\0\0\0abc",
            "truncated",
            "frame 1, at byte 0: the file ends after 3 of the 16,777,216 bytes of its payload",
        ),
        (
            GOLDEN[:-1] + b"\xfe",
            "crc",
            "frame 2, at byte 15: the CRC-32 does not fit the payload",
        ),
    ],
)
def test_damage_is_told_in_one_sentence(content: bytes, code: str, sentence: str) -> None:
    _, error = damage(content)
    assert error is not None
    assert (error.code, str(error)) == (code, sentence)


def test_what_is_too_long_is_never_read() -> None:
    class Recording(io.BytesIO):
        asked = 0

        def read(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            self.asked = max(self.asked, size)
            return super().read(size)

    file = Recording(b"MWS1\xff\xff\xff\xff\0\0\0\0" + b"x" * 100)
    assert damage(file, "MWS1")[1] is not None
    assert file.asked == 12


def test_the_limits_are_those_of_the_formats_and_inclusive() -> None:
    assert dict(MAX_PAYLOAD_BYTES) == {"MWJ1": 16_777_216, "MWS1": 67_108_864}
    longest = b"x" * 16_777_216
    assert [each.payload == longest for each in frames("MWJ1", frame("MWJ1", longest))] == [True]
    assert told(b"MWS1\x04\x00\x00\x01" + bytes(4), "MWS1") == ("length", 1, 0)
    assert told(b"MWS1\x04\x00\x00\x00" + bytes(4), "MWS1") == ("truncated", 1, 0)


@pytest.mark.parametrize("payload", [b"", b"x" * 16_777_217], ids=["empty", "too long"])
def test_what_no_frame_may_hold_is_not_written(payload: bytes) -> None:
    with pytest.raises(ValueError, match="MWJ1 has from 1 to 16,777,216"):
        frame("MWJ1", payload)


def test_short_reads_are_no_end() -> None:
    class Dripping(io.RawIOBase):
        """A raw file, which may return fewer bytes than it is asked for."""

        def __init__(self) -> None:
            self._content = io.BytesIO(GOLDEN)

        def read(self, size: int = -1, /) -> bytes:
            return self._content.read(min(size, 2))

    assert damage(cast("BinaryIO", Dripping())) == (PAYLOADS, None)


def test_frames_are_read_one_after_the_other() -> None:
    file = io.BytesIO(GOLDEN)
    reading: Iterator[Frame] = frames("MWJ1", file)
    assert file.tell() == 0
    places = []
    for _ in range(2):
        next(reading)
        places.append(file.tell())
    assert places == [15, 37]
    assert all(before < after for before, after in pairwise(places))


def test_an_error_of_the_file_is_no_damage() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise OSError(errno.EIO, "Input/output error")
            return super().read(size)

    with pytest.raises(OSError, match="Input/output error"):
        list(frames("MWJ1", Broken(GOLDEN)))


def test_a_payload_of_zeros_is_none_that_zeros_pass_for() -> None:
    zeros = bytes(100)
    assert [each.payload for each in frames("MWJ1", frame("MWJ1", zeros))] == [zeros]
    assert zlib.crc32(b"") == 0
    assert told(zeros) == ("magic", 1, 0)
