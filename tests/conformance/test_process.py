"""A connection to a program: what only big requests and direct calls show."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conformance.test_schemas import PARAMS, RECORD

from perdure_conformance.harness import process
from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.process import STDERR_KEPT_BYTES, ProcessConnection
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.reports.failure import last_words

ADAPTER = Path(__file__).with_name("hostile_adapter.py")


def connect(mode: str, timeout_s: float) -> ProcessConnection:
    return ProcessConnection((sys.executable, "-S", str(ADAPTER), mode), timeout_s, Transcript())


def test_a_program_that_does_not_take_its_input_is_told_from_a_silent_one() -> None:
    connection = connect("stops-reading", timeout_s=1)
    connection.call("initialize", PARAMS["initialize"])
    large = {**PARAMS["append"], "records": [{**RECORD, "body": "x" * 2**20}]}
    with pytest.raises(AdapterFault) as fault:
        connection.call("append", large)
    assert fault.value.kind == "not_reading"


def test_standard_error_is_drained_and_its_end_is_kept() -> None:
    connection = connect("honest-noisy-inline", timeout_s=30)
    try:
        connection.call("initialize", PARAMS["initialize"])
        assert connection.call("append", PARAMS["append"])
        assert 0 < len(connection.stderr()) <= STDERR_KEPT_BYTES
    finally:
        connection.close()


def test_killing_twice_is_harmless() -> None:
    connection = connect("honest", timeout_s=30)
    connection.kill()
    connection.kill()


def test_a_program_that_is_not_there_cannot_start() -> None:
    with pytest.raises(AdapterFault) as fault:
        ProcessConnection(("/no/such/program",), 1, Transcript())
    assert fault.value.kind == "cannot_start"


NOT_STARTED = {
    "./nothing": "there is no such file, seen from the current folder. Is it built?",
    "nothing-of-this-name": "no program of this name is on PATH. Is it built, or installed?",
    "plain": "no program of this name is on PATH. Did you mean './plain'?",
    "./plain": "it is not executable. Let it be so, by chmod +x, or name what runs it first.",
    "./folder": "it is a folder. Give the program that is in it.",
    "./of-nobody": "what its first line names to run it is not there.",
    "./no-program": "it is no program for this machine, and no script whose first line names what runs it.",
    "./nul\0": "embedded null byte.",
    "./" + "long" * 100: "File name too long.",
}


@pytest.mark.parametrize(("program", "why"), NOT_STARTED.items())
def test_why_a_program_cannot_be_started_is_told(
    program: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    for name, content in {"plain": "", "of-nobody": "#!/no/such/interpreter\n", "no-program": "?"}.items():
        Path(name).write_text(content, "utf-8")
        Path(name).chmod(0o644 if name == "plain" else 0o755)
    with pytest.raises(AdapterFault) as fault:
        ProcessConnection((program,), 1, Transcript())
    assert fault.value.sentence == f"{program!a} cannot be started: {why}"


def test_the_line_of_standard_error_that_tells_of_an_error_is_not_left_out() -> None:
    said = "node:internal/modules\n  throw err;\n  ^\n\nError: Cannot find module 'adapter.mjs'\n  at a\n}\n\nNode\n"
    assert last_words(said, 4) == [
        f"stderr    {line}"
        for line in (
            "node:internal/modules",
            "  throw err;",
            "Error: Cannot find module 'adapter.mjs'",
            "… (2 more lines)",
            "}",
            "Node",
        )
    ]


def test_a_program_in_the_midst_of_its_start_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no environment for a moment, and whoever started it may have answered already."""
    seen = iter([b"", b"", b"PERDURE_ADAPTER=1\0"])
    monkeypatch.setattr(process, "_content", lambda _: next(seen))
    assert process._environment("/proc/self") == b"PERDURE_ADAPTER=1\0"


class Changing(dict[str, str]):
    """An environment out of which a variable is taken while it is read."""

    def __iter__(self) -> Iterator[str]:
        yield from (*super().__iter__(), "TAKEN_AWAY")

    keys = __iter__  # type: ignore[assignment]


def test_a_variable_that_is_taken_away_meanwhile_does_not_keep_a_program_from_its_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "environ", Changing(os.environ))
    connection = connect("honest-noisy-inline", timeout_s=30)
    try:
        assert connection.call("initialize", PARAMS["initialize"])
    finally:
        connection.close()


@pytest.fixture
def many_open_files() -> Iterator[None]:
    """Have all descriptors below 1,100 in use, as a long test run may; `select` knows none above 1,023."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2_048), hard))
    with contextlib.ExitStack() as opened:
        while opened.enter_context(Path(os.devnull).open("rb")).fileno() < 1_100:
            pass
        yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_open_files")
def test_a_program_is_ended_where_many_files_are_open() -> None:
    connection = connect("honest-noisy-inline", timeout_s=30)
    connection.call("initialize", PARAMS["initialize"])
    connection.close()
