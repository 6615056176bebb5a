"""A check from end to end: judge, keep each failure in a folder of its own, write and render the report beside."""

from __future__ import annotations

import contextlib
import errno
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from perdure_conformance.expectations import expected_in
from perdure_conformance.harness.targets import Target, is_text
from perdure_conformance.lint.files import FileRefused, read
from perdure_conformance.reports import failure, reading, rendering
from perdure_conformance.reports.inert import inert
from perdure_conformance.reports.report import Report, build, release
from perdure_conformance.requirements import FIRST_RELEASE
from perdure_conformance.suite import AnyProfile, Finding, Judgement, Options, Progress, say_nothing
from perdure_conformance.terms import NO_TERMS, Terms, TermsRefused, parsed


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a check."""

    report: Report
    judgement: Judgement
    folders: Mapping[str, Path]
    """Where each failure is kept."""
    path: Path
    """The report."""


def terms_of(profile: AnyProfile, expected_failures: str | None, pinned: str | None) -> Terms:
    """Return the terms in a file of expected failures, and under a pinned release. Raises `TermsRefused`."""
    try:
        if pinned is not None and not parsed(FIRST_RELEASE) <= parsed(pinned) <= parsed(release()):
            raise TermsRefused(f"{pinned} cannot be pinned: the releases are {FIRST_RELEASE} to {release()}, this one.")
        text = None if expected_failures is None else read(expected_failures)
        return Terms({} if text is None else expected_in(text, profile), pinned)
    except FileRefused as error:
        raise TermsRefused(str(error)) from error


def prepare(folder: Path) -> None:
    """Make the folder of a report, and tell what is removed from it. Raises `OSError` if it cannot be written."""
    if not is_text(str(folder)):
        raise OSError(errno.EILSEQ, "its name is no UTF-8, and stands in the report", str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "failures").mkdir(exist_ok=True)
    failure.write_text(folder / reading.REPORT, "")
    (folder / reading.REPORT).unlink()
    rendering.remove_old(folder)
    if removed := failure.remove_old(folder):
        failures = "failure" if removed == 1 else "failures"
        sys.stderr.write(f"perdure: removed {removed} {failures} of an earlier check from {folder / 'failures'}.\n")


def checked(
    profile: AnyProfile,
    target: Target,
    options: Options,
    folder: Path,
    terms: Terms = NO_TERMS,
    progress: Progress = say_nothing,
) -> Checked:
    """Check an implementation. The verdict stands even if the folder, which is there, cannot be written any more."""
    with contextlib.redirect_stdout(sys.stderr):  # What it prints must not mix with the report.
        judgement = profile.judge(target, options, progress)
    folders = {name: _written(folder, finding) for name, finding in judgement.findings.items()}
    report = build(
        profile,
        judgement,
        target,
        depth=options.depth,
        seed=options.seed,
        only=options.only,
        terms=terms,
        cases={name: str(place) for name, place in folders.items()},
    )
    path = folder / reading.REPORT
    text = json.dumps(report.document, indent=2) + "\n"
    if _is_done(lambda: failure.write_text(path, text), "The verdict stands, and is not kept"):
        _is_done(lambda: rendering.write_all(reading.read(folder), folder), "The verdict stands; it is not rendered")
    return Checked(report, judgement, folders, path)


def _written(folder: Path, finding: Finding) -> Path:
    _is_done(lambda: failure.write(folder, finding), "The failure stands, and is not kept")
    return failure.folder_of(folder, finding)


def _is_done(write: Callable[[], object], otherwise: str) -> bool:
    """Write something, and tell what that means if it fails."""
    try:
        write()
    except (OSError, reading.ReportRefused) as error:
        sys.stderr.write(f"perdure: {inert(str(error)).removesuffix('.')}. {otherwise}.\n")
        return False
    return True
