"""Changes of a small release that the compatibility gate is tried on: each breaking one beside a compatible twin.

A row is what is about to be told apart, and both sides of it: the edits, and every kind of change that is then told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from perdure.kernel.values import digest
from perdure_conformance.gate.policy import Code
from perdure_conformance.reducer.histories import edge, node
from perdure_conformance.tool.released import (
    BEGUN,
    BREW,
    COMMON,
    EVENTS,
    GONE,
    MENU,
    NEWER_BREW,
    NEWER_EVENTS,
    ORDER,
    POURED,
    POURED_ANEW,
    RELEASED,
    SERVE,
    SPILT,
    VECTORS,
    Edit,
    Value,
    answer,
    changed,
    events,
)


@dataclass(frozen=True, slots=True)
class Planted:
    """One change, and what is to be told of it."""

    name: str
    codes: frozenset[Code]
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Twins:
    """A change that breaks something, and its twin that does not."""

    breaking: Planted
    compatible: Planted


def _planted(name: str, codes: str, *edits: Edit) -> Planted:
    """Return a change that is told by these codes, and no others; by none if there are none."""
    return Planted(name, frozenset(msgspec.convert(codes.split(), list[Code])), edits)


def _of_order(member: str, value: Value) -> Edit:
    return (ORDER, f"/properties/{member}", value)


def _of_vectors(pointer: str, value: Value) -> Edit:
    return (VECTORS, f"/{pointer}", value)


_BREW: Final = RELEASED[BREW]
_SERVE: Final = RELEASED[SERVE]
_TEXT: Final = {"type": "string"}
_NAMED: Final = {**_TEXT, "default": ""}
_NOTE: Final = RELEASED[ORDER]["properties"]["note"]
_BEGUN_2: Final = {"version": 2, "event": {"type": "Begun", "order": "tea"}}
_POURED_2: Final = {"version": 2, "event": {"type": "Poured", "pots": 1}}
_SPILT_2: Final = {"version": 2, "event": {"type": "Spilt"}}
_POURED_1: Final = {"version": 1, "event": {"type": "Poured", "cups": 2}}
_NEWER: Final[Edit] = (NEWER_EVENTS, "", events(2, Begun=BEGUN, Poured=POURED_ANEW))
_NEWER_HISTORY: Final[Edit] = (
    VECTORS,
    "/an order of version 2",
    answer("reduce", [_BEGUN_2, _POURED_2], accepted=True, whole=True, state_digest="3" * 64, output={}),
)


def _upcast(**members: Value) -> Edit:
    newest = {"type": "Poured", **members, "recorded_version": 1}
    return (VECTORS, "/pots for cups", answer("upcast", [_POURED_1], events=[newest]))


def _next_version(*edits: Edit, file: str = BREW) -> Value:
    """Return a workflow under its next version, with edits of its file."""
    return changed(RELEASED, (file, "/workflow_version", 3), *edits)[file]


_STEEP: Final = (BREW, "/nodes/1", node("steep", "boil"))
_AFTER_STEEP: Final = (BREW, "/edges/0", edge("steep>clean"))
_STRONGER: Final = (BREW, "/nodes/0/handler/version", 2)
_MORE_TRIES: Final = (BREW, "/nodes/0/retry/max_attempts", 9)
_WHEN: Final = (BREW, "/edges/0/when", {"outcome": "succeeded"})
_TIDY_2: Final = {"workflow": "tidy@2", "policy": "propagate"}
_WIPE: Final = {"nodes": [node("wash"), node("wipe")]}
_WITHOUT_CLEAN: Final[tuple[Edit, ...]] = ((BREW, "/nodes/2", GONE), (BREW, "/edges", GONE))

NEXT_WITHOUT_CLEAN: Final[Value] = _next_version(*_WITHOUT_CLEAN)
"""The next version of a workflow, in which a node is gone."""

OF_SCHEMAS: Final[tuple[Twins, ...]] = (
    # Members
    Twins(
        _planted("a member is new, and has no default", "optional_without_default", _of_order("milk", _TEXT)),
        _planted("a member is new, and has a default", "member_added", _of_order("milk", _NAMED)),
    ),
    Twins(
        _planted(
            "a member is new, and required", "member_required", _of_order("milk", _TEXT), (ORDER, "/required/-", "milk")
        ),
        _planted("the words to a member are others", "text_changed", _of_order("note/description", "Says more.")),
    ),
    Twins(
        _planted("a member is gone", "member_removed", _of_order("note", GONE)),
        _planted("the title is another", "text_changed", (ORDER, "/title", "What is ordered")),
    ),
    Twins(
        _planted("a member has another name", "member_renamed", _of_order("note", GONE), _of_order("notes", _NOTE)),
        _planted(
            "words stand beside a reference",
            "text_changed",
            _of_order("name/description", "Names the order."),
        ),
    ),
    Twins(
        _planted(
            "a member that is nothing alike came for one that went",
            "member_removed member_added",
            _of_order("note", GONE),
            _of_order("milk", {"type": "boolean", "default": False}),
        ),
        _planted("what no standard knows stands there", "text_changed", _of_order("note/x-shown", "yes")),
    ),
    Twins(
        _planted("a member must be there", "member_required", (ORDER, "/required/-", "note")),
        _planted(
            "a required member may be missing",
            "made_optional",
            (ORDER, "/required/1", GONE),
            _of_order("cups/default", 1),
        ),
    ),
    Twins(
        _planted(
            "a required member may be missing, and has no default",
            "optional_without_default",
            (ORDER, "/required/1", GONE),
        ),
        _planted("what is required stands in another order", "", (ORDER, "/required", ["cups", "name"])),
    ),
    Twins(
        _planted("a default is another", "default_changed", _of_order("strength/default", "strong")),
        _planted("an example is new", "text_changed", _of_order("strength/examples", ["strong"])),
    ),
    Twins(
        _planted("a default is gone", "default_changed", _of_order("note/default", GONE)),
        _planted("a comment is new", "text_changed", _of_order("note/$comment", "short")),
    ),
    Twins(
        _planted("a member within a member is gone", "member_removed", _of_order("guest/properties/name", GONE)),
        _planted("a member within a member is new", "member_added", _of_order("guest/properties/title", _NAMED)),
    ),
    Twins(
        _planted(
            "no other members may be there", "limit_tightened", (ORDER, "/properties/guest/additionalProperties", False)
        ),
        _planted("other members may be there", "limit_loosened", _of_order("payment/additionalProperties", GONE)),
    ),
    # Values
    Twins(
        _planted("a value is gone", "value_removed", _of_order("strength/enum", ["weak"])),
        _planted("a value is new", "value_added", _of_order("strength/enum/-", "mild")),
    ),
    Twins(
        _planted(
            "values have another spelling",
            "value_removed value_added",
            _of_order("strength/enum/1", "STRONG"),
        ),
        _planted("values stand in another order", "", _of_order("strength/enum", ["strong", "weak"])),
    ),
    Twins(
        _planted("the one value is another", "value_removed value_added", _of_order("version/const", 2)),
        _planted("the one value is one of two", "value_added", _of_order("version", {"enum": [1, 2]})),
    ),
    Twins(
        _planted("values are listed where any could be", "value_removed", _of_order("label/enum", ["plain"])),
        _planted(
            "values are no longer listed", "value_added", _of_order("strength", {"type": "string", "default": "weak"})
        ),
    ),
    Twins(
        _planted("numbers must be integers", "type_narrowed", _of_order("grams/type", "integer")),
        _planted("integers may be numbers", "type_widened", _of_order("cups/type", "number")),
    ),
    Twins(
        _planted("a text is a number", "type_narrowed", _of_order("note/type", "integer")),
        _planted(
            "a limit says the same in another way",
            "",
            _of_order("cups/minimum", GONE),
            _of_order("cups/exclusiveMinimum", 0),
        ),
    ),
    # Limits
    Twins(
        _planted("a maximum is lower", "limit_tightened", _of_order("cups/maximum", 11)),
        _planted("a maximum is higher", "limit_loosened", _of_order("cups/maximum", 13)),
    ),
    Twins(
        _planted("a minimum is higher", "limit_tightened", _of_order("cups/minimum", 2)),
        _planted("a minimum is gone", "limit_loosened", _of_order("cups/minimum", GONE)),
    ),
    Twins(
        _planted(
            "a bound that was exclusive is higher",
            "limit_tightened",
            _of_order("grams/exclusiveMinimum", 0.5),
        ),
        _planted(
            "a bound is no longer exclusive",
            "limit_loosened",
            _of_order("grams/exclusiveMinimum", GONE),
            _of_order("grams/minimum", 0),
        ),
    ),
    Twins(
        _planted(
            "a text may be less long, wherever the definition is used",
            "limit_tightened",
            (COMMON, "/$defs/Name/maxLength", 10),
        ),
        _planted(
            "a text may be longer, wherever the definition is used",
            "limit_loosened",
            (COMMON, "/$defs/Name/maxLength", 30),
        ),
    ),
    Twins(
        _planted("a pattern is another", "condition_changed", _of_order("label/pattern", "^[a-z0-9]+$")),
        _planted("a pattern is gone", "limit_loosened", _of_order("label/pattern", GONE)),
    ),
    Twins(
        _planted("items may have fewer types", "type_narrowed", _of_order("extras/items/type", "string")),
        _planted(
            "items may have more types",
            "type_widened",
            _of_order("extras/items/type", ["string", "integer", "null"]),
        ),
    ),
    Twins(
        _planted("fewer items may be there", "limit_tightened", _of_order("extras/maxItems", 4)),
        _planted("more items may be there", "limit_loosened", _of_order("extras/maxItems", GONE)),
    ),
    # Alternatives and conditions
    Twins(
        _planted("an alternative is gone", "alternative_removed", _of_order("sugar/anyOf/1", GONE)),
        _planted("an alternative is new", "alternative_added", _of_order("sugar/anyOf/-", {"type": "string"})),
    ),
    Twins(
        _planted(
            "what may be null may not be",
            "alternative_removed",
            _of_order("sugar", {"type": "integer", "default": None}),
        ),
        _planted(
            "what may not be null may be",
            "alternative_added",
            _of_order("note", {"anyOf": [{"type": "string", "maxLength": 80}, {"type": "null"}], "default": ""}),
        ),
    ),
    Twins(
        _planted(
            "an alternative is new, and takes what another one takes",
            "condition_changed",
            _of_order("table/oneOf/-", {"type": "number"}),
        ),
        _planted(
            "an alternative is new, and takes what no other one takes",
            "alternative_added",
            _of_order("table/oneOf/-", {"type": "string"}),
        ),
    ),
    Twins(
        _planted("a condition is another", "condition_changed", (ORDER, "/if/properties/cups/const", 6)),
        _planted("a condition is gone", "limit_loosened", (ORDER, "/if", GONE), (ORDER, "/then", GONE)),
    ),
    Twins(
        _planted("something more is demanded", "limit_tightened", _of_order("note/allOf", [{"maxLength": 40}])),
        _planted(
            "something is demanded in other words",
            "",
            _of_order("note/maxLength", GONE),
            _of_order("note/allOf", [{"maxLength": 80}]),
        ),
    ),
    Twins(
        _planted("a schema is gone", "schema_removed", (MENU, "", GONE)),
        _planted(
            "a schema is new",
            "schema_added",
            ("schemas/bill-1.json", "", {**RELEASED[COMMON], "$id": "urn:sample:bill-1"}),
        ),
    ),
    Twins(
        _planted(
            "a definition that others use has another name",
            "member_renamed",
            (COMMON, "/$defs/Named", RELEASED[COMMON]["$defs"]["Name"]),
            (COMMON, "/$defs/Name", GONE),
            _of_order("name/$ref", "urn:sample:common#/$defs/Named"),
            (EVENTS, "/$defs/Begun/properties/order/$ref", "urn:sample:common#/$defs/Named"),
        ),
        _planted("a definition is new", "schema_added", (COMMON, "/$defs/Nickname", _TEXT)),
    ),
)
"""Of schemas."""

OF_EVENTS: Final[tuple[Twins, ...]] = (
    Twins(
        _planted(
            "a released version of events has another type",
            "event_type_added",
            (EVENTS, "", events(1, Begun=BEGUN, Poured=POURED, Spilt=SPILT)),
        ),
        _planted(
            "a new version of events has another type",
            "version_added vector_added",
            (NEWER_EVENTS, "", events(2, Begun=BEGUN, Poured=POURED, Spilt=SPILT)),
            (
                VECTORS,
                "/spilt",
                answer(
                    "reduce",
                    [_BEGUN_2, {"version": 2, "event": {"type": "Poured"}}, _SPILT_2],
                    accepted=True,
                    whole=True,
                    state_digest="3" * 64,
                    output={},
                ),
            ),
        ),
    ),
    Twins(
        _planted(
            "a released version of events lacks a type", "event_type_removed", (EVENTS, "", events(1, Begun=BEGUN))
        ),
        _planted(
            "an optional member of an event is new",
            "member_added",
            (EVENTS, "/$defs/Poured/properties/spoons", {"type": "integer", "default": 0}),
        ),
    ),
    Twins(
        _planted(
            "a type of events has another name",
            "event_type_renamed",
            (
                EVENTS,
                "",
                events(
                    1,
                    Begun=BEGUN,
                    Pours={**POURED, "properties": {**POURED["properties"], "type": {"enum": ["Pours"]}}},
                ),
            ),
        ),
        _planted("the types of events stand in another order", "", (EVENTS, "", events(1, Poured=POURED, Begun=BEGUN))),
    ),
    Twins(
        _planted(
            "a new version of events has no upcaster", "version_without_upcaster vector_added", _NEWER, _NEWER_HISTORY
        ),
        _planted(
            "a new version of events has an upcaster",
            "version_added vector_added",
            _NEWER,
            _NEWER_HISTORY,
            _upcast(pots=1),
        ),
    ),
    Twins(
        _planted(
            "a new version of events has an upcaster to what it refuses",
            "version_without_upcaster vector_added",
            _NEWER,
            _NEWER_HISTORY,
            _upcast(cups=2),
        ),
        _planted(
            "a new version of events has an upcaster and more",
            "version_added vector_added",
            _NEWER,
            _NEWER_HISTORY,
            _upcast(pots=2),
        ),
    ),
    Twins(
        _planted(
            "a new version of events has no history", "version_without_vectors vector_added", _NEWER, _upcast(pots=1)
        ),
        _planted(
            "a version of something else is new",
            "version_added",
            ("schemas/order-2.json", "", {**RELEASED[ORDER], "$id": "urn:sample:order-2"}),
        ),
    ),
    Twins(
        _planted(
            "a version of events is gone",
            "version_removed version_added vector_added",
            (EVENTS, "", GONE),
            _NEWER,
            _NEWER_HISTORY,
        ),
        _planted("nothing is another", ""),
    ),
)
"""Of versions of events."""

OF_VECTORS: Final[tuple[Twins, ...]] = (
    Twins(
        _planted(
            "a state is another", "answer_changed", _of_vectors("an order is poured/expected/state_digest", "4" * 64)
        ),
        _planted(
            "a code is another", "answer_for_people", _of_vectors("a cup too many/expected/code", "something_else_owed")
        ),
    ),
    Twins(
        _planted(
            "what was refused is accepted",
            "answer_changed",
            _of_vectors("a cup too many/expected", {"accepted": True, "whole": False}),
        ),
        _planted(
            "a vector says what it is about",
            "vector_described",
            _of_vectors("a cup too many/requirements", ["RUN-001"]),
        ),
    ),
    Twins(
        _planted(
            "a history is refused elsewhere", "answer_changed", _of_vectors("a cup too many/expected/sequence", 2)
        ),
        _planted(
            "a history is refused for a member, as corrupt",
            "answer_for_people",
            _of_vectors("a member too many/expected/kind", "corrupt"),
        ),
    ),
    Twins(
        _planted(
            "a history is refused for something else",
            "answer_changed",
            _of_vectors("a cup too many/expected/kind", "incompatible"),
        ),
        _planted(
            "a document is warned about",
            "answer_for_people",
            _of_vectors("a good document/expected/warnings", [{"code": "fan_in", "pointer": "/a"}]),
        ),
    ),
    Twins(
        _planted(
            "a document has another problem",
            "answer_changed",
            _of_vectors("a wrong document/expected/problems/0/code", "other"),
        ),
        _planted(
            "the reason of an outcome is another",
            "answer_for_people",
            _of_vectors("an order is taken/expected/events/0/outcome/reason", "tea"),
        ),
    ),
    Twins(
        _planted(
            "an event that is decided is another",
            "answer_changed",
            _of_vectors("an order is taken/expected/events/0/outcome/kind", "blocked"),
        ),
        _planted(
            "more rejections are right", "answer_widened", _of_vectors("an order is refused/expected/codes/-", "no_pot")
        ),
    ),
    Twins(
        _planted(
            "fewer rejections are right", "answer_changed", _of_vectors("an order is refused/expected/codes/1", GONE)
        ),
        _planted(
            "rejections stand in another order",
            "answer_for_people",
            _of_vectors("an order is refused/expected/codes", ["no_cups", "no_tea"]),
        ),
    ),
    Twins(
        _planted("a vector is gone", "vector_removed", _of_vectors("a delay", GONE)),
        _planted(
            "a vector is new", "vector_added", _of_vectors("no delay", answer("jitter", [{"seed": "t"}], jitter_ms=0))
        ),
    ),
    Twins(
        _planted("a question is another", "question_changed", _of_vectors("a delay/question/0/seed", "u")),
        _planted(
            "a vector has another name",
            "vector_renamed",
            _of_vectors("a delay", GONE),
            _of_vectors("some delay", answer("jitter", [{"seed": "s"}], jitter_ms=17)),
        ),
    ),
    Twins(
        _planted("a delay is another", "answer_changed", _of_vectors("a delay/expected/jitter_ms", 18)),
        _planted(
            "two vectors are new",
            "vector_added",
            _of_vectors("no delay", answer("jitter", [{"seed": "t"}], jitter_ms=0)),
            _of_vectors("little delay", answer("jitter", [{"seed": "v"}], jitter_ms=1)),
        ),
    ),
)
"""Of golden vectors."""

OF_WORKFLOWS: Final[tuple[Twins, ...]] = (
    Twins(
        _planted("a node has another name, in place", "node_renamed changed_in_place", _STEEP, _AFTER_STEEP),
        _planted(
            "a node has another name, in a version beside",
            "workflow_version_added",
            (NEWER_BREW, "", _next_version(_STEEP, _AFTER_STEEP)),
        ),
    ),
    Twins(
        _planted(
            "a node has another name, and the old version is gone",
            "node_renamed workflow_version_added",
            (BREW, "", _next_version(_STEEP, _AFTER_STEEP)),
        ),
        _planted(
            "a handler has another version, under a new version",
            "workflow_version_added",
            (BREW, "", _next_version(_STRONGER)),
        ),
    ),
    Twins(
        _planted(
            "a node is gone, and the old version with it",
            "node_removed workflow_version_added",
            (BREW, "", NEXT_WITHOUT_CLEAN),
        ),
        _planted(
            "a node is gone from a version beside",
            "workflow_version_added",
            (NEWER_BREW, "", NEXT_WITHOUT_CLEAN),
        ),
    ),
    Twins(
        _planted("a handler has another version, in place", "handler_changed", _STRONGER),
        _planted(
            "edges and policies are others, under a new version",
            "workflow_version_added",
            (BREW, "", _next_version(_WHEN, _MORE_TRIES)),
        ),
    ),
    Twins(
        _planted("an edge is another, in place", "changed_in_place", _WHEN),
        _planted("a document says its hash", "", (BREW, "/content_hash", digest(_BREW))),
    ),
    Twins(
        _planted("a retry policy is another, in place", "changed_in_place", _MORE_TRIES),
        _planted("members stand in another order", "", (BREW, "", dict(reversed(_BREW.items())))),
    ),
    Twins(
        _planted("a budget is another, in place", "changed_in_place", (BREW, "/budgets/max_attempts", 19)),
        _planted(
            "a budget is another, under a new version",
            "workflow_version_added",
            (BREW, "", _next_version((BREW, "/budgets/max_attempts", 19))),
        ),
    ),
    Twins(
        _planted("a node is new, in place", "node_added", (BREW, "/nodes/-", node("pay", "pour"))),
        _planted(
            "a node is new, under a new version",
            "workflow_version_added",
            (BREW, "", _next_version((BREW, "/nodes/-", node("pay", "pour")))),
        ),
    ),
    Twins(
        _planted(
            "a document has another schema_version, in place", "schema_version_changed", (BREW, "/schema_version", 4)
        ),
        _planted(
            "a document has another schema_version, under a new version",
            "workflow_version_added",
            (BREW, "", _next_version((BREW, "/schema_version", 4))),
        ),
    ),
    Twins(
        _planted(
            "nodes stand in another order, in place",
            "changed_in_place",
            (BREW, "/nodes", [_BREW["nodes"][1], _BREW["nodes"][0], _BREW["nodes"][2]]),
        ),
        _planted(
            "a node waits for more, under a new version",
            "workflow_version_added",
            (BREW, "", _next_version((BREW, "/nodes/1/dependency_policy", "all_completed"))),
        ),
    ),
    Twins(
        _planted("a workflow is gone", "workflow_removed", (BREW, "", GONE)),
        _planted(
            "a workflow is new", "workflow_added", ("workflows/more.json", "", {**_BREW, "workflow_id": "brew-more"})
        ),
    ),
    Twins(
        _planted("a workflow is refused", "no_longer_valid", (BREW, "/nodes/1/dependencies/0", "nobody")),
        _planted("a file has another name", "", (BREW, "", GONE), ("workflows/tea.json", "", _BREW)),
    ),
    Twins(
        _planted(
            "a child is another, in place",
            "node_added workflow_version_added",
            (SERVE, "", _next_version((SERVE, "/children/tidy@1", _WIPE), file=SERVE)),
        ),
        _planted(
            "a child is another, under a new version of its own",
            "workflow_version_added",
            (
                SERVE,
                "",
                _next_version((SERVE, "/children", {"tidy@2": _WIPE}), (SERVE, "/nodes/0/child", _TIDY_2), file=SERVE),
            ),
        ),
    ),
    Twins(
        _planted(
            "the newest version is lower",
            "workflow_version_removed workflow_version_lowered",
            (BREW, "/workflow_version", 1),
        ),
        _planted(
            "a workflow and its child are new",
            "workflow_added",
            ("workflows/more.json", "", {**_SERVE, "workflow_id": "serve-more"}),
        ),
    ),
)
"""Of specifications."""

PLANTED: Final[tuple[Twins, ...]] = (*OF_SCHEMAS, *OF_EVENTS, *OF_VECTORS, *OF_WORKFLOWS)
"""All of them."""
