"""Small journals as programs, in Python, JavaScript and C: each is told by a word what it does wrong.

Source: "Calibration, in CI" of the crash design.
"""

from __future__ import annotations

import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal

from perdure_conformance.harness.targets import CommandTarget

Language = Literal["Python", "Node", "C"]

_HERE: Final = Path(__file__).parent


class NoSuchProgram(Exception):
    """A program cannot be run on this machine. `str(error)` says in one sentence what is missing."""


def program(language: Language, how: str, folder: Path) -> CommandTarget:
    """Return a journal that does so; what is compiled goes into the folder. Raises `NoSuchProgram`."""
    return CommandTarget((*_COMMANDS[language](folder), how))


@cache
def _python(folder: Path) -> tuple[str, ...]:
    """Compile what is started often: Python keeps what it compiles of modules alone."""
    done = folder / "journal.pyc"
    py_compile.compile(str(_HERE / "journal.py"), str(done), doraise=True)
    return (sys.executable, "-I", "-S", str(done))


def _node(_: Path) -> tuple[str, ...]:
    if shutil.which("node") is None:
        raise NoSuchProgram("The journals in JavaScript cannot be run: node is not found.")
    return ("node", str(_HERE / "journal.mjs"))


@cache
def _c(folder: Path) -> tuple[str, ...]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise NoSuchProgram("The journals in C cannot be run: neither cc nor gcc is found.")
    done, new = folder / "journal", folder / f"journal-{os.getpid()}"  # Several may compile it at once.
    command = [compiler, "-w", "-O1", "-o", str(new), str(_HERE / "journal.c")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    if built.returncode != 0:
        *_, said = ["nothing was said", *built.stderr.splitlines()]
        raise NoSuchProgram(f"The journals in C cannot be compiled: {said}")
    new.replace(done)
    return (str(done),)


_COMMANDS: Final[Mapping[Language, Callable[[Path], tuple[str, ...]]]] = {"Python": _python, "Node": _node, "C": _c}
