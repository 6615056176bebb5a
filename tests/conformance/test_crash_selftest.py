"""The engine finds what is planted in other languages, and plays it again from its line and its folder.

Whoever has more time runs `perdure selftest crash`, which does so with all mutants and all good journals.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from perdure_conformance.crash.programs import NoSuchProgram
from perdure_conformance.crash.recording import why_not_disturbed
from perdure_conformance.crash.selftest import check_good, good_ones, kill, planted

pytestmark = pytest.mark.skipif(why_not_disturbed() is not None, reason=f"{why_not_disturbed()}")

IN_OTHER_LANGUAGES = [
    f"{how} ({language})"
    for how in ("no-fsync", "no-directory-sync", "acknowledges-before-the-sync", "ignores-errors-of-syncs")
    for language in ("Node", "C")
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.mark.parametrize(
    "name",
    [
        *IN_OTHER_LANGUAGES,
        "TakesAnErrorForTheEnd (Python)",
        "ignores-short-writes (C)",
        "writes-in-place (C)",
        "RefusesARetry",
        "ChecksBeforeItLocks",
    ],
)
def test_a_mutant_is_found_by_name_and_plays_again(name: str, folder: Path) -> None:
    try:
        killed = kill(planted()[name], folder, seed=7)
    except NoSuchProgram as reason:
        pytest.skip(f"{reason}")
    assert killed.problems == ()
    assert killed.blame.keys() == killed.replays.keys() == planted()[name].guilty.keys()


def test_what_is_not_found_or_blamed_elsewhere_is_told(folder: Path) -> None:
    try:
        mutant = planted()["no-fsync (C)"]
        wrong = kill(replace(mutant, guilty={"power": "unlink"}), folder, seed=7)
        missed = kill(replace(mutant, breaks="CRS-001"), folder, seed=7)
    except NoSuchProgram as reason:
        pytest.skip(f"{reason}")
    (problem,) = wrong.problems
    assert problem.startswith("is blamed on another call: acknowledgement 1 is not covered: write log@0+")
    (problem,) = missed.problems
    assert problem == "is not found by CRS-001 in power, but by CRS-011, CRS-021, CRS-031"


def test_a_good_journal_in_c_is_accused_of_nothing(folder: Path) -> None:
    try:
        found = check_good(good_ones()["good (C)"], folder, 1, full=False)
    except NoSuchProgram as reason:
        pytest.skip(f"{reason}")
    assert found.problems == []
    assert found.claimed == "posix-weak"
    assert found.states > 0 < found.windows
