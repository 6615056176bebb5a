"""Structure: members, types, words, ranges, grammars, versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from perdure_conformance.spec.documents import Value, edge, node, workflow, written
from perdure_conformance.spec.pairs.pair import Pair, pair

_LARGEST: Final = 2**53 - 1

_LONG: Final = "n" * 128

_OF_A_NODE: Final[Sequence[tuple[str, Value, int]]] = (
    ("dependency_policy", "all_succeeded", 2),
    ("artifacts", {}, 2),
    ("input_mapping", {}, 3),
    ("max_activations", 2, 3),
    ("retry", {}, 4),
    ("signals", [], 5),
)

_OF_A_DOCUMENT: Final[Sequence[tuple[str, Value, int]]] = (
    ("edges", [], 3),
    ("initial_nodes", ["a"], 3),
    ("inputs", [], 3),
    ("outputs", {}, 3),
    ("children", {}, 3),
    ("budgets", {}, 4),
    ("cancellation", "cascade", 5),
)


def members_and_types() -> Iterator[Pair]:
    """SPC-003."""
    yield pair("SPC-003", "an unknown member of the document", workflow(colour="red"), workflow(schema="red"))
    yield pair(
        "SPC-003",
        "an unknown member of a node",
        workflow(node("a", dependancies=[])),
        workflow(node("a", dependencies=[])),
    )
    for name in ("a/b", "a~b", "~1", "a b", "%41", "é", "", "0"):
        yield pair("SPC-003", f"an unknown member {name!r}", {**workflow(), name: 1}, workflow(schema="x"))
        yield pair("SPC-003", f"an unknown member {name!r} of a node", workflow(node("a", **{name: 1})), workflow())
    yield pair(
        "SPC-003",
        "an unknown member of a predicate",
        workflow(node("a"), edges=[edge("a", "a", when={"outcome": "succeeded", "equals": 1})], initial_nodes=["a"]),
        workflow(node("a"), edges=[edge("a", "a", when={"outcome": "succeeded"})], initial_nodes=["a"]),
    )
    yield pair(
        "SPC-003",
        "a field without a value",
        workflow(node("a", outputs=["x"]), edges=[edge("a", "a", when={"field": "x"})], initial_nodes=["a"]),
        workflow(
            node("a", outputs=["x"]), edges=[edge("a", "a", when={"field": "x", "equals": None})], initial_nodes=["a"]
        ),
    )
    yield pair(
        "SPC-003",
        "no scalar to compare with",
        workflow(
            node("a", outputs=["x"]), edges=[edge("a", "a", when={"field": "x", "equals": [1]})], initial_nodes=["a"]
        ),
        workflow(
            node("a", outputs=["x"]), edges=[edge("a", "a", when={"field": "x", "equals": 1})], initial_nodes=["a"]
        ),
    )
    yield pair(
        "SPC-003",
        "a document that is an array",
        written([workflow()]),
        workflow(),
    )
    for missing in ("schema_version", "workflow_id", "workflow_version", "nodes"):
        yield pair(
            "SPC-003",
            f"no {missing}",
            {key: value for key, value in workflow().items() if key != missing},
            workflow(),
        )
    yield pair(
        "SPC-003", "true is no integer", {**workflow(), "workflow_version": True}, {**workflow(), "workflow_version": 1}
    )
    yield pair(
        "SPC-003",
        "true is no version of a handler",
        workflow(node("a", handler={"name": "work", "version": True})),
        workflow(),
    )
    yield pair("SPC-003", "a string is no integer", {**workflow(), "workflow_version": "1"}, workflow())
    yield pair(
        "SPC-003", "1.5 is no integer", {**workflow(), "workflow_version": 1.5}, {**workflow(), "workflow_version": 1.0}
    )
    yield pair("SPC-003", "null is not absence", workflow(node("a", dependencies=None)), workflow(node("a")))
    yield pair(
        "SPC-003",
        "a string is no array of names",
        workflow(node("a", outputs="ab")),
        workflow(node("a", outputs=["ab"])),
    )
    yield pair(
        "SPC-003", "an object is no array", workflow(node("a", dependencies={})), workflow(node("a", dependencies=[]))
    )
    yield pair(
        "SPC-003", "input that is no object", workflow(node("a", input=[1])), workflow(node("a", input={"x": 1}))
    )
    yield pair(
        "SPC-003",
        "a delay without its kind",
        workflow(node("a", retry={"backoff": {"delay_ms": 5}})),
        workflow(node("a", retry={"backoff": {"kind": "fixed", "delay_ms": 5}})),
    )
    yield pair(
        "SPC-003",
        "a delay of another kind",
        workflow(node("a", retry={"backoff": {"kind": "immediate", "delay_ms": 5}})),
        workflow(node("a", retry={"backoff": {"kind": "immediate"}})),
    )


def null_is_not_absence() -> Iterator[Pair]:
    """SPC-003."""
    for name in ("content_hash", "$schema", "edges", "initial_nodes", "inputs", "outputs", "children", "budgets"):
        yield pair("SPC-003", f"null for {name}", {**workflow(), name: None}, workflow())
    for name in ("child", "input", "artifacts", "input_mapping", "outputs", "dependency_policy", "retry", "signals"):
        yield pair("SPC-003", f"null for {name} of a node", workflow({**node("a"), name: None}), workflow())
    for name in ("when", "mode"):
        yield pair(
            "SPC-003",
            f"null for {name}",
            workflow(edges=[edge("a", "a", **{name: None})], initial_nodes=["a"]),
            workflow(edges=[edge("a", "a")], initial_nodes=["a"]),
        )
    for name in ("classes", "backoff", "jitter", "attempt_deadline_ms", "max_attempts"):
        yield pair(
            "SPC-003", f"null for {name}", workflow(node("a", retry={name: None})), workflow(node("a", retry={}))
        )


def words() -> Iterator[Pair]:
    """SPC-004."""
    for name, word, twin in (
        ("a policy", "all_success", "all_succeeded"),
        ("a policy in capitals", "ALL_COMPLETED", "all_completed"),
        ("a policy with a space", "any_succeeded ", "any_succeeded"),
    ):
        yield pair(
            "SPC-004",
            f"{name} that means nothing",
            workflow(node("a"), node("b", dependencies=["a"], dependency_policy=word)),
            workflow(node("a"), node("b", dependencies=["a"], dependency_policy=twin)),
        )
    yield pair(
        "SPC-004",
        "an outcome kind that means nothing",
        workflow(node("a"), node("b"), edges=[edge("a", "b", when={"outcome": "success"})]),
        workflow(node("a"), node("b"), edges=[edge("a", "b", when={"outcome": "succeeded"})]),
    )
    yield pair(
        "SPC-004",
        "a word for a predicate that means nothing",
        workflow(node("a"), node("b"), edges=[edge("a", "b", when="always")]),
        workflow(node("a"), node("b"), edges=[edge("a", "b", when="any")]),
    )
    yield pair(
        "SPC-004",
        "a mode that means nothing",
        workflow(node("a"), node("b"), edges=[edge("a", "b", mode="Exclusive")]),
        workflow(node("a"), node("b"), edges=[edge("a", "b", mode="exclusive")]),
    )
    yield pair(
        "SPC-004",
        "a cancellation that means nothing",
        workflow(cancellation="abandon"),
        workflow(cancellation="cascade"),
    )
    yield pair(
        "SPC-004",
        "a backoff that means nothing",
        workflow(node("a", retry={"backoff": {"kind": "linear"}})),
        workflow(node("a", retry={"backoff": {"kind": "immediate"}})),
    )


def _exponential(multiplier: int) -> Mapping[str, Value]:
    delays = {"kind": "exponential", "initial_ms": 0, "multiplier": multiplier, "maximum_ms": 0}
    return workflow(node("a", retry={"backoff": delays}))


def _artifact(**members: Value) -> Mapping[str, Value]:
    artifact = {"artifact_id": "018f3a5c-0000-7000-8000-000000000001", "byte_length": 1, "sha256": "b" * 64}
    return workflow(node("a", artifacts={"x": {**artifact, **members}}))


_RANGES: Final[Mapping[str, tuple[int, Callable[[int], Mapping[str, Value]]]]] = {
    "workflow_version": (1, lambda number: {**workflow(), "workflow_version": number}),
    "the handler's version": (1, lambda number: workflow(node("a", handler={"name": "work", "version": number}))),
    "max_activations": (1, lambda number: workflow(node("a", max_activations=number))),
    "max_attempts": (1, lambda number: workflow(node("a", retry={"max_attempts": number}))),
    "attempt_deadline_ms": (1, lambda number: workflow(node("a", retry={"attempt_deadline_ms": number}))),
    "delay_ms": (0, lambda number: workflow(node("a", retry={"backoff": {"kind": "fixed", "delay_ms": number}}))),
    "multiplier": (1, _exponential),
    "the jitter": (0, lambda number: workflow(node("a", retry={"jitter": {"seed": "s", "maximum_ms": number}}))),
    "the run's max_attempts": (1, lambda number: workflow(budgets={"max_attempts": number})),
    "max_transitions": (1, lambda number: workflow(budgets={"max_transitions": number})),
    "max_elapsed_ms": (1, lambda number: workflow(budgets={"max_elapsed_ms": number})),
    "byte_length": (0, lambda number: _artifact(byte_length=number)),
}
"""The least value of an integer, and a document with it."""


def ranges() -> Iterator[Pair]:
    """SPC-005."""
    for name, (least, document) in _RANGES.items():
        yield pair("SPC-005", f"{name} of {least - 1}", document(least - 1), document(least))
        yield pair("SPC-005", f"{name} of 2^53−1", None, document(_LARGEST))
    delays = {"kind": "exponential", "initial_ms": 1, "multiplier": _LARGEST, "maximum_ms": 1}
    for attempts in (2_000, 10**6, _LARGEST):
        retry = {"max_attempts": attempts, "backoff": delays}
        yield pair("SPC-005", f"delays of {attempts:,} attempts", None, workflow(node("a", retry=retry)))
    yield pair("SPC-005", "no node", {**workflow(), "nodes": []}, workflow())


def grammars() -> Iterator[Pair]:
    """SPC-006."""
    for name, bad, good in (
        ("empty", "", "_"),
        ("a space", " ", "_"),
        ("129 characters", _LONG + "n", _LONG),
        ("a digit in front", "1a", "a1"),
        ("a letter that is not ASCII", "é", "e"),
        ("a Cyrillic letter", "а", "a"),
        ("a line feed at the end", "a\n", "a"),
        ("a line separator at the end", "a\u2028", "a"),
        ("a slash", "a/b", "a.b"),
        ("a digit that is not ASCII", "a\u0661", "a1"),
        ("two underscores in front", "-_proto__", "__proto__"),
        ("NUL", "a\x00", "a-"),
    ):
        yield pair("SPC-006", f"a node id: {name}", workflow(node(bad)), workflow(node(good)))
        yield pair(
            "SPC-006",
            f"a workflow id: {name}",
            {**workflow(), "workflow_id": bad},
            {**workflow(), "workflow_id": good},
        )
    yield pair(
        "SPC-006",
        "a handler name with a line feed",
        workflow(node("a", handler={"name": "work\n", "version": 1})),
        workflow(node("a", handler={"name": "work", "version": 1})),
    )
    yield pair(
        "SPC-006",
        "an output name with a line feed",
        workflow(node("a", outputs=["x\n"])),
        workflow(node("a", outputs=["x"])),
    )
    yield pair(
        "SPC-006",
        "a signal name with a space",
        workflow(node("a", signals=["go on"])),
        workflow(node("a", signals=["go.on"])),
    )
    for name, member, bad, good in (
        ("a digest in capitals", "sha256", "A" * 64, "a" * 64),
        ("a digest with a line feed", "sha256", "a" * 64 + "\n", "a" * 64),
        ("a digest of 63 digits", "sha256", "a" * 63, "a" * 64),
        (
            "an artifact id in capitals",
            "artifact_id",
            "018F3A5C-0000-7000-8000-000000000001",
            "018f3a5c-0000-7000-8000-000000000001",
        ),
        (
            "an artifact id in braces",
            "artifact_id",
            "{018f3a5c-0000-7000-8000-000000000001}",
            "018f3a5c-0000-7000-8000-000000000001",
        ),
        ("an empty media type", "media_type", "", "x"),
    ):
        yield pair(
            "SPC-006",
            name,
            _artifact(**{member: bad}),
            _artifact(**{member: good}),
        )
    yield pair(
        "SPC-006",
        "a seed of 129 characters",
        workflow(node("a", retry={"jitter": {"seed": "😀" * 129, "maximum_ms": 1}})),
        workflow(node("a", retry={"jitter": {"seed": "😀" * 128, "maximum_ms": 1}})),
    )


def versions() -> Iterator[Pair]:
    """SPC-007."""
    for version in (0, 6, -1, 99):
        yield pair("SPC-007", f"schema_version {version}", workflow(version=version), workflow(version=5))
    for version in (1, 2, 3, 4, 5):
        yield pair("SPC-007", f"schema_version {version}", None, workflow(version=version))


def members_of_later_versions() -> Iterator[Pair]:
    """SPC-008."""
    for member, value, since in _OF_A_NODE:
        yield pair(
            "SPC-008",
            f"{member} before version {since}",
            workflow(node("a", **{member: value}), version=since - 1),
            workflow(node("a", **{member: value}), version=since),
        )
    for member, value, since in _OF_A_DOCUMENT:
        yield pair(
            "SPC-008",
            f"{member} before version {since}",
            workflow(version=since - 1, **{member: value}),
            workflow(version=since, **{member: value}),
        )
    yield pair(
        "SPC-008",
        "budgets of a child before version 4",
        workflow(version=3, children={"c@1": {"nodes": [node("x")], "budgets": {}}}),
        workflow(version=4, children={"c@1": {"nodes": [node("x")], "budgets": {}}}),
    )
    yield pair(
        "SPC-008",
        "signals of a child's node before version 5",
        workflow(version=4, children={"c@1": {"nodes": [node("x", signals=[])]}}),
        workflow(version=5, children={"c@1": {"nodes": [node("x", signals=[])]}}),
    )


PAIRS = (members_and_types, null_is_not_absence, words, ranges, grammars, versions, members_of_later_versions)
