"""`perdure check`: judge an implementation."""

from __future__ import annotations

import contextlib
import difflib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import TaskID

from perdure_conformance.cli.common import (
    console,
    even_if_nobody_reads,
    print_json,
    progress_bar,
    target_or_exit,
    wrong_usage,
)
from perdure_conformance.lint.files import FileRefused, read
from perdure_conformance.profiles import PROFILES
from perdure_conformance.reports import failure, report, terminal
from perdure_conformance.reports.inert import inert
from perdure_conformance.suite import AnyProfile, Finding, Judgement, Options
from perdure_conformance.terms import Terms, expected_in, parsed
from perdure_conformance.verdict import Depth

EPILOG = """\b
Examples:
  perdure check
  perdure check journal sqlite --depth quick
  perdure check journal my_package.journal:open_journal
  perdure check journal --command "node adapter.mjs" --json
  perdure check journal --command "./adapter" --only JRN-008 --only JRN-009
  perdure check journal --command "./adapter" --expected-failures known.yaml --pinned 0.1
  perdure check spec
  perdure check spec my_package.validator:open_validator --only SPC-017
  perdure check spec --command "node adapter.mjs" --depth quick
"""

_BUILT_IN: Final = "; ".join(", ".join(profile.subjects.built_in) for profile in PROFILES.values())
_DEFAULTS: Final = "Default: " + ", ".join(profile.subjects.default for profile in PROFILES.values())


def check(  # noqa: PLR0913, PLR0917 - the options of a command
    profile: Annotated[str, typer.Argument(help=f"What to judge it as: {', '.join(PROFILES)}.")] = next(iter(PROFILES)),
    target: Annotated[
        str | None,
        typer.Argument(help=f"A built-in name ({_BUILT_IN}) or a Python factory as module:factory. {_DEFAULTS}."),
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="A program that speaks the protocol, in place of TARGET; run without a shell.")
    ] = None,
    depth: Annotated[Depth, typer.Option(help="How much is tried.")] = "normal",
    seed: Annotated[int, typer.Option(min=0, max=2**53 - 1, help="The seed of what is drawn.")] = 1,
    timeout: Annotated[
        float, typer.Option(min=0.05, max=3600, help="Seconds that the implementation has for one answer.")
    ] = 10.0,
    only: Annotated[
        list[str] | None, typer.Option(help="Judge this requirement alone; several times, or several with commas.")
    ] = None,
    expected_failures: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What is known to fail, each with a reason or link; JSON or YAML."),
    ] = None,
    pinned: Annotated[
        str | None,
        typer.Option(metavar="RELEASE", help="Judge by this release's requirements: what is new now only warns."),
    ] = None,
    report_dir: Annotated[
        Path, typer.Option("--report", help="Where report.json and the folders of failures go.")
    ] = Path("perdure-report"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Judge an implementation: a verdict for each requirement, the smallest failing case, a line to replay it.

    Exit codes: 0 conformant, 1 not conformant, 2 wrong usage, 3 no verdict.
    """
    judged_as = _profile(profile)
    selected = _selected(judged_as, only or [])
    implementation = target_or_exit(judged_as.subjects, target, command)
    terms = _terms(judged_as, expected_failures, pinned)
    _prepare(report_dir)
    with progress_bar() as bar:
        tasks: dict[str, TaskID] = {}

        def tell(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label, total=total)
            bar.update(tasks[label], completed=done)

        options = Options(depth, seed, timeout_s=timeout, only=selected)
        with contextlib.redirect_stdout(sys.stderr):  # What it prints must not mix with the report.
            judgement = judged_as.judge(implementation, options, tell)
    folders = {name: _write(report_dir, finding) for name, finding in judgement.findings.items()}
    built = report.build(
        judged_as,
        judgement,
        implementation,
        depth=depth,
        seed=seed,
        only=selected,
        terms=terms,
        cases={name: str(folder) for name, folder in folders.items()},
    )
    _tell_if_it_fails(
        lambda: failure.write_text(report_dir / "report.json", json.dumps(built.document, indent=2) + "\n")
    )
    if as_json:
        print_json(built.document)
    else:
        with even_if_nobody_reads():
            _show(built, judgement, folders, report_dir)
    sys.exit(built.exit_code)


def _write(report_dir: Path, finding: Finding) -> Path:
    _tell_if_it_fails(lambda: failure.write(report_dir, finding))
    return failure.folder_of(report_dir, finding)


def _tell_if_it_fails(write: Callable[[], object]) -> None:
    """Write, and give the verdict even if that is not possible any more."""
    try:
        write()
    except OSError as error:
        sys.stderr.write(f"perdure: {inert(str(error))}. The verdict stands, and is not kept.\n")


def _show(built: report.Report, judgement: Judgement, folders: dict[str, Path], report_dir: Path) -> None:
    terminal.show(console(), built, judgement, folders)
    console().print(f"Report: {report_dir / 'report.json'}", soft_wrap=True, markup=False)


def _profile(name: str) -> AnyProfile:
    if name not in PROFILES:
        owners = (profile.name for profile in PROFILES.values() if ":" in name or name in profile.subjects.built_in)
        owner = next(owners, None)
        meant = f" Did you mean `perdure check {owner} {name}`?" if owner else ""
        wrong_usage(f"There is no profile {name!r}. What there is: {', '.join(PROFILES)}.{meant}")
    return PROFILES[name]


def _selected(profile: AnyProfile, only: list[str]) -> frozenset[str]:
    known = [requirement.id for requirement in profile.requirements()]
    only = [identity.strip().upper() for words in only for identity in words.split(",")]
    reserved = {requirement.id for requirement in profile.reserved()}
    for identity in only:
        if identity in reserved:
            wrong_usage(f"{identity} is reserved: nothing judges it yet.")
        if identity not in known:
            noun, hint = profile.subjects.noun, _meant(identity, known)
            wrong_usage(f"There is no requirement {identity} of a {noun}. {hint}")
    return frozenset(only)


def _terms(profile: AnyProfile, expected_failures: str | None, pinned: str | None) -> Terms:
    try:
        if pinned is not None and parsed(pinned) > parsed(report.release()):
            wrong_usage(f"--pinned {pinned} is a release to come; this one is {report.release()}.")
        text = None if expected_failures is None else read(expected_failures, None)
        known = [requirement.id for requirement in profile.requirements()]
        return Terms({} if text is None else expected_in(text, known), pinned)
    except (FileRefused, ValueError) as error:
        wrong_usage(f"{error}.".replace("..", "."))


def _meant(identity: str, known: list[str]) -> str:
    """Return what may help somebody who named a requirement that a profile does not have."""
    for name, other in PROFILES.items():
        if any(requirement.id == identity for requirement in other.requirements()):
            return f"Did you mean `perdure check {name} --only {identity}`?"
    prefix, _, number = identity.replace("_", "-").partition("-")
    padded = [f"{prefix}-{number:0>3}"]
    close = [key for key in padded if key in known] or difflib.get_close_matches(identity, known, n=3)
    return f"Did you mean {', '.join(close)}?" if close else "`perdure explain` lists those there are."


def _prepare(report_dir: Path) -> None:
    try:
        report_dir.mkdir(parents=True, exist_ok=True)
        (report_dir / "failures").mkdir(exist_ok=True)
        failure.write_text(report_dir / "report.json", "")
        (report_dir / "report.json").unlink()
    except OSError as error:
        wrong_usage(f"{report_dir} cannot be written: {error.strerror}. Name another folder with --report.")
    if removed := failure.remove_old(report_dir):
        failures = "failure" if removed == 1 else "failures"
        sys.stderr.write(f"perdure: removed {removed} {failures} of an earlier check from {report_dir / 'failures'}.\n")
