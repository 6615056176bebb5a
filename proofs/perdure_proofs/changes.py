"""Deliberate changes: the faults of the reducer's own mutants that are a changed rule, and nothing else.

Nobody had a theorem in mind who wrote them. Whether one notices a change says how much of the rules the theorems hold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any as Untyped

from perdure.kernel.rules import RULES, Rules
from perdure_conformance.reducer import mutants  # noqa: F401 - they register themselves
from perdure_conformance.reducer.reference import ReferenceKernel
from perdure_proofs.proving import Counterexample, proved
from perdure_proofs.theorems import Claim, Theorem


def changes() -> Mapping[str, Rules]:
    """Return the rules with a fault, by the name of the mutant that has them."""
    return {
        mutant.__name__: rules
        for mutant in _subclasses(ReferenceKernel)
        if isinstance(rules := vars(mutant).get("rules"), Rules) and rules != RULES
    }


def _subclasses(of: type[ReferenceKernel]) -> Iterable[type[ReferenceKernel]]:
    for each in of.__subclasses__():
        yield each
        yield from _subclasses(each)


@dataclass(frozen=True, slots=True)
class Notice:
    """A theorem that does not hold for changed rules."""

    theorem: str
    case: Counterexample


def noticed(rules: Rules, theorems: Iterable[Theorem[Untyped]]) -> Notice | None:
    """Return a theorem that does not hold for changed rules, and for which values; None if all hold.

    Those are asked first whose own mutants change the same.
    """
    changed = changed_in(rules)
    for theorem in sorted(theorems, key=lambda each: not changed & tried_by(each)):
        subject = _with(theorem.subject, rules)
        for claim in theorem.claims if subject is not None else ():
            if changed & (tried_by(theorem) | _asked(theorem, claim)):
                counterexample = proved(claim, subject).counterexample
                if counterexample is not None:
                    return Notice(theorem.name, counterexample)
    return None


def _with(subject: object, rules: Rules) -> object:
    """Return what a theorem is about, with changed rules where it has rules; None if it has none."""
    if isinstance(subject, Rules):
        return rules
    assert dataclasses.is_dataclass(subject)
    assert not isinstance(subject, type)
    names = {each.name for each in dataclasses.fields(subject)}
    own: dict[str, object] = {
        name: rules if isinstance(getattr(subject, name), Rules) else getattr(rules, name)
        for name in names
        if isinstance(getattr(subject, name), Rules) or hasattr(rules, name)
    }
    return dataclasses.replace(subject, **own) if own else None


@cache
def tried_by(theorem: Theorem[Untyped]) -> frozenset[str]:
    """Return the names of the rules that a theorem's own mutants change."""
    return frozenset(name for mutant in theorem.mutants.values() for name in _differing(theorem.subject, mutant))


def _differing(subject: object, mutant: object) -> Iterator[str]:
    if isinstance(mutant, Rules):
        yield from changed_in(mutant)
    elif dataclasses.is_dataclass(mutant):
        for each in dataclasses.fields(mutant):
            one, other = getattr(subject, each.name), getattr(mutant, each.name)
            if isinstance(other, Rules):
                yield from changed_in(other)
            elif one is not other:
                yield each.name


@cache
def _asked(theorem: Theorem[Untyped], claim: Claim[Untyped]) -> frozenset[str]:
    return proved(claim, theorem.subject).asked


def changed_in(rules: Rules) -> frozenset[str]:
    """Return the names of the rules that are not those of the model."""
    names = [each.name for each in dataclasses.fields(Rules) if each.init]
    changed = {name for name in names if getattr(rules, name) != getattr(RULES, name)}
    return frozenset(changed | ({"moves"} if "node_table" in changed else set()))
