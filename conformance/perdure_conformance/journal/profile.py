"""The profile `journal`, as one value."""

from __future__ import annotations

from functools import partial
from typing import Final

from perdure.journal.contract import Capabilities
from perdure_conformance.journal import claims
from perdure_conformance.journal.cases import JournalCase, replay, shrink
from perdure_conformance.journal.dispatch import JOURNALS
from perdure_conformance.journal.judge import FOUND_BY, checks_of, judge
from perdure_conformance.journal.mutants import MUTANTS
from perdure_conformance.journal.rules import RULES, Rules
from perdure_conformance.journal.twins import TWINS
from perdure_conformance.journal.written import checks
from perdure_conformance.suite import Profile, Sizes


def under(rules: Rules) -> Profile[JournalCase, Capabilities]:
    """Return the profile as it is with these rules."""
    return Profile(
        name="journal",
        pages=claims.PAGES,
        subjects=JOURNALS,
        rules=rules,
        nothing_claimed=Capabilities(),
        judge=partial(judge, rules=rules),
        case=JournalCase,
        replay=partial(replay, rules=rules),
        shrink=partial(shrink, rules=rules),
        level=claims.level,
        not_covered=claims.not_covered,
        checks_of=checks_of,
        written=checks,
        meanings={**claims.MEANINGS, **FOUND_BY},
        mutants=MUTANTS,
        twins=TWINS,
        steps="operations",
        examples={"node-journal": ("node", "node-journal/adapter.mjs")},
        sizes=Sizes(unit="operations", largest=6, median=3),
    )


JOURNAL: Final = under(RULES)
