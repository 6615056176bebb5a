"""A connection to a program: what only big requests and direct calls show."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.conformance.test_schemas import PARAMS, RECORD

from perdure_conformance.harness.connection import AdapterFault
from perdure_conformance.harness.process import STDERR_KEPT_BYTES, ProcessConnection
from perdure_conformance.harness.transcript import Transcript

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
