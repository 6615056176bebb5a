"""Findings as workflow commands of GitHub Actions, which shows them at the changed lines."""

from __future__ import annotations

from collections.abc import Sequence

from perdure_conformance.lint.document import name_of
from perdure_conformance.lint.findings import Finding, Linted
from perdure_conformance.reports.commands import command


def report(linted: Sequence[Linted]) -> str:
    """Return one command for each finding."""
    lines = [_command(one.file, finding) for one in linted for finding in one.findings]
    lines += [
        command("warning", _place(name_of(one.file), 1, 1, "omitted"), f"… and {one.omitted} more")
        for one in linted
        if one.omitted
    ]
    return "".join(f"{line}\n" for line in lines)


def _command(file: str, finding: Finding) -> str:
    problem, position = finding.problem, finding.position
    place = _place(name_of(file), position.line, position.column, problem.code)
    return command(problem.severity, place, problem.sentence)


def _place(file: str, line: int, column: int, title: str) -> dict[str, str]:
    return {"file": file, "line": str(line), "col": str(column), "title": title}
