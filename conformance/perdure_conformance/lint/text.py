"""Findings for people: one line each, the source line beneath it, and a line that sums up each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import typer
from rich.cells import cell_len

from perdure_conformance.lint.findings import Finding, Linted
from perdure_conformance.reports.inert import inert

_COLOURS = {"error": typer.colors.RED, "warning": typer.colors.YELLOW}
_INITIAL_NODES_SHOWN = 20


def one_line(text: str) -> str:
    """Return foreign text as harmless text on one line."""
    return inert(text).replace("\n", "\\n").replace("\t", " ")


def report(linted: Sequence[Linted], *, colours: bool = False) -> str:
    """Return all findings as text."""
    return "".join(f"{line}\n" for one in linted for line in _lines(one, colours=colours))


def _lines(linted: Linted, *, colours: bool) -> Iterator[str]:
    file = one_line(linted.file)
    for finding in linted.findings:
        yield from _finding(file, finding, colours=colours)
    if linted.omitted:
        yield f"{file}: … and {linted.omitted} more"
    yield f"{file}: {_summary(linted)}"
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
    yield f"{where}: {severity} {problem.code} ({finding.requirement}) {one_line(problem.sentence)}"
    before, after = one_line(excerpt.before), one_line(excerpt.after)
    if (before + after).strip():
        yield f"    {before}{after}".rstrip()
        yield f"    {' ' * cell_len(before)}{caret}"


def _summary(linted: Linted) -> str:
    counts = [(linted.count("error"), "error"), (linted.count("warning"), "warning")]
    told = [f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in counts if count]
    return ", ".join([*(["valid"] if linted.valid else []), *told])
