"""What `perdure check` and `perdure crash` share: a judgement, told while it goes on, kept in a folder and shown."""

from __future__ import annotations

from pathlib import Path

from perdure_conformance.checking import Checked, checked, prepare
from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, wrong_usage
from perdure_conformance.cli.progress import progress
from perdure_conformance.harness.targets import Target
from perdure_conformance.reports import terminal
from perdure_conformance.suite import AnyProfile, Options
from perdure_conformance.terms import NO_TERMS, Terms


def judged(
    profile: AnyProfile,
    target: Target,
    options: Options,
    report_dir: Path,
    terms: Terms = NO_TERMS,
    *,
    as_json: bool,
) -> Checked:
    """Judge, write the report and its renderings, and print it; exit with 2 if its folder cannot be written."""
    try:
        prepare(report_dir)
    except OSError as error:
        wrong_usage(f"{report_dir} cannot be written: {error.strerror}. Name another folder with --report.")
    with progress() as tell:
        done = checked(profile, target, options, report_dir, terms, tell)
    if as_json:
        print_json(done.report.document)
    else:
        with even_if_nobody_reads():
            terminal.show(console(), done.report, done.judgement, done.folders)
            page = done.path.with_name("report.html")
            if page.is_file():  # If it could not be written, that was told.
                console().print(f"Report: {page}", soft_wrap=True, markup=False)
    return done
