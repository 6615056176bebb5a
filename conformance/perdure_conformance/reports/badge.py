"""A report as a badge: the JSON that shields.io reads from an address.

Source: "Endpoint Badge" of the documentation of shields.io.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from perdure_conformance.reports.telling import Telling, Tone

COLOURS: Final[Mapping[Tone, str]] = {
    "good": "brightgreen",
    "part": "blue",
    "known": "yellow",
    "open": "lightgrey",
    "bad": "red",
}

_LEVEL: Final = 60


def render(told: Telling) -> str:
    """Return the badge: never green alone, but the level, and how much was judged (TOL-019)."""
    headline = told.headline
    whole, passed, failed = len(told.lines), told.counts["pass"], told.counts["fail"]
    counts = [f"{passed} of {whole} pass", f"{failed} fail" if failed else "", f"{whole - passed - failed} not judged"]
    level = headline.level if headline.tone == "good" else headline.words.lower()
    document = {
        "schemaVersion": 1,
        "label": f"perdure {headline.profile}",
        "message": ", ".join([_short(level), *filter(None, counts)]),
        "color": COLOURS[headline.tone],
        "isError": headline.tone in {"bad", "open"},
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _short(text: str) -> str:
    return text if len(text) <= _LEVEL else f"{text[: _LEVEL - 1]}…"
