"""Journals whose author saw the specification alone: the good ones pass, each broken one is blamed for what it breaks.

A test run judges the good ones by every script, and a fixed part of the broken ones by the scripts of what they break.
With PERDURE_FULL=1 each is judged whole, scripts and machine. That takes a quarter of an hour.
"""

from __future__ import annotations

import json
import os
import py_compile
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from perdure_conformance.harness.connection import FaultKind
from perdure_conformance.harness.targets import CommandTarget
from perdure_conformance.journal.profile import Judgement, Options, judge
from perdure_conformance.reports.report import build
from perdure_conformance.verdict import CONFORMANT

ADAPTER = Path(__file__).with_name("independent_journals.py")
FULL = os.environ.get("PERDURE_FULL") == "1"

LISTED = json.loads(
    subprocess.run([sys.executable, "-S", str(ADAPTER), "--list"], capture_output=True, check=True).stdout
)
GOOD: list[str] = [listed["variant"] for listed in LISTED if listed["kind"] == "good"]
BREAKS: dict[str, frozenset[str]] = {
    listed["variant"]: frozenset(listed["breaks"]) for listed in LISTED if listed["kind"] == "broken"
}

FAULTS: dict[str, FaultKind] = {
    "actual_next_zero_for_new_run": "wrong_reply",
    "until_not_saturated": "no_message",
    "until_saturates_one_too_high": "no_message",
}
"""Their answer is none by the protocol, whose integers end at 2^53−1 and whose sequences begin at 1."""

INSTEAD: dict[str, frozenset[str]] = {}
BESIDES: dict[str, frozenset[str]] = {}
HARD_TO_FIND = frozenset(
    {
        "full_after_seven",
        "chunk_border_repeated",
        "empty_run_cached",
        "stale_append_stored",
        "duplicate_of_other_run",
        "unsealed_segment_lost",
        "empty_page_before_big_record",
        "batch_head_remembered_only",
        "refused_batches_after_kill",
        "fence_cached_per_process",
        "snapshots_mixed_up_at_reopen",
    }
)
SURVIVORS: frozenset[str] = frozenset()

BROKEN = list(BREAKS) if FULL else [variant for variant in BREAKS if variant not in HARD_TO_FIND][::5]


def judged(program: Path, variant: str) -> Judgement:
    target = CommandTarget((sys.executable, "-S", str(program), variant))
    if FULL:
        return judge(target, Options("quick", smaller=False))
    only = BREAKS.get(variant, frozenset())
    if variant == "slow_start":
        only = frozenset({"JRN-010"})
    return judge(target, Options("quick", only=only, parts=frozenset({"scripts"}), smaller=False))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the journals once: a program is compiled anew at each start."""
    compiled = tmp_path_factory.mktemp("independent") / "independent_journals.pyc"
    py_compile.compile(str(ADAPTER), str(compiled), doraise=True)
    return compiled


@pytest.fixture(scope="module")
def judgements(program: Path, request: pytest.FixtureRequest) -> Iterator[dict[str, Future[Judgement]]]:
    """Judge what the selected tests ask for, some at a time: most of it is waiting for programs to start."""
    own = [item for item in request.session.items if item.path == request.path]
    wanted = [variant for variant in (*GOOD, *BROKEN) if any(item.name.endswith(f"[{variant}]") for item in own)]
    with ThreadPoolExecutor(1 if FULL else os.cpu_count()) as pool:
        yield {variant: pool.submit(judged, program, variant) for variant in wanted}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("variant", GOOD)
def test_what_is_good_passes(variant: str, judgements: dict[str, Future[Judgement]]) -> None:
    judgement = judgements[variant].result()
    assert judgement.fault is None
    assert not judgement.findings
    target = CommandTarget((sys.executable, str(ADAPTER), variant))
    assert build(judgement, target, depth="quick", seed=1, cases={}).exit_code == CONFORMANT


@pytest.mark.parametrize("variant", BROKEN)
def test_what_is_broken_is_blamed_for_what_it_breaks(variant: str, judgements: dict[str, Future[Judgement]]) -> None:
    judgement = judgements[variant].result()
    if variant in FAULTS:
        assert judgement.fault is not None
        assert judgement.fault.kind == FAULTS[variant]
        return
    assert judgement.fault is None
    blamed = judgement.findings.keys()
    named = BREAKS[variant] | INSTEAD.get(variant, frozenset())
    assert blamed & named
    assert blamed <= named | BESIDES.get(variant, frozenset())
