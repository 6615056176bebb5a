"""Verdicts, and what they add up to, for every profile.

Source: `docs/spec/tool.md`; "Verdicts" of the conformance design.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["pass", "fail", "inconclusive", "not_claimed", "not_reached"]
Depth = Literal["quick", "normal", "deep"]

CONFORMANT, NOT_CONFORMANT, USAGE, NO_VERDICT, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that decides the verdict on one requirement."""

    claimed: bool
    broken: bool
    interrupted: bool
    """The judgement was cut short: an adapter fault, or answers that left everything open."""
    reached: int
    """How often its guard was reached."""


def verdict_on(evidence: Evidence) -> Verdict:
    """Return the verdict on one requirement (TOL-002, TOL-006)."""
    if not evidence.claimed:
        return "not_claimed"
    if evidence.broken:
        return "fail"
    if evidence.interrupted:
        return "inconclusive"
    return "pass" if evidence.reached else "not_reached"


def is_allowed(verdict: Verdict, depth: Depth) -> bool:
    """Return whether what is conformant may have this verdict on a requirement (TOL-002, TOL-006)."""
    return verdict in {"pass", "not_claimed"} or (verdict == "not_reached" and depth == "quick")


def exit_code(verdicts: Sequence[Verdict], depth: Depth, *, faulty: bool) -> int:
    """Return what the verdicts add up to (TOL-001, TOL-002, TOL-006)."""
    if "fail" in verdicts:
        return NOT_CONFORMANT
    if faulty or "pass" not in verdicts or not all(is_allowed(verdict, depth) for verdict in verdicts):
        return NO_VERDICT
    return CONFORMANT
