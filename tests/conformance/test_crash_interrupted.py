"""Ctrl-C and termination at any moment of `perdure crash` leave nothing behind: no process, no zombie, no folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from perdure_conformance.crash.recording import why_not_disturbed

pytestmark = pytest.mark.skipif(why_not_disturbed() is not None, reason=f"{why_not_disturbed()}")

MOMENTS = (
    "SIGINT mkdtemp 1 power",
    "SIGTERM fork_exec 1 power",
    "SIGHUP pidfd_open 1 power",
    "SIGINT call 2 power",
    "SIGTERM mkdir 5 power",
    "SIGHUP lay_out 1 power",
    "SIGINT put 3 power",
    "SIGTERM submit 2 calls",
    "SIGINT image_of 1 calls",
    "SIGTERM go_on 3 calls",
    "SIGHUP rmtree 4 calls",
)
"""A folder is made; a program is started; it is asked; states are laid out and recovered; windows are tried ahead."""


def test_an_interruption_at_any_moment_leaves_nothing_behind(tmp_path: Path) -> None:
    words = [sys.executable, str(Path(__file__).with_name("interrupted_crash.py")), str(tmp_path / "all"), *MOMENTS]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "PERDURE_DEBUG": ""})
    came = [json.loads(line) for line in done.stdout.splitlines()]
    assert came == [{"moment": each, "code": 130, "living": 0, "left": []} for each in MOMENTS], done.stderr
