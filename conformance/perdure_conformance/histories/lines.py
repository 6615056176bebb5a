"""JSON lines, read strictly: a record a line, each ended by a line feed; and what a killed writer may leave behind.

Source: "JSON lines: appended in place" of `docs/spec/formats.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final

from perdure.journal.lines import part_of_an_object
from perdure.kernel.limits import MAX_LARGE_RECORD_BYTES
from perdure_conformance.histories.stored import Damage, Place, Stored

_ZEROS_AT_ONCE: Final = 2**16


def lines(file: IO[bytes]) -> Iterator[Stored]:
    """Yield each line; raises `Damage` at one that no line feed ends, or that is longer than any record.

    A last line that is a whole object is yielded before that: to be a torn tail it has to be a sound record.
    """
    offset = number = 0
    while content := file.readline(MAX_LARGE_RECORD_BYTES + 1):
        number += 1
        place = Place("line", number, offset)
        if not content.endswith(b"\n"):
            yield from _unended(content, file, place)
        yield Stored(place, content[:-1], offset + len(content))
        offset += len(content)


def _unended(content: bytes, file: IO[bytes], place: Place) -> Iterator[Stored]:
    """Yield what a last line holds that no line feed ends, if it is whole. Raises `Damage`."""
    zeros = _zeros_to_the_end(content, file)
    begun = content.rstrip(b"\0") if zeros else content
    told = f", and {zeros:,} zeros follow to the end of the file" if zeros else ""
    if not zeros and len(content) > MAX_LARGE_RECORD_BYTES:
        told = f"the line has more than {MAX_LARGE_RECORD_BYTES:,} bytes, and no record has"
        raise Damage("over_limit", told, place.offset)
    if not begun:
        told = f"{zeros:,} zeros stand at the end of the file, where no record was written"
        raise Damage("torn_tail", told, place.offset)
    part = part_of_an_object(begun)
    if part is None:
        sentence = f"no line feed ends the last line, which is no beginning of a JSON object{told}"
        raise Damage("unended_line", sentence, place.offset)
    if part == "whole":
        yield Stored(place, begun, None, is_ended=False)
    what = "the beginning of a record" if part == "beginning" else "all of a record"
    raise Damage("torn_tail", f"no line feed ends the last line, which is {what}{told}", place.offset)


def _zeros_to_the_end(content: bytes, file: IO[bytes]) -> int:
    """Return how many zeros end the file, from a line on that nothing else follows; 0 if something else does."""
    zeros = len(content) - len(content.rstrip(b"\0"))
    while zeros and (more := file.read(_ZEROS_AT_ONCE)):
        if more.strip(b"\0"):
            return 0
        zeros += len(more)
    return zeros
