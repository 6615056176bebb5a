"""Journals whose author saw the specification alone: the good ones pass, each broken one is blamed for what it breaks.

By default scripts show that: good journals are judged by all of them, or by those where their oddity shows, and a fixed
part of the broken ones by the scripts of what they break. With PERDURE_FULL=1 every journal is judged whole, by all
scripts and by the machine, which takes half an hour.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.helpers import compiled

from perdure_conformance.harness.connection import FaultKind
from perdure_conformance.harness.targets import CommandTarget
from perdure_conformance.journal.judge import judge
from perdure_conformance.journal.profile import JOURNAL
from perdure_conformance.reports.report import build
from perdure_conformance.suite import Judgement, Options
from perdure_conformance.verdict import CONFORMANT

ADAPTER = Path(__file__).with_name("independent_journals.py")
FULL = os.environ.get("PERDURE_FULL") == "1"

LISTED = json.loads(
    subprocess.run([sys.executable, "-S", str(ADAPTER), "--list"], capture_output=True, check=True).stdout
)
GOOD: list[str] = [listed["variant"] for listed in LISTED if listed["kind"] == "good"]
BREAKS: dict[str, set[str]] = {
    listed["variant"]: set(listed["breaks"]) for listed in LISTED if listed["kind"] == "broken"
}
"""What each broken journal breaks, by its author's word."""

SHOWS: dict[str, set[str]] = {
    "one_record_pages": {"JRN-003", "JRN-020"},
    "epochs_jump": {"LSE-001", "LSE-004", "LSE-005", "JRN-024", "JRN-025"},
    "pages_by_size": {"JRN-002", "JRN-021"},
    "flaky_appends": {"JRN-001", "JRN-007", "JRN-013"},
    "first_append_not_stored": {"JRN-001", "JRN-007"},
    "first_append_unavailable_but_stored": {"JRN-001", "JRN-010"},
    "snapshots_forgotten_at_reopen": {"SNP-001", "SNP-002"},
    "furthest_snapshot_wins": {"SNP-001", "SNP-002"},
    "slow_start": {"JRN-010"},
    "noisy_stderr": {"JRN-014", "LSE-002"},
    "gaps_in_internal_positions": {"JRN-003", "JRN-020"},
    "partial_replay_acknowledged": {"JRN-008", "JRN-009"},
    "larger_limits": {"JRN-014", "SNP-001"},
    "ascii_answers": {"JRN-002", "JRN-014"},
    "durable_sector": {"JRN-017", "JRN-023"},
    "leases_by_store_clock": {"LSE-001", "LSE-003", "LSE-004", "LSE-005", "JRN-024", "JRN-025"},
}
"""Good journals that are odd in a few places: the requirements by whose scripts they are judged by default."""

FAULTS: dict[str, FaultKind] = {
    # The protocol has no sequence 0, and no integer beyond 2^53−1.
    "actual_next_zero_for_new_run": "wrong_reply",
    "until_not_saturated": "no_message",
    "until_saturates_one_too_high": "no_message",
}
"""Broken journals that break the protocol before they break a requirement."""

INSTEAD: dict[str, set[str]] = {
    # It is acknowledged, rightly for all that one can see; what is wrong is that no load returns it.
    "duplicate_of_other_run": {"JRN-003"},
    # It forgets event ids at once; where one is first asked for after a kill, it is not "still known after a crash".
    "batch_head_remembered_only": {"JRN-023"},
}
"""Requirements that are blamed in place of those that the author named."""

BESIDES: dict[str, set[str]] = {
    # The records of every load are wrong; after a reopen or a crash, or on another handle, they are not "what was
    # acknowledged, and nothing else", and it cannot be seen that they were wrong before.
    "batch_reversed_at_load": {"JRN-016", "JRN-017", "JRN-020"},
    "chunk_border_repeated": {"JRN-016", "JRN-017", "JRN-020"},
    "page_border_skipped": {"JRN-016", "JRN-017", "JRN-020"},
    "range_scan_spills": {"JRN-016", "JRN-017", "JRN-020"},
    "empty_run_cached": {"JRN-020"},
    # Likewise; and the event id of a replayed record is served at two sequences, as if the replay were stored.
    "batch_head_event_id": {"JRN-008", "JRN-016", "JRN-017", "JRN-020"},
    # Replays and event ids that are not recognised are not recognised after a reopen or a crash either.
    "replay_of_last_batch_only": {"JRN-023"},
    "replay_of_single_records_only": {"JRN-023"},
    "replay_window_of_six": {"JRN-023"},
    # Likewise; and of a known id at a wrong sequence only the sequence is told, which comes later in the order.
    "event_id_window_of_six": {"JRN-013", "JRN-023"},
    "event_id_key_has_sequence": {"JRN-013", "JRN-023"},
    # It tells a later refusal where an earlier one in the order is due.
    "any_uuid_form": {"JRN-013"},
    "twice_in_batch": {"JRN-013"},
    "fence_one_too_low": {"JRN-013"},
    "no_epoch_no_fence": {"JRN-013"},
    # Likewise; and it takes an epoch above the highest granted one, after which the highest granted one is stale.
    "fence_by_last_append": {"JRN-013", "JRN-025"},
    # After the crash the run ends before a record that was acknowledged, begins anew, and does not know what it lost.
    "flushed_every_fourth_append": {"JRN-005", "JRN-006", "JRN-009", "JRN-021", "JRN-023"},
    "last_batch_lost_at_kill": {"JRN-005", "JRN-006", "JRN-009", "JRN-021", "JRN-023"},
    # A load shows a record twice, on another handle too.
    "replay_stored_again": {"JRN-003", "JRN-020"},
    # A replay and a conflict came before: either may have left what makes the run longer.
    "conflict_burns_sequence": {"JRN-008", "JRN-015"},
    # Of a batch of several records that was refused as stale, all are stored.
    "stale_append_stored": {"JRN-015"},
    # The next sequence that it tells is that of its cache.
    "tail_cached_overwrites": {"JRN-005"},
    # Where no lease of the run is known, its `stale_epoch` is only a wrong answer to a right append, or to a wrong one.
    "fence_across_runs": {"JRN-001", "JRN-004"},
    # A renewal was refused before: it may have moved the end of the lease, which is later than it should be.
    "expired_for_owner_only": {"LSE-005"},
    "held_one_too_long": {"LSE-005"},
    # A renewal for less leaves the lease held when it should have expired.
    "renewed_end_not_kept": {"LSE-003"},
}
"""Requirements that are blamed too: the fault shows there as well, and the specification's sentence is broken."""

NOT_BY_THEIR_OWN_SCRIPTS: set[str] = {
    "full_after_seven",
    "chunk_border_repeated",
    "empty_run_cached",
    "stale_append_stored",
    "duplicate_of_other_run",
    "unsealed_segment_lost",
    "empty_page_before_big_record",
    "batch_head_remembered_only",
}
"""Broken journals that are found by the machine, or by scripts which are there for other requirements."""

BROKEN = list(BREAKS) if FULL else [name for name in BREAKS if name not in NOT_BY_THEIR_OWN_SCRIPTS][::5]


def only(variant: str) -> frozenset[str]:
    """Return the requirements to judge; all if empty."""
    return frozenset() if FULL else frozenset(BREAKS.get(variant, set()) | SHOWS.get(variant, set()))


def judged(program: Path, variant: str) -> Judgement:
    target = CommandTarget((sys.executable, "-S", str(program), variant))
    options = Options("quick", only=only(variant), smaller=False)
    return judge(target, options if FULL else replace(options, parts=frozenset({"written"})))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the journals once, and not anew at each start."""
    return compiled(ADAPTER, tmp_path_factory.mktemp("independent"))


@pytest.fixture(scope="module")
def judgements(program: Path, request: pytest.FixtureRequest) -> Iterator[dict[str, Future[Judgement]]]:
    """Judge what the selected tests ask for, several at a time: much of it is waiting for programs to start."""
    names = [item.name for item in request.session.items if item.path == request.path]
    wanted = [variant for variant in (*GOOD, *BROKEN) if any(name.endswith(f"[{variant}]") for name in names)]
    pool = ThreadPoolExecutor(1 if FULL else None)  # The machine's draws are to be the same each time.
    yield {variant: pool.submit(judged, program, variant) for variant in wanted}
    pool.shutdown(cancel_futures=True)


def test_what_is_expected_is_expected_of_journals_that_are_there() -> None:
    assert SHOWS.keys() <= set(GOOD)
    assert FAULTS.keys() | INSTEAD.keys() | BESIDES.keys() | NOT_BY_THEIR_OWN_SCRIPTS <= BREAKS.keys()


@pytest.mark.parametrize("variant", GOOD)
def test_what_is_good_passes(variant: str, judgements: dict[str, Future[Judgement]]) -> None:
    judgement = judgements[variant].result()
    assert judgement.fault is None
    assert not judgement.findings
    target = CommandTarget((sys.executable, "-S", str(ADAPTER), variant))
    report = build(JOURNAL, judgement, target, depth="quick", seed=1, only=only(variant), cases={})
    assert report.exit_code == CONFORMANT


@pytest.mark.parametrize("variant", BROKEN)
def test_what_is_broken_is_blamed_for_what_it_breaks(variant: str, judgements: dict[str, Future[Judgement]]) -> None:
    judgement = judgements[variant].result()
    if variant in FAULTS:
        assert judgement.fault is not None
        assert judgement.fault.kind == FAULTS[variant]
        return
    assert judgement.fault is None
    named = BREAKS[variant] | INSTEAD.get(variant, set())
    assert judgement.findings.keys() & named
    assert judgement.findings.keys() <= named | BESIDES.get(variant, set())
