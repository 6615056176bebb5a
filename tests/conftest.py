"""After the tests, the seconds that each file took: so that a slow one is seen."""

from __future__ import annotations

from collections import Counter

import pytest

_SECONDS: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what each phase of each test took."""
    _SECONDS[report.location[0]] += report.duration  # type: ignore[assignment]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the sums, the slowest file first."""
    terminalreporter.section("seconds of each file")
    for path, seconds in _SECONDS.most_common():
        terminalreporter.write_line(f"{seconds:7.1f}  {path}")
