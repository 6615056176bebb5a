"""A report as annotations of GitHub Actions: one for each broken requirement, and one for what is not covered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from perdure_conformance.reports.commands import command
from perdure_conformance.reports.telling import Telling

_MOST: Final = 10
"""GitHub shows so many errors of a step, and drops the others."""


def render(told: Telling) -> str:
    """Return the commands, a line each."""
    return "".join(f"{line}\n" for line in _commands(told))


def _commands(told: Telling) -> Iterator[str]:
    headline = told.headline
    of = f"{headline.target}, judged as a {headline.profile}"
    if headline.tone == "open":
        yield command("error", {"title": headline.words}, f"{of}: {headline.level}.")
    for surprise in told.surprises[:_MOST]:
        yield command("error", {"title": "An expected failure is not as expected"}, surprise)
    for line in [line for line in told.lines if line.excuse is not None][:_MOST]:
        yield command("warning", {"title": f"{line.id} is broken, {line.excuse}"}, f"{line.sentence}\n{line.why}")
    broken = [line for line in told.lines if line.verdict == "fail" and line.excuse is None]
    again = {failed.name: failed.again for failed in told.failures}
    shown = broken if len(broken) <= _MOST else broken[: _MOST - 1]
    for line in shown:
        rerun = f"\n{again[line.id]}" if again.get(line.id) else ""
        yield command("error", {"title": f"{line.id} is broken"}, f"{line.sentence}{rerun}")
    if len(shown) < len(broken):
        names = ", ".join(line.id for line in broken[len(shown) : 200])
        yield command("error", {"title": f"{len(broken) - len(shown)} more requirements are broken"}, names)
    gaps = "\n".join(told.gaps)
    title = f"{headline.words}: {told.counts_in_words}"
    yield command("notice", {"title": title}, f"{of}. {headline.level_in_words}. Not covered:\n{gaps}")
