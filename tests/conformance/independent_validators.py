"""Validators of specifications, written from the text of the specification alone: one that is right, many that are not.

`python independent_validators.py VARIANT` speaks protocol 1, profile `spec`. `--list` lists the variants as JSON lines,
`--show VARIANT` prints the smallest document on which a broken one answers wrongly (and, on a second line, the
catalogue of handlers that it takes), and `--check` tries them all in this process.

A rule is a method or an attribute of `Validator`; a variant replaces a few of them.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import itertools
import json
import math
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import rfc8785

MIB = 1024 * 1024
LARGEST = 2**53 - 1
CAPABILITIES = ("codes", "pointers", "all_problems", "content_hash", "initial_nodes", "witnesses", "handlers")
KINDS = (
    "succeeded",
    "changes_requested",
    "retryable_failure",
    "permanent_failure",
    "blocked",
    "cancelled",
    "skipped",
)
CARRYING = ("succeeded", "changes_requested")
MODES = ("parallel", "exclusive")
POLICIES = ("all_succeeded", "all_completed", "any_succeeded")
CHILD_POLICIES = ("propagate", "require_success")
BACKOFFS = ("immediate", "fixed", "exponential")

Arrow = tuple[str, str, str]  # source, target, pointer
Predicate = tuple[Any, ...]  # ("any",), ("kind", KIND) or ("field", NAME, SCALAR)


class Unreadable(Exception):
    """The text is not I-JSON."""


class Problem(NamedTuple):
    code: str
    pointer: str
    witness: Any = None


# The shapes of the members


Check = Callable[["Validator", Any, str], None]


class Member(NamedTuple):
    since: int
    required: bool
    check: Check


def struct(shape: str) -> Check:
    return lambda v, value, at: v.members(shape, value, at)


def integer(least: int) -> Check:
    def check(v: Validator, value: Any, at: str) -> None:
        number = v.as_integer(value)
        if number is None:
            v.problem("wrong_type", at)
        elif not least <= number <= v.largest:
            v.problem("out_of_range", at)

    return check


def text(least: int, most: int | None) -> Check:
    def check(v: Validator, value: Any, at: str) -> None:
        if not isinstance(value, str):
            v.problem("wrong_type", at)
        elif len(value) < least or (most is not None and len(value) > most):
            v.problem("wrong_form", at)

    return check


def identity(form: str, code: str = "wrong_form") -> Check:
    def check(v: Validator, value: Any, at: str) -> None:
        if not isinstance(value, str):
            v.problem("wrong_type", at)
        elif not v.has_form(form, value):
            v.problem(code, at)

    return check


def word(*words: str) -> Check:
    def check(v: Validator, value: Any, at: str) -> None:
        if not isinstance(value, str):
            v.problem("wrong_type", at)
        elif not v.is_word(value, words):
            v.problem("unknown_word", at)

    return check


def array(item: Check, *, least: int = 0, unique: str = "") -> Check:
    def check(v: Validator, value: Any, at: str) -> None:
        value = v.as_array(value)
        if value is None:
            v.problem("wrong_type", at)
            return
        if len(value) < least:
            v.problem("out_of_range", at)
        for index, one in enumerate(value):
            item(v, one, f"{at}/{index}")
        if unique:
            for index in v.repeated(unique, value, at):
                v.problem("duplicate_name", f"{at}/{index}")

    return check


def mapping(item: Check, form: str = "name", code: str = "wrong_form") -> Check:
    def check(v: Validator, value: Any, at: str) -> None:
        if not isinstance(value, dict):
            v.problem("wrong_type", at)
            return
        for key, one in value.items():
            place = v.below(at, key)
            if not v.has_form(form, key):
                v.problem(code, place)
            item(v, one, place)

    return check


def anything(_v: Validator, _value: Any, _at: str) -> None:
    return


def any_object(v: Validator, value: Any, at: str) -> None:
    if not isinstance(value, dict):
        v.problem("wrong_type", at)


def scalar(v: Validator, value: Any, at: str) -> None:
    if isinstance(value, (dict, list)):
        v.problem("wrong_type", at)


def schema_version(v: Validator, value: Any, at: str) -> None:
    number = v.as_integer(value)
    if number is None:
        v.problem("wrong_type", at)
    elif number not in v.versions:
        v.problem("unsupported_version", at)


def source_of_input(v: Validator, value: Any, at: str) -> None:
    v.members("run_input" if isinstance(value, dict) and "run_input" in value else "output", value, at)


def predicate(v: Validator, value: Any, at: str) -> None:
    if isinstance(value, str):
        word("any")(v, value, at)
    else:
        v.members("outcome" if isinstance(value, dict) and "outcome" in value else "field", value, at)


def backoff(v: Validator, value: Any, at: str) -> None:
    if not isinstance(value, dict):
        v.problem("wrong_type", at)
    elif "kind" not in value:
        v.missing("backoff", "kind", at)
    elif isinstance(value["kind"], str) and value["kind"] in BACKOFFS:
        v.members(value["kind"], value, at)
    else:
        word(*BACKOFFS)(v, value["kind"], at + "/kind")


NAME = identity("name")
GRAPH = {
    "nodes": Member(1, True, array(struct("node"), least=1)),
    "edges": Member(3, False, array(struct("edge"))),
    "initial_nodes": Member(3, False, array(NAME, unique="initial_nodes")),
    "inputs": Member(3, False, array(NAME, unique="inputs")),
    "outputs": Member(3, False, mapping(struct("output"))),
    "budgets": Member(4, False, struct("budgets")),
    "cancellation": Member(5, False, word("cascade")),
}
Shapes = dict[str, dict[str, Member]]
SHAPES: Shapes = {
    "document": {
        "schema_version": Member(1, True, schema_version),
        "workflow_id": Member(1, True, NAME),
        "workflow_version": Member(1, True, integer(1)),
        "content_hash": Member(1, False, identity("digest")),
        "$schema": Member(1, False, text(0, None)),
        "children": Member(3, False, mapping(struct("definition"), "reference", "wrong_reference")),
        **GRAPH,
    },
    "definition": GRAPH,
    "budgets": {
        "max_attempts": Member(1, False, integer(1)),
        "max_transitions": Member(1, False, integer(1)),
        "max_elapsed_ms": Member(1, False, integer(1)),
    },
    "node": {
        "id": Member(1, True, NAME),
        "handler": Member(1, False, struct("handler")),
        "child": Member(3, False, struct("child")),
        "input": Member(1, False, any_object),
        "artifacts": Member(2, False, mapping(struct("artifact"))),
        "input_mapping": Member(3, False, mapping(source_of_input)),
        "outputs": Member(1, False, array(NAME, unique="outputs")),
        "dependencies": Member(1, False, array(NAME, unique="dependencies")),
        "dependency_policy": Member(2, False, word(*POLICIES)),
        "max_activations": Member(3, False, integer(1)),
        "retry": Member(4, False, struct("retry")),
        "signals": Member(5, False, array(NAME, unique="signals")),
    },
    "handler": {"name": Member(1, True, NAME), "version": Member(1, True, integer(1))},
    "child": {
        "workflow": Member(1, True, identity("reference")),
        "policy": Member(1, True, word(*CHILD_POLICIES)),
        "outputs": Member(1, False, mapping(NAME)),
    },
    "output": {"node": Member(1, True, NAME), "output": Member(1, True, NAME)},
    "run_input": {"run_input": Member(1, True, NAME)},
    "artifact": {
        "artifact_id": Member(1, True, identity("uuid")),
        "byte_length": Member(1, True, integer(0)),
        "sha256": Member(1, True, identity("digest")),
        "media_type": Member(1, False, text(1, 255)),
    },
    "retry": {
        "max_attempts": Member(1, False, integer(1)),
        "classes": Member(1, False, array(word(*KINDS), unique="classes")),
        "backoff": Member(1, False, backoff),
        "jitter": Member(1, False, struct("jitter")),
        "attempt_deadline_ms": Member(1, False, integer(1)),
    },
    "immediate": {"kind": Member(1, True, anything)},
    "fixed": {"kind": Member(1, True, anything), "delay_ms": Member(1, True, integer(0))},
    "exponential": {
        "kind": Member(1, True, anything),
        "initial_ms": Member(1, True, integer(0)),
        "multiplier": Member(1, True, integer(1)),
        "maximum_ms": Member(1, True, integer(0)),
    },
    "jitter": {"seed": Member(1, True, text(0, 128)), "maximum_ms": Member(1, True, integer(0))},
    "edge": {
        "from": Member(1, True, NAME),
        "to": Member(1, True, NAME),
        "when": Member(1, False, predicate),
        "mode": Member(1, False, word(*MODES)),
    },
    "outcome": {"outcome": Member(1, True, word(*KINDS))},
    "field": {"field": Member(1, True, NAME), "equals": Member(1, True, scalar)},
}
FORMS = {
    "name": re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,127}"),
    "reference": re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,127}@[1-9][0-9]{0,15}"),
    "digest": re.compile(r"[0-9a-f]{64}"),
    "uuid": re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
}


# A graph: what is well-formed of a document or a definition


def entries(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def strings(value: Any, at: str) -> list[tuple[str, str]]:
    """The strings of an array, each with its pointer."""
    if not isinstance(value, list):
        return []
    return [(one, f"{at}/{index}") for index, one in enumerate(value) if isinstance(one, str)]


def objects(value: Any, at: str) -> list[tuple[dict[str, Any], str]]:
    if not isinstance(value, list):
        return []
    return [(one, f"{at}/{index}") for index, one in enumerate(value) if isinstance(one, dict)]


@dataclass
class Node:
    at: str
    name: str | None
    body: dict[str, Any]

    @property
    def prerequisites(self) -> list[tuple[str, str]]:
        return strings(self.body.get("dependencies"), self.at + "/dependencies")

    @property
    def child(self) -> dict[str, Any]:
        child = self.body.get("child")
        return child if isinstance(child, dict) else {}


@dataclass
class Edge:
    at: str
    source: str | None
    target: str | None
    when: Predicate | None
    mode: Any


def understood(when: Any) -> Predicate | None:
    """A predicate in one form; None if it is ill-formed."""
    match when:
        case "any":
            return ("any",)
        case {"outcome": str(kind)} if kind in KINDS:
            return ("kind", kind)
        case {"field": str(name), "equals": value} if not isinstance(value, (dict, list)):
            return ("field", name, value)
    return None


@dataclass
class Graph:
    at: str
    body: dict[str, Any]
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    known: dict[str, Node] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for body, at in objects(self.body.get("nodes"), self.at + "/nodes"):
            name = body.get("id")
            node = Node(at, name if isinstance(name, str) else None, body)
            self.nodes.append(node)
            if node.name is not None:
                self.known.setdefault(node.name, node)
        for body, at in objects(self.body.get("edges"), self.at + "/edges"):
            ends = [end if isinstance(end, str) else None for end in (body.get("from"), body.get("to"))]
            when = understood(body.get("when", "any"))
            self.edges.append(Edge(at, ends[0], ends[1], when, body.get("mode", "parallel")))

    @property
    def named(self) -> list[str] | None:
        value = self.body.get("initial_nodes")
        return [one for one, _ in strings(value, "")] if isinstance(value, list) else None

    def waits(self) -> list[Arrow]:
        """The dependency graph."""
        return [
            (source, node.name, at)
            for node in self.known.values()
            for source, at in node.prerequisites
            if node.name is not None and source in self.known
        ]

    def leads(self) -> list[Arrow]:
        """The edges as arrows."""
        return [
            (edge.source, edge.target, edge.at)
            for edge in self.edges
            if edge.source in self.known and edge.target in self.known and edge.source and edge.target
        ]

    def union(self) -> list[Arrow]:
        return self.waits() + self.leads()


def neighbours(names: Iterable[str], arrows: Iterable[Arrow]) -> dict[str, list[str]]:
    after: dict[str, list[str]] = {name: [] for name in names}
    for source, target, _ in arrows:
        after[source].append(target)
    return after


class Tarjan:
    """The strongly connected components, found in an order in which the last of a path comes first."""

    def __init__(self, after: dict[str, list[str]]) -> None:
        self.after = after
        self.number: dict[str, int] = {}
        self.low: dict[str, int] = {}
        self.component: dict[str, int] = {}
        self.pending: list[str] = []
        self.work: list[tuple[str, Iterator[str]]] = []
        for root in after:
            if root not in self.number:
                self.enter(root)
            while self.work:
                self.step(*self.work[-1])

    def enter(self, name: str) -> None:
        self.number[name] = self.low[name] = len(self.number)
        self.pending.append(name)
        self.work.append((name, iter(self.after[name])))

    def step(self, name: str, rest: Iterator[str]) -> None:
        for other in rest:
            if other not in self.number:
                return self.enter(other)
            if other not in self.component:
                self.low[name] = min(self.low[name], self.number[other])
        return self.leave(name)

    def leave(self, name: str) -> None:
        self.work.pop()
        if self.work:
            before = self.work[-1][0]
            self.low[before] = min(self.low[before], self.low[name])
        member = None
        while self.low[name] == self.number[name] and member != name:
            member = self.pending.pop()
            self.component[member] = self.number[name]


def components(names: Iterable[str], arrows: Iterable[Arrow]) -> dict[str, int]:
    return Tarjan(neighbours(names, arrows)).component


def cyclic(names: Iterable[str], arrows: list[Arrow]) -> list[Arrow]:
    """The arrows that lie on a cycle."""
    component = components(names, arrows)
    return [arrow for arrow in arrows if component[arrow[0]] == component[arrow[1]]]


def reach(starts: Iterable[str], after: dict[str, list[str]]) -> set[str]:
    found = set(starts)
    work = list(found)
    while work:
        for name in after[work.pop()]:
            if name not in found:
                found.add(name)
                work.append(name)
    return found


def depth_of(value: Any) -> int:
    """How many arrays and objects stand in one another; a scalar has none."""
    depth = 0
    level = [value] if isinstance(value, (dict, list)) else []
    while level:
        depth += 1
        inner = (one for outer in level for one in (outer.values() if isinstance(outer, dict) else outer))
        level = [one for one in inner if isinstance(one, (dict, list))]
    return depth


# The validator


class Validator:
    """Right in everything, as far as the text says."""

    capabilities: dict[str, bool] = dict.fromkeys(CAPABILITIES, True)
    called = "independent"
    max_document_bytes = 16 * MIB
    start_seconds = 0.0

    largest = LARGEST
    versions = (1, 2, 3, 4, 5)
    text_depth = 100
    document_depth = 90
    document_bytes = 15 * MIB
    input_bytes = 65_536
    child_levels = 8
    retry_classes: tuple[str, ...] = ("retryable_failure", "permanent_failure")
    never: tuple[str, ...] = ("skipped",)
    shapes = SHAPES
    refused_warnings: tuple[str, ...] = ()
    checks: tuple[str, ...] = (
        "check_ids",
        "check_work",
        "check_known",
        "check_dependencies",
        "check_cycles",
        "check_initial",
        "check_reach",
        "check_mappings",
        "check_outputs",
        "check_given",
        "check_classes",
        "check_input_size",
        "check_never",
        "check_overlaps",
        "check_handlers",
        "check_children",
        "warn_nodes",
        "warn_edges",
        "warn_budget",
    )

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.plain = False
        self.version = 5
        self.catalogue: list[dict[str, Any]] | None = None
        self.document: dict[str, Any] = {}
        self.catalog: set[str] = set()
        self.definitions: dict[str, Graph] = {}
        self.source = ""

    # Reading

    def read(self, source: str) -> Any:
        if not source.strip(" \t\r\n"):
            raise Unreadable("empty")
        if len(source.encode("utf-8", "surrogatepass")) > self.max_document_bytes:
            raise Unreadable("too_large")
        self.plain = not re.search(r"[^\x00-\ud7ff]|\\u[d-fD-F]", source)
        try:
            value = self.loads(source)
        except RecursionError:
            raise Unreadable("too_deep") from None
        except ValueError:
            raise Unreadable("not_json") from None
        if depth_of(value) > self.text_depth:
            raise Unreadable("too_deep")
        return value if self.plain else self.surrogates(value)

    def loads(self, source: str) -> Any:
        return json.loads(
            source,
            object_pairs_hook=self.pairs,
            parse_int=self.whole,
            parse_float=self.fraction,
            parse_constant=self.constant,
        )

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise Unreadable("duplicate_key")
        return found

    def whole(self, token: str) -> Any:
        if len(token) > 17 or abs(int(token)) > self.largest:
            raise Unreadable("number_out_of_range")
        return int(token)

    def fraction(self, token: str) -> Any:
        number = float(token)
        if math.isinf(number) or (number.is_integer() and self.largest < abs(number) < 1e21):
            raise Unreadable("number_out_of_range")
        if number.is_integer() and abs(number) < 1e21:
            return int(number)
        self.plain = False
        return number

    def constant(self, _token: str) -> Any:
        raise Unreadable("not_json")

    def surrogates(self, value: Any) -> Any:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise Unreadable("lone_surrogate") from None
        return value

    def canonical(self, value: Any) -> bytes:
        """RFC 8785; where nothing is that the two write otherwise, the faster writer does it."""
        if self.plain:
            return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
        return rfc8785.dumps(value)

    def digest(self, document: dict[str, Any]) -> str:
        rest = {key: value for key, value in document.items() if key != "content_hash"}
        return hashlib.sha256(self.canonical(rest)).hexdigest()

    # Telling

    def problem(self, code: str, pointer: str, witness: Any = None) -> None:
        self.problems.append(Problem(code, pointer, witness))

    def warning(self, code: str, pointer: str) -> None:
        (self.problems if code in self.refused_warnings else self.warnings).append(Problem(code, pointer))

    def below(self, at: str, key: str) -> str:
        return at + "/" + key.replace("~", "~0").replace("/", "~1")

    def told(self, problem: Problem) -> dict[str, Any]:
        told: dict[str, Any] = {"code": problem.code, "pointer": problem.pointer}
        if problem.witness is not None:
            told["witness"] = problem.witness
        return told

    def arranged(self, problems: list[Problem]) -> list[Problem]:
        return problems

    def listed(self, problems: list[Problem]) -> list[dict[str, Any]]:
        """The problems, as many of them as an answer has room for."""
        room = 8 * MIB
        listed: list[dict[str, Any]] = []
        for problem in self.arranged(problems):
            told = self.told(problem)
            room -= len(json.dumps(told))
            if listed and room < 0:
                break
            listed.append(told)
        return listed

    def told_hash(self, document: dict[str, Any]) -> str:
        return self.digest(document)

    def told_initial(self, graph: Graph) -> list[str]:
        return self.initial(graph)

    def accepted(self) -> dict[str, Any]:
        return {
            "valid": True,
            "content_hash": self.told_hash(self.document),
            "initial_nodes": self.told_initial(Graph("", self.document)),
            "warnings": self.listed(self.warnings),
        }

    def refused(self) -> dict[str, Any]:
        return {"valid": False, "problems": self.listed(self.problems)}

    def validate(self, source: str, handlers: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        self.__init__()  # type: ignore[misc]
        self.source = source
        self.catalogue = handlers
        try:
            self.whole_document(self.read(source))
        except Unreadable as unreadable:
            self.problem(str(unreadable), "")
        return self.refused() if self.problems else self.accepted()

    def whole_document(self, document: Any) -> None:
        if not isinstance(document, dict):
            self.problem("wrong_type", "")
            return
        self.document = document
        version = self.as_integer(document.get("schema_version"))
        self.version = version if version is not None and version in self.versions else 5
        self.check_size(document)
        self.members("document", document, "")
        self.check_hash(document)
        for key, body in entries(document.get("children")):
            self.catalog.add(key)
            if isinstance(body, dict):
                self.definitions[key] = Graph(self.below("/children", key), body)
        graphs = [Graph("", document), *self.validated()]
        for check in self.checks:
            for graph in graphs:
                getattr(self, check)(graph)
        self.check_levels(graphs)

    def validated(self) -> list[Graph]:
        return list(self.definitions.values())

    # Structure

    def members(self, shape: str, value: Any, at: str) -> None:
        if not isinstance(value, dict):
            self.problem("wrong_type", at)
            return
        table = self.shapes[shape]
        for key, item in value.items():
            place = self.below(at, key)
            member = table.get(key)
            if member is None:
                self.unknown(shape, key, place)
                continue
            if self.gated(shape, key, member.since, item, at):
                self.problem("member_of_later_version", place)
            if not self.is_absent(item):
                member.check(self, item, place)
        for key, member in table.items():
            if member.required and key not in value:
                self.missing(shape, key, at)

    def unknown(self, _shape: str, _key: str, place: str) -> None:
        self.problem("unknown_member", place)

    def missing(self, _shape: str, _key: str, at: str) -> None:
        self.problem("missing_member", at)

    def gated(self, _shape: str, _key: str, since: int, _item: Any, _at: str) -> bool:
        return since > self.version

    def is_absent(self, _item: Any) -> bool:
        return False

    def as_integer(self, value: Any) -> int | None:
        return value if type(value) is int else None

    def as_array(self, value: Any) -> list[Any] | None:
        return value if isinstance(value, list) else None

    def has_form(self, form: str, value: str) -> bool:
        return FORMS[form].fullmatch(value) is not None

    def is_word(self, value: str, words: tuple[str, ...]) -> bool:
        return value in words

    def repeated(self, _array: str, value: list[Any], _at: str) -> list[int]:
        """The positions at which a string stands that stood before."""
        seen: set[str] = set()
        found = []
        for index, one in enumerate(value):
            if isinstance(one, str):
                if one in seen:
                    found.append(index)
                seen.add(one)
        return found

    # The document

    def size(self, document: dict[str, Any]) -> int:
        return len(self.canonical(document))

    def check_size(self, document: dict[str, Any]) -> None:
        if self.size(document) > self.document_bytes:
            self.problem("document_too_large", "")
        if depth_of(document) > self.document_depth:
            self.problem("document_too_deep", "")

    def is_right_hash(self, claimed: str, document: dict[str, Any]) -> bool:
        return claimed == self.digest(document)

    def check_hash(self, document: dict[str, Any]) -> None:
        claimed = document.get("content_hash")
        if not isinstance(claimed, str) or not self.has_form("digest", claimed):
            return
        if not self.is_right_hash(claimed, document):
            self.problem("wrong_content_hash", "/content_hash")

    # Nodes

    def check_ids(self, graph: Graph) -> None:
        for node in graph.nodes:
            if node.name is not None and self.is_second(graph, node):
                self.problem("duplicate_node", node.at + "/id")

    def is_second(self, graph: Graph, node: Node) -> bool:
        return node.name is not None and graph.known[node.name] is not node

    belongs_to_handlers: tuple[str, ...] = ("outputs", "signals", "artifacts")

    def check_work(self, graph: Graph) -> None:
        for node in graph.nodes:
            both = "handler" in node.body and "child" in node.body
            neither = "handler" not in node.body and "child" not in node.body
            if self.is_wrong_work(both, neither):
                self.problem("handler_or_child", node.at)
            if "child" in node.body and "handler" not in node.body:
                for member in self.belongs_to_handlers:
                    if self.is_there(node.body, member):
                        self.problem("handler_or_child", f"{node.at}/{member}")

    def is_wrong_work(self, both: bool, neither: bool) -> bool:
        return both or neither

    def is_there(self, body: dict[str, Any], member: str) -> bool:
        return member in body

    def references(self, graph: Graph) -> Iterator[tuple[str, str, str]]:
        """Whatever names a node: what it is, the name, the pointer."""
        for node in graph.nodes:
            yield from (("dependency", name, at) for name, at in node.prerequisites)
            yield from self.outputs_named("mapping", node.body.get("input_mapping"), node.at + "/input_mapping")
        for edge in graph.edges:
            for end, name in (("from", edge.source), ("to", edge.target)):
                if name is not None:
                    yield end, name, f"{edge.at}/{end}"
        for name, at in strings(graph.body.get("initial_nodes"), graph.at + "/initial_nodes"):
            yield "initial", name, at
        yield from self.outputs_named("output", graph.body.get("outputs"), graph.at + "/outputs")

    def outputs_named(self, use: str, references: Any, at: str) -> Iterator[tuple[str, str, str]]:
        for key, value in entries(references):
            if isinstance(value, dict) and isinstance(value.get("node"), str):
                yield use, value["node"], self.below(at, key) + "/node"

    def check_known(self, graph: Graph) -> None:
        for use, name, at in self.references(graph):
            if not self.is_known(graph, use, name):
                self.problem("unknown_node", at)

    def is_known(self, graph: Graph, _use: str, name: str) -> bool:
        return name in graph.known

    # Graphs

    def dependency_cycles(self, graph: Graph) -> list[Arrow]:
        return cyclic(graph.known, graph.waits())

    def check_dependencies(self, graph: Graph) -> None:
        told: set[int] = set()
        closing = self.dependency_cycles(graph)
        component = components(graph.known, graph.waits()) if closing else {}
        for source, _, at in closing:
            if component[source] not in told:
                told.add(component[source])
                self.problem("dependency_cycle", at)

    def union_cycles(self, graph: Graph) -> list[Arrow]:
        """Cycles of dependencies alone have a problem of their own."""
        edges = {at for _, _, at in graph.leads()}
        return [arrow for arrow in cyclic(graph.known, graph.union()) if arrow[2] in edges]

    def check_cycles(self, graph: Graph) -> None:
        if "initial_nodes" not in graph.body and self.union_cycles(graph):
            self.problem("initial_nodes_needed", graph.at)

    def check_initial(self, graph: Graph) -> None:
        if graph.body.get("initial_nodes") == []:
            self.problem("no_initial_nodes", graph.at + "/initial_nodes")
        for name, at in strings(graph.body.get("initial_nodes"), graph.at + "/initial_nodes"):
            if name in graph.known and self.is_wrong_initial(graph, name):
                self.problem("initial_node_with_dependencies", at)

    def is_wrong_initial(self, graph: Graph, name: str) -> bool:
        return bool(graph.known[name].prerequisites)

    def initial(self, graph: Graph) -> list[str]:
        named = graph.named
        if named is not None:
            chosen = set(named)
            return [name for name in graph.known if name in chosen]
        entered = {edge.target for edge in graph.edges} | {
            node.name for node in graph.known.values() if node.prerequisites
        }
        return [name for name in graph.known if name not in entered]

    def loose(self, graph: Graph) -> list[str]:
        """Nodes of which it cannot be said, since something leads to them that is not there."""
        ends = [edge.target for edge in graph.edges if edge.source not in graph.known]
        ends += [n.name for n in graph.nodes if any(name not in graph.known for name, _ in n.prerequisites)]
        return [name for name in ends if name is not None and name in graph.known]

    def reached(self, graph: Graph, starts: list[str]) -> set[str]:
        return reach(starts, neighbours(graph.known, graph.union()))

    def check_reach(self, graph: Graph) -> None:
        """Without initial nodes that are named, all can be reached, or there is a cycle, which is told."""
        if not graph.named or any(name not in graph.known for name in graph.named):
            return
        self.tell_unreached(graph, self.reached(graph, self.initial(graph) + self.loose(graph)))

    def tell_unreached(self, graph: Graph, reached: set[str]) -> None:
        for name, node in graph.known.items():
            if name not in reached:
                self.problem("unreachable_node", node.at)

    # Data

    def declared(self, node: Node) -> set[str]:
        return {name for name, _ in strings(node.body.get("outputs"), "")} | {
            name for name, _ in entries(node.child.get("outputs"))
        }

    def sources(self, graph: Graph) -> dict[str, set[str]]:
        """From where each node may take its input."""
        sources: dict[str, set[str]] = {name: set() for name in graph.known}
        for source, target, _ in graph.union():
            sources[target].add(source)
        return sources

    def run_inputs(self, graph: Graph) -> set[str]:
        return {name for name, _ in strings(graph.body.get("inputs"), "")}

    def inputs_to_map(self, graph: Graph) -> set[str]:
        return self.run_inputs(graph)

    def check_mappings(self, graph: Graph) -> None:
        sources = self.sources(graph)
        inputs = self.inputs_to_map(graph)
        for node in graph.known.values():
            for key, value in entries(node.body.get("input_mapping")):
                at = self.below(node.at + "/input_mapping", key)
                match value:
                    case {"run_input": str(name)} if name not in inputs:
                        self.problem("undeclared_run_input", at + "/run_input")
                    case {"node": str(name), "output": str(output)} if name in graph.known and node.name is not None:
                        if name not in sources[node.name]:
                            self.problem("output_out_of_reach", at)
                        self.check_output(graph, name, output, at)

    def check_output(self, graph: Graph, name: str, output: str, at: str) -> None:
        if output not in self.declared(graph.known[name]):
            self.problem("undeclared_output", at + "/output")

    def check_outputs(self, graph: Graph) -> None:
        for key, value in entries(graph.body.get("outputs")):
            match value:
                case {"node": str(name), "output": str(output)} if name in graph.known:
                    self.check_output(graph, name, output, self.below(graph.at + "/outputs", key))

    ways: tuple[str, ...] = ("input", "artifacts", "input_mapping")

    def given(self, node: Node) -> list[tuple[str, str]]:
        """The input fields that a node gives, each with its pointer."""
        return [
            (name, self.below(f"{node.at}/{way}", name)) for way in self.ways for name, _ in entries(node.body.get(way))
        ]

    def check_given(self, graph: Graph) -> None:
        for node in graph.nodes:
            seen: set[str] = set()
            for name, at in self.given(node):
                if name in seen:
                    self.problem("input_given_twice", at)
                seen.add(name)

    def check_classes(self, graph: Graph) -> None:
        for node in graph.nodes:
            retry = node.body.get("retry")
            for kind, at in strings(retry.get("classes") if isinstance(retry, dict) else None, "/retry/classes"):
                if kind in KINDS and kind not in self.retry_classes:
                    self.problem("no_retry_class", node.at + at)

    def input_size(self, value: Any) -> int:
        return len(self.canonical(value))

    def check_input_size(self, graph: Graph) -> None:
        for node in graph.nodes:
            value = node.body.get("input")
            if isinstance(value, dict) and self.input_size(value) > self.input_bytes:
                self.problem("input_too_large", node.at + "/input")

    # Edges

    def check_never(self, graph: Graph) -> None:
        for edge in graph.edges:
            if edge.when is not None and edge.when[0] == "kind" and edge.when[1] in self.never:
                self.problem("never_matches", edge.at + "/when")

    def exclude_each_other(self, graph: Graph) -> Iterable[list[Edge]]:
        groups: dict[Any, list[Edge]] = {}
        for edge in graph.edges:
            if edge.mode == "exclusive" and edge.source is not None and edge.when not in (None, ("kind", "skipped")):
                groups.setdefault(edge.source, []).append(edge)
        return groups.values()

    def scalar_key(self, value: Any) -> Any:
        """Equal for scalars that are the same."""
        return ("number", value) if type(value) in (int, float) else (type(value).__name__, value)

    def marks(self, when: Predicate) -> list[Any]:
        """What an edge leaves behind for later ones to find."""
        if when[0] == "any":
            return ["edge", "any"]
        if when[0] == "kind":
            return ["edge", when, *(["carrier"] if when[1] in CARRYING else [])]
        return ["edge", "field", ("field", when[1], self.scalar_key(when[2]))]

    def looks(self, when: Predicate) -> list[Any]:
        """What an edge overlaps with if an earlier one left it."""
        if when[0] == "any":
            return ["edge"]
        if when[0] == "kind":
            return ["any", when, *(["field"] if when[1] in CARRYING else [])]
        return ["any", "carrier", ("field", when[1], self.scalar_key(when[2]))]

    def overlaps(self, edges: list[Edge]) -> Iterator[tuple[Edge, Edge]]:
        """Each edge that overlaps with an earlier one, with such a one; in linear time."""
        left: dict[Any, Edge] = {}
        fields: dict[str, Edge] = {}  # an edge for each of the first two fields: one of them is another than mine
        for edge in edges:
            assert edge.when is not None
            found = [left[mark] for mark in self.looks(edge.when) if mark in left]
            if edge.when[0] == "field":
                found += [other for name, other in fields.items() if name != edge.when[1]]
                if len(fields) < 2:
                    fields.setdefault(edge.when[1], edge)
            if found:
                yield edge, found[0]
            for mark in self.marks(edge.when):
                left.setdefault(mark, edge)

    def witness(self, one: Predicate, other: Predicate) -> Any:
        """An outcome that both match."""
        kind = next((when[1] for when in (one, other) if when[0] == "kind"), "succeeded")
        outcome: dict[str, Any] = {"kind": kind}
        if kind != "succeeded":
            outcome["reason"] = "a reason"
        output = {when[1]: when[2] for when in (one, other) if when[0] == "field"}
        return outcome | ({"output": output} if output else {})

    def check_overlaps(self, graph: Graph) -> None:
        for edges in self.exclude_each_other(graph):
            for edge, other in self.overlaps(edges):
                assert edge.when is not None
                assert other.when is not None
                self.problem("overlapping_edges", edge.at, self.witness(edge.when, other.when))

    # Handlers and children

    def in_catalogue(self, name: str, version: int) -> dict[str, Any] | None:
        for handler in self.catalogue or []:
            if (handler["name"], handler["version"]) == (name, version):
                return handler
        return None

    def is_catalogue_given(self) -> bool:
        return self.catalogue is not None

    def check_handlers(self, graph: Graph) -> None:
        if not self.is_catalogue_given():
            return
        for node in graph.nodes:
            match node.body.get("handler"):
                case {"name": str(name), "version": int(version)}:
                    handler = self.in_catalogue(name, version)
                    if handler is None:
                        self.problem("unknown_handler", node.at + "/handler")
                    else:
                        self.check_handler_inputs(node, handler)
                case _:
                    continue  # ill-formed, which is told, or a child

    def check_handler_inputs(self, node: Node, handler: dict[str, Any]) -> None:
        given = {name for name, _ in self.given(node)}
        for name in handler["inputs"]:
            if name not in given:
                self.problem("missing_input", node.at)

    def definition(self, workflow: str) -> Graph | None:
        return self.definitions.get(workflow)

    def check_children(self, graph: Graph) -> None:
        for node in graph.nodes:
            workflow = node.child.get("workflow")
            if not isinstance(workflow, str) or not self.has_form("reference", workflow):
                continue
            definition = self.definition(workflow)
            if definition is not None:
                self.check_child_inputs(node, definition)
                self.check_child_outputs(node, definition)
            elif workflow not in self.catalog:
                self.unknown_child(node)

    def unknown_child(self, node: Node) -> None:
        self.problem("unknown_child", node.at + "/child/workflow")

    def check_child_inputs(self, node: Node, definition: Graph) -> None:
        inputs = self.run_inputs(definition)
        given = self.given(node)
        for _ in inputs - {name for name, _ in given}:
            self.problem("missing_child_input", node.at)
        for name, at in given:
            if name not in inputs:
                self.problem("undeclared_child_input", at)

    def check_child_outputs(self, node: Node, definition: Graph) -> None:
        declared = {name for name, _ in entries(definition.body.get("outputs"))}
        for key, name in entries(node.child.get("outputs")):
            if isinstance(name, str) and name not in declared:
                self.problem("undeclared_child_output", self.below(node.at + "/child/outputs", key))

    def uses(self, graphs: list[Graph]) -> list[Arrow]:
        """Which definition each definition uses, and the document, whose name is empty."""
        names = {graph.at: key for key, graph in self.definitions.items()}
        return [
            (names.get(graph.at, ""), node.child["workflow"], node.at + "/child/workflow")
            for graph in graphs
            for node in graph.nodes
            if isinstance(node.child.get("workflow"), str) and node.child["workflow"] in self.definitions
        ]

    def recursions(self, names: list[str], uses: list[Arrow]) -> list[Arrow]:
        return cyclic(names, uses)

    def levels(self, names: list[str], uses: list[Arrow]) -> dict[str, int]:
        """How many child levels are below each; uses have no cycle."""
        after = neighbours(names, uses)
        levels: dict[str, int] = {}
        for name in components(names, uses):
            levels[name] = max((1 + levels.get(child, 0) for child in after[name]), default=0)
        return levels

    def check_levels(self, graphs: list[Graph]) -> None:
        uses = self.uses(graphs)
        names = ["", *self.definitions]
        told: set[int] = set()
        closing = self.recursions(names, uses)
        component = components(names, uses)
        for source, _, at in closing:
            if component[source] not in told:
                told.add(component[source])
                self.problem("child_recursion", at)
        used = {workflow for _, workflow, _ in uses}
        for key in self.definitions:
            if key not in used:
                self.warning("unused_child", self.below("/children", key))
        if closing:
            return
        levels = self.levels(names, uses)
        for source, target, at in uses:
            if levels[target] + 1 > self.child_levels and (not source or source not in used):
                self.problem("children_too_deep", at)

    # Warnings

    def warn_nodes(self, graph: Graph) -> None:
        looping = {source for source, _, _ in cyclic(graph.known, graph.union())}
        for node in graph.nodes:
            for name, at in node.prerequisites:
                if name in looping:
                    self.warning("dependency_on_loop", at)
            if "dependency_policy" in node.body and not node.prerequisites:
                self.warning("policy_without_dependencies", node.at + "/dependency_policy")
            retry = node.body.get("retry")
            if isinstance(retry, dict):
                self.warn_retry(retry, node.at + "/retry")

    def warn_retry(self, retry: dict[str, Any], at: str) -> None:
        if isinstance(retry.get("classes"), list) and "retryable_failure" not in retry["classes"]:
            self.warning("implied_retry_class", at + "/classes")
        match retry.get("backoff"):
            case {"initial_ms": int(initial), "maximum_ms": int(maximum)} if initial > maximum:
                self.warning("initial_exceeds_maximum", at + "/backoff/initial_ms")

    def warn_edges(self, graph: Graph) -> None:
        seen: set[Any] = set()
        sources: dict[str, str] = {}
        alone = all(edge.mode == "parallel" for edge in graph.edges) and not self.union_cycles(graph)
        for edge in graph.edges:
            if edge.when is None or edge.source is None or edge.target is None:
                continue
            same = (edge.source, edge.target, *self.marks(edge.when)[1:])
            if edge.mode == "parallel" and same in seen:
                self.warning("duplicate_edge", edge.at)
            if edge.mode == "parallel":
                seen.add(same)
            if alone and sources.setdefault(edge.target, edge.source) != edge.source:
                self.warning("edge_fan_in", edge.at)
            source = graph.known.get(edge.source)
            if edge.when[0] == "field" and source is not None and edge.when[1] not in self.declared(source):
                self.warning("undeclared_field", edge.at + "/when")

    def warn_budget(self, graph: Graph) -> None:
        match graph.body.get("budgets"):
            case {"max_transitions": int(most)} if most < len(self.initial(graph)):
                self.warning("budget_below_initial", graph.at + "/budgets/max_transitions")


# A parser of its own


TOKEN = re.compile(
    r"[ \t\n\r]*(?:(?P<mark>[{}\[\],:])|\"(?P<string>(?:[^\"\\\x00-\x1f]++|\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4}))*+)\""
    r"|(?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)|(?P<word>true|false|null))"
)
ESCAPE = re.compile(r"((?:\\u[0-9a-fA-F]{4})+)|\\(.)")
PLAIN_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescaped(match: re.Match[str]) -> str:
    if match[1]:
        units = b"".join(bytes.fromhex(unit) for unit in match[1].split("\\u")[1:])
        return units.decode("utf-16-be", "surrogatepass")
    return PLAIN_ESCAPES.get(match[2], match[2])


class Reader:
    """A parser of JSON that shares nothing with Python's."""

    def __init__(self, validator: Validator, source: str, *, spelled_keys: bool = False) -> None:
        self.validator = validator
        self.source = source
        self.position = 0
        self.spelled_keys = spelled_keys

    def lexeme(self) -> tuple[str, str]:
        match = TOKEN.match(self.source, self.position)
        if match is None or match.lastgroup is None:
            raise Unreadable("not_json")
        self.position = match.end()
        return match.lastgroup, match[match.lastgroup]

    def whole(self) -> Any:
        value = self.value(*self.lexeme(), 0)
        if self.source[self.position :].strip(" \t\n\r"):
            raise Unreadable("not_json")
        return value

    def value(self, group: str, lexeme: str, depth: int) -> Any:
        if group == "string":
            return ESCAPE.sub(unescaped, lexeme)
        if group == "number":
            return self.validator.fraction(lexeme) if set(lexeme) & set(".eE") else self.validator.whole(lexeme)
        if group == "word":
            return {"true": True, "false": False, "null": None}[lexeme]
        if depth >= self.validator.text_depth:
            raise Unreadable("too_deep")
        if lexeme == "[":
            return self.array(depth + 1)
        if lexeme == "{":
            return self.object(depth + 1)
        raise Unreadable("not_json")

    def array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        group, lexeme = self.lexeme()
        if lexeme == "]" and group == "mark":
            return found
        while True:
            found.append(self.value(group, lexeme, depth))
            if not self.goes_on("]"):
                return found
            group, lexeme = self.lexeme()

    def object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        spelled: set[str] = set()
        group, lexeme = self.lexeme()
        if lexeme == "}" and group == "mark":
            return found
        while True:
            if group != "string" or self.lexeme() != ("mark", ":"):
                raise Unreadable("not_json")
            key = ESCAPE.sub(unescaped, lexeme)
            if lexeme in spelled or (key in found and not self.spelled_keys):
                raise Unreadable("duplicate_key")
            spelled.add(lexeme)
            found[key] = self.value(*self.lexeme(), depth)
            if not self.goes_on("}"):
                return found
            group, lexeme = self.lexeme()

    def goes_on(self, end: str) -> bool:
        group, lexeme = self.lexeme()
        if group != "mark" or lexeme not in ("," + end):
            raise Unreadable("not_json")
        return lexeme == ","


# Documents


OMIT = object()  # the value of a member that a helper would add


def clean(members: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value is not OMIT}


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def node(name: str, *dependencies: str, **more: Any) -> dict[str, Any]:
    work = {} if "child" in more else {"handler": {"name": "h", "version": 1}}
    waits = {"dependencies": list(dependencies)} if dependencies else {}
    return clean({"id": name} | work | waits | more)


def calls(name: str, workflow: str, **more: Any) -> dict[str, Any]:
    """A node that runs a child."""
    outputs = {"outputs": more.pop("outputs")} if "outputs" in more else {}
    policy = {"policy": more.pop("policy", "propagate")}
    return node(name, child=clean({"workflow": workflow} | policy | outputs), **more)


def edge(source: str, target: str, when: Any = OMIT, mode: Any = OMIT) -> dict[str, Any]:
    return clean({"from": source, "to": target, "when": when, "mode": mode})


def only(source: str, target: str, when: Any = OMIT) -> dict[str, Any]:
    """An exclusive edge."""
    return edge(source, target, when, "exclusive")


def kind(outcome: str) -> dict[str, Any]:
    return {"outcome": outcome}


def has(name: str, value: Any) -> dict[str, Any]:
    return {"field": name, "equals": value}


def out(source: str, output: str) -> dict[str, Any]:
    return {"node": source, "output": output}


def inner(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A definition."""
    return {"nodes": list(nodes) or [node("a")]} | more


def doc(*nodes: dict[str, Any], version: Any = 5, **more: Any) -> str:
    head = {"schema_version": version, "workflow_id": "w", "workflow_version": 1}
    return compact(clean(head | {"nodes": list(nodes) or [node("a")]} | more))


def with_child(definition: dict[str, Any], *nodes: dict[str, Any], **more: Any) -> str:
    """A document that uses the definition."""
    return doc(*(nodes or (calls("c", "k@1"),)), children={"k@1": definition}, **more)


def spelled(source: str, *, member: str = "") -> str:
    """A document with an input spelled in a way of its own."""
    return doc(node("a", input="SPELLED")).replace('"SPELLED"', member or f'{{"x":{source}}}')


def fork(*whens: Any, names: str = "bcdefgh") -> str:
    """Exclusive edges from one node to one each."""
    targets = names[: len(whens)]
    edges = [only("a", target, when) for target, when in zip(targets, whens, strict=True)]
    return doc(node("a", outputs=["f", "g"]), *map(node, targets), edges=edges)


def chain(length: int, *, used: bool = True) -> str:
    """So many definitions, each of which runs the next."""
    keys = [f"k{number}@1" for number in range(1, length + 1)]
    children = {key: inner(calls("c", following)) for key, following in itertools.pairwise(keys)}
    return doc(calls("c", keys[0]) if used else node("a"), children=children | {keys[-1]: inner()})


def nested(depth: int) -> str:
    """A document that nests so deep; what is around `x` has five."""
    return spelled("[" * (depth - 4) + "]" * (depth - 4))


def filled(size: int, character: str = "x") -> str:
    """A document of this many bytes in canonical form, in inputs that are not too large."""
    width = len(character.encode())
    each = 60_000 // width
    nodes: list[dict[str, Any]] = []
    room = size - len(doc(node("a")).encode()) + len(compact(node("a")))
    while room > 0:
        name = f"n{len(nodes)}"
        count = min(each, (room - len(compact(node(name, input={"x": ""}))) - 1) // width)
        nodes.append(node(name, input={"x": character * count}))
        room -= len(compact(nodes[-1]).encode()) + 1
        if count < each:
            break
    nodes[-1]["input"]["x"] += "x" * (size - len(doc(*nodes).encode()))
    return doc(*nodes)


def sized_input(size: int, character: str = "x") -> dict[str, Any]:
    width = len(character.encode())
    count, rest = divmod(size - len(compact({"x": ""})), width)
    return {"x": character * count + "x" * rest}


def hashed(source: str) -> str:
    """The document with its right hash."""
    validator = Validator()
    document = validator.read(source)
    return compact(document | {"content_hash": validator.digest(document)})


ARTIFACT = {"artifact_id": "018f3a5c-0000-7000-8000-000000000001", "byte_length": 1, "sha256": "0" * 64}
HANDLER = {"name": "h", "version": 1, "inputs": ["x"]}


# The variants


@dataclass
class Variant:
    name: str
    kind: str
    breaks: list[str]
    sentence: str
    make: Callable[[], Validator]
    show: str | Callable[[], str] = ""
    handlers: list[dict[str, Any]] | None = None
    serve: dict[str, Any] = field(default_factory=dict)

    def listed(self) -> str:
        word = "oddity" if self.kind == "good" else "fault"
        return json.dumps({"name": self.name, "kind": self.kind, "breaks": self.breaks, word: self.sentence})

    def document(self) -> str:
        return self.show if isinstance(self.show, str) else self.show()


VARIANTS: dict[str, Variant] = {}


def made(name: str, overrides: dict[str, Any]) -> Callable[[], Validator]:
    unknown = [key for key in overrides if not hasattr(Validator, key)]
    assert not unknown, (name, unknown)
    made: Callable[[], Validator] = type(name, (Validator,), overrides)
    return made


def add(variant: Variant) -> None:
    assert variant.name not in VARIANTS, variant.name
    VARIANTS[variant.name] = variant


def good(name: str, oddity: str, serve: dict[str, Any] | None = None, **overrides: Any) -> None:
    add(Variant(name, "good", [], oddity, made(name, overrides), serve=serve or {}))


def broken(
    name: str,
    breaks: str,
    fault: str,
    show: str | Callable[[], str],
    handlers: list[dict[str, Any]] | None = None,
    **overrides: Any,
) -> None:
    add(Variant(name, "broken", breaks.split(), fault, made(name, overrides), show, handlers))


def top_only(check: str) -> dict[str, Any]:
    """The check, not done in definitions."""
    right = getattr(Validator, check)
    return {check: lambda self, graph: None if graph.at else right(self, graph)}


def nothing(_self: Validator, *_arguments: Any) -> None:
    return


def without(code: str) -> dict[str, Any]:
    """Problems of this code are not told."""
    right = Validator.problem

    def problem(self: Validator, said: str, pointer: str, witness: Any = None) -> None:
        if said != code:
            right(self, said, pointer, witness)

    return {"problem": problem}


def reshaped(*changes: tuple[str, str, Member]) -> dict[str, Any]:
    shapes = copy.copy(SHAPES)
    for shape, key, member in changes:
        shapes[shape] = shapes[shape] | {key: member}
    return {"shapes": shapes}


def form(which: str, accepts: Callable[[str], bool]) -> dict[str, Any]:
    right = Validator.has_form
    return {
        "has_form": lambda self, form, value: accepts(value) if form == which else right(self, form, value),
    }


# Good ones


def telling(*claimed: str) -> dict[str, bool]:
    return dict.fromkeys(claimed, True)


def bare_refusal(_self: Validator) -> dict[str, Any]:
    return {"valid": False}


def bare_acceptance(_self: Validator) -> dict[str, Any]:
    return {"valid": True}


def telling_only(*members: str) -> Callable[[Validator], dict[str, Any]]:
    def accepted(self: Validator) -> dict[str, Any]:
        return {key: value for key, value in Validator.accepted(self).items() if key in ("valid", *members)}

    return accepted


def with_consequences(self: Validator, graph: Graph) -> None:
    starts = [name for name in self.initial(graph) if name in graph.known]
    self.tell_unreached(graph, self.reached(graph, starts))
    if "initial_nodes" not in graph.body and cyclic(graph.known, graph.union()):
        self.problem("initial_nodes_needed", graph.at)


def last_of_cycles(self: Validator, graph: Graph) -> None:
    closing = self.dependency_cycles(graph)
    component = components(graph.known, graph.waits())
    for at in {component[source]: at for source, _, at in closing}.values():
        self.problem("dependency_cycle", at)


def other_witness(self: Validator, one: Predicate, other: Predicate) -> Any:
    outcome = Validator.witness(self, one, other)
    if all(when[0] != "kind" for when in (one, other)):
        outcome |= {"kind": "changes_requested", "reason": "Grüße, nicht ☃", "evidence": [ARTIFACT]}
    if outcome["kind"] in CARRYING:
        outcome["output"] = outcome.get("output", {}) | {"": None, "another": [1, {}]}
    return outcome


NO_CODES = telling("content_hash", "initial_nodes", "handlers")

good("right", "claims everything and is right")
good(
    "claims-nothing",
    "claims nothing and tells nothing but valid or not",
    capabilities={},
    refused=bare_refusal,
    accepted=bare_acceptance,
)
good("claims-false", "says of each capability that it has it not", capabilities=dict.fromkeys(CAPABILITIES, False))
good(
    "first-problem-only",
    "stops at the first problem, and does not claim all_problems",
    capabilities=dict.fromkeys(CAPABILITIES, True) | {"all_problems": False},
    arranged=lambda _self, problems: problems[:1],
)
STRUCTURE = {"unknown_member", "missing_member", "wrong_type", "unknown_word", "out_of_range", "wrong_form"}
good(
    "structure-first",
    "tells nothing else while the structure is wrong, and does not claim all_problems",
    capabilities={key: True for key in CAPABILITIES if key != "all_problems"},
    arranged=lambda _self, problems: [one for one in problems if one.code in STRUCTURE] or problems,
)
good("reverse-order", "tells the problems in reverse order", arranged=lambda _self, problems: problems[::-1])
good("each-problem-twice", "tells each problem twice", arranged=lambda _self, problems: problems + problems)


def warning_of_all(self: Validator, graph: Graph) -> None:
    Validator.warn_nodes(self, graph)
    for one in graph.nodes[:500]:  # An answer has at most 1,000 warnings.
        self.warning("no_description", one.at)


good(
    "extra-warnings",
    "warns of each node, and of what no page lists",
    warn_nodes=warning_of_all,
)
good("no-warnings", "never warns", accepted=telling_only("content_hash", "initial_nodes"))
good(
    "codes-of-its-own",
    "has codes of its own, and does not claim codes",
    capabilities=NO_CODES,
    told=lambda _self, problem: {"code": "E" + str(len(problem.code)), "pointer": problem.pointer},
)
good(
    "codes-without-pointers",
    "tells codes, and no pointers",
    capabilities=telling("codes", "all_problems"),
    told=lambda _self, problem: {"code": problem.code},
)
for _claim in CAPABILITIES:
    good(f"claims-{_claim.replace('_', '-')}-alone", f"claims {_claim} and nothing else", capabilities=telling(_claim))
good(
    "initial-nodes-without-hash",
    "tells the initial nodes of an accepted document, and no hash",
    capabilities=telling("codes", "initial_nodes"),
    accepted=telling_only("initial_nodes"),
)
good(
    "hash-without-initial-nodes",
    "tells the hash of an accepted document, and no initial nodes",
    capabilities=telling("codes", "content_hash"),
    accepted=telling_only("content_hash"),
)
good("parser-of-its-own", "reads with a parser of its own", loads=lambda self, source: Reader(self, source).whole())
good("slow-start", "takes two seconds before it answers the first request", start_seconds=2.0)
good(
    "consequences-too",
    "tells the consequences of a problem too: of an unknown node, the nodes that only it would lead to",
    check_reach=with_consequences,
)
good("other-end-of-cycles", "tells a cycle at its last member", check_dependencies=last_of_cycles)
good("other-witnesses", "its witnesses request changes, with evidence, and have fields besides", witness=other_witness)
good("definitions-first", "looks at definitions first", arranged=lambda _self, ps: sorted(ps, key=lambda p: not p[1]))
good("larger-limit", "takes documents of 64 MiB", max_document_bytes=64 * MIB)
good(
    "escapes-all",
    "answers in ASCII, with spaces, and with the id last",
    serve={"ensure_ascii": True, "separators": (" , ", " : ")},
)
good("long-name", "has a long name that is not ASCII", called="Prüfer für Abläufe ☃ " * 5)
good(
    "talks-on-standard-error",
    "writes a line on standard error for each document",
    refused=lambda self: (sys.stderr.write("refused\n"), Validator.refused(self))[1],
)
good(
    "canonical-form-by-another-writer",
    "always writes the canonical form with the library, never with the faster writer",
    canonical=lambda _self, value: rfc8785.dumps(value),
)


# Text


def walk(value: Any) -> Iterator[Any]:
    """Every value in it, without keys."""
    yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(one)


def mended(value: Any) -> Any:
    """Lone surrogates replaced."""
    source = json.dumps(value, ensure_ascii=False)
    return json.loads(source.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def mended_if_in_keys(self: Validator, value: Any) -> Any:
    self.surrogates_of_values = [Validator.surrogates(self, one) for one in walk(value) if isinstance(one, str)]  # type: ignore[attr-defined]
    return mended(value)


def read_as(change: Callable[[str], str]) -> dict[str, Any]:
    """What is read is changed before."""
    right = Validator.loads
    return {"loads": lambda self, source: right(self, change(source))}


def outside_strings(pattern: str, replacement: str) -> Callable[[str], str]:
    regex = re.compile(r'("(?:[^"\\]|\\.)*")|' + pattern)
    return lambda source: regex.sub(lambda match: match[1] or replacement, source)


broken(
    "duplicate-key-last-wins",
    "SPC-001",
    "of two equal keys it takes the last, as Python's json does",
    spelled('1,"x":2'),
    pairs=lambda _self, pairs: dict(pairs),
)
broken(
    "duplicate-key-first-wins",
    "SPC-001",
    "of two equal keys it takes the first",
    spelled('1,"x":2'),
    pairs=lambda _self, pairs: dict(pairs[::-1]),
)
broken(
    "duplicate-key-seen-at-the-top-only",
    "SPC-001",
    "it looks for duplicate keys in the outermost object only",
    spelled('1,"x":2'),
    pairs=lambda self, pairs: Validator.pairs(self, pairs) if "nodes" in dict(pairs) else dict(pairs),
)
broken(
    "duplicate-key-with-equal-value-accepted",
    "SPC-001",
    "a key that stands twice with the same value is accepted",
    spelled('1,"x":1'),
    pairs=lambda self, ps: dict(ps) if all(dict(ps)[k] == v for k, v in ps) else Validator.pairs(self, ps),
)
broken(
    "duplicate-key-compared-as-spelled",
    "SPC-001",
    "keys are compared before their escapes are read",
    spelled('1,"\\u0078":2'),
    loads=lambda self, source: Reader(self, source, spelled_keys=True).whole(),
)
broken("nan-accepted", "SPC-001", "NaN is read as a number", spelled("NaN"), constant=lambda _self, _token: 0)
broken(
    "overflow-accepted",
    "SPC-001",
    "1e400 is read as the largest number",
    spelled("1e400"),
    fraction=lambda self, token: 0 if math.isinf(float(token)) else Validator.fraction(self, token),
)
broken(
    "integers-without-end",
    "SPC-001",
    "integers of any size are accepted, as Python's are",
    spelled("9007199254740993"),
    whole=lambda _self, token: int(token),
)
broken("two-to-the-53-accepted", "SPC-001", "2^53 is taken for safe", spelled("9007199254740992"), largest=2**53)
broken(
    "negative-integers-without-end",
    "SPC-001",
    "only the upper end of the integers is looked at",
    spelled("-9007199254740993"),
    whole=lambda self, token: int(token) if token.startswith("-") else Validator.whole(self, token),
)
broken(
    "large-integers-rounded",
    "SPC-001",
    "an integer that is too large is rounded, as JavaScript does",
    spelled("9007199254740993"),
    whole=lambda self, token: Validator.whole(self, token) if len(token) < 16 else LARGEST,
)
broken(
    "lone-surrogates-replaced",
    "SPC-001",
    "a lone surrogate is replaced by U+FFFD",
    spelled('"\\ud800"'),
    surrogates=lambda _self, value: mended(value),
)
broken(
    "lone-surrogates-in-keys",
    "SPC-001",
    "lone surrogates are looked for in values, not in keys",
    spelled('1,"\\ud800":2'),
    surrogates=mended_if_in_keys,
)
broken(
    "low-surrogates-forgotten",
    "SPC-001",
    "only a high surrogate without a low one is refused, a low one alone is not",
    spelled('"\\udc00"'),
    surrogates=lambda self, value: (
        mended(value)
        if not re.search("[\ud800-\udbff]", json.dumps(value, ensure_ascii=False))
        else Validator.surrogates(self, value)
    ),
)
broken(
    "comments-accepted",
    "SPC-001",
    "comments are skipped",
    doc() + "//",
    **read_as(outside_strings(r"//[^\n]*", " ")),
)
broken(
    "trailing-commas-accepted",
    "SPC-001",
    "a comma before a closing bracket is skipped",
    spelled("[1,]"),
    **read_as(outside_strings(r",(?=\s*[\]}])", " ")),
)
broken(
    "text-after-the-end-ignored",
    "SPC-001",
    "what follows the document is not read",
    doc() + "}",
    loads=lambda self, source: json.JSONDecoder(
        object_pairs_hook=self.pairs, parse_int=self.whole, parse_float=self.fraction, parse_constant=self.constant
    ).raw_decode(source.lstrip())[0],
)
broken(
    "control-characters-accepted",
    "SPC-001",
    "a tab in a string needs no escape",
    spelled('"\t"'),
    loads=lambda self, source: json.loads(
        source,
        object_pairs_hook=self.pairs,
        parse_int=self.whole,
        parse_float=self.fraction,
        parse_constant=self.constant,
        strict=False,
    ),
)
broken(
    "leading-zeros-accepted",
    "SPC-001",
    "a number may begin with zeros",
    spelled("01"),
    **read_as(outside_strings(r"(?<=[:\[,\-])0+(?=[0-9])", "")),
)
broken(
    "other-spaces-accepted",
    "SPC-001",
    "a no-break space is white space",
    doc() + "\u00a0",
    **read_as(str.strip),
)
broken(
    "single-quotes-accepted",
    "SPC-001",
    "strings may stand in single quotes",
    spelled("''"),
    **read_as(outside_strings("'[^'\"]*'", '""')),
)

# What breaks no rule


def refuses(pattern: str) -> dict[str, Any]:
    """A text in which the pattern is found is no JSON."""
    right = Validator.loads

    def loads(self: Validator, source: str) -> Any:
        if re.search(pattern, source):
            raise Unreadable("not_json")
        return right(self, source)

    return {"loads": loads}


def spelled_integer(self: Validator, token: str) -> Any:
    self.plain = False
    return Validator.fraction(self, token) if not float(token).is_integer() else float(token)


broken(
    "version-must-come-first",
    "SPC-002",
    "the first member must be schema_version",
    compact(dict(reversed(json.loads(doc()).items()))),
    **refuses(r'^\s*\{\s*"(?!schema_version")'),
)
broken("one-point-zero-is-no-integer", "SPC-002", "1.0 is no integer", doc(version=5.0), fraction=spelled_integer)
broken(
    "exponents-refused",
    "SPC-002",
    "a number with an exponent is refused",
    spelled("1e0"),
    **refuses(r"[0-9][eE][+-]?[0-9]"),
)
broken("indentation-refused", "SPC-002", "white space before the document is refused", " " + doc(), **refuses(r"^\s"))
broken("carriage-return-refused", "SPC-002", "a carriage return is refused", doc() + "\r\n", **refuses(r"\r"))
broken(
    "escaped-keys-not-read",
    "SPC-002",
    "escapes in keys are not read",
    doc().replace('"nodes"', '"\\u006eodes"'),
    **read_as(lambda source: re.sub(r'\\u(?=[^"]*"\s*:)', r"\\\\u", source)),
)
broken("escaped-slash-refused", "SPC-002", "an escaped slash is refused", spelled('"\\/"'), **refuses(r"\\/"))
broken(
    "escaped-pairs-refused",
    "SPC-002",
    "an escaped surrogate pair is taken for two lone surrogates",
    spelled('"\\ud83d\\ude00"'),
    **refuses(r"\\u[dD][89abAB]"),
)
broken("fractions-refused", "SPC-002", "only integers are numbers", spelled("0.5"), **refuses(r"[0-9]\.[0-9]*[1-9]"))
broken("nul-refused", "SPC-002", "U+0000 in a string is refused", spelled('"\\u0000"'), **refuses(r"\\u0000"))
broken(
    "null-in-input-refused",
    "SPC-002",
    "null is refused wherever it stands",
    spelled("null"),
    **refuses(r"\bnull\b"),
)
broken(
    "empty-key-refused",
    "SPC-002",
    "the empty key of an input is refused",
    spelled("", member='{"":1}'),
    **refuses(r'""\s*:'),
)
broken(
    "input-fields-must-be-names",
    "SPC-002",
    "the keys of an input must be names",
    spelled("", member='{"a b":1}'),
    **reshaped(("node", "input", Member(1, False, mapping(anything)))),
)
broken("minus-zero-refused", "SPC-002", "-0 is refused", spelled("-0"), **refuses(r"-0(?![.0-9])"))
broken("non-ascii-refused", "SPC-002", "text that is not ASCII is refused", spelled('"é"'), **refuses(r"[^\x00-\x7f]"))

# Members and types


def unknown_accepted_in(*shapes: str) -> dict[str, Any]:
    right = Validator.unknown
    return {"unknown": lambda self, shape, key, at: None if shape in shapes else right(self, shape, key, at)}


def missing_accepted(shape: str, *keys: str) -> dict[str, Any]:
    right = Validator.missing
    return {
        "missing": lambda self, which, key, at: None if which == shape and key in keys else right(self, which, key, at)
    }


def accepts_integer(more: Callable[[Any], int | None]) -> dict[str, Any]:
    return {"as_integer": lambda _self, value: value if type(value) is int else more(value)}


broken(
    "true-is-one",
    "SPC-003",
    "true passes for the integer 1, as isinstance says in Python",
    doc(workflow_version=True),
    **accepts_integer(lambda value: int(value) if isinstance(value, bool) else None),
)
broken(
    "digits-are-an-integer",
    "SPC-003",
    "a string of digits is converted to an integer",
    doc(workflow_version="1"),
    **accepts_integer(lambda value: int(value) if isinstance(value, str) and value.isdecimal() else None),
)
broken(
    "fractions-are-truncated",
    "SPC-003",
    "1.5 is truncated to 1",
    doc(workflow_version=1.5),
    **accepts_integer(lambda value: int(value) if isinstance(value, float) else None),
)
broken(
    "null-is-absent",
    "SPC-003",
    "a member that is null counts as absent",
    doc(node("a", outputs=None)),
    is_absent=lambda _self, item: item is None,
)
for _shape, _show in {
    "document": doc(x=1),
    "definition": with_child(inner(x=1)),
    "node": doc(node("a", x=1)),
    "handler": doc(node("a", handler={"name": "h", "version": 1, "x": 1})),
    "child": with_child(inner(), node("c", child={"workflow": "k@1", "policy": "propagate", "x": 1})),
    "edge": doc(node("a"), node("b"), edges=[edge("a", "b") | {"x": 1}]),
    "retry": doc(node("a", retry={"x": 1})),
    "immediate": doc(node("a", retry={"backoff": {"kind": "immediate", "delay_ms": 1}})),
    "outcome": doc(node("a"), node("b"), edges=[edge("a", "b", kind("succeeded") | {"x": 1})]),
    "budgets": doc(budgets={"x": 1}),
    "artifact": doc(node("a", artifacts={"x": ARTIFACT | {"x": 1}})),
}.items():
    broken(
        f"unknown-member-accepted-in-{_shape}",
        "SPC-003",
        f"a member that is not listed is ignored in the shape {_shape!r}",
        _show,
        **unknown_accepted_in(_shape),
    )
broken(
    "extensions-accepted",
    "SPC-003",
    "members that begin with x- are ignored, as in OpenAPI",
    doc(**{"x-a": 1}),
    unknown=lambda self, shape, key, at: None if key[:2] == "x-" else Validator.unknown(self, shape, key, at),
)
broken(
    "workflow-version-defaults",
    "SPC-003",
    "a document without workflow_version has version 1",
    doc(workflow_version=OMIT),
    **missing_accepted("document", "workflow_version"),
)
broken(
    "schema-version-defaults",
    "SPC-003 SPC-007",
    "a document without schema_version is read as the newest",
    doc(version=OMIT),
    **missing_accepted("document", "schema_version"),
)
broken(
    "handler-version-defaults",
    "SPC-003",
    "a handler without a version has version 1",
    doc(node("a", handler={"name": "h"})),
    **missing_accepted("handler", "version"),
)
broken(
    "backoff-members-default",
    "SPC-003",
    "a missing member of a backoff has a default",
    doc(node("a", retry={"backoff": {"kind": "fixed"}})),
    **missing_accepted("fixed", "delay_ms"),
)
broken(
    "equals-defaults-to-null",
    "SPC-003",
    "a field predicate without equals compares with null",
    doc(node("a"), node("b"), edges=[edge("a", "b", {"field": "f"})]),
    **missing_accepted("field", "equals"),
)
broken(
    "one-for-an-array",
    "SPC-003",
    "a string stands for an array of one, as in lax YAML schemas",
    doc(node("a", outputs="f")),
    as_array=lambda _self, value: [value] if isinstance(value, str) else value if isinstance(value, list) else None,
)
broken(
    "equals-takes-arrays",
    "SPC-003",
    "a field predicate may compare with an array",
    doc(node("a"), node("b"), edges=[edge("a", "b", has("f", []))]),
    **reshaped(("field", "equals", Member(1, True, anything))),
)
broken(
    "input-may-be-an-array",
    "SPC-003",
    "an input may be any JSON, not only an object",
    doc(node("a", input=[])),
    **reshaped(("node", "input", Member(1, False, anything))),
)

# Words


def accepts_words(more: Callable[[str, tuple[str, ...]], bool]) -> dict[str, Any]:
    return {"is_word": lambda _self, value, words: value in words or more(value, words)}


broken(
    "words-in-any-case",
    "SPC-004",
    "a word is accepted in upper case",
    doc(node("a", dependency_policy="ALL_SUCCEEDED")),
    **accepts_words(lambda value, words: value.lower() in words),
)
broken(
    "words-are-trimmed",
    "SPC-004",
    "white space around a word is dropped",
    doc(cancellation="cascade "),
    **accepts_words(lambda value, words: value.strip() in words),
)
broken(
    "words-with-hyphens",
    "SPC-004",
    "a hyphen is as good as an underscore",
    doc(node("a", dependency_policy="all-succeeded")),
    **accepts_words(lambda value, words: value.replace("-", "_") in words),
)
for _word, (_words, _show) in {
    "mode": (MODES, doc(node("a"), node("b"), edges=[edge("a", "b", mode="x")])),
    "dependency-policy": (POLICIES, doc(node("a", dependency_policy="none_failed"))),
    "child-policy": (CHILD_POLICIES, with_child(inner(), calls("c", "k@1", policy="ignore"))),
    "outcome-kind": (KINDS, doc(node("a"), node("b"), edges=[edge("a", "b", kind("failed"))])),
    "backoff-kind": (BACKOFFS, doc(node("a", retry={"backoff": {"kind": "linear"}}))),
    "cancellation": (("cascade",), doc(cancellation="none")),
    "any": (("any",), doc(node("a"), node("b"), edges=[edge("a", "b", "all")])),
}.items():
    broken(
        f"unknown-{_word}-accepted",
        "SPC-004",
        f"an unknown {_word.replace('-', ' ')} is taken for the default",
        _show,
        **accepts_words(lambda _value, words, mine=_words: words == mine),  # type: ignore[misc]
    )
broken(
    "kinds-by-their-beginning",
    "SPC-004",
    "a word is recognised by its beginning",
    doc(node("a", retry={"classes": ["retryable"]})),
    **accepts_words(lambda value, words: any(known.startswith(value) for known in words)),
)

# Ranges

for _name, _shape, _key, _least, _show in (
    ("no-attempts-accepted", "retry", "max_attempts", 0, doc(node("a", retry={"max_attempts": 0}))),
    ("no-activations-accepted", "node", "max_activations", 0, doc(node("a", max_activations=0))),
    ("deadline-of-zero-accepted", "retry", "attempt_deadline_ms", 0, doc(node("a", retry={"attempt_deadline_ms": 0}))),
    ("unlimited-attempts-as-minus-one", "retry", "max_attempts", -1, doc(node("a", retry={"max_attempts": -1}))),
    ("budget-of-zero-accepted", "budgets", "max_elapsed_ms", 0, doc(budgets={"max_elapsed_ms": 0})),
    ("workflow-version-zero-accepted", "document", "workflow_version", 0, doc(workflow_version=0)),
    (
        "handler-version-zero-accepted",
        "handler",
        "version",
        0,
        doc(node("a", handler={"name": "h", "version": 0})),
    ),
    (
        "multiplier-zero-accepted",
        "exponential",
        "multiplier",
        0,
        doc(
            node("a", retry={"backoff": {"kind": "exponential", "initial_ms": 1, "multiplier": 0, "maximum_ms": 1}}),
        ),
    ),
    (
        "negative-delay-accepted",
        "fixed",
        "delay_ms",
        -LARGEST,
        doc(node("a", retry={"backoff": {"kind": "fixed", "delay_ms": -1}})),
    ),
):
    broken(
        _name,
        "SPC-005",
        f"{_key} may be {_least if _least > -2 else 'negative'}",
        _show,
        **reshaped((_shape, _key, Member(SHAPES[_shape][_key].since, SHAPES[_shape][_key].required, integer(_least)))),
    )
broken(
    "delay-of-zero-refused",
    "SPC-005",
    "a delay of 0 ms is refused",
    doc(node("a", retry={"backoff": {"kind": "fixed", "delay_ms": 0}})),
    **reshaped(("fixed", "delay_ms", Member(1, True, integer(1)))),
)
broken(
    "empty-artifact-refused",
    "SPC-005",
    "an artifact of 0 bytes is refused",
    doc(node("a", artifacts={"x": ARTIFACT | {"byte_length": 0}})),
    **reshaped(("artifact", "byte_length", Member(1, True, integer(1)))),
)
broken(
    "zero-jitter-refused",
    "SPC-005",
    "a jitter of at most 0 ms is refused",
    doc(node("a", retry={"jitter": {"seed": "", "maximum_ms": 0}})),
    **reshaped(("jitter", "maximum_ms", Member(1, True, integer(1)))),
)


def at_most_32_bits(self: Validator, value: Any) -> int | None:
    number = Validator.as_integer(self, value)
    return number if number is None or number < 2**31 else -1


broken(
    "integers-of-32-bits",
    "SPC-005",
    "an integer of more than 32 bits is refused",
    doc(workflow_version=2**31),
    as_integer=at_most_32_bits,
)
broken(
    "largest-integer-refused",
    "SPC-005",
    "2^53-1 itself is refused as an integer",
    doc(workflow_version=LARGEST),
    as_integer=lambda _self, value: value if type(value) is int and value < LARGEST else None,
)

# Identities

broken(
    "trailing-newline-in-a-name",
    "SPC-006",
    "the pattern ends with $, which takes a line feed at the end",
    doc(workflow_id="w\n"),
    **form("name", lambda value: re.match(r"^[A-Za-z_][A-Za-z0-9_.\-]{0,127}$", value) is not None),
)
broken(
    "names-matched-at-their-beginning",
    "SPC-006",
    "a name is matched at its beginning only",
    doc(workflow_id="w w"),
    **form("name", lambda value: re.match(r"[A-Za-z_][A-Za-z0-9_.\-]{0,127}", value) is not None and len(value) < 129),
)
broken(
    "unicode-names",
    "SPC-006",
    "the pattern uses \\w, which takes letters that are not ASCII",
    doc(workflow_id="é"),
    **form("name", lambda value: re.fullmatch(r"[^\W\d][\w.\-]{0,127}", value) is not None),
)
broken(
    "unicode-digits-in-names",
    "SPC-006",
    "the pattern uses \\d, which takes Arabic digits",
    doc(workflow_id="w١"),
    **form("name", lambda value: re.fullmatch(r"[A-Za-z_][A-Za-z_\d.\-]{0,127}", value) is not None),
)
broken(
    "names-of-129",
    "SPC-006",
    "a name may have 128 characters after the first",
    doc(workflow_id="w" * 129),
    **form("name", lambda value: re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.\-]{0,128}", value) is not None),
)
broken(
    "names-of-128-refused",
    "SPC-006",
    "a name of 128 characters is refused",
    doc(workflow_id="w" * 128),
    **form("name", lambda value: re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.\-]{0,126}", value) is not None),
)
broken(
    "names-begin-with-a-digit",
    "SPC-006",
    "a name may begin with a digit",
    doc(workflow_id="1"),
    **form("name", lambda value: re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,127}", value) is not None),
)
broken(
    "empty-names",
    "SPC-006",
    "the empty string is a name",
    doc(workflow_id=""),
    **form("name", lambda value: not value or FORMS["name"].fullmatch(value) is not None),
)
broken(
    "names-are-trimmed",
    "SPC-006",
    "white space around a name is dropped",
    doc(workflow_id=" w"),
    **form("name", lambda value: FORMS["name"].fullmatch(value.strip()) is not None),
)
broken(
    "names-without-dots",
    "SPC-006",
    "a dot in a name is refused",
    doc(workflow_id="w.w"),
    **form("name", lambda value: re.fullmatch(r"[A-Za-z_][A-Za-z0-9_\-]{0,127}", value) is not None),
)
broken(
    "uppercase-digests",
    "SPC-006",
    "a digest of an artifact may be in upper case",
    doc(node("a", artifacts={"x": ARTIFACT | {"sha256": "A" * 64}})),
    **form("digest", lambda value: FORMS["digest"].fullmatch(value.lower()) is not None),
)
broken(
    "any-spelling-of-a-uuid",
    "SPC-006",
    "a UUID is accepted in upper case, as libraries parse it",
    doc(node("a", artifacts={"x": ARTIFACT | {"artifact_id": ARTIFACT["artifact_id"].upper()}})),  # type: ignore[attr-defined]
    **form("uuid", lambda value: FORMS["uuid"].fullmatch(value.lower()) is not None),
)
broken(
    "keys-are-not-looked-at",
    "SPC-006",
    "the keys of an input mapping need not be names",
    doc(node("a", input_mapping={"a b": {"run_input": "x"}}), inputs=["x"]),
    **reshaped(("node", "input_mapping", Member(3, False, mapping(source_of_input, "anything")))),
    **form("anything", lambda _value: True),
)

# Versions

broken("version-6-accepted", "SPC-007", "a later version is read as the newest", doc(version=6), versions=range(1, 99))
broken(
    "version-0-accepted",
    "SPC-007",
    "version 0 is accepted",
    doc(version=0),
    versions=range(6),
    gated=lambda self, _shape, _key, since, _item, _at: since > max(self.version, 1),
)
broken("version-5-refused", "SPC-007", "a range ends before version 5", doc(), versions=range(1, 5))
broken("version-1-refused", "SPC-007", "only the newest version is known", doc(version=1), versions=(2, 3, 4, 5))


def gate(changed: Callable[[Validator, str, int, Any, str], bool]) -> dict[str, Any]:
    """Whether a member is refused: `changed(validator, member, since, value, pointer of the object)`."""
    return {
        "gated": lambda self, _shape, key, since, item, at: since > self.version and changed(self, key, since, item, at)
    }


broken(
    "no-version-gates",
    "SPC-008",
    "a member of a later version is accepted",
    doc(node("a", retry={}), version=3),
    **gate(lambda *_: False),
)
broken(
    "no-version-gates-in-definitions",
    "SPC-008",
    "a member of a later version is accepted in definitions",
    with_child(inner(node("a", retry={})), version=3),
    **gate(lambda _self, _key, _since, _item, at: not at.startswith("/children")),
)
broken(
    "no-version-gates-in-nodes",
    "SPC-008",
    "only the members of the document itself are gated",
    doc(node("a", signals=[]), version=4),
    **gate(lambda _self, _key, _since, _item, at: not at),
)
for _key, _show in {
    "max_activations": doc(node("a", max_activations=1), version=2),
    "signals": doc(node("a", signals=["s"]), version=4),
    "artifacts": doc(node("a", artifacts={"x": ARTIFACT}), version=1),
    "cancellation": doc(cancellation="cascade", version=4),
    "budgets": doc(budgets={}, version=3),
    "inputs": doc(inputs=["x"], version=2),
    "dependency_policy": doc(node("a", dependency_policy="any_succeeded"), version=1),
}.items():
    broken(
        f"version-gate-of-{_key.replace('_', '-')}-forgotten",
        "SPC-008",
        f"{_key} is accepted in every version",
        _show,
        **gate(lambda _self, key, _since, _item, _at, mine=_key: key != mine),  # type: ignore[misc]
    )
broken(
    "defaults-pass-version-gates",
    "SPC-008",
    "a member of a later version is accepted if it says the default",
    doc(cancellation="cascade", version=4),
    **gate(lambda _self, _key, _since, item, _at: item not in ("cascade", "all_succeeded", "parallel")),
)
broken(
    "empty-members-pass-version-gates",
    "SPC-008",
    "a member of a later version is accepted if it is empty",
    doc(edges=[], version=2),
    **gate(lambda _self, _key, _since, item, _at: bool(item)),
)
broken(
    "version-gates-off-by-one",
    "SPC-008",
    "a member is accepted one version before its own",
    doc(cancellation="cascade", version=4),
    **gate(lambda self, _key, since, _item, _at: since > self.version + 1),
)

# Sizes

broken(
    "documents-without-end",
    "SPC-009",
    "the size of a document is not looked at",
    lambda: filled(15 * MIB + 1),
    size=lambda *_: 0,
)
broken(
    "document-limit-exclusive",
    "SPC-009",
    "a document of exactly 15 MiB is refused",
    lambda: filled(15 * MIB),
    document_bytes=15 * MIB - 1,
)
broken(
    "document-limit-in-decimal-megabytes",
    "SPC-009",
    "the limit is 15,000,000 bytes",
    lambda: filled(15_000_001),
    document_bytes=15_000_000,
)
broken(
    "document-limit-of-16-mib",
    "SPC-009",
    "the limit of the text is taken for that of the canonical form",
    lambda: filled(15 * MIB + 1),
    document_bytes=16 * MIB,
)
broken(
    "document-measured-as-spelled",
    "SPC-009",
    "the text is measured, with its white space, and not the canonical form",
    lambda: doc() + " " * 15 * MIB,
    size=lambda self, _document: len(self.source.encode()),
)
broken(
    "document-measured-in-characters",
    "SPC-009",
    "characters are counted, not bytes",
    lambda: filled(15 * MIB + 1, "é"),
    size=lambda self, document: len(self.canonical(document).decode()),
)
broken("depth-91-accepted", "SPC-009", "the depth is off by one", nested(91), document_depth=91)
broken("depth-90-refused", "SPC-009", "the limit of the depth is exclusive", nested(90), document_depth=89)
broken(
    "depth-limit-of-the-text", "SPC-009", "only the limit of 100 of the text is known", nested(91), document_depth=100
)
broken(
    "inputs-without-end",
    "SPC-010",
    "the size of an input is not looked at",
    lambda: doc(node("a", input=sized_input(65_537))),
    check_input_size=nothing,
)
broken(
    "input-limit-exclusive",
    "SPC-010",
    "an input of exactly 65,536 bytes is refused",
    lambda: doc(node("a", input=sized_input(65_536))),
    input_bytes=65_535,
)
broken(
    "input-measured-in-characters",
    "SPC-010",
    "characters are counted, not bytes",
    lambda: doc(node("a", input=sized_input(65_537, "é"))),
    input_size=lambda self, value: len(self.canonical(value).decode()),
)
broken(
    "input-measured-in-ascii",
    "SPC-010",
    "an input is measured with everything escaped that is not ASCII",
    lambda: doc(node("a", input=sized_input(60_000, "é"))),
    input_size=lambda _self, value: len(json.dumps(value, separators=(",", ":"))),
)
broken(
    "input-measured-with-spaces",
    "SPC-010",
    "an input is measured as Python writes it, with spaces",
    lambda: doc(node("a", input=sized_input(65_536))),
    input_size=lambda _self, value: len(json.dumps(value, ensure_ascii=False).encode()),
)
broken(
    "inputs-without-end-in-definitions",
    "SPC-010 CHD-006",
    "the size of an input is not looked at in definitions",
    lambda: with_child(inner(node("a", input=sized_input(65_537)))),
    **top_only("check_input_size"),
)
broken(
    "strings-of-inputs-measured-alone",
    "SPC-010",
    "each string of an input is measured, not the whole",
    lambda: doc(node("a", input={"x": "x" * 40_000, "y": "y" * 40_000})),
    input_size=lambda _self, value: max((len(str(one).encode()) for one in value.values()), default=0),
)

# The content hash


def sha256(data: bytes | str) -> str:
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def unhashed(document: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in ("content_hash", *keys)}


def sorted_by(writer: Callable[[Any], str]) -> Callable[[Any, dict[str, Any]], str]:
    return lambda _self, document: sha256(writer(unhashed(document)))


def in_order(document: Any) -> str:
    return compact(document)


def in_ascii(document: Any) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def by_code_point(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def with_spaces(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, sort_keys=True)


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return value


def normalised(value: Any) -> Any:
    return json.loads(unicodedata.normalize("NFC", json.dumps(value, ensure_ascii=False)))


ORDERED = doc(node("a"))
ACCENTED = spelled('"é"')
ASTRAL = spelled("", member='{"\U0001f600":1,"\ufb33":2}')
TINY = spelled("1e-7")

for _name, _writer, _sentence, _show in (
    ("insertion-order", in_order, "over the members in the order in which they stand", ORDERED),
    ("ascii", in_ascii, "over text in which all is escaped that is not ASCII", ACCENTED),
    ("code-points", by_code_point, "over keys sorted by code point, not by UTF-16 unit", ASTRAL),
    ("python-numbers", by_code_point, "over numbers as Python writes them", TINY),
    ("spaces", with_spaces, "over text with spaces after commas and colons", ORDERED),
):
    broken(
        f"hash-checked-over-{_name}",
        "SPC-011",
        f"the content hash is compared with one {_sentence}",
        hashed(_show),
        is_right_hash=lambda _self, claimed, document, writer=_writer: claimed == sha256(writer(unhashed(document))),
    )
    broken(f"hash-told-over-{_name}", "SPC-012", f"the hash is taken {_sentence}", _show, told_hash=sorted_by(_writer))
broken(
    "hash-not-checked",
    "SPC-011",
    "the content hash is not compared",
    doc(content_hash="0" * 64),
    is_right_hash=lambda *_: True,
)
broken(
    "hash-compared-by-its-beginning",
    "SPC-011",
    "only the first eight digits of the hash are compared",
    re.sub(r'(?<="content_hash":".{8}).{8}', "0" * 8, hashed(doc())),
    is_right_hash=lambda self, claimed, document: claimed[:8] == self.digest(document)[:8],
)
broken(
    "hash-checked-over-itself",
    "SPC-011",
    "the document is hashed with an empty content hash, not without one",
    hashed(doc()),
    is_right_hash=lambda self, claimed, document: claimed == sha256(self.canonical(document | {"content_hash": ""})),
)
broken(
    "hash-required",
    "SPC-011",
    "a document without a content hash is refused",
    doc(),
    check_hash=lambda self, document: (
        Validator.check_hash(self, document) if "content_hash" in document else self.problem("wrong_content_hash", "")
    ),
)
broken(
    "hash-checked-without-schema",
    "SPC-011",
    "$schema is left out of the hash",
    hashed(doc(**{"$schema": "s"})),
    is_right_hash=lambda self, claimed, document: claimed == sha256(self.canonical(unhashed(document, "$schema"))),
)
broken(
    "hash-told-includes-itself",
    "SPC-012",
    "the hash is taken over the content hash too",
    hashed(doc()),
    told_hash=lambda self, document: sha256(self.canonical(document)),
)
broken(
    "hash-told-without-schema",
    "SPC-012",
    "$schema is left out of the hash",
    doc(**{"$schema": "s"}),
    told_hash=lambda self, document: sha256(self.canonical(unhashed(document, "$schema"))),
)
broken(
    "hash-told-in-upper-case",
    "SPC-012",
    "the hash is told in upper case",
    doc(),
    told_hash=lambda self, document: self.digest(document).upper(),
)
broken(
    "hash-told-of-the-text",
    "SPC-012",
    "the text is hashed as it stands",
    doc(),
    told_hash=lambda self, _document: sha256(self.source),
)
broken(
    "hash-told-without-nulls",
    "SPC-012",
    "members that are null are left out of the hash",
    spelled("null"),
    told_hash=lambda self, document: self.digest(
        without_nulls(document | {"nodes": [*map(without_nulls, document["nodes"])]})
    ),
)
broken(
    "hash-told-normalised",
    "SPC-012",
    "strings are normalised to NFC before they are hashed",
    spelled('"e\u0301"'),
    told_hash=lambda self, document: self.digest(normalised(document)),
)
broken(
    "hash-told-with-defaults",
    "SPC-012",
    "defaults are filled in before the hash is taken",
    doc(),
    told_hash=lambda self, document: self.digest({"cancellation": "cascade"} | document),
)
broken(
    "hash-told-by-spelling-of-numbers",
    "SPC-012",
    "1.0 and 1 have different hashes",
    spelled("1.0"),
    told_hash=lambda self, document: (
        sha256(self.canonical(unhashed(document)) + b".0")
        if re.search(r"[:,\[]\d+\.0\b", self.source)
        else self.digest(document)
    ),
)

# Nodes

TWICE = doc(node("a"), node("a"))
broken("duplicate-ids-accepted", "SPC-013", "of two nodes with one id the first counts", TWICE, check_ids=nothing)
broken(
    "duplicate-ids-accepted-in-definitions",
    "SPC-013 CHD-006",
    "two nodes with one id are accepted in a definition",
    with_child(inner(node("a"), node("a"))),
    **top_only("check_ids"),
)
broken(
    "only-neighbouring-duplicate-ids-found",
    "SPC-013",
    "an id is compared with that of the node before",
    doc(node("a"), node("b"), node("a")),
    is_second=lambda _self, graph, node: any(
        one.name == node.name and other is node for one, other in itertools.pairwise(graph.nodes)
    ),
)
broken(
    "duplicate-ids-with-other-handlers-accepted",
    "SPC-013",
    "only nodes that are equal altogether are duplicates",
    doc(node("a"), node("a", outputs=[])),
    is_second=lambda _self, graph, node: (
        graph.known[node.name] is not node and graph.known[node.name].body == node.body
    ),
)
broken(
    "ids-unique-across-definitions",
    "SPC-013",
    "an id of the document may not stand in a definition",
    with_child(inner(node("c"))),
    is_second=lambda self, graph, node: (
        Validator.is_second(self, graph, node) or (bool(graph.at) and node.name in Graph("", self.document).known)
    ),
)
broken(
    "ids-compared-in-any-case",
    "SPC-013",
    "ids that differ in case only are duplicates",
    doc(node("a"), node("A")),
    is_second=lambda _self, graph, node: (
        next(one for one in graph.nodes if str(one.name).lower() == node.name.lower()) is not node
    ),
)
BOTH = calls("c", "k@1", handler={"name": "h", "version": 1})
broken(
    "handler-and-child-accepted",
    "SPC-014",
    "a node with both has its child ignored",
    with_child(inner(), BOTH),
    is_wrong_work=lambda _self, _both, neither: neither,
)
broken(
    "neither-handler-nor-child-accepted",
    "SPC-014",
    "a node with neither does nothing",
    doc(node("a", handler=OMIT)),
    is_wrong_work=lambda _self, both, _neither: both,
)
for _key, _value in {"outputs": ["f"], "signals": ["s"], "artifacts": {"x": ARTIFACT}}.items():
    broken(
        f"{_key}-of-a-child-node-accepted",
        "SPC-014",
        f"a node with a child may have {_key}",
        with_child(inner(inputs=["x"] if _key == "artifacts" else []), calls("c", "k@1") | {_key: _value}),
        belongs_to_handlers=tuple(key for key in Validator.belongs_to_handlers if key != _key),
    )
broken(
    "neither-accepted-in-definitions",
    "SPC-014 CHD-006",
    "nodes of definitions need neither handler nor child",
    with_child(inner(node("a", handler=OMIT))),
    **top_only("check_work"),
)


def unknown_names_accepted(use: str) -> dict[str, Any]:
    right = Validator.is_known
    return {"is_known": lambda self, graph, which, name: which == use or right(self, graph, which, name)}


def is_known_anywhere(self: Validator, graph: Graph, use: str, name: str) -> bool:
    return Validator.is_known(self, graph, use, name) or any(
        name in other.known for other in [Graph("", self.document), *self.definitions.values()]
    )


for _use, _show in {
    "dependency": doc(node("a", "x")),
    "from": doc(edges=[edge("x", "a")]),
    "to": doc(edges=[edge("a", "x")]),
    "initial": doc(initial_nodes=["a", "x"]),
    "mapping": doc(node("a", input_mapping={"i": out("x", "f")})),
    "output": doc(outputs={"o": out("x", "f")}),
}.items():
    broken(
        f"unknown-node-accepted-as-{_use}",
        "SPC-015",
        f"a name of no node is accepted where it is used as {_use!r}",
        _show,
        **unknown_names_accepted(_use),
    )
broken(
    "nodes-of-other-graphs-known",
    "SPC-015",
    "a definition may name a node of the document",
    with_child(inner(node("a", "c"))),
    is_known=is_known_anywhere,
)
broken(
    "unknown-nodes-accepted-in-definitions",
    "SPC-015 CHD-006",
    "unknown nodes are accepted in definitions",
    with_child(inner(node("a", "x"))),
    **top_only("check_known"),
)


def repeats_accepted(array: str) -> dict[str, Any]:
    right = Validator.repeated
    return {"repeated": lambda self, which, value, at: [] if which == array else right(self, which, value, at)}


for _array, _show in {
    "dependencies": doc(node("a"), node("b", "a", "a")),
    "initial_nodes": doc(initial_nodes=["a", "a"]),
    "inputs": doc(inputs=["x", "x"]),
    "outputs": doc(node("a", outputs=["f", "f"])),
    "signals": doc(node("a", signals=["s", "s"])),
    "classes": doc(node("a", retry={"classes": ["retryable_failure"] * 2})),
}.items():
    broken(
        f"name-twice-in-{_array.replace('_', '-')}-accepted",
        "SPC-016",
        f"a name may stand twice in {_array}",
        _show,
        **repeats_accepted(_array),
    )
broken(
    "only-neighbouring-names-compared",
    "SPC-016",
    "a name is compared with the one before",
    doc(node("a", outputs=["f", "g", "f"])),
    repeated=lambda _self, _array, value, _at: [i for i in range(1, len(value)) if value[i] == value[i - 1]],
)
broken(
    "names-twice-accepted-in-definitions",
    "SPC-016 CHD-006",
    "a name may stand twice in an array of a definition",
    with_child(inner(node("a", outputs=["f", "f"]))),
    repeated=lambda self, array, value, at: (
        [] if at.startswith("/children") else Validator.repeated(self, array, value, at)
    ),
)
broken(
    "names-compared-in-any-case",
    "SPC-016",
    "names that differ in case only count as the same",
    doc(node("a", outputs=["f", "F"])),
    repeated=lambda self, array, value, at: Validator.repeated(self, array, [str(v).lower() for v in value], at),
)

# Cycles


def loops(names: Iterable[str], arrows: list[Arrow], length: int) -> list[Arrow]:
    """The arrows that close a cycle of at most this length."""
    after = neighbours(names, arrows)
    found = []
    for arrow in arrows:
        reached = {arrow[1]}
        for _ in range(length - 1):
            reached |= {other for name in reached for other in after[name]}
        if arrow[0] in reached:
            found.append(arrow)
    return found


def from_first(names: Iterable[str], arrows: list[Arrow]) -> list[Arrow]:
    """Only what can be reached from the first name."""
    names = list(names)
    seen = reach(names[:1], neighbours(names, arrows))
    return [arrow for arrow in cyclic(names, arrows) if arrow[0] in seen]


def back_to_first(names: Iterable[str], arrows: list[Arrow]) -> list[Arrow]:
    """Only cycles that come back to where the search began, with nodes seen before left out of later searches."""
    after = neighbours(names, arrows)
    seen: set[str] = set()
    found = []
    for start in after:
        component = reach([start], after)
        found += [arrow for arrow in arrows if arrow[1] == start and arrow[0] in component - seen]
        seen |= component
    return [arrow for arrow in found if arrow in cyclic(after, arrows)]


def met_again(names: Iterable[str], arrows: list[Arrow]) -> list[Arrow]:
    """Whatever is met twice in a search closes a cycle: a diamond too."""
    after = neighbours(names, arrows)
    for start in after:
        work, seen = [start], set()
        while work:
            name = work.pop()
            if name in seen:
                return [arrow for arrow in arrows if arrow[1] == name][:1]
            seen.add(name)
            work += after[name]
    return []


def waits_by(finder: Callable[[Iterable[str], list[Arrow]], list[Arrow]]) -> dict[str, Any]:
    return {
        "dependency_cycles": lambda _self, graph: finder(graph.known, graph.waits()),
        "check_dependencies": lambda self, graph: [
            self.problem("dependency_cycle", at) for _, _, at in self.dependency_cycles(graph)[:1]
        ],
    }


def no_self(names: Iterable[str], arrows: list[Arrow]) -> list[Arrow]:
    return cyclic(names, [arrow for arrow in arrows if arrow[0] != arrow[1]])


SELF = doc(node("a", "a"))
PAIR = (node("b", "c"), node("c", "b"))
RING = doc(node("a", "c"), node("b", "a"), node("c", "b"))
REACHED = {"edges": [edge("a", "b")], "initial_nodes": ["a"]}
broken("self-dependency-missed", "SPC-017", "a node that depends on itself is accepted", SELF, **waits_by(no_self))
broken(
    "only-cycles-of-two-found",
    "SPC-017",
    "only two nodes that depend on each other, or one on itself, are found",
    RING,
    **waits_by(lambda names, arrows: loops(names, arrows, 2)),
)
broken(
    "only-self-dependency-found",
    "SPC-017",
    "only a node that depends on itself is found",
    doc(*PAIR),
    **waits_by(lambda names, arrows: loops(names, arrows, 1)),
)
broken(
    "only-cycles-of-ten-found",
    "SPC-017",
    "the search for a cycle gives up after ten steps",
    doc(*(node(f"n{i}", f"n{(i + 1) % 11}") for i in range(11))),
    **waits_by(lambda names, arrows: loops(names, arrows, 10)),
)
broken(
    "cycles-from-the-first-node-only",
    "SPC-017",
    "cycles are looked for from the first node only",
    doc(node("a"), *PAIR, **REACHED),
    **waits_by(from_first),
)
broken(
    "cycles-behind-a-tail-missed",
    "SPC-017",
    "a cycle is found only if it leads back to where the search began, and what was seen is not searched again",
    doc(node("x"), node("a", "b", "x"), node("b", "a")),
    **waits_by(back_to_first),
)
broken(
    "dependency-cycles-not-looked-for",
    "SPC-017",
    "cycles of dependencies are not looked for",
    SELF,
    check_dependencies=nothing,
)
broken(
    "dependency-cycles-as-unreachable-only",
    "SPC-017",
    "a cycle of dependencies is refused only if no initial node leads to it",
    doc(node("a"), node("b", "b"), edges=[edge("a", "b")], initial_nodes=["a"]),
    check_dependencies=nothing,
    check_reach=lambda self, graph: self.tell_unreached(graph, self.reached(graph, self.initial(graph))),
)
broken(
    "dependency-cycles-missed-in-definitions",
    "SPC-017 CHD-006",
    "cycles of dependencies are not looked for in definitions",
    with_child(inner(node("a", "a"))),
    **top_only("check_dependencies"),
)
broken(
    "diamond-is-a-cycle",
    "SPC-017",
    "a node whose prerequisites share one is called a cycle",
    doc(node("a"), node("b", "a"), node("c", "a"), node("d", "b", "c")),
    **waits_by(met_again),
)
broken(
    "cycle-of-edges-is-a-dependency-cycle",
    "SPC-017 EDG-006",
    "cycles are looked for in the union graph",
    doc(edges=[edge("a", "a")], initial_nodes=["a"]),
    dependency_cycles=lambda _self, graph: cyclic(graph.known, graph.union()),
    check_dependencies=lambda self, graph: [
        self.problem("dependency_cycle", at) for _, _, at in self.dependency_cycles(graph)
    ],
)

TURN = [edge("a", "b"), edge("b", "a")]
broken(
    "initial-nodes-never-needed",
    "SPC-018",
    "a document with a cycle of edges needs no initial nodes",
    doc(edges=[edge("a", "a")]),
    check_cycles=nothing,
)
broken(
    "self-edge-needs-no-initial-nodes",
    "SPC-018",
    "an edge back to its own source counts as no cycle",
    doc(edges=[edge("a", "a")]),
    union_cycles=lambda _self, graph: no_self(graph.known, graph.union()),
)
broken(
    "mixed-cycle-needs-no-initial-nodes",
    "SPC-018",
    "cycles are looked for among edges alone, not in the union graph",
    doc(node("a"), node("b", "a"), edges=[edge("b", "a")]),
    union_cycles=lambda _self, graph: cyclic(graph.known, graph.leads()),
)
broken(
    "cycle-with-an-entry-needs-no-initial-nodes",
    "SPC-018",
    "initial nodes are needed only if every node has something before it",
    doc(node("a"), node("b"), edges=[edge("a", "b"), edge("b", "b")]),
    union_cycles=lambda self, graph: [] if self.initial(graph) else Validator.union_cycles(self, graph),
)
broken(
    "edges-need-initial-nodes",
    "SPC-018",
    "a document with edges must name initial nodes, even without a cycle",
    doc(node("a"), node("b"), edges=[edge("a", "b")]),
    union_cycles=lambda _self, graph: graph.leads(),
)
broken(
    "definitions-need-no-initial-nodes",
    "SPC-018 CHD-006",
    "a definition with a cycle of edges needs no initial nodes",
    with_child(inner(edges=[edge("a", "a")])),
    **top_only("check_cycles"),
)
broken(
    "shared-target-needs-initial-nodes",
    "SPC-018",
    "two ways to one node are called a cycle",
    doc(*map(node, "abcd"), edges=[edge("a", "b"), edge("a", "c"), edge("b", "d"), edge("c", "d")]),
    union_cycles=lambda _self, graph: met_again(graph.known, graph.union()),
)

# Initial nodes

broken(
    "empty-initial-nodes-accepted",
    "SPC-019",
    "an empty array of initial nodes counts as none",
    doc(initial_nodes=[]),
    **without("no_initial_nodes"),
)
broken(
    "initial-node-with-dependencies-accepted",
    "SPC-019",
    "an initial node may have dependencies",
    doc(node("a"), node("b", "a"), initial_nodes=["a", "b"]),
    is_wrong_initial=lambda *_: False,
)
broken(
    "only-first-initial-node-looked-at",
    "SPC-019",
    "only the first initial node must be without dependencies",
    doc(node("a"), node("b", "a"), initial_nodes=["a", "b"]),
    is_wrong_initial=lambda self, graph, name: name == graph.named[0] and Validator.is_wrong_initial(self, graph, name),
)
broken(
    "initial-node-with-edges-refused",
    "SPC-019",
    "an initial node with incoming edges is refused",
    doc(edges=[edge("a", "a")], initial_nodes=["a"]),
    is_wrong_initial=lambda self, graph, name: (
        Validator.is_wrong_initial(self, graph, name) or any(edge.target == name for edge in graph.edges)
    ),
)
broken(
    "initial-nodes-of-definitions-not-looked-at",
    "SPC-019 CHD-006",
    "initial nodes of a definition may be none",
    with_child(inner(initial_nodes=[])),
    **top_only("check_initial"),
)


def reached_by(arrows: Callable[[Graph], list[Arrow]]) -> dict[str, Any]:
    return {"reached": lambda _self, graph, starts: reach(starts, neighbours(graph.known, arrows(graph)))}


ISLAND = doc(node("a"), node("b"), initial_nodes=["a"])
broken("unreachable-nodes-accepted", "SPC-020", "unreachable nodes are accepted", ISLAND, check_reach=nothing)
broken(
    "reachable-by-edges-only",
    "SPC-020",
    "a node is reached by edges only, not by dependencies",
    doc(node("a"), node("b", "a"), initial_nodes=["a"]),
    **reached_by(Graph.leads),
)
broken(
    "reachable-by-dependencies-only",
    "SPC-020",
    "a node is reached by dependencies only, not by edges",
    doc(node("a"), node("b"), edges=[edge("a", "b")], initial_nodes=["a"]),
    **reached_by(Graph.waits),
)
broken(
    "reachable-from-the-first-initial-node-only",
    "SPC-020",
    "the search begins at the first initial node only",
    doc(node("a"), node("b"), initial_nodes=["a", "b"]),
    reached=lambda self, graph, starts: Validator.reached(self, graph, starts[:1]),
)
broken(
    "reachable-in-one-step-only",
    "SPC-020",
    "a node must follow an initial node at once",
    doc(node("a"), node("b", "a"), node("c", "b"), initial_nodes=["a"]),
    reached=lambda _self, graph, starts: {*starts, *(b for a, b, _ in graph.union() if a in starts)},
)
broken(
    "reachable-against-the-arrows",
    "SPC-020",
    "arrows are followed backwards too",
    doc(node("a"), node("b"), edges=[edge("b", "a")], initial_nodes=["a"]),
    **reached_by(lambda graph: graph.union() + [(b, a, at) for a, b, at in graph.union()]),
)
broken(
    "reachable-if-anything-leads-to-it",
    "SPC-020",
    "a node counts as reached if any arrow leads to it",
    doc(node("a"), node("b"), edges=[edge("b", "b")], initial_nodes=["a"]),
    reached=lambda _self, graph, starts: {*starts, *(target for _, target, _ in graph.union())},
)
broken(
    "unreachable-nodes-accepted-in-definitions",
    "SPC-020 CHD-006",
    "unreachable nodes are accepted in definitions",
    with_child(inner(node("a"), node("b"), initial_nodes=["a"])),
    **top_only("check_reach"),
)


def told_initial(chosen: Callable[[Validator, Graph], list[str]]) -> dict[str, Any]:
    return {"told_initial": chosen}


broken(
    "initial-nodes-told-as-named",
    "SPC-021",
    "initial nodes are told in the order in which they are named",
    doc(node("a"), node("b"), initial_nodes=["b", "a"]),
    told_initial=lambda self, graph: graph.named if graph.named is not None else self.initial(graph),
)
broken(
    "initial-nodes-told-by-name",
    "SPC-021",
    "initial nodes are told in alphabetical order",
    doc(node("b"), node("a")),
    told_initial=lambda self, graph: sorted(self.initial(graph)),
)
broken(
    "default-initial-nodes-ignore-edges",
    "SPC-021",
    "all nodes without dependencies are initial, whatever edges lead to them",
    doc(node("a"), node("b"), edges=[edge("a", "b")]),
    told_initial=lambda _self, graph: (
        Validator.initial(_self, graph) if graph.named else [one.name for one in graph.nodes if not one.prerequisites]
    ),
)
broken(
    "default-initial-nodes-ignore-dependencies",
    "SPC-021",
    "all nodes without incoming edges are initial, whatever they depend on",
    doc(node("a"), node("b", "a")),
    told_initial=lambda self, graph: (
        self.initial(graph) if graph.named else [n for n in graph.known if n not in {e.target for e in graph.edges}]
    ),
)
broken(
    "only-one-initial-node-told",
    "SPC-021",
    "only the first initial node is told",
    doc(node("a"), node("b")),
    told_initial=lambda self, graph: self.initial(graph)[:1],
)
broken(
    "default-initial-nodes-told-though-named",
    "SPC-021",
    "the default initial nodes are told, even if others are named",
    doc(edges=[edge("a", "a")], initial_nodes=["a"]),
    told_initial=lambda self, graph: self.initial(Graph("", unhashed(graph.body, "initial_nodes"))),
)

# Data between nodes


def ancestors(_self: Validator, graph: Graph) -> dict[str, set[str]]:
    before = neighbours(graph.known, [(b, a, at) for a, b, at in graph.union()])
    return {name: reach(before[name], before) for name in graph.known}


def sources_by(arrows: Callable[[Graph], list[Arrow]]) -> dict[str, Any]:
    def sources(_self: Validator, graph: Graph) -> dict[str, set[str]]:
        return {name: {a for a, b, _ in arrows(graph) if b == name} for name in graph.known}

    return {"sources": sources}


SAID = node("a", outputs=["f"])
TAKES = {"input_mapping": {"i": out("a", "f")}}
broken(
    "grand-prerequisites-in-reach",
    "SPC-022",
    "an input may come from whatever stands before a node, however far",
    doc(SAID, node("b", "a"), node("c", "b", **TAKES)),
    sources=ancestors,
)
broken(
    "edge-sources-out-of-reach",
    "SPC-022",
    "an input may come from prerequisites only, not from the source of an edge",
    doc(SAID, node("b", **TAKES), edges=[edge("a", "b")]),
    **sources_by(Graph.waits),
)
broken(
    "prerequisites-out-of-reach",
    "SPC-022",
    "an input may come from sources of edges only",
    doc(SAID, node("b", "a", **TAKES)),
    **sources_by(Graph.leads),
)
broken(
    "every-node-in-reach",
    "SPC-022",
    "an input may come from any node",
    doc(SAID, node("b", **TAKES)),
    sources=lambda _self, graph: {name: set(graph.known) for name in graph.known},
)
broken(
    "own-output-in-reach",
    "SPC-022",
    "a node may take an input from itself",
    doc(node("a", outputs=["f"], **TAKES)),
    sources=lambda self, graph: {name: {name, *names} for name, names in Validator.sources(self, graph).items()},
)
broken(
    "own-output-out-of-reach-over-an-edge",
    "SPC-022",
    "a node may not take an input from itself, even if an edge leads back",
    doc(node("a", outputs=["f"], **TAKES), edges=[edge("a", "a")], initial_nodes=["a"]),
    sources=lambda self, graph: {name: names - {name} for name, names in Validator.sources(self, graph).items()},
)
broken(
    "dependents-in-reach",
    "SPC-022",
    "an input may come from a node that depends on this one",
    doc(node("b", input_mapping={"i": out("a", "f")}), node("a", "b", outputs=["f"])),
    **sources_by(lambda graph: graph.union() + [(b, a, at) for a, b, at in graph.union()]),
)
broken(
    "every-node-in-reach-in-definitions",
    "SPC-022 CHD-006",
    "mappings are not looked at in definitions",
    with_child(inner(SAID, node("b", **TAKES))),
    **top_only("check_mappings"),
)


def only_last_nodes_give(self: Validator, graph: Graph) -> None:
    Validator.check_outputs(self, graph)
    before = {source for source, _, _ in graph.waits()}
    for use, name, at in self.outputs_named("output", graph.body.get("outputs"), graph.at + "/outputs"):
        if use == "output" and name in before:
            self.problem("output_out_of_reach", at)


broken(
    "outputs-from-last-nodes-only",
    "SPC-022",
    "the run's output may come only from nodes that nothing depends on",
    doc(SAID, node("b", "a"), outputs={"o": out("a", "f")}),
    check_outputs=only_last_nodes_give,
)

broken(
    "undeclared-outputs-accepted",
    "SPC-023",
    "the fields that an input mapping takes need not be declared",
    doc(node("a"), node("b", "a", **TAKES)),
    check_output=lambda self, graph, name, output, at: (
        None if "input_mapping" in at else Validator.check_output(self, graph, name, output, at)
    ),
)
broken(
    "undeclared-run-outputs-accepted",
    "SPC-023",
    "the fields that the run's output takes need not be declared",
    doc(outputs={"o": out("a", "f")}),
    check_outputs=nothing,
)
broken(
    "undeclared-run-inputs-accepted",
    "SPC-023",
    "run_input need not be declared",
    doc(node("a", input_mapping={"i": {"run_input": "x"}})),
    **without("undeclared_run_input"),
)
broken(
    "undeclared-outputs-of-child-nodes-accepted",
    "SPC-023",
    "the outputs of a node with a child are not looked at",
    with_child(inner(), outputs={"o": out("c", "f")}),
    check_output=lambda self, graph, name, output, at: (
        None if graph.known[name].child else Validator.check_output(self, graph, name, output, at)
    ),
)
broken(
    "child-outputs-by-the-name-of-the-child",
    "SPC-023",
    "a node with a child has the fields that the child calls so, not those that it is given",
    with_child(
        inner(SAID, outputs={"g": out("a", "f")}),
        calls("c", "k@1", outputs={"f": "g"}),
        outputs={"o": out("c", "f")},
    ),
    declared=lambda self, node: (
        {name for _, name in entries(node.child.get("outputs"))} if node.child else Validator.declared(self, node)
    ),
)
broken(
    "child-outputs-unknown",
    "SPC-023",
    "only outputs count as declared, not child.outputs",
    with_child(
        inner(SAID, outputs={"f": out("a", "f")}),
        calls("c", "k@1", outputs={"f": "f"}),
        outputs={"o": out("c", "f")},
    ),
    declared=lambda _self, node: {name for name, _ in strings(node.body.get("outputs"), "")},
)
broken(
    "all-fields-of-the-child-declared",
    "SPC-023",
    "whatever a definition outputs can be taken, even if child.outputs does not name it",
    with_child(inner(SAID, outputs={"f": out("a", "f")}), outputs={"o": out("c", "f")}),
    declared=lambda self, node: (
        Validator.declared(self, node)
        | {
            name
            for name, _ in entries(
                self.definitions[node.child["workflow"]].body.get("outputs")
                if node.child.get("workflow") in self.definitions
                else None
            )
        }
    ),
)
broken(
    "run-inputs-of-the-document-in-definitions",
    "SPC-023",
    "a definition may take what only the document declares",
    with_child(inner(node("a", input_mapping={"i": {"run_input": "x"}})), inputs=["x"]),
    inputs_to_map=lambda self, graph: self.run_inputs(graph) | self.run_inputs(Graph("", self.document)),
)


def given_twice_between(*ways: str) -> dict[str, Any]:
    """Only these ways are compared."""

    def check(self: Validator, graph: Graph) -> None:
        for node in graph.nodes:
            names = [name for way in ways for name, _ in entries(node.body.get(way))]
            if len(names) != len(set(names)):
                self.problem("input_given_twice", node.at)

    return {"check_given": check}


MAPPED = {"input_mapping": {"x": {"run_input": "x"}}}
KEPT = {"artifacts": {"x": ARTIFACT}}
broken(
    "input-given-twice-accepted",
    "SPC-024",
    "a mapping overrides the input",
    doc(node("a", input={"x": 1}, **MAPPED), inputs=["x"]),
    **given_twice_between(),
)
broken(
    "artifacts-forgotten-among-inputs",
    "SPC-024",
    "artifacts are not compared with the other inputs",
    doc(node("a", input={"x": 1}, **KEPT)),
    **given_twice_between("input", "input_mapping"),
)
broken(
    "mappings-not-compared-with-artifacts",
    "SPC-024",
    "mappings are compared with the input, not with artifacts",
    doc(node("a", **MAPPED, **KEPT), inputs=["x"]),
    check_given=lambda self, graph: [
        self.problem("input_given_twice", one.at)
        for one in graph.nodes
        for way in ("input_mapping", "artifacts")
        if dict(entries(one.body.get("input"))).keys() & dict(entries(one.body.get(way))).keys()
    ],
)
broken(
    "mappings-not-compared-with-input",
    "SPC-024",
    "mappings are compared with artifacts, not with the input",
    doc(node("a", input={"x": 1}, **MAPPED), inputs=["x"]),
    **given_twice_between("input_mapping", "artifacts"),
)
broken(
    "input-given-twice-in-definitions",
    "SPC-024 CHD-006",
    "an input may be given twice in definitions",
    with_child(inner(node("a", input={"x": 1}, **KEPT))),
    **top_only("check_given"),
)

broken(
    "every-kind-is-a-retry-class",
    "SPC-025",
    "every outcome kind is a retry class",
    doc(node("a", retry={"classes": ["succeeded"]})),
    retry_classes=KINDS,
)
broken(
    "blocked-is-a-retry-class",
    "SPC-025",
    "whatever is no success can be retried",
    doc(node("a", retry={"classes": ["blocked"]})),
    retry_classes=KINDS[2:],
)
broken(
    "permanent-failure-is-no-retry-class",
    "SPC-025",
    "a permanent failure cannot be retried",
    doc(node("a", retry={"classes": ["permanent_failure"]})),
    retry_classes=("retryable_failure",),
)
broken(
    "only-first-retry-class-looked-at",
    "SPC-025",
    "only the first class is looked at",
    doc(node("a", retry={"classes": ["retryable_failure", "cancelled"]})),
    check_classes=lambda self, graph: [
        self.problem("no_retry_class", one.at)
        for one in graph.nodes
        for first in (dict(entries(one.body.get("retry"))).get("classes") or ["retryable_failure"])[:1]
        if first in KINDS and first not in self.retry_classes
    ],
)
broken(
    "retry-classes-of-definitions-not-looked-at",
    "SPC-025 CHD-006",
    "retry classes are not looked at in definitions",
    with_child(inner(node("a", retry={"classes": ["succeeded"]}))),
    **top_only("check_classes"),
)

# Handlers

OTHER = {"name": "h", "version": 2, "inputs": []}
NO_INPUTS = {"name": "h", "version": 1, "inputs": []}
broken("unknown-handlers-accepted", "SPC-026", "unknown handlers are accepted", doc(), [], **without("unknown_handler"))
broken(
    "handlers-by-name-only",
    "SPC-026",
    "a handler is found by its name, whatever its version",
    doc(),
    [OTHER],
    in_catalogue=lambda self, name, _version: next((h for h in self.catalogue or [] if h["name"] == name), None),
)
broken(
    "later-handlers-fit",
    "SPC-026",
    "a handler of a later version fits",
    doc(),
    [OTHER],
    in_catalogue=lambda self, name, version: next(
        (h for h in self.catalogue or [] if h["name"] == name and h["version"] >= version), None
    ),
)
broken(
    "empty-catalogue-is-none",
    "SPC-026",
    "an empty catalogue of handlers counts as none",
    doc(),
    [],
    is_catalogue_given=lambda self: bool(self.catalogue),
)
broken(
    "handlers-of-definitions-not-looked-at",
    "SPC-026 SPC-027",
    "handlers of definitions are not looked at",
    with_child(inner()),
    [],
    **top_only("check_handlers"),
)
broken(
    "only-last-version-of-a-handler-known",
    "SPC-026",
    "of two versions of a handler only the last one listed is known",
    doc(),
    [NO_INPUTS, OTHER],
    in_catalogue=lambda self, name, version: next(
        (h for h in [{h["name"]: h for h in self.catalogue or []}.get(name)] if h and h["version"] == version), None
    ),
)
broken(
    "missing-inputs-accepted", "SPC-027", "missing inputs are accepted", doc(), [HANDLER], **without("missing_input")
)


def handler_inputs(*ways: str, extra: bool = True) -> dict[str, Any]:
    def check(self: Validator, node: Node, handler: dict[str, Any]) -> None:
        given = {name for way in ways for name, _ in entries(node.body.get(way))}
        if set(handler["inputs"]) - given or (not extra and given - set(handler["inputs"])):
            self.problem("missing_input", node.at)

    return {"check_handler_inputs": check}


broken(
    "artifacts-are-no-inputs",
    "SPC-027",
    "an artifact does not count as an input of a handler",
    doc(node("a", **KEPT)),
    [HANDLER],
    **handler_inputs("input", "input_mapping"),
)
broken(
    "mappings-are-no-inputs",
    "SPC-027",
    "a mapping does not count as an input of a handler",
    doc(node("a", **MAPPED), inputs=["x"]),
    [HANDLER],
    **handler_inputs("input", "artifacts"),
)
broken(
    "more-inputs-refused",
    "SPC-027",
    "an input that the handler does not declare is refused",
    doc(node("a", input={"x": 1})),
    [NO_INPUTS],
    **handler_inputs(*Validator.ways, extra=False),
)
broken(
    "one-input-is-enough",
    "SPC-027",
    "a node that gives any declared input is accepted",
    doc(node("a", input={"x": 1})),
    [HANDLER | {"inputs": ["x", "y"]}],
    check_handler_inputs=lambda self, node, handler: (
        self.problem("missing_input", node.at)
        if handler["inputs"] and not {name for name, _ in self.given(node)} & set(handler["inputs"])
        else None
    ),
)
broken(
    "null-is-no-input",
    "SPC-027",
    "an input of null does not count as given",
    doc(node("a", input={"x": None})),
    [HANDLER],
    given=lambda self, node: [
        (name, at) for name, at in Validator.given(self, node) if node.body.get("input", {}).get(name, 0) is not None
    ],
)

# Edges


def two(when: Any, mode: Any = OMIT) -> str:
    return doc(node("a"), node("b"), edges=[edge("a", "b", when, mode)])


SKIPPED = kind("skipped")
broken("skipped-accepted", "EDG-001", "an edge may wait for a skipped node", two(SKIPPED), check_never=nothing)
broken(
    "skipped-accepted-on-parallel-edges",
    "EDG-001",
    "only predicates of exclusive edges are looked at",
    two(SKIPPED),
    check_never=lambda self, graph: [
        self.problem("never_matches", edge.at)
        for edge in graph.edges
        if edge.when == ("kind", "skipped") and edge.mode == "exclusive"
    ],
)
broken(
    "skipped-accepted-in-definitions",
    "EDG-001 CHD-006",
    "predicates of definitions are not looked at",
    with_child(inner(node("a"), node("b"), edges=[edge("a", "b", SKIPPED)])),
    **top_only("check_never"),
)
broken(
    "cancelled-never-matches",
    "EDG-001",
    "cancelled is taken for an outcome that fires no edge",
    two(kind("cancelled")),
    never=("skipped", "cancelled"),
)


def carries(when: Predicate) -> bool:
    return when[0] == "kind" and when[1] in CARRYING


def both_match(one: Predicate, other: Predicate) -> bool:
    """Whether some outcome matches both; for two predicates, as the text says it."""
    if "any" in (one[0], other[0]):
        return True
    if one[0] == other[0] == "kind":
        return bool(one[1] == other[1])
    if one[0] == other[0] == "field":
        key = Validator().scalar_key
        return bool(one[1] != other[1] or key(one[2]) == key(other[2]))
    return carries(one) or carries(other)


Pairs = Callable[[list[Edge]], Iterable[tuple[Edge, Edge]]]
Rule = Callable[[Any, Any], bool]


def every_pair(edges: list[Edge]) -> Iterable[tuple[Edge, Edge]]:
    return itertools.combinations(edges, 2)


def compared(rule: Rule = both_match, pairs: Pairs = every_pair) -> dict[str, Any]:
    """Edges are compared pair by pair, by a rule."""

    def overlaps(_self: Validator, edges: list[Edge]) -> Iterator[tuple[Edge, Edge]]:
        return ((later, earlier) for earlier, later in pairs(edges) if rule(earlier.when, later.when))

    return {"overlaps": overlaps}


def except_when(rule: Rule) -> Rule:
    """Pairs for which the rule holds are taken for disjoint."""
    return lambda one, other: both_match(one, other) and not rule(one, other)


def also_when(rule: Rule) -> Rule:
    """Pairs for which the rule holds are taken for overlapping."""
    return lambda one, other: both_match(one, other) or rule(one, other)


def are(first: str, second: str) -> Rule:
    return lambda one, other: {one[0], other[0]} == {first, second}


DONE, FAILED = kind("succeeded"), kind("permanent_failure")
broken("overlaps-accepted", "EDG-002", "overlaps are not looked for", fork("any", "any"), check_overlaps=nothing)
broken(
    "same-kind-accepted",
    "EDG-002",
    "two exclusive edges may name the same kind",
    fork(DONE, DONE),
    **compared(except_when(are("kind", "kind"))),
)
broken(
    "any-with-a-kind-accepted",
    "EDG-002",
    "any is taken for the rest, as an else",
    fork(DONE, "any"),
    **compared(except_when(lambda one, other: one[0] != other[0] and "any" in (one[0], other[0]))),
)
broken(
    "any-with-a-field-accepted",
    "EDG-002",
    "any overlaps with kinds only",
    fork(has("f", 1), "any"),
    **compared(except_when(are("any", "field"))),
)
broken(
    "any-twice-accepted",
    "EDG-002",
    "two edges with any are taken for one",
    fork("any", "any"),
    **compared(except_when(are("any", "any"))),
)
broken(
    "default-predicate-forgotten",
    "EDG-002",
    "an edge without when is not compared",
    fork(OMIT, DONE),
    exclude_each_other=lambda self, graph: [
        [one for one in group if "when" in graph.body["edges"][int(one.at.rsplit("/", 1)[1])]]
        for group in Validator.exclude_each_other(self, graph)
    ],
)
broken(
    "different-fields-disjoint",
    "EDG-002",
    "two different fields are taken for disjoint",
    fork(has("f", 1), has("g", 1)),
    **compared(except_when(lambda one, other: one[0] == other[0] == "field" and one[1] != other[1])),
)
broken(
    "same-field-always-disjoint",
    "EDG-002",
    "two predicates of one field are taken for disjoint, whatever their scalars",
    fork(has("f", 1), has("f", 1)),
    **compared(except_when(lambda one, other: one[:2] == other[:2] and one[0] == "field")),
)
broken(
    "field-and-kind-disjoint",
    "EDG-002",
    "a field and a kind are taken for disjoint",
    fork(has("f", 1), DONE),
    **compared(except_when(are("field", "kind"))),
)
broken(
    "only-success-carries-output",
    "EDG-002",
    "changes_requested is taken for a kind without output",
    fork(has("f", 1), kind("changes_requested")),
    **compared(
        except_when(lambda one, other: {one[0], other[0]} == {"field", "kind"} and "changes_requested" in one + other)
    ),
)
broken(
    "only-first-pair-compared",
    "EDG-002",
    "only the first two edges are compared",
    fork(DONE, FAILED, FAILED),
    **compared(pairs=lambda edges: [tuple(edges[:2])] if len(edges) > 1 else []),  # type: ignore[list-item]
)
broken(
    "only-neighbouring-edges-compared",
    "EDG-002",
    "each edge is compared with the next only",
    fork(DONE, FAILED, DONE),
    **compared(pairs=itertools.pairwise),
)
broken(
    "only-with-the-first-edge-compared",
    "EDG-002",
    "each edge is compared with the first only",
    fork(DONE, FAILED, FAILED),
    **compared(pairs=lambda edges: [(edges[0], later) for later in edges[1:]]),
)
broken(
    "only-edges-to-one-target-compared",
    "EDG-002",
    "edges are compared only if they lead to the same node",
    fork(DONE, DONE),
    **compared(pairs=lambda edges: [pair for pair in every_pair(edges) if pair[0].target == pair[1].target]),
)
broken(
    "edges-to-one-target-not-compared",
    "EDG-002",
    "two edges with the same ends are not compared",
    doc(node("a"), node("b"), edges=[only("a", "b", DONE), only("a", "b", DONE)]),
    **compared(pairs=lambda edges: [pair for pair in every_pair(edges) if pair[0].target != pair[1].target]),
)
broken(
    "edges-of-definitions-not-compared",
    "EDG-002 CHD-006",
    "exclusive edges of definitions are not compared",
    with_child(inner(node("a"), node("b"), edges=[only("a", "b"), only("a", "b")])),
    **top_only("check_overlaps"),
)
broken(
    "different-scalars-overlap",
    "EDG-003",
    "one field with different scalars is called an overlap",
    fork(has("f", 1), has("f", 2)),
    **compared(also_when(lambda one, other: one[:2] == other[:2] and one[0] == "field")),
)
broken(
    "different-kinds-overlap",
    "EDG-003",
    "a node may have only one exclusive edge with a kind",
    fork(DONE, FAILED),
    **compared(also_when(are("kind", "kind"))),
)
broken(
    "field-and-failure-overlap",
    "EDG-003",
    "a field overlaps with a kind that carries no output",
    fork(has("f", 1), FAILED),
    **compared(also_when(are("field", "kind"))),
)
broken(
    "blocked-carries-output",
    "EDG-003",
    "only failures are taken for kinds without output",
    fork(has("f", 1), kind("blocked")),
    **compared(also_when(lambda one, other: {one[0], other[0]} == {"field", "kind"} and "blocked" in one + other)),
)
broken(
    "success-and-changes-overlap",
    "EDG-003",
    "the two kinds that carry output overlap",
    fork(DONE, kind("changes_requested")),
    **compared(also_when(lambda one, other: carries(one) and carries(other))),
)
broken(
    "at-most-two-exclusive-edges",
    "EDG-003",
    "of more than two exclusive edges two must overlap",
    fork(DONE, FAILED, kind("blocked")),
    overlaps=lambda self, edges: (
        zip(edges[2:], edges, strict=False) if len(edges) > 2 else Validator.overlaps(self, edges)
    ),
)


def scalars_by(key: Callable[[Any], Any]) -> dict[str, Any]:
    return {"scalar_key": lambda self, value: key(value)}  # noqa: ARG005


def right_key(value: Any) -> Any:
    return Validator().scalar_key(value)


def spelled_fork(one: str, other: str) -> str:
    return fork(has("f", "ONE"), has("f", "OTHER")).replace('"ONE"', one).replace('"OTHER"', other)


def kept_spelling(self: Validator, token: str) -> Any:
    self.plain = False
    return float(token)


broken(
    "true-equals-one",
    "EDG-004",
    "true is 1, as Python compares them",
    fork(has("f", True), has("f", 1)),
    **scalars_by(lambda value: value),
)
broken(
    "digits-equal-numbers",
    "EDG-004",
    'the string "1" is the number 1',
    fork(has("f", "1"), has("f", 1)),
    **scalars_by(lambda value: str(value) if type(value) in (int, str) else right_key(value)),
)
broken(
    "null-equals-false",
    "EDG-004",
    "null is false",
    fork(has("f", None), has("f", False)),
    **scalars_by(lambda value: right_key(bool(value) if value is None else value)),
)
broken(
    "null-equals-the-empty-string",
    "EDG-004",
    "null is the empty string",
    fork(has("f", None), has("f", "")),
    **scalars_by(lambda value: right_key("" if value is None else value)),
)
broken(
    "zero-equals-false",
    "EDG-004",
    "0 is false",
    fork(has("f", 0), has("f", False)),
    **scalars_by(lambda value: right_key(False if type(value) is int and value == 0 else value)),
)
broken(
    "one-point-zero-differs-from-one",
    "EDG-004",
    "1.0 and 1 are of two types",
    spelled_fork("1.0", "1"),
    scalar_key=lambda _self, value: (type(value).__name__, value),
    fraction=lambda self, token: (Validator.fraction(self, token), kept_spelling(self, token))[1],
    as_integer=lambda _self, value: int(value) if type(value) in (int, float) and float(value).is_integer() else None,
)
broken(
    "minus-zero-differs-from-zero",
    "EDG-004",
    "-0.0 and 0 are compared as they are written",
    spelled_fork("-0.0", "0"),
    scalar_key=lambda _self, value: ("number", repr(value)) if type(value) is float else right_key(value),
    fraction=lambda self, token: kept_spelling(self, token) if float(token) == 0 else Validator.fraction(self, token),
)
broken(
    "strings-compared-normalised",
    "EDG-004",
    "strings are compared after normalisation to NFC",
    fork(has("f", "\u00e9"), has("f", "e\u0301")),
    **scalars_by(lambda value: unicodedata.normalize("NFC", value) if isinstance(value, str) else right_key(value)),
)
broken(
    "strings-compared-in-any-case",
    "EDG-004",
    "strings are compared without regard to case",
    fork(has("f", "a"), has("f", "A")),
    **scalars_by(lambda value: value.casefold() if isinstance(value, str) else right_key(value)),
)
broken(
    "strings-compared-trimmed",
    "EDG-004",
    "white space around strings is dropped before they are compared",
    fork(has("f", "a"), has("f", "a ")),
    **scalars_by(lambda value: ("trimmed", value.strip()) if isinstance(value, str) else right_key(value)),
)
broken(
    "fractions-compared-rounded",
    "EDG-004",
    "numbers are compared as integers",
    fork(has("f", 1.5), has("f", 1)),
    **scalars_by(lambda value: int(value) if type(value) in (int, float) else right_key(value)),
)
broken(
    "numbers-compared-in-single-precision",
    "EDG-004",
    "numbers are compared to nine digits",
    fork(has("f", 9007199254740990), has("f", 9007199254740991)),
    **scalars_by(lambda value: f"{value:.8e}" if type(value) in (int, float) else right_key(value)),
)


def grouped(by: Callable[[Edge], Any], chosen: Callable[[Edge], bool]) -> dict[str, Any]:
    """Which edges are compared with each other."""

    def exclude_each_other(_self: Validator, graph: Graph) -> Iterable[list[Edge]]:
        groups: dict[Any, list[Edge]] = {}
        for edge in graph.edges:
            if edge.when is not None and chosen(edge):
                groups.setdefault(by(edge), []).append(edge)
        return groups.values()

    return {"exclude_each_other": exclude_each_other}


def is_exclusive(edge: Edge) -> bool:
    return bool(edge.mode == "exclusive")


broken(
    "edges-of-all-sources-compared",
    "EDG-005",
    "exclusive edges of different nodes are compared",
    doc(*map(node, "abc"), edges=[only("a", "c"), only("b", "c")]),
    **grouped(lambda _edge: None, is_exclusive),
)
broken(
    "edges-compared-by-target",
    "EDG-005 EDG-002",
    "exclusive edges are compared if they have one target, not one source",
    doc(*map(node, "abc"), edges=[only("a", "c"), only("b", "c")]),
    **grouped(lambda edge: edge.target, is_exclusive),
)
broken(
    "parallel-edges-compared",
    "EDG-005",
    "parallel edges are compared like exclusive ones",
    doc(*map(node, "abc"), edges=[edge("a", "b"), edge("a", "c")]),
    **grouped(lambda edge: edge.source, lambda _edge: True),
)
broken(
    "one-exclusive-edge-excludes-all",
    "EDG-005",
    "an exclusive edge is compared with the parallel edges of its node too",
    doc(*map(node, "abc"), edges=[only("a", "b"), edge("a", "c")]),
    exclude_each_other=lambda self, graph: [
        [one for one in graph.edges if one.source == group[0].source and one.when]
        for group in Validator.exclude_each_other(self, graph)
    ],
)
broken(
    "edges-are-exclusive-by-default",
    "EDG-005",
    "an edge without a mode is exclusive",
    doc(*map(node, "abc"), edges=[edge("a", "b"), edge("a", "c")]),
    exclude_each_other=lambda _self, graph: [
        [
            one
            for one in graph.edges
            if one.source == name
            and one.when
            and graph.body["edges"][int(one.at.rsplit("/", 1)[1])].get("mode") != "parallel"
        ]
        for name in graph.known
    ],
)
broken(
    "edges-of-graphs-mixed",
    "EDG-005",
    "edges of the document and of a definition are compared if their sources have one name",
    with_child(
        inner(node("c"), node("b"), edges=[only("c", "b")]), calls("c", "k@1"), node("b"), edges=[only("c", "b")]
    ),
    exclude_each_other=lambda self, graph: [
        [
            *group,
            *(one for one in Graph("", self.document).edges if graph.at and one.when and one.source == group[0].source),
        ]
        for group in Validator.exclude_each_other(self, graph)
    ],
)


def cycles_refused(rule: Callable[[Graph, Arrow], bool]) -> dict[str, Any]:
    def check_cycles(self: Validator, graph: Graph) -> None:
        Validator.check_cycles(self, graph)
        for arrow in self.union_cycles(graph):
            if rule(graph, arrow):
                self.problem("dependency_cycle", arrow[2])

    return {"check_cycles": check_cycles}


broken(
    "self-edge-refused",
    "EDG-006",
    "an edge back to its own source is refused",
    doc(edges=[edge("a", "a")], initial_nodes=["a"]),
    **cycles_refused(lambda _graph, arrow: arrow[0] == arrow[1]),
)
broken(
    "cycles-of-edges-refused",
    "EDG-006",
    "a cycle of edges is refused, as in a workflow engine for acyclic graphs",
    doc(edges=[edge("a", "a")], initial_nodes=["a"]),
    **cycles_refused(lambda _graph, _arrow: True),
)
broken(
    "mixed-cycles-refused",
    "EDG-006",
    "a cycle of edges and dependencies is refused",
    doc(node("a"), node("b", "a"), edges=[edge("b", "a")], initial_nodes=["a"]),
    **cycles_refused(lambda graph, arrow: arrow not in cyclic(graph.known, graph.leads())),
)
broken(
    "cycles-need-a-way-out",
    "EDG-006",
    "a cycle from which no edge leads is refused",
    doc(node("a"), node("b"), edges=TURN, initial_nodes=["a"]),
    **cycles_refused(lambda graph, _arrow: len(cyclic(graph.known, graph.union())) == len(graph.union())),
)


def witness_by(change: Callable[[dict[str, Any], Predicate, Predicate], Any]) -> dict[str, Any]:
    return {"witness": lambda self, one, other: change(Validator.witness(self, one, other), one, other)}


broken(
    "witness-without-output",
    "EDG-007",
    "a witness for a field has no output",
    fork(has("f", 1), has("f", 1)),
    **witness_by(lambda witness, *_: {key: value for key, value in witness.items() if key != "output"}),
)
broken(
    "witness-of-one-predicate",
    "EDG-007",
    "a witness has only the field of the later edge",
    fork(has("f", 1), has("g", 1)),
    **witness_by(lambda witness, one, _: witness | ({"output": {one[1]: one[2]}} if one[0] == "field" else {})),
)
broken(
    "witness-without-reason",
    "EDG-007",
    "a witness of a failure has no reason, and so is no outcome",
    fork(FAILED, FAILED),
    **witness_by(lambda witness, *_: {key: value for key, value in witness.items() if key != "reason"}),
)
broken(
    "witness-always-succeeded",
    "EDG-007",
    "the witness is a success, whatever the kind is",
    fork(FAILED, FAILED),
    **witness_by(lambda *_: {"kind": "succeeded"}),
)
broken(
    "witness-with-scalars-as-text",
    "EDG-007",
    "the scalars of a witness are strings",
    fork(has("f", 1), has("f", 1)),
    **witness_by(
        lambda witness, *_: (
            witness
            | ({"output": {key: str(one) for key, one in witness["output"].items()}} if "output" in witness else {})
        )
    ),
)
broken(
    "witness-is-the-predicate",
    "EDG-007",
    "the later predicate is told in place of an outcome",
    fork(DONE, DONE),
    **witness_by(lambda _, one, __: {"outcome": one[1]} if one[0] == "kind" else "any"),
)
broken(
    "witness-with-output-of-a-failure",
    "EDG-007",
    "the witness of a failure has output, and so is no outcome",
    fork(FAILED, FAILED),
    **witness_by(lambda witness, *_: witness | {"output": {}}),
)
broken(
    "no-witness", "EDG-007", "an overlap is told without a witness", fork("any", "any"), **witness_by(lambda *_: None)
)

# Children

STRAY = doc(calls("c", "x@1"))
broken("unknown-children-accepted", "CHD-001", "an unknown definition is accepted", STRAY, unknown_child=nothing)
broken(
    "unknown-children-accepted-in-definitions",
    "CHD-001 CHD-006",
    "a definition may name an unknown one",
    with_child(inner(calls("c", "x@1"))),
    unknown_child=lambda self, node: None if node.at.startswith("/children") else Validator.unknown_child(self, node),
)
broken(
    "children-found-by-id-only",
    "CHD-001",
    "a definition is found by its workflow_id, whatever its version",
    with_child(inner(), calls("c", "k@2")),
    definition=lambda self, workflow: next(
        (graph for key, graph in self.definitions.items() if key.split("@")[0] == workflow.split("@")[0]), None
    ),
)
broken(
    "the-document-is-a-child",
    "CHD-001 CHD-002",
    "a child node may name the document itself",
    doc(calls("c", "w@1")),
    unknown_child=lambda self, node: (
        None
        if node.child["workflow"] == f"{self.document.get('workflow_id')}@{self.document.get('workflow_version')}"
        else Validator.unknown_child(self, node)
    ),
)
broken(
    "an-empty-catalog-is-open",
    "CHD-001",
    "without children any workflow may be named",
    STRAY,
    unknown_child=lambda self, node: Validator.unknown_child(self, node) if self.definitions else None,
)


def recursion_by(finder: Callable[[list[str], list[Arrow]], list[Arrow]]) -> dict[str, Any]:
    return {"recursions": lambda _self, names, uses: finder(names, uses)}


ITSELF = inner(calls("c", "k@1"))
EACH_OTHER = {"k@1": inner(calls("c", "l@1")), "l@1": inner(calls("c", "k@1"))}
broken(
    "recursion-accepted", "CHD-002", "recursion is not looked for", with_child(ITSELF), **recursion_by(lambda *_: [])
)
broken(
    "only-direct-recursion-found",
    "CHD-002",
    "only a definition that runs itself directly is found",
    doc(calls("c", "k@1"), children=EACH_OTHER),
    **recursion_by(lambda names, uses: loops(names, uses, 1)),
)
broken(
    "only-indirect-recursion-found",
    "CHD-002",
    "a definition that runs itself directly is missed",
    with_child(ITSELF),
    **recursion_by(no_self),
)
broken(
    "recursion-found-only-if-used",
    "CHD-002",
    "recursion is found only among definitions that the document uses",
    with_child(ITSELF, node("a")),
    **recursion_by(from_first),
)
broken(
    "recursion-of-two-at-most",
    "CHD-002",
    "recursion through more than two definitions is missed",
    doc(
        children={"k@1": inner(calls("c", "l@1")), "l@1": inner(calls("c", "m@1")), "m@1": inner(calls("c", "k@1"))},
    ),
    **recursion_by(lambda names, uses: loops(names, uses, 2)),
)
broken(
    "children-used-twice-refused",
    "CHD-002",
    "a definition that is used twice is called recursive",
    with_child(inner(), calls("c", "k@1"), calls("d", "k@1")),
    **recursion_by(met_again),
)
broken("nine-levels-accepted", "CHD-003", "the levels are off by one", chain(9), child_levels=9)
broken("eight-levels-refused", "CHD-003", "the limit of the levels is exclusive", chain(8), child_levels=7)
broken("levels-without-end", "CHD-003", "the levels of children are not counted", chain(9), child_levels=10**9)
broken(
    "definitions-counted-as-levels",
    "CHD-003",
    "definitions are counted, however deep they are",
    doc(
        *(calls(f"c{number}", f"k{number}@1") for number in range(9)),
        children={f"k{number}@1": inner() for number in range(9)},
    ),
    levels=lambda _self, names, _uses: dict.fromkeys(names, len(names) - 2),
)
broken(
    "only-first-child-followed",
    "CHD-003",
    "only the first child node of each definition is followed",
    json.dumps(json.loads(chain(9)) | {"nodes": [calls("a", "k9@1"), calls("c", "k1@1")]}, separators=(",", ":")),
    levels=lambda self, names, uses: Validator.levels(
        self, names, [use for use in uses if use == next(first for first in uses if first[0] == use[0])]
    ),
    check_levels=lambda self, graphs: (
        self.problem("children_too_deep", "")
        if self.levels(["", *self.definitions], self.uses(graphs))[""] > 8
        else None
    ),
)


def references(pattern: str) -> dict[str, Any]:
    regex = re.compile(pattern)
    return form("reference", lambda value: regex.match(value) is not None)


def keyed(key: str) -> str:
    return doc(children={key: inner()})


broken(
    "keys-of-children-not-looked-at",
    "CHD-004",
    "a key of children may be any string",
    keyed(""),
    **without("wrong_reference"),
)
broken(
    "leading-zero-in-a-version",
    "CHD-004",
    "k@01 is accepted",
    keyed("k@01"),
    **references(r"[A-Za-z_][\w.\-]{0,127}@\d{1,16}\Z"),
)
broken(
    "version-zero-in-a-reference",
    "CHD-004",
    "k@0 is accepted",
    keyed("k@0"),
    **references(r"[A-Za-z_][\w.\-]{0,127}@(0|[1-9]\d{0,15})\Z"),
)
broken(
    "seventeen-digits",
    "CHD-004",
    "17 digits are accepted",
    keyed("k@1" + "0" * 16),
    **references(r"[A-Za-z_][\w.\-]{0,127}@[1-9]\d*\Z"),
)
broken(
    "sixteen-digits-refused",
    "CHD-004",
    "16 digits are refused",
    keyed("k@1" + "0" * 15),
    **references(r"[A-Za-z_][\w.\-]{0,127}@[1-9]\d{0,14}\Z"),
)
broken(
    "newline-after-a-reference",
    "CHD-004",
    "a line feed at the end is accepted",
    keyed("k@1\n"),
    **references(r"[A-Za-z_][\w.\-]{0,127}@[1-9]\d{0,15}$"),
)
broken(
    "references-without-version",
    "CHD-004",
    "a key without a version is accepted",
    keyed("k"),
    **references(r"[A-Za-z_][\w.\-]{0,127}(@[1-9]\d{0,15})?\Z"),
)
broken(
    "references-with-latest",
    "CHD-004",
    "k@latest is accepted",
    keyed("k@latest"),
    **references(r"[A-Za-z_][\w.\-]{0,127}@([1-9]\d{0,15}|latest)\Z"),
)
broken(
    "child-policy-defaults",
    "CHD-005",
    "a child without a policy propagates",
    with_child(inner(), calls("c", "k@1", policy=OMIT)),
    **missing_accepted("child", "policy"),
)
broken(
    "child-policy-defaults-in-definitions",
    "CHD-005 CHD-006",
    "a child of a definition inherits the policy",
    doc(children={"k@1": inner(calls("c", "l@1", policy=OMIT)), "l@1": inner()}),
    missing=lambda self, shape, key, at: (
        None if key == "policy" and at.startswith("/children") else Validator.missing(self, shape, key, at)
    ),
)
broken(
    "child-policy-needed-for-outputs-only",
    "CHD-005",
    "a child whose outputs are not used needs no policy",
    with_child(inner(), calls("c", "k@1", policy=OMIT)),
    missing=lambda self, shape, key, at: (
        None if key == "policy" and '"outputs"' not in self.source else Validator.missing(self, shape, key, at)
    ),
)
UNUSED = doc(children={"k@1": inner(node("a", "a"))})
broken(
    "unused-definitions-not-validated",
    "CHD-006",
    "definitions that the document does not use are not looked at",
    UNUSED,
    validated=lambda self: [self.definitions[w] for w in {w for _, w, _ in self.uses([Graph("", self.document)])}],
)
broken(
    "definitions-not-validated",
    "CHD-006",
    "only the structure of definitions is looked at",
    with_child(inner(node("a", "a"))),
    validated=lambda _self: [],
)
broken(
    "only-first-definition-validated",
    "CHD-006",
    "only the first definition is looked at",
    doc(children={"k@1": inner(), "l@1": inner(node("a", "a"))}),
    validated=lambda self: list(self.definitions.values())[:1],
)
broken(
    "structure-of-definitions-not-validated",
    "CHD-006",
    "the structure of definitions is not looked at",
    with_child({"nodes": []}),
    **reshaped(("document", "children", Member(3, False, mapping(anything, "reference", "wrong_reference")))),
)
broken(
    "outputs-of-definitions-not-validated",
    "CHD-006 SPC-023",
    "the outputs of a definition need not be declared by its nodes",
    with_child(inner(outputs={"o": out("a", "f")})),
    **top_only("check_outputs"),
)
NEEDS = inner(inputs=["x"])
broken(
    "missing-child-inputs-accepted",
    "CHD-007",
    "inputs of a child may be missing",
    with_child(NEEDS),
    **without("missing_child_input"),
)
broken(
    "undeclared-child-inputs-accepted",
    "CHD-007",
    "inputs that a child does not declare are ignored",
    with_child(inner(), calls("c", "k@1", input={"x": 1})),
    **without("undeclared_child_input"),
)
broken(
    "mappings-not-counted-for-children",
    "CHD-007",
    "only the input of a child node is counted, not its mappings",
    with_child(NEEDS, calls("c", "k@1", **MAPPED), inputs=["x"]),
    check_child_inputs=lambda self, node, definition: [
        self.problem("missing_child_input", node.at)
        for name in self.run_inputs(definition)
        if name not in node.body.get("input", {})
    ],
)
broken(
    "undeclared-child-mappings-accepted",
    "CHD-007",
    "only the input of a child node is compared with what the child declares, not its mappings",
    with_child(inner(), calls("c", "k@1", **MAPPED), inputs=["x"]),
    check_child_inputs=lambda self, node, definition: [
        self.problem("undeclared_child_input", node.at)
        for name in node.body.get("input", {}).keys() ^ self.run_inputs(definition)
        if name not in node.body.get("input_mapping", {})
    ],
)
broken(
    "child-inputs-in-definitions-not-looked-at",
    "CHD-007 CHD-006",
    "the inputs that a definition gives to its children are not looked at",
    doc(children={"k@1": inner(calls("c", "l@1")), "l@1": NEEDS}),
    check_child_inputs=lambda self, node, definition: (
        None if node.at.startswith("/children") else Validator.check_child_inputs(self, node, definition)
    ),
)
broken(
    "children-need-only-what-they-use",
    "CHD-007",
    "an input that no node of the child maps may be missing",
    with_child(NEEDS),
    run_inputs=lambda self, graph: {
        name
        for name in Validator.run_inputs(self, graph)
        if not graph.at or f'"run_input":"{name}"' in compact(graph.body)
    },
)
GIVES = inner(SAID, outputs={"o": out("a", "f")})
broken(
    "undeclared-child-outputs-accepted",
    "CHD-008",
    "a field that the child does not output is accepted",
    with_child(inner(), calls("c", "k@1", outputs={"p": "o"})),
    check_child_outputs=nothing,
)


def child_outputs_by(wanted: Callable[[str, str], str], declared: Callable[[Graph], set[str]]) -> dict[str, Any]:
    def check(self: Validator, node: Node, definition: Graph) -> None:
        for mine, its in entries(node.child.get("outputs")):
            if wanted(mine, its) not in declared(definition):
                self.problem("undeclared_child_output", node.at)

    return {"check_child_outputs": check}


def outputs_of(definition: Graph) -> set[str]:
    return {name for name, _ in entries(definition.body.get("outputs"))}


broken(
    "child-outputs-the-wrong-way-round",
    "CHD-008",
    "the node's own field is looked for in the child, not the child's",
    with_child(GIVES, calls("c", "k@1", outputs={"p": "o"})),
    **child_outputs_by(lambda mine, _its: mine, outputs_of),
)
broken(
    "child-outputs-from-its-nodes",
    "CHD-008",
    "a field that some node of the child declares will do",
    with_child(inner(SAID), calls("c", "k@1", outputs={"p": "f"})),
    **child_outputs_by(
        lambda _mine, its: its,
        lambda graph: (
            {name for node in graph.nodes for name, _ in strings(node.body.get("outputs"), "")} | outputs_of(graph)
        ),
    ),
)
broken(
    "child-outputs-in-definitions-not-looked-at",
    "CHD-008 CHD-006",
    "what a definition takes from its children is not looked at",
    doc(children={"k@1": inner(calls("c", "l@1", outputs={"p": "o"})), "l@1": inner()}),
    check_child_outputs=lambda self, node, definition: (
        None if node.at.startswith("/children") else Validator.check_child_outputs(self, node, definition)
    ),
)

# How problems are told


def recoded(codes: dict[str, str]) -> dict[str, Any]:
    def told(self: Validator, problem: Problem) -> dict[str, Any]:
        return Validator.told(self, problem) | {"code": codes.get(problem.code, problem.code)}

    return {"told": told}


for _name, _sentence, _show, _codes in (
    (
        "out-of-range-as-wrong-type",
        "a range is told as a type",
        doc(workflow_version=0),
        {"out_of_range": "wrong_type"},
    ),
    (
        "unknown-node-as-undeclared-output",
        "an unknown node is told as an undeclared output",
        doc(node("a", "x")),
        {"unknown_node": "undeclared_output"},
    ),
    (
        "recursion-as-cycle",
        "recursion is told as a cycle of dependencies",
        with_child(ITSELF),
        {"child_recursion": "dependency_cycle"},
    ),
    (
        "later-member-as-unknown",
        "a member of a later version is told as unknown",
        doc(edges=[], version=1),
        {"member_of_later_version": "unknown_member"},
    ),
    (
        "missing-as-wrong-type",
        "a missing member is told as one of a wrong type",
        doc(workflow_version=OMIT),
        {"missing_member": "wrong_type"},
    ),
    (
        "unknown-word-as-wrong-form",
        "an unknown word is told as a wrong form",
        doc(cancellation="x"),
        {"unknown_word": "wrong_form"},
    ),
    (
        "duplicate-key-as-not-json",
        "a duplicate key is told as no JSON",
        spelled('1,"x":2'),
        {"duplicate_key": "not_json"},
    ),
    (
        "out-of-reach-as-unknown",
        "an output out of reach is told as an unknown node",
        doc(SAID, node("b", **TAKES)),
        {"output_out_of_reach": "unknown_node"},
    ),
):
    broken(f"told-{_name}", "SPC-028", _sentence, _show, **recoded(_codes))
broken(
    "codes-in-upper-case",
    "SPC-028",
    "codes are told in upper case",
    SELF,
    told=lambda self, problem: Validator.told(self, problem) | {"code": problem.code.upper()},
)
broken(
    "one-code-for-all",
    "SPC-028",
    "every problem has one code",
    SELF,
    told=lambda self, problem: Validator.told(self, problem) | {"code": "wrong_type"},
)


def pointing(change: Callable[[str], str]) -> dict[str, Any]:
    def told(self: Validator, problem: Problem) -> dict[str, Any]:
        return Validator.told(self, problem) | {"pointer": change(problem.pointer)}

    return {"told": told}


broken(
    "pointers-not-escaped",
    "SPC-029",
    "a slash in a key is not escaped in a pointer",
    doc(**{"a/b": 1}),
    below=lambda _self, at, key: f"{at}/{key}",
)
broken(
    "pointers-escaped-in-the-wrong-order",
    "SPC-029",
    "a slash is escaped first, and its tilde then again",
    doc(**{"a/b": 1}),
    below=lambda _self, at, key: at + "/" + key.replace("/", "~1").replace("~", "~0"),
)
broken(
    "pointers-percent-encoded",
    "SPC-029",
    "what is not ASCII is percent-encoded, as in a URI",
    doc(é=1),
    below=lambda self, at, key: Validator.below(self, at, key).replace("é", "%C3%A9"),
)
broken(
    "pointers-count-from-one",
    "SPC-029",
    "positions are counted from one",
    doc(node("a", x=1)),
    **pointing(lambda at: re.sub(r"(?<=/)\d+", lambda match: str(int(match[0]) + 1), at)),
)
broken(
    "pointers-into-the-definition",
    "SPC-029",
    "in a definition a pointer begins at the definition",
    with_child(inner(x=1)),
    **pointing(lambda at: re.sub(r"^/children/[^/]*", "", at)),
)
broken("pointers-as-fragments", "SPC-029", "a pointer begins with #", doc(x=1), **pointing(lambda at: "#" + at))
broken("pointers-to-the-document", "SPC-029", "every pointer is empty", doc(x=1), **pointing(lambda _at: ""))
broken(
    "pointers-with-dots",
    "SPC-029",
    "a pointer is a path with dots",
    doc(node("a", x=1)),
    **pointing(lambda at: at[1:].replace("/", ".")),
)
broken(
    "pointers-to-the-node-id",
    "SPC-029",
    "a node is pointed to by its id, not by its position",
    doc(node("a", x=1)),
    told=lambda self, problem: (
        Validator.told(self, problem)
        | {
            "pointer": re.sub(
                r"^/nodes/(\d+)",
                lambda m: "/nodes/" + str(dict(entries(self.document["nodes"][int(m[1])])).get("id")),
                problem.pointer,
            )
        }
    ),
)
broken(
    "pointers-to-missing-members",
    "SPC-029",
    "a missing member is pointed to as if it were there",
    doc(workflow_version=OMIT),
    missing=lambda self, _shape, key, at: self.problem("missing_member", f"{at}/{key}"),
)


def kept(choose: Callable[[list[Problem]], list[Problem]]) -> dict[str, Any]:
    return {"arranged": lambda _self, problems: choose(problems)}


def first_by(key: Callable[[Problem], Any]) -> Callable[[list[Problem]], list[Problem]]:
    return lambda problems: list({key(problem): problem for problem in reversed(problems)}.values())


TWO = doc(node("a", "x"), outputs={"o": out("y", "f")})
broken(
    "only-first-problem",
    "SPC-030",
    "it stops at the first problem",
    doc(x=1, cancellation="x"),
    **kept(lambda ps: ps[:1]),
)
broken(
    "one-problem-per-node",
    "SPC-030",
    "of each node only the first problem is told",
    doc(node("a", x=1, max_activations=0)),
    **kept(first_by(lambda problem: "/".join(problem.pointer.split("/")[:3]))),
)
broken(
    "problems-of-the-document-first",
    "SPC-030",
    "problems of definitions are told only if the document itself has none",
    with_child(inner(node("a", "a")), calls("c", "k@1"), node("a", "a", retry={"max_attempts": 0})),
    **kept(lambda ps: [p for p in ps if not p.pointer.startswith("/children")] or ps),
)
broken(
    "problems-of-the-first-check",
    "SPC-030",
    "it stops after the first rule that is broken",
    doc(node("a", "a"), node("b", handler=OMIT)),
    **kept(lambda ps: [p for p in ps if p.code == ps[0].code]),
)
broken(
    "at-most-three-problems",
    "SPC-030",
    "only three problems are told",
    doc(node("a", "a"), node("b", handler=OMIT), edges=[edge("a", "x"), edge("a", "b", SKIPPED)]),
    **kept(lambda ps: ps[:3]),
)

# Warnings that refuse

for _code, _show in {
    "edge_fan_in": doc(*map(node, "abc"), edges=[edge("a", "c"), edge("b", "c")]),
    "dependency_on_loop": doc(node("a"), node("b", "a"), edges=[edge("a", "a")], initial_nodes=["a"]),
    "policy_without_dependencies": doc(node("a", dependency_policy="any_succeeded")),
    "implied_retry_class": doc(node("a", retry={"classes": []})),
    "initial_exceeds_maximum": doc(
        node("a", retry={"backoff": {"kind": "exponential", "initial_ms": 2, "multiplier": 1, "maximum_ms": 1}})
    ),
    "duplicate_edge": doc(node("a"), node("b"), edges=[edge("a", "b"), edge("a", "b")]),
    "unused_child": doc(children={"k@1": inner()}),
    "undeclared_field": two(has("f", 1)),
    "budget_below_initial": doc(node("a"), node("b"), budgets={"max_transitions": 1}),
}.items():
    broken(
        f"{_code.replace('_', '-')}-refused",
        "SPC-031",
        f"what gives reason for the warning {_code} only is refused",
        _show,
        refused_warnings=(_code,),
    )


# The program


def answered(validator: Validator, request: dict[str, Any]) -> dict[str, Any]:
    params = request.get("params", {})
    match request["method"]:
        case "initialize":
            time.sleep(validator.start_seconds)
            return {
                "result": {
                    "protocol": 1,
                    "name": validator.called,
                    "version": "1.0.0",
                    "capabilities": validator.capabilities,
                    "limits": {"max_document_bytes": validator.max_document_bytes},
                }
            }
        case "validate":
            return {"result": validator.validate(params["document"], params.get("handlers"))}
        case "shutdown":
            return {"result": {}}
        case method:
            return {"error": {"code": -32601, "message": f"method not found: {method}"}}


def serve(variant: Variant) -> None:
    """Answer requests until the input ends or a shutdown is asked for."""
    validator = variant.make()
    style: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":")} | variant.serve
    for line in sys.stdin.buffer:
        if not line.endswith(b"\n"):
            return
        request = json.loads(line)
        answer = answered(validator, request) | {"jsonrpc": "2.0", "id": request["id"]}
        sys.stdout.buffer.write(json.dumps(answer, **style).encode() + b"\n")
        sys.stdout.buffer.flush()
        if request["method"] == "shutdown":
            return


TOLD = {
    "SPC-012",
    "SPC-021",
    "SPC-028",
    "SPC-029",
    "SPC-030",
    "EDG-007",
}  # what is told is wrong, not whether it is valid


def disagreement(variant: Variant) -> str:
    """What is wrong with a variant: a good one that answers wrongly, a broken one that does not on its own document."""
    document = variant.document()
    right = Validator().validate(document, variant.handlers)
    answer = variant.make().validate(document, variant.handlers)
    if set(variant.breaks) <= TOLD:
        return "" if answer["valid"] == right["valid"] and answer != right else f"{answer} is right"
    return "" if answer["valid"] != right["valid"] else f"{answer} is as valid as the right one"


def checked() -> list[str]:
    """All broken variants on their own documents, all good ones on all of those."""
    faults = []
    shows = [(v.document(), v.handlers) for v in VARIANTS.values() if v.kind == "broken" and isinstance(v.show, str)]
    right = [Validator().validate(*show)["valid"] for show in shows]
    for variant in VARIANTS.values():
        if variant.kind == "broken":
            fault = disagreement(variant)
            faults += [f"{variant.name}: {fault}"] if fault else []
        else:
            with contextlib.redirect_stderr(io.StringIO()):
                answers = [variant.make().validate(*show)["valid"] for show in shows]
            faults += [f"{variant.name}: {shows[i]}" for i in range(len(shows)) if answers[i] != right[i]]
    return faults


def main(arguments: list[str]) -> int:
    match arguments:
        case ["--list"]:
            sys.stdout.writelines(variant.listed() + "\n" for variant in VARIANTS.values())
        case ["--show", name] if name in VARIANTS:
            variant = VARIANTS[name]
            handlers = [] if variant.handlers is None else [compact(variant.handlers)]
            sys.stdout.buffer.write("\n".join([variant.document(), *handlers, ""]).encode())
        case ["--check"]:
            faults = checked()
            sys.stdout.writelines(fault + "\n" for fault in faults)
            return 1 if faults else 0
        case [name] if name in VARIANTS:
            serve(VARIANTS[name])
        case _:
            sys.stderr.write(f"usage: {__doc__}\n")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
