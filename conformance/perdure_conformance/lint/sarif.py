"""Findings in SARIF 2.1.0, which code hosts and editors read.

Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final
from urllib.parse import quote

from perdure_conformance.lint.findings import Finding, Linted
from perdure_conformance.requirements import requirement_of_code, warnings

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def build(linted: Sequence[Linted], exit_code: int) -> dict[str, object]:
    """Return all findings as a SARIF log of one run."""
    rules = list(dict.fromkeys(finding.problem.code for one in linted for finding in one.findings))
    positions = {code: position for position, code in enumerate(rules)}
    run = {
        "tool": {
            "driver": {"name": "perdure", "version": version("perdure"), "rules": [_rule(code) for code in rules]}
        },
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": exit_code,
                "toolExecutionNotifications": [_omitted(one) for one in linted if one.omitted],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": _artifact(one.file)} for one in linted],
        "results": [_result(one.file, finding, positions) for one in linted for finding in one.findings],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, object]:
    requirement = requirement_of_code(code)
    assert requirement is not None
    return {
        "id": code,
        "shortDescription": {"text": _sentence(warnings().get(code, requirement.sentence))},
        "defaultConfiguration": {"level": "warning" if code in warnings() else "error"},
        "properties": {"requirement": requirement.id},
    }


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


def _result(file: str, finding: Finding, positions: dict[str, int]) -> dict[str, object]:
    problem = finding.problem
    region = {"startLine": finding.position.line, "startColumn": finding.position.column}
    return {
        "ruleId": problem.code,
        "ruleIndex": positions[problem.code],
        "level": problem.severity,
        "message": {"text": problem.sentence.replace("](", "]\\(")},  # What is quoted must not become a link.
        "locations": [
            {
                "physicalLocation": {"artifactLocation": _artifact(file), "region": region},
                "logicalLocations": [
                    {"fullyQualifiedName": problem.pointer, "kind": "property" if problem.at_key else "value"}
                ],
            }
        ],
    }


def _omitted(linted: Linted) -> dict[str, object]:
    return {
        "level": "warning",
        "message": {"text": f"… and {linted.omitted} more problems, which are not listed."},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(linted.file)}}],
    }


def _artifact(file: str) -> dict[str, object]:
    """Return a file as a URI reference: relative as it was named, with every byte that needs it escaped."""
    name = os.fsencode(file)
    return {"uri": f"file://{quote(name)}" if name.startswith(b"/") else quote(name)}
