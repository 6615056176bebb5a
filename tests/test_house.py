"""The house rules that a machine can check: style, types, coverage of the model, the picture of imports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]


def test_ruff_finds_nothing() -> None:
    run("ruff", "check", ".")


def test_ruff_would_format_nothing() -> None:
    run("ruff", "format", "--check", ".")


def test_types_hold_strictly() -> None:
    run("mypy")


def test_every_branch_of_the_model_is_run_by_its_own_tests(tmp_path: Path) -> None:
    data = f"--data-file={tmp_path / 'coverage'}"
    run("coverage", "run", data, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/model")
    run("coverage", "report", data)


def imports_of(path: Path) -> set[str]:
    return set(re.findall(r"^\s*(?:from|import) ([a-z_.0-9]+)", path.read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("path", sorted((ROOT / "model").rglob("*.py")), ids=lambda path: path.name)
def test_the_model_does_not_know_its_judge(path: Path) -> None:
    assert not any(module.startswith("perdure_conformance") for module in imports_of(path))


@pytest.mark.parametrize("path", sorted((ROOT / "model/perdure/kernel").glob("*.py")), ids=lambda path: path.name)
def test_the_kernel_imports_nothing_that_acts(path: Path) -> None:
    acting = {"time", "datetime", "random", "secrets", "os", "io", "pathlib", "subprocess", "threading", "socket"}
    assert not imports_of(path) & acting


@pytest.mark.parametrize("path", sorted((ROOT / "conformance").rglob("harness/*.py")), ids=lambda path: path.name)
def test_the_harness_knows_no_profile(path: Path) -> None:
    upper_floors = ("journal", "tool", "reports", "cli")
    assert not any(
        module.startswith(f"perdure_conformance.{floor}") for module in imports_of(path) for floor in upper_floors
    )
