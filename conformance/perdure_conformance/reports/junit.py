"""A report as JUnit XML, which every CI service reads. Its schema is `schemas/junit-1.xsd`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from xml.etree import ElementTree as ET

from perdure_conformance.reports import difference
from perdure_conformance.reports.telling import Line, Telling, Told, Tone

Kind = Literal["passed", "failure", "error", "skipped"]

SUITE_OF_THE_VERDICT: Final = "verdict"
"""The suite with one case, which is named as the verdict is."""


@dataclass(frozen=True, slots=True)
class _Case:
    suite: str
    name: str
    kind: Kind
    message: str = ""
    type: str = ""
    text: str = ""
    output: str = ""
    stderr: str = ""


def render(told: Telling) -> str:
    """Return the document: a suite for each prefix of requirements, a case for each requirement.

    The first case is the verdict itself, so that what has none is never a success (TOL-019). Nothing of it is taken
    from a clock: the times of the single cases are not known, and 0.
    """
    cases = [_verdict(told), *_surprises(told), *_requirements(told), *_faults(told)]
    name = f"perdure {told.headline.profile}"
    root = ET.Element("testsuites", _counted(name, cases, told.seconds))
    for suite in dict.fromkeys(case.suite for case in cases):
        inside = [case for case in cases if case.suite == suite]
        element = ET.SubElement(root, "testsuite", _counted(f"{name} {suite}", inside, 0))
        if suite == SUITE_OF_THE_VERDICT:
            properties = ET.SubElement(element, "properties")
            for fact, value in told.facts:
                ET.SubElement(properties, "property", {"name": fact, "value": value})
        for case in inside:
            _write(element, case, name)
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content.decode() + "\n"


def _counted(name: str, cases: Sequence[_Case], seconds: float) -> dict[str, str]:
    kinds = [case.kind for case in cases]
    return {
        "name": name,
        "tests": str(len(cases)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
        "time": f"{seconds:.3f}",
    }


def _write(suite: ET.Element, case: _Case, name: str) -> None:
    words = {"name": case.name, "classname": f"{name}.{case.suite}".replace(" ", "."), "time": "0"}
    element = ET.SubElement(suite, "testcase", words)
    if case.kind != "passed":
        message = {"message": case.message}
        kind = {} if case.kind == "skipped" else {"type": case.type}
        ET.SubElement(element, case.kind, {**message, **kind}).text = case.text or None
    for tag, text in (("system-out", case.output), ("system-err", case.stderr)):
        if text:
            ET.SubElement(element, tag).text = text


def _verdict(told: Telling) -> _Case:
    headline = told.headline
    kinds: Mapping[Tone, Kind] = {
        "good": "passed",
        "part": "passed",
        "known": "skipped",
        "open": "error",
        "bad": "failure",
    }
    return _Case(
        suite=SUITE_OF_THE_VERDICT,
        name=headline.words.lower(),
        kind=kinds[headline.tone],
        message=f"{headline.words}: {headline.level}",
        type=headline.words,
        output="\n".join(
            [
                f"{headline.words}: {told.counts_in_words}",
                f"level: {headline.level}",
                f"target: {headline.target} ({headline.given})",
                "not covered:",
                *(f"  {line}" for line in told.gaps),
            ]
        ),
    )


def _surprises(told: Telling) -> Iterator[_Case]:
    for number, surprise in enumerate(told.surprises, 1):
        yield _Case("expectations", f"expectation {number}", "failure", surprise, "not as expected")


def _requirements(told: Telling) -> Iterator[_Case]:
    failures = {failed.name: failed for failed in told.failures}
    for line in told.lines:
        failed = failures.get(line.id)
        kind, message = _kind(line)
        yield _Case(
            suite=line.id[:3],
            name=line.id,
            kind=kind,
            message=message,
            type=line.verdict,
            text=_in_words(failed) if failed is not None else "",
            output=line.sentence,
            stderr="\n".join(failed.stderr) if failed is not None else "",
        )


def _kind(line: Line) -> tuple[Kind, str]:
    match line.verdict:
        case "pass":
            return "passed", ""
        case "fail" if line.excuse is not None:
            return "skipped", f"broken, {line.excuse}: {line.why}"
        case "fail":
            return "failure", line.sentence
        case "not_claimed":
            return "skipped", "not claimed, so not judged"
        case "not_reached" if line.is_allowed:
            return "skipped", "not reached at this depth: nothing is shown"
        case "not_reached":
            return "error", "claimed, and nothing put it to the test: nothing is shown"
        case "inconclusive":
            return "error", line.why or "the judgement was cut short"


def _faults(told: Telling) -> Iterator[_Case]:
    for failed in told.failures:
        if failed.name.startswith("fault:"):
            yield _Case(
                suite="adapter",
                name=failed.name,
                kind="error",
                message=failed.sentence,
                type=failed.name,
                text=_in_words(failed),
                stderr="\n".join(failed.stderr),
            )


def _in_words(failed: Told) -> str:
    return "\n".join(_lines(failed))


def _lines(failed: Told) -> Iterator[str]:
    yield from filter(None, (failed.problem, failed.refers))
    yield from failed.steps
    if failed.expected is not None:
        yield f"expected {difference.text(failed.expected)}"
    if failed.actual is not None:
        yield f"actual {difference.text(failed.actual)}"
    yield from filter(None, (failed.how, failed.again))
