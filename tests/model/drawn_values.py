"""Values drawn from a JSON Schema, and values changed at one place: what readers of one language must agree on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

from jsonschema import Draft202012Validator

from perdure.kernel.values import MAX_SAFE_INTEGER

SCHEMAS: Final = Path(__file__).resolve().parents[2] / "schemas"

TEXTS: Final = (
    *("", "a", "_", "a.b-c", "Z9", "n" * 128, "é", "\x00", "\U0001f600" * 128, "text/plain"),
    *("0" * 64, "0123456789abcdef" * 4, "018f3a5c-0000-7000-8000-000000000001", "f" * 8 + "-ffff" * 3 + "-" + "f" * 12),
    *("a@1", "a@9007199254740991", "_@9999999999999999", "n" * 128 + "@2", "1", "42", "9999999999999999"),
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


class Judge:
    """A published schema, as `jsonschema` reads it. What has a `type` is held against the definition of that type."""

    def __init__(self, name: str) -> None:
        self.schema = schema_of(name)
        self.by_type: Mapping[str, Draft202012Validator] = {}
        if all("type" in self._definition(choice).get("required", ()) for choice in self.schema.get("anyOf", [{}])):
            names = [choice["$ref"].rpartition("/")[2] for choice in self.schema["anyOf"]]
            self.by_type = {name: Draft202012Validator(self._inlined(self.schema["$defs"][name])) for name in names}
        self.validator = Draft202012Validator(self._inlined(self.schema))

    def allows(self, value: Any) -> bool:
        if not self.by_type:
            return self.validator.is_valid(value)
        named = value.get("type") if isinstance(value, Mapping) else None
        return isinstance(named, str) and named in self.by_type and self.by_type[named].is_valid(value)

    def _definition(self, choice: Schema) -> Schema:
        found: Schema = self.schema["$defs"][choice["$ref"].rpartition("/")[2]] if "$ref" in choice else {}
        return found

    def _inlined(self, schema: Any) -> Any:
        """Return a schema with its definitions in place of references to them, which are slow to follow."""
        if isinstance(schema, list):
            return [self._inlined(item) for item in schema]
        if not isinstance(schema, Mapping):
            return schema
        rest = {key: self._inlined(item) for key, item in schema.items() if key not in {"$ref", "$defs"}}
        return {**self._inlined(self._definition(schema)), **rest} if "$ref" in schema else rest


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
        if kinds == "boolean":
            return self.chance.random() < 0.5
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
    name = chance.choice(("colour", "id", "kind", "equals", "outcome", "children", "deadline_ms", "input", "x y", ""))
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
