"""A report as annotations of GitHub Actions: one for each broken requirement, and one for what is not covered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from perdure_conformance.reports.commands import Level, command
from perdure_conformance.reports.telling import Telling, listed

_MOST: Final = 10
"""GitHub shows so many errors of a step, and so many warnings, and drops the others."""


@dataclass(frozen=True, slots=True)
class _Entry:
    title: str
    sentence: str


def render(told: Telling) -> str:
    """Return the commands, a line each."""
    return "".join(f"{line}\n" for line in _commands(told))


def _commands(told: Telling) -> Iterator[str]:
    headline = told.headline
    yield from _few("error", tuple(_errors(told)))
    excused = [line for line in told.lines if line.excuse is not None]
    yield from _few(
        "warning",
        [_Entry(f"{line.id} is broken, {line.excuse}", f"{line.sentence}\n{line.why}") for line in excused],
    )
    gaps = "\n".join(told.gaps)
    title = f"{headline.words}: {told.counts_in_words}"
    yield command("notice", {"title": title}, f"{_of(told)}. {headline.level_in_words}. Not covered:\n{gaps}")


def _errors(told: Telling) -> Iterator[_Entry]:
    if told.headline.tone == "open":
        yield _Entry(told.headline.words, f"{_of(told)}: {told.headline.level}.")
    for surprise in told.surprises:
        yield _Entry("An expected failure is not as expected", surprise)
    again = {failed.name: failed.again for failed in told.failures}
    for line in told.lines:
        if line.verdict == "fail" and line.excuse is None:
            rerun = f"\n{again[line.id]}" if again.get(line.id) else ""
            yield _Entry(f"{line.id} is broken", f"{line.sentence}{rerun}")


def _few(level: Level, entries: Sequence[_Entry]) -> Iterator[str]:
    """Yield a command for each entry; of more than are shown, the last names those that are left out."""
    shown = entries if len(entries) <= _MOST else entries[: _MOST - 1]
    for entry in shown:
        yield command(level, {"title": entry.title}, entry.sentence)
    left_out = entries[len(shown) :]
    if left_out:
        names = listed([entry.title for entry in left_out])
        yield command(level, {"title": f"{len(left_out):,} more {level}s are left out"}, names)


def _of(told: Telling) -> str:
    return f"{told.headline.target}, judged as a {told.headline.profile}"
