"""Foreign text made harmless: nothing that an implementation says can steer a terminal, or a CI service, or hide."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_STEERING: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_NOT_PLAIN: Final = re.compile(r"[^\n\t -~]")
_COMMAND: Final = re.compile(r"(?P<before>^[^\S\n]*):(?=:)|#(?=#[a-z]*\[)", re.MULTILINE)
"""What services that run jobs obey when they read it in a log: `::error::` where a line begins, `##[…]`, `##vso[…]`."""


def inert(text: str) -> str:
    """Return `text` with all that steers written as an escape (TOL-017).

    That is every control, format and unassigned character, except LF and tab, and the first character of a command to
    whoever reads a log.
    """
    return _COMMAND.sub(_without_sign, _NOT_PLAIN.sub(_harmless, text))


def cut(text: str, most: int) -> str:
    """Return foreign text made harmless: at most so many characters of it, and how many are left out (TOL-017)."""
    if len(text) <= most:
        return inert(text)
    return f"{inert(text[:most])}… ({len(text) - most:,} more characters are left out)"


def _harmless(found: re.Match[str]) -> str:
    character = found[0]
    return character if unicodedata.category(character) not in _STEERING else ascii(character)[1:-1]


def _without_sign(found: re.Match[str]) -> str:
    return r"\x23" if found["before"] is None else found["before"] + r"\x3a"
