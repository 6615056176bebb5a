"""A document with everything there is, and what is wrong with it after one edit, wherever that can be made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from perdure.kernel.problems import Problems
from perdure.kernel.specification import Specification
from perdure.kernel.structure import Reading, read
from perdure.kernel.validation.validator import validate
from perdure_conformance.spec.documents import Value, edge, node, workflow
from perdure_conformance.spec.pairs.pair import Pair, pair
from perdure_conformance.spec.places import edited, parts, pointer_of

EVERYTHING: Final[Mapping[str, Value]] = workflow(
    node(
        "plan",
        input={"goal": "x", "depth": [1, {"y": None}]},
        artifacts={
            "brief": {
                "artifact_id": "018f3a5c-0000-7000-8000-000000000001",
                "byte_length": 0,
                "sha256": "0" * 64,
                "media_type": "text/plain",
            }
        },
        outputs=["steps", "risk"],
        input_mapping={"who": {"run_input": "requester"}},
        signals=["approved"],
        max_activations=3,
        retry={
            "max_attempts": 5,
            "classes": ["retryable_failure", "permanent_failure"],
            "backoff": {
                "kind": "exponential",
                "initial_ms": 0,
                "multiplier": 2,
                "maximum_ms": 9_007_199_254_740_991,
            },
            "jitter": {"seed": "", "maximum_ms": 0},
            "attempt_deadline_ms": 1,
        },
    ),
    node(
        "check",
        child={"workflow": "check@2", "policy": "propagate", "outputs": {"found": "result"}},
        input_mapping={"of": {"node": "plan", "output": "steps"}},
        dependencies=["plan"],
    ),
    node("fix", retry={"backoff": {"kind": "fixed", "delay_ms": 1}}),
    node("rest", retry={"backoff": {"kind": "immediate"}, "jitter": {"seed": "s", "maximum_ms": 1}}),
    node("end", dependencies=["check"], dependency_policy="all_completed"),
    edges=[
        edge("check", "fix", when={"field": "found", "equals": None}, mode="exclusive"),
        edge("check", "fix", when={"field": "found", "equals": False}, mode="exclusive"),
        edge("fix", "fix", when={"outcome": "changes_requested"}),
    ],
    initial_nodes=["plan", "rest"],
    inputs=["requester"],
    outputs={"steps": {"node": "plan", "output": "steps"}},
    children={
        "check@2": {
            "nodes": [node("look", outputs=["seen"])],
            "inputs": ["of"],
            "outputs": {"result": {"node": "look", "output": "seen"}},
            "budgets": {"max_attempts": 1, "max_transitions": 1, "max_elapsed_ms": 1},
            "cancellation": "cascade",
        }
    },
    budgets={"max_attempts": 10},
    cancellation="cascade",
)
"""Every member of every object, and every kind of it."""


def objects_take_no_more() -> Iterator[Pair]:
    """SPC-003: one more member of each object whose members are listed."""
    reading = Reading(Problems())
    read(Specification, EVERYTHING, reading)
    structs = frozenset(reading.places.values())
    for place, value in parts(EVERYTHING):
        if isinstance(value, Mapping) and pointer_of(place) in structs:
            for name in ("colour", "x-note", "id "):
                changed = edited(EVERYTHING, place, partial(_with, name))
                yield pair("SPC-003", f"{name!r} in {pointer_of(place) or 'the document'}", changed, EVERYTHING)


def members_that_are_required() -> Iterator[Pair]:
    """SPC-003: each member that is missed if it is not there."""
    for place, _ in parts(EVERYTHING):
        if place and isinstance(place[-1], str):
            changed = edited(EVERYTHING, place[:-1], partial(_without, place[-1]))
            yield from _if_only("missing_member", "SPC-003", f"no {pointer_of(place)}", changed)


def types_that_are_wrong() -> Iterator[Pair]:
    """SPC-003: each value as one of another type."""
    for place, value in parts(EVERYTHING):
        for other in _of_other_types(value):
            name = f"{other!r} as {pointer_of(place) or 'the document'}"
            yield from _if_only("wrong_type", "SPC-003", name, edited(EVERYTHING, place, partial(_instead, other)))


def words_that_are_wrong() -> Iterator[Pair]:
    """SPC-004: each word, spelt in another way."""
    for place, value in parts(EVERYTHING):
        if isinstance(value, str):
            for other in (value.replace("_", "-"), value.upper(), value[:-1], value + "d", value + " ", "ignore", ""):
                name = f"{other!r} as {pointer_of(place)}"
                yield from _if_only(
                    "unknown_word", "SPC-004", name, edited(EVERYTHING, place, partial(_instead, other))
                )


def strings_of_a_wrong_form() -> Iterator[Pair]:
    """SPC-006: each string and each key with one more character, or none."""
    for place, value in parts(EVERYTHING):
        for spoil in (lambda text: text + "\n", lambda text: text + "\u0661", lambda text: text + " ", lambda _: ""):
            if isinstance(value, str):
                spoilt = edited(EVERYTHING, place, spoil)
                yield from _if_only("wrong_form", "SPC-006", f"{spoil(value)!r} as {pointer_of(place)}", spoilt)
            if place and isinstance(place[-1], str):
                spoilt = edited(EVERYTHING, place[:-1], partial(_renamed, place[-1], spoil(place[-1])))
                name = f"{spoil(place[-1])!r} for the key {pointer_of(place)}"
                yield from _if_only("wrong_form", "SPC-006", name, spoilt)


def _if_only(code: str, requirement: str, name: str, changed: Value) -> Iterator[Pair]:
    """Yield a pair if the edit breaks the document in this way and in no other."""
    found = [problem.code for problem in validate(changed).problems if problem.severity == "error"]
    if found == [code]:
        yield pair(requirement, name, changed, EVERYTHING)


def _of_other_types(value: Value) -> tuple[Value, ...]:
    match value:
        case bool() | None:
            return ([], {})
        case int():
            return (True, "1", None, value + 0.5)
        case str():
            return (1, None, ["a"])
        case Mapping():
            return ([], None)
        case _:
            return ({}, "a", None)


def _with(name: str, members: Mapping[str, Value]) -> Value:
    return {**members, name: 1}


def _without(gone: str, members: Mapping[str, Value]) -> Value:
    return {name: item for name, item in members.items() if name != gone}


def _instead(other: Value, _: Value) -> Value:
    return other


def _renamed(key: str, to: str, members: Mapping[str, Value]) -> Value:
    return {to if name == key else name: item for name, item in members.items()}


PAIRS = (
    objects_take_no_more,
    members_that_are_required,
    types_that_are_wrong,
    words_that_are_wrong,
    strings_of_a_wrong_form,
)
