"""The folder of a failure: all that is needed to see it and to see it again.

case.json       the concrete operations, the target, what was expected and what came
found.json      how it was found, whether it failed again, and what was answered
failure.txt     both for people, with the line that replays it
transcript.txt  what was said
state.tar.gz    the state directory that is not recovered from, if a crash has left one
stderr.txt      what the implementation wrote to standard error
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from pathlib import Path
from typing import Literal

import msgspec

from perdure.kernel.values import JsonError, read_json
from perdure_conformance.harness.connection import FAULTS
from perdure_conformance.profiles import ANY_CASE
from perdure_conformance.reports.bounded import bytes_of, is_folder
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import requirements
from perdure_conformance.suite import Case, Finding

CASE, FOUND, STDERR, STATE = "case.json", "found.json", "stderr.txt", "state.tar.gz"
_FILES = (CASE, FOUND, "failure.txt", "transcript.txt", STDERR, STATE)
_STDERR_LINES_SHOWN = 6
_SAYS_NOTHING = "Traceback (most recent call last):"
MAX_CASE_BYTES = 16 * 2**20


class Found(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a failure was found, as `found.json` keeps it. Its schema is `schemas/found-1.json`."""

    found_version: Literal[1] = 1
    failure: str
    """The requirement that is broken, or `fault:KIND`, as in the case."""
    found_by: str
    reproduced: bool | None
    """Whether it failed again, the same way, on fresh state; None if that was not tried."""
    answers: tuple[str, ...]
    """What came in answer to each thing that the failing part does, in a word."""
    ran_in: str = ""
    """The folder in which the check ran, where relative paths lead from; empty if its name cannot be printed."""


class CaseError(Exception):
    """A folder holds no case that can be played. `str(error)` says why and what to do."""


def remove_old(report: Path) -> int:
    """Remove the failures that an earlier check left in a report's folder, and nothing else. Return how many."""
    removed = 0
    for name in [*requirements(), *(f"fault:{kind}" for kind in FAULTS)]:
        folder = report / "failures" / folder_name(name)
        if folder.is_symlink() or not (folder / CASE).is_file():
            continue
        for file in _FILES:
            (folder / file).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # Somebody keeps something else there.
            folder.rmdir()
        removed += 1
    return removed


def write_text(path: Path, text: str) -> None:
    """Write a file anew, whole or not at all: never through a link that stands in its place."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.unlink(missing_ok=True)
    try:
        part.write_text(text, "utf-8")
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def folder_name(failed: str) -> str:
    """Return what the folder of a failure is called: as the failure is, without a sign that has a meaning in paths."""
    return failed.replace(":", "-")


def folder_of(report: Path, finding: Finding) -> Path:
    """Return where a failure is kept."""
    return report / "failures" / folder_name(finding.failure)


def write(report: Path, finding: Finding) -> Path:
    """Write the folder of one failure and return it."""
    folder = folder_of(report, finding)
    folder.mkdir(parents=True, exist_ok=True)
    found = Found(
        failure=finding.failure,
        found_by=finding.found_by,
        reproduced=finding.reproduced,
        answers=finding.answers,
        ran_in=_here(),
    )
    for name, kept in ((CASE, finding.case), (FOUND, found)):
        write_text(folder / name, json.dumps(msgspec.to_builtins(kept), indent=2, ensure_ascii=True) + "\n")
    write_text(folder / "failure.txt", in_words(finding, folder) + "\n")
    write_text(folder / "transcript.txt", inert(finding.transcript))
    write_text(folder / STDERR, inert(finding.stderr))
    (folder / STATE).unlink(missing_ok=True)
    if finding.state is not None:
        (folder / STATE).write_bytes(finding.state)
    return folder


def read(folder: Path) -> Case:
    """Read the case of a folder. Raises `CaseError`."""
    path = folder if folder.name == CASE else folder / CASE
    try:
        content = bytes_of(path, MAX_CASE_BYTES + 1, follow=True)
    except OSError as error:
        cases = folder.glob(f"failures/*/{CASE}") if is_folder(folder) else ()
        inside = ", ".join(sorted(str(case.parent) for case in cases))
        hint = f"Its failures: {inside}." if inside else "Give the folder of a failure, as a check has named it."
        raise CaseError(f"{path} cannot be read: {error.strerror}. {hint}") from error
    if len(content) > MAX_CASE_BYTES:
        raise CaseError(f"{path} is larger than any case; is this the folder of a failure?")
    return case_in(content, path)


def case_in(content: bytes, path: Path) -> Case:
    """Return the case that a file holds. Raises `CaseError`."""
    try:
        case: Case = msgspec.convert(read_json(content), ANY_CASE)
    except (JsonError, msgspec.ValidationError) as error:
        raise CaseError(f"{path} is no case: {error}. Take the folder as a check has written it.") from error
    if not case.is_plausible:
        raise CaseError(
            f"{path} asks for more, or for larger things, than any check; take it as a check has written it."
        )
    return case


def ran_in(folder: Path) -> str:
    """Return where the check ran that has written a folder; empty if nothing tells."""
    path = (folder.parent if folder.name == CASE else folder) / FOUND
    try:
        return msgspec.convert(read_json(bytes_of(path, MAX_CASE_BYTES, follow=True)), Found).ran_in
    except (OSError, JsonError, msgspec.ValidationError):
        return ""


def _here() -> str:
    here = str(Path.cwd())
    return here if here.isprintable() else ""


def meaning_of_fault(failure: str) -> str:
    """Return what `fault:KIND` means."""
    return next((meaning for kind, meaning in FAULTS.items() if failure == f"fault:{kind}"), "")


def last_words(stderr: str, lines: int = _STDERR_LINES_SHOWN) -> list[str]:
    """Return standard error for people: its beginning and its end, where most languages tell the cause.

    Of what is between them, it is the first line that says it is about an error.
    """
    said = [line for line in inert(stderr).splitlines() if line.strip() not in {"", _SAYS_NOTHING}]
    if len(said) > lines:
        begun = lines // 2
        between = said[begun : begun - lines]
        telling = [line for line in between if "error" in line.lower()][:1]
        left_out = len(between) - len(telling)
        more = [f"… ({left_out:,} more {'line' if left_out == 1 else 'lines'})"] if left_out else []
        said = [*said[:begun], *telling, *more, *said[begun - lines :]]
    return [f"stderr    {line}" for line in said]


def rerun_line(folder: Path | str) -> str:
    """Return the line that plays a failure again."""
    return f"perdure rerun {shlex.quote(str(folder))}"


def refers_to(failed: str) -> str:
    """Return a sentence that stands for a case that was told of an earlier failure."""
    return f"The case, what was expected and what came are those of {failed}."


def in_words(finding: Finding, folder: Path) -> str:
    """Return a failure for people."""
    requirement = requirements().get(finding.failure)
    lines = [
        f"{finding.failure}  {requirement.sentence if requirement else meaning_of_fault(finding.failure)}",
        "",
        *(inert(line) for line in finding.case.in_words(finding.answers, whole=True)),
        "",
        f"expected  {as_line(finding.case.expected)}" if requirement else "",
        f"actual    {as_line(finding.case.actual)}",
        "",
        f"found by  {finding.found_by}, seed {finding.case.seed}",
        how_sure(finding.case, reproduced=finding.reproduced),
        f"again     {rerun_line(folder)}",
        *last_words(finding.stderr),
    ]
    return "\n".join(line for index, line in enumerate(lines) if line or (index and lines[index - 1]))


def how_sure(case: Case, *, reproduced: bool | None) -> str:
    """Return whether a failure comes again, in words."""
    if reproduced is None:
        return "it was not played again: each time would cost a time-out"
    if not reproduced:
        return "it did not fail again on fresh state: what was seen is in transcript.txt"
    return "it fails again on fresh state" + (", after what was done before" if case.needs_prior_state else "")


def as_line(value: object) -> str:
    """Return a JSON value on one line, inert."""
    return inert(value if isinstance(value, str) else json.dumps(value, ensure_ascii=True))
