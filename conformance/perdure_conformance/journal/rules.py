"""What the tool itself decides, in one frozen value: a mutant of the tool is `replace(RULES, …)`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from perdure.journal.contract import Capabilities
from perdure_conformance import verdict
from perdure_conformance.journal.clauses import CLAUSES, Clause
from perdure_conformance.requirements import Requirement
from perdure_conformance.verdict import Depth, Evidence, Verdict


def is_claimed(requirement: Requirement, claims: Capabilities, *, in_process: bool) -> bool:
    """Tell whether a requirement is judged under these claims (TOL-009)."""
    match requirement.claim:
        case "core":
            return True
        case "unclaimed":
            return not (claims.snapshots and claims.leases)
        case "durable":
            return claims.durable is not None
        case "fencing":
            return claims.fencing and claims.leases
        case "read=linearizable":
            has_second_handle = claims.multi_handle if in_process else claims.multi_process
            return claims.read == "linearizable" and has_second_handle
        case "lease_clock=caller":
            return claims.leases and claims.lease_clock == "caller"
        case "multi_handle":
            return claims.multi_handle and in_process
        case flag:
            return bool(getattr(claims, flag))


def first_broken(broken: list[str]) -> str:
    """Return the requirement to blame, of those that one answer breaks, in the order of the clauses (TOL-010)."""
    return broken[0]


class IsClaimed(Protocol):
    """As `is_claimed`."""

    def __call__(self, requirement: Requirement, claims: Capabilities, *, in_process: bool) -> bool:
        """Tell whether the requirement is judged."""
        ...


class ExitCode(Protocol):
    """As `verdict.exit_code`."""

    def __call__(self, verdicts: Sequence[Verdict], depth: Depth, *, faulty: bool) -> int:
        """Return the exit code."""
        ...


@dataclass(frozen=True, slots=True)
class Rules:
    """The decisions of the tool."""

    clauses: tuple[Clause, ...] = tuple(CLAUSES)
    blame: Callable[[list[str]], str] = first_broken
    is_claimed: IsClaimed = is_claimed
    verdict_on: Callable[[Evidence], Verdict] = verdict.verdict_on
    exit_code: ExitCode = verdict.exit_code
    same_failure: Callable[[str | None, str], bool] = operator.eq
    """Whether a smaller case fails in the way in which the larger one did (TOL-005)."""


RULES = Rules()
