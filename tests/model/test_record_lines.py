"""Two readers of records: the quick one and the one that verifies agree on every line, right or damaged."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

import pytest
from tests.model.drawn_values import Values, near_miss, schema_of

from perdure.kernel import records
from perdure.kernel.errors import HistoryError
from perdure.kernel.events import EVENTS
from perdure.kernel.records import Record, decoded, verified
from perdure.kernel.values import canonical_json, digest

RUN, EVENT = "018f3a5c-0000-7000-8000-000000000001", "018f3a5c-0000-7000-8000-0000000000e1"

JSONS: Final[tuple[Any, ...]] = (
    *(
        None,
        True,
        0,
        -1,
        0.5,
        1e300,
        1e-7,
        2**53 - 1,
        -(2**53) + 1,
        "",
        "null",
        "é\u2028\x7f\x1f\t",
        "\ue000\U0001f600",
    ),
    *([], {}, {"\U0001f600": 1, "\ue000": 2, "é": 3}, {"a": {"b": [1, {"c": '\\"/'}]}}, [[[1234567890123456]]], "1e5"),
)
"""JSON of any kind, in which canonical form is not plain."""


def answer(reader: Callable[[bytes], Record], line: bytes) -> Record | str:
    """Return what a reader makes of a line: a record, or the code of its refusal. It raises nothing else."""
    try:
        return reader(line)
    except HistoryError as error:
        return error.code


def agree(line: bytes) -> Record | str:
    quick, thorough = answer(decoded, line), answer(verified, line)
    assert repr(quick) == repr(thorough), line
    assert quick == thorough, line
    return thorough


def sealed_over(unsealed: dict[str, Any]) -> bytes:
    """Return a line in canonical form, with a checksum that fits."""
    return canonical_json({**unsealed, "checksum": digest(unsealed)})


def written(unsealed: dict[str, Any], write: Callable[[Any], str]) -> bytes:
    """Return a line in any form, with a checksum that fits the stored bytes without it, right after `batch_size`."""
    covered = write(unsealed)
    checksum = hashlib.sha256(covered.encode("utf-8", "surrogatepass")).hexdigest()
    return covered.replace('"event":', f'"checksum":"{checksum}","event":', 1).encode("utf-8", "surrogatepass")


def drawn(chance: Random, version: int, name: str) -> dict[str, Any]:
    """Return an unsealed record with an event of a type."""
    schema = schema_of_version(version)
    event = Values(schema, chance).of(schema["$defs"][name])
    for member in ("output", "payload"):
        if member in event and chance.random() < 0.5 and name != "ChildCompleted":
            event[member] = chance.choice(JSONS)
    size = chance.choice((1, 2, 2**53 - 1))
    return {
        "batch_index": chance.choice((0, size - 1)),
        "batch_size": size,
        "event": event,
        "event_id": EVENT,
        "run_id": RUN,
        "schema_version": version,
        "sequence": chance.choice((1, 7, 2**53 - 1)),
    }


SCHEMAS: Final = {version: schema_of(f"event-{version}") for version in EVENTS}


def schema_of_version(version: int) -> Any:
    return SCHEMAS[version]


def damaged(chance: Random, unsealed: dict[str, Any]) -> Iterator[bytes]:
    """Yield lines that are near a right one, each changed in one way."""
    line = sealed_over(unsealed)
    at = chance.randrange(len(line))
    yield line[:at] + bytes([line[at] ^ (1 << chance.randrange(8))]) + line[at + 1 :]
    yield line[:at] + line[at + 1 :]
    yield line[:at] + chance.choice((b" ", b"\n", b"\xff", b"\\u0041", b"0", b",")) + line[at:]
    yield line[:at]
    yield line + chance.choice((b"\n", b" ", b"{}", b"\x00"))
    yield line.replace(b'"sequence":', b'"sequence":7,"sequence":')
    yield line.replace(b'"type":', b'"type":"RunCompleted","type":')
    yield sealed_over(
        {**unsealed, "event": {**unsealed["event"], chance.choice(("surplus", "deadline_ms", "input")): 1}}
    )
    yield sealed_over({**unsealed, "event": {**unsealed["event"], chance.choice(tuple(unsealed["event"])): None}})
    yield sealed_over({**unsealed, "event": {**unsealed["event"], "deadline_ms": None}})
    yield sealed_over({**unsealed, "surplus": 1})
    yield sealed_over({**unsealed, "batch_index": unsealed["batch_size"]} if unsealed["batch_size"] < 9 else unsealed)
    yield sealed_over({**unsealed, "schema_version": chance.choice((0, 1, 2, 3, 4, 5, 6))})
    yield canonical_json({**unsealed, "checksum": "0" * 64})
    yield canonical_json({**unsealed, "checksum": digest(unsealed).upper()})
    yield canonical_json(unsealed)
    changed = near_miss(unsealed, chance)
    if isinstance(changed, dict):
        yield sealed_over({key: value for key, value in changed.items() if key != "checksum"})


def in_other_forms(unsealed: dict[str, Any]) -> Iterator[bytes]:
    """Yield lines with the same content in another form, whose checksums fit their stored bytes."""
    event = {key: unsealed["event"][key] for key in reversed(unsealed["event"])}
    yield written(unsealed, plain)
    yield written(unsealed, lambda value: json.dumps(value, sort_keys=True, separators=(",", ":")))
    yield written(unsealed, json.dumps)
    yield written({key: unsealed[key] for key in reversed(unsealed)}, lambda value: plain(value, sort_keys=False))
    yield written({**unsealed, "event": event}, lambda value: plain(value, sort_keys=False))
    yield written(unsealed, lambda value: plain(value).replace('"sequence":', '"sequence":0'))
    yield written(unsealed, lambda value: plain(value)[:-1] + ".0}")
    yield written(unsealed, lambda value: plain(value)[:-1] + "e0}")
    yield written(unsealed, lambda value: plain(value).replace('"type":', '"type":1,"type":'))
    yield written(unsealed, lambda value: plain(value).replace('"run', r'"\u0072un'))


def plain(value: Any, *, sort_keys: bool = True) -> str:
    return json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize(("version", "name"), sorted((v, kind.__name__) for v in EVENTS for kind in EVENTS[v]))
def test_both_readers_agree_on_every_line(version: int, name: str) -> None:
    found: Counter[str] = Counter()
    for number in range(12):
        chance = Random(f"{number} {version} {name}")  # noqa: S311 - it draws examples
        unsealed = drawn(chance, version, name)
        found[str(type(agree(sealed_over(unsealed))))] += 1
        for line in (*damaged(chance, unsealed), *in_other_forms(unsealed)):
            one = agree(line)
            found[one if isinstance(one, str) else "right"] += 1
    assert {"right", "not_json", "not_canonical", "wrong_structure", "wrong_checksum"} <= set(found), found


NUMBERS = (
    "9007199254740992",
    "-9007199254740992",
    "1e400",
    "1.0",
    "-0",
    "1E2",
    "1e2",
    "0.10",
    "5e-324",
    "1e21",
    "123456789012345678901",
)
DEEP = [(depth, bracket) for depth in (87, 88, 89, 90, 91, 97, 98, 99, 150, 20_000) for bracket in ("[]", '{"a":}')]


def with_payload(text: str) -> bytes:
    """Return a record with a payload as it is written, whose checksum fits the stored bytes."""
    event = (
        f'{{"attempt_id":"{RUN}","name":"s","node":"A","payload":{text},"signal_id":"{RUN}","type":"SignalAccepted"}}'
    )
    covered = (
        f'{{"batch_index":0,"batch_size":1,"event":{event},"event_id":"{EVENT}",'
        f'"run_id":"{RUN}","schema_version":5,"sequence":3}}'
    )
    checksum = hashlib.sha256(covered.encode("utf-8", "surrogatepass")).hexdigest()
    return covered.replace('"event":', f'"checksum":"{checksum}","event":', 1).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("wrap", ["{}", "[{}]", '{{"a":{}}}', "[1,{}]", '"{}"'])
@pytest.mark.parametrize("number", NUMBERS)
def test_both_readers_agree_on_numbers(number: str, wrap: str) -> None:
    agree(with_payload(wrap.format(number)))


@pytest.mark.parametrize(("depth", "bracket"), DEEP, ids=str)
def test_both_readers_agree_on_depth(depth: int, bracket: str) -> None:
    opened, closed = (bracket[0], bracket[-1]) if bracket == "[]" else ('{"a":', "}")
    found = agree(with_payload(opened * depth + "1" + closed * depth))
    assert isinstance(found, Record) == (depth <= 90)


@pytest.mark.parametrize(
    "text",
    [
        *(r'"\ud800"', r'"\ud83d\ude00"', '"\ud800"', '"\U0001f600"', r'"\/"', r'"\u007f"', '"\x7f"', r'"\u001F"'),
        *(r'"\u001f"', r'"\b\f\n\r\t"', r'"\u0008"', '"\x01"', '{"a":1,"a":1}', '{"\ue000":1,"\U0001f600":1}'),
        *('{"\U0001f600":1,"\ue000":1}', '{"b":1,"a":1}', '{"a":1,"aa":1,"é":1}', "NaN", "Infinity", "tru", "null"),
        *('"null"', '{"":1}', "[1 ,2]", "{}", "[]"),
    ],
    ids=ascii,
)
def test_both_readers_agree_on_texts(text: str) -> None:
    agree(with_payload(text))


@pytest.mark.parametrize("character", ["x", "é", "\u2028", "\U0001f600", "\x7f"])
@pytest.mark.parametrize("length", [0, 1, 128, 129])
def test_both_readers_agree_on_who_asked(character: str, length: int) -> None:
    event = {
        "type": "CancellationRequested",
        "requester": character * length,
        "reason": "",
        "now_ms": 0,
        "policy": "cascade",
    }
    found = agree(sealed_over(unsealed_with(event)))
    assert isinstance(found, Record) == (1 <= length <= 128)


@pytest.mark.parametrize("length", [0, 4_096, 4_097, 65_536, 1_100_000])
@pytest.mark.parametrize("kind", ["blocked", "changes_requested"])
def test_both_readers_agree_on_long_reasons(kind: str, length: int) -> None:
    event = {"type": "NodeOutcomeCommitted", "node": "A", "outcome": {"kind": kind, "reason": "r" * length}}
    found = agree(sealed_over(unsealed_with(event)))
    assert isinstance(found, Record) == (length <= 4_096)
    assert found == "over_limit" or length <= 4_096


@pytest.mark.parametrize("both", [False, True])
def test_both_readers_agree_on_output_that_is_given_twice(both: bool) -> None:
    artifact = {"artifact_id": RUN, "byte_length": 1, "sha256": "0" * 64}
    outcome = {"kind": "succeeded", "artifact": artifact} | ({"output": 1} if both else {})
    found = agree(sealed_over(unsealed_with({"type": "NodeOutcomeCommitted", "node": "A", "outcome": outcome})))
    assert (found == "over_limit") == both


def test_an_event_of_a_later_version_is_unknown_to_both() -> None:
    event = {"type": "TimerFired", "node": "A", "attempt_id": RUN, "deadline_ms": 1}
    assert agree(sealed_over({**unsealed_with(event), "schema_version": 4})) == "unknown_type"
    assert isinstance(agree(sealed_over(unsealed_with(event))), Record)


def test_usual_records_are_read_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(line: bytes) -> Record:
        raise AssertionError(line)

    monkeypatch.setattr(records, "verified", refuse)
    outcome = {"kind": "succeeded", "output": {"text": "é", "count": 12, "list": [1, 2]}}
    for event in (
        {"type": "NodeStarted", "node": "A", "attempt_id": RUN, "attempt": 1},
        {"type": "NodeOutcomeCommitted", "node": "A", "attempt_id": RUN, "outcome": outcome},
        {"type": "NodeOutcomeCommitted", "node": "A", "outcome": {"kind": "skipped", "reason": "r" * 4_096}},
    ):
        decoded(sealed_over(unsealed_with(event)))


def unsealed_with(event: dict[str, Any]) -> dict[str, Any]:
    return {
        "batch_index": 0,
        "batch_size": 1,
        "event": event,
        "event_id": EVENT,
        "run_id": RUN,
        "schema_version": 5,
        "sequence": 2,
    }
