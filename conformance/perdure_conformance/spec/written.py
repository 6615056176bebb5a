"""What the checks that somebody wrote ask about, in words: each document, and what a validator says of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from perdure_conformance.spec.cases import in_words
from perdure_conformance.spec.pairs import Pair, all_pairs
from perdure_conformance.spec.questions import Question, truth_about
from perdure_conformance.suite import WrittenCheck, begun_alike

_SHOWN: Final = 500
_BEFORE: Final = 150
"""How much is shown before the first difference where not all is shown."""


def checks() -> Mapping[str, WrittenCheck]:
    """Return every pair by its name."""
    return {pair.name: WrittenCheck((pair.requirement,), partial(_steps, pair)) for pair in all_pairs()}


def _steps(pair: Pair) -> list[str]:
    """Return both documents of a pair, each with what is right, shown around the place in which they differ."""
    documents = [each for each in (pair.rejected, pair.accepted) if each is not None]
    questions = [Question(document, pair.handlers) for document in documents]
    told = [in_words(question) for question in questions]
    differs_at = begun_alike([text for text, *_ in told]) if len(told) > 1 else 0
    lines = []
    for number, (question, (text, *handlers)) in enumerate(zip(questions, told, strict=True), 1):
        lines += [f"  {number}. {_around(text, differs_at)}", *(f"     {_around(line, 0)}" for line in handlers)]
        lines.append(f"     → {_around(_right(question), 0)}")
    return lines


def _around(text: str, place: int) -> str:
    start = min(max(0, place - _BEFORE), max(0, len(text) - _SHOWN))
    shown = text[start : start + _SHOWN]
    return ("…" if start else "") + shown + ("…" if start + _SHOWN < len(text) else "")


def _right(question: Question) -> str:
    """Return what the model says of a document."""
    truth = truth_about(question.document, question.handlers)
    told = [f"{each.code} at {each.pointer}" if each.pointer else each.code for each in truth.problems]
    if truth.valid:
        return f"valid, with a warning: {', '.join(told)}" if told else "valid"
    return f"refused: {', '.join(told)}"
