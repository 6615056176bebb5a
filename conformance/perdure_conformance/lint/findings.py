"""Linting one file: its problems, each with its place in the text and the requirement that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from perdure.authoring.positions import Position, SourceError
from perdure.authoring.source import Source, read_source
from perdure.kernel.identity import NodeId
from perdure.kernel.problems import Problem, Problems
from perdure.kernel.specification import Specification
from perdure.kernel.validation.handlers import Handlers, read_handlers
from perdure.kernel.validation.validator import validate
from perdure.kernel.values import Digest, JsonValue
from perdure_conformance.lint.files import Text
from perdure_conformance.requirements import requirement_of_code

Role = Literal["specification", "handlers"]

Fate = Literal["mended", "left"]
"""What becomes of a finding that has a correction, or goes with another that has one."""

_LIKE_HANDLERS: Final = "this looks like a catalogue of handlers, which is given with --handlers"

_SHOWN_BEFORE, _SHOWN_AFTER = 60, 60
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class Excerpt(NamedTuple):
    """A part of a line, around a place in it; `…` stands for what was cut off."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem, and where it stands in the text."""

    problem: Problem
    requirement: str
    position: Position
    excerpt: Excerpt
    other: Position | None = None
    """Where the other place is that the sentence names."""
    fate: Fate | None = None
    """Whether a fix mends it, where one was asked for and could."""


@dataclass(frozen=True, slots=True)
class Linted:
    """What was found out about one file."""

    file: str
    role: Role
    findings: tuple[Finding, ...]
    """Sorted by place, then by code."""
    omitted: int
    """How many more problems there are."""
    valid: bool
    source: Source | None
    """The document, if its text can be read."""
    specification: Specification | None = None
    content_hash: Digest | None = None
    initial_nodes: tuple[NodeId, ...] = ()
    hint: str = ""
    """What may be meant instead, as the end of a sentence; mostly empty."""

    def count(self, severity: Literal["error", "warning"]) -> int:
        """Return how many of the findings are errors, or warnings."""
        return sum(finding.problem.severity == severity for finding in self.findings)


def lint(text: Text, handlers: Handlers | None) -> Linted:
    """Lint a workflow specification."""
    try:
        source = read_source(text.content, text.syntax)
    except SourceError as error:
        return _unreadable(text, "specification", error)
    return lint_source(text.name, source, handlers)


def lint_source(file: str, source: Source, handlers: Handlers | None = None) -> Linted:
    """Lint a workflow specification whose text was read."""
    validation = validate(source.value, handlers)
    return Linted(
        file=file,
        role="specification",
        findings=_findings(source, validation.problems),
        omitted=validation.omitted,
        valid=validation.valid,
        source=source,
        specification=validation.specification,
        content_hash=validation.content_hash,
        initial_nodes=validation.initial_nodes,
        hint=_LIKE_HANDLERS if _is_like_handlers(source.value) else "",
    )


def without_handlers(linted: Linted, catalogue: str) -> Linted:
    """Return what is known of a specification whose handlers could not be looked up: not that it is valid."""
    hint = f"not checked against the handlers, since {catalogue} is wrong"
    return replace(linted, valid=False, initial_nodes=(), hint=hint)


def _is_like_handlers(value: JsonValue) -> bool:
    return isinstance(value, Mapping) and "handlers" in value and "nodes" not in value


def lint_handlers(text: Text) -> tuple[Linted, Handlers | None]:
    """Lint a catalogue of handlers; return it too, if it is one."""
    try:
        source = read_source(text.content, text.syntax)
    except SourceError as error:
        return _unreadable(text, "handlers", error), None
    problems = Problems()
    handlers = read_handlers(source.value, problems)
    valid = not problems.errors
    found = _findings(source, problems.kept)
    return Linted(text.name, "handlers", found, problems.omitted, valid, source), handlers if valid else None


def _unreadable(text: Text, role: Role, error: SourceError) -> Linted:
    faults = (error, *error.others)
    placed = [fault.position or Position(1, 1) for fault in faults]
    shown = excerpts(text.content.decode("utf-8", "replace"), placed)
    findings = [
        Finding(_problem(fault), _requirement(fault.code), position, shown[position])
        for fault, position in zip(faults, placed, strict=True)
    ]
    return Linted(text.name, role, tuple(findings), omitted=0, valid=False, source=None)


def _problem(fault: SourceError) -> Problem:
    return Problem(code=fault.code, pointer="", sentence=f"{fault.sentence[:1].upper()}{fault.sentence[1:]}.")


def _findings(source: Source, problems: Sequence[Problem]) -> tuple[Finding, ...]:
    keys = source.locate_keys(problem.pointer for problem in problems if problem.at_key)
    values = source.locate(problem.pointer for problem in problems if not problem.at_key)
    others = source.locate(problem.other for problem in problems if problem.other is not None)
    placed = [(keys if problem.at_key else values)[problem.pointer] for problem in problems]
    shown = excerpts(source.text, placed)
    found = [
        Finding(problem, _requirement(problem.code), position, shown[position], others.get(problem.other or ""))
        for problem, position in zip(problems, placed, strict=True)
    ]
    return tuple(sorted(found, key=lambda finding: (finding.position, finding.problem.code, finding.problem.pointer)))


def _requirement(code: str) -> str:
    requirement = requirement_of_code(code)
    assert requirement is not None, f"no requirement lists the code {code}"
    return requirement.id


def excerpts(text: str, places: Iterable[Position]) -> Mapping[Position, Excerpt]:
    """Return the part of its line around each place, in one pass over the text."""
    found: dict[Position, Excerpt] = {}
    line, start = 1, 0
    for place in sorted(set(places)):
        while line < place.line:
            end = _LINE_END.search(text, start)
            assert end is not None, "no place lies beyond the last line"
            line, start = line + 1, end.end()
        at = start + place.column - 1
        first, last = max(start, at - _SHOWN_BEFORE), at + _SHOWN_AFTER
        end = _LINE_END.search(text, at, last)
        before = text[first:at] if first == start else f"…{text[first:at]}"
        after = text[at : end.start()] if end else text[at:last] + ("…" if last < len(text) else "")
        found[place] = Excerpt(before, after)
    return found
