"""What the gate found, in words and as workflow commands of GitHub."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from perdure_conformance.gate.changes import Change
from perdure_conformance.gate.comparison import Compared
from perdure_conformance.gate.replaying import Replays
from perdure_conformance.lint.document import name_of
from perdure_conformance.reports.commands import command

_MOST: Final = 10
"""GitHub shows so many errors of a step, and drops the others."""
_LINES: Final = 1_000


def in_words(found: Compared) -> Iterator[str]:
    """Yield lines: what breaks something, with what to do about it; then what does not."""
    breaking = [change for change in found.changes if change.is_breaking]
    others = found.changes[len(breaking) :]
    yield _headline(found, len(breaking), len(others))
    for change in breaking[:_LINES]:
        yield f"  breaking    {_place(change)}: {change.sentence}"
        yield f"              {change.code}: {change.rule.reason} (ADR-0032, {change.rule.source})"
        yield from (f"              referred to by {each}" for each in change.histories[:_MOST])
    for change in others[:_LINES]:
        yield f"  compatible  {_place(change)}: {change.sentence} ({change.code})"
    left = max(0, len(breaking) - _LINES) + max(0, len(others) - _LINES)
    if left:
        yield f"  … and {left:,} more: --json has them all"
    for names, told in (
        (found.skipped, "Not looked at"),
        (found.left_out, "Not compared, since they are no schemas, vectors or valid specifications"),
    ):
        if names:
            yield f"{told}: {', '.join(names[:5])}" + (" and others" if len(names) > 5 else "")


def _headline(found: Compared, breaking: int, others: int) -> str:
    counts = {"schema": found.schemas, "vector": found.vectors, "specification": found.specifications}
    compared = ", ".join(_counted(count, name) for name, count in counts.items() if count) or "nothing"
    histories = "" if found.histories is None else f", and {_counted(found.histories, 'history')} looked at"
    if breaking:
        return f"BREAKING  {_counted(breaking, 'change')} of {breaking + others}; compared: {compared}{histories}"
    if not found.changes and found.exit_code:
        return "NOTHING COMPARED  there is no schema, vector or valid specification in the earlier one"
    return f"COMPATIBLE  {_counted(others, 'change')}; compared: {compared}{histories}"


def _counted(count: int, name: str) -> str:
    plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"{count:,} {name if count == 1 else plural}"


def _place(change: Change) -> str:
    return f"{change.file} {change.pointer}".rstrip()


def replays_in_words(found: Replays) -> Iterator[str]:
    """Yield lines: each history that is not the same, with the record and why."""
    wrong = [each for each in found.histories if each.verdict != "same"]
    same = len(found.histories) - len(wrong)
    word = {0: "SAME", 1: "DIFFERENT"}.get(found.exit_code, "NO VERDICT")
    verb = "is" if len(found.histories) == 1 else "are"
    yield f"{word}  {same:,} of {_counted(len(found.histories), 'history')} {verb} the same on {found.target}"
    for each in wrong[:_LINES]:
        at = "" if each.sequence is None else f", record {each.sequence}"
        by = "" if each.requirement is None else f" ({each.requirement})"
        yield f"  {each.verdict.replace('_', ' ')}  {each.file}{at}: {each.sentence}{by}"
    if len(wrong) > _LINES:
        yield f"  … and {len(wrong) - _LINES:,} more: --json has them all"
    for told in found.not_covered:
        yield f"Not covered: {told}"


def as_commands(found: Compared, new: str, *, is_file: bool) -> Iterator[str]:
    """Yield an error of GitHub for each breaking change, as many as are shown there."""
    breaking = [change for change in found.changes if change.is_breaking]
    for change in breaking[:_MOST]:
        file = new if is_file else f"{new.rstrip('/')}/{change.file}"
        place = {"file": name_of(file), "title": f"breaking: {change.code}"}
        told = f"{change.pointer}: {change.sentence}. {change.rule.reason}"
        yield command("error", place, told.removeprefix(": "))
    if len(breaking) > _MOST:
        yield command("warning", {"title": "breaking"}, f"… and {len(breaking) - _MOST:,} more changes are breaking")
