"""A small release on which the compatibility gate is tried: schemas, events of one version, golden vectors, workflows.

It is one value, by file; `changed` gives another release, and `write` its folder. What stands under `VECTORS` is
written as a folder of golden vectors.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from perdure_conformance.reducer.histories import document, edge, node
from perdure_conformance.vectors.folder import contents_of
from perdure_conformance.vectors.vector import Vector, written

Value = Any  # JSON, as it is written in a table.
Release = Mapping[str, Value]
Edit = tuple[str, str, Value]
"""A file, a JSON Pointer into it, and what stands there from now on: `GONE` for nothing."""

GONE: Final = object()
VECTORS: Final = "fixtures"
EVENTS: Final = "schemas/event-1.json"
NEWER_EVENTS: Final = "schemas/event-2.json"
ORDER: Final = "schemas/order-1.json"
COMMON: Final = "schemas/common.json"
MENU: Final = "schemas/menu.json"
BREW: Final = "workflows/brew.json"
NEWER_BREW: Final = "workflows/brew-2.json"
SERVE: Final = "workflows/serve.json"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def _event(name: str, required: Sequence[str] = (), **members: Value) -> Value:
    return {
        "type": "object",
        "properties": {"type": {"enum": [name]}, **members},
        "required": ["type", *required],
        "additionalProperties": False,
    }


def events(version: int, **types: Value) -> Value:
    """Return the schema of the events of a version."""
    return {
        "$schema": _DIALECT,
        "$id": f"urn:sample:event-{version}",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in types],
        "$defs": types,
    }


BEGUN: Final = _event("Begun", ["order"], order={"$ref": "urn:sample:common#/$defs/Name"})
POURED: Final = _event("Poured", cups={"type": "integer", "minimum": 1, "default": 1})
POURED_ANEW: Final = _event("Poured", ["pots"], pots={"type": "integer", "minimum": 1})
SPILT: Final = _event("Spilt", cups={"type": "integer", "minimum": 0, "default": 0})

_ORDER: Final = {
    "$schema": _DIALECT,
    "$id": "urn:sample:order-1",
    "title": "An order",
    "type": "object",
    "properties": {
        "name": {"$ref": "urn:sample:common#/$defs/Name", "description": "Names it."},
        "cups": {"type": "integer", "minimum": 1, "maximum": 12},
        "grams": {"type": "number", "exclusiveMinimum": 0},
        "strength": {"enum": ["weak", "strong"], "default": "weak"},
        "note": {"type": "string", "maxLength": 80, "default": ""},
        "label": {"type": "string", "pattern": "^[a-z]+$", "default": "plain"},
        "version": {"const": 1},
        "sugar": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "table": {"oneOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None},
        "extras": {"type": "array", "items": {"type": ["string", "integer"]}, "maxItems": 5, "default": []},
        "guest": {"type": "object", "properties": {"name": {"type": "string", "default": ""}}, "default": {}},
        "payment": {"type": "object", "properties": {}, "additionalProperties": False, "default": {}},
    },
    "required": ["name", "cups"],
    "additionalProperties": False,
    "if": {"properties": {"cups": {"const": 12}}},
    "then": {"required": ["note"]},
}
_COMMON: Final = {
    "$schema": _DIALECT,
    "$id": "urn:sample:common",
    "$defs": {"Name": {"type": "string", "minLength": 1, "maxLength": 20, "description": "A name."}},
}

_BEGINS: Final = {"version": 1, "event": {"type": "Begun", "order": "tea"}}
_POURS: Final = {"version": 1, "event": {"type": "Poured", "cups": 2}}


def answer(kind: str, question: Sequence[Value], /, **expected: Value) -> Value:
    """Return a golden vector, as it stands in a release."""
    return {"kind": kind, "question": [*question], "expected": expected}


_ANSWERS: Final = {
    "an order is poured": answer(
        "reduce", [_BEGINS, _POURS], accepted=True, whole=True, state_digest="1" * 64, output={"cups": 2}
    ),
    "a cup too many": answer(
        "reduce", [_BEGINS, _POURS, _POURS], accepted=False, kind="corrupt", code="nothing_owed", sequence=3
    ),
    "a member too many": answer(
        "reduce",
        [{"version": 1, "event": {"type": "Begun", "milk": 1}}],
        accepted=False,
        kind="incompatible",
        code="unknown_member",
        sequence=1,
    ),
    "an order is refused": answer(
        "decide", [_BEGINS, {"command": {"type": "Pour"}}], allowed=False, codes=["no_tea", "no_cups"]
    ),
    "an order is taken": answer(
        "decide",
        [_BEGINS, {"command": {"type": "Pour"}}],
        allowed=True,
        version=1,
        events=[{"type": "Poured", "outcome": {"kind": "succeeded", "reason": "it is tea"}}],
    ),
    "a wrong document": answer("validate", [{}], valid=False, problems=[{"code": "missing", "pointer": ""}]),
    "a good document": answer("validate", [{"a": 1}], valid=True, content_hash="2" * 64, warnings=[]),
    "a delay": answer("jitter", [{"seed": "s"}], jitter_ms=17),
}

_HANDLER: Final = {"name": "boil-water", "version": 1}
_CHILD: Final = {"nodes": [node("wash")]}

RELEASED: Final[Release] = {
    EVENTS: events(1, Begun=BEGUN, Poured=POURED),
    ORDER: _ORDER,
    COMMON: _COMMON,
    MENU: {"$schema": _DIALECT, "type": "array", "items": {"type": "string"}},
    VECTORS: _ANSWERS,
    BREW: {
        **document(
            [node("boil", handler=_HANDLER, retry={"max_attempts": 3}), node("pour", "boil"), node("clean")],
            [edge("pour>clean")],
            initial_nodes=["boil"],
            budgets={"max_attempts": 20},
        ),
        "workflow_id": "brew",
        "workflow_version": 2,
    },
    SERVE: {
        **document([node("serve", child={"workflow": "tidy@1", "policy": "propagate"})], children={"tidy@1": _CHILD}),
        "workflow_id": "serve",
        "workflow_version": 2,
    },
}
"""The release."""


def changed(release: Release, *edits: Edit) -> Release:
    """Return a release with some places changed; a file whose pointer is empty is another one, or gone."""
    found: dict[str, Value] = copy.deepcopy(dict(release))
    for file, pointer, value in edits:
        told = copy.deepcopy(value) if value is not GONE else GONE
        if not pointer:
            _put(found, file, told)
            continue
        *steps, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
        place: Value = found[file]
        for step in steps:
            place = place[int(step)] if isinstance(place, list) else place[step]
        _put(place, last, told)
    return found


def _put(place: Value, step: str, value: Value) -> None:
    if isinstance(place, list):
        number = len(place) if step == "-" else int(step)
        place[number : number + 1] = [] if value is GONE else [value]
    elif value is GONE:
        del place[step]
    else:
        place[step] = value


def write(folder: Path, release: Release) -> Path:
    """Write a release into a folder."""
    contents = {file: json.dumps(value).encode() for file, value in release.items() if file != VECTORS}
    if VECTORS in release:
        vectors = [_vector(name, each) for name, each in release[VECTORS].items()]
        contents |= {f"{VECTORS}/{path}": content for path, content in contents_of(vectors).items()}
    for file, content in contents.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def _vector(name: str, each: Value) -> Vector:
    lines = b"".join(map(written, each["question"]))
    return Vector(each["kind"], name, tuple(each.get("requirements", ())), {".jsonl": lines}, each["expected"])
