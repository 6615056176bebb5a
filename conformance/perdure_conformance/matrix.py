"""The kill matrix as a page, from what `perdure selftest PROFILE --json` tells.

perdure selftest journal --json | python -m perdure_conformance.matrix > docs/kill-matrix.md
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Sequence

import msgspec


class _Kill(msgspec.Struct):
    name: str
    breaks: str
    overlaps: list[str]
    fault: str
    report: str
    seconds: float
    found_by: str
    size: int
    problems: list[str]


class _Good(msgspec.Struct):
    name: str
    problems: list[str]


class _Profile(msgspec.Struct):
    mutants: list[_Kill]
    good: list[_Good]
    unit: str
    median_size: float
    largest_size: int


def page(name: str, document: bytes) -> str:
    """Return the kill matrix of a profile as Markdown. Raises `msgspec.DecodeError`."""
    found = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    return "\n".join(_lines(name, msgspec.json.decode(found[name], type=_Profile))) + "\n"


def _lines(name: str, profile: _Profile) -> Iterator[str]:
    kills = sorted(profile.mutants, key=lambda kill: (kill.breaks, kill.name))
    killed = sum(not kill.problems for kill in kills)
    median_s = statistics.median(kill.seconds for kill in kills if kill.found_by)
    yield f"# Kill matrix: {name}"
    yield ""
    yield f"Written by `perdure selftest {name} --json | python -m perdure_conformance.matrix`."
    yield ""
    yield f"- {killed} of {len(kills)} mutants are killed by name: each is found by its requirement, and passes once"
    yield "  this requirement and what it also breaks are switched off."
    yield f"- Median time to kill: {median_s:.1f} s. Smallest cases: median {profile.median_size:g} {profile.unit},"
    yield f"  largest {profile.largest_size}."
    yield f"- Good ones that pass: {_named(profile.good)}."
    yield ""
    yield f"| requirement | mutant | its fault | killed | s | {profile.unit} | found by | also breaks |"
    yield "| --- | --- | --- | --- | --: | --: | --- | --- |"
    yield from map(_row, kills)


def _named(goods: Sequence[_Good]) -> str:
    return ", ".join(good.name for good in goods if not good.problems)


def _row(kill: _Kill) -> str:
    fault = f"{kill.fault} ({kill.report})" if kill.report else kill.fault
    killed = "no" if kill.problems else "yes"
    cells = (kill.breaks, kill.name, fault, killed, f"{kill.seconds:.2f}", f"{kill.size}", kill.found_by)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} | {' '.join(kill.overlaps)} |"


if __name__ == "__main__":
    sys.stdout.write(page("journal", sys.stdin.buffer.read()))
