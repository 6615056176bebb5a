"""Foreign text made harmless: nothing that an implementation says can steer a terminal or hide in a report."""

from __future__ import annotations

import unicodedata

_STEERING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def inert(text: str) -> str:
    """Return `text` with every control, format and unassigned character written as an escape, except LF and tab."""
    return "".join(character if _is_harmless(character) else _escape(character) for character in text)


def _is_harmless(character: str) -> bool:
    return character in "\n\t" or unicodedata.category(character) not in _STEERING


def _escape(character: str) -> str:
    return ascii(character)[1:-1]
