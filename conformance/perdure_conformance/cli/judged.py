"""What `perdure check` and `perdure crash` share: a judgement, told while it goes on, kept in a folder and shown."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Final

from rich.progress import Progress as Bar
from rich.progress import TaskID

from perdure_conformance.checking import Checked, checked, prepare
from perdure_conformance.cli.common import console, even_if_nobody_reads, print_json, progress_bar, wrong_usage
from perdure_conformance.harness.targets import Target
from perdure_conformance.reports import terminal
from perdure_conformance.suite import AnyProfile, Options, Progress
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
    with progress_bar() as bar:
        tell = _in_lines() if bar.disable else _on(bar)
        done = checked(profile, target, options, report_dir, terms, tell)
    if as_json:
        print_json(done.report.document)
    else:
        with even_if_nobody_reads():
            terminal.show(console(), done.report, done.judgement, done.folders)
            console().print(f"Report: {done.path.with_name('report.html')}", soft_wrap=True, markup=False)
    return done


def _on(bar: Bar) -> Progress:
    """Return what tells on a bar how far it is, where somebody watches."""
    tasks: dict[str, TaskID] = {}

    def tell(label: str, done: int, total: int) -> None:
        if label not in tasks:
            tasks[label] = bar.add_task(label, total=total)
        bar.update(tasks[label], completed=done, total=total)

    return tell


_LINES_OF_A_PART: Final = 4


def _in_lines() -> Progress:
    """Return what tells on standard error how far it is, for a log: a line as a part begins, and at each quarter."""
    told: dict[str, int] = {}

    def tell(label: str, done: int, total: int) -> None:
        quarter = done * _LINES_OF_A_PART // total if total else _LINES_OF_A_PART
        if told.get(label, -1) < quarter < _LINES_OF_A_PART:
            told[label] = quarter
            with contextlib.suppress(OSError, ValueError):  # The verdict stands, whoever reads this.
                sys.stderr.write(f"perdure: {label}, {done} of {total}\n")

    return tell
