"""A report as one HTML page: without script or anything from elsewhere, readable in light, in dark and on paper."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from perdure_conformance.reports.telling import Telling, Tone

_TEMPLATES: Final = Path(__file__).with_name("templates")

SIGNS: Final[Mapping[Tone, str]] = {"good": "✓", "part": "◐", "known": "!", "open": "?", "bad": "✗"}
"""What stands before the verdict, for whoever sees no colours."""


def render(told: Telling) -> str:
    """Return the page."""
    linked = {failed.name for failed in told.failures}
    return _template().render(told=told, linked=linked, signs=SIGNS, style=_style()) + "\n"


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=False
    )
    return environment.get_template("report.html.jinja")


@cache
def _style() -> Markup:
    """Return our own style, the one text that is not escaped."""
    return Markup((_TEMPLATES / "report.css").read_text("utf-8"))  # noqa: S704 - it is ours
