"""Histories as files: one record a line, read one after the other, each within a bound."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Final

from perdure.kernel.errors import corrupt
from perdure.kernel.limits import MAX_LARGE_RECORD_BYTES

STDIN: Final = "-"

_IN_BINARY: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class HistoryRefused(Exception):
    """A file that cannot be read. `str(error)` is one sentence that says which, why and what helps."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file, without its line feed."""

    number: int
    content: bytes
    is_ended: bool
    """Whether a line feed ends it."""


@contextmanager
def opened(name: str) -> Iterator[Iterator[Line]]:
    """Open a history, or standard input for `-`, and give its lines, one after the other. Raises `HistoryRefused`.

    The lines raise `HistoryRefused` too, and `Corruption` at one that is longer than any record.
    """
    with _opened(name) as file:
        yield _lines(name, file)


def _lines(name: str, file: IO[bytes]) -> Iterator[Line]:
    number = 0
    while True:
        try:
            content = file.readline(MAX_LARGE_RECORD_BYTES + 1)
        except OSError as error:
            raise HistoryRefused(f"{name} cannot be read: {error.strerror}.") from error
        if not content:
            return
        number += 1
        is_ended = content.endswith(b"\n")
        if not is_ended and len(content) > MAX_LARGE_RECORD_BYTES:
            corrupt("over_limit", f"the line has more than {MAX_LARGE_RECORD_BYTES:,} bytes, and no record has")
        yield Line(number, content.removesuffix(b"\n"), is_ended)


def _opened(name: str) -> IO[bytes]:
    try:
        if name == STDIN:
            return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
        _refuse_what_is_no_history(name, os.stat(name).st_mode)  # noqa: PTH116 - names may be no UTF-8
        descriptor = os.open(name, os.O_RDONLY | _IN_BINARY)
        return os.fdopen(descriptor, "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise HistoryRefused(f"{name} cannot be read: {reason}. Check its name and its permissions.") from error


def _refuse_what_is_no_history(name: str, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise HistoryRefused(f"{name} is a folder: name one history, as in {name.rstrip('/')}/run.jsonl.")
    if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
        raise HistoryRefused(f"{name} is a device: name a file, or - for standard input.")
