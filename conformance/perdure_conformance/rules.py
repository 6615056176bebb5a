"""What the tool decides, whatever it judges, in one frozen value: a mutant of the tool is `replace(RULES, …)`.

A profile that decides more, as the journal does, adds to it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from perdure_conformance import terms, verdict
from perdure_conformance.requirements import Requirement, requirements_of
from perdure_conformance.terms import Expected, Surprise
from perdure_conformance.verdict import Depth, Evidence, Verdict

Claims_contra = TypeVar("Claims_contra", contravariant=True)
AnyClaims = TypeVar("AnyClaims")


class IsClaimed(Protocol[Claims_contra]):
    """Whether a requirement is judged under these claims (TOL-009)."""

    def __call__(self, requirement: Requirement, claims: Claims_contra, *, in_process: bool) -> bool:
        """Tell whether the requirement is judged."""
        ...


class ExitCode(Protocol):
    """As `verdict.exit_code`."""

    def __call__(self, verdicts: Sequence[Verdict], depth: Depth, *, faulty: bool) -> int:
        """Return the exit code."""
        ...


Surprises = Callable[[Mapping[str, Expected], Mapping[str, Verdict], Mapping[str, object]], tuple[Surprise, ...]]
"""As `terms.surprises`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(Generic[AnyClaims]):
    """The decisions of the tool."""

    is_claimed: IsClaimed[AnyClaims]
    verdict_on: Callable[[Evidence], Verdict] = verdict.verdict_on
    exit_code: ExitCode = verdict.exit_code
    surprises: Surprises = terms.surprises
    in_grace: Callable[[Requirement, str | None, str], bool] = terms.in_grace
    same_failure: Callable[[str | None, str], bool] = operator.eq
    """Whether a smaller case fails in the way in which the larger one did (TOL-005)."""

    def claimed(self, pages: Collection[str], claims: AnyClaims, *, in_process: bool) -> list[Requirement]:
        """Return the requirements of these pages that the claims bring."""
        return [
            requirement
            for requirement in requirements_of(pages)
            if self.is_claimed(requirement, claims, in_process=in_process)
        ]
