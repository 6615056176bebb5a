"""Documents that nobody thought of: drawn whole, then edited in one place, and spelt in an odd way.

A drawn document is mostly valid, an edited one mostly not; which it is, the model says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from hypothesis import given
from hypothesis import seed as seeded
from hypothesis import strategies as st

from perdure.kernel.outcomes import KINDS_WITH_OUTPUT, OUTCOME_KINDS
from perdure.kernel.values import JsonValue
from perdure_conformance.drawing import drawing, nothing_left_behind
from perdure_conformance.spec.documents import Document, Value, written
from perdure_conformance.spec.places import edited, parts

Draw = Callable[[st.SearchStrategy[Any]], Any]

_NAMES: Final = ("a", "b", "c", "d", "e", "f", "g", "A", "_", "a.b", "a-b", "toString", "null", "n" * 128)
_FIELDS: Final = ("x", "y", "z", "constructor")
_SCALARS: Final[tuple[JsonValue, ...]] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    0.5,
    1e300,
    2**53 - 1,
    "",
    "1",
    "true",
    "x",
    "é",
    "e\u0301",
    "\x00",
    "\U0001f600",
)
_ODD_VALUES: Final[tuple[JsonValue, ...]] = (
    *_SCALARS,
    2,
    1.5,
    [],
    {},
    ["a"],
    [[]],
    {"a": 1},
    "a\n",
    "a ",
    "any",
    "succeeded",
    "skipped",
    "exclusive",
)


@st.composite
def documents(draw: Draw) -> dict[str, Value]:
    """Draw a document that is valid, or nearly so."""
    version = draw(st.sampled_from((1, 2, 3, 3, 4, 5, 5, 5)))
    children: dict[str, Value] = {}
    if version >= 3:
        for number in range(draw(st.integers(0, 3))):
            children[f"c{number}@1"] = draw(workflows(version, dict(children)))
    found = draw(workflows(version, children))
    head = {"schema_version": version, "workflow_id": draw(st.sampled_from(_NAMES)), "workflow_version": 1}
    return {**head, **found, **({"children": children} if children else {})}


@st.composite
def workflows(draw: Draw, version: int, children: Mapping[str, Value]) -> dict[str, Value]:
    """Draw nodes and what leads from one to another: every node but the first ones is led to from an earlier one."""
    names = draw(st.permutations(_NAMES))[: draw(st.integers(1, 6))]
    found: dict[str, Value] = {}
    if version >= 3 and draw(st.booleans()):
        found["inputs"] = draw(st.lists(st.sampled_from(_FIELDS), unique=True, max_size=2))
    nodes: list[dict[str, Value]] = []
    edges: list[dict[str, Value]] = []
    for position, name in enumerate(names):
        node = draw(_nodes(version, name, children, found.get("inputs", [])))
        before = draw(st.lists(st.sampled_from(names[:position]), unique=True, max_size=3)) if position else []
        if before and (version < 3 or draw(st.booleans())):
            node["dependencies"] = before
            if version >= 2 and draw(st.booleans()):
                node["dependency_policy"] = draw(st.sampled_from(("all_succeeded", "all_completed", "any_succeeded")))
        elif before:
            edges += [{"from": source, "to": name} for source in before]
        nodes.append(node)
    if version >= 3:
        _add_edges(draw, found, nodes, edges)
    found["nodes"] = draw(st.permutations(nodes))
    return found


@st.composite
def _nodes(
    draw: Draw, version: int, name: str, children: Mapping[str, Value], inputs: Sequence[str]
) -> dict[str, Value]:
    node: dict[str, Value] = {"id": name}
    if children and draw(st.booleans()):
        workflow = draw(st.sampled_from(sorted(children)))
        node["child"] = {"workflow": workflow, "policy": draw(st.sampled_from(("propagate", "require_success")))}
        node["input"] = {field: draw(st.sampled_from(_SCALARS)) for field in children[workflow].get("inputs", [])}
    else:
        node["handler"] = {"name": "work", "version": draw(st.integers(1, 2))}
        node["outputs"] = draw(st.lists(st.sampled_from(_FIELDS), unique=True, max_size=3))
        if inputs and draw(st.booleans()):
            node["input_mapping"] = {"in": {"run_input": draw(st.sampled_from(inputs))}}
    if version >= 3 and draw(st.booleans()):
        node["max_activations"] = draw(st.integers(1, 3))
    if version >= 4 and draw(st.booleans()):
        node["retry"] = draw(_retries())
    return node


@st.composite
def _retries(draw: Draw) -> dict[str, Value]:
    delays = st.integers(0, 1000)
    backoff = draw(
        st.one_of(
            st.just({"kind": "immediate"}),
            st.builds(lambda delay_ms: {"kind": "fixed", "delay_ms": delay_ms}, delays),
            st.builds(
                lambda initial, maximum: {
                    "kind": "exponential",
                    "initial_ms": initial,
                    "multiplier": 2,
                    "maximum_ms": maximum,
                },
                delays,
                delays,
            ),
        )
    )
    classes = draw(st.lists(st.sampled_from(("retryable_failure", "permanent_failure")), unique=True))
    return {"max_attempts": draw(st.integers(1, 9)), "classes": classes, "backoff": backoff}


def _add_edges(
    draw: Draw, found: dict[str, Value], nodes: list[dict[str, Value]], edges: list[dict[str, Value]]
) -> None:
    """Add edges anywhere, disjoint ones of one node in part, and name initial nodes, since there may be a cycle."""
    names = [node["id"] for node in nodes]
    led_to = {edge["to"] for edge in edges}
    for source in draw(st.lists(st.sampled_from(names), unique=True, max_size=3)):
        for predicate in draw(_fans()):
            mode = draw(st.sampled_from(("exclusive", "exclusive", "parallel")))
            target = draw(st.sampled_from(names))
            edges.append({"from": source, "to": target, "when": predicate, "mode": mode})
    if edges or draw(st.booleans()):
        found["edges"] = draw(st.permutations(edges))
        first = [node["id"] for node in nodes if "dependencies" not in node and node["id"] not in led_to]
        found["initial_nodes"] = draw(st.permutations(first))


@st.composite
def _fans(draw: Draw) -> list[Value]:
    """Draw predicates that are disjoint, now and then with one more that may not be."""
    kinds: list[Value] = [{"outcome": kind} for kind in OUTCOME_KINDS if kind != "skipped"]
    failures = [kind for kind in kinds if kind["outcome"] not in KINDS_WITH_OUTPUT]
    if draw(st.booleans()):
        field = draw(st.sampled_from(_FIELDS))
        values = draw(st.permutations(_SCALARS))[: draw(st.integers(1, 4))]
        chosen: list[Value] = [{"field": field, "equals": value} for value in values]
        chosen += draw(st.lists(st.sampled_from(failures), unique_by=str, max_size=2))
    else:
        chosen = draw(st.lists(st.sampled_from(kinds), unique_by=str, min_size=1, max_size=4))
    if draw(st.integers(0, 3)) == 0:
        extra: list[Value] = ["any", *kinds, {"field": "x", "equals": draw(st.sampled_from(_SCALARS))}]
        chosen.append(draw(st.sampled_from(extra)))
    return list(draw(st.permutations(chosen)))


def changed(draw: Draw, document: Value) -> Value:
    """Return the document with one change somewhere."""
    found = [place for place, _ in parts(document)]
    place = found[draw(st.integers(0, len(found) - 1))]
    if not place or draw(st.integers(0, 3)) > 0:
        return edited(document, place, lambda value: _instead_of(value, draw))
    return edited(document, place[:-1], lambda around: _without_or_twice(around, place[-1], draw))


def _without_or_twice(around: Any, key: Any, draw: Draw) -> JsonValue:
    """Return an object or an array without one item, or an array with that item once more."""
    if isinstance(around, Mapping):
        return {other: item for other, item in around.items() if other != key}
    return draw(st.sampled_from(([*around[:key], *around[key + 1 :]], [*around, around[key]])))  # type: ignore[no-any-return]


def _instead_of(value: Any, draw: Draw) -> JsonValue:
    """Return something else: a neighbour of its own kind, or something odd."""
    near: list[JsonValue] = [draw(st.sampled_from(_ODD_VALUES))]
    if isinstance(value, str):
        near += [draw(st.sampled_from(_NAMES)), value + "x", value.upper(), draw(st.sampled_from(OUTCOME_KINDS))]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        near += [value + 1, value - 1, -value, bool(value), str(value)]
    elif isinstance(value, Mapping):
        near += [{**value, "colour": 1}, {**value, "max_activations": 0}]
    elif isinstance(value, Sequence):
        near += [[*value, draw(st.sampled_from(_NAMES))], list(reversed(value)), [*value, *value]]
    return near[draw(st.integers(0, len(near) - 1))]


def spelt(draw: Draw, value: JsonValue) -> Document:
    """Return the document as a text: compact, or with other white space, order, numbers and escapes."""
    if draw(st.booleans()):
        return written(value)
    text = json.dumps(
        _shuffled(draw, value), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from((None, 1, "\t")))
    )
    return (text,)


def _shuffled(draw: Draw, value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        keys = draw(st.permutations(list(value)))
        return {key: _shuffled(draw, value[key]) for key in keys}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_shuffled(draw, item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**50 and draw(st.integers(0, 7)) == 0:
        return float(value)
    return value


@lru_cache(maxsize=4)
def draw_documents(examples: int, random_seed: int) -> tuple[Document, ...]:
    """Return so many drawn documents, each followed by one edit of it."""
    drawn: list[Document] = []

    @seeded(random_seed)
    @drawing(examples)
    @given(st.data())
    def draw_some(data: st.DataObject) -> None:
        draw: Draw = data.draw
        document = draw(documents())
        drawn.extend((spelt(draw, document), spelt(draw, changed(draw, document))))

    with nothing_left_behind():
        draw_some()
    return tuple(drawn)
