"""The plugin of pytest: options for checks, and, at the end of a run, what each check says nothing about.

pytest loads it wherever perdure is installed, so it imports the words for depths at its start, and nothing else until a
check was made.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, get_args

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    from perdure_conformance.verdict import Depth  # noqa: PLC0415 - see above

    group = parser.getgroup("perdure", "perdure: conformance of durable workflow systems")
    group.addoption("--perdure-depth", choices=get_args(Depth), help="How much is tried; else what the class says.")
    group.addoption(
        "--perdure-seed", type=int, metavar="N", help="The seed of what is drawn; else what the class says."
    )
    group.addoption("--perdure-report", metavar="DIR", help="Where reports go, each in a folder named after its class.")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what each check came to, and what it says nothing about: never a bare green."""
    testing = sys.modules.get("perdure_conformance.testing")
    for name, check in config.stash.get(testing.CHECKS, []) if testing is not None else []:
        document = check.report.document
        target = document["target"]
        terminalreporter.section(f"perdure: {name}")
        named = f"{target['name']} {target['version']}".replace("\n", " ")
        terminalreporter.write_line(f"{named}: level {document['level']}")
        terminalreporter.write_line(f"report: {check.path}")
        for line in document["not_covered"]:
            terminalreporter.write_line(f"not covered: {line}")
