"""Adapters that misbehave, each in one way: never a pass, never a hang, nothing left running, nothing to trace back."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from tests.conformance.helpers import compiled, perdure

from perdure_conformance.harness.connection import FaultKind
from perdure_conformance.harness.targets import CommandTarget
from perdure_conformance.journal.judge import judge
from perdure_conformance.journal.profile import JOURNAL
from perdure_conformance.reports.report import build
from perdure_conformance.suite import Judgement, Options

ADAPTER = Path(__file__).with_name("hostile_adapter.py")
PATIENT_S, IMPATIENT_S = 10.0, 1.0
"""How long an answer may take; where none will come, it is not waited for as long."""
MARK = ("-X", f"marked={uuid.uuid4()}")
"""An option without effect, by which this test finds the processes that it started."""

MODES = subprocess.run(
    [sys.executable, "-S", str(ADAPTER), "--list"], capture_output=True, text=True, check=True
).stdout.split()

FAULTS: dict[FaultKind, set[str]] = {
    "error": {
        "append-error",
        "initialize-error",
    },
    "exited": {
        "child-holds-stdout",
        "exit-0-at-start",
        "exit-1-at-start",
        "exit-1-with-escapes",
        "exit-after-append",
        "exit-after-initialize",
        "exit-at-append",
        "exit-at-load",
        "half-line-then-exit",
        "no-newline-then-exit",
        "segmentation-fault",
        "stdout-closed",
    },
    "line_too_long": {
        "flood-of-garbage",
        "line-just-too-long",
        "line-of-4-mib",
        "line-without-end",
        "name-of-1-mb",
    },
    "no_message": {
        "bad-utf-8",
        "blank-lines",
        "byte-order-mark",
        "deep-nesting",
        "deep-nesting-at-start",
        "duplicate-key",
        "duplicate-key-inside",
        "flood-of-blank-lines",
        "huge-exponent",
        "huge-integer",
        "inexact-integer",
        "infinity",
        "limits-enormous",
        "log-line",
        "log-line-at-start",
        "lone-surrogate",
        "lone-surrogate-in-body",
        "nan",
        "nul-byte",
        "raw-surrogate",
        "two-replies-on-a-line",
    },
    "silence": {
        "drip-without-end",
        "half-line-then-silence",
        "never-reads",
        "only-sigkill",
        "shutdown-unanswered",
        "silence-at-append",
        "silence-at-load",
        "silence-at-start",
        "silence-once",
        "silence-with-noise",
        "stdin-closed",
        "stops-reading",
    },
    "unasked": {
        "flood-of-replies",
        "own-notification",
        "own-request",
        "reply-before-initialize",
        "reply-before-request",
        "reply-twice",
    },
    "wrong_reply": {
        "acknowledged-and-refused",
        "acknowledged-missing",
        "actual-next-missing",
        "batch-reply",
        "body-as-number",
        "capabilities-as-array",
        "capability-of-wrong-type",
        "detail-with-escapes",
        "flood-of-lines",
        "jsonrpc-1",
        "limits-with-fractions",
        "negative-actual-next",
        "neither-result-nor-error",
        "null-id",
        "number-as-true",
        "number-id",
        "protocol-2",
        "records-as-object",
        "refusal-of-another-method",
        "result-and-error",
        "result-as-array",
        "scalar-reply",
        "true-as-number",
        "unknown-capability",
        "unknown-refusal",
        "wrong-id",
    },
}
"""What is at fault, by the kind that must be told."""

NOT_CONFORMANT = {
    "accept-everything",
    "acknowledged-empty",
    "append-not-found",
    "limits-below-floor",
    "lives-on-after-shutdown",
    "name-with-escapes",
    "page-over-limit",
    "page-without-progress",
    "pages-without-end",
    "refuse-as-conflict",
    "refuse-as-not-stored",
    "refuse-as-unavailable",
    "writes-markup",
}
"""These keep to the protocol, and break requirements."""

HONEST = {
    "crlf",
    "daemon-holds-pipes",
    "honest",
    "honest-drip",
    "honest-key-order",
    "honest-longest-line",
    "honest-noisy",
    "honest-noisy-inline",
    "limits-as-floats",
}
"""These do what they should: CR is white space to JSON, and 1000.0 is the number 1000."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(ADAPTER, tmp_path_factory.mktemp("hostile"))


def judged(program: Path, mode: str, only: frozenset[str] = frozenset()) -> Judgement:
    target = CommandTarget((sys.executable, "-S", *MARK, str(program), mode))
    timeout_s = IMPATIENT_S if mode in FAULTS["silence"] else PATIENT_S
    options = Options("quick", timeout_s=timeout_s, only=only, parts=frozenset({"written"}), smaller=False)
    return judge(target, options)


def running(mode: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if MARK[1].encode() in words and mode.encode() in words:
                found.append(process.name)
    return found


def exit_code(judgement: Judgement, mode: str) -> int:
    target = CommandTarget((sys.executable, str(ADAPTER), mode))
    report = build(JOURNAL, judgement, target, depth="normal", seed=1, cases={})
    assert "pass" not in report.verdicts.values() or judgement.fault is None
    return report.exit_code


def test_nobody_ends_the_tool_with_an_exit_code_of_his_own(tmp_path: Path) -> None:
    tmp_path.joinpath("leaving.py").write_text("import os\n\ndef leave(state_dir, namespace):\n    os._exit(0)\n")
    done = perdure("check", "journal", "leaving:leave", "--depth", "quick", cwd=tmp_path)
    assert done.returncode == 3
    assert "it tried to end the process" in done.stdout
    assert (tmp_path / "perdure-report" / "report.json").is_file()


def test_every_mode_has_one_expectation() -> None:
    expected = [*(mode for modes in FAULTS.values() for mode in modes), *NOT_CONFORMANT, *HONEST]
    assert sorted(expected) == sorted(MODES)


@pytest.mark.parametrize(("kind", "mode"), [(kind, mode) for kind, modes in FAULTS.items() for mode in sorted(modes)])
def test_misbehaviour_is_told_by_its_kind_and_leaves_nothing(kind: FaultKind, mode: str, program: Path) -> None:
    judgement = judged(program, mode)
    assert judgement.fault is not None
    assert judgement.fault.kind == kind
    assert exit_code(judgement, mode) in {1, 3}
    assert "\x1b" not in judgement.fault.sentence
    assert not running(mode)


@pytest.mark.parametrize("mode", sorted(NOT_CONFORMANT))
def test_bad_faith_in_good_form_is_not_conformant(mode: str, program: Path) -> None:
    judgement = judged(program, mode)
    assert judgement.fault is None
    assert exit_code(judgement, mode) == 1
    assert not running(mode)


@pytest.mark.parametrize("mode", sorted(HONEST))
def test_what_is_merely_odd_is_not_at_fault(mode: str, program: Path) -> None:
    judgement = judged(program, mode, only=frozenset({"JRN-010"}))
    assert judgement.fault is None
    assert not judgement.findings
    assert not running(mode)
