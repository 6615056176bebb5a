"""The profile `reducer`, as one value."""

from __future__ import annotations

from typing import Final

from perdure_conformance.reducer import claims
from perdure_conformance.reducer.cases import ReducerCase, replay, shrink
from perdure_conformance.reducer.contract import Capabilities
from perdure_conformance.reducer.dispatch import KERNELS
from perdure_conformance.reducer.golden import golden_digest
from perdure_conformance.reducer.judge import FOUND_BY, checks_of, judge
from perdure_conformance.reducer.mutants import MUTANTS
from perdure_conformance.reducer.rules import RULES
from perdure_conformance.reducer.twins import TWINS
from perdure_conformance.reducer.written import checks
from perdure_conformance.suite import Profile, Sizes

REDUCER: Final = Profile(
    name="reducer",
    pages=claims.PAGES,
    subjects=KERNELS,
    rules=RULES,
    nothing_claimed=Capabilities(),
    judge=judge,
    case=ReducerCase,
    replay=replay,
    shrink=shrink,
    level=claims.level,
    not_covered=claims.not_covered,
    checks_of=checks_of,
    written=checks,
    meanings={**claims.MEANINGS, **FOUND_BY},
    mutants=MUTANTS,
    twins=TWINS,
    steps="questions",
    examples={"node-reducer": ("node", "node-reducer/adapter.mjs")},
    sizes=Sizes(unit="events", largest=60, median=15),
    written_stands_alone=True,
    generates=True,
    vectors_digest=golden_digest,
)
