"""What several tests of the suite share."""

from __future__ import annotations

import contextlib
import os
import py_compile
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from perdure_conformance.cli import command_line

ROOT = Path(__file__).resolve().parents[2]
PERDURE = (sys.executable, "-m", "perdure_conformance")


def compiled(program: Path, folder: Path) -> Path:
    """Compile a program that is started often: Python keeps what it compiles of modules alone."""
    done = folder / f"{program.stem}.pyc"
    py_compile.compile(str(program), str(done), doraise=True)
    return done


def perdure_here(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder without a Python of its own, where only what is said matters: it is quicker."""
    with contextlib.chdir(cwd):
        done = CliRunner().invoke(command_line(words), words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


def perdure(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder; a traceback is never right."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        [*PERDURE, *words], cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done
