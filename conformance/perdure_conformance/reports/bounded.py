"""Files that anybody may have put there: read within a bound, and none that one would wait for."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

_NO_WAITING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
"""Where a system has no such flag, a link is found before the file is opened."""


def is_folder(place: Path) -> bool:
    """Tell whether a path, whatever stands in it, is a folder."""
    return os.path.isdir(place)  # noqa: PTH112 - that of pathlib raises where a name is too long


def bytes_of(path: Path, most: int, *, follow: bool = False, of_end: bool = False) -> bytes:
    """Return at most so many bytes of a file that is no link, and no pipe on which one would wait. Raises `OSError`."""
    if not follow and path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    descriptor = os.open(path, os.O_RDONLY | _NO_WAITING | (0 if follow else _NO_LINK))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        left_out = status.st_size - most if of_end else 0
        if left_out <= 0:
            return file.read(most)
        file.seek(left_out)
        return f"… ({left_out:,} bytes before this are left out)\n".encode() + file.read(most)
