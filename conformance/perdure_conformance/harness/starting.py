"""Why a program did not start, in words. It needs nothing that must be installed, as whatever watches a program."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path


def why_not_started(program: str, error: OSError | ValueError) -> str:
    """Return why a program did not start, as far as it can be seen, and what helps."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG:
        return f"{reason}."
    path = Path(program)
    if "/" not in program and shutil.which(program) is None:
        meant = f"Did you mean {f'./{program}'!a}" if path.is_file() else "Is it built, or installed"
        return f"no program of this name is on PATH. {meant}?"
    if not path.exists():
        return "there is no such file, seen from the current folder. Is it built?"
    if path.is_dir():
        return "it is a folder. Give the program that is in it."
    if not os.access(path, os.X_OK):
        return "it is not executable. Let it be so, by chmod +x, or name what runs it first."
    if isinstance(error, FileNotFoundError):
        return "what its first line names to run it is not there."
    if error.errno == errno.ENOEXEC:
        return "it is no program for this machine, and no script whose first line names what runs it."
    return f"{reason}."
