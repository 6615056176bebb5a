"""YAML texts, as far as they say what JSON says.

What YAML 1.1 and 1.2 readers read differently is refused, and so is what JSON cannot say: anchors, tags, merge keys.
Only the events of PyYAML's parser are used, never a constructor: nothing in a document can run.

Source: YAML 1.2.2, 10.2 "JSON Schema"; YAML 1.1, "Language-Independent Types".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

import yaml

from perdure.authoring.positions import TOO_DEEP, Event, SourceError, out_of_range, refusal, repeated_key, shown
from perdure.kernel.problems import quoted
from perdure.kernel.values import MAX_DEPTH, JsonError, JsonValue, read_json

Refuse = Callable[[SourceError], None]

MAX_FAULTS = 100
"""So many faults of a text are told at once."""

_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NOT_PLAIN_TEXT = re.compile(r"[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE_BREAKS_OF_YAML_1_1 = "\x85\u2028\u2029"
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_CONSTANTS: dict[str, JsonValue] = {"null": None, "true": True, "false": False}

_STARTS_OF_NUMBERS = tuple("-0123456789")

_INSTEAD = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "True", "TRUE"], "true"),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "off", "Off", "OFF", "False", "FALSE"], "false"),
    **dict.fromkeys(["~", "Null", "NULL"], "null"),
}
"""Words that are constants to some readers and texts to others, and the constant that is meant."""

_ALMOST_NUMBER = re.compile(
    r"""[-+]?(?:
          [0-9][0-9_,]*+ (?:\.[0-9_]*+)? (?:[eE][-+]?[0-9]++)?  # 010, +1, 1_000, 1,000, 1.
        | \.[0-9_]++ (?:[eE][-+]?[0-9]++)?                      # .5
        | 0[xX][0-9a-fA-F_]++ | 0[oO][0-7_]++ | 0[bB][01_]++
        | [0-9][0-9_]*+ (?::[0-9]++)++ (?:\.[0-9_]*+)?          # 12:30:45, in base 60
        | \.inf | \.nan | (?-i:Infinity | NaN)
    )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:t|[ \t]+)[0-9]{1,2}:[0-9:.]++[ \t]*+[-+:0-9z]*+)?", re.IGNORECASE
)

_NO_ALIAS = "anchors and aliases are not read: write the value out, or quote a text that starts with & or *"
_NO_TAG = "tags are not read: remove it, or quote a text that starts with !"
_NO_DIRECTIVE = "directives are not read: remove the line, or quote a text that starts with %"
_NO_CHARACTER = "the escape stands for no character, or for half of one: write the character itself"
_NO_END = "a quoted text that starts here does not end: close it with its quote"
_NO_TAB = "a tab stands where YAML expects spaces: indent with spaces"

_COMPLAINTS = [
    ("alias", "yaml_alias", _NO_ALIAS),
    ("anchor", "yaml_alias", _NO_ALIAS),
    ("tag", "yaml_tag", _NO_TAG),
    ("directive", "yaml_directive", _NO_DIRECTIVE),
    ("incompatible", "yaml_directive", _NO_DIRECTIVE),
    ("nesting depth", "too_deep", TOO_DEEP),  # Where the scanner runs a line ahead of the events.
    ("Unicode character", "lone_surrogate", _NO_CHARACTER),
    ("escape", "not_yaml", "YAML has no such escape: write \\\\ for a backslash, or use single quotes"),
    ("hexdecimal", "not_yaml", "hexadecimal digits are missing in an escape: write \\\\ for a backslash"),
    ("mapping values", "not_yaml", "a key cannot stand here: quote a text that contains a colon, or start a new line"),
    ("expected ':'", "not_yaml", "a key without its colon stands before this: write key: value"),
    ("unexpected end of stream", "not_yaml", _NO_END),
    ("cannot start any token", "not_yaml", "a plain text cannot start with this character: quote the text"),
    ("',' or", "not_yaml", "a comma or the closing bracket is missing here, or a key is longer than 1,024 characters"),
    ("document start", "not_yaml", "more text follows the value: check its indentation"),
]
"""What PyYAML says, and what helps. The first that occurs counts."""


def read(text: str) -> JsonValue:
    """Read one YAML document as durable JSON.

    Raises `SourceError`, with the position of the first fault; the others are those that can be told with it.
    """
    found = _NOT_PLAIN_TEXT.search(text)
    if found is not None:
        raise _refused_character(text, found.start())
    faults: list[SourceError] = []

    def refuse(fault: SourceError) -> None:
        if len(faults) == MAX_FAULTS - 1:
            raise fault
        faults.append(fault)

    try:
        value = _value_of(text, refuse)
    except SourceError as fault:
        faults.append(fault)
    if faults:
        first, *others = faults
        first.others = tuple(others)
        raise first
    return value


def _value_of(text: str, refuse: Refuse) -> JsonValue:
    root: list[JsonValue] = []
    opened: list[list[JsonValue] | dict[str, JsonValue]] = [root]
    key: JsonValue = ""
    for event in events(text, refuse):
        around = opened[-1]
        if event.kind == "end":
            opened.pop()
        elif event.kind == "key":
            key = event.value
            if key in around:
                refuse(refusal(text, event.offset, "duplicate_key", repeated_key(str(key))))
        else:
            inside: dict[str, JsonValue] | list[JsonValue] = {} if event.kind == "object" else []
            value = event.value if event.kind == "scalar" else inside
            if isinstance(around, list):
                around.append(value)
            elif isinstance(key, str):  # Else it was refused.
                around[key] = value
            if event.kind != "scalar":
                opened.append(inside)
    if not root:
        raise refusal(text, 0, "empty", "the text holds nothing but comments: write one value")
    return root[0]


def _raise(fault: SourceError) -> None:
    raise fault


def events(text: str, refuse: Refuse = _raise) -> Iterator[Event]:
    """Go through a document from its start; repeated keys are the reader's business, and so are odd characters.

    If `refuse` returns, what is refused comes as a scalar or a key without a value. Some faults are raised all the
    same: nothing can be read beyond them.
    """
    awaits_key: list[bool | None] = []  # One for each open object, and None for an open array.
    is_merge = False
    for node in _nodes(text):
        offset = _offset(node)
        if isinstance(node, yaml.CollectionEndEvent):
            awaits_key.pop()
            yield Event("end", offset, end=_end(text, node))
            continue
        is_key = False
        if awaits_key and awaits_key[-1] is not None:
            is_key = awaits_key[-1]
            awaits_key[-1] = not is_key
        value, fault = _read(text, node, is_key=is_key)
        if fault is not None and not (is_merge and isinstance(node, yaml.AliasEvent)):  # The merge was told.
            refuse(fault)
        is_merge = fault is not None and fault.code == "yaml_merge"
        if isinstance(node, yaml.ScalarEvent | yaml.AliasEvent):
            kind: Literal["key", "scalar"] = "key" if is_key else "scalar"
            yield Event(kind, offset, value, _end(text, node))
            continue
        if is_key:
            sentence = "a key is a text, and neither an array nor an object: quote it, if it is meant as text"
            raise refusal(text, offset, "yaml_key", sentence)
        if len(awaits_key) == MAX_DEPTH:
            raise refusal(text, offset, "too_deep", TOO_DEEP)
        is_object = isinstance(node, yaml.MappingStartEvent)
        awaits_key.append(True if is_object else None)
        yield Event("object" if is_object else "array", offset)


def _read(text: str, node: yaml.Event, *, is_key: bool) -> tuple[JsonValue, SourceError | None]:
    """Return the value of a node that has one, and why the node is refused."""
    try:
        _refuse_properties(text, _offset(node))
        if not isinstance(node, yaml.ScalarEvent):
            return None, None
        return _key(text, node) if is_key else _value(text, node), None
    except SourceError as fault:
        return None, fault


def _nodes(text: str) -> Iterator[yaml.Event]:
    """Yield what the one document of `text` consists of."""
    documents = 0
    for event in _parsed(text):
        offset = _offset(event)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                sentence = "a second document starts here: a file holds one, so remove this line or split the file"
                raise refusal(text, offset, "yaml_documents", sentence)
            if text.startswith("%", offset):
                raise refusal(text, offset, "yaml_directive", _NO_DIRECTIVE)
        elif isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
            yield event


def _refuse_properties(text: str, offset: int) -> None:
    """Refuse a node with an anchor or a tag, and an alias. By their first character: no plain text can start so."""
    if text.startswith(("&", "*"), offset):
        raise refusal(text, offset, "yaml_alias", _NO_ALIAS)
    if text.startswith("!", offset):
        raise refusal(text, offset, "yaml_tag", _NO_TAG)


def _offset(event: yaml.Event) -> int:
    assert event.start_mark is not None
    return event.start_mark.index


def _end(text: str, event: yaml.Event) -> int:
    """Return where the text of an event ends, without the empty lines after a block; 0 if it has no text."""
    assert event.end_mark is not None
    start = _offset(event)
    written = text[start : event.end_mark.index].rstrip()
    return start + len(written) if written else 0


def _parsed(text: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=_PARSER)
    except yaml.MarkedYAMLError as error:
        raise _refused_syntax(text, error) from error
    except (ValueError, OverflowError) as error:  # The parser in Python, from an escape beyond U+10FFFF.
        raise SourceError("lone_surrogate", _NO_CHARACTER, None) from error


def _refused_character(text: str, offset: int) -> SourceError:
    name = f"U+{ord(text[offset]):04X}"
    if text[offset] in _LINE_BREAKS_OF_YAML_1_1:
        sentence = f"{name} is a line break to some readers and text to others"
        code = "yaml_ambiguous"
    else:
        sentence = f"{name} may not stand in YAML"
        code = "not_yaml"
    return refusal(text, offset, code, f'{sentence}: write it in double quotes, as "\\u{ord(text[offset]):04X}"')


def _refused_syntax(text: str, error: yaml.MarkedYAMLError) -> SourceError:
    complaint = f"{error.context}: {error.problem}"
    assert error.problem_mark is not None
    offset = error.problem_mark.index
    if text.startswith("\t", offset) and ("tab character" in complaint or "cannot start" in complaint):
        return refusal(text, offset, "yaml_tab", _NO_TAB)
    unknown = ("", "not_yaml", f"this is not YAML, {error.problem}: check indentation and quotes")
    _, code, sentence = next((known for known in _COMPLAINTS if known[0] in complaint), unknown)
    if error.context_mark is not None and (code != "not_yaml" or sentence == _NO_END):
        offset = error.context_mark.index  # Where the thing starts, and not where it was given up.
    return refusal(text, offset, code, sentence)


def _key(text: str, scalar: yaml.ScalarEvent) -> str:
    offset = _offset(scalar)
    if scalar.implicit[0] and scalar.value == "<<":
        raise refusal(text, offset, "yaml_merge", "merge keys are not read: write the members out, or quote the key")
    key = _value(text, scalar)
    if not isinstance(key, str):
        raise refusal(text, offset, "yaml_key", f"the key {scalar.value} is no text: quote it")
    return key


def _value(text: str, scalar: yaml.ScalarEvent) -> JsonValue:
    offset, word = _offset(scalar), scalar.value
    if not scalar.implicit[0]:
        if _SURROGATE.search(word):
            raise refusal(text, offset, "lone_surrogate", _NO_CHARACTER)
        return word
    if not word and text.startswith(":", offset):
        sentence = "a key must stand before this colon, on its line, with at most 1,024 characters: write key: value"
        raise refusal(text, offset, "not_yaml", sentence)
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if word.startswith(_STARTS_OF_NUMBERS):
        try:
            return read_json(word)
        except JsonError as error:
            if error.code == "number_out_of_range":
                raise refusal(text, offset, error.code, out_of_range(word)) from error
    doubt = _doubt(word)
    if doubt is not None:
        raise refusal(text, offset, "yaml_ambiguous", doubt)
    return word


def _doubt(word: str) -> str | None:
    """Return why a plain text that is no constant and no number is ambiguous, or None."""
    if not word:
        return 'nothing stands here: write null, or "" for an empty text; a space follows the colon of a key'
    if word in _INSTEAD:
        meant = f"quote the text, or write the constant {_INSTEAD[word]}"
        return f"{quoted(word)} is read differently by different readers: {meant}"
    if word in ("=", "<<"):
        return f"{quoted(word)} is read differently by different readers: quote it"
    if _ALMOST_NUMBER.fullmatch(word):
        return f"{shown(word)} looks like a number, but is none in JSON: quote it, or write the number as JSON does"
    if _DATE.fullmatch(word):
        return f"{shown(word)} is a date to some readers and text to others: quote it"
    return None
