"""Rules about the data between nodes, and about retries.

SPC-010, SPC-022 to SPC-025.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from perdure.kernel.outcomes import MAX_INLINE_BYTES, RETRY_CLASSES
from perdure.kernel.problems import listed, pointer_token, quoted
from perdure.kernel.specification import Node, OutputReference, RunInputReference
from perdure.kernel.validation.scopes import Scope
from perdure.kernel.values import canonical_json


def _input_fits(scope: Scope) -> None:
    """SPC-010."""
    for node in scope.definition.nodes:
        if node.input and (size := len(canonical_json(node.input))) > MAX_INLINE_BYTES:
            told = f"Keep this input elsewhere, as one of `artifacts`: it has {size:,} bytes of {MAX_INLINE_BYTES:,}."
            scope.error("input_too_large", f"{scope.at(node)}/input", told)


def _input_is_given_once(scope: Scope) -> None:
    """SPC-024."""
    for node in scope.definition.nodes:
        seen: set[str] = set()
        for member, fields in (
            ("input", node.input),
            ("artifacts", node.artifacts),
            ("input_mapping", node.input_mapping),
        ):
            for name in fields:
                if name in seen:
                    told = f"The input {quoted(name)} is given already; take one of the two away."
                    scope.error("input_given_twice", f"{scope.at(node)}/{member}/{pointer_token(name)}", told)
            seen.update(fields)


def _data_can_flow(scope: Scope) -> None:
    """SPC-022, SPC-023."""
    for node in scope.definition.nodes:
        for reference in node.input_mapping.values():
            if isinstance(reference, OutputReference):
                _check_reach(scope, node, reference)
                _check_declared(scope, reference)
            elif reference.run_input not in scope.run_inputs and _is_told_of(scope, reference):
                fix = scope.problems.meant(reference.run_input, scope.run_inputs, otherwise="declare it in `inputs`.")
                told = f"The run has no input {quoted(reference.run_input)}; {fix}"
                scope.error("undeclared_run_input", f"{scope.at(reference)}/run_input", told)
    for reference in scope.definition.outputs.values():
        _check_declared(scope, reference)


def _is_told_of(scope: Scope, reference: RunInputReference) -> bool:
    """Tell whether a reference to the run's input could be read, and the run's inputs too."""
    place = f"{scope.at(reference)}/run_input"
    return scope.is_own(place) and scope.is_well_formed(place) and scope.is_own(f"{scope.place}/inputs")


def _check_reach(scope: Scope, node: Node, reference: OutputReference) -> None:
    names_one = reference.node in scope.positions and reference.node not in scope.duplicates
    if names_one and not scope.is_before(reference.node, node.id) and not scope.could_be_before(node):
        remedy = _remedy(scope, node, reference)
        told = f"{quoted(node.id)} knows nothing of {quoted(reference.node)} when it starts: {remedy}."
        scope.error("output_out_of_reach", f"{scope.at(reference)}/node", told)


def _remedy(scope: Scope, node: Node, reference: OutputReference) -> str:
    """Return what brings an output within reach. In a loop a further arrow would start the node once more."""
    in_a_loop = not scope.in_loops.isdisjoint((node.id, reference.node))
    before = [name for name in scope.before[node.id] if name in scope.positions]
    if not in_a_loop or not before:
        return "make it a dependency, or lead an edge from it here"
    return (
        f"in a loop a value goes on from node to node, so let what leads here ({listed(before)}) "
        f"have it as an output of its own, and take it from there"
    )


def _check_declared(scope: Scope, reference: OutputReference) -> None:
    node = scope.node(reference.node)
    if node is None or not reference.output or not scope.is_well_formed(f"{scope.at(reference)}/output"):
        return
    if node.id in scope.duplicates or not scope.has_own_outputs(node):
        return
    declared = scope.outputs_of(node)
    if reference.output not in declared:
        where = "`child.outputs`" if node.child is not None else "`outputs`"
        fix = scope.problems.meant(reference.output, declared, otherwise=f"declare it in its {where}.")
        told = f"{quoted(node.id)} has no output {quoted(reference.output)}; {fix}"
        scope.error("undeclared_output", f"{scope.at(reference)}/output", told)


def _retry_classes(scope: Scope) -> None:
    """SPC-025."""
    for node in scope.definition.nodes:
        for position, kind in enumerate(node.retry.classes if node.retry is not None else ()):
            here = f"{scope.at(node)}/retry/classes/{position}"
            if kind not in RETRY_CLASSES and scope.is_own(here):
                lead = "lead an edge to a correction instead" if kind == "changes_requested" else "take it away"
                told = f"An outcome that is {quoted(kind)} cannot be retried: {lead}."
                scope.error("no_retry_class", here, told)


RULES: Final[tuple[Callable[[Scope], None], ...]] = (
    _input_fits,
    _input_is_given_once,
    _data_can_flow,
    _retry_classes,
)
