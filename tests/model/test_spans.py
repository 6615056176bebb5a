from __future__ import annotations

import pytest
import yaml

from perdure.authoring import yaml_text
from perdure.authoring.positions import Span
from perdure.authoring.source import Source, Syntax, read_source


@pytest.fixture(params=[yaml_text._PARSER, yaml.SafeLoader], ids=["default", "python"], autouse=True)
def _each_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "_PARSER", request.param)


def spans_of(text: str, syntax: Syntax, *pointers: str) -> tuple[Source, dict[str, Span]]:
    source = read_source(text.encode(), syntax)
    return source, source.spans(pointers)


def around(source: Source, span: Span) -> tuple[str, str, str | None, str | None]:
    """The text from the key, that of the value, and what ends before and starts after it."""
    before = None if span.before is None else source.text[max(0, span.before - 1) : span.before]
    after = None if span.after is None else source.text[span.after : span.after + 1]
    return source.text[span.key : span.end], source.text[span.start : span.end], before, after


JSON = '{"a" : [ 1, "b\\"", {} ,[]], "c": {"d":null}, "e": -1.5e3 }\n'


@pytest.mark.parametrize("syntax", ["json", "yaml"])
@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("", (JSON[:-1], JSON[:-1], None, None)),
        ("/a", ('"a" : [ 1, "b\\"", {} ,[]]', '[ 1, "b\\"", {} ,[]]', None, '"')),
        ("/a/0", ("1", "1", None, '"')),
        ("/a/1", ('"b\\""', '"b\\""', "1", "{")),
        ("/a/2", ("{}", "{}", '"', "[")),
        ("/a/3", ("[]", "[]", "}", None)),
        ("/c", ('"c": {"d":null}', '{"d":null}', "]", '"')),
        ("/c/d", ('"d":null', "null", None, None)),
        ("/e", ('"e": -1.5e3', "-1.5e3", "}", None)),
    ],
)
def test_a_value_in_brackets_has_a_span(pointer: str, expected: tuple[str, str, str, str], syntax: Syntax) -> None:
    source, spans = spans_of(JSON, syntax, pointer)
    assert around(source, spans[pointer]) == expected


YAML = """\
# head
a:
  - one   # first
  - 'two'

  # before three
  - three
    and more
b: {c: 1}
d: |-
  text

e:
  f: g  # last
"""


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("/a/0", ("one", "one", None, "'")),
        ("/a/1", ("'two'", "'two'", "e", "t")),
        ("/a/2", ("three\n    and more",) * 2 + ("'", None)),
        ("/b", ("b: {c: 1}", "{c: 1}", "e", "d")),
        ("/d", ("d: |-\n  text", "|-\n  text", "}", "e")),
        ("/e", ("e:\n  f: g", "f: g", "t", None)),
        ("/e/f", ("f: g", "g", None, None)),
    ],
)
def test_a_value_without_brackets_ends_where_its_last_value_ends(
    pointer: str, expected: tuple[str, str, str, str]
) -> None:
    source, spans = spans_of(YAML, "yaml", pointer)
    assert around(source, spans[pointer]) == expected


def test_the_whole_block_is_one_span() -> None:
    source, spans = spans_of(YAML, "yaml", "")
    assert source.text[spans[""].start : spans[""].end] == YAML.removeprefix("# head\n").removesuffix("  # last\n")


@pytest.mark.parametrize("syntax", ["json", "yaml"])
def test_what_is_missing_has_no_span(syntax: Syntax) -> None:
    assert spans_of('{"a": [1]}', syntax, "/b", "/a/1", "/a/0/c")[1] == {}


def test_no_pointer_no_span() -> None:
    with pytest.raises(ValueError, match="no JSON Pointer"):
        spans_of("{}", "json", "a")
