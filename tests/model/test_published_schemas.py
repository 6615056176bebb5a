from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from perdure.authoring.schemas import SCHEMAS, main
from perdure.kernel.values import JsonValue

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
