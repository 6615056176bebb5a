"""The golden vectors of both sides: the same question must have the same answer.

What an answer says for people is free, as the page beside the vectors says: the code of a refusal, the reason of an
outcome, and the kind of a refusal for members.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.gate.changes import Change
from perdure_conformance.gate.sources import Vectors
from perdure_conformance.gate.values import equal, first_difference
from perdure_conformance.histories.words import value_in_words
from perdure_conformance.reducer.questions import OF_EITHER_KIND
from perdure_conformance.vectors.index import Listed


def compared_vectors(old: Vectors, new: Vectors) -> Iterator[Change]:
    """Yield the changes from one folder of vectors to another."""
    before, after = old.listed, new.listed
    came = {_question(row): name for name, row in after.items() if name not in before}
    renamed = {
        name: came[_question(row)] for name, row in before.items() if name not in after and _question(row) in came
    }
    for name, row in before.items():
        if name in after:
            yield from _of_one(new.file, row, after[name])
        elif name in renamed:
            other = after[renamed[name]]
            yield Change("vector_renamed", new.file, other.id, f"{name} is {other.id} now")
            yield from _of_answer(new.file, row, other)
        else:
            yield Change("vector_removed", old.file, name, f"{name} is gone: {row.name}")
    for name in after.keys() - before.keys() - set(renamed.values()):
        yield Change("vector_added", new.file, name, f"{name} is new")


def _question(row: Listed) -> tuple[str, ...]:
    return row.kind, *(file.sha256 for file in row.files)


def _of_one(file: str, old: Listed, new: Listed) -> Iterator[Change]:
    if _question(old) != _question(new):
        yield Change("question_changed", file, new.id, f"{new.id} asks something else: {', '.join(_paths(new))}")
        return
    if (old.name, frozenset(old.requirements)) != (new.name, frozenset(new.requirements)):
        yield Change("vector_described", file, new.id, f"{new.id} is described otherwise")
    yield from _of_answer(file, old, new)


def _paths(row: Listed) -> list[str]:
    return [file.path for file in row.files]


def _of_answer(file: str, old: Listed, new: Listed) -> Iterator[Change]:
    before, after = old.expected, new.expected
    if equal(before, after):
        return
    judged = _judged(old.kind, before), _judged(new.kind, after)
    if old.kind == "decide" and _is_widened(*judged):
        told = f"{new.id}: {value_in_words(after['codes'])} are right, and {value_in_words(before['codes'])} were"
        yield Change("answer_widened", file, new.id, told)
    elif _is_only_the_kind(old.kind, before, after, *judged) or equal(*judged):
        yield Change("answer_for_people", file, new.id, _became(new.id, before, after))
    else:
        yield Change("answer_changed", file, new.id, _became(new.id, *judged))


def _became(name: str, before: JsonObject, after: JsonObject) -> str:
    pointer, words = first_difference(before, after)
    return f"{name}{pointer}: {words}"


def _judged(kind: str, answer: JsonObject) -> JsonObject:
    """Return the part of an answer by which an implementation is right or wrong."""
    if kind in {"reduce", "restore"}:
        return {name: value for name, value in answer.items() if name != "code"}
    if kind == "validate":
        return {name: value for name, value in answer.items() if name != "warnings"}
    if kind == "decide":
        free = {**answer, "events": _without_reasons(answer["events"])} if "events" in answer else answer
        codes = answer.get("codes")
        sets: JsonValue = sorted(map(str, codes)) if isinstance(codes, Sequence) else None
        return free if sets is None else {**free, "codes": sets}
    return answer


def _without_reasons(value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return {name: _without_reasons(each) for name, each in value.items() if name != "reason"}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_reasons(each) for each in value]
    return value


def _is_widened(before: JsonObject, after: JsonObject) -> bool:
    codes = before.get("codes"), after.get("codes")
    if not all(isinstance(each, Sequence) for each in codes):
        return False
    rest = [{name: value for name, value in each.items() if name != "codes"} for each in (before, after)]
    return equal(*rest) and set(codes[0] or ()) < set(codes[1] or ())  # type: ignore[arg-type]


def _is_only_the_kind(kind: str, old: JsonObject, new: JsonObject, before: JsonObject, after: JsonObject) -> bool:
    """Tell whether nothing but the kind of a refusal is another one, and either is right."""
    rest = [{name: value for name, value in each.items() if name != "kind"} for each in (before, after)]
    if not equal(*rest):
        return False
    if kind == "restore":
        return before.get("restored") is False
    return kind == "reduce" and {str(old.get("code")), str(new.get("code"))} <= OF_EITHER_KIND
