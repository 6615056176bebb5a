"""What a report tells people, whatever the format: worded, made harmless and cut here, laid out by the formats.

A rendering is a function of this alone, and this is a function of a report's folder alone (TOL-018).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from perdure_conformance.reports import difference, failure
from perdure_conformance.reports.difference import Marked
from perdure_conformance.reports.inert import cut
from perdure_conformance.reports.picture import Picture, picture
from perdure_conformance.reports.reading import FAILURES_READ, Document, Failure, ReadReport
from perdure_conformance.reports.report import IN_PART, ExcuseKind
from perdure_conformance.suite import Case
from perdure_conformance.verdict import Verdict, is_allowed

VERDICTS: Final[tuple[Verdict, ...]] = ("pass", "fail", "inconclusive", "not_reached", "not_claimed")
_UNPROVED: Final[tuple[Verdict, ...]] = ("inconclusive", "not_reached", "not_claimed")

_NAME, _SENTENCE, _LINE = 200, 1_000, 2_000
"""How many characters are told of a name, of a sentence, and of a line of a case."""
_LINES_OF_A_CASE: Final = 120
_LINES_OF_STDERR: Final = 40
_NOT_COVERED: Final = 100

Tone = Literal["good", "part", "known", "open", "bad"]
"""All is well; as far as it was selected; broken as it is known to be; nothing can be said; something is broken."""


@dataclass(frozen=True, slots=True)
class Headline:
    """What it all adds up to."""

    tone: Tone
    words: str
    """The verdict: `CONFORMANT`, and so on."""
    level: str
    """The level that holds; without one, why there is none."""
    target: str
    """Name and version, as the implementation gives them."""
    given: str
    """What the user gave to name it."""
    profile: str

    @property
    def level_in_words(self) -> str:
        """The level that holds, called so, or why there is none."""
        return f"Level: {self.level}" if self.tone == "good" else f"{self.level[:1].upper()}{self.level[1:]}"


@dataclass(frozen=True, slots=True)
class Line:
    """The verdict on one requirement."""

    id: str
    sentence: str
    verdict: Verdict
    reached: int | None
    """How often; None where nobody asked."""
    why: str
    """Why nothing can be said, or why it does not count, if it is so."""
    excuse: ExcuseKind | None
    """What kind of excuse it has, if it is broken and does not count."""
    is_allowed: bool
    """Whether what is conformant may have this verdict."""

    @property
    def verdict_in_words(self) -> str:
        """The verdict, with spaces; of what does not count, also why."""
        told = self.verdict.replace("_", " ")
        return told if self.excuse is None else f"{told}, {self.excuse}"


@dataclass(frozen=True, slots=True)
class Told:
    """One failure."""

    name: str
    sentence: str
    steps: tuple[str, ...]
    expected: Marked | None
    actual: Marked | None
    picture: Picture | None
    how: str
    """How it was found, and how sure that is."""
    stderr: tuple[str, ...]
    again: str
    """The line that plays it again."""
    problem: str
    """Why there is no case to show."""
    same_as: str
    """An earlier failure with this very case; the case is told there."""

    @property
    def anchor(self) -> str:
        """Its name, as part of an address."""
        return failure.folder_name(self.name)

    @property
    def refers(self) -> str:
        """The sentence that stands for its case, where an earlier failure has this very case."""
        return failure.refers_to(self.same_as) if self.same_as else ""

    @property
    def refers_to_anchor(self) -> str:
        """That earlier one, as part of an address."""
        return failure.folder_name(self.same_as)


@dataclass(frozen=True, slots=True)
class Telling:
    """All that is told."""

    headline: Headline
    surprises: tuple[str, ...]
    """Which expected failures are not as they were expected, a sentence each."""
    counts: Mapping[Verdict, int]
    not_covered: tuple[str, ...]
    """What the report says nothing about, as it says itself."""
    unproved: Mapping[Verdict, tuple[str, ...]]
    """The requirements that were not put to the test, or without an end, by their verdict."""
    lines: tuple[Line, ...]
    failures: tuple[Told, ...]
    failures_left_out: int
    facts: tuple[tuple[str, str], ...]
    """What one needs to know to trust the report later, or to compare it."""
    seconds: float

    @property
    def gaps(self) -> tuple[str, ...]:
        """All that is not covered, a line each; never nothing (TOL-019)."""
        unproved = (f"{verdict.replace('_', ' ')}: {listed(names)}" for verdict, names in self.unproved.items())
        return (*self.not_covered, *unproved) or ("The report names nothing that it does not cover.",)

    @property
    def counts_in_words(self) -> str:
        """How many requirements have each verdict."""
        told = (f"{count} {verdict.replace('_', ' ')}" for verdict, count in self.counts.items() if count)
        return ", ".join(told) or "nothing was judged"


def tell(report: ReadReport) -> Telling:
    """Return what a report tells."""
    document = report.document
    verdicts = [row.verdict for row in document.requirements]
    return Telling(
        headline=headline(document),
        surprises=tuple(_in_one_line(each.sentence, _SENTENCE) for each in document.surprises),
        counts={verdict: verdicts.count(verdict) for verdict in VERDICTS},
        not_covered=tuple(not_covered(document)),
        unproved={
            verdict: names
            for verdict in _UNPROVED
            if (names := tuple(row.id for row in document.requirements if row.verdict == verdict))
        },
        lines=tuple(
            Line(
                row.id,
                cut(row.sentence, _SENTENCE),
                row.verdict,
                None if row.verdict == "not_claimed" else row.reached,
                _in_one_line(row.why if row.excuse is None else row.excuse.why, _SENTENCE),
                None if row.excuse is None else row.excuse.kind,
                is_allowed(row.verdict, document.depth),
            )
            for row in document.requirements
        ),
        failures=tuple(_told(report.failures[:FAILURES_READ])),
        failures_left_out=max(0, len(report.failures) - FAILURES_READ),
        facts=tuple((name, _in_one_line(value, _SENTENCE)) for name, value in _facts(document)),
        seconds=sum(document.durations.values()),
    )


def headline(document: Document) -> Headline:
    """Return what a report comes to, for people."""
    tone, words = _outcome(document)
    is_faulty = document.fault is not None
    levels: Mapping[Tone, str] = {
        "good": document.level,
        "part": document.level,
        "open": _reason(document.verdicts.values(), faulty=is_faulty),
        "known": "what is broken is known, and does not count",
        "bad": _what_is_bad(document),
    }
    return Headline(
        tone=tone,
        words=words,
        level=_in_one_line(levels[tone], _NAME),
        target=_in_one_line(f"{document.target.name} {document.target.version}", _NAME),
        given=_in_one_line(_given(document.target.words), _NAME),
        profile=_in_one_line(document.suite.profile, _NAME),
    )


def _what_is_bad(document: Document) -> str:
    broken = sum(row.verdict == "fail" and row.excuse is None for row in document.requirements)
    told = [
        f"{broken} {'requirement is' if broken == 1 else 'requirements are'} broken" if broken else "",
        not_as_expected(document),
    ]
    return ", ".join(filter(None, told))


def not_as_expected(document: Document) -> str:
    """Return how many expected failures are not as expected, in words, beside how many are; empty if all are."""
    count = len(document.surprises)
    as_expected = sum(row.excuse is not None and row.excuse.kind == "expected" for row in document.requirements)
    verb = "is" if count == 1 else "are"
    if not count:
        return ""
    if as_expected:
        return f"of {count + as_expected} expected failures, {count} {verb} not as expected"
    return f"{count} expected failure{'' if count == 1 else 's'} {verb} not as expected"


def _outcome(document: Document) -> tuple[Tone, str]:
    """Return what it comes to. Green is what is conformant and whole, and nothing else (TOL-019)."""
    match document.outcome:
        case "conformant":
            in_part = document.level == IN_PART
            return ("part", "CONFORMANT IN WHAT WAS SELECTED") if in_part else ("good", "CONFORMANT")
        case "as_expected":
            return "known", "NOT CONFORMANT, AS EXPECTED"
        case "as_pinned":
            return "known", f"CONFORMANT TO {document.pinned}, NOT TO WHAT IS NEW"
        case "not_conformant":
            return "bad", "NOT CONFORMANT"
        case "no_verdict":
            return "open", "NO VERDICT"


def tell_outcome(document: Document) -> str:
    """Return what a report comes to, in words, with the level if there is one."""
    tone, words = _outcome(document)
    return f"{words} ({_in_one_line(document.level, _NAME)})" if tone == "good" else words


def _reason(verdicts: Collection[Verdict], *, faulty: bool) -> str:
    """Return why there is no verdict."""
    if faulty:
        return "the implementation, or its adapter, is at fault"
    if not set(verdicts) - {"not_claimed"}:
        return "nothing that was selected is claimed: there was nothing to judge"
    if "inconclusive" in verdicts:
        return "some answers left everything open"
    if "not_reached" in verdicts:
        return "a claimed requirement was not reached"
    return "what is broken does not count, and nothing else was judged"


def _given(words: Mapping[str, str | list[str]]) -> str:
    given = next(iter(words.values()), "")
    return given if isinstance(given, str) else shlex.join(given)


def not_covered(document: Document) -> Iterator[str]:
    """Yield what the report says nothing about, in its words (TOL-019)."""
    for line in document.not_covered[:_NOT_COVERED]:
        yield _in_one_line(line, _SENTENCE)
    if len(document.not_covered) > _NOT_COVERED:
        yield f"and {len(document.not_covered) - _NOT_COVERED:,} more, which are left out"
    if document.fault is not None:
        what = "what is inconclusive" if "inconclusive" in document.verdicts.values() else "what went wrong"
        yield _in_one_line(f"{what}: {why_inconclusive(document)}", _SENTENCE)
    if document.level == IN_PART:
        yield "all that was not selected"
    if document.pinned is not None:
        yield f"pinned: judged by the requirements of {document.pinned}, and what is new does not count"


def why_inconclusive(document: Document) -> str:
    """Return what the adapter did, so that not all could be judged to its end; empty if it did nothing."""
    return "" if document.fault is None else f"fault:{document.fault.kind}, {document.fault.sentence}"


def listed(names: Sequence[str], most: int = 40) -> str:
    """Return names on one line; how many are left out is said."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _told(failures: Sequence[Failure]) -> Iterator[Told]:
    """Yield each failure; what has the case of an earlier one refers to it."""
    known: dict[object, str] = {}
    for each in failures:
        case = each.case
        if case is None:
            yield _without_case(each)
            continue
        found = each.found
        answers = found.answers if found is not None else ()
        steps = _few(case.in_words(answers, whole=True), _LINES_OF_A_CASE)
        key = (steps, json.dumps([case.expected, case.actual], sort_keys=True))
        first = known.setdefault(key, each.name)
        yield _with_case(each, case, steps) if first == each.name else _without_case(each, first)


def _without_case(failed: Failure, same_as: str = "") -> Told:
    return Told(
        name=failed.name,
        sentence=cut(failed.sentence, _SENTENCE),
        steps=(),
        expected=None,
        actual=None,
        picture=None,
        how="",
        stderr=(),
        again=_again(failed),
        problem=_in_one_line(failed.problem, _SENTENCE),
        same_as=same_as,
    )


def _with_case(failed: Failure, case: Case, steps: tuple[str, ...]) -> Told:
    found = failed.found
    assert found is not None
    is_fault = failed.name.startswith("fault:")
    expected, actual = difference.marked(case.expected, case.actual)
    how = f"found by {found.found_by}, seed {case.seed}; {failure.how_sure(case, reproduced=found.reproduced)}"
    return Told(
        name=failed.name,
        sentence=cut(failed.sentence, _SENTENCE),
        steps=steps,
        expected=None if is_fault else expected,
        actual=difference.plain(case.actual) if is_fault else actual,
        picture=picture(case.timeline(found.answers), is_known_to_fail=True),
        how=_in_one_line(how, _SENTENCE),
        stderr=_few(failed.stderr.splitlines(), _LINES_OF_STDERR, from_end=True),
        again=_again(failed),
        problem="",
        same_as="",
    )


def _again(failed: Failure) -> str:
    return failure.rerun_line(_in_one_line(failed.folder, _NAME)) if failed.folder else ""


def _few(lines: Sequence[str], most: int, *, from_end: bool = False) -> tuple[str, ...]:
    """Return lines made harmless: so many, and none too long; what is left out is said."""
    shown = lines[-most:] if from_end else lines[:most]
    told = [cut(line, _LINE) for line in shown]
    if len(lines) > most:
        note = f"… ({len(lines) - most:,} {'earlier' if from_end else 'more'} lines are left out)"
        told.insert(0 if from_end else most, note)
    return tuple(told)


def _in_one_line(text: str, most: int) -> str:
    """Return foreign text as one harmless line."""
    return cut(" ".join(text.split("\n")) if "\n" in text else text, most).replace("\t", " ")


def _facts(document: Document) -> Iterator[tuple[str, str]]:
    suite, target, machine = document.suite, document.target, document.machine
    yield "suite", f"{suite.name} {suite.version}, profile {suite.profile}"
    yield "requirements", document.requirements_digest
    if document.vectors_digest is not None:
        yield "golden vectors", document.vectors_digest
    yield "target", target.digest
    cores = f"{machine.cores} core{'s' if machine.cores > 1 else ''}"
    yield "machine", f"{machine.system} {machine.architecture}, Python {machine.python}, {cores}"
    yield "depth", f"{document.depth}, seed {document.seed}"
    yield "claims", json.dumps(document.capabilities, ensure_ascii=True, sort_keys=True)
    counts = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in document.counts.items() if number)
    if counts:
        yield "done", counts
