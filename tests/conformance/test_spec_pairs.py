"""The pairs that validators are asked about: each says what the model says, for the reason that it is there for."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from perdure.kernel.validation.validator import validate_text
from perdure_conformance import data
from perdure_conformance.requirements import requirements
from perdure_conformance.spec.documents import text_of
from perdure_conformance.spec.pairs import Pair, all_pairs
from perdure_conformance.spec.profile import SPEC
from perdure_conformance.spec.reference import catalogue

ABOUT_THEIR_OWN_CODES = [pair for pair in all_pairs() if requirements()[pair.requirement].codes]
ABOUT_CODES_OF_OTHERS = {"EDG-003", "EDG-004", "EDG-005", "EDG-006", "CHD-005", "CHD-006", "SPC-030"}
"""Requirements without codes of their own that some documents are refused for all the same."""


def codes(pair: Pair) -> list[str]:
    assert pair.rejected is not None
    found = validate_text(text_of(pair.rejected), catalogue(pair.handlers))
    return [problem.code for problem in found.problems if problem.severity == "error"]


def by_requirement(pairs: list[Pair]) -> dict[str, list[Pair]]:
    return {key: [pair for pair in pairs if pair.requirement == key] for key in {pair.requirement for pair in pairs}}


@pytest.mark.parametrize("requirement", sorted(by_requirement(list(all_pairs()))))
def test_what_is_accepted_is_valid(requirement: str) -> None:
    for pair in by_requirement(list(all_pairs()))[requirement]:
        if pair.accepted is not None:
            found = validate_text(text_of(pair.accepted), catalogue(pair.handlers))
            assert found.valid, (pair.name, found.problems)


@pytest.mark.parametrize("requirement", sorted(by_requirement(ABOUT_THEIR_OWN_CODES)))
def test_what_is_refused_breaks_its_own_rule_and_no_other(requirement: str) -> None:
    for pair in by_requirement(ABOUT_THEIR_OWN_CODES)[requirement]:
        if pair.rejected is not None:
            found = codes(pair)
            assert found, pair.name
            assert set(found) <= set(requirements()[requirement].codes), (pair.name, found)


@pytest.mark.parametrize("requirement", sorted(ABOUT_CODES_OF_OTHERS))
def test_what_is_refused_under_a_rule_without_codes_is_refused_by_another(requirement: str) -> None:
    refused = [pair for pair in all_pairs() if pair.requirement == requirement and pair.rejected is not None]
    assert refused
    assert all(codes(pair) for pair in refused)


def test_no_other_rule_without_codes_has_documents_that_are_refused() -> None:
    without = [pair for pair in all_pairs() if pair.rejected is not None and not requirements()[pair.requirement].codes]
    assert {pair.requirement for pair in without} == ABOUT_CODES_OF_OTHERS


def test_names_are_unique() -> None:
    twice = [name for name, count in Counter(pair.name for pair in all_pairs()).items() if count > 1]
    assert twice == []


def test_every_requirement_has_a_check() -> None:
    assert [requirement.id for requirement in SPEC.requirements() if not SPEC.checks_of(requirement.id)] == []


def test_each_code_is_one_requirement_s_and_the_model_knows_no_other() -> None:
    page = (data.specification() / "specification.md").read_text("utf-8")
    listed = re.findall(r"`([a-z_0-9]+)`", "".join(re.findall(r"^- Codes: .+$", page, re.MULTILINE)))
    assert len(listed) == len(set(listed))
    told = {code for pair in all_pairs() if pair.rejected is not None for code in codes(pair)}
    assert told <= set(listed)


def test_the_table_of_sources_names_every_requirement_once_or_more_and_no_other() -> None:
    named = set(re.findall(r"\b[A-Z]{3}-\d{3}\b", (data.specification() / "sources.md").read_text("utf-8")))
    from_the_design_alone = {
        requirement.id for requirement in SPEC.requirements() if "ADR-0032" not in requirement.source
    }
    known = {requirement.id for requirement in SPEC.requirements()}
    assert named <= set(requirements())
    assert known - from_the_design_alone <= named
