"""Workflow commands of GitHub Actions, escaped as the runner reads them back.

Source: `escapeData` and `escapeProperty` of `@actions/core`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from perdure_conformance.reports.inert import inert

Level = Literal["error", "warning", "notice"]


def command(level: Level, properties: Mapping[str, str], sentence: str) -> str:
    """Return one command, a line of its own."""
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {told}::{_data(inert(sentence))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
