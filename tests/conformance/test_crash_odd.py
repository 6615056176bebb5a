"""Good journals in odd styles are not accused, and what is wrong with an odd one is found and blamed."""

from __future__ import annotations

import pytest

from perdure.journal.contract import DurabilityLevel
from perdure_conformance.crash.campaign import Outcome, Plan, crash
from perdure_conformance.crash.findings import Layer
from perdure_conformance.crash.recording import Done, Recording, why_not_disturbed
from perdure_conformance.crash.replay import Kill
from perdure_conformance.crash.trace import Call, Sync
from perdure_conformance.crash.windows import faults
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.suite import say_nothing

pytestmark = pytest.mark.skipif(why_not_disturbed() is not None, reason=f"{why_not_disturbed()}")


def crashed(name: str, *layers: Layer, appends: int = 2, level: DurabilityLevel | None = None) -> Outcome:
    """Crash one of the odd journals."""
    plan = Plan(layers=layers, level=level, workload="append", appends=appends)
    return crash(JOURNALS.find(f"tests.conformance.odd_journals:{name}"), plan, say_nothing)


def test_what_was_changed_where_nobody_looked_is_no_base_for_a_verdict() -> None:
    outcome = crashed("EmptiesAFileUnseen", "power")
    assert outcome.open == {
        "power": "rest is not as the calls that were seen leave it: it was changed where nobody looked"
    }
    assert (outcome.found, outcome.highest_level) == ({}, None)


def test_a_write_that_syncs_by_itself_is_taken_for_no_sync_of_the_others() -> None:
    outcome = crashed("SyncsTheHeaderAlone", "power")
    assert outcome.highest_level == "sector"
    blamed = outcome.found["CRS-031"].blame
    assert blamed.startswith("acknowledgement 1 is not covered: write perdure.log@12+")
    assert blamed.endswith(" has no fsync before it")


def test_a_call_that_tells_of_no_error_is_not_made_to_fail() -> None:
    outcome = crashed("SyncsAll", "power")
    assert (outcome.found, outcome.highest_level) == ({}, "posix-weak")
    recording = Recording([Done(1, "sync", 1, Call("sync", Sync(None, "sync")))])
    assert list(faults(recording)) == [Kill("before", 1), Kill("after", 1)]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("FollowsALink", "current is a symbolic link, which is not modelled"),
        ("TakesALotOfRoom", "room is longer than 268435456 bytes, which is not modelled"),
    ],
)
def test_what_cannot_be_laid_out_again_is_no_base_for_a_verdict(name: str, sentence: str) -> None:
    outcome = crashed(name, "power", "calls", appends=1)
    assert (outcome.found, outcome.open) == ({}, {"power": sentence, "calls": sentence})


def test_a_journal_that_takes_its_folder_away_is_judged() -> None:
    assert crashed("TakesItsFolderAway", "calls", appends=1).found["CRS-001"].blame == "undisturbed"


def test_a_file_may_take_its_room_before_it_is_written() -> None:
    outcome = crashed("TakesItsRoomFirst", "power")
    assert (outcome.found, outcome.open, outcome.highest_level) == ({}, {}, "posix-weak")
    blamed = crashed("TakesItsRoomForASync", "power").found["CRS-011"].blame
    assert blamed.startswith("acknowledgement 1 is not covered: write perdure.log@0+")


def test_what_the_system_copies_is_a_write_like_any_other() -> None:
    outcome = crashed("CopiesItsFrames", "power")
    assert (outcome.found, outcome.open, outcome.highest_level) == ({}, {}, "posix-weak")
    blamed = crashed("CopiesItsFramesAndNeverSyncs", "power").found["CRS-011"].blame
    assert blamed.startswith("acknowledgement 1 is not covered: write perdure.log@")


def test_what_takes_the_place_of_a_failed_sync_with_fewer_appends_is_wrong_in_the_same_way() -> None:
    found = crashed("DoesNotOpenWithHalfAFrameAndIgnoresASyncThatFails", "power", level="ordered").found
    assert (found["CRS-003"].rule, found["CRS-042"].rule) == ("refused", "lost")
