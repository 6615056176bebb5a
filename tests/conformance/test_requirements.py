"""The registry is complete: every sentence has a clause, a script that reaches it, and a mutant that breaks it."""

from __future__ import annotations

import pytest

from perdure_conformance.journal.claims import PREFIXES
from perdure_conformance.journal.clauses import CLAUSES
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.journal.mutants import MUTANTS
from perdure_conformance.journal.operations import Identities
from perdure_conformance.journal.play import Play, Site, Tally
from perdure_conformance.journal.rules import RULES
from perdure_conformance.journal.scripts import ALL_SCRIPTS, Script
from perdure_conformance.profiles import PROFILES
from perdure_conformance.requirements import requirements
from perdure_conformance.tool.checks import CHECKS
from perdure_conformance.tool.mutants import TOOL_MUTANTS

OF_JOURNALS = {key for key in requirements() if key.startswith(PREFIXES)}
OF_THE_TOOL = {key for key in requirements() if key.startswith("TOL")}


def test_every_requirement_belongs_to_somebody() -> None:
    of_profiles = {requirement.id for profile in PROFILES.values() for requirement in profile.requirements()}
    assert set(requirements()) == of_profiles | OF_THE_TOOL


def test_every_journal_requirement_has_a_clause_and_no_clause_is_stray() -> None:
    assert {clause.requirement for clause in CLAUSES} == OF_JOURNALS


def test_every_journal_requirement_has_a_script() -> None:
    assert {key for script in ALL_SCRIPTS for key in script.reaches} == OF_JOURNALS


def test_every_journal_requirement_has_a_mutant() -> None:
    assert {mutant.breaks for mutant in MUTANTS.values()} == OF_JOURNALS


def test_overlaps_name_real_requirements() -> None:
    assert {key for mutant in MUTANTS.values() for key in mutant.overlaps} <= OF_JOURNALS


def test_every_requirement_on_the_tool_has_a_check_and_a_mutant() -> None:
    assert set(CHECKS) == OF_THE_TOOL
    assert {mutant.breaks for mutant in TOOL_MUTANTS} == OF_THE_TOOL


def test_every_requirement_names_its_source() -> None:
    assert all(requirement.source for requirement in requirements().values())


def test_script_names_are_unique() -> None:
    assert len({script.name for script in ALL_SCRIPTS}) == len(ALL_SCRIPTS)


WHEN_NOTHING_IS_UNCLAIMED = {"JRN-022"}
"""What SQLite, which claims everything, cannot reach; the twin with the core alone does."""


@pytest.mark.parametrize("script", ALL_SCRIPTS, ids=lambda script: script.name)
def test_each_script_reaches_what_it_says(script: Script) -> None:
    in_process = JOURNALS.find("sqlite")
    site = Site(in_process.as_process() if script.alone else in_process, timeout_s=30)
    tally = Tally()
    try:
        play = Play(site, Identities(1, 1), tally, RULES)
        for operation in script.operations:
            play.do(operation)
    finally:
        site.remove()
    assert {key for key in script.reaches if not tally.reached[key]} <= WHEN_NOTHING_IS_UNCLAIMED
