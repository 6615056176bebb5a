from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NewType

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import UNSET, Meta, UnsetType
from tests.model.documents import ARTIFACT, GONE, Document, changed, full, is_for_people
from tests.model.helpers import MAX

from perdure.kernel.outcomes import Outcome
from perdure.kernel.problems import Problem, Problems
from perdure.kernel.specification import HandlerCatalogue, Specification
from perdure.kernel.structure import (
    AtLeastOne,
    AtLeastZero,
    Json,
    Members,
    Reading,
    Scalar,
    about,
    json_schema,
    read,
    whole,
)
from perdure.kernel.values import JsonObject, JsonValue

# Types of the test

Tag = NewType("Tag", str)
TagText = Annotated[Tag, whole("[a-z]{1,3}")]
Title = Annotated[str, Meta(min_length=1, max_length=3)]
Grade = Annotated[int, Meta(ge=1, le=5, extra={"code": "no_grade"})]
Key = Annotated[str, whole("k[0-9]", code="no_key")]


class Circle(msgspec.Struct, frozen=True, kw_only=True):
    """A round thing."""

    kind: Annotated[Literal["circle"], about("That it is round.")]
    radius: Annotated[AtLeastZero, about("How large it is.")]


class Square(msgspec.Struct, frozen=True, kw_only=True):
    """A thing with corners."""

    kind: Annotated[Literal["square", "box"], about("That it has corners.")]
    side: Annotated[AtLeastOne, about("How long.")] = 2


class ByName(msgspec.Struct, frozen=True, kw_only=True):
    """What has a name."""

    name: Annotated[TagText, about("Its name.")]


class ByValue(msgspec.Struct, frozen=True, kw_only=True):
    """What has a value."""

    value: Annotated[Scalar, about("Its value.")]
    note: Annotated[str, about("A note.", since=2)] | None = None


class Everything(msgspec.Struct, frozen=True, kw_only=True):
    """One member of each shape.

    This is not for readers of the schema.
    """

    text: Annotated[str, about("Any text.")] = "none"
    tag: Annotated[TagText, about("A tag.")] | None = None
    title: Annotated[Title, about("A title.")] = "abc"
    grade: Annotated[Grade, about("A grade.", since=3)] = 1
    word: Annotated[Literal["on", "off"], about("A word.")] = "off"
    switch: Annotated[bool, about("A switch.")] = False
    scalar: Annotated[Scalar, about("A scalar.")] = None
    output: Annotated[Json, about("Anything.")] | UnsetType = UNSET
    members: Annotated[Members, about("Any object.")] = msgspec.field(default_factory=dict)
    tags: Annotated[tuple[TagText, ...], Meta(min_length=1, max_length=2), about("Some tags.")] = ()
    table: Annotated[Mapping[Key, AtLeastOne], about("Numbers by key.")] = msgspec.field(default_factory=dict)
    shape: Annotated[Circle | Square, about("A shape.")] | None = None
    pick: Annotated[Literal["any"] | ByName | ByValue, about("A choice.")] = "any"
    picks: Annotated[tuple[ByName | ByValue, ...], about("Choices.")] = ()
    renamed: Annotated[str, about("Its member has another name.")] = msgspec.field(name="$other", default="")


class Needy(msgspec.Struct, frozen=True, kw_only=True):
    """What is nothing without its members."""

    shape: Annotated[Circle | Square, about("A shape.")]
    scalar: Annotated[Scalar, about("A scalar.")]


def decoded(kind: object, value: JsonValue, version: int | None = None) -> tuple[object, list[Problem]]:
    reading = Reading(Problems(), version)
    found = read(kind, value, reading)
    assert all(is_for_people(problem) for problem in reading.problems.kept)
    return found, reading.problems.kept


def problems_of(kind: object, value: JsonValue, version: int | None = None) -> list[tuple[str, str]]:
    return [(problem.code, problem.pointer) for problem in decoded(kind, value, version)[1]]


# Shapes

RIGHT: list[tuple[Document, Everything]] = [
    ({}, Everything()),
    ({"text": ""}, Everything(text="")),
    ({"text": "\x00 é\n"}, Everything(text="\x00 é\n")),
    ({"tag": "abc"}, Everything(tag=Tag("abc"))),
    ({"title": "é"}, Everything(title="é")),
    ({"title": "\U0001f600" * 3}, Everything(title="\U0001f600" * 3)),
    ({"grade": 1}, Everything(grade=1)),
    ({"grade": 5.0}, Everything(grade=5)),
    ({"word": "on"}, Everything(word="on")),
    ({"switch": True}, Everything(switch=True)),
    ({"switch": False}, Everything(switch=False)),
    ({"scalar": None}, Everything(scalar=None)),
    ({"scalar": False}, Everything(scalar=False)),
    ({"scalar": 1.5}, Everything(scalar=1.5)),
    ({"scalar": "x"}, Everything(scalar="x")),
    ({"output": None}, Everything(output=None)),
    ({"output": [{"a": 1}]}, Everything(output=[{"a": 1}])),
    ({"members": {"a/b": [1]}}, Everything(members={"a/b": [1]})),
    ({"tags": ["a", "b"]}, Everything(tags=(Tag("a"), Tag("b")))),
    ({"table": {"k1": 1, "k2": MAX}}, Everything(table={"k1": 1, "k2": MAX})),
    ({"shape": {"kind": "circle", "radius": 0}}, Everything(shape=Circle(kind="circle", radius=0))),
    ({"shape": {"side": 3, "kind": "box"}}, Everything(shape=Square(kind="box", side=3))),
    ({"shape": {"kind": "square"}}, Everything(shape=Square(kind="square", side=2))),
    ({"pick": "any"}, Everything(pick="any")),
    ({"pick": {"name": "a"}}, Everything(pick=ByName(name=Tag("a")))),
    ({"pick": {"value": None}}, Everything(pick=ByValue(value=None))),
    ({"picks": [{"value": 1}, {"name": "a"}]}, Everything(picks=(ByValue(value=1), ByName(name=Tag("a"))))),
    ({"$other": "x"}, Everything(renamed="x")),
]


@pytest.mark.parametrize(("value", "expected"), RIGHT)
def test_what_a_type_allows_is_decoded_with_its_defaults(value: Document, expected: Everything) -> None:
    assert decoded(Everything, value) == (expected, [])


WRONG: list[tuple[Document, str, str]] = [
    ({"text": 1}, "wrong_type", "/text"),
    ({"text": None}, "wrong_type", "/text"),
    ({"tag": "abcd"}, "wrong_form", "/tag"),
    ({"tag": "a\n"}, "wrong_form", "/tag"),
    ({"tag": ""}, "wrong_form", "/tag"),
    ({"tag": None}, "wrong_type", "/tag"),
    ({"title": ""}, "wrong_form", "/title"),
    ({"title": "abcd"}, "wrong_form", "/title"),
    ({"grade": 0}, "no_grade", "/grade"),
    ({"grade": 6}, "no_grade", "/grade"),
    ({"grade": 1.5}, "wrong_type", "/grade"),
    ({"grade": True}, "wrong_type", "/grade"),
    ({"grade": "1"}, "wrong_type", "/grade"),
    ({"word": "On"}, "unknown_word", "/word"),
    ({"word": True}, "wrong_type", "/word"),
    ({"switch": 1}, "wrong_type", "/switch"),
    ({"switch": "true"}, "wrong_type", "/switch"),
    ({"switch": None}, "wrong_type", "/switch"),
    ({"scalar": []}, "wrong_type", "/scalar"),
    ({"scalar": {}}, "wrong_type", "/scalar"),
    ({"members": []}, "wrong_type", "/members"),
    ({"members": None}, "wrong_type", "/members"),
    ({"tags": []}, "out_of_range", "/tags"),
    ({"tags": ["a", "b", "c"]}, "out_of_range", "/tags"),
    ({"tags": "ab"}, "wrong_type", "/tags"),
    ({"tags": {"0": "a"}}, "wrong_type", "/tags"),
    ({"tags": ["a", 1]}, "wrong_type", "/tags/1"),
    ({"table": {"x/~": 1}}, "no_key", "/table/x~1~0"),
    ({"table": {"k1": 0}}, "out_of_range", "/table/k1"),
    ({"table": {"k1": MAX + 1}}, "out_of_range", "/table/k1"),
    ({"table": []}, "wrong_type", "/table"),
    ({"shape": "circle"}, "wrong_type", "/shape"),
    ({"shape": {}}, "missing_member", "/shape"),
    ({"shape": {"kind": "ring"}}, "unknown_word", "/shape/kind"),
    ({"shape": {"kind": 1}}, "wrong_type", "/shape/kind"),
    ({"shape": {"kind": "circle"}}, "missing_member", "/shape"),
    ({"shape": {"kind": "circle", "radius": -1}}, "out_of_range", "/shape/radius"),
    ({"shape": {"kind": "square", "radius": 1}}, "unknown_member", "/shape/radius"),
    ({"pick": "all"}, "unknown_word", "/pick"),
    ({"pick": 1}, "wrong_type", "/pick"),
    ({"pick": {}}, "missing_member", "/pick"),
    ({"pick": {"name": 1}}, "wrong_type", "/pick/name"),
    ({"pick": {"value": []}}, "wrong_type", "/pick/value"),
    ({"picks": ["any"]}, "wrong_type", "/picks/0"),
    ({"picks": [{"value": 1}, {"note": "x"}]}, "missing_member", "/picks/1"),
    ({"renamed": "x"}, "unknown_member", "/renamed"),
    ({"a/b~": 1}, "unknown_member", "/a~1b~0"),
]


@pytest.mark.parametrize(("value", "code", "place"), WRONG)
def test_what_a_type_does_not_allow_is_told_with_its_place(value: Document, code: str, place: str) -> None:
    assert problems_of(Everything, value) == [(code, place)]


def test_every_difference_is_told_at_once() -> None:
    together: Document = {}
    for value, _, _ in WRONG:
        together = value | together
    found = problems_of(Everything, together)
    assert len(found) == len(together)
    assert {place.split("/")[1] for _, place in found} == {
        key.replace("~", "~0").replace("/", "~1") for key in together
    }


@pytest.mark.parametrize("value", [None, 1, "x", [], [{}]], ids=repr)
def test_a_struct_is_read_from_an_object(value: JsonValue) -> None:
    assert problems_of(Everything, value) == [("wrong_type", "")]
    assert decoded(Everything, value)[0] is None


# What stands for what is wrong


@pytest.mark.parametrize("value", [value for value, _, _ in WRONG])
def test_the_rest_is_decoded_whatever_is_wrong(value: Document) -> None:
    found, _ = decoded(Everything, {"text": "kept"} | value)
    assert isinstance(found, Everything)
    if "text" not in value:
        assert found.text == "kept"


def test_an_item_that_nothing_can_stand_for_is_left_out() -> None:
    found, problems = decoded(Everything, {"picks": [{"name": "a"}, 1, {"value": 2}]})
    assert len(problems) == 1
    assert isinstance(found, Everything)
    assert found.picks == (ByName(name=Tag("a")), ByValue(value=2))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, [("missing_member", ""), ("missing_member", "")]),
        ({"scalar": 1}, [("missing_member", "")]),
        ({"shape": {"kind": "square"}}, [("missing_member", "")]),
        ({"shape": {"kind": "square"}, "scalar": []}, [("wrong_type", "/scalar")]),
        ({"shape": 1, "scalar": 1}, [("wrong_type", "/shape")]),
    ],
)
def test_a_struct_without_a_member_that_nothing_can_stand_for_is_none(
    value: JsonObject, expected: list[tuple[str, str]]
) -> None:
    assert problems_of(Needy, value) == expected
    assert decoded(Needy, value)[0] is None


def test_a_whole_struct_is_decoded() -> None:
    expected = Needy(shape=Square(kind="box"), scalar=None)
    assert decoded(Needy, {"shape": {"kind": "box"}, "scalar": None}) == (expected, [])


def test_a_reading_knows_where_each_struct_stands_and_what_is_missing() -> None:
    reading = Reading(Problems())
    found = read(Everything, {"shape": {"kind": "square"}, "picks": [{"name": "a"}, {"value": 1}]}, reading)
    assert isinstance(found, Everything)
    assert [reading.places[id(struct)] for struct in (found, found.shape, *found.picks)] == [
        "",
        "/shape",
        "/picks/0",
        "/picks/1",
    ]
    assert reading.made_up == reading.incomplete == set()
    read(Everything, {"extra": 1}, reading)
    assert reading.incomplete == {""}


def test_what_is_made_up_is_known_by_its_place_and_all_that_it_is_in() -> None:
    reading = Reading(Problems())
    read(Everything, {"shape": {"kind": "square"}, "picks": [{"name": 1}, 2]}, reading)
    assert reading.made_up == {"/picks", "/picks/0", "/picks/0/name", "/picks/1"}
    assert reading.incomplete == {"/picks"}


# Versions


@pytest.mark.parametrize(("version", "is_told"), [(1, True), (2, True), (3, False), (None, False)])
def test_a_member_of_a_later_version_is_told(version: int | None, is_told: bool) -> None:
    expected = [("member_of_later_version", "/grade")] if is_told else []
    assert problems_of(Everything, {"grade": 1}, version) == expected


def test_a_member_of_a_later_version_is_told_at_any_depth() -> None:
    value: JsonValue = {"picks": [{"value": 1, "note": "x"}]}
    assert problems_of(Everything, value, 1) == [("member_of_later_version", "/picks/0/note")]
    assert problems_of(Everything, value, 2) == []


# Suggestions


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ({"word": "of"}, "`off`"),
        ({"txet": 1}, "`text`"),
        ({"shape": {"kind": "sqare"}}, "`square`"),
        ({"shape": {"kind": "cirlce"}}, "`circle`"),
        ({"pick": "ayn"}, "`any`"),
    ],
)
def test_the_word_that_was_probably_meant_is_named(value: JsonObject, meant: str) -> None:
    (problem,) = decoded(Everything, value)[1]
    assert f"did you mean {meant}?" in problem.sentence


@pytest.mark.parametrize("value", [{"word": "qqqq"}, {"qqqq": 1}, {"pick": "qqqq"}, {"shape": {"kind": "qqqq"}}])
def test_without_such_a_word_none_is_named(value: JsonObject) -> None:
    (problem,) = decoded(Everything, value)[1]
    assert "did you mean" not in problem.sentence


def test_suggestions_end_and_problems_do_not() -> None:
    found = decoded(Everything, {f"tag{number}": 1 for number in range(100)})[1]
    assert len(found) == 100
    assert 0 < sum("did you mean" in problem.sentence for problem in found) < 100


# JSON Schema


def schema_of(kind: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(json_schema(kind, identity="urn:test", title="A test")))
    return found


def test_the_schema_has_every_shape() -> None:
    schema = schema_of(Everything)
    Draft202012Validator.check_schema(schema)
    assert {key: schema[key] for key in ("$schema", "$id", "title", "$ref")} == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:test",
        "title": "A test",
        "$ref": "#/$defs/Everything",
    }
    assert list(schema["$defs"]) == ["ByName", "ByValue", "Circle", "Everything", "Square"]
    everything = schema["$defs"]["Everything"]
    assert everything["description"] == "One member of each shape."
    assert everything["required"] == []
    assert everything["additionalProperties"] is False
    assert everything["properties"]["text"] == {"type": "string", "description": "Any text.", "default": "none"}
    assert everything["properties"]["grade"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 5,
        "description": "A grade. From schema_version 3 on.",
        "default": 1,
    }
    assert everything["properties"]["word"]["enum"] == ["on", "off"]
    assert everything["properties"]["tags"]["minItems"] == 1
    assert everything["properties"]["tags"]["maxItems"] == 2
    assert schema["$defs"]["Circle"]["required"] == ["kind", "radius"]
    assert schema["$defs"]["Square"]["required"] == ["kind"]


def agrees(kind: object, value: JsonValue) -> bool:
    """Tell whether the schema of a type and its decoder accept the same."""
    return Draft202012Validator(schema_of(kind)).is_valid(value) == (problems_of(kind, value) == [])


@pytest.mark.parametrize("value", [*(value for value, _ in RIGHT), *(value for value, _, _ in WRONG), None, 1, []])
def test_schema_and_decoder_accept_the_same(value: JsonValue) -> None:
    assert agrees(Everything, value)


VALUES: list[Any] = [
    *[GONE, None, True, False, 0, 1, 1.0, 2.0, 1.5, -1, 5, 6, MAX, MAX + 1, "", "a", "a\n", "1", "any", "é", "a@1"],
    *["succeeded", "skipped", "immediate", "exclusive", "a" * 128, "a" * 129, "0" * 64, "0" * 64 + "\n"],
    *[[], {}, [1], ["a"], {"a": 1}, {"kind": "fixed", "delay_ms": 0}, {"field": "a", "equals": None}],
    *[{"outcome": "blocked"}, {"outcome": "x"}, {"node": "a", "output": "b"}, {"run_input": "a"}, dict(ARTIFACT)],
]


def every_place(value: JsonValue, at: str = "") -> Iterator[str]:
    """Yield the place of each value within a document, and of one more member or item of each object or array."""
    if at:
        yield at
    if isinstance(value, dict):
        for key, member in value.items():
            yield from every_place(member, f"{at}/{key}")
        yield f"{at}/extra"
    elif isinstance(value, list):
        for position, member in enumerate(value):
            yield from every_place(member, f"{at}/{position}")
        yield f"{at}/{len(value)}"


FULL = full() | {"content_hash": "0" * 64}
OUTCOMES: list[Document] = [
    {"kind": "succeeded", "output": {"a": 1}, "evidence": [ARTIFACT]},
    {"kind": "changes_requested", "reason": "why", "artifact": ARTIFACT},
    {"kind": "blocked", "reason": "why", "evidence": []},
]
HANDLERS: Document = {"$schema": "x", "handlers": [{"name": "work", "version": 1, "inputs": ["a"]}]}


@pytest.mark.parametrize(
    ("kind", "value"),
    [(Specification, FULL), *((Outcome, outcome) for outcome in OUTCOMES), (HandlerCatalogue, HANDLERS)],
    ids=["specification", "succeeded", "changes_requested", "blocked", "handlers"],
)
def test_schema_and_decoder_accept_the_same_documents(kind: object, value: Document) -> None:
    schema = Draft202012Validator(schema_of(kind))
    places = list(every_place(value))
    assert schema.is_valid(value)
    assert problems_of(kind, value) == []

    @settings(deadline=None, max_examples=400)
    @given(st.sampled_from(places), st.sampled_from(VALUES))
    def agree(at: str, other: JsonValue) -> None:
        odd = changed(value, at, other)
        assert schema.is_valid(odd) == (problems_of(kind, odd) == []), odd

    agree()


@pytest.mark.parametrize("kind", [Specification, Outcome, HandlerCatalogue])
def test_every_member_has_a_description_that_ends(kind: object) -> None:
    schema = schema_of(kind)
    for name, struct in schema["$defs"].items():
        assert struct["description"].endswith("."), name
        for member, told in struct["properties"].items():
            assert told.get("description", "").endswith("."), f"{name}.{member}"


@pytest.mark.parametrize("kind", [Specification, Outcome, HandlerCatalogue])
def test_every_default_is_one_that_the_schema_allows(kind: object) -> None:
    schema = schema_of(kind)
    for struct in schema["$defs"].values():
        for told in struct["properties"].values():
            if "default" in told:
                assert Draft202012Validator({**told, "$defs": schema["$defs"]}).is_valid(told["default"])


@pytest.mark.parametrize(
    ("struct", "member", "default"),
    [
        ("RetryPolicy", "max_attempts", 3),
        ("RetryPolicy", "classes", ["retryable_failure"]),
        ("RetryPolicy", "backoff", {"kind": "immediate"}),
        ("Budgets", "max_attempts", 10_000),
        ("Budgets", "max_transitions", 100_000),
        ("Node", "dependency_policy", "all_succeeded"),
        ("Edge", "when", "any"),
        ("Edge", "mode", "parallel"),
        ("Specification", "cancellation", "cascade"),
    ],
)
def test_the_schema_says_the_defaults_of_the_page(struct: str, member: str, default: JsonValue) -> None:
    assert schema_of(Specification)["$defs"][struct]["properties"][member]["default"] == default


@pytest.mark.parametrize(
    ("struct", "member", "since"),
    [
        *(("Specification", name, 3) for name in ("edges", "initial_nodes", "inputs", "outputs", "children")),
        ("Specification", "budgets", 4),
        ("Specification", "cancellation", 5),
        *(("Node", name, 2) for name in ("artifacts", "dependency_policy")),
        *(("Node", name, 3) for name in ("child", "input_mapping", "max_activations")),
        ("Node", "retry", 4),
        ("Node", "signals", 5),
    ],
)
def test_the_schema_says_which_version_introduced_a_member(struct: str, member: str, since: int) -> None:
    told = schema_of(Specification)["$defs"][struct]["properties"][member]["description"]
    assert told.endswith(f"From schema_version {since} on.")
