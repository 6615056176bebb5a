"""Mapping: what a node is given, what a child gives back, what a run gives. Only declared top-level fields are copied.

Source: ADR-0032, "Typed outcomes and dependency policies"; CHD requirements of `docs/spec/kernel.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from perdure.kernel.events import ChildCompleted
from perdure.kernel.identity import Name
from perdure.kernel.outcomes import MAX_INLINE_BYTES, Outcome, OutcomeKind, Succeeded, Unsuccessful, output_fields
from perdure.kernel.rules import Rules
from perdure.kernel.specification import Node, OutputReference, RunInputReference
from perdure.kernel.state import State
from perdure.kernel.values import JsonObject, JsonValue, canonical_json, digest


def unsuccessful(kind: OutcomeKind, reason: str) -> Unsuccessful:
    """Return an outcome that the kernel itself gives a node. Its reason is for people alone."""
    assert kind != "succeeded"
    assert kind != "changes_requested"
    return Unsuccessful(kind=kind, reason=reason)


def input_of(state: State, position: int, rules: Rules) -> JsonObject | Name:
    """Return the input of a node's current activation; or the first field that is missing (RUN-017, RUN-018)."""
    node = state.node(position)
    found = dict(node.input)
    for name, reference in node.input_mapping.items():
        fields, wanted = _source(state, position, reference, rules)
        if wanted not in fields:
            return name
        found[name] = fields[wanted]
    return found


def _source(
    state: State, position: int, reference: OutputReference | RunInputReference, rules: Rules
) -> tuple[JsonObject, Name]:
    if isinstance(reference, RunInputReference):
        return state.input, reference.run_input
    sequence = _outcome_seen(state, position, state.plan.positions[reference.node], rules)
    return ({} if sequence is None else output_fields(state.outcomes[sequence])), reference.output


def _outcome_seen(state: State, position: int, source: int, rules: Rules) -> int | None:
    """Return the sequence of the outcome of another node that an activation sees."""
    node, prerequisites = state.nodes[position], state.plan.prerequisites[position]
    begun, brought, pinned = node.activation, None, None
    if begun is not None and state.plan.positions[state.plan.edges[begun.edge].source] == source:
        brought = begun.source_sequence
    if node.released is not None and source in prerequisites:
        pinned = node.released[prerequisites.index(source)]
    return rules.outcome_seen(brought, pinned, state.nodes[source].outcome)


def child_outcome(node: Node, completed: ChildCompleted, rules: Rules) -> Outcome:
    """Return the outcome that a child run gives its node (CHD-012, CHD-013, CHD-014)."""
    assert node.child is not None
    kind = rules.child_outcome(node.child.policy, completed.result)
    if kind != "succeeded":
        return unsuccessful(kind, f"the child run ended {completed.result}")
    output: dict[str, JsonValue] = {}
    for name, wanted in node.child.outputs.items():
        if wanted not in completed.output:
            return unsuccessful("permanent_failure", f"the child run gave no {wanted}")
        output[name] = completed.output[wanted]
    if len(canonical_json(output)) > MAX_INLINE_BYTES:
        return unsuccessful("permanent_failure", f"what the child run gave has more than {MAX_INLINE_BYTES} bytes")
    return Succeeded(kind="succeeded", output=output)


def run_output(state: State) -> JsonObject:
    """Return the declared outputs of a run, as far as the last outcomes of their nodes carry them (RUN-027)."""
    found: dict[str, JsonValue] = {}
    for name, reference in state.plan.specification.outputs.items():
        sequence = state.nodes[state.plan.positions[reference.node]].outcome
        fields = {} if sequence is None else output_fields(state.outcomes[sequence])
        if reference.output in fields:
            found[name] = fields[reference.output]
    return found


def child_document(document: JsonObject, node: Node) -> JsonObject:
    """Return the document that the child run of a node is pinned to: the definition, with the whole catalog."""
    assert node.child is not None
    children = document["children"]
    assert isinstance(children, Mapping)
    definition = children[node.child.workflow]
    assert isinstance(definition, Mapping)
    workflow_id, _, version = node.child.workflow.rpartition("@")
    unsealed: dict[str, JsonValue] = {
        "schema_version": document["schema_version"],
        "workflow_id": workflow_id,
        "workflow_version": int(version),
        **definition,
        "children": children,
    }
    return {**unsealed, "content_hash": digest(unsealed)}
