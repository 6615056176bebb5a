"""A child's node succeeds only if its child run completed, and ends as its policy says however the run ended.

Whoever calls another workflow sees its end through one outcome. Were a child that failed or was cancelled taken for a
success, the parent would go on as if the work were done. So for each policy and each end of a child run there is one
outcome: under `propagate` the node comes to the status that the run has; under `require_success` it succeeds or fails.
A child run is not run again for its failure, unless the specification names permanent failures: each such run may
itself have tried its work as often as it may.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, get_args

from perdure.kernel.events import RUNTIME_VERSION, ChildCompleted, ChildResult
from perdure.kernel.identity import Name, NodeId, RunId, WorkflowReference
from perdure.kernel.mapping import child_outcome as outcome_of
from perdure.kernel.outcomes import OutcomeKind
from perdure.kernel.rules import RULES, Rules, child_outcome, fate
from perdure.kernel.specification import ChildCall, ChildPolicy, Node
from perdure.kernel.values import JsonObject
from perdure_proofs.retry.classes import any_policy
from perdure_proofs.runs import ATTEMPT, MOST
from perdure_proofs.theorems import Any, about_rules

POLICIES: Final[tuple[ChildPolicy, ...]] = get_args(ChildPolicy)
RESULTS: Final[tuple[ChildResult, ...]] = get_args(ChildResult)

_CHILD: Final = RunId("00000000-0000-7000-8000-00000000000c")


def _tries_failed_children_again(policy: ChildPolicy, result: ChildResult) -> OutcomeKind:
    return "retryable_failure" if result == "failed" else child_outcome(policy, result)


THEOREM: Final = about_rules(
    "CHD-012",
    "CHD-014",
    "RTY-001",
    mutants={
        "AlwaysPropagates": replace(RULES, child_outcome=lambda _, result: child_outcome("propagate", result)),
        "AlwaysRequiresSuccess": replace(
            RULES, child_outcome=lambda _, result: child_outcome("require_success", result)
        ),
        "TakesAnyEndForSuccess": replace(RULES, child_outcome=lambda *_: "succeeded"),
        "TriesFailedChildrenAgain": replace(RULES, child_outcome=_tries_failed_children_again),
    },
)


@THEOREM.claim
def nothing_but_completion_is_a_success(rules: Rules, values: Any) -> bool:
    """Whatever the policy, a child's node succeeds if its child run completed with what the node takes, and only then.

    Fields that nobody takes change nothing.
    """
    policy, result = values.among("policy", POLICIES), values.among("result", RESULTS)
    takes, gives = values.among("takes", (True, False)), values.among("gives", (True, False))
    call = ChildCall(
        workflow=WorkflowReference("other@1"), policy=policy, outputs={Name("taken"): Name("given")} if takes else {}
    )
    output: JsonObject = {"given": 1, "other": 2} if gives else {"other": 2}
    completed = ChildCompleted(
        node=NodeId("node"), attempt_id=ATTEMPT, child_run_id=_CHILD, result=result, output=output
    )
    found = outcome_of(Node(id=NodeId("node"), child=call), completed, rules)
    return (found.kind == "succeeded") == (result == "completed" and (gives or not takes))


@THEOREM.claim
def what_propagates_ends_as_the_child_run_did(rules: Rules, values: Any) -> bool:
    """Under `propagate` a node comes to the status of its child run: succeeded, failed, blocked or cancelled."""
    result = values.among("result", RESULTS)
    status = rules.status_after[rules.child_outcome("propagate", result)]
    return status == ("succeeded" if result == "completed" else result)


@THEOREM.claim
def where_success_is_required_the_rest_has_failed(rules: Rules, values: Any) -> bool:
    """Under `require_success` a node succeeds or fails for good: it is never blocked or cancelled by its child run."""
    result = values.among("result", RESULTS)
    kind = rules.child_outcome("require_success", result)
    is_success = result == "completed"
    return kind == ("succeeded" if is_success else "permanent_failure") and (
        rules.status_after[kind] == ("succeeded" if is_success else "failed")
    )


@THEOREM.claim
def no_child_is_run_again_unless_that_is_named(rules: Rules, values: Any) -> bool:
    """How a child run ends is not tried again, unless the node's policy names permanent failures and it was one."""
    policy, result = values.among("policy", POLICIES), values.among("result", RESULTS)
    retry, attempts = any_policy(values), values.whole("attempts", 1, MOST)
    version = values.whole("version", 1, RUNTIME_VERSION)
    kind = rules.child_outcome(policy, result)
    is_named = kind == "permanent_failure" and kind in retry.classes
    return is_named or fate(retry, kind, attempts, version, rules) == "ended"
