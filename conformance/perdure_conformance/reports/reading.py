"""A report as it was kept: its folder read back, by whoever renders it, later and elsewhere.

Nothing in it is believed: a file is read within bounds and never through a link, a report is held against its schema
and against itself, and what cannot be read of a failure is told in its place.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from perdure.kernel.values import JsonError, JsonValue, read_json
from perdure_conformance import data, verdict
from perdure_conformance.profiles import PROFILES
from perdure_conformance.reports import failure
from perdure_conformance.reports.bounded import bytes_of, is_folder
from perdure_conformance.reports.failure import CaseError, Found
from perdure_conformance.reports.report import IN_PART, ExcuseKind, Outcome, come_to
from perdure_conformance.requirements import requirements_digest
from perdure_conformance.suite import Case
from perdure_conformance.verdict import Depth, Verdict

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

REPORT: Final = "report.json"
MAX_REPORT_BYTES: Final = 4 * 2**20
"""A hundred times what a check writes."""
FAILURES_READ: Final = 50
"""Of how many failures the cases are read, at most."""

_CASES_BYTES: Final = 64 * 2**20
_STDERR_BYTES: Final = 2**16
_ADVICE: Final = "Take the folder as a check has written it."


class ReportRefused(Exception):
    """What was given is no report, or none that can be believed. `str(error)` is one sentence."""


class Suite(msgspec.Struct, frozen=True):
    """What judged."""

    name: str
    version: str
    profile: str


class Judged(msgspec.Struct, frozen=True):
    """What was judged."""

    name: str
    version: str
    words: dict[str, str | list[str]]
    digest: str


class Machine(msgspec.Struct, frozen=True):
    """Where it was judged."""

    system: str
    architecture: str
    python: str
    cores: int


class Excused(msgspec.Struct, frozen=True):
    """Why a broken requirement does not count."""

    kind: ExcuseKind
    why: str


class Surprising(msgspec.Struct, frozen=True):
    """A failure that was expected, and is not as it was expected."""

    id: str
    sentence: str


class Row(msgspec.Struct, frozen=True):
    """The verdict on one requirement."""

    id: str
    sentence: str
    verdict: Verdict
    reached: int
    case: str | None
    why: str = ""
    excuse: Excused | None = None


class Fault(msgspec.Struct, frozen=True):
    """What the adapter did."""

    kind: str
    sentence: str
    case: str | None


class Document(msgspec.Struct, frozen=True):
    """A report, as `schemas/report-1.json` has it: the members that are told to people."""

    suite: Suite
    requirements_digest: str
    vectors_digest: str | None
    target: Judged
    machine: Machine
    depth: Depth
    seed: int
    capabilities: dict[str, object]
    level: str
    outcome: Outcome
    pinned: str | None
    exit_code: int
    requirements: tuple[Row, ...]
    surprises: tuple[Surprising, ...]
    fault: Fault | None
    not_covered: tuple[str, ...]
    durations: dict[str, float]
    counts: dict[str, int]

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdict on each requirement."""
        return {row.id: row.verdict for row in self.requirements}


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure, as far as its folder can be read."""

    name: str
    """The requirement that is broken, or `fault:KIND`."""
    sentence: str
    folder: str
    """Where the check has put it, as the report says."""
    case: Case | None = None
    found: Found | None = None
    stderr: str = ""
    problem: str = ""
    """Why there is no case."""


@dataclass(frozen=True, slots=True)
class ReadReport:
    """A report, and the failures that it names."""

    document: Document
    failures: tuple[Failure, ...]


def read(place: Path) -> ReadReport:
    """Read the folder of a report, named by itself or by its report. Raises `ReportRefused`."""
    document = read_document(place)
    folder = place if is_folder(place) else place.parent
    return ReadReport(document, tuple(_failures(document, folder / "failures")))


def read_document(place: Path) -> Document:
    """Read the report in a folder, or in a file, without its failures. Raises `ReportRefused`."""
    path = place / REPORT if is_folder(place) else place
    try:
        content = bytes_of(path, MAX_REPORT_BYTES + 1, follow=path == place)
    except OSError as error:
        hint = "Give the folder that a check has written, by --report."
        raise ReportRefused(f"{path} cannot be read: {error.strerror}. {hint}") from error
    return document_in(content, path)


def is_report(name: str) -> bool:
    """Tell whether a path is a report, sound or not: a folder with one, or a file that says so.

    Nothing else is opened: a pipe can be read once.
    """
    try:
        if is_folder(Path(name)):
            return Path(name, REPORT).exists()
        if not os.path.isfile(name):  # noqa: PTH113 - as for folders
            return False
        content = bytes_of(Path(name), MAX_REPORT_BYTES, follow=True)
        value = read_json(content) if b'"report_version"' in content else None
        return isinstance(value, dict) and "report_version" in value
    except (OSError, ValueError, JsonError):
        return False


def document_in(content: bytes, path: Path) -> Document:
    """Return the report that a file holds. Raises `ReportRefused`."""
    if len(content) > MAX_REPORT_BYTES:
        raise ReportRefused(f"{path} is longer than {MAX_REPORT_BYTES:,} bytes, so no report. {_ADVICE}")
    try:
        value = read_json(content)
        problem = _difference(value)
        if problem is not None:
            raise ReportRefused(f"{path} is no report: {problem}. {_ADVICE}")
        document = msgspec.convert(value, Document)
    except (JsonError, msgspec.ValidationError) as error:
        raise ReportRefused(f"{path} is no report: {error}. {_ADVICE}") from error
    problem = contradiction(document)
    if problem is not None:
        raise ReportRefused(f"{path} contradicts itself: {problem}. {_ADVICE}")
    return document


def _difference(value: JsonValue) -> str | None:
    """Return where a value is not what the schema says, and how."""
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - to import it takes long

    worst = best_match(_validator().iter_errors(value))
    if worst is None:
        return None
    place = "".join(f"/{part}" for part in worst.absolute_path)
    return f"at {place[:200]!a}, {worst.message[:200]!a}" if place else f"{worst.message[:200]!a}"


@cache
def _validator() -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - to import it takes long

    return Draft202012Validator(json.loads((data.schemas() / "report-1.json").read_text("utf-8")))


def contradiction(document: Document) -> str | None:
    """Return what a report says of itself and is not so, if anything (TOL-018)."""
    twice = [identity for identity, times in Counter(row.id for row in document.requirements).items() if times > 1]
    if twice:
        return f"{twice[0]} has several verdicts"
    verdicts = document.verdicts
    excuses = {row.id: row.excuse.kind for row in document.requirements if row.excuse is not None}
    if stray := next((key for key in excuses if verdicts[key] != "fail"), None):
        return f"{stray} has an excuse, and does not fail"
    if unseen := next((row.id for row in document.requirements if row.verdict == "pass" and not row.reached), None):
        return f"{unseen} passes, and was never reached"
    if not math.isfinite(sum(document.durations.values())):
        return "its durations are more than a number can be"
    if document.level != IN_PART and (absent := _absent(document)):
        return f"its level is {document.level[:100]!a}, and it has no verdict on {absent}"
    code, outcome = come_to(
        verdict.exit_code,
        verdicts,
        excuses,
        document.depth,
        surprised=bool(document.surprises),
        faulty=document.fault is not None,
    )
    if code != document.exit_code:
        return f"its exit_code is {document.exit_code}, and its verdicts come to {code}"
    return None if outcome == document.outcome else f"its outcome is {document.outcome}, and it comes to {outcome}"


def _absent(document: Document) -> str | None:
    """Return a requirement that a report has no verdict on, if it is of this very set of requirements."""
    profile = PROFILES.get(document.suite.profile)
    if profile is None or requirements_digest(profile.pages) != document.requirements_digest:
        return None
    return next((each.id for each in profile.requirements() if each.id not in document.verdicts), None)


def _failures(document: Document, folder: Path) -> Iterator[Failure]:
    """Yield the failures that a report names, each from the folder that bears its name, whatever the report says."""
    left_bytes = _CASES_BYTES
    for number, bare in enumerate(_named(document)):
        if number < FAILURES_READ and bare.folder:
            most = min(left_bytes, failure.MAX_CASE_BYTES)
            found = _failure(bare, folder, most)
            left_bytes -= min(most, _size_bytes(_folder_of(bare, folder) / failure.CASE))
            yield found
        else:
            yield bare


def _named(document: Document) -> Iterator[Failure]:
    for row in document.requirements:
        if row.case is not None:
            yield Failure(row.id, row.sentence, row.case)
    fault = document.fault
    if fault is not None:
        yield Failure(f"fault:{fault.kind}", fault.sentence, fault.case or "")


def _folder_of(bare: Failure, failures: Path) -> Path:
    return failures / failure.folder_name(bare.name)


def _size_bytes(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _failure(bare: Failure, failures: Path, most_bytes: int) -> Failure:
    folder = _folder_of(bare, failures)
    try:
        _refuse_links(failures, folder)
        return replace(
            bare,
            case=_case(folder / failure.CASE, bare.name, most_bytes),
            found=_found(folder / failure.FOUND, bare.name),
            stderr=bytes_of(folder / failure.STDERR, _STDERR_BYTES, of_end=True).decode("utf-8", "replace"),
        )
    except OSError as error:
        return replace(bare, problem=f"{error.filename} cannot be read: {error.strerror}.")
    except CaseError as error:
        return replace(bare, problem=str(error))


def _refuse_links(*folders: Path) -> None:
    for folder in folders:
        if folder.is_symlink():
            raise CaseError(f"{folder} is a link, which is not followed.")


def _case(path: Path, name: str, most_bytes: int) -> Case:
    content = bytes_of(path, most_bytes + 1)
    if len(content) > most_bytes:
        raise CaseError(f"{path} is larger than any case, or all cases together are.")
    case = failure.case_in(content, path)
    if case.failure != name:
        raise CaseError(f"{path} is the case of {case.failure}, and not of {name}.")
    return case


def _found(path: Path, name: str) -> Found:
    try:
        found = msgspec.convert(read_json(bytes_of(path, MAX_REPORT_BYTES)), Found)
    except (JsonError, msgspec.ValidationError) as error:
        raise CaseError(f"{path} says nothing of a failure: {error}. {_ADVICE}") from error
    if found.failure != name:
        raise CaseError(f"{path} is about {found.failure}, and not about {name}.")
    return found
