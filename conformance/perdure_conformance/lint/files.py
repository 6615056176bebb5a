"""Files that people name: read within a bound, replaced as a whole."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perdure.authoring.positions import SourceError
from perdure.authoring.source import MAX_SOURCE_BYTES, Syntax, syntax_of

STDIN: Final = "-"

_NO_WAITING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class FileRefused(Exception):
    """A file that cannot be read or replaced. `str(error)` is one sentence that says which, why and what helps."""


@dataclass(frozen=True, slots=True)
class Text:
    """The bytes of a file, as far as they may be read: one byte over the limit shows that there are more."""

    name: str
    syntax: Syntax
    content: bytes
    stamp: tuple[int, ...]
    """What changes when the file does."""


def read_said(name: str, syntax: Syntax | None) -> Text:
    """Read a file, or standard input for `-`, whose syntax `--syntax` may say. Raises `FileRefused`."""
    if name == STDIN:
        if syntax is None:
            raise FileRefused("Standard input has no name that tells the syntax: add --syntax json or --syntax yaml.")
        return Text(name, syntax, _from_stdin(), ())
    try:
        return _read(name, syntax, f"name a file, or {STDIN} for standard input, with --syntax")
    except SourceError as error:
        raise FileRefused(f"{name}: {error.sentence}, or say --syntax json or --syntax yaml.") from error


def read(name: str) -> Text:
    """Read a file whose name alone tells the syntax. Raises `FileRefused`."""
    try:
        return _read(name, None, "name a file")
    except SourceError as error:
        raise FileRefused(f"{name}: {error.sentence}.") from error


def _read(name: str, syntax: Syntax | None, instead: str) -> Text:
    """Read a file. Raises `FileRefused`, or `SourceError` if nothing tells its syntax."""
    try:
        _refuse_what_is_no_file(name, os.stat(name).st_mode, instead)  # noqa: PTH116 - names may be no UTF-8, or end with a slash
        descriptor = os.open(name, os.O_RDONLY | _NO_WAITING)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            _refuse_what_is_no_file(name, status.st_mode, instead)
            found = syntax or syntax_of(name)
            return Text(name, found, file.read(MAX_SOURCE_BYTES + 1), _stamp(status))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileRefused(f"{name} cannot be read: {reason}. Check its name and its permissions.") from error


def replace(text: Text, content: bytes) -> None:
    """Replace a file as a whole; it keeps its mode, and a link stays one.

    Raises `FileRefused`, and leaves the file alone then.
    """
    real = os.path.realpath(text.name)
    written = ""
    try:
        status = os.stat(real)  # noqa: PTH116 - see above
        if _stamp(status) != text.stamp:
            raise FileRefused(f"{text.name} was changed in the meantime, and is left alone: run this again.")
        if not status.st_mode & 0o222 or status.st_nlink > 1:
            why = "has several names" if status.st_nlink > 1 else "may not be written"
            raise FileRefused(f"{text.name} {why}, and is left alone: mend it by hand, or a copy of it.")
        descriptor, written = tempfile.mkstemp(prefix=".perdure-", suffix=".tmp", dir=os.path.dirname(real))  # noqa: PTH120
        with os.fdopen(descriptor, "wb") as file:
            os.chmod(written, stat.S_IMODE(status.st_mode))  # noqa: PTH101
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(written, real)  # noqa: PTH105
    except OSError as error:
        raise FileRefused(f"{text.name} cannot be replaced, and is left alone: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            Path(written).unlink()


def _from_stdin() -> bytes:
    """Read what comes, in parts: a signal that falls between two of them is not lost."""
    parts: list[bytes] = []
    left = MAX_SOURCE_BYTES + 1
    try:
        while left and (part := os.read(sys.stdin.fileno(), min(left, 2**20))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    except (OSError, ValueError) as error:
        raise FileRefused(f"Standard input cannot be read: {error}. Pipe a document into it.") from error


def _refuse_what_is_no_file(name: str, mode: int, instead: str) -> None:
    if stat.S_ISDIR(mode):
        raise FileRefused(f"{name} is a folder: name the files in it, as in {name.rstrip('/')}/*.yaml.")
    if not stat.S_ISREG(mode):
        raise FileRefused(f"{name} is a pipe or a device: {instead}.")


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
