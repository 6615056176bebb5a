from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
import pytest

from perdure.authoring.schemas import SCHEMAS, text_of
from perdure.kernel.outcomes import KINDS, OUTCOME_KINDS, Outcome
from perdure.kernel.specification import HandlerCatalogue, Specification
from perdure.kernel.structure import AtLeastOne, Place, about, places


class Circle(msgspec.Struct, frozen=True, kw_only=True):
    """It is round."""

    kind: Annotated[Literal["circle"], about("Says which shape it is.")]
    radius: Annotated[AtLeastOne, about("Says how large it is.", since=2)] = 1


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """It is written."""

    words: Annotated[str, about("Says what is written.")] = "none"


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What is on a page."""

    parts: Annotated[tuple[Circle | Text, ...], about("Lists the parts.", since=3)] = ()
    named: Annotated[Mapping[str, Text], about("Names texts.")] = msgspec.field(default_factory=dict)
    paper: Annotated[Literal["plain", "lined"], about("Chooses.", words={"plain": "White.", "lined": "Ruled."})] = (
        "plain"
    )


def places_of(kind: object) -> dict[str, Place]:
    return {place.path: place for place in places(kind)}


def test_every_member_is_told_of_where_it_stands_from_the_outside_in() -> None:
    assert list(places_of(Page)) == [
        "parts",
        "parts[].kind",
        "parts[].radius",
        "parts[].words",
        "named",
        "named.*.words",
        "paper",
    ]


def test_a_member_is_as_new_as_what_it_is_in() -> None:
    since = {path: place.since for path, place in places_of(Page).items()}
    assert (since["parts"], since["parts[].radius"], since["named.*.words"]) == (3, 3, 1)


def test_a_place_says_what_may_stand_there() -> None:
    radius = places_of(Page)["parts[].radius"]
    assert (radius.required, radius.default) == (False, 1)
    assert radius.schema == {"type": "integer", "minimum": 1, "maximum": 2**53 - 1}
    assert places_of(Page)["parts[].kind"].required


def test_each_word_says_what_it_does() -> None:
    told = places_of(Page)
    assert told["paper"].words == {"plain": "White.", "lined": "Ruled."}
    assert told["parts[].kind"].words == {"circle": "It is round."}
    assert told["parts"].words == {}
    assert places_of(Specification)["nodes[].retry.backoff"].words["immediate"] == "The next attempt comes at once."


@pytest.mark.parametrize("kind", [Specification, Outcome, HandlerCatalogue])
def test_whoever_must_choose_a_word_is_told_what_each_does(kind: object) -> None:
    for place in places(kind):
        if "enum" in place.schema:
            assert list(place.words) == place.schema["enum"], place.path
        assert all(meaning.endswith(".") for meaning in place.words.values()), place.path


def test_the_schema_says_what_each_word_does() -> None:
    assert "`any_succeeded`: One of them" in text_of(SCHEMAS["specification-1"])


def test_what_each_kind_of_outcome_means_is_told_in_order() -> None:
    assert tuple(KINDS) == OUTCOME_KINDS
