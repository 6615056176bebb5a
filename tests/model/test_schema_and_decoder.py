"""The published schema and the decoder's structural pass accept exactly the same values: two readers, one language."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
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

    def __init__(self, root: Schema, chance: Random) -> None:
        self.root = root
        self.chance = chance

    def of(self, schema: Schema) -> Any:
        if "$ref" in schema:
            return self.of(self.root["$defs"][schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return self.of(self.chance.choice(schema["anyOf"]))
        if "enum" in schema:
            return self.chance.choice(schema["enum"])
        kinds = schema.get("type")
        if kinds is None:
            return self.chance.choice(ODD)
        if isinstance(kinds, list):
            return self.chance.choice([value for value in ODD if not isinstance(value, list | dict)])
        by_kind = {"string": self.text, "integer": self.integer, "array": self.array, "object": self.members}
        return by_kind[kinds](schema)

    def text(self, schema: Schema) -> str:
        least, most = schema.get("minLength", 0), schema.get("maxLength", 10**9)
        pattern = schema.get("pattern", "")
        return self.chance.choice([text for text in TEXTS if least <= len(text) <= most and re.search(pattern, text)])

    def integer(self, schema: Schema) -> float:
        least, most = schema["minimum"], schema["maximum"]
        return self.chance.choice((least, min(least + 1, most), float(least), most))

    def array(self, schema: Schema) -> list[Any]:
        least = schema.get("minItems", 0)
        drawn = [self.of(schema["items"]) for _ in range(least + self.chance.choice((0, 0, 1, 2)))]
        return list(dict.fromkeys(drawn)) if schema.get("uniqueItems") else drawn

    def members(self, schema: Schema) -> dict[str, Any]:
        if "properties" not in schema:
            if "propertyNames" not in schema:
                return self.chance.choice(({}, {"x": [1]}))
            keys, items = schema["propertyNames"], schema["additionalProperties"]
            return {self.of(keys): self.of(items) for _ in range(self.chance.choice((0, 1, 1)))}
        chosen = [name for name in schema["properties"] if name in schema["required"] or self.chance.random() < 0.4]
        self.chance.shuffle(chosen)
        return {name: self.of(schema["properties"][name]) for name in chosen}


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


def near_miss(value: Any, chance: Random) -> Any:
    """Return a value that a schema allows, changed at one place: mostly so that it is not allowed any more."""
    return with_one_edit(value, chance.choice(places(value)), chance.choice(EDITS)(chance))


Edit = Callable[[Any], Any]


def _something_odd(chance: Random) -> Edit:
    odd = chance.choice(ODD)
    return lambda _: odd


def _without_a_part(chance: Random) -> Edit:
    def edit(value: Any) -> Any:
        if isinstance(value, Mapping) and value:
            gone = chance.choice(list(value))
            return {key: item for key, item in value.items() if key != gone}
        return value[:-1] if isinstance(value, list | str) else value

    return edit


def _with_another_member(chance: Random) -> Edit:
    name = chance.choice(("colour", "id", "kind", "equals", "outcome", "children", "x y", ""))
    return lambda value: {**value, name: 1} if isinstance(value, Mapping) else value


def _grown(chance: Random) -> Edit:
    more = chance.choice(("x", "\n", "\u2028", "é"))

    def edit(value: Any) -> Any:
        if isinstance(value, str):
            return value + more
        if isinstance(value, list):
            return [*value, *value[:1]]
        return value + 1 if type(value) in {int, float} and abs(value) < 2**50 else [value]

    return edit


EDITS = (_something_odd, _without_a_part, _with_another_member, _grown)


def is_decoded(name: str, value: Any) -> bool:
    problems = Problems()
    read(KINDS[name], value, Reading(problems))
    return problems.errors == 0


def parsed(value: Any) -> Any:
    """Return the value as a reader of durable JSON has it: one number type."""
    return read_json(json.dumps(value))


@pytest.mark.parametrize(
    ("name", "examples"), [("specification-1", EXAMPLES), ("outcome-1", 1_000), ("handlers-1", 1_000)]
)
def test_schema_and_decoder_accept_the_same_values(name: str, examples: int) -> None:
    schema = schema_of(name)
    validator = Draft202012Validator(schema)
    allowed_and_refused: Counter[bool] = Counter()
    for number in range(examples):
        chance = Random(number)  # noqa: S311 - it draws examples
        drawn = Values(schema, chance).of(schema)
        value = parsed(drawn)
        assert validator.is_valid(value), f"{number}: drawn against the schema"
        assert is_decoded(name, value), (number, canonical_json(value))
        edited = parsed(near_miss(drawn, chance))
        allowed = validator.is_valid(edited)
        allowed_and_refused[allowed] += 1
        assert is_decoded(name, edited) == allowed, (number, canonical_json(edited))
    assert min(allowed_and_refused.values()) > examples // 10, allowed_and_refused
