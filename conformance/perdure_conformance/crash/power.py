"""Layer 2: record once, cut the power in every way that a level allows, recover each state, judge what comes back.

Source: `docs/spec/crash.md`; "Layers, by value" of the crash design.
"""

from __future__ import annotations

import fnmatch
import itertools
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from perdure.journal.contract import Capabilities, DurabilityLevel
from perdure_conformance.crash.blame import blame
from perdure_conformance.crash.disk import Cut, Disk, Image
from perdure_conformance.crash.judge import (
    LEVELS,
    RULES,
    Broken,
    Exchange,
    Expectation,
    Recovered,
    Rule,
    broken,
    expected,
    requirement_of,
)
from perdure_conformance.crash.recovery import Recoverer, lay_out
from perdure_conformance.crash.replay import Failure
from perdure_conformance.crash.states import cuts, smaller
from perdure_conformance.crash.trace import Trace

DRAWS: Final = 400
"""How many power cuts are drawn at `posix-weak`, behind those that were thought of."""

_FEW: Final = 5
"""After so many wrong recoveries a level is known to be broken; broken code has thousands of them."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a journal did while a workload was sent to it."""

    trace: Trace
    exchanges: Sequence[Exchange]
    """Each request with its answer, in order: the first, `initialize`, was answered by the line with number 1."""
    claims: Capabilities
    syncs: Sequence[Failure] = ()
    """Each sync, as what would make it fail."""
    rebuildable: Sequence[str] = ()
    """Names of files that it makes anew whenever it likes, as patterns."""
    rebuilt: Mapping[str, bytes] = field(default_factory=dict)
    """What such files held at the end."""

    def before(self, answered: int) -> Sequence[Exchange]:
        """Return what was asked once so many lines were answered, with the next request on its way."""
        next_one = [replace(each, answer=None) for each in self.exchanges[answered : answered + 1]]
        return [*self.exchanges[:answered], *next_one]

    def after(self, answered: int) -> Expectation:
        """Return what may be there once so many lines were answered."""
        return expected(self.before(answered), self.claims)


@dataclass(frozen=True, slots=True)
class Finding:
    """One wrong recovery, as small as it could be made."""

    level: DurabilityLevel
    rule: Rule
    cut: Cut
    blame: str
    sentence: str
    """What is wrong with what came back."""
    answered: int
    """How many lines had been answered."""
    recovered: Recovered

    @property
    def requirement(self) -> str:
        """The requirement that is broken."""
        return requirement_of(self.level, self.rule)


@dataclass(slots=True)
class Judged:
    """What was learnt about one recording."""

    claims: Capabilities
    findings: dict[str, Finding] = field(default_factory=dict)
    """The first of each requirement."""
    states: Counter[DurabilityLevel] = field(default_factory=Counter)
    """How many states were recovered, by the level that allows them first."""
    levels: tuple[DurabilityLevel, ...] = LEVELS
    """The levels that were looked at."""
    kinds: dict[object, tuple[DurabilityLevel, Cut]] = field(default_factory=dict)
    """Of each kind, at the weakest level, the latest cut that is recovered from."""
    blind: tuple[str, ...] = ()
    """Why nothing can be said, if so."""
    seconds: float = 0.0

    def note(self, kind: object, level: DurabilityLevel, cut: Cut) -> None:
        """Note a cut that is recovered from."""
        known_level, known = self.kinds.get(kind, (level, Cut(0)))
        if known_level == level and cut.calls >= known.calls:
            self.kinds[kind] = level, cut

    @property
    def broken_level(self) -> DurabilityLevel | None:
        """The lowest level that does not hold; None if all that were looked at do."""
        found = {finding.level for finding in self.findings.values()}
        return next((level for level in self.levels if level in found), None)

    @property
    def highest_level(self) -> DurabilityLevel | None:
        """The highest level that holds; None if none does, or nothing can be said."""
        if self.blind:
            return None
        above = len(self.levels) if self.broken_level is None else self.levels.index(self.broken_level)
        return self.levels[above - 1] if above else None


_NUMBERS: Final = itertools.count(1)
"""Of states, for all benches: a state outlives its bench until its recoverer opens another."""


class Bench:
    """One recording before one recoverer: each state is judged once."""

    def __init__(self, recorded: Recorded, recoverer: Recoverer, folder: Path) -> None:
        self.disk = Disk(recorded.trace)
        self.claims = recorded.claims
        self._recorded = recorded
        self._recoverer = recoverer
        self._folder = folder
        self._expectations: dict[int, Expectation] = {}
        self._known: dict[object, tuple[Image, Recovered, Broken | None]] = {}
        self._recovered: dict[object, Recovered] = {}

    def judge(self, cut: Cut) -> tuple[Recovered, Broken | None]:
        """Return what comes back after a cut, and what is wrong with it."""
        return self.judge_new(cut) or self._known[self._key(cut, self.disk.image(cut))][1:]

    def left(self, cut: Cut) -> Image:
        """Return what a cut leaves that was judged; if some of it may be there or not, that which is to blame."""
        return self._known[self._key(cut, self.disk.image(cut))][0]

    def judge_new(self, cut: Cut) -> tuple[Recovered, Broken | None] | None:
        """Return the same, but None if the state that it leaves, and what must be there, was judged already."""
        image = self.disk.image(cut)
        key = self._key(cut, image)
        if key in self._known:
            return None
        expectation = self._expected(self.disk.answered(cut.calls))
        for each in self._ways(cut, image):
            found = self._recover(each, expectation)
            wrong = broken(expectation, found)
            if key not in self._known or wrong is not None:
                self._known[key] = each, found, wrong
            if wrong is not None:
                break
        return self._known[key][1:]

    def _ways(self, cut: Cut, image: Image) -> Iterator[Image]:
        """Yield what a cut leaves; then without the files that are made anew, with zeros in them, and with old ones."""
        yield image
        patterns = self._recorded.rebuildable
        held = {path for path in image.files if is_any_of(path, patterns)}
        later = {path: held for path, held in self._recorded.rebuilt.items() if _has_place(image, path)}
        if len(cut.fates) > 1 or not (held or later):
            return
        kept = {path: content for path, content in image.files.items() if path not in held}
        yield replace(image, files=kept)
        yield replace(image, files={**kept, **{path: bytes(len(image.files[path])) for path in held}})
        yield replace(image, files={**kept, **later})

    def _key(self, cut: Cut, image: Image) -> object:
        return image.key(), self.disk.answered(cut.calls)

    def _expected(self, answered: int) -> Expectation:
        if answered not in self._expectations:
            self._expectations[answered] = self._recorded.after(answered)
        return self._expectations[answered]

    def _recover(self, image: Image, expectation: Expectation) -> Recovered:
        """Recover a state; one of which the same was asked before gives the same."""
        key = image.key(), expectation.questions()
        if key not in self._recovered:
            folder = self._folder / f"state-{next(_NUMBERS)}"
            lay_out(image, folder)
            self._recovered[key] = self._recoverer.recovered(folder, expectation)
        return self._recovered[key]


def is_any_of(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether the name of a file is one of a pattern."""
    name = path.rpartition("/")[2]
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _has_place(image: Image, path: str) -> bool:
    folder = path.rpartition("/")[0]
    return not folder or folder in image.folders


def judge(
    bench: Bench,
    *,
    levels: Sequence[DurabilityLevel] = LEVELS,
    seed: int = 0,
    draws: int = DRAWS,
    rules: Collection[str] = RULES,
    progress: Callable[[str], None] = lambda _: None,
) -> Judged:
    """Judge a recording at each level, the weakest first."""
    began = time.monotonic()
    judged = Judged(bench.claims, levels=tuple(levels), blind=bench.disk.blind)
    for level in () if judged.blind else levels:
        progress(f"power, {level}")
        _judge_level(bench, judged, level, cuts(bench.disk, level, draws=draws, seed=seed), rules)
    judged.seconds = time.monotonic() - began
    return judged


def _judge_level(
    bench: Bench, judged: Judged, level: DurabilityLevel, tried: Iterable[Cut], rules: Collection[str]
) -> None:
    wrong = 0
    for cut in tried:
        found = bench.judge_new(cut)
        if found is None:
            continue
        judged.states[level] += 1
        _, problem = found
        if problem is None:
            judged.note(_kind(bench.disk, cut), level, cut)
        if problem is None or problem.rule not in rules:
            continue
        wrong += 1
        if requirement_of(level, problem.rule) not in judged.findings:
            finding = _smallest(bench, level, cut, problem.rule)
            judged.findings[finding.requirement] = finding
        if wrong >= _FEW:
            return


def _kind(disk: Disk, cut: Cut) -> object:
    """Return what cuts have in common: of which calls something is missing, and whether they are torn."""
    return frozenset((type(disk.operations[fate.call]), fate.torn is not None) for fate in cut.fates)


def _smallest(bench: Bench, level: DurabilityLevel, cut: Cut, rule: Rule) -> Finding:
    def fails(candidate: Cut) -> bool:
        _, problem = bench.judge(candidate)
        return problem is not None and problem.rule == rule

    return finding(bench, level, smaller(cut, bench.disk, level, fails))


def finding(bench: Bench, level: DurabilityLevel, cut: Cut) -> Finding:
    """Return what is wrong after a cut, which is broken. Raises `ValueError` if it is not."""
    recovered, problem = bench.judge(cut)
    if problem is None:
        raise ValueError("What comes back after this cut is right.")
    return Finding(
        level=level,
        rule=problem.rule,
        cut=cut,
        blame=blame(bench.disk, cut, problem.rule),
        sentence=problem.sentence,
        answered=bench.disk.answered(cut.calls),
        recovered=recovered,
    )
