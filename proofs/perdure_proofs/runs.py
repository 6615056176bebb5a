"""Runs for theorems: small ones, whose states may have any numbers in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from immutables import Map

from perdure.kernel.identity import AttemptId, NodeId, RunId, WorkflowId
from perdure.kernel.liveness import recounted
from perdure.kernel.plan import plan_of
from perdure.kernel.rules import RULES
from perdure.kernel.specification import Edge, Node, Specification
from perdure.kernel.state import NodeState, State
from perdure.kernel.values import MAX_SAFE_INTEGER, Digest

MOST: Final = MAX_SAFE_INTEGER
RUN: Final = RunId("00000000-0000-7000-8000-000000000001")
ATTEMPT: Final = AttemptId("00000000-0000-7000-8000-00000000000a")
NEW_ATTEMPT: Final = AttemptId("00000000-0000-7000-8000-00000000000b")


def run_of(nodes: Sequence[Node], edges: Sequence[Edge] = (), initial: Sequence[str] = ()) -> State:
    """Return the state of a run of these nodes, none of which has done anything."""
    specification = Specification(
        schema_version=5, workflow_id=WorkflowId("any"), workflow_version=1, nodes=tuple(nodes), edges=tuple(edges)
    )
    plan = plan_of(specification, [NodeId(name) for name in initial])
    state = State(
        plan=plan,
        run_id=RUN,
        ancestors=(),
        content_hash=Digest("0" * 64),
        input={},
        sequence=1,
        version=5,
        oldest=5,
        nodes=Map(enumerate(NodeState() for _ in plan.nodes)),
    )
    return recounted(state, RULES)
