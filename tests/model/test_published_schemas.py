from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from perdure.authoring.schemas import SCHEMAS, main
from perdure.kernel.commands import COMMANDS
from perdure.kernel.events import EVENTS
from perdure.kernel.values import JsonObject, JsonValue

PUBLISHED = Path(__file__).resolve().parents[2] / "schemas"


def test_the_published_schemas_are_those_of_the_types(tmp_path: Path) -> None:
    main(tmp_path)
    assert {path.stem for path in tmp_path.iterdir()} == set(SCHEMAS)
    for path in tmp_path.iterdir():
        assert path.read_text("utf-8") == (PUBLISHED / path.name).read_text("utf-8"), path.name


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_is_a_schema_with_its_name_and_title(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == f"urn:perdure:{name}"
    assert str(SCHEMAS[name]["title"]).startswith("A")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("outcome-1", {"kind": "succeeded", "output": [1]}),
        ("handlers-1", {"$schema": "x", "handlers": [{"name": "h", "version": 1, "inputs": ["x"]}]}),
        ("event-1", {"type": "RunCompleted"}),
        ("event-5", {"type": "VirtualTimeAdvanced", "now_ms": 0}),
        ("command-1", {"type": "AdvanceTime", "now_ms": 0}),
        ("rejection-1", {"code": "no_run", "sentence": "there is no run"}),
        (
            "specification-1",
            {
                "schema_version": 1,
                "workflow_id": "w",
                "workflow_version": 1,
                "nodes": [{"id": "a", "handler": {"name": "h", "version": 1}}],
            },
        ),
    ],
)
def test_each_accepts_what_is_right_and_refuses_a_member_too_many(name: str, value: dict[str, JsonValue]) -> None:
    schema = Draft202012Validator(SCHEMAS[name])
    assert schema.is_valid(value)
    assert not schema.is_valid({**value, "surplus": 1})


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_struct_and_member_is_described(name: str) -> None:
    for struct, schema in definitions(name).items():
        assert schema["description"].endswith("."), struct
        for member, told in schema["properties"].items():
            assert told["description"].endswith((".", "on.")), f"{struct}.{member}"


@pytest.mark.parametrize("version", EVENTS)
def test_a_version_has_its_events_and_their_members_and_none_of_a_later_version(version: int) -> None:
    schema = SCHEMAS[f"event-{version}"]
    names = {kind.__name__ for kind in EVENTS[version]}
    assert choices(schema) == names
    assert names <= set(definitions(f"event-{version}"))
    assert not [number for number in range(version + 1, 6) if f"From schema_version {number} on." in str(schema)]


@pytest.mark.parametrize(
    ("struct", "member", "since"),
    [
        ("RunCreated", "input", 3),
        ("RunCreated", "ancestors", 3),
        ("NodeStarted", "deadline_ms", 4),
        ("ChildStarted", "deadline_ms", 4),
    ],
)
def test_a_member_of_an_event_comes_with_its_version(struct: str, member: str, since: int) -> None:
    found = [definitions(f"event-{version}").get(struct, {"properties": {}}) for version in EVENTS]
    has = [version for version, schema in zip(EVENTS, found, strict=True) if member in schema["properties"]]
    assert has == list(range(since, 6))


def test_each_command_is_defined_under_its_type() -> None:
    assert choices(SCHEMAS["command-1"]) == {kind.__name__ for kind in COMMANDS}


@pytest.mark.parametrize("name", ["event-1", "event-2", "event-3", "event-4", "event-5", "command-1"])
def test_the_types_of_a_choice_are_the_names_of_their_definitions(name: str) -> None:
    for choice in choices(SCHEMAS[name]):
        schema = definitions(name)[choice]
        assert schema["properties"]["type"]["enum"] == [choice]
        assert "type" in schema["required"]


def definitions(name: str) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(SCHEMAS[name]["$defs"])
    return found


def choices(schema: JsonObject) -> set[str]:
    found: list[dict[str, str]] = msgspec.to_builtins(schema["anyOf"])
    return {choice["$ref"].rpartition("/")[2] for choice in found}
