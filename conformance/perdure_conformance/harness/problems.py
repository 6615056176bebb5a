"""What is wrong with a message, by the JSON Schemas: apart from `schemas`, since who serves one object needs no schema.

To import what reads schemas is half of what such a process takes to start.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from itertools import islice
from typing import Any, Final

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance import data
from perdure_conformance.harness.messages import PROTOCOL

_Schema = bool | Mapping[str, Any]

_ERRORS_COMPARED = 16

_RIGHT: Final[set[tuple[str, bytes]]] = set()
"""What was held against a schema and is right: one process judges many, and most of what is said is the same."""
_RIGHT_AT_MOST: Final = 2**16
_BYTES_REMEMBERED: Final = 2**20


def first_problem(schema: str, instance: JsonValue) -> str | None:
    """Return where and how `instance` breaks the schema, or None. What is right is looked at once."""
    written = msgspec.json.encode(instance)
    key = (schema, hashlib.sha256(written).digest()) if len(written) <= _BYTES_REMEMBERED else None
    if key in _RIGHT:
        return None
    error = best_match(islice(_validator(schema).iter_errors(instance), _ERRORS_COMPARED))
    if error is not None:
        return _sentence(_of_what_was_meant(error))
    if key is not None:
        if len(_RIGHT) >= _RIGHT_AT_MOST:
            _RIGHT.clear()
        _RIGHT.add(key)
    return None


def about_a_refusal(method: str, result: JsonObject) -> str:
    """Return what is wrong with a refusal that is not right."""
    word = result["refused"]
    if not isinstance(word, str) or word not in _refusals():
        return f"at /refused, {json.dumps(word)[:80]} is no refusal that there is"
    return first_problem(f"common#/$defs/{word}", result) or f"{method} is not refused so"


@cache
def _refusals() -> frozenset[str]:
    """Return the words of refusals, of all methods."""
    schemas = _documents()[f"urn:perdure:protocol-{PROTOCOL}:common"]["$defs"]
    return frozenset(word for word, schema in schemas.items() if "refused" in schema.get("properties", {}))


def _of_what_was_meant(error: ValidationError) -> ValidationError:
    """Return what is wrong with the alternative that the instance is most like, where there are several."""
    while error.validator == "anyOf" and error.context and isinstance(error.instance, dict):
        assert isinstance(error.validator_value, list)
        forms = {index: _required(form) for index, form in enumerate(error.validator_value)}
        members = error.instance.keys()
        meant = max(forms, key=lambda index: (len(forms[index] & members), -index))
        inner = best_match(each for each in error.context if each.schema_path[0] == meant)
        assert inner is not None, "an alternative that nothing is wrong with is the whole's"
        error = inner
    return error


def _required(form: _Schema) -> frozenset[str]:
    """Return the members that one alternative needs."""
    return frozenset(form.get("required", ())) if isinstance(form, Mapping) else frozenset()


def _sentence(error: ValidationError) -> str:
    place = "/".join(str(step) for step in error.absolute_path)
    message = error.message if len(error.message) <= 300 else error.message[:300] + "…"
    return f"at /{ascii(place)[1:-1]}, {ascii(message)[1:-1]}"


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(_whole(f"urn:perdure:protocol-{PROTOCOL}:{schema}"))


@cache
def _whole(place: str) -> _Schema:
    """Return what stands at a place of the schemas, with all that it refers to: to look it up takes longer than all."""
    identity, _, pointer = place.partition("#")
    found = _documents()[identity]
    for name in pointer.split("/")[1:]:
        found = found[name]
    whole: _Schema = _inlined(found, identity)
    return whole


def _inlined(schema: Any, identity: str) -> Any:
    if isinstance(schema, list):
        return [_inlined(each, identity) for each in schema]
    if not isinstance(schema, dict):
        return schema
    own = {name: _inlined(each, identity) for name, each in schema.items() if name not in {"$ref", "$defs", "$id"}}
    if "$ref" not in schema:
        return own
    named = schema["$ref"]
    there = _whole(f"{identity}{named}" if named.startswith("#") else named)
    return {**own, "allOf": [there]} if own else there


@cache
def _documents() -> Mapping[str, Any]:
    folder = data.schemas() / f"protocol-{PROTOCOL}"
    documents = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    return {document["$id"]: document for document in documents}
