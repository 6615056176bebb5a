"""Creation: the first state of a run, from its pinned specification.

Source: ADR-0032, "Serializable workflow specification"; RUN requirements of `docs/spec/kernel.md`.
"""

from __future__ import annotations

from typing import Final

from immutables import Map

from perdure.kernel.commands import Rejection, rejected
from perdure.kernel.events import RunCreated
from perdure.kernel.identity import is_canonical_uuid
from perdure.kernel.limits import MAX_LARGE_RECORD_BYTES
from perdure.kernel.liveness import recounted
from perdure.kernel.plan import Plan, plan_of
from perdure.kernel.queues import added
from perdure.kernel.rules import Rules
from perdure.kernel.specification import MAX_CHILD_LEVELS, Specification
from perdure.kernel.state import Agenda, Due, NodeState, State
from perdure.kernel.validation.validator import validate

_BYTES_OF_A_REQUEST: Final = 2**16
_BYTES_OF_A_TARGET: Final = 128
"""Without its name, in canonical form."""


def created(event: RunCreated, version: int, rules: Rules) -> State | Rejection:
    """Return the state of a run that was just created, or why it cannot be."""
    strange = next((run_id for run_id in (event.run_id, *event.ancestors) if not is_canonical_uuid(run_id)), None)
    if strange is not None:
        return rejected("invalid_id", f"{strange!r} is no canonical UUID")
    validation = validate(event.specification)
    specification = validation.specification
    if specification is None:
        return rejected("invalid_specification", f"the specification is not valid: {validation.problems[0].sentence}")
    if event.content_hash != validation.content_hash or event.specification.get("content_hash") != event.content_hash:
        return rejected("invalid_specification", f"the content hash of the specification is {validation.content_hash}")
    if _bytes_to_cancel(specification) > MAX_LARGE_RECORD_BYTES:
        return rejected(
            "invalid_specification", "it has more nodes than one record has room for when all are cancelled"
        )
    if specification.schema_version > version:
        told = f"a specification of version {specification.schema_version} cannot be in a history of version {version}"
        return rejected("invalid_specification", told)
    if set(event.input) != set(specification.inputs):
        return rejected("invalid_input", f"the run's input has exactly the fields {sorted(specification.inputs)}")
    if len(event.ancestors) > MAX_CHILD_LEVELS:
        return rejected("invalid_ancestors", f"children nest at most {MAX_CHILD_LEVELS} deep")
    if len({event.run_id, *event.ancestors}) != len(event.ancestors) + 1:
        return rejected("invalid_ancestors", "a run is no ancestor of its own, and each ancestor stands once")
    return _first_state(event, plan_of(specification, validation.initial_nodes), version, rules)


def _bytes_to_cancel(specification: Specification) -> int:
    """Return the most that a request to cancel a run takes, when every node is active."""
    return _BYTES_OF_A_REQUEST + sum(_BYTES_OF_A_TARGET + len(node.id) for node in specification.nodes)


def _first_state(event: RunCreated, plan: Plan, version: int, rules: Rules) -> State:
    elapsed = plan.specification.budgets.max_elapsed_ms
    state = State(
        plan=plan,
        run_id=event.run_id,
        ancestors=event.ancestors,
        content_hash=event.content_hash,
        input=event.input,
        sequence=1,
        version=version,
        oldest=version,
        nodes=Map(enumerate(NodeState() for _ in plan.nodes)),
        due=None if elapsed is None else added(None, Due(elapsed, rules.due_order.index("elapsed"), -1)),
        agenda=Agenda(initial=0),
    )
    return recounted(state, rules)
