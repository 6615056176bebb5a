"""Text: what is I-JSON, and in how many ways one value can be spelt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from perdure_conformance.spec.documents import Repeat, edge, node, workflow
from perdure_conformance.spec.pairs.pair import Pair, pair

_AS_TEXT: Final = '{"schema_version":1,"workflow_id":"order","workflow_version":1,"nodes":[%s]}'

_A: Final = '{"id":"a","handler":{"name":"work","version":1}%s}'


def _with_input(text: str) -> str:
    return _AS_TEXT % (_A % f',"input":{{"k":{text}}}')


def text_is_i_json() -> Iterator[Pair]:
    """SPC-001."""
    yield pair(
        "SPC-001",
        "a key stands twice, at the top",
        (_AS_TEXT % (_A % ""))[:-1] + ',"workflow_id":"order"}',
        _AS_TEXT % (_A % ""),
    )
    yield pair(
        "SPC-001",
        "a key stands twice, deep inside",
        _with_input('{"x":[{"y":1,"y":1}]}'),
        _with_input('{"x":[{"y":1,"z":1}]}'),
    )
    yield pair(
        "SPC-001",
        "a key stands twice, once escaped",
        _with_input('{"y":1,"\\u0079":2}'),
        _with_input('{"y":1,"\\u007a":2}'),
    )
    yield pair("SPC-001", "a lone surrogate", _with_input('"\\ud83d"'), _with_input('"\\ud83d\\ude00"'))
    yield pair(
        "SPC-001", "a lone surrogate in a key", _with_input('{"\\udc00":1}'), _with_input('{"\\ud83d\\ude00":1}')
    )
    yield pair("SPC-001", "NaN", _with_input("NaN"), _with_input("0"))
    yield pair("SPC-001", "an infinite number", _with_input("-Infinity"), _with_input("-1"))
    yield pair("SPC-001", "a number too large for a double", _with_input("1e400"), _with_input("1e300"))
    yield pair("SPC-001", "2^53", _with_input("9007199254740992"), _with_input("9007199254740991"))
    yield pair("SPC-001", "−2^53", _with_input("-9007199254740992"), _with_input("-9007199254740991"))
    yield pair(
        "SPC-001", "2^53, spelt as a double", _with_input("9007199254740992.0"), _with_input("9007199254740991.0")
    )
    yield pair("SPC-001", "no JSON at the end", _AS_TEXT % (_A % "") + "x", _AS_TEXT % (_A % "") + "\n")
    yield pair("SPC-001", "a comma at the end of an array", _AS_TEXT % (_A % "" + ","), _AS_TEXT % (_A % ""))
    yield pair("SPC-001", "a comment", "/* draft */" + _AS_TEXT % (_A % ""), "   " + _AS_TEXT % (_A % ""))
    yield pair("SPC-001", "single quotes", _with_input("'x'"), _with_input('"x"'))
    yield pair("SPC-001", "a number with a leading zero", _with_input("01"), _with_input("1"))
    yield pair("SPC-001", "a raw line feed in a string", _with_input('"x\ny"'), _with_input('"x\\ny"'))
    yield pair("SPC-001", "nothing", "", _AS_TEXT % (_A % ""))
    yield pair("SPC-001", "cut short", (_AS_TEXT % (_A % ""))[:-1], _AS_TEXT % (_A % ""))
    yield pair(
        "SPC-001",
        "nested without end",
        (Repeat("[", 100_000), Repeat("]", 100_000)),
        _with_input("[" * 40 + "]" * 40),
    )


def spelling_does_not_matter() -> Iterator[Pair]:
    """SPC-002."""
    for name, spelt in {
        "1.0 is an integer": '{"schema_version":1.0,"workflow_id":"order","workflow_version":10e-1,"nodes":[%s]}'
        % (_A % ""),
        "members in another order": '{"nodes":[%s],"workflow_version":1,"workflow_id":"order","schema_version":1}'
        % (_A % ""),
        "escaped members": '{"\\u0073chema_version":1,"workflow_id":"\\u006frder","workflow_version":1,"nodes":[%s]}'
        % (_A % ""),
        "white space": '\r\n{ "schema_version" :\t1 ,"workflow_id":"order","workflow_version":1,"nodes":[ %s ] }\n'
        % (_A % ""),
        "a schema for editors": _AS_TEXT.replace("{", '{"$schema":"./specification-1.json",', 1) % (_A % ""),
        "NUL, U+2028 and an emoji in input": _with_input('"\\u0000\u2028\U0001f600"'),
        "the smallest document": _AS_TEXT % (_A % ""),
    }.items():
        yield pair("SPC-002", name, None, spelt)
    yield pair(
        "SPC-002",
        "everything there is",
        None,
        workflow(
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
            node("fix"),
            node("end", dependencies=["check"], dependency_policy="all_completed"),
            edges=[
                edge("check", "fix", when={"field": "found", "equals": None}, mode="exclusive"),
                edge("check", "fix", when={"field": "found", "equals": False}, mode="exclusive"),
                edge("fix", "fix", when={"outcome": "changes_requested"}),
            ],
            initial_nodes=["plan"],
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
        ),
    )


PAIRS = (text_is_i_json, spelling_does_not_matter)
