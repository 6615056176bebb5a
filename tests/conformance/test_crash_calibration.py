"""The engine gets what is known right: SQLite's settings, the built-in journals, the example in Node.js."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from perdure.journal.contract import DurabilityLevel
from perdure_conformance import data
from perdure_conformance.crash.judge import LEVELS
from perdure_conformance.crash.power import Bench, Judged, judge
from perdure_conformance.crash.record import record
from perdure_conformance.crash.recording import why_not
from perdure_conformance.crash.recovery import recoverer, scratch
from perdure_conformance.crash.replay import Workload
from perdure_conformance.harness.targets import CommandTarget, Target
from perdure_conformance.journal.dispatch import JOURNALS

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"{why_not()}")

DRAWS = 60


@pytest.fixture
def place() -> Iterator[Path]:
    with scratch() as folder:
        yield folder


def judged(
    target: Target, place: Path, workload: Workload, levels: Sequence[DurabilityLevel] = LEVELS, draws: int = DRAWS
) -> Judged:
    recorded = record(target, workload, place / "recorded", timeout_s=30)
    with recoverer(target, timeout_s=30) as opened:
        return judge(Bench(recorded, opened, place), levels=levels, draws=draws)


def setting(name: str) -> Target:
    return JOURNALS.find(f"perdure_conformance.crash.settings:{name}")


@pytest.mark.parametrize(
    ("name", "guilty"),
    [
        ("WalNormal", "acknowledgement 1 is not covered: write perdure.sqlite3-wal@"),
        (
            "DeleteFull",
            "acknowledgement 1 is not covered: unlink perdure.sqlite3-journal has no fsync of its directory",
        ),
        ("DeleteOff", "acknowledgement 1 is not covered: unlink perdure.sqlite3-journal has no fsync of its directory"),
    ],
)
def test_a_setting_of_sqlite_that_loses_commits_holds_at_kills_alone(name: str, guilty: str, place: Path) -> None:
    found = judged(setting(name), place, Workload("append", 2, 7), levels=LEVELS[:2])
    assert set(found.findings) == {"CRS-011"}
    assert found.findings["CRS-011"].blame.startswith(guilty)
    assert found.highest_level == "process-crash"


def test_sqlite_without_syncs_corrupts_its_database(place: Path) -> None:
    found = judged(setting("DeleteOff"), place, Workload("append", 1, 7), levels=["posix-weak"])
    assert "malformed" in found.findings["CRS-033"].sentence


@pytest.mark.parametrize("name", ["DeleteExtra", "sqlite", "files"])
def test_what_syncs_all_holds_at_every_level(name: str, place: Path) -> None:
    target = JOURNALS.find(name) if name in JOURNALS.built_in else setting(name)
    found = judged(target, place, Workload("append" if name == "DeleteExtra" else "caches", 2, 7))
    assert found.findings == {}
    assert found.highest_level == "posix-weak"


@pytest.mark.parametrize(
    ("name", "level", "broken"),
    [
        ("files-flush", "process-crash", {"CRS-011", "CRS-021", "CRS-031", "CRS-033"}),
        ("files-write", "process-crash", {"CRS-011", "CRS-021", "CRS-031", "CRS-033"}),
        ("lines", "ordered", {"CRS-023", "CRS-033"}),
    ],
)
def test_a_built_in_journal_holds_at_the_level_that_it_claims_and_no_more(
    name: str, level: DurabilityLevel, broken: set[str], place: Path
) -> None:
    found = judged(JOURNALS.find(name), place, Workload("append", 3, 7))
    assert found.claims.durable == found.highest_level == level
    assert set(found.findings) == broken


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not found")
def test_the_example_in_node_holds_at_what_it_claims_and_is_asked_again_and_again(place: Path) -> None:
    folder = data.examples()
    assert folder is not None
    target = CommandTarget(("node", str(folder / "node-journal/adapter.mjs")))
    found = judged(target, place, Workload("append", 3, 7))
    assert found.claims.durable == "process-crash"
    assert found.highest_level == "ordered"
    assert set(found.findings) == {"CRS-023", "CRS-033"}
