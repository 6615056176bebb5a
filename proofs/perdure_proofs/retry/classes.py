"""What is tried again is a retryable failure, or a permanent one that the policy names: nothing else, in no version.

To try again what asked for changes, or what was cancelled, does work that nobody wants; to try again a failure that is
permanent may do harm twice. Not to try again what may succeed the next time gives up too early. So both directions are
claimed: what is tried again, and what is not, for any number of attempts, any limit and whatever classes are named.

It is `fate` that is asked, by which the reducer goes on after an outcome. That attempts are counted and end is the
theorem of `attempts`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.kernel.events import RUNTIME_VERSION
from perdure.kernel.outcomes import OUTCOME_KINDS, RETRY_CLASSES, OutcomeKind
from perdure.kernel.rules import RETRIES_FROM, RULES, Fate, Rules, fate, may_retry
from perdure.kernel.specification import RetryPolicy
from perdure_proofs.runs import MOST
from perdure_proofs.theorems import Any, about_rules

CLASSES: Final[tuple[tuple[OutcomeKind, ...], ...]] = (
    ("retryable_failure",),
    ("permanent_failure",),
    ("retryable_failure", "permanent_failure"),
    (),
)
"""All that a policy may name."""


def _retries_permanent_failures(policy: RetryPolicy, kind: OutcomeKind) -> bool:
    return may_retry(policy, kind) or kind == "permanent_failure"


def _retries_requests_for_changes(policy: RetryPolicy, kind: OutcomeKind) -> bool:
    return may_retry(policy, kind) or kind == "changes_requested"


THEOREM: Final = about_rules(
    "RTY-001",
    "RTY-004",
    "VER-010",
    mutants={
        "RetriesPermanentFailures": replace(RULES, may_retry=_retries_permanent_failures),
        "RetriesRequestsForChanges": replace(RULES, may_retry=_retries_requests_for_changes),
        "IgnoresTheClasses": replace(RULES, may_retry=lambda _, kind: kind == "retryable_failure"),
        "RetriesOnlyWhatIsNamed": replace(RULES, may_retry=lambda policy, kind: kind in policy.classes),
    },
)


def any_policy(values: Any) -> RetryPolicy:
    """Return a policy with any classes and any limit."""
    return RetryPolicy(max_attempts=values.whole("max_attempts", 1, MOST), classes=values.among("classes", CLASSES))


def _is_tried_again(policy: RetryPolicy, attempts: int, found: Fate) -> bool:
    """Tell whether it is retried as long as attempts are left, and ends the node as soon as none is."""
    return found == ("retried" if attempts < policy.max_attempts else "exhausted")


@THEOREM.claim
def a_retryable_failure_is_tried_again(rules: Rules, values: Any) -> bool:
    """A retryable failure is tried again as long as attempts are left, named or not."""
    policy, attempts = any_policy(values), values.whole("attempts", 1, MOST)
    version = values.whole("version", RETRIES_FROM, RUNTIME_VERSION)
    return _is_tried_again(policy, attempts, fate(policy, "retryable_failure", attempts, version, rules))


@THEOREM.claim
def a_permanent_failure_is_tried_again_if_it_is_named(rules: Rules, values: Any) -> bool:
    """A permanent failure is tried again if the policy names it, as long as attempts are left; else it is the end."""
    policy, attempts = any_policy(values), values.whole("attempts", 1, MOST)
    version = values.whole("version", RETRIES_FROM, RUNTIME_VERSION)
    found = fate(policy, "permanent_failure", attempts, version, rules)
    if "permanent_failure" in policy.classes:
        return _is_tried_again(policy, attempts, found)
    return found == "ended"


@THEOREM.claim
def nothing_else_is_tried_again(rules: Rules, values: Any) -> bool:
    """No other outcome is tried again, whatever is named, in any version: a request for changes never is."""
    policy, attempts = any_policy(values), values.whole("attempts", 1, MOST)
    kind = values.among("kind", tuple(kind for kind in OUTCOME_KINDS if kind not in RETRY_CLASSES))
    version = values.whole("version", 1, RUNTIME_VERSION)
    return fate(policy, kind, attempts, version, rules) == "ended"


@THEOREM.claim
def nothing_was_tried_again_before_version_4(rules: Rules, values: Any) -> bool:
    """In versions that have no events for it, nothing is tried again and no attempts are used up."""
    policy, attempts = any_policy(values), values.whole("attempts", 1, MOST)
    version = values.whole("version", 1, RETRIES_FROM - 1)
    return fate(policy, values.among("kind", OUTCOME_KINDS), attempts, version, rules) in {"left", "ended"}
