"""The formats of a report: each is a function of what the folder tells, and a file beside `report.json`, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from perdure_conformance.reports import badge, failure, github, junit, page, summary
from perdure_conformance.reports.reading import ReadReport, read
from perdure_conformance.reports.telling import Telling, tell

FormatName = Literal["html", "markdown", "junit", "badge", "github"]


@dataclass(frozen=True, slots=True)
class Format:
    """One format."""

    render: Callable[[Telling], str]
    file: str | None
    """What it is called in the folder; None if it is only printed."""


FORMATS: Final[Mapping[FormatName, Format]] = {
    "html": Format(page.render, "report.html"),
    "markdown": Format(summary.render, "summary.md"),
    "junit": Format(junit.render, "junit.xml"),
    "badge": Format(badge.render, "badge.json"),
    "github": Format(github.render, None),
}


def render(report: ReadReport, name: FormatName) -> str:
    """Return a report in one format."""
    return FORMATS[name].render(tell(report))


def rendered(folder: Path, name: FormatName) -> str:
    """Return the report in a folder in one format. Raises `ReportRefused`."""
    return render(read(folder), name)


def write_all(report: ReadReport, folder: Path) -> list[Path]:
    """Write every format that has a file into a folder, and return the files."""
    told = tell(report)
    written = []
    for each in FORMATS.values():
        if each.file is not None:
            failure.write_text(folder / each.file, each.render(told))
            written.append(folder / each.file)
    return written


def remove_old(folder: Path) -> None:
    """Remove what an earlier check has rendered: it must not outlive its report."""
    for each in FORMATS.values():
        if each.file is not None:
            (folder / each.file).unlink(missing_ok=True)
