"""What becomes of a node whose policy is impossible is always one of three, and does not depend on any order.

Cancellation beats blocking, and both beat everything else. It is asked of the tally alone, which is a sum of shares
(`tallies`): so a prerequisite that ends first counts for as much as one that ends last. Two parts of the prerequisites
give together what the worse of them gives alone, which makes it a fold over any number of them, in any grouping.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.kernel.outcomes import OutcomeKind
from perdure.kernel.rules import RULES, Rules, propagated, share
from perdure.kernel.state import TERMINAL
from perdure_proofs.dependencies.tallies import any_tally
from perdure_proofs.runs import MOST
from perdure_proofs.theorems import Any, about_rules, assume

WORST_FIRST: Final[tuple[OutcomeKind, ...]] = ("cancelled", "blocked", "skipped")

THEOREM: Final = about_rules(
    "DEP-011",
    mutants={
        "BlockedBeatsCancelled": replace(
            RULES, propagated=lambda tally: "blocked" if tally.blocked else propagated(tally)
        ),
        "AlwaysSkips": replace(RULES, propagated=lambda _: "skipped"),
        "BlocksBehindFailures": replace(
            RULES, propagated=lambda tally: "blocked" if tally.succeeded else propagated(tally)
        ),
        "GoesByMajority": replace(
            RULES,
            propagated=lambda tally: (
                "cancelled"
                if tally.cancelled > tally.blocked
                else propagated(tally)
                if not tally.cancelled
                else "blocked"
            ),
        ),
    },
)


@THEOREM.claim
def one_prerequisite_gives_its_own(rules: Rules, values: Any) -> bool:
    """A single prerequisite that is cancelled or blocked makes the node so; any other end skips it."""
    status = values.among("status", sorted(TERMINAL))
    found = rules.propagated(share(status, is_revivable=values.among("revivable", (False, True))))
    return found == (status if status in {"cancelled", "blocked"} else "skipped")


@THEOREM.claim
def two_parts_give_what_the_worse_gives(rules: Rules, values: Any) -> bool:
    """All prerequisites together give what the worse of two parts of them gives, whichever part comes first."""
    one, other = any_tally(values, MOST, "one "), any_tally(values, MOST, "other ")
    found = WORST_FIRST.index(rules.propagated(one)), WORST_FIRST.index(rules.propagated(other))
    together = rules.propagated(one.plus(other)), rules.propagated(other.plus(one))
    return together == (WORST_FIRST[min(found)],) * 2


@THEOREM.claim
def nobody_is_skipped_behind_a_cancellation(rules: Rules, values: Any) -> bool:
    """A node is skipped only if no prerequisite is cancelled and none is blocked."""
    tally = any_tally(values, MOST)
    assume(rules.propagated(tally) == "skipped")
    return (tally.cancelled == 0) & (tally.blocked == 0)
