"""The terminal: what a check says to people. Colour goes when the output is piped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from perdure.kernel.values import JsonValue
from perdure_conformance.reports.failure import in_words, last_words, rerun_line
from perdure_conformance.reports.inert import inert
from perdure_conformance.reports.report import Report
from perdure_conformance.reports.telling import reason
from perdure_conformance.requirements import requirements
from perdure_conformance.suite import Finding, Judgement
from perdure_conformance.verdict import Verdict

_STYLES: Final[Mapping[Verdict, str]] = {
    "pass": "green",
    "fail": "bold red",
    "inconclusive": "yellow",
    "not_claimed": "dim",
    "not_reached": "yellow",
}

_BESIDE_A_SENTENCE: Final = 40
"""How wide the other columns are."""


def show(console: Console, report: Report, judgement: Judgement, folders: Mapping[str, Path]) -> None:
    """Print the verdict on each requirement, each failure, and what it all adds up to."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("requirement", "verdict", "reached", ""):
        table.add_column(heading, justify="right" if heading == "reached" else "left", no_wrap=True)
    for key, verdict in report.verdicts.items():
        reached = judgement.reached[key]
        style = _STYLES[verdict]
        why = judgement.inconclusive.get(key) if verdict == "inconclusive" else None
        excuse = report.excuses.get(key)
        reason = excuse.why if excuse else inert(why) if why else requirements()[key].sentence
        table.add_row(
            key,
            f"[yellow]{verdict}, {excuse.kind}[/]" if excuse else f"[{style}]{verdict}[/]",
            str(reached) if verdict != "not_claimed" else "",
            escape(_cut(reason, console.width - _BESIDE_A_SENTENCE)),
        )
    if judgement.description is not None:
        console.print(table)
    told: dict[str, str] = {}
    for failure, finding in judgement.findings.items():
        console.print()
        words = escape(_told_once(finding, folders[failure], told))
        console.print(f"[bold red]✗[/] {words}", soft_wrap=True, highlight=False)
    console.print()
    console.print(_last_words(report, judgement), soft_wrap=True, highlight=False)


def _told_once(finding: Finding, folder: Path, told: dict[str, str]) -> str:
    """Return a failure for people; what was told of an earlier one, by what `told` remembers, is not told again."""
    words = in_words(finding, folder)
    head, _, body = words.partition("\n")
    again = f"again     {rerun_line(folder)}"
    first = told.setdefault(body.replace(again, ""), finding.failure)
    if first != finding.failure:
        return f"{head}\n\nThe case, what was expected and what came are those of {first}, above.\n{again}"
    stderr = "\n".join(last_words(finding.stderr))
    source = told.setdefault(stderr, finding.failure) if stderr else finding.failure
    return words if source == finding.failure else words.replace(stderr, f"stderr    as of {source}, above")


def _cut(sentence: str, width: int) -> str:
    return sentence if len(sentence) <= width else sentence[: max(0, width - 1)] + "…"


def _last_words(report: Report, judgement: Judgement) -> str:
    document = report.document
    target = document["target"]
    assert isinstance(target, Mapping)
    given = _given(target["words"])
    opened = judgement.description is not None
    name = escape(inert(f"{target['name']} {target['version']} ({given})" if opened else f"{given} did not open"))
    by_verdict = {verdict: list(report.verdicts.values()).count(verdict) for verdict in _STYLES}
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in by_verdict.items() if count)
    not_covered = document["not_covered"]
    assert isinstance(not_covered, list)
    lines = [inert(surprise.sentence) for surprise in report.surprises]
    lines = [*map(escape, lines), f"{_outcome(report, judgement)}  {name}" + (f": {verdicts}." if opened else ".")]
    if report.outcome == "conformant":
        lines.append(f"Level: [bold]{document['level']}[/].")
    lines.append("Not covered:")
    lines += [f"  {escape(str(line))}" for line in not_covered]
    counts = [f"{number} {name.replace('_', ' ')}" for name, number in judgement.counts.items() if number]
    told = ", ".join([*counts, f"seed {document['seed']}", f"depth {document['depth']}"])
    lines.append(f"{told}.".capitalize())
    return "\n".join(lines)


def _given(words: JsonValue) -> str:
    """Return what the user gave to name the target."""
    assert isinstance(words, Mapping)
    command = words.get("command")
    return " ".join(str(word) for word in command) if isinstance(command, list) else str(words["name"])


def _outcome(report: Report, judgement: Judgement) -> str:
    match report.outcome:
        case "conformant":
            return "[bold green]CONFORMANT[/]"
        case "as_expected":
            return "[bold yellow]NOT CONFORMANT, AS EXPECTED[/]"
        case "as_pinned":
            return f"[bold yellow]CONFORMANT TO {report.document['pinned']}, NOT TO WHAT IS NEW[/]"
        case "not_conformant":
            return "[bold red]NOT CONFORMANT[/]"
        case "no_verdict":
            return f"[bold yellow]NO VERDICT[/] ({reason(report.verdicts.values(), faulty=bool(judgement.faults))})"
