"""What the tool decides about a journal, in one frozen value: a mutant of the tool is `replace(RULES, …)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from perdure.journal.contract import Capabilities
from perdure_conformance import rules
from perdure_conformance.journal.claims import is_claimed
from perdure_conformance.journal.clauses import CLAUSES, Clause


def first_broken(broken: list[str]) -> str:
    """Return the requirement to blame, of those that one answer breaks, in the order of the clauses (TOL-010)."""
    return broken[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(rules.Rules[Capabilities]):
    """The decisions of the tool, and those that it takes about journals."""

    clauses: tuple[Clause, ...] = tuple(CLAUSES)
    blame: Callable[[list[str]], str] = first_broken


RULES: Final = Rules(is_claimed=is_claimed)
