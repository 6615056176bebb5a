"""Outcomes: what `--outcome` says of a node's attempts, and what an attempt gives of which nothing is said.

If nothing is said, everything succeeds. A declared output has the first value that an edge of its node asks for, and
otherwise the name of its node and its own.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from msgspec import UNSET, UnsetType

from perdure.kernel.events import ChildResult
from perdure.kernel.outcomes import MAX_INLINE_BYTES, ChangesRequested, Outcome, OutcomeKind, Succeeded, Unsuccessful
from perdure.kernel.plan import Plan
from perdure.kernel.predicates import FieldEquals
from perdure.kernel.specification import Specification
from perdure.kernel.values import JsonError, JsonObject, JsonValue, canonical_json, read_json
from perdure_conformance.histories.words import one_line
from perdure_conformance.simulation.inputs import WordsRefused

AttemptWord = Literal[
    "succeeded", "changes_requested", "retryable_failure", "permanent_failure", "blocked", "cancelled"
]
"""How a handler's attempt may end."""
Silence = Literal["hangs"]
"""An attempt that gives nothing, so that a deadline, a budget or a cancellation has to end it."""

OUTCOME_WORDS: Final[tuple[str, ...]] = (*get_args(AttemptWord), "hangs")
CHILD_WORDS: Final[tuple[str, ...]] = (*get_args(ChildResult), "hangs")

_REASON: Final = "the simulation says so"
_WORD: Final = re.compile(r"[a-z_]+")
_TIMES: Final = re.compile(r"\*([1-9][0-9]{0,5})?")


@dataclass(frozen=True, slots=True)
class Answer:
    """How one attempt ends: a word, and its output if one is given."""

    word: str
    output: JsonValue | UnsetType = UNSET


@dataclass(slots=True)
class _Series:
    """One answer, so many times, or for ever."""

    answer: Answer
    left: int | None


class Answers:
    """How attempts end, node by node: what was said, one after the other, and then success."""

    def __init__(self, series: Mapping[int, list[_Series]]) -> None:
        self._series = series

    def next(self, position: int, *, is_child: bool) -> Answer:
        """Return how the next attempt of a node ends."""
        series = self._series.get(position, [])
        while series and series[0].left == 0:
            del series[0]
        if not series:
            return Answer("completed" if is_child else "succeeded")
        first = series[0]
        first.left = None if first.left is None else first.left - 1
        return first.answer

    def unused(self) -> dict[int, int]:
        """Return how many answers were left over, by node; those for ever do not count."""
        left = {position: sum(one.left or 0 for one in series) for position, series in self._series.items()}
        return {position: count for position, count in left.items() if count}


def answers_of(words: Sequence[str], specification: Specification) -> Answers:
    """Read what `--outcome` says. Raises `WordsRefused`."""
    positions = {str(node.id): position for position, node in enumerate(specification.nodes)}
    series: dict[int, list[_Series]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise WordsRefused(
                f"--outcome {one_line(word, 60)} is not NODE=OUTCOME, as in --outcome review=changes_requested."
            )
        position = positions.get(name)
        if position is None:
            close = difflib.get_close_matches(name[:128], positions, n=1)
            hint = f"; did you mean {close[0]}?" if close else "."
            raise WordsRefused(f"--outcome: there is no node {one_line(name, 60)}{hint}")
        is_child = specification.nodes[position].child is not None
        series.setdefault(position, []).extend(_series(name, text, is_child=is_child))
    return Answers(series)


def _series(name: str, text: str, *, is_child: bool) -> list[_Series]:
    found: list[_Series] = []
    place = 0
    while True:
        word = _WORD.match(text, place)
        known = CHILD_WORDS if is_child else OUTCOME_WORDS
        if word is None or word[0] not in known:
            what = "a child run ends" if is_child else "an attempt ends"
            shown = one_line(text[place:], 60) or "nothing"
            raise WordsRefused(f"--outcome {name}: {shown} is no way in which {what}: say one of {', '.join(known)}.")
        place = word.end()
        output: JsonValue | UnsetType = UNSET
        if text[place : place + 1] == ":":
            output, place = _output(name, text, place + 1)
            _refuse_output_of(name, word[0], output, is_child=is_child)
        times = _TIMES.match(text, place)
        left: int | None = 1
        if times is not None:
            left = None if times[1] is None else int(times[1])
            place = times.end()
        found.append(_Series(Answer(word[0], output), left))
        if place == len(text):
            return found
        if text[place] != ",":
            told = f"--outcome {name}: after {word[0]} comes a comma, :JSON, * or the end, and not"
            raise WordsRefused(f"{told} {one_line(text[place:], 60)}.")
        place += 1


def _output(name: str, text: str, start: int) -> tuple[JsonValue, int]:
    """Return the JSON value that begins at a place, and where it ends."""
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
        return read_json(text[start:end]), end
    except (JsonError, ValueError, RecursionError) as error:
        shown = one_line(text[start:], 60)
        raise WordsRefused(f'--outcome {name}: {shown} is no JSON; an output is written as in {{"go":0}}.') from error


def _refuse_output_of(name: str, word: str, output: JsonValue, *, is_child: bool) -> None:
    if word == "hangs" or (not is_child and word not in {"succeeded", "changes_requested"}):
        raise WordsRefused(f"--outcome {name}: {word} has no output.")
    if is_child and not isinstance(output, Mapping):
        raise WordsRefused(f"--outcome {name}: the output of a child run is an object.")
    if len(canonical_json(output)) > MAX_INLINE_BYTES:
        raise WordsRefused(f"--outcome {name}: an output has at most {MAX_INLINE_BYTES:,} bytes.")


def outcome_of(plan: Plan, position: int, answer: Answer, reason: str = "") -> Outcome:
    """Return the outcome of a handler's attempt; what is said of its output is all of it."""
    output = declared_output(plan, position) or UNSET if answer.output is UNSET else answer.output
    match answer.word:
        case "succeeded":
            return Succeeded(kind="succeeded", output=output)
        case "changes_requested":
            return ChangesRequested(kind="changes_requested", reason=reason or _REASON, output=output)
        case word:
            kind: OutcomeKind = _UNSUCCESSFUL[word]
            assert kind != "succeeded"
            assert kind != "changes_requested"
            return Unsuccessful(kind=kind, reason=reason or _REASON)


_UNSUCCESSFUL: Final[Mapping[str, OutcomeKind]] = {
    "retryable_failure": "retryable_failure",
    "permanent_failure": "permanent_failure",
    "blocked": "blocked",
    "cancelled": "cancelled",
    "skipped": "skipped",
}

RESULTS: Final[Mapping[str, ChildResult]] = {
    "completed": "completed",
    "failed": "failed",
    "blocked": "blocked",
    "cancelled": "cancelled",
}


def declared_output(plan: Plan, position: int) -> JsonObject:
    """Return an output with all that a handler's node declares, and all that its edges ask for."""
    node, asked = plan.nodes[position], _asked(plan, position)
    return {**{field: asked.get(field, f"{node.id}.{field}") for field in node.outputs}, **asked}


def child_output(plan: Plan, position: int, answer: Answer) -> JsonObject:
    """Return the output of a child run: all that its node takes of it, if nothing else is said."""
    if isinstance(answer.output, Mapping):
        return answer.output
    child, asked = plan.nodes[position].child, _asked(plan, position)
    assert child is not None
    found: dict[str, JsonValue] = {}
    for name, wanted in child.outputs.items():
        found.setdefault(wanted, asked.get(name, f"{plan.nodes[position].id}.{name}"))
    return found


def _asked(plan: Plan, position: int) -> dict[str, JsonValue]:
    """Return the first value that an edge from a node asks for, of each field."""
    found: dict[str, JsonValue] = {}
    for edge in plan.leaving[position]:
        when = plan.edges[edge].when
        if isinstance(when, FieldEquals):
            found.setdefault(when.field, when.equals)
    return found
