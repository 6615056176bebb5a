"""Vectors of specifications: what the model's validator says of them is what every validator must."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from perdure.kernel.problems import Problem
from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.golden.chosen import PAIRS
from perdure_conformance.spec.documents import Document, text_of
from perdure_conformance.spec.pairs import Pair, all_pairs
from perdure_conformance.spec.questions import truth_about
from perdure_conformance.vectors.vector import Vector, written


def all_of_documents() -> Iterator[Vector]:
    """Yield all of them."""
    for pair in all_pairs():
        if pair.name in PAIRS.get(pair.requirement, ()):
            for answer, document in (("refused", pair.rejected), ("accepted", pair.accepted)):
                if document is not None:
                    yield _of_document(pair, answer, document)
            yield from _without_warning(pair)


_MENDED: Final[Mapping[str, tuple[str, str]]] = {
    "a budget below the initial nodes": ('"max_transitions":1', '"max_transitions":2'),
    "a child that nobody runs": (
        '"handler":{"name":"work","version":1}',
        '"child":{"workflow":"c@1","policy":"propagate"}',
    ),
    "a dependency on a loop": ('"from":"a","to":"a"', '"from":"a","to":"b"'),
    "a field that is not declared": ('{"id":"a",', '{"id":"a","outputs":["x"],'),
    "a join of branches that exclude each other": (
        '"dependencies":["b","c"]',
        '"dependencies":["b","c"],"dependency_policy":"any_succeeded"',
    ),
    "a policy without dependencies": (',"dependency_policy":"any_succeeded"', ""),
    "an input from a node that runs later": ('"initial_nodes":["a"]', '"initial_nodes":["b"]'),
    "an edge from a child that asks for changes": ('"changes_requested"', '"succeeded"'),
    "an edge that stands twice": (',{"from":"a","to":"b"}', ""),
    "an initial delay above the maximum": ('"maximum_ms":1', '"maximum_ms":9'),
    "edges that come together": (',{"from":"c","to":"m"}', ""),
    "no retry class named": ('"classes":[]', '"classes":["retryable_failure"]'),
}
"""Of each document that gives reason for a warning the edit without which it gives none."""


def _without_warning(pair: Pair) -> Iterator[Vector]:
    if pair.accepted is not None and pair.name in _MENDED:
        text = text_of(pair.accepted)
        assert _MENDED[pair.name][0] in text
        yield _of_document(pair, "without a warning", (text.replace(*_MENDED[pair.name], 1),))


def _of_document(pair: Pair, answer: str, document: Document) -> Vector:
    files = {".json": text_of(document).encode()}
    if pair.handlers is not None:
        files[".handlers.json"] = written({"handlers": [msgspec.to_builtins(each) for each in pair.handlers]})
    name = f"{pair.requirement} {pair.name}: {answer}"
    told = ("SPC-028", "SPC-029") if answer == "refused" else ()
    requirements = tuple(dict.fromkeys((pair.requirement, *told)))
    return Vector("validate", name, requirements, files, _validated(pair, document))


def _validated(pair: Pair, document: Document) -> JsonObject:
    found = truth_about(document, pair.handlers)
    if not found.valid:
        return {"valid": False, "problems": _told(found.problems, "error")}
    warnings = _told(found.problems, "warning")
    nodes: JsonValue = list(found.initial_nodes)
    return {"valid": True, "content_hash": found.content_hash, "initial_nodes": nodes, "warnings": warnings}


def _told(problems: Sequence[Problem], severity: str) -> list[JsonValue]:
    return [{"code": each.code, "pointer": each.pointer} for each in problems if each.severity == severity]
