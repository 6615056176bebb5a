"""The house rules that a machine can check: style, types, coverage of the model, the picture of imports."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(*words: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    return done.stdout


def test_ruff_finds_nothing() -> None:
    run("ruff", "check", ".")


def test_ruff_would_format_nothing() -> None:
    run("ruff", "format", "--check", ".")


def test_types_hold_strictly() -> None:
    run("mypy")


def test_the_tests_of_the_model_pass_and_run_every_branch_of_it(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Run `tests/model`, but what goes through much; where both are selected, only here (see `conftest.py`)."""
    data = f"--data-file={tmp_path / 'coverage'}"
    told = run("coverage", "run", data, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not many", "tests/model")
    passed = re.search(r"^(\d+) passed", told, re.MULTILINE)
    assert passed is not None
    assert int(passed[1]) > 3_000
    record_property("under coverage", re.findall(r"^ +(\d+\.\d)  (tests/model/\S+)$", told, re.MULTILINE))
    run("coverage", "report", data)


FLOORS: list[tuple[str, ...]] = [
    ("perdure.kernel",),
    ("perdure.journal",),
    ("perdure.authoring",),
    ("perdure_conformance.terms",),
    (
        "perdure_conformance.harness",
        "perdure_conformance.rules",
        "perdure_conformance.shrinking",
        "perdure_conformance.drawing",
        "perdure_conformance.timeline",
        "perdure_conformance.vectors",
    ),
    ("perdure_conformance.registry",),
    ("perdure_conformance.suite",),
    ("perdure_conformance.judging",),
    ("perdure_conformance.rooms",),
    (
        "perdure_conformance.selftest",
        "perdure_conformance.journal",
        "perdure_conformance.spec",
        "perdure_conformance.reducer",
    ),
    ("perdure_conformance.crash",),
    ("perdure_conformance.profiles",),
    ("perdure_conformance.reports",),
    ("perdure_conformance.lint",),
    ("perdure_conformance.histories",),
    ("perdure_conformance.handwritten",),
    ("perdure_conformance.expectations",),
    ("perdure_conformance.adapters",),
    ("perdure_conformance.golden",),
    ("perdure_conformance.gate",),
    ("perdure_conformance.simulation",),
    ("perdure_conformance.exploration",),
    ("perdure_conformance.tool", "perdure_conformance.bench"),
    ("perdure_conformance.checking",),
    ("perdure_proofs",),
    ("perdure_conformance.cli", "perdure_conformance.testing"),
]
"""From the ground up: a module imports its own package, and the floors below it; never what stands beside it."""


def modules() -> list[Path]:
    packages = ("model/perdure", "conformance/perdure_conformance", "proofs/perdure_proofs")
    return sorted(path for package in packages for path in (ROOT / package).rglob("*.py"))


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found


def place_of(module: str) -> tuple[int, str]:
    """Return the floor on which a module stands, and what it belongs to there."""
    places = [(number, name) for number, floor in enumerate(FLOORS) for name in floor]
    return next((place for place in places if f"{module}.".startswith(f"{place[1]}.")), (-1, ""))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_import_runs_up(path: Path) -> None:
    package = path.relative_to(ROOT / path.relative_to(ROOT).parts[0])
    floor, name = place_of(".".join(package.with_suffix("").parts))
    if floor >= 0:
        places = {module: place_of(module) for module in imports_of(path)}
        assert [
            module for module, there in places.items() if there[0] > floor or (there[0] == floor and there[1] != name)
        ] == []


def test_the_kernel_imports_nothing_that_acts() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    banned = set(settings["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"])
    for path in (ROOT / "model/perdure/kernel").glob("*.py"):
        assert not imports_of(path) & banned, path
