"""What holds of every profile in the table, and of the way in which all of them make cases smaller."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from perdure_conformance import data
from perdure_conformance.profiles import PROFILES
from perdure_conformance.shrinking import chunks, fewest, smallest, within
from perdure_conformance.suite import AnyProfile


@dataclass(frozen=True)
class Word:
    """A case that is a text."""

    text: str

    @property
    def size(self) -> int:
        return len(self.text)


def schema(name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((data.schemas() / name).read_text("utf-8"))
    return found


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_a_profile_fits_into_reports_cases_and_messages(profile: AnyProfile) -> None:
    assert re.fullmatch("[a-z]+", profile.name)
    assert profile.case.__struct_config__.tag == profile.name
    assert profile.subjects.default in profile.subjects.built_in
    initialize = schema("protocol-1/initialize.json")["$defs"]
    assert isinstance(initialize, dict)
    assert {f"{profile.name}_params", f"{profile.name}_result"} <= initialize.keys()


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_mutants_break_requirements_of_their_profile(profile: AnyProfile) -> None:
    known = {requirement.id for requirement in profile.requirements()}
    assert known
    assert {key for mutant in profile.mutants.values() for key in (mutant.breaks, *mutant.overlaps)} <= known


def test_a_page_is_there_and_belongs_to_one_profile() -> None:
    pages = [page for profile in PROFILES.values() for page in profile.pages]
    assert len(set(pages)) == len(pages)
    assert all((data.specification() / page).is_file() for page in pages)


def test_a_profile_judges_what_stands_on_its_pages_whatever_the_prefix() -> None:
    spec = PROFILES["spec"]
    assert {requirement.id[:3] for requirement in spec.requirements()} == {"SPC", "EDG", "CHD"}
    of_both = replace(spec, pages=(*spec.pages, "tool.md"))
    of_the_tool = set(of_both.requirements()) - set(spec.requirements())
    assert {requirement.page for requirement in of_the_tool} == {"tool.md"}
    assert [requirement.id for requirement in of_both.requirements(frozenset({"TOL-001"}))] == ["TOL-001"]


def test_what_is_not_needed_is_dropped() -> None:
    assert fewest(tuple("abcdefgh"), lambda parts: {"c", "h"} <= set(parts)) == ("c", "h")
    assert list(chunks(4)) == [slice(0, 2), slice(2, 4), slice(0, 1), slice(1, 2), slice(2, 3), slice(3, 4)]


def test_a_case_is_made_smaller_as_long_as_there_are_attempts() -> None:
    def fails(word: Word) -> bool:
        return "a" in word.text

    def shorter(word: Word) -> Iterator[Word]:
        yield Word(word.text[1:])
        yield Word(word.text[:-1])

    assert smallest(Word("abcdefgh"), within(4, fails), shorter) == Word("abcdef")
    assert smallest(Word("abcdefgh"), within(100, fails), shorter) == Word("a")


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_what_everybody_is_judged_by_comes_first_and_then_page_by_page(profile: AnyProfile) -> None:
    places = [(each.claim != "core", profile.pages.index(each.page)) for each in profile.requirements()]
    assert places == sorted(places)
