"""The page for authors of journals is followed to the letter, in a scratch folder."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.conformance.helpers import ROOT
from tests.conformance.test_adapters import build_typescript

from perdure_conformance.adapters.new import LANGUAGES

PAGE: Final = (ROOT / "docs/five-minutes.md").read_text("utf-8")
BLOCKS: Final = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Let `perdure` and `python3` be what this test runs with; a smoke test has time, however busy the machine is."""
    there = tmp_path / "bin"
    there.mkdir()
    patience = 'test "$1 $2" != "adapter smoke" || set -- "$@" --within 60'
    for name, before, words in (("perdure", patience, "-m perdure_conformance"), ("python3", ":", "")):
        program = there / name
        program.write_text(f'#!/bin/sh\n{before}\nexec {shlex.quote(sys.executable)} {words} "$@"\n', "utf-8")
        program.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "PYTHONUNBUFFERED"}}
    return {**kept, "PATH": f"{there}:{os.environ['PATH']}"}


def typed(command: str, cwd: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(command, shell=True, cwd=cwd, env=environment, capture_output=True, text=True, check=False)  # noqa: S602
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def compare(shown: list[str], printed: str) -> None:
    """Hold what is printed against what is shown; a line that is only `…` stands for any number of lines."""
    pattern = "\n".join(
        r"(?:.*\n)*?.*" if line == "…" else ".*".join(re.escape(part) for part in line.split("…")) for line in shown
    )
    assert re.fullmatch(pattern, "\n".join(line.rstrip() for line in printed.splitlines())), printed


def test_python_to_the_letter(tmp_path: Path, environment: dict[str, str]) -> None:
    cwd = tmp_path
    for language, block in BLOCKS:
        if language == "python":
            (cwd / "replay.py").write_text(block, "utf-8")
            continue
        commands = block.split("$ ")[1:]
        assert commands, block
        for lines in commands:
            command, *shown = lines.splitlines()
            if command.startswith("cd "):
                cwd /= command.removeprefix("cd ")
                continue
            compare(shown, typed(command, cwd, environment))


def test_the_table_has_each_language_and_its_commands() -> None:
    columns = (r"[A-Z]\w+ ", r" `perdure adapter new --lang (\w+)` ", r" (?:`(.*?)` )?")
    smoke = r' `perdure adapter smoke --command "(.*?)"` '
    rows = re.findall(r"^\| ?" + r"\|".join((*columns, smoke)) + r"\|$", PAGE, re.MULTILINE)
    assert {name: (build, run) for name, build, run in rows} == {
        name: (language.build, language.run) for name, language in LANGUAGES.items()
    }


def test_typescript_to_the_letter_where_it_runs(tmp_path: Path, environment: dict[str, str]) -> None:
    typed("perdure adapter new --lang typescript", tmp_path, environment)
    command = build_typescript(tmp_path / "my-journal")
    told = typed(f'perdure adapter smoke --command "{command}"', tmp_path / "my-journal", environment)
    assert told.splitlines()[-1].startswith("READY")
