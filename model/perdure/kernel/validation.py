"""The validator: whether a run may be created from a document, and if not, every reason at once.

It reads the structure first (`structure.py`), then asks one function for each rule that goes beyond it. A rule about
the inside of a workflow is asked of the document and of each definition in its catalog.

Source: `docs/spec/specification.md`, whose requirement each rule names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec

from perdure.kernel import advice
from perdure.kernel.definitions import Scope
from perdure.kernel.graphs import a_cycle, components, cycles, reached
from perdure.kernel.identity import NodeId, WorkflowReference
from perdure.kernel.outcomes import MAX_INLINE_BYTES, RETRY_CLASSES
from perdure.kernel.predicates import can_match, overlaps, witness
from perdure.kernel.problems import MAX_LISTED, Correction, Problem, Problems, listed, path, pointer_token, quoted
from perdure.kernel.specification import (
    MAX_CHILD_LEVELS,
    MAX_DOCUMENT_BYTES,
    MAX_DOCUMENT_DEPTH,
    VERSIONS,
    ChildCall,
    Edge,
    HandlerCatalogue,
    Node,
    OutputReference,
    Specification,
    covered_by_hash,
)
from perdure.kernel.structure import Reading, read
from perdure.kernel.values import Digest, JsonError, JsonValue, canonical_json, nesting, read_json

_CHARACTERS_OF_AN_ERROR: Final = 300
_HASH_PLACE: Final = "/content_hash"

Handlers = Mapping[tuple[str, int], Sequence[str]]
"""The declared inputs of each handler, by name and version."""


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """What a validator answers."""

    specification: Specification | None
    """The document, decoded; None if it is refused."""
    problems: tuple[Problem, ...]
    """What is wrong with it, and what is only odd, in the order of the rules."""
    omitted: int = 0
    """How many more problems there are."""
    content_hash: Digest | None = None
    """The digest of the document without `content_hash`, if it is I-JSON."""
    initial_nodes: tuple[NodeId, ...] = ()
    """Where a run begins, if the document is accepted; in specification order."""

    @property
    def valid(self) -> bool:
        """Whether a run may be created from the document."""
        return self.specification is not None


def validate_text(text: str | bytes, handlers: Handlers | None = None) -> Validation:
    """Validate the text of a document."""
    try:
        document = read_json(text)
    except JsonError as error:
        return _unreadable(error.code if text.strip() else "empty", str(error))
    return validate(document, handlers)


def validate(document: JsonValue, handlers: Handlers | None = None) -> Validation:
    """Validate a document. With a catalogue of handlers, its handlers are looked up there.

    The time is linear in the size of the document, and at most `MAX_PROBLEMS` problems are kept.
    """
    problems = Problems()
    try:
        content_hash = _measure(document, problems)
    except JsonError as error:
        return _unreadable(error.code, str(error))
    reading = Reading(problems, _version(document))
    specification = read(Specification, document, reading)
    initial_nodes: tuple[NodeId, ...] = ()
    if isinstance(specification, Specification):
        _check_hash(specification, content_hash, reading)
        scopes = list(_scopes(specification, reading))
        for scope in scopes:
            for rule in RULES:
                rule(scope)
        _check_catalog(scopes[0], scopes[1:], problems)
        if handlers is not None:
            _check_handlers(scopes, handlers)
        advice.warn(scopes, problems)
        initial_nodes = tuple(scopes[0].definition.nodes[position].id for position in scopes[0].initial)
    valid = not problems.errors and isinstance(specification, Specification)
    return Validation(
        specification=specification if valid and isinstance(specification, Specification) else None,
        problems=tuple(problems.kept),
        omitted=problems.omitted,
        content_hash=content_hash,
        initial_nodes=initial_nodes if valid else (),
    )


def read_handlers(document: JsonValue, problems: Problems) -> Handlers:
    """Decode a catalogue of handlers; every difference goes to `problems`."""
    catalogue = read(HandlerCatalogue, document, Reading(problems))
    if not isinstance(catalogue, HandlerCatalogue):
        return {}
    return {(handler.name, handler.version): handler.inputs for handler in catalogue.handlers}


def _unreadable(code: str, sentence: str) -> Validation:
    problems = Problems()
    problems.error(code, "", f"{sentence[:1].upper()}{sentence[1:_CHARACTERS_OF_AN_ERROR]}.")
    return Validation(specification=None, problems=tuple(problems.kept))


def _version(document: JsonValue) -> int | None:
    """Return the version whose members a document may have; none if it claims no version that there is."""
    version = document.get("schema_version") if isinstance(document, Mapping) else None
    return next((known for known in VERSIONS if version == known and not isinstance(version, bool)), None)


def _measure(document: JsonValue, problems: Problems) -> Digest:
    """Return the content hash, and hold the document against its limits (SPC-009). Raises `JsonError`."""
    covered = canonical_json(covered_by_hash(document) if isinstance(document, Mapping) else document)
    own_hash = document.get("content_hash") if isinstance(document, Mapping) else None
    size = len(covered) + (len(canonical_json({"content_hash": own_hash})) - 1 if own_hash is not None else 0)
    if size > MAX_DOCUMENT_BYTES:
        told = (
            f"Split the workflow, or keep input elsewhere: the document has {size:,} bytes of {MAX_DOCUMENT_BYTES:,}."
        )
        problems.error("document_too_large", "", told)
    if (depth := nesting(document)) > MAX_DOCUMENT_DEPTH:
        told = f"Flatten the document: it nests {depth} deep, and {MAX_DOCUMENT_DEPTH} is the most."
        problems.error("document_too_deep", "", told)
    return Digest(hashlib.sha256(covered).hexdigest())


def _check_hash(specification: Specification, content_hash: Digest, reading: Reading) -> None:
    """SPC-011."""
    if specification.content_hash not in (None, "", content_hash) and reading.ill_formed.isdisjoint({_HASH_PLACE}):
        told = f"The document was changed after its hash was taken; its hash is {content_hash}."
        correction = Correction(pointer=_HASH_PLACE, value=content_hash)
        reading.problems.error("wrong_content_hash", _HASH_PLACE, told, correction=correction)


def _scopes(specification: Specification, reading: Reading) -> Iterator[Scope]:
    """Yield the document's own workflow, then each of its catalog."""
    children = specification.children
    inputs = {key: dict.fromkeys(filter(None, child.inputs)).keys() for key, child in children.items()}
    yield Scope(specification, "", children, inputs, reading)
    for key, definition in children.items():
        yield Scope(definition, f"/children/{pointer_token(key)}", children, inputs, reading)


# Rules about one workflow


def _ids_are_unique(scope: Scope) -> None:
    """SPC-013."""
    seen: set[NodeId] = set()
    for node in scope.definition.nodes:
        if node.id and node.id in seen:
            told = f"There is a node {quoted(node.id)} already; give this one another id."
            scope.error("duplicate_node", f"{scope.at(node)}/id", told)
        seen.add(node.id)


def _handler_or_child(scope: Scope) -> None:
    """SPC-014."""
    for node in scope.definition.nodes:
        place = scope.at(node)
        if not scope.is_own(f"{place}/handler") or not scope.is_own(f"{place}/child"):
            continue
        if (node.handler is None) == (node.child is None):
            there = "both" if node.child is not None else "neither"
            told = f"Give the node {quoted(node.id)} either `handler` or `child`; it has {there}."
            scope.error("handler_or_child", place, told)
        elif node.child is not None:
            for name, value in (("outputs", node.outputs), ("signals", node.signals), ("artifacts", node.artifacts)):
                if value:
                    instead = "; name them in `child.outputs`" if name == "outputs" else ""
                    told = f"Take {quoted(name)} away: it belongs to handlers, and a child does the work here{instead}."
                    scope.error("handler_or_child", f"{place}/{name}", told)


def _names_are_there(scope: Scope) -> None:
    """SPC-015."""
    for name, place in _named_in_the_graph(scope):
        scope.misses_names |= not _check_name(scope, name, place)
    for name, place in _named_by_data(scope):
        _check_name(scope, name, place)


def _check_name(scope: Scope, name: NodeId, place: str) -> bool:
    if not name or name in scope.positions:
        return True
    if scope.is_well_formed(place):
        otherwise = f"name one of the nodes: {listed(scope.positions) or 'there are none'}."
        fix = scope.problems.meant(name, scope.positions, otherwise=otherwise)
        scope.error("unknown_node", place, f"There is no node {quoted(name)}; {fix}")
    return False


def _named_in_the_graph(scope: Scope) -> Iterator[tuple[NodeId, str]]:
    """Yield each name of a node at an end of an arrow or where a run begins, and where it stands."""
    for node in scope.definition.nodes:
        yield from _numbered(node.dependencies, f"{scope.at(node)}/dependencies")
    for edge in scope.definition.edges:
        yield edge.source, f"{scope.at(edge)}/from"
        yield edge.target, f"{scope.at(edge)}/to"
    yield from _numbered(scope.definition.initial_nodes or (), f"{scope.place}/initial_nodes")


def _named_by_data(scope: Scope) -> Iterator[tuple[NodeId, str]]:
    """Yield each name of a node whose output is used, and where it stands."""
    mapped = [reference for node in scope.definition.nodes for reference in node.input_mapping.values()]
    for reference in (*mapped, *scope.definition.outputs.values()):
        if isinstance(reference, OutputReference):
            yield reference.node, f"{scope.at(reference)}/node"


def _numbered(names: Sequence[NodeId], place: str) -> Iterator[tuple[NodeId, str]]:
    for position, name in enumerate(names):
        yield name, f"{place}/{position}"


def _names_stand_once(scope: Scope) -> None:
    """SPC-016."""
    definition = scope.definition
    arrays: list[tuple[Sequence[str], str]] = [
        (definition.initial_nodes or (), f"{scope.place}/initial_nodes"),
        (definition.inputs, f"{scope.place}/inputs"),
    ]
    for node in definition.nodes:
        arrays += [(node.dependencies, f"{scope.at(node)}/dependencies"), (node.outputs, f"{scope.at(node)}/outputs")]
        arrays.append((node.signals, f"{scope.at(node)}/signals"))
        if node.retry is not None:
            arrays.append((node.retry.classes, f"{scope.at(node)}/retry/classes"))
    for names, place in arrays:
        _once(scope, names, place)


def _once(scope: Scope, names: Sequence[str], place: str) -> None:
    seen: set[str] = set()
    for position, name in enumerate(names):
        here = f"{place}/{position}"
        if not name or not scope.is_own(here):
            continue
        if name in seen:
            told = f"Take {quoted(name)} away: it stands here already."
            scope.error("duplicate_name", here, told, correction=Correction(pointer=here, remove=True))
        seen.add(name)


def _dependencies_have_no_cycle(scope: Scope) -> None:
    """SPC-017."""
    for members in cycles(scope.dependents):
        circle = a_cycle(scope.dependents, members)
        closing, first = scope.definition.nodes[circle[-1]], scope.definition.nodes[circle[-2]]
        place = f"{scope.at(closing)}/dependencies/{closing.dependencies.index(first.id)}"
        told = f"These nodes wait for each other: {scope.path(circle[::-1])}. Take one of these dependencies away."
        if len(members) == 1:
            told = f"The node {quoted(closing.id)} waits for itself: take this dependency away."
        scope.has_dependency_cycle = True
        scope.error("dependency_cycle", place, told)


def _initial_nodes(scope: Scope) -> None:
    """SPC-018, SPC-019."""
    names = scope.definition.initial_nodes
    if names is None:
        if scope.union_cycles and not scope.has_dependency_cycle and scope.has_whole_graph:
            told = f"Add `initial_nodes`: {scope.path(a_cycle(scope.union, scope.union_cycles[0]))} is a cycle."
            scope.error("initial_nodes_needed", scope.place, told)
        return
    place = f"{scope.place}/initial_nodes"
    if not names:
        told = "Name at least one node; or take `initial_nodes` away, if there is no cycle."
        scope.error("no_initial_nodes", place, told)
    for position, name in enumerate(names):
        node = scope.node(name)
        if node is not None and node.dependencies:
            told = f"{quoted(name)} waits for other nodes, so no run can begin with it: take it away here."
            scope.error("initial_node_with_dependencies", f"{place}/{position}", told)


def _every_node_is_reached(scope: Scope) -> None:
    """SPC-020. Asked only where nothing else hides the answer."""
    if scope.misses_names or not scope.has_whole_graph:
        return
    if scope.definition.initial_nodes is None and scope.union_cycles:
        return
    if not scope.initial:
        return
    found = reached(scope.union, scope.initial)
    for position, node in enumerate(scope.definition.nodes):
        if not found[position] and scope.positions.get(node.id) == position:
            told = f"Nothing leads to {quoted(node.id)}: add an edge or a dependency, or make it an initial node."
            scope.error("unreachable_node", scope.at(node), told)


def _input_fits(scope: Scope) -> None:
    """SPC-010."""
    for node in scope.definition.nodes:
        if node.input and (size := len(canonical_json(node.input))) > MAX_INLINE_BYTES:
            told = f"Keep this input elsewhere, as one of `artifacts`: it has {size:,} bytes of {MAX_INLINE_BYTES:,}."
            scope.error("input_too_large", f"{scope.at(node)}/input", told)


def _given(scope: Scope, node: Node) -> Iterator[tuple[str, str]]:
    """Yield each input field that a node is given, and where."""
    members: dict[str, Iterable[str]] = {
        "input": node.input,
        "artifacts": node.artifacts,
        "input_mapping": node.input_mapping,
    }
    for member, fields in members.items():
        for name in fields:
            yield name, f"{scope.at(node)}/{member}/{pointer_token(name)}"


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
            elif reference.run_input and reference.run_input not in scope.run_inputs:
                fix = scope.problems.meant(reference.run_input, scope.run_inputs, otherwise="declare it in `inputs`.")
                told = f"The run has no input {quoted(reference.run_input)}; {fix}"
                scope.error("undeclared_run_input", f"{scope.at(reference)}/run_input", told)
    for reference in scope.definition.outputs.values():
        _check_declared(scope, reference)


def _check_reach(scope: Scope, node: Node, reference: OutputReference) -> None:
    if reference.node in scope.positions and not scope.is_before(reference.node, node.id):
        told = (
            f"{quoted(node.id)} knows nothing of {quoted(reference.node)} when it starts: "
            f"make it a dependency, or lead an edge from it here."
        )
        scope.error("output_out_of_reach", f"{scope.at(reference)}/node", told)


def _check_declared(scope: Scope, reference: OutputReference) -> None:
    node = scope.node(reference.node)
    if node is None or not reference.output or not scope.is_well_formed(f"{scope.at(reference)}/output"):
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


def _predicates_can_match(scope: Scope) -> None:
    """EDG-001."""
    for edge in scope.definition.edges:
        if not can_match(edge.when):
            told = "A skipped node fires no edge: take this edge away, or make its target a dependent."
            scope.error("never_matches", f"{scope.at(edge)}/when", told)


def _exclusive_edges_are_disjoint(scope: Scope) -> None:
    """EDG-002, EDG-003, EDG-005, EDG-007."""
    of_source: dict[NodeId, list[Edge]] = {}
    for edge in scope.definition.edges:
        if edge.mode == "exclusive" and can_match(edge.when) and scope.is_own(f"{scope.at(edge)}/when"):
            of_source.setdefault(edge.source, []).append(edge)
    for edges in of_source.values():
        for first, second in overlaps([edge.when for edge in edges]):
            shown = msgspec.to_builtins(witness(edges[first].when, edges[second].when))
            told = (
                f"This edge and {quoted(scope.at(edges[first]))} are exclusive, and both follow the outcome "
                f"{quoted(canonical_json(shown).decode(), 200)}: narrow one of them."
            )
            scope.error("overlapping_edges", scope.at(edges[second]), told, witness=shown)


def _child_calls_fit(scope: Scope) -> None:
    """CHD-001, CHD-007, CHD-008."""
    for node in scope.definition.nodes:
        if node.child is None or not node.child.workflow:
            continue
        place = f"{scope.at(node.child)}/workflow"
        if node.child.workflow in scope.catalog:
            _check_child_inputs(scope, node, node.child.workflow)
            _check_child_outputs(scope, node.child)
        elif scope.is_well_formed(place):
            otherwise = f"add it to `children`, which has {listed(scope.catalog) or 'none'}."
            fix = scope.problems.meant(node.child.workflow, scope.catalog, otherwise=otherwise)
            scope.error("unknown_child", place, f"There is no child {quoted(node.child.workflow)}; {fix}")


def _check_child_outputs(scope: Scope, call: ChildCall) -> None:
    declared = scope.catalog[call.workflow].outputs
    for name, taken in call.outputs.items():
        place = f"{scope.at(call)}/outputs/{pointer_token(name)}"
        if taken and taken not in declared and scope.is_well_formed(place):
            fix = scope.problems.meant(taken, declared, otherwise="declare it in the child's `outputs`.")
            told = f"{quoted(call.workflow)} has no output {quoted(taken)}; {fix}"
            scope.error("undeclared_child_output", place, told)


def _check_child_inputs(scope: Scope, node: Node, workflow: WorkflowReference) -> None:
    declared = scope.child_inputs[workflow]
    given = dict(_given(scope, node))
    if missing := _missing(declared, given):
        told = f"{quoted(workflow)} needs {missing}: give it in `input` or `input_mapping`."
        scope.error("missing_child_input", scope.at(node), told)
    for name, place in given.items():
        if name not in declared:
            fix = scope.problems.meant(name, declared, otherwise="take it away, or declare it in the child's `inputs`.")
            scope.error("undeclared_child_input", place, f"{quoted(workflow)} has no input {quoted(name)}; {fix}")


def _missing(declared: Collection[str], given: Mapping[str, str]) -> str:
    """Return what is declared and not given, for a sentence; empty if nothing is missing."""
    if sum(name in declared for name in given) == len(declared):
        return ""
    missing = list(islice((name for name in declared if name not in given), MAX_LISTED + 1))
    return listed(missing)


RULES: Final[tuple[Callable[[Scope], None], ...]] = (
    _ids_are_unique,
    _handler_or_child,
    _names_are_there,
    _names_stand_once,
    _dependencies_have_no_cycle,
    _initial_nodes,
    _every_node_is_reached,
    _input_fits,
    _input_is_given_once,
    _data_can_flow,
    _retry_classes,
    _predicates_can_match,
    _exclusive_edges_are_disjoint,
    _child_calls_fit,
)


# Rules about the catalog


def _check_catalog(root: Scope, children: Sequence[Scope], problems: Problems) -> None:
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


def _check_handlers(scopes: Iterable[Scope], handlers: Handlers) -> None:
    """SPC-026, SPC-027."""
    versions: dict[str, list[str]] = {}
    for name, version in handlers:
        versions.setdefault(name, []).append(str(version))
    inputs = {key: dict.fromkeys(wanted).keys() for key, wanted in handlers.items()}
    for scope in scopes:
        for node in scope.definition.nodes:
            if node.handler is None or not _is_readable(scope, scope.at(node.handler)):
                continue
            wanted = inputs.get((node.handler.name, node.handler.version))
            if wanted is None:
                _unknown_handler(scope, node, versions)
            elif missing := _missing(wanted, dict(_given(scope, node))):
                lead = "give it in `input`, `artifacts` or `input_mapping`"
                told = f"{quoted(node.handler.name)} needs {missing}: {lead}."
                scope.error("missing_input", scope.at(node), told)


def _is_readable(scope: Scope, handler: str) -> bool:
    return scope.is_own(handler) and scope.is_well_formed(f"{handler}/name")


def _unknown_handler(scope: Scope, node: Node, versions: Mapping[str, Sequence[str]]) -> None:
    assert node.handler is not None
    name = node.handler.name
    if name in versions:
        told = f"{quoted(name)} is not registered in version {node.handler.version}, but in {listed(versions[name])}."
    else:
        fix = scope.problems.meant(name, versions, otherwise="register it, or name one that is.")
        told = f"No handler {quoted(name)} is registered; {fix}"
    scope.error("unknown_handler", scope.at(node.handler), told)
