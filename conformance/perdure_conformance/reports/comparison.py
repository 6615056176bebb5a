"""Two reports of one profile compared: what changed, what is covered now, and what else was different.

Its JSON form has the schema `schemas/report-diff-1.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from perdure.kernel.values import JsonObject
from perdure_conformance.reports.inert import cut
from perdure_conformance.reports.reading import Document, ReportRefused, read_document
from perdure_conformance.reports.report import IN_PART
from perdure_conformance.reports.telling import listed, tell_outcome
from perdure_conformance.verdict import CONFORMANT, NOT_CONFORMANT, Verdict

DIFF_VERSION: Final = 1

Way = Literal["worse", "better", "neither"]
"""A regression; a requirement that is kept now; something else, such as a claim that was dropped."""

_TEXT: Final = 300
_LINES: Final = 100


@dataclass(frozen=True, slots=True)
class Change:
    """A requirement that has another verdict; None where a report does not name it."""

    id: str
    before: Verdict | None
    after: Verdict | None
    way: Way


@dataclass(frozen=True, slots=True)
class Condition:
    """Something else in which two reports differ, so that a change may come from it."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from one report to another."""

    before: Document
    after: Document
    changes: tuple[Change, ...]
    newly_covered: tuple[str, ...]
    no_longer_covered: tuple[str, ...]
    gaps_opened: tuple[str, ...]
    """What the second report names as not covered, and the first does not."""
    gaps_closed: tuple[str, ...]
    conditions: tuple[Condition, ...]

    @property
    def regressions(self) -> tuple[str, ...]:
        """What is worse, a word each (TOL-020).

        Requirements; faults that are new; what was excused and counts now; what is not as expected any more; and the
        verdict itself where it has no other reason.
        """
        worse = [change.id for change in self.changes if change.way == "worse"]
        worse += [self.new_fault] if self.new_fault else []
        if self.is_lost:
            worse += [*self.excuses_gone, *self.new_surprises]
        return tuple(dict.fromkeys(worse)) or (("verdict",) if self.is_lost else ())

    @property
    def is_lost(self) -> bool:
        """Whether the first report is conformant, and the second is not."""
        return self.before.exit_code == CONFORMANT != self.after.exit_code

    @property
    def new_fault(self) -> str:
        """The fault of the adapter that the first report does not have; empty if there is none."""
        fault = self.after.fault
        return "" if fault is None or self.before.fault is not None else f"fault:{fault.kind}"

    @property
    def excuses_gone(self) -> tuple[str, ...]:
        """What is broken in both reports, and counts in the second alone."""
        excused = {row.id for row in self.before.requirements if row.excuse is not None}
        counts = (row.id for row in self.after.requirements if row.verdict == "fail" and row.excuse is None)
        return tuple(identity for identity in counts if identity in excused)

    @property
    def new_surprises(self) -> tuple[str, ...]:
        """Expected failures that are not as they were expected, in the second report alone."""
        known = {each.id for each in self.before.surprises}
        return tuple(each.id for each in self.after.surprises if each.id not in known)

    @property
    def exit_code(self) -> int:
        """0 without regressions, 1 with some."""
        return NOT_CONFORMANT if self.regressions else CONFORMANT


def compare(before: Document, after: Document) -> Comparison:
    """Compare two reports. Raises `ReportRefused` if they judge by different profiles (TOL-020)."""
    if before.suite.profile != after.suite.profile:
        one, other = (cut(each.suite.profile, _TEXT) for each in (before, after))
        raise ReportRefused(f"One report judges as a {one}, and the other as a {other}: give two of one profile.")
    ids = list(dict.fromkeys([*before.verdicts, *after.verdicts]))
    pairs = [(identity, before.verdicts.get(identity), after.verdicts.get(identity)) for identity in ids]
    return Comparison(
        before=before,
        after=after,
        changes=tuple(Change(key, one, other, way(one, other)) for key, one, other in pairs if one != other),
        newly_covered=tuple(key for key, one, other in pairs if _is_covered(other) and not _is_covered(one)),
        no_longer_covered=tuple(key for key, one, other in pairs if _is_covered(one) and not _is_covered(other)),
        gaps_opened=_beyond(after.not_covered, before.not_covered),
        gaps_closed=_beyond(before.not_covered, after.not_covered),
        conditions=tuple(_conditions(before, after)),
    )


def compared(before: Path, after: Path) -> JsonObject:
    """Compare the reports in two folders, and return what `perdure diff --json` prints. Raises `ReportRefused`."""
    return document(compare(read_document(before), read_document(after)))


def way(before: Verdict | None, after: Verdict | None) -> Way:
    """Return whether a change is one for the worse: what passed does not, or what did not fail does (TOL-020)."""
    if before == "pass" or (after == "fail" and before != "fail"):
        return "worse"
    return "better" if after == "pass" else "neither"


def _is_covered(verdict: Verdict | None) -> bool:
    return verdict in {"pass", "fail"}


def _beyond(lines: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    found = [line for line in lines if line not in others]
    more = [f"and {len(found) - _LINES:,} more, which are left out"] if len(found) > _LINES else []
    return (*(cut(line, _TEXT) for line in found[:_LINES]), *more)


def _conditions(before: Document, after: Document) -> Iterator[Condition]:
    for what, one in terms(before).items():
        other = terms(after)[what]
        if one != other:
            yield Condition(what, cut(one, _TEXT), cut(other, _TEXT))


def terms(document: Document) -> Mapping[str, str]:
    """Return all that must be the same if nothing but the implementation is to be compared, and how that is known."""
    return {
        "suite version": document.suite.version,
        "requirements digest": document.requirements_digest,
        "vectors digest": document.vectors_digest or "none",
        "target": f"{document.target.name} {document.target.version}",
        "target digest": document.target.digest,
        "claims": _claims(document),
        "selection": "a part" if document.level == IN_PART else "everything",
        "depth": document.depth,
        "seed": str(document.seed),
        "pinned": document.pinned or "nothing",
    }


def _claims(document: Document) -> str:
    """Return what is claimed, in words."""
    claimed = (name if value is True else f"{name}={value}" for name, value in document.capabilities.items() if value)
    return ", ".join(claimed) or "nothing"


def document(found: Comparison) -> JsonObject:
    """Return the comparison as JSON."""
    return {
        "report_diff_version": DIFF_VERSION,
        "profile": found.after.suite.profile,
        "exit_code": found.exit_code,
        "regressions": list(found.regressions),
        "outcome": {"before": found.before.outcome, "after": found.after.outcome},
        "exit_codes": {"before": found.before.exit_code, "after": found.after.exit_code},
        "level": {"before": cut(found.before.level, _TEXT), "after": cut(found.after.level, _TEXT)},
        "changes": [
            {"id": change.id, "before": change.before, "after": change.after, "way": change.way}
            for change in found.changes
        ],
        "newly_covered": list(found.newly_covered),
        "no_longer_covered": list(found.no_longer_covered),
        "not_covered": {"opened": list(found.gaps_opened), "closed": list(found.gaps_closed)},
        "conditions": [{"what": each.what, "before": each.before, "after": each.after} for each in found.conditions],
    }


def in_words(found: Comparison) -> list[str]:
    """Return the comparison for people: each requirement once, in a list if it is in one report alone and no worse."""
    unselected, in_one_alone = _unselected(found), _in_one_alone(found)
    together = {*unselected, *in_one_alone, *_of_no_account(found)}
    regressions = set(found.regressions)
    count = len(regressions)
    worse = f"{count} REGRESSION{'S' if count > 1 else ''}" if count else "NO REGRESSION"
    lines = [f"{worse}  {tell_outcome(found.before)} before, {tell_outcome(found.after)} after"]
    for heading, wanted in (("worse", "worse"), ("better", "better"), ("changed", "neither")):
        lines += [
            f"  {heading:<8} {change.id}  {_told(change.before)} → {_told(change.after)}"
            for change in found.changes
            if change.way == wanted and change.id not in together and (change.id in regressions) == (wanted == "worse")
        ]
    if unselected:
        lines.append(
            f"  worse    passed, and the second report did not select it: {listed(unselected)}. "
            "Compare it with one of the same selection, or select everything."
        )
    lines += [f"  worse    {name}  {why}" for name, why in _reasons(found) if name in found.regressions]
    lists = {
        "newly covered": [name for name in found.newly_covered if name in in_one_alone],
        "no longer covered": [name for name in found.no_longer_covered if name in in_one_alone],
        "not covered, by the second alone": found.gaps_opened,
        "not covered, by the first alone": found.gaps_closed,
    }
    lines += [f"  {heading}: {', '.join(names)}" for heading, names in lists.items() if names]
    lines += [f"  other {each.what}: {each.before} → {each.after}" for each in found.conditions]
    return lines


def _unselected(found: Comparison) -> list[str]:
    """Return what passed, and is not named by the second report since only a part was selected for it."""
    if found.after.level != IN_PART:
        return []
    return [change.id for change in found.changes if change.way == "worse" and change.after is None]


def _of_no_account(found: Comparison) -> Iterator[str]:
    """Yield what one report does not claim, and the other does not name: a part was selected for it."""
    if IN_PART in {found.before.level, found.after.level}:
        yield from (each.id for each in found.changes if {each.before, each.after} == {None, "not_claimed"})


def _in_one_alone(found: Comparison) -> frozenset[str]:
    """Return what one report covers and the other does not name, without being worse for it."""
    covered = {*found.newly_covered, *found.no_longer_covered}
    alone = (each for each in found.changes if None in {each.before, each.after} and each.way != "worse")
    return frozenset(each.id for each in alone if each.id in covered)


def _reasons(found: Comparison) -> Iterator[tuple[str, str]]:
    """Yield what is worse beside requirements that have another verdict, and why."""
    before, after = found.before, found.after
    if after.fault is not None:
        yield f"fault:{after.fault.kind}", cut(after.fault.sentence, _TEXT)
    for identity in found.excuses_gone:
        yield identity, "fail, and did not count → fail, and counts"
    for each in after.surprises:
        if each.id in found.new_surprises:
            yield each.id, cut(each.sentence, _TEXT)
    yield "verdict", f"exit code {before.exit_code} → {after.exit_code}"


def _told(verdict: Verdict | None) -> str:
    return "not judged" if verdict is None else verdict
