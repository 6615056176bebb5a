"""Tools whose renderings of reports are wrong, each in one way."""

from __future__ import annotations

import html
import itertools
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from perdure.kernel.values import JsonObject, JsonValue
from perdure_conformance.reports import comparison, reading, rendering
from perdure_conformance.reports.reading import Document, ReadReport
from perdure_conformance.reports.rendering import FormatName
from perdure_conformance.reports.report import IN_PART
from perdure_conformance.tool.trial import Tool, ToolMutant


def _writing(form: FormatName, change: Callable[[str], str]) -> Tool:
    """Return a tool that writes one format otherwise."""

    def render(folder: Path, name: FormatName) -> str:
        told = rendering.rendered(folder, name)
        return change(told) if name == form else told

    return Tool(render=render)


def _reading(change: Callable[[ReadReport], ReadReport]) -> Tool:
    """Return a tool that understands reports otherwise."""
    return Tool(render=lambda folder, form: rendering.render(change(reading.read(folder)), form))


def _with_all_of_stderr(folder: Path, form: FormatName) -> str:
    told = rendering.rendered(folder, form)
    files = sorted(folder.glob("failures/*/stderr.txt"))
    words = "".join(html.escape(file.read_text("utf-8", "replace")) for file in files)
    return told.replace("</main>", f"<pre>{words}</pre></main>")


def _with_a_number(folder: Path, form: FormatName) -> str:
    return rendering.rendered(folder, form).replace("</main>", f"<p>rendering {next(_NUMBERS)}</p></main>")


_NUMBERS: Final = itertools.count(1)


def _through_links(folder: Path, form: FormatName) -> str:
    with TemporaryDirectory(prefix="perdure-") as place:
        shutil.copytree(folder, Path(place, "copy"))  # This copies what a link leads to.
        return rendering.rendered(Path(place, "copy"), form)


def _believing(folder: Path, form: FormatName) -> str:
    document = msgspec.convert(json.loads((folder / reading.REPORT).read_bytes()), Document)
    return rendering.render(ReadReport(document, ()), form)


def _without_gaps(report: ReadReport) -> ReadReport:
    return ReadReport(msgspec.structs.replace(report.document, not_covered=()), report.failures)


def _as_a_whole(report: ReadReport) -> ReadReport:
    level = report.document.level.replace(IN_PART, "Core")
    return ReadReport(msgspec.structs.replace(report.document, level=level), report.failures)


def _across_profiles(before: Path, after: Path) -> JsonObject:
    one, other = reading.read_document(before), reading.read_document(after)
    suite = msgspec.structs.replace(other.suite, profile=one.suite.profile)
    return comparison.document(comparison.compare(one, msgspec.structs.replace(other, suite=suite)))


def _saying(change: Callable[[dict[str, JsonValue]], JsonObject]) -> Tool:
    """Return a tool that says something else of what it found out when it compared."""
    return Tool(compare=lambda before, after: change(dict(comparison.compared(before, after))))


def _without_a_name(found: dict[str, JsonValue]) -> JsonObject:
    changes, worse = found["changes"], found["regressions"]
    assert isinstance(changes, Sequence)
    assert isinstance(worse, Sequence)
    changed = {each["id"] for each in changes if isinstance(each, dict)}
    return {**found, "regressions": [each if each in changed else "verdict" for each in worse]}


def _failures_alone(found: dict[str, JsonValue]) -> JsonObject:
    changes = found["changes"]
    assert isinstance(changes, Sequence)
    worse: list[JsonValue] = [each["id"] for each in changes if isinstance(each, dict) and each["after"] == "fail"]
    return {**found, "regressions": worse, "exit_code": int(bool(worse))}


MUTANTS: Final[tuple[ToolMutant, ...]] = (
    ToolMutant(
        "RendersMarkup",
        "TOL-017",
        "writes what it was told into a page as it is",
        _writing("html", html.unescape),
    ),
    ToolMutant(
        "QuotesNothing",
        "TOL-017",
        "writes what it was told into Markdown as it is",
        _writing("markdown", lambda told: re.sub(r"(?<!`)`(?!`)", "", told)),
    ),
    ToolMutant(
        "CommandsTheService",
        "TOL-017",
        "lets a line of a report be a command to whoever reads the log",
        _writing("junit", lambda told: told.replace(r"\x3a:", "::")),
    ),
    ToolMutant(
        "ShowsAllOfStderr", "TOL-017", "shows all that was written to standard error", Tool(render=_with_all_of_stderr)
    ),
    ToolMutant(
        "CutsInSilence",
        "TOL-017",
        "cuts long texts and does not say so",
        _writing("html", lambda told: re.sub(r"… \([^()]* left out\)", "", told)),
    ),
    ToolMutant("NumbersItsRenderings", "TOL-018", "says what the folder does not say", Tool(render=_with_a_number)),
    ToolMutant("FollowsLinks", "TOL-018", "reads what a link in the folder leads to", Tool(render=_through_links)),
    ToolMutant("BelievesEveryReport", "TOL-018", "takes a report's word for its exit code", Tool(render=_believing)),
    ToolMutant(
        "PaintsEveryBadgeGreen",
        "TOL-019",
        "gives a green badge to whatever was judged",
        _writing("badge", lambda told: re.sub(r'"color": "[a-z]+"', '"color": "brightgreen"', told)),
    ),
    ToolMutant(
        "SkipsWhatIsOpen",
        "TOL-019",
        "writes into JUnit XML that what is inconclusive was skipped",
        _writing("junit", lambda told: re.sub(r"<(/?)error", r"<\1skipped", told)),
    ),
    ToolMutant("LeavesOutGaps", "TOL-019", "does not say what is not covered", _reading(_without_gaps)),
    ToolMutant("TakesAPartForTheWhole", "TOL-019", "shows a part as if it were all", _reading(_as_a_whole)),
    ToolMutant(
        "PassesEveryPart",
        "TOL-019",
        "gives what was judged in part the name of the whole, in JUnit XML",
        _writing("junit", lambda told: told.replace("conformant in what was selected", "conformant")),
    ),
    ToolMutant(
        "NamesNothingButRequirements",
        "TOL-020",
        "does not name a new fault, nor what is not excused any more",
        _saying(_without_a_name),
    ),
    ToolMutant("ComparesAcrossProfiles", "TOL-020", "compares reports of two profiles", Tool(compare=_across_profiles)),
    ToolMutant(
        "CountsFailuresAlone",
        "TOL-020",
        "calls nothing a regression but a failure",
        _saying(_failures_alone),
    ),
    ToolMutant(
        "ForgetsTheTerms",
        "TOL-020",
        "does not say that reports were made otherwise",
        _saying(lambda found: {**found, "conditions": []}),
    ),
)
