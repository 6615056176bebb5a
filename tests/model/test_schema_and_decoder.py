"""The published schema and the decoder's structural pass accept exactly the same values: two readers, one language."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from perdure.kernel.outcomes import Outcome
from perdure.kernel.problems import Problems
from perdure.kernel.specification import HandlerCatalogue, Specification
from perdure.kernel.structure import Reading, read
from perdure.kernel.values import MAX_SAFE_INTEGER, canonical_json, read_json

EXAMPLES: Final = 5_000

SCHEMAS: Final = Path(__file__).resolve().parents[2] / "schemas"
KINDS: Final[Mapping[str, object]] = {
    "specification-1": Specification,
    "outcome-1": Outcome,
    "handlers-1": HandlerCatalogue,
}

TEXTS: Final = (
    *("", "a", "_", "a.b-c", "Z9", "n" * 128, "é", "\x00", "\U0001f600" * 128, "text/plain"),
    *("0" * 64, "0123456789abcdef" * 4, "018f3a5c-0000-7000-8000-000000000001", "f" * 8 + "-ffff" * 3 + "-" + "f" * 12),
    *("a@1", "a@9007199254740991", "_@9999999999999999", "n" * 128 + "@2"),
)

Schema = Mapping[str, Any]
Place = tuple[str | int, ...]

ODD: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 1.0, 1.5, 2, 5, 6, 8, 1e300, MAX_SAFE_INTEGER, "", " ", "a", "a\n", "1", "any"),
    *("succeeded", "skipped", "immediate", "a@1", "a@01", "a" * 64, "a" * 128, "n" * 129, "é", "\x00"),
    *([], {}, ["a"], [None], {"a": 1}, {"kind": "fixed"}, {"outcome": "blocked"}, {"field": "x", "equals": None}),
)


def schema_of(name: str) -> Schema:
    schema: Schema = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    return schema


class Values:
    """Values that a schema allows, drawn as the schema is read. It knows the keywords that are used, and no other."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.made: dict[str, st.SearchStrategy[Any]] = {}

    def of(self, schema: Schema) -> st.SearchStrategy[Any]:
        if "$ref" in schema:
            return self.named(schema["$ref"].rpartition("/")[2])
        if "anyOf" in schema:
            return st.one_of([self.of(choice) for choice in schema["anyOf"]])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        kinds = schema.get("type")
        if kinds is None:
            return st.sampled_from(ODD)
        if isinstance(kinds, list):
            return st.sampled_from([value for value in ODD if not isinstance(value, list | dict)])
        return {"string": self.text, "integer": self.integer, "array": self.array, "object": self.members}[kinds](
            schema
        )

    def named(self, name: str) -> st.SearchStrategy[Any]:
        if name not in self.made:
            self.made[name] = st.deferred(lambda: self.of(self.root["$defs"][name]))
        return self.made[name]

    def text(self, schema: Schema) -> st.SearchStrategy[Any]:
        if "pattern" in schema:
            return st.from_regex(schema["pattern"].removesuffix(r"(?![\s\S])"), fullmatch=True)
        return st.text(
            "aé\x00\U0001f600", min_size=schema.get("minLength", 0), max_size=min(3, schema.get("maxLength", 3))
        )

    def integer(self, schema: Schema) -> st.SearchStrategy[Any]:
        least, most = schema["minimum"], schema["maximum"]
        return st.sampled_from((least, least + 1, float(least), most)) if most > 9 else st.integers(least, most)

    def array(self, schema: Schema) -> st.SearchStrategy[Any]:
        least = schema.get("minItems", 0)
        return st.lists(self.of(schema["items"]), min_size=least, max_size=least + 1)

    def members(self, schema: Schema) -> st.SearchStrategy[Any]:
        if "properties" not in schema:
            if "propertyNames" not in schema:
                return st.sampled_from(({}, {"x": [1]}))
            return st.dictionaries(
                self.of(schema["propertyNames"]), self.of(schema["additionalProperties"]), max_size=1
            )
        members = {name: self.of(member) for name, member in schema["properties"].items()}
        required = {name: members[name] for name in schema["required"]}
        return st.fixed_dictionaries(required, optional={n: m for n, m in members.items() if n not in required})


def places(value: Any, above: Place = ()) -> list[Place]:
    found = [above]
    if isinstance(value, dict):
        return found + [place for key, item in value.items() for place in places(item, (*above, key))]
    if isinstance(value, list):
        return found + [place for index, item in enumerate(value) for place in places(item, (*above, index))]
    return found


def with_one_edit(value: Any, place: Place, edit: Callable[[Any], Any]) -> Any:
    """Return the value, changed at one place."""
    if not place:
        return edit(value)
    key, *rest = place
    changed = with_one_edit(value[key], tuple(rest), edit)
    if isinstance(value, dict):
        return {**value, key: changed}
    return [*value[: int(key)], changed, *value[int(key) + 1 :]]


@st.composite
def near_misses(draw: Callable[[Any], Any], values: st.SearchStrategy[Any]) -> Any:
    """Draw a value that a schema allows, and change it at one place: mostly so that it is not allowed any more."""
    value = draw(values)
    there = places(value)
    return with_one_edit(value, there[draw(st.integers(0, len(there) - 1))], draw(edits()))


def edits() -> st.SearchStrategy[Callable[[Any], Any]]:
    def without_a_member(which: int) -> Callable[[Any], Any]:
        def edit(value: Any) -> Any:
            if isinstance(value, Mapping) and value:
                gone = list(value)[which % len(value)]
                return {key: item for key, item in value.items() if key != gone}
            return value[:-1] if isinstance(value, list | str) else value

        return edit

    def with_another(name: str) -> Callable[[Any], Any]:
        return lambda value: {**value, name: 1} if isinstance(value, Mapping) else value

    def grown(by: str) -> Callable[[Any], Any]:
        def edit(value: Any) -> Any:
            if isinstance(value, str):
                return value + by
            if isinstance(value, list):
                return [*value, *value[:1]]
            return value + 1 if type(value) in {int, float} and abs(value) < 2**50 else [value]

        return edit

    return st.one_of(
        st.sampled_from(ODD).map(lambda odd: lambda _: odd),
        st.integers(0, 12).map(without_a_member),
        st.sampled_from(("colour", "id", "kind", "equals", "outcome", "children", "x y", "")).map(with_another),
        st.sampled_from(("x", "\n", "\u2028", "é")).map(grown),
    )


def is_decoded(name: str, value: Any) -> bool:
    problems = Problems()
    read(KINDS[name], value, Reading(problems))
    return problems.errors == 0


def parsed(value: Any) -> Any:
    """Return the value as a reader of durable JSON has it: one number type."""
    return read_json(json.dumps(value))


def search(examples: int) -> settings:
    return settings(
        max_examples=examples,
        phases=[Phase.generate, Phase.shrink],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )


@pytest.mark.parametrize(("name", "examples"), [("specification-1", EXAMPLES), ("outcome-1", 500), ("handlers-1", 500)])
def test_what_the_schema_allows_is_decoded(name: str, examples: int) -> None:
    schema = schema_of(name)
    validator = Draft202012Validator(schema)
    count: Counter[str] = Counter()

    @search(examples)
    @given(Values(schema).of(schema))
    def check(value: Any) -> None:
        count["drawn"] += 1
        value = parsed(value)
        assert validator.is_valid(value), "the strategy misreads the schema"
        assert is_decoded(name, value), canonical_json(value)

    check()
    assert count["drawn"] >= examples


@pytest.mark.parametrize(("name", "examples"), [("specification-1", EXAMPLES), ("outcome-1", 500), ("handlers-1", 500)])
def test_near_misses_are_judged_alike(name: str, examples: int) -> None:
    schema = schema_of(name)
    validator = Draft202012Validator(schema)
    count: Counter[bool] = Counter()

    @search(examples)
    @given(near_misses(Values(schema).of(schema)))
    def check(value: Any) -> None:
        value = parsed(value)
        allowed = validator.is_valid(value)
        count[allowed] += 1
        assert is_decoded(name, value) == allowed, canonical_json(value)

    check()
    assert count.total() >= examples
    assert min(count[True], count[False]) > examples // 10, count
