"""JSON lines, read strictly: a record a line, each ended by a line feed; and what a killed writer may leave behind.

Source: "JSON lines: appended in place" of `docs/spec/formats.md`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import IO, Final

from perdure.kernel.limits import MAX_LARGE_RECORD_BYTES
from perdure_conformance.histories.stored import Damage, Place, Stored

_BEGINNING: Final = b'{"batch_index":'
"""How each record begins in canonical form."""
_TOKENS: Final = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*"|[\[\]{}]|[^"\[\]{}\x00-\x20]+')
_OPEN_STRING: Final = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*\\?')
_ZEROS_AT_ONCE: Final = 2**16


def lines(file: IO[bytes]) -> Iterator[Stored]:
    """Yield each line; raises `Damage` at one that no line feed ends, or that is longer than any record."""
    offset = number = 0
    while content := file.readline(MAX_LARGE_RECORD_BYTES + 1):
        number += 1
        if not content.endswith(b"\n"):
            raise _unended(content, file, offset)
        yield Stored(Place("line", number, offset), content[:-1], offset + len(content))
        offset += len(content)


def _unended(content: bytes, file: IO[bytes], offset: int) -> Damage:
    """Return what a last line is that no line feed ends, or one that is too long."""
    zeros = _zeros_to_the_end(content, file)
    begun = content.rstrip(b"\0") if zeros else content
    told = f", and {zeros:,} zeros follow to the end of the file" if zeros else ""
    if not zeros and len(content) > MAX_LARGE_RECORD_BYTES:
        told = f"the line has more than {MAX_LARGE_RECORD_BYTES:,} bytes, and no record has"
        return Damage("over_limit", told, offset)
    if not begun:
        return Damage("torn_tail", f"{zeros:,} zeros stand at the end of the file, where no record was written", offset)
    if is_beginning(begun):
        return Damage("torn_tail", f"no line feed ends the last line, which is the beginning of a record{told}", offset)
    return Damage("unended_line", f"no line feed ends the last line, which is no beginning of a record{told}", offset)


def _zeros_to_the_end(content: bytes, file: IO[bytes]) -> int:
    """Return how many zeros end the file, from a line on that nothing else follows; 0 if something else does."""
    zeros = len(content) - len(content.rstrip(b"\0"))
    while zeros and (more := file.read(_ZEROS_AT_ONCE)):
        if more.strip(b"\0"):
            return 0
        zeros += len(more)
    return zeros


def is_beginning(text: bytes) -> bool:
    """Tell whether a text is the beginning of a record in canonical form, or all of one."""
    if len(text) <= len(_BEGINNING):
        return _BEGINNING.startswith(text)
    if not text.startswith(_BEGINNING) or not _may_be_utf8(text):
        return False
    depth = position = 0
    while position < len(text):
        token = _TOKENS.match(text, position)
        if token is None:
            return _OPEN_STRING.fullmatch(text, position) is not None
        depth += (token[0] in {b"[", b"{"}) - (token[0] in {b"]", b"}"})
        position = token.end()
        if depth == 0:
            return position == len(text)
    return True


def _may_be_utf8(text: bytes) -> bool:
    """Tell whether a text is UTF-8 as far as it goes; a last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(text)
    except UnicodeDecodeError:
        return False
    return True
