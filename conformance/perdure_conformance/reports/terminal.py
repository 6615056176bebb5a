"""The terminal: what a check says to people. Colour goes when the output is piped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from perdure_conformance.reports import telling
from perdure_conformance.reports.failure import in_words, last_words, refers_to, rerun_line
from perdure_conformance.reports.inert import inert
from perdure_conformance.reports.reading import Document
from perdure_conformance.reports.report import Report
from perdure_conformance.reports.telling import Tone
from perdure_conformance.suite import Finding, Judgement
from perdure_conformance.verdict import Verdict

_STYLES: Final[Mapping[Verdict, str]] = {
    "pass": "green",
    "fail": "bold red",
    "inconclusive": "yellow",
    "not_claimed": "dim",
    "not_reached": "yellow",
}

_COLOURS: Final[Mapping[Tone, str]] = {
    "good": "green",
    "part": "blue",
    "known": "yellow",
    "open": "yellow",
    "bad": "red",
}

_BESIDE_A_SENTENCE: Final = 40
"""How wide the other columns are."""


def show(console: Console, report: Report, judgement: Judgement, folders: Mapping[str, Path]) -> None:
    """Print the verdict on each requirement, each failure, and what it all adds up to."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("requirement", "verdict", "reached", ""):
        table.add_column(heading, justify="right" if heading == "reached" else "left", no_wrap=True)
    document = msgspec.convert(report.document, Document)
    for row in document.requirements:
        excuse = row.excuse
        reason = excuse.why if excuse else row.why or row.sentence
        table.add_row(
            row.id,
            f"[yellow]{row.verdict}, {excuse.kind}[/]" if excuse else f"[{_STYLES[row.verdict]}]{row.verdict}[/]",
            str(row.reached) if row.verdict != "not_claimed" else "",
            escape(_cut(reason, console.width - _BESIDE_A_SENTENCE)),
        )
    if judgement.description is not None:
        if document.fault is not None:
            cut_short = f"Not all could be judged to its end: {telling.why_inconclusive(document)}"
            console.print(f"[yellow]{escape(inert(cut_short))}[/]\n", soft_wrap=True, highlight=False)
        console.print(table)
    told: dict[str, str] = {}
    for failure, finding in judgement.findings.items():
        console.print()
        words = escape(_told_once(finding, folders[failure], told))
        console.print(f"[bold red]✗[/] {words}", soft_wrap=True, highlight=False)
    console.print()
    console.print(_last_words(document, report, judgement), soft_wrap=True, highlight=False)


def _told_once(finding: Finding, folder: Path, told: dict[str, str]) -> str:
    """Return a failure for people; what was told of an earlier one, by what `told` remembers, is not told again."""
    words = in_words(finding, folder)
    head, _, body = words.partition("\n")
    again = f"again     {rerun_line(folder)}"
    first = told.setdefault(body.replace(again, ""), finding.failure)
    if first != finding.failure:
        return f"{head}\n\n{refers_to(first)}\n{again}"
    stderr = "\n".join(last_words(finding.stderr))
    source = told.setdefault(stderr, finding.failure) if stderr else finding.failure
    return words if source == finding.failure else words.replace(stderr, f"stderr    as of {source}, above")


def _cut(sentence: str, width: int) -> str:
    return sentence if len(sentence) <= width else sentence[: max(0, width - 1)] + "…"


def _last_words(document: Document, report: Report, judgement: Judgement) -> str:
    """Return what it all adds up to, in the words of every other format, and laid out for a terminal."""
    headline = telling.headline(document)
    opened = judgement.description is not None
    name = f"{headline.target} ({headline.given})" if opened else f"{headline.given} did not open"
    by_verdict = {verdict: list(report.verdicts.values()).count(verdict) for verdict in _STYLES}
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in by_verdict.items() if count)
    outcome = f"[bold {_COLOURS[headline.tone]}]{escape(headline.words)}[/]"
    lines = [escape(inert(surprise.sentence)) for surprise in report.surprises]
    if headline.tone == "open":
        outcome += f" ({escape(headline.level)})"
    counted = "; ".join(filter(None, [verdicts if opened else "", telling.not_as_expected(document)]))
    lines.append(f"{outcome}  {escape(name)}" + (f": {counted}." if counted else "."))
    if headline.tone in {"good", "part"}:
        lines.append(f"{escape(headline.level_in_words)}.")
    lines.append("Not covered:")
    lines += [f"  {escape(line)}" for line in telling.not_covered(document)]
    counts = [f"{number} {name.replace('_', ' ')}" for name, number in judgement.counts.items() if number]
    told = ", ".join([*counts, f"seed {document.seed}", f"depth {document.depth}"])
    lines.append(f"{told}.".capitalize())
    return "\n".join(lines)
