"""What a fix would change, as a unified diff that `patch` and `git apply` take."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Final

from perdure_conformance.lint.document import name_of

_NOT_PLAIN: Final = re.compile(r'[\x00-\x1f\x7f"\\]')


def unified(name: str, before: str, after: str) -> str:
    """Return the differences between two texts of a file."""
    file = name_of(_from_here(name))
    lines = difflib.unified_diff(_lines(before), _lines(after), _header(f"a/{file}"), _header(f"b/{file}"))
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _from_here(name: str) -> str:
    """Return a name from the current folder, or from the root for what lies elsewhere: without a slash in front."""
    here = Path.cwd()
    whole = Path(os.path.normpath(here / name))
    return str(whole.relative_to(here if whole.is_relative_to(here) else whole.anchor))


def _header(name: str) -> str:
    """Return a name as git writes it: quoted if it must be, and ended by a tab if it has a space."""
    if _NOT_PLAIN.search(name):
        return '"' + _NOT_PLAIN.sub(lambda found: f"\\{ord(found[0]):03o}", name) + '"'
    return f"{name}\t" if " " in name else name


def _lines(text: str) -> list[str]:
    """Return lines as patches count them, each with its end; CR is part of a line."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]
