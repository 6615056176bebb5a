"""The folder of a failure: all that is needed to see it and to see it again.

case.json       the concrete operations, the target, what was expected and what came
failure.txt     the same for people, with the line that replays it
transcript.txt  what was said
stderr.txt      what the implementation wrote to standard error
"""

from __future__ import annotations

import contextlib
import json
import shlex
from pathlib import Path

import msgspec

from perdure.kernel.values import JsonError, read_json
from perdure_conformance.harness.connection import FAULTS
from perdure_conformance.profiles import ANY_CASE
from perdure_conformance.reports.inert import inert
from perdure_conformance.requirements import requirements
from perdure_conformance.suite import Case, Finding

_CASE = "case.json"
_FILES = (_CASE, "failure.txt", "transcript.txt", "stderr.txt")
_STDERR_LINES_SHOWN = 6
_MAX_CASE_BYTES = 16 * 2**20


class CaseError(Exception):
    """A folder holds no case that can be played. `str(error)` says why and what to do."""


def remove_old(report: Path) -> int:
    """Remove the failures that an earlier check left in a report's folder, and nothing else. Return how many."""
    removed = 0
    for name in [*requirements(), *(f"fault-{kind}" for kind in FAULTS)]:
        folder = report / "failures" / name
        if folder.is_symlink() or not (folder / _CASE).is_file():
            continue
        for file in _FILES:
            (folder / file).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # Somebody keeps something else there.
            folder.rmdir()
        removed += 1
    return removed


def write_text(path: Path, text: str) -> None:
    """Write a file anew: never through a link that stands in its place."""
    path.unlink(missing_ok=True)
    path.write_text(text, "utf-8")


def folder_of(report: Path, finding: Finding) -> Path:
    """Return where a failure is kept."""
    return report / "failures" / finding.failure.replace(":", "-")


def write(report: Path, finding: Finding) -> Path:
    """Write the folder of one failure and return it."""
    folder = folder_of(report, finding)
    folder.mkdir(parents=True, exist_ok=True)
    case = msgspec.to_builtins(finding.case)
    write_text(folder / _CASE, json.dumps(case, indent=2, ensure_ascii=True) + "\n")
    write_text(folder / "failure.txt", in_words(finding, folder) + "\n")
    write_text(folder / "transcript.txt", inert(finding.transcript))
    write_text(folder / "stderr.txt", inert(finding.stderr))
    return folder


def read(folder: Path) -> Case:
    """Read the case of a folder. Raises `CaseError`."""
    path = folder if folder.name == _CASE else folder / _CASE
    try:
        if path.stat().st_size > _MAX_CASE_BYTES:
            raise CaseError(f"{path} is larger than any case; is this the folder of a failure?")
        case: Case = msgspec.convert(read_json(path.read_bytes()), ANY_CASE)
    except OSError as error:
        inside = ", ".join(sorted(str(case.parent) for case in folder.glob(f"failures/*/{_CASE}")))
        hint = f"Its failures: {inside}." if inside else "Give the folder of a failure, as a check has named it."
        raise CaseError(f"{path} cannot be read: {error.strerror}. {hint}") from error
    except (JsonError, msgspec.ValidationError) as error:
        raise CaseError(f"{path} is no case: {error}. Take the folder as a check has written it.") from error
    if not case.is_plausible:
        raise CaseError(
            f"{path} asks for more, or for larger things, than any check; take it as a check has written it."
        )
    return case


def meaning_of_fault(failure: str) -> str:
    """Return what `fault:KIND` means."""
    return next((meaning for kind, meaning in FAULTS.items() if failure == f"fault:{kind}"), "")


def last_words(stderr: str) -> list[str]:
    """Return the end of standard error, for people."""
    return [f"stderr    {line}" for line in inert(stderr).splitlines()[-_STDERR_LINES_SHOWN:]]


def rerun_line(folder: Path) -> str:
    """Return the line that plays a failure again."""
    return f"perdure rerun {shlex.quote(str(folder))}"


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
        _how_sure(finding),
        f"again     {rerun_line(folder)}",
        *last_words(finding.stderr),
    ]
    return "\n".join(line for index, line in enumerate(lines) if line or (index and lines[index - 1]))


def _how_sure(finding: Finding) -> str:
    if finding.reproduced is None:
        return "it was not played again: each time would cost a time-out"
    if not finding.reproduced:
        return "it did not fail again on fresh state: what was seen is in transcript.txt"
    return "it fails again on fresh state" + (", after what was done before" if finding.case.needs_prior_state else "")


def as_line(value: object) -> str:
    """Return a JSON value on one line, inert."""
    return inert(value if isinstance(value, str) else json.dumps(value, ensure_ascii=True))
