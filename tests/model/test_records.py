from __future__ import annotations

import hashlib
import json

import pytest

from perdure.journal.contract import Envelope
from perdure.journal.records import SCHEMA_VERSION, RecordError, open_record, seal
from perdure.kernel.identity import EventId, RunId
from perdure.kernel.values import JsonObject

RUN = RunId("018f3a5c-0000-7000-8000-000000000001")
EVENT = EventId("018f3a5c-0000-7000-8000-0000000000e1")

UNSEALED = (
    '{"batch_index":0,"batch_size":2,'
    '"event":{"node_id":"plan","type":"NodeReady"},'
    '"event_id":"018f3a5c-0000-7000-8000-0000000000e1",'
    '"run_id":"018f3a5c-0000-7000-8000-000000000001",'
    '"schema_version":1,"sequence":7}'
)
CHECKSUM = hashlib.sha256(UNSEALED.encode()).hexdigest()
BODY = UNSEALED.replace('"event":', f'"checksum":"{CHECKSUM}","event":')


def sealed(**changes: object) -> str:
    """The body with some members changed and a checksum that fits them. ASCII only, so that `json` can write it."""
    members = {**json.loads(UNSEALED), **changes}
    members = {name: member for name, member in members.items() if member is not ...}
    checksum = hashlib.sha256(written(members)).hexdigest()
    return written({**members, "checksum": checksum}).decode()


def written(members: dict[str, object]) -> bytes:
    return json.dumps(members, sort_keys=True, separators=(",", ":")).encode("ascii")


def refusal_of(body: str, sequence: int = 7, event_id: EventId = EVENT) -> str:
    with pytest.raises(RecordError) as refused:
        open_record(Envelope(sequence, event_id, body))
    return str(refused.value)


def test_the_helper_writes_what_is_written_by_hand() -> None:
    assert sealed() == BODY


def test_a_sealed_record_is_canonical_and_carries_the_digest_of_itself_without_the_checksum() -> None:
    envelope = seal(RUN, 7, EVENT, {"type": "NodeReady", "node_id": "plan"}, batch_index=0, batch_size=2)
    assert envelope == Envelope(7, EVENT, BODY)


def test_version_1_is_written() -> None:
    assert SCHEMA_VERSION == 1


def test_a_sealed_record_opens_as_what_was_sealed() -> None:
    record = open_record(Envelope(7, EVENT, BODY))
    assert record.run_id == RUN
    assert record.sequence == 7
    assert record.event_id == EVENT
    assert record.batch_index == 0
    assert record.batch_size == 2
    assert record.schema_version == 1
    assert record.event == {"type": "NodeReady", "node_id": "plan"}
    assert record.checksum == CHECKSUM


def test_an_event_keeps_its_characters_and_its_numbers() -> None:
    event: JsonObject = {
        "type": "NodeSucceeded",
        "text": "\x00\u2028\N{GRINNING FACE}\uffff",
        "numbers": [1, 0.5, 1e300, True],
    }
    envelope = seal(RUN, 1, EVENT, event, batch_index=0, batch_size=1)
    assert '"text":"\\u0000\u2028\N{GRINNING FACE}\uffff"' in envelope.body
    assert '"numbers":[1,0.5,1e+300,true]' in envelope.body
    assert open_record(envelope).event == event


@pytest.mark.parametrize("body", ["", "{", BODY + "x", BODY + BODY, "\ufeff" + BODY])
def test_a_body_that_is_not_json_is_no_record(body: str) -> None:
    assert refusal_of(body).startswith("record 7: not JSON at line 1")


def test_a_body_with_a_key_twice_is_no_record() -> None:
    body = BODY.replace('"sequence":7', '"sequence":7,"sequence":7')
    assert refusal_of(body) == "record 7: the key 'sequence' stands twice in one object"


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (r'{"type":"\ud800"}', "record 7: a lone surrogate, U+D800, stands in a string"),
        ('{"type":NaN}', "record 7: NaN is not a JSON number"),
        ('{"type":9007199254740992}', "record 7: the integer 9007199254740992 lies outside ±(2^53−1)"),
        ('{"type":' + "[" * 99 + "]" * 99 + "}", "record 7: nested deeper than 100 levels"),
    ],
)
def test_a_body_that_is_no_i_json_is_no_record(event: str, reason: str) -> None:
    assert refusal_of(BODY.replace('{"node_id":"plan","type":"NodeReady"}', event)) == reason


@pytest.mark.parametrize(
    "body",
    [
        BODY + "\n",
        " " + BODY,
        BODY.replace(":", ": "),
        BODY.replace('"sequence":7', '"sequence":7.0'),
        BODY.replace('"batch_index":0', '"batch_index":-0'),
        BODY.replace('"plan"', r'"\u0070lan"'),
        '{"sequence":7,' + BODY[1:].replace(',"sequence":7', ""),
    ],
)
def test_a_body_in_another_form_than_the_canonical_one_is_refused(body: str) -> None:
    assert refusal_of(body) == "record 7: the body is not in canonical form"


@pytest.mark.parametrize("body", ["null", "7", '"text"', "[]", f"[{BODY}]"])
def test_a_body_that_is_no_object_is_no_record(body: str) -> None:
    assert refusal_of(body).startswith("record 7: Expected `object`")


@pytest.mark.parametrize(
    "name",
    ["run_id", "sequence", "event_id", "batch_index", "batch_size", "schema_version", "event"],
)
def test_a_record_lacks_no_member(name: str) -> None:
    assert refusal_of(sealed(**{name: ...})) == f"record 7: Object missing required field `{name}`"


def test_a_record_has_a_checksum() -> None:
    assert refusal_of(UNSEALED) == "record 7: Object missing required field `checksum`"


def test_a_record_has_no_other_members() -> None:
    assert refusal_of(sealed(extra=1)) == "record 7: Object contains unknown field `extra`"


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("run_id", None),
        ("run_id", 1),
        ("run_id", "run"),
        ("run_id", "018F3A5C-0000-7000-8000-000000000001"),
        ("run_id", "018f3a5c-0000-7000-8000-000000000001\n"),
        ("sequence", "7"),
        ("sequence", True),
        ("sequence", 7.5),
        ("sequence", 0),
        ("sequence", -7),
        ("event_id", 1),
        ("batch_index", None),
        ("batch_index", False),
        ("batch_index", -1),
        ("batch_index", 2),
        ("batch_index", 3),
        ("batch_size", 0),
        ("batch_size", True),
        ("schema_version", 0),
        ("schema_version", 6),
        ("schema_version", "1"),
        ("event", None),
        ("event", "NodeReady"),
        ("event", ["NodeReady"]),
        ("event", {}),
        ("event", {"node_id": "plan"}),
        ("event", {"type": None}),
        ("event", {"type": 1}),
    ],
)
def test_a_member_of_the_wrong_kind_or_range_makes_no_record(name: str, member: object) -> None:
    assert refusal_of(sealed(**{name: member})).startswith("record 7: ")


@pytest.mark.parametrize(
    ("name", "member"),
    [("batch_index", 1), ("schema_version", 5), ("event", {"type": "NodeReady"}), ("batch_size", 9007199254740991)],
)
def test_a_member_at_the_edge_of_its_range_makes_a_record(name: str, member: object) -> None:
    record = open_record(Envelope(7, EVENT, sealed(**{name: member})))
    assert getattr(record, name) == member


def test_a_record_may_stand_at_the_last_position() -> None:
    envelope = Envelope(9007199254740991, EVENT, sealed(sequence=9007199254740991))
    assert open_record(envelope).sequence == 9007199254740991


@pytest.mark.parametrize(
    "body",
    [
        BODY.replace("plan", "plot"),
        BODY.replace('"batch_size":2', '"batch_size":3'),
        BODY.replace(CHECKSUM, CHECKSUM.upper()),
        BODY.replace(CHECKSUM, "0" * 64),
        BODY.replace(CHECKSUM, CHECKSUM[:-1]),
        BODY.replace(CHECKSUM, CHECKSUM + r"\n"),
        BODY.replace(CHECKSUM, ""),
    ],
)
def test_a_checksum_that_does_not_fit_is_refused(body: str) -> None:
    assert refusal_of(body) == "record 7: the checksum does not fit the content"


def test_a_checksum_that_is_no_text_is_refused() -> None:
    assert refusal_of(BODY.replace(f'"{CHECKSUM}"', "7")).startswith("record 7: Expected `str`")


def test_a_record_that_names_another_position_than_its_envelope_is_refused() -> None:
    assert refusal_of(BODY, sequence=8) == "record 8: the body names another position or event"


def test_a_record_that_names_another_event_than_its_envelope_is_refused() -> None:
    another = EventId("018f3a5c-0000-7000-8000-0000000000e2")
    assert refusal_of(BODY, event_id=another) == "record 7: the body names another position or event"


def test_a_record_without_a_canonical_event_id_is_refused_even_if_its_envelope_agrees() -> None:
    loud = EventId("018F3A5C-0000-7000-8000-0000000000E1")
    assert refusal_of(sealed(event_id=loud), event_id=loud).startswith("record 7: ")
