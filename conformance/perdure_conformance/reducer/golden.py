"""The golden vectors as questions to a kernel: those that every kernel in every language answers alike.

Vectors whose names are alike up to the last colon are twins, and asked as a scenario. Another one that is refused is
about its requirement where it is refused; one that is accepted is about no requirement in particular, like a drawn one.
What there was before anything went wrong with what a journal keeps is the longest history that a twin is restored to.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

import msgspec

from perdure.kernel.values import Digest, JsonObject
from perdure_conformance import data
from perdure_conformance.reducer.contract import Entry, Kind, Shown
from perdure_conformance.reducer.histories import read_history
from perdure_conformance.reducer.kept import opened
from perdure_conformance.reducer.questions import Query
from perdure_conformance.reducer.scenarios.scenario import (
    Accepted,
    Expected,
    Gives,
    Refused,
    RefusesToRestore,
    Rejected,
    Restores,
    Side,
    scenario,
)
from perdure_conformance.reducer.shown import read_shown
from perdure_conformance.vectors.folder import files_in, loaded
from perdure_conformance.vectors.index import digest_of, listed
from perdure_conformance.vectors.vector import Vector

_KINDS: Final = ("reduce", "decide", "restore")


@cache
def golden() -> tuple[Vector, ...]:
    """Return the vectors that a kernel is asked about. Raises `VectorsRefused` if they are not as they were written."""
    return tuple(vector for vector in loaded(files_in(data.vectors())) if vector.kind in _KINDS)


def golden_digest() -> Digest:
    """Return the digest of the vectors that a kernel is asked about."""
    return digest_of(map(listed, golden()))


@cache
def golden_questions() -> tuple[tuple[str, Side], ...]:
    """Return the questions, each with the name of its vector."""
    twins: dict[str, list[Vector]] = {}
    for vector in golden():
        twins.setdefault(vector.name.rpartition(": ")[0] or vector.name, []).append(vector)
    return tuple(each for name, vectors in twins.items() for each in _asked(name, vectors))


def _asked(name: str, vectors: list[Vector]) -> Iterator[tuple[str, Side]]:
    past = _past(vectors)
    sides = [_side(vector, past) for vector in vectors]
    if len(vectors) > 1:
        sides = list(scenario(vectors[0].requirements[0], name, *sides).sides)
    elif isinstance(sides[0].expected, Refused):
        about = msgspec.structs.replace(
            sides[0].question, about=vectors[0].requirements[0], shared=sides[0].expected.at - 1
        )
        sides = [Side(about, sides[0].expected)]
    yield from ((vector.id, side) for vector, side in zip(vectors, sides, strict=True))


def _past(vectors: list[Vector]) -> tuple[Entry, ...]:
    """Return the longest history that vectors are restored to; none, if that is not what they are about."""
    restored = [_shown(vector).records for vector in vectors if vector.expected.get("restored")]
    longest = max(restored, key=len) if restored else ()
    return tuple(Entry(record["schema_version"], record["event"]) for record in map(opened, longest))


def _shown(vector: Vector) -> Shown:
    return read_shown(vector.question)


def _side(vector: Vector, past: tuple[Entry, ...]) -> Side:
    if vector.kind == "restore":
        shown = _shown(vector)
        return Side(Query(past, shown=shown), _restored(vector, len(shown.records)))
    history, command = read_history(vector.question)
    expected = vector.expected
    codes: tuple[str, ...] = tuple(msgspec.convert(expected.get("codes", ()), list[str])[1:])
    told = () if command is None and expected.get("whole") else None
    return Side(Query(history, command, told=told, codes=codes), _expected(vector))


def _restored(vector: Vector, until: int) -> Expected:
    told = vector.expected
    return Restores(until) if told["restored"] else RefusesToRestore(*_place(told))


def _place(told: JsonObject) -> tuple[int, Kind]:
    return msgspec.convert(told["sequence"], int), "corrupt" if told["kind"] == "corrupt" else "incompatible"


def _expected(vector: Vector) -> Expected:
    """Return the answer that a vector says."""
    told = vector.expected
    if vector.kind == "reduce":
        if told["accepted"]:
            return Accepted(bool(told["whole"]), {})
        return Refused(*_place(told))
    if told["allowed"]:
        return Gives(())
    return Rejected(tuple(msgspec.convert(told["codes"], list[str])), None)
