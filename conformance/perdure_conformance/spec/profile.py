"""The profile `spec`, as one value."""

from __future__ import annotations

from typing import Final

from perdure_conformance.spec import claims
from perdure_conformance.spec.cases import SpecCase, replay, shrink
from perdure_conformance.spec.contract import Capabilities
from perdure_conformance.spec.dispatch import VALIDATORS
from perdure_conformance.spec.judge import FOUND_BY, checks_of, judge
from perdure_conformance.spec.mutants import MUTANTS
from perdure_conformance.spec.rules import RULES
from perdure_conformance.spec.twins import TWINS
from perdure_conformance.spec.written import checks
from perdure_conformance.suite import Profile, Sizes

SPEC: Final = Profile(
    name="spec",
    pages=claims.PAGES,
    subjects=VALIDATORS,
    rules=RULES,
    nothing_claimed=Capabilities(),
    judge=judge,
    case=SpecCase,
    replay=replay,
    shrink=shrink,
    level=claims.level,
    not_covered=claims.not_covered,
    checks_of=checks_of,
    written=checks,
    meanings={**claims.MEANINGS, **FOUND_BY},
    mutants=MUTANTS,
    twins=TWINS,
    steps="documents",
    sizes=Sizes(unit="values", largest=110, median=20),
    written_stands_alone=True,
)
