"""Adapters that misbehave, each in one way: never a pass, never a hang, nothing left running, nothing to trace back."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from perdure_conformance.harness.targets import CommandTarget
from perdure_conformance.journal.profile import Judgement, Options, judge
from perdure_conformance.reports.report import build

ADAPTER = Path(__file__).with_name("hostile_adapter.py")
TIMEOUT_S = 1.0
MARK = ("-X", f"marked={uuid.uuid4()}")
"""An option without effect, by which this test finds the processes that it started."""

MODES = subprocess.run(
    [sys.executable, "-S", str(ADAPTER), "--list"], capture_output=True, text=True, check=True
).stdout.split()

HONEST = {
    "honest",
    "honest-noisy",
    "honest-noisy-inline",
    "honest-drip",
    "honest-longest-line",
    "honest-key-order",
    "crlf",
    "limits-as-floats",
    "daemon-holds-pipes",
}
"""These keep to the protocol: CR is white space to JSON, and 1000.0 is the number 1000."""

FOUND_NOT_CONFORMANT = {
    "accept-everything",
    "append-not-found",
    "limits-below-floor",
    "page-over-limit",
    "page-without-progress",
    "pages-without-end",
    "refuse-as-conflict",
    "refuse-as-not-stored",
    "refuse-as-unavailable",
    "acknowledged-empty",
    "lives-on-after-shutdown",
    "name-with-escapes",
}
"""These keep to the protocol well enough for a verdict, or break a requirement before they break the protocol."""


def judged(mode: str, only: frozenset[str] = frozenset()) -> Judgement:
    target = CommandTarget((sys.executable, "-S", *MARK, str(ADAPTER), mode))
    options = Options("quick", timeout_s=TIMEOUT_S, only=only, parts=frozenset({"scripts"}), smaller=False)
    return judge(target, options)


def running(mode: str) -> list[str]:
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = command.read_bytes().split(b"\0")
            if MARK[1].encode() in words and mode.encode() in words:
                found.append(command.parent.name)
    return found


def exit_code(judgement: Judgement, mode: str) -> int:
    target = CommandTarget((sys.executable, str(ADAPTER), mode))
    report = build(judgement, target, depth="normal", seed=1, cases={})
    assert "pass" not in report.verdicts.values() or judgement.fault is None
    return report.exit_code


def test_every_mode_is_expected_somewhere() -> None:
    assert not (HONEST | FOUND_NOT_CONFORMANT) - set(MODES)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode not in HONEST])
def test_misbehaviour_is_told_and_leaves_nothing(mode: str) -> None:
    judgement = judged(mode)
    code = exit_code(judgement, mode)
    if mode in FOUND_NOT_CONFORMANT:
        assert code == 1
    else:
        assert judgement.fault is not None
        assert code in {1, 3}
        assert "\x1b" not in str(judgement.fault)
        assert "Traceback" not in str(judgement.fault)
    assert not running(mode)


@pytest.mark.parametrize("mode", sorted(HONEST))
def test_what_is_merely_odd_is_not_at_fault(mode: str) -> None:
    judgement = judged(mode, only=frozenset({"JRN-010"}))
    assert judgement.fault is None
    assert not judgement.findings
    assert not running(mode)
