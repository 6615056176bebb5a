"""The registry is complete: every sentence has a clause, a script that reaches it, and a mutant that breaks it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from perdure_conformance import data
from perdure_conformance.cli import command_line
from perdure_conformance.crash import judge as crash
from perdure_conformance.crash import network, scheduling
from perdure_conformance.crash.profile import checks_of
from perdure_conformance.journal.clauses import CLAUSES
from perdure_conformance.journal.mutants import MUTANTS
from perdure_conformance.journal.operations import Identities
from perdure_conformance.journal.play import Play, Site, Tally
from perdure_conformance.journal.profile import JOURNAL
from perdure_conformance.journal.rules import RULES
from perdure_conformance.journal.scripts import Script
from perdure_conformance.journal.written import ALL_SCRIPTS
from perdure_conformance.profiles import PROFILES
from perdure_conformance.reports.report import build
from perdure_conformance.requirements import Requirement, registered, requirements, requirements_of
from perdure_conformance.selftest import good_ones
from perdure_conformance.spec.profile import SPEC
from perdure_conformance.spec.reference import ReferenceValidator
from perdure_conformance.suite import Judgement
from perdure_conformance.tool.checks import CHECKS, PAGES
from perdure_conformance.tool.mutants import TOOL_MUTANTS

OF_JOURNALS = {requirement.id for requirement in JOURNAL.requirements()}
OF_THE_TOOL = {requirement.id for requirement in requirements_of(PAGES)}
OF_CRASHES = {requirement.id for requirement in requirements_of(crash.PAGES)}

PAGE = """# A page

**ABC-002** The second sentence.
- Claim: `core`
- Source: a design
- Codes: `one`, `two`

**ABC-001** The first *sentence*.
- Claim: `fast`
- Source: a design
- Report: somebody/something#1

**ABC-090** *(reserved)* A sentence to come.
- Source: a design
"""
OTHER_PAGE = "**ABC-003** The third.\n- Claim: `core`\n- Source: a design\n"


def test_a_requirement_is_read_from_its_page() -> None:
    found = registered({"one.md": PAGE, "other.md": OTHER_PAGE})
    assert list(found) == ["ABC-001", "ABC-002", "ABC-090", "ABC-003"]
    assert found["ABC-001"] == Requirement(
        "ABC-001", "The first *sentence*.", "fast", "a design", "somebody/something#1", "one.md"
    )
    assert found["ABC-002"].codes == ("one", "two")
    assert found["ABC-003"].page == "other.md"


def test_what_is_reserved_is_announced_and_not_in_force() -> None:
    found = registered({"one.md": PAGE})
    assert [key for key, requirement in found.items() if requirement.is_reserved] == ["ABC-090"]
    assert found["ABC-090"].sentence == "A sentence to come."
    assert not found["ABC-090"].claim


@pytest.mark.parametrize(
    "pages",
    [
        {"one.md": PAGE, "other.md": OTHER_PAGE.replace("003", "001")},
        {"one.md": PAGE.replace("reserved", "doubtful")},
        {"one.md": OTHER_PAGE.replace("- Claim: `core`\n", "")},
        {"one.md": PAGE.replace("*(reserved)* A sentence to come.\n- Source: a design", "*(reserved)* To come.")},
    ],
    ids=["an id twice, on two pages", "a status that means nothing", "no claim", "no source"],
)
def test_a_damaged_page_is_refused(pages: dict[str, str]) -> None:
    with pytest.raises(AssertionError):
        registered(pages)


def test_a_reserved_requirement_is_listed_and_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    announced = replace(requirements()["SPC-031"], id="SPC-931", claim="", codes=(), is_reserved=True)
    more = {**requirements(), announced.id: announced}
    monkeypatch.setattr("perdure_conformance.requirements.requirements", lambda: more)
    monkeypatch.setattr("perdure_conformance.cli.explain.requirements", lambda: more)
    assert SPEC.reserved() == [announced]
    assert announced not in SPEC.requirements()
    judgement = Judgement(description=ReferenceValidator(Path(), "").description)
    report = build(SPEC, judgement, SPEC.subjects.find("reference"), depth="quick", seed=1, cases={})
    assert "SPC-931" not in report.verdicts
    assert "SPC-931: reserved, not judged yet" in report.document["not_covered"]  # type: ignore[operator]
    explained = CliRunner().invoke(command_line(), ["explain"]).output
    assert f"SPC-931  (reserved) {announced.sentence}" in explained.replace("\n", " ")
    assert "nothing judges it yet" in CliRunner().invoke(command_line(), ["explain", "spc-931"]).output


def test_every_requirement_belongs_to_somebody() -> None:
    of_profiles = {requirement.id for profile in PROFILES.values() for requirement in profile.requirements()}
    assert {
        key for key, known in requirements().items() if not known.is_reserved
    } == of_profiles | OF_THE_TOOL | OF_CRASHES


def test_every_requirement_on_crashes_is_that_of_a_rule_at_a_level_which_it_claims() -> None:
    of_errors = {crash.AFTER_AN_ERROR, crash.AFTER_A_FAILED_SYNC}
    of_servers = set(network.REQUIREMENTS.values())
    of_clients = set(scheduling.REQUIREMENTS.values())
    assert {*crash.REQUIREMENTS.values(), *of_errors, *of_servers, *of_clients} == OF_CRASHES
    assert all(checks_of(requirement) for requirement in OF_CRASHES)
    for (level, _), requirement in crash.REQUIREMENTS.items():
        assert requirements()[requirement].claim == f"durable={level}"


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


def test_the_table_of_sources_of_runs_names_every_requirement_from_the_adr_and_no_other() -> None:
    named = set(re.findall(r"\b[A-Z]{3}-\d{3}\b", (data.specification() / "kernel-sources.md").read_text("utf-8")))
    of_the_page = [requirement for requirement in requirements().values() if requirement.page == "kernel.md"]
    assert named <= set(requirements())
    assert {requirement.id for requirement in of_the_page if "ADR-0032" in requirement.source} <= named


def test_examples_of_runs_show_requirements_that_there_are() -> None:
    examples = (data.specification() / "kernel.md").read_text("utf-8").partition("\n## Examples\n")[2]
    shown = re.findall(r"\b[A-Z]{3}-\d{3}\b", examples.partition("\n## ")[0])
    assert shown
    assert set(shown) <= set(requirements())


def test_script_names_are_unique() -> None:
    assert len({script.name for script in ALL_SCRIPTS}) == len(ALL_SCRIPTS)


REACHING = {
    name: good_ones(JOURNAL)[name].target
    for name in ("sqlite", "files-write", "lines", "TakesNoMoreThanItMust", "HasTheCoreOnly")
}
"""Journals that together claim whatever can be claimed, and leave unclaimed what can be left."""


@pytest.mark.parametrize("script", ALL_SCRIPTS, ids=lambda script: script.name)
def test_each_script_reaches_what_it_says(script: Script) -> None:
    tally = Tally()
    for in_process in REACHING.values():
        if set(script.reaches) <= tally.reached.keys():
            break
        site = Site(in_process.as_process() if script.alone else in_process, timeout_s=30)
        try:
            play = Play(site, Identities(1, 1), tally, RULES)
            for operation in script.operations:
                play.do(operation)
        finally:
            site.remove()
    assert set(script.reaches) <= tally.reached.keys()
