"""Faults about what flows from node to node, retry and handlers: SPC-022 to SPC-027."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.kernel.graphs import reached
from perdure.kernel.specification import Node, OutputReference, RunInputReference
from perdure.kernel.validation.handlers import Handlers
from perdure.kernel.validation.validator import Validation
from perdure_conformance.spec.mutants.faults import Complains, Complaint, Knows, Look, Overlooks, Seen
from perdure_conformance.spec.registry import mutant

# Where values come from


class _ReachesFurther(Overlooks):
    """It lets an input mapping take from more nodes than it may."""

    def overlooks(self, seen: Seen) -> bool:
        if seen.code != "output_out_of_reach":
            return False
        node = seen.path.index("nodes") + 1
        return self.takes(seen, source=seen.scope.positions[seen.value], target=int(seen.path[node]))

    def takes(self, seen: Seen, source: int, target: int) -> bool:
        """Tell whether a node may take from another one, both by position."""
        raise NotImplementedError


@mutant("SPC-022")
class NeverAsksWhenOutputIsThere(_ReachesFurther):
    """Takes the output of any node, whether or not it can be there in time."""

    def takes(self, seen: Seen, source: int, target: int) -> bool:
        del seen, source, target
        return True


@mutant("SPC-022")
class TakesFromGrandPrerequisites(_ReachesFurther):
    """Takes the output of a prerequisite's prerequisite."""

    def takes(self, seen: Seen, source: int, target: int) -> bool:
        return reached(seen.scope.dependents, [source])[target]


@mutant("SPC-022")
class TakesFromWhatStandsBefore(_ReachesFurther):
    """Takes the output of each node that stands before in the document."""

    def takes(self, seen: Seen, source: int, target: int) -> bool:
        del seen
        return source < target


@mutant("SPC-022")
class FollowsEdgesBackwards(_ReachesFurther):
    """Takes the output of the target of an edge, where its source is meant."""

    def takes(self, seen: Seen, source: int, target: int) -> bool:
        return source in seen.scope.union[target]


@mutant("SPC-022", overlaps=("SPC-031",))
class RefusesSourcesOfEdges(Complains):
    """Refuses to take from the source of an edge: it looks at dependencies alone."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for node in scope.definition.nodes:
                for reference in node.input_mapping.values():
                    if isinstance(reference, OutputReference) and reference.node not in node.dependencies:
                        yield "output_out_of_reach", scope.at(reference)


@mutant("SPC-022", overlaps=("SPC-002", "SPC-023", "SPC-031"))
class RefusesRunInput(Complains):
    """Gives the run's input to initial nodes alone."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for position, node in enumerate(scope.definition.nodes):
                for reference in node.input_mapping.values():
                    if isinstance(reference, RunInputReference) and position not in scope.initial:
                        yield "output_out_of_reach", scope.at(reference)


@mutant("SPC-023", overlaps=("CHD-006",), report="tinyhumansai/opencompany#540")
class TakesUndeclaredOutputs(Overlooks):
    """Takes a field that its node does not declare, and finds nothing there at run time."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "undeclared_output"


@mutant("SPC-023", overlaps=("CHD-006",))
class LooksAtMappingsOnly(Overlooks):
    """Looks at what nodes take, and not at what the run gives."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "undeclared_output" and "input_mapping" not in seen.path


@mutant("SPC-023")
class LooksForAChildsFieldInItsDefinition(Overlooks):
    """Looks for the output field of a child's node in the child's own outputs, and not among those it copies."""

    def overlooks(self, seen: Seen) -> bool:
        if seen.code != "undeclared_output":
            return False
        scope = seen.scope
        node = scope.node(seen.above(1)["node"])
        child = scope.catalog.get(node.child.workflow) if node is not None and node.child is not None else None
        return child is not None and seen.value in child.outputs


@mutant("SPC-023", report="tinyhumansai/opencompany#540")
class TakesUndeclaredRunInput(Overlooks):
    """Takes a field of the run's input that the run does not declare."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "undeclared_run_input"


@mutant("SPC-024", overlaps=("SPC-030", "CHD-006"))
class TakesTheLastInput(Overlooks):
    """Puts constants, artifacts and mapped values into one table, in which the last one stays."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "input_given_twice"


@mutant("SPC-024", overlaps=("SPC-030", "CHD-006"))
class ForgetsArtifacts(Overlooks):
    """Compares constants with mapped values, and forgets artifacts."""

    def overlooks(self, seen: Seen) -> bool:
        node = seen.above(2) if seen.code == "input_given_twice" else {}
        return bool(node) and not (seen.key in node.get("input", {}) and seen.key in node.get("input_mapping", {}))


@mutant("SPC-024")
class ComparesConstantsOnly(Overlooks):
    """Compares constants with what comes later, and not artifacts with mapped values."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "input_given_twice" and seen.key not in seen.above(2).get("input", {})


# Retry


@mutant("SPC-025", overlaps=("SPC-030", "CHD-006"))
class RetriesAnything(Overlooks):
    """Takes every outcome kind for one that can be tried again."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "no_retry_class"


@mutant("SPC-025", overlaps=("SPC-030",))
class RetriesWhatIsBlocked(Overlooks):
    """Takes `blocked` and `cancelled` for failures that can be tried again."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "no_retry_class" and seen.value in {"blocked", "cancelled"}


@mutant("SPC-025", overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-016", "SPC-031"))
class NeverRetriesPermanentFailures(Complains):
    """Refuses `permanent_failure` as a retry class, since it says that it is permanent."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for node in scope.definition.nodes:
                if node.retry is not None and "permanent_failure" in node.retry.classes:
                    yield "no_retry_class", f"{scope.at(node)}/retry/classes"


# Handlers


@mutant("SPC-026", report="tinyhumansai/opencompany#540")
class NeverLooksHandlersUp(Overlooks):
    """Takes every handler, and fails when the node starts."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_handler"


@mutant("SPC-026")
class TakesAnyVersionOfAHandler(Overlooks):
    """Looks handlers up by name, whatever version they have."""

    def overlooks(self, seen: Seen) -> bool:
        names = {name for name, _ in seen.look.handlers or ()}
        return seen.code == "unknown_handler" and seen.value["name"] in names


@mutant("SPC-026")
class TakesAnEmptyCatalogueForNone(Knows):
    """Takes a catalogue without handlers for no catalogue, since it is false."""

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        return super().find(text, handlers or None)


@mutant("SPC-026")
class LooksUpHandlersOfTheDocumentOnly(Overlooks):
    """Looks up the handlers of the document itself, and not those of its definitions."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_handler" and seen.is_in_definition


@mutant("SPC-027", report="tinyhumansai/opencompany#540")
class NeverAsksForInput(Overlooks):
    """Takes a node without the input that its handler declares."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "missing_input"


@mutant("SPC-027")
class AsksForSomeInput(Overlooks):
    """Asks whether a node has any input, and not which."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "missing_input" and any(
            seen.value.get(member) for member in ("input", "artifacts", "input_mapping")
        )


class _KnowsInputs(Complains):
    """It compares what a node is given with what its handler declares in its own way."""

    def is_wrong(self, node: Node, declared: frozenset[str]) -> bool:
        """Tell whether the input is wrong."""
        raise NotImplementedError

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for node in scope.definition.nodes:
                if node.handler is None or look.handlers is None:
                    continue
                declared = look.handlers.get((node.handler.name, node.handler.version))
                if declared is not None and self.is_wrong(node, frozenset(declared)):
                    yield "missing_input", scope.at(node)


@mutant("SPC-027")
class CountsConstantsOnly(_KnowsInputs):
    """Looks for declared inputs in `input`, and forgets artifacts and mapped values."""

    def is_wrong(self, node: Node, declared: frozenset[str]) -> bool:
        return not declared <= node.input.keys()


@mutant("SPC-027")
class RefusesMoreInput(_KnowsInputs):
    """Refuses an input that the handler does not declare."""

    def is_wrong(self, node: Node, declared: frozenset[str]) -> bool:
        return not declared >= {*node.input, *node.artifacts, *node.input_mapping}
