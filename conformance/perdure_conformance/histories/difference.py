"""Difference: where two histories part. Identities are told apart from all else, since each run has its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, TypeGuard

from perdure.kernel.identity import is_canonical_uuid
from perdure.kernel.problems import pointer_token
from perdure.kernel.values import JsonError, JsonValue, canonical_json, read_json
from perdure_conformance.histories.stored import Stored
from perdure_conformance.histories.words import value_in_words

DIFF_VERSION: Final = 1

_IDENTITIES: Final = frozenset(
    {"run_id", "event_id", "attempt_id", "child_run_id", "signal_id", "owner", "ancestors"},
)
_CHECKSUM: Final = "/checksum"
_UUIDS: Final = re.compile(rb'"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"')


@dataclass(frozen=True, slots=True)
class Part:
    """Where two histories part: a member of a record, or the record itself where one of them ends."""

    sequence: int
    pointer: str
    a: str | None
    """The value in the first, in words; None if there is none."""
    b: str | None
    event_a: str | None
    event_b: str | None


@dataclass(slots=True)
class Difference:
    """What was found out about two histories."""

    records: int = 0
    """How many records were compared."""
    first: Part | None = None
    """The first difference that is more than another identity."""
    first_identity: Part | None = None
    """The first identity that is another one."""

    @property
    def is_same(self) -> bool:
        """Tell whether there is no difference at all."""
        return self.first is None and self.first_identity is None

    @property
    def is_empty(self) -> bool:
        """Tell whether there was nothing to compare."""
        return self.records == 0 and self.is_same


class _Names:
    """Which identity of one history stands for which of the other."""

    def __init__(self) -> None:
        self._there: dict[str, str] = {}
        self._back: dict[str, str] = {}

    def fits(self, one: str, other: str) -> bool:
        """Tell whether one may stand for the other, everywhere so far; note it if so."""
        return self._there.setdefault(one, other) == other and self._back.setdefault(other, one) == one


def compare(one: Iterable[Stored], other: Iterable[Stored]) -> Difference:
    """Compare two histories, record by record, up to the first difference that is more than another identity."""
    found, names = Difference(), _Names()
    for number, (a, b) in enumerate(zip_longest(one, other), start=1):
        if a is None or b is None:
            event_a, event_b = (None if line is None else _event(_read(line.content)) for line in (a, b))
            found.first = Part(number, "", None, None, event_a, event_b)
            return found
        found.records = number
        if a.content == b.content:
            found.first = _stray(number, a.content, names)
        else:
            _compare_records(number, (a.content, b.content), names, found)
        if found.first is not None:
            return found
    return found


class _NoJson:
    """A line that is no JSON."""


def _read(line: bytes) -> JsonValue | _NoJson:
    try:
        return read_json(line)
    except JsonError:
        return _NoJson()


def _event(record: JsonValue | _NoJson) -> str:
    """Return the type of the event of a record, as far as it has one."""
    if isinstance(record, _NoJson):
        return "no JSON"
    event = record.get("event") if isinstance(record, Mapping) else None
    return value_in_words(event.get("type"), 60).strip('"') if isinstance(event, Mapping) else "no event"


def _stray(number: int, line: bytes, names: _Names) -> Part | None:
    """Return the identity of a record that both have, if it stood for another one in a record before."""
    identities = {identity.decode() for identity in _UUIDS.findall(line)}
    strays = {identity for identity in identities if not names.fits(identity, identity)}
    record = _read(line) if strays else None
    if isinstance(record, _NoJson):
        return None
    for pointer, value in _leaves(record, ""):
        if isinstance(value, str) and value in strays and _is_identity(pointer, value, value):
            event = _event(record)
            return Part(number, pointer, value, f"{value}, which stood for another one before", event, event)
    return None


def _leaves(value: JsonValue, pointer: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield each value that is no object and no array, with its place."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _leaves(member, f"{pointer}/{pointer_token(name)}")
    elif _is_array(value):
        for position, member in enumerate(value):
            yield from _leaves(member, f"{pointer}/{position}")
    else:
        yield pointer, value


def _compare_records(number: int, lines: tuple[bytes, bytes], names: _Names, found: Difference) -> None:
    records = [_read(line) for line in lines]
    a, b = records
    event_a, event_b = map(_event, records)
    if isinstance(a, _NoJson) or isinstance(b, _NoJson):
        told_a, told_b = (value_in_words(line.decode("utf-8", "backslashreplace")) for line in lines)
        found.first = Part(number, "", told_a, told_b, event_a, event_b)
        return
    has_other_identity = False
    checksum: Part | None = None
    any_part = False
    for pointer, one, other in _differences(a, b, ""):
        any_part = True
        part = Part(number, pointer, _shown(one), _shown(other), event_a, event_b)
        if pointer == _CHECKSUM:
            checksum = part
        elif _is_identity(pointer, one, other) and names.fits(str(one), str(other)):
            has_other_identity = True
            found.first_identity = found.first_identity or part
        else:
            found.first = part
            return
    if checksum is not None and not has_other_identity:
        found.first = checksum
    elif not any_part:
        told_a, told_b = (value_in_words(line.decode("utf-8", "backslashreplace")) for line in lines)
        found.first = Part(number, "", told_a, told_b, event_a, event_b)


class _Absent:
    """A member that one of two objects does not have."""


_ABSENT: Final = _Absent()

_Value = JsonValue | _Absent


def _differences(one: _Value, other: _Value, pointer: str) -> Iterator[tuple[str, _Value, _Value]]:
    """Yield each place where two values differ, the innermost that has it."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in _ordered({*one, *other}):
            yield from _differences(
                one.get(name, _ABSENT), other.get(name, _ABSENT), f"{pointer}/{pointer_token(name)}"
            )
    elif _is_array(one) and _is_array(other):
        for position, (a, b) in enumerate(zip_longest(one, other, fillvalue=_ABSENT)):
            yield from _differences(a, b, f"{pointer}/{position}")
    elif isinstance(one, _Absent) or isinstance(other, _Absent):
        if one is not other:
            yield pointer, one, other
    elif canonical_json(one) != canonical_json(other):
        yield pointer, one, other


def _is_array(value: _Value) -> TypeGuard[Sequence[JsonValue]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


_FIRST: Final = ("sequence", "type", "event")


def _ordered(names: set[str]) -> list[str]:
    """Return the members of an object, those first that explain the others."""
    return sorted(names, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))


def _is_identity(pointer: str, one: _Value, other: _Value) -> bool:
    steps = pointer.split("/")
    is_named = steps[-1] in _IDENTITIES or (len(steps) > 1 and steps[-2] == "ancestors")
    is_content = "output" in steps or "payload" in steps or "input" in steps or "specification" in steps
    both = isinstance(one, str) and isinstance(other, str) and is_canonical_uuid(one) and is_canonical_uuid(other)
    return is_named and not is_content and both


def _shown(value: _Value) -> str | None:
    return None if isinstance(value, _Absent) else value_in_words(value)


def document(difference: Difference, exit_code: int, ends: Mapping[str, object] | None) -> dict[str, object]:
    """Return what was found out as JSON; `ends` is how both runs stand at their ends, where only identities differ."""
    return {
        "diff_version": DIFF_VERSION,
        "same": difference.is_same,
        "only_identities": difference.first is None and difference.first_identity is not None,
        "exit_code": exit_code,
        "records": difference.records,
        "first": None if difference.first is None else _part(difference.first),
        "first_identity": None if difference.first_identity is None else _part(difference.first_identity),
        "ends": ends,
    }


def _part(part: Part) -> dict[str, object]:
    return {
        "sequence": part.sequence,
        "pointer": part.pointer,
        "a": part.a,
        "b": part.b,
        "event_a": part.event_a,
        "event_b": part.event_b,
    }


def in_words(difference: Difference) -> list[str]:
    """Return what was found out, as lines."""
    if difference.is_empty:
        return ["NOTHING COMPARED  both histories are empty."]
    if difference.is_same:
        return [f"SAME  all {difference.records:,} records, byte for byte."]
    if difference.first is None:
        assert difference.first_identity is not None
        told = f"{difference.first_identity.pointer} of record {difference.first_identity.sequence}"
        return [f"ONLY IDENTITIES DIFFER  in {difference.records:,} records, first in {told}."]
    return list(_told(difference.first))


def _told(part: Part) -> Iterator[str]:
    if part.event_a is None or part.event_b is None:
        longer, shorter, event = ("B", "A", part.event_b) if part.event_a is None else ("A", "B", part.event_a)
        yield f"DIFFERENT  {shorter} ends before record {part.sequence}, where {longer} has {event}."
        return
    where = f" at {value_in_words(part.pointer)[1:-1]}" if part.pointer else ""
    yield f"DIFFERENT  from record {part.sequence} on{where}"
    for name, value, event in (("A", part.a, part.event_a), ("B", part.b, part.event_b)):
        yield f"  {name}  {event:<24}  {'(absent)' if value is None else value}".rstrip()
