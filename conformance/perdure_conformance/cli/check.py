"""`perdure check`: judge an implementation."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import Annotated, Final, Literal, TextIO

import typer

from perdure_conformance.checking import terms_of
from perdure_conformance.cli.common import even_if_nobody_reads, target_or_exit, wrong_usage
from perdure_conformance.cli.judged import judged
from perdure_conformance.profiles import PROFILES, WITH_CRASHES, in_full
from perdure_conformance.reports import reading, rendering
from perdure_conformance.reports.inert import inert
from perdure_conformance.suite import AnyProfile, Options
from perdure_conformance.terms import Terms, TermsRefused
from perdure_conformance.verdict import Depth

EPILOG = """\b
Examples:
  perdure check
  perdure check journal sqlite --depth quick
  perdure check journal my_package.journal:open_journal
  perdure check journal --command "node adapter.mjs" --json
  perdure check journal --command "./adapter" --only JRN-008 --only JRN-009
  perdure check journal --command "./adapter" --expected-failures known.yaml --pinned 0.1
  perdure check journal --command "./adapter" --annotations github
  perdure check journal --command "./adapter" --crash
  perdure check spec
  perdure check spec my_package.validator:open_validator --only SPC-017
  perdure check spec --command "node adapter.mjs" --depth quick
  perdure check reducer --command "./adapter" --generated 10000 --seed 7
"""

_BUILT_IN: Final = "; ".join(
    f"of {name}: {', '.join(each.subjects.built_in)}, by default {each.subjects.default}"
    if len(each.subjects.built_in) > 1
    else f"of {name}: {each.subjects.default}"
    for name, each in PROFILES.items()
)


def check(  # noqa: PLR0913, PLR0917 - the options of a command
    profile: Annotated[
        str, typer.Argument(metavar="PROFILE", help=f"What to judge it as: {', '.join(PROFILES)}.")
    ] = next(iter(PROFILES)),
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            help=f"A built-in name ({_BUILT_IN}) or a Python factory as module:factory.",
        ),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="A program that speaks the protocol, in place of TARGET; no shell runs it."
        ),
    ] = None,
    depth: Annotated[Depth, typer.Option(help="How much is tried.")] = "normal",
    seed: Annotated[int, typer.Option(metavar="N", min=0, max=2**53 - 1, help="The seed of what is drawn.")] = 1,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.05, max=3600, help="How long one answer may take.")
    ] = 10.0,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Judge this requirement alone; several times, or several with commas."),
    ] = None,
    generated: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=10**9,
            help="Ask a reducer about so many generated histories too, half of them damaged.",
        ),
    ] = 0,
    crash: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--crash", help="Judge a journal by kills, failed calls and power cuts too."),
    ] = False,
    expected_failures: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What is known to fail, each with a reason or link; JSON or YAML."),
    ] = None,
    pinned: Annotated[
        str | None,
        typer.Option(metavar="RELEASE", help="Judge by this release's requirements: what is new now only warns."),
    ] = None,
    report_dir: Annotated[
        Path,
        typer.Option(
            "--report", metavar="FOLDER", help="Where report.json, the folders of failures and the renderings go."
        ),
    ] = Path("perdure-report"),
    annotations: Annotated[
        Literal["github"] | None,
        typer.Option(help="Print workflow commands too, which annotate a run; with --json, to standard error."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, and nothing else.")] = False,  # noqa: FBT002
) -> None:
    """Judge an implementation: a verdict for each requirement, the smallest failing case, a line to replay it.

    Exit codes: 0 conformant, 1 not conformant, 2 wrong usage, 3 no verdict.
    """
    judged_as = _crashed(_profile(profile)) if crash else _profile(profile)
    selected = _selected(judged_as, only or [])
    if generated and not judged_as.generates:
        wrong_usage(f"No histories are generated for the profile {judged_as.name}: leave --generated out.")
    implementation = target_or_exit(judged_as.subjects, target, command)
    terms = _terms(judged_as, expected_failures, pinned)
    options = Options(depth, seed, timeout_s=timeout, only=selected, generated=generated)
    done = judged(judged_as, implementation, options, report_dir, terms, as_json=as_json)
    if annotations is not None:
        _annotate(report_dir, annotations, sys.stderr if as_json else sys.stdout)
    sys.exit(done.report.exit_code)


def _annotate(report_dir: Path, form: rendering.FormatName, to: TextIO) -> None:
    try:
        told = rendering.rendered(report_dir, form)
    except reading.ReportRefused as error:
        sys.stderr.write(f"perdure: {inert(str(error))}\n")
        return
    with even_if_nobody_reads():
        to.write(told)


def _profile(name: str) -> AnyProfile:
    if name not in PROFILES:
        owners = (profile.name for profile in PROFILES.values() if ":" in name or name in profile.subjects.built_in)
        owner = next(owners, None)
        meant = f" Did you mean `perdure check {owner} {name}`?" if owner else ""
        wrong_usage(f"There is no profile {name!r}. What there is: {', '.join(PROFILES)}.{meant}")
    return PROFILES[name]


def _crashed(profile: AnyProfile) -> AnyProfile:
    if profile.name not in WITH_CRASHES:
        wrong_usage(f"Only {', '.join(WITH_CRASHES)}s are judged by crashes: leave --crash out.")
    return WITH_CRASHES[profile.name]


def _selected(profile: AnyProfile, only: list[str]) -> frozenset[str]:
    known = [requirement.id for requirement in profile.requirements()]
    only = [identity.strip().upper() for words in only for identity in words.split(",")]
    reserved = {requirement.id for requirement in profile.reserved()}
    for identity in only:
        if not identity:
            wrong_usage("--only names nothing: give the id of a requirement, as in --only JRN-008.")
        if identity in reserved:
            wrong_usage(f"{identity} is reserved: nothing judges it yet.")
        if identity not in known:
            noun, hint = profile.subjects.noun, _meant(profile, identity, known)
            wrong_usage(f"There is no requirement {identity} of a {noun}. {hint}")
    return frozenset(only)


def _terms(profile: AnyProfile, expected_failures: str | None, pinned: str | None) -> Terms:
    try:
        return terms_of(profile, expected_failures, pinned)
    except TermsRefused as error:
        wrong_usage(str(error))


def _meant(profile: AnyProfile, identity: str, known: list[str]) -> str:
    """Return what may help somebody who named a requirement that a profile does not have."""
    with_crashes = in_full(profile)
    if any(requirement.id == identity for requirement in with_crashes.requirements()):
        return "Add --crash."
    if identity in with_crashes.judged_elsewhere:
        return f"`perdure crash` judges it: `perdure explain {identity}` tells how."
    for name, other in PROFILES.items():
        if any(requirement.id == identity for requirement in other.requirements()):
            return f"Did you mean `perdure check {name} --only {identity}`?"
    prefix, _, number = identity.replace("_", "-").partition("-")
    padded = [f"{prefix}-{number:0>3}"]
    close = [key for key in padded if key in known] or difflib.get_close_matches(identity, known, n=3)
    return f"Did you mean {', '.join(close)}?" if close else "`perdure explain` lists those there are."
