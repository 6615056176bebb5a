"""`perdure report`: render the folder of a report again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from perdure_conformance.cli.common import even_if_nobody_reads, print_lines, write_file, write_product, wrong_usage
from perdure_conformance.reports import reading, rendering
from perdure_conformance.reports.bounded import is_folder
from perdure_conformance.reports.reading import ReadReport, ReportRefused
from perdure_conformance.reports.rendering import FormatName

EPILOG = """\b
Examples:
  perdure report perdure-report
  perdure report perdure-report --format markdown >> "$GITHUB_STEP_SUMMARY"
  perdure report perdure-report --format html --output public/index.html
"""


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder that a check has written, by --report.")
    ] = Path("perdure-report"),
    form: Annotated[
        FormatName | None,
        typer.Option("--format", help="Print this one; without it, all but github are written into the folder."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what --format asks for to a file; it is replaced."),
    ] = None,
) -> None:
    """Render a report: as a page, a summary in Markdown, JUnit XML, a badge, or annotations of GitHub.

    Nothing is judged, nothing is run, and nothing but the folder is read: report.json, and the folders of failures.

    Exit codes: 0 rendered, whatever the verdict; 2 wrong usage, or the folder holds no report.
    """
    if output is not None and form is None:
        wrong_usage("--output belongs to --format: say which one.")
    try:
        found = reading.read(folder)
    except ReportRefused as error:
        wrong_usage(str(error))
    if form is None:
        _write_all(found, folder if is_folder(folder) else folder.parent)
    elif output is None:
        write_product(rendering.render(found, form).encode(), "Name a file with --output.")
    else:
        write_file(output, rendering.render(found, form).encode(), "--output")


def _write_all(found: ReadReport, folder: Path) -> None:
    try:
        written = rendering.write_all(found, folder)
    except OSError as error:
        wrong_usage(f"{folder} cannot be written: {error.strerror}. Say --format, and --output for a place elsewhere.")
    with even_if_nobody_reads():
        print_lines(str(path) for path in written)
