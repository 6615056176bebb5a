from __future__ import annotations

import hashlib
import json
import math
import struct
import sys

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.kernel.values import JsonError, JsonErrorCode, JsonValue, canonical_json, digest, read_json

# Reading


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("false", False),
        ('""', ""),
        ("[]", []),
        ("{}", {}),
        (' \t\r\n[ 1 ,\n"a" ] ', [1, "a"]),
        ('{"a": {"b": [null]}}', {"a": {"b": [None]}}),
        (r'"\u0000\u2028\"\\\/\b\f\n\r\t"', '\x00\u2028"\\/\b\f\n\r\t'),
        (r'"\ud83d\ude00"', "\N{GRINNING FACE}"),
        ('"\N{GRINNING FACE}\uffff\u2029\x7f"', "\N{GRINNING FACE}\uffff\u2029\x7f"),
        ('{"": 1, "\\u0000": 2}', {"": 1, "\x00": 2}),
    ],
)
def test_json_text_is_read(text: str, value: JsonValue) -> None:
    assert read_json(text) == value
    assert read_json(text.encode("utf-8")) == value


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-0", 0),
        ("1", 1),
        ("9007199254740991", 9007199254740991),
        ("-9007199254740991", -9007199254740991),
        ("-0.0", 0),
        ("0e5", 0),
        ("1.0", 1),
        ("-1.0", -1),
        ("1e2", 100),
        ("100e-2", 1),
        ("9007199254740991.0", 9007199254740991),
        ("-9.007199254740991E+15", -9007199254740991),
        ("1e-400", 0),
    ],
)
def test_a_whole_number_is_read_as_an_integer_however_it_is_written(text: str, number: int) -> None:
    value = read_json(text)
    assert type(value) is int
    assert value == number


def test_minus_zero_becomes_plain_zero() -> None:
    assert str(read_json("-0.0")) == "0"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.5", 0.5),
        ("1e21", 1e21),
        ("1e300", 1e300),
        ("-1e300", -1e300),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("5e-324", 5e-324),
        ("0." + "1" * 100_000, 0.1111111111111111),
    ],
)
def test_any_other_number_stays_a_double(text: str, number: float) -> None:
    value = read_json(text)
    assert type(value) is float
    assert value == number


@pytest.mark.parametrize(
    "text",
    [
        "9007199254740992",
        "-9007199254740992",
        "9007199254740993",
        "10000000000000000",
        "18446744073709551616",
        "1000000000000000000000",
        "9" * 100_000,
        "-" + "9" * 100_000,
        "9007199254740992.0",
        "-9007199254740992.0",
        "9007199254740992e0",
        "1e16",
        "999999999999999900000.0",
    ],
)
def test_an_integer_outside_the_safe_range_is_refused(text: str) -> None:
    with pytest.raises(JsonError, match=r"the integer -?[0-9]{1,40} lies outside ±\(2\^53−1\)"):
        read_json(text)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "[1e309]", "1" * 1_000 + ".0", "1" * 100_000 + ".5"])
def test_a_number_that_overflows_a_double_is_refused(text: str) -> None:
    with pytest.raises(JsonError, match=r"too large for a double$"):
        read_json(text)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "[NaN]", '{"a": -Infinity}'])
def test_what_is_not_a_number_is_refused(text: str) -> None:
    with pytest.raises(JsonError, match=r"^(NaN|-?Infinity) is not a JSON number$"):
        read_json(text)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"x": 1, "a": 2, "a": 3}}]', '{"a": 1, "\\u0061": 2}'])
def test_a_key_that_stands_twice_in_one_object_is_refused(text: str) -> None:
    with pytest.raises(JsonError, match=r"^the key 'a' stands twice in one object$"):
        read_json(text)


def test_a_key_may_stand_in_two_objects() -> None:
    assert read_json('[{"a": 1}, {"a": {"a": 2}}]') == [{"a": 1}, {"a": {"a": 2}}]


@pytest.mark.parametrize(
    "text",
    [
        r'"\ud800"',
        r'["a\ud800b"]',
        r'{"\ud800": 1}',
        r'{"a": {"b": "\ud800\ud800\udc00"}}',
        r'"\ud800\u0041"',
        '"\ud800"',
        '{"\ud800": 1}',
    ],
)
def test_a_lone_high_surrogate_is_refused_raw_and_escaped(text: str) -> None:
    with pytest.raises(JsonError, match=r"^a lone surrogate, U\+D800, stands in a string$"):
        read_json(text)


@pytest.mark.parametrize("text", [r'"\udfff"', r'"\udfff\ud83d"', '"a\udfff"'])
def test_a_lone_low_surrogate_is_refused_raw_and_escaped(text: str) -> None:
    with pytest.raises(JsonError, match=r"^a lone surrogate, U\+DFFF, stands in a string$"):
        read_json(text)


@pytest.mark.parametrize(
    ("octets", "position"),
    [
        (b"\xff", 0),
        (b'"\xc3(', 1),
        (b'"abc\xed\xa0\x80"', 4),
        (b'["a", "\xf0\x9f\x98"]', 7),
        (b'"\xc0\x80"', 1),
        (b'{"a": "\xc3\xa4\xe9"}', 9),
    ],
)
def test_what_is_not_utf_8_is_refused_with_its_position(octets: bytes, position: int) -> None:
    with pytest.raises(JsonError, match=f"^not UTF-8 at byte {position}$"):
        read_json(octets)


@pytest.mark.parametrize("text", [b"\xef\xbb\xbf{}", "\ufeff{}"])
def test_a_byte_order_mark_is_refused(text: str | bytes) -> None:
    with pytest.raises(JsonError, match=r"^not JSON at line 1, column 1: .*BOM"):
        read_json(text)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        (" ", 1, 2),
        ("{} {}", 1, 4),
        ("[1]\n]", 2, 1),
        ("1 x", 1, 3),
        ("01", 1, 2),
        ("+1", 1, 1),
        (".5", 1, 1),
        ("1.", 1, 2),
        ("0x1", 1, 2),
        ("'a'", 1, 1),
        ("True", 1, 1),
        ("nan", 1, 1),
        ("{a: 1}", 1, 2),
        ('{1: "a"}', 1, 2),
        ('{"a" 1}', 1, 6),
        ("[1 2]", 1, 4),
        ('"a', 1, 1),
        ('"\t"', 1, 2),
        ('"\n"', 1, 2),
        ('"\x00"', 1, 2),
        (r'"\x"', 1, 2),
        ("\u00a01", 1, 1),
        ("// a\n1", 1, 1),
    ],
)
def test_what_is_not_json_is_refused_with_its_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(JsonError, match=f"^not JSON at line {line}, column {column}: "):
        read_json(text)


@pytest.mark.parametrize(
    "text", ["[1,]", '{"a": 1,}', r'"\u00g0"', r'"\u12"', "[", "{", '{"a":', "tru", "-", "1e", "[}"]
)
def test_text_that_breaks_off_or_has_a_comma_too_many_is_refused(text: str) -> None:
    with pytest.raises(JsonError, match=r"^not JSON at line 1, column "):
        read_json(text)


def arrays(depth: int, inside: str) -> str:
    return "[" * depth + inside + "]" * depth


def objects(depth: int, inside: str) -> str:
    return '{"a":' * depth + inside + "}" * depth


@pytest.mark.parametrize(
    "text", [arrays(100, ""), arrays(100, "1"), arrays(99, "{}"), objects(100, "1"), objects(99, "[]")]
)
def test_a_hundred_levels_are_read_and_written(text: str) -> None:
    assert canonical_json(read_json(text)).decode() == text


@pytest.mark.parametrize(
    "text",
    [
        arrays(101, ""),
        arrays(101, "1"),
        arrays(100, "{}"),
        objects(101, "1"),
        objects(100, "[]"),
        f"[1, {arrays(100, '')}]",
        arrays(1_000, ""),
        arrays(100_000, "1"),
        objects(100_000, "1"),
        "[" * 100_000,
    ],
)
def test_more_than_a_hundred_levels_are_refused(text: str) -> None:
    with pytest.raises(JsonError, match=r"^nested deeper than 100 levels$"):
        read_json(text)


def test_a_string_of_brackets_is_not_nested() -> None:
    assert read_json('"' + "[" * 1_000 + '"') == "[" * 1_000


@pytest.mark.parametrize(
    ("text", "code", "offset"),
    [
        (b'"\xff"', "not_utf8", None),
        ("", "not_json", 0),
        ("[1,\n x]", "not_json", 5),
        ("[NaN]", "not_json", None),
        ('{"a": 1, "a": 1}', "duplicate_key", None),
        (r'"\ud800"', "lone_surrogate", None),
        ("9007199254740992", "number_out_of_range", None),
        ("9007199254740992.0", "number_out_of_range", None),
        ("1e400", "number_out_of_range", None),
        (arrays(101, ""), "too_deep", None),
        (arrays(100_000, ""), "too_deep", None),
    ],
)
def test_a_refusal_has_a_code_and_no_json_at_all_an_offset(
    text: str | bytes, code: JsonErrorCode, offset: int | None
) -> None:
    with pytest.raises(JsonError) as refused:
        read_json(text)
    assert (refused.value.code, refused.value.offset) == (code, offset)


# Writing


def test_the_example_of_rfc_8785_is_written_as_there() -> None:
    text = r"""
        {
          "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
          "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
          "literals": [null, true, false]
        }
    """
    assert canonical_json(read_json(text)) == bytes.fromhex(
        "7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72"
        "75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75 6d 62 65 72 73 22 3a"
        "5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31"
        "65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37"
        "5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30 30"
        "30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d"
    )


def test_the_sorting_example_of_rfc_8785_is_sorted_as_there() -> None:
    text = r"""
        {
          "\u20ac": "Euro Sign",
          "\r": "Carriage Return",
          "\ufb33": "Hebrew Letter Dalet With Dagesh",
          "1": "One",
          "\ud83d\ude00": "Emoji: Grinning Face",
          "\u0080": "Control",
          "\u00f6": "Latin Small Letter O With Diaeresis"
        }
    """
    assert list(json.loads(canonical_json(read_json(text))).values()) == [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ]


def test_keys_are_sorted_by_utf_16_units_and_not_by_code_points() -> None:
    value = {"\uffff": 1, "\U00010000": 2, "b": 3, "a": 4, "": 5, "aa": 6, "B": 7}
    assert canonical_json(value).decode() == '{"":5,"B":7,"a":4,"aa":6,"b":3,"\U00010000":2,"\uffff":1}'


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("ffefffffffffffff", "-1.7976931348623157e+308"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555554", "333333333.33333325"),
        ("41b3de4355555555", "333333333.3333333"),
        ("41b3de4355555556", "333333333.3333334"),
        ("41b3de4355555557", "333333333.33333343"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_the_numbers_of_rfc_8785_are_written_as_there_and_read_back(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_json(number).decode() == text
    assert read_json(text) == number


@pytest.mark.parametrize(
    "bits",
    [
        "4340000000000000",  # 9007199254740992
        "c340000000000000",  # -9007199254740992
        "4430000000000000",  # 295147905179352830000
        "444b1ae4d6e2ef4e",  # 999999999999999700000
        "444b1ae4d6e2ef4f",  # 999999999999999900000
    ],
)
def test_the_numbers_of_rfc_8785_that_rfc_7493_does_not_allow_are_refused(bits: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    with pytest.raises(JsonError, match=r"^the integer [0-9-]+ lies outside ±\(2\^53−1\)$"):
        canonical_json(number)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (-1.0, "-1"),
        (-0.0, "0"),
        (100.0, "100"),
        (0.1, "0.1"),
        (1e-6, "0.000001"),
        (0.0000012, "0.0000012"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (1e-10, "1e-10"),
        (1e30, "1e+30"),
        (1.5e30, "1.5e+30"),
        (1e300, "1e+300"),
        (9007199254740991, "9007199254740991"),
        (-9007199254740991.0, "-9007199254740991"),
    ],
)
def test_a_number_is_written_as_ecmascript_does(number: float, text: str) -> None:
    assert canonical_json(number).decode() == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\x00\x01\x1f", r'"\u0000\u0001\u001f"'),
        ("\b\t\n\f\r", r'"\b\t\n\f\r"'),
        ('"\\/', r'"\"\\/"'),
        ("\x7f\x80\u2028\u2029\ufffe\uffff", '"\x7f\x80\u2028\u2029\ufffe\uffff"'),
        ("e\u0301", '"e\u0301"'),
        ("\N{GRINNING FACE}", '"\N{GRINNING FACE}"'),
        ("<&>'", '"<&>\'"'),
    ],
)
def test_only_what_must_be_escaped_is_escaped(value: str, text: str) -> None:
    assert canonical_json(value) == text.encode("utf-8")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        ([True, 1, False, 0], "[true,1,false,0]"),
        ((1, "a"), '[1,"a"]'),
        ({"b": [], "a": {}}, '{"a":{},"b":[]}'),
        ({"a": {"d": 1, "c": 2}}, '{"a":{"c":2,"d":1}}'),
    ],
)
def test_a_value_is_written_without_white_space(value: JsonValue, text: str) -> None:
    assert canonical_json(value).decode() == text


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        [math.inf],
        {"a": -math.inf},
        9007199254740992,
        [-9007199254740992],
        2.0**53,
        "\ud800",
        {"\udfff": 1},
        b"bytes",
        {1: "a key that is no string"},
        [object()],
        {"a set"},
    ],
)
def test_what_durable_json_does_not_allow_is_not_written(value: JsonValue) -> None:
    with pytest.raises(JsonError):
        canonical_json(value)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (math.nan, "number_out_of_range"),
        (9007199254740992, "number_out_of_range"),
        ("\ud800", "lone_surrogate"),
        ({"a set"}, "not_json"),
    ],
)
def test_a_value_that_is_not_written_has_the_code_of_the_text_that_is_not_read(
    value: JsonValue, code: JsonErrorCode
) -> None:
    with pytest.raises(JsonError) as refused:
        canonical_json(value)
    assert refused.value.code == code


@pytest.mark.parametrize("depth", [101, 100_000])
def test_a_value_that_nests_too_deep_is_not_written(depth: int) -> None:
    value: JsonValue = []
    for _ in range(depth - 1):
        value = [value]
    with pytest.raises(JsonError, match=r"^nested deeper than 100 levels$"):
        canonical_json(value)


# Digests


@pytest.mark.parametrize(
    ("value", "octets"),
    [
        (None, b"null"),
        ({}, b"{}"),
        ({"b": 1.0, "a": [True, "\N{EURO SIGN}"]}, b'{"a":[true,"\xe2\x82\xac"],"b":1}'),
        ({"\ufb33": 1e-7, "\N{GRINNING FACE}": 1e30}, b'{"\xf0\x9f\x98\x80":1e+30,"\xef\xac\xb3":1e-7}'),
    ],
)
def test_a_digest_is_the_sha_256_of_the_canonical_form(value: JsonValue, octets: bytes) -> None:
    assert digest(value) == hashlib.sha256(octets).hexdigest()


def test_a_digest_is_lowercase_hexadecimal() -> None:
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_what_cannot_be_written_has_no_digest() -> None:
    with pytest.raises(JsonError):
        digest(math.nan)


# Properties


def is_durable(number: float) -> bool:
    return not (number.is_integer() and 9007199254740991 < abs(number) < 1e21)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-9007199254740991, 9007199254740991)
    | st.floats(allow_nan=False, allow_infinity=False).filter(is_durable)
    | st.text()
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)
ALMOST_JSON = st.text(st.sampled_from('[]{}",:0123456789.eE+-\\udnatrefl \ud800')) | st.text()


def same(left: object, right: object) -> bool:
    """Tell whether two values are the same JSON, in which `true` is not 1."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return isinstance(left, bool) == isinstance(right, bool) and left == right


@settings(deadline=None)
@given(VALUES)
def test_what_is_written_is_read_back_as_the_same_value_and_written_as_the_same_bytes(value: JsonValue) -> None:
    canonical = canonical_json(value)
    assert same(read_json(canonical), value)
    assert canonical_json(read_json(canonical)) == canonical


@settings(deadline=None)
@given(VALUES)
def test_what_is_plain_is_written_as_anything_is(value: JsonValue) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


def test_every_character_is_written_the_same_whoever_writes() -> None:
    text = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    assert canonical_json({"plain": text}) == rfc8785.dumps({"plain": text})
    assert canonical_json({"\u00e4": text}) == rfc8785.dumps({"\u00e4": text})


@settings(deadline=None)
@given(VALUES)
def test_another_json_reader_reads_the_canonical_form_as_the_same_value(value: JsonValue) -> None:
    assert same(json.loads(canonical_json(value)), value)


@settings(deadline=None)
@given(VALUES, st.sampled_from([None, 1, 4]))
def test_white_space_and_escapes_do_not_change_the_canonical_form(value: JsonValue, indent: int | None) -> None:
    assert canonical_json(read_json(json.dumps(value, indent=indent))) == canonical_json(value)


@settings(deadline=None)
@given(ALMOST_JSON | st.binary())
def test_any_text_is_read_and_can_be_written_or_is_refused_with_a_json_error(text: str | bytes) -> None:
    try:
        value = read_json(text)
    except JsonError:
        return
    assert same(read_json(canonical_json(value)), value)
