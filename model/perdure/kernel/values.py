"""Durable JSON: I-JSON (RFC 7493) in, canonical form (RFC 8785) out, SHA-256 over the canonical form.

There is one number type: `1` and `1.0` are the same value, and reading gives `1` for both. Whatever this module
reads it can write, and whatever it writes it reads back as an equal value.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NewType, NoReturn

import rfc8785

JsonValue = None | bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"]
JsonObject = Mapping[str, JsonValue]

Digest = NewType("Digest", str)
"""64 lowercase hexadecimal digits: a SHA-256."""

MAX_SAFE_INTEGER = 2**53 - 1
MAX_DEPTH = 100
"""Arrays and objects nest at most this deep; deeper text is refused before anything walks it."""

_FIRST_EXPONENT_FORM = 1e21  # RFC 8785 writes a double from here on with an exponent, below it as an integer.
_MAX_INTEGER_DIGITS = 17  # Sign and 16 digits: longer text is out of range, whatever its digits are.


JsonErrorCode = Literal["not_utf8", "not_json", "duplicate_key", "lone_surrogate", "number_out_of_range", "too_deep"]


class JsonError(ValueError):
    """Text or a value that durable JSON does not allow. `str(error)` says what and, for text, where.

    `offset` counts the code points before the fault, where the text was given up as no JSON at all.
    """

    def __init__(self, sentence: str, code: JsonErrorCode, offset: int | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.offset = offset


def read_json(text: str | bytes) -> JsonValue:
    """Read one I-JSON text strictly.

    Refused with `JsonError`: what is not JSON or not UTF-8, duplicate keys, lone surrogates, NaN and infinities,
    doubles that overflow, integers outside ±(2^53−1), and nesting deeper than `MAX_DEPTH`.

    Source: RFC 7493; values of the graph design.
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value: JsonValue = json.loads(
            decoded,
            object_pairs_hook=_object_without_duplicates,
            parse_int=_safe_integer,
            parse_float=_finite_number,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8 at byte {error.start}", "not_utf8") from error
    except json.JSONDecodeError as error:
        sentence = f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        raise JsonError(sentence, "not_json", error.pos) from error
    except RecursionError as error:
        raise JsonError(_TOO_DEEP, "too_deep") from error
    if not _is_harmless(decoded):
        _refuse_what_is_not_i_json(value)
    return value


def canonical_json(value: JsonValue) -> bytes:
    """Write `value` in canonical form: UTF-8, no white space, keys sorted by UTF-16 code units.

    Raises `JsonError` for what durable JSON does not allow.

    Source: RFC 8785.
    """
    if _is_plain(value):
        try:
            return _WRITER.encode(value).encode("utf-8")
        except UnicodeEncodeError:
            pass  # A lone surrogate: which one is told below.
    _refuse_what_is_not_i_json(value)
    try:
        return rfc8785.dumps(value)
    except rfc8785.IntegerDomainError as error:
        raise JsonError(str(error), "number_out_of_range") from error
    except rfc8785.CanonicalizationError as error:
        raise JsonError(str(error), "not_json") from error


def digest(value: JsonValue) -> Digest:
    """Return the SHA-256 of the canonical form of `value`, in lowercase hexadecimal."""
    return Digest(hashlib.sha256(canonical_json(value)).hexdigest())


def nesting(value: JsonValue) -> int:
    """Return how deep arrays and objects nest in `value`; a scalar has depth 0."""
    depth = 0
    level: list[JsonValue] = [value]
    while level:
        containers = [item for item in level if isinstance(item, Mapping | Sequence) and not isinstance(item, str)]
        level = [member for item in containers for member in (item.values() if isinstance(item, Mapping) else item)]
        depth += bool(containers)
    return depth


_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"


def _object_without_duplicates(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonError(f"the key {repeated!r} stands twice in one object", "duplicate_key")
    return members


def _safe_integer(text: str) -> int:
    if len(text) > _MAX_INTEGER_DIGITS or abs(int(text)) > MAX_SAFE_INTEGER:
        raise JsonError(f"the integer {text[:40]} lies outside ±(2^53−1)", "number_out_of_range")
    return int(text)


def _finite_number(text: str) -> int | float:
    number = float(text)
    _refuse_unwritable_number(number)
    return int(number) if number.is_integer() and abs(number) <= MAX_SAFE_INTEGER else number


def _refuse_constant(name: str) -> NoReturn:
    raise JsonError(f"{name} is not a JSON number", "not_json")


def _refuse_unwritable_number(number: float) -> None:
    """Refuse a double whose canonical form is no I-JSON number, so that what is written can be read back."""
    if not math.isfinite(number):
        sentence = "a number is not finite: NaN, an infinity, or too large for a double"
        raise JsonError(sentence, "number_out_of_range")
    if number.is_integer() and MAX_SAFE_INTEGER < abs(number) < _FIRST_EXPONENT_FORM:
        raise JsonError(f"the integer {number:.0f} lies outside ±(2^53−1)", "number_out_of_range")


def _is_harmless(text: str) -> bool:
    """Tell, without a look at its value, that a text has no surrogate, and too few brackets to nest too deep."""
    has_escapes = "\\" in text and "\\u" in text  # A single character is found far sooner.
    return text.isascii() and not has_escapes and text.count("[") + text.count("{") <= MAX_DEPTH


def _refuse_what_is_not_i_json(value: JsonValue) -> None:
    """Walk level by level, without recursion, so that no input can exhaust the stack."""
    level: list[JsonValue] = [value]
    depth = 0
    while level:
        below: list[JsonValue] = []
        for item in level:
            if isinstance(item, str):
                _refuse_lone_surrogate(item)
            elif isinstance(item, float):
                _refuse_unwritable_number(item)
            elif item is None or isinstance(item, int):  # To ask what is neither for its kind takes far longer.
                continue
            elif depth == MAX_DEPTH and isinstance(item, Mapping | Sequence):
                raise JsonError(_TOO_DEEP, "too_deep")
            elif isinstance(item, Mapping):
                below.extend(item.keys())
                below.extend(item.values())
            elif isinstance(item, Sequence):
                below.extend(item)
        level = below
        depth += 1


_WRITER: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))
"""It writes what is plain in canonical form, ten times as fast as what writes everything."""


def _is_plain(value: JsonValue) -> bool:
    """Tell whether a value has no number but safe integers, no key beyond ASCII, no odd type, and is not too deep."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for item in level:
            if type(item) is dict:
                if not all(type(key) is str and key.isascii() for key in item):
                    return False
                below.extend(item.values())
            elif type(item) is list or type(item) is tuple:
                below.extend(item)
            elif not (type(item) is str or item is None or type(item) is bool or _is_safe(item)):
                return False
        if not below:
            return True
        level = below
    return False


def _is_safe(number: object) -> bool:
    return type(number) is int and -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER


def _refuse_lone_surrogate(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        sentence = f"a lone surrogate, U+{ord(text[error.start]):04X}, stands in a string"
        raise JsonError(sentence, "lone_surrogate") from error
