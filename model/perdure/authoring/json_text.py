"""JSON texts: the value is the kernel's; where a fault or a member stands, is found only when it is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from perdure.authoring.positions import TOO_DEEP, Event, SourceError, out_of_range, refusal, repeated_key
from perdure.kernel.problems import quoted
from perdure.kernel.values import MAX_DEPTH, JsonError, JsonErrorCode, JsonValue, read_json

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]|[^ \t\r\n"{}\[\]:,]++', re.DOTALL)

_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
"""An escape, and the two halves of a pair as one. Whatever else begins with `D8` to `DF` stands alone."""

_FIXES = [
    ("Unterminated string", "a string that starts here does not end: close it with a double quote"),
    ("Extra data", "more text follows the value: a file holds one value"),
    ("Invalid control character", "a control character stands in a string: write it as an escape, such as \\n or \\t"),
    ("Invalid \\", "JSON has no such escape: write \\\\ for a backslash, and \\u with four hexadecimal digits"),
]
"""What the reader of JSON says, and what helps."""

_FIXES_BY_CHARACTER = {
    "": "the text ends before its value does: close every string, array and object",
    "'": 'JSON has no single quotes: write "…"',
    "#": "JSON has no comments: remove it, or write YAML",
    "/": "JSON has no comments: remove it, or write YAML",
    "]": "a value is missing here, or a comma stands too much before it: remove the comma",
    "}": "a member is missing here, or a comma stands too much before it: remove the comma",
}


def read(text: str) -> JsonValue:
    """Read one I-JSON text, exactly as `read_json` does. Raises `SourceError`, with the position of the fault."""
    try:
        return read_json(text)
    except JsonError as error:
        raise _placed(text, error) from error


def events(text: str) -> Iterator[Event]:
    """Go through a text from its start, as far as it is JSON. Scalars come without their value."""
    objects: list[bool] = []
    awaits_key = False
    for token in _TOKEN.finditer(text):
        word, offset = token[0], token.start()
        if word in "{[":
            awaits_key = word == "{"
            objects.append(awaits_key)
            yield Event("object" if awaits_key else "array", offset)
        elif word in "}]":
            objects.pop()
            yield Event("end", offset, end=token.end())
        elif word == ",":
            awaits_key = objects[-1]
        elif word == ":":
            awaits_key = False
        elif awaits_key:
            yield Event("key", offset, json.loads(word), token.end())
        else:
            yield Event("scalar", offset, end=token.end())


def _placed(text: str, error: JsonError) -> SourceError:
    """Return the first fault of the kind that the kernel refused. What precedes it is JSON."""
    if error.offset is not None:
        return refusal(text, error.offset, error.code, _fix(text, error.offset, str(error)))
    return _FAULTS[error.code](text)


def _fix(text: str, offset: int, complaint: str) -> str:
    for needle, fix in _FIXES:
        if needle in complaint:
            return fix
    detail = complaint.partition(": ")[2]
    return _FIXES_BY_CHARACTER.get(text[offset : offset + 1], f"this is not JSON: {detail[:1].lower()}{detail[1:]}")


def _no_number(text: str) -> SourceError:
    offset, word = _first_refused(text)
    return refusal(text, offset, "not_json", f"{quoted(word)} is not a JSON number: write null, or a string")


def _out_of_range(text: str) -> SourceError:
    offset, word = _first_refused(text)
    return refusal(text, offset, "number_out_of_range", out_of_range(word))


def _first_refused(text: str) -> tuple[int, str]:
    """Return where the first scalar stands that `read_json` refuses, and the scalar. A string has no part in it."""
    scalars = (token for token in _TOKEN.finditer(text) if token[0][0] in "-0123456789NI")
    return next((token.start(), token[0]) for token in scalars if _is_refused(token[0]))


def _is_refused(word: str) -> bool:
    try:
        read_json(word)
    except JsonError:
        return True
    return False


def _repeated_key(text: str) -> SourceError:
    opened: list[set[str]] = []
    event = next(event for event in events(text) if _repeats(opened, event))
    return refusal(text, event.offset, "duplicate_key", repeated_key(str(event.value)))


def _repeats(opened: list[set[str]], event: Event) -> bool:
    if event.kind == "end":
        opened.pop()
    elif event.kind == "key":
        keys, key = opened[-1], str(event.value)
        if key in keys:
            return True
        keys.add(key)
    elif event.kind != "scalar":
        opened.append(set())
    return False


def _lone_surrogate(text: str) -> SourceError:
    escape = next(escape for escape in _ESCAPE.finditer(text) if escape["lone"])
    sentence = f"{escape['lone']} is half of a character: write both halves, or the character itself"
    return refusal(text, escape.start(), "lone_surrogate", sentence)


def _too_deep(text: str) -> SourceError:
    opened: list[Event] = []
    event = next(event for event in events(text) if _goes_too_deep(opened, event))
    return refusal(text, event.offset, "too_deep", TOO_DEEP)


def _goes_too_deep(opened: list[Event], event: Event) -> bool:
    if event.kind == "end":
        opened.pop()
    elif event.kind in ("object", "array"):
        opened.append(event)
    return len(opened) > MAX_DEPTH


_FAULTS: dict[JsonErrorCode, Callable[[str], SourceError]] = {
    "not_json": _no_number,  # NaN and the infinities; all else that is no JSON has an offset.
    "number_out_of_range": _out_of_range,
    "duplicate_key": _repeated_key,
    "lone_surrogate": _lone_surrogate,
    "too_deep": _too_deep,
}
