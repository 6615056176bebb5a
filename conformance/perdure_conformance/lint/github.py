"""Findings as workflow commands of GitHub Actions, which shows them at the changed lines.

Source: `escapeData` and `escapeProperty` of `@actions/core`.
"""

from __future__ import annotations

from collections.abc import Sequence

from perdure_conformance.lint.document import name_of
from perdure_conformance.lint.findings import Finding, Linted
from perdure_conformance.reports.inert import inert


def report(linted: Sequence[Linted]) -> str:
    """Return one command for each finding."""
    lines = [_command(one.file, finding) for one in linted for finding in one.findings]
    lines += [
        f"::warning file={_property(name_of(one.file))},line=1,col=1,title=omitted::… and {one.omitted} more"
        for one in linted
        if one.omitted
    ]
    return "".join(f"{line}\n" for line in lines)


def _command(file: str, finding: Finding) -> str:
    problem, position = finding.problem, finding.position
    properties = {"file": name_of(file), "line": position.line, "col": position.column, "title": problem.code}
    told = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{problem.severity} {told}::{_data(inert(problem.sentence))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
