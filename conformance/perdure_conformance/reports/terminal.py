"""The terminal: what a check says to people. Colour goes when the output is piped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from perdure.kernel.values import JsonValue
from perdure_conformance.journal.profile import Judgement
from perdure_conformance.reports.failure import in_words
from perdure_conformance.reports.inert import inert
from perdure_conformance.reports.report import Report
from perdure_conformance.requirements import requirements
from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT, Verdict

_STYLES: Final[Mapping[Verdict, str]] = {
    "pass": "green",
    "fail": "bold red",
    "inconclusive": "yellow",
    "not_claimed": "dim",
    "not_reached": "yellow",
}


def show(console: Console, report: Report, judgement: Judgement, folders: Mapping[str, Path]) -> None:
    """Print the verdict on each requirement, each failure, and what it all adds up to."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("requirement", "verdict", "reached", ""):
        table.add_column(heading, justify="right" if heading == "reached" else "left", no_wrap=heading != "")
    for key, verdict in report.verdicts.items():
        reached = judgement.tally.reached[key]
        style = _STYLES[verdict]
        sentence = requirements()[key].sentence
        table.add_row(
            key, f"[{style}]{verdict}[/]", str(reached) if verdict != "not_claimed" else "", escape(_short(sentence))
        )
    if judgement.description is not None:
        console.print(table)
    for failure, finding in judgement.findings.items():
        console.print()
        console.print(f"[bold red]✗[/] {escape(in_words(finding, folders[failure]))}", soft_wrap=True, highlight=False)
    console.print()
    console.print(_last_words(report, judgement), soft_wrap=True, highlight=False)


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= 100 else sentence[:97].rsplit(" ", 1)[0] + " …"


def _last_words(report: Report, judgement: Judgement) -> str:
    document = report.document
    target = document["target"]
    assert isinstance(target, Mapping)
    name = escape(inert(f"{target['name']} {target['version']} ({_given(target['words'])})"))
    counts = {verdict: list(report.verdicts.values()).count(verdict) for verdict in _STYLES}
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    not_covered = document["not_covered"]
    assert isinstance(not_covered, list)
    lines = [f"{_outcome(report, judgement)}  {name}: {told or 'nothing was selected'}."]
    if report.exit_code == CONFORMANT:
        lines.append(f"Level: [bold]{document['level']}[/].")
    lines.append(f"Not covered: {escape('; '.join(str(line) for line in not_covered))}.")
    lines.append(
        f"{document['durable_operations']} operations made durable, seed {document['seed']}, depth {document['depth']}."
    )
    return "\n".join(lines)


def _given(words: JsonValue) -> str:
    """Return what the user gave to name the target."""
    assert isinstance(words, Mapping)
    command = words.get("command")
    return " ".join(str(word) for word in command) if isinstance(command, list) else str(words["name"])


def _outcome(report: Report, judgement: Judgement) -> str:
    match report.exit_code:
        case 0:
            return "[bold green]CONFORMANT[/]"
        case code if code == NOT_CONFORMANT:
            return "[bold red]NOT CONFORMANT[/]"
        case _:
            return f"[bold yellow]NO VERDICT[/] ({_reason(report, judgement)})"


def _reason(report: Report, judgement: Judgement) -> str:
    if judgement.fault is not None:
        return "the implementation, or its adapter, is at fault"
    verdicts = set(report.verdicts.values())
    if not verdicts - {"not_claimed"}:
        return "nothing that was selected is claimed: there was nothing to judge"
    if "inconclusive" in verdicts:
        return "some answers left everything open"
    return "a claimed requirement was not reached"
