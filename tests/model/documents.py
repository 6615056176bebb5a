"""Documents for tests of the validator: built in few words, and changed at one place."""

from __future__ import annotations

import copy
import unicodedata
from typing import Any, Final

from perdure.kernel.problems import Problem
from perdure.kernel.validation.validator import Validation

Document = dict[str, Any]

GONE: Final = object()
"""In place of a value: the member goes."""

ARTIFACT: Final[Document] = {
    "artifact_id": "018f3a5c-0000-7000-8000-0000000000f1",
    "byte_length": 10,
    "sha256": "0123456789abcdef" * 4,
    "media_type": "text/plain",
}

MAX_SENTENCE: Final = 1_000
"""A sentence is for people; this is generous."""


def node(name: str, *prerequisites: str, **members: Any) -> Document:
    found: Document = {"id": name, "handler": {"name": "work", "version": 1}}
    if prerequisites:
        found["dependencies"] = list(prerequisites)
    return found | members


def child_node(name: str, *prerequisites: str, workflow: str = "child@1", **members: Any) -> Document:
    found = node(name, *prerequisites, child={"workflow": workflow, "policy": "propagate"}, **members)
    del found["handler"]
    return found


def edge(source: str, target: str, when: Any = None, mode: str | None = None) -> Document:
    found: Document = {"from": source, "to": target}
    if when is not None:
        found["when"] = when
    if mode is not None:
        found["mode"] = mode
    return found


def kind(name: str) -> Document:
    return {"outcome": name}


def field(name: str, equals: Any) -> Document:
    return {"field": name, "equals": equals}


def definition(*nodes: Document, **members: Any) -> Document:
    return {"nodes": list(nodes), **members}


def document(*nodes: Document, version: int = 5, **members: Any) -> Document:
    return {"schema_version": version, "workflow_id": "flow", "workflow_version": 1, "nodes": list(nodes), **members}


def full() -> Document:
    """Return an accepted document that has every member except `content_hash`."""
    start = node(
        "start",
        input={"mode": "fast"},
        artifacts={"source": dict(ARTIFACT)},
        input_mapping={"ticket": {"run_input": "ticket"}},
        outputs=["text", "score"],
        max_activations=3,
        retry={
            "max_attempts": 5,
            "classes": ["retryable_failure", "permanent_failure"],
            "backoff": {"kind": "exponential", "initial_ms": 1, "multiplier": 2, "maximum_ms": 100},
            "jitter": {"seed": "salt", "maximum_ms": 10},
            "attempt_deadline_ms": 1_000,
        },
        signals=["go", "stop"],
    )
    review = child_node(
        "review",
        "start",
        workflow="review@1",
        dependency_policy="all_completed",
        input_mapping={"text": {"node": "start", "output": "text"}},
    )
    review["child"]["outputs"] = {"verdict": "verdict"}
    fix = node("fix", retry={"backoff": {"kind": "fixed", "delay_ms": 5}})
    publish = node("publish", "review", "start", outputs=["url"], retry={"backoff": {"kind": "immediate"}})
    read = node("read", outputs=["verdict"], input_mapping={"text": {"run_input": "text"}})
    return {
        "$schema": "https://example.org/specification-1.json",
        **document(start, review, fix, publish, node("alarm"), node("spare")),
        "edges": [
            edge("start", "fix", kind("changes_requested"), "exclusive"),
            edge("start", "alarm", kind("permanent_failure"), "exclusive"),
            edge("fix", "start", "any", "parallel"),
            edge("start", "spare", field("score", 1)),
        ],
        "initial_nodes": ["start"],
        "inputs": ["ticket"],
        "outputs": {"result": {"node": "publish", "output": "url"}, "score": {"node": "start", "output": "score"}},
        "budgets": {"max_attempts": 10, "max_transitions": 20, "max_elapsed_ms": 1_000},
        "cancellation": "cascade",
        "children": {
            "review@1": definition(read, inputs=["text"], outputs={"verdict": {"node": "read", "output": "verdict"}})
        },
    }


def as_definition(whole: Document, key: str = "inner@1") -> Document:
    """Return a document that runs the workflow of `whole` as a child, with the same version and catalog."""
    outside = ("schema_version", "workflow_id", "workflow_version", "content_hash", "$schema", "children")
    inner = {name: value for name, value in whole.items() if name not in outside}
    caller = child_node("call", workflow=key, input={str(name): 1 for name in whole.get("inputs", ())})
    children = {**whole.get("children", {}), key: inner}
    return document(caller, version=whole["schema_version"], children=children)


def steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def changed(whole: Document, at: str, value: Any) -> Document:
    """Return a copy with another value at a JSON Pointer; one beyond the end of an array is appended."""
    found = copy.deepcopy(whole)
    *path, last = steps(at)
    here: Any = found
    for step in path:
        here = here[int(step)] if isinstance(here, list) else here[step]
    if isinstance(here, list):
        here[int(last) : int(last) + 1] = [] if value is GONE else [value]
    elif value is GONE:
        here.pop(last, None)
    else:
        here[last] = value
    return found


def errors(validation: Validation) -> list[tuple[str, str]]:
    """Return code and place of each problem that refuses the document."""
    return [(problem.code, problem.pointer) for problem in validation.problems if problem.severity == "error"]


def warnings(validation: Validation) -> list[tuple[str, str]]:
    return [(problem.code, problem.pointer) for problem in validation.problems if problem.severity == "warning"]


def is_for_people(problem: Problem) -> bool:
    """Tell whether a sentence can be shown: not empty, ended, short, and without anything that moves a cursor."""
    hidden = [mark for mark in problem.sentence if unicodedata.category(mark) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]
    return not hidden and problem.sentence.strip()[-1:] in {".", "?"} and len(problem.sentence) <= MAX_SENTENCE
