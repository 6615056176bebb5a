"""Vectors of values: JSON texts and their canonical form, YAML, digests, jitter, and events in their newest form.

Readers of JSON disagree about many of the texts, which is why each of them is here.

Source: RFC 7493, RFC 8259, RFC 8785; `docs/spec/specification.md`, SPC-001, SPC-012, "YAML"; `docs/spec/kernel.md`,
RTY-007, VER-007, "Signals", "Values and records".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from perdure.authoring import yaml_text
from perdure.authoring.positions import SourceError
from perdure.kernel.commands import token_digest
from perdure.kernel.events import EVENTS
from perdure.kernel.identity import NodeId, RunId
from perdure.kernel.records import document_of
from perdure.kernel.rules import RULES
from perdure.kernel.specification import Jitter, RetryPolicy
from perdure.kernel.upcast import upcast
from perdure.kernel.values import JsonError, JsonObject, JsonValue, canonical_json, digest, read_json
from perdure_conformance.golden.tours import VERSIONS, all_tours
from perdure_conformance.reducer.contract import Entry
from perdure_conformance.reducer.histories import RUN, run_id, written_history
from perdure_conformance.reducer.reference import read_entry
from perdure_conformance.vectors.vector import Vector, written

_NUMBERS: Final = {
    "zero": "0",
    "minus zero is zero": "-0",
    "minus zero, as a fraction": "-0.0",
    "1.0 is the integer 1": "1.0",
    "1E2 is the integer 100": "1E2",
    "zeros behind the point": "4.50",
    "a small number without exponent": "2e-3",
    "the smallest number without exponent": "0.000001",
    "the largest number with a minus in its exponent": "1e-7",
    "the smallest number there is": "5e-324",
    "the largest number there is": "1.7976931348623157e308",
    "a number that underflows to zero": "1e-400",
    "the largest integer": "9007199254740991",
    "the smallest integer": "-9007199254740991",
    "the first number with a plus in its exponent": "1e21",
    "a large number": "1E30",
    "10^21, as a fraction": "1000000000000000000000.0",
    "more digits than a double has": "333333333.33333329",
    "a tie is read as the even neighbour": "9007199254740.99267578125",
    "halves of a unit in the last place": "1.00000000000000011102230246251565",
}
_STRINGS: Final = {
    "keys are sorted by UTF-16 code units": '{"€":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"ö":7}',
    "short keys come before longer ones": '{"ab":1,"a":2,"":3,"B":4,"a\\u0000":5}',
    "keys of inner objects are sorted, arrays are not": '{"b":[3,{"d":1,"c":2},1],"a":{}}',
    "control characters have their short escapes": '"\\u0008\\u0009\\u000a\\u000c\\u000d\\u0000\\u001f"',
    "quotes and backslashes are escaped, slashes are not": '"\\"\\\\\\/\\u002f"',
    "what need not be escaped is not": '"\\u00e9\\u007f\\u2028\\u2029\\u0080"',
    "a pair of surrogates is one character": '"\\ud83d\\ude00"',
    "capitals in an escape": '"\\u00E9\\uD83D\\uDE00"',
    "no normal form is made": '["\\u00e9","e\\u0301"]',
    "noncharacters are read": '"\\ufffe\\ufdd0\\uffff"',
    "NUL is read": '"a\\u0000b"',
    "members of JavaScript are members": '{"__proto__":1,"constructor":2,"toString":3}',
    "white space is left out": ' {\t"a" : [ 1 ,\r\n2 ] }\n',
    "constants": "[null,true,false]",
    "a text alone": '"text"',
    "100 levels": "[" * 100 + "]" * 100,
}
_REFUSED: Final = {
    "a key stands twice": '{"a":1,"a":1}',
    "a key stands twice, once escaped": '{"a":1,"\\u0061":2}',
    "a key stands twice, deep inside": '[{"x":[{"y":1,"y":1}]}]',
    "NaN": "[NaN]",
    "Infinity": "[Infinity]",
    "minus Infinity": "[-Infinity]",
    "a number too large for a double": "[1e400]",
    "2^53": "[9007199254740992]",
    "−2^53": "[-9007199254740992]",
    "2^53, as a fraction": "[9007199254740992.0]",
    "2^53, with an exponent": "[9.007199254740992e15]",
    "2^64": "[18446744073709551616]",
    "one digit more than an integer has": "[10000000000000000]",
    "an integer below 10^21": "[999999999999999999999]",
    "10^21, in digits": "[1000000000000000000000]",
    "−10^21, in digits": "[-1000000000000000000000]",
    "a lone surrogate": '["\\ud83d"]',
    "a lone low surrogate": '["\\ude00"]',
    "surrogates in the wrong order": '["\\ude00\\ud83d"]',
    "a lone surrogate in a key": '{"\\ud83d":1}',
    "a lone surrogate before an escape": '["\\ud83d\\n"]',
    "a leading zero": "[01]",
    "a plus sign": "[+1]",
    "a point without digits behind it": "[1.]",
    "a point without digits before it": "[.5]",
    "an exponent without digits": "[1e]",
    "a minus alone": "[-]",
    "a hexadecimal number": "[0x1F]",
    "an underscore in a number": "[1_000]",
    "True": "[True]",
    "a comma at the end": "[1,]",
    "a comma at the end of an object": '{"a":1,}',
    "a comma too much": "[1,,2]",
    "a comma is missing": "[1 2]",
    "a key without quotes": "{a:1}",
    "single quotes": "['a']",
    "a comment": "[1] // one",
    "a raw line feed in a string": '["a\nb"]',
    "a raw tab in a string": '["a\tb"]',
    "an escape that is none": '["\\x41"]',
    "an escape with three digits": '["\\u041"]',
    "an escape with a capital U": '["\\U0041"]',
    "a string without end": '["a',
    "an array without end": "[1",
    "two values": "[1] [2]",
    "something behind the value": "[1]x",
    "no text": "",
    "white space alone": " \n",
    "a form feed as white space": "[1,\f2]",
    "a no-break space as white space": "[1,\u00a02]",
    "a byte order mark": "\ufeff[1]",
    "101 levels": "[" * 101 + "]" * 101,
}
_NOT_UTF_8: Final = {
    "a byte that is no UTF-8": b'["\xff"]',
    "a character that is cut": b'["\xc3"]',
    "NUL as two bytes": b'["\xc0\x80"]',
    "a slash as three bytes": b'["\xe0\x80\xaf"]',
    "a surrogate as three bytes": b'["\xed\xa0\xbd"]',
    "an emoji as two surrogates of three bytes": b'["\xed\xa0\xbd\xed\xb8\x80"]',
    "a character beyond U+10FFFF": b'["\xf4\x90\x80\x80"]',
    "UTF-16": '["a"]'.encode("utf-16-be"),
    "Latin-1": '["é"]'.encode("latin-1"),
}
_YAML: Final = {
    "yaml_alias": ("a: &b 1", "a: '&b 1'"),
    "yaml_ambiguous": ("a: no", "a: 'no'"),
    "yaml_directive": ("%YAML 1.1\n---\na: b", "---\na: b"),
    "yaml_documents": ("---\na\n---\nb", "---\na\n...\n"),
    "yaml_key": ("1: a", "'1': a"),
    "yaml_merge": ("<<: {b: 1}", "'<<': {b: 1}"),
    "yaml_tab": ("a:\n\tb: 1", "a:\n b: 1"),
    "yaml_tag": ("a: !!str 1", "a: '1'"),
    "not_yaml": ("a: [1, 2", "a: [1, 2]"),
    "duplicate_key": ("a: 1\n'a': 2", "a: 1\n'b': 2"),
    "number_out_of_range": ("a: 9007199254740992", "a: 9007199254740991"),
    "lone_surrogate": ('a: "\\ud83d"', 'a: "\\U0001f600"'),
}
"""Of each code a text that is refused for it, and its twin that is read."""

_TOKENS: Final = {
    "an empty token": "",
    "a token in ASCII": "secret",
    "a token beyond ASCII": "gehëim \U0001f511",
    "a token with a line feed at its end": "secret\n",
}


def all_of_values() -> Iterator[Vector]:
    """Yield all of them."""
    for name, text in {**_NUMBERS, **_STRINGS, **_REFUSED}.items():
        yield _of_text(name, text.encode())
    for name, content in _NOT_UTF_8.items():
        yield _of_text(name, content)
    for code, texts in _YAML.items():
        for name, text in zip((f"{code}: refused", f"{code}: read"), texts, strict=True):
            yield Vector("read_yaml", name, ("SPC-001",), {".yaml": text.encode()}, _read_yaml(text))
    for name, token in _TOKENS.items():
        yield Vector("token", name, ("SIG-001",), {".txt": token.encode()}, {"token_sha256": token_digest(token)})
    yield from _jitters()
    yield from _checksums()
    for version in VERSIONS:
        yield _upcasts(version)


def _of_text(name: str, text: bytes) -> Vector:
    return Vector("read", name, ("SPC-001", "SPC-012"), {".json": text}, _read(text))


def _read(text: bytes) -> JsonObject:
    try:
        return _canonical(read_json(text))
    except JsonError as error:
        return {"read": False, "code": error.code}


def _read_yaml(text: str) -> JsonObject:
    try:
        return _canonical(yaml_text.read(text))
    except SourceError as error:
        return {"read": False, "code": error.code}


def _canonical(value: JsonValue) -> JsonObject:
    content = canonical_json(value)
    return {"read": True, "canonical": content.decode(), "sha256": hashlib.sha256(content).hexdigest()}


def _jitters() -> Iterator[Vector]:
    of_all: Mapping[str, tuple[str, int, RunId, str, int]] = {
        "jitter of an attempt": ("salt", 1000, RunId(RUN), "A", 2),
        "jitter of the next attempt": ("salt", 1000, RunId(RUN), "A", 3),
        "jitter of attempt 10": ("salt", 1000, RunId(RUN), "A", 10),
        "jitter of another node": ("salt", 1000, RunId(RUN), "B", 2),
        "jitter of another run": ("salt", 1000, RunId(run_id(2)), "A", 2),
        "jitter of another seed": ("pepper", 1000, RunId(RUN), "A", 2),
        "jitter of a seed beyond ASCII": ("sël \U0001f9c2", 1000, RunId(RUN), "A", 2),
        "jitter of at most nothing": ("salt", 0, RunId(RUN), "A", 2),
        "jitter of at most all there is": ("salt", 2**53 - 1, RunId(RUN), "A", 2),
        "jitter modulo a power of two": ("salt", 2**32 - 1, RunId(RUN), "A", 2),
    }
    for name, (seed, maximum_ms, run, node, next_attempt) in of_all.items():
        told: JsonObject = {
            "seed": seed,
            "maximum_ms": maximum_ms,
            "run_id": run,
            "node": node,
            "next_attempt": next_attempt,
        }
        policy = RetryPolicy(jitter=Jitter(seed=seed, maximum_ms=maximum_ms))
        found = RULES.jitter_ms(policy, run, NodeId(node), next_attempt)
        yield Vector("jitter", name, ("RTY-007",), {".json": written(told)}, {"jitter_ms": found})


def _checksums() -> Iterator[Vector]:
    head: dict[str, JsonValue] = {
        "run_id": RUN,
        "sequence": 1,
        "event_id": "00000000-0000-7000-9000-000000000000",
        "batch_index": 0,
        "batch_size": 1,
        "schema_version": 5,
    }
    events: Mapping[str, JsonObject] = {
        "a record": {"type": "NodeReady", "node": "A", "cause": "initial"},
        "a record with numbers of every digit": _ended({"at_s": 1732944000.1234567, "least": 5e-324, "took_s": 1e-7}),
        "a record with 1.0, which is 1": _ended({"n": 1.0}),
        "a record with keys that UTF-8 sorts otherwise": _ended({"\U0001f600": 1, "\ufb33": 2}),
    }
    for name, event in events.items():
        record: JsonObject = {"event": event, **head}
        yield Vector("checksum", name, ("REC-005",), {".json": written(record)}, {"checksum": digest(record)})


def _ended(output: JsonObject) -> JsonObject:
    common = {"type": "NodeOutcomeCommitted", "node": "A", "attempt_id": "00000000-0000-7000-8000-000200000001"}
    return {**common, "outcome": {"kind": "succeeded", "output": output}}


def _upcasts(version: int) -> Vector:
    """Return the first event of each type of a version that the tours have, in the newest words."""
    entries = list(_first_of_each_type(version))
    events: JsonValue = [{**document_of(upcast(read_entry(entry))), "recorded_version": version} for entry in entries]
    name = f"the events of version {version}"
    return Vector("upcast", name, ("VER-007",), {".jsonl": written_history(entries)}, {"events": events})


def _first_of_each_type(version: int) -> Iterable[Entry]:
    found: dict[str, Entry] = {}
    known = {kind.__name__ for kind in EVENTS[version]}
    for tour in all_tours():
        for entry in tour.history.entries:
            kind = str(entry.event["type"])
            if entry.version == version and kind in known and kind not in found:
                found[kind] = entry
    assert set(found) == known, known - set(found)
    return found.values()
