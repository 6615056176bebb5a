"""Rules about children: one call at a time, and the catalog as a whole.

CHD-001 to CHD-008.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from perdure.kernel.graphs import a_cycle, components, cycles
from perdure.kernel.identity import WorkflowReference
from perdure.kernel.problems import Problems, listed, path, pointer_token, quoted
from perdure.kernel.specification import MAX_CHILD_LEVELS, ChildCall, Node
from perdure.kernel.validation.scopes import Scope, missing


def _child_calls_fit(scope: Scope) -> None:
    """CHD-001, CHD-007, CHD-008."""
    for node in scope.definition.nodes:
        if node.child is None or not node.child.workflow:
            continue
        place = f"{scope.at(node.child)}/workflow"
        if node.child.workflow in scope.catalog:
            _check_child_inputs(scope, node, node.child.workflow)
            _check_child_outputs(scope, node.child)
        elif not scope.is_well_formed(place):
            _tell_whole_key(scope, node.child.workflow, place)
        elif _is_told_of(scope, node.child.workflow):
            otherwise = f"add it to `children`, which has {listed(scope.catalog) or 'none'}."
            fix = scope.problems.meant(node.child.workflow, scope.catalog, otherwise=otherwise)
            scope.error("unknown_child", place, f"There is no child {quoted(node.child.workflow)}; {fix}")


def _is_told_of(scope: Scope, workflow: WorkflowReference) -> bool:
    """Tell whether the catalog could be read, as far as it could hold a workflow."""
    is_read = bool(scope.catalog) or scope.is_own("/children")
    return is_read and scope.is_own(scope.place_of_child(workflow))


def _tell_whole_key(scope: Scope, workflow: WorkflowReference, place: str) -> None:
    """Name the keys that begin with what stands in place of a key: most often, the version was left out."""
    if not scope.problems.may_search(len(scope.catalog)):
        return
    keys = [key for key in scope.catalog if key.startswith(f"{workflow}@")]
    if keys:
        told = f"Write the whole key, with its version: {listed(keys)}; {quoted(workflow)} alone names no child."
        scope.problems.retold("wrong_form", place, told)


def _check_child_inputs(scope: Scope, node: Node, workflow: WorkflowReference) -> None:
    declared = scope.child_inputs[workflow]
    given = dict(scope.given(node))
    place_of_child = scope.place_of_child(workflow)
    if not scope.is_own(f"{place_of_child}/inputs"):
        return
    lacking = missing(declared, given)
    if lacking and scope.has_own_inputs(node):
        told = f"{quoted(workflow)} needs {lacking}: give it in `input` or `input_mapping`."
        scope.error("missing_child_input", scope.at(node), told)
    for name, place in given.items():
        if name not in declared and scope.is_well_formed(place):
            fix = scope.problems.meant(name, declared, otherwise="take it away, or declare it in the child's `inputs`.")
            scope.error("undeclared_child_input", place, f"{quoted(workflow)} has no input {quoted(name)}; {fix}")


def _check_child_outputs(scope: Scope, call: ChildCall) -> None:
    declared = scope.catalog[call.workflow].outputs
    if not scope.is_own(f"{scope.place_of_child(call.workflow)}/outputs"):
        return
    for name, taken in call.outputs.items():
        place = f"{scope.at(call)}/outputs/{pointer_token(name)}"
        if taken and taken not in declared and scope.is_well_formed(place):
            fix = scope.problems.meant(taken, declared, otherwise="declare it in the child's `outputs`.")
            told = f"{quoted(call.workflow)} has no output {quoted(taken)}; {fix}"
            scope.error("undeclared_child_output", place, told)


def check_catalog(root: Scope, children: Sequence[Scope], problems: Problems) -> None:
    """CHD-002, CHD-003."""
    keys = list(root.catalog)
    positions = {key: position for position, key in enumerate(keys)}
    calls = [_calls(scope, positions) for scope in children]
    arrows = [list(of_child) for of_child in calls]
    recursive = cycles(arrows)
    for members in recursive:
        circle = a_cycle(arrows, members)
        named = path([keys[member] for member in circle])
        told = f"This child would run itself without end: {named}. Take one of these calls away."
        problems.error("child_recursion", calls[circle[-2]][circle[-1]], told)
    _check_levels(_calls(root, positions), calls, problems)


def _calls(scope: Scope, positions: Mapping[WorkflowReference, int]) -> dict[int, str]:
    """Return the definitions that a workflow calls, each with a place where it does."""
    found: dict[int, str] = {}
    for node in scope.definition.nodes:
        if node.child is not None and node.child.workflow in positions:
            found.setdefault(positions[node.child.workflow], f"{scope.at(node.child)}/workflow")
    return found


def _check_levels(from_root: Mapping[int, str], calls: Sequence[Mapping[int, str]], problems: Problems) -> None:
    """Count levels from the document, and from definitions that nothing runs."""
    level = [int(position in from_root) for position in range(len(calls))]
    for caller, *others in reversed(components([list(of_child) for of_child in calls])):
        if others or caller in calls[caller]:
            continue  # Recursion has no levels.
        for called, place in calls[caller].items():
            level[called] = max(level[called], level[caller] + 1)
            if level[caller] == MAX_CHILD_LEVELS:
                told = f"Flatten the children: there are {MAX_CHILD_LEVELS} levels at most, and this would be one more."
                problems.error("children_too_deep", place, told)


RULES: Final[tuple[Callable[[Scope], None], ...]] = (_child_calls_fit,)
