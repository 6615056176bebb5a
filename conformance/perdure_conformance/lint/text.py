"""Findings for people: one line each, the source line beneath it, and a line that sums up each file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import typer
from rich.cells import cell_len

from perdure.kernel.problems import quoted
from perdure_conformance.lint.findings import Fate, Finding, Linted
from perdure_conformance.reports.inert import inert

_COLOURS = {"error": typer.colors.RED, "warning": typer.colors.YELLOW}
_INITIAL_NODES_SHOWN = 20
_FATES: Final[Mapping[Fate | None, str]] = {
    None: "",
    "mended": " [the patch mends this]",
    "left": " [not mended: the text around it cannot be kept as it is, so change it by hand]",
}


def one_line(text: str) -> str:
    """Return foreign text as harmless text on one line."""
    return inert(text).replace("\n", "\\n").replace("\t", " ")


def report(linted: Sequence[Linted], *, colours: bool = False, strict: bool = False, is_patch: bool = False) -> str:
    """Return all findings as text; with `is_patch`, also how many of them the patch mends."""
    lines: list[str] = []
    for one in linted:
        lines += _lines(one, colours=colours)
        summary = _summary(one, strict=strict) + (_patched(one) if is_patch else "")
        lines += [f"{one_line(one.file)}: {summary}", *_result(one)]
    return "".join(f"{line}\n" for line in lines)


def _lines(linted: Linted, *, colours: bool) -> Iterator[str]:
    file = one_line(linted.file)
    for finding in linted.findings:
        yield from _finding(file, finding, colours=colours)
    if linted.omitted:
        yield f"{file}: … and {linted.omitted} more"


def _result(linted: Linted) -> Iterator[str]:
    if linted.valid and linted.role == "specification":
        first = linted.initial_nodes[:_INITIAL_NODES_SHOWN]
        more = len(linted.initial_nodes) - len(first)
        yield f"  content hash   {linted.content_hash}"
        yield f"  initial nodes  {', '.join(first)}" + (f", … and {more} more" if more else "")


def _finding(file: str, finding: Finding, *, colours: bool) -> Iterator[str]:
    problem, position, excerpt = finding.problem, finding.position, finding.excerpt
    severity: str = problem.severity
    caret = "^"
    if colours:
        severity, caret = (typer.style(word, fg=_COLOURS[problem.severity], bold=True) for word in (severity, caret))
    where = f"{file}:{position.line}:{position.column}"
    told = f"{one_line(_sentence(finding))}{_FATES[finding.fate]}"
    yield f"{where}: {severity} {problem.code} ({finding.requirement}) {told}"
    before, after = one_line(excerpt.before), one_line(excerpt.after)
    if (before + after).strip():
        yield f"    {before}{after}".rstrip()
        yield f"    {' ' * cell_len(before)}{caret}"


def _sentence(finding: Finding) -> str:
    """Return the sentence, with the line of the other place that it names."""
    other, place = finding.problem.other, finding.other
    if other is None or place is None:
        return finding.problem.sentence
    return finding.problem.sentence.replace(quoted(other), f"{quoted(other)} (line {place.line})", 1)


def _summary(linted: Linted, *, strict: bool) -> str:
    counts = [(linted.count("error"), "error"), (linted.count("warning"), "warning")]
    told = [f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in counts if count]
    parts = [*(["valid"] if linted.valid else []), *told]
    warnings = linted.count("warning")
    if strict and linted.valid and warnings:
        parts.append(f"which {'counts' if warnings == 1 else 'count'} because of --strict")
    return "; ".join(part for part in (", ".join(parts), linted.hint) if part)


def _patched(linted: Linted) -> str:
    problems = len(linted.findings) + linted.omitted
    mended = sum(finding.fate == "mended" for finding in linted.findings)
    if not problems:
        return ""
    return f"; the patch mends {mended or 'none'} of {problems:,} problem{'s' * (problems != 1)}"
