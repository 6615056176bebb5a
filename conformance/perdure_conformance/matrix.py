"""The kill matrix as a page, from what `perdure selftest PROFILE --json` tells.

perdure selftest journal --json | python -m perdure_conformance.matrix > docs/kill-matrix.md
perdure selftest crash --full --json | python -m perdure_conformance.matrix crash > docs/kill-matrix-crash.md
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


class _Crash(msgspec.Struct):
    name: str
    breaks: str
    fault: str
    blame: dict[str, str]
    seconds: float
    problems: list[str]


class _Survivor(msgspec.Struct):
    name: str
    oddity: str
    seeds: int
    states: int
    windows: int
    claimed: str
    problems: list[str]


class _Crashes(msgspec.Struct):
    mutants: list[_Crash]
    good: list[_Survivor]
    not_tried: list[str]


def page(name: str, document: bytes) -> str:
    """Return the kill matrix of a profile, or of crashes, as Markdown. Raises `msgspec.DecodeError`."""
    found = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    if name == "crash":
        return "\n".join(_of_crashes(msgspec.json.decode(found[name], type=_Crashes))) + "\n"
    return "\n".join(_lines(name, msgspec.json.decode(found[name], type=_Profile))) + "\n"


def _of_crashes(crashes: _Crashes) -> Iterator[str]:
    kills = sorted(crashes.mutants, key=lambda kill: (kill.breaks, kill.name))
    killed = sum(not kill.problems for kill in kills)
    passed = sum(not good.problems for good in crashes.good)
    yield "# Kill matrix: crash"
    yield ""
    yield "Written by `perdure selftest crash --full --json | python -m perdure_conformance.matrix crash`."
    yield ""
    yield f"- {killed} of {len(kills)} mutants are killed by name: each is found by its requirement in each layer that"
    yield "  is to find it; its smallest case names the guilty call or message, and plays again from line and folder."
    yield f"- {passed} of {len(crashes.good)} good ones are accused of nothing, in any seed."
    yield from (f"- Not tried: {each}" for each in crashes.not_tried)
    yield ""
    yield "| requirement | mutant | its fault | killed | s | layer | the guilty call or message |"
    yield "| --- | --- | --- | --- | --: | --- | --- |"
    for kill in kills:
        for layer, blame in kill.blame.items() or [("", "")]:
            word = "no" if kill.problems else "yes"
            yield _cells(kill.breaks, kill.name, kill.fault, word, f"{kill.seconds:.1f}", layer, blame)
    yield ""
    yield "| good journal | what is odd | passes | claims | seeds | states | windows |"
    yield "| --- | --- | --- | --- | --: | --: | --: |"
    for good in crashes.good:
        figures = (f"{good.seeds}", f"{good.states:,}", f"{good.windows:,}")
        yield _cells(good.name, good.oddity, "no" if good.problems else "yes", good.claimed, *figures)


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


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
    figures = (f"{kill.seconds:.2f}", f"{kill.size}")
    return _cells(kill.breaks, kill.name, fault, killed, *figures, kill.found_by, " ".join(kill.overlaps))


if __name__ == "__main__":
    sys.stdout.write(page((sys.argv[1:] or ["journal"])[0], sys.stdin.buffer.read()))
