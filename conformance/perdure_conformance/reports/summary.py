"""A report as Markdown, for the summary of a job or a comment.

Foreign text is a sentence of plain words, or it is code, in which nothing is rendered (TOL-017).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from perdure_conformance.reports import difference
from perdure_conformance.reports.page import SIGNS
from perdure_conformance.reports.telling import Telling, Told

_FAILURES: Final = 10
MOST_BYTES: Final = 900_000
"""GitHub refuses a summary of more than 1 MiB: failures are told as long as the whole is no longer than this."""

_LINES_COMPARED: Final = 150
"""Where there are more, all of one stand before all of the other."""

_WORD: Final = re.compile(r"(?P<word>.*?)(?P<after>[,.:;?!)]*)", re.DOTALL)
_PLAIN: Final = re.compile(r"[(]?[A-Za-z0-9−]+(?:['’=+_-]+[A-Za-z0-9]+)*|[(]?\"[A-Za-z0-9]+\"|…|–|")
_NUMBER_OF_A_LIST: Final = re.compile(r"[0-9]+[.)]+")
_FENCES: Final = re.compile(r"`+")


def render(told: Telling) -> str:
    """Return the summary."""
    return "".join(f"{line}\n" for line in _lines(told))


def _lines(told: Telling) -> Iterator[str]:
    head, rest = list(_head(told)), list(_rest(told))
    left_bytes = MOST_BYTES - _size_bytes(head) - _size_bytes(rest)
    shown = 0
    yield from head
    for failed in told.failures[:_FAILURES]:
        lines = list(_failure(failed))
        left_bytes -= _size_bytes(lines)
        if left_bytes < 0:
            break
        shown += 1
        yield from lines
    left_out = len(told.failures) - shown + told.failures_left_out
    if left_out:
        more = "more failure is" if left_out == 1 else "more failures are"
        yield f"{left_out:,} {more} left out here; the folder of each stands beside report.json."
        yield ""
    yield from rest


def _size_bytes(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _head(told: Telling) -> Iterator[str]:
    headline = told.headline
    yield f"## {SIGNS[headline.tone]} {headline.words}"
    yield ""
    yield f"**{prose(headline.level_in_words)}.** {code(headline.target)}, judged as a {headline.profile}"
    yield f"({code(headline.given)}): {told.counts_in_words}."
    yield ""
    for surprise in told.surprises:
        yield f"- {prose(surprise)}"
    if told.surprises:
        yield ""
    yield "Not covered:"
    yield ""
    for line in told.gaps:
        yield f"- {prose(line)}"
    yield ""


def _rest(told: Telling) -> Iterator[str]:
    yield "<details><summary>All requirements</summary>"
    yield ""
    yield "| requirement | verdict | reached | what it demands |"
    yield "| --- | --- | ---: | --- |"
    for row in told.lines:
        reached = "" if row.reached is None else row.reached
        why = f" – {prose(row.why)}" if row.why else ""
        yield f"| {row.id} | {row.verdict_in_words} | {reached} | {prose(row.sentence)}{why} |"
    yield ""
    yield "</details>"
    yield ""
    for name, value in told.facts:
        yield f"- {name}: {code(value)}"


def _failure(failed: Told) -> Iterator[str]:
    yield f"### {failed.name}"
    yield ""
    yield f"{failed.name}: {prose(failed.sentence)}"
    yield ""
    if failed.problem:
        yield f"There is no case to show: {prose(failed.problem)}"
        yield ""
    if failed.refers:
        yield failed.refers
        yield ""
    for language, lines in _blocks(failed):
        if lines:
            yield from _fenced(lines, language)
            yield ""
    if failed.how:
        yield f"{failed.name}: {prose(failed.how)}."
        yield ""
    if failed.again:
        yield f"Again: {code(failed.again)}"
        yield ""


def _blocks(failed: Told) -> Iterator[tuple[str, Sequence[str]]]:
    yield "", failed.steps
    if failed.actual is not None:
        if failed.expected is None:
            yield "", [difference.text(failed.actual)]
        else:
            yield "diff", _difference(difference.text(failed.expected), difference.text(failed.actual))
    yield "", [f"stderr    {line}" for line in failed.stderr]


def _difference(expected: str, actual: str) -> list[str]:
    """Return what was expected and what came, line by line; what is the same stands once."""
    one, other = expected.split("\n"), actual.split("\n")
    if max(len(one), len(other)) > _LINES_COMPARED:
        return [*(f"- {line}" for line in one), *(f"+ {line}" for line in other)]
    found = []
    for kind, start, end, other_start, other_end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        signs = ("  ", None) if kind == "equal" else ("- ", "+ ")
        found += [f"{signs[0]}{line}" for line in one[start:end]]
        found += [f"{signs[1]}{line}" for line in other[other_start:other_end] if signs[1] is not None]
    return found


def _fenced(lines: Sequence[str], language: str) -> Iterator[str]:
    """Yield a block that nothing in it can end."""
    fence = "`" * max(3, _longest("\n".join(lines)) + 1)
    yield f"{fence}{language}"
    yield from lines
    yield fence


def code(text: str) -> str:
    """Return foreign text as code, which nothing in it can end; it may stand in a cell of a table."""
    harmless = text.replace("\n", " ").replace("|", r"\x7c")
    if not harmless.strip():
        return "(nothing)"
    fence = "`" * (_longest(harmless) + 1)
    return f"{fence} {harmless} {fence}" if harmless[0] in "` " or harmless[-1] in "` " else f"{fence}{harmless}{fence}"


def prose(text: str) -> str:
    """Return foreign text as a sentence: what stands in backticks, and each word that is not plain, is code."""
    parts = text.replace("\n", " ").split("`")
    if len(parts) % 2 == 0:
        return code(text)
    return "".join(code(part) if number % 2 else _words(part, is_first=not number) for number, part in enumerate(parts))


def _words(text: str, *, is_first: bool) -> str:
    first, *others = text.split(" ")
    is_a_number = is_first and _NUMBER_OF_A_LIST.fullmatch(first)
    return " ".join([code(first) if is_a_number else _word(first), *map(_word, others)])


def _word(text: str) -> str:
    """Return a word as it is if it is plain, else as code but for what ends it."""
    found = _WORD.fullmatch(text)
    assert found is not None
    return text if _PLAIN.fullmatch(found["word"]) else code(found["word"]) + found["after"]


def _longest(text: str) -> int:
    return max(map(len, _FENCES.findall(text)), default=0)
