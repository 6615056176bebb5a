"""What a fix would change, as a unified diff that `patch` and `git apply` take."""

from __future__ import annotations

import difflib

from perdure_conformance.lint.document import name_of


def unified(name: str, before: str, after: str) -> str:
    """Return the differences between two texts of a file."""
    file = name_of(name)
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{file}", f"b/{file}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Return lines as patches count them, each with its end; CR is part of a line."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]
