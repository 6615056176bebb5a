"""What is run, in which order; after the tests, the seconds that each file took: so that a slow one is seen."""

from __future__ import annotations

import os
from collections import Counter

import pytest

_SECONDS: Counter[str] = Counter()
_WITHIN: list[tuple[str, str]] = []
_TOLD: list[str] = []
"""What tests have to say when they pass."""

_RUNS_THE_MODEL = "tests/test_house.py::test_the_tests_of_the_model_pass_and_run_every_branch_of_it"
"""It runs `tests/model` in a process of its own, under coverage, but for what is marked `many`."""

_LONG = (
    "tests/conformance/test_selftest.py",
    "tests/test_house.py",
    "tests/conformance/test_commands.py",
    "tests/conformance/test_hostile.py",
    "tests/conformance/test_independent.py",
    "tests/conformance/test_spec_profile.py",
    "tests/conformance/test_races.py",
    "tests/conformance/test_lint.py",
    "tests/conformance/test_independent_validators.py",
    "tests/conformance/test_formats.py",
    "tests/conformance/test_adapters.py",
    "tests/conformance/test_histories.py",
    "tests/conformance/test_pytest_plugin.py",
    "tests/model/test_schema_and_decoder.py",
)
"""They come first, the longest before all, so that several processes end at about the same time."""


def _is_run_there(item: pytest.Item) -> bool:
    return item.nodeid.startswith("tests/model/") and item.get_closest_marker("many") is None


def _place(name: str) -> int:
    return next((place for place, path in enumerate(_LONG) if name.startswith(path)), len(_LONG))


def pytest_configure() -> None:
    """Let tables be as wide as they are in a pipe, wherever the tests are run."""
    os.environ.pop("COLUMNS", None)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put long files first; leave the tests of the model to the test that runs them, if it is selected."""
    if any(item.nodeid == _RUNS_THE_MODEL for item in items):
        left = [item for item in items if _is_run_there(item)]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not _is_run_there(item)]
    items.sort(key=lambda item: _place(item.nodeid))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what each phase of each test took."""
    _SECONDS[report.location[0]] += report.duration  # type: ignore[assignment]
    if report.when == "call":
        for name, value in report.user_properties:
            if name == "under coverage" and isinstance(value, list):
                _WITHIN.extend(value)
            if name == "told":
                _TOLD.append(f"{value}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the sums, the slowest file first."""
    terminalreporter.section("seconds of each file")
    for path, seconds in _SECONDS.most_common():
        terminalreporter.write_line(f"{seconds:7.1f}  {path}")
    for within, path in _WITHIN:
        terminalreporter.write_line(f"{within:>7}  {path}, within tests/test_house.py")
    for line in _TOLD:
        terminalreporter.write_line(line)
