"""The suite judges itself: the kill matrices of journals and of the tool, and that they can fail."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.conformance.helpers import perdure

from perdure.journal.memory import MemoryJournal
from perdure_conformance.crash import selftest as crashes
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.journal.mutants import MUTANTS, DropsNul
from perdure_conformance.journal.profile import JOURNAL
from perdure_conformance.matrix import page
from perdure_conformance.registry import Mutant, Twin
from perdure_conformance.selftest import Kill, as_document, check_good, find, kill
from perdure_conformance.tool.selftest import kill as kill_tool
from perdure_conformance.tool.trial import Tool, ToolMutant

FULL = os.environ.get("PERDURE_FULL") == "1"
QUICK = () if FULL else ("--quick",)
"""By default each mutant must be found, and a tenth of them, another each day, is looked at more closely."""


@pytest.mark.parametrize("profile", ["journal", "spec", "reducer", "tool"])
def test_every_mutant_is_found_by_name_and_every_good_one_passes(
    tmp_path: Path, profile: str, record_property: Callable[[str, object], None]
) -> None:
    done = perdure("selftest", profile, *QUICK, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    for line in done.stdout.splitlines():
        if line.startswith("Quick"):
            record_property("told", f"selftest {profile}: {line}")


def test_a_quick_look_finds_and_does_no_more() -> None:
    found = find(JOURNAL, MUTANTS["DropsNul"], seed=1)
    assert (found.whole, found.size, found.problems) == (False, 0, ())


def test_a_mutant_without_a_fault_survives() -> None:
    faultless = Mutant(JOURNALS.of(MemoryJournal), "MemoryJournal", "JRN-005", overlaps=(), report="", fault="none")
    assert "survives" in kill(JOURNAL, faultless, seed=1).problems[0]


def test_a_mutant_that_breaks_something_else_is_killed_by_accident() -> None:
    misnamed = Mutant(JOURNALS.of(DropsNul), "DropsNul", "JRN-005", overlaps=(), report="", fault="drops NUL")
    looked = find(JOURNAL, misnamed, seed=1)  # Not found by the checks of JRN-005, it is looked at whole.
    assert looked.whole
    problems = looked.problems
    assert "JRN-002 was" in problems[0]
    assert problems[1] == "also breaks JRN-002, which it does not name"


def test_a_twin_with_a_fault_is_accused() -> None:
    good = Twin(JOURNALS.of(DropsNul), "DropsNul", oddity="")
    problems = check_good(JOURNAL, good, (1,), "quick").problems
    assert problems == ("seed 1: is accused of JRN-002",)


def test_a_mutant_of_the_tool_without_a_fault_survives() -> None:
    assert "survives" in kill_tool(ToolMutant("Faultless", "TOL-001", "none", Tool())).problems[0]


def test_the_kill_matrix_is_a_page_of_what_was_told() -> None:
    told = {
        "mutants": [as_document(Kill(MUTANTS["DropsNul"], 0.25, "odd | text", None, 2, ()))],
        "good": [{"name": "memory", "problems": []}, {"name": "odd", "problems": ["is accused"]}],
        "unit": "operations",
        "median_size": 2,
        "largest_size": 2,
    }
    lines = page("journal", json.dumps({"journal": told}).encode()).splitlines()
    assert "- 1 of 1 mutants are killed by name: each is found by its requirement, and passes once" in lines
    assert "- Good ones that pass: memory." in lines
    assert lines[-1].startswith("| JRN-002 | DropsNul | Drops NUL characters, which its text column cannot hold.")
    assert lines[-1].endswith(" | yes | 0.25 | 2 | odd \\| text |  |")


def test_the_kill_matrix_of_crashes_is_a_page_of_what_was_told() -> None:
    killed = crashes.Kill("NeverSyncs", "CRS-011", "Syncs never.", {"power": "write log"}, {}, 0.25, ())
    good = crashes.Pass("lines", "built in", 20, 1_234, 5, "sector")
    told = {"mutants": [crashes.as_document(killed)], "good": [asdict(good)], "not_tried": ["no node"]}
    lines = page("crash", json.dumps({"crash": told}).encode()).splitlines()
    assert "| CRS-011 | NeverSyncs | Syncs never. | yes | 0.2 | power | write log |" in lines
    assert "- Not tried: no node" in lines
    assert lines[-1] == "| lines | built in | yes | sector | 20 | 1,234 | 5 |"
