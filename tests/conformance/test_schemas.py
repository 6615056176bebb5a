"""The messages: each example is accepted, and each near miss, one edit away, is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from perdure_conformance import data
from perdure_conformance.harness.connection import AdapterFault, Unsupported
from perdure_conformance.harness.schemas import check_params, check_result, decode_reply
from perdure_conformance.profiles import ANY_CASE

RUN = "018f3a5c-0000-7000-8000-000000000001"
EVENT = "018f3a5c-0000-7000-8000-0000000000e1"
LIMITS = {"max_batch_records": 1_000, "max_batch_bytes": 2**20, "max_snapshot_bytes": 2**20}
RECORD = {"sequence": 1, "event_id": EVENT, "body": "{}"}

PARAMS: dict[str, dict[str, Any]] = {
    "initialize": {"protocol": 1, "profile": "journal", "state_dir": "/s", "namespace": "perdure", "limits": LIMITS},
    "append": {"run_id": RUN, "expected_next": 1, "epoch": None, "records": [RECORD]},
    "load": {"run_id": RUN, "from_sequence": 1, "limit": 10},
    "save_snapshot": {"run_id": RUN, "sequence": 1, "body": "{}"},
    "load_snapshot": {"run_id": RUN},
    "acquire": {"run_id": RUN, "owner": RUN, "ttl_ms": 10, "now_ms": 0},
    "renew": {"run_id": RUN, "epoch": 1, "ttl_ms": 10, "now_ms": 0},
    "release": {"run_id": RUN, "epoch": 1},
    "recover": {"path": "/s"},
    "shutdown": {},
}

RESULTS: list[tuple[str, dict[str, Any]]] = [
    ("initialize", {"protocol": 1, "name": "n", "version": "1", "capabilities": {}, "limits": LIMITS}),
    (
        "initialize",
        {
            "protocol": 1,
            "name": "n",
            "version": "1",
            "capabilities": {"exact_replay": True, "fencing": False, "durable": "posix-weak", "read": "linearizable"},
            "limits": LIMITS,
        },
    ),
    ("append", {"acknowledged": [{"sequence": 1, "event_id": EVENT}]}),
    ("append", {"refused": "invalid_record"}),
    ("append", {"refused": "too_large", "detail": "for people"}),
    ("append", {"refused": "stale_epoch"}),
    ("append", {"refused": "event_id_conflict"}),
    ("append", {"refused": "sequence_conflict", "actual_next": 4}),
    ("append", {"refused": "not_stored"}),
    ("append", {"refused": "unavailable"}),
    ("load", {"records": [RECORD], "end": False}),
    ("load", {"records": [], "end": True}),
    ("load", {"refused": "corrupt", "sequence": 2}),
    ("load", {"refused": "unavailable"}),
    ("save_snapshot", {}),
    ("save_snapshot", {"refused": "too_large"}),
    ("load_snapshot", {"sequence": 1, "body": "{}"}),
    ("load_snapshot", {"none": True}),
    ("acquire", {"epoch": 1, "until_ms": 10}),
    ("acquire", {"refused": "held"}),
    ("renew", {"until_ms": 10}),
    ("renew", {"refused": "stale_epoch"}),
    ("release", {}),
    ("release", {"refused": "stale_epoch"}),
    ("recover", {}),
    ("recover", {"refused": "unavailable"}),
    ("shutdown", {}),
]

NEAR_MISSES: list[tuple[str, object]] = [
    ("initialize", {"protocol": 2, "name": "n", "version": "1", "capabilities": {}, "limits": LIMITS}),
    ("initialize", {"protocol": 1, "name": "n", "version": "1", "capabilities": {"telepathy": True}, "limits": LIMITS}),
    ("initialize", {"protocol": 1, "name": "n", "version": "1", "capabilities": {"durable": True}, "limits": LIMITS}),
    ("initialize", {"protocol": 1, "name": "", "version": "1", "capabilities": {}, "limits": LIMITS}),
    ("initialize", {"protocol": 1, "name": "n", "version": "1", "capabilities": {}}),
    ("append", {}),
    ("append", []),
    ("append", None),
    ("append", {"acknowledged": [{"sequence": True, "event_id": EVENT}]}),
    ("append", {"acknowledged": [{"sequence": 0, "event_id": EVENT}]}),
    ("append", {"acknowledged": [], "refused": "unavailable"}),
    ("append", {"refused": "sequence_conflict"}),
    ("append", {"refused": "sequence_conflict", "actual_next": -1}),
    ("append", {"refused": "held"}),
    ("append", {"refused": "corrupt", "sequence": 1}),
    ("append", {"refused": "unavailable", "detail": "x" * 5_000}),
    ("load", {"records": {}, "end": True}),
    ("load", {"records": [], "end": 1}),
    ("load", {"records": [{**RECORD, "body": 7}], "end": True}),
    ("load", {"records": [{**RECORD, "sequence": 1.5}], "end": True}),
    ("load_snapshot", {"none": False}),
    ("load_snapshot", {}),
    ("acquire", {"epoch": 0, "until_ms": 10}),
    ("acquire", {"epoch": 1}),
    ("renew", {}),
    ("release", {"epoch": 1}),
    ("recover", {"refused": "corrupt", "sequence": 1}),
    ("shutdown", {"bye": True}),
]


@pytest.mark.parametrize("method", PARAMS)
def test_example_params_are_accepted(method: str) -> None:
    check_params(method, PARAMS[method])


@pytest.mark.parametrize("method", [method for method in PARAMS if PARAMS[method]])
def test_params_without_a_member_would_never_be_sent(method: str) -> None:
    for name in PARAMS[method]:
        fewer = {key: value for key, value in PARAMS[method].items() if key != name}
        with pytest.raises(AssertionError):
            check_params(method, fewer)


@pytest.mark.parametrize(("method", "result"), RESULTS)
def test_example_results_are_accepted(method: str, result: dict[str, Any]) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": "h-1", "result": result}).encode()
    assert decode_reply(line, "h-1", method, PARAMS[method]) == result


@pytest.mark.parametrize(("method", "result"), NEAR_MISSES)
def test_near_misses_are_refused_with_the_place(method: str, result: Any) -> None:
    with pytest.raises(AdapterFault) as fault:
        check_result(method, PARAMS[method], result)
    assert fault.value.kind == "wrong_reply"
    assert method in fault.value.sentence


def test_what_is_like_something_right_is_looked_at_for_itself() -> None:
    """What is right is remembered by all of its content: 1 is no `true`, and no text."""
    check_result("acquire", PARAMS["acquire"], {"epoch": 1, "until_ms": 10})
    for epoch in (True, "1", None, 1.5):
        with pytest.raises(AdapterFault):
            check_result("acquire", PARAMS["acquire"], {"epoch": epoch, "until_ms": 10})
    with pytest.raises(AdapterFault):
        check_result("renew", PARAMS["renew"], {"epoch": 1, "until_ms": 10})


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"hello", "no_message"),
        (b"", "no_message"),
        (b"\xff\xfe", "no_message"),
        (b'{"jsonrpc":"2.0","id":"h-2","result":{},"result":{}}', "no_message"),
        (b'{"jsonrpc":"2.0","id":"h-2","result":{"x":NaN}}', "no_message"),
        (b'{"jsonrpc":"2.0","id":"h-2","result":{"x":"\\ud800"}}', "no_message"),
        (b"[" * 100_000, "no_message"),
        (b"[]", "wrong_reply"),
        (b"{}", "wrong_reply"),
        (b'{"jsonrpc":"1.0","id":"h-2","result":{}}', "wrong_reply"),
        (b'{"jsonrpc":"2.0","id":2,"result":{}}', "wrong_reply"),
        (b'{"jsonrpc":"2.0","id":"h-3","result":{}}', "wrong_reply"),
        (b'{"jsonrpc":"2.0","id":"h-1","result":{}}', "unasked"),
        (b'{"jsonrpc":"2.0","id":"h-2","result":{},"error":{"code":1,"message":"m"}}', "wrong_reply"),
        (b'{"jsonrpc":"2.0","id":"h-2"}', "wrong_reply"),
        (b'{"jsonrpc":"2.0","id":"i-1","method":"append","params":{}}', "unasked"),
        (b'{"jsonrpc":"2.0","id":"h-2","error":{"code":-32000,"message":"m"}}', "error"),
    ],
)
def test_lines_that_answer_nothing_are_told_apart(line: bytes, kind: str) -> None:
    with pytest.raises(AdapterFault) as fault:
        decode_reply(line, "h-2", "shutdown", {})
    assert fault.value.kind == kind


def test_method_not_found_means_unsupported() -> None:
    with pytest.raises(Unsupported):
        decode_reply(b'{"jsonrpc":"2.0","id":"h-1","error":{"code":-32601,"message":"?"}}', "h-1", "acquire", {})


def test_the_exchange_in_the_specification_is_one() -> None:
    page = (data.specification() / "protocol.md").read_text("utf-8")
    block = page.partition("```json\n")[2].partition("```")[0]
    messages = [json.loads(line) for line in block.splitlines()]
    for request, reply in zip(messages[::2], messages[1::2], strict=True):
        check_params(request["method"], request["params"])
        line = json.dumps(reply).encode()
        if "error" in reply:
            with pytest.raises(Unsupported):
                decode_reply(line, request["id"], request["method"], request["params"])
        else:
            assert decode_reply(line, request["id"], request["method"], request["params"]) == reply["result"]
    assert len(messages) == 8


@pytest.mark.parametrize("path", sorted(data.schemas().rglob("*.json")), ids=lambda path: path.stem)
def test_each_schema_is_a_schema(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text("utf-8")))


def test_patterns_do_not_match_before_a_line_end() -> None:
    for path in data.schemas().rglob("*.json"):
        assert '$"' not in path.read_text("utf-8"), path


def test_the_schema_of_a_case_is_that_of_the_code() -> None:
    schema = msgspec.json.schema(ANY_CASE, schema_hook=lambda _: {"description": "A JSON value, for people."})
    generated = json.loads(json.dumps(schema))
    kept = json.loads((data.schemas() / "case-1.json").read_text("utf-8"))
    assert {key: value for key, value in kept.items() if key not in {"$schema", "$id", "title"}} == generated
