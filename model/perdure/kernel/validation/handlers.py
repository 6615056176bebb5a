"""The handlers that an application registers, and whether a document's nodes fit them.

SPC-026, SPC-027.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from perdure.kernel.problems import Problems, listed, quoted
from perdure.kernel.specification import HandlerCatalogue, HandlerDeclaration, Node
from perdure.kernel.structure import Reading, read
from perdure.kernel.validation.scopes import Scope, missing
from perdure.kernel.values import JsonValue

Handlers = Mapping[tuple[str, int], Sequence[str]]
"""The declared inputs of each registered handler, by name and version."""


def read_handlers(document: JsonValue, problems: Problems) -> Handlers:
    """Decode a catalogue of handlers; every difference goes to `problems`."""
    catalogue = read(HandlerCatalogue, document, Reading(problems))
    declared = catalogue.handlers if isinstance(catalogue, HandlerCatalogue) else ()
    seen: set[tuple[str, int]] = set()
    for position, handler in enumerate(declared):
        if (handler.name, handler.version) in seen:
            told = f"{quoted(handler.name)} is declared in version {handler.version} already; take one of the two away."
            problems.error("duplicate_name", f"/handlers/{position}", told)
        seen.add((handler.name, handler.version))
    return handlers_of(declared)


def handlers_of(declared: Iterable[HandlerDeclaration]) -> Handlers:
    """Return handlers as they are looked up."""
    return {(handler.name, handler.version): handler.inputs for handler in declared}


def check_handlers(scopes: Iterable[Scope], handlers: Handlers) -> None:
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
            elif (lacking := missing(wanted, dict(scope.given(node)))) and scope.has_own_inputs(node):
                lead = "give it in `input`, `artifacts` or `input_mapping`"
                told = f"{quoted(node.handler.name)} needs {lacking}: {lead}."
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
