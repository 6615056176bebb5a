"""Findings as one JSON document, whose schema is `schemas/lint-1.json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from perdure.kernel.problems import Correction
from perdure_conformance.lint.findings import Finding, Linted

LINT_VERSION: Final = 1


def build(linted: Sequence[Linted]) -> dict[str, object]:
    """Return all findings as a JSON document."""
    return {"lint_version": LINT_VERSION, "files": [_file(one) for one in linted]}


def name_of(file: str) -> str:
    """Return a file's name as text, whatever bytes it has."""
    return file.encode("utf-8", "backslashreplace").decode()


def _file(linted: Linted) -> dict[str, object]:
    return {
        "file": name_of(linted.file),
        "role": linted.role,
        "valid": linted.valid,
        "content_hash": linted.content_hash,
        "initial_nodes": list(linted.initial_nodes),
        "problems": [_problem(finding) for finding in linted.findings],
        "omitted": linted.omitted,
    }


def _problem(finding: Finding) -> dict[str, object]:
    problem = finding.problem
    found: dict[str, object] = {
        "code": problem.code,
        "requirement": finding.requirement,
        "severity": problem.severity,
        "pointer": problem.pointer,
        "line": finding.position.line,
        "column": finding.position.column,
        "sentence": problem.sentence,
    }
    if problem.witness is not None:
        found["witness"] = problem.witness
    if problem.correction is not None:
        found["correction"] = _correction(problem.correction)
    return found


def _correction(correction: Correction) -> dict[str, object]:
    if correction.remove:
        return {"pointer": correction.pointer, "remove": True}
    return {"pointer": correction.pointer, "value": correction.value}
