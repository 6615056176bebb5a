from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perdure.authoring import yaml_text
from perdure.authoring.positions import SourceError
from perdure.authoring.source import MAX_SOURCE_BYTES, MAX_YAML_BYTES, Syntax, read_source, syntax_of
from perdure.kernel.values import JsonValue, canonical_json, read_json


@pytest.fixture(params=[yaml_text._PARSER, yaml.SafeLoader], ids=["default", "python"])
def _each_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "_PARSER", request.param)


each_parser = pytest.mark.usefixtures("_each_parser")
properties = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""One parser serves all examples of a property."""

SYNTAXES: list[Syntax] = ["json", "yaml"]

LineAndColumn = tuple[int, int] | None


def refused(text: str | bytes, syntax: Syntax) -> tuple[str, LineAndColumn]:
    with pytest.raises(SourceError) as raised:
        read_source(text if isinstance(text, bytes) else text.encode(), syntax)
    error = raised.value
    assert str(error) == error.sentence
    assert "\n" not in error.sentence
    assert len(error.sentence) < 200
    return error.code, error.position


def value_of(text: str, syntax: Syntax) -> JsonValue:
    return read_source(text.encode(), syntax).value


# The syntax of a file


@pytest.mark.parametrize(
    ("name", "syntax"), [("a.json", "json"), ("b/c.yaml", "yaml"), ("d.yml", "yaml"), ("E.JSON", "json")]
)
def test_the_suffix_tells_the_syntax(name: str, syntax: Syntax) -> None:
    assert syntax_of(name) == syntax


@pytest.mark.parametrize("name", ["a.toml", "json", "a.json.bak", ""])
def test_another_suffix_is_refused_with_the_suffixes_that_are_known(name: str) -> None:
    with pytest.raises(SourceError, match=r"\.json, \.yaml or \.yml") as raised:
        syntax_of(name)
    assert (raised.value.code, raised.value.position) == ("unknown_syntax", None)


# Bytes, of either syntax


@pytest.mark.parametrize("syntax", ["json", "yaml"])
@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        (b"", "empty", (1, 1)),
        (b" \t\r\n", "empty", (1, 1)),
        (b'"\xff"', "not_utf8", (1, 2)),
        (b'["\xc3\xa4",\r\n"\xed\xa0\x80"]', "not_utf8", (2, 2)),
        (b" " * (MAX_SOURCE_BYTES + 1), "too_large", None),
    ],
)
def test_bytes_that_are_no_text_are_refused(text: bytes, code: str, position: LineAndColumn, syntax: Syntax) -> None:
    assert refused(text, syntax) == (code, position)


@pytest.mark.parametrize(("syntax", "code"), [("json", "not_json"), ("yaml", "not_yaml")])
def test_a_byte_order_mark_is_refused_with_its_name(syntax: Syntax, code: str) -> None:
    with pytest.raises(SourceError, match="byte order mark") as raised:
        read_source(b"\xef\xbb\xbf{}", syntax)
    assert (raised.value.code, raised.value.position) == (code, (1, 1))


@pytest.mark.parametrize("syntax", ["json", "yaml"])
def test_a_text_of_the_greatest_size_is_read(syntax: Syntax) -> None:
    most = MAX_YAML_BYTES if syntax == "yaml" else MAX_SOURCE_BYTES
    assert value_of('"' + "x" * (most - 2) + '"', syntax) == "x" * (most - 2)


# JSON


@pytest.mark.parametrize(
    ("text", "code", "position", "accepted"),
    [
        ("[1,]", "not_json", (1, 4), "[1]"),
        ("[1,\r\n 2", "not_json", (2, 3), "[1,\r\n 2]"),
        ('{"a": 1} x', "not_json", (1, 10), '{"a": 1}'),
        ("['a']", "not_json", (1, 2), '["a"]'),
        ("[1] // a", "not_json", (1, 5), "[1]"),
        ("# a\n1", "not_json", (1, 1), "\n1"),
        ('["a]', "not_json", (1, 2), '["a"]'),
        ('"a\tb"', "not_json", (1, 3), r'"a\tb"'),
        (r'"\q"', "not_json", (1, 2), r'"\\q"'),
        ('{"a" 1}', "not_json", (1, 6), '{"a": 1}'),
        ('["a", NaN]', "not_json", (1, 7), '["a", null]'),
        ("-Infinity", "not_json", (1, 1), "-1"),
        ('{"a": 1,\n "a": 2}', "duplicate_key", (2, 2), '{"a": 1,\n "b": 2}'),
        ('{"a": {"b": [{}]}, "\\u0061": 2} ]', "duplicate_key", (1, 20), '{"a": {"b": [{}]}, "\\u0062": 2}'),
        ('{"a": {"b": [{}]}, "\\u0061": 2}', "duplicate_key", (1, 20), '{"a": {"b": [{}]}, "\\u0062": 2}'),
        (r'["\\ud800\ud83d\ude00", "\ud800"]', "lone_surrogate", (1, 26), r'["\\ud800\ud83d\ude00", "\ud7ff"]'),
        (r'{"\udc00\ud800": 1}', "lone_surrogate", (1, 3), r'{"\ud800\udc00": 1}'),
        ("[1, 9007199254740992]", "number_out_of_range", (1, 5), "[1, 9007199254740991]"),
        ('["1e400",\r1e400]', "number_out_of_range", (2, 1), '["1e400",\r1e300]'),
        (f"[[], {'[' * 100}{']' * 100}]", "too_deep", (1, 105), f"[[], {'[' * 99}{']' * 99}]"),
    ],
)
def test_a_fault_in_json_is_placed_and_one_edit_away_the_text_is_read(
    text: str, code: str, position: tuple[int, int], accepted: str
) -> None:
    assert refused(text, "json") == (code, position)
    assert value_of(accepted, "json") == read_json(accepted)


# YAML


@each_parser
@pytest.mark.parametrize(
    ("text", "code", "position", "accepted", "value"),
    [
        ("a: &b 1", "yaml_alias", (1, 4), "a: '&b 1'", {"a": "&b 1"}),
        ("- 1\n- *b", "yaml_alias", (2, 3), "- 1\n- '*b'", [1, "*b"]),
        ("a: *.txt", "yaml_alias", (1, 4), "a: '*.txt'", {"a": "*.txt"}),
        ("a: !!str 1", "yaml_tag", (1, 4), "a: '1'", {"a": "1"}),
        ("! {a: 1}", "yaml_tag", (1, 1), "{a: 1}", {"a": 1}),
        ("a: !e!x 1", "yaml_tag", (1, 4), "a: '!e!x 1'", {"a": "!e!x 1"}),
        ("!!python/object/apply:os.system [x]", "yaml_tag", (1, 1), "[x]", ["x"]),
        ("a: 1\n<<: {b: 1}", "yaml_merge", (2, 1), "a: 1\n'<<': {b: 1}", {"a": 1, "<<": {"b": 1}}),
        ("---\na\n---\nb", "yaml_documents", (3, 1), "---\na\n...\n", "a"),
        ("# a\n%TAG ! b:\n---\na", "yaml_directive", (2, 1), "# a\n---\na", "a"),
        ("%YAML 1.1\n---\na", "yaml_directive", (1, 1), "---\na", "a"),
        ("%YAML 3.0\n---\na", "yaml_directive", (1, 1), "---\na", "a"),
        ("%X\n---\na", "yaml_directive", (1, 1), "'%X'", "%X"),
        ("? [a]\n: 1", "yaml_key", (1, 3), "? a\n: 1", {"a": 1}),
        ("{{a: 1}: 2}", "yaml_key", (1, 2), "{a: {b: 2}}", {"a": {"b": 2}}),
        ("a:\n  1: 2", "yaml_key", (2, 3), "a:\n  '1': 2", {"a": {"1": 2}}),
        ("true: 2", "yaml_key", (1, 1), '"true": 2', {"true": 2}),
        ("on: 2", "yaml_ambiguous", (1, 1), "'on': 2", {"on": 2}),
        ("a: 1\nb: 2\na: 3", "duplicate_key", (3, 1), "a: 1\nb: 2\nA: 3", {"a": 1, "b": 2, "A": 3}),
        ('{"a": 1, a: 2}', "duplicate_key", (1, 10), "[a, a]", ["a", "a"]),
        ("a:\n\tb: 1", "yaml_tab", (2, 1), "a:\n b: 1", {"a": {"b": 1}}),
        ("a: |\n\tb", "yaml_tab", (2, 1), "a: |\n b", {"a": "b"}),
        ("a: b\n\tc: d", "yaml_tab", (2, 1), "a: b\nc: d", {"a": "b", "c": "d"}),
        ("- 9007199254740992", "number_out_of_range", (1, 3), "- 9007199254740991", [9007199254740991]),
        ("- 1e400", "number_out_of_range", (1, 3), "- 1e300", [1e300]),
        ('"\\ud800"', "lone_surrogate", (1, 1), '"\\ud7ff"', "\ud7ff"),
        ('"\\ud83d\\ude00"', "lone_surrogate", (1, 1), '"\\U0001f600"', "\N{GRINNING FACE}"),
        (f"a: {'[' * 100}{']' * 100}", "too_deep", (1, 103), f"a: [{'[' * 98}{']' * 98}]", None),
        ("# a\n", "empty", (1, 1), "# a\nb", "b"),
        ("a: \x07", "not_yaml", (1, 4), r'a: "\a"', {"a": "\a"}),
        ("a: b\x00c", "not_yaml", (1, 5), r'a: "b\0c"', {"a": "b\x00c"}),
        ("é: '\u2028'", "yaml_ambiguous", (1, 5), r'é: "\u2028\L"', {"é": "\u2028\u2028"}),
        ("# \x85a: 1", "yaml_ambiguous", (1, 3), "# \na: 1", {"a": 1}),
        ("a:\n  - 'b", "not_yaml", (2, 5), "a:\n  - 'b'", {"a": ["b"]}),
        ("a: [1, 2", "not_yaml", (1, 9), "a: [1, 2]", {"a": [1, 2]}),
        ("a: @b", "not_yaml", (1, 4), "a: '@b'", {"a": "@b"}),
        ("a: b: c", "not_yaml", (1, 5), "a: b:c", {"a": "b:c"}),
        ("a: 1\nb\n", "not_yaml", (3, 1), "a: 1\nb: 2\n", {"a": 1, "b": 2}),
        ("  a: 1\n b: 2", "not_yaml", (2, 2), "  a: 1\n  b: 2", {"a": 1, "b": 2}),
        ('a: "b" c', "not_yaml", (1, 8), 'a: "b c"', {"a": "b c"}),
        ("a: ]", "not_yaml", (1, 4), "a: []", {"a": []}),
        (f'{{"{"k" * 1_025}": 1}}', "not_yaml", (1, 1029), f'{{"{"k" * 1_000}": 1}}', {"k" * 1_000: 1}),
    ],
)
def test_a_fault_in_yaml_is_placed_and_one_edit_away_the_text_is_read(
    text: str, code: str, position: tuple[int, int], accepted: str, value: JsonValue
) -> None:
    assert refused(text, "yaml") == (code, position)
    assert value is None or value_of(accepted, "yaml") == value
    value_of(accepted, "yaml")


@each_parser
@pytest.mark.parametrize("text", [r'"\q"', r'"\xzz"', r'"\u12"'])
def test_an_escape_that_yaml_has_not_is_refused(text: str) -> None:
    assert refused(text, "yaml")[0] == "not_yaml"
    assert value_of(text.replace("\\", "\\\\"), "yaml") == text[1:-1]


@each_parser
@pytest.mark.parametrize("text", [r'"\UFFFFFFFF"', r'"\U00110000"'])
def test_an_escape_beyond_the_last_character_is_refused(text: str) -> None:
    assert refused(text, "yaml")[0] == "lone_surrogate"
    assert value_of(r'"\U0010ffff"', "yaml") == "\U0010ffff"


AMBIGUOUS = [
    *("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "True", "TRUE"),
    *("n", "N", "no", "No", "NO", "off", "Off", "OFF", "False", "FALSE"),
    *("~", "Null", "NULL", "=", "<<"),
    *("010", "00", "-01", "0o7", "0x1F", "0XaF", "-0x1", "0b1", "1_000", "1_0.5", "1,000", "+1", "+1.5"),
    *(".5", "-.5", "+.5e3", "1.", "1.e5", "01e5", ".inf", "-.INF", "+.inf", ".nan", ".NaN"),
    *("NaN", "Infinity", "-Infinity", "12:30:45", "12:30", "-1:30", "1:30.5"),
    *("2020-01-01", "2020-1-1", "2020-01-01T10:00:00Z", "2020-01-01 10:00:00.5 +01:00"),
]


@each_parser
@pytest.mark.parametrize("word", AMBIGUOUS)
def test_what_readers_of_yaml_read_differently_is_refused_plain_and_read_quoted(word: str) -> None:
    assert refused(f"a:\n- {word}", "yaml") == ("yaml_ambiguous", (2, 3))
    assert value_of(f"a:\n- '{word}'", "yaml") == {"a": [word]}
    assert value_of(f"a:\n- x{word}", "yaml") == {"a": [f"x{word}"]}


MANY = """\
x: &a yes
y: *a
z: no
z: 012
<<: *a
? *q
: 3
1: 2
!!str k: !foo v
q: {a: ok, b: ~}
"""


def faults_of(text: str) -> list[tuple[str, LineAndColumn]]:
    with pytest.raises(SourceError) as raised:
        read_source(text.encode(), "yaml")
    found = [raised.value, *raised.value.others]
    return [(fault.code, (fault.position.line, fault.position.column)) for fault in found if fault.position]


@each_parser
def test_all_faults_of_yaml_that_can_be_read_over_are_told_at_once() -> None:
    expected = [
        ("yaml_alias", (1, 4)),
        ("yaml_ambiguous", (2, 1)),
        ("yaml_alias", (2, 4)),
        ("yaml_ambiguous", (3, 4)),
        ("duplicate_key", (4, 1)),
        ("yaml_ambiguous", (4, 4)),
        ("yaml_merge", (5, 1)),
        ("yaml_alias", (6, 3)),
        ("yaml_key", (8, 1)),
        ("yaml_tag", (9, 1)),
        ("yaml_tag", (9, 10)),
        ("yaml_ambiguous", (10, 15)),
    ]
    assert faults_of(MANY) == expected
    assert faults_of(f"{MANY}{{a: 1}}: 2\nr: on\n") == [*expected, ("yaml_key", (11, 1))]
    assert faults_of(f"{MANY}r: [1\n") == [*expected, ("not_yaml", (12, 1))]


def test_events_without_a_reader_end_at_the_first_fault() -> None:
    with pytest.raises(SourceError, match="`yes` is read differently"):
        list(yaml_text.events("a: yes\nb: no\n"))


def test_two_keys_that_cannot_be_read_are_no_duplicates() -> None:
    assert [code for code, _ in faults_of("1: a\n2: b\nNone: c\n")] == ["yaml_key", "yaml_key"]


def test_only_so_many_faults_are_told_at_once() -> None:
    assert len(faults_of("- yes\n" * 99)) == 99
    assert len(faults_of("- yes\n" * 500)) == 100


@pytest.mark.parametrize("word", ["yes", "y", "No", "~", "=", "NaN"])
def test_an_ambiguous_word_is_quoted_as_it_is_written(word: str) -> None:
    with pytest.raises(SourceError, match=re.escape(word)) as raised:
        read_source(f"- {word}".encode(), "yaml")
    assert not raised.value.sentence.startswith(word)


@each_parser
@pytest.mark.parametrize("text", ["a:", "a:\nb: 1", "-\n- 1", "[{a: }]", "{a}", "{a:1}", "---", "{a: , b: 1}"])
def test_a_value_that_is_not_written_is_refused(text: str) -> None:
    assert refused(text, "yaml")[0] == "yaml_ambiguous"


@each_parser
@pytest.mark.parametrize(
    "word",
    [
        *("tRUE", "nan", "Nan", "inf", "yes please", "o", "null and void", "--", "-a", "+", ".", "...x"),
        *("1.2.3", "1 2", "5m", "10ms", "0xG", "1e", "e1", "1:a", "2020-01", "2020-01-01 is a day", "::1", "a#b"),
        *("\u0663", "1\u0663", "http://a/b?c=d", "a,b", "C:\\x", "_1", "<", "== 1"),
    ],
)
def test_any_other_plain_text_is_a_string(word: str) -> None:
    assert value_of(f"- {word}", "yaml") == [word]


@each_parser
@pytest.mark.parametrize(
    "word", ["null", "true", "false", "0", "-0", "1", "-1.5", "1.0", "1e3", "1E+3", "12e-1", "1.25e2"]
)
def test_constants_and_numbers_are_those_of_json(word: str) -> None:
    value = value_of(f"- {word}", "yaml")
    assert canonical_json(value) == canonical_json([read_json(word)])
    assert repr(value) == repr([read_json(word)])


@each_parser
def test_comments_blocks_and_quotes_are_read() -> None:
    text = """\
# A comment.
name: a plain text  # And another.
list:
- one
-   - two
    - {three: [3, 'it''s'], "four": "\\0\\u2028\\x41\\/"}
literal: |
  first
    second

folded: >-
  first
  second
empty: ""
"""
    assert value_of(text, "yaml") == {
        "name": "a plain text",
        "list": ["one", ["two", {"three": [3, "it's"], "four": "\x00\u2028A/"}]],
        "literal": "first\n  second\n",
        "folded": "first second",
        "empty": "",
    }


@each_parser
@properties
@given(st.text(st.sampled_from("{}[]-:?,&*!|>'\"%@#~ \n\t\\ab01.=<") | st.characters(), max_size=30))
def test_any_text_is_read_as_durable_json_and_located_or_refused(text: str) -> None:
    for syntax in SYNTAXES:
        try:
            source = read_source(text.encode("utf-8", "surrogatepass"), syntax)
        except SourceError:
            continue
        assert canonical_json(read_json(canonical_json(source.value))) == canonical_json(source.value)
        assert list(source.locate(["", "/a"])) == ["", "/a"]


# Positions

BLOCK = """\
# é
é:  {x: 1,
  "y z": [a, 2]}
list:
- - 1
  - 'two'
- b/c: |
    text
  d~e: >
    text
'': {'': x}
"""
"""Columns count code points, and what looks like a pointer in a key is escaped in a pointer."""

BLOCK_PLACES = {
    "": ((2, 1), (2, 1)),
    "/é": ((2, 1), (2, 5)),
    "/é/x": ((2, 6), (2, 9)),
    "/é/y z": ((3, 3), (3, 10)),
    "/é/y z/1": ((3, 14), (3, 14)),
    "/list": ((4, 1), (5, 1)),
    "/list/0": ((5, 3), (5, 3)),
    "/list/0/1": ((6, 5), (6, 5)),
    "/list/1": ((7, 3), (7, 3)),
    "/list/1/b~1c": ((7, 3), (7, 8)),
    "/list/1/d~0e": ((9, 3), (9, 8)),
    "/": ((11, 1), (11, 5)),
    "//": ((11, 6), (11, 10)),
    "/missing": ((2, 1), (2, 1)),
    "/é/missing/deeper/still": ((2, 5), (2, 5)),
    "/list/2": ((5, 1), (5, 1)),
    "/list/00": ((5, 1), (5, 1)),
    "/list/-": ((5, 1), (5, 1)),
    "/é/x/0": ((2, 9), (2, 9)),
}


@each_parser
def test_blocks_are_located_and_what_is_missing_leads_to_what_is_around_it() -> None:
    source = read_source(BLOCK.encode(), "yaml")
    assert source.locate_keys(BLOCK_PLACES) == {pointer: key for pointer, (key, _) in BLOCK_PLACES.items()}
    assert source.locate(BLOCK_PLACES) == {pointer: value for pointer, (_, value) in BLOCK_PLACES.items()}


@pytest.mark.parametrize("pointer", ["a", "#/a", " /a"])
def test_what_is_no_pointer_is_not_located(pointer: str) -> None:
    with pytest.raises(ValueError, match="no JSON Pointer"):
        read_source(b"{}", "json").locate([pointer])


def test_nothing_is_located_if_nothing_is_asked_for() -> None:
    assert read_source(b"{}", "json").locate([]) == {}


class Writer:
    """Writes a value as JSON that is YAML too, and notes line and column of what it writes, as it goes."""

    def __init__(self, space: Callable[[], str]) -> None:
        self.space = space
        self.text = ""
        self.line = self.column = 1
        self.values: dict[str, tuple[int, int]] = {}
        self.keys: dict[str, tuple[int, int]] = {}

    def put(self, text: str) -> None:
        self.text += text
        for character in text.replace("\r\n", "\n"):
            self.line, self.column = (self.line + 1, 1) if character == "\n" else (self.line, self.column + 1)

    def write(self, value: JsonValue, pointer: str = "") -> None:
        self.values[pointer] = here = (self.line, self.column)
        self.keys.setdefault(pointer, here)
        if isinstance(value, Mapping):
            self.put("{" + self.space())
            for number, (key, member) in enumerate(value.items()):
                self.put("," + self.space() if number else "")
                below = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
                self.keys[below] = (self.line, self.column)
                self.put(f"{quoted(key)}:{self.space()}")
                self.write(member, below)
            self.put(self.space() + "}")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            self.put("[" + self.space())
            for number, element in enumerate(value):
                self.put("," + self.space() if number else "")
                self.write(element, f"{pointer}/{number}")
            self.put(self.space() + "]")
        else:
            self.put(quoted(value) if isinstance(value, str) else json.dumps(value))


def quoted(text: str) -> str:
    """The text as a string of JSON and YAML: escaped is what YAML does not allow raw."""
    return f'"{"".join(json.dumps(c, ensure_ascii=needs_escape(c))[1:-1] for c in text)}"'


def needs_escape(character: str) -> bool:
    return "\x7f" <= character <= "\x9f" or character in "\u2028\u2029\ufffe\uffff"


TEXTS = st.text(max_size=8) | st.text(st.sampled_from('/~01ab\u2028\x00é"\\#: '), max_size=4)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-9007199254740991, 9007199254740991)
    | st.floats(-1e15, 1e15)
    | st.sampled_from([1e21, -1.5e300, 5e-324])
    | TEXTS
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


@each_parser
@properties
@given(VALUES, st.data())
def test_both_syntaxes_read_the_same_value_and_find_its_parts_where_they_were_written(
    value: JsonValue, data: st.DataObject
) -> None:
    writer = Writer(lambda: data.draw(st.sampled_from(["", " ", "\n", "\r\n  "])))
    writer.write(value)
    for syntax in SYNTAXES:
        source = read_source(writer.text.encode(), syntax)
        assert canonical_json(source.value) == canonical_json(value)
        assert repr(source.value) == repr(read_json(writer.text))
        assert source.locate(writer.values) == writer.values
        assert source.locate_keys(writer.keys) == writer.keys


@each_parser
@properties
@given(VALUES, st.sampled_from([None, 1, 4]))
def test_what_another_writer_of_json_writes_is_read_alike_in_both_syntaxes(
    value: JsonValue, indent: int | None
) -> None:
    text = json.dumps(value, indent=indent)
    assert repr(value_of(text, "json")) == repr(read_json(text))
    if max(canonical_json(value).decode()) <= "\uffff":  # Written as a pair of escapes, of which YAML has none.
        assert repr(value_of(text, "yaml")) == repr(read_json(text))


# Hostile texts


@pytest.mark.parametrize(
    ("text", "syntax", "code", "position"),
    [
        ("[" * 100_000, "json", "too_deep", (1, 101)),
        ("- " * 100_000 + "a", "yaml", "too_deep", (1, 201)),
        ("? " * 100_000 + "a", "yaml", "yaml_key", (1, 3)),
        ('{"a":' * 100_000, "json", "too_deep", (1, 501)),
        ('{"a":' * 100_000, "yaml", "too_deep", (1, 501)),
        ("a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: [*b, *b, *b]", "yaml", "yaml_alias", (1, 4)),
        ("!!python/object/new:os._exit [1]", "yaml", "yaml_tag", (1, 1)),
        ('{"a": 1' + ', "b": 2' * 100_000 + "}", "json", "duplicate_key", (1, 18)),
        ('{"a": 1' + ', "b": 2' * 100_000 + "}", "yaml", "duplicate_key", (1, 18)),
        ("b: 2\n" * 100_000, "yaml", "duplicate_key", (2, 1)),
        ("x" * 20_000_000, "json", "too_large", None),
        ("x" * 20_000_000, "yaml", "too_large", None),
        ("9" * 4_000_000, "json", "number_out_of_range", (1, 1)),
        ("9" * 4_000_000, "yaml", "number_out_of_range", (1, 1)),
        ("0" * 4_000_000, "yaml", "yaml_ambiguous", (1, 1)),
        ("1" + ":1" * 1_000_000, "yaml", "yaml_ambiguous", (1, 1)),
        ('["' + "\\" * 10_000_001, "json", "not_json", (1, 2)),
        ('["' + "x" * 10_000_000 + '", "\\ud800"]', "json", "lone_surrogate", (1, 10_000_007)),
        ("\n" * 10_000_000 + "]", "json", "not_json", (10_000_001, 1)),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else str(value),
)
def test_a_hostile_text_is_refused_clearly(text: str, syntax: Syntax, code: str, position: LineAndColumn) -> None:
    assert refused(text, syntax) == (code, position)


@each_parser
@pytest.mark.parametrize("text", ["[" * 100_000, "[\n" * 100_000, "{a: " * 100_000, "[a, " * 100_000])
def test_endless_brackets_are_refused_before_they_end(text: str) -> None:
    assert refused(text, "yaml")[0] == "too_deep"


@pytest.mark.parametrize("syntax", ["json", "yaml"])
def test_a_long_string_is_read_and_located(syntax: Syntax) -> None:
    source = read_source(b'["' + b"x\\n" * 1_000_000 + b'", 1]', syntax)
    assert source.locate(["/0", "/1"]) == {"/0": (1, 2), "/1": (1, 3_000_006)}


@pytest.mark.parametrize("word", ["1:" * 100_000 + "x", "1_" * 100_000 + "x", "1 " * 100_000 + "x", "-" * 100_000])
def test_a_plain_text_that_is_almost_a_number_is_read_in_one_go(word: str) -> None:
    assert value_of(word, "yaml") == word


@pytest.mark.many
@pytest.mark.parametrize("syntax", ["json", "yaml"])
def test_many_small_nodes_are_read_and_located_in_one_pass(syntax: Syntax) -> None:
    lines = [f'"k{number}": [1, {{"a": true}}, "x"]' for number in range(20_000)]
    source = read_source(("{" + ",\n".join(lines) + "}").encode(), syntax)
    assert isinstance(source.value, dict)
    assert len(source.value) == 20_000
    pointers = [f"/k{number}/1/a" for number in range(20_000)]
    assert [position.line for position in source.locate(pointers).values()] == list(range(1, 20_001))


def test_a_pointer_of_many_names_is_located() -> None:
    assert read_source(b"[[1]]", "json").locate(["/0" * 100_000]) == {"/0" * 100_000: (1, 3)}


def test_yaml_has_a_limit_of_its_own() -> None:
    with pytest.raises(SourceError) as caught:
        read_source(b" " * (MAX_YAML_BYTES + 1), "yaml")
    assert caught.value.code == "too_large"
    assert "JSON" in caught.value.sentence
    with pytest.raises(SourceError) as caught:
        read_source(b" " * (MAX_YAML_BYTES + 1), "json")
    assert caught.value.code == "empty"
